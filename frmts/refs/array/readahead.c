/* readahead.c -- see readahead.h. */
#include "readahead.h"

#include "held.h"
#include "mosaic.h"
#include "refs/pool.h"

/* Approximate bytes that one task loads from a local file: a reader never waits for more than one
 * task. */
#define LOCAL_PART_BYTES REFS_MIB

/* The number of reads before a stride is known and its first box is read. */
#define READS_BEFORE 3

/* Bytes that are kept behind a reader of more data than the cache can hold. */
#define KEPT_BYTES (8 * REFS_MIB)

/* Limit of chunks that one task requests. */
#define MAX_TASK_CHUNKS 16384

/* The expected boxes of a reader, shared with its tasks. */
typedef struct refs_stream {
    _Atomic unsigned references;
    refs_array *array;
    refs_stride stride;
    uint64_t box_size; /* number of chunks of a box */
    bool is_local;
    bool is_advised;             /* the application announced them */
    _Atomic uint64_t at;         /* the current box */
    _Atomic uint64_t wanted;     /* the first box that the reader does not load itself */
    _Atomic uint64_t decode_end; /* boxes before this one are decoded as they arrive */
    _Atomic uint64_t n_fetches;  /* the array's n_fetches when the stream ended */
    _Atomic bool ended;
} refs_stream;

static void release(refs_stream *stream) {
    if (atomic_fetch_sub(&stream->references, 1) == 1) refs_free(stream);
}

/* -- tasks ------------------------------------------------------------------------------------- */

/* A task: boxes [begin, end) of a stream to load, or one chunk to decode. */
typedef struct readahead_task {
    refs_stream *stream;
    uint64_t begin, end;
    uint64_t number;
} readahead_task;

static bool is_wanted(void *user, uint64_t box) {
    const refs_stream *stream = user;
    return !atomic_load(&stream->ended) && !atomic_load(&stream->array->ending) &&
           box >= atomic_load(&stream->wanted);
}

static bool is_near(void *user, uint64_t box) {
    const refs_stream *stream = user;
    return box < atomic_load(&stream->decode_end);
}

/* Whether the stream has ended and a reader has fetched something else since. If readers found all
 * their chunks cached, as those do that turn back, its requests delay nobody. */
static bool has_ended(void *user) {
    const refs_stream *stream = user;
    return atomic_load(&stream->ended) &&
           atomic_load(&stream->array->n_fetches) != atomic_load(&stream->n_fetches);
}

static size_t list_chunks(const refs_stream *stream, uint64_t box, uint64_t *numbers,
                          refs_ahead_chunk *expected) {
    size_t n = refs_stride__chunks(&stream->stride, &stream->array->grid, box, numbers);
    for (size_t i = 0; i < n; i++) expected[i] = (refs_ahead_chunk){stream->array, numbers[i], box};
    return n;
}

static void load_boxes(const readahead_task *task, uint64_t *numbers, refs_ahead_chunk *expected) {
    refs_stream *stream = task->stream;
    refs_prefetcher who = {stream->array, is_wanted, is_near, has_ended, stream};
    size_t n = 0;
    for (uint64_t box = task->begin; box < task->end; box++)
        n += list_chunks(stream, box, numbers, expected + n);
    if (n > 0 && is_wanted(stream, expected[n - 1].box)) refs_array__load_ahead(&who, expected, n);
}

/* Opens the files of pieces on a thread that may wait for them. */
static void load_pieces(const readahead_task *task, uint64_t *numbers) {
    refs_stream *stream = task->stream;
    refs_prefetcher who = {stream->array, is_wanted, is_near, has_ended, stream};
    refs_ahead ahead;
    refs_status status = refs_ahead__open(&ahead, stream->array);
    for (uint64_t box = task->begin; box < task->end && status == REFS_OK; box++) {
        size_t n = refs_stride__chunks(&stream->stride, &stream->array->grid, box, numbers);
        for (size_t i = 0; i < n; i++) refs_ahead__prepare(&ahead, numbers[i]);
    }
    for (uint64_t box = task->begin; box < task->end && status == REFS_OK; box++) {
        size_t n = refs_stride__chunks(&stream->stride, &stream->array->grid, box, numbers);
        if (!is_wanted(stream, box)) continue;
        for (size_t i = 0; i < n && status == REFS_OK; i++)
            status = refs_ahead__add(&ahead, numbers[i], box);
    }
    refs_array__load_ahead(&who, ahead.expected, ahead.n);
    refs_ahead__clear(&ahead);
}

