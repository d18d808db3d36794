// fault_test.cc -- memory that runs out: each allocation of reading a table fails once.

#include <gtest/gtest.h>

#include <cstdlib>

#include "table_under_test.h"

namespace {

int64_t allocations_left = 0;

void *FailingMalloc(size_t size) {
    return allocations_left-- > 0 ? std::malloc(size) : nullptr;
}

void *FailingRealloc(void *memory, size_t size) {
    return allocations_left-- > 0 ? std::realloc(memory, size) : nullptr;
}

} // namespace

TEST(ParquetFaults, AreReportedForEveryAllocation) {
    parquet::Column path = parquet::Strings("path", {"a", "b", {}, "b", "c"});
    parquet::Column size = parquet::Integers("size", {1, 2, 3, 4, 5});
    path.dictionary = size.dictionary = true;
    parquet::Layout layout;
    layout.codec = parquet::kSnappy;
    layout.rows_per_group = 2;
    const std::string file =
        parquet::File({path, parquet::Integers("offset", {1, {}, 3, 4, 5}), size}, layout);

    const refs_allocator failing = {FailingMalloc, FailingRealloc, std::free};
    refs_allocator_set(&failing);
    int64_t n = 0;
    for (refs_status status = REFS_NOMEM; status == REFS_NOMEM && n < 1000; n++) {
        allocations_left = n;
        status = TableUnderTest(file).status;
        if (status != REFS_NOMEM) {
            EXPECT_EQ(status, REFS_OK) << n;
        }
    }
    refs_allocator_set(nullptr);
    EXPECT_GT(n, 15);
}
