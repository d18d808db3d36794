/* moment.h -- times that users write: ISO 8601, UTC unless an offset is given. */
#ifndef REFS_REFERENCES_ICECHUNK_MOMENT_H
#define REFS_REFERENCES_ICECHUNK_MOMENT_H

#include "refs/bytes.h"

/** The last microsecond since 1970 of what is written: "2024-05-01" is the end of that day,
 * "2024-05-01T12:00" the end of that minute; "T" or a space, fractions of a second, and "Z" or
 * "+02:00" may be there. REFS_INVALID for anything else. */
refs_status refs_icechunk__moment_parse(refs_str text, int64_t *microseconds, refs_error *err);

#endif
