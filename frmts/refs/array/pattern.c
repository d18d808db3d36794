/* pattern.c -- see pattern.h. */
#include "pattern.h"

/* Equal moves after which the next one is expected. */
#define MOVES_TO_TRUST 2

/* Equal steps inside a chunk after which the next chunk is expected. Three bands of an image in
 * colours are two steps. */
#define STEPS_TO_TRUST 3

/* Courses that ended mostly unread and count: each doubles what is enough. */
#define MAX_DOUBTS 3

/* So many times as many boxes as were read are prefetched at most: who stops after a few has wasted
 * a few. */
#define BOXES_PER_READ 4

/* Values that are decoded before they are asked for. A local file has no latency to hide: what lies
 * beyond these is not prefetched. */
#define DECODED_BYTES       (8 * (uint64_t)REFS_MIB)
#define LOCAL_DECODED_BYTES (4 * (uint64_t)REFS_MIB)

/* What is asked for at once, unless there is less room: a few large requests. */
#define ASKED_BYTES (8 * (uint64_t)REFS_MIB)

/* Boxes that are planned at once at most. */
#define MAX_BOXES 16384

/* -- the grid ---------------------------------------------------------------------------------- */

bool refs_grid__of(const refs_array_meta *meta, refs_grid *grid) {
    grid->rank = meta->rank;
    grid->n_chunks = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        grid->n[dim] = refs_array_meta_n_chunks(meta, dim);
        if (!refs_mul_u64(grid->n_chunks, grid->n[dim], &grid->n_chunks)) return false;
    }
    return grid->n_chunks <= INT64_MAX;
}

uint64_t refs_grid__number(const refs_grid *grid, const uint64_t *index) {
    uint64_t number = 0;
    for (size_t dim = 0; dim < grid->rank; dim++) number = number * grid->n[dim] + index[dim];
    return number;
}

void refs_grid__index(const refs_grid *grid, uint64_t number, uint64_t *index) {
    for (size_t dim = grid->rank; dim-- > 0; number /= grid->n[dim])
        index[dim] = number % grid->n[dim];
}

void refs_grid__mirror(const refs_grid *grid, uint32_t mirrored, uint64_t *index) {
    for (size_t dim = 0; dim < grid->rank; dim++)
        if (mirrored >> dim & 1) index[dim] = grid->n[dim] - 1 - index[dim];
}

refs_bounds refs_grid__bounds(const refs_grid *grid) {
    refs_bounds bounds = {{0}, {0}};
    memcpy(bounds.end, grid->n, sizeof bounds.end);
    return bounds;
}

/* How far apart in number neighbours along a dimension are. */
static uint64_t stride_of(const refs_grid *grid, size_t dim) {
    uint64_t stride = 1;
    for (size_t i = dim + 1; i < grid->rank; i++) stride *= grid->n[i];
    return stride;
}

/* -- what was read ----------------------------------------------------------------------------- */

bool refs_pattern__describe(const refs_array_meta *meta, const refs_grid *grid, const refs_cut *cut,
                            refs_box_read *read) {
    uint64_t index[REFS_MAX_RANK];
    *read = (refs_box_read){.is_point = cut->n_chunks == 1};
    for (size_t dim = 0; dim < cut->rank; dim++) {
        const refs_span *first = &cut->spans[dim][0], *last = first + cut->n_spans[dim] - 1;
        uint64_t element = first->chunk * meta->chunk[dim] + first->begin;
        bool backwards = cut->is_backwards[dim];
        index[dim] = first->chunk;
        read->box[dim] = (backwards ? first->chunk - last->chunk : last->chunk - first->chunk) + 1;
        read->element[dim] = backwards ? meta->shape[dim] - 1 - element : element;
        read->left[dim] = backwards ? first->begin : meta->chunk[dim] - 1 - first->begin;
        if (backwards) read->mirrored |= (uint32_t)1 << dim;
        if (read->box[dim] != cut->n_spans[dim]) return false;
        read->is_point = read->is_point && first->n == 1;
    }
    refs_grid__mirror(grid, read->mirrored, index);
    read->number = refs_grid__number(grid, index);
    return true;
}

/* Compares a read with the last one, which began in the same chunk: along which single dimension it
 * stepped on, and how far. One that begins with the same element tells nothing. */
static void note_step(refs_pattern *pattern, const uint64_t *to) {
    size_t dim = 0, n_changed = 0;
    for (size_t i = 0; i < REFS_MAX_RANK; i++) {
        if (to[i] == pattern->element[i]) continue;
        dim = i;
        n_changed++;
    }
    if (n_changed == 0) return;
    bool forward = n_changed == 1 && to[dim] > pattern->element[dim];
    uint64_t step = forward ? to[dim] - pattern->element[dim] : 0;
    bool again = forward && step == pattern->step && dim == pattern->dim;
    pattern->n_steps = again ? pattern->n_steps + 1 : forward ? 1 : 0;
    pattern->dim = dim;
    pattern->step = step;
}

