/* aggregation.h -- arrays that are mosaics of variables in other files.
 *
 * The values of an aggregation come from fragments: regions of other variables, each with its own
 * chunk grid, codecs, type, byte order, fill value and packing, in a file of its own. Attributes
 * tell the encodings apart: CFA-0.4 (JSON in an attribute), CFA-0.5 as S3netCDF4 writes it (a group
 * of variables), CFA-0.6 to 0.6.2, the drafts after it, and CF-1.13, section 2.8. The container is
 * a variable without dimensions, in a netCDF file or a reference set.
 *
 * Files of fragments are opened when they are first needed and kept open; the least recently used
 * is closed first. A read of an aggregation plans the chunks of all fragments as one fetch.
 *
 * Read before this: array.h, refset.h.
 */
#ifndef REFS_AGGREGATION_H
#define REFS_AGGREGATION_H

#include "refs/array.h"
#include "refs/cf.h"
#include "refs/fetch.h"
#include "refs/vfs.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_fetcher;
struct refs_set_options;
struct refs_task_context;

/** Whether these are the attributes of an aggregation, in any encoding. */
bool refs_aggregation_recognise(const refs_json *attributes);

/** Whether one of these attributes says what an aggregation is made of, and nothing of its values.
 */
bool refs_aggregation_owns(const refs_json *attributes, refs_str name);

/** Names of attributes of which each aggregation has one, NULL-ended. */
extern const char *const refs_aggregation_words[];

/* -- what is aggregated ------------------------------------------------------------------------ */

/** The aggregations of one hierarchy. Any number of threads may use them. */
typedef struct refs_aggregations refs_aggregations;

/** Finds the containers of a hierarchy and describes each as the array that it stands for; marks
 * the variables and groups that say what those arrays are made of (is_instruction). *all is NULL if
 * there are none. An aggregation that makes no sense is not a failure: its array says why.
 * `all` must outlive the hierarchy's last use. */
refs_status refs_aggregations_open(refs_hierarchy *hierarchy, const refs_notes *notes,
                                   refs_aggregations **all, refs_error *err);
void refs_aggregations_free(refs_aggregations *all);

/** Gives files of fragments other names: for a set in another place, or in the place of those that
 * a master has. */
typedef struct refs_file_renamer {
    const char
        *location; /**< of the aggregation's file: names are resolved against it, and `rename`
                        is given locations; NULL: `rename` is given the names themselves */
    bool remote_to_local; /**< as in refs_set_options */

    /** Whether the fragment at `index` is renamed, or with NULL any of the container. NULL: all. */
    bool (*selects)(void *user, const refs_array_meta *container, const uint64_t *index);

    /** Whether there is a file; any failure ends the renaming. Not called without `location`. */
    refs_status (*look)(void *user, const char *location, bool *is_there, refs_error *err);

    /** Appends the new name of a file. */
    refs_status (*rename)(void *user, refs_str file, refs_buf *renamed, refs_error *err);

    /** Takes the new elements of a variable that holds names, each with a NUL behind it; without
     * the dimension of letters of netCDF-3 it has `rank` dimensions. Called once for a variable,
     * however many aggregations have it. */
    refs_status (*variable)(void *user, const refs_array_meta *variable, size_t rank,
                            refs_bytes names, refs_error *err);

    /** Takes the new text of an attribute of a container that holds names. */
    refs_status (*attribute)(void *user, const refs_array_meta *container, const char *name,
                             refs_str text, refs_error *err);
    void *user;
} refs_file_renamer;

/** Tells a renamer of all variables and attributes that name files otherwise than the renamer does.
 * Its arguments are borrowed for the call. With `location`, REFS_INVALID where a name may not stand
 * where it does (refs_location_confine): in a remote file, or in bytes of one that a local set
 * refers to; an aggregation that makes no sense fails for no other reason. `all` may be NULL: none.
 */
refs_status refs_aggregations_rename(const refs_aggregations *all, const refs_file_renamer *renamer,
                                     refs_error *err);

/* -- fragments --------------------------------------------------------------------------------- */

/** Which values a fragment has if its file does not exist. */
typedef enum refs_missing {
    REFS_MISSING_BY_ENCODING, /**< FILL for CFA-0.4 and 0.5, whose writer promises it; else ERROR */
    REFS_MISSING_ERROR,       /**< reading them fails */
    REFS_MISSING_FILL,        /**< the container's fill value */
    REFS_MISSING_WARN         /**< the same, with a note for each file */
} refs_missing;

