/* engine.c -- the thread that sends requests and receives answers: one libcurl multi handle for all
 * fetchers. */
#include "http/internal.h"

#include <stdio.h>

#include "http/authorities.h"
#include "http/refused.h"
#include "refs/now.h"

struct refs_http {
    const refs_http_provider *provider;
    refs_http_options options;
    refs_forked forked;
    _Atomic uint64_t bytes_per_s; /* rate of answers that readers waited for; 0: not known */
    _Atomic uint64_t latency_us;  /* time to first byte of these answers; 0: not known */
    pthread_mutex_t lock;         /* guards what follows */
    refs_transfer *first_new, *last_new;
    refs_cookies *cookies; /* all stores, the latest first */
    refs_authorities *authorities;
    bool ending;
    bool running; /* the thread was started, and multi made */
    pthread_t thread;
    CURLM *multi;         /* used by the thread alone, but for curl_multi_wakeup */
    refs_refused refused; /* used by the thread alone; lives as long as the engine */
};

/* The state that only the thread uses. */
typedef struct engine {
    refs_http *http;
    refs_transfer *waiting, **last_waiting; /* not started, or to be tried again */
    refs_transfer *active;
    unsigned n_active, n_paused, n_held_back;
    uint64_t looked_ms;  /* of the last check which transfers are awaited */
    bool any_awaited;    /* a reader waits for an active or due transfer, or did a moment ago */
    uint64_t awaited_ms; /* when any_awaited was last found true */
    unsigned n_ahead;    /* active, and not awaited */
    unsigned window;     /* requests at a time */
    uint64_t refused_us; /* of the last refusal because of too many requests; 0: none */
    bool is_cancelled;   /* by the application */
    refs_origins origins;
} engine;

/* The longest time that the thread sleeps. It is woken earlier if there is work. */
#define IDLE_MS 1000

/* The longest time that it sleeps if transfers share a connection: libcurl may have read bytes of
 * one transfer along with those of another, and curl_multi_poll does not know of them (7.88; the
 * connection stands still until the next timer, a second later). */
#define SHARED_MS 10

/* The time between two checks of which transfers are awaited: a reader that starts waiting does not
 * wake the thread. */
#define LOOK_MS 5

/* A reader that reads continuously waits again within this time. */
#define NEXT_READ_MS 10

/* The bytes that a paused connection still transfers, until its buffers are full. */
#define BUFFERED_BYTES (256 * (uint64_t)REFS_KIB)

/* The fewest prefetch requests at a time while no reader waits: one transfers while the next waits
 * for its first byte. */
#define MIN_AHEAD 2

/* Shorter answers are not used to measure the rate. */
#define MIN_TIMED_BYTES (32 * (uint64_t)REFS_KIB)
#define MIN_TIMED_US    100

/* Below this time to first byte, more requests in flight do not help. */
#define MIN_LATENCY_US 5000

/* Up to this time to first byte, the configured window suffices. Above, the window grows in
 * proportion, so that the number of answers per second stays the same. The time is longer for TLS,
 * whose connections take processor time. */
#define USUAL_LATENCY_US     10000
#define USUAL_TLS_LATENCY_US 30000
#define SILENCE_PART         4

/* After a refusal, the window stays at its configured size for this time. */
#define LIMITED_US 60000000

/* The assumed rate of a connection until one is measured. */
#define USUAL_BYTES_PER_S (64 * (uint64_t)REFS_MIB)

/* -- the thread -------------------------------------------------------------------------------- */

static void add_waiting(engine *self, refs_transfer *transfer) {
    transfer->next = NULL;
    *self->last_waiting = transfer;
    self->last_waiting = &transfer->next;
}

/* Retries that a Retry-After delayed go before new requests: otherwise each new request would be
 * refused in turn. */
static void add_refused(engine *self, refs_transfer *transfer) {
    refs_transfer **link = &self->waiting;
    while (*link != NULL && (*link)->was_refused) link = &(*link)->next;
    transfer->next = *link;
    *link = transfer;
    if (transfer->next == NULL) self->last_waiting = &transfer->next;
}

