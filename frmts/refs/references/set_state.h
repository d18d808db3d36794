/* set_state.h -- checks that the record files of a set belong to the metadata that was read when it
 * was opened.
 *
 * The name of a record file does not identify the state of the set. A local folder is held open: a
 * set that grows stays in its folder, and its old record files stay valid; a set that is rewritten
 * is another folder with the same name, which the held inode detects.
 *
 * Servers have no folders. There, a record file belongs to the metadata if it is not newer than
 * ".zmetadata" was when the set was opened, and not older than all record files read before; no
 * request is made. For other record files, the validators of ".zmetadata" are requested: they must
 * be unchanged, or the set has only grown: the new one has all its sources, and all its chunks with
 * the same numbers.
 */
#ifndef REFS_REFERENCES_SET_STATE_H
#define REFS_REFERENCES_SET_STATE_H

#include <pthread.h>

#include "chunk_grids.h"
#include "refs/vfs.h"

/** The server's validators of ".zmetadata". */
typedef struct refs_known_metadata {
    refs_vfs_validators validators;
    int64_t trusted_s; /**< record files modified up to this time belong to the metadata, … */
    int64_t oldest_s;  /**< … from this time on, that of the oldest one that was read; or 0 */
    bool is_undated;   /**< the server sends the current time as Last-Modified: nothing is
                          checked */
    uint64_t digest;   /**< of the document, if its only validator is a recent date; or 0 */
} refs_known_metadata;

/** The recorded state. Zeroed: nothing is checked. May be moved until
 * refs_references__state_note. */
typedef struct refs_set_state {
    const refs_vfs *vfs;
    char *folder;   /**< its location; a local one is absolute */
    bool is_held;   /**< the folder is local, … */
    int held;       /**< … and this is its descriptor */
    bool is_noted;  /**< it is on a server that sends validators: the following members are set */
    char *metadata; /**< location of ".zmetadata" */
    char *sources;  /**< value of ".zsources/.zattrs", or NULL */
    uint64_t record_size;
    pthread_mutex_t lock;      /**< guards what follows; no server is asked under it */
    refs_known_metadata known; /**< as of the latest check */
} refs_set_state;

/** Begins to watch the set in `folder`, before its metadata is read. `state` must be zeroed; clear
 * it also after a failure. */
refs_status refs_references__state_begin(refs_set_state *state, const refs_vfs *vfs,
                                         refs_str folder, refs_error *err);

/** Records the metadata, which was just read. */
refs_status refs_references__state_note(refs_set_state *state, const refs_json *document,
                                        refs_error *err);

void refs_references__state_clear(refs_set_state *state);

/** Whether the metadata was read from the folder that is held. */
bool refs_references__state_is_held(const refs_set_state *state);

/** Checks the record file at `location`, which was just read; NULL: it does not exist. REFS_CORRUPT
 * if the set was rewritten. `grids` are those of the metadata. */
refs_status refs_references__state_check(refs_set_state *state, const char *location,
                                         const refs_chunk_grids *grids, refs_error *err);

#endif
