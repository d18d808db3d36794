/* snapshot.c -- see snapshot.h. */
#include "icechunk/snapshot.h"

#include <stdlib.h>

#include "icechunk/file.h"
#include "icechunk/node_check.h"
#include "icechunk/schema.h"

/* Sizes of structs: the extent along a dimension, and a dimension's shape in format 1. */
#define EXTENT_SIZE 8
#define SHAPE_SIZE  16

/* The struct of format 1 that describes a manifest's file, and offsets in it. */
#define FILE_STRUCT_SIZE 32
#define AT_FILE_SIZE     16
#define AT_FILE_N_REFS   24

refs_status refs_icechunk__object_location(const refs_icechunk_source *source, const char *kind,
                                           const uint8_t *id, refs_buf *location, refs_error *err) {
    char text[REFS_OBJECT_ID_TEXT + 1];
    refs_icechunk__id_format(id, text);
    return refs_buf_printf(location, err, "%s/%s/%s", source->folder, kind, text);
}

refs_status refs_icechunk__snapshot_head(refs_bytes buffer, refs_snapshot_head *head,
                                         refs_error *err) {
    refs_flat_table root;
    const uint8_t *id, *parent;
    uint64_t written = 0;
    memset(head, 0, sizeof *head);
    REFS_TRY(refs_icechunk__flat_root(buffer, &root, err));
    REFS_TRY(refs_icechunk__flat_struct(&root, SNAPSHOT_ID, REFS_OBJECT_ID_SIZE, &id, err));
    REFS_TRY(refs_icechunk__flat_struct(&root, SNAPSHOT_PARENT, REFS_OBJECT_ID_SIZE, &parent, err));
    REFS_TRY(refs_icechunk__flat_number(&root, SNAPSHOT_WRITTEN, 8, &written, err));
    REFS_TRY(refs_icechunk__flat_string(&root, SNAPSHOT_MESSAGE, &head->message, err));
    if (id == NULL) return refs_fail(err, REFS_CORRUPT, "the snapshot has no id");
    if (written > INT64_MAX) return refs_fail(err, REFS_CORRUPT, "the snapshot has no date");
    memcpy(head->id.bytes, id, REFS_OBJECT_ID_SIZE);
    head->has_parent = parent != NULL;
    if (parent != NULL) memcpy(head->parent.bytes, parent, REFS_OBJECT_ID_SIZE);
    head->written_us = (int64_t)written;
    return REFS_OK;
}

/* -- arrays ------------------------------------------------------------------------------------ */

static refs_status read_fields(const refs_flat_table *array, refs_node_fields *fields, size_t *rank,
                               refs_error *err) {
    REFS_TRY(refs_icechunk__flat_vector(array, ARRAY_SHAPE, SHAPE_SIZE, &fields->shape, err));
    REFS_TRY(refs_icechunk__flat_vector(array, ARRAY_SHAPE_V2, 4, &fields->shape_v2, err));
    REFS_TRY(refs_icechunk__flat_vector(array, ARRAY_NAMES, 4, &fields->names, err));
    *rank = fields->shape_v2.is_present ? fields->shape_v2.n : fields->shape.n;
    if (!fields->shape_v2.is_present && !fields->shape.is_present)
        return refs_fail(err, REFS_CORRUPT, "the array has no shape");
    if (*rank > REFS_ICECHUNK_MAX_RANK)
        return refs_fail(err, REFS_UNSUPPORTED, "the array has %zu dimensions: expected at most %d",
                         *rank, REFS_ICECHUNK_MAX_RANK);
    return REFS_OK;
}

/* Without extents, a manifest covers the whole array. */
static refs_status read_ref(refs_icechunk_snapshot *snapshot, const refs_flat_table *table,
                            size_t rank, refs_manifest_ref *ref, refs_error *err) {
    refs_flat_vector extents;
    const uint8_t *id;
    REFS_TRY(refs_icechunk__flat_struct(table, MANIFEST_REF_ID, REFS_OBJECT_ID_SIZE, &id, err));
    REFS_TRY(refs_icechunk__flat_vector(table, MANIFEST_REF_EXTENTS, EXTENT_SIZE, &extents, err));
    if (id == NULL) return refs_fail(err, REFS_CORRUPT, "a manifest of the array has no id");
    if (extents.n != rank && extents.n != 0)
        return refs_fail(err, REFS_CORRUPT,
                         "a manifest covers %u dimensions of the array: expected %zu",
                         (unsigned)extents.n, rank);
    ref->bounds = extents.n > 0 ? refs_icechunk__flat_at(&extents, 0, EXTENT_SIZE) : NULL;
    return refs_intern_add(&snapshot->manifests,
                           refs_str_view((const char *)id, REFS_OBJECT_ID_SIZE), &ref->manifest,
                           err);
}

