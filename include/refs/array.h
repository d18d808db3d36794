/* array.h -- region -> chunks -> bytes -> values -> the caller's buffer, and the chunk cache.
 *
 * The chunk grid of an array gives chunk keys, the store their bytes, and the codec chain their
 * values. All arrays and threads share one cache of decoded chunks, limited in bytes: a chunk that
 * spans many bands is fetched once and decoded once.
 *
 * Arrays are immutable and may be read from any number of threads at once.
 *
 * Read before this: store.h, zarr.h, codec.h.
 */
#ifndef REFS_ARRAY_H
#define REFS_ARRAY_H

#include "refs/bytes.h"
#include "refs/refset.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

struct refs_piece_list;
struct refs_pool;
struct refs_store;
struct refs_store_part;

/* -- keys -------------------------------------------------------------------------------------- */

/** The number of chunk keys of an array along each dimension, those of shards if it has such: all
 * keys lie below it. `n` has room for REFS_MAX_RANK. */
void refs_array_meta_n_keys(const refs_array_meta *array, uint64_t *n);

/** The keys of an array's chunks, which borrow from `array` and `n`. */
refs_chunk_keys refs_array_meta_keys(const refs_array_meta *array, uint64_t *n);

/** The index of the chunk that holds an element along a dimension. */
uint64_t refs_array_meta_chunk_of(const refs_array_meta *array, size_t dim, uint64_t element);

/** The elements of a chunk along a dimension: false where it lies outside the array. */
bool refs_array_meta_interval(const refs_array_meta *array, size_t dim, uint64_t chunk,
                              uint64_t *start, uint64_t *length);

/* -- the chunk cache --------------------------------------------------------------------------- */

/** Decoded chunks; the least recently used is dropped first. One lock; safe from any thread. */
typedef struct refs_cache refs_cache;

/** A cache of at most `max_bytes`; a larger chunk is used but not kept. There is one exception:
 * readers that read part of a chunk at a time, such as a line, keep the chunks of their last read
 * until the next one, at most 512 MiB in all, unless the cache has 0 bytes. */
refs_status refs_cache_open(size_t max_bytes, refs_cache **cache, refs_error *err);

/** Lets no reader keep chunks beyond `max_bytes`; one larger chunk is kept alone, until the next
 * one. Call it before the cache is used. */
void refs_cache_make_strict(refs_cache *cache);

/** Frees the cache; arrays that use it must be freed first. */
void refs_cache_free(refs_cache *cache);

/* -- arrays ------------------------------------------------------------------------------------ */

/** Counts since the array was opened. */
typedef struct refs_array_stats {
    uint64_t chunks_decoded; /**< stored bytes turned into values */
    uint64_t chunks_absent;  /**< filled, because the set has no such key */
    uint64_t cache_hits;     /**< chunks that needed neither */
    uint64_t bytes_copied;   /**< of values, from chunks to the caller's buffer; a chunk that is
                                decoded directly into that buffer counts 0 */
} refs_array_stats;

typedef struct refs_array refs_array;

/** The modules that arrays are read with; all of them must outlive the arrays. */
typedef struct refs_array_context {
    struct refs_store *store;
    refs_cache *cache;               /**< or NULL: nothing is kept */
    struct refs_pool *pool;          /**< decodes; NULL: the reading thread does */
    struct refs_pool *prefetch_pool; /**< its threads prefetch; NULL: nothing is prefetched */
    size_t max_chunk_bytes;          /**< largest decoded chunk; 0: REFS_MAX_CHUNK_BYTES */
    size_t max_ahead_bytes; /**< limit of prefetching where more than half of the cache arrives
                               within the time to first byte; 0: half of the cache */
} refs_array_context;

/** Opens an array for reading; `meta` must outlive it. An unknown codec only fails the first read.
 * REFS_LIMIT if a decoded chunk would be too large, or if there are more chunks than 63 bits can
 * number. */
refs_status refs_array_open(const refs_array_context *context, const refs_array_meta *meta,
                            refs_array **array, refs_error *err);
