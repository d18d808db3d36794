/* faults_test.cc -- every allocation may fail. */
#include "dataset.h"

#include <cmath>
#include <cstdlib>

namespace {

/** Lets `allocationsLeft` more allocations succeed; negative is no limit. */
long allocationsLeft = -1;

bool mayAllocate() {
    if (allocationsLeft < 0) return true;
    if (allocationsLeft == 0) return false;
    allocationsLeft--;
    return true;
}
void *failingMalloc(size_t size) {
    return mayAllocate() ? malloc(size) : nullptr;
}
void *failingRealloc(void *memory, size_t size) {
    return mayAllocate() ? realloc(memory, size) : nullptr;
}

const refs_allocator failing = {failingMalloc, failingRealloc, free};

class Faults : public testing::Test {
  protected:
    void SetUp() override {
        refs_allocator_set(&failing);
        set.global(R"("Conventions":"CF-1.8","title":"T")");
        set.projected("km");
        set.array("lat", {{"y", "x"}, {4, 5}, R"("units":"degrees_north")"});
        set.array("lon", {{"y", "x"}, {4, 5}, R"("units":"degrees_east")"});
        set.coordinate("time", {0, 1}, R"("units":"days since 2000-01-01","calendar":"noleap")");
        set.array("s", {{"s"}, {2}, "", "|S4", "null"});
        set.strings["/s"] = {"no", "so"};
        set.array("crs", {{}, {}, R"("grid_mapping_name":"mercator","srid":"EPSG:3857")", "<i4"});
        set.array("v", {{"time", "s", "y", "x"},
                        {2, 2, 4, 5},
                        R"("grid_mapping":"crs","coordinates":"lat lon","units":"K",)"
                        R"("_FillValue":"AAAAAAAA+H8=")",
                        "<f4"});
        set.array("w", {{"y", "x"}, {4, 5}, R"("flag_values":[1,3],"flag_meanings":"a b")", "|u1"});
        set.group("tiff", R"("ModelPixelScale":[1,1,0],"ModelTiepoint":[0,0,0,5,9,0],)"
                          R"("GTCitationGeoKey":"Mine","ProjNatOriginLatGeoKey":5,)"
                          R"("ProjectedCSTypeGeoKey":32767)");
        set.array("tiff/0", {{"Y", "X"}, {4, 5}});
        set.options.geotiff.read_crs = [](void *, refs_bytes, refs_buf *wkt, refs_error *err) {
            return refs_buf_append_str(wkt, refs_str_from("EPSG:3857"), err);
        };
        set.array("grib", {{"j", "i"},
                           {4, 5},
                           R"("GRIB_gridType":"lambert","GRIB_LaDInDegrees":38.5,)"
                           R"("GRIB_LoVInDegrees":262.5,"GRIB_Latin1InDegrees":38.5,)"
                           R"("GRIB_Latin2InDegrees":38.5,"GRIB_DxInMetres":1,"GRIB_DyInMetres":1,)"
                           R"("GRIB_latitudeOfFirstGridPointInDegrees":38,)"
                           R"("GRIB_longitudeOfFirstGridPointInDegrees":262,)"
                           R"("GRIB_jScansPositively":1)"});
        set.options.placement = {true, true, true, true, true, true};
        set.options.selection = "time=2000-01-01:2000-01-02,s=no:so";
        set.find("v");
    }
    void TearDown() override {
        allocationsLeft = -1;
        refs_cf_description_clear(&set.description);
    }
    /** Describes an array with ever more allocations until it succeeds; returns how many. */
    long allocationsOfDescribing(const std::string &path) {
        for (long allowed = 0; allowed < 10000; allowed++) {
            refs_error_clear(&set.error);
            allocationsLeft = allowed;
            const refs_status status = set.tryToDescribe(path);
            allocationsLeft = -1;
            EXPECT_EQ(set.error.status, status);
            if (status == REFS_OK) return allowed;
            EXPECT_EQ(status, REFS_NOMEM) << set.error.message;
        }
        ADD_FAILURE() << path << " is never described";
        return 0;
    }
    static void TearDownTestSuite() { refs_allocator_set(nullptr); }
    Dataset set;
};

TEST_F(Faults, EveryFailedAllocationIsToldAndNothingIsLost) {
    EXPECT_GT(allocationsOfDescribing("v"), 50);
    EXPECT_TRUE(std::isnan(set.description.nodata));
    EXPECT_NE(set.description.crs, nullptr);
}

TEST_F(Faults, NamesOfValuesToo) {
    set.options.selection = nullptr;
    EXPECT_GT(allocationsOfDescribing("w"), 10);
    EXPECT_EQ(set.description.categories.n, 4u);
}

TEST_F(Faults, SetsOfTiffFilesToo) {
    set.options.selection = nullptr;
    EXPECT_GT(allocationsOfDescribing("tiff/0"), 10);
    EXPECT_STREQ(set.description.crs, "EPSG:3857");
}

TEST_F(Faults, SetsOfGribMessagesToo) {
    set.options.selection = nullptr;
    EXPECT_GT(allocationsOfDescribing("grib"), 10);
    EXPECT_TRUE(set.description.has_geotransform);
}

TEST_F(Faults, FailuresOfSelectionsToo) {
    set.options.selection = "s=none";
    for (long allowed = 0; allowed < 10000; allowed++) {
        refs_error_clear(&set.error);
        allocationsLeft = allowed;
        const refs_status status = set.tryToDescribe();
        allocationsLeft = -1;
        if (status == REFS_NOT_FOUND) return;
        ASSERT_EQ(status, REFS_NOMEM) << set.error.message;
    }
    FAIL() << "the selection is never refused";
}

TEST_F(Faults, BandMetadataToo) {
    set.describe();
    for (long allowed = 0;; allowed++) {
        refs_cf_items items = {nullptr, 0, 0};
        refs_buf text = REFS_BUF_INIT;
        allocationsLeft = allowed;
        refs_status status = refs_cf_band_description(&set.description, 3, &text, nullptr);
        if (status == REFS_OK)
            status = refs_cf_band_metadata(&set.description, set.find("v"), 3, &items, nullptr);
        allocationsLeft = -1;
        refs_cf_items_clear(&items);
        refs_buf_clear(&text);
        if (status == REFS_OK) break;
        ASSERT_EQ(status, REFS_NOMEM);
        ASSERT_LT(allowed, 10000);
    }
}

} // namespace
