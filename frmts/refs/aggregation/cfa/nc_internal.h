/* nc_internal.h -- what the files behind nc_file.h share. */
#ifndef REFS_AGGREGATION_CFA_NC_INTERNAL_H
#define REFS_AGGREGATION_CFA_NC_INTERNAL_H

#include "cfa/nc_file.h"
#include "cfa/nc_library.h"

/** Values that wait for the definitions to end. */
typedef struct nc_kept {
    nc_place place;
    refs_buf values;
    size_t n_strings; /**< strings of netCDF-4, with a NUL after each; 0: elements */
} nc_kept;

/** A dimension without limit, which has no length before values are written. */
typedef struct nc_growing {
    int id; /**< one file has no two dimensions of one number */
    size_t size;
} nc_growing;

/** A dimension that attributes of a variable name. */
typedef struct nc_named_dimension {
    int group;
    char *variable, *name;
    uint64_t length; /**< that the variable takes it to have */
} nc_named_dimension;

struct nc_file {
    char *shown;
    char *folder; /**< that it is written in */
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

/** The status for a code of the library, of what was done to `name`. */
refs_status refs_cfa__nc_fail(const nc_file *file, int code, const char *name, refs_error *err);

/** The type that elements have in the file: halves are floats there, dates are integers. */
refs_status refs_cfa__nc_type(const nc_file *file, const char *name, const refs_dtype *dtype,
                              nc_type *type, refs_error *err);

/** Appends elements of `dtype` as those of its type in the file. */
refs_status refs_cfa__nc_convert(const refs_dtype *dtype, refs_bytes values, refs_buf *converted,
                                 refs_error *err);

#endif
