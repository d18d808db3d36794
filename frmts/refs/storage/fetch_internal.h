/* fetch_internal.h -- queues, and the ways in which bytes come; see fetch.h and queue.h. */
#ifndef REFS_STORAGE_FETCH_INTERNAL_H
#define REFS_STORAGE_FETCH_INTERNAL_H

#include <stdatomic.h>

#include "http/response.h"
#include "plan.h"
#include "refs/block.h"
#include "refs/fork.h"
#include "refs/intern.h"
#include "refs/queue.h"

/** Locations that are remembered; of more, one is forgotten for each that comes. */
#define REFS_FETCH_MAX_PLACES 65536

/** The known facts about a location. Zeroed: nothing. */
typedef struct refs_fetch_place {
    uint32_t location_id;
    refs_vfs_validators *validators; /**< of the first answer; NULL before */
    uint64_t identified_ms;          /**< when that came, of a clock that only goes on */
    uint64_t answered_ms;            /**< when the last one came */
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
    _Atomic bool is_date_noted; /* a warning of another date was made */
    refs_forked forked;
    pthread_mutex_t numbers_lock; /* guards the next two */
    refs_intern numbered;         /* locations */
    uint32_t first_number;        /* of the first of them */
    pthread_mutex_t lock;         /* guards what follows */
    refs_fetch_place *places;     /* by location_id modulo REFS_FETCH_MAX_PLACES */
    size_t n_places;
    bool has_forgotten;                          /* a place with an identity */
    size_t n_identified;                         /* places with an identity */
    refs_fetch_name names[REFS_FETCH_MAX_ASKED]; /* of the first of those */
    refs_block *whole; /* the last whole object of a server that ignores ranges, or NULL */
    uint64_t whole_bytes;
    uint32_t whole_id;
    refs_queue *queues; /* that are open */
};

/** A waiter for bytes: woken as they arrive, and when memory is given back. */
typedef struct refs_waiter {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t memory;       /**< bytes of blocks that are held or reserved; under the lock */
    uint64_t max_memory; /**< of all queues of the process; 0: nothing is counted */
    bool has_freed;      /**< bytes were given back since the caller last waited; under the lock */
    bool is_refused;     /**< it lacked memory when it last asked; under the lock */
    const void *thread;  /**< that drives the queue */
} refs_waiter;

/* -- reservation.c: memory --------------------------------------------------------------------- */

/** Reserves `size` bytes in place of `own` that are reserved for the same block: checks and counts
 * in one step, and never waits. False, and nothing changes, where all queues of the process would
 * hold more than max_memory. One at a time of the queues that hold nothing else is not refused,
 * so that each gets on. */
bool refs_waiter__reserve(refs_waiter *waiter, uint64_t own, uint64_t size);

/** Notes that something arrives, or workers let go of something: the turn of the queue goes on. */
void refs_waiter__note_moved(const refs_waiter *waiter);

/** An address that is that of no other thread. */
const void *refs_fetch__this_thread(void);

/** Gives reserved bytes back: as the `freed` of a block. */
void refs_waiter__give_back(void *waiter, size_t size);

/** In the child of a fork: no other thread holds anything. */
void refs_fetch__forget_process_bytes(void);

/* -- queues ------------------------------------------------------------------------------------ */

/** Ranges whose server ignores ranges: to be fetched as whole locations. */
typedef struct refs_fetch_again {
    size_t *indices; /**< of ranges */
    size_t n, capacity;
} refs_fetch_again;

/** Transfers of the HTTP engine under way; see fetch_http.c. */
typedef struct refs_flights {
    struct flight *first; /**< oldest first */
    size_t n;
    char *url;       /**< of the last requested location, or NULL */
    uint32_t id;     /**< ... which this is */
    uint64_t url_ms; /**< ... when it was made: signatures expire */
} refs_flights;

/** A read by the vfs under way; see fetch_vfs.c. */
typedef struct refs_vfs_reading {
    void *handle; /**< or NULL */
    uint32_t location_id;
    size_t begin, end; /**< transfers that were submitted and not read yet */
    size_t member;     /**< of a local location: the next one of the first of them */
} refs_vfs_reading;

/** The transfers of a plan are offered twice: those over HTTP, and then the others. */
typedef enum refs_queue_phase { REFS_QUEUE_HTTP, REFS_QUEUE_VFS } refs_queue_phase;

struct refs_queue {
    refs_fetcher *fetcher;
    refs_request **requests; /**< that are ranges; range i is of request i */
    refs_range *ranges;
    size_t n_ranges;
    bool is_ahead;         /**< it prefetches */
    refs_request *at_hand; /**< that take no transfer and were not offered yet */
    refs_plan plan;
    refs_fetch_policy policy; /**< that it was made by */
    refs_queue_phase phase;
    size_t next;            /**< transfer that is looked at next */
    bool *by_vfs;           /**< for each transfer */
    refs_request **offered; /**< room for all */
    bool *dropped;          /**< for each range: room to tell the planner */
    uint64_t reserved;      /**< for what was offered */
    size_t n_offered;       /**< transfers */
    bool rejects_empty;     /**< a whole location that is empty is corrupt */
    refs_request *finished, **last_finished;
    size_t failed;          /**< the range that is being served, or SIZE_MAX */
    uint64_t largest_whole; /**< bytes of the largest whole location so far; 0: none was seen */
    refs_flights flights;
    refs_vfs_reading reading;
    struct refs_local *local; /**< memory for what is read of local locations, or NULL */
    refs_fetch_again again;
    refs_waiter waiter;
    refs_queue *next_queue; /**< under the fetcher's lock */
};

