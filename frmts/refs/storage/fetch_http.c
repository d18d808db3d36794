/* fetch_http.c -- requests carried out by the HTTP engine, see fetch_internal.h.
 *
 * Requests are submitted as memory and the number in flight allow, and members of a request are
 * handed over as soon as their last byte is there: workers decode while the rest is on its way. */
#include "fetch_internal.h"

#include "http/internal.h"
#include "refs/now.h"

/* A transfer under way, for a request or, where that is long, for a part of it: several connections
 * carry more than one. The state of the request is in the flight of its first part, the lead. */
typedef struct flight {
    refs_transfer transfer;
    const refs_request *request;
    struct flight *lead;  /* perhaps itself */
    uint64_t begin;       /* of the part, in bytes of the request */
    uint64_t length;      /* of the part, or REFS_FETCH_WHOLE */
    uint64_t seen;        /* bytes that were looked at */
    bool identified;      /* its answer was compared with earlier ones */
    bool has_landed;      /* all of it is there; other parts are not */
    bool is_dropped;      /* its request is given up: nobody looks at it any more */
    unsigned n_refused;   /* signatures */
    uint64_t awaits;      /* bytes of memory for which it was put off; 0: it is under way */
    uint64_t reserved;    /* whole: for the transfer, which takes them over */
    refs_arrival arrival; /* lead: of the request */
    refs_block *block;    /* lead: that all parts fill, or NULL for a whole location */
    struct flight *next;
} flight;

typedef struct flights {
    refs_fetch_job *job;
    refs_http *http;
    bool *by_vfs;    /* for each request */
    char *url;       /* of the last location that was asked for, or NULL */
    uint32_t id;     /* ... which this is */
    uint64_t url_ms; /* ... when it was made: signatures expire */
    size_t next;     /* request to look at next */
    flight *first;   /* under way, oldest first */
    size_t n;
    refs_fetch_again *again;
} flights;

/* The parts of very long ranges are longer than others. */
#define MAX_PARTS 64

/* -- submitting -------------------------------------------------------------------------------- */

/* Makes the URL of a location, signed as it is needed. REFS_UNSUPPORTED without a message: it is to
 * be had by the vfs alone. */
static refs_status make_url(flights *self, const refs_range *range, refs_error *err) {
    const refs_http_host *host = refs_http__host(self->http);
    refs_buf url = REFS_BUF_INIT;
    refs_free(self->url);
    self->url = NULL;
    self->id = range->location_id;
    self->url_ms = refs_now_ms();
    refs_status status = host->url(host->self, range->location, &url, err);
    if (status == REFS_OK && (self->url = refs_buf_take_text(&url)) == NULL)
        status = refs_fail_nomem(err);
    refs_buf_clear(&url);
    return status;
}

static refs_status find_url(flights *self, const refs_range *range, refs_error *err) {
    bool is_known = self->url_ms > 0 && self->id == range->location_id &&
                    refs_now_ms() - self->url_ms < REFS_HTTP_FRESH_MS;
    if (!is_known) return make_url(self, range, err);
    return self->url != NULL ? REFS_OK : REFS_UNSUPPORTED;
}

/* The location of a request. */
static const refs_range *place_of(const flights *self, const flight *asked) {
    return refs_fetch__first_range(self->job, (size_t)(asked->request - self->job->plan->requests));
}

/* Members are decoded while others arrive: what was decoded need not stay. */
static void split_block(const refs_fetch_job *job, const refs_request *request, refs_block *block) {
    size_t *begins = refs_calloc(request->n_members, sizeof *begins);
    if (begins == NULL) return;
    for (size_t i = 0; i < request->n_members; i++) {
        size_t member = job->plan->members[request->first_member + i];
        begins[i] = (size_t)(job->ranges[member].offset - request->offset);
    }
    refs_block_split(block, begins, request->n_members);
}

/* Bytes that are reserved for a request before it is made. Whole objects of one call are mostly
 * alike: each is taken to be as large as the largest so far. */
static uint64_t bytes_of(const flights *self, const refs_request *request) {
    if (request->length != REFS_FETCH_WHOLE) return request->length;
    const uint64_t most = refs_fetch__max_whole(self->job, request);
    const uint64_t likely =
        self->job->largest_whole > 0 ? self->job->largest_whole : REFS_FIRST_WHOLE_BYTES;
    return most < likely ? most : likely;
}

