/* prefetch.c -- see prefetch.h. */
#include "prefetch.h"

#include "budget.h"
#include "held.h"
#include "mosaic.h"
#include "refs/pool.h"

/* Chunks of local files that are claimed at a time, in bytes of values: a reader never finds more
 * of them busy. */
#define LOCAL_PART_BYTES REFS_MIB

/* Values that stay behind a reader whose course is longer than the cache. */
#define KEPT_BYTES (8 * REFS_MIB)

/* Chunks that one task asks for at most. */
#define MAX_TASK_CHUNKS 16384

/* A course that is followed, shared by the reader and its tasks. */
typedef struct refs_run {
    _Atomic unsigned references;
    refs_array *array;
    refs_course course;
    uint64_t box_size; /* chunks of a box */
    bool is_local;
    uint64_t told_size;          /* of the first chunk as it is stored; 0: unknown */
    _Atomic uint64_t at;         /* the box that is being read */
    _Atomic uint64_t wanted;     /* the first one that its reader does not load itself */
    _Atomic uint64_t decode_end; /* boxes before this one are decoded as they arrive */
    _Atomic uint64_t n_fetches;  /* of readers of the array when it ended */
    _Atomic bool ended;
} refs_run;

static void release(refs_run *run) {
    if (atomic_fetch_sub(&run->references, 1) == 1) refs_free(run);
}

/* -- tasks ------------------------------------------------------------------------------------- */

/* Boxes [begin, end) of a run; or, to be decoded, one chunk. */
typedef struct prefetch_task {
    refs_run *run;
    uint64_t begin, end;
    uint64_t number;
} prefetch_task;

static bool is_wanted(void *user, uint64_t box) {
    const refs_run *run = user;
    return !atomic_load(&run->ended) && !atomic_load(&run->array->ending) &&
           box >= atomic_load(&run->wanted);
}

static bool is_near(void *user, uint64_t box) {
    const refs_run *run = user;
    return box < atomic_load(&run->decode_end);
}

/* Whose reader has found all that it read since then, as those do that turn back, is in nobody's
 * way. */
static bool has_ended(void *user) {
    const refs_run *run = user;
    return atomic_load(&run->ended) &&
           atomic_load(&run->array->n_fetches) != atomic_load(&run->n_fetches);
}

static size_t list_chunks(const refs_run *run, uint64_t box, uint64_t *numbers,
                          refs_expected *expected) {
    size_t n = refs_course__chunks(&run->course, &run->array->grid, box, numbers);
    for (size_t i = 0; i < n; i++) expected[i] = (refs_expected){run->array, numbers[i], box};
    return n;
}

/* All boxes at once where they come from a server: each call is a round trip. Of local files few
 * chunks at a time. */
static void load_boxes(const prefetch_task *task, uint64_t *numbers, refs_expected *expected) {
    refs_run *run = task->run;
    refs_prefetcher who = {run->array, is_wanted, is_near, has_ended, run};
    size_t n = 0, part = LOCAL_PART_BYTES / run->array->chunk_bytes + 1;
    for (uint64_t box = task->begin; box < task->end; box++)
        n += list_chunks(run, box, numbers, expected + n);
    if (!run->is_local) part = n;
    for (size_t begin = 0; begin < n && is_wanted(run, expected[n - 1].box); begin += part)
        refs_array__load_ahead(&who, expected + begin, n - begin < part ? n - begin : part);
}

/* Files of pieces are opened here, on a thread that may wait for them. */
static void load_pieces(const prefetch_task *task, uint64_t *numbers) {
    refs_run *run = task->run;
    refs_prefetcher who = {run->array, is_wanted, is_near, has_ended, run};
    refs_ahead ahead;
    refs_status status = refs_ahead__open(&ahead, run->array);
    for (uint64_t box = task->begin; box < task->end && status == REFS_OK; box++) {
        size_t n = refs_course__chunks(&run->course, &run->array->grid, box, numbers);
        for (size_t i = 0; i < n; i++) refs_ahead__prepare(&ahead, numbers[i]);
    }
    for (uint64_t box = task->begin; box < task->end && status == REFS_OK; box++) {
        size_t n = refs_course__chunks(&run->course, &run->array->grid, box, numbers);
        if (!is_wanted(run, box)) continue;
        for (size_t i = 0; i < n && status == REFS_OK; i++)
            status = refs_ahead__add(&ahead, numbers[i], box);
    }
    refs_array__load_ahead(&who, ahead.expected, ahead.n);
    refs_ahead__clear(&ahead);
}

