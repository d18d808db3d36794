// Chunk indexes of HDF5 files. What libhdf5 says of its own files is in data/*.txt
// (make_indexes.py).

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "index_under_test.h"

namespace {

struct Chunk {
    uint64_t offset, size;
    uint32_t mask;
};

/// What data/NAME.txt says.
struct Listing {
    std::string kind;
    std::vector<uint64_t> shape, most, chunk;
    std::map<std::string, uint64_t> numbers;
    std::map<std::vector<uint64_t>, Chunk> chunks;
};

std::vector<uint64_t> NumbersIn(std::istream &line) {
    std::vector<uint64_t> numbers;
    for (int64_t number; line >> number;) numbers.push_back(static_cast<uint64_t>(number));
    line.clear();
    return numbers;
}

Listing ListingOf(const std::string &name) {
    Listing listing;
    std::ifstream file(std::string(REFS_SCAN_DATA) + "/" + name + ".txt");
    for (std::string text, word; std::getline(file, text);) {
        std::istringstream line(text);
        line >> word;
        if (word == "kind")
            line >> listing.kind;
        else if (word == "shape")
            listing.shape = NumbersIn(line);
        else if (word == "max")
            listing.most = NumbersIn(line);
        else if (word == "chunk")
            listing.chunk = NumbersIn(line);
        else if (word == "at") {
            std::vector<uint64_t> at = NumbersIn(line);
            line >> word;
            std::vector<uint64_t> chunk = NumbersIn(line);
            listing.chunks[at] = {chunk.at(0), chunk.at(1), static_cast<uint32_t>(chunk.at(2))};
        } else {
            listing.numbers[word] = NumbersIn(line).at(0);
        }
    }
    return listing;
}

refs_hdf5_index_kind KindOf(const std::string &kind) {
    static const std::map<std::string, refs_hdf5_index_kind> kinds = {
        {"btree1", REFS_HDF5_BTREE_1},
        {"single", REFS_HDF5_SINGLE},
        {"implicit", REFS_HDF5_IMPLICIT},
        {"fixed", REFS_HDF5_FIXED_ARRAY},
        {"extensible", REFS_HDF5_EXTENSIBLE_ARRAY},
        {"btree2", REFS_HDF5_BTREE_2}};
    return kinds.at(kind);
}

void Describe(const Listing &listing, IndexUnderTest &test) {
    test.Shape(listing.shape, listing.most, listing.chunk);
    test.layout.index = KindOf(listing.kind);
    test.layout.address = listing.numbers.at("address");
    test.layout.n_filters = listing.numbers.at("filters");
    if (listing.numbers.at("partial_unfiltered") != 0)
        test.layout.flags |= REFS_HDF5_PARTIAL_UNFILTERED;
    test.file.base = listing.numbers.at("base");
    test.file.offset_size = test.file.length_size =
        static_cast<uint8_t>(listing.numbers.at("sizes"));
    if (listing.kind == "single" && test.layout.n_filters > 0) {
        const Chunk &only = listing.chunks.begin()->second;
        test.layout.flags |= REFS_HDF5_SINGLE_FILTERED;
        test.layout.single_size = only.size;
        test.layout.single_mask = only.mask;
    }
}

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
    ASSERT_EQ(test.Read(refs_vfs_posix(), std::string(REFS_SCAN_DATA) + "/" + GetParam() + ".h5"),
              REFS_OK)
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

INSTANTIATE_TEST_SUITE_P(, Hdf5IndexFiles,
                         testing::Values("btree1", "btree1_small_sizes", "btree1_sparse", "btree2",
                                         "btree2_filtered", "btree2_partial", "extensible",
                                         "extensible_filtered", "extensible_paged", "fixed",
                                         "fixed_filtered", "fixed_paged", "fixed_paged_filtered",
                                         "fixed_partial", "implicit", "single", "single_filtered"),
                         [](const auto &test) { return std::string(test.param); });

} // namespace
