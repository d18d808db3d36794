/* thin.c -- combines the values of per-step arrays. */
#include "combine_internal.h"

#include <math.h>

const refs_combine_array *refs_combine__bounded_by(const refs_combine_member *member,
                                                   const refs_combine_array *array) {
    for (size_t i = 0; array->bounded != REFS_COMBINE_NONE && i < member->n_arrays; i++)
        if (member->arrays[i].number == array->bounded) return &member->arrays[i];
    return array;
}

refs_combine_array *refs_combine__bounds_of(const refs_combine_member *member,
                                            const refs_combine_array *array) {
    for (size_t i = 0; array->number != REFS_COMBINE_NONE && i < member->n_arrays; i++)
        if (member->arrays[i].bounded == array->number) return &member->arrays[i];
    return NULL;
}

/* Bounds have the units and the calendar of their coordinate. */
uint32_t refs_combine__units_of(const refs_combine_member *member,
                                const refs_combine_array *array) {
    return array->units != REFS_COMBINE_NONE ? array->units
                                             : refs_combine__bounded_by(member, array)->units;
}

refs_cf_units refs_combine__count_in(const refs_combine *combine, const refs_combine_member *member,
                                     const refs_combine_array *array) {
    const uint32_t calendar = array->calendar != REFS_COMBINE_NONE
                                  ? array->calendar
                                  : refs_combine__bounded_by(member, array)->calendar;
    return (refs_cf_units){refs_combine__text(combine, refs_combine__units_of(member, array)),
                           refs_combine__text(combine, calendar)};
}

bool refs_combine__is_coordinate(const refs_combine *combine, const refs_combine_member *member,
                                 const refs_combine_array *array) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const refs_combine_axis *axis = &member->axes[concat];
        if (axis->array != REFS_COMBINE_NONE && &member->arrays[axis->array] == array) return true;
    }
    return false;
}

/* The combined values of an array. */
typedef struct gathered {
    const refs_combine *combine;
    const refs_combine_result *result;
    bool is_place; /* it is a coordinate of other arrays */
    uint8_t *values,
        *taken;    /* flags of elements that are set; NULL: equal where several parts have them */
    bool may_fill; /* parts have values for elements that are missing in others; … */
    bool *fills;   /* … set if so */
    bool
        *differs; /* of an array without concat dimensions: set where parts have different values */
    const uint8_t *fill; /* fill value; or NULL */
    refs_intern *texts;  /* strings of variable length: elements are their numbers */
    refs_values timing;  /* times compare by instant */
} gathered;

/* Whether a part has the array at an index of the result. */
static bool has_place(const refs_combine_result *result, const refs_combine_place *at,
                      const uint64_t *index) {
    uint64_t steps[REFS_COMBINE_MAX_DIMS] = {0};
    for (size_t dim = 0; dim < result->rank; dim++) {
        const size_t concat = result->concat[dim];
        if (concat == REFS_COMBINE_MAX_DIMS) continue;
        const refs_combine_axis *axis = &at->member->axes[concat];
        while (steps[concat] < axis->n && axis->position[steps[concat]] != index[dim])
            steps[concat]++;
        if (steps[concat] == axis->n) return false;
    }
    return !refs_combine__is_in_hole(at->array, steps);
}

static refs_status fail_twice(const gathered *to, const refs_combine_place *at,
                              const uint64_t *index, refs_error *err) {
    const refs_combine_result *result = to->result;
    const refs_combine *combine = to->combine;
    const refs_combine_member *other = at->member;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_place there = {&combine->members[i],
                                          refs_combine__find(&combine->members[i], result->path)};
        const bool is_better =
            there.member->role == REFS_COMBINE_IS_FRAGMENT || other == at->member;
        if (there.array != NULL && is_better && there.member != at->member &&
            has_place(result, &there, index))
            other = there.member;
    }
    const char *const names[2] = {at->member->name, other->name};
    const refs_combine_member *const members[2] = {at->member, other};
    if (refs_combine__is_shared(combine, result))
        return refs_combine__fail_twice(combine, result, index, members, err);
    refs_status status = refs_combine__print_index(combine, result, index, &text, err);
    const refs_combine_array *dim = refs_combine__find_other_dim(combine, members);
    const bool lacks_all_dims = result->n_concat == 0;
    if (status == REFS_OK && lacks_all_dims && refs_combine__places_fields(combine, at)) {
        status = refs_combine__fail_apart(combine, result->like, names, refs_buf_text(&text), err);
    } else if (status == REFS_OK && lacks_all_dims) {
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: differs between %s and %s: keeping the first",
                  REFS_STR_ARG(refs_combine__text(combine, result->path)), names[0], names[1]);
        *to->differs = true;
    } else if (status == REFS_OK && dim != NULL)
        status = refs_combine__fail_apart(combine, dim, names, refs_buf_text(&text), err);
    else if (status == REFS_OK)
        status = refs_fail(err, REFS_INVALID,
                           "%.*s: values of %.*s differ between %s and %s: remove one of them",
                           REFS_STR_ARG(refs_combine__text(combine, result->path)), (int)text.size,
                           (const char *)text.data, at->member->name, other->name);
    return status;
}

