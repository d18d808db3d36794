/* http_transfer.c -- one request: what is asked, what is accepted, what is tried again. */
#include "http_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* The waiter is woken when so much has arrived: often enough to keep decoders busy. */
#define TELL_BYTES (256 * (uint64_t)REFS_KIB)

static bool is_whole(const refs_transfer *transfer) {
    return transfer->length == REFS_FETCH_WHOLE;
}

/* -- the response's head ----------------------------------------------------------------------- */

/* The value of header `name` (lower case, with colon) in `line`, or NULL. */
static const char *header_value(const char *line, size_t size, const char *name) {
    size_t length = strlen(name);
    if (size <= length || strncasecmp(line, name, length) != 0) return NULL;
    const char *value = line + length;
    while (*value == ' ' || *value == '\t') value++;
    return value;
}

/* "bytes 0-99/1000", "bytes 0-99/" followed by "*", or "bytes" with "*" for the range. */
static void read_content_range(const char *value, refs_response *response) {
    unsigned long long begin, last, total;
    if (sscanf(value, "bytes %llu-%llu", &begin, &last) == 2 && last >= begin &&
        last < UINT64_MAX) {
        response->has_range = true;
        response->range_begin = begin;
        response->range_end = last + 1;
    }
    const char *slash = strchr(value, '/');
    if (slash != NULL && sscanf(slash, "/%llu", &total) == 1) {
        response->has_total = true;
        response->total = total;
    }
}

static void read_retry_after(const char *value, refs_response *response) {
    char *end;
    unsigned long long seconds = strtoull(value, &end, 10);
    if (end != value && seconds <= REFS_HTTP_MAX_RETRY_AFTER_MS / 1000)
        response->retry_after_ms = seconds * 1000;
    else if (end != value)
        response->retry_after_ms = REFS_HTTP_MAX_RETRY_AFTER_MS;
}

static void copy_line(const char *value, char *copy, size_t size) {
    size_t length = strcspn(value, "\r\n");
    if (length >= size) length = size - 1;
    memcpy(copy, value, length);
    copy[length] = '\0';
}

/* libcurl ends each line with CRLF but not with a NUL. */
static size_t on_header(char *data, size_t item_size, size_t n, void *user) {
    refs_transfer *transfer = user;
    refs_response *response = &transfer->response;
    char line[512];
    size_t size = item_size * n;
    size_t kept = size < sizeof line ? size : sizeof line - 1;
    memcpy(line, data, kept);
    line[kept] = '\0';

    const char *value;
    if (strncmp(line, "HTTP/", 5) == 0) /* a redirect or an interim response came before */
        *response = (refs_response){0};
    else if ((value = header_value(line, kept, "content-range:")) != NULL)
        read_content_range(value, response);
    else if ((value = header_value(line, kept, "retry-after:")) != NULL)
        read_retry_after(value, response);
    else if ((value = header_value(line, kept, "etag:")) != NULL)
        copy_line(value, response->etag, sizeof response->etag);
    else if ((value = header_value(line, kept, "content-encoding:")) != NULL)
        response->encoded = strncasecmp(value, "identity", 8) != 0;
    return size;
}

/* -- the response's body
 * ---------------------------------------------------------------------------- */

static long http_status(const refs_transfer *transfer) {
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static refs_status make_room(refs_transfer *transfer, uint64_t size, refs_error *err) {
    if (size > transfer->max_size)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                         (unsigned long long)size, (unsigned long long)transfer->max_size);
    refs_block *larger = refs_block_new((size_t)size, NULL, NULL);
    if (larger == NULL) return refs_fail_nomem(err);
    if (transfer->block != NULL)
        memcpy(refs_block_data(larger), refs_block_data(transfer->block),
               (size_t)atomic_load(&transfer->got));
    refs_block_release(transfer->block);
    transfer->block = larger;
    return REFS_OK;
}