static bool ask_if_awaited(const refs_transfer *transfer) {
    const refs_queue *queue = transfer->queue;
    if (queue == NULL || !queue->is_ahead) return true;
    for (size_t i = 0; i < transfer->n_members; i++)
        if (atomic_load(&queue->requests[transfer->members[i]]->awaited->is)) return true;
    return false;
}

/* Takes the transfers that were submitted; false if the engine is to end. */
static bool take_new(engine *self) {
    refs_http *http = self->http;
    refs_lock(&http->lock);
    refs_transfer *transfer = http->first_new;
    http->first_new = http->last_new = NULL;
    bool ending = http->ending;
    refs_unlock(&http->lock);
    for (refs_transfer *next; transfer != NULL; transfer = next) {
        next = transfer->next;
        transfer->is_awaited = ask_if_awaited(transfer);
        transfer->origin = refs_origins__hold(&self->origins, &transfer->key_now);
        transfer->first_origin = refs_origins__hold(&self->origins, &transfer->key);
        add_waiting(self, transfer);
    }
    return !ending;
}

/* Holds the state of the transfer's origin, which redirects may have changed. */
static void hold_origin(engine *self, refs_transfer *transfer) {
    refs_origin_state *before = transfer->origin;
    transfer->origin = refs_origins__hold(&self->origins, &transfer->key_now);
    refs_origin__release(before);
}

/* -- logins ------------------------------------------------------------------------------------ */

/* A redirect to another origin may lead to a login, which leads back with a cookie, or to where the
 * bytes are. Until it is known which, only one request follows it, and others wait: if it was a
 * login, they then have the cookie. */

static bool follows_alone(const refs_transfer *transfer) {
    return transfer->first_origin != NULL && transfer->first_origin->login == transfer;
}

/* Ends a transfer's login: its outcome is known, or this transfer will never tell. */
static void end_login(refs_transfer *transfer) {
    refs_origin_state *first_origin = transfer->first_origin;
    if (!follows_alone(transfer)) return;
    first_origin->login = NULL;
    if (!transfer->checked || transfer->refused) return;
    if (transfer->origin == first_origin)
        first_origin->n_logins++;
    else
        first_origin->is_mirrored = true;
}

/* Starts a transfer over with the cookie that another one got. */
static void start_over(engine *self, refs_transfer *transfer) {
    refs_transfer__start_over(transfer);
    hold_origin(self, transfer);
    transfer->is_off_origin = false;
}

/* Handles a redirect. An answer is out of date if its request was sent before another transfer
 * logged in. */
static void note_redirect(engine *self, refs_transfer *transfer) {
    refs_origin_state *first_origin = transfer->first_origin;
    if (first_origin == NULL || transfer->origin == first_origin || transfer->is_off_origin) return;
    if (first_origin->n_logins > transfer->n_logins) {
        start_over(self, transfer);
        return;
    }
    transfer->is_off_origin = true;
    if (first_origin->is_mirrored) return;
    if (first_origin->login == NULL)
        first_origin->login = transfer;
    else
        transfer->awaits_login = true;
}

/* Whether a transfer must wait for the login of another one. Afterwards it starts over if the other
 * one logged in; otherwise it follows its own redirect. */
static bool must_await_login(engine *self, refs_transfer *transfer) {
    refs_origin_state *first_origin = transfer->first_origin;
    if (first_origin == NULL || follows_alone(transfer)) return false;
    if (first_origin->login != NULL && first_origin->login->checked) end_login(first_origin->login);
    bool is_to_wait = transfer->awaits_login || transfer->origin == first_origin;
    if (first_origin->login != NULL) return is_to_wait;
    if (!transfer->awaits_login) return false;
    transfer->awaits_login = false;
    if (first_origin->n_logins > transfer->n_logins) {
        start_over(self, transfer);
    } else if (!first_origin->is_mirrored) {
        first_origin->login = transfer;
    }
    return false;
}

