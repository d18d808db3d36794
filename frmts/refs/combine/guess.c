/* guess.c -- detects the concat dimensions if the caller names none, by comparing the coordinates
 * of all parts; see refs/combine.h. */
#include "combine_internal.h"

#include <stdlib.h>

/* -- what is compared -------------------------------------------------------------------------- */

static bool is_axis(const refs_combine *combine, const refs_combine_array *array) {
    return refs_combine__is_own_axis(&combine->strings, array);
}

static bool is_known(const refs_combine_array *array) {
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
    const bool are_axes = is_axis(combine, a) && is_axis(combine, b);
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
            (array->named_by != REFS_COMBINE_NONE || is_axis(combine, array)))
            return true;
    }
    return false;
}

static bool tells_place(const refs_combine *combine, const refs_combine_place *at) {
    const refs_combine_coordinate coordinate = at->array->coordinate;
    return coordinate != REFS_COMBINE_COORDINATE_OTHER && is_known(at->array) &&
           !(coordinate == REFS_COMBINE_COORDINATE_VALID_TIME &&
             has_reference(combine, at->member));
}

static bool has_one_value(const refs_combine *combine, const refs_combine_array *array) {
    const refs_str values = refs_combine__text(combine, array->values),
                   missing = refs_combine__text(combine, array->missing);
    return refs_combine__constant_of(values, missing, array->dtype.size).size > 0;
}

/* -- the search -------------------------------------------------------------------------------- */

/* Dimension names, as numbers of strings. */
typedef struct dim_list {
    uint32_t names[REFS_COMBINE_MAX_DIMS];
    size_t n;
} dim_list;

typedef struct dim_search {
    const refs_combine *combine;
    refs_intern *strings; /* of it */
    dim_list base, more;  /* base: recorded dimensions, or those that differ; more: coordinates that
                             differ in addition */
    bool is_recorded;     /* base was recorded in the set */
    bool has_instant, has_valid_time, has_lead_time; /* base has a dimension of this kind */
    bool has_variable;                               /* two parts have a variable in common */
    size_t n_axes; /* coordinate axes that two parts have in common */
} dim_search;

static bool has_name(const dim_list *list, uint32_t name) {
    for (size_t i = 0; i < list->n; i++)
        if (list->names[i] == name) return true;
    return false;
}

/* Whether a difference in this array means that parts lie apart along it. */
typedef bool may_tell(const dim_search *all, const refs_combine_place *at);

static bool is_any_axis(const dim_search *all, const refs_combine_place *at) {
    return is_known(at->array) && is_axis(all->combine, at->array);
}

/* The name of a dimension of an array. */
static uint32_t dim_name(const dim_search *all, const refs_combine_array *array, size_t dim) {
    return refs_intern_find(&all->combine->strings,
                            refs_path_last(refs_combine__text(all->combine, array->dims[dim])));
}

static bool lies_along_base(const dim_search *all, const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (!has_name(&all->base, dim_name(all, array, dim))) return false;
    return true;
}

/* Whether a coordinate that variables name has one value for all of the part: a scalar, or what
 * sets make of one along times, lead times, members, levels and the base. */
static bool is_single(const dim_search *all, const refs_combine_place *at) {
    const refs_combine_array *array = at->array;
    if (array->named_by == REFS_COMBINE_NONE || !tells_place(all->combine, at) ||
        !has_one_value(all->combine, array))
        return false;
    for (size_t dim = 0; dim < array->rank; dim++) {
        const refs_combine_place axis = {at->member,
                                         refs_combine__find(at->member, array->dims[dim])};
        if (!has_name(&all->base, dim_name(all, array, dim)) &&
            (axis.array == NULL || !is_axis(all->combine, axis.array) ||
             !tells_place(all->combine, &axis)))
            return false;
    }
    return true;
}

/* Whether a coordinate follows from the base: times follow from instants, and lead times from valid
 * times. */
static bool follows_from_base(const dim_search *all, const refs_combine_array *array) {
    return (all->has_instant && refs_combine__is_instant(array->coordinate)) ||
           (all->has_valid_time && array->coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME &&
            !is_axis(all->combine, array));
}

/* Whether a coordinate may be one more concat dimension: an axis, or one value for all of the part
 * that does not follow from the base. */
static bool is_beside_base(const dim_search *all, const refs_combine_place *at) {
    const refs_combine_array *array = at->array;
    return !has_name(&all->base, array->name) && tells_place(all->combine, at) &&
           !follows_from_base(all, array) && (is_axis(all->combine, array) || is_single(all, at));
}

/* Whether two coordinates can be compared: two axes, or two single values. */
static bool are_comparable(const refs_combine *combine, const refs_combine_array *a,
                           const refs_combine_array *b) {
    if (is_axis(combine, a) && is_axis(combine, b)) return true;
    return has_one_value(combine, a) && has_one_value(combine, b);
}

/* The first parts with a coordinate, by names. */
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

/* Compares a coordinate with the first of a name, which it is where there is none. */
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

/* Compares a coordinate with the first one. Levels of variables are compared with the first of the
 * same variable: others may lie at other ones. Most parts have the variables of one before. */
static refs_status compare_with_first(first_places *first, const refs_combine_place *at,
                                      two_parts *found, refs_error *err) {
    const refs_combine *combine = first->combine;
    const bool is_level =
        at->array->coordinate == REFS_COMBINE_COORDINATE_LEVEL && !is_axis(combine, at->array);
    const refs_str variables =
        is_level ? refs_combine__text(combine, at->array->named_by) : refs_str_view("", 0);
    const size_t n_before = first->n;
    REFS_TRY(compare_with(first, variables, at, found, err));
    if (first->n == n_before) return REFS_OK;
    for (size_t i = 0; i < variables.size && !found->do_differ; i += strlen(variables.data + i) + 1)
        REFS_TRY(compare_with(first, refs_str_from(variables.data + i), at, found, err));
    return REFS_OK;
}

