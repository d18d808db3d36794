/* keys.c -- the keys of many chunks; see array_object.h. */
#include "slices.h"

static uint64_t n_chunks(const refs_array_meta *meta, size_t dim) {
    uint64_t n = 0;
    if (meta->edges == NULL) return refs_array_meta_n_chunks(meta, dim);
    for (size_t i = 0; i < meta->edges[dim].n_runs; i++) n += meta->edges[dim].runs[i].count;
    return n;
}

void refs_array_meta_n_keys(const refs_array_meta *meta, uint64_t *n) {
    for (size_t dim = 0; dim < meta->rank; dim++) {
        uint64_t per_key = meta->shard != NULL ? meta->shard->n[dim] : 1;
        n[dim] = (n_chunks(meta, dim) + per_key - 1) / per_key;
        if (meta->first_chunk != NULL) n[dim] += meta->first_chunk[dim];
    }
}

refs_chunk_keys refs_array_meta_keys(const refs_array_meta *array, uint64_t *n) {
    refs_array_meta_n_keys(array, n);
    return (refs_chunk_keys){refs_str_from(array->key_prefix), array->separator, array->rank, n};
}

uint64_t refs_array_meta_chunk_of(const refs_array_meta *meta, size_t dim, uint64_t element) {
    uint64_t chunk = 0;
    if (meta->edges == NULL) return element / meta->chunk[dim];
    for (size_t i = 0; i < meta->edges[dim].n_runs; i++) {
        const refs_chunk_run *run = &meta->edges[dim].runs[i];
        if (run->size == 0 || element / run->size < run->count)
            return chunk + (run->size > 0 ? element / run->size : 0);
        chunk += run->count;
        element -= run->count * run->size;
    }
    return chunk;
}

bool refs_array_meta_interval(const refs_array_meta *meta, size_t dim, uint64_t chunk,
                              uint64_t *start, uint64_t *length) {
    *start = 0;
    if (meta->edges == NULL) {
        if (!refs_mul_u64(chunk, meta->chunk[dim], start) || *start >= meta->shape[dim])
            return false;
        const uint64_t left = meta->shape[dim] - *start;
        *length = left < meta->chunk[dim] ? left : meta->chunk[dim];
        return true;
    }
    for (size_t i = 0; i < meta->edges[dim].n_runs; i++) {
        const refs_chunk_run *run = &meta->edges[dim].runs[i];
        if (chunk < run->count) {
            *start += chunk * run->size;
            *length = run->size;
            return *length > 0 && *start < meta->shape[dim];
        }
        chunk -= run->count;
        *start += run->count * run->size;
    }
    return false;
}

refs_status refs_key_list__open(refs_key_list *list, size_t max, refs_error *err) {
    *list = REFS_KEY_LIST_INIT;
    list->ends = refs_calloc(max, sizeof *list->ends);
    list->keys = refs_calloc(max, sizeof *list->keys);
    return list->ends != NULL && list->keys != NULL ? REFS_OK : refs_fail_nomem(err);
}

void refs_key_list__clear(refs_key_list *list) {
    refs_buf_clear(&list->text);
    refs_free(list->ends);
    refs_free(list->keys);
    *list = REFS_KEY_LIST_INIT;
}

refs_status refs_key_list__add(refs_key_list *list, const refs_array *array, const uint64_t *index,
                               refs_error *err) {
    REFS_TRY(refs_chunk_key(array->meta, index, &list->text, err));
    list->ends[list->n] = list->text.size;
    list->keys[list->n++] =
        (refs_store_key){.store = array->context.store,
                         .max_size = array->max_stored,
                         .part = refs_slices__part(array, refs_grid__number(&array->grid, index))};
    return REFS_OK;
}

const refs_store_key *refs_key_list__view(refs_key_list *list) {
    const char *text = (const char *)list->text.data;
    for (size_t i = 0, begin = 0; i < list->n; begin = list->ends[i++])
        list->keys[i].text = refs_str_view(text + begin, list->ends[i] - begin);
    return list->keys;
}
