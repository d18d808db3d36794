/* replaced.h -- checks that the folder of a Parquet set may replace an existing one.
 *
 * Read before this: staged.h.
 */
#ifndef REFS_PARQUET_REPLACED_H
#define REFS_PARQUET_REPLACED_H

#include "refs/error.h"

/** REFS_INVALID, with their names, if the existing folder contains files that are not part of a
 * Parquet set, because these would be removed. */
refs_status refs_parquet__check_replaced(const char *path, refs_error *err);

#endif
