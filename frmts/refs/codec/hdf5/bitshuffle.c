/* bitshuffle.c -- codec "bitshuffle": the HDF5 filter 32008. The bits of elements in planes, block
 * by block; with "cname", blocks are compressed and framed. */
#include <limits.h>
#include <lz4.h>
#include <zstd.h>

#include "bitshuffle.h"
#include "blocks.h"

typedef bool (*decompressor)(refs_bytes block, uint8_t *dst, size_t size);

typedef struct bitshuffle_codec {
    size_t element_size;
    size_t block;            /* elements; 0: the filter's default */
    decompressor decompress; /* NULL: blocks are neither compressed nor framed */
} bitshuffle_codec;

/* -- configuration ----------------------------------------------------------------------------- */

static bool decompress_lz4(refs_bytes block, uint8_t *dst, size_t size) {
    return block.size <= INT_MAX && size <= INT_MAX &&
           LZ4_decompress_safe((const char *)block.data, (char *)dst, (int)block.size, (int)size) ==
               (int)size;
}

static bool decompress_zstd(refs_bytes block, uint8_t *dst, size_t size) {
    return ZSTD_decompress(dst, size, block.data, block.size) == size;
}

static const struct {
    const char *cname;
    decompressor decompress;
} compressors[] = {{"lz4", decompress_lz4}, {"zstd", decompress_zstd}, {"none", NULL}, {"", NULL}};

static refs_status read_compressor(const refs_json *config, decompressor *decompress,
                                   refs_error *err) {
    refs_str cname = refs_json_text(refs_json_get(config, "cname"));
    for (size_t i = 0; i < sizeof compressors / sizeof *compressors; i++) {
        *decompress = compressors[i].decompress;
        if (refs_str_is(cname, compressors[i].cname)) return REFS_OK;
    }
    return refs_fail(err, REFS_UNSUPPORTED, "cname \"%.*s\" is not supported", REFS_STR_ARG(cname));
}

static refs_status read_size(const refs_json *config, const char *member, size_t *size,
                             refs_error *err) {
    const refs_json *given = refs_json_get(config, member);
    uint64_t number;
    if (given == NULL) return REFS_OK;
    if (!refs_json_u64(given, &number) || number > INT32_MAX)
        return refs_fail(err, REFS_INVALID, "%s: expected a size", member);
    *size = (size_t)number;
    return REFS_OK;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    bitshuffle_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->element_size = context->array->element_size;
    /* "itemsize" is the name in imagecodecs. */
    REFS_TRY(read_size(context->config, "itemsize", &opened->element_size, err));
    REFS_TRY(read_size(context->config, "elementsize", &opened->element_size, err));
    REFS_TRY(read_size(context->config, "blocksize", &opened->block, err));
    REFS_TRY(read_compressor(context->config, &opened->decompress, err));
    if (opened->element_size == 0)
        return refs_fail(err, REFS_INVALID, "the size of the elements is 0");
    if (opened->block % REFS_BITSHUFFLE_MULTIPLE != 0)
        return refs_fail(err, REFS_INVALID, "blocksize is not a multiple of %d",
                         REFS_BITSHUFFLE_MULTIPLE);
    if (opened->decompress == NULL) *encoded_size = context->decoded_size;
    return REFS_OK;
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* The state of decoding: the next block of `blocks` is written to `dst`. */
typedef struct unshuffling {
    const bitshuffle_codec *codec;
    refs_blocks blocks;
    uint8_t *dst;
    size_t block;  /* elements */
    uint8_t *room; /* for a block that is decompressed, and not unshuffled yet */
} unshuffling;

static refs_status take_block(unshuffling *job, size_t size, const uint8_t **planes,
                              refs_error *err) {
    refs_bytes block;
    if (job->codec->decompress == NULL) {
        *planes = job->blocks.rest.data;
        job->blocks.rest = refs_bytes_view(*planes + size, job->blocks.rest.size - size);
        return REFS_OK;
    }
    REFS_TRY(refs_codec__blocks_next(&job->blocks, &block, err));
    if (!job->codec->decompress(block, job->room, size))
        return refs_fail(err, REFS_CORRUPT, "a block of %zu bytes does not decode to %zu",
                         block.size, size);
    *planes = job->room;
    return REFS_OK;
}

static refs_status unshuffle(unshuffling *job, refs_error *err) {
    size_t element_size = job->codec->element_size;
    size_t n = job->blocks.decoded_size / element_size, n_loose = n % REFS_BITSHUFFLE_MULTIPLE;
    for (size_t left = n - n_loose; left > 0;) {
        size_t block = left < job->block ? left : job->block;
        const uint8_t *planes = NULL;
        REFS_TRY(take_block(job, block * element_size, &planes, err));
        refs_codec__bitunshuffle(planes, block, element_size, job->dst);
        job->dst += block * element_size;
        left -= block;
    }
    if (job->blocks.rest.size < n_loose * element_size)
        return refs_fail(err, REFS_CORRUPT, "the last %zu elements are missing", n_loose);
    memcpy(job->dst, job->blocks.rest.data, n_loose * element_size);
    return REFS_OK;
}

static refs_status set_up(unshuffling *job, refs_bytes encoded, refs_error *err) {
    size_t size = job->codec->element_size;
    job->blocks = (refs_blocks){encoded.size, job->codec->block * size, encoded};
    if (job->codec->decompress != NULL)
        REFS_TRY(refs_codec__blocks_begin(encoded, &job->blocks, err));
    job->block = job->blocks.block_size / size;
    if (job->blocks.decoded_size % size != 0 || job->blocks.block_size % size != 0 ||
        job->block % REFS_BITSHUFFLE_MULTIPLE != 0)
        return refs_fail(
            err, REFS_CORRUPT,
            "expected blocks of whole elements of %zu bytes, found %zu bytes in blocks of %zu",
            size, job->blocks.decoded_size, job->blocks.block_size);
    if (job->block == 0) job->block = refs_codec__bitshuffle_block(size);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    unshuffling job = {.codec = self};
    REFS_TRY(set_up(&job, encoded, err));
    size_t size = job.block * job.codec->element_size;
    if (size > job.blocks.decoded_size) size = job.blocks.decoded_size;
    REFS_TRY(refs_codec__output_add(output, job.blocks.decoded_size, &job.dst, err));
    job.room = refs_alloc(size);
    if (job.room == NULL) return refs_fail_nomem(err);
    refs_status status = unshuffle(&job, err);
    refs_free(job.room);
    return status;
}

static const char *const aliases[] = {"imagecodecs_bitshuffle", "hdf5_bitshuffle", NULL};

const refs_codec_type refs_codec_bitshuffle = {
    .name = "bitshuffle",
    .aliases = aliases,
    .reads = "HDF5 filter 32008: bits in planes, blocks of LZ4 or Zstandard or none",
    .library = "liblz4, libzstd",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
