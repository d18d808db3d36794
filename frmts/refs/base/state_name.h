/* state_name.h -- the suffix of a set's name that selects a version of a repository:
 * "#branch=dev&tag=v1".
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_STATE_NAME_H
#define REFS_STATE_NAME_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The keys that select a version. */
typedef enum refs_state_key {
    REFS_STATE_BRANCH,
    REFS_STATE_TAG,
    REFS_STATE_SNAPSHOT,
    REFS_STATE_AS_OF,
    REFS_N_STATE_KEYS
} refs_state_key;

/** "branch" and so on. */
const char *refs_state_key_name(refs_state_key key);

/** The key of an item "key=value", or REFS_N_STATE_KEYS. */
refs_state_key refs_state_key_find(refs_str item);

/** Appends `name`. A repository named by a URL pipeline, "s3://bucket/repo/|icechunk:@branch.main",
 * or as "icechunk+s3://bucket/repo@main", is converted to the form with '#':
 * "s3://bucket/repo/#branch=main". REFS_INVALID if more follows. */
refs_status refs_state_plain_name(refs_str name, refs_buf *plain, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
