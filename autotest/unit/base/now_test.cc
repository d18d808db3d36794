/* now_test.cc -- a clock that only goes on. */
#include "refs/now.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

TEST(Now, GoesOnAsTimeDoes) {
    const uint64_t began_ms = refs_now_ms(), began_us = refs_now_us();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_GE(refs_now_us() - began_us, 20000U);
    EXPECT_GE(refs_now_ms() - began_ms, 20U);
    EXPECT_NEAR(static_cast<double>(refs_now_us()) / 1000, static_cast<double>(refs_now_ms()),
                1000);
}
