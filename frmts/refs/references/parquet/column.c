/* column.c -- converts pages to a column: levels, dictionaries, values; see parquet_internal.h. */
#include "parquet/parquet_internal.h"

static refs_status claim(size_t *budget, size_t size, const refs_column_builder *builder,
                         refs_error *err) {
    if (size > *budget)
        return refs_fail(err, REFS_LIMIT, "limit of %zu bytes exceeded",
                         builder->limits->max_bytes);
    *budget -= size;
    return REFS_OK;
}

/* -- values one after another ------------------------------------------------------------------ */

/* The values of a page: plain bytes, or numbers of the dictionary's values. */
typedef struct value_reader {
    refs_bytes bytes;
    size_t at;
    bool dictionary;
    refs_hybrid numbers;
} value_reader;

static refs_status open_values(const refs_parquet_page *page, value_reader *reader,
                               refs_error *err) {
    *reader = (value_reader){.bytes = page->values};
    if (page->encoding == REFS_ENCODING_PLAIN) return REFS_OK;
    if (page->encoding != REFS_ENCODING_PLAIN_DICTIONARY &&
        page->encoding != REFS_ENCODING_RLE_DICTIONARY)
        return refs_fail(err, REFS_UNSUPPORTED, "encoding %lld is not supported",
                         (long long)page->encoding);
    reader->dictionary = true;
    if (page->values.size == 0) return REFS_OK; /* a page of nulls */
    unsigned width = page->values.data[0];
    if (width > 32)
        return refs_fail(err, REFS_CORRUPT, "dictionary indices have %u bits: expected at most 32",
                         width);
    refs_hybrid__init(&reader->numbers,
                      refs_bytes_view(page->values.data + 1, page->values.size - 1), width);
    return REFS_OK;
}

static refs_status take(value_reader *reader, size_t size, const uint8_t **data, refs_error *err) {
    if (size > reader->bytes.size - reader->at)
        return refs_fail(err, REFS_CORRUPT, "its values are truncated at byte %zu",
                         reader->bytes.size);
    *data = reader->bytes.data + reader->at;
    reader->at += size;
    return REFS_OK;
}

static refs_status take_integer(value_reader *reader, const refs_parquet_leaf *leaf, int64_t *value,
                                refs_error *err) {
    const uint8_t *data = NULL;
    if (leaf->type == REFS_PHYSICAL_INT64) {
        REFS_TRY(take(reader, 8, &data, err));
        *value = (int64_t)refs_load_le64(data);
        return REFS_OK;
    }
    REFS_TRY(take(reader, 4, &data, err));
    uint32_t bits = refs_load_le32(data);
    *value = leaf->is_unsigned_32 ? (int64_t)bits : (int64_t)(int32_t)bits;
    return REFS_OK;
}

static refs_status take_string(value_reader *reader, refs_bytes *value, refs_error *err) {
    const uint8_t *size = NULL, *data = NULL;
    REFS_TRY(take(reader, 4, &size, err));
    REFS_TRY(take(reader, refs_load_le32(size), &data, err));
    *value = refs_bytes_view(data, refs_load_le32(size));
    return REFS_OK;
}

/* -- the column -------------------------------------------------------------------------------- */

static refs_status add_string(refs_column_builder *builder, refs_bytes value, refs_error *err) {
    refs_parquet_column *column = builder->column;
    if (column->n_strings >= REFS_PARQUET_NULL - 1)
        return refs_fail(err, REFS_LIMIT, "it has more strings than the limit of %llu",
                         (unsigned long long)REFS_PARQUET_NULL - 1);
    REFS_TRY(claim(&builder->budget->table_bytes, value.size + sizeof *column->string_begin,
                   builder, err));
    REFS_GROW(column->string_begin, builder->strings_capacity, column->n_strings + 1, err);
    column->string_begin[0] = 0;
    REFS_TRY(refs_buf_append(&column->text, value.data, value.size, err));
    column->string_begin[++column->n_strings] = column->text.size;
    return REFS_OK;
}

refs_status refs_column__open(refs_column_builder *builder, refs_error *err) {
    refs_parquet_column *column = builder->column;
    bool strings = builder->leaf->type == REFS_PHYSICAL_BYTE_ARRAY;
    size_t size, each = strings ? sizeof *column->string_ids : sizeof *column->integers;
    if (!refs_mul_size(builder->n_rows, each, &size)) return refs_fail_nomem(err);
    REFS_TRY(claim(&builder->budget->table_bytes, size, builder, err));
    column->kind = strings ? REFS_PARQUET_STRINGS : REFS_PARQUET_INTEGERS;
    if (!strings) {
        column->integers = refs_calloc(builder->n_rows, each);
        return column->integers != NULL ? REFS_OK : refs_fail_nomem(err);
    }
    column->string_ids = refs_alloc(size);
    if (column->string_ids == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < builder->n_rows; i++) column->string_ids[i] = REFS_PARQUET_NULL;
    return REFS_OK;
}

void refs_column__clear(refs_parquet_column *column) {
    refs_free(column->integers);
    refs_free(column->string_ids);
    refs_free(column->string_begin);
    refs_buf_clear(&column->text);
    memset(column, 0, sizeof *column);
}

