// tiff_test.cc -- directories of TIFF files, those that lie included.

#include <gtest/gtest.h>

#include "scanned_file.h"

namespace {

enum { width = 256, height, bits, compression, stripOffsets = 273, rowsPerStrip = 278, stripSizes };
enum { tileWidth = 322, tileHeight, tileOffsets, tileSizes, subDirectories = 330 };
enum { shortType = 3, longType = 4 };

struct Entry {
    unsigned tag, type;
    uint64_t count, value;
};

/** A directory of a big-endian file, which begins at `at`. */
std::string directory(const std::vector<Entry> &entries, uint64_t next) {
    BigEndian bytes;
    bytes.u16(static_cast<unsigned>(entries.size()));
    for (const Entry &entry : entries) {
        bytes.u16(entry.tag).u16(entry.type).u32(entry.count);
        if (entry.type == shortType && entry.count == 1)
            bytes.u16(static_cast<unsigned>(entry.value)).u16(0);
        else
            bytes.u32(entry.value);
    }
    return bytes.u32(next).bytes;
}

std::string file(const std::string &rest) {
    return BigEndian().text("MM").u16(42).u32(8).bytes + rest;
}

/** An image of 8 bits in one strip. */
std::vector<Entry> image(uint64_t across, uint64_t down) {
    return {{width, longType, 1, across},      {height, longType, 1, down},
            {bits, shortType, 1, 8},           {stripOffsets, longType, 1, 1000},
            {rowsPerStrip, longType, 1, down}, {stripSizes, longType, 1, across * down}};
}

std::vector<Entry> with(std::vector<Entry> entries, const Entry &added) {
    for (Entry &entry : entries)
        if (entry.tag == added.tag) {
            entry = added;
            return entries;
        }
    entries.push_back(added);
    return entries;
}

} // namespace

TEST(TiffFile, ListsAnImage) {
    ScannedFile scanned(file(directory(image(20, 10), 0)));
    ASSERT_EQ(scanned.status, REFS_OK) << scanned.message();
    EXPECT_TRUE(scanned.says("0/.zarray", R"("shape":[10,20],"chunks":[10,20],"dtype":"|u1")"));
    EXPECT_TRUE(scanned.says("0/.zattrs", R"("_ARRAY_DIMENSIONS":["Y","X"])"));
    EXPECT_TRUE(scanned.says("0/.zarray", R"("fill_value":null,"refs_unfilled":true)"))
        << "for xarray masks what equals the fill value";
    EXPECT_EQ(scanned.chunk("0", {0, 0}), "1000+200");
    EXPECT_EQ(ScannedFile(file(directory(image(20, 10), 0)), {}, true).reads(), 1);
}

TEST(TiffFile, TakesLargeStripsApart) {
    std::string content = file(directory(image(1 << 20, 10), 0));
    content.resize(1000 + (10 << 20));
    ScannedFile scanned(content);
    ASSERT_EQ(scanned.status, REFS_OK) << scanned.message();
    EXPECT_TRUE(scanned.says("0/.zarray", R"("chunks":[1,1048576])"));
    EXPECT_EQ(scanned.chunk("0", {9, 0}), std::to_string(1000 + (9 << 20)) + "+1048576");
}

TEST(TiffFile, TakesNoMemoryForPartsOfStripsThatAreNotThere) {
    ScannedFile scanned(
        file(directory(with(image(1 << 10, 1 << 29), {stripSizes, longType, 1, 0xFFFFFFFF}), 0)));
    ASSERT_EQ(scanned.status, REFS_OK) << scanned.message();
    EXPECT_EQ(scanned.chunk("0", {0, 0}), "strip 0 is truncated");
}

TEST(TiffFile, KnowsTilesThatWereNeverWritten) {
    const std::vector<Entry> tiles = {
        {width, longType, 1, 40},      {height, longType, 1, 10},
        {bits, shortType, 1, 8},       {tileWidth, longType, 1, 20},
        {tileHeight, longType, 1, 10}, {tileOffsets, longType, 2, 200},
        {tileSizes, longType, 2, 208}};
    std::string content = file(directory(tiles, 0));
    content.resize(200);
    content += BigEndian().u32(0).u32(500).u32(0).u32(200).bytes;
    ScannedFile scanned(content);
    ASSERT_EQ(scanned.status, REFS_OK) << scanned.message();
    EXPECT_EQ(scanned.chunk("0", {0, 0}), "none");
    EXPECT_EQ(scanned.chunk("0", {0, 1}), "500+200");
}

