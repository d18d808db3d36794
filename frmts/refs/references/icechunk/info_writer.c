/* info_writer.c -- see info_writer.h. */
#include "icechunk/info_writer.h"

#include "icechunk/flat_copy.h"
#include "icechunk/schema.h"

#define FORMAT 2

/* Updates in the file. Older ones are in a file that was replaced, which the info names. */
#define MAX_UPDATES 1000

#define NO_PARENT UINT32_MAX

/* The state of writing an info. */
typedef struct writing {
    const refs_repo_info *before; /* NULL: the repository is new */
    const refs_info_change *change;
    refs_flat_writer *flat;
    refs_flat_table old; /* the root of `before` */
    size_t root;
    uint32_t inserted; /* the number of the new snapshot; UINT32_MAX: there is none */
} writing;

/* -- snapshots --------------------------------------------------------------------------------- */

static refs_status id_at(const writing *at, uint32_t i, const uint8_t **id, refs_error *err) {
    refs_flat_table info;
    REFS_TRY(refs_icechunk__flat_table_at(&at->before->snapshots, i, &info, err));
    REFS_TRY(refs_icechunk__flat_struct(&info, INFO_ID, REFS_OBJECT_ID_SIZE, id, err));
    return *id != NULL ? REFS_OK
                       : refs_fail(err, REFS_CORRUPT, "snapshot %u has no id", (unsigned)i);
}

/* Finds the place of an id in ascending order; `*is_there`: the id is there already. */
static refs_status find_id(const writing *at, const uint8_t *id, uint32_t *place, bool *is_there,
                           refs_error *err) {
    const uint8_t *other;
    *is_there = false;
    for (*place = 0; *place < at->before->snapshots.n; ++*place) {
        REFS_TRY(id_at(at, *place, &other, err));
        const int order = memcmp(other, id, REFS_OBJECT_ID_SIZE);
        *is_there = order == 0;
        if (order >= 0) return REFS_OK;
    }
    return REFS_OK;
}

/* The number of snapshot `number` after the new one was inserted. */
static uint32_t renumber(const writing *at, uint32_t number) {
    return number != NO_PARENT && number >= at->inserted ? number + 1 : number;
}

static refs_status copy_snapshot(const writing *at, uint32_t i, size_t *to, refs_error *err) {
    refs_flat_table info;
    uint64_t parent = 0;
    REFS_TRY(refs_icechunk__flat_table_at(&at->before->snapshots, i, &info, err));
    REFS_TRY(refs_icechunk__flat_number(&info, INFO_PARENT, 4, &parent, err));
    REFS_TRY(refs_icechunk__flat_copy(at->flat, &info, &refs_icechunk__shape_info, to, err));
    refs_icechunk__flat_set_number(at->flat, *to, INFO_PARENT, 4, renumber(at, (uint32_t)parent));
    return REFS_OK;
}

static refs_status add_snapshot(refs_flat_writer *flat, const refs_written_snapshot *snapshot,
                                uint32_t parent, size_t *to, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t properties;
    refs_icechunk__draft_struct(&draft, INFO_ID, snapshot->id.bytes, REFS_OBJECT_ID_SIZE);
    refs_icechunk__draft_number(&draft, INFO_PARENT, 4, parent);
    refs_icechunk__draft_number(&draft, INFO_WRITTEN, 8, (uint64_t)snapshot->written_us);
    refs_icechunk__draft_offset(&draft, INFO_MESSAGE);
    refs_icechunk__draft_offset(&draft, INFO_METADATA);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, to, err));
    REFS_TRY(refs_icechunk__flat_put_string(flat, *to, INFO_MESSAGE, snapshot->message, err));
    REFS_TRY(refs_icechunk__put_properties(flat, !snapshot->has_parent, &properties, err));
    refs_icechunk__flat_link(flat, *to, INFO_METADATA, properties);
    return REFS_OK;
}

static refs_status new_parent(const writing *at, uint32_t *parent, refs_error *err) {
    bool is_there;
    REFS_TRY(find_id(at, at->change->snapshot->parent.bytes, parent, &is_there, err));
    *parent = renumber(at, *parent);
    if (is_there) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "expected the snapshot that the commit follows in the repository, found that "
                     "it expired during this run: run it again");
}

