/* set_list.h -- documents that hold several sets.
 *
 * Some writers put the sets of several messages or files into a list, some users into an object.
 * The specification has neither.
 */
#ifndef REFS_REFERENCES_SET_LIST_H
#define REFS_REFERENCES_SET_LIST_H

#include "json/source.h"

typedef enum refs_set_layout {
    REFS_LAYOUT_SINGLE,    /**< the document is a set */
    REFS_LAYOUT_LIST,      /**< an array of sets */
    REFS_LAYOUT_DICTIONARY /**< an object whose members are sets */
} refs_set_layout;

/** Reads the beginning of a document to find its layout. REFS_INVALID if it is not a set. */
refs_status refs_references__layout(refs_json_reader *reader, refs_set_layout *layout,
                                    refs_error *err);

/** Fails if a single set was requested by a number other than 0; -1 means no number. */
refs_status refs_references__check_single(int64_t index, refs_error *err);

/** Moves from the beginning of the document into the object that is set number `index`; -1 means
 * the only one. */
refs_status refs_references__enter_set(refs_json_reader *reader, refs_set_layout layout,
                                       int64_t index, refs_error *err);

#endif