/* Copies elements of `size` bytes, at most that of the result. */
typedef struct elements {
    const uint8_t *at;
    size_t size;
} elements;

/* Pads a string with zeros. */
static bool is_element(const uint8_t *there, size_t to_size, const uint8_t *moved, size_t size) {
    if (memcmp(there, moved, size) != 0) return false;
    for (size_t i = size; i < to_size; i++)
        if (there[i] != 0) return false;
    return true;
}

/* Whether two elements of the result's type are one instant. */
static bool is_one_time(const gathered *to, const uint8_t *there, elements moved) {
    refs_values one = to->timing, other = to->timing;
    if (!to->timing.are_times || moved.size != to->timing.dtype->size) return false;
    one.bytes = refs_str_view((const char *)there, moved.size);
    other.bytes = refs_str_view((const char *)moved.at, moved.size);
    return refs_combine__first_difference(&one, &other) == UINT64_MAX;
}

static void put_element(uint8_t *there, size_t to_size, const uint8_t *moved, size_t size) {
    memcpy(there, moved, size);
    memset(there + size, 0, to_size - size);
}

/* The owner of an element. Values of a manifest or a master belong to no part. Elements that a
 * master lacks are missing in it already; elements that parts have as missing values are missing in
 * those. */
enum { NOBODY, A_PART, ONLY_TOLD, MISSING_BEFORE, MISSING_IN_PARTS };

static bool is_close(const refs_dtype *dtype, const uint8_t *a, const uint8_t *b) {
    const refs_value one = refs_combine__value_at(dtype,
                                                  refs_str_view((const char *)a, dtype->size), 0),
                     other = refs_combine__value_at(dtype,
                                                    refs_str_view((const char *)b, dtype->size), 0);
    return refs_combine__is_number(&one) && dtype->type == REFS_TYPE_FLOAT &&
           fabs(one.number - other.number) <= 1.2e-7 * fabs(one.number);
}

/* Fails for, or skips, a manifest of other fragments. */
static refs_status fail_unlike(const gathered *to, const refs_combine_place *at, uint64_t place,
                               const uint8_t *moved, refs_error *err) {
    const refs_combine_result *result = to->result;
    const size_t size = result->dtype.size;
    char shown[2][REFS_VALUE_TEXT];
    const refs_str there = refs_str_view((const char *)to->values + place * size, size);
    const refs_value stated = refs_combine__value_at(&result->dtype, there, 0);
    const refs_value value =
        refs_combine__value_at(&result->dtype, refs_str_view((const char *)moved, size), 0);
    return refs_fail(err, REFS_INVALID,
                     "%s: element %llu of %.*s is %s, but %s in the manifest of empty fragments, "
                     "which belongs to another split",
                     at->member->name, (unsigned long long)place,
                     REFS_STR_ARG(refs_combine__text(to->combine, result->path)),
                     refs_combine__print_value(&value, shown[0]),
                     refs_combine__print_value(&stated, shown[1]));
}

/* The value of elements in holes, or NULL. A master that declares one for missing fragments
 * (refs_combine__declare_fill) uses a value that no fragment has. */
static const uint8_t *find_hole_value(const gathered *to, const refs_combine_place *at) {
    const refs_combine_array *like = to->result->like;
    if (refs_combine__has_unknown_holes(at->array)) return to->fill;
    return at->member->role != REFS_COMBINE_IS_FRAGMENT && at->array->declares_fill &&
                   !like->declares_fill && at->array->dtype.size == to->result->dtype.size
               ? at->array->declared
               : NULL;
}

/* Whether an element of a part is missing while other parts have the array, too: then a part with a
 * value for it wins. */
static bool yields(const gathered *to, const refs_combine_place *at, uint64_t element) {
    const refs_str missing = refs_combine__text(to->combine, at->array->missing);
    return to->may_fill && at->member->role == REFS_COMBINE_IS_FRAGMENT && element < missing.size &&
           missing.data[element] != 0;
}