static refs_status run_load(void *argument, refs_error *err) {
    const readahead_task *task = argument;
    (void)err;
    size_t n = (size_t)((task->end - task->begin) * task->stream->box_size);
    REFS_SCOPED uint64_t *numbers = refs_calloc((size_t)task->stream->box_size, sizeof *numbers);
    REFS_SCOPED refs_ahead_chunk *expected = refs_calloc(n, sizeof *expected);
    if (numbers != NULL && task->stream->array->mosaic.gather != NULL)
        load_pieces(task, numbers);
    else if (numbers != NULL && expected != NULL)
        load_boxes(task, numbers, expected);
    return REFS_OK;
}

static refs_status run_decode(void *argument, refs_error *err) {
    const readahead_task *task = argument;
    (void)err;
    if (is_wanted(task->stream, task->begin))
        refs_array__decode_stored(task->stream->array, task->number);
    return REFS_OK;
}

static void drop_task(void *argument) {
    readahead_task *task = argument;
    refs_array *array = task->stream->array;
    release(task->stream);
    refs_free(task);
    refs_tasks__end(&array->tasks);
}

static void start_task(refs_stream *stream, refs_pool *pool, readahead_task task,
                       refs_status (*work)(void *argument, refs_error *err)) {
    readahead_task *started = refs_alloc(sizeof *started);
    if (started == NULL) return;
    *started = task;
    started->stream = stream;
    atomic_fetch_add(&stream->references, 1);
    refs_tasks__begin(&stream->array->tasks);
    refs_pool_run(pool, work, drop_task, started);
}

static bool is_of(const void *argument, const void *array) {
    return ((const readahead_task *)argument)->stream->array == array;
}

void refs_readahead__withdraw(const refs_array *array) {
    if (array->context.prefetch_pool != NULL)
        refs_pool_withdraw(array->context.prefetch_pool, drop_task, is_of, array);
    if (array->context.pool != NULL)
        refs_pool_withdraw(array->context.pool, drop_task, is_of, array);
}

/* -- tracked arrays ---------------------------------------------------------------------------- */

bool refs_readahead__is_possible(const refs_array *array) {
    return array->context.cache != NULL && array->context.prefetch_pool != NULL &&
           array->chunk_bytes > 0;
}

static bool begins_local(const refs_array *array, const refs_stride *stride) {
    uint64_t index[REFS_MAX_RANK];
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_grid__index(&array->grid, stride->first, index);
    refs_grid__mirror(&array->grid, stride->mirrored, index);
    if (array->mosaic.gather != NULL) {
        for (size_t dim = 0; dim < array->meta->rank; dim++) index[dim] *= array->meta->chunk[dim];
        return array->mosaic.is_local(array->mosaic.self, index);
    }
    return refs_chunk_key(array->meta, index, &key, NULL) == REFS_OK &&
           refs_store_is_local(array->context.store, refs_buf_text(&key));
}

static bool takes_decoding(const refs_array *array) {
    if (array->mosaic.gather != NULL) return true;
    return array->chain != NULL && !refs_chain_is_empty(array->chain);
}

refs_stream *refs_readahead__open(refs_array *array, const refs_stride *stride) {
    const uint64_t box_size = refs_stride__box_size(stride, &array->grid);
    const bool is_local = begins_local(array, stride);
    if (box_size > MAX_TASK_CHUNKS || (is_local && !takes_decoding(array))) return NULL;
    refs_stream *stream = refs_calloc(1, sizeof *stream);
    if (stream == NULL) return NULL;
    atomic_init(&stream->references, 1);
    stream->array = array;
    stream->stride = *stride;
    stream->box_size = box_size;
    stream->is_local = is_local;
    return stream;
}

/* Records that box `k` is being read. A reader that announced whole boxes may read parts of
 * them. */
static void set_position(refs_readahead *readahead, const refs_box_read *read, uint64_t k) {
    refs_stream *stream = readahead->stream;
    bool is_part = false;
    for (size_t dim = 0; dim < stream->array->grid.rank && read != NULL; dim++)
        is_part = is_part || read->box[dim] < stream->stride.box[dim];
    atomic_store(&stream->at, k);
    atomic_store(&stream->wanted, is_part ? k : k + 1);
    readahead->ahead = k + 1;
}

