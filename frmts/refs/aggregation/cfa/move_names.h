/* move_names.h -- new names of fragments. */
#ifndef REFS_AGGREGATION_CFA_MOVE_NAMES_H
#define REFS_AGGREGATION_CFA_MOVE_NAMES_H

#include "cfa/cfa.h"

/** Appends what `name` is called now; *changed where that is another name. */
refs_status refs_cfa__rename(const refs_cfa_moving *moving, refs_str name, refs_buf *renamed,
                             bool *changed, refs_error *err);

/** The record of fragments (own_attributes.h) with their new names. If not all are renamed, one
 * that has a new name somewhere may have the old one elsewhere: it is recorded under both. */
refs_status refs_cfa__rename_sources(const refs_cfa_moving *moving, refs_str text,
                                     refs_buf *renamed, refs_error *err);

#endif
