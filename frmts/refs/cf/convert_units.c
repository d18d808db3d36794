/* convert_units.c -- numbers of one unit as those of another; see cf.h.
 *
 * Factors: the SI brochure; UDUNITS for how units are written.
 */
#include "cf_internal.h"
#include "clock.h"

/* Of one kind, x units are x * factor + offset of the first one. */
static const struct unit {
    char kind;
    const char *name;
    double factor, offset;
} units[] = {
    {'K', "K", 1, 0},
    {'K', "kelvin", 1, 0},
    {'K', "Kelvin", 1, 0},
    {'K', "degK", 1, 0},
    {'K', "degree_Kelvin", 1, 0},
    {'K', "degrees_Kelvin", 1, 0},
    {'K', "degC", 1, 273.15},
    {'K', "celsius", 1, 273.15},
    {'K', "degree_Celsius", 1, 273.15},
    {'K', "degrees_Celsius", 1, 273.15},
    {'K', "deg_C", 1, 273.15},
    {'K', "degree_C", 1, 273.15},
    {'K', "degrees_C", 1, 273.15},
    {'K',
     "\xc2\xb0"
     "C",
     1, 273.15},
    {'K', "degF", 5. / 9, 459.67 * 5 / 9},
    {'K', "fahrenheit", 5. / 9, 459.67 * 5 / 9},
    {'m', "m", 1, 0},
    {'m', "metre", 1, 0},
    {'m', "metres", 1, 0},
    {'m', "meter", 1, 0},
    {'m', "meters", 1, 0},
    {'m', "km", 1e3, 0},
    {'m', "cm", 1e-2, 0},
    {'m', "mm", 1e-3, 0},
    {'m', "ft", 0.3048, 0},
    {'m', "feet", 0.3048, 0},
    {'P', "Pa", 1, 0},
    {'P', "pascal", 1, 0},
    {'P', "hPa", 100, 0},
    {'P', "mbar", 100, 0},
    {'P', "millibar", 100, 0},
    {'P', "millibars", 100, 0},
    {'P', "mb", 100, 0},
    {'P', "kPa", 1000, 0},
    {'P', "bar", 1e5, 0},
    {'v', "m s-1", 1, 0},
    {'v', "m/s", 1, 0},
    {'v', "m s**-1", 1, 0},
    {'v', "m s^-1", 1, 0},
    {'v', "km h-1", 1 / 3.6, 0},
    {'v', "km/h", 1 / 3.6, 0},
    {'v', "cm s-1", 1e-2, 0},
    {'v', "cm/s", 1e-2, 0},
    {'v', "knot", 1852. / 3600, 0},
    {'v', "knots", 1852. / 3600, 0},
    {'q', "kg kg-1", 1, 0},
    {'q', "kg/kg", 1, 0},
    {'q', "kg kg**-1", 1, 0},
    {'q', "g kg-1", 1e-3, 0},
    {'q', "g/kg", 1e-3, 0},
    {'q', "1", 1, 0},
    {'q', "%", 1e-2, 0},
    {'q', "percent", 1e-2, 0},
    {'a', "rad", 1, 0},
    {'a', "radian", 1, 0},
    {'a', "radians", 1, 0},
    {'a', "degree", 0.017453292519943295, 0},
    {'a', "degrees", 0.017453292519943295, 0},
    {'a', "degrees_north", 0.017453292519943295, 0},
    {'a', "degrees_east", 0.017453292519943295, 0},
    {'r', "kg m-2 s-1", 1, 0},
    {'r', "kg m**-2 s**-1", 1, 0},
    {'r', "mm s-1", 1, 0},
    {'r', "mm/s", 1, 0},
    {'r', "mm day-1", 1. / 86400, 0},
    {'r', "mm/day", 1. / 86400, 0},
};

/* Names that differ by case are units of their own (mPa, MPa). */
static const struct unit *find(refs_str name) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (refs_str_is(name, units[i].name)) return &units[i];
    return NULL;
}

static bool read_clock(const refs_cf_units *of, refs_cf__clock *ticks) {
    char *text = refs_str_copy(of->units), *calendar = refs_str_copy(of->calendar);
    bool is_clock = text != NULL && calendar != NULL &&
                    refs_cf__read_clock_of(text, of->calendar.size > 0 ? calendar : NULL, ticks);
    refs_free(text);
    refs_free(calendar);
    return is_clock;
}

bool refs_cf_clock_of(const refs_cf_units *of, refs_cf_clock *clock) {
    refs_cf__clock ticks = {.scale = 1};
    if (!read_clock(of, &ticks)) return false;
    *clock = (refs_cf_clock){ticks.unit_seconds, ticks.origin_day, ticks.origin_seconds};
    return true;
}

/* Seconds between origins are exact as doubles, whatever the units. */
static bool convert_times(const refs_cf_units *from, const refs_cf_units *to, double *scale,
                          double *offset) {
    refs_cf__clock a = {.scale = 1}, b = {.scale = 1};
    if (!read_clock(from, &a) || !read_clock(to, &b) || a.calendar != b.calendar) return false;
    double seconds =
        (double)(a.origin_day - b.origin_day) * 86400 + a.origin_seconds - b.origin_seconds;
    *scale = a.unit_seconds / b.unit_seconds;
    *offset = seconds / b.unit_seconds;
    return true;
}

/* No calendar is the standard one; numbers that are not times have none. */
static bool have_one_calendar(const refs_cf_units *from, const refs_cf_units *to) {
    refs_cf__clock a = {.scale = 1}, b = {.scale = 1};
    return refs_str_equal(from->calendar, to->calendar) || !read_clock(from, &a) ||
           !read_clock(to, &b) || a.calendar == b.calendar;
}

refs_cf_conversion refs_cf_convert_units(const refs_cf_units *from, const refs_cf_units *to,
                                         double *scale, double *offset) {
    const refs_cf_units a = {refs_str_trim(from->units, " "), refs_str_trim(from->calendar, " ")};
    const refs_cf_units b = {refs_str_trim(to->units, " "), refs_str_trim(to->calendar, " ")};
    *scale = 1;
    *offset = 0;
    if (a.units.size == 0 || b.units.size == 0 ||
        (refs_str_equal(a.units, b.units) && have_one_calendar(&a, &b)))
        return REFS_CF_CONVERSION_NONE;
    const struct unit *x = find(a.units), *y = find(b.units);
    if (x != NULL && y != NULL && x->kind == y->kind) {
        *scale = x->factor / y->factor;
        *offset = (x->offset - y->offset) / y->factor;
    } else if (!convert_times(&a, &b, scale, offset)) {
        return REFS_CF_CONVERSION_UNKNOWN;
    }
    return *scale == 1 && *offset == 0 ? REFS_CF_CONVERSION_NONE : REFS_CF_CONVERSION_LINEAR;
}
