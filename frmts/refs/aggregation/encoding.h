/* encoding.h -- how aggregations are written down. Each encoding has one file, which alone knows
 * how it is spelled: what it is recognised by, how it is decoded to a grid of fragments
 * (fragment_grid.h) and encoded from one, and where names of files stand in it.
 *
 * Read before this: aggregation_internal.h, cfa/cfa_internal.h.
 */
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

    /** Finds the sizes and intervals of all dimensions, of which `names` has the names, and the
     * variables that say what fragments are. */
    refs_status (*decode)(struct refs_aggregation *aggregation, refs_error *err);

    /** Decodes what fragments are; NULL: `decode` has done so. */
    refs_status (*load)(struct refs_aggregation *aggregation, refs_error *err);

    /** Whether a variable only says what fragments are. */
    bool (*has_variable)(const struct refs_aggregation *aggregation, const refs_array_meta *meta);

    /** Renames files (rename.c); NULL: their names stand in a variable, `terms.files`, or nowhere.
     */
    refs_status (*rename)(struct refs_renaming *job, refs_error *err);

    /** Writes the container's attributes, and variables that they name. The intervals of the grid
     * follow each other, and its fragments have no layouts. NULL: it is not written. */
    refs_status (*encode)(const struct cfa_job *job, refs_error *err);

    /** Its writer, S3netCDF4, leaves out files that would hold fill values only, and has the others
     * in a folder beside the master. */
    bool is_of_s3netcdf4;
} refs_encoding;

/** encoding_cfa04.c: JSON in the attribute cfa_array; in sets, too (set_fragments.h). */
extern const refs_encoding refs_encoding_cfa04;
/** Appends what cfa_array has. */
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

/** The encoding that attributes are those of, or NULL. */
const refs_encoding *refs_encoding_of(const refs_json *attributes);

/** The encoding that masters of a version have. */
const refs_encoding *refs_encoding_of_version(refs_cfa_version version);

#ifdef __cplusplus
}
#endif
#endif
