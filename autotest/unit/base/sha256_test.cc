#include "refs/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string hexOf(const uint8_t *hash) {
    std::string text;
    for (size_t i = 0; i < REFS_SHA256_SIZE; i++) {
        char hex[3];
        snprintf(hex, sizeof hex, "%02x", hash[i]);
        text += hex;
    }
    return text;
}

std::string hashOf(const std::string &message) {
    uint8_t hash[REFS_SHA256_SIZE];
    refs_sha256(refs_bytes_view(message.data(), message.size()), hash);
    return hexOf(hash);
}

std::string codeOf(const std::string &key, const std::string &message) {
    uint8_t hash[REFS_SHA256_SIZE];
    EXPECT_EQ(refs_sha256_hmac(refs_bytes_view(key.data(), key.size()),
                               refs_bytes_view(message.data(), message.size()), hash, nullptr),
              REFS_OK);
    return hexOf(hash);
}

// The examples of NIST for FIPS 180-4, and an empty message.
TEST(Sha256, GivesTheDigestsOfTheStandardsExamples) {
    EXPECT_EQ(hashOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hashOf(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// RFC 4231, test cases 1, 2 and 6.
TEST(Sha256, GivesTheCodesOfRfc4231) {
    EXPECT_EQ(codeOf(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(codeOf("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(
        codeOf(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

} // namespace
