/* aec.c -- codec "imagecodecs_aec": the extended Rice codes of CCSDS 121.0, as in szip, but without
 * a header. */
#include <libaec.h>

#include "general/stream.h"
#include "numbers.h"

/* Flags that are accepted. With the others, for nonstandard streams, libaec 1.0 writes out of
 * bounds. */
#define KNOWN_FLAGS                                                                                \
    (0u | AEC_DATA_SIGNED | AEC_DATA_3BYTE | AEC_DATA_MSB | AEC_DATA_PREPROCESS | AEC_RESTRICTED)

typedef struct aec_codec {
    struct aec_stream parameters; /* only the members of the configuration are set */
} aec_codec;

/* The range of a member of the configuration. */
typedef struct member_range {
    const char *member;
    unsigned min, max;
} member_range;

static refs_status read_parameter(const refs_json *config, member_range range, unsigned *parameter,
                                  refs_error *err) {
    const refs_json *given = refs_json_get(config, range.member);
    uint64_t number;
    if (refs_json_kind_of(given) == REFS_JSON_KIND_NULL) return REFS_OK;
    if (!refs_json_u64(given, &number) || number < range.min || number > range.max)
        return refs_fail(err, REFS_INVALID, "%s: expected a number from %u to %u", range.member,
                         range.min, range.max);
    *parameter = (unsigned)number;
    return REFS_OK;
}

/* Defaults are those of imagecodecs for the type of the array. */
static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    refs_number_type type = {REFS_NUMBER_UINT, 1, false};
    aec_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    struct aec_stream *parameters = &opened->parameters;
    (void)refs_codec__number_parse(refs_str_from(context->array->dtype), &type, NULL);
    parameters->bits_per_sample = 8 * (unsigned)type.size;
    parameters->block_size = 8;
    parameters->rsi = 2;
    parameters->flags = AEC_DATA_PREPROCESS;
    if (type.kind != REFS_NUMBER_UINT) parameters->flags |= AEC_DATA_SIGNED;
    const member_range bits = {"bitspersample", 1, 32}, block = {"blocksize", 1, 64},
                       rsi = {"rsi", 1, 4096}, flags = {"flags", 0, UINT8_MAX};
    REFS_TRY(read_parameter(context->config, bits, &parameters->bits_per_sample, err));
    REFS_TRY(read_parameter(context->config, block, &parameters->block_size, err));
    REFS_TRY(read_parameter(context->config, rsi, &parameters->rsi, err));
    REFS_TRY(read_parameter(context->config, flags, &parameters->flags, err));
    /* With odd block sizes, or 0, libaec 1.0 writes out of bounds. */
    if (parameters->block_size % 2 != 0)
        return refs_fail(err, REFS_INVALID, "blocksize is odd: %u", parameters->block_size);
    if ((parameters->flags & ~KNOWN_FLAGS) == 0) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "flags %u are not supported", parameters->flags);
}

static refs_status step(void *user, refs_codec_stream *stream, refs_error *err) {
    struct aec_stream *library = user;
    library->next_in = stream->in.data;
    library->avail_in = stream->in.size;
    library->next_out = stream->out;
    library->avail_out = stream->room;
    int result = aec_decode(library, AEC_FLUSH);
    if (result != AEC_OK)
        return refs_fail(err, REFS_CORRUPT, "damaged %zu bytes before the end of the stream",
                         library->avail_in);
    /* The stream has no end mark: it ended if all input is used before the output is full. */
    stream->in = refs_bytes_view(library->next_in, library->avail_in);
    stream->room = library->avail_out;
    stream->ended = stream->in.size == 0 && stream->room > 0;
    return REFS_OK;
}

/* The last block is padded: only the elements of the chunk are used. */
static refs_status decode_known(struct aec_stream *library, refs_bytes encoded,
                                refs_codec_output *output, refs_error *err) {
    library->next_in = encoded.data;
    library->avail_in = encoded.size;
    library->avail_out = output->capacity;
    REFS_TRY(refs_codec__output_add(output, output->capacity, &library->next_out, err));
    if (aec_decode(library, AEC_FLUSH) == AEC_OK && library->avail_out == 0) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "the stream of %zu bytes does not decode to %zu",
                     encoded.size, output->capacity);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    struct aec_stream library = ((const aec_codec *)self)->parameters;
    if (encoded.size == 0) return refs_fail(err, REFS_CORRUPT, "the chunk is empty");
    int begun = aec_decode_init(&library);
    if (begun == AEC_MEM_ERROR) return refs_fail_nomem(err);
    if (begun != AEC_OK)
        return refs_fail(err, REFS_INVALID, "the parameters contradict each other");
    refs_status status = output->growing == NULL
                             ? decode_known(&library, encoded, output, err)
                             : refs_codec__stream(step, &library, encoded, output, err);
    aec_decode_end(&library);
    return status;
}

static const char *const aliases[] = {"aec", NULL};

const refs_codec_type refs_codec_aec = {.name = "imagecodecs_aec",
                                        .aliases = aliases,
                                        .reads = "streams of CCSDS 121.0 as libaec writes them",
                                        .library = "libaec",
                                        .open = open_codec,
                                        .decode = decode,
                                        .close = refs_free};
