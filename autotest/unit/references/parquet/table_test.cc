// table_test.cc -- columns in every layout that writers give them.

#include <gtest/gtest.h>

#include "table_under_test.h"

using parquet::Column;
using parquet::File;
using parquet::Integers;
using parquet::Layout;
using parquet::Strings;

namespace {

// The columns of a record file, with nulls in all of them.
std::vector<Column> References(size_t n) {
    Column path = Strings("path", {}), offset = Integers("offset", {}), size = Integers("size", {}),
           raw = Strings("raw", {});
    for (size_t i = 0; i < n; i++) {
        const bool inlined = i % 7 == 3, absent = i % 5 == 4;
        const auto k = static_cast<int64_t>(i);
        if (inlined || absent) {
            path.strings.push_back({});
            offset.integers.push_back({});
            size.integers.push_back({});
        } else {
            path.strings.push_back("s3://b/" + std::to_string(i % 11));
            offset.integers.push_back(k << 33);
            size.integers.push_back(k);
        }
        if (inlined)
            raw.strings.push_back(std::string(i % 3, '\0'));
        else
            raw.strings.push_back({});
    }
    return {path, offset, size, raw};
}

std::string Expected(const Column &column) {
    std::string text;
    for (const auto &value : column.strings) text += (value ? *value : "null") + " ";
    for (const auto &value : column.integers) text += std::to_string(value.value_or(0)) + " ";
    return text;
}

void ExpectReferences(const std::string &file, const std::vector<Column> &columns) {
    const TableUnderTest table(file);
    ASSERT_EQ(table.status, REFS_OK) << table.error.message;
    ASSERT_EQ(table.table.n_rows, columns[0].n_rows());
    for (size_t i = 0; i < columns.size(); i++)
        EXPECT_EQ(table.All(i), Expected(columns[i])) << columns[i].name;
}

} // namespace

TEST(ParquetTable, ReadsEveryLayout) {
    for (const int version : {1, 2})
        for (const parquet::Codec codec :
             {parquet::kUncompressed, parquet::kSnappy, parquet::kGzip, parquet::kZstd})
            for (const bool dictionary : {false, true})
                for (const bool runs : {false, true})
                    for (const size_t rows : {SIZE_MAX, size_t{7}}) {
                        SCOPED_TRACE(testing::Message() << "version " << version << " codec "
                                                        << codec << " dictionary " << dictionary
                                                        << " runs " << runs << " rows " << rows);
                        std::vector<Column> columns = References(60);
                        for (Column &column : columns) column.dictionary = dictionary;
                        Layout layout;
                        layout.page_version = version;
                        layout.codec = codec;
                        layout.runs = runs;
                        layout.rows_per_page = rows;
                        layout.rows_per_group = rows == SIZE_MAX ? rows : 20;
                        ExpectReferences(File(columns, layout), columns);
                    }
}

TEST(ParquetTable, ReadsPagesThatSayTheyAreNotCompressed) {
    std::vector<Column> columns = References(20);
    Layout layout;
    layout.page_version = 2;
    layout.codec = parquet::kZstd;
    layout.compressed = false;
    ExpectReferences(File(columns, layout), columns);
}

TEST(ParquetTable, ReadsDictionaryNumbersOfEveryWidth) {
    for (unsigned width = 4; width <= 32; width++) {
        std::vector<Column> columns = References(40);
        columns[0].dictionary = true;
        Layout layout;
        layout.width = width;
        ExpectReferences(File(columns, layout), columns);
    }
}

TEST(ParquetTable, ReadsPlainPagesBehindADictionary) {
    std::vector<Column> columns = References(60);
    for (Column &column : columns) {
        column.dictionary = true;
        column.dictionary_pages = 2;
    }
    Layout layout;
    layout.rows_per_page = 10;
    layout.rows_per_group = 45;
    ExpectReferences(File(columns, layout), columns);
}

