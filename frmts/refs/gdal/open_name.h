/* open_name.h -- the names that users write, parsed once.
 *
 *   REFS:"refs.json":/group/t2m     REFS:refs.json:t2m     REFS:https://host/refs.json
 *   refs.json
 */
#ifndef REFS_OPEN_NAME_H
#define REFS_OPEN_NAME_H

#include <string>

struct RefsName {
    std::string set;       ///< as written: a path, a URL or a /vsi name
    std::string location;  ///< the same as a name for VSI
    std::string array;     ///< path of an array, or "" for the whole set
    std::string selection; ///< what stands in brackets behind it, or ""
};

/** Whether `name` begins with REFS: (in any case). */
bool RefsNameIsPrefixed(const char *name);

/** Parses `name`, which need not be prefixed; false with `problem` where it makes no sense. */
bool RefsNameParse(const char *name, RefsName &parsed, std::string &problem);

/** The name of a subdataset: REFS:"<set>":<array>. */
std::string RefsSubdatasetName(const std::string &set, const char *array);

#endif
