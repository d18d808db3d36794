/* format.c -- formats values as Python's % and str.format do, see code.h. */
#include "template/code.h"

/* Widest field. */
#define MAX_WIDTH 1000

/* A format specification; both kinds are converted to it. */
typedef struct field {
    char fill, align; /* "<", ">", "^"; "=" fills after the sign; NUL: the default */
    char sign;        /* "+" or a space before numbers that are not negative, else NUL */
    size_t width;
    char type; /* NUL: absent */
} field;

/* The state of reading a format, with the values for it. */
typedef struct formatter {
    refs_str format;
    size_t at;
    const refs_binding *values;
    size_t n, next; /* number of values, and of those used by position */
    bool has_numbers;
    refs_template_scratch *scratch;
} formatter;

static char peek(const formatter *f) {
    return f->at < f->format.size ? f->format.data[f->at] : '\0';
}

static bool skip(formatter *f, char c) {
    if (f->at >= f->format.size || peek(f) != c) return false;
    f->at++;
    return true;
}

static refs_status fail_expected(const formatter *f, const char *expected, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED, "format \"%.*s\": expected %s, found \"%.*s\"",
                     REFS_STR_ARG(f->format), expected,
                     REFS_STR_ARG(refs_str_part(f->format, f->at, f->at + 1)));
}

static refs_status read_width(formatter *f, size_t *width, refs_error *err) {
    for (*width = 0; refs_is_digit(peek(f)); f->at++) {
        *width = *width * 10 + (size_t)(peek(f) - '0');
        if (*width > MAX_WIDTH)
            return refs_fail(err, REFS_LIMIT, "expected a width of at most %d, found more",
                             MAX_WIDTH);
    }
    return REFS_OK;
}

/* Reads the type at the end of a field. */
static refs_status read_type(formatter *f, const char *types, field *read, refs_error *err) {
    if (f->at >= f->format.size || strchr(types, peek(f)) == NULL || peek(f) == '\0')
        return fail_expected(f, "a width and d, o, x, X or s", err);
    read->type = f->format.data[f->at++];
    return REFS_OK;
}

/* -- values ------------------------------------------------------------------------------------ */

static refs_status put_fill(formatter *f, char fill, size_t n, refs_error *err) {
    const refs_str text = refs_str_view(&fill, 1);
    while (n-- > 0) REFS_TRY(refs_template__put(f->scratch, text, err));
    return REFS_OK;
}

/* Widths count characters of UTF-8. */
static size_t count_characters(refs_str text) {
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++) n += (text.data[i] & 0xc0) != 0x80;
    return n;
}

/* Writes `sign` and `body`, padded to the field's width. */
static refs_status put_padded(formatter *f, const field *as, refs_str sign, refs_str body,
                              refs_error *err) {
    const size_t size = sign.size + count_characters(body);
    const size_t padding = as->width > size ? as->width - size : 0;
    const size_t before = as->align == '>' ? padding : as->align == '^' ? padding / 2 : 0;
    const size_t inside = as->align == '=' ? padding : 0;
    REFS_TRY(put_fill(f, as->fill, before, err));
    REFS_TRY(refs_template__put(f->scratch, sign, err));
    REFS_TRY(put_fill(f, as->fill, inside, err));
    REFS_TRY(refs_template__put(f->scratch, body, err));
    return put_fill(f, as->fill, padding - before - inside, err);
}

static refs_status put_integer(formatter *f, field as, int64_t integer, refs_error *err) {
    const unsigned base = as.type == 'o' ? 8 : as.type == 'x' || as.type == 'X' ? 16 : 10;
    const char *digits = as.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[32], *begin = text + sizeof text;
    uint64_t left = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    do *--begin = digits[left % base];
    while ((left /= base) > 0);
    if (integer < 0) as.sign = '-';
    if (as.align == '\0') as.align = '>';
    return put_padded(f, &as, refs_str_view(&as.sign, as.sign != '\0'),
                      refs_str_view(begin, (size_t)(text + sizeof text - begin)), err);
}

static refs_status put_field(formatter *f, field as, const refs_template_value *value,
                             refs_error *err) {
    if (value->kind == REFS_TEMPLATE_INTEGER && as.type != 's')
        return put_integer(f, as, value->integer, err);
    if (value->kind != REFS_TEMPLATE_TEXT || as.align == '=' || as.sign != '\0' ||
        (as.type != 's' && as.type != '\0'))
        return refs_fail(err, REFS_INVALID, "format \"%.*s\": expected %s, found %s",
                         REFS_STR_ARG(f->format), as.type == 's' ? "a string" : "an integer",
                         refs_template__kind_text(value));
    if (as.align == '\0') as.align = '<';
    return put_padded(f, &as, (refs_str){NULL, 0}, value->text, err);
}

/* Sets *value to the next positional value. */
static refs_status next_value(formatter *f, const refs_template_value **value, refs_error *err) {
    if (f->next >= f->n || f->values[f->next].name.size > 0)
        return refs_fail(err, REFS_INVALID,
                         "format \"%.*s\": expected at least %zu values without a name, found %zu",
                         REFS_STR_ARG(f->format), f->next + 1, f->next);
    *value = &f->values[f->next++].value;
    return REFS_OK;
}

/* -- "%" --------------------------------------------------------------------------------------- */

