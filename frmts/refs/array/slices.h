/* slices.h -- reads uncompressed chunks in slices.
 *
 * Without compression, elements are in the file unchanged, so a range of bytes suffices for a part
 * of a large chunk. Such an array is read as if its chunks were slices, each of them contiguous in
 * a stored chunk; everything else works as for other chunks.
 *
 * Read before this: array_object.h. */
#ifndef REFS_SLICES_H
#define REFS_SLICES_H

#include "array_object.h"

/** The approximate size of a slice. */
#define REFS_SLICE_BYTES (256 * (uint64_t)REFS_KIB)

/** Chunks up to this size are read whole. */
#define REFS_MAX_UNSLICED_BYTES (1 * (uint64_t)REFS_MIB)

/** Prepares an array for reading by slices if its chunks allow it: array->meta then describes
 * slices, and array->stored the stored chunks. */
void refs_slices__open(refs_array *array);

/** The range of slice `number` in its stored chunk, without elements beyond the end of the array.
 * Zeroed if the array is not read by slices. */
refs_store_part refs_slices__part(const refs_array *array, uint64_t number);

/** The most bytes of a stored chunk, with all its slices. */
uint64_t refs_slices__max_stored(const refs_array *array);

/** Replaces the bytes of a stored chunk by those of its slice `number`, if the array is read by
 * slices. */
refs_status refs_slices__cut_out(const refs_array *array, uint64_t number, refs_bytes *stored,
                                 refs_error *err);

#endif
