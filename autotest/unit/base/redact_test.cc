/* redact_test.cc -- what URLs show. */
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "refs/redact.h"

namespace {

std::string shown(std::string text) {
    refs_redact_secrets(&text[0]);
    return text.c_str();
}

} // namespace

TEST(Hide, TakesQueriesAndUsersOutOfUrls) {
    const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"t2m: HTTP 404", "t2m: HTTP 404"},
        {"https://host/a.json", "https://host/a.json"},
        {"https://host/a.json?sig=x", "https://host/a.json"},
        {"https://host/a.json#token=x", "https://host/a.json"},
        {"s3://bucket/repo#branch=dev: gone", "s3://bucket/repo#branch=dev: gone"},
        {"\"https://host/repo#tag=v1&as_of=2024-01-01\":/v",
         "\"https://host/repo#tag=v1&as_of=2024-01-01\":/v"},
        {"https://host/repo?sig=x#branch=dev", "https://host/repo#branch=dev"},
        {"https://host/repo#branch=dev&token=x", "https://host/repo"},
        {"https://host?sig=x", "https://host"},
        {"https://user:pass@host/a", "https://host/a"},
        {"https://user@host:80/a", "https://host:80/a"},
        {"http://u:SECRET PW@host/a: HTTP 403", "http://host/a: HTTP 403"},
        {"http://u:a b c@host/a", "http://host/a"},
        {"http://host:80 and u@x", "http://host:80 and u@x"},
        {"http://host/a b@c", "http://host/a b@c"},
        {"https://a@b:c@host/x", "https://host/x"},
        {"https://host/a@b", "https://host/a@b"},
        {"https://u:p@h/a?x=1: HTTP 403", "https://h/a: HTTP 403"},
        {"https://h/a?x=1:2/3 [4+5]: HTTP 403", "https://h/a [4+5]: HTTP 403"},
        {"(https://h/a?x=1), (https://h/b?y=2)", "(https://h/a), (https://h/b)"},
        {"/vsicurl/https://u:p@h/a?b", "/vsicurl/https://h/a"},
        {"REFS:\"https://h/a?x=1 2\":/t2m", "REFS:\"https://h/a\":/t2m"},
        {"REFS:\"/vsicurl/https://u:p@h/a?x\":/t2m[time=3]",
         "REFS:\"/vsicurl/https://h/a\":/t2m[time=3]"},
        {"/vsicurl?header.Authorization=x&url=https%3A%2F%2Fh", "/vsicurl"},
        {"\"/vsicurl?header.A=Bearer x&url=y\" is", "\"/vsicurl\" is"},
        {"/vsizip/{/vsicurl/https://h/a.zip?s=1}/b", "/vsizip/{/vsicurl/https://h/a.zip"},
        {"/vsis3/b/x.json?X-Amz-Signature=x", "/vsis3/b/x.json"},
        {"/vsiaz/c/x.json?sv=1&sig=x: HTTP 403", "/vsiaz/c/x.json: HTTP 403"},
        {"\"/vsigs_streaming/b/x?a b\" is, /vsioss/b/y?c=d",
         "\"/vsigs_streaming/b/x\" is, /vsioss/b/y"},
        {"/vsiadls/c/repo?sig=x#branch=dev", "/vsiadls/c/repo#branch=dev"},
        {"s3://b/x?sig=x: gone", "s3://b/x: gone"},
        {"/vsimem/x?y", "/vsimem/x?y"},
        {"/vsis3/b@c/d@e", "/vsis3/b@c/d@e"},
        {"://", "://"},
        {"a://@", "a://"},
    };
    for (const auto &row : rows) EXPECT_EQ(shown(row.text), row.shown) << row.text;
}

TEST(Hide, LeavesNothingSecretWhereTextIsCut) {
    const std::string text = "https://user:QQQQQ@host/a?sig=QQQQQ: HTTP 403";
    for (size_t size = 0; size <= text.size(); size++)
        EXPECT_EQ(shown(text.substr(0, size)).find('Q'), std::string::npos) << size;
}
