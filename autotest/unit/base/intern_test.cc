#include "refs/intern.h"

#include <gtest/gtest.h>

#include "text.h"

namespace {

class Intern : public testing::Test {
  protected:
    uint32_t Add(const std::string &text) {
        uint32_t id = REFS_INTERN_NONE;
        EXPECT_EQ(refs_intern_add(&table_, View(text), &id, nullptr), REFS_OK);
        return id;
    }
    void TearDown() override { refs_intern_clear(&table_); }

    refs_intern table_ = {};
};

uint32_t HashOf(const refs_intern &table, uint32_t id) {
    for (size_t i = 0; i < table.n_slots; i++)
        if (table.slots[i].id == id) return table.slots[i].hash;
    ADD_FAILURE() << "string " << id << " has no slot";
    return 0;
}

} // namespace

TEST_F(Intern, NumbersTextsInOrderOfArrival) {
    EXPECT_EQ(Add("s3://a"), 0u);
    EXPECT_EQ(Add("s3://b"), 1u);
    EXPECT_EQ(Add("s3://a"), 0u);
    EXPECT_EQ(Add(""), 2u);
    EXPECT_EQ(table_.count, 3u);
    EXPECT_EQ(Text(refs_intern_get(&table_, 1)), "s3://b");
    EXPECT_EQ(Text(refs_intern_get(&table_, 2)), "");
}

TEST_F(Intern, FindsOnlyWhatWasAdded) {
    EXPECT_EQ(refs_intern_find(&table_, View("x")), REFS_INTERN_NONE);
    Add("x");
    EXPECT_EQ(refs_intern_find(&table_, View("x")), 0u);
    EXPECT_EQ(refs_intern_find(&table_, View("xx")), REFS_INTERN_NONE);
    EXPECT_EQ(refs_intern_find(&table_, View("")), REFS_INTERN_NONE);
}

TEST_F(Intern, TellsTextsWithNulsApart) {
    EXPECT_EQ(Add(std::string("a\0b", 3)), 0u);
    EXPECT_EQ(Add(std::string("a\0c", 3)), 1u);
    EXPECT_EQ(Add("a"), 2u);
}

TEST_F(Intern, EndsTextsWithANul) {
    Add("first");
    Add("second");
    EXPECT_STREQ(refs_intern_get(&table_, 0).data, "first");
}

TEST_F(Intern, HoldsManyStrings) {
    const uint32_t n = 20000;
    for (uint32_t i = 0; i < n; i++) ASSERT_EQ(Add("file_" + std::to_string(i)), i);
    for (uint32_t i = 0; i < n; i++) ASSERT_EQ(Add("file_" + std::to_string(i)), i);
    EXPECT_EQ(Text(refs_intern_get(&table_, n - 1)), "file_" + std::to_string(n - 1));
}

TEST_F(Intern, IsEmptyAfterItWasCleared) {
    Add("x");
    refs_intern_clear(&table_);
    EXPECT_EQ(refs_intern_find(&table_, View("x")), REFS_INTERN_NONE);
    EXPECT_EQ(Add("y"), 0u);
}

TEST_F(Intern, KeepsStringsWithNulsApart) {
    for (const std::string &text :
         {std::string("a\0b", 3), std::string("a"), std::string("a\0", 2), std::string()})
        EXPECT_EQ(Text(refs_intern_get(&table_, Add(text))), text);
    EXPECT_EQ(table_.count, 4u);
}

TEST(InternHash, IsAnotherInEachTable) {
    refs_intern one = {}, other = {};
    uint32_t id = 0;
    size_t n_same = 0;
    for (int i = 0; i < 100; i++) {
        const std::string text = "s3://bucket/" + std::to_string(i);
        ASSERT_EQ(refs_intern_add(&one, refs_str_from(text.c_str()), &id, nullptr), REFS_OK);
        ASSERT_EQ(refs_intern_add(&other, refs_str_from(text.c_str()), &id, nullptr), REFS_OK);
        n_same += HashOf(one, id) == HashOf(other, id) ? 1 : 0;
    }
    EXPECT_LE(n_same, 1u) << "who knows one table does not know another";
    refs_intern_clear(&one);
    refs_intern_clear(&other);
}