static refs_status put_snapshots(const writing *at, refs_error *err) {
    const uint32_t n_old = at->before->snapshots.n;
    const bool has_new = at->inserted != UINT32_MAX;
    size_t vector, info = 0;
    uint32_t parent = 0;
    REFS_TRY(refs_icechunk__flat_add_offsets(at->flat, (size_t)n_old + has_new, &vector, err));
    refs_icechunk__flat_link(at->flat, at->root, REPO_SNAPSHOTS, vector);
    if (has_new) REFS_TRY(new_parent(at, &parent, err));
    for (uint32_t i = 0; i < n_old; i++) {
        REFS_TRY(copy_snapshot(at, i, &info, err));
        refs_icechunk__flat_link_element(at->flat, vector, renumber(at, i), info);
    }
    if (!has_new) return REFS_OK;
    REFS_TRY(add_snapshot(at->flat, at->change->snapshot, parent, &info, err));
    refs_icechunk__flat_link_element(at->flat, vector, at->inserted, info);
    return REFS_OK;
}

/* -- branches and tags ------------------------------------------------------------------------- */

static refs_status add_ref(refs_flat_writer *flat, refs_str name, uint32_t snapshot, size_t *to,
                           refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    refs_icechunk__draft_offset(&draft, REF_NAME);
    refs_icechunk__draft_number(&draft, REF_SNAPSHOT, 4, snapshot);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, to, err));
    return refs_icechunk__flat_put_string(flat, *to, REF_NAME, name, err);
}

static refs_status put_branches(const writing *at, refs_error *err) {
    const refs_flat_vector *branches = &at->before->branches;
    const char *moved = at->change->snapshot != NULL ? at->change->branch : NULL;
    bool has_moved = moved == NULL;
    size_t vector, to;
    REFS_TRY(refs_icechunk__flat_add_offsets(at->flat, branches->n, &vector, err));
    refs_icechunk__flat_link(at->flat, at->root, REPO_BRANCHES, vector);
    for (uint32_t i = 0; i < branches->n; i++) {
        refs_str name;
        uint64_t snapshot;
        REFS_TRY(refs_icechunk__ref_at(branches, i, &name, &snapshot, err));
        const bool is_it = moved != NULL && refs_str_is(name, moved);
        has_moved = has_moved || is_it;
        REFS_TRY(add_ref(at->flat, name, is_it ? at->inserted : renumber(at, (uint32_t)snapshot),
                         &to, err));
        refs_icechunk__flat_link_element(at->flat, vector, i, to);
    }
    return has_moved ? REFS_OK
                     : refs_fail(err, REFS_INVALID, "the repository has no branch \"%s\"", moved);
}

/* Tags ascend by name; the new one is inserted at `*place`. */
static refs_status place_tag(const writing *at, uint32_t *place, refs_error *err) {
    const refs_flat_vector *tags = &at->before->tags;
    const char *tag = at->change->tag;
    *place = UINT32_MAX;
    if (tag == NULL) return REFS_OK;
    for (uint32_t i = 0; i < at->before->deleted_tags.n; i++) {
        refs_str name;
        REFS_TRY(refs_icechunk__flat_string_at(&at->before->deleted_tags, i, &name, err));
        if (refs_str_is(name, tag))
            return refs_fail(err, REFS_INVALID,
                             "expected a new tag, found \"%s\", which was deleted and cannot be "
                             "reused: choose another name",
                             tag);
    }
    for (*place = 0; *place < tags->n; ++*place) {
        refs_str name;
        uint64_t snapshot;
        REFS_TRY(refs_icechunk__ref_at(tags, *place, &name, &snapshot, err));
        if (refs_str_is(name, tag))
            return refs_fail(err, REFS_INVALID,
                             "the tag \"%s\" exists, and tags do not move: choose another name",
                             tag);
        if (refs_str_compare(refs_str_from(tag), name) < 0) break;
    }
    return REFS_OK;
}

static refs_status add_tag(const writing *at, size_t *to, refs_error *err) {
    uint32_t number;
    bool is_there;
    REFS_TRY(find_id(at, at->change->tagged->bytes, &number, &is_there, err));
    if (!is_there)
        return refs_fail(err, REFS_INVALID, "the snapshot to tag is not in the repository");
    return add_ref(at->flat, refs_str_from(at->change->tag), renumber(at, number), to, err);
}

