/* bad_input_test.cc -- bad sets and bad targets: one error that says which set, key, URL and range,
 * and never a pixel that is made up.
 */
#include "driver_test.h"

#include <filesystem>

#include <unistd.h>

using namespace refs_test;

namespace {

void expect_parts(const std::string &message, const std::vector<std::string> &parts) {
    for (const std::string &part : parts)
        EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
}

} // namespace

TEST(BadInput, ThatIsNoSetFailsToOpenWithOneError) {
    const struct {
        const char *name, *content;
        std::vector<std::string> parts;
    } rows[] = {
        {"empty-file", "", {}},
        {"cut-in-a-string", "{\"version\": 1,\n \"refs\": {\".zgr", {"line 2", "column"}},
        {"cut-after-a-comma", "{\"version\": 1,\n \"refs\": {\"a\": \"b\",", {"line 2", "column"}},
        {"stray-token", "{\"version\": 1,\n\n \"refs\": {\"a\" = \"b\"}}", {"line 3", "column"}},
        {"trailing-data", "{\"version\": 1, \"refs\": {}} x", {"line 1", "column"}},
        {"version-2", R"({"version": 2, "refs": {}})", {"version", "2"}},
        {"version-0", R"({"version": 0, "refs": {}})", {"version", "0"}},
        {"version-text", R"({"version": "1", "refs": {}})", {"version"}},
        {"refs-null", R"({"version": 1, "refs": null})", {"refs"}},
        {"refs-list", R"({"version": 1, "refs": []})", {"refs"}},
        {"templates-list", R"({"version": 1, "templates": [], "refs": {}})", {"templates"}},
        {"gen-object", R"({"version": 1, "gen": {}, "refs": {}})", {"gen"}},
        {"gen-step-0",
         R"({"version": 1, "refs": {}, "gen": [{"key": "{{i}}", "url": "u",
             "dimensions": {"i": {"stop": 5, "step": 0}}}]})",
         {"gen"}},
        {"gen-without-length",
         R"({"version": 1, "refs": {}, "gen": [{"key": "{{i}}", "url": "u", "offset": "0",
             "dimensions": {"i": {"stop": 5}}}]})",
         {"gen"}},
        {"number", "42", {}},
        {"words", "this is no set", {}},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.name);
        const std::string path = memory_path(std::string(row.name) + ".json");
        write_file(path, row.content);
        ErrorLog log;
        EXPECT_EQ(open("REFS:\"" + path + "\""), nullptr);
        ASSERT_EQ(log.failures().size(), 1u) << log.text();
        expect_parts(log.text(), {path});
        expect_parts(log.text(), row.parts);
    }
}

TEST(BadInput, AListOfSetsIsNoMultidimensionalSet) {
    const std::string path = memory_path("list.json");
    write_file(path, R"([{"version": 1, "refs": {".zgroup": "{\"zarr_format\": 2}"}},
                         {"version": 1, "refs": {".zgroup": "{\"zarr_format\": 2}"}}])");
    ErrorLog log;
    const Dataset dataset(GDALOpenEx(("REFS:\"" + path + "\"").c_str(),
                                     GDAL_OF_MULTIDIM_RASTER | GDAL_OF_VERBOSE_ERROR, nullptr,
                                     nullptr, nullptr));
    EXPECT_EQ(dataset, nullptr);
    ASSERT_EQ(log.failures().size(), 1u) << log.text();
    expect_parts(log.text(), {path, "2"});
}

