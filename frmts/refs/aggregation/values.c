/* values.c -- converts elements of a fragment to those of the container; see
 * aggregation_internal.h.
 *
 * Integers of at most 32 bits, and floats, are exact as doubles; wider integers are converted as
 * integers if the container has integers, too. Fragments are unpacked, and packed again like the
 * container, unless both have the same packing; in CF-1.13 they are only unpacked. */
#include "aggregation_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "refs/cf.h"

/* Elements that are converted at once. */
enum { BLOCK = 512 };

/* -- describing -------------------------------------------------------------------------------- */

/* Ignores a missing value that no element can have, such as 1e20 for a byte. */
static refs_status add_missing(const refs_array_meta *variable, const char *name,
                               refs_agg_values *values, refs_error *err) {
    const refs_json *json = refs_json_get(variable->attributes, name);
    size_t n = refs_json_is_array(json) ? refs_json_size(json) : json != NULL;
    for (size_t i = 0; i < n; i++) {
        bool has_fill = false;
        const refs_json *one = refs_json_is_array(json) ? refs_json_at(json, i) : json;
        if (values->n_missing == REFS_MAX_MISSING)
            return refs_fail(err, REFS_LIMIT, "%s: more missing values than the limit of %d",
                             variable->path, REFS_MAX_MISSING);
        REFS_TRY(refs_cf_read_element(variable, one, values->missing[values->n_missing], &has_fill,
                                      err));
        values->n_missing += has_fill;
    }
    return REFS_OK;
}

/* A fragment without a missing value has netCDF's default, unless it has another fill value. */
static refs_status describe_missing(const refs_array_meta *variable, refs_agg_values *values,
                                    refs_error *err) {
    REFS_TRY(add_missing(variable, "_FillValue", values, err));
    REFS_TRY(add_missing(variable, "missing_value", values, err));
    if (values->n_missing > 0) return REFS_OK;
    if (refs_cf_fill_is_chosen(variable)) {
        memcpy(values->missing[values->n_missing++], variable->fill, values->from.size);
        return REFS_OK;
    }
    if (refs_cf_keeps_default_fill(variable)) return REFS_OK;
    values->n_missing = refs_cf_default_fill(&values->from, values->missing[0]);
    return REFS_OK;
}

typedef struct packing {
    double scale, offset;
} packing;

static packing packing_of(const refs_json *attributes) {
    packing packed;
    (void)refs_cf_scale_of(attributes, &packed.scale, &packed.offset);
    return packed;
}

/* CF 1.13, section 2.8.3: unpacked fragments are the packed values of a packed aggregation. Older
 * encodings pack them again. */
static packing packing_undone(const refs_aggregation *aggregation) {
    const packing none = {1, 0};
    return aggregation->is_unpacked ? none : packing_of(aggregation->meta.attributes);
}

/* A partition of CFA-0.4 may state the units of its fragment. */
static refs_cf_units units_of_fragment(const refs_fragment_source *fragment,
                                       const refs_array_meta *variable) {
    refs_cf_units units = refs_cf_units_of(variable->attributes);
    const refs_fragment_layout *layout = fragment != NULL ? fragment->layout : NULL;
    if (layout != NULL && layout->units != NULL) units.units = refs_str_from(layout->units);
    if (layout != NULL && layout->calendar != NULL)
        units.calendar = refs_str_from(layout->calendar);
    return units;
}

/* value = element * scale + offset in the fragment's units, then in the container's, whose element
 * is (value - offset') / scale'. */
