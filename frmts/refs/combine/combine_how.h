/* combine_how.h -- how a set or a master was combined, as it says itself: appending goes on that
 * way.
 *
 * It is the member "joined" of what is recorded of sources (refset.h):
 * {"along":["time"],"pattern":"t_{time:%Y}.nc"}, and "group", "variables", "inline", and "added",
 * the dimensions of "along" that sources lacked.
 *
 * Read before this: combine.h, name_list.h.
 */
#ifndef REFS_COMBINE_COMBINE_HOW_H
#define REFS_COMBINE_COMBINE_HOW_H

#include "refs/combine.h"
#include "refs/json.h"
#include "refs/name_list.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_master;

/** Zeroed says nothing. Strings are borrowed. */
typedef struct refs_combine_how {
    refs_name_list along, variables;
    refs_name_list added;        /**< of `along`: those that variables got, as they had none */
    const char *pattern, *group; /**< or NULL */
    uint64_t inline_bytes;
    bool has_inline_bytes; /**< they are requested, even none */
    refs_json_doc *doc;    /**< that it was read from, or NULL */
} refs_combine_how;

/** Reads what was written; nothing of an empty text. REFS_CORRUPT: it is not as it is written. To
 * be cleared also on failure. */
refs_status refs_combine_how_read(refs_str text, refs_combine_how *how, refs_error *err);
void refs_combine_how_clear(refs_combine_how *how);

/** Sets `text` to it as JSON; to nothing where it says nothing. */
refs_status refs_combine_how_print(const refs_combine_how *how, refs_buf *text, refs_error *err);

/** The same of what a set says. */
refs_status refs_combine_how_read_set(const refs_set *set, refs_combine_how *how, refs_error *err);

/** Appends the dimensions that some variables got, as sources lacked them. Names are borrowed
 * from the options. */
refs_status refs_combine_list_added(const refs_combine *combine, refs_name_list *added,
                                    refs_error *err);

/** Sets *chosen to what is requested, and where that says nothing, to how `set` was combined.
 * REFS_INVALID where other dimensions are requested. */
refs_status refs_combine_how_choose(const char *set, const refs_combine_how *was,
                                    const refs_combine_how *requested, refs_combine_how *chosen,
                                    refs_error *err);

/** How parts were combined: what all of them say, what is made of them says too. */
typedef struct refs_combine_common_how refs_combine_common_how;

refs_status refs_combine_common_how_open(refs_combine_common_how **parts, refs_error *err);
void refs_combine_common_how_free(refs_combine_common_how *parts);

/** Adds what a set says, or for NULL a data file, which says nothing. Without dimensions along
 * which it is combined, `dims` of none, it is copied, and those that it says are kept. Safe from
 * any thread. */
refs_status refs_combine_common_how_add(refs_combine_common_how *parts, const refs_set *set,
                                        const refs_name_list *dims, refs_error *err);

/** Sets `text` to what is said of the result, which is combined as `how` says, along `how->along`.
 */
refs_status refs_combine_common_how_print(const refs_combine_common_how *parts,
                                          const refs_combine_how *how, refs_buf *text,
                                          refs_error *err);

/** The set that sources are added to, or none: zeroed. */
typedef struct refs_combine_grown {
    const refs_set *set;        /**< or NULL: there is none, or it is a master */
    refs_combine_how how;       /**< it was combined */
    const refs_name_list *dims; /**< along which sources are combined */
} refs_combine_grown;

/** The source of values of a part: all of what grows and of sets that are added to it is taken, as
 * the former says how data files are. Fragments of masters have all else, too, and of names only
 * what they were made of. */
refs_combine_values_from refs_combine_find_values_from(const refs_combine_grown *grown,
                                                       const refs_set *source);

/** Writes all that a set is made of: the states of sources, what was left out, how it was combined
 * (`how`, as JSON or empty), and the parts. A note tells of what only this project reads. */
refs_status refs_combine_write_set(refs_combine *combine, refs_combine_sources *sources,
                                   refs_str how, refs_writer *writer, refs_error *err);

/** The same for a master, whose fragments are the parts. */
refs_status refs_combine_write_master(refs_combine *combine, refs_combine_sources *sources,
                                      refs_str how, struct refs_master *master, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
