/* repo_info.c -- see repo_info.h. */
#include "icechunk/repo_info.h"

#include <stdlib.h>

#include "icechunk/file.h"
#include "icechunk/flexbuffer.h"
#include "icechunk/moment.h"
#include "icechunk/ref_names.h"
#include "icechunk/schema.h"

/* Availability of a repository. */
enum { ONLINE, READ_ONLY, OFFLINE };

/* A snapshot in the info. */
typedef struct listed {
    const uint8_t *id;
    int64_t parent; /* number of the parent, or -1 */
    int64_t written_us;
    refs_str message;
} listed;

/* -- reading ----------------------------------------------------------------------------------- */

refs_status refs_icechunk_info_file(refs_str folder, refs_buf *location, refs_error *err) {
    return refs_buf_printf(location, err, "%.*s/repo", (int)folder.size, folder.data);
}

static refs_status read_status(refs_repo_info *info, const refs_flat_table *root, refs_error *err) {
    refs_flat_table status;
    uint64_t availability = ONLINE;
    REFS_TRY(refs_icechunk__flat_child(root, REPO_STATUS, &status, err));
    if (status.buffer.data == NULL) return REFS_OK;
    REFS_TRY(refs_icechunk__flat_number(&status, STATUS_AVAILABILITY, 1, &availability, err));
    info->availability = (unsigned)availability;
    return refs_icechunk__flat_string(&status, STATUS_REASON, &info->reason, err);
}

static refs_status open_info(refs_repo_info *info, refs_error *err) {
    refs_flat_table root;
    REFS_TRY(refs_icechunk__flat_root(refs_buf_view(&info->buffer), &root, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_TAGS, 4, &info->tags, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_BRANCHES, 4, &info->branches, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_DELETED_TAGS, 4, &info->deleted_tags, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_SNAPSHOTS, 4, &info->snapshots, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_ENABLED, 2, &info->enabled, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_DISABLED, 2, &info->disabled, err));
    REFS_TRY(refs_icechunk__flat_bytes(&root, REPO_CONFIG, &info->config, err));
    return read_status(info, &root, err);
}

refs_status refs_icechunk__info_read(const refs_icechunk_source *source, refs_repo_info *info,
                                     refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_status status = refs_icechunk_info_file(refs_str_from(source->folder), &location, err);
    const char *name = (const char *)location.data;
    refs_icechunk_file which = {name, REFS_ICECHUNK_REPO, 0};
    if (status == REFS_OK) status = refs_icechunk__file_read(source, &which, &info->buffer, err);
    const bool was_read = status == REFS_OK;
    if (was_read) status = open_info(info, err);
    if (was_read && status != REFS_OK) refs_error_prefix(err, "%s", name);
    return status;
}

refs_status refs_icechunk__info_take(refs_repo_info *info, refs_bytes flatbuffer, refs_error *err) {
    REFS_TRY(refs_buf_append(&info->buffer, flatbuffer.data, flatbuffer.size, err));
    return open_info(info, err);
}

void refs_icechunk__info_clear(refs_repo_info *info) {
    refs_buf_clear(&info->buffer);
    memset(info, 0, sizeof *info);
}

/* -- choosing a snapshot ----------------------------------------------------------------------- */

static refs_status snapshot_at(const refs_repo_info *info, uint64_t i, listed *snapshot,
                               refs_error *err) {
    refs_flat_table table;
    uint64_t parent = 0, written = 0;
    if (i >= info->snapshots.n)
        return refs_fail(err, REFS_CORRUPT, "it refers to snapshot %llu of a repository with %u",
                         (unsigned long long)i, (unsigned)info->snapshots.n);
    REFS_TRY(refs_icechunk__flat_table_at(&info->snapshots, (uint32_t)i, &table, err));
    REFS_TRY(refs_icechunk__flat_struct(&table, INFO_ID, REFS_OBJECT_ID_SIZE, &snapshot->id, err));
    REFS_TRY(refs_icechunk__flat_number(&table, INFO_PARENT, 4, &parent, err));
    REFS_TRY(refs_icechunk__flat_number(&table, INFO_WRITTEN, 8, &written, err));
    REFS_TRY(refs_icechunk__flat_string(&table, INFO_MESSAGE, &snapshot->message, err));
    if (snapshot->id == NULL) return refs_fail(err, REFS_CORRUPT, "a snapshot has no id");
    snapshot->parent = (int32_t)(uint32_t)parent;
    snapshot->written_us = written <= INT64_MAX ? (int64_t)written : INT64_MAX;
    return REFS_OK;
}

