/* geozarr_test.cc -- the Zarr conventions "proj:" and "spatial:". */
#include "dataset.h"

namespace {

const std::string proj = R"({"uuid":"f17cb550-5864-4468-aeb7-f3180cfb622f"})";
const std::string spatial = R"({"uuid":"689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"})";
const std::string both = R"("zarr_conventions":[)" + proj + "," + spatial + "],";
const std::string dims = R"("spatial:dimensions":["y","x"],)";
const std::string transform = R"("spatial:transform":[10,0,500,0,-20,900])";

/** An array of four by five. */
class GeoZarr : public testing::Test {
  protected:
    void describe(const std::string &attributes) {
        set.array("v", {{"y", "x"}, {4, 5}, attributes});
        set.describe("v");
    }
    bool crsHolds(const std::string &part) const {
        return set.description.crs != nullptr &&
               std::string(set.description.crs).find(part) != std::string::npos;
    }
    Dataset set;
};

TEST_F(GeoZarr, TransformIsThatOfAMatrixAndRowsStayAsTheyAre) {
    describe(both + dims + transform);
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
    EXPECT_FALSE(set.description.flip_y);
    EXPECT_EQ(set.description.crs, nullptr);
}

TEST_F(GeoZarr, WinsOverCf) {
    set.projected();
    set.array("crs", {{}, {}, R"("grid_mapping_name":"latitude_longitude")", "<i4"});
    describe(both + dims + transform + R"(,"proj:code":"EPSG:32633","grid_mapping":"crs")");
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
    EXPECT_TRUE(crsHolds("UTM zone 33N"));
}

TEST_F(GeoZarr, HoldsOnlyWhereTheConventionIsListed) {
    describe(R"("zarr_conventions":[)" + proj + "]," + dims + transform +
             R"(,"proj:code":"EPSG:32633")");
    EXPECT_FALSE(set.description.has_geotransform);
    EXPECT_TRUE(crsHolds("UTM zone 33N"));
    Dataset without;
    without.array("v", {{"y", "x"}, {4, 5}, dims + transform + R"(,"proj:code":"EPSG:32633")"});
    without.describe("v");
    EXPECT_FALSE(without.description.has_geotransform);
    EXPECT_EQ(without.description.crs, nullptr);
}

TEST_F(GeoZarr, CrsIsTheFirstThatProjKnows) {
    describe(
        both +
        R"("proj:code":"EPSG:99999999","proj:wkt2":"nonsense","proj:projjson":)"
        R"({"type":"GeographicCRS","name":"made up","datum":{"type":"GeodeticReferenceFrame",)"
        R"("name":"d","ellipsoid":{"name":"e","semi_major_axis":6370000,"inverse_flattening":300}},)"
        R"("coordinate_system":{"subtype":"ellipsoidal","axis":[{"name":"Lat","abbreviation":"lat",)"
        R"("direction":"north","unit":"degree"},{"name":"Lon","abbreviation":"lon","direction":"east",)"
        R"("unit":"degree"}]}})");
    EXPECT_TRUE(crsHolds("made up"));
}

TEST_F(GeoZarr, CodeOfStacNeedsNoConvention) {
    describe(R"("proj:epsg":32633)");
    EXPECT_TRUE(crsHolds("UTM zone 33N"));
}

TEST_F(GeoZarr, TransformOfStacPlacesWhereNothingElseDoes) {
    const std::string stac = R"("proj:epsg":32633,"proj:transform":[10,0,500,0,-20,900,0,0,1])";
    describe(stac);
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
    EXPECT_FALSE(set.description.flip_y);
    Dataset six;
    six.array("v",
              {{"y", "x"}, {4, 5}, R"("proj:shape":[4,5],"proj:transform":[10,0,500,0,-20,900])"});
    six.describe("v");
    EXPECT_EQ(six.geotransform(), Values({500, 10, 0, 900, 0, -20}));
    Dataset placed;
    placed.projected();
    placed.array("v", {{"y", "x"}, {4, 5}, stac});
    placed.describe("v");
    EXPECT_EQ(placed.geotransform(), Values({-0.5, 1, 0, 3.5, 0, -1}));
}

TEST_F(GeoZarr, TransformOfStacThatDoesNotFitIsIgnored) {
    describe(R"("proj:transform":[10,0,500,0,-20,900,0,1,1])");
    EXPECT_FALSE(set.description.has_geotransform);
    EXPECT_TRUE(set.noted("six or nine numbers"));
    Dataset other;
    other.array(
        "v", {{"y", "x"}, {4, 5}, R"("proj:shape":[8,10],"proj:transform":[10,0,500,0,-20,900])"});
    other.describe("v");
    EXPECT_FALSE(other.description.has_geotransform);
    EXPECT_TRUE(other.noted("shape of proj:shape"));
}

TEST_F(GeoZarr, AxesWithoutAttributesPlaceWhatHasACrsOfProj) {
    set.coordinate("y", {890, 870, 850, 830}, "");
    set.coordinate("x", {505, 515, 525, 535, 545}, "");
    set.array("v", {{"y", "x"}, {4, 5}, R"("proj:epsg":32633)"});
    set.array("w", {{"y", "x"}, {4, 5}});
    set.describe("v");
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
    EXPECT_FALSE(set.description.flip_y);
    set.describe("w");
    EXPECT_FALSE(set.description.has_geotransform);
}

TEST_F(GeoZarr, BoxCountsWhereNothingElsePlacesTheGrid) {
    describe(both + dims + R"("spatial:bbox":[0,10,50,50])");
    EXPECT_EQ(set.geotransform(), Values({0, 10, 0, 50, 0, -10}));
    Dataset placed;
    placed.projected();
    placed.array("v", {{"y", "x"}, {4, 5}, both + dims + R"("spatial:bbox":[0,10,50,50])"});
    placed.describe("v");
    EXPECT_EQ(placed.geotransform(), Values({-0.5, 1, 0, 3.5, 0, -1}));
}

TEST_F(GeoZarr, NodesAreCentres) {
    describe(both + dims + transform + R"(,"spatial:registration":"node")");
    EXPECT_EQ(set.geotransform(), Values({495, 10, 0, 910, 0, -20}));
    Dataset boxed;
    boxed.array("v", {{"y", "x"},
                      {4, 5},
                      both + dims + R"("spatial:bbox":[0,0,40,30],"spatial:registration":"node")"});
    boxed.describe("v");
    EXPECT_EQ(boxed.geotransform(), Values({-5, 10, 0, 35, 0, -10}));
}

TEST_F(GeoZarr, GroupsSpeakForTheirArraysOfThatShape) {
    const std::string shared = both + dims + transform + R"(,"proj:code":"EPSG:32633")";
    set.group("g", shared + R"(,"spatial:shape":[4,5])");
    set.array("g/v", {{"y", "x"}, {4, 5}});
    set.array("g/w", {{"y", "x"}, {2, 5}});
    set.describe("g/v");
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
    EXPECT_TRUE(crsHolds("UTM zone 33N"));
    set.describe("g/w");
    EXPECT_FALSE(set.description.has_geotransform);
    EXPECT_TRUE(crsHolds("UTM zone 33N"));
}

TEST_F(GeoZarr, DimensionsThatAreNamedAreTheRaster) {
    set.array("v", {{"y", "x", "band"}, {4, 5, 3}, both + dims + transform});
    set.describe("v");
    EXPECT_EQ(set.description.y_dim, 0u);
    EXPECT_EQ(set.description.x_dim, 1u);
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
}

TEST_F(GeoZarr, DimensionsTheOtherWayAroundTurnTheTransform) {
    describe(both + R"("spatial:dimensions":["x","y"],)" + transform);
    EXPECT_EQ(set.geotransform(), Values({500, 0, 10, 900, -20, 0}));
    Dataset stored;
    stored.array("v", {{"x", "band", "y"}, {5, 2, 4}, both + dims + transform});
    stored.describe("v");
    EXPECT_EQ(stored.description.y_dim, 0u);
    EXPECT_EQ(stored.description.x_dim, 2u);
    EXPECT_EQ(stored.geotransform(), Values({500, 0, 10, 900, -20, 0}));
    Dataset boxed;
    boxed.array("v", {{"x", "y"}, {5, 4}, both + dims + R"("spatial:bbox":[0,0,50,80])"});
    boxed.describe("v");
    EXPECT_EQ(boxed.geotransform(), Values({0, 0, 10, 80, -20, 0}));
}

TEST_F(GeoZarr, LayoutsSayWhereTheirLevelsLie) {
    set.global(both + dims +
               R"("multiscales":{"layout":[)"
               R"({"asset":"0","spatial:shape":[4,6],"spatial:transform":[10,0,500,0,-20,900]},)"
               R"({"asset":"1","spatial:transform":[20,0,500,0,-40,900]},)"
               R"({"asset":"2","spatial:shape":[7,7],"spatial:transform":[40,0,500,0,-80,900]}]})");
    for (const char *level : {"0", "1", "2"}) {
        const uint64_t n = 4u >> std::stoi(level);
        set.group(level, "");
        set.array(std::string(level) + "/v", {{"y", "x"}, {n, n * 3 / 2}});
    }
    set.describe("0/v");
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
    EXPECT_FALSE(set.description.flip_y);
    set.describe("1/v");
    EXPECT_EQ(set.geotransform(), Values({500, 20, 0, 900, 0, -40}));
    set.describe("2/v");
    EXPECT_EQ(set.geotransform(), Values()) << "is of another shape";
    EXPECT_FALSE(set.description.flip_y);
}

TEST_F(GeoZarr, TheBoxOfAGroupIsThatOfItsLevels) {
    set.global(both + dims + transform +
               R"(,"spatial:bbox":[0,0,60,40],)"
               R"("multiscales":{"layout":[{"asset":"full"},{"asset":"half"}]})");
    set.group("half", "");
    set.group("other", "");
    set.array("full", {{"y", "x"}, {4, 6}});
    set.array("half/full", {{"y", "x"}, {2, 3}});
    set.array("other/full", {{"y", "x"}, {4, 6}});
    set.describe("full");
    EXPECT_EQ(set.geotransform(), Values({0, 10, 0, 40, 0, -10}));
    set.describe("half/full");
    EXPECT_EQ(set.geotransform(), Values({0, 20, 0, 40, 0, -20}));
    set.describe("other/full");
    EXPECT_EQ(set.geotransform(), Values());
}

/** Levels "0", "1" and "2" of four by six, two by three and one by two; the group has a transform.
 */
class GeoZarrLevels : public GeoZarr {
  protected:
    Values placeOf(const std::string &level, const std::string &layout,
                   const std::string &said = transform) {
        Dataset levels;
        levels.global(both + dims + said + R"(,"multiscales":{"layout":[)" + layout + "]}");
        levels.array("0", {{"y", "x"}, {4, 6}});
        levels.array("1", {{"y", "x"}, {2, 3}});
        levels.array("2", {{"y", "x"}, {1, 2}});
        levels.describe(level);
        notes = levels.notes;
        return levels.geotransform();
    }
    std::vector<std::string> notes;
    const std::string first = R"({"asset":"0","spatial:shape":[4,6]},)";
    const std::string second = R"({"asset":"1","derived_from":"0","spatial:shape":[2,3])";
    const std::string third = R"({"asset":"2","derived_from":"1","spatial:shape":[1,2])";
    const std::string twice = R"(,"transform":{"scale":[2,2]}})";
};

TEST_F(GeoZarrLevels, WithoutScaleHaveTheExtentOfTheLargest) {
    EXPECT_EQ(placeOf("0", first + second + "}," + third + "}"), Values({500, 10, 0, 900, 0, -20}));
    EXPECT_EQ(placeOf("1", first + second + "}," + third + "}"), Values({500, 20, 0, 900, 0, -40}));
    EXPECT_EQ(placeOf("2", first + second + "}," + third + "}"), Values({500, 30, 0, 900, 0, -80}));
}

TEST_F(GeoZarrLevels, HaveTheirScaleTimesThatOfTheLevelTheyAreDerivedFrom) {
    EXPECT_EQ(placeOf("2", first + second + twice + "," + third + twice),
              Values({500, 40, 0, 900, 0, -80}));
    EXPECT_EQ(notes, std::vector<std::string>());
}

TEST_F(GeoZarrLevels, HaveTheTransformOfTheLevelTheyAreDerivedFrom) {
    const std::string placed =
        R"({"asset":"0","spatial:shape":[4,6],"spatial:transform":[1,0,7,0,-1,8]},)";
    EXPECT_EQ(placeOf("1", placed + second + R"(,"transform":{"scale":[2,3]}})"),
              Values({7, 3, 0, 8, 0, -2}));
    EXPECT_EQ(placeOf("1", placed + second + "}"), Values({7, 2, 0, 8, 0, -2}));
}

TEST_F(GeoZarrLevels, OfWrongScalesHaveTheExtentOfTheLargest) {
    for (const char *wrong : {"[0,2]", "[-2,2]", "[2]", "[2,2,2]", "\"x\"", "[2,null]"}) {
        EXPECT_EQ(placeOf("1", first + second + R"(,"transform":{"scale":)" + wrong + "}}"),
                  Values({500, 20, 0, 900, 0, -40}))
            << wrong;
    }
    EXPECT_EQ(
        placeOf("1", first + R"({"asset":"1","derived_from":"1","spatial:shape":[2,3])" + twice),
        Values({500, 20, 0, 900, 0, -40}))
        << "derived from itself";
}

TEST_F(GeoZarrLevels, AreNotMovedByTranslations) {
    EXPECT_EQ(
        placeOf("1", first + second + R"(,"transform":{"scale":[2,2],"translation":[0.5,0.5]}})"),
        Values({500, 20, 0, 900, 0, -40}));
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("transform.translation"), std::string::npos);
}

