/* fuzz_units.c -- units as UDUNITS writes them. Two lines: the units of values, and those that they
 * are converted to. */
#include <math.h>
#include <stdlib.h>

#include "cf_internal.h"
#include "fuzz.h"
#include "support.h"

static refs_cf_conversion convert(refs_str from, refs_str to) {
    const refs_cf_units one = {.units = from}, other = {.units = to};
    refs_cf_conversion by;
    if (refs_cf_convert_units(&one, &other, REFS_CF_KEEP, &by, NULL) != REFS_OK) abort();
    return by;
}

/* What is converted from one to the other is converted back, and by numbers. */
static void check_pair(refs_str from, refs_str to) {
    const refs_cf_conversion there = convert(from, to);
    if (there.kind != REFS_CF_CONVERSION_LINEAR) return;
    if (!isfinite(there.scale) || !isfinite(there.offset) || there.scale == 0) abort();
    if (convert(to, from).kind == REFS_CF_CONVERSION_NONE) abort();
}

/* Units are themselves. */
static void check_one(refs_str text) {
    if (convert(text, text).kind != REFS_CF_CONVERSION_NONE) abort();
    refs_cf__unit unit;
    if (!refs_cf__read_unit(text, &unit)) return;
    if (unit.number == 0 || unit.divisor == 0 || isnan(unit.number) || isnan(unit.offset)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_str text = refs_str_view((const char *)data, size), lines[2];
    for (size_t i = 0; i < 2; i++) {
        lines[i] = refs_str_view("", 0);
        fuzz_next_line(&text, &lines[i]);
        check_one(lines[i]);
    }
    check_pair(lines[0], lines[1]);
    return 0;
}
