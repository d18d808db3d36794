// Chunk indexes that lie: one error each, and little time and memory.

#include <gtest/gtest.h>

#include "hdf5_writer.h"
#include "index_under_test.h"

namespace {

constexpr uint64_t kHuge = uint64_t{1} << 60;

class Hdf5HostileIndex : public testing::Test {
  protected:
    Hdf5HostileIndex() { test.Shape({100, 100}, {100, 100}, {1, 1}); }

    std::string Fail(refs_hdf5_index_kind kind, uint64_t address, const std::string &content) {
        test.layout.index = kind;
        test.layout.address = address;
        EXPECT_NE(test.Read(content), REFS_OK);
        return test.error.message;
    }

    /// Of an array as large as numbers get, in a file of 1 KiB.
    std::string FailOfHuge(refs_hdf5_index_kind kind, Hdf5Writer &file) {
        test.Shape({kHuge}, {kHuge}, {1});
        file.Pad(1024);
        return Fail(kind, 0, file.bytes);
    }

    void ExpectLittleIsKept() { EXPECT_LT(test.index.n_entries, 1000u); }

    IndexUnderTest test;
};

TEST_F(Hdf5HostileIndex, NodesAreNotTheirOwnChildren) {
    BTree1Writer file(2);
    file.Node(1, {{{0, 0}, 0}});
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes),
              "B-tree node at address 0 is not one level below its parent");
}

TEST_F(Hdf5HostileIndex, NodesHaveNoMoreEntriesThanRoom) {
    BTree1Writer file(2);
    file.Node(0, std::vector<BTree1Writer::Entry>(65, {{0, 0}, 0}));
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes),
              "B-tree node at address 0 has more entries than fit its size");
}

TEST_F(Hdf5HostileIndex, NodesAreNotCutByTheEndOfTheFile) {
    BTree1Writer file(2);
    file.Node(0, std::vector<BTree1Writer::Entry>(64, {{0, 0}, 0}));
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes.substr(0, 1000)),
              "B-tree node at address 0 has more entries than fit its size");
}

TEST_F(Hdf5HostileIndex, TreesAreNotDeeperThanTheyMayBe) {
    BTree1Writer file(2);
    file.Node(255, {{{0, 0}, 0}});
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes),
              "a B-tree has 256 levels: expected at most 32");
}

// 64^20 ways lead down to one leaf.
TEST_F(Hdf5HostileIndex, NodesAreNotReadAnyNumberOfTimes) {
    BTree1Writer file(2);
    uint64_t below = file.Node(0, {{{0, 0}, 8}});
    for (unsigned level = 1; level <= 20; level++)
        below = file.Node(level, std::vector<BTree1Writer::Entry>(64, {{0, 0}, below}));
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, below, file.bytes),
              "its structures have more bytes than the file: they overlap or form a loop");
    EXPECT_LT(test.vfs.reads, 10000);
}

TEST_F(Hdf5HostileIndex, ChunksBeginWhereChunksBegin) {
    test.Shape({100, 100}, {100, 100}, {10, 10});
    BTree1Writer file(2);
    file.Node(0, {{{20, 15}, 0}});
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes),
              "a chunk begins at 15 along dimension 1: expected a multiple of the chunk size 10");
}

TEST_F(Hdf5HostileIndex, ChunksHaveBytes) {
    BTree1Writer file(2);
    BTree1Writer::Entry empty = {{3, 5}, 0};
    empty.size = 0;
    file.Node(0, {empty});
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes),
              "chunk 305 has an invalid place: 0 bytes at address 0");
}

TEST_F(Hdf5HostileIndex, ChunksDoNotEndBehindAllNumbers) {
    BTree1Writer file(2);
    file.Node(0, {{{0, 0}, UINT64_MAX - 5}});
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes),
              "chunk 0 has an invalid place: 10 bytes at address 18446744073709551610");
}

TEST_F(Hdf5HostileIndex, ChunksAreNoMoreThanTheLimit) {
    test.options.limits.max_chunks = 3;
    BTree1Writer file(2);
    file.Node(0, {{{0, 0}, 0}, {{0, 1}, 0}, {{0, 2}, 0}, {{0, 3}, 0}});
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_1, 0, file.bytes), "its chunks exceed the limit of 3");
}

TEST_F(Hdf5HostileIndex, ImplicitChunksAreWithinTheFile) {
    Hdf5Writer file;
    EXPECT_EQ(FailOfHuge(REFS_HDF5_IMPLICIT, file), "its chunks extend past the end of the file");
    ExpectLittleIsKept();
}

