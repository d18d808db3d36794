/* master.c -- reads an existing master that grows: its files, and how it was made. */
#include "master.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arrays.h"
#include "refs/file_name.h"
#include "refs/index_again.h"
#include "refs/own_attributes.h"
#include "refs/validators.h"

/* Receives the partitions of a master: each of their files is a source once. */
typedef struct collecting {
    const tool_session *session;
    tool_master *master;
    const char *name; /* the user's name of the master */
    const char *path; /* path of the aggregation being visited */
    size_t rank;
    refs_intern fragments; /* file and variable of each of its fragments */
    refs_buf repeated;     /* a file that has the same fragment at two positions, or empty */
    bool has_sources;      /* the master has a record of its sources */
} collecting;

/* The user's name of a fragment in a store: "s3://alias/bucket/m/m.tas.0.nc", with a NUL. */
static refs_status append_as_named(const collecting *to, const char *file, refs_buf *name,
                                   refs_error *err) {
    const refs_url_context context = {.base = to->name};
    if (!tool_is_remote(file) && !tool_is_remote(to->name)) {
        REFS_TRY(refs_url_map(refs_str_from(file), &context, name, err));
        return refs_buf_append(name, "", 1, err);
    }
    const char *slash = strrchr(to->name, '/');
    if (!tool_is_remote(file) && *file != '/')
        REFS_TRY(refs_buf_append(name, to->name, (size_t)(slash + 1 - to->name), err));
    return refs_buf_append_text(name, refs_str_from(file), err);
}

/* Appends the name of a file. Names in CF-1.13 should be escaped: an existing file with the
 * unescaped spelling takes precedence, as in reading. */
static refs_status append_name(const collecting *to, const char *file, refs_buf *name,
                               refs_error *err) {
    REFS_SCOPED_BUF plain = REFS_BUF_INIT;
    REFS_TRY(append_as_named(to, file, name, err));
    if (strchr(file, '%') == NULL || tool_is_there(to->session, (const char *)name->data))
        return REFS_OK;
    refs_status status = refs_file_name_unescape(refs_str_from(file), &plain, err);
    if (status == REFS_OK) status = refs_buf_append(&plain, "", 1, err);
    name->size = 0;
    if (status == REFS_OK) status = append_as_named(to, (const char *)plain.data, name, err);
    return status;
}

/* Sets `name` to the user's name of a file. */
static refs_status name_file(const collecting *to, const char *file, refs_buf *name,
                             refs_error *err) {
    REFS_TRY(append_name(to, file, name, err));
    return tool_confine(to->session, to->name, (const char *)name->data, err);
}