refs_status refs_icechunk__ref_at(const refs_flat_vector *refs, uint32_t i, refs_str *name,
                                  uint64_t *snapshot, refs_error *err) {
    refs_flat_table ref;
    *snapshot = 0;
    REFS_TRY(refs_icechunk__flat_table_at(refs, i, &ref, err));
    REFS_TRY(refs_icechunk__flat_string(&ref, REF_NAME, name, err));
    return refs_icechunk__flat_number(&ref, REF_SNAPSHOT, 4, snapshot, err);
}

/* REFS_NOT_FOUND without a message if there is no such branch or tag. */
static refs_status find_ref(const refs_flat_vector *refs, const char *wanted, uint64_t *snapshot,
                            refs_error *err) {
    for (uint32_t i = 0; i < refs->n; i++) {
        refs_str name;
        REFS_TRY(refs_icechunk__ref_at(refs, i, &name, snapshot, err));
        if (refs_str_is(name, wanted)) return REFS_OK;
    }
    return REFS_NOT_FOUND;
}

static refs_status was_deleted(const refs_repo_info *info, const char *tag, bool *deleted,
                               refs_error *err) {
    *deleted = false;
    for (uint32_t i = 0; i < info->deleted_tags.n && !*deleted; i++) {
        refs_str name;
        REFS_TRY(refs_icechunk__flat_string_at(&info->deleted_tags, i, &name, err));
        *deleted = refs_str_is(name, tag);
    }
    return REFS_OK;
}

static refs_status fail_without_ref(const refs_flat_vector *refs, const char *kind,
                                    const char *wanted, refs_error *err) {
    refs_ref_names names = {{NULL}, 0};
    refs_status status = REFS_OK;
    for (uint32_t i = 0; i < refs->n && status == REFS_OK; i++) {
        refs_str name;
        uint64_t snapshot;
        status = refs_icechunk__ref_at(refs, i, &name, &snapshot, err);
        if (status == REFS_OK) status = refs_icechunk__ref_names_add(&names, name, err);
    }
    if (status == REFS_OK) status = refs_icechunk__ref_names_fail(&names, kind, wanted, err);
    refs_icechunk__ref_names_clear(&names);
    return status;
}

static refs_status find_tag(const refs_repo_info *info, const char *tag, uint64_t *snapshot,
                            refs_error *err) {
    bool deleted;
    refs_status status = find_ref(&info->tags, tag, snapshot, err);
    if (status != REFS_NOT_FOUND) return status;
    REFS_TRY(was_deleted(info, tag, &deleted, err));
    if (deleted) return refs_fail(err, REFS_INVALID, "the tag \"%s\" was deleted", tag);
    return fail_without_ref(&info->tags, "tag", tag, err);
}

/* Expired snapshots are not in the info, although their files exist until they are collected. */
static refs_status check_listed(const refs_repo_info *info, const refs_object_id *id,
                                refs_error *err) {
    char text[REFS_OBJECT_ID_TEXT + 1];
    for (uint32_t i = 0; i < info->snapshots.n; i++) {
        listed snapshot;
        REFS_TRY(snapshot_at(info, i, &snapshot, err));
        if (memcmp(snapshot.id, id->bytes, REFS_OBJECT_ID_SIZE) == 0) return REFS_OK;
    }
    refs_icechunk__id_format(id->bytes, text);
    return refs_fail(err, REFS_INVALID, "the repository has no snapshot %s (it may have expired)",
                     text);
}

/* Goes back from a snapshot to one that is old enough, with at most as many steps as there are
 * snapshots. */
static refs_status go_back(const refs_repo_info *info, int64_t place, const char *as_of,
                           listed *snapshot, refs_error *err) {
    int64_t latest;
    REFS_TRY(refs_icechunk__moment_parse(refs_str_from(as_of), &latest, err));
    for (uint32_t steps = 0; steps <= info->snapshots.n; steps++) {
        if (place < 0)
            return refs_fail(err, REFS_INVALID, "the branch has no snapshot as old as %s", as_of);
        REFS_TRY(snapshot_at(info, (uint64_t)place, snapshot, err));
        if (snapshot->written_us <= latest) return REFS_OK;
        place = snapshot->parent;
    }
    return refs_fail(
        err, REFS_CORRUPT,
        "the snapshots of the repository form a loop: expected each to have an older parent");
}

