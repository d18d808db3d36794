/* json_generator.h -- references that lie one behind the other as generators of version 1. */
#ifndef REFS_WRITE_JSON_GENERATOR_H
#define REFS_WRITE_JSON_GENERATOR_H

#include "writer_internal.h"

/** Chunks [first, first + n) of an array, ranges of one URL, `step` bytes from each to the next. */
typedef struct refs_json_run {
    uint64_t first, n;
    uint64_t offset, length, step;
} refs_json_run;

/** Whether a chunk is the next one of a run, whose step the second one sets. */
bool refs_write__goes_on(const refs_json_run *run, const refs_write_chunk *chunk);

/** A block of chunks that one generator makes: along `dim` some, along all behind it all. */
typedef struct refs_json_block {
    size_t dim;
    uint64_t n; /**< chunks */
} refs_json_block;

/** The largest block that a run begins with. */
refs_json_block refs_write__first_block(const refs_write_array *array, const refs_json_run *run);

/** What one generator makes. */
typedef struct refs_json_generator {
    const refs_write_array *array;
    const refs_json_run *run; /**< begins with the block */
    refs_json_block block;
    refs_str url; /**< as JSON */
} refs_json_generator;

refs_status refs_write__append_generator(const refs_json_generator *made, refs_buf *text,
                                         refs_error *err);

#endif
