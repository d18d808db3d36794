/* nc_internal.h -- shared by the files that implement nc_file.h. */
#ifndef REFS_AGGREGATION_CFA_NC_INTERNAL_H
#define REFS_AGGREGATION_CFA_NC_INTERNAL_H

#include "cfa/nc_file.h"
#include "cfa/nc_library.h"

/** Values that are written once the definitions have ended. */
typedef struct nc_kept {
    nc_place place;
    refs_buf values;
    size_t n_strings; /**< strings of netCDF-4, with a NUL after each; 0: elements */
} nc_kept;

/** An unlimited dimension, which has no length before values are written. */
typedef struct nc_growing {
    int id; /**< unique in the file */
    size_t size;
} nc_growing;

/** A dimension that attributes of a variable name. */
typedef struct nc_named_dimension {
    int group;
    char *variable, *name;
    uint64_t length; /**< the length that the variable expects */
} nc_named_dimension;

struct nc_file {
    char *shown;
    char *folder; /**< the folder of the file */
    refs_cfa_format format;
    int id;
    bool is_open;
    bool is_ready; /**< definitions have ended */
    nc_growing *growing;
    size_t n_growing, growing_capacity;
    nc_named_dimension *named;
    size_t n_named, named_capacity;
    nc_kept *kept;
    size_t n_kept, kept_capacity;
    size_t kept_bytes;
    uint64_t size; /**< about what its other values will take */
};

/** Fails with the status and message for a code of the library, about `name`. */
refs_status refs_cfa__nc_fail(const nc_file *file, int code, const char *name, refs_error *err);

/** The type of elements in the file: halves become floats, dates integers. */
refs_status refs_cfa__nc_type(const nc_file *file, const char *name, const refs_dtype *dtype,
                              nc_type *type, refs_error *err);

/** Appends elements of `dtype`, converted to the type in the file. */
refs_status refs_cfa__nc_convert(const refs_dtype *dtype, refs_bytes values, refs_buf *converted,
                                 refs_error *err);

#endif
