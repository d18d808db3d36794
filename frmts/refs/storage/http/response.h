/* response.h -- the header of a response. Pure functions of its lines. */
#ifndef REFS_STORAGE_HTTP_RESPONSE_H
#define REFS_STORAGE_HTTP_RESPONSE_H

#include "refs/vfs.h"

typedef struct refs_response {
    bool has_range;
    uint64_t range_begin, range_end; /**< [begin, end), from Content-Range */
    bool encoded;                    /**< a Content-Encoding other than identity */
    bool multipart;                  /**< several ranges in one body */
    bool is_page;                    /**< an HTML page */
    uint64_t retry_after_ms;
    int64_t date_s;  /**< the Date header; 0: absent */
    char region[32]; /**< of the bucket, from S3's header; "": absent */
    refs_vfs_validators validators;
} refs_response;

/** Parses one header line, with or without its line end. A status line begins a new response, after
 * a redirect or an interim response. The empty line ends it. */
void refs_response__line(refs_response *response, refs_str line);

/** The content of the first XML element `name` in a body, such as the error code of an object
 * store, if it consists of letters, digits, '-', '_' and '.'; else "". At most `size` bytes with
 * the NUL. */
void refs_response__element(refs_str body, const char *name, char *content, size_t size);

#endif
