/* footer.c -- reads FileMetaData: the schema, and where column chunks are.
 *
 * Numbers of fields are those of parquet.thrift. */
#include "parquet/parquet_internal.h"

/* Reads one field of a struct; *known: the field's value was read, otherwise it is skipped. */
typedef refs_status (*read_field)(refs_thrift *thrift, const refs_thrift_field *field, void *into,
                                  bool *known, refs_error *err);

static refs_status read_struct(refs_thrift *thrift, read_field read, void *into, refs_error *err) {
    refs_thrift_field field = {0, REFS_THRIFT_STOP};
    for (;;) {
        REFS_TRY(refs_thrift__next(thrift, &field, err));
        if (field.type == REFS_THRIFT_STOP) return REFS_OK;
        bool known = false;
        REFS_TRY(read(thrift, &field, into, &known, err));
        if (!known) REFS_TRY(refs_thrift__skip(thrift, field.type, err));
    }
}

static refs_status take_integer(refs_thrift *thrift, const refs_thrift_field *field, int64_t *into,
                                bool *known, refs_error *err) {
    *known = true;
    return refs_thrift__integer(thrift, field->type, into, err);
}

/* -- SchemaElement ------------------------------------------------------------------------------
 */

typedef struct schema_element {
    refs_bytes name;
    int64_t type, repetition, n_children, converted;
} schema_element;

static refs_status read_element_field(refs_thrift *thrift, const refs_thrift_field *field,
                                      void *into, bool *known, refs_error *err) {
    schema_element *element = into;
    switch (field->id) {
    case 1:
        return take_integer(thrift, field, &element->type, known, err);
    case 3:
        return take_integer(thrift, field, &element->repetition, known, err);
    case 4:
        if (field->type != REFS_THRIFT_BINARY) return REFS_OK;
        *known = true;
        return refs_thrift__binary(thrift, &element->name, err);
    case 5:
        return take_integer(thrift, field, &element->n_children, known, err);
    case 6:
        return take_integer(thrift, field, &element->converted, known, err);
    default:
        return REFS_OK;
    }
}

/* ConvertedType UINT_32. */
#define CONVERTED_UINT_32 13

static refs_status add_leaf(refs_parquet_footer *footer, const refs_parquet_leaf *leaf,
                            refs_error *err) {
    REFS_GROW(footer->leaves, footer->leaves_capacity, footer->n_leaves, err);
    footer->leaves[footer->n_leaves++] = *leaf;
    return REFS_OK;
}

static refs_status fail_schema(refs_error *err) {
    return refs_fail(err, REFS_CORRUPT,
                     "the schema has another number of columns than it declares");
}

/* The schema is a tree, parents before their children; the first element is the root. */
static refs_status read_schema(refs_thrift *thrift, refs_parquet_footer *footer, refs_error *err) {
    refs_thrift_type type;
    size_t n = 0, n_nested = 0; /* elements still to come of a nested column */
    size_t n_awaited = 1;       /* elements still to come whose parent was read */
    REFS_TRY(refs_thrift__list(thrift, &type, &n, err));
    if (type != REFS_THRIFT_STRUCT)
        return refs_fail(err, REFS_CORRUPT, "the schema: expected a list");
    for (size_t i = 0; i < n; i++) {
        schema_element element = {.type = -1, .converted = -1};
        REFS_TRY(read_struct(thrift, read_element_field, &element, err));
        if (element.n_children < 0 || (uint64_t)element.n_children > n)
            return refs_fail(err, REFS_CORRUPT, "a column has an invalid number of children: %lld",
                             (long long)element.n_children);
        if (n_awaited == 0) return fail_schema(err);
        n_awaited += (size_t)element.n_children - 1;
        if (i == 0) continue;
        bool is_nested = n_nested > 0;
        if (is_nested) n_nested--;
        n_nested += (size_t)element.n_children;
        if (element.n_children > 0) continue;
        refs_parquet_leaf leaf = {element.name, element.type, element.repetition,
                                  element.converted == CONVERTED_UINT_32, is_nested};
        REFS_TRY(add_leaf(footer, &leaf, err));
    }
    return n_awaited == 0 ? REFS_OK : fail_schema(err);
}

/* -- ColumnChunk and RowGroup -------------------------------------------------------------------
 */

typedef struct column_meta {
    refs_bytes name; /* the last part of the column's path */
    int64_t type, codec, n_values, size, data_offset, dictionary_offset;
} column_meta;

static refs_status read_path(refs_thrift *thrift, refs_bytes *name, refs_error *err) {
    refs_thrift_type type;
    size_t n = 0;
    REFS_TRY(refs_thrift__list(thrift, &type, &n, err));
    if (type != REFS_THRIFT_BINARY)
        return refs_fail(err, REFS_CORRUPT, "the path of a column: expected a list of names");
    for (size_t i = 0; i < n; i++) REFS_TRY(refs_thrift__binary(thrift, name, err));
    return REFS_OK;
}