static refs_status describe_packing(const refs_aggregation *aggregation,
                                    const refs_fragment_source *fragment,
                                    const refs_array_meta *variable, refs_agg_values *values,
                                    refs_error *err) {
    const refs_json *attributes = aggregation->meta.attributes;
    packing from = packing_of(variable->attributes), to = packing_undone(aggregation);
    const refs_cf_units units = units_of_fragment(fragment, variable),
                        wanted = refs_cf_units_of(attributes);
    refs_cf_conversion by;
    REFS_TRY(refs_cf_convert_units(&units, &wanted, REFS_CF_KEEP, &by, err));
    values->has_other_units = by.kind == REFS_CF_CONVERSION_UNKNOWN;
    if (fragment != NULL && fragment->layout != NULL) values->units_told = fragment->layout->units;
    bool is_alike =
        from.scale == to.scale && from.offset == to.offset && by.kind != REFS_CF_CONVERSION_LINEAR;
    if (!is_alike && (to.scale == 0 || isnan(to.scale)))
        return refs_fail(
            err, REFS_CORRUPT,
            "the scale_factor of the aggregation: expected a finite number other than 0, found %g",
            to.scale);
    values->is_linear = !is_alike;
    values->to_scale = to.scale;
    values->to_offset = to.offset;
    values->scale = is_alike ? 1 : from.scale * by.scale / to.scale;
    values->offset = is_alike ? 0 : (from.offset * by.scale + by.offset - to.offset) / to.scale;
    const bool is_packed = from.scale != 1 || from.offset != 0 || to.scale != 1 || to.offset != 0;
    values->are_times = !is_alike && !is_packed && refs_cf_clock_of(&units, &values->from_clock) &&
                        refs_cf_clock_of(&wanted, &values->to_clock);
    return REFS_OK;
}

static bool is_number(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_INT || dtype->type == REFS_TYPE_UINT ||
           dtype->type == REFS_TYPE_FLOAT;
}

/* netCDF-3 has no unsigned types: attributes say that elements are. */
static void read_unsigned(const refs_array_meta *meta, refs_dtype *dtype) {
    if (refs_cf_has_unsigned_elements(meta)) dtype->type = REFS_TYPE_UINT;
}

/* CF 1.13, section 2.5.1: values outside the valid range of the fragment are missing. Readers of
 * the container check its own range. */
static void describe_range(const refs_aggregation *aggregation, const refs_array_meta *variable,
                           refs_agg_values *values) {
    refs_cf_range own, whole;
    if (!refs_cf_valid_range(variable, &values->from, &own)) return;
    const bool is_same = !values->is_linear && refs_dtype_equal(&values->from, &values->to) &&
                         refs_cf_valid_range(&aggregation->meta, &values->to, &whole) &&
                         refs_cf_range_equal(&own, &whole);
    values->has_range = !is_same;
    values->valid = own;
}

static const char *name_of_text(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_OBJECT    ? "of variable length"
           : dtype->type == REFS_TYPE_UNICODE ? "of code points"
                                              : "of bytes";
}

static bool has_same_missing(const refs_agg_values *values) {
    for (size_t i = 0; i < values->n_missing; i++)
        if (memcmp(values->missing[i], values->fill, values->to.size) != 0) return false;
    return true;
}

static bool is_wide_integer(const refs_dtype *dtype) {
    return dtype->type != REFS_TYPE_FLOAT && dtype->size == 8;
}

/* Whether the container's fill value is a valid value in the fragment. 64-bit integers have no
 * wider type with a free value for missing elements, so such a fragment fits no container with that
 * fill value. */
static bool holds_fill(const refs_aggregation *aggregation, const refs_array_meta *variable,
                       const refs_agg_values *values) {
    uint8_t spare[sizeof(double)];
    const bool may_hold_it =
        (refs_cf_spare_fill(&values->to, spare) &&
         memcmp(values->fill, spare, values->to.size) == 0) ||
        (refs_cf_is_default_fill(&values->to, values->fill) &&
         refs_cf_keeps_default_fill(variable));
    if (refs_aggregation__value(aggregation->container.attributes, "_FillValue") == NULL ||
        !is_wide_integer(&values->to) || !is_wide_integer(&values->from) || !may_hold_it)
        return false;
    for (size_t i = 0; i < values->n_missing; i++)
        if (memcmp(values->missing[i], values->fill, values->to.size) == 0) return false;
    return true;
}

static void compare(refs_agg_values *values) {
    values->is_wide =
        is_wide_integer(&values->from) && values->to.type == REFS_TYPE_FLOAT && !values->is_linear;
    values->is_same = refs_dtype_equal(&values->from, &values->to) && !values->is_linear &&
                      !values->has_range && !values->holds_fill && has_same_missing(values);
}

