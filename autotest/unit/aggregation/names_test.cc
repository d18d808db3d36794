/* names_test.cc -- which file a fragment is in: relative names, base, substitutions, rewrites. */
#include "aggregated_files.h"

namespace {

/** An aggregation of one fragment, in CFA-0.6. */
Variables named(const std::string &file, const std::string &substitutions = "") {
    Variable files{"|S99", {1, 1}, file, ""};
    files.bytes.resize(99);
    if (!substitutions.empty()) files.attributes = "\"substitutions\":" + inJson(substitutions);
    return {{"v", numbers<float>({}, {0}, R"("_FillValue":-9,"aggregated_dimensions":"x",
                 "aggregated_data":"location: m file: u format: f address: n")")},
            {"m", numbers<int32_t>({1}, {1})},
            {"u", files},
            {"f", fixedStrings({}, {"nc"})},
            {"n", fixedStrings({}, {"t"})}};
}

/** The same in CFA-0.4, @p base a member of its JSON. */
Variables namedInJson(const std::string &file, const std::string &base = "") {
    return {
        {"v",
         numbers<float>(
             {}, {0},
             R"("_FillValue":-9,"cf_role":"cfa_variable","cfa_dimensions":"x","cfa_array":)" +
                 inJson("{" + base + R"("Partitions":[{"location":[[0,0]],"subarray":{"file":)" +
                        inJson(file) + R"(,"ncvar":"t","shape":[1]}}]})"))}};
}

const Variables kFragment = {{"t", numbers<float>({1}, {5})}};
const std::vector<float> kFive = {5}, kNone = {-9};

} // namespace

TEST(NamesOfFiles, AreRelativeToTheAggregation) {
    AggregatedFiles files;
    files.put("a/b/sub/f.json", kFragment);
    files.put("a/f.json", kFragment);
    files.put("a/b/m.json", named("sub/f.json"));
    EXPECT_EQ(files.all("a/b/m.json"), kFive);
    files.put("a/b/m.json", named("../f.json"));
    EXPECT_EQ(files.all("a/b/m.json"), kFive);
    files.put("moved/sub/f.json", kFragment);
    files.put("moved/m.json", named("sub/f.json"));
    EXPECT_EQ(files.all("moved/m.json"), kFive);
}

TEST(NamesOfFiles, MayBeAbsolute) {
    AggregatedFiles files;
    files.put("/data/f.json", kFragment);
    for (const char *name : {"/data/f.json", "file:///data/f.json"}) {
        files.put("/a/m.json", named(name));
        EXPECT_EQ(files.all("/a/m.json"), kFive) << name;
    }
}

TEST(NamesOfFiles, HaveSubstitutions) {
    AggregatedFiles files;
    files.put("d/e/f.json", kFragment);
    files.put("m.json", named("${BASE}${sub_2}.json", "${BASE}: d/ ${sub_2}: e/f"));
    EXPECT_EQ(files.all("m.json"), kFive);
    files.put("m.json", named("${BASE}.json", "${base}: d/e/f"));
    EXPECT_NE(files.problem("m.json").find("the file ${BASE}.json does not exist"),
              std::string::npos)
        << "names of substitutions have case: " << files.error.message;
}

TEST(NamesOfFiles, HaveSubstitutionsThatUsersOverride) {
    AggregatedFiles files;
    files.rewrites = {"${BASE}=>new/"};
    files.put("new/f.json", kFragment);
    files.put("m.json", named("${BASE}f.json", "${BASE}: old/"));
    EXPECT_EQ(files.all("m.json"), kFive);
}

TEST(NamesOfFiles, MayHaveMoved) {
    AggregatedFiles files;
    files.rewrites = {"/old/=>/new/"};
    files.put("/new/f.json", kFragment);
    files.put("/a/m.json", named("/old/f.json"));
    EXPECT_EQ(files.all("/a/m.json"), kFive);
}

TEST(NamesOfFiles, GrowNoMoreThanTheirSubstitutionsSay) {
    AggregatedFiles files;
    std::string substitutions;
    for (int i = 0; i < 200; i++) substitutions += "${A}: ${A}${A} ";
    files.put("m.json", named("${A}", substitutions));
    const std::string problem = files.problem("m.json");
    EXPECT_NE(problem.find("m.json: /v partition (0)"), std::string::npos) << problem;
}

TEST(NamesOfFiles, HaveABase) {
    AggregatedFiles files;
    files.put("a/d/f.json", kFragment);
    for (const char *base : {"\"base\":\"d\",", "\"base\":\"d/\","}) {
        files.put("a/m.json", namedInJson("f.json", base));
        EXPECT_EQ(files.all("a/m.json"), kFive) << base;
    }
    for (const char *base : {"\"base\":\"\",", "", "\"base\":null,"}) {
        files.put("a/m.json", namedInJson("d/f.json", base));
        EXPECT_EQ(files.all("a/m.json"), kFive) << base;
    }
    files.put("/x/f.json", kFragment);
    files.put("a/m.json", namedInJson("/x/f.json", "\"base\":\"d/\","));
    EXPECT_EQ(files.all("a/m.json"), kFive);
}

TEST(NamesOfFiles, OfS3netcdf4AreLookedForBesideTheAggregation) {
    AggregatedFiles files;
    files.put("moved/m/f.json", kFragment);
    files.put("moved/m.nca", namedInJson("wr/m/f.json"));
    EXPECT_EQ(files.all("moved/m.nca"), kFive);
    files.put("moved/m.nca", namedInJson("wr/m/g.json"));
    EXPECT_EQ(files.all("moved/m.nca"), kNone);
}

TEST(NamesOfFiles, MayNotBeLocalOnesOfARemoteAggregation) {
    AggregatedFiles files;
    files.vfs.near = false;
    files.put("/etc/f.json", kFragment);
    for (const char *name : {"/etc/f.json", "file:///etc/f.json"}) {
        files.put("/vsicurl/http://host/m.json", named(name));
        const std::string problem = files.problem("/vsicurl/http://host/m.json");
        EXPECT_NE(problem.find("m.json: /v partition (0)"), std::string::npos) << problem;
        EXPECT_NE(problem.find("local"), std::string::npos) << problem;
    }
    files.remoteToLocal = true;
    EXPECT_EQ(files.all("/vsicurl/http://host/m.json").size(), 1u);
}

TEST(NamesOfFiles, InARemoteAggregationAreRelativeToItsUrl) {
    AggregatedFiles files;
    files.put("/vsicurl/http://host/d/f.json", kFragment);
    files.put("/vsicurl/http://host/d/m.json", named("f.json"));
    EXPECT_EQ(files.all("/vsicurl/http://host/d/m.json"), kFive);
}

TEST(NamesOfFiles, OfWhatIsNoFileAreRefused) {
    AggregatedFiles files;
    for (const char *name :
         {"http://host/thredds/dodsC/f.nc", "dods://host/f.nc", "dap4://host/f.nc"}) {
        files.put("m.json", named(name));
        const std::string problem = files.problem("m.json");
        EXPECT_NE(problem.find("is an OPeNDAP address"), std::string::npos) << problem;
        EXPECT_NE(problem.find("m.json: /v partition (0)"), std::string::npos) << problem;
    }
    files.put("m.json", named("gopher://host/f.nc"));
    EXPECT_NE(files.problem("m.json").find("gopher"), std::string::npos) << files.error.message;
    EXPECT_NE(files.problem("m.json").find("partition (0)"), std::string::npos)
        << files.error.message;
}
