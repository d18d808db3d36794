/* grib.c -- codec "grib" of kerchunk: the values, latitudes or longitudes of one GRIB message, row
 * by row, from the first point of each to its last, in whatever order the message holds them;
 * missing values are NaN. "field" is the number of one field among
 * several of a message, counted from 0. */
#include <eccodes.h>

#include "grib_message.h"
#include "numbers.h"
#include "refs/fork.h"
#include "refs/grib_points.h"
#include "refs/grib_rows.h"
#include "refs/lazy.h"

/* ecCodes has one context for a process, and is safe for several threads only where it was built
 * for that, which it does not tell. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

/* clang-format off */
#define FUNCTIONS(F) \
    F(codes_handle_new_from_message) F(codes_handle_delete) F(codes_get_size) \
    F(codes_get_double_array) F(codes_get_error_message)
/* clang-format on */
#define ENTRY(function) REFS_LAZY_ENTRY(eccodes, function)

static struct { FUNCTIONS(REFS_LAZY_MEMBER) } eccodes;
static const refs_lazy_function functions[] = {FUNCTIONS(ENTRY){NULL, NULL}};
static refs_lazy_library library = REFS_LAZY_LIBRARY(REFS_LAZY_eccodes, functions);

typedef struct grib_codec {
    const char *coordinate; /* the key of the message that has it; NULL: values */
    refs_recast types;
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
    opened->coordinate = refs_str_is(var, "latitude")    ? "latitudes"
                         : refs_str_is(var, "longitude") ? "longitudes"
                                                         : NULL;
    uint64_t field = 0;
    refs_json_u64(refs_json_get(context->config, "field"), &field);
    opened->field = field < SIZE_MAX ? (size_t)field : SIZE_MAX;
    refs_str type = refs_json_is_string(dtype)   ? refs_json_text(dtype)
                    : opened->coordinate != NULL ? refs_str_from("float64")
                                                 : refs_str_from("float32");
    return refs_codec__number_parse(type, &opened->types.decoded, err);
}

static refs_status get_array(codes_handle *handle, const char *key, double *numbers, size_t n,
                             refs_error *err) {
    size_t size = 0;
    int result = eccodes.codes_get_size(handle, key, &size);
    if (result == CODES_SUCCESS && size != n) result = CODES_WRONG_ARRAY_SIZE;
    if (result == CODES_SUCCESS)
        result = eccodes.codes_get_double_array(handle, key, numbers, &size);
    if (result == CODES_SUCCESS) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "%s: %s", key, eccodes.codes_get_error_message(result));
}

static refs_status read_by_library(refs_bytes grid, const char *key, double *numbers, size_t n,
                                   refs_error *err) {
    REFS_TRY(refs_lazy_load(&library, err));
    codes_handle *handle = eccodes.codes_handle_new_from_message(NULL, grid.data, grid.size);
    if (handle == NULL) return refs_fail(err, REFS_CORRUPT, "ecCodes cannot read the grid");
    refs_status status = get_array(handle, key, numbers, n, err);
    eccodes.codes_handle_delete(handle);
    return status;
}

static refs_status read_coordinate(const refs_grib_message *message, const char *key,
                                   double *numbers, refs_error *err) {
    refs_buf grid = REFS_BUF_INIT;
    refs_status status =
        refs_grib_points(message->whole.data[7], message->grid,
                         strcmp(key, "latitudes") == 0 ? REFS_GRIB_LATITUDES : REFS_GRIB_LONGITUDES,
                         message->n_points, numbers);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status == REFS_OK) return REFS_OK;
    REFS_TRY(refs_codec__grib_check_grid(message, err));
    status = refs_codec__grib_grid_alone(message, &grid, err);
    if (status == REFS_OK) {
        refs_lock(&library_lock);
        status = read_by_library(refs_buf_view(&grid), key, numbers, message->n_points, err);
        refs_unlock(&library_lock);
    }
    refs_buf_clear(&grid);
    return status;
}

/* Puts the values of a message that runs by columns, or to and fro, into rows. */
static refs_status put_in_rows(const refs_grib_message *message, double **numbers,
                               refs_error *err) {
    refs_grib_rows rows;
    if (!refs_grib_rows_read(message->whole.data[7], message->grid, &rows) ||
        rows.nx * rows.ny != message->n_points || !refs_grib_rows_need_reordering(&rows))
        return REFS_OK;
    double *ordered = refs_calloc(message->n_points, sizeof *ordered);
    if (ordered == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < message->n_points; i++)
        ordered[refs_grib_rows_place(&rows, i)] = (*numbers)[i];
    refs_free(*numbers);
    *numbers = ordered;
    return REFS_OK;
}

static void put_numbers(const grib_codec *codec, const double *numbers, size_t n, uint8_t *dst) {
    refs_recast_pass pass = {.types = &codec->types, .dst = dst};
    for (size_t i = 0; i < n; i += REFS_NUMBER_BLOCK)
        refs_codec__put_doubles(&pass, numbers + i,
                                n - i < REFS_NUMBER_BLOCK ? n - i : REFS_NUMBER_BLOCK);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const grib_codec *codec = self;
    refs_grib_message message;
    size_t size;
    uint8_t *dst;
    REFS_TRY(refs_codec__grib_parse(encoded, codec->field, &message, err));
    if (!refs_mul_size(message.n_points, codec->types.decoded.size, &size))
        return refs_fail(err, REFS_LIMIT, "%zu points are too many", message.n_points);
    REFS_TRY(refs_codec__output_add(output, size, &dst, err));
    double *numbers = refs_calloc(message.n_points, sizeof *numbers);
    if (numbers == NULL) return refs_fail_nomem(err);
    refs_status status = codec->coordinate != NULL
                             ? read_coordinate(&message, codec->coordinate, numbers, err)
                             : refs_codec__grib_unpack(&message, numbers, err);
    if (status == REFS_OK && codec->coordinate == NULL)
        status = put_in_rows(&message, &numbers, err);
    if (status == REFS_OK) put_numbers(codec, numbers, message.n_points, dst);
    refs_free(numbers);
    return status;
}

const refs_codec_type refs_codec_grib = {
    .name = "grib",
    .reads = "one GRIB message of edition 1 or 2: values in simple, complex, IEEE, JPEG 2000, PNG "
             "and CCSDS packing, latitudes, longitudes",
    .library = "REFS, ecCodes for coordinates",
    .open = open_codec,
    .decode = decode,
    .close = refs_free};
