/* crs_test.cc -- coordinate reference systems of grid mappings. */
#include "dataset.h"
extern "C" {
#include "cf_internal.h"
}

namespace {

using testing::Test;

bool contains(const char *text, const std::string &part) {
    return text != nullptr && std::string(text).find(part) != std::string::npos;
}

/** What PROJ takes the CRS of a mapping for. */
refs_cf__crs_kind kindOf(const char *text) {
    refs_cf__crs crs = {REFS_CF__CRS_NONE, nullptr, 1, 0};
    if (text != nullptr) refs_cf__crs_inspect(text, &crs);
    return crs.kind;
}

/** Attributes of a grid mapping variable and parts of the WKT that they come to. */
struct Mapping {
    const char *attributes;
    std::vector<const char *> parts;
};

const Mapping mappings[] = {
    {R"("grid_mapping_name":"albers_conical_equal_area","standard_parallel":[30,50],)"
     R"("latitude_of_projection_origin":40,"longitude_of_central_meridian":-96)",
     {R"(METHOD["Albers Equal Area",ID["EPSG",9822]])",
      R"(PARAMETER["Latitude of false origin",40,)",
      R"(PARAMETER["Longitude of false origin",-96,)",
      R"(["Latitude of 1st standard parallel",30,)",
      R"(["Latitude of 2nd standard parallel",50,)"}},
    {R"("grid_mapping_name":"azimuthal_equidistant","latitude_of_projection_origin":40)",
     {"Modified Azimuthal Equidistant", R"(["Latitude of natural origin",40,)"}},
    {R"("grid_mapping_name":"geostationary","longitude_of_projection_origin":-75,)"
     R"("perspective_point_height":35786023,"sweep_angle_axis":"x")",
     {"Geostationary Satellite (Sweep X)", R"(["Satellite Height",35786023,)",
      "REMARK[\"PROJ CRS string: +proj=geos +sweep=x +lon_0=-75 +h=35786023 "}},
    {R"("grid_mapping_name":"geostationary","fixed_angle_axis":"y")", {"(Sweep X)"}},
    {R"("grid_mapping_name":"geostationary","sweep_angle_axis":"y")", {"(Sweep Y)"}},
    {R"("grid_mapping_name":"lambert_azimuthal_equal_area","false_easting":4321000)",
     {"Lambert Azimuthal Equal Area", R"(["False easting",4321000,LENGTHUNIT["metre",1])"}},
    {R"("grid_mapping_name":"lambert_conformal_conic","standard_parallel":"[49. 46.]")",
     {"(2SP)", R"(1st standard parallel",49,)", R"(2nd standard parallel",46,)"}},
    {R"("grid_mapping_name":"lambert_conformal_conic","standard_parallel_1":49,)"
     R"("standard_parallel_2":46)",
     {"(2SP)", R"(1st standard parallel",49,)", R"(2nd standard parallel",46,)"}},
    {R"("grid_mapping_name":"lambert_conformal_conic","standard_parallel":38.5,)"
     R"("latitude_of_projection_origin":38.5)",
     {"(1SP)", R"(["Scale factor at natural origin",1,)", R"(["standard_parallel_1",38.5,)"}},
    {R"("grid_mapping_name":"lambert_conformal_conic","standard_parallel":30,)"
     R"("latitude_of_projection_origin":40)",
     {"(2SP)", R"(1st standard parallel",30,)", R"(2nd standard parallel",30,)"}},
    {R"("grid_mapping_name":"lambert_conformal_conic","scale_factor_at_projection_origin":0.99)",
     {"(1SP)", R"(["Scale factor at natural origin",0.99,)"}},
    {R"("grid_mapping_name":"lambert_cylindrical_equal_area","standard_parallel":30)",
     {"Lambert Cylindrical Equal Area", R"(1st standard parallel",30,)"}},
    {R"("grid_mapping_name":"mercator","standard_parallel":30)",
     {"Mercator (variant B)", R"(1st standard parallel",30,)"}},
    {R"("grid_mapping_name":"mercator","scale_factor_at_projection_origin":0.9)",
     {"Mercator (variant A)", R"(natural origin",0.9,SCALEUNIT)"}},
    {R"("grid_mapping_name":"oblique_mercator","azimuth_of_central_line":30)",
     {"Hotine Oblique Mercator (variant B)", R"(["Azimuth of initial line",30,)",
      R"(["Angle from Rectified to Skew Grid",30,)"}},
    {R"("grid_mapping_name":"orthographic")", {"Orthographic"}},
    {R"("grid_mapping_name":"polar_stereographic","standard_parallel":70,)"
     R"("straight_vertical_longitude_from_pole":-45)",
     {"(variant B)", R"(["Latitude of standard parallel",70,)", R"(["Longitude of origin",-45,)",
      R"(AXIS["easting",south,)", R"(AXIS["northing",south,)"}},
    {R"("grid_mapping_name":"polar_stereographic","standard_parallel":-71)",
     {"(variant B)", R"(AXIS["easting",north,)", R"(AXIS["northing",north,)"}},
    {R"("grid_mapping_name":"polar_stereographic","latitude_of_projection_origin":90,)"
     R"("scale_factor_at_projection_origin":1)",
     {"(variant B)", R"(["Latitude of standard parallel",90,)"}},
    {R"("grid_mapping_name":"polar_stereographic","latitude_of_projection_origin":90)",
     {"(variant B)", R"(["Latitude of standard parallel",90,)"}},
    {R"("grid_mapping_name":"polar_stereographic","latitude_of_projection_origin":-90,)"
     R"("scale_factor_at_projection_origin":0.97)",
     {"(variant A)", R"(["Latitude of natural origin",-90,)", R"(AXIS["easting",north,)"}},
    {R"("grid_mapping_name":"sinusoidal","longitude_of_central_meridian":20)",
     {R"(["Longitude of natural origin",20,)"}},
    {R"("grid_mapping_name":"sinusoidal","earth_radius":6371007.181)",
     {R"(METHOD["Sinusoidal"])", R"(ELLIPSOID["Sphere",6371007.181,0,)"}},
    {R"("grid_mapping_name":"stereographic")", {R"(METHOD["Stereographic"])"}},
    {R"("grid_mapping_name":"transverse_mercator","scale_factor_at_central_meridian":0.9996)",
     {"Transverse Mercator", R"(natural origin",0.9996,)"}},
    {R"("grid_mapping_name":"vertical_perspective","perspective_point_height":35785831)",
     {"Vertical Perspective", R"(["Viewpoint height",35785831,)"}},
    {R"("grid_mapping_name":"Transverse_Mercator","projected_crs_name":"a \"b\"")",
     {R"(PROJCRS["a ""b""",)"}},
};

TEST(GridMapping, BecomesTheConversionOfItsName) {
    for (const Mapping &mapping : mappings) {
        Dataset set;
        set.projected();
        set.mapped(mapping.attributes);
        const char *crs = set.describe().crs;
        ASSERT_EQ(kindOf(crs), REFS_CF__CRS_PROJECTED) << mapping.attributes;
        for (const char *part : mapping.parts) EXPECT_TRUE(contains(crs, part)) << part << crs;
    }
}

TEST(GridMapping, HasTheAxesOfAPoleWhereGdalHasThem) {
    const struct {
        const char *attributes, *part;
    } cases[] = {
        {R"("latitude_of_projection_origin":90)", R"(AXIS["easting",south,)"},
        {R"("latitude_of_projection_origin":-90)", R"(AXIS["northing",north,)"},
        {R"("latitude_of_projection_origin":90,"longitude_of_projection_origin":10)",
         R"(AXIS["easting",east,)"},
        {R"("latitude_of_projection_origin":52)", R"(AXIS["easting",east,)"},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.projected();
        set.mapped(std::string(R"("grid_mapping_name":"lambert_azimuthal_equal_area",)") +
                   c.attributes);
        EXPECT_TRUE(contains(set.describe().crs, c.part)) << c.attributes << set.description.crs;
    }
}

/* CF: false eastings are in the unit of the coordinate; heights of satellites are not. */
TEST(GridMapping, MeasuresFalseEastingsInTheUnitOfTheAxes) {
    Dataset set;
    set.projected("km");
    set.mapped(R"("grid_mapping_name":"geostationary","false_easting":5,"sweep_angle_axis":"x")");
    const char *crs = set.describe().crs;
    EXPECT_TRUE(contains(crs, R"("False easting",5,LENGTHUNIT["kilometre",1000])")) << crs;
    EXPECT_TRUE(contains(crs, R"("Satellite Height",35785831,LENGTHUNIT["metre",1])")) << crs;
    EXPECT_TRUE(contains(crs, "+to_meter=1000")) << crs;
}

TEST(GridMapping, IsInMetresWhereTheHostSaysSo) {
    Dataset set;
    set.options.placement.in_metres = true;
    set.projected("km");
    set.mapped(R"("grid_mapping_name":"geostationary","false_easting":5,"sweep_angle_axis":"x")");
    const char *crs = set.describe().crs;
    EXPECT_TRUE(contains(crs, R"("False easting",5,LENGTHUNIT["kilometre",1000])")) << crs;
    EXPECT_TRUE(contains(crs, R"(AXIS["easting",east,ORDER[1],LENGTHUNIT["metre",1]])")) << crs;
    EXPECT_TRUE(contains(crs, "+units=m")) << crs;
    set.options.as_stored = true; // the axes stay in kilometres
    EXPECT_TRUE(contains(set.describe().crs, "+to_meter=1000")) << set.description.crs;
}

/* GDAL turns a true scale at the pole into a parallel there when it sets the unit. */
TEST(GridMapping, AtThePoleIsOfTheVariantThatGdalMakesOfIt) {
    const char *const atPole[] = {R"("standard_parallel":90)",
                                  R"("latitude_of_projection_origin":90)"};
    for (const char *attributes : atPole)
        for (const char *units : {"m", "meters"}) {
            Dataset set;
            set.projected(units);
            set.mapped(std::string(R"("grid_mapping_name":"polar_stereographic",)") + attributes);
            const std::string variant = std::string(units) == "m" ? "variant B" : "variant A";
            EXPECT_TRUE(contains(set.describe().crs, variant)) << attributes << units;
        }
}

/* 0.2 in single precision is 0.20000000298023224, and would be shown so. */
TEST(GridMapping, HasParametersInSinglePrecisionAsTheyArePrinted) {
    Dataset set;
    set.projected();
    set.mapped(R"("grid_mapping_name":"lambert_conformal_conic","standard_parallel":)"
               R"([25.100000381469727,60.299999237060547],"earth_radius":6371229,)"
               R"("longitude_of_central_meridian":-100.2)");
    const char *crs = set.describe().crs;
    EXPECT_TRUE(contains(crs, R"(1st standard parallel",25.1,)")) << crs;
    EXPECT_TRUE(contains(crs, R"(2nd standard parallel",60.299999,)")) << crs;
    EXPECT_TRUE(contains(crs, R"("Sphere",6371229,)")) << crs;
    EXPECT_TRUE(contains(crs, R"(false origin",-100.2,)")) << crs;
}

TEST(GridMapping, OfAnUnknownNameKeepsItsEllipsoidOnLongitudeAndLatitude) {
    for (const bool onEarth : {true, false}) {
        Dataset set;
        if (onEarth)
            set.latlon({0, 1}, {0, 1, 2});
        else
            set.projected();
        set.array("crs",
                  {{}, {}, R"("grid_mapping_name":"healpix","earth_radius":6371000)", "<i4"});
        const std::vector<std::string> dims =
            onEarth ? std::vector<std::string>{"lat", "lon"} : std::vector<std::string>{"y", "x"};
        set.array("v", {dims, {onEarth ? 2u : 4u, onEarth ? 3u : 5u}, R"("grid_mapping":"crs")"});
        EXPECT_EQ(contains(set.describe().crs, R"(ELLIPSOID["Sphere",6371000,)"), onEarth);
    }
}

TEST(GridMapping, IsFoundInGroupsBesideAndBelow) {
    const char *const mapping = R"("grid_mapping_name":"transverse_mercator")";
    for (const char *group : {"meta", "data/meta", ""}) {
        Dataset set;
        set.projected();
        set.group("data", "");
        if (*group != '\0') set.group(group, "");
        set.array(std::string(group) + (*group != '\0' ? "/crs" : "crs"), {{}, {}, mapping, "<i4"});
        set.array("data/v", {{"y", "x"}, {4, 5}, R"("grid_mapping":"crs")"});
        EXPECT_TRUE(contains(set.describe("data/v").crs, "Transverse Mercator")) << group;
    }
}

/* The group of the array itself, then the nearest. */
TEST(GridMapping, IsTheNearestOfSeveral) {
    Dataset set;
    set.projected();
    set.array("other/deep/crs", {{}, {}, R"("grid_mapping_name":"mercator")", "<i4"});
    set.array("other/crs", {{}, {}, R"("grid_mapping_name":"orthographic")", "<i4"});
    set.array("others", {{}, {}, "", "<i4"});
    set.group("other", "");
    set.group("other/deep", "");
    set.group("data", "");
    set.array("data/v", {{"y", "x"}, {4, 5}, R"("grid_mapping":"crs")"});
    EXPECT_TRUE(contains(set.describe("data/v").crs, "Orthographic")) << set.description.crs;
}

TEST(GridMapping, TakesTheEllipsoidFromItsAttributes) {
    const Mapping cases[] = {
        {R"("earth_radius":6371229)",
         {R"(GEOGCRS["unknown",DATUM["unnamed",)", R"(ELLIPSOID["Sphere",6371229,0,)"}},
        {R"("semi_major_axis":6378137,"inverse_flattening":298.25)",
         {R"(ELLIPSOID["Spheroid",6378137,298.25,)"}},
        {R"("semi_major_axis":200,"semi_minor_axis":100)", {R"(ELLIPSOID["Spheroid",200,2,)"}},
        {R"("semi_major_axis":200,"semi_minor_axis":200)", {R"(ELLIPSOID["Sphere",200,0,)"}},
        {R"("spherical_earth_radius_meters":6e6)", {R"(ELLIPSOID["Sphere",6000000,0,)"}},
        {R"("semi_major_axis":-1)", {R"(GEOGCRS["WGS 84",)"}},
        {"\"a\":1",
         {R"(GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",)"
          R"(6378137,298.257223563,)"}},
        {R"("semi_major_axis":6378137,"inverse_flattening":298,"geographic_crs_name":"ETRS89",)"
         R"("horizontal_datum_name":"E 89","reference_ellipsoid_name":"GRS 80",)"
         R"("prime_meridian_name":"Paris","longitude_of_prime_meridian":2.3372)",
         {R"(GEOGCRS["ETRS89",DATUM["E 89",ELLIPSOID["GRS 80",6378137,298,)",
          R"(PRIMEM["Paris",2.3372,)"}},
    };
    for (const Mapping &mapping : cases) {
        Dataset set;
        set.projected();
        set.mapped(std::string(R"("grid_mapping_name":"latitude_longitude",)") +
                   mapping.attributes);
        const char *crs = set.describe().crs;
        ASSERT_EQ(kindOf(crs), REFS_CF__CRS_GEOGRAPHIC) << mapping.attributes;
        for (const char *part : mapping.parts) EXPECT_TRUE(contains(crs, part)) << part << crs;
    }
}

TEST(GridMapping, RotatesThePoleOfAnEllipsoidThatIsGiven) {
    const std::string pole = R"("grid_north_pole_latitude":37.5,"grid_north_pole_longitude":177.5)";
    for (const std::string name : {"", R"("grid_mapping_name":"rotated_latitude_longitude",)"}) {
        Dataset set;
        set.projected();
        set.mapped(name + pole + R"(,"earth_radius":6371229)");
        EXPECT_EQ(kindOf(set.describe().crs), REFS_CF__CRS_GEOGRAPHIC);
        EXPECT_TRUE(contains(set.description.crs, "Grid north pole latitude"));
        EXPECT_TRUE(contains(set.description.crs, "37.5,ANGLEUNIT"));
    }
}

TEST(GridMapping, RotatesThePoleOfWgs84WhereTheHostSaysSo) {
    for (bool said : {false, true}) {
        Dataset set;
        set.options.placement.poles_need_no_ellipsoid = said;
        set.projected();
        set.mapped(R"("grid_north_pole_latitude":37.5,"grid_north_pole_longitude":177.5)");
        EXPECT_EQ(contains(set.describe().crs, R"(BASEGEOGCRS["WGS 84")"), said);
        EXPECT_EQ(set.notes.empty(), said);
    }
}

TEST(GridMapping, MayHoldTheCrsAsText) {
    const std::string wkt =
        R"(GEOGCS[\"a\",DATUM[\"b\",SPHEROID[\"c\",6378137,298]],PRIMEM[\"Greenwich\",0],)"
        R"(UNIT[\"degree\",0.0174532925199433]])";
    for (const char *attribute : {"crs_wkt", "spatial_ref"}) {
        Dataset set;
        set.mapped("\"" + std::string(attribute) + "\":\"" + wkt +
                   R"(","grid_mapping_name":"transverse_mercator")");
        EXPECT_TRUE(contains(set.describe().crs, R"(GEOGCS["a")")) << attribute;
    }
    Dataset set;
    set.mapped(R"("srid":"urn:ogc:def:crs:EPSG::6931")");
    EXPECT_TRUE(contains(set.describe().crs, "WGS 84 / NSIDC EASE-Grid 2.0 North"));
}

TEST(GridMapping, MayNameItsCrsInOtherWays) {
    const struct {
        const char *attribute, *value, *part;
    } cases[] = {
        {"proj4", "+proj=utm +zone=33 +datum=WGS84", "UTM zone 33N"},
        {"proj4_params", "+proj=utm +zone=33 +datum=WGS84", "UTM zone 33N"},
        {"proj4_string", "+proj=utm +zone=33 +datum=WGS84", "UTM zone 33N"},
        {"proj4text", "+proj=utm +zone=33 +datum=WGS84", "UTM zone 33N"},
        {"epsg_code", "EPSG:3857", "WGS 84 / Pseudo-Mercator"},
    };
    for (const auto &c : cases) {
        const std::string named = "\"" + std::string(c.attribute) + "\":\"" + c.value + "\"";
        Dataset set;
        set.mapped(named);
        EXPECT_TRUE(contains(set.describe().crs, c.part)) << c.attribute;
        Dataset told;
        told.mapped(named + R"(,"grid_mapping_name":"orthographic")");
        EXPECT_TRUE(contains(told.describe().crs, "Orthographic")) << c.attribute;
    }
}

TEST(GridMapping, FallsBackToParametersWhereTheTextIsNoCrs) {
    Dataset set;
    set.projected();
    set.mapped(R"("crs_wkt":"nonsense","grid_mapping_name":"transverse_mercator")");
    EXPECT_TRUE(contains(set.describe().crs, "Transverse Mercator"));
}

TEST(GridMapping, IsNotedWhenNothingInItIsUnderstood) {
    for (const char *mapping : {R"("grid_mapping_name":"flat_earth")", R"("foo":1)",
                                R"("grid_mapping_name":"mercator","earth_radius":1e999)"}) {
        Dataset set;
        set.projected();
        set.mapped(mapping);
        EXPECT_EQ(set.describe().crs, nullptr) << mapping;
        EXPECT_FALSE(set.notes.empty()) << mapping;
    }
}

TEST(GridMapping, TakesTheUnitOfBothAxes) {
    const struct {
        const char *units, *part;
    } cases[] = {
        {"m", R"(LENGTHUNIT["metre",1]])"},
        {"meters", R"(LENGTHUNIT["metre",1]])"},
        {"km", R"(LENGTHUNIT["kilometre",1000]])"},
        {"US_survey_foot", R"(LENGTHUNIT["US survey foot",0.304800609601219]])"},
        {"feet", R"(LENGTHUNIT["foot",0.3048]])"},
        {"furlong", R"(LENGTHUNIT["metre",1]])"},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.projected(c.units);
        set.mapped(R"("grid_mapping_name":"transverse_mercator")");
        EXPECT_TRUE(contains(set.describe().crs, std::string(R"(ORDER[2],)") + c.part))
            << c.units << set.description.crs;
    }
}

TEST(GridMapping, IsChosenByTheAxesOfThePictureInTheExpandedForm) {
    const struct {
        const char *text;
        bool found;
    } cases[] = {
        {"crs: x y", true},
        {"crs: y x z", true},
        {"ll: lat lon crs: x y", true},
        {"crs: x y ll: lat lon", true},
        {"crs: lat lon", false},
        {"crs:", false},
        {"x y", false},
        {"ll: x y", false},
        {"crs: x lat", false},
    };
    for (const auto &c : cases) {
        Dataset set;
        set.projected();
        set.array("crs", {{}, {}, R"("grid_mapping_name":"transverse_mercator")", "<i4"});
        set.array("v", {{"y", "x"}, {4, 5}, std::string(R"("grid_mapping":")") + c.text + "\""});
        EXPECT_EQ(set.describe().crs != nullptr, c.found) << c.text;
    }
}

TEST(Crs, MayBeNamedByTheArrayItself) {
    const struct {
        const char *text, *part;
    } cases[] = {{"EPSG:3857", "WGS 84 / Pseudo-Mercator"},
                 {"+proj=utm +zone=33 +datum=WGS84", "UTM zone 33N"},
                 {"+datum=WGS84 +zone=33 +proj=utm", "UTM zone 33N"},
                 {"+proj=utm +zone=33 +datum=WGS84 +type=crs", "UTM zone 33N"},
                 {"+a=6371007.181 +b=6371007.181 +lon_0=0 +no_defs +proj=sinu +units=m +x_0=0 "
                  "+y_0=0",
                  "Sinusoidal"}};
    for (const auto &c : cases) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, std::string(R"("crs":")") + c.text + "\""});
        EXPECT_TRUE(contains(set.describe().crs, c.part)) << c.text;
    }
    Dataset set;
    set.array("v", {{"y", "x"}, {4, 5}, R"("crs":"see below")"});
    EXPECT_EQ(set.describe().crs, nullptr);
}

TEST(Crs, MayBeALongTextOrOneInBlanks) {
    std::string wkt =
        R"(GEOGCS[\"a\",DATUM[\"b\",SPHEROID[\"c\",6378137,298]],PRIMEM[\"Greenwich\",0],)"
        R"(UNIT[\"degree\",0.0174532925199433],EXTENSION[\"note\",\")";
    wkt += std::string(500, 'x') + R"(\"]])";
    for (const std::string &text : {wkt, std::string("  +proj=utm +zone=33 +datum=WGS84 ")}) {
        Dataset set;
        set.array("v", {{"y", "x"}, {4, 5}, R"("crs":")" + text + "\""});
        EXPECT_NE(set.describe().crs, nullptr) << text;
    }
}

TEST(Crs, MayBeNeitherGeographicNorProjected) {
    Dataset set;
    set.projected();
    set.mapped(R"("crs_wkt":"LOCAL_CS[\"site\",UNIT[\"metre\",1]]")");
    EXPECT_TRUE(contains(set.describe().crs, "LOCAL_CS"));
}

TEST(Crs, IsAssumedForLongitudesAndLatitudesUnlessToldOtherwise) {
    for (const bool assume : {true, false}) {
        Dataset set;
        set.latlon({0, 1}, {0, 1, 2});
        set.array("v", {{"lat", "lon"}, {2, 3}});
        set.options.assume_longlat = assume;
        EXPECT_EQ(set.describe().crs_assumed, assume);
        EXPECT_STREQ(set.description.crs, assume ? "EPSG:4326" : nullptr);
    }
}

TEST(Crs, IsAssumedWherePixelsReachBeyondThePoles) {
    Dataset set; // as the grids of 2.5 degrees of NCEP and ECMWF, whose first and last rows are the
                 // poles
    set.latlon({90, 87.5, 85}, {0, 2.5});
    set.array("v", {{"lat", "lon"}, {3, 2}});
    EXPECT_STREQ(set.describe().crs, "EPSG:4326");
}

TEST(Crs, IsNotAssumedForValuesThatAreNoDegrees) {
    for (const Values &lon : {Values({0, 1000, 2000}), Values({-1000, 0, 1000})}) {
        Dataset set;
        set.latlon({0, 1}, lon);
        set.array("v", {{"lat", "lon"}, {2, 3}});
        EXPECT_TRUE(set.describe().has_geotransform);
        EXPECT_EQ(set.description.crs, nullptr);
    }
    Dataset set;
    set.latlon({0, 100}, {0, 1});
    set.array("v", {{"lat", "lon"}, {2, 2}});
    EXPECT_EQ(set.describe().crs, nullptr);
}

TEST(Crs, IsNotAssumedForAxesThatAreMerelyCalledXAndY) {
    Dataset set;
    set.coordinate("rlat", {0, 1}, R"("axis":"Y","units":"degrees")");
    set.coordinate("rlon", {0, 1, 2}, R"("axis":"X","units":"degrees")");
    set.array("v", {{"rlat", "rlon"}, {2, 3}});
    EXPECT_TRUE(set.describe().has_geotransform);
    EXPECT_EQ(set.description.crs, nullptr);
}

/** An array of GDAL's Zarr driver, whose axes say nothing. */
struct GdalZarr {
    void describe(const std::string &forms, bool has_axes = true) {
        if (has_axes) {
            set.coordinate("Y", {35, 25, 15, 5}, "");
            set.coordinate("X", {500, 510, 520, 530, 540}, "");
        }
        set.array("v", {{"Y", "X"}, {4, 5}, "\"_CRS\":{" + forms + "}", "<i2"});
        set.describe();
    }
    Dataset set;
};

TEST(OfGdalsZarr, HasNoCrsWhereNoneOfTheFormsNamesOne) {
    for (const char *form : {R"("projjson":null)", R"("projjson":null,"url":"EPSG:5773")"}) {
        GdalZarr one;
        one.describe(form);
        EXPECT_EQ(one.set.description.crs, nullptr) << form;
    }
}

TEST(OfGdalsZarr, HasTheCrsInAnyOfItsForms) {
    const std::string forms[] = {
        R"("url":"http://www.opengis.net/def/crs/EPSG/0/32633")",
        std::string(R"("wkt":"nonsense","projjson":{"type":"ProjectedCRS","name":"WGS 84 / UTM )") +
            R"(zone 33N","base_crs":{"name":"WGS 84","datum":{"type":"GeodeticReferenceFrame",)" +
            R"("name":"World Geodetic System 1984","ellipsoid":{"name":"WGS 84",)" +
            R"("semi_major_axis":6378137,"inverse_flattening":298.257223563}},)" +
            R"("coordinate_system":{"subtype":"ellipsoidal","axis":[{"name":"Lat",)" +
            R"("abbreviation":"Lat","direction":"north","unit":"degree"},{"name":"Lon",)" +
            R"("abbreviation":"Lon","direction":"east","unit":"degree"}]}},"conversion":{"name":)" +
            R"("UTM zone 33N","method":{"name":"Transverse Mercator","id":{"authority":"EPSG",)" +
            R"("code":9807}},"parameters":[]},"coordinate_system":{"subtype":"Cartesian","axis":[)" +
            R"({"name":"E","abbreviation":"E","direction":"east","unit":"metre"},{"name":"N",)" +
            R"("abbreviation":"N","direction":"north","unit":"metre"}]}})"};
    for (const std::string &form : forms) {
        GdalZarr one;
        one.describe(form);
        ASSERT_NE(one.set.description.crs, nullptr) << form;
        EXPECT_NE(std::string(one.set.description.crs).find("UTM zone 33N"), std::string::npos);
        EXPECT_EQ(one.set.geotransform(), Values({495, 10, 0, 40, 0, -10}));
        EXPECT_FALSE(one.set.description.flip_y);
        EXPECT_EQ(one.set.description.nodata_kind, REFS_CF_NODATA_NONE);
    }
}

TEST(OfGdalsZarr, KeepsItsRowsWithoutAPlace) {
    GdalZarr one;
    one.describe(R"("url":"http://www.opengis.net/def/crs/EPSG/0/32633")", false);
    EXPECT_FALSE(one.set.description.has_geotransform);
    EXPECT_FALSE(one.set.description.flip_y);
    EXPECT_NE(one.set.description.crs, nullptr);
}

TEST(OfGdalsZarr, IsNoneWithoutACrs) {
    GdalZarr one;
    one.describe("");
    EXPECT_FALSE(one.set.description.has_geotransform);
    EXPECT_TRUE(one.set.description.flip_y);
}

/** A raster with a scalar "spatial_ref", and what else its attributes say. */
void describeWith(Dataset &set, const std::string &attributes) {
    set.coordinate("y", {5, 4, 3, 2}, R"("units":"m","standard_name":"projection_y_coordinate")");
    set.coordinate("x", {1, 2, 3, 4, 5},
                   R"("units":"m","standard_name":"projection_x_coordinate")");
    set.array("n", {{}, {}, R"("long_name":"no mapping")"});
    set.array("spatial_ref", {{}, {}, R"("crs_wkt":"EPSG:32632")"});
    set.array("other", {{}, {}, R"("spatial_ref":"EPSG:32633")"});
    set.array("v", {{"y", "x"}, {4, 5}, attributes});
    set.describe();
}

TEST(ScalarAmongCoordinates, IsTheGridMappingWhereNothingElseIs) {
    const struct {
        const char *attributes, *crs;
    } rows[] = {
        {R"("coordinates":"n spatial_ref other")", "EPSG:32632"},
        {R"("coordinates":"other n spatial_ref")", "EPSG:32633"},
        {R"("coordinates":"spatial_ref","grid_mapping":"other")", "EPSG:32633"},
        {R"("coordinates":"spatial_ref","crs":"EPSG:4326")", "EPSG:32632"},
        {R"("coordinates":"n absent")", nullptr},
        {R"("long_name":"of no coordinates")", nullptr},
    };
    for (const auto &row : rows) {
        Dataset set;
        describeWith(set, row.attributes);
        EXPECT_STREQ(set.description.crs, row.crs) << row.attributes;
    }
}

TEST(ScalarAmongCoordinates, PlacesARasterWithoutAxes) {
    Dataset set;
    set.array("spatial_ref", {{}, {}, R"("crs_wkt":"EPSG:32632","GeoTransform":"10 2 0 20 0 -2")"});
    set.array("v", {{"y", "x"}, {4, 5}, R"("coordinates":"spatial_ref")"});
    set.describe();
    ASSERT_TRUE(set.description.has_geotransform);
    EXPECT_EQ(set.description.geotransform[0], 10);
    EXPECT_EQ(set.description.geotransform[5], -2);
}

} // namespace
