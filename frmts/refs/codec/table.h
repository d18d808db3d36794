/* table.h -- all codecs of this build; cmake/refs_codec.cmake writes the table. */
#ifndef REFS_CODEC_TABLE_H
#define REFS_CODEC_TABLE_H

#include "refs/codec.h"

/** Ends with NULL. */
extern const refs_codec_type *const refs_codec__table[];

/** The common name of `id`, for codecs that no build has: "CCITT Group 4 fax, TIFF compression 4".
 * NULL where that is not known. */
const char *refs_codec__common_name(refs_str id);

#endif
