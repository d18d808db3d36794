/* old_refs.c -- see old_refs.h. */
#include "icechunk/old_refs.h"

#include "icechunk/file.h"
#include "icechunk/moment.h"
#include "icechunk/ref_folder.h"
#include "icechunk/ref_names.h"
#include "refs/json.h"

/* A ref has some 40 bytes; the limit leaves room to recognise web pages. */
#define MAX_REF_BYTES REFS_MIB

/* Limit of snapshots that are read to go back in time. */
#define MAX_STEPS 10000

/* -- references -------------------------------------------------------------------------------- */

static refs_status ref_location(refs_str folder, const char *kind, refs_str name,
                                refs_buf *location, refs_error *err) {
    if (name.size == 0) return refs_fail(err, REFS_INVALID, "the name of the %s is empty", kind);
    if (refs_str_find(name, '/') != SIZE_MAX)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "in repositories of format 1, the name of a %s has no slash: found \"%.*s\"", kind,
            REFS_STR_ARG(name));
    return refs_buf_printf(location, err, "%.*s/refs/%s.%.*s/ref.json", (int)folder.size,
                           folder.data, kind, (int)name.size, name.data);
}

refs_status refs_icechunk_old_reference(refs_str folder, const refs_icechunk_version *version,
                                        refs_buf *location, refs_error *err) {
    const char *tag = version->tag != NULL ? version->tag : version->tag_or_snapshot;
    const char *branch = version->branch != NULL ? version->branch : "main";
    return tag != NULL ? ref_location(folder, "tag", refs_str_from(tag), location, err)
                       : ref_location(folder, "branch", refs_str_from(branch), location, err);
}

static refs_status parse_ref(refs_str text, refs_object_id *id, refs_error *err) {
    REFS_SCOPED_JSON *document = NULL;
    REFS_TRY(refs_json_parse(text, &document, err));
    const refs_str snapshot = refs_json_text(refs_json_get(refs_json_root(document), "snapshot"));
    const bool is_id = refs_icechunk__id_parse(snapshot, id);
    return is_id ? REFS_OK : refs_fail(err, REFS_CORRUPT, "expected {\"snapshot\": \"<id>\"}");
}

/* REFS_NOT_FOUND: there is no such file, or the server answers any name with a web page. */
static refs_status read_ref(const refs_icechunk_source *source, const char *location,
                            refs_object_id *id, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_status status = refs_vfs_read_whole(source->vfs, location, MAX_REF_BYTES, &text, err);
    if (status == REFS_OK && text.size > 0 && text.data[0] == '<')
        status =
            refs_fail(err, REFS_NOT_FOUND, "%s: expected a ref, found a web page (HTML)", location);
    const bool was_read = status == REFS_OK;
    if (was_read) status = parse_ref(refs_buf_text(&text), id, err);
    if (was_read && status != REFS_OK) refs_error_prefix(err, "%s", location);
    return status;
}

/* A ref without its file is absent: deleting a ref, or copying a repository, may leave an empty
 * folder. */
static refs_status read_if_there(const refs_icechunk_source *source, const char *location,
                                 refs_object_id *id, bool *is_there, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = read_ref(source, location, id, &problem);
    *is_there = status == REFS_OK;
    return status == REFS_NOT_FOUND ? REFS_OK : refs_fail(err, status, "%s", problem.message);
}

static refs_status is_deleted(const refs_icechunk_source *source, const char *ref, bool *deleted,
                              refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT, mark = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = refs_buf_printf(&location, err, "%s.deleted", ref);
    if (status == REFS_OK)
        status = refs_vfs_read_whole(source->vfs, (const char *)location.data, MAX_REF_BYTES, &mark,
                                     &problem);
    *deleted = status == REFS_OK;
    return status == REFS_NOT_FOUND ? REFS_OK : refs_fail(err, status, "%s", problem.message);
}

/* -- going back -------------------------------------------------------------------------------- */

/* Reads a snapshot's file, and parses only its head. */
static refs_status read_head(const refs_icechunk_source *source, const refs_object_id *id,
                             refs_buf *buffer, refs_snapshot_head *head, refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    buffer->size = 0;
    refs_status status =
        refs_icechunk__object_location(source, "snapshots", id->bytes, &location, err);
    refs_icechunk_file which = {(const char *)location.data, REFS_ICECHUNK_SNAPSHOT, 0};
    if (status == REFS_OK) status = refs_icechunk__file_read(source, &which, buffer, err);
    if (status == REFS_OK) status = refs_icechunk__snapshot_head(refs_buf_view(buffer), head, err);
    return status;
}

