/* data_url.h -- URLs that are their own content (RFC 2397). */
#ifndef REFS_REFERENCES_DATA_URL_H
#define REFS_REFERENCES_DATA_URL_H

#include "refs/refset.h"

bool refs_references__is_data_url(refs_str url);

/** Appends what a data: URL holds to `bytes`: "data:[type][;base64],content", percent-encoded.
 * REFS_INVALID without a comma or with a wrong escape, REFS_CORRUPT for wrong base64. */
refs_status refs_references__data_url_decode(refs_str url, refs_buf *bytes, refs_error *err);

/** Makes a reference to a data: URL, all of it or a range, one to the bytes themselves, which are
 * those of `content`. REFS_INVALID where the range goes beyond them. */
refs_status refs_references__data_url_part(refs_bytes content, refs_ref *ref, refs_error *err);

#endif
