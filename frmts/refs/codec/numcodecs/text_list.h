/* text_list.h -- a list of strings.
 *
 * Read before this: refs/bytes.h.
 */
#ifndef REFS_CODEC_TEXT_LIST_H
#define REFS_CODEC_TEXT_LIST_H

#include "refs/bytes.h"

/** Zeroed is empty. */
typedef struct refs_text_list {
    refs_buf text; /**< concatenated */
    size_t *ends;  /**< the end of each */
    size_t n;
    size_t capacity;
} refs_text_list;

void refs_codec__text_list_clear(refs_text_list *list);
refs_status refs_codec__text_list_add(refs_text_list *list, refs_str text, refs_error *err);

/** String number `i`, below `n`; borrowed until another one is added. */
refs_str refs_codec__text_list_get(const refs_text_list *list, size_t i);

#endif
