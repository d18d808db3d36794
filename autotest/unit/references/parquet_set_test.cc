// Parquet sets: which row of which file a chunk is, and what opening one asks for.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "parquet_under_test.h"
#include "refs/block.h"

namespace {

using Names = std::vector<std::string>;

std::string Corrupt(const std::string &file) {
    return "corrupt: " + file + ": not a Parquet file (4 bytes)";
}

} // namespace

TEST(ParquetSet, HoldsItsMetadata) {
    ParquetUnderTest set;
    set.Metadata(".zgroup", R"({"zarr_format": 2})")
        .Metadata("a\\/.zattrs", R"("{\"x\": NaN}")")
        .Metadata("/b/.zattrs", R"({"y": [1.50, NaN]})");
    ASSERT_EQ(set.OpenFolder(), REFS_OK) << set.error.message;
    EXPECT_EQ(set.Names(), ".zgroup a/.zattrs b/.zattrs ");
    EXPECT_EQ(set.At(".zgroup"), R"("{\"zarr_format\":2}")");
    EXPECT_EQ(set.At("a/.zattrs"), R"("{\"x\": NaN}")");
    EXPECT_EQ(set.At("b/.zattrs"), R"("{\"y\":[1.50,NaN]}")");
    EXPECT_EQ(refs_set_size(set.set), 3u);
    EXPECT_EQ(set.opened, Names({".zmetadata", ".zmetadata"})) << "its beginning, and all of it";
}

TEST(ParquetSet, CountsChunksInCOrder) {
    ParquetUnderTest set;
    set.Array("a", "[4, 5]", "[2, 2]");
    set.Record("a/refs.0.parq", CountedRows(4)).Record("a/refs.1.parq", CountedRows(2, 4));
    ASSERT_EQ(set.OpenFolder("4"), REFS_OK) << set.error.message;
    int64_t number = 0;
    for (const char *key : {"a/0.0", "a/0.1", "a/0.2", "a/1.0", "a/1.1", "a/1.2"})
        EXPECT_EQ(set.At(key), "[/d, " + std::to_string(number++) + ", 1]") << key;
}

TEST(ParquetSet, FindsNothingOutsideOfTheGrid) {
    ParquetUnderTest set;
    set.Array("a", "[2, 3]", "[1, 1]").Record("a/refs.0.parq", CountedRows(10));
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    for (const char *key :
         {"a/0.3", "a/2.0", "a/0.5", "a/0", "a/0.0.0", "a/00.1", "a/-1.0", "a/0.x", "a/0.", "a/",
          "a", "b/0.0", "a/a/0.0", "0.0", "a/0/1", "a/18446744073709551616.0"})
        EXPECT_EQ(set.At(key), "absent") << key;
    EXPECT_EQ(set.opened, Names({".zmetadata", ".zmetadata"})) << "no file is asked for them";
}

// Files in memory, in a folder that happens to be called as one of this machine.
TEST(ParquetSet, IsHeldToNoFolderWhereItsFilesAreElsewhere) {
    const std::string folder = testing::TempDir() + "held.parq";
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    ParquetUnderTest set(folder);
    set.Array("a", "[1]", "[1]").Record("a/refs.0.parq", CountedRows(1));
    const refs_status opened = set.OpenFolder();
    EXPECT_EQ(rmdir(folder.c_str()), 0);
    ASSERT_EQ(opened, REFS_OK) << set.error.message;
    EXPECT_EQ(set.At("a/0"), "[/d, 0, 1]");
}

TEST(ParquetSet, HasOneChunkForAScalar) {
    ParquetUnderTest set;
    set.Array("s", "[]", "[]").Record("s/refs.0.parq", {Raw("x"), Raw("y")});
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("s/0"), "\"x\"");
    EXPECT_EQ(set.At("s/1"), "absent");
    EXPECT_EQ(set.At("s/0.0"), "absent");
}

TEST(ParquetSet, TellsArraysCalledByNumbersFromChunks) {
    ParquetUnderTest set;
    set.Array("0", "[3]", "[1]").Array("0/1", "[3]", "[1]");
    set.Record("0/refs.0.parq", {Raw("a"), Raw("b")});
    set.Record("0/1/refs.0.parq", {Raw("c"), Raw("d")});
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("0/1"), "\"b\"");
    EXPECT_EQ(set.At("0/1/1"), "\"d\"");
    EXPECT_EQ(set.At("0/0/1"), "absent");
}

TEST(ParquetSet, MayHaveAnArrayAtItsRoot) {
    ParquetUnderTest set;
    set.Metadata(".zarray", R"({"shape": [2], "chunks": [1]})").Record("refs.0.parq", {Raw("x")});
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("0"), "\"x\"");
    EXPECT_EQ(set.At("1"), "absent");
}

TEST(ParquetSet, TakesMetadataThatAreStrings) {
    ParquetUnderTest set;
    set.Metadata("a/.zarray", R"("{\"shape\": [2], \"chunks\": [1]}")");
    set.Record("a/refs.0.parq", {Raw("x")});
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("a/0"), "\"x\"");
}

TEST(ParquetSet, TakesValuesInBase64AmongItsMetadata) {
    ParquetUnderTest set;
    set.Metadata("a/.zarray", R"("base64:eyJzaGFwZSI6IFsyXSwgImNodW5rcyI6IFsxXX0=")")
        .Metadata("a/1", R"("base64:aGk=")")
        .Metadata("b/.zattrs", R"("base64:@@")");
    set.Record("a/refs.0.parq", {Raw("x"), Raw("y")});
    ASSERT_EQ(set.OpenFolder(), REFS_OK) << set.error.message;
    EXPECT_EQ(set.At("a/0"), "\"x\"");
    EXPECT_EQ(set.At("a/1"), "\"hi\"") << "data that stand among the metadata";
    EXPECT_EQ(set.At("b/.zattrs").find("corrupt: base64: "), 0u) << set.At("b/.zattrs");
}

TEST(ParquetSet, MayHaveRecordFilesThatEndAsTheSpecificationSays) {
    ParquetUnderTest set;
    set.Array("a", "[3]", "[1]");
    set.Record("a/refs.0.parq", CountedRows(1)).Record("a/refs.1.parquet", CountedRows(1, 7));
    ASSERT_EQ(set.OpenFolder("1"), REFS_OK) << set.error.message;
    EXPECT_EQ(set.At("a/0"), "[/d, 0, 1]");
    EXPECT_EQ(set.At("a/1"), "[/d, 7, 1]");
    EXPECT_EQ(set.At("a/2"), "absent");
}

TEST(ParquetSet, ReadsARecordFileOnce) {
    ParquetUnderTest set;
    set.Array("a", "[25]", "[1]");
    for (const char *name : {"a/refs.0.parq", "a/refs.1.parq"}) set.Record(name, CountedRows(10));
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    set.opened.clear();
    for (const char *key : {"a/11", "a/12", "a/3", "a/11", "a/4"}) EXPECT_NE(set.At(key), "absent");
    EXPECT_EQ(set.At("a/20"), "absent");
    EXPECT_EQ(set.At("a/21"), "absent") << "of a file that is not there";
    EXPECT_EQ(set.opened, Names({"a/refs.1.parq", "a/refs.0.parq"}));
}

TEST(ParquetSet, ReadsARecordFileAgainThatHadToGo) {
    ParquetUnderTest set;
    set.Array("a", "[25]", "[1]");
    for (const char *name : {"a/refs.0.parq", "a/refs.1.parq"}) set.Record(name, CountedRows(10));
    set.options.limits.max_record_bytes = 0;
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    set.opened.clear();
    for (const char *key : {"a/1", "a/2", "a/11", "a/1"}) EXPECT_NE(set.At(key), "absent");
    EXPECT_EQ(set.opened, Names({"a/refs.0.parq", "a/refs.1.parq", "a/refs.0.parq"}));
}

TEST(ParquetSet, GivesReferencesThatOutliveTheirRecordFile) {
    ParquetUnderTest set;
    set.Array("a", "[4]", "[1]");
    set.Record("a/refs.0.parq", {Raw("inline value"), Range("s3://b/k", 3, 4)});
    set.Record("a/refs.1.parq", CountedRows(2));
    set.options.limits.max_record_bytes = 0;
    ASSERT_EQ(set.OpenFolder("2"), REFS_OK);
    refs_ref value, range;
    ASSERT_EQ(refs_set_find(set.set, View("a/0"), &value, nullptr), REFS_OK);
    ASSERT_EQ(refs_set_find(set.set, View("a/1"), &range, nullptr), REFS_OK);
    EXPECT_EQ(set.At("a/2"), "[/d, 0, 1]");
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(value.bytes.data), value.bytes.size),
              "inline value");
    EXPECT_STREQ(range.url, "s3://b/k");
    EXPECT_STREQ(range.location, "/vsis3/b/k");
    refs_ref_release(&value);
    refs_ref_release(&range);
    refs_ref_release(&range); // holds nothing any more
}

