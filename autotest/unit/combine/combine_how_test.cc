// combine_how_test.cc -- how sets say that they were combined.
#include "refs/combine_how.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memory_vfs.h"
#include "refs/index_again.h"
#include "refs/refset.h"

namespace {

std::string Text(const refs_buf &text) {
    return std::string(reinterpret_cast<const char *>(text.data), text.size);
}

struct How : refs_combine_how {
    How() : refs_combine_how() {}
    explicit How(const char *text) : refs_combine_how() {
        EXPECT_EQ(refs_combine_how_read(refs_str_from(text), this, nullptr), REFS_OK) << text;
    }
    How(const How &) = delete;
    How &operator=(const How &) = delete;
    ~How() { refs_combine_how_clear(this); }

    std::string Print() const {
        refs_buf text = REFS_BUF_INIT;
        EXPECT_EQ(refs_combine_how_print(this, &text, nullptr), REFS_OK);
        const std::string printed = Text(text);
        refs_buf_clear(&text);
        return printed;
    }
};

const char Full[] =
    R"({"along":["time","y"],"pattern":"t_{time:%Y}.nc","group":"g","variables":["t","u"],"inline":8})";
const char Part[] = R"({"part":{"number":3,"of":10,"sources":200,"list":"0f"}})";

TEST(CombineHow, IsReadAsItIsWritten) {
    EXPECT_EQ(How(Full).Print(), Full);
    EXPECT_EQ(How("").Print(), "");
    EXPECT_EQ(How("{}").Print(), "");
    EXPECT_EQ(How(Part).Print(), Part);
}

TEST(CombineHow, IsCorruptWhereMembersAreOfOtherTypes) {
    for (const char *text :
         {R"({"along":"time"})", R"({"along":[1]})", R"({"pattern":1})", R"({"group":[]})",
          R"({"inline":"8"})", R"({"variables":{}})", R"({"part":3})",
          R"({"part":{"number":3,"of":2,"sources":9,"list":""}})"}) {
        How how;
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_combine_how_read(refs_str_from(text), &how, &error), REFS_CORRUPT) << text;
        EXPECT_NE(std::string(error.message).find(refs_index_again()), std::string::npos);
    }
}

std::string Choose(const char *was, const char *requested, refs_status status = REFS_OK) {
    const How before(was), asked(requested);
    How chosen;
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_combine_how_choose("s.json", &before, &asked, &chosen, &error), status)
        << error.message;
    return status == REFS_OK ? chosen.Print() : error.message;
}

TEST(CombineHow, IsThatOfBeforeWhereNothingElseIsRequested) {
    EXPECT_EQ(Choose(Full, ""), Full);
    EXPECT_EQ(
        Choose("", Full),
        R"({"along":["time","y"],"pattern":"t_{time:%Y}.nc","group":"g","variables":["t","u"]})");
    EXPECT_EQ(
        Choose(Full, R"({"along":["y","time"],"group":"h"})"),
        R"({"along":["y","time"],"pattern":"t_{time:%Y}.nc","group":"h","variables":["t","u"],"inline":8})");
}

TEST(CombineHow, RefusesOtherDimensions) {
    const std::string along = Choose(Full, R"({"along":["time"]})", REFS_INVALID),
                      pattern = Choose(Full, R"({"pattern":"{x}.nc"})", REFS_INVALID);
    EXPECT_EQ(along.find("s.json was combined along time, y, but --along says time: "), 0u);
    EXPECT_EQ(pattern.find("s.json was combined along time, y, but --pattern says x: "), 0u);
    EXPECT_EQ(Choose("{}", R"({"along":["time"]})"), R"({"along":["time"]})");
}

TEST(CombineHow, TakesNoInlineBytesIfTheseAreRequested) {
    const How before(Full);
    How asked, chosen;
    asked.has_inline_bytes = true;
    ASSERT_EQ(refs_combine_how_choose("", &before, &asked, &chosen, nullptr), REFS_OK);
    EXPECT_EQ(chosen.inline_bytes, 0u);
}

