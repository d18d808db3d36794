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

#ifdef __cplusplus
}
#endif
#endif
