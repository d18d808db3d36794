/* pattern_test.cc -- what is expected of reads, and how much of it is prefetched. */
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "pattern.h"

namespace {

/** An array by its grid of chunks, and reads of it. */
class Grid {
  public:
    explicit Grid(std::vector<uint64_t> shape, std::vector<uint64_t> chunk)
        : shape_(std::move(shape)), chunk_(std::move(chunk)) {
        meta_.rank = shape_.size();
        std::copy(shape_.begin(), shape_.end(), meta_.shape);
        std::copy(chunk_.begin(), chunk_.end(), meta_.chunk);
        EXPECT_TRUE(refs_grid__of(&meta_, &grid_));
        pattern.bounds = refs_grid__bounds(&grid_);
    }

    refs_box_read read(const std::vector<uint64_t> &start, const std::vector<uint64_t> &count,
                       const int64_t *step = nullptr) const {
        refs_box_read read = {};
        refs_cut cut = {};
        const refs_region region = {start.data(), count.data(), step};
        EXPECT_EQ(refs_array__cut(&meta_, &region, &cut, nullptr), REFS_OK);
        EXPECT_TRUE(refs_pattern__describe(&meta_, &grid_, &cut, &read));
        refs_array__cut_clear(&cut);
        return read;
    }

    /** Notes a read; whether more is expected. */
    bool note(const refs_box_read &read) {
        refs_pattern__note(&pattern, &grid_, &read);
        return refs_pattern__expects(&pattern, &grid_, &read, &course);
    }
    bool note(const std::vector<uint64_t> &start, const std::vector<uint64_t> &count) {
        return note(read(start, count));
    }

    std::vector<uint64_t> chunks(uint64_t k) const {
        std::vector<uint64_t> numbers(refs_course__box_size(&course, &grid_));
        numbers.resize(refs_course__chunks(&course, &grid_, k, numbers.data()));
        return numbers;
    }
    uint64_t find(uint64_t number, uint64_t from = 0) const {
        refs_box_read at = {};
        at.number = number;
        at.mirrored = course.mirrored;
        return refs_course__find(&course, &grid_, &at, from);
    }
    const refs_grid &grid() const { return grid_; }

    refs_pattern pattern = {};
    refs_course course = {};