static refs_status choose_ref(const refs_repo_info *info, const refs_icechunk_version *version,
                              listed *snapshot, refs_error *err) {
    const char *branch = version->branch != NULL ? version->branch : "main";
    const char *tag = version->tag != NULL ? version->tag : version->tag_or_snapshot;
    uint64_t place;
    if (tag != NULL) {
        REFS_TRY(find_tag(info, tag, &place, err));
        return snapshot_at(info, place, snapshot, err);
    }
    refs_status status = find_ref(&info->branches, branch, &place, err);
    if (status == REFS_NOT_FOUND) return fail_without_ref(&info->branches, "branch", branch, err);
    REFS_TRY(status);
    return version->as_of != NULL ? go_back(info, (int64_t)place, version->as_of, snapshot, err)
                                  : snapshot_at(info, place, snapshot, err);
}

refs_status refs_icechunk__info_choose(const refs_repo_info *info,
                                       const refs_icechunk_version *version, refs_object_id *id,
                                       refs_error *err) {
    listed snapshot;
    refs_error problem = REFS_ERROR_INIT;
    if (info->availability == OFFLINE)
        return refs_fail(err, REFS_UNSUPPORTED, "the repository was taken offline%s%.*s",
                         info->reason.size > 0 ? ": " : "", REFS_STR_ARG(info->reason));
    if (version->snapshot != NULL) {
        REFS_TRY(refs_icechunk__snapshot_parse(version->snapshot, id, err));
        return check_listed(info, id, err);
    }
    refs_status status = choose_ref(info, version, &snapshot, &problem);
    if (status == REFS_INVALID && version->tag_or_snapshot != NULL &&
        refs_icechunk__id_parse(refs_str_from(version->tag_or_snapshot), id))
        return check_listed(info, id, err);
    if (status != REFS_OK) return refs_fail(err, status, "%s", problem.message);
    memcpy(id->bytes, snapshot.id, REFS_OBJECT_ID_SIZE);
    return REFS_OK;
}

/* -- history ----------------------------------------------------------------------------------- */

static refs_status visit_refs(const refs_repo_info *info, const refs_flat_vector *refs,
                              refs_icechunk_entry_kind kind,
                              const refs_icechunk_entry_visitor *visitor, refs_error *err) {
    for (uint32_t i = 0; i < refs->n; i++) {
        refs_icechunk_entry entry = {.kind = kind};
        listed snapshot;
        uint64_t place;
        REFS_TRY(refs_icechunk__ref_at(refs, i, &entry.name, &place, err));
        REFS_TRY(snapshot_at(info, place, &snapshot, err));
        refs_icechunk__id_format(snapshot.id, entry.snapshot);
        REFS_TRY(visitor->visit(visitor->user, &entry, err));
    }
    return REFS_OK;
}

static refs_status visit_deleted(const refs_repo_info *info,
                                 const refs_icechunk_entry_visitor *visitor, refs_error *err) {
    for (uint32_t i = 0; i < info->deleted_tags.n; i++) {
        refs_icechunk_entry entry = {.kind = REFS_ICECHUNK_IS_DELETED_TAG};
        REFS_TRY(refs_icechunk__flat_string_at(&info->deleted_tags, i, &entry.name, err));
        REFS_TRY(visitor->visit(visitor->user, &entry, err));
    }
    return REFS_OK;
}

static int newest_first(const void *one, const void *other) {
    const int64_t a = ((const listed *)one)->written_us, b = ((const listed *)other)->written_us;
    return (a < b) - (a > b);
}

static refs_status visit_snapshot(const refs_repo_info *info, const listed *snapshot,
                                  const refs_object_id *current,
                                  const refs_icechunk_entry_visitor *visitor, refs_error *err) {
    refs_icechunk_entry entry = {.kind = REFS_ICECHUNK_IS_SNAPSHOT,
                                 .message = snapshot->message,
                                 .written_us = snapshot->written_us};
    refs_icechunk__id_format(snapshot->id, entry.snapshot);
    entry.is_current = memcmp(snapshot->id, current->bytes, REFS_OBJECT_ID_SIZE) == 0;
    if (snapshot->parent >= 0) {
        listed parent;
        REFS_TRY(snapshot_at(info, (uint64_t)snapshot->parent, &parent, err));
        refs_icechunk__id_format(parent.id, entry.parent);
    }
    return visitor->visit(visitor->user, &entry, err);
}

