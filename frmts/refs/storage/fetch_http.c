/* fetch_http.c -- requests carried out by the HTTP engine, see fetch_internal.h.
 *
 * A member of a request is finished as soon as its last byte has arrived, so that workers decode it
 * while the rest is transferred. */
#include "fetch_internal.h"

#include "http/internal.h"
#include "refs/now.h"

/* A transfer in progress. A long request is divided over several connections; the transfer of its
 * first part (the lead) holds its state. */
typedef struct flight {
    refs_transfer transfer;
    const refs_planned *request;
    struct flight *lead;  /* may be this flight itself */
    uint64_t begin;       /* of the part, relative to the request */
    uint64_t length;      /* of the part, or REFS_FETCH_WHOLE */
    uint64_t seen;        /* bytes that were handled */
    bool identified;      /* its validators were compared */
    bool has_landed;      /* the part is complete; others may not be */
    bool is_dropped;      /* its request was cancelled, and its result is ignored */
    bool is_refused;      /* it has ended, and is to be signed again */
    unsigned n_refused;   /* refused signatures */
    uint64_t reserved;    /* for a whole location: passed to the transfer */
    refs_arrival arrival; /* lead: of the whole request */
    refs_block *block;    /* lead: the block that all parts fill; NULL for a whole location */
    struct flight *next;
} flight;

/* Limits the parts of very long ranges. */
#define MAX_PARTS 64

/* -- submitting -------------------------------------------------------------------------------- */

/* Makes the signed URL of a location. REFS_UNSUPPORTED without a message: only the vfs can read
 * it. */
static refs_status make_url(refs_queue *queue, const refs_range *range, refs_error *err) {
    const refs_http_provider *provider = refs_http__provider(queue->fetcher->options.http);
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    refs_free(queue->flights.url);
    queue->flights.url = NULL;
    queue->flights.id = range->location_id;
    queue->flights.url_ms = refs_now_ms();
    REFS_TRY(provider->url(provider->self, range->location, &url, err));
    return refs_buf_keep(&url, &queue->flights.url, err);
}

static bool is_url_known(const refs_queue *queue, const refs_range *range) {
    return queue->flights.url_ms > 0 && queue->flights.id == range->location_id &&
           refs_now_ms() - queue->flights.url_ms < REFS_HTTP_FRESH_MS;
}

static refs_status find_url(refs_queue *queue, const refs_range *range, refs_error *err) {
    if (!is_url_known(queue, range)) return make_url(queue, range, err);
    return queue->flights.url != NULL ? REFS_OK : REFS_UNSUPPORTED;
}

/* The location of a request. */
static const refs_range *place_of(const refs_queue *queue, const flight *asked) {
    return refs_fetch__first_range(queue, (size_t)(asked->request - queue->plan.requests));
}

/* Bytes to reserve before a request. A whole object is assumed to be as large as the largest one so
 * far, because objects of one call have similar sizes. */
static uint64_t bytes_of(const refs_queue *queue, const refs_planned *request) {
    if (request->length != REFS_FETCH_WHOLE) return request->length;
    const uint64_t most = refs_fetch__max_whole(queue, request);
    const uint64_t likely =
        queue->largest_whole > 0 ? queue->largest_whole : REFS_FIRST_WHOLE_BYTES;
    return most < likely ? most : likely;
}

static void note_whole(refs_queue *queue, uint64_t size) {
    if (size > queue->largest_whole) queue->largest_whole = size;
}

/* Prepares a flight for the current URL. */
static refs_status prepare(refs_queue *queue, flight *made, refs_error *err) {
    refs_transfer *transfer = &made->transfer;
    memset(transfer, 0, sizeof *transfer);
    made->seen = 0;
    transfer->location = place_of(queue, made)->location;
    transfer->url_ms = queue->flights.url_ms;
    transfer->kind = made->length == REFS_FETCH_WHOLE ? REFS_TRANSFER_WHOLE : REFS_TRANSFER_RANGE;
    transfer->offset = made->request->offset + made->begin;
    transfer->length = made->length;
    transfer->queue = queue;
    transfer->moved = queue->fetcher->options.advice.moved;
    transfer->members = queue->plan.members + made->request->first_member;
    transfer->n_members = made->request->n_members;
    transfer->waiter = &queue->waiter;
    if (transfer->kind == REFS_TRANSFER_RANGE) { /* all parts fill one block */
        transfer->block = refs_block_hold(made->lead->block);
        transfer->block_begin = made->begin;
    } else {
        transfer->max_size = refs_fetch__max_whole(queue, made->request);
        transfer->reserved = made->reserved;
        made->reserved = 0;
    }
    return refs_transfer__prepare(transfer, queue->fetcher->options.http, queue->flights.url, err);
}

