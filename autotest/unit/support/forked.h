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

/** Ends the process: at once, or as programs do that return from main. */
enum class End { AtOnce, AsPrograms };

/** Runs `work` in a child of fork(2), and succeeds where it does, in time. What fails there stands
 * in its output, which is this test's. */
template <class Work> testing::AssertionResult inChild(Work work, End end = End::AtOnce) {
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

template <class Work> testing::AssertionResult inChildThatExits(Work work) {
    return inChild(work, End::AsPrograms);
}

#endif
