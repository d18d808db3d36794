/* generation.h -- the folder of a master's fragments, and how it replaces the previous one.
 *
 * A master and the folder that it names cannot be replaced at the same moment. So new fragments are
 * written into a new folder, then the master that names it replaces the old master, and the old
 * fragments are removed last. If the usual name of the folder, STEM, is in use, a first master
 * names "NAME.g1". When it is in place, STEM is filled with links to the same files, a second
 * master that names STEM replaces the first one, and "NAME.g1" is removed. At each moment, the
 * existing master names existing files of its own generation. */
#ifndef REFS_AGGREGATION_CFA_GENERATION_H
#define REFS_AGGREGATION_CFA_GENERATION_H

#include "refs/staged.h"

/** An empty generation is zeroed. Names are relative to the folder of the master. */
typedef struct cfa_generation {
    refs_staged parts; /**< where fragments are written; moved before the first master */
    char *first;       /**< the first name of the folder */
    char *last;        /**< its final name; equal if no second master is needed */
    char *last_path;
    refs_staged linked; /**< last_path, where that is not the first: staged before anything is
                           looked at, so that no link that takes its name since is followed */
    refs_buf old;       /**< paths of folders of earlier generations, with a NUL after each */
    bool has_moved;     /**< to the last name */
} cfa_generation;

/** Makes a folder for the fragments of the master at `path`; their names begin with `stem`.
 * REFS_INVALID if the usual folder has files of another origin. */
refs_status refs_cfa__generation_open(const char *path, const char *stem,
                                      cfa_generation *generation, refs_error *err);

/** Whether two masters are needed: one naming `first`, and one naming `last`. */
bool refs_cfa__generation_has_two(const cfa_generation *generation);

/** When the first master is in place, links the fragments to their final names. False if they keep
 * the first ones, as on a file system without links. */
bool refs_cfa__generation_link(cfa_generation *generation);

/** When the last master is in place, removes the files that no master names. */
void refs_cfa__generation_end(cfa_generation *generation);

/** Removes files that were not moved. */
void refs_cfa__generation_clear(cfa_generation *generation);

#endif
