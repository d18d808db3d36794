// hdf5_list_test.cc -- what is listed of HDF5 files, compared with what h5py finds in them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "json_text.h"
#include "refs/json.h"
#include "refs/scan.h"

namespace {

using Scan = std::unique_ptr<refs_scan, decltype(&refs_scan_free)>;

std::string PathOf(const std::string &name) {
    return std::string(REFS_SCAN_GOLDEN) + "/" + name;
}

std::string Content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

struct Listed {
    std::map<std::string, std::string> documents;
    std::vector<std::string> notes;
    std::string error;
};

refs_status Keep(void *user, refs_str key, refs_bytes document, refs_error *) {
    auto *listed = static_cast<Listed *>(user);
    listed->documents[std::string(key.data, key.size)] =
        std::string(reinterpret_cast<const char *>(document.data), document.size);
    return REFS_OK;
}

Listed List(const std::string &path) {
    Listed listed;
    refs_error err = REFS_ERROR_INIT;
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;
    refs_scan *scan = nullptr;
    options.notes.fn = [](void *user, refs_note_kind, const char *text) {
        static_cast<Listed *>(user)->notes.emplace_back(text);
    };
    options.notes.user = &listed;
    if (refs_scan_open(refs_vfs_posix(), path.c_str(), &options, &scan, &err) != REFS_OK) {
        listed.error = err.message;
        return listed;
    }
    EXPECT_EQ(refs_scan_each_document(scan, Keep, &listed, &err), REFS_OK);
    refs_scan_free(scan);
    return listed;
}

bool Same(const refs_json *a, const refs_json *b) {
    double x, y;
    if (refs_json_kind_of(a) != refs_json_kind_of(b)) return false;
    if (refs_json_double(a, &x) && refs_json_double(b, &y))
        return x == y || (std::isnan(x) && std::isnan(y));
    if (!refs_json_is_array(a)) return JsonText(a) == JsonText(b);
    if (refs_json_size(a) != refs_json_size(b)) return false;
    for (size_t i = 0; i < refs_json_size(a); i++)
        if (!Same(refs_json_at(a, i), refs_json_at(b, i))) return false;
    return true;
}

void ExpectMember(const refs_json *expected, const refs_json *got, const char *name,
                  const std::string &path) {
    const refs_json *value = refs_json_get(expected, name);
    if (value == nullptr) return;
    EXPECT_TRUE(Same(value, refs_json_get(got, name)))
        << path << " " << name << ": " << JsonText(refs_json_get(got, name)) << " is not "
        << JsonText(value);
}

void ExpectAttributes(const refs_json *facts, const refs_json *got, const std::string &path) {
    const refs_json *expected = refs_json_get(facts, "attributes");
    for (size_t i = 0; i < refs_json_size(expected); i++)
        ExpectMember(expected, got, refs_json_name_at(expected, i).data, path);
    EXPECT_EQ(refs_json_size(expected) + 1, refs_json_size(got)) << path << ": " << JsonText(got);
    const refs_json *dimensions = refs_json_get(facts, "dimensions");
    if (dimensions == nullptr) return;
    EXPECT_TRUE(Same(dimensions, refs_json_get(got, "_ARRAY_DIMENSIONS")))
        << path << ": " << JsonText(got);
}

/** Compares the documents of a file with the facts beside it. */
void ExpectAsFacts(const std::string &name) {
    const Listed listed = List(PathOf(name + ".h5"));
    const JsonDoc facts = ParseJson(Content(PathOf(name + ".json")));
    ASSERT_EQ(listed.error, "");
    size_t n_arrays = 0;
    for (const auto &document : listed.documents)
        n_arrays += document.first.find(".zarray") != std::string::npos;
    for (size_t i = 0; i < refs_json_size(refs_json_root(facts.get())); i++) {
        const refs_json *fact = refs_json_at(refs_json_root(facts.get()), i);
        const std::string path = refs_json_name_at(refs_json_root(facts.get()), i).data;
        if (refs_json_kind_of(fact) == REFS_JSON_KIND_NULL) {
            EXPECT_EQ(listed.documents.count(path + "/.zgroup"), 1u) << path;
            continue;
        }
        ASSERT_EQ(listed.documents.count(path + "/.zarray"), 1u) << path;
        n_arrays--;
        const JsonDoc array = ParseJson(listed.documents.at(path + "/.zarray"));
        const JsonDoc attributes = ParseJson(listed.documents.at(path + "/.zattrs"));
        for (const char *member : {"shape", "chunks", "dtype"})
            ExpectMember(fact, refs_json_root(array.get()), member, path);
        ExpectAttributes(fact, refs_json_root(attributes.get()), path);
    }
    EXPECT_EQ(n_arrays, 0u) << name << " has arrays that h5py does not";
}

std::string Member(const Listed &listed, const std::string &path, const char *name) {
    const JsonDoc array = ParseJson(listed.documents.at(path + "/.zarray"));
    return JsonText(refs_json_get(refs_json_root(array.get()), name));
}

} // namespace

TEST(Hdf5Lists, OldGroupsAndTheirLinks) {
    ExpectAsFacts("old_groups");
    const std::string path = PathOf("old_groups.h5");
    const std::vector<std::string> notes = List(path).notes;
    for (const char *note :
         {"/group/inner/up is left out: it is a link to a group that contains it",
          "/group/loop is left out: it is a link to a group, which is listed there",
          "/group/nothing is left out: it is a link to nothing"})
        EXPECT_EQ(std::count(notes.begin(), notes.end(), path + ": " + note), 1) << note;
}

