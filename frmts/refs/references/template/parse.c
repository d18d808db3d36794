/* parse.c -- compiles a template to instructions, see template.h. Follows the grammar of jinja2's
 * parser. */
#include "template/code.h"

/* Most instructions of one template, and deepest nesting of parentheses and signs. */
#define MAX_INSTRUCTIONS 500
#define MAX_NESTING      32

/* Most arguments of a call, because names are searched linearly. */
#define MAX_ARGUMENTS 32

/* Characters of the unexpected text that a message shows. */
#define FOUND_SIZE 20

typedef struct parser {
    refs_template *out;
    refs_str source;
    size_t at;
    size_t nesting;
    size_t stack; /* values on the stack */
} parser;

static refs_status parse_expression(parser *p, refs_error *err);

/* -- characters ------------------------------------------------------------------------------- */

static char peek(const parser *p) {
    return p->at < p->source.size ? p->source.data[p->at] : '\0';
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || refs_is_digit(c) ||
           (unsigned char)c >= 0x80;
}

static void skip_white(parser *p) {
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n' || peek(p) == '\r') p->at++;
}

/* Skips white space and then `symbol` if it is next. */
static bool skip_symbol(parser *p, const char *symbol) {
    skip_white(p);
    for (size_t i = 0; symbol[i] != '\0'; i++)
        if (p->at + i >= p->source.size || p->source.data[p->at + i] != symbol[i]) return false;
    p->at += strlen(symbol);
    return true;
}

static refs_str read_name(parser *p) {
    const size_t begin = p->at;
    while (is_name_char(peek(p))) p->at++;
    return refs_str_part(p->source, begin, p->at);
}

static refs_status fail_expected(const parser *p, const char *expected, refs_error *err) {
    if (p->at >= p->source.size)
        return refs_fail(err, REFS_INVALID, "expected %s, found the end of the text", expected);
    return refs_fail(err, REFS_UNSUPPORTED, "expected %s, found \"%.*s\" at character %zu",
                     expected, REFS_STR_ARG(refs_str_part(p->source, p->at, p->at + FOUND_SIZE)),
                     p->at + 1);
}

/* -- instructions ----------------------------------------------------------------------------- */

static refs_status emit(parser *p, refs_op op, size_t n, refs_binding operand, refs_error *err) {
    refs_template *t = p->out;
    if (t->n == MAX_INSTRUCTIONS)
        return refs_fail(err, REFS_LIMIT, "expected at most %d operations, found more",
                         MAX_INSTRUCTIONS);
    REFS_GROW(t->code, t->capacity, t->n, err);
    t->code[t->n++] = (refs_instruction){op, (uint32_t)n, operand};
    p->stack = p->stack - n + 1;
    if (p->stack > t->max_stack) t->max_stack = p->stack;
    return REFS_OK;
}

static refs_status emit_operator(parser *p, refs_op op, size_t n, refs_error *err) {
    return emit(p, op, n, (refs_binding){{NULL, 0}, {0}}, err);
}

static refs_status emit_text(parser *p, refs_str text, refs_error *err) {
    const refs_template_value value = {.kind = REFS_TEMPLATE_TEXT, .text = text};
    return emit(p, REFS_OP_VALUE, 0, (refs_binding){{NULL, 0}, value}, err);
}

/* -- values ----------------------------------------------------------------------------------- */

/* Digits do not begin with zero, as in Python. */
static refs_status parse_integer(parser *p, refs_error *err) {
    refs_template_value value = {.kind = REFS_TEMPLATE_INTEGER};
    const size_t begin = p->at;
    for (; refs_is_digit(peek(p)); p->at++)
        if (__builtin_mul_overflow(value.integer, 10, &value.integer) ||
            __builtin_add_overflow(value.integer, peek(p) - '0', &value.integer))
            return refs_fail(err, REFS_LIMIT, "expected an integer of 64 bits, found more");
    const bool has_zero = p->source.data[begin] == '0' && p->at > begin + 1;
    if (has_zero || is_name_char(peek(p)) || peek(p) == '.') {
        p->at = begin;
        return fail_expected(p, "a decimal integer", err);
    }
    return emit(p, REFS_OP_VALUE, 0, (refs_binding){{NULL, 0}, value}, err);
}

static refs_status parse_string(parser *p, refs_error *err) {
    const char quote = p->source.data[p->at++];
    const size_t begin = p->at;
    while (p->at < p->source.size && peek(p) != quote && peek(p) != '\\') p->at++;
    if (p->at >= p->source.size || peek(p) == '\\')
        return fail_expected(p, "the quote that ends the string", err);
    return emit_text(p, refs_str_part(p->source, begin, p->at++), err);
}

