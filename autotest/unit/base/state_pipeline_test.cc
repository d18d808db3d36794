// state_pipeline_test.cc -- names of repositories as other programs write them.
#include <gtest/gtest.h>

#include <string>

#include "refs/state_name.h"

namespace {

/** The plain name, or the message of the failure. */
std::string plain(const std::string &name) {
    refs_buf text = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    const refs_status status =
        refs_state_plain_name(refs_str_view(name.data(), name.size()), &text, &err);
    std::string found = err.message;
    if (status == REFS_OK && text.size > 0)
        found.assign(reinterpret_cast<const char *>(text.data), text.size);
    refs_buf_clear(&text);
    return found;
}

TEST(StatePlainName, IsOfUrlPipelines) {
    EXPECT_EQ(plain("s3://b/repo/|icechunk:"), "s3://b/repo/");
    EXPECT_EQ(plain("s3://b/repo/|icechunk"), "s3://b/repo/");
    EXPECT_EQ(plain("s3://b/repo/|icechunk://"), "s3://b/repo/");
    EXPECT_EQ(plain("s3://b/repo/|icechunk:@branch.main/"), "s3://b/repo/#branch=main");
    EXPECT_EQ(plain("s3://b/repo/|icechunk://@branch.a/b"), "s3://b/repo/#branch=a/b");
    EXPECT_EQ(plain("s3://b/repo/|icechunk:@tag.v1.0"), "s3://b/repo/#tag=v1.0");
    EXPECT_EQ(plain("repo|icechunk:@1CECHNKREP0F1RSTCMT0/"), "repo#snapshot=1CECHNKREP0F1RSTCMT0");
    EXPECT_EQ(plain("repo|icechunk:@branch.a&b#c"), "repo#branch=a%26b%23c");
}

TEST(StatePlainName, IsOfSchemesThatNameTheFormat) {
    EXPECT_EQ(plain("icechunk+s3://b/repo"), "s3://b/repo");
    EXPECT_EQ(plain("icechunk+s3://b/repo@dev"), "s3://b/repo#branch=dev");
    EXPECT_EQ(plain("icechunk+s3://b/repo@tag.v1"), "s3://b/repo#tag=v1");
    EXPECT_EQ(plain("icechunk+https://user@host/repo"), "https://user@host/repo");
}

TEST(StatePlainName, LeavesOtherNamesAsTheyAre) {
    for (const char *name :
         {"", "repo", "repo@v1", "a|b", "a|icechunks:", "icechunk+repo", "x|zip:a"})
        EXPECT_EQ(plain(name), name);
}

TEST(StatePlainName, SaysWhatItDoesNotRead) {
    EXPECT_EQ(plain("repo|icechunk:group/array"), "repo: expected only a branch, tag or snapshot "
                                                  "(@branch.main) after icechunk:; arrays follow "
                                                  "the whole name, in quotes: \"NAME\":/array");
    EXPECT_EQ(plain("repo|icechunk:@branch.main|zarr3:"),
              "repo: expected only a branch, tag or snapshot (@branch.main) after icechunk:; "
              "arrays follow "
              "the whole name, in quotes: \"NAME\":/array");
    EXPECT_EQ(plain("repo|icechunk:@branch."), "repo: expected the name of a branch after @");
}

} // namespace
