/* place.h -- where a set is written, and how it gets to where it is wanted. */
#ifndef REFS_WRITE_PLACE_H
#define REFS_WRITE_PLACE_H

#include "refs/bytes.h"

/** Zeroed is none. */
typedef struct refs_place {
    char *wanted;  /**< without slashes at its end */
    char *written; /**< a new name beside it, until it is moved */
    bool is_folder;
} refs_place;

/** Appends the name under which something is written beside the one that is wanted, until it is
 * whole: "wanted.tmp-TAG-PROCESS-NUMBER", with a NUL behind it. */
refs_status refs_place_append_name(const char *wanted, int number, refs_buf *name, refs_error *err);

/** Whether a name is one of these, of whatever process. */
bool refs_place_is_unfinished(const char *name);

/** Removes what has such a name in the folder of `path` and was being written by a process of this
 * machine that is no more. */
void refs_place_sweep(const char *path);

/** Finds a name beside `path` that nothing has; for a folder, makes it. Sweeps before. */
refs_status refs_place_open(const char *path, bool is_folder, refs_place *place, refs_error *err);

/** Puts what was written in the place of what was there. */
refs_status refs_place_move(refs_place *place, refs_error *err);

/** Gives each of two things the name of the other, both at once; false where the system cannot. */
bool refs_place_exchange(const char *one, const char *other);

/** Writes a file that holds these bytes; what was there stays until all of them are written. */
refs_status refs_place_replace(const char *path, refs_bytes bytes, refs_error *err);

/** Removes what was written and not moved. */
void refs_place_clear(refs_place *place);

/** Removes a file, or a folder with all that is in it; links are not followed. */
void refs_place_remove(const char *path);

#endif