TEST_F(GeoZarrLevels, MayBeLargerThanWhatTheyAreDerivedFrom) {
    const std::string fine =
        R"({"asset":"0","derived_from":"1","spatial:shape":[4,6],"transform":{"scale":[0.5,0.5]}},)"
        R"({"asset":"1","spatial:shape":[2,3]})";
    EXPECT_EQ(placeOf("0", fine), Values({500, 5, 0, 900, 0, -10}));
    EXPECT_EQ(placeOf("1", fine), Values({500, 10, 0, 900, 0, -20}));
}

TEST_F(GeoZarrLevels, OfNodesKeepTheFirstCentre) {
    EXPECT_EQ(placeOf("1", first + second + twice, transform + R"(,"spatial:registration":"node")"),
              Values({490, 20, 0, 920, 0, -40}));
}

TEST_F(GeoZarrLevels, WithABoxOfTheirOwnLieThere) {
    EXPECT_EQ(placeOf("1", first + second + R"(,"spatial:bbox":[0,0,60,40]})"),
              Values({0, 20, 0, 40, 0, -20}));
}

TEST_F(GeoZarr, WhatIsNoTransformIsNone) {
    for (const char *wrong :
         {R"("spatial:transform":[10,0,500,0,-20])",
          R"("spatial:transform":[10,0,500,0,-20,900,0])",
          R"("spatial:transform":[10,0,500,0,-20,null])", R"("spatial:transform":"x")",
          R"("spatial:transform":[10,0,500,0,-20,900],"spatial:transform_type":"rpc")",
          R"("spatial:bbox":[0,0,0,0])", R"("spatial:bbox":[0,1])"}) {
        Dataset one;
        one.array("v", {{"y", "x"}, {4, 5}, both + dims + wrong});
        one.describe("v");
        EXPECT_FALSE(one.description.has_geotransform) << wrong;
    }
    describe(both + R"("spatial:dimensions":["y","z"],)" + transform);
    EXPECT_FALSE(set.description.has_geotransform);
}

