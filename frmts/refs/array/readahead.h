/* readahead.h -- chunks loaded by other threads before a reader asks for them.
 *
 * The order and the time of requests is decided by stride.h. A prefetched chunk is one of the cache
 * like any other. Nothing here is ever waited for but by refs_array_free, and there only what has
 * begun: tasks that come too late find their chunks loaded by the reader, or passed, and end.
 *
 * Read before this: load.h.
 */
#ifndef REFS_READAHEAD_H
#define REFS_READAHEAD_H

#include "load.h"

/** The readahead of one reader. Zeroed: nothing. One thread at a time. */
typedef struct refs_readahead {
    struct refs_stream *stream; /**< the boxes that are expected, or NULL */
    refs_window window;
    uint64_t ahead;    /**< the first box that is neither read nor being read */
    uint64_t decoded;  /**< the first box that was not asked to be decoded */
    uint64_t passed;   /**< the first box that the cache does not know to be passed */
    size_t held_bytes; /**< that the cache was made larger for it */
    bool waits;        /**< the reader, for chunks that somebody has requested */
    bool comes_back;   /**< to chunks of which it has read a part (held.h): none is passed */
} refs_readahead;

/** Whether an array can be prefetched at all: not elements of variable length, which are read all
 * at once. */
bool refs_readahead__is_possible(const refs_array *array);

/** Opens what is to be followed; NULL without memory, or where it takes no longer to read the bytes
 * than to hand them on. Looks the first box up, which may read a file of the set: without a lock of
 * its reader. */
struct refs_stream *refs_readahead__open(refs_array *array, const refs_stride *stride);

/** Follows the boxes of a stream, of which the first is being read, in place of others; takes the
 * stream over, which may be NULL. */
void refs_readahead__begin(refs_readahead *readahead, struct refs_stream *stream);

/** Follows boxes that somebody told to be going to be read. */
void refs_readahead__begin_advised(refs_readahead *readahead, struct refs_stream *stream);

/** Whether a read goes on with what is followed, which is noted: by the box that is being read or
 * the next one; of what was told, by any that is left. The rest of a box is still expected. */
bool refs_readahead__goes_on(refs_readahead *readahead, const refs_box_read *read);

/** Ends what is followed where a read did not go on with it. */
void refs_readahead__miss(refs_readahead *readahead);

/** Requests the next window if it is time: when a reader has the bytes of its own. */
void refs_readahead__request(refs_readahead *readahead);

/** Follows nothing any more. Requests not yet made are dropped, requests under way that no reader
 * waits for are cancelled when one fetches something else; what has arrived and was not read is the
 * first to go where the cache is full. */
void refs_readahead__end(refs_readahead *readahead);

/** Takes back the tasks for an array that have not begun: what they would wait behind may be of
 * others. No reader is left that asks for more. */
void refs_readahead__withdraw(const refs_array *array);

#endif
