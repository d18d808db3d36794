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

static bool is_along_time(const refs_combine *combine, const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++) {
        const size_t concat = refs_combine__concat_dim_of(combine, array, dim);
        if (concat < REFS_COMBINE_MAX_DIMS && combine->counts_time[concat]) return true;
    }
    return false;
}

static bool gets_time(const refs_combine *combine, const refs_combine_place *at) {
    for (size_t concat = 0; at->array->gets_new && concat < combine->n_dims; concat++)
        if (combine->counts_time[concat] && at->member->axes[concat].is_new) return true;
    return false;
}

static bool has_concat_dim(const refs_combine *combine, const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (refs_combine__concat_dim_of(combine, array, dim) < REFS_COMBINE_MAX_DIMS) return true;
    return false;
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

/* Below, sets of concat dimensions are the bits of a byte. */
static_assert(REFS_COMBINE_MAX_DIMS <= 8, "each is a bit of a byte");

static uint8_t new_axes(const refs_combine *combine, const refs_combine_member *member) {
    uint8_t found = 0;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        found |= (uint8_t)(member->axes[concat].is_new << concat);
    return found;
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

/* The concat dimensions that an array lacks. */
static uint8_t lacked(const refs_combine *combine, const refs_combine_array *array) {
    uint8_t found = (uint8_t)((1U << combine->n_dims) - 1);
    for (size_t dim = 0; dim < array->rank; dim++) {
        const size_t concat = refs_combine__concat_dim_of(combine, array, dim);
        if (concat < REFS_COMBINE_MAX_DIMS) found &= (uint8_t) ~(1U << concat);
    }
    return found;
}

/* Whether a time has only concat dimensions. */
static bool is_along_dims(const refs_combine *combine, const refs_combine_array *array) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (refs_combine__concat_dim_of(combine, array, dim) == REFS_COMBINE_MAX_DIMS) return false;
    return follows_from_dims(combine, array) && !array->is_piece &&
           array->values != REFS_COMBINE_NONE;
}

/* Sets the dimensions along which times are repeated. Scalars get each concat dimension that they
 * get in some part, and all that count times: members share a time, which is repeated for each when
 * the next run is added. Times along concat dimensions get those of the scalars that they lack. */
static void repeat(const refs_combine *combine, uint32_t path) {
    const uint8_t others = gained(combine, path);
    uint8_t times = 0;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        times |= (uint8_t)(combine->counts_time[concat] << concat);
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        refs_combine_array *array = refs_combine__find(member, path);
        if (array != NULL && !has_concat_dim(combine, array))
            array->repeats = times | others;
        else if (array != NULL && is_along_dims(combine, array))
            array->repeats = others & lacked(combine, array);
    }
}

refs_status refs_combine__repeat_times(refs_combine *combine, const refs_combine_plan *plan,
                                       refs_error *err) {
    bool does = false;
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        combine->counts_time[concat] =
            counts_time(combine, plan->concat_dims[concat].first, concat);
        does = does || combine->counts_time[concat];
    }
    for (size_t i = 0; does && i < plan->n_paths; i++) {
        bool is_to_repeat;
        REFS_TRY(varies(combine, plan->paths[i], &is_to_repeat, err));
        if (is_to_repeat) repeat(combine, plan->paths[i]);
    }
    return REFS_OK;
}
