/* queue.c -- turns requests into a plan, transfers and finished requests; see queue.h. */
#include "refs/queue.h"

#include "expected.h"
#include "fetch_internal.h"
#include "http/internal.h"

/* Prefetching uses requests of as many bytes as arrive in so many milliseconds, but at least of
 * this size. */
#define PREFETCHED_REQUEST_MS 25
#define MIN_PREFETCHED_BYTES  (REFS_MIB / 4)
#define MAX_PREFETCHED_BYTES  (4 * (uint64_t)REFS_MIB)

void refs_request_clear(refs_request *request) {
    refs_ref_release(&request->ref);
    refs_block_release(request->block);
    request->block = NULL;
}

/* -- planning ---------------------------------------------------------------------------------- */

/* Limits the size of prefetching requests on a slow network: a reader that waits for one waits
 * until its last byte. */
static refs_fetch_policy policy_of(const refs_queue *queue) {
    const refs_fetch_options *options = &queue->fetcher->options;
    refs_fetch_policy policy = options->policy;
    uint64_t rate = options->http != NULL ? refs_http__rate(options->http) : 0;
    uint64_t most = queue->is_ahead ? MAX_PREFETCHED_BYTES : options->max_remote_bytes;
    if (options->http == NULL || refs_fetcher_is_local(queue->fetcher, queue->ranges[0].location))
        return policy;
    if (queue->is_ahead && rate > 0 && rate / 1000 * PREFETCHED_REQUEST_MS < most)
        most = rate / 1000 * PREFETCHED_REQUEST_MS;
    if (most < MIN_PREFETCHED_BYTES) most = MIN_PREFETCHED_BYTES;
    if (most < policy.max_request_bytes) policy.max_request_bytes = most;
    return policy;
}

/* Whether another queue fetches some of these bytes. */
static bool is_coming(const void *user, uint32_t location_id, uint64_t begin, uint64_t end) {
    refs_fetcher *fetcher = ((const refs_queue *)user)->fetcher;
    REFS_LOCKED(&fetcher->lock);
    for (const refs_queue *other = fetcher->queues; other != NULL; other = other->next_queue)
        if (refs_fetch__plan_has(&other->plan, other->ranges, location_id, begin, end)) return true;
    return false;
}

static refs_status plan(refs_queue *queue, refs_error *err) {
    queue->policy = policy_of(queue);
    const refs_plan_input input = {.ranges = queue->ranges,
                                   .n = queue->n_ranges,
                                   .policy = queue->policy,
                                   .is_coming = is_coming,
                                   .user = queue};
    return refs_fetch__plan(&input, &queue->plan, err);
}

static void begin_plan(refs_queue *queue) {
    queue->phase = queue->fetcher->options.http != NULL ? REFS_QUEUE_HTTP : REFS_QUEUE_VFS;
    queue->next = 0;
    for (size_t i = 0; i < queue->n_ranges; i++) queue->by_vfs[i] = queue->phase == REFS_QUEUE_VFS;
}

/* Requests whole locations, each once, from servers that ignore ranges. */
static refs_status plan_again(refs_queue *queue, refs_error *err) {
    const refs_fetch_again *again = &queue->again;
    refs_plan planned;
    for (size_t i = 0; i < again->n; i++) {
        queue->offered[i] = queue->requests[again->indices[i]];
        queue->offered[i]->is_optional = false;
    }
    refs_range *ranges = refs_calloc(again->n, sizeof *ranges);
    if (ranges == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < again->n; i++) {
        ranges[i] = queue->ranges[again->indices[i]];
        ranges[i].need = REFS_RANGE_REQUIRED;
    }
    const refs_plan_input input = {
        .ranges = ranges, .n = again->n, .policy = queue->policy, .is_whole = true};
    const refs_status status = refs_fetch__plan(&input, &planned, err);
    if (status != REFS_OK) {
        refs_free(ranges);
        return status;
    }
    refs_lock(&queue->fetcher->lock); /* others look at the plan */
    refs_fetch__plan_clear(&queue->plan);
    refs_free(queue->ranges);
    queue->plan = planned;
    queue->ranges = ranges;
    queue->n_ranges = again->n;
    memcpy(queue->requests, queue->offered, again->n * sizeof(refs_request *));
    refs_unlock(&queue->fetcher->lock);
    queue->again.n = 0;
    queue->reading.begin = queue->reading.end = queue->reading.member = 0;
    begin_plan(queue);
    return REFS_OK;
}

