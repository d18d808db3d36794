// Record files in memory: read once, by one thread, while the others go on.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <thread>

extern "C" {
#include "record.h"
#include "refs/cancel.h"
}
#include "forked.h"
#include "parquet_under_test.h"

namespace {

// Hands out records of one row, and counts.
class Cache {
  public:
    explicit Cache(size_t max_bytes = SIZE_MAX) {
        vfs_.files["record"] = RecordFile({Raw("x")});
        EXPECT_EQ(refs_block_cache_open(max_bytes, Load, this, &cache_, nullptr), REFS_OK);
    }
    Cache(const Cache &) = delete;
    Cache &operator=(const Cache &) = delete;
    ~Cache() { refs_block_cache_free(cache_); }

    // The first row of a record, "none" where there is no file, or the error.
    std::string Get(uint64_t number, uint32_t array = 0) {
        refs_block *record = nullptr;
        refs_error err = REFS_ERROR_INIT;
        if (refs_block_cache_get(cache_, {array, number}, &record, &err) != REFS_OK)
            return err.message;
        if (record == nullptr) return "none";
        refs_record_row row;
        EXPECT_EQ(refs_references__record_row(refs_references__record_of(record), 0, &row, nullptr),
                  REFS_OK);
        const std::string text(reinterpret_cast<const char *>(row.bytes.data), row.bytes.size);
        refs_block_release(record);
        return text;
    }

    int Loads(uint64_t number, uint32_t array = 0) {
        std::lock_guard<std::mutex> guard(lock_);
        return loads_[{array, number}];
    }

    // Numbers whose loading waits until they are let go.
    void Block(uint64_t number, bool blocked = true) { blocked_[number] = blocked; }
    void LetGo(uint64_t number) {
        std::lock_guard<std::mutex> guard(lock_);
        blocked_[number] = false;
        moved_.notify_all();
    }
    void WaitForLoad(uint64_t number) {
        std::unique_lock<std::mutex> guard(lock_);
        moved_.wait(guard, [&] { return loads_[{0, number}] > 0; });
    }

    uint64_t absent = UINT64_MAX, failing = UINT64_MAX, cancelled = UINT64_MAX;
    uint64_t nested = UINT64_MAX; // that is asked for once more while it is loaded, on that thread

  private:
    static refs_status Load(void *user, refs_block_id id, refs_loaded_block *record,
                            refs_error *err) {
        auto *self = static_cast<Cache *>(user);
        std::unique_lock<std::mutex> guard(self->lock_);
        self->loads_[{id.group, id.number}]++;
        self->moved_.notify_all();
        self->moved_.wait(guard, [&] { return !self->blocked_[id.number]; });
        if (self->nested == id.number) {
            self->nested = UINT64_MAX;
            guard.unlock();
            EXPECT_EQ(self->Get(id.number), "x");
            guard.lock();
        }
        if (id.number == self->absent) return REFS_OK;
        if (id.number == self->failing) return refs_fail(err, REFS_IO, "the line is cut");
        if (id.number == self->cancelled && self->loads_[{id.group, id.number}] == 1)
            return refs_fail(err, REFS_CANCELLED, "cancelled");
        return refs_references__record_open(self->vfs_.get(), "record", UINT64_MAX, record, err);
    }

    MemoryVfs vfs_;
    refs_block_cache *cache_ = nullptr;
    std::mutex lock_;
    std::condition_variable moved_;
    std::map<std::pair<uint32_t, uint64_t>, int> loads_;
    std::map<uint64_t, bool> blocked_;
};

// What a record and its place cost.
size_t Cost() {
    MemoryVfs vfs;
    vfs.files["record"] = RecordFile({Raw("x")});
    refs_loaded_block record = {nullptr, 0};
    EXPECT_EQ(refs_references__record_open(vfs.get(), "record", UINT64_MAX, &record, nullptr),
              REFS_OK);
    refs_block_release(record.block);
    return record.n_bytes + sizeof(refs_error);
}

TEST(ParquetCache, ChildOfAForkReadsWhatItsParentWasReading) {
    Cache cache;
    cache.Block(1);
    std::thread reader([&] { EXPECT_EQ(cache.Get(1), "x"); });
    cache.WaitForLoad(1);
    EXPECT_TRUE(inChild([&] {
        cache.Block(1, false);
        EXPECT_EQ(cache.Get(1), "x");
    }));
    cache.LetGo(1);
    reader.join();
}

} // namespace

