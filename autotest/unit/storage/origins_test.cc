/* origins_test.cc -- origins where nobody answers. */
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "http/origins.h"
}

namespace {

/** The origin of a URL, until the next call. */
const refs_origin *at(const std::string &url) {
    static refs_origin origin;
    (void)refs_origin_of(url.c_str(), &origin);
    return &origin;
}

class Origins : public testing::Test {
  protected:
    bool isDead(const std::string &url, uint64_t now) const {
        return refs_origins__is_dead(&origins, at(url.c_str()), now);
    }

    refs_origins origins = {};
};

TEST_F(Origins, AreAliveAsLongAsNothingIsKnown) {
    EXPECT_FALSE(isDead("http://a/x", 0));
}

TEST_F(Origins, StayDeadForAWhile) {
    refs_origins__note_dead(&origins, at("http://a/x?signature=1"), 1000);
    EXPECT_TRUE(isDead("http://a/another", 1000));
    EXPECT_TRUE(isDead("http://a/x", 1000 + REFS_HTTP_DEAD_MS - 1));
    EXPECT_FALSE(isDead("http://a/x", 1000 + REFS_HTTP_DEAD_MS));
    EXPECT_FALSE(isDead("https://a/x", 1000));
    EXPECT_FALSE(isDead("http://a:81/x", 1000));
}

TEST_F(Origins, AreAliveWhenTheyAnswer) {
    refs_origins__note_dead(&origins, at("http://a/x"), 0);
    refs_origins__note_dead(&origins, at("http://b/x"), 0);
    refs_origins__note_alive(&origins, at("http://a/y"));
    refs_origins__note_alive(&origins, at("http://c/y"));
    EXPECT_FALSE(isDead("http://a/x", 1));
    EXPECT_TRUE(isDead("http://b/x", 1));
}

TEST_F(Origins, HaveAnsweredSinceTheyDid) {
    const auto hasAnswered = [this](const char *url) {
        return refs_origins__has_answered(&origins, at(url));
    };
    EXPECT_FALSE(hasAnswered("http://a/x"));
    refs_origins__note_dead(&origins, at("http://a/x"), 0);
    EXPECT_FALSE(hasAnswered("http://a/x"));
    refs_origins__note_alive(&origins, at("http://a/y"));
    EXPECT_TRUE(hasAnswered("http://a/x"));
    EXPECT_FALSE(hasAnswered("http://b/x"));
    refs_origins__note_dead(&origins, at("http://a/x"), 0);
    EXPECT_TRUE(hasAnswered("http://a/x")) << "before";
}

TEST_F(Origins, AreForgottenWhenThereAreMany) {
    const auto url = [](int i) { return "http://h" + std::to_string(i) + "/x"; };
    for (int i = 0; i < REFS_HTTP_MAX_ORIGINS + 2; i++)
        for (int again = 0; again < 2; again++)
            refs_origins__note_dead(&origins, at(url(i).c_str()), 0);
    for (int i = 0; i < REFS_HTTP_MAX_ORIGINS + 2; i++) EXPECT_EQ(isDead(url(i), 1), i >= 2) << i;
}

} // namespace

/* -- how much at a time ------------------------------------------------------------------------ */

namespace {

constexpr uint64_t MS = 1000;

class OriginLimits : public testing::Test {
  protected:
    void SetUp() override { origin = refs_origins__hold(&origins, at("http://a/x")); }

    /** Begins as many requests as may be begun now. */
    unsigned begin(unsigned most) {
        unsigned n = 0;
        while (n < most && refs_origin__free_at(origin, now) <= now) {
            refs_origin__begin(origin, now);
            n++;
        }
        return n;
    }
    /** One that began `ago` is answered. */
    void end(long status, uint64_t ago, uint64_t retry_after_ms = 0, bool came_back = false) {
        const refs_answer answer = {now - ago, origin->n_active, ago,
                                    status,    retry_after_ms,   came_back};
        refs_origin__note(origin, &answer, 16, now);
        refs_origin__end(origin);
    }

    refs_origins origins = {};
    refs_origin_state *origin = nullptr;
    uint64_t now = 1000 * MS;
};

} // namespace

TEST_F(OriginLimits, AreNoneAsLongAsNothingIsRefused) {
    EXPECT_EQ(begin(100), 100u);
    for (int i = 0; i < 100; i++) end(206, MS);
    EXPECT_EQ(begin(100), 100u);
}

