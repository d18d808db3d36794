/* plan.c -- orders the steps of all parts along the concat dimensions. */
#include "dim_search.h"

#include <math.h>
#include <stdlib.h>

#include "refs/clock.h"
#include "refs/index_again.h"

/* netCDF fills floats with 9.96921e36. */
#define LEAST_FILL 9.9e36

/* A step of a part along a dimension. */
typedef struct step {
    refs_value value;
    size_t member; /* index of the part, by number */
    uint64_t step;
    bool is_single;      /* stored in single precision, and not packed */
    bool is_only_listed; /* it is in the result only if another part has it */
} step;

/* All steps along one dimension. */
typedef struct concat_steps {
    refs_combine *combine;
    size_t concat;
    step *steps;           /* of parts with a coordinate */
    refs_cf_clock *clocks; /* for each member, where its coordinate counts times */
    size_t n, capacity;
    uint64_t n_plain;   /* steps of parts without a coordinate */
    size_t first_plain; /* the first of these parts */
    bool is_numbered;   /* parts are ordered by the numbers in their names, not by values */
} concat_steps;

/* -- values ------------------------------------------------------------------------------------ */

static refs_combine_array *coordinate_of(refs_combine_member *member, size_t concat) {
    const refs_combine_axis *axis = &member->axes[concat];
    return axis->array != REFS_COMBINE_NONE ? &member->arrays[axis->array] : NULL;
}

/* Whether a time is missing, or netCDF's fill value. */
static bool has_place(const refs_value *value) {
    return value->kind != REFS_VALUE_NUMBER || fabs(value->number) < LEAST_FILL;
}

static refs_status check_place(const concat_steps *all, const step *at, refs_error *err) {
    char text[REFS_VALUE_TEXT];
    if (has_place(&at->value) && !at->value.is_missing) return REFS_OK;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s: %s[%llu] is %s, so the sources cannot be sorted: fix the source, or leave "
        "it out",
        all->combine->members[at->member].name, all->combine->options.dims[all->concat],
        (unsigned long long)at->step, refs_combine__print_value(&at->value, text));
}

/* The number of values of a coordinate; 0 for NULL. */
static uint64_t count_values(const refs_combine_array *array, refs_str values) {
    if (array == NULL) return 0;
    if (array->are_texts) return refs_str_count_texts(values);
    return values.size / (array->dtype.size > 0 ? array->dtype.size : 1);
}

/* Value number `i`; of strings, the first one in `rest`, which is cut off it. */
static refs_value take_value(const refs_combine_array *array, const refs_values *values, uint64_t i,
                             refs_str *rest) {
    if (!array->are_texts) return refs_combine__unpacked_at(values, i);
    return refs_combine__take_text(rest);
}

static refs_status add_steps(concat_steps *all, size_t number, refs_error *err) {
    refs_combine_member *member = &all->combine->members[number];
    const refs_combine_array *array = coordinate_of(member, all->concat);
    uint64_t n = member->axes[all->concat].n;
    refs_values values = {.dtype = NULL};
    if (array != NULL) values = refs_combine__coordinates_of(all->combine, array);
    refs_str rest = values.bytes;
    all->clocks[number] = values.clock;
    if (array != NULL && count_values(array, values.bytes) != n)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: the variable %s has %llu values: expected %llu, one for each index "
                         "along the dimension %s: name another concat dimension (--along), or "
                         "rename the variable",
                         member->name, all->combine->options.dims[all->concat],
                         (unsigned long long)count_values(array, values.bytes),
                         (unsigned long long)n, all->combine->options.dims[all->concat]);
    if (n > REFS_COMBINE_MAX_STEPS - all->n - all->n_plain)
        return refs_fail(err, REFS_LIMIT,
                         "%s: %s has %llu steps, expected no more than %llu in all sources",
                         member->name, all->combine->options.dims[all->concat],
                         (unsigned long long)n, (unsigned long long)REFS_COMBINE_MAX_STEPS);
    if (array == NULL && n > 0 && all->n_plain == 0) all->first_plain = number;
    if (array == NULL) all->n_plain += n;
    for (uint64_t i = 0; array != NULL && i < n; i++) {
        REFS_GROW(all->steps, all->capacity, all->n, err);
        step *at = &all->steps[all->n++];
        *at = (step){.member = number, .step = i};
        at->value = take_value(array, &values, i, &rest);
        at->is_single =
            refs_combine__is_single(&array->dtype) && !refs_combine__is_packed(&array->unpacking);
        at->is_only_listed = refs_combine__is_only_listed(all->combine, member, all->concat, i);
        if (!all->is_numbered) REFS_TRY(check_place(all, at, err));
    }
    return REFS_OK;
}

static refs_status fail_kinds(const concat_steps *all, size_t one, size_t other, refs_error *err) {
    const refs_combine_member *const members[2] = {
        &all->combine->members[one < other ? one : other],
        &all->combine->members[one < other ? other : one]};
    const refs_combine_member *without = NULL;
    for (size_t i = 0; i < 2; i++)
        if (members[i]->axes[all->concat].array == REFS_COMBINE_NONE) without = members[i];
    if (all->combine->options.dims_are == REFS_COMBINE_GUESSED &&
        refs_dims__share_none(all->combine, members))
        return refs_dims__fail_without_variable(all->combine, members, "--along", err);
    const char *master = without != NULL ? refs_combine__name_master(all->combine->options.masters,
                                                                     without->master_file)
                                         : NULL;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s and %s cannot be ordered along %s: expected its coordinate in both, of "
        "one type, found %s%s%s%s: %s, or combine along other dimensions",
        members[0]->name, members[1]->name, all->combine->options.dims[all->concat],
        without != NULL ? "none in " : "two types", without != NULL ? without->name : "",
        master != NULL ? ", a file of " : "", master != NULL ? master : "",
        master != NULL ? "add it to all files of this master" : "leave one of them out");
}

