// each_chunk_test.cc -- all chunks of an array, in order, whatever the set came from.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "parquet_under_test.h"

namespace {

// "index=reference" of each chunk, with a blank behind it.
class Chunks {
  public:
    Chunks(const refs_set *set, const std::string &prefix, const std::vector<uint64_t> &n,
           char separator = '.')
        : rank_(n.size()) {
        const refs_chunk_keys keys = {View(prefix), separator, n.size(), n.data()};
        const refs_chunk_visitor visitor = {Add, this};
        status = refs_set_each_chunk(set, &keys, &visitor, &error);
    }
    std::string text;
    refs_status status;
    refs_error error = REFS_ERROR_INIT;

  private:
    static refs_status Add(void *user, const uint64_t *index, const refs_ref *ref, refs_error *) {
        auto *self = static_cast<Chunks *>(user);
        for (size_t dim = 0; dim < (self->rank_ > 0 ? self->rank_ : 1); dim++)
            self->text += (dim > 0 ? "." : "") + std::to_string(index[dim]);
        self->text += "=" + SetUnderTest::Text(*ref) + " ";
        return REFS_OK;
    }
    size_t rank_;
};

TEST(EachChunk, OfJsonComesInTheOrderOfTheGrid) {
    SetUnderTest under;
    ASSERT_EQ(under.Open(R"({"version":1,"refs":{"a/1.0":["u",5,2],"a/0.1":"x","a/0.0":["v"],
                             "a/9.9":["u",1,1],"b/0.0":["w"]}})"),
              REFS_OK)
        << under.error.message;
    EXPECT_EQ(Chunks(under.set, "a/", {2, 2}).text, "0.0=[v] 0.1=\"x\" 1.0=[u, 5, 2] ");
    EXPECT_EQ(Chunks(under.set, "c/", {2, 2}).text, "");
}

TEST(EachChunk, OfAFullGridComesToo) {
    SetUnderTest under;
    ASSERT_EQ(under.Open(R"({"a/0.0":["u",0,1],"a/0.1":["u",1,1],"a/1.0":["u",2,1],
                             "a/1.1":["u",3,1],".zgroup":"{}"})"),
              REFS_OK);
    EXPECT_EQ(Chunks(under.set, "a/", {2, 2}).text,
              "0.0=[u, 0, 1] 0.1=[u, 1, 1] 1.0=[u, 2, 1] 1.1=[u, 3, 1] ");
}

TEST(EachChunk, OfAScalarHasTheIndexZero) {
    SetUnderTest under;
    ASSERT_EQ(under.Open(R"({"s/0":["u",7,8],".zgroup":"{}"})"), REFS_OK);
    EXPECT_EQ(Chunks(under.set, "s/", {}).text, "0=[u, 7, 8] ");
}

TEST(EachChunk, WithSlashesBetweenNumbersIsFound) {
    SetUnderTest under;
    ASSERT_EQ(under.Open(R"({"x/c/0/1":["u",7,8],"y/c/3":["v"],"zarr.json":"{}",".zgroup":"{}"})"),
              REFS_OK);
    EXPECT_EQ(Chunks(under.set, "x/c/", {2, 2}, '/').text, "0.1=[u, 7, 8] ");
    EXPECT_EQ(Chunks(under.set, "y/c/", {4}, '/').text, "3=[v] ");
}

TEST(EachChunk, OfArraysWithNumbersForNamesIsFound) {
    SetUnderTest under;
    ASSERT_EQ(under.Open(R"({"a/0/2":["u"],"a/1/2/0":["v"],"7/0":["w"],"a/3/0.1":["x"],
                             "5/c/1/0":["y"],"6/1/0":["z"],".zgroup":"{}"})"),
              REFS_OK);
    EXPECT_EQ(Chunks(under.set, "a/0/", {3}).text, "2=[u] ");
    EXPECT_EQ(Chunks(under.set, "a/1/2/", {3}).text, "0=[v] ");
    EXPECT_EQ(Chunks(under.set, "7/", {}).text, "0=[w] ");
    EXPECT_EQ(Chunks(under.set, "a/3/", {2, 2}).text, "0.1=[x] ");
    EXPECT_EQ(Chunks(under.set, "5/c/", {2, 2}, '/').text, "1.0=[y] ");
    EXPECT_EQ(Chunks(under.set, "6/", {2, 2}, '/').text, "1.0=[z] ");
}

