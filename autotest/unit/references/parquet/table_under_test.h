// table_under_test.h -- a file read as a table, and its columns as values.
#ifndef REFS_TEST_TABLE_UNDER_TEST_H
#define REFS_TEST_TABLE_UNDER_TEST_H

#include <string>
#include <vector>

#include "parquet_writer.h"
#include "refs/parquet/parquet.h"

// Reads columns on construction.
class TableUnderTest {
  public:
    explicit TableUnderTest(const std::string &file,
                            const std::vector<const char *> &names = {"path", "offset", "size",
                                                                      "raw"},
                            uint64_t first_rows = UINT64_MAX,
                            const refs_parquet_limits &limits = REFS_PARQUET_LIMITS_INIT) {
        const refs_parquet_query query = {names.data(), names.size(), first_rows, limits};
        status =
            refs_parquet_read(refs_bytes_view(file.data(), file.size()), &query, &table, &error);
    }
    TableUnderTest(const TableUnderTest &) = delete;
    TableUnderTest &operator=(const TableUnderTest &) = delete;
    ~TableUnderTest() { refs_parquet_table_clear(&table); }

    const refs_parquet_column &column(size_t i) const { return table.columns[i]; }

    // A value of column `i` as text; "null" for a null of strings.
    std::string At(size_t i, size_t row) const {
        const refs_parquet_column &from = table.columns[i];
        if (from.kind == REFS_PARQUET_INTEGERS) return std::to_string(from.integers[row]);
        const refs_bytes text = refs_parquet_string(&from, row);
        if (text.size == SIZE_MAX) return "null";
        return std::string(reinterpret_cast<const char *>(text.data), text.size);
    }

    // All values of column `i`, each with a blank behind it.
    std::string All(size_t i) const {
        std::string values;
        for (size_t row = 0; row < table.n_rows; row++) values += At(i, row) + " ";
        return values;
    }

    refs_parquet_table table;
    refs_status status;
    refs_error error = REFS_ERROR_INIT;
};

#endif
