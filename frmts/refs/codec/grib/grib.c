/* grib.c -- codec "grib" of kerchunk: the values, latitudes or longitudes of one GRIB message, row
 * by row, from the first point of each to its last, whatever their order in the message; missing
 * values are NaN. "field" is the number, from 0, of a field in a message with several. */
#include "field.h"

typedef struct grib_codec {
    bool is_coordinate;
    refs_grib_axis axis; /* of a coordinate */
    refs_number_type type;
    size_t field; /* of a message that has several */
} grib_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    refs_str var = refs_json_text(refs_json_get(context->config, "var"));
    const refs_json *dtype = refs_json_get(context->config, "dtype");
    grib_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->is_coordinate = refs_str_is(var, "latitude") || refs_str_is(var, "longitude");
    opened->axis = refs_str_is(var, "latitude") ? REFS_GRIB_LATITUDES : REFS_GRIB_LONGITUDES;
    uint64_t field = 0;
    refs_json_u64(refs_json_get(context->config, "field"), &field);
    opened->field = field < SIZE_MAX ? (size_t)field : SIZE_MAX;
    refs_str type = refs_json_is_string(dtype) ? refs_json_text(dtype)
                    : opened->is_coordinate    ? refs_str_from("float64")
                                               : refs_str_from("float32");
    return refs_codec__number_parse(type, &opened->type, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const grib_codec *codec = self;
    refs_grib_message message;
    refs_grib_numbers numbers;
    REFS_TRY(refs_codec__grib_parse(encoded, codec->field, &message, err));
    REFS_TRY(refs_codec__grib_begin(&codec->type, message.n_points, output, &numbers, err));
    refs_status status =
        codec->is_coordinate
            ? refs_codec__grib_coordinate(&message, codec->axis, numbers.values, err)
            : refs_codec__grib_values(&message, numbers.values, err);
    return refs_codec__grib_end(&codec->type, &numbers, status);
}

const refs_codec_type refs_codec_grib = {
    .name = "grib",
    .reads = "one GRIB message of edition 1 or 2: values in simple, complex, IEEE, JPEG 2000, PNG "
             "and CCSDS packing, latitudes, longitudes",
    .library = "REFS, ecCodes for coordinates",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
