#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "refs/bytes.h"
#include "refs/pages.h"

namespace {

int calls = 0;

void *CountedMalloc(size_t size) {
    calls++;
    return std::malloc(size);
}

} // namespace

TEST(Memory, GivesAByteForASizeOfZero) {
    void *memory = refs_alloc(0);
    ASSERT_NE(memory, nullptr);
    static_cast<char *>(memory)[0] = 1;
    refs_free(memory);
    refs_free(nullptr);
}

TEST(Memory, IsZeroedByCalloc) {
    auto *memory = static_cast<unsigned char *>(refs_calloc(3, 5));
    ASSERT_NE(memory, nullptr);
    for (int i = 0; i < 15; i++) EXPECT_EQ(memory[i], 0);
    refs_free(memory);
}

TEST(Memory, RefusesAProductThatOverflows) {
    EXPECT_EQ(refs_calloc(SIZE_MAX / 2, 3), nullptr);
}

TEST(Memory, ComesFromTheAllocatorThatWasSet) {
    const refs_allocator counting = {CountedMalloc, std::realloc, std::free};
    refs_allocator_set(&counting);
    refs_free(refs_alloc(1));
    refs_free(refs_calloc(1, 1));
    refs_allocator_set(nullptr);
    refs_free(refs_alloc(1));
    EXPECT_EQ(calls, 2);
}

TEST(Memory, GrowsOnlyWhenFull) {
    void *memory = nullptr;
    size_t capacity = 0;
    int n_grown = 0;
    for (size_t count = 0; count < 1000; count++) {
        size_t before = capacity;
        ASSERT_TRUE(refs_grow(&memory, &capacity, count, sizeof(size_t)));
        ASSERT_GT(capacity, count);
        if (capacity != before) n_grown++;
        static_cast<size_t *>(memory)[count] = count;
    }
    EXPECT_LT(n_grown, 20);
    EXPECT_EQ(static_cast<size_t *>(memory)[500], 500u);
    refs_free(memory);
}

TEST(Memory, RefusesToGrowBeyondAllAddresses) {
    void *memory = nullptr;
    size_t capacity = SIZE_MAX / 4;
    EXPECT_FALSE(refs_grow(&memory, &capacity, capacity, 16));
    EXPECT_EQ(capacity, SIZE_MAX / 4);
}

TEST(CheckedArithmetic, LeavesTheResultAloneOnOverflow) {
    uint64_t wide = 1;
    size_t size = 1;
    EXPECT_FALSE(refs_add_u64(UINT64_MAX, 1, &wide));
    EXPECT_FALSE(refs_mul_u64(UINT64_MAX, 2, &wide));
    EXPECT_FALSE(refs_add_size(SIZE_MAX, 1, &size));
    EXPECT_FALSE(refs_mul_size(SIZE_MAX, 2, &size));
    EXPECT_TRUE(refs_add_u64(UINT64_MAX - 1, 1, &wide));
    EXPECT_EQ(wide, UINT64_MAX);
    EXPECT_TRUE(refs_mul_size(SIZE_MAX / 2, 2, &size));
    EXPECT_EQ(size, SIZE_MAX - 1);
}

TEST(LoadedNumbers, FollowTheNamedByteOrder) {
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 0x88};
    EXPECT_EQ(refs_load_le32(bytes), 0x04030201u);
    EXPECT_EQ(refs_load_be32(bytes), 0x01020304u);
    EXPECT_EQ(refs_load_le64(bytes), 0x8807060504030201u);
    EXPECT_EQ(refs_load_be64(bytes), 0x0102030405060788u);
}

TEST(Span, GivesPiecesThatDoNotOverlapAndTakesThemAgain) {
    constexpr size_t kPiece = 300001, kSize = 4 << 20;
    refs_span *span = refs_span_open(kSize, kPiece);
    if (span == nullptr) GTEST_SKIP() << "a sanitizer watches the allocator";
    EXPECT_TRUE(refs_span_is_unused(span));
    EXPECT_EQ(refs_span_take(span, kPiece - 1), nullptr) << "pieces are of one size";
    for (int round = 0; round < 3; round++) {
        std::vector<unsigned char *> pieces;
        while (auto *piece = static_cast<unsigned char *>(refs_span_take(span, kPiece))) {
            EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % alignof(max_align_t), 0u);
            std::memset(piece, static_cast<int>(pieces.size()), kPiece);
            pieces.push_back(piece);
        }
        ASSERT_EQ(pieces.size(), kSize / kPiece);
        EXPECT_FALSE(refs_span_is_unused(span));
        for (size_t i = 0; i < pieces.size(); i++) {
            EXPECT_EQ(pieces[i][0], i);
            EXPECT_EQ(pieces[i][kPiece - 1], i);
            refs_span_give(span, pieces[i]);
        }
        EXPECT_TRUE(refs_span_is_unused(span));
    }
    refs_span_release(span);
}

TEST(Span, EndsWithItsLastPiece) {
    refs_span *span = refs_span_open(4 << 20, 1 << 20);
    if (span == nullptr) GTEST_SKIP() << "a sanitizer watches the allocator";
    auto *piece = static_cast<unsigned char *>(refs_span_take(span, 1 << 20));
    refs_span_release(span);
    piece[0] = piece[(1 << 20) - 1] = 7; /* it is still there */
    refs_span_give(span, piece);
    refs_span_release(nullptr);
}

TEST(Span, TakesBackWhatOtherThreadsGive) {
    refs_span *span = refs_span_open(4 << 20, 1 << 16);
    if (span == nullptr) GTEST_SKIP() << "a sanitizer watches the allocator";
    for (int round = 0; round < 200; round++) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++) {
            void *piece = refs_span_take(span, 1 << 16);
            ASSERT_NE(piece, nullptr);
            threads.emplace_back([span, piece] { refs_span_give(span, piece); });
        }
        for (std::thread &thread : threads) thread.join();
    }
    EXPECT_TRUE(refs_span_is_unused(span));
    refs_span_release(span);
}

TEST(Span, LeavesAllToAnAllocatorThatWasSet) {
    const refs_allocator counting = {CountedMalloc, std::realloc, std::free};
    refs_allocator_set(&counting);
    EXPECT_EQ(refs_span_open(4 << 20, 1 << 20), nullptr);
    refs_allocator_set(nullptr);
}