static refs_status put_tags(const writing *at, refs_error *err) {
    const refs_flat_vector *tags = &at->before->tags;
    uint32_t place, k = 0;
    size_t vector, to;
    REFS_TRY(place_tag(at, &place, err));
    const uint32_t n = tags->n + (place != UINT32_MAX);
    REFS_TRY(refs_icechunk__flat_add_offsets(at->flat, n, &vector, err));
    refs_icechunk__flat_link(at->flat, at->root, REPO_TAGS, vector);
    for (uint32_t i = 0; i < n; i++) {
        refs_str name;
        uint64_t snapshot;
        if (i == place) {
            REFS_TRY(add_tag(at, &to, err));
        } else {
            REFS_TRY(refs_icechunk__ref_at(tags, k++, &name, &snapshot, err));
            REFS_TRY(add_ref(at->flat, name, renumber(at, (uint32_t)snapshot), &to, err));
        }
        refs_icechunk__flat_link_element(at->flat, vector, i, to);
    }
    return REFS_OK;
}

static refs_status put_deleted_tags(const writing *at, refs_error *err) {
    const refs_flat_vector *tags = &at->before->deleted_tags;
    size_t vector, to;
    REFS_TRY(refs_icechunk__flat_add_offsets(at->flat, tags->n, &vector, err));
    refs_icechunk__flat_link(at->flat, at->root, REPO_DELETED_TAGS, vector);
    for (uint32_t i = 0; i < tags->n; i++) {
        refs_str name;
        REFS_TRY(refs_icechunk__flat_string_at(tags, i, &name, err));
        REFS_TRY(refs_icechunk__flat_add_string(at->flat, name, &to, err));
        refs_icechunk__flat_link_element(at->flat, vector, i, to);
    }
    return REFS_OK;
}

/* -- updates ----------------------------------------------------------------------------------- */

/* An update without its value, which is linked later. */
typedef struct update_head {
    unsigned type;
    int64_t at_us;
    refs_str backup; /* no data: there is none */
} update_head;

static refs_status add_update(refs_flat_writer *flat, const update_head *head, size_t *to,
                              refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    refs_icechunk__draft_number(&draft, UPDATE_TYPE, 1, head->type);
    refs_icechunk__draft_offset(&draft, UPDATE_VALUE);
    refs_icechunk__draft_number(&draft, UPDATE_AT, 8, (uint64_t)head->at_us);
    if (head->backup.data != NULL) refs_icechunk__draft_offset(&draft, UPDATE_BACKUP);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, to, err));
    if (head->backup.data == NULL) return REFS_OK;
    return refs_icechunk__flat_put_string(flat, *to, UPDATE_BACKUP, head->backup, err);
}

static refs_status put_commit(const writing *at, size_t update, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t value;
    refs_icechunk__draft_offset(&draft, NEW_COMMIT_BRANCH);
    refs_icechunk__draft_struct(&draft, NEW_COMMIT_SNAPSHOT, at->change->snapshot->id.bytes,
                                REFS_OBJECT_ID_SIZE);
    REFS_TRY(refs_icechunk__flat_add_table(at->flat, &draft, &value, err));
    refs_icechunk__flat_link(at->flat, update, UPDATE_VALUE, value);
    return refs_icechunk__flat_put_string(at->flat, value, NEW_COMMIT_BRANCH,
                                          refs_str_from(at->change->branch), err);
}

static refs_status put_tag_update(const writing *at, size_t update, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t value;
    refs_icechunk__draft_offset(&draft, TAG_CREATED_NAME);
    REFS_TRY(refs_icechunk__flat_add_table(at->flat, &draft, &value, err));
    refs_icechunk__flat_link(at->flat, update, UPDATE_VALUE, value);
    return refs_icechunk__flat_put_string(at->flat, value, TAG_CREATED_NAME,
                                          refs_str_from(at->change->tag), err);
}

static refs_status add_new_update(const writing *at, int64_t at_us, size_t *to, refs_error *err) {
    const bool is_commit = at->change->snapshot != NULL;
    const update_head head = {is_commit ? UPDATE_NEW_COMMIT : UPDATE_TAG_CREATED, at_us, {NULL, 0}};
    REFS_TRY(add_update(at->flat, &head, to, err));
    return is_commit ? put_commit(at, *to, err) : put_tag_update(at, *to, err);
}