static refs_status go_back(const refs_icechunk_source *source, const char *as_of,
                           refs_object_id *id, refs_buf *buffer, refs_error *err) {
    int64_t latest;
    refs_snapshot_head head = {.has_parent = true, .written_us = INT64_MAX};
    refs_status status = refs_icechunk__moment_parse(refs_str_from(as_of), &latest, err);
    for (unsigned steps = 0; status == REFS_OK; steps++) {
        status = read_head(source, id, buffer, &head, err);
        if (status != REFS_OK || head.written_us <= latest) break;
        if (!head.has_parent)
            status = refs_fail(err, REFS_INVALID, "the branch has no snapshot as old as %s", as_of);
        else if (steps == MAX_STEPS)
            status = refs_fail(err, REFS_LIMIT, "none of the last %d snapshots is as old as %s",
                               MAX_STEPS, as_of);
        *id = head.parent;
    }
    return status;
}

/* Receives the id, and the snapshot's file if it was read. */
typedef struct destination {
    refs_object_id *id;
    refs_buf *snapshot;
} destination;

static refs_status choose_ref(const refs_icechunk_source *source,
                              const refs_icechunk_version *version, const char *location,
                              const destination *to, refs_error *err) {
    bool deleted = false;
    const char *tag = version->tag != NULL ? version->tag : version->tag_or_snapshot;
    REFS_TRY(read_ref(source, location, to->id, err));
    if (tag != NULL) REFS_TRY(is_deleted(source, location, &deleted, err));
    if (deleted) return refs_fail(err, REFS_INVALID, "the tag \"%s\" was deleted", tag);
    return version->as_of != NULL ? go_back(source, version->as_of, to->id, to->snapshot, err)
                                  : REFS_OK;
}

/* -- names for messages ------------------------------------------------------------------------ */

/* Limit of refs whose deletion is checked, with a request each; all others are listed. */
#define MAX_MARKS 16

/* Names for the message about a name that does not exist. */
typedef struct other_names {
    const refs_icechunk_source *source;
    const char *kind; /* "branch" or "tag" */
    refs_ref_names names;
    size_t n_looked_at;
} other_names;

/* "main" of "branch.main"; "" if the folder is of another kind. */
static refs_str name_in_folder(refs_str folder, const char *kind) {
    const size_t size = strlen(kind);
    const bool is_one =
        folder.size > size && refs_str_starts(folder, kind) && folder.data[size] == '.';
    return refs_str_part(folder, is_one ? size + 1 : folder.size, folder.size);
}

static refs_status look_at(const other_names *others, refs_str name, bool *is_there,
                           refs_error *err) {
    const refs_icechunk_source *source = others->source;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_object_id id;
    bool deleted = false;
    refs_status status =
        ref_location(refs_str_from(source->folder), others->kind, name, &location, err);
    const char *ref = (const char *)location.data;
    if (status == REFS_OK) status = read_if_there(source, ref, &id, is_there, err);
    if (status == REFS_OK && *is_there && strcmp(others->kind, "tag") == 0)
        status = is_deleted(source, ref, &deleted, err);
    if (deleted) *is_there = false;
    return status;
}

static refs_status note_folder(void *user, refs_str folder, refs_error *err) {
    other_names *others = user;
    const refs_str name = name_in_folder(folder, others->kind);
    bool is_there = true;
    if (name.size == 0) return REFS_OK;
    if (others->n_looked_at++ < MAX_MARKS) REFS_TRY(look_at(others, name, &is_there, err));
    if (!is_there) return REFS_OK;
    REFS_SCOPED char *text = refs_icechunk__ref_decode(name);
    return text != NULL ? refs_icechunk__ref_names_add(&others->names, refs_str_from(text), err)
                        : refs_fail_nomem(err);
}

static refs_status list_others(other_names *others, refs_error *err) {
    const refs_vfs *vfs = others->source->vfs;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    if (vfs->list == NULL) return REFS_UNSUPPORTED;
    REFS_TRY(refs_buf_printf(&location, err, "%s/refs", others->source->folder));
    return vfs->list(vfs->self, (const char *)location.data,
                     &(refs_vfs_listing){note_folder, others}, err);
}

