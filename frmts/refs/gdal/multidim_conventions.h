/* multidim_conventions.h -- what conventions say of one variable that GDAL's dimensions and arrays
 * ask for: the kind of an axis, and whether a fill value is a missing value.
 *
 * Follows what GDAL's multidimensional netCDF driver makes of the same attributes.
 */
#ifndef REFS_MULTIDIM_CONVENTIONS_H
#define REFS_MULTIDIM_CONVENTIONS_H

#include <string>

#include "refs/zarr.h"

/** The text of a string attribute, or "" where there is none. */
std::string RefsAttributeText(const refs_json *attributes, const char *name);

/** Type and direction of a dimension in GDAL's words; "" where they are not known. */
struct RefsAxis {
    const char *type;
    const char *direction;
};

/** What runs along the dimension that `variable` gives the coordinates of; may be NULL. */
RefsAxis RefsAxisOf(const refs_array_meta *variable);

/** Whether the fill value is the one that netCDF uses where nobody chose another: then it marks
 * what was never written, and nobody declared it. */
bool RefsFillIsDefault(const refs_array_meta *array);

#endif
