// Memory that runs out: each allocation of opening a set fails once.

#include <gtest/gtest.h>

#include <cstdlib>

#include "parquet_under_test.h"

namespace {

int64_t until_failure = 0; // allocations
bool goes_on = false;      // whether all that follow fail too

bool Fails() {
    return goes_on ? until_failure-- <= 0 : until_failure-- == 0;
}

void *FailingMalloc(size_t size) {
    return Fails() ? nullptr : std::malloc(size);
}

void *FailingRealloc(void *memory, size_t size) {
    return Fails() ? nullptr : std::realloc(memory, size);
}

// Uses every way through the module; sets of the two versions.
const char kVersion1[] = R"({
    "junk": "first", "version": 1,
    "templates": {"u": "s3://b", "f": "{{c}}/{{'%03d' % 5}}{{'{:>4}'.format(c)}}"},
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

// Opens a parquet set and looks up rows of all kinds.
refs_status ReadParquetOnce() {
    ParquetUnderTest set;
    set.Array("a", "[4]", "[1]").Array("bad", "[4]", "[0]");
    set.Metadata("c/.zarray", R"("{\"shape\": [1], \"chunks\": [1]}")");
    set.Record("a/refs.0.parq", {Raw("x"), Range("s3://b/k", 1, 2), Whole("y.nc"), {}});
    set.rewrites = {"a=>b", "s3://b=>s3://c"};
    refs_status status = set.OpenFolder();
    for (const char *key : {"a/0", "a/1", "a/2"}) {
        refs_ref ref;
        if (status != REFS_OK) break;
        status = refs_set_find(set.set, View(key), &ref, nullptr);
        refs_ref_release(&ref);
    }
    return status;
}

// Fails every allocation of an attempt in turn; returns how many there are. MemoryVfs and the test
// itself allocate with new, which does not fail.
template <class Attempt> int64_t FailEach(Attempt attempt) {
    const refs_allocator failing = {FailingMalloc, FailingRealloc, std::free};
    refs_allocator_set(&failing);
    int64_t n = 0;
    do {
        until_failure = n;
        const refs_status status = attempt();
        EXPECT_TRUE(status == REFS_NOMEM || status == REFS_OK) << n;
    } while (until_failure < 0 && n++ < 10000);
    refs_allocator_set(nullptr);
    EXPECT_EQ(attempt(), REFS_OK);
    return n;
}

} // namespace

TEST(RefsetFaults, AreReportedForEveryAllocation) {
    for (bool go_on : {false, true}) {
        goes_on = go_on;
        EXPECT_GT(FailEach([] { return OpenOnce(kVersion1); }), 60);
        EXPECT_GT(FailEach([] { return OpenOnce(kVersion0); }), 20);
        EXPECT_GT(FailEach(ReadParquetOnce), 60);
    }
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
        for (const char byte : {'\0', '"', '}', '\\', '9', '%'}) {
            std::string damaged = json;
            damaged[i] = byte;
            SetUnderTest set;
            if (set.Open(damaged) == REFS_OK) {
                set.At("a/0.1");
                set.At("i");
            }
        }
}
