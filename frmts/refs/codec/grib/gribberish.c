/* gribberish.c -- codec "gribberish": the first field of one GRIB message as a Zarr array,
 * optionally rotated so that longitudes ascend from -180 and the first row is the northernmost.
 *
 * Source: https://github.com/mpiannucci/gribberish, python/gribberish/zarr/codec.py and
 * gribberish/src/utils/iter/projection.rs. Departures: points that are stored by columns or in
 * alternating directions are reordered; coordinates of grids are evenly spaced from the first point
 * to the last; the decimal scale factor of constant fields is applied. */
#include <math.h>

#include "field.h"

typedef struct gribberish_codec {
    bool is_coordinate;
    refs_grib_axis axis; /* of a coordinate */
    bool adjust_longitude_range, north_up;
    refs_number_type type;
} gribberish_codec;

static refs_status read_flag(const refs_json *config, const char *name, bool *flag,
                             refs_error *err) {
    const refs_json *given = refs_json_get(config, name);
    if (given == NULL || refs_json_bool(given, flag)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: expected true or false", name);
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    refs_str var = refs_json_text(refs_json_get(context->config, "var"));
    gribberish_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->is_coordinate = refs_str_is(var, "latitude") || refs_str_is(var, "longitude");
    opened->axis = refs_str_is(var, "latitude") ? REFS_GRIB_LATITUDES : REFS_GRIB_LONGITUDES;
    REFS_TRY(
        read_flag(context->config, "adjust_longitude_range", &opened->adjust_longitude_range, err));
    REFS_TRY(read_flag(context->config, "north_up", &opened->north_up, err));
    return refs_codec__grib_type(context, &opened->type, err);
}

/* -- turning ----------------------------------------------------------------------------------- */

/* The rows and columns of a grid. */
typedef struct grid {
    size_t nx, ny;
    bool is_upwards;
    bool has_axes; /* rows are latitudes, columns longitudes */
} grid;

static double wrap(double longitude) {
    return longitude >= 180 ? longitude - 360 : longitude;
}

/* Longitudes of the columns from 0 to 360, unless they begin below 0. */
static bool find_longitudes(const refs_grib_message *message, const grid *rows,
                            double *longitudes) {
    if (!refs_grib_axis_values(message->whole.data[7], message->grid, REFS_GRIB_LONGITUDES,
                               rows->nx, longitudes))
        return false;
    for (size_t i = rows->nx; i-- > 0;) {
        if (longitudes[i] >= 360)
            longitudes[i] -= 360;
        else if (longitudes[i] < 0 && longitudes[0] >= 0)
            longitudes[i] += 360;
    }
    return true;
}

/* The column that becomes the first one; false if columns do not ascend, or do not cover 360
 * degrees within a quarter of a column: then they are not rotated. */
static bool find_seam(const double *longitudes, size_t nx, size_t *seam) {
    double step = nx > 1 ? longitudes[1] - longitudes[0] : 0;
    if (!(step > 0) || fabs(step * (double)nx - 360) >= step / 4) return false;
    *seam = 0;
    for (size_t i = 1; i < nx; i++)
        if (wrap(longitudes[i]) < wrap(longitudes[*seam])) *seam = i;
    return true;
}

/* Moves numbers so that number `first` is the first one. */
static void roll(double *numbers, size_t n, size_t first, double *spare) {
    memcpy(spare, numbers, first * sizeof *numbers);
    memmove(numbers, numbers + first, (n - first) * sizeof *numbers);
    memcpy(numbers + n - first, spare, first * sizeof *numbers);
}

static void reverse_rows(double *numbers, size_t ny, size_t nx, double *spare) {
    for (size_t i = 0; i < ny / 2; i++) {
        double *low = numbers + i * nx, *high = numbers + (ny - 1 - i) * nx;
        memcpy(spare, low, nx * sizeof *spare);
        memcpy(low, high, nx * sizeof *spare);
        memcpy(high, spare, nx * sizeof *spare);
    }
}

/* Rotates and flips the numbers of all points, as configured. */
static refs_status turn(const gribberish_codec *codec, const refs_grib_message *message,
                        const grid *rows, double *numbers, refs_error *err) {
    size_t seam = 0;
    REFS_SCOPED double *longitudes = refs_calloc(rows->nx, sizeof *longitudes);
    if (longitudes == NULL) return refs_fail_nomem(err);
    if (codec->adjust_longitude_range && find_longitudes(message, rows, longitudes) &&
        find_seam(longitudes, rows->nx, &seam))
        for (size_t i = 0; i < rows->ny && seam > 0; i++)
            roll(numbers + i * rows->nx, rows->nx, seam, longitudes);
    if (codec->north_up && rows->is_upwards) reverse_rows(numbers, rows->ny, rows->nx, longitudes);
    return REFS_OK;
}

/* -- decoding ---------------------------------------------------------------------------------- */

static refs_status read_axis(const gribberish_codec *codec, const refs_grib_message *message,
                             const grid *rows, double *numbers, refs_error *err) {
    size_t seam;
    if (codec->axis == REFS_GRIB_LATITUDES) {
        if (!refs_grib_axis_values(message->whole.data[7], message->grid, codec->axis, rows->ny,
                                   numbers))
            return refs_fail(err, REFS_CORRUPT, "the latitudes of the grid cannot be computed");
        for (size_t i = 0; i < rows->ny / 2 && codec->north_up && rows->is_upwards; i++) {
            double swapped = numbers[i];
            numbers[i] = numbers[rows->ny - 1 - i];
            numbers[rows->ny - 1 - i] = swapped;
        }
        return REFS_OK;
    }
    REFS_SCOPED double *spare = refs_calloc(rows->nx, sizeof *spare);
    if (spare == NULL) return refs_fail_nomem(err);
    find_longitudes(message, rows, numbers);
    if (codec->adjust_longitude_range && find_seam(numbers, rows->nx, &seam)) {
        for (size_t i = 0; i < rows->nx; i++) numbers[i] = wrap(numbers[i]);
        roll(numbers, rows->nx, seam, spare);
    }
    return REFS_OK;
}

/* Points of a grid without axes have longitudes from -180 to 180. */
static refs_status read_points(const gribberish_codec *codec, const refs_grib_message *message,
                               double *numbers, refs_error *err) {
    REFS_TRY(refs_codec__grib_coordinate(message, codec->axis, numbers, err));
    for (size_t i = 0; i < message->n_points && codec->axis == REFS_GRIB_LONGITUDES; i++)
        numbers[i] = wrap(numbers[i]);
    return REFS_OK;
}

/* Whether the points of the message are in rows of one length. */
static bool find_grid(const refs_grib_message *message, grid *found) {
    refs_grib_rows rows;
    if (!refs_grib_rows_read(message->whole.data[7], message->grid, &rows) ||
        rows.nx * rows.ny != message->n_points)
        return false;
    *found = (grid){(size_t)rows.nx, (size_t)rows.ny, (rows.mode & REFS_GRIB_UPWARDS) != 0, false};
    REFS_SCOPED double *longitudes = refs_calloc(found->nx, sizeof *longitudes);
    found->has_axes = longitudes != NULL && find_longitudes(message, found, longitudes);
    return true;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const gribberish_codec *codec = self;
    refs_grib_message message;
    refs_grib_numbers numbers;
    grid rows = {0, 0, false, false};
    REFS_TRY(refs_codec__grib_parse(encoded, 0, &message, err));
    const bool has_rows = find_grid(&message, &rows);
    const bool is_axis = codec->is_coordinate && has_rows && rows.has_axes;
    const size_t n_axis = codec->axis == REFS_GRIB_LATITUDES ? rows.ny : rows.nx;
    REFS_TRY(refs_codec__grib_begin(&codec->type, is_axis ? n_axis : message.n_points, output,
                                    &numbers, err));
    refs_status status = is_axis ? read_axis(codec, &message, &rows, numbers.values, err)
                         : codec->is_coordinate
                             ? read_points(codec, &message, numbers.values, err)
                             : refs_codec__grib_values(&message, numbers.values, err);
    if (status == REFS_OK && !is_axis && has_rows)
        status = turn(codec, &message, &rows, numbers.values, err);
    return refs_codec__grib_end(&codec->type, &numbers, status);
}

static const char *const aliases[] = {"virtualizarr.gribberish", NULL};

const refs_codec_type refs_codec_gribberish = {
    .name = "gribberish",
    .aliases = aliases,
    .reads = "one GRIB message as `grib` reads it; longitudes from -180 and rows from the north "
             "if so configured",
    .library = "REFS, ecCodes for coordinates",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
