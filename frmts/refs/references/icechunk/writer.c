/* writer.c -- sets as snapshots of Icechunk repositories of format 2, see write.h.
 *
 * An existing repository gets a commit on its branch "main", with all of the set; otherwise a
 * repository is created. Manifests are named by a hash of their content, so that those of the
 * parent are not written again. The references of an array are divided into manifests along one
 * dimension, at indices that do not depend on its size: appending only changes the last manifest.
 */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "icechunk/commit.h"
#include "icechunk/containers.h"
#include "icechunk/manifest_writer.h"
#include "icechunk/object_file.h"
#include "output.h"
#include "refs/file_name.h"
#include "refs/folder.h"
#include "writer_internal.h"

/* Approximate packed bytes of a reference in a manifest. */
#define REF_BYTES 16

/* Larger values become chunk files of the repository, as in Icechunk. */
#define MAX_INLINE_BYTES 512

/* Limit of rebases on commits of others. */
#define MAX_TRIES 20

/* A source of the set. */
typedef struct source {
    uint64_t size;
    uint32_t modified_s;
} source;

typedef struct icechunk_writer {
    const char *folder; /* where files are written */
    char *repository;   /* the existing or the new repository */
    char *own;          /* prefix of the repository's own chunks in sets; NULL: it is new */
    bool is_new;        /* it is created by this commit */
    refs_commit_place place;
    char *message;
    uint64_t manifest_bytes;
    refs_icechunk_tip tip;
    refs_written_nodes nodes;
    bool are_complete; /* all documents were added */
    refs_containers containers;

    uint32_t node; /* the current array, or REFS_INTERN_NONE */
    refs_written_grid grid;
    size_t split;   /* the dimension along which its manifests are divided */
    uint64_t inner; /* chunks of one index of the dimension `split` */
    refs_written_manifest manifest;
    uint64_t row; /* index along `split` of the last chunk, counted over all dimensions before it */
    size_t inline_bytes;

    refs_intern urls; /* of the recorded sources */
    source *sources;
    size_t source_capacity;
    bool has_url; /* `location` is that of url_id */
    uint32_t url_id;
    refs_buf location;
    source of_url;
} icechunk_writer;

static void free_icechunk(void *self) {
    REFS_SCOPED icechunk_writer *writer = self;
    refs_icechunk__tip_clear(&writer->tip);
    refs_icechunk__nodes_clear(&writer->nodes);
    refs_icechunk__containers_clear(&writer->containers);
    refs_icechunk__manifest_clear(&writer->manifest);
    refs_intern_clear(&writer->urls);
    refs_buf_clear(&writer->location);
    refs_free(writer->sources);
    refs_free(writer->repository);
    refs_free(writer->own);
    refs_free(writer->message);
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status find_entry(void *user, int folder, const char *name, refs_error *err) {
    (void)folder;
    return refs_buf_append_str(user, refs_str_from(name), err) == REFS_OK ? REFS_CANCELLED
                                                                          : REFS_NOMEM;
}

static refs_status fail_found(const char *path, refs_str found, refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "%s: cannot write to it: expected an Icechunk repository of format 2, or "
                     "nothing, found %.*s: choose another name",
                     path, REFS_STR_ARG(found));
}

refs_status refs_icechunk__check_replaced(const char *path, refs_error *err) {
    REFS_SCOPED_BUF info = REFS_BUF_INIT, other = REFS_BUF_INIT;
    const refs_folder_visitor visitor = {find_entry, &other};
    refs_status status = refs_buf_printf(&info, err, "%s/repo%c", path, '\0');
    const bool is_repository = status == REFS_OK && access((const char *)info.data, F_OK) == 0;
    if (status == REFS_OK && !is_repository) status = refs_folder_each(path, &visitor, NULL);
    if (status == REFS_CANCELLED) status = fail_found(path, refs_buf_text(&other), err);
    if (status == REFS_NOT_FOUND) status = REFS_OK;
    return status;
}

