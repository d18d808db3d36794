/* response.h -- what a response says before its body. Pure functions of its header lines. */
#ifndef REFS_STORAGE_HTTP_RESPONSE_H
#define REFS_STORAGE_HTTP_RESPONSE_H

#include "refs/vfs.h"

typedef struct refs_response {
    bool has_range;
    uint64_t range_begin, range_end; /**< [begin, end), from Content-Range */
    bool encoded;                    /**< a Content-Encoding other than identity */
    bool multipart;                  /**< several ranges in one body */
    bool is_page;                    /**< for people to look at: HTML */
    uint64_t retry_after_ms;
    int64_t date_s;  /**< when the response was made; 0 where it does not say */
    char region[32]; /**< of the bucket, as S3 says; "" where it does not */
    refs_vfs_validators validators;
} refs_response;

/** Takes in one header line, with or without its end. A status line begins a new response: a
 * redirect or an interim response came before. The empty line ends it. */
void refs_response__line(refs_response *response, refs_str line);

/** The content of the first XML element `name` of a body, as object stores say what is wrong, where
 * it is a word of letters, digits, '-', '_' and '.'; else "". At most `size` bytes with their end.
 */
void refs_response__element(refs_str body, const char *name, char *content, size_t size);

#endif
