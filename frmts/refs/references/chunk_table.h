/* chunk_table.h -- the references to the chunks of one array, by chunk index.
 *
 * Indices are packed (chunk_key.h) and ascending in a finished table. A dense table, whose indices
 * fill a grid, does not store them: the position of a reference follows from its index.
 */
#ifndef REFS_REFERENCES_CHUNK_TABLE_H
#define REFS_REFERENCES_CHUNK_TABLE_H

#include "entry.h"

typedef struct refs_chunk_table {
    uint32_t prefix; /**< number of the prefix that all its keys have */
    uint32_t next;   /**< the next table with that prefix, or REFS_INTERN_NONE */
    char separator;
    size_t rank;

    uint64_t *keys; /**< packed indices; NULL in a dense table, and while those added are 0, 1, 2
                       … */
    refs_entry *entries;
    size_t count;
    size_t key_capacity, entry_capacity;
    bool unsorted;

    uint64_t *extent; /**< the shape of the grid of a dense table, or NULL */
} refs_chunk_table;

void refs_references__chunk_table_clear(refs_chunk_table *table);

/** Adds a reference; of equal indices the one added last remains. */
refs_status refs_references__chunk_table_add(refs_chunk_table *table, uint64_t packed,
                                             refs_entry entry, refs_error *err);

/** Sorts the table; nothing may be added after that. */
refs_status refs_references__chunk_table_finish(refs_chunk_table *table, refs_error *err);

/** The reference at `packed` in a finished table, or NULL. */
const refs_entry *refs_references__chunk_table_find(const refs_chunk_table *table, uint64_t packed);

#endif