/* Copies the elements of a member, except those in holes, to their indices in the result. */
static refs_status scatter_but(const gathered *to, const refs_combine_place *at, elements from,
                               const refs_combine_mask *holes, refs_error *err) {
    const refs_combine_result *result = to->result;
    uint64_t index[REFS_MAX_RANK] = {0}, n[REFS_MAX_RANK], places[REFS_MAX_RANK], total = 1;
    uint64_t n_own = 1; /* elements; they repeat along dimensions that the part lacks */
    const size_t size = from.size, to_size = result->dtype.size;
    const uint8_t *fill = find_hole_value(to, at);
    for (size_t dim = 0; dim < result->rank; dim++) {
        size_t own = refs_combine__own_dim(result, at->array, dim);
        n[dim] = own == SIZE_MAX ? at->member->axes[result->concat[dim]].n : at->array->shape[own];
        total *= n[dim];
        if (own != SIZE_MAX) n_own *= n[dim];
    }
    const bool is_part = at->member->role == REFS_COMBINE_IS_FRAGMENT;
    for (uint64_t i = 0; i < total; i++) {
        const uint8_t *moved = from.at + i % n_own * size;
        uint64_t place = 0;
        bool is_nowhere = false;
        uint64_t steps[REFS_COMBINE_MAX_DIMS] = {0};
        for (size_t dim = 0; dim < result->rank; dim++) {
            size_t concat = result->concat[dim];
            uint64_t step = concat < REFS_COMBINE_MAX_DIMS
                                ? at->member->axes[concat].position[index[dim]]
                                : index[dim];
            is_nowhere = is_nowhere || step == REFS_COMBINE_NOWHERE;
            place = place * result->shape[dim] + step;
            places[dim] = step;
            if (concat < REFS_COMBINE_MAX_DIMS) steps[concat] = index[dim];
        }
        const bool is_hole = is_nowhere || refs_combine__is_masked(holes, steps) ||
                             (fill != NULL && is_element(fill, to_size, moved, size));
        const uint8_t taken = is_hole || to->taken == NULL ? NOBODY : to->taken[place];
        const bool is_missing = !is_hole && yields(to, at, i % n_own);
        const bool is_overruled = is_missing && (taken == A_PART || taken == ONLY_TOLD);
        const bool is_other =
            !is_overruled && (taken == A_PART || taken == ONLY_TOLD) &&
            !is_element(to->values + place * to_size, to_size, moved, size) &&
            !is_one_time(to, to->values + place * to_size, (elements){moved, size});
        if (is_other && taken == A_PART && !(result->n_concat == 0 && *to->differs))
            REFS_TRY(fail_twice(to, at, places, err));
        if (is_overruled || (!is_missing && taken == MISSING_IN_PARTS)) *to->fills = true;
        if (is_other && taken == ONLY_TOLD && to->is_place && size == to_size &&
            !is_close(&result->dtype, to->values + place * to_size, moved))
            return refs_combine__is_shared(to->combine, result)
                       ? fail_twice(to, at, places, err)
                       : fail_unlike(to, at, place, moved, err);
        if (!is_hole && !is_overruled && to->taken != NULL)
            to->taken[place] = is_missing ? MISSING_IN_PARTS : is_part ? A_PART : ONLY_TOLD;
        if (is_hole && !is_nowhere && !is_part && to->taken != NULL)
            to->taken[place] = MISSING_BEFORE;
        if (!is_hole && !is_overruled)
            put_element(to->values + place * to_size, to_size, moved, size);
        for (size_t dim = result->rank; dim-- > 0; index[dim] = 0)
            if (++index[dim] < n[dim]) break;
    }
    return REFS_OK;
}

static refs_status scatter(const gathered *to, const refs_combine_place *at, elements from,
                           refs_error *err) {
    refs_combine_mask holes;
    refs_status status = refs_combine__mask_open(at, &holes, err);
    if (status == REFS_OK) status = scatter_but(to, at, from, &holes, err);
    refs_free(holes.is_hole);
    return status;
}

/* The missing values of a result, from its attributes. */
static void find_missing(const refs_combine_result *result, const refs_dtype *dtype,
                         uint8_t *fill) {
    const refs_combine_array *like = result->like;
    const uint8_t *declared = result->has_hole_fill                          ? result->hole
                              : like->declares_fill && !result->drops_stored ? like->declared
                                                                             : NULL;
    if (declared != NULL && refs_dtype_equal(&like->dtype, dtype))
        memcpy(fill, declared, dtype->size);
    else if (declared == NULL || !refs_combine__widen(&like->dtype, declared, dtype, fill))
        (void)refs_cf_default_fill(dtype, fill);
}

/* Replaces missing values by the first other value during the conversion. False if all are
 * missing. */
static bool hide_missing(refs_str missing, size_t size, refs_buf *values) {
    size_t first = 0;
    while (first < missing.size && missing.data[first] != 0) first++;
    if (missing.size > 0 && first == missing.size) return false;
    for (size_t i = 0; i < missing.size; i++)
        if (missing.data[i] != 0)
            memmove(values->data + i * size, values->data + first * size, size);
    return true;
}

static bool is_nan(const refs_values *values, uint64_t i) {
    return values->dtype->type == REFS_TYPE_FLOAT &&
           isnan(refs_combine__value_at(values->dtype, values->bytes, i).number);
}

/* Whether the result declares the same missing values as the part; fragments keep their own fill
 * value. */
static bool stays_missing(const refs_combine_result *result, const refs_combine_array *array,
                          const uint8_t *value) {
    if (result->split != NULL) return true;
    return !result->drops_stored &&
           !(array->declares_fill && memcmp(value, array->declared, array->dtype.size) == 0);
}

