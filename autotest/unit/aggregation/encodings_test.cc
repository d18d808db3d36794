/* encodings_test.cc -- the same values in every encoding, told apart by attributes alone. */
#include "aggregated_files.h"

namespace {

/** Along y 1 and 2 elements, along x 2, 3 and 1; the fragment at (1, 1) is missing. */
constexpr float kFill = -9;
const std::vector<float> kExpected = {0,     1,     2,  3,  4,  5,     10,    11,    kFill,
                                      kFill, kFill, 15, 20, 21, kFill, kFill, kFill, 25};

const uint64_t kY[] = {0, 1, 3}, kX[] = {0, 2, 5, 6};

std::string fragmentName(size_t j, size_t i) {
    return "f" + std::to_string(j) + std::to_string(i) + ".json";
}

void putFragments(AggregatedFiles &files, const std::string &folder) {
    for (size_t j = 0; j < 2; j++)
        for (size_t i = 0; i < 3; i++) {
            std::vector<float> values;
            for (uint64_t y = kY[j]; y < kY[j + 1]; y++)
                for (uint64_t x = kX[i]; x < kX[i + 1]; x++)
                    values.push_back(static_cast<float>(10 * y + x));
            if (j == 1 && i == 1) continue;
            files.put(folder + fragmentName(j, i),
                      {{"t", numbers<float>({kY[j + 1] - kY[j], kX[i + 1] - kX[i]}, values)}});
        }
}

/** One string for each fragment; "" for the missing one. */
std::vector<std::string> ofFragments(const std::string &all = "") {
    std::vector<std::string> result;
    for (size_t j = 0; j < 2; j++)
        for (size_t i = 0; i < 3; i++)
            result.push_back(j == 1 && i == 1 ? "" : all.empty() ? fragmentName(j, i) : all);
    return result;
}

Variable container(const std::string &attributes) {
    return numbers<float>({}, {0}, "\"_FillValue\":-9," + attributes);
}

Variable aggregated(const std::string &terms) {
    return container(R"("aggregated_dimensions":"y x","aggregated_data":")" + terms + "\"");
}

Variable sizes() {
    return numbers<int32_t>({2, 3}, {1, 2, -1, 2, 3, 1}, "\"_FillValue\":-1");
}

/** @param inclusive whether locations have their last element in them */
std::string jsonPartitions(bool inclusive) {
    std::string list;
    for (size_t j = 0; j < 2; j++)
        for (size_t i = 0; i < 3; i++) {
            if (j == 1 && i == 1) continue;
            const uint64_t less = inclusive ? 1 : 0;
            list += (list.empty() ? "" : ",") + std::string("{\"index\":") + listOf({j, i}) +
                    ",\"location\":[" + listOf({kY[j], kY[j + 1] - less}) + "," +
                    listOf({kX[i], kX[i + 1] - less}) +
                    "],\"subarray\":{\"file\":" + inJson(fragmentName(j, i)) +
                    ",\"ncvar\":\"t\",\"format\":\"netCDF\",\"shape\":" +
                    listOf({kY[j + 1] - kY[j], kX[i + 1] - kX[i]}) + "}}";
        }
    return R"({"base":"","pmdimensions":["y","x"],"pmshape":[2,3],"Partitions":[)" + list + "]}";
}

Variables cfa04(bool inclusive) {
    return {{"v", container(R"("cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_array":)" +
                            inJson(jsonPartitions(inclusive)))}};
}

Variables cfa05() {
    std::vector<int32_t> location, index;
    for (size_t j = 0; j < 2; j++)
        for (size_t i = 0; i < 3; i++) {
            const bool isThere = j != 1 || i != 1;
            for (uint64_t n : {kY[j], kY[j + 1], kX[i], kX[i + 1]})
                location.push_back(isThere ? static_cast<int32_t>(n) : -2147483647);
            for (size_t n : {j, i})
                index.push_back(isThere ? static_cast<int32_t>(n) : -2147483647);
        }
    return {
        {"v", container(R"("cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_group":"cfa_v")")},
        {"cfa_v/location", numbers<int32_t>({2, 3, 2, 2}, location)},
        {"cfa_v/index", numbers<int32_t>({2, 3, 2}, index)},
        {"cfa_v/file", fixedStrings({2, 3}, ofFragments())},
        {"cfa_v/ncvar", fixedStrings({2, 3}, ofFragments("t"))},
        {"cfa_v/format", fixedStrings({2, 3}, ofFragments("NETCDF4"))}};
}