static refs_status add_record(tool_master *master, const char *file, refs_error *err) {
    const size_t n = master->files.n;
    REFS_GROW(master->recorded, master->recorded_capacity, n, err);
    master->recorded[n] = (tool_recorded){.file = refs_str_copy(refs_str_from(file))};
    return master->recorded[n].file != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status add_named(const collecting *to, tool_names *files, const char *file,
                             const char *name, refs_error *err) {
    size_t number;
    const bool is_fragment = files == &to->master->files;
    REFS_TRY(tool_names_find(files, name, &number, err));
    if (number != SIZE_MAX) return REFS_OK;
    if (is_fragment && refs_file_name_needs_folder(refs_str_from(file)))
        to->master->has_relative = true;
    if (is_fragment) REFS_TRY(add_record(to->master, file, err));
    const refs_status status = tool_names_add(files, refs_str_from(name), err);
    if (status != REFS_OK && is_fragment) refs_free(to->master->recorded[files->n].file);
    return status;
}

/* Fails if a file has two names, such as "d0.nc" and "./d0.nc": the master would not find all its
 * fragments under one name. */
static refs_status note_name(tool_master *master, const char *file, const char *name,
                             refs_error *err) {
    size_t number;
    REFS_TRY(tool_names_find(&master->files, name, &number, err));
    if (strcmp(master->recorded[number].file, file) != 0)
        master->recorded[number].has_other_names = true;
    return REFS_OK;
}

static refs_status add_file(const collecting *to, tool_names *files, const char *file,
                            refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(name_file(to, file, &name, err));
    REFS_TRY(add_named(to, files, file, (const char *)name.data, err));
    if (files == &to->master->files)
        REFS_TRY(note_name(to->master, file, (const char *)name.data, err));
    return REFS_OK;
}

/* Fails if a file has the same fragment twice: each file is a source once, and steps would be
 * lost. */
static refs_status note_repeated(collecting *to, const refs_partition *partition, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    const size_t n = to->fragments.count;
    uint32_t id;
    REFS_TRY(refs_buf_printf(&key, err, "%s\n%s", partition->file, partition->variable));
    REFS_TRY(refs_intern_add(&to->fragments, refs_buf_text(&key), &id, err));
    if (to->fragments.count == n && to->repeated.size == 0)
        REFS_TRY(refs_buf_append_text(&to->repeated, refs_str_from(partition->file), err));
    return REFS_OK;
}

static refs_status collect(void *user, const refs_partition *partition, refs_error *err) {
    collecting *to = user;
    uint64_t shape[REFS_MAX_RANK];
    for (size_t dim = 0; dim < to->rank; dim++)
        shape[dim] = partition->end[dim] - partition->begin[dim];
    if (*partition->file == '\0') return REFS_OK;
    const bool is_filler = refs_cfa_is_filler(partition->file, to->path, shape, to->rank);
    if (!is_filler) REFS_TRY(note_repeated(to, partition, err));
    return add_file(to, is_filler ? &to->master->fillers : &to->master->files, partition->file,
                    err);
}

/* Adds the recorded sources. Small variables, and coordinates that no fragment has, are in the
 * master, so no partition names their files. */
static refs_status collect_named_source(const collecting *to, const refs_source_state *state,
                                        const char *file, refs_error *err) {
    tool_master *master = to->master;
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    size_t number = SIZE_MAX;
    REFS_TRY(name_file(to, file, &name, err));
    const char *named = (const char *)name.data;
    REFS_TRY(tool_names_find(&master->fillers, named, &number, err));
    const bool may_be_filler = number != SIZE_MAX;
    if (!may_be_filler) REFS_TRY(add_named(to, &master->files, file, named, err));
    REFS_TRY(tool_names_find(&master->files, named, &number, err));
    if (number != SIZE_MAX && state->size != REFS_SOURCE_UNKNOWN)
        master->recorded[number].was = refs_source_validators(state);
    return REFS_OK;
}

static refs_status collect_source(void *user, const refs_source_state *state, refs_error *err) {
    collecting *to = user;
    to->has_sources = true;
    REFS_SCOPED char *file = refs_str_copy(state->url);
    if (file == NULL) return refs_fail_nomem(err);
    return collect_named_source(to, state, file, err);
}

static refs_status read_arrays(collecting *to, const tool_arrays *arrays, refs_error *err) {
    for (size_t i = 0; i < arrays->described.source.n_arrays; i++) {
        const refs_array_meta *meta = arrays->described.metas[i];
        const refs_cfa_variable *variable = &arrays->described.source.arrays[i].variable;
        if (meta->aggregation == NULL) continue;
        to->path = variable->path;
        to->rank = meta->rank;
        refs_intern_clear(&to->fragments);
        REFS_TRY(refs_aggregation_each(meta, collect, to, err));
    }
    return REFS_OK;
}

static refs_status check_repeated(const collecting *to, refs_error *err) {
    if (to->master->how.size == 0 || to->repeated.size == 0) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "%s: cannot append: %s covers more than one step: %s",
                     to->name, (const char *)to->repeated.data, refs_index_again());
}

/* Checks that the master's own values can be combined again: their source files must be known. */
static refs_status check_own(const collecting *to, const refs_cfa_description *described,
                             refs_error *err) {
    if (to->master->how.size == 0 || to->has_sources || !refs_cfa_description_has_own(described))
        return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "%s: cannot append: it holds values itself, and has no record (" REFS_SOURCES_ATTRIBUTE
        ") of their source files: %s",
        to->name, refs_index_again());
}

