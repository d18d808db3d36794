/* split.c -- divides heterogeneous sources into fragments, see combine_internal.h. The edges of
 * parts and of their holes divide the array into cells along all concat dimensions (cells.c). An
 * edge becomes a fragment boundary if the arrays on its two sides cannot be one array, at any index
 * of the other dimensions. The result does not depend on how parts were combined before. A boundary
 * inside a chunk is an error: chunks are not divided. Values of per-step arrays are stored in the
 * set, with one step per chunk. */
#include <math.h>

#include "combine_internal.h"

static bool is_concat_coordinate(const refs_combine *combine, const refs_combine_result *result) {
    const refs_combine_member *member = &combine->members[result->first];
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const uint32_t number = member->axes[concat].array;
        if (number != REFS_COMBINE_NONE && member->arrays[number].path == result->path) return true;
    }
    return false;
}

bool refs_combine__may_split(const refs_combine *combine, const refs_combine_result *result) {
    const refs_combine_array *like = result->like;
    bool is_number = refs_dtype_is_numeric(&like->dtype) && like->dtype.type != REFS_TYPE_COMPLEX;
    const bool is_of_master = !like->is_field && combine->n_parts < combine->n_members;
    if (refs_combine__is_aggregated(combine))
        return is_number && !is_concat_coordinate(combine, result) && !is_of_master;
    if (combine->options.unlike == REFS_COMBINE_REFUSE || result->n_concat == 0 ||
        is_concat_coordinate(combine, result) || !is_number)
        return false;
    for (size_t dim = 0; dim < result->rank; dim++)
        if (result->shape[dim] == 0) return false;
    return true;
}

void refs_combine__split_free(refs_combine_split *split) {
    if (split == NULL) return;
    refs_combine__cells_clear(&split->cells);
    refs_fragment_grid_clear(&split->grid);
    refs_free(split);
}

/* -- cells and fragments ----------------------------------------------------------------------- */

size_t refs_combine__cell_number(const refs_combine_cells *cells, const size_t *index) {
    size_t number = 0;
    for (size_t i = 0; i < cells->n_concat; i++)
        number = number * (cells->cuts[i].n - 1) + index[i];
    return number;
}

/* The piece that covers a cell, or NULL. */
static const refs_combine_place *owner_of(const refs_combine_split *split, size_t cell) {
    const uint32_t owner = split->cells.owners[cell];
    return owner != 0 ? &split->cells.pieces[owner - 1] : NULL;
}

refs_combine_cell_box refs_combine__cells_of(const refs_combine_split *split, uint64_t number) {
    refs_combine_cell_box box;
    uint64_t index[REFS_MAX_RANK];
    refs_fragment_grid_index(&split->grid, number, index);
    for (size_t i = 0; i < split->cells.n_concat; i++) {
        const refs_fragment_dim *dim = &split->grid.dims[split->dim[i]];
        const refs_fragment_interval *at = &dim->intervals[index[split->dim[i]]];
        box.begin[i] = refs_combine__cell_at(&split->cells.cuts[i], at->begin);
        box.end[i] = refs_combine__cell_at(&split->cells.cuts[i], at->end);
    }
    return box;
}

const refs_combine_place *refs_combine__piece_of(const refs_combine_split *split, uint64_t number) {
    const refs_combine_cell_box box = refs_combine__cells_of(split, number);
    return owner_of(split, refs_combine__cell_number(&split->cells, box.begin));
}

const refs_combine_array *refs_combine__first_of(const refs_combine_split *split) {
    uint64_t number = 0;
    while (!split->grid.sources[number].is_there) number++;
    return refs_combine__piece_of(split, number)->array;
}

/* -- chunks ------------------------------------------------------------------------------------ */

uint64_t refs_combine__steps_per_chunk(const refs_combine_result *result,
                                       const refs_combine_array *array, size_t dim) {
    const size_t own = refs_combine__own_dim(result, array, dim);
    return own == SIZE_MAX || array->is_thin ? 1 : array->chunk[own];
}

static refs_status fail_apart(const refs_combine *combine, const refs_combine_result *result,
                              const refs_combine_place *at, size_t concat, refs_error *err) {
    REFS_TRY(refs_combine__check_direction(combine, at->member, concat, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s of %s: steps of other sources along %s lie inside its chunks, and "
                     "chunks cannot be cut",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)), at->member->name,
                     combine->options.dims[concat]);
}

/* The steps of a piece along dimension `dim` of the array. */
static uint64_t count_steps(const refs_combine_result *result, const refs_combine_array *array,
                            size_t dim) {
    const size_t own = refs_combine__own_dim(result, array, dim);
    return own == SIZE_MAX ? 1 : array->shape[own];
}

