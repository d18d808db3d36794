/* levels.c -- names levels by their values.
 *
 * A set of many files then has the same levels as one file with all variables: heightAboveGround of
 * 2 m and heightAboveGround_2 of 10 m, whichever file comes first. A level is a scalar, or an axis
 * of variables. Axes that no source numbers keep their names, because they may be steps of one
 * axis. */
#include <stdlib.h>

#include "combine_internal.h"

/* A level of some parts. Levels of one base are called "height", "height_2", … */
typedef struct level {
    const refs_combine *combine;
    const refs_combine_array *array,
        *bounds;             /* of the first part that has it; `bounds` may be NULL */
    uint32_t users;          /* paths of the variables that have it, each with a NUL */
    uint32_t id, base, path; /* number in keys, strings: without its number, and in the result */
} level;

typedef struct naming {
    refs_combine *combine;
    refs_intern keys;
    level *levels;
    size_t n, capacity;
} naming;

static void clear_naming(naming *at) {
    refs_intern_clear(&at->keys);
    refs_free(at->levels);
}

static bool is_level(const refs_combine_array *array) {
    const bool is_scalar = array->rank == 0 && array->constant_rank == 0 &&
                           array->named_by != REFS_COMBINE_NONE,
               is_axis = array->rank == 1 && array->dims[0] == array->path && array->shape[0] > 0;
    return array->coordinate == REFS_COMBINE_COORDINATE_LEVEL && (is_scalar || is_axis) &&
           !array->is_piece && !array->are_texts && array->values != REFS_COMBINE_NONE;
}

static bool are_of_one_group(const refs_combine *combine, uint32_t a, uint32_t b) {
    return refs_str_equal(refs_path_folder(refs_combine__text(combine, a)),
                          refs_path_folder(refs_combine__text(combine, b)));
}

static bool has_dim(const refs_combine_array *array, uint32_t path) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (array->dims[dim] == path) return true;
    return false;
}

/* Numbers the paths of the variables that have a level. */
static refs_status find_users(refs_combine *combine, const refs_combine_place *at, uint32_t *users,
                              refs_error *err) {
    REFS_SCOPED_BUF paths = REFS_BUF_INIT;
    const refs_combine_array *bounds = refs_combine__bounds_of(at->member, at->array);
    *users = at->array->named_by;
    if (at->array->rank == 0) return REFS_OK;
    for (size_t k = 0; k < at->member->n_arrays; k++) {
        const refs_combine_array *array = &at->member->arrays[k];
        if (array == at->array || array == bounds || !has_dim(array, at->array->path)) continue;
        REFS_TRY(refs_buf_append_text(&paths, refs_combine__text(combine, array->path), err));
    }
    return paths.size > 0 ? refs_intern_add(&combine->strings, refs_buf_text(&paths), users, err)
                          : REFS_OK;
}

/* Numbers a level by the properties that distinguish it. */
static refs_status number_level(naming *at, const refs_combine_place *place, uint32_t *users,
                                uint32_t *id, refs_error *err) {
    const refs_combine_array *array = place->array,
                             *bounds = refs_combine__bounds_of(place->member, array);
    REFS_TRY(find_users(at->combine, place, users, err));
    const uint32_t ids[] = {
        array->path,          array->values, array->packing,
        array->units,         *users,        bounds != NULL ? bounds->values : REFS_COMBINE_NONE,
        (uint32_t)array->rank};
    return refs_intern_add(&at->keys, refs_str_view((const char *)ids, sizeof ids), id, err);
}

static refs_status add_level(naming *at, const refs_combine_place *place, refs_error *err) {
    uint32_t users, id;
    const refs_combine_array *array = place->array,
                             *bounds = refs_combine__bounds_of(place->member, array);
    REFS_TRY(number_level(at, place, &users, &id, err));
    if (id < at->n) return REFS_OK;
    REFS_GROW(at->levels, at->capacity, at->n, err);
    at->levels[at->n++] = (level){at->combine, array, bounds, users, id, array->path, array->path};
    return REFS_OK;
}

