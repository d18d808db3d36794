#include <gtest/gtest.h>

#include "set_under_test.h"

namespace {

struct Listed {
    refs_status status;
    size_t n;
    std::string sets, message;
};

// Each set as "index name: metadata" in a line.
Listed ListSets(const std::string &json) {
    MemoryVfs vfs;
    vfs.files["sets.json"] = json;
    refs_error err = REFS_ERROR_INIT;
    Listed listed = {REFS_OK, 99, "", ""};
    const refs_set_visitor visitor = {
        [](void *user, const refs_set_summary *set, refs_error *) {
            auto *sets = static_cast<std::string *>(user);
            *sets += std::to_string(set->index) + " " + Text(set->name) + ":";
            const auto add = [](void *line, refs_str key, refs_error *) {
                *static_cast<std::string *>(line) += " " + Text(key);
                return REFS_OK;
            };
            EXPECT_EQ(refs_set_each_name(set->metadata, add, sets, nullptr), REFS_OK);
            *sets += "\n";
            return REFS_OK;
        },
        &listed.sets};
    listed.status = refs_set_each_of_list(vfs.get(), "sets.json", &visitor, &listed.n, &err);
    listed.message = err.message;
    return listed;
}

} // namespace

TEST(RefsetList, TellsTheMetadataOfEachSet) {
    const Listed listed = ListSets(
        R"([{"version": 1, "refs": {".zgroup": "", "t/.zarray": "", "t/0": [], "g/u/.zarray": {}}},
                     {"v/.zarray": "x"}, {}])");
    EXPECT_EQ(listed.n, 3u) << listed.message;
    EXPECT_EQ(listed.sets, "0 : .zgroup t/.zarray g/u/.zarray\n1 : v/.zarray\n2 :\n");
}

TEST(RefsetList, StopsWhereAVisitFails) {
    MemoryVfs vfs;
    vfs.files["sets.json"] = "[{}, {}, {}]";
    size_t n = 0, visits = 0;
    const auto refuse = [](void *user, const refs_set_summary *, refs_error *err) {
        ++*static_cast<size_t *>(user);
        return refs_fail(err, REFS_CANCELLED, "enough");
    };
    const refs_set_visitor visitor = {refuse, &visits};
    EXPECT_EQ(refs_set_each_of_list(vfs.get(), "sets.json", &visitor, &n, nullptr), REFS_CANCELLED);
    EXPECT_EQ(visits, 1u);
}

TEST(RefsetList, MayBeEmpty) {
    EXPECT_EQ(ListSets("[]").n, 0u);
    SetUnderTest set;
    EXPECT_EQ(set.Open("[]"), REFS_UNSUPPORTED);
    EXPECT_STREQ(
        set.error.message,
        "refs.json: has 0 reference sets: choose one by #set=N after the name, N counted from 0");
}

// GDAL lists nothing of an archive without members.
TEST(RefsetList, OfAnEmptyArchiveIsEmptyAndNoFailure) {
    MemoryVfs memory;
    memory.files["sets.zip"] = "PK\3\4";
    refs_vfs vfs = *memory.get();
    vfs.list = [](void *, const char *location, const refs_vfs_listing *, refs_error *err) {
        return refs_fail(err, REFS_NOT_FOUND, "%s: no such folder", location);
    };
    const refs_set_visitor visitor = {
        [](void *, const refs_set_summary *, refs_error *) { return REFS_OK; }, nullptr};
    refs_error err = REFS_ERROR_INIT;
    size_t n = 7;
    EXPECT_EQ(refs_set_each_of_list(&vfs, "sets.zip", &visitor, &n, &err), REFS_OK);
    EXPECT_EQ(n, 0u);
    EXPECT_EQ(err.status, REFS_OK) << err.message;
}

TEST(RefsetList, TellsTheNamesInADictionary) {
    const Listed listed = ListSets(
        R"({"temperature": {"x": [], "refs": {}, "version": 1}, "wind": {".zgroup": "{}"}})");
    EXPECT_EQ(listed.n, 2u) << listed.message;
    EXPECT_EQ(listed.sets, "0 temperature:\n1 wind: .zgroup\n");
}

TEST(RefsetList, IsNotASingleSet) {
    for (const char *json :
         {R"({"version": 1, "refs": {"a": {"refs": {}}}})", R"({"refs": {".zgroup": "{}"}})",
          R"({".zgroup": {"x/.zarray": 1}})", R"({"a": {"b": 1}})", R"({"a": {}})", R"({})",
          R"({"templates": {"refs": {}}})", R"({"a": ["u"]})", R"({"a": {"refs": 5}})"}) {
        const Listed listed = ListSets(json);
        EXPECT_EQ(listed.status, REFS_OK) << json;
        EXPECT_EQ(listed.n, 0u) << json;
    }
}

TEST(RefsetList, FailsWhereItIsNone) {
    const Listed other = ListSets("[{}, 5]");
    EXPECT_EQ(other.status, REFS_INVALID);
    EXPECT_EQ(other.message, "sets.json: line 1, column 6: expected a reference set, like the "
                             "other elements of this list");
    const Listed scalar = ListSets("5");
    EXPECT_EQ(scalar.status, REFS_INVALID);
    EXPECT_EQ(
        scalar.message,
        "sets.json: line 1, column 1: expected a reference set (an object) or a list of them");
    EXPECT_EQ(ListSets("[{}").status, REFS_CORRUPT);
}

TEST(RefsetList, FailsWhereThereIsNoFile) {
    MemoryVfs vfs;
    size_t n;
    EXPECT_EQ(refs_set_each_of_list(vfs.get(), "none.json", nullptr, &n, nullptr), REFS_NOT_FOUND);
}

TEST(RefsetList, OpensEachOfItsSets) {
    for (int i = 0; i < 3; i++) {
        SetUnderTest set;
        set.options.set_index = i;
        ASSERT_EQ(set.Open(R"([{"refs": {"a": "0"}, "version": 1},
                               {"other": 1, "version": 1, "refs": {"a": "1"}},
                               {"refs": {"x": "y"}, ".zgroup": "{}", "a": "2"}])"),
                  REFS_OK)
            << set.error.message;
        EXPECT_EQ(set.At("a"), "\"" + std::to_string(i) + "\"");
    }
}
