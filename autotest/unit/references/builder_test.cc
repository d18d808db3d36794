#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "set_under_test.h"

namespace {

// A set that is built key by key.
class RefsetBuilder : public testing::Test {
  protected:
    void SetUp() override { Start(nullptr); }
    void TearDown() override { refs_set_builder_free(builder_); }

    void Start(const refs_set_options *options) {
        refs_set_builder_free(builder_);
        ASSERT_EQ(refs_set_builder_open("dir/refs.json", options, &builder_, nullptr), REFS_OK);
    }
    refs_status Inline(const std::string &key, const std::string &bytes) {
        return refs_set_builder_inline(builder_, View(key),
                                       refs_bytes_view(bytes.data(), bytes.size()), &error_);
    }
    refs_status Range(const std::string &key, const std::string &url, uint64_t offset,
                      uint64_t length) {
        return refs_set_builder_range(builder_, View(key), View(url), {offset, length}, &error_);
    }
    void Finish() {
        ASSERT_EQ(refs_set_builder_finish(builder_, &set_.set, nullptr), REFS_OK);
        builder_ = nullptr;
    }

    refs_set_builder *builder_ = nullptr;
    refs_error error_ = REFS_ERROR_INIT;
    SetUnderTest set_;
};

// Counts what is allocated.
size_t live_bytes = 0, most_bytes = 0;

void *CountedRealloc(void *memory, size_t size) {
    const size_t before = memory != nullptr ? static_cast<size_t *>(memory)[-2] : 0;
    auto *block = static_cast<size_t *>(
        std::realloc(memory != nullptr ? static_cast<size_t *>(memory) - 2 : nullptr, size + 16));
    if (block == nullptr) return nullptr;
    block[0] = size;
    live_bytes += size - before;
    most_bytes = std::max(most_bytes, live_bytes);
    return block + 2;
}

void *CountedMalloc(size_t size) {
    return CountedRealloc(nullptr, size);
}

void CountedFree(void *memory) {
    live_bytes -= static_cast<size_t *>(memory)[-2];
    std::free(static_cast<size_t *>(memory) - 2);
}

} // namespace

TEST_F(RefsetBuilder, MakesASetOfEveryKind) {
    ASSERT_EQ(Inline("a/.zarray", "{}"), REFS_OK);
    ASSERT_EQ(Range("a/0", "s3://b/k", 7, 9), REFS_OK);
    ASSERT_EQ(refs_set_builder_whole(builder_, View("a/1"), View("x.nc"), nullptr), REFS_OK);
    ASSERT_EQ(
        refs_set_builder_broken(builder_, View("a/2"), REFS_UNSUPPORTED, "no such thing", nullptr),
        REFS_OK);
    Finish();
    EXPECT_EQ(set_.At("a/.zarray"), "\"{}\"");
    EXPECT_EQ(set_.At("a/0"), "[s3://b/k, 7, 9]");
    EXPECT_EQ(set_.At("a/1"), "[x.nc]");
    EXPECT_EQ(set_.At("a/2"), "not supported: no such thing");
    EXPECT_EQ(set_.At("a/3"), "absent");
    EXPECT_EQ(set_.LocationAt("a/0"), "/vsis3/b/k");
    EXPECT_EQ(set_.LocationAt("a/1"), "dir/x.nc");
    EXPECT_EQ(refs_set_size(set_.set), 4u);
    EXPECT_STREQ(refs_set_location(set_.set), "dir/refs.json");
}

TEST_F(RefsetBuilder, MakesAnEmptySet) {
    Finish();
    EXPECT_EQ(set_.At("a"), "absent");
    EXPECT_EQ(set_.At("a/0"), "absent");
    EXPECT_EQ(set_.Names(), "");
    EXPECT_EQ(refs_set_size(set_.set), 0u);
    EXPECT_EQ(refs_set_n_locations(set_.set), 0u);
}

TEST_F(RefsetBuilder, NumbersLocations) {
    ASSERT_EQ(Range("a/0", "s3://b/k", 0, 1), REFS_OK);
    ASSERT_EQ(Range("a/1", "s3a://b/k", 0, 1), REFS_OK);
    ASSERT_EQ(Range("a/2", "s3://b/l", 0, 1), REFS_OK);
    Finish();
    EXPECT_EQ(refs_set_n_locations(set_.set), 2u) << "two URLs mean one location";
    refs_ref first, second, third;
    ASSERT_EQ(refs_set_find(set_.set, View("a/0"), &first, nullptr), REFS_OK);
    ASSERT_EQ(refs_set_find(set_.set, View("a/1"), &second, nullptr), REFS_OK);
    ASSERT_EQ(refs_set_find(set_.set, View("a/2"), &third, nullptr), REFS_OK);
    EXPECT_EQ(first.location_id, second.location_id);
    EXPECT_NE(first.location_id, third.location_id);
    EXPECT_LT(third.location_id, 2u);
    EXPECT_STREQ(refs_set_location_at(set_.set, third.location_id), third.location);
    EXPECT_STREQ(second.url, "s3a://b/k");
}

