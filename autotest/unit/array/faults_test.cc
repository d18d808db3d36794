/* faults_test.cc -- every allocation of a read may fail, and nothing is lost but that read. */
#include "memory_array.h"

#include <atomic>
#include <cstdlib>

#include "refs/bytes.h"

namespace {

/** So many more allocations succeed; negative is no limit. */
std::atomic<long> allocationsLeft{-1};

bool mayAllocate() {
    long left = allocationsLeft;
    while (left > 0 && !allocationsLeft.compare_exchange_weak(left, left - 1)) {
    }
    return left != 0;
}

const refs_allocator failing = {
    [](size_t size) { return mayAllocate() ? malloc(size) : nullptr; },
    [](void *memory, size_t size) { return mayAllocate() ? realloc(memory, size) : nullptr; },
    free};

/** Steps of one chunk each, which are read with ever more allocations. */
class ReadFaults : public testing::TestWithParam<size_t> {
  protected:
    static void SetUpTestSuite() { refs_allocator_set(&failing); }
    static void TearDownTestSuite() { refs_allocator_set(nullptr); }

    void SetUp() override {
        v.addIntegers(shape);
        if (GetParam() > 0) {
            ASSERT_EQ(refs_cache_open(GetParam(), &cache, nullptr), REFS_OK);
        }
        ASSERT_EQ(refs_pool_open(2, &pool, nullptr), REFS_OK);
    }
    void TearDown() override {
        allocationsLeft = -1;
        v.close();
        refs_cache_free(cache);
        refs_pool_free(pool);
    }
    void open(MemoryArray::Prefetch prefetch, refs_pool *decoding) {
        v.close();
        v.open(cache, prefetch, decoding);
    }

    /** Reads `n` steps, of which the values are looked at where the read succeeds. */
    refs_status read(uint64_t first, uint64_t n) {
        std::vector<int32_t> values(n * width, -7);
        const uint64_t start[] = {first, 0}, count[] = {n, width};
        const refs_region region = {start, count, nullptr};
        refs_error error = REFS_ERROR_INIT;
        const refs_status status =
            refs_reader_read(v.reader, &region, values.data(), nullptr, &error);
        EXPECT_EQ(error.status, status);
        for (uint64_t i = 0; i < n * width && status == REFS_OK; i++)
            EXPECT_EQ(values[i], static_cast<int32_t>(first * width + i));
        return status;
    }

    static constexpr uint64_t steps = 40, width = 10;
    const ArrayShape shape = {{steps, width}, {1, width}};
    MemoryArray v;
    refs_cache *cache = nullptr;
    refs_pool *pool = nullptr;
};

/* Whoever reads the same chunks next gets them: none is left as if it were being loaded. */
TEST_P(ReadFaults, AreToldAndHoldNobodyUp) {
    for (refs_pool *decoding : {static_cast<refs_pool *>(nullptr), pool}) {
        refs_status status = REFS_NOMEM;
        long allowed = 0;
        for (; status != REFS_OK && allowed < 10000 && !HasFailure(); allowed++) {
            open(MemoryArray::NoPrefetch, decoding);
            allocationsLeft = allowed;
            status = read(2, 5);
            allocationsLeft = -1;
            EXPECT_TRUE(status == REFS_OK || status == REFS_NOMEM) << status;
            EXPECT_EQ(read(0, steps), REFS_OK);
        }
        EXPECT_EQ(status, REFS_OK);
        EXPECT_GT(allowed, 10);
    }
}

TEST_P(ReadFaults, OfWhatIsPrefetchedHoldNobodyUp) {
    for (long allowed = 0; allowed < 400 && !HasFailure(); allowed += 7) {
        open(MemoryArray::WithPrefetch, pool);
        allocationsLeft = allowed;
        for (uint64_t t = 0; t < steps; t++) {
            const refs_status status = read(t, 1);
            EXPECT_TRUE(status == REFS_OK || status == REFS_NOMEM) << status;
        }
        allocationsLeft = -1;
        for (uint64_t t = 0; t < steps; t++) EXPECT_EQ(read(t, 1), REFS_OK);
    }
}

INSTANTIATE_TEST_SUITE_P(Caches, ReadFaults, testing::Values(0, 1000, 1 << 20));

} // namespace
