/* piece.c -- divides a region into pieces of a mosaic by partitions; see aggregation_internal.h. */
#include "aggregation_internal.h"
#include "refs/http.h"

/* Elements [first, first + n) of a region along one dimension, which are in one partition or in
 * none. */
typedef struct run {
    uint64_t first, n;
    const refs_fragment_interval *interval; /* or NULL */
} run;

/* A region, divided along each dimension. */
typedef struct cut {
    const refs_region *region;
    run *runs[REFS_MAX_RANK];
    size_t n_runs[REFS_MAX_RANK];
    uint64_t n_pieces;
} cut;

static int64_t step_of(const refs_region *region, size_t dim) {
    return region->step != NULL ? region->step[dim] : 1;
}

static uint64_t element_at(const refs_region *region, size_t dim, uint64_t i) {
    return region->start[dim] + i * (uint64_t)step_of(region, dim);
}

/* The number of elements of the region from `element` on that are in [begin, end). */
static uint64_t count_within(uint64_t element, int64_t step, uint64_t begin, uint64_t end) {
    uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (step > 0 ? end - 1 - element : element - begin) / by + 1;
}

static bool is_found(const refs_fragment_dim *dim, size_t at, uint64_t element) {
    return at <= dim->n_intervals && (at == dim->n_intervals || dim->intervals[at].end > element) &&
           (at == 0 || dim->intervals[at - 1].end <= element);
}

/* Works like refs_fragment_dim_find, beginning at `near`, the previous result. */
static size_t find_near(const refs_fragment_dim *dim, size_t near, uint64_t element) {
    if (is_found(dim, near, element)) return near;
    if (is_found(dim, near + 1, element)) return near + 1;
    return refs_fragment_dim_find(dim, element);
}

static run run_from(const refs_fragment_dim *dim, uint64_t size, uint64_t element, int64_t step,
                    size_t *near) {
    size_t at = find_near(dim, *near, element);
    *near = at;
    bool is_in = at < dim->n_intervals && dim->intervals[at].begin <= element;
    if (is_in)
        return (run){
            .n = count_within(element, step, dim->intervals[at].begin, dim->intervals[at].end),
            .interval = &dim->intervals[at]};
    uint64_t begin = at > 0 ? dim->intervals[at - 1].end : 0;
    uint64_t end = at < dim->n_intervals ? dim->intervals[at].begin : size;
    return (run){.n = count_within(element, step, begin, end), .interval = NULL};
}

/* The number of elements until the step of a listed part changes, which ends a run. */
static uint64_t count_to_break(const refs_fragment_dim *dim, uint64_t element, int64_t step) {
    size_t i = 0;
    REFS_BISECT(i, dim->n_breaks, dim->breaks[i] <= element);
    uint64_t begin = i > 0 ? dim->breaks[i - 1] : 0;
    uint64_t end = i < dim->n_breaks ? dim->breaks[i] : INT64_MAX;
    return count_within(element, step, begin, end);
}

static refs_status cut_dim(const refs_aggregation *aggregation, size_t dim, cut *made,
                           refs_error *err) {
    const refs_region *region = made->region;
    const refs_fragment_dim *parts = &aggregation->grid.dims[dim];
    size_t capacity = 0, near = 0;
    for (uint64_t first = 0; first < region->count[dim];) {
        uint64_t element = element_at(region, dim, first);
        if (!refs_grow((void **)&made->runs[dim], &capacity, made->n_runs[dim], sizeof(run)))
            return refs_fail_nomem(err);
        run next =
            run_from(parts, aggregation->meta.shape[dim], element, step_of(region, dim), &near);
        uint64_t to_break = count_to_break(parts, element, step_of(region, dim));
        if (next.n > to_break) next.n = to_break;
        if (next.n > region->count[dim] - first) next.n = region->count[dim] - first;
        if (next.n == 0)
            return refs_fail(
                err, REFS_INVALID, "element %llu lies outside dimension %zu of size %llu",
                (unsigned long long)element, dim, (unsigned long long)aggregation->meta.shape[dim]);
        next.first = first;
        made->runs[dim][made->n_runs[dim]++] = next;
        first += next.n;
    }
    if (!refs_mul_u64(made->n_pieces, made->n_runs[dim], &made->n_pieces))
        return refs_fail(err, REFS_LIMIT, "the region has more than 2^64 partitions");
    return REFS_OK;
}

