/* response.h -- what a response says before its body. Pure functions of its header lines. */
#ifndef REFS_STORAGE_HTTP_RESPONSE_H
#define REFS_STORAGE_HTTP_RESPONSE_H

#include "refs/bytes.h"

/** The validators that distinguish states of an object. */
typedef struct refs_validators {
    int64_t modified_s; /**< seconds since 1970; 0 where it is not known, or … */
    int64_t fresh_s;    /**< … where the object was modified as the answer was made: then */
    int64_t date_s;     /**< of the answer; 0 where it does not say */
    uint64_t total;     /**< bytes of the whole object */
    bool has_total;
    char etag[128]; /**< "" where none was sent; the last member */
} refs_validators;

typedef struct refs_response {
    bool has_range;
    uint64_t range_begin, range_end; /**< [begin, end), from Content-Range */
    bool encoded;                    /**< a Content-Encoding other than identity */
    bool multipart;                  /**< several ranges in one body */
    bool is_page;                    /**< for people to look at: HTML */
    uint64_t retry_after_ms;
    int64_t date_s;  /**< when the response was made; 0 where it does not say */
    char region[32]; /**< of the bucket, as S3 says; "" where it does not */
    refs_validators validators;
} refs_response;

/** Takes in one header line, with or without its end. A status line begins a new response: a
 * redirect or an interim response came before. The empty line ends it. */
void refs_response__line(refs_response *response, refs_str line);

/** The content of the first XML element `name` of a body, as object stores say what is wrong, where
 * it is a word of letters, digits, '-', '_' and '.'; else "". At most `size` bytes with their end.
 */
void refs_response__element(refs_str body, const char *name, char *content, size_t size);

/** "" where both may be of one state of an object, else what differs. `other` is of a later answer
 * than `one`. ETags compare weakly: servers that compress as they send mark the same bytes as weak.
 * An object that was fresh in one answer may have changed within that second, and there are servers
 * that date all answers so; it did change where it was not fresh before, or where it is not fresh
 * any more and has another date. */
const char *refs_validators__difference(const refs_validators *one, const refs_validators *other);

/** Whether a later answer of the same identity is of the same state. Not where nothing was said,
 * nor where the object was fresh, and may have changed within that second, unless there is an ETag
 * that would show it: one that is neither weak (RFC 9110, section 8.8.1) nor made of that second.
 */
bool refs_validators__tell(const refs_validators *validators);

#endif
