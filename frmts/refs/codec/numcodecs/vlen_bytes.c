/* vlen_bytes.c -- codec "vlen-bytes": byte strings of variable length. */
#include "vlen.h"

const refs_codec_type refs_codec_vlen_bytes = {.name = "vlen-bytes",
                                               .reads = "byte strings with their sizes",
                                               .library = "REFS",
                                               .decode = refs_codec__vlen_decode};
