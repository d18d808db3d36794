/* slabs_test.cc -- pieces that do not overlap, and memory that goes back. */
#include "slabs.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr size_t MiB = REFS_MIB;

/** Bytes of memory that this process has. */
struct Memory {
    size_t mapped = 0, resident = 0;
};

Memory memory() {
    unsigned long mapped = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == nullptr || fscanf(file, "%lu %lu", &mapped, &resident) != 2) ADD_FAILURE();
    if (file != nullptr) fclose(file);
    return {mapped * 4096, resident * 4096};
}

size_t mapped() {
    return memory().mapped;
}

size_t resident() {
    return memory().resident;
}

class Slabs : public testing::Test {
  protected:
    void SetUp() override {
        slabs = refs_slabs__new();
        void *piece = refs_slabs__take(slabs, MiB);
        if (piece == nullptr) GTEST_SKIP() << "no huge pages here, or a sanitizer watches";
        refs_slabs__give(slabs, piece);
    }
    void TearDown() override { refs_slabs__free(slabs); }

    uint8_t *take(size_t size) {
        auto *piece = static_cast<uint8_t *>(refs_slabs__take(slabs, size));
        if (piece != nullptr) memset(piece, static_cast<int>(size % 251), size);
        return piece;
    }
    void give(uint8_t *piece, size_t size) {
        for (size_t i = 0; i < size; i++) ASSERT_EQ(piece[i], size % 251) << "another's piece";
        refs_slabs__give(slabs, piece);
    }

    refs_slabs *slabs = nullptr;
};

TEST_F(Slabs, GivePiecesThatDoNotOverlap) {
    std::vector<std::pair<uint8_t *, size_t>> pieces;
    for (size_t i = 0; i < 40; i++) {
        const size_t size = MiB / 2 + i % 3 * 100001;
        pieces.emplace_back(take(size), size);
        ASSERT_NE(pieces.back().first, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back().first) % 64, 0u);
    }
    for (const auto &piece : pieces) give(piece.first, piece.second);
}

TEST_F(Slabs, GivePiecesOfAnySizeThatDoNotOverlap) {
    for (size_t size = MiB; size < MiB + 70; size++) {
        uint8_t *first = take(size), *second = take(size);
        EXPECT_GE(second, first + size);
        give(first, size);
        give(second, size);
    }
}

TEST_F(Slabs, UseThePlaceOfAPieceAgain) {
    uint8_t *first = take(MiB), *second = take(MiB);
    give(first, MiB);
    EXPECT_EQ(take(MiB), first);
    give(first, MiB);
    give(second, MiB);
}

TEST_F(Slabs, LeaveOtherSizesToOthers) {
    EXPECT_EQ(take(1000), nullptr);
    EXPECT_EQ(take(5 * MiB), nullptr);
}

TEST_F(Slabs, GoBackToTheSystem) {
    std::vector<uint8_t *> pieces;
    const size_t before = mapped();
    for (size_t i = 0; i < 64; i++) pieces.push_back(take(MiB));
    EXPECT_GE(mapped(), before + 64 * MiB);
    for (uint8_t *piece : pieces) give(piece, MiB);
    EXPECT_LE(mapped(), before + MiB);
}

TEST_F(Slabs, KeepNothingOfAPieceThatIsBack) {
    uint8_t *first = take(2 * MiB), *second = take(2 * MiB);
    const size_t before = resident();
    give(second, 2 * MiB);
    EXPECT_LE(resident(), before - MiB);
    give(first, 2 * MiB);
}

TEST_F(Slabs, KeepPiecesDuringAPause) {
    std::vector<uint8_t *> pieces;
    for (size_t i = 0; i < 3; i++) pieces.push_back(take(2 * MiB));
    const size_t before = resident();
    refs_slabs__pause(slabs);
    refs_slabs__pause(slabs);
    give(pieces[0], 2 * MiB);
    give(pieces[1], 2 * MiB);
    refs_slabs__resume(slabs);
    EXPECT_GE(resident(), before - MiB);
    EXPECT_EQ(take(2 * MiB), pieces[0]);
    refs_slabs__resume(slabs);
    EXPECT_LE(resident(), before - MiB);
    EXPECT_GE(resident(), before - 3 * MiB) << "the piece that was taken again";
    give(pieces[0], 2 * MiB);
    give(pieces[2], 2 * MiB);
}

TEST_F(Slabs, KeepNothingThatCameBackDuringAPauseAfterIt) {
    std::vector<uint8_t *> pieces;
    for (size_t i = 0; i < 4; i++) pieces.push_back(take(2 * MiB));
    const size_t before = resident();
    refs_slabs__pause(slabs);
    for (size_t i = 0; i < 3; i++) give(pieces[i], 2 * MiB);
    refs_slabs__resume(slabs);
    EXPECT_LE(resident(), before - 5 * MiB);
    give(pieces[3], 2 * MiB);
}

TEST_F(Slabs, StayUntilTheLastPieceIsBack) {
    refs_slabs *ended = refs_slabs__new();
    void *piece = refs_slabs__take(ended, MiB);
    refs_slabs__free(ended);
    memset(piece, 7, MiB);
    refs_slabs__give(ended, piece);
}

TEST_F(Slabs, ServeSeveralThreads) {
    std::vector<std::thread> threads;
    for (size_t n = 1; n <= 4; n++)
        threads.emplace_back([this, n] {
            for (int i = 0; i < 50; i++) {
                const size_t size = MiB / 2 + n / 3 * 4096;
                uint8_t *piece = take(size);
                give(piece, size);
            }
        });
    for (auto &thread : threads) thread.join();
}

} // namespace
