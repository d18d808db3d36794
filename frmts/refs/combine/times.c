/* times.c -- scalar times of parts, such as the valid time of a forecast, or times along its steps:
 * if they differ between parts, they get the concat dimensions that count times. */
#include <assert.h>

#include "combine_internal.h"

/* Whether the coordinate of a concat dimension counts instants or durations. */
static bool counts_time(const refs_combine *combine, size_t first, size_t concat) {
    static const refs_cf_units seconds = {{"s", 1}, {"", 0}};
    const refs_combine_member *member = &combine->members[first];
    const uint32_t number = member->axes[concat].array;
    if (number == REFS_COMBINE_NONE) return false;
    const refs_combine_array *array = &member->arrays[number];
    const refs_cf_units units = refs_combine__count_of(combine, array);
    return refs_combine__has_ticks(&array->dtype) || refs_combine__counts_time(combine, array) ||
           (units.units.size > 0 &&
            refs_cf_compare_units(&units, &seconds) != REFS_CF_CONVERSION_UNKNOWN);
}

/* Below, sets of concat dimensions are the bits of a byte. */
static_assert(REFS_COMBINE_MAX_DIMS <= 8, "each is a bit of a byte");

/* The concat dimensions that count times. */
static uint8_t times_of(const refs_combine *combine) {
    uint8_t found = 0;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        found |= (uint8_t)(combine->counts_time[concat] << concat);
    return found;
}

/* The concat dimensions that an array has. */
static uint8_t own_dims(const refs_combine *combine, const refs_combine_array *array) {
    uint8_t found = 0;
    for (size_t dim = 0; dim < array->rank; dim++) {
        const size_t concat = refs_combine__concat_dim_of(combine, array, dim);
        if (concat < REFS_COMBINE_MAX_DIMS) found |= (uint8_t)(1U << concat);
    }
    return found;
}

static bool is_along_time(const refs_combine *combine, const refs_combine_array *array) {
    return (own_dims(combine, array) & times_of(combine)) != 0;
}

static bool gets_time(const refs_combine *combine, const refs_combine_place *at) {
    for (size_t concat = 0; at->array->gets_new && concat < combine->n_dims; concat++)
        if (combine->counts_time[concat] && at->member->axes[concat].is_new) return true;
    return false;
}

static bool has_concat_dim(const refs_combine *combine, const refs_combine_array *array) {
    return own_dims(combine, array) != 0;
}

/* Whether a time follows from a dimension: a lead time follows from valid times, and varies along
 * them. */
static bool follows_from_dims(const refs_combine *combine, const refs_combine_array *array) {
    const refs_combine_member *member = &combine->members[0];
    if (array->coordinate != REFS_COMBINE_COORDINATE_LEAD_TIME) return array->is_time;
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const uint32_t number = member->axes[concat].array;
        if (number != REFS_COMBINE_NONE &&
            member->arrays[number].coordinate == REFS_COMBINE_COORDINATE_VALID_TIME)
            return true;
    }
    return false;
}

/* Whether a time is separate from the grid; one that is an axis belongs to it, and is equal in all
 * parts. Bounds get the dimensions of their coordinate. */
static bool is_apart(const refs_combine *combine, const refs_combine_place *at) {
    const refs_combine_array *array = at->array;
    return follows_from_dims(combine, array) && !array->is_piece &&
           array->bounded == REFS_COMBINE_NONE && array->values != REFS_COMBINE_NONE &&
           !(array->rank == 1 && array->dims[0] == array->path) &&
           !refs_combine__is_coordinate(combine, at->member, array);
}

static bool have_one_shape(const refs_combine_array *one, const refs_combine_array *other) {
    if (one->rank != other->rank) return false;
    for (size_t dim = 0; dim < one->rank; dim++)
        if (one->shape[dim] != other->shape[dim] || one->dims[dim] != other->dims[dim])
            return false;
    return true;
}

static refs_status are_compatible(const refs_combine *combine, const refs_combine_place *one,
                                  const refs_combine_place *other, bool *are, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_status status = refs_combine__differ(combine, one, other, &text, err);
    *are = text.size == 0;
    return status;
}

