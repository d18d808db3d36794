/* url.h -- parsing of URLs and names, and the rule for which locations a document may name. These
 * functions only look at text: they send no request and resolve no host name.
 *
 * Names are URLs, paths, and names of GDAL's virtual file systems
 * (https://gdal.org/user/virtual_file_systems.html). A name is local, remote, or in an unknown file
 * system, which may be either.
 */
#ifndef REFS_URL_H
#define REFS_URL_H

#include "refs/bytes.h"

struct sockaddr;

#ifdef __cplusplus
extern "C" {
#endif

/** The part of a URL that follows the prefix in GDAL's name for it. */
typedef enum refs_url_form {
    REFS_URL_WHOLE,         /**< all of the URL */
    REFS_URL_PATH,          /**< the part after "://" */
    REFS_URL_CONTAINER_PATH /**< the same, but "container/path" for "container@account/path" */
} refs_url_form;

/** A scheme of remote URLs. */
typedef struct refs_url_scheme {
    const char *name;   /**< "s3" */
    const char *prefix; /**< of GDAL's names: "/vsis3/" */
    refs_url_form form;
} refs_url_scheme;

/** Scheme number `i`, or NULL after the last one. */
const refs_url_scheme *refs_url_scheme_at(size_t i);

/** The first scheme whose prefix begins `location`, a GDAL name; NULL if there is none. The
 * corresponding URL is the rest of `location`, after "scheme://" unless the form is
 * REFS_URL_WHOLE. */
const refs_url_scheme *refs_url_scheme_of(refs_str location);

/** A kind of archive: "zip://member::file" is GDAL's "/vsizip/{file}/member". */
typedef struct refs_url_archive {
    const char *scheme; /**< "zip" */
    const char *prefix; /**< "/vsizip/" */
} refs_url_archive;

/** Splits a URL "zip://member::file" and returns its kind of archive; NULL for other names. `file`
 * is empty if there is no "::". */
const refs_url_archive *refs_url_split_archive(refs_str name, refs_str *member, refs_str *file);

/** The same for GDAL's name "/vsizip/{file}/member". NULL also if no URL can name that member. */
const refs_url_archive *refs_location_split_archive(refs_str location, refs_str *member,
                                                    refs_str *file);

/** Whether a scheme is `name`, in any case. */
bool refs_url_is_scheme(refs_str scheme, const char *name);

/** The scheme of the object store that a name is in: "s3://bucket/key", or GDAL's
 * "/vsis3/bucket/key". Sets *object to "bucket/key". NULL for other names. */
const refs_url_scheme *refs_url_store_of(refs_str name, refs_str *object);

/** Removes "http://" or "https://" from the beginning of *url; false if it has neither. */
bool refs_url_take_http(refs_str *url);

/** Whether `url` begins with "http://" or "https://". */
bool refs_url_is_http(refs_str url);

/** Makes *name the path of a URL "file:" or "local:" (RFC 8089: "file:/path", "file:///path",
 * "file://localhost/path", "file:///C:/path"). False for other names. */
bool refs_url_take_file(refs_str *name);

/** Removes `old` from the beginning of *name; false if it does not begin with `old`. Paths and
 * "file:" URLs are compared as paths: "file:///a/b" begins with "/a", and "/a/b" with "file:///a".
 * Names of GDAL's file systems ("/vsis3/b/a") do not begin with the path "/". */
bool refs_url_take_beginning(refs_str *name, refs_str old);

/** The path that a URL "file:///path" names; other names as they are. */
const char *refs_url_file_path(const char *name);

/** The name without fsspec's caching prefixes: "simplecache::", "filecache::" and so on. */
refs_str refs_url_without_caches(refs_str name);

/** The beginning of the authority (host and port, or bucket) in a name with a URL, which may be the
 * percent-encoded value of an option of "/vsicurl?"; SIZE_MAX without a URL. More than two slashes
 * count as two. */
size_t refs_url_authority_begin(refs_str name);

/** The beginning of the path after the authority: the first slash after it, or the end of the name;
 * 0 without a URL. */
size_t refs_url_path_begin(refs_str name);

/** The underlying file of a chained GDAL location: the name after "/vsizip/", "/vsisubfile/" and so
 * on, whose first slash may be missing if it is a GDAL name itself. Other locations are returned
 * unchanged. */
refs_str refs_location_file(refs_str location);

/** Whether a location is in an object store, like "/vsis3/bucket/key". */
bool refs_location_is_of_store(refs_str location);

/** Whether a location is fetched from another machine. */
bool refs_location_is_remote(refs_str location);

/** Whether a document at `location` may come from another machine: it is remote, or its scheme or
 * GDAL file system is not known to be local. */
bool refs_location_may_be_remote(refs_str location);

/** Whether the host of a location is, in any spelling that libcurl accepts, a link-local address
 * (169.254.0.0/16, RFC 3927; fe80::/10, RFC 4291), also embedded in an IPv6 address, or the address
 * of a cloud's metadata service (fd00:ec2::/32 of Amazon, 100.100.100.200 of Alibaba Cloud,
 * 168.63.129.16 of Azure). These addresses give out credentials in clouds. Also true if the host is
 * longer than host names may be, or if the authority holds blanks, control characters or
 * backslashes, which URL parsers read differently. Host names are not resolved: see
 * refs_address_is_link_local. */
bool refs_location_is_link_local(refs_str location);

/** Whether a resolved address, of `size` bytes, is one that refs_location_is_link_local recognises.
 * False for families other than AF_INET and AF_INET6. */
bool refs_address_is_link_local(const struct sockaddr *address, size_t size);

/** Checks whether a document may name a location. REFS_INVALID if `document` may come from another
 * machine and `location` is a local file, in an unknown file system, or at a link-local address
 * although the document is not. Both are mapped names or URLs; `document` is "" for names that the
 * user enters. */
refs_status refs_location_confine(refs_str document, refs_str location, refs_error *err);

/** The option of GDAL that disables refs_location_confine. */
#define REFS_REMOTE_TO_LOCAL "GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"

#ifdef __cplusplus
}
#endif

#endif
