// Parquet sets that others made, where they are at hand: each rule's store, and twins of JSON sets.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "set_under_test.h"

namespace fs = std::filesystem;

namespace {

class PublishedParquet : public testing::Test {
  protected:
    void SetUp() override {
        const char *folder = std::getenv("REFS_SHARED_DATA");
        folder_ = folder != nullptr ? folder : REFS_SHARED_DATA_DEFAULT;
        if (!fs::exists(folder_)) GTEST_SKIP() << folder_ << " is not here";
    }

    static void Open(const fs::path &path, SetUnderTest *set) {
        ASSERT_EQ(
            refs_set_open(refs_vfs_posix(), path.c_str(), &set->options, &set->set, &set->error),
            REFS_OK)
            << set->error.message;
    }

    fs::path folder_;
};

// Keys of the references in a document of version 1.
std::vector<std::string> KeysIn(const fs::path &path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    refs_json_doc *document = nullptr;
    EXPECT_EQ(refs_json_parse(View(text.str()), &document, nullptr), REFS_OK);
    const refs_json *refs = refs_json_get(refs_json_root(document), "refs");
    std::vector<std::string> keys;
    for (size_t i = 0; i < refs_json_size(refs); i++)
        keys.push_back(Text(refs_json_name_at(refs, i)));
    refs_json_doc_free(document);
    return keys;
}

} // namespace

TEST_F(PublishedParquet, GivesTheAnswersThatAreExpected) {
    const struct {
        const char *store, *key, *expected;
    } cases[] = {
        {"A_plain", "a/0", "[/d0.bin, 0, 4]"},
        {"A_plain", "a/1", "[/d1.bin, 4, 4]"},
        {"A_plain", "a/2", "absent"},
        {"A_plain", "a/3", "[/d3.bin]"},
        {"A_plain", "a/4", "absent"},
        {"A_plain", "a/10", "absent"},
        {"A_plain", "a/-1", "absent"},
        {"A_plain", "a/x", "absent"},
        {"A_plain", "a/0.0", "absent"},
        {"B_cat", "a/0", "[/same.bin, 0, 4]"},
        {"B_cat", "a/6", "[/same.bin, 24, 4]"},
        {"B_cat", "a/7", "absent"},
        {"B_cat", "a/29", "[/same.bin, 116, 4]"},
        {"B_cat", "a/30", "absent"},
        {"C_mixed", "a/0.0", R"("\u0001\u0002\u0003\u0004")"},
        {"C_mixed", "a/0.1", "[/d.bin, 0, 4]"},
        {"C_mixed", "a/0.2", "absent"},
        {"C_mixed", "a/1.2", "\"abcd\""},
        {"C_mixed", "a/1.3", "absent"},
        {"C_mixed", "a/2.0", "absent"},
        {"D_raw", "a/0", "\"aaaa\""},
        {"D_raw", "a/1", "\"bbbb\""},
        {"D_raw", "a/2", R"("\u0000\u0000\u0000\u0000")"},
        {"E_nested", "g/h/a/0", "[/x, 0, 8]"},
        {"E_nested", "g/h/a/1", "absent"},
        {"E_nested", "s/0", R"("\u0001\u0000\u0000\u0000")"},
        {"E_nested", "s/0.0", "absent"},
        {"F_multi", "a/0.0", "[/f0.bin, 0, 4]"},
        {"F_multi", "a/1.3", "[/f1.bin, 12, 4]"},
        {"F_multi", "a/2.0", "absent"},
        {"F_multi", "a/3.2", "[/f3.bin, 8, 4]"},
        {"F_multi", "a/0.5", "absent"},
        {"G_default_rs", "a/0", "[/d0.bin, 0, 4]"},
        {"G_default_rs", "a/1", "absent"},
        {"H_manyurls", "a/0", "[s3://bucket/some/long/prefix/file_0.nc, 0, 4]"},
        {"H_manyurls", "a/599", "[s3://bucket/some/long/prefix/file_299.nc, 2396, 4]"},
        {"J_cat16", "a/0", "[s3://b/f000.nc, 0, 4]"},
        {"J_cat16", "a/402", "[s3://b/f002.nc, 1608, 4]"},
        {"K_cat16_trunc979", "a/0", "[s3://b/f000.nc, 0, 4]"},
        {"K_cat16_trunc979", "a/402", "[s3://b/f002.nc, 1608, 4]"},
        {"L_v2pages", "a/0", R"("\u0001\u0002\u0003\u0004")"},
        {"L_v2pages", "a/1", "[/d.bin, 0, 4]"},
        {"L_v2pages", "a/2", "absent"},
        {"L_v2pages", "a/4", "[/d.bin, 4, 4]"},
        {"M_v2cat", "a/6", "[/same.bin, 24, 4]"},
        {"M_v2cat", "a/7", "absent"},
        {"x_nofile", "a/3", "absent"},
        {"x_rawb64", "a/0", "\"base64:aGk=\""},
        {"x_rawempty", "a/0", "\"\""},
        {"x_rawonly", "a/0", "\"R0\""},
        {"x_rawonly", "a/1", "\"R1\""},
        {"x_both", "a/0", "\"RAW\""},
        {"x_pathempty", "a/0", "absent"},
        {"x_short", "a/3", "absent"},
    };
    for (const auto &c : cases) {
        SetUnderTest set;
        Open(folder_ / "parquet" / c.store, &set);
        EXPECT_EQ(set.At(c.key), c.expected) << c.store << " " << c.key;
    }
    SetUnderTest unrendered;
    Open(folder_ / "parquet/I_tmpl", &unrendered);
    EXPECT_EQ(unrendered.At("a/0").find("invalid: {{u}}/x: a template that was not rendered"), 0u);
}