/* Checks that the steps of a chunk are consecutive in the result. */
static refs_status check_chunks(const refs_combine *combine, const refs_combine_result *result,
                                const refs_combine_place *at, size_t dim, refs_error *err) {
    const size_t concat = result->concat[dim];
    const refs_combine_axis *axis = &at->member->axes[concat];
    const uint64_t begin = at->array->begin[concat],
                   k = refs_combine__steps_per_chunk(result, at->array, dim);
    const uint64_t end = begin + count_steps(result, at->array, dim);
    if (end > axis->n) return fail_apart(combine, result, at, concat, err);
    for (uint64_t first = begin; k > 1 && first < end; first += k) {
        if (refs_combine__is_hole(combine, at->array, concat, first)) continue;
        for (uint64_t step = first + 1; step < end && step < first + k; step++)
            if (axis->position[step] != axis->position[step - 1] + 1)
                return fail_apart(combine, result, at, concat, err);
    }
    return REFS_OK;
}

/* Whether a position along concat dimension `i` is a chunk boundary of a piece. */
typedef enum chunk_edge { BEGINS, ENDS } chunk_edge;

static bool is_edge(const refs_combine_result *result, const refs_combine_place *at, size_t i,
                    uint64_t position, chunk_edge edge) {
    const size_t dim = result->split->dim[i], concat = result->concat[dim];
    const uint64_t k = refs_combine__steps_per_chunk(result, at->array, dim);
    const refs_combine_axis *axis = &at->member->axes[concat];
    if (k == 1) return true;
    const uint64_t own = refs_combine__step_at(axis, edge == BEGINS ? position : position - 1) -
                         at->array->begin[concat];
    return edge == BEGINS ? own % k == 0
                          : (own + 1) % k == 0 || own + 1 == count_steps(result, at->array, dim);
}

/* -- cuts -------------------------------------------------------------------------------------- */

static bool have_one_fill(const refs_combine_array *a, const refs_combine_array *b) {
    return refs_dtype_equal(&a->dtype, &b->dtype) && a->has_fill == b->has_fill &&
           memcmp(a->fill, b->fill, sizeof a->fill) == 0;
}

static bool are_homogeneous(const refs_combine_array *a, const refs_combine_array *b) {
    return a == b ||
           (a->is_thin == b->is_thin && a->packing == b->packing && a->range == b->range &&
            a->units == b->units && (a->is_thin ? have_one_fill(a, b) : a->layout == b->layout));
}

/* The check of an edge along concat dimension `i` of the cells. */
typedef struct cut {
    size_t i;
    uint64_t position, begin; /**< position of the edge, and begin of the fragments before it */
    bool stays;
    const refs_combine_place *within; /**< a piece with one chunk on both sides; or NULL */
    const refs_combine_place
        *through; /**< a piece of which one side has part of a chunk; or NULL */
} cut;

/* Checks the cells before and after the edge at one index of the other dimensions. */
static void look(const refs_combine_result *result, const refs_combine_place *before,
                 const refs_combine_place *behind, cut *at) {
    const bool begins = behind == NULL || is_edge(result, behind, at->i, at->position, BEGINS);
    if (before != NULL && before == behind && !begins) {
        at->within = before;
        return;
    }
    if (!begins) at->through = behind;
    if (before != NULL && !is_edge(result, before, at->i, at->position, ENDS)) at->through = before;
    if (before == NULL && behind == NULL) return;
    at->stays =
        at->stays || before == NULL || behind == NULL ||
        !are_homogeneous(before->array, behind->array) ||
        (at->position - at->begin) %
                refs_combine__steps_per_chunk(result, before->array, result->split->dim[at->i]) !=
            0;
}

/* Checks an edge at all indices of the other dimensions. */
static void look_everywhere(const refs_combine_result *result, size_t number, cut *at) {
    const refs_combine_split *split = result->split;
    const refs_combine_cells *cells = &split->cells;
    size_t inner = 1;
    for (size_t i = at->i + 1; i < cells->n_concat; i++) inner *= cells->cuts[i].n - 1;
    const size_t size = inner * (cells->cuts[at->i].n - 1);
    for (size_t outer = 0; outer < cells->n; outer += size)
        for (size_t k = 0; k < inner; k++) {
            const size_t cell = outer + number * inner + k;
            look(result, owner_of(split, cell - inner), owner_of(split, cell), at);
        }
}

