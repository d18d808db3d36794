/* stream.c -- reading ahead: reads that move on step by step, and chunks brought before they are
 * asked for; see array_object.h.
 *
 * Programs read band by band and block by block, and each of their reads alone is one request. A
 * thread that knows what comes next turns hundreds of them into a few. It follows the reader: what
 * is read ahead and not yet used stays within half of the cache. */
#include "array_object.h"

/* Equal moves in a row after which the next one is expected. From the first chunk to the second one
 * move is enough: so begins who reads all. */
#define MOVES_TO_TRUST 2

/* Equal steps in a row inside one chunk after which the next chunk is expected, if they are a third
 * of the way through it as well. Three bands of a picture in colours are two steps. */
#define STEPS_TO_TRUST 3

/* What is read ahead at first, in chunks, and at most, in bytes of values: enough that requests are
 * few, and so little that nobody minds the memory. Each part is so many times larger than the one
 * before. */
#define FIRST_CHUNKS   8
#define MAX_PART_BYTES (14 * REFS_MIB)
#define PART_GROWTH    4

/* Of so many following parts may chunks come along that are stored next to those of a part. */
#define RIDER_PARTS 2

/* Chunks that one stream brings at most: reads that go on start another. */
#define MAX_STREAM_CHUNKS 65536

/* -- the threads ------------------------------------------------------------------------------- */

/* Chunks for one step along the slowest dimension. */
static uint64_t row_of(const refs_stream *stream) {
    return stream->cut.n_chunks / stream->cut.n_spans[0];
}

/* Chunks of the next part: parts are whole rows, if they can, for what lies together is mostly
 * stored together. */
static uint64_t part_size(const refs_stream *stream, uint64_t row) {
    uint64_t n = stream->part_bytes / stream->array->chunk_bytes;
    if (n >= row) return n - n % row;
    if (2 * row <= 3 * n) return row;
    return n > 0 ? n : 1;
}

/* Takes the next part of the cut: [*begin, *end). What the reader is at already is left to it. */
static bool take_part(refs_stream *stream, uint64_t *begin, uint64_t *end) {
    refs_lock(&stream->lock);
    while (stream->claiming) refs_wait(&stream->moved, &stream->lock);
    stream->claiming = true;
    uint64_t reader_at = atomic_load(&stream->reader_at);
    uint64_t row = row_of(stream), n = part_size(stream, row);
    if (reader_at != UINT64_MAX && reader_at >= stream->next)
        stream->next = n < row ? reader_at + 1 : reader_at - reader_at % row + row;
    uint64_t left = stream->cut.n_chunks > stream->next ? stream->cut.n_chunks - stream->next : 0;
    *begin = stream->next;
    *end = stream->next + (n < left ? n : left);
    stream->next = *end;
    stream->part_bytes = stream->part_bytes < MAX_PART_BYTES / PART_GROWTH
                             ? stream->part_bytes * PART_GROWTH
                             : MAX_PART_BYTES;
    refs_unlock(&stream->lock);
    return left > 0;
}

static void note_claimed(void *user) {
    refs_stream *stream = user;
    refs_lock(&stream->lock);
    stream->claiming = false;
    stream->n_claimed++;
    pthread_cond_broadcast(&stream->moved);
    refs_unlock(&stream->lock);
}

static bool has_passed(void *user, uint64_t number) {
    uint64_t reader_at = atomic_load(&((const refs_stream *)user)->reader_at);
    return reader_at != UINT64_MAX && number < reader_at;
}

static bool await_room(void *user, const _Atomic bool *awaited) {
    const refs_stream *stream = user;
    return refs_cache__await_room(stream->array->tools.cache, stream->array->chunk_bytes,
                                  stream->room_bytes, awaited, &stream->stop);
}

static void note_end(refs_stream *stream) {
    refs_lock(&stream->lock);
    stream->claiming = false;
    atomic_fetch_sub(&stream->n_running, 1);
    pthread_cond_broadcast(&stream->moved);
    refs_unlock(&stream->lock);
}

/* Of the chunks behind [begin, end), the end of those that may come along. */
static uint64_t last_rider(const refs_stream *stream, uint64_t begin, uint64_t end) {
    uint64_t left = stream->cut.n_chunks - end, n = RIDER_PARTS * (end - begin);
    return end + (n < left ? n : left);
}

