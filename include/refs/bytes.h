/* bytes.h -- memory, views of it, growing buffers, and sizes that cannot overflow.
 *
 * Views (refs_bytes, refs_str) are passed by value, borrow, and carry their
 * size: nothing relies on an ending NUL unless it says so. All memory of the
 * core comes from refs_alloc and its kin, so that tests can make the n-th
 * allocation fail. Every refs_…_free and refs_…_close takes NULL; every
 * refs_…_clear takes a zeroed struct.
 *
 * Read before this: error.h.
 */
#ifndef REFS_BYTES_H
#define REFS_BYTES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "refs/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REFS_KIB ((size_t)1024)
#define REFS_MIB (1024 * REFS_KIB)

/* -- allocation ------------------------------------------------------------------------------ */

/** The allocator behind the core; each member is as its namesake in <stdlib.h>. */
typedef struct refs_allocator {
    void *(*malloc_fn)(size_t size);
    void *(*realloc_fn)(void *memory, size_t size);
    void (*free_fn)(void *memory);
} refs_allocator;

/** Replaces the allocator; NULL restores the C library's. For tests, before anything else
 * is called: not thread-safe. */
void refs_allocator_set(const refs_allocator *allocator);

/** Returns the pages of `memory`, `size` bytes from refs_alloc, to the system where it can. The
 * memory stays allocated; its content is undefined until it is written again. */
void refs_forget(void *memory, size_t size);

/** `size` bytes, or NULL. A size of zero gives one byte. Freed with refs_free. */
void *refs_alloc(size_t size);

/** `count` times `size` zeroed bytes; NULL on failure and where the product overflows. */
void *refs_calloc(size_t count, size_t size);

/** Works like realloc(3); NULL leaves `memory` as it was. */
void *refs_realloc(void *memory, size_t size);

/** Works like free(3). */
void refs_free(void *memory);

/* -- checked arithmetic ---------------------------------------------------------------------- */

/** Sets *result to a + b, a * b; false, and *result untouched, where that overflows. */
static inline bool refs_add_u64(uint64_t a, uint64_t b, uint64_t *result) {
    return !__builtin_add_overflow(a, b, result);
}
static inline bool refs_mul_u64(uint64_t a, uint64_t b, uint64_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}
static inline bool refs_add_size(size_t a, size_t b, size_t *result) {
    return !__builtin_add_overflow(a, b, result);
}
static inline bool refs_mul_size(size_t a, size_t b, size_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}

/* -- views ----------------------------------------------------------------------------------- */

/** `size` borrowed bytes. */
typedef struct refs_bytes {
    const uint8_t *data;
    size_t size;
} refs_bytes;

/** `size` borrowed bytes of UTF-8 text; may hold NULs. */
typedef struct refs_str {
    const char *data;
    size_t size;
} refs_str;

/** Arguments for printf's "%.*s" in messages: no more than 400 bytes are shown. */
#define REFS_STR_ARG(str) (int)((str).size < 400 ? (str).size : 400), (str).data

/** The same without that limit, for names and files. */
#define REFS_STR_WHOLE(str) (int)((str).size < INT_MAX ? (str).size : INT_MAX), (str).data

