/* grid_mapping_test.cc -- the grid mappings of CF appendix F against PROJ strings that were worked
 * out by hand from the same parameters, and there and back through gdaltransform's transformer. */
#include "driver_test.h"

#include <cmath>

#include <cpl_conv.h>
#include <gdal_alg.h>
#include <ogr_srs_api.h>

using namespace refs_test;

namespace {

/** A grid mapping, what PROJ calls it, and the middle of a grid in its coordinates. */
struct Mapping {
    const char *attributes;
    const char *proj;
    double x, y, step;
};

const char *const wgs84 = R"(, "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563)";

const Mapping mappings[] = {
    {R"("grid_mapping_name": "latitude_longitude")", "+proj=longlat", 10, 50, 0.5},
    {R"("grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
        "grid_north_pole_longitude": -162.0)",
     "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 "
     "+to_meter=0.0174532925199433",
     -5, 3, 0.5},
    {R"("grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
        "grid_north_pole_longitude": -162.0, "north_pole_grid_longitude": 10.0)",
     "+proj=ob_tran +o_proj=longlat +o_lon_p=10 +o_lat_p=39.25 +lon_0=18 "
     "+to_meter=0.0174532925199433",
     -5, 3, 0.5},
    {R"("grid_mapping_name": "albers_conical_equal_area", "standard_parallel": [29.5, 45.5],
        "longitude_of_central_meridian": -96.0, "latitude_of_projection_origin": 23.0,
        "false_easting": 100.0, "false_northing": 200.0)",
     "+proj=aea +lat_1=29.5 +lat_2=45.5 +lat_0=23 +lon_0=-96 +x_0=100 +y_0=200", 1e5, 2e5, 1e4},
    {R"("grid_mapping_name": "albers_conical_equal_area", "standard_parallel": 29.5,
        "longitude_of_central_meridian": -96.0, "latitude_of_projection_origin": 23.0)",
     "+proj=aea +lat_1=29.5 +lat_2=29.5 +lat_0=23 +lon_0=-96", 1e5, 2e5, 1e4},
    {R"("grid_mapping_name": "azimuthal_equidistant", "longitude_of_projection_origin": 24.0,
        "latitude_of_projection_origin": 53.0, "false_easting": 5837287.8,
        "false_northing": 2121415.7)",
     "+proj=aeqd +lat_0=53 +lon_0=24 +x_0=5837287.8 +y_0=2121415.7", 5.8e6, 2.2e6, 1e4},
    {R"("grid_mapping_name": "geostationary", "longitude_of_projection_origin": -75.0,
        "perspective_point_height": 35786023.0, "sweep_angle_axis": "x")",
     "+proj=geos +h=35786023 +lon_0=-75 +sweep=x", -1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "geostationary", "longitude_of_projection_origin": 9.5,
        "perspective_point_height": 35785831.0, "sweep_angle_axis": "y")",
     "+proj=geos +h=35785831 +lon_0=9.5 +sweep=y", -1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "geostationary", "longitude_of_projection_origin": 9.5,
        "perspective_point_height": 35785831.0, "fixed_angle_axis": "y")",
     "+proj=geos +h=35785831 +lon_0=9.5 +sweep=x", -1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "lambert_azimuthal_equal_area",
        "longitude_of_projection_origin": 10.0, "latitude_of_projection_origin": 52.0,
        "false_easting": 4321000.0, "false_northing": 3210000.0)",
     "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000", 4.4e6, 3.1e6, 1e4},
    {R"("grid_mapping_name": "lambert_azimuthal_equal_area",
        "longitude_of_projection_origin": 0.0, "latitude_of_projection_origin": 90.0)",
     "+proj=laea +lat_0=90 +lon_0=0", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [25.0, 60.0],
        "longitude_of_central_meridian": -100.0, "latitude_of_projection_origin": 42.5)",
     "+proj=lcc +lat_1=25 +lat_2=60 +lat_0=42.5 +lon_0=-100", 1e5, 2e5, 1e4},
    {R"("grid_mapping_name": "lambert_conformal_conic", "standard_parallel": 25.0,
        "longitude_of_central_meridian": 265.0, "latitude_of_projection_origin": 25.0)",
     "+proj=lcc +lat_1=25 +lat_0=25 +lon_0=265", 1e5, 2e5, 1e4},
    {R"("grid_mapping_name": "lambert_conformal_conic", "standard_parallel": 25.0,
        "longitude_of_central_meridian": 265.0, "latitude_of_projection_origin": 38.0)",
     "+proj=lcc +lat_1=25 +lat_2=25 +lat_0=38 +lon_0=265", 1e5, 2e5, 1e4},
    {R"("grid_mapping_name": "lambert_conformal_conic",
        "scale_factor_at_projection_origin": 0.9996, "longitude_of_central_meridian": 3.0,
        "latitude_of_projection_origin": 46.0)",
     "+proj=lcc +lat_1=46 +lat_0=46 +lon_0=3 +k_0=0.9996", 1e5, 2e5, 1e4},
    {R"("grid_mapping_name": "lambert_cylindrical_equal_area", "standard_parallel": 30.0,
        "longitude_of_central_meridian": 10.0)",
     "+proj=cea +lat_ts=30 +lon_0=10", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "lambert_cylindrical_equal_area",
        "scale_factor_at_projection_origin": 0.8667525144, "longitude_of_central_meridian": 10.0)",
     "+proj=cea +k_0=0.8667525144 +lon_0=10", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "mercator", "standard_parallel": 20.0,
        "longitude_of_projection_origin": 30.0, "false_northing": 5.0)",
     "+proj=merc +lat_ts=20 +lon_0=30 +y_0=5", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "mercator", "scale_factor_at_projection_origin": 0.9,
        "longitude_of_projection_origin": 110.0)",
     "+proj=merc +k_0=0.9 +lon_0=110", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "oblique_mercator", "azimuth_of_central_line": 30.0,
        "latitude_of_projection_origin": 46.0, "longitude_of_projection_origin": 7.0,
        "scale_factor_at_projection_origin": 0.999, "false_easting": 600000.0)",
     "+proj=omerc +lat_0=46 +lonc=7 +alpha=30 +gamma=30 +k=0.999 +x_0=600000", 6e5, 1e5, 1e4},
    {R"("grid_mapping_name": "orthographic", "longitude_of_projection_origin": -40.0,
        "latitude_of_projection_origin": 40.0)",
     "+proj=ortho +lat_0=40 +lon_0=-40", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "polar_stereographic", "standard_parallel": 70.0,
        "straight_vertical_longitude_from_pole": -45.0, "latitude_of_projection_origin": 90.0)",
     "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "polar_stereographic", "standard_parallel": -71.0,
        "straight_vertical_longitude_from_pole": 0.0, "latitude_of_projection_origin": -90.0)",
     "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "polar_stereographic", "scale_factor_at_projection_origin": 0.994,
        "straight_vertical_longitude_from_pole": -45.0, "latitude_of_projection_origin": 90.0)",
     "+proj=stere +lat_0=90 +k=0.994 +lon_0=-45", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "sinusoidal", "longitude_of_projection_origin": 20.0)",
     "+proj=sinu +lon_0=20", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "stereographic", "longitude_of_projection_origin": -45.0,
        "latitude_of_projection_origin": 40.0, "scale_factor_at_projection_origin": 0.9)",
     "+proj=stere +lat_0=40 +lon_0=-45 +k=0.9", 1e6, 2e6, 1e4},
    {R"("grid_mapping_name": "transverse_mercator", "scale_factor_at_central_meridian": 0.9996,
        "longitude_of_central_meridian": 9.0, "latitude_of_projection_origin": 0.0,
        "false_easting": 500000.0)",
     "+proj=tmerc +k=0.9996 +lon_0=9 +lat_0=0 +x_0=500000", 6e5, 5e6, 1e4},
    {R"("grid_mapping_name": "vertical_perspective", "longitude_of_projection_origin": 5.0,
        "latitude_of_projection_origin": 7.0, "perspective_point_height": 3000000.0)",
     "+proj=nsper +h=3000000 +lon_0=5 +lat_0=7", 1e5, 2e5, 1e4},
};

