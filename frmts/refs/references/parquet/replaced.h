/* replaced.h -- whether the folder of a Parquet set may take the place of one that is there.
 *
 * Read before this: staged.h.
 */
#ifndef REFS_PARQUET_REPLACED_H
#define REFS_PARQUET_REPLACED_H

#include "refs/error.h"

/** REFS_INVALID, with their names, where the folder that is going to be replaced holds files that
 * are no part of a Parquet set: they would be removed with it. */
refs_status refs_parquet__check_replaced(const char *path, refs_error *err);

#endif