static void finish(refs_transfer *transfer) {
    end_login(transfer);
    refs_origin__release(transfer->origin);
    refs_origin__release(transfer->first_origin);
    transfer->origin = transfer->first_origin = NULL;
    refs_transfer__finish(transfer);
}

static bool must_cancel(const engine *self, const refs_transfer *transfer) {
    return self->is_cancelled || atomic_load(&transfer->cancelled);
}

static void cancel(refs_transfer *transfer) {
    (void)refs_fail(&transfer->error, REFS_CANCELLED, "cancelled");
    finish(transfer);
}

static bool is_login_refused(const engine *self, const refs_transfer *transfer) {
    return refs_refused__has(&self->http->refused, refs_transfer__login_key(transfer),
                             refs_now_ms());
}

static void note_login(engine *self, const refs_transfer *transfer) {
    uint64_t key = refs_transfer__login_key(transfer);
    long status = refs_transfer__status(transfer);
    if (refs_transfer__has_token(transfer))
        refs_refused__note_token(&self->http->refused, key, status, refs_now_ms());
    else
        refs_refused__note_password(&self->http->refused, key, status);
}

static void note_started(engine *self, refs_transfer *transfer, CURLMcode code) {
    if (code != CURLM_OK) {
        (void)refs_fail(&transfer->error, REFS_IO, "%s", curl_multi_strerror(code));
        finish(transfer);
        return;
    }
    transfer->began_us = refs_now_us();
    if (transfer->n_redirects == 0 && transfer->first_origin != NULL)
        transfer->n_logins = transfer->first_origin->n_logins;
    refs_origin__begin(transfer->origin, transfer->began_us);
    transfer->n_beside = transfer->origin != NULL ? transfer->origin->n_active : 1;
    transfer->next = self->active;
    self->active = transfer;
    self->n_active++;
    if (!transfer->is_awaited) self->n_ahead++;
}

static void look_who_is_awaited(engine *self) {
    uint64_t now = refs_now_ms();
    if (now < self->looked_ms + LOOK_MS) return;
    self->looked_ms = now;
    for (refs_transfer *each = self->waiting; each != NULL; each = each->next)
        each->is_awaited = follows_alone(each) || ask_if_awaited(each);
    for (refs_transfer *each = self->active; each != NULL; each = each->next)
        each->is_awaited = follows_alone(each) || ask_if_awaited(each);
}

/* Checks whether a reader waits. Requests that are to be retried later do not block others. */
static void look_if_any_is_awaited(engine *self) {
    uint64_t now = refs_now_ms();
    bool any = false;
    for (const refs_transfer *each = self->active; each != NULL; each = each->next)
        any = any || each->is_awaited;
    for (const refs_transfer *each = self->waiting; each != NULL; each = each->next)
        any = any || (each->is_awaited && each->due_ms <= now);
    if (any) self->awaited_ms = now;
    self->any_awaited = any || (self->awaited_ms > 0 && now < self->awaited_ms + NEXT_READ_MS);
    self->n_ahead = 0;
    for (const refs_transfer *each = self->active; each != NULL; each = each->next)
        if (!each->is_awaited && !each->is_held_back) self->n_ahead++;
}

/* Time to first byte of answers that readers waited for, in microseconds; 0: not known. */
static uint64_t latency_of(const refs_http *http) {
    return atomic_load(&http->latency_us);
}

/* The number of prefetch requests that may be sent while a reader waits: as many as are transferred
 * within the time to first byte, before they are paused. These are many if latency is long and
 * bandwidth high, and few if bandwidth is the limit. */
static unsigned most_ahead(const engine *self) {
    unsigned most = self->window - 1;
    uint64_t rate = refs_http__rate(self->http);
    if (rate == 0) return most;
    uint64_t fit = latency_of(self->http) * rate / 1000000 / BUFFERED_BYTES;
    if (fit < MIN_AHEAD && !self->any_awaited) fit = MIN_AHEAD;
    return fit < most ? (unsigned)fit : most;
}

