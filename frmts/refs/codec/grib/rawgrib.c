/* rawgrib.c -- codec "gribscan.rawgrib" of MPI-M: the values of one GRIB message.
 *
 * Source: https://github.com/gribscan/gribscan, gribscan/rawgribcodec.py. It returns ecCodes'
 * "values": missing ones are 9999, which is the fill value of such sets. */
#include <math.h>

#include "field.h"

/* ecCodes' default "missingValue". */
static const double missing = 9999;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    refs_number_type *type = refs_alloc(sizeof *type);
    if (type == NULL) return refs_fail_nomem(err);
    *self = type;
    return refs_codec__grib_type(context, type, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    refs_grib_message message;
    refs_grib_numbers numbers;
    REFS_TRY(refs_codec__grib_parse(encoded, 0, &message, err));
    REFS_TRY(refs_codec__grib_begin(self, message.n_points, output, &numbers, err));
    refs_status status = refs_codec__grib_values(&message, numbers.values, err);
    for (size_t i = 0; i < message.n_points && status == REFS_OK; i++)
        if (isnan(numbers.values[i])) numbers.values[i] = missing;
    return refs_codec__grib_end(self, &numbers, status);
}

static const char *const aliases[] = {"rawgrib", NULL};

const refs_codec_type refs_codec_rawgrib = {
    .name = "gribscan.rawgrib",
    .aliases = aliases,
    .reads = "the values of one GRIB message, 9999 where they are missing",
    .library = "REFS",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
