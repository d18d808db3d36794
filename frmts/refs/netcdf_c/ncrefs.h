/* ncrefs.h -- sets as netCDF-C's library sees files: groups, dimensions, variables, attributes,
 * types.
 *
 * A user of the core, like the program refs: libncrefs.so is a user-defined format of netCDF-C. Its
 * dispatch table (dispatch.c) turns calls of netCDF-C into lookups in a model of the set (model.c)
 * and into reads of regions (read.c). Nothing is written.
 *
 * The library is not linked with netCDF-C, of which a process may have several: preload.c finds the
 * one that calls. Threads are netCDF-C's matter: a file is used by one at a time.
 *
 * Identifiers are netCDF-C's. The lower 16 bits of an ncid number the groups of a file, those of a
 * variable count in its group, those of dimensions and user-defined types in their file.
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

/** The attribute that says what stands where nothing was written. */
#define NCREFS_FILL "_FillValue"

/** REFS_TRY for codes of netCDF-C. */
#define NCREFS_TRY(expression)                                                                     \
    do {                                                                                           \
        const int ncrefs_try_code_ = (expression);                                                 \
        if (ncrefs_try_code_ != NC_NOERR) return ncrefs_try_code_;                                 \
    } while (0)

/** Groups that the lower half of an ncid can number. */
#define NCREFS_MAX_GROUPS 65536

/* -- types.c ----------------------------------------------------------------------------------- */

/** A user-defined type: complex numbers are compounds of two members, what is opaque to the core is
 * opaque. */
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

/** The type that elements have for netCDF; adds one where there is none yet. */
refs_status ncrefs_type_of(ncrefs_types *types, const refs_array_meta *meta, nc_type *type,
                           refs_error *err);

/** NULL: no user-defined type. */
const ncrefs_type *ncrefs_find_type(const ncrefs_types *types, nc_type type);

/** Bytes of an element in memory; 0 for no type. */
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

/** Takes over those of a JSON object, which may be NULL, but for those that are the format's own,
 * and of a variable _FillValue. Numbers whose variable is of another type get its type where CF
 * says that they have it and it holds them; `of` is NC_NAT for a group. */
refs_status ncrefs_add_attributes(const refs_json *object, nc_type of, ncrefs_attributes *all,
                                  refs_error *err);

/** Adds one that becomes number `place`; `values` are copied, `n` elements of a numeric type or
 * NC_CHAR. */
refs_status ncrefs_add_at(ncrefs_attributes *all, size_t place, const ncrefs_attribute *attribute,
                          refs_error *err);

/** Adds _FillValue of a variable of `type`: NC_STRING, or NC_CHAR with the first byte of `text`. */
refs_status ncrefs_add_fill_text(ncrefs_attributes *all, nc_type type, refs_str text,
                                 refs_error *err);

/** NULL: there is none. */
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
    uint8_t fill[8];  /**< a number: declared, or that of the array, or netCDF's default; a char:
                           declared */
    bool has_fill;    /**< of a numeric type */
    bool is_unfilled; /**< netCDF's default is a value of it */
    ncrefs_attributes attributes;
    refs_array *array; /**< NULL before it is read */
    refs_reader *reader;
    refs_buf strings;  /**< NC_STRING of variable length: all of them, each with a NUL */
    size_t *string_at; /**< where they begin; NULL before they are read */
} ncrefs_variable;

typedef struct ncrefs_group {
    const char *name, *path;
    size_t parent; /**< of the root, itself */
    size_t *variables, n_variables;
    ncrefs_attributes attributes;
    const refs_json *unlimited; /**< names of dimensions without limit, or NULL */
    const refs_json *unused;    /**< sizes of dimensions that no variable has, or NULL */
} ncrefs_group;

typedef struct ncrefs_model {
    ncrefs_group *groups; /**< those above before those in them; 0 is the root */
    size_t n_groups;
    ncrefs_dim *dims;
    size_t n_dims, dims_capacity;
    ncrefs_variable *variables;
    size_t n_variables;
    ncrefs_types types;
    bool is_classic; /**< all numbers are big-endian and not encoded, as in netCDF-3 */
} ncrefs_model;

