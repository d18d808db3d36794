/* array_test.cc -- regions of arrays, compared with an array indexed one element at a time. */
#include "memory_array.h"

#include <random>

namespace {

using Numbers = std::vector<uint64_t>;

std::vector<int32_t> readRegion(MemoryArray &v, const Numbers &start, const Numbers &count,
                                const std::vector<int64_t> &step = {}) {
    size_t n = 1;
    for (uint64_t c : count) n *= c;
    std::vector<int32_t> values(n, -7);
    const refs_region region = {start.data(), count.data(), step.empty() ? nullptr : step.data()};
    EXPECT_EQ(refs_array_read(v.array, &region, values.data(), nullptr, &v.error), REFS_OK)
        << v.error.message;
    return values;
}

TEST(Array, ReadsARegionAcrossChunkBorders) {
    MemoryArray v;
    v.addIntegers({{4, 5}, {2, 3}});
    v.open();
    EXPECT_EQ(readRegion(v, {1, 2}, {2, 2}), (std::vector<int32_t>{7, 8, 12, 13}));
}

TEST(Array, ReadsBackwardsAndInSteps) {
    MemoryArray v;
    v.addIntegers({{10}, {3}});
    v.open();
    EXPECT_EQ(readRegion(v, {9}, {4}, {-3}), (std::vector<int32_t>{9, 6, 3, 0}));
    EXPECT_EQ(readRegion(v, {1}, {3}, {4}), (std::vector<int32_t>{1, 5, 9}));
}

TEST(Array, ReadsAScalar) {
    MemoryArray v;
    v.addIntegers({{}, {}});
    v.open();
    EXPECT_EQ(readRegion(v, {}, {}), (std::vector<int32_t>{0}));
}

TEST(Array, ReadsAsManyDimensionsAsThereMayBe) {
    MemoryArray v;
    const Numbers ones(REFS_MAX_RANK, 1), origin(REFS_MAX_RANK, 0);
    v.addIntegers({ones, ones});
    v.open();
    EXPECT_EQ(readRegion(v, origin, ones), (std::vector<int32_t>{0}));
}

/* They are fetched in several goes. */
TEST(Array, ReadsAnyNumberOfChunks) {
    MemoryArray v;
    v.addIntegers({{40000}, {1}});
    v.open();
    std::vector<int32_t> all(40000);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(readRegion(v, {0}, {40000}), all);
}

TEST(Array, ReadsNothingOfAnEmptyRegion) {
    MemoryArray v;
    v.addIntegers({{4, 4}, {2, 2}});
    v.open();
    EXPECT_TRUE(readRegion(v, {9, 9}, {0, 2}).empty());
}

TEST(Array, FillsAbsentChunksAndNoOthers) {
    MemoryArray v;
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4","order":"C",
        "fill_value":-1,"compressor":null,"filters":null})");
    v.store.put("v/1", std::string("\x05\0\0\0\x06\0\0\0", 8));
    v.open();
    EXPECT_EQ(readRegion(v, {0}, {4}), (std::vector<int32_t>{-1, -1, 5, 6}));
    refs_array_stats stats;
    refs_array_get_stats(v.array, &stats);
    EXPECT_EQ(stats.chunks_absent, 1u);
    EXPECT_EQ(stats.chunks_decoded, 1u);
}

TEST(Array, RefusesRegionsThatLeaveTheArray) {
    MemoryArray v;
    v.addIntegers({{4, 5}, {2, 3}});
    v.open();
    struct {
        Numbers start, count;
        std::vector<int64_t> step;
    } const outside[] = {{{0, 0}, {5, 1}, {1, 1}}, {{4, 0}, {1, 1}, {1, 1}},
                         {{3, 0}, {2, 1}, {1, 1}}, {{0, 1}, {1, 3}, {1, -1}},
                         {{0, 0}, {1, 2}, {1, 5}}, {{0, 0}, {1, 2}, {1, INT64_MIN}},
                         {{0, 0}, {2, 2}, {1, 0}}, {{0, 0}, {UINT64_MAX, 1}, {1, 1}}};
    for (const auto &o : outside) {
        int32_t value;
        const refs_region region = {o.start.data(), o.count.data(), o.step.data()};
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_array_read(v.array, &region, &value, nullptr, &error), REFS_INVALID);
    }
}

TEST(Array, SaysWhichChunkHasTheWrongSize) {
    MemoryArray v;
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<i4","order":"C",
        "fill_value":0,"compressor":null,"filters":null})");
    v.store.put("v/0", "12345");
    v.open();
    int32_t values[4];
    const uint64_t start = 0, count = 4;
    const refs_region region = {&start, &count, nullptr};
    EXPECT_EQ(refs_array_read(v.array, &region, values, nullptr, &v.error), REFS_CORRUPT);
    const std::string message = v.error.message;
    EXPECT_EQ(message.find("set.json: v/0: "), 0u) << message;
    EXPECT_NE(message.find("5"), std::string::npos) << message;
    EXPECT_NE(message.find("8"), std::string::npos) << message;
}

TEST(Array, DecodesAChunkOnceForAllThatReadIt) {
    refs_cache *cache = nullptr;
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    {
        MemoryArray v;
        v.addIntegers({{24, 2, 2}, {24, 2, 2}});
        v.open(cache);
        for (uint64_t band = 0; band < 24; band++)
            EXPECT_EQ(readRegion(v, {band, 0, 0}, {1, 2, 2})[3], static_cast<int>(band * 4 + 3));
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        EXPECT_EQ(stats.chunks_decoded, 1u);
        EXPECT_EQ(stats.cache_hits, 23u);
    }
    refs_cache_free(cache);
}