TEST_F(RefsetBuilder, FailsOnlyWhereAUrlIsBad) {
    ASSERT_EQ(Range("a/0", "memory://x", 0, 1), REFS_OK);
    ASSERT_EQ(Range("a/1", "s3://b/k", 0, 1), REFS_OK);
    Finish();
    EXPECT_EQ(set_.At("a/0").substr(0, 15), "not supported: ");
    EXPECT_EQ(set_.At("a/1"), "[s3://b/k, 0, 1]");
}

TEST_F(RefsetBuilder, NamesWhatIsNoChunkInOrderOfArrival) {
    for (const char *key : {"x/.zarray", ".zgroup", "x/0.0", "x/.zattrs", "x/c/0/1", "x/c",
                            "x/70000.0.0.0", ".zgroup", "y"})
        ASSERT_EQ(Inline(key, ""), REFS_OK);
    Finish();
    EXPECT_EQ(set_.Names(), "x/.zarray .zgroup x/.zattrs x/c y ");
    EXPECT_EQ(refs_set_size(set_.set), 8u);
}

TEST_F(RefsetBuilder, StopsNamingWhenTheVisitorFails) {
    ASSERT_EQ(Inline("a", ""), REFS_OK);
    ASSERT_EQ(Inline("b", ""), REFS_OK);
    Finish();
    int n = 0;
    EXPECT_EQ(refs_set_each_name(
                  set_.set,
                  [](void *user, refs_str, refs_error *err) {
                      ++*static_cast<int *>(user);
                      return refs_fail(err, REFS_CANCELLED, "enough");
                  },
                  &n, nullptr),
              REFS_CANCELLED);
    EXPECT_EQ(n, 1);
}

TEST_F(RefsetBuilder, FindsTheSameWhateverTheOrder) {
    struct Reference {
        std::string key;
        uint64_t offset;
    };
    std::vector<Reference> references;
    for (uint64_t a = 0; a < 7; a++)
        for (uint64_t b = 0; b < 11; b++)
            for (uint64_t c = 0; c < 13; c++) {
                if ((a + b + c) % 5 == 4) continue; // not dense
                const std::string index =
                    std::to_string(a) + "." + std::to_string(b * 300) + "." + std::to_string(c);
                references.push_back({"v/" + index, a * 10000 + b * 100 + c});
            }
    std::mt19937 random(1);
    for (int round = 0; round < 3; round++) {
        if (round == 1) std::reverse(references.begin(), references.end());
        if (round == 2) std::shuffle(references.begin(), references.end(), random);
        Start(nullptr);
        for (const Reference &r : references) ASSERT_EQ(Range(r.key, "u", 0, 1), REFS_OK);
        for (const Reference &r : references) ASSERT_EQ(Range(r.key, "u", r.offset, 5), REFS_OK);
        Finish();
        EXPECT_EQ(refs_set_size(set_.set), references.size());
        for (const Reference &r : references)
            ASSERT_EQ(set_.At(r.key), "[u, " + std::to_string(r.offset) + ", 5]") << r.key;
        for (const char *key : {"v/0.0.4", "v/7.0.0", "v/0.1.0", "v/0.3300.0", "v/0.0.13", "v/0.0"})
            EXPECT_EQ(set_.At(key), "absent") << key;
        refs_set_free(set_.set);
        set_.set = nullptr;
    }
}

TEST_F(RefsetBuilder, FindsEveryCellOfAFullGrid) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 4; b++)
            ASSERT_EQ(Range("v/" + std::to_string(a) + "." + std::to_string(b), "u",
                            static_cast<uint64_t>(a * 4 + b), 1),
                      REFS_OK);
    Finish();
    EXPECT_EQ(set_.At("v/0.0"), "[u, 0, 1]");
    EXPECT_EQ(set_.At("v/2.3"), "[u, 11, 1]");
    EXPECT_EQ(set_.At("v/3.0"), "absent");
    EXPECT_EQ(set_.At("v/0.4"), "absent") << "which is not 1.0";
    EXPECT_EQ(set_.At("v/4294967296.0"), "absent");
}

