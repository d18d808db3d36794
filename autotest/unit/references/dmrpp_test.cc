// DMR++ as sets: what stands in one, by keys.
#include <gtest/gtest.h>

extern "C" {
#include "dmrpp/text.h"
}
#include "set_under_test.h"

namespace {

class Dmrpp : public testing::Test {
  protected:
    Dmrpp() {
        sut.location = "data/x.h5.dmrpp";
        sut.vfs.files["data/x.h5"] = "0123456789abcdefghijklmnopqrstuvwxyz";
    }

    refs_status OpenWhole(const std::string &xml) { return sut.Open(xml); }

    // What stands in a root element of today.
    refs_status Open(const std::string &inside, const std::string &href = "x.h5") {
        return sut.Open("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<Dataset name=\"x.h5\" "
                        "xmlns:dmrpp=\"u\" dmrpp:version=\"3.21.1\" dmrpp:href=\"" +
                        href + "\">" + inside + "</Dataset>");
    }

    // The bytes that an inline value has.
    std::string Bytes(const std::string &key) {
        refs_ref ref;
        refs_error err = REFS_ERROR_INIT;
        if (refs_set_find(sut.set, View(key), &ref, &err) != REFS_OK) return err.message;
        const std::string bytes(reinterpret_cast<const char *>(ref.bytes.data), ref.bytes.size);
        refs_ref_release(&ref);
        return bytes;
    }

    uint32_t MaskAt(const std::string &key) {
        refs_ref ref;
        EXPECT_EQ(refs_set_find(sut.set, View(key), &ref, nullptr), REFS_OK);
        refs_ref_release(&ref);
        return ref.filter_mask;
    }

    std::string Has(const std::string &key, const std::string &part) {
        const std::string text = Bytes(key);
        return text.find(part) != std::string::npos ? part : text;
    }