/** The encodings with terms, by what these are called. */
Variables withTerms(const std::string &terms) {
    return {{"v", aggregated(terms)},
            {"m", sizes()},
            {"u", fixedStrings({2, 3}, ofFragments())},
            {"n", fixedStrings({2, 3}, ofFragments("t"))},
            {"f", fixedStrings({}, {"nc"})}};
}

struct Encoding {
    const char *name;
    Variables variables;
};

class Encodings : public testing::TestWithParam<Encoding> {};

std::vector<Encoding> encodings() {
    Variables byLetters = withTerms("map: m uris: u identifiers: n");
    byLetters["u"] = letters({2, 3}, ofFragments());
    Variables oneName = withTerms("map: m uris: u identifiers: n");
    oneName["n"] = fixedStrings({}, {"t"});
    return {{"Cfa04Inclusive", cfa04(true)},
            {"Cfa04HalfOpen", cfa04(false)},
            {"Cfa05", cfa05()},
            {"Cfa06", withTerms("location: m file: u format: f address: n")},
            {"Cfa06InAnyOrderAndCase", withTerms("Address: n FORMAT: f FILE: u Location: m")},
            {"Cfa06WithUnknownTerms",
             withTerms("location: m file: u other: nothing format: f address: n")},
            {"Draft", withTerms("shape: m location: u address: n")},
            {"DraftOfMaps", withTerms("map: m location: u variable: n")},
            {"Cf113", withTerms("map: m uris: u identifiers: n")},
            {"Cf113WithLetters", byLetters},
            {"Cf113WithOneIdentifier", oneName}};
}

} // namespace

TEST_P(Encodings, GiveTheSameArray) {
    AggregatedFiles files;
    putFragments(files, "d/");
    files.put("d/m.json", GetParam().variables);
    EXPECT_EQ(files.all("d/m.json"), kExpected);
    EXPECT_EQ(files.shapeOf("v"), (Shape{3, 6}));
    EXPECT_STREQ(files.meta("v")->dims[0], "y");
    EXPECT_STREQ(files.meta("v")->dims[1], "x");
}

TEST_P(Encodings, GiveTheSameWindows) {
    AggregatedFiles files;
    putFragments(files, "d/");
    files.put("d/m.json", GetParam().variables);
    ASSERT_EQ(files.open("d/m.json"), REFS_OK);
    for (uint64_t y = 0; y < 3; y++)
        for (uint64_t x = 0; x < 6; x++)
            for (const Shape &count : {Shape{1, 1}, Shape{3 - y, 6 - x}, Shape{1, (6 - x + 1) / 2},
                                       Shape{y + 1, x + 1}}) {
                const bool backwards = count == Shape{y + 1, x + 1};
                const int64_t stepY = backwards ? -1 : 1;
                const int64_t stepX = backwards ? -1 : count == Shape{1, (6 - x + 1) / 2} ? 2 : 1;
                std::vector<float> values, expected;
                for (uint64_t j = 0; j < count[0]; j++)
                    for (uint64_t i = 0; i < count[1]; i++)
                        expected.push_back(kExpected[static_cast<size_t>(
                            6 * (static_cast<int64_t>(y) + static_cast<int64_t>(j) * stepY) +
                            static_cast<int64_t>(x) + static_cast<int64_t>(i) * stepX)]);
                ASSERT_EQ(files.read("v", &values, {y, x}, count, {stepY, stepX}), REFS_OK)
                    << files.error.message;
                ASSERT_EQ(values, expected) << y << " " << x;
            }
}

