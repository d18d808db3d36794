/* data_url.h -- data: URLs (RFC 2397). */
#ifndef REFS_REFERENCES_DATA_URL_H
#define REFS_REFERENCES_DATA_URL_H

#include "refs/refset.h"

bool refs_references__is_data_url(refs_str url);

/** Appends the content of a data: URL to `bytes`: "data:[type][;base64],content", percent-encoded.
 * REFS_INVALID without a comma or with an invalid escape, REFS_CORRUPT for invalid base64. */
refs_status refs_references__data_url_decode(refs_str url, refs_buf *bytes, refs_error *err);

/** Converts a reference to a data: URL, whole or a range, to an inline reference to its content,
 * `content`. REFS_INVALID if the range goes beyond it. */
refs_status refs_references__data_url_part(refs_bytes content, refs_ref *ref, refs_error *err);

#endif
