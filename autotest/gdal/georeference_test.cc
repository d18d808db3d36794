/* georeference_test.cc -- where on Earth the pixels are, and what bands say of themselves. */
#include "driver_test.h"

#include <cmath>

#include <cpl_conv.h>
#include <cpl_string.h>
#include <ogr_srs_api.h>

using namespace refs_test;

namespace {

/** A grid of 4 rows and 5 columns with coordinate variables of any names and attributes. */
struct Grid {
    std::string y_name = "lat", x_name = "lon";
    std::string y_attributes = "", x_attributes = "";
    std::vector<double> y = {53, 52, 51, 50};
    std::vector<double> x = {10, 10.5, 11, 11.5, 12};
    std::string attributes = ""; /**< of the variable */
};

Set grid_set(const Grid &grid) {
    Set set;
    set.values({grid.y_name, {4}, "<f8", {}, {grid.y_name}, grid.y_attributes}, bytes_of(grid.y));
    set.values({grid.x_name, {5}, "<f8", {}, {grid.x_name}, grid.x_attributes}, bytes_of(grid.x));
    return set.values({"v", {4, 5}, "<i4", {}, {grid.y_name, grid.x_name}, grid.attributes},
                      bytes_of(counting<int32_t>(20)));
}

Dataset open_grid(const Grid &grid, const std::vector<std::string> &options = {}) {
    return open(subdataset(grid_set(grid).save(), "v"), options);
}

/** The geotransform; empty without one. */
std::vector<double> geotransform(const Dataset &dataset) {
    std::vector<double> coefficients(6);
    if (GDALGetGeoTransform(dataset.get(), coefficients.data()) != CE_None) return {};
    return coefficients;
}

const std::vector<double> grid_geotransform = {9.75, 0.5, 0, 53.5, 0, -1};

/** The EPSG code of the dataset's CRS; "" without one. */
std::string epsg(const Dataset &dataset) {
    OGRSpatialReferenceH crs = GDALGetSpatialRef(dataset.get());
    const char *code = crs ? OSRGetAuthorityCode(crs, nullptr) : nullptr;
    return code ? code : "";
}

std::string wkt_of_epsg(int code, const char *format = "WKT1_GDAL") {
    OGRSpatialReferenceH crs = OSRNewSpatialReference(nullptr);
    EXPECT_EQ(OSRImportFromEPSG(crs, code), OGRERR_NONE);
    const std::string option = std::string("FORMAT=") + format;
    const char *const options[] = {option.c_str(), nullptr};
    char *text = nullptr;
    EXPECT_EQ(OSRExportToWktEx(crs, &text, options), OGRERR_NONE);
    const std::string wkt = text;
    CPLFree(text);
    OSRDestroySpatialReference(crs);
    return wkt;
}

} // namespace

/* -- as the netCDF driver has it --------------------------------------------------------------- */

class SampleAgainstNetcdf : public testing::TestWithParam<const char *> {
  protected:
    void SetUp() override {
        if (!has_netcdf_driver()) GTEST_SKIP() << "GDAL has no netCDF driver that works";
        ours = open(subdataset(sample("sample.json"), GetParam()));
        theirs = open("NETCDF:\"" + sample("sample.nc") + "\":" + GetParam());
        ASSERT_NE(ours, nullptr);
        ASSERT_NE(theirs, nullptr);
        ASSERT_EQ(GDALGetRasterCount(ours.get()), GDALGetRasterCount(theirs.get()));
    }
    Dataset ours, theirs;
};

INSTANTIATE_TEST_SUITE_P(Variables, SampleAgainstNetcdf, testing::Values("t2m", "z"),
                         [](const auto &variable) { return std::string(variable.param); });

TEST_P(SampleAgainstNetcdf, HasTheSameSizeAndPlace) {
    EXPECT_EQ(GDALGetRasterXSize(ours.get()), GDALGetRasterXSize(theirs.get()));
    EXPECT_EQ(GDALGetRasterYSize(ours.get()), GDALGetRasterYSize(theirs.get()));
    EXPECT_EQ(geotransform(ours), geotransform(theirs));
}

TEST_P(SampleAgainstNetcdf, HasTheSamePixels) {
    EXPECT_EQ(all_pixels(ours), all_pixels(theirs));
}

