/* ahead.h -- what reads ahead, for tests: C++ does not read array_object.h. */
#ifndef AHEAD_H
#define AHEAD_H

#include "array_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Brings chunks [begin, end) of all of an array's, with riders up to `end_riders`. */
refs_status ahead_bring(refs_array *array, uint64_t begin, uint64_t end, uint64_t end_riders,
                        refs_chunk_use use);

/** Claims a chunk that is not there. */
refs_claim ahead_claim(refs_cache *cache, refs_chunk_id id);

bool ahead_await_room(refs_cache *cache, size_t size, size_t max_bytes, bool awaited, bool stop);
void ahead_give_room(refs_cache *cache, size_t size);

#ifdef __cplusplus
}
#endif
#endif
