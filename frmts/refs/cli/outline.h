/* outline.h -- what S3netCDF4 keeps nowhere but in a master, beside the fragments: see
 * refs_cfa_write.
 */
#ifndef REFS_CLI_OUTLINE_H
#define REFS_CLI_OUTLINE_H

#include "arrays.h"

/** Whether a name is that of an outline. */
bool tool_is_outline(const char *name);

/** Of names from `first` on, which may be of fragments, adds the outlines beside them that are
 * there, and puts all before those. */
refs_status tool_add_outlines(const tool_session *session, tool_names *names, size_t first,
                              refs_error *err);

/** What fragments of a field have in common along one dimension. */
typedef struct tool_outlined_slice {
    uint64_t begin, end;
    bool is_written; /**< any of them */
} tool_outlined_slice;

/** A field of an outline. Zeroed is none; to be cleared. */
typedef struct tool_outlined {
    const refs_array_meta *meta;
    size_t n[REFS_MAX_RANK];
    tool_outlined_slice *slices[REFS_MAX_RANK];
    bool has_fragments; /**< any that was written */
} tool_outlined;

refs_status tool_outlined_open(const refs_array_meta *meta, tool_outlined *outlined,
                               refs_error *err);
void tool_outlined_clear(tool_outlined *outlined);

/** Whether the fragment with this index, of one number along each dimension, held nothing. */
bool tool_outlined_is_nothing(const tool_outlined *outlined, const uint64_t *index);

#endif
