/* move_names.h -- new names of fragments. */
#ifndef REFS_AGGREGATION_CFA_MOVE_NAMES_H
#define REFS_AGGREGATION_CFA_MOVE_NAMES_H

#include "cfa/cfa.h"
#include "refs/intern.h"

/** Appends the new name of `name`; *changed if it differs. */
refs_status refs_cfa__rename(const refs_cfa_moving *moving, refs_str name, refs_buf *renamed,
                             bool *changed, refs_error *err);

/** Present names of fragments. A file may have selected fragments and others. */
typedef struct refs_cfa_named {
    const refs_cfa_moving *moving;
    refs_intern selected, others;
} refs_cfa_named;

/** Appends the record of fragments (own_attributes.h) with their new names; files that other
 * fragments are in also have their present ones. */
refs_status refs_cfa__rename_sources(const refs_cfa_named *names, refs_str text, refs_buf *renamed,
                                     refs_error *err);

#endif