// What is said of a set that is made of sets which say `parts`, and of a data file for "file".
std::string Result(const std::vector<std::string> &parts, const char *own) {
    MemoryVfs vfs;
    How how(own);
    refs_combine_common_how *all = nullptr;
    EXPECT_EQ(refs_combine_common_how_open(&all, nullptr), REFS_OK);
    for (const std::string &part : parts) {
        refs_set *set = nullptr;
        std::string escaped;
        for (const char c : part) escaped += c == '"' ? "\\\"" : std::string(1, c);
        vfs.files["s.json"] =
            R"({".zgroup":"{\"zarr_format\":2}",".zsources/.zgroup":"{\"zarr_format\":2}",)"
            R"(".zsources/.zattrs":"{\"joined\":)" +
            (escaped.empty() ? "{}" : escaped) + "}\"}";
        const bool isSet = part != "file";
        EXPECT_EQ(isSet ? refs_set_open(vfs.get(), "s.json", nullptr, &set, nullptr) : REFS_OK,
                  REFS_OK);
        EXPECT_EQ(refs_combine_common_how_add(all, set, &how.along, nullptr), REFS_OK);
        refs_set_free(set);
    }
    refs_buf text = REFS_BUF_INIT;
    EXPECT_EQ(refs_combine_common_how_print(all, &how, &text, nullptr), REFS_OK);
    const std::string printed = Text(text);
    refs_buf_clear(&text);
    refs_combine_common_how_free(all);
    return printed;
}

TEST(CombineHow, OfAResultIsThatOfItsParts) {
    const char along[] = R"({"along":["time"]})", group[] = R"({"along":["time"],"group":"g"})";
    EXPECT_EQ(Result({"file", "file"}, along), along);
    EXPECT_EQ(Result({group, group}, along), group);
    EXPECT_EQ(Result({R"({"group":"g"})", group}, along), group); // of one file, and of many
    EXPECT_EQ(Result({group, along}, along), along);              // they differ
    EXPECT_EQ(Result({Part, Part}, along), along);                // the result is no part
    EXPECT_EQ(Result({"file"}, Part), Part);
    EXPECT_EQ(Result({group, "file"}, along), along);
    EXPECT_EQ(Result({group, group}, R"({"along":["time"],"group":"h"})"),
              R"({"along":["time"],"group":"h"})");
}

TEST(CombineHow, OfACopyIsThatOfTheSet) {
    EXPECT_EQ(Result({Full}, "{}"), Full);
    EXPECT_EQ(Result({Full}, R"({"group":"h"})"), Full);
    EXPECT_EQ(Result({"file"}, R"({"group":"h"})"), R"({"group":"h"})");
}

refs_combine_values_from ValuesFrom(const char *was, const std::string &source, bool grows = true) {
    MemoryVfs vfs;
    refs_set *set = nullptr, *other = nullptr;
    vfs.files["grown.json"] = R"({".zgroup":"{\"zarr_format\":2}"})";
    vfs.files["s.json"] = R"({".zgroup":"{\"zarr_format\":2}")" + source + "}";
    EXPECT_EQ(refs_set_open(vfs.get(), "grown.json", nullptr, &set, nullptr), REFS_OK);
    EXPECT_EQ(refs_set_open(vfs.get(), "s.json", nullptr, &other, nullptr), REFS_OK);
    const How how(was);
    refs_combine_grown grown = {grows ? set : nullptr, how, &how.along};
    EXPECT_EQ(refs_combine_find_values_from(&grown, set),
              grows ? REFS_COMBINE_FROM_SET : REFS_COMBINE_FROM_NAME);
    const refs_combine_values_from from = refs_combine_find_values_from(&grown, other);
    refs_set_free(set);
    refs_set_free(other);
    return from;
}

TEST(CombineHow, SaysWhereValuesOfPartsComeFrom) {
    const char plain[] = R"({"along":["time"]})", group[] = R"({"along":["time"],"group":"g"})",
               pattern[] = R"({"along":["time"],"pattern":"{time:d}.nc"})";
    const std::string coordinate = R"(,"time/.zarray":"{}")";
    const std::string named =
        R"(,".zsources/.zattrs":"{\"joined\":{\"pattern\":\"{time:d}.nc\"}}")";
    EXPECT_EQ(ValuesFrom(plain, coordinate), REFS_COMBINE_FROM_NAME);
    EXPECT_EQ(ValuesFrom(group, coordinate), REFS_COMBINE_FROM_SET);
    EXPECT_EQ(ValuesFrom(pattern, coordinate), REFS_COMBINE_FROM_SET);
    EXPECT_EQ(ValuesFrom(pattern, ""), REFS_COMBINE_FROM_NAME_OF_SET);
    EXPECT_EQ(ValuesFrom(pattern, "", false), REFS_COMBINE_FROM_NAME);
    EXPECT_EQ(ValuesFrom(pattern, named, false), REFS_COMBINE_FROM_SET);
}

} // namespace
