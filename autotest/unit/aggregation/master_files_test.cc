/* master_files_test.cc -- the files that a master is made of: of fragments, of records, fillers. */
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "aggregated_files.h"
#include "refs/master_files.h"

namespace {

/** A partition of one element of "x" in CFA-0.4. */
std::string partition(int number, const std::string &file, const std::string &variable = "v") {
    const std::string at = std::to_string(number);
    return R"({"index":[)" + at + R"(],"location":[[)" + at + "," + at +
           R"(]],"subarray":{"file":)" + inJson(file) + R"(,"ncvar":)" + inJson(variable) +
           R"(,"shape":[1]}})";
}

/** An aggregation of these; `more` are further members of its JSON. */
Variable aggregation(const std::vector<std::string> &partitions, const std::string &more = "") {
    std::string list;
    for (const std::string &one : partitions) list += (list.empty() ? "" : ",") + one;
    return numbers<float>(
        {}, {0},
        R"("_FillValue":-9,"cf_role":"cfa_variable","cfa_dimensions":"x","cfa_array":)" +
            inJson("{" + more + R"("pmdimensions":["x"],"pmshape":[)" +
                   std::to_string(partitions.size()) + R"(],"Partitions":[)" + list + "]}"));
}

class MasterFiles : public testing::Test {
  protected:
    ~MasterFiles() override { refs_master_files_clear(&listed); }

    /** Lists the files of d/m.json; `sources` are members of a list. */
    refs_status list(const Variables &variables, const std::string &sources = "") {
        const std::string begin = R"(".zgroup")";
        refs_set_options options = REFS_SET_OPTIONS_INIT;
        refs_master_files_clear(&listed);
        fragments.clear();
        files.put("d/m.json", variables);
        std::string &text = files.vfs.files["d/m.json"];
        if (!sources.empty())
            text.insert(text.find(begin), R"(".zsources/.zattrs":{"sources":[)" + sources + "]},");
        refs_status status = files.open("d/m.json");
        EXPECT_EQ(status, REFS_OK) << files.error.message;
        const refs_master_listing master = {files.set(),
                                            files.hierarchy,
                                            {"d/m.json", files.vfs.get(), &options},
                                            noteFragment,
                                            this};
        return refs_master_files_list(&master, &listed, &files.error);
    }

    std::vector<std::string> locations() const {
        std::vector<std::string> all;
        for (size_t i = 0; i < listed.n; i++) all.emplace_back(listed.items[i].location);
        return all;
    }

    std::vector<std::string> fillers() const {
        std::vector<std::string> all;
        for (uint32_t i = 0; i < listed.fillers.count; i++)
            all.emplace_back(refs_intern_get(&listed.fillers, i).data);
        return all;
    }

    static refs_status noteFragment(void *user, const refs_array_meta *meta,
                                    const refs_partition *fragment, size_t file, refs_error *) {
        static_cast<MasterFiles *>(user)->fragments.push_back(
            meta->path + std::string(" ") + std::to_string(fragment->begin[0]) + " " +
            (file == SIZE_MAX ? "own" : std::to_string(file)));
        return REFS_OK;
    }

    /** Why a listed master cannot grow; "" where it can. */
    std::string problem() {
        refs_cfa_description described{};
        refs_error error = REFS_ERROR_INIT;
        EXPECT_EQ(refs_cfa_description_make(files.set(), files.hierarchy, &described, &error),
                  REFS_OK)
            << error.message;
        (void)refs_master_files_check_growth(&listed, &described, &error);
        refs_cfa_description_clear(&described);
        return error.message;
    }

    AggregatedFiles files;
    refs_master_files listed{};
    std::vector<std::string> fragments;
};

using Texts = std::vector<std::string>;

} // namespace

