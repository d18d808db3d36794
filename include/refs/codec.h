/* codec.h -- what bytes mean: the stored bytes of one chunk -> the bytes of its elements.
 *
 * A codec is one file of this module that exports one constant refs_codec_type; the build collects
 * them in a table. A chain is made once for an array, from the codecs in its metadata. It is
 * immutable and may be used from any number of threads: all working memory is in a refs_scratch,
 * which belongs to one thread at a time.
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

/** Default limit of a decoded chunk, in bytes. */
#define REFS_MAX_CHUNK_BYTES (1024 * REFS_MIB)

/** Most codecs in a chain: each may cost as much as decoding the whole chunk. */
#define REFS_MAX_CHAIN_STEPS 16

/** A chunk that decodes to more than REFS_MAX_CHEAP_BYTES must have more stored bytes than its
 * decoded size divided by REFS_MAX_EXPANSION: a smaller one is rejected as a decompression bomb.
 * Chunks of a single repeated value are smaller, but rarely decode to so much. */
#define REFS_MAX_CHEAP_BYTES (256 * REFS_MIB)
#define REFS_MAX_EXPANSION   4096

/** If no codec fixes the stored size, a chunk may have REFS_MAX_INFLATION times its decoded size
 * (numbers as strings need that) plus REFS_MAX_ENCODING_BYTES (headers, tables, colour profiles),
 * and at most REFS_MAX_CHUNK_BYTES plus REFS_MAX_ENCODING_BYTES. */
#define REFS_MAX_INFLATION      64
#define REFS_MAX_ENCODING_BYTES (16 * REFS_MIB)

/* -- one codec: for those who add one ---------------------------------------------------------- */

/** The destination of decoded bytes: memory of a known size, or a buffer that grows. */
struct refs_codec_output;

/** The arguments of opening a codec. */
typedef struct refs_codec_context {
    const char *id;                      /**< the name under which the metadata ask for it */
    const refs_json *config;             /**< its configuration; NULL or an object */
    const struct refs_chain_spec *array; /**< the array, by its metadata */
    size_t decoded_size;                 /**< expected bytes of the result; 0 if not known */
} refs_codec_context;

/** The functions of a codec file. */
typedef struct refs_codec_type {
    const char *name;           /**< numcodecs' id, "zlib" */
    const char *const *aliases; /**< other names, NULL-ended, or NULL */
    const char *reads;          /**< the encodings that it decodes, shown to users; NULL in builds
                                   that lack it */
    const char *library;        /**< the library that decodes, shown to users: "libdeflate",
                                   "REFS" */
    const char *missing;        /**< NULL, or the library that this build lacks: the functions below
                                   are then NULL */

    /** Reads the configuration into *self, initially NULL. If the decoded size determines the
     * stored size, sets *encoded_size, initially 0, to the stored bytes of context->decoded_size
     * decoded bytes. Unknown members of the configuration are ignored. NULL: there is nothing to
     * read. */
    refs_status (*open)(const refs_codec_context *context, void **self, size_t *encoded_size,
                        refs_error *err);

    /** Decodes `encoded` into `output`, which is empty, by the functions of output.h. The message
     * of a failure says what is wrong with the bytes, without naming the codec. */
    refs_status (*decode)(const void *self, refs_bytes encoded, struct refs_codec_output *output,
                          refs_error *err);

    /** Works like decode, in place, for codecs whose result has as many bytes as their input; this
     * saves a buffer. `spare` is working memory. May be NULL. */
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

/** A codec of a chain. Has the members of refs_codec_spec in zarr.h, on which this module must not
 * depend. */
typedef struct refs_chain_step {
    const char *id;
    const refs_json *config;
} refs_chain_step;

typedef struct refs_chain_spec {
    const refs_chain_step *steps; /**< in the order of encoding */
    size_t n_steps;
    uint32_t skipped;      /**< bit i: step i was not applied when the chunk was encoded */
    const char *dtype;     /**< NumPy type string of the array, "<f4"; "" when unknown */
    size_t element_size;   /**< bytes; 0 for objects of variable length */
    size_t n_elements;     /**< elements in a whole chunk */
    size_t rank;           /**< dimensions of a chunk, slowest first in its bytes … */
    const uint64_t *shape; /**< … and elements along each; NULL when unknown */
    const uint8_t *order;  /**< the array's dimension for each of these; NULL: the same order */
    const uint8_t *fill;   /**< an element that is absent, in the array's byte order; NULL: zero */
    size_t max_bytes;      /**< no step may give more; 0 is REFS_MAX_CHUNK_BYTES */
} refs_chain_spec;

typedef struct refs_chain refs_chain;

/** Working memory of one thread. Zeroed is empty. */
typedef struct refs_scratch {
    refs_buf buffers[2];
} refs_scratch;

void refs_scratch_clear(refs_scratch *scratch);

/** Returns its memory to the system until it is used again. */
void refs_scratch_forget(refs_scratch *scratch);

/** Makes a chain. REFS_UNSUPPORTED names a codec that is unknown or that this build lacks;
 * REFS_LIMIT: too many steps; REFS_CORRUPT: `skipped` has bits of steps that do not exist. */
refs_status refs_chain_open(const refs_chain_spec *spec, refs_chain **chain, refs_error *err);
void refs_chain_free(refs_chain *chain);

/** Decodes one chunk to exactly n_elements * element_size bytes at `dst`, in the array's own byte
 * order. REFS_CORRUPT if the bytes cannot be decoded or the size differs (the message has both
 * sizes). */
refs_status refs_chain_decode(const refs_chain *chain, refs_bytes encoded, refs_scratch *scratch,
                              uint8_t *dst, refs_error *err);

/** The decoded elements of a chunk. */
typedef struct refs_chain_output {
    uint8_t *elements; /**< the caller's: room for a whole chunk */
    size_t size;       /**< bytes that were decoded */
} refs_chain_output;

/** The same for a chunk that may lack its last elements, so that fewer bytes are no failure.
 * Callers check the size. */
refs_status refs_chain_decode_short(const refs_chain *chain, refs_bytes encoded,
                                    refs_scratch *scratch, refs_chain_output *output,
                                    refs_error *err);

/** The same for elements of variable length. *decoded is in a buffer of `scratch`, borrowed until
 * its next use. "vlen-utf8" and "vlen-bytes" return, and check, the framing of numcodecs: the
 * number of elements in four bytes, little-endian, then for each element its size in four bytes and
 * its bytes. */
refs_status refs_chain_decode_any(const refs_chain *chain, refs_bytes encoded,
                                  refs_scratch *scratch, refs_bytes *decoded, refs_error *err);

/** Takes the first element off what follows the number of elements; false if it is truncated. */
bool refs_vlen_next(refs_bytes *items, refs_bytes *item);

/** Appends NUL-ended strings as one chunk of "vlen-utf8". */
refs_status refs_vlen_encode(refs_str texts, refs_buf *encoded, refs_error *err);

/** The most stored bytes that can decode to a chunk: a larger value is not read. Exact if all
 * codecs fix the size. */
uint64_t refs_chain_max_encoded(const refs_chain *chain);

/** Whether the chain has no step: stored bytes are the elements. */
bool refs_chain_is_empty(const refs_chain *chain);

#ifdef __cplusplus
}
#endif
#endif
