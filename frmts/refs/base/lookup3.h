/* lookup3.h -- Bob Jenkins' hash lookup3, the checksum of HDF5's metadata.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_LOOKUP3_H
#define REFS_LOOKUP3_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The hash of `bytes`; `initial` is 0, or the hash of preceding bytes to continue. */
uint32_t refs_lookup3(refs_bytes bytes, uint32_t initial);

/** A 64-bit hash, which distinguishes a small number of values without storing them. Both halves of
 * `initial` count. Bytes may be hashed in parts, but the result depends on where they are split. */
uint64_t refs_lookup3_64(refs_bytes bytes, uint64_t initial);

#ifdef __cplusplus
}
#endif
#endif