TEST_P(SampleAgainstNetcdf, HasTheSamePackingAndUnit) {
    for (int i = 1; i <= GDALGetRasterCount(ours.get()); i++) {
        GDALRasterBandH a = GDALGetRasterBand(ours.get(), i);
        GDALRasterBandH b = GDALGetRasterBand(theirs.get(), i);
        int has_a = FALSE, has_b = FALSE;
        EXPECT_EQ(GDALGetRasterDataType(a), GDALGetRasterDataType(b));
        const double nodata = GDALGetRasterNoDataValue(a, &has_a);
        const double expected = GDALGetRasterNoDataValue(b, &has_b);
        EXPECT_EQ(has_a, has_b);
        if (has_a && has_b) {
            EXPECT_EQ(nodata, expected);
        }
        EXPECT_EQ(GDALGetRasterScale(a, &has_a), GDALGetRasterScale(b, &has_b));
        EXPECT_EQ(GDALGetRasterOffset(a, &has_a), GDALGetRasterOffset(b, &has_b));
        EXPECT_STREQ(GDALGetRasterUnitType(a), GDALGetRasterUnitType(b));
    }
}

TEST_P(SampleAgainstNetcdf, HasAllItsBandMetadata) {
    for (int i = 1; i <= GDALGetRasterCount(ours.get()); i++) {
        GDALRasterBandH band = GDALGetRasterBand(ours.get(), i);
        CSLConstList items = GDALGetMetadata(GDALGetRasterBand(theirs.get(), i), nullptr);
        for (int k = 0; items && items[k]; k++) {
            char *key = nullptr;
            const std::string value = CPLParseNameValue(items[k], &key);
            /* Writers of sets make it the fill value of the array. */
            if (key != std::string("_FillValue")) {
                EXPECT_EQ(item(band, key), value) << "band " << i << " " << key;
            }
            CPLFree(key);
        }
    }
}

TEST_P(SampleAgainstNetcdf, HasAllItsMetadata) {
    CSLConstList items = GDALGetMetadata(theirs.get(), nullptr);
    for (int k = 0; items && items[k]; k++) {
        char *key = nullptr;
        const std::string value = CPLParseNameValue(items[k], &key);
        if (std::string(key).find("#_FillValue") == std::string::npos) {
            EXPECT_EQ(item(ours.get(), key), value) << key;
        }
        CPLFree(key);
    }
}

/* -- axes -------------------------------------------------------------------------------------- */

/** The first column of what is shown of a grid with so many of them. */
std::vector<int32_t> first_column(const std::vector<double> &latitudes, uint64_t columns) {
    const uint64_t rows = latitudes.size();
    std::vector<int32_t> values;
    for (uint64_t i = 0; i < rows * columns; i++)
        values.push_back(static_cast<int32_t>(i / columns));
    Set set;
    set.values({"lat", {rows}, "<f8", {}, {"lat"}}, bytes_of(latitudes))
        .values({"lon", {columns}, "<f8", {}, {"lon"}}, bytes_of(counting<double>(columns)))
        .values({"v", {rows, columns}, "<i4", {}, {"lat", "lon"}}, bytes_of(values));
    const std::vector<int32_t> shown = pixels<int32_t>(open(subdataset(set.save(), "v")));
    std::vector<int32_t> column;
    for (size_t i = 0; i < shown.size(); i += columns) column.push_back(shown[i]);
    return column;
}

/* PROJ opens its database again in each thread. */
TEST(Crs, IsNotMadeForWhoeverOnlyReads) {
    const char *const nowhere[] = {"/nowhere", nullptr};
    OSRSetPROJSearchPaths(nowhere);
    const ErrorLog log;
    const Dataset dataset = open_grid({});
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels<int32_t>(dataset), counting<int32_t>(20));
    EXPECT_TRUE(log.warnings().empty()) << log.warnings()[0];
    EXPECT_EQ(GDALGetSpatialRef(dataset.get()), nullptr);
    ASSERT_EQ(log.warnings().size(), 1u);
    EXPECT_NE(log.warnings()[0].find("its CRS is not supported"), std::string::npos);
    OSRSetPROJSearchPaths(nullptr);
}

