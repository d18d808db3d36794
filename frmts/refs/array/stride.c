/* stride.c -- see stride.h. */
#include "stride.h"

/* The number of equal steps inside a chunk after which the next chunk is expected. Three bands of a
 * colour image are only two steps. */
#define STEPS_TO_TRUST 3

/* Boxes of the first window, after two reads: a reader that stops early wastes few. */
#define FIRST_WINDOW 8

/* The next window is requested when more than this part of the last one was read; the rest is read
 * while it arrives. So at most BOXES_PER_READ times as many boxes are requested as were read. */
#define MARK_PART      4
#define BOXES_PER_READ 4

/* Limit of boxes of a window. */
#define MAX_WINDOW 16384

/* Limit of bytes that are decoded in advance. A local file has no latency to hide, so nothing
 * beyond that is prefetched. */
#define DECODED_BYTES       (8 * (uint64_t)REFS_MIB)
#define LOCAL_DECODED_BYTES (4 * (uint64_t)REFS_MIB)

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

/* The difference of numbers of neighbouring chunks along a dimension. */
static uint64_t stride_of(const refs_grid *grid, size_t dim) {
    uint64_t stride = 1;
    for (size_t i = dim + 1; i < grid->rank; i++) stride *= grid->n[i];
    return stride;
}

/* -- past reads -------------------------------------------------------------------------------- */

bool refs_box_read__describe(const refs_array_meta *meta, const refs_grid *grid,
                             const refs_cut *cut, refs_box_read *read) {
    uint64_t index[REFS_MAX_RANK];
    *read = (refs_box_read){.is_point = cut->n_chunks == 1};
    for (size_t dim = 0; dim < cut->rank; dim++) {
        const refs_span first = refs_array__span(cut, dim, 0),
                        last = refs_array__span(cut, dim, cut->n_spans[dim] - 1);
        uint64_t element = first.chunk * meta->chunk[dim] + first.begin;
        bool backwards = cut->is_backwards[dim];
        index[dim] = first.chunk;
        read->box[dim] = (backwards ? first.chunk - last.chunk : last.chunk - first.chunk) + 1;
        read->element[dim] = backwards ? meta->shape[dim] - 1 - element : element;
        read->left[dim] = backwards ? first.begin : meta->chunk[dim] - 1 - first.begin;
        if (backwards) read->mirrored |= (uint32_t)1 << dim;
        if (read->box[dim] != cut->n_spans[dim]) return false;
        read->is_point = read->is_point && first.n == 1;
    }
    refs_grid__mirror(grid, read->mirrored, index);
    read->number = refs_grid__number(grid, index);
    return true;
}

/* Compares a read with the last one, which began in the same chunk: in which single dimension it
 * moved, and how far. A read of the same first element says nothing. */
static void note_step(refs_last_read *last, const uint64_t *to) {
    size_t dim = 0, n_changed = 0;
    for (size_t i = 0; i < REFS_MAX_RANK; i++) {
        if (to[i] == last->element[i]) continue;
        dim = i;
        n_changed++;
    }
    if (n_changed == 0) return;
    bool forward = n_changed == 1 && to[dim] > last->element[dim];
    uint64_t step = forward ? to[dim] - last->element[dim] : 0;
    bool again = forward && step == last->step && dim == last->dim;
    last->n_steps = again ? last->n_steps + 1 : forward ? 1 : 0;
    last->dim = dim;
    last->step = step;
}

static size_t slowest_change(const refs_grid *grid, uint64_t from, uint64_t to) {
    uint64_t one[REFS_MAX_RANK], other[REFS_MAX_RANK];
    size_t dim = 0;
    refs_grid__index(grid, from, one);
    refs_grid__index(grid, to, other);
    while (dim < grid->rank && one[dim] == other[dim]) dim++;
    return dim;
}

