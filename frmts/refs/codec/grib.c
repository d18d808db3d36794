/* grib.c -- codec "grib" of kerchunk: the values, latitudes or longitudes of one GRIB message, in the
 * order of the message; missing values are NaN. */
#include <eccodes.h>
#include <math.h>
#include <pthread.h>

#include "numbers.h"

/* ecCodes has one context for a process, and is safe for several threads only where it was built
 * for that, which it does not tell. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

/* What ecCodes is asked to put for missing values: none of the field's own. */
#define MISSING 1e36

typedef struct grib_codec {
    const char *key; /* of the message */
    refs_recast types;
} grib_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    refs_str var = refs_json_text(refs_json_get(context->config, "var"));
    const refs_json *dtype = refs_json_get(context->config, "dtype");
    grib_codec *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    bool is_latitude = refs_str_is(var, "latitude"), is_longitude = refs_str_is(var, "longitude");
    opened->key = is_latitude ? "latitudes" : is_longitude ? "longitudes" : "values";
    refs_str type = refs_json_is_string(dtype)   ? refs_json_text(dtype)
                    : is_latitude || is_longitude ? refs_str_from("float64")
                                                  : refs_str_from("float32");
    return refs_codec__number_parse(type, &opened->types.decoded, err);
}

/* -- a message --------------------------------------------------------------------------------- */

static uint32_t load_be24(const uint8_t *p) {
    return refs_load_be32(p) >> 8;
}

/* Whether the sections of a message lie end to end and fill it (WMO manual on codes, FM 92): what
 * ecCodes relies on. */
static bool has_sections(refs_bytes message) {
    size_t at = 16;
    if (message.size < 20 || memcmp(message.data, "GRIB", 4) != 0) return false;
    if (message.data[7] == 1)
        return load_be24(message.data + 4) <= message.size &&
               memcmp(message.data + message.size - 4, "7777", 4) == 0;
    if (message.data[7] != 2 || refs_load_be64(message.data + 8) != message.size) return false;
    while (message.size - at > 4) {
        uint32_t size = refs_load_be32(message.data + at);
        if (size < 5 || size > message.size - at - 4) return false;
        at += size;
    }
    return memcmp(message.data + at, "7777", 4) == 0;
}

/* One message on its way. */
typedef struct message_values {
    const grib_codec *codec;
    double *numbers;
    size_t n;
    uint8_t *dst; /* where they go */
} message_values;

/* Makes room for as many numbers as the message says it has, in `values` and in the output. */
static refs_status make_room(message_values *values, refs_codec_output *output, refs_error *err) {
    size_t size;
    if (!refs_mul_size(values->n, values->codec->types.decoded.size, &size))
        return refs_fail(err, REFS_LIMIT, "%zu numbers are too many", values->n);
    REFS_TRY(refs_codec__output_add(output, size, &values->dst, err));
    values->numbers = refs_calloc(values->n, sizeof *values->numbers);
    return values->numbers != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status read_values(codes_handle *message, message_values *values,
                               refs_codec_output *output, refs_error *err) {
    const char *key = values->codec->key;
    (void)codes_set_double(message, "missingValue", MISSING);
    int result = codes_get_size(message, key, &values->n);
    if (result == CODES_SUCCESS) {
        REFS_TRY(make_room(values, output, err));
        size_t n = values->n;
        result = codes_get_double_array(message, key, values->numbers, &n);
        if (n != values->n) result = CODES_WRONG_ARRAY_SIZE;
    }
    if (result == CODES_SUCCESS) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "%s: %s", key, codes_get_error_message(result));
}

static refs_status read_message(refs_bytes message, message_values *values, refs_codec_output *output,
                                refs_error *err) {
    pthread_mutex_lock(&library_lock);
    codes_handle *handle = codes_handle_new_from_message(NULL, message.data, message.size);
    refs_status status = handle != NULL
                             ? read_values(handle, values, output, err)
                             : refs_fail(err, REFS_CORRUPT, "ecCodes cannot read the message");
    if (handle != NULL) codes_handle_delete(handle);
    pthread_mutex_unlock(&library_lock);
    return status;
}

static void put_values(const message_values *values) {
    refs_recast_pass pass = {.types = &values->codec->types, .dst = values->dst};
    double *numbers = values->numbers;
    for (size_t i = 0; i < values->n; i++)
        if (numbers[i] == MISSING) numbers[i] = (double)NAN;
    for (size_t i = 0, n; i < values->n; i += n) {
        n = values->n - i < REFS_NUMBER_BLOCK ? values->n - i : REFS_NUMBER_BLOCK;
        refs_codec__put_doubles(&pass, numbers + i, n);
    }
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    message_values values = {.codec = self};
    if (!has_sections(encoded))
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are no whole GRIB message", encoded.size);
    refs_status status = read_message(encoded, &values, output, err);
    if (status == REFS_OK) put_values(&values);
    refs_free(values.numbers);
    return status;
}

const refs_codec_type refs_codec_grib = {.name = "grib",
                                         .library = "ecCodes",
                                         .open = open_codec,
                                         .decode = decode,
                                         .close = refs_free};
