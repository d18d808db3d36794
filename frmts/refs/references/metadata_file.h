/* metadata_file.h -- the files by which a folder is recognised as a set: ".zmetadata", and those of
 * a repository. */
#ifndef REFS_REFERENCES_METADATA_FILE_H
#define REFS_REFERENCES_METADATA_FILE_H

#include "refs/refset.h"
#include "version.h"

/** Whether `location` is named ".zmetadata". */
bool refs_references__is_metadata_file(refs_str location);

/** The folder that holds it, without a slash at the end. */
refs_str refs_references__folder_of_metadata(refs_str location);

/** The kind of a candidate. */
typedef enum refs_candidate_kind {
    REFS_CANDIDATE_ITSELF,    /**< the named file itself */
    REFS_CANDIDATE_METADATA,  /**< ".zmetadata" in the named folder */
    REFS_CANDIDATE_REPOSITORY /**< an Icechunk repository, named with or without a version */
} refs_candidate_kind;

typedef struct refs_candidate {
    refs_candidate_kind kind;
    char *location;                /**< of the file to read; owned */
    unsigned format;               /**< REPOSITORY */
    char *folder;                  /**< REPOSITORY; owned */
    refs_icechunk_version version; /**< REPOSITORY; strings borrowed from name and options */
} refs_candidate;

/** The most candidates for one name. */
#define REFS_MAX_CANDIDATES 6

/** The files that may hold the named set, in the order in which to try them. Zeroed is empty. */
typedef struct refs_candidates {
    refs_candidate list[REFS_MAX_CANDIDATES];
    size_t n;
    refs_named_version named;
} refs_candidates;

/** Lists the candidates for `name`, without listing a folder. `version` comes from the options.
 * Clear `candidates` also after a failure. */
refs_status refs_references__candidates(const char *name, const refs_set_version *version,
                                        refs_candidates *candidates, refs_error *err);
void refs_references__candidates_clear(refs_candidates *candidates);

#endif