static refs_status cut_along(const refs_combine *combine, const refs_combine_result *result,
                             size_t i, refs_fragment_dim *into, refs_error *err) {
    const refs_combine_cuts *cuts = &result->split->cells.cuts[i];
    const size_t concat = result->split->cells.concat[i];
    uint64_t begin = 0;
    for (size_t k = 1; k + 1 < cuts->n; k++) {
        cut at = {.i = i, .position = cuts->at[k], .begin = begin};
        look_everywhere(result, k, &at);
        if (at.through != NULL) return fail_apart(combine, result, at.through, concat, err);
        if (at.stays && at.within != NULL)
            return fail_apart(combine, result, at.within, concat, err);
        if (!at.stays) continue;
        REFS_TRY(refs_fragment_dim_append(into, at.position - begin, err));
        begin = at.position;
    }
    return refs_fragment_dim_append(into, cuts->at[cuts->n - 1] - begin, err);
}

static refs_status cut_whole(const refs_combine_result *result, size_t dim, refs_fragment_dim *into,
                             refs_error *err) {
    REFS_TRY(refs_fragment_dim_append(into, result->shape[dim], err));
    into->is_split = false;
    return REFS_OK;
}

static refs_status make_grid(const refs_combine *combine, refs_combine_result *result,
                             refs_error *err) {
    refs_combine_split *split = result->split;
    split->grid.rank = result->rank;
    for (size_t dim = 0, i = 0; dim < result->rank; dim++) {
        refs_fragment_dim *into = &split->grid.dims[dim];
        REFS_TRY(result->concat[dim] < REFS_COMBINE_MAX_DIMS
                     ? cut_along(combine, result, i++, into, err)
                     : cut_whole(result, dim, into, err));
    }
    REFS_TRY(refs_fragment_grid_prepare(&split->grid, err));
    for (uint64_t i = 0; i < split->grid.n; i++)
        split->grid.sources[i].is_there = refs_combine__piece_of(split, i) != NULL;
    return REFS_OK;
}

/* -- properties of parts ----------------------------------------------------------------------- */

/* Compares each piece of a shared array with the one that has its first cell in the result. */
static refs_status compare_owners(const refs_combine *combine, const refs_combine_result *result,
                                  refs_error *err) {
    const refs_combine_split *split = result->split;
    const refs_combine_cells *cells = &split->cells;
    for (size_t k = 0; k < cells->n_pieces && !result->is_compared; k++) {
        const refs_combine_place *piece = &cells->pieces[k];
        size_t cell[REFS_COMBINE_MAX_DIMS];
        uint64_t index[REFS_MAX_RANK] = {0};
        bool is_empty = false;
        for (size_t i = 0; i < cells->n_concat; i++) {
            const refs_combine_steps steps =
                refs_combine__steps_of(combine, piece, cells->concat[i]);
            is_empty = is_empty || steps.begin == steps.end;
            if (is_empty) break;
            const uint64_t at = piece->member->axes[cells->concat[i]].position[steps.begin];
            cell[i] = refs_combine__cell_at(&cells->cuts[i], at);
            index[split->dim[i]] = at;
        }
        if (is_empty) continue;
        const refs_combine_place *owner = owner_of(split, refs_combine__cell_number(cells, cell));
        if (owner == NULL ||
            refs_combine__have_one_digest(combine, result, owner->member, piece->member))
            continue;
        const refs_combine_member *const members[2] = {owner->member, piece->member};
        return refs_combine__fail_twice(combine, result, index, members, err);
    }
    return REFS_OK;
}

/* Fails if two parts have the same cell of an array with all concat dimensions. */
static refs_status check_once(const refs_combine *combine, const refs_combine_result *result,
                              refs_error *err) {
    const refs_combine_split *split = result->split;
    const refs_combine_cells *cells = &split->cells;
    uint64_t index[REFS_MAX_RANK] = {0};
    if (cells->second == 0) return REFS_OK;
    const refs_combine_member *const members[2] = {owner_of(split, cells->twice)->member,
                                                   cells->pieces[cells->second - 1].member};
    if (refs_combine__is_shared(combine, result)) return compare_owners(combine, result, err);
    for (size_t i = cells->n_concat, cell = cells->twice; i-- > 0; cell /= cells->cuts[i].n - 1)
        index[split->dim[i]] = cells->cuts[i].at[cell % (cells->cuts[i].n - 1)];
    return refs_combine__fail_twice(combine, result, index, members, err);
}

