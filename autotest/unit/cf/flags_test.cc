/* flags_test.cc -- names of values. */
#include "dataset.h"

namespace {

using Names = std::vector<std::string>;

Names namesOf(const std::string &attributes, const std::string &dtype = "|u1") {
    Dataset set;
    set.array("v", {{"y", "x"}, {4, 5}, attributes, dtype});
    const refs_cf_items &names = set.describe().categories;
    return Names(names.items, names.items + names.n);
}

TEST(Flags, AreNamesOfTheirValuesInAListFromZero) {
    EXPECT_EQ(namesOf(R"("flag_values":[0,1,2],"flag_meanings":"land sea  ice")"),
              (Names{"land", "sea", "ice"}));
    EXPECT_EQ(namesOf(R"("flag_values":[3,1],"flag_meanings":"c a")", "<i8"),
              (Names{"", "a", "", "c"}));
    EXPECT_EQ(namesOf(R"("flag_values":1,"flag_meanings":"one")"), (Names{"", "one"}));
}

TEST(Flags, FollowValuesThatAreMeantUnsigned) {
    const Names names =
        namesOf(R"("flag_values":[0,-1],"flag_meanings":"a z","_Unsigned":"true")", "|i1");
    ASSERT_EQ(names.size(), 256u);
    EXPECT_EQ(names[255], "z");
    EXPECT_EQ(names[254], "");
}

TEST(Flags, ThatAreNoSuchListHaveNoNames) {
    const std::pair<const char *, const char *> rows[] = {
        {R"("flag_meanings":"a b")", "|u1"},
        {R"("flag_values":[0,1])", "|u1"},
        {R"("flag_values":[0,1],"flag_meanings":"a")", "|u1"},
        {R"("flag_values":[0,1],"flag_meanings":"a b c")", "|u1"},
        {R"("flag_values":[],"flag_meanings":"")", "|u1"},
        {R"("flag_values":[-1,1],"flag_meanings":"a b")", "|i1"},
        {R"("flag_values":[0,65536],"flag_meanings":"a b")", "<i4"},
        {R"("flag_values":[0,0.5],"flag_meanings":"a b")", "<i4"},
        {R"("flag_values":[0,NaN],"flag_meanings":"a b")", "<i4"},
        {R"("flag_values":["x","y"],"flag_meanings":"a b")", "<i4"},
        {R"("flag_values":[0,1],"flag_meanings":"a b")", "<f4"},
        {R"("flag_values":[0,1],"flag_masks":[1,1],"flag_meanings":"a b")", "|u1"},
    };
    for (const auto &[attributes, dtype] : rows)
        EXPECT_EQ(namesOf(attributes, dtype), Names{}) << attributes;
}

TEST(Flags, HaveTheColoursOfTheirAttribute) {
    Dataset set;
    set.array("v", {{"y", "x"},
                    {2, 2},
                    R"("flag_values":[0,2,-1],"flag_meanings":"a b c","_Unsigned":"true",)"
                    R"("flag_colors":"#000000 #fFfF64 #00a000")",
                    "|i1"});
    const refs_cf_description &description = set.describe();
    ASSERT_EQ(description.n_colors, 256u);
    EXPECT_EQ(description.colors[2].green, 255);
    EXPECT_EQ(description.colors[2].blue, 100);
    EXPECT_EQ(description.colors[255].green, 160);
    EXPECT_EQ(description.colors[0].alpha, 255);
    EXPECT_EQ(description.colors[1].alpha, 0);
}

TEST(Flags, HaveAllTheirColoursOrNone) {
    for (const char *colors : {"#000000", "#000000 #ffffff #ffffff", "#000000 #ffff", "black white",
                               "#000000 #00000g", "0000000 1111111"}) {
        Dataset set;
        set.array("v", {{"y", "x"},
                        {2, 2},
                        R"("flag_values":[0,1],"flag_meanings":"a b","flag_colors":")" +
                            std::string(colors) + "\"",
                        "|u1"});
        EXPECT_EQ(set.describe().n_colors, 0u) << colors;
    }
}

} // namespace
