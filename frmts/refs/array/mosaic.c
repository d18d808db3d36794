/* mosaic.c -- arrays made of regions of other arrays; see array.h. */
#include "mosaic.h"

#include "read.h"

/* Limit of pieces in one fetch plan, whose arrays are open at the same time. */
#define MAX_PIECES 256

refs_status refs_array_open_mosaic(const refs_array_context *context, const refs_array_meta *meta,
                                   const refs_mosaic *mosaic, refs_array **array, refs_error *err) {
    refs_array_meta bare = *meta;
    bare.n_codecs = 0;
    bare.shard = NULL;
    bare.edges = NULL;
    refs_array *opened = NULL;
    REFS_TRY(refs_array__open_unsliced(context, &bare, &opened, err));
    opened->meta = opened->stored = meta;
    opened->mosaic = *mosaic;
    *array = opened;
    return REFS_OK;
}

static refs_status open_list(refs_piece_list *list, refs_error *err) {
    *list = (refs_piece_list){.max = MAX_PIECES};
    list->pieces = refs_calloc(list->max, sizeof *list->pieces);
    return list->pieces != NULL ? REFS_OK : refs_fail_nomem(err);
}

static uint64_t elements_of(const uint64_t *count, size_t rank) {
    uint64_t n = 1;
    for (size_t dim = 0; dim < rank; dim++) n *= count[dim];
    return n;
}

/* The number of elements of pieces, for progress. */
static double elements_of_list(const refs_piece_list *list) {
    double n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += (double)elements_of(list->pieces[i].count, list->pieces[i].rank);
    return n;
}

static refs_status read_list(const refs_reading *reading, const refs_piece_list *list,
                             refs_progress_parts *lists, refs_error *err) {
    const refs_array_meta *meta = reading->array->meta;
    refs_load_watch of_list = {.progress = NULL};
    if (reading->watch != NULL) of_list = *reading->watch;
    if (list->next != UINT64_MAX) of_list.arrived = NULL;
    of_list.progress = &lists->progress;
    refs_progress_parts_next(lists, elements_of_list(list) /
                                        (double)elements_of(reading->region->count, meta->rank));
    return refs_array__read_pieces(meta, list, reading->dst, &of_list, err);
}

refs_status refs_array__read_mosaic(const refs_reading *reading, refs_error *err) {
    const refs_mosaic *mosaic = &reading->array->mosaic;
    int64_t stride[REFS_MAX_RANK];
    refs_piece_list list;
    refs_progress_parts lists;
    refs_array__set_strides(reading->array->meta, reading->region, reading->stride, stride);
    refs_progress_parts_init(&lists, reading->watch != NULL ? reading->watch->progress : NULL);
    refs_status status = open_list(&list, err);
    list.progress = &lists.progress;
    while (status == REFS_OK && list.next != UINT64_MAX) {
        list.n = 0;
        status = mosaic->gather(mosaic->self, reading->region, stride, &list, err);
        if (status == REFS_OK) status = read_list(reading, &list, &lists, err);
        mosaic->release(mosaic->self, &list);
    }
    refs_free(list.pieces);
    return status;
}

/* -- selections -------------------------------------------------------------------------------- */

/* A run of indices along one dimension with equal differences. */
typedef struct index_run {
    uint64_t first; /* number in the list of indices */
    uint64_t count;
    int64_t step;
} index_run;

/* A selection as regions: one for each combination of runs. */
typedef struct run_list {
    const refs_selection *selection;
    int64_t stride[REFS_MAX_RANK];
    index_run *runs[REFS_MAX_RANK];
    size_t n[REFS_MAX_RANK];
    uint64_t n_regions;
} run_list;

/* The state of reading regions of a mosaic. Listed pieces are read when the list is full. */
typedef struct selecting {
    refs_array *array;
    uint8_t
        *dst; /* destination of the first selection, which positions of pieces are relative to */
    refs_progress_parts lists;
    double n_elements; /* of all selections */
    refs_piece_list list;
} selecting;

