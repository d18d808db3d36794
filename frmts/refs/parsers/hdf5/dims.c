/* dims.c -- dimension scales and the names of dimensions, see hdf5/tree.h.
 *
 * Names follow netCDF-C 4.9, libhdf5/hdf5open.c; those that it invents contain dimension IDs. */
#include <stdlib.h>

#include "hdf5/tree.h"
#include "refs/intern.h"

#define NON_COORDINATE "_nc4_non_coord_"

/* -- reading ----------------------------------------------------------------------------------- */

static bool text_starts(const refs_hdf5_attribute *attribute, const char *text) {
    return attribute != NULL && attribute->type.class == REFS_HDF5_STRING &&
           attribute->data.size >= strlen(text) &&
           memcmp(attribute->data.data, text, strlen(text)) == 0;
}

/* Reads an attribute of integers, such as netCDF-4's internal ones. */
static size_t read_integers(const refs_hdf5_attribute *attribute, int64_t *numbers, size_t n_max) {
    size_t n = 0;
    if (attribute == NULL || attribute->type.class != REFS_HDF5_FIXED) return 0;
    for (; n < attribute->space.n && n < n_max; n++) {
        json_t *value = NULL;
        if (refs_hdf5__value(NULL, &attribute->type,
                             attribute->data.data + n * attribute->type.size, &value,
                             NULL) != REFS_OK ||
            value == NULL)
            return 0;
        numbers[n] = json_integer_value(value);
        json_decref(value);
    }
    return n;
}

/* Reads the first reference of a dimension's list of scales. */
static refs_status read_scale(const refs_hdf5_values *values, const uint8_t *bytes, size_t size,
                              uint64_t *scale, refs_error *err) {
    refs_hdf5_cursor cursor = refs_hdf5__cursor(refs_bytes_view(bytes, size));
    refs_hdf5_heap_id id;
    refs_bytes object;
    uint32_t n = refs_hdf5__u32(&cursor);
    id.address = refs_hdf5__address(values->file, &cursor);
    id.index = refs_hdf5__u32(&cursor);
    if (n == 0 || cursor.is_short) return REFS_OK;
    REFS_TRY(refs_hdf5__heap_object(values->file, values->heaps, id, &object, err));
    cursor = refs_hdf5__cursor(object);
    *scale = refs_hdf5__address(values->file, &cursor);
    return REFS_OK;
}

refs_status refs_hdf5__read_scales(const refs_hdf5_values *values,
                                   const refs_hdf5_attributes *attributes, size_t rank,
                                   refs_hdf5_scales *scales, refs_error *err) {
    const refs_hdf5_attribute *list = refs_hdf5__find_attribute(attributes, "DIMENSION_LIST");
    *scales = (refs_hdf5_scales){.id = -1};
    scales->is_scale =
        text_starts(refs_hdf5__find_attribute(attributes, "CLASS"), "DIMENSION_SCALE");
    scales->is_only_dimension =
        scales->is_scale && text_starts(refs_hdf5__find_attribute(attributes, "NAME"),
                                        "This is a netCDF dimension but not a netCDF variable");
    read_integers(refs_hdf5__find_attribute(attributes, "_Netcdf4Dimid"), &scales->id, 1);
    scales->n_coordinates =
        read_integers(refs_hdf5__find_attribute(attributes, "_Netcdf4Coordinates"),
                      scales->coordinates, REFS_SCAN_MAX_RANK);
    for (size_t i = 0; i < REFS_SCAN_MAX_RANK; i++) scales->scale[i] = REFS_HDF5_UNDEFINED;
    if (list == NULL || list->type.class != REFS_HDF5_VLEN ||
        list->type.base->class != REFS_HDF5_REFERENCE)
        return REFS_OK;
    for (size_t i = 0; i < rank && i < list->space.n; i++) {
        const uint8_t *at = list->data.data + i * list->type.size;
        refs_status status = read_scale(values, at, list->type.size, &scales->scale[i], err);
        REFS_TRY(refs_hdf5__later(values->file, status));
    }
    return refs_hdf5__all_there(values->file);
}

/* -- naming ------------------------------------------------------------------------------------ */

#define NONE SIZE_MAX

/* A dimension of a group. */
typedef struct dimension {
    const char *name;
    size_t group;
    int64_t id;
    uint64_t size;
    bool is_unlimited;
    size_t next; /* with the same group and size, or NONE */
} dimension;

/* The dimensions of one group and size, as a linked list. */
typedef struct kind {
    size_t first, last;
} kind;

