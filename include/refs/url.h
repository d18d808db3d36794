/* url.h -- what a name says about where its bytes are, and what documents may name. Nothing is
 * asked for and nothing is resolved: these are functions of text.
 *
 * Names are URLs, paths, and names of GDAL's virtual file systems
 * (https://gdal.org/user/virtual_file_systems.html). A name is local, remote, or of a file system
 * that is not known, which may be either.
 */
#ifndef REFS_URL_H
#define REFS_URL_H

#include "refs/bytes.h"

struct sockaddr;

#ifdef __cplusplus
extern "C" {
#endif

/** The part behind the prefix in GDAL's name for a URL. */
typedef enum refs_url_form {
    REFS_URL_WHOLE,         /**< all of the URL */
    REFS_URL_PATH,          /**< what is behind "://" */
    REFS_URL_CONTAINER_PATH /**< so too, and "container@account/path" is "container/path" */
} refs_url_form;

/** A scheme of another machine. */
typedef struct refs_url_scheme {
    const char *name;   /**< "s3" */
    const char *prefix; /**< of GDAL's name: "/vsis3/" */
    refs_url_form form;
} refs_url_scheme;

/** Scheme number `i`, or NULL behind the last one. */
const refs_url_scheme *refs_url_scheme_at(size_t i);

/** The first scheme whose URL is mapped to `location`, a name of GDAL's that begins with the prefix
 * of the scheme; NULL where none is. The URL is "scheme://" and what follows the prefix, or, where
 * the form is REFS_URL_WHOLE, what follows the prefix. */
const refs_url_scheme *refs_url_scheme_of(refs_str location);

/** An archive that names begin with: "zip://member::file" is GDAL's "/vsizip/{file}/member". */
typedef struct refs_url_archive {
    const char *scheme; /**< "zip" */
    const char *prefix; /**< "/vsizip/" */
} refs_url_archive;

/** The archive that a URL "zip://…" begins with; NULL for other names. `file` is what follows the
 * first "::", and empty where there is none. */
const refs_url_archive *refs_url_split_archive(refs_str name, refs_str *member, refs_str *file);

/** The same for GDAL's name "/vsizip/{file}/member". NULL also where no URL names that member. */
const refs_url_archive *refs_location_split_archive(refs_str location, refs_str *member,
                                                    refs_str *file);

/** Whether a scheme is called `name`, in small letters or capitals. */
bool refs_url_is_scheme(refs_str scheme, const char *name);

/** The scheme of the object store that a name is in: "s3://bucket/key", or GDAL's
 * "/vsis3/bucket/key". Sets *object to "bucket/key". NULL for other names. */
const refs_url_scheme *refs_url_store_of(refs_str name, refs_str *object);

/** Moves *url to what follows "http://" or "https://"; false where it begins with neither. */
bool refs_url_take_http(refs_str *url);

/** Whether it begins with "http://" or "https://". */
bool refs_url_is_http(refs_str url);

/** Moves *name to what follows "file:" or "local:" (RFC 8089: "file:/path", "file:///path", and
 * "file://localhost/path"; "file:///C:/path"): a path. False where it begins with neither. */
bool refs_url_take_file(refs_str *name);

/** Moves *name to what follows `old`, where it begins with that, or where both name paths and the
 * path does: "file:///a/b" begins with "/a", and "/a/b" with "file:///a". Names of GDAL's file
 * systems ("/vsis3/b/a") begin with such alone, not with "/". */
bool refs_url_take_beginning(refs_str *name, refs_str old);

/** The path that a URL "file:///path" names; other names as they are. */
const char *refs_url_file_path(const char *name);

/** The name without the prefixes by which fsspec keeps copies: "simplecache::" and its kin. */
refs_str refs_url_without_caches(refs_str name);

/** The beginning of the authority (host and port, or bucket) in a name with a URL, also one that is
 * the percent-encoded value of an option of "/vsicurl?"; SIZE_MAX without a URL. More than two
 * slashes are read as two. */
size_t refs_url_authority_begin(refs_str name);

/** The beginning of the path behind that authority: at its first slash, or at the end of the name;
 * 0 without a URL. */
size_t refs_url_path_begin(refs_str name);

/** The file that a location of GDAL's is a member or a part of, or made of in other ways: the name
 * behind "/vsizip/" and its kin, whose first slash may be missing where it is one of GDAL's, too.
 * Other locations are returned as they are. */
refs_str refs_location_file(refs_str location);

/** Whether a location is of an object store, as "/vsis3/bucket/key". */
bool refs_location_is_of_store(refs_str location);

/** Whether a location is fetched from another machine. */
bool refs_location_is_remote(refs_str location);

/** Whether a document at `location` may have come from another machine: it is remote, or of a file
 * system of GDAL, or of a scheme, that is not known to be a local one. */
bool refs_location_may_be_remote(refs_str location);

/** Whether a location is on a host whose name is a link-local address, in any spelling that
 * libcurl accepts (169.254.0.0/16, RFC 3927; fe80::/10, RFC 4291), also where it is embedded in an
 * IPv6 address; or the address of a metadata service elsewhere (fd00:ec2::/32 of Amazon,
 * 100.100.100.200 of Alibaba Cloud, 168.63.129.16 of Azure); or longer than names of hosts may be;
 * or whose authority holds blanks, control characters or backslashes, which parsers of URLs read
 * differently.
 * Such addresses are of this machine and its neighbours: in clouds they give out credentials. Names
 * of hosts are not resolved: see refs_address_is_link_local. */
bool refs_location_is_link_local(refs_str location);

/** Whether a resolved address, of `size` bytes, is one that refs_location_is_link_local recognises.
 * False for families other than AF_INET and AF_INET6. */
bool refs_address_is_link_local(const struct sockaddr *address, size_t size);

/** The rule of confinement: whether a document may name a location. REFS_INVALID where `document`
 * may have come from another machine and `location` is a local file, is of a file system that is
 * not known, or is at a link-local address though the document is not. Both are mapped names or
 * URLs; `document` is "" for what the user names. */
refs_status refs_location_confine(refs_str document, refs_str location, refs_error *err);

/** The option of GDAL by which users allow all that refs_location_confine refuses. */
#define REFS_REMOTE_TO_LOCAL "GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE"

#ifdef __cplusplus
}
#endif

#endif
