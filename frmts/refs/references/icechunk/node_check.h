/* node_check.h -- checks that a snapshot's own fields of a node agree with the node's Zarr
 * metadata.
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

/** REFS_CORRUPT if the fields differ from the metadata, JSON. Invalid metadata is not checked here,
 * because opening the array fails. */
refs_status refs_icechunk__check_node(const refs_node_fields *fields, refs_bytes metadata,
                                      refs_error *err);

#endif
