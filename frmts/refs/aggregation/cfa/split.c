/* split.c -- decides how a field is split into fragments: as requested, or by the algorithm in
 * S3netCDF4's documentation, which balances reads of one place over time and reads of one time
 * everywhere. */
#include <stdio.h>

#include "cfa/writing.h"

#define MAX_FRAGMENTS ((uint64_t)1 << 24)

/* The weight of a dimension that is not split further. */
#define NEVER UINT64_MAX

/* The state of splitting a field. */
typedef struct cfa_splitting {
    const refs_cfa_array *array;
    cfa_axis axes[REFS_MAX_RANK];
    uint64_t most[REFS_MAX_RANK]; /* limit of fragments along each dimension */
    uint64_t *n;                  /* fragments along each dimension */
} cfa_splitting;

/* Whether an array has a dimension twice, such as a covariance: a dimension has one length in a
 * file, so fragments have all of it. */
static bool is_repeated(const refs_cfa_array *array, size_t d) {
    for (size_t i = 0; i < array->variable.rank; i++)
        if (i != d && strcmp(array->variable.dims[i], array->variable.dims[d]) == 0) return true;
    return false;
}

/* -- by size ----------------------------------------------------------------------------------- */

static double elements_of(const cfa_splitting *splitting) {
    double elements = 1;
    for (size_t d = 0; d < splitting->array->variable.rank; d++)
        elements *= (double)splitting->array->shape[d] / (double)splitting->n[d];
    return elements;
}

/* The number of fragments along an axis; -1: there is no such axis. */
static double along(const cfa_splitting *splitting, cfa_axis axis) {
    for (size_t d = 0; d < splitting->array->variable.rank; d++)
        if (splitting->axes[d] == axis) return (double)splitting->n[d];
    return -1;
}

/* Whether latitude and longitude are split next, instead of time, level and others. */
static bool is_field_next(const cfa_splitting *splitting) {
    double y = along(splitting, AXIS_Y), x = along(splitting, AXIS_X);
    double line = along(splitting, AXIS_T);
    if (line < 0) line = along(splitting, AXIS_Z);
    if (line < 0) line = along(splitting, AXIS_OTHER);
    double field = y < 0 || x < 0 ? (y > x ? y : x) : y * x;
    return field <= line;
}

static bool is_of_field(cfa_axis axis) {
    return axis == AXIS_Y || axis == AXIS_X;
}

/* The dimension to split that has the fewest fragments; REFS_MAX_RANK: none. */
static size_t fewest(const cfa_splitting *splitting, bool (*is_meant)(cfa_axis)) {
    size_t found = REFS_MAX_RANK;
    uint64_t least = NEVER;
    for (size_t d = 0; d < splitting->array->variable.rank; d++) {
        const bool may_be_cut = splitting->n[d] < splitting->most[d];
        if (!may_be_cut || !is_meant(splitting->axes[d]) || splitting->n[d] >= least) continue;
        least = splitting->n[d];
        found = d;
    }
    return found;
}

static bool is_of_line(cfa_axis axis) {
    return !is_of_field(axis);
}

/* The dimension to split next. If none of the preferred kind can be split, it is the first one, as
 * in S3netCDF4. */
static size_t next_dimension(const cfa_splitting *splitting) {
    size_t d = fewest(splitting, is_field_next(splitting) ? is_of_field : is_of_line);
    for (size_t i = 0; d == REFS_MAX_RANK && i < splitting->array->variable.rank; i++)
        if (splitting->n[i] < splitting->most[i]) d = i;
    return d;
}

/* The total number of fragments, as a double: check_number rejects more than MAX_FRAGMENTS. */
static double fragments_of(const cfa_splitting *splitting) {
    double fragments = 1;
    for (size_t d = 0; d < splitting->array->variable.rank; d++)
        fragments *= (double)splitting->n[d];
    return fragments;
}

static void split_by_size(cfa_splitting *splitting, uint64_t max_elements) {
    while (elements_of(splitting) > (double)max_elements &&
           fragments_of(splitting) <= (double)MAX_FRAGMENTS) {
        size_t d = next_dimension(splitting);
        if (d >= REFS_MAX_RANK) return;
        splitting->n[d]++;
    }
}

/* Fragments have one element along other dimensions, such as an ensemble's. */
static void split_others(cfa_splitting *splitting) {
    bool has_others = false;
    size_t rank = splitting->array->variable.rank;
    for (size_t d = 0; d < rank; d++) has_others = has_others || splitting->axes[d] != AXIS_OTHER;
    for (size_t d = 0; d < rank && has_others; d++)
        if (splitting->axes[d] == AXIS_OTHER && splitting->most[d] > 0)
            splitting->n[d] = splitting->most[d];
}

