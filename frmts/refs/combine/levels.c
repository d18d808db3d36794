/* levels.c -- names scalar levels by their values, so that a set of many files has the levels of
 * one file with all variables: heightAboveGround of 2 m and heightAboveGround_2 of 10 m, whichever
 * file comes first. */
#include <stdlib.h>

#include "combine_internal.h"

/* A scalar level of some parts. Levels of one base are called "height", "height_2", … */
typedef struct level {
    const refs_combine_array *array; /* of the first part that has it */
    refs_value value, bottom;        /* bottom: the second of its bounds, if it has some */
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
    return array->coordinate == REFS_COMBINE_COORDINATE_LEVEL && array->rank == 0 &&
           array->constant_rank == 0 && !array->is_piece && !array->are_texts &&
           array->named_by != REFS_COMBINE_NONE && array->values != REFS_COMBINE_NONE;
}

static size_t group_size(refs_str path) {
    return refs_path_folder(path).size;
}

/* The array with the bounds of a coordinate, in its group; or NULL. */
static refs_combine_array *bounds_of(const refs_combine *combine, const refs_combine_place *at) {
    const refs_str path = refs_combine__text(combine, at->array->path),
                   name = refs_combine__text(combine, at->array->bounds);
    const size_t group = group_size(path);
    for (size_t k = 0; k < at->member->n_arrays && name.size > 0; k++) {
        refs_combine_array *array = &at->member->arrays[k];
        const refs_str other = refs_combine__text(combine, array->path);
        if (group_size(other) == group && memcmp(other.data, path.data, group) == 0 &&
            refs_str_equal(refs_path_last(other), name))
            return array;
    }
    return NULL;
}

/* What distinguishes levels, as numbers of strings. */
#define N_KEYS 6

static refs_str key_of(const refs_combine *combine, const refs_combine_place *at,
                       uint32_t ids[N_KEYS]) {
    const refs_combine_array *array = at->array, *bounds = bounds_of(combine, at);
    const uint32_t all[N_KEYS] = {
        array->path,  array->values,   array->packing,
        array->units, array->named_by, bounds != NULL ? bounds->values : REFS_COMBINE_NONE};
    memcpy(ids, all, sizeof all);
    return refs_str_view((const char *)ids, sizeof all);
}

static refs_value bottom_of(const refs_combine *combine, const refs_combine_place *at) {
    const refs_combine_array *bounds = bounds_of(combine, at);
    if (bounds == NULL || bounds->values == REFS_COMBINE_NONE || bounds->rank != 1 ||
        bounds->shape[0] != 2)
        return (refs_value){.kind = REFS_VALUE_NONE};
    const refs_values values = refs_combine__coordinates_of(combine, bounds);
    return refs_combine__unpacked_at(&values, 1);
}

