/* expression_parse.c -- text -> nodes, see expression.h. Follows the grammar of jinja2's parser. */
#include "expression.h"

#include "refs/json.h"
#include "refs/utf8.h"

/* Deepest nesting of parentheses and signs. */
#define MAX_NESTING 32

typedef struct parser {
    refs_expressions *out;
    refs_str source;
    size_t at;
    size_t nesting;
} parser;

static refs_status parse_expression(parser *p, uint32_t *node, refs_error *err);

/* -- characters ------------------------------------------------------------------------------- */

static char peek(const parser *p) {
    return p->at < p->source.size ? p->source.data[p->at] : '\0';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c) ||
           (unsigned char)c >= 0x80;
}

static void skip_white(parser *p) {
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n' || peek(p) == '\r') p->at++;
}

static refs_str rest_of(const parser *p) {
    return refs_str_part(p->source, p->at, p->source.size);
}

/* Skips white space, and `symbol` where it follows. */
static bool skip_symbol(parser *p, const char *symbol) {
    skip_white(p);
    if (!refs_str_starts(rest_of(p), symbol)) return false;
    p->at += strlen(symbol);
    return true;
}

/* The name at the present place, without moving on; empty where there is none. */
static refs_str peek_name(parser *p) {
    skip_white(p);
    size_t end = p->at;
    if (!is_digit(peek(p)))
        while (end < p->source.size && is_name_char(p->source.data[end])) end++;
    return refs_str_part(p->source, p->at, end);
}

static bool skip_word(parser *p, const char *word) {
    if (!refs_str_is(peek_name(p), word)) return false;
    p->at += strlen(word);
    return true;
}

static refs_status fail_unexpected(const parser *p, refs_error *err) {
    if (p->at >= p->source.size)
        return refs_fail(err, REFS_INVALID, "the expression does not end with \"}}\"");
    return refs_fail(err, REFS_UNSUPPORTED, "\"%.*s\" at character %zu is not understood",
                     REFS_STR_ARG(refs_str_part(p->source, p->at, p->at + 12)), p->at + 1);
}

/* -- nodes ------------------------------------------------------------------------------------ */

static refs_status add_node(parser *p, refs_node node, uint32_t *id, refs_error *err) {
    if (p->out->n == REFS_EXPRESSION_MAX_NODES)
        return refs_fail(err, REFS_LIMIT, "more than %d operations in a template",
                         REFS_EXPRESSION_MAX_NODES);
    if (!refs_grow((void **)&p->out->nodes, &p->out->capacity, p->out->n, sizeof node))
        return refs_fail_nomem(err);
    p->out->nodes[p->out->n] = node;
    *id = (uint32_t)p->out->n++;
    return REFS_OK;
}

static refs_node operation(refs_op op, uint32_t left, uint32_t right) {
    return (refs_node){.op = op, .operand = {left, right, REFS_NODE_NONE}};
}

static refs_status add_literal(parser *p, refs_value value, uint32_t *id, refs_error *err) {
    return add_node(p, (refs_node){.op = REFS_OP_LITERAL, .value = value}, id, err);
}

/* -- literals --------------------------------------------------------------------------------- */

