/* unit_table.c -- units and prefixes that UDUNITS knows, by name and by symbol; see cf_internal.h.
 *
 * Which names and symbols there are, and how large units are: the SI brochure, and the database of
 * UDUNITS 2.2.28. Units from before SI are left out if no field of the earth's sciences has them.
 */
#include "cf_internal.h"

/* CF-1.13, sections 4.1 and 4.2. */
#define DEGREES_NORTH "degree_north! degrees_north! degree_N! degrees_N! degreeN! degreesN!"
#define DEGREES_EAST  "degree_east! degrees_east! degree_E! degrees_E! degreeE! degreesE!"

/* Months and years are left out, too (time.c). */
static const refs_cf__known_unit units[] = {
    /* SI */
    {"metre meter", "m", NULL},
    {"kilogram", "kg", NULL},
    {"second sec", "s", NULL},
    {"ampere amp", "A", NULL},
    {"kelvin degree_kelvin! degrees_kelvin! degree_K! degrees_K! degreeK! degreesK! deg_K! degK!",
     "K \xc2\xb0K", NULL},
    {"mole einstein", "mol", NULL},
    {"candela candle", "cd", NULL},
    {"radian", "rad", NULL},
    {"steradian", "sr", "rad2"},
    {"hertz baud", "Hz Bd bps", "s-1"},
    {"gram", "g", "1e-3 kg"},
    {"newton", "N", "kg m s-2"},
    {"pascal", "Pa", "kg m-1 s-2"},
    {"joule", "J", "kg m2 s-2"},
    {"watt", "W", "kg m2 s-3"},
    {"coulomb", "C", "A s"},
    {"volt", "V", "kg m2 s-3 A-1"},
    {"farad", "F", "kg-1 m-2 s4 A2"},
    {"ohm", "\xce\xa9 \xe2\x84\xa6", "kg m2 s-3 A-2"},
    {"siemens", "S", "kg-1 m-2 s3 A2"},
    {"weber", "Wb", "kg m2 s-2 A-1"},
    {"tesla", "T", "kg s-2 A-1"},
    {"henry", "H", "kg m2 s-2 A-2"},
    {"degree_celsius! degrees_celsius! celsius degree_C! degrees_C! degreeC! degreesC! deg_C! "
     "degs_C! degC! "
     "degsC!",
     "\xc2\xb0\x43 \xe2\x84\x83", "K @ 273.15"},
    {"lumen", "lm", "cd sr"},
    {"lux", "lx", "cd sr m-2"},
    {"katal", "kat", "mol s-1"},
    {"becquerel", "Bq", "s-1"},
    {"gray", "Gy", "m2 s-2"},
    {"sievert", "Sv", "m2 s-2"},
    /* with SI */
    {"minute", "min", "60 s"},
    {"hour", "h hr", "3600 s"},
    {"day", "d", "86400 s"},
    {"week", NULL, "604800 s"},
    {"pi", "\xcf\x80", "3.14159265358979323846"},
    {"degree arc_degree angular_degree arcdeg degree_true! degrees_true! degree_T! degrees_T! "
     "degreeT! degreesT!",
     "\xc2\xb0", "pi rad/180"},
    {DEGREES_NORTH, NULL, "degree"},
    {DEGREES_EAST, NULL, "degree"},
    {"degree_west! degrees_west! degree_W! degrees_W! degreeW! degreesW!", NULL, "-1 degree"},
    {"arc_minute angular_minute arcminute arcmin", "' \xe2\x80\xb2", "pi rad/10800"},
    {"arc_second angular_second arcsecond arcsec", "\" \xe2\x80\xb3", "pi rad/648000"},
    {"grade", NULL, "0.9 degree"},
    {"circle cycle turn revolution rotation", NULL, "2 pi rad"},
    {NULL, "rpm", "pi rad/30 s-1"},
    {NULL, "rps cps", "2 pi rad s-1"},
    {"liter litre", "L l", "1e-3 m3"},
    {"metric_ton tonne", "t", "1000 kg"},
    {"electronvolt electron_volt", "eV", "1.60217733e-19 J"},
    {"unified_atomic_mass_unit atomic_mass_unit atomicmassunit amu", "u", "1.6605402e-27 kg"},
    {"astronomical_unit", "au", "1.49597870700e11 m"},
    {NULL, "ua", "1.495979e11 m"},
    {"nautical_mile nmile", NULL, "1852 m"},
    {"international_knot knot_international knot", "kt kts", "1852 m/3600 s-1"},
    {"angstrom", "\xc3\x85 \xe2\x84\xab", "1e-10 m"},
    {"are", "a", "100 m2"},
    {"hectare", NULL, "1e4 m2"},
    {"barn", "b", "1e-28 m2"},
    {"bar", NULL, "1e5 Pa"},
    {NULL, "mb", "100 Pa"}, /* millibar: no file means a thousandth of a barn */
    {"gal", NULL, "1e-2 m s-2"},
    {"curie", "Ci", "3.7e10 s-1"},
    {"roentgen", "R", "2.58e-4 C/kg"},
    {"rem", NULL, "1e-2 Sv"},
    /* shares */
    {"percent", "%", "0.01"},
    {NULL, "ppv", "1"},
    {NULL, "ppm ppmv", "1e-6"},
    {NULL, "ppb ppbv", "1e-9"},
    {NULL, "ppt pptv", "1e-12"},
    {NULL, "ppq ppqv", "1e-15"},
    {"count bit", NULL, "1"},
    {"octet byte", NULL, "8"},
    /* of the earth's sciences */
    {"fahrenheit degree_fahrenheit! degrees_fahrenheit! degree_F! degrees_F! degreeF! degreesF! "
     "deg_F! "
     "degs_F! degF! degsF!",
     "\xc2\xb0\x46 \xe2\x84\x89", "K/1.8 @ 459.67"},
    {"degree_rankine! degrees_rankine! degree_R! degrees_R! degreeR! degreesR! deg_R! degR!",
     "\xc2\xb0R", "K/1.8"},
    {"standard_free_fall gravity force", NULL, "9.80665 m s-2"},
    {"geopotential dynamic", "gp", "9.80665 m s-2"},
    {"water conventional_water", "H2O h2o", "9806.65 kg m-2 s-2"},
    {"conventional_mercury", "Hg", "9.80665 13595.1 kg m-2 s-2"},
    {"torr millimeter_Hg!", "mmHg mm_Hg mmhg mm_hg", "9.80665 13.5951 Pa"},
    {"inch_Hg!", "inHg in_Hg", "25.4 9.80665 13.5951 Pa"},
    {NULL, "cmH2O cm_H2O", "98.0665 Pa"},
    {NULL, "cmHg cm_Hg", "98.0665 13.5951 Pa"},
    {"standard_atmosphere atmosphere", "atm", "101325 Pa"},
    {"technical_atmosphere", "at", "98066.5 Pa"},
    {"dyne", NULL, "1e-5 N"},
    {"erg", NULL, "1e-7 J"},
    {"calorie IT_calorie", "cal", "4.1868 J"},
    {"thermochemical_calorie", NULL, "4.184 J"},
    {"watthour", NULL, "3600 J"},
    {"voltampere", "VA", "W"},
    {"langley", NULL, "41840 J m-2"},
    {"dobson", "DU", "446.2e-6 mol m-2"},
    {"potential_vorticity_unit", "PVU", "1e-6 K m2 kg-1 s-1"},
    {"sverdrup", NULL, "1e6 m3 s-1"},
    {"poise", NULL, "0.1 Pa s"},
    {"stokes", "St", "1e-4 m2 s-1"},
    {"darcy", NULL, "9.869233e-13 m2"},
    {"kayser", NULL, "100 m-1"},
    {"gauss", NULL, "1e-4 T"},
    {"gamma", NULL, "1e-9 T"},
    {"oersted", "Oe", "79.57747 A m-1"},
    {"molecule molec nucleon nuc", NULL, "mol/6.02214179e23"},
    /* lengths, areas, volumes and masses in feet! and pounds */
    {"inch international_inch", "in", "0.0254 m"},
    {"foot! feet! international_foot! international_feet!", "ft", "0.3048 m"},
    {"yard international_yard", "yd", "0.9144 m"},
    {"mile international_mile", "mi", "1609.344 m"},
    {"US_survey_foot! US_survey_feet!", NULL, "1200 m/3937"},
    {"fathom", NULL, "7200 m/3937"},
    {"micron", NULL, "1e-6 m"},
    {"mil", NULL, "2.54e-5 m"},
    {"light_year", NULL, "9.46073e15 m"},
    {"parsec", NULL, "3.085678e16 m"},
    {NULL, "cc", "1e-6 m3"},
    {"gallon liquid_gallon US_liquid_gallon", NULL, "3.785412e-3 m3"},
    {"barrel", "bbl", "42 3.785412e-3 m3"},
    {"acre_foot! acre_feet!", NULL, "1.233489e3 m3"},
    {"pound avoirdupois_pound", "lb", "0.45359237 kg"},
    {"grain", "gr", "6.479891e-5 kg"},
    {"force_pound pound_force! pounds_force!", "lbf", "4.4482216152605 N"},
    {NULL, "psi", "4.4482216152605 N/0.00064516 m-2"},
    {NULL, NULL, NULL}};

