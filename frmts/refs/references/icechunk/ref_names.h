/* ref_names.h -- the first names of branches or tags, for who asked for one that is not there. */
#ifndef REFS_REFERENCES_ICECHUNK_REF_NAMES_H
#define REFS_REFERENCES_ICECHUNK_REF_NAMES_H

#include "refs/bytes.h"

/** So many are said. */
#define REFS_REF_NAMES_SAID 8

/** Zeroed is empty. */
typedef struct refs_ref_names {
    char *first[REFS_REF_NAMES_SAID]; /**< in order */
    size_t n;                         /**< of all */
} refs_ref_names;

/** Adds a name, in any order. */
refs_status refs_icechunk__ref_names_add(refs_ref_names *names, refs_str name, refs_error *err);
void refs_icechunk__ref_names_clear(refs_ref_names *names);

/** Fails with REFS_INVALID: there is no branch or tag, as `kind` says, that is called `wanted`, but
 * others are. */
refs_status refs_icechunk__ref_names_fail(const refs_ref_names *names, const char *kind,
                                          const char *wanted, refs_error *err);

#endif
