/* rebase.c -- exact conversion of numbers into other units; see clock.h. */
#include "clock.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

refs_status refs_cf_rebase_open(const refs_cf_units *from, const refs_cf_units *to,
                                refs_cf_rebase *rebase, refs_error *err) {
    const refs_cf_conversion found =
        refs_cf_convert_units(from, to, &rebase->scale, &rebase->offset);
    rebase->is_same = found == REFS_CF_CONVERSION_NONE;
    if (rebase->is_same ||
        (found == REFS_CF_CONVERSION_LINEAR &&
         refs_cf_convert_units(to, from, &rebase->back_scale, &rebase->back_offset) ==
             REFS_CF_CONVERSION_LINEAR))
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "cannot convert units \"%.*s\" to \"%.*s\"",
                     REFS_STR_ARG(from->units), REFS_STR_ARG(to->units));
}

/* People write numbers in decimals: those are converted. */
static double to_decimal(double value, int digits) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return strtod(text, NULL); /* of the same locale */
}

static bool convert_linear(const refs_cf_rebase *rebase, int digits, double *value) {
    const double now = *value * rebase->scale + rebase->offset;
    const double decimal = to_decimal(now, digits);
    const double back = to_decimal(decimal * rebase->back_scale + rebase->back_offset, digits);
    const double size = fmax(fabs(now), fabs(rebase->offset)); /* what was rounded */
    const bool is_exact = fabs(now - decimal) <= 4 * DBL_EPSILON * size && back == *value;
    *value = decimal;
    return is_exact;
}

bool refs_cf_rebase_number(const refs_cf_rebase *rebase, int digits, double *value) {
    return rebase->is_same || !isfinite(*value) || convert_linear(rebase, digits, value);
}