static refs_status list_levels(naming *at, refs_error *err) {
    for (size_t i = 0; i < at->combine->n_members; i++)
        for (size_t k = 0; k < at->combine->members[i].n_arrays; k++) {
            const refs_combine_place place = {&at->combine->members[i],
                                              &at->combine->members[i].arrays[k]};
            if (is_level(place.array)) REFS_TRY(add_level(at, &place, err));
        }
    return REFS_OK;
}

static bool has_path(const naming *at, uint32_t path) {
    for (size_t i = 0; i < at->combine->n_members; i++)
        if (refs_combine__find(&at->combine->members[i], path) != NULL) return true;
    return false;
}

/* Finds the base of a level: that of "height_2" is "height", if a part has it. */
static void find_base(const naming *at, level *one) {
    const refs_str path = refs_combine__text(at->combine, one->path);
    size_t n = path.size;
    while (n > 0 && path.data[n - 1] >= '0' && path.data[n - 1] <= '9') n--;
    if (n < 2 || n == path.size || path.data[n - 1] != '_') return;
    const uint32_t base = refs_intern_find(&at->combine->strings, refs_str_part(path, 0, n - 1));
    for (size_t i = 0; i < at->n && base != REFS_INTERN_NONE; i++)
        if (at->levels[i].array->path == base) one->base = base;
}

/* Compares levels element by element, because strings move when others are added. */
static int compare_elements(const refs_combine *combine, const refs_combine_array *a,
                            const refs_combine_array *b) {
    const refs_combine_array *const arrays[2] = {a, b};
    refs_values values[2];
    uint64_t n[2] = {0, 0};
    for (size_t i = 0; i < 2; i++) {
        if (arrays[i] == NULL || arrays[i]->values == REFS_COMBINE_NONE || arrays[i]->are_texts)
            continue;
        values[i] = refs_combine__coordinates_of(combine, arrays[i]);
        n[i] = values[i].bytes.size / arrays[i]->dtype.size;
    }
    for (uint64_t i = 0; i < n[0] && i < n[1]; i++) {
        const refs_value one = refs_combine__unpacked_at(&values[0], i),
                         other = refs_combine__unpacked_at(&values[1], i);
        const int order = refs_combine__compare_values(&one, &other);
        if (order != 0) return order;
    }
    return (n[0] > n[1]) - (n[0] < n[1]);
}

/* Compares levels by values, then scalars before axes, then by bounds. */
static int compare_levels(const level *a, const level *b) {
    const int order = compare_elements(a->combine, a->array, b->array);
    if (order != 0) return order;
    if (a->array->rank != b->array->rank) return a->array->rank < b->array->rank ? -1 : 1;
    return compare_elements(a->combine, a->bounds, b->bounds);
}

static int by_base(const void *left, const void *right) {
    const level *a = left, *b = right;
    if (a->base != b->base) return a->base < b->base ? -1 : 1;
    return compare_levels(a, b);
}

