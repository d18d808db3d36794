/* region.c -- divides a region at chunk borders, see array_internal.h. */
#include "array_internal.h"

static int64_t step_of(const refs_region *region, size_t dim) {
    return region->step != NULL ? region->step[dim] : 1;
}

/* Whether `count` elements from `start` on are inside [0, size). */
static bool fits(uint64_t size, uint64_t start, uint64_t count, int64_t step) {
    if (start >= size || step == 0) return false;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t room = step > 0 ? size - 1 - start : start;
    return (count - 1) <= room / stride;
}

static uint64_t stride_of(const refs_cut *cut, size_t dim) {
    return cut->step[dim] > 0 ? (uint64_t)cut->step[dim] : 0 - (uint64_t)cut->step[dim];
}

/* The span of a region along one dimension from element `first` to the end of its chunk. */
static refs_span span_from(const refs_cut *cut, size_t dim, uint64_t first) {
    const uint64_t chunk = cut->chunk[dim],
                   position = cut->start[dim] + first * (uint64_t)cut->step[dim];
    refs_span span = {.chunk = position / chunk, .first = first, .begin = position % chunk};
    uint64_t left = cut->step[dim] > 0 ? chunk - 1 - span.begin : span.begin;
    span.n = left / stride_of(cut, dim) + 1;
    if (span.n > cut->count[dim] - first) span.n = cut->count[dim] - first;
    return span;
}

/* The first element of span number `i`. With steps of at least a chunk, each span has one element;
 * with shorter steps, no chunk is skipped. */
static uint64_t first_of(const refs_cut *cut, size_t dim, uint64_t i) {
    const uint64_t chunk = cut->chunk[dim], start = cut->start[dim], stride = stride_of(cut, dim);
    if (stride >= chunk || i == 0) return i;
    const uint64_t at = cut->step[dim] > 0 ? (start / chunk + i) * chunk - start
                                           : start - ((start / chunk - i) * chunk + chunk - 1);
    return (at + stride - 1) / stride;
}

refs_span refs_array__span(const refs_cut *cut, size_t dim, uint64_t i) {
    return cut->listed[dim] != NULL ? cut->listed[dim][i]
                                    : span_from(cut, dim, first_of(cut, dim, i));
}

static uint64_t count_spans(const refs_cut *cut, size_t dim) {
    const uint64_t first = cut->start[dim],
                   last = first + (cut->count[dim] - 1) * (uint64_t)cut->step[dim];
    const uint64_t begin = first / cut->chunk[dim], end = last / cut->chunk[dim];
    if (stride_of(cut, dim) >= cut->chunk[dim]) return cut->count[dim];
    return (begin < end ? end - begin : begin - end) + 1;
}

/* The span of listed elements from number `first` on that are in one chunk. */
static refs_span span_of_index(const uint64_t *index, uint64_t count, uint64_t chunk_size,
                               uint64_t first) {
    refs_span span = {.chunk = index[first] / chunk_size,
                      .first = first,
                      .n = 1,
                      .begin = index[first] % chunk_size,
                      .index = index + first};
    while (first + span.n < count && index[first + span.n] / chunk_size == span.chunk) span.n++;
    return span;
}

static refs_status check_dim(const refs_array_meta *meta, const refs_region *region, size_t dim,
                             refs_error *err) {
    if (fits(meta->shape[dim], region->start[dim], region->count[dim], step_of(region, dim)))
        return REFS_OK;
    return refs_fail(
        err, REFS_INVALID,
        "%s: %llu elements from index %llu with stride %lld exceed dimension %zu of size %llu",
        meta->path, (unsigned long long)region->count[dim], (unsigned long long)region->start[dim],
        (long long)step_of(region, dim), dim, (unsigned long long)meta->shape[dim]);
}