void refs_array_free(refs_array *array);

const refs_array_meta *refs_array_meta_of(const refs_array *array);

/* -- mosaics ----------------------------------------------------------------------------------- */

/** A region of a mosaic, and the elements of another array that give its values. */
typedef struct refs_piece {
    refs_array *array;    /**< or NULL: every element of the region is … */
    const uint8_t *value; /**< … this element, of the mosaic's type (for strings of variable length,
                             a NUL-ended string); NULL: the fill value */
    size_t rank; /**< of that array, or of the mosaic if there is none; one less if characters along
                    the last dimension form a string */
    uint64_t start[REFS_MAX_RANK]; /**< elements of that array, as in refs_region; the … */
    uint64_t count[REFS_MAX_RANK];
    int64_t step[REFS_MAX_RANK];
    int64_t stride[REFS_MAX_RANK]; /**< … next one along a dimension goes this many bytes after … */
    int64_t offset;                /**< … the first, which goes here, in bytes from the caller's
                                      first element */

    /** Converts `n` elements at `src` to the mosaic's type, at `dst`, both tightly packed and in
     * this machine's byte order; on any thread. NULL: no conversion is needed. */
    refs_status (*convert)(const void *user, const void *src, size_t n, void *dst, refs_error *err);
    const void *user;
    void *held; /**< belongs to the mosaic that listed the piece */
} refs_piece;

struct refs_region;

