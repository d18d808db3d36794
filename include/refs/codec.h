/* codec.h -- what bytes mean: the stored bytes of one chunk -> the bytes of its elements.
 *
 * A codec is one file of this module that exports one constant refs_codec_type;
 * the build gathers them in a table. A chain is made once for an array from
 * the codec specs in its metadata, is immutable afterwards and may be used
 * from any number of threads: all working memory is a refs_scratch, which
 * belongs to one thread at a time.
 *
 * Codecs see bytes only. Those that compute on numbers (delta, fixed scale)
 * carry their own element types in their configuration, as numcodecs has it.
 *
 * Read before this: bytes.h, json.h.   Read after this: array.h.
 */
#ifndef REFS_CODEC_H
#define REFS_CODEC_H

#include "refs/bytes.h"
#include "refs/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest decoded chunk, in bytes, unless the caller says otherwise. */
#define REFS_MAX_CHUNK_BYTES (1024 * REFS_MIB)

/** Most steps of a chain: each may cost as much as decoding the whole chunk does. */
#define REFS_MAX_CHAIN_STEPS 16

/** A chunk that decodes to more bytes than the first of these must be stored in more than its
 * decoded size divided by the second: anything smaller is taken for a decompression bomb. Chunks of
 * a single repeated value are stored in less, but are rarely so large. */
#define REFS_MAX_CHEAP_BYTES (256 * REFS_MIB)
#define REFS_MAX_EXPANSION   4096

/** If no codec fixes the stored size, a chunk may take this many times as many bytes stored as
 * decoded (numbers as strings do), plus this many bytes (headers, tables, colour profiles); in all
 * no more than REFS_MAX_CHUNK_BYTES plus these bytes. */
#define REFS_MAX_INFLATION      64
#define REFS_MAX_ENCODING_BYTES (16 * REFS_MIB)

/* -- one codec: for those who add one ---------------------------------------------------------- */

/** The destination of decoded bytes: memory of a known size, or a buffer that grows. */
struct refs_codec_output;

/** The arguments of opening a codec. */
typedef struct refs_codec_context {
    const char *id;                      /**< the name under which the metadata ask for it */
    const refs_json *config;             /**< its configuration; NULL or an object */
    const struct refs_chain_spec *array; /**< what the metadata say about the array */
    size_t decoded_size; /**< bytes that decoding must give; 0 when that is not known */
} refs_codec_context;

/** The functions of a codec file. */
typedef struct refs_codec_type {
    const char *name;           /**< numcodecs' id, "zlib" */
    const char *const *aliases; /**< other names, NULL-ended, or NULL */
    const char *reads;          /**< what it decodes, for people; NULL in builds that lack it */
    const char *library;        /**< what does the work, for people: "libdeflate", "REFS" */
    const char *missing;        /**< NULL, or the library that this build lacks: all calls below
                                     are then NULL */

    /** Reads the configuration into *self, initially NULL. If the codec fixes it, sets
     * *encoded_size, initially 0, to the number of stored bytes that give context->decoded_size
     * decoded bytes. Unknown members of the configuration are ignored. NULL: there is nothing to
     * read. */
    refs_status (*open)(const refs_codec_context *context, void **self, size_t *encoded_size,
                        refs_error *err);

    /** Puts the decoded bytes of `encoded` into `output`, which is empty: the module's output.h
     * declares the calls for that, and says what they do when the size is known and when it is not.
     * A message says what is wrong with the bytes, without naming the codec. */
    refs_status (*decode)(const void *self, refs_bytes encoded, struct refs_codec_output *output,
                          refs_error *err);

    /** Works like decode, for codecs that turn `size` bytes into as many: it changes them in place.
     * `spare` is working memory; a chain needs less of it this way. May be NULL. */
    refs_status (*decode_in_place)(const void *self, uint8_t *data, size_t size, refs_buf *spare,
                                   refs_error *err);

    /** Frees *self; NULL when there is nothing to free. */
    void (*close)(void *self);
} refs_codec_type;