/* Coordinates are combined as stored, so their packing must be equal. */
static refs_status check_packing(const concat_steps *all, refs_error *err) {
    const refs_combine *combine = all->combine;
    if (all->n == 0) return REFS_OK;
    const refs_combine_member *first = &combine->members[all->steps[0].member];
    const uint32_t number = first->axes[all->concat].array;
    for (size_t i = 1; number != REFS_COMBINE_NONE && i < all->n; i++) {
        const refs_combine_member *member = &combine->members[all->steps[i].member];
        if (member->axes[all->concat].array == REFS_COMBINE_NONE) continue;
        const refs_combine_unpacking one = first->arrays[number].unpacking,
                                     other =
                                         member->arrays[member->axes[all->concat].array].unpacking;
        if (one.scale != other.scale || one.offset != other.offset ||
            one.is_unsigned != other.is_unsigned)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s of %s and of %s cannot be combined: their scale_factor and "
                             "add_offset differ (%.15g and %.15g, %.15g and %.15g)",
                             combine->options.dims[all->concat], first->name, member->name,
                             one.scale, one.offset, other.scale, other.offset);
    }
    return REFS_OK;
}

/* -- units ------------------------------------------------------------------------------------- */

static refs_cf_calendars compare_calendars(const refs_combine *combine, const refs_combine_array *a,
                                           const refs_combine_array *b) {
    return refs_cf_compare_calendars(refs_combine__text(combine, a->calendar),
                                     refs_combine__text(combine, b->calendar));
}

static refs_str calendar_of(const refs_combine *combine, const refs_combine_array *array) {
    refs_str calendar = refs_combine__text(combine, array->calendar);
    return calendar.size > 0 ? calendar : refs_str_from("no calendar");
}

/* The first step whose part has other units than the first one; SIZE_MAX: none. */
static size_t find_other_units(const concat_steps *all) {
    refs_combine *combine = all->combine;
    const refs_combine_array *first =
        coordinate_of(&combine->members[all->steps[0].member], all->concat);
    for (size_t i = 1; i < all->n; i++) {
        const refs_combine_array *array =
            coordinate_of(&combine->members[all->steps[i].member], all->concat);
        const bool are_one_unit =
            array->units == first->units ||
            refs_combine__conversion(combine, array, first) == REFS_CF_CONVERSION_NONE;
        if (!are_one_unit || compare_calendars(combine, array, first) != REFS_CF_CALENDARS_SAME)
            return i;
    }
    return SIZE_MAX;
}

static refs_status fail_units(const concat_steps *all, size_t other, refs_error *err) {
    refs_combine *combine = all->combine;
    refs_combine_member *members[2] = {&combine->members[all->steps[0].member],
                                       &combine->members[all->steps[other].member]};
    const refs_combine_array *arrays[2];
    for (size_t k = 0; k < 2; k++) arrays[k] = coordinate_of(members[k], all->concat);
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s and %s differ in units or calendar of %s: \"%.*s\" (%.*s) and \"%.*s\" (%.*s)",
        members[0]->name, members[1]->name, combine->options.dims[all->concat],
        REFS_STR_ARG(refs_combine__text(combine, arrays[0]->units)),
        REFS_STR_ARG(calendar_of(combine, arrays[0])),
        REFS_STR_ARG(refs_combine__text(combine, arrays[1]->units)),
        REFS_STR_ARG(calendar_of(combine, arrays[1])));
}

/* Whether two parts can be combined if one has datetime64 or timedelta64: the other must have the
 * same type, and units below nanoseconds are not converted. */
static bool have_ticks_alike(const concat_steps *all, size_t one, size_t other) {
    const refs_combine_array *arrays[2];
    for (size_t k = 0; k < 2; k++)
        arrays[k] = coordinate_of(&all->combine->members[all->steps[k == 0 ? one : other].member],
                                  all->concat);
    const refs_dtype *a = &arrays[0]->dtype, *b = &arrays[1]->dtype;
    if (!refs_combine__has_ticks(a) && !refs_combine__has_ticks(b)) return true;
    return refs_combine__is_one_type(a, b) ||
           (a->type == b->type && all->steps[one].value.kind == REFS_VALUE_TIME);
}

static refs_status check_kinds(const concat_steps *all, refs_error *err) {
    if (all->n > 0 && all->n_plain > 0)
        return fail_kinds(all, all->steps[0].member, all->first_plain, err);
    for (size_t i = 1; i < all->n; i++) {
        const refs_value *first = &all->steps[0].value, *value = &all->steps[i].value;
        if (!have_ticks_alike(all, 0, i))
            return fail_kinds(all, all->steps[0].member, all->steps[i].member, err);
        if (value->kind == first->kind) continue;
        const bool is_time = value->kind == REFS_VALUE_TIME || first->kind == REFS_VALUE_TIME;
        return is_time && refs_combine__is_number(value) && refs_combine__is_number(first)
                   ? fail_units(all, i, err)
                   : fail_kinds(all, all->steps[0].member, all->steps[i].member, err);
    }
    return REFS_OK;
}

/* A value that compares with others in any units: an instant, or a number in the units of the first
 * part. */
static bool common_value(const refs_combine *combine, const refs_combine_array *first,
                         const refs_combine_array *array, refs_value *value) {
    const refs_cf_units from = refs_combine__count_of(combine, array),
                        to = refs_combine__count_of(combine, first);
    refs_cf_conversion by;
    if (value->kind == REFS_VALUE_TIME) return true;
    if (from.units.size == 0 || to.units.size == 0 ||
        refs_cf_convert_units(&from, &to, REFS_CF_ROUND, &by, NULL) != REFS_OK)
        return false;
    value->kind = REFS_VALUE_NUMBER;
    value->number = value->number * by.scale + by.offset;
    return by.scale > 0;
}

/* Whether a value comes before another one. If two differ only by the rounding of a conversion
 * (times are exact), the one whose units come first by name counts, so that the result does not
 * depend on the order of parts. */
static bool is_before(const refs_combine *combine, const refs_combine_array *a,
                      const refs_combine_array *b, const refs_value *value,
                      const refs_value *least) {
    const refs_str one = refs_combine__text(combine, a->units),
                   other = refs_combine__text(combine, b->units);
    const bool are_close = value->kind != REFS_VALUE_TIME &&
                           fabs(value->number - least->number) <= 1e-9 * fabs(least->number);
    const int difference = are_close ? 0 : refs_combine__compare_values(value, least);
    if (difference != 0) return difference < 0;
    return refs_str_compare(one, other) < 0;
}

