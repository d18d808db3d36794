/* upload_transfer.c -- see upload_transfer.h. */
#include "upload_transfer.h"

#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "refs/fork.h"
#include "refs/now.h"

/* Limit of an answer's body, which S3 uses for its result or the reason of a failure. */
#define MAX_ANSWER_BYTES (256 * REFS_KIB)

/* -- callbacks of libcurl ---------------------------------------------------------------------- */

static size_t give(char *dst, size_t size, size_t n, void *user) {
    refs_transfer *transfer = user;
    uint64_t left = transfer->length - transfer->sent;
    size_t wanted = size * n < left ? size * n : (size_t)left;
    if (wanted == 0) return 0;
    if (transfer->file < 0) {
        memcpy(dst, transfer->body.data + transfer->sent, wanted);
        transfer->sent += wanted;
        return wanted;
    }
    ssize_t got = pread(transfer->file, dst, wanted, (off_t)(transfer->offset + transfer->sent));
    if (got <= 0) return CURL_READFUNC_ABORT;
    transfer->sent += (uint64_t)got;
    return (size_t)got;
}

static int rewind_to(void *user, curl_off_t offset, int origin) {
    refs_transfer *transfer = user;
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
    transfer->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static size_t take(char *src, size_t size, size_t n, void *user) {
    refs_transfer *transfer = user;
    if (transfer->answer.size + size * n > MAX_ANSWER_BYTES) return 0;
    return refs_buf_append(&transfer->answer, src, size * n, NULL) == REFS_OK ? size * n : 0;
}

static size_t take_header(char *src, size_t size, size_t n, void *user) {
    refs_transfer *transfer = user;
    if (size * n > 5 && strncasecmp(src, "etag:", 5) == 0) {
        refs_str value = refs_str_trim(refs_str_view(src + 5, size * n - 5), " \t\r\n");
        if (value.size < sizeof transfer->etag) {
            memcpy(transfer->etag, value.data, value.size);
            transfer->etag[value.size] = '\0';
        }
    }
    return size * n;
}

/* -- one attempt ------------------------------------------------------------------------------- */

/* Signs each attempt, because the first signature may have expired. */
static refs_status make_url(const refs_sending *sending, const refs_transfer *transfer,
                            refs_buf *url, refs_error *err) {
    refs_object object;
    REFS_TRY(refs_cloud__parse(sending->cloud, sending->location, &object, err));
    refs_lock(&sending->cloud->lock);
    refs_status status = refs_cloud__renew_grant(sending->cloud, &object, err);
    object.question = refs_str_from(transfer->query);
    object.method = transfer->method;
    if (status == REFS_OK) status = refs_cloud__url(sending->cloud, &object, url, err);
    refs_unlock(&sending->cloud->lock);
    return status == REFS_OK ? refs_buf_append(url, "", 1, err) : status;
}

static refs_status append_header(refs_transfer *transfer, const char *header, refs_error *err) {
    struct curl_slist *more = curl_slist_append(transfer->headers, header);
    if (more == NULL) return refs_fail_nomem(err);
    transfer->headers = more;
    return REFS_OK;
}

/* RFC 9110, section 13.1. */
static refs_status append_condition(refs_transfer *transfer, refs_error *err) {
    char header[192];
    if (transfer->if_match == NULL) return REFS_OK;
    if (*transfer->if_match == '\0') return append_header(transfer, "If-None-Match: *", err);
    snprintf(header, sizeof header, "If-Match: %s", transfer->if_match);
    return append_header(transfer, header, err);
}

/* HEAD has no body, and neither has its answer. */
static void set_method(const refs_transfer *transfer) {
    const bool is_question = strcmp(transfer->method, "HEAD") == 0;
    if (is_question) {
        curl_easy_setopt(transfer->easy, CURLOPT_NOBODY, 1L);
        return;
    }
    curl_easy_setopt(transfer->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(transfer->easy, CURLOPT_CUSTOMREQUEST, transfer->method);
}

/* Header fields about the caller are the same as in reads. */
static refs_status prepare(const refs_sending *sending, refs_transfer *transfer, const char *url,
                           refs_error *err) {
    refs_http_handle handle = {transfer->easy, NULL, false};
    const refs_http_object object = {sending->location, url};
    refs_status status = refs_http_handle_prepare(&handle, &sending->cloud->functions,
                                                  &sending->rules, &object, err);
    transfer->headers = handle.headers;
    if (status == REFS_OK) status = append_header(transfer, "Expect:", err);
    return status == REFS_OK ? append_condition(transfer, err) : status;
}

static void set_options(const refs_sending *sending, refs_transfer *transfer, const char *url) {
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    refs_http_handle_guard(easy, &sending->rules, url, &transfer->gate);
    set_method(transfer);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)transfer->length);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind_to);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)REFS_HTTP_MIN_SPEED);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)(sending->rules.stall_ms / 1000 + 1));
    refs_cloud__set_connect_timeout(&sending->cloud->settings, sending->connect_s, easy);
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT,
                     1L); /* cancelled uploads do not wait for the resolver */
