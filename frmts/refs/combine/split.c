/* split.c -- which fragments sources become that are not alike, see combine_internal.h.
 *
 * An atom is a row of chunks along the joined dimension. Atoms in the order of their steps, put
 * together as long as they are alike and fill whole chunks, are the fragments: whatever sets the
 * atoms came in, they are the same. The values of per-step arrays are put into the set: a step is
 * an atom.
 */
#include <stdlib.h>

#include "combine_internal.h"

static bool is_coordinate_of_line(const refs_join *join, const refs_joined *joined) {
    const refs_join_member *member = &join->members[joined->first];
    for (size_t line = 0; line < join->n_dims; line++) {
        const uint32_t number = member->axes[line].array;
        if (number != REFS_JOIN_NONE && member->arrays[number].path == joined->path) return true;
    }
    return false;
}

bool refs_join__may_split(const refs_join *join, const refs_joined *joined) {
    const refs_join_array *like = joined->like;
    bool is_number = refs_dtype_is_numeric(&like->dtype) && like->dtype.type != REFS_TYPE_COMPLEX;
    const bool is_of_master = !like->is_field && join->n_parts < join->n_members;
    if (join->is_aggregated)
        return is_number && !is_coordinate_of_line(join, joined) && !is_of_master;
    if (join->options.unlike == REFS_JOIN_REFUSE || join->n_dims != 1 || joined->n_lines != 1 ||
        is_coordinate_of_line(join, joined) || !is_number)
        return false;
    for (size_t dim = 0; dim < joined->rank; dim++)
        if (joined->shape[dim] == 0) return false;
    return true;
}

void refs_join__split_free(refs_join_split *split) {
    if (split == NULL) return;
    refs_free(split->atoms);
    refs_free(split->runs);
    refs_free(split);
}

/* -- atoms ------------------------------------------------------------------------------------- */

uint64_t refs_join__steps_per_atom(const refs_joined *joined, const refs_join_array *array) {
    const size_t own = refs_join__own_dim(joined, array, joined->split->dim);
    return own == SIZE_MAX || array->is_thin ? 1 : array->chunk[own];
}

static refs_status fail_apart(const refs_join *join, const refs_joined *joined,
                              const refs_join_place *at, refs_error *err) {
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%.*s of %s has chunks of steps along %s between which there are steps of other "
        "sources: chunks cannot be cut",
        REFS_STR_ARG(refs_join__text(join, joined->path)), at->member->name, join->options.dims[0]);
}

static refs_status add_atoms(const refs_join *join, refs_joined *joined, const refs_join_place *at,
                             refs_error *err) {
    refs_join_split *split = joined->split;
    const refs_join_axis *axis = &at->member->axes[0];
    const refs_join_array *array = at->array;
    const size_t own = refs_join__own_dim(joined, array, split->dim);
    const uint64_t n = own == SIZE_MAX ? 1 : array->shape[own];
    const uint64_t per_chunk = refs_join__steps_per_atom(joined, array);
    for (uint64_t row = 0; row * per_chunk < n; row++) {
        const uint64_t first = array->begin + row * per_chunk, left = n - row * per_chunk;
        const uint64_t n_steps = left < per_chunk ? left : per_chunk;
        if (refs_join__is_hole(join, array, 0, first)) continue;
        if (first + n_steps > axis->n) return fail_apart(join, joined, at, err);
        const uint64_t begin = axis->position[first];
        for (uint64_t i = 1; i < n_steps; i++)
            if (axis->position[first + i] != begin + i) return fail_apart(join, joined, at, err);
        if (!refs_grow((void **)&split->atoms, &split->atom_capacity, split->n_atoms,
                       sizeof *split->atoms))
            return refs_fail_nomem(err);
        split->atoms[split->n_atoms++] = (refs_join_atom){begin, begin + n_steps, *at, row};
    }
    return REFS_OK;
}

static int by_begin(const void *left, const void *right) {
    const refs_join_atom *a = left, *b = right;
    if (a->begin != b->begin) return a->begin > b->begin ? 1 : -1;
    return (a->at.member > b->at.member) - (a->at.member < b->at.member);
}