  private:
    std::vector<uint64_t> shape_, chunk_;
    refs_array_meta meta_ = {};
    refs_grid grid_ = {};
};

using Numbers = std::vector<uint64_t>;

TEST(Pattern, OfOneReadIsNone) {
    Grid a({24, 30, 30}, {1, 10, 10});
    EXPECT_FALSE(a.note({5, 0, 0}, {1, 30, 30}));
}

TEST(Pattern, OfTwoEqualMovesIsExpectedToGoOn) {
    Grid a({24, 30, 30}, {1, 10, 10});
    EXPECT_FALSE(a.note({5, 0, 0}, {1, 30, 30}));
    EXPECT_FALSE(a.note({7, 0, 0}, {1, 30, 30}));
    ASSERT_TRUE(a.note({9, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.course.n, 8u) << "9, 11 … 23";
    EXPECT_EQ(a.course.n_read, 3u);
    EXPECT_EQ(a.chunks(1), (Numbers{99, 100, 101, 102, 103, 104, 105, 106, 107}));
}

TEST(Pattern, OfWhoReadsAllIsExpectedToGoOnFromTheFirstMove) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({0, 0, 0}, {1, 30, 30});
    EXPECT_TRUE(a.note({1, 0, 0}, {1, 30, 30}));

    Grid later({24, 30, 30}, {1, 10, 10});
    later.note({1, 0, 0}, {1, 30, 30});
    EXPECT_FALSE(later.note({2, 0, 0}, {1, 30, 30}));
}

/* Rows of chunks, then those of the next band: as conversions read. */
TEST(Pattern, OfWhoComesBackToTheBeginIsNotOfWhoReadsAll) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({0, 0, 0}, {1, 30, 30});
    a.note({1, 0, 0}, {1, 30, 30});
    EXPECT_FALSE(a.note({0, 0, 0}, {1, 30, 30}));
    EXPECT_FALSE(a.note({1, 0, 0}, {1, 30, 30}));
}

TEST(Pattern, EndsWhereTheReaderIsNotGoing) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.pattern.bounds.begin[0] = 3;
    a.pattern.bounds.end[0] = 12;
    for (uint64_t band : {5, 7}) a.note({band, 0, 0}, {1, 30, 30});
    ASSERT_TRUE(a.note({9, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.course.n, 2u) << "9 and 11";
    for (uint64_t band : {11, 9}) a.note({band, 0, 0}, {1, 30, 30});
    ASSERT_TRUE(a.note({7, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.course.n, 3u) << "7, 5 and 3";
    a.note({10, 0, 0}, {1, 30, 30});
    a.note({11, 0, 0}, {1, 30, 30});
    EXPECT_FALSE(a.note({12, 0, 0}, {1, 30, 30})) << "outside";
}

TEST(Pattern, EndsThereWhereItIsMirroredToo) {
    Grid a({2, 100, 30}, {1, 10, 10});
    const int64_t backwards[] = {1, -1, 1};
    a.pattern.bounds.begin[1] = 4; // the last ones that are read
    for (uint64_t row : {99, 89}) a.note(a.read({0, row, 0}, {1, 10, 30}, backwards));
    ASSERT_TRUE(a.note(a.read({0, 79, 0}, {1, 10, 30}, backwards)));
    EXPECT_EQ(a.course.n, 4u) << "7, 6, 5 and 4";
}

/** Moves from band to band until more is expected. */
unsigned moves_until_expected(Grid &a) {
    for (uint64_t band = 0;; band++)
        if (a.note({band, 0, 0}, {1, 30, 30})) return static_cast<unsigned>(band);
}

TEST(Pattern, ThatEndsMostlyUnreadIsTrustedLaterAndLater) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({7, 0, 0}, {1, 30, 30});
    EXPECT_EQ(moves_until_expected(a), 2u);
    for (unsigned moves : {4u, 8u, 16u, 16u}) {
        refs_pattern__judge(&a.pattern, 3, 4);
        EXPECT_EQ(moves_until_expected(a), moves);
    }
    refs_pattern__judge(&a.pattern, 4, 4);
    EXPECT_EQ(moves_until_expected(a), 2u) << "half of it was read";
}

TEST(Pattern, OfRowsGoesOnInTheNextBand) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({0, 0, 0}, {1, 10, 30});
    ASSERT_TRUE(a.note({0, 10, 0}, {1, 10, 30}));
    EXPECT_EQ(a.chunks(1), (Numbers{6, 7, 8}));
    EXPECT_EQ(a.course.n, 2u) << "nobody has begun to read the next band";
    EXPECT_FALSE(a.note({0, 20, 0}, {1, 10, 30}));
    ASSERT_TRUE(a.note({1, 0, 0}, {1, 10, 30}));
    EXPECT_EQ(a.course.n, 69u) << "somebody has";
    EXPECT_EQ(a.chunks(1), (Numbers{12, 13, 14}));
    EXPECT_EQ(a.chunks(3), (Numbers{18, 19, 20})) << "the first row of the band after it";
}

/* The first row is in the south, and shown last. */
TEST(Pattern, OfRowsFromTheLastToTheFirstGoesOnInTheNextBand) {
    Grid a({24, 30, 30}, {1, 10, 10});
    const int64_t step[] = {1, -1, 1};
    a.note(a.read({0, 29, 0}, {1, 10, 30}, step));
    ASSERT_TRUE(a.note(a.read({0, 19, 0}, {1, 10, 30}, step)));
    EXPECT_EQ(a.chunks(1), (Numbers{0, 1, 2}));
    a.note(a.read({0, 9, 0}, {1, 10, 30}, step));
    ASSERT_TRUE(a.note(a.read({1, 29, 0}, {1, 10, 30}, step)));
    EXPECT_EQ(a.chunks(0), (Numbers{15, 16, 17})) << "the last row of the next band";
    EXPECT_EQ(a.chunks(1), (Numbers{12, 13, 14}));
}

TEST(Pattern, OfLinesFromTheLastToTheFirstLeadsToTheChunkBefore) {
    Grid a({30, 30}, {15, 30});
    const int64_t step[] = {-1, 1};
    for (uint64_t y = 29; y > 24; y--) EXPECT_FALSE(a.note(a.read({y, 0}, {1, 30}, step))) << y;
    ASSERT_TRUE(a.note(a.read({24, 0}, {1, 30}, step)));
    EXPECT_EQ(a.chunks(1), (Numbers{0}));
}

TEST(Pattern, BackwardsEndsWithTheFirstBand) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({23, 0, 0}, {1, 30, 30});
    a.note({22, 0, 0}, {1, 30, 30});
    ASSERT_TRUE(a.note({21, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.course.n, 22u);
    EXPECT_EQ(a.chunks(21).front(), 0u);
    EXPECT_EQ(a.find(20 * 9 + 4), 1u);
}

TEST(Pattern, OfRepeatedReadsStays) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({3, 0, 0}, {1, 30, 30});
    a.note({4, 0, 0}, {1, 30, 30});
    for (int i = 0; i < 5; i++) EXPECT_FALSE(a.note({4, 0, 0}, {1, 30, 30}));
    EXPECT_TRUE(a.note({5, 0, 0}, {1, 30, 30}));
}

TEST(Pattern, OfStepsInsideAChunkIsExpectedToGoOnWhenAThirdIsDone) {
    Grid a({200, 30}, {100, 30});
    for (uint64_t t = 0; t < 33; t++) EXPECT_FALSE(a.note({t, 0}, {1, 30})) << t;
    ASSERT_TRUE(a.note({33, 0}, {1, 30}));
    EXPECT_EQ(a.chunks(1), (Numbers{1}));
}

TEST(Pattern, OfBoxesThatLeaveTheGridIsCut) {
    Grid a({10, 50, 50}, {1, 10, 10});
    a.note({0, 30, 30}, {1, 20, 20});
    a.note({1, 30, 30}, {1, 20, 20});
    ASSERT_TRUE(a.note({2, 30, 30}, {1, 20, 20}));
    EXPECT_EQ(a.chunks(1), (Numbers{93, 94, 98, 99}));
    EXPECT_EQ(a.find(98), 1u);
    EXPECT_EQ(a.find(97), UINT64_MAX) << "beside the box";
    EXPECT_EQ(a.find(98, 2), UINT64_MAX) << "behind the reader";
}

/* Whatever is read: every box holds chunks of the grid, finds itself, and none is left out. */
TEST(Pattern, ExpectsOnlyWhatThereIs) {
    std::mt19937 random(5);
    for (int round = 0; round < 2000; round++) {
        const size_t rank = 1 + random() % 4;
        std::vector<uint64_t> shape, chunk;
        for (size_t dim = 0; dim < rank; dim++) {
            shape.push_back(1 + random() % 40);
            chunk.push_back(1 + random() % shape.back());
        }
        Grid a(shape, chunk);
        std::vector<uint64_t> start(rank), count(rank), by(rank);
        for (size_t dim = 0; dim < rank; dim++) {
            start[dim] = random() % shape[dim];
            count[dim] = 1 + random() % (shape[dim] - start[dim]);
        }
        const size_t moving = random() % rank;
        const uint64_t step = 1 + random() % 9;
        for (; start[moving] + count[moving] <= shape[moving]; start[moving] += step) {
            if (!a.note(start, count)) continue;
            ASSERT_GT(a.course.n, 1u);
            for (uint64_t k = 0; k < a.course.n; k++) {
                const Numbers numbers = a.chunks(k);
                ASSERT_FALSE(numbers.empty());
                ASSERT_LT(numbers.back(), a.grid().n_chunks);
                ASSERT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
                const uint64_t found = a.find(numbers.front());
                ASSERT_NE(found, UINT64_MAX);
                ASSERT_EQ(a.chunks(found).front(), numbers.front());
            }
        }
    }
}

/* -- how much is prefetched -------------------------------------------------------------------- */

constexpr uint64_t MB = 1 << 20;

refs_course courseOf(uint64_t n, uint64_t n_read) {
    refs_course course = {};
    course.by = 1;
    course.n = n;
    course.n_read = n_read;
    return course;
}

TEST(Plan, GrowsWithWhatWasRead) {
    const refs_course course = courseOf(1000, 2);
    const refs_progress_on start = {1, 0, 1000, 1000, 32 * MB, false};
    EXPECT_EQ(refs_course__plan(&course, &start).end, 9u) << "four times as many as were read";
    const refs_progress_on later = {7, 9, 1000, 1000, 32 * MB, false};
    const refs_prefetch_plan plan = refs_course__plan(&course, &later);
    EXPECT_EQ(plan.begin, 9u);
    EXPECT_EQ(plan.end, 39u);
}

TEST(Plan, GoesOnHoweverManyBoxesThereAre) {
    for (const uint64_t n : {uint64_t{1} << 20, uint64_t{1} << 62, uint64_t{INT64_MAX}}) {
        const refs_course course = courseOf(n, n);
        const refs_progress_on progress = {1, 0, MB, MB, 32 * MB, false};
        EXPECT_EQ(refs_course__plan(&course, &progress).end, 33u) << n;
    }
}

TEST(Plan, AsksForNothingWhileMuchIsThere) {
    const refs_course course = courseOf(1000, 100);
    const refs_progress_on local = {11, 40, 100000, 100000, 32 * MB, true};
    EXPECT_EQ(refs_course__plan(&course, &local).end, 40u) << "half of 41 boxes";
    const refs_progress_on remote = {11, 280, 100000, 100000, 32 * MB, false};
    EXPECT_EQ(refs_course__plan(&course, &remote).end, 280u) << "no room for 8 MiB";
    const refs_progress_on read_on = {31, 280, 100000, 100000, 32 * MB, false};
    EXPECT_EQ(refs_course__plan(&course, &read_on).end, 366u) << "room for a few large requests";
}

TEST(Plan, KeepsOneBoxComingWhereOnlyOneFits) {
    const refs_course course = courseOf(1000, 100);
    const refs_progress_on progress = {11, 0, 20 * MB, 30 * MB, 32 * MB, false};
    const refs_prefetch_plan plan = refs_course__plan(&course, &progress);
    EXPECT_EQ(plan.begin, 11u);
    EXPECT_EQ(plan.end, 12u);
    EXPECT_EQ(plan.decode_end, 12u);
}

TEST(Plan, AsksForNothingThatDoesNotFit) {
    const refs_course course = courseOf(1000, 100);
    const refs_progress_on progress = {11, 0, MB, 33 * MB, 32 * MB, false};
    const refs_prefetch_plan plan = refs_course__plan(&course, &progress);
    EXPECT_EQ(plan.begin, plan.end);
    EXPECT_LE(plan.decode_end, 11u);
}

/* A reader on any course, at any pace: what is there and not read yet stays within the budget, no
 * box is asked for twice or left out, and the reader never finds less than a box being fetched. */
TEST(Plan, KeepsToTheBudgetAndLeavesNothingOut) {
    std::mt19937 random(11);
    for (int round = 0; round < 3000; round++) {
        const refs_course course = courseOf(2 + random() % 500, 1 + random() % 9);
        refs_progress_on now = {};
        now.stored = 1 + random() % (4 * MB);
        now.decoded = now.stored + random() % (12 * MB);
        now.is_local = random() % 2 == 0;
        for (now.ahead = 1; now.ahead <= course.n;
             now.ahead += random() % 4 == 0 ? 1 + random() % 9 : 1) {
            now.budget = (1 + random() % 4) * 16 * MB;
            const refs_prefetch_plan plan = refs_course__plan(&course, &now);
            ASSERT_LE(plan.begin, plan.end);
            ASSERT_LE(plan.end, course.n);
            ASSERT_LE(plan.decode_end, course.n);
            ASSERT_EQ(plan.begin, std::max(now.next, now.ahead));
            if (plan.end > plan.begin) {
                const uint64_t n_decoded = plan.decode_end - now.ahead;
                const uint64_t n_stored =
                    plan.end > plan.decode_end ? plan.end - plan.decode_end : 0;
                ASSERT_LE(n_decoded * now.decoded + n_stored * now.stored, now.budget);
                ASSERT_LE(plan.end - now.ahead, 4 * (course.n_read + now.ahead - 1));
            }
            if (now.decoded <= now.budget && now.ahead < course.n) {
                ASSERT_GT(plan.end, now.ahead);
            }
            now.next = plan.end;
        }
    }
}

} // namespace
