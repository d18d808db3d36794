/* fragment_grid.c -- see fragment_grid.h. */
#include "fragment_grid.h"

#include <stdlib.h>

/* -- memory ------------------------------------------------------------------------------------ */

typedef struct refs_fragment_block {
    struct refs_fragment_block *next;
} refs_fragment_block;

void *refs_fragment_grid_take(refs_fragment_grid *grid, size_t n, size_t size) {
    size_t bytes, all;
    if (!refs_mul_size(n, size, &bytes) || !refs_add_size(bytes, sizeof(max_align_t), &all))
        return NULL;
    refs_fragment_block *block = refs_calloc(1, all);
    if (block == NULL) return NULL;
    block->next = grid->blocks;
    grid->blocks = block;
    return (uint8_t *)block + sizeof(max_align_t);
}

void refs_fragment_grid_clear(refs_fragment_grid *grid) {
    for (refs_fragment_block *block = grid->blocks, *next; block != NULL; block = next) {
        next = block->next;
        refs_free(block);
    }
    for (size_t dim = 0; dim < REFS_MAX_RANK; dim++) {
        refs_free(grid->dims[dim].intervals);
        refs_free(grid->dims[dim].breaks);
    }
    refs_intern_clear(&grid->strings);
    refs_free(grid->sources);
    refs_free(grid->files);
    refs_free(grid->values);
    memset(grid, 0, sizeof *grid);
}

/* -- dimensions -------------------------------------------------------------------------------- */

static refs_status add_interval(refs_fragment_dim *dim, refs_fragment_interval interval,
                                refs_error *err) {
    REFS_GROW(dim->intervals, dim->capacity, dim->n_intervals, err);
    dim->intervals[dim->n_intervals++] = interval;
    return REFS_OK;
}

uint64_t refs_fragment_dim_end(const refs_fragment_dim *dim) {
    return dim->n_intervals > 0 ? dim->intervals[dim->n_intervals - 1].end : 0;
}

refs_status refs_fragment_dim_append(refs_fragment_dim *dim, uint64_t size, refs_error *err) {
    refs_fragment_interval added = {.begin = refs_fragment_dim_end(dim), .index = dim->n_intervals};
    if (!refs_add_u64(added.begin, size, &added.end) || added.end > INT64_MAX)
        return refs_fail(err, REFS_CORRUPT, "the fragments have more than 2^64 elements");
    REFS_TRY(add_interval(dim, added, err));
    dim->n_parts = dim->n_intervals;
    dim->is_split = true;
    return REFS_OK;
}

refs_status refs_fragment_dim_break(refs_fragment_dim *dim, uint64_t element, refs_error *err) {
    REFS_GROW(dim->breaks, dim->break_capacity, dim->n_breaks, err);
    dim->breaks[dim->n_breaks++] = element;
    return REFS_OK;
}

refs_status refs_fragment_dim_begin(refs_fragment_dim *dim, refs_error *err) {
    dim->n_intervals = 0;
    for (uint64_t i = 0; i < dim->n_parts; i++)
        REFS_TRY(add_interval(dim, (refs_fragment_interval){0, 0, i}, err));
    return REFS_OK;
}

bool refs_fragment_dim_state(refs_fragment_dim *dim, refs_fragment_interval interval) {
    refs_fragment_interval *known = &dim->intervals[interval.index];
    if (known->end == 0) *known = interval;
    return known->begin == interval.begin && known->end == interval.end;
}

/* Sorts breaks, and drops equal ones: neighbouring fragments often have the same. */
static void sort_breaks(refs_fragment_dim *dim) {
    size_t n = 0;
    if (dim->n_breaks > 1) qsort(dim->breaks, dim->n_breaks, sizeof *dim->breaks, refs_compare_u64);
    for (size_t i = 0; i < dim->n_breaks; i++)
        if (n == 0 || dim->breaks[i] != dim->breaks[n - 1]) dim->breaks[n++] = dim->breaks[i];
    dim->n_breaks = n;
}

