/* url.h -- the URLs of the data of a DMR++.
 *
 * A sidecar is made for a server, which knows the base of its paths and replaces placeholders by
 * URLs. For other readers, the data file is next to the sidecar, and has its name without the
 * extension (OPENDAP/bes, NgapOwnedContainer.cc).
 */
#ifndef REFS_REFERENCES_DMRPP_URL_H
#define REFS_REFERENCES_DMRPP_URL_H

#include "refs/bytes.h"

/** Strings are borrowed. */
typedef struct refs_dmrpp_names {
    refs_str file;      /**< the sidecar's name without its extension, "x.h5"; empty if it has
                           another name */
    const char *target; /**< the user's data file, or NULL */
    bool has_folder;
    refs_str folder; /**< folder on the server whose files are next to the sidecar; may be empty */
} refs_dmrpp_names;

/** `href` is the attribute of the root element, or NULL. */
refs_dmrpp_names refs_references__dmrpp_names(const char *location, const char *href,
                                              const char *target);

/** Appends the URL, for the builder of a set, of the file that `href` names, or of the data file if
 * `href` is NULL. REFS_INVALID for a placeholder that cannot be resolved. */
refs_status refs_references__dmrpp_url(const refs_dmrpp_names *names, const char *href,
                                       refs_buf *url, refs_error *err);

#endif