static void free_flight(refs_queue *queue, flight *freed) {
    refs_transfer__clear(&freed->transfer);
    if (freed->reserved > 0) refs_waiter__give_back(&queue->waiter, (size_t)freed->reserved);
    refs_block_release(freed->block);
    refs_free(freed);
}

static void forget(refs_queue *queue, flight *forgotten) {
    flight **link = &queue->flights.first;
    while (*link != forgotten) link = &(*link)->next;
    *link = forgotten->next;
    queue->flights.n--;
    free_flight(queue, forgotten);
}

/* Appends a flight, which takes ownership of the content of `part`; NULL if memory ran out. */
static flight *add_flight(refs_queue *queue, const flight *part) {
    flight *added = refs_alloc(sizeof *added);
    if (added == NULL) {
        refs_block_release(part->block);
        if (part->reserved > 0) refs_waiter__give_back(&queue->waiter, (size_t)part->reserved);
        return NULL;
    }
    *added = *part;
    if (part->lead == NULL) added->lead = added;
    flight **last = &queue->flights.first;
    while (*last != NULL) last = &(*last)->next;
    *last = added;
    queue->flights.n++;
    return added;
}

/* The number of parts of a request, each at least as large as a merged request. One if memory does
 * not suffice for two requests, and for prefetching: it must yield to reads, and parts would have
 * arrived before that. */
static uint64_t n_parts(const refs_queue *queue, const refs_planned *request) {
    uint64_t part = queue->policy.max_request_bytes;
    if (request->length == REFS_FETCH_WHOLE || part == 0 || request->length / part < 2 ||
        queue->waiter.max_memory < part || queue->is_ahead)
        return 1;
    return request->length / part < MAX_PARTS ? request->length / part : MAX_PARTS;
}

static refs_status note_again(refs_queue *queue, const refs_planned *request, size_t n_served,
                              refs_error *err) {
    for (size_t i = n_served; i < request->n_members; i++) {
        refs_fetch_again *again = &queue->again;
        if (queue->requests[queue->plan.members[request->first_member + i]]->is_dropped) continue;
        REFS_GROW(again->indices, again->capacity, again->n, err);
        again->indices[again->n++] = queue->plan.members[request->first_member + i];
    }
    return REFS_OK;
}

/* Serves a location whose server ignores ranges, from the kept object or by a later request for all
 * of it. */
static refs_status submit_rangeless(refs_queue *queue, size_t request, refs_error *err) {
    const refs_planned *planned = &queue->plan.requests[request];
    uint32_t id = refs_fetch__first_range(queue, request)->location_id;
    uint64_t n_bytes = 0;
    refs_block *whole = refs_fetch__kept_whole(queue->fetcher, id, &n_bytes);
    refs_waiter__give_back(&queue->waiter, (size_t)queue->reserved);
    queue->reserved = 0;
    if (whole == NULL) return note_again(queue, planned, 0, err);
    refs_arrival arrival = {whole, refs_block_data(whole), n_bytes, 0};
    refs_planned all = *planned;
    all.offset = 0;
    all.length = n_bytes;
    refs_status status = refs_fetch__serve(queue, &all, &arrival, err);
    refs_block_release(whole);
    return status;
}

