/* redirect.h -- where a redirect may lead, and with what. Pure functions of URLs. */
#ifndef REFS_STORAGE_HTTP_REDIRECT_H
#define REFS_STORAGE_HTTP_REDIRECT_H

#include "refs/bytes.h"

/** Whether `status` asks to GET another URL (RFC 9110, section 15.4). */
bool refs_redirect__is_one(long status);

/** Judges a redirect from one absolute URL to another. REFS_IO, without naming either, where it
 * leads to another scheme than http or https, or from https to http. */
refs_status refs_redirect__check(const char *from, const char *to, refs_error *err);

/** REFS_INVALID, without naming either, where a redirect leads to a link-local address from another
 * host (refs_location_is_link_local). */
refs_status refs_redirect__confine(const char *from, const char *to, refs_error *err);

/** Whether two absolute URLs have scheme, host and port in common. */
bool refs_redirect__same_origin(const char *one, const char *other);

/** Whether the query of an absolute URL holds the signature of an object store: it is all that a
 * request of it may say of who asks. S3 and its kin refuse other credentials beside it. */
bool refs_redirect__is_signed(const char *url);

/** `to` with the user and the password of `from` where they are of one origin and `to` names none;
 * to be freed with refs_free. NULL without memory. */
char *refs_redirect__with_user(const char *from, const char *to);

#endif
