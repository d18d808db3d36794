/* response_test.cc -- header lines, and what they say. */
#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "http/response.h"
#include "refs/fetch.h"
#include "refs/validators.h"
}

namespace {

refs_response response_of(const std::vector<std::string> &lines) {
    refs_response response = {};
    for (const std::string &line : lines)
        refs_response__line(&response, refs_str_view(line.data(), line.size()));
    return response;
}

} // namespace

TEST(Response, ReadsContentRange) {
    const struct {
        const char *value;
        bool has_range;
        uint64_t begin, end;
        bool has_total;
        uint64_t total;
    } rows[] = {
        {"bytes 0-99/1000", true, 0, 100, true, 1000},
        {"Bytes 5-5/*", true, 5, 6, false, 0},
        {"bytes   7-9/10", true, 7, 10, true, 10},
        {"bytes */47", false, 0, 0, true, 47},
        {"bytes 9-7/10", false, 0, 0, false, 0},
        {"bytes 0-10/10", false, 0, 0, false, 0},
        {"bytes 0-9", false, 0, 0, false, 0},
        {"bytes 0-9/10 and more", false, 0, 0, false, 0},
        {"bytes -1-9/10", false, 0, 0, false, 0},
        {"bytes 0-18446744073709551615/*", false, 0, 0, false, 0},
        {"bytes 0-18446744073709551616/*", false, 0, 0, false, 0},
        {"items 0-9/10", false, 0, 0, false, 0},
        {"", false, 0, 0, false, 0},
    };
    for (const auto &row : rows) {
        const refs_response response = response_of(
            {"HTTP/1.1 206 Partial Content", std::string("Content-Range: ") + row.value});
        EXPECT_EQ(response.has_range, row.has_range) << row.value;
        EXPECT_EQ(response.range_begin, row.begin) << row.value;
        EXPECT_EQ(response.range_end, row.end) << row.value;
        EXPECT_EQ(response.validators.has_size, row.has_total) << row.value;
        EXPECT_EQ(response.validators.size, row.total) << row.value;
    }
}

TEST(Response, ReadsRetryAfterInSecondsAndAsADate) {
    EXPECT_EQ(response_of({"Retry-After: 120\r\n"}).retry_after_ms, 120000u);
    EXPECT_EQ(response_of({"retry-after:0"}).retry_after_ms, 0u);
    EXPECT_EQ(response_of({"Retry-After: Sat, 01 Jan 2000 00:00:00 GMT"}).retry_after_ms, 0u);
    EXPECT_GT(response_of({"Retry-After: Fri, 31 Dec 2199 23:59:59 GMT"}).retry_after_ms, 1000u);
    EXPECT_EQ(response_of({"Retry-After: soon"}).retry_after_ms, 0u);
    EXPECT_GT(response_of({"Retry-After: 99999999999999999999999"}).retry_after_ms, 1000u);
}

TEST(Response, ReadsWhatTellsOneStateFromAnother) {
    const refs_response response =
        response_of({"ETag:  \"abc\" \r\n", "Last-Modified: Sat, 01 Jan 2000 00:00:01 GMT\r\n"});
    EXPECT_STREQ(response.validators.etag, "\"abc\"");
    EXPECT_EQ(response.validators.modified_s, 946684801);
    EXPECT_FALSE(response.encoded);
    EXPECT_TRUE(response_of({"Content-Encoding: gzip"}).encoded);
    EXPECT_FALSE(response_of({"Content-Encoding: identity"}).encoded);
    EXPECT_TRUE(response_of({"Content-Type: multipart/byteranges; boundary=x"}).multipart);
}

TEST(Response, DoesNotTrustADateOfNow) {
    const char *const now = "Date: Sat, 01 Jan 2000 00:00:10 GMT";
    EXPECT_EQ(response_of({now, "Last-Modified: Sat, 01 Jan 2000 00:00:10 GMT", "\r\n"})
                  .validators.modified_s,
              0);
    EXPECT_EQ(response_of({now, "Last-Modified: Sat, 01 Jan 2000 00:00:08 GMT", "\r\n"})
                  .validators.modified_s,
              946684808);
}

TEST(Response, DoesNotTrustADateOfNowFromServersThatDateNoAnswer) {
    const auto modified_ago = [](time_t seconds) {
        char text[64];
        const time_t at = time(nullptr) - seconds;
        strftime(text, sizeof text, "Last-Modified: %a, %d %b %Y %H:%M:%S GMT", gmtime(&at));
        return response_of({text, "\r\n"}).validators;
    };
    for (time_t ago : {-3600, 0, 1, 50}) {
        EXPECT_EQ(modified_ago(ago).modified_s, 0) << ago;
        EXPECT_NE(modified_ago(ago).fresh_s, 0) << ago;
    }
    EXPECT_NE(modified_ago(3600).modified_s, 0);
    EXPECT_EQ(response_of({"ETag: \"1\"", "\r\n"}).validators.fresh_s, 0);
    const refs_vfs_validators before = modified_ago(40), after = modified_ago(20);
    EXPECT_STREQ(refs_validators_difference(&before, &after), "Last-Modified");
}

