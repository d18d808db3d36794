/* origin.h -- scheme, host and port of a URL (RFC 6454): what decides where secrets go. URLs are
 * taken apart by libcurl, as it will read them. */
#ifndef REFS_STORAGE_HTTP_ORIGIN_H
#define REFS_STORAGE_HTTP_ORIGIN_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In small letters, with the port of the scheme where a URL names none. The bytes behind the texts
 * are zero, so that origins can be compared and hashed as bytes. Zeroed is none. */
typedef struct refs_origin {
    char scheme[8]; /**< "http" or "https" */
    char host[256]; /**< IPv6 addresses in brackets */
    char port[8];
} refs_origin;

/** The origin of an absolute URL; false, and none, where it is not one of http or https. */
bool refs_origin_of(const char *url, refs_origin *origin);

/** The same of "host" or "host:port", as of https. */
bool refs_origin_of_authority(refs_str authority, refs_origin *origin);

/** Whether both are the same, and not none. */
bool refs_origin_is_same(const refs_origin *one, const refs_origin *other);

bool refs_origin_is_tls(const refs_origin *origin);

/** Whether requests of an absolute URL go over TLS. */
bool refs_url_is_tls(const char *url);

/** "host:port", or "host" with the port of the scheme. */
refs_status refs_origin_append_authority(const refs_origin *origin, refs_buf *authority,
                                         refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