TEST_F(OriginLimits, HalveOnceForRequestsThatWereUnderWayTogether) {
    for (const long status : {429L, 503L}) {
        ASSERT_EQ(begin(16), 16u);
        now += MS;
        for (int i = 0; i < 16; i++) end(status, MS);
        EXPECT_DOUBLE_EQ(origin->window, 8);
        now += 100 * MS;
        unsigned n = 0; // one after the other
        for (; begin(1) == 1; n++) now += MS;
        EXPECT_EQ(n, 8u);
        for (unsigned i = 0; i < n; i++) end(206, MS);
        origins = {};
        SetUp();
    }
}

TEST_F(OriginLimits, AreForgottenWhereAllIsAnswered) {
    ASSERT_EQ(begin(16), 16u);
    now += MS;
    for (int i = 0; i < 16; i++) end(503, MS);
    for (int i = 0; i < 100; i++) {
        now += 10 * MS;
        ASSERT_EQ(begin(1), 1u) << i;
        end(206, MS);
    }
    EXPECT_EQ(begin(100), 100u);
}

TEST_F(OriginLimits, OfOneAtATimeAreAMatterOfTheTimeBetweenThem) {
    for (const auto &row : {std::make_pair(429L, REFS_HTTP_MAX_INTERVAL_US),
                            std::make_pair(503L, REFS_HTTP_MAX_INTERVAL_UNAVAILABLE_US)}) {
        uint64_t gap = 0;
        for (int i = 0; i < 40; i++) {
            const uint64_t from = now;
            now = std::max(now, refs_origin__free_at(origin, now));
            gap = now - from;
            ASSERT_EQ(begin(1), 1u);
            now += MS;
            end(row.first, MS);
        }
        EXPECT_NEAR(static_cast<double>(gap), row.second, 1);
        origins = {};
        SetUp();
    }
}

/* Retry-After is for the request that was refused. */
TEST_F(OriginLimits, LetOthersGoOnWhileOneIsAskedToComeBackLater) {
    for (const long status : {429L, 503L}) {
        ASSERT_EQ(begin(16), 16u);
        now += MS;
        for (int i = 0; i < 15; i++) end(206, MS);
        end(status, MS, 2000);
        EXPECT_LE(origin->window, 8);
        EXPECT_LE(refs_origin__free_at(origin, now), now + 2 * MS);
        now += 2 * MS;
        EXPECT_EQ(begin(1), 1u);
        origins = {};
        SetUp();
    }
}

/* 20 requests a second, one at a time: whoever is refused comes back a second later. */
TEST_F(OriginLimits, AreFoundWhereRefusedRequestsComeBackWhenAsked) {
    double tokens = 1;
    unsigned nAnswered = 0;
    for (const uint64_t from = now; now < from + 12000 * MS; now += MS) {
        tokens = std::min(1.0, tokens + 0.02);
        if (begin(1) == 0) continue;
        const bool isAnswered = tokens >= 1;
        if (isAnswered) tokens -= 1;
        nAnswered += isAnswered ? 1 : 0;
        now += MS;
        end(isAnswered ? 206 : 429, MS, isAnswered ? 0 : 1000);
    }
    EXPECT_GE(nAnswered, 180u) << "of 240";
}

/* 20 requests a second after 20 at once, answered after 15 to 45 ms; the clock is late at times.
 * 200 requests of which those that are refused come back after 50 to 75 ms. */
TEST_F(OriginLimits, ThatAreFoundAreMetByOneRequestInTen) {
    struct Request {
        uint64_t began, ends;
        bool isAnswered;
    };
    for (unsigned seed = 1; seed <= 50; seed++) {
        origins = {};
        SetUp();
        std::mt19937 random(seed);
        const auto upTo = [&random](uint64_t most) { return random() % (most + 1); };
        std::vector<Request> active;
        std::vector<uint64_t> again;
        double tokens = 20;
        unsigned left = 200, n = 0, nRefused = 0;
        const uint64_t from = now;
        while (left > 0 || !again.empty() || !active.empty()) {
            const uint64_t step = 100 + (upTo(49) == 0 ? upTo(20 * MS) : 0);
            now += step;
            tokens = std::min(20.0, tokens + 20e-6 * static_cast<double>(step));
            for (size_t i = 0; i < active.size();) {
                if (active[i].ends > now) {
                    i++;
                    continue;
                }
                end(active[i].isAnswered ? 206 : 429, now - active[i].began);
                if (!active[i].isAnswered) again.push_back(now + 50 * MS + upTo(25 * MS));
                active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
            }
            while (active.size() < 16 && refs_origin__free_at(origin, now) <= now) {
                const auto back = std::find_if(again.begin(), again.end(),
                                               [this](uint64_t at) { return at <= now; });
                if (back != again.end())
                    again.erase(back);
                else if (left > 0)
                    left--;
                else
                    break;
                refs_origin__begin(origin, now);
                const bool isAnswered = tokens >= 1;
                if (isAnswered) tokens -= 1;
                const bool isLate = now > from + 1000 * MS;
                n += isLate ? 1 : 0;
                nRefused += isLate && !isAnswered ? 1 : 0;
                active.push_back({now, now + 15 * MS + upTo(30 * MS), isAnswered});
            }
        }
        EXPECT_LE(10 * nRefused, n + 10) << seed << ": " << nRefused << " of " << n;
        EXPECT_LT(now - from, 9500 * MS) << seed;
    }
}

