/* together_test.cc -- several arrays loaded in one fetch, for the reads that follow. */
#include "memory_array.h"
#include "remote_set.h"

#include <atomic>
#include <future>
#include <memory>

namespace {

struct FreeCache {
    void operator()(refs_cache *cache) const { refs_cache_free(cache); }
};

/** Arrays "a", "b" … of eight integers each, in chunks of two, that share a store and a cache. */
class Together : public testing::Test {
  protected:
    static constexpr size_t nChunks = 4;

    ~Together() override {
        for (refs_array *array : arrays) refs_array_free(array);
        refs_hierarchy_free(hierarchy_);
    }

    void put(const std::string &name) {
        names_.push_back(name);
        store.put(name + "/.zarray", R"({"zarr_format":2,"shape":[8],"chunks":[2],"dtype":"|u1",)"
                                     R"("order":"C","fill_value":9,"compressor":null,)"
                                     R"("filters":null})");
        for (char i = 0; i < static_cast<char>(nChunks); i++)
            store.put(name + "/" + std::string(1, static_cast<char>('0' + i)),
                      {static_cast<char>(2 * i), static_cast<char>(2 * i + 1)});
    }

    void open(size_t cacheBytes) {
        if (cacheBytes > 0) {
            refs_cache *opened = nullptr;
            ASSERT_EQ(refs_cache_open(cacheBytes, &opened, nullptr), REFS_OK);
            cache_.reset(opened);
        }
        ASSERT_EQ(refs_hierarchy_open(store.get(), nullptr, &hierarchy_, &error), REFS_OK);
        for (const std::string &name : names_) {
            const refs_array_context context = {store.get(), cache_.get(), nullptr, nullptr, 0, 0};
            arrays.push_back(nullptr);
            ASSERT_EQ(
                refs_array_open(&context,
                                refs_hierarchy_find_array(hierarchy_, refs_str_from(name.c_str())),
                                &arrays.back(), &error),
                REFS_OK);
        }
    }

    refs_array_stats stats(size_t i) const {
        refs_array_stats counts;
        refs_array_get_stats(arrays[i], &counts);
        return counts;
    }

    refs_status read(size_t i) {
        values.assign(8, -1);
        return refs_array_read_doubles(arrays[i], 8, values.data(), &error);
    }

    MemoryStore store;
    std::vector<refs_array *> arrays;
    std::vector<double> values;
    refs_error error = REFS_ERROR_INIT;

  private:
    std::unique_ptr<refs_cache, FreeCache> cache_;
    refs_hierarchy *hierarchy_ = nullptr;
    std::vector<std::string> names_;
};

const std::vector<double> counted = {0, 1, 2, 3, 4, 5, 6, 7};

} // namespace

TEST_F(Together, WaitsInTheCacheForTheReads) {
    put("a");
    put("b");
    open(1 << 20);
    refs_arrays_load(arrays.data(), arrays.size());
    for (size_t i = 0; i < arrays.size(); i++) {
        EXPECT_EQ(stats(i).chunks_decoded, nChunks);
        EXPECT_EQ(read(i), REFS_OK) << error.message;
        EXPECT_EQ(values, counted);
        EXPECT_EQ(stats(i).chunks_decoded, nChunks);
        EXPECT_EQ(stats(i).cache_hits, nChunks);
    }
}

TEST_F(Together, LeavesWhatDoesNotComeToTheReads) {
    put("a");
    put("b");
    store.put("b/2", "short of nothing");
    open(1 << 20);
    refs_arrays_load(arrays.data(), arrays.size());
    EXPECT_EQ(read(0), REFS_OK) << error.message;
    EXPECT_EQ(values, counted);
    EXPECT_NE(read(1), REFS_OK);
    EXPECT_NE(std::string(error.message).find("b/2"), std::string::npos) << error.message;
}

TEST_F(Together, LoadsNothingThatCannotBeKept) {
    put("a");
    open(0);
    refs_arrays_load(arrays.data(), arrays.size());
    EXPECT_EQ(stats(0).chunks_decoded, 0u) << "there is no cache";

    refs_array_stats counts = stats(0);
    EXPECT_EQ(counts.cache_hits, 0u);
    EXPECT_EQ(read(0), REFS_OK) << error.message;
    EXPECT_EQ(values, counted);
}

TEST_F(Together, LeavesOutWhatIsLargerThanTheCache) {
    put("a");
    open(3);
    refs_arrays_load(arrays.data(), arrays.size());
    EXPECT_EQ(stats(0).chunks_decoded, 0u);
}

namespace {

/** A store over the set of a server that reads references from files. */
class RemoteStore {
  public:
    RemoteStore() {
        EXPECT_EQ(refs_fetcher_open(vfs.get(), nullptr, &fetcher, nullptr), REFS_OK);
        EXPECT_EQ(refs_store_open(set, fetcher, &store, nullptr), REFS_OK);
    }
    ~RemoteStore() {
        refs_store_free(store);
        refs_fetcher_free(fetcher);
        refs_set_free(set);
    }
    RemoteStore(const RemoteStore &) = delete;
    RemoteStore &operator=(const RemoteStore &) = delete;

    std::atomic<unsigned> nLookups{0};
    refs_store *store = nullptr;

  private:
    MemoryVfs vfs;
    refs_set *set = remoteSet(&nLookups);
    refs_fetcher *fetcher = nullptr;
};

} // namespace

/* The thread that would look up references is held up by what others wait for. */
TEST(TogetherAhead, LookupsThatHaveNotBegunAreNotWaitedFor) {
    RemoteStore remote;
    refs_pool *pool = nullptr;
    refs_cache *cache = nullptr;
    refs_hierarchy *hierarchy = nullptr;
    refs_array *arrays[2] = {};
    std::promise<void> way;
    std::shared_future<void> opened = way.get_future().share();
    ASSERT_EQ(refs_pool_open(1, &pool, nullptr), REFS_OK);
    ASSERT_EQ(refs_cache_open(1 << 20, &cache, nullptr), REFS_OK);
    ASSERT_EQ(refs_hierarchy_open(remote.store, nullptr, &hierarchy, nullptr), REFS_OK);
    const refs_array_context context = {remote.store, cache, nullptr, pool, 0, 0};
    for (size_t i = 0; i < 2; i++)
        ASSERT_EQ(
            refs_array_open(&context,
                            refs_hierarchy_find_array(hierarchy, refs_str_from(i == 0 ? "a" : "b")),
                            &arrays[i], nullptr),
            REFS_OK);
    refs_pool_run(
        pool,
        [](void *way_, refs_error *) {
            static_cast<std::shared_future<void> *>(way_)->wait();
            return REFS_OK;
        },
        [](void *) {}, &opened);
    refs_arrays_load(arrays, 2);
    const unsigned n = remote.nLookups;
    EXPECT_EQ(n, 8u) << "those of the load: four chunks of each array";
    const std::future<void> closed = std::async(std::launch::async, [&] {
        for (refs_array *array : arrays) refs_array_free(array);
    });
    EXPECT_EQ(closed.wait_for(std::chrono::seconds(1)), std::future_status::ready);
    way.set_value();
    closed.wait();
    refs_pool_free(pool);
    EXPECT_EQ(remote.nLookups, n) << "lookups of closed arrays";
    refs_hierarchy_free(hierarchy);
    refs_cache_free(cache);
}