static index_run run_from(const uint64_t *index, uint64_t count, uint64_t first) {
    index_run run = {first, 1, 1};
    if (first + 1 == count || index[first + 1] == index[first]) return run;
    run.step = (int64_t)(index[first + 1] - index[first]);
    while (first + run.count < count &&
           index[first + run.count] - index[first + run.count - 1] == (uint64_t)run.step)
        run.count++;
    return run;
}

static refs_status find_runs(run_list *list, size_t dim, refs_error *err) {
    const refs_region *region = &list->selection->region;
    const uint64_t *index = list->selection->index != NULL ? list->selection->index[dim] : NULL;
    size_t capacity = 0;
    for (uint64_t first = 0; first < region->count[dim];) {
        if (!refs_grow((void **)&list->runs[dim], &capacity, list->n[dim], sizeof(index_run)))
            return refs_fail_nomem(err);
        index_run run = {0, region->count[dim], region->step != NULL ? region->step[dim] : 1};
        if (index != NULL) run = run_from(index, region->count[dim], first);
        list->runs[dim][list->n[dim]++] = run;
        first += run.count;
    }
    return refs_mul_u64(list->n_regions, list->n[dim], &list->n_regions)
               ? REFS_OK
               : refs_fail(err, REFS_LIMIT, "the selection has too many regions");
}

/* Sets region `number` of a list; returns the offset of its first element in bytes. */
static int64_t region_at(const run_list *list, uint64_t number, uint64_t *start, uint64_t *count,
                         int64_t *step) {
    const refs_selection *selection = list->selection;
    int64_t offset = 0;
    for (size_t dim = REFS_MAX_RANK; dim-- > 0;) {
        if (list->n[dim] == 0) continue;
        const index_run *run = &list->runs[dim][number % list->n[dim]];
        const uint64_t *index = selection->index != NULL ? selection->index[dim] : NULL;
        number /= list->n[dim];
        start[dim] = index != NULL ? index[run->first] : selection->region.start[dim];
        count[dim] = run->count;
        step[dim] = run->step;
        offset += list->stride[dim] * (int64_t)run->first;
    }
    return offset;
}

/* Opens the files of the first regions at the same time, not one after the other. */
static void prepare_regions(const selecting *job, const run_list *list, uint64_t first) {
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK];
    int64_t step[REFS_MAX_RANK];
    const refs_region region = {start, count, step};
    for (uint64_t i = first; i < list->n_regions && i < first + MAX_PIECES; i++) {
        (void)region_at(list, i, start, count, step);
        job->array->mosaic.prepare(job->array->mosaic.self, &region);
    }
}

/* Works like prepare_regions for selections without indices, such as points. Checks all of the next
 * ones. */
static refs_status prepare_selections(const selecting *job, const refs_selection *selections,
                                      size_t n, refs_error *err) {
    for (size_t i = 0; i < n && i < MAX_PIECES; i++) {
        if (refs_array__is_empty(job->array->meta, &selections[i].region)) continue;
        REFS_TRY(refs_array_check_selection(job->array->meta, &selections[i], err));
        if (selections[i].index == NULL)
            job->array->mosaic.prepare(job->array->mosaic.self, &selections[i].region);
    }
    return REFS_OK;
}

static refs_status read_listed(selecting *job, refs_error *err) {
    refs_piece_list *list = &job->list;
    const refs_load_watch watch = {.progress = &job->lists.progress};
    if (list->n > 0)
        refs_progress_parts_next(&job->lists, elements_of_list(list) / job->n_elements);
    const refs_status status =
        list->n > 0 ? refs_array__read_pieces(job->array->meta, list, job->dst, &watch, err)
                    : REFS_OK;
    job->array->mosaic.release(job->array->mosaic.self, list);
    list->n = 0;
    return status;
}

