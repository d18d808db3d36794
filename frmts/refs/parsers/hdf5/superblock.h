/* superblock.h -- finds and reads the superblock of an HDF5 file. */
#ifndef REFS_PARSERS_HDF5_SUPERBLOCK_H
#define REFS_PARSERS_HDF5_SUPERBLOCK_H

#include "hdf5/object.h"

/** Whether `head`, the first bytes of a file, has a superblock; sets *at to its offset. */
bool refs_hdf5__find_signature(refs_bytes head, size_t *at);

/** Sets *at to the offset of the superblock, after any user block; REFS_HDF5_UNDEFINED if there is
 * none. */
refs_status refs_hdf5__find_superblock(refs_source *source, uint64_t *at, refs_error *err);

/** Reads the superblock, of any version, into `file`; *root is the address of the root group's
 * header. */
refs_status refs_hdf5__read_superblock(refs_hdf5_file *file, uint64_t *root, refs_error *err);

#endif