static refs_status add_level(naming *at, const refs_combine_place *place, refs_error *err) {
    uint32_t ids[N_KEYS], id;
    const refs_combine_array *array = place->array;
    REFS_TRY(refs_intern_add(&at->keys, key_of(at->combine, place, ids), &id, err));
    if (id < at->n) return REFS_OK;
    REFS_GROW(at->levels, at->capacity, at->n, err);
    const refs_values values = refs_combine__coordinates_of(at->combine, array);
    at->levels[at->n++] = (level){.array = array,
                                  .value = refs_combine__unpacked_at(&values, 0),
                                  .bottom = bottom_of(at->combine, place),
                                  .id = id,
                                  .base = array->path,
                                  .path = array->path};
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

/* "height_2" has the base "height", if a part has that. */
static void find_base(const naming *at, level *one) {
    const refs_str path = refs_combine__text(at->combine, one->path);
    size_t n = path.size;
    while (n > 0 && path.data[n - 1] >= '0' && path.data[n - 1] <= '9') n--;
    if (n < 2 || n == path.size || path.data[n - 1] != '_') return;
    const uint32_t base = refs_intern_find(&at->combine->strings, refs_str_part(path, 0, n - 1));
    for (size_t i = 0; i < at->n && base != REFS_INTERN_NONE; i++)
        if (at->levels[i].array->path == base) one->base = base;
}

static bool is_number(const refs_value *value) {
    return value->kind == REFS_VALUE_INTEGER || value->kind == REFS_VALUE_NUMBER;
}

static int compare_levels(const level *a, const level *b) {
    const int order = refs_combine__compare_values(&a->value, &b->value);
    if (order != 0 || (!is_number(&a->bottom) && !is_number(&b->bottom))) return order;
    if (is_number(&a->bottom) != is_number(&b->bottom)) return is_number(&a->bottom) ? 1 : -1;
    return refs_combine__compare_values(&a->bottom, &b->bottom);
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

/* Whether levels of one base have one unit and belong to variables that have one of them each:
 * others become a dimension, or an error. */
static refs_status belong_to_variables(const naming *at, const level *levels, size_t n,
                                       bool *do_belong, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern variables = {0};
    REFS_SCOPED_BUF firsts = REFS_BUF_INIT;
    size_t dim;
    *do_belong =
        !refs_combine__is_dim(at->combine, refs_combine__text(at->combine, levels->base), &dim);
    for (size_t i = 0; i < n && *do_belong; i++) {
        const refs_str path = refs_combine__text(at->combine, levels[i].array->path),
                       names = refs_combine__text(at->combine, levels[i].array->named_by);
        *do_belong = levels[i].array->units == levels->array->units && is_number(&levels[i].value);
        for (size_t k = 0; k < names.size && *do_belong;) {
            const refs_str name = refs_str_from(names.data + k);
            uint32_t id;
            REFS_TRY(refs_intern_add(&variables, name, &id, err));
            if (id == firsts.size / sizeof i) REFS_TRY(refs_buf_append(&firsts, &i, sizeof i, err));
            size_t first;
            memcpy(&first, firsts.data + id * sizeof first, sizeof first);
            *do_belong =
                !are_apart(&levels[first], &levels[i]) && group_size(name) == group_size(path);
            k += name.size + 1;
        }
    }
    return REFS_OK;
}

/* Whether levels of one name have several values. */
static bool share_name(const level *levels, size_t n) {
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (levels[i].path == levels[k].path && are_apart(&levels[i], &levels[k])) return true;
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
        if (!do_belong || !share_name(&at->levels[first], end - first)) continue;
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

/* Gives an attribute of an array another text. */
static refs_status set_attribute(refs_combine *combine, refs_combine_array *array,
                                 const char *attribute, refs_str value, refs_error *err) {
    uint32_t *const ids[] = {&array->attributes, &array->whole,
                             array->holes != NULL ? &array->holes->attributes : NULL};
    REFS_SCOPED_BUF quoted = REFS_BUF_INIT;
    REFS_TRY(refs_json_write_string(value, &quoted, err));
    REFS_TRY(refs_buf_append(&quoted, "", 1, err));
    const char *const pairs[] = {attribute, (const char *)quoted.data, NULL};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        REFS_SCOPED_BUF text = REFS_BUF_INIT;
        if (ids[i] == NULL || *ids[i] == REFS_COMBINE_NONE) continue;
        REFS_TRY(refs_combine__replace(refs_combine__text(combine, *ids[i]), pairs, &text, err));
        REFS_TRY(set_text(combine, &text, ids[i], err));
    }
    return REFS_OK;
}

/* Gives an array another path, which its keys have, too. The strings move as they grow. */
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
    refs_combine_array *array;
    uint32_t before, after; /* paths */
} renamed;

typedef struct renamed_levels {
    renamed *items;
    size_t n, capacity;
} renamed_levels;

static void clear_renamed(renamed_levels *list) {
    refs_free(list->items);
}

static refs_status list_renamed(const naming *at, refs_combine_member *member, renamed_levels *list,
                                refs_error *err) {
    uint32_t ids[N_KEYS];
    for (size_t k = 0; k < member->n_arrays; k++) {
        refs_combine_array *array = &member->arrays[k];
        if (!is_level(array)) continue;
        const refs_combine_place place = {member, array};
        const level *found =
            &at->levels[refs_intern_find(&at->keys, key_of(at->combine, &place, ids))];
        if (found->path == array->path) continue;
        REFS_GROW(list->items, list->capacity, list->n, err);
        list->items[list->n++] = (renamed){array, array->path, found->path};
    }
    return REFS_OK;
}

/* Has a variable name its coordinates as they are called now. */
static refs_status rename_words(refs_combine *combine, const renamed_levels *list,
                                refs_combine_array *array, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_SCOPED_JSON *doc = NULL;
    bool are_other = false;
    if (array->attributes == REFS_COMBINE_NONE) return REFS_OK;
    const size_t group = group_size(refs_combine__text(combine, array->path));
    REFS_TRY(refs_json_parse(refs_combine__text(combine, array->attributes), &doc, err));
    refs_str words = refs_json_text(refs_json_get(refs_json_root(doc), "coordinates")), word;
    while (refs_str_next_word(&words, REFS_BLANKS, &word)) {
        for (size_t i = 0; i < list->n; i++) {
            const refs_str before = refs_combine__text(combine, list->items[i].before);
            if (group_size(before) != group || !refs_str_equal(refs_path_last(before), word))
                continue;
            word = refs_path_last(refs_combine__text(combine, list->items[i].after));
            are_other = true;
            break;
        }
        REFS_TRY(refs_buf_append(&text, " ", text.size > 0, err));
        REFS_TRY(refs_buf_append_str(&text, word, err));
    }
    return are_other ? set_attribute(combine, array, "coordinates", refs_buf_text(&text), err)
                     : REFS_OK;
}

/* Renames the bounds of a level. */
static refs_status rename_bounds(refs_combine *combine, const refs_combine_member *member,
                                 const renamed *one, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    const refs_combine_place place = {member, one->array};
    refs_combine_array *bounds = bounds_of(combine, &place);
    uint32_t after;
    if (bounds == NULL) return REFS_OK;
    REFS_TRY(refs_buf_append_str(&path, refs_combine__text(combine, one->after), err));
    REFS_TRY(refs_buf_printf(&path, err, "_bounds"));
    const refs_str own = refs_path_last(refs_buf_text(&path));
    REFS_TRY(set_text(combine, &path, &after, err));
    REFS_TRY(set_path(combine, bounds, after, err));
    REFS_TRY(set_attribute(combine, one->array, "bounds", own, err));
    return refs_intern_add(&combine->strings, own, &one->array->bounds, err);
}

static refs_status rename_member(naming *at, refs_combine_member *member, refs_error *err) {
    REFS_SCOPED_BY(clear_renamed) renamed_levels list = {0};
    refs_combine *combine = at->combine;
    REFS_TRY(list_renamed(at, member, &list, err));
    if (list.n == 0) return REFS_OK;
    for (size_t i = 0; i < list.n; i++)
        REFS_TRY(rename_bounds(combine, member, &list.items[i], err));
    for (size_t k = 0; k < member->n_arrays; k++)
        REFS_TRY(rename_words(combine, &list, &member->arrays[k], err));
    for (size_t i = 0; i < list.n; i++)
        REFS_TRY(set_path(combine, list.items[i].array, list.items[i].after, err));
    return refs_combine__sort_paths(member, err);
}

refs_status refs_combine__name_levels(refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(clear_naming) naming at = {.combine = combine};
    bool are_renamed;
    if (refs_combine__is_aggregated(combine) || refs_combine__is_of_fields(combine)) return REFS_OK;
    REFS_TRY(list_levels(&at, err));
    REFS_TRY(name_all(&at, &are_renamed, err));
    for (size_t i = 0; i < combine->n_members && are_renamed; i++)
        REFS_TRY(rename_member(&at, &combine->members[i], err));
    return REFS_OK;
}
