/* listing.h -- what data/NAME.txt says of data/NAME.h5 (make_indexes.py). */
#ifndef REFS_LISTING_H
#define REFS_LISTING_H

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "index_under_test.h"

struct Listing {
    struct Chunk {
        uint64_t offset, size;
        uint32_t mask;
    };

    std::string kind;
    std::vector<uint64_t> shape, most, chunk;
    std::map<std::string, uint64_t> numbers;
    std::map<std::vector<uint64_t>, Chunk> chunks;
};

inline std::vector<uint64_t> NumbersIn(std::istream &line) {
    std::vector<uint64_t> numbers;
    for (int64_t number; line >> number;) numbers.push_back(static_cast<uint64_t>(number));
    line.clear();
    return numbers;
}

/// The path of data/NAME.
inline std::string DataPath(const std::string &name) {
    return std::string(REFS_SCAN_DATA) + "/" + name;
}

inline Listing ListingOf(const std::string &name) {
    Listing listing;
    std::ifstream file(DataPath(name + ".txt"));
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

inline refs_hdf5_index_kind KindOf(const std::string &kind) {
    static const std::map<std::string, refs_hdf5_index_kind> kinds = {
        {"btree1", REFS_HDF5_BTREE_1},
        {"single", REFS_HDF5_SINGLE},
        {"implicit", REFS_HDF5_IMPLICIT},
        {"fixed", REFS_HDF5_FIXED_ARRAY},
        {"extensible", REFS_HDF5_EXTENSIBLE_ARRAY},
        {"btree2", REFS_HDF5_BTREE_2}};
    return kinds.at(kind);
}

/// Makes the layout of the file.
inline void Describe(const Listing &listing, IndexUnderTest &test) {
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
        const Listing::Chunk &only = listing.chunks.begin()->second;
        test.layout.flags |= REFS_HDF5_SINGLE_FILTERED;
        test.layout.single_size = only.size;
        test.layout.single_mask = only.mask;
    }
}

#endif
