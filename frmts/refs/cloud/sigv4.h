/* sigv4.h -- signed URLs: Signature Version 4 of AWS in the query.
 *
 * Source: "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)", Amazon S3
 * API reference.
 */
#ifndef REFS_CLOUD_SIGV4_H
#define REFS_CLOUD_SIGV4_H

#include <time.h>

#include "refs/bytes.h"

/** The identity of a signature, and its duration. */
typedef struct refs_signer {
    const char *access_key, *secret_key;
    const char *session_token; /**< or NULL */
    const char *region;
    time_t now;
    unsigned valid_s;
} refs_signer;

/** The request to sign. Path and query are percent-encoded as refs_sigv4__escape does it. */
typedef struct refs_signable {
    refs_str authority; /**< as in the header Host: with its port where that is not the scheme's */
    refs_str path;      /**< from the slash on */
    refs_str query;     /**< "name=value&…", or empty */
    const char *method; /**< "PUT"; NULL: GET */
} refs_signable;

/** Appends `text` percent-encoded: all but letters, digits, "-_.~", and the characters of `plain`.
 */
refs_status refs_sigv4__escape(refs_str text, const char *plain, refs_buf *escaped,
                               refs_error *err);

/** Appends the query with the signature in it. */
refs_status refs_sigv4__sign(const refs_signer *signer, const refs_signable *asked, refs_buf *query,
                             refs_error *err);

#endif
