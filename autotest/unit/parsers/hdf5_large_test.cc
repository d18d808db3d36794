// What the chunk index of a million chunks costs: reads and bytes. autotest/bench/index_hdf5.py has
// the time and memory.

#include <gtest/gtest.h>

#include "far_vfs.h"
#include "hdf5_writer.h"
#include "index_under_test.h"

namespace {

constexpr uint64_t kChunks = 1000000;

class Hdf5LargeIndex : public testing::Test {
  protected:
    void ReadNear(refs_hdf5_index_kind kind, uint64_t address, std::string content) {
        test.vfs.near = true;
        test.vfs.files["f.h5"] = std::move(content);
        test.layout.index = kind;
        test.layout.address = address;
        ASSERT_EQ(test.Read(test.vfs.get(), "f.h5"), REFS_OK) << test.error.message;
        costs = refs_source_costs_of(test.file.source);
    }

    FarVfs vfs;
    IndexUnderTest test;
    refs_source_costs costs = {};
};

TEST_F(Hdf5LargeIndex, OfVersion1ReadsEachNodeOnce) {
    BTree1Writer file(2);
    std::vector<BTree1Writer::Entry> entries;
    for (uint64_t i = 0; i < kChunks; i++) entries.push_back({{i / 1000, i % 1000}, i * 10});
    const uint64_t root = file.Tree(entries);
    const uint64_t size = file.bytes.size(), nodes = size / file.NodeBytes();
    test.Shape({1000, 1000}, {1000, 1000}, {1, 1});
    ReadNear(REFS_HDF5_BTREE_1, root, std::move(file.bytes));
    EXPECT_EQ(nodes, 15625u + 245u + 4u + 1u);
    EXPECT_EQ(costs.reads, nodes + 1) << "and the root for its level";
    EXPECT_EQ(costs.bytes, size + file.NodeBytes());
    ASSERT_NE(test.At({999, 999}), nullptr);
    EXPECT_EQ(test.At({999, 999})->offset, 9999990u);
}

// 100 KB of chunks lie behind each node: these are not fetched along.
TEST_F(Hdf5LargeIndex, OverANetworkWaitsOnceForALevel) {
    BTree1Writer file(2);
    std::vector<BTree1Writer::Entry> entries, above;
    for (uint64_t i = 0; i < 100000; i++) entries.push_back({{i / 1000, i % 1000}, i * 10});
    for (size_t i = 0; i < entries.size(); i += 64) {
        BTree1Writer::Entry node = entries[i];
        const size_t end = std::min(i + 64, entries.size());
        node.address = file.Node(0, {&entries[i], &entries[end - 1] + 1});
        above.push_back(node);
        file.Pad(file.end() + 100000);
    }
    std::vector<BTree1Writer::Entry> top;
    for (size_t i = 0; i < above.size(); i += 64) {
        BTree1Writer::Entry node = above[i];
        const size_t end = std::min(i + 64, above.size());
        node.address = file.Node(1, {&above[i], &above[end - 1] + 1});
        top.push_back(node);
        file.Pad(file.end() + 100000);
    }
    test.layout.address = file.Node(2, top);
    vfs.content = std::move(file.bytes);
    test.Shape({100, 1000}, {100, 1000}, {1, 1});
    ASSERT_EQ(test.Read(vfs.get(), "f.h5"), REFS_OK) << test.error.message;
    EXPECT_LE(vfs.waits, 5u) << "the root, a level, and one in two batches";
    EXPECT_LE(vfs.bytes, 16u * 1024 * 1024);
    ASSERT_NE(test.At({99, 999}), nullptr);
    EXPECT_EQ(test.At({99, 999})->offset, 999990u);
}

TEST_F(Hdf5LargeIndex, OfAFixedArrayReadsEachPageOnce) {
    Hdf5Writer file;
    const uint64_t inPage = 1024, pages = (kChunks + inPage - 1) / inPage;
    file.Text("FAHD").Number(0, 2).Number(8, 1).Number(10, 1).Number(kChunks, 8);
    file.Address(28).Checksum(0);
    file.Text("FADB").Number(0, 2).Address(0);
    for (uint64_t i = 0; i < (pages + 7) / 8; i++) file.Number(0xFF, 1);
    file.Checksum(28);
    for (uint64_t first = 0; first < kChunks; first += inPage) {
        const uint64_t begin = file.end();
        for (uint64_t i = first; i < std::min(first + inPage, kChunks); i++) file.Address(i * 2);
        file.Checksum(begin);
    }
    const uint64_t size = file.end();
    test.Shape({1000, 1000}, {1000, 1000}, {1, 1});
    ReadNear(REFS_HDF5_FIXED_ARRAY, 0, std::move(file.bytes));
    EXPECT_LE(costs.reads, pages + 2);
    EXPECT_LE(costs.bytes, size + 32768);
    ASSERT_NE(test.At({999, 999}), nullptr);
    EXPECT_EQ(test.At({999, 999})->offset, 1999998u);
}

} // namespace
