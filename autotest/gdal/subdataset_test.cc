/* subdataset_test.cc -- which arrays a set offers, in which order, and under which names. */
#include "driver_test.h"

#include <cpl_string.h>

using namespace refs_test;

namespace {

/** The names (or descriptions, "DESC") of all subdatasets, in order. */
std::vector<std::string> listed(const Dataset &dataset, const char *what = "NAME") {
    std::vector<std::string> list;
    for (int i = 1;; i++) {
        const std::string name = "SUBDATASET_" + std::to_string(i) + "_" + what;
        const std::string value = item(dataset.get(), name, "SUBDATASETS");
        if (value.empty()) return list;
        list.push_back(value);
    }
}

} // namespace

TEST(Subdatasets, AreTheArraysWithTwoDimensionsOrMoreInTheOrderOfTheSet) {
    Set set;
    set.values({"x", {3}}, bytes_of(counting<int32_t>(3)));
    add_small_array(set, "zeta");
    add_small_array(set, "alpha");
    set.values({"scalar", {}}, bytes_of<int32_t>({7}));
    set.array({"deep/er/cube", {2, 3, 4}, "<f8"});
    set.array({"beta", {2, 3, 4, 5}, "|u1"});
    const std::string path = set.save();
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetRasterCount(dataset.get()), 0);
    EXPECT_EQ(listed(dataset), (std::vector<std::string>{
                                   subdataset(path, "zeta"), subdataset(path, "alpha"),
                                   subdataset(path, "deep/er/cube"), subdataset(path, "beta")}));
}

TEST(Subdatasets, OpenUnderTheirNames) {
    const Dataset dataset = open("REFS:" + sample("sample.json"));
    ASSERT_NE(dataset, nullptr);
    const std::vector<std::string> names = listed(dataset);
    EXPECT_EQ(names, (std::vector<std::string>{subdataset(sample("sample.json"), "t2m"),
                                               subdataset(sample("sample.json"), "z")}));
    for (const std::string &name : names) EXPECT_EQ(driver_of(open(name)), "REFS") << name;
}

TEST(Subdatasets, OpenUnderNamesWithBracketsAndQuotes) {
    Set set;
    add_small_array(set, "a[b=1]");
    add_small_array(set, "w");
    const std::string path = memory_path("a \"quoted\" set.json");
    write_file(path, set.document());
    const std::vector<std::string> names = listed(open("REFS:" + path));
    ASSERT_EQ(names.size(), 2u);
    for (const std::string &name : names)
        EXPECT_EQ(pixels(open(name)), counting<double>(6)) << name;
}

TEST(Subdatasets, AreNamedWhereAnotherIsAskedFor) {
    Set set;
    const auto said = [&set](const char *array) {
        const std::string path = set.save();
        const ErrorLog log;
        EXPECT_EQ(open("REFS:" + path + ":" + array), nullptr);
        const size_t begin = log.text().find("there is no array");
        return begin == std::string::npos ? log.text() : log.text().substr(begin);
    };
    set.values({"x", {3}}, bytes_of(counting<int32_t>(3)));
    EXPECT_EQ(said("v"), "there is no array v");
    add_small_array(set, "v0");
    add_small_array(set, "v1");
    EXPECT_EQ(said("v"), "there is no array v; there are /v0, /v1");
    EXPECT_EQ(said("vv1"), "there is no array vv1; did you mean /v1? there are /v0, /v1");
    EXPECT_EQ(said("g/V1"), "there is no array g/V1; did you mean /v1? there are /v0, /v1");
    for (int i = 2; i < 12; i++) add_small_array(set, ("v" + std::to_string(i)).c_str());
    EXPECT_EQ(said("v"), "there is no array v; there are /v0, /v1, /v2, /v3, /v4, /v5, /v6, /v7, "
                         "/v8, /v9 and 2 more");
}