/* -- opening ----------------------------------------------------------------------------------- */

static refs_range range_of(const refs_request *request) {
    const refs_ref *ref = &request->ref;
    const bool is_whole = ref->kind == REFS_REF_WHOLE;
    return (refs_range){.location_id = ref->location_id,
                        .location = ref->location,
                        .offset = is_whole ? 0 : ref->offset,
                        .length = is_whole ? REFS_FETCH_WHOLE : ref->length,
                        .max_length = is_whole ? request->max_size : 0,
                        .need = request->is_optional ? REFS_RANGE_OPTIONAL : REFS_RANGE_REQUIRED};
}

/* Divides the requests into ranges, inline values and absent ones. */
static void sort_requests(refs_queue *queue, refs_request *first) {
    refs_request **last_at_hand = &queue->at_hand;
    for (refs_request *request = first, *next; request != NULL; request = next) {
        next = request->next;
        request->next = NULL;
        if (request->is_present && request->ref.kind != REFS_REF_INLINE) {
            queue->ranges[queue->n_ranges] = range_of(request);
            queue->requests[queue->n_ranges++] = request;
        } else {
            *last_at_hand = request;
            last_at_hand = &request->next;
        }
        queue->is_ahead = queue->is_ahead || request->awaited != NULL;
    }
}

/* The memory budget: the bandwidth-delay product, up to twice the configured limit. */
static uint64_t memory_of(const refs_fetcher *fetcher) {
    uint64_t least = fetcher->options.max_memory_bytes > 0 ? fetcher->options.max_memory_bytes : 1;
    uint64_t wanted = refs_fetcher_bandwidth_delay(fetcher);
    if (wanted <= least) return least;
    return wanted / 2 < least ? wanted : 2 * least;
}

static void register_queue(refs_queue *queue) {
    REFS_LOCKED(&queue->fetcher->lock);
    queue->next_queue = queue->fetcher->queues;
    queue->fetcher->queues = queue;
}

static void unregister_queue(refs_queue *queue) {
    REFS_LOCKED(&queue->fetcher->lock);
    refs_queue **link = &queue->fetcher->queues;
    while (*link != NULL && *link != queue) link = &(*link)->next_queue;
    if (*link != NULL)
        *link = queue->next_queue; /* not found: opening failed, or a fork emptied the list */
}