TEST(ParquetSet, TakesRowsBehindTheFileForAbsent) {
    ParquetUnderTest set;
    set.Array("a", "[5]", "[1]").Record("a/refs.0.parq", CountedRows(2));
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("a/1"), "[/d, 1, 1]");
    EXPECT_EQ(set.At("a/4"), "absent");
}

TEST(ParquetSet, NeedsNoMemoryForRowsOutsideOfTheGrid) {
    ParquetUnderTest set;
    set.Array("a", "[2]", "[1]").Record("a/refs.0.parq", CountedRows(100000));
    set.Array("b", "[2]", "[1]").Record("b/refs.0.parq", CountedRows(100000));
    set.options.limits.max_record_bytes = 8 * REFS_KIB;
    ASSERT_EQ(set.OpenFolder("100000"), REFS_OK);
    set.opened.clear();
    for (const char *key : {"a/0", "b/0", "a/1", "b/1"}) EXPECT_NE(set.At(key), "absent");
    EXPECT_EQ(set.opened.size(), 2u) << "both are kept";
}

// -- what goes wrong ------------------------------------------------------------------------------

TEST(ParquetSet, TakesOnlyAbsentFilesForAbsentChunks) {
    ParquetUnderTest set;
    set.Array("a", "[40]", "[1]").Record("a/refs.1.parq", {}).Record("a/refs.3.parq", {});
    set.vfs.files["dir.parq/a/refs.0.parq"] = "oops";
    set.vfs.files["dir.parq/a/refs.1.parq"] = "";
    set.vfs.failOpensOf = "dir.parq/a/refs.2.parq";
    set.vfs.failReadsOf = "dir.parq/a/refs.3.parq";
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("a/3"), Corrupt("dir.parq/a/refs.0.parq"));
    EXPECT_EQ(set.At("a/13"), "corrupt: dir.parq/a/refs.1.parq: not a Parquet file (0 bytes)");
    EXPECT_EQ(set.At("a/23"), "cannot be read: dir.parq/a/refs.2.parq: HTTP error 403");
    EXPECT_EQ(set.At("a/33"), "cannot be read: dir.parq/a/refs.3.parq: the line is cut");
    set.vfs.failReadsOf = "";
    EXPECT_EQ(set.At("a/33"), "absent") << "an error is not remembered";
}

