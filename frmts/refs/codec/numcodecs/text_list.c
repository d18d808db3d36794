/* text_list.c -- see text_list.h. */
#include "text_list.h"

void refs_codec__text_list_clear(refs_text_list *list) {
    refs_buf_clear(&list->text);
    refs_free(list->ends);
    *list = (refs_text_list){.n = 0};
}

refs_status refs_codec__text_list_add(refs_text_list *list, refs_str text, refs_error *err) {
    REFS_GROW(list->ends, list->capacity, list->n, err);
    REFS_TRY(refs_buf_append_str(&list->text, text, err));
    list->ends[list->n++] = list->text.size;
    return REFS_OK;
}

refs_str refs_codec__text_list_get(const refs_text_list *list, size_t i) {
    size_t begin = i > 0 ? list->ends[i - 1] : 0;
    if (list->ends[i] == begin) return refs_str_from("");
    return refs_str_view((const char *)list->text.data + begin, list->ends[i] - begin);
}