static refs_status find_own(icechunk_writer *writer, refs_error *err) {
    char path[PATH_MAX];
    const char *own = writer->place.store != NULL ? writer->place.store->location
                                                  : realpath(writer->repository, path);
    if (own == NULL) return refs_staged_fail(writer->repository, err);
    return refs_str_keep(refs_str_from(own), &writer->own, err);
}

static refs_status check_absent(const refs_write_store *store, const char *name, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_buf location = REFS_BUF_INIT;
    uint8_t byte;
    size_t got;
    const refs_vfs_range range = {.offset = 0, .length = 1, .dst = &byte};
    REFS_TRY(refs_buf_printf(&location, err, "%s/%s%c", store->location, name, '\0'));
    const refs_status status =
        refs_vfs_read_range(store->vfs, (const char *)location.data, &range, &got, &problem);
    refs_buf_clear(&location);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    if (status == REFS_OK) return fail_found(store->location, refs_str_from(name), err);
    return refs_fail(err, status, "%s", problem.message);
}

/* Finds objects of a repository of format 1, which has no info. */
static refs_status check_no_old_one(const refs_write_store *store, refs_error *err) {
    if (store == NULL) return REFS_OK;
    REFS_TRY(check_absent(store, "config.yaml", err));
    return check_absent(store, "refs/branch." REFS_ICECHUNK_WRITTEN_BRANCH "/ref.json", err);
}

static refs_status open_tip(icechunk_writer *writer, const char *parent, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    const refs_icechunk_version version = {
        .branch = parent == NULL ? REFS_ICECHUNK_WRITTEN_BRANCH : NULL, .snapshot = parent};
    const refs_status status =
        refs_icechunk__commit_begin(&writer->place, &version, &writer->tip, &problem);
    writer->is_new = status == REFS_NOT_FOUND;
    if (status == REFS_OK) return find_own(writer, err);
    if (!writer->is_new) return refs_fail(err, status, "%s", problem.message);
    refs_icechunk__tip_clear(&writer->tip);
    REFS_TRY(check_no_old_one(writer->place.store, err));
    return refs_icechunk__tip_begin(writer->folder, &writer->tip, err);
}

static refs_status open_icechunk(const refs_staged *place, const refs_writer_options *options,
                                 void **self, refs_error *err) {
    icechunk_writer *writer = refs_calloc(1, sizeof *writer);
    if (writer == NULL) return refs_fail_nomem(err);
    *self = writer;
    writer->folder = place->written;
    writer->node = REFS_INTERN_NONE;
    writer->manifest_bytes = options->manifest_bytes;
    writer->place = (refs_commit_place){place, options->store};
    writer->repository = refs_str_copy(refs_str_from(place->wanted));
    writer->message = refs_str_copy(
        refs_str_from(options->message != NULL ? options->message : "written by REFS"));
    if (writer->repository == NULL || writer->message == NULL) return refs_fail_nomem(err);
    REFS_TRY(refs_icechunk__check_replaced(writer->repository, err));
    REFS_TRY(open_tip(writer, options->parent, err));
    return refs_icechunk__containers_read(&writer->containers, writer->tip.info.config, err);
}

/* -- documents and sources --------------------------------------------------------------------- */

static refs_status write_document(void *self, refs_str key, refs_bytes document, refs_error *err) {
    icechunk_writer *writer = self;
    return refs_icechunk__nodes_document(&writer->nodes, key, document, err);
}

/* Times are stored in seconds: a file modified within a second counts as modified by its end. */
static refs_status write_source(void *self, const refs_source_state *state, refs_error *err) {
    icechunk_writer *writer = self;
    const int64_t modified_s = state->modified_s + (state->modified_ns > 0);
    uint32_t number;
    REFS_TRY(refs_icechunk__containers_source(&writer->containers, state->url, err));
    REFS_TRY(refs_intern_add(&writer->urls, state->url, &number, err));
    REFS_GROW(writer->sources, writer->source_capacity, number, err);
    const bool is_known = modified_s > 0 && modified_s <= UINT32_MAX;
    writer->sources[number] = (source){state->size, is_known ? (uint32_t)modified_s : 0};
    return REFS_OK;
}

/* -- arrays ------------------------------------------------------------------------------------ */

