/* chunk_key_test.cc -- counting and naming chunks. */
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "refs/zarr.h"

namespace {

refs_array_meta metaOf(const std::vector<uint64_t> &shape, const std::vector<uint64_t> &chunk) {
    refs_array_meta meta = {};
    meta.rank = shape.size();
    for (size_t i = 0; i < shape.size(); i++) {
        meta.shape[i] = shape[i];
        meta.chunk[i] = chunk[i];
    }
    return meta;
}

std::string key(const char *prefix, char separator, const std::vector<uint64_t> &index) {
    refs_array_meta meta = {};
    meta.rank = index.size();
    meta.key_prefix = prefix;
    meta.separator = separator;
    refs_buf text = REFS_BUF_INIT;
    EXPECT_EQ(refs_chunk_key(&meta, index.data(), &text, nullptr), REFS_OK);
    const std::string result(reinterpret_cast<char *>(text.data), text.size);
    refs_buf_clear(&text);
    return result;
}

TEST(ChunkKey, JoinsNumbers) {
    EXPECT_EQ(key("t2m/", '.', {3, 0, 1}), "t2m/3.0.1");
    EXPECT_EQ(key("t2m/", '/', {3, 0, 10}), "t2m/3/0/10");
    EXPECT_EQ(key("t2m/c/", '/', {3, 0, 1}), "t2m/c/3/0/1");
    EXPECT_EQ(key("t2m/c.", '.', {7}), "t2m/c.7");
    EXPECT_EQ(key("", '.', {1, 2}), "1.2");
}

TEST(ChunkKey, OfAScalarIsZeroOrC) {
    EXPECT_EQ(key("t2m/", '.', {}), "t2m/0");
    EXPECT_EQ(key("", '.', {}), "0");
    EXPECT_EQ(key("t2m/c", '/', {}), "t2m/c");
}

TEST(ChunkKey, HasRoomForTheLargestNumbers) {
    const std::vector<uint64_t> index(REFS_MAX_RANK, UINT64_MAX);
    std::string expected = "v/18446744073709551615";
    for (size_t i = 1; i < index.size(); i++) expected += ".18446744073709551615";
    EXPECT_EQ(key("v/", '.', index), expected);
}

TEST(ChunkCounts, IncludeTheChunkAtTheEdge) {
    const refs_array_meta meta = metaOf({10, 9, 1, 0, UINT64_MAX}, {3, 3, 100, 1, 1});
    const uint64_t expected[] = {4, 3, 1, 0, UINT64_MAX};
    for (size_t dim = 0; dim < 5; dim++)
        EXPECT_EQ(refs_array_meta_n_chunks(&meta, dim), expected[dim]) << dim;
}

TEST(ElementCounts, AreProducts) {
    uint64_t n = 0;
    refs_array_meta meta = metaOf({10, 9}, {3, 2});
    EXPECT_TRUE(refs_array_meta_elements(&meta, &n));
    EXPECT_EQ(n, 90u);
    EXPECT_TRUE(refs_array_meta_chunk_elements(&meta, &n));
    EXPECT_EQ(n, 6u);
    meta = metaOf({}, {});
    EXPECT_TRUE(refs_array_meta_elements(&meta, &n));
    EXPECT_EQ(n, 1u);
}

TEST(ElementCounts, SayWhereTheyOverflow) {
    uint64_t n = 7;
    refs_array_meta meta = metaOf({UINT64_C(1) << 32, UINT64_C(1) << 32, 1}, {1, 1, 1});
    EXPECT_FALSE(refs_array_meta_elements(&meta, &n));
    EXPECT_EQ(n, 7u);
    meta = metaOf({UINT64_C(1) << 32, UINT64_C(1) << 32, 0}, {1, 1, 1});
    EXPECT_TRUE(refs_array_meta_elements(&meta, &n)) << "an empty dimension makes it zero";
    EXPECT_EQ(n, 0u);
}

} // namespace
