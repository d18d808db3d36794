/* named_sets.h -- the sets that a file names and does not hold: a STAC document, an archive. */
#ifndef REFS_REFERENCES_NAMED_SETS_H
#define REFS_REFERENCES_NAMED_SETS_H

#include "format.h"

/** Sets by their URLs, each with a NUL; zeroed is empty. */
typedef struct refs_named_sets {
    refs_buf urls;
    refs_buf titles; /**< as many, or none: the URLs are their titles */
} refs_named_sets;

void refs_references__named_clear(refs_named_sets *sets);

/** Shows all of them, as refs_set_each_of_list does. */
refs_status refs_references__named_each(const refs_named_sets *sets,
                                        const refs_set_visitor *visitor, size_t *n_sets,
                                        refs_error *err);

/** Opens the one that the options choose, or the only one, of those that the input names, which a
 * message calls `what`: "STAC document". REFS_UNSUPPORTED: several. */
refs_status refs_references__named_open(const refs_set_input *input, const refs_named_sets *sets,
                                        const char *what, refs_set **set, refs_error *err);

#endif