TEST(ParquetSet, ExplainsWhatIsWrongWithItsDocument) {
    const struct {
        const char *document, *message;
    } cases[] = {
        {R"({"metadata": {}, "record_size": 0})",
         "\"record_size\": expected a positive integer, found \"0\""},
        {R"({"metadata": {}, "record_size": -5})",
         "\"record_size\": expected a positive integer, found \"-5\""},
        {R"({"metadata": {}, "record_size": 2.5})",
         "\"record_size\": expected a positive integer, found \"2.5\""},
        {R"({"metadata": {}, "record_size": "10"})",
         "\"record_size\": expected a positive integer, found \"10\""},
        {R"({"metadata": {}, "record_size": null})",
         "\"record_size\": expected a positive integer, found \"\""},
        {R"({"metadata": {}, "zarr_consolidated_format": 1})",
         "expected \"record_size\": without it, this is plain Zarr and not a reference set"},
        {R"({"record_size": 10})", "expected an object \"metadata\""},
        {R"({"record_size": 10, "metadata": []})", "expected an object \"metadata\""},
        {"[1]", "expected an object \"metadata\""},
    };
    for (const auto &c : cases) {
        ParquetUnderTest set;
        EXPECT_EQ(set.OpenDocument(c.document), REFS_INVALID);
        EXPECT_EQ(set.error.message, std::string("dir.parq/.zmetadata: ") + c.message);
    }
    ParquetUnderTest cut;
    EXPECT_EQ(cut.OpenDocument("{\"metadata\": {"), REFS_CORRUPT);
    EXPECT_NE(std::string(cut.error.message).find("dir.parq/.zmetadata: line 1"), std::string::npos)
        << cut.error.message;
}

