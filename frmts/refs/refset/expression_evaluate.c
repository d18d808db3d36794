/* expression_evaluate.c -- nodes -> values, see expression.h. */
#include "expression.h"

#include "template.h"

#include <math.h>

typedef refs_status (*arithmetic)(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                                  refs_value *result, refs_error *err);

/* -- numbers ---------------------------------------------------------------------------------- */

static refs_status fail_overflow(refs_error *err) {
    return refs_fail(err, REFS_LIMIT, "an integer needs more than 64 bits");
}

static refs_status fail_zero(refs_error *err) {
    return refs_fail(err, REFS_INVALID, "division by zero");
}

static refs_status fail_kinds(const char *operator, const refs_value * a, const refs_value *b,
                              refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s is not defined for %s and %s", operator,
                     refs_refset__kind_text(a->kind), refs_refset__kind_text(b->kind));
}

static bool are_integers(const refs_value *a, const refs_value *b) {
    return refs_refset__is_integer(a) && refs_refset__is_integer(b);
}

static bool are_numbers(const refs_value *a, const refs_value *b) {
    return refs_refset__is_number(a) && refs_refset__is_number(b);
}

static bool are_texts(const refs_value *a, const refs_value *b) {
    return a->kind == REFS_VALUE_TEXT && b->kind == REFS_VALUE_TEXT;
}

/* Python's division rounds down, and the remainder has the sign of the divisor. */
static refs_status divide_integers(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder,
                                   refs_error *err) {
    if (b == 0) return fail_zero(err);
    if (a == INT64_MIN && b == -1) return fail_overflow(err);
    *quotient = a / b;
    *remainder = a % b;
    if (*remainder != 0 && (*remainder < 0) != (b < 0)) {
        *quotient -= 1;
        *remainder += b;
    }
    return REFS_OK;
}

static refs_status divide_floats(double a, double b, double *quotient, double *remainder,
                                 refs_error *err) {
    if (b == 0) return fail_zero(err);
    *remainder = fmod(a, b);
    *quotient = (a - *remainder) / b;
    if (*remainder != 0 && (*remainder < 0) != (b < 0)) {
        *quotient -= 1;
        *remainder += b;
    }
    double rounded = floor(*quotient);
    *quotient = *quotient - rounded > 0.5 ? rounded + 1 : rounded;
    return REFS_OK;
}

/* -- texts ------------------------------------------------------------------------------------ */

static refs_status join(refs_str a, refs_str b, refs_scratch *scratch, refs_value *result,
                        refs_error *err) {
    size_t size;
    void *memory;
    if (!refs_add_size(a.size, b.size, &size)) return fail_overflow(err);
    REFS_TRY(refs_refset__scratch_take(scratch, size, &memory, err));
    if (a.size > 0) memcpy(memory, a.data, a.size);
    if (b.size > 0) memcpy((char *)memory + a.size, b.data, b.size);
    *result = refs_refset__text(refs_str_view(memory, size));
    return REFS_OK;
}

static refs_status repeat(refs_str text, int64_t times, refs_scratch *scratch, refs_value *result,
                          refs_error *err) {
    size_t size;
    void *memory;
    if (times < 0) times = 0;
    if (!refs_mul_size(text.size, (size_t)times, &size)) return fail_overflow(err);
    REFS_TRY(refs_refset__scratch_take(scratch, size, &memory, err));
    for (size_t at = 0; at < size; at += text.size)
        memcpy((char *)memory + at, text.data, text.size);
    *result = refs_refset__text(refs_str_view(memory, size));
    return REFS_OK;
}

/* -- operators -------------------------------------------------------------------------------- */

static refs_status add(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                       refs_value *result, refs_error *err) {
    int64_t sum;
    if (are_texts(a, b)) return join(a->text, b->text, scratch, result, err);
    if (!are_numbers(a, b)) return fail_kinds("+", a, b, err);
    *result = refs_refset__float(refs_refset__as_float(a) + refs_refset__as_float(b));
    if (!are_integers(a, b)) return REFS_OK;
    if (__builtin_add_overflow(a->integer, b->integer, &sum)) return fail_overflow(err);
    *result = refs_refset__integer(sum);
    return REFS_OK;
}

static refs_status subtract(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                            refs_value *result, refs_error *err) {
    (void)scratch;
    int64_t difference;
    if (!are_numbers(a, b)) return fail_kinds("-", a, b, err);
    *result = refs_refset__float(refs_refset__as_float(a) - refs_refset__as_float(b));
    if (!are_integers(a, b)) return REFS_OK;
    if (__builtin_sub_overflow(a->integer, b->integer, &difference)) return fail_overflow(err);
    *result = refs_refset__integer(difference);
    return REFS_OK;
}

