/* fuzz_transfer.c -- what a server sends, from the first byte of its status line to the end of the
 * connection, to the engine that reads ranges over HTTP.
 *
 * The first byte of an input says what is asked for, the rest is what the server answers: parts
 * that end with the line below, one for each connection, the last for all that follow. */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "refs/block.h"
#include "refs/http.h"
#include "support.h"

#define PART_END "\n--\n"

/* All objects are this one: bytes that came may be compared with it. */
enum { OBJECT_BYTES = 4096, RANGE_BEGIN = 100, RANGE_BYTES = 50, MAX_WHOLE_BYTES = 8192 };

/* -- the server -------------------------------------------------------------------------------- */

static struct server {
    int listener;
    char url[64];
    pthread_mutex_t lock; /* guards what follows */
    refs_str answers;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Takes the next part off the answers; the last one stays. */
static refs_str next_answer(void) {
    size_t size = sizeof PART_END - 1;
    pthread_mutex_lock(&server.lock);
    refs_str answer = server.answers;
    for (size_t i = 0; i + size <= answer.size; i++) {
        if (memcmp(answer.data + i, PART_END, size) != 0) continue;
        server.answers = refs_str_part(answer, i + size, answer.size);
        answer = refs_str_part(answer, 0, i);
        break;
    }
    char *copy = refs_str_copy(answer); /* the input may be gone while it is sent */
    pthread_mutex_unlock(&server.lock);
    return refs_str_view(copy, copy != NULL ? answer.size : 0);
}

/* Answers the first request of a connection, and ends it. */
static void answer_one(int connection) {
    char request[8192];
    if (recv(connection, request, sizeof request, 0) > 0) {
        refs_str answer = next_answer();
        for (size_t sent = 0; sent < answer.size;) {
            ssize_t n = send(connection, answer.data + sent, answer.size - sent, MSG_NOSIGNAL);
            if (n <= 0) break;
            sent += (size_t)n;
        }
        char *copy = (char *)(uintptr_t)answer.data;
        refs_free(copy);
    }
    shutdown(connection, SHUT_WR);
    while (recv(connection, request, sizeof request, 0) > 0) continue;
    close(connection);
}

static void *serve(void *argument) {
    (void)argument;
    for (;;) {
        int connection = accept(server.listener, NULL, NULL);
        if (connection >= 0) answer_one(connection);
    }
    return NULL;
}

static void start_server(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    void *generic = &address;
    pthread_t thread;
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server.listener, generic, size) != 0 || listen(server.listener, 64) != 0 ||
        getsockname(server.listener, generic, &size) != 0 ||
        pthread_create(&thread, NULL, serve, NULL) != 0)
        abort();
    pthread_detach(thread);
    snprintf(server.url, sizeof server.url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
}

/* -- the host ---------------------------------------------------------------------------------- */

static refs_status url_of(void *self, const char *location, refs_buf *url, refs_error *err) {
    (void)self;
    if (strncmp(location, "/vsicurl/", 9) != 0) return REFS_UNSUPPORTED;
    return refs_buf_append_str(url, refs_str_from(location + 9), err);
}

/* What the server sends may lead anywhere: all of it leads back here. */
static refs_status prepare(void *self, const refs_http_object *object, void *easy, void **headers,
                           refs_error *err) {
    (void)self;
    (void)object;
    (void)headers;
    (void)err;
    curl_easy_setopt(easy, CURLOPT_PROXY, server.url);
    curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 0L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 2000L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    return REFS_OK;
}

static const refs_http_provider host = {NULL, url_of, NULL, prepare, NULL, NULL, NULL};

/* -- one input --------------------------------------------------------------------------------- */

/* What is asked for, by the first byte of the input. */
typedef enum asked { ASK_RANGE, ASK_RANGES, ASK_WHOLE, ASK_SMALL, ASK_FILE, N_ASKED } asked;

