/* record.h -- one record file of a Parquet set: row -> reference.
 *
 * The columns are "path", "offset", "size" and "raw"; any of them may be missing. "raw" is an
 * inline value; otherwise "path" is a URL, and "offset" and "size" a range of it, or all of it if
 * both are zero; a row with neither is absent.
 *
 * A record is immutable, and may be read from any thread.
 */
#ifndef REFS_REFERENCES_RECORD_H
#define REFS_REFERENCES_RECORD_H

#include "refs/block_cache.h"
#include "refs/refset.h"

typedef struct refs_record refs_record;

/** Reads the first `n_rows` rows of the file at `location` into a block, held once, which owns the
 * record and its views. REFS_NOT_FOUND without a message if there is no such file. */
refs_status refs_references__record_open(const refs_vfs *vfs, const char *location, uint64_t n_rows,
                                         refs_loaded_block *loaded, refs_error *err);

/** The record in such a block; NULL for NULL. */
refs_record *refs_references__record_of(refs_block *block);

/** The number of rows of the file, at most `n_rows`. */
uint64_t refs_references__record_n_rows(const refs_record *record);

/** A row; members as in refs_ref. */
typedef struct refs_record_row {
    refs_ref_kind kind;
    refs_bytes bytes;
    refs_str url;
    uint64_t offset, length;
} refs_record_row;

/** Reads row `row`, whose views live as long as the record. REFS_NOT_FOUND without a message:
 * absent. */
refs_status refs_references__record_row(const refs_record *record, uint64_t row,
                                        refs_record_row *ref, refs_error *err);

#endif
