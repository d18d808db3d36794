/* record.c -- see record.h. */
#include "record.h"

#include "parquet/parquet.h"

/* The largest record file that is read, as it is stored. */
#define MAX_FILE_BYTES (512 * REFS_MIB)

/* Columns, in the order of the request. */
enum { PATH, OFFSET, SIZE, RAW, N_COLUMNS };

static const char *const column_names[N_COLUMNS] = {"path", "offset", "size", "raw"};

struct refs_record {
    refs_parquet_table table;
};

/* -- opening ----------------------------------------------------------------------------------- */

static void free_record(void *user, size_t size) {
    (void)size;
    REFS_SCOPED refs_record *record = user;
    refs_parquet_table_clear(&record->table);
}

static refs_status check_columns(const refs_parquet_table *table, refs_error *err) {
    static const refs_parquet_kind wrong[N_COLUMNS] = {REFS_PARQUET_INTEGERS, REFS_PARQUET_STRINGS,
                                                       REFS_PARQUET_STRINGS, REFS_PARQUET_INTEGERS};
    static const char *const names[] = {
        [REFS_PARQUET_INTEGERS] = "integers", [REFS_PARQUET_STRINGS] = "strings"};
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (table->columns[i].kind == wrong[i])
            return refs_fail(err, REFS_CORRUPT, "column %s has the wrong type: %s", column_names[i],
                             names[wrong[i]]);
    return REFS_OK;
}

static refs_status read_table(const refs_vfs *vfs, const char *location, uint64_t n_rows,
                              refs_parquet_table *table, refs_error *err) {
    const refs_parquet_query query = {column_names, N_COLUMNS, n_rows, REFS_PARQUET_LIMITS_INIT};
    REFS_SCOPED_BUF file = REFS_BUF_INIT;
    REFS_TRY(refs_vfs_read_whole(vfs, location, MAX_FILE_BYTES, &file, err));
    REFS_TRY(refs_parquet_read(refs_buf_view(&file), &query, table, err));
    return check_columns(table, err);
}

refs_status refs_references__record_open(const refs_vfs *vfs, const char *location, uint64_t n_rows,
                                         refs_loaded_block *loaded, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_record *opened = refs_calloc(1, sizeof *opened);
    refs_block *block = opened != NULL ? refs_block_new(sizeof opened, free_record, opened) : NULL;
    if (block == NULL) {
        refs_free(opened);
        return refs_fail_nomem(err);
    }
    memcpy(refs_block_data(block), &opened, sizeof opened);
    refs_status status = read_table(vfs, location, n_rows, &opened->table, &problem);
    if (status == REFS_OK) {
        *loaded = (refs_loaded_block){block, sizeof *opened + opened->table.n_bytes};
        return REFS_OK;
    }
    refs_block_release(block);
    if (status == REFS_NOT_FOUND) return status;
    if (strstr(problem.message, location) == NULL) refs_error_prefix(&problem, "%s", location);
    return refs_fail(err, status, "%s", problem.message);
}

refs_record *refs_references__record_of(refs_block *block) {
    refs_record *record = NULL;
    if (block != NULL) memcpy(&record, refs_block_data(block), sizeof record);
    return record;
}

uint64_t refs_references__record_n_rows(const refs_record *record) {
    return record->table.n_rows;
}

/* -- rows -------------------------------------------------------------------------------------- */

static refs_status integer_at(const refs_record *record, size_t column, size_t row, int64_t *value,
                              refs_error *err) {
    const refs_parquet_column *from = &record->table.columns[column];
    if (from->kind == REFS_PARQUET_FLOATS)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "column %s: expected integers, found floating-point numbers",
                         column_names[column]);
    *value = from->kind == REFS_PARQUET_INTEGERS ? from->integers[row] : 0;
    return REFS_OK;
}

/* The specification says "If path is populated but size is 0, it is the whole file", whatever the
 * offset; for fsspec, 0 bytes at an offset other than 0 are no bytes. */
static refs_status set_range(const refs_record *record, size_t row, refs_record_row *ref,
                             refs_error *err) {
    int64_t offset = 0, size = 0;
    REFS_TRY(integer_at(record, OFFSET, row, &offset, err));
    REFS_TRY(integer_at(record, SIZE, row, &size, err));
    if (offset < 0 || size < 0)
        return refs_fail(err, REFS_INVALID, "invalid byte range: offset %lld, size %lld",
                         (long long)offset, (long long)size);
    ref->kind = size == 0 ? REFS_REF_WHOLE : REFS_REF_RANGE;
    ref->offset = size == 0 ? 0 : (uint64_t)offset;
    ref->length = (uint64_t)size;
    return REFS_OK;
}

/* The last file may have fewer rows: old writers and GDAL do not pad it. */
refs_status refs_references__record_row(const refs_record *record, uint64_t row,
                                        refs_record_row *ref, refs_error *err) {
    const refs_parquet_column *columns = record->table.columns;
    memset(ref, 0, sizeof *ref);
    if (row >= record->table.n_rows) return REFS_NOT_FOUND;
    refs_bytes raw = refs_parquet_string(&columns[RAW], (size_t)row);
    if (raw.size != SIZE_MAX) {
        ref->kind = REFS_REF_INLINE;
        ref->bytes = raw;
        return REFS_OK;
    }
    refs_bytes path = refs_parquet_string(&columns[PATH], (size_t)row);
    if (path.size == SIZE_MAX || path.size == 0) return REFS_NOT_FOUND;
    ref->url = refs_bytes_text(path);
    refs_status status = set_range(record, (size_t)row, ref, err);
    if (status != REFS_OK) refs_error_prefix(err, "%.*s", REFS_STR_ARG(ref->url));
    return status;
}