TEST(TiffFile, HasEachImageInAGroupOfItsOwn) {
    const uint64_t second = 8 + 2 + 12 * 6 + 4;
    ScannedFile scanned(file(directory(image(20, 10), second) + directory(image(30, 10), 0)));
    ASSERT_EQ(scanned.status, REFS_OK) << scanned.message();
    EXPECT_TRUE(scanned.says("dir1/0/.zarray", R"("shape":[10,20])"));
    EXPECT_TRUE(scanned.says("dir2/0/.zarray", R"("shape":[10,30])"));
}

TEST(TiffFile, HasJpegXlUnderTheNumberOfDigitalNegativesToo) {
    for (const uint64_t number : {50002, 52546}) {
        ScannedFile scanned(
            file(directory(with(image(20, 10), {compression, shortType, 1, number}), 0)));
        ASSERT_EQ(scanned.status, REFS_OK) << scanned.message();
        EXPECT_TRUE(scanned.says("0/.zarray", R"("compressor":{"id":"imagecodecs_jpegxl"})"));
    }
}

TEST(TiffFile, NamesWhatItCannotDecode) {
    ScannedFile scanned(file(directory(with(image(20, 10), {compression, shortType, 1, 4711}), 0)));
    ASSERT_EQ(scanned.status, REFS_OK) << scanned.message();
    EXPECT_TRUE(scanned.says("0/.zarray", R"("compressor":{"id":"tiff_compression_4711"})"));
}

TEST(TiffFile, RefusesWhatMakesNoSense) {
    const auto messageOf = [](const std::string &rest) {
        return ScannedFile(file(rest)).message();
    };
    EXPECT_EQ(messageOf(directory(image(20, 10), 8)),
              "TIFF: the directories form a loop at byte 8");
    EXPECT_EQ(messageOf(directory(with(image(20, 10), {subDirectories, longType, 1, 8}), 0)),
              "TIFF: the directories form a loop at byte 8");
    EXPECT_EQ(messageOf(directory(image(0, 10), 0)),
              "TIFF: an image has an invalid size: 0 x 10 pixels of 1 samples");
    EXPECT_EQ(messageOf(""), "TIFF: bytes 8 to 10 lie past the end of the file");
    EXPECT_EQ(messageOf(directory(with(image(20, 10), {rowsPerStrip, longType, 1, 0}), 0)),
              "TIFF: tiles have an invalid size: 20 x 0 pixels");
    EXPECT_EQ(messageOf(directory(with(image(20, 10), {rowsPerStrip, longType, 1, 1}), 0)),
              "TIFF: an image of 10 tiles has 1 tile offsets");
    EXPECT_EQ(messageOf(directory(with(image(20, 10), {width, 99, 1, 1}), 0)),
              "TIFF: tag 256 is invalid: 1 values of type 99");
    EXPECT_EQ(ScannedFile(BigEndian().text("MM").u16(42).u32(0).bytes).message(),
              "TIFF: the file has no image");
}

TEST(TiffFile, RefusesMoreTilesThanItReads) {
    std::vector<Entry> tiles = image(0xFFFFFFFF, 0xFFFFFFFF);
    tiles = with(with(tiles, {tileWidth, longType, 1, 16}), {tileHeight, longType, 1, 16});
    EXPECT_EQ(ScannedFile(file(directory(tiles, 0))).status, REFS_LIMIT);
}

TEST(TiffFile, TakesNoMemoryForTilesWhosePlacesAreNotThere) {
    std::vector<Entry> tiles = image(0xFFFFF, 0xFFFF);
    tiles = with(with(tiles, {tileWidth, longType, 1, 16}), {tileHeight, longType, 1, 16});
    tiles = with(with(tiles, {stripOffsets, longType, 0xFFFFFFF0, 8}),
                 {stripSizes, longType, 0xFFFFFFF0, 8});
    std::sort(tiles.begin(), tiles.end(),
              [](const Entry &a, const Entry &b) { return a.tag < b.tag; });
    ScannedFile scanned(file(directory(tiles, 0)));
    EXPECT_EQ(scanned.status, REFS_LIMIT) << scanned.message();
    tiles = with(tiles, {width, longType, 1, 0xFFFF});
    ScannedFile fewer(file(directory(tiles, 0)));
    ASSERT_EQ(fewer.status, REFS_OK) << fewer.message();
    EXPECT_NE(fewer.chunk("0", {0, 0}).find("past the end of the file"), std::string::npos);
}

TEST(TiffFile, ReportsEveryFailedAllocation) {
    std::string content = file(directory(image(1 << 20, 10), 0));
    content.resize(1000 + (10 << 20));
    const int64_t n = faults::survive([&] {
        ScannedFile scanned(content);
        if (scanned.status == REFS_OK) scanned.chunk("0", {1, 0});
        return scanned.status;
    });
    EXPECT_GT(n, 15);
}
