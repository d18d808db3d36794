/* Attributes belong to one class each, and classes have their names in one order. */
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "refs/attribute_class.h"

namespace {

std::vector<std::string> names(unsigned classes) {
    std::vector<std::string> all;
    while (const char *name = refs_cf_attribute_at(classes, all.size())) all.emplace_back(name);
    return all;
}

TEST(CfAttributeClass, HasNamesInOneOrder) {
    EXPECT_EQ(names(REFS_CF_PACKING),
              (std::vector<std::string>{"scale_factor", "add_offset", "_FillValue", "missing_value",
                                        "_Unsigned"}));
    EXPECT_EQ(
        names(REFS_CF_VALID | REFS_CF_UNITS),
        (std::vector<std::string>{"valid_range", "valid_min", "valid_max", "units", "calendar"}));
    EXPECT_TRUE(names(0).empty());
}

TEST(CfAttributeClass, IsOneForEachName) {
    const std::vector<std::string> all = names(~0U);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
    for (const std::string &name : all) {
        int classes = 0;
        for (unsigned bit = 0; bit < 16; bit++)
            classes += refs_cf_is_attribute_of(refs_str_from(name.c_str()), 1U << bit);
        EXPECT_EQ(classes, 1) << name;
    }
}

TEST(CfAttributeClass, IsFoundInAttributes) {
    refs_json_doc *doc = nullptr;
    ASSERT_EQ(
        refs_json_parse(refs_str_from(R"({"valid_max":3,"long_name":"units"})"), &doc, nullptr),
        REFS_OK);
    EXPECT_TRUE(refs_cf_has_attribute_of(refs_json_root(doc), REFS_CF_VALID | REFS_CF_SIGNS));
    EXPECT_FALSE(refs_cf_has_attribute_of(refs_json_root(doc), ~(unsigned)REFS_CF_VALID));
    EXPECT_FALSE(refs_cf_has_attribute_of(nullptr, ~0U));
    refs_json_doc_free(doc);
}

} // namespace
