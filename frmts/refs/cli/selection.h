/* selection.h -- what of a variable is taken: "t2m[time=2024-01]", as the driver selects bands. */
#ifndef REFS_CLI_SELECTION_H
#define REFS_CLI_SELECTION_H

#include "refs/join.h"
#include "tool.h"

/** Names of variables without selections, and what these take along dimensions. */
typedef struct tool_selection {
    tool_names names;    /**< of variables and of dimensions, owned */
    refs_join_cut *cuts; /**< as in refs_join_options; NULL: all is taken */
    size_t n;
    refs_notes notes; /**< set by the caller: they hear of ambiguous selections */
} tool_selection;

/** The size of the first of several names with commas between them: those in the brackets of a
 * selection, "v[time=2024,step=6]", belong to it. */
size_t tool_name_size(const char *names);

/** Whether one of the names has a selection. */
bool tool_has_selection(const tool_list *variables);

/** Names the dimensions of the selections in the only source, and replaces the items of `variables`
 * by names without selections, which *selection owns. Clear that also after a failure. */
refs_status tool_select(const tool_session *session, const char *source, tool_list *variables,
                        tool_selection *selection, refs_error *err);
void tool_selection_clear(tool_selection *selection);

#endif
