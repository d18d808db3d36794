/* btree2.h -- version 2 B-trees: sorted records of one size.
 *
 * The same structure holds links, attributes, shared messages and chunks.
 */
#ifndef REFS_PARSERS_HDF5_BTREE2_H
#define REFS_PARSERS_HDF5_BTREE2_H

#include "hdf5/file.h"

/** The content of a tree's header. */
typedef struct refs_hdf5_btree2 {
    uint8_t type; /**< of the records: 5 links by name, 10 chunks, … */
    uint16_t record_size;
    uint16_t depth; /**< 0: the root is a leaf */
    uint32_t node_size;
    uint64_t root; /**< its address; REFS_HDF5_UNDEFINED: there is no record */
    uint16_t n_root_records;
    uint64_t n_records; /**< number of records, as in the header, which may be wrong */
} refs_hdf5_btree2;

/** Reads the header of the tree at `address`. */
refs_status refs_hdf5__btree2_open(refs_hdf5_file *file, uint64_t address, refs_hdf5_btree2 *tree,
                                   refs_error *err);

/** Receives records, borrowed for the call. */
typedef struct refs_hdf5_record_visitor {
    refs_status (*visit)(void *user, refs_bytes record, refs_error *err);
    void *user;
} refs_hdf5_record_visitor;

/** Calls `visitor` for all records of a tree, those of inner nodes first. The nodes of a level are
 * fetched together. While `file` is collecting, nodes that are not cached are skipped. */
refs_status refs_hdf5__btree2_each(refs_hdf5_file *file, const refs_hdf5_btree2 *tree,
                                   const refs_hdf5_record_visitor *visitor, refs_error *err);

/** Opens the tree at `address`, which must have records of this type, and visits all of them.
 * REFS_NOT_FOUND if some were skipped. */
refs_status refs_hdf5__btree2_walk(refs_hdf5_file *file, uint64_t address, uint8_t type,
                                   const refs_hdf5_record_visitor *visitor, refs_error *err);

#endif