/* Finds the part with the earliest time, or the least value, whose units the result has. SIZE_MAX
 * if all parts have the same units. */
static refs_status find_earliest(concat_steps *all, size_t *earliest, refs_error *err) {
    refs_combine *combine = all->combine;
    const refs_combine_array *first =
        coordinate_of(&combine->members[all->steps[0].member], all->concat);
    const size_t other = find_other_units(all);
    refs_value least = all->steps[0].value;
    bool are_mixed = false;
    *earliest = SIZE_MAX;
    for (size_t i = 0; other != SIZE_MAX && i < all->n; i++) {
        const refs_combine_array *array =
            coordinate_of(&combine->members[all->steps[i].member], all->concat);
        const refs_cf_calendars found = compare_calendars(combine, array, first);
        const bool is_alike = array->units == first->units && found == REFS_CF_CALENDARS_SAME;
        refs_value value = all->steps[i].value;
        are_mixed = are_mixed || found == REFS_CF_CALENDARS_SAME_SINCE_REFORM;
        if (found == REFS_CF_CALENDARS_DIFFERENT || !common_value(combine, first, array, &value))
            return fail_units(all, is_alike ? other : i, err);
        const bool is_first =
            *earliest == SIZE_MAX ||
            is_before(combine, array, coordinate_of(&combine->members[*earliest], all->concat),
                      &value, &least);
        if (is_first) *earliest = all->steps[i].member;
        if (is_first) least = value;
    }
    if (are_mixed && least.instant.seconds < (int64_t)REFS_CF_REFORM_DAY * 86400)
        return fail_units(all, other, err);
    return REFS_OK;
}

/* -- units of times ----------------------------------------------------------------------------
 */

/* The units in which times are stored. */
typedef struct counting {
    refs_cf_units units;
    bool are_own; /* the options set them: packed times are unpacked */
    refs_cf_clock clock;
    refs_dtype type;
} counting;

static bool are_packed(const refs_combine_array *array) {
    return refs_combine__is_packed(&array->unpacking);
}

static bool gets_units(const refs_combine *combine, const refs_combine_array *array,
                       const counting *to) {
    const refs_cf_units own = refs_combine__count_of(combine, array);
    return (to->are_own && are_packed(array)) ||
           refs_cf_compare_units(&own, &to->units) != REFS_CF_CONVERSION_NONE;
}

static bool is_of_type(const refs_combine_array *array, const refs_dtype *type) {
    return are_packed(array) || refs_combine__is_one_type(&array->dtype, type);
}

/* The type of datetime64 or timedelta64 with the shortest unit. */
static void find_shortest_tick(const concat_steps *all, counting *to) {
    for (size_t i = 0; i < all->n; i++) {
        const refs_cf_clock *clock = &all->clocks[all->steps[i].member];
        if (i > 0 && clock->unit >= to->clock.unit) continue;
        to->clock = *clock;
        to->type = coordinate_of(&all->combine->members[all->steps[i].member], all->concat)->dtype;
    }
}

/* Finds the common type; false if all parts have it and the units already. */
static bool find_time_type(const concat_steps *all, counting *to) {
    const refs_combine *combine = all->combine;
    bool differs = false;
    size_t member = SIZE_MAX;
    to->type = coordinate_of(&combine->members[all->steps[0].member], all->concat)->dtype;
    for (size_t i = 0; i < all->n && !differs; i++) {
        if (all->steps[i].member == member) continue;
        member = all->steps[i].member;
        const refs_combine_array *array = coordinate_of(&combine->members[member], all->concat);
        differs = gets_units(combine, array, to) || !is_of_type(array, &to->type);
    }
    if (!differs) return false;
    if (refs_combine__has_ticks(&to->type)) {
        find_shortest_tick(all, to);
        return true;
    }
    to->type = (refs_dtype){.type = REFS_TYPE_INT, .size = sizeof(int32_t)};
    for (size_t i = 0; i < all->n; i++) {
        const refs_combine_array *array =
            coordinate_of(&combine->members[all->steps[i].member], all->concat);
        refs_combine__common_time_type(&to->clock, &array->dtype, &all->steps[i].value, &to->type);
    }
    return true;
}

static refs_status write_times(const concat_steps *all, size_t begin, const counting *to,
                               refs_error *err) {
    refs_combine *combine = all->combine;
    const size_t number = all->steps[begin].member;
    refs_combine_array *array = coordinate_of(&combine->members[number], all->concat);
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    for (size_t i = begin; i < all->n && all->steps[i].member == number; i++)
        REFS_TRY(
            refs_combine__write_time(&to->clock, &all->steps[i].value, &to->type, &values, err));
    REFS_TRY(refs_intern_add(&combine->strings, refs_buf_text(&values), &array->values, err));
    array->dtype = to->type;
    array->unpacking = (refs_combine_unpacking){.scale = 1};
    array->declares_fill = array->has_fill = false; /* a concat coordinate has no missing values */
    return REFS_OK;
}

/* Steps of a part are consecutive in the list. */
static refs_status write_all_times(concat_steps *all, refs_combine_concat_dim *concat,
                                   const counting *to, refs_error *err) {
    refs_combine *combine = all->combine;
    for (size_t i = 0; i < all->n; i++) {
        const size_t number = all->steps[i].member;
        refs_combine_array *array = coordinate_of(&combine->members[number], all->concat);
        if (i > 0 && all->steps[i - 1].member == number) continue;
        const bool is_converted = gets_units(combine, array, to);
        refs_status status = REFS_OK;
        if (is_converted && are_packed(array) && !to->are_own)
            status = refs_combine__fail_packed(err);
        else if (is_converted || !is_of_type(array, &to->type))
            status = write_times(all, i, to, err);
        concat->is_converted = concat->is_converted || is_converted;
        if (status != REFS_OK)
            refs_error_prefix(err, "%s: %s", combine->members[number].name,
                              combine->options.dims[all->concat]);
        REFS_TRY(status);
    }
    return REFS_OK;
}

