/* state_name.h -- how the name of a set asks for a state of a repository: "#branch=dev&tag=v1".
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_STATE_NAME_H
#define REFS_STATE_NAME_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The words by which a state can be requested. */
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

/** Appends `name`, or if it is that of a repository in the words of URL pipelines,
 * "s3://bucket/repo/|icechunk:@branch.main", or of "icechunk+s3://bucket/repo@main", the same with
 * '#': "s3://bucket/repo/#branch=main". REFS_INVALID if more follows. */
refs_status refs_state_plain_name(refs_str name, refs_buf *plain, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
