/* list_page.h -- one answer to ListObjectsV2. */
#ifndef REFS_CLOUD_LIST_PAGE_H
#define REFS_CLOUD_LIST_PAGE_H

#include "refs/bytes.h"

typedef struct refs_list_item {
    size_t begin, end;  /**< of its name in `names` */
    uint64_t size;      /**< bytes; 0 of a folder */
    int64_t modified_s; /**< since 1970; 0: not known */
    bool is_folder;
} refs_list_item;

typedef struct refs_list_page {
    refs_buf names;
    refs_list_item *items;
    size_t n, capacity;
    char *next; /**< what to ask for the next with; NULL: this is the last */
} refs_list_page;

/** Reads an answer: page->next is set where there is more to come. REFS_CORRUPT: it is not a list.
 */
refs_status refs_list_page__parse(refs_bytes xml, refs_list_page *page, refs_error *err);

/** Frees what it holds, and leaves it empty. */
void refs_list_page__clear(refs_list_page *page);

#endif
