/* snapshot_writer.c -- snapshots and transaction logs as flatbuffers, see written_nodes.h. */
#include <stdlib.h>

#include "icechunk/object_file.h"
#include "icechunk/schema.h"
#include "icechunk/written_nodes.h"
#include "refs/json.h"

#define EXTENT_SIZE 8

/* -- order ------------------------------------------------------------------------------------- */

/* An item with the bytes that sort it: nodes by path or id, files by id. */
typedef struct sorted {
    refs_str key;
    const void *item;
} sorted;

static int by_key(const void *one, const void *other) {
    return refs_str_compare(((const sorted *)one)->key, ((const sorted *)other)->key);
}

/* An empty list is zeroed. */
typedef struct sorted_list {
    sorted *items;
    size_t n, capacity;
} sorted_list;

static void clear_list(sorted_list *list) {
    refs_free(list->items);
}

static refs_status add_sorted(sorted_list *list, refs_str key, const void *item, refs_error *err) {
    REFS_GROW(list->items, list->capacity, list->n, err);
    list->items[list->n++] = (sorted){key, item};
    return REFS_OK;
}

static void sort(sorted_list *list) {
    if (list->n > 1) qsort(list->items, list->n, sizeof *list->items, by_key);
}

static refs_str id_key(const uint8_t *id, size_t size) {
    return refs_str_view((const char *)id, size);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static refs_status put_shape(refs_flat_writer *flat, const refs_written_node *node, size_t array,
                             refs_error *err) {
    size_t shape, dimension;
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, node->rank, &shape, err));
    refs_icechunk__flat_link(flat, array, ARRAY_SHAPE_V2, shape);
    for (size_t dim = 0; dim < node->rank; dim++) {
        refs_flat_draft draft = {{0}, {0}, {{0}}};
        refs_icechunk__draft_number(&draft, DIMENSION_LENGTH, 8, node->shape[dim]);
        refs_icechunk__draft_number(&draft, DIMENSION_N_CHUNKS, 4, node->n_chunks[dim]);
        REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &dimension, err));
        refs_icechunk__flat_link_element(flat, shape, dim, dimension);
    }
    return REFS_OK;
}

static refs_status put_names(refs_flat_writer *flat, const refs_json *names, size_t array,
                             refs_error *err) {
    size_t vector, name;
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, refs_json_size(names), &vector, err));
    refs_icechunk__flat_link(flat, array, ARRAY_NAMES, vector);
    for (size_t dim = 0; dim < refs_json_size(names); dim++) {
        const refs_json *text = refs_json_at(names, dim);
        refs_flat_draft draft = {{0}, {0}, {{0}}};
        if (refs_json_is_string(text)) refs_icechunk__draft_offset(&draft, DIMENSION_NAME);
        REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &name, err));
        refs_icechunk__flat_link_element(flat, vector, dim, name);
        if (refs_json_is_string(text))
            REFS_TRY(refs_icechunk__flat_put_string(flat, name, DIMENSION_NAME,
                                                    refs_json_text(text), err));
    }
    return REFS_OK;
}

static refs_status put_manifest(refs_flat_writer *flat, const refs_written_file *file, size_t rank,
                                size_t *at, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    uint8_t bytes[EXTENT_SIZE * REFS_ICECHUNK_MAX_RANK];
    size_t extents;
    refs_icechunk__draft_struct(&draft, MANIFEST_REF_ID, file->id, REFS_OBJECT_ID_SIZE);
    refs_icechunk__draft_offset(&draft, MANIFEST_REF_EXTENTS);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, at, err));
    for (size_t i = 0; i < 2 * rank; i++) refs_store_le(bytes + 4 * i, 4, file->extents[i]);
    const refs_flat_elements elements = {bytes, file->is_everything ? 0 : rank, EXTENT_SIZE, 4};
    REFS_TRY(refs_icechunk__flat_add_vector(flat, &elements, &extents, err));
    refs_icechunk__flat_link(flat, *at, MANIFEST_REF_EXTENTS, extents);
    return REFS_OK;
}

