/* hierarchy_test.cc -- from keys to a tree of groups and arrays. */
#include "memory_hierarchy.h"

#include <chrono>
#include <cstdlib>

namespace {

using Paths = std::vector<std::string>;

TEST(Hierarchy, FollowsFromTheKeys) {
    MemoryHierarchy h;
    h.store.put(".zgroup", R"({"zarr_format":2})");
    h.store.put(".zattrs", R"({"title":"test"})");
    h.store.put("t2m/.zarray", zarray());
    h.store.put("t2m/0.0", "chunk");
    h.store.put("a/b/deep/.zarray", zarray());
    h.store.put("lat/.zarray", zarray());
    EXPECT_EQ(h.arrayPaths(), (Paths{"/t2m", "/a/b/deep", "/lat"}));
    EXPECT_EQ(h.groupPaths(), (Paths{"", "/a", "/a/b"})) << "groups need no .zgroup";
    EXPECT_NE(refs_json_get(refs_hierarchy_group(h.get(), 0)->attributes, "title"), nullptr);
    EXPECT_STREQ(h.good("a/b/deep").group, "/a/b");
    EXPECT_STREQ(h.good("a/b/deep").name, "deep");
    EXPECT_STREQ(h.good("a/b/deep").key_prefix, "a/b/deep/");
    EXPECT_STREQ(refs_hierarchy_group(h.get(), 2)->name, "b");
}

TEST(Hierarchy, HidesTheSourcesOfASet) {
    MemoryHierarchy h;
    h.store.put(".zgroup", R"({"zarr_format":2})");
    h.store.put(".zsources/.zgroup", R"({"zarr_format":2})");
    h.store.put(".zsources/.zattrs", R"({"sources":[]})");
    h.store.put("t2m/.zarray", zarray());
    EXPECT_EQ(h.arrayPaths(), (Paths{"/t2m"}));
    EXPECT_EQ(h.groupPaths(), (Paths{""}));
}

TEST(Hierarchy, ListsArraysInTheOrderOfTheirFirstKey) {
    MemoryHierarchy h;
    for (const char *name : {"z", "b", "m"}) h.store.put(std::string(name) + "/.zattrs", "{}");
    for (const char *name : {"a", "m", "b", "z"})
        h.store.put(std::string(name) + "/.zarray", zarray());
    EXPECT_EQ(h.arrayPaths(), (Paths{"/z", "/b", "/m", "/a"}));
}

TEST(Hierarchy, FindsByPathWithAndWithoutSlash) {
    MemoryHierarchy h;
    h.store.put("g/v/.zarray", zarray());
    const refs_hierarchy *hierarchy = h.get();
    EXPECT_NE(refs_hierarchy_find_array(hierarchy, refs_str_from("/g/v")), nullptr);
    EXPECT_NE(refs_hierarchy_find_array(hierarchy, refs_str_from("g/v")), nullptr);
    EXPECT_NE(refs_hierarchy_find_group(hierarchy, refs_str_from("/g")), nullptr);
    EXPECT_NE(refs_hierarchy_find_group(hierarchy, refs_str_from("")), nullptr);
    for (const char *path : {"", "/", "g", "v", "g/v/", "//g/v", "g/w"})
        EXPECT_EQ(refs_hierarchy_find_array(hierarchy, refs_str_from(path)), nullptr) << path;
    EXPECT_EQ(refs_hierarchy_find_group(hierarchy, refs_str_from("g/v")), nullptr);
}

TEST(Hierarchy, MayBeASingleArray) {
    MemoryHierarchy h;
    h.store.put(".zarray", zarray());
    const refs_array_meta &meta = h.good("/");
    EXPECT_STREQ(meta.path, "/");
    EXPECT_STREQ(meta.name, "");
    EXPECT_STREQ(meta.group, "");
    EXPECT_STREQ(meta.key_prefix, "");
    EXPECT_EQ(h.groupPaths(), (Paths{""}));
}

TEST(Hierarchy, IsNoneWhereOnlyOtherThingsAreNamed) {
    MemoryHierarchy h;
    h.store.put("readme", "text");
    EXPECT_EQ(h.open(), REFS_INVALID);
    EXPECT_EQ(std::string(h.error.message).rfind("no Zarr metadata", 0), 0u) << h.error.message;
}

TEST(Hierarchy, IsEmptyWhereTheSetIs) {
    MemoryHierarchy h;
    EXPECT_TRUE(h.arrayPaths().empty());
    EXPECT_EQ(h.groupPaths(), Paths{""});
    ASSERT_EQ(h.notes.size(), 1u);
    EXPECT_EQ(h.notes[0], "the set has no arrays: it has no metadata");
}

TEST(Hierarchy, MayBeAGroupAlone) {
    MemoryHierarchy h;
    h.store.put(".zgroup", "{}");
    EXPECT_EQ(h.arrayPaths(), Paths{});
    EXPECT_EQ(h.groupPaths(), Paths{""});
}

TEST(Hierarchy, KeepsOneBrokenDocumentToItself) {
    MemoryHierarchy h;
    h.store.put("good/.zarray", zarray());
    h.store.whole("bad/.zarray", "missing.json");
    h.store.whole("bad/.zattrs", "attributes.json");
    h.store.vfs.files["attributes.json"] = R"({"units":"K"})";
    h.good("good");
    const refs_array_meta &bad = h.array("bad");
    EXPECT_EQ(bad.status, REFS_IO);
    EXPECT_NE(std::string(bad.problem).find("missing.json"), std::string::npos) << bad.problem;
    EXPECT_NE(refs_json_get(bad.attributes, "units"), nullptr);
}

TEST(Hierarchy, ReadsDocumentsFromElsewhereTogether) {
    MemoryHierarchy h;
    for (int i = 0; i < 10; i++) {
        const std::string text = zarray();
        h.store.range("v" + std::to_string(i) + "/.zarray", "all.json",
                      h.store.vfs.files["all.json"].size(), text.size());
        h.store.vfs.files["all.json"] += text;
    }
    EXPECT_EQ(h.arrayPaths().size(), 10u);
    EXPECT_EQ(h.store.stats().requests, 1u);
    h.good("v9");
}

TEST(Hierarchy, TakesFromConsolidatedMetadataWhatHasNoKey) {
    MemoryHierarchy h;
    h.store.put(".zmetadata", R"({"zarr_consolidated_format":1,"metadata":{
        ".zattrs":{"title":"consolidated"},
        "a/.zarray":{"shape":[1],"chunks":[1],"dtype":"<f4"},
        "b/.zarray":{"shape":[2],"chunks":[2],"dtype":"<f8"},
        "b/.zattrs":{"units":"m"},
        "odd":1}})");
    h.store.put("a/.zarray", R"({"shape":[9],"chunks":[9],"dtype":"<i4"})");
    EXPECT_EQ(h.good("a").shape[0], 9u) << "its own key counts";
    EXPECT_EQ(h.good("b").shape[0], 2u);
    EXPECT_NE(refs_json_get(h.good("b").attributes, "units"), nullptr);
    EXPECT_NE(refs_json_get(refs_hierarchy_group(h.get(), 0)->attributes, "title"), nullptr);
}

