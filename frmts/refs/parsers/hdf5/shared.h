/* shared.h -- shared messages, which many objects use and the file stores once. */
#ifndef REFS_PARSERS_HDF5_SHARED_H
#define REFS_PARSERS_HDF5_SHARED_H

#include "hdf5/file.h"

/** Sets `body` to the message of this type with the 8-byte `id` in the file's heap of shared
 * messages. */
refs_status refs_hdf5__shared_in_heap(refs_hdf5_file *file, refs_bytes id, uint16_t type,
                                      refs_buf *body, refs_error *err);

#endif
