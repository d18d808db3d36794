/* dispatch_test.cc -- sets through the dispatch table, as netCDF-C calls it. */
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "temporary_folder.h"

extern "C" {
#include "ncrefs.h"
}

namespace {

constexpr int ncid = 3 << 16;

/** A set that is open through the table. */
class Opened {
  public:
    explicit Opened(const std::string &refs) {
        folder_.Write("set.json",
                      R"({"version": 1, "refs": {".zgroup": "{\"zarr_format\": 2}")" + refs + "}}");
        code = table().open((folder_ / "set.json").c_str(), 0, 0, nullptr, nullptr, &table(), ncid);
    }
    ~Opened() {
        if (code == NC_NOERR) table().close(ncid, nullptr);
    }
    Opened(const Opened &) = delete;
    Opened &operator=(const Opened &) = delete;

    static NC_Dispatch &table() { return *ncrefs_table(); }

    int group(const char *path) const {
        int found = -1;
        EXPECT_EQ(table().inq_grp_full_ncid(ncid, path, &found), NC_NOERR);
        return found;
    }
    int code;

  private:
    TemporaryFolder folder_;
};

/** The key of an array, and that of its attributes. */
std::string array(const std::string &path, const std::string &shape, const std::string &dtype,
                  const std::string &attributes = "", const std::string &more = "") {
    const std::string meta =
        R"({\"zarr_format\": 2, \"shape\": )" + shape + R"(, \"chunks\": )" + shape +
        R"(, \"dtype\": \")" + dtype +
        R"(\", \"fill_value\": null, \"order\": \"C\", \"compressor\": null, \"filters\": null)" +
        more + "}";
    return ", \"" + path + "/.zarray\": \"" + meta + "\", \"" + path + "/.zattrs\": \"{" +
           attributes + "}\"";
}

std::string dims(const std::string &names) {
    return R"(\"_ARRAY_DIMENSIONS\": [)" + names + "]";
}

const std::string x = R"(\"x\")", yx = R"(\"y\", \"x\")";

/** 2 by 3 bytes from "a" on. */
std::string letters(const char *dtype) {
    return array("v", "[2, 3]", dtype, dims(yx)) + R"(, "v/0.0": "abcdef")";
}

} // namespace

TEST(Dispatch, HasDimensionsOfNamesAndLengths) {
    const Opened set(array("v", "[2, 3]", "|i1", dims(yx)) + array("w", "[3]", "|i1", dims(x)) +
                     array("g/u", "[4]", "|i1", dims(x)) + array("g/w", "[3]", "|i1", dims(x)));
    ASSERT_EQ(set.code, NC_NOERR);
    int n = 0, id = -1, ids[4];
    size_t size = 0;
    EXPECT_EQ(Opened::table().inq_dimids(ncid, &n, ids, 0), NC_NOERR);
    EXPECT_EQ(n, 2);
    EXPECT_EQ(Opened::table().inq_dimid(set.group("/g"), "x", &id), NC_NOERR);
    EXPECT_EQ(Opened::table().inq_dim(ncid, id, nullptr, &size), NC_NOERR);
    EXPECT_EQ(size, 4U);
    EXPECT_EQ(Opened::table().inq_dimids(set.group("/g"), &n, ids, 1), NC_NOERR);
    EXPECT_EQ(n, 4); // "y", "x" of 3, and in the group "x" of 4 and "x_2" of 3, which it hides
    EXPECT_EQ(Opened::table().inq_dimid(ncid, "z", &id), NC_EBADDIM);
}

TEST(Dispatch, HasAttributesOfTheTypeOfTheirVariable) {
    const Opened set(
        array("v", "[1]", "<i2",
              dims(x) + R"(, \"valid_range\": [0, 5], \"flag_values\": [1, 70000])"
                        R"(, \"real\": 1.0, \"big\": 5000000000, \"list\": [\"a\", \"bc\"])"));
    nc_type type = NC_NAT;
    size_t n = 0;
    ASSERT_EQ(set.code, NC_NOERR);
    const auto ask = [&](const char *name) {
        return Opened::table().inq_att(ncid, 0, name, &type, &n);
    };
    EXPECT_EQ(ask("valid_range"), NC_NOERR);
    EXPECT_EQ(type, NC_SHORT);
    EXPECT_EQ(n, 2U);
    EXPECT_EQ(ask("flag_values"), NC_NOERR);
    EXPECT_EQ(type, NC_INT);
    EXPECT_EQ(ask("real"), NC_NOERR);
    EXPECT_EQ(type, NC_DOUBLE);
    EXPECT_EQ(ask("big"), NC_NOERR);
    EXPECT_EQ(type, NC_INT64);
    EXPECT_EQ(ask("list"), NC_NOERR);
    EXPECT_EQ(type, NC_STRING);
    EXPECT_EQ(ask("_ARRAY_DIMENSIONS"), NC_ENOTATT);
    std::vector<double> range(2);
    EXPECT_EQ(Opened::table().get_att(ncid, 0, "valid_range", range.data(), NC_DOUBLE), NC_NOERR);
    EXPECT_EQ(range[1], 5);
    EXPECT_EQ(Opened::table().get_att(ncid, 0, "list", range.data(), NC_DOUBLE), NC_ECHAR);
}

