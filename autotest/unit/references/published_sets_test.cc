// Sets that others made and published, where they are at hand.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "set_under_test.h"

namespace fs = std::filesystem;

namespace {

/** Samples of codecs and aggregations, repositories of Icechunk and Zarr stores hold JSON, too. */
bool isSet(const fs::path &path) {
    if (path.filename() == "zarr.json") return false;
    for (const char *folder : {"codecs", "cfa", "icechunk"})
        if (*path.begin() == folder) return false;
    return true;
}

class PublishedSets : public testing::Test {
  protected:
    void SetUp() override {
        const char *folder = std::getenv("REFS_SHARED_DATA");
        folder_ = folder != nullptr ? folder : REFS_SHARED_DATA_DEFAULT;
        if (!fs::exists(folder_)) GTEST_SKIP() << folder_ << " is not here";
    }

    void Open(const std::string &name, SetUnderTest *set) {
        ASSERT_EQ(refs_set_open(refs_vfs_posix(), (folder_ / name).c_str(), &set->options,
                                &set->set, &set->error),
                  REFS_OK)
            << set->error.message;
    }

    fs::path folder_;
};

} // namespace

TEST_F(PublishedSets, AllOpen) {
    int n = 0;
    for (const auto &entry : fs::recursive_directory_iterator(folder_)) {
        if (entry.path().extension() != ".json" || !isSet(fs::relative(entry.path(), folder_)))
            continue;
        SetUnderTest set;
        size_t n_sets = 0;
        const refs_set_visitor visitor = {
            [](void *, const refs_set_summary *, refs_error *) { return REFS_OK; }, nullptr};
        ASSERT_EQ(refs_set_each_of_list(refs_vfs_posix(), entry.path().c_str(), &visitor, &n_sets,
                                        nullptr),
                  REFS_OK);
        set.options.set_index = n_sets > 0 ? static_cast<int64_t>(n_sets) - 1 : -1;
        Open(fs::relative(entry.path(), folder_), &set);
        EXPECT_GT(refs_set_size(set.set), 0u) << entry.path();
        EXPECT_NE(set.Names().find(".z"), std::string::npos) << entry.path();
        n++;
    }
    EXPECT_GT(n, 20);
}

TEST_F(PublishedSets, NameFilesBesideThem) {
    SetUnderTest set;
    Open("hdf5/air.nc.json", &set);
    EXPECT_EQ(set.LocationAt("air/0.0.0"), (folder_ / "hdf5/air.nc").string());
}

TEST_F(PublishedSets, AreTheSameWithAndWithoutTemplates) {
    SetUnderTest plain, templated;
    Open("refs/kc1.json", &plain);
    Open("refs/kc1-manual-templated.json", &templated);
    EXPECT_EQ(plain.Names(), templated.Names());
    EXPECT_EQ(refs_set_size(plain.set), refs_set_size(templated.set));
    for (int i = 0; i < 100; i++) {
        const std::string key = "pre/" + std::to_string(i) + ".0.0";
        EXPECT_EQ(plain.At(key), templated.At(key)) << key;
    }
}

TEST_F(PublishedSets, AreTheSameWithAndWithoutGenerators) {
    SetUnderTest plain, generated;
    Open("refs/expt_kc2.json", &plain);
    Open("refs/expt_kc3.json", &generated);
    EXPECT_EQ(refs_set_size(plain.set), refs_set_size(generated.set));
    for (int i = 0; i < 3; i++) {
        const std::string key = "pre/" + std::to_string(i) + ".0.0";
        EXPECT_EQ(plain.At(key), generated.At(key)) << key;
    }
}
