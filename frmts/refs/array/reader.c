/* reader.c -- a reader that reads an array repeatedly; see array.h. */
#include "held.h"
#include "read.h"
#include "readahead.h"

/* Limit of chunks along a dimension of announced regions, because dividing them takes memory for
 * each chunk. */
#define MAX_ADVISED_CHUNKS ((uint64_t)1 << 20)

struct refs_reader {
    refs_array *array;
    pthread_mutex_t lock; /* guards what follows */
    refs_last_read last;
    refs_readahead readahead;
    refs_held held;
    size_t held_bytes; /* bytes that the cache holds for this reader */
};

refs_status refs_reader_open(refs_array *array, refs_reader **reader, refs_error *err) {
    refs_reader *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    pthread_mutex_init(&opened->lock, NULL);
    opened->array = array;
    opened->last.bounds = refs_grid__bounds(&array->grid);
    *reader = opened;
    return REFS_OK;
}

void refs_reader_free(refs_reader *reader) {
    if (reader == NULL) return;
    refs_readahead__end(&reader->readahead);
    if (reader->array->context.cache != NULL)
        refs_cache__hold(reader->array->context.cache, reader->held_bytes, 0);
    pthread_mutex_destroy(&reader->lock);
    refs_free(reader);
}

void refs_reader_limit(refs_reader *reader, const refs_region *region) {
    const refs_array_meta *meta = reader->array->meta;
    refs_bounds *bounds = &reader->last.bounds;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        if (region->count[dim] == 0) continue;
        bounds->begin[dim] = region->start[dim] / meta->chunk[dim];
        bounds->end[dim] = (region->start[dim] + region->count[dim] - 1) / meta->chunk[dim] + 1;
    }
}

/* -- chunks to prefetch ------------------------------------------------------------------------ */

/* Whether the read begins a new stream of expected boxes. A reader that reads one element of each
 * chunk probably reads a series, so all of it is expected, unless an expectation failed before. */
static bool expects(refs_reader *reader, const refs_box_read *read, refs_stride *stride) {
    refs_readahead *readahead = &reader->readahead;
    refs_last_read__note(&reader->last, &reader->array->grid, read);
    if (refs_readahead__goes_on(readahead, read)) return false;
    refs_readahead__miss(readahead);
    if (!refs_last_read__expects(&reader->last, &reader->array->grid, read, stride)) return false;
    if (read->is_point && readahead->window.size == 0) refs_window__open(&readahead->window);
    return true;
}

static void hold(refs_reader *reader, size_t bytes) {
    refs_cache__hold(reader->array->context.cache, reader->held_bytes, bytes);
    reader->held_bytes = bytes;
}

/* Holds the chunks of a mosaic until the next read. */
static void hold_pieces(void *user, uint64_t bytes) {
    refs_reader *reader = user;
    if (reader->array->context.cache == NULL) return;
    REFS_LOCKED(&reader->lock);
    hold(reader, bytes <= REFS_MAX_HELD_BYTES ? (size_t)bytes : 0);
}

static bool keeps(void *user, uint64_t number) {
    refs_reader *reader = user;
    REFS_LOCKED(&reader->lock);
    return refs_held__keeps(&reader->held, number);
}

/* Records a read. A stream is opened without the lock, because that may read a file of the set; if
 * another thread reads the same meanwhile, its stream is replaced. */
static void note_read(refs_reader *reader, const refs_cut *cut, refs_load_watch *watch) {
    refs_array *array = reader->array;
    refs_box_read read;
    refs_stride stride;
    bool is_to_begin = false;
    if (array->context.cache == NULL) return;
    refs_lock(&reader->lock);
    if (array->mosaic.gather == NULL) hold(reader, refs_held__note(&reader->held, array, cut));
    reader->readahead.comes_back = reader->held.n_held > 0;
    if (reader->held.is_cycling) watch->keeps = keeps;
    if (refs_readahead__is_possible(array) &&
        refs_box_read__describe(array->meta, &array->grid, cut, &read))
        is_to_begin = expects(reader, &read, &stride);
    refs_unlock(&reader->lock);
    if (!is_to_begin) return;
    struct refs_stream *stream = refs_readahead__open(array, &stride);
    refs_lock(&reader->lock);
    refs_readahead__begin(&reader->readahead, stream);
    refs_unlock(&reader->lock);
}

