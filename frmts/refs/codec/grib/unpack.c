/* unpack.c -- the values of a GRIB message, see message.h. */
#include <math.h>

#include "bits.h"
#include "message.h"
#include "refs/codec.h"

/* -- packings ---------------------------------------------------------------------------------- */

static refs_status data_cut(const refs_grib_message *message, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "%zu bytes do not hold %zu values", message->data.size,
                     message->n_values);
}

static double scaled(const refs_grib_message *message, double packed) {
    return (packed * message->binary_factor + message->reference) * message->decimal_factor;
}

static refs_status unpack_simple(const refs_grib_message *message, double *values,
                                 refs_error *err) {
    refs_bit_reader reader = {message->data, 0};
    for (size_t i = 0; i < message->n_values; i++) {
        uint32_t packed;
        if (!refs_codec__take_bits(&reader, message->n_bits, &packed))
            return data_cut(message, err);
        values[i] = scaled(message, (double)packed);
    }
    return REFS_OK;
}

static refs_status unpack_ieee(const refs_grib_message *message, double *values, refs_error *err) {
    unsigned precision = message->parameters.data[11];
    size_t size = precision == 1 ? 4 : 8;
    if (precision != 1 && precision != 2)
        return refs_fail(err, REFS_UNSUPPORTED, "floating-point precision %u is not supported",
                         precision);
    if (message->data.size / size < message->n_values) return data_cut(message, err);
    for (size_t i = 0; i < message->n_values; i++) {
        const uint8_t *at = message->data.data + i * size;
        uint64_t wide_bits = size == 8 ? refs_load_be64(at) : 0;
        uint32_t narrow_bits = refs_load_be32(at);
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        memcpy(&values[i], &wide_bits, sizeof *values);
        if (size == 4) values[i] = (double)narrow;
    }
    return REFS_OK;
}

static refs_status unpack_complex(const refs_grib_message *message, double *values,
                                  refs_error *err) {
    REFS_SCOPED int64_t *packed = refs_calloc(message->n_values, sizeof *packed);
    REFS_SCOPED bool *missing = refs_calloc(message->n_values, sizeof *missing);
    REFS_TRY(packed != NULL && missing != NULL
                 ? refs_codec__grib_complex(message, packed, missing, err)
                 : refs_fail_nomem(err));
    for (size_t i = 0; i < message->n_values; i++)
        values[i] = missing[i] ? (double)NAN : scaled(message, (double)packed[i]);
    return REFS_OK;
}

/* -- packings that other codecs know ----------------------------------------------------------- */

/* Most bytes of an image for each value, whatever size it declares. */
#define MAX_SAMPLE_BYTES 4

/* Decodes with one codec: each value gets *size bytes or, if that is 0, as many as the codec gives,
 * which sets *size. */
static refs_status undo_codec(const refs_grib_message *message, const refs_chain_step *step,
                              refs_buf *decoded, size_t *size, refs_error *err) {
    size_t n = message->n_values;
    refs_chain_spec spec = {
        .steps = step, .n_steps = 1, .dtype = "", .element_size = *size, .n_elements = n};
    refs_chain *chain = NULL;
    refs_scratch scratch = {{REFS_BUF_INIT, REFS_BUF_INIT}};
    refs_bytes bytes = {NULL, 0};
    if (!refs_mul_size(n > 0 ? n : 1, MAX_SAMPLE_BYTES, &spec.max_bytes))
        return refs_fail(err, REFS_LIMIT, "%zu values exceed the limit", n);
    REFS_TRY(refs_chain_open(&spec, &chain, err));
    refs_status status = refs_chain_decode_any(chain, message->data, &scratch, &bytes, err);
    if (status == REFS_OK) status = refs_buf_append(decoded, bytes.data, bytes.size, err);
    refs_scratch_clear(&scratch);
    refs_chain_free(chain);
    REFS_TRY(status);
    *size = n > 0 ? decoded->size / n : 0;
    if (*size >= 1 && *size <= MAX_SAMPLE_BYTES && decoded->size == *size * n) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "%s: %zu bytes for %zu values", step->id, decoded->size, n);
}

typedef uint64_t (*load_packed)(const uint8_t *at, size_t size);

static uint64_t load_host(const uint8_t *at, size_t size) {
    uint32_t number = 0;
    uint16_t half;
    if (size == 2) {
        memcpy(&half, at, 2);
        return half;
    }
    if (size == 4) memcpy(&number, at, 4);
    return size == 1 ? *at : number;
}

/* How samples of a codec become numbers. */
typedef struct sample_kind {
    size_t size; /* bytes; 0: as the codec gives */
    load_packed load;
} sample_kind;