/* Reserves memory for an answer that waits for it; false if there is not enough. */
static bool let_come(refs_queue *queue, flight *asked) {
    refs_waiter *waiter = &queue->waiter;
    refs_transfer *transfer = &asked->transfer;
    refs_lock(&waiter->lock);
    const uint64_t needs = transfer->needs;
    refs_unlock(&waiter->lock);
    if (needs == 0) return true;
    note_whole(queue, needs);
    if (!refs_waiter__reserve(waiter, 0, needs)) return false;
    refs_lock(&waiter->lock);
    const bool is_needed = transfer->needs == needs; /* otherwise the attempt has ended */
    if (is_needed) transfer->reserved = needs;
    if (is_needed) transfer->needs = 0;
    refs_unlock(&waiter->lock);
    if (!is_needed) refs_waiter__give_back(waiter, (size_t)needs);
    refs_http__wake(queue->fetcher->options.http);
    return true;
}

/* Reserves memory for all answers that wait for it, the oldest first; false if there is not
 * enough. */
static bool let_all_come(refs_queue *queue) {
    for (flight *asked = queue->flights.first; asked != NULL; asked = asked->next)
        if (asked->length == REFS_FETCH_WHOLE && !asked->has_landed && !let_come(queue, asked))
            return false;
    return true;
}

refs_status refs_fetch__is_over_http(refs_queue *queue, bool *is_http, refs_error *err) {
    queue->failed = queue->plan.members[queue->plan.requests[queue->next].first_member];
    refs_status status = find_url(queue, refs_fetch__first_range(queue, queue->next), err);
    *is_http = status == REFS_OK;
    queue->by_vfs[queue->next] = status == REFS_UNSUPPORTED;
    if (*is_http) atomic_store(&queue->fetcher->asked_http, true);
    return status == REFS_UNSUPPORTED ? REFS_OK : status;
}

/* Submits twice as many as can be in flight, so that the engine never waits for this thread. */
static size_t max_flights(const refs_queue *queue) {
    const refs_http_options *options = refs_http__options(queue->fetcher->options.http);
    return 2 * (size_t)(options->grow_to > options->max_in_flight ? options->grow_to
                                                                  : options->max_in_flight);
}

/* Whether the URL of a location may take long. Requested ranges are taken first, because other
 * readers may wait for them. */
static bool waits_for_url(const refs_queue *queue, const refs_range *range) {
    const refs_http_provider *provider = refs_http__provider(queue->fetcher->options.http);
    return provider->waits_for_url != NULL &&
           provider->waits_for_url(provider->self, range->location);
}

/* Whether to take what has been requested before the next request. */
static bool must_land_first(const refs_queue *queue) {
    const refs_range *next = refs_fetch__first_range(queue, queue->next);
    for (const flight *asked = queue->flights.first; asked != NULL; asked = asked->next)
        if (asked->is_refused) return true;
    return queue->flights.n > 0 && !is_url_known(queue, next) && waits_for_url(queue, next);
}

bool refs_fetch__reserve_http(refs_queue *queue) {
    if (!let_all_come(queue) || queue->next == queue->plan.n_requests ||
        queue->flights.n >= max_flights(queue) || must_land_first(queue))
        return false;
    const uint64_t bytes = bytes_of(queue, &queue->plan.requests[queue->next]);
    const bool has_room = refs_waiter__reserve(&queue->waiter, 0, bytes);
    if (has_room) queue->reserved = bytes;
    return has_room;
}

/* Opens the first part of a request. It takes over the reserved bytes: for a whole location they
 * pass to the transfer, otherwise to a block. */
static refs_status open_first(refs_queue *queue, const refs_planned *request, flight *first,
                              refs_error *err) {
    const uint64_t reserved = queue->reserved;
    *first = (flight){.request = request};
    queue->reserved = 0;
    if (request->length != REFS_FETCH_WHOLE)
        return refs_fetch__new_block(queue, reserved, &first->block, err);
    first->reserved = reserved;
    return REFS_OK;
}