static refs_status find_cells(const refs_combine *combine, const refs_combine_plan *plan,
                              refs_combine_result *result, refs_error *err) {
    refs_combine_split *split = result->split;
    refs_combine_cells *cells = &split->cells;
    *cells = (refs_combine_cells){.combine = combine, .wants_owners = true};
    for (size_t dim = 0; dim < result->rank; dim++) {
        if (result->concat[dim] == REFS_COMBINE_MAX_DIMS) continue;
        split->dim[cells->n_concat] = dim;
        cells->concat[cells->n_concat++] = result->concat[dim];
    }
    REFS_TRY(refs_combine__cells_open(cells, plan, result->path, err));
    if (cells->covered == NULL)
        return refs_fail(err, REFS_LIMIT,
                         "%.*s: its sources have too many edges along %zu dimensions",
                         REFS_STR_ARG(refs_combine__text(combine, result->path)), cells->n_concat);
    if (cells->n_missing == cells->n)
        return refs_fail(err, REFS_INVALID, "%.*s: no source has values of it",
                         REFS_STR_ARG(refs_combine__text(combine, result->path)));
    for (size_t k = 0; k < cells->n_pieces; k++)
        for (size_t i = 0; i < cells->n_concat; i++)
            REFS_TRY(check_chunks(combine, result, &cells->pieces[k], split->dim[i], err));
    return check_once(combine, result, err);
}

/* -- the aggregation's type -------------------------------------------------------------------- */

static bool is_packed(const refs_combine *combine, const refs_combine_array *array) {
    const refs_str text = refs_combine__text(combine, array->packing);
    return !refs_str_starts(text, "scale_factor=;add_offset=;");
}

static bool is_short(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_FLOAT ? dtype->size <= 4 : dtype->size <= 2;
}

/* Integers that are converted to another unit become floating-point. */
static bool are_converted(const refs_combine *combine, const refs_combine_array *a,
                          const refs_combine_array *b) {
    const bool are_floats = a->dtype.type == REFS_TYPE_FLOAT && b->dtype.type == REFS_TYPE_FLOAT;
    return !are_floats && refs_combine__conversion(combine, a, b) == REFS_CF_CONVERSION_LINEAR;
}

/* Times in single precision that are counted from another instant become double: they need more
 * digits. */
static bool needs_double(const refs_combine *combine, const refs_combine_array *a,
                         const refs_combine_array *b) {
    return refs_combine__counts_time(combine, b) && refs_combine__is_single(&b->dtype) &&
           refs_combine__conversion(combine, a, b) == REFS_CF_CONVERSION_LINEAR;
}

static bool is_unsigned(const refs_combine_array *array) {
    return array->dtype.type == REFS_TYPE_UINT || array->dtype.type == REFS_TYPE_BOOL ||
           array->unpacking.is_unsigned;
}

/* Whether 32-bit integers hold all values and a free one for missing values; also of an aggregation
 * that was made before. */
static bool fits_int(const refs_combine_array *array) {
    const bool is_int = array->dtype.type == REFS_TYPE_INT && array->dtype.size == 4;
    return array->dtype.size < 4 || (is_int && array->declares_fill &&
                                     refs_cf_is_default_fill(&array->dtype, array->declared));
}

/* The type that holds all unpacked values: integers if all are, one size wider than needed, so that
 * a fill value is free. 64-bit integers have no wider type: a value that does not fit is an error
 * when it is read. */
static refs_dtype unpacked_type(const refs_combine *combine,
                                const refs_combine_array *const *arrays, size_t n) {
    bool are_integers = true, are_short = true, fit_int = true, are_unsigned = true,
         any_wide = false;
    for (size_t i = 0; i < n; i++) {
        are_integers = are_integers && arrays[i]->dtype.type != REFS_TYPE_FLOAT;
        are_short = are_short && is_short(&arrays[i]->dtype);
        fit_int = fit_int && fits_int(arrays[i]);
        any_wide = any_wide || (is_unsigned(arrays[i]) && arrays[i]->dtype.size == 8);
        are_unsigned = are_unsigned && is_unsigned(arrays[i]);
        if (is_packed(combine, arrays[i]) || are_converted(combine, arrays[i], arrays[0]))
            are_integers = are_short = false;
        are_short = are_short && !needs_double(combine, arrays[i], arrays[0]);
    }
    if (are_integers && are_unsigned && any_wide)
        return (refs_dtype){.type = REFS_TYPE_UINT, .size = 8};
    return are_integers ? (refs_dtype){.type = REFS_TYPE_INT, .size = fit_int ? 4 : 8}
                        : (refs_dtype){.type = REFS_TYPE_FLOAT, .size = are_short ? 4 : 8};
}

