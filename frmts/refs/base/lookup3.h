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

#ifdef __cplusplus
}
#endif
#endif
