/* plan.c -- merges ranges into requests, see plan.h. A pure function of its arguments. */
#include "plan.h"

#include <stdlib.h>

/* A range with its index in the caller's list, because qsort passes no context. */
typedef struct placed_range {
    const refs_range *range;
    size_t index;
} placed_range;

static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

/* Whole locations sort first: all other ranges of the location are part of them. */
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

/* Whether a request may extend over the gap before a range. */
static bool spans_gap(const refs_plan_input *input, uint64_t request_end, const refs_range *range) {
    if (range->offset <= request_end) return true;
    return range->offset - request_end <= input->policy.max_gap_bytes &&
           (input->is_coming == NULL ||
            !input->is_coming(input->user, range->location_id, request_end, range->offset));
}

/* Whether `request`, whose first member is `first`, may grow to include `range`. */
static bool can_merge(const refs_plan_input *input, const refs_planned *request,
                      const refs_range *first, const refs_range *range) {
    if (range->location_id != first->location_id) return false;
    if (request->length == REFS_FETCH_WHOLE) return true;
    uint64_t request_end = request->offset + request->length;
    uint64_t end = range->offset + range->length;
    if (end <= request_end) return true;
    return end - request->offset <= input->policy.max_request_bytes &&
           spans_gap(input, request_end, range);
}

static void grow(refs_planned *request, const refs_range *range) {
    if (request->length == REFS_FETCH_WHOLE) return;
    uint64_t length = range->offset + range->length - request->offset;
    if (length > request->length) request->length = length;
}

static bool is_inside(const refs_planned *request, const refs_range *range) {
    if (request->length == REFS_FETCH_WHOLE) return true;
    return range->offset >= request->offset && range->length <= request->length &&
           range->offset - request->offset <= request->length - range->length;
}

static void add_member(refs_plan *plan, const placed_range *placed) {
    plan->members[plan->n_members++] = placed->index;
    plan->requests[plan->n_requests - 1].n_members++;
}

/* Adds those of `n` optional ranges that are inside the last request, whose first member is
 * `first`. */
static void add_optional(const placed_range *placed, size_t n, const refs_range *first,
                         refs_plan *plan) {
    for (size_t i = 0; i < n && first != NULL; i++)
        if (placed[i].range->location_id == first->location_id &&
            is_inside(&plan->requests[plan->n_requests - 1], placed[i].range))
            add_member(plan, &placed[i]);
}

/* Optional ranges are added once the request before them has its final size. */
static void merge(const refs_plan_input *input, const placed_range *placed, refs_plan *plan) {
    const size_t n = input->n;
    const refs_range *first = NULL;
    size_t waiting = 0;
    for (size_t i = 0; i < n; i++) {
        const refs_range *range = placed[i].range;
        if (range->need != REFS_RANGE_REQUIRED) continue;
        const refs_planned *last = first != NULL ? &plan->requests[plan->n_requests - 1] : NULL;
        const bool joins = last != NULL && can_merge(input, last, first, range);
        if (joins) grow(&plan->requests[plan->n_requests - 1], range);
        add_optional(placed + waiting, i - waiting, first, plan);
        if (!joins) {
            first = range;
            plan->requests[plan->n_requests++] =
                input->is_whole ? (refs_planned){0, REFS_FETCH_WHOLE, plan->n_members, 0}
                                : (refs_planned){range->offset, range->length, plan->n_members, 0};
        }
        add_member(plan, &placed[i]);
        waiting = i + 1;
    }
    add_optional(placed + waiting, n - waiting, first, plan);
}

refs_status refs_fetch__plan(const refs_plan_input *input, refs_plan *plan, refs_error *err) {
    const size_t n = input->n;
    *plan = (refs_plan){NULL, 0, NULL, 0};
    REFS_SCOPED placed_range *placed = refs_calloc(n, sizeof *placed);
    plan->requests = refs_calloc(n, sizeof *plan->requests);
    plan->members = refs_calloc(n, sizeof *plan->members);
    bool complete = placed != NULL && plan->requests != NULL && plan->members != NULL;
    refs_status status = REFS_NOMEM;
    if (complete)
        status = sort_ranges(input->ranges, n, placed, err);
    else
        (void)refs_fail_nomem(err);
    if (status == REFS_OK)
        merge(input, placed, plan);
    else
        refs_fetch__plan_clear(plan);
    return status;
}