TEST_F(RefsetBuilder, KeepsTablesApart) {
    for (const char *key : {"v/1.2", "v/1/2", "v/1", "w/1.2", "1.2", "v/1.2.0", "v/w/1.2"})
        ASSERT_EQ(Inline(key, key), REFS_OK);
    Finish();
    for (const std::string key : {"v/1.2", "v/1/2", "v/1", "w/1.2", "1.2", "v/1.2.0", "v/w/1.2"})
        EXPECT_EQ(set_.At(key), "\"" + key + "\"");
}

TEST_F(RefsetBuilder, ReplacesAKeyByAnyOtherKind) {
    ASSERT_EQ(Inline("k", "text"), REFS_OK);
    ASSERT_EQ(Range("k", "u", 1, 2), REFS_OK);
    ASSERT_EQ(Range("v/0", "u", 1, 5000000000), REFS_OK);
    ASSERT_EQ(refs_set_builder_broken(builder_, View("v/0"), REFS_INVALID, "bad", nullptr),
              REFS_OK);
    Finish();
    EXPECT_EQ(set_.At("k"), "[u, 1, 2]");
    EXPECT_EQ(set_.At("v/0"), "invalid: bad");
    EXPECT_EQ(refs_set_size(set_.set), 2u);
}

TEST_F(RefsetBuilder, LimitsReferences) {
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.limits.max_references = 2;
    Start(&options);
    ASSERT_EQ(Inline("a", ""), REFS_OK);
    ASSERT_EQ(Inline("b", ""), REFS_OK);
    EXPECT_EQ(Inline("c", ""), REFS_LIMIT);
    EXPECT_STREQ(error_.message, "limit of 2 references exceeded");
}

TEST_F(RefsetBuilder, LimitsInlineBytes) {
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.limits.max_value_bytes = 6;
    options.limits.max_inline_bytes = 10;
    Start(&options);
    EXPECT_EQ(Inline("a", "1234567"), REFS_LIMIT);
    EXPECT_EQ(Inline("b", "123456"), REFS_OK);
    EXPECT_EQ(Inline("c", "12345"), REFS_LIMIT);
    EXPECT_EQ(Inline("d", "1234"), REFS_OK);
    refs_error_clear(&error_);
    EXPECT_EQ(Range("e", "1234567", 0, 1), REFS_LIMIT);
    EXPECT_STREQ(error_.message, "a URL has 7 bytes, more than the limit of 6");
}

TEST_F(RefsetBuilder, AcceptsOptionsOfAnOlderCaller) {
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    options.struct_size = offsetof(refs_set_options, limits);
    options.limits.max_references = 0;
    Start(&options);
    EXPECT_EQ(Inline("a", ""), REFS_OK);
}

TEST(RefsetMemory, HoldsNoSecondCopyOfWhatComesSortedAsStrings) {
    const refs_allocator counted = {CountedMalloc, CountedRealloc, CountedFree};
    const uint64_t n = 250000;
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < n; i++)
        keys.push_back("v/" + std::to_string(i / 500) + "." + std::to_string(i % 500));
    std::sort(keys.begin(), keys.end());
    keys.push_back(keys[0]);
    keys.push_back(keys[1000]);
    refs_allocator_set(&counted);
    live_bytes = most_bytes = 0;
    refs_set_builder *builder = nullptr;
    refs_set *set = nullptr;
    EXPECT_EQ(refs_set_builder_open("refs.json", nullptr, &builder, nullptr), REFS_OK);
    for (size_t i = 0; i < keys.size(); i++)
        ASSERT_EQ(
            refs_set_builder_range(builder, View(keys[i]), View("s3://b/k"), {i, 100}, nullptr),
            REFS_OK);
    EXPECT_EQ(refs_set_builder_finish(builder, &set, nullptr), REFS_OK);
    EXPECT_EQ(refs_set_size(set), n);
    EXPECT_LT(most_bytes, n * 50) << "while it is built";
    for (size_t i = 0; i < keys.size(); i += i + 40 < n ? 40 : 1) {
        refs_ref ref;
        ASSERT_EQ(refs_set_find(set, View(keys[i]), &ref, nullptr), REFS_OK);
        const bool replaced = i == 0 || i == 1000;
        EXPECT_EQ(ref.offset == i, !replaced) << keys[i];
    }
    refs_set_free(set);
    EXPECT_EQ(live_bytes, 0u);
    refs_allocator_set(nullptr);
}