static refs_status visit_snapshots(const refs_repo_info *info, const refs_object_id *current,
                                   const refs_icechunk_entry_visitor *visitor, refs_error *err) {
    const uint32_t n = info->snapshots.n;
    REFS_SCOPED listed *all = refs_calloc(n, sizeof *all);
    if (all == NULL) return refs_fail_nomem(err);
    for (uint32_t i = 0; i < n; i++) REFS_TRY(snapshot_at(info, i, &all[i], err));
    qsort(all, n, sizeof *all, newest_first);
    for (uint32_t i = 0; i < n; i++) REFS_TRY(visit_snapshot(info, &all[i], current, visitor, err));
    return REFS_OK;
}

static refs_status visit_flags(const refs_flat_vector *flags, bool is_enabled,
                               const refs_icechunk_entry_visitor *visitor, refs_error *err) {
    /* Features by number, as far as Icechunk's first implementation has them; all concern
     * writing. */
    static const char *const names[] = {NULL, NULL, NULL, "move_node", "create_tag", "delete_tag"};
    for (uint32_t i = 0; i < flags->n; i++) {
        const uint8_t *at = refs_icechunk__flat_at(flags, i, 2);
        const unsigned id = (unsigned)at[0] | (unsigned)at[1] << 8;
        REFS_SCOPED_BUF name = REFS_BUF_INIT;
        refs_status status = id < sizeof names / sizeof names[0] && names[id] != NULL
                                 ? refs_buf_append_str(&name, refs_str_from(names[id]), err)
                                 : refs_buf_printf(&name, err, "number %u", id);
        const refs_icechunk_entry entry = {.kind = REFS_ICECHUNK_IS_FLAG,
                                           .name = {(const char *)name.data, name.size},
                                           .is_enabled = is_enabled};
        if (status == REFS_OK) status = visitor->visit(visitor->user, &entry, err);
        REFS_TRY(status);
    }
    return REFS_OK;
}

refs_status refs_icechunk__info_each_entry(const refs_repo_info *info,
                                           const refs_object_id *current,
                                           const refs_icechunk_entry_visitor *visitor,
                                           refs_error *err) {
    static const char *const words[] = {"online", "read-only", "offline"};
    const refs_icechunk_entry status = {
        .kind = REFS_ICECHUNK_IS_STATUS,
        .name =
            refs_str_from(info->availability <= OFFLINE ? words[info->availability] : "unknown"),
        .message = info->reason};
    REFS_TRY(visit_refs(info, &info->branches, REFS_ICECHUNK_IS_BRANCH, visitor, err));
    REFS_TRY(visit_refs(info, &info->tags, REFS_ICECHUNK_IS_TAG, visitor, err));
    REFS_TRY(visit_deleted(info, visitor, err));
    REFS_TRY(visit_snapshots(info, current, visitor, err));
    REFS_TRY(visit_flags(&info->enabled, true, visitor, err));
    REFS_TRY(visit_flags(&info->disabled, false, visitor, err));
    return visitor->visit(visitor->user, &status, err);
}

/* -- configuration ----------------------------------------------------------------------------- */

refs_status refs_icechunk__info_container(const refs_repo_info *info, refs_str name,
                                          refs_str *prefix, refs_error *err) {
    refs_flex_value root, containers, container, member;
    size_t n;
    *prefix = refs_str_view(NULL, 0);
    if (info->config.size == 0) return REFS_OK;
    REFS_TRY(refs_icechunk__flex_root(info->config, &root, err));
    REFS_TRY(refs_icechunk__flex_get(&root, "virtual_chunk_containers", &containers, err));
    REFS_TRY(refs_icechunk__flex_size(&containers, &n, err));
    for (size_t i = 0; i < n; i++) {
        refs_str own;
        REFS_TRY(refs_icechunk__flex_at(&containers, i, &container, err));
        REFS_TRY(refs_icechunk__flex_get(&container, "name", &member, err));
        REFS_TRY(refs_icechunk__flex_string(&member, &own, err));
        if (own.data == NULL || !refs_str_equal(own, name)) continue;
        REFS_TRY(refs_icechunk__flex_get(&container, "url_prefix", &member, err));
        return refs_icechunk__flex_string(&member, prefix, err);
    }
    return REFS_OK;
}
