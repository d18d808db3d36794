/* growth.h -- appends to an existing Parquet set: which of its files stay unchanged.
 *
 * A set grows in place if existing references do not change: chunks keep their numbers, complete
 * record files keep their bytes, and others get new rows at their end or in holes. A program that
 * has the set open keeps its documents and goes on reading the old state. New files are complete
 * before ".zmetadata" lists them.
 */
#ifndef REFS_REFERENCES_GROWTH_H
#define REFS_REFERENCES_GROWTH_H

#include "parquet/file_writer.h"
#include "refs/staged.h"
#include "refs/write.h"
#include "writer_internal.h"

typedef struct refs_growth refs_growth;

/** Opens the existing set at `place->wanted`. */
refs_status refs_growth__open(const refs_staged *place, const refs_writer_options *options,
                              refs_growth **growth, refs_error *err);
void refs_growth__free(refs_growth *growth);

/** Compares a document of the new set with the existing one. */
refs_status refs_growth__document(refs_growth *growth, refs_str key, refs_bytes document,
                                  refs_error *err);

/** Begins the chunks of `array`; the previous array is complete. */
void refs_growth__array(refs_growth *growth, const refs_write_array *array);

/** The number of chunks of the current array in the existing set. */
uint64_t refs_growth__n_old(const refs_growth *growth);

/** If `chunk` was the last one of the existing array, and not full, writes to `scratch` its bytes
 * up to the old end, padded with zeros. *is_cut is false for all other chunks. */
refs_status refs_growth__cut(const refs_growth *growth, const refs_write_chunk *chunk,
                             refs_buf *scratch, bool *is_cut, refs_error *err);

typedef enum refs_growth_rows {
    REFS_GROWTH_ALL_ROWS, /**< the record file gets no new rows */
    REFS_GROWTH_OLD_ROWS  /**< only the old rows; the record file gets new ones */
} refs_growth_rows;

/** Compares record file number `record` of the existing set with `bytes`, those that it must have
 * for the old chunks: none if it did not exist. */
refs_status refs_growth__compare(refs_growth *growth, uint64_t record, refs_bytes bytes,
                                 refs_growth_rows rows, refs_error *err);

/** If chunks fill holes, a record file may differ: checks that the rows of the record file compared
 * last contain all of its old references. Inline values may be added in holes. */
refs_status refs_growth__check_rows(refs_growth *growth, uint64_t record, const refs_rows *rows,
                                    refs_error *err);

/** Sets *is_written: whether the complete record file `record`, with these bytes, must be
 * written. */
refs_status refs_growth__record(refs_growth *growth, uint64_t record, refs_bytes bytes,
                                bool *is_written, refs_error *err);

/** Moves the new files into the set, ".zmetadata" last. If the set could not grow in place,
 * completes the new files to a whole set, replaces the existing one by it, and notes the reason. */
refs_status refs_growth__move(refs_growth *growth, refs_staged *place, refs_error *err);

#endif
