/* aggregation.h -- arrays that are mosaics of variables in other files.
 *
 * The values of an aggregation come from fragments: regions of other variables, each with its own
 * chunk grid, codecs, type, byte order, fill value and packing, in a file of its own. Attributes
 * tell the encodings apart: CFA-0.4 (JSON in an attribute), CFA-0.5 as S3netCDF4 writes it (a group
 * of variables), CFA-0.6 to 0.6.2, the drafts after it, and CF-1.13, section 2.8. The container is
 * a variable without dimensions, in a netCDF file or a reference set.
 *
 * Fragment files are opened when they are first needed and kept open; the least recently used one
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

/** Whether the attribute `name` only describes the fragments of an aggregation, not its values.
 */
bool refs_aggregation_owns(const refs_json *attributes, refs_str name);

/** NULL-ended list of attribute names. Each aggregation has one of them. */
extern const char *const refs_aggregation_words[];

/* -- what is aggregated ------------------------------------------------------------------------ */

/** The aggregations of one hierarchy. Any number of threads may use them. */
typedef struct refs_aggregations refs_aggregations;

/** Finds the containers of a hierarchy and describes each as the array that it stands for; marks
 * the variables and groups that only describe fragments (is_instruction). *all is NULL if there are
 * none. An invalid aggregation is not a failure: its array has the status and the reason. `all`
 * must outlive the hierarchy's last use. */
refs_status refs_aggregations_open(refs_hierarchy *hierarchy, const refs_notes *notes,
                                   refs_aggregations **all, refs_error *err);
void refs_aggregations_free(refs_aggregations *all);

/** Renames fragment files: because the set moves to another folder, or because a master is to name
 * other files. */
typedef struct refs_file_renamer {
    const char
        *location; /**< of the aggregation's file: names are resolved against it, and `rename`
                      receives locations; NULL: `rename` receives the names as written */
    bool remote_to_local; /**< as in refs_set_options */

    /** Whether the fragment at `index` is renamed; if `index` is NULL, whether any fragment of the
     * container is. NULL: all are renamed. */
    bool (*selects)(void *user, const refs_array_meta *container, const uint64_t *index);

    /** Whether the file exists; any failure ends the renaming. Only called if `location` is set. */
    refs_status (*look)(void *user, const char *location, bool *is_there, refs_error *err);

    /** Appends the new name of a file. */
    refs_status (*rename)(void *user, refs_str file, refs_buf *renamed, refs_error *err);

    /** Receives the old and the new name of each renamed file, unless fragments have several copies
     * (CFA-0.6), which may become one file. NULL: not called. */
    refs_status (*note)(void *user, refs_str file, refs_str renamed, refs_error *err);

    /** Receives the new elements of a variable that holds names, each with a NUL after it. `rank`
     * does not count the dimension of characters that netCDF-3 needs. Called once for each
     * variable, however many aggregations use it. */
    refs_status (*variable)(void *user, const refs_array_meta *variable, size_t rank,
                            refs_bytes names, refs_error *err);

    /** Receives the new text of a container's attribute that holds names. */
    refs_status (*attribute)(void *user, const refs_array_meta *container, const char *name,
                             refs_str text, refs_error *err);
    void *user;
} refs_file_renamer;

/** Calls the renamer for every variable and attribute whose names it changes. The arguments of its
 * functions are borrowed for the call. With `location`, REFS_INVALID if a document may not name a
 * file (refs_location_confine): the document is remote, or is in bytes of a remote file to which a
 * local set refers; this is the only failure of invalid aggregations. `all` may be NULL: none.
 */
refs_status refs_aggregations_rename(const refs_aggregations *all, const refs_file_renamer *renamer,
                                     refs_error *err);

/* -- fragments --------------------------------------------------------------------------------- */

/** The values of a fragment whose file does not exist. */
typedef enum refs_missing {
    REFS_MISSING_BY_ENCODING,  /**< FILL for CFA-0.4 and 0.5, whose writer promises it, with one
                                  warning; else ERROR */
    REFS_MISSING_ERROR,        /**< reading them fails */
    REFS_MISSING_FILL,         /**< the container's fill value */
    REFS_MISSING_WARN,         /**< the same, with a warning for each file */
    REFS_MISSING_IF_UNRECORDED /**< as BY_ENCODING, but ERROR for a file whose state the
                                  aggregation's file recorded: it existed */
} refs_missing;