/* Whether the parts differ in a time, or some already vary along a concat dimension. */
static refs_status varies(const refs_combine *combine, uint32_t path, bool *does, refs_error *err) {
    refs_combine_place first = {NULL, NULL};
    bool is_compatible = true;
    *does = false;
    for (size_t i = 0; i < combine->n_members && is_compatible; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_place at = {member, refs_combine__find(member, path)};
        if (at.array == NULL) continue;
        if (has_concat_dim(combine, at.array)) {
            *does = *does || is_along_time(combine, at.array);
            continue;
        }
        if (first.array == NULL) first = at;
        is_compatible = is_apart(combine, &at) && have_one_shape(first.array, at.array);
        if (is_compatible) REFS_TRY(are_compatible(combine, &first, &at, &is_compatible, err));
        *does = *does ||
                (is_compatible && (gets_time(combine, &at) ||
                                   !refs_combine__have_one_value(combine, first.array, at.array)));
    }
    *does = *does && is_compatible;
    return REFS_OK;
}

static uint8_t new_axes(const refs_combine *combine, const refs_combine_member *member) {
    uint8_t found = 0;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        found |= (uint8_t)(member->axes[concat].is_new << concat);
    return found;
}

/* The concat dimensions that an array has in the result if it is not repeated. */
static uint8_t all_dims(const refs_combine *combine, const refs_combine_member *member,
                        const refs_combine_array *array) {
    return own_dims(combine, array) | (uint8_t)(array->gets_new ? new_axes(combine, member) : 0);
}

/* The concat dimensions that scalars of a path get in some part. */
static uint8_t gained(const refs_combine *combine, uint32_t path) {
    uint8_t found = 0;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_array *array = refs_combine__find(member, path);
        if (array != NULL && array->gets_new && !has_concat_dim(combine, array))
            found |= new_axes(combine, member);
    }
    return found;
}

/* Whether a time has only concat dimensions, and none twice. */
static bool is_along_dims(const refs_combine *combine, const refs_combine_array *array) {
    uint8_t found = 0;
    for (size_t dim = 0; dim < array->rank; dim++) {
        const size_t concat = refs_combine__concat_dim_of(combine, array, dim);
        if (concat == REFS_COMBINE_MAX_DIMS || (found >> concat & 1) != 0) return false;
        found |= (uint8_t)(1U << concat);
    }
    return follows_from_dims(combine, array) && !array->is_piece &&
           array->values != REFS_COMBINE_NONE;
}

/* -- times along some of the concat dimensions ------------------------------------------------- */

/* An element of a time. */
typedef struct time_element {
    const refs_combine_array *array; /* or NULL */
    uint64_t i;
} time_element;

/* The times of a path, which have some concat dimensions. */
typedef struct along_times {
    const refs_combine *combine;
    const refs_combine_plan *plan;
    uint32_t path;
    uint8_t had, lacked; /* dimensions that some part has; those that count times and none has */
    uint64_t n;          /* indices of the former, and the first element for each */
    uint64_t stride[REFS_COMBINE_MAX_DIMS];
    time_element *first;
} along_times;

static refs_values value_of(const refs_combine *combine, const time_element *of) {
    const size_t size = of->array->dtype.size, i = (size_t)of->i;
    refs_values value = refs_combine__coordinates_of(combine, of->array);
    value.bytes = refs_str_part(value.bytes, i * size, (i + 1) * size);
    value.missing = refs_str_part(refs_combine__text(combine, of->array->missing), i, i + 1);
    return value;
}

static bool compares_along(const along_times *all, size_t concat) {
    return (all->had >> concat & 1) != 0;
}

/* Whether a part has another value than an earlier one at a step. */
static bool differs(const along_times *all, const refs_combine_place *at) {
    const refs_combine_axis *axes = at->member->axes;
    const size_t n_dims = all->combine->n_dims;
    uint64_t index[REFS_COMBINE_MAX_DIMS] = {0}, stride = 1, total = 1;
    uint64_t own[REFS_COMBINE_MAX_DIMS] = {0}; /* strides in the array; it repeats along others */
    for (size_t dim = at->array->rank; dim-- > 0; stride *= at->array->shape[dim])
        own[refs_combine__concat_dim_of(all->combine, at->array, dim)] = stride;
    for (size_t concat = 0; concat < n_dims; concat++)
        if (compares_along(all, concat)) total *= axes[concat].n;
    for (; total > 0; total--) {
        time_element found = {at->array, 0};
        uint64_t place = 0;
        bool is_nowhere = false;
        for (size_t concat = 0; concat < n_dims; concat++) {
            if (!compares_along(all, concat)) continue;
            const uint64_t step = axes[concat].position[index[concat]];
            is_nowhere = is_nowhere || step == REFS_COMBINE_NOWHERE;
            place += step * all->stride[concat];
            found.i += index[concat] * own[concat];
        }
        for (size_t concat = n_dims; concat-- > 0; index[concat] = 0)
            if (compares_along(all, concat) && ++index[concat] < axes[concat].n) break;
        if (is_nowhere) continue;
        if (all->first[place].array == NULL) all->first[place] = found;
        const refs_values one = value_of(all->combine, &all->first[place]),
                          other = value_of(all->combine, &found);
        if (refs_combine__first_difference(&one, &other) != UINT64_MAX) return true;
    }
    return false;
}

