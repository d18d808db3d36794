/* fixedscaleoffset.c -- codec "fixedscaleoffset", and "scale_offset" of Zarr v3, which does not
 * cast: encoded / scale + offset. As in NumPy, computed in the encoded type if that is a float,
 * else in doubles. */
#include "scale.h"

typedef struct fixed_scale {
    refs_recast types;
    refs_scaling how;
} fixed_scale;

/* Reads an optional number of v3's codec, or a required one; an absent one keeps its default. */
static refs_status read_number(const refs_codec_context *context, const char *member,
                               double *number, refs_error *err) {
    const refs_json *given = refs_json_get(context->config, member);
    if (given == NULL && strcmp(context->id, "scale_offset") == 0) return REFS_OK;
    if (refs_json_double(given, number)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: expected a number", member);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_recast_members members = REFS_RECAST_MEMBERS_INIT;
    fixed_scale *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    REFS_TRY(refs_codec__recast_open(context, &members, &opened->types, encoded_size, err));
    opened->how.scale = 1;
    opened->how.offset = 0;
    REFS_TRY(read_number(context, "scale", &opened->how.scale, err));
    REFS_TRY(read_number(context, "offset", &opened->how.offset, err));
    opened->how.scale = refs_codec__round(&opened->types.encoded, opened->how.scale);
    opened->how.offset = refs_codec__round(&opened->types.encoded, opened->how.offset);
    return REFS_OK;
}

/* Scales numbers of any type. */
static void scale_blocks(const fixed_scale *codec, refs_recast_pass *pass) {
    const refs_number_type *type = &codec->types.encoded;
    double numbers[REFS_NUMBER_BLOCK];
    for (size_t n; (n = refs_codec__take_doubles(pass, numbers)) > 0;) {
        for (size_t i = 0; i < n; i++) {
            double scaled = refs_codec__round(type, numbers[i] / codec->how.scale);
            numbers[i] = refs_codec__round(type, scaled + codec->how.offset);
        }
        refs_codec__put_doubles(pass, numbers, n);
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const fixed_scale *codec = self;
    refs_recast_pass pass;
    REFS_TRY(refs_codec__recast_begin(&codec->types, encoded, output, &pass, err));
    refs_scale scale = refs_codec__scale_for(&codec->types);
    if (scale != NULL)
        scale(&codec->how, pass.src, pass.n_left, pass.dst);
    else
        scale_blocks(codec, &pass);
    return REFS_OK;
}

static const char *const aliases[] = {"scale_offset", NULL};

const refs_codec_type refs_codec_fixedscaleoffset = {.name = "fixedscaleoffset",
                                                     .aliases = aliases,
                                                     .reads = "scaled numbers",
                                                     .library = "REFS",
                                                     .open = open_codec,
                                                     .decode = decode,
                                                     .close = refs_free};
