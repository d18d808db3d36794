/* zfpy.c -- codec "zfpy": a zfp stream with its header; if "header" is false in the configuration,
 * the header lacks type and shape, which are then in the configuration. The HDF5
 * filter has the whole header in its parameters: words of 32 bits, after one for the versions.
 *
 * Sources: https://zfp.readthedocs.io; imagecodecs, Zfp; https://h5z-zfp.readthedocs.io
 */
#include <zfp.h>

#include "image/image.h"
#include "refs/lazy.h"

/* clang-format off */
#define FUNCTIONS(F) \
    F(zfp_decompress) F(zfp_field_alloc) F(zfp_field_blocks) F(zfp_field_dimensionality) \
    F(zfp_field_free) F(zfp_field_set_pointer) F(zfp_field_set_size_1d) F(zfp_field_set_size_2d) \
    F(zfp_field_set_size_3d) F(zfp_field_set_size_4d) F(zfp_field_set_type) F(zfp_field_size) \
    F(zfp_read_header) \
    F(zfp_stream_close) F(zfp_stream_maximum_size) F(zfp_stream_open) F(zfp_stream_params) \
    F(zfp_stream_rewind) F(zfp_stream_set_bit_stream) F(zfp_type_size) F(stream_open) \
    F(stream_close)
/* clang-format on */
#define ENTRY(function) REFS_LAZY_ENTRY(zfp, function)

static struct { FUNCTIONS(REFS_LAZY_MEMBER) } zfp;
static const refs_lazy_function functions[] = {FUNCTIONS(ENTRY){NULL, NULL}};
static refs_lazy_library library = REFS_LAZY_LIBRARY(REFS_LAZY_zfp, functions);

/* The size of the longest header, in whole words. */
#define HEADER_ROOM 32

/* The most bytes of each block that the library may read beyond its maximal encoded size, in a
 * damaged stream. */
#define SLACK_PER_BLOCK 32

#define MAX_RANK 4

/* The part that streams lack: type and shape in their header, or the header. */
typedef struct zfp_codec {
    zfp_type type;
    size_t rank; /* 0: the header is whole */
    size_t shape[MAX_RANK];
    uint8_t header[HEADER_ROOM];
    size_t header_size; /* 0: each stream begins with its header */
} zfp_codec;

/* The library's objects for one decoding. */
typedef struct zfp_job {
    const zfp_codec *codec;
    zfp_stream *stream;
    zfp_field *field;
    bitstream *bits;
    uint8_t *padded; /* the input with padding */
} zfp_job;

static void clear(zfp_job *job) {
    if (job->field != NULL) zfp.zfp_field_free(job->field);
    if (job->stream != NULL) zfp.zfp_stream_close(job->stream);
    if (job->bits != NULL) zfp.stream_close(job->bits);
    refs_free(job->padded);
}

/* -- configuration ----------------------------------------------------------------------------- */

static refs_status read_type(refs_str dtype, zfp_type *type, refs_error *err) {
    static const struct {
        const char *dtype;
        zfp_type type;
    } types[] = {{"<i4", zfp_type_int32},
                 {"<i8", zfp_type_int64},
                 {"<f4", zfp_type_float},
                 {"<f8", zfp_type_double}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!refs_str_is(dtype, types[i].dtype)) continue;
        *type = types[i].type;
        return REFS_OK;
    }
    return refs_fail(err, REFS_UNSUPPORTED,
                     "dtype \"%.*s\": expected <i4, <i8, <f4 or <f8, as \"header\" is false",
                     REFS_STR_ARG(dtype));
}

static refs_status read_shape(const refs_json *shape, zfp_codec *codec, refs_error *err) {
    const size_t rank = refs_json_is_array(shape) ? refs_json_size(shape) : 0;
    for (size_t i = 0; i < rank && i < MAX_RANK; i++) {
        uint64_t extent = 0;
        (void)refs_json_u64(refs_json_at(shape, i), &extent);
        codec->shape[i] = (size_t)extent;
        if (extent > 0 && extent <= UINT32_MAX) codec->rank++;
    }
    if (rank > 0 && codec->rank == rank) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "expected a shape of 1 to %d extents, as \"header\" is false", MAX_RANK);
}