/* If a server limits requests, its latency comes from that limit, and more requests do not help. */
static bool may_widen(const engine *self) {
    return self->refused_us == 0 || refs_now_us() - self->refused_us > LIMITED_US;
}

static void note_refusal(engine *self) {
    self->refused_us = refs_now_us();
    if (self->window > self->http->options.max_in_flight)
        self->window = self->http->options.max_in_flight;
}

static bool is_tls(const refs_transfer *transfer) {
    return refs_origin_is_tls(&transfer->key_now);
}

/* Whether one more request needs one more connection: only answers show which HTTP version is used.
 */
static bool takes_handshake(const refs_transfer *transfer) {
    long version = 0;
    if (!is_tls(transfer)) return false;
    curl_easy_getinfo(transfer->current, CURLINFO_HTTP_VERSION, &version);
    return version < CURL_HTTP_VERSION_2_0;
}

/* Widens the window so that as many answers per second come as at the usual latency. */
static void widen_for(engine *self, const refs_transfer *transfer, uint64_t latency_us) {
    const refs_http_options *options = &self->http->options;
    uint64_t usual_us = takes_handshake(transfer) ? USUAL_TLS_LATENCY_US : USUAL_LATENCY_US;
    uint64_t window = options->max_in_flight * latency_us / usual_us;
    if (window > options->grow_to) window = options->grow_to;
    if (window > self->window) self->window = (unsigned)window;
}

/* The latency so far of a request without an answer counts in part: a server may be busy for a
 * moment, and after a redirect to a login, requests sent meanwhile are wasted. */
static void widen_for_silence(engine *self) {
    uint64_t now = refs_now_us();
    if (self->waiting == NULL || !may_widen(self)) return;
    for (const refs_transfer *each = self->active; each != NULL; each = each->next) {
        curl_off_t asked_us = 0, began_us = 0;
        curl_easy_getinfo(each->current, CURLINFO_PRETRANSFER_TIME_T, &asked_us);
        curl_easy_getinfo(each->current, CURLINFO_STARTTRANSFER_TIME_T, &began_us);
        uint64_t sent_us = each->began_us + (uint64_t)asked_us;
        if (asked_us == 0 || began_us != 0 || now <= sent_us) continue;
        widen_for(self, each, (now - sent_us) / SILENCE_PART);
    }
}

static void note_latency(engine *self, const refs_transfer *transfer, uint64_t latency_us) {
    uint64_t known = latency_of(self->http);
    uint64_t smooth = known == 0 ? latency_us : (3 * known + latency_us) / 4;
    atomic_store(&self->http->latency_us, smooth);
    if (may_widen(self)) widen_for(self, transfer, smooth);
}

/* Measures the rate of bytes that readers request themselves, which are never paused. */
static void measure(engine *self, const refs_transfer *transfer) {
    curl_off_t asked_us = 0, began_us = 0, ended_us = 0, n_bytes = 0;
    if (transfer->queue == NULL || transfer->queue->is_ahead) return;
    curl_easy_getinfo(transfer->current, CURLINFO_PRETRANSFER_TIME_T, &asked_us);
    curl_easy_getinfo(transfer->current, CURLINFO_STARTTRANSFER_TIME_T, &began_us);
    curl_easy_getinfo(transfer->current, CURLINFO_TOTAL_TIME_T, &ended_us);
    curl_easy_getinfo(transfer->current, CURLINFO_SIZE_DOWNLOAD_T, &n_bytes);
    if (began_us < asked_us || ended_us < began_us) return;
    note_latency(self, transfer, (uint64_t)(began_us - asked_us));
    if (n_bytes < (curl_off_t)MIN_TIMED_BYTES) return;
    uint64_t took_us = (uint64_t)(ended_us - began_us);
    uint64_t rate = (uint64_t)n_bytes * 1000000 / (took_us > MIN_TIMED_US ? took_us : MIN_TIMED_US);
    uint64_t smooth = (7 * refs_http__rate(self->http) + rate) /
                      8; /* other transfers may have shared the bandwidth */
    atomic_store(&self->http->bytes_per_s, rate > smooth ? rate : smooth);
}

