/* fuzz_parquet.c -- record files: any bytes give a table, or an error in words. */
#include <stdlib.h>

#include "fuzz.h"
#include "refs/parquet/parquet.h"

/* Small enough that a file which asks for more stands out. */
static const refs_parquet_limits limits = {2000, 16 * 1024, 64 * 1024};

static refs_status read_rows(refs_bytes file, uint64_t first_rows, refs_parquet_table *table) {
    static const char *const names[] = {"path", "offset", "size", "raw"};
    const refs_parquet_query query = {names, 4, first_rows, limits};
    refs_error err = REFS_ERROR_INIT;
    refs_status status = refs_parquet_read(file, &query, table, &err);
    if ((status != REFS_OK) != (err.message[0] != '\0')) abort();
    return status;
}

static void check_same_row(const refs_parquet_column *some, const refs_parquet_column *all,
                           size_t row) {
    refs_bytes a = refs_parquet_string(some, row), b = refs_parquet_string(all, row);
    if (some->kind == REFS_PARQUET_NOTHING) return;
    if (a.size != b.size || (a.size != SIZE_MAX && a.size > 0 && memcmp(a.data, b.data, a.size)))
        abort();
    if (some->kind == REFS_PARQUET_INTEGERS && some->integers[row] != all->integers[row]) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    refs_bytes file = refs_bytes_view(data, size);
    refs_parquet_table all, some;
    refs_status status = read_rows(file, UINT64_MAX, &all);
    refs_status status_of_some = read_rows(file, 5, &some);
    if (status == REFS_OK && status_of_some != REFS_OK) abort();
    for (size_t i = 0; i < 4 && status == REFS_OK; i++)
        for (size_t row = 0; row < some.n_rows; row++)
            check_same_row(&some.columns[i], &all.columns[i], row);
    refs_parquet_table_clear(&all);
    refs_parquet_table_clear(&some);
    return 0;
}
