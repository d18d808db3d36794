/* one_crs.h -- coordinate reference systems that are written in several ways.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_ONE_CRS_H
#define REFS_ONE_CRS_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether both strings, as WKT, PROJ strings or AUTHORITY:CODE, are one reference system. */
bool refs_cf_are_one_crs(refs_str a, refs_str b);

#ifdef __cplusplus
}
#endif
#endif
