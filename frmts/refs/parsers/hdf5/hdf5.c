/* hdf5.c -- HDF5 and netCDF-4 files, see format.h. */
#include "hdf5/hdf5.h"
#include "hdf5/index.h"
#include "hdf5/superblock.h"

static bool sniff(refs_bytes head) {
    size_t at;
    return refs_hdf5__find_signature(head, &at);
}

static refs_status look(refs_source *source, bool *is_it, refs_error *err) {
    uint64_t at;
    REFS_TRY(refs_hdf5__find_superblock(source, &at, err));
    *is_it = at != REFS_HDF5_UNDEFINED;
    return REFS_OK;
}

static void close_hdf5(void *self) {
    REFS_SCOPED refs_hdf5_scan *scan = self;
    refs_hdf5__tree_clear(&scan->tree);
    refs_hdf5__file_clear(&scan->file);
    refs_free(scan->arrays);
}

/* -- documents --------------------------------------------------------------------------------- */

static refs_status list_array(refs_hdf5_scan *scan, refs_scan *other, size_t number,
                              refs_error *err) {
    REFS_GROW(scan->arrays, scan->capacity, scan->n_arrays, err);
    scan->arrays[scan->n_arrays++] = (refs_hdf5_listed){other, number};
    return REFS_OK;
}

/* Finds dimensions by name from a group. */
typedef struct named_dimension {
    const refs_hdf5_tree *tree;
    size_t group;
} named_dimension;

/* The size of the dimension scale called `name` in the group or in those above it. */
static uint64_t size_of(const void *user, refs_str name) {
    const named_dimension *from = user;
    for (size_t group = from->group;; group = from->tree->items[group].parent) {
        for (size_t i = 0; i < from->tree->n; i++) {
            const refs_hdf5_item *item = &from->tree->items[i];
            uint64_t shape[REFS_SCAN_MAX_RANK], chunks[REFS_SCAN_MAX_RANK];
            if (item->kind != REFS_HDF5_ITEM_DATASET || item->parent != group ||
                !item->scales.is_scale || !refs_str_is(name, item->name) ||
                refs_hdf5__array_rank(item->dataset) == 0)
                continue;
            refs_hdf5__array_shape(item->dataset, shape, chunks);
            return shape[0];
        }
        if (group == 0) return 0;
    }
}

static refs_status put_array(refs_hdf5_scan *scan, refs_documents *documents, size_t number,
                             refs_error *err) {
    refs_hdf5_item *item = &scan->tree.items[number];
    uint64_t shape[REFS_SCAN_MAX_RANK], chunks[REFS_SCAN_MAX_RANK];
    refs_scan_array array = {.path = item->path, .shape = shape, .chunks = chunks};
    size_t i;
    REFS_TRY(list_array(scan, NULL, number, err));
    array.rank = refs_hdf5__array_rank(item->dataset);
    refs_hdf5__array_shape(item->dataset, shape, chunks);
    array.dtype = refs_hdf5__dtype(refs_hdf5__element_type(item->dataset));
    array.dimensions = item->dimensions;
    array.filters = refs_hdf5__filters(item->dataset);
    array.fill_value = refs_hdf5__fill_value(item->dataset);
    array.is_unfilled = refs_hdf5__is_unfilled(item->dataset);
    const named_dimension from = {&scan->tree, item->parent};
    if (array.rank == 0) REFS_TRY(refs_documents_tell_sizes(item->attributes, size_of, &from, err));
    array.attributes = item->attributes;
    item->attributes = NULL;
    return refs_documents_add_array(documents, &array, &i, err);
}

/* -- links to other files ---------------------------------------------------------------------- */

static refs_status visit_linked(void *user, size_t number, refs_error *err) {
    refs_hdf5_scan *scan = user;
    return list_array(scan, scan->linked, number, err);
}