/* Finds two parts with different values of an array for which `test` holds. */
static refs_status find_two(const dim_search *all, uint32_t path, may_tell *test, two_parts *found,
                            refs_error *err) {
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

static refs_status add_dim(dim_list *list, uint32_t name, refs_error *err) {
    if (has_name(list, name)) return REFS_OK;
    if (list->n == REFS_COMBINE_MAX_DIMS)
        return refs_fail(err, REFS_LIMIT, "sources differ along more than %d dimensions",
                         REFS_COMBINE_MAX_DIMS);
    list->names[list->n++] = name;
    return REFS_OK;
}

static refs_status tell_unclear(const dim_search *all, const refs_combine_array *array,
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

/* Whether the result may have a coordinate along the base that differs between parts: one that lies
 * along it in these, or an instant, which scalars give to lead times (times.c). */
static bool may_follow(const dim_search *all, const refs_combine_array *array) {
    return array->rank > 0 ? lies_along_base(all, array)
                           : all->has_lead_time && refs_combine__is_instant(array->coordinate);
}

/* Whether a coordinate varies independently of the base: two parts have the same value. Otherwise
 * it may be a function of the base, and a warning says how to add it. Not checked where only the
 * first and last part are known, nor for a recorded base. */
static refs_status varies_alone(const dim_search *all, const refs_combine_array *array,
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

/* Whether a coordinate is an axis of one part, and a scalar of another: a set along the first,
 * which may have one step or all that the other has. */
static bool is_axis_of_some(const dim_search *all, uint32_t path, may_tell *test) {
    bool has_axis = false, has_scalar = false;
    for (size_t i = 0; i < all->combine->n_members; i++) {
        const refs_combine_member *member = &all->combine->members[i];
        const refs_combine_place at = {member, refs_combine__find(member, path)};
        if (at.array == NULL || !tells_place(all->combine, &at)) continue;
        has_axis = has_axis || (is_axis(all->combine, at.array) && test(all, &at));
        has_scalar = has_scalar || at.array->rank == 0;
    }
    return has_axis && has_scalar;
}

/* Whether a difference in a coordinate adds a dimension. */
static refs_status adds_dim(const dim_search *all, const refs_combine_array *array, may_tell *test,
                            bool *does, refs_error *err) {
    two_parts found;
    *does = is_axis_of_some(all, array->path, test);
    if (*does) return REFS_OK;
    REFS_TRY(find_two(all, array->path, test, &found, err));
    *does = found.do_differ;
    return *does && test == is_beside_base ? varies_alone(all, array, found.members, does, err)
                                           : REFS_OK;
}

/* Adds a coordinate that differs, and the dimensions along which it lies: a scalar for all of a
 * part has all its places. */
static refs_status add_coordinate(const dim_search *all, const refs_combine_array *array,
                                  may_tell *test, dim_list *found, refs_error *err) {
    bool does;
    REFS_TRY(adds_dim(all, array, test, &does, err));
    if (!does) return REFS_OK;
    REFS_TRY(add_dim(found, array->name, err));
    for (size_t dim = 0; dim < array->rank + array->constant_rank; dim++)
        if (!has_name(&all->base, dim_name(all, array, dim)))
            REFS_TRY(add_dim(found, dim_name(all, array, dim), err));
    return REFS_OK;
}

static int by_name(const void *left, const void *right) {
    const refs_combine_member *const *a = left, *const *b = right;
    const int order = strcmp((*a)->name, (*b)->name);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

/* Adds the coordinates that differ, in the order of the first part by name that has each: whatever
 * the order of the parts, their dimensions have one. */
static refs_status search(const dim_search *all, may_tell *test, dim_list *found, refs_error *err) {
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
            if (array->coordinate == REFS_COMBINE_COORDINATE_OTHER && !is_axis(combine, array))
                continue;
            if (seen[array->path] != 0) continue;
            seen[array->path] = 1;
            REFS_TRY(add_coordinate(all, array, test, found, err));
        }
    return REFS_OK;
}

/* Finds variables and axes that two parts have in common. */
static refs_status find_common(dim_search *all, refs_error *err) {
    enum { IS_SEEN = 1, IS_SHARED = 2 };
    const refs_combine *combine = all->combine;
    REFS_SCOPED uint8_t *seen = NULL;
    REFS_NEW(seen, combine->strings.count + 1, err);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_member *member = &combine->members[i];
            const refs_combine_array *array = &member->arrays[k];
            const bool is_coordinate = is_axis(combine, array);
            if (refs_combine__find(member, array->path) != array) continue;
            if (seen[array->path] == IS_SEEN) {
                all->has_variable = all->has_variable || !is_coordinate;
                all->n_axes += is_coordinate;
            }
            seen[array->path] = seen[array->path] == 0 ? IS_SEEN : IS_SHARED;
        }
    return REFS_OK;
}

/* The coordinate of a dimension, from the first part that has it; or NULL. */
static const refs_combine_array *find_coordinate(const refs_combine *combine, uint32_t name) {
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

/* Removes the valid time from several dimensions: if a part has a lead time and an instant without
 * a standard name, which is its reference time, the valid time follows from them. */
static void drop_valid_time(const dim_search *all, dim_list *list) {
    const refs_combine_member *first = &all->combine->members[0];
    size_t n = 0;
    if (all->base.n + all->more.n < 2 || !has_named(first, REFS_COMBINE_COORDINATE_TIME) ||
        !has_named(first, REFS_COMBINE_COORDINATE_LEAD_TIME))
        return;
    for (size_t i = 0; i < list->n; i++)
        if (find_coordinate(all->combine, list->names[i])->coordinate !=
            REFS_COMBINE_COORDINATE_VALID_TIME)
            list->names[n++] = list->names[i];
    list->n = n;
}

/* Finds the base: axes that differ, else scalars. Sets without a common variable are combined only
 * if they share a grid and one axis differs. */
static refs_status find_base(dim_search *all, refs_error *err) {
    REFS_TRY(find_common(all, err));
    REFS_TRY(search(all, is_any_axis, &all->base, err));
    if (!all->has_variable && !(all->base.n == 1 && all->n_axes > 1)) all->base.n = 0;
    if (all->base.n > 0 || !all->has_variable) return REFS_OK;
    REFS_TRY(search(all, is_single, &all->base, err));
    drop_valid_time(all, &all->base);
    return REFS_OK;
}

/* Sets has_instant and its like. A dimension without a variable counts as an instant, so that
 * times are not added to it. */
static void describe_base(dim_search *all) {
    for (size_t i = 0; i < all->base.n; i++) {
        const refs_combine_array *found = find_coordinate(all->combine, all->base.names[i]);
        if (found == NULL || refs_combine__is_instant(found->coordinate)) all->has_instant = true;
        if (found != NULL && found->coordinate == REFS_COMBINE_COORDINATE_VALID_TIME)
            all->has_valid_time = true;
        if (found != NULL && found->coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME)
            all->has_lead_time = true;
    }
}

static void search_base(const refs_combine *combine, dim_search *all) {
    *all = (dim_search){.combine = combine};
    memcpy(all->base.names, combine->dims, combine->n_dims * sizeof *combine->dims);
    all->base.n = combine->n_dims;
    describe_base(all);
}

bool refs_combine__places_fields(const refs_combine *combine, const refs_combine_place *at) {
    dim_search all;
    search_base(combine, &all);
    return at->array->named_by != REFS_COMBINE_NONE && tells_place(combine, at) &&
           !has_name(&all.base, at->array->name) && !follows_from_base(&all, at->array);
}

/* -- where variables lie ----------------------------------------------------------------------- */

#define N_COORDINATES (REFS_COMBINE_COORDINATE_LEVEL + 1)

/* Where a variable lies by coordinates of one kind without concat dimensions. */
typedef struct placed {
    refs_combine_place first;        /* the first coordinate; or NULL */
    const refs_combine_member *last; /* the last part seen whose variable has one */
} placed;

typedef struct placing {
    dim_search all;
    refs_intern variables; /* that name coordinates */
    placed *places;        /* of each of them, for each kind */
    uint8_t *is_along;     /* for each path, 1 if it gets or has a concat dimension in any part */
    bool is_held[N_COORDINATES]; /* concat dimensions have this kind */
} placing;

static void clear_placing(placing *at) {
    refs_intern_clear(&at->variables);
    refs_free(at->places);
    refs_free(at->is_along);
}

static bool is_named_by(const refs_combine *combine, const refs_combine_array *array,
                        refs_str variable) {
    const refs_str names = refs_combine__text(combine, array->named_by);
    for (size_t i = 0; i < names.size; i += strlen(names.data + i) + 1)
        if (refs_str_is(variable, names.data + i)) return true;
    return false;
}

static bool is_along(const dim_search *all, const refs_combine_place *at) {
    const refs_combine *combine = all->combine;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        if (at->array->gets_new && at->member->axes[concat].is_new) return true;
    for (size_t dim = 0; dim < at->array->rank; dim++)
        if (has_name(&all->base, dim_name(all, at->array, dim))) return true;
    return at->array->repeats != 0 || has_name(&all->base, at->array->name);
}

/* Lists variables that name coordinates, and coordinates along concat dimensions. */
static refs_status list_named(placing *at, refs_error *err) {
    const refs_combine *combine = at->all.combine;
    uint32_t before = REFS_COMBINE_NONE, id;
    REFS_NEW(at->is_along, combine->strings.count + 1, err);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_place place = {&combine->members[i], &combine->members[i].arrays[k]};
            if (is_along(&at->all, &place)) at->is_along[place.array->path] = 1;
            if (place.array->named_by == before) continue;
            before = place.array->named_by;
            const refs_str names = refs_combine__text(combine, place.array->named_by);
            for (size_t n = 0; n < names.size; n += strlen(names.data + n) + 1)
                REFS_TRY(refs_intern_add(&at->variables, refs_str_from(names.data + n), &id, err));
        }
    REFS_NEW(at->places, N_COORDINATES * at->variables.count + 1, err);
    return REFS_OK;
}

/* The concat dimension of a kind, whose coordinate is a scalar of a part; or NULL. */
static const refs_combine_array *scalar_axis(const refs_combine *combine,
                                             const refs_combine_place *at) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const refs_combine_axis *axis = &at->member->axes[concat];
        if (axis->array == REFS_COMBINE_NONE || !axis->is_new) continue;
        const refs_combine_array *array = &at->member->arrays[axis->array];
        if (array->coordinate == at->array->coordinate) return array;
    }
    return NULL;
}