static refs_status make_room(refs_queue *queue, size_t n, refs_error *err) {
    queue->requests = refs_calloc(n, sizeof(refs_request *));
    queue->offered = refs_calloc(n, sizeof(refs_request *));
    queue->ranges = refs_calloc(n, sizeof *queue->ranges);
    queue->by_vfs = refs_calloc(n, sizeof *queue->by_vfs);
    queue->dropped = refs_calloc(n, sizeof *queue->dropped);
    const bool is_complete = queue->requests != NULL && queue->offered != NULL &&
                             queue->ranges != NULL && queue->by_vfs != NULL &&
                             queue->dropped != NULL;
    return is_complete ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_queue_open(refs_fetcher *fetcher, refs_request *first, refs_queue **queue,
                            refs_error *err) {
    size_t n = 0;
    for (const refs_request *request = first; request != NULL; request = request->next) n++;
    refs_queue *opened = refs_calloc(1, sizeof *opened);
    *queue = NULL;
    if (opened == NULL) return refs_fail_nomem(err);
    opened->fetcher = fetcher;
    opened->failed = SIZE_MAX;
    opened->last_finished = &opened->finished;
    pthread_mutex_init(&opened->waiter.lock, NULL);
    refs_cond_init(&opened->waiter.moved);
    opened->waiter.max_memory = memory_of(fetcher);
    opened->waiter.thread = refs_fetch__this_thread();
    refs_status status = n > 0 ? make_room(opened, n, err) : REFS_OK;
    if (status == REFS_OK) sort_requests(opened, first);
    if (status == REFS_OK && opened->n_ranges > 0) status = plan(opened, err);
    if (status != REFS_OK) {
        refs_queue_close(opened);
        return status;
    }
    begin_plan(opened);
    register_queue(opened);
    *queue = opened;
    return REFS_OK;
}

static void release_finished(refs_queue *queue) {
    for (refs_request *request = queue->finished; request != NULL; request = request->next) {
        refs_block_release(request->block);
        request->block = NULL;
    }
    queue->finished = NULL;
    queue->last_finished = &queue->finished;
}

void refs_queue_close(refs_queue *queue) {
    if (queue == NULL) return;
    refs_fetch__cancel_http(queue);
    release_finished(queue);
    refs_fetch__close_vfs(queue);
    if (queue->reserved > 0) refs_waiter__give_back(&queue->waiter, (size_t)queue->reserved);
    refs_fetch__await_workers(queue);
    refs_fetch__clear_local(queue);
    unregister_queue(queue);
    pthread_cond_destroy(&queue->waiter.moved);
    pthread_mutex_destroy(&queue->waiter.lock);
    refs_fetch__plan_clear(&queue->plan);
    refs_free(queue->requests);
    refs_free(queue->offered);
    refs_free(queue->ranges);
    refs_free(queue->by_vfs);
    refs_free(queue->dropped);
    refs_free(queue->again.indices);
    refs_free(queue);
}

/* -- offered work ------------------------------------------------------------------------------ */

/* Lists the members of a transfer that are required or optional, and not dropped. */
static void list_members(const refs_queue *queue, size_t transfer, refs_range_need need,
                         refs_offer *list) {
    const refs_planned *planned = &queue->plan.requests[transfer];
    for (size_t i = 0; i < planned->n_members; i++) {
        const size_t index = queue->plan.members[planned->first_member + i];
        refs_request *request = queue->requests[index];
        const bool is_required = queue->ranges[index].need == REFS_RANGE_REQUIRED;
        if (is_required == (need == REFS_RANGE_REQUIRED) && !request->is_dropped &&
            !request->is_finished)
            queue->offered[list->n++] = request;
    }
}

static void give_back_reserved(refs_queue *queue) {
    refs_waiter__give_back(&queue->waiter, (size_t)queue->reserved);
    queue->reserved = 0;
}

/* Ends the phase when all transfers over HTTP have ended. */
static refs_status offer_http(refs_queue *queue, refs_offer *offer, refs_error *err) {
    bool is_http = false;
    while (refs_fetch__reserve_http(queue)) {
        REFS_TRY(refs_fetch__is_over_http(queue, &is_http, err));
        if (is_http) list_members(queue, queue->next, REFS_RANGE_REQUIRED, offer);
        if (offer->n > 0) return REFS_OK;
        give_back_reserved(queue);
        queue->next++;
    }
    if (queue->next == queue->plan.n_requests && queue->flights.n == 0) {
        queue->phase = REFS_QUEUE_VFS;
        queue->next = 0;
    }
    return REFS_OK;
}

/* Submits ranges that are read in one call together, after earlier ones were read. */
static void offer_vfs(refs_queue *queue, refs_offer *offer) {
    while (offer->n == 0 && queue->reading.begin == queue->reading.end &&
           queue->next < queue->plan.n_requests) {
        queue->n_offered = queue->by_vfs[queue->next] ? refs_fetch__count_vfs(queue) : 0;
        for (size_t i = 0; i < queue->n_offered; i++)
            list_members(queue, queue->next + i, REFS_RANGE_REQUIRED, offer);
        if (offer->n == 0) queue->next += queue->n_offered > 0 ? queue->n_offered : 1;
    }
}

static bool is_plan_done(const refs_queue *queue) {
    return queue->phase == REFS_QUEUE_VFS && queue->next == queue->plan.n_requests &&
           queue->reading.begin == queue->reading.end;
}

refs_status refs_queue_offer(refs_queue *queue, refs_offer *offer, refs_error *err) {
    *offer = (refs_offer){queue->offered, 0};
    REFS_TRY(refs_fetch__go_on(queue, err));
    if (queue->at_hand != NULL) {
        queue->offered[offer->n++] = queue->at_hand;
        return REFS_OK;
    }
    if (queue->finished != NULL) return REFS_OK; /* it holds memory */
    if (queue->phase == REFS_QUEUE_HTTP) REFS_TRY(offer_http(queue, offer, err));
    if (queue->phase == REFS_QUEUE_VFS) offer_vfs(queue, offer);
    if (offer->n > 0 || !is_plan_done(queue) || queue->again.n == 0) return REFS_OK;
    REFS_TRY(plan_again(queue, err));
    return offer_http(queue, offer, err);
}

/* Adds a finished request. */
static void finish(refs_queue *queue, refs_request *request) {
    request->is_finished = true;
    request->next = NULL;
    *queue->last_finished = request;
    queue->last_finished = &request->next;
}

static void submit_at_hand(refs_queue *queue) {
    refs_request *request = queue->at_hand;
    queue->at_hand = request->next;
    request->next = NULL;
    if (request->is_dropped) return;
    request->bytes = request->ref.bytes;
    request->block = refs_block_hold(request->ref.block);
    finish(queue, request);
}

/* Marks dropped members for the planner; false if all are dropped. */
static bool is_any_needed(refs_queue *queue, size_t transfer) {
    const refs_planned *planned = &queue->plan.requests[transfer];
    bool is_any = false;
    for (size_t i = 0; i < planned->n_members; i++) {
        const size_t index = queue->plan.members[planned->first_member + i];
        queue->dropped[index] = queue->requests[index]->is_dropped;
        is_any =
            is_any || (queue->ranges[index].need == REFS_RANGE_REQUIRED && !queue->dropped[index]);
    }
    return is_any;
}

/* Shrinks the next transfer to bytes that are still needed; a part that is no longer adjacent
 * becomes the transfer after it. False if none are needed. */
static bool narrow_next(refs_queue *queue) {
    uint64_t length = 0;
    const bool is_any = is_any_needed(queue, queue->next);
    if (is_any) {
        refs_lock(&queue->fetcher->lock); /* others look at the plan */
        refs_fetch__plan_narrow(&queue->plan, queue->next, queue->ranges, queue->dropped);
        refs_unlock(&queue->fetcher->lock);
        length = queue->plan.requests[queue->next].length;
    }
    if (length < queue->reserved) {
        refs_waiter__give_back(&queue->waiter, (size_t)(queue->reserved - length));
        queue->reserved = length;
    }
    return is_any;
}

/* Moves the needed transfers in [begin, end) to the end, and returns the first of them. Copies of
 * it fill the rest, so that the plan stays sorted for searching. */
static size_t move_needed(refs_queue *queue, size_t begin, size_t end) {
    refs_planned *transfers = queue->plan.requests;
    size_t first = end;
    for (size_t i = end; i-- > begin;)
        if (is_any_needed(queue, i)) transfers[--first] = transfers[i];
    for (size_t i = begin; i < first && first < end; i++) transfers[i] = transfers[first];
    return first;
}

static void submit_vfs(refs_queue *queue, refs_offer *along) {
    const size_t end = queue->next + queue->n_offered;
    refs_lock(&queue->fetcher->lock); /* others look at the plan */
    const size_t begin = move_needed(queue, queue->next, end);
    refs_unlock(&queue->fetcher->lock);
    queue->next = end;
    queue->reading.begin = begin;
    queue->reading.end = end;
    atomic_fetch_add(&queue->fetcher->requests, end - begin);
    for (size_t i = begin; i < end; i++) list_members(queue, i, REFS_RANGE_OPTIONAL, along);
}

refs_status refs_submit(refs_queue *queue, refs_offer *along, refs_error *err) {
    *along = (refs_offer){queue->offered, 0};
    if (queue->at_hand != NULL) {
        submit_at_hand(queue);
    } else if (queue->phase == REFS_QUEUE_VFS) {
        submit_vfs(queue, along);
    } else {
        const bool is_needed = narrow_next(queue);
        if (is_needed) REFS_TRY(refs_fetch__submit_http(queue, err));
        if (is_needed) list_members(queue, queue->next, REFS_RANGE_OPTIONAL, along);
        queue->next++;
    }
    return REFS_OK;
}

/* -- finished work ----------------------------------------------------------------------------- */

uint64_t refs_fetch__max_whole(const refs_queue *queue, const refs_planned *request) {
    uint64_t limit = queue->fetcher->options.max_whole_bytes, most = 0;
    for (size_t i = 0; i < request->n_members; i++) {
        const refs_range *range = &queue->ranges[queue->plan.members[request->first_member + i]];
        if (range->length != REFS_FETCH_WHOLE) continue;
        if (range->max_length == 0) return limit;
        if (range->max_length > most) most = range->max_length;
    }
    return most > 0 && most < limit ? most : limit;
}

const refs_range *refs_fetch__first_range(const refs_queue *queue, size_t request) {
    return &queue->ranges[queue->plan.members[queue->plan.requests[request].first_member]];
}

/* Checks the bytes of a required range, [begin, begin + length) of those that arrived. */
static refs_status check_range(const refs_queue *queue, size_t index, const refs_planned *request,
                               const refs_arrival *arrival, refs_error *err) {
    const refs_range *range = &queue->ranges[index];
    const uint64_t begin = range->offset - request->offset;
    const uint64_t length = range->length == REFS_FETCH_WHOLE ? arrival->got : range->length;
    if (range->length == REFS_FETCH_WHOLE && range->max_length > 0 && length > range->max_length)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                         (unsigned long long)length, (unsigned long long)range->max_length);
    if (begin > arrival->got || length > arrival->got - begin)
        return refs_fetch__fail_short(request->offset + arrival->got, range->offset, length, err);
    if (length == 0 && queue->rejects_empty) return refs_fail(err, REFS_CORRUPT, "it is empty");
    return refs_fetch__check_answered(queue, index, err);
}