/* Symbols of omitted units of UDUNITS, which must not be read as a prefix and a unit, such as
 * picotonnes. */
static const char left_out[] = "pt nt ph pk dr bu";

static const refs_cf__prefix prefixes[] = {
    {"yotta", "Y", 24},  {"zetta", "Z", 21},  {"exa", "E", 18},       {"peta", "P", 15},
    {"tera", "T", 12},   {"giga", "G", 9},    {"mega", "M", 6},       {"kilo", "k", 3},
    {"hecto", "h", 2},   {"deka", "da", 1},   {"deci", "d", -1},      {"centi", "c", -2},
    {"milli", "m", -3},  {"micro", "u", -6},  {NULL, "\xc2\xb5", -6}, {NULL, "\xce\xbc", -6},
    {"nano", "n", -9},   {"pico", "p", -12},  {"femto", "f", -15},    {"atto", "a", -18},
    {"zepto", "z", -21}, {"yocto", "y", -24},
};

/* Plurals as UDUNITS forms them: henries, inches, metres. */
static bool is_plural(refs_str text, refs_str name) {
    const char last = name.data[name.size - 1], before = name.data[name.size - (name.size > 1) - 1];
    size_t kept = name.size;
    const char *ending = "s";
    if (last == 'y' && strchr("aeiou", before) == NULL) {
        kept--;
        ending = "ies";
    } else if (strchr("sxz", last) != NULL || (last == 'h' && strchr("cs", before) != NULL)) {
        ending = "es";
    }
    return text.size > kept && refs_cf__same_word(refs_str_part(text, kept, text.size), ending) &&
           refs_cf__same_text(refs_str_part(text, 0, kept), refs_str_part(name, 0, kept));
}

