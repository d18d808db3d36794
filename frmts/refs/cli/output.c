/* output.c -- checks that an output may be replaced: it must be neither a source nor a data file; a
 * master may be replaced. */
#define _GNU_SOURCE 1 /* NOLINT: for F_OFD_SETLK; the harness of verbs defines it as 1, too */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrays.h"
#include "refs/aggregation.h"
#include "refs/cfa/cfa.h"
#include "refs/file_name.h"
#include "refs/same_file.h"

/* Whether the name is that of one file: folders and patterns stand for many files, so they are no
 * master. */
static bool may_be_one_file(const char *name) {
    struct stat info;
    return refs_file_name_has_url(refs_str_from(name)) ||
           (stat(name, &info) == 0 && S_ISREG(info.st_mode));
}

bool tool_is_master(const char *name) {
    if (!may_be_one_file(name)) return false;
    tool_session session;
    tool_set set = {NULL, NULL, NULL};
    bool is_master = tool_session_open(NULL, &session, NULL) == REFS_OK &&
                     tool_set_open(&session, name, &set, NULL) == REFS_OK &&
                     refs_is_master(set.hierarchy);
    tool_set_close(&set);
    tool_session_close(&session);
    return is_master;
}

static refs_status fail_source(const char *output, refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "%s: the output is also a source: leave it out, or choose another name",
                     output);
}

static refs_status fail_data(const char *output, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s: a data file would be overwritten: choose another name",
                     output);
}

/* Checks an object in a store. If it cannot be read it counts as absent: credentials may permit
 * writing but not reading. */
static refs_status check_object(const char *output, const tool_names *sources, refs_error *err) {
    tool_session session;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    for (size_t i = 0; i < sources->n; i++)
        if (strcmp(sources->items[i], output) == 0) return fail_source(output, err);
    refs_status status = tool_session_open(NULL, &session, err);
    if (status == REFS_OK) status = tool_location(output, &location, err);
    if (status == REFS_OK && refs_combine_is_data_file(session.vfs, (const char *)location.data) &&
        !tool_is_master(output))
        status = fail_data(output, err);
    tool_session_close(&session);
    return status;
}

refs_status tool_check_output(const char *output, const tool_names *sources, refs_error *err) {
    if (tool_is_remote(output)) return check_object(output, sources, err);
    for (size_t i = 0; i < sources->n; i++)
        if (refs_is_same_file(output, sources->items[i])) return fail_source(output, err);
    if (!refs_combine_is_data_file(refs_vfs_posix(), output) || tool_is_master(output))
        return REFS_OK;
    return fail_data(output, err);
}

refs_status tool_leave_out_output(const char *output, const refs_name_list *given, size_t n_own,
                                  tool_names *names, refs_error *err) {
    size_t n = n_own;
    if (access(output, F_OK) != 0) return REFS_OK;
    for (size_t i = 0; i < given->n; i++)
        if (refs_is_same_file(output, given->items[i]) &&
            refs_combine_is_data_file(refs_vfs_posix(), output))
            return fail_source(output, err);
    for (size_t i = n; i < names->n; i++) {
        const bool is_output = refs_is_same_file(output, names->items[i]);
        if (is_output && !refs_name_list_has(given, names->items[i]))
            refs_free(names->items[i]);
        else
            names->items[n++] = names->items[i];
    }
    names->n = n;
    return REFS_OK;
}

refs_status tool_find_folder(const char *name, char absolute[PATH_MAX], refs_error *err) {
    refs_str output = refs_str_from(name);
    while (output.size > 1 && output.data[output.size - 1] == '/') output.size--;
    const refs_str above = refs_path_folder(output);
    REFS_SCOPED char *folder = refs_str_copy(above.size > 0 ? above : refs_str_from("."));
    if (folder == NULL) return refs_fail_nomem(err);
    bool found = realpath(folder, absolute) != NULL;
    return found ? REFS_OK : refs_fail(err, REFS_IO, "%s: %s", folder, strerror(errno));
}

/* -- references to the output ------------------------------------------------------------------ */

typedef struct output_search {
    const char *output;
    tool_replaced replaced;
    struct stat file, folder; /* the output and its folder */
    bool has_file;
    const char *source;
    refs_intern seen;
    uint32_t last_id; /* the last checked location, if has_last */
    bool has_last;
} output_search;

static bool is_at(const char *path, const struct stat *place) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == place->st_dev &&
           status.st_ino == place->st_ino;
}

static bool is_replaced(const output_search *search, char *location) {
    if (search->has_file && is_at(location, &search->file)) return true;
    char *slash = strrchr(location, '/');
    if (search->replaced != TOOL_REPLACED_WITH_FRAGMENTS || slash == NULL) return false;
    *slash = '\0';
    slash = strrchr(location, '/');
    if (!refs_cfa_is_folder_of(search->output, refs_path_leaf(location))) return false;
    if (slash != NULL) slash[slash == location] = '\0';
    return is_at(slash != NULL ? location : ".", &search->folder);
}