static refs_status complete(icechunk_writer *writer, refs_error *err) {
    if (writer->are_complete) return REFS_OK;
    writer->are_complete = true;
    REFS_TRY(refs_icechunk__nodes_complete(&writer->nodes, err));
    return refs_icechunk__nodes_name(&writer->nodes, &writer->tip.nodes, &writer->tip.id, err);
}

/* Whether the parent has this manifest, so that it is not written. */
static bool is_of_parent(const icechunk_writer *writer, const uint8_t *id) {
    const refs_str path = refs_intern_get(&writer->nodes.paths, writer->node);
    return refs_icechunk__node_has_file(refs_icechunk__find_node(&writer->tip.nodes, path), id);
}

static uint64_t size_in_parent(const icechunk_writer *writer, const uint8_t *id) {
    const refs_written_node *node = refs_icechunk__find_node(
        &writer->tip.nodes, refs_intern_get(&writer->nodes.paths, writer->node));
    for (size_t i = 0; i < node->n_files; i++)
        if (memcmp(node->files[i].id, id, REFS_OBJECT_ID_SIZE) == 0) return node->files[i].size;
    return 0;
}

/* Counts the first references that make up a manifest of the parent, when the array was shorter: a
 * manifest of only these references has the same id. */
static refs_status count_kept(icechunk_writer *writer, size_t *n_kept, refs_error *err) {
    uint32_t index[REFS_ICECHUNK_MAX_RANK];
    uint8_t id[REFS_OBJECT_ID_SIZE];
    refs_written_manifest *manifest = &writer->manifest;
    const size_t n = manifest->n;
    const refs_written_node *before = refs_icechunk__find_node(
        &writer->tip.nodes, refs_intern_get(&writer->nodes.paths, writer->node));
    *n_kept = 0;
    if (before == NULL || before->rank != writer->grid.rank || before->rank == 0) return REFS_OK;
    for (size_t i = 0; i < n; i++) {
        refs_icechunk__written_index(&writer->grid, manifest->refs[i].number, index);
        if (index[writer->split] >= before->n_chunks[writer->split]) break;
        ++*n_kept;
    }
    if (*n_kept == 0 || *n_kept == n) {
        *n_kept = 0;
        return REFS_OK;
    }
    manifest->n = *n_kept;
    const refs_status status = refs_icechunk__manifest_build(manifest, &writer->grid, id, err);
    manifest->n = n;
    if (status == REFS_OK && !is_of_parent(writer, id)) *n_kept = 0;
    return status;
}

/* Adds a manifest's changed chunks to the transaction log; new arrays are not in it. */
static refs_status note_changed(icechunk_writer *writer, size_t n_kept, refs_written_node *node,
                                refs_error *err) {
    uint32_t index[REFS_ICECHUNK_MAX_RANK];
    const refs_str path = refs_intern_get(&writer->nodes.paths, writer->node);
    const refs_written_manifest *manifest = &writer->manifest;
    if (refs_icechunk__find_node(&writer->tip.nodes, path) == NULL) return REFS_OK;
    if (writer->grid.rank == 0) return refs_buf_append(&node->coordinates, "", 1, err);
    for (size_t i = n_kept; i < manifest->n; i++) {
        refs_icechunk__written_index(&writer->grid, manifest->refs[i].number, index);
        for (size_t dim = 0; dim < writer->grid.rank; dim++) {
            uint8_t bytes[4];
            for (unsigned k = 0; k < 4; k++) bytes[k] = (uint8_t)(index[dim] >> (8 * k));
            REFS_TRY(refs_buf_append(&node->coordinates, bytes, sizeof bytes, err));
        }
    }
    return REFS_OK;
}