/** Makes the model of a hierarchy, which must outlive it. Arrays that cannot be understood are left
 * out, with a note. */
refs_status ncrefs_model_make(const refs_hierarchy *hierarchy, const refs_notes *notes,
                              ncrefs_model *model, refs_error *err);
void ncrefs_model_clear(ncrefs_model *model);

/* -- session.c --------------------------------------------------------------------------------- */

/** The session of the process, which is made at the first call. */
refs_status ncrefs_session_get(refs_session **session, refs_error *err);

/** Prints why a call fails, on standard error, where that is a terminal or NCREFS_VERBOSE asks for
 * it. */
void ncrefs_tell(const char *about, const refs_error *err);

/** A file that is open. */
typedef struct ncrefs_file {
    int ncid; /**< of its root group */
    int mode; /**< that it was opened with */
    char *name;
    ncrefs_model model;
    refs_opened *opened;
    const char **rewrites; /**< which point into … */
    char *rewrites_text;
} ncrefs_file;

/** Opens a set or a data file by the name that a user gives it. */
refs_status ncrefs_file_open(const char *name, ncrefs_file **file, refs_error *err);
void ncrefs_file_free(ncrefs_file *file);

/** Opens the array of a variable for reading, if it is not yet open. */
refs_status ncrefs_file_array(const ncrefs_file *file, ncrefs_variable *variable, refs_error *err);

/* -- files.c: files by ncid -------------------------------------------------------------------- */

/** Enters an open file under its ncid; takes it out again. */
int ncrefs_enter(ncrefs_file *file);
ncrefs_file *ncrefs_take_out(int ncid);

/** NULL: none of these files. */
ncrefs_file *ncrefs_find_file(int ncid);

/* -- read.c ------------------------------------------------------------------------------------ */

/** A region of a variable, and where its elements go. */
typedef struct ncrefs_request {
    const size_t *start, *count; /**< elements; not looked at for a scalar */
    const ptrdiff_t *stride;     /**< or NULL: 1 */
    const ptrdiff_t *map;        /**< elements of `type` between those of a dimension; or NULL */
    nc_type type;                /**< of what comes; NC_NAT: that of the variable */
    void *values;
} ncrefs_request;

/** The semantics are those of nc_get_varm. */
int ncrefs_read(const ncrefs_file *file, ncrefs_variable *variable, const ncrefs_request *request);

/** The code of netCDF-C for a failure to read. */
int ncrefs_code_of(refs_status status);

/* -- convert.c --------------------------------------------------------------------------------- */

/** Turns `n` elements of one numeric type into those of another; NC_ERANGE where a value does not
 * fit, after all of them were converted; NC_ECHAR between text and numbers. */
int ncrefs_convert(nc_type from, const void *src, nc_type to, void *dst, size_t n);

/* -- filters.c --------------------------------------------------------------------------------- */

/** The storage of a variable, as netCDF-C describes it. */
typedef struct ncrefs_storage {
    bool is_contiguous, shuffles, has_fletcher32;
    int deflate_level; /**< 0: does not */
    struct {
        unsigned id; /**< of the registry of HDF5's filters */
        unsigned parameters[8];
        size_t n_parameters;
    } filters[REFS_MAX_RANK];
    size_t n_filters;
} ncrefs_storage;

void ncrefs_storage_of(const refs_array_meta *meta, ncrefs_storage *storage);

/* -- dispatch.c -------------------------------------------------------------------------------- */

/** The user-defined format. */
NC_Dispatch *ncrefs_table(void);

/** The name in what netCDF-C is given: without "file://", and without a fragment "#mode=udf0", of
 * which *is_asked tells whether it is there. For the caller to free; NULL without memory. */
char *ncrefs_plain_name(const char *path, bool *is_asked);

/** Has the next open on this thread open `name`, whatever netCDF-C calls it; NULL: nothing. */
void ncrefs_open_next(const char *name);

#endif
