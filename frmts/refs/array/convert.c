/* convert.c -- elements in this machine's byte order, as doubles, as strings. */
#include "array_internal.h"
#include "refs/avx2.h"
#include "refs/utf8.h"

/* -- byte order -------------------------------------------------------------------------------- */

static bool host_is_big_endian(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

#define SWAP_ALL(type, swap)                                                                       \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            type element;                                                                          \
            memcpy(&element, elements + i * sizeof element, sizeof element);                       \
            element = swap(element);                                                               \
            memcpy(elements + i * sizeof element, &element, sizeof element);                       \
        }                                                                                          \
    }

#define DEFINE_SWAP(width)                                                                         \
    static void swap_##width(uint8_t *elements, size_t n)                                          \
        SWAP_ALL(uint##width##_t, __builtin_bswap##width)                                          \
            REFS_AVX2 static void swap_##width##_avx2(uint8_t *elements, size_t n)                 \
                SWAP_ALL(uint##width##_t, __builtin_bswap##width)

DEFINE_SWAP(16)
DEFINE_SWAP(32)
DEFINE_SWAP(64)

static void swap_all(uint8_t *elements, size_t n, size_t size) {
    typedef void (*swap_loop)(uint8_t * elements, size_t n);
    static const swap_loop portable[] = {[2] = swap_16, [4] = swap_32, [8] = swap_64};
    static const swap_loop avx2[] = {[2] = swap_16_avx2, [4] = swap_32_avx2, [8] = swap_64_avx2};
    swap_loop loop = size <= 8 ? (refs_has_avx2() ? avx2 : portable)[size] : NULL;
    if (loop != NULL) loop(elements, n);
}

void refs_array__to_host_order(const refs_dtype *dtype, uint8_t *elements, size_t n) {
    size_t size = refs_dtype_swap_size(dtype);
    if (size < 2 || dtype->big_endian == host_is_big_endian()) return;
    swap_all(elements, n * (dtype->size / size), size);
}

/* -- strings --------------------------------------------------------------------------------- */

static refs_status append_code_point(uint32_t c, refs_buf *strings, refs_error *err) {
    uint8_t utf8[4];
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return refs_fail(err, REFS_CORRUPT, "0x%x is not a Unicode character", (unsigned)c);
    return refs_buf_append(strings, utf8, refs_utf8_encode(c, utf8), err);
}

static refs_status append_unicode(const uint8_t *element, size_t size, refs_buf *strings,
                                  refs_error *err) {
    for (size_t i = 0; i + 4 <= size; i += 4) {
        uint32_t c;
        memcpy(&c, element + i, sizeof c);
        if (c == 0) break;
        REFS_TRY(append_code_point(c, strings, err));
    }
    return REFS_OK;
}

refs_status refs_array__to_strings(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                                   refs_buf *strings, refs_error *err) {
    for (size_t i = 0; i < n; i++) {
        const uint8_t *element = elements + i * dtype->size;
        if (dtype->type == REFS_TYPE_UNICODE) {
            REFS_TRY(append_unicode(element, dtype->size, strings, err));
        } else {
            const uint8_t *end = memchr(element, 0, dtype->size);
            size_t size = end != NULL ? (size_t)(end - element) : dtype->size;
            REFS_TRY(refs_buf_append(strings, element, size, err));
        }
        REFS_TRY(refs_buf_append(strings, "", 1, err));
    }
    return REFS_OK;
}
