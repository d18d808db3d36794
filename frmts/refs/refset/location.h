/* location.h -- what the name of a location says about it, for this room. */
#ifndef REFS_REFSET_LOCATION_H
#define REFS_REFSET_LOCATION_H

#include "refs/refset.h"

/** Whether a set at `location` may have come from another machine: where it is remote
 * (refs_location_is_remote), and where a file system of GDAL is asked that is not known to be a
 * local one. Such sets are not trusted with local files. */
bool refs_refset__location_may_be_remote(refs_str location);

#endif
