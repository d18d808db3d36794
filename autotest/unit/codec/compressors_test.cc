/* compressors_test.cc -- zstd, lz4 and blosc, with bytes from the zstd program and by hand from
 * the formats' descriptions. */
#include "codec_chain.h"

namespace {

const std::string kText = "refs refs refs refs";

Decoded decode(const char *codec, const std::string &encoded, size_t size = kText.size()) {
    return decodeWith(std::string(R"({"id":")") + codec + "\"}", encoded, size);
}

// By `zstd kText`, with and without the size and the checksum of the content.
const std::string kFrame = bytes("\x28\xb5\x2f\xfd\x24\x13\x5d\x00\x00\x28\x72\x65\x66\x73\x20\x01"
                                 "\x00\x90\x8b\x16\x55\x57\xe1\x8f");
const std::string kUnsizedFrame = bytes("\x28\xb5\x2f\xfd\x00\x58\x5d\x00\x00\x28\x72\x65\x66\x73"
                                        "\x20\x01\x00\x90\x8b\x16");

TEST(Zstd, DecodesFramesWithAndWithoutSize) {
    for (const std::string &frame : {kFrame, kUnsizedFrame}) {
        EXPECT_EQ(decode("zstd", frame).bytes, kText) << decode("zstd", frame).message;
        EXPECT_EQ(decode("zstd", frame, 0).bytes, kText);
    }
}

TEST(Zstd, JoinsFrames) {
    EXPECT_EQ(decode("zstd", kFrame + kUnsizedFrame, 38).bytes, kText + kText);
    EXPECT_EQ(decode("zstd", kUnsizedFrame + kFrame, 0).bytes, kText + kText);
}

TEST(Zstd, RefusesCutFrames) {
    for (size_t size = 0; size < kFrame.size(); size++)
        EXPECT_EQ(decode("zstd", kFrame.substr(0, size)).status, REFS_CORRUPT) << size;
    EXPECT_EQ(decode("zstd", kUnsizedFrame.substr(0, 19)).message,
              "zstd: the stream ends too early, after 19 bytes");
}

TEST(Zstd, VerifiesTheChecksum) {
    std::string damaged = kFrame;
    damaged.back() ^= 1;
    EXPECT_EQ(decode("zstd", damaged).status, REFS_CORRUPT);
}

TEST(Zstd, RefusesMoreThanExpected) {
    EXPECT_EQ(decode("zstd", kFrame, 18).message, "zstd: decodes past the expected 18 bytes");
    EXPECT_EQ(decode("zstd", kFrame + kFrame).status, REFS_CORRUPT);
}

// Five literals, nine bytes from five back, five literals.
const std::string kBlock = bytes("\x55refs \x05\x00\x50 refs");
const std::string kLz4 = bytes("\x13\x00\x00\x00") + kBlock;

TEST(Lz4, DecodesASizeAndABlock) {
    EXPECT_EQ(decode("lz4", kLz4).bytes, kText) << decode("lz4", kLz4).message;
    EXPECT_EQ(decode("lz4", kLz4, 0).bytes, kText);
}

TEST(Lz4, RefusesSizesThatTheBlockDoesNotHave) {
    EXPECT_EQ(decode("lz4", bytes("\x12\x00\x00\x00") + kBlock, 18).status, REFS_CORRUPT);
    EXPECT_EQ(decode("lz4", bytes("\x14\x00\x00\x00") + kBlock, 20).message,
              "lz4: the block decodes to 19 bytes, its header says 20");
    EXPECT_EQ(decode("lz4", bytes("\xff\xff\xff\xff") + kBlock, 0).status, REFS_CORRUPT);
    EXPECT_EQ(decode("lz4", bytes("\xff\xff\xff\x7f") + kBlock, 0).status, REFS_LIMIT);
}

TEST(Lz4, NamesBothSizesBeforeItDecodes) {
    EXPECT_EQ(decode("lz4", kLz4, 1024).message, "lz4: decodes to 19 bytes: expected 1024");
    EXPECT_EQ(decode("lz4", kLz4, 4).message, "lz4: decodes to 19 bytes: expected 4");
}

TEST(Lz4, RefusesCutBlocks) {
    for (size_t size = 0; size < kLz4.size(); size++)
        EXPECT_EQ(decode("lz4", kLz4.substr(0, size)).status, REFS_CORRUPT) << size;
}

// Version 2, format 1, flags "stored", elements of one byte; sizes of content, block, container.
const std::string kStored = bytes("\x02\x01\x02\x01\x13\x00\x00\x00\x13\x00\x00\x00\x23\x00\x00\x00"
                                  "refs refs refs refs");

TEST(Blosc, DecodesStoredBytes) {
    EXPECT_EQ(decode("blosc", kStored).bytes, kText) << decode("blosc", kStored).message;
    EXPECT_EQ(decode("blosc", kStored, 0).bytes, kText);
}

TEST(Blosc, RefusesContainersOfAnotherSizeThanTheySay) {
    for (size_t size = 0; size < kStored.size(); size++)
        EXPECT_EQ(decode("blosc", kStored.substr(0, size)).message,
                  "blosc: " + std::to_string(size) + " bytes are not a whole Blosc container");
    EXPECT_EQ(decode("blosc", kStored + "x").status, REFS_CORRUPT);
    EXPECT_EQ(decode("blosc", kStored, 20).message, "blosc: decodes to 19 bytes: expected 20");
}

} // namespace