TEST(BadInput, AChunkThatCannotBeReadIsNeverFilled) {
    write_file(memory_path("short.bin"), std::string(100, 'x'));
    const std::string absent = memory_path("absent.bin"), cut = memory_path("short.bin");
    const struct {
        const char *name;
        std::string reference;
        std::vector<std::string> parts;
    } rows[] = {
        {"absent-target", "[" + json_string(absent) + ", 7, 24]", {absent, "7", "24"}},
        {"absent-whole", "[" + json_string(absent) + "]", {absent}},
        {"relative-absent", R"(["nowhere/a.bin", 7, 24])", {"nowhere/a.bin", "7", "24"}},
        {"range-over-the-end", "[" + json_string(cut) + ", 90, 24]", {cut, "90", "24", "100"}},
        {"range-behind-the-end", "[" + json_string(cut) + ", 4000, 24]", {cut, "4000", "24"}},
        {"range-overflows",
         "[" + json_string(cut) + ", 18446744073709551615, 24]",
         {"18446744073709551615"}},
        {"no-bytes", "[" + json_string(cut) + ", 5, 0]", {cut}},
        {"too-few-bytes", "[" + json_string(cut) + ", 5, 20]", {cut, "20", "24"}},
        {"too-many-bytes", "[" + json_string(cut) + ", 5, 28]", {cut, "28", "24"}},
        {"unknown-scheme", R"(["gopher://host/a.bin", 0, 24])", {"gopher://host/a.bin", "s3"}},
        {"unknown-template", R"(["{{nobody}}/a.bin", 0, 24])", {}},
        {"two-elements", R"(["a.bin", 0])", {}},
        {"no-elements", "[]", {}},
        {"four-elements", R"(["a.bin", 0, 24, 1])", {}},
        {"negative-offset", R"(["a.bin", -1, 24])", {}},
        {"half-a-byte", R"(["a.bin", 0.5, 24])", {}},
        {"text-offset", R"(["a.bin", "0", "24"])", {}},
        {"number-as-url", R"([5, 0, 24])", {}},
        {"null-as-url", R"([null, 0, 24])", {}},
        {"null", "null", {}},
        {"a-number", "5", {}},
        {"inlined-by-mistake", R"(["__inlined__", 0, 24])", {"VirtualiZarr"}},
        {"no-base64", R"("base64:????")", {}},
        {"empty-base64", R"("base64:")", {}},
        {"short-text", R"("abc")", {"3", "24"}},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.name);
        const std::string path = memory_path(std::string(row.name) + ".json");
        Set set;
        set.array({"v", {2, 3}}).json("v/0.0", row.reference);
        write_file(path,
                   R"({"version": 1, "templates": {"u": "x"}, "refs": {)" + set.members() + "}}");
        const Dataset dataset = open(subdataset(path, "v"));
        ASSERT_NE(dataset, nullptr);
        const std::string message = failure_of_reading(dataset);
        expect_parts(message, {path, "v/0.0"});
        expect_parts(message, row.parts);
    }
}

TEST(BadInput, ATargetThatIsGoneIsNamedOnceWithWhatToDo) {
    Set set;
    const std::string path = set.array({"v", {1, 6}}).range("v/0.0", "gone.bin", 0, 24).save();
    const std::string target = memory_path("gone.bin");
    const std::string said = failure_of_reading(open(path));
    EXPECT_EQ(
        said.find("IO: " + path + ": v/0.0: " + target + " [0+24]: No such file or directory"), 0u)
        << said;
    EXPECT_NE(said.find("-oo URL_REWRITE"), std::string::npos) << said;
}

namespace {

/** A set in a folder of the system whose coordinates and pixels lie in a file that does not. */
class GoneTarget : public testing::Test {
  protected:
    GoneTarget() : folder(testing::TempDir() + "refs-gone-" + std::to_string(getpid())) {
        std::filesystem::create_directory(folder);
        Set set;
        const char *const attributes[] = {R"("units": "degrees_north")",
                                          R"("units": "degrees_east")"};
        set.array({"lat", {2}, "<f4", {}, {"lat"}, attributes[0]}).range("lat/0", "gone.bin", 0, 8);
        set.array({"lon", {3}, "<f4", {}, {"lon"}, attributes[1]})
            .range("lon/0", "gone.bin", 8, 12);
        set.array({"v", {2, 3}, "<f4", {}, {"lat", "lon"}}).range("v/0.0", "gone.bin", 20, 24);
        path = folder + "/set.json";
        write_file(path, set.document());
    }
    ~GoneTarget() override { std::filesystem::remove_all(folder); }

    const std::string folder;
    std::string path;
};

} // namespace

TEST_F(GoneTarget, IsToldOnceWhenAnArrayIsOpened) {
    ErrorLog log;
    ASSERT_NE(open(subdataset(path, "v"), {"COORDINATES=OPTIONAL"}), nullptr);
    ASSERT_EQ(log.warnings().size(), 1u);
    EXPECT_EQ(log.warnings()[0].find(
                  path + ": the file " + folder +
                  "/gone.bin, which has data of /v, does not exist (where files moved, -oo "),
              0u)
        << log.warnings()[0];
    EXPECT_EQ(log.text(), "");
}

