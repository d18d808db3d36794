/* selection_test.cc -- indices and points, compared with an array indexed one element at a time. */
#include "memory_array.h"
#include "report.h"

#include <random>

namespace {

using Numbers = std::vector<uint64_t>;

/** The array counts its elements in C order. */
int32_t valueAt(const Numbers &shape, const Numbers &element) {
    uint64_t value = 0;
    for (size_t dim = 0; dim < shape.size(); dim++) value = value * shape[dim] + element[dim];
    return static_cast<int32_t>(value);
}

/** All combinations of indices, as NumPy's a[numpy.ix_(...)]. */
std::vector<int32_t> expected(const Numbers &shape, const std::vector<Numbers> &index) {
    size_t n = 1;
    for (const Numbers &along : index) n *= along.size();
    std::vector<int32_t> values;
    for (size_t i = 0; i < n; i++) {
        Numbers element(shape.size());
        size_t left = i;
        for (size_t dim = shape.size(); dim-- > 0; left /= index[dim].size())
            element[dim] = index[dim][left % index[dim].size()];
        values.push_back(valueAt(shape, element));
    }
    return values;
}

std::vector<int32_t> readIndices(MemoryArray &v, const std::vector<Numbers> &index) {
    Numbers count;
    std::vector<const uint64_t *> lists;
    size_t n = 1;
    for (const Numbers &along : index) {
        count.push_back(along.size());
        lists.push_back(along.data());
        n *= along.size();
    }
    const Numbers start(index.size(), 0);
    std::vector<int32_t> values(n, -7);
    const refs_selection selection = {
        {start.data(), count.data(), nullptr}, lists.data(), values.data(), nullptr};
    EXPECT_EQ(refs_array_read_selections(v.array, &selection, 1, nullptr, &v.error), REFS_OK)
        << v.error.message;
    return values;
}

TEST(Selections, TakeAllCombinationsOfIndices) {
    MemoryArray v;
    v.addIntegers({{4, 5}, {2, 3}});
    v.open();
    EXPECT_EQ(readIndices(v, {{0, 3}, {1, 2, 4}}), (std::vector<int32_t>{1, 2, 4, 16, 17, 19}));
}

TEST(Selections, TakeAnIndexAsOftenAsItIsListed) {
    MemoryArray v;
    v.addIntegers({{6}, {4}});
    v.open();
    EXPECT_EQ(readIndices(v, {{0, 0, 3, 5, 5}}), (std::vector<int32_t>{0, 0, 3, 5, 5}));
}

TEST(Selections, AreAnyIndices) {
    std::mt19937 random(39);
    for (int turn = 0; turn < 100; turn++) {
        const size_t rank = 1 + random() % 4;
        Numbers shape, chunk;
        std::vector<Numbers> index;
        for (size_t dim = 0; dim < rank; dim++) {
            shape.push_back(1 + random() % 9);
            chunk.push_back(1 + random() % shape.back());
            Numbers along(1 + random() % 7);
            for (uint64_t &i : along) i = random() % shape.back();
            std::sort(along.begin(), along.end());
            index.push_back(along);
        }
        MemoryArray v;
        v.addIntegers({shape, chunk});
        v.open();
        EXPECT_EQ(readIndices(v, index), expected(shape, index)) << "turn " << turn;
    }
}

TEST(Selections, OfPointsAreOneFetch) {
    refs_cache *cache = nullptr;
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    {
        MemoryArray v;
        v.addIntegers({{100, 3}, {10, 3}});
        v.open(cache);
        const uint64_t starts[4][2] = {{99, 2}, {0, 0}, {55, 1}, {54, 0}}, count[2] = {1, 1};
        int32_t values[4];
        std::vector<refs_selection> points;
        for (size_t i = 0; i < 4; i++)
            points.push_back({{starts[i], count, nullptr}, nullptr, &values[i], nullptr});
        ASSERT_EQ(refs_array_read_selections(v.array, points.data(), 4, nullptr, &v.error), REFS_OK)
            << v.error.message;
        EXPECT_EQ(std::vector<int32_t>(values, values + 4),
                  (std::vector<int32_t>{299, 0, 166, 162}));
        refs_array_stats stats;
        refs_array_get_stats(v.array, &stats);
        EXPECT_EQ(stats.chunks_decoded, 3u);
    }
    refs_cache_free(cache);
}

/* More points than are one fetch. */
TEST(Selections, TellProgressThatNeverFalls) {
    constexpr uint64_t n = 40000;
    MemoryArray v;
    v.addIntegers({{n}, {1}});
    v.open();
    const uint64_t count[1] = {1};
    Numbers starts(n);
    std::vector<int32_t> values(n, -7);
    std::vector<refs_selection> points;
    for (uint64_t i = 0; i < n; i++) {
        starts[i] = n - 1 - i;
        points.push_back({{&starts[i], count, nullptr}, nullptr, &values[i], nullptr});
    }
    Report report;
    const refs_progress progress = report.progress();
    ASSERT_EQ(refs_array_read_selections(v.array, points.data(), n, &progress, &v.error), REFS_OK)
        << v.error.message;
    EXPECT_EQ(values[1], static_cast<int32_t>(n) - 2);
    report.expectGrowth();
}

TEST(Selections, MustAscendAndLieInside) {
    MemoryArray v;
    v.addIntegers({{6}, {4}});
    v.open();
    const struct {
        Numbers index;
        const char *message;
    } wrong[] = {{{6}, "element 6 lies outside dimension 0 of size 6"},
                 {{3, 2}, "expected ascending indices of dimension 0, found 2 after 3"}};
    for (const auto &one : wrong) {
        int32_t values[2];
        const uint64_t start = 0, count = one.index.size();
        const uint64_t *list = one.index.data();
        const refs_selection selection = {{&start, &count, nullptr}, &list, values, nullptr};
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_array_read_selections(v.array, &selection, 1, nullptr, &error),
                  REFS_INVALID);
        EXPECT_NE(std::string(error.message).find(one.message), std::string::npos) << error.message;
    }
}

} // namespace
