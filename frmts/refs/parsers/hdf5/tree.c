/* tree.c -- see hdf5/tree.h. */
#include "hdf5/tree.h"

#include <stdlib.h>

#include "refs/intern.h"

/* Objects whose headers are requested together. */
#define BATCH 1024

static void clear_item(refs_hdf5_item *item) {
    refs_free(item->path);
    refs_free(item->target);
    refs_free(item->problem);
    json_decref(item->attributes);
    if (item->dataset != NULL) refs_hdf5__dataset_clear(item->dataset);
    refs_free(item->dataset);
}

void refs_hdf5__tree_clear(refs_hdf5_tree *tree) {
    for (size_t i = 0; i < tree->n; i++) clear_item(&tree->items[i]);
    for (size_t i = 0; i < tree->n_names; i++) refs_free(tree->names[i]);
    refs_free(tree->names);
    refs_free(tree->items);
    memset(tree, 0, sizeof *tree);
}

/* A walk over a file. */
typedef struct walk {
    refs_hdf5_file *file;
    refs_hdf5_tree *tree;
    size_t begin, end; /* items of a batch */
    bool *is_there;    /* for each of them: it could be read completely */
} walk;

/* -- items ------------------------------------------------------------------------------------- */

static refs_status add_item(walk *w, size_t parent, const refs_hdf5_link *link, refs_error *err) {
    refs_hdf5_tree *tree = w->tree;
    const refs_scan_limits *limits = &w->file->options->limits;
    const char *above = tree->n > 0 ? tree->items[parent].path : "";
    refs_buf path = REFS_BUF_INIT;
    if (tree->n >= limits->max_arrays || tree->path_bytes > limits->max_document_bytes)
        return refs_fail(err, REFS_LIMIT,
                         "the file has more than %llu objects, or their names are too long",
                         (unsigned long long)limits->max_arrays);
    REFS_TRY(refs_buf_append_str(&path, refs_str_from(above), err));
    refs_status status = *above != '\0' ? refs_buf_append(&path, "/", 1, err) : REFS_OK;
    if (status == REFS_OK) status = refs_buf_append_str(&path, refs_str_from(link->name), err);
    if (status == REFS_OK &&
        !refs_grow((void **)&tree->items, &tree->capacity, tree->n, sizeof *tree->items))
        status = refs_fail_nomem(err);
    refs_hdf5_item item = {
        .parent = parent, .address = link->address, .file_size = link->file_size, .scales.id = -1};
    if (status == REFS_OK) {
        tree->path_bytes += path.size;
        item.path = refs_buf_take_text(&path);
        bool has_target = link->kind != REFS_HDF5_HARD;
        item.target = has_target ? refs_str_copy(refs_str_from(link->target)) : NULL;
        if (item.path == NULL || (has_target && item.target == NULL)) {
            refs_free(item.path);
            refs_free(item.target);
            status = refs_fail_nomem(err);
        }
    }
    refs_buf_clear(&path);
    if (status != REFS_OK) return status;
    item.name = refs_path_leaf(item.path);
    if (link->kind == REFS_HDF5_SOFT) item.kind = REFS_HDF5_ITEM_SOFT;
    if (link->kind == REFS_HDF5_EXTERNAL_LINK) item.kind = REFS_HDF5_ITEM_EXTERNAL;
    tree->items[tree->n++] = item;
    return REFS_OK;
}

refs_status refs_hdf5__keep_problem(refs_hdf5_file *file, refs_hdf5_item *item,
                                    const refs_error *why, refs_error *err) {
    if (file->is_collecting) return REFS_OK; /* the item is read again */
    item->kind = REFS_HDF5_ITEM_PROBLEM;
    item->problem = refs_alloc(sizeof *item->problem);
    if (item->problem == NULL) return refs_fail_nomem(err);
    *item->problem = *why;
    refs_hdf5__note(file, "/%s is left out: %s", item->path, why->message);
    return REFS_OK;
}

static refs_status add_other_link(walk *w, size_t parent, const refs_hdf5_link *link,
                                  refs_error *err) {
    const refs_hdf5_link member = {.name = link->name, .address = REFS_HDF5_UNDEFINED};
    refs_error why = REFS_ERROR_INIT;
    REFS_TRY(add_item(w, parent, &member, err));
    (void)refs_fail(&why, REFS_UNSUPPORTED, "user-defined links are not supported");
    return refs_hdf5__keep_problem(w->file, &w->tree->items[w->tree->n - 1], &why, err);
}

