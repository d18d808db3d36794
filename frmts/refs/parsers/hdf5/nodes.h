/* nodes.h -- the nodes of one level of a tree, or the blocks of an array, that are read next.
 */
#ifndef REFS_PARSERS_HDF5_NODES_H
#define REFS_PARSERS_HDF5_NODES_H

#include "hdf5/file.h"

typedef struct refs_hdf5_node {
    uint64_t address;
    uint64_t size;   /**< in bytes */
    uint64_t number; /**< from its parent: the number of its records, or the position of its first
                        element */
} refs_hdf5_node;

/** Zeroed is empty. */
typedef struct refs_hdf5_nodes {
    refs_hdf5_node *nodes;
    size_t n, capacity;
    size_t n_wanted; /**< number of nodes already requested */
} refs_hdf5_nodes;

void refs_hdf5__nodes_clear(refs_hdf5_nodes *nodes);
refs_status refs_hdf5__nodes_add(refs_hdf5_nodes *nodes, refs_hdf5_node node, refs_error *err);

/** Call this before node `i` of `nodes` is read: requests it and some of the following nodes
 * together, unless already requested. */
refs_status refs_hdf5__nodes_want(refs_hdf5_file *file, refs_hdf5_nodes *nodes, size_t i,
                                  refs_error *err);

#endif
