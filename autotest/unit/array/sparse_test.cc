// sparse_test.cc -- regions of very many chunks of which few are stored.
#include <gtest/gtest.h>

#include "memory_array.h"
#include "sparse.h"

namespace {

using Numbers = std::vector<uint64_t>;
using Steps = std::vector<int64_t>;

constexpr uint64_t side = 520;

/** 520 by 520 elements in chunks of 2 by 1, of which every `every`th is stored; each element is its
 * number. */
class Sparse : public MemoryArray {
  public:
    explicit Sparse(uint64_t every, uint64_t nOthers = 0) : every_(every) {
        for (uint64_t i = 0; i < nOthers; i++) store.put("w/" + std::to_string(i), "x");
        store.put("v/.zarray", R"({"zarr_format":2,"shape":[520,520],"chunks":[2,1],"dtype":"<i4",
            "order":"C","fill_value":-1,"compressor":null,"filters":null})");
        for (uint64_t number = 0; number < side / 2 * side; number += every)
            store.put(chunkKey({number / side, number % side}), bytesOf(number));
        open();
    }
    int32_t at(uint64_t y, uint64_t x) const {
        const bool isStored = (y / 2 * side + x) % every_ == 0;
        return isStored ? static_cast<int32_t>(y * side + x) : -1;
    }

  private:
    static std::string bytesOf(uint64_t number) {
        std::string bytes;
        for (uint64_t row = 0; row < 2; row++) {
            const uint64_t value = (number / side * 2 + row) * side + number % side;
            for (int i = 0; i < 4; i++) bytes += static_cast<char>(value >> 8 * i & 0xFF);
        }
        return bytes;
    }
    uint64_t every_;
};

/** How many of the chunks of a region are listed, or -1. */
int64_t listed(const Sparse &v, const Numbers &start, const Numbers &count, const Steps &step) {
    const refs_region region = {start.data(), count.data(), step.data()};
    refs_array_meta meta = {};
    meta.rank = 2;
    meta.shape[0] = meta.shape[1] = side;
    meta.chunk[0] = 2;
    meta.chunk[1] = 1;
    refs_cut cut;
    refs_item_list list = {nullptr, 0, 0};
    EXPECT_EQ(refs_array__cut(&meta, &region, &cut, nullptr), REFS_OK);
    const bool isListed = refs_sparse__list(v.array, &cut, &list);
    const auto n = static_cast<int64_t>(list.n);
    refs_sparse__clear(&list);
    refs_array__cut_clear(&cut);
    return isListed ? n : -1;
}

void expectRead(Sparse &v, const Numbers &start, const Numbers &count, const Steps &step) {
    std::vector<int32_t> values(count[0] * count[1], -7);
    const refs_region region = {start.data(), count.data(), step.data()};
    ASSERT_EQ(refs_array_read(v.array, &region, values.data(), nullptr, &v.error), REFS_OK)
        << v.error.message;
    size_t wrong = 0;
    for (uint64_t i = 0; i < count[0]; i++)
        for (uint64_t k = 0; k < count[1]; k++) {
            const uint64_t y = start[0] + i * static_cast<uint64_t>(step[0]);
            const uint64_t x = start[1] + k * static_cast<uint64_t>(step[1]);
            if (values[i * count[1] + k] != v.at(y, x)) wrong++;
        }
    EXPECT_EQ(wrong, 0u);
}

TEST(SparseRegions, AreReadByTheChunksThatAreStored) {
    Sparse v(1009);
    EXPECT_EQ(listed(v, {0, 0}, {520, 520}, {1, 1}), 134);
    EXPECT_EQ(listed(v, {1, 0}, {260, 520}, {2, 1}), 134);
    expectRead(v, {0, 0}, {520, 520}, {1, 1});
    expectRead(v, {519, 519}, {520, 520}, {-1, -1});
    expectRead(v, {519, 0}, {520, 260}, {-1, 2});
    expectRead(v, {3, 7}, {515, 511}, {1, 1});
    refs_array_stats stats;
    refs_array_get_stats(v.array, &stats);
    EXPECT_GT(stats.chunks_absent, 4 * uint64_t{65536});
    EXPECT_LT(stats.chunks_decoded, 4 * 134u);
}

TEST(SparseRegions, AreNotListedInSetsOfMoreKeysThanChunks) {
    Sparse v(1009, side / 2 * side);
    EXPECT_EQ(listed(v, {0, 0}, {520, 520}, {1, 1}), -1);
}

TEST(SparseRegions, MayHoldNothing) {
    Sparse v(side * side);
    EXPECT_EQ(listed(v, {2, 0}, {518, 520}, {1, 1}), 0);
    expectRead(v, {2, 0}, {518, 520}, {1, 1});
}

TEST(SparseRegions, AreNotListedWhereMuchIsStoredOrTheyAreSmall) {
    Sparse much(7), few(1009);
    EXPECT_EQ(listed(much, {0, 0}, {520, 520}, {1, 1}), -1);
    EXPECT_EQ(listed(few, {0, 0}, {100, 520}, {1, 1}), -1);
    expectRead(much, {0, 0}, {520, 520}, {1, 1});
}

} // namespace