static bool is_good_name(const char *name) {
    return *name != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static refs_status add_links(walk *w, size_t parent, const refs_hdf5_links *links,
                             refs_error *err) {
    for (size_t i = 0; i < links->n; i++) {
        const refs_hdf5_link *link = &links->links[i];
        const char *path = w->tree->items[parent].path;
        if (!is_good_name(link->name))
            refs_hdf5__note(w->file, "/%s: a member with an invalid name is left out", path);
        else if (link->kind == REFS_HDF5_OTHER_LINK)
            REFS_TRY(add_other_link(w, parent, link, err));
        else
            REFS_TRY(add_item(w, parent, link, err));
    }
    return REFS_OK;
}

/* -- objects ----------------------------------------------------------------------------------- */

/* Lists what is in a group. */
static refs_status list_group(walk *w, size_t number, const refs_hdf5_object *object,
                              refs_error *err) {
    REFS_SCOPED_BY(refs_hdf5__links_clear) refs_hdf5_links links = {0};
    REFS_TRY(refs_hdf5__read_links(w->file, object, &links, err));
    if (!w->file->is_collecting) REFS_TRY(add_links(w, number, &links, err));
    return REFS_OK;
}

/* Whether a group contains itself: it has the address of a group above it. */
static bool is_in_itself(const refs_hdf5_tree *tree, size_t number) {
    uint64_t address = tree->items[number].address;
    while (number > 0) {
        number = tree->items[number].parent;
        if (tree->items[number].address == address) return true;
    }
    return false;
}

static refs_status read_dataset(walk *w, size_t number, const refs_hdf5_object *object,
                                refs_error *err) {
    refs_hdf5_dataset *dataset = refs_calloc(1, sizeof *dataset);
    if (dataset == NULL) return refs_fail_nomem(err);
    refs_status status = refs_hdf5__read_dataset(w->file, object, dataset, err);
    if (status == REFS_OK && !w->file->is_collecting) {
        w->tree->items[number].dataset = dataset;
        w->tree->items[number].kind = REFS_HDF5_ITEM_DATASET;
        return REFS_OK;
    }
    refs_hdf5__dataset_clear(dataset);
    refs_free(dataset);
    return status;
}

static refs_status convert_attributes(walk *w, size_t number,
                                      const refs_hdf5_attributes *attributes, refs_error *err) {
    refs_hdf5_item *item = &w->tree->items[number];
    refs_hdf5_heaps heaps = {0};
    const refs_hdf5_values values = {w->file, &heaps};
    json_t *object = NULL;
    size_t rank = item->dataset != NULL ? item->dataset->layout.rank : REFS_SCAN_MAX_RANK;
    refs_hdf5_scales scales;
    refs_status status = refs_hdf5__attributes_json(&values, attributes, &object, err);
    status = refs_hdf5__later(w->file, status);
    if (status == REFS_OK) status = refs_hdf5__read_scales(&values, attributes, rank, &scales, err);
    refs_hdf5__heaps_clear(&heaps);
    if (status == REFS_OK && !w->file->is_collecting) {
        item->attributes = object;
        item->scales = scales;
        return REFS_OK;
    }
    json_decref(object);
    return status;
}

static refs_status read_attributes(walk *w, size_t number, const refs_hdf5_object *object,
                                   refs_error *err) {
    REFS_SCOPED_BY(refs_hdf5__attributes_clear) refs_hdf5_attributes attributes = {0};
    refs_status status = refs_hdf5__read_attributes(w->file, object, &attributes, err);
    status = refs_hdf5__later(w->file, status);
    if (status == REFS_OK) status = convert_attributes(w, number, &attributes, err);
    return status == REFS_OK ? refs_hdf5__all_there(w->file) : status;
}

static refs_status read_group(walk *w, size_t number, const refs_hdf5_object *object,
                              refs_error *err) {
    w->tree->items[number].kind = REFS_HDF5_ITEM_NOTHING;
    if (is_in_itself(w->tree, number)) {
        refs_hdf5__note(w->file, "/%s is left out: it is a link to a group that contains it",
                        w->tree->items[number].path);
        return REFS_OK;
    }
    w->tree->items[number].kind = REFS_HDF5_ITEM_GROUP;
    refs_status status = refs_hdf5__later(w->file, read_attributes(w, number, object, err));
    return status == REFS_OK ? list_group(w, number, object, err) : status;
}

static refs_status read_object(walk *w, size_t number, const refs_hdf5_object *object,
                               refs_error *err) {
    if (refs_hdf5__is_group(object)) return read_group(w, number, object, err);
    w->tree->items[number].kind = REFS_HDF5_ITEM_NOTHING;
    if (!refs_hdf5__is_dataset(object)) return REFS_OK;
    REFS_TRY(refs_hdf5__later(w->file, read_dataset(w, number, object, err)));
    return read_attributes(w, number, object, err);
}

/* Reads item `number`. Damage of that object alone becomes a problem of the item, except for the
 * root. */
static refs_status read_item(walk *w, size_t number, refs_error *err) {
    refs_hdf5_object object = {0};
    refs_error why = REFS_ERROR_INIT;
    refs_status status =
        refs_hdf5__read_object(w->file, w->tree->items[number].address, &object, &why);
    if (status == REFS_OK) status = read_object(w, number, &object, &why);
    refs_hdf5__object_clear(&object);
    if (status == REFS_OK) status = refs_hdf5__all_there(w->file);
    if (status == REFS_OK || refs_hdf5__later(w->file, status) == REFS_OK) return status;
    bool is_its_own = status == REFS_CORRUPT || status == REFS_UNSUPPORTED;
    refs_hdf5_item *item = &w->tree->items[number];
    if (number == 0 || !is_its_own) {
        if (number > 0) refs_error_prefix(&why, "/%s", item->path);
        return refs_fail(err, status, "%s", why.message);
    }
    return refs_hdf5__keep_problem(w->file, item, &why, err);
}

/* -- batches ----------------------------------------------------------------------------------- */

static refs_status read_batch(void *user, refs_error *err) {
    walk *w = user;
    bool is_missing = false;
    for (size_t i = w->begin; i < w->end; i++) {
        bool *is_there = &w->is_there[i - w->begin];
        if (w->tree->items[i].target != NULL || w->tree->items[i].problem != NULL ||
            (w->file->is_collecting && *is_there))
            continue;
        refs_status status = read_item(w, i, err);
        *is_there = !w->file->is_missing;
        is_missing = is_missing || w->file->is_missing;
        status = refs_hdf5__later(w->file, status);
        w->file->is_missing = false;
        if (status != REFS_OK) return status;
    }
    w->file->is_missing = is_missing;
    return refs_hdf5__all_there(w->file);
}

static refs_status read_all(walk *w, refs_error *err) {
    while (w->begin < w->tree->n) {
        w->end = w->tree->n - w->begin > BATCH ? w->begin + BATCH : w->tree->n;
        memset(w->is_there, 0, BATCH * sizeof *w->is_there);
        REFS_TRY(refs_hdf5__in_rounds(w->file, read_batch, w, err));
        w->begin = w->end;
    }
    return REFS_OK;
}

/* -- soft links -------------------------------------------------------------------------------- */

#define MAX_SOFT_LINKS 16 /* that lead to each other */

/* Resolves a path, relative to the group `from` unless it begins with a slash. Appends it to `full`
 * without repeated slashes and ".". */
static refs_status full_path(const char *from, const char *path, refs_buf *full, refs_error *err) {
    refs_str rest = refs_str_from(path);
    if (rest.size == 0 || rest.data[0] != '/')
        REFS_TRY(refs_buf_append_str(full, refs_str_from(from), err));
    while (rest.size > 0) {
        size_t end = refs_str_find(rest, '/');
        refs_str part = refs_str_part(rest, 0, end);
        rest = refs_str_part(rest, end < rest.size ? end + 1 : rest.size, rest.size);
        if (part.size == 0 || refs_str_is(part, ".")) continue;
        if (full->size > 0) REFS_TRY(refs_buf_append(full, "/", 1, err));
        REFS_TRY(refs_buf_append_str(full, part, err));
    }
    return REFS_OK;
}

/* Whether the item is a soft link that does not name a dataset (yet). */
static bool is_soft(const refs_hdf5_item *item) {
    return item->target != NULL &&
           (item->kind == REFS_HDF5_ITEM_SOFT || item->kind == REFS_HDF5_ITEM_NOTHING);
}

/* Finds the item at a path; else the nearest item above it that is a link or cannot be read. *size
 * is the part of the path that names it. REFS_INTERN_NONE if there is neither. */
static uint32_t find_nearest(const refs_hdf5_tree *tree, const refs_intern *paths, refs_str path,
                             size_t *size) {
    uint32_t id = refs_intern_find(paths, path);
    *size = path.size;
    while (id == REFS_INTERN_NONE && *size > 0) {
        while (*size > 0 && path.data[--*size] != '/') continue;
        id = refs_intern_find(paths, refs_str_part(path, 0, *size));
        if (id != REFS_INTERN_NONE && !is_soft(&tree->items[id]) &&
            tree->items[id].kind != REFS_HDF5_ITEM_EXTERNAL &&
            tree->items[id].kind != REFS_HDF5_ITEM_PROBLEM)
            return REFS_INTERN_NONE;
    }
    return id;
}

/* Follows soft links; `rest` becomes the rest of the path if they lead to a link to another
 * file. */
static refs_status find_target(const refs_hdf5_tree *tree, const refs_intern *paths, size_t *number,
                               refs_buf *rest, refs_error *err) {
    for (size_t i = 0; i < MAX_SOFT_LINKS; i++) {
        const refs_hdf5_item *item = &tree->items[*number];
        if (!is_soft(item)) return REFS_OK;
        refs_buf path = REFS_BUF_INIT;
        size_t size = 0;
        uint32_t id = REFS_INTERN_NONE;
        refs_status status = full_path(tree->items[item->parent].path, item->target, &path, err);
        if (status == REFS_OK && rest->size > 0) status = refs_buf_append(&path, "/", 1, err);
        if (status == REFS_OK) status = refs_buf_append(&path, rest->data, rest->size, err);
        const refs_str whole = refs_buf_text(&path);
        if (status == REFS_OK) id = find_nearest(tree, paths, whole, &size);
        rest->size = 0;
        if (status == REFS_OK && size < whole.size)
            status = refs_buf_append_str(rest, refs_str_part(whole, size + 1, whole.size), err);
        refs_buf_clear(&path);
        REFS_TRY(status);
        if (id == REFS_INTERN_NONE) return REFS_OK;
        *number = id;
    }
    return REFS_OK;
}

static refs_status intern_paths(const refs_hdf5_tree *tree, refs_intern *paths, refs_error *err) {
    for (size_t i = 0; i < tree->n; i++) {
        uint32_t id;
        REFS_TRY(refs_intern_add(paths, refs_str_from(tree->items[i].path), &id, err));
        if (id != i)
            return refs_fail(err, REFS_CORRUPT, "two objects have the name /%s",
                             tree->items[i].path);
    }
    return REFS_OK;
}

/* Turns a soft link that leads to an external link into an external link. */
static refs_status link_elsewhere(refs_hdf5_item *item, const refs_hdf5_item *target, refs_str rest,
                                  refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "%s%s%.*s", target->target, rest.size > 0 ? "/" : "",
                             REFS_STR_WHOLE(rest)));
    refs_free(item->target);
    item->target = refs_buf_take_text(&text);
    item->kind = REFS_HDF5_ITEM_EXTERNAL;
    item->file_size = target->file_size;
    item->file = target->file;
    return item->target != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* Turns a soft link to a dataset into a second name of it, by reading the dataset's header
 * again. */
