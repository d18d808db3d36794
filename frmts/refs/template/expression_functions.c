/* expression_functions.c -- filters and methods of expressions, see expression.h. */
#include "expression_items.h"

#include "refs/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static refs_status expect_no_arguments(size_t n, refs_error *err) {
    return n == 1 ? REFS_OK : refs_fail(err, REFS_INVALID, "arguments where none are taken");
}

static refs_status to_integer(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                              refs_value *result, refs_error *err) {
    (void)scratch;
    static const char *const names[] = {"default", NULL};
    const refs_value *otherwise;
    refs_error problem = REFS_ERROR_INIT;
    *result = refs_value_integer(0);
    REFS_TRY(refs_template__take_arguments(args, n, names, &otherwise, err));
    refs_status status = refs_value_to_integer(&args[0].value, &result->integer, &problem);
    if (status == REFS_OK) return REFS_OK;
    if (otherwise == NULL || status != REFS_INVALID)
        return refs_fail(err, status, "%s", problem.message);
    *result = *otherwise;
    return REFS_OK;
}

static refs_status to_text(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    refs_str text;
    REFS_TRY(expect_no_arguments(n, err));
    REFS_TRY(refs_value_to_text(&args[0].value, scratch, &text, err));
    *result = refs_value_text(text);
    return REFS_OK;
}

static refs_status absolute(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                            refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(expect_no_arguments(n, err));
    const refs_value *value = &args[0].value;
    if (!refs_value_is_number(value))
        return refs_fail(err, REFS_INVALID, "%s has no absolute value",
                         refs_value_kind_text(value->kind));
    if (value->kind == REFS_VALUE_FLOAT)
        *result = refs_value_float(value->number < 0 ? -value->number : value->number);
    else if (value->integer == INT64_MIN)
        return refs_fail(err, REFS_LIMIT, "an integer needs more than 64 bits");
    else
        *result = refs_value_integer(value->integer < 0 ? -value->integer : value->integer);
    return REFS_OK;
}

static refs_status to_float(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                            refs_value *result, refs_error *err) {
    (void)scratch;
    static const char *const names[] = {"default", NULL};
    const refs_value *otherwise;
    refs_error problem = REFS_ERROR_INIT;
    double number;
    REFS_TRY(refs_template__take_arguments(args, n, names, &otherwise, err));
    refs_status status = refs_value_to_float(&args[0].value, &number, &problem);
    if (status != REFS_OK && otherwise == NULL)
        return refs_fail(err, status, "%s", problem.message);
    *result = status == REFS_OK ? refs_value_float(number) : *otherwise;
    return REFS_OK;
}

static refs_status length(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                          refs_value *result, refs_error *err) {
    refs_value list;
    REFS_TRY(expect_no_arguments(n, err));
    if (args[0].value.kind < REFS_VALUE_TEXT)
        return refs_fail(err, REFS_INVALID, "%s has no length",
                         refs_value_kind_text(args[0].value.kind));
    REFS_TRY(refs_template__list(&args[0].value, scratch, &list, err));
    *result = refs_value_integer((int64_t)list.tuple.n);
    return REFS_OK;
}

/* -- items ------------------------------------------------------------------------------------- */

static refs_status item_at(const refs_binding *args, size_t n, int64_t at, refs_value *result,
                           refs_error *err) {
    refs_value index = refs_value_integer(at);
    bool found;
    REFS_TRY(expect_no_arguments(n, err));
    if (args[0].value.kind == REFS_VALUE_DICTIONARY)
        return refs_fail(err, REFS_UNSUPPORTED, "items of a dictionary by their order");
    REFS_TRY(refs_template__item(&args[0].value, &index, result, &found, err));
    return found ? REFS_OK : refs_fail(err, REFS_INVALID, "there is no such item");
}

static refs_status first(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    (void)scratch;
    return item_at(args, n, 0, result, err);
}

static refs_status last(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                        refs_value *result, refs_error *err) {
    (void)scratch;
    return item_at(args, n, -1, result, err);
}

static refs_status to_list(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    REFS_TRY(expect_no_arguments(n, err));
    return refs_template__list(&args[0].value, scratch, result, err);
}

/* Of a list a copy: what jinja2 gives can only be looped over, which joining does. */
static refs_status reverse(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    const refs_value none = {.kind = REFS_VALUE_NONE};
    const refs_value bounds[3] = {none, none, refs_value_integer(-1)};
    REFS_TRY(expect_no_arguments(n, err));
    return refs_template__slice(&args[0].value, bounds, scratch, result, err);
}

/* The item that all others are not before, by `op`. */
static refs_status extreme(const refs_value *container, refs_op op, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    refs_value list, is_before;
    REFS_TRY(refs_template__list(container, scratch, &list, err));
    if (list.tuple.n == 0) return refs_fail(err, REFS_INVALID, "there is no such item");
    *result = list.tuple.items[0];
    for (size_t i = 1; i < list.tuple.n; i++) {
        const refs_value pair[2] = {list.tuple.items[i], *result};
        for (int side = 0; side < 2; side++)
            if (pair[side].kind == REFS_VALUE_TEXT)
                return refs_fail(err, REFS_UNSUPPORTED, "an order of strings without case");
        REFS_TRY(refs_template__apply_operator(pair, op, scratch, &is_before, err));
        if (refs_value_truth(&is_before)) *result = list.tuple.items[i];
    }
    return REFS_OK;
}

