/* store_test.cc -- keys to bytes, by way of a set and files in memory. */
#include "memory_store.h"
#include "parquet_writer.h"

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
    EXPECT_EQ(std::string(error.message).find("set.json: v/4: gone.bin [0+4]: no such "), 0u)
        << error.message;
}

TEST_F(Store, NamesSetKeyUrlAndRangeOfAShortLocation) {
    EXPECT_EQ(get("v/2"), REFS_CHANGED);
    EXPECT_EQ(
        std::string(error.message)
            .find("set.json: v/2: d.bin [8+9]: the file has only 10 bytes: expected bytes 8 to 16"),
        0u)
        << error.message;
}

TEST_F(Store, KnowsLocalKeys) {
    EXPECT_FALSE(refs_store_is_local(files.get(), MemoryStore::view("v/0")));
    files.vfs.near = true;
    EXPECT_TRUE(refs_store_is_local(files.get(), MemoryStore::view("v/0")));
    EXPECT_FALSE(refs_store_is_local(files.get(), MemoryStore::view("v/.zarray"))) << "in the set";
    EXPECT_FALSE(refs_store_is_local(files.get(), MemoryStore::view("v/6"))) << "absent";
}

/** How many files are opened to know whether the first chunk of a Parquet set is local. */
int opens_to_know(const std::string &location, bool near, bool expected) {
    MemoryVfs vfs;
    vfs.files[location + "/.zmetadata"] =
        R"({"metadata":{"v/.zarray":{"shape":[2],"chunks":[1]}},"record_size":2})";
    vfs.files[location + "/v/refs.0.parq"] =
        parquet::File({parquet::Strings("path", {"/d", "/d"}), parquet::Integers("offset", {0, 1}),
                       parquet::Integers("size", {1, 1})});
    vfs.near = near;
    refs_set *set = nullptr;
    refs_fetcher *fetcher = nullptr;
    refs_store *store = nullptr;
    EXPECT_EQ(refs_set_open(vfs.get(), location.c_str(), nullptr, &set, nullptr), REFS_OK);
    EXPECT_EQ(refs_fetcher_open(vfs.get(), nullptr, &fetcher, nullptr), REFS_OK);
    EXPECT_EQ(refs_store_open(set, fetcher, &store, nullptr), REFS_OK);
    const int opened = vfs.opens;
    EXPECT_EQ(refs_store_is_local(store, MemoryStore::view("v/0")), expected) << location;
    refs_store_free(store);
    refs_fetcher_free(fetcher);
    refs_set_free(set);
    return vfs.opens - opened;
}

TEST(ParquetStore, ReadsNoRecordFileFromElsewhereToKnowLocalKeys) {
    EXPECT_EQ(opens_to_know("set.parq", true, true), 1);
    EXPECT_EQ(opens_to_know("set.parq", false, false), 0);
    EXPECT_EQ(opens_to_know("http://host/set.parq", true, false), 0);
}

TEST_F(Store, TakesNoEmptyValueForFill) {
    EXPECT_EQ(get("v/empty"), REFS_CORRUPT);
    EXPECT_STREQ(error.message, "set.json: v/empty: the inline value is empty");
    refs_error_clear(&error);
    EXPECT_EQ(get("v/3"), REFS_CORRUPT);
    EXPECT_STREQ(error.message, "set.json: v/3: d.bin [1+0]: the byte range is empty");
}

TEST_F(Store, HoldsTheLimitOnAValue) {
    EXPECT_EQ(get("v/5", 9), REFS_LIMIT);
    EXPECT_EQ(std::string(error.message).find("set.json: v/5: d.bin: 10 bytes are more than"), 0u)
        << error.message;
}

/* Which no size_t of 32 bits holds. */
TEST_F(Store, TakesLimitsOfManyGigabytes) {
    EXPECT_EQ(get("v/5", (uint64_t{1} << 32) + 1), REFS_OK) << error.message;
    EXPECT_EQ(value, "0123456789");
}

TEST_F(Store, RefusesWhatIsTooLongUnread) {
    EXPECT_EQ(get("v/0", 2), REFS_LIMIT);
    EXPECT_EQ(std::string(error.message).find("set.json: v/0: d.bin [2+3]: 3 bytes are more "), 0u)
        << error.message;
    refs_error_clear(&error);
    EXPECT_EQ(get("v/.zarray", 1), REFS_LIMIT);
    EXPECT_EQ(files.vfs.reads, 0);
}

struct Collected {
    std::vector<std::string> values;
    std::vector<bool> present;
};

