/* stride_test.cc -- what is expected of reads, and how much of it is requested ahead. */
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "stride.h"

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
        last.bounds = refs_grid__bounds(&grid_);
    }

    refs_box_read read(const std::vector<uint64_t> &start, const std::vector<uint64_t> &count,
                       const int64_t *step = nullptr) const {
        refs_box_read read = {};
        refs_cut cut = {};
        const refs_region region = {start.data(), count.data(), step};
        EXPECT_EQ(refs_array__cut(&meta_, &region, &cut, nullptr), REFS_OK);
        EXPECT_TRUE(refs_box_read__describe(&meta_, &grid_, &cut, &read));
        refs_array__cut_clear(&cut);
        return read;
    }

    /** Notes a read; whether more is expected. */
    bool note(const refs_box_read &read) {
        refs_last_read__note(&last, &grid_, &read);
        return refs_last_read__expects(&last, &grid_, &read, &stride);
    }
    bool note(const std::vector<uint64_t> &start, const std::vector<uint64_t> &count) {
        return note(read(start, count));
    }

    std::vector<uint64_t> chunks(uint64_t k) const {
        std::vector<uint64_t> numbers(refs_stride__box_size(&stride, &grid_));
        numbers.resize(refs_stride__chunks(&stride, &grid_, k, numbers.data()));
        return numbers;
    }
    uint64_t find(uint64_t number, uint64_t from = 0) const {
        refs_box_read at = {};
        at.number = number;
        at.mirrored = stride.mirrored;
        return refs_stride__find(&stride, &grid_, &at, from);
    }
    const refs_grid &grid() const { return grid_; }

    refs_last_read last = {};
    refs_stride stride = {};

  private:
    std::vector<uint64_t> shape_, chunk_;
    refs_array_meta meta_ = {};
    refs_grid grid_ = {};
};

using Numbers = std::vector<uint64_t>;

TEST(Stride, OfOneReadIsNone) {
    Grid a({24, 30, 30}, {1, 10, 10});
    EXPECT_FALSE(a.note({5, 0, 0}, {1, 30, 30}));
}

TEST(Stride, OfTwoEqualMovesIsExpectedToGoOn) {
    Grid a({24, 30, 30}, {1, 10, 10});
    EXPECT_FALSE(a.note({5, 0, 0}, {1, 30, 30}));
    EXPECT_FALSE(a.note({7, 0, 0}, {1, 30, 30}));
    ASSERT_TRUE(a.note({9, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.stride.n, 8u) << "9, 11 … 23";
    EXPECT_EQ(a.chunks(1), (Numbers{99, 100, 101, 102, 103, 104, 105, 106, 107}));
}

TEST(Stride, OfWhoReadsAllIsExpectedToGoOnFromTheFirstMove) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({0, 0, 0}, {1, 30, 30});
    EXPECT_TRUE(a.note({1, 0, 0}, {1, 30, 30}));

    Grid later({24, 30, 30}, {1, 10, 10});
    later.note({1, 0, 0}, {1, 30, 30});
    EXPECT_FALSE(later.note({2, 0, 0}, {1, 30, 30}));
}

/* Rows of chunks, then those of the next band: as conversions read. */
TEST(Stride, OfWhoComesBackToTheBeginIsNotOfWhoReadsAll) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({0, 0, 0}, {1, 30, 30});
    a.note({1, 0, 0}, {1, 30, 30});
    EXPECT_FALSE(a.note({0, 0, 0}, {1, 30, 30}));
    EXPECT_FALSE(a.note({1, 0, 0}, {1, 30, 30}));
}

