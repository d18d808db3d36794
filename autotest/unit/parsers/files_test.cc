// files_test.cc -- which files a data file may name.
#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "files.h"
}

#include "memory_vfs.h"
#include "refs/url.h"

namespace {

// The files of a scan of `from`, on a machine that says of all files that they are near.
class Files {
  public:
    explicit Files(const std::string &from) {
        uint32_t id;
        vfs.near = true;
        vfs.onOpen = [this](const std::string &name) {
            vfs.files[name] = "x"; // whatever is looked for is there
            opened.push_back(name);
        };
        EXPECT_EQ(refs_scan_files_open(vfs.get(), &files_, nullptr), REFS_OK);
        EXPECT_EQ(refs_scan_files_add(files_, from.c_str(), &id, nullptr), REFS_OK);
    }
    ~Files() { refs_scan_files_free(files_); }

    // The file that is found, or what is said.
    std::string Find(const std::string &name) {
        const refs_file_name file = {0, refs_str_view(name.data(), name.size()), "REFS_NO_PREFIX",
                                     &options};
        refs_error err = REFS_ERROR_INIT;
        uint32_t id = 0;
        const refs_status status = refs_scan_files_find(files_, &file, &id, &err);
        return status == REFS_OK ? refs_scan_files_location(files_, id)
                                 : std::string(refs_status_text(status)) + ": " + err.message;
    }

    MemoryVfs vfs;
    std::vector<std::string> opened;
    refs_scan_options options = REFS_SCAN_OPTIONS_INIT;

  private:
    refs_scan_files *files_ = nullptr;
};

const char *const remote[] = {"/vsicurl/https://h/d/f.h5",
                              "https://h/d/f.h5",
                              "/vsis3/b/f.h5",
                              "/vsigs/b/d/f.h5",
                              "/vsicurl?url=https%3A//h/d/f.h5",
                              "/vsizip/{/vsicurl/https://h/a.zip}/f.h5",
                              "/vsizip/vsis3/b/a.zip/f.h5"};

const char *const hostile[] = {"/etc/passwd",
                               "//etc/passwd",
                               "/../etc/passwd",
                               "file:///etc/passwd",
                               "file:/etc/passwd",
                               "FILE:///etc/passwd",
                               "../../../../../etc/passwd",
                               "./../../../../../../../etc/passwd",
                               "a/../../../../../../etc/passwd",
                               "/vsisubfile/0_9,/etc/passwd",
                               "/vsimem/x",
                               "C:/x",
                               "../../../../../169.254.169.254/latest"};

TEST(ScanFiles, OfARemoteFileAreNeverLocal) {
    for (const std::string from : remote) {
        for (const std::string name : hostile) {
            Files files(from);
            (void)files.Find(name);
            for (const std::string &opened : files.opened) {
                const refs_str location = refs_str_view(opened.data(), opened.size());
                EXPECT_TRUE(refs_location_is_remote(location))
                    << name << " of " << from << ": " << opened;
                EXPECT_FALSE(refs_location_is_link_local(location)) << opened;
            }
        }
    }
}

TEST(ScanFiles, OfARemoteFileLieBesideIt) {
    Files files("/vsicurl/https://h/d/f.h5?key=1");
    EXPECT_EQ(files.Find("g.h5"), "/vsicurl/https://h/d/g.h5?key=1");
    EXPECT_EQ(files.Find("../e/g.h5"), "/vsicurl/https://h/e/g.h5?key=1");
    EXPECT_EQ(files.Find("/data/of/another/machine/g.h5"), "/vsicurl/https://h/d/g.h5?key=1");
}

TEST(ScanFiles, OfARemoteFileThatMayNotBeLookedForAreNoAbsentOnes) {
    Files files("/vsicurl/https://h/d/f.h5");
    files.vfs.onOpen = nullptr;
    files.vfs.files["/etc/passwd"] = "x";
    EXPECT_NE(files.Find("/etc/passwd").find(REFS_REMOTE_TO_LOCAL), std::string::npos);
    EXPECT_NE(files.Find("file:///etc/passwd").find("\"/etc/passwd\""), std::string::npos);
    EXPECT_EQ(files.Find("g.h5").find("not found"), 0u);
}

TEST(ScanFiles, OfARemoteFileMayBeLocalWhereThatIsAllowed) {
    Files files("/vsicurl/https://h/d/f.h5");
    files.options.remote_to_local = true;
    EXPECT_EQ(files.Find("/data/g.h5"), "/data/g.h5");
}

TEST(ScanFiles, OfALocalFileMayBeAny) {
    Files files("/data/f.h5");
    EXPECT_EQ(files.Find("/other/g.h5"), "/other/g.h5");
    EXPECT_EQ(files.Find("../g.h5"), "/g.h5");
    EXPECT_EQ(files.Find("g.h5"), "/data/g.h5");
}

} // namespace
