/* numbers.h -- conversion of bytes to numbers and back, for codecs that compute.
 *
 * Such a codec converts numbers of one type to as many of another. It works on blocks of 64-bit
 * integers or doubles, so that one loop serves all types in its configuration:
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

/** Parses a NumPy type string, "<f4", or type name, "float32"; booleans are unsigned bytes. Without
 * a byte order, numbers are little-endian. REFS_UNSUPPORTED names any other type. */
refs_status refs_codec__number_parse(refs_str text, refs_number_type *type, refs_error *err);

/** The nearest number that a float type can represent; `number` itself for integer types. */
double refs_codec__round(const refs_number_type *type, double number);

/** Write one number at `at`, converted like refs_codec__put_ints and refs_codec__put_doubles. */
void refs_codec__store_uint(const refs_number_type *type, uint64_t number, uint8_t *at);
void refs_codec__store_double(const refs_number_type *type, double number, uint8_t *at);

/** The types of a conversion. */
typedef struct refs_recast {
    refs_number_type encoded;
    refs_number_type decoded;
} refs_recast;

/** Names of the configuration's members that hold the types: of decoded numbers (default: the
 * array's type) and of encoded ones (default: the decoded type). */
typedef struct refs_recast_members {
    const char *decoded;
    const char *encoded;
} refs_recast_members;

/** The names in numcodecs. */
#define REFS_RECAST_MEMBERS_INIT                                                                   \
    { "dtype", "astype" }

/** Reads the types from these members. Sets *encoded_size. */
refs_status refs_codec__recast_open(const refs_codec_context *context,
                                    const refs_recast_members *members, refs_recast *recast,
                                    size_t *encoded_size, refs_error *err);

/** Most numbers in a block. */
#define REFS_NUMBER_BLOCK 256

/** The progress of one decoding. */
typedef struct refs_recast_pass {
    const refs_recast *types;
    const uint8_t *src;
    uint8_t *dst;
    size_t n_left;
} refs_recast_pass;

/** Begins to decode: REFS_CORRUPT if `encoded` is not a whole number of elements. */
refs_status refs_codec__recast_begin(const refs_recast *types, refs_bytes encoded,
                                     refs_codec_output *output, refs_recast_pass *pass,
                                     refs_error *err);

/** Read the next block and return the number of its numbers, 0 at the end. Conversion to integers
 * is modulo 2^64, and truncates floats. */
size_t refs_codec__take_ints(refs_recast_pass *pass, uint64_t *numbers);
size_t refs_codec__take_doubles(refs_recast_pass *pass, double *numbers);

/** Write a block. Doubles are truncated to integers; out of range, they become the nearest limit,
 * and NaN becomes zero. Integers keep their low bytes. */
void refs_codec__put_ints(refs_recast_pass *pass, const uint64_t *numbers, size_t n);
void refs_codec__put_doubles(refs_recast_pass *pass, const double *numbers, size_t n);

/** refs_codec_type.open of a codec whose only state is a refs_recast, with the members of
 * numcodecs. */
refs_status refs_codec__recast_open_codec(const refs_codec_context *context, void **self,
                                          size_t *encoded_size, refs_error *err);

/** Decodes by casting alone; `self` is a refs_recast. */
refs_status refs_codec__recast(const void *self, refs_bytes encoded, refs_codec_output *output,
                               refs_error *err);

#endif
