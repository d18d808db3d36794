/* quantize.c -- codec "quantize": floats rounded to few digits; decoding only casts. */
#include "numbers.h"

const refs_codec_type refs_codec_quantize = {.name = "quantize",
                                             .reads = "rounded numbers",
                                             .library = "REFS",
                                             .open = refs_codec__recast_open_codec,
                                             .decode = refs_codec__recast,
                                             .close = refs_free};
