/* time.c -- times of CF ("hours since 1970-01-01") and of NumPy as ISO 8601. */
#include "cf_internal.h"
#include "clock.h"

#include <math.h>

/* Times with a larger distance from their origin are invalid, and so are larger offsets of the
 * origin. */
static const double max_days = 1e8;

typedef struct time_unit {
    const char *name;
    double seconds;
} time_unit;

/* Months and years of UDUNITS are fractions of a tropical year, which users do not expect: only
 * supported in calendars whose months or years have one length. */
static const time_unit cf_units[] = {
    {"nanosecond", 1e-9},
    {"nanosec", 1e-9},
    {"nsec", 1e-9},
    {"ns", 1e-9},
    {"microsecond", 1e-6},
    {"microsec", 1e-6},
    {"us", 1e-6},
    {"millisecond", 1e-3},
    {"millisec", 1e-3},
    {"msec", 1e-3},
    {"ms", 1e-3},
    {"second", 1},
    {"sec", 1},
    {"s", 1},
    {"minute", 60},
    {"min", 60},
    {"hour", 3600},
    {"hr", 3600},
    {"h", 3600},
    {"day", 86400},
    {"d", 86400},
    {"week", 604800},
};

static const time_unit units_of_360_days[] = {{"month", 30 * 86400}, {"year", 360 * 86400}};
static const time_unit units_of_365_days[] = {{"year", 365 * 86400}, {"common_year", 365 * 86400}};
static const time_unit units_of_366_days[] = {{"year", 366 * 86400}};

static bool find_unit(const time_unit *units, size_t n, refs_str name, double *seconds) {
    const bool is_plural = name.size > 2 && (refs_str_ends(name, "s") || refs_str_ends(name, "S"));
    const refs_str singular = refs_str_part(name, 0, name.size - is_plural);
    for (size_t i = 0; i < n; i++) {
        if (!refs_cf__same_word(name, units[i].name) &&
            !refs_cf__same_word(singular, units[i].name))
            continue;
        *seconds = units[i].seconds;
        return true;
    }
    return false;
}

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

bool refs_cf__unit_seconds(refs_str name, double *seconds) {
    return find_unit(cf_units, COUNT(cf_units), name, seconds);
}

static bool find_cf_unit(refs_cf__calendar calendar, refs_str name, double *seconds) {
    if (refs_cf__unit_seconds(name, seconds)) return true;
    switch (calendar) {
    case REFS_CF__360_DAY:
        return find_unit(units_of_360_days, COUNT(units_of_360_days), name, seconds);
    case REFS_CF__NO_LEAP:
        return find_unit(units_of_365_days, COUNT(units_of_365_days), name, seconds);
    case REFS_CF__ALL_LEAP:
        return find_unit(units_of_366_days, COUNT(units_of_366_days), name, seconds);
    default:
        return false;
    }
}

/* -- the origin: "1970-01-01 00:00:00.0 +01:00", and much that looks like it ------------------- */

/* Cuts an unsigned number, and the character after it if that is in `ends`, from `*text`. */
static bool cut_number(refs_str *text, const char *ends, double *number) {
    size_t size = 0;
    while (size < text->size &&
           ((text->data[size] >= '0' && text->data[size] <= '9') || text->data[size] == '.'))
        size++;
    if (!refs_cf__parse_number(refs_str_part(*text, 0, size), number)) return false;
    bool ended = size < text->size && strchr(ends, text->data[size]) != NULL;
    *text = refs_str_part(*text, size + ended, text->size);
    return true;
}

static bool cut_date(refs_str *text, refs_cf__date *date) {
    double year, month = 1, day = 1;
    bool negative = refs_str_starts(*text, "-");
    if (negative) *text = refs_str_part(*text, 1, text->size);
    if (!cut_number(text, "-", &year) || year > 99999) return false;
    if (text->size > 0 && !cut_number(text, "-", &month)) return false;
    if (text->size > 0 && text->data[0] != ' ' && text->data[0] != 'T' &&
        !cut_number(text, "", &day))
        return false;
    if (!(month >= 1 && month <= 12 && day >= 1 && day <= 31)) return false;
    *date = (refs_cf__date){(int64_t)(negative ? -year : year), (int)month, (int)day};
    return true;
}

