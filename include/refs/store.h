/* store.h -- a reference set and a fetcher: key -> bytes.
 *
 * A store knows nothing of Zarr: keys are strings, values are bytes.
 * Immutable; may be used from any number of threads at once.
 *
 * Read before this: refset.h, fetch.h.   Read after this: zarr.h, array.h.
 */
#ifndef REFS_STORE_H
#define REFS_STORE_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_awaited;
struct refs_block;
struct refs_fetcher;
struct refs_expected;
struct refs_ref;
struct refs_set;

typedef struct refs_store refs_store;

/** The set that a store was opened with. */
const struct refs_set *refs_store_set(const refs_store *store);

/** A store over `set` and `fetcher`; both must outlive it. */
refs_status refs_store_open(const struct refs_set *set, struct refs_fetcher *fetcher,
                            refs_store **store, refs_error *err);
void refs_store_free(refs_store *store);

/** Ignores what the set says about its sources (refset.h), because they have moved. Call it before
 * anything is read. */
void refs_store_ignore_sources(refs_store *store);

/** Makes messages of the store begin with `name`, for a set that is not known by its own name. It
 * must outlive the store; nothing may have been read from the store yet. */
void refs_store_set_name(refs_store *store, const char *name);

/** Appends the value of `key`, which may not exceed `max_size` bytes. REFS_NOT_FOUND without a
 * message: absent. Every other failure names the set, the key, the URL and the range. */
refs_status refs_store_get(refs_store *store, refs_str key, uint64_t max_size, refs_buf *value,
                           refs_error *err);

/** Bytes [begin, begin + length) of a value. Zeroed: all of it. */
typedef struct refs_store_part {
    uint64_t begin;
    uint64_t length;
    uint64_t value_size; /**< bytes that the whole value must have; 0: those of the part */
} refs_store_part;

/** A key, the most bytes to read for it, and which part of its value. A part that is not inside the
 * value is REFS_IO; a value that has not the size it must have is REFS_CORRUPT. */
typedef struct refs_store_key {
    refs_str text;
    uint64_t max_size;
    refs_store_part part;
    const refs_store *store; /**< the store of the key, which shares fetcher and locations with the
                                store that is called; NULL: that store itself */
} refs_store_key;

/** The value of a key. */
typedef struct refs_store_value {
    bool is_present;          /**< if false, it is absent, and all else is zero */
    refs_bytes bytes;         /**< borrowed for the call that it is handed over by */
    struct refs_block *block; /**< hold this to keep the bytes longer, on a worker thread; NULL:
                                 they live as long as the store */
    uint32_t filter_mask;     /**< codecs that were not applied to it (refset.h) */
} refs_store_value;

/** Receives the value of key number `index`. A failure ends the reading. */
typedef refs_status (*refs_store_sink)(void *user, size_t index, const refs_store_value *value,
                                       refs_error *err);

/** The client that values are read for. */
typedef struct refs_store_client {
    refs_store_sink sink;
    void *user;
} refs_store_client;

/** Hands over the values of `n` keys, each once, planned as one fetch: absent and inline ones
 * first, the others as they arrive; on the calling thread, for callers that need everything, and
 * claim nothing (queue.h). Ranges and objects that are too large are REFS_LIMIT before they are
 * read. Failures, those of the sink included, name the set, the key, the URL and the range. */
refs_status refs_store_get_many(refs_store *store, const refs_store_key *keys, size_t n,
                                const refs_store_client *client, refs_error *err);

/** Bytes between values that are fetched together, at most. */
uint64_t refs_store_max_gap(const refs_store *store);

/** Whether the bytes of `key` are in a local file, so that reading them costs no round trip. This
 * call costs none either: false if a remote file would have to be read to tell. */
bool refs_store_is_local(const refs_store *store, refs_str key);

/** Works like refs_fetcher_bandwidth_delay. */
uint64_t refs_store_bandwidth_delay(const refs_store *store);

/** The known state of a value that was not read. */
typedef struct refs_store_extent {
    bool is_at_hand; /**< it is in the set itself: reading it makes no request */
    uint64_t size;   /**< bytes; REFS_STORE_UNKNOWN: only a read tells */
} refs_store_extent;

#define REFS_STORE_UNKNOWN UINT64_MAX

/** Finds the extent of a value. REFS_NOT_FOUND without a message: absent. */
refs_status refs_store_measure(const refs_store *store, refs_str key, refs_store_extent *extent,
                               refs_error *err);

/** Finds the sizes of values that are whole objects, of which refs_store_measure does not know
 * them, planned as one fetch: as refs_fetcher_measure, with REFS_STORE_UNKNOWN where the size
 * stays unknown. */
refs_status refs_store_measure_objects(refs_store *store, const refs_store_key *keys, size_t n,
                                       const struct refs_awaited *awaited, uint64_t *sizes);

/** The reference of a key, or of the part of its value (refset.h); release `ref` after a success.
 * REFS_NOT_FOUND without a message: absent. */
refs_status refs_store_find(const refs_store *store, const refs_store_key *key,
                            struct refs_ref *ref, refs_error *err);

/** Puts the set, the key, and its URL and range before the message of a failure that was found
 * later, on another thread. */
void refs_store_locate(const refs_store *store, const refs_store_key *key, refs_error *err);

/** Calls `visit` for every key that is not a chunk, as refs_set_each_name does; what the set
 * records about its sources is left out. */
refs_status refs_store_each_name(const refs_store *store,
                                 refs_status (*visit)(void *user, refs_str key, refs_error *err),
                                 void *user, refs_error *err);

/** Whether the set records its sources (REFS_SOURCES_GROUP), as all sets and masters of REFS do. */
bool refs_store_records_sources(const refs_store *store);

/** Whether everything that a file declares is also an attribute in the set: the set is a data
 * file's own index, or its writer recorded its sources (REFS_SOURCES_GROUP). Others move attributes
 * into the metadata of arrays. */
bool refs_store_keeps_attributes(const refs_store *store);

/** The state in which the set recorded the source that it calls `url`; all zero where it did not.
 * Strings live as long as the store. Safe from any thread. */
refs_status refs_store_recorded(const refs_store *store, refs_str url,
                                struct refs_expected *recorded, refs_error *err);

/** The name of the set, for messages. */
const char *refs_store_name(const refs_store *store);

#ifdef __cplusplus
}
#endif
#endif
