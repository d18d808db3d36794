/* merge.c -- writes the chunks of an array in the order of the result: reads the references of all
 * parts at once. */
#include <stdlib.h>

#include "combine_internal.h"

/* The number of chunks between two checks for cancellation. */
#define CHUNKS_BETWEEN_CHECKS 4096

/* -- positions --------------------------------------------------------------------------------- */

/* Maps chunks of a part to the result: place[dim][i] is the index in the result of its chunk i
 * along dim. */
typedef struct moves {
    uint64_t *place[REFS_MAX_RANK]; /* or NULL: the same */
    uint64_t n[REFS_MAX_RANK]; /* chunks of the part along each dimension, added ones included */
    uint64_t *memory;
    uint64_t inner; /* chunks of the last dimensions, which have the same index in both */
    uint64_t row_begin, row_end, row_to; /* inner chunks that were moved last, and to which place */
} moves;

static refs_status find_moves(const refs_combine_result *result, const refs_combine_place *at,
                              moves *to, refs_error *err) {
    size_t total = 0;
    memset(to, 0, sizeof *to);
    for (size_t dim = 0; dim < result->rank; dim++) {
        size_t own = refs_combine__own_dim(result, at->array, dim);
        to->n[dim] = own == SIZE_MAX ? 1 : at->array->n[own];
        if (result->concat[dim] < REFS_COMBINE_MAX_DIMS) total += (size_t)to->n[dim];
    }
    to->inner = 1;
    for (size_t dim = result->rank; dim-- > 0; to->inner *= to->n[dim])
        if (result->concat[dim] != REFS_COMBINE_MAX_DIMS || to->n[dim] != result->n[dim]) break;
    uint64_t *next = to->memory = refs_calloc(total, sizeof *to->memory);
    if (next == NULL) return refs_fail_nomem(err);
    for (size_t dim = 0; dim < result->rank; dim++) {
        if (result->concat[dim] == REFS_COMBINE_MAX_DIMS) continue;
        const refs_combine_axis *axis = &at->member->axes[result->concat[dim]];
        to->place[dim] = next;
        for (uint64_t i = 0; i < to->n[dim]; i++)
            *next++ = axis->position[i * result->chunk[dim]] / result->chunk[dim];
    }
    return REFS_OK;
}

/* The number in the result of chunk `number` of a part. */
static uint64_t move_one(const refs_combine_result *result, const moves *to, uint64_t number) {
    uint64_t moved = 0, stride = 1;
    for (size_t dim = result->rank; dim-- > 0; number /= to->n[dim]) {
        uint64_t at = number % to->n[dim];
        moved += (to->place[dim] != NULL ? to->place[dim][at] : at) * stride;
        stride *= result->n[dim];
    }
    return moved;
}

/* The same for numbers that ascend. */
static uint64_t move(const refs_combine_result *result, moves *to, uint64_t number) {
    if (number >= to->row_end) {
        to->row_begin = number - number % to->inner;
        to->row_end = to->row_begin + to->inner;
        to->row_to = move_one(result, to, to->row_begin);
    }
    return to->row_to + (number - to->row_begin);
}

/* Whether the chunks of a part have the same order in the result. */
static bool is_ascending(const refs_combine_result *result, const moves *to) {
    for (size_t dim = 0; dim < result->rank; dim++)
        for (uint64_t i = 1; to->place[dim] != NULL && i < to->n[dim]; i++)
            if (to->place[dim][i] <= to->place[dim][i - 1]) return false;
    return true;
}

/* -- parts ------------------------------------------------------------------------------------- */

/* A reference and its number in the result. */
typedef struct moved {
    uint64_t number;
    size_t member; /* index in the plan's order */
    refs_stream_ref ref;
} moved;

/* The references of one part in the order of the result. */
typedef struct run {
    moves to;
    refs_stream_reader reader;
    moved *sorted; /* or NULL: the stream is in that order */
    size_t n_sorted, n_read;
    moved current;
} run;

/* The parts that have an array; those with more references form a heap by their current ones. */
typedef struct merging {
    const refs_combine *combine;
    const refs_combine_plan *plan;
    const refs_combine_result *result;
    const refs_combine_sink *sink;
    run *runs, **heap;
    size_t n_runs, n;
    moved first, kept; /* of those with the number that is written next */
    bool has_first;
} merging;

static const refs_combine_member *member_of(const merging *at, const moved *one) {
    return &at->combine->members[at->plan->order[one->member]];
}

static int by_number(const void *left, const void *right) {
    const moved *a = left, *b = right;
    if (a->number != b->number) return a->number > b->number ? 1 : -1;
    return (a->member > b->member) - (a->member < b->member);
}

static refs_status sort(const refs_combine_result *result, run *part, refs_error *err) {
    size_t capacity = 0;
    moved *next = &part->current;
    while (refs_stream_get(&part->reader, &next->ref)) {
        REFS_GROW(part->sorted, capacity, part->n_sorted, err);
        next->number = move(result, &part->to, next->ref.number);
        part->sorted[part->n_sorted++] = *next;
    }
    if (part->n_sorted > 0) qsort(part->sorted, part->n_sorted, sizeof *part->sorted, by_number);
    return REFS_OK;
}

/* False after the last reference, and on failure, which closing the reader reports. */
static bool read_next(const refs_combine_result *result, run *part) {
    if (part->sorted != NULL) {
        if (part->n_read == part->n_sorted) return false;
        part->current = part->sorted[part->n_read++];
        return true;
    }
    if (!refs_stream_get(&part->reader, &part->current.ref)) return false;
    part->current.number = move(result, &part->to, part->current.ref.number);
    return true;
}

