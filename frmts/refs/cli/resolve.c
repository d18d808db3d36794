/* resolve.c -- finds the key that an argument names. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* The index of the chunk that holds an element along a dimension. */
static uint64_t chunk_of(const refs_array_meta *meta, size_t dim, uint64_t element) {
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

refs_status tool_resolve(const tool_set *set, const char *wanted, refs_buf *key, refs_error *err) {
    const char *bracket = strchr(wanted, '[');
    uint64_t index[REFS_MAX_RANK] = {0};
    size_t rank = 0;
    while (*wanted == '/') wanted++;
    if (bracket == NULL) return refs_buf_append_str(key, refs_str_from(wanted), err);
    const refs_array_meta *meta = refs_hierarchy_find_array(
        set->hierarchy, refs_str_view(wanted, (size_t)(bracket - wanted)));
    if (meta == NULL || meta->status != REFS_OK)
        return refs_fail(err, REFS_NOT_FOUND, "no array \"%.*s\"", (int)(bracket - wanted), wanted);
    for (const char *at = bracket; *at == '[' || *at == ','; rank++) {
        char *end;
        unsigned long long number = strtoull(at + 1, &end, 10);
        if (end == at + 1 || rank >= meta->rank || number >= meta->shape[rank])
            return refs_fail(err, REFS_INVALID, "%s: expected the index of an element", bracket);
        index[rank] = chunk_of(meta, rank, number);
        at = end;
        if (*at == ']' && at[1] == '\0' && rank + 1 == meta->rank)
            return refs_chunk_key(meta, index, key, err);
    }
    return refs_fail(err, REFS_INVALID, "%s: expected %zu indices, one for each dimension", bracket,
                     meta->rank);
}
