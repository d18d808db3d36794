/* dim_search.c -- finds the dimensions along which parts differ, by comparing the coordinates of
 * all parts. */
#include "dim_search.h"

#include <stdlib.h>

/* -- compared values --------------------------------------------------------------------------- */

bool refs_dims__is_axis(const refs_combine *combine, const refs_combine_array *array) {
    return refs_combine__is_own_axis(&combine->strings, array);
}

bool refs_dims__is_known(const refs_combine_array *array) {
    return !array->is_piece && !array->are_texts &&
           (array->values != REFS_COMBINE_NONE || array->digest != REFS_COMBINE_NONE);
}

static bool have_one_type(const refs_combine_array *a, const refs_combine_array *b) {
    return refs_combine__is_one_type(&a->dtype, &b->dtype) && a->packing == b->packing &&
           a->units == b->units && a->calendar == b->calendar;
}

/* Compares long axes by samples: their digests or, if types or units differ, their elements. */
static bool have_one_digest(const refs_combine *combine, const refs_combine_array *a,
                            const refs_combine_array *b) {
    if (have_one_type(a, b)) return a->digest == b->digest;
    refs_combine_array spots[2] = {*a, *b};
    refs_values values[2];
    for (size_t i = 0; i < 2; i++) {
        values[i] = refs_combine__coordinates_of(combine, &spots[i]);
        values[i].bytes = refs_combine__digest_spots(refs_combine__text(combine, spots[i].digest));
    }
    return refs_combine__first_difference(&values[0], &values[1]) == UINT64_MAX;
}

static bool are_same(const refs_combine *combine, const refs_combine_array *a,
                     const refs_combine_array *b) {
    const bool are_axes = refs_dims__is_axis(combine, a) && refs_dims__is_axis(combine, b);
    if (are_axes && a->shape[0] != b->shape[0]) return false;
    if (a->digest != REFS_COMBINE_NONE && b->digest != REFS_COMBINE_NONE)
        return have_one_digest(combine, a, b);
    return (have_one_type(a, b) && a->values == b->values) ||
           refs_combine__are_one_coordinate(combine, a, b);
}

/* -- single values that say where a part lies -------------------------------------------------- */

bool refs_combine__is_instant(refs_combine_coordinate coordinate) {
    return coordinate == REFS_COMBINE_COORDINATE_TIME ||
           coordinate == REFS_COMBINE_COORDINATE_VALID_TIME ||
           coordinate == REFS_COMBINE_COORDINATE_REFERENCE_TIME;
}

/* Whether a part has a reference time: its valid time then follows from that and the lead time. */
static bool has_reference(const refs_combine *combine, const refs_combine_member *member) {
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        if (array->coordinate == REFS_COMBINE_COORDINATE_REFERENCE_TIME &&
            (array->named_by != REFS_COMBINE_NONE || refs_dims__is_axis(combine, array)))
            return true;
    }
    return false;
}

static bool tells_place(const refs_combine *combine, const refs_combine_place *at) {
    const refs_combine_coordinate coordinate = at->array->coordinate;
    return coordinate != REFS_COMBINE_COORDINATE_OTHER && refs_dims__is_known(at->array) &&
           !(coordinate == REFS_COMBINE_COORDINATE_VALID_TIME &&
             has_reference(combine, at->member));
}

bool refs_dims__has_one_value(const refs_combine *combine, const refs_combine_array *array) {
    const refs_str values = refs_combine__text(combine, array->values),
                   missing = refs_combine__text(combine, array->missing);
    return refs_combine__constant_of(values, missing, array->dtype.size).size > 0;
}

/* -- the search -------------------------------------------------------------------------------- */

bool refs_dims__has_name(const refs_dim_list *list, uint32_t name) {
    for (size_t i = 0; i < list->n; i++)
        if (list->names[i] == name) return true;
    return false;
}