void refs_readahead__begin(refs_readahead *readahead, refs_stream *stream) {
    const uint64_t size = readahead->window.size;
    refs_readahead__end(readahead);
    *readahead = (refs_readahead){.stream = stream, .window = {.size = size}};
    if (stream == NULL) return;
    refs_cache__add_stream(stream->array->context.cache);
    set_position(readahead, NULL, 0);
}

void refs_readahead__begin_advised(refs_readahead *readahead, refs_stream *stream) {
    refs_readahead__end(readahead);
    *readahead = (refs_readahead){.stream = stream};
    if (stream != NULL) refs_cache__add_stream(stream->array->context.cache);
    if (stream != NULL) stream->is_advised = true;
    refs_window__open(&readahead->window);
}

/* Passes all but the last boxes of a stream that is larger than the cache: otherwise they would
 * fill the cache, and still be dropped before a reader returns. Skipped boxes that were never
 * requested are not cached. */
static void pass_boxes(refs_readahead *readahead, uint64_t k) {
    const refs_stream *stream = readahead->stream;
    refs_array *array = stream->array;
    uint64_t box_bytes = array->chunk_bytes * stream->box_size;
    uint64_t n_kept = KEPT_BYTES / box_bytes + 1,
             n_fit = refs_cache__max_bytes(array->context.cache) / box_bytes;
    if (array->chunk_bytes > REFS_HELD_FROM) return; /* a reader may return for the rest */
    if (readahead->comes_back || array->mosaic.gather != NULL) return;
    if (READS_BEFORE + k <= n_fit || k < n_kept) return;
    const uint64_t end = k - n_kept + 1, next = readahead->window.next,
                   known = next < end ? next : end;
    REFS_SCOPED uint64_t *numbers = refs_calloc((size_t)stream->box_size, sizeof *numbers);
    for (; readahead->passed < known && numbers != NULL; readahead->passed++) {
        size_t n = refs_stride__chunks(&stream->stride, &array->grid, readahead->passed, numbers);
        for (size_t i = 0; i < n; i++)
            refs_cache__pass(array->context.cache, (refs_chunk_id){array->owner, numbers[i]});
    }
    if (readahead->passed < end) readahead->passed = end;
}

bool refs_readahead__goes_on(refs_readahead *readahead, const refs_box_read *read) {
    const refs_stream *stream = readahead->stream;
    if (stream == NULL) return false;
    const uint64_t at = atomic_load(&stream->at);
    const uint64_t k = refs_stride__find(&stream->stride, &stream->array->grid, read, at);
    if (k == UINT64_MAX || (!stream->is_advised && k > at + 1)) return false;
    set_position(readahead, read, k);
    pass_boxes(readahead, k);
    return true;
}

/* A completely read stream does not shrink the next window, and neither does an announced one. */
void refs_readahead__miss(refs_readahead *readahead) {
    const refs_stream *stream = readahead->stream;
    refs_window window = readahead->window;
    if (stream == NULL) return;
    if (stream->is_advised)
        window = (refs_window){.size = 0};
    else if (readahead->ahead < stream->stride.n)
        refs_window__miss(&window);
    refs_readahead__end(readahead);
    readahead->window = (refs_window){.size = window.size};
}

/* -- requesting -------------------------------------------------------------------------------- */

/* Requests decoding of the next boxes. Chunks of a mosaic's pieces are decoded when they arrive or
 * are read. */
static void ask_to_decode(refs_stream *stream, uint64_t begin, uint64_t end) {
    if (stream->array->mosaic.gather != NULL) return;
    REFS_SCOPED uint64_t *numbers = refs_calloc((size_t)stream->box_size, sizeof *numbers);
    for (uint64_t box = begin; box < end && numbers != NULL; box++) {
        size_t n = refs_stride__chunks(&stream->stride, &stream->array->grid, box, numbers);
        for (size_t i = 0; i < n; i++)
            start_task(stream, stream->array->context.pool,
                       (readahead_task){.begin = box, .number = numbers[i]}, run_decode);
    }
}

/* The limit of prefetched bytes. If the time to first byte is long, half of the cache may be too
 * little, so the cache is enlarged. */
