/* jenkins_lookup3.c -- codec "jenkins_lookup3": Bob Jenkins' hash lookup3, as in HDF5, after
 * the content. The configuration may set its initial value, and bytes that are hashed first and not
 * stored.
 */
#include "checksum.h"
#include "refs/lookup3.h"

typedef struct lookup3_codec {
    uint32_t initial;
    refs_buf prefix;
} lookup3_codec;

/* The prefix is a text, or a list of bytes. */
static refs_status read_prefix(const refs_json *prefix, refs_buf *bytes, refs_error *err) {
    for (size_t i = 0; i < refs_json_size(prefix); i++) {
        uint64_t number;
        if (!refs_json_u64(refs_json_at(prefix, i), &number) || number > UINT8_MAX)
            return refs_fail(err, REFS_INVALID, "prefix[%zu]: expected a byte", i);
        uint8_t byte = (uint8_t)number;
        REFS_TRY(refs_buf_append(bytes, &byte, 1, err));
    }
    return refs_buf_append_str(bytes, refs_json_text(prefix), err);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_json *initial = refs_json_get(context->config, "initval");
    uint64_t number = 0;
    if (initial != NULL && (!refs_json_u64(initial, &number) || number > UINT32_MAX))
        return refs_fail(err, REFS_INVALID, "initval: expected a number of 32 bits");
    lookup3_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->initial = (uint32_t)number;
    if (context->decoded_size > 0) *encoded_size = context->decoded_size + REFS_CHECKSUM_SIZE;
    return read_prefix(refs_json_get(context->config, "prefix"), &opened->prefix, err);
}

static void close_codec(void *self) {
    REFS_SCOPED lookup3_codec *codec = self;
    refs_buf_clear(&codec->prefix);
}

/* Hashes prefix and content, which have to be copied into one buffer. */
static refs_status hash_content(const lookup3_codec *codec, refs_bytes content, uint32_t *sum,
                                refs_error *err) {
    REFS_SCOPED_BUF joined = REFS_BUF_INIT;
    refs_bytes bytes = content;
    if (codec->prefix.size > 0) {
        REFS_TRY(refs_buf_append(&joined, codec->prefix.data, codec->prefix.size, err));
        REFS_TRY(refs_buf_append(&joined, content.data, content.size, err));
        bytes = refs_buf_view(&joined);
    }
    *sum = refs_lookup3(bytes, codec->initial);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    if (encoded.size < REFS_CHECKSUM_SIZE)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for a checksum", encoded.size);
    refs_bytes content = refs_bytes_view(encoded.data, encoded.size - REFS_CHECKSUM_SIZE);
    uint32_t stored = refs_load_le32(encoded.data + content.size), computed = 0;
    REFS_TRY(hash_content(self, content, &computed, err));
    return refs_codec__checksum_accept(content, stored, computed, output, err);
}

const refs_codec_type refs_codec_jenkins_lookup3 = {.name = "jenkins_lookup3",
                                                    .reads =
                                                        "a checksum of four bytes after the data",
                                                    .library = "REFS",
                                                    .open = open_codec,
                                                    .decode = decode,
                                                    .close = close_codec};