TEST(Hierarchy, TakesConsolidatedMetadataOfAGroupByItsPath) {
    MemoryHierarchy h;
    h.store.put("g/.zmetadata",
                R"({"metadata":{"v/.zarray":{"shape":[1],"chunks":[1],"dtype":"<f4"}}})");
    h.good("g/v");
}

TEST(Hierarchy, DoesWithoutBrokenConsolidatedMetadata) {
    MemoryHierarchy h;
    h.store.put(".zmetadata", "{");
    h.store.put("v/.zarray", zarray());
    h.good();
    ASSERT_EQ(h.notes.size(), 1u);
    EXPECT_EQ(h.notes[0].rfind(".zmetadata is ignored: ", 0), 0u) << h.notes[0];
}

TEST(Hierarchy, KeepsAGroupWhoseMetadataAreBroken) {
    MemoryHierarchy h;
    h.store.put("g/.zgroup", "{");
    h.store.put("g/v/.zarray", zarray());
    EXPECT_EQ(h.groupPaths(), (Paths{"", "/g"}));
    ASSERT_EQ(h.notes.size(), 1u);
    EXPECT_EQ(h.notes[0].rfind("/g/: the metadata of the group are ignored: ", 0), 0u)
        << h.notes[0];
}

TEST(Hierarchy, ReadsAttributesWithControlCharactersAndTellsOfThem) {
    MemoryHierarchy h(zarray(), "{\"scale_factor\": 0.5, \"comment\": \"one\ntwo\"}");
    ASSERT_NE(h.good().attributes, nullptr);
    EXPECT_EQ(refs_json_size(h.good().attributes), 2u);
    EXPECT_EQ(h.notes, std::vector<std::string>{
                           "1 control characters in strings of the metadata lack an escape"});
}