static refs_status put_from_dictionary(refs_column_builder *builder, value_reader *reader,
                                       refs_error *err) {
    refs_parquet_column *column = builder->column;
    uint32_t number = 0;
    REFS_TRY(refs_hybrid__next(&reader->numbers, &number, err));
    if (number >= builder->n_dictionary)
        return refs_fail(err, REFS_CORRUPT,
                         "dictionary index %u lies outside the dictionary of %zu values",
                         (unsigned)number, builder->n_dictionary);
    if (column->kind == REFS_PARQUET_STRINGS)
        column->string_ids[builder->row] = builder->first_string + number;
    else
        column->integers[builder->row] = builder->integers[number];
    return REFS_OK;
}

static refs_status put_value(refs_column_builder *builder, value_reader *reader, refs_error *err) {
    refs_parquet_column *column = builder->column;
    if (reader->dictionary) return put_from_dictionary(builder, reader, err);
    if (column->kind == REFS_PARQUET_INTEGERS)
        return take_integer(reader, builder->leaf, &column->integers[builder->row], err);
    refs_bytes value;
    REFS_TRY(take_string(reader, &value, err));
    REFS_TRY(add_string(builder, value, err));
    column->string_ids[builder->row] = (uint32_t)column->n_strings - 1;
    return REFS_OK;
}

/* Adds a page, which must not go past `end_row`. */
static refs_status add_data_page(refs_column_builder *builder, const refs_parquet_page *page,
                                 uint64_t end_row, refs_error *err) {
    if (page->n_values > end_row - builder->row)
        return refs_fail(err, REFS_CORRUPT, "a page has %zu values: expected %llu, as it has rows",
                         page->n_values, (unsigned long long)(end_row - builder->row));
    bool optional = builder->leaf->repetition == REFS_REPETITION_OPTIONAL;
    refs_hybrid levels;
    refs_hybrid__init(&levels, page->definition_levels, 1);
    value_reader reader;
    REFS_TRY(open_values(page, &reader, err));
    size_t wanted = builder->n_rows - builder->row;
    if (wanted > page->n_values) wanted = page->n_values;
    for (size_t i = 0; i < wanted; i++, builder->row++) {
        uint32_t defined = 1;
        if (optional) REFS_TRY(refs_hybrid__next(&levels, &defined, err));
        if (!defined) continue;
        REFS_TRY(put_value(builder, &reader, err));
        builder->has_values = true;
    }
    return REFS_OK;
}

/* -- dictionaries ------------------------------------------------------------------------------ */

static void forget_dictionary(refs_column_builder *builder) {
    refs_free(builder->integers);
    builder->integers = NULL;
    builder->n_dictionary = 0;
}

static refs_status read_dictionary(refs_column_builder *builder, const refs_parquet_page *page,
                                   refs_error *err) {
    /* Each value takes at least four bytes, so a false count cannot make us allocate more. */
    if (page->n_values > page->values.size / 4)
        return refs_fail(err, REFS_CORRUPT, "a dictionary of %zu values is truncated",
                         page->n_values);
    forget_dictionary(builder);
    value_reader reader = {.bytes = page->values};
    builder->first_string = (uint32_t)builder->column->n_strings;
    if (builder->column->kind == REFS_PARQUET_INTEGERS) {
        REFS_NEW(builder->integers, page->n_values, err);
    }
    for (size_t i = 0; i < page->n_values; i++, builder->n_dictionary++) {
        refs_bytes value;
        if (builder->integers != NULL) {
            REFS_TRY(take_integer(&reader, builder->leaf, &builder->integers[i], err));
        } else {
            REFS_TRY(take_string(&reader, &value, err));
            REFS_TRY(add_string(builder, value, err));
        }
    }
    return REFS_OK;
}

/* -- all pages of a column chunk --------------------------------------------------------------- */

static refs_status add_pages(refs_column_builder *builder, refs_parquet_source *source,
                             uint64_t end_row, refs_error *err) {
    while (builder->row < end_row && builder->row < builder->n_rows) {
        if (source->at >= source->bytes.size)
            return refs_fail(err, REFS_CORRUPT, "its pages lack the last %llu rows",
                             (unsigned long long)(end_row - builder->row));
        refs_parquet_page page;
        REFS_TRY(refs_parquet__read_page(source, &page, err));
        REFS_TRY(claim(&builder->budget->page_bytes, source->buffer.size, builder, err));
        if (page.kind == REFS_PAGE_DICTIONARY)
            REFS_TRY(read_dictionary(builder, &page, err));
        else if (page.kind == REFS_PAGE_DATA || page.kind == REFS_PAGE_DATA_V2)
            REFS_TRY(add_data_page(builder, &page, end_row, err));
    }
    return REFS_OK;
}

refs_status refs_column__add_piece(refs_column_builder *builder, refs_bytes file,
                                   const refs_parquet_piece *piece, uint64_t n_rows,
                                   refs_error *err) {
    if (piece->offset > file.size || piece->size > file.size - piece->offset)
        return refs_fail(
            err, REFS_CORRUPT, "its pages [%llu+%llu] extend past the end of the file of %zu bytes",
            (unsigned long long)piece->offset, (unsigned long long)piece->size, file.size);
    refs_parquet_source source = {
        .bytes = refs_bytes_view(file.data + piece->offset, (size_t)piece->size),
        .leaf = builder->leaf,
        .codec = piece->codec,
        .max_page_bytes = builder->limits->max_page_bytes};
    uint64_t end_row;
    refs_status status = refs_add_u64(builder->row, n_rows, &end_row)
                             ? add_pages(builder, &source, end_row, err)
                             : refs_fail(err, REFS_LIMIT, "it has more than 2^64 rows");
    forget_dictionary(builder);
    refs_buf_clear(&source.buffer);
    return status;
}