static uint32_t first_of(const refs_manifest_ref *ref, size_t dim) {
    return ref->bounds != NULL ? refs_load_le32(ref->bounds + dim * EXTENT_SIZE) : 0;
}

static uint32_t end_of(const refs_manifest_ref *ref, size_t dim) {
    return ref->bounds != NULL ? refs_load_le32(ref->bounds + dim * EXTENT_SIZE + 4) : UINT32_MAX;
}

/* The dimension along which manifests divide the array most, estimated from the last beginning and
 * the longest extent. Sorted by it, few manifests have to be searched for a chunk. */
static size_t most_divided(const refs_manifest_ref *refs, size_t n, size_t rank) {
    size_t best = 0;
    double most = 0;
    for (size_t dim = 0; dim < rank; dim++) {
        uint32_t last = 0, longest = 1;
        for (size_t i = 0; i < n; i++) {
            const uint32_t first = first_of(&refs[i], dim), end = end_of(&refs[i], dim);
            if (first > last) last = first;
            if (end > first && end - first > longest) longest = end - first;
        }
        const double parts = (double)last / (double)longest;
        if (parts > most) {
            most = parts;
            best = dim;
        }
    }
    return best;
}

/* qsort passes no context, so each element has its sort key. */
typedef struct sortable {
    uint32_t first;
    refs_manifest_ref ref;
} sortable;

static int compare(const void *one, const void *other) {
    const uint32_t a = ((const sortable *)one)->first, b = ((const sortable *)other)->first;
    return (a > b) - (a < b);
}

static refs_status sort_refs(refs_manifest_ref *refs, size_t n, size_t dim, refs_error *err) {
    uint32_t farthest = 0;
    REFS_SCOPED sortable *sorted = refs_calloc(n, sizeof *sorted);
    if (sorted == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) sorted[i] = (sortable){first_of(&refs[i], dim), refs[i]};
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; i < n; i++) {
        refs[i] = sorted[i].ref;
        if (end_of(&refs[i], dim) > farthest) farthest = end_of(&refs[i], dim);
        refs[i].farthest = farthest;
    }
    return REFS_OK;
}

static refs_status read_refs(const refs_icechunk_source *source, refs_icechunk_snapshot *snapshot,
                             const refs_flat_vector *manifests, refs_icechunk_node *node,
                             refs_error *err) {
    if (manifests->n > source->limits.max_manifests - snapshot->n_refs)
        return refs_fail(err, REFS_LIMIT,
                         "the arrays of the snapshot have more manifests than the limit of %llu",
                         (unsigned long long)source->limits.max_manifests);
    for (uint32_t i = 0; i < manifests->n; i++) {
        refs_flat_table table;
        REFS_GROW(snapshot->refs, snapshot->ref_capacity, snapshot->n_refs, err);
        REFS_TRY(refs_icechunk__flat_table_at(manifests, i, &table, err));
        REFS_TRY(read_ref(snapshot, &table, node->rank, &snapshot->refs[snapshot->n_refs], err));
        node->end = ++snapshot->n_refs;
    }
    const size_t n = node->end - node->begin;
    if (n < 2) return REFS_OK;
    node->sorted_by = most_divided(snapshot->refs + node->begin, n, node->rank);
    return sort_refs(snapshot->refs + node->begin, n, node->sorted_by, err);
}

static refs_status check_metadata(const refs_node_fields *fields, const refs_flat_table *node,
                                  refs_error *err) {
    refs_bytes metadata;
    REFS_TRY(refs_icechunk__flat_bytes(node, NODE_USER_DATA, &metadata, err));
    return refs_icechunk__check_node(fields, metadata, err);
}

static refs_status read_array(const refs_icechunk_source *source, refs_icechunk_snapshot *snapshot,
                              const refs_flat_table *node, refs_icechunk_node *read,
                              refs_error *err) {
    refs_flat_table array;
    refs_flat_vector manifests;
    refs_node_fields fields = {.is_array = true};
    REFS_TRY(refs_icechunk__flat_child(node, NODE_DATA, &array, err));
    if (array.buffer.data == NULL)
        return refs_fail(err, REFS_CORRUPT, "the array has no description");
    REFS_TRY(read_fields(&array, &fields, &read->rank, err));
    REFS_TRY(check_metadata(&fields, node, err));
    REFS_TRY(refs_icechunk__flat_vector(&array, ARRAY_MANIFESTS, 4, &manifests, err));
    return read_refs(source, snapshot, &manifests, read, err);
}

