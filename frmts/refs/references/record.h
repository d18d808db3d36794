/* record.h -- one record file of a parquet set: row -> reference.
 *
 * The columns are "path", "offset", "size" and "raw"; any of them may be
 * missing. A value in "raw" is the value itself, as it stands there; otherwise
 * "path" names a location, of which "offset" and "size" take a part, or all of
 * it where both are zero; without either the row is absent.
 *
 * A record is immutable, and may be read from any thread.
 */
#ifndef REFS_REFERENCES_RECORD_H
#define REFS_REFERENCES_RECORD_H

#include "refs/block_cache.h"
#include "refs/refset.h"

typedef struct refs_record refs_record;

/** Reads the first `n_rows` rows of the file at `location` into a block, held once, that holds the
 * record and all views of it. REFS_NOT_FOUND without a message where there is no such file. */
refs_status refs_references__record_open(const refs_vfs *vfs, const char *location, uint64_t n_rows,
                                         refs_loaded_block *loaded, refs_error *err);

/** The record that such a block holds; NULL of NULL. */
refs_record *refs_references__record_of(refs_block *block);

/** Rows that the file has, `n_rows` at most. */
uint64_t refs_references__record_n_rows(const refs_record *record);

/** A row; members mean what they mean in refs_ref. */
typedef struct refs_record_row {
    refs_ref_kind kind;
    refs_bytes bytes;
    refs_str url;
    uint64_t offset, length;
} refs_record_row;

/** Row `row`, whose views live as long as the record. REFS_NOT_FOUND without a message: absent. */
refs_status refs_references__record_row(const refs_record *record, uint64_t row,
                                        refs_record_row *ref, refs_error *err);

#endif