static refs_status put_manifests(refs_flat_writer *flat, const refs_written_node *node,
                                 size_t array, refs_error *err) {
    size_t vector, manifest;
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, node->n_files, &vector, err));
    refs_icechunk__flat_link(flat, array, ARRAY_MANIFESTS, vector);
    for (size_t i = 0; i < node->n_files; i++) {
        REFS_TRY(put_manifest(flat, &node->files[i], node->rank, &manifest, err));
        refs_icechunk__flat_link_element(flat, vector, i, manifest);
    }
    return REFS_OK;
}

static refs_status put_array(refs_flat_writer *flat, const refs_written_node *node,
                             const refs_json *names, size_t *at, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t none;
    refs_icechunk__draft_offset(&draft, ARRAY_SHAPE);
    refs_icechunk__draft_offset(&draft, ARRAY_MANIFESTS);
    refs_icechunk__draft_offset(&draft, ARRAY_SHAPE_V2);
    if (refs_json_is_array(names)) refs_icechunk__draft_offset(&draft, ARRAY_NAMES);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, at, err));
    const refs_flat_elements old_shape = {NULL, 0, 16, 8}; /* format 1 has it */
    REFS_TRY(refs_icechunk__flat_add_vector(flat, &old_shape, &none, err));
    refs_icechunk__flat_link(flat, *at, ARRAY_SHAPE, none);
    REFS_TRY(put_shape(flat, node, *at, err));
    if (refs_json_is_array(names)) REFS_TRY(put_names(flat, names, *at, err));
    return put_manifests(flat, node, *at, err);
}

/* -- nodes ------------------------------------------------------------------------------------- */

static refs_status put_data(refs_flat_writer *flat, const refs_written_node *node, size_t table,
                            refs_error *err) {
    const refs_flat_draft group = {{0}, {0}, {{0}}};
    REFS_SCOPED_JSON *doc = NULL;
    size_t at = 0;
    if (!node->is_array) {
        REFS_TRY(refs_icechunk__flat_add_table(flat, &group, &at, err));
        refs_icechunk__flat_link(flat, table, NODE_DATA, at);
        return REFS_OK;
    }
    REFS_TRY(refs_json_parse(refs_buf_text(&node->metadata), &doc, err));
    REFS_TRY(
        put_array(flat, node, refs_json_get(refs_json_root(doc), "dimension_names"), &at, err));
    refs_icechunk__flat_link(flat, table, NODE_DATA, at);
    return REFS_OK;
}

static refs_status put_node(refs_flat_writer *flat, const sorted *of, size_t *at, refs_error *err) {
    const refs_written_node *node = of->item;
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    refs_icechunk__draft_struct(&draft, NODE_ID, node->id, REFS_NODE_ID_SIZE);
    refs_icechunk__draft_offset(&draft, NODE_PATH);
    refs_icechunk__draft_offset(&draft, NODE_USER_DATA);
    refs_icechunk__draft_number(&draft, NODE_DATA_TYPE, 1,
                                node->is_array ? NODE_IS_ARRAY : NODE_IS_GROUP);
    refs_icechunk__draft_offset(&draft, NODE_DATA);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, at, err));
    REFS_TRY(refs_icechunk__flat_put_string(flat, *at, NODE_PATH, of->key, err));
    REFS_TRY(refs_icechunk__flat_put_bytes(flat, *at, NODE_USER_DATA,
                                           refs_buf_view(&node->metadata), err));
    return put_data(flat, node, *at, err);
}

static refs_status put_nodes(refs_flat_writer *flat, const refs_written_nodes *nodes, size_t root,
                             refs_error *err) {
    REFS_SCOPED_BY(clear_list) sorted_list list = {NULL, 0, 0};
    size_t vector, node;
    for (uint32_t i = 0; i < nodes->paths.count; i++)
        if (!nodes->items[i].is_removed)
            REFS_TRY(add_sorted(&list, refs_intern_get(&nodes->paths, i), &nodes->items[i], err));
    sort(&list);
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, list.n, &vector, err));
    refs_icechunk__flat_link(flat, root, SNAPSHOT_NODES, vector);
    for (size_t i = 0; i < list.n; i++) {
        REFS_TRY(put_node(flat, &list.items[i], &node, err));
        refs_icechunk__flat_link_element(flat, vector, i, node);
    }
    return REFS_OK;
}

/* -- files of manifests ------------------------------------------------------------------------ */