/* Converts all times to the units of the result, widths of gaps included. */
static refs_status count_times(concat_steps *all, refs_combine_concat_dim *concat, size_t earliest,
                               refs_error *err) {
    refs_combine *combine = all->combine;
    const size_t first = earliest != SIZE_MAX ? earliest : all->steps[0].member;
    const refs_cf_units found =
        refs_combine__count_of(combine, coordinate_of(&combine->members[first], all->concat));
    counting to = {.are_own = combine->options.time_units != NULL};
    const refs_str wanted = to.are_own ? refs_str_from(combine->options.time_units) : found.units;
    /* the table moves when strings are added */
    char *units = refs_str_copy(wanted), *calendar = refs_str_copy(found.calendar);
    refs_status status = units != NULL && calendar != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) {
        to.units = (refs_cf_units){refs_str_from(units), refs_str_from(calendar)};
        if (!refs_cf_clock_of(&to.units, &to.clock)) to.clock = all->clocks[first];
        if (find_time_type(all, &to)) status = write_all_times(all, concat, &to, err);
    }
    if (earliest != SIZE_MAX || to.are_own) concat->first = first;
    concat->has_own_units = to.are_own;
    for (size_t i = 0; i < all->n; i++)
        if (all->steps[i].value.kind == REFS_VALUE_TIME)
            all->steps[i].value.number =
                refs_cf_number_of_instant(&to.clock, all->steps[i].value.instant);
    refs_free(units);
    refs_free(calendar);
    return status;
}

/* -- units of other coordinates ---------------------------------------------------------------- */

static refs_status rebase_coordinate(refs_combine *combine, refs_combine_array *array,
                                     const refs_cf_units *units, refs_error *err) {
    refs_cf_conversion by;
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    if (array->dtype.size == 0) return REFS_OK;
    const refs_cf_units from = refs_combine__count_of(combine, array);
    REFS_TRY(refs_cf_convert_units(&from, units, REFS_CF_EXACT, &by, err));
    if (by.kind == REFS_CF_CONVERSION_NONE) return REFS_OK;
    REFS_TRY(refs_buf_append_str(&values, refs_combine__text(combine, array->values), err));
    REFS_TRY(refs_combine__apply(&by, array, &values, err));
    return refs_intern_add(&combine->strings, refs_buf_text(&values), &array->values, err);
}

static refs_status collect(concat_steps *all, refs_error *err) {
    all->n = 0;
    all->n_plain = 0;
    for (size_t i = 0; i < all->combine->n_members; i++) REFS_TRY(add_steps(all, i, err));
    if (all->n == 0 && all->n_plain == 0 && !refs_combine__is_of_fields(all->combine))
        return refs_fail(err, REFS_INVALID,
                         "all sources are empty along %s: expected at least one index",
                         all->combine->options.dims[all->concat]);
    if (!all->is_numbered) REFS_TRY(check_kinds(all, err));
    return check_packing(all, err);
}

/* -- precision --------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right) {
    const refs_value *a = left, *b = right;
    return refs_combine__compare_values(a, b);
}

static double distance_of(const refs_value *a, const refs_value *b) {
    if (a->kind != REFS_VALUE_TIME) return fabs(a->number - b->number);
    return fabs((double)(a->instant.seconds - b->instant.seconds) +
                1e-9 * (a->instant.nanoseconds - b->instant.nanoseconds));
}

/* The neighbour of a value in an ascending list that equals it in single precision, or NULL. */
static const refs_value *find_double(const refs_value *doubles, size_t n, const refs_value *single,
                                     const refs_cf_clock *clock) {
    const refs_value *found = NULL;
    size_t low = 0, high = n;
    refs_value exact = *single; /* rounded times are different instants */
    if (single->kind == REFS_VALUE_TIME &&
        !refs_cf_instant_of(clock, single->number, REFS_CF_DOUBLE, &exact.instant))
        return NULL;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (refs_combine__compare_values(&doubles[middle], &exact) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < n && refs_combine__is_float_of(single, clock, &doubles[low])) found = &doubles[low];
    if (low == 0 || !refs_combine__is_float_of(single, clock, &doubles[low - 1])) return found;
    const double below = distance_of(&exact, &doubles[low - 1]);
    return found != NULL && distance_of(&exact, found) < below ? found : &doubles[low - 1];
}

/* Matches values in single precision with equal ones in double precision of other parts. */
static refs_status match_singles(concat_steps *all, refs_error *err) {
    size_t n_double = 0;
    const refs_value_kind kind = all->steps[0].value.kind;
    if (kind != REFS_VALUE_NUMBER && kind != REFS_VALUE_TIME) return REFS_OK;
    for (size_t i = 0; i < all->n; i++) n_double += !all->steps[i].is_single;
    if (n_double == 0 || n_double == all->n) return REFS_OK;
    REFS_SCOPED refs_value *doubles = refs_calloc(n_double, sizeof *doubles);
    if (doubles == NULL) return refs_fail_nomem(err);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!all->steps[i].is_single) doubles[n++] = all->steps[i].value;
    qsort(doubles, n, sizeof *doubles, by_value);
    for (size_t i = 0; i < all->n; i++) {
        step *at = &all->steps[i];
        const refs_value *found =
            at->is_single ? find_double(doubles, n, &at->value, &all->clocks[at->member]) : NULL;
        if (found != NULL && kind == REFS_VALUE_TIME) at->value.instant = found->instant;
        if (found != NULL && kind == REFS_VALUE_NUMBER) at->value.number = found->number;
    }
    return REFS_OK;
}

/* Converts all coordinates. Strings move when others are added, so views are collected again. A
 * part without steps need not have a coordinate. */
static refs_status rebase_all(concat_steps *all, refs_combine_concat_dim *concat, refs_error *err) {
    refs_combine *combine = all->combine;
    const refs_combine_array *counted =
        coordinate_of(&combine->members[concat->first], all->concat);
    const refs_cf_units found = refs_combine__count_of(combine, counted);
    REFS_SCOPED char *text = refs_str_copy(found.units);
    const refs_cf_units units = {refs_str_from(text != NULL ? text : ""), refs_str_from("")};
    refs_status status = text != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_members && status == REFS_OK; i++) {
        refs_combine_array *array = coordinate_of(&combine->members[i], all->concat);
        if (array == NULL) continue;
        const uint32_t before = array->values;
        status = rebase_coordinate(combine, array, &units, err);
        concat->is_converted = concat->is_converted || array->values != before;
        if (status != REFS_OK)
            refs_error_prefix(err, "%s: %s", combine->members[i].name,
                              combine->options.dims[all->concat]);
    }
    return status == REFS_OK ? collect(all, err) : status;
}

