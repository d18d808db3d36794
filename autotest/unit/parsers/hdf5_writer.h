/* hdf5_writer.h -- bytes of HDF5 structures, also of such as no library writes. */
#ifndef REFS_HDF5_WRITER_H
#define REFS_HDF5_WRITER_H

#include <string>
#include <vector>

#include "refs/lookup3.h"

class Hdf5Writer {
  public:
    std::string bytes;

    uint64_t end() const { return bytes.size(); }

    Hdf5Writer &Text(const char *text) {
        bytes += text;
        return *this;
    }
    Hdf5Writer &Number(uint64_t number, size_t size) {
        for (size_t i = 0; i < size; i++) bytes += static_cast<char>(number >> 8 * i);
        return *this;
    }
    Hdf5Writer &Address(uint64_t address) { return Number(address, 8); }

    /// Of all from `begin` on.
    Hdf5Writer &Checksum(uint64_t begin) {
        return Number(refs_lookup3(refs_bytes_view(bytes.data() + begin, bytes.size() - begin), 0),
                      4);
    }
    void Pad(uint64_t size) {
        if (bytes.size() < size) bytes.resize(size, '\0');
    }
};

/// A version 1 B-tree of chunks, nodes of 64 entries.
class BTree1Writer : public Hdf5Writer {
  public:
    static constexpr size_t kEntries = 64;

    struct Entry {
        std::vector<uint64_t> begin; ///< where the chunk begins along each dimension
        uint64_t address;
        uint32_t size = 10, mask = 0;
    };

    explicit BTree1Writer(size_t rank) : rank_(rank) {}

    size_t NodeBytes() const { return 24 + kEntries * (KeyBytes() + 8) + KeyBytes(); }

    /// Adds a node with up to 64 entries; returns its address.
    uint64_t Node(unsigned level, const std::vector<Entry> &entries) {
        const uint64_t address = end();
        Text("TREE").Number(1, 1).Number(level, 1).Number(entries.size(), 2);
        Address(UINT64_MAX).Address(UINT64_MAX);
        for (const Entry &entry : entries) {
            Number(entry.size, 4).Number(entry.mask, 4);
            for (uint64_t n : entry.begin) Number(n, 8);
            Number(0, 8).Address(entry.address);
        }
        Pad(address + NodeBytes());
        return address;
    }

    /// Adds nodes above `entries` until there is one; returns its address. Nodes of one level
    /// follow each other.
    uint64_t Tree(std::vector<Entry> entries) {
        for (unsigned level = 0;; level++) {
            std::vector<Entry> above;
            for (size_t i = 0; i < entries.size(); i += kEntries) {
                const auto first = entries.begin() + static_cast<ptrdiff_t>(i);
                const size_t n = std::min(kEntries, entries.size() - i);
                Entry node = *first;
                node.address = Node(level, {first, first + static_cast<ptrdiff_t>(n)});
                above.push_back(node);
            }
            if (above.size() == 1) return above[0].address;
            entries = above;
        }
    }

  private:
    size_t KeyBytes() const { return 8 + 8 * (rank_ + 1); }

    size_t rank_;
};

#endif