/* Restores missing values after the conversion; NaN stays NaN. */
static void put_missing(const refs_combine_result *result, const refs_combine_array *array,
                        const refs_values *before, const refs_dtype *dtype, refs_buf *values) {
    const double nan_double = (double)NAN;
    const float nan_single = NAN;
    uint8_t fill[16] = {0}, own[16] = {0};
    find_missing(result, dtype, fill);
    for (size_t i = 0; i < before->missing.size; i++) {
        const uint8_t *value = (const uint8_t *)before->bytes.data + i * before->dtype->size;
        if (before->missing.data[i] == 0) continue;
        memcpy(own, value, before->dtype->size);
        (void)refs_combine__widen(before->dtype, value, dtype, own);
        const void *put = is_nan(before, i)
                              ? (dtype->size == sizeof(double) ? (const void *)&nan_double
                                                               : (const void *)&nan_single)
                          : stays_missing(result, array, value) ? own
                                                                : fill;
        memcpy(values->data + i * dtype->size, put, dtype->size);
    }
}

/* A conversion of values to other units, or another type. */
typedef struct rebasing {
    const refs_combine *combine;
    const refs_combine_result *result;
    const refs_cf_units *units;
    refs_dtype type;  /* common type of all parts */
    refs_buf values;  /* the result … */
    refs_dtype dtype; /* … and its type */
} rebasing;

/* The values of an array, bounds in the units of their coordinate. */
static refs_values values_in(const refs_combine *combine, const refs_combine_place *at) {
    const refs_cf_units own = refs_combine__count_in(combine, at->member, at->array);
    refs_values values = refs_combine__coordinates_of(combine, at->array);
    refs_combine__set_clock(&values, &own);
    values.missing = refs_combine__text(combine, at->array->missing);
    return values;
}

/* Missing values are restored later. */
static refs_status rebase_times(rebasing *to, const refs_combine_place *at,
                                const refs_values *before, refs_error *err) {
    static const uint8_t none[8] = {0};
    refs_cf_clock clock;
    if (refs_combine__is_packed(&at->array->unpacking)) return refs_combine__fail_packed(err);
    if (!refs_cf_clock_of(to->units, &clock))
        return refs_fail(err, REFS_UNSUPPORTED, "expected units of time, found \"%.*s\"",
                         REFS_STR_ARG(to->units->units));
    to->dtype = to->type;
    for (size_t i = 0; i < before->bytes.size / before->dtype->size; i++) {
        const refs_value value = refs_combine__unpacked_at(before, i);
        REFS_TRY(value.is_missing
                     ? refs_buf_append(&to->values, none, to->type.size, err)
                     : refs_combine__write_time(&clock, &value, &to->type, &to->values, err));
    }
    return REFS_OK;
}

static refs_status rebase_numbers(rebasing *to, const refs_combine_place *at, refs_values *before,
                                  refs_error *err) {
    refs_cf_conversion by;
    const refs_cf_units own = refs_combine__count_in(to->combine, at->member, at->array);
    REFS_TRY(refs_cf_convert_units(&own, to->units, REFS_CF_EXACT, &by, err));
    if (by.kind == REFS_CF_CONVERSION_NONE) before->missing.size = 0;
    if (!hide_missing(before->missing, to->dtype.size, &to->values))
        by.kind = REFS_CF_CONVERSION_NONE;
    return refs_combine__apply(&by, at->array, &to->values, err);
}

/* Whether values of a part are converted; those of coordinates already are. */
static bool changes_units(const refs_combine *combine, const refs_cf_units *units,
                          const refs_combine_place *at) {
    const refs_cf_units own = refs_combine__count_in(combine, at->member, at->array);
    return own.units.size > 0 && !refs_combine__is_coordinate(combine, at->member, at->array) &&
           refs_cf_compare_units(&own, units) != REFS_CF_CONVERSION_NONE;
}

static refs_status widen_all(rebasing *to, const refs_values *before, refs_error *err) {
    const size_t size = before->dtype->size;
    uint8_t wide[16];
    if (size == 0 ||
        !refs_combine__widen(before->dtype, (const uint8_t *)before->bytes.data, &to->type, wide))
        return REFS_OK;
    to->values.size = 0;
    to->dtype = to->type;
    for (size_t at = 0; at + size <= before->bytes.size; at += size) {
        (void)refs_combine__widen(before->dtype, (const uint8_t *)before->bytes.data + at,
                                  &to->type, wide);
        REFS_TRY(refs_buf_append(&to->values, wide, to->type.size, err));
    }
    return REFS_OK;
}

static refs_status rebase_values(rebasing *to, const refs_combine_place *at, refs_error *err) {
    refs_values before = values_in(to->combine, at);
    const bool is_converted = changes_units(to->combine, to->units, at);
    const bool is_packed = refs_combine__is_packed(&at->array->unpacking);
    to->dtype = at->array->dtype;
    if (to->dtype.size > 0 && before.are_times &&
        (is_converted ||
         (!is_packed && to->type.size > 0 && !refs_dtype_equal(&to->dtype, &to->type)))) {
        REFS_TRY(rebase_times(to, at, &before, err));
    } else {
        REFS_TRY(refs_buf_append_str(&to->values, before.bytes, err));
        if (is_converted && to->dtype.size > 0) REFS_TRY(rebase_numbers(to, at, &before, err));
        if (!is_converted) before.missing.size = 0;
        if (!is_converted) REFS_TRY(widen_all(to, &before, err));
    }
    put_missing(to->result, at->array, &before, &to->dtype, &to->values);
    return REFS_OK;
}