static int by_id(const void *left, const void *right) {
    const level *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool are_apart(const level *a, const level *b) {
    return compare_levels(a, b) != 0;
}

/* Whether the result, or a set, is combined along a level, which then keeps its name. */
static bool is_dim(const refs_combine *combine, uint32_t path) {
    const refs_str own = refs_path_last(refs_combine__text(combine, path));
    size_t dim;
    for (size_t i = 0; i < combine->n_members; i++)
        if (refs_combine__was_along(combine, &combine->members[i], own)) return true;
    return refs_combine__is_dim(combine, own, &dim);
}

static bool is_number(const level *one) {
    const refs_values values = refs_combine__coordinates_of(one->combine, one->array);
    const refs_value value = refs_combine__unpacked_at(&values, 0);
    return value.kind == REFS_VALUE_INTEGER || value.kind == REFS_VALUE_NUMBER;
}

/* Whether levels of one base have one unit, and each variable has one of them; otherwise they
 * become a dimension, or an error. */
static refs_status belong_to_variables(const naming *at, const level *levels, size_t n,
                                       bool *do_belong, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern variables = {0};
    REFS_SCOPED_BUF firsts = REFS_BUF_INIT;
    bool has_axis = false, has_number = false;
    *do_belong = !is_dim(at->combine, levels->base);
    for (size_t i = 0; i < n && *do_belong; i++) {
        const refs_str group =
            refs_path_folder(refs_combine__text(at->combine, levels[i].array->path));
        refs_str names = refs_combine__text(at->combine, levels[i].users);
        const char *name;
        has_axis = has_axis || levels[i].array->rank > 0;
        has_number = has_number || levels[i].path != levels->base;
        *do_belong = levels[i].array->units == levels->array->units && is_number(&levels[i]) &&
                     !is_dim(at->combine, levels[i].path);
        while (*do_belong && refs_str_next_text(&names, &name)) {
            const refs_str variable = refs_str_from(name);
            uint32_t id;
            REFS_TRY(refs_intern_add(&variables, variable, &id, err));
            if (id == firsts.size / sizeof i) REFS_TRY(refs_buf_append(&firsts, &i, sizeof i, err));
            size_t first;
            memcpy(&first, firsts.data + id * sizeof first, sizeof first);
            *do_belong = !are_apart(&levels[first], &levels[i]) &&
                         refs_str_equal(refs_path_folder(variable), group);
        }
    }
    *do_belong = *do_belong && (has_number || !has_axis);
    return REFS_OK;
}

/* Whether levels with one name differ, or others with different names are equal. */
static bool are_mixed(const level *levels, size_t n) {
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if ((levels[i].path == levels[k].path) == are_apart(&levels[i], &levels[k]))
                return true;
    return false;
}

/* Names levels of one base, which are sorted by their values. */
static refs_status name_levels(naming *at, level *levels, size_t n, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    const uint32_t base = levels->base;
    size_t number = 1;
    levels->path = base;
    for (size_t i = 1; i < n; i++) {
        levels[i].path = levels[i - 1].path;
        if (!are_apart(&levels[i - 1], &levels[i])) continue;
        bool is_taken;
        do {
            name.size = 0;
            REFS_TRY(refs_buf_printf(&name, err, "%.*s_%zu",
                                     REFS_STR_ARG(refs_combine__text(at->combine, base)),
                                     ++number));
            REFS_TRY(
                refs_intern_add(&at->combine->strings, refs_buf_text(&name), &levels[i].path, err));
            is_taken = has_path(at, levels[i].path);
            for (size_t k = 0; k < n; k++)
                is_taken = is_taken && levels[k].array->path != levels[i].path;
        } while (is_taken);
    }
    return REFS_OK;
}

/* Names all levels; *are_renamed says whether any of them has another name than before. */
static refs_status name_all(naming *at, bool *are_renamed, refs_error *err) {
    *are_renamed = false;
    if (at->n == 0) return REFS_OK;
    for (size_t i = 0; i < at->n; i++) find_base(at, &at->levels[i]);
    qsort(at->levels, at->n, sizeof *at->levels, by_base);
    for (size_t first = 0, end; first < at->n; first = end) {
        bool do_belong;
        for (end = first + 1; end < at->n && at->levels[end].base == at->levels[first].base;) end++;
        REFS_TRY(belong_to_variables(at, &at->levels[first], end - first, &do_belong, err));
        if (!do_belong || !are_mixed(&at->levels[first], end - first)) continue;
        *are_renamed = true;
        REFS_TRY(name_levels(at, &at->levels[first], end - first, err));
    }
    qsort(at->levels, at->n, sizeof *at->levels, by_id);
    return REFS_OK;
}

/* -- renaming ---------------------------------------------------------------------------------- */

static refs_status set_text(refs_combine *combine, const refs_buf *text, uint32_t *id,
                            refs_error *err) {
    return refs_intern_add(&combine->strings, refs_buf_text(text), id, err);
}

/* Replaces the value of a member of a document, or of an attribute, by JSON. */
static refs_status set_member(refs_combine *combine, uint32_t *id, const char *name,
                              const char *value, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const char *const pairs[] = {name, value, NULL};
    if (*id == REFS_COMBINE_NONE) return REFS_OK;
    REFS_TRY(refs_combine__replace(refs_combine__text(combine, *id), pairs, &text, err));
    return set_text(combine, &text, id, err);
}

/* Replaces an attribute's value by JSON, to which a NUL is added. */
static refs_status set_attribute(refs_combine *combine, refs_combine_array *array,
                                 const char *attribute, refs_buf *value, refs_error *err) {
    REFS_TRY(refs_buf_append(value, "", 1, err));
    const char *const text = (const char *)value->data;
    REFS_TRY(set_member(combine, &array->attributes, attribute, text, err));
    REFS_TRY(set_member(combine, &array->whole, attribute, text, err));
    return array->holes != NULL
               ? set_member(combine, &array->holes->attributes, attribute, text, err)
               : REFS_OK;
}

static refs_status set_text_attribute(refs_combine *combine, refs_combine_array *array,
                                      const char *attribute, refs_str value, refs_error *err) {
    REFS_SCOPED_BUF quoted = REFS_BUF_INIT;
    REFS_TRY(refs_json_write_string(value, &quoted, err));
    return set_attribute(combine, array, attribute, &quoted, err);
}

/* Renames an array and its keys. Strings move when others are added. */
static refs_status set_path(refs_combine *combine, refs_combine_array *array, uint32_t path,
                            refs_error *err) {
    REFS_SCOPED_BUF prefix = REFS_BUF_INIT, name = REFS_BUF_INIT;
    const refs_str old = refs_combine__text(combine, array->prefix),
                   text = refs_combine__text(combine, path);
    const size_t size = refs_combine__text(combine, array->path).size;
    REFS_TRY(refs_buf_append_str(&prefix, text, err));
    REFS_TRY(refs_buf_append_str(&prefix, refs_str_part(old, size, old.size), err));
    REFS_TRY(refs_buf_append_str(&name, refs_path_last(text), err));
    array->path = path;
    REFS_TRY(set_text(combine, &prefix, &array->prefix, err));
    return set_text(combine, &name, &array->name, err);
}

/* A level with its name in its part. */
typedef struct renamed {
    refs_combine_array *array, *bounds; /* `bounds` may be NULL */
    uint32_t before, after;             /* paths */
} renamed;

typedef struct renamed_levels {
    renamed *items;
    size_t n, capacity;
} renamed_levels;

static void clear_renamed(renamed_levels *list) {
    refs_free(list->items);
}

static refs_status list_renamed(naming *at, const refs_combine_member *member, renamed_levels *list,
                                refs_error *err) {
    uint32_t users, id;
    for (size_t k = 0; k < member->n_arrays; k++) {
        refs_combine_array *array = &member->arrays[k];
        const refs_combine_place place = {member, array};
        if (!is_level(array)) continue;
        REFS_TRY(number_level(at, &place, &users, &id, err));
        const uint32_t path = at->levels[id].path;
        if (path == array->path) continue;
        REFS_GROW(list->items, list->capacity, list->n, err);
        list->items[list->n++] =
            (renamed){array, refs_combine__bounds_of(member, array), array->path, path};
    }
    return REFS_OK;
}

/* Whether no two arrays of a part get one name. */
static bool are_unique(const refs_combine_member *member, const renamed_levels *list) {
    for (size_t i = 0; i < list->n; i++) {
        const refs_combine_array *other = refs_combine__find(member, list->items[i].after);
        bool is_free = other == NULL;
        for (size_t k = 0; k < list->n; k++) {
            if (k != i && list->items[k].after == list->items[i].after) return false;
            is_free = is_free || list->items[k].array == other;
        }
        if (!is_free) return false;
    }
    return true;
}

/* Renames the coordinates in a variable's attributes. */
static refs_status rename_words(refs_combine *combine, const renamed_levels *list,
                                refs_combine_array *array, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_SCOPED_JSON *doc = NULL;
    bool are_other = false;
    if (array->attributes == REFS_COMBINE_NONE) return REFS_OK;
    REFS_TRY(refs_json_parse(refs_combine__text(combine, array->attributes), &doc, err));
    refs_str words = refs_json_text(refs_json_get(refs_json_root(doc), "coordinates")), word;
    while (refs_str_next_word(&words, REFS_BLANKS, &word)) {
        for (size_t i = 0; i < list->n; i++) {
            const refs_str before = refs_combine__text(combine, list->items[i].before);
            if (!are_of_one_group(combine, list->items[i].before, array->path) ||
                !refs_str_equal(refs_path_last(before), word))
                continue;
            word = refs_path_last(refs_combine__text(combine, list->items[i].after));
            are_other = true;
            break;
        }
        REFS_TRY(refs_buf_append(&text, " ", text.size > 0, err));
        REFS_TRY(refs_buf_append_str(&text, word, err));
    }
    return are_other ? set_text_attribute(combine, array, "coordinates", refs_buf_text(&text), err)
                     : REFS_OK;
}

/* Renames the dimensions of an array. */
static refs_status rename_dims(refs_combine *combine, const renamed_levels *list,
                               refs_combine_array *array, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    bool are_other = false;
    REFS_TRY(refs_buf_append(&text, "[", 1, err));
    for (size_t dim = 0; dim < array->rank; dim++) {
        const uint32_t before = array->dims[dim];
        for (size_t i = 0; i < list->n; i++)
            if (list->items[i].before == before) array->dims[dim] = list->items[i].after;
        are_other = are_other || array->dims[dim] != before;
        REFS_TRY(refs_buf_append(&text, ",", dim > 0, err));
        REFS_TRY(refs_json_write_string(
            refs_path_last(refs_combine__text(combine, array->dims[dim])), &text, err));
    }
    if (!are_other) return REFS_OK;
    REFS_TRY(refs_buf_append(&text, "]", 1, err));
    REFS_TRY(set_attribute(combine, array, "_ARRAY_DIMENSIONS", &text, err));
    return array->is_v3 ? set_member(combine, &array->document, "dimension_names",
                                     (const char *)text.data, err)
                        : REFS_OK;
}

/* Renames the bounds of a level. */
static refs_status rename_bounds(refs_combine *combine, const renamed *one, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    uint32_t after;
    if (one->bounds == NULL) return REFS_OK;
    const refs_str before = refs_combine__text(combine, one->before),
                   old = refs_combine__text(combine, one->bounds->path);
    REFS_TRY(refs_buf_append_str(&path, refs_combine__text(combine, one->after), err));
    REFS_TRY(refs_buf_append_str(&path,
                                 refs_str_starts(old, before.data)
                                     ? refs_str_part(old, before.size, old.size)
                                     : refs_str_from("_bounds"),
                                 err));
    const refs_str own = refs_path_last(refs_buf_text(&path));
    REFS_TRY(set_text(combine, &path, &after, err));
    REFS_TRY(set_path(combine, one->bounds, after, err));
    return set_text_attribute(combine, one->array, "bounds", own, err);
}

static refs_status rename_member(naming *at, refs_combine_member *member, refs_error *err) {
    REFS_SCOPED_BY(clear_renamed) renamed_levels list = {0};
    refs_combine *combine = at->combine;
    REFS_TRY(list_renamed(at, member, &list, err));
    if (list.n == 0) return REFS_OK;
    for (size_t i = 0; i < list.n; i++) REFS_TRY(rename_bounds(combine, &list.items[i], err));
    for (size_t k = 0; k < member->n_arrays; k++) {
        REFS_TRY(rename_words(combine, &list, &member->arrays[k], err));
        REFS_TRY(rename_dims(combine, &list, &member->arrays[k], err));
    }
    for (size_t i = 0; i < list.n; i++)
        REFS_TRY(set_path(combine, list.items[i].array, list.items[i].after, err));
    return refs_combine__sort_paths(member, err);
}

/* Checks that the new names are unused in all parts. */
static refs_status check_names(naming *at, bool *are_free, refs_error *err) {
    for (size_t i = 0; i < at->combine->n_members && *are_free; i++) {
        REFS_SCOPED_BY(clear_renamed) renamed_levels list = {0};
        REFS_TRY(list_renamed(at, &at->combine->members[i], &list, err));
        *are_free = are_unique(&at->combine->members[i], &list);
    }
    return REFS_OK;
}

refs_status refs_combine__name_levels(refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(clear_naming) naming at = {.combine = combine};
    bool are_renamed;
    REFS_TRY(list_levels(&at, err));
    REFS_TRY(name_all(&at, &are_renamed, err));
    REFS_TRY(check_names(&at, &are_renamed, err));
    for (size_t i = 0; i < combine->n_members && are_renamed; i++)
        REFS_TRY(rename_member(&at, &combine->members[i], err));
    return REFS_OK;
}
