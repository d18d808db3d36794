/* output.c -- what may be written over: whatever is no source, and no data but a master. */
#include <sys/stat.h>

#include "refs/aggregation.h"
#include "tool.h"

static bool has_aggregations(const refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++)
        if (refs_aggregation_is_told_by(refs_hierarchy_array(hierarchy, i)->attributes))
            return true;
    return false;
}

bool tool_is_master(const char *name) {
    tool_session session;
    tool_set set = {NULL, NULL, NULL};
    bool is_master = tool_session_open(&session, NULL) == REFS_OK &&
                     tool_set_open(&session, name, &set, NULL) == REFS_OK &&
                     has_aggregations(set.hierarchy);
    tool_set_close(&set);
    tool_session_close(&session);
    return is_master;
}

refs_status tool_check_output(const char *output, const tool_names *sources, refs_error *err) {
    struct stat there, source;
    if (stat(output, &there) != 0) return REFS_OK;
    for (size_t i = 0; i < sources->n; i++)
        if (stat(sources->items[i], &source) == 0 && source.st_dev == there.st_dev &&
            source.st_ino == there.st_ino)
            return refs_fail(err, REFS_INVALID,
                             "%s: is a source: give what is made of it another name", output);
    if (!refs_join_is_data_file(refs_vfs_posix(), output) || tool_is_master(output)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: is a data file: give what is written another name",
                     output);
}
