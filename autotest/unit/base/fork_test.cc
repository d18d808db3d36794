/* fork_test.cc -- fork(2) while threads hold locks, wait, and work. */
#include "forked.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "refs/fork.h"
#include "refs/pool.h"
#include "refs/vfs.h"

namespace {

/** Two numbers that are equal wherever their lock is free. */
class Pair {
  public:
    ~Pair() { pthread_mutex_destroy(&lock_); }

    void step() {
        refs_lock(&lock_);
        first_++;
        std::this_thread::yield();
        second_++;
        refs_unlock(&lock_);
    }
    void expectWhole() {
        refs_lock(&lock_);
        EXPECT_EQ(first_, second_);
        refs_unlock(&lock_);
    }

  private:
    pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
    int64_t first_ = 0, second_ = 0;
};

/** Enlisted from its beginning to its end. */
class Mended {
  public:
    Mended() { refs_fork_register(&entry_); }
    ~Mended() { refs_fork_unregister(&entry_); }
    int times = 0;

  private:
    static void inChildHook(void *self) { static_cast<Mended *>(self)->times++; }
    refs_forked entry_ = {inChildHook, this, nullptr, nullptr};
};

TEST(Fork, MendsWhatIsEnlistedInTheChildAlone) {
    Mended first, last;
    { const Mended gone; }
    EXPECT_TRUE(inChild([&] {
        EXPECT_EQ(first.times, 1);
        EXPECT_EQ(last.times, 1);
        EXPECT_TRUE(inChild([&] { EXPECT_EQ(first.times, 2); }));
    }));
    EXPECT_EQ(first.times, 0);
}

TEST(Fork, HappensWhileNoThreadHoldsALock) {
    const Mended any;
    Pair pair;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            while (!stop) pair.step();
        });
    for (int i = 0; i < 200; i++) ASSERT_TRUE(inChild([&] { pair.expectWhole(); }));
    stop = true;
    for (std::thread &thread : threads) thread.join();
}

TEST(Fork, MayHappenInSeveralThreadsAtOnce) {
    const Mended any;
    Pair pair;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 30; k++) {
                pair.step();
                EXPECT_TRUE(inChild([&] { pair.expectWhole(); }));
            }
        });
    for (std::thread &thread : threads) thread.join();
}

TEST(Fork, DoesNotWaitForAThreadThatWaits) {
    const Mended any;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    bool waits = false, done = false;
    std::thread waiting([&] {
        refs_lock(&lock);
        waits = true;
        while (!done) refs_wait(&changed, &lock);
        refs_unlock(&lock);
    });
    for (bool seen = false; !seen;) {
        refs_lock(&lock);
        seen = waits;
        refs_unlock(&lock);
    }
    EXPECT_TRUE(inChild([] {}));
    refs_lock(&lock);
    done = true;
    pthread_cond_broadcast(&changed);
    refs_unlock(&lock);
    waiting.join();
}

TEST(Fork, IsLeftToAHostThatForksWhileItIsCalled) {
    const Mended any;
    refs_fork_hold_off();
    EXPECT_TRUE(inChild([] {
        refs_fork_hold_off();
        refs_fork_allow();
        refs_fork_allow();
        EXPECT_TRUE(inChild([] {}));
    }));
    refs_fork_allow();
    EXPECT_TRUE(inChild([] {}));
}

/** A gate at which tasks wait. */
class Gate {
  public:
    void pass() {
        std::unique_lock<std::mutex> guard(lock_);
        nWaiting_++;
        moved_.notify_all();
        moved_.wait(guard, [&] { return open_; });
    }
    void awaitWaiting(int n) {
        std::unique_lock<std::mutex> guard(lock_);
        moved_.wait(guard, [&] { return nWaiting_ >= n; });
    }
    void open() {
        std::lock_guard<std::mutex> guard(lock_);
        open_ = true;
        moved_.notify_all();
    }

  private:
    std::mutex lock_;
    std::condition_variable moved_;
    int nWaiting_ = 0;
    bool open_ = false;
};

refs_status passGate(void *gate, refs_error *) {
    static_cast<Gate *>(gate)->pass();
    return REFS_OK;
}

refs_status countUp(void *counter, refs_error *) {
    ++*static_cast<std::atomic<int> *>(counter);
    return REFS_OK;
}

void expectToWork(refs_pool *pool) {
    std::atomic<int> counter{0};
    refs_group *group = nullptr;
    ASSERT_EQ(refs_group_open(pool, &group, nullptr), REFS_OK);
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(refs_group_add(group, countUp, nullptr, &counter, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_wait(group, nullptr), REFS_OK);
    refs_group_free(group);
    EXPECT_EQ(counter, 100);
}

TEST(Fork, LeavesTheChildAPoolThatStartsOver) {
    refs_pool *pool = nullptr;
    Gate gate;
    ASSERT_EQ(refs_pool_open(2, &pool, nullptr), REFS_OK);
    refs_group *group = nullptr;
    ASSERT_EQ(refs_group_open(pool, &group, nullptr), REFS_OK);
    for (int i = 0; i < 5; i++) /* two are at it, and three are queued */
        ASSERT_EQ(refs_group_add(group, passGate, nullptr, &gate, nullptr), REFS_OK);
    gate.awaitWaiting(2);
    EXPECT_TRUE(inChildOfThreads([&] {
        expectToWork(pool);
        refs_pool_free(pool);
    }));
    gate.open();
    refs_group_free(group);
    expectToWork(pool);
    refs_pool_free(pool);
}

} // namespace

TEST(Locks, AreCountedWhileTheirThreadHoldsThem) {
    pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed;
    refs_cond_init(&changed);
    EXPECT_EQ(refs_locks_held(), 0U);
    refs_lock(&one);
    EXPECT_EQ(refs_locks_held(), 1U);
    std::thread([] { EXPECT_EQ(refs_locks_held(), 0U); }).join();
    (void)refs_wait_ms(&changed, &one, 1);
    EXPECT_EQ(refs_locks_held(), 1U);
    refs_lock(&other);
    EXPECT_EQ(refs_locks_held(), 2U);
    refs_unlock(&one);
    refs_unlock(&other);
    EXPECT_EQ(refs_locks_held(), 0U);
    pthread_cond_destroy(&changed);
}

#if !defined(NDEBUG) && defined(REFS_ASSERT_LOCKS)
TEST(LocksDeathTest, EndTheProgramWhereAFileIsReadUnderOne) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const auto readUnderLock = [&] {
        void *handle = nullptr;
        refs_lock(&lock);
        (void)refs_vfs_posix()->open(nullptr, "/dev/null", &handle, nullptr);
    };
    EXPECT_DEATH(readUnderLock(), "n_locks");
}
#endif
