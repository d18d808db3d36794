/* json_oracle.h -- jansson as the oracle of the JSON reader (decision 2). */
#ifndef REFS_JSON_ORACLE_H
#define REFS_JSON_ORACLE_H

#include "refs/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the reader makes of `text` against what jansson makes of it: what jansson accepts has the
 * same values, and what it refuses is refused, but for what json.h adds to JSON. NULL where that
 * holds, else what does not. Always NULL in a build without jansson. */
const char *json_oracle_difference(refs_str text);

/** Whether jansson is there and accepts `text`. */
bool json_oracle_accepts(refs_str text);

#ifdef __cplusplus
}
#endif
#endif
