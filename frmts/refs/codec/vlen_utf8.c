/* vlen_utf8.c -- codec "vlen-utf8": strings of variable length. */
#include "vlen.h"

const refs_codec_type refs_codec_vlen_utf8 = {.name = "vlen-utf8",
                                              .reads = "strings with their sizes",
                                              .library = "REFS",
                                              .decode = refs_codec__vlen_decode};
