/* zip_signature.h -- how ZIP archives and their members begin.
 *
 * Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 and 4.3.16.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_ZIP_SIGNATURE_H
#define REFS_ZIP_SIGNATURE_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whether bytes begin as the local header of a member. */
static inline bool refs_is_zip_member(refs_bytes bytes) {
    return refs_str_starts(refs_bytes_text(bytes), "PK\3\4");
}

/** Whether a file with this beginning is a ZIP archive, which may be empty. */
static inline bool refs_is_zip(refs_bytes head) {
    return refs_is_zip_member(head) || refs_str_starts(refs_bytes_text(head), "PK\5\6");
}

#ifdef __cplusplus
}
#endif
#endif
