/* stride.h -- predicts reads from strides, and decides what to request ahead.
 *
 * Pure functions of past reads, without threads, clock or cache. The state of a reader is its last
 * read, its last stride and a window, as in Linux's readahead.
 *
 * Chunks of an array have numbers, in C order over the chunk grid. A read covers a box of chunks;
 * its number is that of the first one. Programs that read by bands, rows of chunks or blocks
 * advance by the same difference of numbers each time, even from the end of one band to the
 * beginning of the next; so do programs that read backwards or every third band. Dimensions that a
 * read traverses backwards, because the first row is in the south, are mirrored: counted from their
 * last chunk. */
#ifndef REFS_STRIDE_H
#define REFS_STRIDE_H

#include "array_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The chunk grid of an array. */
typedef struct refs_grid {
    size_t rank;
    uint64_t n[REFS_MAX_RANK];
    uint64_t n_chunks; /**< in all */
} refs_grid;

/** The grid of an array; false if 63 bits cannot number its chunks. */
bool refs_grid__of(const refs_array_meta *meta, refs_grid *grid);

/** The number of the chunk at `index`, and the index of chunk `number`. */
uint64_t refs_grid__number(const refs_grid *grid, const uint64_t *index);
void refs_grid__index(const refs_grid *grid, uint64_t number, uint64_t *index);

/** Mirrors an index along the dimensions whose bits are set; mirroring twice restores it. */
void refs_grid__mirror(const refs_grid *grid, uint32_t mirrored, uint64_t *index);

/* -- what was read ----------------------------------------------------------------------------- */

/** A read: its box of chunks and its first element. */
typedef struct refs_box_read {
    uint32_t mirrored;               /**< dimensions, by bits: 1 << dim */
    uint64_t number;                 /**< of the first chunk, mirrored */
    uint64_t box[REFS_MAX_RANK];     /**< chunks along each dimension */
    uint64_t element[REFS_MAX_RANK]; /**< the first element, in the array, mirrored */
    uint64_t left[REFS_MAX_RANK];    /**< following elements in its chunk */
    bool is_point;                   /**< it reads one element */
} refs_box_read;

/** Describes the read that was divided into `cut`; false if it skips chunks. */
bool refs_box_read__describe(const refs_array_meta *meta, const refs_grid *grid,
                             const refs_cut *cut, refs_box_read *read);

/** Chunks [begin, end) along each dimension. */
typedef struct refs_bounds {
    uint64_t begin[REFS_MAX_RANK], end[REFS_MAX_RANK];
} refs_bounds;

/** All chunks of a grid. */
refs_bounds refs_grid__bounds(const refs_grid *grid);

/** The last read of a reader, and how it moved there. Zeroed except `bounds`: none. */
typedef struct refs_last_read {
    refs_bounds bounds; /**< the region that it stays in, not mirrored */
    bool is_any;
    bool is_first;                   /**< it is the first read, or the first in its chunk */
    bool is_hit;                     /**< it moved by the last stride, or began at chunk 0 */
    uint64_t number;                 /**< of its first chunk */
    int64_t stride;                  /**< the last movement; 0: unknown */
    size_t slowest;                  /**< dimension that changed since the stride did */
    uint64_t element[REFS_MAX_RANK]; /**< its first element */
    size_t dim;                      /**< dimension of the last movement inside the chunk, by … */
    uint64_t step;                   /**< … so many elements; 0: unknown */
    uint64_t n_steps;                /**< number of equal movements in a row */
} refs_last_read;

/** Records a read. */
void refs_last_read__note(refs_last_read *last, const refs_grid *grid, const refs_box_read *read);

/* -- what is expected -------------------------------------------------------------------------- */

/** Boxes that are expected to be read in sequence: box k begins with chunk first + k * by, for k in
 * [0, n). Box 0 is being read. */
typedef struct refs_stride {
    uint32_t mirrored; /**< as in the read; all numbers below are mirrored */
    uint64_t first;
    int64_t by;
    uint64_t n;
    uint64_t box[REFS_MAX_RANK]; /**< chunks along each dimension, fewer at the end of the grid */
} refs_stride;

/** The expected boxes after a recorded read; false: none. Two equal strides suffice; so does one
 * from the first chunk of the array, where programs begin that read all of it; and three equal
 * steps inside a chunk, once they have covered a third of it. Reads are expected to continue to the
 * end of the dimensions that they have moved along, within the bounds of the slowest one: a program
 * that reads the rows of one band need not read the next band. */
bool refs_last_read__expects(const refs_last_read *last, const refs_grid *grid,
                             const refs_box_read *read, refs_stride *stride);

/** The boxes of a read that will be performed in parts along the slowest dimension with several
 * chunks; false if it has one chunk. */
bool refs_stride__of_region(const refs_box_read *read, const refs_grid *grid, refs_stride *stride);

/** The box that contains the first chunk of a read, not before box `from`; UINT64_MAX: none. */
uint64_t refs_stride__find(const refs_stride *stride, const refs_grid *grid,
                           const refs_box_read *read, uint64_t from);

/** Writes the numbers of the chunks of box `k`, not mirrored, to `numbers`, which must have space
 * for refs_stride__box_size; returns how many, fewer at the end of the grid. */
size_t refs_stride__chunks(const refs_stride *stride, const refs_grid *grid, uint64_t k,
                           uint64_t *numbers);
uint64_t refs_stride__box_size(const refs_stride *stride, const refs_grid *grid);

/* -- the window -------------------------------------------------------------------------------- */

/** The window of requested boxes. Zeroed: nothing was requested yet. */
typedef struct refs_window {
    uint64_t size; /**< of the next window; 0: not known yet */
    uint64_t last; /**< size of the last one; 0: there was none */
    uint64_t next; /**< the first box that was not requested */
    uint64_t mark; /**< when this box is read, the next window is requested */
} refs_window;

/** Sizes of boxes in bytes; that of stored ones is an estimate. */
typedef struct refs_box_bytes {
    uint64_t stored; /**< at least 1 */
    uint64_t decoded;
    uint64_t most; /**< limit of prefetched and unread bytes */
    bool is_local; /**< reading takes no round trip */
} refs_box_bytes;

/** The number of boxes that are decoded before they are read; those beyond stay as stored bytes. */
uint64_t refs_box_bytes__n_decoded(const refs_box_bytes *bytes);

/** The number of boxes that may be prefetched and unread. */
uint64_t refs_box_bytes__n_fit(const refs_box_bytes *bytes);

/** Returns how many boxes to request from window->next on, of `n` boxes, of which `ahead` are read
 * or being read and `n_fit` may be unread; records them as requested: the window doubles, and its
 * mark is in their middle. */
uint64_t refs_window__advance(refs_window *window, uint64_t ahead, uint64_t n, uint64_t n_fit);

/** A reader waits for a box of the last window, because it is faster than the network: the next
 * window is requested at once if it may be as large as the last one. */
void refs_window__hurry(refs_window *window, uint64_t ahead, uint64_t n_fit);

/** A read was not as expected: the next window is half as large. */
void refs_window__miss(refs_window *window);

/** All expected boxes will certainly be read: the next window is as large as possible. */
void refs_window__open(refs_window *window);

#ifdef __cplusplus
}
#endif
#endif
