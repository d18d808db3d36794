/* quantize.c -- codec "quantize": floats of which few digits were kept; decoding only casts. */
#include "numbers.h"

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_recast_members members = REFS_RECAST_MEMBERS_INIT;
    refs_recast *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    return refs_codec__recast_open(context, &members, opened, encoded_size, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    return refs_codec__recast(self, encoded, output, err);
}

const refs_codec_type refs_codec_quantize = {.name = "quantize",
                                             .reads = "rounded numbers",
                                             .library = "REFS",
                                             .open = open_codec,
                                             .decode = decode,
                                             .close = refs_free};
