/* keys.c -- the keys of many chunks; see array_object.h. */
#include "slices.h"

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