static refs_status write_manifest(icechunk_writer *writer, refs_written_node *node,
                                  refs_written_file *file, refs_error *err) {
    refs_object_file object = {writer->folder, "manifests", file->id, REFS_ICECHUNK_MANIFEST, 0};
    refs_written_manifest *manifest = &writer->manifest;
    size_t n_kept;
    REFS_TRY(count_kept(writer, &n_kept, err));
    REFS_TRY(refs_icechunk__manifest_build(manifest, &writer->grid, file->id, err));
    refs_icechunk__manifest_extents(manifest, &writer->grid, file->extents);
    file->n_refs = manifest->n;
    if (is_of_parent(writer, file->id)) {
        file->size = size_in_parent(writer, file->id);
        return REFS_OK;
    }
    REFS_TRY(note_changed(writer, n_kept, node, err));
    REFS_TRY(refs_icechunk__write_object(&object, refs_buf_view(&manifest->flat.bytes), err));
    file->size = object.size;
    return REFS_OK;
}

static refs_status flush(icechunk_writer *writer, refs_error *err) {
    if (writer->manifest.n == 0) return REFS_OK;
    refs_written_node *node = &writer->nodes.items[writer->node];
    REFS_GROW(node->files, node->file_capacity, node->n_files, err);
    refs_written_file *file = &node->files[node->n_files++];
    *file = (refs_written_file){.size = 0};
    REFS_TRY(write_manifest(writer, node, file, err));
    refs_icechunk__manifest_reset(&writer->manifest);
    writer->inline_bytes = 0;
    return REFS_OK;
}

/* Finds "/t2m" for "t2m/", "t2m/c/" (Zarr version 3) and, without dimensions, "t2m/0" and
 * "t2m/c". */
static refs_status find_array(icechunk_writer *writer, refs_str prefix, size_t rank,
                              refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&path, err, "/%.*s", REFS_STR_WHOLE(prefix)));
    writer->node = REFS_INTERN_NONE;
    for (unsigned i = 0; i < 2 && writer->node == REFS_INTERN_NONE; i++) {
        refs_str text = refs_buf_text(&path);
        path.size = refs_path_parent(text).size;
        text.size = path.size > 0 ? path.size : 1;
        const uint32_t found = refs_intern_find(&writer->nodes.paths, text);
        if (found != REFS_INTERN_NONE && writer->nodes.items[found].is_array &&
            writer->nodes.items[found].rank == rank)
            writer->node = found;
    }
    if (writer->node != REFS_INTERN_NONE) return REFS_OK;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%.*s: Icechunk repositories cannot hold chunks of an array without metadata: write JSON",
        REFS_STR_ARG(prefix));
}

/* Manifests are divided along the slowest dimension whose single indices fit into a manifest. */
static void choose_split(icechunk_writer *writer) {
    const uint64_t most = writer->manifest_bytes / REF_BYTES;
    const refs_written_grid *grid = &writer->grid;
    writer->inner = 1;
    writer->split = grid->rank > 0 ? grid->rank - 1 : 0;
    while (writer->split > 0) {
        uint64_t inner;
        if (!refs_mul_u64(writer->inner, grid->n[writer->split], &inner) || inner > most) break;
        writer->inner = inner;
        writer->split--;
    }
}

static refs_status begin_array(void *self, const refs_write_array *array, refs_error *err) {
    icechunk_writer *writer = self;
    const refs_str prefix = refs_buf_text(&array->prefix);
    REFS_TRY(complete(writer, err));
    REFS_TRY(flush(writer, err));
    REFS_TRY(find_array(writer, prefix, array->rank, err));
    const refs_written_node *node = &writer->nodes.items[writer->node];
    memcpy(writer->grid.node, node->id, REFS_NODE_ID_SIZE);
    writer->grid.rank = array->rank;
    for (size_t dim = 0; dim < array->rank; dim++) writer->grid.n[dim] = array->n[dim];
    choose_split(writer);
    return REFS_OK;
}

/* -- chunks ------------------------------------------------------------------------------------ */

/* Whether a chunk begins a new manifest: an index of a dimension before `split` changed, or the
 * next index along `split` no longer fits. */
static bool begins_manifest(const icechunk_writer *writer, uint64_t row) {
    const refs_written_grid *grid = &writer->grid;
    if (writer->manifest.n == 0 || row == writer->row || grid->rank == 0) return false;
    const uint64_t n = grid->n[writer->split];
    const uint64_t room = writer->manifest_bytes / REF_BYTES;
    return row / n != writer->row / n || writer->inner > room - writer->manifest.n ||
           writer->manifest.n > room || writer->inline_bytes > writer->manifest_bytes;
}

