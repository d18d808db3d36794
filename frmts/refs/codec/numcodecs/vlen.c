/* vlen.c -- see vlen.h. */
#include "vlen.h"

static refs_status check_framing(refs_bytes encoded, refs_error *err) {
    if (encoded.size < 4)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for a count", encoded.size);
    uint32_t n = refs_load_le32(encoded.data);
    size_t at = 4;
    for (uint32_t i = 0; i < n; i++) {
        size_t left = encoded.size - at;
        size_t size = left >= 4 ? refs_load_le32(encoded.data + at) : 0;
        if (left < 4 || size > left - 4)
            return refs_fail(err, REFS_CORRUPT, "item %u of %u is truncated at byte %zu of %zu",
                             (unsigned)i, (unsigned)n, at, encoded.size);
        at += 4 + size;
    }
    return REFS_OK;
}

refs_status refs_codec__vlen_decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                                    refs_error *err) {
    (void)self;
    uint8_t *at;
    REFS_TRY(check_framing(encoded, err));
    REFS_TRY(refs_codec__output_add(output, encoded.size, &at, err));
    memcpy(at, encoded.data, encoded.size);
    return REFS_OK;
}
