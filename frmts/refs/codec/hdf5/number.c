/* number.c -- codec "hdf5_number": converts integers with padding bits, and floats of any layout,
 * to the array's type.
 *
 * The configuration is the layout of a number (bit_number.h). Floats with a higher precision than
 * the array's are rounded; one that overflows to infinity is an error.
 */
#include "numbers.h"
#include "refs/bit_number.h"

typedef struct number_codec {
    refs_bit_number stored;
    refs_recast types; /* the encoded type only has a size */
} number_codec;

static refs_status read_kind(const refs_json *config, refs_bit_number *stored, refs_error *err) {
    const refs_str kind = refs_json_text(refs_json_get(config, "kind"));
    const refs_str order = refs_json_text(refs_json_get(config, "order"));
    if (!refs_str_is(kind, "i") && !refs_str_is(kind, "u") && !refs_str_is(kind, "f"))
        return refs_fail(err, REFS_INVALID, "kind: expected i, u or f, found \"%.*s\"",
                         REFS_STR_ARG(kind));
    if (!refs_str_is(order, "<") && !refs_str_is(order, ">"))
        return refs_fail(err, REFS_INVALID, "order: expected < or >, found \"%.*s\"",
                         REFS_STR_ARG(order));
    stored->kind = refs_str_is(kind, "i")   ? REFS_BIT_SIGNED
                   : refs_str_is(kind, "u") ? REFS_BIT_UNSIGNED
                                            : REFS_BIT_FLOAT;
    stored->is_big_endian = refs_str_is(order, ">");
    const refs_json *implied = refs_json_get(config, "implied");
    return implied == NULL || refs_json_bool(implied, &stored->is_leading_implied)
               ? REFS_OK
               : refs_fail(err, REFS_INVALID, "implied: expected true or false");
}

static refs_status read_places(const refs_json *config, refs_bit_number *stored, refs_error *err) {
    const struct {
        const char *name;
        uint32_t *value;
        bool is_float;
    } members[] = {
        {"size", &stored->size, false},        {"offset", &stored->offset, false},
        {"bits", &stored->bits, false},        {"sign", &stored->sign, true},
        {"exponent", &stored->exponent, true}, {"exponent_bits", &stored->exponent_bits, true},
        {"mantissa", &stored->mantissa, true}, {"mantissa_bits", &stored->mantissa_bits, true},
        {"bias", &stored->bias, true}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        uint64_t value;
        if (i > 0 && members[i].is_float != (stored->kind == REFS_BIT_FLOAT)) continue;
        if (!refs_json_u64(refs_json_get(config, members[i].name), &value) || value > UINT32_MAX)
            return refs_fail(err, REFS_INVALID, "%s: expected a number", members[i].name);
        *members[i].value = (uint32_t)value;
    }
    if (stored->size > 0 && refs_bit_number_is_readable(stored)) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "the layout of bits in numbers of %u bytes is not supported", stored->size);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    number_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    refs_number_type *type = &opened->types.decoded;
    REFS_TRY(refs_codec__number_parse(refs_str_from(context->array->dtype), type, err));
    REFS_TRY(read_kind(context->config, &opened->stored, err));
    REFS_TRY(read_places(context->config, &opened->stored, err));
    bool is_float = opened->stored.kind == REFS_BIT_FLOAT;
    if (is_float != (type->kind == REFS_NUMBER_FLOAT))
        return refs_fail(err, REFS_INVALID, "%s numbers are not of the array's type %s",
                         is_float ? "floating-point" : "whole", context->array->dtype);
    opened->types.encoded.size = opened->stored.size;
    if (context->decoded_size % type->size != 0 ||
        !refs_mul_size(context->decoded_size / type->size, opened->stored.size, encoded_size))
        return refs_fail(err, REFS_INVALID, "a chunk of %zu bytes", context->decoded_size);
    return REFS_OK;
}

static refs_status put_floats(const refs_bit_number *stored, refs_recast_pass *pass, size_t n,
                              refs_error *err) {
    double numbers[REFS_NUMBER_BLOCK];
    for (size_t i = 0; i < n; i++, pass->src += stored->size)
        if (!refs_bit_number_float(stored, pass->src, &numbers[i]))
            return refs_fail(err, REFS_CORRUPT, "a number exceeds the range of double");
    refs_codec__put_doubles(pass, numbers, n);
    return REFS_OK;
}

static void put_integers(const refs_bit_number *stored, refs_recast_pass *pass, size_t n) {
    uint64_t numbers[REFS_NUMBER_BLOCK];
    for (size_t i = 0; i < n; i++, pass->src += stored->size)
        numbers[i] = refs_bit_number_integer(stored, pass->src);
    refs_codec__put_ints(pass, numbers, n);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const number_codec *codec = self;
    refs_recast_pass pass;
    REFS_TRY(refs_codec__recast_begin(&codec->types, encoded, output, &pass, err));
    for (size_t n; pass.n_left > 0; pass.n_left -= n) {
        n = pass.n_left < REFS_NUMBER_BLOCK ? pass.n_left : REFS_NUMBER_BLOCK;
        if (codec->stored.kind == REFS_BIT_FLOAT)
            REFS_TRY(put_floats(&codec->stored, &pass, n, err));
        else
            put_integers(&codec->stored, &pass, n);
    }
    return REFS_OK;
}

const refs_codec_type refs_codec_number = {
    .name = "hdf5_number",
    .reads = "HDF5 numbers with padding bits, and floats of any layout",
    .library = "REFS",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