TEST_F(GeoZarr, WhatIsNoTransformLeavesThePlaceToCf) {
    for (const char *wrong : {"[0,0,0,0,0,0]", "[0,0,500,0,0,900]", "[10,0,500,0,0,900]",
                              "[1,2,500,2,4,900]", "[10,0,500]", "\"x\""}) {
        Dataset one;
        one.projected();
        one.array("v", {{"y", "x"}, {4, 5}, both + dims + R"("spatial:transform":)" + wrong});
        one.describe("v");
        EXPECT_EQ(one.geotransform(), Values({-0.5, 1, 0, 3.5, 0, -1})) << wrong;
        EXPECT_TRUE(one.noted("spatial:transform")) << wrong;
    }
    set.projected();
    describe(both + dims + R"("spatial:transform":null)");
    EXPECT_EQ(set.geotransform(), Values({-0.5, 1, 0, 3.5, 0, -1}));
    EXPECT_EQ(set.notes, std::vector<std::string>());
}

TEST_F(GeoZarr, WhatIsNullOfALevelIsNotSaid) {
    set.global(both + dims + R"("spatial:shape":[4,6],)" + transform +
               R"(,"multiscales":{"layout":[)"
               R"({"asset":"0","spatial:shape":null,"spatial:transform":null}]})");
    set.group("0", "");
    set.array("0/v", {{"y", "x"}, {4, 6}});
    set.describe("0/v");
    EXPECT_EQ(set.geotransform(), Values({500, 10, 0, 900, 0, -20}));
}

