/* json_set.h -- reads one reference set in JSON, versions 0 and 1, in one pass.
 *
 * A document may have its version at the end. The reader infers it from the first members; if a
 * later member contradicts that, the document must be read again with the version found.
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

/** Reads the set whose object `reader` has entered into `builder`. *version is the known version,
 * or UNKNOWN; if the call changes it, discard the builder and read the set again with the new
 * version. */
refs_status refs_references__json_set_read(refs_json_reader *reader, refs_json_version *version,
                                           refs_set_builder *builder, refs_error *err);

#endif