static refs_status cut_region(const refs_aggregation *aggregation, const refs_region *region,
                              cut *made, refs_error *err) {
    *made = (cut){.region = region, .n_pieces = 1};
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++)
        REFS_TRY(cut_dim(aggregation, dim, made, err));
    return REFS_OK;
}

static void clear_cut(cut *made) {
    for (size_t dim = 0; dim < REFS_MAX_RANK; dim++) refs_free(made->runs[dim]);
}

/* Sets the run of piece `number` along each dimension, and the number of its partition; false if it
 * is in none. */
static bool runs_of(const refs_aggregation *aggregation, const cut *made, uint64_t number,
                    const run **runs, uint64_t *partition) {
    bool is_in = true;
    *partition = 0;
    for (size_t dim = aggregation->meta.rank; dim-- > 0;) {
        runs[dim] = &made->runs[dim][number % made->n_runs[dim]];
        number /= made->n_runs[dim];
        is_in &= runs[dim]->interval != NULL;
    }
    for (size_t dim = 0; dim < aggregation->meta.rank && is_in; dim++)
        *partition = *partition * aggregation->grid.dims[dim].n_parts + runs[dim]->interval->index;
    return is_in;
}

/* -- a piece ----------------------------------------------------------------------------------- */

static void describe_box(const refs_aggregation *aggregation, const run *const *runs,
                         const int64_t *stride, refs_piece *piece) {
    piece->rank = aggregation->meta.rank;
    for (size_t dim = 0; dim < piece->rank; dim++) {
        piece->count[dim] = runs[dim]->n;
        piece->step[dim] = 1;
        piece->stride[dim] = stride[dim];
        piece->offset += stride[dim] * (int64_t)runs[dim]->first;
    }
}

/* Sets the elements of the fragment along its dimension `i` for a run, which has no break. */
static void place_dim(const refs_fragment_part *part, bool is_reversed, refs_piece *piece,
                      size_t i) {
    int64_t at = (int64_t)piece->start[i], by = piece->step[i];
    if (is_reversed) {
        at = (int64_t)part->n - 1 - at;
        by = -by;
    }
    if (part->list == NULL) {
        piece->start[i] = (uint64_t)(part->start + part->step * at);
        piece->step[i] = part->step * by;
        return;
    }
    int64_t last = at + by * ((int64_t)piece->count[i] - 1);
    piece->start[i] = part->list[at];
    piece->step[i] = 1;
    if (last != at) piece->step[i] = (int64_t)part->list[at + by] - (int64_t)part->list[at];
}

/* Describes the region of the fragment for a piece; `start` and `step` are relative to its
 * partition. */
static void describe_fragment(const refs_agg_place *place, const cut *made, const run *const *runs,
                              const int64_t *stride, refs_piece *piece) {
    piece->rank = place->rank;
    for (size_t i = 0; i < place->rank; i++) {
        size_t dim = place->dim[i];
        piece->count[i] = 1;
        piece->step[i] = 1;
        piece->start[i] = 0;
        piece->stride[i] = 0;
        if (dim != SIZE_MAX) {
            piece->count[i] = runs[dim]->n;
            piece->start[i] =
                element_at(made->region, dim, runs[dim]->first) - runs[dim]->interval->begin;
            piece->step[i] = runs[dim]->n > 1 ? step_of(made->region, dim) : 1;
            piece->stride[i] = stride[dim];
        }
        place_dim(&place->part[i], place->is_reversed[i], piece, i);
    }
}

/* -- gathering --------------------------------------------------------------------------------- */

