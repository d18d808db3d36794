/* parquet.h -- the smallest reader of parquet files that reference sets need.
 *
 * Reads flat columns of integers and byte strings from a file in memory: what
 * fastparquet, pyarrow and GDAL write as "refs.<N>.parq". Supported are PLAIN
 * and dictionary encodings, data pages of both versions, uncompressed, SNAPPY,
 * GZIP and ZSTD pages, any number of row groups and pages. Statistics, indexes
 * and checksums are passed over.
 *
 * Source: the Apache Parquet format specification (Thrift definition,
 * Encodings, Data Pages) and what the writers named above really emit.
 *
 * Nothing is shared; a table belongs to whoever read it and is immutable.
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
    uint64_t *string_begin; /**< STRINGS: where string i begins in `text`; one more ends the last */
    size_t n_strings;
    refs_buf text;
} refs_parquet_column;

/** The columns asked for. */
typedef struct refs_parquet_table {
    size_t n_rows;
    size_t n_columns;
    refs_parquet_column *columns;
    size_t n_bytes; /**< of memory that the table takes */
} refs_parquet_table;

/** Budgets: what a file may ask for. */
typedef struct refs_parquet_limits {
    uint64_t max_rows;
    size_t max_page_bytes; /**< of one page, decompressed */
    size_t max_bytes;      /**< of the table; and of all pages that are read, decompressed */
} refs_parquet_limits;

#define REFS_PARQUET_LIMITS_INIT                                                                   \
    { 16777216, 256 * REFS_MIB, 512 * REFS_MIB }

/** The part of a file to read. */
typedef struct refs_parquet_query {
    const char *const *names; /**< of columns, in the order that the table shall have */
    size_t n_names;
    uint64_t first_rows; /**< so many at most: the rows behind them cost nothing */
    refs_parquet_limits limits;
} refs_parquet_query;

/** Reads columns of the parquet file whose bytes are `file`. REFS_CORRUPT says what is wrong where;
 * REFS_UNSUPPORTED names an encoding, compression or type that is not read; REFS_LIMIT. `table`
 * is to be cleared also after a failure. */
refs_status refs_parquet_read(refs_bytes file, const refs_parquet_query *query,
                              refs_parquet_table *table, refs_error *err);
void refs_parquet_table_clear(refs_parquet_table *table);

/** The string of row `row`; size SIZE_MAX where it is null. */
refs_bytes refs_parquet_string(const refs_parquet_column *column, size_t row);

#ifdef __cplusplus
}
#endif
#endif
