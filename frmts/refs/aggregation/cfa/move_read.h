/* move_read.h -- reads a master before libnetcdf does. */
#ifndef REFS_AGGREGATION_CFA_MOVE_READ_H
#define REFS_AGGREGATION_CFA_MOVE_READ_H

#include "cfa/cfa.h"

/** Reads a master completely. libnetcdf does not expect hostile files; the parsers of this project
 * detect them, but only in what they read. */
refs_status refs_cfa__read_whole(const char *path, const refs_cfa_moving *moving, refs_error *err);

#endif
