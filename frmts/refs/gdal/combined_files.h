/* combined_files.h -- many files under one name: REFS:"archive", a folder, or a pattern. */
#ifndef REFS_COMBINED_FILES_H
#define REFS_COMBINED_FILES_H

#include <string>
#include <vector>

#include "cpl_string.h"
#include "handles.h"
#include "refs/session.h"

/** The files that `location` names where it is not a set itself: what a pattern matches, what a
 * folder holds, what a list, a .txt file, has in its lines. Empty where it names one. */
refs_status RefsListFiles(const std::string &location, const refs_object_lister &lister,
                          std::vector<std::string> &files, refs_error *error);

/** Those that it names where it is a prefix in a store. */
refs_status RefsListPrefix(const std::string &location, const refs_object_lister &lister,
                           std::vector<std::string> &files, refs_error *error);

/** The options that a set is combined with. */
struct RefsCombineJob {
    const std::string &location; ///< that names the files
    const std::vector<std::string> &files;
    const refs_vfs *vfs;
    const refs_vfs *targets; ///< by which values are read; and over HTTP …
    refs_http *http;         ///< … by this
    CSLConstList options;    ///< the open options ALONG, PATTERN and SAVE
};

/** Fails where a set must not be written at a local name: refs_combine_check_output, or where it
 * does not end as those of sets do. */
refs_status RefsCheckSetName(const char *name, refs_error *error);

/** Writes at `output`, a local name, the set that a data file is; of one variable where that is not
 * empty, with what describes it. */
refs_status RefsWriteSetOf(const std::string &file, const std::string &variable,
                           const std::string &output, refs_error *error);

/** Saves a set that is open, of the file at the job's location, where SAVE says so. */
refs_status RefsSaveSet(const RefsCombineJob &job, const refs_set *set, refs_error *error);

/** The set that `refs index` would write of the files, in memory. */
refs_status RefsCombineFiles(const RefsCombineJob &job, const refs_set_options &options,
                             refs_set **set, refs_error *error);

#endif
