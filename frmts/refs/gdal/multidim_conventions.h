/* multidim_conventions.h -- what the room cf says of one variable, in the words of GDAL's
 * dimensions.
 */
#ifndef REFS_MULTIDIM_CONVENTIONS_H
#define REFS_MULTIDIM_CONVENTIONS_H

#include <string>

#include "pixel_type.h"
#include "refs/zarr.h"

/** The text of a string attribute or of a list of one, or "" where there is none. */
std::string RefsAttributeText(const refs_json *attributes, const char *name);

/** How integers of an array are to be read. */
RefsIntegers RefsIntegersOf(const refs_array_meta *array);

/** Type and direction of a dimension in GDAL's words; "" where they are not known. */
struct RefsAxis {
    const char *type;
    const char *direction;
};

/** What runs along the dimension that `variable` gives the coordinates of; may be NULL. */
RefsAxis RefsAxisOf(const refs_array_meta *variable);

#endif
