/* combine_aggregate.h -- parts as fragments of one aggregation.
 *
 * Read before this: combine.h, cfa.h.
 */
#ifndef REFS_COMBINE_COMBINE_AGGREGATE_H
#define REFS_COMBINE_COMBINE_AGGREGATE_H

#include "refs/cfa/cfa.h"
#include "refs/combine.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tells a master (cfa.h), which is open, of an aggregation whose fragments are the parts: files,
 * or sets. Coordinates, and what has few values, are put into it. REFS_UNSUPPORTED where parts are
 * not boxes of one grid. */
refs_status refs_combine_aggregate(refs_combine *combine, refs_master *master, refs_error *err);

/** The kind of a part of fields. */
typedef enum refs_combine_role {
    REFS_COMBINE_IS_FRAGMENT,
    REFS_COMBINE_IS_OUTLINE, /**< says what was written as fragments, and holds none (cfa.h) */
    REFS_COMBINE_IS_MASTER   /**< is added to (refs_combine_add_master) */
} refs_combine_role;

/** A part of fields. Masters and outlines say how long dimensions are and where they are cut;
 * values that they have are taken where no fragment has them. */
typedef struct refs_combine_fragment {
    refs_combine_role role;
    const char *name;   /**< in the master; NULL: as references name it (refs_combine_url) */
    const char *format; /**< as refs_partition has it, or NULL: "NETCDF4" */
} refs_combine_fragment;

/** Works like refs_combine_add, for a combination of REFS_COMBINE_OF_FIELDS and what is no master.
 */
refs_status refs_combine_add_fragment(refs_combine *combine, const refs_combine_part *part,
                                      const refs_combine_fragment *fragment, refs_error *err);

/** A file of fragments of a master. */
typedef struct refs_combine_recorded {
    size_t number;    /**< as of refs_combine_part */
    const char *name; /**< likewise */
    const char *file; /**< as the master has it */
    const char *as;   /**< as of refs_combine_fragment: its name in the master that is written */
    bool is_added;    /**< set: it is a part as the master says it is */
} refs_combine_recorded;

/** Adds a master that grows, and the files of its fragments as it describes them: they are not
 * opened. Those of which it does not say enough are left for the caller to open and add: names of
 * variables that are not those of the aggregations, files that are several fragments of one
 * aggregation or have none along a dimension that is cut or a concat dimension, values of small
 * variables that some files lack. `part->number` is greater than those of the files; of
 * REFS_COMBINE_OF_FILES, no greater than those of parts that are added to them. Call it on one
 * thread, before all else is added. */
refs_status refs_combine_add_master(refs_combine *combine, const refs_combine_part *part,
                                    refs_combine_recorded *files, size_t n, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