/* Prefetching leaves one request slot to reads that wait, unless there is just one; while a reader
 * waits, it leaves all slots and the bandwidth. */
static bool has_room_for(const engine *self, const refs_transfer *transfer) {
    const unsigned most = self->window, n_active = self->n_active - self->n_held_back;
    if (most == 1) return n_active == 0;
    if (transfer->is_awaited) return n_active - self->n_paused < most;
    return n_active + 1 < most && self->n_ahead < most_ahead(self);
}

/* Whether a request waited so long in the queue that its caller must sign it again before it is
 * sent. A request that was sent before is signed again only if its signature is refused. */
static bool is_stale(const refs_transfer *transfer, uint64_t now) {
    return transfer->rules.is_signed && transfer->n_requests == 0 && transfer->url_ms > 0 &&
           now >= transfer->url_ms + REFS_HTTP_FRESH_MS;
}

static void give_back(refs_transfer *transfer) {
    transfer->is_stale = true;
    finish(transfer);
}

/* Starts the transfers that are due while there is room. The others stay in the queue, in order. */
static void start_due(engine *self) {
    uint64_t now = refs_now_ms();
    refs_transfer *transfer = self->waiting;
    self->waiting = NULL;
    self->last_waiting = &self->waiting;
    for (refs_transfer *next; transfer != NULL; transfer = next) {
        next = transfer->next;
        if (must_cancel(self, transfer)) {
            cancel(transfer);
        } else if (transfer->due_ms > now || must_await_login(self, transfer) ||
                   !has_room_for(self, transfer) ||
                   refs_origin__free_at(transfer->origin, refs_now_us()) > refs_now_us()) {
            add_waiting(self, transfer);
        } else if (is_stale(transfer, now)) {
            give_back(transfer);
        } else if (is_login_refused(self, transfer)) {
            refs_transfer__refuse_login(transfer);
            finish(transfer);
        } else {
            refs_transfer__begin_attempt(transfer);
            note_started(self, transfer,
                         curl_multi_add_handle(self->http->multi, transfer->current));
        }
    }
}

static void pause(engine *self, refs_transfer *transfer) {
    if (transfer->is_paused || !refs_transfer__can_be_paused(transfer)) return;
    if (curl_easy_pause(transfer->current, CURLPAUSE_RECV) != CURLE_OK) return;
    transfer->is_paused = true;
    transfer->paused_at_ms = refs_now_ms();
    self->n_paused++;
}

static void note_resumed(engine *self, refs_transfer *transfer) {
    if (!transfer->is_paused) return;
    transfer->is_paused = false;
    transfer->paused_ms += refs_now_ms() - transfer->paused_at_ms;
    self->n_paused--;
}

static void resume(engine *self, refs_transfer *transfer) {
    if (!transfer->is_paused) return;
    note_resumed(self, transfer);
    curl_easy_pause(transfer->current, CURLPAUSE_CONT);
}

/* While a reader waits for a transfer, those that only prefetch are paused, unless their server
 * takes no request until one of them has ended. */
static void share_line(engine *self) {
    uint64_t now = refs_now_us();
    for (refs_transfer *each = self->active; each != NULL; each = each->next) {
        if (each->is_held_back) continue;
        if (self->any_awaited && !each->is_awaited &&
            refs_origin__free_at(each->origin, now) != UINT64_MAX)
            pause(self, each);
        else
            resume(self, each);
    }
}

/* Excludes transfers that are paused for memory from the limits of requests, both in all and of an
 * origin: other transfers must proceed so that memory is released. */