static refs_status put_file(refs_flat_writer *flat, const refs_written_file *file, size_t *at,
                            refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    refs_icechunk__draft_struct(&draft, FILE_ID, file->id, REFS_OBJECT_ID_SIZE);
    refs_icechunk__draft_number(&draft, FILE_SIZE, 8, file->size);
    refs_icechunk__draft_number(&draft, FILE_N_REFS, 4, file->n_refs);
    return refs_icechunk__flat_add_table(flat, &draft, at, err);
}

static refs_status list_files(const refs_written_nodes *nodes, sorted_list *list, refs_error *err) {
    for (uint32_t i = 0; i < nodes->paths.count; i++) {
        const refs_written_node *node = &nodes->items[i];
        for (size_t k = 0; k < node->n_files && !node->is_removed; k++)
            REFS_TRY(add_sorted(list, id_key(node->files[k].id, REFS_OBJECT_ID_SIZE),
                                &node->files[k], err));
    }
    sort(list);
    return REFS_OK;
}

/* Lists a manifest of several arrays, which Icechunk may have written, once. */
static void drop_repeated(sorted_list *list) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (n == 0 || !refs_str_equal(list->items[n - 1].key, list->items[i].key))
            list->items[n++] = list->items[i];
    list->n = n;
}

static refs_status put_files(refs_flat_writer *flat, const refs_written_nodes *nodes, size_t root,
                             refs_error *err) {
    REFS_SCOPED_BY(clear_list) sorted_list list = {NULL, 0, 0};
    size_t vector, file;
    REFS_TRY(list_files(nodes, &list, err));
    drop_repeated(&list);
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, list.n, &vector, err));
    refs_icechunk__flat_link(flat, root, SNAPSHOT_FILES_V2, vector);
    for (size_t i = 0; i < list.n; i++) {
        REFS_TRY(put_file(flat, list.items[i].item, &file, err));
        refs_icechunk__flat_link_element(flat, vector, i, file);
    }
    return REFS_OK;
}

/* -- the snapshot ------------------------------------------------------------------------------ */

/* {"is_root": true} as a flexbuffer: Icechunk's metadata of the first snapshot. */
static const uint8_t is_root[] = {0x69, 0x73, 0x5f, 0x72, 0x6f, 0x6f, 0x74, 0x00, 0x01,
                                  0x09, 0x01, 0x01, 0x01, 0x01, 0x68, 0x02, 0x24, 0x01};

refs_status refs_icechunk__put_properties(refs_flat_writer *flat, bool is_first, size_t *at,
                                          refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t item;
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, is_first ? 1 : 0, at, err));
    if (!is_first) return REFS_OK;
    refs_icechunk__draft_offset(&draft, ITEM_NAME);
    refs_icechunk__draft_offset(&draft, ITEM_VALUE);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &item, err));
    refs_icechunk__flat_link_element(flat, *at, 0, item);
    REFS_TRY(
        refs_icechunk__flat_put_string(flat, item, ITEM_NAME, refs_str_from("__icechunk"), err));
    return refs_icechunk__flat_put_bytes(flat, item, ITEM_VALUE,
                                         refs_bytes_view(is_root, sizeof is_root), err);
}

static refs_status begin_snapshot(refs_flat_writer *flat, const refs_written_snapshot *snapshot,
                                  size_t *root, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    REFS_TRY(refs_icechunk__flat_begin(flat, err));
    refs_icechunk__draft_struct(&draft, SNAPSHOT_ID, snapshot->id.bytes, REFS_OBJECT_ID_SIZE);
    refs_icechunk__draft_number(&draft, SNAPSHOT_WRITTEN, 8, (uint64_t)snapshot->written_us);
    refs_icechunk__draft_offset(&draft, SNAPSHOT_NODES);
    refs_icechunk__draft_offset(&draft, SNAPSHOT_MESSAGE);
    refs_icechunk__draft_offset(&draft, SNAPSHOT_METADATA);
    refs_icechunk__draft_offset(&draft, SNAPSHOT_FILES);
    refs_icechunk__draft_offset(&draft, SNAPSHOT_FILES_V2);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, root, err));
    refs_icechunk__flat_set_root(flat, *root);
    return refs_icechunk__flat_put_string(flat, *root, SNAPSHOT_MESSAGE, snapshot->message, err);
}

/* The first snapshot has the same id in all repositories; other ids are hashes of the content and
 * the parent's id. */
