/* array_object.h -- what an opened array is made of, for the files of this room.
 *
 * Read before this: array_internal.h.
 */
#ifndef REFS_ARRAY_OBJECT_H
#define REFS_ARRAY_OBJECT_H

#include <stdatomic.h>

#include "array_internal.h"
#include "refs/codec.h"
#include "refs/fork.h"
#include "refs/store.h"

/* -- scratch.c: working memory of threads ------------------------------------------------------ */

/** Scratches that no thread uses now. */
typedef struct refs_scratch_list {
    pthread_mutex_t lock; /* guards what follows */
    struct refs_scratch_node *first;
} refs_scratch_list;

typedef struct refs_scratch_node {
    refs_scratch scratch;
    struct refs_scratch_node *next;
} refs_scratch_node;

void refs_scratch_list__init(refs_scratch_list *list);
void refs_scratch_list__clear(refs_scratch_list *list);

/** A scratch for the calling thread until it puts it back; NULL when memory ran out. */
refs_scratch_node *refs_scratch_list__take(refs_scratch_list *list);
void refs_scratch_list__put(refs_scratch_list *list, refs_scratch_node *node);

/** Lets go of the memory of those that nobody uses now. */
void refs_scratch_list__forget(refs_scratch_list *list);

/* -- cache.c: for the stream ------------------------------------------------------------------- */

/** Waits until at most `max_bytes` are read ahead and unused; false where that did not come about
 * because some were wasted since there were `n_wasted`, because *stop was set (which
 * refs_cache__wake makes known), or because nothing was used for a while. */
bool refs_cache__await_use(refs_cache *cache, size_t max_bytes, uint64_t n_wasted,
                           const _Atomic bool *stop);
void refs_cache__wake(refs_cache *cache);

/** Asks for a chunk; FOUND sets *chunk, with a reference for the caller. Of one that the caller is
 * to bring, *awaited is set when somebody waits for it, which refs_cache__await_room reads. */
refs_claim refs_cache__claim(refs_cache *cache, refs_chunk_id id, refs_chunk_use use,
                             _Atomic bool *awaited, refs_chunk **chunk);

/** Waits until `size` bytes more may be decoded ahead: until no more than `max_bytes` of them are
 * unused or being decoded, or *awaited, for what a reader waits for is not ahead of it. False where
 * that did not come about: as for refs_cache__await_use. */
bool refs_cache__await_room(refs_cache *cache, size_t size, size_t max_bytes,
                            const _Atomic bool *awaited, const _Atomic bool *stop);

/** What was waited for is decoded by now, or never will be. */
void refs_cache__give_room(refs_cache *cache, size_t size);

/* -- stream.c: reading ahead ------------------------------------------------------------------- */

#define REFS_STREAM_THREADS 2

/** Chunks of an array brought by threads of their own before they are asked for. */
typedef struct refs_stream {
    unsigned n_threads; /**< under the lock of the watch: to be joined */
    pthread_t threads[REFS_STREAM_THREADS];
    struct refs_array *array;
    refs_cut cut;
    size_t ahead_bytes; /**< a part is brought when no more than this waits to be used */
    size_t room_bytes;  /**< a chunk is decoded when no more than this waits to be used */
    uint64_t n_wasted;  /**< of the cache when the stream began */

    pthread_mutex_t lock; /* guards what follows, up to n_running */
    pthread_cond_t moved; /* n_claimed or n_running changed */
    unsigned n_claimed;   /**< parts whose chunks others leave to the stream by now */
    bool claiming;        /**< a thread has taken a part and not claimed its chunks yet */
    uint64_t next;        /**< chunk of the cut */
    size_t part_bytes;    /**< how much is brought in one go */

    _Atomic unsigned n_running; /**< threads that have not ended */
    _Atomic bool stop;          /**< end soon */
    _Atomic uint64_t reader_at; /**< the number in the cut that was asked for last */
} refs_stream;

