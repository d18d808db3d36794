/* index.h -- reads the chunk index of an HDF5 dataset. */
#ifndef REFS_PARSERS_HDF5_INDEX_H
#define REFS_PARSERS_HDF5_INDEX_H

#include "hdf5/layout.h"

/** Fills `index`, which is zeroed, with all written chunks of a dataset. Strings of variable
 * length, encoded for the codec "vlen-utf8", and compact values are stored in the index. Begins a
 * task. */
refs_status refs_hdf5__read_index(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                  refs_chunk_index *index, refs_error *err);

/** The chunks of contiguous values that begin at `offset`; and whether their sizes do not overflow,
 * which must be checked before. */
refs_chunk_steps refs_hdf5__contiguous_steps(const refs_hdf5_layout *layout, uint64_t offset);
bool refs_hdf5__can_be_counted(const refs_hdf5_layout *layout);

#endif
