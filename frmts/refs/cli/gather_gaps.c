/* gather_gaps.c -- steps of a field that no fragment has; see gather.h. */
#include "gather.h"

#include <string.h>

/* -- parts that do not have a field -------------------------------------------------------------
 *
 * What they would have of it is missing: their place along its axes is that of their coordinates.
 */

bool gather_has_field(const gather_field *of, size_t p) {
    return of->of_part[p] > 0;
}

static refs_status add_gap(gathering *all, gather_axis *along, size_t p, refs_error *err) {
    const size_t c = along->path != NULL ? gather_coordinate_of(all, p, along->path) : SIZE_MAX;
    gather_slice made = {.values = NULL};
    if (c == SIZE_MAX || gather_array_of(all, p, c)->variable.rank != 1) return REFS_OK;
    made.size = gather_array_of(all, p, c)->shape[0];
    REFS_TRY(gather_read_values(all, along, p, &made, err));
    if (made.values == NULL || made.size == 0 || gather_is_covered(along, made.values, made.size)) {
        refs_free(made.values);
        return REFS_OK;
    }
    made.key = made.values[0];
    return gather_add_slice(along, &made, err);
}

bool gather_has_axes(const gathering *all, const gather_field *of, size_t p) {
    for (size_t d = 0; d < of->rank; d++)
        if (of->axes[d].coordinate != SIZE_MAX &&
            gather_coordinate_of(all, p, of->axes[d].path) == SIZE_MAX)
            return false;
    return true;
}

uint64_t gather_end_of_partition(const refs_array_meta *meta, size_t d, uint64_t element) {
    uint64_t at[REFS_MAX_RANK] = {0};
    refs_partition found;
    at[d] = element;
    const bool is_there = refs_aggregation_find(meta, at, &found, NULL) == REFS_OK;
    return is_there && found.end[d] > element ? found.end[d] : element + 1;
}

/* Adds a slice in which nothing is; `values` are those of all elements of the teller. */
static refs_status add_told_gap(gather_axis *along, const double *values, gather_slice made,
                                refs_error *err) {
    const size_t bytes = (size_t)made.size * sizeof *made.values;
    made.values = NULL;
    made.is_gap = true;
    if (values != NULL) {
        made.values = refs_alloc(bytes > 0 ? bytes : 1);
        if (made.values == NULL) return refs_fail_nomem(err);
        memcpy(made.values, values + made.in_teller, bytes);
    }
    return gather_add_slice(along, &made, err);
}

/* What a master has along a dimension, and no file that it names: it stays as it is. */
static refs_status add_master_gaps(gathering *all, gather_field *of, size_t d, refs_error *err) {
    gather_axis *along = &of->axes[d];
    const size_t m = all->names.n, i = tool_arrays_find(&all->parts[m].arrays, of->path);
    const size_t c = along->path != NULL ? gather_coordinate_of(all, m, along->path) : SIZE_MAX;
    gather_slice whole = {.values = NULL};
    if (i == SIZE_MAX || c == SIZE_MAX || gather_array_of(all, m, c)->variable.rank != 1)
        return REFS_OK;
    const refs_array_meta *meta = all->parts[m].arrays.metas[i];
    whole.size = gather_array_of(all, m, c)->shape[0];
    if (meta->aggregation == NULL || meta->rank != of->rank || meta->shape[d] != whole.size)
        return REFS_OK;
    REFS_TRY(gather_read_values(all, along, m, &whole, err));
    refs_status status = REFS_OK;
    for (uint64_t at = 0; whole.values != NULL && at < whole.size && status == REFS_OK;) {
        const uint64_t end = gather_end_of_partition(meta, d, at);
        const gather_slice made = {.size = end - at,
                                   .key = whole.values[at],
                                   .is_single = whole.is_single,
                                   .teller = m,
                                   .in_teller = at};
        if (!gather_is_covered(along, whole.values + at, made.size))
            status = add_told_gap(along, whole.values, made, err);
        at = end;
    }
    refs_free(whole.values);
    return status;
}

/* -- outlines -----------------------------------------------------------------------------------
 *
 * They say which fragments held nothing but the fill value and were not written. Of slices of which
 * any was written, and none is given, those are left out that nothing follows.
 */

/* The coordinate of an outline; values stay NULL where there is none. */
static refs_status read_outlined(gathering *all, const gather_field *of, size_t d,
                                 gather_slice *whole, refs_error *err) {
    const gather_axis *along = &of->axes[d];
    const size_t c =
        along->path != NULL ? gather_coordinate_of(all, of->outline, along->path) : SIZE_MAX;
    whole->size = of->outlined.meta->shape[d];
    if (c == SIZE_MAX || gather_array_of(all, of->outline, c)->variable.rank != 1) return REFS_OK;
    return gather_read_values(all, along, of->outline, whole, err);
}

