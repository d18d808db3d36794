/* selection_test.cc -- parts of band axes that names select, and what bands and values are called.
 */
#include "driver_test.h"

#include <algorithm>

#include <cpl_string.h>

using namespace refs_test;

namespace {

/** An array "v" of four times, three levels and a picture of 2 by 2, whose pixels count. */
std::string cube() {
    Set set;
    set.axes(2, 2);
    set.values({"time", {4}, "<f8", {}, {"time"}, R"("units": "hours since 2020-01-01")"},
               bytes_of<double>({0, 6, 12, 24}));
    set.values({"level", {3}, "<f4", {}, {"level"}, R"("units": "hPa")"},
               bytes_of<float>({1000, 850, 500}));
    set.values({"v", {4, 3, 2, 2}, "<i4", {}, {"time", "level", "lat", "lon"}},
               bytes_of(counting<int32_t>(48)));
    return set.save();
}

std::string selected(const std::string &path, const std::string &selection) {
    return subdataset(path, "v") + "[" + selection + "]";
}

/** The first pixel of each band of the cube, as bands of the whole: from 0. */
std::vector<int> bands_of(const Dataset &dataset) {
    std::vector<int> bands;
    for (int band = 1; band <= GDALGetRasterCount(dataset.get()); band++)
        bands.push_back(pixels<int32_t>(dataset, band).at(0) / 4);
    return bands;
}

std::string failure_of_opening(const std::string &name) {
    const ErrorLog log;
    EXPECT_EQ(open(name), nullptr) << name;
    return log.text();
}

} // namespace

TEST(Selection, KeepsBandsInTheirOrder) {
    const std::string path = cube();
    const std::pair<const char *, std::vector<int>> rows[] = {
        {"time=#1", {3, 4, 5}},
        {"level=#1", {1, 4, 7, 10}},
        {"time=#1:#2", {3, 4, 5, 6, 7, 8}},
        {"time=#1:#2,level=#0:#1", {3, 4, 6, 7}},
        {"time=#3,level=#0:#1", {9, 10}},
        {"time=2020-01-01T06:00,level=850", {4}},
        {"level=900:400,time=2020-01-01T12:2020-01", {7, 8, 10, 11}},
    };
    for (const auto &[selection, bands] : rows) {
        const Dataset dataset = open(selected(path, selection));
        ASSERT_NE(dataset, nullptr) << selection;
        EXPECT_EQ(bands_of(dataset), bands) << selection;
    }
}

TEST(Selection, ReadsAllBandsAtOnceAsOneByOne) {
    const std::string path = cube();
    for (const char *selection :
         {"time=#1:#3", "level=#1:#2", "time=#1:#2,level=#1:#2", "time=#3,level=#2"}) {
        const Dataset dataset = open(selected(path, selection));
        ASSERT_NE(dataset, nullptr) << selection;
        const int n = GDALGetRasterCount(dataset.get());
        std::vector<int32_t> together(static_cast<size_t>(n) * 4);
        ASSERT_EQ(GDALDatasetRasterIO(dataset.get(), GF_Read, 0, 0, 2, 2, together.data(), 2, 2,
                                      GDT_Int32, n, nullptr, 0, 0, 0),
                  CE_None);
        EXPECT_EQ(together, all_pixels<int32_t>(dataset)) << selection;
    }
}

TEST(Selection, TellsOnceWhereANumberIsAValueAndAnIndex) {
    Set set;
    set.axes(1, 2);
    set.values({"number", {10}, "<i4", {}, {"number"}},
               bytes_of<int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    set.values({"v", {10, 1, 2}, "<i4", {}, {"number", "lat", "lon"}},
               bytes_of(counting<int32_t>(20)));
    const std::string path = set.save();
    const struct {
        const char *selection;
        int pixel;
        size_t n_warnings;
    } rows[] = {{"number=5", 8, 1}, {"number=#5", 10, 0}, {"number=5.", 8, 0}};
    for (const auto &row : rows) {
        const ErrorLog log;
        const Dataset dataset = open(selected(path, row.selection));
        ASSERT_NE(dataset, nullptr) << row.selection;
        EXPECT_EQ(pixels<int32_t>(dataset)[0], row.pixel) << row.selection;
        EXPECT_EQ(log.warnings().size(), row.n_warnings) << row.selection;
    }
}

TEST(Selection, NamesWhatItOpened) {
    const std::string name = selected(cube(), "time=2020-01-01T06:00,level=850");
    const Dataset dataset = open(name);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetDescription(dataset.get()), name);
    EXPECT_EQ(bands_of(open(GDALGetDescription(dataset.get()))), std::vector<int>{4});
}

