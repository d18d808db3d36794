/* nbit.c -- codec "hdf5_nbit": HDF5's filter 5: only the significant bits of numbers, packed,
 * highest first; padding bits are decoded as zeros.
 *
 * The filter's parameters describe an element: numbers (size, byte order, number of bits, lowest
 * bit), arrays and structures of them, and opaque bytes.
 *
 * Source: HDF5 File Format Specification, IV.A.2.l, and what HDF5 1.10 writes.
 */
#include "output.h"

enum { MAX_PARAMETERS = 4096, MAX_LEVELS = 16, FIRST = 3 };
enum { ATOMIC = 1, ARRAY, COMPOUND, BYTES };

typedef struct nbit {
    uint32_t n;
    uint32_t n_elements;
    uint32_t size; /* bytes of an element */
    uint64_t bits; /* stored bits of it */
    uint32_t parameters[MAX_PARAMETERS];
} nbit;

/* -- parameters -------------------------------------------------------------------------------- */

/* A position in the parameters, and the element described there. */
typedef struct description {
    const nbit *self;
    uint32_t at;
    uint32_t level;
} description;

static uint32_t next(description *from) {
    return from->at < from->self->n ? from->self->parameters[from->at++] : 0;
}

/* Sets the bytes of the described element, and the number of stored bits. */
static refs_status measure(description *from, uint32_t *size, uint64_t *bits, refs_error *err);

static refs_status measure_array(description *from, uint32_t size, uint64_t *bits,
                                 refs_error *err) {
    uint32_t base;
    REFS_TRY(measure(from, &base, bits, err));
    if (size % base == 0) {
        *bits *= size / base;
        return REFS_OK;
    }
    return refs_fail(err, REFS_INVALID, "an array of %u bytes: expected whole elements of %u bytes",
                     size, base);
}

static refs_status measure_compound(description *from, uint32_t size, uint64_t *bits,
                                    refs_error *err) {
    uint32_t n = next(from);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = next(from), member;
        uint64_t member_bits;
        REFS_TRY(measure(from, &member, &member_bits, err));
        if (member > size || at > size - member)
            return refs_fail(err, REFS_INVALID, "member %u is outside its structure", i);
        *bits += member_bits;
        if (*bits > 8 * (uint64_t)size)
            return refs_fail(err, REFS_INVALID, "members of a structure overlap");
    }
    return REFS_OK;
}

static refs_status measure(description *from, uint32_t *size, uint64_t *bits, refs_error *err) {
    uint32_t class = next(from);
    *size = next(from);
    *bits = 8 * (uint64_t)*size;
    if (*size == 0 || ++from->level > MAX_LEVELS)
        return refs_fail(err, REFS_INVALID, "the parameters do not fit this filter");
    if (class == ARRAY) {
        REFS_TRY(measure_array(from, *size, bits, err));
    } else if (class == COMPOUND) {
        *bits = 0;
        REFS_TRY(measure_compound(from, *size, bits, err));
    } else if (class == ATOMIC) {
        uint32_t order = next(from), n = next(from), offset = next(from);
        if (order > 1 || n == 0 || n > *bits || offset > *bits - n)
            return refs_fail(
                err, REFS_INVALID,
                "expected bits inside a number of %u bytes, found %u bits from bit %u on", *size, n,
                offset);
        *bits = n;
    } else if (class != BYTES) {
        return refs_fail(err, REFS_INVALID, "class %u", class);
    }
    from->level--;
    return REFS_OK;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_json *list = refs_json_get(context->config, "parameters");
    nbit *opened = refs_calloc(1, sizeof *opened);
    (void)encoded_size;
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    if (refs_json_size(list) < FIRST || refs_json_size(list) > MAX_PARAMETERS)
        return refs_fail(err, REFS_INVALID, "the parameters do not fit this filter");
    opened->n = (uint32_t)refs_json_size(list);
    for (size_t i = 0; i < opened->n; i++) {
        uint64_t number;
        if (!refs_json_u64(refs_json_at(list, i), &number) || number > UINT32_MAX)
            return refs_fail(err, REFS_INVALID, "parameter %zu is not a number of 32 bits", i);
        opened->parameters[i] = (uint32_t)number;
    }
    opened->n_elements = opened->parameters[2];
    description from = {opened, FIRST, 0};
    return measure(&from, &opened->size, &opened->bits, err);
}

/* -- decoding ---------------------------------------------------------------------------------- */

typedef struct bit_reader {
    const uint8_t *bytes;
    uint64_t at;
} bit_reader;

/* The next `n` bits, at most 8. */
static unsigned take_bits(bit_reader *reader, unsigned n) {
    const uint8_t *byte = reader->bytes + reader->at / 8;
    unsigned used = (unsigned)(reader->at % 8), word = (unsigned)byte[0] << 8;
    if (used + n > 8) word |= byte[1];
    reader->at += n;
    return word >> (16 - used - n) & ((1u << n) - 1);
}

static void take_atomic(description *from, uint32_t size, bit_reader *reader, uint8_t *dst) {
    bool is_big_endian = next(from) == 1;
    uint32_t n = next(from), low = next(from), end = low + n;
    while (end > low) {
        uint32_t byte = (end - 1) / 8, first = 8 * byte > low ? 8 * byte : low;
        dst[is_big_endian ? size - 1 - byte : byte] |=
            (uint8_t)(take_bits(reader, end - first) << (first - 8 * byte));
        end = first;
    }
}

/* Decodes the element described next to `dst`, which must be zeroed. */
static void take_element(description *from, bit_reader *reader, uint8_t *dst) {
    uint32_t class = next(from), size = next(from);
    if (class == ATOMIC) {
        take_atomic(from, size, reader, dst);
    } else if (class == BYTES) {
        for (uint32_t i = 0; i < size; i++) dst[i] = (uint8_t)take_bits(reader, 8);
    } else if (class == ARRAY) {
        uint32_t first = from->at, base = from->self->parameters[first + 1];
        for (uint32_t i = 0; i < size; i += base) {
            from->at = first;
            take_element(from, reader, dst + i);
        }
    } else {
        uint32_t n = next(from);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = next(from);
            take_element(from, reader, dst + at);
        }
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const nbit *codec = self;
    size_t n = codec->n_elements, size;
    uint64_t bits;
    if (!refs_mul_u64(n, codec->bits, &bits) || bits / 8 + (bits % 8 != 0) > encoded.size)
        return refs_fail(err, REFS_CORRUPT, "%zu elements of %llu bits are not in %zu bytes", n,
                         (unsigned long long)codec->bits, encoded.size);
    if (!refs_mul_size(n, codec->size, &size))
        return refs_fail(err, REFS_LIMIT, "%zu elements are too many", n);
    uint8_t *dst;
    REFS_TRY(refs_codec__output_add(output, size, &dst, err));
    memset(dst, 0, size);
    bit_reader reader = {encoded.data, 0};
    for (size_t i = 0; i < n; i++, dst += codec->size) {
        description from = {codec, FIRST, 0};
        take_element(&from, &reader, dst);
    }
    return REFS_OK;
}

const refs_codec_type refs_codec_nbit = {
    .name = "hdf5_nbit",
    .reads = "HDF5 filter 5: the significant bits of numbers, packed",
    .library = "REFS",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
