/* fill_value.c -- a fill value of the metadata as one element, see zarr.h.
 *
 * Sources: Zarr v2 specification, "Fill value encoding"; Zarr v3 core specification, "Fill value";
 * and the deviations of writers of reference sets. */
#include <math.h>

#include "refs/half.h"
#include "refs/zarr.h"

/* A parser returns REFS_INVALID, without a message, for unknown values; `fill` is zeroed before. */
typedef refs_status (*parser)(const refs_json *value, const refs_dtype *dtype, uint8_t *fill);

static refs_status valid_if(bool valid) {
    return valid ? REFS_OK : REFS_INVALID;
}

/* -- elements from bits ------------------------------------------------------------------------ */

static void put_float(double number, size_t size, uint8_t *fill) {
    float narrow = (float)number;
    uint16_t half = refs_half_from_double(number);
    const void *element = size == 2 ? (void *)&half : size == 4 ? (void *)&narrow : (void *)&number;
    memcpy(fill, element, size);
}

/* -- strings that stand for numbers ------------------------------------------------------------ */

static bool parse_hex(refs_str text, size_t size, uint8_t *fill) {
    uint64_t bits = 0;
    size_t n_digits = text.size - 2;
    if (n_digits == 0 || n_digits > 2 * size || size > 8) return false;
    for (size_t i = 2; i < text.size; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = text.data[i] != '\0' ? strchr(digits, text.data[i]) : NULL;
        if (digit == NULL) return false;
        unsigned value = (unsigned)(digit - digits);
        bits = bits << 4 | (value < 16 ? value : value - 6);
    }
    refs_store_native(fill, size, bits);
    return true;
}

static refs_status decode_base64(refs_str text, refs_buf *bytes) {
    refs_status status = refs_base64_decode(text, bytes, NULL);
    return status == REFS_CORRUPT ? REFS_INVALID : status;
}

/* Parses the base64 of a whole element, little-endian. Writers pad base64, so "NaN" is not one. */
static refs_status parse_base64_number(refs_str text, const refs_dtype *dtype, uint8_t *fill) {
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    size_t unit = refs_dtype_swap_size(dtype);
    if (text.size % 4 != 0) return REFS_INVALID;
    REFS_TRY(decode_base64(text, &bytes));
    REFS_TRY(valid_if(bytes.size == dtype->size));
    for (size_t at = 0; at < bytes.size; at += unit)
        refs_store_native(fill + at, unit, refs_load_le(bytes.data + at, unit));
    return REFS_OK;
}

static refs_status parse_encoded_number(refs_str text, const refs_dtype *dtype, uint8_t *fill) {
    if (refs_str_starts(text, "0x")) return valid_if(parse_hex(text, dtype->size, fill));
    return parse_base64_number(text, dtype, fill);
}

static bool parse_float_name(refs_str text, double *number) {
    static const struct {
        const char *name;
        double number;
    } names[] = {{"NaN", (double)NAN}, {"nan", (double)NAN},     {"Infinity", HUGE_VAL},
                 {"inf", HUGE_VAL},    {"-Infinity", -HUGE_VAL}, {"-inf", -HUGE_VAL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!refs_str_is(text, names[i].name)) continue;
        *number = names[i].number;
        return true;
    }
    return false;
}

/* -- one parser per type ----------------------------------------------------------------------- */

/* Accepts numbers in the range of the size, signed or unsigned, because writers disagree about 255
 * and -1 of one byte. */
static refs_status parse_integer(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    unsigned n_unused = 64 - 8 * (unsigned)dtype->size;
    int64_t number;
    uint64_t bits;
    bool truth;
    if (refs_json_is_string(value)) return parse_encoded_number(refs_json_text(value), dtype, fill);
    if (refs_json_bool(value, &truth)) {
        bits = truth;
    } else if (refs_json_i64(value, &number) && number < 0) {
        if (number < INT64_MIN >> n_unused) return REFS_INVALID;
        bits = (uint64_t)number;
    } else if (!refs_json_u64(value, &bits) || bits > UINT64_MAX >> n_unused) {
        return REFS_INVALID;
    }
    refs_store_native(fill, dtype->size, bits);
    return REFS_OK;
}

static refs_status parse_ticks(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    bool not_a_time = refs_json_is_string(value) && refs_str_is(refs_json_text(value), "NaT");
    if (!not_a_time) return parse_integer(value, dtype, fill);
    refs_store_native(fill, dtype->size, (uint64_t)INT64_MIN);
    return REFS_OK;
}

static refs_status parse_boolean(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    REFS_TRY(parse_integer(value, dtype, fill));
    return valid_if(fill[0] <= 1);
}