TEST(ParquetCache, LoadsEachRecordOnce) {
    Cache cache;
    cache.absent = 7;
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(cache.Get(1), "x");
        EXPECT_EQ(cache.Get(1, 5), "x");
        EXPECT_EQ(cache.Get(7), "none");
    }
    EXPECT_EQ(cache.Loads(1), 1);
    EXPECT_EQ(cache.Loads(1, 5), 1);
    EXPECT_EQ(cache.Loads(7), 1) << "that there is no file is remembered too";
}

TEST(ParquetCache, RemembersNoFailure) {
    Cache cache;
    cache.failing = 1;
    EXPECT_EQ(cache.Get(1), "the line is cut");
    cache.failing = 2;
    EXPECT_EQ(cache.Get(1), "x");
}

// Another reader that was cancelled says nothing of this one.
TEST(ParquetCache, LoadsAgainWhatACancelledReaderLeft) {
    Cache cache;
    cache.cancelled = 1;
    cache.Block(1);
    std::thread first([&] { EXPECT_EQ(cache.Get(1), "cancelled"); });
    cache.WaitForLoad(1);
    auto second = std::async(std::launch::async, [&] { return cache.Get(1); });
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    cache.LetGo(1);
    first.join();
    EXPECT_EQ(second.get(), "x");
    EXPECT_EQ(cache.Loads(1), 2);
}

TEST(ParquetCache, IsNotAwaitedByAReaderThatIsCancelled) {
    Cache cache;
    cache.Block(1);
    std::thread first([&] { EXPECT_EQ(cache.Get(1), "x"); });
    cache.WaitForLoad(1);
    refs_cancel_scope scope;
    refs_cancel_scope_begin(&scope, {[](void *) { return false; }, nullptr});
    EXPECT_EQ(cache.Get(1), "cancelled");
    refs_cancel_scope_end(&scope);
    cache.LetGo(1);
    first.join();
    EXPECT_EQ(cache.Get(1), "x");
    EXPECT_EQ(cache.Loads(1), 1);
}

// As by a progress callback that reads.
TEST(ParquetCache, IsNotAwaitedByItsOwnLoader) {
    Cache cache;
    cache.nested = 1;
    EXPECT_EQ(cache.Get(1), "x");
    EXPECT_EQ(cache.Loads(1), 2);
    EXPECT_EQ(cache.Get(1), "x");
    EXPECT_EQ(cache.Loads(1), 2);
}

TEST(ParquetCache, LetsTheLeastRecentlyUsedGo) {
    Cache cache(3 * Cost() + Cost() / 2);
    for (const uint64_t number : {1, 2, 3, 1, 4}) cache.Get(number);
    for (const uint64_t number : {1, 3, 4}) cache.Get(number);
    EXPECT_EQ(cache.Loads(1), 1);
    EXPECT_EQ(cache.Loads(3), 1);
    cache.Get(2);
    EXPECT_EQ(cache.Loads(2), 2);
    cache.Get(1);
    EXPECT_EQ(cache.Loads(1), 2) << "it was the least recently used when 2 came again";
}

TEST(ParquetCache, KeepsTheLastOneWhateverItsSize) {
    Cache cache(0);
    for (const uint64_t number : {1, 1, 2, 2, 1}) EXPECT_EQ(cache.Get(number), "x");
    EXPECT_EQ(cache.Loads(1), 2);
    EXPECT_EQ(cache.Loads(2), 1);
}

TEST(ParquetCache, HoldsManyRecords) {
    Cache cache;
    for (int i = 0; i < 2; i++)
        for (uint64_t number = 0; number < 10000; number++)
            ASSERT_EQ(cache.Get(number, static_cast<uint32_t>(number % 3)), "x");
    for (uint64_t number = 0; number < 10000; number++)
        ASSERT_EQ(cache.Loads(number, static_cast<uint32_t>(number % 3)), 1);
}