/* Hours, minutes and seconds, each optional. */
static double cut_clock_time(refs_str *text) {
    double hours = 0, minutes = 0, seconds = 0;
    if (!cut_number(text, ":", &hours)) return 0;
    if (cut_number(text, ":", &minutes)) cut_number(text, "", &seconds);
    return hours * 3600 + minutes * 60 + seconds;
}

/* Seconds that a time zone such as "-5:00" or "+0130" is ahead of UTC. */
static double cut_zone(refs_str text) {
    double sign = refs_str_starts(text, "-") ? -1 : 1;
    if (text.size == 0 || (text.data[0] != '-' && text.data[0] != '+')) return 0;
    text = refs_str_part(text, 1, text.size);
    double hours = 0, minutes = 0;
    cut_number(&text, ":", &hours);
    cut_number(&text, "", &minutes);
    if (hours >= 100) return sign * (floor(hours / 100) * 3600 + fmod(hours, 100) * 60);
    return sign * (hours * 3600 + minutes * 60);
}

static refs_str without_spaces(refs_str text) {
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == 'T' || text.data[0] == 't'))
        text = refs_str_part(text, 1, text.size);
    return text;
}

/* CDO's absolute times (`cdo -a`): 20000102.5 is noon of January 2nd, 2000. */
static const char dates[] = "day as %Y%m%d.%f";

static bool find_days_of_date(const refs_cf__clock *ticks, double value, double *days) {
    const double whole = floor(fabs(value)), part = fabs(value) - whole;
    if (!(whole < 1e9)) return false;
    const int64_t number = (int64_t)whole, year = number / 10000;
    const refs_cf__date date = {value < 0 ? -year : year, (int)(number / 100 % 100),
                                (int)(number % 100)};
    if (date.month < 1 || date.month > 12) return false;
    const int64_t day = refs_cf__day_of_date(ticks->calendar, date);
    const refs_cf__date found = refs_cf__date_of_day(ticks->calendar, day);
    *days = (double)(day - ticks->origin_day) + part;
    return found.year == date.year && found.month == date.month && found.day == date.day;
}

bool refs_cf__read_clock_of(const refs_cf_units *of, refs_cf__clock *ticks) {
    refs_str text = of->units, name;
    *ticks = (refs_cf__clock){
        .calendar = REFS_CF__STANDARD, .scale = ticks->scale, .offset = ticks->offset};
    const bool is_date = refs_str_is(text, dates);
    if ((!is_date && !refs_cf_counts_since(text)) ||
        !refs_cf__find_calendar(of->calendar, &ticks->calendar))
        return false;
    if (is_date) {
        ticks->is_date = true;
        ticks->unit_seconds = 86400;
        return true;
    }
    (void)refs_str_next_word(&text, " ", &name);
    if (!find_cf_unit(ticks->calendar, name, &ticks->unit_seconds)) return false;
    (void)refs_str_next_word(&text, " ", &name); /* "since" */
    refs_cf__date date;
    text = without_spaces(text);
    if (!cut_date(&text, &date)) return false;
    ticks->origin_day = refs_cf__day_of_date(ticks->calendar, date);
    text = without_spaces(text);
    ticks->origin_seconds = cut_clock_time(&text);
    ticks->origin_seconds -= cut_zone(without_spaces(text));
    return fabs(ticks->origin_seconds) < max_days * 86400;
}

static bool read_numpy_clock(const refs_dtype *dtype, refs_cf__clock *ticks) {
    ticks->calendar = REFS_CF__GREGORIAN;
    ticks->numpy = true;
    ticks->origin_day = refs_cf__day_of_date(ticks->calendar, (refs_cf__date){1970, 1, 1});
    return refs_cf__tick_seconds(dtype, &ticks->unit_seconds);
}

