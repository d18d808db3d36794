/* origins.c -- see http/origins.h. */
#include "http/origins.h"

/* The factors by which the window, and the number of requests that may begin in a time, are
 * reduced: if all requests were refused, if most were, and if the limit was just met. */
#define CUT_ALL  0.5
#define CUT_MOST 0.7
#define CUT_MET  0.9
#define FEW      4 /* with fewer answers since the last cut, most were refused */

/* The window grows by these numbers with each answer: while the limit is searched for, if it was
 * not met for many answers, and otherwise. A limit that stays is met by one request in eighteen. */
#define GROW_SEARCHING 0.05
#define GROW_KNOWN     0.006
#define MANY           64

/* The smallest window: below it, only the time between requests matters. */
#define MIN_WINDOW 0.5

/* The fraction from which a window is rounded up: if a window of 4.7 was refused, 4.2 is 4. */
#define ROUND_UP 0.3

/* Requests that follow each other within this time cannot be distinguished by timers. */
#define TIMED_US  10000
#define CREDIT_US 2000

/* The position of an origin, or REFS_HTTP_MAX_ORIGINS. */
static size_t find_key(const refs_origins *origins, const refs_origin *key) {
    size_t i = 0;
    while (i < REFS_HTTP_MAX_ORIGINS && !refs_origin_is_same(&origins->known[i].key, key)) i++;
    return i;
}

static const refs_origin_state *find(const refs_origins *origins, const refs_origin *key) {
    const size_t i = find_key(origins, key);
    return i < REFS_HTTP_MAX_ORIGINS ? &origins->known[i] : NULL;
}

/* Finds the state of an origin. The state of a new one replaces that of an origin that nobody
 * holds. */
static refs_origin_state *keep(refs_origins *origins, const refs_origin *key) {
    if (key->scheme[0] == '\0') return NULL;
    const size_t i = find_key(origins, key);
    if (i < REFS_HTTP_MAX_ORIGINS) return &origins->known[i];
    for (size_t tried = 0; tried < REFS_HTTP_MAX_ORIGINS; tried++) {
        refs_origin_state *origin = &origins->known[origins->next++ % REFS_HTTP_MAX_ORIGINS];
        if (origin->n_users > 0) continue;
        *origin = (refs_origin_state){.key = *key};
        return origin;
    }
    return NULL;
}

void refs_origins__note_dead(refs_origins *origins, const refs_origin *key, uint64_t now_ms) {
    refs_origin_state *origin = keep(origins, key);
    if (origin != NULL) origin->dead_until_ms = now_ms + REFS_HTTP_DEAD_MS;
}

void refs_origins__note_alive(refs_origins *origins, const refs_origin *key) {
    refs_origin_state *origin = keep(origins, key);
    if (origin == NULL) return;
    origin->has_answered = true;
    origin->dead_until_ms = 0;
}

bool refs_origins__is_dead(const refs_origins *origins, const refs_origin *key, uint64_t now_ms) {
    const refs_origin_state *origin = find(origins, key);
    return origin != NULL && now_ms < origin->dead_until_ms;
}

bool refs_origins__has_answered(const refs_origins *origins, const refs_origin *key) {
    const refs_origin_state *origin = find(origins, key);
    return origin != NULL && origin->has_answered;
}

/* -- request window ---------------------------------------------------------------------------- */

refs_origin_state *refs_origins__hold(refs_origins *origins, const refs_origin *key) {
    refs_origin_state *origin = keep(origins, key);
    if (origin == NULL) return NULL;
    origin->n_users++;
    return origin;
}

void refs_origin__release(refs_origin_state *origin) {
    if (origin != NULL) origin->n_users--;
}

uint64_t refs_origin__free_at(const refs_origin_state *origin, uint64_t now_us) {
    if (origin == NULL) return now_us;
    if (origin->window > 0 && origin->n_active > 0 &&
        origin->n_active >= (unsigned)(origin->window + ROUND_UP))
        return UINT64_MAX;
    return origin->next_us > now_us ? origin->next_us : now_us;
}

/* Begins a request. If it is late, because timers are not exact, those behind it are not
 * delayed. */
