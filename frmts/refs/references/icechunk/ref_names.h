/* ref_names.h -- lists existing branches or tags in the message for one that does not exist. */
#ifndef REFS_REFERENCES_ICECHUNK_REF_NAMES_H
#define REFS_REFERENCES_ICECHUNK_REF_NAMES_H

#include "refs/bytes.h"

/** Most names in a message. */
#define REFS_REF_NAMES_SAID 8

/** Zeroed is empty. */
typedef struct refs_ref_names {
    char *first[REFS_REF_NAMES_SAID]; /**< sorted */
    size_t n;                         /**< number of all names */
} refs_ref_names;

/** Adds a name, in any order. */
refs_status refs_icechunk__ref_names_add(refs_ref_names *names, refs_str name, refs_error *err);
void refs_icechunk__ref_names_clear(refs_ref_names *names);

/** Fails with REFS_INVALID: there is no `kind` (branch or tag) called `wanted`; lists existing
 * ones. */
refs_status refs_icechunk__ref_names_fail(const refs_ref_names *names, const char *kind,
                                          const char *wanted, refs_error *err);

#endif