refs_status refs_fetch__serve(refs_queue *queue, const refs_planned *request, refs_arrival *arrival,
                              refs_error *err) {
    bool whole = request->length == REFS_FETCH_WHOLE;
    bool complete = whole || arrival->got >= request->length;
    for (; arrival->served < request->n_members; arrival->served++) {
        size_t index = queue->plan.members[request->first_member + arrival->served];
        const refs_range *range = &queue->ranges[index];
        refs_request *served = queue->requests[index];
        if (served->is_dropped || served->is_finished) continue;
        uint64_t begin = range->offset - request->offset;
        uint64_t length = range->length == REFS_FETCH_WHOLE ? arrival->got : range->length;
        bool there = begin <= arrival->got && length <= arrival->got - begin;
        if (!there && !complete) return REFS_OK;
        const bool is_required = range->need == REFS_RANGE_REQUIRED;
        if (is_required) queue->failed = index;
        const refs_status status =
            check_range(queue, index, request, arrival, is_required ? err : NULL);
        if (status != REFS_OK && !is_required) continue;
        REFS_TRY(status);
        served->bytes = refs_bytes_view(arrival->bytes + begin, (size_t)length);
        served->block = refs_block_hold(arrival->block);
        finish(queue, served);
    }
    return REFS_OK;
}