TEST_F(Hdf5HostileIndex, ContiguousValuesAreWithinTheFile) {
    Hdf5Writer file;
    test.layout.layout_class = REFS_HDF5_CONTIGUOUS;
    test.layout.size = kHuge * 2;
    EXPECT_NE(FailOfHuge(REFS_HDF5_BTREE_1, file).find("past the end of the file"),
              std::string::npos);
    ExpectLittleIsKept();
}

TEST_F(Hdf5HostileIndex, ContiguousValuesAreAsManyAsTheShapeSays) {
    test.layout.layout_class = REFS_HDF5_CONTIGUOUS;
    test.layout.size = 19999;
    EXPECT_EQ(
        Fail(REFS_HDF5_BTREE_1, 0, std::string(30000, 'x')),
        "its values (19999 bytes at address 0) are too few or extend past the end of the file");
}

Hdf5Writer FixedArray(uint64_t n, unsigned pageBits, unsigned elementSize = 8) {
    Hdf5Writer file;
    file.Text("FAHD").Number(0, 2).Number(elementSize, 1).Number(pageBits, 1).Number(n, 8);
    file.Address(28).Checksum(0);
    return file;
}

TEST_F(Hdf5HostileIndex, FixedArraysAreWithinTheFile) {
    Hdf5Writer paged = FixedArray(kHuge, 10);
    EXPECT_NE(FailOfHuge(REFS_HDF5_FIXED_ARRAY, paged)
                  .find("extends past the end of the file of 1024 bytes"),
              std::string::npos);
    ExpectLittleIsKept();
}

TEST_F(Hdf5HostileIndex, FixedArraysAreForTheChunksThatThereAre) {
    EXPECT_EQ(Fail(REFS_HDF5_FIXED_ARRAY, 0, FixedArray(7, 10).bytes),
              "a fixed array has 7 elements: expected one for each of 10000 chunks");
}

TEST_F(Hdf5HostileIndex, ElementsHaveTheSizeOfWhatIsInThem) {
    EXPECT_EQ(Fail(REFS_HDF5_FIXED_ARRAY, 0, FixedArray(10000, 10, 9).bytes),
              "its chunk index has elements of an unexpected size: 9 bytes");
}

TEST_F(Hdf5HostileIndex, ChecksumsAreRight) {
    Hdf5Writer file = FixedArray(10000, 10);
    file.bytes[8] ^= 1;
    EXPECT_EQ(Fail(REFS_HDF5_FIXED_ARRAY, 0, file.bytes),
              "checksum mismatch in structure \"FAHD\" at address 0");
}

TEST_F(Hdf5HostileIndex, PagesOfFixedArraysAreInTheFile) {
    Hdf5Writer file = FixedArray(10000, 10);
    file.Text("FADB").Number(0, 2).Address(0).Number(0x4000, 2).Checksum(28);
    EXPECT_EQ(Fail(REFS_HDF5_FIXED_ARRAY, 0, file.bytes),
              "fixed array at address 28 has pages past the end of the file");
}

/// The sizes as libhdf5 has them, unless told otherwise.
struct Extensible {
    unsigned maxBits = 32, inIndex = 4, minElements = 16, minPointers = 4, pageBits = 10;
};

Hdf5Writer ExtensibleArray(const Extensible &sizes) {
    Hdf5Writer file;
    file.Text("EAHD").Number(0, 2).Number(8, 1).Number(sizes.maxBits, 1).Number(sizes.inIndex, 1);
    file.Number(sizes.minElements, 1).Number(sizes.minPointers, 1).Number(sizes.pageBits, 1);
    for (int i = 0; i < 6; i++) file.Number(kHuge, 8);
    file.Address(72).Checksum(0);
    return file;
}

TEST_F(Hdf5HostileIndex, BlocksOfExtensibleArraysHaveSizesThatCanBe) {
    test.Shape({100}, {UINT64_MAX}, {1});
    for (const Extensible &sizes :
         {Extensible{255, 4, 16, 4, 10}, Extensible{32, 4, 15, 4, 10}, Extensible{32, 4, 16, 0, 10},
          Extensible{32, 4, 16, 4, 64}, Extensible{3, 4, 16, 4, 2}, Extensible{8, 4, 16, 128, 8},
          Extensible{32, 4, 16, 16, 2}}) {
        IndexUnderTest one;
        one.Shape({100}, {UINT64_MAX}, {1});
        one.layout.index = REFS_HDF5_EXTENSIBLE_ARRAY;
        one.layout.address = 0;
        EXPECT_EQ(one.Read(ExtensibleArray(sizes).bytes), REFS_CORRUPT) << sizes.maxBits;
    }
}

