/* claims_test.cc -- what one reader loads, another one can read meanwhile. */
#include "memory_array.h"

#include <chrono>
#include <future>

namespace {

constexpr uint64_t steps = 64;

/** One chunk in a file of its own for each step. */
class Claims : public testing::Test {
  protected:
    void SetUp() override {
        for (uint64_t t = 0; t < steps; t++) {
            const std::string file = std::to_string(t) + ".bin";
            v.store.range("v/" + std::to_string(t), file, 0, 4);
            v.store.vfs.files[file] = littleEndian<int32_t>({static_cast<int32_t>(t)});
        }
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[64],"chunks":[1],"order":"C",
            "dtype":"<i4","fill_value":-1,"compressor":null,"filters":null})");
        v.store.vfs.onOpen = [this](const std::string &name) {
            if (name != "0.bin") return;
            isAsked.set_value();
            held.wait();
        };
        ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
        v.open(cache);
    }
    void TearDown() override {
        v.close();
        refs_cache_free(cache);
    }

    int32_t read(uint64_t t) {
        int32_t value = -7;
        const uint64_t count = 1;
        const refs_region region = {&t, &count, nullptr};
        EXPECT_EQ(refs_array_read(v.array, &region, &value, nullptr, nullptr), REFS_OK);
        return value;
    }

    refs_status readAll() {
        std::vector<int32_t> values(steps, -7);
        const uint64_t start = 0, count = steps;
        const refs_region region = {&start, &count, nullptr};
        const refs_status status =
            refs_reader_read(v.reader, &region, values.data(), nullptr, nullptr);
        for (uint64_t t = 0; t < steps; t++) EXPECT_EQ(values[t], static_cast<int32_t>(t));
        return status;
    }

    MemoryArray v;
    refs_cache *cache = nullptr;
    std::promise<void> isAsked, letGo;
    std::shared_future<void> held = letGo.get_future().share();
};

} // namespace

TEST_F(Claims, LeaveChunksFreeThatAreNotRequestedYet) {
    auto all = std::async(std::launch::async, [this] { return readAll(); });
    isAsked.get_future().wait();
    auto last = std::async(std::launch::async, [this] { return read(steps - 1); });
    EXPECT_EQ(last.wait_for(std::chrono::seconds(20)), std::future_status::ready)
        << "it waits for what was not requested";
    letGo.set_value();
    EXPECT_EQ(last.get(), static_cast<int32_t>(steps) - 1);
    EXPECT_EQ(all.get(), REFS_OK);
    EXPECT_EQ(v.store.stats().requests, steps) << "the large read finds what the small one loaded";
}

/* Of one file: the second reader waits for the first one's request. */
TEST_F(Claims, AreWaitedForWhileTheirRequestIsUnderWay) {
    auto all = std::async(std::launch::async, [this] { return readAll(); });
    isAsked.get_future().wait();
    auto first = std::async(std::launch::async, [this] { return read(0); });
    EXPECT_EQ(first.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    letGo.set_value();
    EXPECT_EQ(first.get(), 0);
    EXPECT_EQ(all.get(), REFS_OK);
    EXPECT_EQ(v.store.stats().requests, steps);
}