static void note_whole(refs_fetch_job *job, uint64_t size) {
    if (size > job->largest_whole) job->largest_whole = size;
}

static refs_status prepare(flights *self, flight *made, const char *url, refs_error *err) {
    refs_fetch_job *job = self->job;
    refs_transfer *transfer = &made->transfer;
    memset(transfer, 0, sizeof *transfer);
    made->seen = 0;
    transfer->location = place_of(self, made)->location;
    transfer->url_ms = self->url_ms;
    transfer->kind = made->length == REFS_FETCH_WHOLE ? REFS_TRANSFER_WHOLE : REFS_TRANSFER_RANGE;
    transfer->offset = made->request->offset + made->begin;
    transfer->length = made->length;
    transfer->client = job->client;
    transfer->moved = job->fetcher->options.advice.moved;
    transfer->members = job->plan->members + made->request->first_member;
    transfer->n_members = made->request->n_members;
    transfer->waiter = &job->waiter;
    if (transfer->kind == REFS_TRANSFER_RANGE) { /* all parts fill one block */
        transfer->block = refs_block_hold(made->lead->block);
        transfer->block_begin = made->begin;
    } else {
        transfer->max_size = refs_fetch__max_whole(job, made->request);
        transfer->reserved = made->reserved;
        made->reserved = 0;
    }
    made->awaits = 0;
    REFS_TRY(refs_transfer__prepare(transfer, self->http, url, err));
    return refs_http__submit(self->http, transfer, err);
}

static void free_flight(flights *self, flight *freed) {
    refs_transfer__clear(&freed->transfer);
    if (freed->reserved > 0) refs_waiter__give_back(&self->job->waiter, (size_t)freed->reserved);
    refs_block_release(freed->block);
    refs_free(freed);
}

/* Submits a part of a request, whose flight is put behind all others. `lead` is of its first part,
 * or NULL: that one holds the block of `part`, or what is reserved by it. */
static refs_status submit_part(flights *self, const flight *part, flight *lead, flight **made,
                               refs_error *err) {
    flight *submitted = refs_calloc(1, sizeof *submitted);
    if (submitted == NULL) {
        if (part->reserved > 0) refs_waiter__give_back(&self->job->waiter, (size_t)part->reserved);
        return refs_fail_nomem(err);
    }
    *submitted = *part;
    submitted->lead = lead != NULL ? lead : submitted;
    submitted->block = lead == NULL ? refs_block_hold(part->block) : NULL;
    refs_status status = prepare(self, submitted, self->url, err);
    if (status != REFS_OK) {
        free_flight(self, submitted);
        return status;
    }
    flight **last = &self->first;
    while (*last != NULL) last = &(*last)->next;
    *last = submitted;
    self->n++;
    *made = submitted;
    return REFS_OK;
}

/* How many parts a request has: none is smaller than what ranges are merged to, and there is one
 * where there is no memory for two requests at a time, and of what is prefetched: that is to leave
 * the line to others, and parts would be there before it does. */
static uint64_t n_parts(const flights *self, const refs_request *request) {
    uint64_t part = self->job->policy.max_request_bytes;
    if (request->length == REFS_FETCH_WHOLE || part == 0 || request->length / part < 2 ||
        self->job->waiter.max_memory < part || self->job->client->is_awaited != NULL)
        return 1;
    return request->length / part < MAX_PARTS ? request->length / part : MAX_PARTS;
}

static refs_status submit_parts(flights *self, const flight *all, refs_error *err) {
    const refs_request *request = all->request;
    const uint64_t n = n_parts(self, request);
    flight *lead = NULL, *made = NULL;
    for (uint64_t i = 0, begin = 0; i < n; i++) {
        uint64_t end = i + 1 < n ? request->length / n * (i + 1) : request->length;
        flight part = *all;
        part.begin = begin;
        part.length = end - begin;
        REFS_TRY(submit_part(self, &part, lead, &made, err));
        if (lead == NULL) lead = made;
        begin = end;
    }
    return REFS_OK;
}