/* Records a read of another chunk. */
static void note_move(refs_last_read *last, const refs_grid *grid, uint64_t number) {
    const int64_t by = (int64_t)number - (int64_t)last->number;
    const size_t slowest = slowest_change(grid, last->number, number);
    const bool is_equal = by == last->stride;
    last->is_hit = is_equal || (last->is_first && last->number == 0);
    last->slowest = is_equal && last->slowest < slowest ? last->slowest : slowest;
    last->stride = by;
    last->is_first = false;
}

/* Steps are counted across the ends of chunks. */
void refs_last_read__note(refs_last_read *last, const refs_grid *grid, const refs_box_read *read) {
    if (last->is_any) note_step(last, read->element);
    if (!last->is_any)
        last->is_any = last->is_first = true;
    else if (read->number != last->number)
        note_move(last, grid, read->number);
    last->number = read->number;
    memcpy(last->element, read->element, sizeof last->element);
}

/* -- expected reads ---------------------------------------------------------------------------- */

/* The number of boxes before the bounds of dimension `slowest` end. */
static uint64_t count_boxes(const refs_grid *grid, const refs_bounds *bounds, size_t slowest,
                            const refs_stride *stride) {
    uint64_t apart = stride_of(grid, slowest), n = grid->n[slowest];
    bool is_mirrored = stride->mirrored >> slowest & 1;
    uint64_t begin = (is_mirrored ? n - bounds->end[slowest] : bounds->begin[slowest]) * apart;
    uint64_t end = (is_mirrored ? n - bounds->begin[slowest] : bounds->end[slowest]) * apart;
    uint64_t inside = stride->first % (n * apart);
    if (inside < begin || inside >= end) return 0;
    if (stride->by > 0) return (end - 1 - inside) / (uint64_t)stride->by + 1;
    return (inside - begin) / (0 - (uint64_t)stride->by) + 1;
}

static bool steps_lead_on(const refs_last_read *last, const refs_box_read *read) {
    return last->n_steps >= STEPS_TO_TRUST &&
           read->left[last->dim] / last->step / 2 <= last->n_steps;
}

bool refs_last_read__expects(const refs_last_read *last, const refs_grid *grid,
                             const refs_box_read *read, refs_stride *stride) {
    size_t slowest = last->slowest;
    *stride = (refs_stride){.mirrored = read->mirrored, .first = read->number};
    memcpy(stride->box, read->box, sizeof stride->box);
    if (last->is_hit) {
        stride->by = last->stride;
    } else if (steps_lead_on(last, read)) {
        stride->by = (int64_t)stride_of(grid, last->dim);
        slowest = last->dim;
    } else {
        return false;
    }
    stride->n = count_boxes(grid, &last->bounds, slowest, stride);
    return stride->n > 1;
}

bool refs_stride__of_region(const refs_box_read *read, const refs_grid *grid, refs_stride *stride) {
    size_t moving = 0;
    while (moving < grid->rank && read->box[moving] == 1) moving++;
    if (moving == grid->rank) return false;
    *stride = (refs_stride){.mirrored = read->mirrored,
                            .first = read->number,
                            .by = (int64_t)stride_of(grid, moving),
                            .n = read->box[moving]};
    memcpy(stride->box, read->box, sizeof stride->box);
    stride->box[moving] = 1;
    return true;
}

static uint64_t begin_of(const refs_stride *stride, uint64_t k) {
    return stride->first + k * (uint64_t)stride->by;
}

static bool holds(const refs_stride *stride, const refs_grid *grid, uint64_t k, uint64_t number) {
    uint64_t begin[REFS_MAX_RANK], index[REFS_MAX_RANK];
    refs_grid__index(grid, begin_of(stride, k), begin);
    refs_grid__index(grid, number, index);
    for (size_t dim = 0; dim < grid->rank; dim++)
        if (index[dim] < begin[dim] || index[dim] - begin[dim] >= stride->box[dim]) return false;
    return true;
}

