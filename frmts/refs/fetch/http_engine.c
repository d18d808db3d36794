/* http_engine.c -- the thread that moves bytes: one libcurl multi handle for all fetchers. */
#include "http_internal.h"

#include <time.h>

#include "http_origins.h"

struct refs_http {
    const refs_http_host *host;
    refs_http_options options;
    refs_forked forked;
    pthread_mutex_t lock; /* guards what follows */
    refs_transfer *first_new, *last_new;
    bool ending;
    bool running; /* the thread was started, and multi made */
    pthread_t thread;
    CURLM *multi; /* used by the thread alone, but for curl_multi_wakeup */
};

/* What the thread keeps for itself. */
typedef struct engine {
    refs_http *http;
    refs_transfer *waiting, **last_waiting; /* not started, or to be tried again */
    refs_transfer *active;
    unsigned n_active;
    refs_origins origins;
} engine;

/* The longest that the thread sleeps: it is woken when there is work. */
#define IDLE_MS 1000

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* -- the thread -------------------------------------------------------------------------------- */

static void add_waiting(engine *self, refs_transfer *transfer) {
    transfer->next = NULL;
    *self->last_waiting = transfer;
    self->last_waiting = &transfer->next;
}

/* Takes over what was submitted; false when the engine is to end. */
static bool take_new(engine *self) {
    refs_http *http = self->http;
    refs_lock(&http->lock);
    refs_transfer *transfer = http->first_new;
    http->first_new = http->last_new = NULL;
    bool ending = http->ending;
    refs_unlock(&http->lock);
    for (refs_transfer *next; transfer != NULL; transfer = next) {
        next = transfer->next;
        add_waiting(self, transfer);
    }
    return !ending;
}

static void cancel(refs_transfer *transfer) {
    (void)refs_fail(&transfer->error, REFS_CANCELLED, "cancelled");
    refs_transfer__finish(transfer);
}

static void activate(engine *self, refs_transfer *transfer) {
    refs_transfer__begin_attempt(transfer);
    CURLMcode code = curl_multi_add_handle(self->http->multi, transfer->current);
    if (code != CURLM_OK) {
        (void)refs_fail(&transfer->error, REFS_IO, "%s", curl_multi_strerror(code));
        refs_transfer__finish(transfer);
        return;
    }
    transfer->next = self->active;
    self->active = transfer;
    self->n_active++;
}

static bool is_awaited(const refs_transfer *transfer) {
    const refs_fetch_client *client = transfer->client;
    return client == NULL || client->is_awaited == NULL || client->is_awaited(client->user);
}

/* What is prefetched leaves one request, unless there is just one, to whoever waits. */
static bool has_room_for(const engine *self, const refs_transfer *transfer) {
    unsigned most = self->http->options.max_in_flight;
    if (most > 1 && self->n_active + 1 == most && !is_awaited(transfer)) return false;
    return self->n_active < most;
}

/* Starts what is due while there is room; the rest stays, in order. */
static void start_due(engine *self) {
    uint64_t now = now_ms();
    refs_transfer *transfer = self->waiting;
    self->waiting = NULL;
    self->last_waiting = &self->waiting;
    for (refs_transfer *next; transfer != NULL; transfer = next) {
        next = transfer->next;
        if (atomic_load(&transfer->cancelled)) {
            cancel(transfer);
        } else if (transfer->due_ms > now || !has_room_for(self, transfer)) {
            add_waiting(self, transfer);
        } else {
            activate(self, transfer);
        }
    }
}

/* How long the thread may sleep when nothing moves on the network. */
static int sleep_ms(const engine *self) {
    uint64_t now = now_ms(), until = now + IDLE_MS;
    for (const refs_transfer *transfer = self->waiting; transfer != NULL; transfer = transfer->next)
        if (transfer->due_ms < until && has_room_for(self, transfer)) until = transfer->due_ms;
    return until > now ? (int)(until - now) : 0;
}

static void remove_active(engine *self, refs_transfer *transfer) {
    refs_transfer **link = &self->active;
    while (*link != NULL && *link != transfer) link = &(*link)->next;
    if (*link == NULL) return;
    *link = transfer->next;
    self->n_active--;
    curl_multi_remove_handle(self->http->multi, transfer->current);
}

static void drop_cancelled(engine *self) {
    for (refs_transfer *transfer = self->active, *next; transfer != NULL; transfer = next) {
        next = transfer->next;
        if (!atomic_load(&transfer->cancelled)) continue;
        remove_active(self, transfer);
        cancel(transfer);
    }
}

