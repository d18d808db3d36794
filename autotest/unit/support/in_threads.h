/* in_threads.h -- the same work in several threads at once. */
#ifndef REFS_TEST_IN_THREADS_H
#define REFS_TEST_IN_THREADS_H

#include <thread>
#include <vector>

/** Runs `work(i)` in threads 0 to N - 1 at once. */
template <unsigned N = 8, class Work> void inThreads(const Work &work) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < N; i++) threads.emplace_back([&work, i] { work(i); });
    for (std::thread &thread : threads) thread.join();
}

#endif