/* Whether single values of one kind differ. Units of one coordinate that cannot be converted are
 * told later. */
static bool lie_apart(const refs_combine *combine, const refs_combine_array *a,
                      const refs_combine_array *b) {
    if (!has_one_value(combine, a) || !has_one_value(combine, b) ||
        refs_combine__are_one_coordinate(combine, a, b))
        return false;
    return a->path != b->path ||
           refs_combine__conversion(combine, a, b) != REFS_CF_CONVERSION_UNKNOWN;
}

/* Appends "3", or "500 hPa" if `units` are given; "unreadable" where no value is known. */
static refs_status append_value(const refs_combine *combine, const refs_combine_array *array,
                                refs_str units, refs_buf *text, refs_error *err) {
    char shown[REFS_VALUE_TEXT];
    refs_values values = refs_combine__coordinates_of(combine, array);
    values.bytes = refs_combine__constant_of(values.bytes, values.missing, array->dtype.size);
    values.missing = refs_str_view("", 0);
    if (values.bytes.size < array->dtype.size) return refs_buf_printf(text, err, "unreadable");
    const refs_value value = refs_combine__unpacked_at(&values, 0);
    return refs_buf_printf(text, err, "%s%s%.*s", refs_combine__print_value(&value, shown),
                           units.size > 0 ? " " : "", REFS_STR_ARG(units));
}