TEST(RefsetMemory, IsSixteenBytesForAReferenceOfAFullGrid) {
    const refs_allocator counted = {CountedMalloc, CountedRealloc, CountedFree};
    refs_allocator_set(&counted);
    live_bytes = most_bytes = 0;
    refs_set_builder *builder = nullptr;
    refs_set *set = nullptr;
    const uint64_t n = 200000;
    EXPECT_EQ(refs_set_builder_open("refs.json", nullptr, &builder, nullptr), REFS_OK);
    for (uint64_t i = 0; i < n; i++) {
        const std::string key = "v/" + std::to_string(i / 100) + "." + std::to_string(i % 100);
        ASSERT_EQ(refs_set_builder_range(builder, View(key), View("s3://bucket/file.nc"),
                                         {i * 100, 100}, nullptr),
                  REFS_OK);
    }
    EXPECT_EQ(refs_set_builder_finish(builder, &set, nullptr), REFS_OK);
    EXPECT_LT(live_bytes, n * 16 + 10000);
    EXPECT_LT(most_bytes, n * 40) << "while it is built";
    refs_set_free(set);
    EXPECT_EQ(live_bytes, 0u);
    refs_allocator_set(nullptr);
}

// Of eight dimensions the last may have 256 chunks: the indices of its rows count up without a gap.
TEST(RefsetMemory, TellsRowsApartWhoseIndicesCountUp) {
    refs_set_builder *builder = nullptr;
    refs_set *set = nullptr;
    const auto key = [](uint64_t i) {
        return "v/0.0.0.0.0.0." + std::to_string(i / 256) + "." + std::to_string(i % 256);
    };
    ASSERT_EQ(refs_set_builder_open("refs.json", nullptr, &builder, nullptr), REFS_OK);
    for (uint64_t i = 0; i < 512; i++)
        ASSERT_EQ(refs_set_builder_range(builder, View(key(i)), View("u"), {i, 100}, nullptr),
                  REFS_OK);
    ASSERT_EQ(refs_set_builder_finish(builder, &set, nullptr), REFS_OK);
    for (uint64_t i = 0; i < 512; i++) {
        refs_ref ref;
        ASSERT_EQ(refs_set_find(set, View(key(i)), &ref, nullptr), REFS_OK) << key(i);
        EXPECT_EQ(ref.offset, i) << key(i);
    }
    refs_set_free(set);
}

TEST(RefsetMemory, HoldsNoIndicesThatCountUp) {
    const refs_allocator counted = {CountedMalloc, CountedRealloc, CountedFree};
    const uint64_t n = 200000;
    for (const bool breaks_off : {false, true}) {
        refs_allocator_set(&counted);
        live_bytes = most_bytes = 0;
        refs_set_builder *builder = nullptr;
        refs_set *set = nullptr;
        const auto add = [&builder](uint64_t index, uint64_t offset) {
            ASSERT_EQ(refs_set_builder_range(builder, View("v/" + std::to_string(index)), View("u"),
                                             {offset, 100}, nullptr),
                      REFS_OK);
        };
        EXPECT_EQ(refs_set_builder_open("refs.json", nullptr, &builder, nullptr), REFS_OK);
        for (uint64_t i = 0; i < n; i++) add(i, i);
        EXPECT_LT(most_bytes, n * 25);
        add(7, 70);
        if (breaks_off) add(n + 1, n + 1);
        add(8, 80);
        EXPECT_EQ(refs_set_builder_finish(builder, &set, nullptr), REFS_OK);
        EXPECT_EQ(refs_set_size(set), n + (breaks_off ? 1 : 0));
        for (uint64_t i = 0; i < n + 3; i += i < 20 || i + 40 >= n ? 1 : 40) {
            refs_ref ref;
            const bool is_there = i < n || (breaks_off && i == n + 1);
            const std::string key = "v/" + std::to_string(i);
            ASSERT_EQ(refs_set_find(set, View(key), &ref, nullptr),
                      is_there ? REFS_OK : REFS_NOT_FOUND)
                << key;
            if (is_there) {
                EXPECT_EQ(ref.offset, i == 7 || i == 8 ? i * 10 : i) << key;
            }
        }
        refs_set_free(set);
        EXPECT_EQ(live_bytes, 0u);
        refs_allocator_set(nullptr);
    }
}
