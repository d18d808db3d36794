/* store_test.cc -- keys to bytes, by way of a set and files in memory. */
#include "memory_store.h"

#include <vector>

namespace {

class Store : public testing::Test {
  protected:
    void SetUp() override {
        files.vfs.files["d.bin"] = "0123456789";
        files.put("v/.zarray", "{}");
        files.put("v/empty", "");
        files.range("v/0", "d.bin", 2, 3);
        files.range("v/1", "d.bin", 5, 3);
        files.range("v/2", "d.bin", 8, 9);
        files.range("v/3", "d.bin", 1, 0);
        files.range("v/4", "gone.bin", 0, 4);
        files.whole("v/5", "d.bin");
    }

    refs_status get(const std::string &key, uint64_t max_size = 1000) {
        refs_buf buffer = REFS_BUF_INIT;
        refs_status status =
            refs_store_get(files.get(), MemoryStore::view(key), max_size, &buffer, &error);
        value.assign(reinterpret_cast<char *>(buffer.data), buffer.size);
        refs_buf_clear(&buffer);
        return status;
    }

    MemoryStore files;
    refs_error error = REFS_ERROR_INIT;
    std::string value;
};

TEST_F(Store, GetsInlineValuesRangesAndWholeLocations) {
    EXPECT_EQ(get("v/.zarray"), REFS_OK);
    EXPECT_EQ(value, "{}");
    EXPECT_EQ(get("v/0"), REFS_OK);
    EXPECT_EQ(value, "234");
    EXPECT_EQ(get("v/5"), REFS_OK);
    EXPECT_EQ(value, "0123456789");
}

TEST_F(Store, TellsAbsenceFromFailure) {
    EXPECT_EQ(get("v/6"), REFS_NOT_FOUND);
    EXPECT_EQ(error.status, REFS_OK);
    EXPECT_EQ(get("v/4"), REFS_IO);
    EXPECT_STREQ(error.message, "set.json: v/4: gone.bin [0+4]: gone.bin: there is no such file");
}

TEST_F(Store, NamesSetKeyUrlAndRangeOfAShortLocation) {
    EXPECT_EQ(get("v/2"), REFS_IO);
    EXPECT_STREQ(error.message,
                 "set.json: v/2: d.bin [8+9]: ends at byte 10, before the range [8+9] does");
}

TEST_F(Store, TakesNoEmptyValueForFill) {
    EXPECT_EQ(get("v/empty"), REFS_CORRUPT);
    EXPECT_STREQ(error.message, "set.json: v/empty: the set holds an empty value");
    refs_error_clear(&error);
    EXPECT_EQ(get("v/3"), REFS_CORRUPT);
    EXPECT_STREQ(error.message, "set.json: v/3: d.bin [1+0]: the range is empty");
}

TEST_F(Store, HoldsTheLimitOnAValue) {
    EXPECT_EQ(get("v/5", 9), REFS_LIMIT);
    EXPECT_STREQ(error.message, "set.json: v/5: d.bin: 10 bytes are more than the limit of 9");
}

/* Which no size_t of 32 bits holds. */
TEST_F(Store, TakesLimitsOfManyGigabytes) {
    EXPECT_EQ(get("v/5", (uint64_t{1} << 32) + 1), REFS_OK) << error.message;
    EXPECT_EQ(value, "0123456789");
}

TEST_F(Store, RefusesWhatIsTooLongUnread) {
    EXPECT_EQ(get("v/0", 2), REFS_LIMIT);
    EXPECT_STREQ(error.message, "set.json: v/0: d.bin [2+3]: 3 bytes are more than the limit of 2");
    refs_error_clear(&error);
    EXPECT_EQ(get("v/.zarray", 1), REFS_LIMIT);
    EXPECT_EQ(files.vfs.reads, 0);
}

struct Collected {
    std::vector<std::string> values;
    std::vector<bool> present;
};

refs_status collect(void *user, size_t index, bool present, refs_bytes bytes, refs_block *,
                    refs_error *) {
    auto *all = static_cast<Collected *>(user);
    all->values[index] = std::string(reinterpret_cast<const char *>(bytes.data), bytes.size);
    all->present[index] = present;
    return REFS_OK;
}

TEST_F(Store, GetsManyKeysByOnePlannedFetch) {
    const std::vector<std::string> names = {"v/1", "v/nothing", "v/0", ".zgroup", "v/.zarray"};
    std::vector<refs_store_key> keys;
    for (const auto &name : names) keys.push_back({MemoryStore::view(name), 100});
    Collected all{std::vector<std::string>(5), std::vector<bool>(5)};
    const refs_store_client client = {collect, &all, nullptr, nullptr};
    ASSERT_EQ(refs_store_get_many(files.get(), keys.data(), keys.size(), &client, &error), REFS_OK);
    EXPECT_EQ(all.values, (std::vector<std::string>{"567", "", "234", "", "{}"}));
    EXPECT_EQ(all.present, (std::vector<bool>{true, false, true, false, true}));
    EXPECT_EQ(files.stats().requests, 1u);
}

} // namespace