TEST(Blosc2, RunsNoPlugins) {
    const refs_codec_type *type = refs_codec_find(refs_str_from("imagecodecs_blosc2"));
    if (type->missing != nullptr) GTEST_SKIP() << "needs " << type->missing;
    const auto refused = [](size_t at, char value) {
        std::string chunk =
            bytes("\x05\x01\x05\x04\x10\x00\x00\x00\x10\x00\x00\x00\x30\x00\x00\x00") +
            std::string(32, '\0');
        chunk[at] = value;
        return decodeWith(R"({"id":"imagecodecs_blosc2"})", chunk, 16);
    };
    EXPECT_EQ(refused(2, '\xc5').status, REFS_UNSUPPORTED);
    EXPECT_EQ(refused(2, '\xe5').status, REFS_UNSUPPORTED);
    for (const size_t slot : {16, 21}) {
        EXPECT_EQ(refused(slot, 35).status, REFS_UNSUPPORTED);
        EXPECT_EQ(refused(slot, '\xa0').status, REFS_UNSUPPORTED);
    }
    EXPECT_EQ(refused(31, 8).status, REFS_CORRUPT) << "for its data are elsewhere";
}

namespace {

std::string bigEndian(uint64_t number, int size) {
    std::string text;
    for (int i = size; i-- > 0;) text += static_cast<char>(number >> 8 * i & 0xff);
    return text;
}

std::string littleEndian32(uint64_t number) {
    const std::string text = bigEndian(number, 4);
    return {text.rbegin(), text.rend()};
}

/** A chunk of Blosc2 that is stored as it is. */
std::string chunkOf(const std::string &data, char item = 1) {
    return std::string("\x05\x01\x07") + item + littleEndian32(data.size()) +
           littleEndian32(data.size()) + littleEndian32(32 + data.size()) +
           bytes("\x00\x00\x00\x00\x00\x01") + std::string(10, '\0') + data;
}

std::string listOf(const std::vector<uint64_t> &numbers, char type, int size) {
    std::string text(1, static_cast<char>(0x90 | numbers.size()));
    for (const uint64_t number : numbers) text += type + bigEndian(number, size);
    return text;
}

/** A frame of one chunk. */
struct Frame {
    std::string layer = "b2nd";
    std::vector<uint64_t> shape{3, 3}, chunkShape{3, 3}, block{2, 2};
    uint64_t decoded = 16, chunkSize = 16, itemSize = 1;
    std::string chunk = chunkOf("abdecXfXghXXiXXX");
    uint64_t offset = 0;
    size_t headerSize = std::string::npos;

    std::string header() const {
        const std::string shapes = bytes("\x97\x00") + static_cast<char>(shape.size()) +
                                   listOf(shape, '\xd3', 8) + listOf(chunkShape, '\xd2', 4) +
                                   listOf(block, '\xd2', 4);
        const std::string layers = bytes("\x93\xcd\x00\x11\xde\x00\x01") +
                                   static_cast<char>(0xa0 | layer.size()) + layer + "\xd2" +
                                   bigEndian(100 + layer.size(), 4) + "\xc6" +
                                   bigEndian(shapes.size(), 4) + shapes;
        const std::string text = "\xd3" + bigEndian(decoded, 8) + "\xd3" +
                                 bigEndian(chunk.size(), 8) + "\xd2" + bigEndian(itemSize, 4) +
                                 "\xd2" + bigEndian(16, 4) + "\xd2" + bigEndian(chunkSize, 4) +
                                 std::string(25, '\0') + layers;
        return text;
    }

    std::string text() const {
        const std::string offsets = bigEndian(offset, 8);
        const std::string index = chunkOf({offsets.rbegin(), offsets.rend()}, 8);
        const std::string rest = header();
        const size_t size = std::min(headerSize, 29 + rest.size());
        return bytes("\x9e\xa8") + bytes("b2frame\x00\xd2") + bigEndian(size, 4) + "\xcf" +
               bigEndian(size + chunk.size() + index.size(), 8) + bytes("\xa4\x12\x00\x00\x00") +
               rest.substr(0, size - 29) + chunk + index;
    }

    auto decoding() const { return decodeWith(R"({"id":"blosc2"})", text(), 9); }
};

} // namespace

class Blosc2Frames : public testing::Test {
  protected:
    void SetUp() override {
        const refs_codec_type *type = refs_codec_find(refs_str_from("blosc2"));
        ASSERT_NE(type, nullptr) << "builds without the library know its name";
        if (type->missing != nullptr) GTEST_SKIP() << "needs " << type->missing;
    }

    Frame frame;
};

TEST_F(Blosc2Frames, PutBlocksInOrder) {
    EXPECT_EQ(frame.decoding().bytes, "abcdefghi") << frame.decoding().message;
}

