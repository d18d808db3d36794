/* longitudes_test.cc -- rasters of longitudes beyond 180, and what lies beside a raster: latitudes
 * of Gaussian grids, colours. */
#include "driver_test.h"

using namespace refs_test;

namespace {

/** An array "v" of two rows of three, north first. */
Dataset open_rows(const std::vector<float> &values, const std::string &attributes,
                  std::vector<uint64_t> chunks = {}) {
    Set set;
    set.axes(2, 3);
    Array array{"v", {2, 3}, "<f4", std::move(chunks), {"lat", "lon"}, attributes, "-99.0"};
    if (array.chunks.empty())
        set.values(array, bytes_of(values));
    else
        set.array(array);
    for (size_t row = 0; row < 2 && !array.chunks.empty(); row++)
        set.bytes("v/" + std::to_string(row) + ".0",
                  bytes_of(std::vector<float>(values.begin() + 3 * static_cast<long>(row),
                                              values.begin() + 3 * static_cast<long>(row + 1))));
    return open(subdataset(set.save(), "v"));
}

const char *const east = R"("units": "degrees_east")";

} // namespace

TEST(Longitudes, AreMovedWhereTheFirstRowLiesBeyond180) {
    const Dataset dataset = open_rows({181, 190, 200, 182, -99, 300}, east);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels(dataset), (std::vector<double>{-179, -170, -160, -178, -99, -60}));
}

TEST(Longitudes, AreMovedUntilABlockStays) {
    for (const std::vector<uint64_t> &chunks : {std::vector<uint64_t>{}, {1, 3}}) {
        const Dataset dataset = open_rows({181, 190, 200, 190, 20, 30}, east, chunks);
        ASSERT_NE(dataset, nullptr);
        EXPECT_EQ(pixels(dataset), (std::vector<double>{-179, -170, -160, 190, 20, 30}));
    }
}

TEST(Longitudes, StayInBlocksBehindOneThatStays) {
    const Dataset dataset = open_rows({10, 190, 200, 190, 200, 210}, east, {1, 3});
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels(dataset), (std::vector<double>{10, 190, 200, 190, 200, 210}));
}

/* Five rows, shown from the last to the first, in chunks of three: the first row that is shown lies
 * in the second chunk, but the netCDF driver looks at the first one before. */
TEST(Longitudes, AreTheSameInEveryWindow) {
    Set set;
    set.array({"v", {2, 5, 2}, "<f4", {1, 3, 2}, {"t", "lon", "nv"}, east, "-99.0"});
    for (const char *band : {"0", "1"}) {
        set.bytes("v/" + std::string(band) + ".0.0",
                  bytes_of(std::vector<float>{300, 301, 250, 251, 100, 101}));
        set.bytes("v/" + std::string(band) + ".1.0",
                  bytes_of(std::vector<float>{99, 98, 50, 51, 0, 0}));
    }
    const std::string name = subdataset(set.save(), "v");
    const std::vector<double> expected = {50, 51, 99, 98, -260, -259, -110, -109, -60, -59};
    EXPECT_EQ(pixels(open(name), 2), expected);
    for (int row = 4; row >= 0; row--) {
        const Dataset dataset = open(name);
        double pixel = 0;
        EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), 1), GF_Read, 1, row, 1, 1, &pixel,
                               1, 1, GDT_Float64, 0, 0),
                  CE_None);
        EXPECT_EQ(pixel, expected[static_cast<size_t>(2 * row + 1)]) << row;
    }
}

TEST(Longitudes, StayWhereAnEndOfTheFirstRowDoesNotLieBeyond) {
    for (const std::vector<float> &values : {std::vector<float>{180, 190, 200, 200, 210, 220},
                                             {181, 190, 100, 200, 210, 220},
                                             {-99, 190, 200, 200, 210, 220}}) {
        const Dataset dataset = open_rows(values, east);
        ASSERT_NE(dataset, nullptr);
        EXPECT_EQ(pixels<float>(dataset), values);
    }
}

TEST(Longitudes, AreTheOnlyOnesToBeMoved) {
    const std::vector<float> values = {181, 190, 200, 182, 210, 300};
    for (const char *attributes :
         {R"("units": "K")", R"("standard_name": "longitude", "units": "m")"}) {
        const Dataset dataset = open_rows(values, attributes);
        ASSERT_NE(dataset, nullptr);
        EXPECT_EQ(pixels<float>(dataset), values) << attributes;
    }
}

TEST(ValidRange, HoldsAlsoWhereNodataIsNotANumber) {
    const Dataset dataset =
        open_rows({1, 2, 3, 4, 5, 6}, R"("_FillValue": "NaN", "valid_range": [2, 5])");
    ASSERT_NE(dataset, nullptr);
    const std::vector<double> values = pixels(dataset);
    ASSERT_EQ(values.size(), 6u);
    EXPECT_NE(values[0], values[0]);
    EXPECT_EQ(values[1], 2);
    EXPECT_NE(values[5], values[5]);
}

TEST(ValidRange, HoldsAlsoForWideIntegers) {
    Set set;
    set.axes(1, 3).values(
        {"v", {1, 3}, "<i8", {}, {"lat", "lon"}, R"("valid_range": [2, 5])", "-9007199254740993"},
        bytes_of<int64_t>({1, 5, 9007199254740993}));
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels<int64_t>(dataset),
              (std::vector<int64_t>{-9007199254740993, 5, -9007199254740993}));
}

TEST(GaussianGrid, KeepsItsLatitudes) {
    Set set;
    set.values({"lat", {3}, "<f8", {}, {"lat"}, R"("units": "degrees_north")"},
               bytes_of<double>({10, 7.05, 4}));
    set.values({"lon", {2}, "<f8", {}, {"lon"}, R"("units": "degrees_east")"},
               bytes_of<double>({0, 3}));
    set.values({"v", {3, 2}, "<i4", {}, {"lat", "lon"}}, bytes_of(counting<int32_t>(6)));
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(item(dataset.get(), "Y_VALUES", "GEOLOCATION2"), "{10,7.05,4}");
}

TEST(Flags, HaveAColourTable) {
    Set set;
    set.axes(1, 3).values({"v",
                           {1, 3},
                           "|u1",
                           {},
                           {"lat", "lon"},
                           R"("flag_values": [0, 10], "flag_meanings": "none wood",
                              "flag_colors": "#000000 #006400")"},
                          std::string("\x00\x0a\x0a", 3));
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    GDALRasterBandH band = GDALGetRasterBand(dataset.get(), 1);
    EXPECT_EQ(GDALGetRasterColorInterpretation(band), GCI_PaletteIndex);
    GDALColorTableH table = GDALGetRasterColorTable(band);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(GDALGetColorEntryCount(table), 11);
    EXPECT_EQ(GDALGetColorEntry(table, 10)->c2, 100);
    EXPECT_EQ(GDALGetColorEntry(table, 5)->c4, 0);
}