/* Copies an old update. The newest of them gets the name of the replaced file. */
static refs_status copy_update(const writing *at, const refs_flat_table *from, refs_str backup,
                               size_t *to, refs_error *err) {
    refs_flat_table value;
    uint64_t type = 0, at_us = 0;
    size_t copy;
    REFS_TRY(refs_icechunk__flat_number(from, UPDATE_TYPE, 1, &type, err));
    REFS_TRY(refs_icechunk__flat_number(from, UPDATE_AT, 8, &at_us, err));
    REFS_TRY(refs_icechunk__flat_child(from, UPDATE_VALUE, &value, err));
    if (type > REFS_UPDATE_N_TYPES || value.buffer.data == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the repository lists an update of type %llu, expected at most %d: update "
                         "REFS, or write with Icechunk",
                         (unsigned long long)type, REFS_UPDATE_N_TYPES);
    const update_head head = {(unsigned)type, (int64_t)at_us, backup};
    REFS_TRY(add_update(at->flat, &head, to, err));
    REFS_TRY(refs_icechunk__flat_copy(at->flat, &value, &refs_icechunk__shapes_of_updates[type],
                                      &copy, err));
    refs_icechunk__flat_link(at->flat, *to, UPDATE_VALUE, copy);
    return REFS_OK;
}

static refs_status backup_of(const writing *at, const refs_flat_table *update, uint32_t i,
                             refs_str *backup, refs_error *err) {
    *backup = refs_str_from(at->change->backup);
    return i == 0 ? REFS_OK : refs_icechunk__flat_string(update, UPDATE_BACKUP, backup, err);
}

/* Counts the old updates that stay in the file; *older is the name of the file with the others. */
static refs_status count_updates(const writing *at, const refs_flat_vector *old, uint32_t *n,
                                 refs_str *older, refs_error *err) {
    REFS_TRY(refs_icechunk__flat_string(&at->old, REPO_BEFORE_UPDATES, older, err));
    for (*n = 0; *n < old->n; ++*n) {
        refs_flat_table update;
        refs_str backup;
        REFS_TRY(refs_icechunk__flat_table_at(old, *n, &update, err));
        REFS_TRY(backup_of(at, &update, *n, &backup, err));
        if (*n + 1 < MAX_UPDATES || backup.data == NULL) continue;
        *older = backup;
        return REFS_OK;
    }
    return REFS_OK;
}

/* The time of the last update, in microseconds since 1970. */
static refs_status find_updated(const refs_repo_info *info, int64_t *at_us, refs_error *err) {
    refs_flat_table root, update;
    refs_flat_vector updates;
    uint64_t at = 0;
    *at_us = 0;
    REFS_TRY(refs_icechunk__flat_root(refs_buf_view(&info->buffer), &root, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, REPO_LATEST_UPDATES, 4, &updates, err));
    if (updates.n == 0) return REFS_OK;
    REFS_TRY(refs_icechunk__flat_table_at(&updates, 0, &update, err));
    REFS_TRY(refs_icechunk__flat_number(&update, UPDATE_AT, 8, &at, err));
    *at_us = (int64_t)at;
    return REFS_OK;
}

static refs_status put_updates(const writing *at, refs_error *err) {
    refs_flat_vector old;
    refs_str older;
    uint32_t n;
    size_t vector, to;
    int64_t at_us;
    REFS_TRY(find_updated(at->before, &at_us, err));
    at_us = at->change->at_us > at_us ? at->change->at_us : at_us + 1;
    REFS_TRY(refs_icechunk__flat_vector(&at->old, REPO_LATEST_UPDATES, 4, &old, err));
    REFS_TRY(count_updates(at, &old, &n, &older, err));
    REFS_TRY(refs_icechunk__flat_add_offsets(at->flat, (size_t)n + 1, &vector, err));
    refs_icechunk__flat_link(at->flat, at->root, REPO_LATEST_UPDATES, vector);
    REFS_TRY(add_new_update(at, at_us, &to, err));
    refs_icechunk__flat_link_element(at->flat, vector, 0, to);
    for (uint32_t i = 0; i < n; i++) {
        refs_flat_table update;
        refs_str backup;
        REFS_TRY(refs_icechunk__flat_table_at(&old, i, &update, err));
        REFS_TRY(backup_of(at, &update, i, &backup, err));
        REFS_TRY(copy_update(at, &update, backup, &to, err));
        refs_icechunk__flat_link_element(at->flat, vector, (size_t)i + 1, to);
    }
    if (older.data == NULL) return REFS_OK;
    return refs_icechunk__flat_put_string(at->flat, at->root, REPO_BEFORE_UPDATES, older, err);
}

/* -- whole infos ------------------------------------------------------------------------------- */

