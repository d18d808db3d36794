/* object_file.h -- writes files of a repository: a header, and a compressed flatbuffer. */
#ifndef REFS_REFERENCES_ICECHUNK_OBJECT_FILE_H
#define REFS_REFERENCES_ICECHUNK_OBJECT_FILE_H

#include "icechunk/file.h"
#include "icechunk/object_id.h"

/** Appends the content of a file with a flatbuffer, compressed by Zstandard if this build has
 * it. */
refs_status refs_icechunk__pack(refs_icechunk_file_type type, refs_bytes flatbuffer, refs_buf *file,
                                refs_error *err);

/** Writes a file "<folder>/<kind>/<id>", and creates the folder of its kind. *size is the size of
 * the file.
 */
typedef struct refs_object_file {
    const char *folder, *kind;
    const uint8_t *id;
    refs_icechunk_file_type type;
    uint64_t size;
} refs_object_file;

refs_status refs_icechunk__write_object(refs_object_file *object, refs_bytes flatbuffer,
                                        refs_error *err);

/** The same for uncompressed bytes: a chunk. */
refs_status refs_icechunk__write_plain(refs_object_file *object, refs_bytes bytes, refs_error *err);

/** Sets an id of `size` bytes to the beginning of the content's SHA-256. */
void refs_icechunk__id_of(refs_bytes content, uint8_t *id, size_t size);

#endif