static refs_status run_load(void *argument, refs_error *err) {
    const prefetch_task *task = argument;
    (void)err;
    size_t n = (size_t)((task->end - task->begin) * task->run->box_size);
    uint64_t *numbers = refs_calloc((size_t)task->run->box_size, sizeof *numbers);
    refs_expected *expected = refs_calloc(n, sizeof *expected);
    if (numbers != NULL && task->run->array->mosaic.gather != NULL)
        load_pieces(task, numbers);
    else if (numbers != NULL && expected != NULL)
        load_boxes(task, numbers, expected);
    refs_free(numbers);
    refs_free(expected);
    return REFS_OK;
}

static refs_status run_decode(void *argument, refs_error *err) {
    const prefetch_task *task = argument;
    (void)err;
    if (is_wanted(task->run, task->begin))
        refs_array__decode_stored(task->run->array, task->number);
    return REFS_OK;
}

static void drop_task(void *argument) {
    prefetch_task *task = argument;
    refs_array *array = task->run->array;
    release(task->run);
    refs_free(task);
    refs_tasks__end(&array->tasks);
}

static void start_task(refs_run *run, refs_pool *pool, prefetch_task task,
                       refs_status (*work)(void *argument, refs_error *err)) {
    prefetch_task *started = refs_alloc(sizeof *started);
    if (started == NULL) return;
    *started = task;
    started->run = run;
    atomic_fetch_add(&run->references, 1);
    refs_tasks__begin(&run->array->tasks);
    refs_pool_run(pool, work, drop_task, started);
}

static bool is_of(const void *argument, const void *array) {
    return ((const prefetch_task *)argument)->run->array == array;
}

void refs_prefetch__withdraw(const refs_array *array) {
    if (array->context.prefetch_pool != NULL)
        refs_pool_withdraw(array->context.prefetch_pool, drop_task, is_of, array);
    if (array->context.pool != NULL)
        refs_pool_withdraw(array->context.pool, drop_task, is_of, array);
}

/* -- the course -------------------------------------------------------------------------------- */

bool refs_prefetch__is_possible(const refs_array *array) {
    return array->context.cache != NULL && array->context.prefetch_pool != NULL &&
           array->chunk_bytes > 0;
}

static void index_of_first(const refs_array *array, const refs_course *course, uint64_t *index) {
    refs_grid__index(&array->grid, course->first, index);
    refs_grid__mirror(&array->grid, course->mirrored, index);
}

static bool begins_local(const refs_array *array, const refs_course *course) {
    uint64_t index[REFS_MAX_RANK];
    refs_buf key = REFS_BUF_INIT;
    index_of_first(array, course, index);
    if (array->mosaic.gather != NULL) {
        for (size_t dim = 0; dim < array->meta->rank; dim++) index[dim] *= array->meta->chunk[dim];
        return array->mosaic.is_local(array->mosaic.self, index);
    }
    bool local =
        refs_chunk_key(array->meta, index, &key, NULL) == REFS_OK &&
        refs_store_is_local(array->context.store, refs_str_view((char *)key.data, key.size));
    refs_buf_clear(&key);
    return local;
}

/* What the set says of its first chunk; 0 where it says nothing. */
static uint64_t told_size(const refs_array *array, const refs_course *course) {
    uint64_t index[REFS_MAX_RANK], size = 0;
    refs_buf key = REFS_BUF_INIT;
    if (array->mosaic.gather != NULL || array->shards != NULL) return 0;
    index_of_first(array, course, index);
    if (refs_chunk_key(array->meta, index, &key, NULL) == REFS_OK)
        size =
            refs_store_told_size(array->context.store, refs_str_view((char *)key.data, key.size));
    refs_buf_clear(&key);
    return size;
}

static uint64_t stored_bytes(const refs_run *run) {
    bool is_known = atomic_load(&run->array->chunks_stored) > 0 || run->told_size == 0;
    return (is_known ? refs_array__mean_stored(run->array) : run->told_size) * run->box_size;
}