static bool has_name(const char *names, refs_str text) {
    refs_str all = refs_str_from(names), name;
    while (refs_str_next_word(&all, " ", &name)) {
        const bool has_plural = !refs_str_ends(name, "!");
        if (!has_plural) name.size--;
        if (refs_cf__same_text(text, name) || (has_plural && is_plural(text, name))) return true;
    }
    return false;
}

static bool has_symbol(const char *symbols, refs_str text) {
    refs_str all = refs_str_from(symbols), symbol;
    while (refs_str_next_word(&all, " ", &symbol))
        if (refs_str_equal(text, symbol)) return true;
    return false;
}

refs_cf_unit_kind refs_cf_unit_kind_of(refs_str unit) {
    /* Most units are none of these names, which all begin so. */
    if (!refs_cf__begins(unit, "degree")) return REFS_CF_UNIT_OTHER;
    if (has_name(DEGREES_NORTH, unit)) return REFS_CF_UNIT_LATITUDE;
    return has_name(DEGREES_EAST, unit) ? REFS_CF_UNIT_LONGITUDE : REFS_CF_UNIT_OTHER;
}

const refs_cf__known_unit *refs_cf__find_unit(refs_str text, size_t *number) {
    for (size_t i = 0; units[i].names != NULL || units[i].symbols != NULL; i++) {
        *number = i;
        if ((units[i].names != NULL && has_name(units[i].names, text)) ||
            (units[i].symbols != NULL && has_symbol(units[i].symbols, text)))
            return &units[i];
    }
    return NULL;
}

bool refs_cf__is_other_unit(refs_str text) {
    return has_symbol(left_out, text);
}

const refs_cf__prefix *refs_cf__find_prefix(refs_str text, bool *is_name) {
    const refs_cf__prefix *found = NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        const refs_cf__prefix *prefix = &prefixes[i];
        *is_name = prefix->name != NULL && refs_cf__begins(text, prefix->name);
        if (*is_name) return prefix;
        if (refs_str_starts(text, prefix->symbol) &&
            (found == NULL || strlen(prefix->symbol) > strlen(found->symbol)))
            found = prefix;
    }
    return found;
}
