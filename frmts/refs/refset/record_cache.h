/* record_cache.h -- record files in memory: read once, kept as long as there is room.
 *
 * Whoever asks for a record that another thread is reading waits for it; who
 * asks for one that is there waits for nobody. The ones least recently used go
 * first; a record that was handed out lives on until its last holder lets go.
 *
 * Safe from any thread.
 */
#ifndef REFS_REFSET_RECORD_CACHE_H
#define REFS_REFSET_RECORD_CACHE_H

#include "record.h"

/** Which record. */
typedef struct refs_record_id {
    uint32_t array;
    uint64_t number;
} refs_record_id;

/** Reads a record; *record is NULL where there is no such file. */
typedef refs_status (*refs_record_loader)(void *user, refs_record_id id, refs_record **record,
                                          refs_error *err);

typedef struct refs_record_cache refs_record_cache;

/** A cache of `max_bytes`; the record that was read last stays, whatever its size. */
refs_status refs_refset__record_cache_open(size_t max_bytes, refs_record_loader loader, void *user,
                                           refs_record_cache **cache, refs_error *err);

/** Lets go of all records; NULL is allowed. */
void refs_refset__record_cache_free(refs_record_cache *cache);

/** The record, whose block is held for the caller, or NULL where there is no such file. A failure
 * is not remembered: who asks again reads again. */
refs_status refs_refset__record_cache_get(refs_record_cache *cache, refs_record_id id,
                                          refs_record **record, refs_error *err);

#endif
