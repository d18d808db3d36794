/* written_nodes.c -- see written_nodes.h: which nodes there are, and what changed. */
#include "icechunk/written_nodes.h"

#include "icechunk/object_file.h"
#include "icechunk/sealed_holes.h"
#include "icechunk/version3.h"
#include "refs/json.h"

/* -- the table --------------------------------------------------------------------------------- */

refs_status refs_icechunk__node_at(refs_written_nodes *nodes, refs_str path,
                                   refs_written_node **node, refs_error *err) {
    const size_t known = nodes->paths.count;
    uint32_t number;
    REFS_GROW(nodes->items, nodes->capacity, known, err);
    REFS_TRY(refs_intern_add(&nodes->paths, path, &number, err));
    *node = &nodes->items[number];
    if (number == known) **node = (refs_written_node){.is_array = false};
    return REFS_OK;
}

refs_written_node *refs_icechunk__find_node(const refs_written_nodes *nodes, refs_str path) {
    const uint32_t number = refs_intern_find(&nodes->paths, path);
    if (number == REFS_INTERN_NONE || nodes->items[number].is_removed) return NULL;
    return &nodes->items[number];
}

static void clear_node(refs_written_node *node) {
    refs_buf_clear(&node->v2);
    refs_buf_clear(&node->attributes);
    refs_buf_clear(&node->metadata);
    refs_buf_clear(&node->coordinates);
    refs_free(node->shape);
    refs_free(node->n_chunks);
    refs_free(node->files);
    memset(node, 0, sizeof *node);
}

void refs_icechunk__nodes_clear(refs_written_nodes *nodes) {
    for (size_t i = 0; i < nodes->paths.count; i++) clear_node(&nodes->items[i]);
    refs_intern_clear(&nodes->paths);
    refs_free(nodes->items);
    memset(nodes, 0, sizeof *nodes);
}

/* -- documents --------------------------------------------------------------------------------- */

/* Appends "/t2m" for "t2m/.zarray". */
static refs_status append_path(refs_str key, refs_buf *path, refs_error *err) {
    REFS_TRY(refs_buf_append(path, "/", 1, err));
    return refs_buf_append_str(path, refs_path_parent(key), err);
}

static refs_status take_document(refs_written_node *node, refs_str name, refs_bytes document,
                                 refs_error *err) {
    if (refs_str_is(name, ".zgroup") || refs_str_is(name, ".zmetadata")) return REFS_OK;
    refs_buf *text = refs_str_is(name, ".zattrs")     ? &node->attributes
                     : refs_str_is(name, ".zarray")   ? &node->v2
                     : refs_str_is(name, "zarr.json") ? &node->metadata
                                                      : NULL;
    if (text == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "Icechunk repositories can hold only metadata and chunks: write JSON");
    text->size = 0;
    node->is_array = node->is_array || text == &node->v2;
    return refs_buf_append(text, document.data, document.size, err);
}

refs_status refs_icechunk__nodes_document(refs_written_nodes *nodes, refs_str key,
                                          refs_bytes document, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_written_node *node = NULL;
    refs_status status = append_path(key, &path, err);
    if (status == REFS_OK) status = refs_icechunk__node_at(nodes, refs_buf_text(&path), &node, err);
    if (status == REFS_OK) status = take_document(node, refs_path_last(key), document, err);
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(key));
    return status;
}

/* -- metadata ---------------------------------------------------------------------------------- */

static refs_status fail_grid(refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "expected a regular chunk grid of fewer than 2^32 chunks along each "
                     "dimension, as Icechunk requires: write JSON");
}

/* Reads lengths and numbers of chunks from the metadata of an array. */
static refs_status read_shape(const refs_json *root, refs_written_node *node, refs_error *err) {
    const refs_json *shape = refs_json_get(root, "shape");
    const refs_json *chunks = refs_json_get(
        refs_json_get(refs_json_get(root, "chunk_grid"), "configuration"), "chunk_shape");
    node->rank = refs_json_size(shape);
    refs_free(node->shape);
    refs_free(node->n_chunks);
    node->shape = refs_calloc(node->rank, sizeof *node->shape);
    node->n_chunks = refs_calloc(node->rank, sizeof *node->n_chunks);
    if (node->shape == NULL || node->n_chunks == NULL) return refs_fail_nomem(err);
    if (node->rank > REFS_ICECHUNK_MAX_RANK || refs_json_size(chunks) != node->rank)
        return fail_grid(err);
    for (size_t dim = 0; dim < node->rank; dim++) {
        uint64_t chunk = 0;
        if (!refs_json_u64(refs_json_at(shape, dim), &node->shape[dim]) ||
            !refs_json_u64(refs_json_at(chunks, dim), &chunk) || chunk == 0)
            return fail_grid(err);
        const uint64_t n = node->shape[dim] / chunk + (node->shape[dim] % chunk > 0);
        if (n > UINT32_MAX) return fail_grid(err);
        node->n_chunks[dim] = (uint32_t)n;
    }
    return REFS_OK;
}

