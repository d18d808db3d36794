/* chunk_list.h -- a sorted list of the chunks of an array that a set holds.
 *
 * Iteration visits the stored chunks, not all chunks of the grid: metadata of 300 bytes can declare
 * 10^15 chunks.
 */
#ifndef REFS_REFERENCES_CHUNK_LIST_H
#define REFS_REFERENCES_CHUNK_LIST_H

#include "refs/refset.h"

/** All members but `keys` begin as zero. */
typedef struct refs_chunk_list {
    const refs_chunk_keys *keys;
    uint64_t *numbers; /**< chunk numbers in C order */
    size_t n, capacity;
} refs_chunk_list;

/** Adds the chunk at `index`; one outside the grid is ignored. REFS_LIMIT if the number of chunks
 * in the grid overflows. */
refs_status refs_references__chunk_list_add(refs_chunk_list *list, const uint64_t *index,
                                            refs_error *err);

/** Adds the chunk whose key is `text`; other keys are ignored. */
refs_status refs_references__chunk_list_add_key(refs_chunk_list *list, refs_str text,
                                                refs_error *err);

/** Sorts the chunks, and removes duplicates. */
void refs_references__chunk_list_sort(refs_chunk_list *list);

void refs_references__chunk_list_clear(refs_chunk_list *list);

#endif
