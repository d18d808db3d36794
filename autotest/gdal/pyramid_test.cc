/* pyramid_test.cc -- sets made of TIFF files and of pyramids: overviews, GeoKeys, where bands are.
 */
#include <gdal_version.h>
#include <ogr_srs_api.h>

#include "driver_test.h"

using namespace refs_test;

namespace {

/** A picture in three sizes; pixels of the largest cannot be read. */
Set pyramid(const std::string &multiscales, const std::string &below) {
    Set set;
    set.attributes("", "\"multiscales\": " + multiscales);
    const Array large{"0" + below, {2, 8, 12}}, half{"1" + below, {2, 4, 6}},
        quarter{"2" + below, {2, 2, 3}};
    set.array(large).json(large.path + "/0.0.0", R"(["/nowhere", 0, 768])");
    set.values(half, bytes_of(counting<int32_t>(48)));
    return set.values(quarter, bytes_of(counting<int32_t>(12, 100)));
}

const char *const datasets = R"([{"datasets": [{"path": "0"}, {"path": "1"}, {"path": "2"}]}])";

std::vector<int> overview_widths(const Dataset &dataset) {
    std::vector<int> widths;
    GDALRasterBandH band = GDALGetRasterBand(dataset.get(), 2);
    for (int i = 0; i < GDALGetOverviewCount(band); i++)
        widths.push_back(GDALGetRasterBandXSize(GDALGetOverview(band, i)));
    return widths;
}

} // namespace

TEST(Pyramid, ShowsReducedImagesAsOverviewsLargestFirst) {
    const char *const lists[] = {
        datasets, R"([{"datasets": [{"path": "2"}, {"path": "1"}, {"path": "0"}]}])",
        R"({"layout": [{"asset": "0"}, {"asset": "1"}, {"asset": "2", "derived_from": "1"}]})"};
    for (const char *list : lists) {
        const Dataset dataset = open("REFS:" + pyramid(list, "").save());
        ASSERT_NE(dataset, nullptr) << list;
        EXPECT_EQ(GDALGetRasterXSize(dataset.get()), 12) << list;
        EXPECT_EQ(overview_widths(dataset), (std::vector<int>{6, 3})) << list;
    }
}

TEST(Pyramid, FindsListsInsideOfAnAttributeOme) {
    Set set;
    set.attributes("", std::string("\"ome\": {\"multiscales\": ") + datasets + "}");
    set.array({"0", {2, 8, 12}}).array({"1", {2, 4, 6}});
    EXPECT_EQ(overview_widths(open("REFS:" + set.save())), std::vector<int>{6});
}

TEST(Pyramid, FindsTheSameVariableInOtherGroups) {
    Set set = pyramid(datasets, "/t2m");
    set.values({"2/other", {2, 2, 3}}, bytes_of(counting<int32_t>(12)));
    const std::string path = set.save();
    EXPECT_EQ(overview_widths(open(subdataset(path, "0/t2m"))), (std::vector<int>{6, 3}));
    EXPECT_EQ(overview_widths(open(subdataset(path, "1/t2m"))), (std::vector<int>{3}));
    EXPECT_EQ(overview_widths(open(subdataset(path, "2/other"))), std::vector<int>());
}

TEST(Pyramid, ReadsSmallPicturesFromOverviewsAlone) {
    const Dataset dataset = open("REFS:" + pyramid(datasets, "").save());
    ASSERT_NE(dataset, nullptr);
    std::vector<int32_t> band(6), both(12);
    EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset.get(), 2), GF_Read, 0, 0, 12, 8, band.data(),
                           3, 2, GDT_Int32, 0, 0),
              CE_None);
    EXPECT_EQ(band, counting<int32_t>(6, 106));
    EXPECT_EQ(GDALDatasetRasterIO(dataset.get(), GF_Read, 0, 0, 12, 8, both.data(), 3, 2, GDT_Int32,
                                  2, nullptr, 0, 0, 0),
              CE_None);
    EXPECT_EQ(both, counting<int32_t>(12, 100));
    EXPECT_NE(failure_of_reading(dataset), "");
}

