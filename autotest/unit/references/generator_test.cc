// What golden cases cannot show: limits, and sizes.

#include <gtest/gtest.h>

#include "set_under_test.h"

namespace {

const char kTwoByThree[] = R"({"version": 1, "gen": [
    {"key": "a/{{i}}.{{j}}", "url": "u", "dimensions": {"i": {"stop": 2}, "j": {"stop": 3}}},
    {"key": "b/{{i}}", "url": "u", "dimensions": {"i": {"stop": 4}}}]})";

} // namespace

TEST(RefsetGenerator, IsLimitedInAll) {
    SetUnderTest enough, few;
    enough.options.limits.max_generated = 10;
    EXPECT_EQ(enough.Open(kTwoByThree), REFS_OK);
    EXPECT_EQ(refs_set_size(enough.set), 10u);
    few.options.limits.max_generated = 9;
    EXPECT_EQ(few.Open(kTwoByThree), REFS_LIMIT);
    EXPECT_STREQ(few.error.message,
                 "refs.json: gen[1]: the generators produce more references than the limit of 9");
}

TEST(RefsetGenerator, CountsAgainstAllReferences) {
    SetUnderTest set;
    set.options.limits.max_references = 9;
    EXPECT_EQ(set.Open(kTwoByThree), REFS_LIMIT);
    EXPECT_STREQ(set.error.message, "refs.json: gen[1]: limit of 9 references exceeded");
}

TEST(RefsetGenerator, MakesManyReferences) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "templates": {"u": "s3://bucket"}, "gen": [
        {"key": "t2m/{{t}}.{{y}}.0", "url": "{{u}}/{{'%04d' % (t // 24)}}.nc",
         "offset": "{{(t % 24 * 10 + y) * 4000}}", "length": 4000,
         "dimensions": {"t": {"stop": 480}, "y": {"stop": 10}}}]})"),
              REFS_OK)
        << set.error.message;
    EXPECT_EQ(refs_set_size(set.set), 4800u);
    EXPECT_EQ(refs_set_n_locations(set.set), 20u);
    EXPECT_EQ(set.At("t2m/25.3.0"), "[s3://bucket/0001.nc, 52000, 4000]");
    EXPECT_EQ(set.LocationAt("t2m/479.9.0"), "/vsis3/bucket/0019.nc");
}

TEST(RefsetGenerator, RunsToTheEndsOfIntegers) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "gen": [{"key": "k{{i}}", "url": "u", "dimensions": {"i":
        {"start": -9223372036854775807, "stop": 9223372036854775807, "step": 9223372036854775807}}},
        {"key": "d{{i}}", "url": "u", "dimensions": {"i":
        {"start": 9223372036854775807, "stop": -9223372036854775808,
         "step": -9223372036854775808}}}]})"),
              REFS_OK)
        << set.error.message;
    EXPECT_EQ(set.At("k-9223372036854775807"), "[u]");
    EXPECT_EQ(set.At("k0"), "[u]");
    EXPECT_EQ(set.At("d9223372036854775807"), "[u]");
    EXPECT_EQ(set.At("d-1"), "[u]");
    EXPECT_EQ(refs_set_size(set.set), 4u);
}

TEST(RefsetGenerator, RefusesIntegersOfMoreThan64Bits) {
    SetUnderTest list, range;
    EXPECT_EQ(list.Open(R"({"version": 1, "gen": [{"key": "k", "url": "u", "dimensions":
                           {"i": [9223372036854775808]}}]})"),
              REFS_LIMIT);
    EXPECT_EQ(range.Open(R"({"version": 1, "gen": [{"key": "k", "url": "u", "dimensions":
                            {"i": {"stop": 9223372036854775808}}}]})"),
              REFS_INVALID);
}

TEST(RefsetGenerator, RefusesMoreTextThanItMayMake) {
    SetUnderTest urls, keys;
    const std::string long_text(60000, 'x');
    EXPECT_EQ(urls.Open(R"({"version": 1, "gen": [{"key": "v/{{i}}", "url": "{{i}})" + long_text +
                        R"(", "dimensions": {"i": {"stop": 4000}}}]})"),
              REFS_LIMIT);
    EXPECT_NE(std::string(urls.error.message).find("keys and URLs of more than 402653184 bytes"),
              std::string::npos)
        << urls.error.message;
    EXPECT_EQ(keys.Open(R"({"version": 1, "gen": [{"key": "{{i}})" + long_text +
                        R"(", "url": "u", "dimensions": {"i": {"stop": 8000}}}]})"),
              REFS_LIMIT);
}

TEST(RefsetGenerator, TakesFractionsAsPythonWritesThem) {
    SetUnderTest set;
    ASSERT_EQ(set.Open(R"({"version": 1, "gen": [{"key": "k{{l}}", "url": "u", "dimensions":
                           {"l": [0.5, -10.0, 1000.25, 0.0001]}}]})"),
              REFS_OK)
        << set.error.message;
    for (const char *key : {"k0.5", "k-10.0", "k1000.25", "k0.0001"})
        EXPECT_EQ(set.At(key), "[u]") << key;
    for (const char *number : {"1e3", "0.50", "1E3", "2.5e-1", "0.00001", "0.12345678901234567"}) {
        SetUnderTest other;
        EXPECT_EQ(other.Open(std::string(R"({"version": 1, "gen": [{"key": "k{{l}}", "url": "u",
                             "dimensions": {"l": [)") +
                             number + "]}}]}"),
                  REFS_UNSUPPORTED);
        EXPECT_NE(std::string(other.error.message)
                      .find(std::string("expected an integer or a fraction such as 0.5, found ") +
                            number),
                  std::string::npos)
            << other.error.message;
    }
}

TEST(RefsetGenerator, IsLimitedInDimensions) {
    SetUnderTest set;
    std::string dimensions;
    for (int i = 0; i < 33; i++)
        dimensions += (i > 0 ? ",\"d" : "\"d") + std::to_string(i) + "\": [1]";
    EXPECT_EQ(set.Open(R"({"version": 1, "gen": [{"key": "k", "url": "u", "dimensions": {)" +
                       dimensions + "}}]}"),
              REFS_LIMIT);
    EXPECT_STREQ(set.error.message, "refs.json: gen[0]: expected at most 32 dimensions, found 33");
}