TEST_F(MasterFiles, AreThoseOfAllFragmentsEachOnce) {
    ASSERT_EQ(list({{"v", aggregation({partition(0, "a.nc"), partition(1, "b.nc")})},
                    {"w", aggregation({partition(0, "b.nc", "w"), partition(1, "/c.nc", "w")})}}),
              REFS_OK)
        << files.error.message;
    EXPECT_EQ(locations(), (Texts{"d/a.nc", "d/b.nc", "/c.nc"}));
    EXPECT_EQ(fragments, (Texts{"/v 0 0", "/v 1 1", "/w 0 1", "/w 1 2"}));
    EXPECT_STREQ(listed.items[0].name, "a.nc");
    EXPECT_FALSE(listed.has_sources);
    EXPECT_EQ(listed.repeated, nullptr);
}

TEST_F(MasterFiles, MayHaveSeveralNames) {
    ASSERT_EQ(list({{"v", aggregation({partition(0, "a.nc"), partition(1, "b.nc")})},
                    {"w", aggregation({partition(0, "./a.nc", "w"), partition(1, "b.nc", "w")})}}),
              REFS_OK);
    EXPECT_EQ(locations(), (Texts{"d/a.nc", "d/b.nc"}));
    EXPECT_STREQ(listed.items[0].name, "a.nc");
    EXPECT_TRUE(listed.items[0].has_other_names);
    EXPECT_FALSE(listed.items[1].has_other_names);
}

TEST_F(MasterFiles, AreNoneThatStandForMissingFragments) {
    ASSERT_EQ(list({{"v", aggregation({partition(0, "m/m.v.fill.1.nc"), partition(1, "a.nc"),
                                       partition(2, "not-written")})},
                    {"w", aggregation({partition(0, "rain.fill.2020.nc", "w")})}}),
              REFS_OK);
    EXPECT_EQ(locations(), (Texts{"d/a.nc", "d/rain.fill.2020.nc"}));
    EXPECT_EQ(fillers(), Texts{"d/m/m.v.fill.1.nc"});
    EXPECT_EQ(fragments, (Texts{"/v 1 0", "/w 0 1"}));
}

TEST_F(MasterFiles, AreAlsoThoseThatAreRecorded) {
    const Variables variables = {
        {"v", aggregation({partition(0, "m.v.fill.1.nc"), partition(1, "a.nc")})}};
    ASSERT_EQ(list(variables, R"({"url":"a.nc","size":7,"modified":5,"etag":"e"},{"url":"b.nc"},
                                 {"url":"m.v.fill.1.nc","size":3})"),
              REFS_OK)
        << files.error.message;
    EXPECT_EQ(locations(), (Texts{"d/a.nc", "d/b.nc"}));
    EXPECT_TRUE(listed.has_sources);
    EXPECT_EQ(listed.items[0].was.size, 7U);
    EXPECT_EQ(listed.items[0].was.modified_s, 5);
    EXPECT_STREQ(listed.items[0].was.etag, "e");
    EXPECT_EQ(listed.items[1].was.size, 0U) << "its state is not known";
    EXPECT_EQ(problem(), "");
}

TEST_F(MasterFiles, AreFoundAsReadersFindThem) {
    files.vfs.files["d/a b.nc"] = "";
    ASSERT_EQ(list({{"v", aggregation({partition(0, "a.nc")}, R"("base":"sub/",)")}}), REFS_OK);
    EXPECT_EQ(locations(), Texts{"d/sub/a.nc"});
    ASSERT_EQ(list(ofOneFragment(numbers<float>({}, {0}), 1, "a%20b.nc", "t")), REFS_OK);
    EXPECT_EQ(locations(), Texts{"d/a b.nc"}) << "names of CF-1.13 are escaped";
    EXPECT_STREQ(listed.items[0].name, "a%20b.nc");
    ASSERT_EQ(list({{"v", numbers<float>({1}, {0})}}, R"({"url":"a%20b.nc","size":1})"), REFS_OK);
    EXPECT_EQ(locations(), Texts{"d/a b.nc"}) << "no aggregation tells how names are written";
}