typedef struct naming {
    refs_hdf5_tree *tree;
    dimension *dimensions;
    size_t n, capacity;
    refs_intern kind_names; /* of group, size and kind; numbered as `kinds` */
    kind *kinds;
    size_t n_kinds, kind_capacity;
    refs_intern ids; /* dimension IDs, numbered as `with_id` */
    size_t *with_id;
    size_t n_ids, id_capacity;
    refs_intern addresses; /* addresses of dimension scales, numbered as `scales` */
    size_t *scales;        /* numbers of items */
    size_t n_scales, scale_capacity;
    int64_t next_id;
} naming;

static refs_str bytes_of(const void *value, size_t size) {
    return refs_str_view(value, size);
}

/* Dimensions that share these properties are interchangeable. */
typedef struct kind_name {
    uint64_t group, size, is_unlimited;
} kind_name;

static kind_name kind_of(const dimension *d) {
    return (kind_name){d->group, d->size, d->is_unlimited};
}

static refs_status add_to_kind(naming *names, size_t number, refs_error *err) {
    const kind_name name = kind_of(&names->dimensions[number]);
    uint32_t id;
    REFS_TRY(refs_intern_add(&names->kind_names, bytes_of(&name, sizeof name), &id, err));
    if (id < names->n_kinds) {
        names->dimensions[names->kinds[id].last].next = number;
        names->kinds[id].last = number;
        return REFS_OK;
    }
    REFS_GROW(names->kinds, names->kind_capacity, names->n_kinds, err);
    names->kinds[names->n_kinds++] = (kind){number, number};
    return REFS_OK;
}

static refs_status add_to_ids(naming *names, size_t number, refs_error *err) {
    const int64_t value = names->dimensions[number].id;
    uint32_t id;
    REFS_TRY(refs_intern_add(&names->ids, bytes_of(&value, sizeof value), &id, err));
    if (id < names->n_ids) return REFS_OK;
    REFS_GROW(names->with_id, names->id_capacity, names->n_ids, err);
    names->with_id[names->n_ids++] = number;
    return REFS_OK;
}

static refs_status add_dimension(naming *names, dimension added, refs_error *err) {
    REFS_GROW(names->dimensions, names->capacity, names->n, err);
    if (added.id < 0) added.id = names->next_id;
    if (added.id >= names->next_id && added.id < INT64_MAX) names->next_id = added.id + 1;
    added.next = NONE;
    names->dimensions[names->n++] = added;
    REFS_TRY(add_to_kind(names, names->n - 1, err));
    return add_to_ids(names, names->n - 1, err);
}

static const char *dimension_name(const refs_hdf5_item *item) {
    size_t size = strlen(NON_COORDINATE);
    return strncmp(item->name, NON_COORDINATE, size) == 0 ? item->name + size : item->name;
}

/* A coordinate dataset of several dimensions is the scale of its first one. */
static refs_status add_scale(naming *names, size_t number, refs_error *err) {
    const refs_hdf5_item *item = &names->tree->items[number];
    const refs_hdf5_layout *layout = &item->dataset->layout;
    uint32_t id;
    REFS_TRY(refs_intern_add(&names->addresses, bytes_of(&item->address, sizeof item->address), &id,
                             err));
    if (id != names->n_scales) return REFS_OK; /* another link to it */
    REFS_GROW(names->scales, names->scale_capacity, names->n_scales, err);
    names->scales[names->n_scales++] = number;
    if (!item->scales.is_scale) return REFS_OK;
    bool has_size = layout->rank > 0;
    return add_dimension(
        names,
        (dimension){.name = dimension_name(item),
                    .group = item->parent,
                    .id = item->scales.id,
                    .size = has_size ? layout->shape[0] : 0,
                    .is_unlimited = has_size && layout->max_shape[0] == REFS_HDF5_UNDEFINED},
        err);
}

static const char *name_of_scale(const naming *names, uint64_t address) {
    uint32_t id = refs_intern_find(&names->addresses, bytes_of(&address, sizeof address));
    return id != REFS_INTERN_NONE ? dimension_name(&names->tree->items[names->scales[id]]) : NULL;
}

static const char *name_of_id(const naming *names, int64_t id) {
    uint32_t number = refs_intern_find(&names->ids, bytes_of(&id, sizeof id));
    return number != REFS_INTERN_NONE ? names->dimensions[names->with_id[number]].name : NULL;
}

static refs_status make_name(naming *names, const char **name, refs_error *err) {
    refs_hdf5_tree *tree = names->tree;
    refs_buf text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "phony_dim_%lld", (long long)names->next_id));
    char *made = refs_buf_take_text(&text);
    if (made == NULL || !refs_grow((void **)&tree->names, &tree->name_capacity, tree->n_names,
                                   sizeof *tree->names)) {
        refs_free(made);
        return refs_fail_nomem(err);
    }
    tree->names[tree->n_names++] = made;
    *name = made;
    return REFS_OK;
}

/* Whether one of the first `n` dimensions of a dataset has this name. */
static bool is_used(const refs_hdf5_item *item, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (item->dimensions[i] == name) return true;
    return false;
}

