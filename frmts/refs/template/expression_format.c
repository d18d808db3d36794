/* expression_format.c -- Python's two ways of formatting, see expression.h:
 * https://docs.python.org/3/library/stdtypes.html#printf-style-string-formatting and
 * https://docs.python.org/3/library/string.html#format-specification-mini-language. */
#include "expression.h"

#include <math.h>
#include <stdio.h>

#include "refs/utf8.h"

#define MAX_WIDTH     1000
#define MAX_PRECISION 100

/* How one value is written. */
typedef struct format_spec {
    char fill;
    char align;  /* '<', '>', '^', '=' (fill behind the sign), or 0: as the type does */
    char sign;   /* '+', ' ', or 0: none before positive numbers */
    bool prefix; /* "0x", "0o" */
    size_t width;
    size_t precision; /* SIZE_MAX: not said */
    char type;        /* 0: not said */
} format_spec;

static const format_spec plain_spec = {' ', 0, 0, false, 0, SIZE_MAX, 0};

/* A format that is read, and what it makes. */
typedef struct formatter {
    refs_str format;
    size_t at;
    const refs_binding *args; /* without the format */
    size_t n_args;
    size_t next_arg;
    refs_template_scratch *scratch;
    refs_buf made;
    size_t max_size;
} formatter;

static refs_status append(formatter *f, const char *text, size_t size, refs_error *err) {
    if (size > f->max_size || f->made.size > f->max_size - size)
        return refs_fail(err, REFS_LIMIT, "expression needs more than %zu bytes", f->max_size);
    return refs_buf_append(&f->made, text, size, err);
}

static refs_status append_fill(formatter *f, char fill, size_t n, refs_error *err) {
    for (size_t i = 0; i < n; i++) REFS_TRY(append(f, &fill, 1, err));
    return REFS_OK;
}

/* -- one value -------------------------------------------------------------------------------- */

size_t refs_template__count_characters(refs_str text) {
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++)
        if (!refs_utf8_continues(text.data[i])) n++;
    return n;
}

/* Writes a sign (or prefix) and a body with the fill where the alignment wants it. */
static refs_status append_aligned(formatter *f, const format_spec *spec, refs_str sign,
                                  refs_str body, refs_error *err) {
    size_t size = sign.size + refs_template__count_characters(body);
    size_t fill = spec->width > size ? spec->width - size : 0;
    size_t before = spec->align == '<' ? 0 : spec->align == '^' ? fill / 2 : fill;
    if (spec->align != '=') REFS_TRY(append_fill(f, spec->fill, before, err));
    REFS_TRY(append(f, sign.data, sign.size, err));
    if (spec->align == '=') REFS_TRY(append_fill(f, spec->fill, before, err));
    REFS_TRY(append(f, body.data, body.size, err));
    return append_fill(f, spec->fill, fill - before, err);
}

static refs_status append_text(formatter *f, format_spec spec, refs_str text, refs_error *err) {
    size_t end = 0, n = 0;
    for (; end < text.size; end++) {
        if (refs_utf8_continues(text.data[end])) continue;
        if (n++ == spec.precision) break;
    }
    if (spec.align == '=')
        return refs_fail(err, REFS_INVALID, "a string has no sign to fill behind");
    if (spec.align == 0) spec.align = '<';
    return append_aligned(f, &spec, refs_str_view("", 0), refs_str_part(text, 0, end), err);
}

/* The sign, and the prefix of hexadecimal and octal numbers. */
static refs_str lead_of(const format_spec *spec, bool negative, char lead[4]) {
    size_t n = 0;
    if (negative)
        lead[n++] = '-';
    else if (spec->sign != 0)
        lead[n++] = spec->sign;
    if (spec->prefix && (spec->type == 'x' || spec->type == 'X' || spec->type == 'o')) {
        lead[n++] = '0';
        lead[n++] = spec->type;
    }
    return refs_str_view(lead, n);
}

