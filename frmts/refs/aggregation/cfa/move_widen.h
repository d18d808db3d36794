/* move_widen.h -- rewrites a netCDF-3 file with longer names of fragments. */
#ifndef REFS_AGGREGATION_CFA_MOVE_WIDEN_H
#define REFS_AGGREGATION_CFA_MOVE_WIDEN_H

#include "cfa/cfa.h"

/** A variable of characters that gets longer rows. */
typedef struct cfa_widened {
    int id;
    size_t n_rows, width;
    refs_buf rows; /**< n_rows * width characters, owned */
} cfa_widened;

/** All of them. Zeroed is none. */
typedef struct cfa_widened_list {
    cfa_widened *items;
    size_t n, capacity;
    const refs_cfa_moving *moving; /**< asked whether to go on; or NULL */
    bool is_private; /**< the new file is to be read by its owner alone, until it has its place */
} cfa_widened_list;

void refs_cfa__widened_clear(cfa_widened_list *list);

/** The room that rows of so many characters get. */
size_t refs_cfa__widened_width(size_t longest);

/** Writes the open netCDF-3 file `from`, which messages call `shown`, as the new file at `path`:
 * all of it, but for these variables. */
refs_status refs_cfa__widen(int from, const char *path, const char *shown,
                            const cfa_widened_list *list, refs_error *err);

#endif