/* Takes over `reserved` bytes. */
static refs_status submit(flights *self, const refs_request *request, uint64_t reserved,
                          refs_error *err) {
    flight all = {.request = request};
    self->job->failed = self->job->plan->members[request->first_member];
    if (request->length == REFS_FETCH_WHOLE) {
        all.reserved = reserved;
    } else {
        REFS_TRY(refs_fetch__new_block(self->job, reserved, &all.block, err));
        split_block(self->job, request, all.block);
    }
    const refs_status status = submit_parts(self, &all, err);
    refs_block_release(all.block);
    return status;
}

static refs_status note_again(flights *self, const refs_request *request, size_t n_served,
                              refs_error *err) {
    for (size_t i = n_served; i < request->n_members; i++) {
        refs_fetch_again *again = self->again;
        if (refs_fetch__is_dropped(self->job, self->job->plan->members[request->first_member + i]))
            continue;
        if (!refs_grow((void **)&again->indices, &again->capacity, again->n,
                       sizeof *again->indices))
            return refs_fail_nomem(err);
        again->indices[again->n++] = self->job->plan->members[request->first_member + i];
    }
    return REFS_OK;
}

/* For a location that is only to be had whole: from what was kept of it, or to be requested again
 * as a whole. */
static refs_status submit_rangeless(flights *self, size_t request, refs_error *err) {
    const refs_request *planned = &self->job->plan->requests[request];
    uint32_t id = refs_fetch__first_range(self->job, request)->location_id;
    uint64_t n_bytes = 0;
    refs_block *whole = refs_fetch__kept_whole(self->job->fetcher, id, &n_bytes);
    if (whole == NULL) return note_again(self, planned, 0, err);
    refs_arrival arrival = {whole, refs_block_data(whole), n_bytes, 0};
    refs_request all = *planned;
    all.offset = 0;
    all.length = n_bytes;
    refs_status status = refs_fetch__serve(self->job, &all, &arrival, err);
    refs_block_release(whole);
    return status;
}

/* Sends one again that was put off, once there is memory for it. */
static refs_status send_again(flights *self, flight *asked, bool *is_sent, refs_error *err) {
    *is_sent = refs_waiter__reserve(&self->job->waiter, 0, asked->awaits);
    if (!*is_sent) return REFS_OK;
    asked->reserved = asked->awaits;
    refs_status status = find_url(self, place_of(self, asked), err);
    if (status == REFS_OK) status = prepare(self, asked, self->url, err);
    if (status != REFS_OK) asked->transfer.done = true; /* nobody else ever would */
    return status;
}

/* Reserves what an answer needs whose body is held back; false where there is no memory for it. */
static bool let_come(flights *self, flight *asked) {
    refs_waiter *waiter = &self->job->waiter;
    refs_transfer *transfer = &asked->transfer;
    refs_lock(&waiter->lock);
    const uint64_t needs = transfer->needs;
    refs_unlock(&waiter->lock);
    if (needs == 0) return true;
    note_whole(self->job, needs);
    if (!refs_waiter__reserve(waiter, 0, needs)) return false;
    refs_lock(&waiter->lock);
    const bool is_needed = transfer->needs == needs; /* else the attempt ended meanwhile */
    if (is_needed) transfer->reserved = needs;
    if (is_needed) transfer->needs = 0;
    refs_unlock(&waiter->lock);
    if (!is_needed) refs_waiter__give_back(waiter, (size_t)needs);
    refs_http__wake(self->http);
    return true;
}

/* Those that were asked for come before others, the oldest first. *any_left tells whether there is
 * no memory for some of them. */
static refs_status go_on_with_asked(flights *self, bool *any_left, refs_error *err) {
    *any_left = false;
    for (flight *asked = self->first; asked != NULL && !*any_left; asked = asked->next) {
        bool is_sent = true;
        if (asked->awaits > 0)
            REFS_TRY(send_again(self, asked, &is_sent, err));
        else if (asked->length == REFS_FETCH_WHOLE && !asked->has_landed)
            is_sent = let_come(self, asked);
        *any_left = !is_sent;
    }
    return REFS_OK;
}

static refs_status is_over_http(flights *self, const refs_range *range, bool *is_http,
                                refs_error *err) {
    refs_status status = find_url(self, range, err);
    *is_http = status == REFS_OK;
    self->by_vfs[self->next] = status == REFS_UNSUPPORTED;
    if (*is_http) atomic_store(&self->job->fetcher->asked_http, true);
    return status == REFS_UNSUPPORTED ? REFS_OK : status;
}

