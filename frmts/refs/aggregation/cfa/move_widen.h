/* move_widen.h -- rewrites a netCDF-3 file with longer names of fragments. */
#ifndef REFS_AGGREGATION_CFA_MOVE_WIDEN_H
#define REFS_AGGREGATION_CFA_MOVE_WIDEN_H

#include "cfa/cfa.h"

/** A character variable that gets longer rows. */
typedef struct cfa_widened {
    int id;
    size_t n_rows, width;
    refs_buf rows; /**< n_rows * width characters, owned */
} cfa_widened;

/** All such variables; zeroed: none. */
typedef struct cfa_widened_list {
    cfa_widened *items;
    size_t n, capacity;
    const refs_cfa_moving *moving; /**< its go_on is called; or NULL */
    bool is_private;               /**< only its owner may read the new file until it is in place */
} cfa_widened_list;

void refs_cfa__widened_clear(cfa_widened_list *list);

/** The width for rows of so many characters. */
size_t refs_cfa__widened_width(size_t longest);

/** Copies the open netCDF-3 file `from`, named `shown` in messages, to the new file `path`, with
 * wider rows in these variables. */
refs_status refs_cfa__widen(int from, const char *path, const char *shown,
                            const cfa_widened_list *list, refs_error *err);

#endif
