/* name_list.c -- see name_list.h. */
#include "name_list.h"

#include "refs/bytes.h"

bool refs_name_list_append(refs_name_list *list, const char *name) {
    void *items = list->items;
    if (!refs_grow(&items, &list->capacity, list->n + 1, sizeof *list->items)) return false;
    list->items = items;
    list->items[list->n++] = name;
    list->items[list->n] = NULL;
    return true;
}

bool refs_name_list_has(const refs_name_list *list, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], name) == 0) return true;
    return false;
}
