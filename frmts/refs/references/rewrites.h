/* rewrites.h -- a copy of the list of rewrites, for what maps URLs after the set was opened. */
#ifndef REFS_REFERENCES_REWRITES_H
#define REFS_REFERENCES_REWRITES_H

#include "refs/bytes.h"

/** *copy is complete or ends early, and is to be freed in both cases. `list` may be NULL. */
refs_status refs_references__rewrites_copy(const char *const *list, char ***copy, refs_error *err);
void refs_references__rewrites_free(char **copy);

#endif