struct DestroyCrs {
    void operator()(OGRSpatialReferenceH crs) const { OSRDestroySpatialReference(crs); }
};
using Crs = std::unique_ptr<void, DestroyCrs>;

Crs crs_of(const std::string &proj) {
    Crs crs(OSRNewSpatialReference(nullptr));
    EXPECT_EQ(OSRSetFromUserInput(crs.get(), (proj + " +ellps=WGS84 +no_defs").c_str()),
              OGRERR_NONE)
        << proj;
    OSRSetAxisMappingStrategy(crs.get(), OAMS_TRADITIONAL_GIS_ORDER);
    return crs;
}

/** A grid of five by five around the middle of `mapping`. */
Dataset open_grid(const Mapping &mapping) {
    const bool degrees = mapping.step < 1;
    std::vector<double> y, x;
    for (int i = -2; i <= 2; i++) {
        y.push_back(mapping.y - i * mapping.step);
        x.push_back(mapping.x + i * mapping.step);
    }
    const std::string units = std::string(R"("units": ")") + (degrees ? "degrees" : "m") + "\"";
    Set set;
    set.values({"y", {5}, "<f8", {}, {"y"}, R"("axis": "Y", )" + units}, bytes_of(y));
    set.values({"x", {5}, "<f8", {}, {"x"}, R"("axis": "X", )" + units}, bytes_of(x));
    set.array({"crs", {}, "<i4", {}, {}, std::string(mapping.attributes) + wgs84});
    set.values({"v", {5, 5}, "<i4", {}, {"y", "x"}, R"("grid_mapping": "crs")"},
               bytes_of(counting<int32_t>(25)));
    return open(subdataset(set.save(), "v"));
}

