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

} // namespace