/* Finds a dimension of the group that has this size and that the dataset does not use yet; else
 * invents one. */
static refs_status phony_name(naming *names, const refs_hdf5_item *item, size_t dim,
                              const char **name, refs_error *err) {
    const refs_hdf5_layout *layout = &item->dataset->layout;
    dimension wanted = {.group = item->parent, .id = -1};
    if (dim < layout->rank) {
        wanted.size = layout->shape[dim];
        wanted.is_unlimited = layout->max_shape[dim] == REFS_HDF5_UNDEFINED;
    } else {
        wanted.size = item->dataset->type.shape[dim - layout->rank];
    }
    const kind_name same = kind_of(&wanted);
    uint32_t id = refs_intern_find(&names->kind_names, bytes_of(&same, sizeof same));
    for (size_t i = id != REFS_INTERN_NONE ? names->kinds[id].first : NONE; i != NONE;
         i = names->dimensions[i].next) {
        *name = names->dimensions[i].name;
        if (!is_used(item, dim, *name)) return REFS_OK;
    }
    REFS_TRY(make_name(names, name, err));
    wanted.name = *name;
    return add_dimension(names, wanted, err);
}

static refs_status name_dimension(naming *names, refs_hdf5_item *item, size_t dim,
                                  refs_error *err) {
    const refs_hdf5_scales *scales = &item->scales;
    size_t rank = item->dataset->layout.rank;
    const char *name = NULL;
    if (dim < scales->n_coordinates) name = name_of_id(names, scales->coordinates[dim]);
    if (name == NULL && scales->is_scale && dim == 0 && rank > 0) name = dimension_name(item);
    if (name == NULL && dim < rank && scales->scale[dim] != REFS_HDF5_UNDEFINED)
        name = name_of_scale(names, scales->scale[dim]);
    if (name == NULL) REFS_TRY(phony_name(names, item, dim, &name, err));
    item->dimensions[dim] = name;
    return REFS_OK;
}

/* A dataset and the position of its group in the order of naming. */
typedef struct member {
    size_t turn, number;
} member;