TEST(Response, ForgetsWhatCameBeforeAStatusLine) {
    const refs_response response =
        response_of({"HTTP/1.1 401 x", "ETag: \"1\"", "Retry-After: 5", "HTTP/1.1 206 x"});
    EXPECT_STREQ(response.validators.etag, "");
    EXPECT_EQ(response.retry_after_ms, 0u);
}

/* As long as a server may send them. */
TEST(Response, TellsLongETagsApart) {
    const auto of = [](const std::string &etag) {
        return response_of({"ETag: " + etag, "\r\n"}).validators;
    };
    const std::string same(127, 'x'), quoted = "\"" + same + "\"";
    const refs_vfs_validators one = of(same + "1"), other = of(same + "2"), bare = of(same),
                              in_quotes = of(quoted), weak = of("W/" + quoted);
    EXPECT_STREQ(refs_validators_difference(&one, &other), "ETag");
    EXPECT_TRUE(refs_validators_prove_same(&one, &one));
    EXPECT_TRUE(refs_validators_prove_same(&bare, &in_quotes));
    EXPECT_TRUE(refs_validators_prove_same(&bare, &weak));
    EXPECT_FALSE(refs_validators_contradict(&weak, &weak));
    EXPECT_TRUE(refs_validators_distinguish(&in_quotes));
    refs_expected expected = {};
    char text[320];
    expected.etag = same.c_str(); // some writers leave the quotes out
    EXPECT_FALSE(refs_expected_differs(&expected, &in_quotes, text, sizeof text)) << text;
    EXPECT_TRUE(refs_expected_differs(&expected, &one, text, sizeof text));
}

/* The dates of two answers, and of the object in each. */
TEST(Identity, OfAnObjectThatIsFreshDiffersWhereItMustHaveChanged) {
    const auto at = [](const std::string &answered, const std::string &modified) {
        const std::string day = " Sat, 01 Jan 2000 00:00:", zone = " GMT";
        return response_of({"Date:" + day + answered + zone,
                            "Last-Modified:" + day + modified + zone, "\r\n"})
            .validators;
    };
    const struct {
        refs_vfs_validators one, other;
        const char *difference;
    } rows[] = {
        {at("20", "05"), at("30", "30"), "Last-Modified"}, // it was not fresh before
        {at("06", "05"), at("20", "10"), "Last-Modified"}, // modified after the first answer
        {at("06", "05"), at("20", "05"), ""},
        {at("06", "05"), at("20", "06"), "Last-Modified"}, // as the first answer was made
        {at("10", "10"), at("20", "05"), "Last-Modified"}, // replaced by an older one
        {at("10", "10"), at("20", "20"), ""},              // servers that date all answers so
        {at("11", "10"), at("20", "20"), "Last-Modified"}, // which this one does not
        {at("10", "10"), at("20", "19"), "Last-Modified"},
    };
    for (const auto &row : rows)
        EXPECT_STREQ(refs_validators_difference(&row.one, &row.other), row.difference);
}

TEST(Identity, TellsStatesApartWhereTheyCannotShareIt) {
    const auto at = [](const std::string &answered, const std::string &etag) {
        const std::string date = " Sat, 01 Jan 2000 00:00:"; // 0x386d4380 and the seconds
        return response_of({"Date:" + date + answered + " GMT", "Last-Modified:" + date + "05 GMT",
                            "ETag:" + etag, "\r\n"})
            .validators;
    };
    const struct {
        refs_vfs_validators validators;
        bool tells;
    } rows[] = {
        {at("20", ""), true},
        {at("20", "W/\"1\""), true},
        {at("20", "\"386d4385-4d2\""), true},
        {at("05", ""), false},
        {at("06", ""), false},
        {at("05", "\"1\""), true},
        {at("05", "W/\"1\""), false},
        {at("05", "\"386d4385-4d2\""), false},
        {response_of({"ETag: W/\"1\"", "\r\n"}).validators, true},
        {response_of({"\r\n"}).validators, false},
    };
    for (const auto &row : rows)
        EXPECT_EQ(refs_validators_distinguish(&row.validators), row.tells) << row.validators.etag;
}

TEST(Response, KnowsTheRegionOfABucket) {
    refs_response response = {};
    refs_response__line(&response, refs_str_from("X-Amz-Bucket-Region: eu-west-1\r\n"));
    EXPECT_STREQ(response.region, "eu-west-1");
    response = {};
    refs_response__line(&response, refs_str_from("x-amz-bucket-region: a b\r\n"));
    EXPECT_STREQ(response.region, "") << "is no region";
}

TEST(Response, FindsWhatAStoreSays) {
    const struct {
        const char *body, *content;
    } rows[] = {
        {"<Error><Code>NoSuchBucket</Code></Error>", "NoSuchBucket"},
        {"<Code>first</Code><Code>second</Code>", "first"},
        {"<Code></Code>", ""},
        {"<Code>cut", ""},
        {"<Code", ""},
        {"<Code>no word</Code>", ""},
        {"<Code>much.too-long_for-15</Code>", ""},
        {"<Code2>x</Code2>", ""},
        {"", ""},
    };
    for (const auto &row : rows) {
        char content[15] = "before";
        refs_response__element(refs_str_from(row.body), "Code", content, sizeof content);
        EXPECT_STREQ(content, row.content) << row.body;
    }
}
