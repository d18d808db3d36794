/* resolve.c -- what key a user means. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

refs_status tool_resolve(const tool_set *set, const char *wanted, refs_buf *key, refs_error *err) {
    const char *bracket = strchr(wanted, '[');
    uint64_t index[REFS_MAX_RANK] = {0};
    size_t rank = 0;
    if (bracket == NULL) {
        while (*wanted == '/') wanted++;
        return refs_buf_append_str(key, refs_str_from(wanted), err);
    }
    const refs_array_meta *meta = refs_hierarchy_find_array(
        set->hierarchy, refs_str_view(wanted, (size_t)(bracket - wanted)));
    if (meta == NULL || meta->status != REFS_OK)
        return refs_fail(err, REFS_NOT_FOUND, "there is no array \"%.*s\"", (int)(bracket - wanted),
                         wanted);
    for (const char *at = bracket; *at == '[' || *at == ','; rank++) {
        char *end;
        unsigned long long number = strtoull(at + 1, &end, 10);
        if (end == at + 1 || rank >= meta->rank || number >= meta->shape[rank])
            return refs_fail(err, REFS_INVALID, "%s is no element of the array", bracket);
        index[rank] = number / meta->chunk[rank];
        at = end;
        if (*at == ']' && at[1] == '\0' && rank + 1 == meta->rank)
            return refs_chunk_key(meta, index, key, err);
    }
    return refs_fail(err, REFS_INVALID, "%s is no element of an array of %zu dimensions", bracket,
                     meta->rank);
}
