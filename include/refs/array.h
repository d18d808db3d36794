/* array.h -- region -> chunks -> bytes -> values -> the caller's buffer, and the chunk cache.
 *
 * This is where the other modules meet: the grid of an array gives chunk keys, the store gives
 * their bytes, and the codec chain their values. Decoded chunks are kept in a cache, limited in
 * bytes, that all arrays and threads share: a chunk that spans many bands is fetched once and
 * decoded once.
 *
 * Arrays are immutable and may be read from any number of threads at once.
 *
 * Read before this: store.h, zarr.h, codec.h.
 */
#ifndef REFS_ARRAY_H
#define REFS_ARRAY_H

#include "refs/bytes.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_piece_list;
struct refs_pool;
struct refs_store;
struct refs_store_part;

/* -- the chunk cache --------------------------------------------------------------------------- */

/** Decoded chunks; the least recently used is dropped first. One lock; safe from any thread. */
typedef struct refs_cache refs_cache;

/** A cache of at most `max_bytes`; a chunk larger than that is used but not kept. There is one
 * exception: readers that take part of a chunk at a time, such as a line, keep the chunks of their
 * last read until the next one, at most 512 MiB in all; not with a cache of 0 bytes. */
refs_status refs_cache_open(size_t max_bytes, refs_cache **cache, refs_error *err);

/** Frees the cache; arrays that use it must be freed first. */
void refs_cache_free(refs_cache *cache);

/* -- arrays ------------------------------------------------------------------------------------ */

/** Counts since the array was opened. */
typedef struct refs_array_stats {
    uint64_t chunks_decoded; /**< stored bytes turned into values */
    uint64_t chunks_absent;  /**< filled, because the set has no such key */
    uint64_t cache_hits;     /**< chunks that needed neither */
    uint64_t bytes_copied; /**< of values, from chunks to callers; none for a chunk that is decoded
                              directly into the caller's buffer */
} refs_array_stats;

typedef struct refs_array refs_array;

/** The environment of reading arrays; all of it must outlive the arrays. */
typedef struct refs_array_context {
    struct refs_store *store;
    refs_cache *cache;               /**< or NULL: nothing is kept */
    struct refs_pool *pool;          /**< decodes; NULL: the reading thread does */
    struct refs_pool *prefetch_pool; /**< its threads wait for what is prefetched; NULL: nothing
                                        is prefetched */
    size_t max_chunk_bytes;          /**< largest decoded chunk; 0: REFS_MAX_CHUNK_BYTES */
    size_t max_ahead_bytes; /**< prefetched where answers are slow to begin and more than half of
                               the cache arrives in that time; 0: half of the cache */
} refs_array_context;

/** Opens an array for reading; `meta` must outlive it. An unknown codec is no failure here, but
 * fails the first read. REFS_LIMIT if a decoded chunk would be too large, or if there are more
 * chunks than 63 bits can number. */
refs_status refs_array_open(const refs_array_context *context, const refs_array_meta *meta,
                            refs_array **array, refs_error *err);
void refs_array_free(refs_array *array);

const refs_array_meta *refs_array_meta_of(const refs_array *array);

/* -- mosaics ----------------------------------------------------------------------------------- */

/** A box of a mosaic, and the elements of another array that give its values. */
typedef struct refs_piece {
    refs_array *array;    /**< or NULL: every element of the box is … */
    const uint8_t *value; /**< … this element of the mosaic (for strings of variable length, a text
                             with a NUL after it); NULL: its fill value */
    size_t rank; /**< of that array, or of the mosaic if there is none; one less where letters along
                    the last dimension form a string */
    uint64_t start[REFS_MAX_RANK]; /**< elements of that array, as of refs_region; those of the … */
    uint64_t count[REFS_MAX_RANK];
    int64_t step[REFS_MAX_RANK];
    int64_t stride[REFS_MAX_RANK]; /**< … next one along a dimension go so many bytes further … */
    int64_t offset;                /**< … from here, in bytes from the caller's first element */

    /** Turns `n` elements at `src` into those of the mosaic, at `dst`, both tightly packed and in
     * this machine's byte order; on any thread. NULL: they are the same. */
    refs_status (*convert)(const void *user, const void *src, size_t n, void *dst, refs_error *err);
    const void *user;
    void *held; /**< belongs to the mosaic that listed the piece */
} refs_piece;

struct refs_region;

