// Memory that runs out: each allocation of opening a repository and finding chunks fails once.

#include <cstdlib>

#include "repository_under_test.h"

namespace {

int64_t allocations_left = 0;

void *FailingMalloc(size_t size) {
    return allocations_left-- > 0 ? std::malloc(size) : nullptr;
}

void *FailingRealloc(void *memory, size_t size) {
    return allocations_left-- > 0 ? std::realloc(memory, size) : nullptr;
}

// Whether all was found.
bool OpenAndFind(Repository &repository) {
    const std::string opened = repository.Open();
    if (!opened.empty()) {
        EXPECT_EQ(opened.substr(0, 13), "out of memory") << opened;
        return false;
    }
    bool complete = true;
    for (uint64_t i = 0; i < 4; i++) {
        const std::string found = repository.Find("virtual", {i});
        EXPECT_NE(found, "absent");
        complete = complete && found.find("out of memory") == std::string::npos;
    }
    return complete;
}

TEST(IcechunkFaults, AreReportedForEveryAllocation) {
    for (unsigned format : {1u, 2u}) {
        Repository repository(format);
        const refs_allocator failing = {FailingMalloc, FailingRealloc, std::free};
        refs_allocator_set(&failing);
        int64_t n = 0;
        for (bool complete = false; !complete && n < 2000; n++) {
            allocations_left = n;
            complete = OpenAndFind(repository);
        }
        refs_allocator_set(nullptr);
        EXPECT_GT(n, 20);
        EXPECT_LT(n, 2000);
    }
}

} // namespace
