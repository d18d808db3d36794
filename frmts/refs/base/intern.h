/* intern.h -- a table of distinct strings, numbered 0, 1, 2 … in the order in which they were
 * added.
 *
 * Used for URLs, keys and folder names. The owner keeps data of a string in an array, indexed by
 * the string's number.
 *
 * A table has one writer at a time; after the last string was added, any number of threads may
 * read.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_INTERN_H
#define REFS_INTERN_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Not the number of any string. */
#define REFS_INTERN_NONE UINT32_MAX

/** Zeroed is empty. */
typedef struct refs_intern {
    refs_buf text;   /**< all strings, each with a NUL after it */
    uint64_t *begin; /**< of each string, in text */
    size_t count;
    size_t capacity;
    struct refs_intern_slot {
        uint32_t id; /**< or REFS_INTERN_NONE */
        uint32_t hash;
    } * slots;      /**< open addressing: a probe reads no string whose hash is another */
    size_t n_slots; /**< zero or a power of two */
    uint64_t key;   /**< random key of the hash, so that a document cannot contain strings chosen to
                       collide */
} refs_intern;

/** Frees what the table holds and leaves it empty. */
void refs_intern_clear(refs_intern *table);

/** The number of `text`, which is added when new (its number is then the former count). */
refs_status refs_intern_add(refs_intern *table, refs_str text, uint32_t *id, refs_error *err);

/** The number of `text`, or REFS_INTERN_NONE. */
uint32_t refs_intern_find(const refs_intern *table, refs_str text);

/** String number `id` with a NUL after it, borrowed until the next string is added. */
refs_str refs_intern_get(const refs_intern *table, uint32_t id);

/** Bytes of memory that the table takes. */
size_t refs_intern_memory(const refs_intern *table);

#ifdef __cplusplus
}
#endif
#endif