static void begin(const cfa_writing *writing, size_t i, cfa_splitting *splitting, uint64_t *n) {
    splitting->array = &writing->source->arrays[i];
    splitting->n = n;
    for (size_t d = 0; d < splitting->array->variable.rank; d++) {
        splitting->axes[d] = refs_cfa__axis(writing->source, splitting->array, d);
        splitting->most[d] = is_repeated(splitting->array, d) ? 1 : splitting->array->shape[d];
        n[d] = 1;
    }
}

static size_t element_size(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_FLOAT && dtype->size == 2 ? 4 : dtype->size;
}

void refs_cfa__split(const cfa_writing *writing, size_t i, uint64_t *n) {
    cfa_splitting splitting;
    begin(writing, i, &splitting, n);
    size_t size = element_size(&splitting.array->variable.dtype);
    uint64_t max = writing->options->subarray_bytes / (size > 0 ? size : 1);
    if (writing->options->others == REFS_CFA_OTHERS_ONE) split_others(&splitting);
    split_by_size(&splitting, max > 0 ? max : 1);
}

/* -- by shape ---------------------------------------------------------------------------------- */

static refs_status fail_shape(const cfa_writing *writing, const char *why, refs_error *err) {
    return refs_fail(
        err, REFS_INVALID,
        "%s: SUBARRAY_SHAPE (--subarray-shape) %s: %s: expected sizes from 1, as 10,90,180 or "
        "time=10,lat=90",
        writing->shown, writing->options->subarray_shape, why);
}

/* Reads a size from a part of the text, for the dimension that it names or the next one. */
static bool take_size(const refs_cfa_array *array, refs_str part, size_t position,
                      uint64_t *wanted) {
    size_t equals = refs_str_find(part, '=');
    uint64_t size;
    refs_str number = equals == SIZE_MAX ? part : refs_str_part(part, equals + 1, part.size);
    if (!refs_str_to_u64(refs_str_trim(number, " "), &size) || size == 0) return false;
    if (equals == SIZE_MAX && position < array->variable.rank && !is_repeated(array, position))
        wanted[position] = size;
    if (equals == SIZE_MAX) return true;
    refs_str name = refs_str_trim(refs_str_part(part, 0, equals), " ");
    for (size_t d = 0; d < array->variable.rank; d++)
        if (refs_str_is(name, array->variable.dims[d]) && !is_repeated(array, d)) wanted[d] = size;
    return true;
}

/* Reads the requested shape of an array's fragments; unmentioned dimensions are whole. *applies is
 * false if the text is for arrays of another rank. */
static refs_status parse_shape(const cfa_writing *writing, const refs_cfa_array *array,
                               uint64_t *wanted, bool *applies, refs_error *err) {
    refs_str text = refs_str_trim(refs_str_from(writing->options->subarray_shape), "[]() ");
    bool is_named = refs_str_find(text, '=') != SIZE_MAX;
    size_t position = 0, begin_at = 0;
    for (size_t d = 0; d < array->variable.rank; d++) wanted[d] = array->shape[d];
    for (size_t i = 0; i <= text.size; i++) {
        if (i < text.size && text.data[i] != ',') continue;
        refs_str part = refs_str_part(text, begin_at, i);
        begin_at = i + 1;
        if ((refs_str_find(part, '=') != SIZE_MAX) != is_named)
            return fail_shape(writing, "only some sizes have names", err);
        if (take_size(array, part, position++, wanted)) continue;
        char why[80];
        (void)snprintf(why, sizeof why, "%.*s is not a size", part.size < 60 ? (int)part.size : 60,
                       part.data);
        return fail_shape(writing, why, err);
    }
    *applies = is_named || position == array->variable.rank;
    return REFS_OK;
}

static bool has_dimension(const refs_cfa_array *array, refs_str name) {
    for (size_t d = 0; d < array->variable.rank; d++)
        if (refs_str_is(name, array->variable.dims[d])) return true;
    return false;
}

