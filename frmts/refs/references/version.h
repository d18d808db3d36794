/* version.h -- which state of a repository the name of a set asks for; see refs_set_open. */
#ifndef REFS_REFERENCES_VERSION_H
#define REFS_REFERENCES_VERSION_H

#include "icechunk/icechunk.h"
#include "refs/refset.h"

/** A name taken apart. */
typedef struct refs_named_version {
    refs_str folder;               /**< what stands before it, without slashes at its end; of the
                                        name, or "." */
    bool is_said;                  /**< the name says one … */
    bool is_certain;               /**< … which cannot be a part of the folder's own name */
    refs_icechunk_version version; /**< its strings are in `text` */
    char *text;
} refs_named_version;

/** Takes a name apart; to be cleared also after a failure. */
refs_status refs_references__version_split(refs_str name, refs_named_version *named,
                                           refs_error *err);
/** The beginning of "@tag" whose tag has a slash in it, or SIZE_MAX: it may as well be a part of a
 * folder's name. */
size_t refs_references__version_slashed_tag(refs_str name);

/** The word of a name that ends "#word=value", where that requests no state; empty without. */
refs_str refs_references__version_unknown_key(refs_str name);

void refs_references__version_clear(refs_named_version *named);

/** Whether options ask for a state. */
bool refs_references__version_is_said(const refs_set_version *version);

/** Sets *version to what the name or the options ask for, which both may not. Its strings are those
 * of the arguments. */
refs_status refs_references__version_choose(const refs_named_version *named,
                                            const refs_set_version *options,
                                            refs_icechunk_version *version, refs_error *err);

#endif
