/* json_set.h -- one reference set in JSON, versions 0 and 1, read in one go.
 *
 * A document may say its version last. The reader assumes one by the first
 * members that tell; where a later member refutes that, reading ends early or
 * in vain and has to be done again with what is known then.
 */
#ifndef REFS_REFERENCES_JSON_JSON_SET_H
#define REFS_REFERENCES_JSON_JSON_SET_H

#include "refs/json.h"
#include "refs/refset.h"

typedef enum refs_json_version {
    REFS_JSON_VERSION_UNKNOWN,
    REFS_JSON_VERSION_0, /**< the object is a map of references */
    REFS_JSON_VERSION_1  /**< members "refs", "templates", "gen" */
} refs_json_version;

/** Reads the set whose object `reader` has entered into `builder`. *version is what is known, or
 * UNKNOWN; where it is another afterwards, the builder holds rubbish and the set must be read
 * again with it. */
refs_status refs_references__json_set_read(refs_json_reader *reader, refs_json_version *version,
                                           refs_set_builder *builder, refs_error *err);

#endif
