/* superblock.h -- where an HDF5 file begins. */
#ifndef REFS_PARSERS_HDF5_SUPERBLOCK_H
#define REFS_PARSERS_HDF5_SUPERBLOCK_H

#include "hdf5/object.h"

/** Whether `head`, the first bytes of a file, hold a superblock; *at is where. */
bool refs_hdf5__find_signature(refs_bytes head, size_t *at);

/** Sets *at to where the superblock of a file is, behind any user block; REFS_HDF5_UNDEFINED where
 * there is none. */
refs_status refs_hdf5__find_superblock(refs_source *source, uint64_t *at, refs_error *err);

/** Finds the superblock of any version, and sets what reading the file needs; *root is the address
 * of the root group's header. */
refs_status refs_hdf5__read_superblock(refs_hdf5_file *file, uint64_t *root, refs_error *err);

#endif