static refs_status check_location(output_search *search, const char *location, refs_error *err) {
    const size_t known = search->seen.count;
    uint32_t id;
    REFS_TRY(tool_check_interrupted(err));
    if (*location == '\0' || refs_location_is_remote(refs_str_from(location))) return REFS_OK;
    REFS_TRY(refs_intern_add(&search->seen, refs_str_from(location), &id, err));
    if (search->seen.count == known) return REFS_OK;
    char *copy = refs_str_copy(refs_str_from(location));
    if (copy == NULL) return refs_fail_nomem(err);
    const bool is_it = is_replaced(search, copy);
    refs_free(copy);
    if (!is_it) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: would overwrite %s, to which %s refers: choose another name",
                     search->output, location, search->source);
}

/* Consecutive references are mostly in the same file. */
static refs_status check_ref(void *user, const uint64_t *index, const refs_ref *ref,
                             refs_error *err) {
    output_search *search = user;
    (void)index;
    if (ref->kind == REFS_REF_INLINE) return REFS_OK;
    if (search->has_last && search->last_id == ref->location_id) return tool_check_interrupted(err);
    search->has_last = true;
    search->last_id = ref->location_id;
    return check_location(search, ref->location, err);
}

/* Names of fragments are relative to the master. */
static refs_status check_partition(void *user, const refs_partition *partition, refs_error *err) {
    output_search *search = user;
    const refs_url_context context = {.base = search->source};
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    if (*partition->file == '\0') return REFS_OK;
    REFS_TRY(refs_url_map(refs_str_from(partition->file), &context, &location, err));
    REFS_TRY(refs_buf_append(&location, "", 1, err));
    return check_location(search, (const char *)location.data, err);
}

/* If the set has all its references in memory, checks each location once instead of each chunk. */
static refs_status check_locations(output_search *search, const refs_set *set, refs_error *err) {
    for (uint32_t id = 0; refs_set_is_whole(set) && id < refs_set_n_locations(set); id++)
        REFS_TRY(check_location(search, refs_set_location_at(set, id), err));
    return REFS_OK;
}

static refs_status check_chunks(output_search *search, const refs_set *set,
                                const refs_array_meta *meta, refs_error *err) {
    const refs_chunk_visitor visitor = {check_ref, search};
    uint64_t n[REFS_MAX_RANK];
    const refs_chunk_keys keys = refs_array_meta_keys(meta, n);
    return refs_set_is_whole(set) ? REFS_OK : refs_set_each_chunk(set, &keys, &visitor, err);
}

static refs_status check_arrays(output_search *search, const tool_arrays *arrays, refs_error *err) {
    REFS_TRY(check_locations(search, arrays->set.set, err));
    for (size_t i = 0; i < refs_hierarchy_n_arrays(arrays->set.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(arrays->set.hierarchy, i);
        if (meta->status != REFS_OK) continue;
        REFS_TRY(meta->aggregation != NULL
                     ? refs_aggregation_each(meta, check_partition, search, err)
                     : check_chunks(search, arrays->set.set, meta, err));
    }
    return REFS_OK;
}

refs_status tool_check_references(const char *output, tool_replaced replaced,
                                  const tool_arrays *arrays, refs_error *err) {
    output_search search = {.output = output, .replaced = replaced, .source = arrays->location};
    if (tool_is_remote(output)) return REFS_OK;
    search.has_file = stat(output, &search.file) == 0;
    REFS_SCOPED char *folder = refs_str_copy(refs_file_name_folder(refs_str_from(output)));
    if (folder == NULL) return refs_fail_nomem(err);
    refs_status status = REFS_OK;
    const bool has_folder = stat(folder, &search.folder) == 0;
    if (has_folder && (search.has_file || replaced == TOOL_REPLACED_WITH_FRAGMENTS))
        status = check_arrays(&search, arrays, err);
    refs_intern_clear(&search.seen);
    return status;
}

/* -- one at a time ----------------------------------------------------------------------------- */

/* Whether the name still leads to the open file: the process that held the lock may have replaced
 * it. */
static bool is_still(const char *name, int file) {
    struct stat was, is;
    return fstat(file, &was) != 0 || stat(name, &is) != 0 ||
           (was.st_dev == is.st_dev && was.st_ino == is.st_ino);
}

/* Locks by F_OFD_SETLK where that is possible: HDF5 holds flock on files that it reads. A file that
 * is open for reading only gets a read lock, which excludes write locks, and flock, which excludes
 * other read locks. False if another program has the lock. */
static bool take_lock(int file) {
#ifdef F_OFD_SETLK
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_SETLK, &all) == 0) return true;
    all.l_type = F_RDLCK;
    if (errno == EBADF && fcntl(file, F_OFD_SETLK, &all) == 0) errno = 0;
    if (errno == EAGAIN || errno == EACCES) return false;
#endif
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool tool_lock(const char *name, int *file) {
    *file = -1;
    if (tool_is_remote(name)) return true;
    for (;; close(*file)) {
        *file = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (*file < 0) *file = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (*file < 0) return true;
        if (!take_lock(*file)) break;
        if (is_still(name, *file)) return true;
    }
    fprintf(stderr, "refs: %s: another program appends to it: try again when that is done\n", name);
    close(*file);
    return false;
}

void tool_unlock(int file) {
    if (file >= 0) close(file);
}
