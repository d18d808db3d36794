/* geotiff_test.cc -- sets made of TIFF files. */
#include "dataset.h"

namespace {

/** An image of eight by four and a reduced one, under these tags. */
class GeoTiff : public testing::Test {
  protected:
    void describe(const std::string &tags, const std::string &image = "0") {
        set.global(tags);
        set.array("0", {{"Y", "X"}, {4, 8}});
        set.array("1", {{"Y1", "X1"}, {2, 4}});
        set.array("rgb", {{"Y", "X", "S"}, {4, 8, 3}});
        set.describe(image);
    }
    Dataset set;
};

const std::string scale = R"("ModelPixelScale":[10,20,0],"ModelTiepoint":[1,1,0,100,200,0])";

TEST_F(GeoTiff, PlacesImagesByScaleAndTiepointNorthFirst) {
    describe(scale + R"(,"GTRasterTypeGeoKey":1,"ProjectedCSTypeGeoKey":32621)");
    EXPECT_FALSE(set.description.flip_y);
    EXPECT_EQ(set.geotransform(), Values({90, 10, 0, 220, 0, -20}));
    EXPECT_STREQ(set.description.crs, "EPSG:32621");
    EXPECT_FALSE(set.description.crs_assumed);
}

TEST_F(GeoTiff, MovesByHalfAPixelWherePixelsArePoints) {
    describe(scale + R"(,"GTRasterTypeGeoKey":2,"GeographicTypeGeoKey":4326)");
    EXPECT_EQ(set.geotransform(), Values({85, 10, 0, 230, 0, -20}));
    EXPECT_STREQ(set.description.crs, "EPSG:4326");
}

TEST_F(GeoTiff, EnlargesThePixelsOfReducedImages) {
    describe(scale, "1");
    EXPECT_EQ(set.geotransform(), Values({90, 20, 0, 220, 0, -40}));
}

TEST_F(GeoTiff, ShowsThreeSamplesAsRedGreenAndBlue) {
    describe(scale, "rgb");
    const refs_cf_band_color colors[] = {REFS_CF_BAND_RED, REFS_CF_BAND_GREEN, REFS_CF_BAND_BLUE};
    for (uint64_t band = 0; band < 3; band++)
        EXPECT_EQ(refs_cf_band_color_of(set.find("rgb"), &set.description, band), colors[band]);
    set.description.band_axes[0].first = 2;
    EXPECT_EQ(refs_cf_sample_number(&set.description, 0), 2u);
    EXPECT_EQ(refs_cf_band_color_of(set.find("rgb"), &set.description, 0), REFS_CF_BAND_BLUE);
}

TEST_F(GeoTiff, ShowsOtherSamplesAsNoColourAndGrayWhereItIsSaid) {
    set.array("cmyk", {{"Y", "X", "S"}, {4, 8, 4}});
    set.array("gray", {{"Y", "X"}, {4, 8}, R"("tiff_gray":true)"});
    describe(scale, "cmyk");
    EXPECT_EQ(refs_cf_band_color_of(set.find("cmyk"), &set.description, 1), REFS_CF_BAND_PLAIN);
    set.describe("gray");
    EXPECT_EQ(refs_cf_band_color_of(set.find("gray"), &set.description, 0), REFS_CF_BAND_GRAY);
    set.describe("0");
    EXPECT_EQ(refs_cf_band_color_of(set.find("0"), &set.description, 0), REFS_CF_BAND_PLAIN);
}

TEST_F(GeoTiff, TakesAMatrix) {
    describe(R"("ModelTransformation":[1,2,0,3,4,5,0,6,0,0,0,0,0,0,0,1])");
    EXPECT_EQ(set.geotransform(), Values({3, 1, 2, 6, 4, 5}));
}

TEST_F(GeoTiff, TakesTagsInRows) {
    describe(R"("ModelTransformation":[[1,2,0,3],[4,5,0,6],[0,0,0,0],[0,0,0,1]])");
    EXPECT_EQ(set.geotransform(), Values({3, 1, 2, 6, 4, 5}));
    Dataset tied;
    tied.global(
        R"("ModelPixelScale":[10,-20,0],"ModelTiepoint":[[1,1,0,100,200,0],[2,1,0,110,200,0]])");
    tied.array("0", {{"Y", "X"}, {4, 8}});
    tied.describe("0");
    EXPECT_EQ(tied.geotransform(), Values({90, 10, 0, 220, 0, -20}));
}

TEST_F(GeoTiff, TakesTheCrsOfWhoeverKnowsGeoKeys) {
    std::string file;
    set.options.geotiff = {[](void *user, refs_bytes bytes, refs_buf *wkt, refs_error *err) {
                               static_cast<std::string *>(user)->assign(
                                   reinterpret_cast<const char *>(bytes.data), bytes.size);
                               return refs_buf_append_str(wkt, refs_str_from("a CRS"), err);
                           },
                           &file};
    describe(scale + R"(,"ProjectedCSTypeGeoKey":32621,"GTCitationGeoKey":"Albers",
                        "ProjStdParallel1GeoKey":29.5)");
    EXPECT_STREQ(set.description.crs, "a CRS");
    EXPECT_EQ(file.substr(0, 4), std::string("II*\0", 4));
    EXPECT_NE(file.find(std::string("\0\x0c\0\0\x01\0\x6d\x7f", 8)), std::string::npos);
    EXPECT_NE(file.find("Albers|"), std::string::npos);
}

TEST_F(GeoTiff, KnowsAxesByTheirLetters) {
    describe(R"("multiscales":[])", "rgb");
    EXPECT_EQ(set.description.y_dim, 0u);
    EXPECT_EQ(set.description.x_dim, 1u);
    ASSERT_EQ(set.description.n_band_axes, 1u);
    EXPECT_EQ(set.description.band_axes[0].n, 3u);
    EXPECT_FALSE(set.description.has_geotransform);
    EXPECT_FALSE(set.description.flip_y);
}

TEST_F(GeoTiff, KnowsImagesByTheLettersOfTheirAxesAlone) {
    describe("", "rgb");
    EXPECT_EQ(set.description.x_dim, 1u);
    EXPECT_FALSE(set.description.flip_y);
    Dataset gridded;
    gridded.array("v", {{"T", "Y", "X"}, {3, 4, 5}});
    gridded.coordinate("X", {1, 2, 3, 4, 5}, "");
    gridded.describe("v");
    EXPECT_TRUE(gridded.description.flip_y);
}

TEST_F(GeoTiff, HasNoNodataValueOfZero) {
    set.array("zero", {{"Y", "X"}, {4, 8}, "", ">i2", "0"});
    describe(scale, "zero");
    EXPECT_EQ(set.description.nodata_kind, REFS_CF_NODATA_NONE);
    Dataset other;
    other.global(scale);
    other.array("five", {{"Y", "X"}, {4, 8}, "", "|u1", "255"});
    other.describe("five");
    EXPECT_EQ(other.description.nodata, 255);
}

TEST_F(GeoTiff, TakesTheLastTwoAxesWhereLettersAreMissing) {
    set.array("odd", {{"X", "Q"}, {4, 8}});
    describe(scale, "odd");
    EXPECT_EQ(set.description.y_dim, 0u);
    EXPECT_EQ(set.description.x_dim, 1u);
    EXPECT_EQ(set.description.n_band_axes, 0u);
}

TEST_F(GeoTiff, LeavesUserDefinedCodesUnknown) {
    describe(scale + R"(,"ProjectedCSTypeGeoKey":32767,"GeographicTypeGeoKey":4326)");
    EXPECT_EQ(set.description.crs, nullptr);
}

TEST_F(GeoTiff, NeedsAllNumbersOfATag) {
    describe(R"("ModelPixelScale":[10,20,0],"ModelTiepoint":[1,1,0])");
    EXPECT_FALSE(set.description.has_geotransform);
}

} // namespace