static refs_status read_column_meta_field(refs_thrift *thrift, const refs_thrift_field *field,
                                          void *into, bool *known, refs_error *err) {
    column_meta *meta = into;
    switch (field->id) {
    case 1:
        return take_integer(thrift, field, &meta->type, known, err);
    case 3:
        if (field->type != REFS_THRIFT_LIST) return REFS_OK;
        *known = true;
        return read_path(thrift, &meta->name, err);
    case 4:
        return take_integer(thrift, field, &meta->codec, known, err);
    case 5:
        return take_integer(thrift, field, &meta->n_values, known, err);
    case 7:
        return take_integer(thrift, field, &meta->size, known, err);
    case 9:
        return take_integer(thrift, field, &meta->data_offset, known, err);
    case 11:
        return take_integer(thrift, field, &meta->dictionary_offset, known, err);
    default:
        return REFS_OK;
    }
}

static refs_status read_column_chunk_field(refs_thrift *thrift, const refs_thrift_field *field,
                                           void *into, bool *known, refs_error *err) {
    if (field->id != 3 || field->type != REFS_THRIFT_STRUCT) return REFS_OK;
    *known = true;
    return read_struct(thrift, read_column_meta_field, into, err);
}

static refs_status add_piece(refs_parquet_footer *footer, const column_meta *meta,
                             refs_error *err) {
    int64_t begin = meta->data_offset;
    if (meta->dictionary_offset > 0 && meta->dictionary_offset < begin)
        begin = meta->dictionary_offset;
    if (begin < 4 || meta->size < 0)
        return refs_fail(err, REFS_CORRUPT, "a column has an invalid byte range: [%lld+%lld]",
                         (long long)begin, (long long)meta->size);
    REFS_GROW(footer->pieces, footer->pieces_capacity, footer->n_pieces, err);
    footer->pieces[footer->n_pieces++] =
        (refs_parquet_piece){meta->codec, (uint64_t)begin, (uint64_t)meta->size};
    return REFS_OK;
}

/* The footer describes each column twice, and the two must agree. */
static refs_status check_column(const column_meta *meta, const refs_parquet_leaf *leaf,
                                refs_error *err) {
    if (meta->type == leaf->type && meta->name.size == leaf->name.size &&
        memcmp(meta->name.data, leaf->name.data, leaf->name.size) == 0)
        return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "a row group has a column that the schema lacks");
}

/* Column chunks that are not nested must have the same number of values. `n_values` is that number,
 * or -1 if it is unknown. */
static refs_status read_columns(refs_thrift *thrift, refs_parquet_footer *footer, int64_t *n_values,
                                refs_error *err) {
    refs_thrift_type type;
    size_t n = 0;
    REFS_TRY(refs_thrift__list(thrift, &type, &n, err));
    if (type != REFS_THRIFT_STRUCT || n != footer->n_leaves)
        return refs_fail(err, REFS_CORRUPT,
                         "a row group has %zu columns: expected %zu, as the schema has", n,
                         footer->n_leaves);
    for (size_t i = 0; i < n; i++) {
        const refs_parquet_leaf *leaf = &footer->leaves[i];
        column_meta meta = {.type = -1, .n_values = -1, .size = -1};
        REFS_TRY(read_struct(thrift, read_column_chunk_field, &meta, err));
        REFS_TRY(check_column(&meta, leaf, err));
        REFS_TRY(add_piece(footer, &meta, err));
        if (leaf->is_nested || *n_values == meta.n_values) continue;
        if (*n_values >= 0)
            return refs_fail(err, REFS_CORRUPT,
                             "the columns of a row group differ in length: %lld and %lld values",
                             (long long)*n_values, (long long)meta.n_values);
        *n_values = meta.n_values;
    }
    return REFS_OK;
}

typedef struct row_group {
    refs_parquet_footer *footer;
    int64_t n_rows;
    int64_t n_values; /* of each column, or -1 */
} row_group;

static refs_status read_row_group_field(refs_thrift *thrift, const refs_thrift_field *field,
                                        void *into, bool *known, refs_error *err) {
    row_group *group = into;
    if (field->id == 3) return take_integer(thrift, field, &group->n_rows, known, err);
    if (field->id != 1 || field->type != REFS_THRIFT_LIST) return REFS_OK;
    *known = true;
    return read_columns(thrift, group->footer, &group->n_values, err);
}

static refs_status add_group(refs_thrift *thrift, refs_parquet_footer *footer, refs_error *err) {
    row_group group = {footer, -1, -1};
    size_t n_pieces = footer->n_pieces;
    REFS_TRY(read_struct(thrift, read_row_group_field, &group, err));
    if (group.n_rows < 0 || footer->n_pieces - n_pieces != footer->n_leaves ||
        (group.n_values >= 0 && group.n_values != group.n_rows))
        return refs_fail(err, REFS_CORRUPT, "row group %zu is truncated", footer->n_groups);
    REFS_GROW(footer->group_rows, footer->groups_capacity, footer->n_groups, err);
    footer->group_rows[footer->n_groups++] = (uint64_t)group.n_rows;
    return REFS_OK;
}