/** Codec number `i` of this build's table, including those whose library is missing; NULL past the
 * end. */
const refs_codec_type *refs_codec_at(size_t i);

/** The codec called `id`, or NULL; Zarr v3 has numcodecs' names with "numcodecs." before them. */
const refs_codec_type *refs_codec_find(refs_str id);

/* -- a chain of them --------------------------------------------------------------------------- */

/** A codec to undo; the same as in zarr.h, which this module does not enter. */
typedef struct refs_chain_step {
    const char *id;
    const refs_json *config;
} refs_chain_step;

typedef struct refs_chain_spec {
    const refs_chain_step *steps; /**< in the order of encoding */
    size_t n_steps;
    uint32_t skipped;      /**< bit i: step i was not taken when the chunk was encoded */
    const char *dtype;     /**< NumPy type string of the array, "<f4"; "" when unknown */
    size_t element_size;   /**< bytes; 0 for objects of variable length */
    size_t n_elements;     /**< elements in a whole chunk */
    size_t rank;           /**< dimensions of a chunk, slowest first as they lie in its bytes … */
    const uint64_t *shape; /**< … and elements along each; NULL when unknown */
    const uint8_t *order;  /**< the array's dimension that each of these is; NULL: the same */
    const uint8_t *fill;   /**< an element that is absent, in the array's byte order; NULL: zero */
    size_t max_bytes;      /**< no step may give more; 0 is REFS_MAX_CHUNK_BYTES */
} refs_chain_spec;

typedef struct refs_chain refs_chain;

/** Working memory of one thread. Zeroed is empty. */
typedef struct refs_scratch {
    refs_buf buffers[2];
} refs_scratch;

void refs_scratch_clear(refs_scratch *scratch);

/** Gives its content back to the system: it takes little memory until it is used again. */
void refs_scratch_forget(refs_scratch *scratch);

/** Makes a chain. REFS_UNSUPPORTED names a codec that is unknown or that this build lacks;
 * REFS_LIMIT means that there are too many, REFS_CORRUPT that steps are to be skipped that do not
 * exist. */
refs_status refs_chain_open(const refs_chain_spec *spec, refs_chain **chain, refs_error *err);
void refs_chain_free(refs_chain *chain);

/** Decodes one chunk: exactly n_elements * element_size bytes to `dst`, in the array's own byte
 * order. REFS_CORRUPT where the bytes cannot be decoded or the size differs (both are named). */
refs_status refs_chain_decode(const refs_chain *chain, refs_bytes encoded, refs_scratch *scratch,
                              uint8_t *dst, refs_error *err);

/** Elements that were decoded. */
typedef struct refs_chain_output {
    uint8_t *elements; /**< the caller's: room for a whole chunk */
    size_t size;       /**< bytes that were decoded */
} refs_chain_output;

/** The same for a chunk that may lack its last elements: gives at most as many bytes. Callers know
 * which sizes make sense. */
refs_status refs_chain_decode_short(const refs_chain *chain, refs_bytes encoded,
                                    refs_scratch *scratch, refs_chain_output *output,
                                    refs_error *err);

/** The same for elements of variable length: whatever comes out, in a buffer of `scratch`, borrowed
 * until its next use. "vlen-utf8" and "vlen-bytes" give their elements as numcodecs frames them,
 * and check that: the number of elements in four bytes, little-endian, then the size of each in
 * four bytes and its bytes. */
refs_status refs_chain_decode_any(const refs_chain *chain, refs_bytes encoded,
                                  refs_scratch *scratch, refs_bytes *decoded, refs_error *err);

/** The most stored bytes that can decode to a chunk: anything larger need not be read. Exact if all
 * codecs fix the size. */
uint64_t refs_chain_max_encoded(const refs_chain *chain);

/** Whether the chain has no step: stored bytes are the elements. */
bool refs_chain_is_empty(const refs_chain *chain);

#ifdef __cplusplus
}
#endif
#endif