/* A missing value in other units is another value. */
static bool has_another_range(const refs_combine *combine, const refs_combine_array *a,
                              const refs_combine_array *b) {
    const refs_str range = refs_combine__text(combine, a->range);
    const bool is_none = refs_str_is(range, REFS_COMBINE_NO_RANGE);
    return a->range != b->range || (!is_none && a->units != b->units);
}

/* Floating-point numbers use NaN for missing values. */
static bool have_other_values(const refs_combine_array *a, const refs_combine_array *b) {
    return a->dtype.type != REFS_TYPE_FLOAT &&
           refs_combine__has_only_values(a) != refs_combine__has_only_values(b);
}

static bool have_one_missing_value(const refs_combine_array *a, const refs_combine_array *b) {
    return a->has_missing_value == b->has_missing_value &&
           memcmp(a->missing_value, b->missing_value, sizeof a->missing_value) == 0;
}

const char *refs_combine__missing_text(const refs_common_type *type) {
    const char *spare = type->needs_spare ? refs_cf_spare_fill_text(&type->dtype) : NULL;
    return type->dtype.type == REFS_TYPE_FLOAT ? "\"NaN\""
           : spare != NULL                     ? spare
                                               : refs_cf_default_fill_text(&type->dtype);
}

void refs_combine__missing_element(const refs_common_type *type, uint8_t *fill) {
    const float single = NAN;
    const double number = (double)NAN;
    const refs_dtype *dtype = &type->dtype;
    if (dtype->type == REFS_TYPE_FLOAT && dtype->size == sizeof single)
        memcpy(fill, &single, sizeof single);
    else if (dtype->type == REFS_TYPE_FLOAT)
        memcpy(fill, &number, sizeof number);
    else if (!type->needs_spare || !refs_cf_spare_fill(dtype, fill))
        (void)refs_cf_default_fill(dtype, fill);
}

static bool holds_wide_default(const refs_combine_array *array) {
    return array->dtype.size == 8 && array->dtype.type != REFS_TYPE_FLOAT && array->keeps_default;
}

/* Bytes become wider integers with a free fill value, as in other programs. */
refs_common_type refs_combine__wider_type(const refs_combine *combine,
                                          const refs_combine_array *array) {
    return (refs_common_type){.dtype = unpacked_type(combine, &array, 1),
                              .is_unpacked = true,
                              .needs_spare = holds_wide_default(array)};
}

refs_common_type refs_combine__common_type(const refs_combine *combine,
                                           const refs_combine_array *const *arrays, size_t n) {
    refs_common_type common = {.dtype = arrays[0]->dtype};
    for (size_t i = 0; i < n && !common.is_unpacked; i++)
        common.is_unpacked = !refs_dtype_equal(&arrays[i]->dtype, &arrays[0]->dtype) ||
                             !have_one_missing_value(arrays[i], arrays[0]) ||
                             arrays[i]->packing != arrays[0]->packing ||
                             has_another_range(combine, arrays[i], arrays[0]) ||
                             are_converted(combine, arrays[i], arrays[0]) ||
                             needs_double(combine, arrays[i], arrays[0]) ||
                             have_other_values(arrays[i], arrays[0]);
    for (size_t i = 0; i < n; i++)
        common.keeps_default = common.keeps_default || refs_combine__has_only_values(arrays[i]);
    for (size_t i = 0; i < n; i++)
        common.needs_spare = common.needs_spare || holds_wide_default(arrays[i]);
    if (common.is_unpacked) common.dtype = unpacked_type(combine, arrays, n);
    return common;
}

static refs_status choose_type(const refs_combine *combine, refs_combine_split *split,
                               refs_error *err) {
    const refs_combine_array **arrays = refs_calloc((size_t)split->grid.n, sizeof *arrays);
    size_t n = 0;
    if (arrays == NULL) return refs_fail_nomem(err);
    for (uint64_t i = 0; i < split->grid.n; i++)
        if (split->grid.sources[i].is_there) arrays[n++] = refs_combine__piece_of(split, i)->array;
    split->type = refs_combine__common_type(combine, arrays, n);
    refs_free(arrays);
    return REFS_OK;
}

refs_status refs_combine__split(refs_combine *combine, const refs_combine_plan *plan,
                                refs_combine_result *result, refs_error *err) {
    REFS_NEW(result->split, 1, err);
    REFS_TRY(refs_combine__rebase_bounds(combine, plan, result, err));
    REFS_TRY(find_cells(combine, plan, result, err));
    REFS_TRY(make_grid(combine, result, err));
    return choose_type(combine, result->split, err);
}
