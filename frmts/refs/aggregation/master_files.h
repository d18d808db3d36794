/* master_files.h -- the files that a master is made of.
 *
 * Read before this: aggregation.h, cfa.h.
 */
#ifndef REFS_AGGREGATION_MASTER_FILES_H
#define REFS_AGGREGATION_MASTER_FILES_H

#include "refs/aggregation.h"
#include "refs/cfa/cfa.h"
#include "refs/fetch.h"
#include "refs/intern.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A file that fragments are in, or that the master records as one of its sources. */
typedef struct refs_master_file {
    char *name;              /**< the first by which the master has it */
    char *location;          /**< see refs_aggregation_locate */
    refs_vfs_validators was; /**< its recorded state; of size 0: there is none */
    bool has_other_names;    /**< fragments in it name it in other ways, too */
} refs_master_file;

/** Zeroed is none. */
typedef struct refs_master_files {
    refs_master_file *items; /**< each once, in the order of fragments and then of records … */
    size_t n, capacity;
    size_t n_of_fragments; /**< the first of them, which fragments are in */
    refs_intern locations; /**< … with these numbers */
    refs_intern fillers;   /**< locations of the files that stand for missing fragments */
    const char *repeated;  /**< a file in which one variable is several fragments of an array, by
                                its name; or NULL */
    bool has_sources;      /**< the master records what it is made of */
} refs_master_files;

/** A master that is listed. */
typedef struct refs_master_listing {
    const refs_set *set;
    const refs_hierarchy *hierarchy; /**< its aggregations are known (refs_aggregations_open) */
    refs_fragment_places places;

    /** Receives each fragment, and the number of its file; SIZE_MAX: the master itself. NULL: not
     * called. */
    refs_status (*visit)(void *user, const refs_array_meta *meta, const refs_partition *fragment,
                         size_t file, refs_error *err);
    void *user;
} refs_master_listing;

/** Lists the files of a master. Fragments that nobody wrote (REFS_CFA_NOT_WRITTEN) have none. To be
 * cleared also after a failure. */
refs_status refs_master_files_list(const refs_master_listing *master, refs_master_files *files,
                                   refs_error *err);
void refs_master_files_clear(refs_master_files *files);

/** Fails or warns, as `changed` says, if a file whose state is `now` is not in the recorded one,
 * with the message that a read gives (refs_fetcher_check). Safe from any thread. */
refs_status refs_master_file_check(const refs_master_file *file, struct refs_fetcher *fetcher,
                                   refs_changed changed, const refs_vfs_validators *now,
                                   refs_error *err);

/** Whether a fragment of an array is missing: its file stands for that, or nobody writes it. */
bool refs_fragment_is_missing(const refs_array_meta *meta, const refs_partition *fragment);

/** Fails for a master whose files cannot be combined again with others: a file is a source once,
 * and values that the master holds itself are put together again of those of its files. */
refs_status refs_master_files_check_growth(const refs_master_files *files,
                                           const refs_cfa_description *master, refs_error *err);

/* -- names in a new master --------------------------------------------------------------------- */

/** A master that is written. */
typedef struct refs_master_naming {
    const char *master; /**< its name */
    const char *folder; /**< the real path of the folder that a local one is in */
    refs_cfa_version version;
} refs_master_naming;

/** Fails for a master in an object store and a local file, which readers of the master would not
 * find. */
refs_status refs_master_check_file(const char *master, const char *file, refs_error *err);

/** Sets *named to the name of a file in the master: relative to its folder if the file is in or
 * below it, so that both can be moved together, else absolute. In object stores, only CF-1.13 has
 * relative names: S3netCDF4 expects full ones. */
refs_status refs_master_name_file(const refs_master_naming *naming, const char *file, char **named,
                                  refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
