/* astype.c -- codec "astype": numbers cast from one type to another. "cast_value" of Zarr v3 is the
 * same, from the type it names to the array's. */
#include "numbers.h"

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    refs_recast *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    bool is_v3 = strcmp(context->id, "cast_value") == 0;
    const refs_recast_members members = {"decode_dtype", is_v3 ? "data_type" : "encode_dtype"};
    return refs_codec__recast_open(context, &members, opened, encoded_size, err);
}

static const char *const aliases[] = {"cast_value", NULL};

const refs_codec_type refs_codec_astype = {.name = "astype",
                                           .aliases = aliases,
                                           .reads = "numbers stored as another type",
                                           .library = "REFS",
                                           .open = open_codec,
                                           .decode = refs_codec__recast,
                                           .close = refs_free};