static bool is_any_axis(const refs_dim_search *all, const refs_combine_place *at) {
    return refs_dims__is_known(at->array) && refs_dims__is_axis(all->combine, at->array);
}

uint32_t refs_dims__name_of(const refs_dim_search *all, const refs_combine_array *array,
                            size_t dim) {
    return refs_intern_find(&all->combine->strings,
                            refs_path_last(refs_combine__text(all->combine, array->dims[dim])));
}

static bool lies_along_base(const refs_dim_search *all, const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (!refs_dims__has_name(&all->base, refs_dims__name_of(all, array, dim))) return false;
    return true;
}

/* Whether a coordinate that variables name has a single value in a part: a scalar, or what a
 * combined set has instead of one along times, lead times, members, levels and the base. */
static bool is_single(const refs_dim_search *all, const refs_combine_place *at) {
    const refs_combine_array *array = at->array;
    if (array->named_by == REFS_COMBINE_NONE || !tells_place(all->combine, at) ||
        !refs_dims__has_one_value(all->combine, array))
        return false;
    for (size_t dim = 0; dim < array->rank; dim++) {
        const refs_combine_place axis = {at->member,
                                         refs_combine__find(at->member, array->dims[dim])};
        if (!refs_dims__has_name(&all->base, refs_dims__name_of(all, array, dim)) &&
            (axis.array == NULL || !refs_dims__is_axis(all->combine, axis.array) ||
             !tells_place(all->combine, &axis)))
            return false;
    }
    return true;
}

/* Whether a coordinate follows from the base: times follow from instants, and lead times from valid
 * times. */
static bool follows_from_base(const refs_dim_search *all, const refs_combine_array *array) {
    return (all->has_instant && refs_combine__is_instant(array->coordinate)) ||
           (all->has_valid_time && array->coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME &&
            !refs_dims__is_axis(all->combine, array));
}

bool refs_dims__is_beside_base(const refs_dim_search *all, const refs_combine_place *at) {
    const refs_combine_array *array = at->array;
    return !refs_dims__has_name(&all->base, array->name) && tells_place(all->combine, at) &&
           !follows_from_base(all, array) &&
           (refs_dims__is_axis(all->combine, array) || is_single(all, at));
}

/* Whether two coordinates can be compared: two axes, or two single values. */
static bool are_comparable(const refs_combine *combine, const refs_combine_array *a,
                           const refs_combine_array *b) {
    if (refs_dims__is_axis(combine, a) && refs_dims__is_axis(combine, b)) return true;
    return refs_dims__has_one_value(combine, a) && refs_dims__has_one_value(combine, b);
}

/* The first part with each coordinate, by name. */
typedef struct first_places {
    const refs_combine *combine;
    refs_intern names;
    refs_combine_place *places;
    size_t n, capacity;
} first_places;

static void clear_places(first_places *first) {
    refs_intern_clear(&first->names);
    refs_free(first->places);
}

/* Two parts that may differ. */
typedef struct two_parts {
    const refs_combine_member *members[2];
    bool do_differ;
} two_parts;

/* Compares a coordinate with the first one of that name; if there is none, it becomes the first. */
static refs_status compare_with(first_places *first, refs_str name, const refs_combine_place *at,
                                two_parts *found, refs_error *err) {
    const refs_combine *combine = first->combine;
    uint32_t id;
    REFS_TRY(refs_intern_add(&first->names, name, &id, err));
    if (id == first->n) {
        REFS_GROW(first->places, first->capacity, first->n, err);
        first->places[first->n++] = *at;
    }
    const refs_combine_place *place = &first->places[id];
    found->members[0] = place->member;
    found->members[1] = at->member;
    found->do_differ = are_comparable(combine, place->array, at->array) &&
                       !are_same(combine, place->array, at->array);
    return REFS_OK;
}

/* Compares a coordinate with the first one. Levels of a variable are compared with the first level
 * of the same variable, because others may differ. Most parts have the same variables as the
 * previous one. */