TEST(Array, ReadsBigEndianNumbersAsDoubles) {
    MemoryArray v;
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[2],"chunks":[2],"dtype":">i2","order":"C",
        "fill_value":0,"compressor":null,"filters":null})");
    v.store.put("v/0", std::string("\x01\x02\xff\xfe", 4));
    v.open();
    double values[2];
    ASSERT_EQ(refs_array_read_doubles(v.array, 2, values, &v.error), REFS_OK);
    EXPECT_EQ(values[0], 258);
    EXPECT_EQ(values[1], -2);
    EXPECT_EQ(refs_array_read_doubles(v.array, 1, values, &v.error), REFS_LIMIT);
}

TEST(Array, ReadsTextsOfFixedLength) {
    MemoryArray v;
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"|S3","order":"C",
        "fill_value":"","compressor":null,"filters":null})");
    v.store.put("v/0", std::string("ab\0xyz", 6));
    v.open();
    refs_buf strings = REFS_BUF_INIT;
    ASSERT_EQ(refs_array_read_strings(v.array, 2, &strings, &v.error), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(strings.data), strings.size),
              std::string("ab\0xyz\0", 7));
    refs_buf_clear(&strings);
}

TEST(Array, OfMoreChunksThanHaveNumbersIsNotOpened) {
    const struct {
        Numbers shape;
        refs_status status;
    } rows[] = {
        {{2, 2147483647, 2147483647}, REFS_OK},
        {{3, 2147483647, 2147483647}, REFS_LIMIT}, // beyond 63 bits
        {{5, 2147483647, 2147483647}, REFS_LIMIT}, // beyond 64
        {{4, 4294967296, 1073741824}, REFS_LIMIT}, // 0 in 64 bits
    };
    for (const auto &row : rows) {
        MemoryArray v;
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":)" + jsonList(row.shape) +
                                     R"(,"chunks":[1,1,1],"dtype":"|u1","order":"C",
            "fill_value":0,"compressor":null,"filters":null})");
        EXPECT_EQ(v.tryToOpen(), row.status);
        const std::string message = v.error.message;
        if (row.status == REFS_OK) continue;
        EXPECT_NE(message.find("/v: has more chunks than the limit of 9223372036854775807"),
                  std::string::npos)
            << message;
    }
}

/* -- random arrays and regions ----------------------------------------------------------------- */

struct Draw {
    ArrayShape v;
    Numbers start, count;
    std::vector<int64_t> step;
};

Draw draw(std::mt19937 &random) {
    Draw d;
    const size_t rank = 1 + random() % 4;
    for (size_t dim = 0; dim < rank; dim++) {
        const uint64_t size = 1 + random() % 7;
        d.v.shape.push_back(size);
        d.v.chunks.push_back(1 + random() % 8);
        const uint64_t first = random() % size;
        const int64_t step = 1 + static_cast<int64_t>(random() % 3);
        const bool backwards = random() % 3 == 0;
        const uint64_t room = (backwards ? first : size - 1 - first) / static_cast<uint64_t>(step);
        d.start.push_back(first);
        d.count.push_back(1 + random() % (room + 1));
        d.step.push_back(backwards ? -step : step);
    }
    d.v.order = random() % 2 ? 'C' : 'F';
    return d;
}

class ArrayProperty : public testing::TestWithParam<unsigned> {};

TEST_P(ArrayProperty, GivesEveryElementOfAnyRegion) {
    std::mt19937 random(GetParam());
    const Draw d = draw(random);
    MemoryArray v;
    v.addIntegers(d.v);
    v.open();
    const auto values = readRegion(v, d.start, d.count, d.step);
    size_t i = 0;
    forEachIndex(d.count, [&](const Numbers &element) {
        Numbers index(element.size());
        for (size_t dim = 0; dim < index.size(); dim++)
            index[dim] = d.start[dim] + element[dim] * static_cast<uint64_t>(d.step[dim]);
        EXPECT_EQ(values[i++], d.v.valueAt(index));
    });
}

TEST_P(ArrayProperty, PutsElementsWhereStridesSay) {
    std::mt19937 random(GetParam() + 1000);
    const Draw d = draw(random);
    MemoryArray v;
    v.addIntegers(d.v);
    v.open();
    const auto packed = readRegion(v, d.start, d.count, d.step);

    // Transposed, with a gap behind every element.
    std::vector<int64_t> stride(d.v.rank());
    int64_t size = 8;
    for (size_t dim = 0; dim < stride.size(); dim++) {
        stride[dim] = size;
        size *= static_cast<int64_t>(d.count[dim]);
    }
    std::vector<int32_t> spread(static_cast<size_t>(size) / 4, -7);
    const refs_region region = {d.start.data(), d.count.data(), d.step.data()};
    ASSERT_EQ(refs_array_read(v.array, &region, spread.data(), stride.data(), nullptr), REFS_OK);
    size_t i = 0;
    forEachIndex(d.count, [&](const Numbers &element) {
        int64_t at = 0;
        for (size_t dim = 0; dim < element.size(); dim++)
            at += static_cast<int64_t>(element[dim]) * stride[dim];
        EXPECT_EQ(spread[static_cast<size_t>(at) / 4], packed[i++]);
        EXPECT_EQ(spread[static_cast<size_t>(at) / 4 + 1], -7);
    });
}

INSTANTIATE_TEST_SUITE_P(Seeds, ArrayProperty, testing::Range(0u, 150u));

} // namespace
