/* fetch_http.c -- requests carried out by the HTTP engine, see fetch_internal.h.
 *
 * Requests are submitted as memory and the number in flight allow, and members of a request are
 * handed over as soon as their last byte is there: workers decode while the rest is on its way. */
#include "fetch_internal.h"
#include "http_internal.h"

/* A request under way. */
typedef struct flight {
    refs_transfer transfer;
    refs_arrival arrival;
    const refs_request *request;
    struct flight *next;
} flight;

typedef struct flights {
    refs_fetch_job *job;
    refs_http *http;
    char *const *urls; /* for each request, or NULL */
    size_t next;       /* request to look at next */
    flight *first;     /* under way, oldest first */
    size_t n;
    refs_fetch_again *again;
} flights;

/* -- submitting
 * ------------------------------------------------------------------------------------ */

static refs_status prepare(flights *self, flight *made, size_t request, refs_error *err) {
    refs_fetch_job *job = self->job;
    made->request = &job->plan->requests[request];
    refs_transfer *transfer = &made->transfer;
    transfer->location = refs_fetch__first_range(job, request)->location;
    transfer->offset = made->request->offset;
    transfer->length = made->request->length;
    transfer->max_size = job->fetcher->options.max_whole_bytes;
    transfer->waiter = &job->waiter;
    transfer->options = refs_http__options(self->http);
    if (transfer->length != REFS_FETCH_WHOLE)
        REFS_TRY(refs_fetch__new_block(job, transfer->length, &transfer->block, err));
    REFS_TRY(
        refs_transfer__prepare(transfer, refs_http__host(self->http), self->urls[request], err));
    return refs_http__submit(self->http, transfer, err);
}

static refs_status submit(flights *self, size_t request, refs_error *err) {
    self->job->failed = self->job->plan->members[self->job->plan->requests[request].first_member];
    flight *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    refs_status status = prepare(self, made, request, err);
    if (status != REFS_OK) {
        refs_transfer__clear(&made->transfer);
        refs_free(made);
        return status;
    }
    flight **last = &self->first;
    while (*last != NULL) last = &(*last)->next;
    *last = made;
    self->n++;
    return REFS_OK;
}

/* Twice as many as are in flight are submitted, so that the engine never waits for this thread. */
static refs_status submit_more(flights *self, refs_error *err) {
    const refs_plan *plan = self->job->plan;
    size_t most = 2 * (size_t)refs_http__options(self->http)->max_in_flight;
    for (; self->next < plan->n_requests && self->n < most; self->next++) {
        if (self->urls[self->next] == NULL) continue;
        uint64_t length = plan->requests[self->next].length;
        if (length == REFS_FETCH_WHOLE) length = 0;
        if (self->n > 0 && !refs_fetch__has_memory(self->job, length)) break;
        REFS_TRY(submit(self, self->next, err));
    }
    return REFS_OK;
}

/* -- serving
 * --------------------------------------------------------------------------------------- */

static refs_status note_again(flights *self, const flight *landed, refs_error *err) {
    for (size_t i = landed->arrival.served; i < landed->request->n_members; i++) {
        refs_fetch_again *again = self->again;
        if (!refs_grow((void **)&again->indices, &again->capacity, again->n,
                       sizeof *again->indices))
            return refs_fail_nomem(err);
        again->indices[again->n++] = self->job->plan->members[landed->request->first_member + i];
    }
    return REFS_OK;
}

static refs_status serve(flights *self, flight *served, uint64_t got, refs_error *err) {
    refs_transfer *transfer = &served->transfer;
    if (got == 0 && transfer->block == NULL) return REFS_OK;
    served->arrival.block = transfer->block;
    served->arrival.bytes = refs_block_data(transfer->block);
    served->arrival.got = got;
    return refs_fetch__serve(self->job, served->request, &served->arrival, err);
}

