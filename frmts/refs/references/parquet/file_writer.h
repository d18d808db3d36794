/* file_writer.h -- one record file: rows -> bytes, as fsspec reads them.
 *
 * Columns "path" (text or null), "offset" and "size" (numbers), "raw" (bytes or null). One row
 * group, one data page a column, compressed by Zstd; paths by a dictionary where they repeat.
 */
#ifndef REFS_REFERENCES_PARQUET_FILE_WRITER_H
#define REFS_REFERENCES_PARQUET_FILE_WRITER_H

#include "refs/bytes.h"
#include "refs/intern.h"

/** A value of a column that is null. */
#define REFS_ROW_NULL UINT32_MAX

/** The rows of a record file: room for so many, all of them in the file. */
typedef struct refs_rows {
    size_t n;
    uint64_t *offset, *size; /**< of each row */
    uint32_t *path;          /**< of each row: a number in `paths`, or REFS_ROW_NULL */
    uint32_t *raw;           /**< of each row: where in `raw_bytes` its size and its bytes are, or
                                  REFS_ROW_NULL */
    refs_intern paths;
    refs_buf raw_bytes; /**< sizes of four bytes, little-endian, and bytes */
} refs_rows;

refs_status refs_write__rows_open(size_t n, refs_rows *rows, refs_error *err);
void refs_write__rows_clear(refs_rows *rows);

/** Makes all rows null. */
void refs_write__rows_reset(refs_rows *rows);

/** Compresses; kept from file to file. */
typedef struct refs_parquet_file refs_parquet_file;

refs_status refs_write__parquet_file_open(refs_parquet_file **file, refs_error *err);
void refs_write__parquet_file_free(refs_parquet_file *file);

/** The bytes of the file of `rows`, borrowed until the next one is made. */
refs_status refs_write__parquet_file_make(refs_parquet_file *file, const refs_rows *rows,
                                          refs_bytes *bytes, refs_error *err);

#endif
