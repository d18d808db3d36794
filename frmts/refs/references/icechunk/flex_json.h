/* flex_json.h -- converts flexbuffers to JSON and back: the configuration of a repository.
 *
 * Source: https://flatbuffers.dev/flatbuffers_internals/#flexbuffers.
 */
#ifndef REFS_REFERENCES_ICECHUNK_FLEX_JSON_H
#define REFS_REFERENCES_ICECHUNK_FLEX_JSON_H

#include "icechunk/flexbuffer.h"
#include "refs/json.h"

/** Appends a value as JSON. REFS_UNSUPPORTED: its type does not occur in configurations. */
refs_status refs_icechunk__flex_to_json(const refs_flex_value *value, refs_buf *json,
                                        refs_error *err);

/** Sets `flex` to the flexbuffer of a value. */
refs_status refs_icechunk__flex_from_json(const refs_json *value, refs_buf *flex, refs_error *err);

#endif