/* Converts strings to variable length; others are copied. */
static refs_status describe_text(const refs_array_meta *variable, refs_agg_values *values,
                                 refs_error *err) {
    if (!refs_aggregation__is_text(&values->from))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: expected text, as the aggregation has, found other elements",
                         variable->path);
    values->is_text = true;
    values->is_same =
        values->to.type == REFS_TYPE_OBJECT || refs_dtype_equal(&values->from, &values->to);
    if (values->is_same || values->from.type == values->to.type) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: cannot convert its strings (%s) to those of the aggregation (%s)",
                     variable->path, name_of_text(&values->from), name_of_text(&values->to));
}

refs_status refs_agg_values__describe(const refs_aggregation *aggregation,
                                      const refs_fragment_source *fragment,
                                      const refs_array_meta *variable, refs_agg_values *values,
                                      refs_error *err) {
    *values = (refs_agg_values){.from = variable->dtype, .to = aggregation->meta.dtype};
    memcpy(values->fill, aggregation->fill, sizeof values->fill);
    if (values->from.type == REFS_TYPE_BOOL) values->from.type = REFS_TYPE_UINT;
    if (values->to.type == REFS_TYPE_BOOL) values->to.type = REFS_TYPE_UINT;
    if (refs_aggregation__is_text(&values->to)) return describe_text(variable, values, err);
    if (!is_number(&values->from) || !is_number(&values->to))
        return refs_fail(err, REFS_UNSUPPORTED, "%s: expected numbers, found other elements",
                         variable->path);
    REFS_TRY(describe_missing(variable, values, err));
    REFS_TRY(describe_packing(aggregation, fragment, variable, values, err));
    read_unsigned(variable, &values->from);
    read_unsigned(&aggregation->meta, &values->to);
    describe_range(aggregation, variable, values);
    values->holds_fill = holds_fill(aggregation, variable, values);
    compare(values);
    return REFS_OK;
}

void refs_agg_values__ignore_range(refs_agg_values *values) {
    if (!values->has_range) return;
    values->has_range = false;
    compare(values);
}

/* -- elements in ------------------------------------------------------------------------------- */

#define FIND(type)                                                                                 \
    do {                                                                                           \
        type missing, element;                                                                     \
        memcpy(&missing, values->missing[k], sizeof missing);                                      \
        for (size_t i = 0; i < n; i++) {                                                           \
            memcpy(&element, src + i * sizeof element, sizeof element);                            \
            is_missing[i] |= element == missing;                                                   \
        }                                                                                          \
    } while (0)

static void find_missing(const refs_agg_values *values, const uint8_t *src, size_t n,
                         bool *is_missing) {
    memset(is_missing, 0, n * sizeof *is_missing);
    for (size_t k = 0; k < values->n_missing; k++) switch (values->from.size) {
        case 1:
            FIND(uint8_t);
            break;
        case 2:
            FIND(uint16_t);
            break;
        case 4:
            FIND(uint32_t);
            break;
        default:
            FIND(uint64_t);
        }
}

/* Marks NaN as missing; NaNs may have different bits. */
static void find_missing_nans(const refs_agg_values *values, const double *numbers, size_t n,
                              bool *is_missing) {
    bool any = false;
    for (size_t k = 0; k < values->n_missing; k++)
        any |= isnan(refs_dtype_number(&values->from, values->missing[k]));
    for (size_t i = 0; any && i < n; i++) is_missing[i] |= isnan(numbers[i]);
}