static refs_status multiply(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                            refs_value *result, refs_error *err) {
    int64_t product;
    if (a->kind == REFS_VALUE_TEXT && refs_refset__is_integer(b))
        return repeat(a->text, b->integer, scratch, result, err);
    if (b->kind == REFS_VALUE_TEXT && refs_refset__is_integer(a))
        return repeat(b->text, a->integer, scratch, result, err);
    if (!are_numbers(a, b)) return fail_kinds("*", a, b, err);
    *result = refs_refset__float(refs_refset__as_float(a) * refs_refset__as_float(b));
    if (!are_integers(a, b)) return REFS_OK;
    if (__builtin_mul_overflow(a->integer, b->integer, &product)) return fail_overflow(err);
    *result = refs_refset__integer(product);
    return REFS_OK;
}

static refs_status divide(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                          refs_value *result, refs_error *err) {
    (void)scratch;
    if (!are_numbers(a, b)) return fail_kinds("/", a, b, err);
    if (refs_refset__as_float(b) == 0) return fail_zero(err);
    *result = refs_refset__float(refs_refset__as_float(a) / refs_refset__as_float(b));
    return REFS_OK;
}

static refs_status floor_divide(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                                refs_value *result, refs_error *err) {
    (void)scratch;
    if (!are_numbers(a, b)) return fail_kinds("//", a, b, err);
    if (are_integers(a, b)) {
        int64_t quotient, remainder;
        REFS_TRY(divide_integers(a->integer, b->integer, &quotient, &remainder, err));
        *result = refs_refset__integer(quotient);
        return REFS_OK;
    }
    double quotient, remainder;
    REFS_TRY(divide_floats(refs_refset__as_float(a), refs_refset__as_float(b), &quotient,
                           &remainder, err));
    *result = refs_refset__float(quotient);
    return REFS_OK;
}

/* "%" formats where its left side is a text: by the items of a tuple, or by any other value. */
static refs_status format(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                          refs_value *result, refs_error *err) {
    size_t n = b->kind == REFS_VALUE_TUPLE ? b->tuple.n : 1;
    refs_binding *args;
    void *memory;
    REFS_TRY(refs_refset__scratch_take(scratch, (n + 1) * sizeof *args, &memory, err));
    args = memory;
    args[0] = (refs_binding){.value = *a};
    for (size_t i = 0; i < n; i++)
        args[i + 1] = (refs_binding){.value = b->kind == REFS_VALUE_TUPLE ? b->tuple.items[i] : *b};
    return refs_refset__format_percent(args, n + 1, scratch, result, err);
}

static refs_status modulo(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                          refs_value *result, refs_error *err) {
    if (a->kind == REFS_VALUE_TEXT) return format(a, b, scratch, result, err);
    if (!are_numbers(a, b)) return fail_kinds("%", a, b, err);
    if (are_integers(a, b)) {
        int64_t quotient, remainder;
        REFS_TRY(divide_integers(a->integer, b->integer, &quotient, &remainder, err));
        *result = refs_refset__integer(remainder);
        return REFS_OK;
    }
    double quotient, remainder;
    REFS_TRY(divide_floats(refs_refset__as_float(a), refs_refset__as_float(b), &quotient,
                           &remainder, err));
    *result = refs_refset__float(remainder);
    return REFS_OK;
}

static refs_status power_of_integers(int64_t base, int64_t exponent, refs_value *result,
                                     refs_error *err) {
    int64_t product = 1;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(product, base, &product))
            return fail_overflow(err);
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return fail_overflow(err);
    }
    *result = refs_refset__integer(product);
    return REFS_OK;
}

static refs_status power(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                         refs_value *result, refs_error *err) {
    (void)scratch;
    if (!are_numbers(a, b)) return fail_kinds("**", a, b, err);
    if (are_integers(a, b) && b->integer >= 0)
        return power_of_integers(a->integer, b->integer, result, err);
    double base = refs_refset__as_float(a), exponent = refs_refset__as_float(b);
    if (base == 0 && exponent < 0) return fail_zero(err);
    *result = refs_refset__float(pow(base, exponent));
    if (isnan(result->number) && !isnan(base) && !isnan(exponent))
        return refs_fail(err, REFS_UNSUPPORTED, "a root of a negative number");
    return REFS_OK;
}

static refs_status concatenate(const refs_value *a, const refs_value *b, refs_scratch *scratch,
                               refs_value *result, refs_error *err) {
    refs_str left, right;
    REFS_TRY(refs_refset__to_text(a, scratch, &left, err));
    REFS_TRY(refs_refset__to_text(b, scratch, &right, err));
    return join(left, right, scratch, result, err);
}

/* -- comparisons ------------------------------------------------------------------------------ */

