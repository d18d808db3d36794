/* nc_absent.c -- replaces nc_file.c in a build without libnetcdf: no file can be written. */
#include "cfa/nc_file.h"

/* No file exists that functions could be called with. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define ABSENT(function, ...)                                                                      \
    refs_status function(__VA_ARGS__, refs_error *err) {                                           \
        return refs_fail(err, REFS_UNSUPPORTED,                                                    \
                         "this build cannot write netCDF: it lacks libnetcdf");                    \
    }

ABSENT(refs_cfa__file_create, const nc_creation *creation, nc_file **file)
ABSENT(refs_cfa__file_group, nc_file *file, refs_str path, int *group)
ABSENT(refs_cfa__file_dimension, nc_file *file, int group, const nc_dimension *added)
ABSENT(refs_cfa__file_name_dimension, nc_file *file, int group, const char *variable,
       const nc_dimension *named)
ABSENT(refs_cfa__file_define, nc_file *file, const nc_shape *shape, nc_place *place)
ABSENT(refs_cfa__file_attributes, nc_file *file, nc_place place, const refs_json *attributes)
ABSENT(refs_cfa__file_text, nc_file *file, nc_place place, const char *name, refs_str text)
ABSENT(refs_cfa__file_fill, nc_file *file, nc_place place, const refs_dtype *dtype,
       const uint8_t *fill)
ABSENT(refs_cfa__file_fill_nothing, nc_file *file, nc_place place)
ABSENT(refs_cfa__file_strings, nc_file *file, const nc_shape *shape, refs_bytes values,
       nc_place *place)
ABSENT(refs_cfa__file_keep, nc_file *file, nc_place place, const refs_dtype *dtype,
       refs_bytes values)
ABSENT(refs_cfa__file_ready, nc_file *file)
ABSENT(refs_cfa__file_put, nc_file *file, nc_place place, const nc_box *box, const void *values)
ABSENT(refs_cfa__file_mark, nc_file *file)
ABSENT(refs_cfa__file_close, nc_file *file)
ABSENT(refs_cfa_move, const char *path, const struct refs_aggregations *all,
       const refs_cfa_moving *moving, uint64_t *n)

void refs_cfa__file_free(nc_file *file) {}

bool refs_cfa_is_as_written(const char *path, refs_str mark) {
    return false;
}

bool refs_cfa_is_edited(const char *path, refs_str mark) {
    return false;
}

bool refs_cfa__file_finds_dimension(const nc_file *file, int group, const char *name,
                                    uint64_t size) {
    return false;
}

refs_cfa_format refs_cfa__file_format(const nc_file *file) {
    return REFS_CFA_NETCDF4;
}

const char *refs_cfa__file_shown(const nc_file *file) {
    return "";
}
