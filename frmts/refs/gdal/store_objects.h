/* store_objects.h -- many objects of a store under one name: a prefix, or a pattern. */
#ifndef REFS_STORE_OBJECTS_H
#define REFS_STORE_OBJECTS_H

#include <string>
#include <vector>

#include "refs/error.h"

/** Whether a location is the prefix of names in a store whose objects GDAL lists, "/vsis3/",
 * "/vsigs/" and others: it ends with a slash. */
bool RefsIsPrefix(const std::string &location);

/** Appends the locations that a prefix or a pattern stands for, as `refs index` takes them
 * (refs_join_takes_object), in the order of names; none where there are none. REFS_IO: the store
 * does not list. */
refs_status RefsListObjects(const std::string &location, std::vector<std::string> &files,
                            refs_error *error);

#endif