/* Judges an attempt: true where the transfer is done. */
static bool end_attempt(engine *self, refs_transfer *transfer, CURLcode code) {
    uint64_t now = now_ms(), delay_ms = 0;
    bool unreachable = refs_transfer__is_unreachable(transfer, code);
    transfer->hopeless =
        unreachable && refs_origins__is_dead(&self->origins, transfer->url_now, now);
    transfer->pointless = refs_transfer__is_refused(transfer, code) &&
                          !refs_origins__has_answered(&self->origins, transfer->url_now);
    if (!unreachable) refs_origins__note_alive(&self->origins, transfer->url_now);
    bool done = refs_transfer__end_attempt(transfer, code, &delay_ms);
    if (done && unreachable) refs_origins__note_dead(&self->origins, transfer->url_now, now);
    transfer->due_ms = now + delay_ms;
    return done;
}

static void end_finished(engine *self) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(self->http->multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result;
        char *user = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
        refs_transfer *transfer = (refs_transfer *)(void *)user;
        if (transfer == NULL) continue; /* which cannot be: every handle has one */
        remove_active(self, transfer);
        if (end_attempt(self, transfer, code))
            refs_transfer__finish(transfer);
        else
            add_waiting(self, transfer);
    }
}

/* libcurl and what it calls have locks of their own; while it only sleeps, none of them is held. */
static void move(engine *self) {
    int n_running;
    refs_fork_hold_off();
    start_due(self);
    curl_multi_perform(self->http->multi, &n_running);
    end_finished(self);
    drop_cancelled(self);
    refs_fork_allow();
}

static void *run(void *argument) {
    engine self = {.http = argument};
    self.last_waiting = &self.waiting;
    while (take_new(&self)) {
        move(&self);
        curl_multi_poll(self.http->multi, NULL, 0, sleep_ms(&self), NULL);
    }
    refs_origins__clear(&self.origins);
    return NULL;
}

/* -- from other threads ------------------------------------------------------------------------ */

/* The child of a fork starts over: it must leave its parent's connections alone, even in closing
 * them, and nobody waits there for what was submitted. */
static void in_child(void *self) {
    refs_http *http = self;
    http->running = false;
    http->multi = NULL;
    http->first_new = http->last_new = NULL;
}

refs_status refs_http_open(const refs_http_host *host, const refs_http_options *options,
                           refs_http **http, refs_error *err) {
    refs_http *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->host = host;
    opened->options = options != NULL ? *options : (refs_http_options)REFS_HTTP_OPTIONS_INIT;
    pthread_mutex_init(&opened->lock, NULL);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_enlist(&opened->forked);
    *http = opened;
    return REFS_OK;
}

/* Starts the thread where it does not run: at first, and in the child of a fork. Under the lock. */
static refs_status start(refs_http *http, refs_error *err) {
    if (http->running) return REFS_OK;
    http->multi = curl_multi_init();
    if (http->multi == NULL) return refs_fail_nomem(err);
    curl_multi_setopt(http->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 4L * (long)http->options.max_in_flight);
    if (pthread_create(&http->thread, NULL, run, http) != 0) {
        curl_multi_cleanup(http->multi);
        http->multi = NULL;
        return refs_fail(err, REFS_NOMEM, "the HTTP thread cannot be started");
    }
    http->running = true;
    return REFS_OK;
}

refs_status refs_http__submit(refs_http *http, refs_transfer *transfer, refs_error *err) {
    refs_lock(&http->lock);
    refs_status status = start(http, err);
    if (status == REFS_OK) {
        transfer->next = NULL;
        if (http->last_new != NULL)
            http->last_new->next = transfer;
        else
            http->first_new = transfer;
        http->last_new = transfer;
        curl_multi_wakeup(http->multi);
    }
    refs_unlock(&http->lock);
    return status;
}

void refs_http__wake(refs_http *http) {
    curl_multi_wakeup(http->multi);
}

void refs_http_free(refs_http *http) {
    if (http == NULL) return;
    refs_fork_strike_off(&http->forked);
    if (http->running) {
        refs_lock(&http->lock);
        http->ending = true;
        curl_multi_wakeup(http->multi);
        refs_unlock(&http->lock);
        pthread_join(http->thread, NULL);
        curl_multi_cleanup(http->multi);
    }
    pthread_mutex_destroy(&http->lock);
    refs_free(http);
}

const refs_http_host *refs_http__host(const refs_http *http) {
    return http->host;
}
const refs_http_options *refs_http__options(const refs_http *http) {
    return &http->options;
}
const char *refs_http_curl_version(void) {
    return curl_version();
}