static void name_snapshot(refs_flat_writer *flat, refs_written_snapshot *snapshot, size_t root) {
    if (!snapshot->has_parent) return;
    refs_icechunk__flat_set_struct(flat, root, SNAPSHOT_ID, snapshot->parent.bytes,
                                   REFS_OBJECT_ID_SIZE);
    refs_icechunk__id_of(refs_buf_view(&flat->bytes), snapshot->id.bytes, REFS_OBJECT_ID_SIZE);
    refs_icechunk__flat_set_struct(flat, root, SNAPSHOT_ID, snapshot->id.bytes,
                                   REFS_OBJECT_ID_SIZE);
}

refs_status refs_icechunk__nodes_build(const refs_written_nodes *nodes,
                                       refs_written_snapshot *snapshot, refs_flat_writer *flat,
                                       refs_error *err) {
    const refs_flat_elements old_files = {NULL, 0, 32, 8}; /* format 1 has them */
    size_t root, at;
    REFS_TRY(begin_snapshot(flat, snapshot, &root, err));
    REFS_TRY(refs_icechunk__put_properties(flat, !snapshot->has_parent, &at, err));
    refs_icechunk__flat_link(flat, root, SNAPSHOT_METADATA, at);
    REFS_TRY(refs_icechunk__flat_add_vector(flat, &old_files, &at, err));
    refs_icechunk__flat_link(flat, root, SNAPSHOT_FILES, at);
    REFS_TRY(put_nodes(flat, nodes, root, err));
    REFS_TRY(put_files(flat, nodes, root, err));
    name_snapshot(flat, snapshot, root);
    return REFS_OK;
}

/* -- the transaction log ----------------------------------------------------------------------- */

static refs_status put_ids(refs_flat_writer *flat, size_t root, unsigned field, sorted_list *list,
                           refs_error *err) {
    REFS_SCOPED_BUF ids = REFS_BUF_INIT;
    size_t at;
    sort(list);
    for (size_t i = 0; i < list->n; i++)
        REFS_TRY(refs_buf_append_str(&ids, list->items[i].key, err));
    const refs_flat_elements elements = {ids.data, list->n, REFS_NODE_ID_SIZE, 1};
    REFS_TRY(refs_icechunk__flat_add_vector(flat, &elements, &at, err));
    refs_icechunk__flat_link(flat, root, field, at);
    list->n = 0;
    return REFS_OK;
}

/* Lists the nodes with such a change. */
static refs_status list_changed(const refs_written_nodes *nodes, refs_written_change change,
                                bool is_array, sorted_list *list, refs_error *err) {
    for (uint32_t i = 0; i < nodes->paths.count; i++) {
        const refs_written_node *node = &nodes->items[i];
        if (node->change == change && node->is_array == is_array && !node->is_removed)
            REFS_TRY(add_sorted(list, id_key(node->id, REFS_NODE_ID_SIZE), node, err));
    }
    return REFS_OK;
}

static refs_status list_deleted(const refs_written_nodes *nodes, const refs_written_nodes *parent,
                                bool is_array, sorted_list *list, refs_error *err) {
    for (uint32_t i = 0; i < parent->paths.count; i++) {
        const refs_written_node *before = &parent->items[i];
        const refs_written_node *now =
            refs_icechunk__find_node(nodes, refs_intern_get(&parent->paths, i));
        const bool is_there = now != NULL && memcmp(now->id, before->id, REFS_NODE_ID_SIZE) == 0;
        if (!is_there && before->is_array == is_array)
            REFS_TRY(add_sorted(list, id_key(before->id, REFS_NODE_ID_SIZE), before, err));
    }
    return REFS_OK;
}

static refs_status put_lists(const refs_written_nodes *nodes, const refs_written_nodes *parent,
                             refs_flat_writer *flat, size_t root, refs_error *err) {
    static const struct {
        unsigned field;
        refs_written_change change;
        bool is_array;
    } lists[] = {{LOG_NEW_GROUPS, REFS_NODE_IS_NEW, false},
                 {LOG_NEW_ARRAYS, REFS_NODE_IS_NEW, true},
                 {LOG_UPDATED_GROUPS, REFS_NODE_HAS_CHANGED, false},
                 {LOG_UPDATED_ARRAYS, REFS_NODE_HAS_CHANGED, true}};
    REFS_SCOPED_BY(clear_list) sorted_list list = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        REFS_TRY(list_changed(nodes, lists[i].change, lists[i].is_array, &list, err));
        REFS_TRY(put_ids(flat, root, lists[i].field, &list, err));
    }
    for (unsigned i = 0; i < 2; i++) {
        REFS_TRY(list_deleted(nodes, parent, i == 1, &list, err));
        REFS_TRY(put_ids(flat, root, i == 1 ? LOG_DELETED_ARRAYS : LOG_DELETED_GROUPS, &list, err));
    }
    return REFS_OK;
}

