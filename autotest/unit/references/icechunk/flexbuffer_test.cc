// Flexbuffers: what the configuration of a repository is kept in.

#include <gtest/gtest.h>

extern "C" {
#include "icechunk/flexbuffer.h"
}

namespace {

// {"a": "hi", "b": ["x", {}]}, put together by hand with offsets of one byte.
std::string Sample() {
    std::string bytes;
    const auto add = [&](const std::string &text) {
        bytes += text;
        return bytes.size();
    };
    const size_t key_a = bytes.size();
    add(std::string("a\0", 2));
    const size_t key_b = bytes.size();
    add(std::string("b\0", 2));
    const size_t hi = add("\2");
    add(std::string("hi\0", 3));
    const size_t x = add("\1");
    add(std::string("x\0", 2));
    const auto back = [&](size_t to) {
        return std::string(1, static_cast<char>(bytes.size() - to));
    };
    bytes += '\0'; // an empty vector of keys
    const size_t no_keys = bytes.size();
    bytes += back(no_keys);
    bytes += '\1';
    const size_t empty_map = add(std::string("\0", 1));
    const size_t list = add("\2");
    bytes += back(x);
    bytes += back(empty_map);
    bytes += static_cast<char>(5 << 2);
    bytes += static_cast<char>(9 << 2);
    bytes += '\2';
    const size_t keys = bytes.size();
    bytes += back(key_a);
    bytes += back(key_b);
    bytes += back(keys);
    bytes += '\1';
    const size_t map = add("\2");
    bytes += back(hi);
    bytes += back(list);
    bytes += static_cast<char>(5 << 2);
    bytes += static_cast<char>(10 << 2);
    bytes += back(map);
    bytes += static_cast<char>(9 << 2);
    bytes += '\1';
    return bytes;
}

refs_bytes View(const std::string &bytes) {
    return refs_bytes_view(bytes.data(), bytes.size());
}

// What the sample says, as far as it can be read.
std::string Read(const std::string &bytes) {
    refs_flex_value root, member, element;
    refs_str text;
    size_t n = 0;
    std::string said;
    if (refs_icechunk__flex_root(View(bytes), &root, nullptr) != REFS_OK) return "no root";
    if (refs_icechunk__flex_get(&root, "a", &member, nullptr) == REFS_OK &&
        refs_icechunk__flex_string(&member, &text, nullptr) == REFS_OK && text.data != nullptr)
        said += "a=" + std::string(text.data, text.size);
    if (refs_icechunk__flex_get(&root, "b", &member, nullptr) != REFS_OK) return said;
    if (refs_icechunk__flex_size(&member, &n, nullptr) != REFS_OK) return said;
    said += " b has " + std::to_string(n);
    if (n == 0 || refs_icechunk__flex_at(&member, 0, &element, nullptr) != REFS_OK) return said;
    if (refs_icechunk__flex_string(&element, &text, nullptr) == REFS_OK && text.data != nullptr)
        said += ", first " + std::string(text.data, text.size);
    return said;
}

TEST(Flexbuffer, FindsMembersByTheirNames) {
    EXPECT_EQ(Read(Sample()), "a=hi b has 2, first x");
}

TEST(Flexbuffer, GivesNothingForWhatIsNotThere) {
    const std::string bytes = Sample();
    refs_flex_value root, member, none;
    refs_str text;
    ASSERT_EQ(refs_icechunk__flex_root(View(bytes), &root, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_get(&root, "c", &member, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_string(&member, &text, nullptr), REFS_OK);
    EXPECT_EQ(text.data, nullptr);
    EXPECT_EQ(refs_icechunk__flex_get(&member, "d", &none, nullptr), REFS_OK);
    EXPECT_EQ(refs_icechunk__flex_at(&root, 2, &member, nullptr), REFS_CORRUPT);
}

TEST(Flexbuffer, NeverLeavesTheBufferWhicheverByteIsWrongAndWhereverItIsCut) {
    const std::string bytes = Sample();
    for (size_t at = 0; at < bytes.size(); at++)
        for (int value : {0, 1, 2, 3, 127, 128, 255}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(value);
            (void)Read(damaged);
        }
    for (size_t size = 0; size < bytes.size(); size++) (void)Read(bytes.substr(size));
    EXPECT_EQ(Read(""), "no root");
}

} // namespace
