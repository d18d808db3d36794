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

/** The allocator of the core; each member works like its namesake in <stdlib.h>. */
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

/** Stands before the declaration of a pointer: refs_free frees it at the end of its scope, however
 * the scope is left. */
#define REFS_SCOPED __attribute__((cleanup(refs_free_at), unused))

/** Frees the memory to which the pointer at `pointer` points. */
void refs_free_at(void *pointer);

/** Calls `clear(&variable)` when the scope of the variable ends. Stands before its type. */
#define REFS_SCOPED_BY(clear) __attribute__((cleanup(clear)))

/* -- checked arithmetic ---------------------------------------------------------------------- */

/** Sets *result to a + b, or a * b; false if that overflows. */
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

/** The same without that limit, for names and file contents. */
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
static inline bool refs_bytes_equal(refs_bytes a, refs_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool refs_str_equal(refs_str a, refs_str b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool refs_str_is(refs_str a, const char *text) {
    return refs_str_equal(a, refs_str_from(text));
}

/** Below, equal to or above 0 if `a` comes before, is equal to or comes after `b` by its bytes. */
int refs_str_compare(refs_str a, refs_str b);

/** Whether `text` begins (ends) with `part`. */
bool refs_str_starts(refs_str text, const char *part);
bool refs_str_ends(refs_str text, const char *part);

/** The position of the first (last) `c` in `text`, or SIZE_MAX. */
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

/** Takes the first string, and the NUL after it, off a list of NUL-ended strings; false if none is
 * left. */
bool refs_str_next_text(refs_str *list, const char **text);

/** The number of strings in such a list; whether `text` is one of them. */
size_t refs_str_count_texts(refs_str list);
bool refs_str_has_text(refs_str list, refs_str text);

/** Sets `begins` to the offset of each of `n` strings, and of the end of the last one: `n` + 1
 * numbers, which are the size of the list if it has fewer strings. */
void refs_str_find_texts(refs_str list, size_t n, size_t *begins);

/** Points the elements of `list` to the first `n` of the NUL-ended strings in `texts`. Returns the
 * address after them.
 */
const char *refs_texts_point(const char *texts, size_t n, const char **list);

/** Takes the first line off `text`: lines end with CR, LF or CR LF, and the last one at the end of
 * the text. False if nothing is left. */
bool refs_str_next_line(refs_str *text, refs_str *line);

/** The part after the last slash of a path; all of a path without one. */
const char *refs_path_leaf(const char *path);
refs_str refs_path_last(refs_str path);

/** The part before the last slash of a path, without and with the slash; nothing of a path without
 * one. */
refs_str refs_path_parent(refs_str path);
refs_str refs_path_folder(refs_str path);

/** Whether `text` is one of `names`, which NULL ends. */
bool refs_str_is_among(refs_str text, const char *const *names);

/** Sets *i to the index in `words`, which NULL ends, of the word that equals `text` in any case;
 * false, and *i untouched, if there is none. */
bool refs_word_find(const char *text, const char *const *words, size_t *i);

/** A NUL-ended copy for the caller to refs_free, or NULL. */
char *refs_str_copy(refs_str text);

/** The same as `*copy`, NULL on failure. */
refs_status refs_str_keep(refs_str text, char **copy, refs_error *err);

/** Whether both are NULL, or the same text. */
static inline bool refs_is_same_text(const char *one, const char *other) {
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

/** Whether `text` contains `part`. */
bool refs_str_has(refs_str text, const char *part);

static inline bool refs_is_digit(char c) {
    return c >= '0' && c <= '9';
}

/** Reads all of `text` as a decimal number without sign, spaces or needless leading zeros. */
bool refs_str_to_u64(refs_str text, uint64_t *number);

/* -- buffers --------------------------------------------------------------------------------- */

/** A byte array that grows at its end. Zeroed is empty; refs_buf_clear frees it. */
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
static inline refs_str refs_bytes_text(refs_bytes bytes) {
    return refs_str_view((const char *)bytes.data, bytes.size);
}
static inline refs_str refs_buf_text(const refs_buf *buf) {
    return refs_str_view((const char *)buf->data, buf->size);
}

/** Frees what `buf` holds and leaves it empty. */
void refs_buf_clear(refs_buf *buf);

/** A buffer that is cleared at the end of its scope, however the scope is left. */
#define REFS_SCOPED_BUF REFS_SCOPED_BY(refs_buf_clear) refs_buf

/** Makes room for `capacity` bytes in all; the size stays. */
refs_status refs_buf_reserve(refs_buf *buf, size_t capacity, refs_error *err);

/** Sets the size; added bytes are not initialised. */
refs_status refs_buf_resize(refs_buf *buf, size_t size, refs_error *err);

/** Append `size` bytes; text; text and a NUL; a little-endian number of `size` bytes; printf-style
 * text (a NUL follows it in memory, but does not count). */
refs_status refs_buf_append(refs_buf *buf, const void *data, size_t size, refs_error *err);
refs_status refs_buf_append_str(refs_buf *buf, refs_str text, refs_error *err);
refs_status refs_buf_append_text(refs_buf *buf, refs_str text, refs_error *err);
refs_status refs_buf_append_le(refs_buf *buf, uint64_t number, size_t size, refs_error *err);
refs_status refs_buf_printf(refs_buf *buf, refs_error *err, const char *format, ...)
    REFS_PRINTF(3, 4);

/** The text in `buf` with a NUL after it, for the caller to refs_free; `buf` is empty then.
 * NULL when memory ran out. */
char *refs_buf_take_text(refs_buf *buf);

/** The same as `*text`, NULL on failure. */
refs_status refs_buf_keep(refs_buf *buf, char **text, refs_error *err);

/* -- objects and lists of anything ------------------------------------------------------------ */

/** Makes room for one more element after `count` elements of `element_size` bytes in `*memory`,
 * which holds `*capacity` of them; grows geometrically. False when memory ran out. */
bool refs_grow(void **memory, size_t *capacity, size_t count, size_t element_size);

/** Sets `pointer` to `n` zeroed elements, for refs_free; returns REFS_NOMEM from the calling
 * function when memory ran out. */
#define REFS_NEW(pointer, n, err)                                                                  \
    do {                                                                                           \
        (pointer) = refs_calloc((n), sizeof *(pointer));                                           \
        if ((pointer) == NULL) return refs_fail_nomem(err);                                        \
    } while (0)

/** Works like refs_grow on the list `elements`, a pointer to its element type; returns REFS_NOMEM
 * from the calling function when memory ran out. */
#define REFS_GROW(elements, capacity, count, err)                                                  \
    do {                                                                                           \
        if (!refs_grow((void **)&(elements), &(capacity), (count), sizeof *(elements)))            \
            return refs_fail_nomem(err);                                                           \
    } while (0)

/** Binary search: moves `found` up to the first number below `n` for which `is_before`, an
 * expression in `found`, is false, or to `n`. `is_before` must be false for all numbers after that
 * one. */
#define REFS_BISECT(found, n, is_before)                                                           \
    for (__typeof__(found) begin_ = (found), end_ = (n); (found) = begin_, begin_ < end_;) {       \
        (found) += (end_ - begin_) / 2;                                                            \
        if (is_before)                                                                             \
            begin_ = (found) + 1;                                                                  \
        else                                                                                       \
            end_ = (found);                                                                        \
    }

/** Compares two uint64_t, for qsort. */
int refs_compare_u64(const void *one, const void *other);

/* -- base64 ---------------------------------------------------------------------------------- */

/** Appends the bytes that `text` encodes in the standard alphabet of RFC 4648, section 4. White
 * space is skipped and missing padding accepted; REFS_CORRUPT for any other byte. */
refs_status refs_base64_decode(refs_str text, refs_buf *decoded, refs_error *err);

/** Appends `bytes` encoded, padding included. */
refs_status refs_base64_encode(refs_bytes bytes, refs_buf *encoded, refs_error *err);

/* -- numbers in bytes, the lowest first (le) or last (be) ------------------------------------- */

/** Numbers of up to 8 bytes. */
static inline uint64_t refs_load_le(const uint8_t *p, size_t size) {
    uint64_t number = 0;
    while (size-- > 0) number = number << 8 | p[size];
    return number;
}
static inline uint64_t refs_load_be(const uint8_t *p, size_t size) {
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++) number = number << 8 | p[i];
    return number;
}
static inline void refs_store_le(uint8_t *p, size_t size, uint64_t number) {
    for (size_t i = 0; i < size; i++, number >>= 8) p[i] = (uint8_t)number;
}
static inline void refs_store_be(uint8_t *p, size_t size, uint64_t number) {
    for (; size-- > 0; number >>= 8) p[size] = (uint8_t)number;
}

/** The same in this machine's order. */
static inline uint64_t refs_load_native(const uint8_t *p, size_t size) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? refs_load_le(p, size)
                                                     : refs_load_be(p, size);
}
static inline void refs_store_native(uint8_t *p, size_t size, uint64_t number) {
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        refs_store_le(p, size, number);
    else
        refs_store_be(p, size, number);
}

static inline unsigned refs_load_le16(const uint8_t *p) {
    return (unsigned)p[0] | (unsigned)p[1] << 8;
}
static inline unsigned refs_load_be16(const uint8_t *p) {
    return (unsigned)p[0] << 8 | (unsigned)p[1];
}
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
