/* folder.h -- the folder of a master's fragments, which takes its place with the master. */
#ifndef REFS_CFA_FOLDER_H
#define REFS_CFA_FOLDER_H

#include "refs/bytes.h"

/** Zeroed is none. */
typedef struct cfa_folder {
    char *wanted;
    char *written; /**< a new folder beside it; NULL: it has been moved */
    char *old;     /**< what had its place, until it is removed */
    bool is_placed;
} cfa_folder;

/** Makes a folder beside `wanted`. REFS_INVALID where that is there and holds other things than
 * fragments of `stem`. */
refs_status refs_cfa__folder_open(const char *wanted, const char *stem, cfa_folder *folder,
                                  refs_error *err);

/** Puts it in its place, unless it is empty. */
refs_status refs_cfa__folder_place(cfa_folder *folder, refs_error *err);

/** Lets go of what had its place: nothing is undone any more. */
void refs_cfa__folder_keep(cfa_folder *folder);

/** Undoes what was not kept. */
void refs_cfa__folder_clear(cfa_folder *folder);

#endif