/* Marks elements outside the valid range; NaN is outside. 64-bit integers are compared exactly. */
static void find_invalid(const refs_agg_values *values, const void *src, const double *numbers,
                         size_t n, bool *is_missing) {
    int64_t integers[BLOCK];
    const double least = refs_cf_missing_number(values->valid.least),
                 most = refs_cf_missing_number(values->valid.most);
    if (!values->has_range) return;
    if (!is_wide_integer(&values->from)) {
        for (size_t i = 0; i < n; i++)
            is_missing[i] |= !(numbers[i] >= least && numbers[i] <= most);
        return;
    }
    (void)refs_dtype_to_integers(&values->from, src, n, integers);
    for (size_t i = 0; i < n; i++)
        is_missing[i] |= !refs_cf_range_has(&values->valid, (uint64_t)integers[i], numbers[i]);
}

/* -- elements out ------------------------------------------------------------------------------ */

static refs_status fail_text(const refs_agg_values *values, const char *number, refs_error *err) {
    char type[16];
    refs_dtype_format(&values->to, type, sizeof type);
    return refs_fail(err, REFS_CORRUPT, "%s: value %s does not fit type %s of the aggregation",
                     values->name != NULL ? values->name : "a fragment", number,
                     type + (type[0] != '\0'));
}

static refs_status fail_value(const refs_agg_values *values, double number, refs_error *err) {
    char text[32];
    if (values->is_linear) number = number * values->to_scale + values->to_offset;
    snprintf(text, sizeof text, "%.15g", number);
    return fail_text(values, text, err);
}

/* Numbers in the unit and packing of the container, to be rounded. */
typedef struct converted {
    const double *numbers;
    const bool *is_missing;
    size_t n;
} converted;

/* Half of the last bit of a fragment's float, in packing steps of the container, per step of
 * distance from the value 0. */
static double precision_of(const refs_agg_values *values) {
    if (!values->is_linear || values->from.type != REFS_TYPE_FLOAT) return 0;
    return values->from.size == 4 ? 0x1p-24 : values->from.size == 2 ? 0x1p-11 : 0x1p-53;
}

/* The bounds of an integer type as doubles. */
static void find_limits(const refs_dtype *dtype, double *low, double *high) {
    const bool is_signed = dtype->type == REFS_TYPE_INT;
    const int bits = (int)(8 * dtype->size) - is_signed;
    *low = is_signed ? -ldexp(1, bits) : 0;
    *high = bits > DBL_MANT_DIG ? nextafter(ldexp(1, bits), 0) : ldexp(1, bits) - 1;
}

/* Rounding by packing is allowed; a value outside the type is an error. */
static refs_status store_integers(const refs_agg_values *values, const converted *from, void *dst,
                                  refs_error *err) {
    int64_t integers[BLOCK];
    const double tolerance = values->is_linear ? 1e-6 : 0, precision = precision_of(values),
                 zero = values->is_linear ? values->to_offset / values->to_scale : 0;
    double low, high;
    find_limits(&values->to, &low, &high);
    for (size_t i = 0; i < from->n; i++) {
        const double number = from->numbers[i], whole = rint(number);
        integers[i] = 0;
        if (from->is_missing[i]) continue;
        if (!(whole >= low && whole <= high) ||
            fabs(number - whole) >
                tolerance * fmax(1, fabs(whole)) + precision * fabs(number + zero))
            return fail_value(values, number, err);
        integers[i] = whole < 0 ? (int64_t)whole : (int64_t)(uint64_t)whole;
    }
    refs_dtype_from_integers(&values->to, integers, from->n, dst);
    return REFS_OK;
}

static bool is_too_large(double number) {
    double size = fabs(number);
    return (size > (double)FLT_MAX) & (size <= DBL_MAX);
}

/* The loop over all values must stay vectorisable: no calls, no early exit. */
static refs_status store_floats(const refs_agg_values *values, const converted *from, void *dst,
                                refs_error *err) {
    const double *numbers = from->numbers;
    const bool *is_missing = from->is_missing;
    const size_t n = from->n;
    if (values->to.size == 2)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: aggregations of half floats are not supported",
                         values->name != NULL ? values->name : "a fragment");
    if (values->to.size == 8) {
        memcpy(dst, numbers, n * sizeof *numbers);
        return REFS_OK;
    }
    bool any_large = false;
    for (size_t i = 0; i < n; i++) {
        float element = (float)numbers[i];
        any_large |= is_too_large(numbers[i]) & !is_missing[i];
        memcpy((uint8_t *)dst + i * sizeof element, &element, sizeof element);
    }
    for (size_t i = 0; any_large && i < n; i++)
        if (is_too_large(numbers[i]) && !is_missing[i]) return fail_value(values, numbers[i], err);
    return REFS_OK;
}