static refs_status read_metadata(refs_written_node *node, refs_error *err) {
    refs_json_doc *doc;
    REFS_TRY(refs_json_parse(refs_buf_text(&node->metadata), &doc, err));
    const refs_json *root = refs_json_root(doc);
    node->is_array = refs_str_is(refs_json_text(refs_json_get(root, "node_type")), "array");
    const refs_status status = node->is_array ? read_shape(root, node, err) : REFS_OK;
    refs_json_doc_free(doc);
    return status;
}

static refs_status complete_node(refs_written_node *node, refs_error *err) {
    const refs_bytes attributes = refs_buf_view(&node->attributes);
    if (node->metadata.size == 0 && node->v2.size > 0)
        REFS_TRY(
            refs_icechunk__array_v3(refs_buf_view(&node->v2), attributes, &node->metadata, err));
    if (node->metadata.size == 0)
        REFS_TRY(refs_icechunk__group_v3(attributes, &node->metadata, err));
    return read_metadata(node, err);
}

/* Adds the groups that contain a node, the root included. */
static refs_status add_groups(refs_written_nodes *nodes, uint32_t number, refs_error *err) {
    refs_written_node *group;
    REFS_SCOPED char *path = refs_str_copy(refs_intern_get(&nodes->paths, number));
    if (path == NULL) return refs_fail_nomem(err);
    for (char *slash = strrchr(path, '/'); slash != NULL; slash = strrchr(path, '/')) {
        *slash = '\0';
        REFS_TRY(
            refs_icechunk__node_at(nodes, refs_str_from(*path != '\0' ? path : "/"), &group, err));
    }
    return REFS_OK;
}

refs_status refs_icechunk__nodes_complete(refs_written_nodes *nodes, refs_error *err) {
    const uint32_t n = (uint32_t)nodes->paths.count;
    for (uint32_t i = 0; i < n; i++) REFS_TRY(add_groups(nodes, i, err));
    for (uint32_t i = 0; i < nodes->paths.count; i++) {
        const refs_status status = complete_node(&nodes->items[i], err);
        if (status != REFS_OK)
            refs_error_prefix(err, "%.*s", REFS_STR_ARG(refs_intern_get(&nodes->paths, i)));
        REFS_TRY(status);
    }
    return REFS_OK;
}

static refs_status seal_node(refs_written_node *node, refs_error *err) {
    char seal[REFS_SEAL_TEXT + 1];
    REFS_SCOPED_BUF ids = REFS_BUF_INIT, sealed = REFS_BUF_INIT;
    for (size_t i = 0; i < node->n_files; i++)
        REFS_TRY(refs_buf_append(&ids, node->files[i].id, REFS_OBJECT_ID_SIZE, err));
    refs_icechunk__seal_of(ids.data, node->n_files, seal);
    REFS_TRY(refs_icechunk__seal_holes(refs_buf_view(&node->metadata), seal, &sealed, err));
    node->metadata.size = 0;
    return refs_buf_append(&node->metadata, sealed.data, sealed.size, err);
}

refs_status refs_icechunk__nodes_seal(refs_written_nodes *nodes, refs_error *err) {
    for (uint32_t i = 0; i < nodes->paths.count; i++)
        if (nodes->items[i].is_array &&
            refs_icechunk__has_holes(refs_buf_view(&nodes->items[i].metadata)))
            REFS_TRY(seal_node(&nodes->items[i], err));
    return REFS_OK;
}

/* -- nodes of a snapshot ----------------------------------------------------------------------- */

