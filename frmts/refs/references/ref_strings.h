/* ref_strings.h -- the strings of a reference in a block of its own: a fetch then holds some
 * hundred bytes for each, not what they were read from. */
#ifndef REFS_REFERENCES_REF_STRINGS_H
#define REFS_REFERENCES_REF_STRINGS_H

#include "refs/refset.h"

/** Sets location, URL and, unless it has no data, ETag of `ref` to copies in a new block, which it
 * holds. */
refs_status refs_references__own_strings(refs_ref *ref, refs_str location, refs_str url,
                                         refs_str etag, refs_error *err);

#endif