/* REFS_NOT_FOUND if no names are known. */
static refs_status fail_with_names(const refs_icechunk_source *source,
                                   const refs_icechunk_version *version, refs_error *err) {
    const char *tag = version->tag != NULL ? version->tag : version->tag_or_snapshot;
    const char *wanted = tag != NULL ? tag : version->branch;
    other_names others = {source, tag != NULL ? "tag" : "branch", {{NULL}, 0}, 0};
    if (wanted == NULL) return REFS_NOT_FOUND;
    refs_status status = list_others(&others, NULL);
    if (status == REFS_OK && others.names.n > 0)
        status = refs_icechunk__ref_names_fail(&others.names, others.kind, wanted, err);
    else
        status = REFS_NOT_FOUND;
    refs_icechunk__ref_names_clear(&others.names);
    return status;
}

static refs_status choose_written(const refs_icechunk_source *source,
                                  const refs_icechunk_version *version, const destination *to,
                                  refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(refs_icechunk_old_reference(refs_str_from(source->folder), version, &location, err));
    return choose_ref(source, version, (const char *)location.data, to, err);
}

/* REFS_NOT_FOUND if the name needs no encoding. */
static refs_status choose_encoded(const refs_icechunk_source *source,
                                  const refs_icechunk_version *version, const destination *to,
                                  refs_error *err) {
    const char *tag = version->tag != NULL ? version->tag : version->tag_or_snapshot;
    const char *name = tag != NULL ? tag : version->branch;
    REFS_SCOPED char *written = name != NULL ? refs_icechunk__ref_encode(name) : NULL;
    refs_icechunk_version other = {.as_of = version->as_of};
    if (name != NULL && written == NULL) return refs_fail_nomem(err);
    if (tag != NULL)
        other.tag = written;
    else
        other.branch = written;
    const bool is_other = name != NULL && strcmp(written, name) != 0;
    return is_other ? choose_written(source, &other, to, err) : REFS_NOT_FOUND;
}

refs_status refs_icechunk__old_choose(const refs_icechunk_source *source,
                                      const refs_icechunk_version *version, refs_object_id *id,
                                      refs_buf *snapshot, refs_error *err) {
    const destination to = {id, snapshot};
    refs_error problem = REFS_ERROR_INIT, other = REFS_ERROR_INIT;
    if (version->snapshot != NULL) return refs_icechunk__snapshot_parse(version->snapshot, id, err);
    refs_status status = choose_written(source, version, &to, &problem);
    if (status == REFS_NOT_FOUND) {
        const refs_status as_encoded = choose_encoded(source, version, &to, &other);
        if (as_encoded != REFS_NOT_FOUND) return refs_fail(err, as_encoded, "%s", other.message);
    }
    if (status == REFS_NOT_FOUND && version->tag_or_snapshot != NULL &&
        refs_icechunk__id_parse(refs_str_from(version->tag_or_snapshot), id))
        return REFS_OK;
    if (status == REFS_NOT_FOUND && fail_with_names(source, version, err) == REFS_INVALID)
        return REFS_INVALID;
    return refs_fail(err, status, "%s", problem.message);
}

/* -- history ----------------------------------------------------------------------------------- */

/* The state of listing a history. */
typedef struct history {
    const refs_icechunk_source *source;
    const refs_icechunk_entry_visitor *visitor;
    const refs_object_id *current;
    refs_icechunk_entry_kind kind; /* the kind being listed */
    refs_intern snapshots; /* ids of 12 bytes: snapshots that were visited, and those to visit */
} history;

/* Tags and deleted tags are listed in two passes over the same folders. */
static refs_status is_of_kind(const history *all, const char *location, bool *is, refs_error *err) {
    bool deleted = false;
    *is = true;
    if (all->kind == REFS_ICECHUNK_IS_BRANCH) return REFS_OK;
    REFS_TRY(is_deleted(all->source, location, &deleted, err));
    *is = deleted == (all->kind == REFS_ICECHUNK_IS_DELETED_TAG);
    return REFS_OK;
}

