// malformed_test.cc -- files that lie: an error in words, and no more memory than the limits allow.

#include <gtest/gtest.h>

#include <cstdlib>

#include "table_under_test.h"

using parquet::Column;
using parquet::File;
using parquet::Integers;
using parquet::Layout;
using parquet::LittleEndian;
using parquet::Strings;
using parquet::Struct;

namespace {

constexpr refs_parquet_limits kSmall = {1000, 64 * REFS_KIB, 256 * REFS_KIB};

// What reading the columns "path" and "offset" says.
std::string Said(const std::string &file) {
    const TableUnderTest table(file, {"path", "offset"}, UINT64_MAX, kSmall);
    return table.status == REFS_OK
               ? "fine"
               : std::string(refs_status_text(table.status)) + ": " + table.error.message;
}

std::string WithFooter(const Struct &footer, const std::string &pages = "") {
    const std::string bytes = footer.Bytes();
    return "PAR1" + pages + bytes + LittleEndian(bytes.size(), 4) + "PAR1";
}

std::vector<Struct> OneColumn() {
    return {Struct().Text(4, "schema").Integer(5, 1),
            Struct().Integer(1, 2).Integer(3, 0).Text(4, "offset")};
}

Struct Metadata(const std::vector<Struct> &schema, const std::vector<Struct> &groups,
                int64_t n_rows) {
    return Struct().Integer(1, 1).List(2, schema).Integer(3, n_rows).List(4, groups);
}

// A row group of `n_rows` rows, whose one column has pages at [offset, offset + size).
Struct Group(int64_t n_rows, int64_t offset, int64_t size) {
    const Struct meta = Struct()
                            .Integer(1, 2)
                            .Path(3, "offset")
                            .Integer(4, 0)
                            .Integer(5, n_rows)
                            .Integer(7, size)
                            .Integer(9, offset);
    return Struct().List(1, {Struct().Inner(3, meta)}).Integer(3, n_rows);
}

// A file of one column "offset", whose pages are `pages`.
std::string WithPages(const std::string &pages, int64_t n_rows) {
    const Struct group = Group(n_rows, 4, static_cast<int64_t>(pages.size()));
    return WithFooter(Metadata(OneColumn(), {group}, n_rows), pages);
}

// A data page, plain, that says of itself what it is told to.
std::string Page(int64_t n_values, int64_t uncompressed, int64_t compressed,
                 const std::string &values) {
    return Struct()
               .Integer(1, 0)
               .Integer(2, uncompressed)
               .Integer(3, compressed)
               .Inner(5, Struct().Integer(1, n_values).Integer(2, 0))
               .Bytes() +
           values;
}

std::vector<Column> SmallColumns() {
    Column path = Strings("path", {"a", "b", {}, "b"});
    path.dictionary = true;
    return {path, Integers("offset", {1, 2, {}, 4})};
}

// Spoils the pages of SmallColumns() by `spoil`.
std::string Spoiled(std::function<void(std::string &levels, std::string &values)> spoil,
                    int version = 1) {
    Layout layout;
    layout.page_version = version;
    layout.spoil_page = std::move(spoil);
    return Said(File(SmallColumns(), layout));
}

} // namespace

TEST(ParquetMalformed, FilesAreNoParquet) {
    EXPECT_EQ(Said(""), "corrupt: not a Parquet file (0 bytes)");
    EXPECT_EQ(Said("\n<!DOCTYPE html>"), "corrupt: expected a Parquet file, found a web page of 16 "
                                         "bytes: the server may require a login");
    EXPECT_EQ(Said("PAR1PAR1"), "corrupt: not a Parquet file (8 bytes)");
    EXPECT_EQ(Said("{\"version\": 1}"), "corrupt: not a Parquet file (14 bytes)");
    EXPECT_EQ(Said("PAR1" + std::string(20, 'x')),
              "corrupt: truncated: its 24 bytes do not end with the magic bytes of Parquet");
    EXPECT_EQ(Said("PAR1" + LittleEndian(5, 4) + "PAR1"),
              "corrupt: its footer of 5 bytes is larger than the file");
    EXPECT_EQ(Said("PAR1" + LittleEndian(0, 4) + "PARE"),
              "not supported: encrypted Parquet files are not supported");
}