static refs_status same_units(concat_steps *all, refs_combine_concat_dim *concat, refs_error *err) {
    size_t earliest;
    if (all->n == 0 || !refs_combine__is_number(&all->steps[0].value)) return REFS_OK;
    REFS_TRY(find_earliest(all, &earliest, err));
    if (all->steps[0].value.kind == REFS_VALUE_TIME) {
        REFS_TRY(match_singles(all, err));
        return count_times(all, concat, earliest, err);
    }
    if (earliest != SIZE_MAX) {
        concat->first = earliest;
        REFS_TRY(rebase_all(all, concat, err));
    }
    return match_singles(all, err);
}

/* -- order ------------------------------------------------------------------------------------- */

static int compare_places(const step *a, const step *b) {
    if (a->member != b->member) return a->member > b->member ? 1 : -1;
    return (a->step > b->step) - (a->step < b->step);
}

static int compare_values(const step *a, const step *b) {
    return a->value.kind != REFS_VALUE_NONE ? refs_combine__compare_values(&a->value, &b->value)
                                            : compare_places(a, b);
}

static int ascending(const void *left, const void *right) {
    int order = compare_values(left, right);
    return order != 0 ? order : compare_places(left, right);
}

static int descending(const void *left, const void *right) {
    int order = compare_values(right, left);
    return order != 0 ? order : compare_places(left, right);
}

static bool are_times(const concat_steps *all) {
    const refs_combine_array *array =
        coordinate_of(&all->combine->members[all->steps[0].member], all->concat);
    return array != NULL && (refs_combine__counts_time(all->combine, array) ||
                             array->dtype.type == REFS_TYPE_DATETIME);
}

/* Whether values descend: they do if those of some part descend, as latitudes from north to south;
 * parts of one step have the order of their master, or ascend. Times descend only if those of every
 * part with several steps do: one file that counts backwards does not reverse an archive. */
static bool find_direction(const concat_steps *all) {
    bool falls = false, rises = false;
    for (size_t i = 1; i < all->n; i++) {
        if (all->steps[i].member != all->steps[i - 1].member) continue;
        const int order = compare_values(&all->steps[i], &all->steps[i - 1]);
        falls = falls || order < 0;
        rises = rises || order > 0;
    }
    const refs_combine_array *array =
        coordinate_of(&all->combine->members[all->steps[0].member], all->concat);
    if (!falls && !rises && array != NULL)
        refs_combine__find_master_directions(
            all->combine, refs_combine__text(all->combine, array->path), &falls, &rises);
    return falls && all->steps[0].value.kind != REFS_VALUE_NONE && !(rises && are_times(all));
}

/* Sets the positions of a numbered part, whose steps begin at its number. */
static void place_numbers(const concat_steps *all, const refs_combine_concat_dim *concat) {
    refs_combine *combine = all->combine;
    for (size_t i = 0; i < combine->n_members; i++) {
        refs_combine_axis *axis = &combine->members[i].axes[all->concat];
        for (uint64_t k = 0; k < axis->n; k++)
            axis->position[k] =
                axis->begin + k < concat->n ? axis->begin + k : REFS_COMBINE_NOWHERE;
    }
}

/* The end of the steps with the same value as number `begin`. */
static size_t end_of_value(const concat_steps *all, size_t begin, bool *is_kept) {
    size_t end = begin;
    *is_kept = false;
    do *is_kept = *is_kept || !all->steps[end].is_only_listed;
    while (++end < all->n && compare_values(&all->steps[end], &all->steps[begin]) == 0);
    return end;
}

/* Drops steps that no part has and that no manifest of empty fragments lists. */
static void drop_only_listed(concat_steps *all) {
    size_t n = 0;
    bool is_kept;
    for (size_t begin = 0, end; begin < all->n; begin = end) {
        end = end_of_value(all, begin, &is_kept);
        for (size_t i = begin; i < end; i++) {
            const step at = all->steps[i];
            if (is_kept) all->steps[n++] = at;
            if (!is_kept)
                all->combine->members[at.member].axes[all->concat].position[at.step] =
                    REFS_COMBINE_NOWHERE;
        }
    }
    all->n = n;
}

/* The number of steps of the first parts: at least `n`, if there are so many. */
static uint64_t steps_of_first_parts(const concat_steps *all, uint64_t n) {
    uint64_t steps = 0;
    for (size_t i = 0; i < all->combine->n_parts && steps < n; i++)
        steps += all->combine->members[i].axes[all->concat].n;
    return steps;
}

/* Gives steps of intervals with a file their positions in the master or manifest. */
static void place_written(const concat_steps *all, const refs_combine_entry *entry,
                          refs_combine_axis *axis) {
    for (size_t dim = 0; dim < entry->array.rank; dim++) {
        if (refs_combine__concat_dim_of(all->combine, &entry->array, dim) != all->concat) continue;
        for (size_t i = 0; i < entry->grid.dims[dim].n_intervals; i++) {
            const refs_fragment_interval *at = &entry->grid.dims[dim].intervals[i];
            for (uint64_t k = at->begin; entry->is_written[dim][i] && k < at->end && k < axis->n;
                 k++)
                axis->position[k] = k;
        }
    }
}

/* The files of a master or a manifest are the first parts. */
static refs_status place_entries(const concat_steps *all, refs_combine_member *member,
                                 refs_error *err) {
    refs_combine_axis *axis = &member->axes[all->concat];
    uint64_t n_placed = 0;
    for (uint64_t k = 0; k < axis->n; k++) axis->position[k] = REFS_COMBINE_NOWHERE;
    for (size_t i = 0; i < member->n_entries; i++) place_written(all, &member->entries[i], axis);
    for (uint64_t k = 0; k < axis->n; k++) n_placed += axis->position[k] != REFS_COMBINE_NOWHERE;
    if (n_placed == axis->n && steps_of_first_parts(all, axis->n) == axis->n) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: cannot locate its steps: %s has no coordinate, and its %llu steps are "
                     "not those of the files of %s in a row",
                     member->name, all->combine->options.dims[all->concat],
                     (unsigned long long)axis->n, member->name);
}