static refs_status visit_located(history *all, refs_str name, const char *location,
                                 refs_error *err) {
    refs_icechunk_entry entry = {.kind = all->kind, .name = name};
    refs_object_id id;
    uint32_t number;
    bool is;
    REFS_TRY(is_of_kind(all, location, &is, err));
    if (!is) return REFS_OK;
    if (all->kind != REFS_ICECHUNK_IS_DELETED_TAG) {
        REFS_TRY(read_if_there(all->source, location, &id, &is, err));
        if (!is) return REFS_OK;
        refs_icechunk__id_format(id.bytes, entry.snapshot);
        REFS_TRY(refs_intern_add(
            &all->snapshots, refs_str_view((const char *)id.bytes, sizeof id.bytes), &number, err));
    }
    return all->visitor->visit(all->visitor->user, &entry, err);
}

/* Decodes the name before visiting it. */
static refs_status visit_named(history *all, refs_str written, const char *location,
                               refs_error *err) {
    REFS_SCOPED char *name = refs_icechunk__ref_decode(written);
    return name != NULL ? visit_located(all, refs_str_from(name), location, err)
                        : refs_fail_nomem(err);
}

static refs_status visit_ref(void *user, refs_str folder, refs_error *err) {
    history *all = user;
    const char *kind = all->kind == REFS_ICECHUNK_IS_BRANCH ? "branch" : "tag";
    const refs_str name = name_in_folder(folder, kind);
    if (name.size == 0) return REFS_OK;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    REFS_TRY(ref_location(refs_str_from(all->source->folder), kind, name, &location, err));
    return visit_named(all, name, (const char *)location.data, err);
}

static refs_status list_refs(history *all, refs_icechunk_entry_kind kind, refs_error *err) {
    const refs_vfs *vfs = all->source->vfs;
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    all->kind = kind;
    if (vfs->list == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "cannot list branches and tags: in format 1 they are files, and this "
                         "server cannot list folders");
    REFS_TRY(refs_buf_printf(&location, err, "%s/refs", all->source->folder));
    return vfs->list(vfs->self, (const char *)location.data, &(refs_vfs_listing){visit_ref, all},
                     err);
}

static refs_status visit_snapshot(history *all, const refs_object_id *id, refs_buf *buffer,
                                  refs_error *err) {
    refs_snapshot_head head;
    uint32_t number;
    refs_icechunk_entry entry = {.kind = REFS_ICECHUNK_IS_SNAPSHOT};
    refs_status status = read_head(all->source, id, buffer, &head, err);
    if (status != REFS_OK) return status;
    refs_icechunk__id_format(id->bytes, entry.snapshot);
    entry.is_current = memcmp(id, all->current, sizeof *id) == 0;
    entry.message = head.message;
    entry.written_us = head.written_us;
    if (head.has_parent) {
        refs_icechunk__id_format(head.parent.bytes, entry.parent);
        status = refs_intern_add(&all->snapshots,
                                 refs_str_view((const char *)head.parent.bytes, sizeof head.parent),
                                 &number, err);
    }
    return status == REFS_OK ? all->visitor->visit(all->visitor->user, &entry, err) : status;
}

/* Visits each snapshot once, then its parent, beginning with those of branches and tags. */
static refs_status visit_snapshots(history *all, refs_error *err) {
    REFS_SCOPED_BUF buffer = REFS_BUF_INIT;
    for (uint32_t i = 0; i < all->snapshots.count && i < MAX_STEPS; i++) {
        refs_object_id id;
        memcpy(id.bytes, refs_intern_get(&all->snapshots, i).data, sizeof id.bytes);
        REFS_TRY(visit_snapshot(all, &id, &buffer, err));
    }
    return REFS_OK;
}

refs_status refs_icechunk__old_each_entry(const refs_icechunk_source *source,
                                          const refs_object_id *current,
                                          const refs_icechunk_entry_visitor *visitor,
                                          refs_error *err) {
    history all = {.source = source, .visitor = visitor, .current = current};
    refs_status status = list_refs(&all, REFS_ICECHUNK_IS_BRANCH, err);
    if (status == REFS_OK) status = list_refs(&all, REFS_ICECHUNK_IS_TAG, err);
    if (status == REFS_OK) status = list_refs(&all, REFS_ICECHUNK_IS_DELETED_TAG, err);
    if (status == REFS_OK) status = visit_snapshots(&all, err);
    refs_intern_clear(&all.snapshots);
    return status;
}
