/* fragments.c -- lists the lengths of fragments, see refs.h. */
#include "library.h"
#include "refs/aggregation.h"

/* Lengths that are being listed. */
typedef struct length_list {
    uint64_t *items;
    size_t n, capacity;
} length_list;

static refs_status add(length_list *list, uint64_t length, refs_error *err) {
    REFS_GROW(list->items, list->capacity, list->n, err);
    list->items[list->n++] = length;
    return REFS_OK;
}

/* Elements without a fragment count as parts. REFS_MAX_PARTITIONS limits the number of parts.
 */
static refs_status list_lengths(const refs_array_meta *meta, size_t dim, length_list *list,
                                refs_error *err) {
    for (uint64_t begin = 0, end; begin < meta->shape[dim]; begin = end) {
        REFS_TRY(refs_cancel_scope_check(err));
        REFS_TRY(refs_aggregation_border_behind(meta, dim, begin, &end, err));
        REFS_TRY(add(list, end - begin, err));
    }
    return REFS_OK;
}

static refs_status make_lengths(const length_list *list, refs_lengths **lengths, refs_error *err) {
    refs_lengths *made = refs_alloc(sizeof *made + list->n * sizeof(uint64_t));
    if (made == NULL) return refs_fail_nomem(err);
    uint64_t *copy = (uint64_t *)(made + 1);
    if (list->n > 0) memcpy(copy, list->items, list->n * sizeof *copy);
    *made = (refs_lengths){list->n, copy};
    *lengths = made;
    return REFS_OK;
}

refs_status refs_dataset_list_fragments(refs_dataset *dataset, const refs_array_info *array,
                                        const refs_listing *listing, refs_lengths **lengths,
                                        refs_error *err) {
    const refs_array_meta *meta = dataset->description.arrays[array->number].meta;
    length_list list = {NULL, 0, 0};
    refs_library_watch watch;
    if (meta->aggregation == NULL || listing->dim >= meta->rank)
        return refs_fail(err, REFS_INVALID, "%s: not an aggregation, or without dimension %zu",
                         array->path, listing->dim);
    refs_library_begin_watch(&watch, listing->watcher);
    refs_status status = list_lengths(meta, listing->dim, &list, err);
    refs_library_end_watch(&watch);
    if (status == REFS_OK) status = make_lengths(&list, lengths, err);
    refs_free(list.items);
    return refs_library_show(status, err);
}

void refs_lengths_free(refs_lengths *lengths) {
    refs_free(lengths);
}