static void set_aside_held_back(engine *self) {
    self->n_held_back = 0;
    for (refs_transfer *each = self->active; each != NULL; each = each->next) {
        if (each->is_held_back && !refs_transfer__lacks_memory(each))
            curl_easy_pause(each->current, CURLPAUSE_CONT);
        if (each->is_held_back) self->n_held_back++;
        if (each->is_held_back == each->is_beside) continue;
        if (each->is_held_back)
            refs_origin__end(each->origin);
        else
            refs_origin__rejoin(each->origin);
        each->is_beside = each->is_held_back;
    }
}

/* The time at which to check again whether a queued transfer is awaited: a reader that starts
 * waiting does not wake the thread. */
static uint64_t wake_for(const engine *self, const refs_transfer *waiting, uint64_t now) {
    if (!has_room_for(self, waiting)) return waiting->is_awaited ? UINT64_MAX : now + LOOK_MS;
    uint64_t free_us = refs_origin__free_at(waiting->origin, 1000 * now);
    if (free_us == UINT64_MAX) return UINT64_MAX;
    uint64_t free_ms = (free_us + 999) / 1000;
    return free_ms > waiting->due_ms ? free_ms : waiting->due_ms;
}

/* Whether transfers may share a connection: only answers show which HTTP version is used. */
static bool may_share_connections(const engine *self) {
    for (const refs_transfer *each = self->active; each != NULL; each = each->next)
        if (is_tls(each)) return true;
    return false;
}

/* Whether queued transfers may start once other transfers become awaited. */
static bool may_get_room(const engine *self) {
    return self->waiting != NULL && self->n_active > 0 &&
           self->window < self->http->options.grow_to && may_widen(self);
}

/* How long the thread may sleep if nothing happens on the network. */
static int sleep_ms(const engine *self) {
    uint64_t now = refs_now_ms(), until = now + IDLE_MS;
    if (self->http->options.cancel.go_on != NULL && (self->n_active > 0 || self->waiting != NULL))
        until = now + REFS_CANCEL_POLL_MS;
    if (may_share_connections(self)) until = now + SHARED_MS;
    if (self->n_paused > 0 || may_get_room(self)) until = now + LOOK_MS;
    for (const refs_transfer *each = self->waiting; each != NULL; each = each->next) {
        uint64_t wake = wake_for(self, each, now);
        if (wake < until) until = wake;
    }
    return until > now ? (int)(until - now) : 0;
}

static void remove_active(engine *self, refs_transfer *transfer) {
    refs_transfer **link = &self->active;
    while (*link != NULL && *link != transfer) link = &(*link)->next;
    if (*link == NULL) return;
    *link = transfer->next;
    self->n_active--;
    if (transfer->is_beside)
        self->n_held_back--;
    else
        refs_origin__end(transfer->origin);
    transfer->is_beside = false;
    note_resumed(self, transfer);
    curl_multi_remove_handle(self->http->multi, transfer->current);
}

/* Called before a transfer is removed that may still resolve its host name: libcurl (from 7.87 on)
 * then detaches its resolver instead of waiting for it. */
static void leave_resolver(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
#endif
}

static void drop_cancelled(engine *self) {
    for (refs_transfer *transfer = self->active, *next; transfer != NULL; transfer = next) {
        next = transfer->next;
        if (!must_cancel(self, transfer)) continue;
        leave_resolver(transfer->current);
        remove_active(self, transfer);
        cancel(transfer);
    }
}

/* Records what an answer shows about its origin and about that of the transfer. */
static void note_answer(engine *self, refs_transfer *transfer, CURLcode code) {
    refs_answer answer = {.began_us = transfer->began_us,
                          .n_active = transfer->n_beside,
                          .came_back = transfer->was_refused,
                          .status = refs_transfer__status(transfer)};
    curl_off_t asked_us = 0, began_us = 0;
    uint64_t now = refs_now_us();
    unsigned n_left = transfer->origin != NULL ? transfer->origin->n_active : 0;
    if (answer.n_active <= n_left) answer.n_active = n_left + 1; /* others started after it */
    transfer->others_came = refs_origin__has_answered_since(transfer->origin, transfer->failed_us);
    transfer->failed_us = now;
    if (code != CURLE_OK || answer.status == 0 ||
        (answer.status >= 500 && !refs_origin__is_refusal(answer.status)))
        return;
    curl_easy_getinfo(transfer->current, CURLINFO_PRETRANSFER_TIME_T, &asked_us);
    curl_easy_getinfo(transfer->current, CURLINFO_STARTTRANSFER_TIME_T, &began_us);
    if (began_us > asked_us) answer.latency_us = (uint64_t)(began_us - asked_us);
    if (transfer->response.retry_after_ms <= REFS_HTTP_MAX_RETRY_AFTER_MS)
        answer.retry_after_ms = transfer->response.retry_after_ms;
    if (refs_origin__is_refusal(answer.status)) note_refusal(self);
    refs_origin__note(transfer->origin, &answer, self->window, now);
}

