/* sparse.h -- which chunks of a large region are stored, where most are not. */
#ifndef REFS_SPARSE_H
#define REFS_SPARSE_H

#include "array_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Chunks of a cut by their numbers in it; owned. */
typedef struct refs_item_list {
    uint64_t *items;
    size_t n, capacity;
} refs_item_list;

/** Lists the chunks of `cut` that are stored. False, with an empty list, where that may cost more
 * than it saves: the cut has fewer than 65536 chunks, or fewer than the set has keys; chunks are
 * not stored one by one; looking them up may read files; or the array has more stored chunks than
 * an eighth of those of the cut. */
bool refs_sparse__list(const refs_array *array, const refs_cut *cut, refs_item_list *list);

void refs_sparse__clear(refs_item_list *list);

#ifdef __cplusplus
}
#endif

#endif
