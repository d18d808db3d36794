/* faults_test.cc -- memory that runs out anywhere between an aggregation and its values: the n-th
 * allocation fails, for all n. What then succeeds gives the same values as ever. */
#include "aggregated_files.h"
#include "core_under_test.h"

namespace {

const char kTerms[] = R"("_FillValue":-9,"units":"K","aggregated_dimensions":"y x",
    "aggregated_data":"location: m file: u format: f address: n")";

Outcome attempt(AggregatedFiles &files, const std::string &location) {
    Outcome outcome;
    std::vector<float> values;
    outcome.status = files.open(location);
    if (outcome.status == REFS_OK) outcome.status = files.read("v", &values);
    if (outcome.status == REFS_OK)
        outcome.status = refs_aggregation_each(
            files.meta("v"),
            [](void *seen, const refs_partition *partition, refs_error *) {
                *static_cast<std::string *>(seen) += std::string(partition->file) + "\n";
                return REFS_OK;
            },
            &outcome.seen, &files.error);
    outcome.message = files.error.message;
    EXPECT_EQ(outcome.status, files.error.status) << outcome.message;
    for (float value : values) outcome.seen += std::to_string(value) + " ";
    files.close();
    return outcome;
}

void putFragments(AggregatedFiles &files) {
    files.put("f.json", {{"t", numbers<int16_t>({2}, {1, 2}, "\"scale_factor\":0.5")}});
    files.put("g.json", {{"t", numbers<double>({1, 3}, {3, 4, 5})}});
}

} // namespace

TEST(AggregationFaults, OfTermsAreToldForEveryAllocation) {
    AggregatedFiles files;
    putFragments(files);
    Variable names = fixedStrings({1, 2, 2}, {"gone.json", "${B}f.json", "g.json", ""});
    names.attributes = R"("substitutions":"${B}: ./")";
    files.put("m.json", {{"v", numbers<float>({}, {0}, kTerms)},
                         {"m", numbers<int32_t>({2, 2}, {1, -1, 2, 3})},
                         {"u", names},
                         {"f", fixedStrings({}, {"nc"})},
                         {"n", fixedStrings({1, 2}, {"t", "t"})}});
    EXPECT_GT(failEachInBothWays([&] { return attempt(files, "m.json"); }), 100);
}

TEST(AggregationFaults, OfJsonAreToldForEveryAllocation) {
    AggregatedFiles files;
    putFragments(files);
    files.put("m.nca",
              {{"v", numbers<float>(
                         {}, {0},
                         R"("cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_array":)" +
                             inJson(R"({"base":"","pmdimensions":["x"],"pmshape":[3],"Partitions":[
            {"index":[0],"location":[[0,0],[0,1]],"pdimensions":["x"],"reverse":["x"],"part":"[(1,1)]","punits":"K",
             "subarray":{"file":"f.json","ncvar":"t","shape":[2]}},
            {"index":[2],"location":[[0,0],[4,6]],"subarray":{"file":"old/g.json","ncvar":"t","shape":[1,3]}}]})"))}});
    files.vfs.files["m/g.json"] = files.vfs.files["g.json"];
    files.vfs.files["m/g.json.t.bin"] = files.vfs.files["g.json.t.bin"];
    EXPECT_GT(failEachInBothWays([&] { return attempt(files, "m.nca"); }), 100);
}

TEST(AggregationFaults, OfGroupsAreToldForEveryAllocation) {
    AggregatedFiles files;
    putFragments(files);
    files.put(
        "m.json",
        {{"v", numbers<float>(
                   {}, {0}, R"("cf_role":"cfa_variable","cfa_dimensions":"y x","cfa_group":"g")")},
         {"g/location", numbers<int32_t>({1, 2, 2, 2}, {0, 1, 0, 2, 0, 1, 2, 5})},
         {"g/file", fixedStrings({1, 2}, {"f.json", "g.json"})},
         {"g/format", fixedStrings({1, 2}, {"NETCDF4", "NETCDF4"})},
         {"g/index", numbers<int32_t>({1, 2, 2}, {0, 0, 0, 1})},
         {"g/ncvar", fixedStrings({1, 2}, {"t", "t"})}});
    EXPECT_GT(failEachInBothWays([&] { return attempt(files, "m.json"); }), 100);
}

TEST(AggregationFaults, OfValuesInPlaceOfFilesAreToldForEveryAllocation) {
    AggregatedFiles files;
    files.put(
        "m.json",
        {{"v", numbers<float>(
                   {}, {0},
                   R"("aggregated_dimensions":"y x","aggregated_data":"map: m unique_values: u")")},
         {"m", numbers<int32_t>({2, 2}, {1, -1, 20, 3})},
         {"u", numbers<int16_t>({1, 2}, {1, 2})}});
    EXPECT_GT(failEachInBothWays([&] { return attempt(files, "m.json"); }), 100);
}

TEST(AggregationFaults, OfMessagesAreToldForEveryAllocation) {
    AggregatedFiles files;
    files.put("f.json", {{"t", numbers<float>({1}, {1})}});
    files.put(
        "m.json",
        {{"v",
          numbers<float>(
              {}, {0},
              R"("aggregated_dimensions":"x","aggregated_data":"map: m uris: u identifiers: n")")},
         {"m", numbers<int32_t>({1}, {1})},
         {"u", fixedStrings({1}, {"f.json"})},
         {"n", fixedStrings({1}, {"q"})}});
    refs_allocator_set(&failing);
    for (bool goOn : {false, true}) {
        goesOn = goOn;
        for (int64_t n = 0; n == 0 || untilFailure < 0; n++) {
            untilFailure = n;
            const Outcome outcome = attempt(files, "m.json");
            ASSERT_TRUE(outcome.status == REFS_NOMEM || outcome.status == REFS_CORRUPT)
                << n << ": " << outcome.message;
        }
    }
    refs_allocator_set(nullptr);
}

namespace {

Outcome attemptTexts(AggregatedFiles &files) {
    Outcome outcome;
    for (const std::string &text : files.allTexts("m.json")) outcome.seen += text + "\n";
    outcome.status = files.error.status;
    outcome.message = files.error.message;
    files.close();
    return outcome;
}

} // namespace

TEST(AggregationFaults, OfStringsAreToldForEveryAllocation) {
    const std::string dims = "\"aggregated_dimensions\":\"x\",";
    AggregatedFiles files;
    files.put("f.json", {{"t", strings({2}, {"the first", "the second"})}});
    files.put("g.json", {{"t", letters({1}, {"three"})}});
    files.put(
        "m.json",
        {{"v", strings({}, {""}, dims + R"("aggregated_data":"map: m uris: u identifiers: n")")},
         {"m", numbers<int32_t>({2}, {2, 1})},
         {"u", fixedStrings({2}, {"f.json", "g.json"})},
         {"n", fixedStrings({}, {"t"})}});
    EXPECT_GT(failEachInBothWays([&] { return attemptTexts(files); }), 100);
    files.put("m.json",
              {{"v", strings({}, {""}, dims + R"("aggregated_data":"map: m unique_values: w")")},
               {"m", numbers<int32_t>({2}, {2, 1})},
               {"w", strings({2}, {"the first", "the second"})}});
    EXPECT_GT(failEachInBothWays([&] { return attemptTexts(files); }), 50);
}