static refs_status read_master(tool_target *target, refs_error *err) {
    const tool_arrays *arrays = &target->before;
    tool_master *master = &target->master;
    collecting to = {.session = &target->session, .master = master, .name = target->name};
    refs_master_options_of(target->session.vfs, arrays->location,
                           refs_hierarchy_group(arrays->set.hierarchy, 0)->attributes,
                           &master->options);
    REFS_TRY(tool_joined_read(arrays->set.set, &master->how, err));
    refs_status status = read_arrays(&to, arrays, err);
    if (status == REFS_OK) status = check_repeated(&to, err);
    refs_intern_clear(&to.fragments);
    refs_buf_clear(&to.repeated);
    REFS_TRY(status);
    const refs_source_visitor visitor = {collect_source, &to};
    REFS_TRY(tool_sources_read(arrays->set.set, &visitor, err));
    if (master->files.n + master->fillers.n > 0 ||
        refs_cfa_description_is_empty(&arrays->described))
        return check_own(&to, &arrays->described, err);
    return refs_fail(err, REFS_INVALID, "%s: expected a master with fragments", target->name);
}

refs_status tool_target_open(const tool_arguments *arguments, const char *name, tool_target *target,
                             refs_error *err) {
    *target = (tool_target){.name = name, .master = {.options = REFS_MASTER_OPTIONS_INIT}};
    REFS_TRY(tool_session_open(arguments, &target->session, err));
    if (tool_append_shown(name, &target->shown) != REFS_OK) return refs_fail_nomem(err);
    if (tool_is_remote(name)) target->name = (const char *)target->shown.data;
    return tool_sending_open(&target->session, target->name, &target->sending, err);
}

/* data files and sets may end with ".nc", too */
refs_status tool_target_read(tool_target *target, tool_target_kind *kind, refs_error *err) {
    const bool may_be_set =
        !tool_is_remote(target->name) && refs_str_ends(refs_str_from(target->name), ".nc");
    *kind = TOOL_SET;
    REFS_TRY(tool_sending_guard(&target->sending, err));
    REFS_TRY(tool_arrays_open(&target->session, target->name, &target->before, err));
    if (may_be_set && !refs_is_master(target->before.set.hierarchy)) return REFS_OK;
    REFS_TRY(read_master(target, err));
    *kind = target->master.how.size > 0 ? TOOL_INDEXED : TOOL_FRAGMENTS;
    return REFS_OK;
}

static void clear(tool_master *master) {
    for (size_t i = 0; master->recorded != NULL && i < master->files.n; i++)
        refs_free(master->recorded[i].file);
    refs_free(master->recorded);
    tool_names_clear(&master->files);
    tool_names_clear(&master->fillers);
    refs_buf_clear(&master->how);
}

void tool_target_close(tool_target *target) {
    clear(&target->master);
    tool_arrays_close(&target->before);
    tool_sending_close(&target->sending);
    refs_buf_clear(&target->shown);
    tool_session_close(&target->session);
}

refs_status tool_master_join(const tool_master *master, const refs_combine_part *part,
                             refs_combine *combine, const tool_joined_files *joined,
                             refs_error *err) {
    const size_t n_files = master->files.n;
    size_t n = 0;
    REFS_SCOPED refs_combine_recorded *files = refs_calloc(n_files + 1, sizeof *files);
    if (files == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n_files; i++)
        if (master->recorded[i].was.size > 0 && !master->recorded[i].has_other_names)
            files[n++] =
                (refs_combine_recorded){i, master->files.items[i], master->recorded[i].file,
                                        joined->as != NULL ? joined->as[i] : NULL, false};
    REFS_TRY(refs_combine_add_master(combine, part, files, n, err));
    for (size_t i = 0; i < n; i++) joined->is_added[files[i].number] = files[i].is_added;
    return REFS_OK;
}

refs_status tool_check_named(const char *master, const char *name, refs_error *err) {
    if (!tool_is_remote(master) || tool_is_remote(name) || access(name, F_OK) != 0) return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "%s: a remote master, %s, cannot refer to a local file: copy the fragments to a URL", name,
        master);
}