static refs_status put_status(const writing *at, refs_error *err) {
    refs_flat_table status;
    size_t to;
    REFS_TRY(refs_icechunk__flat_child(&at->old, REPO_STATUS, &status, err));
    if (status.buffer.data == NULL)
        return refs_fail(err, REFS_CORRUPT, "the repository has no status");
    REFS_TRY(refs_icechunk__flat_copy(at->flat, &status, &refs_icechunk__shape_status, &to, err));
    refs_icechunk__flat_link(at->flat, at->root, REPO_STATUS, to);
    return REFS_OK;
}

static refs_status put_metadata(const writing *at, refs_error *err) {
    refs_flat_vector items;
    size_t to;
    REFS_TRY(refs_icechunk__flat_vector(&at->old, REPO_METADATA, 4, &items, err));
    REFS_TRY(
        refs_icechunk__flat_copy_tables(at->flat, &items, &refs_icechunk__shape_item, &to, err));
    refs_icechunk__flat_link(at->flat, at->root, REPO_METADATA, to);
    return REFS_OK;
}

static refs_status put_flags(const writing *at, const refs_flat_vector *flags, unsigned field,
                             refs_error *err) {
    const refs_flat_elements elements = {flags->buffer.data + flags->at, flags->n, 2, 2};
    size_t to;
    if (!flags->is_present) return REFS_OK;
    REFS_TRY(refs_icechunk__flat_add_vector(at->flat, &elements, &to, err));
    refs_icechunk__flat_link(at->flat, at->root, field, to);
    return REFS_OK;
}

static refs_bytes config_of(const writing *at) {
    return at->change->config.data != NULL ? at->change->config : at->before->config;
}

static refs_status check_writable(const refs_repo_info *info, const refs_flat_table *root,
                                  refs_error *err) {
    refs_bytes extra;
    if (info->availability != 0)
        return refs_fail(err, REFS_UNSUPPORTED, "the repository is %s%s%.*s",
                         info->availability == 1 ? "read-only" : "offline",
                         info->reason.size > 0 ? ": " : "", REFS_STR_ARG(info->reason));
    REFS_TRY(refs_icechunk__flat_bytes(root, REPO_EXTRA, &extra, err));
    if (extra.data == NULL && root->n_fields <= REPO_EXTRA + 1) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "the repository was written by a later version of Icechunk: update REFS, or "
                     "write with Icechunk");
}

static refs_status begin_root(writing *at, refs_error *err) {
    static const unsigned offsets[] = {REPO_TAGS,          REPO_BRANCHES, REPO_DELETED_TAGS,
                                       REPO_SNAPSHOTS,     REPO_STATUS,   REPO_METADATA,
                                       REPO_LATEST_UPDATES};
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    refs_flat_vector updates;
    refs_str older = {NULL, 0};
    uint32_t n;
    REFS_TRY(refs_icechunk__flat_begin(at->flat, err));
    refs_icechunk__draft_number(&draft, REPO_SPEC_VERSION, 1, FORMAT);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        refs_icechunk__draft_offset(&draft, offsets[i]);
    REFS_TRY(refs_icechunk__flat_vector(&at->old, REPO_LATEST_UPDATES, 4, &updates, err));
    REFS_TRY(count_updates(at, &updates, &n, &older, err));
    if (older.data != NULL) refs_icechunk__draft_offset(&draft, REPO_BEFORE_UPDATES);
    if (config_of(at).data != NULL) refs_icechunk__draft_offset(&draft, REPO_CONFIG);
    if (at->before->enabled.is_present) refs_icechunk__draft_offset(&draft, REPO_ENABLED);
    if (at->before->disabled.is_present) refs_icechunk__draft_offset(&draft, REPO_DISABLED);
    REFS_TRY(refs_icechunk__flat_add_table(at->flat, &draft, &at->root, err));
    refs_icechunk__flat_set_root(at->flat, at->root);
    return REFS_OK;
}

static refs_status write_changed(writing *at, refs_error *err) {
    REFS_TRY(begin_root(at, err));
    REFS_TRY(put_tags(at, err));
    REFS_TRY(put_branches(at, err));
    REFS_TRY(put_deleted_tags(at, err));
    REFS_TRY(put_snapshots(at, err));
    REFS_TRY(put_status(at, err));
    REFS_TRY(put_metadata(at, err));
    REFS_TRY(put_updates(at, err));
    REFS_TRY(put_flags(at, &at->before->enabled, REPO_ENABLED, err));
    REFS_TRY(put_flags(at, &at->before->disabled, REPO_DISABLED, err));
    if (config_of(at).data == NULL) return REFS_OK;
    return refs_icechunk__flat_put_bytes(at->flat, at->root, REPO_CONFIG, config_of(at), err);
}

