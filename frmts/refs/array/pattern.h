/* pattern.h -- where reads begin, how that moves, and what is to be expected and prefetched.
 *
 * Pure functions of what was read: no thread, no clock, no cache.
 *
 * Chunks of an array have numbers, in C order over the grid of chunks. A read
 * takes a box of chunks; its number is that of the first one. Programs that
 * read band by band, row of chunks by row of chunks or block by block move on
 * by the same difference of numbers each time, also from the end of one band
 * to the begin of the next. So do those who read backwards, or every third
 * band. Dimensions that a read goes through backwards, as those do whose first
 * row is in the south, are mirrored for that: counted from their last chunk.
 */
#ifndef REFS_PATTERN_H
#define REFS_PATTERN_H

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
bool refs_pattern__describe(const refs_array_meta *meta, const refs_grid *grid, const refs_cut *cut,
                            refs_box_read *read);

/** Chunks [begin, end) along each dimension. */
typedef struct refs_bounds {
    uint64_t begin[REFS_MAX_RANK], end[REFS_MAX_RANK];
} refs_bounds;

/** All chunks of a grid. */
refs_bounds refs_grid__bounds(const refs_grid *grid);

/** The reads of one reader so far. Zeroed but for `bounds`: none. */
typedef struct refs_pattern {
    refs_bounds bounds; /**< that it keeps within, not mirrored */
    bool any;
    uint64_t first;                  /**< number of the first read, until one jumped */
    uint64_t at;                     /**< number of the last read */
    int64_t by;                      /**< how far it had moved; 0: unknown */
    uint64_t n_moves;                /**< in a row that were equal */
    size_t slowest;                  /**< dimension that any of them moved along */
    uint64_t element[REFS_MAX_RANK]; /**< that the last read began with */
    size_t dim;                      /**< along which it had stepped inside the chunk, by … */
    uint64_t step;                   /**< … so many elements; 0: unknown */
    uint64_t n_steps;                /**< in a row that were equal */
    unsigned doubts;                 /**< courses in a row that ended mostly unread */
} refs_pattern;

/** What a read did. */
typedef enum refs_move {
    REFS_MOVE_STAYED,  /**< it began in the same chunk as the last one */
    REFS_MOVE_WENT_ON, /**< it moved as the last one had moved */
    REFS_MOVE_JUMPED   /**< anything else, the first read too */
} refs_move;

/** Notes a read. */
refs_move refs_pattern__note(refs_pattern *pattern, const refs_grid *grid,
                             const refs_box_read *read);

/** Judges a course that ended: `n_used` boxes had been asked for before they were read, `n_unread`
 * were asked for in vain. */
void refs_pattern__judge(refs_pattern *pattern, uint64_t n_used, uint64_t n_unread);

/* -- what is expected -------------------------------------------------------------------------- */

/** Boxes that are expected to be read, one after the other: box k begins with chunk
 * first + k * by, for k in [0, n). Box 0 is being read. */
typedef struct refs_course {
    uint32_t mirrored; /**< as of the read; all numbers below are mirrored */
    uint64_t first;
    int64_t by;
    uint64_t n;
    uint64_t box[REFS_MAX_RANK]; /**< chunks along each dimension, where the grid does not end */
    uint64_t n_read;             /**< boxes that were read until box 0, it included */
} refs_course;

/** What is expected after a read that was noted; false: nothing is. Two equal moves are enough, and
 * one from the first chunk of the array, with which those begin who read all; so are three equal
 * steps inside a chunk, once they are a third of the way through it. Who takes one element of each
 * chunk reads a series, and is expected to read all of it, unless the last one ended mostly unread.
 * Reads are expected to go on to the end of the dimensions that they have moved along, within the
 * bounds of the slowest one: who reads the rows of one band has not begun to read the next one.
 * Each course in a row that ended mostly unread doubles the moves and steps that are enough, up to
 * eight times: who loops over a few bands is not followed for long. */
bool refs_pattern__expects(const refs_pattern *pattern, const refs_grid *grid,
                           const refs_box_read *read, refs_course *course);

/** The boxes of one read that is known to be followed part by part, along the slowest dimension in
 * which it has several chunks; false where it has one. */
bool refs_course__of_region(const refs_box_read *read, const refs_grid *grid, refs_course *course);

/** The box that the first chunk of a read lies in, not before box `from`; UINT64_MAX: none. */
uint64_t refs_course__find(const refs_course *course, const refs_grid *grid,
                           const refs_box_read *read, uint64_t from);

/** The chunks of box `k`: how many, and their numbers, not mirrored, to `numbers`, which has room
 * for refs_course__box_size. Fewer than that where the grid ends. */
size_t refs_course__chunks(const refs_course *course, const refs_grid *grid, uint64_t k,
                           uint64_t *numbers);
uint64_t refs_course__box_size(const refs_course *course, const refs_grid *grid);

/* -- what is prefetched ------------------------------------------------------------------------ */

/** What the decision depends on. Bytes are of one box; as it is stored, an estimate. */
typedef struct refs_progress_on {
    uint64_t ahead;  /**< the first box that is neither read nor being read */
    uint64_t next;   /**< the first box that was not asked for */
    uint64_t stored; /**< bytes, at least 1 */
    uint64_t decoded;
    uint64_t budget; /**< bytes that may be there and not read yet */
    bool is_local;   /**< a read of the bytes costs no round trip */
} refs_progress_on;

/** Boxes [begin, end) are to be asked for now; those up to `decode_end` are to be decoded as soon
 * as they are there, others are kept as they are stored. */
typedef struct refs_prefetch_plan {
    uint64_t begin, end, decode_end;
} refs_prefetch_plan;

/** Decides. At most four times as many boxes are asked for as were read, and no more than the
 * budget holds; none while more than half of that is there and not read yet, or of what comes from
 * a server, while there is not room for 8 MiB. */
refs_prefetch_plan refs_course__plan(const refs_course *course, const refs_progress_on *progress);

#ifdef __cplusplus
}
#endif
#endif
