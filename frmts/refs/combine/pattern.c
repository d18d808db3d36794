/* pattern.c -- values of dimensions in names: "t2m_{time:%Y%m%d}.nc". */
#include "combine_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "refs/civil.h"

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

static bool is_date(const clock_fields *time) {
    return refs_is_civil_date(time->year, time->month, time->day) && time->hour <= 24 &&
           time->minute < 60 && time->second <= 60 && time->day_of_year >= 0 &&
           time->day_of_year <=
               refs_days_from_civil(time->year + 1, 1, 1) - refs_days_from_civil(time->year, 1, 1);
}

/* Parses the beginning of `text` by `format`. Day 367 of a year is invalid, like a day of year
 * 0. */
static bool read_time(refs_str format, refs_str *text, int64_t *seconds, bool *is_wrong) {
    clock_fields time = {1970, 1, 1, 0, 0, 0, 0};
    bool has_day_of_year = false;
    for (size_t i = 0; i < format.size; i++) {
        if (format.data[i] == '%' && i + 1 < format.size) {
            if (!read_field(format.data[++i], text, &time)) return false;
            has_day_of_year = has_day_of_year || format.data[i] == 'j';
        } else if (text->size == 0 || text->data[0] != format.data[i]) {
            return false;
        } else {
            *text = refs_str_part(*text, 1, text->size);
        }
    }
    *is_wrong = !is_date(&time) || (has_day_of_year && time.day_of_year == 0);
    int64_t day = has_day_of_year ? refs_days_from_civil(time.year, 1, 1) + time.day_of_year - 1
                                  : refs_days_from_civil(time.year, (int)time.month, time.day);
    *seconds = day * 86400 + time.hour * 3600 + time.minute * 60 + time.second;
    return true;
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
    const refs_combine *combine;
    refs_pattern_value *values;
    refs_str wrong; /* the text of an invalid time if everything else matches */
} matching;

static bool match(matching *at, refs_str pattern, refs_str text);

/* Matches a field, "time:%Y" without braces, and the text after it. A value that is not a time is
 * as short as possible. */
static bool match_field(matching *at, refs_str field, refs_str rest, refs_str text) {
    size_t colon = refs_str_find(field, ':'), concat;
    refs_str name = refs_str_part(field, 0, colon);
    refs_str format = refs_str_part(field, colon == SIZE_MAX ? field.size : colon + 1, field.size);
    refs_pattern_value value = {.is_set = true, .kind = REFS_PATTERN_TEXT};
    bool is_known = refs_combine__is_dim(at->combine, name, &concat);
    if (refs_str_is(format, "d")) value.kind = REFS_PATTERN_INTEGER;
    if (refs_str_is(format, "f")) value.kind = REFS_PATTERN_NUMBER;
    if (refs_str_find(format, '%') != SIZE_MAX) {
        value.kind = REFS_PATTERN_TIME;
        const refs_str begin = text;
        bool is_wrong;
        if (!read_time(format, &text, &value.integer, &is_wrong) || !match(at, rest, text))
            return false;
        if (is_wrong) at->wrong = refs_str_part(begin, 0, begin.size - text.size);
        if (is_wrong) return false;
        if (is_known) at->values[concat] = value;
        return true;
    }
    for (size_t n = 1; n <= text.size; n++) {
        value.text = refs_str_part(text, 0, n);
        if (value.text.data[n - 1] == '/') return false;
        if (value.kind != REFS_PATTERN_TEXT && !read_number(value.text, &value)) continue;
        if (!match(at, rest, refs_str_part(text, n, text.size))) continue;
        if (is_known) at->values[concat] = value;
        return true;
    }
    return false;
}

static bool match_star(matching *at, refs_str rest, refs_str text) {
    for (size_t n = 0; n <= text.size; n++) {
        if (match(at, rest, refs_str_part(text, n, text.size))) return true;
        if (n < text.size && text.data[n] == '/') return false;
    }
    return false;
}

static bool match(matching *at, refs_str pattern, refs_str text) {
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

/* The pattern is the end of a name: it may begin after any slash. */
refs_status refs_combine__match(const refs_combine *combine, const char *name,
                                refs_pattern_value values[REFS_COMBINE_MAX_DIMS], refs_error *err) {
    matching at = {combine, values, {NULL, 0}};
    refs_str pattern = refs_str_from(combine->options.pattern), text = refs_str_from(name);
    for (size_t begin = 0; begin <= text.size; begin++)
        if ((begin == 0 || text.data[begin - 1] == '/') &&
            match(&at, pattern, refs_str_part(text, begin, text.size)))
            return REFS_OK;
    if (at.wrong.size > 0)
        return refs_fail(
            err, REFS_INVALID,
            "\"%.*s\" in its name is not a time of the standard calendar, as the pattern \"%s\" "
            "requires: leave the pattern out to use the coordinates of the files",
            REFS_STR_ARG(at.wrong), combine->options.pattern);
    return refs_fail(err, REFS_INVALID, "its name does not fit the pattern \"%s\"",
                     combine->options.pattern);
}

/* -- kinds of patterns ------------------------------------------------------------------------- */

static refs_status fail_pattern(const char *pattern, const char *what, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "pattern \"%s\": %s", pattern, what);
}

static refs_status check_codes(const char *pattern, refs_str format, refs_error *err) {
    for (size_t i = 0; i < format.size; i++) {
        if (format.data[i] != '%') continue;
        const char code = ++i < format.size ? format.data[i] : ' ';
        if (strchr("YmdjHMS", code) == NULL)
            return refs_fail(
                err, REFS_INVALID,
                "pattern \"%s\": unknown \"%%%c\": expected %%Y, %%m, %%d, %%j, %%H, %%M or %%S",
                pattern, code);
    }
    return REFS_OK;
}

/* Fails if a pattern names a dimension twice: only one value would be used, and files would be
 * lost. */
static refs_status check_new(const char *pattern, const refs_buf *dims, size_t begin, refs_str name,
                             refs_error *err) {
    if (!refs_str_has_text(refs_str_part(refs_buf_text(dims), begin, SIZE_MAX), name))
        return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "pattern \"%s\": %.*s is named twice: name it once, as "
                     "{%.*s:%%Y%%m%%d}, and other parts of names by *",
                     pattern, REFS_STR_ARG(name), REFS_STR_ARG(name));
}

refs_status refs_combine_pattern_dims(const char *pattern, refs_buf *dims, refs_error *err) {
    const size_t begin = dims->size;
    for (const char *at = pattern; (at = strchr(at, '{')) != NULL;) {
        const refs_str field = refs_str_view(at + 1, strcspn(at + 1, "}"));
        const refs_str name = refs_str_part(field, 0, refs_str_find(field, ':'));
        if (at[1 + field.size] == '\0') return fail_pattern(pattern, "\"{\" without \"}\"", err);
        if (name.size == 0)
            return fail_pattern(pattern, "a field without the name of a dimension", err);
        REFS_TRY(check_codes(pattern, refs_str_part(field, name.size, field.size), err));
        REFS_TRY(check_new(pattern, dims, begin, name, err));
        REFS_TRY(refs_buf_append(dims, name.data, name.size, err));
        REFS_TRY(refs_buf_append(dims, "", 1, err));
        at += 1 + field.size;
    }
    return REFS_OK;
}
