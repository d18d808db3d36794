/* object_id.h -- names of the objects of a repository: 12 bytes, 20 characters in paths.
 *
 * Source: the Icechunk specification, "Common Types": base 32 in Crockford's
 * alphabet, upper case, no padding, zero bits on the right.
 */
#ifndef REFS_REFERENCES_ICECHUNK_OBJECT_ID_H
#define REFS_REFERENCES_ICECHUNK_OBJECT_ID_H

#include "refs/bytes.h"

#define REFS_OBJECT_ID_SIZE 12
#define REFS_OBJECT_ID_TEXT 20

typedef struct refs_object_id {
    uint8_t bytes[REFS_OBJECT_ID_SIZE];
} refs_object_id;

/** Writes the characters and a NUL. */
void refs_icechunk__id_format(const uint8_t *id, char text[REFS_OBJECT_ID_TEXT + 1]);

/** Parses them in any case, and reads O as 0, I and L as 1; false for anything else. */
bool refs_icechunk__id_parse(refs_str text, refs_object_id *id);

/** Parses a user's ID: the message of REFS_INVALID describes the syntax. Does not check that the
 * snapshot exists, since expired ones may still do. */
refs_status refs_icechunk__snapshot_parse(const char *text, refs_object_id *id, refs_error *err);

#endif