/* Called when the bytes of a read have arrived: the network is free for the next window. */
static void ask_for_more(void *user, size_t n_busy) {
    refs_reader *reader = user;
    REFS_LOCKED(&reader->lock);
    reader->readahead.waits = n_busy > 0;
    if (!reader->held.is_cycling) refs_readahead__request(&reader->readahead);
}

/* Divides an announced region at chunk borders; false if it is outside the array, or has too many
 * chunks to list. */
static bool cut_advised(const refs_array_meta *meta, const refs_region *region, refs_cut *cut) {
    for (size_t dim = 0; dim < meta->rank; dim++) {
        int64_t step = region->step != NULL ? region->step[dim] : 1;
        uint64_t per_chunk = step == 1 || step == -1 ? meta->chunk[dim] : 1;
        if (region->count[dim] / per_chunk > MAX_ADVISED_CHUNKS) return false;
    }
    return refs_array__cut(meta, region, cut, NULL) == REFS_OK;
}

void refs_reader_advise(refs_reader *reader, const refs_region *region) {
    refs_array *array = reader->array;
    refs_cut cut = {0};
    refs_box_read read;
    refs_stride stride;
    if (!refs_readahead__is_possible(array)) return;
    if (cut_advised(array->meta, region, &cut) && cut.n_chunks > 1 &&
        refs_box_read__describe(array->meta, &array->grid, &cut, &read) &&
        refs_stride__of_region(&read, &array->grid, &stride)) {
        struct refs_stream *stream = refs_readahead__open(array, &stride);
        refs_lock(&reader->lock);
        refs_readahead__begin_advised(&reader->readahead, stream);
        refs_readahead__request(&reader->readahead);
        refs_unlock(&reader->lock);
    }
    refs_array__cut_clear(&cut);
}

/* Whether the region's chunks fit into half of the cache. */
static bool fits(const refs_array *array, const refs_cut *cut) {
    uint64_t bytes;
    size_t half =
        array->context.cache != NULL ? refs_cache__max_bytes(array->context.cache) / 2 : 0;
    return refs_mul_u64(cut->n_chunks, array->chunk_bytes + REFS_CHUNK_OVERHEAD, &bytes) &&
           bytes <= half;
}

void refs_reader_load(refs_reader *reader, const refs_region *region,
                      const refs_progress *progress) {
    refs_array *array = reader->array;
    refs_cut cut = {0};
    bool loads =
        array->mosaic.gather == NULL && cut_advised(array->meta, region, &cut) && fits(array, &cut);
    /* A chunk that does not arrive now is requested again by the read that needs it, and fails
     * there. */
    const refs_load_watch watch = {.progress = progress};
    if (loads) (void)refs_array__load_cut(array, &cut, &watch, NULL);
    refs_array__cut_clear(&cut);
    if (!loads) refs_reader_advise(reader, region);
}

refs_status refs_reader_read(refs_reader *reader, const refs_region *region, void *dst,
                             const int64_t *stride, refs_error *err) {
    const refs_read_target target = {dst, stride, NULL};
    return refs_reader_read_to(reader, region, &target, err);
}

refs_status refs_reader_read_to(refs_reader *reader, const refs_region *region,
                                const refs_read_target *target, refs_error *err) {
    refs_load_watch watch = {.progress = target->progress,
                             .arrived = ask_for_more,
                             .takes = hold_pieces,
                             .user = reader};
    refs_reading reading = {reader->array, region, target->dst, target->stride, &watch};
    REFS_SCOPED_BY(refs_array__cut_clear) refs_cut cut = {0};
    refs_status status = refs_array__cut(reader->array->meta, region, &cut, err);
    if (status == REFS_OK && cut.n_chunks > 0) {
        note_read(reader, &cut, &watch);
        status = refs_array__read_cut(&reading, &cut, err);
    }
    return status;
}