/* Finds the file of a link. A link into this file is a soft link that begins at the root. */
static refs_status find_file(refs_hdf5_scan *scan, refs_hdf5_item *item, refs_error *err) {
    const refs_file_name name = {scan->number, refs_str_view(item->target, item->file_size),
                                 "HDF5_EXT_PREFIX", scan->file.options};
    refs_status status = refs_scan_files_find(scan->files, &name, &item->file, err);
    if (status == REFS_NOT_FOUND) {
        refs_error_clear(err);
        return refs_fail(err, REFS_NOT_FOUND, "no such file");
    }
    if (status != REFS_OK || item->file != scan->number) return status;
    char *path = item->target + item->file_size; /* after the colon */
    path[0] = '/';
    memmove(item->target, path, strlen(path) + 1);
    item->file_size = 0;
    item->kind = REFS_HDF5_ITEM_SOFT;
    return REFS_OK;
}

/* Records a dangling link as an item that cannot be read. */
static refs_status leave_link_out(refs_hdf5_scan *scan, refs_hdf5_item *item, refs_error *why,
                                  refs_error *err) {
    if (why->status == REFS_NOMEM || why->status == REFS_CANCELLED)
        return refs_fail(err, why->status, "%s", why->message);
    if (why->status == REFS_NOT_FOUND) why->status = REFS_UNSUPPORTED;
    refs_error_prefix(why, "external link to %s", item->target);
    return refs_hdf5__keep_problem(&scan->file, item, why, err);
}

static refs_status find_files(refs_hdf5_scan *scan, refs_error *err) {
    for (size_t i = 0; i < scan->tree.n; i++) {
        refs_hdf5_item *item = &scan->tree.items[i];
        refs_error why = REFS_ERROR_INIT;
        if (item->kind == REFS_HDF5_ITEM_EXTERNAL && find_file(scan, item, &why) != REFS_OK)
            REFS_TRY(leave_link_out(scan, item, &why, err));
    }
    return REFS_OK;
}

refs_status refs_hdf5__clean_path(refs_str path, refs_buf *clean, refs_error *err) {
    for (size_t i = 0; i < path.size; i++) {
        bool is_needless =
            path.data[i] == '/' && (clean->size == 0 || clean->data[clean->size - 1] == '/');
        if (!is_needless) REFS_TRY(refs_buf_append(clean, path.data + i, 1, err));
    }
    if (clean->size > 0 && clean->data[clean->size - 1] == '/') clean->size--;
    return refs_buf_append(clean, "", 1, err);
}

static refs_status put_linked(refs_hdf5_scan *scan, refs_documents *documents, refs_hdf5_item *item,
                              refs_error *err) {
    refs_error why = REFS_ERROR_INIT;
    refs_buf path = REFS_BUF_INIT;
    refs_status status =
        refs_scan_files_scan(scan->files, item->file, scan->file.options, &scan->linked, &why);
    if (status == REFS_OK) {
        status =
            refs_hdf5__clean_path(refs_str_from(item->target + item->file_size + 1), &path, err);
        refs_documents_graft graft = {NULL, (const char *)path.data, item->path};
        if (status == REFS_OK) graft.from = refs_scan__documents(scan->linked);
        if (status == REFS_OK && !refs_documents_have(graft.from, graft.path))
            (void)refs_fail(&why, REFS_NOT_FOUND, "no group or dataset has that name");
        else if (status == REFS_OK)
            status = refs_documents_add_graft(documents, &graft, visit_linked, scan, err);
        refs_buf_clear(&path);
        REFS_TRY(status);
    }
    if (why.status == REFS_OK) return REFS_OK;
    REFS_TRY(leave_link_out(scan, item, &why, err));
    return refs_documents_add_problem(documents, item->path, item->problem, err);
}

static refs_status put_documents(refs_hdf5_scan *scan, refs_documents *documents, refs_error *err) {
    for (size_t i = 0; i < scan->tree.n; i++) {
        refs_hdf5_item *item = &scan->tree.items[i];
        refs_status status = REFS_OK;
        if (item->kind == REFS_HDF5_ITEM_GROUP) {
            json_t *attributes = item->attributes;
            item->attributes = NULL;
            status = refs_documents_add_group(documents, item->path, attributes, err);
        } else if (item->kind == REFS_HDF5_ITEM_DATASET && !item->scales.is_only_dimension) {
            status = put_array(scan, documents, i, err);
        } else if (item->kind == REFS_HDF5_ITEM_EXTERNAL) {
            status = put_linked(scan, documents, item, err);
        } else if (item->kind == REFS_HDF5_ITEM_PROBLEM) {
            status = refs_documents_add_problem(documents, item->path, item->problem, err);
        }
        REFS_TRY(status);
    }
    return REFS_OK;
}