static refs_status check_bytes(void *user, size_t index, refs_bytes bytes, struct refs_block *block,
                               refs_error *err) {
    const refs_range *ranges = user;
    (void)block;
    (void)err;
    if (ranges[index].length != REFS_FETCH_WHOLE && bytes.size != ranges[index].length) abort();
    if (ranges[index].max_length > 0 && bytes.size > ranges[index].max_length) abort();
    if (bytes.size > MAX_WHOLE_BYTES) abort();
    volatile uint8_t sum = 0; /* all of them can be read */
    for (size_t i = 0; i < bytes.size; i++) sum = (uint8_t)(sum ^ bytes.data[i]);
    (void)sum;
    return REFS_OK;
}

static void fetch(refs_http *http, asked what) {
    const refs_vfs *none = refs_vfs_posix();
    refs_fetch_options options = REFS_FETCH_OPTIONS_INIT;
    refs_error err = REFS_ERROR_INIT;
    refs_fetcher *fetcher = NULL;
    char location[64] = "/vsicurl/http://a.example/d";
    refs_range ranges[] = {{0, location, RANGE_BEGIN, RANGE_BYTES, 0, REFS_RANGE_REQUIRED},
                           {0, location, RANGE_BEGIN + 40, RANGE_BYTES, 0, REFS_RANGE_REQUIRED}};
    options.http = http;
    options.max_whole_bytes = MAX_WHOLE_BYTES;
    options.max_memory_bytes = OBJECT_BYTES;
    if (what == ASK_WHOLE || what == ASK_SMALL) ranges[0].length = REFS_FETCH_WHOLE;
    if (what == ASK_WHOLE || what == ASK_SMALL) ranges[0].offset = 0;
    if (what == ASK_SMALL) ranges[0].max_length = RANGE_BYTES;
    if (refs_fetcher_open(none, &options, &fetcher, NULL) != REFS_OK) abort();
    const refs_fetch_client client = {.sink = check_bytes, .user = ranges};
    fuzz_check_words(refs_fetch(fetcher, ranges, what == ASK_RANGES ? 2 : 1, &client, &err), &err);
    refs_fetcher_free(fetcher);
}

/* As a set is read: whole, or piece by piece by somebody else, who has nothing. */
static void read_file(refs_http *http) {
    refs_http_vfs *files = NULL;
    refs_error err = REFS_ERROR_INIT;
    refs_buf content = REFS_BUF_INIT;
    refs_vfs_validators validators;
    if (refs_http_vfs_open(http, refs_vfs_posix(), MAX_WHOLE_BYTES, &files, NULL) != REFS_OK)
        abort();
    const refs_vfs *vfs = refs_http_vfs_functions(files);
    const char *location = "/vsicurl/http://a.example/set.json";
    fuzz_check_words(refs_vfs_read_whole(vfs, location, MAX_WHOLE_BYTES, &content, &err), &err);
    refs_error_clear(&err);
    fuzz_check_words(vfs->validators(vfs->self, location, &validators, &err), &err);
    if (content.size > MAX_WHOLE_BYTES) abort();
    if (memchr(validators.etag, '\0', sizeof validators.etag) == NULL) abort();
    refs_buf_clear(&content);
    refs_http_vfs_free(files);
}

/* A server may ask for a minute's patience. */
static bool asks_to_wait(refs_str text) {
    static const char header[] = "retry-after";
    for (size_t i = 0; i + sizeof header <= text.size; i++)
        if (strncasecmp(text.data + i, header, sizeof header - 1) == 0) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_http_options options = REFS_HTTP_OPTIONS_INIT;
    refs_http *http = NULL;
    if (size < 1) return 0;
    if (server.url[0] == '\0') start_server();
    refs_str answers = refs_str_view((const char *)data + 1, size - 1);
    options.rules.max_retries = asks_to_wait(answers) ? 0 : 2;
    options.rules.retry_delay_ms = 1;
    pthread_mutex_lock(&server.lock);
    server.answers = answers;
    pthread_mutex_unlock(&server.lock);
    if (refs_http_open(&host, &options, &http, NULL) != REFS_OK) abort();
    asked what = (asked)(data[0] % N_ASKED);
    if (what == ASK_FILE)
        read_file(http);
    else
        fetch(http, what);
    refs_http_free(http);
    pthread_mutex_lock(&server.lock);
    server.answers = refs_str_view("", 0);
    pthread_mutex_unlock(&server.lock);
    return 0;
}