static refs_status append_integer(formatter *f, format_spec spec, int64_t integer,
                                  refs_error *err) {
    char digits[MAX_PRECISION + 32], lead[4];
    unsigned long long magnitude =
        integer < 0 ? 0 - (unsigned long long)integer : (unsigned long long)integer;
    int precision = spec.precision == SIZE_MAX ? 1 : (int)spec.precision;
    int size = spec.type == 'x'   ? snprintf(digits, sizeof digits, "%.*llx", precision, magnitude)
               : spec.type == 'X' ? snprintf(digits, sizeof digits, "%.*llX", precision, magnitude)
               : spec.type == 'o' ? snprintf(digits, sizeof digits, "%.*llo", precision, magnitude)
                                  : snprintf(digits, sizeof digits, "%.*llu", precision, magnitude);
    if (spec.align == 0) spec.align = '>';
    return append_aligned(f, &spec, lead_of(&spec, integer < 0, lead),
                          refs_str_view(digits, (size_t)size), err);
}

/* Replaces the locale's decimal point, whatever it is, by a point. */
static size_t restore_point(char *text) {
    size_t n = 0;
    bool point = false;
    for (size_t i = 0; text[i] != '\0'; i++) {
        bool kept = (text[i] >= '0' && text[i] <= '9') || strchr("+-einfaEINFA", text[i]) != NULL;
        if (kept || !point) text[n++] = kept ? text[i] : '.';
        point = !kept;
    }
    text[n] = '\0';
    return n;
}

static refs_status append_float(formatter *f, format_spec spec, double number, refs_error *err) {
    char digits[512], lead[4];
    int precision = spec.precision == SIZE_MAX ? 6 : (int)spec.precision;
    double magnitude = fabs(number);
    if (spec.type == 'e' || spec.type == 'E')
        snprintf(digits, sizeof digits, spec.type == 'e' ? "%.*e" : "%.*E", precision, magnitude);
    else
        snprintf(digits, sizeof digits, spec.type == 'f' ? "%.*f" : "%.*F", precision, magnitude);
    size_t size = restore_point(digits);
    if (spec.align == 0) spec.align = '>';
    return append_aligned(f, &spec, lead_of(&spec, signbit(number) != 0, lead),
                          refs_str_view(digits, size), err);
}

static refs_status fail_type(const format_spec *spec, const refs_value *value, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s cannot be formatted as '%c'",
                     refs_value_kind_text(value->kind), spec->type);
}

static refs_status append_value(formatter *f, const format_spec *spec, const refs_value *value,
                                refs_error *err) {
    refs_str text;
    switch (spec->type) {
    case 'd':
    case 'x':
    case 'X':
    case 'o':
        if (!refs_value_is_integer(value)) return fail_type(spec, value, err);
        return append_integer(f, *spec, value->integer, err);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
        if (!refs_value_is_number(value)) return fail_type(spec, value, err);
        return append_float(f, *spec, refs_value_as_float(value), err);
    case 's':
        REFS_TRY(refs_value_to_text(value, f->scratch, &text, err));
        return append_text(f, *spec, text, err);
    default:
        return refs_fail(err, REFS_UNSUPPORTED, "format type '%c' is not supported", spec->type);
    }
}

/* -- format % args ---------------------------------------------------------------------------- */

static char peek(const formatter *f) {
    return f->at < f->format.size ? f->format.data[f->at] : '\0';
}

static refs_status read_size(formatter *f, size_t limit, size_t *size, refs_error *err) {
    *size = 0;
    for (; peek(f) >= '0' && peek(f) <= '9'; f->at++) {
        *size = *size * 10 + (size_t)(peek(f) - '0');
        if (*size > limit)
            return refs_fail(err, REFS_LIMIT, "a width or precision is above %zu", limit);
    }
    return REFS_OK;
}

static refs_status read_precision(formatter *f, format_spec *spec, refs_error *err) {
    if (peek(f) != '.') return REFS_OK;
    f->at++;
    return read_size(f, MAX_PRECISION, &spec->precision, err);
}

static refs_status next_argument(formatter *f, const refs_value **value, refs_error *err) {
    if (f->next_arg >= f->n_args)
        return refs_fail(err, REFS_INVALID, "the format \"%.*s\" needs more than %zu values",
                         REFS_STR_ARG(f->format), f->n_args);
    *value = &f->args[f->next_arg++].value;
    return REFS_OK;
}

