/* unit_text.c -- parses units: products and quotients of powers of names, "kg m-2 s-1"; see
 * cf_internal.h.
 *
 * Grammar: the manual of UDUNITS 2, "Unit syntax". Factors are kept as quotients and powers of ten,
 * so that hundredths and sixtieths are rounded once, when two units are compared.
 */
#include "cf_internal.h"

#include <math.h>
#include <stdlib.h>

/* Limits: nesting of parentheses and unit definitions, powers, exponents and digits. */
enum { MAX_DEPTH = 12, MAX_POWER = 100, MAX_EXPONENT = 300, MAX_DIGITS = 17 };

static const char multiplication_dot[] = "\xc2\xb7", minus_sign[] = "\xe2\x88\x92";

static const char *const superscripts[] = {
    "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
    "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
static const char superscript_minus[] = "\xe2\x81\xbb";

static const refs_cf__unit one = {.number = 1, .divisor = 1};

/* -- cutting ----------------------------------------------------------------------------------- */

static bool cut(refs_str *text, const char *part) {
    if (!refs_str_starts(*text, part)) return false;
    *text = refs_str_part(*text, strlen(part), text->size);
    return true;
}

static void skip_blanks(refs_str *text) {
    while (cut(text, " ") || cut(text, "\t")) {
    }
}

static bool cut_digit(refs_str *text, int *digit) {
    if (text->size == 0 || !refs_is_digit(text->data[0])) return false;
    *digit = text->data[0] - '0';
    *text = refs_str_part(*text, 1, text->size);
    return true;
}

static bool cut_superscript(refs_str *text, int *digit) {
    for (*digit = 0; *digit < 10; (*digit)++)
        if (cut(text, superscripts[*digit])) return true;
    return false;
}

/* Cuts digits with an optional sign; nothing if there are none. */
static bool cut_integer(refs_str *text, bool (*cut_next)(refs_str *, int *), int *number) {
    refs_str rest = *text;
    int digit;
    const bool is_negative =
        cut(&rest, "-") || cut(&rest, minus_sign) || cut(&rest, superscript_minus);
    if (!is_negative) (void)cut(&rest, "+");
    if (!cut_next(&rest, &digit)) return false;
    *number = digit;
    while (cut_next(&rest, &digit))
        if (*number < 10 * MAX_EXPONENT) *number = *number * 10 + digit;
    if (is_negative) *number = -*number;
    *text = rest;
    return true;
}

static bool begins_number(refs_str text) {
    if (text.size > 1 && (text.data[0] == '-' || text.data[0] == '+'))
        text = refs_str_part(text, 1, text.size);
    if (text.size > 1 && text.data[0] == '.') text = refs_str_part(text, 1, text.size);
    return text.size > 0 && refs_is_digit(text.data[0]);
}

/* Digits from the 18th on change nothing. */
static bool cut_number(refs_str *text, refs_cf__unit *unit) {
    const bool is_negative = cut(text, "-");
    int digit, power, n = 0;
    uint64_t number = 0;
    *unit = one;
    if (!is_negative) (void)cut(text, "+");
    for (bool is_fraction = false;;) {
        if (!is_fraction && cut(text, ".")) is_fraction = true;
        if (!cut_digit(text, &digit)) break;
        const bool counts = n < MAX_DIGITS;
        if (counts) number = number * 10 + (uint64_t)digit;
        n += counts && number > 0;
        unit->exponent += (counts ? 0 : 1) - (is_fraction ? 1 : 0);
    }
    refs_str rest = *text;
    if ((cut(&rest, "e") || cut(&rest, "E")) && cut_integer(&rest, cut_digit, &power)) {
        unit->exponent += power;
        *text = rest;
    }
    unit->number = is_negative ? -(double)number : (double)number;
    return number != 0 && abs(unit->exponent) <= MAX_EXPONENT;
}

static bool begins_letter(refs_str text) {
    const char c = text.size > 0 ? text.data[0] : ' ';
    int digit;
    const bool is_sign = refs_str_starts(text, multiplication_dot) ||
                         refs_str_starts(text, minus_sign) ||
                         refs_str_starts(text, superscript_minus) || cut_superscript(&text, &digit);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           ((c & 0x80) != 0 && !is_sign);
}

static bool begins_mark(refs_str text) {
    return text.size > 0 && memchr("%'\"", text.data[0], 3) != NULL;
}

/* Names may contain digits, but not end with one: "H2O", but "m2" is a power. Symbols such as "%"
 * are one character. */
static refs_str cut_name(refs_str *text) {
    size_t size = begins_mark(*text), n = 0;
    const bool is_mark = size > 0;
    for (; n < text->size && !is_mark; n++) {
        const bool is_letter = begins_letter(refs_str_part(*text, n, text->size));
        if (!is_letter && (n == 0 || !refs_is_digit(text->data[n]))) break;
        if (is_letter) size = n + 1;
    }
    const refs_str name = refs_str_part(*text, 0, size);
    *text = refs_str_part(*text, size, text->size);
    const bool goes_on = begins_mark(*text) || (is_mark && begins_letter(*text));
    return refs_str_part(name, 0, goes_on ? 0 : size);
}

/* -- reckoning --------------------------------------------------------------------------------- */

static void lose_offset(refs_cf__unit *unit) {
    if (unit->offset != 0) unit->has_lost_offset = true;
    unit->offset = 0;
}

static bool multiply(refs_cf__unit *by, const refs_cf__unit *unit) {
    by->number *= unit->number;
    by->divisor *= unit->divisor;
    by->exponent += unit->exponent;
    by->has_lost_offset |= unit->has_lost_offset || unit->offset != 0;
    lose_offset(by);
    for (size_t i = 0; i < REFS_CF__BASE_UNITS; i++) {
        by->powers[i] += unit->powers[i];
        if (abs(by->powers[i]) > MAX_POWER) return false;
    }
    return abs(by->exponent) <= MAX_EXPONENT && isfinite(by->number) && isfinite(by->divisor);
}

static bool raise(refs_cf__unit *unit, int power) {
    refs_cf__unit base = *unit;
    if (power == 1) return true;
    if (abs(power) > MAX_POWER) return false;
    if (power < 0) {
        base.number = unit->divisor;
        base.divisor = unit->number;
        base.exponent = -unit->exponent;
        for (size_t i = 0; i < REFS_CF__BASE_UNITS; i++) base.powers[i] = -unit->powers[i];
    }
    *unit = one;
    for (int i = 0; i < abs(power); i++)
        if (!multiply(unit, &base)) return false;
    return true;
}

/* -- reading ----------------------------------------------------------------------------------- */

static bool read_shifted(refs_str *text, int depth, refs_cf__unit *unit);

static bool read_definition(const refs_cf__known_unit *known, size_t number, int depth,
                            refs_cf__unit *unit) {
    *unit = one;
    if (known->definition == NULL) unit->powers[number] = 1;
    refs_str text = refs_str_from(known->definition != NULL ? known->definition : "");
    return text.size == 0 || (read_shifted(&text, depth + 1, unit) && text.size == 0);
}

static bool look_up(refs_str name, int depth, refs_cf__unit *unit) {
    int exponent = 0;
    bool had_symbol = false, is_name;
    size_t number;
    while (name.size > 0) {
        const refs_cf__known_unit *known = refs_cf__find_unit(name, &number);
        if (known != NULL && !read_definition(known, number, depth, unit)) return false;
        if (known != NULL) unit->exponent += exponent;
        if (known != NULL) return abs(unit->exponent) <= MAX_EXPONENT;
        const refs_cf__prefix *prefix =
            refs_cf__is_other_unit(name) ? NULL : refs_cf__find_prefix(name, &is_name);
        if (prefix == NULL || (!is_name && had_symbol)) return false;
        had_symbol |= !is_name;
        exponent += prefix->exponent;
        name = refs_str_part(name, strlen(is_name ? prefix->name : prefix->symbol), name.size);
    }
    return false;
}

/* Reads the power of a number: an integer with a sign, directly after the number. Any other number
 * there is a factor: "10-3" is a thousandth, but "10 -3" and "10-3.0" are -30. */
static bool cut_power_of_number(refs_str *text, int *power) {
    refs_str rest = *text, behind;
    int exponent;
    const bool is_signed = refs_str_starts(rest, "-") || refs_str_starts(rest, "+");
    if (!is_signed || !cut_integer(&rest, cut_digit, power)) return false;
    behind = rest;
    const bool is_float =
        refs_str_starts(rest, ".") ||
        ((cut(&behind, "e") || cut(&behind, "E")) && cut_integer(&behind, cut_digit, &exponent));
    if (!is_float) *text = rest;
    return !is_float;
}

static bool read_power(refs_str *text, bool is_number, refs_cf__unit *unit) {
    int power = 1;
    const bool has_caret = cut(text, "^") || cut(text, "**");
    const bool has_power = (has_caret || !is_number ? cut_integer(text, cut_digit, &power)
                                                    : cut_power_of_number(text, &power)) ||
                           cut_integer(text, cut_superscript, &power);
    const bool is_fraction =
        has_power && text->size > 1 && text->data[0] == '.' && refs_is_digit(text->data[1]);
    return (has_power || !has_caret) && !is_fraction && raise(unit, has_power ? power : 1);
}

static bool read_factor(refs_str *text, int depth, refs_cf__unit *unit) {
    const bool is_number = begins_number(*text);
    if (is_number) {
        if (!cut_number(text, unit)) return false;
    } else if (cut(text, "(")) {
        if (!read_shifted(text, depth + 1, unit) || !cut(text, ")")) return false;
    } else if (!look_up(cut_name(text), depth, unit)) {
        return false;
    }
    return read_power(text, is_number, unit);
}

/* "/", "per", a sign of multiplication or nothing. */
static bool cut_operator(refs_str *text, bool *divides) {
    refs_str rest = *text, word;
    *divides = cut(text, "/");
    if (!*divides && refs_str_next_word(&rest, " ", &word) && refs_cf__same_word(word, "per")) {
        *divides = true;
        *text = rest;
    }
    const bool has_operator =
        *divides || cut(text, "*") || (!begins_number(*text) && cut(text, ".")) ||
        cut(text, multiplication_dot) || (!begins_number(*text) && cut(text, "-"));
    skip_blanks(text);
    return has_operator;
}

/* A dot between a letter and a digit multiplies: "kg.5" is five of them, "kg .5" and "m2.5" half
 * of one. */
static bool cut_dot_of_name(refs_str *text) {
    const char before = text->data[-1];
    const bool is_letter = (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z');
    return is_letter && text->size > 1 && refs_is_digit(text->data[1]) && cut(text, ".");
}

static bool read_product(refs_str *text, int depth, refs_cf__unit *unit) {
    refs_cf__unit factor;
    skip_blanks(text);
    if (depth > MAX_DEPTH || !read_factor(text, depth, unit)) return false;
    for (;;) {
        bool divides = false, has_operator = cut_dot_of_name(text);
        skip_blanks(text);
        has_operator = has_operator || cut_operator(text, &divides);
        const bool is_over =
            text->size == 0 || refs_str_starts(*text, ")") || refs_str_starts(*text, "@");
        if (is_over) return !has_operator;
        if (!read_factor(text, depth, &factor)) return false;
        if ((divides && !raise(&factor, -1)) || !multiply(unit, &factor)) return false;
    }
}

static double power_of_ten(int exponent) {
    double power = 1;
    for (int i = 0; i < exponent; i++) power *= 10; /* exact up to 22 */
    return power;
}

double refs_cf__unit_times(const refs_cf__unit *unit, double value) {
    const double ten = power_of_ten(abs(unit->exponent));
    return unit->exponent < 0 ? value * unit->number / (unit->divisor * ten)
                              : value * (unit->number * ten) / unit->divisor;
}

/* "K @ 273.15" */
static bool read_shifted(refs_str *text, int depth, refs_cf__unit *unit) {
    refs_cf__unit origin;
    if (!read_product(text, depth, unit)) return false;
    if (!cut(text, "@")) return true;
    skip_blanks(text);
    if (!begins_number(*text) || !cut_number(text, &origin)) return false;
    skip_blanks(text);
    unit->offset += refs_cf__unit_times(unit, refs_cf__unit_times(&origin, 1));
    return true;
}

/* -- spellings that UDUNITS does not know ------------------------------------------------------ */

/* "degrees C", which UDUNITS reads as an angle times coulombs. */
static bool cut_degrees(refs_str text, char name[16]) {
    static const char *const scales[] = {"C", "F", "K", "celsius", "fahrenheit", "kelvin"};
    refs_str word;
    if (!refs_str_next_word(&text, " ", &word) ||
        !(refs_cf__same_word(word, "deg") || refs_cf__same_word(word, "degs") ||
          refs_cf__same_word(word, "degree") || refs_cf__same_word(word, "degrees")))
        return false;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (refs_cf__same_word(refs_str_trim(text, " "), scales[i])) {
            memcpy(name, "deg", 4);
            name[3] = (char)(scales[i][0] & ~0x20);
            name[4] = '\0';
            return true;
        }
    return false;
}

bool refs_cf__read_unit(refs_str text, refs_cf__unit *unit) {
    char name[16];
    bool is_temperature = true;
    if (cut_degrees(text, name)) text = refs_str_from(name);
    if (!read_shifted(&text, 0, unit) || text.size > 0) return false;
    for (size_t i = 0; i < REFS_CF__DIMENSIONS; i++)
        is_temperature = is_temperature && unit->powers[i] == (i == 4);
    return !(unit->has_lost_offset && is_temperature);
}
