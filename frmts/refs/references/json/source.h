/* source.h -- a JSON document, which may be compressed, read in parts by a vfs.
 */
#ifndef REFS_REFERENCES_JSON_SOURCE_H
#define REFS_REFERENCES_JSON_SOURCE_H

#include "refs/vfs.h"
#include "unpack.h"

typedef struct refs_json_source {
    const refs_vfs *vfs;
    void *handle;
    uint64_t offset;
    uint64_t max_unpacked;   /**< limit of the unpacked size of a compressed document */
    refs_unpacker *unpacker; /**< NULL if it is not compressed */
} refs_json_source;

refs_status refs_references__json_source_open(const refs_vfs *vfs, const char *location,
                                              refs_json_source *source, refs_error *err);
void refs_references__json_source_clear(refs_json_source *source);

/** Opens a reader at the beginning of the document; frees the previous one in `*reader`. */
refs_status refs_references__json_source_read(refs_json_source *source, size_t max_token,
                                              refs_json_reader **reader, refs_error *err);

#endif
