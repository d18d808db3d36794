/* stac.h -- documents of STAC, catalogues of sets and data files.
 *
 * A document is itself a set where one of its assets is, or a list of sets where several are
 * (refs_set_each_of_list); what makes sets of many files takes all data that it names.
 *
 * Read before this: refset.h.
 */
#ifndef REFS_REFERENCES_STAC_STAC_H
#define REFS_REFERENCES_STAC_STAC_H

#include "refs/refset.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The names in a document of STAC, each with a NUL. */
typedef struct refs_stac {
    refs_str base;    /**< its own name, which others are relative to; with a NUL behind it */
    refs_buf *assets; /**< of an item or a collection: the sets that it is, by the link "store" or
                         its assets' types and roles; else its data: what has the role "data" or, if
                         nothing has it, a type that is read */
    refs_buf *titles; /**< of the assets: their keys; or NULL */
    refs_buf *links;  /**< other documents: items, children, the next page */
} refs_stac;

/** Appends what an item, a collection, a catalog or a list of items names. */
refs_status refs_stac_read(refs_str text, const refs_stac *found, refs_error *err);

/** Works like refs_set_each_of_list for the document at `location`: sets have a name, and no
 * metadata. */
refs_status refs_stac_each_set(const refs_vfs *vfs, const char *location,
                               const refs_set_visitor *visitor, size_t *n_sets, refs_error *err);

/** Whether the beginning of a file is that of a STAC document, by its members. */
bool refs_stac_sniff(refs_bytes head);

#ifdef __cplusplus
}
#endif
#endif
