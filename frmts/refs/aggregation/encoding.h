/* encoding.h -- the encodings of aggregations.
 *
 * Each encoding has one file, the only one that knows its spelling: how it is recognised, decoded
 * to a grid of fragments (fragment_grid.h) and encoded from one, and where it has names of files.
 *
 * Read before this: aggregation_internal.h, cfa/cfa_internal.h. */
#ifndef REFS_AGGREGATION_ENCODING_H
#define REFS_AGGREGATION_ENCODING_H

#include "cfa/cfa.h"
#include "fragment_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_aggregation;
struct refs_renaming;
struct cfa_job;

typedef struct refs_encoding {
    const char *name; /**< as Conventions has it: "CFA-0.4" */
    const char *dims; /**< the attribute that names the dimensions */

    /** Whether these are the attributes of a container. */
    bool (*recognise)(const refs_json *attributes);

    /** Finds the sizes and intervals of all dimensions, whose names are in `names`, and the
     * variables that describe fragments. */
    refs_status (*decode)(struct refs_aggregation *aggregation, refs_error *err);

    /** Decodes the descriptions of fragments; NULL: `decode` has done so. */
    refs_status (*load)(struct refs_aggregation *aggregation, refs_error *err);

    /** Whether a variable only describes fragments. */
    bool (*has_variable)(const struct refs_aggregation *aggregation, const refs_array_meta *meta);

    /** Renames files (rename.c); NULL: their names are in the variable `terms.files`, or
     * nowhere. */
    refs_status (*rename)(struct refs_renaming *job, refs_error *err);

    /** Writes the container's attributes and the variables that they name. The grid has no gaps,
     * and its fragments have no layouts. NULL: this encoding is not written. */
    refs_status (*encode)(const struct cfa_job *job, refs_error *err);

    /** Its writer, S3netCDF4, does not write fragments with only fill values, and has a folder with
     * the master's name for the others. */
    bool is_of_s3netcdf4;
} refs_encoding;

/** encoding_cfa04.c: JSON in the attribute cfa_array; in sets, too (set_fragments.h). */
extern const refs_encoding refs_encoding_cfa04;
/** Appends the content of cfa_array. */
refs_status refs_encoding_cfa04_append(const refs_fragment_grid *grid, const char *const *dims,
                                       refs_buf *json, refs_error *err);
/** encoding_cfa05.c: a group of variables, as S3netCDF4 has it. */
extern const refs_encoding refs_encoding_cfa05;
/** encoding_cf113.c: variables that aggregated_data names; CFA-0.6 and drafts, too. */
extern const refs_encoding refs_encoding_cf113;
/** Loads files, variables and formats of fragments from the variables of `terms`. */
refs_status refs_encoding_cf113_load_files(struct refs_aggregation *aggregation, refs_error *err);
/** rectilinear.c: arrays of Zarr v3 whose chunks have several sizes. */
extern const refs_encoding refs_encoding_rectilinear;

/** The encoding of these attributes, or NULL. */
const refs_encoding *refs_encoding_of(const refs_json *attributes);

/** The encoding of masters of a version. */
const refs_encoding *refs_encoding_of_version(refs_cfa_version version);

#ifdef __cplusplus
}
#endif
#endif
