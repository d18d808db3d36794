/* index.h -- where the chunks of an HDF5 dataset are. */
#ifndef REFS_PARSERS_HDF5_INDEX_H
#define REFS_PARSERS_HDF5_INDEX_H

#include "hdf5/layout.h"

/** Fills `index`, which is zeroed, with all chunks of a dataset that were written. Strings of
 * variable length become chunks in the encoding of the codec "vlen-utf8", kept in the index, as do
 * compact values. Begins a task. */
refs_status refs_hdf5__read_index(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                  refs_chunk_index *index, refs_error *err);

/** The chunks of contiguous values that begin at `offset`; and whether the bytes of all can be
 * counted, without which this must not be asked. */
refs_chunk_steps refs_hdf5__contiguous_steps(const refs_hdf5_layout *layout, uint64_t offset);
bool refs_hdf5__can_be_counted(const refs_hdf5_layout *layout);

#endif
