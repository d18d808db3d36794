/* icechunk_set.h -- the chunk source of sets that are Icechunk repositories.
 *
 * Keys are those of Zarr version 3 over the nodes of one snapshot (refs/icechunk.h):
 * "group/array/zarr.json", "group/array/c/0/1".
 */
#ifndef REFS_REFERENCES_ICECHUNK_ICECHUNK_SET_H
#define REFS_REFERENCES_ICECHUNK_ICECHUNK_SET_H

#include "format.h"
#include "icechunk/icechunk.h"
#include "set.h"

/** Makes a source of the repository's chunks, which owns the repository after a success. Only
 * the vfs of `input` must outlive it. */
refs_status refs_references__icechunk_source(const refs_set_input *input, refs_icechunk *repository,
                                             refs_chunk_source *source, refs_error *err);

#endif