/* %[flags][width]type. Zeros never pad strings; "%s" of an integer formats a string. */
static refs_status put_percent(formatter *f, refs_error *err) {
    field as = {.fill = ' ', .align = '>'};
    const refs_template_value *value = NULL;
    bool left = false;
    if (skip(f, '%')) return refs_template__put(f->scratch, refs_str_from("%"), err);
    for (;; f->at++) {
        if (peek(f) == '-')
            left = true;
        else if (peek(f) == '0')
            as.fill = '0';
        else if (peek(f) == '+' || (peek(f) == ' ' && as.sign == '\0'))
            as.sign = peek(f);
        else if (peek(f) != ' ')
            break;
    }
    REFS_TRY(read_width(f, &as.width, err));
    REFS_TRY(read_type(f, "dioxXs", &as, err));
    REFS_TRY(next_value(f, &value, err));
    if (left || as.type == 's') as.fill = ' ';
    if (left) as.align = '<';
    if (as.fill == '0') as.align = '=';
    if (as.type != 's') return put_field(f, as, value, err);
    as.sign = '\0';
    as.type = value->kind == REFS_TEMPLATE_INTEGER ? 'd' : 's';
    return put_field(f, as, value, err);
}

static refs_status run_percent(formatter *f, refs_error *err) {
    while (f->at < f->format.size) {
        size_t end = f->at;
        while (end < f->format.size && f->format.data[end] != '%') end++;
        REFS_TRY(refs_template__put(f->scratch, refs_str_part(f->format, f->at, end), err));
        f->at = end;
        if (skip(f, '%')) REFS_TRY(put_percent(f, err));
    }
    if (f->next < f->n)
        return refs_fail(err, REFS_INVALID, "format \"%.*s\": expected %zu values, found %zu",
                         REFS_STR_ARG(f->format), f->next, f->n);
    return REFS_OK;
}

/* -- str.format -------------------------------------------------------------------------------- */

/* Finds the value for "0", a name or nothing. */
static refs_status find_value(formatter *f, refs_str name, const refs_template_value **value,
                              refs_error *err) {
    uint64_t number;
    if (name.size == 0 && !f->has_numbers) return next_value(f, value, err);
    for (size_t i = 0; i < f->n && name.size > 0; i++) {
        const bool is_number = refs_str_to_u64(name, &number) && f->values[i].name.size == 0;
        if (is_number ? number != i || f->next > 0 : !refs_str_equal(f->values[i].name, name))
            continue;
        f->has_numbers = f->has_numbers || is_number;
        *value = &f->values[i].value;
        return REFS_OK;
    }
    return refs_fail(err, REFS_INVALID,
                     "format \"%.*s\": expected a value for field \"%.*s\", found none",
                     REFS_STR_ARG(f->format), REFS_STR_ARG(name));
}

/* [[fill]align][sign][0][width][type] */
static refs_status read_braces(formatter *f, field *as, refs_error *err) {
    const char next = f->at + 1 < f->format.size ? f->format.data[f->at + 1] : '\0';
    const bool has_fill =
        (next == '<' || next == '>' || next == '^' || next == '=') && (unsigned char)peek(f) < 0x80;
    if (has_fill) as->fill = f->format.data[f->at++];
    if (strchr("<>^=", peek(f)) != NULL && peek(f) != '\0') as->align = f->format.data[f->at++];
    if (peek(f) == '+' || peek(f) == '-' || peek(f) == ' ') as->sign = f->format.data[f->at++];
    if (as->sign == '-') as->sign = '\0';
    if (peek(f) == '0') {
        if (!has_fill) as->fill = '0';
        if (as->align == '\0') as->align = '=';
    }
    REFS_TRY(read_width(f, &as->width, err));
    return peek(f) == '}' ? REFS_OK : read_type(f, "doxXs", as, err);
}

static refs_status put_braces(formatter *f, refs_error *err) {
    const size_t begin = f->at;
    field as = {.fill = ' '};
    const refs_template_value *value = NULL;
    while (f->at < f->format.size && peek(f) != '}' && peek(f) != ':') f->at++;
    REFS_TRY(find_value(f, refs_str_part(f->format, begin, f->at), &value, err));
    if (skip(f, ':')) REFS_TRY(read_braces(f, &as, err));
    if (!skip(f, '}')) return fail_expected(f, "\"}\"", err);
    return put_field(f, as, value, err);
}

static refs_status run_braces(formatter *f, refs_error *err) {
    while (f->at < f->format.size) {
        const size_t begin = f->at++;
        const char c = f->format.data[begin];
        if (c == '{' && !skip(f, '{')) {
            REFS_TRY(put_braces(f, err));
            continue;
        }
        if (c == '}' && !skip(f, '}')) return fail_expected(f, "\"}}\"", err);
        REFS_TRY(refs_template__put(f->scratch, refs_str_part(f->format, begin, begin + 1), err));
    }
    return REFS_OK;
}

/* -- both kinds -------------------------------------------------------------------------------- */

static refs_status set_format(formatter *f, const refs_template_value *format, refs_error *err) {
    if (format->kind != REFS_TEMPLATE_TEXT)
        return refs_fail(err, REFS_INVALID, "expected a string to format, found %s",
                         refs_template__kind_text(format));
    f->format = format->text;
    return REFS_OK;
}

refs_status refs_template__format_percent(const refs_binding *values, size_t n,
                                          refs_template_scratch *scratch, refs_str *text,
                                          refs_error *err) {
    const size_t begin = scratch->used;
    formatter f = {.values = values + 1, .n = n - 1, .scratch = scratch};
    REFS_TRY(set_format(&f, &values[0].value, err));
    REFS_TRY(run_percent(&f, err));
    *text = refs_template__text_since(scratch, begin);
    return REFS_OK;
}

refs_status refs_template__format_braces(const refs_binding *values, size_t n,
                                         refs_template_scratch *scratch, refs_str *text,
                                         refs_error *err) {
    const size_t begin = scratch->used;
    formatter f = {.values = values + 1, .n = n - 1, .scratch = scratch};
    REFS_TRY(set_format(&f, &values[0].value, err));
    REFS_TRY(run_braces(&f, err));
    *text = refs_template__text_since(scratch, begin);
    return REFS_OK;
}