/* Whether request `i` begins before byte `end` of the location, or in an earlier location. */
static bool begins_before(const refs_plan *plan, const refs_range *ranges, size_t i,
                          uint32_t location_id, uint64_t end) {
    const uint32_t id = ranges[plan->members[plan->requests[i].first_member]].location_id;
    return id < location_id || (id == location_id && plan->requests[i].offset < end);
}

bool refs_fetch__plan_has(const refs_plan *plan, const refs_range *ranges, uint32_t location_id,
                          uint64_t begin, uint64_t end) {
    size_t i = 0;
    REFS_BISECT(i, plan->n_requests, begins_before(plan, ranges, i, location_id, end));
    if (i == 0) return false;
    const refs_planned *request = &plan->requests[i - 1];
    return ranges[plan->members[request->first_member]].location_id == location_id &&
           (request->length == REFS_FETCH_WHOLE || request->offset + request->length > begin);
}

/* -- after the plan was made ------------------------------------------------------------------- */

/* The first required member in [begin, end) that was not dropped, or `end`. */
static size_t skip_dropped(const refs_plan *plan, size_t begin, size_t end,
                           const refs_range *ranges, const bool *dropped) {
    for (; begin < end; begin++) {
        const size_t index = plan->members[begin];
        if (ranges[index].need == REFS_RANGE_REQUIRED && !dropped[index]) break;
    }
    return begin;
}

/* A request that begins with member `begin`, which is needed, and ends before the first gap of
 * dropped bytes. */
static refs_planned take_needed(const refs_plan *plan, size_t begin, size_t end,
                                const refs_range *ranges, const bool *dropped) {
    const refs_range *first = &ranges[plan->members[begin]];
    refs_planned request = {first->offset, first->length, begin, 1};
    bool is_split = false;
    for (size_t i = begin + 1; i < end; i++) {
        const refs_range *range = &ranges[plan->members[i]];
        const uint64_t request_end = request.offset + request.length;
        if (range->need != REFS_RANGE_REQUIRED) continue;
        if (dropped[plan->members[i]]) {
            is_split = is_split || range->offset + range->length > request_end;
            continue;
        }
        if (is_split && range->offset >= request_end) break;
        is_split = false;
        grow(&request, range);
        request.n_members = i + 1 - begin;
    }
    while (begin + request.n_members < end &&
           is_inside(&request, &ranges[plan->members[begin + request.n_members]]))
        request.n_members++;
    return request;
}

static bool is_any_dropped(const refs_plan *plan, const refs_planned *request,
                           const refs_range *ranges, const bool *dropped) {
    for (size_t i = 0; i < request->n_members; i++) {
        const size_t index = plan->members[request->first_member + i];
        if (ranges[index].need == REFS_RANGE_REQUIRED && dropped[index]) return true;
    }
    return false;
}

void refs_fetch__plan_narrow(refs_plan *plan, size_t i, const refs_range *ranges,
                             const bool *dropped) {
    const refs_planned all = plan->requests[i];
    const size_t end = all.first_member + all.n_members;
    const size_t begin = skip_dropped(plan, all.first_member, end, ranges, dropped);
    if (all.length == REFS_FETCH_WHOLE || begin == end ||
        !is_any_dropped(plan, &all, ranges, dropped))
        return;
    plan->requests[i] = take_needed(plan, begin, end, ranges, dropped);
    const size_t rest =
        skip_dropped(plan, begin + plan->requests[i].n_members, end, ranges, dropped);
    if (rest == end) return;
    memmove(&plan->requests[i + 2], &plan->requests[i + 1],
            (plan->n_requests - i - 1) * sizeof *plan->requests);
    plan->requests[i + 1] = all;
    plan->requests[i + 1].offset = ranges[plan->members[rest]].offset;
    plan->requests[i + 1].length = all.offset + all.length - plan->requests[i + 1].offset;
    plan->requests[i + 1].first_member = rest;
    plan->requests[i + 1].n_members = end - rest;
    plan->n_requests++;
}

void refs_fetch__plan_clear(refs_plan *plan) {
    refs_free(plan->requests);
    refs_free(plan->members);
    *plan = (refs_plan){NULL, 0, NULL, 0};
}