static refs_status parse_float(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    double number;
    bool is_text = refs_json_is_string(value);
    if (is_text && !parse_float_name(refs_json_text(value), &number))
        return parse_encoded_number(refs_json_text(value), dtype, fill);
    if (!is_text && !refs_json_double(value, &number)) return REFS_INVALID;
    put_float(number, dtype->size, fill);
    return REFS_OK;
}

static refs_status parse_complex(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    double number;
    refs_dtype part = {.type = REFS_TYPE_FLOAT, .size = dtype->size / 2};
    bool is_text = refs_json_is_string(value);
    if (is_text && !parse_float_name(refs_json_text(value), &number))
        return parse_base64_number(refs_json_text(value), dtype, fill);
    if (!refs_json_is_array(value)) return parse_float(value, &part, fill);
    if (refs_json_size(value) != 2) return REFS_INVALID;
    REFS_TRY(parse_float(refs_json_at(value, 0), &part, fill));
    return parse_float(refs_json_at(value, 1), &part, fill + part.size);
}

/* Whether the value is the number 0, which means zero bytes in every type. */
static bool is_zero(const refs_json *value) {
    uint64_t number;
    return refs_json_u64(value, &number) && number == 0;
}

/* In v3, a structured value is an object with its fields, which is not supported. */
static refs_status parse_bytes(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    if (is_zero(value) || refs_json_is_object(value)) return REFS_OK;
    if (!refs_json_is_string(value)) return REFS_INVALID;
    REFS_SCOPED_BUF bytes = REFS_BUF_INIT;
    REFS_TRY(decode_base64(refs_json_text(value), &bytes));
    REFS_TRY(valid_if(bytes.size <= dtype->size));
    if (bytes.size > 0) memcpy(fill, bytes.data, bytes.size);
    return REFS_OK;
}

/* Moves *text on by one code point of UTF-8, which the JSON reader has checked. */
static uint32_t next_code_point(refs_str *text) {
    unsigned char first = (unsigned char)text->data[0];
    size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t point = size == 1 ? first : first & (0xffu >> (size + 1));
    for (size_t i = 1; i < size && i < text->size; i++)
        point = point << 6 | ((unsigned char)text->data[i] & 0x3f);
    *text = refs_str_part(*text, size, text->size);
    return point;
}

static refs_status parse_unicode(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    if (is_zero(value)) return REFS_OK;
    if (!refs_json_is_string(value)) return REFS_INVALID;
    refs_str text = refs_json_text(value);
    size_t at = 0;
    for (; text.size > 0 && at < dtype->size; at += 4) {
        uint32_t point = next_code_point(&text);
        memcpy(fill + at, &point, sizeof point);
    }
    return valid_if(text.size == 0);
}

/* Objects have no size, so no bytes are written. */
static refs_status parse_object(const refs_json *value, const refs_dtype *dtype, uint8_t *fill) {
    (void)dtype, (void)fill;
    return valid_if(refs_json_is_string(value) || is_zero(value));
}

static const parser parsers[] = {
    [REFS_TYPE_BOOL] = parse_boolean,    [REFS_TYPE_INT] = parse_integer,
    [REFS_TYPE_UINT] = parse_integer,    [REFS_TYPE_FLOAT] = parse_float,
    [REFS_TYPE_COMPLEX] = parse_complex, [REFS_TYPE_DATETIME] = parse_ticks,
    [REFS_TYPE_TIMEDELTA] = parse_ticks, [REFS_TYPE_BYTES] = parse_bytes,
    [REFS_TYPE_UNICODE] = parse_unicode, [REFS_TYPE_OBJECT] = parse_object,
    [REFS_TYPE_RAW] = parse_bytes,
};

static refs_status fail_with_value(const refs_json *value, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_json_write(value, &text, err));
    refs_str shown = refs_str_view((const char *)text.data, text.size < 60 ? text.size : 60);
    return refs_fail(err, REFS_INVALID, "fill_value %.*s%s does not fit the data type",
                     REFS_STR_ARG(shown), shown.size < text.size ? "..." : "");
}

refs_status refs_fill_value_parse(const refs_json *value, const refs_dtype *dtype, uint8_t *fill,
                                  bool *has_fill, refs_error *err) {
    if (dtype->size > 0) memset(fill, 0, dtype->size);
    *has_fill = refs_json_kind_of(value) != REFS_JSON_KIND_NULL;
    if (!*has_fill) return REFS_OK;
    refs_status status = parsers[dtype->type](value, dtype, fill);
    if (status == REFS_OK) return REFS_OK;
    *has_fill = false;
    return status == REFS_NOMEM ? refs_fail_nomem(err) : fail_with_value(value, err);
}
