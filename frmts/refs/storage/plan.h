/* plan.h -- which requests fetch some ranges: a pure function.
 *
 * Read before this: fetch.h.
 */
#ifndef REFS_STORAGE_PLAN_H
#define REFS_STORAGE_PLAN_H

#include "refs/fetch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One request: bytes [offset, offset + length) of the location of its first member. */
typedef struct refs_planned {
    uint64_t offset;
    uint64_t length;     /**< or REFS_FETCH_WHOLE */
    size_t first_member; /**< members [first_member, first_member + n_members) of the plan */
    size_t n_members;
} refs_planned;

/** Requests that cover all ranges, ascending by location and offset. Zeroed is empty. */
typedef struct refs_plan {
    refs_planned *requests;
    size_t n_requests;
    size_t *members; /**< indices of the ranges, those of one request together, ascending */
    size_t n_members;
} refs_plan;

/** The input of planning requests. */
typedef struct refs_plan_input {
    const refs_range *ranges;
    size_t n;
    refs_fetch_policy policy;

    /** Whether other requests are fetching some of bytes [begin, end) of a location: no request
     * spans these to reach a later range. NULL: none are. */
    bool (*is_coming)(const void *user, uint32_t location_id, uint64_t begin, uint64_t end);
    const void *user;

    bool is_whole; /**< each location is requested as a whole, once for all of its ranges */
} refs_plan_input;

/** Plans requests for ranges in any order, with duplicates and overlaps. Each byte is in exactly
 * one request, except where a range overlaps a request that reached the largest size. Optional
 * ranges outside all requests are not members of any. A range whose end overflows is REFS_CORRUPT.
 */
refs_status refs_fetch__plan(const refs_plan_input *input, refs_plan *plan, refs_error *err);
void refs_fetch__plan_clear(refs_plan *plan);

/** Whether a request of a plan for `ranges` has any of bytes [begin, end) of a location. */
bool refs_fetch__plan_has(const refs_plan *plan, const refs_range *ranges, uint32_t location_id,
                          uint64_t begin, uint64_t end);

/** Drops the bytes of `dropped` ranges from request `i`. It shrinks to the first required ranges
 * that are not dropped, up to the first dropped one between them; later ranges become the next
 * request. Nothing changes if all ranges are needed, or none, or if the whole location is
 * requested. */
void refs_fetch__plan_narrow(refs_plan *plan, size_t i, const refs_range *ranges,
                             const bool *dropped);

#ifdef __cplusplus
}
#endif
#endif