static refs_status list_region(selecting *job, const run_list *of, uint64_t number,
                               refs_error *err) {
    const refs_mosaic *mosaic = &job->array->mosaic;
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK];
    int64_t step[REFS_MAX_RANK];
    const refs_region region = {start, count, step};
    const int64_t offset = region_at(of, number, start, count, step) +
                           (int64_t)((intptr_t)of->selection->dst - (intptr_t)job->dst);
    refs_piece_list *list = &job->list;
    list->next = 0;
    while (list->next != UINT64_MAX) {
        const size_t base = list->n;
        REFS_TRY(mosaic->gather(mosaic->self, &region, of->stride, list, err));
        for (size_t i = base; i < list->n; i++) list->pieces[i].offset += offset;
        if (list->n == list->max) REFS_TRY(read_listed(job, err));
    }
    return REFS_OK;
}

static refs_status list_selection(selecting *job, const refs_selection *selection,
                                  refs_error *err) {
    const refs_array_meta *meta = job->array->meta;
    run_list list = {.selection = selection, .n_regions = 1};
    refs_status status = REFS_OK;
    refs_array__set_strides(meta, &selection->region, selection->stride, list.stride);
    for (size_t dim = 0; dim < meta->rank && status == REFS_OK; dim++)
        status = find_runs(&list, dim, err);
    for (uint64_t i = 0; i < list.n_regions && status == REFS_OK; i++) {
        if (list.n_regions > 1 && i % MAX_PIECES == 0) prepare_regions(job, &list, i);
        status = list_region(job, &list, i, err);
    }
    for (size_t dim = 0; dim < meta->rank; dim++) refs_free(list.runs[dim]);
    return status;
}

refs_status refs_array__read_mosaic_selections(refs_array *array, const refs_selection *selections,
                                               size_t n, const refs_progress *progress,
                                               refs_error *err) {
    selecting job = {.array = array};
    if (n == 0) return REFS_OK;
    job.dst = selections[0].dst;
    for (size_t i = 0; i < n; i++)
        job.n_elements += (double)elements_of(selections[i].region.count, array->meta->rank);
    refs_progress_parts_init(&job.lists, progress);
    refs_status status = open_list(&job.list, err);
    job.list.progress = &job.lists.progress;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        if (i % MAX_PIECES == 0) status = prepare_selections(&job, &selections[i], n - i, err);
        if (status == REFS_OK) status = list_selection(&job, &selections[i], err);
    }
    if (status == REFS_OK)
        status = read_listed(&job, err);
    else if (job.list.pieces != NULL)
        array->mosaic.release(array->mosaic.self, &job.list);
    refs_free(job.list.pieces);
    return status;
}

/* -- strings of variable length ---------------------------------------------------------------- */

/* The strings of a mosaic: for each element in C order, the position of its text in `bytes`. */
typedef struct mosaic_strings {
    refs_array *array;
    refs_buf bytes;
    size_t *places;
} mosaic_strings;

static refs_status check_size(const mosaic_strings *strings, size_t bytes, refs_error *err) {
    if (bytes <= REFS_MAX_TEXT_BYTES) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%s: its strings need more than the limit of %zu bytes",
                     strings->array->meta->path, REFS_MAX_TEXT_BYTES);
}

/* Reads the strings of a piece's whole array, with the offset of each in `bytes`. */
static refs_status read_part(mosaic_strings *strings, refs_array *part, bool letters,
                             size_t **places, refs_error *err) {
    uint64_t n;
    const size_t begin = strings->bytes.size;
    const char *text;
    if (!refs_array_meta_elements(part->meta, &n) || n > REFS_MAX_TEXT_BYTES)
        return refs_fail(err, REFS_LIMIT, "%s: has more than 2^64 elements", part->meta->path);
    REFS_TRY(letters ? refs_array_read_letters(part, n, &strings->bytes, err)
                     : refs_array_read_strings(part, n, &strings->bytes, err));
    REFS_TRY(check_size(strings, strings->bytes.size, err));
    REFS_NEW(*places, (size_t)n + 1, err);
    refs_str rest = refs_str_part(refs_buf_text(&strings->bytes), begin, SIZE_MAX);
    for (size_t i = 0; i < n && refs_str_next_text(&rest, &text); i++)
        (*places)[i] = (size_t)(text - (const char *)strings->bytes.data);
    return REFS_OK;
}