/* -- nodes ------------------------------------------------------------------------------------- */

static refs_status read_node(const refs_icechunk_source *source, refs_icechunk_snapshot *snapshot,
                             const refs_flat_table *table, refs_str path, refs_error *err) {
    refs_icechunk_node node = {NULL, SIZE_MAX, 0, snapshot->n_refs, snapshot->n_refs};
    uint64_t type = 0;
    uint32_t number;
    const size_t known = snapshot->paths.count;
    REFS_TRY(refs_icechunk__flat_struct(table, NODE_ID, REFS_NODE_ID_SIZE, &node.id, err));
    REFS_TRY(refs_icechunk__flat_number(table, NODE_DATA_TYPE, 1, &type, err));
    if (node.id == NULL) return refs_fail(err, REFS_CORRUPT, "it has no id");
    if (type != NODE_IS_ARRAY && type != NODE_IS_GROUP)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "expected a group or an array, found node type %llu",
                         (unsigned long long)type);
    if (type == NODE_IS_ARRAY) REFS_TRY(read_array(source, snapshot, table, &node, err));
    if (type == NODE_IS_GROUP)
        REFS_TRY(check_metadata(&(refs_node_fields){.is_array = false}, table, err));
    REFS_GROW(snapshot->nodes, snapshot->node_capacity, known, err);
    REFS_TRY(refs_intern_add(&snapshot->paths, path, &number, err));
    if (number < known) return refs_fail(err, REFS_CORRUPT, "the snapshot lists it twice");
    snapshot->nodes[number] = node;
    return REFS_OK;
}

static refs_status open_nodes(const refs_icechunk_snapshot *snapshot, refs_flat_vector *nodes,
                              refs_error *err) {
    refs_flat_table root;
    REFS_TRY(refs_icechunk__flat_root(refs_buf_view(&snapshot->buffer), &root, err));
    return refs_icechunk__flat_vector(&root, SNAPSHOT_NODES, 4, nodes, err);
}

static refs_status open_node(const refs_flat_vector *nodes, uint32_t i, refs_flat_table *node,
                             refs_str *path, refs_error *err) {
    REFS_TRY(refs_icechunk__flat_table_at(nodes, i, node, err));
    REFS_TRY(refs_icechunk__flat_string(node, NODE_PATH, path, err));
    if (!refs_str_starts(*path, "/"))
        return refs_fail(err, REFS_CORRUPT, "node \"%.*s\": its path does not begin with a slash",
                         REFS_STR_ARG(*path));
    return REFS_OK;
}

/* Whether a path follows another one, by bytes or by names of folders: writers differ. */
static bool comes_behind(refs_str path, refs_str before) {
    size_t i = 0;
    while (i < path.size && i < before.size && path.data[i] == before.data[i]) i++;
    if (i == before.size) return i < path.size;
    if (i == path.size) return false;
    return before.data[i] == '/' || path.data[i] == '/' ||
           (unsigned char)path.data[i] > (unsigned char)before.data[i];
}

/* Nodes must ascend by path, and each must be in a group that came before it. */
static refs_status check_path(const refs_icechunk_snapshot *snapshot, refs_str before,
                              refs_str path, refs_error *err) {
    const refs_str name = refs_str_part(path, 1, path.size);
    const refs_str parent = refs_path_parent(name);
    if (before.size > 0 && !comes_behind(path, before))
        return refs_fail(err, REFS_CORRUPT, "nodes are not sorted by path: this one follows %.*s",
                         REFS_STR_ARG(before));
    if (name.size == 0) return REFS_OK;
    const uint32_t group = refs_intern_find(&snapshot->paths, parent);
    if (group != REFS_INTERN_NONE && snapshot->nodes[group].rank == SIZE_MAX) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "its parent group /%.*s is missing in the snapshot",
                     REFS_STR_ARG(parent));
}

static refs_status read_nodes(const refs_icechunk_source *source, refs_icechunk_snapshot *snapshot,
                              refs_error *err) {
    refs_flat_vector nodes;
    refs_str before = {"", 0};
    REFS_TRY(open_nodes(snapshot, &nodes, err));
    for (uint32_t i = 0; i < nodes.n; i++) {
        refs_flat_table node;
        refs_str path;
        REFS_TRY(open_node(&nodes, i, &node, &path, err));
        refs_status status = check_path(snapshot, before, path, err);
        if (status == REFS_OK)
            status = read_node(source, snapshot, &node, refs_str_part(path, 1, path.size), err);
        before = path;
        if (status != REFS_OK) refs_error_prefix(err, "node %.*s", REFS_STR_ARG(path));
        REFS_TRY(status);
    }
    return REFS_OK;
}

