/* origins_test.cc -- origins where nobody answers. */
#include <gtest/gtest.h>

extern "C" {
#include "http_origins.h"
}

namespace {

class Origins : public testing::Test {
  protected:
    void TearDown() override { refs_origins__clear(&origins); }
    bool isDead(const std::string &url, uint64_t now) const {
        return refs_origins__is_dead(&origins, url.c_str(), now);
    }

    refs_origins origins = {};
};

TEST_F(Origins, AreAliveAsLongAsNothingIsKnown) {
    EXPECT_FALSE(isDead("http://a/x", 0));
}

TEST_F(Origins, StayDeadForAWhile) {
    refs_origins__note_dead(&origins, "http://a/x?signature=1", 1000);
    EXPECT_TRUE(isDead("http://a/another", 1000));
    EXPECT_TRUE(isDead("http://a/x", 1000 + REFS_HTTP_DEAD_MS - 1));
    EXPECT_FALSE(isDead("http://a/x", 1000 + REFS_HTTP_DEAD_MS));
    EXPECT_FALSE(isDead("https://a/x", 1000));
    EXPECT_FALSE(isDead("http://a:81/x", 1000));
}

TEST_F(Origins, AreAliveWhenTheyAnswer) {
    refs_origins__note_dead(&origins, "http://a/x", 0);
    refs_origins__note_dead(&origins, "http://b/x", 0);
    refs_origins__note_alive(&origins, "http://a/y");
    refs_origins__note_alive(&origins, "http://c/y");
    EXPECT_FALSE(isDead("http://a/x", 1));
    EXPECT_TRUE(isDead("http://b/x", 1));
}

TEST_F(Origins, HaveAnsweredSinceTheyDid) {
    const auto hasAnswered = [this](const char *url) {
        return refs_origins__has_answered(&origins, url);
    };
    EXPECT_FALSE(hasAnswered("http://a/x"));
    refs_origins__note_dead(&origins, "http://a/x", 0);
    EXPECT_FALSE(hasAnswered("http://a/x"));
    refs_origins__note_alive(&origins, "http://a/y");
    EXPECT_TRUE(hasAnswered("http://a/x"));
    EXPECT_FALSE(hasAnswered("http://b/x"));
    refs_origins__note_dead(&origins, "http://a/x", 0);
    EXPECT_TRUE(hasAnswered("http://a/x")) << "before";
}

TEST_F(Origins, AreForgottenWhenThereAreMany) {
    const auto url = [](int i) { return "http://h" + std::to_string(i) + "/x"; };
    for (int i = 0; i < REFS_HTTP_MAX_ORIGINS + 2; i++)
        for (int again = 0; again < 2; again++)
            refs_origins__note_dead(&origins, url(i).c_str(), 0);
    for (int i = 0; i < REFS_HTTP_MAX_ORIGINS + 2; i++) EXPECT_EQ(isDead(url(i), 1), i >= 2) << i;
}

} // namespace
