/* sigv4.c -- see sigv4.h. */
#include "sigv4.h"

#include <stdio.h>
#include <stdlib.h>

#include "refs/percent.h"
#include "refs/sha256.h"

#define METHOD "AWS4-HMAC-SHA256"

/* Most parameters of a query: those of a listing and of a signature. */
#define MAX_PARAMETERS 32

refs_status refs_sigv4__escape(refs_str text, const char *plain, refs_buf *escaped,
                               refs_error *err) {
    return refs_percent_append(text, plain, escaped, err);
}

/* The time and scope of a signature. */
typedef struct scope {
    char day[16], moment[32];
    char text[128]; /* "20130524/us-east-1/s3/aws4_request" */
} scope;

static refs_status make_scope(const refs_signer *signer, scope *made, refs_error *err) {
    struct tm utc;
    if (gmtime_r(&signer->now, &utc) == NULL)
        return refs_fail(err, REFS_INVALID,
                         "the system clock is outside the years that a signature can have");
    strftime(made->day, sizeof made->day, "%Y%m%d", &utc);
    strftime(made->moment, sizeof made->moment, "%Y%m%dT%H%M%SZ", &utc);
    int size =
        snprintf(made->text, sizeof made->text, "%s/%s/s3/aws4_request", made->day, signer->region);
    return size < (int)sizeof made->text
               ? REFS_OK
               : refs_fail(err, REFS_INVALID,
                           "the name of the region has %zu bytes, more than the limit of %zu",
                           strlen(signer->region),
                           sizeof made->text - sizeof "YYYYMMDD//s3/aws4_request");
}

/* -- the query --------------------------------------------------------------------------------- */

static refs_status append_parameter(const char *name, const char *value, refs_buf *query,
                                    refs_error *err) {
    REFS_TRY(refs_buf_printf(query, err, "%s%s=", query->size > 0 ? "&" : "", name));
    return refs_sigv4__escape(refs_str_from(value), "", query, err);
}

static int compare(const void *a, const void *b) {
    return refs_str_compare(*(const refs_str *)a, *(const refs_str *)b);
}

/* Appends the parameters of `query`, sorted by name. No name used here is a prefix of another, so
 * sorting "name=value" is the same. */
static refs_status append_sorted(refs_str query, refs_buf *sorted, refs_error *err) {
    refs_str parts[MAX_PARAMETERS];
    size_t n = 0;
    while (query.size > 0) {
        if (n == MAX_PARAMETERS)
            return refs_fail(err, REFS_LIMIT, "the query has more parameters than the limit of %d",
                             MAX_PARAMETERS);
        size_t end = refs_str_find(query, '&');
        parts[n++] = refs_str_part(query, 0, end);
        query = refs_str_part(query, end == SIZE_MAX ? query.size : end + 1, query.size);
    }
    qsort(parts, n, sizeof *parts, compare);
    for (size_t i = 0; i < n; i++) {
        if (i > 0) REFS_TRY(refs_buf_append(sorted, "&", 1, err));
        REFS_TRY(refs_buf_append_str(sorted, parts[i], err));
    }
    return REFS_OK;
}

static refs_status make_query(const refs_signer *signer, const scope *in, refs_str asked,
                              refs_buf *query, refs_error *err) {
    REFS_SCOPED_BUF all = REFS_BUF_INIT, credential = REFS_BUF_INIT, valid = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&credential, err, "%s/%s%c", signer->access_key, in->text, '\0'));
    REFS_TRY(refs_buf_printf(&valid, err, "%u%c", signer->valid_s, '\0'));
    REFS_TRY(refs_buf_append_str(&all, asked, err));
    REFS_TRY(append_parameter("X-Amz-Algorithm", METHOD, &all, err));
    REFS_TRY(append_parameter("X-Amz-Credential", (const char *)credential.data, &all, err));
    REFS_TRY(append_parameter("X-Amz-Date", in->moment, &all, err));
    REFS_TRY(append_parameter("X-Amz-Expires", (const char *)valid.data, &all, err));
    if (signer->session_token != NULL)
        REFS_TRY(append_parameter("X-Amz-Security-Token", signer->session_token, &all, err));
    REFS_TRY(append_parameter("X-Amz-SignedHeaders", "host", &all, err));
    return append_sorted(refs_buf_text(&all), query, err);
}

/* -- the signature ----------------------------------------------------------------------------- */

static refs_status make_key(const refs_signer *signer, const char *day,
                            uint8_t key[REFS_SHA256_SIZE], refs_error *err) {
    const char *const parts[] = {day, signer->region, "s3", "aws4_request"};
    REFS_SCOPED_BUF secret = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&secret, err, "AWS4%s", signer->secret_key);
    refs_bytes with = refs_buf_view(&secret);
    for (size_t i = 0; status == REFS_OK && i < 4; i++) {
        uint8_t next[REFS_SHA256_SIZE];
        status = refs_sha256_hmac(with, refs_bytes_view(parts[i], strlen(parts[i])), next, err);
        if (status == REFS_OK) memcpy(key, next, sizeof next);
        with = refs_bytes_view(key, REFS_SHA256_SIZE);
    }
    if (secret.size > 0) memset(secret.data, 0, secret.size);
    return status;
}

static refs_status make_signature(const refs_signer *signer, const scope *in, refs_bytes canonical,
                                  char hex[REFS_SHA256_TEXT], refs_error *err) {
    uint8_t hash[REFS_SHA256_SIZE], key[REFS_SHA256_SIZE];
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    refs_sha256(canonical, hash);
    refs_sha256_print(hash, hex);
    REFS_TRY(make_key(signer, in->day, key, err));
    REFS_TRY(refs_buf_printf(&text, err, METHOD "\n%s\n%s\n%s", in->moment, in->text, hex));
    REFS_TRY(refs_sha256_hmac(refs_bytes_view(key, sizeof key), refs_buf_view(&text), hash, err));
    refs_sha256_print(hash, hex);
    return REFS_OK;
}

refs_status refs_sigv4__sign(const refs_signer *signer, const refs_signable *asked, refs_buf *query,
                             refs_error *err) {
    char hex[REFS_SHA256_TEXT];
    REFS_SCOPED_BUF canonical = REFS_BUF_INIT;
    size_t begin = query->size;
    scope in;
    REFS_TRY(make_scope(signer, &in, err));
    REFS_TRY(make_query(signer, &in, asked->query, query, err));
    REFS_TRY(
        refs_buf_printf(&canonical, err, "%s\n", asked->method != NULL ? asked->method : "GET"));
    REFS_TRY(refs_buf_append_str(&canonical, asked->path, err));
    REFS_TRY(refs_buf_append(&canonical, "\n", 1, err));
    REFS_TRY(refs_buf_append(&canonical, query->data + begin, query->size - begin, err));
    REFS_TRY(refs_buf_append(&canonical, "\nhost:", 6, err));
    REFS_TRY(refs_buf_append_str(&canonical, asked->authority, err));
    REFS_TRY(refs_buf_printf(&canonical, err, "\n\nhost\nUNSIGNED-PAYLOAD"));
    REFS_TRY(make_signature(signer, &in, refs_buf_view(&canonical), hex, err));
    return refs_buf_printf(query, err, "&X-Amz-Signature=%s", hex);
}
