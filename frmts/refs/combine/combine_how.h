/* combine_how.h -- the record of how a set or a master was combined, so that appending uses the
 * same options.
 *
 * It is the member "joined" of the record of sources (refset.h):
 * {"along":["time"],"pattern":"t_{time:%Y}.nc"}, and "group", "variables", "inline", "added", the
 * dimensions of "along" that sources lacked, and "part", which sets of index --part have:
 * {"number":3,"of":10,"sources":200,"list":"0f…"}.
 *
 * Read before this: combine.h, name_list.h. */
#ifndef REFS_COMBINE_COMBINE_HOW_H
#define REFS_COMBINE_COMBINE_HOW_H

#include "refs/combine.h"
#include "refs/json.h"
#include "refs/name_list.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_master;

/** Most parts of a job. */
#define REFS_JOB_MAX_PARTS 1000000u

/** Size of the digest of the names of a job's sources, with a NUL. */
#define REFS_JOB_LIST_TEXT 33

/** Part `number`, from 1, of the `n` parts of a job (index --part). Zeroed: no part. */
typedef struct refs_job_part {
    uint64_t number, n;
    uint64_t n_sources; /**< of all parts */
    char list[REFS_JOB_LIST_TEXT];
} refs_job_part;

/** An empty record is zeroed. Strings are borrowed. */
typedef struct refs_combine_how {
    refs_name_list along, variables;
    refs_name_list added;        /**< those of `along` that variables lacked in the sources */
    const char *pattern, *group; /**< or NULL */
    uint64_t inline_bytes;
    bool has_inline_bytes; /**< `inline_bytes` was requested, perhaps 0 */
    refs_job_part part;
    refs_json_doc *doc; /**< the document that owns the strings, or NULL */
} refs_combine_how;

/** Reads a record; an empty text is an empty record. REFS_CORRUPT if it is invalid. Clear *how even
 * after a failure. */
refs_status refs_combine_how_read(refs_str text, refs_combine_how *how, refs_error *err);
void refs_combine_how_clear(refs_combine_how *how);

/** Sets `text` to the record as JSON, empty for an empty record. */
refs_status refs_combine_how_print(const refs_combine_how *how, refs_buf *text, refs_error *err);

/** Reads the record of a set. */
refs_status refs_combine_how_read_set(const refs_set *set, refs_combine_how *how, refs_error *err);

/** Appends the dimensions that some variables got because sources lacked them. Names are borrowed
 * from the options. */
refs_status refs_combine_list_added(const refs_combine *combine, refs_name_list *added,
                                    refs_error *err);

/** Sets *chosen to the requested options, completed by the record of `set`. REFS_INVALID if other
 * dimensions are requested. */
refs_status refs_combine_how_choose(const char *set, const refs_combine_how *was,
                                    const refs_combine_how *requested, refs_combine_how *chosen,
                                    refs_error *err);

/** The options that all parts were combined with; the result records them, too. */
typedef struct refs_combine_common_how refs_combine_common_how;

refs_status refs_combine_common_how_open(refs_combine_common_how **parts, refs_error *err);
void refs_combine_common_how_free(refs_combine_common_how *parts);

/** Adds the record of a set; NULL: a data file, which has none. If `dims` is empty, the set is
 * copied and keeps its dimensions. Thread-safe. */
refs_status refs_combine_common_how_add(refs_combine_common_how *parts, const refs_set *set,
                                        const refs_name_list *dims, refs_error *err);

/** Sets `text` to the record of the result, which is combined by `how` along `how->along`. */
refs_status refs_combine_common_how_print(const refs_combine_common_how *parts,
                                          const refs_combine_how *how, refs_buf *text,
                                          refs_error *err);

/** The set that sources are added to; zeroed if there is none. */
typedef struct refs_combine_grown {
    const refs_set *set;        /**< NULL: there is none, or it is a master */
    refs_combine_how how;       /**< how it was combined */
    const refs_name_list *dims; /**< along which sources are combined */
} refs_combine_grown;

/** Which values of a part are used: all of the growing set and of sets that are added to it; for
 * data files, those that the growing set records. Fragments of masters provide everything else,
 * too, and values from names only if the master was made of them. */
refs_combine_values_from refs_combine_find_values_from(const refs_combine_grown *grown,
                                                       const refs_set *source);

/** Writes a complete set: the states of sources, the arrays left out, how it was combined (`how`,
 * as JSON or empty), and the parts. A warning reports arrays that only this project reads. */
refs_status refs_combine_write_set(refs_combine *combine, refs_combine_sources *sources,
                                   refs_str how, refs_writer *writer, refs_error *err);

/** Writes a complete master, whose fragments are the parts. */
refs_status refs_combine_write_master(refs_combine *combine, refs_combine_sources *sources,
                                      refs_str how, struct refs_master *master, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
