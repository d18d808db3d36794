/* grant.h -- what a service answers that gives out access for a while: keys of S3, or a token that
 * goes into URLs.
 *
 * NASA's DAACs answer {"accessKeyId", "secretAccessKey", "sessionToken",
 * "expiration"}, the Planetary Computer {"token", "msft:expiry"}; others have
 * other names for the same, or the token alone as text.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_STORAGE_GRANT_H
#define REFS_STORAGE_GRANT_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Strings belong to the grant; those that were not answered are NULL. Zeroed is none. */
typedef struct refs_grant {
    char *token; /**< a query of URLs, without "?" */
    char *access_key, *secret_key, *session_token;
    int64_t expires_s; /**< since 1970; INT64_MAX: not said */
} refs_grant;

/** Most bytes of an answer. */
#define REFS_GRANT_MAX_BYTES (64 * REFS_KIB)

void refs_grant_clear(refs_grant *grant);

/** Reads an answer that came at `now_s`. REFS_INVALID where it is neither keys nor a token. */
refs_status refs_grant_parse(refs_str answer, int64_t now_s, refs_grant *grant, refs_error *err);

/** Whether it may still be used at `now_s`: it is renewed five minutes before it expires, or when a
 * tenth of its time is left, whichever is later. `since_s` is when it came. */
bool refs_grant_is_good(const refs_grant *grant, int64_t since_s, int64_t now_s);

/** After a refusal a service is asked again; for so long all others are its last word. */
#define REFS_GRANT_REFUSED_S 60

/** Whether a refusal at `now_s` is a reason to ask a service again that was asked because of one at
 * `renewed_s`; 0: it never was. */
bool refs_grant_may_renew(int64_t renewed_s, int64_t now_s);

/** Appends a URL with a token in its query, in place of the parameters of its names: of a signature
 * of Azure that has expired nothing is left. The part behind "#" is left out. A URL with a
 * signature of another kind stays as it is. */
refs_status refs_grant_url(refs_str url, const char *token, refs_buf *with, refs_error *err);

/** The service that a list "prefix=>URL[,prefix=>URL]" names for a location: of the longest
 * prefix that it is of. Prefixes with the schemes s3, gs and az are those of GDAL's names. Empty
 * where there is none, and for a URL alone. REFS_INVALID where an item can hold nowhere. */
refs_status refs_grant_service(const char *list, const char *location, refs_str *service,
                               refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