static size_t most_ahead(refs_readahead *readahead) {
    const refs_stream *stream = readahead->stream;
    const refs_array_context *context = &stream->array->context;
    const size_t half = refs_cache__max_bytes(context->cache) / 2;
    const size_t share = refs_cache__readahead_share(context->cache);
    size_t more = 0;
    if (!stream->is_local && context->max_ahead_bytes > half && share > 0) {
        uint64_t all = refs_store_bandwidth_delay(context->store);
        if (all > context->max_ahead_bytes) all = context->max_ahead_bytes;
        if (all > half) more = (size_t)((double)all * (double)share / (double)half);
    }
    refs_cache__hold(context->cache, readahead->held_bytes, more);
    readahead->held_bytes = more;
    return more > share ? more : share;
}

/* The number of tasks for `n` boxes. One for a server, because each call takes a round trip. For a
 * local file, equal tasks that begin in order, so that a reader does not wait for a small rest
 * queued behind the next window. */
static uint64_t count_tasks(const refs_stream *stream, uint64_t n) {
    const uint64_t part = LOCAL_PART_BYTES / (stream->array->chunk_bytes * stream->box_size) + 1;
    return stream->is_local && n > part ? (n + part / 2) / part : 1;
}

/* Requests the next boxes in tasks. */
static void request_window(refs_readahead *readahead, uint64_t n_fit) {
    refs_stream *stream = readahead->stream;
    const uint64_t most = readahead->ahead + MAX_TASK_CHUNKS / stream->box_size,
                   end = most < stream->stride.n ? most : stream->stride.n;
    if (readahead->waits) refs_window__hurry(&readahead->window, readahead->ahead, n_fit);
    const uint64_t n = refs_window__advance(&readahead->window, readahead->ahead, end, n_fit);
    const uint64_t first = readahead->window.next - n, n_tasks = count_tasks(stream, n);
    for (uint64_t i = 0; i < n_tasks && n > 0; i++)
        start_task(stream, stream->array->context.prefetch_pool,
                   (readahead_task){.begin = first + n * i / n_tasks,
                                    .end = first + n * (i + 1) / n_tasks},
                   run_load);
}

void refs_readahead__request(refs_readahead *readahead) {
    refs_stream *stream = readahead->stream;
    if (stream == NULL) return;
    const refs_array *array = stream->array;
    const refs_box_bytes bytes = {
        .stored = refs_array__mean_stored(array) * stream->box_size,
        .decoded = array->chunk_bytes * stream->box_size,
        .most = most_ahead(readahead),
        .is_local = stream->is_local,
    };
    const uint64_t ahead = readahead->ahead, requested = readahead->window.next;
    uint64_t end = ahead + refs_box_bytes__n_decoded(&bytes);
    if (end > stream->stride.n) end = stream->stride.n;
    atomic_store(&stream->decode_end, end);
    request_window(readahead, refs_box_bytes__n_fit(&bytes));
    if (array->context.pool != NULL && !stream->is_local)
        ask_to_decode(stream, readahead->decoded > ahead ? readahead->decoded : ahead,
                      end < requested ? end : requested);
    readahead->decoded = end;
}

/* -- its end ----------------------------------------------------------------------------------- */

/* Marks unread chunks, which the cache drops first. */
static void leave_unread(const refs_readahead *readahead) {
    const refs_stream *stream = readahead->stream;
    if (stream->array->mosaic.gather != NULL) return;
    REFS_SCOPED uint64_t *numbers = refs_calloc((size_t)stream->box_size, sizeof *numbers);
    for (uint64_t box = readahead->ahead; box < readahead->window.next && numbers != NULL; box++) {
        size_t n = refs_stride__chunks(&stream->stride, &stream->array->grid, box, numbers);
        for (size_t i = 0; i < n; i++)
            refs_cache__leave(stream->array->context.cache,
                              (refs_chunk_id){stream->array->owner, numbers[i]});
    }
}

void refs_readahead__end(refs_readahead *readahead) {
    refs_stream *stream = readahead->stream;
    if (stream == NULL) return;
    refs_cache *cache = stream->array->context.cache;
    refs_cache__remove_stream(cache);
    refs_cache__hold(cache, readahead->held_bytes, 0);
    readahead->held_bytes = 0;
    atomic_store(&stream->n_fetches, atomic_load(&stream->array->n_fetches));
    atomic_store(&stream->ended, true);
    leave_unread(readahead);
    release(stream);
    readahead->stream = NULL;
}
