// Memory that runs out: each allocation of opening a set fails once.

#include <gtest/gtest.h>

#include <cstdlib>

#include "set_under_test.h"

namespace {

int64_t allocations_left = 0;

void *FailingMalloc(size_t size) {
    return allocations_left-- > 0 ? std::malloc(size) : nullptr;
}

void *FailingRealloc(void *memory, size_t size) {
    return allocations_left-- > 0 ? std::realloc(memory, size) : nullptr;
}

// Uses every way through the room; sets of the two versions.
const char kVersion1[] = R"({
    "junk": "first", "version": 1,
    "templates": {"u": "s3://b", "f": "{{c}}/{{'%03d' % 5}}{{'{:>4}'.format(c)}}{{(1, 2)[0:0]|x}}"},
    "refs": {"a/.zarray": {"x": [1, {"y": 2}]}, "a/0.1": ["{{u}}/x", 1, 2], "a/0.0": ["../y.nc"],
             "b": "base64:aGVsbG8=", "c\u0041": "\n", "d": 5, "e/": ["zip://m::https://h/z", 1, 2],
             "g": ["memory://x"], "h": ["u", 1, 9000000000], "i": ["{{u}}{{f(c=1.5)}}"]},
    "gen": [{"key": "g/{{i}}{{v}}", "url": "{{u}}{{i ~ v}}", "offset": "{{i + 1}}", "length": 1,
             "dimensions": {"i": {"stop": 3}, "v": ["x", 2.5]}}]})";

const char kVersion0[] = R"([{"refs": {"x": "y"}, ".zgroup": "{}", "a/1": ["u"], "a/0": ["u"]}])";

refs_status OpenOnce(const char *json) {
    SetUnderTest set;
    set.options.set_index = 0;
    return set.Open(json);
}

// MemoryVfs and the test itself allocate too, with new, which does not fail.
int64_t CountUntilSuccess(const char *json) {
    const refs_allocator failing = {FailingMalloc, FailingRealloc, std::free};
    refs_allocator_set(&failing);
    int64_t n = 0;
    refs_status status = REFS_NOMEM;
    for (; status == REFS_NOMEM && n < 10000; n++) {
        allocations_left = n;
        status = OpenOnce(json);
    }
    refs_allocator_set(nullptr);
    EXPECT_EQ(status, REFS_OK);
    return n;
}

} // namespace

TEST(RefsetFaults, AreReportedForEveryAllocation) {
    std::string version_1 = kVersion1;
    version_1.replace(version_1.find("{{(1, 2)[0:0]|x}}"), 17, "");
    EXPECT_GT(CountUntilSuccess(version_1.c_str()), 60);
    EXPECT_GT(CountUntilSuccess(kVersion0), 20);
}

TEST(RefsetFaults, OfReadingArePassedOn) {
    SetUnderTest set;
    set.vfs.failReadsOf = "refs.json";
    EXPECT_EQ(set.Open("{}"), REFS_IO);
    EXPECT_STREQ(set.error.message, "refs.json: the line is cut");
}

TEST(RefsetFaults, OfCuttingTheTextAnywhereAreErrors) {
    const std::string json = R"({"version": 1, "refs": {"a": ["s3://b/k", 1, 2], "b": "x\n\u00e9",
                                 "c": {"d": [1.5e3, null]}}, "templates": {"u": "v"}})";
    for (size_t size = 1; size < json.size(); size++) {
        SetUnderTest set;
        EXPECT_EQ(set.Open(json.substr(0, size)), REFS_CORRUPT) << size;
        EXPECT_NE(std::string(set.error.message).find("line "), std::string::npos);
    }
}

TEST(RefsetFaults, OfAnyByteAreSurvived) {
    std::string json = kVersion1;
    for (size_t i = 0; i < json.size(); i++)
        for (const char byte : {'\0', '"', '{', '}', '[', ']', ',', '\\', '9', '-', '%', '\xff'}) {
            std::string damaged = json;
            damaged[i] = byte;
            SetUnderTest set;
            if (set.Open(damaged) == REFS_OK) {
                set.At("a/0.1");
                set.At("i");
            }
        }
}