static refs_status unpack_with(const refs_grib_message *message, const refs_chain_step *step,
                               sample_kind kind, double *values, refs_error *err) {
    REFS_SCOPED_BUF decoded = REFS_BUF_INIT;
    REFS_TRY(undo_codec(message, step, &decoded, &kind.size, err));
    for (size_t i = 0; i < message->n_values; i++)
        values[i] = scaled(message, (double)kind.load(decoded.data + i * kind.size, kind.size));
    return REFS_OK;
}

static refs_status unpack_jpeg2000(const refs_grib_message *message, double *values,
                                   refs_error *err) {
    static const refs_chain_step step = {"imagecodecs_jpeg2k", NULL};
    return unpack_with(message, &step, (sample_kind){0, load_host}, values, err);
}

/* PNG samples: up to 16 bits are gray; 24 and 32 bits are colours in sequence. */
static refs_status unpack_png(const refs_grib_message *message, double *values, refs_error *err) {
    static const refs_chain_step step = {"imagecodecs_png", NULL};
    sample_kind kind = {0, message->n_bits > 16 ? refs_load_be : load_host};
    return unpack_with(message, &step, kind, values, err);
}

/* Flags of libaec for its output in memory, not for the stream: big-endian, and three bytes for
 * samples of 17 to 24 bits. The message's own values are ignored. */
#define AEC_THREE_BYTES   2u
#define AEC_HIGHEST_FIRST 4u

static refs_status unpack_ccsds(const refs_grib_message *message, double *values, refs_error *err) {
    const uint8_t *section = message->parameters.data;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_SCOPED_JSON *config = NULL;
    sample_kind kind = {(message->n_bits + 7) / 8, refs_load_be};
    unsigned flags = (section[21] & ~AEC_THREE_BYTES) | AEC_HIGHEST_FIRST;
    if (kind.size == 3) flags |= AEC_THREE_BYTES;
    REFS_TRY(refs_buf_printf(
        &text, err, "{\"bitspersample\":%u,\"flags\":%u,\"blocksize\":%u,\"rsi\":%u}",
        message->n_bits, flags, section[22], (unsigned)(section[23] << 8 | section[24])));
    REFS_TRY(refs_json_parse(refs_buf_text(&text), &config, err));
    refs_chain_step step = {"imagecodecs_aec", refs_json_root(config)};
    return unpack_with(message, &step, kind, values, err);
}

/* -- all packings ------------------------------------------------------------------------------ */

static const struct {
    refs_grib_packing packing;
    refs_status (*unpack)(const refs_grib_message *message, double *values, refs_error *err);
} unpackers[] = {
    {REFS_GRIB_SIMPLE, unpack_simple},
    {REFS_GRIB_COMPLEX, unpack_complex},
    {REFS_GRIB_COMPLEX_DIFFERENCES, unpack_complex},
    {REFS_GRIB_IEEE, unpack_ieee},
    {REFS_GRIB_JPEG2000, unpack_jpeg2000},
    {REFS_GRIB_PNG, unpack_png},
    {REFS_GRIB_CCSDS, unpack_ccsds},
};

/* With 0 bits per value, all values are the reference value. */
static bool is_constant(const refs_grib_message *message) {
    bool has_groups =
        message->packing == REFS_GRIB_COMPLEX || message->packing == REFS_GRIB_COMPLEX_DIFFERENCES;
    return message->n_bits == 0 && message->packing != REFS_GRIB_IEEE && !has_groups;
}

static refs_status unpack_values(const refs_grib_message *message, double *values,
                                 refs_error *err) {
    if (is_constant(message)) {
        for (size_t i = 0; i < message->n_values; i++) values[i] = scaled(message, 0);
        return REFS_OK;
    }
    if (message->n_bits > 32)
        return refs_fail(err, REFS_UNSUPPORTED, "values of %u bits are not supported",
                         message->n_bits);
    for (size_t i = 0; i < sizeof unpackers / sizeof *unpackers; i++)
        if (unpackers[i].packing == message->packing)
            return unpackers[i].unpack(message, values, err);
    return refs_fail(err, REFS_UNSUPPORTED, "packing %d is not supported", (int)message->packing);
}

/* Moves the values to their points, from the last to the first, so that none is overwritten before
 * it is moved. */
static void spread(const refs_grib_message *message, double *values) {
    size_t left = message->n_values;
    for (size_t i = message->n_points; i-- > 0;) {
        bool is_present = (message->bitmap.data[i / 8] >> (7 - i % 8) & 1) != 0;
        values[i] = is_present ? values[--left] : (double)NAN;
    }
}

refs_status refs_codec__grib_unpack(const refs_grib_message *message, double *values,
                                    refs_error *err) {
    REFS_TRY(unpack_values(message, values, err));
    if (message->bitmap.size > 0) spread(message, values);
    return REFS_OK;
}
