/* set_state.h -- whether the record files of a set still belong to the metadata that were read when
 * it was opened.
 *
 * Names of record files do not tell which state of a set they are of. How this is done depends on
 * where the set lies: A folder of this machine is held on to. A set that grows stays in its folder,
 * and what was in it means what it meant. One that is rewritten is another folder of the same
 * name, whose record files are of other chunks; held, the one that was opened keeps its number to
 * itself.
 *
 * Servers have no folders. There, a record file that is not younger than ".zmetadata" was when the
 * set was opened, nor older than all that were read, is of that state, or of one before, and
 * nothing is asked. For others the validators of ".zmetadata" are asked for: they shall be as they
 * were, or the set has only grown: all its sources are sources of the new one, and all its chunks
 * have the numbers in it that they had.
 */
#ifndef REFS_REFERENCES_SET_STATE_H
#define REFS_REFERENCES_SET_STATE_H

#include <pthread.h>

#include "chunk_grids.h"
#include "refs/vfs.h"

/** The server's validators of ".zmetadata". */
typedef struct refs_known_metadata {
    refs_vfs_validators validators;
    int64_t trusted_s; /**< record files that were modified up to then belong to the metadata, … */
    int64_t oldest_s;  /**< … from then on, which is the time of the oldest that was read; or 0 */
    bool is_undated;   /**< the server dates all answers as they are made: nothing is checked */
    uint64_t digest;   /**< of the document, where only a recent date is known of it; or 0 */
} refs_known_metadata;

/** The known state. Zeroed: nothing, and nothing is checked. May be moved until it has noted the
 * metadata. */
typedef struct refs_set_state {
    const refs_vfs *vfs;
    char *folder;   /**< its location; of a local one, wherever the process goes */
    bool is_held;   /**< the folder is of this machine, … */
    int held;       /**< … and this is its descriptor */
    bool is_noted;  /**< it is on a server that tells states apart: what follows is known */
    char *metadata; /**< location of ".zmetadata" */
    char *sources;  /**< value of ".zsources/.zattrs", or NULL */
    uint64_t record_size;
    pthread_mutex_t lock;      /**< guards what follows; no server is asked under it */
    refs_known_metadata known; /**< by the latest check */
} refs_set_state;

/** Begins with the set in `folder`, before its metadata are read. `state` is zeroed, and to be
 * cleared also after a failure. */
refs_status refs_references__state_begin(refs_set_state *state, const refs_vfs *vfs,
                                         refs_str folder, refs_error *err);

/** Takes note of the metadata, which were just read. */
refs_status refs_references__state_note(refs_set_state *state, const refs_json *document,
                                        refs_error *err);

void refs_references__state_clear(refs_set_state *state);

/** Whether metadata that were read since the beginning are those of the folder that is held. */
bool refs_references__state_is_held(const refs_set_state *state);

/** Checks the record file at `location`, which was just read; NULL: it was not there.
 * REFS_CORRUPT where the set was rewritten. `grids` are those of the metadata. */
refs_status refs_references__state_check(refs_set_state *state, const char *location,
                                         const refs_chunk_grids *grids, refs_error *err);

#endif
