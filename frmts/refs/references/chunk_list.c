/* chunk_list.c -- see chunk_list.h. */
#include "chunk_list.h"

#include <stdlib.h>

#include "chunk_key.h"

refs_status refs_references__chunk_list_add(refs_chunk_list *list, const uint64_t *index,
                                            refs_error *err) {
    const refs_chunk_keys *keys = list->keys;
    uint64_t number = 0;
    for (size_t dim = 0; dim < keys->rank; dim++) {
        if (index[dim] >= keys->n[dim]) return REFS_OK;
        if (!refs_mul_u64(number, keys->n[dim], &number) ||
            !refs_add_u64(number, index[dim], &number))
            return refs_fail(err, REFS_LIMIT, "%.*s: the array has more than 2^64 chunks",
                             REFS_STR_ARG(keys->prefix));
    }
    REFS_GROW(list->numbers, list->capacity, list->n, err);
    list->numbers[list->n++] = number;
    return REFS_OK;
}

refs_status refs_references__chunk_list_add_key(refs_chunk_list *list, refs_str text,
                                                refs_error *err) {
    const refs_chunk_keys *keys = list->keys;
    uint64_t index[REFS_CHUNK_MAX_RANK] = {0};
    const size_t size = keys->prefix.size, rank = keys->rank > 0 ? keys->rank : 1;
    if (text.size < size || !refs_str_equal(refs_str_part(text, 0, size), keys->prefix))
        return REFS_OK;
    refs_str rest = refs_str_part(text, size, text.size);
    for (size_t dim = 0; dim < rank; dim++) {
        const size_t end = dim + 1 < rank ? refs_str_find(rest, keys->separator) : rest.size;
        if (end > rest.size || !refs_str_to_u64(refs_str_part(rest, 0, end), &index[dim]))
            return REFS_OK;
        rest = refs_str_part(rest, end + 1, rest.size);
    }
    return refs_references__chunk_list_add(list, index, err);
}

void refs_references__chunk_list_sort(refs_chunk_list *list) {
    size_t n = 0;
    if (list->n == 0) return;
    qsort(list->numbers, list->n, sizeof *list->numbers, refs_compare_u64);
    for (size_t i = 0; i < list->n; i++)
        if (n == 0 || list->numbers[i] != list->numbers[n - 1])
            list->numbers[n++] = list->numbers[i];
    list->n = n;
}

void refs_references__chunk_list_clear(refs_chunk_list *list) {
    refs_free(list->numbers);
    list->numbers = NULL;
    list->n = list->capacity = 0;
}
