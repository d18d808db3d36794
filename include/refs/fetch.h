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
#include "refs/vfs.h"

struct refs_block;
struct refs_http;

#ifdef __cplusplus
extern "C" {
#endif

/* -- ranges ------------------------------------------------------------------------------------ */

/** Bytes [offset, offset + length) of a location. Ranges of equal `location_id` are of one
 * location. A length of REFS_FETCH_WHOLE means all of it (offset is then 0). */
typedef struct refs_range {
    uint32_t location_id;
    const char *location;
    uint64_t offset;
    uint64_t length;
    uint64_t max_length; /**< of all of a location: REFS_LIMIT where it is longer; 0: the fetcher's
                              own limit, which holds in any case */
    bool is_optional;    /**< it is served where it lies in a request that is made for others, and
                              makes none longer */
    bool is_avoided;     /**< it is optional, and no request reaches over it to a later range */
} refs_range;

#define REFS_FETCH_WHOLE UINT64_MAX

typedef struct refs_fetch_policy {
    uint64_t max_gap_bytes;     /**< ranges this close are fetched together */
    uint64_t max_request_bytes; /**< merging stops here; a single range of twice as many bytes or
                                     more comes over HTTP in several requests at a time */
} refs_fetch_policy;

#define REFS_FETCH_POLICY_INIT                                                                     \
    { 64 * REFS_KIB, 8 * REFS_MIB }

/* -- fetching ---------------------------------------------------------------------------------- */

/** Counts since the fetcher was opened. */
typedef struct refs_fetch_stats {
    uint64_t requests;
    uint64_t bytes;
} refs_fetch_stats;

/** What becomes of a range whose location is not as its client expects. */
typedef enum refs_changed {
    REFS_CHANGED_ERROR, /**< REFS_IO, with what is known and what was expected */
    REFS_CHANGED_WARN,  /**< a note for each location */
    REFS_CHANGED_IGNORE /**< nothing */
} refs_changed;

typedef struct refs_fetch_options {
    size_t struct_size; /**< sizeof(refs_fetch_options) */
    refs_fetch_policy policy;
    uint64_t max_remote_bytes; /**< where merging stops of ranges that are not local: servers and
                                    lines mostly limit each connection, so that several requests
                                    bring more than one long one */
    uint64_t max_whole_bytes;  /**< the largest whole location that is read */
    uint64_t max_memory_bytes; /**< of bytes in flight and bytes that arrived and are still held,
                                    in one call of refs_fetch; one request may exceed it */
    struct refs_http *http;    /**< for locations that have a URL; NULL: everything by the vfs */
    refs_changed changed;
    refs_notes notes;
} refs_fetch_options;

#define REFS_FETCH_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(refs_fetch_options), REFS_FETCH_POLICY_INIT, 2 * (uint64_t)REFS_MIB,                \
            2048 * (uint64_t)REFS_MIB, 64 * (uint64_t)REFS_MIB, NULL, REFS_CHANGED_ERROR, {        \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

typedef struct refs_fetcher refs_fetcher;

/** A fetcher over `vfs`, which must outlive it; `options` may be NULL. */
refs_status refs_fetcher_open(const refs_vfs *vfs, const refs_fetch_options *options,
                              refs_fetcher **fetcher, refs_error *err);
void refs_fetcher_free(refs_fetcher *fetcher);

/** Bytes between ranges that are fetched together, at most. */
uint64_t refs_fetcher_max_gap(const refs_fetcher *fetcher);

/** Whether a read of `location` costs no more than its bytes (vfs.h). */
bool refs_fetcher_is_local(const refs_fetcher *fetcher, const char *location);

/** The bandwidth-delay product: bytes that come, on as many connections as there may be, while an
 * answer is waited for. So much must have been asked for ahead of who never wants to wait. 0: not
 * known yet, or no time passes before answers begin. */
uint64_t refs_fetcher_bandwidth_delay(const refs_fetcher *fetcher);

/** Ends the calls of refs_fetch that are under way, and all to come, with REFS_CANCELLED, and soon:
 * none of them waits for the network any more. */
void refs_fetcher_cancel(refs_fetcher *fetcher);

/** Of so many locations that were read over HTTP it is asked whether they are as they were. */
#define REFS_FETCH_MAX_ASKED 16

/** Whether all locations that were read over HTTP are as they were. Those whose last answer is
 * older than `trust_ms` are asked for their first byte, all at once and each once; false without
 * asking where they are more than REFS_FETCH_MAX_ASKED, or where one has neither ETag nor date, or
 * ignores ranges. Locations that are read by the vfs are a matter of that (watch.h). */
bool refs_fetcher_is_current(refs_fetcher *fetcher, uint64_t trust_ms);

/** Whether anything was ever asked for over HTTP. */
bool refs_fetcher_asked_http(const refs_fetcher *fetcher);

/** Receives the bytes of range `index`, borrowed for the call; who needs them for longer, on a
 * worker thread, holds `block` until then. A failure ends the fetch. */
typedef refs_status (*refs_fetch_sink)(void *user, size_t index, refs_bytes bytes,
                                       struct refs_block *block, refs_error *err);

/** The state of a location that whoever refers to it has seen. */
typedef struct refs_expected {
    const char *etag;    /**< that it shall have, or NULL */
    int64_t not_after_s; /**< it shall not have been modified later, in seconds since 1970; 0:
                              whenever */
    int64_t modified_s;  /**< when it shall have been modified, unless both ETags are known; 0:
                              whenever */
    uint64_t size;       /**< bytes that it shall have; 0: not known */
    bool may_be_copied;  /**< it may have been copied together with what refers to it: that it was
                              modified at another time, with as many bytes, is only warned of */
} refs_expected;

/** What is known of a location. */
typedef struct refs_known_state {
    const char *etag;   /**< or "" */
    int64_t modified_s; /**< or 0 */
    uint64_t size;      /**< bytes, or 0 */
} refs_known_state;

/** Writes in what a location is not as it is expected, with both values; false where nothing tells.
 */
bool refs_expected_differs(const refs_expected *expected, const refs_known_state *known, char *text,
                           size_t size);

/** Who ranges are fetched for. `user` is of all functions. */
typedef struct refs_fetch_client {
    refs_fetch_sink sink;
    void *user;

    /** Asked on the calling thread before it waits, and every REFS_FETCH_POLL_MS while it waits for
     * the network: false ends the fetch with REFS_CANCELLED. NULL: always true. */
    bool (*go_on)(void *user);

    /** For what is prefetched: whether somebody waits for range `index` by now. Until then requests
     * that may be in flight, and the line, are left to those who do (http.h). Called on any thread,
     * often; it shall only look something up. NULL: the caller waits. */
    bool (*is_awaited)(const void *user, size_t index);

    /** Told of each optional range that is going to arrive, on the calling thread, before anything
     * is requested, and of some more than once. False where its bytes are on their way already: no
     * request then reaches over it. NULL: nobody is told. */
    bool (*comes_along)(void *user, size_t index);

    /** Told which range did not arrive where the fetch fails for one, on the calling thread. NULL:
     * nobody is told. */
    void (*failed)(void *user, size_t index);

    /** What the location of range `index` is expected to be. Of what its server, or the host, says
     * nothing, nothing is expected. Called on the calling thread. NULL: nothing is. */
    refs_expected (*expected)(const void *user, size_t index);
} refs_fetch_client;

#define REFS_FETCH_POLL_MS 50

/** Fetches all `n` ranges, optional ones as the plan says, and hands each over once, in the order
 * of arrival, on the calling thread; returns when all blocks were let go, so that the thread which
 * calls must not hold one. Fewer bytes than asked for, or a location that cannot be opened, is
 * REFS_IO with location, offset, length and size: also where the location does not exist. */
refs_status refs_fetch(refs_fetcher *fetcher, const refs_range *ranges, size_t n,
                       const refs_fetch_client *client, refs_error *err);

void refs_fetcher_stats(const refs_fetcher *fetcher, refs_fetch_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