#endif
}

static refs_status begin(const refs_sending *sending, refs_transfer *transfer, CURLM *multi,
                         refs_error *err) {
    REFS_SCOPED_BUF url = REFS_BUF_INIT;
    REFS_TRY(make_url(sending, transfer, &url, err));
    transfer->easy = curl_easy_init();
    transfer->answer.size = 0;
    transfer->etag[0] = '\0';
    transfer->sent = 0;
    transfer->n_tries++;
    REFS_TRY(transfer->easy != NULL ? prepare(sending, transfer, (const char *)url.data, err)
                                    : refs_fail_nomem(err));
    set_options(sending, transfer, (const char *)url.data);
    if (curl_multi_add_handle(multi, transfer->easy) != CURLM_OK) return refs_fail_nomem(err);
    return REFS_OK;
}

static void end(refs_transfer *transfer, CURLM *multi) {
    if (transfer->easy == NULL) return;
    curl_multi_remove_handle(multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    transfer->easy = NULL;
    transfer->headers = NULL;
}

/* -- results ----------------------------------------------------------------------------------- */

static bool is_for_the_moment(CURLcode code, long status) {
    switch (code) {
    case CURLE_OK:
        return status == 429 || (status >= 500 && status != 501);
    case CURLE_COULDNT_CONNECT:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

refs_str refs_cloud__transfer_code(const refs_transfer *transfer) {
    static const char before[] = "<Code>";
    refs_str text = refs_buf_text(&transfer->answer);
    for (size_t i = 0; i + sizeof before <= text.size; i++)
        if (memcmp(text.data + i, before, sizeof before - 1) == 0) {
            refs_str code = refs_str_part(text, i + sizeof before - 1, text.size);
            return refs_str_part(code, 0, refs_str_find(code, '<'));
        }
    return refs_str_view("", 0);
}

static refs_status fail(const refs_sending *sending, const refs_transfer *transfer, CURLcode code,
                        long status, refs_error *err) {
    const refs_http_provider *asked = &sending->cloud->functions;
    refs_str said = refs_cloud__transfer_code(transfer);
    char tried[48] = "";
    if (transfer->n_tries > 1)
        snprintf(tried, sizeof tried, ", after %u attempts", transfer->n_tries);
    refs_error refused = REFS_ERROR_INIT;
    if (refs_http_gate_result(&transfer->gate, code, &refused) != REFS_OK)
        return refs_fail(err, refused.status, "%s: cannot be written: %s", sending->location,
                         refused.message);
    if (code != CURLE_OK)
        return refs_fail(err, REFS_IO, "%s: cannot be written: %s%s", sending->location,
                         curl_easy_strerror(code), tried);
    const char *advice = asked->advice(asked->self, sending->location, status);
    return refs_fail(err, status == 404 ? REFS_NOT_FOUND : REFS_IO,
                     "%s: cannot be written: HTTP %ld%s%.*s%s%s%s", sending->location, status,
                     said.size > 0 ? " " : "", REFS_STR_ARG(said), tried,
                     advice != NULL ? ": " : "", advice != NULL ? advice : "");
}

refs_status refs_cloud__fail_changed(const refs_sending *sending, refs_error *err) {
    return refs_fail(
        err, REFS_INVALID,
        "%s: not overwritten: another program changed it after it was read: run the command again",
        sending->location);
}

/* S3 may send status 200 with a body that reports a failure. */
static bool is_success(const refs_transfer *transfer, CURLcode code, long status) {
    if (code != CURLE_OK) return false;
    if (status == 404 && transfer->may_be_absent) return true;
    return status >= 200 && status < 300 && refs_cloud__transfer_code(transfer).size == 0;
}

static refs_status conclude(const refs_sending *sending, refs_transfer *transfer, CURLcode code,
                            refs_error *err) {
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    transfer->status = code == CURLE_OK ? status : 0;
    transfer->is_done = is_success(transfer, code, status);
    if (transfer->is_done) return REFS_OK;
    /* S3: ConditionalRequestConflict, if another upload of the object is in progress. */
    const bool is_changed = status == 412 || (status == 409 && transfer->if_match != NULL);
    if (is_changed) return refs_cloud__fail_changed(sending, err);
    bool again = is_for_the_moment(code, status) || (code == CURLE_OK && status < 300);
    if (!again || transfer->n_tries > sending->rules.max_retries ||
        refs_http_gate_result(&transfer->gate, code, NULL) != REFS_OK)
        return fail(sending, transfer, code, status, err);
    unsigned doubled = transfer->n_tries < 8 ? transfer->n_tries - 1 : 7;
    transfer->due_ms = (int64_t)refs_now_ms() + ((int64_t)sending->rules.retry_delay_ms << doubled);
    return REFS_OK;
}

/* -- all requests ------------------------------------------------------------------------------ */

static refs_status take_results(const refs_sending *sending, CURLM *multi, refs_error *err) {
    const CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        refs_transfer *transfer = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE) continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        refs_status status = conclude(sending, transfer, code, err);
        end(transfer, multi);
        REFS_TRY(status);
    }
    return REFS_OK;
}

/* Transfers that run concurrently. */
typedef struct transfer_list {
    refs_transfer *transfers;
    size_t n;
} transfer_list;

/* Begins transfers that are due, as many as the limit allows. */
static refs_status begin_more(const refs_sending *sending, const transfer_list *all, size_t room,
                              CURLM *multi, refs_error *err) {
    int64_t now = (int64_t)refs_now_ms();
    for (size_t i = 0; i < all->n; i++)
        if (all->transfers[i].easy != NULL && room > 0) room--;
    for (size_t i = 0; i < all->n && room > 0; i++) {
        refs_transfer *one = &all->transfers[i];
        if (one->is_done || one->easy != NULL || one->due_ms > now) continue;
        REFS_TRY(begin(sending, one, multi, err));
        room--;
    }
    return REFS_OK;
}

static bool all_are_done(const transfer_list *all) {
    for (size_t i = 0; i < all->n; i++)
        if (!all->transfers[i].is_done) return false;
    return true;
}

static refs_status run(const refs_sending *sending, const transfer_list *all, size_t at_a_time,
                       CURLM *multi, refs_error *err) {
    while (!all_are_done(all)) {
        int running;
        REFS_TRY(refs_check_cancelled(&sending->cancel, err));
        REFS_TRY(begin_more(sending, all, at_a_time, multi, err));
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            return refs_fail(err, REFS_IO, "%s: libcurl failed to start the upload",
                             sending->location);
        REFS_TRY(take_results(sending, multi, err));
        if (running > 0)
            (void)curl_multi_poll(multi, NULL, 0, REFS_CANCEL_POLL_MS, NULL);
        else if (!all_are_done(all))
            (void)curl_multi_poll(multi, NULL, 0, 10, NULL);
    }
    return REFS_OK;
}

refs_status refs_cloud__transfer(const refs_sending *sending, refs_transfer *transfers, size_t n,
                                 size_t at_a_time, refs_error *err) {
    CURLM *multi = curl_multi_init();
    if (multi == NULL) return refs_fail_nomem(err);
    const transfer_list all = {transfers, n};
    refs_status status = run(sending, &all, at_a_time, multi, err);
    for (size_t i = 0; i < n; i++) end(&transfers[i], multi);
    curl_multi_cleanup(multi);
    return status;
}

void refs_cloud__transfer_clear(refs_transfer *transfer) {
    refs_buf_clear(&transfer->answer);
}