TEST_F(GeoZarr, WhatIsNoCrsLeavesItToCf) {
    for (const char *wrong :
         {R"("proj:projjson":7)", R"("proj:projjson":{})", R"("proj:projjson":[1])",
          R"("proj:projjson":"null")", R"("proj:code":"foo")", R"("proj:code":"null")",
          R"("proj:code":"EPSG:5773")", R"("proj:code":"EPSG:9602")", R"("proj:wkt2":"nonsense")",
          R"("proj:code":4326)"}) {
        Dataset one;
        one.projected();
        one.array("crs", {{}, {}, R"("grid_mapping_name":"latitude_longitude")", "<i4"});
        one.array("v", {{"y", "x"}, {4, 5}, both + wrong + R"(,"grid_mapping":"crs")"});
        one.describe("v");
        ASSERT_NE(one.description.crs, nullptr) << wrong;
        EXPECT_EQ(std::string(one.description.crs).substr(0, 7), "GEOGCRS") << wrong;
        EXPECT_TRUE(one.noted("proj:")) << wrong;
    }
    describe(both + R"("proj:code":null,"proj:wkt2":null,"proj:projjson":null)");
    EXPECT_EQ(set.description.crs, nullptr);
    EXPECT_EQ(set.notes, std::vector<std::string>());
}

} // namespace