/* Sets the requested elements of a piece; `places` NULL: all are `one`. */
static void place_strings(mosaic_strings *strings, const refs_piece *piece, const size_t *places,
                          size_t one) {
    uint64_t n = elements_of(piece->count, piece->rank);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t left = i, from = 0, step = 1;
        int64_t to = piece->offset;
        for (size_t dim = piece->rank; dim-- > 0; left /= piece->count[dim]) {
            uint64_t at = left % piece->count[dim];
            to += (int64_t)at * piece->stride[dim];
            if (places == NULL) continue;
            from += (piece->start[dim] + at * (uint64_t)piece->step[dim]) * step;
            step *= piece->array->meta->shape[dim];
        }
        strings->places[to] = places != NULL ? places[from] : one;
    }
}

static refs_status take_piece(mosaic_strings *strings, const refs_piece *piece, refs_error *err) {
    size_t *places = NULL, one = strings->bytes.size;
    if (piece->array == NULL) {
        const char *text =
            piece->value != NULL ? (const char *)piece->value : strings->array->meta->fill_text;
        if (text == NULL) text = "";
        REFS_TRY(refs_buf_append_text(&strings->bytes, refs_str_from(text), err));
        REFS_TRY(check_size(strings, strings->bytes.size, err));
        place_strings(strings, piece, NULL, one);
        return REFS_OK;
    }
    bool letters = piece->rank < piece->array->meta->rank;
    REFS_TRY(read_part(strings, piece->array, letters, &places, err));
    place_strings(strings, piece, places, 0);
    refs_free(places);
    return REFS_OK;
}

static refs_status gather_strings(mosaic_strings *strings, const int64_t *stride, refs_error *err) {
    const refs_mosaic *mosaic = &strings->array->mosaic;
    static const uint64_t origin[REFS_MAX_RANK] = {0};
    const refs_region all = {origin, strings->array->meta->shape, NULL};
    refs_piece_list list;
    refs_status status = open_list(&list, err);
    while (status == REFS_OK && list.next != UINT64_MAX) {
        list.n = 0;
        status = mosaic->gather(mosaic->self, &all, stride, &list, err);
        for (size_t i = 0; i < list.n && status == REFS_OK; i++)
            status = take_piece(strings, &list.pieces[i], err);
        mosaic->release(mosaic->self, &list);
    }
    refs_free(list.pieces);
    return status;
}

refs_status refs_mosaic__read_strings(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                      refs_error *err) {
    const refs_array_meta *meta = array->meta;
    mosaic_strings found = {.array = array, .bytes = REFS_BUF_INIT};
    int64_t stride[REFS_MAX_RANK], step = 1;
    size_t total = 0;
    uint64_t n;
    if (!refs_array_meta_elements(meta, &n) || n > max_elements)
        return refs_fail(err, REFS_LIMIT, "%s: expected at most %llu elements, found more",
                         meta->path, (unsigned long long)max_elements);
    for (size_t dim = meta->rank; dim-- > 0; step *= (int64_t)meta->shape[dim]) stride[dim] = step;
    found.places = refs_calloc((size_t)n + 1, sizeof *found.places);
    refs_status status =
        found.places != NULL ? refs_buf_append(&found.bytes, "", 1, err) : refs_fail_nomem(err);
    if (status == REFS_OK) status = gather_strings(&found, stride, err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        const char *text = (const char *)found.bytes.data + found.places[i];
        total += strlen(text) + 1;
        status = check_size(&found, total, err);
        if (status == REFS_OK) status = refs_buf_append_text(strings, refs_str_from(text), err);
    }
    refs_buf_clear(&found.bytes);
    refs_free(found.places);
    return status;
}

