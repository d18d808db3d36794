/* numbers.c -- see numbers.h. */
#include "numbers.h"

#include <math.h>

#include "refs/half.h"

/* -- types ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    char code[3];
} type_names[] = {{"bool", "b1"},   {"int8", "i1"},    {"int16", "i2"},   {"int32", "i4"},
                  {"int64", "i8"},  {"uint8", "u1"},   {"uint16", "u2"},  {"uint32", "u4"},
                  {"uint64", "u8"}, {"float16", "f2"}, {"float32", "f4"}, {"float64", "f8"}};

/* Finds a type by its name, or by its code without byte order, such as "f4". */
static bool find_type(refs_str text, refs_number_type *type) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        const char *code = type_names[i].code;
        if (!refs_str_is(text, type_names[i].name) && !refs_str_is(text, code)) continue;
        type->kind = code[0] == 'f'   ? REFS_NUMBER_FLOAT
                     : code[0] == 'i' ? REFS_NUMBER_INT
                                      : REFS_NUMBER_UINT;
        type->size = (size_t)(code[1] - '0');
        return true;
    }
    return false;
}

refs_status refs_codec__number_parse(refs_str text, refs_number_type *type, refs_error *err) {
    char order = text.size > 0 ? text.data[0] : '\0';
    bool has_order = order != '\0' && strchr("<>=|", order) != NULL;
    if (!find_type(refs_str_part(text, has_order ? 1 : 0, text.size), type))
        return refs_fail(err, REFS_UNSUPPORTED, "\"%.*s\" is not a type of numbers",
                         REFS_STR_ARG(text));
    type->swapped = (order == '>') == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return REFS_OK;
}

double refs_codec__round(const refs_number_type *type, double number) {
    if (type->kind != REFS_NUMBER_FLOAT || type->size == 8) return number;
    if (type->size == 4) return (double)(float)number;
    return refs_half_to_double(refs_half_from_double(number));
}

/* -- bits -------------------------------------------------------------------------------------- */

static inline uint8_t swap_8(uint8_t bits) {
    return bits;
}

#define swap_16 __builtin_bswap16
#define swap_32 __builtin_bswap32
#define swap_64 __builtin_bswap64

#define DEFINE_BITS(width)                                                                         \
    static void load_##width(bool swapped, const uint8_t *src, size_t n, uint64_t *bits) {         \
        for (size_t i = 0; i < n; i++) {                                                           \
            uint##width##_t one;                                                                   \
            memcpy(&one, src + i * sizeof one, sizeof one);                                        \
            bits[i] = swapped ? swap_##width(one) : one;                                           \
        }                                                                                          \
    }                                                                                              \
    static void store_##width(bool swapped, const uint64_t *bits, size_t n, uint8_t *dst) {        \
        for (size_t i = 0; i < n; i++) {                                                           \
            uint##width##_t one = (uint##width##_t)bits[i];                                        \
            if (swapped) one = swap_##width(one);                                                  \
            memcpy(dst + i * sizeof one, &one, sizeof one);                                        \
        }                                                                                          \
    }

DEFINE_BITS(8)
DEFINE_BITS(16)
DEFINE_BITS(32)
DEFINE_BITS(64)

typedef void (*load_bits)(bool swapped, const uint8_t *src, size_t n, uint64_t *bits);
typedef void (*store_bits)(bool swapped, const uint64_t *bits, size_t n, uint8_t *dst);

static const load_bits loads[] = {[1] = load_8, [2] = load_16, [4] = load_32, [8] = load_64};
static const store_bits stores[] = {[1] = store_8, [2] = store_16, [4] = store_32, [8] = store_64};

/* -- numbers from bits and back ---------------------------------------------------------------- */

static int64_t sign_extend(uint64_t bits, size_t size) {
    unsigned unused = 64 - 8 * (unsigned)size;
    return (int64_t)(bits << unused) >> unused;
}