/* The collected pieces, and their fragments. */
typedef struct gathering {
    refs_agg_mosaic *mosaic;
    const cut *made;
    const int64_t *stride;
    refs_piece_list *list;
    refs_wanted_fragment *wanted;
    size_t *piece_of; /* piece of each requested fragment */
    size_t n_wanted;
} gathering;

static void add_piece(gathering *job, uint64_t number) {
    const refs_aggregation *aggregation = job->mosaic->aggregation;
    const run *runs[REFS_MAX_RANK];
    uint64_t partition;
    refs_piece *piece = &job->list->pieces[job->list->n];
    *piece = (refs_piece){.array = NULL};
    bool is_in = runs_of(aggregation, job->made, number, runs, &partition);
    describe_box(aggregation, runs, job->stride, piece);
    if (is_in && aggregation->grid.values != NULL)
        piece->value = aggregation->grid.values + partition * aggregation->grid.value_size;
    else if (is_in && aggregation->grid.sources[partition].is_there) {
        job->piece_of[job->n_wanted] = job->list->n;
        job->wanted[job->n_wanted++] = (refs_wanted_fragment){.number = partition};
    }
    job->list->n++;
}

static void connect(gathering *job, size_t i, uint64_t number) {
    const refs_open_fragment *opened = job->wanted[i].opened;
    refs_piece *piece = &job->list->pieces[job->piece_of[i]];
    const run *runs[REFS_MAX_RANK];
    uint64_t partition;
    (void)runs_of(job->mosaic->aggregation, job->made, number, runs, &partition);
    describe_fragment(&opened->place, job->made, runs, job->stride, piece);
    piece->array = opened->array;
    piece->user = &opened->values;
    piece->convert = opened->values.is_same ? NULL : refs_agg_values__convert;
}

static refs_status gather_pieces(gathering *job, uint64_t first, refs_error *err) {
    refs_piece_list *list = job->list;
    uint64_t left = job->made->n_pieces - first, most = list->max - list->n;
    uint64_t n = left < most ? left : most;
    size_t base = list->n;
    for (uint64_t i = 0; i < n; i++) add_piece(job, first + i);
    refs_status status = refs_fragments__hold(job->mosaic, job->wanted, job->n_wanted, err);
    if (status != REFS_OK) {
        list->n = base;
        return status;
    }
    for (size_t i = 0; i < job->n_wanted; i++) {
        list->pieces[job->piece_of[i]].held = job->wanted[i].file;
        if (job->wanted[i].opened == NULL) continue;
        connect(job, i, first + (job->piece_of[i] - base));
    }
    list->next = n == left ? UINT64_MAX : first + n;
    return REFS_OK;
}

static refs_status gather_region(refs_agg_mosaic *mosaic, const refs_region *region,
                                 const int64_t *stride, refs_piece_list *list, refs_error *err) {
    cut made;
    REFS_TRY(refs_aggregation__load(mosaic->aggregation, err));
    gathering job = {.mosaic = mosaic, .made = &made, .stride = stride, .list = list};
    job.wanted = refs_calloc(list->max, sizeof *job.wanted);
    job.piece_of = refs_calloc(list->max, sizeof *job.piece_of);
    refs_status status = cut_region(mosaic->aggregation, region, &made, err);
    if (status == REFS_OK && (job.wanted == NULL || job.piece_of == NULL))
        status = refs_fail_nomem(err);
    if (status == REFS_OK) status = gather_pieces(&job, list->next, err);
    clear_cut(&made);
    refs_free(job.wanted);
    refs_free(job.piece_of);
    return status;
}

static bool goes_on(void *user) {
    const refs_progress *progress = user;
    return progress->report(progress->user, 0);
}