static int compare_intervals(const void *left, const void *right) {
    const refs_fragment_interval *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

void refs_fragment_dim_sort(refs_fragment_dim *dim) {
    size_t n = 0;
    sort_breaks(dim);
    for (size_t i = 0; i < dim->n_intervals; i++)
        if (dim->intervals[i].end > 0) dim->intervals[n++] = dim->intervals[i];
    dim->n_intervals = n;
    if (n > 1) qsort(dim->intervals, dim->n_intervals, sizeof *dim->intervals, compare_intervals);
}

/* Intervals are usually numbered in order. */
const refs_fragment_interval *refs_fragment_dim_get(const refs_fragment_dim *dim, uint64_t index) {
    size_t found = 0;
    REFS_BISECT(found, dim->n_intervals, dim->intervals[found].index < index);
    if (found < dim->n_intervals && dim->intervals[found].index == index)
        return &dim->intervals[found];
    for (size_t i = 0; i < dim->n_intervals; i++)
        if (dim->intervals[i].index == index) return &dim->intervals[i];
    return NULL;
}

size_t refs_fragment_dim_find(const refs_fragment_dim *dim, uint64_t element) {
    size_t i = 0;
    REFS_BISECT(i, dim->n_intervals, dim->intervals[i].end <= element);
    return i;
}

refs_status refs_fragment_grid_count(refs_fragment_grid *grid, refs_error *err) {
    grid->n = 1;
    for (size_t dim = 0; dim < grid->rank; dim++)
        if (!refs_mul_u64(grid->n, grid->dims[dim].n_parts, &grid->n) ||
            grid->n > REFS_MAX_PARTITIONS)
            return refs_fail(err, REFS_LIMIT, "more partitions than the limit of %llu",
                             (unsigned long long)REFS_MAX_PARTITIONS);
    return REFS_OK;
}

/* -- fragments --------------------------------------------------------------------------------- */

void refs_fragment_grid_index(const refs_fragment_grid *grid, uint64_t number, uint64_t *index) {
    for (size_t dim = grid->rank; dim-- > 0;) {
        index[dim] = number % grid->dims[dim].n_parts;
        number /= grid->dims[dim].n_parts;
    }
}

refs_status refs_fragment_grid_allocate(refs_fragment_grid *grid, size_t n_alternatives,
                                        refs_error *err) {
    size_t n = (size_t)grid->n;
    refs_free(grid->sources);
    refs_free(grid->files);
    grid->n_alternatives = n_alternatives;
    grid->sources = refs_calloc(n, sizeof *grid->sources);
    grid->files = refs_calloc(n, n_alternatives * sizeof *grid->files);
    if (grid->sources == NULL || grid->files == NULL) return refs_fail_nomem(err);
    if (n * n_alternatives >= UINT32_MAX)
        return refs_fail(err, REFS_LIMIT, "more names of fragments than the limit of %u",
                         UINT32_MAX - 1);
    for (size_t i = 0; i < n; i++)
        grid->sources[i] = (refs_fragment_source){.first_file = (uint32_t)(i * n_alternatives),
                                                  .variable = REFS_NO_TEXT,
                                                  .format = REFS_NO_TEXT};
    for (size_t i = 0; i < n * n_alternatives; i++) grid->files[i] = REFS_NO_TEXT;
    return REFS_OK;
}

refs_status refs_fragment_grid_number(refs_fragment_grid *grid, refs_str text, uint32_t *id,
                                      refs_error *err) {
    *id = REFS_NO_TEXT;
    return text.size > 0 ? refs_intern_add(&grid->strings, text, id, err) : REFS_OK;
}

refs_status refs_fragment_grid_prepare(refs_fragment_grid *grid, refs_error *err) {
    REFS_TRY(refs_fragment_grid_count(grid, err));
    return refs_fragment_grid_allocate(grid, 1, err);
}

refs_status refs_fragment_grid_divide_as(const refs_fragment_grid *other, refs_fragment_grid *grid,
                                         refs_error *err) {
    grid->rank = other->rank;
    for (size_t d = 0; d < grid->rank; d++) {
        const refs_fragment_dim *like = &other->dims[d];
        for (size_t i = 0; i < like->n_intervals; i++)
            REFS_TRY(add_interval(&grid->dims[d], like->intervals[i], err));
        grid->dims[d].n_parts = like->n_parts;
        grid->dims[d].is_split = like->is_split;
    }
    return refs_fragment_grid_prepare(grid, err);
}

refs_status refs_fragment_grid_set(refs_fragment_grid *grid, uint64_t number,
                                   const refs_partition *fragment, refs_error *err) {
    refs_fragment_source *source = &grid->sources[number];
    uint32_t *file = &grid->files[source->first_file];
    source->is_there = true;
    REFS_TRY(refs_fragment_grid_number(grid, refs_str_from(fragment->file), file, err));
    REFS_TRY(
        refs_fragment_grid_number(grid, refs_str_from(fragment->variable), &source->variable, err));
    return refs_fragment_grid_number(grid, refs_str_from(fragment->format), &source->format, err);
}

void refs_fragment_grid_get(const refs_fragment_grid *grid, uint64_t number,
                            refs_partition *partition) {
    const refs_fragment_source *fragment = grid->values == NULL ? &grid->sources[number] : NULL;
    *partition = (refs_partition){.number = number, .file = "", .variable = "", .format = ""};
    refs_fragment_grid_index(grid, number, partition->index);
    for (size_t dim = 0; dim < grid->rank; dim++) {
        const refs_fragment_interval *interval =
            refs_fragment_dim_get(&grid->dims[dim], partition->index[dim]);
        if (interval == NULL) continue;
        partition->begin[dim] = interval->begin;
        partition->end[dim] = interval->end;
    }
    if (fragment == NULL || !fragment->is_there) return;
    partition->has_fragment = true;
    for (size_t k = 0; k < grid->n_alternatives && partition->file[0] == '\0'; k++) {
        uint32_t id = grid->files[fragment->first_file + k];
        if (id != REFS_NO_TEXT) partition->file = refs_intern_get(&grid->strings, id).data;
    }
    if (fragment->variable != REFS_NO_TEXT)
        partition->variable = refs_intern_get(&grid->strings, fragment->variable).data;
    if (fragment->format != REFS_NO_TEXT)
        partition->format = refs_intern_get(&grid->strings, fragment->format).data;
}