static refs_status check_index(const refs_array_meta *meta, const refs_selection *selection,
                               size_t dim, refs_error *err) {
    const uint64_t *index = selection->index[dim];
    for (uint64_t i = 0; i < selection->region.count[dim]; i++) {
        if (index[i] >= meta->shape[dim])
            return refs_fail(err, REFS_INVALID,
                             "%s: element %llu lies outside dimension %zu of size %llu", meta->path,
                             (unsigned long long)index[i], dim,
                             (unsigned long long)meta->shape[dim]);
        if (i > 0 && index[i] < index[i - 1])
            return refs_fail(
                err, REFS_INVALID,
                "%s: expected ascending indices of dimension %zu, found %llu after %llu",
                meta->path, dim, (unsigned long long)index[i], (unsigned long long)index[i - 1]);
    }
    return REFS_OK;
}

static const uint64_t *index_of(const refs_selection *selection, size_t dim) {
    return selection->index != NULL ? selection->index[dim] : NULL;
}

bool refs_array__is_empty(const refs_array_meta *meta, const refs_region *region) {
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (region->count[dim] == 0) return true;
    return false;
}

refs_status refs_array_check_selection(const refs_array_meta *meta, const refs_selection *selection,
                                       refs_error *err) {
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (selection->region.count[dim] > 0)
            REFS_TRY(index_of(selection, dim) != NULL
                         ? check_index(meta, selection, dim, err)
                         : check_dim(meta, &selection->region, dim, err));
    return REFS_OK;
}

static refs_status list_spans(refs_cut *cut, size_t dim, const uint64_t *index, refs_error *err) {
    size_t capacity = 0;
    for (uint64_t first = 0; first < cut->count[dim];) {
        if (!refs_grow((void **)&cut->listed[dim], &capacity, (size_t)cut->n_spans[dim],
                       sizeof(refs_span)))
            return refs_fail_nomem(err);
        const refs_span span = span_of_index(index, cut->count[dim], cut->chunk[dim], first);
        cut->listed[dim][cut->n_spans[dim]++] = span;
        first += span.n;
    }
    return REFS_OK;
}

static refs_status cut_dim(const refs_array_meta *meta, const refs_selection *selection, size_t dim,
                           refs_cut *cut, refs_error *err) {
    const uint64_t *index = index_of(selection, dim);
    cut->start[dim] = selection->region.start[dim];
    cut->count[dim] = selection->region.count[dim];
    cut->step[dim] = step_of(&selection->region, dim);
    cut->chunk[dim] = meta->chunk[dim];
    cut->is_backwards[dim] = index == NULL && cut->step[dim] < 0;
    if (index != NULL)
        REFS_TRY(list_spans(cut, dim, index, err));
    else
        cut->n_spans[dim] = count_spans(cut, dim);
    if (!refs_mul_u64(cut->n_chunks, cut->n_spans[dim], &cut->n_chunks))
        return refs_fail(err, REFS_LIMIT, "%s: the region has too many chunks", meta->path);
    return REFS_OK;
}

refs_status refs_array__cut_selection(const refs_array_meta *meta, const refs_selection *selection,
                                      refs_cut *cut, refs_error *err) {
    memset(cut, 0, sizeof *cut);
    cut->rank = meta->rank;
    if (refs_array__is_empty(meta, &selection->region)) return REFS_OK;
    REFS_TRY(refs_array_check_selection(meta, selection, err));
    cut->n_chunks = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) REFS_TRY(cut_dim(meta, selection, dim, cut, err));
    return REFS_OK;
}

refs_status refs_array__cut(const refs_array_meta *meta, const refs_region *region, refs_cut *cut,
                            refs_error *err) {
    const refs_selection selection = {*region, NULL, NULL, NULL};
    return refs_array__cut_selection(meta, &selection, cut, err);
}

void refs_array__cut_clear(refs_cut *cut) {
    for (size_t dim = 0; dim < cut->rank; dim++) refs_free(cut->listed[dim]);
    memset(cut, 0, sizeof *cut);
}

void refs_array__cut_at(const refs_cut *cut, uint64_t number, refs_span *spans) {
    for (size_t dim = cut->rank; dim-- > 0;) {
        spans[dim] = refs_array__span(cut, dim, number % cut->n_spans[dim]);
        number /= cut->n_spans[dim];
    }
}
