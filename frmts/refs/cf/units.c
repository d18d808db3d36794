/* units.c -- units of axes, as files spell them. */
#include "cf_internal.h"

#include <stdio.h>

typedef struct unit_name {
    const char *name;
    double factor;
} unit_name;

/* US survey foot: 1200/3937 m. */
static const unit_name lengths[] = {
    {"m", 1},
    {"metre", 1},
    {"metres", 1},
    {"meter", 1},
    {"meters", 1},
    {"km", 1000},
    {"kilometre", 1000},
    {"kilometres", 1000},
    {"kilometer", 1000},
    {"kilometers", 1000},
    {"US_survey_foot", 1200. / 3937},
    {"US_survey_feet", 1200. / 3937},
    {"US survey foot", 1200. / 3937},
    {"ft", 0.3048},
    {"foot", 0.3048},
    {"feet", 0.3048},
};

static const unit_name angles[] = {
    {"rad", 1},     {"radian", 1},         {"radians", 1},
    {"mrad", 1e-3}, {"milliradian", 1e-3}, {"milliradians", 1e-3},
    {"urad", 1e-6}, {"microradian", 1e-6}, {"microradians", 1e-6},
};

static double find(const unit_name *units, size_t n, refs_str name) {
    for (size_t i = 0; i < n; i++)
        if (refs_cf__same_word(name, units[i].name)) return units[i].factor;
    return 0;
}

double refs_cf__unit_metres(refs_str name) {
    return find(lengths, sizeof lengths / sizeof lengths[0], name);
}

double refs_cf__unit_radians(refs_str name) {
    return find(angles, sizeof angles / sizeof angles[0], name);
}

refs_cf_units refs_cf_units_of(const refs_json *attributes) {
    const refs_str units = refs_cf__text(attributes, "units"),
                   calendar = refs_cf__text(attributes, "calendar"), none = refs_str_from("");
    return (refs_cf_units){units.data != NULL ? units : none,
                           calendar.data != NULL ? calendar : none};
}

bool refs_cf_counts_since(refs_str units) {
    refs_str word;
    return refs_str_next_word(&units, " ", &word) && refs_str_next_word(&units, " ", &word) &&
           refs_cf__same_word(word, "since");
}

/* -- ticks of NumPy ---------------------------------------------------------------------------- */

/* The codes; months and years have no fixed length. */
static const struct {
    const char *code, *name;
    double seconds;
} tick_units[] = {
    {"Y", "years", 0},
    {"M", "months", 0},
    {"W", "weeks", 604800},
    {"D", "days", 86400},
    {"h", "hours", 3600},
    {"m", "minutes", 60},
    {"s", "seconds", 1},
    {"ms", "milliseconds", 1e-3},
    {"us", "microseconds", 1e-6},
    {"ns", "nanoseconds", 1e-9},
    {"ps", "picoseconds", 1e-12},
    {"fs", "femtoseconds", 1e-15},
    {"as", "attoseconds", 1e-18},
};
enum { N_TICK_UNITS = sizeof tick_units / sizeof tick_units[0] };

/* N_TICK_UNITS: there are no ticks. */
static size_t find_tick_unit(const refs_dtype *dtype) {
    const bool has_ticks = dtype->type == REFS_TYPE_DATETIME || dtype->type == REFS_TYPE_TIMEDELTA;
    size_t i = has_ticks ? 0 : N_TICK_UNITS;
    while (i < N_TICK_UNITS && strcmp(dtype->unit, tick_units[i].code) != 0) i++;
    return i;
}

static const char *since(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_DATETIME ? " since 1970-01-01" : "";
}

refs_status refs_cf__print_tick_unit(const refs_dtype *dtype, refs_buf *text, refs_error *err) {
    const size_t i = find_tick_unit(dtype);
    if (i == N_TICK_UNITS) return REFS_OK;
    if (dtype->step > 1) REFS_TRY(refs_buf_printf(text, err, "%lld ", (long long)dtype->step));
    return refs_buf_printf(text, err, "%s%s", tick_units[i].name, since(dtype));
}

bool refs_cf_tick_units(const refs_dtype *dtype, char text[REFS_CF_TICK_UNITS]) {
    const size_t i = find_tick_unit(dtype);
    if (i == N_TICK_UNITS || dtype->step != 1 || tick_units[i].seconds < 1e-9 ||
        tick_units[i].seconds > 86400)
        return false;
    (void)snprintf(text, REFS_CF_TICK_UNITS, "%s%s", tick_units[i].name, since(dtype));
    return true;
}

bool refs_cf__tick_seconds(const refs_dtype *dtype, double *seconds) {
    const size_t i = find_tick_unit(dtype);
    if (i < N_TICK_UNITS) *seconds = tick_units[i].seconds * (double)dtype->step;
    return i<N_TICK_UNITS && * seconds> 0;
}

refs_status refs_cf__print_length_unit(double metres, refs_buf *wkt, refs_error *err) {
    const char *name = metres == 1          ? "metre"
                       : metres == 1000     ? "kilometre"
                       : metres < 0.3048003 ? "foot"
                                            : "US survey foot";
    REFS_TRY(refs_buf_printf(wkt, err, "LENGTHUNIT[\"%s\",", name));
    REFS_TRY(refs_cf__print_number(metres, 15, wkt, err));
    return refs_buf_printf(wkt, err, "]");
}
