/* file_writer.h -- encodes one record file in the format of fsspec.
 *
 * Columns "path" (text or null), "offset" and "size" (numbers), "raw" (bytes or null). One row
 * group with one data page per column, compressed by Zstd; paths use a dictionary if they repeat.
 */
#ifndef REFS_REFERENCES_PARQUET_FILE_WRITER_H
#define REFS_REFERENCES_PARQUET_FILE_WRITER_H

#include "refs/bytes.h"
#include "refs/intern.h"

/** The null value of a column. */
#define REFS_ROW_NULL UINT32_MAX

/** The rows of a record file, all of which are written. */
typedef struct refs_rows {
    size_t n;
    size_t n_used;           /**< rows after these are null: a file costs what it holds */
    uint64_t *offset, *size; /**< of each row */
    uint32_t *path;          /**< of each row: a number in `paths`, or REFS_ROW_NULL */
    uint32_t *raw;           /**< of each row: the position in `raw_bytes` of its size and its
                                bytes, or REFS_ROW_NULL */
    refs_intern paths;
    refs_buf raw_bytes; /**< sizes of four bytes, little-endian, and bytes */
} refs_rows;

refs_status refs_write__rows_open(size_t n, refs_rows *rows, refs_error *err);
void refs_write__rows_clear(refs_rows *rows);

/** Makes all rows null. */
void refs_write__rows_reset(refs_rows *rows);

/** An encoder, which is reused for several files. */
typedef struct refs_parquet_file refs_parquet_file;

refs_status refs_write__parquet_file_open(refs_parquet_file **file, refs_error *err);
void refs_write__parquet_file_free(refs_parquet_file *file);

/** Encodes `rows` to the bytes of a file, borrowed until the next call. */
refs_status refs_write__parquet_file_make(refs_parquet_file *file, const refs_rows *rows,
                                          refs_bytes *bytes, refs_error *err);

#endif
