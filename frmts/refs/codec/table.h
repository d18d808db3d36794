/* table.h -- all codecs of this build; cmake/refs_codec.cmake writes the table. */
#ifndef REFS_CODEC_TABLE_H
#define REFS_CODEC_TABLE_H

#include "refs/codec.h"

/** Ends with NULL. */
extern const refs_codec_type *const refs_codec__table[];

#endif
