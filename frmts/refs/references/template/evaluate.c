/* evaluate.c -- runs instructions to render a text, see template.h. */
#include "template/code.h"

#define ALIGNMENT 16

/* Characters of the longest integer. */
#define INTEGER_SIZE 20

typedef struct evaluation {
    const refs_scope *scope;
    refs_template_scratch *scratch;
    size_t depth; /* nesting of templates that call templates */
} evaluation;

static refs_status render(const refs_template *template, const evaluation *e, refs_str *text,
                          refs_error *err);

/* -- the scratch ------------------------------------------------------------------------------- */

static refs_status fail_full(const refs_template_scratch *scratch, refs_error *err) {
    return refs_fail(err, REFS_LIMIT,
                     "expected an expression that needs at most %zu bytes, found "
                     "one that needs more",
                     scratch->capacity);
}

refs_status refs_template__put(refs_template_scratch *scratch, refs_str text, refs_error *err) {
    if (text.size > scratch->capacity - scratch->used) return fail_full(scratch, err);
    if (text.size > 0) memcpy(scratch->memory + scratch->used, text.data, text.size);
    scratch->used += text.size;
    return REFS_OK;
}

static refs_status put_integer(refs_template_scratch *scratch, int64_t integer, refs_error *err) {
    char text[INTEGER_SIZE], *begin = text + INTEGER_SIZE;
    uint64_t left = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    do *--begin = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (integer < 0) *--begin = '-';
    return refs_template__put(scratch, refs_str_view(begin, (size_t)(text + INTEGER_SIZE - begin)),
                              err);
}

/* Appends a value as text. */
static refs_status put_value(refs_template_scratch *scratch, const refs_template_value *value,
                             refs_error *err) {
    if (value->kind == REFS_TEMPLATE_TEXT) return refs_template__put(scratch, value->text, err);
    if (value->kind == REFS_TEMPLATE_INTEGER) return put_integer(scratch, value->integer, err);
    return refs_fail(err, REFS_INVALID, "expected a string or an integer, found %s",
                     refs_template__kind_text(value));
}

/* Sets *text to the text of `n` values, one after the other. */
static refs_status concatenate(const refs_binding *values, size_t n, refs_template_scratch *scratch,
                               refs_str *text, refs_error *err) {
    const size_t begin = scratch->used;
    if (n == 1 && values[0].value.kind == REFS_TEMPLATE_TEXT) {
        *text = values[0].value.text;
        return REFS_OK;
    }
    for (size_t i = 0; i < n; i++) REFS_TRY(put_value(scratch, &values[i].value, err));
    *text = refs_template__text_since(scratch, begin);
    return REFS_OK;
}

static refs_status take_stack(refs_template_scratch *scratch, size_t n, refs_binding **stack,
                              refs_error *err) {
    const size_t begin = (scratch->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t size;
    if (!refs_mul_size(n, sizeof **stack, &size) || begin > scratch->capacity ||
        size > scratch->capacity - begin)
        return fail_full(scratch, err);
    *stack = (refs_binding *)(void *)(scratch->memory + begin);
    scratch->used = begin + size;
    return REFS_OK;
}

/* -- names and calls --------------------------------------------------------------------------- */

const char *refs_template__kind_text(const refs_template_value *value) {
    static const char *const strings[] = {"a string", "an integer", "a template with arguments"};
    return strings[value->kind];
}

static bool find_name(const refs_scope *scope, refs_str name, refs_template_value *value) {
    for (size_t i = 0; i < scope->n; i++)
        if (refs_str_equal(scope->bindings[i].name, name)) {
            *value = scope->bindings[i].value;
            return true;
        }
    return scope->find != NULL && scope->find(scope->user, name, value);
}

static refs_status get_name(const evaluation *e, refs_str name, refs_template_value *value,
                            refs_error *err) {
    if (find_name(e->scope, name, value)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "\"%.*s\" is not defined", REFS_STR_ARG(name));
}

/* The only names in a called template are its arguments. */
static refs_status call(const evaluation *e, const refs_instruction *code,
                        const refs_binding *values, refs_str *text, refs_error *err) {
    const refs_str name = code->operand.name;
    const refs_scope arguments = {values, code->n, NULL, NULL};
    const evaluation inner = {&arguments, e->scratch, e->depth + 1};
    refs_template_value callee;
    REFS_TRY(get_name(e, name, &callee, err));
    if (callee.kind != REFS_TEMPLATE_TEMPLATE)
        return refs_fail(err, REFS_INVALID, "expected \"%.*s\" without arguments, found a call",
                         REFS_STR_ARG(name));
    for (size_t i = 0; i < code->n; i++)
        if (values[i].name.size == 0)
            return refs_fail(err, REFS_INVALID,
                             "expected arguments of \"%.*s\" with names, found one without",
                             REFS_STR_ARG(name));
    return render(callee.callee, &inner, text, err);
}

/* -- integers ---------------------------------------------------------------------------------- */

static refs_status fail_overflow(refs_error *err) {
    return refs_fail(err, REFS_LIMIT, "expected an integer of 64 bits, found more");
}

/* Python's division rounds down, and the remainder has the sign of the divisor. */
static refs_status divide(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder,
                          refs_error *err) {
    if (b == 0) return refs_fail(err, REFS_INVALID, "division by zero");
    if (b == -1 && a == INT64_MIN) return fail_overflow(err);
    *quotient = a / b;
    *remainder = a % b;
    if (*remainder != 0 && (*remainder < 0) != (b < 0)) {
        *quotient -= 1;
        *remainder += b;
    }
    return REFS_OK;
}

static refs_status power_of(int64_t base, int64_t exponent, int64_t *result, refs_error *err) {
    *result = 1;
    if (exponent < 0)
        return refs_fail(err, REFS_INVALID, "expected an exponent of at least 0, found %lld",
                         (long long)exponent);
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(*result, base, result))
            return fail_overflow(err);
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return fail_overflow(err);
    }
    return REFS_OK;
}

