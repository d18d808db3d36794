/* rewrites.h -- copies the list of rewrites, for URLs that are mapped after the set was opened. */
#ifndef REFS_REFERENCES_REWRITES_H
#define REFS_REFERENCES_REWRITES_H

#include "refs/bytes.h"

/** Free *copy also after a failure, when it is incomplete. `list` may be NULL. */
refs_status refs_references__rewrites_copy(const char *const *list, char ***copy, refs_error *err);
void refs_references__rewrites_free(char **copy);

#endif