TEST(Hdf5Lists, NewGroupsBehindAUserBlock) {
    ExpectAsFacts("new_groups");
    const Listed listed = List(PathOf("new_groups.h5"));
    ASSERT_EQ(listed.notes.size(), 1u);
    EXPECT_NE(
        listed.notes[0].find("/far is left out: external link to other.h5:/there: no such file"),
        std::string::npos)
        << listed.notes[0];
}

TEST(Hdf5Lists, AttributesOfAllTypesInHeadersAndHeaps) {
    ExpectAsFacts("attributes");
    const Listed listed = List(PathOf("attributes.h5"));
    EXPECT_NE(listed.documents.at("classes/.zattrs").find("\"nan\":NaN"), std::string::npos);
    EXPECT_NE(listed.documents.at("classes/.zattrs").find("\"huge\":18446744073709551615"),
              std::string::npos);
}

TEST(Hdf5Lists, ArraysOfAllTypes) {
    ExpectAsFacts("types");
    const Listed listed = List(PathOf("types.h5"));
    EXPECT_EQ(Member(listed, "of_text", "filters"), "[{\"id\":\"vlen-utf8\"}]");
    EXPECT_EQ(Member(listed, "of_reference", "dtype"), "\"reference to an object\"");
    EXPECT_EQ(Member(listed, "of_sequence", "dtype"), "\"sequence of variable length\"");
}

TEST(Hdf5Lists, FillValues) {
    ExpectAsFacts("fills");
    const Listed listed = List(PathOf("fills.h5"));
    EXPECT_EQ(Member(listed, "nan", "fill_value"), "\"NaN\"");
    EXPECT_EQ(Member(listed, "inf", "fill_value"), "\"Infinity\"");
    EXPECT_EQ(Member(listed, "minus", "fill_value"), "\"-Infinity\"");
    EXPECT_EQ(Member(listed, "tenth", "fill_value"), "0.10000000149011612");
    EXPECT_EQ(Member(listed, "big", "fill_value"), "18446744073709551614");
    EXPECT_EQ(Member(listed, "exact", "fill_value"), "9007199254740993");
    EXPECT_EQ(Member(listed, "negative", "fill_value"), "-7");
    EXPECT_EQ(Member(listed, "text", "fill_value"), "\"YWIAAA==\"");
    EXPECT_EQ(Member(listed, "be", "fill_value"), "258");
    EXPECT_EQ(Member(listed, "half", "fill_value"), "1.5");
    EXPECT_EQ(Member(listed, "default", "fill_value"), "0.0");
    EXPECT_EQ(Member(listed, "never", "fill_value"), "null"); /* zeros are values */
    EXPECT_EQ(Member(listed, "never", "refs_unfilled"), "true");
}

TEST(Hdf5Lists, FiltersAsCodecs) {
    ExpectAsFacts("filters");
    const Listed listed = List(PathOf("filters.h5"));
    EXPECT_EQ(Member(listed, "gzip", "filters"), "[{\"id\":\"zlib\",\"level\":5}]");
    EXPECT_EQ(Member(listed, "lzf", "filters"), "[{\"id\":\"lzf\"}]");
    EXPECT_EQ(
        Member(listed, "scaled", "filters"),
        R"([{"id":"hdf5_scaleoffset","parameters":[2,0,16,0,4,1,0,1,0,0,0,0,0,0,0,0,0,0,0,0]}])");
    EXPECT_EQ(Member(listed, "all", "filters"),
              "[{\"id\":\"shuffle\",\"elementsize\":4},{\"id\":\"zlib\",\"level\":4},"
              "{\"id\":\"fletcher32\"}]");
    EXPECT_EQ(Member(listed, "zfp", "filters"),
              R"([{"id":"hdf5_zfp","parameters":[269504785,91252346,9437226,3401592832]}])");
}

TEST(Hdf5Lists, DimensionsAsNetcdfNamesThem) {
    ExpectAsFacts("dimensions");
    ExpectAsFacts("phony");
}

TEST(Hdf5Lists, FilesOfTheNewestVersion) {
    ExpectAsFacts("newest");
}

TEST(Hdf5Lists, StructuresThatAreInAnImageOfTheCache) {
    EXPECT_NE(Content(PathOf("cached.h5")).find("MDCI"), std::string::npos);
    ExpectAsFacts("cached");
}

TEST(Hdf5Lists, NothingOfAFileWithADamagedImageOfTheCache) {
    const std::string path = testing::TempDir() + "refs_cache_image.h5";
    std::string content = Content(PathOf("cached.h5"));
    content[content.find("MDCI") + 40] ^= 1;
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_NE(List(path).error.find("structure \"MDCI\" at address"), std::string::npos)
        << List(path).error;
    std::remove(path.c_str());
}

TEST(Hdf5Lists, NothingOfAFileThatIsCutOff) {
    const std::string path = testing::TempDir() + "refs_cut_off.h5";
    const std::string content = Content(PathOf("types.h5"));
    std::ofstream(path, std::ios::binary) << content.substr(0, content.size() / 2);
    EXPECT_NE(List(path).error.find("is truncated"), std::string::npos) << List(path).error;
    std::remove(path.c_str());
}