static refs_status add_file(const refs_icechunk_snapshot *snapshot, const refs_manifest_ref *ref,
                            refs_written_node *node, refs_error *err) {
    const refs_manifest_file *file = &snapshot->files[ref->manifest];
    REFS_GROW(node->files, node->file_capacity, node->n_files, err);
    refs_written_file *added = &node->files[node->n_files++];
    *added = (refs_written_file){.size = file->size, .n_refs = file->n_refs};
    memcpy(added->id, refs_intern_get(&snapshot->manifests, ref->manifest).data,
           REFS_OBJECT_ID_SIZE);
    added->is_everything = ref->bounds == NULL;
    for (size_t i = 0; i < 2 * node->rank && ref->bounds != NULL; i++)
        added->extents[i] = refs_load_le32(ref->bounds + 4 * i);
    return REFS_OK;
}

/* Receives the nodes of a snapshot. */
typedef struct taking {
    const refs_icechunk_snapshot *snapshot;
    refs_written_nodes *nodes;
} taking;

static refs_status take_node(void *user, refs_str path, refs_bytes metadata, refs_error *err) {
    const taking *at = user;
    const refs_icechunk_node *from =
        &at->snapshot
             ->nodes[refs_icechunk__snapshot_find(at->snapshot, refs_str_part(path, 1, path.size))];
    refs_written_node *node = NULL;
    REFS_TRY(refs_icechunk__node_at(at->nodes, path, &node, err));
    memcpy(node->id, from->id, REFS_NODE_ID_SIZE);
    REFS_TRY(refs_buf_append(&node->metadata, metadata.data, metadata.size, err));
    REFS_TRY(read_metadata(node, err));
    for (size_t i = from->begin; i < from->end; i++)
        REFS_TRY(add_file(at->snapshot, &at->snapshot->refs[i], node, err));
    return REFS_OK;
}

refs_status refs_icechunk__nodes_of_snapshot(const refs_icechunk_snapshot *snapshot,
                                             refs_written_nodes *nodes, refs_error *err) {
    taking into = {snapshot, nodes};
    const refs_icechunk_node_visitor visitor = {take_node, &into};
    return refs_icechunk__snapshot_each_node(snapshot, &visitor, err);
}

/* -- changes ----------------------------------------------------------------------------------- */

refs_status refs_icechunk__nodes_name(refs_written_nodes *nodes, const refs_written_nodes *parent,
                                      const refs_object_id *salt, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    for (uint32_t i = 0; i < nodes->paths.count; i++) {
        const refs_str path = refs_intern_get(&nodes->paths, i);
        refs_written_node *node = &nodes->items[i];
        const refs_written_node *before = refs_icechunk__find_node(parent, path);
        text.size = 0;
        if (before != NULL && before->is_array == node->is_array) {
            memcpy(node->id, before->id, REFS_NODE_ID_SIZE);
            continue;
        }
        REFS_TRY(refs_buf_append(&text, salt->bytes, sizeof salt->bytes, err));
        REFS_TRY(refs_buf_append_str(&text, path, err));
        refs_icechunk__id_of(refs_buf_view(&text), node->id, REFS_NODE_ID_SIZE);
    }
    return REFS_OK;
}

static bool are_equal(const refs_buf *one, const refs_buf *other) {
    return refs_bytes_equal(refs_buf_view(one), refs_buf_view(other));
}

bool refs_icechunk__node_has_file(const refs_written_node *node, const uint8_t *id) {
    for (size_t i = 0; node != NULL && i < node->n_files; i++)
        if (memcmp(node->files[i].id, id, REFS_OBJECT_ID_SIZE) == 0) return true;
    return false;
}

static bool have_same_files(const refs_written_node *one, const refs_written_node *other) {
    if (one->n_files != other->n_files) return false;
    for (size_t i = 0; i < one->n_files; i++)
        if (!refs_icechunk__node_has_file(other, one->files[i].id)) return false;
    return true;
}

static bool are_same_nodes(const refs_written_node *one, const refs_written_node *other) {
    if (one == NULL || other == NULL) return one == other;
    return memcmp(one->id, other->id, REFS_NODE_ID_SIZE) == 0 &&
           are_equal(&one->metadata, &other->metadata) && have_same_files(one, other);
}