static refs_status write_native(icechunk_writer *writer, refs_bytes bytes, uint8_t *id,
                                refs_error *err) {
    refs_object_file object = {writer->folder, "chunks", id, REFS_ICECHUNK_MANIFEST, 0};
    char text[REFS_OBJECT_ID_TEXT + 1];
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_icechunk__id_of(bytes, id, REFS_OBJECT_ID_SIZE);
    refs_icechunk__id_format(id, text);
    REFS_TRY(refs_buf_printf(&path, err, "%s/chunks/%s", writer->folder, text));
    const bool is_there = access((const char *)path.data, F_OK) == 0;
    return is_there ? REFS_OK : refs_icechunk__write_plain(&object, bytes, err);
}

static refs_status add_value(icechunk_writer *writer, const refs_write_chunk *chunk,
                             refs_error *err) {
    refs_written_ref ref = {.number = chunk->number, .kind = REFS_ICECHUNK_INLINE};
    uint8_t id[REFS_OBJECT_ID_SIZE];
    if (chunk->bytes.size <= MAX_INLINE_BYTES) {
        writer->inline_bytes += chunk->bytes.size;
        return refs_icechunk__manifest_add(&writer->manifest, &ref, chunk->bytes, err);
    }
    REFS_TRY(write_native(writer, chunk->bytes, id, err));
    ref.kind = REFS_ICECHUNK_NATIVE;
    ref.length = chunk->bytes.size;
    return refs_icechunk__manifest_add(&writer->manifest, &ref, refs_bytes_view(id, sizeof id),
                                       err);
}

/* Whether a URL is that of a chunk of this repository, as in a set that was read from it. */
static bool is_own_chunk(const icechunk_writer *writer, refs_str url, refs_object_id *id) {
    if (writer->own == NULL || !refs_str_starts(url, writer->own)) return false;
    const refs_str rest = refs_str_part(url, strlen(writer->own), url.size);
    if (!refs_str_starts(rest, "/chunks/")) return false;
    return refs_icechunk__id_parse(refs_str_part(rest, strlen("/chunks/"), rest.size), id);
}

static refs_status locate(icechunk_writer *writer, const refs_write_chunk *chunk, refs_error *err) {
    if (writer->has_url && writer->url_id == chunk->url_id) return REFS_OK;
    if (writer->place.store != NULL && refs_file_name_is_local(chunk->url))
        return refs_fail(err, REFS_INVALID,
                         "%.*s: a repository in an object store cannot refer to a local file: copy "
                         "it to a URL, and index it there",
                         REFS_STR_ARG(chunk->url));
    const uint32_t number = refs_intern_find(&writer->urls, chunk->url);
    writer->of_url =
        number != REFS_INTERN_NONE ? writer->sources[number] : (source){REFS_SOURCE_UNKNOWN, 0};
    writer->has_url = true;
    writer->url_id = chunk->url_id;
    writer->location.size = 0;
    return refs_icechunk__containers_locate(&writer->containers, chunk->url, &writer->location,
                                            err);
}

static refs_status add_reference(icechunk_writer *writer, const refs_write_chunk *chunk,
                                 refs_error *err) {
    refs_written_ref ref = {.number = chunk->number,
                            .kind = REFS_ICECHUNK_NATIVE,
                            .offset = chunk->offset,
                            .length = chunk->length};
    refs_object_id own;
    if (chunk->kind == REFS_REF_RANGE && is_own_chunk(writer, chunk->url, &own))
        return refs_icechunk__manifest_add(&writer->manifest, &ref,
                                           refs_bytes_view(own.bytes, sizeof own.bytes), err);
    REFS_TRY(locate(writer, chunk, err));
    ref.kind = REFS_ICECHUNK_VIRTUAL;
    ref.modified_s = writer->of_url.modified_s;
    if (chunk->kind == REFS_REF_WHOLE) ref.length = writer->of_url.size;
    if (chunk->kind == REFS_REF_WHOLE && ref.length == REFS_SOURCE_UNKNOWN)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s: unknown file size, which Icechunk requires: write JSON",
                         REFS_STR_ARG(chunk->url));
    return refs_icechunk__manifest_add(&writer->manifest, &ref, refs_buf_view(&writer->location),
                                       err);
}