/* -- files of manifests ------------------------------------------------------------------------ */

static refs_status note_file(refs_icechunk_snapshot *snapshot, const uint8_t *id,
                             const refs_manifest_file *file, refs_error *err) {
    char text[REFS_OBJECT_ID_TEXT + 1];
    if (id == NULL) return refs_fail(err, REFS_CORRUPT, "a manifest in its list has no id");
    const uint32_t number = refs_intern_find(&snapshot->manifests,
                                             refs_str_view((const char *)id, REFS_OBJECT_ID_SIZE));
    if (number != REFS_INTERN_NONE) {
        snapshot->files[number] = *file;
        return REFS_OK;
    }
    refs_icechunk__id_format(id, text);
    return refs_fail(err, REFS_CORRUPT, "it lists manifest %s, which none of its arrays uses",
                     text);
}

static refs_status list_files(refs_icechunk_snapshot *snapshot, refs_error *err) {
    refs_flat_table root;
    refs_flat_vector old, current;
    REFS_TRY(refs_icechunk__flat_root(refs_buf_view(&snapshot->buffer), &root, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, SNAPSHOT_FILES, FILE_STRUCT_SIZE, &old, err));
    REFS_TRY(refs_icechunk__flat_vector(&root, SNAPSHOT_FILES_V2, 4, &current, err));
    for (uint32_t i = 0; i < old.n; i++) {
        const uint8_t *data = refs_icechunk__flat_at(&old, i, FILE_STRUCT_SIZE);
        const refs_manifest_file file = {.is_known = true,
                                         .size = refs_load_le64(data + AT_FILE_SIZE),
                                         .n_refs = refs_load_le32(data + AT_FILE_N_REFS)};
        REFS_TRY(note_file(snapshot, data, &file, err));
    }
    for (uint32_t i = 0; i < current.n; i++) {
        refs_flat_table table;
        refs_manifest_file file = {.is_known = true};
        const uint8_t *id;
        REFS_TRY(refs_icechunk__flat_table_at(&current, i, &table, err));
        REFS_TRY(refs_icechunk__flat_struct(&table, FILE_ID, REFS_OBJECT_ID_SIZE, &id, err));
        REFS_TRY(refs_icechunk__flat_number(&table, FILE_SIZE, 8, &file.size, err));
        REFS_TRY(refs_icechunk__flat_number(&table, FILE_N_REFS, 4, &file.n_refs, err));
        REFS_TRY(note_file(snapshot, id, &file, err));
    }
    return REFS_OK;
}

/* Number of chunks that a manifest covers. */
static uint64_t volume_of(const refs_manifest_ref *ref, size_t rank) {
    uint64_t volume = 1;
    for (size_t dim = 0; dim < rank; dim++) {
        const uint32_t first = first_of(ref, dim), end = end_of(ref, dim);
        if (end <= first) return 0;
        if (!refs_mul_u64(volume, end - first, &volume)) return UINT64_MAX;
    }
    return volume;
}

/* A manifest with more references than covered chunks has references of other arrays, perhaps
 * deleted ones. Their number is then unknown. */
static refs_status read_files(refs_icechunk_snapshot *snapshot, refs_error *err) {
    const size_t n = snapshot->manifests.count;
    uint64_t *covered = refs_calloc(n, sizeof *covered);
    snapshot->files = refs_calloc(n, sizeof *snapshot->files);
    if (covered == NULL || snapshot->files == NULL) {
        refs_free(covered);
        return refs_fail_nomem(err);
    }
    for (size_t i = 0; i < snapshot->paths.count; i++) {
        const refs_icechunk_node *node = &snapshot->nodes[i];
        for (size_t k = node->begin; k < node->end; k++) {
            uint64_t *sum = &covered[snapshot->refs[k].manifest];
            if (!refs_add_u64(*sum, volume_of(&snapshot->refs[k], node->rank), sum))
                *sum = UINT64_MAX;
        }
    }
    refs_status status = list_files(snapshot, err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        snapshot->files[i].is_doubtful = snapshot->files[i].n_refs > covered[i];
        snapshot->is_any_doubtful |= snapshot->files[i].is_doubtful;
    }
    refs_free(covered);
    return status;
}

