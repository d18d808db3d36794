/* scan_internal.h -- functions that a scan calls on the scan of another file, which its own file
 * names. */
#ifndef REFS_PARSERS_SCAN_INTERNAL_H
#define REFS_PARSERS_SCAN_INTERNAL_H

#include "files.h"
#include "format.h"

/** Opens a scan of file `id` of `files`, which own it. */
refs_status refs_scan__open_other(refs_scan_files *files, uint32_t id,
                                  const refs_scan_options *options, refs_scan **scan,
                                  refs_error *err);

/** The documents of a scan, and the state of its format. */
const refs_documents *refs_scan__documents(const refs_scan *scan);
void *refs_scan__self(const refs_scan *scan, const refs_scan_format **format);

/** Fills the index of array `number` as a scanner does, with locations of all files. */
refs_status refs_scan__index(refs_scan *scan, size_t number, refs_chunk_index *index,
                             refs_error *err);

#endif