/* Converts the values of a part; a failure names the part. */
static refs_status rebase_part(rebasing *to, const refs_combine_place *at, refs_error *err) {
    const refs_status status = rebase_values(to, at, err);
    if (status != REFS_OK)
        refs_error_prefix(err, "%s: %.*s", at->member->name,
                          REFS_STR_ARG(refs_combine__text(to->combine, to->result->path)));
    return status;
}

/* Appends the number of each string of a NUL-separated list. */
static refs_status number_texts(refs_intern *texts, refs_str list, refs_buf *numbers,
                                refs_error *err) {
    for (const char *text; refs_str_next_text(&list, &text);) {
        uint32_t number;
        REFS_TRY(refs_intern_add(texts, refs_str_from(text), &number, err));
        REFS_TRY(refs_buf_append(numbers, &number, sizeof number, err));
    }
    return REFS_OK;
}

/* Replaces numbers by their strings. */
static refs_status replace_by_texts(const refs_intern *texts, refs_buf *values, refs_error *err) {
    REFS_SCOPED_BUF list = REFS_BUF_INIT;
    for (size_t at = 0; at < values->size; at += sizeof(uint32_t)) {
        uint32_t number;
        memcpy(&number, values->data + at, sizeof number);
        REFS_TRY(refs_buf_append_text(&list, refs_intern_get(texts, number), err));
    }
    const refs_buf numbers = *values;
    *values = list;
    list = numbers;
    return REFS_OK;
}

static refs_status gather_texts(const gathered *to, const refs_combine_place *at, refs_error *err) {
    const refs_combine *combine = to->combine;
    const refs_combine_array *array = at->array;
    REFS_SCOPED_BUF numbers = REFS_BUF_INIT;
    size_t n = sizeof(uint32_t);
    if (array->values == REFS_COMBINE_NONE)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: %.*s", at->member->name,
                         REFS_STR_ARG(refs_combine__text(combine, array->problem)));
    for (size_t dim = 0; dim < array->rank; dim++)
        if (!refs_mul_size(n, (size_t)array->shape[dim], &n)) n = SIZE_MAX;
    REFS_TRY(number_texts(to->texts, refs_combine__text(combine, array->values), &numbers, err));
    if (numbers.size != n)
        return refs_fail(err, REFS_CORRUPT, "%s: %.*s has %zu strings: expected %zu",
                         at->member->name, REFS_STR_ARG(refs_combine__text(combine, array->path)),
                         numbers.size / sizeof(uint32_t), n / sizeof(uint32_t));
    return scatter(to, at, (elements){numbers.data, sizeof(uint32_t)}, err);
}

static refs_status gather_one(refs_combine *combine, const gathered *to,
                              const refs_combine_place *at, const refs_cf_units *units,
                              refs_error *err) {
    rebasing moved = {
        .combine = combine, .result = to->result, .units = units, .type = to->result->dtype};
    if (to->texts != NULL) return gather_texts(to, at, err);
    refs_status status = rebase_part(&moved, at, err);
    if (status == REFS_OK)
        status = scatter(to, at, (elements){moved.values.data, moved.dtype.size}, err);
    refs_buf_clear(&moved.values);
    return status;
}

/* Finds the common type of times that differ in units or type; false if they do not. */
static bool find_time_type(const refs_combine *combine, const refs_combine_result *result,
                           const refs_cf_units *units, refs_dtype *type) {
    const refs_dtype least = {.type = REFS_TYPE_INT, .size = sizeof(int32_t)};
    bool differs = false;
    refs_cf_clock clock;
    if (!refs_cf_clock_of(units, &clock)) return false;
    *type = least;
    for (size_t i = 0; i < combine->n_members; i++) {
        refs_combine_place at = {&combine->members[i], NULL};
        for (size_t k = 0; (at.array = refs_combine__piece(at.member, result->path, k)) != NULL;
             k++) {
            const refs_values values = values_in(combine, &at);
            const size_t size = at.array->dtype.size;
            if (!values.are_times || size == 0 || refs_combine__is_packed(&at.array->unpacking))
                return false;
            differs = differs || changes_units(combine, units, &at) ||
                      !refs_dtype_equal(&at.array->dtype, &result->like->dtype);
            for (size_t n = 0; n < values.bytes.size / size; n++) {
                const refs_value value = refs_combine__unpacked_at(&values, n);
                refs_combine__common_time_type(&clock, &at.array->dtype, &value, type);
            }
        }
    }
    return differs;
}

