// Zstandard: files of a repository, and locations by a dictionary.

#include <gtest/gtest.h>
#include <zstd.h>

extern "C" {
#include "icechunk/decompress.h"
}

namespace {

std::string Pack(const std::string &text, bool says_size) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, says_size ? 1 : 0);
    packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
    ZSTD_freeCCtx(context);
    return packed;
}

refs_bytes View(const std::string &bytes) {
    return refs_bytes_view(bytes.data(), bytes.size());
}

std::string Unpack(const std::string &packed, size_t max_size = SIZE_MAX / 4) {
    refs_buf buffer = REFS_BUF_INIT;
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_icechunk__unpack(View(packed), max_size, &buffer, &err);
    std::string text = status == REFS_OK
                           ? std::string(reinterpret_cast<const char *>(buffer.data), buffer.size)
                           : std::string(refs_status_text(status)) + ": " + err.message;
    refs_buf_clear(&buffer);
    return text;
}

TEST(Unpack, GivesBackWhatWasPackedWhetherOrNotItsSizeIsSaid) {
    for (size_t size : {size_t{0}, size_t{1}, size_t{5000}, size_t{3000000}}) {
        const std::string text(size, 'x');
        EXPECT_EQ(Unpack(Pack(text, true)), text);
        EXPECT_EQ(Unpack(Pack(text, false)), text);
        EXPECT_EQ(Unpack(Pack(text, false) + Pack(text, true)), text + text);
    }
}

TEST(Unpack, StopsAtTheLimit) {
    const std::string bomb = Pack(std::string(50000000, 'x'), false);
    EXPECT_EQ(Unpack(bomb, 1000),
              "over a limit: it decompresses to more than the limit of 1000 bytes");
    EXPECT_EQ(Unpack(Pack(std::string(1000, 'x'), false), 1000), std::string(1000, 'x'));
    EXPECT_EQ(Unpack(Pack(std::string(1001, 'x'), true), 1000).substr(0, 5), "over ");
}

TEST(Unpack, RefusesWhatIsCutOrDamaged) {
    std::string packed = Pack("some text that is long enough to be cut", true);
    for (size_t size = 0; size < packed.size(); size++)
        EXPECT_EQ(Unpack(packed.substr(0, size)).substr(0, 7), "corrupt") << size;
    packed[0] = 'x';
    EXPECT_EQ(Unpack(packed).substr(0, 7), "corrupt");
}

TEST(UnpackText, WorksWithoutADictionaryAndIsBounded) {
    refs_icechunk_dictionary *dictionary = nullptr;
    refs_buf text = REFS_BUF_INIT;
    ASSERT_EQ(refs_icechunk__dictionary_open(refs_bytes_view(nullptr, 0), &dictionary, nullptr),
              REFS_OK);
    const std::string packed = Pack("s3://bucket/key", true);
    EXPECT_EQ(refs_icechunk__unpack_text(dictionary, View(packed), 100, &text, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<char *>(text.data), text.size), "s3://bucket/key");
    EXPECT_EQ(refs_icechunk__unpack_text(dictionary, View(packed), 10, &text, nullptr), REFS_LIMIT);
    EXPECT_EQ(refs_icechunk__unpack_text(dictionary, View("nonsense"), 10, &text, nullptr),
              REFS_CORRUPT);
    refs_buf_clear(&text);
    refs_icechunk__dictionary_free(dictionary);
}

} // namespace