/* GDAL would choose once more, from a window that it has rounded. */
TEST(Pyramid, HasNoOverviewsOfOverviews) {
    const Dataset dataset = open("REFS:" + pyramid(datasets, "").save());
    ASSERT_NE(dataset, nullptr);
    GDALRasterBandH half = GDALGetOverview(GDALGetRasterBand(dataset.get(), 1), 0);
    ASSERT_NE(half, nullptr);
    EXPECT_EQ(GDALGetOverviewCount(half), 0);
}

TEST(Pyramid, HasNoOverviewOfOtherBandsOrTypes) {
    Set set;
    set.attributes("", std::string("\"multiscales\": ") + datasets);
    set.array({"0", {3, 8, 12}}).array({"1", {2, 4, 6}}).array({"2", {3, 2, 3}, "<i2"});
    EXPECT_EQ(overview_widths(open(subdataset(set.save(), "0"))), std::vector<int>());
}

TEST(TiffSet, TakesBandsFromTheFirstOrTheLastAxis) {
    for (const bool first : {true, false}) {
        Set set;
        set.attributes("", R"("ModelPixelScale": [1, 1, 0], "ModelTiepoint": [0, 0, 0, 5, 9, 0])");
        Array image{"rgb", {2, 3, 3}, "|u1"};
        image.shape = first ? std::vector<uint64_t>{3, 2, 4} : std::vector<uint64_t>{2, 4, 3};
        image.dims = first ? std::vector<std::string>{"S", "Y", "X"}
                           : std::vector<std::string>{"Y", "X", "S"};
        set.values(image, bytes_of(counting<uint8_t>(24)));
        const Dataset dataset = open("REFS:" + set.save());
        ASSERT_NE(dataset, nullptr);
        EXPECT_EQ(GDALGetRasterCount(dataset.get()), 3);
        EXPECT_EQ(GDALGetRasterXSize(dataset.get()), 4);
        EXPECT_EQ(pixels<uint8_t>(dataset, 2)[1], first ? 9 : 4);
        double transform[6];
        EXPECT_EQ(GDALGetGeoTransform(dataset.get(), transform), CE_None);
        EXPECT_EQ(transform[3], 9);
    }
}

TEST(TiffSet, MakesACrsOfUserDefinedKeys) {
    Set set;
    set.attributes("", R"("ModelPixelScale": [1, 1, 0], "ModelTiepoint": [0, 0, 0, 5, 9, 0],
        "GTModelTypeGeoKey": 1, "GTRasterTypeGeoKey": 1, "GTCitationGeoKey": "Mine",
        "GeographicTypeGeoKey": 32767, "GeogCitationGeoKey": "Ball",
        "GeogAngularUnitsGeoKey": 9102, "GeogSemiMajorAxisGeoKey": 6370000.0,
        "GeogSemiMinorAxisGeoKey": 6370000.0, "ProjectedCSTypeGeoKey": 32767,
        "ProjectionGeoKey": 32767, "ProjCoordTransGeoKey": 10, "ProjLinearUnitsGeoKey": 9001,
        "ProjCenterLatGeoKey": 52, "ProjCenterLongGeoKey": 10,
        "ProjFalseEastingGeoKey": 1000, "ProjFalseNorthingGeoKey": 2000)");
    Array image{"v", {2, 2}, "|u1"};
    image.dims = {"Y", "X"};
    const Dataset dataset = open("REFS:" + set.values(image, "abcd").save());
    ASSERT_NE(dataset, nullptr);
    OGRSpatialReferenceH crs = GDALGetSpatialRef(dataset.get());
    ASSERT_NE(crs, nullptr);
    EXPECT_STREQ(OSRGetAttrValue(crs, "PROJECTION", 0), "Lambert_Azimuthal_Equal_Area");
    EXPECT_EQ(OSRGetProjParm(crs, "latitude_of_center", 0, nullptr), 52);
    EXPECT_EQ(OSRGetProjParm(crs, "longitude_of_center", 0, nullptr), 10);
    EXPECT_EQ(OSRGetProjParm(crs, "false_easting", 0, nullptr), 1000);
    EXPECT_EQ(OSRGetSemiMajor(crs, nullptr), 6370000);
    EXPECT_STREQ(OSRGetAttrValue(crs, "PROJCS", 0), "Mine");
    EXPECT_EQ(item(dataset.get(), "AREA_OR_POINT"), "Area");
}
