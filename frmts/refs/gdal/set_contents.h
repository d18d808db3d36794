/* set_contents.h -- what a set of a list holds, in words. */
#ifndef REFS_SET_CONTENTS_H
#define REFS_SET_CONTENTS_H

#include <string>

#include "handles.h"

/** Sets `contents` to descriptions of the rasters of `set` that are not coordinates, "; " between,
 * or, without any, of all arrays of numbers; "..." behind the first of many. Reads nothing but
 * `set`.
 * "" where it is not Zarr. */
refs_status RefsDescribeContents(const refs_set *set, std::string &contents, refs_error *error);

#endif