/* Fails where a coordinate differs that no concat dimension holds. */
static refs_status fail_differing(const refs_combine *combine, const refs_combine_place *one,
                                  const refs_combine_place *other, refs_error *err) {
    const refs_combine_array *a = one->array, *b = other->array;
    const bool has_units = a->units != b->units;
    const refs_str path = refs_combine__text(combine, a->path), none = refs_str_view("", 0);
    const char *const names[2] = {one->member->name, other->member->name};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "element 0 of %.*s is ", REFS_STR_ARG(path)));
    REFS_TRY(append_value(combine, a, has_units ? refs_combine__text(combine, a->units) : none,
                          &text, err));
    REFS_TRY(refs_buf_printf(&text, err, " and "));
    REFS_TRY(append_value(combine, b, has_units ? refs_combine__text(combine, b->units) : none,
                          &text, err));
    return refs_combine__fail_apart(combine, a, names, refs_buf_text(&text), err);
}

/* Appends "lev is 500 hPa in a.nc". */
static refs_status append_place(const refs_combine *combine, const refs_combine_place *at,
                                refs_buf *text, refs_error *err) {
    const refs_str units = refs_combine__text(combine, at->array->units),
                   none = refs_str_view("", 0);
    REFS_TRY(refs_buf_printf(text, err, "%.*s is ",
                             REFS_STR_ARG(refs_combine__text(combine, at->array->path))));
    REFS_TRY(append_value(combine, at->array, refs_str_is(units, "1") ? none : units, text, err));
    return refs_buf_printf(text, err, " in %s", at->member->name);
}

/* Fails where a variable lies at two places that the result cannot tell apart, or at one and none:
 * `other` has no array then. */
static refs_status fail_placed(const refs_combine *combine, refs_str variable,
                               const refs_combine_place *one, const refs_combine_place *other,
                               refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (other->array != NULL && one->array->path == other->array->path)
        return fail_differing(combine, one, other, err);
    REFS_TRY(append_place(combine, one, &text, err));
    REFS_TRY(refs_buf_printf(&text, err, ", but "));
    if (other->array != NULL)
        REFS_TRY(append_place(combine, other, &text, err));
    else
        REFS_TRY(
            refs_buf_printf(&text, err, "it has no such coordinate in %s", other->member->name));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: %.*s: combine sources in which it has one coordinate of this kind, of "
                     "one name, or leave it out (--variables)",
                     REFS_STR_ARG(variable), (int)text.size, (const char *)text.data);
}

/* The coordinate of the first part to compare with: that of the same name, if the variable names it
 * there; none, if the variable has the other one here, too. */
static const refs_combine_array *counterpart(const refs_combine *combine, refs_str variable,
                                             const refs_combine_place *first,
                                             const refs_combine_place *at) {
    const refs_combine_array *same = refs_combine__find(first->member, at->array->path),
                             *other = refs_combine__find(at->member, first->array->path);
    if (same != NULL && is_named_by(combine, same, variable)) return same;
    return other != NULL && is_named_by(combine, other, variable) ? NULL : first->array;
}

static bool has_variable(const refs_combine *combine, const refs_combine_member *member,
                         refs_str variable) {
    const uint32_t path = refs_intern_find(&combine->strings, variable);
    if (path == REFS_INTERN_NONE) return false;
    for (size_t i = 0; i < member->n_entries; i++)
        if (member->entries[i].array.path == path) return true;
    return refs_combine__find(member, path) != NULL;
}

static placed *place_of(const placing *at, refs_str variable, refs_combine_coordinate kind) {
    const uint32_t id = refs_intern_find(&at->variables, variable);
    return id == REFS_INTERN_NONE ? NULL : &at->places[id * N_COORDINATES + (size_t)kind];
}

/* Compares a coordinate of a variable with that of the parts before, or with the scalar coordinate
 * of a concat dimension of its kind. */
static refs_status check_place(placing *at, refs_str variable, const refs_combine_place *place,
                               refs_error *err) {
    const refs_combine *combine = at->all.combine;
    placed *known = place_of(at, variable, place->array->coordinate);
    const refs_combine_place axis = {place->member, scalar_axis(combine, place)};
    if (at->is_along[place->array->path] != 0 || !is_beside_base(&at->all, place) ||
        !has_variable(combine, place->member, variable))
        return REFS_OK;
    if (axis.array != NULL)
        return !is_named_by(combine, axis.array, variable) &&
                       lie_apart(combine, axis.array, place->array)
                   ? fail_placed(combine, variable, &axis, place, err)
                   : REFS_OK;
    if (known->first.member == NULL) known->first = *place;
    const refs_combine_array *other = counterpart(combine, variable, &known->first, place);
    const refs_combine_place first = {known->first.member, other};
    return other != NULL && first.member != place->member && lie_apart(combine, other, place->array)
               ? fail_placed(combine, variable, &first, place, err)
               : REFS_OK;
}

