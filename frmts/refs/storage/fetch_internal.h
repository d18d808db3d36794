/* fetch_internal.h -- one call of refs_fetch, and the ways in which bytes come; see fetch.h. */
#ifndef REFS_STORAGE_FETCH_INTERNAL_H
#define REFS_STORAGE_FETCH_INTERNAL_H

#include <stdatomic.h>

#include "http/response.h"
#include "plan.h"
#include "refs/block.h"
#include "refs/fork.h"

struct refs_fetch_job;

/** Locations that are remembered; of more, one is forgotten for each that comes. */
#define REFS_FETCH_MAX_PLACES 65536

/** The known facts about a location. Zeroed: nothing. */
typedef struct refs_fetch_place {
    uint32_t location_id;
    refs_validators *validators; /**< of the first answer; NULL before */
    uint64_t identified_ms;      /**< when that came, of a clock that only goes on */
    uint64_t answered_ms;        /**< when the last one came */
    bool ignores_ranges;
    bool is_changed; /**< it was noted that it changed since it was referred to */
} refs_fetch_place;

/** A location by its name. */
typedef struct refs_fetch_name {
    uint32_t location_id;
    char *location;
} refs_fetch_name;

struct refs_fetcher {
    const refs_vfs *vfs;
    refs_fetch_options options;
    _Atomic uint64_t requests;
    _Atomic uint64_t bytes;
    _Atomic bool cancelled, replaced, asked_http;
    refs_forked forked;
    pthread_mutex_t lock;     /* guards what follows */
    refs_fetch_place *places; /* by location_id modulo REFS_FETCH_MAX_PLACES */
    size_t n_places;
    bool has_forgotten;                          /* a place with an identity */
    size_t n_identified;                         /* places with an identity */
    refs_fetch_name names[REFS_FETCH_MAX_ASKED]; /* of the first of those */
    refs_block *whole; /* the last whole object of a server that ignores ranges, or NULL */
    uint64_t whole_bytes;
    uint32_t whole_id;
    struct refs_fetch_job *jobs; /* under way */
    struct refs_local *spare;    /* memory that jobs have left; see fetch_local.c */
    size_t n_spare;
};

/** A waiter for bytes: woken as they arrive, and when memory is given back. */
typedef struct refs_waiter {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t memory;       /**< bytes of blocks that are held or reserved; under the lock */
    uint64_t max_memory; /**< a single block may exceed it; 0: nothing is counted */
    bool has_freed;      /**< bytes were given back since the caller last waited; under the lock */
} refs_waiter;

/* -- reservation.c: memory --------------------------------------------------------------------- */

/** Reserves `size` bytes in place of `own` that are reserved for the same block: checks and counts
 * in one step, and never waits. False, and nothing changes, where the other bytes of the call, or
 * of the process (REFS_FETCH_PROCESS_BYTES), leave too few. A call that holds nothing else is never
 * refused, so each gets on. */
bool refs_waiter__reserve(refs_waiter *waiter, uint64_t own, uint64_t size);

/** Gives reserved bytes back: as the `freed` of a block. */
void refs_waiter__give_back(void *waiter, size_t size);

/** In the child of a fork: no other thread holds anything. */
void refs_fetch__forget_process_bytes(void);

/** The state of one call of refs_fetch. */
typedef struct refs_fetch_job {
    refs_fetcher *fetcher;
    const refs_range *ranges;
    refs_plan *plan;
    refs_fetch_policy policy; /**< that it was made by */
    const refs_fetch_client *client;
    size_t failed;          /**< the range that is being served, or SIZE_MAX */
    bool *dropped;          /**< for each range: it is not needed; NULL: all are */
    uint64_t largest_whole; /**< bytes of the largest whole location so far; 0: none was seen */
    refs_waiter waiter;
    struct refs_local *local;    /**< memory for what is read of local locations, or NULL */
    struct refs_fetch_job *next; /**< under the fetcher's lock */
} refs_fetch_job;

/** That a location of `size` bytes has not all of the range [offset, offset + length): REFS_IO. */
refs_status refs_fetch__fail_short(uint64_t size, uint64_t offset, uint64_t length,
                                   refs_error *err);

/** That an object has another `difference`, "size" or the like, than when its reading began:
 * REFS_IO.
 */
refs_status refs_fetch__fail_replaced(const char *difference, refs_error *err);

/** The first range of a request. */
const refs_range *refs_fetch__first_range(const refs_fetch_job *job, size_t request);

/** Tells the client that a request is going to be made; *is_needed is whether it is to be. */
refs_status refs_fetch__begin(refs_fetch_job *job, size_t request, bool *is_needed,
                              refs_error *err);