TEST_F(PublishedParquet, GivesEveryRow) {
    const auto range = [](const std::string &url, int offset) {
        return "[" + url + ", " + std::to_string(offset) + ", 4]";
    };
    const auto number = [](int i) {
        const std::string digits = std::to_string(i);
        return std::string(3 - digits.size(), '0') + digits;
    };
    for (const char *store : {"B_cat", "M_v2cat"}) {
        SetUnderTest set;
        Open(folder_ / "parquet" / store, &set);
        for (int i = 0; i < 30; i++)
            EXPECT_EQ(set.At("a/" + std::to_string(i)),
                      i == 7 ? "absent" : range("/same.bin", 4 * i));
    }
    for (const char *store : {"J_cat16", "K_cat16_trunc979"}) {
        SetUnderTest set;
        Open(folder_ / "parquet" / store, &set);
        for (int i = 0; i < 403; i++)
            EXPECT_EQ(set.At("a/" + std::to_string(i)),
                      range("s3://b/f" + number(i % 200) + ".nc", 4 * i));
    }
    SetUnderTest many, records;
    Open(folder_ / "parquet/H_manyurls", &many);
    for (int i = 0; i < 600; i++)
        EXPECT_EQ(
            many.At("a/" + std::to_string(i)),
            range("s3://bucket/some/long/prefix/file_" + std::to_string(i / 2) + ".nc", 4 * i));
    Open(folder_ / "parquet/F_multi", &records);
    for (int i = 0; i < 16; i++)
        EXPECT_EQ(records.At("a/" + std::to_string(i / 4) + "." + std::to_string(i % 4)),
                  i / 4 == 2 ? "absent"
                             : range("/f" + std::to_string(i / 4) + ".bin", 4 * (i % 4)));
}

TEST_F(PublishedParquet, GivesUrlsOfOtherSchemesAsTheyAre) {
    // The targets are memory:// names, which only fsspec can open.
    const struct {
        const char *store, *key, *url;
    } cases[] = {{"x_3col", "a/0", "memory://"}, {"x_int32", "a/0", "memory://"}};
    for (const auto &c : cases) {
        SetUnderTest set;
        Open(folder_ / "parquet" / c.store, &set);
        const std::string said = set.At(c.key);
        EXPECT_EQ(said.find(std::string("not supported: ") + c.url), 0u) << said;
        SetUnderTest rewritten;
        rewritten.options.rewrites = [] {
            static const char *const list[] = {"memory://=>/m/", nullptr};
            return list;
        }();
        Open(folder_ / "parquet" / c.store, &rewritten);
        EXPECT_EQ(rewritten.LocationAt(c.key).substr(0, 3), "/m/");
    }
}

TEST_F(PublishedParquet, NeverTakesDamageForAbsence) {
    const struct {
        const char *store, *key, *status;
    } cases[] = {{"x_corrupt", "a/3", "corrupt: "}, {"x_trunc", "a/3", "corrupt: "}};
    for (const auto &c : cases) {
        SetUnderTest set;
        Open(folder_ / "parquet" / c.store, &set);
        const std::string said = set.At(c.key);
        EXPECT_EQ(said.find(c.status), 0u) << c.store << ": " << said;
    }
}

TEST_F(PublishedParquet, IsTheTwinOfItsJson) {
    size_t n_sets = 0, n_keys = 0;
    for (const auto &entry : fs::recursive_directory_iterator(folder_)) {
        const fs::path &path = entry.path();
        if (path.extension() != ".parq" || !fs::exists(path / ".zmetadata")) continue;
        fs::path json = path;
        json.replace_extension(); // "x.nc", or "x.nc.pyarrow"
        if (json.extension() == ".pyarrow") json.replace_extension();
        json += ".json";
        if (!fs::exists(json)) continue;
        SetUnderTest twin, set;
        Open(json, &twin);
        Open(path, &set);
        for (const std::string &key : KeysIn(json)) {
            if (key.find("/.z") != std::string::npos || key[0] == '.') continue;
            EXPECT_EQ(set.At(key), twin.At(key)) << path << " " << key;
            EXPECT_EQ(set.LocationAt(key), twin.LocationAt(key)) << path << " " << key;
            n_keys++;
        }
        n_sets++;
    }
    EXPECT_GT(n_sets, 30u);
    EXPECT_GT(n_keys, 1000u);
}

TEST_F(PublishedParquet, OpensOneFromAnotherHouse) {
    SetUnderTest set;
    Open(folder_ / "refs/kerchunk-cookbook_combined.parq", &set);
    EXPECT_NE(set.Names().find("T2/.zarray"), std::string::npos);
    EXPECT_EQ(set.At("T2/0.0.0").find("[s3://"), 0u) << set.At("T2/0.0.0");
}
