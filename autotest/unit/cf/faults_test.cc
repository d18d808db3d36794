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
        set.texts["/s"] = {"no", "so"};
        set.array("crs", {{}, {}, R"("grid_mapping_name":"mercator","srid":"EPSG:3857")", "<i4"});
        set.array("v", {{"time", "s", "y", "x"},
                        {2, 2, 4, 5},
                        R"("grid_mapping":"crs","coordinates":"lat lon","units":"K",)"
                        R"("_FillValue":"AAAAAAAA+H8=")",
                        "<f4"});
        set.find("v");
    }
    void TearDown() override {
        allocationsLeft = -1;
        refs_cf_meaning_clear(&set.meaning);
    }
    static void TearDownTestSuite() { refs_allocator_set(nullptr); }
    Dataset set;
};

TEST_F(Faults, EveryFailedAllocationIsToldAndNothingIsLost) {
    long allowed = 0;
    for (refs_status status = REFS_NOMEM; status != REFS_OK; allowed++) {
        refs_error_clear(&set.error);
        allocationsLeft = allowed;
        status = set.tryToDescribe();
        allocationsLeft = -1;
        ASSERT_TRUE(status == REFS_OK || status == REFS_NOMEM) << set.error.message;
        ASSERT_EQ(set.error.status, status);
        ASSERT_LT(allowed, 10000);
    }
    EXPECT_GT(allowed, 50);
    EXPECT_TRUE(std::isnan(set.meaning.nodata));
    EXPECT_NE(set.meaning.crs, nullptr);
}

TEST_F(Faults, BandMetadataToo) {
    set.describe();
    for (long allowed = 0;; allowed++) {
        refs_cf_items items = {nullptr, 0, 0};
        allocationsLeft = allowed;
        const refs_status status =
            refs_cf_band_metadata(&set.meaning, set.find("v"), 3, &items, nullptr);
        allocationsLeft = -1;
        refs_cf_items_clear(&items);
        if (status == REFS_OK) break;
        ASSERT_EQ(status, REFS_NOMEM);
        ASSERT_LT(allowed, 10000);
    }
}

} // namespace