TEST_F(Blosc2Frames, HoldZerosWithoutBytes) {
    frame.chunk = "";
    frame.offset = 0x81ull << 56;
    EXPECT_EQ(frame.decoding().bytes, std::string(9, '\0')) << frame.decoding().message;
    frame.offset = 0x82ull << 56;
    EXPECT_EQ(frame.decoding().status, REFS_UNSUPPORTED);
}

TEST_F(Blosc2Frames, AreRefusedWhereTheyAreCut) {
    const std::string whole = frame.text();
    for (size_t size = 0; size < whole.size(); size++)
        EXPECT_EQ(decodeWith(R"({"id":"blosc2"})", whole.substr(0, size), 9).status, REFS_CORRUPT)
            << size;
}

TEST_F(Blosc2Frames, AreRefusedWithSeveralChunks) {
    frame.chunkSize = 8;
    EXPECT_EQ(frame.decoding().status, REFS_UNSUPPORTED);
    frame = {};
    frame.shape[0] = 6;
    EXPECT_EQ(frame.decoding().status, REFS_UNSUPPORTED);
}

TEST_F(Blosc2Frames, AreRefusedWithShapesThatDoNotFit) {
    for (const uint64_t rows : {0, 1, 4}) {
        frame.block[0] = rows;
        EXPECT_EQ(frame.decoding().status, REFS_CORRUPT) << rows;
    }
    frame = {};
    frame.shape[0] = frame.chunkShape[0] = 0xffffffff;
    EXPECT_EQ(frame.decoding().status, REFS_CORRUPT);
}

TEST_F(Blosc2Frames, RunNoPlugins) {
    frame.chunk[2] = '\xc5';
    EXPECT_EQ(frame.decoding().status, REFS_UNSUPPORTED);
}

/** Whatever byte is another one: memory is not left. */
TEST_F(Blosc2Frames, AreReadOrRefusedWithAnyDamage) {
    const std::string whole = frame.text();
    for (size_t i = 0; i < whole.size(); i++) {
        for (const unsigned char change : {1, 0x80, 0xff}) {
            std::string damaged = whole;
            damaged[i] = static_cast<char>(damaged[i] ^ change);
            const refs_status status = decodeWith(R"({"id":"blosc2"})", damaged, 9).status;
            EXPECT_TRUE(status == REFS_OK || status == REFS_CORRUPT || status == REFS_UNSUPPORTED ||
                        status == REFS_LIMIT)
                << i;
        }
    }
}

/** Of a chunk of zeros without bytes that decodes to 1.9 GB, and whose values are 60 MB. */
TEST_F(Blosc2Frames, AreRefusedWhereTheyAreMostlyPadding) {
    const size_t size = 531441 * 120;
    frame.shape = frame.chunkShape = std::vector<uint64_t>(12, 3);
    frame.block = std::vector<uint64_t>(12, 2);
    frame.itemSize = 120;
    frame.decoded = frame.chunkSize = 16777216ull * 120;
    frame.chunk = bytes("\x05\x01\x07\x01") + littleEndian32(frame.decoded) +
                  littleEndian32(16777216) + littleEndian32(32) + std::string(15, '\0') + "\x10";
    const auto decode = [&] { return decodeWith(R"({"id":"blosc2"})", frame.text(), size); };
    EXPECT_EQ(decode().status, REFS_LIMIT);
    EXPECT_NE(decode().message.find("padding"), std::string::npos) << decode().message;
    frame.chunk = "";
    frame.offset = 0x81ull << 56;
    EXPECT_EQ(decode().bytes, std::string(size, '\0')) << decode().message;
}

TEST_F(Blosc2Frames, HoldValuesOfAShapeSmallerThanTheChunk) {
    frame.chunkShape = {3, 4};
    EXPECT_EQ(frame.decoding().bytes, "abcdefghi") << frame.decoding().message;
    frame.chunkShape = {4, 6};
    frame.decoded = frame.chunkSize = 24;
    frame.chunk = chunkOf("abdecXfXXXXXghXXiXXXXXXX");
    EXPECT_EQ(frame.decoding().bytes, "abcdefghi") << frame.decoding().message;
    frame.chunk = "";
    frame.offset = 0x81ull << 56;
    EXPECT_EQ(frame.decoding().bytes, std::string(9, '\0')) << frame.decoding().message;
}

TEST_F(Blosc2Frames, OfCatervaAreRefusedByName) {
    frame.layer = "caterva";
    EXPECT_EQ(frame.decoding().status, REFS_UNSUPPORTED);
    EXPECT_NE(frame.decoding().message.find("caterva"), std::string::npos)
        << frame.decoding().message;
}

TEST_F(Blosc2Frames, AreRefusedWithoutTheListOfLayers) {
    for (size_t size = 80; size < 94; size++) {
        frame.headerSize = size;
        const auto found = decodeWith(R"({"id":"blosc2"})", frame.text(), 16);
        EXPECT_EQ(found.status, REFS_CORRUPT) << size;
        EXPECT_NE(found.message.find("header"), std::string::npos) << found.message;
    }
}
