/* parquet.h -- a minimal reader of Parquet files, for record files.
 *
 * Reads flat columns of integers and byte strings from a file in memory: what fastparquet, pyarrow
 * and GDAL write as "refs.<N>.parq". Supported are PLAIN and dictionary encodings, data pages of
 * both versions, uncompressed, SNAPPY, GZIP and ZSTD pages, any number of row groups and pages.
 * Statistics, indexes and checksums are ignored.
 *
 * Source: the Apache Parquet format specification (Thrift definition, Encodings, Data Pages) and
 * the output of the writers named above.
 *
 * A table is immutable and belongs to its caller.
 *
 * Read before this: bytes.h.
 */
#ifndef REFS_REFERENCES_PARQUET_PARQUET_H
#define REFS_REFERENCES_PARQUET_PARQUET_H

#include "refs/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum refs_parquet_kind {
    REFS_PARQUET_NOTHING,  /**< the file has no such column, or it holds nulls only */
    REFS_PARQUET_INTEGERS, /**< INT32 and INT64 */
    REFS_PARQUET_STRINGS,  /**< BYTE_ARRAY */
    REFS_PARQUET_FLOATS    /**< FLOAT and DOUBLE, which are not read: mostly NaN for null */
} refs_parquet_kind;

/** The string number of a null. */
#define REFS_PARQUET_NULL UINT32_MAX

/** One column; `integers` and `string_ids` have an element for each row of the table. */
typedef struct refs_parquet_column {
    refs_parquet_kind kind;
    int64_t *integers;      /**< INTEGERS: values, 0 for nulls */
    uint32_t *string_ids;   /**< STRINGS: number of a string, or REFS_PARQUET_NULL */
    uint64_t *string_begin; /**< STRINGS: the beginning of string i in `text`, and the end of the
                               last one */
    size_t n_strings;
    refs_buf text;
} refs_parquet_column;

/** The requested columns. */
typedef struct refs_parquet_table {
    size_t n_rows;
    size_t n_columns;
    refs_parquet_column *columns;
    size_t n_bytes; /**< of memory that the table takes */
} refs_parquet_table;

/** Budgets of a file. */
typedef struct refs_parquet_limits {
    uint64_t max_rows;
    size_t max_page_bytes; /**< of one page, decompressed */
    size_t max_bytes;      /**< of the table; and of all pages that are read, decompressed */
} refs_parquet_limits;

#define REFS_PARQUET_LIMITS_INIT                                                                   \
    { 16777216, 256 * REFS_MIB, 512 * REFS_MIB }

/** The part of a file to read. */
typedef struct refs_parquet_query {
    const char *const *names; /**< of columns, in the order of the table */
    size_t n_names;
    uint64_t first_rows; /**< most rows to read: later rows are not decoded */
    refs_parquet_limits limits;
} refs_parquet_query;

/** Reads columns of the Parquet file with the content `file`. REFS_CORRUPT: the file is invalid,
 * with the position; REFS_UNSUPPORTED names an unsupported encoding, compression or type;
 * REFS_LIMIT. Clear `table` also after a failure. */
refs_status refs_parquet_read(refs_bytes file, const refs_parquet_query *query,
                              refs_parquet_table *table, refs_error *err);
void refs_parquet_table_clear(refs_parquet_table *table);

/** The string of row `row`; size SIZE_MAX if it is null. */
refs_bytes refs_parquet_string(const refs_parquet_column *column, size_t row);

#ifdef __cplusplus
}
#endif
#endif
