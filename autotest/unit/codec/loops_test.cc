/* loops_test.cc -- loops for common types give what the general ones give, whatever the number of
 * elements is and wherever they lie. */
#include <random>

#include "codec_chain.h"
#include "little_endian.h"
extern "C" {
#include "numcodecs/scale.h"
}

namespace {

std::string randomBytes(size_t n) {
    static std::mt19937 generator(1);
    std::string bytes(n, '\0');
    for (char &byte : bytes) byte = static_cast<char>(generator());
    return bytes;
}

/* Around the sizes of vectors, and across blocks. */
const size_t lengths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 255, 257, 1000};

const char *const storedTypes[] = {"i1", "i2", "i4", "i8", "u1", "u2",
                                   "u4", "u8", "f2", "f4", "f8"};

size_t sizeOf(const char *type) {
    return static_cast<size_t>(type[1] - '0');
}

std::string codecOf(const std::string &before, const std::string &order, const char *from,
                    const char *to) {
    return before + R"(,"dtype":")" + order + to + R"(","astype":")" + order + from + "\"}";
}

/* What little-endian numbers give, which have loops of their own, and what the same numbers give
 * that are big-endian, which have none. NaNs of one kind need not have the same bits. */
void expectTheSame(const std::string &before, const char *from, const char *to) {
    for (size_t n : lengths) {
        std::string stored = randomBytes(n * sizeOf(from));
        const size_t size = n * sizeOf(to);
        const std::string little = decodeWith(codecOf(before, "<", from, to), stored, size).bytes;
        reverseEach(stored, sizeOf(from));
        std::string big = decodeWith(codecOf(before, ">", from, to), stored, size).bytes;
        reverseEach(big, sizeOf(to));
        ASSERT_EQ(little.size(), size);
        EXPECT_EQ(little, big) << n << " of " << from << " as " << to;
    }
}

TEST(Loops, ScaleAsForAnyType) {
    const std::string codec = R"({"id":"fixedscaleoffset","scale":0.7,"offset":-273.15)";
    for (const char *from : storedTypes)
        for (const char *to : {"f4", "f8", "i2"})
            if (from[0] != 'f') expectTheSame(codec, from, to);
}

TEST(Loops, SumAsForAnyType) {
    for (const char *from : storedTypes)
        for (const char *to : {"i1", "i2", "u4", "i8", "f8"})
            if (from[0] != 'f') expectTheSame(R"({"id":"delta")", from, to);
}

/* Floats of which none is a NaN. */
template <class T> std::string randomFloats(size_t n) {
    static std::mt19937 generator(2);
    std::vector<T> floats(n);
    for (T &one : floats) one = static_cast<T>(static_cast<double>(generator()) / 65536 - 30000);
    return littleEndian(floats);
}

template <class T> void expectTheSameOfFloats(const std::string &before, const char *type) {
    for (size_t n : lengths) {
        std::string stored = randomFloats<T>(n);
        const std::string little =
            decodeWith(codecOf(before, "<", type, type), stored, stored.size()).bytes;
        reverseEach(stored, sizeof(T));
        std::string big = decodeWith(codecOf(before, ">", type, type), stored, stored.size()).bytes;
        reverseEach(big, sizeof(T));
        ASSERT_EQ(little.size(), stored.size());
        EXPECT_EQ(little, big) << n << " of " << type;
    }
}

TEST(Loops, ComputeWithFloatsAsForAnyType) {
    for (const char *codec :
         {R"({"id":"fixedscaleoffset","scale":0.7,"offset":-273.15)", R"({"id":"delta")"}) {
        expectTheSameOfFloats<float>(codec, "f4");
        expectTheSameOfFloats<double>(codec, "f8");
    }
}