TEST(ParquetMalformed, FootersContradictThemselves) {
    const struct {
        Struct footer;
        const char *said;
    } cases[] = {
        {Struct().List(2, OneColumn()).List(4, {Group(-1, 4, 0)}),
         "corrupt: row group 0 is truncated"},
        {Struct().List(2, OneColumn()).List(4, {Struct().Integer(3, 5)}),
         "corrupt: row group 0 is truncated"},
        {Struct().List(4, {Group(1, 4, 0)}),
         "corrupt: a row group has 1 columns: expected 0, as the schema has"},
        {Struct().List(2, OneColumn()).List(4, {Group(1, 2, 0)}),
         "corrupt: a column has an invalid byte range: [2+0]"},
        {Struct().List(2, OneColumn()).List(4, {Group(1, 4, -1)}),
         "corrupt: a column has an invalid byte range: [4+-1]"},
        {Metadata(OneColumn(), {Group(1, 4, 0)}, 1)
             .Field(2, Struct::kList, "\x2c" + OneColumn()[0].Bytes() + OneColumn()[1].Bytes()),
         "corrupt: its row groups do not match its schema"},
        {Struct().Field(2, Struct::kList, std::string("\x15\x02")),
         "corrupt: the schema: expected a list"},
        {Struct().Field(4, Struct::kList, std::string("\x15\x02")),
         "corrupt: the row groups: expected a list"},
        {Struct().List(2, {Struct().Text(4, "r"), Struct().Text(4, "c").Integer(5, INT64_MAX)}),
         "corrupt: a column has an invalid number of children: 9223372036854775807"},
        {Metadata(OneColumn(), {Group(1, 4, INT64_MAX)}, 1),
         "corrupt: column offset: its pages [4+9223372036854775807] extend past the end of the "
         "file of 81 bytes"},
        {Metadata(OneColumn(), {Group(INT64_MAX, 4, 0)}, INT64_MAX),
         "over a limit: it has 9223372036854775807 rows: expected at most 1000"},
        {Metadata(OneColumn(), {Group(3, 4, 0)}, 3),
         "corrupt: column offset: its pages lack the last 3 rows"},
        {Struct().List(2, OneColumn()).Integer(3, 0).List(4, {}),
         "corrupt: its footer is truncated"},
        {Struct().Integer(1, 1).List(2, OneColumn()).List(4, {}),
         "corrupt: its footer is truncated"},
        {Struct().Integer(1, 1).List(2, OneColumn()).Integer(3, 0),
         "corrupt: its footer is truncated"},
        {Struct().Integer(1, 1).Integer(3, 0).List(4, {}), "corrupt: its footer is truncated"},
        {Metadata(OneColumn(), {Group(3, 4, 0)}, 5),
         "corrupt: its row groups have 3 rows: expected 5, as in the footer"},
        {Metadata({OneColumn()[0]}, {}, 0),
         "corrupt: the schema has another number of columns than it declares"},
        {Metadata({OneColumn()[0], OneColumn()[1], OneColumn()[1]}, {}, 0),
         "corrupt: the schema has another number of columns than it declares"},
        {Metadata({OneColumn()[0], Struct().Integer(1, 2).Text(4, "size")}, {Group(3, 4, 0)}, 3),
         "corrupt: a row group has a column that the schema lacks"},
    };
    for (const auto &c : cases) EXPECT_EQ(Said(WithFooter(c.footer)), c.said);
}

TEST(ParquetMalformed, NestedColumnsMatterOnlyWhereTheyAreWanted) {
    const std::vector<Struct> schema = {Struct().Text(4, "schema").Integer(5, 2),
                                        Struct().Text(4, "group").Integer(5, 2),
                                        Struct().Text(4, "inner").Integer(5, 1),
                                        Struct().Integer(1, 2).Integer(3, 0).Text(4, "path"),
                                        Struct().Integer(1, 2).Integer(3, 0).Text(4, "path"),
                                        Struct().Integer(1, 2).Integer(3, 0).Text(4, "offset")};
    const auto meta = [](const char *name, size_t size) {
        return Struct()
            .Integer(1, 2)
            .Path(3, name)
            .Integer(4, 0)
            .Integer(5, 1)
            .Integer(7, static_cast<int64_t>(size))
            .Integer(9, 4);
    };
    const Struct chunk = Struct().Inner(3, meta("path", 0));
    const std::string values = LittleEndian(77, 8);
    const std::string page = Page(1, 8, 8, values);
    const Struct last = Struct().Inner(3, meta("offset", page.size()));
    const Struct group = Struct().List(1, {chunk, chunk, last}).Integer(3, 1);
    const std::string file = WithFooter(Metadata(schema, {group}, 1), page);
    const TableUnderTest table(file, {"path", "offset"});
    ASSERT_EQ(table.status, REFS_OK) << table.error.message;
    EXPECT_EQ(table.column(0).kind, REFS_PARQUET_NOTHING);
    EXPECT_EQ(table.All(1), "77 ");
}