/* A whole location: its size is mostly known, and found by growing where it is not. */
static refs_status check_whole(refs_transfer *transfer, refs_error *err) {
    curl_off_t size = -1;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    atomic_store(&transfer->got, 0);
    return make_room(transfer, size >= 0 ? (uint64_t)size : 64 * REFS_KIB, err);
}

static refs_status check_range(refs_transfer *transfer, refs_error *err) {
    const refs_response *response = &transfer->response;
    uint64_t begin = transfer->offset + atomic_load(&transfer->got);
    uint64_t end = transfer->offset + transfer->length;
    if (!response->has_range)
        return refs_fail(err, REFS_IO, "HTTP 206 without the range that it is");
    if (response->range_begin != begin || response->range_end > end)
        return refs_fail(err, REFS_IO, "the server sent [%llu+%llu] for [%llu+%llu]",
                         (unsigned long long)response->range_begin,
                         (unsigned long long)(response->range_end - response->range_begin),
                         (unsigned long long)begin, (unsigned long long)(end - begin));
    if (response->range_end < end)
        return refs_fail(err, REFS_IO, "ends at byte %llu, before the range does",
                         (unsigned long long)response->range_end);
    return REFS_OK;
}

/* Looks at a response before its first byte is kept. */
static refs_status check_response(refs_transfer *transfer, refs_error *err) {
    long status = http_status(transfer);
    if (transfer->response.encoded)
        return refs_fail(err, REFS_IO, "the server sent its own encoding instead of bytes");
    if (status == 200 && is_whole(transfer)) return check_whole(transfer, err);
    if (status == 206 && !is_whole(transfer)) return check_range(transfer, err);
    transfer->ranges_ignored = status == 200;
    return refs_fail(err, REFS_IO, "HTTP %ld for a %s", status,
                     is_whole(transfer) ? "whole object" : "range");
}

static void tell(refs_transfer *transfer, uint64_t got) {
    if (got - transfer->told < TELL_BYTES) return;
    transfer->told = got;
    pthread_mutex_lock(&transfer->waiter->lock);
    pthread_cond_broadcast(&transfer->waiter->moved);
    pthread_mutex_unlock(&transfer->waiter->lock);
}

static refs_status keep_body(refs_transfer *transfer, const char *data, size_t size,
                             refs_error *err) {
    if (!transfer->checked) {
        transfer->checked = true;
        REFS_TRY(check_response(transfer, err));
    }
    uint64_t got = atomic_load(&transfer->got);
    size_t room = refs_block_size(transfer->block);
    if (is_whole(transfer) && size > room - got) {
        REFS_TRY(make_room(transfer, (got + size) * 2, err));
        room = refs_block_size(transfer->block);
    }
    if (size > room - got) return refs_fail(err, REFS_IO, "the server sent more than the range");
    memcpy(refs_block_data(transfer->block) + got, data, size);
    atomic_store(&transfer->got, got + size);
    if (!is_whole(transfer)) tell(transfer, got + size);
    return REFS_OK;
}

/* Bodies of error responses are of no use: they are read over, so that the connection lives on. */
static size_t on_body(char *data, size_t item_size, size_t n, void *user) {
    refs_transfer *transfer = user;
    size_t size = item_size * n;
    transfer->n_bytes += size;
    if (http_status(transfer) >= 300) return size;
    transfer->refused = keep_body(transfer, data, size, &transfer->error) != REFS_OK;
    return transfer->refused ? 0 : size;
}

/* -- an attempt
 * --------------------------------------------------------------------------------------- */

refs_status refs_transfer__prepare(refs_transfer *transfer, const refs_http_host *host,
                                   const char *url, refs_error *err) {
    CURL *easy = curl_easy_init();
    if (easy == NULL) return refs_fail_nomem(err);
    transfer->easy = easy;
    transfer->headers = host->prepare(host->self, transfer->location, url, easy);
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->curl_text);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, NULL);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                     (long)(transfer->options->stall_ms + 999) / 1000);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024);
    if (strncmp(url, "https:", 6) == 0) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    return REFS_OK;
}

