/* move_names.h -- new names of fragments. */
#ifndef REFS_AGGREGATION_CFA_MOVE_NAMES_H
#define REFS_AGGREGATION_CFA_MOVE_NAMES_H

#include "cfa/cfa.h"

/** Appends the new name of `name`; *changed if it differs. */
refs_status refs_cfa__rename(const refs_cfa_moving *moving, refs_str name, refs_buf *renamed,
                             bool *changed, refs_error *err);

/** Appends the record of fragments (own_attributes.h) with their new names. If not all fragments
 * are renamed, a name may be new in one place and old in another: it is then recorded under
 * both. */
refs_status refs_cfa__rename_sources(const refs_cfa_moving *moving, refs_str text,
                                     refs_buf *renamed, refs_error *err);

#endif