/* Judges an attempt; true if the transfer is done. */
static bool end_attempt(engine *self, refs_transfer *transfer, CURLcode code) {
    uint64_t now = transfer->failed_us / 1000, delay_ms = 0;
    bool unreachable = refs_transfer__is_unreachable(transfer, code);
    transfer->is_host_down =
        unreachable && refs_origins__is_dead(&self->origins, &transfer->key_now, now);
    transfer->is_connection_refused =
        refs_transfer__has_no_server(transfer, code) &&
        !refs_origins__has_answered(&self->origins, &transfer->key_now);
    if (!unreachable) refs_origins__note_alive(&self->origins, &transfer->key_now);
    bool done = refs_transfer__end_attempt(transfer, code, &delay_ms);
    if (done && unreachable) refs_origins__note_dead(&self->origins, &transfer->key_now, now);
    transfer->due_ms = now + delay_ms;
    transfer->was_refused =
        transfer->response.retry_after_ms > 0 && refs_origin__is_refusal(transfer->status);
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
        if (transfer == NULL) continue; /* cannot happen: every handle has one */
        if (code == CURLE_OK) measure(self, transfer);
        remove_active(self, transfer);
        if (transfer->set_cookie) refs_cookies__changed(transfer->cookies, refs_now_ms());
        transfer->set_cookie = false;
        note_answer(self, transfer, code);
        note_login(self, transfer);
        if (end_attempt(self, transfer, code)) {
            finish(transfer);
        } else {
            hold_origin(self, transfer);
            if (transfer->n_redirects > 0) {
                note_redirect(self, transfer);
            } else {
                end_login(transfer);
                transfer->is_off_origin = false;
            }
            if (transfer->was_refused)
                add_refused(self, transfer);
            else
                add_waiting(self, transfer);
        }
    }
}

/* libcurl and what it calls have locks of their own; while it only sleeps, none of them is held. */
static void *run(void *argument) {
    engine self = {.http = argument};
    int n_running;
    self.window = self.http->options.max_in_flight;
    self.last_waiting = &self.waiting;
    while (take_new(&self)) {
        refs_fork_hold_off();
        self.is_cancelled = refs_check_cancelled(&self.http->options.cancel, NULL) != REFS_OK;
        look_who_is_awaited(&self);
        set_aside_held_back(&self);
        look_if_any_is_awaited(&self);
        widen_for_silence(&self);
        start_due(&self);
        share_line(&self);
        curl_multi_perform(self.http->multi, &n_running);
        end_finished(&self);
        drop_cancelled(&self);
        refs_fork_allow();
        curl_multi_poll(self.http->multi, NULL, 0, sleep_ms(&self), NULL);
    }
    return NULL;
}

/* -- from other threads ------------------------------------------------------------------------ */

/* The child of a fork starts over. It must not use its parent's connections, not even close them,
 * and nobody in it waits for transfers that were submitted before. */
static void in_child(void *self) {
    refs_http *http = self;
    http->running = false;
    http->multi = NULL;
    http->first_new = http->last_new = NULL;
}

