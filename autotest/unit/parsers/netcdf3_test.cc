// netcdf3_test.cc -- headers of netCDF-3 files, those that lie included.

#include <gtest/gtest.h>

#include "scanned_file.h"

namespace {

constexpr uint64_t streaming = UINT32_MAX;
enum { byteType = 1, charType = 2, shortType = 3, floatType = 5 };
enum { dimensionTag = 10, variableTag = 11, attributeTag = 12 };

/** A header of CDF-1. */
class Header : public BigEndian {
  public:
    explicit Header(uint64_t nRecords) { text("CDF").u8(1).u32(nRecords); }
    Header &list(unsigned tag, unsigned n) {
        u32(tag).u32(n);
        return *this;
    }
    Header &name(const std::string &name) {
        u32(name.size()).text(name).text(std::string((4 - name.size() % 4) % 4, '\0'));
        return *this;
    }
    Header &dim(const std::string &called, uint64_t length) {
        name(called).u32(length);
        return *this;
    }
    Header &none() { return list(0, 0); }
    Header &variable(const std::string &called, const std::vector<unsigned> &dims) {
        name(called).u32(dims.size());
        for (const unsigned dim : dims) u32(dim);
        return *this;
    }
};

/** Records of a byte variable [time, x] and a short variable [time], three bytes and two. */
std::string twoRecordVariables(uint64_t nRecords, size_t nBytes) {
    Header header(nRecords);
    header.list(dimensionTag, 2).dim("time", 0).dim("x", 3).none().list(variableTag, 2);
    header.variable("b", {0, 1}).none().u32(byteType).u32(4).u32(200);
    header.variable("s", {0}).none().u32(shortType).u32(4).u32(204);
    std::string file = header.bytes;
    file.resize(200 + nBytes);
    return file;
}

/** One variable of one dimension. */
std::string oneVariable(uint64_t length, unsigned type, uint64_t begin) {
    Header header(0);
    header.list(dimensionTag, 1).dim("x", length).none().list(variableTag, 1);
    header.variable("v", {0}).none().u32(type).u32(0).u32(begin);
    return header.bytes;
}

} // namespace

TEST(Netcdf3File, ListsGroupsAndArrays) {
    Header header(0);
    header.list(dimensionTag, 1).dim("x", 4);
    header.list(attributeTag, 1).name("title");
    header.u32(charType);
    header.name("a title");
    header.list(variableTag, 1).variable("v", {0});
    header.list(attributeTag, 1).name("_FillValue").u32(floatType).u32(1).u32(0x7FC00000);
    header.u32(floatType).u32(16).u32(1000);
    ScannedFile file(header.bytes);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says(".zattrs", R"("title":"a title")"));
    EXPECT_TRUE(file.says("v/.zarray", R"("shape":[4],"chunks":[4],"dtype":">f4")"));
    EXPECT_TRUE(file.says("v/.zarray", R"("fill_value":"NaN")"));
    EXPECT_TRUE(file.says("v/.zattrs", R"("_ARRAY_DIMENSIONS":["x"])"));
    EXPECT_EQ(file.chunk("v", {0}), "1000+16");
    EXPECT_EQ(file.chunk("v", {1}), "none");
    EXPECT_EQ(ScannedFile(header.bytes, {}, true).reads(), 1);
}

TEST(Netcdf3File, ReadsAttributesWithoutCharactersOrNumbers) {
    Header header(0);
    header.none().list(attributeTag, 3);
    header.name("history").u32(charType).u32(0);
    header.name("levels").u32(floatType).u32(0);
    header.name("blank").u32(charType).u32(4).text(std::string(4, '\0'));
    header.none();
    ScannedFile file(header.bytes);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says(".zattrs", R"("history":"")"));
    EXPECT_TRUE(file.says(".zattrs", R"("levels":[])"));
    EXPECT_TRUE(file.says(".zattrs", R"("blank":"")"));
}

TEST(Netcdf3File, ListsDimensionsWithoutNames) {
    Header header(0);
    header.list(dimensionTag, 1).dim("", 4).none().list(variableTag, 1).variable("v", {0});
    header.none().u32(floatType).u32(16).u32(1000);
    ScannedFile file(header.bytes);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("v/.zattrs", R"("_ARRAY_DIMENSIONS":[""])"));
}

TEST(Netcdf3File, WritesNumbersOfAttributesAsNumbers) {
    Header header(0);
    header.none().list(attributeTag, 2);
    header.name("nan").u32(floatType).u32(1).u32(0x7FC00000);
    header.name("low").u32(floatType).u32(2).u32(0xFF800000).u32(0x3F800000);
    header.none();
    ScannedFile file(header.bytes);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says(".zattrs", R"("nan":NaN)"));
    EXPECT_TRUE(file.says(".zattrs", R"("low":[-Infinity,1.0])"));
}