TEST(ParquetMalformed, PagesDoNotHoldWhatTheyPromise) {
    const std::string one = LittleEndian(1, 8);
    const struct {
        std::string pages;
        int64_t n_rows;
        const char *said;
    } cases[] = {
        {Page(1, 8, 8, one), 1, "fine"},
        {Page(1, 8, 8, one), 2, "corrupt: column offset: its pages lack the last 1 rows"},
        {Page(2, 8, 8, one), 2, "corrupt: column offset: its values are truncated at byte 8"},
        {Page(2, 8, 8, one), 1,
         "corrupt: column offset: a page has 2 values: expected 1, as it has rows"},
        {Page(-1, 8, 8, one), 1,
         "corrupt: column offset: invalid page header before byte 13 of 21"},
        {Page(1, 8, 9, one), 1, "corrupt: column offset: invalid page header before byte 13 of 21"},
        {Page(1, 9, 8, one), 1,
         "corrupt: column offset: 8 bytes of UNCOMPRESSED do not decompress to 9 bytes"},
        {Page(1, -1, 8, one), 1,
         "corrupt: column offset: invalid page header before byte 13 of 21"},
        {Page(1, INT64_MAX, 8, one), 1,
         "over a limit: column offset: a page has 9223372036854775807 bytes: expected at most "
         "65536"},
        {Page(INT64_MAX, 8, 8, one), 1,
         "corrupt: column offset: invalid page header before byte 22 of 30"},
        {Page(0, 0, 0, "") + Page(1, 8, 8, one), 1, "fine"},
        {Struct().Bytes(), 1, "corrupt: column offset: invalid page header before byte 1 of 1"},
    };
    for (const auto &c : cases) EXPECT_EQ(Said(WithPages(c.pages, c.n_rows)), c.said);
    EXPECT_EQ(
        Said(WithPages("\xff\xff", 1)).find("corrupt: column offset: its metadata are invalid "),
        0u);
}

TEST(ParquetMalformed, EncodingsAreNotRead) {
    const auto page = [](int64_t encoding) {
        return Struct()
                   .Integer(1, 0)
                   .Integer(2, 8)
                   .Integer(3, 8)
                   .Inner(5, Struct().Integer(1, 1).Integer(2, encoding))
                   .Bytes() +
               LittleEndian(0, 8);
    };
    EXPECT_EQ(Said(WithPages(page(5), 1)),
              "not supported: column offset: encoding 5 is not supported");
    EXPECT_EQ(Said(WithPages(page(8), 1)),
              "corrupt: column offset: numbers of 0 bits are truncated at byte 7");
}

TEST(ParquetMalformed, LevelsAreCut) {
    for (const int version : {1, 2}) {
        const std::string said =
            Spoiled([](std::string &levels, std::string &) { levels = ""; }, version);
        EXPECT_EQ(said, "corrupt: column path: numbers of 1 bits are truncated at byte 0")
            << version;
    }
}

TEST(ParquetMalformed, LevelsAreLongerThanTheirPage) {
    // The length of levels of version 1 stands in the page itself.
    const std::string page = Struct()
                                 .Integer(1, 0)
                                 .Integer(2, 8)
                                 .Integer(3, 8)
                                 .Inner(5, Struct().Integer(1, 1).Integer(2, 0).Integer(3, 3))
                                 .Bytes();
    std::vector<Struct> schema = OneColumn();
    schema[1] = Struct().Integer(1, 2).Integer(3, 1).Text(4, "offset");
    const Struct group = Group(1, 4, static_cast<int64_t>(page.size()) + 8);
    EXPECT_EQ(Said(WithFooter(Metadata(schema, {group}, 1), page + LittleEndian(5, 4) + "abcd")),
              "corrupt: column offset: definition levels of 5 bytes are truncated");
}

TEST(ParquetMalformed, LevelsAreLongerThanTheirPageOfVersion2) {
    const auto said = [](int64_t definition_size, int64_t repetition_size) {
        const std::string page = Struct()
                                     .Integer(1, 3)
                                     .Integer(2, 8)
                                     .Integer(3, 8)
                                     .Inner(8, Struct()
                                                   .Integer(1, 1)
                                                   .Integer(4, 0)
                                                   .Integer(5, definition_size)
                                                   .Integer(6, repetition_size))
                                     .Bytes();
        return Said(WithPages(page + "12345678", 1));
    };
    EXPECT_EQ(said(0, 0), "fine");
    for (const auto &[definition, repetition] :
         {std::pair<int64_t, int64_t>{9, 0}, {-1, 0}, {0, 1}, {INT64_MAX, 0}})
        EXPECT_EQ(said(definition, repetition),
                  "corrupt: column offset: a page has levels of invalid sizes: " +
                      std::to_string(repetition) + " and " + std::to_string(definition) + " bytes");
}

