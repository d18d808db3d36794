/* checksum.h -- codecs that put four bytes of checksum, little-endian, before or behind the
 * content.
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_CHECKSUM_H
#define REFS_CODEC_CHECKSUM_H

#include "output.h"

typedef enum refs_checksum_place {
    REFS_CHECKSUM_AT_START,
    REFS_CHECKSUM_AT_END
} refs_checksum_place;

/** A codec's own state: where the checksum is, and how it is computed. */
typedef struct refs_checksum {
    refs_checksum_place place;
    uint32_t (*compute)(refs_bytes content);
} refs_checksum;

/** Opens a codec whose configuration may say "start" or "end" as its "location", and does not have
 * to. To be closed with refs_free. */
refs_status refs_codec__checksum_open(const refs_codec_context *context, const refs_checksum *usual,
                                      void **self, size_t *encoded_size, refs_error *err);

/** Decodes to what is left without the checksum; REFS_CORRUPT where another one is computed. */
refs_status refs_codec__checksum_decode(const void *self, refs_bytes encoded,
                                        refs_codec_output *output, refs_error *err);

#endif
