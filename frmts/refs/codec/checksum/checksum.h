/* checksum.h -- codecs with a checksum of four bytes, little-endian, before or after the content.
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_CHECKSUM_H
#define REFS_CODEC_CHECKSUM_H

#include "output.h"

#define REFS_CHECKSUM_SIZE 4

typedef enum refs_checksum_place {
    REFS_CHECKSUM_AT_START,
    REFS_CHECKSUM_AT_END
} refs_checksum_place;

/** A codec's own state: where the checksum is, and how it is computed. */
typedef struct refs_checksum {
    refs_checksum_place place;
    uint32_t (*compute)(refs_bytes content);
} refs_checksum;

/** Opens a codec whose configuration may have "location", "start" or "end". Close it with
 * refs_free. */
refs_status refs_codec__checksum_open(const refs_codec_context *context, const refs_checksum *usual,
                                      void **self, size_t *encoded_size, refs_error *err);

/** Decodes to the content without the checksum; REFS_CORRUPT if the checksum does not match. */
refs_status refs_codec__checksum_decode(const void *self, refs_bytes encoded,
                                        refs_codec_output *output, refs_error *err);

/** Adds the content to the output if the stored checksum equals the computed one; else
 * REFS_CORRUPT. */
refs_status refs_codec__checksum_accept(refs_bytes content, uint32_t stored, uint32_t computed,
                                        refs_codec_output *output, refs_error *err);

/** Defines codec `id`, whose checksum `maker` computes; `place` is its default location. */
#define REFS_CHECKSUM_CODEC(id, place, content, maker)                                             \
    static refs_status open_codec(const refs_codec_context *context, void **self,                  \
                                  size_t *encoded_size, refs_error *err) {                         \
        const refs_checksum usual = {place, id};                                                   \
        return refs_codec__checksum_open(context, &usual, self, encoded_size, err);                \
    }                                                                                              \
    const refs_codec_type refs_codec_##id = {.name = #id,                                          \
                                             .reads = content,                                     \
                                             .library = maker,                                     \
                                             .open = open_codec,                                   \
                                             .decode = refs_codec__checksum_decode,                \
                                             .close = refs_free}

#endif
