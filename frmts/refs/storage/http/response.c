/* response.c -- see http/response.h. */
#include "http/response.h"

#include <ctype.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "refs/validators.h"

#define BLANKS " \t\r\n"

/* Seconds by which the clock of a server may be wrong (RFC 7232, section 2.2.2). */
#define CLOCKS_DIFFER_S 60

static bool starts(refs_str text, const char *with) {
    size_t size = strlen(with);
    return text.size >= size && strncasecmp(text.data, with, size) == 0;
}

/* Takes digits from the beginning of `text`; false without any, or where they are too many. */
static bool take_number(refs_str *text, uint64_t *number) {
    size_t n = 0;
    *number = 0;
    for (; n < text->size && text->data[n] >= '0' && text->data[n] <= '9'; n++)
        if (!refs_mul_u64(*number, 10, number) ||
            !refs_add_u64(*number, (uint64_t)(text->data[n] - '0'), number))
            return false;
    *text = refs_str_part(*text, n, text->size);
    return n > 0;
}

static bool take(refs_str *text, const char *expected) {
    if (!starts(*text, expected)) return false;
    *text = refs_str_part(*text, strlen(expected), text->size);
    return true;
}

/* RFC 9110, section 14.4: "bytes 0-99/1000", with "*" for a total or a range that is not known. */
static void read_content_range(refs_str value, refs_response *response) {
    uint64_t begin = 0, last = 0, total = 0;
    if (!take(&value, "bytes ")) return;
    value = refs_str_trim(value, BLANKS);
    bool has_range = false;
    if (!take(&value, "*")) {
        if (!take_number(&value, &begin) || !take(&value, "-") || !take_number(&value, &last))
            return;
        if (last < begin || last == UINT64_MAX) return;
        has_range = true;
    }
    if (!take(&value, "/")) return;
    bool has_total = !take(&value, "*");
    if (has_total && (!take_number(&value, &total) || (has_range && last >= total))) return;
    if (value.size > 0) return;
    response->has_range = has_range;
    response->range_begin = has_range ? begin : 0;
    response->range_end = has_range ? last + 1 : 0;
    response->validators.has_size = has_total;
    response->validators.size = has_total ? total : 0;
}

/* A date as seconds since 1970, or -1. */
static time_t read_date(refs_str value) {
    char text[64];
    if (value.size >= sizeof text) return -1;
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    time_t date = curl_getdate(text, NULL);
    int year;
    if (date == -1 && sizeof date < 8 && sscanf(text, "%*s %*d %*s %d", &year) == 1 && year > 2037)
        date = INT32_MAX; /* where it has 32 bits, which end there */
    return date;
}

/* RFC 9110, section 10.2.3: seconds, or the date to come back at. */
static void read_retry_after(refs_str value, refs_response *response) {
    uint64_t seconds = 0;
    refs_str rest = value;
    bool is_number = value.size > 0 && value.data[0] >= '0' && value.data[0] <= '9';
    if (is_number && (!take_number(&rest, &seconds) || seconds > UINT64_MAX / 1000))
        seconds = UINT64_MAX / 1000;
    if (!is_number) {
        time_t date = read_date(value), now = time(NULL);
        seconds = date > now ? (uint64_t)(date - now) : 0;
    }
    response->retry_after_ms = seconds * 1000;
}

static void copy_text(refs_str value, char *copy, size_t size) {
    size_t length = value.size < size ? value.size : size - 1;
    memcpy(copy, value.data, length);
    copy[length] = '\0';
}

static bool is_word(refs_str text) {
    for (size_t i = 0; i < text.size; i++)
        if (!isalnum((unsigned char)text.data[i]) && strchr("-_.", text.data[i]) == NULL)
            return false;
    return true;
}

/* Nothing but words is shown and believed, and nothing that was cut. */
static void copy_word(refs_str value, char *word, size_t size) {
    if (value.size < size && is_word(value)) copy_text(value, word, size);
}

void refs_response__element(refs_str body, const char *name, char *content, size_t size) {
    char tag[32];
    size_t tag_size = (size_t)snprintf(tag, sizeof tag, "<%s>", name);
    content[0] = '\0';
    for (size_t i = 0; i + tag_size <= body.size; i++) {
        if (memcmp(body.data + i, tag, tag_size) != 0) continue;
        refs_str rest = refs_str_part(body, i + tag_size, body.size);
        size_t end = refs_str_find(rest, '<');
        if (end != SIZE_MAX) copy_word(refs_str_part(rest, 0, end), content, size);
        return;
    }
}

/* An object that was modified as the response was made has no useful date: it may change again
 * within the second, and there are servers that date all answers so (RFC 9110, section 8.8.2.2).
 * A server that does not date its answers is judged by the clock of this machine. */
static void settle(refs_response *response) {
    refs_vfs_validators *validators = &response->validators;
    const bool is_dated = response->date_s != 0;
    const int64_t fresh_for_s = is_dated ? 1 : CLOCKS_DIFFER_S;
    validators->date_s = is_dated ? response->date_s : (int64_t)time(NULL);
    if (validators->modified_s < validators->date_s - fresh_for_s) return;
    validators->fresh_s = validators->modified_s;
    validators->modified_s = 0;
}

static int64_t date_or_zero(refs_str value) {
    time_t date = read_date(value);
    return date > 0 ? (int64_t)date : 0;
}

static void read_content_type(refs_str value, refs_response *response) {
    response->multipart = starts(value, "multipart/byteranges");
    response->is_page = starts(value, "text/html") || starts(value, "application/xhtml");
}

void refs_response__line(refs_response *response, refs_str line) {
    if (starts(line, "HTTP/")) {
        *response = (refs_response){0};
        return;
    }
    if (refs_str_trim(line, BLANKS).size == 0) settle(response);
    size_t colon = refs_str_find(line, ':');
    if (colon == SIZE_MAX) return;
    refs_str name = refs_str_part(line, 0, colon + 1);
    refs_str value = refs_str_trim(refs_str_part(line, colon + 1, line.size), BLANKS);
    if (starts(name, "content-range:"))
        read_content_range(value, response);
    else if (starts(name, "retry-after:"))
        read_retry_after(value, response);
    else if (starts(name, "etag:"))
        refs_validators_set_etag(&response->validators, value);
    else if (starts(name, "last-modified:"))
        response->validators.modified_s = date_or_zero(value);
    else if (starts(name, "date:"))
        response->date_s = date_or_zero(value);
    else if (starts(name, "content-encoding:"))
        response->encoded = value.size > 0 && !starts(value, "identity");
    else if (starts(name, "x-amz-bucket-region:"))
        copy_word(value, response->region, sizeof response->region);
    else if (starts(name, "content-type:"))
        read_content_type(value, response);
}