TEST_P(Encodings, TellTheSamePartitions) {
    AggregatedFiles files;
    putFragments(files, "d/");
    files.put("d/m.json", GetParam().variables);
    ASSERT_EQ(files.open("d/m.json"), REFS_OK);
    std::vector<std::string> seen;
    const auto see = [](void *user, const refs_partition *part, refs_error *) {
        static_cast<std::vector<std::string> *>(user)->push_back(
            std::string(part->file) + ":" + part->variable + " " +
            listOf({part->index[0], part->index[1], part->begin[0], part->end[0], part->begin[1],
                    part->end[1]}));
        return REFS_OK;
    };
    ASSERT_EQ(refs_aggregation_each(files.meta("v"), see, &seen, nullptr), REFS_OK);
    EXPECT_EQ(seen,
              (std::vector<std::string>{"f00.json:t [0,0,0,1,0,2]", "f01.json:t [0,1,0,1,2,5]",
                                        "f02.json:t [0,2,0,1,5,6]", "f10.json:t [1,0,1,3,0,2]",
                                        "f12.json:t [1,2,1,3,5,6]"}));
    refs_partition part;
    EXPECT_EQ(refs_aggregation_find(files.meta("v"), Shape{2, 5}.data(), &part, nullptr), REFS_OK);
    EXPECT_STREQ(part.file, "f12.json");
    const refs_status atHole =
        refs_aggregation_find(files.meta("v"), Shape{2, 4}.data(), &part, nullptr);
    EXPECT_TRUE(atHole == REFS_NOT_FOUND || !part.has_fragment);
}

