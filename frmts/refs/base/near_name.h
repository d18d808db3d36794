/* near_name.h -- suggestions for misspelt names.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_NEAR_NAME_H
#define REFS_NEAR_NAME_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether `asked` may be a misspelling of `other`, with fewer wrong letters than *least, which is
 * then set to their number. Initialise *least with SIZE_MAX. Groups before the names and case are
 * ignored, a transposition of two letters counts as one, and at most a third of the letters may be
 * wrong. */
bool refs_name_is_near(refs_str asked, refs_str other, size_t *least);

#ifdef __cplusplus
}
#endif
#endif
