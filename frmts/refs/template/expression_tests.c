/* expression_tests.c -- what may follow "is" in expressions, see expression.h. */
#include "expression_items.h"

static refs_status no_argument(size_t n, refs_error *err) {
    return n == 1 ? REFS_OK : refs_fail(err, REFS_INVALID, "arguments where none are taken");
}

/* Tests of a value's kind: `kinds` has a bit for each that passes. */
static refs_status is_of(const refs_binding *args, size_t n, unsigned kinds, refs_value *result,
                         refs_error *err) {
    REFS_TRY(no_argument(n, err));
    *result = refs_value_bool((kinds >> args[0].value.kind & 1) != 0);
    return REFS_OK;
}

#define KIND_TEST(name, kinds)                                                                     \
    static refs_status name(const refs_binding *args, size_t n, refs_template_scratch *scratch,    \
                            refs_value *result, refs_error *err) {                                 \
        (void)scratch;                                                                             \
        return is_of(args, n, kinds, result, err);                                                 \
    }

KIND_TEST(is_none, 1u << REFS_VALUE_NONE)
KIND_TEST(is_boolean, 1u << REFS_VALUE_BOOL)
KIND_TEST(is_integer, 1u << REFS_VALUE_INTEGER)
KIND_TEST(is_float, 1u << REFS_VALUE_FLOAT)
KIND_TEST(is_number, 1u << REFS_VALUE_BOOL | 1u << REFS_VALUE_INTEGER | 1u << REFS_VALUE_FLOAT)
KIND_TEST(is_string, 1u << REFS_VALUE_TEXT)
KIND_TEST(is_mapping, 1u << REFS_VALUE_DICTIONARY)
KIND_TEST(is_iterable, 1u << REFS_VALUE_TEXT | 1u << REFS_VALUE_TUPLE | 1u << REFS_VALUE_LIST |
                           1u << REFS_VALUE_DICTIONARY)

/* "true" is the one truth value, not any that counts as true. */
static refs_status is_true(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(no_argument(n, err));
    *result = refs_value_bool(args[0].value.kind == REFS_VALUE_BOOL && args[0].value.integer != 0);
    return REFS_OK;
}

static refs_status is_false(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                            refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(no_argument(n, err));
    *result = refs_value_bool(args[0].value.kind == REFS_VALUE_BOOL && args[0].value.integer == 0);
    return REFS_OK;
}

/* -- remainders -------------------------------------------------------------------------------- */

/* Whether the remainder of a division by `divisor` is `wanted`. */
static refs_status leaves(const refs_value *value, refs_value divisor, int64_t wanted,
                          refs_value *result, refs_error *err) {
    const refs_value operands[2] = {*value, divisor}, remainder = refs_value_integer(wanted);
    refs_value left;
    if (!refs_value_is_number(value))
        return refs_fail(err, REFS_INVALID, "%s is not divided", refs_value_kind_text(value->kind));
    REFS_TRY(refs_template__apply_operator(operands, REFS_OP_MODULO, NULL, &left, err));
    *result = refs_value_bool(refs_template__equals(&left, &remainder));
    return REFS_OK;
}

static refs_status is_odd(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(no_argument(n, err));
    return leaves(&args[0].value, refs_value_integer(2), 1, result, err);
}

static refs_status is_even(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(no_argument(n, err));
    return leaves(&args[0].value, refs_value_integer(2), 0, result, err);
}

static refs_status is_divisible(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                                refs_value *result, refs_error *err) {
    static const char *const names[] = {"num", NULL};
    const refs_value *divisor;
    (void)scratch;
    REFS_TRY(refs_template__take_arguments(args, n, names, &divisor, err));
    if (divisor == NULL) return refs_fail(err, REFS_INVALID, "an argument is missing");
    return leaves(&args[0].value, *divisor, 0, result, err);
}

/* -- comparisons ------------------------------------------------------------------------------- */

static refs_status compare(const refs_binding *args, size_t n, refs_op op, refs_value *result,
                           refs_error *err) {
    static const char *const names[] = {"", NULL};
    const refs_value *other;
    REFS_TRY(refs_template__take_arguments(args, n, names, &other, err));
    if (other == NULL) return refs_fail(err, REFS_INVALID, "an argument is missing");
    const refs_value operands[2] = {args[0].value, *other};
    return refs_template__apply_operator(operands, op, NULL, result, err);
}

#define COMPARISON(name, op)                                                                       \
    static refs_status name(const refs_binding *args, size_t n, refs_template_scratch *scratch,    \
                            refs_value *result, refs_error *err) {                                 \
        (void)scratch;                                                                             \
        return compare(args, n, op, result, err);                                                  \
    }

COMPARISON(is_equal, REFS_OP_EQUAL)
COMPARISON(is_unequal, REFS_OP_UNEQUAL)
COMPARISON(is_less, REFS_OP_LESS)
COMPARISON(is_less_or_equal, REFS_OP_LESS_EQUAL)
COMPARISON(is_greater, REFS_OP_GREATER)
COMPARISON(is_greater_or_equal, REFS_OP_GREATER_EQUAL)
COMPARISON(is_in, REFS_OP_IN)

refs_text_function refs_template__find_test(refs_str name) {
    static const struct {
        const char *name;
        refs_text_function function;
    } tests[] = {{"boolean", is_boolean},
                 {"divisibleby", is_divisible},
                 {"eq", is_equal},
                 {"equalto", is_equal},
                 {"even", is_even},
                 {"false", is_false},
                 {"float", is_float},
                 {"ge", is_greater_or_equal},
                 {"greaterthan", is_greater},
                 {"gt", is_greater},
                 {"in", is_in},
                 {"integer", is_integer},
                 {"iterable", is_iterable},
                 {"le", is_less_or_equal},
                 {"lessthan", is_less},
                 {"lt", is_less},
                 {"mapping", is_mapping},
                 {"ne", is_unequal},
                 {"none", is_none},
                 {"number", is_number},
                 {"odd", is_odd},
                 {"sequence", is_iterable},
                 {"string", is_string},
                 {"true", is_true}};
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (refs_str_is(name, tests[i].name)) return tests[i].function;
    return NULL;
}
