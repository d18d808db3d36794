// Chunk indexes of HDF5 files. What libhdf5 says of its own files is in data/*.txt
// (make_indexes.py).

#include <gtest/gtest.h>

#include <cstdlib>

#include "listing.h"

namespace {

bool IsPartial(const Listing &listing, const std::vector<uint64_t> &at) {
    for (size_t dim = 0; dim < at.size(); dim++)
        if ((at[dim] + 1) * listing.chunk[dim] > listing.shape[dim]) return true;
    return false;
}

/// Moves on to the next chunk; false behind the last.
bool Next(const Listing &listing, std::vector<uint64_t> &at) {
    for (size_t dim = at.size(); dim-- > 0;) {
        if (++at[dim] * listing.chunk[dim] < listing.shape[dim]) return true;
        at[dim] = 0;
    }
    return false;
}

class Hdf5IndexFiles : public testing::TestWithParam<const char *> {};

TEST_P(Hdf5IndexFiles, HaveTheirChunksWhereHdf5HasThem) {
    const Listing listing = ListingOf(GetParam());
    ASSERT_FALSE(listing.chunks.empty());
    IndexUnderTest test;
    Describe(listing, test);
    ASSERT_EQ(test.Read(refs_vfs_posix(), DataPath(GetParam() + std::string(".h5"))), REFS_OK)
        << test.error.message;
    size_t n = 0;
    std::vector<uint64_t> at(listing.shape.size(), 0);
    do {
        const refs_index_entry *found = test.At(at);
        auto expected = listing.chunks.find(at);
        ASSERT_EQ(found != nullptr, expected != listing.chunks.end()) << testing::PrintToString(at);
        if (found == nullptr) continue;
        n++;
        uint32_t mask = expected->second.mask;
        if (listing.numbers.at("partial_unfiltered") != 0 && IsPartial(listing, at)) mask = 3;
        EXPECT_EQ(found->offset, expected->second.offset) << testing::PrintToString(at);
        EXPECT_EQ(found->length, expected->second.size) << testing::PrintToString(at);
        EXPECT_EQ(found->filter_mask, mask) << testing::PrintToString(at);
    } while (Next(listing, at));
    EXPECT_LE(n, listing.chunks.size());
    EXPECT_GT(n, 0u);
}

std::string Content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

int64_t allocationsLeft = 0;

void *FailingMalloc(size_t size) {
    return allocationsLeft-- > 0 ? std::malloc(size) : nullptr;
}

void *FailingRealloc(void *memory, size_t size) {
    return allocationsLeft-- > 0 ? std::realloc(memory, size) : nullptr;
}

TEST_P(Hdf5IndexFiles, SayWhereMemoryRanOut) {
    const Listing listing = ListingOf(GetParam());
    const std::string content = Content(DataPath(GetParam() + std::string(".h5")));
    const refs_allocator failing = {FailingMalloc, FailingRealloc, std::free};
    refs_status status = REFS_NOMEM;
    refs_allocator_set(&failing);
    for (int n = 0; status == REFS_NOMEM && n < 10000; n++) {
        IndexUnderTest test;
        Describe(listing, test);
        allocationsLeft = n;
        status = test.Read(content);
    }
    refs_allocator_set(nullptr);
    EXPECT_EQ(status, REFS_OK);
}

TEST_P(Hdf5IndexFiles, AreReadOrRefusedWhateverByteIsWrong) {
    const Listing listing = ListingOf(GetParam());
    std::string content = Content(DataPath(GetParam() + std::string(".h5")));
    const size_t step = 1 + content.size() / 4000;
    for (size_t i = 0; i < content.size(); i += step) {
        IndexUnderTest test;
        Describe(listing, test);
        content[i] = static_cast<char>(content[i] ^ 0xFF);
        const refs_status status = test.Read(content);
        content[i] = static_cast<char>(content[i] ^ 0xFF);
        ASSERT_TRUE(status == REFS_OK || status == REFS_CORRUPT || status == REFS_LIMIT)
            << i << ": " << test.error.message;
        ASSERT_EQ(status == REFS_OK, test.error.message[0] == '\0') << i;
    }
}

INSTANTIATE_TEST_SUITE_P(, Hdf5IndexFiles,
                         testing::Values("btree1", "btree1_small_sizes", "btree1_sparse", "btree2",
                                         "btree2_filtered", "btree2_partial", "extensible",
                                         "extensible_filtered", "extensible_paged", "fixed",
                                         "fixed_filtered", "fixed_paged", "fixed_paged_filtered",
                                         "fixed_partial", "implicit", "single", "single_filtered"),
                         [](const auto &test) { return std::string(test.param); });

} // namespace
