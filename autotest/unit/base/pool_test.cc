/* pool_test.cc -- worker threads, and who does what. */
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "refs/pool.h"

namespace {

/** A gate that tasks wait at until it is opened. */
struct Gate {
    std::mutex lock;
    std::condition_variable moved;
    bool open = false;
    int waiting = 0;

    void wait() {
        std::unique_lock<std::mutex> guard(lock);
        waiting++;
        moved.notify_all();
        moved.wait(guard, [this] { return open; });
    }
    void awaitWaiter() {
        std::unique_lock<std::mutex> guard(lock);
        moved.wait(guard, [this] { return waiting > 0; });
    }
    void letAllPass() {
        std::lock_guard<std::mutex> guard(lock);
        open = true;
        moved.notify_all();
    }
};

/** Which threads were at work, and how often. */
struct Work {
    std::mutex lock;
    std::set<pthread_t> threads;
    int done = 0;
    std::atomic<int> dropped{0};
};

refs_status note(void *argument, refs_error *) {
    auto *work = static_cast<Work *>(argument);
    std::lock_guard<std::mutex> guard(work->lock);
    work->threads.insert(pthread_self());
    work->done++;
    return REFS_OK;
}

refs_status fail(void *, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "no good");
}

refs_status passGate(void *argument, refs_error *) {
    static_cast<Gate *>(argument)->wait();
    return REFS_OK;
}

refs_status openGate(void *argument, refs_error *) {
    static_cast<Gate *>(argument)->letAllPass();
    return REFS_OK;
}

void drop(void *argument) {
    static_cast<Work *>(argument)->dropped++;
}

class Pool : public testing::Test {
  protected:
    void open(unsigned nThreads) { ASSERT_EQ(refs_pool_open(nThreads, &pool_, nullptr), REFS_OK); }
    refs_group *group() {
        refs_group *opened = nullptr;
        EXPECT_EQ(refs_group_open(pool_, &opened, nullptr), REFS_OK);
        return opened;
    }
    void TearDown() override { refs_pool_free(pool_); }

    refs_pool *pool_ = nullptr;
    Work work_;
};

