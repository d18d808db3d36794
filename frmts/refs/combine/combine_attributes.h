/* combine_attributes.h -- attributes of sources that the result does not have, warnings that name
 * them, and which values they call missing.
 *
 * Read before this: combine.h, intern.h, zarr.h.
 */
#ifndef REFS_COMBINE_COMBINE_ATTRIBUTES_H
#define REFS_COMBINE_COMBINE_ATTRIBUTES_H

#include "refs/error.h"
#include "refs/intern.h"
#include "refs/json.h"
#include "refs/zarr.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Attributes of one group or array: those of the result, and those of another source. */
typedef struct refs_attribute_pair {
    const refs_json *kept, *other; /**< objects, or NULL */
    refs_str path;                 /**< "/t2m"; "/" for the root group */
    const char *ignored;           /**< an attribute that is not compared; NULL: all are */
} refs_attribute_pair;

/** REFS_UNSUPPORTED where ecCodes' keys say that the fields are not of one statistic or kind of
 * level.
 */
refs_status refs_combine_check_kind(const refs_attribute_pair *pair, const char *const names[2],
                                    refs_error *err);

/** Whether numbers of these classes (attribute_class.h) differ, or only one has them. */
bool refs_combine_differ_in(const refs_attribute_pair *pair, unsigned classes);

/** Warns where standard_name or cell_methods differ. False where they do not. `names` are those of
 * both sources. */
bool refs_combine_note_meaning(const refs_notes *notes, const refs_attribute_pair *pair,
                               const char *const names[2]);

/** Values of an array, in this machine's order. */
typedef struct refs_combine_kept_bytes {
    const refs_hierarchy *hierarchy;
    const refs_array_meta *meta;
    refs_bytes values;
} refs_combine_kept_bytes;

/** Appends a byte for each of the values, 1 where attributes and the fill value say that it is
 * missing; nothing where none is. Valid ranges do not count: coordinates lose those that differ. */
refs_status refs_combine_find_missing(const refs_combine_kept_bytes *of, refs_buf *missing,
                                      refs_error *err);

/** The same, where values that lie in no valid range count, too. */
refs_status refs_combine_find_invalid(const refs_combine_kept_bytes *of, refs_buf *invalid,
                                      refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
