/* stride.h -- where reads begin, by which stride they move on, and what is requested ahead of them.
 *
 * Pure functions of what was read: no thread, no clock, no cache. The memory of a reader is its
 * last read, its last stride and a window, as in Linux's readahead.
 *
 * Chunks of an array have numbers, in C order over the grid of chunks. A read takes a box of
 * chunks; its number is that of the first one. Programs that read band by band, row of chunks by
 * row of chunks or block by block move on by the same difference of numbers each time, also from
 * the end of one band to the begin of the next. So do those who read backwards, or every third
 * band. Dimensions that a read goes through backwards, as those do whose first row is in the
 * south, are mirrored for that: counted from their last chunk.
 */
#ifndef REFS_STRIDE_H
#define REFS_STRIDE_H

#include "array_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How many chunks an array has along each dimension. */
typedef struct refs_grid {
    size_t rank;
    uint64_t n[REFS_MAX_RANK];
    uint64_t n_chunks; /**< in all */
} refs_grid;

/** The grid of an array; false where its chunks cannot be numbered with 63 bits. */
bool refs_grid__of(const refs_array_meta *meta, refs_grid *grid);

/** The number of the chunk at `index`, and the index of chunk `number`. */
uint64_t refs_grid__number(const refs_grid *grid, const uint64_t *index);
void refs_grid__index(const refs_grid *grid, uint64_t number, uint64_t *index);

/** Mirrors an index along dimensions whose bits are set: twice is not at all. */
void refs_grid__mirror(const refs_grid *grid, uint32_t mirrored, uint64_t *index);

/* -- what was read ----------------------------------------------------------------------------- */

/** A read: its box of chunks, and the element that it begins with. */
typedef struct refs_box_read {
    uint32_t mirrored;               /**< dimensions, by bits: 1 << dim */
    uint64_t number;                 /**< of the first chunk, mirrored */
    uint64_t box[REFS_MAX_RANK];     /**< chunks along each dimension */
    uint64_t element[REFS_MAX_RANK]; /**< inside the array, mirrored */
    uint64_t left[REFS_MAX_RANK];    /**< elements of its chunk that follow it */
    bool is_point;                   /**< it is of one element */
} refs_box_read;

/** Describes the read that was cut to `cut`; false for one that leaves out chunks. */
bool refs_box_read__describe(const refs_array_meta *meta, const refs_grid *grid,
                             const refs_cut *cut, refs_box_read *read);

/** Chunks [begin, end) along each dimension. */
typedef struct refs_bounds {
    uint64_t begin[REFS_MAX_RANK], end[REFS_MAX_RANK];
} refs_bounds;

/** All chunks of a grid. */
refs_bounds refs_grid__bounds(const refs_grid *grid);

/** The last read of a reader, and how it came there. Zeroed but for `bounds`: none. */
typedef struct refs_last_read {
    refs_bounds bounds; /**< that it keeps within, not mirrored */
    bool is_any;
    bool is_first;                   /**< it is the first one, or in its chunk */
    bool is_hit;                     /**< it moved by the last stride, or from chunk 0 */
    uint64_t number;                 /**< of its first chunk */
    int64_t stride;                  /**< by which it had moved; 0: unknown */
    size_t slowest;                  /**< dimension that changed since the stride did */
    uint64_t element[REFS_MAX_RANK]; /**< that it began with */
    size_t dim;                      /**< along which it had stepped inside the chunk, by … */
    uint64_t step;                   /**< … so many elements; 0: unknown */
    uint64_t n_steps;                /**< in a row that were equal */
} refs_last_read;

/** Notes a read. */
void refs_last_read__note(refs_last_read *last, const refs_grid *grid, const refs_box_read *read);

/* -- what is expected -------------------------------------------------------------------------- */

/** Boxes that are expected to be read, one after the other: box k begins with chunk
 * first + k * by, for k in [0, n). Box 0 is being read. */
typedef struct refs_stride {
    uint32_t mirrored; /**< as of the read; all numbers below are mirrored */
    uint64_t first;
    int64_t by;
    uint64_t n;
    uint64_t box[REFS_MAX_RANK]; /**< chunks along each dimension, where the grid does not end */
} refs_stride;

/** The expected boxes after a read that was noted; false: nothing is. Two equal strides are enough,
 * and one from the first chunk of the array, with which those begin who read all; so are three
 * equal steps inside a chunk, once they are a third of the way through it. Reads are expected to go
 * on to the end of the dimensions that they have moved along, within the bounds of the slowest one:
 * who reads the rows of one band has not begun to read the next one. */
bool refs_last_read__expects(const refs_last_read *last, const refs_grid *grid,
                             const refs_box_read *read, refs_stride *stride);

/** The boxes of one read that is known to be followed part by part, along the slowest dimension in
 * which it has several chunks; false where it has one. */
bool refs_stride__of_region(const refs_box_read *read, const refs_grid *grid, refs_stride *stride);

/** The box that the first chunk of a read lies in, not before box `from`; UINT64_MAX: none. */
uint64_t refs_stride__find(const refs_stride *stride, const refs_grid *grid,
                           const refs_box_read *read, uint64_t from);

/** The chunks of box `k`: how many, and their numbers, not mirrored, to `numbers`, which has room
 * for refs_stride__box_size. Fewer than that where the grid ends. */
size_t refs_stride__chunks(const refs_stride *stride, const refs_grid *grid, uint64_t k,
                           uint64_t *numbers);
uint64_t refs_stride__box_size(const refs_stride *stride, const refs_grid *grid);

/* -- the window -------------------------------------------------------------------------------- */

/** Boxes that are requested at a time. Zeroed: nothing was requested yet. */
typedef struct refs_window {
    uint64_t size; /**< of the next window; 0: not known yet */
    uint64_t last; /**< size of the last one; 0: there was none */
    uint64_t next; /**< the first box that was not requested */
    uint64_t mark; /**< the box whose read has the next window requested */
} refs_window;

/** The size of boxes, in bytes; as they are stored, an estimate. */
typedef struct refs_box_bytes {
    uint64_t stored; /**< at least 1 */
    uint64_t decoded;
    uint64_t most; /**< that may be there and not be read yet */
    bool is_local; /**< a read of the bytes costs no round trip */
} refs_box_bytes;

/** How many boxes are decoded before they are read; those beyond them are kept as they are stored.
 */
uint64_t refs_box_bytes__n_decoded(const refs_box_bytes *bytes);

/** How many boxes may be there and not be read yet. */
uint64_t refs_box_bytes__n_fit(const refs_box_bytes *bytes);

/** How many boxes are to be requested from window->next on, of `n` boxes of which `ahead` are read
 * or being read and `n_fit` may be there unread. They are taken to be requested: the window
 * doubles, and its mark is in their middle. */
uint64_t refs_window__advance(refs_window *window, uint64_t ahead, uint64_t n, uint64_t n_fit);

/** A reader waits for a box of the last window, as those do that read faster than boxes arrive: the
 * next one is requested at once, if it may be as large as the last one. */
void refs_window__hurry(refs_window *window, uint64_t ahead, uint64_t n_fit);

/** A read did not go on as expected: the next window is half as large. */
void refs_window__miss(refs_window *window);

/** All that is expected is known to be read: the next window is as large as fits. */
void refs_window__open(refs_window *window);

#ifdef __cplusplus
}
#endif
#endif
