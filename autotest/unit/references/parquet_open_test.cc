// Where parquet sets are looked for, what is asked for on the way, and what is no such set.

#include <gtest/gtest.h>

#include "set_under_test.h"
#include "temporary_folder.h"

namespace {

constexpr char kParquet[] = R"({"metadata": {".zgroup": {}}, "record_size": 10})";
constexpr char kJson[] = R"({".zgroup": "{}", "a/0": ["x"]})";
constexpr char kZarr[] = R"({"metadata": {".zgroup": {}}, "zarr_consolidated_format": 1})";

// Opens what there is, and says which names were tried and what came of it.
struct Attempt {
    std::string tried, said;
};

Attempt Open(const std::string &location, const std::map<std::string, std::string> &files,
             const std::string &failing = "") {
    SetUnderTest set;
    Attempt attempt;
    set.location = location;
    set.vfs.files = files;
    set.vfs.failOpensOf = failing;
    set.vfs.onOpen = [&](const std::string &name) { attempt.tried += name + " "; };
    attempt.said = set.OpenIt() == REFS_OK ? "opened" : set.error.message;
    return attempt;
}

bool Sniff(const std::string &location, const std::map<std::string, std::string> &files) {
    MemoryVfs vfs;
    vfs.files = files;
    return refs_set_sniff_folder(vfs.get(), location.c_str());
}

} // namespace

TEST(ParquetOpen, TriesTheFolderFirstWhereNamesSayOrAskingIsCheap) {
    const struct {
        const char *location, *tried;
    } cases[] = {
        {"dir", "dir/.zmetadata dir/.zmetadata "},
        {"dir/", "dir/.zmetadata dir/.zmetadata "},
        {"dir/.zmetadata", "dir/.zmetadata dir/.zmetadata "},
        {"/vsis3/b/dir.parq", "/vsis3/b/dir.parq/.zmetadata /vsis3/b/dir.parq/.zmetadata "},
        {"/vsis3/b/dir.parquet/",
         "/vsis3/b/dir.parquet/.zmetadata /vsis3/b/dir.parquet/.zmetadata "},
        {"/vsis3/b/dir/", "/vsis3/b/dir/repo /vsis3/b/dir/refs/branch.main/ref.json "
                          "/vsis3/b/dir/.zmetadata /vsis3/b/dir/.zmetadata "},
        {"/vsis3/b/dir", "/vsis3/b/dir/repo /vsis3/b/dir/refs/branch.main/ref.json /vsis3/b/dir "
                         "/vsis3/b/dir/.zmetadata /vsis3/b/dir/.zmetadata "},
        {"/vsis3/b/dir.x", "/vsis3/b/dir.x /vsis3/b/dir.x/.zmetadata /vsis3/b/dir.x/.zmetadata "},
    };
    for (const auto &c : cases) {
        const std::string location = c.location;
        const size_t slash = location.find("/.z");
        std::string folder = location.substr(0, slash);
        if (folder.back() == '/') folder.pop_back();
        const Attempt attempt = Open(location, {{folder + "/.zmetadata", kParquet}});
        EXPECT_EQ(attempt.said, "opened") << location;
        EXPECT_EQ(attempt.tried, c.tried);
    }
}

TEST(ParquetOpen, TakesDocumentsWhateverTheirName) {
    for (const char *location : {"set.parq", "/vsis3/b/set.parq", "/vsis3/b/set.json"})
        EXPECT_EQ(Open(location, {{location, kJson}}).said, "opened") << location;
    EXPECT_EQ(Open("/vsis3/b/set.json", {{"/vsis3/b/set.json", kJson}}).tried,
              "/vsis3/b/set.json /vsis3/b/set.json ");
}

TEST(ParquetOpen, LooksIntoFoldersThatServersShowAsPages) {
    EXPECT_EQ(Open("/vsicurl/http://h/dir", {{"/vsicurl/http://h/dir", "<html>"},
                                             {"/vsicurl/http://h/dir/.zmetadata", kParquet}})
                  .said,
              "opened");
}