TEST(ParquetMalformed, OldLevelsAreNotRead) {
    const std::string page = Struct()
                                 .Integer(1, 0)
                                 .Integer(2, 8)
                                 .Integer(3, 8)
                                 .Inner(5, Struct().Integer(1, 1).Integer(2, 0).Integer(3, 4))
                                 .Bytes();
    std::vector<Struct> schema = OneColumn();
    schema[1] = Struct().Integer(1, 2).Integer(3, 1).Text(4, "offset");
    const Struct group = Group(1, 4, static_cast<int64_t>(page.size()) + 8);
    EXPECT_EQ(Said(WithFooter(Metadata(schema, {group}, 1), page + "12345678")),
              "not supported: column offset: encoding 4 of levels is not supported");
}

TEST(ParquetMalformed, DictionaryNumbersAreOutOfRange) {
    for (const int version : {1, 2}) {
        const std::string said = Spoiled(
            [](std::string &, std::string &values) {
                if (values[0] == 8) values = std::string("\x08\x06\x02");
            },
            version);
        EXPECT_EQ(
            said,
            "corrupt: column path: dictionary index 2 lies outside the dictionary of 2 values");
    }
}

TEST(ParquetMalformed, DictionaryNumbersAreTooWide) {
    EXPECT_EQ(Spoiled([](std::string &, std::string &values) {
                  if (values[0] == 8) values[0] = 33;
              }),
              "corrupt: column path: dictionary indices have 33 bits: expected at most 32");
}

TEST(ParquetMalformed, DictionariesAreCut) {
    const auto dictionary = [](int64_t n, const std::string &values) {
        const auto size = static_cast<int64_t>(values.size());
        return Struct()
                   .Integer(1, 2)
                   .Integer(2, size)
                   .Integer(3, size)
                   .Inner(7, Struct().Integer(1, n).Integer(2, 0))
                   .Bytes() +
               values;
    };
    EXPECT_EQ(Said(WithPages(dictionary(100000000, "12345678"), 1)),
              "corrupt: column offset: a dictionary of 100000000 values is truncated");
    EXPECT_EQ(Said(WithPages(dictionary(2, "12345678"), 1)),
              "corrupt: column offset: its values are truncated at byte 8");
    EXPECT_EQ(Said(WithPages(dictionary(1, "12345678"), 1)),
              "corrupt: column offset: its pages lack the last 1 rows");
}

TEST(ParquetMalformed, ManyPagesMayNotUnpackWithoutEnd) {
    std::string pages;
    for (int i = 0; i < 100; i++) pages += Page(0, 60000, 60000, std::string(60000, 'x'));
    EXPECT_EQ(Said(WithPages(pages, 1)),
              "over a limit: column offset: limit of 262144 bytes exceeded");
}

TEST(ParquetMalformed, CutsAnywhereAreErrors) {
    for (const int version : {1, 2}) {
        Layout layout;
        layout.page_version = version;
        const std::string file = File(SmallColumns(), layout);
        ASSERT_EQ(Said(file), "fine");
        for (size_t size = 0; size < file.size(); size++)
            EXPECT_EQ(Said(file.substr(0, size)).substr(0, 7), "corrupt") << size;
    }
}

TEST(ParquetMalformed, FootersThatAreDamagedLoseNoRow) {
    const std::vector<const char *> names = {"path", "offset"};
    const std::string file = File(SmallColumns(), Layout());
    const TableUnderTest whole(file, names);
    ASSERT_EQ(whole.status, REFS_OK);
    size_t size = 0;
    for (size_t i = 0; i < 4; i++)
        size |= static_cast<size_t>(static_cast<uint8_t>(file[file.size() - 8 + i])) << 8 * i;
    for (size_t i = file.size() - 8 - size; i < file.size(); i++)
        for (int bit = 0; bit < 8; bit++) {
            std::string damaged = file;
            damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
            const TableUnderTest table(damaged, names);
            if (table.status != REFS_OK) continue;
            EXPECT_EQ(table.All(0), whole.All(0)) << i << " " << bit;
            EXPECT_EQ(table.All(1), whole.All(1)) << i << " " << bit;
        }
}

TEST(ParquetMalformed, AnyByteMayBeWrong) {
    for (const parquet::Codec codec : {parquet::kUncompressed, parquet::kZstd})
        for (const int version : {1, 2}) {
            Layout layout;
            layout.page_version = version;
            layout.codec = codec;
            layout.rows_per_page = 3;
            const std::string file = File(SmallColumns(), layout);
            for (size_t i = 0; i < file.size(); i++)
                for (const int byte : {0x00, 0x01, 0x19, 0x7f, 0x80, 0xf9, 0xff}) {
                    std::string damaged = file;
                    damaged[i] = static_cast<char>(byte);
                    EXPECT_NE(Said(damaged), "");
                }
        }
}
