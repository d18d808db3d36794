/* description_test.cc -- the arrays of a set as masters have them. */
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "memory_hierarchy.h"
#include "refs/array.h"
#include "refs/cfa/cfa.h"
#include "refs/cfa/stored.h"

namespace {

std::string zarray(const std::string &shape, const std::string &chunks,
                   const std::string &fill = "null") {
    return R"({"zarr_format":2,"dtype":"<f4","order":"C","compressor":null,"filters":null,"shape":)" +
           shape + R"(,"chunks":)" + chunks + R"(,"fill_value":)" + fill + "}";
}

class Description : public testing::Test {
  protected:
    ~Description() override { refs_cfa_description_clear(&made_); }

    void put(const std::string &path, const std::string &shape, const std::string &dims,
             const std::string &attributes = "", const std::string &fill = "null") {
        of_.store.put(path + "/.zarray", zarray(shape, shape, fill));
        of_.store.put(path + "/.zattrs", R"({"_ARRAY_DIMENSIONS":)" + dims + attributes + "}");
    }
    const refs_cfa_description &make() {
        const refs_hierarchy *hierarchy = of_.get();
        EXPECT_EQ(refs_cfa_description_make(refs_store_set(of_.store.opened()), hierarchy, &made_,
                                            nullptr),
                  REFS_OK);
        return made_;
    }
    std::set<std::string> dims() const {
        std::set<std::string> found;
        for (size_t i = 0; i < made_.source.n_dims; i++)
            found.insert(made_.source.dims[i].path + std::string("=") +
                         std::to_string(made_.source.dims[i].size));
        return found;
    }

    MemoryHierarchy of_;
    refs_cfa_description made_{};
};

TEST_F(Description, HasADimensionOfOneNameAndSizeOnce) {
    of_.store.put("g/.zgroup", R"({"zarr_format":2})");
    put("t", "[2,3]", R"(["time","x"])");
    put("u", "[2,3]", R"(["time","x"])");
    put("g/t", "[2,5]", R"(["time","x"])");
    EXPECT_EQ(make().source.n_arrays, 3u);
    const std::set<std::string> expected = {"/time=2", "/x=3", "/g/x=5"};
    EXPECT_EQ(dims(), expected);
}

TEST_F(Description, FillsGapsWithWhatIsDeclaredAlone) {
    put("declared", "[2]", R"(["x"])", R"(,"_FillValue":-9)", "-9");
    put("filled", "[2]", R"(["x"])", R"(,"_FillValue":-9)", "0");
    make();
    ASSERT_EQ(made_.source.n_arrays, 2u);
    for (size_t i = 0; i < 2; i++) {
        const bool isDeclared = std::string(made_.metas[i]->name) == "declared";
        EXPECT_EQ(refs_cfa_description_fills_gaps(&made_, i), isDeclared);
        ASSERT_NE(made_.source.arrays[i].variable.fill, nullptr);
        float fill;
        memcpy(&fill, made_.source.arrays[i].variable.fill, sizeof fill);
        EXPECT_EQ(fill, -9);
    }
}

TEST_F(Description, HasValuesOfItsOwnBesideCoordinates) {
    put("x", "[2]", R"(["x"])");
    EXPECT_FALSE(refs_cfa_description_has_own(&make()));
    EXPECT_FALSE(refs_cfa_description_is_empty(&made_)) << "it has no field";
}

TEST_F(Description, HasValuesOfItsOwnInSmallVariables) {
    put("x", "[2]", R"(["x"])");
    put("t", "[2]", R"(["x"])");
    EXPECT_TRUE(refs_cfa_description_has_own(&make()));
    EXPECT_FALSE(refs_cfa_description_is_empty(&made_));
}

TEST_F(Description, IsEmptyWithoutRecords) {
    put("t", "[0,2]", R"(["time","x"])");
    EXPECT_TRUE(refs_cfa_description_is_empty(&make()));
}

TEST_F(Description, ListsChunksThatAreStored) {
    of_.store.put("v/.zarray", zarray("[4,6]", "[2,2]"));
    of_.store.put("v/0.1", std::string(16, '\0'));
    make();
    refs_cfa_stored stored{};
    ASSERT_EQ(refs_cfa_stored_open(made_.set, made_.metas[0], &stored, nullptr), REFS_OK);
    const auto has = [&](uint64_t y, uint64_t x, uint64_t height, uint64_t width) {
        const uint64_t start[] = {y, x}, count[] = {height, width};
        return refs_cfa_stored_has(&stored, start, count);
    };
    EXPECT_TRUE(has(0, 2, 1, 1));
    EXPECT_TRUE(has(0, 0, 4, 6));
    EXPECT_FALSE(has(0, 0, 4, 2));
    EXPECT_FALSE(has(2, 0, 2, 6));
    refs_cfa_stored_clear(&stored);
}

TEST(Master, HasItsFragmentsInFoldersOfItsName) {
    for (const char *name : {"m", "m.nca.g1", "m.nca.g2"})
        EXPECT_TRUE(refs_cfa_is_folder_of("a/m.nca", name)) << name;
    for (const char *name : {"a", "m.nca", "m2", "m.g1"})
        EXPECT_FALSE(refs_cfa_is_folder_of("a/m.nca", name)) << name;
}

} // namespace