/* The axis of a variable that is of a kind; or NULL. */
static const refs_combine_array *axis_of(const refs_combine_place *variable,
                                         refs_combine_coordinate kind) {
    for (size_t dim = 0; dim < variable->array->rank; dim++) {
        const refs_combine_array *axis =
            refs_combine__find(variable->member, variable->array->dims[dim]);
        if (axis != NULL && axis->coordinate == kind) return axis;
    }
    return NULL;
}

/* Fails where a variable that has an axis of levels would also get the scalar level of other
 * variables as a dimension. */
static refs_status check_axis(placing *at, const refs_combine_place *variable, refs_error *err) {
    const refs_combine *combine = at->all.combine;
    const refs_combine_array *own = axis_of(variable, REFS_COMBINE_COORDINATE_LEVEL);
    const refs_str name = refs_combine__text(combine, variable->array->path);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (own == NULL || own == variable->array || !variable->array->gets_new) return REFS_OK;
    const refs_combine_place of_own = {variable->member, own},
                             scalar = {variable->member, scalar_axis(combine, &of_own)};
    if (scalar.array == NULL || scalar.array == own ||
        scalar.array->named_by == REFS_COMBINE_NONE || is_named_by(combine, scalar.array, name))
        return REFS_OK;
    REFS_TRY(append_place(combine, &scalar, &text, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: %.*s, but it lies along %.*s: do not combine along %.*s, or leave it "
                     "out (--variables)",
                     REFS_STR_ARG(name), (int)text.size, (const char *)text.data,
                     REFS_STR_ARG(refs_combine__text(combine, own->path)),
                     REFS_STR_ARG(refs_combine__text(combine, scalar.array->path)));
}

/* Fails where a variable has no coordinate of a kind of which other parts have one. */
static refs_status check_without(placing *at, const refs_combine_place *variable, refs_error *err) {
    static const refs_combine_coordinate kinds[] = {REFS_COMBINE_COORDINATE_LEAD_TIME,
                                                    REFS_COMBINE_COORDINATE_MEMBER,
                                                    REFS_COMBINE_COORDINATE_LEVEL};
    const refs_combine *combine = at->all.combine;
    const refs_str name = refs_combine__text(combine, variable->array->path);
    const refs_combine_place without = {variable->member, NULL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const placed *known = place_of(at, name, kinds[i]);
        if (known == NULL || at->is_held[kinds[i]] || known->first.member == NULL ||
            known->last == variable->member || axis_of(variable, kinds[i]) != NULL)
            continue;
        /* one that has other units is of no kind, and compared by its name */
        const refs_combine_array *same =
            refs_combine__find(variable->member, known->first.array->path);
        if (same == NULL || same->coordinate == kinds[i])
            return fail_placed(combine, name, &known->first, &without, err);
    }
    return REFS_OK;
}

/* Whether two parts have the same arrays, which the same variables name, at the same places. */
static bool are_alike(const placing *at, const refs_combine_member *one,
                      const refs_combine_member *other) {
    if (one->n_arrays != other->n_arrays || one->n_entries > 0 || other->n_entries > 0)
        return false;
    for (size_t i = 0; i < one->n_arrays; i++) {
        const refs_combine_array *a = &one->arrays[i], *b = &other->arrays[i];
        if (a->path != b->path || a->named_by != b->named_by || a->coordinate != b->coordinate)
            return false;
        if (a->named_by == REFS_COMBINE_NONE || at->is_along[a->path] != 0) continue;
        if (at->is_held[a->coordinate] || lie_apart(at->all.combine, a, b)) return false;
    }
    return true;
}

static refs_status check_coordinates(placing *at, const refs_combine_member *member,
                                     refs_error *err) {
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_place place = {member, &member->arrays[i]};
        const refs_str names = refs_combine__text(at->all.combine, place.array->named_by);
        for (size_t n = 0; n < names.size; n += strlen(names.data + n) + 1)
            REFS_TRY(check_place(at, refs_str_from(names.data + n), &place, err));
    }
    return REFS_OK;
}

static refs_status check_variables(placing *at, const refs_combine_member *member,
                                   refs_error *err) {
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        const refs_str names = refs_combine__text(at->all.combine, array->named_by);
        for (size_t n = 0; n < names.size; n += strlen(names.data + n) + 1)
            place_of(at, refs_str_from(names.data + n), array->coordinate)->last = member;
    }
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_place variable = {member, &member->arrays[i]};
        REFS_TRY(check_axis(at, &variable, err));
        REFS_TRY(check_without(at, &variable, err));
    }
    return REFS_OK;
}

typedef refs_status check_member(placing *at, const refs_combine_member *member, refs_error *err);

static refs_status check_members(placing *at, check_member *check, refs_error *err) {
    const refs_combine *combine = at->all.combine;
    const refs_combine_member *before = NULL;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        if (before != NULL && are_alike(at, before, member)) continue;
        REFS_TRY(check(at, member, err));
        before = member;
    }
    return REFS_OK;
}

refs_status refs_combine__check_scalars(const refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(clear_placing) placing at = {.is_along = NULL};
    search_base(combine, &at.all);
    for (size_t i = 0; i < at.all.base.n; i++) {
        const refs_combine_array *found = find_coordinate(combine, at.all.base.names[i]);
        if (found != NULL) at.is_held[found->coordinate] = true;
    }
    REFS_TRY(list_named(&at, err));
    REFS_TRY(check_members(&at, check_coordinates, err));
    return check_members(&at, check_variables, err);
}

/* -- where there is none ----------------------------------------------------------------------- */

/* Most names in a message. */
#define MAX_SHOWN 5