/* Places parts without a coordinate one after the other, except along dimensions that are only
 * divided. */
static refs_status place_plain(const concat_steps *all, refs_combine_concat_dim *concat,
                               refs_error *err) {
    refs_combine *combine = all->combine;
    const bool is_cut = all->concat + combine->options.n_cut_dims >= combine->n_dims;
    for (size_t i = 0; i < combine->n_parts; i++) {
        refs_combine_axis *axis = &combine->members[i].axes[all->concat];
        const uint64_t begin = is_cut ? 0 : concat->n;
        for (uint64_t k = 0; k < axis->n; k++) axis->position[k] = begin + k;
        if (begin + axis->n > concat->n) concat->n = begin + axis->n;
    }
    for (size_t i = combine->n_parts; i < combine->n_members; i++)
        REFS_TRY(place_entries(all, &combine->members[i], err));
    return REFS_OK;
}

static int by_place(const void *left, const void *right) {
    const refs_combine_steps *a = left, *b = right; /* positions and their steps */
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool rises(const refs_combine_axis *axis) {
    return axis->n < 2 || axis->position[0] < axis->position[axis->n - 1];
}

static bool has_values(const refs_combine_member *member, size_t concat) {
    const refs_combine_axis *axis = &member->axes[concat];
    return axis->array != REFS_COMBINE_NONE && axis->n > 1 &&
           !member->arrays[axis->array].are_texts;
}

refs_status refs_combine__check_direction(const refs_combine *combine,
                                          const refs_combine_member *member, size_t concat,
                                          refs_error *err) {
    static const char *const words[] = {"descends", "ascends"};
    const char *dim = combine->options.dims[concat];
    size_t i = 0;
    if (!has_values(member, concat) || rises(&member->axes[concat])) return REFS_OK;
    while (i < combine->n_members &&
           !(has_values(&combine->members[i], concat) && rises(&combine->members[i].axes[concat])))
        i++;
    if (i == combine->n_members) return REFS_OK;
    const refs_values values =
        refs_combine__coordinates_of(combine, &member->arrays[member->axes[concat].array]);
    const refs_value first = refs_combine__unpacked_at(&values, 0),
                     last = refs_combine__unpacked_at(&values, member->axes[concat].n - 1);
    const bool is_ascending = refs_combine__compare_values(&first, &last) < 0;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s %s in %s and %s in %s: expected one direction in all sources: reverse the second "
        "(ncpdq -a -%s), use the files of a set instead of the set, or leave it out",
        dim, words[!is_ascending], combine->members[i].name, words[is_ascending], member->name,
        dim);
}

/* Lists the steps of a part whose order differs from that of their positions. */
static refs_status sort_steps(refs_combine_axis *axis, refs_error *err) {
    uint64_t i = 1;
    while (i < axis->n && axis->position[i] > axis->position[i - 1]) i++;
    if (i >= axis->n) return REFS_OK;
    REFS_SCOPED refs_combine_steps *all = refs_calloc((size_t)axis->n, sizeof *all);
    axis->by_position = refs_calloc((size_t)axis->n, sizeof *axis->by_position);
    refs_status status = all != NULL && axis->by_position != NULL ? REFS_OK : refs_fail_nomem(err);
    for (i = 0; i < axis->n && status == REFS_OK; i++)
        all[i] = (refs_combine_steps){axis->position[i], i};
    if (status == REFS_OK) qsort(all, (size_t)axis->n, sizeof *all, by_place);
    for (i = 0; i < axis->n && status == REFS_OK; i++) axis->by_position[i] = all[i].end;
    return status;
}

uint64_t refs_combine__step_at(const refs_combine_axis *axis, uint64_t position) {
    uint64_t low = 0, high = axis->n;
    while (low + 1 < high) {
        const uint64_t middle = low + (high - low) / 2;
        const uint64_t number = axis->by_position != NULL ? axis->by_position[middle] : middle;
        if (axis->position[number] <= position)
            low = middle;
        else
            high = middle;
    }
    return axis->by_position != NULL ? axis->by_position[low] : low;
}

static refs_status place(concat_steps *all, refs_combine_concat_dim *concat, refs_error *err) {
    refs_combine *combine = all->combine;
    for (size_t i = 0; i < combine->n_members; i++) {
        refs_combine_axis *axis = &combine->members[i].axes[all->concat];
        REFS_NEW(axis->position, (size_t)axis->n + 1, err);
    }
    if (all->is_numbered) {
        place_numbers(all, concat);
        return REFS_OK;
    }
    if (combine->n_parts < combine->n_members) drop_only_listed(all);
    if (all->n == 0) return place_plain(all, concat, err);
    /* a value that one part has twice is two steps; in other parts it is the first of them */
    uint64_t repeat = 0, first = 0;
    for (size_t i = 0; i < all->n; i++) {
        const bool is_other = i > 0 && compare_values(&all->steps[i], &all->steps[i - 1]) != 0;
        const bool is_repeat =
            i > 0 && !is_other && all->steps[i].member == all->steps[i - 1].member;
        if (is_other) first = concat->n;
        repeat = is_repeat ? repeat + 1 : 0;
        const uint64_t position = first + repeat;
        if (position >= concat->n) concat->n = position + 1;
        combine->members[all->steps[i].member].axes[all->concat].position[all->steps[i].step] =
            position;
    }
    return REFS_OK;
}

/* -- gaps -------------------------------------------------------------------------------------- */