TEST(Hierarchy, CallsTheRootGroupASlashInNotes) {
    MemoryHierarchy h(zarray());
    h.store.put(".zattrs", "[]");
    EXPECT_NE(h.get(), nullptr);
    EXPECT_EQ(h.notes,
              std::vector<std::string>{"/: its attributes are ignored: expected a JSON object"});
}

TEST(Hierarchy, IgnoresPathsThatNobodyCouldMean) {
    MemoryHierarchy h;
    std::string deep;
    for (int i = 0; i < 100; i++) deep += "g/";
    h.store.put(deep + ".zarray", zarray());
    h.store.put(std::string(5000, 'x') + "/.zarray", zarray());
    h.store.put("../../etc/.zarray", zarray());
    h.store.put(".zgroup", "{}");
    EXPECT_EQ(h.arrayPaths(), Paths{"/../../etc"}) << "only names, never a way to a file";
}

TEST(Hierarchy, KeepsAllFillValuesToTheirBudget) {
    MemoryHierarchy h;
    for (int i = 0; i < 3; i++)
        h.store.put("v" + std::to_string(i) + "/.zarray",
                    R"({"shape":[1],"chunks":[1],"dtype":"|S30000000"})");
    EXPECT_EQ(h.array("v1").status, REFS_OK);
    EXPECT_EQ(h.array("v2").status, REFS_LIMIT);
}

TEST(Hierarchy, HasNoMoreArraysAndGroupsThanItMay) {
    MemoryHierarchy h;
    for (int i = 0; i < 200000; i++) h.store.put(std::to_string(i) + "/.zattrs", "{}");
    refs_hierarchy *hierarchy = nullptr;
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_hierarchy_open(h.store.get(), nullptr, &hierarchy, &error), REFS_LIMIT);
    EXPECT_STREQ(error.message, "the set has more arrays and groups than the limit of 200000");
}

TEST(Hierarchy, KeepsAllTreesToTheirBudget) {
    MemoryHierarchy h;
    std::string zeros;
    for (size_t i = 0; i < 1500000; i++) zeros += "0,";
    for (int i = 0; i < 10; i++) {
        h.store.put(std::to_string(i) + "/.zarray", zarray());
        h.store.put(std::to_string(i) + "/.zattrs", "{\"a\":[" + zeros + "0]}");
    }
    h.get();
    EXPECT_NE(h.array("0").attributes, nullptr);
    EXPECT_EQ(h.array("9").attributes, nullptr);
}

TEST(Hierarchy, TriesNoMoreMetadataAfterManyThatCannotBeRead) {
    MemoryHierarchy h;
    for (int i = 0; i < 80; i++) h.store.range(std::to_string(i) + "/.zarray", "nowhere", 0, 9);
    EXPECT_NE(std::string(h.array("63").problem).find("nowhere"), std::string::npos);
    EXPECT_STREQ(h.array("64").problem, "too much of the other metadata cannot be read");
}

TEST(Hierarchy, FindsHiddenNamesWhereMemoryRanOut) {
    MemoryHierarchy h;
    h.store.put("_nc4_non_coord_v/.zarray", zarray());
    h.store.put("g/_nc4_non_coord_w/.zarray", zarray());
    h.get();
    const refs_allocator none = {[](size_t) -> void * { return nullptr; },
                                 [](void *, size_t) -> void * { return nullptr; }, std::free};
    refs_allocator_set(&none);
    const refs_array_meta *v = refs_hierarchy_find_array(h.get(), refs_str_from("v"));
    const refs_array_meta *w = refs_hierarchy_find_array(h.get(), refs_str_from("/g/w"));
    const std::string far(5000, 'x');
    const refs_array_meta *nothing = refs_hierarchy_find_array(h.get(), MemoryStore::view(far));
    refs_allocator_set(nullptr);
    EXPECT_EQ(v, &h.array("_nc4_non_coord_v"));
    EXPECT_EQ(w, &h.array("g/_nc4_non_coord_w"));
    EXPECT_EQ(nothing, nullptr);
}

TEST(Hierarchy, OpensAThousandArraysQuickly) {
    MemoryHierarchy h;
    for (int i = 0; i < 1000; i++) {
        const std::string path = "group" + std::to_string(i % 50) + "/v" + std::to_string(i);
        h.store.put(path + "/.zarray", zarray());
        h.store.put(path + "/.zattrs", R"({"_ARRAY_DIMENSIONS":["lat","lon"],"units":"K"})");
    }
    h.store.get();
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(h.open(), REFS_OK);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(h.arrayPaths().size(), 1000u);
    // Milliseconds; the bound leaves room for sanitizers on busy machines.
    EXPECT_LT(seconds.count(), 1.0);
}

} // namespace
