// hybrid_test.cc -- runs and bit-packed groups.

#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "parquet/parquet_internal.h"
}
#include "parquet_writer.h"

namespace {

// The first `n` numbers in `bytes`; fewer where they end.
std::vector<uint32_t> Numbers(const std::string &bytes, unsigned width, size_t n) {
    refs_hybrid hybrid;
    refs_hybrid__init(&hybrid, refs_bytes_view(bytes.data(), bytes.size()), width);
    std::vector<uint32_t> numbers;
    uint32_t number = 0;
    while (numbers.size() < n && refs_hybrid__next(&hybrid, &number, nullptr) == REFS_OK)
        numbers.push_back(number);
    return numbers;
}

// Numbers of up to `width` bits, some of them twice and more.
std::vector<uint32_t> Sample(unsigned width, size_t n) {
    const uint64_t end = uint64_t{1} << width;
    std::vector<uint32_t> numbers;
    for (uint64_t i = 0; i < n; i++)
        numbers.push_back(static_cast<uint32_t>((end - 1 - i / 3 * 2654435761u) & (end - 1)));
    return numbers;
}

} // namespace

TEST(ParquetHybrid, ReadsNumbersOfEveryWidth) {
    for (unsigned width = 0; width <= 32; width++) {
        const std::vector<uint32_t> numbers = Sample(width, 29);
        EXPECT_EQ(Numbers(parquet::PackedRun(numbers, width), width, 29), numbers) << width;
        EXPECT_EQ(Numbers(parquet::Runs(numbers, width), width, 29), numbers) << width;
    }
}

TEST(ParquetHybrid, MixesRunsAndGroups) {
    const std::vector<uint32_t> group = {1, 2, 3, 4, 5, 6, 7, 0};
    const std::string bytes = parquet::RepeatedRun(3, 5, 3) + parquet::PackedRun(group, 3) +
                              parquet::RepeatedRun(0, 1, 3) + parquet::RepeatedRun(2, 6, 3);
    EXPECT_EQ(Numbers(bytes, 3, 13),
              (std::vector<uint32_t>{5, 5, 5, 1, 2, 3, 4, 5, 6, 7, 0, 6, 6}));
}

TEST(ParquetHybrid, AcceptsThatTheLastGroupLacksItsPadding) {
    const std::vector<uint32_t> numbers = Sample(16, 11);
    std::string bytes = parquet::PackedRun(numbers, 16);
    bytes.resize(bytes.size() - 5 * 2);
    EXPECT_EQ(Numbers(bytes, 16, 11), numbers);
    EXPECT_EQ(Numbers(bytes, 16, 12).size(), 11u);
}

TEST(ParquetHybrid, EndsWithItsBytes) {
    EXPECT_EQ(Numbers("", 8, 9).size(), 0u);
    EXPECT_EQ(Numbers("\x80", 8, 9).size(), 0u);
    EXPECT_EQ(Numbers("\x04", 8, 9).size(), 0u);
    EXPECT_EQ(Numbers("\x04\x07", 8, 9).size(), 2u);
    EXPECT_EQ(Numbers(std::string("\x00\x07", 2), 8, 9).size(), 0u);
    EXPECT_EQ(Numbers(std::string(12, '\xff'), 8, 9).size(), 0u);
}

TEST(ParquetHybrid, RefusesRunsBeyondAllRows) {
    refs_hybrid hybrid;
    refs_error err = REFS_ERROR_INIT;
    uint32_t number;
    const std::string bytes = parquet::Varint(uint64_t{1} << 40) + "x";
    refs_hybrid__init(&hybrid, refs_bytes_view(bytes.data(), bytes.size()), 8);
    EXPECT_EQ(refs_hybrid__next(&hybrid, &number, &err), REFS_CORRUPT);
    EXPECT_STREQ(err.message, "a run of 549755813888 numbers has too many values");
}
