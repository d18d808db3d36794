/* scaleoffset.c -- codec "hdf5_scaleoffset": HDF5's filter 6: the offsets of numbers from their
 * minimum, in as few bits as possible; floats are first multiplied by a power of ten and rounded.
 *
 * A chunk has the number of bits (4 bytes), the size of the minimum (1), the minimum (8), eight
 * unused bytes, and the offsets, highest bits first. If the number of bits is that of an element,
 * the elements are stored unchanged.
 *
 * Source: HDF5 File Format Specification, IV.A.2.l, and what HDF5 1.10 writes.
 */
#include <math.h>

#include "output.h"

#define HEADER_SIZE 21

enum {
    TYPE,
    FACTOR,
    N_ELEMENTS,
    CLASS,
    SIZE,
    SIGN,
    ORDER,
    HAS_FILL,
    FILL,
    N_PARAMETERS = FILL + 2
};

typedef struct scaleoffset {
    uint32_t parameters[N_PARAMETERS]; /* the filter's, as HDF5 stores them */
} scaleoffset;

static refs_status check(const uint32_t *parameters, refs_error *err) {
    uint32_t size = parameters[SIZE];
    bool is_float = parameters[CLASS] == 1;
    if (parameters[CLASS] > 1 || (is_float && parameters[TYPE] != 0))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "numbers of HDF5's class %u with scale type %u are not supported",
                         parameters[CLASS], parameters[TYPE]);
    if (size == 4 || size == 8 || (!is_float && (size == 1 || size == 2))) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "elements of %u bytes", size);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_json *list = refs_json_get(context->config, "parameters");
    scaleoffset *opened = refs_calloc(1, sizeof *opened);
    (void)encoded_size;
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    if (refs_json_size(list) < FILL)
        return refs_fail(err, REFS_INVALID, "the parameters do not fit this filter");
    for (size_t i = 0; i < N_PARAMETERS && i < refs_json_size(list); i++) {
        uint64_t number;
        if (!refs_json_u64(refs_json_at(list, i), &number) || number > UINT32_MAX)
            return refs_fail(err, REFS_INVALID, "parameter %zu is not a number of 32 bits", i);
        opened->parameters[i] = (uint32_t)number;
    }
    return check(opened->parameters, err);
}

/* The next `n_bits`, at most 64, from bit *at on. */
static uint64_t take_bits(const uint8_t *bytes, size_t *at, unsigned n_bits) {
    uint64_t number = 0;
    while (n_bits > 0) {
        unsigned left = 8 - *at % 8, n = n_bits < left ? n_bits : left;
        unsigned byte = bytes[*at / 8];
        number = number << n | (byte >> (left - n) & ((1u << n) - 1));
        *at += n;
        n_bits -= n;
    }
    return number;
}

static void store(uint64_t number, uint8_t *bytes, const uint32_t *parameters) {
    size_t size = parameters[SIZE];
    for (size_t i = 0; i < size; i++, number >>= 8)
        bytes[parameters[ORDER] == 1 ? size - 1 - i : i] = (uint8_t)number;
}

/* Computed in the element type, as in HDF5. */
static uint64_t unscale(uint64_t number, uint64_t least, const uint32_t *parameters) {
    double power = pow(10.0, (int32_t)parameters[FACTOR]);
    if (parameters[SIZE] == 4) {
        uint32_t bits = (uint32_t)least;
        float value;
        memcpy(&value, &bits, sizeof value);
        value = (float)(int32_t)number / (float)power + value;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    double value;
    memcpy(&value, &least, sizeof value);
    value = (double)(int64_t)number / power + value;
    memcpy(&number, &value, sizeof number);
    return number;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const uint32_t *parameters = ((const scaleoffset *)self)->parameters;
    size_t size = parameters[SIZE], n = parameters[N_ELEMENTS], bits_needed, decoded_size;
    if (encoded.size < HEADER_SIZE)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for a header", encoded.size);
    uint32_t n_bits = refs_load_le32(encoded.data);
    size_t least_size = encoded.data[4] < 8 ? encoded.data[4] : 8;
    uint64_t least = refs_load_le(encoded.data + 5, least_size);
    refs_bytes packed = refs_bytes_view(encoded.data + HEADER_SIZE, encoded.size - HEADER_SIZE);
    if (n_bits > 8 * size || !refs_mul_size(n, n_bits, &bits_needed) ||
        !refs_mul_size(n, size, &decoded_size) ||
        bits_needed / 8 + (bits_needed % 8 != 0) > packed.size)
        return refs_fail(err, REFS_CORRUPT, "%zu numbers of %u bits are not in %zu bytes", n,
                         n_bits, packed.size);
    uint8_t *dst;
    REFS_TRY(refs_codec__output_add(output, decoded_size, &dst, err));
    bool is_whole = n_bits == 8 * size;
    uint64_t most = is_whole ? UINT64_MAX : (UINT64_C(1) << n_bits) - 1;
    uint64_t fill = (uint64_t)parameters[FILL + 1] << 32 | parameters[FILL];
    for (size_t i = 0, at = 0; i < n; i++, dst += size) {
        uint64_t number = is_whole ? refs_load_le(packed.data + i * size, size)
                                   : take_bits(packed.data, &at, n_bits);
        if (!is_whole && parameters[HAS_FILL] != 0 && number == most)
            number = fill;
        else if (!is_whole)
            number = parameters[CLASS] == 1 ? unscale(number, least, parameters) : number + least;
        store(number, dst, parameters);
    }
    return REFS_OK;
}

const refs_codec_type refs_codec_scaleoffset = {
    .name = "hdf5_scaleoffset",
    .reads = "HDF5 filter 6: offsets from the minimum, in as few bits as possible",
    .library = "REFS",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