TEST(Netcdf3File, TakesManySmallRecordsForOneChunk) {
    ScannedFile file(twoRecordVariables(1000, 8000));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("b/.zarray", R"("chunks":[1000,3])"));
    EXPECT_TRUE(file.says("b/.zarray", "record_member"));
    EXPECT_EQ(file.chunk("b", {0, 0}), "200+8000");
}

TEST(Netcdf3File, ReadsRecordsOneByOneWhereTheLastIsNotPadded) {
    ScannedFile file(twoRecordVariables(2, 14));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_EQ(file.chunk("b", {1, 0}), "208+3");
    EXPECT_EQ(file.chunk("s", {1}), "212+2");
}

TEST(Netcdf3File, CountsRecordsThatWereStreamed) {
    ScannedFile file(twoRecordVariables(streaming, 8 * 5 + 6));
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_TRUE(file.says("s/.zarray", R"("shape":[5])"));
}

TEST(Netcdf3File, RefusesWhatMakesNoSense) {
    EXPECT_EQ(ScannedFile("CDF\x01").message().find("netCDF-3: bytes 4 to 8 lie past"), 0u);
    EXPECT_EQ(ScannedFile(oneVariable(4, 0, 0)).message(),
              "netCDF-3: variable v: byte 68: unknown external type 0");
    Header tag(0);
    tag.list(7, 1);
    EXPECT_EQ(ScannedFile(tag.bytes).message(),
              "netCDF-3: byte 8: a list has the tag 7: expected 10");
    Header dim(0);
    dim.none().none().list(variableTag, 1).variable("v", {3});
    EXPECT_EQ(ScannedFile(dim.bytes).message(),
              "netCDF-3: variable v: it refers to dimension 3 of a file with 0 dimensions");
    Header inner(0);
    inner.list(dimensionTag, 2).dim("x", 3).dim("time", 0).none().list(variableTag, 1);
    inner.variable("v", {0, 1});
    EXPECT_EQ(ScannedFile(inner.bytes).message(),
              "netCDF-3: variable v: its record dimension is not its first dimension");
    Header slash(0);
    slash.none().none().list(variableTag, 1).variable("a/b", {}).none().u32(byteType).u32(0).u32(0);
    EXPECT_EQ(ScannedFile(slash.bytes).message(),
              "netCDF-3: a variable has the invalid name \"a/b\"");
}

TEST(Netcdf3File, TakesNoMemoryForNamesThatAreNotThere) {
    Header header(0);
    header.list(dimensionTag, 1).u32(0x7FFFFFFF);
    EXPECT_EQ(ScannedFile(header.bytes).status, REFS_LIMIT);
    Header attribute(0);
    attribute.none().list(attributeTag, 1).name("a").u32(byteType).u32(0x0FFFFFFF);
    EXPECT_EQ(ScannedFile(attribute.bytes).status, REFS_CORRUPT);
}

TEST(Netcdf3File, RefusesVariablesLargerThanAnyFile) {
    Header header(0);
    header.list(dimensionTag, 1).dim("x", 0xFFFFFFFF).none().list(variableTag, 1);
    header.variable("v", {0, 0, 0}).none().u32(byteType).u32(0).u32(0);
    EXPECT_EQ(ScannedFile(header.bytes).message(),
              "netCDF-3: variable v: it has more than 2^64 bytes");
}

TEST(Netcdf3File, HasAnyNumberOfChunksForNothing) {
    Header header(0xFFFFFFFE);
    header.list(dimensionTag, 2).dim("time", 0).dim("x", 0x7FFFFFFF).none().list(variableTag, 1);
    header.variable("v", {0, 1}).none().u32(byteType).u32(0).u32(100);
    ScannedFile file(header.bytes);
    ASSERT_EQ(file.status, REFS_OK) << file.message();
    EXPECT_EQ(file.chunk("v", {3, 2047}),
              std::to_string(100 + 3 * 0x7FFFFFFFull + 2047 * 1048576ull) + "+1048575");
}

TEST(Netcdf3File, ListsNoChunksBehindItsEnd) {
    ScannedFile inside(oneVariable(4, floatType, 80) + std::string(96, '\0'));
    EXPECT_EQ(inside.chunksOf("v", 1), "0 end");
    ScannedFile behind(oneVariable(0xFFFFFFFF, floatType, 80));
    EXPECT_EQ(behind.chunksOf("v", 1),
              "chunk 16383 has bytes 17178820688 to 17179869260: expected at most 80, the size of "
              "the file");
    EXPECT_EQ(
        ScannedFile(twoRecordVariables(0xFFFFFFFE, 24)).chunksOf("s", 1),
        "chunk 4294967293 has bytes 34359738548 to 34359738550: expected at most 224, the size "
        "of the file");
}

TEST(Netcdf3File, ReportsEveryFailedAllocation) {
    const std::string content = twoRecordVariables(2, 14);
    const int64_t n = faults::survive([&] {
        ScannedFile file(content);
        if (file.status == REFS_OK) file.chunk("s", {1});
        return file.status;
    });
    EXPECT_GT(n, 15);
}
