/* expression_functions.c -- filters and methods of expressions, see expression.h. */
#include "expression.h"

static refs_status expect_no_arguments(size_t n, refs_error *err) {
    return n == 1 ? REFS_OK : refs_fail(err, REFS_INVALID, "arguments where none are taken");
}

static refs_status to_integer(const refs_binding *args, size_t n, refs_scratch *scratch,
                              refs_value *result, refs_error *err) {
    (void)scratch;
    refs_value integer = {.kind = REFS_VALUE_INTEGER};
    REFS_TRY(expect_no_arguments(n, err));
    REFS_TRY(refs_refset__to_integer(&args[0].value, &integer.integer, err));
    *result = integer;
    return REFS_OK;
}

static refs_status to_text(const refs_binding *args, size_t n, refs_scratch *scratch,
                           refs_value *result, refs_error *err) {
    refs_str text;
    REFS_TRY(expect_no_arguments(n, err));
    REFS_TRY(refs_refset__to_text(&args[0].value, scratch, &text, err));
    *result = refs_refset__text(text);
    return REFS_OK;
}

static refs_status absolute(const refs_binding *args, size_t n, refs_scratch *scratch,
                            refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(expect_no_arguments(n, err));
    const refs_value *value = &args[0].value;
    if (!refs_refset__is_number(value))
        return refs_fail(err, REFS_INVALID, "%s has no absolute value",
                         refs_refset__kind_text(value->kind));
    if (value->kind == REFS_VALUE_FLOAT)
        *result = refs_refset__float(value->number < 0 ? -value->number : value->number);
    else if (value->integer == INT64_MIN)
        return refs_fail(err, REFS_LIMIT, "an integer needs more than 64 bits");
    else
        *result = refs_refset__integer(value->integer < 0 ? -value->integer : value->integer);
    return REFS_OK;
}

static refs_status to_float(const refs_binding *args, size_t n, refs_scratch *scratch,
                            refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(expect_no_arguments(n, err));
    if (!refs_refset__is_number(&args[0].value))
        return refs_fail(err, REFS_UNSUPPORTED, "filter \"float\" is for numbers only");
    *result = refs_refset__float(refs_refset__as_float(&args[0].value));
    return REFS_OK;
}

static refs_status length(const refs_binding *args, size_t n, refs_scratch *scratch,
                          refs_value *result, refs_error *err) {
    (void)scratch;
    REFS_TRY(expect_no_arguments(n, err));
    const refs_value *value = &args[0].value;
    if (value->kind != REFS_VALUE_TEXT)
        return refs_fail(err, REFS_INVALID, "%s has no length",
                         refs_refset__kind_text(value->kind));
    *result = refs_refset__integer((int64_t)refs_refset__count_characters(value->text));
    return REFS_OK;
}

static refs_status zfill(const refs_binding *args, size_t n, refs_scratch *scratch,
                         refs_value *result, refs_error *err) {
    refs_str text = args[0].value.text;
    int64_t wanted;
    void *memory;
    if (n != 2) return refs_fail(err, REFS_INVALID, "zfill takes the width as its one argument");
    REFS_TRY(refs_refset__to_integer(&args[1].value, &wanted, err));
    if (wanted < 0) wanted = 0;
    size_t n_characters = refs_refset__count_characters(text), size;
    size_t width = (uint64_t)wanted > SIZE_MAX ? SIZE_MAX : (size_t)wanted;
    if (width < n_characters) width = n_characters;
    if (!refs_add_size(width - n_characters, text.size, &size)) size = SIZE_MAX;
    REFS_TRY(refs_refset__scratch_take(scratch, size, &memory, err));
    size_t sign = refs_str_starts(text, "-") || refs_str_starts(text, "+") ? 1 : 0;
    memset(memory, '0', size);
    memcpy(memory, text.data, sign);
    memcpy((char *)memory + size - text.size + sign, text.data + sign, text.size - sign);
    *result = refs_refset__text(refs_str_view(memory, size));
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

refs_text_function refs_refset__find_filter(refs_str name) {
    static const named_function filters[] = {
        {"abs", absolute},   {"float", to_float}, {"format", refs_refset__format_percent},
        {"int", to_integer}, {"length", length},  {"string", to_text}};
    return find(filters, sizeof filters / sizeof filters[0], name);
}

refs_text_function refs_refset__find_method(refs_str name) {
    static const named_function methods[] = {{"format", refs_refset__format_braces},
                                             {"zfill", zfill}};
    return find(methods, sizeof methods / sizeof methods[0], name);
}
