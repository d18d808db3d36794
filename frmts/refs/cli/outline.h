/* outline.h -- what S3netCDF4 keeps nowhere but in a master, beside the fragments: see
 * refs_cfa_write.
 */
#ifndef REFS_CLI_OUTLINE_H
#define REFS_CLI_OUTLINE_H

#include "tool.h"

/** Whether a name is that of an outline. */
bool tool_is_outline(const char *name);

/** For names from `first` on, which may be of fragments, adds the outlines beside them that are
 * there, and puts all before those. */
refs_status tool_add_outlines(const tool_session *session, tool_names *names, size_t first,
                              refs_error *err);

#endif
