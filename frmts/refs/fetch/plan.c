/* plan.c -- ranges -> requests, see fetch.h. A pure function of its arguments. */
#include "refs/fetch.h"

#include <stdlib.h>

/* A range beside its place in the caller's list, so that sorting needs no context. */
typedef struct placed_range {
    const refs_range *range;
    size_t index;
} placed_range;

static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Whole locations come first: whatever else is wanted of a location is then part of them. */
static int compare_ranges(const void *left, const void *right) {
    const placed_range *a = left, *b = right;
    int order = compare_u64(a->range->location_id, b->range->location_id);
    if (order == 0)
        order = (b->range->length == REFS_FETCH_WHOLE) - (a->range->length == REFS_FETCH_WHOLE);
    if (order == 0) order = compare_u64(a->range->offset, b->range->offset);
    if (order == 0) order = compare_u64(b->range->length, a->range->length);
    return order != 0 ? order : compare_u64(a->index, b->index);
}

static refs_status sort_ranges(const refs_range *ranges, size_t n, placed_range *placed,
                               refs_error *err) {
    for (size_t i = 0; i < n; i++) {
        uint64_t end;
        if (ranges[i].length != REFS_FETCH_WHOLE &&
            !refs_add_u64(ranges[i].offset, ranges[i].length, &end))
            return refs_fail(err, REFS_CORRUPT, "offset %llu and length %llu overflow",
                             (unsigned long long)ranges[i].offset,
                             (unsigned long long)ranges[i].length);
        placed[i] = (placed_range){&ranges[i], i};
    }
    qsort(placed, n, sizeof *placed, compare_ranges);
    return REFS_OK;
}

/* Whether `request`, whose first member is of `first`, may grow to hold `range` as well. */
static bool can_join(const refs_request *request, const refs_range *first, const refs_range *range,
                     const refs_fetch_policy *policy) {
    if (range->location_id != first->location_id) return false;
    if (request->length == REFS_FETCH_WHOLE) return true;
    uint64_t request_end = request->offset + request->length;
    uint64_t end = range->offset + range->length;
    if (end <= request_end) return true;
    if (range->offset > request_end && range->offset - request_end > policy->max_gap_bytes)
        return false;
    return end - request->offset <= policy->max_request_bytes;
}

static void join(refs_request *request, const refs_range *range) {
    request->n_members++;
    if (request->length == REFS_FETCH_WHOLE) return;
    uint64_t length = range->offset + range->length - request->offset;
    if (length > request->length) request->length = length;
}

static void merge(const placed_range *placed, size_t n, const refs_fetch_policy *policy,
                  refs_plan *plan) {
    const refs_range *first = NULL;
    for (size_t i = 0; i < n; i++) {
        plan->members[i] = placed[i].index;
        const refs_range *range = placed[i].range;
        if (first != NULL &&
            can_join(&plan->requests[plan->n_requests - 1], first, range, policy)) {
            join(&plan->requests[plan->n_requests - 1], range);
            continue;
        }
        first = range;
        plan->requests[plan->n_requests++] = (refs_request){range->offset, range->length, i, 1};
    }
    plan->n_members = n;
}

refs_status refs_fetch_plan(const refs_range *ranges, size_t n, const refs_fetch_policy *policy,
                            refs_plan *plan, refs_error *err) {
    *plan = (refs_plan){NULL, 0, NULL, 0};
    placed_range *placed = refs_calloc(n, sizeof *placed);
    plan->requests = refs_calloc(n, sizeof *plan->requests);
    plan->members = refs_calloc(n, sizeof *plan->members);
    bool complete = placed != NULL && plan->requests != NULL && plan->members != NULL;
    refs_status status = REFS_NOMEM;
    if (complete)
        status = sort_ranges(ranges, n, placed, err);
    else
        (void)refs_fail_nomem(err);
    if (status == REFS_OK)
        merge(placed, n, policy, plan);
    else
        refs_plan_clear(plan);
    refs_free(placed);
    return status;
}

void refs_plan_clear(refs_plan *plan) {
    refs_free(plan->requests);
    refs_free(plan->members);
    *plan = (refs_plan){NULL, 0, NULL, 0};
}

/* -- riders ------------------------------------------------------------------------------------ */

static bool is_small(const refs_request *request, const refs_fetch_policy *policy) {
    return request->length < policy->max_request_bytes / 4;
}

refs_status refs_fetch_takes_riders(const refs_range *ranges, size_t n,
                                    const refs_fetch_policy *policy, bool *takes, refs_error *err) {
    refs_plan plan;
    REFS_TRY(refs_fetch_plan(ranges, n, policy, &plan, err));
    *takes = false;
    for (size_t i = 0; i < plan.n_requests; i++)
        *takes = *takes || is_small(&plan.requests[i], policy);
    refs_plan_clear(&plan);
    return REFS_OK;
}

static bool lies_before(const refs_range *range, uint32_t location_id, uint64_t offset) {
    return range->location_id < location_id ||
           (range->location_id == location_id && range->offset < offset);
}

/* Lets ranges that follow the request ride; `placed` are those from its offset on. */
static void take_riders(const refs_request *request, uint32_t location_id,
                        const refs_fetch_policy *policy, const placed_range *placed, size_t n,
                        bool *rides) {
    uint64_t end = request->offset + request->length;
    for (size_t i = 0; i < n; i++) {
        const refs_range *range = placed[i].range;
        if (range->location_id != location_id || range->length == REFS_FETCH_WHOLE) return;
        uint64_t range_end = range->offset + range->length;
        if (range->offset > end && range->offset - end > policy->max_gap_bytes) return;
        if (range_end - request->offset > policy->max_request_bytes / 8 * 5) return;
        rides[placed[i].index] = true;
        if (range_end > end) end = range_end;
    }
}

static void find_riders(const refs_range *ranges, const refs_plan *plan,
                        const refs_fetch_policy *policy, const placed_range *placed, size_t n,
                        bool *rides) {
    size_t next = 0;
    for (size_t i = 0; i < plan->n_requests; i++) {
        const refs_request *request = &plan->requests[i];
        uint32_t location_id = ranges[plan->members[request->first_member]].location_id;
        while (next < n && lies_before(placed[next].range, location_id, request->offset)) next++;
        if (is_small(request, policy))
            take_riders(request, location_id, policy, placed + next, n - next, rides);
    }
}

refs_status refs_fetch_riders(const refs_range *ranges, size_t n, size_t n_wanted,
                              const refs_fetch_policy *policy, bool *rides, refs_error *err) {
    size_t n_more = n - n_wanted;
    refs_plan plan;
    memset(rides, 0, n_more * sizeof *rides);
    REFS_TRY(refs_fetch_plan(ranges, n_wanted, policy, &plan, err));
    placed_range *placed = refs_calloc(n_more, sizeof *placed);
    refs_status status =
        placed != NULL ? sort_ranges(ranges + n_wanted, n_more, placed, err) : refs_fail_nomem(err);
    if (placed != NULL && status == REFS_OK)
        find_riders(ranges, &plan, policy, placed, n_more, rides);
    refs_free(placed);
    refs_plan_clear(&plan);
    return status;
}