/* Chunks of a mosaic's pieces are decoded as they arrive, or when they are read. */
static void ask_to_decode(refs_run *run, uint64_t begin, uint64_t end) {
    if (run->array->mosaic.gather != NULL) return;
    uint64_t *numbers = refs_calloc((size_t)run->box_size, sizeof *numbers);
    for (uint64_t box = begin; box < end && numbers != NULL; box++) {
        size_t n = refs_course__chunks(&run->course, &run->array->grid, box, numbers);
        for (size_t i = 0; i < n; i++)
            start_task(run, run->array->context.pool,
                       (prefetch_task){.begin = box, .number = numbers[i]}, run_decode);
    }
    refs_free(numbers);
}

/* Where it takes long until answers begin, a reader would wait for what half of the cache does not
 * hold: it may have more ahead then, for which the cache is made larger. */
static size_t budget_of(refs_prefetch *prefetch) {
    const refs_run *run = prefetch->run;
    const refs_array_context *context = &run->array->context;
    size_t half = refs_cache__max_bytes(context->cache) / 2;
    size_t share = refs_budget__share(refs_cache__budget(context->cache), prefetch), more = 0;
    if (!run->is_local && context->max_ahead_bytes > half && share > 0) {
        uint64_t all = refs_store_bandwidth_delay(context->store);
        if (all > context->max_ahead_bytes) all = context->max_ahead_bytes;
        if (all > half) more = (size_t)((double)all * (double)share / (double)half);
    }
    refs_cache__hold(context->cache, prefetch->held_bytes, more);
    prefetch->held_bytes = more;
    return more > share ? more : share;
}

void refs_prefetch__ask(refs_prefetch *prefetch) {
    refs_run *run = prefetch->run;
    if (run == NULL) return;
    uint64_t ahead = prefetch->ahead;
    refs_array *array = run->array;
    refs_progress_on progress = {.ahead = ahead,
                                 .next = prefetch->next,
                                 .stored = stored_bytes(run),
                                 .decoded = array->chunk_bytes * run->box_size,
                                 .budget = budget_of(prefetch),
                                 .is_local = run->is_local};
    refs_prefetch_plan plan = refs_course__plan(&run->course, &progress);
    atomic_store(&run->decode_end, plan.decode_end);
    uint64_t most = MAX_TASK_CHUNKS / run->box_size;
    if (plan.end - plan.begin > most) plan.end = plan.begin + most;
    if (plan.end > plan.begin)
        start_task(run, array->context.prefetch_pool,
                   (prefetch_task){.begin = plan.begin, .end = plan.end}, run_load);
    if (array->context.pool != NULL && !run->is_local) {
        uint64_t from = prefetch->decoded > ahead ? prefetch->decoded : ahead;
        uint64_t to = plan.decode_end < plan.begin ? plan.decode_end : plan.begin;
        ask_to_decode(run, from, to);
    }
    prefetch->next = plan.end;
    prefetch->decoded = plan.decode_end;
}

static bool takes_decoding(const refs_array *array) {
    if (array->mosaic.gather != NULL) return true;
    return array->chain != NULL && !refs_chain_is_empty(array->chain);
}

void refs_prefetch__follow(refs_prefetch *prefetch, refs_array *array, const refs_course *course) {
    refs_prefetch__end(prefetch);
    uint64_t box_size = refs_course__box_size(course, &array->grid);
    refs_run *run = box_size <= MAX_TASK_CHUNKS ? refs_calloc(1, sizeof *run) : NULL;
    if (run == NULL) return;
    atomic_init(&run->references, 1);
    run->array = array;
    run->course = *course;
    run->box_size = box_size;
    run->is_local = begins_local(array, course);
    if (run->is_local && !takes_decoding(array)) { /* it takes no longer to read than to hand on */
        refs_free(run);
        return;
    }
    run->told_size = run->is_local ? 0 : told_size(array, course);
    *prefetch = (refs_prefetch){.run = run};
}