/** Where a point of `crs` lies in longitude and latitude. */
std::vector<double> longlat(OGRSpatialReferenceH crs, double x, double y) {
    const Crs target = crs_of("+proj=longlat");
    OGRCoordinateTransformationH transform = OCTNewCoordinateTransformation(crs, target.get());
    EXPECT_NE(transform, nullptr);
    if (transform == nullptr) return {};
    EXPECT_TRUE(OCTTransform(transform, 1, &x, &y, nullptr));
    OCTDestroyCoordinateTransformation(transform);
    return {x, y};
}

} // namespace

TEST(GridMapping, PutsItsGridWhereProjPutsIt) {
    for (const Mapping &mapping : mappings) {
        const Dataset dataset = open_grid(mapping);
        ASSERT_NE(dataset, nullptr) << mapping.proj;
        double transform[6] = {};
        ASSERT_EQ(GDALGetGeoTransform(dataset.get(), transform), CE_None) << mapping.proj;
        const double middleX = transform[0] + 2.5 * transform[1];
        const double middleY = transform[3] + 2.5 * transform[5];
        EXPECT_NEAR(middleX, mapping.x, 1e-6) << mapping.proj;
        EXPECT_NEAR(middleY, mapping.y, 1e-6) << mapping.proj;
        OGRSpatialReferenceH crs = GDALGetSpatialRef(dataset.get());
        ASSERT_NE(crs, nullptr) << mapping.proj;
        const Crs expected = crs_of(mapping.proj);
        const std::vector<double> there = longlat(crs, middleX, middleY);
        const std::vector<double> wanted = longlat(expected.get(), middleX, middleY);
        ASSERT_EQ(there.size(), 2u);
        EXPECT_NEAR(there[0], wanted[0], 1e-8) << mapping.proj;
        EXPECT_NEAR(there[1], wanted[1], 1e-8) << mapping.proj;
        EXPECT_TRUE(std::isfinite(there[0]) && std::fabs(there[1]) <= 90) << mapping.proj;
    }
}

TEST(GridMapping, LeadsThereAndBack) {
    for (const Mapping &mapping : mappings) {
        const Dataset dataset = open_grid(mapping);
        ASSERT_NE(dataset, nullptr) << mapping.proj;
        const char *const options[] = {"DST_SRS=EPSG:4326", nullptr};
        void *transformer =
            GDALCreateGenImgProjTransformer2(dataset.get(), nullptr, const_cast<char **>(options));
        ASSERT_NE(transformer, nullptr) << mapping.proj;
        double x = 1.25, y = 3.75, z = 0;
        int succeeded = FALSE;
        EXPECT_TRUE(GDALGenImgProjTransform(transformer, FALSE, 1, &x, &y, &z, &succeeded));
        EXPECT_TRUE(succeeded) << mapping.proj;
        EXPECT_GT(std::fabs(x - 1.25), 1e-3) << mapping.proj << " does not move";
        EXPECT_TRUE(GDALGenImgProjTransform(transformer, TRUE, 1, &x, &y, &z, &succeeded));
        EXPECT_TRUE(succeeded) << mapping.proj;
        EXPECT_NEAR(x, 1.25, 1e-4) << mapping.proj;
        EXPECT_NEAR(y, 3.75, 1e-4) << mapping.proj;
        GDALDestroyGenImgProjTransformer(transformer);
    }
}

/* CF tells heights by names alone; as WKT there may be a whole vertical CRS. */
TEST(GridMapping, HasAVerticalCrsWhereItsTextHas) {
    Crs compound(OSRNewSpatialReference(nullptr));
    ASSERT_EQ(OSRSetFromUserInput(compound.get(), "EPSG:25832+5783"), OGRERR_NONE);
    char *wkt = nullptr;
    ASSERT_EQ(OSRExportToWkt(compound.get(), &wkt), OGRERR_NONE);
    Set set;
    set.axes(5, 5).array({"crs", {}, "<i4", {}, {}, "\"crs_wkt\": " + json_string(wkt)});
    CPLFree(wkt);
    set.values({"v", {5, 5}, "<i4", {}, {"lat", "lon"}, R"("grid_mapping": "crs")"},
               bytes_of(counting<int32_t>(25)));
    const Dataset dataset = open(subdataset(set.save(), "v"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_TRUE(OSRIsCompound(GDALGetSpatialRef(dataset.get())));
}
