/* version.h -- the version of a repository in the name of a set; see refs_set_open. */
#ifndef REFS_REFERENCES_VERSION_H
#define REFS_REFERENCES_VERSION_H

#include "icechunk/icechunk.h"
#include "refs/refset.h"

/** A name that was split. */
typedef struct refs_named_version {
    refs_str folder;               /**< the part before the version, without trailing slashes, or
                                      "." */
    bool is_said;                  /**< the name has a version … */
    bool is_certain;               /**< … which cannot be part of the folder's own name */
    refs_icechunk_version version; /**< its strings are in `text` */
    char *text;
} refs_named_version;

/** Splits a name; clear `named` also after a failure. */
refs_status refs_references__version_split(refs_str name, refs_named_version *named,
                                           refs_error *err);
/** The beginning of a suffix "@tag" whose tag contains a slash, so that it may also be part of a
 * folder's name; or SIZE_MAX. */
size_t refs_references__version_slashed_tag(refs_str name);

/** The key of a name that ends with "#key=value" if it is not a key of versions; else empty. */
refs_str refs_references__version_unknown_key(refs_str name);

void refs_references__version_clear(refs_named_version *named);

/** Whether options select a version. */
bool refs_references__version_is_said(const refs_set_version *version);

/** Sets *version to that of the name or the options; REFS_INVALID if both have one. Its strings are
 * borrowed from the arguments. */
refs_status refs_references__version_choose(const refs_named_version *named,
                                            const refs_set_version *options,
                                            refs_icechunk_version *version, refs_error *err);

#endif