static refs_status smallest(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                            refs_value *result, refs_error *err) {
    REFS_TRY(expect_no_arguments(n, err));
    return extreme(&args[0].value, REFS_OP_LESS, scratch, result, err);
}

static refs_status largest(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                           refs_value *result, refs_error *err) {
    REFS_TRY(expect_no_arguments(n, err));
    return extreme(&args[0].value, REFS_OP_GREATER, scratch, result, err);
}

static refs_status sum(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                       refs_value *result, refs_error *err) {
    refs_value list;
    REFS_TRY(expect_no_arguments(n, err));
    REFS_TRY(refs_template__list(&args[0].value, scratch, &list, err));
    *result = refs_value_integer(0);
    for (size_t i = 0; i < list.tuple.n; i++) {
        const refs_value pair[2] = {*result, list.tuple.items[i]};
        REFS_TRY(refs_template__apply_operator(pair, REFS_OP_ADD, scratch, result, err));
    }
    return REFS_OK;
}

/* -- rounding ---------------------------------------------------------------------------------- */

/* Python's round(): the nearest float to the decimal that is nearest, halves to even. */
static double round_common(double number, int precision) {
    char text[400];
    snprintf(text, sizeof text, "%.*f", precision, number);
    return strtod(text, NULL);
}

static refs_status round_number(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                                refs_value *result, refs_error *err) {
    static const char *const names[] = {"precision", "method", NULL};
    const refs_value *taken[2], *value = &args[0].value;
    int64_t precision = 0;
    (void)scratch;
    REFS_TRY(refs_template__take_arguments(args, n, names, taken, err));
    if (taken[0] != NULL) REFS_TRY(refs_value_to_integer(taken[0], &precision, err));
    if (!refs_value_is_number(value))
        return refs_fail(err, REFS_INVALID, "%s cannot be rounded",
                         refs_value_kind_text(value->kind));
    if (precision < 0 || precision > 15)
        return refs_fail(err, REFS_UNSUPPORTED, "a precision that is not from 0 to 15");
    refs_str method = taken[1] != NULL && taken[1]->kind == REFS_VALUE_TEXT
                          ? taken[1]->text
                          : refs_str_from(taken[1] == NULL ? "common" : "");
    const double number = refs_value_as_float(value), scale = pow(10, (double)precision);
    if (refs_str_is(method, "common") && value->kind != REFS_VALUE_FLOAT)
        *result = refs_value_integer(value->integer);
    else if (refs_str_is(method, "common") && isfinite(number))
        *result = refs_value_float(round_common(number, (int)precision));
    else if (refs_str_is(method, "ceil") || refs_str_is(method, "floor"))
        *result = refs_value_float(
            (refs_str_is(method, "ceil") ? ceil(number * scale) : floor(number * scale)) / scale);
    else
        return refs_fail(err, REFS_INVALID, "it cannot be rounded so");
    return REFS_OK;
}

/* -- widths ------------------------------------------------------------------------------------ */

static refs_status zfill(const refs_binding *args, size_t n, refs_template_scratch *scratch,
                         refs_value *result, refs_error *err) {
    refs_str text = args[0].value.text;
    int64_t wanted;
    void *memory;
    if (n != 2) return refs_fail(err, REFS_INVALID, "zfill takes the width as its one argument");
    REFS_TRY(refs_value_to_integer(&args[1].value, &wanted, err));
    if (wanted < 0) wanted = 0;
    size_t n_characters = refs_template__count_characters(text), size;
    size_t width = (uint64_t)wanted > SIZE_MAX ? SIZE_MAX : (size_t)wanted;
    if (width < n_characters) width = n_characters;
    if (!refs_add_size(width - n_characters, text.size, &size)) size = SIZE_MAX;
    REFS_TRY(refs_value_scratch_take(scratch, size, &memory, err));
    size_t sign = refs_str_starts(text, "-") || refs_str_starts(text, "+") ? 1 : 0;
    memset(memory, '0', size);
    memcpy(memory, text.data, sign);
    memcpy((char *)memory + size - text.size + sign, text.data + sign, text.size - sign);
    *result = refs_value_text(refs_str_view(memory, size));
    return REFS_OK;
}

typedef struct named_function {
    const char *name;
    refs_text_function function;
} named_function;

static refs_text_function find(const named_function *functions, size_t n, refs_str name) {
    for (size_t i = 0; i < n; i++)
        if (refs_str_is(name, functions[i].name)) return functions[i].function;
    return NULL;
}

refs_text_function refs_template__find_filter(refs_str name) {
    static const named_function filters[] = {
        {"abs", absolute},   {"count", length},    {"first", first},
        {"float", to_float}, {"int", to_integer},  {"last", last},
        {"length", length},  {"list", to_list},    {"max", largest},
        {"min", smallest},   {"reverse", reverse}, {"round", round_number},
        {"string", to_text}, {"sum", sum},         {"format", refs_template__format_percent}};
    refs_text_function found = find(filters, sizeof filters / sizeof filters[0], name);
    return found != NULL ? found : refs_template__find_text_filter(name);
}

refs_text_function refs_template__find_method(refs_str name) {
    static const named_function methods[] = {{"format", refs_template__format_braces},
                                             {"zfill", zfill}};
    refs_text_function found = find(methods, sizeof methods / sizeof methods[0], name);
    return found != NULL ? found : refs_template__find_text_method(name);
}
