/* metadata_file.h -- the file that makes a folder a set: ".zmetadata". */
#ifndef REFS_REFSET_METADATA_FILE_H
#define REFS_REFSET_METADATA_FILE_H

#include "refs/refset.h"

/** Whether `location` is such a file, by its name. */
bool refs_refset__is_metadata_file(refs_str location);

/** The folder that holds it, without a slash at the end. */
refs_str refs_refset__folder_of_metadata(refs_str location);

/** What may hold the set called `name`: the thing itself, and the file in the folder that it may
 * be, in the order in which they are to be tried. */
typedef struct refs_candidates {
    char *location[2]; /**< owned; the second is NULL where there is nothing else to try */
    size_t itself;     /**< which of them is the thing itself */
} refs_candidates;

/** Never asks for what is in a folder. To be cleared also after a failure. */
refs_status refs_refset__candidates(const char *name, refs_candidates *candidates, refs_error *err);
void refs_refset__candidates_clear(refs_candidates *candidates);

#endif