/* Takes over `reserved` bytes for the next request, or gives them back. */
static refs_status submit_next(flights *self, uint64_t reserved, refs_error *err) {
    refs_fetch_job *job = self->job;
    const refs_request *request = &job->plan->requests[self->next];
    const refs_range *range = refs_fetch__first_range(job, self->next);
    bool is_http = false;
    job->failed = job->plan->members[request->first_member];
    refs_status status = is_over_http(self, range, &is_http, err);
    if (status == REFS_OK && is_http)
        status = refs_fetch__begin_narrowed(job, self->next, &is_http, err);
    const bool is_rangeless = request->length != REFS_FETCH_WHOLE &&
                              refs_fetch__is_rangeless(job->fetcher, range->location_id);
    if (request->length < reserved) { /* it was narrowed */
        refs_waiter__give_back(&job->waiter, (size_t)(reserved - request->length));
        reserved = request->length;
    }
    if (status == REFS_OK && is_http && !is_rangeless) return submit(self, request, reserved, err);
    refs_waiter__give_back(&job->waiter, (size_t)reserved);
    return status == REFS_OK && is_http ? submit_rangeless(self, self->next, err) : status;
}

/* Twice as many as are in flight are submitted, so that the engine never waits for this thread.
 * Memory is reserved before anything is made of a request, and never waited for: what comes
 * meanwhile may be what gives it back. */
static refs_status submit_more(flights *self, refs_error *err) {
    const refs_plan *plan = self->job->plan;
    bool any_left;
    REFS_TRY(go_on_with_asked(self, &any_left, err));
    if (any_left) return REFS_OK;
    const refs_http_options *options = refs_http__options(self->http);
    size_t most = 2 * (size_t)(options->grow_to > options->max_in_flight ? options->grow_to
                                                                         : options->max_in_flight);
    for (; self->next < plan->n_requests && self->n < most; self->next++) {
        const uint64_t bytes = bytes_of(self, &plan->requests[self->next]);
        if (!refs_waiter__reserve(&self->job->waiter, 0, bytes)) break;
        REFS_TRY(submit_next(self, bytes, err));
    }
    return REFS_OK;
}

/* -- serving ----------------------------------------------------------------------------------- */

/* Before the first byte of an answer is handed over, it must be known to be of the same state of
 * the object as what came before. */
static refs_status check_validators(flights *self, flight *asked, refs_error *err) {
    if (asked->identified) return REFS_OK;
    asked->identified = true;
    return refs_fetch__check_validators(self->job->fetcher, place_of(self, asked),
                                        &asked->transfer.validators, err);
}

/* Bytes of a request that are there, up to the first that is not. */
static uint64_t bytes_in_front(const flight *lead) {
    uint64_t got = 0;
    for (const flight *part = lead; part != NULL; part = part->next) {
        if (part->lead != lead) continue;
        got += part->seen;
        if (part->seen < part->length) break;
    }
    return got;
}

static refs_status serve(flights *self, flight *served, uint64_t got, refs_error *err) {
    refs_transfer *transfer = &served->transfer;
    flight *lead = served->lead;
    if (got == 0 && transfer->block == NULL) return REFS_OK;
    served->seen = got;
    lead->arrival.block = transfer->block;
    lead->arrival.bytes = refs_block_data(transfer->block);
    lead->arrival.got = bytes_in_front(lead);
    self->job->failed = self->job->plan->members[served->request->first_member];
    REFS_TRY(check_validators(self, served, err));
    return refs_fetch__serve(self->job, served->request, &lead->arrival, err);
}

/* Has all other parts of a request be given up. */
static void drop_others(flights *self, const flight *kept) {
    for (flight *part = self->first; part != NULL; part = part->next) {
        if (part->lead != kept->lead || part == kept) continue;
        part->is_dropped = true;
        atomic_store(&part->transfer.cancelled, true);
    }
    refs_http__wake(self->http);
}

/* Signatures expire, and may be for another region: whether that is why one was refused, a new one
 * tells, or the vfs, which makes others. One that grew old before it was sent may be that of
 * others. *over_http is whether it is asked for again here. */
