/* array_internal.h -- what the files of this module share: spans, copies, conversions.
 *
 * Read before this: array.h.
 */
#ifndef REFS_ARRAY_INTERNAL_H
#define REFS_ARRAY_INTERNAL_H

#include "refs/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- region.c: which chunks, and which part of each -------------------------------------------- */

/** Elements [first, first + n) of a region along one dimension that lie in one chunk. */
typedef struct refs_span {
    uint64_t chunk;        /**< index of the chunk along the dimension */
    uint64_t first;        /**< element of the region */
    uint64_t n;            /**< elements, at least 1 */
    uint64_t begin;        /**< position of the first one inside the chunk */
    const uint64_t *index; /**< of all, in the array, where they are listed; or NULL */
} refs_span;

/** A region cut at chunk borders: the chunks it needs are all combinations of spans. */
typedef struct refs_cut {
    size_t rank;
    uint64_t start[REFS_MAX_RANK]; /**< of the region; and so on */
    uint64_t count[REFS_MAX_RANK];
    int64_t step[REFS_MAX_RANK];
    uint64_t chunk[REFS_MAX_RANK];    /**< elements of a chunk */
    refs_span *listed[REFS_MAX_RANK]; /**< spans of elements that are listed; or NULL */
    uint64_t n_spans[REFS_MAX_RANK];
    bool is_backwards[REFS_MAX_RANK]; /**< the region goes from the last element to the first */
    uint64_t n_chunks;
} refs_cut;

/** Whether a region has no elements. */
bool refs_array__is_empty(const refs_array_meta *meta, const refs_region *region);

/** Divides a region into chunks. REFS_INVALID: the region exceeds the array. An empty region has no
 * chunks. The caller clears `cut`, also after a failure. */
refs_status refs_array__cut(const refs_array_meta *meta, const refs_region *region, refs_cut *cut,
                            refs_error *err);
void refs_array__cut_clear(refs_cut *cut);

/** The same of what a selection lists, as refs_array_check_selection. The cut refers to the
 * indices.
 */
refs_status refs_array__cut_selection(const refs_array_meta *meta, const refs_selection *selection,
                                      refs_cut *cut, refs_error *err);

/** Span number `i` of a dimension. */
refs_span refs_array__span(const refs_cut *cut, size_t dim, uint64_t i);

/** Splits the number of a chunk of the cut, below n_chunks, into one span per dimension. */
void refs_array__cut_at(const refs_cut *cut, uint64_t number, refs_span *spans);

/* -- scatter.c: moving elements ---------------------------------------------------------------- */

/** An N-dimensional copy of elements of `element_size` bytes; strides are in bytes. */
typedef struct refs_copy {
    size_t rank;
    size_t n[REFS_MAX_RANK];
    int64_t src_stride[REFS_MAX_RANK];
    int64_t dst_stride[REFS_MAX_RANK];
    size_t element_size;
} refs_copy;

/** Carries out `copy`, whose first element is at `src` and goes to `dst`. Source strides of zero
 * repeat one element. */
void refs_array__copy(const refs_copy *copy, const uint8_t *src, uint8_t *dst);

/* -- convert.c: elements as other things ------------------------------------------------------- */

/** Turns `n` elements from the array's byte order into this machine's, in place. */
void refs_array__to_host_order(const refs_dtype *dtype, uint8_t *elements, size_t n);

/** `n` strings of a fixed-length type as UTF-8, each with a NUL after it. */
refs_status refs_array__to_strings(const refs_dtype *dtype, const uint8_t *elements, size_t n,
                                   refs_buf *strings, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