static size_t slowest_change(const refs_grid *grid, uint64_t from, uint64_t to) {
    uint64_t one[REFS_MAX_RANK], other[REFS_MAX_RANK];
    size_t dim = 0;
    refs_grid__index(grid, from, one);
    refs_grid__index(grid, to, other);
    while (dim < grid->rank && one[dim] == other[dim]) dim++;
    return dim;
}

/* Steps go on counting where a chunk ends. */
refs_move refs_pattern__note(refs_pattern *pattern, const refs_grid *grid,
                             const refs_box_read *read) {
    refs_move move = REFS_MOVE_JUMPED;
    int64_t by = (int64_t)read->number - (int64_t)pattern->at;
    if (!pattern->any) {
        pattern->first = read->number;
    } else {
        note_step(pattern, read->element);
        if (by == 0)
            move = REFS_MOVE_STAYED;
        else if (by == pattern->by)
            move = REFS_MOVE_WENT_ON;
    }
    if (pattern->any && by != 0) {
        size_t slowest = slowest_change(grid, pattern->at, read->number);
        bool goes_on = move == REFS_MOVE_WENT_ON;
        pattern->slowest = goes_on && pattern->slowest < slowest ? pattern->slowest : slowest;
        if (pattern->n_moves > 0 && !goes_on) pattern->first = UINT64_MAX;
        pattern->n_moves = goes_on ? pattern->n_moves + 1 : 1;
        pattern->by = by;
    }
    pattern->any = true;
    pattern->at = read->number;
    memcpy(pattern->element, read->element, sizeof pattern->element);
    return move;
}

void refs_pattern__judge(refs_pattern *pattern, uint64_t n_used, uint64_t n_unread) {
    if (n_unread <= n_used)
        pattern->doubts = 0;
    else if (pattern->doubts < MAX_DOUBTS)
        pattern->doubts++;
}

/* -- what is expected -------------------------------------------------------------------------- */

/* Boxes of a course from its first one on, before the bounds of dimension `slowest` end. */
static uint64_t count_boxes(const refs_grid *grid, const refs_bounds *bounds, size_t slowest,
                            const refs_course *course) {
    uint64_t stride = stride_of(grid, slowest), n = grid->n[slowest];
    bool is_mirrored = course->mirrored >> slowest & 1;
    uint64_t begin = (is_mirrored ? n - bounds->end[slowest] : bounds->begin[slowest]) * stride;
    uint64_t end = (is_mirrored ? n - bounds->begin[slowest] : bounds->end[slowest]) * stride;
    uint64_t inside = course->first % (n * stride);
    if (inside < begin || inside >= end) return 0;
    if (course->by > 0) return (end - 1 - inside) / (uint64_t)course->by + 1;
    return (inside - begin) / (0 - (uint64_t)course->by) + 1;
}

static bool steps_lead_on(const refs_pattern *pattern, const refs_box_read *read) {
    return pattern->n_steps >= (uint64_t)STEPS_TO_TRUST << pattern->doubts &&
           read->left[pattern->dim] / pattern->step / 2 <= pattern->n_steps;
}

bool refs_pattern__expects(const refs_pattern *pattern, const refs_grid *grid,
                           const refs_box_read *read, refs_course *course) {
    bool began =
        pattern->n_moves == 1 && pattern->first == 0 && pattern->at == (uint64_t)pattern->by;
    size_t slowest = pattern->slowest;
    *course = (refs_course){.mirrored = read->mirrored, .first = read->number};
    memcpy(course->box, read->box, sizeof course->box);
    if (pattern->n_moves >= (uint64_t)MOVES_TO_TRUST << pattern->doubts || began) {
        course->by = pattern->by;
        course->n_read = pattern->n_moves + 1;
    } else if (steps_lead_on(pattern, read)) {
        course->by = (int64_t)stride_of(grid, pattern->dim);
        course->n_read = 1;
        slowest = pattern->dim;
    } else {
        return false;
    }
    course->n = count_boxes(grid, &pattern->bounds, slowest, course);
    if (read->is_point && pattern->doubts == 0) course->n_read = course->n;
    return course->n > 1;
}

bool refs_course__of_region(const refs_box_read *read, const refs_grid *grid, refs_course *course) {
    size_t moving = 0;
    while (moving < grid->rank && read->box[moving] == 1) moving++;
    if (moving == grid->rank) return false;
    *course = (refs_course){.mirrored = read->mirrored,
                            .first = read->number,
                            .by = (int64_t)stride_of(grid, moving),
                            .n = read->box[moving],
                            .n_read = read->box[moving]}; /* all of it is known to be read */
    memcpy(course->box, read->box, sizeof course->box);
    course->box[moving] = 1;
    return true;
}