    SetUnderTest sut;
};

const char kChunked[] =
    "<Int16 name=\"v\"><Dim size=\"4\"/><Dim size=\"3\"/>"
    "<dmrpp:chunks compressionType=\"shuffle deflate\" byteOrder=\"BE\" fillValue=\"-9\">"
    "<dmrpp:chunkDimensionSizes>2 2</dmrpp:chunkDimensionSizes>"
    "<dmrpp:chunk offset=\"10\" nBytes=\"5\" chunkPositionInArray=\"[0,0]\"/>"
    "<dmrpp:chunk offset=\"15\" nBytes=\"6\" fm=\"2\" chunkPositionInArray=\"[2,2]\"/>"
    "<dmrpp:chunk offset=\"1\" nBytes=\"2\" chunkPositionInArray=\"[2,0]\" "
    "href=\"https://h/y.h5\"/>"
    "</dmrpp:chunks></Int16>";

TEST_F(Dmrpp, ChunksAreRangesOfTheFileBesideIt) {
    ASSERT_EQ(Open(kChunked), REFS_OK) << sut.error.message;
    EXPECT_EQ(sut.At("v/0.0"), "[x.h5, 10, 5]");
    EXPECT_EQ(sut.LocationAt("v/0.0"), "data/x.h5");
    EXPECT_EQ(sut.At("v/1.1"), "[x.h5, 15, 6]");
    EXPECT_EQ(sut.At("v/1.0"), "[https://h/y.h5, 1, 2]");
    EXPECT_EQ(sut.At("v/0.1"), "absent");
    EXPECT_EQ(sut.Names(), "v/.zarray v/.zattrs .zgroup ");
    EXPECT_EQ(Has("v/.zarray", "\"shape\":[4,3],\"chunks\":[2,2],\"dtype\":\">i2\""),
              "\"shape\":[4,3],\"chunks\":[2,2],\"dtype\":\">i2\"");
    EXPECT_EQ(Has("v/.zarray",
                  "[{\"id\":\"shuffle\",\"elementsize\":2},{\"id\":\"zlib\"}],\"fill_value\":-9"),
              "[{\"id\":\"shuffle\",\"elementsize\":2},{\"id\":\"zlib\"}],\"fill_value\":-9");
}

TEST_F(Dmrpp, FilterMaskIsThatOfTheChunkAlone) {
    ASSERT_EQ(Open(kChunked), REFS_OK) << sut.error.message;
    EXPECT_EQ(MaskAt("v/1.1"), 2u);
    EXPECT_EQ(MaskAt("v/0.0"), 0u);
}

TEST_F(Dmrpp, WithoutVersionHasItsFiltersInTheOrderThatServersKnow) {
    ASSERT_EQ(
        OpenWhole("<Dataset name=\"x\" dmrpp:href=\"x.h5\"><Float32 name=\"v\"><Dim size=\"2\"/>"
                  "<dmrpp:chunks compressionType=\"fletcher32 deflate shuffle\">"
                  "<dmrpp:chunkDimensionSizes>2</dmrpp:chunkDimensionSizes>"
                  "</dmrpp:chunks></Float32></Dataset>"),
        REFS_OK)
        << sut.error.message;
    EXPECT_EQ(
        Has("v/.zarray",
            "[{\"id\":\"shuffle\",\"elementsize\":4},{\"id\":\"zlib\"},{\"id\":\"fletcher32\"}]"),
        "[{\"id\":\"shuffle\",\"elementsize\":4},{\"id\":\"zlib\"},{\"id\":\"fletcher32\"}]");
}

TEST_F(Dmrpp, WithVersionHasItsFiltersAsTheyStand) {
    const auto filters = [this](const char *type, const char *names) {
        EXPECT_EQ(Open("<" + std::string(type) + " name=\"v\"><Dim size=\"2\"/><dmrpp:chunks " +
                       "compressionType=\"" + names + "\"><dmrpp:chunkDimensionSizes>2" +
                       "</dmrpp:chunkDimensionSizes></dmrpp:chunks></" + type + ">"),
                  REFS_OK);
        const std::string array = Bytes("v/.zarray");
        const size_t begin = array.find("\"filters\"");
        return array.substr(begin, array.find(']', begin) - begin);
    };
    EXPECT_EQ(filters("Byte", "fletcher32 shuffle deflate deflate"),
              "\"filters\":[{\"id\":\"fletcher32\"},{\"id\":\"shuffle\",\"elementsize\":1},"
              "{\"id\":\"zlib\"},{\"id\":\"zlib\"}");
    EXPECT_EQ(filters("Int32", "fletcher32 shuffle"),
              "\"filters\":[{\"id\":\"fletcher32\"},{\"id\":\"shuffle\",\"elementsize\":4}");
    // The checksum is half an element, and zlib ends where it will.
    EXPECT_EQ(filters("Float64", "fletcher32 shuffle"),
              "\"filters\":[{\"id\":\"fletcher32\"},{\"id\":\"shuffle\",\"elementsize\":8,"
              "\"leftover\":true}");
    EXPECT_EQ(filters("Int32", "deflate shuffle"),
              "\"filters\":[{\"id\":\"zlib\"},{\"id\":\"shuffle\",\"elementsize\":4,"
              "\"leftover\":true}");
}

TEST_F(Dmrpp, DimensionsAreSharedByTheirNames) {
    ASSERT_EQ(Open("<Dimension name=\"lat\" size=\"3\"/><Group name=\"g\"><Dimension name=\"lon\" "
                   "size=\"2\"/>"
                   "<Byte name=\"v\"><Dim name=\"/lat\"/><Dim name=\"lon\"/><Map "
                   "name=\"/lat\"/><Map name=\"/area\"/>"
                   "<dmrpp:chunks/></Byte></Group>"),
              REFS_OK)
        << sut.error.message;
    EXPECT_EQ(Bytes("g/v/.zattrs"),
              "{\"_ARRAY_DIMENSIONS\":[\"lat\",\"lon\"],\"coordinates\":\"/area\"}");
    EXPECT_EQ(Has("g/v/.zarray", "\"shape\":[3,2]"), "\"shape\":[3,2]");
    EXPECT_EQ(sut.Names(), "g/v/.zarray g/v/.zattrs .zgroup g/.zgroup ");
}

TEST_F(Dmrpp, DimensionThatIsWrongIsAnErrorOfItsVariable) {
    const std::pair<const char *, const char *> wrongs[] = {
        {"<Dim name=\"/lat\"/>", "an element Dim names the unknown dimension \"/lat\""},
        {"<Dim size=\"-8\"/>", "an element Dim: expected a size, found \"-8\""},
        {"<Dim size=\"4\" name=\"/y\"/>", "an element Dim: expected either a name or a size"}};
    for (const auto &[dim, why] : wrongs) {
        ASSERT_EQ(
            Open(std::string(
                     "<Dimension name=\"y\" size=\"2\"/><Byte name=\"v\"><Dim name=\"/y\"/>") +
                 dim +
                 "<dmrpp:chunks/></Byte><Byte name=\"w\"><Dim name=\"/y\"/>"
                 "<dmrpp:chunks/></Byte>"),
            REFS_OK)
            << sut.error.message;
        EXPECT_NE(sut.At("v/.zarray").find(why), std::string::npos) << sut.At("v/.zarray");
        EXPECT_EQ(Has("w/.zarray", "\"shape\":[2]"), "\"shape\":[2]");
    }
}

TEST_F(Dmrpp, AttributesOfAllTypesAreKept) {
    ASSERT_EQ(
        Open(
            "<Attribute name=\"title\" type=\"String\"><Value>a &lt;b&gt; \xe9</Value></Attribute>"
            "<Attribute name=\"n\" type=\"Int32\"><Value> 007 </Value><Value>-2</Value></Attribute>"
            "<Attribute name=\"f\" "
            "type=\"Float32\"><Value>nan</Value><Value>1.</Value><Value>-inf</Value></Attribute>"
            "<Attribute name=\"c\" type=\"Container\"><Attribute name=\"d\" type=\"Container\">"
            "<Attribute name=\"e\" type=\"UInt8\"><Value>1</Value></Attribute></Attribute>"
            "<Attribute name=\"g\" type=\"String\"></Attribute></Attribute>"
            "<Attribute name=\"x\" type=\"OtherXML\"><Value>1</Value><Attribute name=\"y\" "
            "type=\"String\"/></Attribute>"),
        REFS_OK)
        << sut.error.message;
    EXPECT_EQ(Bytes(".zattrs"),
              "{\"title\":\"a <b> \xc3\xa9\",\"n\":[7,-2],\"f\":[NaN,1,-Infinity],"
              "\"c\":{\"d\":{\"e\":1},\"g\":\"\"}}");
}

TEST_F(Dmrpp, VariablesAreWhereFullnamepathSays) {
    ASSERT_EQ(
        Open(
            "<Group name=\"Data_Fields\"><Byte name=\"a_b\">"
            "<Attribute name=\"origname\" type=\"String\"><Value>a b</Value></Attribute>"
            "<Attribute name=\"fullnamepath\" type=\"String\"><Value>/Data Fields/g/a "
            "b</Value></Attribute>"
            "<dmrpp:chunks><dmrpp:chunk offset=\"3\" nBytes=\"1\"/></dmrpp:chunks></Byte></Group>"),
        REFS_OK)
        << sut.error.message;
    EXPECT_EQ(sut.Names(),
              "Data Fields/.zgroup Data Fields/g/.zgroup .zgroup Data Fields/g/a b/.zarray "
              "Data Fields/g/a b/.zattrs ");
    EXPECT_EQ(sut.At("Data Fields/g/a b/0"), "[x.h5, 3, 1]");
    EXPECT_EQ(Bytes("Data Fields/g/a b/.zattrs"), "{}");
}

TEST_F(Dmrpp, PathsThatLeadElsewhereAreNotTaken) {
    ASSERT_EQ(Open("<Byte name=\"v\"><Attribute name=\"fullnamepath\" "
                   "type=\"String\"><Value>/a/../b</Value>"
                   "</Attribute><dmrpp:chunks/></Byte>"),
              REFS_OK);
    EXPECT_EQ(sut.Names(), "v/.zarray v/.zattrs .zgroup ");
}

TEST_F(Dmrpp, WhatIsContiguousIsCut) {
    ASSERT_EQ(Open("<Float64 name=\"v\"><Dim size=\"3\"/><Dim size=\"100000\"/><dmrpp:chunks>"
                   "<dmrpp:chunk offset=\"100\" nBytes=\"2400000\"/></dmrpp:chunks></Float64>"),
              REFS_OK);
    EXPECT_EQ(Has("v/.zarray", "\"chunks\":[1,100000]"), "\"chunks\":[1,100000]");
    EXPECT_EQ(sut.At("v/0.0"), "[x.h5, 100, 800000]");
    EXPECT_EQ(sut.At("v/2.0"), "[x.h5, 1600100, 800000]");
}

TEST_F(Dmrpp, LastPartOfWhatIsCutMayBeShort) {
    ASSERT_EQ(Open("<Byte name=\"v\"><Dim size=\"1500000\"/><dmrpp:chunks>"
                   "<dmrpp:chunk offset=\"7\" nBytes=\"1500000\"/></dmrpp:chunks></Byte>"),
              REFS_OK);
    EXPECT_EQ(sut.At("v/0"), "[x.h5, 7, 1048576]");
    EXPECT_EQ(sut.At("v/1"), "[x.h5, 1048583, 451424]");
}

TEST_F(Dmrpp, LinkedBlocksArePutTogether) {
    ASSERT_EQ(
        Open("<Byte name=\"v\"><Dim size=\"7\"/><dmrpp:chunks><dmrpp:block offset=\"10\" "
             "nBytes=\"3\"/>"
             "<dmrpp:block offset=\"2\" nBytes=\"2\"/><dmrpp:block offset=\"20\" nBytes=\"3\"/>"
             "</dmrpp:chunks></Byte>"),
        REFS_OK)
        << sut.error.message;
    EXPECT_EQ(Bytes("v/0"), "abc23kl");
    EXPECT_EQ(sut.At("v/1"), "absent");
    EXPECT_EQ(sut.vfs.nOpen, 0);
}

TEST_F(Dmrpp, LinkedBlocksOfChunksArePutTogether) {
    ASSERT_EQ(Open("<Byte name=\"v\"><Dim size=\"5\"/><dmrpp:chunks LBChunk=\"true\">"
                   "<dmrpp:chunkDimensionSizes>3</dmrpp:chunkDimensionSizes>"
                   "<dmrpp:chunk offset=\"4\" nBytes=\"1\" chunkPositionInArray=\"[0]\" "
                   "LinkedBlockIndex=\"0\"/>"
                   "<dmrpp:chunk offset=\"8\" nBytes=\"2\" chunkPositionInArray=\"[0]\" "
                   "LinkedBlockIndex=\"1\"/>"
                   "<dmrpp:chunk offset=\"30\" nBytes=\"3\" "
                   "chunkPositionInArray=\"[3]\"/></dmrpp:chunks></Byte>"),
              REFS_OK)
        << sut.error.message;
    EXPECT_EQ(Bytes("v/0"), "489");
    EXPECT_EQ(Bytes("v/1"), "uvw");
}

TEST_F(Dmrpp, BlocksThatAreNotThereAreAnErrorNotFill) {
    ASSERT_EQ(Open("<Byte name=\"v\"><Dim size=\"4\"/><dmrpp:chunks><dmrpp:block offset=\"10\" "
                   "nBytes=\"2\"/>"
                   "<dmrpp:block offset=\"35\" nBytes=\"2\"/></dmrpp:chunks></Byte>"),
              REFS_OK);
    EXPECT_EQ(sut.At("v/0"), "cannot be read: data/x.h5: truncated: found 1 of 2 bytes at 35");
    sut.vfs.files.erase("data/x.h5");
    EXPECT_EQ(sut.At("v/0"), "cannot be read: data/x.h5: no such file");
}

TEST_F(Dmrpp, EveryChunkInBlocksIsShown) {
    ASSERT_EQ(Open("<Byte name=\"v\"><Dim size=\"4\"/><dmrpp:chunks><dmrpp:block offset=\"10\" "
                   "nBytes=\"2\"/>"
                   "<dmrpp:block offset=\"12\" nBytes=\"2\"/></dmrpp:chunks></Byte>"),
              REFS_OK);
    const uint64_t n[] = {1};
    const refs_chunk_keys keys = {refs_str_from("v/"), '.', 1, n};
    std::string seen;
    const refs_chunk_visitor visitor = {
        [](void *user, const uint64_t *, const refs_ref *ref, refs_error *) {
            *static_cast<std::string *>(user) += SetUnderTest::Text(*ref);
            return REFS_OK;
        },
        &seen};
    EXPECT_EQ(refs_set_each_chunk(sut.set, &keys, &visitor, nullptr), REFS_OK);
    EXPECT_EQ(seen, "\"abcd\"");
}

TEST_F(Dmrpp, CompactValuesAreInTheSet) {
    ASSERT_EQ(Open("<Int32 name=\"v\"><dmrpp:chunks fillValue=\"-99\"/><dmrpp:compact> AQAA\nAA== "
                   "</dmrpp:compact></Int32>"),
              REFS_OK);
    EXPECT_EQ(Bytes("v/0"), std::string("\1\0\0\0", 4));
}

TEST_F(Dmrpp, MissingDataAreCompressedUnlessThereIsButOne) {
    ASSERT_EQ(Open("<Byte name=\"one\"><dmrpp:missingdata>Bw==</dmrpp:missingdata></Byte>"
                   "<Byte name=\"two\"><Dim "
                   "size=\"2\"/><dmrpp:missingdata>eJxjYgAAAAMABA==</dmrpp:missingdata></Byte>"),
              REFS_OK);
    EXPECT_EQ(Bytes("one/0"), "\7");
    EXPECT_EQ(Has("one/.zarray", "\"filters\":null"), "\"filters\":null");
    EXPECT_EQ(Has("two/.zarray", "[{\"id\":\"zlib\"}]"), "[{\"id\":\"zlib\"}]");
}

TEST_F(Dmrpp, StringsOfAnyLengthAreInTheSet) {
    ASSERT_EQ(Open("<String name=\"v\"><Dim size=\"4\"/><dmrpp:vlsa><v>ab</v><v c=\"2\"></v>"
                   "<v s=\"3\">eJxLTEwEAAJJASQ=</v></dmrpp:vlsa></String>"),
              REFS_OK);
    EXPECT_EQ(Bytes("v/0"), std::string("\4\0\0\0\2\0\0\0ab\0\0\0\0\0\0\0\0\3\0\0\0aaa", 25));
    EXPECT_EQ(Has("v/.zarray", "\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}]"),
              "\"dtype\":\"|O\",\"filters\":[{\"id\":\"vlen-utf8\"}]");
}

TEST_F(Dmrpp, NumberOfStringsIsThatOfTheArray) {
    ASSERT_EQ(Open("<String name=\"v\"><Dim size=\"4\"/><dmrpp:vlsa><v "
                   "c=\"5\"></v></dmrpp:vlsa></String>"),
              REFS_OK);
    EXPECT_EQ(sut.At("v/.zarray"), "corrupt: expected 4 strings, found 5");
}

TEST_F(Dmrpp, StringsThatRepeatForEverAreRefused) {
    EXPECT_EQ(Open("<String name=\"v\"><Dim size=\"4\"/><dmrpp:vlsa><v "
                   "c=\"18446744073709551615\"></v></dmrpp:vlsa></String>"),
              REFS_LIMIT);
}

TEST_F(Dmrpp, FixedStringsHaveTheirLength) {
    ASSERT_EQ(Open("<String name=\"v\"><Dim size=\"2\"/><dmrpp:chunks "
                   "fillValue=\"ab\"><dmrpp:chunk offset=\"1\" nBytes=\"6\"/>"
                   "</dmrpp:chunks><dmrpp:FixedLengthStringArray string_length=\"3\" "
                   "pad=\"null_pad\"/></String>"
                   "<String name=\"s\"><dmrpp:chunks><dmrpp:chunk offset=\"1\" "
                   "nBytes=\"5\"/></dmrpp:chunks></String>"),
              REFS_OK);
    EXPECT_EQ(Has("v/.zarray", "\"dtype\":\"|S3\",\"filters\":null,\"fill_value\":\"YWIA\""),
              "\"dtype\":\"|S3\",\"filters\":null,\"fill_value\":\"YWIA\"");
    EXPECT_EQ(Has("s/.zarray", "\"dtype\":\"|S5\""), "\"dtype\":\"|S5\"");
}

TEST_F(Dmrpp, ReferencesToStringsOfVariableLengthAreNoStrings) {
    const auto scalar = [](const char *name, const char *chunks) {
        return std::string("<String name=\"") + name + "\"><dmrpp:chunks" + chunks +
               "><dmrpp:chunk offset=\"1\" nBytes=\"16\"/></dmrpp:chunks></String>";
    };
    const std::string variables = scalar("v", "") +
                                  scalar("w", " fillValue=\"unsupported-string\"") +
                                  scalar("fixed", " fillValue=\"\"");
    ASSERT_EQ(Open(variables.c_str()), REFS_OK);
    const char *const problem =
        "not supported: expected the length of a string, found 16 bytes that may refer to one of "
        "variable length: open the data file";
    EXPECT_EQ(sut.At("v/.zarray"), problem);
    EXPECT_EQ(sut.At("w/.zarray"), problem);
    EXPECT_EQ(Has("fixed/.zarray", "\"dtype\":\"|S16\""), "\"dtype\":\"|S16\"");
}

TEST_F(Dmrpp, EnumerationsAreTheirNumbers) {
    ASSERT_EQ(Open("<Enumeration name=\"E\" basetype=\"UInt16\"><EnumConst name=\"A\" "
                   "value=\"1\"/></Enumeration>"
                   "<Enum name=\"v\" enum=\"/E\"><dmrpp:chunks/></Enum><Enum name=\"w\" "
                   "enum=\"/F\"><dmrpp:chunks/></Enum>"),
              REFS_OK);
    EXPECT_EQ(Has("v/.zarray", "\"<u2\""), "\"<u2\"");
    EXPECT_EQ(sut.At("w/.zarray"), "corrupt: its enumeration is \"/F\"");
}

TEST_F(Dmrpp, WhatIsNotReadIsListedWithItsName) {
    ASSERT_EQ(
        Open("<Structure name=\"s\"><Int32 name=\"a\"><Attribute name=\"n\" "
             "type=\"String\"/></Int32><Dim size=\"2\"/>"
             "<dmrpp:chunks fillValue=\"0\"/></Structure><Opaque name=\"o\"/><Int8 name=\"n\"/>"
             "<String name=\"t\"><Dim size=\"2\"/><dmrpp:chunks "
             "fillValue=\"unsupported-variable-length-string\"/></String>"
             "<Int8 name=\"z\"><Dim size=\"2\"/><dmrpp:chunks compressionType=\"szip\"/></Int8>"),
        REFS_OK);
    EXPECT_EQ(sut.At("s/.zarray"), "not supported: type Structure is not supported");
    EXPECT_EQ(Bytes("s/.zattrs"), "{}");
    EXPECT_EQ(sut.At("o/.zarray"), "not supported: type Opaque is not supported");
    EXPECT_EQ(sut.At("n/.zarray"), "not supported: the DMR++ has no byte ranges for it");
    EXPECT_EQ(sut.At("t/.zarray"),
              "not supported: the DMR++ has no byte ranges for its strings of variable length");
    EXPECT_EQ(
        sut.At("z/.zarray"),
        "not supported: compression \"szip\" is not supported: the DMR++ has no parameters for it");
    EXPECT_EQ(sut.At("a/.zarray"), "absent");
}

TEST_F(Dmrpp, FillValuesHaveAllTheirDigits) {
    const auto fill = [](char kind, const char *text, const char *attribute) {
        const refs_dmrpp_fill what = {kind, 4, refs_str_from(text), refs_str_from(attribute)};
        refs_buf json = REFS_BUF_INIT;
        EXPECT_EQ(refs_references__dmrpp_fill_value(&what, &json, nullptr), REFS_OK);
        const std::string value(reinterpret_cast<const char *>(json.data), json.size);
        refs_buf_clear(&json);
        return value;
    };
    EXPECT_EQ(fill('f', "9.96921e+36", ""), "9.969209968386869e+36");
    EXPECT_EQ(fill('f', "-1.23457e+08", "-123456789"), "-123456789");
    EXPECT_EQ(fill('f', "5", "-123456789"), "5");
    EXPECT_EQ(fill('f', "nan", "1"), "\"NaN\"");
    EXPECT_EQ(fill('f', "-99999.000000", ""), "-99999.000000");
    EXPECT_EQ(fill('i', "unsupported-compound", ""), "null");
    EXPECT_EQ(fill('i', "", ""), "null");
}

TEST_F(Dmrpp, FillValueThatIsNoNumberIsAnError) {
    const std::string begin = "\"><Dim size=\"4\"/><dmrpp:chunks fillValue=\"",
                      end = "\"><dmrpp:chunk offset=\"1\" nBytes=\"32\"/></dmrpp:chunks></";
    for (const char *type : {"Int32", "Float32"})
        for (const char *fill : {"abc", "-99abc", "0x10", "1 2", " "}) {
            ASSERT_EQ(Open(std::string("<") + type + " name=\"v" + begin + fill + end + type + ">"),
                      REFS_OK);
            EXPECT_EQ(sut.At("v/.zarray"),
                      std::string("corrupt: its fillValue: expected a number, found \"") + fill +
                          "\"");
        }
    ASSERT_EQ(Open("<Int32 name=\"v" + begin + " -99 " + end + "Int32>"), REFS_OK);
    EXPECT_EQ(Has("v/.zarray", "\"fill_value\":-99}"), "\"fill_value\":-99}");
}

TEST_F(Dmrpp, ProblemOfOneVariableIsNoneOfOthers) {
    ASSERT_EQ(
        Open(std::string(
                 "<Byte name=\"a\"><Dim size=\"4\"/><dmrpp:chunks><dmrpp:chunkDimensionSizes>2,2"
                 "</dmrpp:chunkDimensionSizes></dmrpp:chunks></Byte>"
                 "<Byte name=\"b\"><Dim size=\"4\"/><dmrpp:chunks><dmrpp:chunkDimensionSizes>2"
                 "</dmrpp:chunkDimensionSizes><dmrpp:chunk offset=\"1\" nBytes=\"1\" "
                 "chunkPositionInArray=\"[1]\"/></dmrpp:chunks></Byte>"
                 "<Byte name=\"c\"><Dim size=\"4\"/><dmrpp:chunks><dmrpp:chunk "
                 "nBytes=\"4\"/></dmrpp:chunks></Byte>"
                 "<Byte name=\"d\"><Dim size=\"4\"/><dmrpp:chunks><dmrpp:chunk offset=\"1\" "
                 "nBytes=\"3\"/></dmrpp:chunks></Byte>"
                 "<Byte name=\"e\"><Dim size=\"4\"/><dmrpp:chunks><dmrpp:chunkDimensionSizes>0"
                 "</dmrpp:chunkDimensionSizes></dmrpp:chunks></Byte>"
                 "<Byte name=\"f\"><Dim size=\"4294967296\"/><Dim "
                 "size=\"4294967296\"/><dmrpp:chunks/></Byte>"
                 "<Byte name=\"g\"><dmrpp:chunks byteOrder=\"ME\"/></Byte>"
                 "<Byte name=\"h\"><Dim size=\"2\"/><dmrpp:compact>AQ==</dmrpp:compact></Byte>"
                 "<Byte name=\"i\"><Dim size=\"2\"/><dmrpp:compact>*</dmrpp:compact></Byte>"
                 "<Byte name=\"j\"><Dim size=\"3\"/><dmrpp:chunks><dmrpp:chunkDimensionSizes>2"
                 "</dmrpp:chunkDimensionSizes><dmrpp:chunk offset=\"1\" nBytes=\"2\" "
                 "chunkPositionInArray=\"[4]\"/></dmrpp:chunks></Byte>") +
             kChunked),
        REFS_OK)
        << sut.error.message;
    EXPECT_EQ(sut.At("a/.zarray"), "corrupt: its chunkDimensionSizes is \"2,2\"");
    EXPECT_EQ(sut.At("b/.zarray"), "corrupt: a chunk begins at 1: expected a multiple of 2");
    EXPECT_EQ(sut.At("c/.zarray"), "corrupt: a chunk lacks its offset or its size");
    EXPECT_EQ(sut.At("d/.zarray"), "corrupt: it is uncompressed: expected 4 stored bytes, found 3");
    EXPECT_EQ(sut.At("e/.zarray"), "corrupt: its chunk size is 0 along a dimension");
    EXPECT_EQ(sut.At("f/.zarray"), "corrupt: it has more than 2^64 bytes");
    EXPECT_EQ(sut.At("g/.zarray"), "corrupt: its byteOrder is \"ME\"");
    EXPECT_EQ(sut.At("h/.zarray"), "corrupt: expected 2 bytes, found 1");
    EXPECT_EQ(sut.At("i/.zarray").substr(0, 8), "corrupt:");
    EXPECT_EQ(sut.At("j/.zarray"), "corrupt: a chunk begins at 4 along dimension 0 of size 3");
    EXPECT_EQ(sut.At("v/0.0"), "[x.h5, 10, 5]");
}

// A Byte array of 4 in chunks, by what stands in their elements.
std::string InChunks(const char *size, const std::vector<std::string> &chunks) {
    std::string xml = std::string("<Byte name=\"v\"><Dim size=\"4\"/><Dim size=\"1\"/>"
                                  "<dmrpp:chunks><dmrpp:chunkDimensionSizes>") +
                      size + " 1</dmrpp:chunkDimensionSizes>";
    for (const std::string &chunk : chunks)
        xml += "<dmrpp:chunk offset=\"1\" nBytes=\"2\" " + chunk + "/>";
    return xml + "</dmrpp:chunks></Byte>";
}

TEST_F(Dmrpp, OnlyTheChunkThatIsTheWholeArrayNeedsNoPosition) {
    const char kNone[] =
        "corrupt: one of its chunks has no position: expected one, as it does not cover the array";
    const std::string first = "chunkPositionInArray=\"[0,0]\"";
    ASSERT_EQ(Open(InChunks("4", {""})), REFS_OK);
    EXPECT_EQ(sut.At("v/0.0"), "[x.h5, 1, 2]");
    ASSERT_EQ(Open(InChunks("5", {""})), REFS_OK);
    EXPECT_EQ(sut.At("v/0.0"), "[x.h5, 1, 2]");
    ASSERT_EQ(Open(InChunks("2", {""})), REFS_OK);
    EXPECT_EQ(sut.At("v/.zarray"), kNone);
    ASSERT_EQ(Open(InChunks("2", {first, ""})), REFS_OK);
    EXPECT_EQ(sut.At("v/.zarray"), kNone);
}

TEST_F(Dmrpp, TwoChunksOfOnePositionAreAnError) {
    const auto at = [](int row) {
        return "chunkPositionInArray=\"[" + std::to_string(row) + ",0]\"";
    };
    ASSERT_EQ(Open(InChunks("1", {at(3), at(2), at(0), at(1)})), REFS_OK);
    EXPECT_EQ(sut.At("v/3.0"), "[x.h5, 1, 2]");
    ASSERT_EQ(Open(InChunks("2", {at(2), at(0), at(2)})), REFS_OK);
    EXPECT_EQ(sut.At("v/.zarray"), "corrupt: two of its chunks have the position [2,0]");
    ASSERT_EQ(Open(InChunks("4", {"", ""})), REFS_OK);
    EXPECT_EQ(sut.At("v/.zarray"), "corrupt: two of its chunks have the position [0,0]");
}

const char kOne[] =
    "<Byte name=\"v\"><dmrpp:chunks><dmrpp:chunk offset=\"1\" nBytes=\"1\"/></dmrpp:chunks></Byte>"
    "<Byte name=\"m\"><dmrpp:chunks><dmrpp:chunk offset=\"1\" nBytes=\"1\" href=\"";
const char kOneEnd[] = "\"/></dmrpp:chunks></Byte>";

TEST_F(Dmrpp, PlaceholdersAreTheFileThatItIsCalledAfter) {
    ASSERT_EQ(Open(std::string(kOne) + "OPeNDAP_DMRpp_SC_DATA_ACCESS_URL" + kOneEnd,
                   "OPeNDAP_DMRpp_DATA_ACCESS_URL"),
              REFS_OK);
    EXPECT_EQ(sut.LocationAt("v/0"), "data/x.h5");
    EXPECT_EQ(sut.LocationAt("m/0"), "data/x.h5_mvs.h5");
}

TEST_F(Dmrpp, PathsOfTheServerLieBesideIt) {
    ASSERT_EQ(Open(std::string(kOne) + "/srv/data/y.h5" + kOneEnd, "/srv/data/x.h5"), REFS_OK);
    EXPECT_EQ(sut.LocationAt("v/0"), "data/x.h5");
    EXPECT_EQ(sut.LocationAt("m/0"), "data/y.h5");
}

TEST_F(Dmrpp, OtherPathsStayAsTheyAre) {
    ASSERT_EQ(Open(std::string(kOne) + "s3://b/y.h5" + kOneEnd, "sub/z.h5"), REFS_OK);
    EXPECT_EQ(sut.LocationAt("v/0"), "data/sub/z.h5");
    EXPECT_EQ(sut.LocationAt("m/0"), "/vsis3/b/y.h5");
}

TEST_F(Dmrpp, RemoteFilesHaveTheUrlWithoutTheEnding) {
    sut.location = "/vsicurl/https://h/p/x.h5.dmrpp?token=a/b";
    ASSERT_EQ(Open(std::string(kOne) + kOneEnd, "OPeNDAP_DMRpp_DATA_ACCESS_URL"), REFS_OK)
        << sut.error.message;
    EXPECT_EQ(sut.LocationAt("v/0"), "/vsicurl/https://h/p/x.h5");
}

TEST_F(Dmrpp, TargetStandsForTheDataFile) {
    sut.options.target = "https://h/z.h5";
    ASSERT_EQ(Open(std::string(kOne) + "https://h/m.h5" + kOneEnd, "https://old/x.h5"), REFS_OK);
    EXPECT_EQ(sut.LocationAt("v/0"), "/vsicurl/https://h/z.h5");
    EXPECT_EQ(sut.LocationAt("m/0"), "/vsicurl/https://h/m.h5");
}

TEST_F(Dmrpp, PlaceholderThatStandsForNothingKnownIsAnError) {
    sut.location = "x.xml";
    EXPECT_EQ(Open(kOne, "OPeNDAP_DMRpp_DATA_ACCESS_URL"), REFS_INVALID);
    EXPECT_NE(std::string(sut.error.message).find("TARGET"), std::string::npos)
        << sut.error.message;
}

TEST_F(Dmrpp, MayBeginWithWhatItsMakerSaid) {
    ASSERT_EQ(OpenWhole("number of blocks: 1\n<?xml version=\"1.0\"?><Dataset name=\"x\" "
                        "dmrpp:href=\"x.h5\"/>"),
              REFS_OK)
        << sut.error.message;
    EXPECT_EQ(sut.Names(), ".zgroup ");
}

TEST_F(Dmrpp, BombsAreOneError) {
    std::string bomb = "<!DOCTYPE Dataset [<!ENTITY a \"dmrpp\">";
    for (char c = 'b'; c < 'z'; c++)
        bomb += std::string("<!ENTITY ") + c + " \"&" + char(c - 1) + ";&" + char(c - 1) + ";&" +
                char(c - 1) + ";\">";
    EXPECT_EQ(OpenWhole(bomb + "]><Dataset name=\"&y;\"/>"), REFS_INVALID);
    EXPECT_STREQ(
        sut.error.message,
        "data/x.h5.dmrpp: line 1: unexpected document type (<!DOCTYPE Dataset): DMR++ has none");
}

TEST_F(Dmrpp, ElementsThatAreTooDeepAreRefused) {
    std::string deep;
    for (int i = 0; i < 200; i++) deep += "<Group name=\"g\">";
    EXPECT_EQ(Open(deep), REFS_LIMIT);
}

TEST_F(Dmrpp, WhatIsNoXmlIsAnErrorWithItsLine) {
    EXPECT_EQ(Open("\n<Byte name=\"v\"></Int8>"), REFS_CORRUPT);
    EXPECT_STREQ(sut.error.message, "data/x.h5.dmrpp: line 3: not well-formed XML: mismatched tag");
    refs_error_clear(&sut.error);
    EXPECT_EQ(OpenWhole("<Dataset name=\"dmrpp\">"), REFS_CORRUPT);
    refs_error_clear(&sut.error);
    EXPECT_EQ(OpenWhole("<Data><Dataset name=\"dmrpp\"/></Data>"), REFS_INVALID);
}

TEST_F(Dmrpp, SidecarsLieBesideTheirFiles) {
    const auto sidecar = [](const char *file) {
        refs_buf location = REFS_BUF_INIT;
        EXPECT_EQ(refs_set_sidecar(file, &location, nullptr), REFS_OK);
        const std::string text(reinterpret_cast<const char *>(location.data), location.size);
        refs_buf_clear(&location);
        return text;
    };
    EXPECT_EQ(sidecar("a/x.h5"), "a/x.h5.dmrpp");
    EXPECT_EQ(sidecar("/vsicurl/https://h/x.h5?a=b"), "/vsicurl/https://h/x.h5.dmrpp?a=b");
}

TEST_F(Dmrpp, IsToldByItsBeginning) {
    const auto sniff = [](const std::string &head) {
        return refs_set_sniff(refs_bytes_view(head.data(), head.size()));
    };
    EXPECT_TRUE(sniff("<?xml version='1.0'?>\n<Dataset xmlns:dmrpp=\"u\""));
    EXPECT_FALSE(sniff("<?xml version='1.0'?>\n<Dataset xmlns=\"u\""));
    EXPECT_FALSE(sniff("<svg>dmrpp</svg>"));
}

} // namespace
