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

/** Finds a name beside `path` that nothing has; for a folder, makes it. */
refs_status refs_place_open(const char *path, bool is_folder, refs_place *place, refs_error *err);

/** Puts what was written in the place of what was there. */
refs_status refs_place_move(refs_place *place, refs_error *err);

/** Writes a file that holds these bytes; what was there stays until all of them are written. */
refs_status refs_place_replace(const char *path, refs_bytes bytes, refs_error *err);

/** Removes what was written and not moved. */
void refs_place_clear(refs_place *place);

/** Removes a file, or a folder with all that is in it; links are not followed. */
void refs_place_remove(const char *path);

#endif
