/* hdf5_btree_2.h -- B-trees of version 2: records of one size, in order. */
#ifndef REFS_SCAN_HDF5_BTREE_2_H
#define REFS_SCAN_HDF5_BTREE_2_H

#include "hdf5_file.h"

/** What is done with each record: its bytes, and `type` of the tree. */
typedef struct refs_hdf5_records {
    refs_status (*visit)(void *user, refs_bytes record, refs_error *err);
    void *user;
} refs_hdf5_records;

/** Calls `records->visit` for each record of the tree whose header is at `address`, in order.
 * REFS_CORRUPT where its type is not `type`. */
refs_status refs_hdf5__walk_btree_2(refs_hdf5_file *file, uint64_t address, uint8_t type,
                                    const refs_hdf5_records *records, refs_error *err);

#endif
