/* version3.h -- converts documents of Zarr version 2 to version 3, which Icechunk requires.
 *
 * Sources: the specification of Zarr version 3; the data types and codecs that zarr-python adds
 * (https://github.com/zarr-developers/zarr-extensions): codecs of numcodecs are called
 * "numcodecs.zlib".
 */
#ifndef REFS_REFERENCES_ICECHUNK_VERSION3_H
#define REFS_REFERENCES_ICECHUNK_VERSION3_H

#include "refs/bytes.h"

/** Appends "zarr.json" of a group with these attributes, an object or no bytes. */
refs_status refs_icechunk__group_v3(refs_bytes attributes, refs_buf *v3, refs_error *err);

/** The same for an array: of ".zarray" and ".zattrs". A fill value of null becomes zero, because
 * version 3 requires a value. REFS_UNSUPPORTED: version 3 cannot express the metadata. */
refs_status refs_icechunk__array_v3(refs_bytes array, refs_bytes attributes, refs_buf *v3,
                                    refs_error *err);

#endif
