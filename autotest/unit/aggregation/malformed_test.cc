/* malformed_test.cc -- aggregations that make no sense say so in one sentence, and what is beside
 * them is read. */
#include "aggregated_files.h"

namespace {

const char kDims[] = R"("_FillValue":-9,"aggregated_dimensions":"y x")";

Variable container(const std::string &terms) {
    return numbers<float>({}, {0}, kDims + (",\"aggregated_data\":" + inJson(terms)));
}

/** What is right: two fragments along x. */
Variables sound() {
    return {{"v", container("map: m uris: u identifiers: n")},
            {"m", numbers<int32_t>({2, 2}, {1, -1, 2, 3})},
            {"u", fixedStrings({1, 2}, {"f.json", "g.json"})},
            {"n", fixedStrings({1, 2}, {"t", "t"})},
            {"w", numbers<float>({2}, {1, 2})}};
}

Variables withJson(const std::string &json) {
    return {{"v",
             numbers<float>(
                 {}, {0},
                 R"("_FillValue":-9,"cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_array":)" +
                     inJson(json))},
            {"w", numbers<float>({2}, {1, 2})}};
}

std::string onePartition(
    const std::string &index, const std::string &location,
    const std::string &more = R"("subarray":{"file":"f.json","ncvar":"t","shape":[1,2]})") {
    return "{\"index\":" + index + ",\"location\":" + location + "," + more + "}";
}

std::string matrix(const std::string &partitions) {
    return R"({"pmdimensions":["y","x"],"pmshape":[1,2],"Partitions":[)" + partitions + "]}";
}

Variables group(std::vector<int32_t> location) {
    return {{"v", numbers<float>(
                      {}, {0},
                      R"("cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_group":"cfa_v")")},
            {"cfa_v/location", numbers<int32_t>({1, 2, 2, 2}, location)},
            {"cfa_v/index", numbers<int32_t>({1, 2, 2}, {0, 0, 0, 1})},
            {"cfa_v/file", fixedStrings({1, 2}, {"f.json", "g.json"})},
            {"cfa_v/ncvar", fixedStrings({1, 2}, {"t", "t"})},
            {"w", numbers<float>({2}, {1, 2})}};
}

/** @param said a part of what is said of array "v" */
void expectProblem(const Variables &variables, const std::string &said) {
    AggregatedFiles files;
    files.put("m.json", variables);
    files.put("f.json", {{"t", numbers<float>({1, 2}, {1, 2})}});
    files.put("g.json", {{"t", numbers<float>({1, 3}, {3, 4, 5})}});
    const std::string problem = files.problem("m.json");
    EXPECT_NE(problem.find(said), std::string::npos) << "'" << problem << "'";
    EXPECT_LT(problem.size(), 400u) << problem;
    EXPECT_EQ(problem.find('\n'), std::string::npos) << problem;
    ASSERT_NE(files.hierarchy, nullptr) << problem;
    ASSERT_NE(files.meta("w"), nullptr);
    EXPECT_EQ(files.meta("w")->status, REFS_OK);
}

Variables with(Variables variables, const std::string &name, const Variable &other) {
    variables[name] = other;
    return variables;
}

} // namespace

TEST(MalformedAggregations, AreNotTheSoundOnes) {
    AggregatedFiles files;
    files.put("f.json", {{"t", numbers<float>({1, 2}, {1, 2})}});
    files.put("g.json", {{"t", numbers<float>({1, 3}, {3, 4, 5})}});
    files.put("m.json", sound());
    EXPECT_EQ(files.all("m.json"), (std::vector<float>{1, 2, 3, 4, 5}));
    files.put("m.json", group({0, 1, 0, 2, 0, 1, 2, 5}));
    EXPECT_EQ(files.all("m.json"), (std::vector<float>{1, 2, 3, 4, 5}));
    files.put("m.json", withJson(matrix(onePartition("[0,0]", "[[0,0],[0,1]]"))));
    EXPECT_EQ(files.all("m.json"), (std::vector<float>{1, 2}));
}

