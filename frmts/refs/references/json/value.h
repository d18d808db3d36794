/* value.h -- reads references from JSON values. */
#ifndef REFS_REFERENCES_JSON_VALUE_H
#define REFS_REFERENCES_JSON_VALUE_H

#include "builder.h"
#include "refs/json.h"

/** Reads values one after the other. Set up by zeroing, `reader` and `builder`. */
typedef struct refs_json_value_reader {
    refs_json_reader *reader;
    refs_set_builder *builder;
    refs_buf scratch;
    refs_error problem;    /**< why the current value is unusable */
    uint64_t n_fractional; /**< offsets and lengths that were written as 1.0 */
    uint64_t n_unpadded;   /**< strings in base64 that lack "=" at their end */
} refs_json_value_reader;

void refs_references__json_value_clear(refs_json_value_reader *values);

/** Reads the reference of `key`, up to the end of its value. An invalid value only makes its key
 * fail, with its position in the message; the call only fails if the document is invalid or too
 * large. */
refs_status refs_references__json_value_read(refs_json_value_reader *values, refs_str key,
                                             refs_error *err);

#endif
