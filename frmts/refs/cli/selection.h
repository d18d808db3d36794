/* selection.h -- selections of parts of a variable, "t2m[time=2024-01]", as the driver selects
 * bands. */
#ifndef REFS_CLI_SELECTION_H
#define REFS_CLI_SELECTION_H

#include "refs/combine.h"
#include "tool.h"

/** A variable and its selection. */
typedef struct tool_selected {
    char *name, *text; /**< owned; the text between the brackets */
} tool_selected;

typedef struct tool_selection {
    tool_selected *items;
    size_t n;
    refs_notes notes;        /**< set by the caller; receive warnings about ambiguous selections */
    const char *recorded_by; /**< set by the caller: the set that says so itself, which applies to
                                data files and not to sets; NULL: the command line */
} tool_selection;

/** The selected parts of one source. */
typedef struct tool_cuts {
    tool_names names;        /**< of dimensions and their variables */
    refs_combine_cut *items; /**< as in refs_combine_options; NULL: all is taken */
    size_t n;
    bool is_none; /**< the source can be read, and has nothing of what is selected */
} tool_cuts;

/** The size of the first of several names with commas between them: those in the brackets of a
 * selection, "v[time=2024,step=6]", belong to it. */
size_t tool_name_size(const char *names);

/** Whether one of the names has a selection. */
bool tool_has_selection(const refs_name_list *variables);

/** Fails if one of the names has a selection, which masters cannot have. */
refs_status tool_selection_check(const refs_name_list *variables, refs_error *err);

/** Takes the selections out of `variables`, whose items are names without them then, which
 * *selection owns. Clear that also after a failure. */
refs_status tool_selection_take(refs_name_list *variables, tool_selection *selection,
                                refs_error *err);
void tool_selection_clear(tool_selection *selection);

/** The parts of a source that the selections take. A failure where cuts->is_none says that it has
 * no such values; any other is that it cannot be read. Clear *cuts also after a failure. */
refs_status tool_select(const tool_session *session, const char *source,
                        const tool_selection *selection, tool_cuts *cuts, refs_error *err);
void tool_cuts_clear(tool_cuts *cuts);

#endif