/* Reads what follows a '%': flags, width, precision, type. */
static refs_status read_percent_spec(formatter *f, format_spec *spec, refs_error *err) {
    *spec = plain_spec;
    spec->align = '>';
    for (;; f->at++) {
        char flag = peek(f);
        if (flag == '-')
            spec->align = '<';
        else if (flag == '0' && spec->align != '<')
            spec->align = '=';
        else if (flag == '+' || (flag == ' ' && spec->sign == 0))
            spec->sign = flag;
        else if (flag == '#')
            spec->prefix = true;
        else if (flag != '0' && flag != ' ')
            break;
    }
    REFS_TRY(read_size(f, MAX_WIDTH, &spec->width, err));
    REFS_TRY(read_precision(f, spec, err));
    if (f->at >= f->format.size)
        return refs_fail(err, REFS_INVALID, "the format \"%.*s\" is not complete",
                         REFS_STR_ARG(f->format));
    spec->type = f->format.data[f->at++];
    if (spec->type == 'i' || spec->type == 'u') spec->type = 'd';
    if (spec->align == '=' && spec->type == 's') spec->align = '>';
    if (spec->align == '=') spec->fill = '0';
    return REFS_OK;
}

static refs_status append_percent(formatter *f, refs_error *err) {
    format_spec spec;
    const refs_value *value = NULL;
    if (peek(f) == '%') return append(f, &f->format.data[f->at++], 1, err);
    REFS_TRY(read_percent_spec(f, &spec, err));
    REFS_TRY(next_argument(f, &value, err));
    refs_value whole = *value;
    if (spec.type == 'd' && value->kind == REFS_VALUE_FLOAT) {
        whole.kind = REFS_VALUE_INTEGER;
        REFS_TRY(refs_value_to_integer(value, &whole.integer, err));
    }
    return append_value(f, &spec, &whole, err);
}

static refs_status format_percent(formatter *f, refs_error *err) {
    while (f->at < f->format.size) {
        size_t percent = refs_str_find(refs_str_part(f->format, f->at, f->format.size), '%');
        refs_str literal =
            refs_str_part(f->format, f->at, percent == SIZE_MAX ? f->format.size : f->at + percent);
        REFS_TRY(append(f, literal.data, literal.size, err));
        f->at += literal.size + 1;
        if (percent != SIZE_MAX) REFS_TRY(append_percent(f, err));
    }
    if (f->next_arg < f->n_args)
        return refs_fail(err, REFS_INVALID, "the format \"%.*s\" needs fewer than %zu values",
                         REFS_STR_ARG(f->format), f->n_args);
    return REFS_OK;
}

/* -- str.format ------------------------------------------------------------------------------- */

/* Reads the name or number of a field, up to ':' or '}'. */
static refs_status read_field(formatter *f, const refs_value **value, refs_error *err) {
    size_t begin = f->at;
    uint64_t number;
    while (f->at < f->format.size && peek(f) != ':' && peek(f) != '}') f->at++;
    refs_str name = refs_str_part(f->format, begin, f->at);
    if (name.size == 0 && f->next_arg < f->n_args && f->args[f->next_arg].name.size > 0)
        return refs_fail(err, REFS_INVALID, "there is no value for a field without a name");
    if (name.size == 0) return next_argument(f, value, err);
    bool numbered = refs_str_to_u64(name, &number);
    for (size_t i = 0; i < f->n_args; i++) {
        bool meant = numbered ? i == number : refs_str_equal(f->args[i].name, name);
        if (!meant || (numbered && f->args[i].name.size > 0)) continue;
        *value = &f->args[i].value;
        return REFS_OK;
    }
    return refs_fail(err, REFS_INVALID, "there is no value for field \"%.*s\"", REFS_STR_ARG(name));
}

static bool is_alignment(char c) {
    return c == '<' || c == '>' || c == '^' || c == '=';
}

static refs_status read_brace_spec(formatter *f, format_spec *spec, refs_error *err) {
    *spec = plain_spec;
    if (peek(f) != ':') return REFS_OK;
    f->at++;
    bool filled = f->at + 1 < f->format.size && is_alignment(f->format.data[f->at + 1]);
    if (filled) spec->fill = f->format.data[f->at++];
    if (is_alignment(peek(f))) spec->align = f->format.data[f->at++];
    if (peek(f) == '+' || peek(f) == ' ' || peek(f) == '-') {
        spec->sign = peek(f) == '-' ? 0 : peek(f);
        f->at++;
    }
    if (peek(f) == '#') {
        spec->prefix = true;
        f->at++;
    }
    if (peek(f) == '0') {
        if (!filled) spec->fill = '0';
        if (spec->align == 0) spec->align = '=';
    }
    REFS_TRY(read_size(f, MAX_WIDTH, &spec->width, err));
    REFS_TRY(read_precision(f, spec, err));
    if (peek(f) != '}') spec->type = f->at < f->format.size ? f->format.data[f->at++] : '}';
    return REFS_OK;
}

