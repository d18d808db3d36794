/* nc_file.h -- writes a netCDF file by libnetcdf.
 *
 * Definitions come first: groups, dimensions, variables, attributes. Values passed before
 * refs_cfa__file_ready are kept until then; others are written directly. */
#ifndef REFS_AGGREGATION_CFA_NC_FILE_H
#define REFS_AGGREGATION_CFA_NC_FILE_H

#include "cfa/cfa.h"

/** A variable; with `id` NC_GLOBAL, a group. */
typedef struct nc_place {
    int group;
    int id;
    bool is_half; /**< its half floats become floats in the file */
} nc_place;

typedef struct nc_file nc_file;

typedef struct nc_creation {
    const char *path;
    const char *shown; /**< what messages call it */
    refs_cfa_format format;
    uint64_t size;   /**< approximate size of its values; 0: small */
    bool is_private; /**< only its owner may read it until it is in place */
} nc_creation;

refs_status refs_cfa__file_create(const nc_creation *creation, nc_file **file, refs_error *err);

/** Closes the file, which is incomplete unless refs_cfa__file_close was called. NULL is allowed. */
void refs_cfa__file_free(nc_file *file);

refs_cfa_format refs_cfa__file_format(const nc_file *file);
const char *refs_cfa__file_shown(const nc_file *file);

/** Finds or makes the group at `path`, "" or "/a/b". */
refs_status refs_cfa__file_group(nc_file *file, refs_str path, int *group, refs_error *err);

typedef struct nc_dimension {
    refs_str name;
    uint64_t size;
    refs_cfa_growth growth;
} nc_dimension;

/** Adds a dimension unless the group itself has one of this name, which must then have this
 * size. */
refs_status refs_cfa__file_dimension(nc_file *file, int group, const nc_dimension *added,
                                     refs_error *err);

/** Whether variables of the group see a dimension of this name with this size. */
bool refs_cfa__file_finds_dimension(const nc_file *file, int group, const char *name,
                                    uint64_t size);

/** Records that attributes of a scalar name a dimension: the definitions must not end while its
 * group sees another length under that name. `variable` is the scalar's name for messages. */
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

/** Adds the attributes of a variable or group, without its fill value. */
refs_status refs_cfa__file_attributes(nc_file *file, nc_place place, const refs_json *attributes,
                                      refs_error *err);
refs_status refs_cfa__file_text(nc_file *file, nc_place place, const char *name, refs_str text,
                                refs_error *err);

/** Sets the fill value, one element of `dtype`. */
refs_status refs_cfa__file_fill(nc_file *file, nc_place place, const refs_dtype *dtype,
                                const uint8_t *fill, refs_error *err);

/** Switches filling off, so that readers do not treat a valid value as netCDF's default fill value.
 * No effect in netCDF-3, whose files do not record it. */
refs_status refs_cfa__file_fill_nothing(nc_file *file, nc_place place, refs_error *err);

/** Defines a variable of `n` strings with a NUL after each, in `values`, which are copied. In
 * netCDF-3 they become characters with a further dimension. */
refs_status refs_cfa__file_strings(nc_file *file, const nc_shape *shape, refs_bytes values,
                                   nc_place *place, refs_error *err);

/** Copies all values of a variable, elements of its own `dtype`, to be written later. */
refs_status refs_cfa__file_keep(nc_file *file, nc_place place, const refs_dtype *dtype,
                                refs_bytes values, refs_error *err);

/** Ends the definitions and writes the kept values. */
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

/** Ends the definitions, writes the kept values, and marks the file as one that has all values
 * itself (REFS_CFA_COMBINED). Nothing is to be written after it. */
refs_status refs_cfa__file_mark(nc_file *file, refs_error *err);

/** Completes the file and syncs it to disk. */
refs_status refs_cfa__file_close(nc_file *file, refs_error *err);

#endif
