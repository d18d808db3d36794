/* duration.c -- durations in selections ("6h", "1d12h", "PT6H"), and units of stored lead times. */
#include "cf_internal.h"

#include <math.h>

/* Cuts digits with a point from the front of `*text`. */
static bool cut_number(refs_str *text, double *number) {
    size_t size = 0;
    while (size < text->size && strchr("0123456789.", text->data[size]) != NULL &&
           text->data[size] != '\0')
        size++;
    if (size == 0 || !refs_cf__parse_number(refs_str_part(*text, 0, size), number)) return false;
    *text = refs_str_trim(refs_str_part(*text, size, text->size), " ");
    return true;
}

/* -- ISO 8601 ---------------------------------------------------------------------------------- */

/* Designators, largest first; years and months have no fixed length. */
static const struct {
    char letter;
    bool is_of_day; /* after "T" */
    double seconds;
} designators[] = {
    {'W', false, 604800}, {'D', false, 86400}, {'H', true, 3600}, {'M', true, 60}, {'S', true, 1}};
enum { N_DESIGNATORS = sizeof designators / sizeof designators[0] };

static bool cut_designator(refs_str *text, bool is_in_day, size_t *next, double *seconds) {
    char letter = text->size > 0 ? text->data[0] : '\0';
    for (size_t i = *next; i < N_DESIGNATORS; i++) {
        if (designators[i].letter != letter || designators[i].is_of_day != is_in_day) continue;
        *seconds = designators[i].seconds;
        *next = i + 1;
        *text = refs_str_part(*text, 1, text->size);
        return true;
    }
    return false;
}

static bool parse_iso(refs_str text, double *seconds) {
    bool is_in_day = false, is_complete = false;
    for (size_t next = 0; text.size > 0;) {
        double number, unit;
        if (text.data[0] == 'T' && !is_in_day) {
            is_in_day = true;
            is_complete = false;
            text = refs_str_part(text, 1, text.size);
            continue;
        }
        if (!cut_number(&text, &number) || !cut_designator(&text, is_in_day, &next, &unit))
            return false;
        *seconds += number * unit;
        is_complete = true;
    }
    return is_complete;
}

/* -- numbers with units ------------------------------------------------------------------------ */

/* Units go from larger to smaller ones, each once, as in ISO 8601: "1d12h". */
static bool parse_units(refs_str text, double *seconds) {
    double larger = INFINITY;
    while (text.size > 0) {
        double number, unit;
        if (!cut_number(&text, &number)) return false;
        size_t size = 0;
        while (size < text.size && strchr("0123456789. ", text.data[size]) == NULL) size++;
        if (!refs_cf__unit_seconds(refs_str_part(text, 0, size), &unit) || unit >= larger)
            return false;
        larger = unit;
        *seconds += number * unit;
        text = refs_str_trim(refs_str_part(text, size, text.size), " ");
    }
    return true;
}

bool refs_cf__parse_duration(refs_str text, double *seconds) {
    *seconds = 0;
    text = refs_str_trim(text, " ");
    if (text.size == 0) return false;
    bool is_read = text.data[0] == 'P' ? parse_iso(refs_str_part(text, 1, text.size), seconds)
                                       : parse_units(text, seconds);
    return is_read && isfinite(*seconds);
}

/* -- coordinates ------------------------------------------------------------------------------- */

bool refs_cf__duration_unit(const refs_array_meta *coordinate, double *seconds) {
    if (coordinate == NULL) return false;
    if (coordinate->dtype.type == REFS_TYPE_TIMEDELTA)
        return refs_cf__tick_seconds(&coordinate->dtype, seconds);
    return refs_cf__unit_seconds(refs_str_trim(refs_cf__text(coordinate->attributes, "units"), " "),
                                 seconds);
}