/* The digits that may follow each other, with single underscores between them. */
static void skip_digits(parser *p) {
    while (is_digit(peek(p)) ||
           (peek(p) == '_' && p->at + 1 < p->source.size && is_digit(p->source.data[p->at + 1])))
        p->at++;
}

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* 0x1f, 0o17, 0b101. */
static refs_status parse_based(parser *p, int base, uint32_t *node, refs_error *err) {
    int64_t number = 0;
    size_t n = 0;
    p->at += 2;
    for (;; p->at++, n++) {
        if (peek(p) == '_') p->at++;
        const int digit = digit_value(peek(p));
        if (digit >= base) break;
        if (__builtin_mul_overflow(number, base, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return refs_fail(err, REFS_LIMIT, "an integer needs more than 64 bits");
    }
    if (n == 0 || is_name_char(p->source.data[p->at - 1] == '_' ? '_' : peek(p)))
        return fail_unexpected(p, err);
    return add_literal(p, refs_value_integer(number), node, err);
}

static int base_of(const parser *p) {
    if (peek(p) != '0' || p->at + 1 >= p->source.size) return 10;
    const char c = (char)(p->source.data[p->at + 1] | 0x20);
    return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
}

/* Sets *text to a number without its underscores. */
static refs_status plain_digits(parser *p, size_t begin, refs_str *text, refs_error *err) {
    refs_buf *strings = &p->out->strings;
    const size_t from = strings->size;
    for (size_t i = begin; i < p->at; i++)
        if (p->source.data[i] != '_')
            REFS_TRY(refs_buf_append(strings, &p->source.data[i], 1, err));
    *text = refs_str_view((const char *)strings->data + from, strings->size - from);
    return REFS_OK;
}

static refs_status parse_number(parser *p, uint32_t *node, refs_error *err) {
    size_t begin = p->at;
    bool integer = true;
    if (base_of(p) != 10) return parse_based(p, base_of(p), node, err);
    skip_digits(p);
    if (peek(p) == '.' && p->at + 1 < p->source.size && is_digit(p->source.data[p->at + 1])) {
        integer = false;
        p->at++;
        skip_digits(p);
    }
    if (peek(p) == 'e' || peek(p) == 'E') {
        integer = false;
        p->at++;
        if (peek(p) == '+' || peek(p) == '-') p->at++;
        if (!is_digit(peek(p))) return fail_unexpected(p, err);
        skip_digits(p);
    }
    if (is_name_char(peek(p))) return fail_unexpected(p, err);
    refs_str digits = {NULL, 0};
    REFS_TRY(plain_digits(p, begin, &digits, err));
    refs_value text = refs_value_text(digits), value = text;
    if (!integer)
        return add_literal(p, refs_value_float(refs_json_number_to_double(text.text)), node, err);
    value.kind = REFS_VALUE_INTEGER;
    REFS_TRY(refs_value_to_integer(&text, &value.integer, err));
    return add_literal(p, value, node, err);
}

/* Reads \xHH or \uHHHH, behind the letter. */
static refs_status parse_code_point(parser *p, size_t n_digits, refs_error *err) {
    uint8_t utf8[4];
    uint32_t c = 0;
    for (size_t i = 0; i < n_digits; i++) {
        const int digit = digit_value(peek(p));
        if (digit >= 16) return fail_unexpected(p, err);
        c = c << 4 | (uint32_t)digit;
        p->at++;
    }
    if (c >= 0xd800 && c < 0xe000) return fail_unexpected(p, err);
    return refs_buf_append(&p->out->strings, utf8, refs_utf8_encode(c, utf8), err);
}

/* Reads what follows a backslash. As in Python it stands for itself before most letters. */
static refs_status parse_escape(parser *p, refs_error *err) {
    static const char letters[] = "ntr\\'\"abfv", meanings[] = "\n\t\r\\'\"\a\b\f\v";
    const char c = peek(p);
    const char *letter = c != '\0' ? strchr(letters, c) : NULL;
    if (p->at >= p->source.size || is_digit(c) || c == 'N' || c == 'U' || c == '\n' || c == '\0')
        return fail_unexpected(p, err);
    p->at++;
    if (c == 'x' || c == 'u') return parse_code_point(p, c == 'x' ? 2 : 4, err);
    if (letter != NULL)
        return refs_buf_append(&p->out->strings, &meanings[letter - letters], 1, err);
    return refs_buf_append(&p->out->strings, &p->source.data[p->at - 2], 2, err);
}

static refs_status parse_quoted(parser *p, refs_error *err) {
    const char quote = p->source.data[p->at++];
    while (p->at < p->source.size && peek(p) != quote) {
        const char c = p->source.data[p->at++];
        if (c == '\\')
            REFS_TRY(parse_escape(p, err));
        else
            REFS_TRY(refs_buf_append(&p->out->strings, &c, 1, err));
    }
    if (p->at >= p->source.size) return fail_unexpected(p, err);
    p->at++;
    return REFS_OK;
}

/* Strings that follow each other are one. */
static refs_status parse_text(parser *p, uint32_t *node, refs_error *err) {
    refs_buf *strings = &p->out->strings;
    size_t begin = strings->size;
    do {
        REFS_TRY(parse_quoted(p, err));
        skip_white(p);
    } while (peek(p) == '\'' || peek(p) == '"');
    refs_str text = refs_str_view((const char *)strings->data + begin, strings->size - begin);
    return add_literal(p, refs_value_text(text), node, err);
}

static refs_status parse_name(parser *p, uint32_t *node, refs_error *err) {
    static const char *const reserved[] = {"and", "or", "not", "if", "else", "in", "is"};
    refs_str name = peek_name(p);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (refs_str_is(name, reserved[i])) return fail_unexpected(p, err);
    p->at += name.size;
    if (refs_str_is(name, "true") || refs_str_is(name, "True"))
        return add_literal(p, refs_value_bool(true), node, err);
    if (refs_str_is(name, "false") || refs_str_is(name, "False"))
        return add_literal(p, refs_value_bool(false), node, err);
    if (refs_str_is(name, "none") || refs_str_is(name, "None"))
        return add_literal(p, (refs_value){.kind = REFS_VALUE_NONE}, node, err);
    return add_node(p, (refs_node){.op = REFS_OP_NAME, .name = name}, node, err);
}

/* -- arguments and what has them -------------------------------------------------------------- */

static refs_status parse_argument(parser *p, uint32_t *node, refs_error *err) {
    refs_node argument = {.op = REFS_OP_ARGUMENT,
                          .operand = {REFS_NODE_NONE, REFS_NODE_NONE, REFS_NODE_NONE}};
    size_t begin = p->at;
    refs_str name = peek_name(p);
    p->at += name.size;
    if (name.size > 0 && skip_symbol(p, "=") && peek(p) != '=')
        argument.name = name;
    else
        p->at = begin;
    REFS_TRY(parse_expression(p, &argument.operand[0], err));
    return add_node(p, argument, node, err);
}

/* Parses arguments up to `close`, which it skips. *commas counts what separates and ends them. */
static refs_status parse_until(parser *p, const char *close, uint32_t *first, size_t *commas,
                               refs_error *err) {
    uint32_t last = REFS_NODE_NONE;
    *first = REFS_NODE_NONE;
    *commas = 0;
    while (!skip_symbol(p, close)) {
        uint32_t argument = REFS_NODE_NONE;
        REFS_TRY(parse_argument(p, &argument, err));
        if (last == REFS_NODE_NONE)
            *first = argument;
        else
            p->out->nodes[last].operand[1] = argument;
        last = argument;
        if (skip_symbol(p, ",")) {
            ++*commas;
        } else {
            skip_white(p);
            if (peek(p) != *close) return fail_unexpected(p, err);
        }
    }
    return REFS_OK;
}

static refs_status parse_arguments(parser *p, uint32_t *first, size_t *commas, refs_error *err) {
    return parse_until(p, ")", first, commas, err);
}

/* Parses "[a, b]" behind its bracket. */
static refs_status parse_list(parser *p, uint32_t *node, refs_error *err) {
    uint32_t first;
    size_t commas;
    REFS_TRY(parse_until(p, "]", &first, &commas, err));
    for (uint32_t i = first; i != REFS_NODE_NONE; i = p->out->nodes[i].operand[1])
        if (p->out->nodes[i].name.size > 0) return fail_unexpected(p, err);
    return add_node(p, operation(REFS_OP_LIST, first, REFS_NODE_NONE), node, err);
}

/* Adds an argument behind *last, which may be none, and makes it the last. */
static refs_status add_argument(parser *p, uint32_t value, uint32_t *last, refs_error *err) {
    const uint32_t before = *last;
    REFS_TRY(add_node(p, operation(REFS_OP_ARGUMENT, value, REFS_NODE_NONE), last, err));
    if (before != REFS_NODE_NONE) p->out->nodes[before].operand[1] = *last;
    return REFS_OK;
}

/* Parses "{a: b}" behind its brace. */
static refs_status parse_dictionary(parser *p, uint32_t *node, refs_error *err) {
    uint32_t first = REFS_NODE_NONE, last = REFS_NODE_NONE, value;
    while (!skip_symbol(p, "}")) {
        REFS_TRY(parse_expression(p, &value, err));
        REFS_TRY(add_argument(p, value, &last, err));
        if (first == REFS_NODE_NONE) first = last;
        if (!skip_symbol(p, ":")) return fail_unexpected(p, err);
        REFS_TRY(parse_expression(p, &value, err));
        REFS_TRY(add_argument(p, value, &last, err));
        skip_white(p);
        if (!skip_symbol(p, ",") && peek(p) != '}') return fail_unexpected(p, err);
    }
    return add_node(p, operation(REFS_OP_DICTIONARY, first, REFS_NODE_NONE), node, err);
}

/* Parses "[a]" or "[a:b:c]" of *node behind its bracket. */
static refs_status parse_subscript(parser *p, uint32_t *node, refs_error *err) {
    uint32_t bounds[3] = {REFS_NODE_NONE, REFS_NODE_NONE, REFS_NODE_NONE};
    uint32_t first = REFS_NODE_NONE, last = REFS_NODE_NONE;
    size_t n = 0;
    skip_white(p);
    if (peek(p) != ':') REFS_TRY(parse_expression(p, &bounds[0], err));
    while (n < 2 && skip_symbol(p, ":")) {
        n++;
        skip_white(p);
        if (peek(p) != ':' && peek(p) != ']') REFS_TRY(parse_expression(p, &bounds[n], err));
    }
    if (!skip_symbol(p, "]")) return fail_unexpected(p, err);
    if (n == 0) return add_node(p, operation(REFS_OP_ITEM, *node, bounds[0]), node, err);
    for (size_t i = 0; i < 3; i++) {
        REFS_TRY(add_argument(p, bounds[i], &last, err));
        if (i == 0) first = last;
    }
    return add_node(p, operation(REFS_OP_SLICE, *node, first), node, err);
}

/* Parses "(a)" as a, "()", "(a,)" and "(a, b)" as tuples. */
static refs_status parse_parenthesis(parser *p, uint32_t *node, refs_error *err) {
    uint32_t first;
    size_t commas;
    p->at++;
    REFS_TRY(parse_arguments(p, &first, &commas, err));
    for (uint32_t i = first; i != REFS_NODE_NONE; i = p->out->nodes[i].operand[1])
        if (p->out->nodes[i].name.size > 0) return fail_unexpected(p, err);
    if (first == REFS_NODE_NONE || commas > 0)
        return add_node(p, operation(REFS_OP_TUPLE, first, REFS_NODE_NONE), node, err);
    *node = p->out->nodes[first].operand[0];
    return REFS_OK;
}

static refs_status parse_primary(parser *p, uint32_t *node, refs_error *err) {
    skip_white(p);
    char c = peek(p);
    if (is_digit(c)) return parse_number(p, node, err);
    if (c == '\'' || c == '"') return parse_text(p, node, err);
    if (c == '(') return parse_parenthesis(p, node, err);
    if (skip_symbol(p, "[")) return parse_list(p, node, err);
    if (skip_symbol(p, "{")) return parse_dictionary(p, node, err);
    if (is_name_char(c)) return parse_name(p, node, err);
    return fail_unexpected(p, err);
}

/* Parses calls, methods and items behind a value. */
static refs_status parse_postfix(parser *p, uint32_t *node, refs_error *err) {
    for (;;) {
        size_t commas;
        if (skip_symbol(p, "[")) {
            REFS_TRY(parse_subscript(p, node, err));
            continue;
        }
        refs_node made = {.operand = {*node, REFS_NODE_NONE, REFS_NODE_NONE}};
        if (skip_symbol(p, "(")) {
            if (p->out->nodes[*node].op != REFS_OP_NAME) return fail_unexpected(p, err);
            made.op = REFS_OP_CALL;
            made.name = p->out->nodes[*node].name;
            REFS_TRY(parse_arguments(p, &made.operand[0], &commas, err));
        } else if (skip_symbol(p, ".")) {
            made.op = REFS_OP_METHOD;
            made.name = peek_name(p);
            p->at += made.name.size;
            if (made.name.size == 0 || !skip_symbol(p, "(")) return fail_unexpected(p, err);
            REFS_TRY(parse_arguments(p, &made.operand[1], &commas, err));
        } else {
            return REFS_OK;
        }
        REFS_TRY(add_node(p, made, node, err));
    }
}

static refs_status parse_filter(parser *p, uint32_t *node, refs_error *err) {
    size_t commas;
    refs_node made = {.op = REFS_OP_FILTER,
                      .name = peek_name(p),
                      .operand = {*node, REFS_NODE_NONE, REFS_NODE_NONE}};
    p->at += made.name.size;
    if (made.name.size == 0) return fail_unexpected(p, err);
    if (skip_symbol(p, "(")) REFS_TRY(parse_arguments(p, &made.operand[1], &commas, err));
    return add_node(p, made, node, err);
}

/* Whether a value begins here that is the one argument of a test, as in "a is divisibleby 3". */
static bool at_argument(parser *p) {
    static const char *const ends[] = {"else", "or", "and", "is", "if", "in", "not"};
    refs_str name = peek_name(p);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (refs_str_is(name, ends[i])) return false;
    return name.size > 0 || is_digit(peek(p)) || peek(p) == '\'' || peek(p) == '"' ||
           peek(p) == '[';
}

static refs_status parse_test(parser *p, uint32_t *node, refs_error *err) {
    size_t commas;
    const bool negated = skip_word(p, "not");
    refs_node made = {.op = REFS_OP_TEST,
                      .name = peek_name(p),
                      .operand = {*node, REFS_NODE_NONE, REFS_NODE_NONE}};
    p->at += made.name.size;
    if (made.name.size == 0) return fail_unexpected(p, err);
    if (skip_symbol(p, "(")) {
        REFS_TRY(parse_arguments(p, &made.operand[1], &commas, err));
    } else if (at_argument(p)) {
        uint32_t value;
        REFS_TRY(parse_primary(p, &value, err));
        REFS_TRY(parse_postfix(p, &value, err));
        REFS_TRY(add_argument(p, value, &made.operand[1], err));
    }
    REFS_TRY(add_node(p, made, node, err));
    return negated ? add_node(p, operation(REFS_OP_NOT, *node, REFS_NODE_NONE), node, err)
                   : REFS_OK;
}

static refs_status parse_filters(parser *p, uint32_t *node, refs_error *err) {
    for (;;) {
        if (skip_symbol(p, "|"))
            REFS_TRY(parse_filter(p, node, err));
        else if (skip_word(p, "is"))
            REFS_TRY(parse_test(p, node, err));
        else
            return REFS_OK;
    }
}

/* -- operators -------------------------------------------------------------------------------- */

/* The end of the expression may look like a sign: "{{ x -}}". */
static bool at_end(parser *p) {
    skip_white(p);
    return refs_str_starts(rest_of(p), "-}}") || refs_str_starts(rest_of(p), "}}");
}

/* A sign binds tighter than calls of filters and powers: -1|abs is 1, -2**2 is 4. */
static refs_status parse_signed(parser *p, uint32_t *node, refs_error *err) {
    refs_op op = skip_symbol(p, "-")   ? REFS_OP_NEGATE
                 : skip_symbol(p, "+") ? REFS_OP_PLUS
                                       : REFS_OP_LITERAL;
    if (op == REFS_OP_LITERAL) {
        REFS_TRY(parse_primary(p, node, err));
    } else {
        uint32_t operand;
        if (p->nesting == MAX_NESTING) return refs_fail(err, REFS_LIMIT, "too many signs");
        p->nesting++;
        REFS_TRY(parse_signed(p, &operand, err));
        p->nesting--;
        REFS_TRY(add_node(p, operation(op, operand, REFS_NODE_NONE), node, err));
    }
    return parse_postfix(p, node, err);
}

static refs_status parse_unary(parser *p, uint32_t *node, refs_error *err) {
    REFS_TRY(parse_signed(p, node, err));
    return parse_filters(p, node, err);
}

typedef enum level {
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_COMPARE,
    LEVEL_SUM,
    LEVEL_CONCATENATE,
    LEVEL_PRODUCT,
    LEVEL_POWER,
    LEVEL_UNARY
} level;

/* Longer symbols before those that they begin with. */
static const struct {
    const char *symbol;
    refs_op op;
    level level;
} operators[] = {{"or", REFS_OP_OR, LEVEL_OR},
                 {"and", REFS_OP_AND, LEVEL_AND},
                 {"==", REFS_OP_EQUAL, LEVEL_COMPARE},
                 {"!=", REFS_OP_UNEQUAL, LEVEL_COMPARE},
                 {"<=", REFS_OP_LESS_EQUAL, LEVEL_COMPARE},
                 {">=", REFS_OP_GREATER_EQUAL, LEVEL_COMPARE},
                 {"<", REFS_OP_LESS, LEVEL_COMPARE},
                 {">", REFS_OP_GREATER, LEVEL_COMPARE},
                 {"in", REFS_OP_IN, LEVEL_COMPARE},
                 {"not", REFS_OP_NOT_IN, LEVEL_COMPARE},
                 {"+", REFS_OP_ADD, LEVEL_SUM},
                 {"-", REFS_OP_SUBTRACT, LEVEL_SUM},
                 {"~", REFS_OP_CONCATENATE, LEVEL_CONCATENATE},
                 {"**", REFS_OP_POWER, LEVEL_POWER},
                 {"*", REFS_OP_MULTIPLY, LEVEL_PRODUCT},
                 {"//", REFS_OP_FLOOR_DIVIDE, LEVEL_PRODUCT},
                 {"/", REFS_OP_DIVIDE, LEVEL_PRODUCT},
                 {"%", REFS_OP_MODULO, LEVEL_PRODUCT}};

/* Skips an operator of level `wanted`. */
static bool skip_operator(parser *p, level wanted, refs_op *op) {
    if (at_end(p)) return false;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        bool word = is_name_char(operators[i].symbol[0]);
        size_t before = p->at;
        if (!(word ? skip_word : skip_symbol)(p, operators[i].symbol)) continue;
        if (operators[i].op == REFS_OP_NOT_IN && !skip_word(p, "in")) {
            p->at = before;
            return false;
        }
        *op = operators[i].op;
        if (operators[i].level == wanted) return true;
        p->at = before;
        return false;
    }
    return false;
}

static refs_status parse_level(parser *p, level at_level, uint32_t *node, refs_error *err);

/* "a < b < c" is "a < b and b < c". */
static refs_status parse_comparison(parser *p, uint32_t *node, refs_error *err) {
    if (skip_word(p, "not")) {
        uint32_t operand;
        if (p->nesting == MAX_NESTING) return refs_fail(err, REFS_LIMIT, "too many \"not\"");
        p->nesting++;
        REFS_TRY(parse_comparison(p, &operand, err));
        p->nesting--;
        return add_node(p, operation(REFS_OP_NOT, operand, REFS_NODE_NONE), node, err);
    }
    uint32_t left, right, compared = REFS_NODE_NONE, all = REFS_NODE_NONE;
    refs_op op;
    REFS_TRY(parse_level(p, LEVEL_SUM, &left, err));
    while (skip_operator(p, LEVEL_COMPARE, &op)) {
        REFS_TRY(parse_level(p, LEVEL_SUM, &right, err));
        REFS_TRY(add_node(p, operation(op, left, right), &compared, err));
        if (all == REFS_NODE_NONE)
            all = compared;
        else
            REFS_TRY(add_node(p, operation(REFS_OP_AND, all, compared), &all, err));
        left = right;
    }
    *node = all != REFS_NODE_NONE ? all : left;
    return REFS_OK;
}

/* All operators but the comparisons take what is left of them first, ** too. */
static refs_status parse_level(parser *p, level at_level, uint32_t *node, refs_error *err) {
    if (at_level == LEVEL_UNARY) return parse_unary(p, node, err);
    if (at_level == LEVEL_COMPARE) return parse_comparison(p, node, err);
    REFS_TRY(parse_level(p, at_level + 1, node, err));
    for (refs_op op; skip_operator(p, at_level, &op);) {
        uint32_t right;
        REFS_TRY(parse_level(p, at_level + 1, &right, err));
        REFS_TRY(add_node(p, operation(op, *node, right), node, err));
    }
    return REFS_OK;
}

static refs_status parse_expression(parser *p, uint32_t *node, refs_error *err) {
    if (p->nesting == MAX_NESTING)
        return refs_fail(err, REFS_LIMIT, "expressions are nested too deeply");
    p->nesting++;
    REFS_TRY(parse_level(p, LEVEL_OR, node, err));
    while (skip_word(p, "if")) {
        refs_node made = {.op = REFS_OP_IF, .operand = {*node, REFS_NODE_NONE, REFS_NODE_NONE}};
        REFS_TRY(parse_level(p, LEVEL_OR, &made.operand[1], err));
        if (skip_word(p, "else")) REFS_TRY(parse_expression(p, &made.operand[2], err));
        REFS_TRY(add_node(p, made, node, err));
    }
    p->nesting--;
    return REFS_OK;
}

refs_status refs_template__expression_parse(refs_expressions *expressions, refs_str source,
                                            size_t *position, uint32_t *root, refs_error *err) {
    parser p = {.out = expressions, .source = source, .at = *position};
    REFS_TRY(parse_expression(&p, root, err));
    if (!skip_symbol(&p, "-}}") && !skip_symbol(&p, "}}")) return fail_unexpected(&p, err);
    *position = p.at;
    return REFS_OK;
}
