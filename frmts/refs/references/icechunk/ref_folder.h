/* ref_folder.h -- folder names of branches and tags in format 1.
 *
 * Source: object_store, path::Path, which Icechunk uses: characters beyond ASCII, and some special
 * ones, are percent-encoded.
 */
#ifndef REFS_REFERENCES_ICECHUNK_REF_FOLDER_H
#define REFS_REFERENCES_ICECHUNK_REF_FOLDER_H

#include "refs/bytes.h"

/** Encodes a name, to be freed with refs_free. NULL when memory ran out. */
char *refs_icechunk__ref_encode(const char *name);

/** Decodes a name, to be freed with refs_free. NULL when memory ran out. */
char *refs_icechunk__ref_decode(refs_str written);

#endif
