extern "C" {
#include "chunk_key.h"
}

#include <gtest/gtest.h>

#include "set_under_test.h"

namespace {

// The parts of a key, as "prefix separator index index …", or "none".
std::string Split(const std::string &key) {
    refs_split_key split;
    if (!refs_references__chunk_key_split(View(key), &split)) return "none";
    std::string text = Text(split.prefix) + " " + split.separator;
    for (size_t i = 0; i < split.rank; i++) text += " " + std::to_string(split.index[i]);
    return text;
}

std::string Joined(const refs_split_key &split) {
    std::string key = Text(split.prefix);
    for (size_t i = 0; i < split.rank; i++)
        key += (i > 0 ? std::string(1, split.separator) : "") + std::to_string(split.index[i]);
    return key;
}

} // namespace

TEST(RefsetChunkKey, HasAPrefixAndNumbers) {
    const struct {
        const char *key, *split;
    } cases[] = {
        {"t2m/3.0.1", "t2m/ . 3 0 1"},
        {"t2m/3", "t2m/ / 3"},
        {"x/c/0/1", "x/c/ / 0 1"},
        {"g/h/a/10.20", "g/h/a/ . 10 20"},
        {"0.0", " . 0 0"},
        {"7", " / 7"},
        {"0/0/0", " / 0 0 0"},
        {"1/2.3", "1/ . 2 3"},
        {"a//5", "a// / 5"},
        {"a/18446744073709551615", "a/ / 18446744073709551615"},
        {"2020/t2m/0.0", "2020/t2m/ . 0 0"},
    };
    for (const auto &c : cases) EXPECT_EQ(Split(c.key), c.split) << c.key;
}

TEST(RefsetChunkKey, IsNoOtherKey) {
    for (const char *key : {"", "/", "t2m", "t2m/", "t2m/.zarray", ".zgroup", "t2m/c", "t2m/01",
                            "t2m/1.", "t2m/.1", "t2m/1..2", "t2m/1.02", "t2m/-1", "t2m/+1",
                            "t2m/1.0e5", "t2m/ 1", "t2m/1 ", "t2m/18446744073709551616"})
        EXPECT_EQ(Split(key), "none") << key;
}

TEST(RefsetChunkKey, HasAtMostSoManyNumbers) {
    std::string dotted = "x/0", slashed = "x/0";
    for (int i = 1; i < REFS_CHUNK_MAX_RANK; i++) {
        dotted += ".0";
        slashed += "/0";
    }
    EXPECT_NE(Split(dotted), "none");
    EXPECT_EQ(Split(dotted + ".0"), "none");
    EXPECT_EQ(Split(slashed).substr(0, 5), "x/ / ");
    EXPECT_EQ(Split(slashed + "/0").substr(0, 7), "x/0/ / ");
}

TEST(RefsetChunkKey, IsMadeAgainFromItsParts) {
    for (const std::string key :
         {"t2m/3.0.1", "t2m/3", "x/c/0/1", "0.0", "1/2.3", "a//5", "0/1/2"}) {
        refs_split_key split;
        ASSERT_TRUE(refs_references__chunk_key_split(View(key), &split));
        EXPECT_EQ(Joined(split), key);
    }
}

TEST(RefsetChunkKey, IsSplitAgainAsAtFirst) {
    const std::vector<std::string> keys = {
        "t2m/3.0.1", "t2m/4.5.6", "t2m/3", "t2m/3.0",   "x/3.0.1", "t2m/1/2/3", "t2m/01.0.1",
        "t2m/c/1",   "t2m/",      "t2m/9", "t2m/1.2/3", "0.1.2",   "7",         "t2m/.zarray"};
    for (const std::string &known : keys) {
        refs_split_key split;
        if (!refs_references__chunk_key_split(View(known), &split)) continue;
        for (const std::string &key : keys) {
            refs_split_key other;
            uint64_t index[REFS_CHUNK_MAX_RANK];
            const bool alike = refs_references__chunk_key_split(View(key), &other) &&
                               Text(other.prefix) == Text(split.prefix) &&
                               other.separator == split.separator && other.rank == split.rank;
            ASSERT_EQ(refs_references__chunk_key_resplit(View(key), split.prefix, split.separator,
                                                         split.rank, index),
                      alike)
                << known << " then " << key;
            for (size_t i = 0; alike && i < other.rank; i++) EXPECT_EQ(index[i], other.index[i]);
        }
    }
}

TEST(RefsetChunkIndex, IsPackedInOrder) {
    const uint64_t indices[][3] = {{0, 0, 0},       {0, 0, 9}, {0, 1, 0},
                                   {0, 2097151, 5}, {1, 0, 0}, {2097151, 2097151, 2097151}};
    uint64_t last = 0;
    for (const auto &index : indices) {
        uint64_t packed = 0;
        ASSERT_TRUE(refs_references__chunk_index_pack(index, 3, &packed));
        EXPECT_TRUE(packed > last || packed == 0);
        for (size_t dim = 0; dim < 3; dim++)
            EXPECT_EQ(refs_references__chunk_index_part(packed, 3, dim), index[dim]);
        last = packed;
    }
}

TEST(RefsetChunkIndex, IsNotPackedWhereANumberIsTooLarge) {
    uint64_t packed;
    for (size_t rank = 2; rank <= REFS_CHUNK_MAX_RANK; rank++) {
        uint64_t index[REFS_CHUNK_MAX_RANK] = {0};
        index[rank - 1] = (uint64_t{1} << (64 / rank)) - 1;
        EXPECT_TRUE(refs_references__chunk_index_pack(index, rank, &packed)) << rank;
        index[rank - 1]++;
        EXPECT_FALSE(refs_references__chunk_index_pack(index, rank, &packed)) << rank;
    }
    const uint64_t largest = UINT64_MAX;
    EXPECT_TRUE(refs_references__chunk_index_pack(&largest, 1, &packed));
    EXPECT_EQ(refs_references__chunk_index_part(packed, 1, 0), largest);
}