TEST(Loops, ScaleAlikeOnAnyProcessorAndWhateverTheAlignment) {
    const refs_scaling how = {0.7, -273.15};
    for (refs_number_kind kind : {REFS_NUMBER_INT, REFS_NUMBER_UINT})
        for (size_t from : {1, 2, 4})
            for (size_t to : {4, 8})
                for (size_t n : lengths) {
                    const refs_recast types = {{kind, from, false}, {REFS_NUMBER_FLOAT, to, false}};
                    const refs_scale loop = refs_codec__scale_for(&types);
                    if (loop == nullptr) continue;
                    const std::string stored = randomBytes(n * from + 3);
                    std::vector<uint8_t> fast(n * to + 2), slow(n * to + 2);
                    const auto *src = reinterpret_cast<const uint8_t *>(stored.data()) + n % 4;
                    loop(&how, src, n, fast.data() + n % 3);
                    refs_codec__scale_portable (&types)(&how, src, n, slow.data() + n % 3);
                    EXPECT_EQ(fast, slow) << n << " of " << from << " bytes as " << to;
                }
}

/* TIFF Technical Note 3, as it says it: what one row of `pixels` is stored as. */
std::string predicted(std::string pixels, size_t size, size_t distance, bool bigEndian) {
    const size_t n = pixels.size() / size;
    std::string planes;
    for (size_t plane = 0; plane < size; plane++)
        for (size_t i = 0; i < n; i++)
            planes += pixels[i * size + (bigEndian ? plane : size - 1 - plane)];
    for (size_t i = planes.size(); i-- > distance;)
        planes[i] = static_cast<char>(planes[i] - planes[i - distance]);
    return planes;
}

TEST(Loops, UndoTheFloatingPointPredictor) {
    for (size_t size : {2, 4, 8})
        for (size_t distance : {1, 2, 4})
            for (const char *order : {"<", ">"})
                for (size_t n : lengths) {
                    const std::string pixels = randomBytes(3 * n * size);
                    std::string stored;
                    for (size_t row = 0; row < 3; row++)
                        stored += predicted(pixels.substr(row * n * size, n * size), size, distance,
                                            order[0] == '>');
                    const std::string codec = R"({"id":"imagecodecs_floatpred","dist":)" +
                                              std::to_string(distance) + R"(,"shape":[3,)" +
                                              std::to_string(n) + R"(],"dtype":")" + order + "f" +
                                              std::to_string(size) + "\"}";
                    EXPECT_EQ(decodeWith(codec, stored, stored.size()).bytes, pixels)
                        << n << " of " << size << " bytes, " << distance << " apart";
                }
}

/** A number of `size` bytes of a row. */
uint64_t numberAt(const std::string &row, size_t i, size_t size, bool isBig) {
    uint64_t number = 0;
    for (size_t k = 0; k < size; k++) {
        const auto byte = static_cast<uint8_t>(row[i * size + (isBig ? k : size - 1 - k)]);
        number = number << 8 | byte;
    }
    return number;
}

/** A row as TIFF's horizontal predictor stores it. */
std::string differences(const std::string &row, size_t size, size_t distance, bool isBig) {
    std::string stored(row.size(), '\0');
    for (size_t i = 0; i < row.size() / size; i++) {
        uint64_t number = numberAt(row, i, size, isBig);
        if (i >= distance) number -= numberAt(row, i - distance, size, isBig);
        for (size_t k = 0; k < size; k++)
            stored[i * size + (isBig ? size - 1 - k : k)] = static_cast<char>(number >> 8 * k);
    }
    return stored;
}

TEST(Loops, UndoTheHorizontalPredictor) {
    for (size_t size : {1, 2, 4, 8})
        for (size_t distance : {1, 2, 4})
            for (const char *order : {"<", ">"})
                for (size_t n : lengths) {
                    const std::string pixels = randomBytes(3 * n * size);
                    std::string stored;
                    for (size_t row = 0; row < 3; row++)
                        stored += differences(pixels.substr(row * n * size, n * size), size,
                                              distance, order[0] == '>');
                    const std::string codec = R"({"id":"imagecodecs_delta","dist":)" +
                                              std::to_string(distance) + R"(,"shape":[3,)" +
                                              std::to_string(n) + R"(],"dtype":")" + order + "u" +
                                              std::to_string(size) + "\"}";
                    EXPECT_EQ(decodeWith(codec, stored, stored.size()).bytes, pixels)
                        << n << " of " << size << " bytes, " << distance << " apart";
                }
}

} // namespace
