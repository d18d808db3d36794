/* vlen.h -- numcodecs' framing of elements of variable length: their number in four bytes,
 * little-endian, then for each its size in four bytes and its bytes.
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_VLEN_H
#define REFS_CODEC_VLEN_H

#include "output.h"

/** Checks the framing and returns it unchanged: see refs_chain_decode_any. */
refs_status refs_codec__vlen_decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                                    refs_error *err);

#endif
