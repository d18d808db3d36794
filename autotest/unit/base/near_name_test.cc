#include "refs/near_name.h"

#include <gtest/gtest.h>

namespace {

bool isNear(const char *asked, const char *other, size_t least = SIZE_MAX) {
    return refs_name_is_near(refs_str_from(asked), refs_str_from(other), &least);
}

TEST(NearName, OneLetterOfThreeMayBeWrong) {
    EXPECT_TRUE(isNear("tme", "time"));
    EXPECT_TRUE(isNear("tim", "time"));
    EXPECT_TRUE(isNear("tiem", "time"));
    EXPECT_TRUE(isNear("Time", "time"));
    EXPECT_TRUE(isNear("longtude", "/grid/longitude"));
    EXPECT_FALSE(isNear("x", "y"));
    EXPECT_FALSE(isNear("step", "time"));
    EXPECT_FALSE(isNear("", "time"));
    EXPECT_FALSE(isNear("time", ""));
}

TEST(NearName, TheNearestIsFound) {
    size_t least = SIZE_MAX;
    EXPECT_TRUE(refs_name_is_near(refs_str_from("latitud"), refs_str_from("altitud"), &least));
    EXPECT_EQ(least, 1U);
    EXPECT_FALSE(refs_name_is_near(refs_str_from("latitud"), refs_str_from("latitude"), &least));
    EXPECT_TRUE(refs_name_is_near(refs_str_from("latitud"), refs_str_from("latitud"), &least));
    EXPECT_EQ(least, 0U);
}

TEST(NearName, LongNamesAreNoMisspellings) {
    const std::string name(64, 'a');
    EXPECT_TRUE(isNear(name.c_str(), name.c_str()));
    EXPECT_FALSE(isNear((name + "a").c_str(), name.c_str()));
    EXPECT_FALSE(isNear(name.c_str(), (name + "a").c_str()));
}

} // namespace
