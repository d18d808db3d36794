/* fuzz_time.c -- units of time, calendars and periods of ISO 8601. Four lines: units, calendar, a
 * period, and a value. */
#include <math.h>
#include <stdlib.h>

#include "cf_internal.h"
#include "fuzz.h"
#include "support.h"

/* Days and dates are each other's inverse. */
static void check_day(refs_cf__calendar calendar, int64_t day) {
    refs_cf__date date = refs_cf__date_of_day(calendar, day);
    if (date.month < 1 || date.month > 12 || date.day < 1 || date.day > 31) abort();
    if (refs_cf__day_of_date(calendar, date) != day) abort();
}

static void check_period(refs_str text, refs_cf__calendar calendar) {
    refs_cf__period period;
    if (!refs_cf__parse_period(text, calendar, &period)) return;
    if (period.first > period.last) abort();
    check_day(calendar, period.first / REFS_CF__DAY_MILLISECONDS);
}

/* A time that is shown is the one that is selected by what is shown. */
static void check_time(const refs_cf_band_axis *axis, const refs_cf__clock *ticks) {
    int64_t instant = 0;
    refs_buf text = REFS_BUF_INIT;
    refs_cf__period period;
    if (refs_cf_time_text(axis, 0, &text, NULL) != REFS_OK) abort();
    bool shown = refs_cf__instant(ticks, axis->values[0], &instant);
    if (shown != (text.size > 0)) abort();
    refs_str name = refs_str_view((const char *)text.data, text.size);
    if (shown && refs_cf__parse_period(name, ticks->calendar, &period) &&
        (instant < period.first || instant > period.last))
        abort();
    refs_buf_clear(&text);
}

static void tell_time(char *units, char *calendar, const refs_dtype *dtype, double value) {
    const refs_array_meta coordinate = {.path = "/t", .name = "t", .group = "", .dtype = *dtype};
    refs_cf_band_axis axis = {.name = "t",
                              .kind = REFS_CF_AXIS_TIME,
                              .coordinate = &coordinate,
                              .n = 1,
                              .values = &value,
                              .units = units,
                              .calendar = calendar};
    refs_cf__clock ticks = {.numpy = false};
    if (refs_cf__read_clock(&axis, &ticks)) check_time(&axis, &ticks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_str text = refs_str_view((const char *)data, size), lines[4];
    for (size_t i = 0; i < 4; i++) {
        lines[i] = refs_str_view("", 0);
        fuzz_next_line(&text, &lines[i]);
    }
    char *units = refs_str_copy(lines[0]), *calendar = refs_str_copy(lines[1]);
    refs_dtype dtype = {.type = REFS_TYPE_FLOAT, .size = 8};
    double value = 0;
    if (units == NULL || calendar == NULL) abort();
    if (refs_dtype_parse(lines[0], &dtype, NULL) != REFS_OK)
        dtype = (refs_dtype){.type = REFS_TYPE_FLOAT, .size = 8};
    refs_cf__parse_number(lines[3], &value);
    tell_time(units, *calendar != '\0' ? calendar : NULL, &dtype, value);
    for (int i = REFS_CF__STANDARD; i <= REFS_CF__360_DAY; i++) {
        check_period(lines[2], (refs_cf__calendar)i);
        if (fabs(value) < 1e9) check_day((refs_cf__calendar)i, (int64_t)value);
    }
    refs_free(units);
    refs_free(calendar);
    return 0;
}
