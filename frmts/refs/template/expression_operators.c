/* expression_operators.c -- what operators make of two values, see expression.h. */
#include "expression_items.h"

#include <math.h>

typedef refs_status (*operation)(const refs_value *a, const refs_value *b,
                                 refs_template_scratch *scratch, refs_value *result,
                                 refs_error *err);

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
                     refs_value_kind_text(a->kind), refs_value_kind_text(b->kind));
}

static bool are_integers(const refs_value *a, const refs_value *b) {
    return refs_value_is_integer(a) && refs_value_is_integer(b);
}

static bool are_numbers(const refs_value *a, const refs_value *b) {
    return refs_value_is_number(a) && refs_value_is_number(b);
}

static bool are_strings(const refs_value *a, const refs_value *b) {
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
    /* What is left of rounding; zeros have the sign that the operands ask for. */
    double whole = floor(*quotient);
    *quotient = *quotient - whole > 0.5 ? whole + 1 : whole;
    if (*quotient == 0) *quotient = copysign(0, a / b);
    if (*remainder == 0) *remainder = copysign(0, b);
    return REFS_OK;
}

/* -- strings --------------------------------------------------------------------------------- */

static refs_status join(refs_str a, refs_str b, refs_template_scratch *scratch, refs_value *result,
                        refs_error *err) {
    size_t size;
    void *memory;
    if (!refs_add_size(a.size, b.size, &size)) return fail_overflow(err);
    REFS_TRY(refs_value_scratch_take(scratch, size, &memory, err));
    if (a.size > 0) memcpy(memory, a.data, a.size);
    if (b.size > 0) memcpy((char *)memory + a.size, b.data, b.size);
    *result = refs_value_text(refs_str_view(memory, size));
    return REFS_OK;
}

static refs_status repeat(refs_str text, int64_t times, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    uint64_t wanted;
    void *memory;
    if (times < 0) times = 0;
    if (!refs_mul_u64(text.size, (uint64_t)times, &wanted) || wanted > SIZE_MAX) wanted = SIZE_MAX;
    const size_t size = (size_t)wanted;
    REFS_TRY(refs_value_scratch_take(scratch, size, &memory, err));
    for (size_t at = 0; at < size; at += text.size)
        memcpy((char *)memory + at, text.data, text.size);
    *result = refs_value_text(refs_str_view(memory, size));
    return REFS_OK;
}

/* -- operators -------------------------------------------------------------------------------- */

static refs_status add(const refs_value *a, const refs_value *b, refs_template_scratch *scratch,
                       refs_value *result, refs_error *err) {
    int64_t sum;
    if (are_strings(a, b)) return join(a->text, b->text, scratch, result, err);
    if (!are_numbers(a, b)) return fail_kinds("+", a, b, err);
    *result = refs_value_float(refs_value_as_float(a) + refs_value_as_float(b));
    if (!are_integers(a, b)) return REFS_OK;
    if (__builtin_add_overflow(a->integer, b->integer, &sum)) return fail_overflow(err);
    *result = refs_value_integer(sum);
    return REFS_OK;
}

static refs_status subtract(const refs_value *a, const refs_value *b,
                            refs_template_scratch *scratch, refs_value *result, refs_error *err) {
    (void)scratch;
    int64_t difference;
    if (!are_numbers(a, b)) return fail_kinds("-", a, b, err);
    *result = refs_value_float(refs_value_as_float(a) - refs_value_as_float(b));
    if (!are_integers(a, b)) return REFS_OK;
    if (__builtin_sub_overflow(a->integer, b->integer, &difference)) return fail_overflow(err);
    *result = refs_value_integer(difference);
    return REFS_OK;
}

static refs_status multiply(const refs_value *a, const refs_value *b,
                            refs_template_scratch *scratch, refs_value *result, refs_error *err) {
    int64_t product;
    if (a->kind == REFS_VALUE_TEXT && refs_value_is_integer(b))
        return repeat(a->text, b->integer, scratch, result, err);
    if (b->kind == REFS_VALUE_TEXT && refs_value_is_integer(a))
        return repeat(b->text, a->integer, scratch, result, err);
    if (!are_numbers(a, b)) return fail_kinds("*", a, b, err);
    *result = refs_value_float(refs_value_as_float(a) * refs_value_as_float(b));
    if (!are_integers(a, b)) return REFS_OK;
    if (__builtin_mul_overflow(a->integer, b->integer, &product)) return fail_overflow(err);
    *result = refs_value_integer(product);
    return REFS_OK;
}

static refs_status divide(const refs_value *a, const refs_value *b, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    (void)scratch;
    if (!are_numbers(a, b)) return fail_kinds("/", a, b, err);
    if (refs_value_as_float(b) == 0) return fail_zero(err);
    *result = refs_value_float(refs_value_as_float(a) / refs_value_as_float(b));
    return REFS_OK;
}

/* The quotient and the remainder of two numbers: integers of integers, else floats. */
static refs_status divide_numbers(const refs_value *a, const refs_value *b, refs_value *quotient,
                                  refs_value *remainder, refs_error *err) {
    int64_t whole = 0, rest = 0;
    double float_whole = 0, float_rest = 0;
    if (are_integers(a, b)) {
        REFS_TRY(divide_integers(a->integer, b->integer, &whole, &rest, err));
        *quotient = refs_value_integer(whole);
        *remainder = refs_value_integer(rest);
        return REFS_OK;
    }
    REFS_TRY(divide_floats(refs_value_as_float(a), refs_value_as_float(b), &float_whole,
                           &float_rest, err));
    *quotient = refs_value_float(float_whole);
    *remainder = refs_value_float(float_rest);
    return REFS_OK;
}