static size_t count_numbered(const gather_axis *along) {
    double n = 0;
    for (size_t i = 0; i < along->n; i++)
        if (along->slices[i].key >= n) n = along->slices[i].key + 1;
    return (size_t)n;
}

/* `made` borrows the values of all elements of the outline. */
static refs_status add_numbered_gap(const gathering *all, gather_field *of, size_t d,
                                    const gather_slice *made, refs_error *err) {
    gather_axis *along = &of->axes[d];
    const size_t known = gather_find_slice(along, made);
    if (known == SIZE_MAX) return add_told_gap(along, made->values, *made, err);
    return along->slices[known].size == made->size
               ? REFS_OK
               : gather_fail_place(&all->parts[of->outline], of, along,
                                   "is cut otherwise than another source", err);
}

static refs_status add_numbered_gaps(gathering *all, gather_field *of, size_t d, refs_error *err) {
    gather_axis *along = &of->axes[d];
    const size_t n = count_numbered(along);
    gather_slice whole = {.values = NULL};
    REFS_TRY(read_outlined(all, of, d, &whole, err));
    refs_status status = REFS_OK;
    for (size_t i = 0; i < of->outlined.n[d] && status == REFS_OK; i++) {
        const tool_outlined_slice *told = &of->outlined.slices[d][i];
        const gather_slice made = {.key = (double)i,
                                   .size = told->end - told->begin,
                                   .values = whole.values,
                                   .teller = of->outline,
                                   .in_teller = told->begin};
        if (i >= n && told->is_written) break;
        status = add_numbered_gap(all, of, d, &made, err);
    }
    refs_free(whole.values);
    return status;
}

/* Slices of one of several outlines, by their coordinates. */
static refs_status add_outlined_gaps(gathering *all, gather_field *of, size_t d, refs_error *err) {
    gather_axis *along = &of->axes[d];
    gather_slice whole = {.values = NULL};
    REFS_TRY(read_outlined(all, of, d, &whole, err));
    refs_status status = REFS_OK;
    for (size_t i = 0; whole.values != NULL && i < of->outlined.n[d] && status == REFS_OK; i++) {
        const tool_outlined_slice *told = &of->outlined.slices[d][i];
        const gather_slice made = {.key = whole.values[told->begin],
                                   .is_single = whole.is_single,
                                   .size = told->end - told->begin,
                                   .teller = of->outline,
                                   .in_teller = told->begin};
        if (told->is_written || gather_is_covered(along, whole.values + told->begin, made.size))
            continue;
        status = add_told_gap(along, whole.values, made, err);
    }
    refs_free(whole.values);
    return status;
}

static refs_status add_gaps_of_outlines(gathering *all, gather_field *of, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t p = 0; p < all->names.n && status == REFS_OK; p++) {
        const size_t i = gather_find_outlined(all, p, of->path);
        if (i == SIZE_MAX || all->parts[p].arrays.metas[i]->rank != of->rank) continue;
        of->outline = p;
        status = tool_outlined_open(all->parts[p].arrays.metas[i], &of->outlined, err);
        for (size_t d = 0; d < of->rank && status == REFS_OK; d++)
            status = add_outlined_gaps(all, of, d, err);
        tool_outlined_clear(&of->outlined);
        of->outline = SIZE_MAX;
    }
    return status;
}

refs_status gather_add_gaps(gathering *all, gather_field *of, refs_error *err) {
    for (size_t d = 0; d < of->rank && of->outline != SIZE_MAX; d++)
        REFS_TRY(add_numbered_gaps(all, of, d, err));
    if (of->is_named) return REFS_OK;
    REFS_TRY(add_gaps_of_outlines(all, of, err));
    for (size_t p = 0; p < all->names.n; p++) {
        if (gather_is_filler(all, p) || gather_is_outline(all, p) || gather_has_field(of, p) ||
            !gather_has_axes(all, of, p))
            continue;
        if (of->n_absent++ == 0) of->first_absent = p;
        for (size_t d = 0; d < of->rank; d++) REFS_TRY(add_gap(all, &of->axes[d], p, err));
    }
    for (size_t d = 0; d < of->rank && all->has_master; d++)
        REFS_TRY(add_master_gaps(all, of, d, err));
    return REFS_OK;
}

refs_status gather_take_outline(gathering *all, gather_field *of, refs_error *err) {
    size_t n = 0;
    for (size_t p = 0; p < all->names.n; p++) {
        const size_t i = gather_find_outlined(all, p, of->path);
        if (i == SIZE_MAX || all->parts[p].arrays.metas[i]->rank != of->rank) continue;
        of->outline = p;
        n++;
    }
    of->is_named = of->is_named && n < 2;
    if (!of->is_named) of->outline = SIZE_MAX;
    if (of->outline == SIZE_MAX) return REFS_OK;
    const tool_arrays *arrays = &all->parts[of->outline].arrays;
    return tool_outlined_open(arrays->metas[tool_arrays_find(arrays, of->path)], &of->outlined,
                              err);
}