static refs_status gather(void *self, const refs_region *region, const int64_t *stride,
                          refs_piece_list *list, refs_error *err) {
    refs_progress progress = {NULL, NULL};
    refs_cancel_scope scope;
    if (list->progress != NULL) progress = *list->progress;
    refs_cancel_scope_begin(
        &scope, (refs_cancel_check){progress.report != NULL ? goes_on : NULL, &progress});
    const refs_status status = gather_region(self, region, stride, list, err);
    refs_cancel_scope_end(&scope);
    return status;
}

/* Limit of pieces that are prepared for a prefetched region. */
enum { MAX_PREPARED = 256 };

static void prepare(void *self, const refs_region *region) {
    refs_agg_mosaic *mosaic = self;
    const refs_aggregation *aggregation = mosaic->aggregation;
    const run *runs[REFS_MAX_RANK];
    cut made;
    uint64_t partition;
    bool is_cut = refs_aggregation__load(mosaic->aggregation, NULL) == REFS_OK &&
                  aggregation->grid.values == NULL;
    if (!is_cut) return;
    is_cut = cut_region(aggregation, region, &made, NULL) == REFS_OK;
    for (uint64_t i = 0; is_cut && i < made.n_pieces && i < MAX_PREPARED; i++) {
        if (!runs_of(aggregation, &made, i, runs, &partition) ||
            !aggregation->grid.sources[partition].is_there)
            continue;
        const refs_wanted_fragment wanted = {.number = partition};
        refs_fragments__prepare(mosaic, &wanted, 1);
    }
    clear_cut(&made);
}

static void release(void *self, refs_piece_list *list) {
    refs_agg_mosaic *mosaic = self;
    for (size_t i = 0; i < list->n; i++) {
        if (list->pieces[i].held != NULL)
            refs_fragments__release(mosaic->fragments, list->pieces[i].held);
        list->pieces[i].held = NULL;
    }
}

/* The partition that contains an element; UINT64_MAX: none. */
static uint64_t partition_at(const refs_aggregation *aggregation, const uint64_t *element) {
    uint64_t number = 0;
    for (size_t dim = 0; dim < aggregation->meta.rank; dim++) {
        const refs_fragment_dim *parts = &aggregation->grid.dims[dim];
        size_t at = refs_fragment_dim_find(parts, element[dim]);
        if (at == parts->n_intervals || parts->intervals[at].begin > element[dim])
            return UINT64_MAX;
        number = number * parts->n_parts + parts->intervals[at].index;
    }
    return number;
}

static bool is_local(void *self, const uint64_t *element) {
    refs_agg_mosaic *mosaic = self;
    if (refs_aggregation__load(mosaic->aggregation, NULL) != REFS_OK) return true;
    uint64_t number = partition_at(mosaic->aggregation, element);
    return number == UINT64_MAX || mosaic->aggregation->grid.values != NULL ||
           refs_fragments__is_local(mosaic->fragments, mosaic->aggregation, number);
}

static bool has_values(const refs_aggregation *aggregation, uint64_t partition) {
    const refs_array_meta *meta = &aggregation->meta;
    if (aggregation->grid.values == NULL) return aggregation->grid.sources[partition].is_there;
    const uint8_t *value = aggregation->grid.values + partition * aggregation->grid.value_size;
    if (meta->dtype.type == REFS_TYPE_OBJECT) return value[0] != '\0';
    if (!meta->has_fill) return true;
    return memcmp(value, meta->fill, meta->dtype.size) != 0;
}

static refs_status count(void *self, const refs_region *region, uint64_t *n, refs_error *err) {
    refs_aggregation *aggregation = ((refs_agg_mosaic *)self)->aggregation;
    const run *runs[REFS_MAX_RANK];
    uint64_t partition;
    cut made;
    REFS_TRY(refs_aggregation__load(aggregation, err));
    refs_status status = cut_region(aggregation, region, &made, err);
    for (uint64_t i = 0; status == REFS_OK && i < made.n_pieces; i++) {
        uint64_t elements = 1;
        bool is_in = runs_of(aggregation, &made, i, runs, &partition);
        for (size_t dim = 0; dim < aggregation->meta.rank; dim++) elements *= runs[dim]->n;
        if (is_in && has_values(aggregation, partition)) *n += elements;
    }
    clear_cut(&made);
    return status;
}