static refs_status fail_twice(const refs_join *join, const refs_joined *joined,
                              const refs_join_atom *one, const refs_join_atom *other,
                              refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = refs_join__print_step(join, 0, other->begin, &text, err);
    if (status == REFS_OK)
        status =
            refs_fail(err, REFS_INVALID, "%.*s: duplicate %.*s in %s and %s: remove one of them",
                      REFS_STR_ARG(refs_join__text(join, joined->path)), (int)text.size,
                      (const char *)text.data, one->at.member->name, other->at.member->name);
    refs_buf_clear(&text);
    return status;
}

static refs_status collect(const refs_join *join, refs_joined *joined, refs_error *err) {
    refs_join_split *split = joined->split;
    for (size_t i = 0; i < join->n_members; i++) {
        refs_join_place at = {&join->members[i], NULL};
        for (size_t k = 0; (at.array = refs_join__piece(at.member, joined->path, k)) != NULL; k++)
            REFS_TRY(add_atoms(join, joined, &at, err));
    }
    qsort(split->atoms, split->n_atoms, sizeof *split->atoms, by_begin);
    for (size_t i = 1; i < split->n_atoms; i++) {
        const refs_join_atom *before = &split->atoms[i - 1], *at = &split->atoms[i];
        if (at->begin < before->end) return fail_twice(join, joined, before, at, err);
    }
    return REFS_OK;
}

/* -- runs -------------------------------------------------------------------------------------- */

static bool have_one_type(const refs_join_array *a, const refs_join_array *b) {
    return refs_dtype_equal(&a->dtype, &b->dtype) && a->has_fill == b->has_fill &&
           memcmp(a->fill, b->fill, sizeof a->fill) == 0;
}

static bool are_alike(const refs_join_array *a, const refs_join_array *b) {
    return a->is_thin == b->is_thin && a->packing == b->packing && a->range == b->range &&
           a->units == b->units && (a->is_thin ? have_one_type(a, b) : a->layout == b->layout);
}

static bool goes_on(const refs_joined *joined, const refs_join_run *run, const refs_join_atom *at) {
    const refs_join_array *array = joined->split->atoms[run->first].at.array;
    return run->n > 0 && at->begin == run->end && are_alike(array, at->at.array) &&
           (run->end - run->begin) % refs_join__steps_per_atom(joined, array) == 0;
}

static refs_status add_run(refs_join_split *split, refs_join_run run, refs_error *err) {
    if (!refs_grow((void **)&split->runs, &split->run_capacity, split->n_runs, sizeof *split->runs))
        return refs_fail_nomem(err);
    split->runs[split->n_runs++] = run;
    return REFS_OK;
}

/* Steps that no part has are a fragment that is not there. */
static refs_status add_gap(refs_join_split *split, uint64_t begin, uint64_t end, refs_error *err) {
    return begin < end ? add_run(split, (refs_join_run){begin, end, 0, 0}, err) : REFS_OK;
}

static refs_status make_runs(const refs_joined *joined, refs_error *err) {
    refs_join_split *split = joined->split;
    uint64_t end = 0;
    for (size_t i = 0; i < split->n_atoms; i++) {
        const refs_join_atom *at = &split->atoms[i];
        refs_join_run *last = split->n_runs > 0 ? &split->runs[split->n_runs - 1] : NULL;
        if (last != NULL && goes_on(joined, last, at)) {
            last->end = at->end;
            last->n++;
        } else {
            REFS_TRY(add_gap(split, end, at->begin, err));
            REFS_TRY(add_run(split, (refs_join_run){at->begin, at->end, i, 1}, err));
        }
        end = at->end;
    }
    return add_gap(split, end, joined->shape[split->dim], err);
}

/* -- the aggregation's type -------------------------------------------------------------------- */

static bool is_packed(const refs_join *join, const refs_join_array *array) {
    const refs_str text = refs_join__text(join, array->packing);
    return !refs_str_starts(text, "scale_factor=;add_offset=;");
}

static bool is_short(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_FLOAT ? dtype->size <= 4 : dtype->size <= 2;
}

/* Integers in another unit are no integers any more. */
static bool are_converted(const refs_join *join, const refs_join_array *a,
                          const refs_join_array *b) {
    const bool are_floats = a->dtype.type == REFS_TYPE_FLOAT && b->dtype.type == REFS_TYPE_FLOAT;
    return !are_floats && refs_join__conversion(join, a, b) == REFS_CF_CONVERSION_LINEAR;
}