TEST(Selection, WorksInNamesWithoutQuotesAndWithoutAnArrayWhereThereIsOne) {
    const std::string path = cube();
    EXPECT_EQ(bands_of(open("REFS:" + path + ":v[time=#0,level=#2]")), std::vector<int>{2});
    EXPECT_EQ(bands_of(open("REFS:" + path + ":v[time=2020-01-01T06:00,level=#2]")),
              std::vector<int>{5});
    EXPECT_EQ(bands_of(open("REFS:\"" + path + "\":[time=#0,level=#2]")), std::vector<int>{2});
}

TEST(Selection, ShowsInMetadata) {
    const Dataset dataset = open(selected(cube(), "time=#2:#3,level=850"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(item(dataset.get(), "NETCDF_DIM_time_VALUES"), "{12,24}");
    const GDALRasterBandH band = GDALGetRasterBand(dataset.get(), 2);
    EXPECT_EQ(item(band, "TIME"), "2020-01-02T00:00:00");
    EXPECT_EQ(item(band, "NETCDF_DIM_level"), "850");
    EXPECT_STREQ(GDALGetDescription(band), "time=2020-01-02T00:00:00 level=850");
}

TEST(Bands, HaveTheNamesOfTheirValues) {
    Set set;
    set.values({"v", {1, 2}, "|u1", {}, {}, R"("flag_values": [2, 0], "flag_meanings": "ice sea")"},
               std::string("\x00\x02", 2));
    const Dataset dataset = open("REFS:" + set.save());
    ASSERT_NE(dataset, nullptr);
    char **names = GDALGetRasterCategoryNames(GDALGetRasterBand(dataset.get(), 1));
    ASSERT_EQ(CSLCount(names), 3);
    EXPECT_STREQ(names[0], "sea");
    EXPECT_STREQ(names[1], "");
    EXPECT_STREQ(names[2], "ice");
}

TEST(Bands, OfArraysWithoutFlagsHaveNoNamesOfValues) {
    const Dataset dataset = open(subdataset(cube(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetRasterCategoryNames(GDALGetRasterBand(dataset.get(), 1)), nullptr);
}

TEST(Selection, KeepsStatisticsApartFromThoseOfTheWhole) {
    const std::string path = cube();
    const auto least = [](const std::string &name) {
        const Dataset dataset = open(name);
        double minimum = -1;
        EXPECT_EQ(GDALGetRasterStatistics(GDALGetRasterBand(dataset.get(), 1), FALSE, TRUE,
                                          &minimum, nullptr, nullptr, nullptr),
                  CE_None);
        return minimum;
    };
    EXPECT_EQ(least(subdataset(path, "v")), 0);
    EXPECT_EQ(least(selected(path, "time=#1")), 12);
    EXPECT_EQ(least(selected(path, "time=#1")), 12) << "kept beside the set";
    EXPECT_EQ(least(subdataset(path, "v")), 0);
}

TEST(Selection, SaysWhatThereIsWhereItFindsNothing) {
    const std::string path = cube();
    EXPECT_NE(failure_of_opening(selected(path, "level=700")).find("there are 3: 1000, 850, 500"),
              std::string::npos);
    EXPECT_NE(failure_of_opening(selected(path, "lon=1")).find("lon is an axis of the raster"),
              std::string::npos);
}

TEST(Selection, SaysWhatIsWrongWithItsBrackets) {
    const std::string path = cube();
    const std::pair<const char *, const char *> rows[] = {
        {"/v[time=2", "/v[time=2: the bracket is not closed, as it is in /v[time=2]"},
        {"[time=2", "[time=2: the bracket is not closed"},
        {"/v[]", "/v[]: the bracket is empty: leave it out, or write /v[axis=value]"},
        {"[]", "[]: the bracket is empty"},
        {"/v[time=2]x", "/v[time=2]x: nothing may follow the bracket, as in /v[axis=value]"},
        {"/v[level=850][time=0]",
         "write several dimensions in one bracket, as in /v[level=850,time=0]"},
        {"/w[level=850][time=0]", "there is no array /w[level=850]"},
        {"/w[]", "there is no array /w[]"},
        {"/w[time=2", "there is no array /w[time=2"},
    };
    for (const auto &[part, said] : rows) {
        const std::string failure = failure_of_opening("REFS:\"" + path + "\":" + part);
        EXPECT_NE(failure.find(said), std::string::npos) << failure;
    }
}

TEST(Selection, MayFollowASlashAndAnArrayMayEndInOne) {
    const std::string path = cube();
    EXPECT_EQ(bands_of(open("REFS:\"" + path + "\":/v/")).size(), 12u);
    EXPECT_EQ(bands_of(open("REFS:\"" + path + "\":v/[time=#0,level=#2]")), std::vector<int>{2});
}

TEST(Selection, ThatIsNotClosedMayHoldColons) {
    const std::string path = cube(), part = "v[time=2020-01-01T06:00";
    for (const std::string &name : {"REFS:\"" + path + "\":" + part, "REFS:" + path + ":" + part}) {
        const std::string failure = failure_of_opening(name);
        EXPECT_NE(failure.find(path + ": " + part + ": the bracket is not closed, as it is in " +
                               part + "]"),
                  std::string::npos)
            << failure;
    }
    for (const char *name : {"s.json[time=2020-01-01T06:00", "s.json[time=2"})
        EXPECT_NE(failure_of_opening(std::string("REFS:") + name)
                      .find("a selection follows the name of an array"),
                  std::string::npos)
            << name;
}

TEST(Selection, OfARemoteSetFollowsTheNameOfAnArrayToo) {
    for (const char *name : {"http://127.0.0.1:1/s.json[time=#0]", "s3://bucket/s.json[time=2020]"})
        EXPECT_NE(failure_of_opening(std::string("REFS:") + name)
                      .find("a selection follows the name of an array, as in set:array[time="),
                  std::string::npos)
            << name;
}

TEST(Selection, OfAMisspeltAxisNamesTheOneThatIsMeant) {
    const std::string path = cube();
    for (const char *name : {"Time", "tme", "tiem", "timee"}) {
        const std::string failure = failure_of_opening("REFS:\"" + path + "\":v[" + name + "=#0]");
        EXPECT_NE(failure.find("did you mean time? band axes: "), std::string::npos) << failure;
    }
    EXPECT_EQ(failure_of_opening("REFS:\"" + path + "\":v[xyz=#0]").find("did you mean"),
              std::string::npos);
}

TEST(Selection, OfNoArrayListsDataBeforeCoordinates) {
    Set set;
    set.array({"lat", {2, 2}, "<i4", {}, {"y", "x"}});
    set.array({"v", {2, 2}, "<i4", {}, {"y", "x"}, R"("coordinates": "lat")"});
    const std::string failure = failure_of_opening("REFS:\"" + set.save() + "\":pressure");
    EXPECT_NE(failure.find("there are /v, /lat"), std::string::npos) << failure;
}

TEST(Selection, NeedsAnArray) {
    Set set;
    add_small_array(set, "v");
    add_small_array(set, "w");
    EXPECT_NE(failure_of_opening("REFS:\"" + set.save() + "\":[time=1]").find("[time=1]"),
              std::string::npos);
}

TEST(Selection, OpensPartOfAnArrayOfTooManyBands) {
    Set set;
    set.array({"v", {1000, 1000, 2, 2}, "<i4", {1, 1, 2, 2}, {"time", "level", "y", "x"}});
    set.bytes("v/700.999.0.0", bytes_of(counting<int32_t>(4)));
    const std::string path = set.save();
    const std::string failure = failure_of_opening(subdataset(path, "v"));
    EXPECT_NE(failure.find("more bands than the limit of 65536"), std::string::npos) << failure;
    EXPECT_NE(failure.find("time (1000), level (1000)"), std::string::npos) << failure;
    const ErrorLog log;
    const Dataset list = open("REFS:" + path);
    ASSERT_NE(list, nullptr);
    EXPECT_STREQ(GDALGetMetadataItem(list.get(), "SUBDATASET_1_NAME", "SUBDATASETS"),
                 subdataset(path, "v").c_str());
    ASSERT_EQ(log.warnings().size(), 1u);
    EXPECT_NE(log.warnings()[0].find("as in /v[time=#0:#99]"), std::string::npos);
    const Dataset dataset = open(selected(path, "time=700,level=998:999"));
    ASSERT_NE(dataset, nullptr);
    ASSERT_EQ(GDALGetRasterCount(dataset.get()), 2);
    std::vector<int32_t> values = pixels<int32_t>(dataset, 2);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, counting<int32_t>(4)) << "in whichever order the rows are shown";
}