/** The same, and leaves bytes that the client does not need out of the request: what is not
 * adjacent then is the next request. */
refs_status refs_fetch__begin_narrowed(refs_fetch_job *job, size_t request, bool *is_needed,
                                       refs_error *err);

/** Whether the client does not need a range. */
bool refs_fetch__is_dropped(const refs_fetch_job *job, size_t range);

/** REFS_CANCELLED where the bytes are not wanted any more. */
refs_status refs_fetch__go_on(const refs_fetch_job *job, refs_error *err);

/** Reserves `size` bytes once workers have let go of enough: only where nothing but workers holds
 * memory of the job. REFS_CANCELLED where the bytes are not wanted any more. */
refs_status refs_fetch__await_memory(refs_fetch_job *job, uint64_t size, refs_error *err);

/** A block of bytes that are reserved, which are given back with it, or after a failure. */
refs_status refs_fetch__new_block(refs_fetch_job *job, uint64_t reserved, refs_block **block,
                                  refs_error *err);

/** Waits until nobody holds memory of the job. */
void refs_fetch__await_workers(refs_fetch_job *job);

/** The most bytes that a request for all of a location may return. */
uint64_t refs_fetch__max_whole(const refs_fetch_job *job, const refs_request *request);

/** The state of a request. */
typedef struct refs_arrival {
    refs_block *block;    /**< that holds the bytes */
    const uint8_t *bytes; /**< of the request, from its first byte on */
    uint64_t got;         /**< how many are there */
    size_t served;        /**< members of the request that were handed over */
} refs_arrival;

/** Hands over those members that have come and were not yet handed over. */
refs_status refs_fetch__serve(refs_fetch_job *job, const refs_request *request,
                              refs_arrival *arrival, refs_error *err);

/* -- places.c: what was learned of locations --------------------------------------------------- */

/** REFS_IO where the answer is of another state of the location than earlier ones. */
refs_status refs_fetch__check_validators(refs_fetcher *fetcher, const refs_range *range,
                                         const refs_validators *validators, refs_error *err);

/** The first answer of a location; false where there was none over HTTP. */
bool refs_fetch__answered(refs_fetcher *fetcher, uint32_t location_id, refs_validators *answered);

/** Notes that a location changed since it was referred to; false where that is known. */
bool refs_fetch__note_changed(refs_fetcher *fetcher, uint32_t location_id);

/** Notes, and tells, that a location is only to be had whole. */
void refs_fetch__note_rangeless(refs_fetcher *fetcher, uint32_t location_id);
bool refs_fetch__is_rangeless(refs_fetcher *fetcher, uint32_t location_id);

/** Keeps all bytes of such a location until another one's are kept; not those of other ones. */
void refs_fetch__keep_whole(refs_fetcher *fetcher, uint32_t location_id, refs_block *block,
                            uint64_t n_bytes);

/** All bytes of a location, held for the caller, or NULL. */
refs_block *refs_fetch__kept_whole(refs_fetcher *fetcher, uint32_t location_id, uint64_t *n_bytes);

void refs_fetch__clear_places(refs_fetcher *fetcher);

/* -- ways in which bytes come ------------------------------------------------------------------ */

/** Carries out the requests [begin, end), all of one location, by the host's refs_vfs. */
refs_status refs_fetch__by_vfs(refs_fetch_job *job, size_t begin, size_t end, refs_error *err);

/** Reads a request, that has a length, from a handle of the host. */
refs_status refs_fetch__read(refs_fetch_job *job, void *handle, const refs_request *request,
                             uint8_t *dst, refs_error *err);

/** Reads and serves requests that have lengths, in one go. */
refs_status refs_fetch__read_batch(refs_fetch_job *job, void *handle, const refs_request *requests,
                                   size_t n, refs_error *err);

/** Reads and serves a request that has a length, of a local location. */
refs_status refs_fetch__read_local(refs_fetch_job *job, void *handle, const refs_request *request,
                                   refs_error *err);

/** Keeps what that has left with the job for the fetcher's next jobs, or frees it: when workers
 * hold nothing of it any more. */
void refs_fetch__leave_local(refs_fetch_job *job);

void refs_fetch__clear_local(refs_fetcher *fetcher);

/** Ranges whose server ignores ranges: to be fetched as whole locations. */
typedef struct refs_fetch_again {
    size_t *indices; /**< of ranges */
    size_t n, capacity;
} refs_fetch_again;

/** Carries out over HTTP those requests that the host has URLs for, and notes in `by_vfs` the
 * others. */
refs_status refs_fetch__by_http(refs_fetch_job *job, bool *by_vfs, refs_fetch_again *again,
                                refs_error *err);

#endif
