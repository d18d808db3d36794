/* writing.h -- shared by the files that write arrays as masters and fragments. */
#ifndef REFS_AGGREGATION_CFA_WRITING_H
#define REFS_AGGREGATION_CFA_WRITING_H

#include "cfa/nc_file.h"
#include "fragment_grid.h"

/** All values of an array that belongs to the master. */
typedef struct cfa_values {
    bool is_kept;
    refs_buf bytes;
    size_t *strings; /**< offset of each text; NULL: elements of one size */
} cfa_values;

/** The parts of a source to write, and how. */
typedef struct cfa_writing {
    const refs_cfa_source *source;
    const refs_cfa_write_options *options;
    const char *shown; /**< the master's name for messages */
    bool *is_field;    /**< of each array */
    cfa_values *values;
    uint64_t n_elements, n_done; /**< of fields, for progress */
} cfa_writing;

/** A box of an array. */
typedef struct cfa_box {
    uint64_t start[REFS_MAX_RANK];
    uint64_t count[REFS_MAX_RANK];
} cfa_box;

/* -- source.c ---------------------------------------------------------------------------------- */

refs_status refs_cfa__writing_open(cfa_writing *writing, refs_error *err);
void refs_cfa__writing_clear(cfa_writing *writing);

bool refs_cfa__is_text(const refs_dtype *dtype);
bool refs_cfa__is_coordinate(const refs_cfa_array *array);

/** The dimension that `array` has at `d`, or NULL. */
const refs_cfa_dimension *refs_cfa__dimension(const refs_cfa_source *source,
                                              const refs_cfa_array *array, size_t d);

/** Whether array `i`, which is not a field, describes `field`. */
bool refs_cfa__serves(const refs_cfa_source *source, size_t i, size_t field);

/** Whether a dimension is unlimited in the written files: it is in the source, and a coordinate
 * states its length; in netCDF-3 only the first such dimension, if it is the first one of all its
 * arrays. */
refs_cfa_growth refs_cfa__growth(const cfa_writing *writing, const refs_cfa_dimension *dim);

/** Appends a box of an array that is not a field. */
refs_status refs_cfa__slice(const cfa_writing *writing, size_t i, const cfa_box *box,
                            refs_buf *values, refs_error *err);

/** Reports progress; REFS_CANCELLED if the caller ends it. */
refs_status refs_cfa__report(cfa_writing *writing, uint64_t n_elements, refs_error *err);

/* -- axes.c ------------------------------------------------------------------------------------ */

typedef enum cfa_axis { AXIS_T, AXIS_Z, AXIS_Y, AXIS_X, AXIS_OTHER } cfa_axis;

/** The kind of a dimension: by its coordinate's attribute "axis", else by its name. */
cfa_axis refs_cfa__axis(const refs_cfa_source *source, const refs_cfa_array *array, size_t d);

/* -- split.c ----------------------------------------------------------------------------------- */

/** Sets `n` to the number of fragments along each dimension of array `i` by S3netCDF4's documented
 * algorithm. */
void refs_cfa__split(const cfa_writing *writing, size_t i, uint64_t *n);

/** REFS_INVALID if no field can have fragments of the requested shape. */
refs_status refs_cfa__check_shape(const cfa_writing *writing, refs_error *err);

/** Divides a zeroed grid into the fragments of array `i`, all of which are missing. */
refs_status refs_cfa__divide(const cfa_writing *writing, size_t i, refs_fragment_grid *grid,
                             refs_error *err);

/* -- fragment.c -------------------------------------------------------------------------------- */

/** A file to write: a box of one field with the arrays that describe it, or all arrays. */
typedef struct cfa_part {
    const char *path;
    size_t field; /**< SIZE_MAX: all */
    cfa_box box;
    bool is_private; /**< only its owner may read it */
    bool is_empty;   /**< only the field, without values, so that it reads as its fill value */
} cfa_part;

/** Writes the file; *is_written is false if it would have only fill values. */
refs_status refs_cfa__write_part(cfa_writing *writing, const cfa_part *part, bool *is_written,
                                 refs_error *err);

#endif
