/* multidim_raw_block.h -- where the bytes of a chunk are, for those who read them by themselves. */
#ifndef REFS_MULTIDIM_RAW_BLOCK_H
#define REFS_MULTIDIM_RAW_BLOCK_H

#include <vector>

#include "archive.h"
#include "gdal_compat.h"

#if REFS_HAS_RAW_BLOCK_INFO

/** Fills in `info` for the chunk at `block`, one number for each dimension; the array may have
 * one more. Without file and size where the set has no such chunk. */
refs_status RefsFindRawBlock(const RefsArchive &archive, refs_array *array,
                             const std::vector<uint64_t> &block, GDALMDArrayRawBlockInfo &info,
                             refs_error *error);

#endif

#endif