static refs_status follow(walk *w, const refs_intern *paths, size_t number, refs_error *err) {
    size_t target = number;
    REFS_SCOPED_BUF rest = REFS_BUF_INIT;
    refs_status status = find_target(w->tree, paths, &target, &rest, err);
    refs_hdf5_item *item = &w->tree->items[number];
    const refs_hdf5_item *found = &w->tree->items[target];
    item->kind = REFS_HDF5_ITEM_NOTHING;
    if (status == REFS_OK && found->kind == REFS_HDF5_ITEM_EXTERNAL)
        status = link_elsewhere(item, found, refs_buf_text(&rest), err);
    if (status != REFS_OK || item->kind == REFS_HDF5_ITEM_EXTERNAL) return status;
    if (found->kind == REFS_HDF5_ITEM_DATASET) {
        item->kind = REFS_HDF5_ITEM_NEW;
        item->address = found->address;
        return read_item(w, number, err);
    }
    if (found->kind == REFS_HDF5_ITEM_PROBLEM)
        return refs_hdf5__keep_problem(w->file, item, found->problem, err);
    refs_hdf5__note(w->file, "/%s is left out: it is a link to %s", item->path,
                    found->kind == REFS_HDF5_ITEM_GROUP ? "a group, which is listed there"
                                                        : "nothing");
    return REFS_OK;
}

