/* slices_test.cc -- large chunks that no codec packs are read a slice at a time: the same values,
 * fewer bytes. */
#include "memory_array.h"

#include <random>

namespace {

using Numbers = std::vector<uint64_t>;

/** 4-byte integers in large chunks. */
struct LargeArray : MemoryArray {
    explicit LargeArray(const ArrayShape &of) : v(of) {
        addIntegers(v);
        open();
    }
    std::vector<int32_t> read(const Numbers &start, const Numbers &count,
                              const std::vector<int64_t> &step) {
        uint64_t n = 1;
        for (uint64_t size : count) n *= size;
        std::vector<int32_t> values(n);
        const refs_region region = {start.data(), count.data(), step.data()};
        status = refs_array_read(array, &region, values.data(), nullptr, &error);
        return values;
    }
    ArrayShape v;
    refs_status status = REFS_OK;
};

/** A chunk of more than a mebibyte, cut in all ways that there are. */
ArrayShape drawLarge(std::mt19937 &random) {
    ArrayShape v;
    const size_t rank = 1 + random() % 3;
    const uint64_t sides[] = {0, 700000, 900, 97};
    for (size_t dim = 0; dim < rank; dim++) {
        const uint64_t side = sides[rank] - sides[rank] / 8 + random() % (sides[rank] / 4);
        const uint64_t chunk =
            random() % 3 == 0 ? side + random() % 9 : side - random() % (side / 9);
        v.shape.push_back(side);
        v.chunks.push_back(chunk);
    }
    v.order = random() % 2 ? 'C' : 'F';
    return v;
}

class SlicedProperty : public testing::TestWithParam<unsigned> {};

TEST_P(SlicedProperty, GivesEveryElementOfAnyRegion) {
    std::mt19937 random(GetParam());
    LargeArray v(drawLarge(random));
    Numbers start, count;
    std::vector<int64_t> step;
    for (uint64_t size : v.v.shape) {
        const bool backwards = random() % 3 == 0;
        const uint64_t first = random() % size, by = 1 + random() % 40;
        const uint64_t room = (backwards ? first : size - 1 - first) / by;
        start.push_back(first);
        count.push_back(1 + std::min<uint64_t>(room, random() % 60));
        step.push_back(backwards ? -static_cast<int64_t>(by) : static_cast<int64_t>(by));
    }
    const std::vector<int32_t> values = v.read(start, count, step);
    ASSERT_EQ(v.status, REFS_OK) << v.error.message;
    size_t i = 0, wrong = 0;
    forEachIndex(count, [&](const Numbers &element) {
        Numbers index(element.size());
        for (size_t dim = 0; dim < index.size(); dim++)
            index[dim] = start[dim] + element[dim] * static_cast<uint64_t>(step[dim]);
        wrong += values[i++] != v.v.valueAt(index);
    });
    EXPECT_EQ(wrong, 0u) << jsonList(v.v.shape) << jsonList(v.v.chunks) << v.v.order;
}

INSTANTIATE_TEST_SUITE_P(Seeds, SlicedProperty, testing::Range(0u, 16u));

/** One chunk of bytes in a file. */
struct FileArrayOfBytes : MemoryArray {
    FileArrayOfBytes(uint64_t rows, uint64_t columns) {
        const std::string shape = jsonList({rows, columns});
        store.put("v/.zarray", R"({"zarr_format":2,"shape":)" + shape + R"(,"chunks":)" + shape +
                                   R"(,"dtype":"|u1","order":"C","fill_value":0,
            "compressor":null,"filters":null})");
        store.vfs.files["v.bin"] = std::string(rows * columns, 'a');
        store.range("v/0.0", "v.bin", 0, rows * columns);
        open();
    }
    /** How many bytes are fetched for a region. */
    uint64_t bytesFor(uint64_t row, uint64_t rows, uint64_t columns) {
        const uint64_t start[] = {row, 0}, count[] = {rows, columns};
        const refs_region region = {start, count, nullptr};
        std::string values(rows * columns, '?');
        EXPECT_EQ(refs_array_read(array, &region, &values[0], nullptr, &error), REFS_OK)
            << error.message;
        EXPECT_EQ(values, std::string(rows * columns, 'a'));
        return store.stats().bytes;
    }
};