static refs_status describe_virtual(refs_hdf5_scan *scan, refs_error *err) {
    for (size_t i = 0; i < scan->tree.n; i++) {
        const refs_hdf5_item *item = &scan->tree.items[i];
        refs_error why = REFS_ERROR_INIT;
        if (item->kind != REFS_HDF5_ITEM_DATASET ||
            item->dataset->layout.class != REFS_HDF5_VIRTUAL)
            continue;
        refs_status status = refs_hdf5__describe_parts(scan, item->dataset, &why);
        if (status == REFS_NOMEM || status == REFS_CANCELLED)
            return refs_fail(err, status, "%s", why.message);
        if (status != REFS_OK)
            refs_hdf5__note(&scan->file, "/%s is a virtual dataset that cannot be read: %s",
                            item->path, why.message);
    }
    return REFS_OK;
}

static refs_status list(refs_hdf5_scan *scan, refs_documents *documents, refs_error *err) {
    uint64_t root;
    REFS_TRY(refs_source_size(scan->file.source, &scan->file.size, err));
    refs_hdf5__begin_task(&scan->file);
    REFS_TRY(refs_hdf5__read_superblock(&scan->file, &root, err));
    REFS_TRY(refs_hdf5__read_tree(&scan->file, root, &scan->tree, err));
    REFS_TRY(find_files(scan, err));
    REFS_TRY(refs_hdf5__follow_soft_links(&scan->file, &scan->tree, err));
    REFS_TRY(describe_virtual(scan, err));
    REFS_TRY(refs_hdf5__name_dimensions(&scan->tree, err));
    return put_documents(scan, documents, err);
}

static refs_status open_hdf5(const refs_scan_job *job, void **self, refs_error *err) {
    refs_hdf5_scan *scan = refs_calloc(1, sizeof *scan);
    if (scan == NULL) return refs_fail_nomem(err);
    scan->file.source = job->source;
    scan->file.options = job->options;
    scan->files = job->files;
    scan->number = job->file;
    refs_status status = list(scan, job->documents, err);
    if (status == REFS_OK)
        *self = scan;
    else
        close_hdf5(scan);
    return status;
}

/* -- chunks ------------------------------------------------------------------------------------ */

/* Dimensions of an array type are never divided. */
static void add_inner_dimensions(refs_chunk_index *index, size_t rank) {
    while (index->rank < rank) index->n[index->rank++] = 1;
}

static refs_status index_virtual(refs_hdf5_scan *scan, const refs_hdf5_dataset *dataset,
                                 refs_chunk_index *index, refs_error *err) {
    refs_hdf5__begin_task(&scan->file);
    refs_status status = refs_hdf5__index_parts(scan, dataset, index, err);
    if (status != REFS_OK) refs_error_prefix(err, "virtual dataset");
    return status;
}

static refs_status index_hdf5(void *self, size_t number, refs_chunk_index *index, refs_error *err) {
    refs_hdf5_scan *scan = self;
    const refs_hdf5_listed *listed = &scan->arrays[number];
    if (listed->other != NULL) return refs_scan__index(listed->other, listed->number, index, err);
    const refs_hdf5_item *item = &scan->tree.items[listed->number];
    const refs_hdf5_dataset *dataset = item->dataset;
    refs_status status = REFS_OK;
    if (dataset->has_external_files)
        status = refs_hdf5__index_external(scan, dataset, index, err);
    else if (dataset->layout.class == REFS_HDF5_VIRTUAL)
        status = index_virtual(scan, dataset, index, err);
    else
        status = refs_hdf5__read_index(&scan->file, &dataset->layout, index, err);
    if (status != REFS_OK) refs_error_prefix(err, "/%s", item->path);
    add_inner_dimensions(index, refs_hdf5__array_rank(dataset));
    return status;
}

const refs_scan_format refs_scan__hdf5 = {"HDF5", sniff, look, open_hdf5, index_hdf5, close_hdf5};