refs_status refs_fetch__submit_http(refs_queue *queue, refs_error *err) {
    const refs_planned *request = &queue->plan.requests[queue->next];
    refs_http *http = queue->fetcher->options.http;
    const uint64_t n = n_parts(queue, request);
    flight part;
    queue->failed = queue->plan.members[request->first_member];
    if (request->length != REFS_FETCH_WHOLE &&
        refs_fetch__is_rangeless(queue->fetcher,
                                 refs_fetch__first_range(queue, queue->next)->location_id))
        return submit_rangeless(queue, queue->next, err);
    REFS_TRY(open_first(queue, request, &part, err));
    for (uint64_t i = 1; i <= n; i++) {
        part.length = (i < n ? request->length / n * i : request->length) - part.begin;
        flight *added = add_flight(queue, &part);
        if (added == NULL) return refs_fail_nomem(err);
        refs_status status = prepare(queue, added, err);
        if (status == REFS_OK) status = refs_http__submit(http, &added->transfer, err);
        if (status != REFS_OK) {
            forget(queue, added);
            return status;
        }
        part = (flight){.request = request, .lead = added->lead, .begin = part.begin + part.length};
    }
    return REFS_OK;
}

/* -- serving ----------------------------------------------------------------------------------- */

/* Compares the validators of an answer with earlier ones before its first byte is used. */
static refs_status check_validators(refs_queue *queue, flight *asked, refs_error *err) {
    if (asked->identified) return REFS_OK;
    asked->identified = true;
    return refs_fetch__check_validators(queue->fetcher, place_of(queue, asked),
                                        &asked->transfer.validators, err);
}

/* Bytes that arrived without a gap from the beginning of the request. */
static uint64_t bytes_in_front(const flight *lead) {
    uint64_t got = 0;
    for (const flight *part = lead; part != NULL; part = part->next) {
        if (part->lead != lead) continue;
        got += part->seen;
        if (part->seen < part->length) break;
    }
    return got;
}

static refs_status serve(refs_queue *queue, flight *served, uint64_t got, refs_error *err) {
    refs_transfer *transfer = &served->transfer;
    flight *lead = served->lead;
    if (got == 0 && transfer->block == NULL) return REFS_OK;
    served->seen = got;
    lead->arrival.block = transfer->block;
    lead->arrival.bytes = refs_block_data(transfer->block);
    lead->arrival.got = bytes_in_front(lead);
    queue->failed = queue->plan.members[served->request->first_member];
    REFS_TRY(check_validators(queue, served, err));
    return refs_fetch__serve(queue, served->request, &lead->arrival, err);
}

/* Cancels all other parts of a request. */
static void drop_others(refs_queue *queue, const flight *kept) {
    for (flight *part = queue->flights.first; part != NULL; part = part->next) {
        if (part->lead != kept->lead || part == kept) continue;
        part->is_dropped = true;
        atomic_store(&part->transfer.cancelled, true);
    }
    refs_http__wake(queue->fetcher->options.http);
}

/* Signs a refused request again: its signature may have expired, or be for another region. If the
 * URL cannot be signed here, the vfs reads it. A request that was stale before it was sent may use
 * a URL that was signed meanwhile. *over_http: it was submitted again. */
static refs_status sign_again(refs_queue *queue, flight *landed, bool *over_http, refs_error *err) {
    size_t request = (size_t)(landed->request - queue->plan.requests);
    queue->failed = queue->plan.members[landed->request->first_member];
    const bool is_stale = landed->transfer.is_stale;
    landed->reserved = landed->transfer.reserved;
    landed->transfer.reserved = 0;
    refs_transfer__clear(&landed->transfer);
    refs_status status = is_stale ? find_url(queue, place_of(queue, landed), err)
                                  : make_url(queue, place_of(queue, landed), err);
    *over_http = status != REFS_UNSUPPORTED;
    if (!*over_http) {
        queue->by_vfs[request] = true;
        drop_others(queue, landed);
        return REFS_OK;
    }
    if (status == REFS_OK) status = prepare(queue, landed, err);
    if (status == REFS_OK)
        status = refs_http__submit(queue->fetcher->options.http, &landed->transfer, err);
    if (status != REFS_OK) landed->transfer.done = true; /* the engine will not finish it */
    return status;
}