TEST(Subdatasets, AreDescribedAsTheNetcdfDriverDescribesThem) {
    Set set;
    const std::tuple<const char *, const char *, const char *> rows[] = {
        {"a", "|i1", "[2x3] a (8-bit integer)"},
        {"b", "|u1", "[2x3] b (8-bit unsigned integer)"},
        {"c", "<i2", "[2x3] c (16-bit integer)"},
        {"d", "<u2", "[2x3] d (16-bit unsigned integer)"},
        {"e", "<i4", "[2x3] e (32-bit integer)"},
        {"f", "<u4", "[2x3] f (32-bit unsigned integer)"},
        {"g", "<i8", "[2x3] g (64-bit integer)"},
        {"h", "<u8", "[2x3] h (64-bit unsigned integer)"},
        {"i", "<f4", "[2x3] i (32-bit floating-point)"},
        {"j", ">f8", "[2x3] j (64-bit floating-point)"},
    };
    std::vector<std::string> expected;
    for (const auto &[name, dtype, description] : rows) {
        set.array({name, {2, 3}, dtype});
        expected.push_back(description);
    }
    set.array({"k", {4, 2, 3}, "<f4", {}, {}, R"("standard_name": "air_temperature")"});
    expected.push_back("[4x2x3] air_temperature (32-bit floating-point)");
    const Dataset dataset = open("REFS:" + set.save());
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(listed(dataset, "DESC"), expected);
}

TEST(Subdatasets, DescribeTheSampleAsTheNetcdfDriverDoes) {
    if (!has_netcdf_driver()) GTEST_SKIP() << "GDAL has no netCDF driver that works";
    const Dataset ours = open("REFS:" + sample("sample.json"));
    const Dataset theirs = open("NETCDF:" + sample("sample.nc"));
    ASSERT_NE(ours, nullptr);
    ASSERT_NE(theirs, nullptr);
    std::vector<std::string> expected = listed(theirs, "DESC");
    ASSERT_EQ(expected.size(), 3u) << "the bounds of the time are offered as well";
    expected.erase(expected.begin());
    EXPECT_EQ(listed(ours, "DESC"), expected);
}

TEST(Subdatasets, LeaveOutBoundsWhichOpenByName) {
    Set set;
    const std::string bounds = R"("bounds": "lat_bnds")", climatology = R"("climatology": "clim")";
    set.array({"lat", {3}, "<f8", {}, {"lat"}, bounds});
    set.array({"time", {3}, "<f8", {}, {"time"}, climatology});
    add_small_array(set, "v");
    add_small_array(set, "lat_bnds");
    add_small_array(set, "clim");
    add_small_array(set, "w");
    const std::string path = set.save();
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(listed(dataset),
              (std::vector<std::string>{subdataset(path, "v"), subdataset(path, "w")}));
    const Dataset by_name = open(subdataset(path, "lat_bnds"));
    ASSERT_NE(by_name, nullptr);
    EXPECT_EQ(pixels(by_name), counting<double>(6));
}

TEST(Subdatasets, OfASetWithOneRasterAreThatRaster) {
    Set set;
    set.values({"x", {3}, "<i4", {}, {"x"}}, bytes_of(counting<int32_t>(3)));
    add_small_array(set);
    const Dataset dataset = open("REFS:" + set.save());
    ASSERT_NE(dataset, nullptr);
    ASSERT_EQ(GDALGetRasterCount(dataset.get()), 1);
    EXPECT_EQ(pixels(dataset), counting<double>(6));
}

TEST(Subdatasets, OfASetOfOneVariableAreThatVariableAtEveryRank) {
    Set line;
    line.values({"x", {3}, "<i4", {}, {"x"}}, bytes_of(counting<int32_t>(3)));
    line.array({"crs", {}, "<i4"});
    line.values({"v", {3}, "<i4", {}, {"x"}, R"("grid_mapping": "crs")"},
                bytes_of<int32_t>({4, 5, 6}));
    const Dataset row = open("REFS:" + line.save());
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(GDALGetRasterYSize(row.get()), 1);
    EXPECT_EQ(pixels(row), (std::vector<double>{4, 5, 6}));

    Set point;
    point.values({"v", {}}, bytes_of<int32_t>({7}));
    EXPECT_EQ(pixels(open("REFS:" + point.save())), std::vector<double>{7});

    Set axis;
    axis.values({"x", {3}, "<i4", {}, {"x"}}, bytes_of(counting<int32_t>(3)));
    EXPECT_EQ(pixels(open("REFS:" + axis.save())), (std::vector<double>{0, 1, 2}));
}

