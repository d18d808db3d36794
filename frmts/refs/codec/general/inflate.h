/* inflate.h -- decodes one deflate stream with its wrapper by libdeflate.
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_INFLATE_H
#define REFS_CODEC_INFLATE_H

#include <libdeflate.h>

#include "output.h"

/** libdeflate_zlib_decompress_ex, or its equivalent for another wrapper. */
typedef enum libdeflate_result (*refs_codec_inflate)(struct libdeflate_decompressor *decompressor,
                                                     const void *in, size_t in_size, void *out,
                                                     size_t out_size, size_t *used,
                                                     size_t *written);

/** Decodes the stream at the beginning of *encoded into `output` and removes it from *encoded. */
refs_status refs_codec__inflate(struct libdeflate_decompressor *decompressor,
                                refs_codec_inflate inflate, refs_bytes *encoded,
                                refs_codec_output *output, refs_error *err);

/** Decodes the stream at the beginning of `encoded`; bytes after it are ignored. */
refs_status refs_codec__inflate_one(refs_codec_inflate inflate, refs_bytes encoded,
                                    refs_codec_output *output, refs_error *err);

#endif