/** An array without chunks of its own, which consists of regions of other arrays. */
typedef struct refs_mosaic {
    void *self;

    /** Lists the pieces of a region, beginning with number `pieces->next`. `stride` is the
     * caller's, in bytes, for each dimension. The arrays of the pieces share fetcher, cache and
     * pool with the mosaic, and stay open until they are released. */
    refs_status (*gather)(void *self, const struct refs_region *region, const int64_t *stride,
                          struct refs_piece_list *pieces, refs_error *err);

    /** Begins to open the files that the pieces of a region need, without waiting. */
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

/** Opens a mosaic as an array: its chunks are the regions in which it is expected to be read; its
 * codecs are ignored. Everything below works as for other arrays, except refs_array_find_part,
 * which is REFS_UNSUPPORTED. Pieces with strings of variable length are read whole. */
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
 * so that reading them next makes no requests. This is a hint: chunks that cannot be fetched fail
 * when they are read; arrays that do not fit into the cache, and strings of variable length, are
 * not loaded. */
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

/** Whether elements are single characters that form strings along the last dimension, as in
 * netCDF-3. */
bool refs_array_has_letters(const refs_array_meta *meta);

/** Works like refs_array_read_strings, for at most `max_elements` such characters; a string ends at
 * its first NUL, and trailing blanks are dropped. */
refs_status refs_array_read_letters(refs_array *array, uint64_t max_elements, refs_buf *strings,
                                    refs_error *err);

/** Finds the part of its key's value (refs_chunk_key) that the chunk at `index` is: all of it, or
 * part of a shard, whose index may have to be read. REFS_NOT_FOUND: the chunk is absent. */
refs_status refs_array_find_part(refs_array *array, const uint64_t *index,
                                 struct refs_store_part *part, refs_error *err);

/** The origin of an element. Strings are borrowed for the call. */
typedef struct refs_array_source {
    const char *variable; /**< path of the array that contains it; for a mosaic, the piece's */
    const char *target;   /**< the name of the file of its chunk in messages; NULL: the chunk is
                             absent, or there is no piece, and the element is the fill value */
    bool is_inline;       /**< the chunk is in the set itself, which is the target */
    bool is_whole;        /**< the chunk is all of the target; `offset` and `length` are zero */
    uint64_t offset;      /**< bytes [offset, offset + length) of the target */
    uint64_t length;
} refs_array_source;

/** Calls `visit` with the source of the element at `element`, and returns what `visit` returns. It
 * does not read the chunk, but may read the index of its shard and, for a mosaic, the metadata of
 * the fragment's file.
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

/** One client that reads an array repeatedly: a dataset, a window on the screen. If its reads
 * advance by a constant stride, other threads prefetch the next regions: at most half of the cache,
 * shared among the readers that prefetch. A read waits for its own requests and for those that
 * prefetch its chunks, but for no other prefetching.
 *
 * A reader may be used from several threads at once; strides are detected for each thread. An array
 * may have any number of readers, which must be freed before it. */
typedef struct refs_reader refs_reader;

refs_status refs_reader_open(refs_array *array, refs_reader **reader, refs_error *err);
void refs_reader_free(refs_reader *reader);

/** Promises that the reader reads nothing outside a region, so that nothing else is prefetched.
 * Call it before the first read; without it, a reader may read all of the array. */
void refs_reader_limit(refs_reader *reader, const refs_region *region);

/** Receives the progress of a read and decides whether it goes on: `report` gets the share of
 * chunks delivered, from 0 to 1, on the reading thread, before the first wait and at least 10 times
 * a second while it waits for bytes. False ends the read with REFS_CANCELLED. NULL: no reports. */
typedef struct refs_progress {
    bool (*report)(void *user, double done);
    void *user;
} refs_progress;

/** Progress of a read in several parts, one after the other: each part reports to `progress`, and
 * the share reported to `whole` never decreases. Must not be moved; `whole` may be NULL. */
typedef struct refs_progress_parts {
    refs_progress progress;
    const refs_progress *whole;
    double begin, share; /**< of the current part, in the whole */
    double reached;
} refs_progress_parts;

void refs_progress_parts_init(refs_progress_parts *parts, const refs_progress *whole);

/** Begins the next part, or the first one; `share` is its share of the whole. */
void refs_progress_parts_next(refs_progress_parts *parts, double share);

/** Reads a region, as refs_array_read does. */
refs_status refs_reader_read(refs_reader *reader, const refs_region *region, void *dst,
                             const int64_t *stride, refs_error *err);

/** The destination of a read, and its progress callback. */
typedef struct refs_read_target {
    void *dst;
    const int64_t *stride;         /**< as in refs_array_read */
    const refs_progress *progress; /**< for the duration of the call; or NULL */
} refs_read_target;

/** The same, with progress reports. */
refs_status refs_reader_read_to(refs_reader *reader, const refs_region *region,
                                const refs_read_target *target, refs_error *err);

/** Elements of an array, and their destination. */
typedef struct refs_selection {
    refs_region region;           /**< counts, and the elements along dimensions without an index */
    const uint64_t *const *index; /**< for each dimension, `count` ascending indices (some may be
                                     equal), or NULL; NULL: no dimension has one */
    void *dst;
    const int64_t *stride; /**< as in refs_array_read */
} refs_selection;

/** REFS_INVALID if a selection has elements outside the array, or an index does not ascend; in an
 * empty selection too, along the dimensions that have elements. Reads of empty selections do not
 * check this. */
refs_status refs_array_check_selection(const refs_array_meta *meta, const refs_selection *selection,
                                       refs_error *err);

/** Reads `n` selections of one array, planned as one fetch: points that lie anywhere, or indices
 * along several dimensions (orthogonal: all combinations). Chunks that several need are read once
 * if they fit into the cache. At most 256 pieces of a mosaic are one plan. `progress` may be NULL;
 * nothing is prefetched. */
refs_status refs_array_read_selections(refs_array *array, const refs_selection *selections,
                                       size_t n, const refs_progress *progress, refs_error *err);

/** Loads all chunks of a region that is going to be read in small parts, planned as one fetch, if
 * they fit into half of the cache; else works like refs_reader_advise. This is a hint: chunks that
 * cannot be fetched fail when they are read. `progress` may be NULL. */
void refs_reader_load(refs_reader *reader, const refs_region *region,
                      const refs_progress *progress);

/** Announces that all of a region is going to be read soon, part by part in the order of its
 * elements: its chunks are prefetched instead of those that earlier reads suggest. */
void refs_reader_advise(refs_reader *reader, const refs_region *region);

#ifdef __cplusplus
}
#endif
#endif
