/* table.h -- all codecs of this build; cmake/refs_codec.cmake writes the table. */
#ifndef REFS_CODEC_TABLE_H
#define REFS_CODEC_TABLE_H

#include "refs/codec.h"

/** Ends with NULL. */
extern const refs_codec_type *const refs_codec__table[];

/** A codec that REFS does not support, and its common name: "CCITT Group 4 fax, TIFF compression
 * 4". */
typedef struct refs_codec_common {
    const char *id, *name;
} refs_codec_common;

/** Unsupported codec number `i`; NULL past the end. */
const refs_codec_common *refs_codec__common_at(size_t i);

/** The common name of `id`; NULL if it is not known. */
const char *refs_codec__common_name(refs_str id);

#endif
