/* node_check.h -- whether what a snapshot says of a node twice is the same: in its own fields, and
 * in the Zarr metadata that it keeps for the node.
 */
#ifndef REFS_REFERENCES_ICECHUNK_NODE_CHECK_H
#define REFS_REFERENCES_ICECHUNK_NODE_CHECK_H

#include "icechunk/flatbuffer.h"

/** The values of the snapshot's own fields. */
typedef struct refs_node_fields {
    bool is_array;
    refs_flat_vector shape;    /**< of format 1: structs of a length and the length of a chunk */
    refs_flat_vector shape_v2; /**< of format 2: tables of a length and a number of chunks */
    refs_flat_vector names;    /**< of dimensions: tables of a string */
} refs_node_fields;

/** REFS_CORRUPT where they are not those of the metadata, JSON. Nothing is checked of metadata that
 * cannot be read: who opens the array says so. */
refs_status refs_icechunk__check_node(const refs_node_fields *fields, refs_bytes metadata,
                                      refs_error *err);

#endif
