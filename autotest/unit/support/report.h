/* report.h -- what a read tells of its progress. */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "refs/array.h"

/** All that was told; the read ends where `stopAt` reports were made. */
struct Report {
    std::vector<double> told;
    size_t stopAt = SIZE_MAX;

    static bool report(void *user, double done) {
        auto *self = static_cast<Report *>(user);
        self->told.push_back(done);
        return self->told.size() < self->stopAt;
    }

    [[nodiscard]] refs_progress progress() { return {report, this}; }

    /** From 0 to nearly 1, and never backwards. */
    void expectGrowth() const {
        ASSERT_GE(told.size(), 2u);
        for (size_t i = 1; i < told.size(); i++)
            ASSERT_LE(told[i - 1], told[i]) << "report " << i << " of " << told.size();
        EXPECT_GE(told.front(), 0.0);
        EXPECT_LE(told.front(), 0.5);
        EXPECT_GE(told.back(), 0.7);
        EXPECT_LE(told.back(), 1.0);
    }
};
