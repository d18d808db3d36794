/* flexbuffer.h -- maps, vectors and strings of a flexbuffer: flatbuffers without a schema.
 *
 * Source: https://flatbuffers.dev/flatbuffers_internals/#flexbuffers. Supports what reading the
 * configuration of a repository needs: finding values by the names of members. Offsets point
 * backward, so following them terminates. All views borrow from the buffer; failures are
 * REFS_CORRUPT.
 */
#ifndef REFS_REFERENCES_ICECHUNK_FLEXBUFFER_H
#define REFS_REFERENCES_ICECHUNK_FLEXBUFFER_H

#include "refs/bytes.h"

/** A value; zeroed is null. */
typedef struct refs_flex_value {
    refs_bytes buffer;
    size_t at;          /**< position of the value, or of its offset */
    unsigned width;     /**< bytes of the value or offset */
    unsigned type;      /**< type number of flexbuffers */
    unsigned own_width; /**< bytes of numbers in its target */
} refs_flex_value;

refs_status refs_icechunk__flex_root(refs_bytes buffer, refs_flex_value *root, refs_error *err);

/** The number of members or elements of a map or vector; 0 for other types. */
refs_status refs_icechunk__flex_size(const refs_flex_value *value, size_t *n, refs_error *err);

/** Value `i` of a map or vector; must be below its size. */
refs_status refs_icechunk__flex_at(const refs_flex_value *value, size_t i, refs_flex_value *element,
                                   refs_error *err);

/** The name of member `i` of a map; "" for other types. Must be below its size. */
refs_status refs_icechunk__flex_name_at(const refs_flex_value *map, size_t i, refs_str *name,
                                        refs_error *err);

/** The value of a member of a map; null if there is none, or for other types. */
refs_status refs_icechunk__flex_get(const refs_flex_value *map, const char *name,
                                    refs_flex_value *member, refs_error *err);

/** The text of a string; no data for other types. */
refs_status refs_icechunk__flex_string(const refs_flex_value *value, refs_str *text,
                                       refs_error *err);

#endif