/* Times in single precision that are counted from another instant need more digits. */
static bool needs_double(const refs_join *join, const refs_join_array *a,
                         const refs_join_array *b) {
    return refs_join__counts_time(join, b) && refs_join__is_single(&b->dtype) &&
           refs_join__conversion(join, a, b) == REFS_CF_CONVERSION_LINEAR;
}

static bool is_unsigned(const refs_join_array *array) {
    return array->dtype.type == REFS_TYPE_UINT || array->dtype.type == REFS_TYPE_BOOL ||
           array->unpacking.is_unsigned;
}

/* The type that holds all values, unpacked: integers where there are no others, and one size more
 * than they need, for a fill value that is none of them. For 64 bits there is no size more: a value
 * that does not fit is an error when it is read. */
static refs_dtype unpacked_type(const refs_join *join, const refs_join_array *const *arrays,
                                size_t n) {
    bool are_integers = true, are_short = true, are_below_4 = true, are_unsigned = true,
         any_wide = false;
    for (size_t i = 0; i < n; i++) {
        are_integers = are_integers && arrays[i]->dtype.type != REFS_TYPE_FLOAT;
        are_short = are_short && is_short(&arrays[i]->dtype);
        are_below_4 = are_below_4 && arrays[i]->dtype.size < 4;
        any_wide = any_wide || (is_unsigned(arrays[i]) && arrays[i]->dtype.size == 8);
        are_unsigned = are_unsigned && is_unsigned(arrays[i]);
        if (is_packed(join, arrays[i]) || are_converted(join, arrays[i], arrays[0]))
            are_integers = are_short = false;
        are_short = are_short && !needs_double(join, arrays[i], arrays[0]);
    }
    if (are_integers && are_unsigned && any_wide)
        return (refs_dtype){.type = REFS_TYPE_UINT, .size = 8};
    return are_integers ? (refs_dtype){.type = REFS_TYPE_INT, .size = are_below_4 ? 4 : 8}
                        : (refs_dtype){.type = REFS_TYPE_FLOAT, .size = are_short ? 4 : 8};
}

/* One that is in other units is another, whatever its numbers. */
static bool has_another_range(const refs_join *join, const refs_join_array *a,
                              const refs_join_array *b) {
    const refs_str range = refs_join__text(join, a->range);
    const bool is_none = refs_str_is(range, REFS_JOIN_NO_RANGE);
    return a->range != b->range || (!is_none && a->units != b->units);
}

refs_common_type refs_join__common_type(const refs_join *join, const refs_join_array *const *arrays,
                                        size_t n) {
    refs_common_type common = {arrays[0]->dtype, false};
    for (size_t i = 0; i < n && !common.is_unpacked; i++)
        common.is_unpacked = is_packed(join, arrays[i]) || !have_one_type(arrays[i], arrays[0]) ||
                             arrays[i]->packing != arrays[0]->packing ||
                             has_another_range(join, arrays[i], arrays[0]) ||
                             are_converted(join, arrays[i], arrays[0]) ||
                             needs_double(join, arrays[i], arrays[0]);
    if (common.is_unpacked) common.dtype = unpacked_type(join, arrays, n);
    return common;
}

static refs_status choose_type(const refs_join *join, refs_join_split *split, refs_error *err) {
    const refs_join_array **arrays = refs_calloc(split->n_runs, sizeof *arrays);
    size_t n = 0;
    if (arrays == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < split->n_runs; i++)
        if (split->runs[i].n > 0) arrays[n++] = split->atoms[split->runs[i].first].at.array;
    split->type = refs_join__common_type(join, arrays, n);
    refs_free(arrays);
    return REFS_OK;
}

refs_status refs_join__split(refs_join *join, refs_joined *joined, refs_error *err) {
    joined->split = refs_calloc(1, sizeof *joined->split);
    if (joined->split == NULL) return refs_fail_nomem(err);
    while (joined->line[joined->split->dim] == REFS_JOIN_MAX_DIMS) joined->split->dim++;
    REFS_TRY(collect(join, joined, err));
    REFS_TRY(make_runs(joined, err));
    return choose_type(join, joined->split, err);
}