TEST(Rows, LieNorthFirstHoweverManyColumnsThereAre) {
    for (uint64_t columns : {1, 2}) {
        EXPECT_EQ(first_column({53, 52, 51}, columns), (std::vector<int32_t>{0, 1, 2})) << columns;
        EXPECT_EQ(first_column({51, 52, 53}, columns), (std::vector<int32_t>{2, 1, 0})) << columns;
    }
}

TEST(Axes, AreFoundByAxisUnitsStandardNameAndName) {
    const struct {
        const char *why, *y_name, *x_name, *y_attributes, *x_attributes;
    } rows[] = {
        {"axis", "a", "b", R"("axis": "Y")", R"("axis": "X")"},
        {"units", "a", "b", R"("units": "degrees_north")", R"("units": "degrees_east")"},
        {"standard name", "a", "b", R"("standard_name": "latitude")",
         R"("standard_name": "longitude")"},
        {"projected", "a", "b", R"("standard_name": "projection_y_coordinate")",
         R"("standard_name": "projection_x_coordinate")"},
        {"short names", "lat", "lon", "", ""},
        {"long names", "latitude", "longitude", "", ""},
    };
    for (const auto &row : rows) {
        Grid grid;
        grid.y_name = row.y_name;
        grid.x_name = row.x_name;
        grid.y_attributes = row.y_attributes;
        grid.x_attributes = row.x_attributes;
        const Dataset dataset = open_grid(grid);
        ASSERT_NE(dataset, nullptr) << row.why;
        EXPECT_EQ(geotransform(dataset), grid_geotransform) << row.why;
        EXPECT_EQ(pixels(dataset), counting<double>(20)) << row.why;
    }
}

/* As in the netCDF driver: the last dimension runs along the rows, whatever it means. */
TEST(Axes, OfAnArrayWithLatitudeLastStayWhereTheyAre) {
    Set set;
    set.axes(2, 3).values({"v", {3, 2}, "<i4", {}, {"lon", "lat"}}, bytes_of(counting<int32_t>(6)));
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetRasterXSize(dataset.get()), 2);
    EXPECT_EQ(GDALGetRasterYSize(dataset.get()), 3);
    EXPECT_EQ(GDALGetSpatialRef(dataset.get()), nullptr) << "x would be taken for longitude";
}

TEST(Axes, StoredSouthFirstAreShownNorthFirst) {
    Grid grid;
    grid.y = {50, 51, 52, 53};
    const Dataset dataset = open_grid(grid);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(geotransform(dataset), grid_geotransform);
    EXPECT_EQ(pixels(dataset), (std::vector<double>{15, 16, 17, 18, 19, 10, 11, 12, 13, 14,
                                                    5,  6,  7,  8,  9,  0,  1,  2,  3,  4}));
}

TEST(Axes, ThatAreNotRegularGiveNoGeotransform) {
    Grid grid;
    grid.x = {10, 11, 13, 16, 20};
    const Dataset dataset = open_grid(grid);
    ASSERT_NE(dataset, nullptr);
    EXPECT_TRUE(geotransform(dataset).empty());
}

TEST(Axes, WithoutCoordinateVariablesGiveNoPlace) {
    Set set;
    add_small_array(set);
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_TRUE(geotransform(dataset).empty());
    EXPECT_EQ(GDALGetSpatialRef(dataset.get()), nullptr);
}

TEST(Axes, ThatAreAbsentMeanRowsFromSouthToNorthAsInNetcdf) {
    Set set;
    set.values({"v", {2, 3}}, bytes_of(counting<int32_t>(6)));
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(pixels(dataset), (std::vector<double>{3, 4, 5, 0, 1, 2}));
}

/* -- coordinate reference systems -------------------------------------------------------------- */

TEST(Crs, OfLongitudeAndLatitudeAxesIsWgs84UnlessForbidden) {
    Grid grid;
    grid.y_attributes = R"("units": "degrees_north")";
    grid.x_attributes = R"("units": "degrees_east")";
    const Dataset assumed = open_grid(grid);
    ASSERT_NE(assumed, nullptr);
    EXPECT_EQ(epsg(assumed), "4326");
    int count = 0;
    const int *mapping = OSRGetDataAxisToSRSAxisMapping(GDALGetSpatialRef(assumed.get()), &count);
    ASSERT_GE(count, 2);
    EXPECT_EQ(mapping[0], 2) << "x is longitude";
    EXPECT_EQ(mapping[1], 1);

    const Dataset open_question = open_grid(grid, {"ASSUME_LONGLAT=NO"});
    ASSERT_NE(open_question, nullptr);
    EXPECT_EQ(GDALGetSpatialRef(open_question.get()), nullptr);
    EXPECT_EQ(geotransform(open_question), grid_geotransform);
}

