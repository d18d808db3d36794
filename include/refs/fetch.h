/* fetch.h -- how bytes arrive: ranges -> requests -> bytes.
 *
 * A fetcher sorts ranges, drops duplicates and merges neighbours into requests. It
 * carries requests out, several at a time where its transport can, and hands each
 * range over as it arrives.
 *
 * A fetcher may be used from any number of threads at once.
 *
 * Read before this: bytes.h, vfs.h.   Read after this: store.h.
 */
#ifndef REFS_FETCH_H
#define REFS_FETCH_H

#include "refs/bytes.h"
#include "refs/http.h"
#include "refs/vfs.h"

struct refs_awaited;
struct refs_block;
struct refs_http;

#ifdef __cplusplus
extern "C" {
#endif

/* -- ranges ------------------------------------------------------------------------------------ */

/** Whether a range must be fetched. */
typedef enum refs_range_need {
    REFS_RANGE_REQUIRED,
    REFS_RANGE_OPTIONAL /**< delivered only if it lies within a request for other ranges; never
                           extends a request */
} refs_range_need;

/** Bytes [offset, offset + length) of a location. Ranges with equal `location_id` belong to one
 * location. A length of REFS_FETCH_WHOLE means the whole location (offset is then 0). */
typedef struct refs_range {
    uint32_t location_id;
    const char *location;
    uint64_t offset;
    uint64_t length;
    uint64_t max_length; /**< of a whole location: REFS_LIMIT if it is longer; the fetcher's own
                            limit applies, too; 0: only that */
    refs_range_need need;
} refs_range;

#define REFS_FETCH_WHOLE UINT64_MAX

typedef struct refs_fetch_policy {
    uint64_t max_gap_bytes;     /**< ranges this close are fetched together */
    uint64_t max_request_bytes; /**< merging stops here; over HTTP, a single range of at least twice
                                   as many bytes is split into parallel requests */
} refs_fetch_policy;

#define REFS_FETCH_POLICY_INIT                                                                     \
    { 64 * REFS_KIB, 8 * REFS_MIB }

/* -- fetching ---------------------------------------------------------------------------------- */

/** Counts since the fetcher was opened. */
typedef struct refs_fetch_stats {
    uint64_t requests;
    uint64_t bytes;
} refs_fetch_stats;

/** The treatment of a location that is not in the expected state. */
typedef enum refs_changed {
    REFS_CHANGED_ERROR,  /**< REFS_CHANGED, with the state found and the state expected */
    REFS_CHANGED_WARN,   /**< one warning for each location */
    REFS_CHANGED_IGNORE, /**< nothing */
    REFS_CHANGED_STRICT, /**< an error, also if the location may only have been copied */
    REFS_CHANGED_DEFAULT /**< as REFS_CHANGED_ERROR; sources that rewrites rename
                              have only their sizes compared */
} refs_changed;

/** The words for all but the last. */
#define REFS_CHANGED_WORDS "ERROR, WARN or IGNORE"

/** Reads one of these words, in any case; false for all else. */
bool refs_changed_parse(const char *word, refs_changed *changed);

/** Advice in messages: options of the running program. Members are NULL if it has no such
 * option. */
typedef struct refs_fetch_advice {
    const char *moved;   /**< how to name moved files: "-oo URL_REWRITE=old=>new" */
    const char *changed; /**< how to read changed locations anyway: "the open option …" */
} refs_fetch_advice;

typedef struct refs_fetch_options {
    size_t struct_size; /**< sizeof(refs_fetch_options) */
    refs_fetch_policy policy;
    uint64_t max_remote_bytes; /**< limit of merging remote ranges: most servers and networks limit
                                  each connection, so several requests are faster than one long
                                  one */
    uint64_t max_whole_bytes;  /**< the largest whole location that is read */
    uint64_t max_memory_bytes; /**< for bytes in flight, and fetched bytes that are still held, of
                                  all reads of the process; twice as much if
                                  refs_fetcher_bandwidth_delay requires it. Each read may
                                  exceed it by one request, up to 192 MiB in all, and one at a time
                                  beyond these */
    struct refs_http *http;    /**< for locations that have a URL; NULL: the vfs reads everything */
    refs_changed changed;
    refs_notes notes;
    refs_fetch_advice advice; /**< for messages; its strings must outlive the fetcher */
} refs_fetch_options;

#define REFS_FETCH_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(refs_fetch_options), REFS_FETCH_POLICY_INIT, 2 * (uint64_t)REFS_MIB,                \
            2048 * (uint64_t)REFS_MIB, 64 * (uint64_t)REFS_MIB, NULL, REFS_CHANGED_ERROR,          \
            {NULL, NULL}, {                                                                        \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

typedef struct refs_fetcher refs_fetcher;

/** A fetcher over `vfs`, which must outlive it; `options` may be NULL. */
refs_status refs_fetcher_open(const refs_vfs *vfs, const refs_fetch_options *options,
                              refs_fetcher **fetcher, refs_error *err);
void refs_fetcher_free(refs_fetcher *fetcher);

/** The fetcher's number of a location, which is added if it is new. It differs from the location_id
 * of references, which each set numbers by itself. If there are very many locations, the oldest are
 * forgotten: a location may later get another number, but two locations never have the same. May be
 * called by several threads at once. */
refs_status refs_fetcher_location_id(refs_fetcher *fetcher, const char *location, uint32_t *id,
                                     refs_error *err);

/** The largest gap, in bytes, between ranges that are fetched together. */
uint64_t refs_fetcher_max_gap(const refs_fetcher *fetcher);

/** Whether a read of `location` costs no more than its bytes (vfs.h). */
bool refs_fetcher_is_local(const refs_fetcher *fetcher, const char *location);

/** The bandwidth-delay product: the bytes that arrive, on all allowed connections, within the time
 * to first byte. Prefetching must request this much ahead so that a reader does not wait. 0: not
 * known yet, or the time to first byte is negligible. */
uint64_t refs_fetcher_bandwidth_delay(const refs_fetcher *fetcher);

/** Ends all current and later calls of refs_fetch with REFS_CANCELLED, without waiting for the
 * network. */
void refs_fetcher_cancel(refs_fetcher *fetcher);

/** refs_fetcher_is_current revalidates at most this many locations. */
#define REFS_FETCH_MAX_ASKED 16

/** Whether all locations that were read over HTTP are unchanged. Requests the first byte of those
 * whose last answer is older than `trust_ms`, all at the same time and each once. False without a
 * request if these are more than REFS_FETCH_MAX_ASKED, or if one has neither ETag nor
 * Last-Modified, or its server ignores ranges. Locations read by the vfs are not checked here, but
 * by watch.h. */
bool refs_fetcher_is_current(refs_fetcher *fetcher, uint64_t trust_ms);

/** Whether the fetcher has sent any HTTP request. */
bool refs_fetcher_asked_http(const refs_fetcher *fetcher);

/** Receives the bytes of range `index`, borrowed for the call; to keep them longer, on a worker
 * thread, hold `block` until they are no longer needed. A failure ends the fetch. */
typedef refs_status (*refs_fetch_sink)(void *user, size_t index, refs_bytes bytes,
                                       struct refs_block *block, refs_error *err);

/** The state that a location had when a reference to it was written. */
typedef struct refs_expected {
    const char *etag;     /**< required, or NULL */
    int64_t not_after_s;  /**< latest modification time, in seconds since 1970; 0: any */
    int64_t modified_s;   /**< required modification time, unless both ETags are known; 0: any */
    uint64_t size;        /**< required size in bytes; 0: not known */
    bool may_be_copied;   /**< the location may have been copied together with the set: another
                             modification time with the same size only gives a warning */
    uint32_t modified_ns; /**< nanoseconds of modified_s, compared with microsecond precision; 0:
                             any */
} refs_expected;

/** Writes to `text` how a location differs from the expected state, with both values; false if no
 * difference is known. */
bool refs_expected_differs(const refs_expected *expected, const refs_vfs_validators *known,
                           char *text, size_t size);

/** A location, its expected state, and its state as seen. */
typedef struct refs_seen_location {
    const char *location;
    uint32_t id; /**< its number */
    refs_expected expected;
    refs_vfs_validators known;
} refs_seen_location;

/** Fails or warns, as `changed` says, if a location is not in its expected state, with the message
 * that a read gives. Safe from any thread. */
refs_status refs_fetcher_check(refs_fetcher *fetcher, refs_changed changed,
                               const refs_seen_location *seen, refs_error *err);

/** The client that ranges are fetched for. */
typedef struct refs_fetch_client {
    refs_fetch_sink sink;
    void *user;
    const struct refs_awaited *awaited; /**< for prefetching: request slots and bandwidth are left
                                           to waiting readers until this is set (queue.h); NULL: the
                                           caller waits */
} refs_fetch_client;

/** Fetches `n` ranges, optional ones only if they cost no request, and passes each once to the
 * sink, in the order of arrival, on the calling thread. Returns when all blocks are released, so
 * the calling thread must not hold one; callers that process some ranges first use queue.h. Checks
 * the cancel scopes of its thread (refs_cancel_scope). Fewer bytes than requested, or a location
 * that cannot be opened or does not exist, is REFS_IO with location, offset, length and size. */
refs_status refs_fetch(refs_fetcher *fetcher, const refs_range *ranges, size_t n,
                       const refs_fetch_client *client, refs_error *err);

/** A location, and its size in bytes; REFS_FETCH_WHOLE: unknown. */
typedef struct refs_sized_location {
    uint32_t location_id;
    const char *location;
    uint64_t size;
} refs_sized_location;

/** Finds the sizes of `n` locations. Requests the first byte of those that are read over HTTP and
 * were not requested before, all at the same time; `awaited` as in refs_fetch_client. The size of a
 * location that fails stays unknown; the call only fails with REFS_CANCELLED or REFS_NOMEM. */
refs_status refs_fetcher_measure(refs_fetcher *fetcher, refs_sized_location *locations, size_t n,
                                 const struct refs_awaited *awaited);

void refs_fetcher_stats(const refs_fetcher *fetcher, refs_fetch_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
