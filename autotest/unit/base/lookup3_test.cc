#include "refs/lookup3.h"

#include <gtest/gtest.h>

#include <string>

namespace {

uint32_t hashOf(const std::string &text, uint32_t initial = 0) {
    return refs_lookup3(refs_bytes_view(text.data(), text.size()), initial);
}

// The values that lookup3.c's own driver5() prints.
TEST(Lookup3, GivesTheHashesThatItsAuthorPublished) {
    EXPECT_EQ(hashOf(""), 0xdeadbeefu);
    EXPECT_EQ(hashOf("", 0xdeadbeef), 0xbd5b7ddeu);
    EXPECT_EQ(hashOf("Four score and seven years ago"), 0x17770551u);
    EXPECT_EQ(hashOf("Four score and seven years ago", 1), 0xcd628161u);
}

// ... and what it prints of both words that hashlittle2() gives: the second one is ours that is
// high.
TEST(Lookup3, GivesPairsOfThemToo) {
    const std::string text = "Four score and seven years ago";
    const auto pairOf = [](const std::string &of, uint64_t initial) {
        return refs_lookup3_64(refs_bytes_view(of.data(), of.size()), initial);
    };
    EXPECT_EQ(pairOf("", 0), 0xdeadbeefdeadbeefu);
    EXPECT_EQ(pairOf("", 0xdeadbeef00000000u), 0xdeadbeefbd5b7ddeu);
    EXPECT_EQ(pairOf("", 0xdeadbeefdeadbeefu), 0xbd5b7dde9c093ccdu);
    EXPECT_EQ(pairOf(text, 0), 0xce7226e617770551u);
    EXPECT_EQ(pairOf(text, 0x100000000u), 0xbd371de4e3607caeu);
    EXPECT_EQ(pairOf(text, 1), 0x6cbea4b3cd628161u);
}

} // namespace