TEST(MalformedAggregations, HaveTermsThatNobodyKnows) {
    expectProblem(with(sound(), "v", container("what: m ever: u")),
                  "aggregated_data: expected the terms");
    expectProblem(with(sound(), "v", container("")), "aggregated_data: expected the terms");
    expectProblem(with(sound(), "v", container("map: m uris: u")),
                  "aggregated_data lacks the term identifiers");
    expectProblem(with(sound(), "v", container("map: m uris: gone identifiers: n")),
                  "names the variable gone (uris), which the file lacks");
}

TEST(MalformedAggregations, HaveSizesThatMakeNoSense) {
    const auto sizes = [](const Variable &m) { return with(sound(), "m", m); };
    expectProblem(sizes(numbers<int32_t>({2, 2}, {-5, -1, 2, 3})), "dimension y has no fragments");
    expectProblem(
        sizes(numbers<int32_t>({2, 2}, {1, -1, -1, 3})),
        "size 1 along dimension x: expected a missing value after the last size, found 3");
    expectProblem(
        sizes(numbers<int32_t>({2, 2}, {1, -1, 0, 3})),
        "size 0 along dimension x: expected a missing value after the last size, found 0");
    expectProblem(sizes(numbers<int32_t>({3}, {1, 2, 3})), "/m: ");
    expectProblem(sizes(numbers<int32_t>({1, 4}, {1, -1, 2, 3})), "/m: ");
    expectProblem(sizes(numbers<int32_t>({4, 1}, {1, 1, 2, 3})), "/m: ");
    expectProblem(sizes(fixedStrings({2, 2}, {"1", "", "2", "3"})), "/m");
}

TEST(MalformedAggregations, HaveAsManyNamesAsNobodyCanShareOut) {
    expectProblem(with(sound(), "u", fixedStrings({1, 3}, {"f.json", "g.json", "h.json"})),
                  "/u: has 3 values: expected 2, one for each fragment");
    expectProblem(with(sound(), "n", fixedStrings({3}, {"t", "t", "t"})),
                  "/n: has 3 values: expected 2, one for each fragment");
    Variables values = with(sound(), "v", container("map: m unique_values: u"));
    expectProblem(with(values, "u", numbers<float>({3}, {1, 2, 3})),
                  "/u: has 3 values: expected 2, one for each fragment");
    expectProblem(with(values, "u", fixedStrings({1, 2}, {"1", "2"})),
                  "/u: expected values that are numbers");
}

