/* codec_test.cc -- every codec of the driver, in every place where metadata may put it. */
#include "driver_test.h"

using namespace refs_test;

namespace {

/** The values 0 to 119 as "<i4" in an array of one row. */
const Array array{"v", {1, 120}, "<i4"};
const std::vector<double> expected = counting<double>(120);

std::string plain() {
    return bytes_of(counting<int32_t>(120));
}

/** The array with these filters and this compressor; its chunk holds `bytes`. */
Dataset open_encoded(const std::string &filters, const std::string &compressor,
                     const std::string &bytes, const char *dtype = "<i4") {
    Array encoded = array;
    encoded.dtype = dtype;
    encoded.filters = filters;
    encoded.compressor = compressor;
    Set set;
    return open(subdataset(set.values(encoded, bytes).save(), "v"));
}

} // namespace

TEST(Codec, CompressorsAreUndoneWhereverMetadataNameThem) {
    const struct {
        const char *config;
        std::string bytes;
    } rows[] = {
        {R"({"id": "zlib", "level": 1})", compressed("zlib", plain())},
        {R"({"id": "gzip", "level": 1})", compressed("gzip", plain())},
        {R"({"id": "zstd", "level": 3})", compressed("zstd", plain())},
        {R"({"id": "lz4", "acceleration": 1})", compressed("lz4", plain())},
        {R"({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0})",
         compressed("blosc", plain(), {"CNAME=lz4", "TYPESIZE=4"})},
        {R"({"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": "bitshuffle"})",
         compressed("blosc", plain(), {"CNAME=zstd", "TYPESIZE=4", "SHUFFLE=BIT"})},
        {R"({"id": "blosc"})", compressed("blosc", plain(), {"CNAME=blosclz", "SHUFFLE=NONE"})},
    };
    for (const auto &[config, bytes] : rows) {
        const std::string list = "[" + std::string(config) + "]";
        EXPECT_EQ(pixels(open_encoded("null", config, bytes)), expected) << config;
        EXPECT_EQ(pixels(open_encoded("[]", list, bytes)), expected) << config << " in a list";
        EXPECT_EQ(pixels(open_encoded(list, "null", bytes)), expected) << config << " as filter";
    }
}

TEST(Codec, FiltersAreUndoneInReverse) {
    std::vector<int32_t> steps(120, 1);
    steps[0] = 0;
    std::vector<uint8_t> scaled(120);
    for (size_t i = 0; i < scaled.size(); i++) scaled[i] = static_cast<uint8_t>(i * 2);
    const struct {
        const char *filters;
        std::string bytes;
        const char *dtype;
    } rows[] = {
        {R"([{"id": "shuffle", "elementsize": 4}])", shuffled(plain(), 4), "<i4"},
        {R"([{"id": "fletcher32"}])", with_fletcher32(plain()), "<i4"},
        {R"([{"id": "delta", "dtype": "<i4"}])", bytes_of(steps), "<i4"},
        {R"([{"id": "delta", "dtype": "<i4"}, {"id": "shuffle", "elementsize": 4},
             {"id": "zlib", "level": 1}, {"id": "fletcher32"}])",
         with_fletcher32(compressed("zlib", shuffled(bytes_of(steps), 4))), "<i4"},
        {R"([{"id": "fixedscaleoffset", "scale": 2, "offset": 0, "dtype": "<f8",
              "astype": "|u1"}])",
         bytes_of(scaled), "<f8"},
    };
    for (const auto &[filters, bytes, dtype] : rows)
        EXPECT_EQ(pixels(open_encoded(filters, "null", bytes, dtype)), expected) << filters;
}

TEST(Codec, ThatNobodyKnowsIsNamedWhenItsArrayIsRead) {
    Array unknown = array;
    unknown.compressor = R"({"id": "frobnicate", "level": 1})";
    Set set;
    set.values(unknown, plain());
    add_small_array(set, "w");
    const std::string path = set.save();

    const Dataset root = open("REFS:" + path);
    ASSERT_NE(root, nullptr);
    EXPECT_EQ(item(root.get(), "SUBDATASET_1_NAME", "SUBDATASETS"), subdataset(path, "v"));

    const Dataset dataset = open(subdataset(path, "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetRasterXSize(dataset.get()), 120);
    const std::string message = failure_of_reading(dataset);
    EXPECT_NE(message.find("frobnicate"), std::string::npos) << message;
    EXPECT_NE(message.find("/v"), std::string::npos) << message;
}

TEST(Codec, DamageIsAnErrorThatNamesTheCodecAndTheChunk) {
    std::string cut = compressed("zlib", plain());
    cut.resize(cut.size() / 2);
    std::string flipped = with_fletcher32(plain());
    flipped[10] ^= 1;
    const struct {
        const char *codec;
        std::string filters;
        std::string bytes;
    } rows[] = {
        {"zlib", R"([{"id": "zlib"}])", cut},
        {"zlib", R"([{"id": "zlib"}])", "not zlib at all"},
        {"gzip", R"([{"id": "gzip"}])", "not gzip at all"},
        {"zstd", R"([{"id": "zstd"}])", "not zstd at all"},
        {"lz4", R"([{"id": "lz4"}])", "not lz4"},
        {"blosc", R"([{"id": "blosc"}])", "not blosc at all, no"},
        {"fletcher32", R"([{"id": "fletcher32"}])", flipped},
    };
    for (const auto &[codec, filters, bytes] : rows) {
        const Dataset dataset = open_encoded(filters, "null", bytes);
        ASSERT_NE(dataset, nullptr) << codec;
        const std::string message = failure_of_reading(dataset);
        EXPECT_NE(message.find(codec), std::string::npos) << message;
        EXPECT_NE(message.find("v/0.0"), std::string::npos) << message;
    }
}
