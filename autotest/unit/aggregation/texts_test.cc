/* texts_test.cc -- aggregations of strings and characters: CF-1.13 has them of fragments and,
 * mostly, as one value for each of them; CFA-0.4 with parts of fragments. */
#include "aggregated_files.h"

namespace {

const char kFragments[] =
    R"("aggregated_dimensions":"x","aggregated_data":"map: m uris: u identifiers: n")";
const char kValues[] = R"("aggregated_dimensions":"x","aggregated_data":"map: m unique_values: w")";

using Texts = std::vector<std::string>;

/** An aggregation "v" of fragments "t" of files 0.json, 1.json … along x, of two elements each. */
class TextAggregations : public testing::Test {
  protected:
    void put(Variable scalar, const std::vector<Variable> &fragments) {
        Texts names;
        for (size_t i = 0; i < fragments.size(); i++) {
            names.push_back(std::to_string(i) + ".json");
            files.put(names.back(), {{"t", fragments[i]}});
        }
        const std::vector<int32_t> sizes(names.size(), 2);
        scalar.attributes = kFragments;
        files.put("m.json", {{"v", scalar},
                             {"m", numbers<int32_t>({names.size()}, sizes)},
                             {"u", fixedStrings({names.size()}, names)},
                             {"n", fixedStrings({}, {"t"})}});
    }

    std::string problemOfTexts() {
        EXPECT_TRUE(files.allTexts("m.json").empty());
        return files.error.message;
    }

    AggregatedFiles files;
};

Variable codePoints(const Shape &shape, const std::u32string &letters) {
    Variable made{"<U2", shape, ""};
    for (char32_t c : letters) made.bytes += littleEndian<uint32_t>({static_cast<uint32_t>(c)});
    return made;
}

} // namespace

TEST_F(TextAggregations, OfVariableLengthTakeEveryKindOfStrings) {
    put(strings({}, {""}), {strings({2}, {"one", ""}), fixedStrings({2}, {"three", "four"}),
                            codePoints({2}, std::u32string{U'5', U'\u00e9', U'6', U'\0'}),
                            letters({2}, {"seven", "eight  "})});
    EXPECT_EQ(files.allTexts("m.json"),
              (Texts{"one", "", "three", "four", "5\u00e9", "6", "seven", "eight"}));
}

TEST_F(TextAggregations, OfFragmentsThatAreMissingHaveTheFillValue) {
    put(strings({}, {""}), {strings({2}, {"a", "b"}), strings({2}, {"c", "d"})});
    files.vfs.files.erase("0.json");
    EXPECT_NE(problemOfTexts().find("the file 0.json does not exist"), std::string::npos);
    files.missing = REFS_MISSING_FILL;
    EXPECT_EQ(files.allTexts("m.json"), (Texts{"none", "none", "c", "d"}));
}

TEST_F(TextAggregations, HaveOneValueForEachFragment) {
    const Variable sizes = numbers<int32_t>({3}, {1, 3, 2});
    Variable scalar = strings({}, {""});
    scalar.attributes = kValues;
    const Texts expected = {"a", "longer", "longer", "longer", "", ""};
    for (const Variable &values :
         {strings({3}, {"a", "longer", ""}), fixedStrings({3}, {"a", "longer", ""}),
          letters({3}, {"a", "longer", ""})}) {
        files.put("m.json", {{"v", scalar}, {"m", sizes}, {"w", values}});
        EXPECT_EQ(files.allTexts("m.json"), expected);
    }
    files.put("m.json", {{"v", scalar}, {"m", sizes}, {"w", strings({2}, {"a", "b"})}});
    EXPECT_NE(problemOfTexts().find("/w: has 2 values: expected 3, one for each fragment"),
              std::string::npos)
        << files.error.message;
    files.put("m.json", {{"v", scalar}, {"m", sizes}, {"w", numbers<int32_t>({3}, {1, 2, 3})}});
    EXPECT_NE(problemOfTexts().find("/w: expected strings, found other elements"),
              std::string::npos)
        << files.error.message;
    scalar = {"|S2", {}, "--", kValues};
    files.put("m.json", {{"v", scalar}, {"m", sizes}, {"w", {"|S1", {3}, "abc"}}});
    EXPECT_EQ(files.allTexts("m.json"), (Texts{"a", "b", "b", "b", "c", "c"}));
    files.put("m.json", {{"v", scalar}, {"m", sizes}, {"w", strings({3}, {"a", "b", "c"})}});
    EXPECT_NE(problemOfTexts().find("/w: expected values that are of one length"),
              std::string::npos)
        << files.error.message;
}

TEST_F(TextAggregations, OfCharactersAreReadAsElements) {
    put({"|S1", {}, "-"}, {{"|S1", {2}, "ab"}, {"|S1", {2}, "cd"}});
    const std::vector<char> all = files.all<char>("m.json");
    EXPECT_EQ(std::string(all.begin(), all.end()), "abcd");
    std::vector<char> window;
    ASSERT_EQ(files.read("v", &window, {3}, {3}, {-1}), REFS_OK);
    EXPECT_EQ(std::string(window.begin(), window.end()), "dcb");
}

TEST_F(TextAggregations, OfFixedLengthTakeShorterStrings) {
    put({"|S3", {}, "---"}, {{"|S3", {2}, "abcdef"}, {"|S2", {2}, "ghij"}});
    EXPECT_EQ(files.allTexts("m.json"), (Texts{"abc", "def", "gh", "ij"}));
    put({"|S1", {}, "-"}, {{"|S3", {2}, std::string("a\0\0b\0\0", 6)}});
    EXPECT_EQ(files.allTexts("m.json"), (Texts{"a", "b"}));
    put({"|S2", {}, "--"}, {{"|S3", {2}, "abcdef"}});
    EXPECT_NE(
        problemOfTexts().find("/v partition (0) of 0.json: a string has more than the 2 bytes"),
        std::string::npos)
        << files.error.message;
}

TEST_F(TextAggregations, AreNeitherOfNumbersNorOfOtherStrings) {
    put(strings({}, {""}), {numbers<float>({2}, {1, 2})});
    EXPECT_NE(problemOfTexts().find("/t: expected text, as the aggregation has"), std::string::npos)
        << files.error.message;
    put({"|S2", {}, "--"}, {strings({2}, {"a", "b"})});
    EXPECT_NE(problemOfTexts().find("/t: cannot convert its strings (of variable length) to those "
                                    "of the aggregation (of bytes)"),
              std::string::npos)
        << files.error.message;
    put(strings({}, {""}), {strings({3}, {"a", "b", "c"})});
    EXPECT_NE(
        problemOfTexts().find("/t has the shape (3): expected (2), the shape of its partition"),
        std::string::npos)
        << files.error.message;
}

TEST_F(TextAggregations, MayBePartsOfFragments) {
    files.put("f.json", {{"t", strings({3, 2}, {"a", "b", "c", "d", "e", "f"})}});
    files.put("m.json",
              {{"v", strings({}, {""},
                             R"("cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_array":)" +
                                 inJson(R"({"Partitions":[{"location":[[0,1],[0,2]],
            "pdimensions":["x","y"],"reverse":["y"],"part":"[(0,2,1),[0,1]]",
            "subarray":{"file":"f.json","ncvar":"t","shape":[3,2]}}]})"))}});
    EXPECT_EQ(files.allTexts("m.json"), (Texts{"b", "f", "d", "a", "e", "c"}));
}
