/* master.c -- reads an existing master that grows: its files, and how it was made. */
#include "master.h"

#include <stdio.h>

#include "refs/combine_how.h"
#include "refs/index_again.h"

/* Users call an object by its URL. */
static refs_status add_name(tool_names *names, const char *location, refs_error *err) {
    REFS_SCOPED_BUF shown = REFS_BUF_INIT;
    if (!tool_is_remote(location)) return tool_names_add(names, refs_str_from(location), err);
    if (tool_append_shown(location, &shown) != REFS_OK) return refs_fail_nomem(err);
    return tool_names_add(names, refs_str_from((const char *)shown.data), err);
}

refs_status tool_list_files(const tool_session *session, const tool_set *master,
                            refs_master_files *files, refs_error *err) {
    const refs_set_options sets = tool_set_options(session);
    const refs_master_listing listing = {
        .set = master->set,
        .hierarchy = master->hierarchy,
        .places = {refs_set_location(master->set), session->vfs, &sets}};
    return refs_master_files_list(&listing, files, err);
}

static refs_status list_files(const tool_target *target, tool_master *master, refs_error *err) {
    const tool_arrays *arrays = &target->before;
    REFS_TRY(tool_list_files(&target->session, &arrays->set, &master->listed, err));
    for (size_t i = 0; i < master->listed.n; i++)
        REFS_TRY(add_name(&master->files, master->listed.items[i].location, err));
    if (!master->is_indexed) return REFS_OK;
    REFS_TRY(refs_master_files_check_growth(&master->listed, &arrays->described, err));
    const refs_json *attributes = refs_hierarchy_group(arrays->set.hierarchy, 0)->attributes;
    const refs_json *mark = refs_json_get(attributes, REFS_CFA_COMBINED);
    master->is_edited = mark != NULL && refs_cfa_is_edited(arrays->location, refs_json_text(mark));
    return REFS_OK;
}

static refs_status read_how(const refs_set *set, tool_master *master, refs_error *err) {
    REFS_SCOPED_BY(refs_combine_how_clear) refs_combine_how how = {.pattern = NULL};
    REFS_TRY(tool_joined_read(set, &master->how, err));
    REFS_TRY(refs_combine_how_read(refs_buf_text(&master->how), &how, err));
    master->is_indexed = how.along.n > 0;
    return REFS_OK;
}

static refs_status read_master(tool_target *target, refs_error *err) {
    const tool_arrays *arrays = &target->before;
    tool_master *master = &target->master;
    refs_master_options_of(target->session.vfs, arrays->location,
                           refs_hierarchy_group(arrays->set.hierarchy, 0)->attributes,
                           &master->options);
    refs_status status = read_how(arrays->set.set, master, err);
    if (status == REFS_OK) status = list_files(target, master, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", target->name);
    if (status != REFS_OK || master->listed.n + master->listed.fillers.count > 0 ||
        refs_cfa_description_is_empty(&arrays->described))
        return status;
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
    *kind = target->master.is_indexed ? TOOL_INDEXED : TOOL_FRAGMENTS;
    return REFS_OK;
}

refs_status tool_target_fail(const tool_target *target, refs_status status,
                             const refs_error *problem, refs_error *err) {
    if (status != REFS_NOT_FOUND) return refs_fail(err, status, "%s", problem->message);
    return refs_fail(err, status,
                     "%s: %s: append reads this file again: restore it or, if it was moved, %s",
                     target->name, problem->message, refs_index_again());
}

refs_status tool_target_check(const tool_target *target, size_t number,
                              const refs_vfs_validators *now, refs_error *err) {
    const refs_master_file *file = &target->master.listed.items[number];
    const tool_session *session = &target->session;
    const refs_status status =
        refs_master_file_check(file, session->fetcher, session->changed, now, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s: %s", target->name, file->location);
    return status;
}

void tool_target_close(tool_target *target) {
    refs_master_files_clear(&target->master.listed);
    tool_names_clear(&target->master.files);
    refs_buf_clear(&target->master.how);
    tool_arrays_close(&target->before);
    tool_sending_close(&target->sending);
    refs_buf_clear(&target->shown);
    tool_session_close(&target->session);
}
