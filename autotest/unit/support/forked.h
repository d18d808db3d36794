/* forked.h -- what a child of fork(2) can still do. */
#ifndef REFS_TEST_FORKED_H
#define REFS_TEST_FORKED_H

#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

/** A child that takes so long hangs: SIGALRM ends it. */
constexpr unsigned watchdogSeconds = 100;

/** Whether children of processes with threads work. Not under sanitizers, whose runtimes (those of
 * GCC 12) leave it their locks and tables of threads as other threads had them: such a child hangs
 * in malloc, or dies when it starts a thread. There it only ends, and what its parent does is
 * tested. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool childrenOfThreadsWork = false;
#else
constexpr bool childrenOfThreadsWork = true;
#endif

/** Ends the process: at once, or as programs do that return from main. */
enum class End { AtOnce, AsPrograms };

/** Runs `work` in a child of fork(2), and succeeds where it does, in time. What fails there stands
 * in its output, which is this test's. */
template <class Work> testing::AssertionResult inChild(Work work, End end = End::AtOnce) {
    fflush(nullptr); // or the child says again what was said
    const pid_t child = fork();
    if (child == 0) {
        alarm(watchdogSeconds);
        work();
        const int result = testing::Test::HasFailure() ? 1 : 0;
        fflush(nullptr);
        if (end == End::AtOnce) _exit(result);
        exit(result);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return testing::AssertionFailure() << "no child";
    if (WIFSIGNALED(status))
        return testing::AssertionFailure() << "the child ended by signal " << WTERMSIG(status);
    if (WEXITSTATUS(status) != 0) return testing::AssertionFailure() << "the child failed";
    return testing::AssertionSuccess();
}

/** The same where other threads of this process start, end or take memory meanwhile. */
template <class Work> testing::AssertionResult inChildOfThreads(Work work, End end = End::AtOnce) {
    return inChild(
        [&] {
            if (!childrenOfThreadsWork) _exit(0);
            work();
        },
        end);
}

#endif
