/* flags.c -- names of values: flag_values and flag_meanings (CF 3.5). */
#include "cf_internal.h"

/* Most flags of an array, and the largest value that a list from 0 on is made for. */
enum { MAX_FLAGS = 4096, MAX_VALUE = 65535 };

static bool is_integer(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_INT || dtype->type == REFS_TYPE_UINT;
}

/* Replaces the text of `value`, with empty ones for values before it that have none. */
static refs_status set_name(refs_cf_items *names, size_t value, refs_str name, refs_error *err) {
    while (names->n <= value) REFS_TRY(refs_cf__copy_item(names, "", err));
    char *copy = refs_str_copy(name);
    if (copy == NULL) return refs_fail_nomem(err);
    refs_free(names->items[value]);
    names->items[value] = copy;
    return REFS_OK;
}

/* Whether all flags are values for a list, and each has a name. */
static bool is_list(const double *values, size_t n, refs_str meanings) {
    refs_str name;
    for (size_t i = 0; i < n; i++)
        if (!(values[i] >= 0 && values[i] <= MAX_VALUE) || values[i] != (double)(size_t)values[i] ||
            !refs_cf__next_word(&meanings, " \t\r\n", &name))
            return false;
    return n > 0 && !refs_cf__next_word(&meanings, " \t\r\n", &name);
}

static refs_status name_values(const refs_cf__input *input, double *values,
                               refs_cf_meaning *meaning, refs_error *err) {
    const refs_json *attributes = input->array->attributes;
    refs_str meanings = refs_cf__text(attributes, "flag_meanings"), name;
    size_t n = refs_cf__numbers(attributes, "flag_values", values, MAX_FLAGS);
    for (size_t i = 0; i < n && meaning->unsigned_values; i++)
        values[i] = refs_cf__to_unsigned(&input->array->dtype, values[i]);
    if (!is_list(values, n, meanings)) return REFS_OK;
    for (size_t i = 0; i < n && refs_cf__next_word(&meanings, " \t\r\n", &name); i++)
        REFS_TRY(set_name(&meaning->categories, (size_t)values[i], name, err));
    return REFS_OK;
}

/* Masks make each value several flags, which no single name fits. */
refs_status refs_cf__describe_flags(const refs_cf__input *input, refs_cf_meaning *meaning,
                                    refs_error *err) {
    const refs_json *attributes = input->array->attributes;
    if (!is_integer(&input->array->dtype) || refs_json_get(attributes, "flag_values") == NULL ||
        refs_json_get(attributes, "flag_meanings") == NULL ||
        refs_json_get(attributes, "flag_masks") != NULL)
        return REFS_OK;
    double *values = refs_calloc(MAX_FLAGS, sizeof *values);
    if (values == NULL) return refs_fail_nomem(err);
    refs_status status = name_values(input, values, meaning, err);
    refs_free(values);
    return status;
}