/* Only the last box that begins at or before the chunk can contain it. */
uint64_t refs_stride__find(const refs_stride *stride, const refs_grid *grid,
                           const refs_box_read *read, uint64_t from) {
    int64_t apart = stride->by > 0 ? stride->by : -stride->by;
    int64_t away = (int64_t)read->number - (int64_t)stride->first;
    int64_t steps = away / apart - (away % apart < 0);
    int64_t k = stride->by > 0 ? steps : -steps;
    if (read->mirrored != stride->mirrored) return UINT64_MAX;
    if (k < 0 || (uint64_t)k >= stride->n || (uint64_t)k < from) return UINT64_MAX;
    return holds(stride, grid, (uint64_t)k, read->number) ? (uint64_t)k : UINT64_MAX;
}

uint64_t refs_stride__box_size(const refs_stride *stride, const refs_grid *grid) {
    uint64_t size = 1;
    for (size_t dim = 0; dim < grid->rank; dim++) size *= stride->box[dim];
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

size_t refs_stride__chunks(const refs_stride *stride, const refs_grid *grid, uint64_t k,
                           uint64_t *numbers) {
    uint64_t begin[REFS_MAX_RANK], n[REFS_MAX_RANK], at[REFS_MAX_RANK];
    size_t count = 0;
    refs_grid__index(grid, begin_of(stride, k), begin);
    for (size_t dim = 0; dim < grid->rank; dim++) {
        uint64_t left = grid->n[dim] - begin[dim];
        n[dim] = stride->box[dim] < left ? stride->box[dim] : left;
        at[dim] = begin[dim];
    }
    do {
        uint64_t index[REFS_MAX_RANK];
        memcpy(index, at, sizeof index);
        refs_grid__mirror(grid, stride->mirrored, index);
        numbers[count++] = refs_grid__number(grid, index);
    } while (advance(at, begin, n, grid->rank));
    return count;
}

/* -- the window -------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t refs_box_bytes__n_decoded(const refs_box_bytes *bytes) {
    const uint64_t most = bytes->is_local ? LOCAL_DECODED_BYTES : DECODED_BYTES;
    if (bytes->decoded > bytes->most) return 0;
    const uint64_t n = least(most, bytes->most) / bytes->decoded;
    return n > 0 ? n : 1;
}

uint64_t refs_box_bytes__n_fit(const refs_box_bytes *bytes) {
    const uint64_t n = refs_box_bytes__n_decoded(bytes);
    if (n == 0 || bytes->is_local) return n;
    return n + (bytes->most - n * bytes->decoded) / bytes->stored;
}

uint64_t refs_window__advance(refs_window *window, uint64_t ahead, uint64_t n, uint64_t n_fit) {
    if (window->next < ahead) window->next = window->mark = ahead;
    const uint64_t n_unread = window->next - ahead;
    const bool is_due = n_unread == 0 || ahead > window->mark;
    if (!is_due || n_unread >= n_fit) return 0;
    const uint64_t wanted = window->size > 0 ? window->size : FIRST_WINDOW;
    const uint64_t size = least(least(wanted, n_fit - n_unread), n - window->next);
    if (size == 0) return 0;
    window->mark = window->next + size / MARK_PART + 1;
    window->next += size;
    window->last = size;
    window->size = size < wanted ? wanted : least(2 * size, MAX_WINDOW);
    return size;
}

void refs_window__hurry(refs_window *window, uint64_t ahead, uint64_t n_fit) {
    const uint64_t most = 1 + least(BOXES_PER_READ * (ahead + 1), ahead + n_fit - 1);
    if (window->last == 0 || window->next + window->last > most) return;
    window->size = least(window->size, most - window->next);
    window->mark = 0;
}

void refs_window__miss(refs_window *window) {
    const uint64_t half = window->last > 1 ? window->last / 2 : 1;
    *window = (refs_window){.size = window->last > 0 ? half : window->size};
}

void refs_window__open(refs_window *window) {
    *window = (refs_window){.size = MAX_WINDOW};
}
