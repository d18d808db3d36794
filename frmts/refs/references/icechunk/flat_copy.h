/* flat_copy.h -- copies tables of one flatbuffer to another, by a description of their fields.
 *
 * A repository's info is rewritten at each commit, with all data of earlier writers. A table with a
 * field that is not in the description is rejected, so that no data is lost.
 */
#ifndef REFS_REFERENCES_ICECHUNK_FLAT_COPY_H
#define REFS_REFERENCES_ICECHUNK_FLAT_COPY_H

#include "icechunk/flat_writer.h"

typedef enum refs_flat_kind {
    REFS_FLAT_NUMBER, /**< of `size` bytes; the copy has it even where the table does not */
    REFS_FLAT_STRUCT, /**< of `size` bytes, not aligned */
    REFS_FLAT_TEXT,
    REFS_FLAT_VECTOR, /**< of elements of `size` bytes */
    REFS_FLAT_TABLE,
    REFS_FLAT_TABLES /**< a vector of tables */
} refs_flat_kind;

typedef struct refs_flat_shape refs_flat_shape;

typedef struct refs_flat_field {
    refs_flat_kind kind;
    uint8_t size, alignment;
    const refs_flat_shape *shapes; /**< TABLE, TABLES: of each */
} refs_flat_field;

/** The fields of a kind of table. */
struct refs_flat_shape {
    const char *name; /**< for messages */
    unsigned n;
    const refs_flat_field *fields;
};

/** Tables of a repository's info. */
extern const refs_flat_shape refs_icechunk__shape_info;
extern const refs_flat_shape refs_icechunk__shape_status;
extern const refs_flat_shape refs_icechunk__shape_item;
/** Shapes of an update, by its type. */
#define REFS_UPDATE_N_TYPES 16
extern const refs_flat_shape refs_icechunk__shapes_of_updates[REFS_UPDATE_N_TYPES + 1];

/** Adds a copy of a table with all that it points to. REFS_UNSUPPORTED: it has fields that are not
 * in the description. */
refs_status refs_icechunk__flat_copy(refs_flat_writer *writer, const refs_flat_table *table,
                                     const refs_flat_shape *shape, size_t *at, refs_error *err);

/** Adds a copy of a vector of tables. */
refs_status refs_icechunk__flat_copy_tables(refs_flat_writer *writer,
                                            const refs_flat_vector *tables,
                                            const refs_flat_shape *shape, size_t *at,
                                            refs_error *err);

#endif