refs_status refs_fetch__go_on(const refs_queue *queue, refs_error *err) {
    return atomic_load(&queue->fetcher->cancelled) ? refs_fail(err, REFS_CANCELLED, "cancelled")
                                                   : REFS_OK;
}

refs_status refs_next(refs_queue *queue, unsigned timeout_ms, refs_request **finished,
                      refs_error *err) {
    *finished = NULL;
    REFS_TRY(refs_fetch__go_on(queue, err));
    if (queue->finished == NULL) {
        if (queue->flights.n > 0)
            REFS_TRY(refs_fetch__next_http(queue, timeout_ms, err));
        else if (queue->reading.begin < queue->reading.end)
            REFS_TRY(refs_fetch__next_vfs(queue, timeout_ms, err));
        else if (!refs_queue_is_done(queue))
            refs_waiter__await_freed(&queue->waiter, timeout_ms);
    }
    *finished = queue->finished;
    queue->finished = NULL;
    queue->last_finished = &queue->finished;
    return REFS_OK;
}

bool refs_queue_is_done(const refs_queue *queue) {
    return queue->at_hand == NULL && queue->finished == NULL && queue->flights.n == 0 &&
           is_plan_done(queue) && queue->again.n == 0;
}

refs_request *refs_queue_failed(const refs_queue *queue) {
    return queue->failed < queue->n_ranges ? queue->requests[queue->failed] : NULL;
}