static bool needs_type(const format_spec *spec, refs_value_kind kind) {
    bool precise = spec->precision != SIZE_MAX, special = spec->sign != 0 || spec->align == '=';
    if (kind == REFS_VALUE_TEXT) return false;
    if (kind == REFS_VALUE_INTEGER) return precise;
    if (kind == REFS_VALUE_FLOAT) return precise || special;
    return precise || special || spec->width > 0 || spec->align != 0;
}

/* Without a type, integers and strings are written as such, other values as str() does. */
static refs_status append_untyped(formatter *f, format_spec spec, const refs_value *value,
                                  refs_error *err) {
    if (needs_type(&spec, value->kind))
        return refs_fail(err, REFS_UNSUPPORTED, "the format of %s needs a type",
                         refs_value_kind_text(value->kind));
    spec.type = value->kind == REFS_VALUE_INTEGER ? 'd' : 's';
    if (spec.align == 0 && refs_value_is_number(value)) spec.align = '>';
    return append_value(f, &spec, value, err);
}

static refs_status append_field(formatter *f, refs_error *err) {
    const refs_value *value = NULL;
    format_spec spec;
    REFS_TRY(read_field(f, &value, err));
    REFS_TRY(read_brace_spec(f, &spec, err));
    if (peek(f) != '}')
        return refs_fail(err, REFS_UNSUPPORTED, "the format \"%.*s\" is not understood",
                         REFS_STR_ARG(f->format));
    f->at++;
    if (spec.type == 0) return append_untyped(f, spec, value, err);
    if (spec.type != 's' && spec.precision != SIZE_MAX && strchr("dxXo", spec.type) != NULL)
        return refs_fail(err, REFS_INVALID, "integers have no precision");
    return append_value(f, &spec, value, err);
}

static refs_status format_braces(formatter *f, refs_error *err) {
    while (f->at < f->format.size) {
        char c = f->format.data[f->at++];
        if (c != '{' && c != '}') {
            REFS_TRY(append(f, &c, 1, err));
        } else if (peek(f) == c) {
            f->at++;
            REFS_TRY(append(f, &c, 1, err));
        } else if (c == '{') {
            REFS_TRY(append_field(f, err));
        } else {
            return refs_fail(err, REFS_INVALID, "the format \"%.*s\" has a single '}'",
                             REFS_STR_ARG(f->format));
        }
    }
    return REFS_OK;
}

/* -- both ------------------------------------------------------------------------------------- */

static refs_status run(refs_status (*way)(formatter *f, refs_error *err), formatter *f,
                       refs_value *result, refs_error *err) {
    refs_str text;
    refs_status status = way(f, err);
    if (status == REFS_OK)
        status = refs_value_scratch_copy(
            f->scratch, refs_str_view((const char *)f->made.data, f->made.size), &text, err);
    if (status == REFS_OK) *result = refs_value_text(text);
    refs_buf_clear(&f->made);
    return status;
}

static formatter start(const refs_binding *args, size_t n, refs_template_scratch *scratch) {
    return (formatter){.format = args[0].value.text,
                       .args = args + 1,
                       .n_args = n - 1,
                       .scratch = scratch,
                       .max_size = scratch->capacity};
}

refs_status refs_template__format_percent(const refs_binding *args, size_t n,
                                          refs_template_scratch *scratch, refs_value *result,
                                          refs_error *err) {
    if (args[0].value.kind != REFS_VALUE_TEXT)
        return refs_fail(err, REFS_INVALID, "%s is not a format",
                         refs_value_kind_text(args[0].value.kind));
    for (size_t i = 1; i < n; i++)
        if (args[i].name.size > 0)
            return refs_fail(err, REFS_UNSUPPORTED, "named values in a %%-format");
    formatter f = start(args, n, scratch);
    return run(format_percent, &f, result, err);
}

refs_status refs_template__format_braces(const refs_binding *args, size_t n,
                                         refs_template_scratch *scratch, refs_value *result,
                                         refs_error *err) {
    formatter f = start(args, n, scratch);
    return run(format_braces, &f, result, err);
}
