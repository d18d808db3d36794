/* coordinate.c -- latitudes and longitudes of all points of a grid, see field.h. */
#include <eccodes.h>

#include "field.h"
#include "refs/fork.h"
#include "refs/lazy.h"

/* ecCodes has one context per process. Only some builds of it are thread-safe, and it cannot be
 * asked which. */
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

refs_status refs_codec__grib_coordinate(const refs_grib_message *message, refs_grib_axis axis,
                                        double *numbers, refs_error *err) {
    const char *key = axis == REFS_GRIB_LATITUDES ? "latitudes" : "longitudes";
    REFS_SCOPED_BUF grid = REFS_BUF_INIT;
    refs_status status =
        refs_grib_points(message->whole.data[7], message->grid, axis, message->n_points, numbers);
    if (status == REFS_NOMEM) return refs_fail_nomem(err);
    if (status == REFS_OK) return REFS_OK;
    REFS_TRY(refs_codec__grib_check_grid(message, err));
    status = refs_codec__grib_grid_alone(message, &grid, err);
    if (status == REFS_OK) {
        refs_lock(&library_lock);
        status = read_by_library(refs_buf_view(&grid), key, numbers, message->n_points, err);
        refs_unlock(&library_lock);
    }
    return status;
}
