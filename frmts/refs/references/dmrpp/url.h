/* url.h -- where the data of a DMR++ are: what its hrefs mean to whom it was not made for.
 *
 * A sidecar is made for a server, which knows what its paths begin at and puts
 * URLs in the place of placeholders. Elsewhere the data file is what the
 * sidecar is called after, beside it: OPENDAP/bes, NgapOwnedContainer.cc.
 */
#ifndef REFS_REFERENCES_DMRPP_URL_H
#define REFS_REFERENCES_DMRPP_URL_H

#include "refs/bytes.h"

/** Strings are borrowed. */
typedef struct refs_dmrpp_names {
    refs_str file;      /**< what the sidecar is called after, "x.h5"; empty where it is not */
    const char *target; /**< the data file, where the user said so, or NULL */
    bool has_folder;
    refs_str folder; /**< of the server: what lies there lies beside the sidecar; may be empty */
} refs_dmrpp_names;

/** `href` is the attribute of the root element, or NULL. */
refs_dmrpp_names refs_references__dmrpp_names(const char *location, const char *href,
                                              const char *target);

/** Appends the URL, for refset's builder, of the data file where `href` is NULL, else of what it
 * names. REFS_INVALID for a placeholder of which nothing tells what it stands for. */
refs_status refs_references__dmrpp_url(const refs_dmrpp_names *names, const char *href,
                                       refs_buf *url, refs_error *err);

#endif