static refs_status compare_with_first(first_places *first, const refs_combine_place *at,
                                      two_parts *found, refs_error *err) {
    const refs_combine *combine = first->combine;
    const bool is_level = at->array->coordinate == REFS_COMBINE_COORDINATE_LEVEL &&
                          !refs_dims__is_axis(combine, at->array);
    refs_str variables =
        is_level ? refs_combine__text(combine, at->array->named_by) : refs_str_view("", 0);
    const size_t n_before = first->n;
    const char *variable;
    REFS_TRY(compare_with(first, variables, at, found, err));
    if (first->n == n_before) return REFS_OK;
    while (!found->do_differ && refs_str_next_text(&variables, &variable))
        REFS_TRY(compare_with(first, refs_str_from(variable), at, found, err));
    return REFS_OK;
}

/* Finds two parts with different values of an array for which `test` holds. */
static refs_status find_two(const refs_dim_search *all, uint32_t path, refs_dims_test *test,
                            two_parts *found, refs_error *err) {
    const refs_combine *combine = all->combine;
    REFS_SCOPED_BY(clear_places) first_places first = {.combine = combine};
    *found = (two_parts){0};
    for (size_t i = 0; i < combine->n_members && !found->do_differ; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_place at = {member, refs_combine__find(member, path)};
        if (at.array != NULL && test(all, &at))
            REFS_TRY(compare_with_first(&first, &at, found, err));
    }
    return REFS_OK;
}

refs_status refs_dims__add(refs_dim_list *list, uint32_t name, refs_error *err) {
    if (refs_dims__has_name(list, name)) return REFS_OK;
    if (list->n == REFS_COMBINE_MAX_DIMS)
        return refs_fail(err, REFS_LIMIT, "sources differ along more than %d dimensions",
                         REFS_COMBINE_MAX_DIMS);
    list->names[list->n++] = name;
    return REFS_OK;
}

static refs_status tell_unclear(const refs_dim_search *all, const refs_combine_array *array,
                                const refs_combine_member *const members[2], refs_error *err) {
    const refs_combine *combine = all->combine;
    const refs_str name = refs_combine__text(combine, array->name);
    REFS_SCOPED_BUF dims = REFS_BUF_INIT, options = REFS_BUF_INIT;
    for (size_t i = 0; i < all->base.n; i++) {
        const refs_str dim = refs_combine__text(combine, all->base.names[i]);
        REFS_TRY(refs_buf_printf(&dims, err, "%s%.*s", i > 0 ? ", " : "", REFS_STR_ARG(dim)));
        REFS_TRY(refs_buf_printf(&options, err, " --along %.*s", REFS_STR_ARG(dim)));
    }
    refs_note(&combine->options.notes, REFS_NOTE_WARNING,
              "%.*s: differs between %s and %s, which are combined along %.*s alone: for a "
              "dimension of its own, add --along %.*s%.*s",
              REFS_STR_ARG(name), members[0]->name, members[1]->name, (int)dims.size,
              (const char *)dims.data, REFS_STR_ARG(name), (int)options.size,
              (const char *)options.data);
    return REFS_OK;
}

/* Whether a coordinate that differs between parts may become one along the base: it has the base's
 * dimensions in the parts, or it is an instant, which gives scalars to lead times (times.c). */
static bool may_follow(const refs_dim_search *all, const refs_combine_array *array) {
    return array->rank > 0 ? lies_along_base(all, array)
                           : all->has_lead_time && refs_combine__is_instant(array->coordinate);
}

/* Whether a coordinate varies independently of the base: two parts have the same value. Otherwise
 * it may be a function of the base, and a warning says how to add it. Not checked if only the first
 * and last parts are known, nor for a recorded base. */