TEST(ParquetSet, TakesARecordSizeInFloatingPoint) {
    ParquetUnderTest set;
    set.Array("a", "[25]", "[1]").Record("a/refs.2.parq", CountedRows(5));
    ASSERT_EQ(set.OpenFolder("10.0"), REFS_OK);
    EXPECT_EQ(set.At("a/21"), "[/d, 1, 1]");
}

TEST(ParquetSet, RefusesChunksOfArraysThatItCannotCount) {
    const struct {
        const char *name, *zarray, *key, *said;
    } cases[] = {
        {"a/.zarray", R"({"shape": [4, 4], "chunks": [2, 2], "dimension_separator": "/"})", "a/0/1",
         "not supported: the dimension separator is \"/\": expected \".\", as Parquet sets can "
         "hold no other"},
        {"a/zarr.json", "{}", "a/c/0/1",
         "not supported: expected Zarr version 2, as Parquet sets can hold no other"},
        {"zarr.json", "{}", "c/0",
         "not supported: expected Zarr version 2, as Parquet sets can hold no other"},
        {"a/.zarray", R"({"shape": [4], "chunks": [0]})", "a/0",
         "invalid: shape and chunks are inconsistent in dimension 0"},
        {"a/.zarray", R"({"shape": [4, 4], "chunks": [2]})", "a/0.0",
         "invalid: expected shape and chunks as lists of one length, at most 32"},
        {"a/.zarray", R"({"shape": [-4], "chunks": [2]})", "a/0",
         "invalid: shape and chunks are inconsistent in dimension 0"},
        {"a/.zarray", R"("no JSON")", "a/0",
         "corrupt: line 1, column 1: expected a value, found 'n'"},
        {"a/.zarray", R"({"shape": [1e15, 1e15], "chunks": [1, 1]})", "a/0.0",
         "over a limit: the array has more than 2^64 chunks"},
        {"../x/.zarray", R"({"shape": [4], "chunks": [1]})", "../x/0",
         "invalid: its name leads outside the set"},
        {"x/../../y/.zarray", R"({"shape": [4], "chunks": [1]})", "x/../../y/0",
         "invalid: its name leads outside the set"},
        {"x\\u0000y/.zarray", R"({"shape": [4], "chunks": [1]})", "x\0y/0",
         "invalid: its name leads outside the set"},
    };
    for (const auto &c : cases) {
        ParquetUnderTest set;
        set.Metadata(c.name, c.zarray).Array("fine", "[1]", "[1]");
        set.Record("fine/refs.0.parq", {Raw("x")});
        ASSERT_EQ(set.OpenFolder(), REFS_OK) << set.error.message;
        const bool has_nul = std::string(c.name).find("u0000") != std::string::npos;
        EXPECT_EQ(set.At(has_nul ? std::string("x\0y/0", 5) : c.key), c.said);
        EXPECT_EQ(set.At("fine/0"), "\"x\"");
    }
}

TEST(ParquetSet, AcceptsDimensionsOfLengthZero) {
    ParquetUnderTest set;
    set.Array("a", "[0, 4]", "[0, 1]");
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("a/0.0"), "absent");
}

// -- URLs -----------------------------------------------------------------------------------------

TEST(ParquetSet, ResolvesUrlsAgainstTheFolderThatItLiesIn) {
    const struct {
        const char *folder, *location, *expected;
    } cases[] = {
        {"/data/dir.parq", "/data/dir.parq", "/data/x.nc"},
        {"/data/dir.parq", "/data/dir.parq/", "/data/x.nc"},
        {"/data/dir.parq", "/data/dir.parq/.zmetadata", "/data/x.nc"},
        {"dir.parq", "dir.parq", "x.nc"},
        {"/vsicurl/http://h/a/dir.parq", "/vsicurl/http://h/a/dir.parq",
         "/vsicurl/http://h/a/x.nc"},
        {".", ".zmetadata", "./../x.nc"},
        {".", ".", "./../x.nc"},
        {".", "", "./../x.nc"},
        {"..", "../.zmetadata", "../../x.nc"},
    };
    for (const auto &c : cases) {
        ParquetUnderTest set(c.folder);
        set.location = c.location;
        set.Array("a", "[1]", "[1]").Record("a/refs.0.parq", {Whole("x.nc")});
        ASSERT_EQ(set.OpenFolder(), REFS_OK) << c.location << ": " << set.error.message;
        EXPECT_EQ(set.At("a/0"), "[x.nc]") << c.location;
        EXPECT_EQ(set.LocationAt("a/0"), c.expected) << c.location;
        EXPECT_STREQ(refs_set_location(set.set), c.location);
    }
}