TEST(ParquetTable, ReadsColumnsWithoutNulls) {
    std::vector<Column> columns = {Strings("path", {"a", "", "c"}), Integers("offset", {1, -2, 3})};
    for (Column &column : columns) column.optional = false;
    for (const int version : {1, 2}) {
        Layout layout;
        layout.page_version = version;
        const TableUnderTest table(File(columns, layout));
        EXPECT_EQ(table.All(0), "a  c ");
        EXPECT_EQ(table.All(1), "1 -2 3 ");
    }
}

TEST(ParquetTable, IgnoresBytesBehindTheValues) {
    const std::vector<Column> columns = References(20);
    Layout layout;
    layout.behind_values = std::string(8, '\0');
    ExpectReferences(File(columns, layout), columns);
}

TEST(ParquetTable, IgnoresWhatElseAHeaderSays) {
    const std::vector<Column> columns = References(20);
    Layout layout;
    layout.more_header = [](parquet::Struct &header) { header.Inner(20, {}).Text(33, "crc"); };
    ExpectReferences(File(columns, layout), columns);
}

TEST(ParquetTable, PassesOverPagesOfOtherKinds) {
    const std::vector<Column> columns = References(20);
    Layout layout;
    layout.before_pages =
        parquet::Struct().Integer(1, parquet::kIndexPage).Integer(2, 3).Integer(3, 3).Bytes() +
        "abc";
    ExpectReferences(File(columns, layout), columns);
}

TEST(ParquetTable, FindsColumnsByName) {
    const std::string file =
        File({Integers("size", {3}), Integers("index", {0}), Strings("path", {"p"})});
    const TableUnderTest table(file);
    ASSERT_EQ(table.status, REFS_OK);
    EXPECT_EQ(table.All(0), "p ");
    EXPECT_EQ(table.column(1).kind, REFS_PARQUET_NOTHING);
    EXPECT_EQ(table.All(2), "3 ");
    EXPECT_EQ(table.column(3).kind, REFS_PARQUET_NOTHING);
}

TEST(ParquetTable, KnowsSignedAndUnsignedIntegersOf32Bits) {
    Column offset = Integers("offset", {-1}), size = Integers("size", {4294967295});
    offset.type = size.type = parquet::kInt32;
    size.converted = 13;
    const TableUnderTest table(File({offset, size}));
    EXPECT_EQ(table.All(1), "-1 ");
    EXPECT_EQ(table.All(2), "4294967295 ");
}

TEST(ParquetTable, TakesColumnsOfNullsForNothing) {
    Column path = Integers("path", {{}, {}}); // as pyarrow has them
    path.type = parquet::kInt32;
    const TableUnderTest table(File({path, Strings("raw", {{}, {}})}));
    ASSERT_EQ(table.status, REFS_OK);
    EXPECT_EQ(table.table.n_rows, 2u);
    EXPECT_EQ(table.column(0).kind, REFS_PARQUET_NOTHING);
    EXPECT_EQ(table.column(3).kind, REFS_PARQUET_NOTHING);
}

TEST(ParquetTable, TellsThatAColumnHoldsFloats) {
    for (const parquet::Type type : {parquet::kFloat, parquet::kDouble}) {
        Column path = Integers("path", {0});
        path.type = type;
        const TableUnderTest table(File({path, Strings("raw", {"x"})}));
        ASSERT_EQ(table.status, REFS_OK);
        EXPECT_EQ(table.column(0).kind, REFS_PARQUET_FLOATS);
    }
}

TEST(ParquetTable, ReadsNoTypesThatItDoesNotKnow) {
    Column raw = Integers("raw", {1});
    raw.type = parquet::kFixed;
    const TableUnderTest table(File({raw}));
    EXPECT_EQ(table.status, REFS_UNSUPPORTED);
    EXPECT_STREQ(table.error.message, "column raw: type 7 with repetition 1 is not supported");
}