/* Whether a finished request should be signed again. */
static bool may_sign_again(flight *landed) {
    const refs_transfer *transfer = &landed->transfer;
    if (transfer->is_stale || landed->is_refused) return true;
    if (landed->lead->arrival.served > 0 || !refs_transfer__is_signature_refused(transfer))
        return false;
    return refs_transfer__report_answer(transfer, ++landed->n_refused);
}

/* Handles a finished transfer: serves its members or fails. */
static refs_status land(refs_queue *queue, flight *landed, refs_error *err) {
    refs_transfer *transfer = &landed->transfer;
    uint32_t id = place_of(queue, landed)->location_id;
    size_t member = landed->lead->arrival.served;
    landed->has_landed = true;
    if (transfer->ranges_ignored) {
        refs_fetch__note_rangeless(queue->fetcher, id);
        drop_others(queue, landed);
        return note_again(queue, landed->request, member, err);
    }
    if (member == landed->request->n_members) member--;
    queue->failed = queue->plan.members[landed->request->first_member + member];
    if (transfer->error.status != REFS_OK)
        return refs_fail(err, transfer->error.status, "%s", transfer->error.message);
    if (landed->n_refused == 0) (void)refs_transfer__report_answer(transfer, 0);
    uint64_t got = atomic_load(&transfer->got);
    /* Read once, because another thread may set it: a block whose memory is released with it must
     * not be kept. */
    const bool is_rangeless = refs_fetch__is_rangeless(queue->fetcher, id);
    if (transfer->kind == REFS_TRANSFER_WHOLE) note_whole(queue, got);
    if (transfer->reserved > 0 && transfer->block != NULL && !is_rangeless) {
        (void)refs_waiter__reserve(&queue->waiter, transfer->reserved,
                                   refs_block_size(transfer->block));
        transfer->reserved = 0; /* released with the block */
        refs_block_on_free(transfer->block, refs_waiter__give_back, &queue->waiter);
    }
    REFS_TRY(serve(queue, landed, got, err));
    if (is_rangeless && transfer->kind == REFS_TRANSFER_WHOLE)
        refs_fetch__keep_whole(queue->fetcher, id, transfer->block, got);
    return REFS_OK;
}

/* Requests an object again later, because it needs more memory than is free now. */
static refs_status note_postponed(refs_queue *queue, flight *landed, refs_error *err) {
    note_whole(queue, landed->transfer.postponed);
    const refs_status status = note_again(queue, landed->request, 0, err);
    forget(queue, landed);
    return status;
}

/* Whether anything is under way that ends without memory that this queue holds. Requires the
 * waiter's lock. */
static bool is_any_coming(const refs_queue *queue) {
    for (const flight *asked = queue->flights.first; asked != NULL; asked = asked->next)
        if (!asked->has_landed && !asked->is_refused && asked->transfer.needs == 0) return true;
    return false;
}

/* Whether a refused request is to wait until what is under way has been taken. */
static bool must_wait(refs_queue *queue, flight *refused) {
    const bool waits = waits_for_url(queue, place_of(queue, refused));
    refused->is_refused = true; /* so that it does not wait for itself */
    REFS_LOCKED(&queue->waiter.lock);
    refused->is_refused = waits && is_any_coming(queue);
    return refused->is_refused;
}

static void count(const refs_queue *queue, const flight *landed) {
    if (landed->has_landed || landed->is_refused) return; /* it was counted */
    atomic_fetch_add(&queue->fetcher->requests, landed->transfer.n_requests);
    atomic_fetch_add(&queue->fetcher->bytes, landed->transfer.n_bytes);
}

/* Removes a request whose parts have all arrived. */
static void forget_complete(refs_queue *queue, const flight *lead) {
    for (const flight *part = queue->flights.first; part != NULL; part = part->next)
        if (part->lead == lead && !part->has_landed) return;
    for (flight *part = queue->flights.first, *next; part != NULL; part = next) {
        next = part->next;
        if (part->lead == lead) forget(queue, part);
    }
}

static bool is_done(refs_queue *queue, const flight *asked) {
    REFS_LOCKED(&queue->waiter.lock);
    return asked->transfer.done;
}

/* The number of bytes that arrived, or 0 if none are new; a whole location may still move in
 * memory, so it counts as 0. */
