/* mosaic.c -- arrays that are made of regions of others; see array.h. */
#include "mosaic.h"

#include "read.h"

/* Pieces whose chunks are one fetch plan at most, and whose arrays are open at once. */
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

/* What is told of the progress of a mosaic's read: how many of its elements are there. */
typedef struct piece_progress {
    const refs_progress *all;
    double begin, share;
} piece_progress;

static bool report_pieces(void *user, double done) {
    const piece_progress *part = user;
    return part->all->report(part->all->user, part->begin + part->share * done);
}

static uint64_t elements_of(const uint64_t *count, size_t rank) {
    uint64_t n = 1;
    for (size_t dim = 0; dim < rank; dim++) n *= count[dim];
    return n;
}

static double share_of(const refs_reading *reading, const refs_piece_list *list) {
    uint64_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += elements_of(list->pieces[i].count, list->pieces[i].rank);
    return (double)n / (double)elements_of(reading->region->count, reading->array->meta->rank);
}

static refs_status read_list(const refs_reading *reading, const refs_piece_list *list,
                             double *begin, refs_error *err) {
    const refs_load_watch *watch = reading->watch;
    piece_progress part = {watch != NULL ? watch->progress : NULL, *begin, share_of(reading, list)};
    refs_progress of_part = {report_pieces, &part};
    refs_load_watch of_list = {NULL, NULL, NULL, NULL};
    if (watch != NULL) of_list = *watch;
    if (list->next != UINT64_MAX) of_list.arrived = NULL;
    if (part.all != NULL && part.all->report != NULL) of_list.progress = &of_part;
    *begin += part.share;
    return refs_array__read_pieces(reading->array->meta, list, reading->dst, &of_list, err);
}

refs_status refs_array__read_mosaic(const refs_reading *reading, refs_error *err) {
    const refs_mosaic *mosaic = &reading->array->mosaic;
    int64_t stride[REFS_MAX_RANK];
    refs_piece_list list;
    double done = 0;
    refs_array__set_strides(reading->array->meta, reading->region, reading->stride, stride);
    refs_status status = open_list(&list, err);
    list.progress = reading->watch != NULL ? reading->watch->progress : NULL;
    while (status == REFS_OK && list.next != UINT64_MAX) {
        list.n = 0;
        status = mosaic->gather(mosaic->self, reading->region, stride, &list, err);
        if (status == REFS_OK) status = read_list(reading, &list, &done, err);
        mosaic->release(mosaic->self, &list);
    }
    refs_free(list.pieces);
    return status;
}

/* -- prefetch ---------------------------------------------------------------------------------- */

/* The elements of chunk `number` of the grid that reading is expected to move on by. */
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
    refs_cut cut = {0};
    refs_status status = refs_array__cut(piece->array->meta, &region, &cut, NULL);
    for (uint64_t i = 0; i < cut.n_chunks && status == REFS_OK; i++) {
        const refs_span *spans[REFS_MAX_RANK];
        uint64_t index[REFS_MAX_RANK];
        refs_array__cut_at(&cut, i, spans);
        for (size_t dim = 0; dim < cut.rank; dim++) index[dim] = spans[dim]->chunk;
        if (ahead->n == REFS_MAX_AHEAD || !refs_grow((void **)&ahead->expected, &ahead->capacity,
                                                     ahead->n, sizeof *ahead->expected))
            status = REFS_LIMIT;
        else
            ahead->expected[ahead->n++] =
                (refs_expected){piece->array, refs_grid__number(&piece->array->grid, index), box};
    }
    refs_array__cut_clear(&cut);
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