static inline refs_bytes refs_bytes_view(const void *data, size_t size) {
    refs_bytes bytes = {(const uint8_t *)data, size};
    return bytes;
}
static inline refs_str refs_str_view(const char *data, size_t size) {
    refs_str str = {data, size};
    return str;
}
static inline refs_str refs_str_from(const char *text) {
    return refs_str_view(text, strlen(text));
}
static inline bool refs_str_equal(refs_str a, refs_str b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool refs_str_is(refs_str a, const char *text) {
    return refs_str_equal(a, refs_str_from(text));
}

/** Whether `text` begins (ends) with `part`. */
bool refs_str_starts(refs_str text, const char *part);
bool refs_str_ends(refs_str text, const char *part);

/** The position of `c` counted from the start (end) of `text`, or SIZE_MAX. */
size_t refs_str_find(refs_str text, char c);
size_t refs_str_find_last(refs_str text, char c);

/** The part [begin, end) of `text`; both are clamped to its size. */
refs_str refs_str_part(refs_str text, size_t begin, size_t end);

/** `text` without any characters of `blanks` at its beginning and end. */
refs_str refs_str_trim(refs_str text, const char *blanks);

/** The separators of words in an attribute. */
#define REFS_BLANKS " \t\r\n"

/** Cuts the next word, ended by one of the characters of `separators`, from the front of `*text`,
 * together with the separators before it; false, and an empty word, when none is left. */
bool refs_str_next_word(refs_str *text, const char *separators, refs_str *word);

/** Takes the first line off `text`: lines end in CR, LF or both, and the last one at the end. False
 * where nothing is left. */
bool refs_str_next_line(refs_str *text, refs_str *line);

/** A NUL-ended copy for the caller to refs_free, or NULL. */
char *refs_str_copy(refs_str text);

/** Reads all of `text` as a decimal number without sign, spaces or needless leading zeros. */
bool refs_str_to_u64(refs_str text, uint64_t *number);

/* -- buffers --------------------------------------------------------------------------------- */

/** Bytes that grow at the end. Zeroed is empty; refs_buf_clear gives the memory back. */
typedef struct refs_buf {
    uint8_t *data;
    size_t size;
    size_t capacity;
} refs_buf;

#define REFS_BUF_INIT                                                                              \
    { NULL, 0, 0 }

static inline refs_bytes refs_buf_view(const refs_buf *buf) {
    return refs_bytes_view(buf->data, buf->size);
}

/** Frees what `buf` holds and leaves it empty. */
void refs_buf_clear(refs_buf *buf);

/** Makes room for `capacity` bytes in all; the size stays. */
refs_status refs_buf_reserve(refs_buf *buf, size_t capacity, refs_error *err);

/** Sets the size; added bytes are not initialised. */
refs_status refs_buf_resize(refs_buf *buf, size_t size, refs_error *err);

/** Adds `size` bytes; text; printf-style text (no NUL is counted, but one follows in memory). */
refs_status refs_buf_append(refs_buf *buf, const void *data, size_t size, refs_error *err);
refs_status refs_buf_append_str(refs_buf *buf, refs_str text, refs_error *err);
refs_status refs_buf_printf(refs_buf *buf, refs_error *err, const char *format, ...)
    REFS_PRINTF(3, 4);

/** The text in `buf` with a NUL after it, for the caller to refs_free; `buf` is empty then.
 * NULL when memory ran out. */
char *refs_buf_take_text(refs_buf *buf);

/* -- lists of anything ------------------------------------------------------------------------ */

/** Makes room for one more element after `count` elements of `element_size` bytes in `*memory`,
 * which holds `*capacity` of them; grows geometrically. False when memory ran out. */
bool refs_grow(void **memory, size_t *capacity, size_t count, size_t element_size);

/* -- base64 ---------------------------------------------------------------------------------- */

/** Appends what `text` encodes in the standard alphabet of RFC 4648, section 4. White space is
 * skipped and missing padding accepted; REFS_CORRUPT for any other byte. */
refs_status refs_base64_decode(refs_str text, refs_buf *decoded, refs_error *err);

/** Appends `bytes` encoded, padding included. */
refs_status refs_base64_encode(refs_bytes bytes, refs_buf *encoded, refs_error *err);

/* -- little-endian numbers in bytes ----------------------------------------------------------- */

static inline uint32_t refs_load_le32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t refs_load_le64(const uint8_t *p) {
    return (uint64_t)refs_load_le32(p) | (uint64_t)refs_load_le32(p + 4) << 32;
}
static inline uint32_t refs_load_be24(const uint8_t *p) {
    return (uint32_t)p[2] | (uint32_t)p[1] << 8 | (uint32_t)p[0] << 16;
}
static inline uint32_t refs_load_be32(const uint8_t *p) {
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}
static inline uint64_t refs_load_be64(const uint8_t *p) {
    return (uint64_t)refs_load_be32(p) << 32 | (uint64_t)refs_load_be32(p + 4);
}

#ifdef __cplusplus
}
#endif
#endif