refs_status refs_icechunk__info_change(const refs_repo_info *before, const refs_info_change *change,
                                       refs_flat_writer *flat, refs_error *err) {
    writing at = {.before = before, .change = change, .flat = flat, .inserted = UINT32_MAX};
    bool is_there = false;
    REFS_TRY(refs_icechunk__flat_root(refs_buf_view(&before->buffer), &at.old, err));
    REFS_TRY(check_writable(before, &at.old, err));
    if (change->snapshot != NULL)
        REFS_TRY(find_id(&at, change->snapshot->id.bytes, &at.inserted, &is_there, err));
    if (is_there)
        return refs_fail(err, REFS_INVALID,
                         "the repository already has the snapshot of the commit");
    return write_changed(&at, err);
}

/* -- a new repository -------------------------------------------------------------------------- */

static refs_status put_first(refs_flat_writer *flat, const refs_written_snapshot *first,
                             size_t root, refs_error *err) {
    size_t vector, to;
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, 1, &vector, err));
    refs_icechunk__flat_link(flat, root, REPO_SNAPSHOTS, vector);
    REFS_TRY(add_snapshot(flat, first, NO_PARENT, &to, err));
    refs_icechunk__flat_link_element(flat, vector, 0, to);
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, 1, &vector, err));
    refs_icechunk__flat_link(flat, root, REPO_BRANCHES, vector);
    REFS_TRY(add_ref(flat, refs_str_from("main"), 0, &to, err));
    refs_icechunk__flat_link_element(flat, vector, 0, to);
    return REFS_OK;
}

static refs_status put_first_update(refs_flat_writer *flat, int64_t at_us, size_t root,
                                    refs_error *err) {
    const refs_flat_draft nothing = {{0}, {0}, {{0}}};
    const update_head head = {UPDATE_INITIALIZED, at_us, {NULL, 0}};
    size_t vector, update, value;
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, 1, &vector, err));
    refs_icechunk__flat_link(flat, root, REPO_LATEST_UPDATES, vector);
    REFS_TRY(add_update(flat, &head, &update, err));
    refs_icechunk__flat_link_element(flat, vector, 0, update);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &nothing, &value, err));
    refs_icechunk__flat_link(flat, update, UPDATE_VALUE, value);
    return REFS_OK;
}

static refs_status put_first_status(refs_flat_writer *flat, int64_t at_us, size_t root,
                                    refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t status;
    refs_icechunk__draft_number(&draft, STATUS_AVAILABILITY, 1, 0);
    refs_icechunk__draft_number(&draft, STATUS_SET_AT, 8, (uint64_t)at_us);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &status, err));
    refs_icechunk__flat_link(flat, root, REPO_STATUS, status);
    return REFS_OK;
}

refs_status refs_icechunk__info_begin(const refs_written_snapshot *first, int64_t at_us,
                                      refs_flat_writer *flat, refs_error *err) {
    static const unsigned empty[] = {REPO_TAGS, REPO_DELETED_TAGS, REPO_METADATA};
    static const unsigned filled[] = {REPO_BRANCHES, REPO_SNAPSHOTS, REPO_STATUS,
                                      REPO_LATEST_UPDATES};
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t root, vector;
    refs_icechunk__draft_number(&draft, REPO_SPEC_VERSION, 1, FORMAT);
    for (size_t i = 0; i < 3; i++) refs_icechunk__draft_offset(&draft, empty[i]);
    for (size_t i = 0; i < 4; i++) refs_icechunk__draft_offset(&draft, filled[i]);
    REFS_TRY(refs_icechunk__flat_begin(flat, err));
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &root, err));
    refs_icechunk__flat_set_root(flat, root);
    for (size_t i = 0; i < 3; i++) {
        REFS_TRY(refs_icechunk__flat_add_offsets(flat, 0, &vector, err));
        refs_icechunk__flat_link(flat, root, empty[i], vector);
    }
    REFS_TRY(put_first(flat, first, root, err));
    REFS_TRY(put_first_status(flat, at_us, root, err));
    return put_first_update(flat, at_us, root, err);
}