TEST(ParquetOpen, SaysWhatIsWrongWithTheNameThatWasGiven) {
    EXPECT_EQ(Open("dir", {}).said, "dir: no such file");
    EXPECT_EQ(Open("/vsis3/b/dir.parq", {}).said, "/vsis3/b/dir.parq: no such file");
    EXPECT_EQ(Open("dir/.zmetadata", {}).said, "dir/.zmetadata: no such file");
    EXPECT_EQ(Open("dir", {}, "dir").said, "dir: HTTP error 403");
    EXPECT_EQ(Open("dir", {}, "dir/.zmetadata").said, "dir/.zmetadata: HTTP error 403");
    EXPECT_EQ(Open("page", {{"page", "no set"}}).said,
              "page: not a reference set: expected \"{\" or \"[\" at its beginning");
    const std::string plain = Open("dir", {{"dir/.zmetadata", kZarr}}).said;
    EXPECT_EQ(
        plain.find("dir/.zmetadata: expected \"record_size\": without it, this is plain Zarr"), 0u)
        << plain;
}

TEST(ParquetOpen, SaysWhatWasGivenForASet) {
    const std::map<std::string, std::string> contents = {{"<!DOCTYPE html>", "a web page or XML"},
                                                         {"\x0e\x03\x13\x01", "an HDF4 file"},
                                                         {"BZh9", "a file packed by bzip2"},
                                                         {"PAR1", "a Parquet file"},
                                                         {"PK\3\4", "a ZIP archive"}};
    for (const auto &content : contents)
        EXPECT_EQ(Open("file", {{"file", content.first}}).said,
                  "file: expected a reference set, found " + content.second);
    const std::string dmr = R"(<Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#"></Dataset>)";
    EXPECT_EQ(
        Open("file", {{"file", dmr}}).said,
        "file: a DMR has no byte ranges: expected a DMR++, which servers return for NAME.dmrpp");
    const std::map<std::string, std::string> damaged = {
        {"\x89HDF\r\n", "a NetCDF-4 or HDF5 file, although it begins like one, with "
                        "89 48 44 46 0d 0a: it is damaged or truncated"},
        {"\x89HDF\n\x1a\n\n", "a NetCDF-4 or HDF5 file, although it begins like one, with "
                              "89 48 44 46 0a 1a 0a 0a: it was transferred as text"},
        {"CDF\3", "a NetCDF-3 file, although it begins like one, with 43 44 46 03: it is damaged "
                  "or truncated"},
        {"GRIB",
         "a GRIB file, although it begins like one, with \"GRIB\": it is damaged or truncated"},
        {{"II*\0", 4},
         "a TIFF file, although it begins like one, with 49 49 2a 00: it is damaged or truncated"},
        {{"MM\0*", 4},
         "a TIFF file, although it begins like one, with 4d 4d 00 2a: it is damaged or truncated"}};
    for (const auto &content : damaged)
        EXPECT_EQ(Open("file", {{"file", content.first}}).said, "file: not " + content.second);
    EXPECT_EQ(Open("file", {{"file", "GRI"}}).said,
              "file: not a reference set: expected \"{\" or \"[\" at its beginning");
    EXPECT_EQ(Open("file", {{"file", ""}}).said, "file: the file is empty");
}

TEST(ParquetOpen, SaysWhatAFileIsNotAlthoughItIsCalledSo) {
    EXPECT_EQ(Open("a.nc", {{"a.nc", std::string(20, '\0')}}).said,
              "a.nc: expected a netCDF file, as its name says; its first bytes are 00 00 00 00 00 "
              "00 00 00, not \"CDF\" or, of netCDF-4, 89 \"HDF\": a file that was not written to "
              "its end has zeros");
    EXPECT_EQ(Open("a.H5", {{"a.H5", "Not found\n"}}).said,
              "a.H5: expected an HDF5 file, as its name says; its first bytes are \"Not foun\", "
              "not 89 \"HDF\"");
    for (const char *name : {"a.grb2", "a.tif", "/vsicurl/http://h/a.tiff?x=a.b"})
        EXPECT_NE(Open(name, {{name, "\1\2"}}).said.find("first bytes are 01 02, not \""),
                  std::string::npos)
            << name;
}

