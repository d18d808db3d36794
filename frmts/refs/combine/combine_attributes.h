/* combine_attributes.h -- attributes of sources that the result lacks, warnings that name them, and
 * missing values by attributes.
 *
 * Read before this: combine.h, intern.h, zarr.h. */
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

/** REFS_UNSUPPORTED if ecCodes' keys show different statistics or kinds of level. */
refs_status refs_combine_check_kind(const refs_attribute_pair *pair, const char *const names[2],
                                    refs_error *err);

/** Whether numbers of these classes (attribute_class.h) differ, or only one has them. */
bool refs_combine_differ_in(const refs_attribute_pair *pair, unsigned classes);

/** Warns if standard_name or cell_methods differ; false if they do not. `names` are the names of
 * both sources. */
bool refs_combine_note_meaning(const refs_notes *notes, const refs_attribute_pair *pair,
                               const char *const names[2]);

/** Values of an array, in this machine's order. */
typedef struct refs_combine_kept_bytes {
    const refs_hierarchy *hierarchy;
    const refs_array_meta *meta;
    refs_bytes values;
} refs_combine_kept_bytes;

/** Appends a byte for each value. In `missing`, 1 means that attributes or the fill value declare
 * it missing; in `invalid`, that it is missing or outside the valid range. Either stays empty if no
 * value is. Coordinates lose valid ranges that differ: their `invalid` is `missing`. */
refs_status refs_combine_find_missing(const refs_combine_kept_bytes *of, refs_buf *missing,
                                      refs_buf *invalid, refs_error *err);

#ifdef __cplusplus
}
#endif
#endif
