/* combined_files.h -- many files under one name: REFS:"archive", a folder, or a pattern. */
#ifndef REFS_COMBINED_FILES_H
#define REFS_COMBINED_FILES_H

#include <string>

#include "cpl_string.h"
#include "handles.h"
#include "refs/session.h"

/** The options that a set is opened with. */
struct RefsCombineJob {
    const std::string &location;
    const refs_vfs *vfs;
    refs_http *http;      ///< reads values over HTTP
    CSLConstList options; ///< the open options ALONG, PATTERN and SAVE
};

/** The set that a name stands for. */
struct RefsOpenedName {
    RefsSetHandle set;
    bool isCombined = false; ///< files that are found by the name, rather than a set of that name
};

/** Opens the set at the job's location, or the files that it names as the set that `refs index`
 * would write of them (refs_combine_open_name). It is saved where SAVE says so. */
refs_status RefsOpenName(const RefsCombineJob &job, const refs_object_lister &lister,
                         const refs_set_options &options, RefsOpenedName &opened,
                         refs_error *error);

/** Fails where a set must not be written at a local name: refs_combine_check_output, or where it
 * does not end as those of sets do. */
refs_status RefsCheckSetName(const char *name, refs_error *error);

/** Writes at `output`, a local name, the set that a data file is; of one variable where that is not
 * empty, with what describes it. */
refs_status RefsWriteSetOf(const std::string &file, const std::string &variable,
                           const std::string &output, refs_error *error);

#endif
