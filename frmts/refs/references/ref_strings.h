/* ref_strings.h -- copies the strings of a reference into a block, so that a fetch holds some
 * hundred bytes for each reference, not the whole file that they were read from. */
#ifndef REFS_REFERENCES_REF_STRINGS_H
#define REFS_REFERENCES_REF_STRINGS_H

#include "refs/refset.h"

/** Sets location, URL and, if `etag` is not empty, ETag of `ref` to copies in a new block, which
 * `ref` holds. */
refs_status refs_references__own_strings(refs_ref *ref, refs_str location, refs_str url,
                                         refs_str etag, refs_error *err);

#endif