TEST(Crs, OfOtherAxesIsNotGuessed) {
    Grid grid;
    grid.y_name = "y";
    grid.x_name = "x";
    const Dataset dataset = open_grid(grid);
    ASSERT_NE(dataset, nullptr);
    EXPECT_EQ(GDALGetSpatialRef(dataset.get()), nullptr);
}

TEST(Crs, IsWhatTheGridMappingSaysInWkt) {
    for (const char *attribute : {"spatial_ref", "crs_wkt"})
        for (const char *format : {"WKT1_GDAL", "WKT2_2019"})
            for (const char *mapping : {"crs", "crs: x y"}) {
                Grid grid;
                grid.y_name = "y";
                grid.x_name = "x";
                grid.y_attributes = R"("standard_name": "projection_y_coordinate", "units": "m")";
                grid.x_attributes = R"("standard_name": "projection_x_coordinate", "units": "m")";
                grid.attributes = R"("grid_mapping": )" + json_string(mapping);
                Set set = grid_set(grid);
                set.array(
                    {"crs",
                     {},
                     "<i4",
                     {},
                     {},
                     json_string(attribute) + ": " + json_string(wkt_of_epsg(32632, format))});
                const Dataset dataset = open(subdataset(set.save(), "v"));
                ASSERT_NE(dataset, nullptr);
                EXPECT_EQ(epsg(dataset), "32632") << attribute << " " << format << " " << mapping;
                EXPECT_EQ(geotransform(dataset), grid_geotransform);
            }
}

/* -- bands ------------------------------------------------------------------------------------- */

TEST(Bands, CarryTheValuesOfTheirDimensions) {
    Set set;
    set.values({"time",
                {2},
                "<i4",
                {},
                {"time"},
                R"("units": "hours since 2020-01-01", "standard_name": "time")"},
               bytes_of<int32_t>({6, 12}));
    set.values({"level", {3}, "<f8", {}, {"level"}, R"("units": "hPa")"},
               bytes_of<double>({1000, 850, 500.5}));
    set.array({"v",
               {2, 3, 2, 2},
               "<i4",
               {},
               {"time", "level", "y", "x"},
               R"("units": "K", "long_name": "temperature")"});
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    ASSERT_EQ(GDALGetRasterCount(dataset.get()), 6);
    const char *const times[] = {"6", "6", "6", "12", "12", "12"};
    const char *const levels[] = {"1000", "850", "500.5", "1000", "850", "500.5"};
    for (int i = 0; i < 6; i++) {
        GDALRasterBandH band = GDALGetRasterBand(dataset.get(), i + 1);
        EXPECT_EQ(item(band, "NETCDF_DIM_time"), times[i]);
        EXPECT_EQ(item(band, "NETCDF_DIM_level"), levels[i]);
        EXPECT_EQ(item(band, "NETCDF_VARNAME"), "v");
        EXPECT_EQ(item(band, "long_name"), "temperature");
        EXPECT_STREQ(GDALGetRasterUnitType(band), "K");
    }
}

TEST(Bands, OfTheSampleHaveScaleOffsetNodataAndUnit) {
    const Dataset dataset = open(subdataset(sample("sample.json"), "t2m"));
    ASSERT_NE(dataset, nullptr);
    GDALRasterBandH band = GDALGetRasterBand(dataset.get(), 24);
    int has = FALSE;
    EXPECT_EQ(GDALGetRasterScale(band, &has), 0.05);
    EXPECT_TRUE(has);
    EXPECT_EQ(GDALGetRasterOffset(band, &has), 280);
    EXPECT_TRUE(has);
    EXPECT_EQ(GDALGetRasterNoDataValue(band, &has), -32767);
    EXPECT_TRUE(has);
    EXPECT_STREQ(GDALGetRasterUnitType(band), "K");
    EXPECT_EQ(item(band, "NETCDF_DIM_time"), "23");
}
