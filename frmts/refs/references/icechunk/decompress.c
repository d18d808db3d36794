/* decompress.c -- see unpack.h. */
#include "icechunk/decompress.h"

#if defined(REFS_HAS_zstd)

#include <stdatomic.h>
#include <sys/mman.h>
#include <zstd.h>

/* If a frame does not state its size, the first buffer is so many times the packed size. */
#define USUAL_RATIO 4

#define LARGE_PAGE (2 * (size_t)REFS_MIB)

struct refs_icechunk_dictionary {
    ZSTD_DDict *dictionary;     /* NULL: the dictionary is empty */
    _Atomic(ZSTD_DCtx *) spare; /* of the last caller, or NULL */
};

static size_t first_capacity(refs_bytes packed, size_t max_size) {
    const unsigned long long stated = ZSTD_getFrameContentSize(packed.data, packed.size);
    size_t first_size = 0;
    if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR &&
        stated <= max_size && stated / 1024 <= packed.size)
        return (size_t)stated + 1;
    if (!refs_mul_size(packed.size, USUAL_RATIO, &first_size) || first_size > max_size)
        first_size = max_size;
    return first_size < 4 * REFS_KIB ? 4 * REFS_KIB : first_size;
}

/* Half of the time to unpack a manifest of 100 MB goes to page faults if pages are small. The
 * kernel may ignore this advice. */
static void advise_large_pages(const refs_buf *buffer) {
#ifdef MADV_HUGEPAGE
    const size_t over = (size_t)((uintptr_t)buffer->data % LARGE_PAGE);
    const size_t begin = over > 0 ? LARGE_PAGE - over : 0;
    if (buffer->capacity > begin + LARGE_PAGE)
        (void)madvise(buffer->data + begin, (buffer->capacity - begin) / LARGE_PAGE * LARGE_PAGE,
                      MADV_HUGEPAGE);
#else
    (void)buffer;
#endif
}

/* Reserves more memory, and one byte to detect too much data. */
static refs_status grow(refs_buf *buffer, size_t begin, size_t max_size, refs_error *err) {
    size_t most, wanted;
    if (buffer->size - begin > max_size)
        return refs_fail(err, REFS_LIMIT, "it decompresses to more than the limit of %zu bytes",
                         max_size);
    if (!refs_add_size(begin, max_size, &most) || !refs_add_size(most, 1, &most) ||
        !refs_mul_size(buffer->capacity, 2, &wanted))
        return refs_fail_nomem(err);
    return refs_buf_reserve(buffer, wanted < most ? wanted : most, err);
}

static refs_status unpack_all(ZSTD_DStream *stream, ZSTD_inBuffer *in, size_t max_size,
                              refs_buf *buffer, refs_error *err) {
    const size_t begin = buffer->size;
    size_t left = 1;
    while (left != 0 || in->pos < in->size) {
        if (buffer->size == buffer->capacity) REFS_TRY(grow(buffer, begin, max_size, err));
        ZSTD_outBuffer out = {buffer->data, buffer->capacity, buffer->size};
        left = ZSTD_decompressStream(stream, &out, in);
        if (ZSTD_isError(left))
            return refs_fail(err, REFS_CORRUPT, "zstd: %s", ZSTD_getErrorName(left));
        const bool is_full = out.pos == out.size;
        buffer->size = out.pos;
        if (left != 0 && in->pos == in->size && !is_full)
            return refs_fail(err, REFS_CORRUPT, "zstd: the last frame is truncated");
    }
    if (buffer->size - begin > max_size)
        return refs_fail(err, REFS_LIMIT, "it decompresses to more than the limit of %zu bytes",
                         max_size);
    return REFS_OK;
}