TEST(ParquetSet, RemembersItsOptions) {
    ParquetUnderTest set;
    set.Array("a", "[1]", "[1]").Record("a/refs.0.parq", {Whole("s3://old/x")});
    set.rewrites = {"s3://other=>s3://o", "s3://old/=>https://new/"};
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    set.rewrites.clear();
    set.rewrites.shrink_to_fit();
    EXPECT_EQ(set.LocationAt("a/0"), "/vsicurl/https://new/x");
}

TEST(ParquetSet, SaysWhichUrlItCannotUse) {
    ParquetUnderTest set("/vsicurl/http://h/dir.parq");
    set.Array("a", "[5]", "[1]");
    set.Record("a/refs.0.parq", {Whole("{{u}}/x"), Whole("odd://x"), Whole("/etc/passwd"),
                                 Whole(std::string("x\0y", 3)), Whole("s3://b/k")});
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("a/0"),
              "invalid: {{u}}/x: a template that was not rendered when the set was written");
    EXPECT_EQ(
        set.At("a/1").find("not supported: odd://x: unsupported scheme \"odd\": expected one of "),
        0u);
    EXPECT_EQ(set.At("a/2").find("invalid: /etc/passwd: a remote set may not name the local file"),
              0u);
    EXPECT_EQ(set.At("a/3").find("invalid: x"), 0u);
    EXPECT_EQ(set.At("a/4"), "[s3://b/k]");
}

TEST(ParquetSet, DecodesDataUrlsInRows) {
    ParquetUnderTest set;
    set.Array("a", "[6]", "[1]");
    set.Record("a/refs.0.parq",
               {Whole("data:,hello"), Range("data:;base64,aGVsbG8=", 1, 3),
                Range("data:,hello", 4, 2), Whole("data:hello"), Whole("data:,{{u}}")});
    ASSERT_EQ(set.OpenFolder(), REFS_OK);
    EXPECT_EQ(set.At("a/0"), "\"hello\"");
    EXPECT_EQ(set.At("a/1"), "\"ell\"");
    EXPECT_EQ(set.At("a/2"), "invalid: data: URL: offset and length lie past its end");
    EXPECT_EQ(set.At("a/3"), "invalid: data: URL: expected \",\" before the data");
    EXPECT_EQ(set.At("a/4"),
              "invalid: data:,{{u}}: a template that was not rendered when the set was written");
}

TEST(ParquetSet, NumbersEqualLocationsEqually) {
    ParquetUnderTest set;
    set.Array("a", "[6]", "[1]");
    set.Record("a/refs.0.parq", {Whole("/x"), Whole("/y"), Whole("file:///x")});
    set.Record("a/refs.1.parq", {Whole("/y"), Whole("/z")});
    ASSERT_EQ(set.OpenFolder("3"), REFS_OK);
    EXPECT_EQ(refs_set_n_locations(set.set), 0u);
    std::vector<uint32_t> ids;
    for (const char *key : {"a/0", "a/1", "a/2", "a/3", "a/4"}) {
        refs_ref ref;
        ASSERT_EQ(refs_set_find(set.set, View(key), &ref, nullptr), REFS_OK);
        EXPECT_LT(ref.location_id, refs_set_n_locations(set.set));
        ids.push_back(ref.location_id);
        refs_ref_release(&ref);
    }
    EXPECT_EQ(ids, (std::vector<uint32_t>{0, 1, 0, 1, 2}));
}

// -- size -----------------------------------------------------------------------------------------

TEST(ParquetSet, OfAHundredMillionChunksReadsOneFileForOneChunk) {
    ParquetUnderTest set;
    set.Array("a", "[10000, 10000]", "[1, 1]");
    const auto note = set.vfs.onOpen;
    set.vfs.onOpen = [&](const std::string &name) {
        const size_t number = name.find("/refs.");
        if (number != std::string::npos)
            set.vfs.files[name] = RecordFile(CountedRows(100, std::stol(name.substr(number + 6))));
        note(name);
    };
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(set.OpenFolder("100"), REFS_OK);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
    set.opened.clear();
    EXPECT_EQ(set.At("a/9999.9998"), "[/d, 1000097, 1]");
    EXPECT_EQ(set.At("a/9999.9999"), "[/d, 1000098, 1]");
    EXPECT_EQ(set.opened, Names({"a/refs.999999.parq"}));
}