/** The words for all but the first. */
#define REFS_MISSING_WORDS "ERROR, FILL or WARN"

/** Reads one of these words, in any case; false for all else. */
bool refs_missing_parse(const char *word, refs_missing *missing);

/** Whether elements outside the valid range of their own fragment are missing. */
typedef enum refs_ranges { REFS_RANGES_HONOURED, REFS_RANGES_IGNORED } refs_ranges;

typedef struct refs_fragments_options {
    size_t struct_size;                  /**< sizeof(refs_fragments_options) */
    const refs_hierarchy *hierarchy;     /**< of the aggregations */
    const char *location;                /**< of the aggregation's file; names are relative to it */
    const refs_vfs *vfs;                 /**< opens the files */
    struct refs_fetcher *fetcher;        /**< fetches the chunks */
    refs_array_context arrays;           /**< what fragments are read with */
    const struct refs_set_options *sets; /**< for files that are sets: rewrites, limits */
    size_t max_files;                    /**< kept open; 0: 1024 */
    size_t max_memory;                   /**< for what is known of files; 0: 128 MiB */
    refs_missing missing;
    refs_notes notes;

    /** Called with each file that was opened. May be NULL. */
    refs_status (*opened)(void *user, const char *location, refs_error *err);
    void *user;
    refs_ranges ranges;
    const char *advice; /**< what people can try where a file is missing, in the words of their
                           program, or NULL; must outlive the fragments */
    const struct refs_task_context *context; /**< that opening a file in the background takes along
                                                (pool.h), or NULL; must outlive the fragments */
    refs_cf_policy units; /**< of fragments whose units differ; REFS_CF_KEEP: with one warning for
                             an aggregation */
    refs_changed changed; /**< what becomes of a fragment that is not as the aggregation's file
                             recorded it */
} refs_fragments_options;

/** Files of fragments that are open, and their arrays. */
typedef struct refs_fragments refs_fragments;

/** Everything that the options point to, except `sets`, must outlive the fragments. */
refs_status refs_fragments_open(const refs_fragments_options *options, refs_fragments **fragments,
                                refs_error *err);

/** Waits for files that are being opened. Arrays opened with these fragments must be freed first.
 */
void refs_fragments_free(refs_fragments *fragments);

/** Whether every file that was looked for exists. */
bool refs_fragments_are_complete(refs_fragments *fragments);

/** Opens an array whose meta has an aggregation. */
refs_status refs_fragments_open_array(refs_fragments *fragments, const refs_array_meta *meta,
                                      refs_array **array, refs_error *err);

/* -- for people -------------------------------------------------------------------------------- */

/** A partition of an aggregation: a box, and the fragment that its values come from. Strings are
 * borrowed from the aggregation. */
typedef struct refs_partition {
    uint64_t index[REFS_MAX_RANK]; /**< in the matrix of partitions */
    uint64_t begin[REFS_MAX_RANK]; /**< elements [begin, end) of the aggregation */
    uint64_t end[REFS_MAX_RANK];
    bool has_fragment;    /**< if false, its values are missing, and what follows is "" */
    const char *file;     /**< as the aggregation names it; "" for its own file */
    const char *variable; /**< in that file */
    const char *format;   /**< of that file, "NETCDF4", where it is said, else "" */
} refs_partition;

/** The partition that contains the element at `element`. REFS_NOT_FOUND without a message: there is
 * none, and the element has the fill value. */
refs_status refs_aggregation_find(const refs_array_meta *meta, const uint64_t *element,
                                  refs_partition *partition, refs_error *err);

/** Sets *border to the first element behind `element` along dimension `dim` at which partitions
 * begin or end: the size of the dimension where there is none. */
refs_status refs_aggregation_border_behind(const refs_array_meta *meta, size_t dim,
                                           uint64_t element, uint64_t *border, refs_error *err);

/** Sets *n to how many fragments have one value each, which the aggregation itself stores (CF-1.13,
 * unique_values); 0: its fragments are variables. */
refs_status refs_aggregation_count_values(const refs_array_meta *meta, uint64_t *n,
                                          refs_error *err);

/** Calls `visit` for each partition that has a fragment, in C order; stops at the first failure.
 * Never for one whose fragments have one value each. */
refs_status refs_aggregation_each(const refs_array_meta *meta,
                                  refs_status (*visit)(void *user, const refs_partition *partition,
                                                       refs_error *err),
                                  void *user, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