/* -- prefetch ---------------------------------------------------------------------------------- */

/* The elements of chunk `number` of the grid that predicts reads. */
static void elements_of_chunk(const refs_array *array, uint64_t number, uint64_t *start,
                              uint64_t *count) {
    const refs_array_meta *meta = array->meta;
    uint64_t index[REFS_MAX_RANK];
    refs_grid__index(&array->grid, number, index);
    for (size_t dim = 0; dim < meta->rank; dim++) {
        start[dim] = index[dim] * meta->chunk[dim];
        uint64_t left = meta->shape[dim] - start[dim];
        count[dim] = left < meta->chunk[dim] ? left : meta->chunk[dim];
    }
}

static refs_status add_chunks(const refs_piece *piece, uint64_t box, refs_ahead *ahead) {
    const refs_region region = {piece->start, piece->count, piece->step};
    REFS_SCOPED_BY(refs_array__cut_clear) refs_cut cut = {0};
    refs_status status = refs_array__cut(piece->array->meta, &region, &cut, NULL);
    for (uint64_t i = 0; i < cut.n_chunks && status == REFS_OK; i++) {
        refs_span spans[REFS_MAX_RANK];
        uint64_t index[REFS_MAX_RANK];
        refs_array__cut_at(&cut, i, spans);
        for (size_t dim = 0; dim < cut.rank; dim++) index[dim] = spans[dim].chunk;
        if (ahead->n == REFS_MAX_AHEAD || !refs_grow((void **)&ahead->expected, &ahead->capacity,
                                                     ahead->n, sizeof *ahead->expected))
            status = REFS_LIMIT;
        else
            ahead->expected[ahead->n++] = (refs_ahead_chunk){
                piece->array, refs_grid__number(&piece->array->grid, index), box};
    }
    return status;
}

refs_status refs_ahead__open(refs_ahead *ahead, const refs_array *array) {
    *ahead = (refs_ahead){.array = array};
    return open_list(&ahead->list, NULL);
}

void refs_ahead__clear(refs_ahead *ahead) {
    const refs_mosaic *mosaic = &ahead->array->mosaic;
    ahead->list.n = ahead->n_pieces;
    if (ahead->n_pieces > 0) mosaic->release(mosaic->self, &ahead->list);
    refs_free(ahead->list.pieces);
    refs_free(ahead->expected);
}

void refs_ahead__prepare(const refs_ahead *ahead, uint64_t number) {
    const refs_mosaic *mosaic = &ahead->array->mosaic;
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK];
    const refs_region region = {start, count, NULL};
    elements_of_chunk(ahead->array, number, start, count);
    mosaic->prepare(mosaic->self, &region);
}

refs_status refs_ahead__add(refs_ahead *ahead, uint64_t number, uint64_t box) {
    const refs_mosaic *mosaic = &ahead->array->mosaic;
    static const int64_t no_stride[REFS_MAX_RANK] = {0};
    uint64_t start[REFS_MAX_RANK], count[REFS_MAX_RANK];
    const refs_region region = {start, count, NULL};
    refs_piece_list more = {.pieces = ahead->list.pieces + ahead->n_pieces,
                            .max = ahead->list.max - ahead->n_pieces};
    elements_of_chunk(ahead->array, number, start, count);
    if (more.max == 0) return REFS_LIMIT;
    refs_status status = mosaic->gather(mosaic->self, &region, no_stride, &more, NULL);
    ahead->n_pieces += more.n;
    for (size_t i = 0; i < more.n && status == REFS_OK; i++)
        if (more.pieces[i].array != NULL) status = add_chunks(&more.pieces[i], box, ahead);
    return status;
}
