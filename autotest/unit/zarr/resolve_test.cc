/* resolve_test.cc -- finding the arrays that attributes name. */
#include "memory_hierarchy.h"

namespace {

class Resolve : public testing::Test {
  protected:
    void SetUp() override {
        for (const char *path : {"lat", "crs", "a/lat", "a/b/v", "a/c/lon"})
            h.store.put(std::string(path) + "/.zarray", zarray());
    }
    std::string found(const char *group, const std::string &name) {
        const refs_array_meta *array = h.resolve(group, name);
        return array != nullptr ? array->path : "";
    }
    MemoryHierarchy h;
};

TEST_F(Resolve, LooksInTheGroupAndThenAboveIt) {
    EXPECT_EQ(found("/a/b", "v"), "/a/b/v");
    EXPECT_EQ(found("/a/b", "lat"), "/a/lat");
    EXPECT_EQ(found("/a/b", "crs"), "/crs");
    EXPECT_EQ(found("", "lat"), "/lat");
}

TEST_F(Resolve, DoesNotLookBelowOrBeside) {
    EXPECT_EQ(found("", "v"), "");
    EXPECT_EQ(found("/a/b", "lon"), "");
    EXPECT_EQ(found("/a/b", ""), "");
}

TEST_F(Resolve, FollowsAbsolutePathsFromTheRoot) {
    EXPECT_EQ(found("/a/b", "/lat"), "/lat");
    EXPECT_EQ(found("/a/b", "/a/c/lon"), "/a/c/lon");
    EXPECT_EQ(found("/a/b", "/v"), "");
}

TEST_F(Resolve, FollowsRelativePaths) {
    EXPECT_EQ(found("/a/b", "../lat"), "/a/lat");
    EXPECT_EQ(found("/a/b", "../../lat"), "/lat");
    EXPECT_EQ(found("/a/b", "../c/./lon"), "/a/c/lon");
    EXPECT_EQ(found("/a", "b/v"), "/a/b/v");
    EXPECT_EQ(found("", "a/b/v"), "/a/b/v");
}

TEST_F(Resolve, FollowsPathsThatAreRelativeToAGroupAbove) {
    EXPECT_EQ(found("/a/b", "c/lon"), "/a/c/lon");
    EXPECT_EQ(found("/a/b", "a/lat"), "/a/lat");
}

TEST_F(Resolve, FindsNothingAboveTheRootNorByAbsurdPaths) {
    EXPECT_EQ(found("", "../lat"), "");
    EXPECT_EQ(found("/a", std::string(5000, 'x')), "");
    EXPECT_EQ(found("/a", std::string(4094, 'x')), "");
    EXPECT_EQ(found("/a", "/"), "");
}

} // namespace