refs_status refs_hdf5__follow_soft_links(refs_hdf5_file *file, refs_hdf5_tree *tree,
                                         refs_error *err) {
    walk w = {.file = file, .tree = tree};
    REFS_SCOPED_BY(refs_intern_clear) refs_intern paths = {0};
    refs_status status = intern_paths(tree, &paths, err);
    size_t n = tree->n;
    for (size_t i = 0; status == REFS_OK && i < n; i++)
        if (tree->items[i].kind == REFS_HDF5_ITEM_SOFT) status = follow(&w, &paths, i, err);
    return status;
}

refs_status refs_hdf5__read_tree(refs_hdf5_file *file, uint64_t root, refs_hdf5_tree *tree,
                                 refs_error *err) {
    walk w = {.file = file, .tree = tree};
    char no_name[] = "";
    const refs_hdf5_link link = {.name = no_name, .address = root};
    w.is_there = refs_calloc(BATCH, sizeof *w.is_there);
    refs_status status = w.is_there != NULL ? add_item(&w, 0, &link, err) : refs_fail_nomem(err);
    if (status == REFS_OK) status = read_all(&w, err);
    if (status == REFS_OK && tree->items[0].kind != REFS_HDF5_ITEM_GROUP)
        status = refs_fail(err, REFS_CORRUPT, "its root object is not a group");
    refs_free(w.is_there);
    return status;
}