/* Lists the variables that another part lacks. */
static refs_status list_variables(const refs_combine *combine,
                                  const refs_combine_member *const members[2], refs_buf *text,
                                  refs_error *err) {
    size_t n = 0;
    REFS_TRY(refs_buf_printf(text, err, "%s has ", members[0]->name));
    for (size_t i = 0; i < members[0]->n_arrays; i++) {
        const refs_combine_array *array = &members[0]->arrays[i];
        if (is_axis(combine, array) || refs_combine__find(members[1], array->path) != NULL ||
            ++n > MAX_SHOWN)
            continue;
        REFS_TRY(refs_buf_printf(text, err, "%s%.*s", n > 1 ? ", " : "",
                                 REFS_STR_ARG(refs_combine__text(combine, array->path))));
    }
    return refs_buf_printf(text, err, "%s", n == 0 ? "none" : n > MAX_SHOWN ? ", …" : "");
}

/* For the message that no dimension was found: coordinates and times of two parts. */
typedef struct compared {
    refs_buf times, unknown; /* times that differ, and coordinates that cannot be compared */
    size_t n_axes;           /* number of axes that both have */
} compared;

static refs_status add_name(const refs_combine *combine, const refs_combine_array *array,
                            refs_buf *names, refs_error *err) {
    const bool is_along = !is_axis(combine, array) && array->rank == 1;
    const refs_str dim =
        is_along ? refs_combine__text(combine, array->dims[0]) : refs_str_view("", 0);
    return refs_buf_printf(names, err, "%s%.*s%s%.*s%s", names->size > 0 ? ", " : "",
                           REFS_STR_ARG(refs_combine__text(combine, array->path)),
                           is_along ? " (along " : "", REFS_STR_ARG(dim), is_along ? ")" : "");
}

static refs_status compare_named(const refs_combine *combine, const refs_combine_array *a,
                                 const refs_combine_array *b, compared *lists, refs_error *err) {
    const bool is_one_axis = is_axis(combine, a), are_axes = is_one_axis && is_axis(combine, b);
    const bool are_known = is_known(a) && is_known(b);
    lists->n_axes += are_axes;
    if (is_one_axis != is_axis(combine, b) || (are_axes && !are_known))
        return add_name(combine, a, &lists->unknown, err);
    const bool are_times = !are_axes && are_known && refs_combine__is_instant(a->coordinate) &&
                           refs_combine__is_instant(b->coordinate);
    return are_times && !refs_combine__have_one_value(combine, a, b)
               ? add_name(combine, a, &lists->times, err)
               : REFS_OK;
}

static refs_status fail_between(const refs_combine_member *const members[2], const compared *lists,
                                const char *along, refs_error *err) {
    const char *one = members[0]->name, *other = members[1]->name;
    const refs_buf *times = &lists->times, *unknown = &lists->unknown;
    if (unknown->size > 0)
        return refs_fail(
            err, REFS_INVALID,
            "coordinates of %s and %s cannot be compared (%.*s): name the concat dimension (%s)",
            one, other, (int)unknown->size, (const char *)unknown->data, along);
    if (times->size > 0)
        return refs_fail(err, REFS_INVALID,
                         "%s and %s differ in %.*s, but not in the coordinate of a dimension: name "
                         "the concat dimension (%s)",
                         one, other, (int)times->size, (const char *)times->data, along);
    return refs_fail(
        err, REFS_INVALID,
        lists->n_axes > 0
            ? "the coordinates of %s and %s are the same: name the concat dimension (%s)"
            : "%s and %s have no coordinate in common: name the concat dimension (%s)",
        one, other, along);
}

static refs_status fail_without_variable(const refs_combine *combine,
                                         const refs_combine_member *const members[2],
                                         const char *along, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_combine_member *const other_way[2] = {members[1], members[0]};
    REFS_TRY(list_variables(combine, members, &text, err));
    REFS_TRY(refs_buf_printf(&text, err, ", "));
    REFS_TRY(list_variables(combine, other_way, &text, err));
    return refs_fail(err, REFS_INVALID,
                     "no variable in common: %.*s: combine files of one data set, or, if "
                     "they share a grid, name the concat dimension (%s)",
                     (int)text.size, (const char *)text.data, along);
}

/* Whether both have variables with dimensions, and none of them in common: scalars that they share,
 * such as grid mappings, only describe others. */
static bool share_none(const refs_combine *combine, const refs_combine_member *const members[2]) {
    size_t n[2] = {0, 0};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < members[k]->n_arrays; i++) {
            const refs_combine_array *array = &members[k]->arrays[i];
            if (array->rank == 0 || is_axis(combine, array)) continue;
            if (refs_combine__find(members[1 - k], array->path) != NULL) return false;
            n[k]++;
        }
    return n[0] > 0 && n[1] > 0;
}

static refs_status fail_for(const dim_search *all, const char *along, refs_error *err) {
    const refs_combine *combine = all->combine;
    const refs_combine_member *const ends[2] = {&combine->members[0],
                                                &combine->members[combine->n_members - 1]};
    compared lists = {REFS_BUF_INIT, REFS_BUF_INIT, 0};
    refs_status status = REFS_OK;
    if (!all->has_variable || share_none(combine, ends))
        return fail_without_variable(combine, ends, along, err);
    for (size_t i = 0; i < ends[0]->n_arrays && status == REFS_OK; i++) {
        const refs_combine_array *one = &ends[0]->arrays[i];
        const refs_combine_array *other = refs_combine__find(ends[1], one->path);
        if (other != NULL) status = compare_named(combine, one, other, &lists, err);
    }
    if (status == REFS_OK) status = fail_between(ends, &lists, along, err);
    refs_buf_clear(&lists.times);
    refs_buf_clear(&lists.unknown);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

/* Kinds in the order in which dimensions stand: members, runs, times, lead times, levels, others.
 */
static unsigned rank_of(refs_combine_coordinate coordinate) {
    static const unsigned ranks[] = {
        [REFS_COMBINE_COORDINATE_MEMBER] = 0,    [REFS_COMBINE_COORDINATE_REFERENCE_TIME] = 1,
        [REFS_COMBINE_COORDINATE_TIME] = 2,      [REFS_COMBINE_COORDINATE_VALID_TIME] = 3,
        [REFS_COMBINE_COORDINATE_LEAD_TIME] = 4, [REFS_COMBINE_COORDINATE_LEVEL] = 5,
        [REFS_COMBINE_COORDINATE_OTHER] = 6};
    return ranks[coordinate];
}

static unsigned rank_of_dim(const refs_combine *combine, uint32_t name) {
    unsigned least = rank_of(REFS_COMBINE_COORDINATE_OTHER);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            if (array->name == name && rank_of(array->coordinate) < least)
                least = rank_of(array->coordinate);
        }
    return least;
}