static refs_status varies_alone(const refs_dim_search *all, const refs_combine_array *array,
                                const refs_combine_member *const members[2], bool *does,
                                refs_error *err) {
    const refs_combine *combine = all->combine;
    *does = all->is_recorded || refs_combine__is_of_coordinates(combine) || !may_follow(all, array);
    if (*does) return REFS_OK;
    REFS_SCOPED uint8_t *seen = NULL;
    REFS_NEW(seen, combine->strings.count + 1, err);
    for (size_t i = 0; i < combine->n_members && !*does; i++) {
        const refs_combine_array *other = refs_combine__find(&combine->members[i], array->path);
        if (other == NULL || other->values == REFS_COMBINE_NONE) continue;
        *does = seen[other->values] != 0;
        seen[other->values] = 1;
    }
    return *does ? REFS_OK : tell_unclear(all, array, members, err);
}

/* Whether a coordinate is an axis of one part and a scalar of another: the first one is a set along
 * it, which may have one step or all steps of the other. */
static bool is_axis_of_some(const refs_dim_search *all, uint32_t path, refs_dims_test *test) {
    bool has_axis = false, has_scalar = false;
    for (size_t i = 0; i < all->combine->n_members; i++) {
        const refs_combine_member *member = &all->combine->members[i];
        const refs_combine_place at = {member, refs_combine__find(member, path)};
        if (at.array == NULL || !tells_place(all->combine, &at)) continue;
        has_axis = has_axis || (refs_dims__is_axis(all->combine, at.array) && test(all, &at));
        has_scalar = has_scalar || at.array->rank == 0;
    }
    return has_axis && has_scalar;
}

/* Whether a difference in a coordinate adds a dimension. */
static refs_status adds_dim(const refs_dim_search *all, const refs_combine_array *array,
                            refs_dims_test *test, bool *does, refs_error *err) {
    two_parts found;
    *does = is_axis_of_some(all, array->path, test);
    if (*does) return REFS_OK;
    REFS_TRY(find_two(all, array->path, test, &found, err));
    *does = found.do_differ;
    return *does && test == refs_dims__is_beside_base
               ? varies_alone(all, array, found.members, does, err)
               : REFS_OK;
}

/* Adds a coordinate that differs, with its dimensions: a scalar of a whole part applies to all its
 * positions. */
static refs_status add_coordinate(const refs_dim_search *all, const refs_combine_array *array,
                                  refs_dims_test *test, refs_dim_list *found, refs_error *err) {
    bool does;
    REFS_TRY(adds_dim(all, array, test, &does, err));
    if (!does) return REFS_OK;
    REFS_TRY(refs_dims__add(found, array->name, err));
    for (size_t dim = 0; dim < array->rank + array->constant_rank; dim++)
        if (!refs_dims__has_name(&all->base, refs_dims__name_of(all, array, dim)))
            REFS_TRY(refs_dims__add(found, refs_dims__name_of(all, array, dim), err));
    return REFS_OK;
}

static int by_name(const void *left, const void *right) {
    const refs_combine_member *const *a = left, *const *b = right;
    const int order = strcmp((*a)->name, (*b)->name);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

refs_status refs_dims__search(const refs_dim_search *all, refs_dims_test *test,
                              refs_dim_list *found, refs_error *err) {
    const refs_combine *combine = all->combine;
    REFS_SCOPED uint8_t *seen = NULL;
    REFS_SCOPED const refs_combine_member **members = NULL;
    REFS_NEW(seen, combine->strings.count + 1, err);
    REFS_NEW(members, combine->n_members + 1, err);
    for (size_t i = 0; i < combine->n_members; i++) members[i] = &combine->members[i];
    qsort(members, combine->n_members, sizeof *members, by_name);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < members[i]->n_arrays; k++) {
            const refs_combine_array *array = &members[i]->arrays[k];
            if (array->coordinate == REFS_COMBINE_COORDINATE_OTHER &&
                !refs_dims__is_axis(combine, array))
                continue;
            if (seen[array->path] != 0) continue;
            seen[array->path] = 1;
            REFS_TRY(add_coordinate(all, array, test, found, err));
        }
    return REFS_OK;
}

