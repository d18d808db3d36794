/* stac.h -- STAC documents, catalogues of sets and data files.
 *
 * A document stands for the set among its assets, or for a list of sets if there are several
 * (refs_set_each_of_list); commands that combine files use all data that it names.
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
    refs_str base;    /**< its own name, the base of relative names; NUL-ended */
    refs_buf *assets; /**< of an item or a collection: its sets, by the link "store" or the types
                         and roles of assets; else its data: assets with the role "data" or, if
                         there are none, with a supported type */
    refs_buf *titles; /**< of the assets: their keys; or NULL */
    refs_buf *links;  /**< other documents: items, children, the next page */
} refs_stac;

/** Appends the names in an item, a collection, a catalog or a list of items. */
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