static void free_mosaic(void *self) {
    REFS_SCOPED refs_agg_mosaic *mosaic = self;
    if (mosaic->nodes != NULL) refs_fragments__leave(mosaic);
    refs_free(mosaic->nodes);
}

refs_status refs_fragments_open_array(refs_fragments *fragments, const refs_array_meta *meta,
                                      refs_array **array, refs_error *err) {
    refs_aggregation *aggregation = (refs_aggregation *)(uintptr_t)meta->aggregation;
    refs_agg_mosaic *mosaic = refs_calloc(1, sizeof *mosaic);
    if (mosaic == NULL) return refs_fail_nomem(err);
    *mosaic = (refs_agg_mosaic){fragments, aggregation,
                                refs_calloc((size_t)aggregation->grid.n, sizeof *mosaic->nodes)};
    const refs_mosaic parts = {mosaic, gather, prepare, release, is_local, count, free_mosaic};
    const refs_array_context context = refs_fragments__context(fragments);
    refs_status status = mosaic->nodes != NULL
                             ? refs_array_open_mosaic(&context, meta, &parts, array, err)
                             : refs_fail_nomem(err);
    if (status != REFS_OK) free_mosaic(mosaic);
    return status;
}

/* -- for people -------------------------------------------------------------------------------- */

static refs_aggregation *aggregation_of(const refs_array_meta *meta) {
    return (refs_aggregation *)(uintptr_t)meta->aggregation;
}

refs_status refs_aggregation_find(const refs_array_meta *meta, const uint64_t *element,
                                  refs_partition *partition, refs_error *err) {
    refs_aggregation *aggregation = aggregation_of(meta);
    REFS_TRY(refs_aggregation__load(aggregation, err));
    uint64_t number = partition_at(aggregation, element);
    if (number == UINT64_MAX) return REFS_NOT_FOUND;
    refs_fragment_grid_get(&aggregation->grid, number, partition);
    return REFS_OK;
}

refs_status refs_aggregation_border_behind(const refs_array_meta *meta, size_t dim,
                                           uint64_t element, uint64_t *border, refs_error *err) {
    refs_aggregation *aggregation = aggregation_of(meta);
    REFS_TRY(refs_aggregation__load(aggregation, err));
    const refs_fragment_dim *parts = &aggregation->grid.dims[dim];
    const size_t at = refs_fragment_dim_find(parts, element);
    *border = meta->shape[dim];
    if (at == parts->n_intervals) return REFS_OK;
    const refs_fragment_interval *interval = &parts->intervals[at];
    const uint64_t next = interval->begin > element ? interval->begin : interval->end;
    if (next < *border) *border = next;
    return REFS_OK;
}

refs_status refs_aggregation_count_values(const refs_array_meta *meta, uint64_t *n,
                                          refs_error *err) {
    refs_aggregation *aggregation = aggregation_of(meta);
    *n = 0;
    REFS_TRY(refs_aggregation__load(aggregation, err));
    for (uint64_t i = 0; i < aggregation->grid.n && aggregation->grid.values != NULL; i++)
        *n += has_values(aggregation, i);
    return REFS_OK;
}

refs_status refs_aggregation_each(const refs_array_meta *meta,
                                  refs_status (*visit)(void *user, const refs_partition *partition,
                                                       refs_error *err),
                                  void *user, refs_error *err) {
    refs_aggregation *aggregation = aggregation_of(meta);
    refs_partition partition;
    REFS_TRY(refs_aggregation__load(aggregation, err));
    for (uint64_t i = 0; i < aggregation->grid.n && aggregation->grid.values == NULL; i++) {
        if (!aggregation->grid.sources[i].is_there) continue;
        refs_fragment_grid_get(&aggregation->grid, i, &partition);
        REFS_TRY(visit(user, &partition, err));
    }
    return REFS_OK;
}
