/* thrift_writer.h -- structs in the compact protocol of Apache Thrift. */
#ifndef REFS_REFERENCES_PARQUET_THRIFT_WRITER_H
#define REFS_REFERENCES_PARQUET_THRIFT_WRITER_H

#include "refs/bytes.h"

/** Most structs in structs. */
#define REFS_THRIFT_DEPTH 8

/** Writes to `bytes`; the first failure stays, and all that follows does nothing. */
typedef struct refs_thrift_writer {
    refs_buf *bytes;
    refs_status status;
    refs_error *err;
    int last[REFS_THRIFT_DEPTH]; /**< number of the last field of each struct that is open */
    size_t depth;
} refs_thrift_writer;

typedef enum refs_thrift_type {
    REFS_THRIFT_I32 = 5,
    REFS_THRIFT_I64 = 6,
    REFS_THRIFT_BINARY = 8,
    REFS_THRIFT_LIST = 9,
    REFS_THRIFT_STRUCT = 12
} refs_thrift_type;

/** Fields of the struct that is open, ascending by `id`. */
void refs_thrift_i32(refs_thrift_writer *writer, int id, int32_t value);
void refs_thrift_i64(refs_thrift_writer *writer, int id, int64_t value);
void refs_thrift_text(refs_thrift_writer *writer, int id, const char *text);
void refs_thrift_begin(refs_thrift_writer *writer, int id); /**< a struct, until _end */
void refs_thrift_list(refs_thrift_writer *writer, int id, refs_thrift_type type, size_t n);

/** Items of a list: structs until _end, numbers, strings. */
void refs_thrift_item(refs_thrift_writer *writer);
void refs_thrift_item_i32(refs_thrift_writer *writer, int32_t value);
void refs_thrift_item_text(refs_thrift_writer *writer, const char *text);

/** Ends the struct that was begun last; the outermost needs no beginning. */
void refs_thrift_end(refs_thrift_writer *writer);

#endif