/* Whoever reads a chunk that failed meets the failure too, and tells it. */
static bool bring_parts(refs_stream *stream) {
    refs_cache *cache = stream->array->tools.cache;
    const refs_bringing bringing = {.array = stream->array,
                                    .cut = &stream->cut,
                                    .claimed = note_claimed,
                                    .passed = has_passed,
                                    .await_room = await_room,
                                    .user = stream,
                                    .use = REFS_USE_AHEAD};
    uint64_t begin, end;
    while (refs_cache__await_use(cache, stream->ahead_bytes, stream->n_wasted, &stream->stop)) {
        if (!take_part(stream, &begin, &end)) return true;
        if (refs_array__bring(&bringing, begin, end, last_rider(stream, begin, end), NULL) !=
            REFS_OK)
            return false;
    }
    return false;
}

/* Two threads do this: while one decodes, the other's bytes are on their way. Where one has to give
 * up, so does the other. */
static void *run(void *argument) {
    refs_stream *stream = argument;
    if (!bring_parts(stream)) atomic_store(&stream->stop, true);
    refs_scratch_list__forget(&stream->array->scratches);
    note_end(stream);
    return NULL;
}

/* -- streams: under the lock of the watch ------------------------------------------------------ */

/* The number in a stream's cut of the chunk at `chunk`, or UINT64_MAX. */
static uint64_t number_in(const refs_cut *cut, const uint64_t *chunk) {
    uint64_t number = 0;
    for (size_t dim = 0; dim < cut->rank; dim++) {
        uint64_t first = cut->spans[dim][0].chunk;
        uint64_t step = cut->n_spans[dim] > 1 ? cut->spans[dim][1].chunk - first : 1;
        if (chunk[dim] < first || (chunk[dim] - first) % step != 0) return UINT64_MAX;
        uint64_t index = (chunk[dim] - first) / step;
        if (index >= cut->n_spans[dim]) return UINT64_MAX;
        number = number * cut->n_spans[dim] + index;
    }
    return number;
}

static void join(refs_stream *stream) {
    for (unsigned i = 0; i < stream->n_threads; i++) pthread_join(stream->threads[i], NULL);
    stream->n_threads = 0;
    refs_array__cut_clear(&stream->cut);
}

/* Frees a stream whose threads have ended; false while they have not. */
static bool reap(refs_stream *stream) {
    if (stream->n_threads == 0) return true;
    if (atomic_load(&stream->n_running) > 0) return false;
    join(stream);
    return true;
}

/* Half of the budget; but where a reader takes its time with the chunks of a whole row, the next
 * row should be there when it has done with them. */
static size_t room_for_row(const refs_stream *stream, size_t budget) {
    uint64_t row_bytes = row_of(stream) * stream->array->chunk_bytes;
    return row_bytes > budget / 2 && row_bytes / 3 * 2 <= budget ? (size_t)row_bytes : budget / 2;
}

/* Under the lock of the stream. */
static void start_threads(refs_stream *stream) {
    atomic_store(&stream->n_running, REFS_STREAM_THREADS);
    for (unsigned i = 0; i < REFS_STREAM_THREADS; i++) {
        if (pthread_create(&stream->threads[stream->n_threads], NULL, run, stream) == 0)
            stream->n_threads++;
        else
            atomic_fetch_sub(&stream->n_running, 1);
    }
}

/* Takes over `cut`. Without a thread to be had nothing is read ahead. Readers may still wait for
 * the first claim of an earlier stream: it is this one's then. */
static void start(refs_stream *stream, refs_array *array, refs_cut *cut, size_t part_bytes) {
    refs_ahead ahead;
    refs_cache__get_ahead(array->tools.cache, &ahead);
    size_t budget = ahead.max_bytes / 2 < MAX_PART_BYTES ? ahead.max_bytes / 2 : MAX_PART_BYTES;
    refs_array__cut_clear(&stream->cut); /* of a parent */
    refs_lock(&stream->lock);
    stream->array = array;
    stream->cut = *cut;
    stream->next = 0;
    stream->n_claimed = 0;
    stream->claiming = false;
    stream->part_bytes = part_bytes < budget ? part_bytes : budget;
    stream->ahead_bytes = budget / 2;
    stream->room_bytes = room_for_row(stream, budget);
    stream->n_wasted = ahead.n_wasted;
    atomic_store(&stream->stop, false);
    atomic_store(&stream->reader_at, UINT64_MAX);
    start_threads(stream);
    pthread_cond_broadcast(&stream->moved);
    refs_unlock(&stream->lock);
    if (stream->n_threads == 0) refs_array__cut_clear(&stream->cut);
}

