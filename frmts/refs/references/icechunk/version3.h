/* version3.h -- documents of Zarr version 2 in the words of version 3, which Icechunk holds.
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

/** The same of an array: of ".zarray" and ".zattrs". A fill value that is null becomes the zero of
 * the type, which version 3 demands. REFS_UNSUPPORTED: version 3 has no word for it. */
refs_status refs_icechunk__array_v3(refs_bytes array, refs_bytes attributes, refs_buf *v3,
                                    refs_error *err);

#endif