TEST_F(OriginLimits, AreNotLearnedFromWhoIsAloneAndCameBackWhenAsked) {
    ASSERT_EQ(begin(1), 1u);
    now += 10 * MS;
    end(429, 10 * MS, 1000);
    for (int i = 0; i < 12; i++) {
        now = refs_origin__free_at(origin, now);
        ASSERT_EQ(begin(1), 1u);
        now += 10 * MS;
        end(429, 10 * MS, 1000, true);
        EXPECT_LE(refs_origin__free_at(origin, now), now + 1000 * MS) << i;
    }
    now += 1000 * MS;
    ASSERT_EQ(begin(1), 1u);
    now += 10 * MS;
    end(206, 10 * MS);
    EXPECT_LE(refs_origin__free_at(origin, now), now + 20 * MS);
}

TEST_F(OriginLimits, AreForgottenSoonAfterARunOfRefusalsThatAskedToComeBack) {
    const uint64_t from = now;
    for (int i = 0; i < 5; i++) {
        const unsigned n = begin(16);
        now += 50 * MS;
        for (unsigned k = 0; k < n; k++) end(429, 50 * MS, 1000);
        now = refs_origin__free_at(origin, now);
    }
    while (origin->window < 8 && now < from + 5000 * MS) {
        const uint64_t next = refs_origin__free_at(origin, now);
        if (next != UINT64_MAX) now = std::max(now, next);
        const unsigned n = begin(16);
        now += 50 * MS;
        for (unsigned k = 0; k < n; k++) end(206, 50 * MS);
    }
    EXPECT_LT(now - from, 2000 * MS) << "the run itself included";
}

TEST_F(OriginLimits, ThatWereRefusedAndAreAnsweredAreSearchedForInStepsOfTwo) {
    for (int i = 0; i < 30; i++) {
        now = std::max(now, refs_origin__free_at(origin, now));
        ASSERT_EQ(begin(1), 1u);
        now += 10 * MS;
        end(429, 10 * MS);
    }
    const uint64_t from = now;
    for (int i = 0; i < 15; i++) {
        now = std::max(now, refs_origin__free_at(origin, now));
        ASSERT_EQ(begin(1), 1u);
        now += 10 * MS;
        end(206, 10 * MS);
    }
    EXPECT_LT(now - from, 4000 * MS);
    EXPECT_LE(refs_origin__free_at(origin, now), now + 20 * MS);
}

TEST_F(OriginLimits, AreOfAnOriginThatIsNotForgottenAsLongAsItIsHeld) {
    for (int i = 0; i < REFS_HTTP_MAX_ORIGINS - 1; i++)
        EXPECT_NE(refs_origins__hold(&origins, at(("http://h" + std::to_string(i) + "/").c_str())),
                  nullptr);
    EXPECT_EQ(refs_origins__hold(&origins, at("http://one/more")), nullptr);
    refs_origins__note_alive(&origins, at("http://one/more"));
    EXPECT_STREQ(origin->key.host, "a");
    EXPECT_EQ(refs_origins__hold(&origins, at("HTTP://A:80/y")), origin);
    refs_origin__release(origin);
    refs_origin__release(origin);
    EXPECT_NE(refs_origins__hold(&origins, at("http://one/more")), nullptr);
}

TEST_F(OriginLimits, AreNoneOfAnOriginThatIsNotKept) {
    EXPECT_EQ(refs_origins__hold(&origins, at("not a URL")), nullptr);
    refs_origin__begin(nullptr, now);
    EXPECT_EQ(refs_origin__free_at(nullptr, now), now);
    const refs_answer answer = {now, 1, MS, 503, 0, false};
    refs_origin__note(nullptr, &answer, 16, now);
    EXPECT_FALSE(refs_origin__has_answered_since(nullptr, 0));
    refs_origin__end(nullptr);
    refs_origin__release(nullptr);
}
