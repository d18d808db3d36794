/* packints.c -- codec "imagecodecs_packints": integers of fewer bits than elements have, the
 * highest bit first; each run begins at a byte, like rows of TIFF files. */
#include "numbers.h"

#define MAX_BITS 32

typedef struct packints {
    refs_number_type type;
    unsigned bits;
    size_t run;       /* integers */
    size_t run_bytes; /* packed */
} packints;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_json *dtype = refs_json_get(context->config, "dtype");
    uint64_t bits = 0, run = 0;
    packints *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    refs_json_u64(refs_json_get(context->config, "bitspersample"), &bits);
    refs_json_u64(refs_json_get(context->config, "runlen"), &run);
    refs_str type =
        refs_json_is_string(dtype) ? refs_json_text(dtype) : refs_str_from(context->array->dtype);
    REFS_TRY(refs_codec__number_parse(type, &opened->type, err));
    if (bits == 0 || bits > MAX_BITS || bits > 8 * opened->type.size)
        return refs_fail(err, REFS_INVALID, "bitspersample is %llu, for elements of %zu bytes",
                         (unsigned long long)bits, opened->type.size);
    size_t n = context->decoded_size / opened->type.size;
    if (run == 0) run = n; /* one run */
    if (run == 0 || run > SIZE_MAX / MAX_BITS)
        return refs_fail(err, REFS_INVALID, "runlen is not a number of integers");
    opened->bits = (unsigned)bits;
    opened->run = (size_t)run;
    opened->run_bytes = ((size_t)run * (size_t)bits + 7) / 8;
    if (n % opened->run == 0 && !refs_mul_size(n / opened->run, opened->run_bytes, encoded_size))
        return refs_fail(err, REFS_LIMIT, "%zu integers are too many", n);
    return REFS_OK;
}

static void unpack_run(const packints *codec, const uint8_t *src, uint8_t *dst) {
    uint64_t kept = 0;
    unsigned n_kept = 0; /* bits */
    for (size_t i = 0; i < codec->run; i++) {
        for (; n_kept < codec->bits; n_kept += 8) kept = kept << 8 | *src++;
        n_kept -= codec->bits;
        uint64_t number = kept >> n_kept & ((UINT64_C(1) << codec->bits) - 1);
        refs_codec__store_uint(&codec->type, number, dst + i * codec->type.size);
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const packints *codec = self;
    size_t n = encoded.size / codec->run_bytes, run_size = codec->run * codec->type.size, size;
    uint8_t *dst;
    if (encoded.size % codec->run_bytes != 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a multiple of the %zu of a run",
                         encoded.size, codec->run_bytes);
    if (!refs_mul_size(n, run_size, &size))
        return refs_fail(err, REFS_LIMIT, "%zu bytes are too many", encoded.size);
    REFS_TRY(refs_codec__output_add(output, size, &dst, err));
    for (size_t i = 0; i < n; i++)
        unpack_run(codec, encoded.data + i * codec->run_bytes, dst + i * run_size);
    return REFS_OK;
}

const refs_codec_type refs_codec_packints = {.name = "imagecodecs_packints",
                                             .reads = "integers of 1 to 32 bits in rows of bytes",
                                             .library = "REFS",
                                             .open = open_codec,
                                             .decode = decode,
                                             .close = refs_free};
