/* record.c -- see record.h. */
#include "record.h"

#include "numbers.h"

/* Kinds that are not numbers, and the bytes that their length counts. */
static const struct {
    char code;
    size_t unit;
} kinds[] = {{'S', 1}, {'a', 1}, {'V', 1}, {'U', 4}, {'c', 1}, {'M', 1}, {'m', 1}};

static refs_status type_size(refs_str type, size_t *size, refs_error *err) {
    refs_number_type number;
    uint64_t length;
    if (refs_codec__number_parse(type, &number, NULL) == REFS_OK) {
        *size = number.size;
        return REFS_OK;
    }
    bool has_order = type.size > 0 && type.data[0] != '\0' && strchr("<>|=", type.data[0]) != NULL;
    refs_str bare = refs_str_part(type, has_order ? 1 : 0, refs_str_find(type, '['));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (bare.size < 2 || bare.data[0] != kinds[i].code ||
            !refs_str_to_u64(refs_str_part(bare, 1, bare.size), &length) ||
            length > INT32_MAX / kinds[i].unit)
            continue;
        *size = (size_t)length * kinds[i].unit;
        return REFS_OK;
    }
    return refs_fail(err, REFS_UNSUPPORTED, "\"%.*s\" is not a type of fixed size",
                     REFS_STR_ARG(type));
}

static refs_status multiply(size_t *size, const refs_json *count, refs_error *err) {
    uint64_t n;
    if (!refs_json_u64(count, &n) || n > INT32_MAX || !refs_mul_size(*size, (size_t)n, size))
        return refs_fail(err, REFS_INVALID, "the shape of a field: expected a list of sizes");
    return REFS_OK;
}

static refs_status field_size(const refs_json *field, size_t *size, refs_error *err) {
    const refs_json *type = refs_json_at(field, 1), *shape = refs_json_at(field, 2);
    size_t end = 0;
    if (refs_json_is_array(type)) {
        refs_field inner;
        for (size_t i = 0; i < refs_json_size(type); i++)
            REFS_TRY(refs_codec__read_field(type, i, &end, &inner, err));
        *size = end;
    } else {
        REFS_TRY(type_size(refs_json_text(type), size, err));
    }
    if (refs_json_is_number(shape)) return multiply(size, shape, err);
    for (size_t i = 0; i < refs_json_size(shape); i++)
        REFS_TRY(multiply(size, refs_json_at(shape, i), err));
    return REFS_OK;
}

refs_status refs_codec__read_field(const refs_json *fields, size_t i, size_t *end,
                                   refs_field *field, refs_error *err) {
    const refs_json *given = refs_json_at(fields, i);
    if (!refs_json_is_array(given) || refs_json_size(given) < 2)
        return refs_fail(err, REFS_INVALID, "field %zu: expected a list of name and type", i);
    field->name = refs_json_text(refs_json_at(given, 0));
    field->type = refs_json_text(refs_json_at(given, 1));
    field->begin = *end;
    REFS_TRY(field_size(given, &field->size, err));
    if (refs_add_size(*end, field->size, end) && *end <= INT32_MAX) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "the records are too large");
}
