/* vlen.c -- see vlen.h. */
#include "vlen.h"

bool refs_vlen_next(refs_bytes *items, refs_bytes *item) {
    if (items->size < 4 || refs_load_le32(items->data) > items->size - 4) return false;
    *item = refs_bytes_view(items->data + 4, refs_load_le32(items->data));
    *items = refs_bytes_view(item->data + item->size, items->size - 4 - item->size);
    return true;
}

static refs_status check_framing(refs_bytes encoded, refs_error *err) {
    if (encoded.size < 4)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are too few for a count", encoded.size);
    const uint32_t n = refs_load_le32(encoded.data);
    refs_bytes items = refs_bytes_view(encoded.data + 4, encoded.size - 4), item;
    for (uint32_t i = 0; i < n; i++)
        if (!refs_vlen_next(&items, &item))
            return refs_fail(err, REFS_CORRUPT, "item %u of %u is truncated at byte %zu of %zu",
                             (unsigned)i, (unsigned)n, encoded.size - items.size, encoded.size);
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
