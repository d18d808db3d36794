/* combine_aggregate.h -- parts as fragments of one aggregation.
 *
 * Read before this: combine.h, cfa.h.
 */
#ifndef REFS_COMBINE_COMBINE_AGGREGATE_H
#define REFS_COMBINE_COMBINE_AGGREGATE_H

#include "refs/cfa/cfa.h"
#include "refs/combine.h"
#include "refs/master_files.h"
#include "refs/name_list.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes an aggregation whose fragments are the parts (files or sets) to an open master (cfa.h).
 * Coordinates and small variables are stored in the master. REFS_UNSUPPORTED if parts are not boxes
 * of one grid. */
refs_status refs_combine_aggregate(refs_combine *combine, refs_master *master, refs_error *err);

/** The kind of a part of fields. */
typedef enum refs_combine_role {
    REFS_COMBINE_IS_FRAGMENT,
    REFS_COMBINE_IS_OUTLINE, /**< lists the fragments that were written, and has none itself (cfa.h)
                              */
    REFS_COMBINE_IS_MASTER   /**< an existing master that grows (refs_combine_add_master) */
} refs_combine_role;

/** A part of fields. Masters and outlines state the lengths of dimensions and where they are
 * divided; their own values are used if no fragment has them. */
typedef struct refs_combine_fragment {
    refs_combine_role role;
    const char *name; /**< its name in the master; NULL: as references name it (refs_combine_url) */
    const char *format; /**< as refs_partition has it, or NULL: "NETCDF4" */
} refs_combine_fragment;

/** Works like refs_combine_add for a combination of REFS_COMBINE_OF_FIELDS; not for masters. */
refs_status refs_combine_add_fragment(refs_combine *combine, const refs_combine_part *part,
                                      const refs_combine_fragment *fragment, refs_error *err);

/** Whether a name is that of an outline. */
bool refs_combine_is_outline(const char *name);

/** Names of sources, next to which outlines are looked for. */
typedef struct refs_combine_outline_search {
    const char *const *names;
    size_t n;
    refs_status (*look)(void *user, const char *name, bool *is_there, refs_error *err);
    void *user;
} refs_combine_outline_search;

/** Appends the names, each with a NUL: outlines first, with those of fragments among the names,
 * each once. */
refs_status refs_combine_outlines_first(const refs_combine_outline_search *search, refs_buf *names,
                                        refs_error *err);

/** A master that grows, with its files, whose numbers as parts are those in `files`. */
typedef struct refs_combine_grown_master {
    const refs_combine_part *part; /**< the master */
    const refs_master_files *files;
    const refs_name_list *added; /**< dimensions that its sources lacked (combine_how.h), or NULL */
    const char *const *names;    /**< of the parts */
    const char *const *as; /**< their names in the new master, see refs_combine_fragment; NULL:
                                as references name them */
    bool *is_added;        /**< for each: set if it became a part as the master describes it */
} refs_combine_grown_master;

/** Adds a master that grows, and the files of its fragments as it describes them, without opening
 * them. Files that it does not describe well enough are left for the caller to open and add: files
 * without a recorded state or with several names, variables with other names than the
 * aggregations, files with several fragments of one aggregation, files without one along a divided
 * or concat dimension, small variables whose values some files lack. The number of the master must
 * be greater than those of the files; for REFS_COMBINE_OF_FILES, not greater than those of parts
 * added later. Call it on one thread, before anything else is added. */
refs_status refs_combine_add_master(refs_combine *combine, const refs_combine_grown_master *grown,
                                    refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