TEST(EachChunk, ThatCannotBeResolvedIsNamed) {
    SetUnderTest under;
    ASSERT_EQ(under.Open(R"({"a/0.0":["u"],"a/0.1":["nowhere://x"],".zgroup":"{}"})"), REFS_OK);
    const Chunks chunks(under.set, "a/", {2, 2});
    EXPECT_EQ(chunks.status, REFS_UNSUPPORTED);
    EXPECT_NE(std::string(chunks.error.message).find("a/0.1: "), std::string::npos)
        << chunks.error.message;
}

TEST(EachChunk, OfParquetComesRecordByRecord) {
    ParquetUnderTest under;
    under.Array("a", "[7]", "[1]");
    under.Record("a/refs.0.parq", {Range("u", 1, 2), {}, Raw("x")});
    under.Record("a/refs.2.parq", {Range("u", 5, 6)});
    ASSERT_EQ(under.OpenFolder("3"), REFS_OK) << under.error.message;
    EXPECT_EQ(Chunks(under.set, "a/", {7}).text, "0=[u, 1, 2] 2=\"x\" 6=[u, 5, 6] ");
    EXPECT_EQ(Chunks(under.set, "b/", {7}).text, "");
}

TEST(EachChunk, OfADataFileIsWhereItLies) {
    MemoryVfs vfs;
    std::ifstream file(REFS_SCANNED_DATA "/btree1.h5", std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    vfs.files["a.h5"] = content.str();
    refs_set *set = nullptr;
    refs_error error = REFS_ERROR_INIT;
    ASSERT_EQ(refs_set_open(vfs.get(), "a.h5", nullptr, &set, &error), REFS_OK) << error.message;
    std::vector<std::string> names;
    const auto add = [](void *user, refs_str key, refs_error *) {
        static_cast<std::vector<std::string> *>(user)->push_back(Text(key));
        return REFS_OK;
    };
    ASSERT_EQ(refs_set_each_name(set, add, &names, nullptr), REFS_OK);
    std::string array;
    for (const std::string &name : names)
        if (name.size() > 8 && name.substr(name.size() - 8) == "/.zarray")
            array = name.substr(0, name.size() - 7);
    ASSERT_NE(array, "");
    const Chunks chunks(set, array, {1, 1});
    refs_ref ref;
    ASSERT_EQ(refs_set_find(set, View(array + "0.0"), &ref, nullptr), REFS_OK);
    EXPECT_EQ(chunks.text.find("0.0=[a.h5, " + std::to_string(ref.offset) + ", "), 0u)
        << chunks.text;
    refs_ref_release(&ref);
    refs_set_free(set);
}

// The index of the first chunk, or "none".
std::string First(const refs_set *set, const std::string &prefix, const std::vector<uint64_t> &n,
                  char separator = '.') {
    const refs_chunk_keys keys = {View(prefix), separator, n.size(), n.data()};
    std::vector<uint64_t> index(n.size());
    refs_error error = REFS_ERROR_INIT;
    const refs_status status = refs_set_first_chunk(set, &keys, index.data(), &error);
    if (status != REFS_OK) return status == REFS_NOT_FOUND ? "none" : error.message;
    std::string text;
    for (const uint64_t number : index) text += (text.empty() ? "" : ".") + std::to_string(number);
    return text;
}

TEST(FirstChunk, IsTheFirstThatIsThere) {
    SetUnderTest under;
    ASSERT_EQ(under.Open(R"({"a/1.1":["u",5,2],"a/0.2":"x","b/c.0.1":"x","s/0":"x"})"), REFS_OK);
    EXPECT_EQ(First(under.set, "a/", {2, 3}), "0.2");
    EXPECT_EQ(First(under.set, "a/", {2, 2}), "1.1");
    EXPECT_EQ(First(under.set, "a/", {1, 2}), "none");
    EXPECT_EQ(First(under.set, "b/c.", {2, 2}), "0.1");
    EXPECT_EQ(First(under.set, "s/", {}), "");
    EXPECT_EQ(First(under.set, "none/c.", {1000000, 1000000, 1000000}), "none");
}

TEST(FirstChunk, CostsOneRecordFileBesideThoseInMemory) {
    ParquetUnderTest under;
    under.Array("a", "[60]", "[1]");
    for (const char *name : {"0", "1", "3"})
        under.Record("a/refs." + std::string(name) + ".parq", std::vector<Row>(10));
    std::vector<Row> rows(10);
    rows[7] = Range("/d", 0, 1);
    under.Record("a/refs.4.parq", rows);
    ASSERT_EQ(under.OpenFolder(), REFS_OK);
    under.opened.clear();
    EXPECT_EQ(First(under.set, "a/", {60}), "none");
    EXPECT_EQ(under.opened, std::vector<std::string>{"a/refs.0.parq"});
    EXPECT_EQ(under.At("a/40"), "absent");
    under.opened.clear();
    EXPECT_EQ(First(under.set, "a/", {60}), "47");
    EXPECT_EQ(under.opened, std::vector<std::string>{"a/refs.1.parq"});
}

} // namespace
