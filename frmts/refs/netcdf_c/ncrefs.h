/* ncrefs.h -- sets as files of netCDF-C: groups, dimensions, variables, attributes, types.
 *
 * libncrefs.so is a user-defined format of netCDF-C. Its dispatch table (dispatch.c) implements
 * calls of netCDF-C by lookups in a model of the set (model.c) and reads of regions (read.c).
 * Nothing is written.
 *
 * The library is not linked with netCDF-C, of which a process may have several copies: preload.c
 * finds the calling one. Like netCDF-C, it requires that a file is used by one thread at a time.
 *
 * Identifiers are those of netCDF-C. The lower 16 bits of an ncid are the number of a group in its
 * file; varids count in a group, and ids of dimensions and user-defined types in a file.
 *
 * Sources: netcdf.h and netcdf_dispatch.h of netCDF-C 4.9.0 to 4.10.1 (the dispatch table has
 * version 5 in all of them); NetCDF User's Guide.
 */
#ifndef NCREFS_H
#define NCREFS_H

#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <netcdf_meta.h>

#include "refs/array.h"
#include "refs/session.h"
#include "refs/vfs.h"
#include "refs/zarr.h"

/** The attribute with the value of unwritten elements. */
#define NCREFS_FILL "_FillValue"

/** REFS_TRY for codes of netCDF-C. */
#define NCREFS_TRY(expression)                                                                     \
    do {                                                                                           \
        const int ncrefs_try_code_ = (expression);                                                 \
        if (ncrefs_try_code_ != NC_NOERR) return ncrefs_try_code_;                                 \
    } while (0)

/** Most groups: numbers in the lower half of an ncid. */
#define NCREFS_MAX_GROUPS 65536

/* -- types.c ----------------------------------------------------------------------------------- */

/** A user-defined type: a compound of two members for complex numbers, or an opaque type. */
typedef struct ncrefs_type {
    char name[32];
    size_t size;    /**< bytes */
    nc_type member; /**< NC_FLOAT or NC_DOUBLE of "r" and "i"; NC_NAT: it is opaque */
} ncrefs_type;

/** The types of a file; the first is NC_FIRSTUSERTYPEID. */
typedef struct ncrefs_types {
    ncrefs_type *items;
    size_t n, capacity;
} ncrefs_types;

/** The netCDF type of elements; adds a user-defined type if necessary. */
refs_status ncrefs_type_of(ncrefs_types *types, const refs_array_meta *meta, nc_type *type,
                           refs_error *err);

/** Finds a user-defined type; NULL for other types. */
const ncrefs_type *ncrefs_find_type(const ncrefs_types *types, nc_type type);

/** Bytes of an element in memory; 0 for an invalid type. */
size_t ncrefs_size_of(const ncrefs_types *types, nc_type type);

/* -- attributes.c ------------------------------------------------------------------------------ */

typedef struct ncrefs_attribute {
    const char *name; /**< borrowed from the set, or constant */
    nc_type type;
    size_t n;
    void *values; /**< owned: elements of the type; of NC_STRING, pointers into what follows them */
} ncrefs_attribute;

typedef struct ncrefs_attributes {
    ncrefs_attribute *items;
    size_t n, capacity;
} ncrefs_attributes;

/** Adds the attributes of a JSON object, which may be NULL, except hidden ones
 * (refs_typed_is_hidden) and the _FillValue of a variable. Numbers that CF defines to have the type
 * of their variable, `of`, get that type if it can represent them; `of` is NC_NAT for a group. */
refs_status ncrefs_add_attributes(const refs_json *object, nc_type of, ncrefs_attributes *all,
                                  refs_error *err);

/** Inserts an attribute as number `place`; copies its `n` values, of a numeric type or NC_CHAR. */
refs_status ncrefs_add_at(ncrefs_attributes *all, size_t place, const ncrefs_attribute *attribute,
                          refs_error *err);

/** Adds _FillValue of a variable of `type`: NC_STRING, or NC_CHAR with the first byte of `text`. */
refs_status ncrefs_add_fill_text(ncrefs_attributes *all, nc_type type, refs_str text,
                                 refs_error *err);

/** Finds an attribute; NULL if there is none. */
const ncrefs_attribute *ncrefs_find_attribute(const ncrefs_attributes *all, const char *name);
void ncrefs_attributes_clear(ncrefs_attributes *all);

/* -- model.c ----------------------------------------------------------------------------------- */

typedef struct ncrefs_dim {
    char *name;
    size_t size;
    size_t group;
    bool is_unlimited;
} ncrefs_dim;

typedef struct ncrefs_variable {
    const refs_array_meta *meta;
    const char *name;
    size_t group;
    nc_type type;
    int dims[REFS_MAX_RANK];
    uint8_t fill[8];  /**< of a number: the declared one, that of the array, or netCDF's default; of
                         a char: the declared one */
    bool has_fill;    /**< of a numeric type */
    bool is_unfilled; /**< netCDF's default fill value is a valid value */
    ncrefs_attributes attributes;
    refs_array *array; /**< NULL before it is read */
    refs_reader *reader;
    refs_buf strings;  /**< NC_STRING of variable length: all elements, each with a NUL */
    size_t *string_at; /**< their offsets; NULL before the first read */
} ncrefs_variable;