TEST_F(GoneTarget, IsNotToldWhereItIsThere) {
    write_file(folder + "/gone.bin", std::string(44, '\0'));
    ErrorLog log;
    EXPECT_NE(open(subdataset(path, "v")), nullptr);
    EXPECT_EQ(log.warnings(), std::vector<std::string>{});
}

TEST_F(GoneTarget, FailsStatisticsAndExtremes) {
    CPLErrorHandlerPusher quiet(CPLQuietErrorHandler);
    const Dataset dataset = open(subdataset(path, "v"), {"COORDINATES=OPTIONAL"});
    const GDALRasterBandH band = GDALGetRasterBand(dataset.get(), 1);
    for (const int approximately : {FALSE, TRUE}) {
        double least, most, mean, deviation, extremes[2] = {};
        EXPECT_NE(GDALComputeRasterStatistics(band, approximately, &least, &most, &mean, &deviation,
                                              nullptr, nullptr),
                  CE_None);
        EXPECT_NE(
            GDALGetRasterStatistics(band, approximately, TRUE, &least, &most, &mean, &deviation),
            CE_None);
        CPLErrorReset();
        GDALComputeRasterMinMax(band, approximately, extremes);
        EXPECT_EQ(CPLGetLastErrorType(), CE_Failure);
        EXPECT_NE(std::string(CPLGetLastErrorMsg()).find("gone.bin [20+24]: No such file"),
                  std::string::npos);
    }
    EXPECT_EQ(item(band, "STATISTICS_MINIMUM"), "");
}

TEST(BadInput, AChunkThatDecodesToTheWrongSizeNamesBothSizes) {
    for (size_t n : {5, 7}) {
        Array array{"v", {2, 3}};
        array.compressor = R"({"id": "zlib", "level": 1})";
        Set set;
        set.values(array, compressed("zlib", bytes_of(counting<int32_t>(n))));
        const std::string path = set.save(std::to_string(n) + ".json");
        const Dataset dataset = open(subdataset(path, "v"));
        ASSERT_NE(dataset, nullptr);
        expect_parts(failure_of_reading(dataset), {path, "v/0.0", "24"});
    }
}

TEST(BadInput, OneBadChunkLeavesTheOthersReadable) {
    Set set;
    set.array({"v", {2, 1, 6}, "<i4", {1, 1, 6}});
    set.bytes("v/0.0.0", bytes_of(counting<int32_t>(6)));
    set.range("v/1.0.0", "absent.bin", 0, 24);
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    expect_parts(failure_of_reading(dataset, 2), {"v/1.0.0", "absent.bin"});
    EXPECT_EQ(pixels(dataset, 1), counting<double>(6));
}

TEST(BadInput, HostileShapesAreRefusedWithoutTakingMemory) {
    const uint64_t huge = uint64_t{1} << 40;
    const struct {
        const char *name;
        Array array;
    } rows[] = {
        {"huge-chunk",
         {"v", {100000, 100000}, "<f8", {}, {}, "", "null", "null", R"({"id": "zlib"})"}},
        {"huge-grid", {"v", {huge, 3}, "<f8", {1, 3}}},
        {"many-bands", {"v", {huge, 2, 3}, "<f8", {1, 2, 3}}},
        {"chunk-of-nothing", {"v", {2, 3}, "<f8", {0, 3}}},
        {"wrong-rank", {"v", {2, 3}, "<f8", {2}}},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.name);
        Set set;
        const std::string path = set.array(row.array).save(std::string(row.name) + ".json");
        ErrorLog log;
        EXPECT_EQ(open(subdataset(path, "v")), nullptr);
        EXPECT_EQ(log.failures().size(), 1u) << log.text();
        expect_parts(log.text(), {path});
    }
}