TEST(Dispatch, ReadsRegionsStridesAndMaps) {
    const Opened set(letters("|u1"));
    const size_t start[] = {0, 1}, count[] = {2, 2};
    const ptrdiff_t stride[] = {1, 1}, map[] = {1, 2};
    ASSERT_EQ(set.code, NC_NOERR);
    std::vector<uint8_t> bytes(4);
    EXPECT_EQ(Opened::table().get_vara(ncid, 0, start, count, bytes.data(), NC_UBYTE), NC_NOERR);
    EXPECT_EQ(bytes, (std::vector<uint8_t>{'b', 'c', 'e', 'f'}));
    std::vector<double> numbers(4);
    EXPECT_EQ(
        Opened::table().get_varm(ncid, 0, start, count, stride, map, numbers.data(), NC_DOUBLE),
        NC_NOERR);
    EXPECT_EQ(numbers, (std::vector<double>{'b', 'e', 'c', 'f'}));
    const size_t origin[] = {0, 0};
    const ptrdiff_t second[] = {1, 2};
    std::vector<int32_t> ints(4);
    EXPECT_EQ(Opened::table().get_vars(ncid, 0, origin, count, second, ints.data(), NC_INT),
              NC_NOERR);
    EXPECT_EQ(ints, (std::vector<int32_t>{'a', 'c', 'd', 'f'}));
}

TEST(Dispatch, RefusesWhatIsOutside) {
    const Opened set(letters("|u1"));
    uint8_t bytes[16];
    const ptrdiff_t none[] = {1, 0}, two[] = {1, 2};
    const auto read = [&](std::vector<size_t> start, std::vector<size_t> count,
                          const ptrdiff_t *stride) {
        return Opened::table().get_vars(ncid, 0, start.data(), count.data(), stride, bytes,
                                        NC_UBYTE);
    };
    ASSERT_EQ(set.code, NC_NOERR);
    EXPECT_EQ(read({2, 0}, {1, 1}, nullptr), NC_EINVALCOORDS);
    EXPECT_EQ(read({2, 3}, {0, 0}, nullptr), NC_NOERR);
    EXPECT_EQ(read({0, 1}, {1, 3}, nullptr), NC_EEDGE);
    EXPECT_EQ(read({0, 0}, {1, 2}, two), NC_NOERR);
    EXPECT_EQ(read({0, 0}, {1, 3}, two), NC_EEDGE);
    EXPECT_EQ(read({0, 0}, {1, 1}, none), NC_ESTRIDE);
    EXPECT_EQ(Opened::table().get_vara(ncid, 1, nullptr, nullptr, bytes, NC_UBYTE), NC_ENOTVAR);
    EXPECT_EQ(Opened::table().get_vara(ncid, 0, nullptr, nullptr, bytes, NC_UBYTE),
              NC_EINVALCOORDS);
    EXPECT_EQ(Opened::table().get_vara(1 << 16, 0, nullptr, nullptr, bytes, NC_UBYTE), NC_EBADID);
}

TEST(Dispatch, ConvertsManyElementsInParts) {
    const Opened set(array("v", "[3000000]", "|u1", dims(x), R"(, \"z\": 0)"));
    const size_t start[] = {5}, count[] = {1499990};
    const ptrdiff_t stride[] = {2};
    ASSERT_EQ(set.code, NC_NOERR);
    std::vector<float> values(count[0], 1);
    EXPECT_EQ(Opened::table().get_vars(ncid, 0, start, count, stride, values.data(), NC_FLOAT),
              NC_NOERR);
    EXPECT_EQ(values, std::vector<float>(count[0], 0));
}