bool refs_prefetch__begins(const refs_prefetch *prefetch, const refs_course *course) {
    const refs_run *run = prefetch->run;
    if (run == NULL || prefetch->ahead > 0) return false;
    const refs_course *followed = &run->course;
    return followed->first == course->first && followed->by == course->by &&
           followed->n == course->n && followed->mirrored == course->mirrored &&
           memcmp(followed->box, course->box, run->array->grid.rank * sizeof *course->box) == 0;
}

uint64_t refs_prefetch__find(const refs_prefetch *prefetch, const refs_box_read *read,
                             uint64_t *at) {
    const refs_run *run = prefetch->run;
    if (run == NULL) return UINT64_MAX;
    *at = atomic_load(&run->at);
    return refs_course__find(&run->course, &run->array->grid, read, *at);
}

/* A course that is longer than the cache keeps the last boxes alone: of the others the cache would
 * be full, and let them go before anybody came back. Boxes that were jumped over before anybody
 * asked for them are not there. */
static void pass_boxes(refs_prefetch *prefetch, uint64_t k) {
    const refs_run *run = prefetch->run;
    refs_array *array = run->array;
    uint64_t box_bytes = array->chunk_bytes * run->box_size;
    uint64_t n_kept = KEPT_BYTES / box_bytes + 1,
             n_fit = refs_cache__max_bytes(array->context.cache) / box_bytes;
    if (array->chunk_bytes > REFS_HELD_FROM) return; /* a reader may come back for the rest */
    if (array->mosaic.gather != NULL) return;
    if (run->course.n_read + k <= n_fit || k < n_kept) return;
    uint64_t end = k - n_kept + 1, known = prefetch->next < end ? prefetch->next : end;
    uint64_t *numbers = refs_calloc((size_t)run->box_size, sizeof *numbers);
    for (; prefetch->passed < known && numbers != NULL; prefetch->passed++) {
        size_t n = refs_course__chunks(&run->course, &array->grid, prefetch->passed, numbers);
        for (size_t i = 0; i < n; i++)
            refs_cache__pass(array->context.cache, (refs_chunk_id){array->owner, numbers[i]});
    }
    if (prefetch->passed < end) prefetch->passed = end;
    refs_free(numbers);
}

/* Who was told to read whole bands may read them in swaths. */
static bool is_part(const refs_run *run, const refs_box_read *read) {
    for (size_t dim = 0; dim < run->array->grid.rank; dim++)
        if (read->box[dim] < run->course.box[dim]) return true;
    return false;
}

void refs_prefetch__advance(refs_prefetch *prefetch, const refs_box_read *read, uint64_t k) {
    if (prefetch->run == NULL) return;
    atomic_store(&prefetch->run->at, k);
    atomic_store(&prefetch->run->wanted, is_part(prefetch->run, read) ? k : k + 1);
    if (k >= prefetch->ahead && k < prefetch->next) prefetch->n_used++;
    prefetch->ahead = k + 1;
    pass_boxes(prefetch, k);
}

uint64_t refs_prefetch__n_unread(const refs_prefetch *prefetch) {
    return prefetch->next > prefetch->ahead ? prefetch->next - prefetch->ahead : 0;
}

/* Chunks that were read have been used; these have not. */
static void leave_unread(const refs_prefetch *prefetch) {
    const refs_run *run = prefetch->run;
    if (run->array->mosaic.gather != NULL) return;
    uint64_t *numbers = refs_calloc((size_t)run->box_size, sizeof *numbers);
    for (uint64_t box = prefetch->ahead; box < prefetch->next && numbers != NULL; box++) {
        size_t n = refs_course__chunks(&run->course, &run->array->grid, box, numbers);
        for (size_t i = 0; i < n; i++)
            refs_cache__leave(run->array->context.cache,
                              (refs_chunk_id){run->array->owner, numbers[i]});
    }
    refs_free(numbers);
}

void refs_prefetch__end(refs_prefetch *prefetch) {
    refs_run *run = prefetch->run;
    if (run == NULL) return;
    refs_budget__leave(refs_cache__budget(run->array->context.cache), prefetch);
    refs_cache__hold(run->array->context.cache, prefetch->held_bytes, 0);
    prefetch->held_bytes = 0;
    atomic_store(&run->n_fetches, atomic_load(&run->array->n_fetches));
    atomic_store(&run->ended, true);
    leave_unread(prefetch);
    release(run);
    prefetch->run = NULL;
}