static bool stands_before(const refs_combine *combine, uint32_t one, uint32_t other) {
    const unsigned rank = rank_of_dim(combine, one), other_rank = rank_of_dim(combine, other);
    if (rank != other_rank) return rank < other_rank;
    return strcmp(refs_combine__text(combine, one).data, refs_combine__text(combine, other).data) <
           0;
}

/* Adds names where they stand, so that the order does not depend on how parts were combined. */
static refs_status insert(const dim_search *all, const dim_list *list, dim_list *to,
                          refs_error *err) {
    for (size_t i = 0; i < list->n; i++) {
        const uint32_t name = list->names[i];
        const size_t n = to->n;
        size_t at = 0;
        REFS_TRY(add_dim(to, name, err));
        while (at < n && !stands_before(all->combine, name, to->names[at])) at++;
        if (to->n == n) continue;
        memmove(&to->names[at + 1], &to->names[at], (n - at) * sizeof *to->names);
        to->names[at] = name;
    }
    return REFS_OK;
}

/* Appends all dimensions that were found; recorded ones keep their order. */
static refs_status append_names(const dim_search *all, refs_buf *dims, refs_error *err) {
    dim_list list = {.n = 0};
    if (all->is_recorded) list = all->base;
    REFS_TRY(insert(all, &all->base, &list, err));
    REFS_TRY(insert(all, &all->more, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const refs_str name = refs_combine__text(all->combine, list.names[i]);
        REFS_TRY(refs_buf_append(dims, name.data, name.size + 1, err));
    }
    return REFS_OK;
}

static refs_status take_recorded(dim_search *all, const refs_combine_found_dims *dims,
                                 refs_error *err) {
    const char *const *recorded = dims->recorded;
    for (; recorded != NULL && *recorded != NULL; recorded++) {
        uint32_t name;
        REFS_TRY(refs_intern_add(all->strings, refs_str_from(*recorded), &name, err));
        REFS_TRY(add_dim(&all->base, name, err));
    }
    all->is_recorded = all->base.n > 0;
    return REFS_OK;
}

static bool has_known_axis(const refs_combine *combine, const refs_combine_member *member,
                           uint32_t name) {
    for (size_t i = 0; i < member->n_arrays; i++)
        if (member->arrays[i].name == name && is_known(&member->arrays[i]) &&
            is_axis(combine, &member->arrays[i]))
            return true;
    return false;
}

/* Adds names, each with a NUL, that are not in the base; with a member, only those of its axes. */
static refs_status add_names(const dim_search *all, const refs_combine_member *member,
                             uint32_t names, dim_list *list, refs_error *err) {
    REFS_SCOPED_BUF texts = REFS_BUF_INIT; /* the strings move as they grow */
    REFS_TRY(refs_buf_append_str(&texts, refs_combine__text(all->combine, names), err));
    for (size_t at = 0; at < texts.size;) {
        const refs_str text = refs_str_from((const char *)texts.data + at);
        uint32_t name;
        REFS_TRY(refs_intern_add(all->strings, text, &name, err));
        if ((member == NULL || has_known_axis(all->combine, member, name)) &&
            !has_name(&all->base, name))
            REFS_TRY(add_dim(list, name, err));
        at += text.size + 1;
    }
    return REFS_OK;
}

/* Adds the dimensions along which parts record holes. Other parts may fill these, and combined
 * along other dimensions alone, missing values would stay as if they were values. */
static refs_status add_hole_dims(const dim_search *all, dim_list *list, refs_error *err) {
    const refs_combine *combine = all->combine;
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++)
            REFS_TRY(add_names(all, NULL, combine->members[i].arrays[k].hole_dims, list, err));
    return REFS_OK;
}

/* Adds the dimensions that sets were combined along, even if all have the same steps: so does a set
 * of all their sources. */
static refs_status add_former_dims(const dim_search *all, dim_list *list, refs_error *err) {
    const refs_combine *combine = all->combine;
    for (size_t i = 0; i < combine->n_members; i++)
        REFS_TRY(add_names(all, &combine->members[i], combine->members[i].along, list, err));
    return REFS_OK;
}

/* If parts were left out since the last search, the rest need not differ: dimensions that were
 * found before are kept. */
static refs_status find_dims(dim_search *all, const refs_combine_found_dims *dims,
                             refs_error *err) {
    if (!all->is_recorded) REFS_TRY(find_base(all, err));
    if (!all->is_recorded && all->has_variable) REFS_TRY(add_hole_dims(all, &all->base, err));
    if (all->base.n == 0) return dims->names.size > 0 ? REFS_OK : fail_for(all, dims->along, err);
    if (!all->is_recorded) REFS_TRY(add_former_dims(all, &all->base, err));
    describe_base(all);
    REFS_TRY(search(all, is_beside_base, &all->more, err));
    drop_valid_time(all, &all->more);
    if (!all->is_recorded) return REFS_OK;
    REFS_TRY(add_hole_dims(all, &all->more, err));
    return add_former_dims(all, &all->more, err);
}