typedef struct ncrefs_group {
    const char *name, *path;
    size_t parent; /**< the root is its own parent */
    size_t *variables, n_variables;
    ncrefs_attributes attributes;
    const refs_json *unlimited; /**< names of unlimited dimensions, or NULL */
    const refs_json *unused;    /**< sizes of dimensions that no variable uses, or NULL */
} ncrefs_group;

typedef struct ncrefs_model {
    ncrefs_group *groups; /**< parents before their children; 0 is the root */
    size_t n_groups;
    ncrefs_dim *dims;
    size_t n_dims, dims_capacity;
    ncrefs_variable *variables;
    size_t n_variables;
    ncrefs_types types;
    bool is_classic; /**< all numbers are big-endian and stored without codecs, as in netCDF-3 */
} ncrefs_model;

/** Makes the model of a hierarchy, which must outlive it. Invalid arrays are omitted, with a
 * note. */
refs_status ncrefs_model_make(const refs_hierarchy *hierarchy, const refs_notes *notes,
                              ncrefs_model *model, refs_error *err);
void ncrefs_model_clear(ncrefs_model *model);

/* -- session.c --------------------------------------------------------------------------------- */

/** The session of the process, which the first call opens. */
refs_status ncrefs_session_get(refs_session **session, refs_error *err);

/** Prints a failure to standard error, if that is a terminal or NCREFS_VERBOSE is set. */
void ncrefs_tell(const char *about, const refs_error *err);

/** A file that is open. */
typedef struct ncrefs_file {
    int ncid; /**< of its root group */
    int mode; /**< of nc_open */
    char *name;
    ncrefs_model model;
    refs_opened *opened;
    const char **rewrites; /**< pointers into … */
    char *rewrites_text;
} ncrefs_file;

/** Opens a set or a data file by a user's name. */
refs_status ncrefs_file_open(const char *name, ncrefs_file **file, refs_error *err);
void ncrefs_file_free(ncrefs_file *file);

/** Opens the array of a variable for reading, if necessary. */
refs_status ncrefs_file_array(const ncrefs_file *file, ncrefs_variable *variable, refs_error *err);

/* -- files.c: files by ncid -------------------------------------------------------------------- */

/** Adds an open file to the table of files, by its ncid; removes it. */
int ncrefs_enter(ncrefs_file *file);
ncrefs_file *ncrefs_take_out(int ncid);

/** Finds an open file; NULL if there is none. */
ncrefs_file *ncrefs_find_file(int ncid);

/* -- read.c ------------------------------------------------------------------------------------ */

/** A region of a variable, and the destination of its elements. */
typedef struct ncrefs_request {
    const size_t *start, *count; /**< elements; ignored for a scalar */
    const ptrdiff_t *stride;     /**< or NULL: 1 */
    const ptrdiff_t *map;        /**< distance in memory along each dimension, in elements of
                                    `type`; or NULL */
    nc_type type;                /**< of the destination; NC_NAT: that of the variable */
    void *values;
} ncrefs_request;

/** The semantics are those of nc_get_varm. */
int ncrefs_read(const ncrefs_file *file, ncrefs_variable *variable, const ncrefs_request *request);

/** The netCDF-C code of a failed read. */
int ncrefs_code_of(refs_status status);

/* -- convert.c --------------------------------------------------------------------------------- */

/** Converts `n` elements of a numeric type to another; NC_ERANGE, after all of them were converted,
 * if a value does not fit; NC_ECHAR between text and numbers. */
int ncrefs_convert(nc_type from, const void *src, nc_type to, void *dst, size_t n);

/* -- filters.c --------------------------------------------------------------------------------- */

/** The storage of a variable, as netCDF-C describes it. */
typedef struct ncrefs_storage {
    bool is_contiguous, shuffles, has_fletcher32;
    int deflate_level; /**< 0: no deflate */
    struct {
        unsigned id; /**< of the HDF5 filter registry */
        unsigned parameters[8];
        size_t n_parameters;
    } filters[REFS_MAX_RANK];
    size_t n_filters;
} ncrefs_storage;

void ncrefs_storage_of(const refs_array_meta *meta, ncrefs_storage *storage);

/* -- dispatch.c -------------------------------------------------------------------------------- */

/** The user-defined format. */
NC_Dispatch *ncrefs_table(void);

/** The name in a path of nc_open: without "file://", and without the fragment "#mode=udf0";
 * *is_asked is true if it has that. For the caller to free; NULL when memory ran out. */
char *ncrefs_plain_name(const char *path, bool *is_asked);

/** Makes the next nc_open on this thread open `name`, whatever path it has; NULL cancels that. */
void ncrefs_open_next(const char *name);

#endif
