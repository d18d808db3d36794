/* moment.c -- see moment.h. */
#include "icechunk/moment.h"

#include "refs/civil.h"

#define SECOND INT64_C(1000000)

/* Cuts exactly `n` digits off. */
static bool take_digits(refs_str *text, size_t n, int64_t *number) {
    int64_t value = 0;
    if (text->size < n) return false;
    for (size_t i = 0; i < n; i++) {
        if (text->data[i] < '0' || text->data[i] > '9') return false;
        value = value * 10 + (text->data[i] - '0');
    }
    *number = value;
    *text = refs_str_part(*text, n, text->size);
    return true;
}

static bool take(refs_str *text, const char *any) {
    if (text->size == 0 || strchr(any, text->data[0]) == NULL || text->data[0] == '\0')
        return false;
    *text = refs_str_part(*text, 1, text->size);
    return true;
}

static bool take_date(refs_str *text, int64_t *days) {
    int64_t year, month, day;
    if (!take_digits(text, 4, &year) || !take(text, "-") || !take_digits(text, 2, &month) ||
        !take(text, "-") || !take_digits(text, 2, &day))
        return false;
    if (!refs_is_civil_date(year, month, day)) return false;
    *days = refs_days_from_civil(year, (int)month, day);
    return true;
}

/* Reads the digits of a fraction of a second; those after the sixth are ignored. Sets *length to
 * the unit of the last digit, in microseconds. */
static bool take_fraction(refs_str *text, int64_t *microseconds, int64_t *length) {
    int64_t unit = SECOND;
    size_t n = 0;
    for (; n < text->size && text->data[n] >= '0' && text->data[n] <= '9'; n++) {
        if (unit == 1) continue;
        unit /= 10;
        *microseconds += unit * (text->data[n] - '0');
    }
    *text = refs_str_part(*text, n, text->size);
    *length = unit;
    return n > 0;
}

static bool take_time(refs_str *text, int64_t *microseconds, int64_t *length) {
    int64_t hour, minute, second = 0;
    if (!take_digits(text, 2, &hour) || !take(text, ":") || !take_digits(text, 2, &minute))
        return false;
    *length = 60 * SECOND;
    const bool has_seconds = take(text, ":");
    if (has_seconds && !take_digits(text, 2, &second)) return false;
    if (hour > 23 || minute > 59 || second > 60) return false;
    *microseconds = ((hour * 60 + minute) * 60 + second) * SECOND;
    if (!has_seconds) return true;
    *length = SECOND;
    return !take(text, ".") || take_fraction(text, microseconds, length);
}

static bool take_offset(refs_str *text, int64_t *microseconds) {
    int64_t hours, minutes;
    *microseconds = 0;
    if (text->size == 0 || take(text, "Zz")) return true;
    const int64_t sign = text->data[0] == '-' ? -1 : 1;
    if (!take(text, "+-") || !take_digits(text, 2, &hours)) return false;
    (void)take(text, ":");
    if (!take_digits(text, 2, &minutes) || hours > 23 || minutes > 59) return false;
    *microseconds = sign * (hours * 60 + minutes) * 60 * SECOND;
    return true;
}

refs_status refs_icechunk__moment_parse(refs_str text, int64_t *microseconds, refs_error *err) {
    refs_str rest = text;
    int64_t days = 0, time = 0, length = 24 * 3600 * SECOND, offset = 0;
    bool is_good = take_date(&rest, &days);
    if (is_good && rest.size > 0)
        is_good =
            take(&rest, "Tt ") && take_time(&rest, &time, &length) && take_offset(&rest, &offset);
    if (!is_good || rest.size > 0)
        return refs_fail(
            err, REFS_INVALID,
            "expected a time such as 2024-05-01 or 2024-05-01T12:00:00Z, found \"%.*s\"",
            REFS_STR_ARG(text));
    *microseconds = days * 24 * 3600 * SECOND + time - offset + length - 1;
    return REFS_OK;
}