TEST_F(MasterFiles, AreCopiesThatCanBeOpenedWhereOthersCannot) {
    files.vfs.files["d/a b.nc"] = "";
    files.vfs.failOpensOf = "d/a%20b.nc";
    ASSERT_EQ(list(ofOneFragment(numbers<float>({}, {0}), 1, "a%20b.nc", "t")), REFS_OK)
        << files.error.message;
    EXPECT_EQ(locations(), Texts{"d/a b.nc"});
    files.vfs.files.erase("d/a b.nc");
    EXPECT_EQ(list(ofOneFragment(numbers<float>({}, {0}), 1, "a%20b.nc", "t")), REFS_IO);
    EXPECT_STREQ(files.error.message, "d/a%20b.nc: HTTP error 403");
}

TEST_F(MasterFiles, ThatCoverSeveralStepsCannotBeCombinedAgain) {
    ASSERT_EQ(list({{"v", aggregation({partition(0, "a.nc"), partition(1, "b.nc"),
                                       partition(2, "a.nc"), partition(3, "b.nc", "other")})}}),
              REFS_OK);
    EXPECT_STREQ(listed.repeated, "a.nc");
    EXPECT_NE(problem().find("a.nc covers more than one step"), std::string::npos) << problem();
}

TEST_F(MasterFiles, AreToBeRecordedWhereTheMasterHoldsValues) {
    const Variables variables = {{"v", aggregation({partition(0, "a.nc"), partition(1, "b.nc")})},
                                 {"w", numbers<float>({2}, {1, 2}, "", "x")}};
    ASSERT_EQ(list(variables), REFS_OK);
    EXPECT_NE(problem().find("has no record"), std::string::npos) << problem();
    ASSERT_EQ(list(variables, R"({"url":"a.nc","size":7})"), REFS_OK);
    EXPECT_EQ(problem(), "");
}

namespace {

std::string nameIn(const std::string &master, const std::string &folder, refs_cfa_version version,
                   const std::string &file) {
    const refs_master_naming naming = {master.c_str(), folder.c_str(), version};
    refs_error error = REFS_ERROR_INIT;
    char *named = nullptr;
    if (refs_master_name_file(&naming, file.c_str(), &named, &error) != REFS_OK)
        return std::string("error: ") + error.message;
    std::string name = named;
    refs_free(named);
    return name;
}

} // namespace

TEST(NamesInMasters, AreRelativeToTheFolderOfTheMaster) {
    char made[] = "/tmp/refs-names-XXXXXX";
    ASSERT_NE(mkdtemp(made), nullptr);
    const std::filesystem::path folder = std::filesystem::canonical(made);
    const std::string master = folder / "m" / "m.nca", inside = folder / "m";
    std::filesystem::create_directory(inside);
    for (const char *name : {"m/a.nc", "m/b:c.nc", "d.nc"}) std::ofstream(folder / name) << "x";
    const auto name = [&](const std::string &file) {
        return nameIn(master, inside, REFS_CFA_0_5, file);
    };
    EXPECT_EQ(name(folder / "m/a.nc"), "a.nc");
    EXPECT_EQ(name(folder / "m/../m/a.nc"), "a.nc");
    EXPECT_EQ(name(folder / "m/b:c.nc"), "./b:c.nc") << "else it would be a URL";
    EXPECT_EQ(name(folder / "d.nc"), folder / "d.nc");
    EXPECT_EQ(name("absent.nc"), "absent.nc");
    EXPECT_EQ(name("s3://store/m/a.nc"), "s3://store/m/a.nc");
    std::filesystem::remove_all(folder);
}

TEST(NamesInMasters, OfStoresAreRelativeInCf113Alone) {
    const std::string master = "s3://store/m/m.nca", file = "s3://store/m/m/a.nc";
    EXPECT_EQ(nameIn(master, "", REFS_CFA_CF_1_13, file), "m/a.nc");
    EXPECT_EQ(nameIn(master, "", REFS_CFA_0_5, file), file);
    EXPECT_EQ(nameIn(master, "", REFS_CFA_CF_1_13, "s3://store/a.nc"), "s3://store/a.nc");
    EXPECT_NE(nameIn(master, "", REFS_CFA_CF_1_13, "/dev/null").find("cannot refer to a local"),
              std::string::npos);
}