/** Where reads begin, and how that moves. */
typedef struct refs_walk {
    bool any;                   /**< something was read */
    uint64_t at[REFS_MAX_RANK]; /**< where the last read began, along each dimension */
    size_t dim;                 /**< along which it had moved, by … */
    uint64_t by;                /**< … so much; 0: none, or not that way */
    unsigned n;                 /**< moves in a row that were equal */
} refs_walk;

/** What reads ask for, and seem to ask for next. */
typedef struct refs_watch {
    refs_forked forked;
    pthread_mutex_t lock; /* guards what follows */
    refs_walk elements;   /**< from element to element */
    refs_walk chunks;     /**< from chunk to chunk */
    bool stepped;         /**< a stream was started for steps inside the chunk */
    refs_stream stream;
} refs_watch;

void refs_watch__init(refs_watch *watch);

/** Ends the stream and frees what the watch holds. */
void refs_watch__clear(refs_watch *watch);

/** Notes what a read asks for, and starts a stream where reads move on step by step. */
void refs_array__watch(struct refs_array *array, const refs_cut *cut);

/* -- the array --------------------------------------------------------------------------------- */

struct refs_array {
    refs_array_tools tools;
    const refs_array_meta *meta;
    uint64_t owner; /**< of chunks in the cache */
    size_t chunk_elements;
    size_t chunk_bytes;
    uint64_t max_stored;           /**< the most bytes that a chunk may have as it is stored */
    int64_t stride[REFS_MAX_RANK]; /**< bytes between neighbours inside a chunk */
    refs_chain *chain;             /**< NULL where the codecs are unknown, and … */
    refs_error chain_error;        /**< … this says why */
    refs_scratch_list scratches;
    refs_watch watch;
    _Atomic uint64_t chunks_decoded, chunks_absent, cache_hits, bytes_copied;
};

/** Reads all elements, `*n` and at most `max_elements` of them, tightly packed. */
refs_status refs_array__read_elements(struct refs_array *array, uint64_t max_elements,
                                      refs_buf *elements, size_t *n, refs_error *err);

/* -- bring.c ----------------------------------------------------------------------------------- */

/** Chunks of a cut that are to come. */
typedef struct refs_bringing {
    struct refs_array *array;
    const refs_cut *cut;

    /** Receives the elements of chunk `number` of the cut, in this machine's byte order, or NULL
     * where the chunk is absent; on any thread. NULL: chunks only go to the cache. */
    void (*deliver)(void *user, uint64_t number, const uint8_t *elements);

    /** Where the elements of chunk `number` are wanted, all of them and in their order: it is
     * decoded there, and neither delivered nor kept. NULL: nowhere; or no such function. */
    uint8_t *(*place)(void *user, uint64_t number);

    /** Called when all chunks were asked for: others that want them wait from now on. Or NULL. */
    void (*claimed)(void *user);

    /** Whether the reader has passed chunk `number`, which is then not brought. Or NULL. */
    bool (*passed)(void *user, uint64_t number);

    /** Called before a chunk is decoded: waits until it may be, or until *awaited, where somebody
     * waits for one of these chunks; false: it is not wanted any more. The room that it was given
     * ends with the decoding (refs_cache__give_room). Or NULL. */
    bool (*await_room)(void *user, const _Atomic bool *awaited);
    void *user;
    refs_chunk_use use;
} refs_bringing;

/** Brings chunks [begin, end) of the cut: from the cache, from other threads that bring them
 * already (AHEAD: leaves them to those), or from the store, planned as one fetch. AHEAD, chunks
 * [end, end_riders) come along where the store finds that better. */
refs_status refs_array__bring(const refs_bringing *bringing, uint64_t begin, uint64_t end,
                              uint64_t end_riders, refs_error *err);

/** Brings all chunks of several arrays that share their tools, planned as one fetch; `use` and
 * `claimed` of the first count for all. */
refs_status refs_array__bring_all(const refs_bringing *bringings, size_t n, refs_error *err);

#endif