TEST(MalformedAggregations, HaveFormatsThatAreNotRead) {
    Variables variables = with(sound(), "v", container("location: m file: u format: k address: n"));
    expectProblem(with(variables, "k", fixedStrings({}, {"PP"})),
                  "fragments of format PP are not supported");
    expectProblem(withJson(matrix(onePartition("[0,0]", "[[0,0],[0,1]]", R"("subarray":
{"file":"f.pp","format":"PP","file_offset":100,"ncvar":"t","shape":[1,2]})"))),
                  "fragments of format PP are not supported");
}

TEST(MalformedAggregations, DisagreeWithTheirDimensions) {
    expectProblem(with(sound(), "x", numbers<float>({6}, countUp<float>(6), "", "x")),
                  "the fragments have 5 elements along dimension x: expected 6");
}

TEST(MalformedAggregations, HaveJsonThatIsNone) {
    expectProblem(withJson(""), "cfa_array is missing or empty: expected partitions in JSON");
    expectProblem(withJson("{\"Partitions\":"), "cfa_array: ");
    expectProblem(withJson("[]"), "cfa_array: expected a list as Partitions");
    expectProblem(withJson("{}"), "cfa_array: expected a list as Partitions");
    expectProblem(withJson("{\"Partitions\":{}}"), "cfa_array: expected a list as Partitions");
    expectProblem(withJson(std::string(100000, '[')), "cfa_array: ");
    expectProblem(
        withJson("{\"Partitions\":[" + std::string(5000, '[') + std::string(5000, ']') + "]}"),
        "cfa_array");
    expectProblem(withJson(matrix("7")), "partition 0 of cfa_array: it lacks its subarray");
    expectProblem(withJson(matrix("{}")), "partition 0 of cfa_array: it lacks its subarray");
}

TEST(MalformedAggregations, HaveAMatrixThatMakesNoSense) {
    expectProblem(withJson(R"({"pmdimensions":["y"],"pmshape":[1,2],"Partitions":[]})"),
                  "pmdimensions and pmshape differ in length");
    expectProblem(withJson(R"({"pmdimensions":["z"],"pmshape":[1],"Partitions":[]})"),
                  "has z, which cfa_dimensions lacks");
    expectProblem(withJson(R"({"pmdimensions":["y","y"],"pmshape":[1,1],"Partitions":[]})"), "y");
    expectProblem(withJson(R"({"pmdimensions":["y","x"],"pmshape":[1,0],"Partitions":[]})"),
                  "pmshape: expected a list of sizes");
    expectProblem(withJson(R"({"pmdimensions":["y","x"],"pmshape":[1,-2],"Partitions":[]})"),
                  "pmshape: expected a list of sizes");
    expectProblem(
        withJson(R"({"pmdimensions":["y","x"],"pmshape":[4294967296,4294967296],"Partitions":[]})"),
        "more partitions than the limit of 16777216");
    expectProblem(withJson(R"({"pmdimensions":["y","x"],"pmshape":[1,1],"Partitions":[]})"),
                  "dimension y has no size: expected a coordinate or fragments that have one");
    expectProblem(withJson(matrix(onePartition("[0,2]", "[[0,0],[0,1]]"))),
                  "its index lies outside pmshape");
    expectProblem(withJson(matrix(onePartition("[0]", "[[0,0],[0,1]]"))),
                  "its index and pmdimensions differ in length");
    expectProblem(withJson(matrix(onePartition("[0,-1]", "[[0,0],[0,1]]"))),
                  "its index lies outside pmshape");
    expectProblem(withJson(matrix(onePartition("[0,0]", "[[0,0],[0,1]]") + "," +
                                  onePartition("[0,0]", "[[0,0],[0,1]]"))),
                  "partition 1 of cfa_array: another partition has the same index");
}

TEST(MalformedAggregations, HavePlacesThatMakeNoSense) {
    const auto at = [](const std::string &location) {
        return withJson(matrix(onePartition("[0,0]", location)));
    };
    expectProblem(at("[[0,0],[0,5]]"),
                  "location along dimension x is 0 to 5, its subarray has 2 elements there");
    expectProblem(at("[[0,0]]"), "location and cfa_dimensions differ in length");
    expectProblem(at("[[0,0],[3,1]]"), "location: expected a list of first and last elements");
    expectProblem(at("[[0,0],[-1,0]]"), "location: expected a list of first and last elements");
    expectProblem(at("[[0,0],[0]]"), "location: expected a list of first and last elements");
    expectProblem(at("[[0,0],[0,1e300]]"), "location: expected a list of first and last elements");
    expectProblem(withJson(matrix(onePartition("[0,0]", "[[0,0],[0,1]]") + "," +
                                  onePartition("[0,1]", "[[0,0],[1,2]]"))),
                  "partitions 0 and 1 along dimension x overlap");
    expectProblem(withJson(matrix(onePartition("[0,0]", "[[0,0],[0,1]]") + "," +
                                  onePartition("[0,1]", "[[1,1],[2,3]]"))),
                  "its location along dimension y is not that of partition 0");
}

TEST(MalformedAggregations, HaveSubarraysThatMakeNoSense) {
    const auto sub = [](const std::string &more) {
        return withJson(matrix(onePartition("[0,0]", "[[0,0],[0,1]]", more)));
    };
    expectProblem(sub(R"("subarray":{"file":"f.json","shape":[1,2]})"),
                  "its subarray: expected ncvar or varid");
    expectProblem(sub(R"("subarray":{"file":"f.json","varid":7,"shape":[1,2]})"),
                  "lacks the variable with that number");
    expectProblem(sub(R"("subarray":{"file":"f.json","ncvar":"q","shape":[1,2]})"),
                  "the file lacks the variable q");
    expectProblem(sub(R"("subarray":{"file":"f.json","ncvar":"t","shape":[1,0]})"),
                  "the shape of its subarray: expected a list of sizes");
    expectProblem(sub(R"("subarray":{"file":"g.json","ncvar":"t","shape":[1,2]})"),
                  "has the shape (1, 3): expected (1, 2), the shape of its partition");
    const std::string good = R"("subarray":{"file":"f.json","ncvar":"t","shape":[1,2]})";
    expectProblem(sub(R"("pdimensions":["y"],)" + good),
                  "pdimensions and the shape of its subarray differ in length");
    expectProblem(sub(R"("pdimensions":["x","x"],)" + good), "pdimensions names a dimension twice");
    expectProblem(sub(R"("reverse":["z"],)" + good), "reverse names an unknown dimension");
    for (const char *part : {"[[0,0]]", "[[0,0],[0,1],[0,0]]", "[[0,0],[0,1,0]]", "[[0,0],[1,0]]",
                             "[[0,0],[0]]", "[[0,0],(-1,0)]", "[[0,0],()]", "x", "[", "[[0,0],[0,1",
                             "[[0,0],[0,9999999999999999999999]]"})
        expectProblem(sub("\"part\":" + inJson(part) + "," + good),
                      "part: expected a list of ranges and of lists of elements");
    expectProblem(sub(R"("part":"[[0,0],[1,2]]",)" + good),
                  "expected (1, 2), the shape of its partition");
    const std::string far = R"("part":"[[0,0,-9223372036854775808],[0,1]]","reverse":["y"],)";
    AggregatedFiles files;
    files.put("f.json", {{"t", numbers<float>({1, 2}, {1, 2})}});
    files.put("m.json", sub(far + good));
    EXPECT_EQ(files.problem("m.json"), "");
}

TEST(MalformedAggregations, HaveGroupsThatMakeNoSense) {
    expectProblem(group({0, 1, 0, 2, 0, 1, 1, 4}), "partitions 0 and 1 along dimension x overlap");
    expectProblem(group({0, 1, 0, 2, 0, 2, 2, 5}),
                  "partition (0, 1): its location along dimension y is 0 to 2");
    expectProblem(group({0, 1, 2, 0, 0, 1, 2, 5}),
                  "partition (0, 0): its location along dimension x is 2 to 0");
    expectProblem(group({0, 1, -3, 2, 0, 1, 2, 5}),
                  "partition (0, 0): its location along dimension x is -3 to 2");
    const Variables good = group({0, 1, 0, 2, 0, 1, 2, 5});
    expectProblem(with(good, "cfa_v/index", numbers<int32_t>({1, 2, 2}, {0, 0, 0, 0})),
                  "partition (0, 1): its index along dimension x is invalid: 0");
    expectProblem(with(good, "cfa_v/file", fixedStrings({3}, {"a", "b", "c"})),
                  "cfa_v/file: expected one value for each of 2 partitions");
    expectProblem(with(good, "cfa_v/location", numbers<int32_t>({1, 2, 2}, {0, 1, 0, 2})),
                  "expected the 2 dimensions of the partitions");
    expectProblem(with(good, "cfa_v/format", fixedStrings({1, 2}, {"NETCDF4", "PP"})),
                  "fragments of format PP are not supported");
    for (const char *name : {"location", "file", "ncvar"}) {
        Variables less = good;
        less.erase(std::string("cfa_v/") + name);
        expectProblem(less, "group cfa_v lacks the variable " + std::string(name));
    }
    expectProblem(with(good, "cfa_v/location", numbers<int32_t>({0, 2, 2, 2}, {})), "dimension");
}

TEST(MalformedAggregations, NameThemselves) {
    expectProblem(with(sound(), "u", fixedStrings({1, 2}, {"m.json", "m.json"})),
                  "m.json: /v partition (0, 0) of m.json: the file lacks the variable t");
    Variables variables = with(sound(), "u", fixedStrings({1, 2}, {"m.json", "g.json"}));
    expectProblem(with(variables, "n", fixedStrings({1, 2}, {"v", "t"})),
                  "/v is itself an aggregation: expected a variable with values");
    variables = with(sound(), "u", fixedStrings({1, 2}, {"", ""}));
    variables["a"] = container("map: m uris: u identifiers: n");
    expectProblem(with(variables, "n", fixedStrings({1, 2}, {"a", "a"})),
                  "/a is itself an aggregation: expected a variable with values");
    expectProblem(with(variables, "n", fixedStrings({1, 2}, {"nope", "nope"})),
                  "m.json: /v partition (0, 0) of m.json: the file lacks the variable nope");
    variables = with(sound(), "n", fixedStrings({1, 2}, {"", ""}));
    expectProblem(variables, "the aggregation lacks the name of its variable");
}

TEST(MalformedAggregations, HaveMoreDimensionsThanArraysMay) {
    std::string names;
    for (int i = 0; i < 100; i++) names += " d" + std::to_string(i);
    expectProblem(with(sound(), "v",
                       numbers<float>({}, {0},
                                      "\"aggregated_dimensions\":" + inJson(names) +
                                          R"(,"aggregated_data":"map: m uris: u identifiers: n")")),
                  "more dimensions than the limit of");
}

TEST(MalformedAggregations, HaveTypesThatAreNeitherNumbersNorText) {
    const std::string attributes =
        kDims + std::string(R"(,"aggregated_data":"map: m uris: u identifiers: n")");
    for (const char *type : {"<c8", "|V8"})
        expectProblem(with(sound(), "v", {type, {}, std::string(8, '\0'), attributes}),
                      "expected real numbers or text as values of an aggregation");
}

TEST(MalformedAggregations, HaveMatricesThatAreTransposed) {
    Variables variables = sound();
    variables["m"] = numbers<int32_t>({2, 3}, {1, 1, -1, 1, 1, 1});
    variables["n"] = fixedStrings({}, {"t"});
    const std::vector<std::string> names = {"0", "1", "2", "3", "4", "5"};
    for (const Shape &shape :
         {Shape{3, 2}, Shape{6}, Shape{3, 2, 1}, Shape{3, 2, 2}, Shape{2, 2, 3}}) {
        std::vector<std::string> all = names;
        if (shape.size() > 2 && shape[2] > 1) all.insert(all.end(), names.begin(), names.end());
        expectProblem(with(variables, "u", fixedStrings(shape, all)),
                      "/u: its dimensions differ from those of the fragments");
    }
    Variables values = with(variables, "v", container("map: m unique_values: u"));
    expectProblem(with(values, "u", numbers<float>({3, 2}, countUp<float>(6))),
                  "/u: its dimensions differ from those of the fragments: expected 2 along y");
    AggregatedFiles files;
    files.put("m.json", with(values, "u", numbers<float>({2, 1, 3}, countUp<float>(6))));
    EXPECT_EQ(files.all("m.json"), countUp<float>(6));
    Variables groups = group({});
    groups["cfa_v/location"] = numbers<int32_t>(
        {2, 3, 2, 2}, {0, 1, 0, 1, 0, 1, 1, 2, 0, 1, 2, 3, 1, 2, 0, 1, 1, 2, 1, 2, 1, 2, 2, 3});
    groups.erase("cfa_v/index");
    groups["cfa_v/file"] = fixedStrings({3, 2}, names);
    groups["cfa_v/ncvar"] = fixedStrings({2, 3}, names);
    expectProblem(groups, "cfa_v/file: its dimensions differ from those of the fragments");
    groups["cfa_v/file"] = fixedStrings({2, 3}, names);
    groups["cfa_v/ncvar"] = fixedStrings({3, 2}, names);
    expectProblem(groups, "cfa_v/ncvar: its dimensions differ from those of the fragments");
}

TEST(MalformedAggregations, AreLargerThanAnythingThatIsRead) {
    AggregatedFiles files;
    files.put("f.json", {{"t", numbers<float>({1, 2}, {1, 2})}});
    files.put("m.json", withJson(matrix(onePartition(
                            "[0,0]", "[[0,0],[9223372036854775806,9223372036854775807]]"))));
    std::vector<float> values;
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    ASSERT_EQ(files.read("v", &values, {0, 0}, {1, 1}), REFS_OK);
    EXPECT_EQ(values[0], -9);
    Variables variables = sound();
    variables["m"] = numbers<double>({2, 2}, {1, -1, 8e15, 8e15});
    files.put("m.json", variables);
    ASSERT_EQ(files.open("m.json"), REFS_OK);
    EXPECT_EQ(files.read("v", &values, {0, 8000000000000000}, {1, 1}), REFS_NOT_FOUND)
        << files.error.message;
    std::vector<double> sizes(4000, 8e15);
    sizes[0] = 1;
    for (size_t i = 1; i < 2000; i++) sizes[i] = -1;
    variables["m"] = numbers<double>({2, 2000}, sizes);
    expectProblem(variables, "the fragments have more than 2^64 elements");
}
