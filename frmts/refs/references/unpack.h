/* unpack.h -- streaming decompression of documents.
 *
 * JSON sets are often stored as .json.gz or .json.zst. The format is detected by the first bytes,
 * never by the name. Memory is bounded by one part and the window of the compression format.
 */
#ifndef REFS_REFERENCES_UNPACK_H
#define REFS_REFERENCES_UNPACK_H

#include "refs/json.h"

/** Number of first bytes by which a compressed document is detected. */
#define REFS_UNPACK_HEAD 4

/** The state of one step of decompression. */
typedef struct refs_unpack_step {
    refs_bytes in; /**< the rest of the input; the step advances it */
    uint8_t *out;  /**< the output; the step advances both */
    size_t room;
    bool ended; /**< a member or frame is complete; others may follow */
} refs_unpack_step;

/** A compression format. */
typedef struct refs_packing {
    void *(*open)(void); /**< NULL without memory */
    refs_status (*step)(void *stream, refs_unpack_step *step, refs_error *err);
    void (*close)(void *stream);
} refs_packing;

extern const refs_packing refs_references__gzip;

/** An argument of zlib: the largest window, with a header as gzip has. */
#define REFS_GZIP_WINDOW_BITS (15 + 16)

/** A z_stream that is not begun, whose memory REFS has; NULL without memory. */
void *refs_references__zlib_stream(void);

extern const refs_packing refs_references__zstd;

/** Whether a document that begins with `head` is compressed. */
bool refs_references__is_packed(refs_bytes head);

typedef struct refs_unpacker refs_unpacker;

/** Unpacks the document whose parts `refill` delivers and which begins with `head`.
 * REFS_UNSUPPORTED where the build lacks the library. */
refs_status refs_references__unpacker_open(refs_bytes head, refs_json_refill refill, void *user,
                                           refs_unpacker **unpacker, refs_error *err);
void refs_references__unpacker_free(refs_unpacker *unpacker);

/** Limits the unpacked size of a document (REFS_LIMIT). */
void refs_references__unpacker_limit(refs_unpacker *unpacker, uint64_t max_bytes);

/** A refs_json_refill of the unpacked text; `unpacker` is a refs_unpacker. */
refs_status refs_references__unpacker_refill(void *unpacker, uint8_t *dst, size_t capacity,
                                             size_t *got, refs_error *err);

#endif
