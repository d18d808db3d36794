/* readahead.h -- loads chunks on other threads before a reader requests them.
 *
 * stride.h determines the order and time of requests. A prefetched chunk is a normal chunk of the
 * cache. Only refs_array_free waits for tasks, and only for those that have begun: tasks that come
 * too late find their chunks loaded or passed by the reader, and end.
 *
 * Read before this: load.h. */
#ifndef REFS_READAHEAD_H
#define REFS_READAHEAD_H

#include "load.h"

/** The readahead of one reader. Zeroed: idle. Used by one thread at a time. */
typedef struct refs_readahead {
    struct refs_stream *stream; /**< the expected boxes, or NULL */
    refs_window window;
    uint64_t ahead;    /**< the first box that was not read or begun */
    uint64_t decoded;  /**< the first box that was not requested to be decoded */
    uint64_t passed;   /**< the first box that was not reported as passed */
    size_t held_bytes; /**< by which the cache was enlarged for it */
    bool waits;        /**< the reader waits for requested chunks */
    bool comes_back;   /**< it returns to partly read chunks (held.h), so none is passed */
} refs_readahead;

/** Whether an array can be prefetched: not variable-length elements, which are read all at once. */
bool refs_readahead__is_possible(const refs_array *array);

/** Opens a stream of boxes; NULL if memory ran out, or if reading the bytes takes no longer than a
 * task. Looks up the first box, which may read a file of the set, so call it without a lock of the
 * reader. */
struct refs_stream *refs_readahead__open(refs_array *array, const refs_stride *stride);

/** Replaces the stream by another one (or NULL), whose first box is being read; takes ownership. */
void refs_readahead__begin(refs_readahead *readahead, struct refs_stream *stream);

/** Begins a stream of boxes that the application has announced. */
void refs_readahead__begin_advised(refs_readahead *readahead, struct refs_stream *stream);

/** Whether a read continues the stream, which is recorded: by the current box or the next one; in
 * an announced stream, by any later one. The rest of a box is still expected. */
bool refs_readahead__goes_on(refs_readahead *readahead, const refs_box_read *read);

/** Ends the stream after a read that did not continue it. */
void refs_readahead__miss(refs_readahead *readahead);

/** Requests the next window if it is time, after the reader has its own bytes. */
void refs_readahead__request(refs_readahead *readahead);

/** Ends the stream. Requests not yet made are dropped; those in progress that no reader waits for
 * are cancelled when a reader fetches something else; unread chunks are dropped first when the
 * cache is full. */
void refs_readahead__end(refs_readahead *readahead);

/** Withdraws an array's tasks that have not begun: they may be queued behind tasks of other arrays.
 * The array must have no reader that requests more. */
void refs_readahead__withdraw(const refs_array *array);

#endif