static bool are_same_names(const refs_buf *a, const refs_buf *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

refs_status refs_combine_find_dims(refs_combine *combine, refs_combine_found_dims *dims,
                                   refs_error *err) {
    dim_search all = {.combine = combine, .strings = &combine->strings};
    refs_buf found = REFS_BUF_INIT;
    refs_combine__sort_members(combine);
    REFS_TRY(refs_combine__name_levels(combine, err));
    REFS_TRY(take_recorded(&all, dims, err));
    REFS_TRY(find_dims(&all, dims, err));
    const refs_status status = append_names(&all, &found, err);
    const bool is_first = all.is_recorded && dims->names.size == 0;
    dims->are_other = status == REFS_OK && all.base.n > 0 &&
                      (is_first ? all.more.n > 0 : !are_same_names(&found, &dims->names));
    refs_buf_clear(dims->are_other ? &dims->names : &found);
    if (dims->are_other) dims->names = found;
    return status;
}

static refs_status open_coordinates(const refs_combine_options *options, refs_combine **combine,
                                    refs_error *err) {
    refs_combine_options of_coordinates = *options;
    of_coordinates.parts_are = REFS_COMBINE_OF_COORDINATES;
    of_coordinates.dims = NULL;
    of_coordinates.n_cut_dims = 0;
    of_coordinates.pattern = NULL;
    of_coordinates.cuts = NULL;
    of_coordinates.kept = (refs_combine_kept_values){NULL, NULL, NULL};
    return refs_combine_open(&of_coordinates, combine, err);
}

/* Adds the ends, and sets *begin and *end to their numbers; equal: there is one. */
static refs_status add_ends(const refs_combine_coordinate_sources *sources,
                            refs_combine *coordinates, size_t *begin, size_t *end,
                            refs_error *err) {
    bool is_added = false;
    for (*begin = 0; *begin < sources->n; ++*begin) {
        REFS_TRY(sources->add(sources->user, coordinates, *begin, &is_added, err));
        if (is_added) break;
    }
    is_added = false;
    for (*end = sources->n - 1; *end > *begin; --*end) {
        REFS_TRY(sources->add(sources->user, coordinates, *end, &is_added, err));
        if (is_added) break;
    }
    return REFS_OK;
}

static refs_status add_between(const refs_combine_coordinate_sources *sources,
                               refs_combine *coordinates, size_t begin, size_t end,
                               refs_error *err) {
    bool is_added;
    for (size_t i = begin + 1; i < end; i++) {
        REFS_TRY(refs_combine__go_on(coordinates, err));
        REFS_TRY(sources->add(sources->user, coordinates, i, &is_added, err));
    }
    return REFS_OK;
}

static size_t count_shared(const refs_combine_member *one, const refs_combine_member *other) {
    size_t n = 0;
    for (size_t i = 0; i < one->n_arrays; i++)
        n += refs_combine__find(other, one->arrays[i].path) != NULL;
    return n;
}

static bool is_alone(const refs_combine *combine, const refs_combine_member *member) {
    for (size_t i = 0; i < combine->n_members; i++)
        if (&combine->members[i] != member && count_shared(member, &combine->members[i]) > 0)
            return false;
    return true;
}

/* If both ends have the same variables, files between them add nothing; do not open them. */
static bool may_tell_more(const refs_combine *ends) {
    const refs_combine_member *first = &ends->members[0], *last = &ends->members[1];
    const size_t n = count_shared(first, last);
    return n < first->n_arrays || n < last->n_arrays;
}

static refs_status find_first(refs_combine *coordinates,
                              const refs_combine_coordinate_sources *sources,
                              refs_combine_found_dims *dims, refs_error *err) {
    size_t begin, end;
    refs_error problem = REFS_ERROR_INIT;
    REFS_TRY(add_ends(sources, coordinates, &begin, &end, err));
    if (begin >= end) return REFS_OK;
    const refs_status status = refs_combine_find_dims(coordinates, dims, &problem);
    if (status != REFS_INVALID || end - begin < 2 || !may_tell_more(coordinates))
        return refs_fail(err, status, "%s", problem.message);
    REFS_TRY(add_between(sources, coordinates, begin, end, err));
    REFS_TRY(refs_combine_find_dims(coordinates, dims, err));
    const refs_combine_member *members = coordinates->members;
    return is_alone(coordinates, &members[0]) ||
                   is_alone(coordinates, &members[coordinates->n_members - 1])
               ? refs_fail(err, status, "%s", problem.message)
               : REFS_OK;
}

refs_status refs_combine_find_dims_first(const refs_combine_options *options,
                                         const refs_combine_coordinate_sources *sources,
                                         refs_combine_found_dims *dims, refs_error *err) {
    refs_combine *coordinates = NULL;
    REFS_TRY(open_coordinates(options, &coordinates, err));
    const refs_status status = find_first(coordinates, sources, dims, err);
    refs_combine_free(coordinates);
    return status;
}

refs_status refs_combine_check_names(const char *const *names, size_t n, refs_error *err) {
    refs_intern known = {0};
    refs_status status = REFS_OK;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        uint32_t id;
        status = refs_intern_add(&known, refs_str_from(names[i]), &id, err);
        if (status == REFS_OK && id < i)
            status = refs_fail(err, REFS_INVALID, "%s is source %zu and source %zu: leave one out",
                               names[i], (size_t)id + 1, i + 1);
    }
    refs_intern_clear(&known);
    return status;
}
