/* text_list.h -- strings by their number.
 *
 * Read before this: refs/bytes.h.
 */
#ifndef REFS_CODEC_TEXT_LIST_H
#define REFS_CODEC_TEXT_LIST_H

#include "refs/bytes.h"

/** Zeroed is empty. */
typedef struct refs_text_list {
    refs_buf text; /**< one behind the other */
    size_t *ends;  /**< where each ends */
    size_t n;
    size_t capacity;
} refs_text_list;

void refs_codec__text_list_clear(refs_text_list *list);
refs_status refs_codec__text_list_add(refs_text_list *list, refs_str text, refs_error *err);

/** Text number `i`, below `n`; borrowed until one is added. */
refs_str refs_codec__text_list_get(const refs_text_list *list, size_t i);

#endif