/* -- the watch --------------------------------------------------------------------------------- */

/* The child of a fork has none of the stream's threads: reads that go on start it anew. Its cut is
 * freed then, for there are allocators that a child cannot call here. */
static void in_child(void *self) {
    refs_stream *stream = &((refs_watch *)self)->stream;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->moved, NULL);
    stream->n_threads = 0;
    atomic_store(&stream->n_running, 0);
}

void refs_watch__init(refs_watch *watch) {
    memset(watch, 0, sizeof *watch);
    pthread_mutex_init(&watch->lock, NULL);
    pthread_mutex_init(&watch->stream.lock, NULL);
    pthread_cond_init(&watch->stream.moved, NULL);
    watch->forked = (refs_forked){in_child, watch, NULL, NULL};
    refs_fork_enlist(&watch->forked);
}

void refs_watch__clear(refs_watch *watch) {
    refs_stream *stream = &watch->stream;
    refs_fork_strike_off(&watch->forked);
    if (stream->n_threads > 0) {
        atomic_store(&stream->stop, true);
        refs_cache__wake(stream->array->tools.cache);
        join(stream);
    }
    refs_array__cut_clear(&stream->cut);
    pthread_cond_destroy(&stream->moved);
    pthread_mutex_destroy(&stream->lock);
    pthread_mutex_destroy(&watch->lock);
}

/* Compares a read with the last one: along which single dimension it moved on, and how far. False
 * where it did not move. */
static bool walk_on(refs_walk *walk, const uint64_t *to, size_t rank) {
    size_t dim = 0, n_changed = 0;
    for (size_t i = 0; i < rank; i++) {
        if (to[i] == walk->at[i]) continue;
        dim = i;
        n_changed++;
    }
    if (walk->any && n_changed == 0) return false;
    bool forward = walk->any && n_changed == 1 && to[dim] > walk->at[dim];
    uint64_t by = forward ? to[dim] - walk->at[dim] : 0;
    bool again = forward && by == walk->by && dim == walk->dim;
    walk->n = again ? walk->n + 1 : forward ? 1 : 0;
    walk->dim = dim;
    walk->by = by;
    walk->any = true;
    memcpy(walk->at, to, rank * sizeof *to);
    return true;
}

/* Whether a read takes one element: who goes on to the same one of another chunk reads a series. */
static bool is_point(const refs_cut *cut) {
    for (size_t dim = 0; dim < cut->rank; dim++)
        if (cut->n_spans[dim] > 1 || cut->spans[dim][0].n > 1) return false;
    return true;
}

/* Whether a move began where those begin who read all: in the first chunk of the array, and for
 * points in any first chunk along the dimension of the move. */
static bool began_at_first(const refs_walk *before, const refs_walk *walk, const refs_cut *cut) {
    if (!before->any || walk->by != 1) return false;
    if (is_point(cut)) return before->at[walk->dim] == 0;
    for (size_t dim = 0; dim < cut->rank; dim++)
        if (before->at[dim] != 0) return false;
    return true;
}

/* The box of `cut` and those that follow it when reads go on by `by` chunks along dimension
 * `moved`. Dimensions slower than that one must be a single chunk thick, or boxes would not follow
 * each other in the cut. */
static bool cut_ahead(const refs_array_meta *meta, const refs_cut *cut, size_t moved, uint64_t by,
                      refs_cut *following) {
    uint64_t at = cut->spans[moved][0].chunk, box = 1;
    for (size_t dim = 0; dim < cut->rank; dim++) {
        if (dim < moved && cut->n_spans[dim] > 1) return false;
        box *= cut->n_spans[dim];
    }
    uint64_t n = (refs_array_meta_n_chunks(meta, moved) - 1 - at) / by + 1;
    if (cut->n_spans[moved] > 1 || n == 1 || box > MAX_STREAM_CHUNKS) return false;
    if (n > MAX_STREAM_CHUNKS / box) n = MAX_STREAM_CHUNKS / box;
    following->rank = cut->rank;
    following->n_chunks = n * box;
    for (size_t dim = 0; dim < cut->rank; dim++) {
        size_t n_spans = dim == moved ? (size_t)n : cut->n_spans[dim];
        refs_span *spans = refs_calloc(n_spans, sizeof *spans);
        following->spans[dim] = spans;
        following->n_spans[dim] = n_spans;
        if (spans == NULL) return false;
        for (size_t i = 0; i < n_spans; i++)
            spans[i].chunk = dim == moved ? at + i * by : cut->spans[dim][i].chunk;
    }
    return true;
}

