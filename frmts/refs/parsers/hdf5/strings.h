/* strings.h -- strings of variable length, whose chunks have heap addresses. */
#ifndef REFS_PARSERS_HDF5_STRINGS_H
#define REFS_PARSERS_HDF5_STRINGS_H

#include "hdf5/layout.h"

/** Adds the strings of all chunks in `stored` to the empty `index`, encoded for "vlen-utf8".
 * REFS_UNSUPPORTED names a filter that this build lacks. */
refs_status refs_hdf5__add_strings(refs_hdf5_file *file, const refs_hdf5_layout *layout,
                                   const refs_chunk_index *stored, refs_chunk_index *index,
                                   refs_error *err);

#endif
