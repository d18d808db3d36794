/* sigv4_test.cc -- signatures against those that Amazon's documentation shows. */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "sigv4.h"
}

namespace {

struct Buffer : refs_buf {
    Buffer() : refs_buf{nullptr, 0, 0} {}
    ~Buffer() { refs_buf_clear(this); }
    std::string text() const { return {reinterpret_cast<const char *>(data), size}; }
};

/* "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)", its example. */
refs_signer exampleSigner() {
    refs_signer signer = {};
    signer.access_key = "AKIAIOSFODNN7EXAMPLE";
    signer.secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    signer.region = "us-east-1";
    signer.now = 1369353600; // 2013-05-24
    signer.valid_s = 86400;
    return signer;
}

std::string sign(const refs_signer &signer, const char *query) {
    const refs_signable asked = {refs_str_from("examplebucket.s3.amazonaws.com"),
                                 refs_str_from("/test.txt"), refs_str_from(query), nullptr};
    Buffer made;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_sigv4__sign(&signer, &asked, &made, &err), REFS_OK) << err.message;
    return made.text();
}

} // namespace

TEST(SignatureVersion4, IsThatOfAmazonsExample) {
    EXPECT_EQ(sign(exampleSigner(), ""),
              "X-Amz-Algorithm=AWS4-HMAC-SHA256"
              "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
              "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
              "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(SignatureVersion4, PutsParametersInTheOrderOfTheirNames) {
    refs_signer signer = exampleSigner();
    signer.session_token = "a/b=";
    const std::string query = sign(signer, "x-amz-request-payer=requester&prefix=a");
    const size_t token = query.find("&X-Amz-Security-Token=a%2Fb%3D&X-Amz-SignedHeaders=host&");
    const size_t prefix = query.find("&prefix=a&x-amz-request-payer=requester&X-Amz-Signature=");
    EXPECT_NE(token, std::string::npos) << query;
    EXPECT_NE(prefix, std::string::npos) << query;
    EXPECT_LT(token, prefix);
}

TEST(SignatureVersion4, RefusesARegionThatIsNone) {
    refs_signer signer = exampleSigner();
    const std::string region(200, 'r');
    signer.region = region.c_str();
    const refs_signable asked = {refs_str_from("h"), refs_str_from("/"), refs_str_from(""),
                                 nullptr};
    Buffer made;
    refs_error err = REFS_ERROR_INIT;
    EXPECT_EQ(refs_sigv4__sign(&signer, &asked, &made, &err), REFS_INVALID);
    EXPECT_STREQ(err.message, "the name of the region has 200 bytes, more than the limit of 102");
}

TEST(Escape, LeavesWhatTheSignatureLeaves) {
    Buffer escaped;
    ASSERT_EQ(refs_sigv4__escape(refs_str_from("a/B-_.~ +\xc3\xa9%"), "/", &escaped, nullptr),
              REFS_OK);
    EXPECT_EQ(escaped.text(), "a/B-_.~%20%2B%C3%A9%25");
}
