/* record.h -- NumPy's structured types, as JSON lists of ["name", type] or ["name", type, shape].
 *
 * Read before this: output.h.
 */
#ifndef REFS_CODEC_RECORD_H
#define REFS_CODEC_RECORD_H

#include "output.h"

/** A field; its strings are borrowed from the list. */
typedef struct refs_field {
    refs_str name;
    refs_str type; /**< NumPy type string; empty if the field is a record itself */
    size_t begin;  /**< in bytes from the beginning of the record: fields are contiguous */
    size_t size;
} refs_field;

/** Reads field number `i`, which begins at *end, and sets *end to its end. REFS_UNSUPPORTED for
 * fields without a fixed size. */
refs_status refs_codec__read_field(const refs_json *fields, size_t i, size_t *end,
                                   refs_field *field, refs_error *err);

#endif