static int compare_members(const void *left, const void *right) {
    const member *a = left, *b = right;
    if (a->turn != b->turn) return a->turn < b->turn ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The tree of groups, as linked lists: `first` child, and `next` sibling. */
typedef struct groups {
    size_t *first, *next;
    size_t *turns; /* position in the order of naming: a group comes after all groups in it */
} groups;

static void take_turns(const refs_hdf5_tree *tree, const groups *g) {
    size_t turn = 0;
    for (size_t i = 0; i < tree->n; i++) g->first[i] = NONE;
    for (size_t i = tree->n; i-- > 1;) {
        if (tree->items[i].kind != REFS_HDF5_ITEM_GROUP) continue;
        g->next[i] = g->first[tree->items[i].parent];
        g->first[tree->items[i].parent] = i;
    }
    for (size_t at = 0;;) {
        size_t inner = g->first[at];
        if (inner != NONE) {
            g->first[at] = g->next[inner];
            at = inner;
            continue;
        }
        g->turns[at] = turn++;
        if (at == 0) break;
        at = tree->items[at].parent;
    }
}

static refs_status name_member(naming *names, size_t number, refs_error *err) {
    refs_hdf5_item *item = &names->tree->items[number];
    size_t rank = refs_hdf5__array_rank(item->dataset);
    for (size_t dim = 0; dim < rank; dim++) REFS_TRY(name_dimension(names, item, dim, err));
    return REFS_OK;
}

/* Records the unlimited dimensions; called before names are invented. */
static refs_status record_unlimited(const naming *names, refs_error *err) {
    for (size_t i = 0; i < names->n; i++) {
        const dimension *dim = &names->dimensions[i];
        if (dim->is_unlimited)
            REFS_TRY(refs_documents_tell_unlimited(&names->tree->items[dim->group].attributes,
                                                   dim->name, err));
    }
    return REFS_OK;
}

/* Lists the names that arrays use. A name is shared, so its address identifies it. */
static refs_status list_used(const refs_hdf5_tree *tree, refs_intern *used, refs_error *err) {
    uint32_t id;
    for (size_t i = 0; i < tree->n; i++) {
        const refs_hdf5_item *item = &tree->items[i];
        if (item->kind != REFS_HDF5_ITEM_DATASET || item->scales.is_only_dimension) continue;
        for (size_t dim = 0; dim < refs_hdf5__array_rank(item->dataset); dim++)
            REFS_TRY(refs_intern_add(
                used, bytes_of(&item->dimensions[dim], sizeof item->dimensions[dim]), &id, err));
    }
    return REFS_OK;
}

/* Records the unused ones among the first `n` dimensions, those that the file declares. */
static refs_status record_unused(const naming *names, size_t n, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern used = {.count = 0};
    REFS_TRY(list_used(names->tree, &used, err));
    for (size_t i = 0; i < n; i++) {
        const dimension *dim = &names->dimensions[i];
        if (refs_intern_find(&used, bytes_of(&dim->name, sizeof dim->name)) == REFS_INTERN_NONE)
            REFS_TRY(refs_documents_tell_unused(&names->tree->items[dim->group].attributes,
                                                dim->name, dim->size, err));
    }
    return REFS_OK;
}

static refs_status name_all(naming *names, member *members, const size_t *turns, refs_error *err) {
    const refs_hdf5_tree *tree = names->tree;
    size_t n = 0;
    for (size_t i = 0; i < tree->n; i++) {
        if (tree->items[i].kind != REFS_HDF5_ITEM_DATASET) continue;
        members[n++] = (member){turns[tree->items[i].parent], i};
        REFS_TRY(add_scale(names, i, err));
    }
    const size_t n_of_file = names->n;
    REFS_TRY(record_unlimited(names, err));
    qsort(members, n, sizeof *members, compare_members);
    for (size_t i = 0; i < n; i++) REFS_TRY(name_member(names, members[i].number, err));
    return record_unused(names, n_of_file, err);
}

/* Lengths of unlimited dimensions: the largest of any dataset. */
typedef struct lengths {
    refs_intern names; /* keyed by the address of a dimension's name, which is unique */
    uint64_t *lengths;
    size_t n, capacity;
} lengths;

static bool is_unlimited(const refs_hdf5_item *item, size_t dim) {
    return item->dataset->layout.max_shape[dim] == REFS_HDF5_UNDEFINED;
}

static refs_status add_length(lengths *all, const char *name, uint64_t length, refs_error *err) {
    uint32_t id;
    REFS_TRY(refs_intern_add(&all->names, bytes_of(&name, sizeof name), &id, err));
    if (id < all->n) {
        if (length > all->lengths[id]) all->lengths[id] = length;
        return REFS_OK;
    }
    REFS_GROW(all->lengths, all->capacity, all->n, err);
    all->lengths[all->n++] = length;
    return REFS_OK;
}

static refs_status collect_lengths(const refs_hdf5_tree *tree, lengths *all, refs_error *err) {
    for (size_t i = 0; i < tree->n; i++) {
        const refs_hdf5_item *item = &tree->items[i];
        if (item->kind != REFS_HDF5_ITEM_DATASET) continue;
        for (size_t dim = 0; dim < item->dataset->layout.rank; dim++)
            if (is_unlimited(item, dim))
                REFS_TRY(add_length(all, item->dimensions[dim], item->dataset->shape[dim], err));
    }
    return REFS_OK;
}

static void set_lengths(const refs_hdf5_tree *tree, const lengths *all) {
    for (size_t i = 0; i < tree->n; i++) {
        const refs_hdf5_item *item = &tree->items[i];
        if (item->kind != REFS_HDF5_ITEM_DATASET) continue;
        for (size_t dim = 0; dim < item->dataset->layout.rank; dim++) {
            const char *name = item->dimensions[dim];
            if (!is_unlimited(item, dim)) continue;
            item->dataset->shape[dim] =
                all->lengths[refs_intern_find(&all->names, bytes_of(&name, sizeof name))];
        }
    }
}

/* Extends each dataset to the lengths of its unlimited dimensions; added elements are fill
 * values. */
static refs_status lengthen(const refs_hdf5_tree *tree, refs_error *err) {
    lengths all = {.n = 0};
    refs_status status = collect_lengths(tree, &all, err);
    if (status == REFS_OK) set_lengths(tree, &all);
    refs_intern_clear(&all.names);
    refs_free(all.lengths);
    return status;
}

refs_status refs_hdf5__name_dimensions(refs_hdf5_tree *tree, refs_error *err) {
    naming names = {.tree = tree};
    REFS_SCOPED member *members = refs_calloc(tree->n, sizeof *members);
    REFS_SCOPED size_t *room = refs_calloc(3 * tree->n, sizeof *room);
    refs_status status = REFS_OK;
    if (members == NULL || room == NULL) {
        status = refs_fail_nomem(err);
    } else {
        const groups g = {room, room + tree->n, room + 2 * tree->n};
        take_turns(tree, &g);
        status = name_all(&names, members, g.turns, err);
        if (status == REFS_OK) status = lengthen(tree, err);
    }
    refs_intern_clear(&names.kind_names);
    refs_intern_clear(&names.ids);
    refs_intern_clear(&names.addresses);
    refs_free(names.dimensions);
    refs_free(names.kinds);
    refs_free(names.with_id);
    refs_free(names.scales);
    return status;
}