/* -- callers that need everything -------------------------------------------------------------- */

static refs_status submit_all(refs_queue *queue, refs_error *err) {
    refs_offer offer, along;
    REFS_TRY(refs_queue_offer(queue, &offer, err));
    while (offer.n > 0) {
        REFS_TRY(refs_submit(queue, &along, err));
        REFS_TRY(refs_queue_offer(queue, &offer, err));
    }
    return REFS_OK;
}

refs_status refs_queue_drain(refs_queue *queue, const refs_taker *taker, refs_request **failed,
                             refs_error *err) {
    refs_status status = REFS_OK;
    *failed = NULL;
    while (status == REFS_OK && !refs_queue_is_done(queue)) {
        refs_request *finished = NULL;
        status = submit_all(queue, err);
        if (status == REFS_OK) status = refs_next(queue, REFS_CANCEL_POLL_MS, &finished, err);
        if (status != REFS_OK) *failed = refs_queue_failed(queue);
        for (; finished != NULL; finished = finished->next) {
            if (status == REFS_OK && (status = taker->take(taker->user, finished, err)) != REFS_OK)
                *failed = finished;
            refs_block_release(finished->block);
            finished->block = NULL;
        }
        if (status == REFS_OK) status = refs_cancel_scope_check(err);
    }
    return status;
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* Makes requests for the ranges of a client. */
typedef struct ranges {
    refs_request *requests;
    const refs_fetch_client *client;
} ranges;

static refs_status take_range(void *user, refs_request *request, refs_error *err) {
    const ranges *all = user;
    return all->client->sink(all->client->user, (size_t)(request - all->requests), request->bytes,
                             request->block, err);
}

static void request_range(refs_request *request, const refs_range *range) {
    *request = (refs_request){.is_optional = range->need == REFS_RANGE_OPTIONAL,
                              .is_present = true,
                              .max_size = range->max_length};
    request->ref =
        (refs_ref){.kind = range->length == REFS_FETCH_WHOLE ? REFS_REF_WHOLE : REFS_REF_RANGE,
                   .location = range->location,
                   .location_id = range->location_id,
                   .offset = range->offset,
                   .length = range->length};
}

refs_status refs_fetch(refs_fetcher *fetcher, const refs_range *asked, size_t n,
                       const refs_fetch_client *client, refs_error *err) {
    ranges all = {refs_calloc(n, sizeof *all.requests), client};
    const refs_taker taker = {take_range, &all};
    refs_queue *queue = NULL;
    refs_request *failed;
    if (all.requests == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        request_range(&all.requests[i], &asked[i]);
        all.requests[i].awaited = client->awaited;
        if (i > 0) all.requests[i - 1].next = &all.requests[i];
    }
    refs_status status = refs_queue_open(fetcher, all.requests, &queue, err);
    if (status == REFS_OK) status = refs_queue_drain(queue, &taker, &failed, err);
    refs_queue_close(queue);
    refs_free(all.requests);
    return status;
}
