/* lookup3.h -- Bob Jenkins' hash lookup3, with which HDF5 checks its metadata.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_LOOKUP3_H
#define REFS_LOOKUP3_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The hash of `bytes`; `initial` is 0 unless another hash is to be gone on with. */
uint32_t refs_lookup3(refs_bytes bytes, uint32_t initial);

/** Twice as wide: a number by which few things are told apart without being kept. Both halves of
 * `initial` count; the hash of bytes that follow others is gone on with, and depends on where they
 * were parted. */
uint64_t refs_lookup3_64(refs_bytes bytes, uint64_t initial);

#ifdef __cplusplus
}
#endif
#endif