TEST_P(Encodings, HideWhatOnlyTellsOfThem) {
    AggregatedFiles files;
    putFragments(files, "d/");
    files.put("d/m.json", GetParam().variables);
    ASSERT_EQ(files.open("d/m.json"), REFS_OK);
    for (size_t i = 0; i < refs_hierarchy_n_arrays(files.hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(files.hierarchy, i);
        const std::string path = array->path;
        const bool isOther = path == "/n" && GetParam().variables.count("n") == 0;
        if (path != "/v" && !isOther && path != "/f") {
            EXPECT_TRUE(array->is_instruction) << path;
        }
    }
    EXPECT_FALSE(files.meta("v")->is_instruction);
    for (const char *name : {"aggregated_data", "aggregated_dimensions", "cfa_array", "cf_role"})
        EXPECT_EQ(refs_json_get(files.meta("v")->attributes, name), nullptr) << name;
}

INSTANTIATE_TEST_SUITE_P(All, Encodings, testing::ValuesIn(encodings()),
                         [](const auto &test) { return std::string(test.param.name); });

/* CF 1.13, appendix A: cf_role has values of CF, too. */
TEST(Attributes, OfValuesStayThoseOfAnAggregation) {
    AggregatedFiles files;
    putFragments(files, "d/");
    Variables variables = withTerms("map: m uris: u identifiers: n");
    variables["v"] = container(
        R"("aggregated_dimensions":"y x","aggregated_data":"map: m uris: u identifiers: n",)"
        R"("cf_role":"timeseries_id","cfa_array":"of CFA-0.4")");
    files.put("d/m.json", variables);
    ASSERT_EQ(files.open("d/m.json"), REFS_OK);
    const refs_json *attributes = files.meta("v")->attributes;
    EXPECT_TRUE(refs_str_is(refs_json_text(refs_json_get(attributes, "cf_role")), "timeseries_id"));
    EXPECT_EQ(refs_json_get(attributes, "cfa_array"), nullptr);
}

/* -- values in place of files ------------------------------------------------------------------ */

TEST(UniqueValues, AreThoseOfWholeFragments) {
    for (const char *terms :
         {"map: m unique_values: u", "map: m unique_value: u", "shape: m value: u"}) {
        AggregatedFiles files;
        files.put("m.json",
                  {{"v", aggregated(terms)},
                   {"m", sizes()},
                   {"u", numbers<int16_t>({2, 3}, {1, 2, 3, 4, -1, 6}, "\"_FillValue\":-1")}});
        EXPECT_EQ(files.all("m.json"),
                  (std::vector<float>{1, 1, 2, 2, 2, 3, 4, 4, -9, -9, -9, 6, 4, 4, -9, -9, -9, 6}))
            << terms;
    }
}

TEST(UniqueValues, AskNoFile) {
    AggregatedFiles files;
    files.put("m.json", {{"v", aggregated("map: m unique_values: u")},
                         {"m", sizes()},
                         {"u", numbers<int16_t>({2, 3}, {1, 2, 3, 4, 5, 6})}});
    std::vector<float> values;
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    ASSERT_EQ(files.read("v", &values), REFS_OK);
    const int opens = files.vfs.opens;
    ASSERT_EQ(files.read("v", &values), REFS_OK);
    EXPECT_EQ(files.vfs.opens, opens);
}

TEST(Aggregations, OfNoDimensionAreOneFragment) {
    AggregatedFiles files;
    files.put("f.json", {{"t", numbers<float>({}, {4.5})}});
    files.put(
        "m.json",
        {{"v",
          container(
              R"("aggregated_dimensions":"","aggregated_data":"map: m uris: u identifiers: n")")},
         {"m", numbers<int32_t>({1}, {1})},
         {"u", fixedStrings({}, {"f.json"})},
         {"n", fixedStrings({}, {"t"})}});
    EXPECT_EQ(files.all("m.json"), (std::vector<float>{4.5}));
    EXPECT_EQ(files.meta("v")->rank, 0u);
}

TEST(Aggregations, MayHaveFragmentsInTheirOwnFile) {
    for (const char *terms :
         {"map: m uris: u identifiers: n", "location: m file: u format: f address: n"}) {
        AggregatedFiles files;
        files.put("m.json", {{"v", aggregated(terms)},
                             {"m", numbers<int32_t>({2, 2}, {1, 1, 2, -1})},
                             {"u", fixedStrings({2, 1}, {"", ""})},
                             {"n", fixedStrings({2, 1}, {"g/a", "/b"})},
                             {"f", fixedStrings({}, {"nc"})},
                             {"g/a", numbers<int16_t>({1, 2}, {1, 2})},
                             {"b", numbers<double>({2}, {3, 4})}});
        EXPECT_EQ(files.all("m.json"), (std::vector<float>{1, 2, 3, 4})) << terms;
    }
}

TEST(Aggregations, ReadTheFirstCopyThatIsThere) {
    AggregatedFiles files;
    files.put("two.json", {{"t", numbers<float>({1, 2}, {1, 2})}});
    files.put("three.json", {{"t", numbers<float>({1, 2}, {3, 4})}});
    Variables master = {{"v", aggregated("location: m file: u format: f address: n")},
                        {"m", numbers<int32_t>({2, 2}, {1, 1, 2, -1})},
                        {"u", fixedStrings({2, 1, 3}, {"one.json", "two.json", "three.json",
                                                       "three.json", "", ""})},
                        {"n", fixedStrings({}, {"t"})},
                        {"f", fixedStrings({}, {"nc"})}};
    files.put("m.json", master);
    EXPECT_EQ(files.all("m.json"), (std::vector<float>{1, 2, 3, 4}));
    master["u"] = fixedStrings({2, 1, 3}, {"one.json", "none.json", "", "three.json", "", ""});
    files.put("m.json", master);
    EXPECT_NE(files.problem("m.json").find("(0, 0): the file one.json does not exist"),
              std::string::npos)
        << files.error.message;
}

TEST(Aggregations, AreNotToldByNamesOfConventions) {
    AggregatedFiles files;
    files.put("m.json", {{"v", numbers<float>({2}, {1, 2}, R"("Conventions":"CFA-0.5 CF-1.13")")},
                         {"cf", numbers<float>({}, {1}, R"("cf_role":"timeseries_id")")},
                         {"none", numbers<float>({}, {1}, R"("cf_role":"cfa_variable")")}});
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    EXPECT_EQ(files.aggregations, nullptr);
}

TEST(Aggregations, KeepAttributesOfTheirValues) {
    AggregatedFiles files;
    files.put("m.json", {{"v", container(R"("units":"K","aggregated_dimensions":"x",
                                  "aggregated_data":"map: m unique_values: u")")},
                         {"m", numbers<int32_t>({1}, {2})},
                         {"u", numbers<float>({1}, {7})}});
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    const refs_json *units = refs_json_get(files.meta("v")->attributes, "units");
    ASSERT_NE(units, nullptr);
    EXPECT_TRUE(refs_str_is(refs_json_text(units), "K"));
}
