/* chunk_key.h -- splits chunk keys.
 *
 * "t2m/3.0.1" is the prefix "t2m/" and the index (3, 0, 1) joined by dots; "x/c/0/1" is "x/c/" and
 * (0, 1) joined by slashes. Numbers are decimals without leading zeros, and with slashes, as many
 * components as possible belong to the index, so that splitting is unambiguous and reversible.
 */
#ifndef REFS_REFERENCES_CHUNK_KEY_H
#define REFS_REFERENCES_CHUNK_KEY_H

#include "refs/bytes.h"

/** Most numbers in an index. */
#define REFS_CHUNK_MAX_RANK 32

/** A chunk key that was split. */
typedef struct refs_split_key {
    refs_str text;   /**< all of it */
    refs_str prefix; /**< up to the first number; its slash included */
    char separator;  /**< '.', or '/' also where there is only one number */
    size_t rank;     /**< at least 1 */
    uint64_t index[REFS_CHUNK_MAX_RANK];
} refs_split_key;

/** Splits `key`; false if it is not a chunk key. */
bool refs_references__chunk_key_split(refs_str key, refs_split_key *split);

/** The same for a key that begins with `prefix`, the prefix of an earlier split: true if `key`
 * splits into it and `rank` numbers joined by `separator`. Only sets `index`. */
bool refs_references__chunk_key_resplit(refs_str key, refs_str prefix, char separator, size_t rank,
                                        uint64_t *index);

/** Bits of each number in a packed index: 64 / rank. */
unsigned refs_references__chunk_index_bits(size_t rank);

/** Packs an index into one number, 64 / rank bits for each of its numbers, so that packed indices
 * sort like indices; false if one does not fit. */
bool refs_references__chunk_index_pack(const uint64_t *index, size_t rank, uint64_t *packed);

/** Number `dim` of a packed index. */
uint64_t refs_references__chunk_index_part(uint64_t packed, size_t rank, size_t dim);

#endif
