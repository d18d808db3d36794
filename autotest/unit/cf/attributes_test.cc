/* attributes_test.cc -- numbers and strings out of attributes, and back. */
extern "C" {
#include "cf_internal.h"
}

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

class Attributes : public testing::Test {
  protected:
    ~Attributes() override { refs_json_doc_free(doc_); }

    const refs_json *parse(const std::string &json) {
        refs_json_doc_free(doc_);
        doc_ = nullptr;
        EXPECT_EQ(refs_json_parse(refs_str_view(json.data(), json.size()), &doc_, nullptr),
                  REFS_OK);
        return refs_json_root(doc_);
    }

    /** The numbers of attribute "a" with this value. */
    std::vector<double> numbers(const std::string &value) {
        double read[4];
        const size_t n = refs_cf__numbers(parse("{\"a\":" + value + "}"), "a", read, 4);
        return std::vector<double>(read, read + n);
    }

    std::string printed(const std::string &value) {
        refs_buf text = REFS_BUF_INIT;
        EXPECT_EQ(refs_cf__print_attribute(parse(value), &text, nullptr), REFS_OK);
        std::string result(reinterpret_cast<char *>(text.data), text.size);
        refs_buf_clear(&text);
        return result;
    }

  private:
    refs_json_doc *doc_ = nullptr;
};

using Doubles = std::vector<double>;

TEST_F(Attributes, ReadsNumbersListsAndTextsThatWritersMadeOfThem) {
    EXPECT_EQ(numbers("2.5"), Doubles({2.5}));
    EXPECT_EQ(numbers("[49, 46.5]"), Doubles({49, 46.5}));
    EXPECT_EQ(numbers("\"[49. 46.]\""), Doubles({49, 46}));
    EXPECT_EQ(numbers("\"49, 46\""), Doubles({49, 46}));
    EXPECT_EQ(numbers("\"-99\""), Doubles({-99}));
    EXPECT_EQ(numbers("[\"1\"]"), Doubles({1}));
    EXPECT_EQ(numbers("\"+.5e+2 -5.E-1 007\""), Doubles({50, -0.5, 7}));
    EXPECT_TRUE(std::isnan(numbers("\"NaN\"").at(0)));
    EXPECT_TRUE(std::isnan(numbers("NaN").at(0)));
}

TEST_F(Attributes, ReadsNoNumbersWhereAnythingIsNone) {
    for (const char *value : {"\"\"", "\"12 apples\"", "\"1-2\"", "\".\"", "\"1e\"", "\"--1\"",
                              "[1,\"x\"]", "null", "true", "{}", "[]", "[[1]]"})
        EXPECT_EQ(numbers(value), Doubles()) << value;
}

TEST_F(Attributes, ReadsAtMostAsManyNumbersAsAskedFor) {
    EXPECT_EQ(numbers("[1,2,3,4,5,6]"), Doubles({1, 2, 3, 4}));
    EXPECT_EQ(numbers("\"1 2 3 4 5 6\""), Doubles({1, 2, 3, 4}));
}

TEST_F(Attributes, TakeAListOfOneTextForTheText) {
    const refs_json *attributes = parse(R"({"a":["x"],"b":["x","y"],"c":1,"d":"x y"})");
    EXPECT_TRUE(refs_str_is(refs_cf__text(attributes, "a"), "x"));
    EXPECT_EQ(refs_cf__text(attributes, "b").data, nullptr);
    EXPECT_EQ(refs_cf__text(attributes, "c").data, nullptr);
    EXPECT_EQ(refs_cf__text(attributes, "e").data, nullptr);
    EXPECT_EQ(refs_cf__text(NULL, "e").data, nullptr);
    EXPECT_TRUE(refs_str_is(refs_cf__text_any_case(attributes, "D"), "x y"));
}

TEST_F(Attributes, PrintAsTheNetcdfDriverDoes) {
    const struct {
        const char *value, *printed;
    } cases[] = {
        {"\"K\"", "K"},
        {"7", "7"},
        {"-9223372036854775806", "-9223372036854775806"},
        {"0.1", "0.1"},
        {"0.0009352247865579173", "0.0009352247865579173"},
        {"0.009999999776482582", "0.0099999998"}, // is a number of single precision
        {"6378137.0", "6378137"},
        {"1e20", "1e+20"},
        {"1.0000000200408773e+20", "1e+20"},
        {"NaN", "nan"},
        {"[1,2.5]", "{1,2.5}"},
        {"[7]", "7"},
        {"[]", "{}"},
        {"[\"a\",\"b\"]", "{a,b}"},
        {"true", "true"},
    };
    for (const auto &c : cases) EXPECT_EQ(printed(c.value), c.printed) << c.value;
}

TEST_F(Attributes, CompareWordsInAnyCase) {
    EXPECT_TRUE(refs_cf__same_word(refs_str_from("Degrees_EAST"), "degrees_east"));
    EXPECT_FALSE(refs_cf__same_word(refs_str_from("degrees_easty"), "degrees_east"));
    EXPECT_TRUE(refs_cf__begins(refs_str_from("cf-1.8"), "CF"));
    EXPECT_FALSE(refs_cf__begins(refs_str_from("c"), "CF"));
}

TEST_F(Attributes, OfSomeNamesHaveTheTypeOfTheirVariable) {
    for (const char *name : {"_FillValue", "missing_value", "valid_range", "valid_min", "valid_max",
                             "flag_values", "flag_masks"})
        EXPECT_TRUE(refs_cf_has_type_of_variable(refs_str_from(name))) << name;
    for (const char *name : {"scale_factor", "actual_range", "valid", ""})
        EXPECT_FALSE(refs_cf_has_type_of_variable(refs_str_from(name))) << name;
}

TEST_F(Attributes, NameRelatedVariables) {
    refs_cf_related related = {};
    related.attributes = parse(R"({"ancillary_variables":"q","grid_mapping":"crs: x y",
        "formula_terms":"a: ap  ps:/g/ps","cell_measures":"area: size","comment":"none",
        "interior_ring":["ring"],"bounds":7})");
    std::vector<std::string> names;
    for (refs_str name; refs_cf_take_related(&related, &name);)
        names.push_back((related.is_ancillary ? "+" : "") + std::string(name.data, name.size));
    EXPECT_EQ(names,
              std::vector<std::string>({"crs", "x", "y", "+q", "ap", "/g/ps", "size", "ring"}));
}

TEST_F(Attributes, GiveOneNumberOrLeaveItAlone) {
    const char *const found[][2] = {
        {"0.5", "0.5"}, {"[0.5]", "0.5"}, {"[0.5,2]", "0.5"}, {R"("0.5f")", "0.5"}};
    for (const auto &one : found) {
        double number = 1;
        EXPECT_TRUE(
            refs_cf_attribute_number(parse("{\"a\":" + std::string(one[0]) + "}"), "a", &number));
        EXPECT_EQ(number, 0.5) << one[0];
    }
    for (const char *none : {"null", R"("half")", "{}", "[]"}) {
        double number = 1;
        EXPECT_FALSE(
            refs_cf_attribute_number(parse("{\"a\":" + std::string(none) + "}"), "a", &number));
        EXPECT_EQ(number, 1) << none;
    }
}

} // namespace
