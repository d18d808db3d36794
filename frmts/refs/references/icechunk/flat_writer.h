/* flat_writer.h -- writes a flatbuffer from beginning to end.
 *
 * Offsets in a flatbuffer point forward, so a table precedes its targets: it is added with unset
 * offsets, and each is set by a link once its target was added. Tables with equal fields share one
 * vtable. Numbers are aligned as the verifiers of other libraries require.
 *
 * Source: https://flatbuffers.dev/internals/. Positions are bytes from the
 * beginning of the buffer.
 */
#ifndef REFS_REFERENCES_ICECHUNK_FLAT_WRITER_H
#define REFS_REFERENCES_ICECHUNK_FLAT_WRITER_H

#include "icechunk/flatbuffer.h"

/** Most fields of a table. */
#define REFS_FLAT_MAX_FIELDS 16

/** Most vtables of a buffer: one for each combination of fields. */
#define REFS_FLAT_MAX_VTABLES 64

/** Most bytes of a struct in a table. */
#define REFS_FLAT_MAX_STRUCT 12

/** Zeroed is empty. */
typedef struct refs_flat_writer {
    refs_buf bytes;
    uint32_t vtables[REFS_FLAT_MAX_VTABLES];
    size_t n_vtables;
} refs_flat_writer;

/** The fields of a table that is to be added. Zeroed has none. */
typedef struct refs_flat_draft {
    uint8_t sizes[REFS_FLAT_MAX_FIELDS]; /**< 0: absent */
    uint8_t aligned[REFS_FLAT_MAX_FIELDS];
    uint8_t data[REFS_FLAT_MAX_FIELDS][REFS_FLAT_MAX_STRUCT];
} refs_flat_draft;

/** A number of 1, 2, 4 or 8 bytes. */
void refs_icechunk__draft_number(refs_flat_draft *draft, unsigned field, size_t size,
                                 uint64_t value);
/** A struct of bytes. */
void refs_icechunk__draft_struct(refs_flat_draft *draft, unsigned field, const void *data,
                                 size_t size);
/** An offset, to be linked later. */
void refs_icechunk__draft_offset(refs_flat_draft *draft, unsigned field);

/** Begins the buffer; refs_icechunk__flat_set_root sets its root. */
refs_status refs_icechunk__flat_begin(refs_flat_writer *writer, refs_error *err);
void refs_icechunk__flat_set_root(refs_flat_writer *writer, size_t table);
void refs_icechunk__flat_clear(refs_flat_writer *writer);

/** Add an object and set *at to its position. */
refs_status refs_icechunk__flat_add_table(refs_flat_writer *writer, const refs_flat_draft *draft,
                                          size_t *at, refs_error *err);
refs_status refs_icechunk__flat_add_string(refs_flat_writer *writer, refs_str text, size_t *at,
                                           refs_error *err);

/** Elements of a vector: numbers, structs of numbers, or bytes. `alignment`: of one element. */
typedef struct refs_flat_elements {
    const void *data; /**< NULL: zeros, such as offsets to be linked later */
    size_t n, size, alignment;
} refs_flat_elements;

refs_status refs_icechunk__flat_add_vector(refs_flat_writer *writer,
                                           const refs_flat_elements *elements, size_t *at,
                                           refs_error *err);
refs_status refs_icechunk__flat_add_offsets(refs_flat_writer *writer, size_t n, size_t *at,
                                            refs_error *err);

/** Points a field of a table, or an element of a vector of offsets, to `target`, which must come
 * later in the buffer. */
void refs_icechunk__flat_link(refs_flat_writer *writer, size_t table, unsigned field,
                              size_t target);
void refs_icechunk__flat_link_element(refs_flat_writer *writer, size_t vector, size_t i,
                                      size_t target);

/** Adds a string, or bytes, and links them. */
refs_status refs_icechunk__flat_put_string(refs_flat_writer *writer, size_t table, unsigned field,
                                           refs_str text, refs_error *err);
refs_status refs_icechunk__flat_put_bytes(refs_flat_writer *writer, size_t table, unsigned field,
                                          refs_bytes bytes, refs_error *err);

/** Overwrite a field that the table has. */
void refs_icechunk__flat_set_struct(refs_flat_writer *writer, size_t table, unsigned field,
                                    const void *data, size_t size);
void refs_icechunk__flat_set_number(refs_flat_writer *writer, size_t table, unsigned field,
                                    size_t size, uint64_t value);

#endif