TEST(ParquetTable, ReadsTheFirstRowsOnly) {
    for (const bool dictionary : {false, true}) {
        std::vector<Column> columns = References(60);
        for (Column &column : columns) column.dictionary = dictionary;
        Layout layout;
        layout.rows_per_page = 7;
        layout.rows_per_group = 20;
        const TableUnderTest all(File(columns, layout));
        for (const size_t n : {0, 1, 7, 10, 20, 33, 59}) {
            const TableUnderTest some(File(columns, layout), {"path", "offset", "size", "raw"}, n);
            ASSERT_EQ(some.status, REFS_OK) << some.error.message;
            EXPECT_EQ(some.table.n_rows, n);
            EXPECT_LT(some.table.n_bytes, all.table.n_bytes);
            for (size_t i = 0; i < 4; i++) {
                if (some.column(i).kind == REFS_PARQUET_NOTHING) continue;
                for (size_t row = 0; row < n; row++) EXPECT_EQ(some.At(i, row), all.At(i, row));
            }
        }
    }
}

TEST(ParquetTable, NeedsNoPagesBehindTheFirstRows) {
    int page = 0;
    Layout layout;
    layout.rows_per_page = 10;
    layout.spoil_page = [&page](std::string &, std::string &values) {
        if (page++ == 1) values.clear();
    };
    const std::string file =
        File({Integers("offset", std::vector<std::optional<int64_t>>(20, 5))}, layout);
    EXPECT_EQ(TableUnderTest(file, {"offset"}, 10).status, REFS_OK);
    EXPECT_EQ(TableUnderTest(file, {"offset"}, 11).status, REFS_CORRUPT);
}

TEST(ParquetTable, MayBeEmpty) {
    const TableUnderTest no_rows(File({Integers("offset", {}), Strings("path", {})}));
    ASSERT_EQ(no_rows.status, REFS_OK) << no_rows.error.message;
    EXPECT_EQ(no_rows.table.n_rows, 0u);
    EXPECT_EQ(no_rows.column(0).kind, REFS_PARQUET_NOTHING);
}

TEST(ParquetTable, HoldsTheLimits) {
    const std::vector<const char *> names = {"path", "offset", "size", "raw"};
    const std::string file = File(References(1000));
    const struct {
        refs_parquet_limits limits;
        const char *message;
    } cases[] = {
        {{999, SIZE_MAX, SIZE_MAX}, "it has 1000 rows: expected at most 999"},
        {{1000, 1000, SIZE_MAX}, "column path: a page has 8413 bytes: expected at most 1000"},
        {{1000, SIZE_MAX, 10000}, "column path: limit of 10000 bytes exceeded"},
    };
    for (const auto &c : cases) {
        const TableUnderTest table(file, names, UINT64_MAX, c.limits);
        EXPECT_EQ(table.status, REFS_LIMIT);
        EXPECT_STREQ(table.error.message, c.message);
    }
    EXPECT_EQ(TableUnderTest(file, names, 999, cases[0].limits).status, REFS_OK);
}

TEST(ParquetTable, CountsEveryPageOnce) {
    Column path =
        Strings("path", std::vector<std::optional<std::string>>(100, std::string(6000, 'x')));
    path.dictionary = true;
    Layout layout;
    layout.page_version = 2;
    layout.compressed = false;
    layout.rows_per_page = 1;
    const TableUnderTest table(File({path}, layout), {"path"}, UINT64_MAX, {100, 7000, 10000});
    EXPECT_EQ(table.status, REFS_OK) << table.error.message;
}

TEST(ParquetTable, KnowsItsMemory) {
    const TableUnderTest table(File(References(1000)));
    EXPECT_GT(table.table.n_bytes, 1000u * (4 + 8 + 8 + 4));
    EXPECT_LT(table.table.n_bytes, 1000u * (4 + 8 + 8 + 4 + 40));
}
