/* plan_test.cc -- the planner: examples, and properties over random ranges. */
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "plan.h"

namespace {

class Plan {
  public:
    explicit Plan(std::vector<refs_range> ranges, refs_fetch_policy policy = {10, 100})
        : ranges_(std::move(ranges)) {
        const refs_plan_input input = {ranges_.data(), ranges_.size(), policy,
                                       nullptr,        nullptr,        false};
        status = refs_fetch__plan(&input, &plan, &error);
    }
    ~Plan() { refs_fetch__plan_clear(&plan); }

    const refs_planned &request(size_t i) const { return plan.requests[i]; }
    const refs_range &member(const refs_planned &request, size_t i) const {
        return ranges_[plan.members[request.first_member + i]];
    }

    refs_error error = REFS_ERROR_INIT;
    refs_plan plan;
    refs_status status;

  private:
    std::vector<refs_range> ranges_;
};

refs_range range(uint64_t offset, uint64_t length, uint32_t location = 0) {
    return {location, "file", offset, length, 0, REFS_RANGE_REQUIRED};
}

refs_range optional(uint64_t offset, uint64_t length, uint32_t location = 0) {
    return {location, "file", offset, length, 0, REFS_RANGE_OPTIONAL};
}

TEST(FetchPlan, MakesNoRequestOfNoRange) {
    Plan plan({});
    EXPECT_EQ(plan.status, REFS_OK);
    EXPECT_EQ(plan.plan.n_requests, 0u);
}

TEST(FetchPlan, IsEmptyWhenCleared) {
    Plan plan({range(0, 10), range(0, 10, 1)});
    refs_fetch__plan_clear(&plan.plan);
    EXPECT_EQ(plan.plan.n_requests, 0u);
    EXPECT_EQ(plan.plan.n_members, 0u);
    EXPECT_EQ(plan.plan.requests, nullptr);
    EXPECT_EQ(plan.plan.members, nullptr);
}

TEST(FetchPlan, MergesNeighboursInAnyOrder) {
    Plan plan({range(20, 10), range(0, 10), range(10, 10)});
    ASSERT_EQ(plan.plan.n_requests, 1u);
    EXPECT_EQ(plan.request(0).offset, 0u);
    EXPECT_EQ(plan.request(0).length, 30u);
    EXPECT_EQ(plan.request(0).n_members, 3u);
}

TEST(FetchPlan, MergesAcrossAGapUpToThePolicy) {
    EXPECT_EQ(Plan({range(0, 10), range(20, 10)}).plan.n_requests, 1u);
    EXPECT_EQ(Plan({range(0, 10), range(21, 10)}).plan.n_requests, 2u);
}

TEST(FetchPlan, StopsMergingAtTheLargestRequest) {
    EXPECT_EQ(Plan({range(0, 50), range(50, 50)}).plan.n_requests, 1u);
    EXPECT_EQ(Plan({range(0, 50), range(50, 51)}).plan.n_requests, 2u);
}

TEST(FetchPlan, LeavesOneLongRangeWhole) {
    Plan plan({range(5, 1000), range(105, 10)});
    ASSERT_EQ(plan.plan.n_requests, 1u);
    EXPECT_EQ(plan.request(0).length, 1000u);
}

TEST(FetchPlan, FetchesDuplicatesOnce) {
    Plan plan({range(7, 5), range(7, 5), range(7, 5)});
    ASSERT_EQ(plan.plan.n_requests, 1u);
    EXPECT_EQ(plan.request(0).length, 5u);
    EXPECT_EQ(plan.request(0).n_members, 3u);
}

TEST(FetchPlan, KeepsLocationsApart) {
    EXPECT_EQ(Plan({range(0, 10, 0), range(10, 10, 1)}).plan.n_requests, 2u);
}

TEST(FetchPlan, ServesRangesFromAWholeLocation) {
    Plan plan({range(4, 6), range(0, REFS_FETCH_WHOLE), range(500, 1)});
    ASSERT_EQ(plan.plan.n_requests, 1u);
    EXPECT_EQ(plan.request(0).length, REFS_FETCH_WHOLE);
    EXPECT_EQ(plan.request(0).n_members, 3u);
}

TEST(FetchPlan, ServesOptionalRangesInGaps) {
    Plan plan({range(0, 10), range(20, 10), optional(10, 5), optional(15, 5)});
    ASSERT_EQ(plan.plan.n_requests, 1u);
    ASSERT_EQ(plan.request(0).n_members, 4u);
    EXPECT_EQ(plan.member(plan.request(0), 1).offset, 10u);
    EXPECT_EQ(plan.member(plan.request(0), 2).offset, 15u);
}

TEST(FetchPlan, MakesNoRequestLongerForOptionalRanges) {
    Plan plan({optional(5, 5), range(10, 10), optional(15, 6), optional(20, 5), range(40, 10),
               optional(5, 5, 1)});
    ASSERT_EQ(plan.plan.n_requests, 2u);
    EXPECT_EQ(plan.plan.n_members, 2u);
    EXPECT_EQ(plan.request(0).length, 10u);
    EXPECT_EQ(plan.request(1).offset, 40u);
    EXPECT_EQ(plan.request(1).length, 10u);
    EXPECT_EQ(Plan({optional(5, 5)}).plan.n_requests, 0u);
}

TEST(FetchPlan, ServesOptionalRangesInsideALastRange) {
    Plan plan({range(0, 50), optional(10, 40), optional(10, 41)});
    ASSERT_EQ(plan.plan.n_requests, 1u);
    EXPECT_EQ(plan.request(0).n_members, 2u);
    EXPECT_EQ(plan.request(0).length, 50u);
}

TEST(FetchPlan, ServesOptionalRangesOfAWholeLocation) {
    Plan plan({range(0, REFS_FETCH_WHOLE), optional(10, 40), optional(10, 41, 1)});
    ASSERT_EQ(plan.plan.n_requests, 1u);
    EXPECT_EQ(plan.request(0).n_members, 2u);
}

/* For servers that ignore ranges. */
TEST(FetchPlan, RequestsEachLocationOnceWhereAllAreRequestedAsAWhole) {
    const refs_range ranges[] = {range(500, 4), range(0, 2, 1), range(7, 3)};
    const refs_plan_input input = {ranges, 3, {10, 100}, nullptr, nullptr, true};
    refs_plan plan;
    ASSERT_EQ(refs_fetch__plan(&input, &plan, nullptr), REFS_OK);
    ASSERT_EQ(plan.n_requests, 2u);
    EXPECT_EQ(plan.requests[0].offset, 0u);
    EXPECT_EQ(plan.requests[0].length, REFS_FETCH_WHOLE);
    EXPECT_EQ(plan.requests[0].n_members, 2u);
    EXPECT_EQ(plan.requests[1].n_members, 1u);
    refs_fetch__plan_clear(&plan);
}

TEST(FetchPlan, RefusesARangeWhoseEndOverflows) {
    Plan plan({range(UINT64_MAX - 3, 8)});
    EXPECT_EQ(plan.status, REFS_CORRUPT);
    EXPECT_STREQ(plan.error.message, "offset 18446744073709551612 and length 8 overflow");
}

/** "offset+length" of requests after the ranges that `dropped` lists were found not to be needed.
 */
std::string narrowed(std::vector<refs_range> ranges, std::vector<size_t> dropped, size_t *nServed) {
    Plan plan(ranges);
    const auto flags = std::make_unique<bool[]>(ranges.size());
    for (size_t i : dropped) flags[i] = true;
    std::string text;
    *nServed = 0;
    for (size_t i = 0; i < plan.plan.n_requests; i++) {
        refs_fetch__plan_narrow(&plan.plan, i, ranges.data(), flags.get());
        const refs_planned &request = plan.request(i);
        text += std::to_string(request.offset) + "+" + std::to_string(request.length) + " ";
        for (size_t m = 0; m < request.n_members; m++)
            *nServed += !flags[plan.plan.members[request.first_member + m]];
    }
    return text;
}

TEST(FetchPlan, LeavesBytesThatAreDroppedOutOfRequests) {
    const std::vector<refs_range> four = {range(0, 10), range(10, 10), range(20, 10),
                                          range(35, 10)};
    size_t n = 0;
    EXPECT_EQ(narrowed(four, {}, &n), "0+45 ");
    EXPECT_EQ(n, 4u);
    EXPECT_EQ(narrowed(four, {0}, &n), "10+35 ");
    EXPECT_EQ(n, 3u);
    EXPECT_EQ(narrowed(four, {3}, &n), "0+30 ");
    EXPECT_EQ(narrowed(four, {1}, &n), "0+10 20+25 ");
    EXPECT_EQ(n, 3u);
    EXPECT_EQ(narrowed(four, {0, 2}, &n), "10+10 35+10 ");
    EXPECT_EQ(n, 2u);
    EXPECT_EQ(narrowed({range(0, 10), range(10, 10), range(200, 5)}, {0}, &n), "10+10 200+5 ");
}

TEST(FetchPlan, SplitsNoRequestForBytesThatAreNeededAnyway) {
    size_t n = 0;
    EXPECT_EQ(narrowed({range(0, 10), range(0, 10), range(0, 10)}, {1}, &n), "0+10 ");
    EXPECT_EQ(n, 2u);
    EXPECT_EQ(narrowed({range(0, 30), range(5, 10), range(25, 10)}, {1}, &n), "0+35 ");
    EXPECT_EQ(narrowed({range(0, REFS_FETCH_WHOLE), range(5, 10)}, {1}, &n),
              "0+" + std::to_string(REFS_FETCH_WHOLE) + " ");
}

TEST(FetchPlan, KeepsOptionalRangesOfWhatIsLeft) {
    size_t n = 0;
    EXPECT_EQ(narrowed({range(0, 10), optional(10, 5), range(15, 10), optional(26, 2), range(30, 9),
                        optional(32, 3)},
                       {0}, &n),
              "15+24 ");
    EXPECT_EQ(n, 4u);
}

std::vector<refs_range> randomRanges(std::mt19937 &random) {
    std::vector<refs_range> ranges(random() % 60);
    for (auto &r : ranges) r = range(random() % 2000, 1 + random() % 150, random() % 3);
    return ranges;
}

/** Offsets of the requests for four ranges, when bytes of location 0 are on their way. */
std::string offsetsBeside(uint64_t begin, uint64_t end) {
    struct Coming {
        uint64_t begin, end;
    } coming = {begin, end};
    const refs_range ranges[] = {range(0, 10), range(14, 6), range(25, 5), range(0, 5, 1)};
    const refs_plan_input input = {
        ranges,
        4,
        {10, 100},
        [](const void *user, uint32_t location, uint64_t from, uint64_t to) {
            const auto *bytes = static_cast<const Coming *>(user);
            return location == 0 && bytes->begin < to && bytes->end > from;
        },
        &coming,
        false,
    };
    refs_plan plan;
    std::string text;
    EXPECT_EQ(refs_fetch__plan(&input, &plan, nullptr), REFS_OK);
    for (size_t i = 0; i < plan.n_requests; i++)
        text += std::to_string(plan.requests[i].offset) + " ";
    refs_fetch__plan_clear(&plan);
    return text;
}

TEST(FetchPlan, SpansNoBytesThatAreOnTheirWay) {
    EXPECT_EQ(offsetsBeside(0, 0), "0 0 ");
    EXPECT_EQ(offsetsBeside(12, 13), "0 14 0 ");
    EXPECT_EQ(offsetsBeside(9, 30), "0 14 25 0 ");
    EXPECT_EQ(offsetsBeside(0, 10), "0 0 ") << "they are requested all the same";
}

TEST(FetchPlan, KnowsWhichBytesItHas) {
    const std::vector<refs_range> ranges = {range(10, 10), range(50, 10), range(5, 5, 1),
                                            range(0, REFS_FETCH_WHOLE, 2)};
    Plan plan(ranges);
    const auto has = [&](uint32_t location, uint64_t begin, uint64_t end) {
        return refs_fetch__plan_has(&plan.plan, ranges.data(), location, begin, end);
    };
    EXPECT_TRUE(has(0, 10, 11) && has(0, 19, 30) && has(0, 0, 100) && has(0, 55, 56));
    EXPECT_FALSE(has(0, 0, 10) || has(0, 20, 50) || has(0, 60, 70));
    EXPECT_TRUE(has(1, 9, 20) && has(2, 1000, 1001));
    EXPECT_FALSE(has(1, 0, 5) || has(1, 10, 20) || has(3, 0, 100));
}

class FetchPlanProperty : public testing::TestWithParam<unsigned> {};

TEST_P(FetchPlanProperty, CoversEveryRangeByExactlyOneRequestWithinThePolicy) {
    std::mt19937 random(GetParam());
    const refs_fetch_policy policy = {random() % 50, 100 + random() % 400};
    const auto ranges = randomRanges(random);
    Plan plan(ranges, policy);
    ASSERT_EQ(plan.status, REFS_OK);

    std::vector<int> served(ranges.size(), 0);
    for (size_t i = 0; i < plan.plan.n_requests; i++) {
        const refs_planned &request = plan.request(i);
        uint64_t longest = 0;
        for (size_t k = 0; k < request.n_members; k++) {
            served[plan.plan.members[request.first_member + k]]++;
            const refs_range &member = plan.member(request, k);
            EXPECT_EQ(member.location_id, plan.member(request, 0).location_id);
            EXPECT_GE(member.offset, request.offset);
            EXPECT_LE(member.offset + member.length, request.offset + request.length);
            longest = std::max(longest, member.length);
        }
        EXPECT_LE(request.length, std::max(policy.max_request_bytes, longest));
    }
    EXPECT_TRUE(std::all_of(served.begin(), served.end(), [](int n) { return n == 1; }));
}

TEST_P(FetchPlanProperty, FetchesNoByteBeyondTheRangesAndTheirSmallGaps) {
    std::mt19937 random(GetParam());
    const refs_fetch_policy policy = {random() % 50, 100 + random() % 400};
    Plan plan(randomRanges(random), policy);
    for (size_t i = 0; i < plan.plan.n_requests; i++) {
        uint64_t end = plan.request(i).offset;
        for (size_t k = 0; k < plan.request(i).n_members; k++) {
            const refs_range &member = plan.member(plan.request(i), k);
            EXPECT_LE(member.offset, end + policy.max_gap_bytes);
            end = std::max(end, member.offset + member.length);
        }
        EXPECT_EQ(end, plan.request(i).offset + plan.request(i).length);
    }
}

TEST_P(FetchPlanProperty, MakesTheSameRequestsBesideOptionalRanges) {
    std::mt19937 random(GetParam());
    const auto required = randomRanges(random);
    auto all = required;
    for (refs_range also : randomRanges(random)) {
        also.need = REFS_RANGE_OPTIONAL;
        all.push_back(also);
    }
    std::shuffle(all.begin(), all.end(), random);
    Plan plan(required), beside(all);
    ASSERT_EQ(beside.plan.n_requests, plan.plan.n_requests);
    for (size_t i = 0; i < plan.plan.n_requests; i++) {
        const refs_planned &request = beside.request(i);
        EXPECT_EQ(request.offset, plan.request(i).offset);
        EXPECT_EQ(request.length, plan.request(i).length);
        size_t n_required = 0;
        for (size_t k = 0; k < request.n_members; k++) {
            const refs_range &member = beside.member(request, k);
            EXPECT_EQ(member.location_id, plan.member(plan.request(i), 0).location_id);
            EXPECT_GE(member.offset, request.offset);
            EXPECT_LE(member.offset + member.length, request.offset + request.length);
            if (member.need == REFS_RANGE_REQUIRED) n_required++;
        }
        EXPECT_EQ(n_required, plan.request(i).n_members);
    }
}

TEST_P(FetchPlanProperty, DoesNotDependOnTheOrderOfRanges) {
    std::mt19937 random(GetParam());
    auto ranges = randomRanges(random);
    Plan plan(ranges);
    std::shuffle(ranges.begin(), ranges.end(), random);
    Plan shuffled(ranges);
    ASSERT_EQ(plan.plan.n_requests, shuffled.plan.n_requests);
    for (size_t i = 0; i < plan.plan.n_requests; i++) {
        EXPECT_EQ(plan.request(i).offset, shuffled.request(i).offset);
        EXPECT_EQ(plan.request(i).length, shuffled.request(i).length);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FetchPlanProperty, testing::Range(0u, 40u));

} // namespace