static int by_size(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static refs_status print_place(const concat_steps *all, const step *at, refs_buf *text) {
    const refs_combine_array *array =
        coordinate_of(&all->combine->members[at->member], all->concat);
    const refs_values values = refs_combine__coordinates_of(all->combine, array);
    const refs_value value = refs_combine__unpacked_at(&values, at->step);
    return refs_combine__print_place(all->combine, all->concat, &value, text, NULL);
}

/* The unit of the coordinate, of times without their origin. */
static refs_str unit_of_steps(const concat_steps *all) {
    const refs_combine_array *array =
        coordinate_of(&all->combine->members[all->steps[0].member], all->concat);
    refs_str units = refs_combine__count_of(all->combine, array).units, word;
    if (refs_cf_counts_since(units) && refs_str_next_word(&units, REFS_BLANKS, &word)) return word;
    return units;
}

static void tell_first_gap(const concat_steps *all, size_t n_gaps, size_t first, double usual) {
    const refs_combine *combine = all->combine;
    const step *before = &all->steps[first], *after = &all->steps[first + 1];
    const refs_str unit = unit_of_steps(all);
    REFS_SCOPED_BUF one = REFS_BUF_INIT, other = REFS_BUF_INIT;
    if (print_place(all, before, &one) == REFS_OK && print_place(all, after, &other) == REFS_OK)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%s: %zu gap%s between %.*s (%s) and %.*s (%s), where a step is %.15g%s%.*s%s",
                  combine->options.dims[all->concat], n_gaps, n_gaps == 1 ? "" : "s; the first",
                  (int)one.size, (const char *)one.data, combine->members[before->member].name,
                  (int)other.size, (const char *)other.data, combine->members[after->member].name,
                  usual, unit.size > 0 ? " (" : "", REFS_STR_ARG(unit), unit.size > 0 ? ")" : "");
}

static bool was_before(const concat_steps *all, size_t i) {
    const refs_combine *combine = all->combine;
    return combine->members[all->steps[i].member].number < combine->options.n_before;
}

/* Counts the missing steps of an axis that is otherwise equally spaced. */
static void tell_gaps(const concat_steps *all, const double *widths, size_t n, double usual) {
    size_t n_gaps = 0, n_new = 0, first = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        double times = fabs(widths[i]) / usual;
        if (times < 1.5 || fabs(times - round(times)) > 1e-6) continue;
        n_gaps++;
        if (was_before(all, i) && was_before(all, i + 1)) continue;
        if (n_new++ == 0) first = i;
    }
    if (n_new > 0 && n_gaps <= n / 2) tell_first_gap(all, n_new, first, usual);
}

/* Merges equal steps, which tiles share. */
static void drop_same_steps(concat_steps *all) {
    size_t n = all->n > 0 ? 1 : 0;
    for (size_t i = 1; i < all->n; i++)
        if (compare_values(&all->steps[i], &all->steps[n - 1]) != 0)
            all->steps[n++] = all->steps[i];
    all->n = n;
}

/* Lead times often become sparser: that is no gap. */
static bool are_lead_times(const concat_steps *all) {
    const refs_combine_array *array =
        coordinate_of(&all->combine->members[all->steps[0].member], all->concat);
    return array->coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME;
}

static refs_status look_for_gaps(concat_steps *all, refs_error *err) {
    drop_same_steps(all);
    if (all->n < 4 || are_lead_times(all) || (!refs_combine__is_number(&all->steps[0].value)))
        return REFS_OK;
    REFS_SCOPED double *widths = refs_calloc(2 * all->n, sizeof *widths);
    if (widths == NULL) return refs_fail_nomem(err);
    double *sorted = widths + all->n;
    size_t n = all->n - 1;
    bool are_distinct = true;
    for (size_t i = 0; i < n; i++) {
        widths[i] = all->steps[i + 1].value.number - all->steps[i].value.number;
        sorted[i] = fabs(widths[i]);
        are_distinct = are_distinct && isfinite(widths[i]) && sorted[i] > 0;
    }
    qsort(sorted, n, sizeof *sorted, by_size);
    if (are_distinct) tell_gaps(all, widths, n, sorted[n / 4]);
    return REFS_OK;
}

/* Checks lengths: a master lists a file once as a source, and may have several of its steps. */
static refs_status check_length(const concat_steps *all, const refs_combine_concat_dim *concat,
                                refs_error *err) {
    const uint64_t n_before = all->combine->n_before[all->concat];
    if (concat->n >= n_before) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "cannot append: the master has %llu steps along %s, but its sources, with "
                     "those that are added, have %llu: %s",
                     (unsigned long long)n_before, all->combine->options.dims[all->concat],
                     (unsigned long long)concat->n, refs_index_again());
}

/* -- one dimension ----------------------------------------------------------------------------- */

/* Finds the part with the first step; if there are several, the first one by name, so that the
 * coordinate's metadata do not depend on the order of parts. */
static size_t first_by_name(const concat_steps *all) {
    const refs_combine_member *members = all->combine->members;
    size_t first = all->steps[0].member;
    for (size_t i = 1; i < all->n && compare_values(&all->steps[0], &all->steps[i]) == 0; i++)
        if (strcmp(members[all->steps[i].member].name, members[first].name) < 0)
            first = all->steps[i].member;
    return first;
}

