// file_name_test.cc -- which names depend on a folder, and which do not.
#include <gtest/gtest.h>

#include "refs/file_name.h"

namespace {

TEST(FileName, IsAUrlWithASchemeAndTwoSlashes) {
    for (const char *name : {"s3://b/k", "https://host/x.nc", "file:///x.nc", "x+y-1.z://a"})
        EXPECT_TRUE(refs_file_name_is_url(refs_str_from(name))) << name;
    for (const char *name : {"", "x.nc", "C:/x.nc", "/vsicurl/http://host/x.nc", "://x", "1s://x",
                             "12:00.nc", "file:x.nc", "a/b://c"})
        EXPECT_FALSE(refs_file_name_is_url(refs_str_from(name))) << name;
}

TEST(FileName, IsRelativeWhereAFolderDecides) {
    for (const char *name : {"", "x.nc", "../x.nc", "a/x.nc", "2020-01-01T00:00.nc", "a:b/c.nc",
                             "a/b://c", "C:x", "file:x.nc", "ab::c", "x::../y"})
        EXPECT_TRUE(refs_file_name_is_relative(refs_str_from(name))) << name;
    for (const char *name : {"/x.nc", "s3://b/k", "file:/x.nc", "file:///x.nc", "C:/x.nc", "C:\\x",
                             "/vsis3/b/k", "simplecache::s3://b/k", "zip://a::b.zip"})
        EXPECT_FALSE(refs_file_name_is_relative(refs_str_from(name))) << name;
}

TEST(FileName, IsMarkedWhereARelativePathWouldBeReadAsAnotherName) {
    for (const char *path : {"", "x.nc", "a/x:y.nc", "./file:/x.nc", "../C:/x.nc"})
        EXPECT_STREQ(refs_file_name_relative_mark(refs_str_from(path)), "") << path;
    for (const char *path : {"file:/x.nc", "LOCAL:/x.nc", "C:/x.nc", "simplecache::/x.nc",
                             "blockcache::x.nc", "12:00.nc"}) {
        EXPECT_STREQ(refs_file_name_relative_mark(refs_str_from(path)), "./") << path;
        const std::string marked = std::string("./") + path;
        EXPECT_TRUE(refs_file_name_is_relative(refs_str_from(marked.c_str()))) << path;
    }
}

TEST(FileName, NeedsAFolderWhereItsLastPartDoes) {
    for (const char *name :
         {"x.nc", "ab::c", "zip://m::a.zip", "tar://m::zip://n::../a.zip", "simplecache::x.nc",
          "simplecache::foo::../x", "file://a.nc", "ZIP://m::filecache::file://a.zip"})
        EXPECT_TRUE(refs_file_name_needs_folder(refs_str_from(name))) << name;
    for (const char *name : {"/x.nc", "s3://b/k", "file:/x.nc", "C:/x.nc", "/vsis3/b/k",
                             "simplecache::s3://b/k", "zip://m::s3://b/a.zip", "zip://m::/a.zip",
                             "zip://m::simplecache::file:///a.zip", "memory://x"})
        EXPECT_FALSE(refs_file_name_needs_folder(refs_str_from(name))) << name;
}

TEST(FileName, IsOfARecordFileWithANumberAndEitherEnding) {
    uint64_t number = 0;
    for (const char *name : {"refs.12.parq", "refs.12.parquet"}) {
        EXPECT_TRUE(refs_file_name_is_record(refs_str_from(name), &number)) << name;
        EXPECT_EQ(number, 12U);
    }
    for (const char *name : {"refs", "refs.", "refs.12", "refs..parq", "refs.x.parq",
                             "refs.12.parq.tmp", "refs.12.PARQ", "a.12.parq"})
        EXPECT_FALSE(refs_file_name_is_record(refs_str_from(name), &number)) << name;
}

} // namespace