/* Strings get the size of the longest. Times with several units or types become double, unless all
 * are integers and stay exact. */
static refs_dtype find_type(const refs_combine *combine, const refs_combine_result *result,
                            const refs_cf_units *units) {
    refs_dtype type = result->like->dtype;
    if (result->like->are_texts)
        return (refs_dtype){.type = REFS_TYPE_UINT, .size = sizeof(uint32_t)};
    if (find_time_type(combine, result, units, &type)) return type;
    type = result->like->dtype;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array != NULL && array->dtype.size > type.size) type.size = array->dtype.size;
    }
    return type;
}

/* Converts the fill value to the type of the values; false if there is none. */
static bool find_fill(const refs_combine_result *result, uint8_t *fill) {
    const refs_dtype *dtype = &result->like->dtype;
    if (!result->like->has_fill && !result->has_hole_fill) return false;
    memcpy(fill, result->has_hole_fill ? result->hole : result->like->fill, 16);
    uint8_t narrow[16];
    memcpy(narrow, fill, sizeof narrow);
    return refs_combine__widen(dtype, narrow, &result->dtype, fill) ||
           dtype->size == result->dtype.size;
}

static refs_status make_room(const refs_combine *combine, refs_combine_result *result,
                             refs_error *err) {
    uint64_t total = result->dtype.size;
    uint8_t fill[16];
    for (size_t dim = 0; dim < result->rank; dim++)
        if (!refs_mul_u64(total, result->shape[dim], &total) || total > 1024 * REFS_MIB)
            return refs_fail(err, REFS_LIMIT, "%.*s has too many values to store in a set",
                             REFS_STR_ARG(refs_combine__text(combine, result->path)));
    REFS_TRY(refs_buf_resize(&result->values, (size_t)total, err));
    if (total > 0) memset(result->values.data, 0, (size_t)total);
    if (find_fill(result, fill))
        for (size_t at = 0; at < total; at += result->dtype.size)
            memcpy(result->values.data + at, fill, result->dtype.size);
    return REFS_OK;
}

bool refs_combine__has_own_units(const refs_combine *combine, const refs_combine_plan *plan,
                                 const refs_combine_result *result) {
    const refs_combine_member *member = &combine->members[result->first];
    const refs_combine_array *bounded = refs_combine__bounded_by(member, result->like);
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const uint32_t number = member->axes[concat].array;
        if (plan->concat_dims[concat].has_own_units && number != REFS_COMBINE_NONE &&
            &member->arrays[number] == bounded)
            return true;
    }
    return false;
}

/* Finds the units of the result; bounds have those of their coordinate, which may come from another
 * part than the first. */
static refs_cf_units find_units(const refs_combine *combine, const refs_combine_plan *plan,
                                const refs_combine_result *result) {
    refs_cf_units units =
        refs_combine__count_in(combine, &combine->members[result->first], result->like);
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        if (plan->concat_dims[concat].first == SIZE_MAX) continue;
        const refs_combine_member *member = &combine->members[plan->concat_dims[concat].first];
        const refs_combine_array *array = refs_combine__find(member, result->path);
        const uint32_t number = member->axes[concat].array;
        if (array != NULL && array->units == REFS_COMBINE_NONE && number != REFS_COMBINE_NONE &&
            refs_combine__bounded_by(member, array) == &member->arrays[number])
            units = refs_combine__count_in(combine, member, array);
    }
    if (refs_combine__has_own_units(combine, plan, result))
        units.units = refs_str_from(combine->options.time_units);
    return units;
}

/* Replaces the values of an array. */
static refs_status replace_values(refs_combine *combine, refs_combine_array *array,
                                  const refs_buf *values, refs_dtype dtype, refs_error *err) {
    REFS_TRY(refs_intern_add(&combine->strings, refs_buf_text(values), &array->values, err));
    uint8_t narrow[2][16];
    memcpy(narrow[0], array->fill, sizeof array->fill);
    memcpy(narrow[1], array->declared, sizeof array->declared);
    if (array->has_fill) (void)refs_combine__widen(&array->dtype, narrow[0], &dtype, array->fill);
    if (array->declares_fill)
        (void)refs_combine__widen(&array->dtype, narrow[1], &dtype, array->declared);
    array->dtype = dtype;
    return REFS_OK;
}

/* The next array with values at the path of the result, from *member and *k on, in any part; or
 * NULL. */
static refs_combine_array *next_array(const refs_combine *combine,
                                      const refs_combine_result *result, size_t *member,
                                      size_t *k) {
    for (; *member < combine->n_members; ++*member, *k = 0)
        while (*k < combine->members[*member].n_arrays) {
            refs_combine_array *array = &combine->members[*member].arrays[(*k)++];
            if (array->path == result->path && array->is_thin && array->units == REFS_COMBINE_NONE)
                return array;
        }
    return NULL;
}