TEST(Sliced, OneElementCostsOneSlice) {
    FileArrayOfBytes v(2000, 1000);
    EXPECT_LE(v.bytesFor(1000, 1, 1), 256u * 1024);
}

TEST(Sliced, AllOfAChunkIsReadOnceAndAtOnce) {
    FileArrayOfBytes v(2000, 1000);
    EXPECT_EQ(v.bytesFor(0, 2000, 1000), 2000000u);
    EXPECT_EQ(v.store.stats().requests, 1u);
}

TEST(Sliced, ChunksOfAMebibyteAreNot) {
    FileArrayOfBytes v(1024, 1024);
    EXPECT_EQ(v.bytesFor(0, 1, 1), 1u << 20);
}

TEST(Sliced, ChunksMayBeLargerThanAnyThatIsDecoded) {
    MemoryArray v;
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[40000,40000],"chunks":[40000,40000],
        "dtype":"|u1","order":"C","fill_value":5,"compressor":null,"filters":null})");
    v.open();
    const uint64_t start[] = {39999, 39990}, count[] = {1, 10};
    const refs_region region = {start, count, nullptr};
    std::string values(10, '?');
    ASSERT_EQ(refs_array_read(v.array, &region, &values[0], nullptr, &v.error), REFS_OK);
    EXPECT_EQ(values, std::string(10, '\x05'));
}

TEST(Sliced, ChunksOfAnotherSizeAreAnError) {
    for (const uint64_t size : {1999999u, 2000001u}) {
        MemoryArray v;
        v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[2000,1000],"chunks":[2000,1000],
            "dtype":"|u1","order":"C","fill_value":0,"compressor":null,"filters":null})");
        v.store.put("v/0.0", std::string(size, 'a'));
        v.open();
        const uint64_t start[] = {0, 0}, count[] = {1, 10};
        const refs_region region = {start, count, nullptr};
        std::string values(10, '?');
        EXPECT_EQ(refs_array_read(v.array, &region, &values[0], nullptr, &v.error), REFS_CORRUPT);
        EXPECT_NE(std::string(v.error.message)
                      .find("it has " + std::to_string(size) + " bytes: expected 2000000"),
                  std::string::npos)
            << v.error.message;
    }
}

TEST(Sliced, TheLastChunkMayEndWithTheArray) {
    MemoryArray v;
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[3000,1000],"chunks":[2000,1000],
        "dtype":"|u1","order":"C","fill_value":0,"compressor":null,"filters":null})");
    v.store.put("v/0.0", std::string(2000000, 'a'));
    v.store.put("v/1.0", std::string(1000000, 'b'));
    v.open();
    const uint64_t start[] = {1999, 0}, count[] = {1001, 1000};
    const refs_region region = {start, count, nullptr};
    std::string values(1001000, '?');
    ASSERT_EQ(refs_array_read(v.array, &region, &values[0], nullptr, &v.error), REFS_OK)
        << v.error.message;
    EXPECT_EQ(values, std::string(1000, 'a') + std::string(1000000, 'b'));
}

TEST(Sliced, TheOnlyChunkMayBeCalledZero) {
    MemoryArray v;
    v.store.put("v/.zarray", R"({"zarr_format":2,"shape":[2000,1000],"chunks":[2000,1000],
        "dtype":"|u1","order":"C","fill_value":0,"compressor":null,"filters":null})");
    v.store.put("v/0", std::string(1999999, 'a') + "b");
    v.open();
    const uint64_t start[] = {1999, 998}, count[] = {1, 2};
    const refs_region region = {start, count, nullptr};
    std::string values(2, '?');
    ASSERT_EQ(refs_array_read(v.array, &region, &values[0], nullptr, &v.error), REFS_OK)
        << v.error.message;
    EXPECT_EQ(values, "ab");
}

} // namespace
