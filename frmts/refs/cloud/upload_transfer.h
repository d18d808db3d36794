/* upload_transfer.h -- requests that send something: several at a time, and again where they fail
 * for the moment. */
#ifndef REFS_CLOUD_UPLOAD_TRANSFER_H
#define REFS_CLOUD_UPLOAD_TRANSFER_H

#include "cloud_internal.h"
#include "refs/http/handle.h"

/** One request, and what came of it. Zeroed but for the first members. */
typedef struct refs_transfer {
    const char *method;
    const char *query; /**< "partNumber=1&uploadId=x", or "" */
    int file;          /**< whose bytes [offset, offset + length) are sent; -1: `body` */
    uint64_t offset, length;
    refs_str body;
    bool may_be_absent;   /**< 404 is not a failure */
    const char *if_match; /**< the object is as this validator says, "": is not there; NULL: as may
                               be */

    refs_buf answer; /**< its body */
    long status;     /**< of HTTP, of the last attempt; 0: none came */
    char etag[128];  /**< "" where there is none */
    unsigned n_tries;
    uint64_t sent;
    int64_t due_ms; /**< when it is to be tried */
    void *easy;     /**< while it is under way */
    void *headers;
    refs_http_gate gate; /**< of the last attempt */
    bool is_done;
} refs_transfer;

/** The object of requests. */
typedef struct refs_sending {
    refs_cloud *cloud;
    const char *location;
    refs_http_rules rules;
    double connect_s; /**< as its alias says; 0: as libcurl does */
    refs_cancel_check cancel;
} refs_sending;

/** Carries out `n` requests, at most `at_a_time` of them together; the first failure ends all. */
refs_status refs_cloud__transfer(const refs_sending *sending, refs_transfer *transfers, size_t n,
                                 size_t at_a_time, refs_error *err);

/** The error for an object that is not as it was: REFS_INVALID. */
refs_status refs_cloud__fail_changed(const refs_sending *sending, refs_error *err);

/** The error code of S3 in the answer: "<Code>AccessDenied</Code>"; empty where there is none. */
refs_str refs_cloud__transfer_code(const refs_transfer *transfer);

void refs_cloud__transfer_clear(refs_transfer *transfer);

#endif
