/* hierarchy.c -- groups and arrays from the documents of a tree, see zarr.h. */
#include "refs/store.h"
#include "zarr_internal.h"

#define NONE UINT32_MAX

struct refs_hierarchy {
    struct refs_store *store;
    refs_tree tree;
    refs_array_meta *arrays;
    size_t n_arrays;
    refs_group_meta *groups;
    size_t n_groups;
    struct place {
        uint32_t array; /* number of the array at a node, or NONE */
        uint32_t group; /* likewise */
    } * places;
    size_t fill_bytes; /* remaining bytes of REFS_MAX_FILL_BYTES */
    bool keeps_attributes;
};

void refs_hierarchy_free(refs_hierarchy *hierarchy) {
    if (hierarchy == NULL) return;
    refs_zarr__tree_clear(&hierarchy->tree);
    refs_free(hierarchy->arrays);
    refs_free(hierarchy->groups);
    refs_free(hierarchy->places);
    refs_free(hierarchy);
}

/* -- kinds of nodes ---------------------------------------------------------------------------- */

static bool exists(const refs_document *document) {
    return document->root != NULL || document->problem != NULL;
}

/* The document of the array at a node; NULL for a group. An unreadable zarr.json is treated as an
 * array's, so that its problem is shown. */
static const refs_document *array_document(const refs_node *node, bool is_root) {
    const refs_document *v2 = &node->documents[REFS_DOCUMENT_ZARRAY];
    const refs_document *v3 = &node->documents[REFS_DOCUMENT_V3];
    if (exists(v2)) return v2;
    if (v3->problem != NULL) return is_root ? NULL : v3;
    refs_str type = refs_json_text(refs_json_get(v3->root, "node_type"));
    return refs_str_is(type, "array") ? v3 : NULL;
}

/* The attributes of a node, an object; NULL, with a note, if they are invalid. */
static const refs_json *attributes_of(const refs_node *node, const char *path,
                                      const refs_notes *notes) {
    const refs_document *v2 = &node->documents[REFS_DOCUMENT_ZATTRS];
    const refs_json *v3 = refs_json_get(node->documents[REFS_DOCUMENT_V3].root, "attributes");
    if (path[0] == '\0') path = "/";
    if (v2->problem != NULL)
        refs_note(notes, REFS_NOTE_WARNING, "%s: its attributes are ignored: %s", path,
                  v2->problem);
    if (exists(v2) || v3 == NULL) return v2->root;
    if (refs_json_is_object(v3)) return v3;
    refs_note(notes, REFS_NOTE_WARNING, "%s: its attributes are ignored: expected an object", path);
    return NULL;
}

static const char *path_of(refs_hierarchy *hierarchy, uint32_t node, const char *root) {
    refs_str path = refs_intern_get(&hierarchy->tree.paths, node);
    if (node == 0) return root;
    return refs_zarr__arena_printf(&hierarchy->tree.arena, "/%s", path.data);
}

/* netCDF-4's name prefix of a variable that has the name of a dimension but is not its coordinate
 * variable (netCDF file format specifications). */
static const char hidden_prefix[] = "_nc4_non_coord_";

static const char *variable_name_in(const char *path) {
    const char *name = refs_path_leaf(path);
    size_t size = strlen(hidden_prefix);
    return strncmp(name, hidden_prefix, size) == 0 && name[size] != '\0' ? name + size : name;
}

/* A group whose documents cannot be read is still a group. */
static void note_problem(const refs_document *document, const char *path, const refs_notes *notes) {
    if (document->problem != NULL)
        refs_note(notes, REFS_NOTE_WARNING, "%s/: the metadata of the group are ignored: %s", path,
                  document->problem);
}

static refs_status add_group(refs_hierarchy *hierarchy, uint32_t id, const refs_notes *notes,
                             refs_error *err) {
    const char *path = path_of(hierarchy, id, "");
    if (path == NULL) return refs_fail_nomem(err);
    const refs_node *node = &hierarchy->tree.nodes[id];
    note_problem(&node->documents[REFS_DOCUMENT_ZGROUP], path, notes);
    note_problem(&node->documents[REFS_DOCUMENT_V3], path, notes);
    hierarchy->places[id].group = (uint32_t)hierarchy->n_groups;
    hierarchy->groups[hierarchy->n_groups++] =
        (refs_group_meta){path, refs_path_leaf(path), attributes_of(node, path, notes), false};
    return REFS_OK;
}