/** An array without chunks of its own, which consists of regions of other arrays. */
typedef struct refs_mosaic {
    void *self;

    /** Lists pieces of a region, from number `next` of the list on. `stride` is the caller's, in
     * bytes, for each dimension. The arrays of the pieces share fetcher, cache and pool with the
     * mosaic, and stay until they are released. */
    refs_status (*gather)(void *self, const struct refs_region *region, const int64_t *stride,
                          struct refs_piece_list *pieces, refs_error *err);

    /** Begins to open what the pieces of a region need, without waiting. */
    void (*prepare)(void *self, const struct refs_region *region);

    /** Releases the arrays of pieces. */
    void (*release)(void *self, struct refs_piece_list *pieces);

    /** Whether reading the piece that contains an element costs no round trip. */
    bool (*is_local)(void *self, const uint64_t *element);

    /** Counts the elements of a region that have a piece with values, without opening any. */
    refs_status (*count)(void *self, const struct refs_region *region, uint64_t *n,
                         refs_error *err);

    /** Called when the array is freed. */
    void (*free)(void *self);
} refs_mosaic;

/** Pieces of a mosaic. */
typedef struct refs_piece_list {
    refs_piece *pieces;
    size_t n, max; /**< there is room for `max` */
    uint64_t next; /**< number of the first piece not listed yet; UINT64_MAX: none is left */
    const struct refs_progress *progress; /**< asked while files are opened, or NULL */
} refs_piece_list;

/** Opens a mosaic as an array: its chunks are the steps in which reading is expected to move on;
 * its codecs are ignored. Everything below works as for other arrays, except refs_array_find_part,
 * which is REFS_UNSUPPORTED. Strings of variable length come from its pieces, each read whole. */
refs_status refs_array_open_mosaic(const refs_array_context *context, const refs_array_meta *meta,
                                   const refs_mosaic *mosaic, refs_array **array, refs_error *err);

/* -- reading ----------------------------------------------------------------------------------- */

/** Elements of an array: along each dimension, `count` of them from `start` on, `step` apart
 * (negative goes backwards, NULL steps are all 1). All must lie inside the array (REFS_INVALID). */
typedef struct refs_region {
    const uint64_t *start;
    const uint64_t *count;
    const int64_t *step;
} refs_region;

/** Reads a region into `dst` as elements of the array's type in this machine's byte order (one
 * byte for booleans). Element (i0, i1, …) of the region goes to dst + i0 * stride[0] + i1 *
 * stride[1] + …; strides are in bytes, may be negative, and NULL means tightly packed in C order.
 * All chunks that the region needs are planned as one fetch, and decoded while later ones are
 * arriving. Absent chunks give the fill value; any other failure names array, chunk, URL and
 * range. */
refs_status refs_array_read(refs_array *array, const refs_region *region, void *dst,
                            const int64_t *stride, refs_error *err);

/** Loads all chunks of `n` arrays of one store and one cache into that cache, planned as one fetch,
 * so that reading them next makes no requests. This is a hint: chunks that do not arrive are left
 * to the reads, which say why; so are arrays that the cache cannot hold, and strings of variable
 * length. */
void refs_arrays_load(refs_array *const *arrays, size_t n);

/** Reads a whole numeric array of at most `max_elements` elements as doubles, in C order, to
 * `values` (room for all elements). Integers beyond 2^53 are rounded; complex numbers give their
 * real part; half floats, dates and durations (ticks) are numbers too. REFS_UNSUPPORTED for
 * strings.
 */
refs_status refs_array_read_doubles(refs_array *array, uint64_t max_elements, double *values,
                                    refs_error *err);

/** Reads an array of strings (S, U, O) of at most `max_elements` elements: appends each as UTF-8
 * with a NUL after it. */
refs_status refs_array_read_strings(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                    refs_error *err);

/** Whether elements are single letters that can be strings along the last dimension, as netCDF-3
 * has them. */
bool refs_array_has_letters(const refs_array_meta *meta);

/** Works like refs_array_read_strings, for such letters, at most `max_elements` of them; a string
 * ends at its first NUL, and trailing blanks are left out. */
refs_status refs_array_read_letters(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                    refs_error *err);

/** Finds which part of its key's value (refs_chunk_key) the chunk at `index` is: all of it, or part
 * of a shard, whose index may have to be read. REFS_NOT_FOUND: the chunk is absent. */
refs_status refs_array_find_part(refs_array *array, const uint64_t *index,
                                 struct refs_store_part *part, refs_error *err);

/** The origin of an element. strings are borrowed for the call that it comes with. */
typedef struct refs_array_source {
    const char *variable; /**< path of the array that contains it; for a mosaic, the piece's */
    const char *target;   /**< what messages call the file of its chunk; NULL: the chunk is absent,
                               or there is no piece, and the element is the fill value */
    bool is_inline;       /**< the chunk is in the set itself, which is then the target */
    bool is_whole;        /**< it is all of the target, and what follows is zero */
    uint64_t offset;      /**< bytes [offset, offset + length) of the target */
    uint64_t length;
} refs_array_source;

/** Tells `visit` where the element at `element` comes from, and returns what `visit` returns. It
 * does not read the chunk, but may read the index of its shard and, for a mosaic, that of the file.
 */