/* Whether part number `position` of `n` in the text applies to some field. */
static bool is_for_any(const cfa_writing *writing, refs_str part, size_t n) {
    const size_t equals = refs_str_find(part, '=');
    const refs_str name = refs_str_trim(refs_str_part(part, 0, equals), " ");
    bool has_fields = false;
    for (size_t i = 0; i < writing->source->n_arrays; i++) {
        const refs_cfa_array *array = &writing->source->arrays[i];
        if (!writing->is_field[i]) continue;
        has_fields = true;
        if (equals != SIZE_MAX ? has_dimension(array, name) : n == array->variable.rank)
            return true;
    }
    return !has_fields;
}

refs_status refs_cfa__check_shape(const cfa_writing *writing, refs_error *err) {
    char why[128];
    if (writing->options->subarray_shape == NULL) return REFS_OK;
    const refs_str text = refs_str_trim(refs_str_from(writing->options->subarray_shape), "[]() ");
    size_t n = 1, begin_at = 0;
    for (size_t i = 0; i < text.size; i++) n += text.data[i] == ',';
    for (size_t i = 0; i <= text.size; i++) {
        if (i < text.size && text.data[i] != ',') continue;
        const refs_str part = refs_str_part(text, begin_at, i);
        begin_at = i + 1;
        if (is_for_any(writing, part, n)) continue;
        if (refs_str_find(part, '=') == SIZE_MAX)
            (void)snprintf(why, sizeof why, "no variable has %zu dimensions", n);
        else
            (void)snprintf(why, sizeof why, "no variable has the dimension of %.*s",
                           part.size < 60 ? (int)part.size : 60, part.data);
        return fail_shape(writing, why, err);
    }
    return REFS_OK;
}

/* -- fragments --------------------------------------------------------------------------------- */

static refs_status check_number(const uint64_t *n, size_t rank, refs_error *err) {
    uint64_t fragments = 1;
    for (size_t d = 0; d < rank; d++)
        if (!refs_mul_u64(fragments, n[d], &fragments) || fragments > MAX_FRAGMENTS)
            return refs_fail(err, REFS_LIMIT, "more fragments than the limit of %llu",
                             (unsigned long long)MAX_FRAGMENTS);
    return REFS_OK;
}

/* Divides a dimension into nearly equal parts: fragment i begins at fraction i / n. */
static refs_status share(uint64_t size, uint64_t n, refs_fragment_dim *dim, refs_error *err) {
    const uint64_t whole = size / n, rest = size % n; /* i * size may overflow */
    for (uint64_t i = 0; i < n; i++)
        REFS_TRY(refs_fragment_dim_append(dim, whole + (i + 1) * rest / n - i * rest / n, err));
    return REFS_OK;
}

/* Divides a dimension into parts of the requested size; the last one may be shorter. */
static refs_status cut(uint64_t size, uint64_t wanted, uint64_t n, refs_fragment_dim *dim,
                       refs_error *err) {
    for (uint64_t i = 0; i < n; i++)
        REFS_TRY(refs_fragment_dim_append(dim, i + 1 < n ? wanted : size - (n - 1) * wanted, err));
    return REFS_OK;
}

static refs_status cut_by_shape(const refs_cfa_array *array, const uint64_t *wanted,
                                refs_fragment_grid *grid, refs_error *err) {
    uint64_t n[REFS_MAX_RANK];
    for (size_t d = 0; d < grid->rank; d++) {
        uint64_t one = wanted[d] < array->shape[d] ? wanted[d] : array->shape[d];
        n[d] = one > 0 ? (array->shape[d] - 1) / one + 1 : 1;
    }
    REFS_TRY(check_number(n, grid->rank, err));
    for (size_t d = 0; d < grid->rank; d++)
        REFS_TRY(cut(array->shape[d], wanted[d], n[d], &grid->dims[d], err));
    return refs_fragment_grid_prepare(grid, err);
}

refs_status refs_cfa__divide(const cfa_writing *writing, size_t i, refs_fragment_grid *grid,
                             refs_error *err) {
    const refs_cfa_array *array = &writing->source->arrays[i];
    uint64_t n[REFS_MAX_RANK];
    grid->rank = array->variable.rank;
    if (writing->options->subarray_shape != NULL) {
        uint64_t wanted[REFS_MAX_RANK];
        bool applies = false;
        REFS_TRY(parse_shape(writing, array, wanted, &applies, err));
        if (applies) return cut_by_shape(array, wanted, grid, err);
    }
    refs_cfa__split(writing, i, n);
    REFS_TRY(check_number(n, grid->rank, err));
    for (size_t d = 0; d < grid->rank; d++)
        REFS_TRY(share(array->shape[d], n[d], &grid->dims[d], err));
    return refs_fragment_grid_prepare(grid, err);
}
