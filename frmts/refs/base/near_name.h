/* near_name.h -- which name may have been meant by one that nothing has.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_NEAR_NAME_H
#define REFS_NEAR_NAME_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether `asked` may be a misspelling of `other`, nearer than one *least letters away: sets that
 * if so. It begins at SIZE_MAX. Groups before the names and the case of letters count nothing, two
 * letters that changed places one; no more than a third of the letters may be wrong. */
bool refs_name_is_near(refs_str asked, refs_str other, size_t *least);

#ifdef __cplusplus
}
#endif
#endif
