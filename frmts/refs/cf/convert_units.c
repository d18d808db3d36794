/* convert_units.c -- converts numbers between units; see cf.h. */
#include "cf_internal.h"
#include "clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool refs_cf_clock_of(const refs_cf_units *of, refs_cf_clock *clock) {
    refs_cf__clock ticks = {.scale = 1};
    return refs_cf__read_clock_of(of, &ticks) && refs_cf__clock_from(&ticks, clock);
}

refs_status refs_cf_print_time(const refs_cf_units *of, double value, refs_buf *text,
                               refs_error *err) {
    refs_cf__clock ticks = {.scale = 1};
    int64_t instant;
    if (!refs_cf__read_clock_of(of, &ticks) || !refs_cf__instant(&ticks, value, &instant))
        return REFS_OK;
    return refs_cf__print_instant(ticks.calendar, instant, text, err);
}

/* Standard and proleptic Gregorian times with an origin from 1582-10-15 on are treated as equal:
 * both calendars number these days equally. */
static bool have_same_days(const refs_cf__clock *a, const refs_cf__clock *b) {
    const refs_cf_calendars found = refs_cf__compare_calendars(a->calendar, b->calendar);
    return found == REFS_CF_CALENDARS_SAME ||
           (found == REFS_CF_CALENDARS_SAME_SINCE_REFORM && a->origin_day >= REFS_CF_REFORM_DAY &&
            b->origin_day >= REFS_CF_REFORM_DAY);
}

/* y = x * scale + offset. */
typedef struct line {
    double scale, offset;
} line;

/* Seconds between origins are exact as doubles, whatever the units. */
static bool convert_times(const refs_cf__clock *a, const refs_cf__clock *b, line *found) {
    if (!have_same_days(a, b)) return false;
    double seconds =
        (double)(a->origin_day - b->origin_day) * 86400 + a->origin_seconds - b->origin_seconds;
    found->scale = a->unit_seconds / b->unit_seconds;
    found->offset = seconds / b->unit_seconds;
    return true;
}

/* An empty calendar is the standard one; numbers that are not times have none. */
static bool have_one_calendar(const refs_cf_units *from, const refs_cf_units *to) {
    refs_cf__clock a = {.scale = 1}, b = {.scale = 1};
    return refs_str_equal(from->calendar, to->calendar) || !refs_cf__read_clock_of(from, &a) ||
           !refs_cf__read_clock_of(to, &b) || have_same_days(&a, &b);
}

/* Treats a rate in mm as precipitation if the other unit is mass per area and time: 1 mm is
 * 1 kg m-2. */
static void convert_rain_to_mass(refs_str text, const refs_cf__unit *other, refs_cf__unit *unit) {
    static const int rain[REFS_CF__BASE_UNITS] = {[0] = 1, [2] = -1};
    static const int weight[REFS_CF__BASE_UNITS] = {[0] = -2, [1] = 1, [2] = -1};
    const size_t size = REFS_CF__DIMENSIONS * sizeof *rain;
    if (!refs_str_starts(text, "mm") || memcmp(unit->powers, rain, size) != 0 ||
        memcmp(other->powers, weight, size) != 0)
        return;
    memcpy(unit->powers, weight, size);
    unit->exponent += 3;
}

static bool convert(refs_str from, refs_str to, line *found) {
    refs_cf__unit a, b;
    if (!refs_cf__read_unit(from, &a) || !refs_cf__read_unit(to, &b)) return false;
    convert_rain_to_mass(from, &b, &a);
    convert_rain_to_mass(to, &a, &b);
    if (memcmp(a.powers, b.powers, REFS_CF__DIMENSIONS * sizeof *a.powers) != 0) return false;
    const refs_cf__unit inverse = {
        .number = b.divisor, .divisor = b.number, .exponent = -b.exponent};
    const refs_cf__unit ratio = {.number = a.number * b.divisor,
                                 .divisor = a.divisor * b.number,
                                 .exponent = a.exponent - b.exponent};
    found->scale = refs_cf__unit_times(&ratio, 1);
    found->offset = refs_cf__unit_times(&inverse, a.offset - b.offset);
    return isfinite(found->scale) && isfinite(found->offset) && found->scale != 0;
}

