/* file.h -- metadata files of a repository: a header, followed by a flatbuffer.
 *
 * Source: the Icechunk specification, "Binary File Format": 12 bytes of magic, 24 of the writer's
 * name, the version of the specification, the type of the file, the compression of the rest.
 */
#ifndef REFS_REFERENCES_ICECHUNK_FILE_H
#define REFS_REFERENCES_ICECHUNK_FILE_H

#include "icechunk/icechunk.h"

#define REFS_ICECHUNK_HEADER 39

typedef enum refs_icechunk_file_type {
    REFS_ICECHUNK_SNAPSHOT = 1,
    REFS_ICECHUNK_MANIFEST = 2,
    REFS_ICECHUNK_LOG = 4,
    REFS_ICECHUNK_REPO = 6
} refs_icechunk_file_type;

/** A file to read. */
typedef struct refs_icechunk_file {
    const char *location;
    refs_icechunk_file_type type;
    uint64_t size; /**< output: its stored size in bytes */
} refs_icechunk_file;

/** Appends the flatbuffer in a file. REFS_NOT_FOUND: there is no such file, or a file of type REPO
 * has another signature, and is something else. REFS_UNSUPPORTED: a later version, or another
 * compression. Failures name the location. */
refs_status refs_icechunk__file_read(const refs_icechunk_source *source, refs_icechunk_file *which,
                                     refs_buf *buffer, refs_error *err);

#endif
