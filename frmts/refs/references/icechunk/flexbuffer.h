/* flexbuffer.h -- maps, vectors and strings of a flexbuffer: flatbuffers without a schema.
 *
 * Source: https://flatbuffers.dev/flatbuffers_internals/#flexbuffers. Only what
 * the configuration of a repository is looked through for: values are found by
 * the names of their members. Offsets lead backward, so that whoever follows
 * them ends. All views borrow from the buffer; failures are REFS_CORRUPT.
 */
#ifndef REFS_REFERENCES_ICECHUNK_FLEXBUFFER_H
#define REFS_REFERENCES_ICECHUNK_FLEXBUFFER_H

#include "refs/bytes.h"

/** A value; zeroed is null. */
typedef struct refs_flex_value {
    refs_bytes buffer;
    size_t at;          /**< where it is, or its offset */
    unsigned width;     /**< bytes of that */
    unsigned type;      /**< as flexbuffers number them */
    unsigned own_width; /**< bytes of numbers in what it leads to */
} refs_flex_value;

refs_status refs_icechunk__flex_root(refs_bytes buffer, refs_flex_value *root, refs_error *err);

/** How many members or elements a map or vector has; 0 of anything else. */
refs_status refs_icechunk__flex_size(const refs_flex_value *value, size_t *n, refs_error *err);

/** Value `i` of a map or vector of so many. */
refs_status refs_icechunk__flex_at(const refs_flex_value *value, size_t i, refs_flex_value *element,
                                   refs_error *err);

/** The name of member `i` of a map of so many; "" of anything else. */
refs_status refs_icechunk__flex_name_at(const refs_flex_value *map, size_t i, refs_str *name,
                                        refs_error *err);

/** The value of a member of a map; null where there is none, or it is not a map. */
refs_status refs_icechunk__flex_get(const refs_flex_value *map, const char *name,
                                    refs_flex_value *member, refs_error *err);

/** The text of a string; no data of anything else. */
refs_status refs_icechunk__flex_string(const refs_flex_value *value, refs_str *text,
                                       refs_error *err);

#endif