static refs_status plan_concat_dim(refs_combine *combine, size_t number,
                                   refs_combine_concat_dim *concat, refs_error *err) {
    concat_steps all = {.combine = combine, .concat = number};
    concat->first = SIZE_MAX;
    all.is_numbered = refs_combine__numbered_length(combine, number, &concat->n);
    all.clocks = refs_calloc(combine->n_members, sizeof *all.clocks);
    refs_status status = all.clocks != NULL ? collect(&all, err) : refs_fail_nomem(err);
    if (status == REFS_OK) status = same_units(&all, concat, err);
    if (status == REFS_OK) {
        if (all.n > 0)
            qsort(all.steps, all.n, sizeof *all.steps,
                  find_direction(&all) ? descending : ascending);
        if (concat->first == SIZE_MAX)
            concat->first = all.n > 0 ? first_by_name(&all) : all.first_plain;
        combine->counted[number] = concat->first;
        status = place(&all, concat, err);
    }
    if (status == REFS_OK) status = check_length(&all, concat, err);
    for (size_t i = 0; i < combine->n_parts && status == REFS_OK; i++)
        status = sort_steps(&combine->members[i].axes[number], err);
    if (status == REFS_OK && !all.is_numbered) status = look_for_gaps(&all, err);
    refs_free(all.steps);
    refs_free(all.clocks);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

typedef struct ranked {
    uint64_t position[REFS_COMBINE_MAX_DIMS];
    size_t n_dims, member;
} ranked;

static int by_position(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    for (size_t i = 0; i < a->n_dims; i++)
        if (a->position[i] != b->position[i]) return a->position[i] > b->position[i] ? 1 : -1;
    return (a->member > b->member) - (a->member < b->member);
}

/* The first position of a part: a combined set may begin with holes. */
static refs_status first_place(const refs_combine *combine, const refs_combine_member *member,
                               uint64_t *position, refs_error *err) {
    uint64_t place[REFS_COMBINE_MAX_DIMS];
    refs_combine_place at = {member, NULL};
    bool is_first = true;
    REFS_TRY(refs_combine__first_place(combine, &at, position, err));
    for (size_t i = 0; combine->n_dims > 1 && i < member->n_arrays; i++) {
        size_t n_concat = 0;
        at.array = &member->arrays[i];
        for (size_t dim = 0; dim < at.array->rank; dim++)
            n_concat += refs_combine__concat_dim_of(combine, at.array, dim) < REFS_COMBINE_MAX_DIMS;
        if (n_concat < combine->n_dims) continue;
        REFS_TRY(refs_combine__first_place(combine, &at, place, err));
        if (is_first || refs_combine__is_before(combine, place, position))
            memcpy(position, place, sizeof place);
        is_first = false;
        if (at.array->holes == NULL && !at.array->is_piece) break;
    }
    return REFS_OK;
}

static refs_status order_members(const refs_combine *combine, refs_combine_plan *plan,
                                 refs_error *err) {
    REFS_SCOPED ranked *all = refs_calloc(combine->n_members, sizeof *all);
    plan->order = refs_calloc(combine->n_members, sizeof *plan->order);
    if (all == NULL || plan->order == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_members; i++) {
        all[i] = (ranked){.n_dims = combine->n_dims, .member = i};
        REFS_TRY(first_place(combine, &combine->members[i], all[i].position, err));
    }
    qsort(all, combine->n_members, sizeof *all, by_position);
    for (size_t i = 0; i < combine->n_members; i++) plan->order[i] = all[i].member;
    return REFS_OK;
}

typedef struct named {
    refs_str name;
    uint32_t path;
} named;

static int by_name(const void *left, const void *right) {
    return refs_str_compare(((const named *)left)->name, ((const named *)right)->name);
}

typedef struct named_list {
    named *items;
    size_t n, capacity;
    uint8_t *seen; /* for each string */
} named_list;

static refs_status add_path(const refs_combine *combine, uint32_t path, named_list *list,
                            refs_error *err) {
    if (list->seen[path] != 0) return REFS_OK;
    list->seen[path] = 1;
    REFS_GROW(list->items, list->capacity, list->n, err);
    list->items[list->n++] = (named){refs_combine__text(combine, path), path};
    return REFS_OK;
}

static refs_status add_paths(const refs_combine *combine, const refs_combine_member *member,
                             named_list *list, refs_error *err) {
    size_t k = 0;
    /* steps of a master or a manifest keep their order: both lists ascend by number */
    for (size_t i = 0; i < member->n_arrays + member->n_entries; i++) {
        const bool is_entry =
            k < member->n_entries && (member->entries[k].number <= i || i - k >= member->n_arrays);
        REFS_TRY(add_path(combine,
                          is_entry ? member->entries[k].array.path : member->arrays[i - k].path,
                          list, err));
        k += is_entry;
    }
    return REFS_OK;
}

/* Lists all arrays, sorted by name; those of a master in the order of the parts, a manifest
 * first. */
static refs_status list_paths(const refs_combine *combine, refs_combine_plan *plan,
                              refs_error *err) {
    named_list list = {.seen = refs_calloc(combine->strings.count + 1, 1)};
    refs_status status = list.seen != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = combine->n_parts; i < combine->n_members && status == REFS_OK; i++)
        if (combine->members[i].role == REFS_COMBINE_IS_OUTLINE)
            status = add_paths(combine, &combine->members[i], &list, err);
    for (size_t i = 0; i < combine->n_members && status == REFS_OK; i++)
        status = add_paths(combine, &combine->members[plan->order[i]], &list, err);
    REFS_SCOPED named *all = list.items;
    const size_t n = list.n;
    if (n > 0 && !refs_combine__is_of_fields(combine)) qsort(all, n, sizeof *all, by_name);
    plan->paths = refs_calloc(n + 1, sizeof *plan->paths);
    if (plan->paths == NULL && status == REFS_OK) status = refs_fail_nomem(err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) plan->paths[i] = all[i].path;
    plan->n_paths = n;
    refs_free(list.seen);
    return status;
}

refs_status refs_combine__plan(refs_combine *combine, refs_combine_plan *plan, refs_error *err) {
    combine->missing.n_concat = 0;
    REFS_TRY(refs_combine__check_dims(combine, err));
    REFS_TRY(refs_combine__check_master_dims(combine, err));
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        REFS_TRY(plan_concat_dim(combine, concat, &plan->concat_dims[concat], err));
    if (combine->options.dims_are == REFS_COMBINE_GUESSED)
        REFS_TRY(refs_combine__check_tiles(combine, plan, err));
    if (combine->n_parts == combine->n_members && combine->numbers == NULL)
        REFS_TRY(refs_combine__tell_missing_tiles(combine, plan, err));
    REFS_TRY(order_members(combine, plan, err));
    REFS_TRY(list_paths(combine, plan, err));
    REFS_TRY(refs_combine__repeat_times(combine, plan, err));
    return refs_combine__check_scalars(combine, err);
}

void refs_combine__plan_clear(refs_combine_plan *plan) {
    refs_free(plan->order);
    refs_free(plan->paths);
}

size_t refs_combine__concat_dim_of(const refs_combine *combine, const refs_combine_array *array,
                                   size_t dim) {
    size_t concat;
    return refs_combine__is_dim(combine, refs_combine__text(combine, array->dims[dim]), &concat)
               ? concat
               : REFS_COMBINE_MAX_DIMS;
}
