/* same_folder.h -- whether a folder of this machine is still the one that a set was opened in.
 *
 * A set that grows stays in its folder, and what was in it means what it meant. One that is written
 * anew is another folder of the same name, whose record files are of other chunks.
 */
#ifndef REFS_REFSET_SAME_FOLDER_H
#define REFS_REFSET_SAME_FOLDER_H

#include "refs/bytes.h"

/** Keeps the folder, so that no other one has its number. -1: it is none of this machine's. */
int refs_refset__folder_keep(refs_str folder);
void refs_refset__folder_release(int kept);

/** A name for the folder that the working directory does not change. */
refs_status refs_refset__folder_name(refs_str folder, char **name, refs_error *err);

/** REFS_CORRUPT where `folder` is not the one that is kept any more. */
refs_status refs_refset__folder_check(int kept, const char *folder, refs_error *err);

#endif
