/* checksum.c -- see checksum.h. */
#include "checksum.h"

refs_status refs_codec__checksum_open(const refs_codec_context *context, const refs_checksum *usual,
                                      void **self, size_t *encoded_size, refs_error *err) {
    const refs_json *given = refs_json_get(context->config, "location");
    refs_str location = refs_json_text(given);
    bool known = given == NULL || refs_str_is(location, "start") || refs_str_is(location, "end");
    if (!known)
        return refs_fail(err, REFS_INVALID, "location: expected start or end, found \"%.*s\"",
                         REFS_STR_ARG(location));
    refs_checksum *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *opened = *usual;
    if (given != NULL)
        opened->place =
            refs_str_is(location, "start") ? REFS_CHECKSUM_AT_START : REFS_CHECKSUM_AT_END;
    *self = opened;
    if (context->decoded_size > 0) *encoded_size = context->decoded_size + REFS_CHECKSUM_SIZE;
    return REFS_OK;
}

refs_status refs_codec__checksum_decode(const void *self, refs_bytes encoded,
                                        refs_codec_output *output, refs_error *err) {
    const refs_checksum *checksum = self;
    if (encoded.size < REFS_CHECKSUM_SIZE)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for a checksum", encoded.size);
    bool at_start = checksum->place == REFS_CHECKSUM_AT_START;
    size_t size = encoded.size - REFS_CHECKSUM_SIZE;
    refs_bytes content = refs_bytes_view(encoded.data + (at_start ? REFS_CHECKSUM_SIZE : 0), size);
    uint32_t stored = refs_load_le32(encoded.data + (at_start ? 0 : size));
    return refs_codec__checksum_accept(content, stored, checksum->compute(content), output, err);
}

refs_status refs_codec__checksum_accept(refs_bytes content, uint32_t stored, uint32_t computed,
                                        refs_codec_output *output, refs_error *err) {
    if (stored != computed)
        return refs_fail(err, REFS_CORRUPT, "checksum mismatch: computed %08x, stored %08x",
                         (unsigned)computed, (unsigned)stored);
    uint8_t *at;
    REFS_TRY(refs_codec__output_add(output, content.size, &at, err));
    if (content.size > 0) memcpy(at, content.data, content.size);
    return REFS_OK;
}