TEST(Subdatasets, OfFewerDimensionsAreCountedWhereThereIsNothingElse) {
    Set set;
    set.values({"x", {3}, "<i4", {}, {"x"}}, bytes_of(counting<int32_t>(3)));
    set.values({"v", {3}, "<i4", {}, {"x"}}, bytes_of(counting<int32_t>(3)));
    set.values({"w", {}}, bytes_of<int32_t>({7}));
    set.array({"strings", {2, 3}, "|S8"});
    const std::string path = set.save();
    const ErrorLog log;
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    EXPECT_TRUE(listed(dataset).empty());
    EXPECT_EQ(log.warnings(),
              std::vector<std::string>{path +
                                       ": 3 arrays are not listed, because they have fewer than "
                                       "two dimensions: open one by its name, as " +
                                       subdataset(path, "v") + ", or set LIST_ALL_ARRAYS=YES"});
}

TEST(Subdatasets, AreAllArraysWhereThatIsAskedFor) {
    Set set;
    set.values({"x", {3}, "<i4", {}, {"x"}}, bytes_of(counting<int32_t>(3)));
    set.values({"s", {}}, bytes_of<int32_t>({7}));
    set.array({"x_bnds", {3, 2}, "<f8"});
    set.array({"strings", {2, 3}, "|S8"});
    add_small_array(set);
    const std::string path = set.save();
    const Dataset dataset = open("REFS:" + path, {"LIST_ALL_ARRAYS=YES"});
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(listed(dataset),
              (std::vector<std::string>{subdataset(path, "x"), subdataset(path, "s"),
                                        subdataset(path, "x_bnds"), subdataset(path, "v")}));
    EXPECT_EQ(listed(dataset, "DESC")[1], "[] s (32-bit integer)");
    for (const std::string &name : listed(dataset)) EXPECT_NE(open(name), nullptr) << name;
}

TEST(Subdatasets, ThatCannotBeUnderstoodAreListedWithTheReason) {
    Set set;
    set.json("bad/.zarray", R"({"zarr_format": 2, "chunks": [2], "dtype": "<i4"})");
    add_small_array(set, "v");
    add_small_array(set, "w");
    const std::string path = set.save();
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(listed(dataset),
              (std::vector<std::string>{subdataset(path, "bad"), subdataset(path, "v"),
                                        subdataset(path, "w")}));
    const std::string said = listed(dataset, "DESC")[0];
    EXPECT_EQ(said.find("/bad cannot be opened: "), 0u) << said;
    EXPECT_NE(said.find("shape"), std::string::npos) << said;
    const ErrorLog log;
    EXPECT_EQ(open(subdataset(path, "bad")), nullptr);
    EXPECT_NE(log.text().find("shape"), std::string::npos) << log.text();
}