static refs_status sign_again(flights *self, flight *landed, bool *over_http, refs_error *err) {
    size_t request = (size_t)(landed->request - self->job->plan->requests);
    self->job->failed = self->job->plan->members[landed->request->first_member];
    const bool is_stale = landed->transfer.is_stale;
    landed->reserved = landed->transfer.reserved;
    landed->transfer.reserved = 0;
    refs_transfer__clear(&landed->transfer);
    refs_status status = is_stale ? find_url(self, place_of(self, landed), err)
                                  : make_url(self, place_of(self, landed), err);
    *over_http = status != REFS_UNSUPPORTED;
    if (!*over_http) {
        self->by_vfs[request] = true;
        drop_others(self, landed);
        return REFS_OK;
    }
    if (status == REFS_OK) status = prepare(self, landed, self->url, err);
    if (status != REFS_OK) landed->transfer.done = true; /* nobody else ever would */
    return status;
}

/* Whether a request that is done is to be signed anew. */
static bool may_sign_again(flight *landed) {
    const refs_transfer *transfer = &landed->transfer;
    if (transfer->is_stale) return true;
    if (landed->lead->arrival.served > 0 || !refs_transfer__is_signature_refused(transfer))
        return false;
    return refs_transfer__tell_host(transfer, ++landed->n_refused);
}

/* A transfer that is done: members are handed over, or it is said what went wrong. */
static refs_status land(flights *self, flight *landed, refs_error *err) {
    refs_fetch_job *job = self->job;
    refs_transfer *transfer = &landed->transfer;
    uint32_t id = place_of(self, landed)->location_id;
    size_t member = landed->lead->arrival.served;
    landed->has_landed = true;
    if (transfer->ranges_ignored) {
        refs_fetch__note_rangeless(job->fetcher, id);
        drop_others(self, landed);
        return note_again(self, landed->request, member, err);
    }
    if (member == landed->request->n_members) member--;
    job->failed = job->plan->members[landed->request->first_member + member];
    if (transfer->error.status != REFS_OK)
        return refs_fail(err, transfer->error.status, "%s", transfer->error.message);
    if (landed->n_refused == 0) (void)refs_transfer__tell_host(transfer, 0);
    uint64_t got = atomic_load(&transfer->got);
    /* Asked once: a block whose memory is given back when it is freed must not be kept. */
    const bool is_rangeless = refs_fetch__is_rangeless(job->fetcher, id);
    if (transfer->kind == REFS_TRANSFER_WHOLE) note_whole(job, got);
    if (transfer->reserved > 0 && transfer->block != NULL && !is_rangeless) {
        (void)refs_waiter__reserve(&job->waiter, transfer->reserved,
                                   refs_block_size(transfer->block));
        transfer->reserved = 0; /* as long as anybody holds the block */
        refs_block_on_free(transfer->block, refs_waiter__give_back, &job->waiter);
    }
    REFS_TRY(serve(self, landed, got, err));
    if (is_rangeless && transfer->kind == REFS_TRANSFER_WHOLE)
        refs_fetch__keep_whole(job->fetcher, id, transfer->block, got);
    return REFS_OK;
}

/* A transfer that would have taken too much memory beside others. */
static void put_off(flights *self, flight *landed) {
    note_whole(self->job, landed->transfer.postponed);
    landed->awaits = landed->transfer.postponed;
    refs_transfer__clear(&landed->transfer);
}

static void count(const flights *self, const flight *landed) {
    atomic_fetch_add(&self->job->fetcher->requests, landed->transfer.n_requests);
    atomic_fetch_add(&self->job->fetcher->bytes, landed->transfer.n_bytes);
}

static void forget(flights *self, flight *forgotten) {
    flight **link = &self->first;
    while (*link != forgotten) link = &(*link)->next;
    *link = forgotten->next;
    self->n--;
    free_flight(self, forgotten);
}

/* Forgets a request of which all parts are there. */
static void forget_complete(flights *self, const flight *lead) {
    for (const flight *part = self->first; part != NULL; part = part->next)
        if (part->lead == lead && !part->has_landed) return;
    for (flight *part = self->first, *next; part != NULL; part = next) {
        next = part->next;
        if (part->lead == lead) forget(self, part);
    }
}

static bool is_done(refs_fetch_job *job, const flight *asked) {
    refs_lock(&job->waiter.lock);
    bool done = asked->transfer.done;
    refs_unlock(&job->waiter.lock);
    return done;
}

/* The bytes that are there and were not yet looked at; whole locations may still move in memory. */
static uint64_t fresh_bytes(const flight *asked) {
    if (asked->transfer.kind == REFS_TRANSFER_WHOLE) return 0;
    uint64_t got = atomic_load(&asked->transfer.got);
    return got > asked->seen ? got : 0;
}

