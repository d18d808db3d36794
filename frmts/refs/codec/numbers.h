/* numbers.h -- bytes as numbers, for codecs that compute.
 *
 * Such a codec turns numbers of one type into as many of another. It works on
 * blocks of them, as 64-bit integers or as doubles, so that it is one loop
 * whatever the types in its configuration are:
 *
 *     while ((n = refs_codec__take_doubles(&pass, numbers)) > 0) {
 *         ... compute numbers[0, n) ...
 *         refs_codec__put_doubles(&pass, numbers, n);
 *     }
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_NUMBERS_H
#define REFS_CODEC_NUMBERS_H

#include "output.h"

typedef enum refs_number_kind {
    REFS_NUMBER_INT,
    REFS_NUMBER_UINT,
    REFS_NUMBER_FLOAT
} refs_number_kind;

/** How one number is stored. */
typedef struct refs_number_type {
    refs_number_kind kind;
    size_t size;  /**< 1, 2, 4 or 8 bytes; floats have at least 2 */
    bool swapped; /**< not in this machine's byte order */
} refs_number_type;

/** Reads a NumPy type string, "<f4", or type name, "float32"; booleans are unsigned bytes. Without
 * an order, which is that of the machine that wrote, numbers are little-endian. REFS_UNSUPPORTED
 * names any other. */
refs_status refs_codec__number_parse(refs_str text, refs_number_type *type, refs_error *err);

/** The nearest number that a float type holds; `number` itself for integer types. */
double refs_codec__round(const refs_number_type *type, double number);

/** Write one number at `at`, as refs_codec__put_ints and refs_codec__put_doubles do; an integer as
 * such, whatever the type. */
void refs_codec__store_uint(const refs_number_type *type, uint64_t number, uint8_t *at);
void refs_codec__store_double(const refs_number_type *type, double number, uint8_t *at);

/** Which type is turned into which. */
typedef struct refs_recast {
    refs_number_type encoded;
    refs_number_type decoded;
} refs_recast;

/** Names of the members of a configuration that hold the types: that of decoded numbers (where
 * there is none, the array's type) and of encoded ones (where there is none, the same). */
typedef struct refs_recast_members {
    const char *decoded;
    const char *encoded;
} refs_recast_members;

/** Those of numcodecs. */
#define REFS_RECAST_MEMBERS_INIT                                                                   \
    { "dtype", "astype" }

/** Reads the types from these members. Sets *encoded_size. */
refs_status refs_codec__recast_open(const refs_codec_context *context,
                                    const refs_recast_members *members, refs_recast *recast,
                                    size_t *encoded_size, refs_error *err);

/** Most numbers in a block. */
#define REFS_NUMBER_BLOCK 256

/** One decoding: what is left to take and where to put it. */
typedef struct refs_recast_pass {
    const refs_recast *types;
    const uint8_t *src;
    uint8_t *dst;
    size_t n_left;
} refs_recast_pass;

/** Begins to decode: REFS_CORRUPT where `encoded` is not a whole number of elements. */
refs_status refs_codec__recast_begin(const refs_recast *types, refs_bytes encoded,
                                     refs_codec_output *output, refs_recast_pass *pass,
                                     refs_error *err);

/** Takes the next block and returns how many numbers it has, 0 at the end. Converts to integers
 * modulo 2^64, and drops the fraction of floats. */
size_t refs_codec__take_ints(refs_recast_pass *pass, uint64_t *numbers);
size_t refs_codec__take_doubles(refs_recast_pass *pass, double *numbers);

/** Puts a block. Doubles become integers towards zero, those out of range the nearest limit and
 * NaN zero; integers are cut to their size. */
void refs_codec__put_ints(refs_recast_pass *pass, const uint64_t *numbers, size_t n);
void refs_codec__put_doubles(refs_recast_pass *pass, const double *numbers, size_t n);

/** Opens a codec of whose state a refs_recast is all, which the members of numcodecs name. */
refs_status refs_codec__recast_open_codec(const refs_codec_context *context, void **self,
                                          size_t *encoded_size, refs_error *err);

/** Decodes by casting alone; `self` is a refs_recast. */
refs_status refs_codec__recast(const void *self, refs_bytes encoded, refs_codec_output *output,
                               refs_error *err);

#endif
