/* growth.h -- a Parquet set that is there, and grows: what of it stays as it is.
 *
 * A set grows in its place where nothing changes that is there: chunks keep their numbers, record
 * files whose chunks were all there have the same bytes, and others get rows behind those that they
 * have, or where there were holes. A program that opened the set before keeps its documents and
 * goes on reading what it was. New files are complete before ".zmetadata" lists them.
 */
#ifndef REFS_REFERENCES_GROWTH_H
#define REFS_REFERENCES_GROWTH_H

#include "parquet/file_writer.h"
#include "refs/staged.h"
#include "refs/write.h"
#include "writer_internal.h"

typedef struct refs_growth refs_growth;

/** The set at `place->wanted`. */
refs_status refs_growth__open(const refs_staged *place, const refs_writer_options *options,
                              refs_growth **growth, refs_error *err);
void refs_growth__free(refs_growth *growth);

/** A document of the new set. */
refs_status refs_growth__document(refs_growth *growth, refs_str key, refs_bytes document,
                                  refs_error *err);

/** The chunks of `array` follow; the one before is complete. */
void refs_growth__array(refs_growth *growth, const refs_write_array *array);

/** How many chunks of that array were there. */
uint64_t refs_growth__n_old(const refs_growth *growth);

/** The former chunk `number`, if it was the last one and not full: `bytes` cut off there, in
 * `scratch`, with zeros behind. False where it was as it is. */
refs_status refs_growth__cut(const refs_growth *growth, const refs_write_chunk *chunk,
                             refs_buf *scratch, bool *is_cut, refs_error *err);

typedef enum refs_growth_rows {
    REFS_GROWTH_ALL_ROWS, /**< nothing new comes into this record file */
    REFS_GROWTH_OLD_ROWS  /**< what was in it; now comes more */
} refs_growth_rows;

/** The bytes that record file number `record` had with the chunks that were there: none where it
 * was not there. */
refs_status refs_growth__compare(refs_growth *growth, uint64_t record, refs_bytes bytes,
                                 refs_growth_rows rows, refs_error *err);

/** If chunks fill holes, a record file may differ from what it was: checks whether the references
 * that were there are in these rows of the file that was compared last. Values in the set may be
 * put where some were missing. */
refs_status refs_growth__check_rows(refs_growth *growth, uint64_t record, const refs_rows *rows,
                                    refs_error *err);

/** A record file is complete, and has these bytes: whether it is to be written. */
refs_status refs_growth__record(refs_growth *growth, uint64_t record, refs_bytes bytes,
                                bool *is_written, refs_error *err);

/** Moves what was written into the set, ".zmetadata" at last; or, where it could not grow,
 * completes what was written with what was not, puts that in its place, and notes why. */
refs_status refs_growth__move(refs_growth *growth, refs_staged *place, refs_error *err);

#endif