/* Reads ahead from the read that `cut` is of; it finds its chunks claimed. */
static bool follow(refs_array *array, const refs_cut *cut, size_t moved, uint64_t by) {
    refs_stream *stream = &array->watch.stream;
    refs_cut following = {0};
    if (!reap(stream)) return false;
    bool follows = cut_ahead(array->meta, cut, moved, by, &following);
    if (follows)
        start(stream, array, &following,
              is_point(cut) ? SIZE_MAX : FIRST_CHUNKS * array->chunk_bytes);
    else
        refs_array__cut_clear(&following);
    return follows;
}

/* A read that begins in another chunk than the last one. Returns whether it is followed from now
 * on. */
static bool note_move(refs_array *array, const refs_cut *cut, const refs_walk *before) {
    refs_watch *watch = &array->watch;
    refs_walk *walk = &watch->chunks;
    watch->stepped = false;
    if (began_at_first(before, walk, cut)) walk->n = MOVES_TO_TRUST;
    if (watch->stream.n_threads > 0)
        atomic_store(&watch->stream.reader_at, number_in(&watch->stream.cut, walk->at));
    return walk->n >= MOVES_TO_TRUST && follow(array, cut, walk->dim, walk->by);
}

/* A read that begins in the same chunk as the last one, but elsewhere. Moves from chunk to chunk
 * tell more, if there are any. */
static bool note_step(refs_array *array, const refs_cut *cut) {
    refs_watch *watch = &array->watch;
    const refs_walk *walk = &watch->elements;
    if (watch->stepped || walk->n < STEPS_TO_TRUST || watch->chunks.n >= MOVES_TO_TRUST)
        return false;
    uint64_t length = array->meta->chunk[walk->dim];
    uint64_t n_left = (length - 1 - walk->at[walk->dim] % length) / walk->by;
    if (n_left / 2 > walk->n) return false;
    watch->stepped = true;
    return follow(array, cut, walk->dim, 1);
}

/* The reader is about to ask for the first chunks: it shall find them claimed. */
static void await_first_claim(refs_stream *stream) {
    refs_lock(&stream->lock);
    while (stream->n_claimed == 0 && atomic_load(&stream->n_running) > 0)
        refs_wait(&stream->moved, &stream->lock);
    refs_unlock(&stream->lock);
}

void refs_array__watch(refs_array *array, const refs_cut *cut) {
    if (array->tools.cache == NULL || !array->tools.read_ahead) return;
    uint64_t chunk[REFS_MAX_RANK], element[REFS_MAX_RANK];
    for (size_t dim = 0; dim < cut->rank; dim++) {
        const refs_span *span = &cut->spans[dim][0];
        chunk[dim] = span->chunk;
        element[dim] = span->chunk * array->meta->chunk[dim] + span->begin;
    }
    refs_watch *watch = &array->watch;
    refs_lock(&watch->lock);
    const refs_walk before = watch->chunks;
    bool stepped = walk_on(&watch->elements, element, cut->rank);
    bool starts = false;
    if (walk_on(&watch->chunks, chunk, cut->rank))
        starts = note_move(array, cut, &before);
    else if (stepped)
        starts = note_step(array, cut);
    refs_unlock(&watch->lock);
    if (starts) await_first_claim(&watch->stream);
}

void refs_array_advise(refs_array *array, const refs_region *region) {
    if (array->tools.cache == NULL || !array->tools.read_ahead) return;
    refs_cut cut = {0};
    refs_watch *watch = &array->watch;
    refs_lock(&watch->lock);
    bool starts = reap(&watch->stream) &&
                  refs_array__cut(array->meta, region, &cut, NULL) == REFS_OK && cut.n_chunks > 1;
    if (starts)
        start(&watch->stream, array, &cut, SIZE_MAX);
    else
        refs_array__cut_clear(&cut);
    refs_unlock(&watch->lock);
    if (starts) await_first_claim(&watch->stream);
}
