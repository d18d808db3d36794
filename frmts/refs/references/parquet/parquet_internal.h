/* parquet_internal.h -- the steps from bytes to columns: thrift, footer, pages, levels, values.
 *
 * Read before this: parquet.h.
 */
#ifndef REFS_REFERENCES_PARQUET_PARQUET_INTERNAL_H
#define REFS_REFERENCES_PARQUET_PARQUET_INTERNAL_H

#include "parquet/parquet.h"

/* -- thrift.c: the compact protocol ------------------------------------------------------------ */

/** Type codes of the compact protocol. */
typedef enum refs_thrift_type {
    REFS_THRIFT_STOP = 0,
    REFS_THRIFT_TRUE = 1,
    REFS_THRIFT_FALSE = 2,
    REFS_THRIFT_BYTE = 3,
    REFS_THRIFT_I16 = 4,
    REFS_THRIFT_I32 = 5,
    REFS_THRIFT_I64 = 6,
    REFS_THRIFT_DOUBLE = 7,
    REFS_THRIFT_BINARY = 8,
    REFS_THRIFT_LIST = 9,
    REFS_THRIFT_SET = 10,
    REFS_THRIFT_MAP = 11,
    REFS_THRIFT_STRUCT = 12,
    REFS_THRIFT_UUID = 13
} refs_thrift_type;

/** A position in thrift bytes. */
typedef struct refs_thrift {
    refs_bytes bytes;
    size_t at;
    unsigned depth;
} refs_thrift;

/** A field of a struct: its value comes next. */
typedef struct refs_thrift_field {
    int16_t id;
    refs_thrift_type type; /**< REFS_THRIFT_STOP: the struct has ended */
} refs_thrift_field;

/** Moves to the next field of a struct; `field` holds the one before, zero at the beginning. */
refs_status refs_thrift__next(refs_thrift *thrift, refs_thrift_field *field, refs_error *err);

/** Reads a value: of any integer type or a boolean; of bytes; the head of a list or set. */
refs_status refs_thrift__integer(refs_thrift *thrift, refs_thrift_type type, int64_t *value,
                                 refs_error *err);
refs_status refs_thrift__binary(refs_thrift *thrift, refs_bytes *value, refs_error *err);
refs_status refs_thrift__list(refs_thrift *thrift, refs_thrift_type *type, size_t *n,
                              refs_error *err);

/** Skips a value of `type`. */
refs_status refs_thrift__skip(refs_thrift *thrift, refs_thrift_type type, refs_error *err);

/* -- footer.c: which columns there are and where ----------------------------------------------- */

/* Numbers as parquet.thrift gives them. */
enum {
    REFS_PHYSICAL_INT32 = 1,
    REFS_PHYSICAL_INT64 = 2,
    REFS_PHYSICAL_FLOAT = 4,
    REFS_PHYSICAL_DOUBLE = 5,
    REFS_PHYSICAL_BYTE_ARRAY = 6
};
enum { REFS_REPETITION_REQUIRED = 0, REFS_REPETITION_OPTIONAL = 1 };
enum {
    REFS_ENCODING_PLAIN = 0,
    REFS_ENCODING_PLAIN_DICTIONARY = 2,
    REFS_ENCODING_RLE = 3,
    REFS_ENCODING_RLE_DICTIONARY = 8
};
enum { REFS_PAGE_DATA = 0, REFS_PAGE_INDEX = 1, REFS_PAGE_DICTIONARY = 2, REFS_PAGE_DATA_V2 = 3 };

/** A column of the schema. */
typedef struct refs_parquet_leaf {
    refs_bytes name;     /**< in the file */
    int64_t type;        /**< REFS_PHYSICAL_… or another */
    int64_t repetition;  /**< REFS_REPETITION_… or another */
    bool is_unsigned_32; /**< INT32 that holds UINT_32 */
    bool is_nested;      /**< inside another column, whose repetition matters, too */
} refs_parquet_leaf;

/** The location of a column in a row group. */
typedef struct refs_parquet_piece {
    int64_t codec;
    uint64_t offset; /**< of its first page in the file */
    uint64_t size;   /**< of its pages, in bytes */
} refs_parquet_piece;

