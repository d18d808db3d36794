/* outline.h -- outlines: facts that S3netCDF4 stores only in a master, kept in the folder of its
 * fragments, see refs_cfa_write. */
#ifndef REFS_CLI_OUTLINE_H
#define REFS_CLI_OUTLINE_H

#include "tool.h"

/** Whether a name is that of an outline. */
bool tool_is_outline(const char *name);

/** Adds the existing outlines of the fragments named from `first` on, and moves all outlines before
 * these names. */
refs_status tool_add_outlines(const tool_session *session, tool_names *names, size_t first,
                              refs_error *err);

#endif