static refs_status read_row_groups(refs_thrift *thrift, refs_parquet_footer *footer,
                                   refs_error *err) {
    refs_thrift_type type;
    size_t n = 0;
    REFS_TRY(refs_thrift__list(thrift, &type, &n, err));
    if (n > 0 && type != REFS_THRIFT_STRUCT)
        return refs_fail(err, REFS_CORRUPT, "the row groups: expected a list");
    for (size_t i = 0; i < n; i++) REFS_TRY(add_group(thrift, footer, err));
    return REFS_OK;
}

/* -- FileMetaData -------------------------------------------------------------------------------
 */

typedef struct file_metadata {
    refs_parquet_footer *footer;
    bool has_version, has_groups;
    int64_t n_rows, version;
} file_metadata;

static refs_status read_file_field(refs_thrift *thrift, const refs_thrift_field *field, void *into,
                                   bool *known, refs_error *err) {
    file_metadata *metadata = into;
    if (field->id == 1) {
        metadata->has_version = true;
        return take_integer(thrift, field, &metadata->version, known, err);
    }
    if (field->id == 3) return take_integer(thrift, field, &metadata->n_rows, known, err);
    if (field->type != REFS_THRIFT_LIST || (field->id != 2 && field->id != 4)) return REFS_OK;
    *known = true;
    if (field->id == 2) return read_schema(thrift, metadata->footer, err);
    metadata->has_groups = true;
    return read_row_groups(thrift, metadata->footer, err);
}

/* All four members are required. */
static refs_status check_metadata(const file_metadata *metadata, refs_error *err) {
    const refs_parquet_footer *footer = metadata->footer;
    uint64_t n_rows = 0;
    if (!metadata->has_version || !metadata->has_groups || metadata->n_rows < 0 ||
        footer->n_leaves == 0)
        return refs_fail(err, REFS_CORRUPT, "its footer is truncated");
    for (size_t i = 0; i < footer->n_groups; i++)
        if (!refs_add_u64(n_rows, footer->group_rows[i], &n_rows)) n_rows = UINT64_MAX;
    if (n_rows != (uint64_t)metadata->n_rows)
        return refs_fail(err, REFS_CORRUPT,
                         "its row groups have %llu rows: expected %lld, as in the footer",
                         (unsigned long long)n_rows, (long long)metadata->n_rows);
    /* A second schema would have added columns that row groups lack. */
    if (footer->n_pieces != footer->n_groups * footer->n_leaves)
        return refs_fail(err, REFS_CORRUPT, "its row groups do not match its schema");
    return REFS_OK;
}

/* Whether the file is a web page that a server sent instead. */
static bool is_page(refs_bytes file) {
    const refs_str text = refs_str_trim(refs_bytes_text(file), " \t\r\n");
    return refs_str_starts(text, "<");
}

static refs_status find_metadata(refs_bytes file, refs_bytes *metadata, refs_error *err) {
    if (is_page(file))
        return refs_fail(err, REFS_CORRUPT,
                         "expected a Parquet file, found a web page of %zu bytes: the server may "
                         "require a login",
                         file.size);
    if (file.size < 12 || memcmp(file.data, "PAR1", 4) != 0)
        return refs_fail(err, REFS_CORRUPT, "not a Parquet file (%zu bytes)", file.size);
    const uint8_t *tail = file.data + file.size - 8;
    if (memcmp(tail + 4, "PARE", 4) == 0)
        return refs_fail(err, REFS_UNSUPPORTED, "encrypted Parquet files are not supported");
    if (memcmp(tail + 4, "PAR1", 4) != 0)
        return refs_fail(err, REFS_CORRUPT,
                         "truncated: its %zu bytes do not end with the magic bytes of Parquet",
                         file.size);
    uint32_t size = refs_load_le32(tail);
    if (size > file.size - 12)
        return refs_fail(err, REFS_CORRUPT, "its footer of %u bytes is larger than the file",
                         (unsigned)size);
    *metadata = refs_bytes_view(tail - size, size);
    return REFS_OK;
}

refs_status refs_parquet__read_footer(refs_bytes file, refs_parquet_footer *footer,
                                      refs_error *err) {
    memset(footer, 0, sizeof *footer);
    refs_thrift thrift = {{NULL, 0}, 0, 0};
    REFS_TRY(find_metadata(file, &thrift.bytes, err));
    file_metadata metadata = {.footer = footer, .n_rows = -1};
    REFS_TRY(read_struct(&thrift, read_file_field, &metadata, err));
    if (thrift.at != thrift.bytes.size)
        return refs_fail(err, REFS_CORRUPT, "its footer has %zu unexpected bytes at its end",
                         thrift.bytes.size - thrift.at);
    return check_metadata(&metadata, err);
}

void refs_parquet__footer_clear(refs_parquet_footer *footer) {
    refs_free(footer->leaves);
    refs_free(footer->pieces);
    refs_free(footer->group_rows);
    memset(footer, 0, sizeof *footer);
}