/* Parses arguments from after "(" up to ")"; named ones come last. */
static refs_status parse_arguments(parser *p, size_t *n, refs_error *err) {
    bool has_names = false;
    for (*n = 0; !skip_symbol(p, ")"); ++*n) {
        if (*n > 0 && !skip_symbol(p, ",")) return fail_expected(p, "\",\" or \")\"", err);
        if (*n == MAX_ARGUMENTS)
            return refs_fail(err, REFS_LIMIT, "expected at most %d arguments, found more",
                             MAX_ARGUMENTS);
        skip_white(p);
        const size_t begin = p->at;
        refs_str name = refs_is_digit(peek(p)) ? (refs_str){NULL, 0} : read_name(p);
        if (name.size > 0 && skip_symbol(p, "=")) {
            has_names = true;
        } else {
            p->at = begin;
            if (has_names) return fail_expected(p, "an argument with a name", err);
            name.size = 0;
        }
        REFS_TRY(parse_expression(p, err));
        if (name.size > 0) REFS_TRY(emit(p, REFS_OP_ARGUMENT, 1, (refs_binding){name, {0}}, err));
    }
    return REFS_OK;
}

static refs_status parse_name(parser *p, refs_error *err) {
    const refs_binding operand = {read_name(p), {0}};
    size_t n;
    if (!skip_symbol(p, "(")) return emit(p, REFS_OP_NAME, 0, operand, err);
    REFS_TRY(parse_arguments(p, &n, err));
    return emit(p, REFS_OP_CALL, n, operand, err);
}

/* Parses "(a)" from after its parenthesis, and the tuples "()", "(a,)" and "(a, b)". */
static refs_status parse_parenthesis(parser *p, size_t *n, bool *is_tuple, refs_error *err) {
    *n = 0;
    *is_tuple = true;
    while (!skip_symbol(p, ")")) {
        if (!*is_tuple) return fail_expected(p, "\",\" or \")\"", err);
        REFS_TRY(parse_expression(p, err));
        ++*n;
        *is_tuple = skip_symbol(p, ",");
    }
    *is_tuple = *is_tuple || *n != 1;
    return REFS_OK;
}

static refs_status parse_primary(parser *p, refs_error *err) {
    size_t n, begin = p->at;
    bool is_tuple;
    if (refs_is_digit(peek(p))) return parse_integer(p, err);
    if (peek(p) == '\'' || peek(p) == '"') return parse_string(p, err);
    if (is_name_char(peek(p))) return parse_name(p, err);
    if (!skip_symbol(p, "(")) return fail_expected(p, "a name, an integer, a string or \"(\"", err);
    REFS_TRY(parse_parenthesis(p, &n, &is_tuple, err));
    if (!is_tuple) return REFS_OK;
    p->at = begin;
    return fail_expected(p, "one value in parentheses", err);
}

/* -- operators -------------------------------------------------------------------------------- */

static refs_status parse_format(parser *p, refs_op op, refs_error *err) {
    size_t n;
    skip_white(p);
    const size_t begin = p->at;
    if (!refs_str_is(read_name(p), "format") || !skip_symbol(p, "(")) {
        p->at = begin;
        return fail_expected(p, "\"format(\"", err);
    }
    REFS_TRY(parse_arguments(p, &n, err));
    return emit_operator(p, op, n + 1, err);
}

static refs_status parse_postfix(parser *p, refs_error *err) {
    for (;;) {
        if (skip_symbol(p, "."))
            REFS_TRY(parse_format(p, REFS_OP_FORMAT_BRACES, err));
        else if (skip_symbol(p, "|"))
            REFS_TRY(parse_format(p, REFS_OP_FORMAT_PERCENT, err));
        else
            return REFS_OK;
    }
}

/* Signs bind closer than **; filters apply to the value with its sign. */
static refs_status parse_signed(parser *p, refs_error *err) {
    refs_op signs[MAX_NESTING];
    size_t n = 0;
    for (bool minus; (minus = skip_symbol(p, "-")) || skip_symbol(p, "+"); n++) {
        if (n == MAX_NESTING)
            return refs_fail(err, REFS_LIMIT, "expected at most %d signs, found more", MAX_NESTING);
        signs[n] = minus ? REFS_OP_NEGATE : REFS_OP_PLUS;
    }
    REFS_TRY(parse_primary(p, err));
    while (n > 0) REFS_TRY(emit_operator(p, signs[--n], 1, err));
    return parse_postfix(p, err);
}

/* Parses "** a" after a value; it is left-associative in jinja2. */
static refs_status parse_powers(parser *p, refs_error *err) {
    while (skip_symbol(p, "**")) {
        REFS_TRY(parse_signed(p, err));
        REFS_TRY(emit_operator(p, REFS_OP_POWER, 2, err));
    }
    return REFS_OK;
}

