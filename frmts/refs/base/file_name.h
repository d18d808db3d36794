/* file_name.h -- classifies file names in sets, in masters and from users by their beginning.
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
 * whose rest begins after the colon; false for other names. */
bool refs_file_name_split(refs_str name, refs_str *scheme, refs_str *rest);

/** Whether `name` is a URL: "s3://bucket/key". */
bool refs_file_name_is_url(refs_str name);

/** Whether `name` contains a URL: it is one, or a chain such as "simplecache::s3://bucket/key". */
bool refs_file_name_has_url(refs_str name);

/** Whether a user's name means a local file or folder, or a pattern of them: it contains no URL,
 * and is not in one of GDAL's virtual file systems. */
bool refs_file_name_is_local(refs_str name);

/** The folder of a file, for system calls: "a/b" of "a/b/c.nc", "/" of "/c.nc", "." of "c.nc". */
refs_str refs_file_name_folder(refs_str path);

/** Whether `name` is a relative path, which can be appended to a folder: not a URL, a path that
 * begins with the root or a drive, or a chain of fsspec ("simplecache::…", "zip://…"). A colon
 * alone does not make a URL: "12:00.nc", "a::b" and "file:x.nc" are relative (RFC 8089: paths of
 * "file:" URLs are absolute). */
bool refs_file_name_is_relative(refs_str name);

/** Appends a path; if it is relative, after the working directory. */
refs_status refs_file_name_absolute(refs_str path, refs_buf *absolute, refs_error *err);

/** The prefix with which a relative path is read back as one: "./" if its first component has a
 * colon ("file:/x.nc", in a folder called "file:"; RFC 3986, section 4.2), else "". */
const char *refs_file_name_relative_mark(refs_str path);

/** Whether `name` must be resolved against a folder: it is a relative path, or a chain or a "file:"
 * URL that ends with one ("zip://m::a.zip", "simplecache::a.nc", "file://a.nc"). */
bool refs_file_name_needs_folder(refs_str name);

/** Appends a name of CF-1.13, a URI or a relative reference (RFC 3986), with escapes such as "%20"
 * decoded, as file names have none. "%00" stays, and so do the escapes of http and store URLs,
 * where they are part of the request. */
refs_status refs_file_name_unescape(refs_str name, refs_buf *plain, refs_error *err);

/** Whether `name` is that of a record file of a Parquet set, "refs.12.parq" or "refs.12.parquet";
 * then *number is 12. */
bool refs_file_name_is_record(refs_str name, uint64_t *number);

#ifdef __cplusplus
}
#endif
#endif