/* -- arrays ------------------------------------------------------------------------------------ */

static refs_status read_meta(const refs_document *document, const refs_array_source *source,
                             refs_array_meta *meta, refs_error *err) {
    if (document->problem != NULL) return refs_fail(err, document->status, "%s", document->problem);
    bool is_v3 = refs_json_get(document->root, "node_type") != NULL;
    return is_v3 ? refs_zarr__read_v3(source, meta, err) : refs_zarr__read_v2(source, meta, err);
}

/* The path of the group that contains a node; the parent node may be an array. */
static const char *group_of(const refs_hierarchy *hierarchy, const refs_node *node) {
    struct place place = hierarchy->places[node->parent];
    if (place.group != NONE) return hierarchy->groups[place.group].path;
    return hierarchy->arrays[place.array].path;
}

static refs_status add_array(refs_hierarchy *hierarchy, uint32_t id, const refs_notes *notes,
                             refs_error *err) {
    static const char *const no_dims[1] = {NULL};
    refs_error problem = REFS_ERROR_INIT;
    const refs_node *node = &hierarchy->tree.nodes[id];
    const refs_document *document = array_document(node, id == 0);
    const char *path = path_of(hierarchy, id, "/");
    if (path == NULL) return refs_fail_nomem(err);
    refs_array_meta bare = {.path = path,
                            .name = variable_name_in(path),
                            .group = group_of(hierarchy, node),
                            .dims = no_dims,
                            .attributes = attributes_of(node, path, notes)};
    refs_array_source source = {document->root, bare.attributes, &hierarchy->tree.arena,
                                &hierarchy->fill_bytes, notes};
    refs_array_meta meta = bare;
    refs_status status = read_meta(document, &source, &meta, &problem);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status != REFS_OK) {
        meta = bare;
        meta.status = status;
        meta.problem = refs_zarr__arena_printf(&hierarchy->tree.arena, "%s", problem.message);
        if (meta.problem == NULL) return refs_fail_nomem(err);
    }
    hierarchy->places[id].array = (uint32_t)hierarchy->n_arrays;
    hierarchy->arrays[hierarchy->n_arrays++] = meta;
    return REFS_OK;
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status read_nodes(refs_hierarchy *hierarchy, const refs_notes *notes, refs_error *err) {
    size_t n = hierarchy->tree.n_nodes;
    hierarchy->arrays = refs_calloc(n, sizeof *hierarchy->arrays);
    hierarchy->groups = refs_calloc(n, sizeof *hierarchy->groups);
    hierarchy->places = refs_alloc(n * sizeof *hierarchy->places);
    if (hierarchy->arrays == NULL || hierarchy->groups == NULL || hierarchy->places == NULL)
        return refs_fail_nomem(err);
    memset(hierarchy->places, 0xff, n * sizeof *hierarchy->places);
    for (uint32_t id = 0; id < n; id++) {
        bool is_array = array_document(&hierarchy->tree.nodes[id], id == 0) != NULL;
        if (id == 0 || !is_array) REFS_TRY(add_group(hierarchy, id, notes, err));
        if (is_array) REFS_TRY(add_array(hierarchy, id, notes, err));
    }
    return REFS_OK;
}

static refs_status read_hierarchy(refs_hierarchy *hierarchy, const refs_notes *notes,
                                  refs_error *err) {
    REFS_TRY(refs_zarr__tree_read(hierarchy->store, notes, &hierarchy->tree, err));
    if (!hierarchy->tree.any_document && hierarchy->tree.any_key)
        return refs_fail(err, REFS_INVALID,
                         "no Zarr metadata: expected keys that end with .zgroup, .zarray, "
                         ".zmetadata or zarr.json");
    if (!hierarchy->tree.any_document)
        refs_note(notes, REFS_NOTE_WARNING, "the set has no arrays: it has no metadata");
    hierarchy->keeps_attributes = refs_store_keeps_attributes(hierarchy->store);
    return read_nodes(hierarchy, notes, err);
}

refs_status refs_hierarchy_open(struct refs_store *store, const refs_notes *notes,
                                refs_hierarchy **hierarchy, refs_error *err) {
    refs_hierarchy *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->store = store;
    opened->fill_bytes = REFS_MAX_FILL_BYTES;
    refs_status status = read_hierarchy(opened, notes, err);
    if (status == REFS_OK)
        *hierarchy = opened;
    else
        refs_hierarchy_free(opened);
    return status;
}