static refs_status read_parameters(const refs_json *parameters, zfp_codec *codec, refs_error *err) {
    enum { WORD_BYTES = 4, MAX_WORDS = HEADER_ROOM / WORD_BYTES };
    const size_t n = refs_json_is_array(parameters) ? refs_json_size(parameters) : 0;
    if (n < 2 || n > 1 + MAX_WORDS)
        return refs_fail(err, REFS_CORRUPT,
                         "expected 2 to %d parameters, which hold a header of zfp, found %zu",
                         1 + MAX_WORDS, n);
    for (size_t i = 1; i < n; i++) {
        uint64_t word = 0;
        if (!refs_json_u64(refs_json_at(parameters, i), &word) || word > UINT32_MAX)
            return refs_fail(err, REFS_CORRUPT, "parameter %zu: expected a word of 32 bits", i);
        for (size_t byte = 0; byte < WORD_BYTES; byte++)
            codec->header[codec->header_size++] = (uint8_t)(word >> 8 * byte);
    }
    return REFS_OK;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_json *config = context->config;
    zfp_codec *opened = refs_calloc(1, sizeof *opened);
    bool has_header = true;
    (void)encoded_size;
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    const refs_json *parameters = refs_json_get(config, "parameters");
    if (parameters != NULL) return read_parameters(parameters, opened, err);
    refs_json_bool(refs_json_get(config, "header"), &has_header);
    if (has_header) return REFS_OK;
    if (refs_json_kind_of(refs_json_get(config, "strides")) != REFS_JSON_KIND_NULL)
        return refs_fail(err, REFS_UNSUPPORTED, "strides: expected none");
    REFS_TRY(read_type(refs_json_text(refs_json_get(config, "dtype")), &opened->type, err));
    return read_shape(refs_json_get(config, "shape"), opened, err);
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* Sets the type and shape that the header lacks; the library's first dimension is the fastest. */
static void complete(const zfp_codec *codec, zfp_field *field) {
    const size_t *n = codec->shape + codec->rank - 1; /* the last is the fastest */
    zfp.zfp_field_set_type(field, codec->type);
    if (codec->rank == 1) zfp.zfp_field_set_size_1d(field, n[0]);
    if (codec->rank == 2) zfp.zfp_field_set_size_2d(field, n[0], n[-1]);
    if (codec->rank == 3) zfp.zfp_field_set_size_3d(field, n[0], n[-1], n[-2]);
    if (codec->rank == 4) zfp.zfp_field_set_size_4d(field, n[0], n[-1], n[-2], n[-3]);
}

/* Opens a copy of `bytes`, zero-padded to `size`, because the library does not check the end of its
 * input. */
static refs_status open_stream(zfp_job *job, refs_bytes bytes, size_t size, refs_error *err) {
    if (job->bits != NULL) zfp.stream_close(job->bits);
    refs_free(job->padded);
    job->padded = refs_calloc(size, 1);
    job->bits = job->padded != NULL ? zfp.stream_open(job->padded, size) : NULL;
    if (job->bits == NULL) return refs_fail_nomem(err);
    memcpy(job->padded, bytes.data, bytes.size < size ? bytes.size : size);
    zfp.zfp_stream_set_bit_stream(job->stream, job->bits);
    zfp.zfp_stream_rewind(job->stream);
    return REFS_OK;
}

/* Opens `encoded` at its numbers: after the header, unless that is apart. */
static refs_status open_numbers(zfp_job *job, refs_bytes encoded, size_t size, refs_error *err) {
    const refs_bytes apart = {job->codec->header, job->codec->header_size};
    const refs_bytes header = apart.size > 0 ? apart : encoded;
    REFS_TRY(open_stream(job, header, apart.size > 0 ? HEADER_ROOM : size, err));
    const bool is_whole = job->codec->rank == 0;
    const unsigned parts = is_whole ? ZFP_HEADER_FULL : ZFP_HEADER_MAGIC | ZFP_HEADER_MODE;
    if (zfp.zfp_read_header(job->stream, job->field, parts) > 0) {
        if (!is_whole) complete(job->codec, job->field);
        return apart.size > 0 ? open_stream(job, encoded, size, err) : REFS_OK;
    }
    return refs_fail(err, REFS_CORRUPT, "%zu bytes do not begin with a header of zfp", header.size);
}

static bool decoded_size(const zfp_field *field, size_t *size) {
    size_t extent[4] = {0};
    size_t dims = zfp.zfp_field_dimensionality(field);
    *size = zfp.zfp_type_size(field->type);
    zfp.zfp_field_size(field, extent);
    for (size_t dim = 0; dim < dims && dim < 4; dim++)
        if (!refs_mul_size(*size, extent[dim], size)) return false;
    return true;
}

/* The most bytes that the library may read. A stream whose blocks have one size must be that
 * large. */
static refs_status most_read(const zfp_job *job, refs_bytes encoded, size_t *size,
                             refs_error *err) {
    unsigned min_bits = 0;
    size_t blocks = zfp.zfp_field_blocks(job->field), least;
    zfp.zfp_stream_params(job->stream, &min_bits, NULL, NULL, NULL);
    if (!refs_mul_size(blocks, min_bits, &least) || least / 8 > encoded.size)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for %zu blocks", encoded.size,
                         blocks);
    *size = zfp.zfp_stream_maximum_size(job->stream, job->field) + encoded.size;
    if (refs_mul_size(blocks, SLACK_PER_BLOCK, &least) && refs_add_size(*size, least, size))
        return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%zu blocks are too many", blocks);
}