/* Whether nothing is to be done for a flight now. */
static bool is_idle(const flight *asked) {
    return asked->awaits > 0 || (asked->has_landed && !asked->is_dropped);
}

/* A transfer that is done: *is_forgotten tells whether flights are forgotten with it. */
static refs_status take_done(flights *self, flight *done, bool *is_forgotten, refs_error *err) {
    *is_forgotten = false;
    if (!done->has_landed) count(self, done);
    if (done->is_dropped) {
        *is_forgotten = true;
        forget(self, done);
        return REFS_OK;
    }
    if (done->transfer.postponed > 0) {
        put_off(self, done);
        return REFS_OK;
    }
    if (may_sign_again(done)) {
        bool over_http;
        refs_status status = sign_again(self, done, &over_http, err);
        *is_forgotten = status == REFS_OK && !over_http;
        if (*is_forgotten) forget(self, done);
        return status;
    }
    const bool is_given_up = done->transfer.ranges_ignored;
    REFS_TRY(land(self, done, err));
    *is_forgotten = true;
    if (is_given_up)
        forget(self, done);
    else
        forget_complete(self, done->lead);
    return REFS_OK;
}

static refs_status serve_all(flights *self, refs_error *err) {
    for (flight *asked = self->first, *next; asked != NULL; asked = next) {
        next = asked->next;
        if (is_idle(asked)) continue;
        if (is_done(self->job, asked)) {
            bool is_forgotten;
            REFS_TRY(take_done(self, asked, &is_forgotten, err));
            if (is_forgotten) next = self->first; /* that one, too, may be forgotten */
        } else if (!asked->is_dropped && fresh_bytes(asked) > 0) {
            REFS_TRY(serve(self, asked, fresh_bytes(asked), err));
        }
    }
    return REFS_OK;
}

/* -- the whole --------------------------------------------------------------------------------- */

/* Whether anything moved since serve_all looked; under the waiter's lock. */
static bool anything_new(const flights *self) {
    for (const flight *asked = self->first; asked != NULL; asked = asked->next)
        if (!is_idle(asked) &&
            (asked->transfer.done || fresh_bytes(asked) >= asked->seen + 64 * REFS_KIB))
            return true;
    return false;
}

static void wait_for_bytes(flights *self) {
    refs_waiter *waiter = &self->job->waiter;
    refs_lock(&waiter->lock);
    if (anything_new(self) || waiter->has_freed || atomic_load(&self->job->fetcher->cancelled)) {
        /* nothing to wait for */
    } else if (refs_cancel_scope_is_any()) {
        (void)refs_wait_ms(&waiter->moved, &waiter->lock, REFS_CANCEL_POLL_MS);
    } else {
        refs_wait(&waiter->moved, &waiter->lock);
    }
    waiter->has_freed = false;
    refs_unlock(&waiter->lock);
}

static void cancel_all(flights *self) {
    for (flight *asked = self->first; asked != NULL; asked = asked->next)
        atomic_store(&asked->transfer.cancelled, true);
    if (self->first != NULL) refs_http__wake(self->http);
    while (self->first != NULL) {
        refs_lock(&self->job->waiter.lock);
        while (!self->first->transfer.done)
            refs_wait(&self->job->waiter.moved, &self->job->waiter.lock);
        refs_unlock(&self->job->waiter.lock);
        if (!self->first->has_landed) count(self, self->first);
        forget(self, self->first);
    }
}

refs_status refs_fetch__by_http(refs_fetch_job *job, bool *by_vfs, refs_fetch_again *again,
                                refs_error *err) {
    flights self = {
        .job = job, .http = job->fetcher->options.http, .by_vfs = by_vfs, .again = again};
    refs_status status = refs_fetch__go_on(job, err);
    if (status == REFS_OK) status = submit_more(&self, err);
    while (status == REFS_OK && (self.n > 0 || self.next < job->plan->n_requests)) {
        wait_for_bytes(&self);
        status = refs_fetch__go_on(job, err);
        if (status == REFS_OK) status = serve_all(&self, err);
        if (status == REFS_OK) status = submit_more(&self, err);
    }
    cancel_all(&self);
    refs_free(self.url);
    return status;
}
