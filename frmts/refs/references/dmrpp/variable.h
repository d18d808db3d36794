/* variable.h -- converts a variable of a DMR++ to a Zarr array. */
#ifndef REFS_REFERENCES_DMRPP_VARIABLE_H
#define REFS_REFERENCES_DMRPP_VARIABLE_H

#include "chunk_key.h"
#include "dmrpp/blocks.h"
#include "dmrpp/text.h"

/** How the values are stored. */
typedef enum refs_dmrpp_storage {
    REFS_DMRPP_NOT_SAID,
    REFS_DMRPP_CHUNKS,  /**< in the file */
    REFS_DMRPP_COMPACT, /**< `bytes` are they */
    REFS_DMRPP_MISSING, /**< `bytes` are they, compressed by zlib unless there is but one */
    REFS_DMRPP_STRINGS  /**< `bytes` are strings as codec vlen-utf8 has them */
} refs_dmrpp_storage;

/** A chunk, a linked block, or a linked block of a chunk. */
typedef struct refs_dmrpp_chunk {
    uint64_t offset, length;
    uint32_t url; /**< number in the set's builder */
    uint32_t filter_mask;
    size_t first, n; /**< its position: n numbers in `positions` from `first` on */
    bool goes_on;    /**< it continues the previous chunk */
} refs_dmrpp_chunk;

/** Zeroed is empty. */
typedef struct refs_dmrpp_variable {
    const refs_dmrpp_type *type; /**< of an enumeration: of its numbers */
    refs_buf path;               /**< "group/name" */
    refs_error problem;          /**< the reason why it cannot be read, or no failure */

    size_t rank;
    uint64_t shape[REFS_CHUNK_MAX_RANK];
    size_t dim_name[REFS_CHUNK_MAX_RANK]; /**< where it begins in `dim_names`, NUL-ended */
    refs_buf dim_names;
    bool has_named_dims;

    refs_buf attributes; /**< members of a JSON object, without its braces */
    refs_buf fill_attribute;
    refs_buf maps; /**< paths, separated by blanks */
    bool has_coordinates;

    refs_dmrpp_storage storage;
    bool is_big_endian;
    refs_buf filters; /**< names in the order of encoding, separated by blanks */
    bool has_fill;    /**< `fillValue` is there, which may be empty */
    refs_buf fill;
    uint64_t chunk_shape[REFS_CHUNK_MAX_RANK];
    size_t chunk_rank; /**< 0: not chunked */
    refs_dmrpp_chunk *chunks;
    size_t n_chunks, chunk_capacity;
    bool has_blocks; /**< `chunks` are consecutive linked blocks */
    uint64_t *positions;
    size_t n_positions, position_capacity;

    bool is_fixed_string;
    uint64_t string_length;
    refs_buf bytes;
    uint64_t n_strings;
} refs_dmrpp_variable;

void refs_references__dmrpp_variable_clear(refs_dmrpp_variable *variable);

/** The number of elements; false if it overflows. */
bool refs_references__dmrpp_n_elements(const refs_dmrpp_variable *variable, uint64_t *n);

/** The destination of a variable. */
typedef struct refs_dmrpp_set {
    refs_set_builder *builder;
    refs_blocks *blocks;
    bool has_old_filters; /**< the order of filter names is undefined: a DMR++ without
                             dmrpp:version */
} refs_dmrpp_set;

/** Adds the array and its chunks. A variable that cannot be read becomes an array that fails with
 * the reason. */
refs_status refs_references__dmrpp_variable_put(refs_dmrpp_variable *variable,
                                                const refs_dmrpp_set *set, refs_error *err);

/** Adds the chunks of an array; sets the chunk shape of one that is not chunked. A failure is the
 * one that reading the array returns. */
refs_status refs_references__dmrpp_chunks_put(refs_dmrpp_variable *variable, uint64_t element_size,
                                              const refs_dmrpp_set *set, refs_error *err);

#endif