bool refs_cf_clock_of_ticks(const refs_dtype *dtype, refs_cf_clock *clock) {
    refs_cf__clock ticks = {.calendar = REFS_CF__STANDARD, .scale = 1};
    const bool is_known = dtype->type == REFS_TYPE_DATETIME
                              ? read_numpy_clock(dtype, &ticks)
                              : dtype->type == REFS_TYPE_TIMEDELTA &&
                                    refs_cf__tick_seconds(dtype, &ticks.unit_seconds);
    return is_known && refs_cf__clock_from(&ticks, clock);
}

bool refs_cf__read_clock(const refs_cf_band_axis *axis, refs_cf__clock *ticks) {
    *ticks = (refs_cf__clock){.calendar = REFS_CF__STANDARD, .scale = 1};
    if (axis->kind != REFS_CF_AXIS_TIME || axis->values == NULL) return false;
    const refs_dtype *dtype = &axis->coordinate->dtype;
    const refs_json *attributes = axis->coordinate->attributes;
    const refs_cf_units of = {refs_str_from(axis->units != NULL ? axis->units : ""),
                              refs_str_from(axis->calendar != NULL ? axis->calendar : "")};
    (void)refs_cf_scale_of(attributes, &ticks->scale, &ticks->offset);
    return dtype->type == REFS_TYPE_DATETIME ? read_numpy_clock(dtype, ticks)
                                             : refs_cf__read_clock_of(&of, ticks);
}

bool refs_cf__instant(const refs_cf__clock *ticks, double value, int64_t *milliseconds) {
    const bool not_a_time = isnan(value) || (ticks->numpy && value == -0x1p63);
    refs_cf__clock unit = *ticks;
    refs_cf_clock clock;
    refs_cf_instant at;
    value = value * ticks->scale + ticks->offset;
    if (ticks->is_date) {
        if (!find_days_of_date(ticks, value, &value)) return false;
        unit.is_date = false;
    }
    if (unit.unit_seconds < 1e-9) { /* datetime64 in picoseconds */
        value *= unit.unit_seconds / 1e-9;
        unit.unit_seconds = 1e-9;
    }
    if (not_a_time || !(fabs(value * unit.unit_seconds) < max_days * 86400) ||
        !refs_cf__clock_from(&unit, &clock) ||
        !refs_cf_instant_of(&clock, value, REFS_CF_DOUBLE, &at))
        return false;
    *milliseconds = at.seconds * 1000 + (at.nanoseconds + 500000) / 1000000;
    return true;
}

/* -- text -------------------------------------------------------------------------------------- */

static refs_status print_time(refs_cf__date date, int milliseconds, refs_buf *text,
                              refs_error *err) {
    int whole = milliseconds / 1000;
    REFS_TRY(refs_buf_printf(text, err, "%s%04lld-%02d-%02dT%02d:%02d:%02d",
                             date.year < 0 ? "-" : "",
                             (long long)(date.year < 0 ? -date.year : date.year), date.month,
                             date.day, whole / 3600, whole / 60 % 60, whole % 60));
    if (milliseconds % 1000 == 0) return REFS_OK;
    return refs_buf_printf(text, err, ".%03d", milliseconds % 1000);
}

refs_status refs_cf__print_instant(refs_cf__calendar calendar, int64_t instant, refs_buf *text,
                                   refs_error *err) {
    int64_t day = instant / REFS_CF__DAY_MILLISECONDS;
    int64_t rest = instant % REFS_CF__DAY_MILLISECONDS;
    if (rest < 0) {
        rest += REFS_CF__DAY_MILLISECONDS;
        day--;
    }
    return print_time(refs_cf__date_of_day(calendar, day), (int)rest, text, err);
}

refs_status refs_cf_time_text(const refs_cf_band_axis *axis, uint64_t index, refs_buf *text,
                              refs_error *err) {
    refs_cf__clock ticks;
    int64_t instant;
    if (index >= axis->n || !refs_cf__read_clock(axis, &ticks) ||
        !refs_cf__instant(&ticks, axis->values[index], &instant))
        return REFS_OK;
    return refs_cf__print_instant(ticks.calendar, instant, text, err);
}
