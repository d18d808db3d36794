/* origin.h -- scheme, host and port of a URL (RFC 6454), which decide where credentials may be
 * sent. libcurl parses the URLs, so that both agree. */
#ifndef REFS_STORAGE_HTTP_ORIGIN_H
#define REFS_STORAGE_HTTP_ORIGIN_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An origin in lower case, with the scheme's default port if the URL has none. Bytes after the
 * texts are zero, so that origins can be compared and hashed as bytes. An empty one is zeroed. */
typedef struct refs_origin {
    char scheme[8]; /**< "http" or "https" */
    char host[256]; /**< IPv6 addresses in brackets */
    char port[8];
} refs_origin;

/** The origin of an absolute URL; false, with an empty origin, if its scheme is not http or
 * https. */
bool refs_origin_of(const char *url, refs_origin *origin);

/** The origin of "host" or "host:port" with https. */
bool refs_origin_of_authority(refs_str authority, refs_origin *origin);

/** Whether both are equal and not empty. */
bool refs_origin_is_same(const refs_origin *one, const refs_origin *other);

bool refs_origin_is_tls(const refs_origin *origin);

/** Whether requests of an absolute URL go over TLS. */
bool refs_url_is_tls(const char *url);

/** Appends "host:port", or only "host" if the port is the scheme's default. */
refs_status refs_origin_append_authority(const refs_origin *origin, refs_buf *authority,
                                         refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
