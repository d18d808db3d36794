// decompress_test.cc -- compressed pages: each compression, and sizes that do not fit.

#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "parquet/parquet_internal.h"
}
#include "parquet_writer.h"

namespace {

struct Outcome {
    refs_status status = REFS_OK;
    std::string bytes, message;
    size_t capacity = 0;
};

Outcome Decompress(int64_t codec, const std::string &bytes, size_t size) {
    refs_buf buffer = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    Outcome outcome;
    outcome.status = refs_parquet__decompress(codec, refs_bytes_view(bytes.data(), bytes.size()),
                                              size, &buffer, &err);
    outcome.bytes.assign(reinterpret_cast<char *>(buffer.data), buffer.size);
    outcome.message = err.message;
    outcome.capacity = buffer.capacity;
    refs_buf_clear(&buffer);
    return outcome;
}

constexpr parquet::Codec kAll[] = {parquet::kUncompressed, parquet::kSnappy, parquet::kGzip,
                                   parquet::kZstd};

} // namespace

TEST(ParquetDecompress, GivesBackWhatWasCompressed) {
    for (const parquet::Codec codec : kAll)
        for (const std::string &bytes :
             {std::string("0123456789"), std::string(100000, 'a'), std::string()}) {
            const Outcome outcome =
                Decompress(codec, parquet::Compress(codec, bytes), bytes.size());
            EXPECT_EQ(outcome.status, REFS_OK) << codec << ": " << outcome.message;
            EXPECT_EQ(outcome.bytes, bytes) << codec;
        }
}

TEST(ParquetDecompress, TakesNothingForNothing) {
    for (const parquet::Codec codec : kAll) EXPECT_EQ(Decompress(codec, "", 0).status, REFS_OK);
}

TEST(ParquetDecompress, HoldsToTheSizeThatWasPromised) {
    for (const parquet::Codec codec : kAll)
        for (const size_t size : {0, 9, 11}) {
            const std::string stored = parquet::Compress(codec, "0123456789");
            EXPECT_EQ(Decompress(codec, stored, size).status, REFS_CORRUPT) << codec << size;
        }
    EXPECT_EQ(Decompress(parquet::kUncompressed, "0123456789", 9).message,
              "10 bytes of UNCOMPRESSED do not decompress to 9 bytes");
}

TEST(ParquetDecompress, FindsDamage) {
    for (const parquet::Codec codec : kAll) {
        if (codec == parquet::kUncompressed) continue;
        const std::string stored = parquet::Compress(codec, std::string(1000, 'a'));
        for (size_t size = 0; size < stored.size(); size++)
            EXPECT_EQ(Decompress(codec, stored.substr(0, size), 1000).status, REFS_CORRUPT);
    }
}

TEST(ParquetDecompress, TakesNoMemoryForWhatCannotCome) {
    for (const parquet::Codec codec : kAll) {
        const Outcome outcome = Decompress(codec, std::string(100, 'x'), 256 * REFS_MIB);
        EXPECT_EQ(outcome.status, REFS_CORRUPT);
        EXPECT_EQ(outcome.capacity, 0u) << codec;
    }
}

TEST(ParquetDecompress, NamesWhatItDoesNotRead) {
    EXPECT_EQ(Decompress(4, "x", 1).status, REFS_UNSUPPORTED);
    EXPECT_EQ(Decompress(4, "x", 1).message, "compression BROTLI is not supported");
    EXPECT_EQ(Decompress(7, "x", 1).message, "compression LZ4_RAW is not supported");
    EXPECT_EQ(Decompress(8, "x", 1).status, REFS_CORRUPT);
    EXPECT_EQ(Decompress(-1, "x", 1).message, "unknown compression -1");
}
