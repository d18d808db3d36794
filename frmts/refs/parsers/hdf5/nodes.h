/* nodes.h -- the nodes of one level of a tree, or the blocks of an array, that are read next.
 */
#ifndef REFS_PARSERS_HDF5_NODES_H
#define REFS_PARSERS_HDF5_NODES_H

#include "hdf5/file.h"

typedef struct refs_hdf5_node {
    uint64_t address;
    uint64_t size;   /**< in bytes */
    uint64_t number; /**< what its parent says: records in it, or which element is its first */
} refs_hdf5_node;

/** Zeroed is empty. */
typedef struct refs_hdf5_nodes {
    refs_hdf5_node *nodes;
    size_t n, capacity;
    size_t n_wanted; /**< of them, those that were asked for */
} refs_hdf5_nodes;

void refs_hdf5__nodes_clear(refs_hdf5_nodes *nodes);
refs_status refs_hdf5__nodes_add(refs_hdf5_nodes *nodes, refs_hdf5_node node, refs_error *err);

/** To be called before node `i` of `nodes` is read: says of it and of some that follow that they
 * will be, unless that was said. */
refs_status refs_hdf5__nodes_want(refs_hdf5_file *file, refs_hdf5_nodes *nodes, size_t i,
                                  refs_error *err);

#endif