refs_status refs_array_locate(refs_array *array, const uint64_t *element,
                              refs_status (*visit)(void *user, const refs_array_source *source,
                                                   refs_error *err),
                              void *user, refs_error *err);

/** Counts the elements of a region whose chunks exist, to *n, without reading the chunks.
 * REFS_LIMIT if there are more than `max_chunks` of them. */
refs_status refs_array_count_present(refs_array *array, const refs_region *region,
                                     uint64_t max_chunks, uint64_t *n, refs_error *err);

void refs_array_get_stats(const refs_array *array, refs_array_stats *stats);

/* -- readers ----------------------------------------------------------------------------------- */

/** A repeated reader of an array: a dataset, a window on the screen. When its reads move on step by
 * step, other threads prefetch what comes next: at most half of the cache, shared among the readers
 * that prefetch. A read waits for its own requests and for those of its chunks that are already
 * requested, but for no other prefetching.
 *
 * A reader may be used from several threads at once, of which each goes on step by step for it; an
 * array may have any number of readers, which must be freed before it. */
typedef struct refs_reader refs_reader;

refs_status refs_reader_open(refs_array *array, refs_reader **reader, refs_error *err);
void refs_reader_free(refs_reader *reader);

/** Says that the reader reads nothing outside a region, whatever its steps: nothing else is
 * prefetched. Call it before the first read; without it, a reader may read all of the array. */
void refs_reader_limit(refs_reader *reader, const refs_region *region);

/** Receives the progress of a read and decides whether it goes on: `report` gets the share of
 * chunks delivered, from 0 to 1, on the reading thread, before the first wait and at least 10 times
 * a second while it waits for bytes. False ends the read with REFS_CANCELLED. NULL: no reports. */
typedef struct refs_progress {
    bool (*report)(void *user, double done);
    void *user;
} refs_progress;

/** Progress of a read that is made of parts, one after the other: each part reports to `progress`,
 * and what `whole` receives never falls. Must not be moved; `whole` may be NULL. */
typedef struct refs_progress_parts {
    refs_progress progress;
    const refs_progress *whole;
    double begin, share; /**< of the part that is being read, in the whole */
    double reached;
} refs_progress_parts;

void refs_progress_parts_init(refs_progress_parts *parts, const refs_progress *whole);

/** Begins the next part, or the first one, which is that share of the whole. */
void refs_progress_parts_next(refs_progress_parts *parts, double share);

/** Reads a region, as refs_array_read does. */
refs_status refs_reader_read(refs_reader *reader, const refs_region *region, void *dst,
                             const int64_t *stride, refs_error *err);

/** The destination of the elements of a read, and who watches it. */
typedef struct refs_read_target {
    void *dst;
    const int64_t *stride;         /**< as of refs_array_read */
    const refs_progress *progress; /**< for as long as the call takes; or NULL */
} refs_read_target;

/** The same, watched. */
refs_status refs_reader_read_to(refs_reader *reader, const refs_region *region,
                                const refs_read_target *target, refs_error *err);

/** Elements of an array, and where a read puts them. */
typedef struct refs_selection {
    refs_region region;           /**< counts, and where no index says otherwise, which elements */
    const uint64_t *const *index; /**< for each dimension `count` numbers that ascend (some may be
                                     equal), or NULL; NULL: none */
    void *dst;
    const int64_t *stride; /**< as of refs_array_read */
} refs_selection;

/** REFS_INVALID where a selection lists elements outside the array, or an index does not ascend;
 * also of an empty one, along the dimensions that have elements. Reads of empty ones do not ask. */
refs_status refs_array_check_selection(const refs_array_meta *meta, const refs_selection *selection,
                                       refs_error *err);

/** Reads `n` selections of one array, planned as one fetch: points that lie anywhere, or indices
 * along several dimensions (orthogonal: all combinations). Chunks that several need are read once
 * if they fit into the cache. At most 256 pieces of a mosaic are one plan. `progress` may be NULL;
 * nothing is prefetched. */
refs_status refs_array_read_selections(refs_array *array, const refs_selection *selections,
                                       size_t n, const refs_progress *progress, refs_error *err);

/** Loads all chunks of a region that is going to be read in small parts, planned as one fetch,
 * where they fit into half of the cache; else as refs_reader_advise. This is a hint: what does not
 * arrive is left to the reads. `progress` may be NULL. */
void refs_reader_load(refs_reader *reader, const refs_region *region,
                      const refs_progress *progress);

/** Says that all of a region is going to be read soon, part by part in the order of its elements:
 * its chunks are prefetched instead of those that earlier reads suggest. */
void refs_reader_advise(refs_reader *reader, const refs_region *region);

#ifdef __cplusplus
}
#endif
#endif