static refs_status floor_divide(const refs_value *a, const refs_value *b,
                                refs_template_scratch *scratch, refs_value *result,
                                refs_error *err) {
    (void)scratch;
    refs_value remainder;
    if (!are_numbers(a, b)) return fail_kinds("//", a, b, err);
    return divide_numbers(a, b, result, &remainder, err);
}

/* "%" formats where its left side is a text: by the items of a tuple, or by any other value. */
static refs_status format(const refs_value *a, const refs_value *b, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    size_t n = b->kind == REFS_VALUE_TUPLE ? b->tuple.n : 1;
    refs_binding *args;
    void *memory;
    REFS_TRY(refs_value_scratch_take(scratch, (n + 1) * sizeof *args, &memory, err));
    args = memory;
    args[0] = (refs_binding){.value = *a};
    for (size_t i = 0; i < n; i++)
        args[i + 1] = (refs_binding){.value = b->kind == REFS_VALUE_TUPLE ? b->tuple.items[i] : *b};
    return refs_template__format_percent(args, n + 1, scratch, result, err);
}

static refs_status modulo(const refs_value *a, const refs_value *b, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    refs_value quotient;
    if (a->kind == REFS_VALUE_TEXT) return format(a, b, scratch, result, err);
    if (!are_numbers(a, b)) return fail_kinds("%", a, b, err);
    return divide_numbers(a, b, &quotient, result, err);
}

static refs_status power_of_integers(int64_t base, int64_t exponent, refs_value *result,
                                     refs_error *err) {
    int64_t product = 1;
    for (; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(product, base, &product))
            return fail_overflow(err);
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return fail_overflow(err);
    }
    *result = refs_value_integer(product);
    return REFS_OK;
}

static refs_status power(const refs_value *a, const refs_value *b, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    (void)scratch;
    if (!are_numbers(a, b)) return fail_kinds("**", a, b, err);
    if (are_integers(a, b) && b->integer >= 0)
        return power_of_integers(a->integer, b->integer, result, err);
    double base = refs_value_as_float(a), exponent = refs_value_as_float(b);
    if (base == 0 && exponent < 0) return fail_zero(err);
    *result = refs_value_float(pow(base, exponent));
    if (isnan(result->number) && !isnan(base) && !isnan(exponent))
        return refs_fail(err, REFS_UNSUPPORTED, "a root of a negative number");
    if (isinf(result->number) && !isinf(base) && !isinf(exponent))
        return refs_fail(err, REFS_LIMIT, "a power is too large for a float");
    return REFS_OK;
}

static refs_status concatenate(const refs_value *a, const refs_value *b,
                               refs_template_scratch *scratch, refs_value *result,
                               refs_error *err) {
    refs_str left, right;
    REFS_TRY(refs_value_to_text(a, scratch, &left, err));
    REFS_TRY(refs_value_to_text(b, scratch, &right, err));
    return join(left, right, scratch, result, err);
}

/* -- comparisons ------------------------------------------------------------------------------ */

static int order_strings(refs_str a, refs_str b) {
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static refs_status is_less(const refs_value *a, const refs_value *b, bool *less, refs_error *err) {
    if (are_strings(a, b))
        *less = order_strings(a->text, b->text) < 0;
    else if (are_integers(a, b))
        *less = a->integer < b->integer;
    else if (are_numbers(a, b))
        *less = refs_value_as_float(a) < refs_value_as_float(b);
    else
        return fail_kinds("an order", a, b, err);
    return REFS_OK;
}

static refs_status compare(refs_op op, const refs_value *a, const refs_value *b, refs_value *result,
                           refs_error *err) {
    bool less = false, contained = false, equal = refs_template__equals(a, b);
    if (op == REFS_OP_IN || op == REFS_OP_NOT_IN) {
        REFS_TRY(refs_template__contains(b, a, &contained, err));
        *result = refs_value_bool(contained == (op == REFS_OP_IN));
        return REFS_OK;
    }
    if (op == REFS_OP_LESS || op == REFS_OP_LESS_EQUAL) REFS_TRY(is_less(a, b, &less, err));
    if (op == REFS_OP_GREATER || op == REFS_OP_GREATER_EQUAL) REFS_TRY(is_less(b, a, &less, err));
    bool allows_equal =
        op == REFS_OP_EQUAL || op == REFS_OP_LESS_EQUAL || op == REFS_OP_GREATER_EQUAL;
    *result = refs_value_bool(op == REFS_OP_UNEQUAL ? !equal : less || (allows_equal && equal));
    return REFS_OK;
}

refs_status refs_template__apply_operator(const refs_value operands[2], refs_op op,
                                          refs_template_scratch *scratch, refs_value *result,
                                          refs_error *err) {
    static const operation operations[] = {
        [REFS_OP_ADD] = add,
        [REFS_OP_SUBTRACT] = subtract,
        [REFS_OP_MULTIPLY] = multiply,
        [REFS_OP_DIVIDE] = divide,
        [REFS_OP_FLOOR_DIVIDE] = floor_divide,
        [REFS_OP_MODULO] = modulo,
        [REFS_OP_POWER] = power,
        [REFS_OP_CONCATENATE] = concatenate,
    };
    if (op >= REFS_OP_EQUAL) return compare(op, &operands[0], &operands[1], result, err);
    return operations[op](&operands[0], &operands[1], scratch, result, err);
}