refs_status refs_http_open(const refs_http_provider *provider, const refs_http_options *options,
                           refs_http **http, refs_error *err) {
    refs_http *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    opened->provider = provider;
    opened->options = options != NULL ? *options : (refs_http_options)REFS_HTTP_OPTIONS_INIT;
    pthread_mutex_init(&opened->lock, NULL);
    opened->forked = (refs_forked){in_child, opened, NULL, NULL};
    refs_fork_register(&opened->forked);
    *http = opened;
    return REFS_OK;
}

/* Starts the thread if it is not running: at first, and in the child of a fork. Requires the
 * lock. */
static refs_status start(refs_http *http, refs_error *err) {
    if (http->running) return REFS_OK;
    http->multi = curl_multi_init();
    if (http->multi == NULL) return refs_fail_nomem(err);
    curl_multi_setopt(http->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 4L * (long)http->options.max_in_flight);
    if (refs_thread_start(&http->thread, run, http) != 0) {
        curl_multi_cleanup(http->multi);
        http->multi = NULL;
        return refs_fail(err, REFS_NOMEM, "cannot start the HTTP thread");
    }
    http->running = true;
    return REFS_OK;
}

refs_status refs_http__submit(refs_http *http, refs_transfer *transfer, refs_error *err) {
    REFS_LOCKED(&http->lock);
    REFS_TRY(start(http, err));
    transfer->next = NULL;
    if (http->last_new != NULL)
        http->last_new->next = transfer;
    else
        http->first_new = transfer;
    http->last_new = transfer;
    curl_multi_wakeup(http->multi);
    return REFS_OK;
}

void refs_http__wake(refs_http *http) {
    curl_multi_wakeup(http->multi);
}

void refs_http_free(refs_http *http) {
    if (http == NULL) return;
    refs_fork_unregister(&http->forked);
    if (http->running) {
        refs_lock(&http->lock);
        http->ending = true;
        curl_multi_wakeup(http->multi);
        refs_unlock(&http->lock);
        pthread_join(http->thread, NULL);
        curl_multi_cleanup(http->multi);
    }
    refs_cookies__free_all(http->cookies);
    refs_authorities__free_all(http->authorities);
    pthread_mutex_destroy(&http->lock);
    refs_free(http);
}

const refs_http_provider *refs_http__provider(const refs_http *http) {
    return http->provider;
}
const refs_http_options *refs_http__options(const refs_http *http) {
    return &http->options;
}

refs_cookies *refs_http__cookies(refs_http *http, const refs_http_rules *rules,
                                 const refs_origin *origin) {
    refs_lock(&http->lock);
    refs_cookies *cookies = refs_cookies__of(&http->cookies, rules, origin);
    refs_cookies *old = refs_cookies__take_old(&http->cookies);
    refs_unlock(&http->lock);
    refs_cookies__free_all(old);
    return cookies;
}

void refs_http__release_cookies(refs_http *http, refs_cookies *cookies) {
    REFS_LOCKED(&http->lock);
    refs_cookies__release(cookies);
}

bool refs_http__authorities(refs_http *http, const refs_http_auth *auth, char *name, size_t size) {
    refs_lock(&http->lock);
    const char *file =
        refs_authorities__file(&http->authorities, auth->authorities, auth->authority_folder);
    if (file != NULL) snprintf(name, size, "%s", file);
    refs_unlock(&http->lock);
    return file != NULL;
}

uint64_t refs_http__rate(const refs_http *http) {
    return atomic_load(&http->bytes_per_s);
}

uint64_t refs_http__bandwidth_delay(const refs_http *http) {
    const refs_http_options *options = &http->options;
    uint64_t latency_us = latency_of(http), rate = refs_http__rate(http), bytes;
    unsigned most =
        options->grow_to > options->max_in_flight ? options->grow_to : options->max_in_flight;
    if (latency_us < MIN_LATENCY_US) return 0;
    if (rate == 0) rate = USUAL_BYTES_PER_S;
    return refs_mul_u64(latency_us, rate, &bytes) && refs_mul_u64(bytes, most, &bytes)
               ? bytes / 1000000
               : UINT64_MAX;
}