/** The words for all but the first and the last. */
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
    size_t max_memory;                   /**< for the metadata of files; 0: 128 MiB */
    refs_missing missing;
    refs_notes notes;

    /** Called with each file that was opened. May be NULL. */
    refs_status (*opened)(void *user, const char *location, refs_error *err);
    void *user;
    refs_ranges ranges;
    const char *advice; /**< how users of the program can find a missing file, for messages, or
                           NULL; must outlive the fragments */
    const struct refs_task_context *context; /**< passed to the thread that opens a file in the
                                                background (pool.h), or NULL; must outlive the
                                                fragments */
    refs_cf_policy units; /**< for fragments whose units differ; REFS_CF_KEEP gives one warning per
                             aggregation */
    refs_changed changed; /**< the treatment of a fragment that is not in the state that the
                             aggregation's file recorded */
} refs_fragments_options;

/** Open fragment files, and their arrays. */
typedef struct refs_fragments refs_fragments;

/** Everything that the options point to, except `sets`, must outlive the fragments. */
refs_status refs_fragments_open(const refs_fragments_options *options, refs_fragments **fragments,
                                refs_error *err);

/** Waits for files that are being opened, and closes all files. Arrays opened with these fragments
 * must be freed first.
 */
void refs_fragments_free(refs_fragments *fragments);

/** Whether no fragment file was missing so far. */
bool refs_fragments_are_complete(refs_fragments *fragments);

/** Opens an array whose `meta` has an aggregation. */
refs_status refs_fragments_open_array(refs_fragments *fragments, const refs_array_meta *meta,
                                      refs_array **array, refs_error *err);

/* -- for people -------------------------------------------------------------------------------- */

/** A partition of an aggregation: a region, and the fragment that gives its values. Strings are
 * borrowed from the aggregation. */
typedef struct refs_partition {
    uint64_t number;               /**< in C order of the matrix of partitions */
    uint64_t index[REFS_MAX_RANK]; /**< in the matrix of partitions */
    uint64_t begin[REFS_MAX_RANK]; /**< elements [begin, end) of the aggregation */
    uint64_t end[REFS_MAX_RANK];
    bool has_fragment; /**< if false, its values are missing, and what follows is "" */
    const char *file;  /**< as the aggregation names it, the first of copies (CFA-0.6); "" for its
                            own file */
    const char *variable; /**< in that file */
    const char *format;   /**< of that file, "NETCDF4", if the aggregation states it, else "" */
} refs_partition;

/** Finds the partition that contains the element at `element`. REFS_NOT_FOUND without a message:
 * there is none, and the element has the fill value. */
refs_status refs_aggregation_find(const refs_array_meta *meta, const uint64_t *element,
                                  refs_partition *partition, refs_error *err);

/** The way in which names of an aggregation become locations of files. */
typedef struct refs_fragment_places {
    const char *master;                  /**< location of the aggregation's file */
    const refs_vfs *vfs;                 /**< tells which files are there */
    const struct refs_set_options *sets; /**< rewrites, and whether remote files name local ones */
} refs_fragment_places;

/** Appends the location of a file that an aggregation names, with a NUL: where names may be
 * resolved in several ways, the first at which there is a file, or else the first. Fails where the
 * aggregation may not name it. Without an aggregation, `meta` is NULL: names are URIs, or paths. */
refs_status refs_aggregation_locate(const refs_array_meta *meta, const refs_fragment_places *places,
                                    const char *file, refs_buf *location, refs_error *err);

/** Works like refs_aggregation_locate for the file of a fragment, of which there may be copies. */
refs_status refs_aggregation_locate_fragment(const refs_array_meta *meta,
                                             const refs_fragment_places *places,
                                             const refs_partition *fragment, refs_buf *location,
                                             refs_error *err);

/** Sets *border to the first index after that of `element`, along dimension `dim`, at which a
 * partition begins or ends; to the size of the dimension if there is none. */
refs_status refs_aggregation_border_behind(const refs_array_meta *meta, size_t dim,
                                           uint64_t element, uint64_t *border, refs_error *err);

/** Sets *n to the number of fragments that have one value each, stored in the aggregation itself
 * (CF-1.13, unique_values); 0: its fragments are variables. */
refs_status refs_aggregation_count_values(const refs_array_meta *meta, uint64_t *n,
                                          refs_error *err);

/** Calls `visit` for each partition that has a fragment, in C order; stops at the first failure.
 * Does nothing for an aggregation whose fragments have one value each. */
refs_status refs_aggregation_each(const refs_array_meta *meta,
                                  refs_status (*visit)(void *user, const refs_partition *partition,
                                                       refs_error *err),
                                  void *user, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