// All super blocks are where the index block is.
TEST_F(Hdf5HostileIndex, BlocksOfExtensibleArraysAreWhatTheySay) {
    test.Shape({kHuge}, {UINT64_MAX}, {1});
    Hdf5Writer file = ExtensibleArray({});
    const uint64_t begin = file.end();
    file.Text("EAIB").Number(0, 2).Address(0);
    for (int i = 0; i < 4; i++) file.Address(UINT64_MAX);
    for (int i = 0; i < 6 + 25; i++) file.Address(begin);
    file.Checksum(begin);
    file.Pad(4096);
    EXPECT_EQ(Fail(REFS_HDF5_EXTENSIBLE_ARRAY, 0, file.bytes),
              "at address 72 is not a structure \"EASB\"");
}

TEST_F(Hdf5HostileIndex, ExtensibleArraysAreForOneUnlimitedDimension) {
    EXPECT_EQ(Fail(REFS_HDF5_EXTENSIBLE_ARRAY, 0, ExtensibleArray({}).bytes),
              "its chunk index does not fit its unlimited dimensions");
}

Hdf5Writer BTree2(unsigned depth, unsigned nRootRecords, unsigned recordSize = 24) {
    Hdf5Writer file;
    file.Text("BTHD").Number(0, 1).Number(10, 1).Number(2048, 4).Number(recordSize, 2);
    file.Number(depth, 2).Number(0, 2).Address(38).Number(nRootRecords, 2).Number(kHuge, 8);
    file.Checksum(0);
    return file;
}

TEST_F(Hdf5HostileIndex, TreesOfVersion2AreNotDeeperThanTheyMayBe) {
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_2, 0, BTree2(65535, 1).bytes),
              "a B-tree has 65536 levels: expected at most 32");
}

TEST_F(Hdf5HostileIndex, NodesOfVersion2HaveNoMoreRecordsThanRoom) {
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_2, 0, BTree2(0, 65535).bytes),
              "B-tree node at address 38 has more records than fit its size");
}

TEST_F(Hdf5HostileIndex, RecordsHaveTheSizeOfWhatIsInThem) {
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_2, 0, BTree2(0, 1, 23).bytes),
              "its chunk index has B-tree records of type 10 with 23 bytes, which do not fit 2 "
              "dimensions");
}

// A node whose children are the node itself is found out as it should be a leaf.
TEST_F(Hdf5HostileIndex, NodesOfVersion2AreNotTheirOwnChildren) {
    Hdf5Writer file = BTree2(1, 1);
    const uint64_t begin = file.end();
    file.Text("BTIN").Number(0, 1).Number(10, 1).Address(0).Number(0, 8).Number(0, 8);
    for (int i = 0; i < 2; i++) file.Address(begin).Number(1, 1);
    file.Checksum(begin);
    file.Pad(4096);
    EXPECT_EQ(Fail(REFS_HDF5_BTREE_2, 0, file.bytes), "at address 38 is not a structure \"BTLF\"");
}

// 65 535 objects, all looked at for each of 40 000 strings, would be 2.6 * 10^9 steps.
TEST_F(Hdf5HostileIndex, StringsAreFoundWithoutLookingAtAllOthers) {
    Hdf5Writer file;
    file.Pad(8);
    file.Text("GCOL").Number(1, 4).Number(16 + 65535 * 24, 8);
    for (uint64_t i = 1; i <= 65535; i++) file.Number(i, 8).Number(1, 8).Number('a' + i % 26, 8);
    test.layout.address = file.end();
    for (int i = 0; i < 40000; i++) file.Number(1, 4).Address(8).Number(65535, 4);
    test.Shape({40000}, {40000}, {40000});
    test.layout.layout_class = REFS_HDF5_CONTIGUOUS;
    test.layout.element = REFS_HDF5_VLEN_STRING;
    test.layout.element_size = 16;
    test.layout.size = 40000 * 16;
    ASSERT_EQ(test.Read(file.bytes), REFS_OK) << test.error.message;
    ASSERT_NE(test.At({0}), nullptr);
    EXPECT_EQ(test.At({0})->length, 4u + 40000 * 5);
}

TEST_F(Hdf5HostileIndex, OfAFileThatIsCutAnywhereIsAnErrorOrLess) {
    BTree1Writer file(2);
    std::vector<BTree1Writer::Entry> entries;
    for (uint64_t i = 0; i < 300; i++) entries.push_back({{i / 100, i % 100}, 8});
    const uint64_t root = file.Tree(entries);
    for (size_t size = 0; size < file.bytes.size(); size += 97) {
        IndexUnderTest one;
        one.Shape({100, 100}, {100, 100}, {1, 1});
        one.layout.index = REFS_HDF5_BTREE_1;
        one.layout.address = root;
        refs_status status = one.Read(file.bytes.substr(0, size));
        EXPECT_TRUE(status == REFS_CORRUPT || status == REFS_OK) << size;
        if (status == REFS_OK) {
            EXPECT_GT(size, root);
        }
    }
}

} // namespace