static refs_status parse_power(parser *p, refs_error *err) {
    REFS_TRY(parse_signed(p, err));
    return parse_powers(p, err);
}

/* Parses the operand of "%", the only place where a tuple is allowed. */
static refs_status parse_modulus(parser *p, refs_error *err) {
    size_t n = 1;
    bool is_tuple = false;
    if (skip_symbol(p, "(")) {
        REFS_TRY(parse_parenthesis(p, &n, &is_tuple, err));
        if (is_tuple) return emit_operator(p, REFS_OP_FORMAT_PERCENT, n + 1, err);
        REFS_TRY(parse_postfix(p, err));
        REFS_TRY(parse_powers(p, err));
    } else {
        REFS_TRY(parse_power(p, err));
    }
    return emit_operator(p, REFS_OP_MODULO, 2, err);
}

static refs_status parse_product(parser *p, refs_error *err) {
    REFS_TRY(parse_power(p, err));
    for (;;) {
        if (skip_symbol(p, "%")) {
            REFS_TRY(parse_modulus(p, err));
            continue;
        }
        const bool divides = skip_symbol(p, "//");
        if (!divides && !skip_symbol(p, "*")) return REFS_OK;
        REFS_TRY(parse_power(p, err));
        REFS_TRY(emit_operator(p, divides ? REFS_OP_FLOOR_DIVIDE : REFS_OP_MULTIPLY, 2, err));
    }
}

static refs_status parse_concatenation(parser *p, refs_error *err) {
    REFS_TRY(parse_product(p, err));
    while (skip_symbol(p, "~")) {
        REFS_TRY(parse_product(p, err));
        REFS_TRY(emit_operator(p, REFS_OP_CONCATENATE, 2, err));
    }
    return REFS_OK;
}

static refs_status parse_sum(parser *p, refs_error *err) {
    REFS_TRY(parse_concatenation(p, err));
    for (bool adds; (adds = skip_symbol(p, "+")) || skip_symbol(p, "-");) {
        REFS_TRY(parse_concatenation(p, err));
        REFS_TRY(emit_operator(p, adds ? REFS_OP_ADD : REFS_OP_SUBTRACT, 2, err));
    }
    return REFS_OK;
}

static refs_status parse_expression(parser *p, refs_error *err) {
    if (++p->nesting > MAX_NESTING)
        return refs_fail(err, REFS_LIMIT, "expected at most %d nested parentheses, found more",
                         MAX_NESTING);
    REFS_TRY(parse_sum(p, err));
    p->nesting--;
    return REFS_OK;
}

/* -- whole templates --------------------------------------------------------------------------- */

/* The position of the next "{{", "{%" or "{#", or the end. */
static size_t find_mark(refs_str text, size_t from) {
    for (size_t i = from; i + 1 < text.size; i++) {
        const char next = text.data[i + 1];
        if (text.data[i] == '{' && (next == '{' || next == '%' || next == '#')) return i;
    }
    return text.size;
}

/* A sign next to the braces trims white space in jinja2. */
static refs_status parse_marked(parser *p, refs_error *err) {
    if (!skip_symbol(p, "{{")) return fail_expected(p, "text or \"{{\"", err);
    if (peek(p) == '-' || peek(p) == '+') return fail_expected(p, "a space before a sign", err);
    REFS_TRY(parse_expression(p, err));
    return skip_symbol(p, "}}") ? REFS_OK
                                : fail_expected(p, "one of + - * // % ** ~ or \"}}\"", err);
}

static refs_status parse(parser *p, refs_error *err) {
    while (p->at < p->source.size) {
        const size_t mark = find_mark(p->source, p->at);
        const refs_str literal = refs_str_part(p->source, p->at, mark);
        if (literal.size > 0) REFS_TRY(emit_text(p, literal, err));
        p->at = mark;
        if (mark < p->source.size) REFS_TRY(parse_marked(p, err));
    }
    p->out->n_pieces = p->stack;
    return REFS_OK;
}

refs_status refs_template_parse(refs_template *template, refs_str text, refs_error *err) {
    *template =
        (refs_template){.text = text, .code = template->code, .capacity = template->capacity};
    parser p = {.out = template, .source = text};
    /* jinja2 removes one newline at the end. */
    if (refs_str_ends(text, "\n")) p.source.size--;
    const refs_status status = parse(&p, err);
    if (status == REFS_OK) return REFS_OK;
    refs_error_prefix(err, "template \"%.*s\"", REFS_STR_ARG(text));
    template->n = template->n_pieces = template->max_stack = 0;
    return status;
}

void refs_template_clear(refs_template *template) {
    refs_free(template->code);
    memset(template, 0, sizeof *template);
}
