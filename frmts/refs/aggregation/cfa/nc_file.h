/* nc_file.h -- a netCDF file that is being written, by libnetcdf.
 *
 * Definitions come first: groups, dimensions, variables, attributes. Values that are given before
 * refs_cfa__file_ready are kept, and written by it; others follow it.
 */
#ifndef REFS_AGGREGATION_CFA_NC_FILE_H
#define REFS_AGGREGATION_CFA_NC_FILE_H

#include "cfa/cfa.h"

/** A variable, or with `id` NC_GLOBAL the group itself. */
typedef struct nc_place {
    int group;
    int id;
    bool is_half; /**< its elements come as halves, and are floats in the file */
} nc_place;

typedef struct nc_file nc_file;

typedef struct nc_creation {
    const char *path;
    const char *shown; /**< what messages call it */
    refs_cfa_format format;
    uint64_t size;   /**< about what its values will take; 0: little */
    bool is_private; /**< to be read by its owner alone, until it has its place */
} nc_creation;

refs_status refs_cfa__file_create(const nc_creation *creation, nc_file **file, refs_error *err);

/** Ends it; it is not whole unless refs_cfa__file_close was called. NULL is allowed. */
void refs_cfa__file_free(nc_file *file);

refs_cfa_format refs_cfa__file_format(const nc_file *file);
const char *refs_cfa__file_shown(const nc_file *file);

/** The group at `path`, "" or "/a/b", which is made where it is not there. */
refs_status refs_cfa__file_group(nc_file *file, refs_str path, int *group, refs_error *err);

typedef struct nc_dimension {
    refs_str name;
    uint64_t size;
    refs_cfa_growth growth;
} nc_dimension;

/** Adds a dimension unless the group itself has one of this name, which then has this size. */
refs_status refs_cfa__file_dimension(nc_file *file, int group, const nc_dimension *added,
                                     refs_error *err);

/** Whether the dimension that variables of the group find by this name is one of this size. */
bool refs_cfa__file_finds_dimension(const nc_file *file, int group, const char *name,
                                    uint64_t size);

/** Notes that attributes of a scalar name a dimension: the definitions may not end while one of
 * another length has that name for its group. `variable` is what messages call it. */
refs_status refs_cfa__file_name_dimension(nc_file *file, int group, const char *variable,
                                          const nc_dimension *named, refs_error *err);

/** The form of a variable in the file. */
typedef struct nc_shape {
    int group;
    const char *name;
    refs_dtype dtype;
    size_t rank;
    const char *const *dims;
    int deflate; /**< level 1 to 9, with shuffle; 0: none */
} nc_shape;

refs_status refs_cfa__file_define(nc_file *file, const nc_shape *shape, nc_place *place,
                                  refs_error *err);

/** Adds those of a variable or group; its fill value is not among them. */
refs_status refs_cfa__file_attributes(nc_file *file, nc_place place, const refs_json *attributes,
                                      refs_error *err);
refs_status refs_cfa__file_text(nc_file *file, nc_place place, const char *name, refs_str text,
                                refs_error *err);

/** One element of `dtype`. */
refs_status refs_cfa__file_fill(nc_file *file, nc_place place, const refs_dtype *dtype,
                                const uint8_t *fill, refs_error *err);

/** Switches filling off, so that readers take no value for netCDF's default fill value. Without
 * effect in netCDF-3, whose files do not record it. */
refs_status refs_cfa__file_fill_nothing(nc_file *file, nc_place place, refs_error *err);

/** Defines a variable of strings, `n` of them with a NUL after each, in `values`: strings, or in
 * netCDF-3 characters with a dimension more. They are kept. */
refs_status refs_cfa__file_strings(nc_file *file, const nc_shape *shape, refs_bytes values,
                                   nc_place *place, refs_error *err);

/** Keeps a copy of all values of a variable: elements of `dtype`, its own. */
refs_status refs_cfa__file_keep(nc_file *file, nc_place place, const refs_dtype *dtype,
                                refs_bytes values, refs_error *err);

/** Ends the definitions and writes what was kept. */
refs_status refs_cfa__file_ready(nc_file *file, refs_error *err);

/** Elements [start, start + count) of a variable along each of its `rank` dimensions. */
typedef struct nc_box {
    size_t rank;
    size_t start[REFS_MAX_RANK];
    size_t count[REFS_MAX_RANK];
} nc_box;

/** Writes a box of a variable, elements of its dtype tightly packed. */
refs_status refs_cfa__file_put(nc_file *file, nc_place place, const nc_box *box, const void *values,
                               refs_error *err);

/** Completes the file, to the disk too. */
refs_status refs_cfa__file_close(nc_file *file, refs_error *err);

#endif
