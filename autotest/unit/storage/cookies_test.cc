/* cookies_test.cc -- stores of cookies: one for each identity, the latest ones. */
#include <gtest/gtest.h>

#include <vector>

extern "C" {
#include "http/cookies.h"
}

namespace {

class Cookies : public testing::Test {
  protected:
    void TearDown() override { refs_cookies__free_all(first); }

    /** The store of an identity, held. */
    refs_cookies *hold(uint64_t credentials) {
        refs_http_rules rules{};
        rules.credentials = credentials;
        refs_origin origin;
        (void)refs_origin_of("https://h/", &origin);
        refs_cookies *found = refs_cookies__of(&first, &rules, &origin);
        refs_cookies__free_all(refs_cookies__take_old(&first));
        return found;
    }
    refs_cookies *use(uint64_t credentials) {
        refs_cookies *found = hold(credentials);
        refs_cookies__release(found);
        return found;
    }

    refs_cookies *first = nullptr;
};

} // namespace

TEST_F(Cookies, AreKeptForEachIdentity) {
    refs_cookies *one = use(1), *other = use(2);
    EXPECT_NE(one, other);
    EXPECT_EQ(use(1), one);
    EXPECT_EQ(use(2), other);
}

TEST_F(Cookies, AreThoseOfTheLatestIdentities) {
    constexpr uint64_t n = 3 * REFS_HTTP_MAX_COOKIE_STORES;
    refs_cookies *held = hold(1000000);
    std::vector<refs_cookies *> stores;
    for (uint64_t i = 0; i < n; i++) {
        stores.push_back(use(i));
        ASSERT_NE(stores.back(), nullptr) << i;
    }
    for (uint64_t i = n - REFS_HTTP_MAX_COOKIE_STORES + 1; i < n; i++)
        EXPECT_EQ(use(i), stores[i]) << i;
    EXPECT_EQ(use(1000000), held) << "it was in use";
    refs_cookies__release(held);
}