static refs_status compute(refs_op op, int64_t a, int64_t b, int64_t *result, refs_error *err) {
    int64_t other;
    switch (op) {
    case REFS_OP_FLOOR_DIVIDE:
        return divide(a, b, result, &other, err);
    case REFS_OP_MODULO:
        return divide(a, b, &other, result, err);
    case REFS_OP_POWER:
        return power_of(a, b, result, err);
    case REFS_OP_PLUS:
    case REFS_OP_ADD:
        return __builtin_add_overflow(a, b, result) ? fail_overflow(err) : REFS_OK;
    case REFS_OP_MULTIPLY:
        return __builtin_mul_overflow(a, b, result) ? fail_overflow(err) : REFS_OK;
    default:
        return __builtin_sub_overflow(a, b, result) ? fail_overflow(err) : REFS_OK;
    }
}

/* -- instructions ------------------------------------------------------------------------------ */

/* Unary signs have one value. Operators of Python on strings, such as "a" * 3, are not supported.
 */
static refs_status apply(const refs_instruction *code, const refs_binding *values, int64_t *result,
                         refs_error *err) {
    static const char *const signs[] = {
        [REFS_OP_NEGATE] = "-",   [REFS_OP_PLUS] = "+",     [REFS_OP_ADD] = "+",
        [REFS_OP_SUBTRACT] = "-", [REFS_OP_MULTIPLY] = "*", [REFS_OP_FLOOR_DIVIDE] = "//",
        [REFS_OP_MODULO] = "%",   [REFS_OP_POWER] = "**"};
    const refs_template_value *a = &values[0].value, *b = &values[code->n - 1].value;
    if (a->kind != REFS_TEMPLATE_INTEGER || b->kind != REFS_TEMPLATE_INTEGER)
        return refs_fail(err, REFS_INVALID, "\"%s\": expected integers, found %s", signs[code->op],
                         refs_template__kind_text(a->kind != REFS_TEMPLATE_INTEGER ? a : b));
    return compute(code->op, code->n == 1 ? 0 : a->integer, b->integer, result, err);
}

/* Renders an instruction as text. */
static refs_status make_text(const evaluation *e, const refs_instruction *code,
                             const refs_binding *values, refs_str *text, refs_error *err) {
    if (code->op == REFS_OP_CALL) return call(e, code, values, text, err);
    if (code->op == REFS_OP_FORMAT_BRACES)
        return refs_template__format_braces(values, code->n, e->scratch, text, err);
    if (code->op == REFS_OP_FORMAT_PERCENT || code->op == REFS_OP_MODULO)
        return refs_template__format_percent(values, code->n, e->scratch, text, err);
    return concatenate(values, code->n, e->scratch, text, err);
}

static bool is_text(const refs_binding *binding) {
    return binding->value.kind == REFS_TEMPLATE_TEXT;
}

static bool makes_text(const refs_instruction *code, const refs_binding *values) {
    if (code->op == REFS_OP_MODULO) return is_text(&values[0]);
    if (code->op == REFS_OP_ADD) return is_text(&values[0]) && is_text(&values[1]);
    return code->op == REFS_OP_CALL || code->op >= REFS_OP_CONCATENATE;
}