static void store_missing(const refs_agg_values *values, const bool *is_missing, size_t n,
                          void *dst) {
    size_t size = values->to.size;
    const bool *first = memchr(is_missing, true, n);
    for (size_t i = first != NULL ? (size_t)(first - is_missing) : n; i < n; i++)
        if (is_missing[i]) memcpy((uint8_t *)dst + i * size, values->fill, size);
}

/* -- integers that doubles would round --------------------------------------------------------- */

static bool fits_integer(const refs_agg_values *values, int64_t number) {
    bool is_unsigned = values->to.type == REFS_TYPE_UINT;
    bool is_above = values->from.type == REFS_TYPE_UINT && number < 0; /* beyond INT64_MAX */
    if (values->holds_fill && memcmp(&number, values->fill, sizeof number) == 0) return false;
    size_t bits = values->to.size * 8;
    if (bits == 64) return is_unsigned ? is_above || number >= 0 : !is_above;
    if (is_above) return false;
    int64_t high = (INT64_C(1) << (is_unsigned ? bits : bits - 1)) - 1;
    return number <= high && number >= (is_unsigned ? 0 : -high - 1);
}

static refs_status fail_integer(const refs_agg_values *values, int64_t number, refs_error *err) {
    char text[32];
    if (values->from.type == REFS_TYPE_UINT)
        snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    else
        snprintf(text, sizeof text, "%lld", (long long)number);
    return fail_text(values, text, err);
}

/* Converts times to integers; a value that is not a whole number of the container's units is an
 * error. */
static refs_status count_integers(const refs_agg_values *values, const bool *is_missing,
                                  int64_t *numbers, size_t n, refs_error *err) {
    for (size_t i = 0; i < n; i++) {
        refs_cf_instant at;
        int64_t number;
        if (is_missing[i]) continue;
        if (!refs_cf_instant_of_integer(&values->from_clock, numbers[i], &at) ||
            !refs_cf_integer_of_instant(&values->to_clock, at, &number))
            return fail_integer(values, numbers[i], err);
        numbers[i] = number;
    }
    return REFS_OK;
}

static refs_status convert_integers(const refs_agg_values *values, const void *src, size_t n,
                                    void *dst, refs_error *err) {
    int64_t numbers[BLOCK];
    double rounded[BLOCK];
    bool is_missing[BLOCK];
    (void)refs_dtype_to_integers(&values->from, src, n, numbers);
    find_missing(values, src, n, is_missing);
    if (values->has_range) {
        (void)refs_dtype_to_doubles(&values->from, src, n, rounded);
        find_invalid(values, src, rounded, n, is_missing);
    }
    if (values->are_times) REFS_TRY(count_integers(values, is_missing, numbers, n, err));
    for (size_t i = 0; i < n; i++)
        if (!is_missing[i] && !fits_integer(values, numbers[i]))
            return fail_integer(values, numbers[i], err);
    refs_dtype_from_integers(&values->to, numbers, n, dst);
    store_missing(values, is_missing, n, dst);
    return REFS_OK;
}

/* -- text -------------------------------------------------------------------------------------- */

/* Copies strings, padded with zeros. */
static refs_status convert_strings(const refs_agg_values *values, const uint8_t *src, size_t n,
                                   uint8_t *dst, refs_error *err) {
    size_t from = values->from.size, to = values->to.size, common = from < to ? from : to;
    for (size_t i = 0; i < n; i++, src += from, dst += to) {
        memcpy(dst, src, common);
        memset(dst + common, 0, to - common);
        for (size_t k = common; k < from; k++)
            if (src[k] != 0)
                return refs_fail(
                    err, REFS_CORRUPT,
                    "%s: a string has more than the %zu bytes of the aggregation's type",
                    values->name != NULL ? values->name : "a fragment", to);
    }
    return REFS_OK;
}

