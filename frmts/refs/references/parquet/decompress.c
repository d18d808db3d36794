/* decompress.c -- compressed pages, see parquet_internal.h. */
#include "parquet/parquet_internal.h"

#ifdef REFS_HAS_snappy
#include <snappy-c.h>
#endif
#ifdef REFS_HAS_deflate
#include <libdeflate.h>
#endif
#ifdef REFS_HAS_zstd
#include <zstd.h>
#endif

/* Writes exactly `size` bytes to `dst`; REFS_CORRUPT if the input has another size. */
typedef refs_status (*decompressor)(refs_bytes bytes, uint8_t *dst, size_t size);

static refs_status copy(refs_bytes bytes, uint8_t *dst, size_t size) {
    if (bytes.size != size) return REFS_CORRUPT;
    memcpy(dst, bytes.data, size);
    return REFS_OK;
}

#ifdef REFS_HAS_snappy
static refs_status unsnappy(refs_bytes bytes, uint8_t *dst, size_t size) {
    size_t length = 0;
    const char *src = (const char *)bytes.data;
    if (snappy_uncompressed_length(src, bytes.size, &length) != SNAPPY_OK || length != size)
        return REFS_CORRUPT;
    return snappy_uncompress(src, bytes.size, (char *)dst, &length) == SNAPPY_OK ? REFS_OK
                                                                                 : REFS_CORRUPT;
}
#else
#define unsnappy NULL
#endif

#ifdef REFS_HAS_deflate
static refs_status gunzip(refs_bytes bytes, uint8_t *dst, size_t size) {
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    if (inflater == NULL) return REFS_NOMEM;
    /* With NULL for the actual size, libdeflate fails if it is less than `size`. */
    enum libdeflate_result result =
        libdeflate_gzip_decompress(inflater, bytes.data, bytes.size, dst, size, NULL);
    libdeflate_free_decompressor(inflater);
    return result == LIBDEFLATE_SUCCESS ? REFS_OK : REFS_CORRUPT;
}
#else
#define gunzip NULL
#endif

#ifdef REFS_HAS_zstd
static refs_status unzstd(refs_bytes bytes, uint8_t *dst, size_t size) {
    return ZSTD_decompress(dst, size, bytes.data, bytes.size) == size ? REFS_OK : REFS_CORRUPT;
}
#else
#define unzstd NULL
#endif

/* Numbered as CompressionCodec. max_ratio is the most output for a byte of input: snappy copies 64
 * bytes by three; deflate 258 bytes by two bits; zstd a block of 128 KiB by four. */
static const struct {
    const char *name;
    decompressor decompress; /* NULL: not in this build */
    const char *library;     /* NULL: in no build */
    size_t max_ratio;
} codecs[] = {
    {"UNCOMPRESSED", copy, "", 1},
    {"SNAPPY", unsnappy, "libsnappy", 64},
    {"GZIP", gunzip, "libdeflate", 1032},
    {"LZO", NULL, NULL, 0},
    {"BROTLI", NULL, NULL, 0},
    {"LZ4", NULL, NULL, 0},
    {"ZSTD", unzstd, "libzstd", 32768},
    {"LZ4_RAW", NULL, NULL, 0},
};

static refs_status check_codec(int64_t codec, refs_error *err) {
    if (codec < 0 || (uint64_t)codec >= sizeof codecs / sizeof *codecs)
        return refs_fail(err, REFS_CORRUPT, "unknown compression %lld", (long long)codec);
    if (codecs[codec].library == NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "compression %s is not supported",
                         codecs[codec].name);
    if (codecs[codec].decompress == NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "compression %s is not in this build (needs %s)",
                         codecs[codec].name, codecs[codec].library);
    return REFS_OK;
}

refs_status refs_parquet__decompress(int64_t codec, refs_bytes bytes, size_t size,
                                     refs_buf *decompressed, refs_error *err) {
    REFS_TRY(check_codec(codec, err));
    refs_status status = REFS_CORRUPT;
    if (size / codecs[codec].max_ratio <= bytes.size) {
        REFS_TRY(refs_buf_resize(decompressed, size, err));
        /* An empty page may be stored as no bytes, whatever the compression. */
        bool nothing = size == 0 && bytes.size == 0;
        status = nothing ? REFS_OK : codecs[codec].decompress(bytes, decompressed->data, size);
    }
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    return refs_fail(err, status, "%zu bytes of %s do not decompress to %zu bytes", bytes.size,
                     codecs[codec].name, size);
}