void refs_origin__begin(refs_origin_state *origin, uint64_t now_us) {
    if (origin == NULL) return;
    origin->n_active++;
    if (origin->interval_us <= 0) return;
    uint64_t credit = origin->interval_us < TIMED_US ? CREDIT_US : 0;
    uint64_t from = now_us > credit ? now_us - credit : 0;
    if (origin->next_us > from) from = origin->next_us;
    origin->next_us = from + (uint64_t)origin->interval_us;
}

void refs_origin__rejoin(refs_origin_state *origin) {
    if (origin != NULL) origin->n_active++;
}

void refs_origin__end(refs_origin_state *origin) {
    if (origin != NULL) origin->n_active--;
}

bool refs_origin__is_refusal(long status) {
    return status == 429 || status == 503;
}

/* Whether a refusal is no limit of requests: nothing was answered since the last cut, and the
 * request was the only one and began at its time, so more time between requests would not have
 * helped. */
static bool is_no_limit(const refs_origin_state *origin, const refs_answer *answer) {
    return answer->came_back && origin->n_answered == 0 && answer->n_active <= 1;
}

static double most_interval(const refs_answer *answer) {
    double asked_us = 1000 * (double)answer->retry_after_ms;
    if (answer->status != 429) return (double)REFS_HTTP_MAX_INTERVAL_UNAVAILABLE_US;
    return asked_us > REFS_HTTP_MAX_INTERVAL_US ? asked_us : (double)REFS_HTTP_MAX_INTERVAL_US;
}

static void cut(refs_origin_state *origin, const refs_answer *answer) {
    double factor = origin->n_answered >= FEW ? CUT_MET
                    : origin->n_answered > 0  ? CUT_MOST
                                              : CUT_ALL;
    double at =
        origin->window > 0 && origin->window < answer->n_active ? origin->window : answer->n_active;
    double most = most_interval(answer);
    origin->refused_us = origin->interval_us < most ? origin->interval_us : most;
    origin->window = at * factor > MIN_WINDOW ? at * factor : MIN_WINDOW;
    origin->interval_us = origin->interval_us > 0 ? origin->interval_us / factor
                                                  : origin->latency_us / origin->window;
    if (origin->interval_us > most) origin->interval_us = most;
    /* A refusal soon after another one shows the server's clock, not a new limit. */
    origin->is_searching = factor == CUT_ALL || (factor == CUT_MOST && origin->is_searching);
}

/* Returns the fraction by which the window grows. The time between requests is halved if requests
 * at this interval were refused before and are answered now. */
static double growth(const refs_origin_state *origin) {
    if (origin->is_searching && origin->interval_us <= origin->refused_us) return 1;
    return origin->is_searching || origin->n_answered > MANY ? GROW_SEARCHING : GROW_KNOWN;
}

/* Widens the window. An origin whose limit is gone forgets it. */
static void grow(refs_origin_state *origin, unsigned most) {
    double by = growth(origin);
    origin->window *= 1 + by;
    origin->interval_us /= 1 + by;
    if (origin->window < most) return;
    origin->window = origin->interval_us = origin->refused_us = 0;
    origin->next_us = 0;
}

static void note_refusal(refs_origin_state *origin, const refs_answer *answer, uint64_t now_us) {
    if (!is_no_limit(origin, answer)) cut(origin, answer);
    origin->next_us = now_us + (uint64_t)origin->interval_us;
    origin->cut_us = now_us;
    origin->n_answered = 0;
}

void refs_origin__note(refs_origin_state *origin, const refs_answer *answer, unsigned most,
                       uint64_t now_us) {
    if (origin == NULL) return;
    double latency_us = (double)answer->latency_us;
    origin->latency_us =
        origin->latency_us > 0 ? (3 * origin->latency_us + latency_us) / 4 : latency_us;
    if (!refs_origin__is_refusal(answer->status)) origin->answered_us = now_us;
    if (answer->began_us < origin->cut_us) return;
    if (refs_origin__is_refusal(answer->status)) {
        note_refusal(origin, answer, now_us);
    } else if (origin->window > 0) {
        origin->n_answered++;
        grow(origin, most);
    }
}

bool refs_origin__has_answered_since(const refs_origin_state *origin, uint64_t then_us) {
    return origin != NULL && origin->answered_us > then_us;
}
