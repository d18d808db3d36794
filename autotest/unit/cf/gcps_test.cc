/* gcps_test.cc -- ground control points of radar images. */
#include <cmath>

#include "dataset.h"

namespace {

/** A product of EOPF with 2 by 3 points; `height` is an array or is not there. */
void describeProduct(Dataset &set, const std::string &rows, const std::string &columns,
                     bool has_height = true) {
    const std::string gcp = "p/conditions/gcp/";
    set.array(gcp + "line", {{"azimuth_time"}, {2}});
    set.values["/" + gcp + "line"] = {0, 40};
    set.array(gcp + "pixel", {{"ground_range"}, {3}});
    set.values["/" + gcp + "pixel"] = {0, 25, 50};
    set.array(gcp + "latitude", {{"azimuth_time", "ground_range"}, {2, 3}});
    set.values["/" + gcp + "latitude"] = {40, 41, 42, 43, 44, NAN};
    set.array(gcp + "longitude", {{"azimuth_time", "ground_range"}, {2, 3}});
    set.values["/" + gcp + "longitude"] = {10, 11, 12, 13, 14, 15};
    if (has_height) {
        set.array(gcp + "height", {{"azimuth_time", "ground_range"}, {2, 3}});
        set.values["/" + gcp + "height"] = {1, 2, 3, 4, 5, 6};
    }
    set.array("p/measurements/v", {{rows, columns}, {40, 50}});
    set.describe("p/measurements/v");
}

TEST(Gcps, AreThoseOfTheProductInWhichTheArrayIsMeasured) {
    Dataset set;
    describeProduct(set, "azimuth_time", "ground_range");
    ASSERT_EQ(set.description.n_gcps, 5u) << "one has no place";
    const refs_cf_gcp &gcp = set.description.gcps[4];
    EXPECT_EQ(gcp.pixel, 25);
    EXPECT_EQ(gcp.line, set.description.flip_y ? 0 : 40);
    EXPECT_EQ(gcp.x, 14);
    EXPECT_EQ(gcp.y, 44);
    EXPECT_EQ(gcp.z, 5);
    EXPECT_FALSE(set.description.has_geotransform);
}

TEST(Gcps, NeedNoHeight) {
    Dataset set;
    describeProduct(set, "azimuth_time", "ground_range", false);
    ASSERT_EQ(set.description.n_gcps, 5u);
    EXPECT_EQ(set.description.gcps[1].z, 0);
}

TEST(Gcps, AreOfNoOtherArray) {
    Dataset set;
    set.array("v", {{"y", "x"}, {40, 50}});
    describeProduct(set, "azimuth_time", "ground_range");
    set.describe("v");
    EXPECT_EQ(set.description.n_gcps, 0u);
}

} // namespace