static refs_status write_chunk(void *self, const refs_write_array *array,
                               const refs_write_chunk *chunk, refs_error *err) {
    icechunk_writer *writer = self;
    const uint64_t row = chunk->number / writer->inner;
    (void)array;
    if (begins_manifest(writer, row)) REFS_TRY(flush(writer, err));
    writer->row = row;
    return chunk->kind == REFS_REF_INLINE ? add_value(writer, chunk, err)
                                          : add_reference(writer, chunk, err);
}

/* -- the commit -------------------------------------------------------------------------------- */

static refs_status write_commit(icechunk_writer *writer, refs_error *err) {
    REFS_SCOPED_BUF config = REFS_BUF_INIT;
    REFS_TRY(refs_icechunk__containers_write(&writer->containers, writer->tip.info.config, &config,
                                             err));
    const refs_commit commit = {writer->folder, REFS_ICECHUNK_WRITTEN_BRANCH, writer->message,
                                refs_buf_view(&config)};
    return refs_icechunk__commit_write(&commit, &writer->tip, &writer->nodes, err);
}

static refs_status finish_icechunk(void *self, refs_error *err) {
    icechunk_writer *writer = self;
    REFS_TRY(complete(writer, err));
    REFS_TRY(flush(writer, err));
    REFS_TRY(refs_icechunk__nodes_seal(&writer->nodes, err));
    return writer->is_new ? write_commit(writer, err) : REFS_OK;
}

/* Rebases on what other programs committed since the parent was read. */
static refs_status follow(icechunk_writer *writer, refs_error *err) {
    const refs_icechunk_version version = {.branch = REFS_ICECHUNK_WRITTEN_BRANCH};
    refs_icechunk_tip tip = {.written_us = 0};
    refs_status status = refs_icechunk__commit_begin(&writer->place, &version, &tip, err);
    const bool has_moved =
        status == REFS_OK && memcmp(&tip.id, &writer->tip.id, sizeof tip.id) != 0;
    if (has_moved)
        status = refs_icechunk__nodes_rebase(&writer->nodes, &writer->tip.nodes, &tip.nodes, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "%s", writer->repository);
        refs_icechunk__tip_clear(&tip);
        return status;
    }
    refs_icechunk__tip_clear(&writer->tip);
    writer->tip = tip;
    return REFS_OK;
}

/* Fails instead of replacing a repository that another program created meanwhile. */
static refs_status place_new(icechunk_writer *writer, refs_staged *place, refs_error *err) {
    if (writer->place.store == NULL) return refs_staged_move_new(place, err);
    const refs_status status =
        refs_icechunk__commit_end(&writer->place, &writer->tip.info, NULL, err);
    if (status != REFS_CANCELLED) return status;
    return refs_fail(err, REFS_INVALID,
                     "%s: another program created it during this run: run it again",
                     writer->place.store->location);
}

static refs_status move_icechunk(void *self, refs_staged *place, refs_error *err) {
    icechunk_writer *writer = self;
    if (writer->is_new) return place_new(writer, place, err);
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        REFS_TRY(follow(writer, err));
        if (refs_icechunk__nodes_are_kept(&writer->nodes, &writer->tip.nodes)) return REFS_OK;
        REFS_TRY(write_commit(writer, err));
        const refs_status status =
            refs_icechunk__commit_end(&writer->place, &writer->tip.info, NULL, err);
        if (status != REFS_CANCELLED) return status;
        refs_icechunk__commit_forget(writer->folder);
    }
    return refs_fail(err, REFS_IO, "%s: other programs commit all the time: try again later",
                     writer->repository);
}

const refs_write_kind refs_write__icechunk = {.is_folder = true,
                                              .open = open_icechunk,
                                              .source = write_source,
                                              .document = write_document,
                                              .array = begin_array,
                                              .chunk = write_chunk,
                                              .finish = finish_icechunk,
                                              .move = move_icechunk,
                                              .free = free_icechunk};
