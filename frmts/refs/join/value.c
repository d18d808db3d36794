/* value.c -- values of coordinates, see join_internal.h. */
#include <math.h>
#include <stdio.h>

#include "join_internal.h"

static refs_value_kind kind_of(const refs_dtype *dtype) {
    switch (dtype->type) {
    case REFS_TYPE_BOOL:
    case REFS_TYPE_INT:
    case REFS_TYPE_UINT:
    case REFS_TYPE_DATETIME:
    case REFS_TYPE_TIMEDELTA:
        return REFS_VALUE_INTEGER;
    case REFS_TYPE_FLOAT:
        return dtype->size >= 4 ? REFS_VALUE_NUMBER : REFS_VALUE_NONE;
    case REFS_TYPE_BYTES:
    case REFS_TYPE_UNICODE:
        return REFS_VALUE_TEXT;
    default:
        return REFS_VALUE_NONE;
    }
}

static int64_t integer_at(const refs_dtype *dtype, const uint8_t *at) {
    uint64_t bits = 0;
    int64_t value;
    memcpy((uint8_t *)&bits + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 - dtype->size : 0), at,
           dtype->size);
    bool is_signed = dtype->type != REFS_TYPE_UINT && dtype->type != REFS_TYPE_BOOL;
    unsigned unused = (unsigned)(64 - 8 * dtype->size);
    if (is_signed && unused > 0 && bits >> (63 - unused) != 0) bits |= UINT64_MAX << (64 - unused);
    memcpy(&value, &bits, sizeof value);
    return value;
}

refs_value refs_join__value_at(const refs_dtype *dtype, refs_str values, uint64_t i) {
    const uint8_t *at = (const uint8_t *)values.data + i * dtype->size;
    refs_value value = {.kind = kind_of(dtype)};
    float single;
    if (value.kind == REFS_VALUE_INTEGER) {
        bool is_time = dtype->type == REFS_TYPE_DATETIME || dtype->type == REFS_TYPE_TIMEDELTA;
        value.integer = integer_at(dtype, at);
        value.number = (double)value.integer;
        value.is_missing = is_time && value.integer == INT64_MIN; /* NaT */
    } else if (value.kind == REFS_VALUE_NUMBER && dtype->size == 4) {
        memcpy(&single, at, 4);
        value.number = (double)single;
    } else if (value.kind == REFS_VALUE_NUMBER) {
        memcpy(&value.number, at, 8);
    } else if (value.kind == REFS_VALUE_TEXT) {
        value.text = refs_str_view((const char *)at, dtype->size);
        while (value.text.size > 0 && value.text.data[value.text.size - 1] == '\0')
            value.text.size--;
    }
    return value;
}

bool refs_join__is_number(const refs_value *value) {
    return value->kind == REFS_VALUE_INTEGER || value->kind == REFS_VALUE_NUMBER;
}

static int compare_texts(refs_str a, refs_str b) {
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

int refs_join__compare_values(const refs_value *a, const refs_value *b) {
    if (a->kind == REFS_VALUE_TEXT) return compare_texts(a->text, b->text);
    if (a->kind == REFS_VALUE_INTEGER && b->kind == REFS_VALUE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (isnan(a->number) || isnan(b->number))
        return (isnan(a->number) != 0) - (isnan(b->number) != 0);
    return (a->number > b->number) - (a->number < b->number);
}

const char *refs_join__print_value(const refs_value *value, char text[REFS_VALUE_TEXT]) {
    if (value->is_missing)
        (void)snprintf(text, REFS_VALUE_TEXT, "missing");
    else if (value->kind == REFS_VALUE_INTEGER)
        (void)snprintf(text, REFS_VALUE_TEXT, "%lld", (long long)value->integer);
    else if (value->kind == REFS_VALUE_NUMBER)
        (void)snprintf(text, REFS_VALUE_TEXT, "%.15g", value->number);
    else
        (void)snprintf(text, REFS_VALUE_TEXT, "\"%.*s\"",
                       (int)(value->text.size < 40 ? value->text.size : 40),
                       value->text.data != NULL ? value->text.data : "");
    return text;
}

/* Where one is stored as float and the other as double, they are equal as floats. */
static bool are_equal(const refs_value *a, const refs_value *b, bool as_floats) {
    if (a->kind != b->kind && !(refs_join__is_number(a) && refs_join__is_number(b))) return false;
    if (as_floats && refs_join__is_number(a))
        return (float)a->number == (float)b->number || (isnan(a->number) && isnan(b->number));
    return refs_join__compare_values(a, b) == 0;
}

static bool is_float(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_FLOAT && dtype->size == 4;
}

uint64_t refs_join__first_difference(const refs_values *a, const refs_values *b) {
    const uint64_t n_a = a->dtype->size > 0 ? a->bytes.size / a->dtype->size : 0;
    const uint64_t n_b = b->dtype->size > 0 ? b->bytes.size / b->dtype->size : 0;
    const bool as_floats = is_float(a->dtype) != is_float(b->dtype);
    const bool are_alike = a->dtype->type == b->dtype->type && a->dtype->size == b->dtype->size;
    if (are_alike && refs_str_equal(a->bytes, b->bytes)) return UINT64_MAX;
    for (uint64_t i = 0; i < n_a && i < n_b; i++) {
        const refs_value one = refs_join__value_at(a->dtype, a->bytes, i);
        const refs_value other = refs_join__value_at(b->dtype, b->bytes, i);
        if (!are_equal(&one, &other, as_floats)) return i;
    }
    return n_a == n_b ? UINT64_MAX : (n_a < n_b ? n_a : n_b);
}
