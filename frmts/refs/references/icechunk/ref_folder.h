/* ref_folder.h -- names of branches and tags as those of folders, of format 1.
 *
 * Source: object_store, path::Path, by which Icechunk writes them: characters beyond ASCII, and
 * some that have a meaning elsewhere, are percent-encoded.
 */
#ifndef REFS_REFERENCES_ICECHUNK_REF_FOLDER_H
#define REFS_REFERENCES_ICECHUNK_REF_FOLDER_H

#include "refs/bytes.h"

/** The name as it is written, to be freed with refs_free. NULL without memory. */
char *refs_icechunk__ref_encode(const char *name);

/** The name that is written so, to be freed with refs_free. NULL without memory. */
char *refs_icechunk__ref_decode(refs_str written);

#endif