TEST_F(Pool, DoesEveryTaskOnceAndDropsIt) {
    open(3);
    refs_group *tasks = group();
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(refs_group_add(tasks, note, drop, &work_, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_wait(tasks, nullptr), REFS_OK);
    EXPECT_EQ(work_.done, 100);
    EXPECT_EQ(work_.dropped, 100);
    refs_group_free(tasks);
}

TEST_F(Pool, LeavesTasksToItsWorkers) {
    open(2);
    refs_group *tasks = group();
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(refs_group_add(tasks, note, nullptr, &work_, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_wait(tasks, nullptr), REFS_OK);
    EXPECT_EQ(work_.threads.count(pthread_self()), 0U);
    EXPECT_LE(work_.threads.size(), 2U);
    refs_group_free(tasks);
}

/* The only worker is held up by the first task of another group, whose second opens the way: unless
 * whoever waits does its own, which come after them, nothing ever moves. */
TEST_F(Pool, LendsAHandWhereWorkersAreBusyWithOthers) {
    open(1);
    Gate gate;
    refs_group *others = group(), *own = group();
    EXPECT_EQ(refs_group_add(others, passGate, nullptr, &gate, nullptr), REFS_OK);
    gate.awaitWaiter();
    EXPECT_EQ(refs_group_add(others, note, nullptr, &work_, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_add(own, openGate, nullptr, &gate, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_wait(own, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_wait(others, nullptr), REFS_OK);
    EXPECT_EQ(work_.done, 1);
    refs_group_free(own);
    refs_group_free(others);
}

bool isOfUser(const void *argument, const void *user) {
    return argument == user;
}

TEST_F(Pool, WithdrawsWhatHasNotBegun) {
    open(1);
    Gate gate;
    Work others;
    refs_group *tasks = group();
    refs_pool_run(
        pool_, passGate, [](void *) {}, &gate);
    gate.awaitWaiter();
    for (int i = 0; i < 3; i++) {
        refs_pool_run(pool_, note, drop, &work_);
        refs_pool_run(pool_, note, drop, &others);
    }
    EXPECT_EQ(refs_group_add(tasks, note, drop, &work_, nullptr), REFS_OK);
    refs_pool_withdraw(pool_, drop, isOfUser, &work_);
    EXPECT_EQ(work_.dropped, 3) << "while the only worker is held up";
    EXPECT_EQ(others.dropped, 0);
    refs_pool_withdraw(
        pool_, [](void *) {}, isOfUser, &others);
    refs_pool_withdraw(
        pool_, [](void *) {}, isOfUser, &gate);
    gate.letAllPass();
    EXPECT_EQ(refs_group_wait(tasks, nullptr), REFS_OK);
    refs_group_free(tasks);
    while (others.dropped < 3) std::this_thread::yield();
    EXPECT_EQ(others.done, 3) << "those of others, in the way of others";
    EXPECT_EQ(work_.done, 1) << "the task of the group, which somebody waits for";
}

TEST_F(Pool, GoesOnAfterItsLastTaskWasWithdrawn) {
    open(1);
    Gate gate;
    refs_pool_run(
        pool_, passGate, [](void *) {}, &gate);
    gate.awaitWaiter();
    Work last;
    refs_pool_run(pool_, note, drop, &last);
    refs_pool_withdraw(pool_, drop, isOfUser, &last);
    refs_pool_run(pool_, note, drop, &work_);
    gate.letAllPass();
    while (work_.dropped < 1) std::this_thread::yield();
    EXPECT_EQ(last.done, 0);
}

/** Tasks of one thread, in the order in which they were done. */
struct Order {
    std::mutex lock;
    std::condition_variable moved;
    std::string done;

    void note(char task) {
        std::lock_guard<std::mutex> guard(lock);
        done += task;
        moved.notify_all();
    }
    std::string await(size_t n) {
        std::unique_lock<std::mutex> guard(lock);
        moved.wait(guard, [&] { return done.size() == n; });
        return done;
    }
};

template <char task> refs_status noteTask(void *order, refs_error *) {
    static_cast<Order *>(order)->note(task);
    return REFS_OK;
}

TEST_F(Pool, DoesFirstWhatSomebodyWaitsFor) {
    open(1);
    Gate gate;
    Order order;
    refs_group *early = group(), *awaited = group();
    refs_group_prefer(
        awaited, [](const void *) { return true; }, nullptr);
    EXPECT_EQ(refs_group_add(early, passGate, nullptr, &gate, nullptr), REFS_OK);
    gate.awaitWaiter();
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(refs_group_add(early, noteTask<'a'>, nullptr, &order, nullptr), REFS_OK);
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(refs_group_add(awaited, noteTask<'b'>, nullptr, &order, nullptr), REFS_OK);
    gate.letAllPass();
    EXPECT_EQ(order.await(4), "bbaa");
    refs_group_free(awaited);
    refs_group_free(early);
}

TEST_F(Pool, WorksWithoutAnyThread) {
    open(0);
    refs_group *tasks = group();
    EXPECT_EQ(refs_group_add(tasks, note, drop, &work_, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_wait(tasks, nullptr), REFS_OK);
    EXPECT_EQ(work_.threads, std::set<pthread_t>{pthread_self()});
    EXPECT_EQ(work_.dropped, 1);
    refs_group_free(tasks);
}

TEST_F(Pool, TellsTheFirstFailureAndLeavesOutTheRest) {
    open(1);
    Gate gate;
    refs_group *tasks = group();
    EXPECT_EQ(refs_group_add(tasks, passGate, nullptr, &gate, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_add(tasks, fail, nullptr, nullptr, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_add(tasks, note, drop, &work_, nullptr), REFS_OK);
    gate.letAllPass();
    refs_error error = REFS_ERROR_INIT;
    EXPECT_EQ(refs_group_wait(tasks, &error), REFS_CORRUPT);
    EXPECT_STREQ(error.message, "no good");
    EXPECT_TRUE(refs_group_failed(tasks));
    EXPECT_EQ(work_.done, 0);
    EXPECT_EQ(work_.dropped, 1);
    refs_group_free(tasks);
}

/** A context that counts its calls, and of which either side may lack memory. */
struct CountedContext {
    static inline std::atomic<int> captured{0}, entered{0}, left{0}, released{0};
    static inline bool canCapture = true, canEnter = true;
    static void *capture() {
        captured++;
        return canCapture ? &captured : nullptr;
    }
    static void *enter(void *) { return canEnter ? (entered++, &entered) : nullptr; }
    static void leave(void *) { left++; }
    static void release(void *) { released++; }
};

TEST_F(Pool, TakesAContextAlongWithEachTask) {
    const struct {
        bool canCapture, canEnter;
        refs_status added, waited;
        int done, entered, released;
    } rows[] = {{true, true, REFS_OK, REFS_OK, 1, 1, 1},
                {true, false, REFS_OK, REFS_NOMEM, 0, 0, 1},
                {false, true, REFS_NOMEM, REFS_OK, 0, 0, 0}};
    const refs_task_context context = {CountedContext::capture, CountedContext::enter,
                                       CountedContext::leave, CountedContext::release};
    open(1);
    refs_pool_set_context(pool_, &context);
    for (const auto &row : rows) {
        CountedContext::captured = CountedContext::entered = 0;
        CountedContext::left = CountedContext::released = 0;
        CountedContext::canCapture = row.canCapture;
        CountedContext::canEnter = row.canEnter;
        Work work;
        refs_group *tasks = group();
        EXPECT_EQ(refs_group_add(tasks, note, drop, &work, nullptr), row.added);
        EXPECT_EQ(refs_group_wait(tasks, nullptr), row.waited);
        refs_group_free(tasks);
        EXPECT_EQ(work.done, row.done);
        EXPECT_EQ(work.dropped, 1) << "whether or not it was run";
        EXPECT_EQ(CountedContext::captured, 1);
        EXPECT_EQ(CountedContext::entered, row.entered);
        EXPECT_EQ(CountedContext::left, row.entered);
        EXPECT_EQ(CountedContext::released, row.released);
    }
}

TEST_F(Pool, DropsEachTaskOnceWhenItIsFreed) {
    open(1);
    Gate gate;
    refs_pool_run(
        pool_, passGate, [](void *) {}, &gate);
    gate.awaitWaiter();
    for (int i = 0; i < 3; i++) refs_pool_run(pool_, note, drop, &work_);
    std::thread freer([this] { refs_pool_free(pool_); });
    gate.letAllPass();
    freer.join();
    pool_ = nullptr;
    EXPECT_EQ(work_.dropped, 3);
    EXPECT_LE(work_.done, 3);
}

TEST(PoolOfNone, RunsTasksWhereTheyAreAdded) {
    Work work;
    refs_group *tasks = nullptr;
    ASSERT_EQ(refs_group_open(nullptr, &tasks, nullptr), REFS_OK);
    EXPECT_EQ(refs_group_add(tasks, note, drop, &work, nullptr), REFS_OK);
    EXPECT_EQ(work.dropped, 1);
    EXPECT_EQ(work.threads, std::set<pthread_t>{pthread_self()});
    EXPECT_EQ(refs_group_wait(tasks, nullptr), REFS_OK);
    refs_group_free(tasks);
}

/** Items that note who ran them, of which one may fail. */
struct Items {
    std::mutex lock;
    std::set<pthread_t> threads;
    std::set<size_t> done;
    size_t failing = SIZE_MAX;

    static refs_status run(void *user, size_t number, refs_error *err) {
        auto *items = static_cast<Items *>(user);
        std::lock_guard<std::mutex> guard(items->lock);
        items->threads.insert(pthread_self());
        items->done.insert(number);
        return number == items->failing ? refs_fail(err, REFS_CORRUPT, "no good") : REFS_OK;
    }
};

TEST(Each, RunsEveryNumberOnce) {
    for (const unsigned n_threads : {0U, 1U, 3U, 100U}) {
        Items items;
        const refs_each each = {Items::run, &items, 50, n_threads, nullptr};
        EXPECT_EQ(refs_each_run(&each, nullptr), REFS_OK);
        EXPECT_EQ(items.done.size(), 50U);
        EXPECT_EQ(*items.done.rbegin(), 49U);
        if (n_threads < 2) {
            EXPECT_EQ(items.threads, std::set<pthread_t>{pthread_self()});
        }
    }
}

TEST(Each, EndsWithTheFirstFailure) {
    Items items;
    items.failing = 3;
    refs_error error = REFS_ERROR_INIT;
    const refs_each each = {Items::run, &items, 50, 1, nullptr};
    EXPECT_EQ(refs_each_run(&each, &error), REFS_CORRUPT);
    EXPECT_STREQ(error.message, "no good");
    EXPECT_EQ(items.done.size(), 4U);
}

/** Two items that fail, the second one first. */
struct Late {
    std::promise<void> hasFailed;

    static refs_status run(void *user, size_t number, refs_error *err) {
        auto *late = static_cast<Late *>(user);
        if (number == 1) late->hasFailed.set_value();
        if (number == 0) late->hasFailed.get_future().wait();
        return refs_fail(err, REFS_CORRUPT, "item %zu", number);
    }
};

TEST(Each, TellsTheFailureOfTheLeastNumber) {
    for (int i = 0; i < 20; i++) {
        Late late;
        refs_error error = REFS_ERROR_INIT;
        const refs_each each = {Late::run, &late, 2, 2, nullptr};
        EXPECT_EQ(refs_each_run(&each, &error), REFS_CORRUPT);
        EXPECT_STREQ(error.message, "item 0");
    }
}

/** A context that one of the tasks cannot enter. */
struct NarrowContext {
    static inline std::atomic<int> left{0};
    static void *capture() { return &left; }
    static void release(void *) {}
    static void *enter(void *captured) { return left-- > 0 ? captured : nullptr; }
    static void leave(void *) {}
};

TEST(Each, FailsWhereAnItemCannotBeRun) {
    Items items;
    NarrowContext::left = 3;
    const refs_task_context context = {NarrowContext::capture, NarrowContext::enter,
                                       NarrowContext::leave, NarrowContext::release};
    refs_error error = REFS_ERROR_INIT;
    const refs_each each = {Items::run, &items, 50, 2, &context};
    EXPECT_EQ(refs_each_run(&each, &error), REFS_NOMEM);
    EXPECT_STREQ(error.message, "out of memory");
    EXPECT_EQ(items.done.size(), 3U);
}

TEST(Each, OfNothingIsDoneAtOnce) {
    const refs_each each = {nullptr, nullptr, 0, 16, nullptr};
    EXPECT_EQ(refs_each_run(&each, nullptr), REFS_OK);
}

} // namespace
