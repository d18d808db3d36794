/* store.h -- a reference set and a fetcher: key -> bytes.
 *
 * A store does not interpret keys or values. Immutable; may be used from any number of threads at
 * once.
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

/** Compares no dates and ETags of the set's sources (refset.h), only their sizes, unless its
 * fetcher has another treatment of changes than REFS_CHANGED_DEFAULT: a user has said that the
 * sources have moved, and mirrors have dates and ETags of their own. Call it before anything is
 * read. */
void refs_store_compare_sizes_only(refs_store *store);

/** Makes messages of the store begin with `name` instead of the set's location. `name` must outlive
 * the store. Call it before anything is read. */
void refs_store_set_name(refs_store *store, const char *name);

/** Appends the value of `key`, of at most `max_size` bytes. REFS_NOT_FOUND without a message:
 * absent. Every other failure names the set, the key, the URL and the range. */
refs_status refs_store_get(refs_store *store, refs_str key, uint64_t max_size, refs_buf *value,
                           refs_error *err);

/** Bytes [begin, begin + length) of a value. Zeroed: all of it. */
typedef struct refs_store_part {
    uint64_t begin;
    uint64_t length;
    uint64_t value_size; /**< bytes that the whole value must have; 0: those of the part */
} refs_store_part;

/** A key, the most bytes to read, and the part of its value. A part that is not inside the value is
 * REFS_IO; a value whose size is not `value_size` is REFS_CORRUPT. */
typedef struct refs_store_key {
    refs_str text;
    uint64_t max_size;
    refs_store_part part;
    const refs_store *store; /**< the store of the key, if it is another one; it must have the same
                                fetcher and locations as the store that is called */
} refs_store_key;

/** The value of a key. */
typedef struct refs_store_value {
    bool is_present;          /**< false: absent; all other members are zero */
    refs_bytes bytes;         /**< borrowed for the call of the sink */
    struct refs_block *block; /**< hold this to keep the bytes longer, on a worker thread; NULL: the
                                 bytes live as long as the store */
    uint32_t filter_mask;     /**< codecs that were not applied to the chunk (refset.h) */
} refs_store_value;

/** Receives the value of key number `index`. A failure ends the reading. */
typedef refs_status (*refs_store_sink)(void *user, size_t index, const refs_store_value *value,
                                       refs_error *err);

/** The client that values are read for. */
typedef struct refs_store_client {
    refs_store_sink sink;
    void *user;
} refs_store_client;

/** Passes the values of `n` keys to the sink, each once, planned as one fetch: absent and inline
 * ones first, the others as they arrive, on the calling thread. (Callers that claim ranges use
 * queue.h.) Ranges and objects that are too large are REFS_LIMIT before they are read. Failures,
 * those of the sink included, name the set, the key, the URL and the range. */
refs_status refs_store_get_many(refs_store *store, const refs_store_key *keys, size_t n,
                                const refs_store_client *client, refs_error *err);

/** The largest gap, in bytes, between values that are fetched together. */
uint64_t refs_store_max_gap(const refs_store *store);

/** Whether the bytes of `key` are in a local file, so that reading them costs no round trip. False
 * if a remote record file would have to be read to know. */
bool refs_store_is_local(const refs_store *store, refs_str key);

/** Works like refs_fetcher_bandwidth_delay. */
uint64_t refs_store_bandwidth_delay(const refs_store *store);

/** The size of a value that was not read. */
typedef struct refs_store_extent {
    bool is_at_hand; /**< it is in the set itself: reading it makes no request */
    uint64_t size;   /**< bytes; REFS_STORE_UNKNOWN: only known after a read */
} refs_store_extent;

#define REFS_STORE_UNKNOWN UINT64_MAX

/** Finds the extent of a value. REFS_NOT_FOUND without a message: absent. */
refs_status refs_store_measure(const refs_store *store, refs_str key, refs_store_extent *extent,
                               refs_error *err);

/** Finds the sizes of values that are whole objects, which refs_store_measure does not know, as
 * refs_fetcher_measure does; REFS_STORE_UNKNOWN if a size stays unknown. */
refs_status refs_store_measure_objects(refs_store *store, const refs_store_key *keys, size_t n,
                                       const struct refs_awaited *awaited, uint64_t *sizes);

/** Finds the reference of a key, or of the part of its value (refset.h); release `ref` after a
 * success. REFS_NOT_FOUND without a message: absent. */
refs_status refs_store_find(const refs_store *store, const refs_store_key *key,
                            struct refs_ref *ref, refs_error *err);

/** Puts the set, the key, and its URL and range before the message of a failure that occurred
 * later, on another thread. */
void refs_store_locate(const refs_store *store, const refs_store_key *key, refs_error *err);

/** Calls `visit` for every key that is not a chunk, as refs_set_each_name does, but not for the
 * set's record of its sources. */
refs_status refs_store_each_name(const refs_store *store,
                                 refs_status (*visit)(void *user, refs_str key, refs_error *err),
                                 void *user, refs_error *err);

/** Whether the set records its sources (REFS_SOURCES_GROUP), as all sets and masters written by
 * REFS do. */
bool refs_store_records_sources(const refs_store *store);

/** Whether the set has all attributes of its files: it is a data file's own index, or its writer
 * recorded its sources (REFS_SOURCES_GROUP). Other writers move some attributes into the metadata
 * of arrays. */
bool refs_store_keeps_attributes(const refs_store *store);

/** Finds the state that the set recorded for the source `url`; all zero if it recorded none.
 * Strings live as long as the store. Safe from any thread. */
refs_status refs_store_recorded(const refs_store *store, refs_str url,
                                struct refs_expected *recorded, refs_error *err);

/** The name of the set, for messages. */
const char *refs_store_name(const refs_store *store);

#ifdef __cplusplus
}
#endif
#endif
