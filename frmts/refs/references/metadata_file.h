/* metadata_file.h -- the files that make a folder a set: ".zmetadata", those of a repository. */
#ifndef REFS_REFERENCES_METADATA_FILE_H
#define REFS_REFERENCES_METADATA_FILE_H

#include "refs/refset.h"
#include "version.h"

/** Whether `location` is ".zmetadata", by its name. */
bool refs_references__is_metadata_file(refs_str location);

/** The folder that holds it, without a slash at the end. */
refs_str refs_references__folder_of_metadata(refs_str location);

/** The kind of a candidate, if it is there. */
typedef enum refs_candidate_kind {
    REFS_CANDIDATE_ITSELF,    /**< the thing that was named */
    REFS_CANDIDATE_METADATA,  /**< ".zmetadata" in it */
    REFS_CANDIDATE_REPOSITORY /**< a repository, named with or without one of its states */
} refs_candidate_kind;

typedef struct refs_candidate {
    refs_candidate_kind kind;
    char *location;                /**< of the file to be read; owned */
    unsigned format;               /**< REPOSITORY */
    char *folder;                  /**< REPOSITORY; owned */
    refs_icechunk_version version; /**< REPOSITORY; strings as in what it was made of */
} refs_candidate;

/** The most candidates for one name. */
#define REFS_MAX_CANDIDATES 6

/** The files that may hold the named set, in the order in which they are to be tried. Zeroed is
 * empty. */
typedef struct refs_candidates {
    refs_candidate list[REFS_MAX_CANDIDATES];
    size_t n;
    refs_named_version named;
} refs_candidates;

/** Never asks for what is in a folder. `version` says what options ask for. To be cleared also
 * after a failure. */
refs_status refs_references__candidates(const char *name, const refs_set_version *version,
                                        refs_candidates *candidates, refs_error *err);
void refs_references__candidates_clear(refs_candidates *candidates);

#endif
