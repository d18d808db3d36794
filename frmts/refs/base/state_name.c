/* state_name.c -- see state_name.h. */
#include "refs/state_name.h"

static const char *const names[REFS_N_STATE_KEYS] = {[REFS_STATE_BRANCH] = "branch",
                                                     [REFS_STATE_TAG] = "tag",
                                                     [REFS_STATE_SNAPSHOT] = "snapshot",
                                                     [REFS_STATE_AS_OF] = "as_of"};

const char *refs_state_key_name(refs_state_key key) {
    return names[key];
}

refs_state_key refs_state_key_find(refs_str item) {
    const size_t equals = refs_str_find(item, '=');
    if (equals == SIZE_MAX) return REFS_N_STATE_KEYS;
    int key = 0;
    while (key < REFS_N_STATE_KEYS && !refs_str_is(refs_str_part(item, 0, equals), names[key]))
        key++;
    return (refs_state_key)key;
}
