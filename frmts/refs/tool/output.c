/* output.c -- what may be written over: whatever is neither a source nor data, and masters. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refs/aggregation.h"
#include "refs/cfa.h"
#include "tool.h"

static bool has_aggregations(const refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++)
        if (refs_aggregation_is_told_by(refs_hierarchy_array(hierarchy, i)->attributes))
            return true;
    return false;
}

/* A master whose values are all in it. */
static bool is_combined(const refs_hierarchy *hierarchy) {
    const refs_group_meta *root = refs_hierarchy_group(hierarchy, 0);
    return root != NULL && refs_json_get(root->attributes, REFS_CFA_COMBINED) != NULL;
}

bool tool_is_master(const char *name) {
    tool_session session;
    tool_set set = {NULL, NULL, NULL};
    bool is_master = tool_session_open(&session, NULL) == REFS_OK &&
                     tool_set_open(&session, name, &set, NULL) == REFS_OK &&
                     (has_aggregations(set.hierarchy) || is_combined(set.hierarchy));
    tool_set_close(&set);
    tool_session_close(&session);
    return is_master;
}

static refs_status fail_source(const char *output, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s: is a source: give what is made of it another name",
                     output);
}

static refs_status fail_data(const char *output, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s: is a data file: give what is written another name",
                     output);
}

/* What cannot be read is not there: there may be rights to write, and none to read. */
static refs_status check_object(const char *output, const tool_names *sources, refs_error *err) {
    tool_session session;
    refs_buf location = REFS_BUF_INIT;
    for (size_t i = 0; i < sources->n; i++)
        if (strcmp(sources->items[i], output) == 0) return fail_source(output, err);
    refs_status status = tool_session_open(&session, err);
    if (status == REFS_OK) status = tool_location(output, &location, err);
    if (status == REFS_OK) status = refs_buf_append(&location, "", 1, err);
    if (status == REFS_OK && refs_join_is_data_file(session.vfs, (const char *)location.data) &&
        !tool_is_master(output))
        status = fail_data(output, err);
    refs_buf_clear(&location);
    tool_session_close(&session);
    return status;
}

refs_status tool_check_output(const char *output, const tool_names *sources, refs_error *err) {
    struct stat there, source;
    if (tool_is_remote(output)) return check_object(output, sources, err);
    if (stat(output, &there) != 0) return REFS_OK;
    for (size_t i = 0; i < sources->n; i++)
        if (stat(sources->items[i], &source) == 0 && source.st_dev == there.st_dev &&
            source.st_ino == there.st_ino)
            return fail_source(output, err);
    if (!refs_join_is_data_file(refs_vfs_posix(), output) || tool_is_master(output)) return REFS_OK;
    return fail_data(output, err);
}

/* -- one at a time ----------------------------------------------------------------------------- */

/* Whether the name is still that of what was opened: who held the lock may have exchanged it. */
static bool is_still(const char *name, int file) {
    struct stat was, is;
    return fstat(file, &was) != 0 || stat(name, &is) != 0 ||
           (was.st_dev == is.st_dev && was.st_ino == is.st_ino);
}

bool tool_lock(const char *name, int *file) {
    *file = -1;
    if (tool_is_remote(name)) return true;
    for (;; close(*file)) {
        *file = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (*file < 0) return true;
        if (flock(*file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) break;
        if (is_still(name, *file)) return true;
    }
    fprintf(stderr, "refs: %s: another program appends to it: try again when that is done\n", name);
    close(*file);
    return false;
}

void tool_unlock(int file) {
    if (file >= 0) close(file);
}
