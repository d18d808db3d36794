#include <gtest/gtest.h>

#include "set_under_test.h"

namespace {

struct Count {
    refs_status status;
    size_t n;
    std::string names, message;
};

Count CountSets(const std::string &json) {
    MemoryVfs vfs;
    vfs.files["sets.json"] = json;
    refs_buf names = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    Count count = {REFS_OK, 99, "", ""};
    count.status = refs_set_count(vfs.get(), "sets.json", &count.n, &names, &err);
    count.names.assign(reinterpret_cast<const char *>(names.data), names.size);
    count.message = err.message;
    refs_buf_clear(&names);
    return count;
}

} // namespace

TEST(RefsetList, IsCounted) {
    const Count count = CountSets(R"([{"version": 1, "refs": {}}, {"a": "x"}, {}])");
    EXPECT_EQ(count.n, 3u) << count.message;
    EXPECT_EQ(count.names, "\n\n\n");
}

TEST(RefsetList, MayBeEmpty) {
    EXPECT_EQ(CountSets("[]").n, 0u);
    SetUnderTest set;
    EXPECT_EQ(set.Open("[]"), REFS_UNSUPPORTED);
    EXPECT_STREQ(set.error.message, "refs.json: holds 0 reference sets: choose one by its number, "
                                    "counted from 0");
}

TEST(RefsetList, CountsADictionaryWithItsNames) {
    const Count count = CountSets(
        R"({"temperature": {"x": [], "refs": {}, "version": 1}, "wind": {".zgroup": "{}"}})");
    EXPECT_EQ(count.n, 2u) << count.message;
    EXPECT_EQ(count.names, "temperature\nwind\n");
}

TEST(RefsetList, IsNotASingleSet) {
    for (const char *json :
         {R"({"version": 1, "refs": {"a": {"refs": {}}}})", R"({"refs": {".zgroup": "{}"}})",
          R"({".zgroup": {"x/.zarray": 1}})", R"({"a": {"b": 1}})", R"({"a": {}})", R"({})",
          R"({"templates": {"refs": {}}})", R"({"a": ["u"]})", R"({"a": {"refs": 5}})"}) {
        const Count count = CountSets(json);
        EXPECT_EQ(count.status, REFS_OK) << json;
        EXPECT_EQ(count.n, 0u) << json;
    }
}

TEST(RefsetList, FailsWhereItIsNone) {
    const Count other = CountSets("[{}, 5]");
    EXPECT_EQ(other.status, REFS_INVALID);
    EXPECT_EQ(other.message,
              "sets.json: line 1, column 6: this is no reference set, as others here are");
    const Count scalar = CountSets("5");
    EXPECT_EQ(scalar.status, REFS_INVALID);
    EXPECT_EQ(scalar.message,
              "sets.json: line 1, column 1: a reference set is an object or a list of them");
    EXPECT_EQ(CountSets("[{}").status, REFS_CORRUPT);
}

TEST(RefsetList, FailsWhereThereIsNoFile) {
    MemoryVfs vfs;
    size_t n;
    EXPECT_EQ(refs_set_count(vfs.get(), "none.json", &n, nullptr, nullptr), REFS_NOT_FOUND);
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
