/* named_sets.h -- sets that a STAC document or an archive names. */
#ifndef REFS_REFERENCES_NAMED_SETS_H
#define REFS_REFERENCES_NAMED_SETS_H

#include "format.h"

/** Sets by their URLs, each with a NUL; zeroed is empty. */
typedef struct refs_named_sets {
    refs_buf urls;
    refs_buf titles; /**< as many, or none: the URLs serve as titles */
} refs_named_sets;

void refs_references__named_clear(refs_named_sets *sets);

/** Calls `visitor` for all of them, as refs_set_each_of_list does. */
refs_status refs_references__named_each(const refs_named_sets *sets,
                                        const refs_set_visitor *visitor, size_t *n_sets,
                                        refs_error *err);

/** Opens the set that the options select, or the only one. `what` is the kind of the document in
 * messages: "STAC document". REFS_UNSUPPORTED: there are several, and none was selected. */
refs_status refs_references__named_open(const refs_set_input *input, const refs_named_sets *sets,
                                        const char *what, refs_set **set, refs_error *err);

#endif