static uint64_t fresh_bytes(const flight *asked) {
    if (asked->transfer.kind == REFS_TRANSFER_WHOLE) return 0;
    uint64_t got = atomic_load(&asked->transfer.got);
    return got > asked->seen ? got : 0;
}

/* Whether the flight needs no action now. */
static bool is_idle(const flight *asked) {
    return asked->has_landed && !asked->is_dropped;
}

/* Handles a finished transfer; *is_forgotten: flights were removed from the list. */
static refs_status take_done(refs_queue *queue, flight *done, bool *is_forgotten, refs_error *err) {
    *is_forgotten = false;
    count(queue, done);
    if (done->is_dropped) {
        *is_forgotten = true;
        forget(queue, done);
        return REFS_OK;
    }
    if (done->transfer.postponed > 0) {
        *is_forgotten = true;
        return note_postponed(queue, done, err);
    }
    if (may_sign_again(done)) {
        bool over_http;
        if (must_wait(queue, done)) return REFS_OK;
        refs_status status = sign_again(queue, done, &over_http, err);
        *is_forgotten = status == REFS_OK && !over_http;
        if (*is_forgotten) forget(queue, done);
        return status;
    }
    const bool is_given_up = done->transfer.ranges_ignored;
    REFS_TRY(land(queue, done, err));
    *is_forgotten = true;
    if (is_given_up)
        forget(queue, done);
    else
        forget_complete(queue, done->lead);
    return REFS_OK;
}

static refs_status serve_all(refs_queue *queue, refs_error *err) {
    for (flight *asked = queue->flights.first, *next; asked != NULL; asked = next) {
        next = asked->next;
        if (is_idle(asked)) continue;
        if (is_done(queue, asked)) {
            bool is_forgotten;
            REFS_TRY(take_done(queue, asked, &is_forgotten, err));
            if (is_forgotten) next = queue->flights.first; /* the list has changed: begin again */
        } else if (!asked->is_dropped && fresh_bytes(asked) > 0) {
            REFS_TRY(serve(queue, asked, fresh_bytes(asked), err));
        }
    }
    return REFS_OK;
}

/* -- the queue's calls ------------------------------------------------------------------------- */

/* Whether anything has arrived since serve_all. Requires the waiter's lock. */
static bool anything_new(const refs_queue *queue) {
    const bool is_coming = is_any_coming(queue);
    for (const flight *asked = queue->flights.first; asked != NULL; asked = asked->next)
        if (!is_idle(asked) && !(asked->is_refused && is_coming) &&
            (asked->transfer.done || fresh_bytes(asked) >= asked->seen + 64 * REFS_KIB))
            return true;
    return false;
}

static void wait_for_bytes(refs_queue *queue, unsigned timeout_ms) {
    refs_waiter *waiter = &queue->waiter;
    REFS_LOCKED(&waiter->lock);
    if (!anything_new(queue) && !waiter->has_freed && !atomic_load(&queue->fetcher->cancelled))
        (void)refs_wait_ms(&waiter->moved, &waiter->lock, timeout_ms);
    waiter->has_freed = false;
}

refs_status refs_fetch__next_http(refs_queue *queue, unsigned timeout_ms, refs_error *err) {
    wait_for_bytes(queue, timeout_ms);
    REFS_TRY(refs_fetch__go_on(queue, err));
    return serve_all(queue, err);
}

void refs_fetch__cancel_http(refs_queue *queue) {
    for (flight *asked = queue->flights.first; asked != NULL; asked = asked->next)
        atomic_store(&asked->transfer.cancelled, true);
    if (queue->flights.first != NULL) refs_http__wake(queue->fetcher->options.http);
    while (queue->flights.first != NULL) {
        flight *first = queue->flights.first;
        refs_lock(&queue->waiter.lock);
        while (!first->transfer.done) refs_wait(&queue->waiter.moved, &queue->waiter.lock);
        refs_unlock(&queue->waiter.lock);
        count(queue, first);
        forget(queue, first);
    }
    refs_free(queue->flights.url);
    queue->flights.url = NULL;
}
