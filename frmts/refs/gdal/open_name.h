/* open_name.h -- the names that users write, parsed once.
 *
 *   REFS:"refs.json":/group/t2m     REFS:refs.json:t2m     REFS:https://host/refs.json
 *   refs.json                       REFS:"refs.json":/t2m[time=2020-01-01T06:00,level=850]
 *   REFS:"list.json":#3             REFS:"list.json":#3/t2m
 *   REFS:"refs.json":/t2m?LONGITUDES=-180&MISSING=FILL      open options, percent-encoded
 */
#ifndef REFS_OPEN_NAME_H
#define REFS_OPEN_NAME_H

#include <cstdint>
#include <string>

#include "cpl_string.h"

struct RefsName {
    std::string set;       ///< as written: a path, a URL or a /vsi name
    std::string location;  ///< the same as a name for VSI
    std::string array;     ///< path of an array, or "" for the whole set
    int64_t setIndex = -1; ///< which set of a list, or -1
    std::string selection; ///< what stands in brackets behind it, or ""
    CPLStringList options; ///< open options in the name
};

/** Whether `name` begins with REFS: (in any case). */
bool RefsNameIsPrefixed(const char *name);

/** Parses `name`, which need not be prefixed; false with `problem` where it makes no sense. */
bool RefsNameParse(const char *name, RefsName &parsed, std::string &problem);

/** The fault of the open option at the end of a name, if no array has the name; "" if
 * nothing there looks like an option. */
std::string RefsProblemOfOptions(const std::string &array);

/** The parts of a prefixed name as they stand in it. */
struct RefsNameParts {
    std::string set;     ///< without its quotes
    std::string rest;    ///< what stands behind the colon: an array with its selection, or ""
    std::string options; ///< what stands behind a question mark at the end, or ""
    bool quoted = false; ///< whether `set` is in quotes
};

/** Takes a prefixed name apart; false with `problem` where that cannot be done. */
bool RefsNameSplit(const char *name, RefsNameParts &parts, std::string &problem);

/** The file in which GDAL keeps statistics and other facts about a raster (PAM). */
enum class RefsKeeping {
    beside,        ///< in a file beside the set, which is local
    inProxyFolder, ///< the set is remote, and the user has named a folder: GDAL_PAM_PROXY_DIR
    nowhere ///< it is remote. Looking beside it would take requests; or its name has secrets,
            ///< without which it may be that of another
};
RefsKeeping RefsKeepsIn(const RefsName &name);

/** The name of the set, without secrets, to which GDAL adds ".aux.xml" and ".ovr": the same for
 * all names of a folder. */
std::string RefsKeptBeside(const RefsName &name);

/** The name of a set as it is shown: without secrets, and where there are any with
 * "#hidden-<number>" behind it, by which this process, and no other, knows the whole name again. */
std::string RefsShownSet(const std::string &set);

/** Those of `options` that change pixels or their place, as they stand at the end of a name:
 * "?LONGITUDES=-180", or "". GDAL drops open options where a dataset becomes the source of a VRT.
 */
std::string RefsOptionsSuffix(CSLConstList options);

/** The suffix of a selection to the name of its array: "[time=3]", or nothing. */
std::string RefsSelectionSuffix(const RefsName &name);

/** The path of an array in the file: <array>, or #<number><array> in a set of a list. */
std::string RefsArrayName(const RefsName &name, const char *array);

/** The name of a subdataset: REFS:"<set>":<array>, or REFS:"<set>":#<number><array>, and behind it
 * the options of `name` that a name can hold (RefsOptionsSuffix). */
std::string RefsSubdatasetName(const RefsName &name, const char *array);

#endif