/* Converts 64-bit integers to floats; an inexact value is an error. */
static refs_status check_exact(const refs_agg_values *values, const void *src, size_t n,
                               const bool *is_missing, refs_error *err) {
    int64_t numbers[BLOCK];
    const bool is_single = values->to.size == 4;
    (void)refs_dtype_to_integers(&values->from, src, n, numbers);
    for (size_t i = 0; i < n; i++) {
        const bool is_above = values->from.type == REFS_TYPE_UINT && numbers[i] < 0;
        uint64_t size =
            numbers[i] < 0 && !is_above ? 0 - (uint64_t)numbers[i] : (uint64_t)numbers[i];
        while (size > 0 && (size & 1) == 0) size >>= 1;
        if (!is_missing[i] && size >> (is_single ? FLT_MANT_DIG : DBL_MANT_DIG) != 0)
            return fail_integer(values, numbers[i], err);
    }
    return REFS_OK;
}

/* -- converting -------------------------------------------------------------------------------- */

/* Converts times; numbers that are not finite stay unchanged. */
static void count_times(const refs_agg_values *values, const void *src, double *numbers, size_t n) {
    int64_t integers[BLOCK];
    const refs_cf_precision precision =
        values->from.type == REFS_TYPE_FLOAT && values->from.size < sizeof(double) ? REFS_CF_SINGLE
                                                                                   : REFS_CF_DOUBLE;
    const bool are_integers = values->from.type == REFS_TYPE_INT;
    if (are_integers) (void)refs_dtype_to_integers(&values->from, src, n, integers);
    for (size_t i = 0; i < n; i++) {
        refs_cf_instant at;
        const refs_cf_clock *from = &values->from_clock;
        if (are_integers ? refs_cf_instant_of_integer(from, integers[i], &at)
                         : refs_cf_instant_of(from, numbers[i], precision, &at))
            numbers[i] = refs_cf_number_of_instant(&values->to_clock, at);
    }
}

static refs_status convert_numbers(const refs_agg_values *values, const void *src, size_t n,
                                   void *dst, refs_error *err) {
    double numbers[BLOCK];
    bool is_missing[BLOCK];
    (void)refs_dtype_to_doubles(&values->from, src, n, numbers);
    find_missing(values, src, n, is_missing);
    if (values->from.type == REFS_TYPE_FLOAT) find_missing_nans(values, numbers, n, is_missing);
    find_invalid(values, src, numbers, n, is_missing);
    if (values->is_wide) REFS_TRY(check_exact(values, src, n, is_missing, err));
    if (values->are_times)
        count_times(values, src, numbers, n);
    else if (values->is_linear)
        for (size_t i = 0; i < n; i++) numbers[i] = numbers[i] * values->scale + values->offset;
    const converted from = {numbers, is_missing, n};
    REFS_TRY(values->to.type == REFS_TYPE_FLOAT ? store_floats(values, &from, dst, err)
                                                : store_integers(values, &from, dst, err));
    store_missing(values, is_missing, n, dst);
    return REFS_OK;
}

refs_status refs_agg_values__convert(const void *user, const void *src, size_t n, void *dst,
                                     refs_error *err) {
    const refs_agg_values *values = user;
    if (values->is_text) return convert_strings(values, src, n, dst, err);
    bool integers =
        values->from.type != REFS_TYPE_FLOAT && values->to.type != REFS_TYPE_FLOAT &&
        (is_wide_integer(&values->from) || is_wide_integer(&values->to)) &&
        (!values->is_linear || (values->are_times && values->from.type == REFS_TYPE_INT));
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t part = n - i < BLOCK ? n - i : BLOCK;
        const uint8_t *from = (const uint8_t *)src + i * values->from.size;
        uint8_t *to = (uint8_t *)dst + i * values->to.size;
        REFS_TRY(integers ? convert_integers(values, from, part, to, err)
                          : convert_numbers(values, from, part, to, err));
    }
    return REFS_OK;
}