void refs_icechunk__nodes_compare(refs_written_nodes *nodes, const refs_written_nodes *parent) {
    for (uint32_t i = 0; i < nodes->paths.count; i++) {
        refs_written_node *node = &nodes->items[i];
        const refs_written_node *before =
            refs_icechunk__find_node(parent, refs_intern_get(&nodes->paths, i));
        const bool is_new = before == NULL || memcmp(before->id, node->id, REFS_NODE_ID_SIZE) != 0;
        node->change = is_new                                          ? REFS_NODE_IS_NEW
                       : are_equal(&before->metadata, &node->metadata) ? REFS_NODE_IS_KEPT
                                                                       : REFS_NODE_HAS_CHANGED;
    }
}

bool refs_icechunk__nodes_are_kept(const refs_written_nodes *nodes,
                                   const refs_written_nodes *parent) {
    for (uint32_t i = 0; i < nodes->paths.count; i++)
        if (!are_same_nodes(refs_icechunk__find_node(nodes, refs_intern_get(&nodes->paths, i)),
                            refs_icechunk__find_node(parent, refs_intern_get(&nodes->paths, i))))
            return false;
    for (uint32_t i = 0; i < parent->paths.count; i++)
        if (refs_icechunk__find_node(nodes, refs_intern_get(&parent->paths, i)) == NULL)
            return false;
    return true;
}

/* -- another commit ---------------------------------------------------------------------------- */

static refs_status copy_buf(const refs_buf *from, refs_buf *to, refs_error *err) {
    to->size = 0;
    return refs_buf_append(to, from->data, from->size, err);
}

/* Replaces a node by the version of another commit. */
static refs_status take_over(refs_written_node *node, const refs_written_node *tip,
                             refs_error *err) {
    if (tip == NULL) {
        node->is_removed = true;
        return REFS_OK;
    }
    memcpy(node->id, tip->id, REFS_NODE_ID_SIZE);
    node->n_files = 0;
    node->coordinates.size = 0;
    node->is_removed = false;
    REFS_TRY(copy_buf(&tip->metadata, &node->metadata, err));
    for (size_t i = 0; i < tip->n_files; i++) {
        REFS_GROW(node->files, node->file_capacity, node->n_files, err);
        node->files[node->n_files++] = tip->files[i];
    }
    return read_metadata(node, err);
}

static refs_status fail_changed(refs_str path, refs_error *err) {
    return refs_fail(err, REFS_CHANGED,
                     "%.*s: another commit changed it during this run: run it again",
                     REFS_STR_ARG(path));
}

static refs_status rebase_path(refs_written_nodes *nodes, const refs_written_nodes *parent,
                               const refs_written_nodes *tip, refs_str path, refs_error *err) {
    const refs_written_node *before = refs_icechunk__find_node(parent, path);
    const refs_written_node *theirs = refs_icechunk__find_node(tip, path);
    const refs_written_node *ours = refs_icechunk__find_node(nodes, path);
    refs_written_node *node = NULL;
    if (are_same_nodes(theirs, before) || are_same_nodes(theirs, ours)) return REFS_OK;
    if (!are_same_nodes(ours, before)) return fail_changed(path, err);
    REFS_TRY(refs_icechunk__node_at(nodes, path, &node, err));
    return take_over(node, theirs, err);
}

/* One side may have removed the group to which the other added a node. */
static refs_status check_group(const refs_written_nodes *nodes, uint32_t number, refs_error *err) {
    const refs_str path = refs_intern_get(&nodes->paths, number);
    refs_str parent = refs_path_parent(path);
    if (nodes->items[number].is_removed || path.size <= 1) return REFS_OK;
    if (parent.size == 0) parent = refs_str_from("/");
    const refs_written_node *group = refs_icechunk__find_node(nodes, parent);
    return group != NULL && !group->is_array ? REFS_OK : fail_changed(parent, err);
}

refs_status refs_icechunk__nodes_rebase(refs_written_nodes *nodes, const refs_written_nodes *parent,
                                        const refs_written_nodes *tip, refs_error *err) {
    for (uint32_t i = 0; i < tip->paths.count; i++)
        REFS_TRY(rebase_path(nodes, parent, tip, refs_intern_get(&tip->paths, i), err));
    for (uint32_t i = 0; i < parent->paths.count; i++)
        REFS_TRY(rebase_path(nodes, parent, tip, refs_intern_get(&parent->paths, i), err));
    for (uint32_t i = 0; i < nodes->paths.count; i++) REFS_TRY(check_group(nodes, i, err));
    return REFS_OK;
}
