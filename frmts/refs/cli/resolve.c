/* resolve.c -- finds the key that an argument names. */
#include <stdlib.h>
#include <string.h>

#include "refs/aggregation.h"
#include "refs/array.h"
#include "tool.h"

/* Limit of arrays that a message names. */
#define MAX_NAMED 20

static refs_status append_arrays(const tool_set *set, refs_buf *text, refs_error *err) {
    const size_t n = refs_hierarchy_n_arrays(set->hierarchy);
    for (size_t i = 0; i < n && i < MAX_NAMED; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s%s", i > 0 ? ", " : "; there are: ",
                                 refs_hierarchy_array(set->hierarchy, i)->path + 1));
    return refs_buf_printf(text, err, n > MAX_NAMED ? ", …%c" : "%c", '\0');
}

refs_status tool_fail_key(const tool_set *set, refs_str wanted, refs_error *err) {
    REFS_SCOPED_BUF arrays = REFS_BUF_INIT;
    if (wanted.size > 0 && refs_hierarchy_find_array(set->hierarchy, wanted) != NULL)
        return refs_fail(err, REFS_NOT_FOUND,
                         "%.*s is an array: expected the index of an element in brackets, with one "
                         "number for each dimension, or a key, such as %.*s/.zarray",
                         REFS_STR_ARG(wanted), REFS_STR_ARG(wanted));
    REFS_TRY(append_arrays(set, &arrays, err));
    return refs_fail(err, REFS_NOT_FOUND,
                     "%.*s%sexpected a key, or an array and the index of an element in brackets%s",
                     REFS_STR_ARG(wanted), wanted.size > 0 ? " is not in the set: " : "",
                     (const char *)arrays.data);
}

/* The array whose name precedes the bracket; NULL if there is none. */
static const refs_array_meta *array_of(const tool_set *set, const char *wanted) {
    const refs_array_meta *meta =
        refs_hierarchy_find_array(set->hierarchy, refs_str_view(wanted, strcspn(wanted, "[")));
    return meta != NULL && meta->status == REFS_OK ? meta : NULL;
}

bool tool_is_in_fragment(const tool_set *set, const char *wanted) {
    const refs_array_meta *meta = array_of(set, wanted);
    return meta != NULL && strchr(wanted, '[') != NULL &&
           (meta->aggregation != NULL || refs_aggregation_recognise(meta->attributes));
}

static refs_status read_element(const refs_array_meta *meta, const char *wanted, uint64_t *element,
                                refs_error *err) {
    const char *bracket = strchr(wanted, '[');
    size_t rank = 0;
    for (const char *at = bracket; at != NULL && (*at == '[' || *at == ','); rank++) {
        char *end;
        unsigned long long number = strtoull(at + 1, &end, 10);
        if (rank == meta->rank) break;
        if (end == at + 1)
            return refs_fail(err, REFS_INVALID, "%s: expected the index of an element", bracket);
        if (number >= meta->shape[rank])
            return refs_fail(
                err, REFS_INVALID, "%s: %s has %llu elements: expected 0 to %llu, found %llu",
                wanted, meta->dims[rank], (unsigned long long)meta->shape[rank],
                (unsigned long long)(meta->shape[rank] - (meta->shape[rank] > 0)), number);
        element[rank] = number;
        at = end;
        if (*at == ']' && at[1] == '\0' && rank + 1 == meta->rank) return REFS_OK;
    }
    return refs_fail(err, REFS_INVALID,
                     "%s: expected %zu indices in brackets, one for each dimension", wanted,
                     meta->rank);
}

const refs_array_meta *tool_own_fragment(const tool_set *set, const refs_partition *partition) {
    const bool is_own = partition->has_fragment && *partition->file == '\0';
    const refs_array_meta *fragment =
        is_own ? refs_hierarchy_find_array(set->hierarchy, refs_str_from(partition->variable))
               : NULL;
    return fragment != NULL && fragment->status == REFS_OK ? fragment : NULL;
}

refs_status tool_find_fragment(const tool_set *set, const char *wanted, refs_partition *partition,
                               refs_error *err) {
    uint64_t element[REFS_MAX_RANK] = {0};
    const refs_str name = refs_str_view(wanted, strcspn(wanted, "["));
    const refs_array_meta *meta = refs_hierarchy_find_array(set->hierarchy, name);
    if (meta == NULL) return tool_fail_key(set, name, err);
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path + 1, meta->problem);
    REFS_TRY(read_element(meta, wanted, element, err));
    const refs_status status = refs_aggregation_find(meta, element, partition, err);
    if (status != REFS_NOT_FOUND) return status;
    *partition = (refs_partition){.file = "", .variable = ""};
    return REFS_OK;
}

/* Appends the key of the chunk of a fragment that has the element. */
static refs_status resolve_in_fragment(const tool_set *set, const char *wanted, refs_buf *key,
                                       refs_error *err) {
    uint64_t index[REFS_MAX_RANK] = {0};
    refs_partition partition = {.has_fragment = false};
    const refs_array_meta *meta = array_of(set, wanted); /* not NULL: it is an aggregation */
    if (meta->aggregation != NULL) REFS_TRY(tool_find_fragment(set, wanted, &partition, err));
    const refs_array_meta *fragment = tool_own_fragment(set, &partition);
    if (fragment == NULL || fragment->rank != meta->rank)
        return refs_fail(err, REFS_INVALID,
                         "%s: expected an element of a chunk, found one of an aggregation: refs "
                         "info with the same arguments says which fragment has it",
                         wanted);
    REFS_TRY(read_element(meta, wanted, index, err));
    for (size_t dim = 0; dim < meta->rank; dim++)
        index[dim] = refs_array_meta_chunk_of(fragment, dim, index[dim] - partition.begin[dim]);
    return refs_chunk_key(fragment, index, key, err);
}

refs_status tool_resolve(const tool_set *set, const char *wanted, refs_buf *key, refs_error *err) {
    uint64_t index[REFS_MAX_RANK] = {0};
    if (strchr(wanted, '[') == NULL) return refs_buf_append_str(key, refs_str_from(wanted), err);
    if (tool_is_in_fragment(set, wanted)) return resolve_in_fragment(set, wanted, key, err);
    const refs_array_meta *meta = array_of(set, wanted);
    if (meta == NULL) return tool_fail_key(set, refs_str_view(wanted, strcspn(wanted, "[")), err);
    REFS_TRY(read_element(meta, wanted, index, err));
    for (size_t dim = 0; dim < meta->rank; dim++)
        index[dim] = refs_array_meta_chunk_of(meta, dim, index[dim]);
    return refs_chunk_key(meta, index, key, err);
}