TEST(ParquetCache, LetsOthersGoOnWhileARecordIsLoaded) {
    Cache cache;
    EXPECT_EQ(cache.Get(1), "x");
    cache.Block(2);
    std::thread slow([&] { EXPECT_EQ(cache.Get(2), "x"); });
    cache.WaitForLoad(2);
    EXPECT_EQ(cache.Get(1), "x") << "one that is there";
    EXPECT_EQ(cache.Get(3), "x") << "and one that is not";
    cache.LetGo(2);
    slow.join();
}

TEST(ParquetCache, LoadsOnceForAllWhoWait) {
    Cache cache;
    cache.Block(2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back([&] { EXPECT_EQ(cache.Get(2), "x"); });
    cache.WaitForLoad(2);
    cache.LetGo(2);
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(cache.Loads(2), 1);
}

TEST(ParquetCache, TellsAllWhoWaitOfAFailure) {
    Cache cache;
    cache.failing = 2;
    cache.Block(2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] { EXPECT_EQ(cache.Get(2), "the line is cut"); });
    cache.WaitForLoad(2);
    cache.LetGo(2);
    for (std::thread &thread : threads) thread.join();
}

TEST(ParquetCache, ServesThoseWhoWaitedForWhatHadToGoAtOnce) {
    Cache cache(0);
    cache.Block(2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            EXPECT_EQ(cache.Get(2), "x");
            EXPECT_EQ(cache.Get(3), "x") << "which drops the other";
        });
    cache.WaitForLoad(2);
    cache.LetGo(2);
    for (std::thread &thread : threads) thread.join();
}

TEST(ParquetCache, ServesManyThreads) {
    Cache cache(5 * Cost());
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < 4; thread++)
        threads.emplace_back([&cache, thread] {
            for (uint64_t i = 0; i < 500; i++) EXPECT_EQ(cache.Get((i * 7 + thread) % 13), "x");
        });
    for (std::thread &thread : threads) thread.join();
}

// -- servers -------------------------------------------------------------------------------------

namespace {

// A set on a server whose record files are younger than its metadata. When it is asked for the
// validators of these again, it answers once a process was forked, or after five seconds.
class SlowServer : public ParquetUnderTest {
  public:
    SlowServer() : ParquetUnderTest("https://h/dir.parq") {
        Array("a", "[1]", "[1]").Record("a/refs.0.parq", {Raw("x")});
        server_ = *vfs.get();
        server_.validators = Validators;
        self_ = this;
    }
    refs_status OpenFolder() {
        const refs_status status = ParquetUnderTest::OpenFolder();
        EXPECT_EQ(status, REFS_OK) << error.message;
        refs_set_free(set);
        set = nullptr;
        n_asked_ = 0;
        return refs_set_open(&server_, location.c_str(), &options, &set, &error);
    }
    bool has_forked = false;

  private:
    static refs_status Validators(void *, const char *location, refs_vfs_validators *validators,
                                  refs_error *) {
        const bool is_metadata = strstr(location, ".zmetadata") != nullptr;
        *validators = {};
        validators->modified_s = is_metadata ? 1000000000 : 1100000000;
        if (!is_metadata || self_->n_asked_++ == 0) return REFS_OK;
        std::promise<void> forked;
        std::future<void> is_forked = forked.get_future();
        self_->forking_ = std::thread([&forked] {
            EXPECT_TRUE(inChild([] {}));
            forked.set_value();
        });
        self_->has_forked =
            is_forked.wait_for(std::chrono::seconds(60)) == std::future_status::ready;
        if (self_->has_forked) self_->forking_.join();
        return REFS_OK;
    }

    static SlowServer *self_;
    refs_vfs server_{};
    std::thread forking_;
    int n_asked_ = 0;
};
SlowServer *SlowServer::self_ = nullptr;

} // namespace

TEST(ParquetCache, LetsProcessesForkWhileAServerIsAskedForTheStateOfASet) {
    SlowServer served;
    ASSERT_EQ(served.OpenFolder(), REFS_OK) << served.error.message;
    EXPECT_EQ(served.At("a/0"), "\"x\"");
    if (!served.has_forked) {
        fprintf(stderr, "fork(2) waits for the server\n");
        abort(); // a thread is still at it
    }
}