/* A transfer that is done: its last members are handed over, or it is said what went wrong. */
static refs_status land(flights *self, flight *landed, refs_error *err) {
    refs_fetch_job *job = self->job;
    refs_transfer *transfer = &landed->transfer;
    atomic_fetch_add(&job->fetcher->requests, transfer->n_requests);
    atomic_fetch_add(&job->fetcher->bytes, transfer->n_bytes);
    if (transfer->ranges_ignored) return note_again(self, landed, err);
    size_t member = landed->arrival.served;
    if (member == landed->request->n_members) member--;
    job->failed = job->plan->members[landed->request->first_member + member];
    if (transfer->error.status != REFS_OK)
        return refs_fail(err, transfer->error.status, "%s", transfer->error.message);
    REFS_TRY(refs_fetch__check_etag(job->fetcher, &job->ranges[job->failed],
                                    transfer->response.etag, err));
    return serve(self, landed, atomic_load(&transfer->got), err);
}

static void forget(flights *self, flight *forgotten) {
    flight **link = &self->first;
    while (*link != forgotten) link = &(*link)->next;
    *link = forgotten->next;
    self->n--;
    refs_transfer__clear(&forgotten->transfer);
    refs_free(forgotten);
}

static bool is_done(refs_fetch_job *job, const flight *asked) {
    pthread_mutex_lock(&job->waiter.lock);
    bool done = asked->transfer.done;
    pthread_mutex_unlock(&job->waiter.lock);
    return done;
}

/* The bytes that are there and were not yet looked at; whole locations may still move in memory. */
static uint64_t fresh_bytes(const flight *asked) {
    if (asked->transfer.length == REFS_FETCH_WHOLE) return 0;
    uint64_t got = atomic_load(&asked->transfer.got);
    return got > asked->arrival.got ? got : 0;
}

static refs_status serve_all(flights *self, refs_error *err) {
    for (flight *asked = self->first, *next; asked != NULL; asked = next) {
        next = asked->next;
        if (is_done(self->job, asked)) {
            refs_status status = land(self, asked, err);
            forget(self, asked);
            if (status != REFS_OK) return status;
        } else if (fresh_bytes(asked) > 0) {
            REFS_TRY(serve(self, asked, fresh_bytes(asked), err));
        }
    }
    return REFS_OK;
}

/* -- the whole
 * ------------------------------------------------------------------------------------- */

/* Whether anything moved since serve_all looked; under the waiter's lock. */
static bool anything_new(const flights *self) {
    for (const flight *asked = self->first; asked != NULL; asked = asked->next)
        if (asked->transfer.done || fresh_bytes(asked) >= asked->arrival.got + 64 * REFS_KIB)
            return true;
    return false;
}

static void wait_for_bytes(flights *self) {
    refs_waiter *waiter = &self->job->waiter;
    pthread_mutex_lock(&waiter->lock);
    if (!anything_new(self)) pthread_cond_wait(&waiter->moved, &waiter->lock);
    pthread_mutex_unlock(&waiter->lock);
}

static void cancel_all(flights *self) {
    for (flight *asked = self->first; asked != NULL; asked = asked->next)
        atomic_store(&asked->transfer.cancelled, true);
    if (self->first != NULL) refs_http__wake(self->http);
    while (self->first != NULL) {
        pthread_mutex_lock(&self->job->waiter.lock);
        while (!self->first->transfer.done)
            pthread_cond_wait(&self->job->waiter.moved, &self->job->waiter.lock);
        pthread_mutex_unlock(&self->job->waiter.lock);
        forget(self, self->first);
    }
}

refs_status refs_fetch__by_http(refs_fetch_job *job, char *const *urls, refs_fetch_again *again,
                                refs_error *err) {
    flights self = {.job = job, .http = job->fetcher->options.http, .urls = urls, .again = again};
    refs_status status = submit_more(&self, err);
    while (status == REFS_OK && self.n > 0) {
        wait_for_bytes(&self);
        status = serve_all(&self, err);
        if (status == REFS_OK) status = submit_more(&self, err);
    }
    cancel_all(&self);
    return status;
}