static double float_from_bits(uint64_t bits, size_t size) {
    if (size == 2) return refs_half_to_double((uint16_t)bits);
    if (size == 4) {
        uint32_t half = (uint32_t)bits;
        float number;
        memcpy(&number, &half, sizeof number);
        return (double)number;
    }
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint64_t bits_from_float(double number, size_t size) {
    if (size == 2) return refs_half_from_double(number);
    if (size == 4) {
        float narrow = (float)number;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return bits;
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Truncates; NaN is zero, and numbers out of range become the nearest limit. */
static uint64_t int_from_double(const refs_number_type *type, double number) {
    int n_bits = 8 * (int)type->size;
    if (type->kind == REFS_NUMBER_UINT) {
        if (!(number > 0)) return 0;
        return number < ldexp(1, n_bits) ? (uint64_t)number : UINT64_MAX >> (64 - n_bits);
    }
    double end = ldexp(1, n_bits - 1);
    if (isnan(number)) return 0;
    if (number >= end) return UINT64_MAX >> (65 - n_bits);
    return number > -end ? (uint64_t)(int64_t)number : UINT64_MAX << (n_bits - 1);
}

static uint64_t bits_from_double(const refs_number_type *type, double number) {
    return type->kind == REFS_NUMBER_FLOAT ? bits_from_float(number, type->size)
                                           : int_from_double(type, number);
}

void refs_codec__store_uint(const refs_number_type *type, uint64_t number, uint8_t *at) {
    stores[type->size](type->swapped, &number, 1, at);
}

void refs_codec__store_double(const refs_number_type *type, double number, uint8_t *at) {
    refs_codec__store_uint(type, bits_from_double(type, number), at);
}

/* -- blocks ------------------------------------------------------------------------------------ */

static size_t take_bits(refs_recast_pass *pass, uint64_t *bits) {
    const refs_number_type *type = &pass->types->encoded;
    size_t n = pass->n_left < REFS_NUMBER_BLOCK ? pass->n_left : REFS_NUMBER_BLOCK;
    loads[type->size](type->swapped, pass->src, n, bits);
    pass->src += n * type->size;
    pass->n_left -= n;
    return n;
}

static void put_bits(refs_recast_pass *pass, const uint64_t *bits, size_t n) {
    const refs_number_type *type = &pass->types->decoded;
    stores[type->size](type->swapped, bits, n, pass->dst);
    pass->dst += n * type->size;
}

size_t refs_codec__take_ints(refs_recast_pass *pass, uint64_t *numbers) {
    static const refs_number_type widest = {REFS_NUMBER_INT, 8, false};
    const refs_number_type *type = &pass->types->encoded;
    size_t n = take_bits(pass, numbers);
    for (size_t i = 0; i < n; i++) {
        if (type->kind == REFS_NUMBER_INT)
            numbers[i] = (uint64_t)sign_extend(numbers[i], type->size);
        else if (type->kind == REFS_NUMBER_FLOAT)
            numbers[i] = int_from_double(&widest, float_from_bits(numbers[i], type->size));
    }
    return n;
}

size_t refs_codec__take_doubles(refs_recast_pass *pass, double *numbers) {
    const refs_number_type *type = &pass->types->encoded;
    uint64_t bits[REFS_NUMBER_BLOCK];
    size_t n = take_bits(pass, bits);
    for (size_t i = 0; i < n; i++) {
        if (type->kind == REFS_NUMBER_FLOAT)
            numbers[i] = float_from_bits(bits[i], type->size);
        else if (type->kind == REFS_NUMBER_UINT)
            numbers[i] = (double)bits[i];
        else
            numbers[i] = (double)sign_extend(bits[i], type->size);
    }
    return n;
}

void refs_codec__put_ints(refs_recast_pass *pass, const uint64_t *numbers, size_t n) {
    put_bits(pass, numbers, n);
}

void refs_codec__put_doubles(refs_recast_pass *pass, const double *numbers, size_t n) {
    const refs_number_type *type = &pass->types->decoded;
    uint64_t bits[REFS_NUMBER_BLOCK];
    for (size_t i = 0; i < n; i++) bits[i] = bits_from_double(type, numbers[i]);
    put_bits(pass, bits, n);
}