static refs_status put_coordinates(refs_flat_writer *flat, const refs_written_node *node,
                                   size_t table, refs_error *err) {
    const size_t size = 4 * node->rank, n = size > 0 ? node->coordinates.size / size : 1;
    size_t vector, chunk, at;
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, n, &vector, err));
    refs_icechunk__flat_link(flat, table, UPDATED_CHUNKS, vector);
    for (size_t i = 0; i < n; i++) {
        refs_flat_draft draft = {{0}, {0}, {{0}}};
        refs_icechunk__draft_offset(&draft, UPDATED_COORDINATES);
        REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &chunk, err));
        refs_icechunk__flat_link_element(flat, vector, i, chunk);
        const refs_flat_elements elements = {size > 0 ? node->coordinates.data + i * size : NULL,
                                             node->rank, 4, 4};
        REFS_TRY(refs_icechunk__flat_add_vector(flat, &elements, &at, err));
        refs_icechunk__flat_link(flat, chunk, UPDATED_COORDINATES, at);
    }
    return REFS_OK;
}

static refs_status list_updated(const refs_written_nodes *nodes, sorted_list *list,
                                refs_error *err) {
    for (uint32_t i = 0; i < nodes->paths.count; i++) {
        const refs_written_node *node = &nodes->items[i];
        if (node->coordinates.size > 0 && node->change != REFS_NODE_IS_NEW && !node->is_removed)
            REFS_TRY(add_sorted(list, id_key(node->id, REFS_NODE_ID_SIZE), node, err));
    }
    sort(list);
    return REFS_OK;
}

static refs_status put_updated(const refs_written_nodes *nodes, refs_flat_writer *flat, size_t root,
                               refs_error *err) {
    REFS_SCOPED_BY(clear_list) sorted_list list = {NULL, 0, 0};
    size_t vector, table;
    REFS_TRY(list_updated(nodes, &list, err));
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, list.n, &vector, err));
    refs_icechunk__flat_link(flat, root, LOG_UPDATED_CHUNKS, vector);
    for (size_t i = 0; i < list.n; i++) {
        refs_flat_draft draft = {{0}, {0}, {{0}}};
        refs_icechunk__draft_struct(&draft, UPDATED_NODE, list.items[i].key.data,
                                    REFS_NODE_ID_SIZE);
        refs_icechunk__draft_offset(&draft, UPDATED_CHUNKS);
        REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &table, err));
        refs_icechunk__flat_link_element(flat, vector, i, table);
        REFS_TRY(put_coordinates(flat, list.items[i].item, table, err));
    }
    return REFS_OK;
}

refs_status refs_icechunk__nodes_build_log(const refs_written_nodes *nodes,
                                           const refs_written_nodes *parent,
                                           const refs_written_snapshot *snapshot,
                                           refs_flat_writer *flat, refs_error *err) {
    refs_flat_draft draft = {{0}, {0}, {{0}}};
    size_t root, moved;
    REFS_TRY(refs_icechunk__flat_begin(flat, err));
    refs_icechunk__draft_struct(&draft, LOG_ID, snapshot->id.bytes, REFS_OBJECT_ID_SIZE);
    for (unsigned field = LOG_NEW_GROUPS; field <= LOG_MOVED; field++)
        refs_icechunk__draft_offset(&draft, field);
    REFS_TRY(refs_icechunk__flat_add_table(flat, &draft, &root, err));
    refs_icechunk__flat_set_root(flat, root);
    REFS_TRY(put_lists(nodes, parent, flat, root, err));
    REFS_TRY(put_updated(nodes, flat, root, err));
    REFS_TRY(refs_icechunk__flat_add_offsets(flat, 0, &moved, err));
    refs_icechunk__flat_link(flat, root, LOG_MOVED, moved);
    return REFS_OK;
}