static refs_cf_conversion_kind find(const refs_cf_units *from, const refs_cf_units *to,
                                    line *found) {
    const refs_cf_units a = {refs_str_trim(from->units, " "), refs_str_trim(from->calendar, " ")};
    const refs_cf_units b = {refs_str_trim(to->units, " "), refs_str_trim(to->calendar, " ")};
    const line none = {1, 0};
    *found = none;
    if (a.units.size == 0 || b.units.size == 0 ||
        (refs_str_equal(a.units, b.units) && have_one_calendar(&a, &b)))
        return REFS_CF_CONVERSION_NONE;
    refs_cf__clock clocks[2] = {{.scale = 1}, {.scale = 1}};
    const bool is_clock = refs_cf__read_clock_of(&a, &clocks[0]),
               is_other = refs_cf__read_clock_of(&b, &clocks[1]);
    const bool is_known = is_clock && is_other
                              ? convert_times(&clocks[0], &clocks[1], found)
                              : is_clock == is_other && convert(a.units, b.units, found);
    if (!is_known) {
        *found = none;
        return REFS_CF_CONVERSION_UNKNOWN;
    }
    return found->scale == 1 && found->offset == 0 ? REFS_CF_CONVERSION_NONE
                                                   : REFS_CF_CONVERSION_LINEAR;
}

refs_cf_conversion_kind refs_cf_compare_units(const refs_cf_units *from, const refs_cf_units *to) {
    line found;
    return find(from, to, &found);
}

refs_status refs_cf_convert_units(const refs_cf_units *from, const refs_cf_units *to,
                                  refs_cf_policy policy, refs_cf_conversion *conversion,
                                  refs_error *err) {
    line there, back;
    *conversion = (refs_cf_conversion){.kind = find(from, to, &there), .policy = policy, .to = *to};
    conversion->scale = there.scale;
    conversion->offset = there.offset;
    if (policy != REFS_CF_KEEP && conversion->kind == REFS_CF_CONVERSION_UNKNOWN)
        return refs_fail(err, REFS_UNSUPPORTED, "cannot convert units \"%.*s\" to \"%.*s\"",
                         REFS_STR_ARG(from->units), REFS_STR_ARG(to->units));
    (void)find(to, from, &back);
    conversion->back_scale = back.scale;
    conversion->back_offset = back.offset;
    return REFS_OK;
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* Files contain rounded decimal numbers, whose decimal value is converted. */
static double to_decimal(double value, int digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL); /* of the same locale */
}

static bool convert_linear(const refs_cf_conversion *by, int digits, double *value) {
    const double now = *value * by->scale + by->offset;
    const double decimal = to_decimal(now, digits);
    const double back = to_decimal(decimal * by->back_scale + by->back_offset, digits);
    const double size = fmax(fabs(now), fabs(by->offset)); /* the largest number that was rounded */
    const bool is_exact = fabs(now - decimal) <= 4 * DBL_EPSILON * size && back == *value;
    *value = decimal;
    return is_exact;
}

refs_status refs_cf_fail_inexact(const refs_cf_conversion *conversion, double value,
                                 refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED, "cannot convert %.9g to the units \"%.*s\" exactly",
                     value, REFS_STR_ARG(conversion->to.units));
}

refs_status refs_cf_convert_number(const refs_cf_conversion *conversion, int digits, double *value,
                                   refs_error *err) {
    const double before = *value;
    if (conversion->kind != REFS_CF_CONVERSION_LINEAR || !isfinite(*value) ||
        convert_linear(conversion, digits, value) || conversion->policy != REFS_CF_EXACT)
        return REFS_OK;
    return refs_cf_fail_inexact(conversion, before, err);
}
