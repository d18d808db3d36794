/* slices.h -- chunks that no codec packs, read a slice at a time.
 *
 * If nothing packs a chunk, its elements lie in the file as they are: what a reader needs of a
 * large one is a range of its bytes. Such an array is read as if its chunks were slices, each of
 * them contiguous in a chunk that is stored; all else works as for other chunks.
 *
 * Read before this: array_object.h.
 */
#ifndef REFS_SLICES_H
#define REFS_SLICES_H

#include "array_object.h"

/** The approximate size of a slice. */
#define REFS_SLICE_BYTES (256 * (uint64_t)REFS_KIB)

/** Chunks of so many bytes or fewer are read whole. */
#define REFS_MAX_UNSLICED_BYTES (1 * (uint64_t)REFS_MIB)

/** Has an array whose chunks may be read so be read by slices: array->meta then describes them, and
 * array->stored the chunks as they are stored. */
void refs_slices__open(refs_array *array);

/** Which part of its stored chunk slice `number` is, those elements left out that are behind the
 * end of the array. Zeroed for arrays that are not read by slices. */
refs_store_part refs_slices__part(const refs_array *array, uint64_t number);

/** The most bytes that a chunk may have as it is stored, all slices of it. */
uint64_t refs_slices__max_stored(const refs_array *array);

/** Makes the bytes of a stored chunk those of its slice `number`, where the array is read by
 * slices.
 */
refs_status refs_slices__cut_out(const refs_array *array, uint64_t number, refs_bytes *stored,
                                 refs_error *err);

#endif