static bool equals(const refs_value *a, const refs_value *b) {
    if (are_integers(a, b)) return a->integer == b->integer;
    if (are_numbers(a, b)) return refs_refset__as_float(a) == refs_refset__as_float(b);
    if (are_texts(a, b)) return refs_str_equal(a->text, b->text);
    return a->kind == REFS_VALUE_NONE && b->kind == REFS_VALUE_NONE;
}

static int order_texts(refs_str a, refs_str b) {
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static refs_status is_less(const refs_value *a, const refs_value *b, bool *less, refs_error *err) {
    if (are_texts(a, b))
        *less = order_texts(a->text, b->text) < 0;
    else if (are_integers(a, b))
        *less = a->integer < b->integer;
    else if (are_numbers(a, b))
        *less = refs_refset__as_float(a) < refs_refset__as_float(b);
    else
        return fail_kinds("an order", a, b, err);
    return REFS_OK;
}

static refs_status compare(refs_op op, const refs_value *a, const refs_value *b, refs_value *result,
                           refs_error *err) {
    bool less = false, equal = equals(a, b);
    if (op == REFS_OP_LESS || op == REFS_OP_LESS_EQUAL) REFS_TRY(is_less(a, b, &less, err));
    if (op == REFS_OP_GREATER || op == REFS_OP_GREATER_EQUAL) REFS_TRY(is_less(b, a, &less, err));
    bool allows_equal =
        op == REFS_OP_EQUAL || op == REFS_OP_LESS_EQUAL || op == REFS_OP_GREATER_EQUAL;
    *result = refs_refset__bool(op == REFS_OP_UNEQUAL ? !equal : less || (allows_equal && equal));
    return REFS_OK;
}

/* -- nodes ------------------------------------------------------------------------------------ */

static refs_status evaluate(const refs_evaluation *e, uint32_t id, refs_value *value,
                            refs_error *err) {
    return refs_refset__expression_evaluate(e, id, value, err);
}

static refs_status evaluate_name(const refs_evaluation *e, refs_str name, refs_value *value,
                                 refs_error *err) {
    for (size_t i = 0; i < e->scope->n; i++) {
        if (!refs_str_equal(e->scope->bindings[i].name, name)) continue;
        *value = e->scope->bindings[i].value;
        return REFS_OK;
    }
    if (e->scope->find != NULL && e->scope->find(e->scope->user, name, value)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "\"%.*s\" is not defined", REFS_STR_ARG(name));
}

static refs_status evaluate_sign(const refs_evaluation *e, const refs_node *node, refs_value *value,
                                 refs_error *err) {
    const refs_value zero = refs_refset__integer(0);
    refs_value operand;
    REFS_TRY(evaluate(e, node->operand[0], &operand, err));
    if (node->op == REFS_OP_PLUS) return add(&zero, &operand, e->scratch, value, err);
    if (operand.kind != REFS_VALUE_FLOAT) return subtract(&zero, &operand, e->scratch, value, err);
    *value = refs_refset__float(-operand.number);
    return REFS_OK;
}

static refs_status evaluate_binary(const refs_evaluation *e, const refs_node *node,
                                   refs_value *value, refs_error *err) {
    static const arithmetic operations[] = {
        [REFS_OP_ADD] = add,
        [REFS_OP_SUBTRACT] = subtract,
        [REFS_OP_MULTIPLY] = multiply,
        [REFS_OP_DIVIDE] = divide,
        [REFS_OP_FLOOR_DIVIDE] = floor_divide,
        [REFS_OP_MODULO] = modulo,
        [REFS_OP_POWER] = power,
        [REFS_OP_CONCATENATE] = concatenate,
    };
    refs_value left, right;
    REFS_TRY(evaluate(e, node->operand[0], &left, err));
    REFS_TRY(evaluate(e, node->operand[1], &right, err));
    if (node->op >= REFS_OP_EQUAL) return compare(node->op, &left, &right, value, err);
    return operations[node->op](&left, &right, e->scratch, value, err);
}

/* and, or, if: operands that do not matter are not computed. */
static refs_status evaluate_choice(const refs_evaluation *e, const refs_node *node,
                                   refs_value *value, refs_error *err) {
    if (node->op == REFS_OP_IF) {
        REFS_TRY(evaluate(e, node->operand[1], value, err));
        if (refs_refset__truth(value)) return evaluate(e, node->operand[0], value, err);
        *value = refs_refset__text(refs_str_view("", 0));
        return node->operand[2] == REFS_NODE_NONE ? REFS_OK
                                                  : evaluate(e, node->operand[2], value, err);
    }
    REFS_TRY(evaluate(e, node->operand[0], value, err));
    if (refs_refset__truth(value) == (node->op == REFS_OP_OR)) return REFS_OK;
    return evaluate(e, node->operand[1], value, err);
}

/* Computes a list of arguments that follow `n_before` others, for which it leaves room. */
static refs_status evaluate_arguments(const refs_evaluation *e, uint32_t first, size_t n_before,
                                      refs_binding **args, size_t *n, refs_error *err) {
    const refs_node *nodes = e->expressions->nodes;
    void *memory;
    *n = n_before;
    for (uint32_t id = first; id != REFS_NODE_NONE; id = nodes[id].operand[1]) ++*n;
    REFS_TRY(refs_refset__scratch_take(e->scratch, *n * sizeof **args, &memory, err));
    *args = memory;
    for (size_t i = n_before; i < *n; i++, first = nodes[first].operand[1]) {
        (*args)[i].name = nodes[first].name;
        REFS_TRY(evaluate(e, nodes[first].operand[0], &(*args)[i].value, err));
    }
    return REFS_OK;
}

static refs_status evaluate_tuple(const refs_evaluation *e, const refs_node *node,
                                  refs_value *value, refs_error *err) {
    refs_binding *args;
    size_t n;
    void *memory;
    REFS_TRY(evaluate_arguments(e, node->operand[0], 0, &args, &n, err));
    REFS_TRY(refs_refset__scratch_take(e->scratch, n * sizeof(refs_value), &memory, err));
    refs_value *items = memory;
    for (size_t i = 0; i < n; i++) items[i] = args[i].value;
    *value = (refs_value){.kind = REFS_VALUE_TUPLE, .tuple = {items, n}};
    return REFS_OK;
}

static refs_status evaluate_call(const refs_evaluation *e, const refs_node *node, refs_value *value,
                                 refs_error *err) {
    refs_value callee;
    refs_scope scope = {0};
    refs_binding *args;
    refs_str text;
    if (evaluate_name(e, node->name, &callee, NULL) != REFS_OK)
        return refs_fail(err, REFS_UNSUPPORTED, "there is no template \"%.*s\" to be called",
                         REFS_STR_ARG(node->name));
    if (callee.kind != REFS_VALUE_TEMPLATE)
        return refs_fail(err, REFS_INVALID, "\"%.*s\" takes no arguments",
                         REFS_STR_ARG(node->name));
    REFS_TRY(evaluate_arguments(e, node->operand[0], 0, &args, &scope.n, err));
    for (size_t i = 0; i < scope.n; i++)
        if (args[i].name.size == 0)
            return refs_fail(err, REFS_INVALID, "arguments of \"%.*s\" need names",
                             REFS_STR_ARG(node->name));
    scope.bindings = args;
    REFS_TRY(
        refs_refset__template_call(callee.callee, &scope, e->scratch, e->depth + 1, &text, err));
    *value = refs_refset__text(text);
    return REFS_OK;
}

static refs_status evaluate_function(const refs_evaluation *e, const refs_node *node,
                                     refs_value *value, refs_error *err) {
    bool filter = node->op == REFS_OP_FILTER;
    refs_text_function function =
        (filter ? refs_refset__find_filter : refs_refset__find_method)(node->name);
    if (function == NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "%s \"%.*s\" is not supported",
                         filter ? "filter" : "method", REFS_STR_ARG(node->name));
    refs_binding *args;
    size_t n;
    REFS_TRY(evaluate_arguments(e, node->operand[1], 1, &args, &n, err));
    args[0].name = refs_str_view("", 0);
    REFS_TRY(evaluate(e, node->operand[0], &args[0].value, err));
    if (!filter && args[0].value.kind != REFS_VALUE_TEXT)
        return refs_fail(err, REFS_INVALID, "%s has no method \"%.*s\"",
                         refs_refset__kind_text(args[0].value.kind), REFS_STR_ARG(node->name));
    return function(args, n, e->scratch, value, err);
}

refs_status refs_refset__expression_evaluate(const refs_evaluation *e, uint32_t root,
                                             refs_value *value, refs_error *err) {
    const refs_node *node = &e->expressions->nodes[root];
    switch (node->op) {
    case REFS_OP_LITERAL:
        *value = node->value;
        return REFS_OK;
    case REFS_OP_NAME:
        return evaluate_name(e, node->name, value, err);
    case REFS_OP_TUPLE:
        return evaluate_tuple(e, node, value, err);
    case REFS_OP_NOT:
        REFS_TRY(evaluate(e, node->operand[0], value, err));
        *value = refs_refset__bool(!refs_refset__truth(value));
        return REFS_OK;
    case REFS_OP_NEGATE:
    case REFS_OP_PLUS:
        return evaluate_sign(e, node, value, err);
    case REFS_OP_AND:
    case REFS_OP_OR:
    case REFS_OP_IF:
        return evaluate_choice(e, node, value, err);
    case REFS_OP_CALL:
        return evaluate_call(e, node, value, err);
    case REFS_OP_FILTER:
    case REFS_OP_METHOD:
        return evaluate_function(e, node, value, err);
    default:
        return evaluate_binary(e, node, value, err);
    }
}
