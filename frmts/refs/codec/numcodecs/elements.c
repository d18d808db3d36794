/* elements.c -- see elements.h. */
#include "elements.h"

#include "refs/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

refs_status refs_codec__element_type_parse(refs_str dtype, refs_element_type *type,
                                           refs_error *err) {
    static const refs_number_type code_point = {REFS_NUMBER_UINT, 4, false};
    uint64_t length = 0;
    char order = dtype.size > 0 ? dtype.data[0] : '\0';
    char code = dtype.size > 1 ? dtype.data[1] : '\0';
    *type = (refs_element_type){.kind = REFS_ELEMENT_OBJECT};
    if (code == 'O') return REFS_OK;
    if (code != 'S' && code != 'U') {
        type->kind = REFS_ELEMENT_NUMBER;
        REFS_TRY(refs_codec__number_parse(dtype, &type->number, err));
        type->size = type->number.size;
        return REFS_OK;
    }
    if (!refs_str_to_u64(refs_str_part(dtype, 2, dtype.size), &length) || length > INT32_MAX / 4)
        return refs_fail(err, REFS_UNSUPPORTED, "\"%.*s\" is not a type of strings",
                         REFS_STR_ARG(dtype));
    type->kind = code == 'S' ? REFS_ELEMENT_BYTES : REFS_ELEMENT_UNICODE;
    type->size = (size_t)length * (code == 'S' ? 1 : 4);
    type->number = code_point;
    type->number.swapped = (order == '>') == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return REFS_OK;
}

/* -- framing ----------------------------------------------------------------------------------- */

static void store_le32(uint32_t number, uint8_t *at) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(number >> 8 * i);
}

refs_status refs_codec__elements_begin(refs_element_writer *writer, refs_error *err) {
    uint8_t *count;
    writer->n = 0;
    if (writer->type->kind != REFS_ELEMENT_OBJECT) return REFS_OK;
    return refs_codec__output_add(writer->output, 4, &count, err);
}

void refs_codec__elements_end(const refs_element_writer *writer) {
    if (writer->type->kind == REFS_ELEMENT_OBJECT) store_le32(writer->n, writer->output->data);
}

static refs_status add_element(refs_element_writer *writer, size_t size, uint8_t **at,
                               refs_error *err) {
    if (writer->n == UINT32_MAX || size > UINT32_MAX)
        return refs_fail(err, REFS_LIMIT, "too many elements, or too long ones");
    writer->n++;
    return refs_codec__output_add(writer->output, size, at, err);
}

/* -- strings --------------------------------------------------------------------------------- */

static refs_status put_object(refs_element_writer *writer, refs_str text, refs_error *err) {
    uint8_t *at;
    REFS_TRY(add_element(writer, 4, &at, err));
    if (text.size > UINT32_MAX) return refs_fail(err, REFS_LIMIT, "a string is too long");
    store_le32((uint32_t)text.size, at);
    REFS_TRY(refs_codec__output_add(writer->output, text.size, &at, err));
    if (text.size > 0) memcpy(at, text.data, text.size);
    return REFS_OK;
}

static refs_status put_unicode(const refs_element_writer *writer, refs_str text, uint8_t *at,
                               refs_error *err) {
    size_t n = writer->type->size / 4;
    for (size_t i = 0; i < n && text.size > 0; i++) {
        uint32_t point;
        if (!refs_utf8_take(&text, &point))
            return refs_fail(err, REFS_CORRUPT, "a string is not UTF-8");
        refs_codec__store_uint(&writer->type->number, point, at + 4 * i);
    }
    if (text.size == 0) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "a string has more than %zu characters", n);
}

refs_status refs_codec__put_text(refs_element_writer *writer, refs_str text, refs_error *err) {
    const refs_element_type *type = writer->type;
    uint8_t *at;
    if (type->kind == REFS_ELEMENT_OBJECT) return put_object(writer, text, err);
    if (type->kind == REFS_ELEMENT_NUMBER)
        return refs_fail(err, REFS_CORRUPT, "expected numbers, found a string");
    REFS_TRY(add_element(writer, type->size, &at, err));
    memset(at, 0, type->size);
    if (type->kind == REFS_ELEMENT_UNICODE) return put_unicode(writer, text, at, err);
    if (text.size > type->size)
        return refs_fail(err, REFS_CORRUPT, "a string has %zu bytes, more than %zu", text.size,
                         type->size);
    if (text.size > 0) memcpy(at, text.data, text.size);
    return REFS_OK;
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* Writes an integer, as text or float if elements are these; `number` is its value as a double. */
static refs_status put_integer(refs_element_writer *writer, uint64_t bits, double number,
                               const char *printed, refs_error *err) {
    const refs_element_type *type = writer->type;
    uint8_t *at;
    if (type->kind != REFS_ELEMENT_NUMBER)
        return refs_codec__put_text(writer, refs_str_from(printed), err);
    REFS_TRY(add_element(writer, type->size, &at, err));
    if (type->number.kind == REFS_NUMBER_FLOAT)
        refs_codec__store_double(&type->number, number, at);
    else
        refs_codec__store_uint(&type->number, bits, at);
    return REFS_OK;
}

refs_status refs_codec__put_int(refs_element_writer *writer, int64_t number, refs_error *err) {
    char printed[24];
    snprintf(printed, sizeof printed, "%" PRId64, number);
    return put_integer(writer, (uint64_t)number, (double)number, printed, err);
}

refs_status refs_codec__put_uint(refs_element_writer *writer, uint64_t number, refs_error *err) {
    char printed[24];
    snprintf(printed, sizeof printed, "%" PRIu64, number);
    return put_integer(writer, number, (double)number, printed, err);
}

/* With as many digits as the number needs. */
static void print_double(double number, char *printed, size_t size) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(printed, size, "%.*g", digits, number);
        if (isnan(number) || refs_json_number_to_double(refs_str_from(printed)) == number) return;
    }
}

refs_status refs_codec__put_double(refs_element_writer *writer, double number, refs_error *err) {
    char printed[40];
    uint8_t *at;
    if (writer->type->kind != REFS_ELEMENT_NUMBER) {
        print_double(number, printed, sizeof printed);
        return refs_codec__put_text(writer, refs_str_from(printed), err);
    }
    REFS_TRY(add_element(writer, writer->type->size, &at, err));
    refs_codec__store_double(&writer->type->number, number, at);
    return REFS_OK;
}
