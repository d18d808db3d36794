/* table.c -- reads the requested columns of a file, see parquet.h. */
#include "parquet/parquet_internal.h"

static refs_status count_rows(const refs_parquet_footer *footer, const refs_parquet_query *query,
                              size_t *n_rows, refs_error *err) {
    uint64_t rows = 0;
    for (size_t i = 0; i < footer->n_groups; i++)
        if (!refs_add_u64(rows, footer->group_rows[i], &rows)) rows = UINT64_MAX;
    if (rows > query->first_rows) rows = query->first_rows;
    if (rows > query->limits.max_rows)
        return refs_fail(err, REFS_LIMIT, "it has %llu rows: expected at most %llu",
                         (unsigned long long)rows, (unsigned long long)query->limits.max_rows);
    *n_rows = (size_t)rows;
    return REFS_OK;
}

static size_t find_leaf(const refs_parquet_footer *footer, const char *name) {
    for (size_t i = 0; i < footer->n_leaves; i++) {
        refs_bytes leaf = footer->leaves[i].name;
        if (!footer->leaves[i].is_nested && leaf.size == strlen(name) &&
            memcmp(leaf.data, name, leaf.size) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* The kind of a column of this type, or NOTHING if it is unknown. */
static refs_parquet_kind kind_of(const refs_parquet_leaf *leaf) {
    if (leaf->repetition != REFS_REPETITION_REQUIRED &&
        leaf->repetition != REFS_REPETITION_OPTIONAL)
        return REFS_PARQUET_NOTHING;
    switch (leaf->type) {
    case REFS_PHYSICAL_INT32:
    case REFS_PHYSICAL_INT64:
        return REFS_PARQUET_INTEGERS;
    case REFS_PHYSICAL_BYTE_ARRAY:
        return REFS_PARQUET_STRINGS;
    case REFS_PHYSICAL_FLOAT:
    case REFS_PHYSICAL_DOUBLE:
        return REFS_PARQUET_FLOATS;
    default:
        return REFS_PARQUET_NOTHING;
    }
}

static refs_status read_pieces(refs_column_builder *builder, refs_bytes file,
                               const refs_parquet_footer *footer, refs_error *err) {
    size_t leaf = (size_t)(builder->leaf - footer->leaves);
    REFS_TRY(refs_column__open(builder, err));
    for (size_t group = 0; group < footer->n_groups; group++)
        REFS_TRY(refs_column__add_piece(builder, file,
                                        &footer->pieces[group * footer->n_leaves + leaf],
                                        footer->group_rows[group], err));
    /* pyarrow gives a column of nulls the type INT32. */
    if (!builder->has_values) refs_column__clear(builder->column);
    return REFS_OK;
}

static refs_status read_column(refs_column_builder *builder, refs_bytes file,
                               const refs_parquet_footer *footer, refs_error *err) {
    refs_parquet_kind kind = kind_of(builder->leaf);
    if (kind == REFS_PARQUET_NOTHING)
        return refs_fail(err, REFS_UNSUPPORTED, "type %lld with repetition %lld is not supported",
                         (long long)builder->leaf->type, (long long)builder->leaf->repetition);
    if (kind != REFS_PARQUET_FLOATS) return read_pieces(builder, file, footer, err);
    builder->column->kind = kind;
    return REFS_OK;
}

static refs_status read_columns(refs_bytes file, const refs_parquet_footer *footer,
                                const refs_parquet_query *query, refs_parquet_table *table,
                                refs_error *err) {
    size_t max = query->limits.max_bytes;
    refs_parquet_budget budget = {max, max};
    for (size_t i = 0; i < query->n_names; i++) {
        size_t leaf = find_leaf(footer, query->names[i]);
        if (leaf == SIZE_MAX) continue;
        refs_column_builder builder = {.column = &table->columns[i],
                                       .leaf = &footer->leaves[leaf],
                                       .limits = &query->limits,
                                       .budget = &budget,
                                       .n_rows = table->n_rows};
        size_t left = budget.table_bytes;
        refs_status status = read_column(&builder, file, footer, err);
        if (status != REFS_OK) {
            refs_error_prefix(err, "column %s", query->names[i]);
            return status;
        }
        if (table->columns[i].kind != REFS_PARQUET_NOTHING)
            table->n_bytes += left - budget.table_bytes;
    }
    return REFS_OK;
}

static refs_status read_table(refs_bytes file, const refs_parquet_footer *footer,
                              const refs_parquet_query *query, refs_parquet_table *table,
                              refs_error *err) {
    REFS_TRY(count_rows(footer, query, &table->n_rows, err));
    REFS_NEW(table->columns, query->n_names, err);
    table->n_columns = query->n_names;
    table->n_bytes = query->n_names * sizeof *table->columns;
    return read_columns(file, footer, query, table, err);
}

refs_status refs_parquet_read(refs_bytes file, const refs_parquet_query *query,
                              refs_parquet_table *table, refs_error *err) {
    memset(table, 0, sizeof *table);
    refs_parquet_footer footer;
    refs_status status = refs_parquet__read_footer(file, &footer, err);
    if (status == REFS_OK) status = read_table(file, &footer, query, table, err);
    refs_parquet__footer_clear(&footer);
    return status;
}

void refs_parquet_table_clear(refs_parquet_table *table) {
    for (size_t i = 0; i < table->n_columns; i++) refs_column__clear(&table->columns[i]);
    refs_free(table->columns);
    memset(table, 0, sizeof *table);
}

refs_bytes refs_parquet_string(const refs_parquet_column *column, size_t row) {
    if (column->kind != REFS_PARQUET_STRINGS || column->string_ids[row] == REFS_PARQUET_NULL)
        return refs_bytes_view(NULL, SIZE_MAX);
    uint32_t id = column->string_ids[row];
    uint64_t begin = column->string_begin[id];
    size_t size = (size_t)(column->string_begin[id + 1] - begin);
    return refs_bytes_view(size > 0 ? column->text.data + begin : NULL, size);
}