refs_status refs_icechunk__unpack(refs_bytes packed, size_t max_size, refs_buf *buffer,
                                  refs_error *err) {
    size_t first_size;
    if (!refs_add_size(buffer->size, first_capacity(packed, max_size), &first_size))
        return refs_fail_nomem(err);
    REFS_TRY(refs_buf_reserve(buffer, first_size, err));
    advise_large_pages(buffer);
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (stream == NULL) return refs_fail_nomem(err);
    ZSTD_inBuffer in = {packed.data, packed.size, 0};
    refs_status status = unpack_all(stream, &in, max_size, buffer, err);
    ZSTD_freeDStream(stream);
    return status;
}

refs_status refs_icechunk__dictionary_open(refs_bytes bytes, refs_icechunk_dictionary **dictionary,
                                           refs_error *err) {
    refs_icechunk_dictionary *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    if (bytes.size > 0) opened->dictionary = ZSTD_createDDict(bytes.data, bytes.size);
    if (bytes.size > 0 && opened->dictionary == NULL) {
        refs_free(opened);
        return refs_fail(err, REFS_CORRUPT, "the compression dictionary of locations is invalid");
    }
    *dictionary = opened;
    return REFS_OK;
}

void refs_icechunk__dictionary_free(refs_icechunk_dictionary *dictionary) {
    if (dictionary == NULL) return;
    ZSTD_freeDCtx(atomic_load(&dictionary->spare));
    ZSTD_freeDDict(dictionary->dictionary);
    refs_free(dictionary);
}

static refs_status unpack_text(ZSTD_DCtx *context, const refs_icechunk_dictionary *dictionary,
                               refs_bytes packed, refs_buf *text, refs_error *err) {
    uint8_t *to = text->data + text->size;
    const size_t first_size = text->capacity - text->size;
    const size_t size =
        dictionary->dictionary != NULL
            ? ZSTD_decompress_usingDDict(context, to, first_size, packed.data, packed.size,
                                         dictionary->dictionary)
            : ZSTD_decompressDCtx(context, to, first_size, packed.data, packed.size);
    if (ZSTD_isError(size))
        return refs_fail(err, REFS_CORRUPT, "a compressed location: zstd: %s",
                         ZSTD_getErrorName(size));
    text->size += size;
    return REFS_OK;
}

refs_status refs_icechunk__unpack_text(refs_icechunk_dictionary *dictionary, refs_bytes packed,
                                       size_t max_size, refs_buf *text, refs_error *err) {
    const unsigned long long stated = ZSTD_getFrameContentSize(packed.data, packed.size);
    size_t first_size = max_size;
    if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR) {
        if (stated > max_size)
            return refs_fail(err, REFS_LIMIT,
                             "a compressed location is longer than the limit of %zu bytes",
                             max_size);
        first_size = (size_t)stated;
    }
    REFS_TRY(refs_buf_reserve(text, text->size + first_size + 1, err));
    ZSTD_DCtx *context = atomic_exchange(&dictionary->spare, NULL);
    if (context == NULL && (context = ZSTD_createDCtx()) == NULL) return refs_fail_nomem(err);
    refs_status status = unpack_text(context, dictionary, packed, text, err);
    ZSTD_freeDCtx(atomic_exchange(&dictionary->spare, context));
    return status;
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter"

static refs_status fail(refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "compressed by Zstandard: this build lacks libzstd (Debian: libzstd-dev)");
}

refs_status refs_icechunk__unpack(refs_bytes packed, size_t max_size, refs_buf *buffer,
                                  refs_error *err) {
    return fail(err);
}

refs_status refs_icechunk__dictionary_open(refs_bytes bytes, refs_icechunk_dictionary **dictionary,
                                           refs_error *err) {
    return fail(err);
}

void refs_icechunk__dictionary_free(refs_icechunk_dictionary *dictionary) {}

refs_status refs_icechunk__unpack_text(refs_icechunk_dictionary *dictionary, refs_bytes packed,
                                       size_t max_size, refs_buf *text, refs_error *err) {
    return fail(err);
}

#endif