refs_status collect(void *user, size_t index, const refs_store_value *value, refs_error *) {
    auto *all = static_cast<Collected *>(user);
    all->values[index] =
        std::string(reinterpret_cast<const char *>(value->bytes.data), value->bytes.size);
    all->present[index] = value->is_present;
    return REFS_OK;
}

TEST_F(Store, GetsManyKeysByOnePlannedFetch) {
    const std::vector<std::string> names = {"v/1", "v/nothing", "v/0", ".zgroup", "v/.zarray"};
    std::vector<refs_store_key> keys;
    for (const auto &name : names) keys.push_back({MemoryStore::view(name), 100, {}, nullptr});
    Collected all{std::vector<std::string>(5), std::vector<bool>(5)};
    const refs_store_client client = {collect, &all};
    ASSERT_EQ(refs_store_get_many(files.get(), keys.data(), keys.size(), &client, &error), REFS_OK);
    EXPECT_EQ(all.values, (std::vector<std::string>{"567", "", "234", "", "{}"}));
    EXPECT_EQ(all.present, (std::vector<bool>{true, false, true, false, true}));
    EXPECT_EQ(files.stats().requests, 1u);
}

/** What is read of a key, or the message. */
class StoreParts : public Store {
  protected:
    std::string part(const std::string &key, uint64_t begin, uint64_t length) {
        const refs_store_key wanted = {MemoryStore::view(key), 1000, {begin, length, 0}, nullptr};
        Collected all{std::vector<std::string>(1), std::vector<bool>(1)};
        const refs_store_client client = {collect, &all};
        refs_error_clear(&error);
        const refs_status status = refs_store_get_many(files.get(), &wanted, 1, &client, &error);
        return status == REFS_OK ? all.values[0] : error.message;
    }
    /** "3 bytes", "at hand" before those of the set. */
    std::string extentOf(const std::string &key) {
        refs_store_extent extent;
        const refs_status status =
            refs_store_measure(files.get(), MemoryStore::view(key), &extent, &error);
        if (status == REFS_NOT_FOUND) return "absent";
        if (status != REFS_OK) return error.message;
        if (extent.size == REFS_STORE_UNKNOWN) return "unknown";
        return (extent.is_at_hand ? "at hand, " : "") + std::to_string(extent.size) + " bytes";
    }
};

TEST_F(StoreParts, GetsPartsOfInlineValuesRangesAndWholeLocations) {
    EXPECT_EQ(part("v/.zarray", 1, 1), "}");
    EXPECT_EQ(part("v/0", 1, 2), "34");
    EXPECT_EQ(part("v/0", 0, 1), "2");
    EXPECT_EQ(part("v/5", 3, 4), "3456");
    EXPECT_EQ(part("v/5", 0, 0), "0123456789");
    EXPECT_EQ(files.stats().bytes, 17u);
}

TEST_F(StoreParts, RefusesPartsOutsideOfTheValue) {
    EXPECT_EQ(part("v/0", 1, 3),
              "set.json: v/0: d.bin [2+3]: bytes [1+3] lie outside the object of 3 bytes");
    EXPECT_EQ(part("v/0", UINT64_MAX, 2),
              "set.json: v/0: d.bin [2+3]: bytes [18446744073709551615+2] lie outside the object "
              "of 3 bytes");
    EXPECT_EQ(part("v/.zarray", 0, 3),
              "set.json: v/.zarray: bytes [0+3] lie outside the object of 2 bytes");
    EXPECT_EQ(files.vfs.reads, 0);
    const std::string behind = part("v/5", 8, 3);
    EXPECT_EQ(behind.find(
                  "set.json: v/5: d.bin [8+3]: the file has only 10 bytes: expected bytes 8 to 10"),
              0u)
        << behind;
    EXPECT_EQ(part("v/5", 2, UINT64_MAX - 1),
              "set.json: v/5: d.bin: offset 2 and length 18446744073709551614 overflow");
    EXPECT_EQ(part("v/0", 2, 0), "set.json: v/0: d.bin [4+0]: the byte range is empty");
}

TEST_F(StoreParts, TellsTheSizeOfAValueUnread) {
    EXPECT_EQ(extentOf("v/.zarray"), "at hand, 2 bytes");
    EXPECT_EQ(extentOf("v/0"), "3 bytes");
    EXPECT_EQ(extentOf("v/5"), "unknown");
    EXPECT_EQ(extentOf("v/6"), "absent");
    EXPECT_EQ(files.vfs.reads, 0);
}

} // namespace