TEST(ParquetOpen, SaysThatAServerAnsweredAPage) {
    const std::string url = "/vsicurl/https://h/x.h5";
    for (const char *page : {"<html>log in</html>", "\r\n<!DOCTYPE HTML><html>"}) {
        const std::map<std::string, std::string> files = {{url, page}, {url + "/.zmetadata", page}};
        EXPECT_EQ(Open(url, files).said,
                  url + ": the server returned a web page (HTML) instead of a set or a data file: "
                        "log in, or use the URL of the file instead of its page");
    }
}

TEST(ParquetOpen, KnowsItsFoldersByTheirMetadata) {
    const std::map<std::string, std::string> files = {
        {"dir/.zmetadata", kParquet},
        {"zarr/.zmetadata", kZarr},
        {"cut/.zmetadata", R"({"metadata": {".zgroup": {}}, "reco)"},
        {"list/.zmetadata", R"([{"metadata": {}, "record_size": 10}])"},
        {"inner/.zmetadata", R"({"x": {"metadata": {}, "record_size": 10}})"},
        {"size/.zmetadata", R"({"record_size": 10})"},
        {"set.json", kParquet}};
    EXPECT_TRUE(Sniff("dir", files));
    EXPECT_TRUE(Sniff("dir/", files));
    EXPECT_TRUE(Sniff("dir/.zmetadata", files));
    for (const char *location :
         {"zarr", "zarr/.zmetadata", "cut", "list", "inner", "size", "none", "set.json", ""})
        EXPECT_FALSE(Sniff(location, files)) << location;
}

TEST(ParquetOpen, StampsTheFileThatARepositoryIsOpenedFrom) {
    for (const char *file : {"r/repo", "r/refs/branch.main/ref.json"}) {
        TemporaryFolder folder;
        folder.Write(file, "0123456789 and more");
        for (const char *name : {"r", "r/"}) {
            refs_vfs_validators validators, own;
            ASSERT_EQ(refs_set_validators(refs_vfs_posix(), (folder / name).c_str(), &validators,
                                          nullptr),
                      REFS_OK)
                << name;
            ASSERT_TRUE(refs_vfs_ask(refs_vfs_posix(), (folder / file).c_str(), &own));
            EXPECT_EQ(validators.inode, own.inode) << file << " " << name;
        }
    }
}

TEST(ParquetOpen, StampsTheFileThatMakesTheSet) {
    static std::string asked;
    refs_vfs vfs = {};
    vfs.validators = [](void *, const char *location, refs_vfs_validators *validators,
                        refs_error *err) {
        asked += std::string(location) + " ";
        const std::string name = location;
        if (name != "dir/.zmetadata" && name != "set.json")
            return refs_fail(err, REFS_NOT_FOUND, "%s: nothing", location);
        *validators = refs_vfs_validators();
        validators->size = name.size();
        return REFS_OK;
    };
    const struct {
        const char *location, *asked;
        uint64_t size;
    } cases[] = {{"dir", "dir/.zmetadata ", 14},
                 {"dir/.zmetadata", "dir/.zmetadata ", 14},
                 {"set.json", "set.json/.zmetadata set.json ", 8}};
    for (const auto &c : cases) {
        refs_vfs_validators validators;
        asked.clear();
        ASSERT_EQ(refs_set_validators(&vfs, c.location, &validators, nullptr), REFS_OK);
        EXPECT_EQ(asked, c.asked);
        EXPECT_EQ(validators.size, c.size);
    }
    refs_vfs_validators validators;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_set_validators(&vfs, "none", &validators, &err), REFS_NOT_FOUND);
    EXPECT_STREQ(err.message, "none: nothing");
    vfs.validators = nullptr;
    EXPECT_EQ(refs_set_validators(&vfs, "dir", &validators, nullptr), REFS_NOT_FOUND);
}
