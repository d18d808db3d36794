/* threads_test.cc -- eight threads on one array, on one set, on a set each; and arrays opened, read
 * and closed in all orders. */
#include <atomic>
#include <memory>
#include <random>

#include "all_orders.h"
#include "in_threads.h"
#include "memory_array.h"

namespace {

const ArrayShape shape{{40, 9, 11}, {3, 4, 5}};

/** Reads a random box. */
void expectBox(refs_array *array, std::mt19937 &random) {
    uint64_t start[3], count[3];
    size_t n = 1;
    for (size_t dim = 0; dim < 3; dim++) {
        start[dim] = random() % shape.shape[dim];
        count[dim] = 1 + random() % (shape.shape[dim] - start[dim]);
        n *= count[dim];
    }
    std::vector<int32_t> values(n, -7);
    const refs_region region = {start, count, nullptr};
    refs_error error = REFS_ERROR_INIT;
    ASSERT_EQ(refs_array_read(array, &region, values.data(), nullptr, &error), REFS_OK)
        << error.message;
    size_t i = 0;
    forEachIndex({count, count + 3}, [&](const std::vector<uint64_t> &at) {
        ASSERT_EQ(values[i++],
                  shape.valueAt({start[0] + at[0], start[1] + at[1], start[2] + at[2]}));
    });
}

/** Reads step by step, so that what follows is prefetched. */
void expectSteps(refs_array *array, uint64_t n) {
    refs_reader *reader = nullptr;
    ASSERT_EQ(refs_reader_open(array, &reader, nullptr), REFS_OK);
    const std::unique_ptr<refs_reader, void (*)(refs_reader *)> owner(reader, refs_reader_free);
    for (uint64_t t = 0; t < n; t++) {
        const uint64_t start[] = {t, 0, 0}, count[] = {1, shape.shape[1], shape.shape[2]};
        std::vector<int32_t> values(count[1] * count[2], -7);
        const refs_region region = {start, count, nullptr};
        ASSERT_EQ(refs_reader_read(reader, &region, values.data(), nullptr, nullptr), REFS_OK);
        for (size_t i = 0; i < values.size(); i++)
            ASSERT_EQ(values[i], static_cast<int32_t>(t * values.size() + i));
    }
}

/** A set of one array and all that reading it takes. */
class OpenedSet {
  public:
    explicit OpenedSet(size_t cacheBytes = 4000) {
        v.addIntegers(shape);
        EXPECT_EQ(refs_cache_open(cacheBytes, &cache, nullptr), REFS_OK);
        EXPECT_EQ(refs_pool_open(2, &pool, nullptr), REFS_OK);
        EXPECT_EQ(refs_pool_open(2, &prefetchPool, nullptr), REFS_OK);
        v.open(cache, MemoryArray::WithPrefetch, pool);
    }
    ~OpenedSet() {
        v.close();
        refs_cache_free(cache);
        refs_pool_free(pool);
        refs_pool_free(prefetchPool);
    }

    /** Another handle of the array. */
    refs_array *open() const {
        const refs_array_context context = {v.store.opened(), cache, pool, prefetchPool, 0, 0};
        refs_array *array = nullptr;
        EXPECT_EQ(refs_array_open(&context, refs_array_meta_of(v.array), &array, nullptr), REFS_OK);
        return array;
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
    refs_pool *pool = nullptr, *prefetchPool = nullptr;
};

TEST(Threads, EightReadOneArray) {
    const OpenedSet set;
    inThreads([&](unsigned i) {
        std::mt19937 random(i);
        for (int round = 0; round < 30; round++) expectBox(set.v.array, random);
        expectSteps(set.v.array, shape.shape[0]);
    });
}

TEST(Threads, EightReadAnArrayEachOfOneSet) {
    const OpenedSet set;
    inThreads([&](unsigned i) {
        std::mt19937 random(i);
        for (int round = 0; round < 6; round++) {
            refs_array *array = set.open();
            expectBox(array, random);
            expectSteps(array, 10);
            expectBox(array, random);
            refs_array_free(array);
        }
    });
}

TEST(Threads, EightReadASetEach) {
    inThreads([&](unsigned i) {
        std::mt19937 random(i);
        const OpenedSet set;
        for (int round = 0; round < 10; round++) expectBox(set.v.array, random);
        expectSteps(set.v.array, shape.shape[0]);
    });
}

TEST(Threads, OpenReadAndCloseInAllOrders) {
    const OpenedSet set;
    const std::vector<std::string> orders = allOrders(3);
    ASSERT_EQ(orders.size(), 1680u);
    std::atomic<size_t> next{0};
    inThreads([&](unsigned i) {
        std::mt19937 random(i);
        for (size_t number; (number = next++) < orders.size();) {
            std::vector<refs_array *> arrays(3);
            takeTurns(
                orders[number], [&](size_t k) { arrays[k] = set.open(); },
                [&](size_t k) {
                    if (k == 0)
                        expectSteps(arrays[k], 4);
                    else
                        expectBox(arrays[k], random);
                },
                [&](size_t k) { refs_array_free(arrays[k]); });
        }
    });
}

} // namespace
