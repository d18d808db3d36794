/* cookies.c -- see http/cookies.h. */
#include "http/cookies.h"

#include <pthread.h>
#include <string.h>

#include "refs/fork.h"

struct refs_cookies {
    refs_cookies *next;
    unsigned n_users; /* who hold it */
    uint64_t credentials;
    bool is_tls;
    char *file, *jar; /* or NULL */
    CURLSH *share;
    CURL *keeper; /* whose files they are */
    bool is_dirty;
    uint64_t written_ms;                        /* 0: never */
    pthread_mutex_t locks[CURL_LOCK_DATA_LAST]; /* for each of what is shared */
};

static void lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *user) {
    (void)easy;
    (void)access;
    refs_lock(&((refs_cookies *)user)->locks[data]);
}
static void unlock(CURL *easy, curl_lock_data data, void *user) {
    (void)easy;
    refs_unlock(&((refs_cookies *)user)->locks[data]);
}

static void free_one(refs_cookies *cookies) {
    if (cookies->keeper != NULL) curl_easy_cleanup(cookies->keeper); /* writes the jar */
    if (cookies->share != NULL) curl_share_cleanup(cookies->share);
    for (int i = 0; i < CURL_LOCK_DATA_LAST; i++) pthread_mutex_destroy(&cookies->locks[i]);
    refs_free(cookies->file);
    refs_free(cookies->jar);
    refs_free(cookies);
}

void refs_cookies__use(refs_cookies *cookies, CURL *easy) {
    if (cookies == NULL) return;
    curl_easy_setopt(easy, CURLOPT_COOKIEJAR, NULL);
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, NULL); /* none of those before */
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");   /* but cookies */
    curl_easy_setopt(easy, CURLOPT_SHARE, cookies->share);
}

/* The file of cookies is read with the first request. The jar is named only if there is something
 * to write, because a handle writes it when it ends. */
static void fill(refs_cookies *cookies) {
    CURL *keeper = cookies->keeper;
    curl_easy_setopt(keeper, CURLOPT_SHARE, cookies->share);
    if (cookies->file == NULL) return;
    curl_easy_setopt(keeper, CURLOPT_COOKIEFILE, cookies->file);
    curl_easy_setopt(keeper, CURLOPT_COOKIELIST, "RELOAD");
}

static char *copy(const char *text) {
    return text != NULL ? refs_str_copy(refs_str_from(text)) : NULL;
}

/* The key of a store. */
typedef struct store_key {
    uint64_t credentials;
    bool is_tls;
    const char *file, *jar; /* borrowed, or NULL */
} store_key;

/* The jar contains cookies that came over https, so http may not use it. */
static store_key key_of(const refs_http_rules *rules, const refs_origin *origin) {
    bool is_tls = refs_origin_is_tls(origin);
    bool reads = is_tls || rules->cookie_jar == NULL ||
                 !refs_is_same_text(rules->cookie_jar, rules->cookie_file);
    return (store_key){rules->credentials, is_tls, reads ? rules->cookie_file : NULL,
                       is_tls ? rules->cookie_jar : NULL};
}

static refs_cookies *make(const store_key *key) {
    refs_cookies *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    for (int i = 0; i < CURL_LOCK_DATA_LAST; i++) pthread_mutex_init(&made->locks[i], NULL);
    made->credentials = key->credentials;
    made->is_tls = key->is_tls;
    made->file = copy(key->file);
    made->jar = copy(key->jar);
    made->share = curl_share_init();
    made->keeper = curl_easy_init();
    if (made->share == NULL || made->keeper == NULL ||
        (made->file == NULL) != (key->file == NULL) || (made->jar == NULL) != (key->jar == NULL)) {
        free_one(made);
        return NULL;
    }
    curl_share_setopt(made->share, CURLSHOPT_LOCKFUNC, lock);
    curl_share_setopt(made->share, CURLSHOPT_UNLOCKFUNC, unlock);
    curl_share_setopt(made->share, CURLSHOPT_USERDATA, made);
    curl_share_setopt(made->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    curl_share_setopt(made->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    fill(made);
    return made;
}

static bool is_of(const refs_cookies *cookies, const store_key *key) {
    return cookies->credentials == key->credentials && cookies->is_tls == key->is_tls &&
           refs_is_same_text(cookies->file, key->file) && refs_is_same_text(cookies->jar, key->jar);
}

refs_cookies *refs_cookies__of(refs_cookies **first, const refs_http_rules *rules,
                               const refs_origin *origin) {
    const store_key key = key_of(rules, origin);
    refs_cookies **link = first;
    while (*link != NULL && !is_of(*link, &key)) link = &(*link)->next;
    refs_cookies *found = *link;
    if (found != NULL)
        *link = found->next;
    else
        found = make(&key);
    if (found == NULL) return NULL;
    found->next = *first; /* the latest first */
    *first = found;
    found->n_users++;
    return found;
}

void refs_cookies__release(refs_cookies *cookies) {
    if (cookies != NULL) cookies->n_users--;
}

refs_cookies *refs_cookies__take_old(refs_cookies **first) {
    refs_cookies **oldest = NULL;
    size_t n = 0;
    for (refs_cookies **link = first; *link != NULL; link = &(*link)->next)
        if (++n > REFS_HTTP_MAX_COOKIE_STORES / 2 && (*link)->n_users == 0) oldest = link;
    if (n <= REFS_HTTP_MAX_COOKIE_STORES || oldest == NULL) return NULL;
    refs_cookies *taken = *oldest;
    *oldest = taken->next;
    taken->next = NULL;
    return taken;
}

static void write_jar(refs_cookies *cookies) {
    curl_easy_setopt(cookies->keeper, CURLOPT_COOKIEJAR, cookies->jar);
    curl_easy_setopt(cookies->keeper, CURLOPT_COOKIELIST, "FLUSH");
    curl_easy_setopt(cookies->keeper, CURLOPT_COOKIEJAR, NULL);
    cookies->is_dirty = false;
}

void refs_cookies__changed(refs_cookies *cookies, uint64_t now_ms) {
    if (cookies == NULL || cookies->jar == NULL) return;
    cookies->is_dirty = true;
    if (cookies->written_ms != 0 && now_ms < cookies->written_ms + REFS_HTTP_COOKIES_MS) return;
    cookies->written_ms = now_ms;
    write_jar(cookies);
}

void refs_cookies__free_all(refs_cookies *first) {
    for (refs_cookies *next; first != NULL; first = next) {
        next = first->next;
        if (first->is_dirty) write_jar(first);
        free_one(first);
    }
}