/** That a location of `size` bytes has not all of the range [offset, offset + length):
 * REFS_CHANGED. */
refs_status refs_fetch__fail_short(uint64_t size, uint64_t offset, uint64_t length,
                                   refs_error *err);

/** REFS_CHANGED where an answer is of another state of an object than an earlier one, `was`, and
 * REFS_IO where it cannot be right. */
refs_status refs_fetch__compare(const refs_vfs_validators *was, const refs_vfs_validators *now,
                                refs_error *err);

/** The first range of a request. */
const refs_range *refs_fetch__first_range(const refs_queue *queue, size_t request);

/** REFS_CANCELLED where the fetcher is cancelled. */
refs_status refs_fetch__go_on(const refs_queue *queue, refs_error *err);

/** Waits until workers have let go of memory, for at most `timeout_ms` milliseconds. */
void refs_waiter__await_freed(refs_waiter *waiter, unsigned timeout_ms);

/** Reserves `size` bytes, once workers have let go of enough; false where they do not in time. */
bool refs_waiter__reserve_in_time(refs_waiter *waiter, uint64_t size, unsigned timeout_ms);

/** A block of bytes that are reserved, which are given back with it, or after a failure. */
refs_status refs_fetch__new_block(refs_queue *queue, uint64_t reserved, refs_block **block,
                                  refs_error *err);

/** Waits until nobody holds memory of the job. */
void refs_fetch__await_workers(refs_queue *queue);

/** The most bytes that a request for all of a location may return. */
uint64_t refs_fetch__max_whole(const refs_queue *queue, const refs_planned *request);

/** The state of a request. */
typedef struct refs_arrival {
    refs_block *block;    /**< that holds the bytes */
    const uint8_t *bytes; /**< of the request, from its first byte on */
    uint64_t got;         /**< how many are there */
    size_t served;        /**< members of the request that were finished */
} refs_arrival;

/** Finishes those members that have come and were not yet finished. */
refs_status refs_fetch__serve(refs_queue *queue, const refs_planned *request, refs_arrival *arrival,
                              refs_error *err);

/* -- places.c: what was learned of locations --------------------------------------------------- */

/** REFS_CHANGED where the answer is of another state of the location than earlier ones. */
refs_status refs_fetch__check_validators(refs_fetcher *fetcher, const refs_range *range,
                                         const refs_vfs_validators *validators, refs_error *err);

/** The validators of an open handle of `location`; false if they cannot be read. */
bool refs_fetch__look(const refs_vfs *vfs, const char *location, void *handle,
                      refs_vfs_validators *file);

/** The file that has the member `location`, also of an archive in archives; `location` itself if it
 * is no member. */
refs_str refs_fetch__archive_of(refs_str location);

/** The first answer of a location; false where there was none over HTTP. */
bool refs_fetch__answered(refs_fetcher *fetcher, uint32_t location_id,
                          refs_vfs_validators *answered);

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

/** Whether transfer `queue->next` is one over HTTP, which its location has a URL for. Notes it for
 * the vfs otherwise. */
refs_status refs_fetch__is_over_http(refs_queue *queue, bool *is_http, refs_error *err);

/** Whether there is room for one more: answers that are held back come before it. Reserves what it
 * takes. */
bool refs_fetch__reserve_http(refs_queue *queue);

/** Submits transfer `queue->next`, for which queue->reserved bytes are reserved. */
refs_status refs_fetch__submit_http(refs_queue *queue, refs_error *err);

/** Waits for bytes, and finishes what has come. */
refs_status refs_fetch__next_http(refs_queue *queue, unsigned timeout_ms, refs_error *err);

/** Cancels all transfers, and waits until the engine has let go of them. */
void refs_fetch__cancel_http(refs_queue *queue);

/** How many of the transfers from `queue->next` on the vfs reads in one go: at least one. */
size_t refs_fetch__count_vfs(const refs_queue *queue);

/** Reads the next part of what was submitted, if there is memory for it in time. */
refs_status refs_fetch__next_vfs(refs_queue *queue, unsigned timeout_ms, refs_error *err);

void refs_fetch__close_vfs(refs_queue *queue);

/** Reads a request, that has a length, of the open location. */
refs_status refs_fetch__read(refs_queue *queue, const refs_planned *request, uint8_t *dst,
                             refs_error *err);

/** Reads and finishes `*n` requests of the open location that have lengths, in one go; sets *n to 0
 * where there was no memory for them in time. */
refs_status refs_fetch__read_in_time(refs_queue *queue, const refs_planned *requests, size_t *n,
                                     unsigned timeout_ms, refs_error *err);

/** Reads the next piece of the transfer of a local location that is read, in the same way. */
refs_status refs_fetch__next_piece(refs_queue *queue, unsigned timeout_ms, refs_error *err);

/** Frees its memory: when workers hold nothing of it any more. */
void refs_fetch__clear_local(refs_queue *queue);

#endif
