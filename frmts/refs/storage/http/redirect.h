/* redirect.h -- where a redirect may lead, and which credentials it may carry. Pure functions of
 * URLs. */
#ifndef REFS_STORAGE_HTTP_REDIRECT_H
#define REFS_STORAGE_HTTP_REDIRECT_H

#include "refs/bytes.h"

/** Whether `status` is a redirect to GET another URL (RFC 9110, section 15.4). */
bool refs_redirect__is_one(long status);

/** Checks a redirect from one absolute URL to another. REFS_IO, without either URL, if it leads to
 * another scheme than http or https, or from https to http. */
refs_status refs_redirect__check(const char *from, const char *to, refs_error *err);

/** REFS_INVALID, without either URL, if a redirect leads to a link-local address from another host
 * (refs_location_is_link_local). */
refs_status refs_redirect__confine(const char *from, const char *to, refs_error *err);

/** Whether two absolute URLs have scheme, host and port in common. */
bool refs_redirect__same_origin(const char *one, const char *other);

/** Whether the query of an absolute URL has the signature of an object store. Such a request must
 * carry no other credentials: S3 and similar stores refuse them. */
bool refs_redirect__is_signed(const char *url);

/** `to` with user and password of `from`, if both have one origin and `to` has none; free it with
 * refs_free. NULL if memory ran out. */
char *refs_redirect__with_user(const char *from, const char *to);

#endif
