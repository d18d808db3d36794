/* inflate.c -- see inflate.h. */
#include "inflate.h"

refs_status refs_codec__inflate(struct libdeflate_decompressor *decompressor,
                                refs_codec_inflate inflate, refs_bytes *encoded,
                                refs_codec_output *output, refs_error *err) {
    for (;;) {
        uint8_t *at;
        size_t room, used, written;
        REFS_TRY(refs_codec__output_room(output, &at, &room, err));
        switch (inflate(decompressor, encoded->data, encoded->size, at, room, &used, &written)) {
        case LIBDEFLATE_SUCCESS:
            *encoded = refs_bytes_view(encoded->data + used, encoded->size - used);
            return refs_codec__output_wrote(output, written, err);
        case LIBDEFLATE_INSUFFICIENT_SPACE:
            REFS_TRY(refs_codec__output_grow(output, err));
            break;
        default:
            return refs_fail(err, REFS_CORRUPT, "the stream of %zu bytes is cut or damaged",
                             encoded->size);
        }
    }
}

refs_status refs_codec__inflate_one(refs_codec_inflate inflate, refs_bytes encoded,
                                    refs_codec_output *output, refs_error *err) {
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return refs_fail_nomem(err);
    refs_status status = refs_codec__inflate(decompressor, inflate, &encoded, output, err);
    libdeflate_free_decompressor(decompressor);
    return status;
}