typedef struct refs_parquet_footer {
    refs_parquet_leaf *leaves;
    size_t n_leaves, leaves_capacity;
    refs_parquet_piece *pieces; /**< row group by row group, n_leaves each */
    size_t n_pieces, pieces_capacity;
    uint64_t *group_rows;
    size_t n_groups, groups_capacity;
} refs_parquet_footer;

/** Reads the footer of a file. Clear `footer` also after a failure. */
refs_status refs_parquet__read_footer(refs_bytes file, refs_parquet_footer *footer,
                                      refs_error *err);
void refs_parquet__footer_clear(refs_parquet_footer *footer);

/* -- page.c: one page -------------------------------------------------------------------------- */

/** The pages of a piece, read one after another. */
typedef struct refs_parquet_source {
    refs_bytes bytes;
    size_t at; /**< the next page */
    const refs_parquet_leaf *leaf;
    int64_t codec;
    size_t max_page_bytes;
    refs_buf buffer; /**< the last page, decompressed */
} refs_parquet_source;

/** A page, decompressed: views of the file or of the source's buffer. */
typedef struct refs_parquet_page {
    int64_t kind; /**< REFS_PAGE_… or another, without values */
    int64_t encoding;
    size_t n_values;              /**< nulls included */
    refs_bytes definition_levels; /**< without the length that precedes them in version 1 */
    refs_bytes values;
} refs_parquet_page;

/** Reads the next page; invalidates the previous one. */
refs_status refs_parquet__read_page(refs_parquet_source *source, refs_parquet_page *page,
                                    refs_error *err);

/* -- decompress.c ------------------------------------------------------------------------------ */

/** Decompresses `bytes` to exactly `size` bytes in the buffer; `codec` is a CompressionCodec. Fails
 * before allocating memory if `bytes` are too few for that. */
refs_status refs_parquet__decompress(int64_t codec, refs_bytes bytes, size_t size,
                                     refs_buf *decompressed, refs_error *err);

/* -- column.c: pages -> a column --------------------------------------------------------------- */

/** The rest of max_bytes. */
typedef struct refs_parquet_budget {
    size_t table_bytes;
    size_t page_bytes;
} refs_parquet_budget;

/** A column under construction. */
typedef struct refs_column_builder {
    refs_parquet_column *column;
    const refs_parquet_leaf *leaf;
    const refs_parquet_limits *limits;
    refs_parquet_budget *budget;
    size_t n_rows; /**< wanted */
    size_t row;    /**< the next */
    bool has_values;

    /* The dictionary of the piece: its strings are numbered from first_string on. */
    size_t n_dictionary;
    uint32_t first_string;
    int64_t *integers;
    size_t strings_capacity;
} refs_column_builder;

/** Prepares `builder->column` for values of `builder->leaf`. */
refs_status refs_column__open(refs_column_builder *builder, refs_error *err);

/** Adds the pages of a piece of `n_rows` rows, up to the requested rows. */
refs_status refs_column__add_piece(refs_column_builder *builder, refs_bytes file,
                                   const refs_parquet_piece *piece, uint64_t n_rows,
                                   refs_error *err);

/** Frees a column, whose kind becomes NOTHING. */
void refs_column__clear(refs_parquet_column *column);

/* -- hybrid.c: runs and bit-packed groups ------------------------------------------------------ */

/** Numbers of `width` bits (0 to 32) in the RLE / bit-packing hybrid encoding. */
typedef struct refs_hybrid {
    refs_bytes bytes;
    size_t at;
    unsigned width;
    uint64_t run_left; /**< numbers left in the run or the groups */
    bool packed;
    uint32_t repeated;   /**< value of the run */
    size_t packed_begin; /**< the beginning of the groups */
    uint64_t packed_bit; /**< their next bit */
} refs_hybrid;

void refs_hybrid__init(refs_hybrid *hybrid, refs_bytes bytes, unsigned width);

/** The next number; REFS_CORRUPT at the end of the bytes. Old writers omit the padding of the last
 * bit-packed group, so only the bits of the number itself are required. */
refs_status refs_hybrid__next(refs_hybrid *hybrid, uint32_t *number, refs_error *err);

#endif
