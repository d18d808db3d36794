/* sparse.c -- see sparse.h. */
#include "sparse.h"

#include "array_object.h"
#include "refs/refset.h"

#define MIN_CHUNKS 65536

/* The chunks of a cut must be so many times the visited ones. */
#define CHUNKS_PER_VISIT 8

typedef struct sparse_walk {
    const refs_cut *cut;
    refs_item_list *list;
    uint64_t n_left; /* allowed visits */
} sparse_walk;

void refs_sparse__clear(refs_item_list *list) {
    refs_free(list->items);
    *list = (refs_item_list){NULL, 0, 0};
}

/* Finds the span of a dimension in `chunk`; false: none. Spans ascend or descend. */
static bool find_span(const refs_cut *cut, size_t dim, uint64_t chunk, uint64_t *found) {
    uint64_t i = 0;
    REFS_BISECT(i, cut->n_spans[dim],
                cut->is_backwards[dim] ? refs_array__span(cut, dim, i).chunk > chunk
                                       : refs_array__span(cut, dim, i).chunk < chunk);
    *found = i;
    return i < cut->n_spans[dim] && refs_array__span(cut, dim, i).chunk == chunk;
}

/* Any failure ends the visit: chunks are then looked up one by one, which reports the failure. */
static refs_status visit(void *user, const uint64_t *index, const refs_ref *ref, refs_error *err) {
    sparse_walk *at = user;
    refs_item_list *list = at->list;
    uint64_t item = 0;
    (void)ref;
    (void)err;
    if (at->n_left-- == 0) return REFS_LIMIT;
    for (size_t dim = 0; dim < at->cut->rank; dim++) {
        uint64_t span;
        if (!find_span(at->cut, dim, index[dim], &span)) return REFS_OK;
        item = item * at->cut->n_spans[dim] + span;
    }
    if (!refs_grow((void **)&list->items, &list->capacity, list->n, sizeof *list->items))
        return REFS_NOMEM;
    list->items[list->n++] = item;
    return REFS_OK;
}

bool refs_sparse__list(const refs_array *array, const refs_cut *cut, refs_item_list *list) {
    const refs_array_meta *meta = array->meta;
    const refs_set *set = refs_store_set(array->context.store);
    uint64_t n[REFS_MAX_RANK];
    if (cut->n_chunks < MIN_CHUNKS || meta != array->stored || meta->edges != NULL ||
        meta->shard != NULL || meta->first_chunk != NULL || !refs_set_is_whole(set) ||
        refs_set_size(set) > cut->n_chunks) /* the visit may check each key */
        return false;
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    sparse_walk at = {cut, list, cut->n_chunks / CHUNKS_PER_VISIT};
    if (refs_set_each_chunk(set, &keys, &(refs_chunk_visitor){visit, &at}, NULL) == REFS_OK)
        return true;
    refs_sparse__clear(list);
    return false;
}
