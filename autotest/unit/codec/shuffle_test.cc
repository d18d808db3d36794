/* shuffle_test.cc -- elements from planes of bytes. */
#include "codec_chain.h"

namespace {

Decoded unshuffle(size_t elementSize, const std::string &encoded) {
    return decodeWith(R"({"id":"shuffle","elementsize":)" + std::to_string(elementSize) + "}",
                      encoded, encoded.size());
}

/* The inverse, as numcodecs describes it. */
std::string shuffled(size_t elementSize, const std::string &elements) {
    std::string planes;
    for (size_t plane = 0; plane < elementSize; plane++)
        for (size_t i = plane; i < elements.size(); i += elementSize) planes += elements[i];
    return planes;
}

TEST(Shuffle, PutsPlanesTogether) {
    EXPECT_EQ(unshuffle(2, "abcABC").bytes, "aAbBcC");
    EXPECT_EQ(unshuffle(3, "aAbBcC").bytes, "abcABC");
}

TEST(Shuffle, WorksForAnySizeOfElementsAndAnyNumber) {
    for (size_t elementSize : {1, 2, 3, 4, 5, 7, 8, 12, 16, 31})
        for (size_t n : {1, 2, 15, 16, 17, 100}) {
            std::string elements;
            for (size_t i = 0; i < n * elementSize; i++)
                elements += static_cast<char>(i * 37 + i / 251);
            EXPECT_EQ(unshuffle(elementSize, shuffled(elementSize, elements)).bytes, elements)
                << n << " elements of " << elementSize;
        }
}

/* What a codec before it gives, whose size is known. */
std::string unshuffleTwo(size_t elementSize, const std::string &elements) {
    const std::string chain = R"({"id":"shuffle","elementsize":)" + std::to_string(elementSize) +
                              R"(},{"id":"shuffle","elementsize":1})";
    return decodeWith(chain, shuffled(elementSize, elements), elements.size()).bytes;
}

TEST(Shuffle, WorksBehindAnotherCodec) {
    for (size_t elementSize : {1, 2, 3, 4, 5, 8, 31, 4095, 4096, 4097})
        for (size_t n : {1, 2, 3, 511, 2049}) {
            if (n * elementSize > 100000) continue;
            std::string elements;
            for (size_t i = 0; i < n * elementSize; i++)
                elements += static_cast<char>(i * 37 + i / 251);
            EXPECT_EQ(unshuffleTwo(elementSize, elements), elements)
                << n << " elements of " << elementSize;
        }
}

/* Chunks so large are put together where they lie, to take less memory. */
TEST(Shuffle, WorksInPlaceForAnySizeOfElements) {
    for (size_t elementSize : {1, 2, 3, 4, 8, 31, 4095, 4096, 4097}) {
        std::string elements((8 * REFS_MIB / elementSize + 7) * elementSize, '\0');
        for (size_t i = 0; i < elements.size(); i++)
            elements[i] = static_cast<char>(i * 37 + i / 251);
        EXPECT_TRUE(unshuffleTwo(elementSize, elements) == elements)
            << "elements of " << elementSize;
    }
}

TEST(Shuffle, TakesFourBytesWhereNoSizeIsGiven) {
    EXPECT_EQ(decodeWith(R"({"id":"shuffle"})", "abABxyXY", 8).bytes, "aAxXbByY");
}

TEST(Shuffle, PassesElementsOfNoSizeThrough) {
    EXPECT_EQ(unshuffle(0, "abc").bytes, "abc");
}

TEST(Shuffle, SuspectsASkippedFilterWhereElementsAreNotWhole) {
    const Decoded decoded = unshuffle(4, "abcdefg");
    EXPECT_EQ(decoded.status, REFS_CORRUPT);
    EXPECT_EQ(decoded.message, "shuffle: 7 bytes are not a multiple of the element size 4: "
                               "perhaps the filter was skipped for this chunk");
}

TEST(Shuffle, RefusesSizesThatAreNone) {
    for (const char *size : {"-1", "1.5", "\"4\"", "18446744073709551616"}) {
        const std::string codec = std::string(R"({"id":"shuffle","elementsize":)") + size + "}";
        EXPECT_EQ(decodeWith(codec, "abcd", 4).status, REFS_INVALID) << size;
    }
}

TEST(Shuffle, TakesSizesLargerThanTheChunk) {
    EXPECT_EQ(decodeWith(R"({"id":"shuffle","elementsize":4294967296})", "abcd", 4).status,
              REFS_CORRUPT);
}

} // namespace