/* Whether no part has some index of the dimensions: times may differ there. */
static refs_status lacks_some(const along_times *all, bool *lacks, refs_error *err) {
    refs_combine_cells cells = {.combine = all->combine};
    for (size_t concat = 0; concat < all->combine->n_dims; concat++)
        if (((all->had | all->lacked) >> concat & 1) != 0) cells.concat[cells.n_concat++] = concat;
    const refs_status status = refs_combine__cells_open(&cells, all->plan, all->path, err);
    *lacks = cells.n_missing > 0 || cells.covered == NULL;
    refs_combine__cells_clear(&cells);
    return status;
}

/* Sets `had`, `lacked`, `n` and `stride`; nothing is lacked if the times have other dimensions,
 * too. */
static void find_dims(along_times *all) {
    const refs_combine *combine = all->combine;
    bool is_along = true;
    all->n = 1;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_array *array = refs_combine__find(member, all->path);
        if (array == NULL || !has_concat_dim(combine, array)) continue;
        is_along = is_along && is_along_dims(combine, array);
        all->had |= all_dims(combine, member, array);
    }
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const uint64_t n = all->plan->concat_dims[concat].n;
        const bool has_it = compares_along(all, concat);
        all->stride[concat] = all->n;
        if (has_it && !refs_mul_u64(all->n, n, &all->n)) all->n = UINT64_MAX;
        if (!has_it && n > 1) all->lacked |= (uint8_t)(1U << concat);
    }
    all->lacked &= times_of(combine);
    if (!is_along) all->had = all->lacked = 0;
}

/* Finds the dimensions that times along some concat dimensions get: those that other parts have,
 * and those that count times if values differ for one step, or may differ. */
static refs_status get_along(const refs_combine *combine, const refs_combine_plan *plan,
                             uint32_t path, uint8_t *along, refs_error *err) {
    along_times all = {.combine = combine, .plan = plan, .path = path};
    bool does;
    find_dims(&all);
    *along = all.had;
    if (all.had == 0 || all.lacked == 0 || all.n > REFS_COMBINE_MAX_STEPS) return REFS_OK;
    REFS_TRY(lacks_some(&all, &does, err));
    REFS_SCOPED time_element *first = refs_calloc((size_t)all.n, sizeof *first);
    if (first == NULL) return refs_fail_nomem(err);
    all.first = first;
    for (size_t i = 0; i < combine->n_members && !does; i++) {
        const refs_combine_place at = {&combine->members[i],
                                       refs_combine__find(&combine->members[i], path)};
        does = at.array != NULL && has_concat_dim(combine, at.array) && differs(&all, &at);
    }
    if (does) *along |= all.lacked;
    return REFS_OK;
}

/* Sets the dimensions along which times are repeated. Scalars get each concat dimension that they
 * get in some part, and all that count times: members share a time, which is repeated for each when
 * the next run is added. Times along concat dimensions get those of the scalars that they lack, and
 * `along`. */
static void repeat(const refs_combine *combine, uint32_t path, uint8_t along) {
    const uint8_t others = gained(combine, path);
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        refs_combine_array *array = refs_combine__find(member, path);
        if (array != NULL && !has_concat_dim(combine, array))
            array->repeats = times_of(combine) | others;
        else if (array != NULL && is_along_dims(combine, array))
            array->repeats = (uint8_t)((others | along) & ~all_dims(combine, member, array));
    }
}

refs_status refs_combine__repeat_times(refs_combine *combine, const refs_combine_plan *plan,
                                       refs_error *err) {
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        combine->counts_time[concat] =
            counts_time(combine, plan->concat_dims[concat].first, concat);
    for (size_t i = 0; times_of(combine) != 0 && i < plan->n_paths; i++) {
        bool is_to_repeat;
        uint8_t along;
        REFS_TRY(varies(combine, plan->paths[i], &is_to_repeat, err));
        if (!is_to_repeat) continue;
        REFS_TRY(get_along(combine, plan, plan->paths[i], &along, err));
        repeat(combine, plan->paths[i], along);
    }
    return REFS_OK;
}