static refs_status rebase_all(refs_combine *combine, const refs_combine_result *result,
                              const refs_cf_units *units, refs_error *err) {
    const refs_dtype type = find_type(combine, result, units);
    refs_combine_array *array;
    for (size_t i = 0, k = 0; (array = next_array(combine, result, &i, &k)) != NULL;) {
        rebasing moved = {.combine = combine, .result = result, .units = units, .type = type};
        const refs_combine_place at = {&combine->members[i], array};
        refs_status status = rebase_part(&moved, &at, err);
        if (status == REFS_OK)
            status = replace_values(combine, array, &moved.values, moved.dtype, err);
        refs_buf_clear(&moved.values);
        REFS_TRY(status);
    }
    return REFS_OK;
}

refs_status refs_combine__rebase_bounds(refs_combine *combine, const refs_combine_plan *plan,
                                        const refs_combine_result *result, refs_error *err) {
    const refs_cf_units found = find_units(combine, plan, result);
    if (result->like->units != REFS_COMBINE_NONE || found.units.size == 0) return REFS_OK;
    /* the table moves when strings are added */
    char *units = refs_str_copy(found.units), *calendar = refs_str_copy(found.calendar);
    refs_status status = units != NULL && calendar != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) {
        const refs_cf_units kept = {refs_str_from(units), refs_str_from(calendar)};
        status = rebase_all(combine, result, &kept, err);
    }
    refs_free(units);
    refs_free(calendar);
    return status;
}

/* Whether an array of two parts is the same, with the same steps. Bounds may have other units. */
static bool are_equal(const refs_combine_result *result, const refs_combine_member *one,
                      const refs_combine_member *other) {
    const refs_combine_array *a = refs_combine__find(one, result->path),
                             *b = refs_combine__find(other, result->path);
    return a->values == b->values && a->document == b->document && a->attributes == b->attributes &&
           a->bounded == REFS_COMBINE_NONE && a->holes == NULL && b->holes == NULL &&
           refs_combine__have_one_extent(result, one, other);
}

/* Copies all values, from the last part to the first, so that the first part wins if several have
 * an element. Values that only a master or a manifest has come before. */
static refs_status gather_all(refs_combine *combine, const refs_combine_plan *plan,
                              const gathered *to, const refs_cf_units *units, refs_error *err) {
    for (size_t i = combine->n_parts; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_place at = {member, refs_combine__find(member, to->result->path)};
        if (at.array != NULL) REFS_TRY(gather_one(combine, to, &at, units, err));
    }
    const bool is_shared = refs_combine__is_shared(combine, to->result);
    /* the last part with each text as its values */
    REFS_SCOPED const refs_combine_member **seen =
        refs_calloc(is_shared ? combine->strings.count : 1, sizeof *seen);
    if (seen == NULL) return refs_fail_nomem(err);
    for (size_t i = combine->n_members; i-- > 0;) {
        const refs_combine_member *member = &combine->members[plan->order[i]];
        const refs_combine_place at = {member, refs_combine__find(member, to->result->path)};
        if (at.array == NULL || member->role != REFS_COMBINE_IS_FRAGMENT) continue;
        if (is_shared && at.array->values != REFS_COMBINE_NONE) {
            const refs_combine_member *before = seen[at.array->values];
            seen[at.array->values] = member;
            if (before != NULL && are_equal(to->result, before, member)) continue;
        }
        REFS_TRY(gather_one(combine, to, &at, units, err));
    }
    return REFS_OK;
}

/* Declares a fill value where no source does, except for concat coordinates, which have no missing
 * values. */
static refs_status declare_missing(refs_combine *combine, refs_combine_result *result,
                                   refs_error *err) {
    const refs_combine_array *like = result->like;
    const bool is_coordinate =
        refs_combine__is_coordinate(combine, &combine->members[result->first], like);
    uint8_t fill[16];
    const bool is_declared =
        like->declares_fill &&
        (refs_dtype_equal(&like->dtype, &result->dtype) ||
         refs_combine__widen(&like->dtype, like->declared, &result->dtype, fill));
    if (is_declared || is_coordinate || !refs_dtype_is_numeric(&like->dtype) ||
        like->dtype.type == REFS_TYPE_COMPLEX)
        return REFS_OK;
    return refs_combine__declare_fill(combine, result, err);
}

/* Fills and reports values that no part has, except those that were missing before a master
 * grew. */
static refs_status fill_rest(refs_combine *combine, refs_combine_result *result, const gathered *to,
                             size_t n, refs_error *err) {
    const size_t size = result->dtype.size;
    uint8_t fill[16] = {0};
    size_t n_missing = 0, n_before = 0;
    for (size_t i = 0; i < n; i++) {
        n_missing += to->taken[i] == NOBODY;
        n_before += to->taken[i] == MISSING_BEFORE;
    }
    if (n_missing + n_before == 0) return REFS_OK;
    REFS_TRY(declare_missing(combine, result, err));
    if (to->texts == NULL) find_missing(result, &result->dtype, fill);
    for (size_t i = 0; i < n && size <= sizeof fill; i++)
        if (to->taken[i] == NOBODY || to->taken[i] == MISSING_BEFORE)
            memcpy(to->values + i * size, fill, size);
    if (n_missing == 0) return REFS_OK;
    refs_note(&combine->options.notes, REFS_NOTE_WARNING,
              "%.*s: %zu of %zu values are missing: no source has them",
              REFS_STR_ARG(refs_combine__text(combine, result->path)), n_missing, n);
    return REFS_OK;
}