/* Converts numbers from this machine's byte order to the array's. */
static void put_in_order(const zfp_field *field, size_t size, uint8_t *numbers) {
    const size_t number_size = zfp.zfp_type_size(field->type);
    refs_codec__image_swap(&(refs_image){size / number_size, 1, 1, number_size}, numbers);
}

static refs_status decompress(zfp_job *job, refs_bytes encoded, refs_codec_output *output,
                              refs_error *err) {
    size_t size, room = 0;
    uint8_t *dst;
    REFS_TRY(open_numbers(job, encoded, HEADER_ROOM, err));
    if (!decoded_size(job->field, &size))
        return refs_fail(err, REFS_LIMIT,
                         "the header declares more than the limit of %zu bytes of numbers",
                         SIZE_MAX);
    REFS_TRY(refs_codec__output_add(output, size, &dst, err));
    REFS_TRY(most_read(job, encoded, &room, err));
    REFS_TRY(open_numbers(job, encoded, room - room % sizeof(uint64_t) + sizeof(uint64_t), err));
    zfp.zfp_field_set_pointer(job->field, dst);
    size_t used = zfp.zfp_decompress(job->stream, job->field);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) put_in_order(job->field, size, dst);
    if (used > 0 && used <= encoded.size) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the stream of %zu bytes is cut or damaged", encoded.size);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    REFS_TRY(refs_lazy_load(&library, err));
    zfp_job job = {
        .codec = self, .stream = zfp.zfp_stream_open(NULL), .field = zfp.zfp_field_alloc()};
    refs_status status = job.stream != NULL && job.field != NULL
                             ? decompress(&job, encoded, output, err)
                             : refs_fail_nomem(err);
    clear(&job);
    return status;
}

static void close_codec(void *self) {
    refs_free(self);
}

static const char *const aliases[] = {"imagecodecs_zfp", "hdf5_zfp", NULL};

const refs_codec_type refs_codec_zfpy = {
    .name = "zfpy",
    .aliases = aliases,
    .reads = "zfp streams with header, of which `imagecodecs_zfp` may lack type and shape; HDF5 "
             "filter 32013, which has the header in its parameters",
    .library = "libzfp",
    .open = open_codec,
    .close = close_codec,
    .decode = decode};
