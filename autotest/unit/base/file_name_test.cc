// file_name_test.cc -- which names depend on a folder, and which do not.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

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

TEST(FileName, OfCfIsUnescapedUnlessAServerGetsIt) {
    const auto plain = [](const char *name) {
        refs_buf text = REFS_BUF_INIT;
        EXPECT_EQ(refs_file_name_unescape(refs_str_from(name), &text, nullptr), REFS_OK);
        const std::string copy(reinterpret_cast<const char *>(text.data), text.size);
        refs_buf_clear(&text);
        return copy;
    };
    EXPECT_EQ(plain("p/a%20%C3%a9.nc"), "p/a \u00e9.nc");
    EXPECT_EQ(plain("file:///p/a%2520b.nc"), "file:///p/a%20b.nc");
    EXPECT_EQ(plain("a%00%2%zz%"), "a%00%2%zz%");
    EXPECT_EQ(plain("a%2"), "a%2");
    EXPECT_EQ(plain("https://host/a%20b.nc"), "https://host/a%20b.nc");
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

TEST(FileName, HasAUrlAnywhere) {
    for (const char *name : {"s3://b/k", "simplecache::s3://b/k", "zip://m::a.zip", "://"})
        EXPECT_TRUE(refs_file_name_has_url(refs_str_from(name))) << name;
    for (const char *name : {"", "a:/b", "12:00.nc", "/vsis3/b/k", "C:/x.nc"})
        EXPECT_FALSE(refs_file_name_has_url(refs_str_from(name))) << name;
    EXPECT_TRUE(refs_file_name_is_local(refs_str_from("data/*.nc")));
    EXPECT_FALSE(refs_file_name_is_local(refs_str_from("/vsis3/b/k")));
    EXPECT_FALSE(refs_file_name_is_local(refs_str_from("s3://b/k")));
}

TEST(FileName, HasAFolderAndALastPart) {
    const char *const parts[][3] = {{"a/b/c.nc", "a/b", "c.nc"},
                                    {"/c.nc", "/", "c.nc"},
                                    {"c.nc", ".", "c.nc"},
                                    {"a/", "a", ""},
                                    {"", ".", ""}};
    for (const auto &part : parts) {
        const refs_str name = refs_str_from(part[0]);
        EXPECT_TRUE(refs_str_is(refs_file_name_folder(name), part[1])) << part[0];
        EXPECT_TRUE(refs_str_is(refs_path_last(name), part[2])) << part[0];
    }
}

TEST(FileName, IsAbsoluteBehindTheFolderOfTheProcess) {
    const auto absolute = [](const char *path) {
        refs_buf made = REFS_BUF_INIT;
        EXPECT_EQ(refs_file_name_absolute(refs_str_from(path), &made, nullptr), REFS_OK);
        const std::string text(reinterpret_cast<const char *>(made.data), made.size);
        refs_buf_clear(&made);
        return text;
    };
    EXPECT_EQ(absolute("/a/b.nc"), "/a/b.nc");
    EXPECT_EQ(absolute("b.nc"), std::filesystem::current_path().string() + "/b.nc");
}

} // namespace