void refs_transfer__begin_attempt(refs_transfer *transfer) {
    transfer->checked = transfer->refused = transfer->ranges_ignored = false;
    transfer->response = (refs_response){0};
    transfer->curl_text[0] = '\0';
    transfer->n_requests++;
    if (is_whole(transfer)) return;
    char range[64];
    snprintf(range, sizeof range, "%llu-%llu",
             (unsigned long long)(transfer->offset + atomic_load(&transfer->got)),
             (unsigned long long)(transfer->offset + transfer->length - 1));
    curl_easy_setopt(transfer->easy, CURLOPT_RANGE, range);
}

static bool is_transient_status(long status) {
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

static bool is_transient_code(CURLcode code) {
    switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static refs_status fail_status(const refs_transfer *transfer, long status, refs_error *err) {
    if (status == 416 && transfer->response.has_total)
        return refs_fail(err, REFS_IO, "ends at byte %llu, before the range does (HTTP 416)",
                         (unsigned long long)transfer->response.total);
    const char *hint =
        status == 401 || status == 403 ? " (for a public bucket try AWS_NO_SIGN_REQUEST=YES)" : "";
    return refs_fail(err, REFS_IO, "HTTP %ld%s", status, hint);
}

/* Sets the error of an attempt that ended, if it has one. */
static void judge(refs_transfer *transfer, CURLcode code, long status) {
    refs_error *err = &transfer->error;
    if (transfer->refused) return;
    if (status >= 300 && (code == CURLE_OK || code == CURLE_PARTIAL_FILE)) {
        (void)fail_status(transfer, status, err);
        return;
    }
    if (code != CURLE_OK) {
        const char *text = transfer->curl_text;
        (void)refs_fail(err, REFS_IO, "%s", *text != '\0' ? text : curl_easy_strerror(code));
        return;
    }
    if (!transfer->checked) { /* no byte came: whatever else is wrong, say it */
        transfer->checked = true;
        if (check_response(transfer, err) != REFS_OK) return;
    }
    uint64_t got = atomic_load(&transfer->got);
    if (!is_whole(transfer) && got < transfer->length)
        (void)refs_fail(err, REFS_IO, "only %llu of %llu bytes arrived", (unsigned long long)got,
                        (unsigned long long)transfer->length);
}

static bool may_retry(const refs_transfer *transfer, CURLcode code, long status) {
    if (transfer->refused || transfer->n_requests > transfer->options->max_retries) return false;
    if (code == CURLE_OK) return is_transient_status(status);
    return is_transient_code(code) || is_transient_status(status);
}

bool refs_transfer__end_attempt(refs_transfer *transfer, CURLcode code, uint64_t *delay_ms) {
    long status = http_status(transfer);
    judge(transfer, code, status);
    if (transfer->error.status == REFS_OK) return true;
    if (!may_retry(transfer, code, status)) {
        if (transfer->n_requests > 1)
            refs_error_prefix(&transfer->error, "after %u attempts", transfer->n_requests);
        return true;
    }
    unsigned doublings = transfer->n_requests - 1 < 10 ? transfer->n_requests - 1 : 10;
    *delay_ms = (uint64_t)transfer->options->retry_delay_ms << doublings;
    if (transfer->response.retry_after_ms > *delay_ms)
        *delay_ms = transfer->response.retry_after_ms;
    if (is_whole(transfer)) atomic_store(&transfer->got, 0);
    refs_error_clear(&transfer->error);
    return false;
}

void refs_transfer__clear(refs_transfer *transfer) {
    if (transfer->easy != NULL) curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    refs_block_release(transfer->block);
    transfer->easy = NULL;
    transfer->headers = NULL;
    transfer->block = NULL;
}

void refs_transfer__finish(refs_transfer *transfer) {
    refs_waiter *waiter = transfer->waiter;
    pthread_mutex_lock(&waiter->lock);
    transfer->done = true;
    pthread_cond_broadcast(&waiter->moved);
    pthread_mutex_unlock(&waiter->lock);
}