static refs_status open_run(merging *at, size_t member, refs_error *err) {
    const refs_combine_place place = {
        &at->combine->members[at->plan->order[member]],
        refs_combine__find(&at->combine->members[at->plan->order[member]], at->result->path)};
    if (place.array == NULL) return REFS_OK;
    run *part = &at->runs[at->n_runs++];
    part->current.member = member;
    part->reader = refs_combine__stream_of(&place);
    REFS_TRY(find_moves(at->result, &place, &part->to, err));
    if (!is_ascending(at->result, &part->to)) REFS_TRY(sort(at->result, part, err));
    if (read_next(at->result, part)) at->heap[at->n++] = part;
    return REFS_OK;
}

/* Moves the run at `i` down to its place in the heap. */
static void sink_run(merging *at, size_t i) {
    run *moving = at->heap[i];
    for (size_t child = 2 * i + 1; child < at->n; child = 2 * i + 1) {
        if (child + 1 < at->n &&
            by_number(&at->heap[child + 1]->current, &at->heap[child]->current) < 0)
            child++;
        if (by_number(&at->heap[child]->current, &moving->current) > 0) break;
        at->heap[i] = at->heap[child];
        i = child;
    }
    at->heap[i] = moving;
}

/* -- parts that have the same chunk ------------------------------------------------------------ */

static refs_status fail_twice(const merging *at, const moved *one, const moved *other,
                              refs_error *err) {
    const refs_combine_result *result = at->result;
    const refs_combine_member *const members[2] = {member_of(at, one), member_of(at, other)};
    uint64_t number = one->number, index[REFS_MAX_RANK];
    for (size_t dim = result->rank; dim-- > 0; number /= result->n[dim])
        index[dim] = number % result->n[dim] * result->chunk[dim];
    return refs_combine__fail_twice(at->combine, result, index, members, err);
}

/* Whether two parts have equal chunks at one index, as far as references and digests show. */
static bool hold_the_same(const merging *at, const moved *one, const moved *other) {
    const refs_combine_member *const members[2] = {member_of(at, one), member_of(at, other)};
    const refs_stream_ref *a = &one->ref, *b = &other->ref;
    if (at->result->is_compared) return true;
    if (a->kind == REFS_REF_INLINE && b->kind == REFS_REF_INLINE)
        return refs_bytes_equal(a->bytes, b->bytes);
    if (a->kind == b->kind && a->offset == b->offset && a->length == b->length &&
        members[0]->urls[a->url] == members[1]->urls[b->url])
        return true;
    return refs_combine__have_one_digest(at->combine, at->result, members[0], members[1]);
}

/* Among equal chunks, the first reference by text is written, so that the result does not depend on
 * how parts were combined before. Inline values come first. */
static bool is_preferred(const merging *at, const moved *one, const moved *other) {
    const refs_stream_ref *a = &one->ref, *b = &other->ref;
    if (a->kind == REFS_REF_INLINE || b->kind == REFS_REF_INLINE)
        return a->kind == REFS_REF_INLINE && b->kind != REFS_REF_INLINE;
    const int order =
        refs_str_compare(refs_combine__text(at->combine, member_of(at, one)->urls[a->url]),
                         refs_combine__text(at->combine, member_of(at, other)->urls[b->url]));
    return order != 0 ? order < 0 : a->offset < b->offset;
}

/* -- writing ----------------------------------------------------------------------------------- */

static refs_status put_kept(const merging *at, refs_error *err) {
    const moved *kept = &at->kept;
    const refs_combine_chunk chunk = {member_of(at, kept), &kept->ref, kept->number};
    return at->has_first ? refs_combine__put_chunk(at->combine, at->sink, chunk, err) : REFS_OK;
}

/* An array without some concat dimension has the same index in several parts. */
static refs_status take(merging *at, const moved *next, refs_error *err) {
    if (!at->has_first || next->number != at->first.number) {
        REFS_TRY(put_kept(at, err));
        at->first = at->kept = *next;
        at->has_first = true;
        return REFS_OK;
    }
    if (!refs_combine__is_shared(at->combine, at->result) || !hold_the_same(at, &at->first, next))
        return fail_twice(at, &at->first, next, err);
    if (is_preferred(at, next, &at->kept)) at->kept = *next;
    return REFS_OK;
}

static refs_status merge(merging *at, refs_error *err) {
    for (size_t i = 0; i < at->combine->n_members; i++) REFS_TRY(open_run(at, i, err));
    for (size_t i = at->n / 2; i-- > 0;) sink_run(at, i);
    for (uint64_t n = 0; at->n > 0; n++) {
        run *part = at->heap[0];
        if (n % CHUNKS_BETWEEN_CHECKS == 0) REFS_TRY(refs_combine__go_on(at->combine, err));
        REFS_TRY(take(at, &part->current, err));
        if (!read_next(at->result, part)) at->heap[0] = at->heap[--at->n];
        if (at->n > 0) sink_run(at, 0);
    }
    return put_kept(at, err);
}

refs_status refs_combine__put_merged(const refs_combine *combine, const refs_combine_plan *plan,
                                     const refs_combine_result *result,
                                     const refs_combine_sink *sink, refs_error *err) {
    REFS_SCOPED run *runs = refs_calloc(combine->n_members, sizeof *runs);
    REFS_SCOPED run **heap = refs_calloc(combine->n_members, sizeof *heap);
    merging at = {.combine = combine,
                  .plan = plan,
                  .result = result,
                  .sink = sink,
                  .runs = runs,
                  .heap = heap};
    refs_status status = runs != NULL && heap != NULL ? merge(&at, err) : refs_fail_nomem(err);
    for (size_t i = 0; i < at.n_runs; i++) {
        refs_free(runs[i].to.memory);
        refs_free(runs[i].sorted);
        status = refs_stream_close(&runs[i].reader, status, err);
    }
    return status;
}
