/* one_crs.h -- compares coordinate reference systems.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_ONE_CRS_H
#define REFS_ONE_CRS_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether both strings, each WKT, a PROJ string or AUTHORITY:CODE, are the same reference
 * system. */
bool refs_cf_are_one_crs(refs_str a, refs_str b);

#ifdef __cplusplus
}
#endif
#endif