TEST(Stride, EndsWhereTheReaderIsNotGoing) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.last.bounds.begin[0] = 3;
    a.last.bounds.end[0] = 12;
    for (uint64_t band : {5, 7}) a.note({band, 0, 0}, {1, 30, 30});
    ASSERT_TRUE(a.note({9, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.stride.n, 2u) << "9 and 11";
    for (uint64_t band : {11, 9}) a.note({band, 0, 0}, {1, 30, 30});
    ASSERT_TRUE(a.note({7, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.stride.n, 3u) << "7, 5 and 3";
    a.note({10, 0, 0}, {1, 30, 30});
    a.note({11, 0, 0}, {1, 30, 30});
    EXPECT_FALSE(a.note({12, 0, 0}, {1, 30, 30})) << "outside";
}

TEST(Stride, EndsThereWhereItIsMirroredToo) {
    Grid a({2, 100, 30}, {1, 10, 10});
    const int64_t backwards[] = {1, -1, 1};
    a.last.bounds.begin[1] = 4; // the last ones that are read
    for (uint64_t row : {99, 89}) a.note(a.read({0, row, 0}, {1, 10, 30}, backwards));
    ASSERT_TRUE(a.note(a.read({0, 79, 0}, {1, 10, 30}, backwards)));
    EXPECT_EQ(a.stride.n, 4u) << "7, 6, 5 and 4";
}

TEST(Stride, OfRowsGoesOnInTheNextBand) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({0, 0, 0}, {1, 10, 30});
    ASSERT_TRUE(a.note({0, 10, 0}, {1, 10, 30}));
    EXPECT_EQ(a.chunks(1), (Numbers{6, 7, 8}));
    EXPECT_EQ(a.stride.n, 2u) << "nobody has begun to read the next band";
    EXPECT_FALSE(a.note({0, 20, 0}, {1, 10, 30}));
    ASSERT_TRUE(a.note({1, 0, 0}, {1, 10, 30}));
    EXPECT_EQ(a.stride.n, 69u) << "somebody has";
    EXPECT_EQ(a.chunks(1), (Numbers{12, 13, 14}));
    EXPECT_EQ(a.chunks(3), (Numbers{18, 19, 20})) << "the first row of the band after it";
}

/* The first row is in the south, and shown last. */
TEST(Stride, OfRowsFromTheLastToTheFirstGoesOnInTheNextBand) {
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

TEST(Stride, OfLinesFromTheLastToTheFirstLeadsToTheChunkBefore) {
    Grid a({30, 30}, {15, 30});
    const int64_t step[] = {-1, 1};
    for (uint64_t y = 29; y > 24; y--) EXPECT_FALSE(a.note(a.read({y, 0}, {1, 30}, step))) << y;
    ASSERT_TRUE(a.note(a.read({24, 0}, {1, 30}, step)));
    EXPECT_EQ(a.chunks(1), (Numbers{0}));
}

TEST(Stride, BackwardsEndsWithTheFirstBand) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({23, 0, 0}, {1, 30, 30});
    a.note({22, 0, 0}, {1, 30, 30});
    ASSERT_TRUE(a.note({21, 0, 0}, {1, 30, 30}));
    EXPECT_EQ(a.stride.n, 22u);
    EXPECT_EQ(a.chunks(21).front(), 0u);
    EXPECT_EQ(a.find(20 * 9 + 4), 1u);
}

TEST(Stride, OfRepeatedReadsStays) {
    Grid a({24, 30, 30}, {1, 10, 10});
    a.note({3, 0, 0}, {1, 30, 30});
    a.note({4, 0, 0}, {1, 30, 30});
    for (int i = 0; i < 5; i++) EXPECT_FALSE(a.note({4, 0, 0}, {1, 30, 30}));
    EXPECT_TRUE(a.note({5, 0, 0}, {1, 30, 30}));
}

TEST(Stride, OfStepsInsideAChunkIsExpectedToGoOnWhenAThirdIsDone) {
    Grid a({200, 30}, {100, 30});
    for (uint64_t t = 0; t < 33; t++) EXPECT_FALSE(a.note({t, 0}, {1, 30})) << t;
    ASSERT_TRUE(a.note({33, 0}, {1, 30}));
    EXPECT_EQ(a.chunks(1), (Numbers{1}));
}

TEST(Stride, OfBoxesThatLeaveTheGridIsCut) {
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
TEST(Stride, ExpectsOnlyWhatThereIs) {
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
            ASSERT_GT(a.stride.n, 1u);
            for (uint64_t k = 0; k < a.stride.n; k++) {
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

/* -- the window -------------------------------------------------------------------------------- */

constexpr uint64_t MB = 1 << 20;

/** Reads boxes one by one, and tells the sizes of windows and when each was requested. */
std::string windowsOf(refs_window window, uint64_t n, uint64_t n_fit) {
    std::string text;
    for (uint64_t at = 0; at < n; at++) {
        const uint64_t size = refs_window__advance(&window, at + 1, n, n_fit);
        if (size > 0) text += std::to_string(at) + ":" + std::to_string(size) + " ";
    }
    return text;
}

TEST(Window, DoublesWhenItsMarkIsRead) {
    EXPECT_EQ(windowsOf({}, 1000, 1000), "0:8 4:16 14:32 34:64 74:128 154:256 314:495 ");
}

/* A move from the first chunk is a hit: the second read is of box 0. */
TEST(Window, IsNoMoreThanFourTimesWhatWasRead) {
    refs_window window = {};
    for (uint64_t ahead = 1; ahead < 5000; ahead++) {
        refs_window__advance(&window, ahead, 100000, 100000);
        ASSERT_LE(window.next - 1, 4 * (ahead + 1));
    }
}

/** Round trips that a reader takes which reads boxes as soon as they arrive. */
int roundTripsOf(uint64_t n, bool hurries) {
    refs_window window = {};
    int trips = 0;
    for (uint64_t ahead = 1, there = 1; there < n; trips++) {
        for (; ahead <= there + 1; ahead++) {
            if (hurries && ahead > there) refs_window__hurry(&window, ahead, n);
            refs_window__advance(&window, ahead, n, n);
            EXPECT_LE(window.next - 1, 4 * (ahead + 1));
        }
        there = window.next;
    }
    return trips;
}

TEST(Window, ComesSoonerForAReaderThatWaits) {
    EXPECT_EQ(roundTripsOf(1000, false), 7);
    EXPECT_EQ(roundTripsOf(1000, true), 5);
}

TEST(Window, IsNotSmallerForAReaderThatWaits) {
    refs_window window = {};
    EXPECT_EQ(refs_window__advance(&window, 1, 1000, 1000), 8u);
    refs_window__hurry(&window, 3, 16);
    EXPECT_EQ(refs_window__advance(&window, 3, 1000, 16), 8u);
    refs_window__hurry(&window, 4, 16);
    EXPECT_EQ(refs_window__advance(&window, 4, 1000, 16), 0u) << "it would be of one box";
}

TEST(Window, StaysWithinWhatFits) {
    EXPECT_EQ(windowsOf({}, 60, 10), "0:8 4:6 11:7 17:6 24:7 30:6 37:7 43:6 50:6 ");
    EXPECT_EQ(windowsOf({}, 5, 1), "0:1 1:1 2:1 3:1 ");
    EXPECT_EQ(windowsOf({}, 5, 0), "");
}

TEST(Window, IsAsLargeAsFitsWhereAllIsKnownToBeRead) {
    refs_window window = {};
    refs_window__open(&window);
    EXPECT_EQ(windowsOf(window, 40, 1000), "0:39 ");
    EXPECT_EQ(windowsOf(window, 40, 16), "0:16 6:6 19:13 27:4 ");
}

TEST(Window, HalvesForReadsThatDoNotGoOn) {
    refs_window window = {};
    EXPECT_EQ(refs_window__advance(&window, 1, 1000, 1000), 8u);
    EXPECT_EQ(refs_window__advance(&window, 5, 1000, 1000), 16u);
    for (const uint64_t size : {8u, 4u, 2u, 1u, 1u}) {
        refs_window__miss(&window);
        EXPECT_EQ(window.size, size);
        EXPECT_EQ(refs_window__advance(&window, 1, 1000, 1000), size);
    }
}

TEST(Window, IsNotHalvedWhereNothingWasRequested) {
    refs_window window = {};
    refs_window__miss(&window);
    EXPECT_EQ(refs_window__advance(&window, 1, 1000, 1000), 8u);
}

TEST(Window, GoesOnHoweverManyBoxesThereAre) {
    for (const uint64_t n : {uint64_t{1} << 20, uint64_t{1} << 62, uint64_t{INT64_MAX}}) {
        refs_window window = {};
        refs_window__open(&window);
        EXPECT_EQ(refs_window__advance(&window, 1, n, 32), 32u) << n;
    }
}

TEST(Boxes, AreDecodedAheadAsFarAsAFewMegabytes) {
    const refs_box_bytes remote = {MB, 2 * MB, 32 * MB, false};
    EXPECT_EQ(refs_box_bytes__n_decoded(&remote), 4u);
    EXPECT_EQ(refs_box_bytes__n_fit(&remote), 4u + 24u) << "others are kept as they are stored";
    const refs_box_bytes local = {MB, 2 * MB, 32 * MB, true};
    EXPECT_EQ(refs_box_bytes__n_decoded(&local), 2u);
    EXPECT_EQ(refs_box_bytes__n_fit(&local), 2u) << "a local file has no latency to hide";
}

TEST(Boxes, AreDecodedOneByOneWhereTheyAreLarge) {
    const refs_box_bytes large = {20 * MB, 30 * MB, 32 * MB, false};
    EXPECT_EQ(refs_box_bytes__n_fit(&large), 1u);
    const refs_box_bytes tooLarge = {MB, 33 * MB, 32 * MB, false};
    EXPECT_EQ(refs_box_bytes__n_fit(&tooLarge), 0u);
}

/* A reader at any pace: what is there and not read yet is no more than fits, no box is requested
 * twice or left out, and the reader never finds that nothing comes. */
TEST(Window, KeepsToWhatFitsAndLeavesNothingOut) {
    std::mt19937 random(11);
    for (int round = 0; round < 3000; round++) {
        const uint64_t n = 2 + random() % 500;
        refs_window window = {};
        uint64_t requested = 0;
        for (uint64_t ahead = 1; ahead <= n; ahead += random() % 4 == 0 ? 1 + random() % 9 : 1) {
            const uint64_t n_fit = 1 + random() % 60;
            const uint64_t size = refs_window__advance(&window, ahead, n, n_fit);
            requested = std::max(requested, ahead) + size;
            ASSERT_EQ(window.next, requested);
            ASSERT_LE(window.next, n);
            if (size > 0) {
                ASSERT_LE(window.next - ahead, n_fit);
            }
            if (ahead < n) {
                ASSERT_GT(window.next, ahead);
            }
        }
    }
}

} // namespace