/* Adds the text of a document's member to an empty table of strings. */
static refs_status add_string(const refs_combine *combine, uint32_t document, const char *name,
                              refs_intern *texts, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    uint32_t number;
    if (texts->count > 0 || document == REFS_COMBINE_NONE) return REFS_OK;
    REFS_TRY(refs_json_parse(refs_combine__text(combine, document), &doc, err));
    const refs_json *value = refs_json_get(refs_json_root(doc), name);
    return refs_json_is_string(value) ? refs_intern_add(texts, refs_json_text(value), &number, err)
                                      : REFS_OK;
}

/* Gives the fill value the number 0, which elements have that no part has. */
static refs_status number_fill(const refs_combine *combine, const refs_combine_array *like,
                               refs_intern *texts, refs_error *err) {
    uint32_t number;
    REFS_TRY(add_string(combine, like->attributes, "_FillValue", texts, err));
    REFS_TRY(add_string(combine, like->document, "fill_value", texts, err));
    return texts->count == 0 ? refs_intern_add(texts, refs_str_from(""), &number, err) : REFS_OK;
}

/* Whether values of several parts may be equal: coordinates in files of other variables, and arrays
 * that lack some concat dimensions. */
refs_status refs_combine__gather(refs_combine *combine, const refs_combine_plan *plan,
                                 refs_combine_result *result, refs_error *err) {
    const refs_cf_units units = find_units(combine, plan, result);
    result->dtype = find_type(combine, result, &units);
    REFS_TRY(make_room(combine, result, err));
    const bool is_coordinate =
        refs_combine__is_coordinate(combine, &combine->members[result->first], result->like);
    const size_t n = result->dtype.size > 0 ? result->values.size / result->dtype.size : 0;
    bool differs = result->has_warned_of_values, fills = false;
    uint8_t fill[16];
    const bool is_checked = !is_coordinate || combine->numbers != NULL;
    const bool are_texts = result->like->are_texts;
    refs_intern texts = {0};
    gathered to = {combine,
                   result,
                   (is_coordinate || result->like->is_grid) && !are_texts,
                   result->values.data,
                   is_checked ? refs_calloc(n + 1, 1) : NULL,
                   result->n_concat < combine->n_dims && (result->is_loaded || result->may_load),
                   &fills,
                   &differs,
                   find_fill(result, fill) ? fill : NULL,
                   are_texts ? &texts : NULL,
                   {.dtype = &result->dtype, .unpacking = {.scale = 1}}};
    refs_combine__set_clock(&to.timing, &units);
    if (is_checked && to.taken == NULL) return refs_fail_nomem(err);
    refs_status status = are_texts ? number_fill(combine, result->like, &texts, err) : REFS_OK;
    if (status == REFS_OK) status = gather_all(combine, plan, &to, &units, err);
    if (status == REFS_OK && is_checked && result->is_loaded && refs_combine__is_of_fields(combine))
        status = fill_rest(combine, result, &to, n, err);
    if (status == REFS_OK && are_texts) status = replace_by_texts(&texts, &result->values, err);
    result->is_loaded = result->is_loaded || (result->may_load && fills);
    refs_intern_clear(&texts);
    refs_free(to.taken);
    return status;
}

/* Whether the values of all parts are known, in types and packings that can be compared, and there
 * is memory for them. */
static bool are_known(const refs_combine *combine, const refs_combine_result *result) {
    const refs_combine_array *like = result->like;
    uint64_t total = like->are_texts ? sizeof(uint32_t) : like->dtype.size;
    for (size_t dim = 0; dim < result->rank; dim++)
        if (!refs_mul_u64(total, result->shape[dim], &total)) return false;
    if (total > REFS_COMBINE_MAX_SHARED_BYTES) return false;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array == NULL) continue;
        if (array->values == REFS_COMBINE_NONE || array->is_piece || array->is_v3 ||
            array->are_texts != like->are_texts || refs_combine__has_unknown_holes(array) ||
            !(result->may_load || refs_combine__are_of_one_type(array, like)))
            return false;
    }
    return true;
}

refs_status refs_combine__compare_shared(refs_combine *combine, const refs_combine_plan *plan,
                                         refs_combine_result *result, refs_error *err) {
    /* fields are compared once they have places */
    if (!refs_combine__is_shared(combine, result) || result->is_loaded || result->like->is_field ||
        !are_known(combine, result))
        return REFS_OK;
    result->is_compared = true;
    REFS_TRY(refs_combine__gather(combine, plan, result, err));
    refs_buf_clear(&result->values);
    return REFS_OK;
}
