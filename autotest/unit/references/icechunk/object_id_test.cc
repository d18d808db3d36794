// Names of objects in paths.

#include <gtest/gtest.h>

extern "C" {
#include "icechunk/object_id.h"
}

namespace {

// The specification's own example: the first snapshot of every repository.
const uint8_t first[] = {0x0b, 0x1c, 0xc8, 0xd6, 0x78, 0x75, 0x80, 0xf0, 0xe3, 0x3a, 0x65, 0x34};

TEST(ObjectId, IsWrittenAsTheSpecificationDoes) {
    char text[REFS_OBJECT_ID_TEXT + 1];
    refs_icechunk__id_format(first, text);
    EXPECT_STREQ(text, "1CECHNKREP0F1RSTCMT0");
}

TEST(ObjectId, IsReadInEitherCaseAndWithLettersThatLookLikeDigits) {
    for (const char *text :
         {"1CECHNKREP0F1RSTCMT0", "1cechnkrep0f1rstcmt0", "ICECHNKREPOFLRSTCMTo"}) {
        refs_object_id id{};
        ASSERT_TRUE(refs_icechunk__id_parse(refs_str_from(text), &id)) << text;
        EXPECT_EQ(memcmp(id.bytes, first, sizeof first), 0) << text;
    }
}

TEST(ObjectId, IsNothingElse) {
    refs_object_id id;
    for (const char *text :
         {"", "main", "1CECHNKREP0F1RSTCMT", "1CECHNKREP0F1RSTCMT00", "1CECHNKREP0F1RSTCMTU",
          "1CECHNKREP0F1RSTCMT1", "1CECHNKREP0F1RS/CMT0"})
        EXPECT_FALSE(refs_icechunk__id_parse(refs_str_from(text), &id)) << text;
}

} // namespace