TEST(Dispatch, ReadsTextOfAllForms) {
    const Opened set(array("c", "[3]", "|S1", dims(x)) + R"(, "c/0": "abc")" +
                     array("s", "[2]", "|S3", dims(R"(\"n\")")) +
                     R"(, "s/0": "one\u0000\u0000\u0000")");
    const size_t start[] = {0}, three[] = {3}, two[] = {2};
    ASSERT_EQ(set.code, NC_NOERR);
    char text[3];
    EXPECT_EQ(Opened::table().get_vara(ncid, 0, start, three, text, NC_CHAR), NC_NOERR);
    EXPECT_EQ(std::string(text, 3), "abc");
    int number[3];
    EXPECT_EQ(Opened::table().get_vara(ncid, 0, start, three, number, NC_INT), NC_ECHAR);
    char *strings[2] = {};
    EXPECT_EQ(Opened::table().get_vara(ncid, 1, start, two, strings, NC_STRING), NC_NOERR);
    EXPECT_STREQ(strings[0], "one");
    EXPECT_STREQ(strings[1], "");
    for (char *each : strings) free(each);
}

TEST(Dispatch, ListsTypesThatNetcdfHasNot) {
    const Opened set(array("c", "[1]", "<c8", dims(x)));
    int n = 0, type = 0, kind = 0;
    char name[NC_MAX_NAME + 1];
    size_t size = 0, fields = 0;
    ASSERT_EQ(set.code, NC_NOERR);
    EXPECT_EQ(Opened::table().inq_typeids(ncid, &n, &type), NC_NOERR);
    ASSERT_EQ(n, 1);
    EXPECT_EQ(Opened::table().inq_user_type(ncid, type, name, &size, nullptr, &fields, &kind),
              NC_NOERR);
    EXPECT_STREQ(name, "complex64");
    EXPECT_EQ(kind, NC_COMPOUND);
    EXPECT_EQ(size, 8U);
    nc_type member = NC_NAT;
    size_t offset = 0;
    EXPECT_EQ(
        Opened::table().inq_compound_field(ncid, type, 1, name, &offset, &member, nullptr, nullptr),
        NC_NOERR);
    EXPECT_STREQ(name, "i");
    EXPECT_EQ(offset, 4U);
    EXPECT_EQ(member, NC_FLOAT);
    EXPECT_EQ(
        Opened::table().inq_compound_field(ncid, type, 2, name, nullptr, nullptr, nullptr, nullptr),
        NC_EBADFIELD);
}

TEST(Dispatch, WritesNothing) {
    const Opened set(letters("|u1"));
    ASSERT_EQ(set.code, NC_NOERR);
    NC_Dispatch &table = Opened::table();
    EXPECT_EQ(table.redef(ncid), NC_EPERM);
    EXPECT_EQ(table.put_vara(ncid, 0, nullptr, nullptr, nullptr, NC_UBYTE), NC_EPERM);
    EXPECT_EQ(table.put_att(ncid, 0, "a", NC_CHAR, 0, nullptr, NC_CHAR), NC_EPERM);
    EXPECT_EQ(table.def_dim(ncid, "z", 1, nullptr), NC_EPERM);
    EXPECT_EQ(table.open("x", NC_WRITE, 0, nullptr, nullptr, &table, 4 << 16), NC_EPERM);
}

TEST(Dispatch, SaysWhatANameIs) {
    NC_Dispatch &table = Opened::table();
    const TemporaryFolder folder;
    folder.Write("text", "neither");
    EXPECT_EQ(table.open((folder / "none").c_str(), 0, 0, nullptr, nullptr, &table, 4 << 16), 2);
    EXPECT_EQ(table.open((folder / "text").c_str(), 0, 0, nullptr, nullptr, &table, 4 << 16),
              NC_ENOTNC);
    EXPECT_EQ(table.open("swift://a/b", 0, 0, nullptr, nullptr, &table, 4 << 16), NC_ENOTNC);
}

TEST(Dispatch, HasEveryFunction) {
    const NC_Dispatch &table = Opened::table();
    static_assert(sizeof table % sizeof(void *) == 0, "two numbers, and pointers");
    std::vector<void *> pointers(sizeof table / sizeof(void *));
    memcpy(pointers.data(), &table, sizeof table);
    for (size_t i = 1; i < pointers.size(); i++) EXPECT_NE(pointers[i], nullptr) << i;
}