static uint64_t begin_of(const refs_course *course, uint64_t k) {
    return course->first + k * (uint64_t)course->by;
}

static bool holds(const refs_course *course, const refs_grid *grid, uint64_t k, uint64_t number) {
    uint64_t begin[REFS_MAX_RANK], index[REFS_MAX_RANK];
    refs_grid__index(grid, begin_of(course, k), begin);
    refs_grid__index(grid, number, index);
    for (size_t dim = 0; dim < grid->rank; dim++)
        if (index[dim] < begin[dim] || index[dim] - begin[dim] >= course->box[dim]) return false;
    return true;
}

/* The last box that does not begin behind the chunk is the only one that can hold it. */
uint64_t refs_course__find(const refs_course *course, const refs_grid *grid,
                           const refs_box_read *read, uint64_t from) {
    int64_t apart = course->by > 0 ? course->by : -course->by;
    int64_t away = (int64_t)read->number - (int64_t)course->first;
    int64_t steps = away / apart - (away % apart < 0);
    int64_t k = course->by > 0 ? steps : -steps;
    if (read->mirrored != course->mirrored) return UINT64_MAX;
    if (k < 0 || (uint64_t)k >= course->n || (uint64_t)k < from) return UINT64_MAX;
    return holds(course, grid, (uint64_t)k, read->number) ? (uint64_t)k : UINT64_MAX;
}

uint64_t refs_course__box_size(const refs_course *course, const refs_grid *grid) {
    uint64_t size = 1;
    for (size_t dim = 0; dim < grid->rank; dim++) size *= course->box[dim];
    return size;
}

/* The next index of a box, the last dimension fastest; false after the last one. */
static bool advance(uint64_t *at, const uint64_t *begin, const uint64_t *n, size_t rank) {
    for (size_t dim = rank; dim-- > 0;) {
        if (++at[dim] < begin[dim] + n[dim]) return true;
        at[dim] = begin[dim];
    }
    return false;
}

size_t refs_course__chunks(const refs_course *course, const refs_grid *grid, uint64_t k,
                           uint64_t *numbers) {
    uint64_t begin[REFS_MAX_RANK], n[REFS_MAX_RANK], at[REFS_MAX_RANK];
    size_t count = 0;
    refs_grid__index(grid, begin_of(course, k), begin);
    for (size_t dim = 0; dim < grid->rank; dim++) {
        uint64_t left = grid->n[dim] - begin[dim];
        n[dim] = course->box[dim] < left ? course->box[dim] : left;
        at[dim] = begin[dim];
    }
    do {
        uint64_t index[REFS_MAX_RANK];
        memcpy(index, at, sizeof index);
        refs_grid__mirror(grid, course->mirrored, index);
        numbers[count++] = refs_grid__number(grid, index);
    } while (advance(at, begin, n, grid->rank));
    return count;
}

/* -- what is prefetched ------------------------------------------------------------------------ */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Whether it is time to ask for more. Who asks for a box at a time asks for small ranges, and who
 * waits until much is read for too little: where answers are waited for, what makes a few large
 * requests is enough. */
static bool is_enough(const refs_progress_on *progress, uint64_t window, uint64_t n_unread) {
    uint64_t n = window / 2;
    if (!progress->is_local) n = least(n, 1 + ASKED_BYTES / progress->stored);
    return n_unread <= window && window - n_unread >= n;
}

refs_prefetch_plan refs_course__plan(const refs_course *course, const refs_progress_on *progress) {
    uint64_t ahead = progress->ahead;
    uint64_t next = progress->next > ahead ? progress->next : ahead;
    refs_prefetch_plan plan = {next, next, ahead};
    if (progress->decoded > progress->budget) return plan;
    uint64_t decoded_bytes =
        least(progress->is_local ? LOCAL_DECODED_BYTES : DECODED_BYTES, progress->budget);
    uint64_t n_decoded = progress->decoded < decoded_bytes ? decoded_bytes / progress->decoded : 1;
    uint64_t left = progress->budget - n_decoded * progress->decoded;
    uint64_t window = n_decoded + (progress->is_local ? 0 : left / progress->stored);
    uint64_t n_read = least(course->n_read, MAX_BOXES) + least(ahead, MAX_BOXES) - 1;
    window = least(least(window, MAX_BOXES), BOXES_PER_READ * n_read);
    plan.decode_end = least(ahead + n_decoded, course->n);
    if (is_enough(progress, window, next - ahead)) plan.end = least(ahead + window, course->n);
    if (plan.end < plan.begin) plan.end = plan.begin;
    return plan;
}