TEST(BadInput, ChunksThatCannotBeCountedAreALimitAndNeverAnotherChunk) {
    const uint64_t most = (uint64_t{1} << 31) - 1; // pixels along a side, as GDAL counts them
    Set uncountable, countable;
    const std::string path = uncountable.array({"v", {5, most, most}, "|u1", {1, 1, 1}})
                                 .bytes("v/0.0.0", "A")
                                 .save("uncountable.json");
    ErrorLog log;
    EXPECT_EQ(open(subdataset(path, "v")), nullptr);
    EXPECT_EQ(log.text().find("LIMIT: " + path + ": /v: has more chunks"), 0u) << log.text();

    const auto dataset = open(subdataset(countable.array({"v", {2, most, most}, "|u1", {1, 1, 1}})
                                             .bytes("v/0.0.0", "A")
                                             .bytes("v/1.2147483646.2147483646", "B")
                                             .save("countable.json"),
                                         "v"));
    ASSERT_NE(dataset, nullptr);
    const int last = static_cast<int>(most) - 1;
    const struct {
        int band, column, line;
        uint8_t value;
    } rows[] = {{1, 0, 0, 'A'}, {2, last, last, 'B'}, {1, last, last, 0}, {2, 0, 0, 0}};
    for (const auto &row : rows) {
        // No axes: rows lie from south to north.
        uint8_t pixel = 7;
        EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), row.band), GF_Read, row.column,
                               last - row.line, 1, 1, &pixel, 1, 1, GDT_Byte, 0, 0),
                  CE_None);
        EXPECT_EQ(pixel, row.value) << row.band << ": " << row.column << ", " << row.line;
    }
}

TEST(BadInput, CoordinatesThatCannotBeReadAreAWarningOrAFailure) {
    Set set;
    set.axes(2, 3).range("lon/0", "absent.bin", 0, 24);
    set.values({"v", {2, 3}, "<i4", {}, {"lat", "lon"}}, bytes_of(counting<int32_t>(6)));
    const std::string path = set.save();
    {
        ErrorLog log;
        const Dataset dataset = open(subdataset(path, "v"), {"COORDINATES=OPTIONAL"});
        ASSERT_NE(dataset, nullptr) << log.text();
        ASSERT_FALSE(log.warnings().empty());
        expect_parts(log.warnings()[0], {"lon/0", "absent.bin"});
        double geotransform[6];
        EXPECT_EQ(GDALGetGeoTransform(dataset.get(), geotransform), CE_Failure);
    }
    for (const std::vector<std::string> &options :
         {std::vector<std::string>{}, std::vector<std::string>{"COORDINATES=REQUIRED"}}) {
        ErrorLog log;
        EXPECT_EQ(open(subdataset(path, "v"), options), nullptr);
        ASSERT_EQ(log.failures().size(), 1u);
        expect_parts(log.text(), {path, "lon/0", "absent.bin", "COORDINATES=OPTIONAL"});
    }
}

/** Stored from the north, which nothing tells without the latitudes. */
TEST(BadInput, CoordinatesThatCannotBeReadTurnNoRows) {
    Set set;
    set.axes(2, 3).range("lat/0", "absent.bin", 0, 16).range("lon/0", "absent.bin", 0, 24);
    set.values({"v", {2, 3}, "<i4", {}, {"lat", "lon"}}, bytes_of(counting<int32_t>(6)));
    const std::string path = set.save();
    ErrorLog log;
    const Dataset dataset = open(subdataset(path, "v"), {"COORDINATES=OPTIONAL"});
    ASSERT_NE(dataset, nullptr) << log.text();
    int32_t first = -1;
    ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), 1), GF_Read, 0, 0, 1, 1, &first, 1, 1,
                           GDT_Int32, 0, 0),
              CE_None);
    EXPECT_EQ(first, 0);
    double geotransform[6];
    EXPECT_EQ(GDALGetGeoTransform(dataset.get(), geotransform), CE_Failure);
}

TEST(BadInput, SetsWhoseCoordinatesCannotBeReadAreListed) {
    Set set;
    set.axes(2, 3).range("lat/0", "absent.bin", 0, 16);
    set.values({"v", {2, 3}, "<i4", {}, {"lat", "lon"}}, bytes_of(counting<int32_t>(6)));
    const std::string path = set.save();
    ErrorLog log;
    const Dataset list = open("REFS:\"" + path + "\"");
    ASSERT_NE(list, nullptr) << log.text();
    EXPECT_EQ(GDALGetRasterCount(list.get()), 0);
    EXPECT_NE(GDALGetMetadataItem(list.get(), "SUBDATASET_1_NAME", "SUBDATASETS"), nullptr);
    EXPECT_TRUE(log.failures().empty());
    EXPECT_EQ(open("REFS:\"" + path + "\"", {"COORDINATES=REQUIRED"}), nullptr);
}
