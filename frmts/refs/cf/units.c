/* units.c -- units of axes, as files spell them. */
#include "cf_internal.h"

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

static const char *const tick_names[][2] = {
    {"Y", "years"},         {"M", "months"},       {"W", "weeks"},        {"D", "days"},
    {"h", "hours"},         {"m", "minutes"},      {"s", "seconds"},      {"ms", "milliseconds"},
    {"us", "microseconds"}, {"ns", "nanoseconds"}, {"ps", "picoseconds"}, {"fs", "femtoseconds"},
    {"as", "attoseconds"},
};

refs_status refs_cf__print_tick_unit(const refs_dtype *dtype, refs_buf *text, refs_error *err) {
    const char *since = dtype->type == REFS_TYPE_DATETIME ? " since 1970-01-01" : "";
    bool has_ticks = dtype->type == REFS_TYPE_DATETIME || dtype->type == REFS_TYPE_TIMEDELTA;
    for (size_t i = 0; i < sizeof tick_names / sizeof tick_names[0] && has_ticks; i++) {
        if (strcmp(dtype->unit, tick_names[i][0]) != 0) continue;
        if (dtype->step > 1) REFS_TRY(refs_buf_printf(text, err, "%lld ", (long long)dtype->step));
        return refs_buf_printf(text, err, "%s%s", tick_names[i][1], since);
    }
    return REFS_OK;
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
