/* file_name.h -- what the name of a file, as sets, masters and users write it, begins with.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_FILE_NAME_H
#define REFS_FILE_NAME_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Splits "scheme://rest" (RFC 3986, section 3.1) or "C:/rest", whose scheme has one letter and
 * whose rest begins behind the colon; false for neither. */
bool refs_file_name_split(refs_str name, refs_str *scheme, refs_str *rest);

/** Whether it is a URL: "s3://bucket/key". */
bool refs_file_name_is_url(refs_str name);

/** Whether there is a URL in it: it is one, or a chain such as "simplecache::s3://bucket/key". */
bool refs_file_name_has_url(refs_str name);

/** Whether a user's name is that of a file of this machine, or of a folder or a pattern of such:
 * there is no URL in it, and it is none of GDAL's virtual file systems. */
bool refs_file_name_is_local(refs_str name);

/** The folder that a file lies in, as system calls want it: "a/b" of "a/b/c.nc", "/" of "/c.nc",
 * "." of "c.nc". */
refs_str refs_file_name_folder(refs_str path);

/** Whether it is a relative path, which can be appended to a folder: it is neither a URL, nor a
 * path from the root or a drive on, nor a chain that fsspec reads ("simplecache::…", "zip://…").
 * Colons alone make no URL: "12:00.nc" and "a::b" are relative, and so is "file:x.nc" (RFC 8089:
 * paths of "file:" are absolute). */
bool refs_file_name_is_relative(refs_str name);

/** The prefix of a relative path so that it is read back as one, here and elsewhere: "./" where its
 * first part has a colon ("file:/x.nc", in a folder that is called "file:"; RFC 3986, section 4.2),
 * else "". */
const char *refs_file_name_relative_mark(refs_str path);

/** Whether it depends on a folder which file it names: it is a relative path, or a chain or a URL
 * of a file that ends in one ("zip://m::a.zip", "simplecache::a.nc", "file://a.nc"). */
bool refs_file_name_needs_folder(refs_str name);

/** Appends a name of CF-1.13, which is a URI or a relative reference (RFC 3986), without its
 * escapes, which names of files do not have: "a%20b.nc". "%00" stays, and so do URLs of servers,
 * where escapes are part of the request. */
refs_status refs_file_name_unescape(refs_str name, refs_buf *plain, refs_error *err);

/** Whether it is that of a record file of a Parquet set, "refs.12.parq" or "refs.12.parquet"; then
 * *number is 12. */
bool refs_file_name_is_record(refs_str name, uint64_t *number);

#ifdef __cplusplus
}
#endif
#endif