static refs_status check_id(const refs_icechunk_snapshot *snapshot, const refs_object_id *id,
                            refs_error *err) {
    refs_snapshot_head head;
    char text[REFS_OBJECT_ID_TEXT + 1];
    REFS_TRY(refs_icechunk__snapshot_head(refs_buf_view(&snapshot->buffer), &head, err));
    if (memcmp(&head.id, id, sizeof *id) == 0) return REFS_OK;
    refs_icechunk__id_format(head.id.bytes, text);
    return refs_fail(err, REFS_CORRUPT, "its id is that of snapshot %s", text);
}

refs_status refs_icechunk__snapshot_read(const refs_icechunk_source *source,
                                         const refs_object_id *id, refs_icechunk_snapshot *snapshot,
                                         refs_error *err) {
    REFS_SCOPED_BUF location = REFS_BUF_INIT;
    refs_status status =
        refs_icechunk__object_location(source, "snapshots", id->bytes, &location, err);
    const char *name = (const char *)location.data;
    refs_icechunk_file which = {name, REFS_ICECHUNK_SNAPSHOT, 0};
    if (status == REFS_OK && snapshot->buffer.size == 0)
        status = refs_icechunk__file_read(source, &which, &snapshot->buffer, err);
    const bool was_read = status == REFS_OK;
    if (was_read) status = check_id(snapshot, id, err);
    if (status == REFS_OK) status = read_nodes(source, snapshot, err);
    if (status == REFS_OK) status = read_files(snapshot, err);
    if (was_read && status != REFS_OK) refs_error_prefix(err, "%s", name);
    return status;
}

void refs_icechunk__snapshot_clear(refs_icechunk_snapshot *snapshot) {
    refs_buf_clear(&snapshot->buffer);
    refs_intern_clear(&snapshot->paths);
    refs_intern_clear(&snapshot->manifests);
    refs_free(snapshot->nodes);
    refs_free(snapshot->refs);
    refs_free(snapshot->files);
    memset(snapshot, 0, sizeof *snapshot);
}

uint32_t refs_icechunk__snapshot_find(const refs_icechunk_snapshot *snapshot, refs_str path) {
    return refs_intern_find(&snapshot->paths, path);
}

/* -- manifests of a chunk ---------------------------------------------------------------------- */

static bool covers(const refs_manifest_ref *ref, size_t rank, const uint64_t *index) {
    for (size_t dim = 0; dim < rank; dim++)
        if (index[dim] < first_of(ref, dim) || index[dim] >= end_of(ref, dim)) return false;
    return true;
}

/* The number of references whose extent begins at or before the chunk. */
static size_t count_before(const refs_icechunk_snapshot *snapshot, const refs_icechunk_node *node,
                           uint64_t place) {
    size_t i = node->begin;
    REFS_BISECT(i, node->end, first_of(&snapshot->refs[i], node->sorted_by) <= place);
    return i;
}

refs_status refs_icechunk__snapshot_each_manifest(const refs_icechunk_snapshot *snapshot,
                                                  const refs_icechunk_wanted *wanted,
                                                  const refs_manifest_visitor *visitor,
                                                  refs_error *err) {
    const refs_icechunk_node *node = wanted->node;
    const bool is_sorted =
        node->rank > 0 && node->end - node->begin > 1 && !snapshot->is_any_doubtful;
    const uint64_t place = node->rank > 0 ? wanted->index[node->sorted_by] : 0;
    size_t i = is_sorted ? count_before(snapshot, node, place) : node->end;
    while (i-- > node->begin) {
        const refs_manifest_ref *ref = &snapshot->refs[i];
        if (is_sorted && ref->farthest <= place) break;
        if (!covers(ref, node->rank, wanted->index) && !snapshot->files[ref->manifest].is_doubtful)
            continue;
        refs_status status = visitor->visit(visitor->user, ref, err);
        if (status != REFS_NOT_FOUND) return status;
    }
    return REFS_NOT_FOUND;
}

refs_status refs_icechunk__snapshot_each_node(const refs_icechunk_snapshot *snapshot,
                                              const refs_icechunk_node_visitor *visitor,
                                              refs_error *err) {
    refs_flat_vector nodes;
    size_t total = 0;
    REFS_TRY(open_nodes(snapshot, &nodes, err));
    for (uint32_t i = 0; i < nodes.n; i++) {
        refs_flat_table node;
        refs_bytes metadata;
        refs_str path;
        REFS_TRY(open_node(&nodes, i, &node, &path, err));
        REFS_TRY(refs_icechunk__flat_bytes(&node, NODE_USER_DATA, &metadata, err));
        total += metadata.size;
        if (total > snapshot->buffer.size)
            return refs_fail(err, REFS_CORRUPT, "two nodes share their metadata");
        REFS_TRY(visitor->visit(visitor->user, path, metadata, err));
    }
    return REFS_OK;
}