TEST(Subdatasets, AreNoneInAnEmptySet) {
    write_file(memory_path("empty.json"), R"({"version": 1, "refs": {".zgroup":
        "{\"zarr_format\": 2}", ".zattrs": "{\"title\": \"nothing\"}"}})");
    const Dataset dataset = open("REFS:" + memory_path("empty.json"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_TRUE(listed(dataset).empty());
    EXPECT_EQ(item(dataset.get(), "NC_GLOBAL#title"), "nothing");
}

TEST(Subdatasets, LeaveOutWhatIsNoRaster) {
    Set set;
    set.array({"strings", {2, 3}, "|S8"});
    set.array({"nothing", {0, 3}});
    add_small_array(set, "v");
    add_small_array(set, "w");
    const std::string path = set.save();
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    for (const std::string &name : listed(dataset))
        EXPECT_EQ(name.find("strings"), std::string::npos) << name;
    EXPECT_EQ(pixels(open(subdataset(path, "w"))), counting<double>(6));
}

TEST(Subdatasets, KeepArraysWhoseMetadataCannotBeReadFromHidingOthers) {
    Set set;
    set.json("broken/.zarray", R"("{\"shape\": [2")");
    set.array({"strange", {2, 3}, "<q9"});
    add_small_array(set, "v");
    const std::string path = set.save();
    ErrorLog log;
    const Dataset dataset = open(subdataset(path, "v"));
    ASSERT_NE(dataset, nullptr) << log.text();
    EXPECT_EQ(pixels(dataset), counting<double>(6));
    EXPECT_EQ(open(subdataset(path, "strange")), nullptr);
    ASSERT_EQ(log.failures().size(), 1u) << log.text();
    EXPECT_NE(log.text().find("<q9"), std::string::npos) << log.text();
}

TEST(Subdatasets, LeaveOutReducedImagesAndMasksUnlessAllAreWanted) {
    Set set;
    set.attributes("", R"("multiscales": [{"datasets": [{"path": "0"}, {"path": "1"}]}])");
    set.array({"0", {4, 4}, "<i4", {}, {}, R"("tiff_mask": "mask")"}).array({"1", {2, 2}});
    set.array({"mask", {4, 4}});
    const std::string path = set.save();
    EXPECT_EQ(listed(open("REFS:" + path)), std::vector<std::string>{subdataset(path, "0")});
    EXPECT_EQ(listed(open("REFS:" + path, {"LIST_ALL_ARRAYS=YES"})).size(), 3u);
}

TEST(Subdatasets, OfOneRasterAndItsLongitudesAndLatitudesAreThatRaster) {
    Set set;
    set.array({"lat", {2, 3}, "<f4", {}, {"y", "x"}, R"("units": "degrees_north")"});
    set.array({"lon", {2, 3}, "<f4", {}, {"y", "x"}, R"("standard_name": "longitude")"});
    set.array({"nee", {4, 2, 3}, "<i4", {}, {"time", "y", "x"}});
    EXPECT_EQ(GDALGetRasterCount(open("REFS:" + set.save()).get()), 4);
}

TEST(Subdatasets, CarryGlobalAttributesAtTheRoot) {
    const Dataset dataset = open("REFS:" + sample("sample.json"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(item(dataset.get(), "NC_GLOBAL#Conventions"), "CF-1.8");
    EXPECT_EQ(item(dataset.get(), "NC_GLOBAL#institution"), "REFS");
}

TEST(Subdatasets, AnswerForSingleItems) {
    const std::string path = sample("sample.json");
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    const char *name = GDALGetMetadataItem(dataset.get(), "SUBDATASET_2_NAME", "SUBDATASETS");
    ASSERT_NE(name, nullptr);
    EXPECT_EQ(name, subdataset(path, "z"));
}

/* -- lists of sets ----------------------------------------------------------------------------- */

namespace {

std::string list_of_sets() {
    Set first, second;
    add_small_array(first, "a");
    add_small_array(second, "b");
    add_small_array(second, "c");
    const std::string path = memory_path("list.json");
    write_file(path, "[" + first.document() + ", " + second.document(0) + "]");
    return path;
}

} // namespace

TEST(SetList, IsListedAsSubdatasets) {
    const std::string path = list_of_sets();
    const Dataset dataset = open(path);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(item(dataset.get(), "REFERENCE_SETS"), "2");
    EXPECT_EQ(listed(dataset),
              (std::vector<std::string>{"REFS:\"" + path + "\":#0", "REFS:\"" + path + "\":#1"}));
    EXPECT_EQ(
        listed(dataset, "DESC"),
        (std::vector<std::string>{"set 0: [1x6] a (32-bit integer)",
                                  "set 1: [1x6] b (32-bit integer); [1x6] c (32-bit integer)"}));
}

TEST(SetList, HasNamesInADictionary) {
    Set set;
    add_small_array(set, "a");
    const std::string path = memory_path("dictionary.json");
    write_file(path, "{\"wind\": " + set.document() + ", \"rain\": {}}");
    const Dataset dataset = open("REFS:" + path);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(listed(dataset, "DESC"),
              (std::vector<std::string>{"set 0 (wind): [1x6] a (32-bit integer)", "set 1 (rain)"}));
}

TEST(SetList, TellsParametersAndLevelsButNoCoordinates) {
    Set set;
    set.attributes("", R"("coordinates": "isobaricInhPa latitude")");
    set.array({"u", {33, 49}, "<f4", {}, {}, R"("standard_name": "unknown", "long_name":
        "U component of wind", "GRIB_typeOfLevel": "isobaricInhPa")"});
    set.array({"latitude", {33, 49}, "<f4"});
    set.values({"isobaricInhPa", {}, "<f8"}, bytes_of<double>({250}));
    const std::string path = memory_path("grib.json");
    write_file(path, "[" + set.document() + ", {}]");
    EXPECT_EQ(listed(open(path), "DESC"),
              (std::vector<std::string>{
                  "set 0: [33x49] U component of wind, isobaricInhPa 250 (32-bit floating-point)",
                  "set 1"}));
}

TEST(SetList, TellsOnlyTheFirstOfManyArrays) {
    Set set;
    for (int i = 0; i < 100; i++) add_small_array(set, "array_" + std::to_string(i));
    const std::string path = memory_path("many.json");
    write_file(path, "[" + set.document() + ", " + set.document() + "]");
    const std::string told = listed(open(path), "DESC")[0];
    EXPECT_EQ(told.find("set 0: [1x6] array_0 (32-bit integer); [1x6] array_1 "), 0u) << told;
    EXPECT_EQ(told.substr(told.size() - 5), "; ...") << told;
    EXPECT_LT(told.size(), 220u);
}

TEST(SetList, OpensOneSetByNameOrOption) {
    const std::string path = list_of_sets();
    const std::vector<std::string> expected = {"REFS:\"" + path + "\":#1/b",
                                               "REFS:\"" + path + "\":#1/c"};
    EXPECT_EQ(listed(open("REFS:\"" + path + "\":#1")), expected);
    EXPECT_EQ(listed(open("REFS:" + path + ":#1")), expected);
    EXPECT_EQ(listed(open("REFS:" + path, {"SET=1"})), expected);
    EXPECT_EQ(listed(open(path, {"SET=1"})), expected);
    for (const std::string &name : expected)
        EXPECT_EQ(pixels(open(name)), (std::vector<double>{0, 1, 2, 3, 4, 5})) << name;
    EXPECT_EQ(pixels(open("REFS:" + path + ":#0")), (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(SetList, OfOneSetIsThatSet) {
    Set set;
    add_small_array(set, "a");
    const std::string path = memory_path("one.json");
    write_file(path, "[" + set.document() + "]");
    for (const std::string &name : {"REFS:" + path, "REFS:\"" + path + "\":/a"})
        EXPECT_EQ(pixels(open(name)), (std::vector<double>{0, 1, 2, 3, 4, 5})) << name;
}

TEST(SetList, OfSeveralAsksWhichOneAnArrayIsOf) {
    const ErrorLog log;
    EXPECT_EQ(open("REFS:\"" + list_of_sets() + "\":/b"), nullptr);
    EXPECT_NE(log.text().find("has 2 sets: choose the one of /b"), std::string::npos) << log.text();
}

TEST(SetList, RefusesNumbersThatMakeNoSense) {
    const std::string path = list_of_sets();
    const std::pair<std::string, const char *> rows[] = {
        {"#2", "no set 2: the file has 2, counted from 0"},
        {"#", "the number of a set and the path of an array may follow \"#\""},
        {"#1x", "the number of a set and the path of an array may follow \"#\""},
        {"#12345678901234567890", "the number of a set and the path of an array"},
        {"#1/a", "there is no array /a"}};
    for (const auto &[name, message] : rows) {
        const ErrorLog log;
        EXPECT_EQ(open("REFS:\"" + path + "\":" + name), nullptr) << name;
        EXPECT_NE(log.text().find(message), std::string::npos) << log.text();
    }
    const ErrorLog log;
    EXPECT_EQ(open("REFS:\"" + path + "\":#1", {"SET=0"}), nullptr);
    EXPECT_NE(log.text().find("the name selects set 1, but the option SET=0"), std::string::npos)
        << log.text();
}

TEST(SetList, OpensCompressedSetsByTheirContent) {
    Set set;
    add_small_array(set, "a");
    for (const char *compressor : {"gzip", "zstd"}) {
        const std::string path = memory_path(std::string("set.") + compressor);
        write_file(path, compressed(compressor, set.document()));
        const Dataset dataset = open(path);
        ASSERT_NE(dataset, nullptr) << compressor;
        EXPECT_EQ(pixels(dataset), (std::vector<double>{0, 1, 2, 3, 4, 5}));
    }
}
