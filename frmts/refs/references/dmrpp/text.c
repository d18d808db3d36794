/* text.c -- see dmrpp/text.h. */
#include "dmrpp/text.h"

#include <math.h>

#include "refs/json.h"

/* The largest number without an exponent has 309 digits. */
#define MAX_NUMBER_BYTES 350

static const char blanks[] = " \t\r\n";

const refs_dmrpp_type *refs_references__dmrpp_type(const char *name) {
    static const refs_dmrpp_type types[] = {
        {"Float32", 'f', 4}, {"Float64", 'f', 8}, {"Int8", 'i', 1},   {"Int16", 'i', 2},
        {"Int32", 'i', 4},   {"Int64", 'i', 8},   {"Byte", 'u', 1},   {"UInt8", 'u', 1},
        {"Char", 'u', 1},    {"UInt16", 'u', 2},  {"UInt32", 'u', 4}, {"UInt64", 'u', 8},
        {"Enum", 'e', 0},    {"String", 'S', 0},  {"URL", 'S', 0},    {"Url", 'S', 0},
        {"Opaque", 0, 0},    {"Structure", 0, 0}, {"Sequence", 0, 0}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

bool refs_references__dmrpp_numbers(refs_str text, char between, uint64_t *numbers, size_t max,
                                    size_t *n) {
    text = refs_str_trim(text, blanks);
    while (text.size > 0) {
        size_t end = refs_str_find(text, between);
        refs_str number = refs_str_part(text, 0, end);
        text = refs_str_trim(refs_str_part(text, number.size + 1, text.size), blanks);
        if (*n == max || !refs_str_to_u64(refs_str_trim(number, blanks), &numbers[(*n)++]))
            return false;
    }
    return true;
}

/* -- numbers ----------------------------------------------------------------------------------- */

static size_t count_digits(refs_str text, size_t from) {
    size_t n = 0;
    while (from + n < text.size && text.data[from + n] >= '0' && text.data[from + n] <= '9') n++;
    return n;
}

/* A number in C's syntax, split into parts, because JSON is stricter. */
typedef struct number_parts {
    bool is_negative;
    refs_str whole, fraction, exponent;
} number_parts;

static bool split_number(refs_str text, number_parts *parts) {
    size_t at = text.size > 0 && (text.data[0] == '-' || text.data[0] == '+');
    *parts = (number_parts){.is_negative = text.size > 0 && text.data[0] == '-',
                            .fraction = {"", 0},
                            .exponent = {"", 0}};
    if (text.size > MAX_NUMBER_BYTES) return false;
    parts->whole = refs_str_part(text, at, at + count_digits(text, at));
    at += parts->whole.size;
    if (at < text.size && text.data[at] == '.') {
        parts->fraction = refs_str_part(text, at + 1, at + 1 + count_digits(text, at + 1));
        at += 1 + parts->fraction.size;
    }
    if (parts->whole.size + parts->fraction.size == 0) return false;
    if (at == text.size) return true;
    if (text.data[at] != 'e' && text.data[at] != 'E') return false;
    parts->exponent = refs_str_part(text, at + 1, text.size);
    size_t sign = parts->exponent.size > 0 && strchr("+-", parts->exponent.data[0]) != NULL;
    size_t digits = count_digits(parts->exponent, sign);
    return digits > 0 && sign + digits == parts->exponent.size;
}

static bool append_word(refs_str text, const char *quote, refs_buf *json) {
    static const struct {
        const char *said, *json;
    } words[] = {{"nan", "NaN"},
                 {"-nan", "NaN"},
                 {"inf", "Infinity"},
                 {"-inf", "-Infinity"},
                 {"+inf", "Infinity"},
                 {"infinity", "Infinity"},
                 {"-infinity", "-Infinity"}};
    char lower[16] = "";
    if (text.size >= sizeof lower) return false;
    for (size_t i = 0; i < text.size; i++)
        lower[i] =
            (char)(text.data[i] >= 'A' && text.data[i] <= 'Z' ? text.data[i] + 32 : text.data[i]);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(lower, words[i].said) == 0)
            return refs_buf_printf(json, NULL, "%s%s%s", quote, words[i].json, quote) == REFS_OK;
    return false;
}

/* Appends a number in JSON's syntax; NaN and the infinities as words, quoted if `quote` is "\"".
 * False, with nothing appended, if the text is not a number. */
static bool append_number(refs_str text, const char *quote, refs_buf *json) {
    number_parts parts;
    text = refs_str_trim(text, blanks);
    if (!split_number(text, &parts)) return append_word(text, quote, json);
    while (parts.whole.size > 1 && parts.whole.data[0] == '0')
        parts.whole = refs_str_part(parts.whole, 1, parts.whole.size);
    return refs_buf_printf(json, NULL, "%s%.*s%s%s%.*s%s%.*s", parts.is_negative ? "-" : "",
                           REFS_STR_ARG(parts.whole), parts.whole.size == 0 ? "0" : "",
                           parts.fraction.size > 0 ? "." : "", REFS_STR_ARG(parts.fraction),
                           parts.exponent.size > 0 ? "e" : "",
                           REFS_STR_ARG(parts.exponent)) == REFS_OK;
}

refs_status refs_references__dmrpp_value(const refs_dmrpp_type *type, refs_str text, refs_buf *json,
                                         refs_error *err) {
    bool is_number = type != NULL && type->kind != 'S' && type->kind != 0;
    if (is_number && append_number(text, "", json)) return REFS_OK;
    return refs_json_write_string(text, json, err);
}

/* -- fill values ------------------------------------------------------------------------------- */

/* Parses a JSON number. */
static bool to_double(refs_str json, double *number) {
    REFS_SCOPED_JSON *doc = NULL;
    return json.size > 0 && refs_json_parse(json, &doc, NULL) == REFS_OK &&
           refs_json_double(refs_json_root(doc), number);
}

/* Whether the server, which prints six digits, prints `number` as `text`. */
static bool may_be_printed_as(double number, refs_str text) {
    enum { LONGEST = 12 }; /* -1.23456e-308 without its sign */
    double printed, half_digit = 0.5e-5;
    return text.size <= LONGEST + 1 && to_double(text, &printed) &&
           fabs(number - printed) <= half_digit * fabs(printed);
}

/* Restores digits that the server left out, from the attribute _FillValue or netCDF's default fill
 * value. */
static refs_str with_all_digits(const refs_dmrpp_fill *fill) {
    static const char netcdf_fill[] = "9.969209968386869e+36";
    double number;
    refs_str text = refs_str_trim(fill->text, blanks);
    if (fill->kind != 'f') return text;
    if (to_double(fill->attribute, &number) && may_be_printed_as(number, text))
        return fill->attribute;
    return refs_str_is(text, "9.96921e+36") ? refs_str_from(netcdf_fill) : text;
}

/* Pads strings with NULs to the element's length. */
static refs_status append_padded(const refs_dmrpp_fill *fill, refs_buf *json, refs_error *err) {
    REFS_SCOPED_BUF padded = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&padded, refs_str_part(fill->text, 0, fill->size), err));
    const size_t size = padded.size;
    REFS_TRY(refs_buf_resize(&padded, fill->size, err));
    memset(padded.data + size, 0, padded.size - size);
    REFS_TRY(refs_buf_append(json, "\"", 1, err));
    REFS_TRY(refs_base64_encode(refs_buf_view(&padded), json, err));
    return refs_buf_append(json, "\"", 1, err);
}

refs_status refs_references__dmrpp_fill_value(const refs_dmrpp_fill *fill, refs_buf *json,
                                              refs_error *err) {
    bool is_said = fill->text.size > 0 && !refs_str_starts(fill->text, "unsupported-");
    if (fill->kind == 'S' && is_said) return append_padded(fill, json, err);
    if (!is_said) return refs_buf_append(json, "null", 4, err);
    if (append_number(with_all_digits(fill), "\"", json)) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "its fillValue: expected a number, found \"%.*s\"",
                     REFS_STR_ARG(fill->text));
}