/* -- looking ----------------------------------------------------------------------------------- */

bool refs_hierarchy_keeps_attributes(const refs_hierarchy *hierarchy) {
    return hierarchy->keeps_attributes;
}

size_t refs_hierarchy_n_arrays(const refs_hierarchy *hierarchy) {
    return hierarchy->n_arrays;
}

const refs_array_meta *refs_hierarchy_array(const refs_hierarchy *hierarchy, size_t i) {
    return &hierarchy->arrays[i];
}

void refs_hierarchy_describe(refs_hierarchy *hierarchy, size_t i, const refs_array_meta *meta) {
    hierarchy->arrays[i] = *meta;
}

/* Gives the groups that contain an array, except the root, the mark of that array. */
static void mark_groups_of(refs_hierarchy *hierarchy, const refs_array_meta *array) {
    for (refs_str path = refs_str_from(array->group); path.size > 0;
         path = refs_str_part(path, 0, refs_str_find_last(path, '/'))) {
        const refs_group_meta *group = refs_hierarchy_find_group(hierarchy, path);
        if (group != NULL)
            hierarchy->groups[group - hierarchy->groups].is_instruction = array->is_instruction;
    }
}

/* First marks groups of instructions, then clears groups that contain any other array. */
void refs_hierarchy_mark_groups(refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < hierarchy->n_arrays; i++)
        if (hierarchy->arrays[i].is_instruction) mark_groups_of(hierarchy, &hierarchy->arrays[i]);
    for (size_t i = 0; i < hierarchy->n_arrays; i++)
        if (!hierarchy->arrays[i].is_instruction) mark_groups_of(hierarchy, &hierarchy->arrays[i]);
}

size_t refs_hierarchy_n_groups(const refs_hierarchy *hierarchy) {
    return hierarchy->n_groups;
}

const refs_group_meta *refs_hierarchy_group(const refs_hierarchy *hierarchy, size_t i) {
    return &hierarchy->groups[i];
}

size_t refs_hierarchy_memory(const refs_hierarchy *hierarchy) {
    const refs_tree *tree = &hierarchy->tree;
    size_t of_node =
        sizeof *hierarchy->arrays + sizeof *hierarchy->groups + sizeof *hierarchy->places;
    return sizeof *hierarchy + tree->docs_memory + refs_zarr__arena_memory(&tree->arena) +
           refs_intern_memory(&tree->paths) + tree->capacity * sizeof *tree->nodes +
           tree->n_nodes * of_node;
}

struct refs_store *refs_hierarchy_store(const refs_hierarchy *hierarchy) {
    return hierarchy->store;
}

static struct place find(const refs_hierarchy *hierarchy, refs_str path) {
    static const struct place nowhere = {NONE, NONE};
    if (refs_str_starts(path, "/")) path = refs_str_part(path, 1, path.size);
    uint32_t id = refs_intern_find(&hierarchy->tree.paths, path);
    return id != REFS_INTERN_NONE ? hierarchy->places[id] : nowhere;
}

/* Finds `path` with the prefix before its last name, without allocating memory. */
static struct place find_hidden(const refs_hierarchy *hierarchy, refs_str path) {
    char hidden[REFS_MAX_PATH_BYTES + sizeof hidden_prefix];
    const size_t prefix = strlen(hidden_prefix), name = refs_path_folder(path).size;
    if (path.size == 0 || path.size > REFS_MAX_PATH_BYTES) return (struct place){NONE, NONE};
    memcpy(hidden, path.data, name);
    memcpy(hidden + name, hidden_prefix, prefix);
    memcpy(hidden + name + prefix, path.data + name, path.size - name);
    return find(hierarchy, refs_str_view(hidden, path.size + prefix));
}

const refs_array_meta *refs_hierarchy_find_array(const refs_hierarchy *hierarchy, refs_str path) {
    struct place place = find(hierarchy, path);
    if (place.array == NONE && place.group == NONE) place = find_hidden(hierarchy, path);
    return place.array != NONE ? &hierarchy->arrays[place.array] : NULL;
}

const refs_group_meta *refs_hierarchy_find_group(const refs_hierarchy *hierarchy, refs_str path) {
    struct place place = find(hierarchy, path);
    return place.group != NONE ? &hierarchy->groups[place.group] : NULL;
}