/* Runs one instruction; its result replaces its operands. */
static refs_status step(const evaluation *e, const refs_instruction *code, refs_binding *values,
                        refs_error *err) {
    refs_template_value *result = &values[0].value;
    refs_str text = {NULL, 0};
    int64_t integer = 0;
    if (code->op == REFS_OP_VALUE) {
        *result = code->operand.value;
    } else if (code->op == REFS_OP_NAME) {
        REFS_TRY(get_name(e, code->operand.name, result, err));
    } else if (code->op == REFS_OP_ARGUMENT) {
        values[0].name = code->operand.name;
        return REFS_OK;
    } else if (makes_text(code, values)) {
        REFS_TRY(make_text(e, code, values, &text, err));
        *result = (refs_template_value){.kind = REFS_TEMPLATE_TEXT, .text = text};
    } else {
        REFS_TRY(apply(code, values, &integer, err));
        *result = (refs_template_value){.kind = REFS_TEMPLATE_INTEGER, .integer = integer};
    }
    values[0].name = (refs_str){NULL, 0};
    return REFS_OK;
}

/* Runs all instructions; *stack then has the value of each piece. */
static refs_status run(const refs_template *template, const evaluation *e, refs_binding **stack,
                       refs_error *err) {
    if (e->depth > e->scratch->max_depth)
        return refs_fail(err, REFS_LIMIT, "templates call each other more than %zu deep",
                         e->scratch->max_depth);
    REFS_TRY(take_stack(e->scratch, template->max_stack, stack, err));
    refs_binding *end = *stack;
    for (size_t i = 0; i < template->n; i++) {
        const refs_instruction *code = &template->code[i];
        end -= code->n;
        REFS_TRY(step(e, code, end, err));
        end++;
    }
    return REFS_OK;
}

/* -- rendering --------------------------------------------------------------------------------- */

static refs_status join_pieces(const refs_template *template, const refs_binding *stack,
                               const evaluation *e, refs_str *text, refs_error *err) {
    REFS_TRY(concatenate(stack, template->n_pieces, e->scratch, text, err));
    if (text->size <= e->scratch->max_text) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "it renders to more than %zu bytes", e->scratch->max_text);
}

static refs_status quote(const refs_template *template, refs_status status, refs_error *err) {
    if (status != REFS_OK)
        refs_error_prefix(err, "template \"%.*s\"", REFS_STR_ARG(template->text));
    return status;
}

static refs_status render(const refs_template *template, const evaluation *e, refs_str *text,
                          refs_error *err) {
    refs_binding *stack = NULL;
    refs_status status = run(template, e, &stack, err);
    if (status == REFS_OK) status = join_pieces(template, stack, e, text, err);
    return quote(template, status, err);
}

refs_status refs_template_render(const refs_template *template, const refs_scope *scope,
                                 refs_template_scratch *scratch, refs_str *text, refs_error *err) {
    const evaluation e = {scope, scratch, 0};
    return render(template, &e, text, err);
}

/* Python's int() of a text allows a sign, and zeros before the digits. */
static bool read_integer(refs_str text, int64_t *integer) {
    text = refs_str_trim(text, " \t\n\r\f\v");
    const bool negative = refs_str_starts(text, "-");
    if (negative || refs_str_starts(text, "+")) text = refs_str_part(text, 1, text.size);
    int64_t value = 0;
    for (size_t i = 0; i < text.size; i++) {
        const int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    /* Digits were subtracted, since INT64_MIN has no positive counterpart. */
    if (text.size == 0 || (!negative && value == INT64_MIN)) return false;
    *integer = negative ? value : -value;
    return true;
}

refs_status refs_template_render_integer(const refs_template *template, const refs_scope *scope,
                                         refs_template_scratch *scratch, int64_t *integer,
                                         refs_error *err) {
    const evaluation e = {scope, scratch, 0};
    refs_binding *stack = NULL;
    refs_str text = {NULL, 0};
    refs_status status = run(template, &e, &stack, err);
    if (status == REFS_OK && template->n_pieces == 1 &&
        stack[0].value.kind == REFS_TEMPLATE_INTEGER) {
        *integer = stack[0].value.integer;
        return REFS_OK;
    }
    if (status == REFS_OK) status = join_pieces(template, stack, &e, &text, err);
    if (status == REFS_OK && !read_integer(text, integer))
        status = refs_fail(err, REFS_INVALID, "expected an integer of 64 bits, found \"%.*s\"",
                           REFS_STR_ARG(text));
    return quote(template, status, err);
}
