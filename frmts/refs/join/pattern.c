/* pattern.c -- values of dimensions in names: "t2m_{time:%Y%m%d}.nc". */
#include "join_internal.h"

#include <errno.h>
#include <stdlib.h>

/* -- times ------------------------------------------------------------------------------------- */

typedef struct clock {
    int64_t year, month, day, hour, minute, second, day_of_year;
} clock_fields;

static bool read_digits(refs_str *text, size_t most, int64_t *number) {
    size_t n = 0;
    *number = 0;
    while (n < most && n < text->size && text->data[n] >= '0' && text->data[n] <= '9')
        *number = *number * 10 + (text->data[n++] - '0');
    *text = refs_str_part(*text, n, text->size);
    return n > 0;
}

static bool read_field(char code, refs_str *text, clock_fields *time) {
    switch (code) {
    case 'Y':
        return read_digits(text, 4, &time->year);
    case 'm':
        return read_digits(text, 2, &time->month);
    case 'd':
        return read_digits(text, 2, &time->day);
    case 'j':
        return read_digits(text, 3, &time->day_of_year);
    case 'H':
        return read_digits(text, 2, &time->hour);
    case 'M':
        return read_digits(text, 2, &time->minute);
    case 'S':
        return read_digits(text, 2, &time->second);
    default:
        return false;
    }
}

/* Days from 1970-01-01 to a date of the Gregorian calendar. */
static int64_t day_of(int64_t year, int64_t month, int64_t day) {
    int64_t m = (month + 9) % 12, y = year - m / 10;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool is_date(const clock_fields *time) {
    return time->month >= 1 && time->month <= 12 && time->day >= 1 && time->day <= 31 &&
           time->day_of_year <= 366 && time->hour <= 24 && time->minute < 60 && time->second <= 60;
}

/* Takes what `format` says from the beginning of `text`. */
static bool read_time(refs_str format, refs_str *text, int64_t *seconds) {
    clock_fields time = {1970, 1, 1, 0, 0, 0, 0};
    for (size_t i = 0; i < format.size; i++) {
        if (format.data[i] == '%' && i + 1 < format.size) {
            if (!read_field(format.data[++i], text, &time)) return false;
        } else if (text->size == 0 || text->data[0] != format.data[i]) {
            return false;
        } else {
            *text = refs_str_part(*text, 1, text->size);
        }
    }
    int64_t day = time.day_of_year > 0 ? day_of(time.year, 1, 1) + time.day_of_year - 1
                                       : day_of(time.year, time.month, time.day);
    *seconds = day * 86400 + time.hour * 3600 + time.minute * 60 + time.second;
    return is_date(&time);
}

/* -- fields ------------------------------------------------------------------------------------ */

static bool read_number(refs_str text, refs_pattern_value *value) {
    char copy[64], *end;
    if (text.size == 0 || text.size >= sizeof copy) return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    errno = 0;
    if (value->kind == REFS_PATTERN_INTEGER)
        value->integer = strtoll(copy, &end, 10);
    else
        value->number = strtod(copy, &end);
    return *end == '\0' && errno == 0;
}

typedef struct matching {
    const refs_join *join;
    refs_pattern_value *values;
} matching;

static bool match(const matching *at, refs_str pattern, refs_str text);

/* A field, "time:%Y" without its braces, and what follows it. A value that is not a time is as
 * short as can be. */
static bool match_field(const matching *at, refs_str field, refs_str rest, refs_str text) {
    size_t colon = refs_str_find(field, ':'), line;
    refs_str name = refs_str_part(field, 0, colon);
    refs_str format = refs_str_part(field, colon == SIZE_MAX ? field.size : colon + 1, field.size);
    refs_pattern_value value = {.is_set = true, .kind = REFS_PATTERN_TEXT};
    bool is_known = refs_join__is_dim(at->join, name, &line);
    if (refs_str_is(format, "d")) value.kind = REFS_PATTERN_INTEGER;
    if (refs_str_is(format, "f")) value.kind = REFS_PATTERN_NUMBER;
    if (refs_str_find(format, '%') != SIZE_MAX) {
        value.kind = REFS_PATTERN_TIME;
        if (!read_time(format, &text, &value.integer) || !match(at, rest, text)) return false;
        if (is_known) at->values[line] = value;
        return true;
    }
    for (size_t n = 1; n <= text.size; n++) {
        value.text = refs_str_part(text, 0, n);
        if (value.text.data[n - 1] == '/') return false;
        if (value.kind != REFS_PATTERN_TEXT && !read_number(value.text, &value)) continue;
        if (!match(at, rest, refs_str_part(text, n, text.size))) continue;
        if (is_known) at->values[line] = value;
        return true;
    }
    return false;
}

static bool match_star(const matching *at, refs_str rest, refs_str text) {
    for (size_t n = 0; n <= text.size; n++) {
        if (match(at, rest, refs_str_part(text, n, text.size))) return true;
        if (n < text.size && text.data[n] == '/') return false;
    }
    return false;
}

static bool match(const matching *at, refs_str pattern, refs_str text) {
    while (pattern.size > 0) {
        refs_str rest = refs_str_part(pattern, 1, pattern.size);
        if (pattern.data[0] == '*') return match_star(at, rest, text);
        if (pattern.data[0] == '{') {
            size_t brace = refs_str_find(pattern, '}');
            return brace != SIZE_MAX &&
                   match_field(at, refs_str_part(pattern, 1, brace),
                               refs_str_part(pattern, brace + 1, pattern.size), text);
        }
        if (text.size == 0 || text.data[0] != pattern.data[0]) return false;
        pattern = rest;
        text = refs_str_part(text, 1, text.size);
    }
    return text.size == 0;
}

/* The pattern may begin anywhere behind a slash: it is the end of a name. */
refs_status refs_join__match(const refs_join *join, const char *name,
                             refs_pattern_value values[REFS_JOIN_MAX_DIMS], refs_error *err) {
    const matching at = {join, values};
    refs_str pattern = refs_str_from(join->options.pattern), text = refs_str_from(name);
    for (size_t begin = 0; begin <= text.size; begin++)
        if ((begin == 0 || text.data[begin - 1] == '/') &&
            match(&at, pattern, refs_str_part(text, begin, text.size)))
            return REFS_OK;
    return refs_fail(err, REFS_INVALID, "its name does not fit the pattern \"%s\"",
                     join->options.pattern);
}

refs_status refs_join_pattern_dims(const char *pattern, refs_buf *dims, refs_error *err) {
    for (const char *at = pattern; (at = strchr(at, '{')) != NULL;) {
        const size_t size = strcspn(++at, ":}");
        REFS_TRY(refs_buf_append(dims, at, size, err));
        REFS_TRY(refs_buf_append(dims, "", 1, err));
    }
    return REFS_OK;
}