/* Finds variables and axes that two parts have in common. */
static refs_status find_common(refs_dim_search *all, refs_error *err) {
    enum { IS_SEEN = 1, IS_SHARED = 2 };
    const refs_combine *combine = all->combine;
    REFS_SCOPED uint8_t *seen = NULL;
    REFS_NEW(seen, combine->strings.count + 1, err);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_member *member = &combine->members[i];
            const refs_combine_array *array = &member->arrays[k];
            const bool is_coordinate = refs_dims__is_axis(combine, array);
            if (refs_combine__find(member, array->path) != array) continue;
            if (seen[array->path] == IS_SEEN) {
                all->has_variable = all->has_variable || !is_coordinate;
                all->n_axes += is_coordinate;
            }
            seen[array->path] = seen[array->path] == 0 ? IS_SEEN : IS_SHARED;
        }
    return REFS_OK;
}

const refs_combine_array *refs_dims__find_coordinate(const refs_combine *combine, uint32_t name) {
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            if (array->name == name && array->rank <= 1) return array;
        }
    return NULL;
}

/* Whether a part has a coordinate that variables name. */
static bool has_named(const refs_combine_member *member, refs_combine_coordinate coordinate) {
    for (size_t i = 0; i < member->n_arrays; i++)
        if (member->arrays[i].coordinate == coordinate &&
            member->arrays[i].named_by != REFS_COMBINE_NONE)
            return true;
    return false;
}

void refs_dims__drop_valid_time(const refs_dim_search *all, refs_dim_list *list) {
    const refs_combine_member *first = &all->combine->members[0];
    size_t n = 0;
    if (all->base.n + all->more.n < 2 || !has_named(first, REFS_COMBINE_COORDINATE_TIME) ||
        !has_named(first, REFS_COMBINE_COORDINATE_LEAD_TIME))
        return;
    for (size_t i = 0; i < list->n; i++)
        if (refs_dims__find_coordinate(all->combine, list->names[i])->coordinate !=
            REFS_COMBINE_COORDINATE_VALID_TIME)
            list->names[n++] = list->names[i];
    list->n = n;
}

refs_status refs_dims__find_base(refs_dim_search *all, refs_error *err) {
    REFS_TRY(find_common(all, err));
    REFS_TRY(refs_dims__search(all, is_any_axis, &all->base, err));
    if (!all->has_variable && !(all->base.n == 1 && all->n_axes > 1)) all->base.n = 0;
    if (all->base.n > 0 || !all->has_variable) return REFS_OK;
    REFS_TRY(refs_dims__search(all, is_single, &all->base, err));
    refs_dims__drop_valid_time(all, &all->base);
    return REFS_OK;
}

void refs_dims__describe_base(refs_dim_search *all) {
    for (size_t i = 0; i < all->base.n; i++) {
        const refs_combine_array *found =
            refs_dims__find_coordinate(all->combine, all->base.names[i]);
        if (found == NULL || refs_combine__is_instant(found->coordinate)) all->has_instant = true;
        if (found != NULL && found->coordinate == REFS_COMBINE_COORDINATE_VALID_TIME)
            all->has_valid_time = true;
        if (found != NULL && found->coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME)
            all->has_lead_time = true;
    }
}

void refs_dims__search_base(const refs_combine *combine, refs_dim_search *all) {
    *all = (refs_dim_search){.combine = combine};
    memcpy(all->base.names, combine->dims, combine->n_dims * sizeof *combine->dims);
    all->base.n = combine->n_dims;
    refs_dims__describe_base(all);
}

bool refs_combine__places_fields(const refs_combine *combine, const refs_combine_place *at) {
    refs_dim_search all;
    refs_dims__search_base(combine, &all);
    return at->array->named_by != REFS_COMBINE_NONE && tells_place(combine, at) &&
           !refs_dims__has_name(&all.base, at->array->name) && !follows_from_base(&all, at->array);
}
