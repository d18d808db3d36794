/* moment.h -- parses times from users: ISO 8601, UTC by default. */
#ifndef REFS_REFERENCES_ICECHUNK_MOMENT_H
#define REFS_REFERENCES_ICECHUNK_MOMENT_H

#include "refs/bytes.h"

/** The last microsecond, since 1970, of the period that the text states: "2024-05-01" is the end of
 * that day, "2024-05-01T12:00" the end of that minute. The separator is "T" or a space; fractions
 * of a second and "Z" or "+02:00" are optional. REFS_INVALID for anything else. */
refs_status refs_icechunk__moment_parse(refs_str text, int64_t *microseconds, refs_error *err);

#endif
