/* flatbuffer.h -- reads tables, vectors and strings of a flatbuffer in place.
 *
 * A flatbuffer (https://flatbuffers.dev/internals/) is one piece of memory in which tables point to
 * each other by 32-bit offsets. Nothing is verified in advance: each offset is checked when it is
 * followed, so that only the parts of a manifest that are read cost time, and the number of tables
 * is not limited. Offsets to tables, vectors and strings only point forward, so following them
 * terminates. No alignment is required.
 *
 * All views borrow from the buffer. Failures are REFS_CORRUPT and say where in
 * the buffer. Immutable; safe from any thread.
 */
#ifndef REFS_REFERENCES_ICECHUNK_FLATBUFFER_H
#define REFS_REFERENCES_ICECHUNK_FLATBUFFER_H

#include "refs/bytes.h"

/** A table whose vtable was checked. */
typedef struct refs_flat_table {
    refs_bytes buffer;
    size_t at;         /**< position of the table */
    size_t size;       /**< bytes of its fields, including the offset of its vtable */
    size_t vtable;     /**< position of the vtable */
    unsigned n_fields; /**< fields in the vtable */
} refs_flat_table;

/** Consecutive elements of `element_size` bytes. */
typedef struct refs_flat_vector {
    refs_bytes buffer;
    size_t at; /**< of the first element */
    uint32_t n;
    bool is_present;
} refs_flat_vector;

/** The root of the buffer. */
refs_status refs_icechunk__flat_root(refs_bytes buffer, refs_flat_table *root, refs_error *err);

/** An unsigned number of 1, 2, 4 or 8 bytes; `*value` is unchanged if the field is absent.
 */
refs_status refs_icechunk__flat_number(const refs_flat_table *table, unsigned field, size_t size,
                                       uint64_t *value, refs_error *err);

/** A struct of `size` bytes; NULL if it is absent. */
refs_status refs_icechunk__flat_struct(const refs_flat_table *table, unsigned field, size_t size,
                                       const uint8_t **data, refs_error *err);

/** A vector, whose elements are all in the buffer; elements of vectors of tables and strings are
 * offsets of four bytes. */
refs_status refs_icechunk__flat_vector(const refs_flat_table *table, unsigned field,
                                       size_t element_size, refs_flat_vector *vector,
                                       refs_error *err);

/** A vector of bytes; `data` is NULL if it is absent. */
refs_status refs_icechunk__flat_bytes(const refs_flat_table *table, unsigned field,
                                      refs_bytes *bytes, refs_error *err);

/** A string; `data` is NULL if it is absent. */
refs_status refs_icechunk__flat_string(const refs_flat_table *table, unsigned field, refs_str *text,
                                       refs_error *err);

/** The table to which a field points; its buffer has no data if the field is absent. */
refs_status refs_icechunk__flat_child(const refs_flat_table *table, unsigned field,
                                      refs_flat_table *child, refs_error *err);

/** Element `i` of a vector of tables, of strings. */
refs_status refs_icechunk__flat_table_at(const refs_flat_vector *vector, uint32_t i,
                                         refs_flat_table *table, refs_error *err);
refs_status refs_icechunk__flat_string_at(const refs_flat_vector *vector, uint32_t i,
                                          refs_str *text, refs_error *err);

/** Element `i` of a vector of structs or numbers of `size` bytes. */
static inline const uint8_t *refs_icechunk__flat_at(const refs_flat_vector *vector, uint32_t i,
                                                    size_t size) {
    return vector->buffer.data + vector->at + (size_t)i * size;
}

#endif
