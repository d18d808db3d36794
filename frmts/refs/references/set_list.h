/* set_list.h -- documents that hold several sets.
 *
 * Writers that make a set for each message or file put them into a list; people
 * name them in an object. Neither is in the specification.
 */
#ifndef REFS_REFERENCES_SET_LIST_H
#define REFS_REFERENCES_SET_LIST_H

#include "json/source.h"

typedef enum refs_set_layout {
    REFS_LAYOUT_SINGLE,    /**< the document is a set */
    REFS_LAYOUT_LIST,      /**< an array of sets */
    REFS_LAYOUT_DICTIONARY /**< an object whose members are sets */
} refs_set_layout;

/** Reads as much of a document as tells its layout. REFS_INVALID where it is not a set at all. */
refs_status refs_references__layout(refs_json_reader *reader, refs_set_layout *layout,
                                    refs_error *err);

/** From the beginning of the document, moves into the object that is set number `index`; -1 means
 * the only one. */
refs_status refs_references__enter_set(refs_json_reader *reader, refs_set_layout layout,
                                       int64_t index, refs_error *err);

#endif
