// Record files: what each combination of a row's values means (specification 2.2).

#include <gtest/gtest.h>

#include "parquet_under_test.h"

using parquet::Column;
using parquet::File;
using parquet::Integers;
using parquet::Strings;

namespace {

// What chunk "a/0" of a set is whose one record file is `file`.
std::string FirstOf(const std::string &file) {
    ParquetUnderTest set;
    set.Array("a", "[3]", "[1]");
    set.vfs.files["dir.parq/a/refs.0.parq"] = file;
    EXPECT_EQ(set.OpenFolder(), REFS_OK) << set.error.message;
    return set.At("a/0");
}

std::string Meaning(const Row &row) {
    return FirstOf(RecordFile({row, Raw("another")}));
}

} // namespace

TEST(ParquetRecord, MeansWhatItsRowSays) {
    EXPECT_EQ(Meaning(Raw("x")), "\"x\"");
    EXPECT_EQ(Meaning(Raw("")), "\"\"") << "an empty value, no absent one";
    EXPECT_EQ(Meaning(Raw(std::string("\0\xff", 2))).size(), 9u);
    EXPECT_EQ(Meaning({"/p", 1, 2, "wins"}), "\"wins\"");
    EXPECT_EQ(Meaning(Raw("base64:aGk=")), "\"base64:aGk=\"") << "raw is raw";
    EXPECT_EQ(Meaning({{}, 0, 0, {}}), "absent");
    EXPECT_EQ(Meaning({{}, 5, 6, {}}), "absent");
    EXPECT_EQ(Meaning({{}, {}, {}, {}}), "absent");
    EXPECT_EQ(Meaning(Whole("")), "absent");
    EXPECT_EQ(Meaning(Whole("/p")), "[/p]");
    EXPECT_EQ(Meaning({"/p", {}, {}, {}}), "[/p]");
    EXPECT_EQ(Meaning(Range("/p", 3, 0)), "[/p]") << "a size of 0 is that of the whole file";
    EXPECT_EQ(Meaning(Range("/p", 0, 5)), "[/p, 0, 5]");
    EXPECT_EQ(Meaning(Range("/p", int64_t{1} << 40, int64_t{1} << 41)),
              "[/p, 1099511627776, 2199023255552]");
}

TEST(ParquetRecord, RefusesWhatIsNoRange) {
    EXPECT_EQ(Meaning(Range("/p", -1, 5)), "invalid: /p: invalid byte range: offset -1, size 5");
    EXPECT_EQ(Meaning(Range("/p", 1, -5)), "invalid: /p: invalid byte range: offset 1, size -5");
}

TEST(ParquetRecord, MayLackColumns) {
    EXPECT_EQ(FirstOf(File({Strings("raw", {"x"})})), "\"x\"");
    EXPECT_EQ(
        FirstOf(File({Strings("path", {"/p"}), Integers("offset", {1}), Integers("size", {2})})),
        "[/p, 1, 2]");
    EXPECT_EQ(FirstOf(File({Strings("path", {"/p"})})), "[/p]");
    EXPECT_EQ(FirstOf(File({Integers("offset", {1}), Integers("size", {2})})), "absent");
    EXPECT_EQ(FirstOf(File({Strings("other", {"x"})})), "absent");
}

TEST(ParquetRecord, TakesColumnsOfNullsOfAnyType) {
    Column path = Integers("path", {{}}), raw = Integers("raw", {{}});
    path.type = raw.type = parquet::kInt32;
    EXPECT_EQ(FirstOf(File({path, Strings("raw", {"x"})})), "\"x\"");
    EXPECT_EQ(FirstOf(File({Strings("path", {"/p"}), raw})), "[/p]");
    path.type = parquet::kDouble;
    EXPECT_EQ(FirstOf(File({path, Strings("raw", {"x"})})), "\"x\"");
}

TEST(ParquetRecord, RefusesColumnsOfWrongTypes) {
    const std::string record = ": dir.parq/a/refs.0.parq: column ";
    EXPECT_EQ(FirstOf(File({Integers("path", {1})})),
              "corrupt" + record + "path has the wrong type: integers");
    EXPECT_EQ(FirstOf(File({Integers("raw", {1})})),
              "corrupt" + record + "raw has the wrong type: integers");
    EXPECT_EQ(FirstOf(File({Strings("size", {"1"})})),
              "corrupt" + record + "size has the wrong type: strings");
    Column offset = Integers("offset", {0});
    offset.type = parquet::kDouble;
    EXPECT_EQ(FirstOf(File({Strings("path", {"/p"}), offset})),
              "not supported: /p: column offset: expected integers, found floating-point numbers");
    EXPECT_EQ(FirstOf(File({Strings("raw", {"x"}), offset})), "\"x\"");
}
