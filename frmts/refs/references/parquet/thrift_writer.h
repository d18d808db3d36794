/* thrift_writer.h -- writes structs in the compact protocol of Apache Thrift. */
#ifndef REFS_REFERENCES_PARQUET_THRIFT_WRITER_H
#define REFS_REFERENCES_PARQUET_THRIFT_WRITER_H

#include "refs/bytes.h"

/** Deepest nesting of structs. */
#define REFS_THRIFT_DEPTH 8

/** Writes to `bytes`; after the first failure, which is kept, all calls do nothing. */
typedef struct refs_thrift_writer {
    refs_buf *bytes;
    refs_status status;
    refs_error *err;
    int last[REFS_THRIFT_DEPTH]; /**< id of the last field of each open struct */
    size_t depth;
} refs_thrift_writer;

typedef enum refs_thrift_type {
    REFS_THRIFT_I32 = 5,
    REFS_THRIFT_I64 = 6,
    REFS_THRIFT_BINARY = 8,
    REFS_THRIFT_LIST = 9,
    REFS_THRIFT_STRUCT = 12
} refs_thrift_type;

/** Write fields of the current struct, ascending by `id`. */
void refs_thrift_i32(refs_thrift_writer *writer, int id, int32_t value);
void refs_thrift_i64(refs_thrift_writer *writer, int id, int64_t value);
void refs_thrift_text(refs_thrift_writer *writer, int id, const char *text);
void refs_thrift_begin(refs_thrift_writer *writer, int id); /**< a struct, until _end */
void refs_thrift_list(refs_thrift_writer *writer, int id, refs_thrift_type type, size_t n);

/** Items of a list: structs until _end, numbers, strings. */
void refs_thrift_item(refs_thrift_writer *writer);
void refs_thrift_item_i32(refs_thrift_writer *writer, int32_t value);
void refs_thrift_item_text(refs_thrift_writer *writer, const char *text);

/** Ends the current struct; the outermost one is begun implicitly. */
void refs_thrift_end(refs_thrift_writer *writer);

#endif
