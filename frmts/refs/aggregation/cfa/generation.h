/* generation.h -- the folder of a master's fragments, and how it takes the place of the one before.
 *
 * A master and the folder that it names cannot be replaced both at once. So new fragments appear
 * in a folder of their own, then the master that names them replaces the old one, and the old
 * fragments go last. If the folder that masters have, STEM, is taken, a first master names
 * "NAME.g1"; when it has its place, STEM is filled with links to the same files, a second master
 * that names STEM replaces the first, and "NAME.g1" goes. At each moment the master that is there
 * names files of its own generation.
 */
#ifndef REFS_AGGREGATION_CFA_GENERATION_H
#define REFS_AGGREGATION_CFA_GENERATION_H

#include "refs/staged.h"

/** Zeroed is none. Names are relative to the folder of the master. */
typedef struct cfa_generation {
    refs_staged parts; /**< where fragments are written; to be moved before the first master */
    char *first;       /**< what the folder is called first */
    char *last;        /**< and in the end; the same where no second master is needed */
    char *last_path;
    refs_staged linked; /**< last_path, where that is not the first: staged before anything is
                           looked at, so that no link that takes its name since is followed */
    refs_buf old;       /**< paths of folders of earlier generations, with a NUL after each */
    bool has_moved;     /**< to the last name */
} cfa_generation;

/** Makes a folder for the fragments of the master at `path`, which begin with `stem`. REFS_INVALID
 * where the folder that they are to have holds files of another origin. */
refs_status refs_cfa__generation_open(const char *path, const char *stem,
                                      cfa_generation *generation, refs_error *err);

/** Whether two masters are needed, one that names `first` and one that names `last`. */
bool refs_cfa__generation_has_two(const cfa_generation *generation);

/** Once the first master has its place, gives the fragments their last names; false where they
 * keep the first ones, as on a file system without links. */
bool refs_cfa__generation_link(cfa_generation *generation);

/** Once the last master has its place, removes what no master names any more. */
void refs_cfa__generation_end(cfa_generation *generation);

/** Removes what was not moved. */
void refs_cfa__generation_clear(cfa_generation *generation);

#endif
