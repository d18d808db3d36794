// Tables, vectors and strings of a flatbuffer: every offset is checked as it is followed.

#include <gtest/gtest.h>

extern "C" {
#include "icechunk/flatbuffer.h"
}
#include "flatbuffer_under_test.h"

namespace {

refs_bytes View(const std::string &bytes) {
    return refs_bytes_view(bytes.data(), bytes.size());
}

// A table with a number, a struct, a string, a vector of bytes, a child and two more tables.
std::string Sample() {
    FlatBuffer buffer;
    const Written text = buffer.String("hello"), bytes = buffer.Bytes("\1\2\3", 3);
    const Written child = buffer.Table({{0, {Number(7, 8)}}});
    const Written one = buffer.Table({{0, {Number(1, 1)}}}), two = buffer.Table({});
    const Written tables = buffer.Offsets({one, two}), strings = buffer.Offsets({text});
    return buffer.Finish(buffer.Table({{0, {Number(513, 2)}},
                                       {2, {"abcdefghijkl"}},
                                       {3, {"", text}},
                                       {4, {"", bytes}},
                                       {5, {"", child}},
                                       {6, {"", tables}},
                                       {7, {"", strings}}}));
}

class Flatbuffer : public testing::Test {
  protected:
    void SetUp() override {
        sample_ = Sample();
        ASSERT_EQ(refs_icechunk__flat_root(View(sample_), &root_, nullptr), REFS_OK);
    }
    std::string sample_;
    refs_flat_table root_{};
};

TEST_F(Flatbuffer, ReadsNumbersAndLeavesAbsentOnesAlone) {
    uint64_t value = 0;
    EXPECT_EQ(refs_icechunk__flat_number(&root_, 0, 2, &value, nullptr), REFS_OK);
    EXPECT_EQ(value, 513u);
    value = 42;
    EXPECT_EQ(refs_icechunk__flat_number(&root_, 1, 8, &value, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_number(&root_, 99, 8, &value, nullptr), REFS_OK);
    EXPECT_EQ(value, 42u);
}

TEST_F(Flatbuffer, ReadsStructsStringsAndBytes) {
    const uint8_t *id = nullptr;
    refs_str text;
    refs_bytes bytes;
    EXPECT_EQ(refs_icechunk__flat_struct(&root_, 2, 12, &id, nullptr), REFS_OK);
    EXPECT_EQ(std::string(reinterpret_cast<const char *>(id), 12), "abcdefghijkl");
    EXPECT_EQ(refs_icechunk__flat_string(&root_, 3, &text, nullptr), REFS_OK);
    EXPECT_TRUE(refs_str_is(text, "hello"));
    EXPECT_EQ(refs_icechunk__flat_bytes(&root_, 4, &bytes, nullptr), REFS_OK);
    EXPECT_EQ(bytes.size, 3u);
    EXPECT_EQ(refs_icechunk__flat_string(&root_, 1, &text, nullptr), REFS_OK);
    EXPECT_EQ(text.data, nullptr);
}

TEST_F(Flatbuffer, FollowsTablesAndElements) {
    refs_flat_table child;
    refs_flat_vector tables, strings;
    refs_str text;
    uint64_t value = 0;
    EXPECT_EQ(refs_icechunk__flat_child(&root_, 5, &child, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_number(&child, 0, 8, &value, nullptr), REFS_OK);
    EXPECT_EQ(value, 7u);
    EXPECT_EQ(refs_icechunk__flat_child(&root_, 1, &child, nullptr), REFS_OK);
    EXPECT_EQ(child.buffer.data, nullptr);
    EXPECT_EQ(refs_icechunk__flat_vector(&root_, 6, 4, &tables, nullptr), REFS_OK);
    EXPECT_EQ(tables.n, 2u);
    EXPECT_EQ(refs_icechunk__flat_table_at(&tables, 0, &child, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_number(&child, 0, 1, &value, nullptr), REFS_OK);
    EXPECT_EQ(value, 1u);
    EXPECT_EQ(refs_icechunk__flat_vector(&root_, 7, 4, &strings, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_string_at(&strings, 0, &text, nullptr), REFS_OK);
    EXPECT_TRUE(refs_str_is(text, "hello"));
    EXPECT_EQ(refs_icechunk__flat_table_at(&tables, 2, &child, nullptr), REFS_CORRUPT);
}

// Looks at everything that the sample has, whatever it leads to.
void LookAtAll(const std::string &bytes) {
    refs_flat_table root, child;
    refs_flat_vector vector;
    refs_str text;
    refs_bytes view;
    const uint8_t *id;
    uint64_t value = 0;
    if (refs_icechunk__flat_root(View(bytes), &root, nullptr) != REFS_OK) return;
    (void)!refs_icechunk__flat_number(&root, 0, 2, &value, nullptr);
    (void)!refs_icechunk__flat_struct(&root, 2, 12, &id, nullptr);
    if (refs_icechunk__flat_string(&root, 3, &text, nullptr) == REFS_OK && text.data != nullptr)
        value += std::string(text.data, text.size).size();
    if (refs_icechunk__flat_bytes(&root, 4, &view, nullptr) == REFS_OK && view.data != nullptr)
        value += std::string(reinterpret_cast<const char *>(view.data), view.size).size();
    if (refs_icechunk__flat_child(&root, 5, &child, nullptr) == REFS_OK &&
        child.buffer.data != nullptr)
        (void)!refs_icechunk__flat_number(&child, 0, 8, &value, nullptr);
    for (unsigned field : {6u, 7u})
        if (refs_icechunk__flat_vector(&root, field, 4, &vector, nullptr) == REFS_OK)
            for (uint32_t i = 0; i < vector.n && i < 16; i++)
                if (refs_icechunk__flat_table_at(&vector, i, &child, nullptr) == REFS_OK)
                    (void)!refs_icechunk__flat_number(&child, 0, 1, &value, nullptr);
}

TEST_F(Flatbuffer, NeverLeavesTheBufferWhicheverByteIsWrongAndWhereverItIsCut) {
    for (size_t at = 0; at < sample_.size(); at++)
        for (int value : {0, 1, 127, 128, 255}) {
            std::string damaged = sample_;
            damaged[at] = static_cast<char>(value);
            LookAtAll(damaged);
        }
    for (size_t size = 0; size < sample_.size(); size++) LookAtAll(sample_.substr(0, size));
}

TEST(FlatbufferRoot, MustLieInTheBuffer) {
    refs_flat_table root;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_icechunk__flat_root(View(""), &root, &err), REFS_CORRUPT);
    EXPECT_STREQ(err.message, "flatbuffer: the root at byte 0 lies outside the buffer");
    refs_error_clear(&err);
    EXPECT_EQ(refs_icechunk__flat_root(View(Number(100, 4) + Number(0, 4)), &root, &err),
              REFS_CORRUPT);
    EXPECT_STREQ(err.message,
                 "flatbuffer: the target of an offset at byte 0 lies outside the buffer");
}

TEST(FlatbufferTable, IsRefusedWithAVtableBeforeTheBufferOrTooShort) {
    refs_flat_table root;
    const std::string before = Number(4, 4) + Number(1000, 4);
    EXPECT_EQ(refs_icechunk__flat_root(View(before), &root, nullptr), REFS_CORRUPT);
    const std::string behind = Number(4, 4) + Number(static_cast<uint32_t>(-1000), 4);
    EXPECT_EQ(refs_icechunk__flat_root(View(behind), &root, nullptr), REFS_CORRUPT);
    const std::string small = Number(8, 4) + Number(2, 2) + Number(4, 2) + Number(4, 4);
    EXPECT_EQ(refs_icechunk__flat_root(View(small), &root, nullptr), REFS_CORRUPT);
}

TEST(FlatbufferVector, OfMoreElementsThanBytesIsRefused) {
    FlatBuffer buffer;
    const Written vector = buffer.Bytes("abcd", 0xFFFFFFFF);
    const std::string bytes = buffer.Finish(buffer.Table({{0, {"", vector}}}));
    refs_flat_table root;
    refs_flat_vector read;
    ASSERT_EQ(refs_icechunk__flat_root(View(bytes), &root, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_vector(&root, 0, 8, &read, nullptr), REFS_CORRUPT);
}

TEST(FlatbufferField, ThatReachesBehindItsTableIsRefused) {
    FlatBuffer buffer;
    const std::string bytes = buffer.Finish(buffer.Table({{0, {Number(1, 1)}}}));
    refs_flat_table root;
    uint64_t value;
    ASSERT_EQ(refs_icechunk__flat_root(View(bytes), &root, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flat_number(&root, 0, 8, &value, nullptr), REFS_CORRUPT);
}

} // namespace
