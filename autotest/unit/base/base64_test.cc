#include <gtest/gtest.h>

#include "text.h"

namespace {

struct Vector {
    std::string bytes, text;
};

// RFC 4648, section 10, and the two last digits of the alphabet.
const Vector kVectors[] = {{"", ""},
                           {"f", "Zg=="},
                           {"fo", "Zm8="},
                           {"foo", "Zm9v"},
                           {"foob", "Zm9vYg=="},
                           {"fooba", "Zm9vYmE="},
                           {"foobar", "Zm9vYmFy"},
                           {"\xfb\xff\xbf", "+/+/"},
                           {std::string(3, '\0'), "AAAA"}};

} // namespace

TEST(Base64, EncodesTheVectorsOfTheRfc) {
    for (const Vector &vector : kVectors) {
        Buf encoded;
        ASSERT_EQ(refs_base64_encode(Bytes(vector.bytes), &encoded, nullptr), REFS_OK);
        EXPECT_EQ(encoded.Text(), vector.text);
    }
}

TEST(Base64, DecodesTheVectorsOfTheRfc) {
    for (const Vector &vector : kVectors) {
        Buf decoded;
        ASSERT_EQ(refs_base64_decode(View(vector.text), &decoded, nullptr), REFS_OK);
        EXPECT_EQ(decoded.Text(), vector.bytes);
    }
}

TEST(Base64, AppendsToWhatIsThere) {
    Buf decoded;
    ASSERT_EQ(refs_base64_decode(View("Zm9v"), &decoded, nullptr), REFS_OK);
    ASSERT_EQ(refs_base64_decode(View("YmFy"), &decoded, nullptr), REFS_OK);
    EXPECT_EQ(decoded.Text(), "foobar");
}

TEST(Base64, ToleratesWhiteSpaceAndMissingPadding) {
    for (const char *text :
         {"Zm9v\nYg==", " Z m 9 v Y g = = ", "Zm9vYg", "Zm9vYg=", "Zm9v\r\n\tYg"}) {
        Buf decoded;
        ASSERT_EQ(refs_base64_decode(View(text), &decoded, nullptr), REFS_OK) << text;
        EXPECT_EQ(decoded.Text(), "foob") << text;
    }
}

TEST(Base64, RefusesEverythingElse) {
    for (const char *text : {"@@@@", "Zm9-", "Zm9_", "Z", "Zm9vY", "Zg==Zg==", "Zm\xc3\xa9v"}) {
        Buf decoded;
        refs_error err = REFS_ERROR_INIT;
        EXPECT_EQ(refs_base64_decode(View(text), &decoded, &err), REFS_CORRUPT) << text;
        EXPECT_NE(std::string(err.message).find("base64"), std::string::npos);
    }
}

TEST(Base64, GivesBackWhatItEncoded) {
    std::string bytes;
    for (int i = 0; i < 300; i++) {
        Buf encoded, decoded;
        ASSERT_EQ(refs_base64_encode(Bytes(bytes), &encoded, nullptr), REFS_OK);
        ASSERT_EQ(refs_base64_decode(View(encoded.Text()), &decoded, nullptr), REFS_OK);
        ASSERT_EQ(decoded.Text(), bytes);
        bytes += static_cast<char>(i * 7);
    }
}
