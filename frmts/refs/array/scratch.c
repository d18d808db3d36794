/* scratch.c -- scratch memory that threads take and put back, see array_object.h. */
#include "array_object.h"

/* Larger scratch memory is freed instead of kept. */
#define MAX_KEPT_BYTES (8 * REFS_MIB)

void refs_scratch_list__init(refs_scratch_list *list) {
    pthread_mutex_init(&list->lock, NULL);
    list->first = NULL;
}

static void free_node(refs_scratch_node *node) {
    refs_scratch_clear(&node->scratch);
    refs_free(node);
}

void refs_scratch_list__clear(refs_scratch_list *list) {
    for (refs_scratch_node *node = list->first, *next; node != NULL; node = next) {
        next = node->next;
        free_node(node);
    }
    pthread_mutex_destroy(&list->lock);
}

refs_scratch_node *refs_scratch_list__take(refs_scratch_list *list) {
    refs_lock(&list->lock);
    refs_scratch_node *node = list->first;
    if (node != NULL) list->first = node->next;
    refs_unlock(&list->lock);
    return node != NULL ? node : refs_calloc(1, sizeof *node);
}

void refs_scratch_list__put(refs_scratch_list *list, refs_scratch_node *node) {
    if (node->scratch.buffers[0].capacity + node->scratch.buffers[1].capacity > MAX_KEPT_BYTES) {
        free_node(node);
        return;
    }
    REFS_LOCKED(&list->lock);
    node->next = list->first;
    list->first = node;
}

void refs_scratch_list__forget(refs_scratch_list *list) {
    REFS_LOCKED(&list->lock);
    for (refs_scratch_node *node = list->first; node != NULL; node = node->next)
        refs_scratch_forget(&node->scratch);
}
