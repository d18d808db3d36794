/* cells.c -- which indices of concat dimensions the parts cover, see combine_internal.h.
 *
 * Parts are boxes; combined sets may have recorded holes in them, which are boxes, too. The edges
 * of all boxes divide the grid into cells, each covered by parts or not. */
#include <stdlib.h>

#include "combine_internal.h"

/* Most cells that are checked. */
#define MAX_CELLS 16000000

enum { COVERED = 1, IS_HOLE = 2 };

/* An operation on the cells of a box. */
typedef enum action { MARK_HOLE, COVER, UNMARK_HOLE } action;

/* The first part that covers a cell owns it. */
static void own(refs_combine_cells *all, size_t cell) {
    const uint32_t piece = (uint32_t)all->n_pieces;
    if (!all->wants_owners) return;
    if (all->owners[cell] == 0) all->owners[cell] = piece;
    if (all->owners[cell] == piece || all->second != 0) return;
    all->twice = cell;
    all->second = piece;
}

/* A box: steps of a part. */
typedef struct box {
    const refs_combine_member *member;
    refs_combine_steps steps[REFS_COMBINE_MAX_DIMS]; /* along the concat dimensions of the cells */
} box;

/* -- boxes ------------------------------------------------------------------------------------- */

static box whole_box(const refs_combine_cells *all, const refs_combine_member *member) {
    box of = {.member = member};
    for (size_t i = 0; i < all->n_concat; i++)
        of.steps[i] = (refs_combine_steps){0, member->axes[all->concat[i]].n};
    return of;
}

static void narrow(refs_combine_steps *steps, uint64_t begin, uint64_t end) {
    if (begin > steps->begin) steps->begin = begin < steps->end ? begin : steps->end;
    if (end < steps->end) steps->end = end > steps->begin ? end : steps->begin;
}

refs_combine_steps refs_combine__steps_of(const refs_combine *combine, const refs_combine_place *at,
                                          size_t concat) {
    refs_combine_steps steps = {0, at->member->axes[concat].n};
    const refs_combine_array *array = at->array;
    for (size_t dim = 0; array != NULL && array->is_piece && dim < array->rank; dim++)
        if (refs_combine__concat_dim_of(combine, array, dim) == concat)
            narrow(&steps, array->begin[concat], array->begin[concat] + array->shape[dim]);
    return steps;
}

static box piece_box(const refs_combine_cells *all, const refs_combine_place *piece) {
    box of = {.member = piece->member};
    for (size_t i = 0; i < all->n_concat; i++)
        of.steps[i] = refs_combine__steps_of(all->combine, piece, all->concat[i]);
    return of;
}

/* Sets the box of a hole; false if it has a dimension that the cells lack. */
static bool hole_box(const refs_combine_cells *all, const refs_combine_member *member,
                     const refs_combine_holes *holes, size_t number, box *of) {
    size_t n_found = 0;
    *of = whole_box(all, member);
    for (size_t k = 0; k < holes->n_along; k++)
        for (size_t i = 0; i < all->n_concat; i++) {
            if (all->concat[i] != holes->concat[k]) continue;
            const refs_combine_steps *steps = &holes->steps[number * holes->n_along + k];
            narrow(&of->steps[i], steps->begin, steps->end);
            n_found++;
        }
    return n_found == holes->n_along;
}

/* -- cuts -------------------------------------------------------------------------------------- */

/* Consecutive steps of a part, up to number `end`, and their positions. */
typedef struct run {
    uint64_t end;
    refs_combine_steps at;
} run;

/* Positions may descend if no caller looks up the step of a position. */
static run run_at(const refs_combine_cells *all, const refs_combine_axis *axis, uint64_t begin,
                  uint64_t stop) {
    const uint64_t *at = axis->position;
    uint64_t end = begin + 1;
    while (end < stop && at[end] == at[end - 1] + 1) end++;
    if (end > begin + 1 || all->wants_owners) return (run){end, {at[begin], at[end - 1] + 1}};
    while (end < stop && at[end] + 1 == at[end - 1]) end++;
    return (run){end, {at[end - 1], at[begin] + 1}};
}

static refs_status add_cut(refs_combine_cuts *cuts, uint64_t at, refs_error *err) {
    REFS_GROW(cuts->at, cuts->capacity, cuts->n, err);
    cuts->at[cuts->n++] = at;
    return REFS_OK;
}

static refs_status cut_at(refs_combine_cells *all, const box *of, refs_error *err) {
    for (size_t i = 0; i < all->n_concat; i++) {
        const refs_combine_axis *axis = &of->member->axes[all->concat[i]];
        for (uint64_t begin = of->steps[i].begin; begin < of->steps[i].end;) {
            const run steps = run_at(all, axis, begin, of->steps[i].end);
            REFS_TRY(add_cut(&all->cuts[i], steps.at.begin, err));
            REFS_TRY(add_cut(&all->cuts[i], steps.at.end, err));
            begin = steps.end;
        }
    }
    return REFS_OK;
}

static int by_number(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void sort_cuts(refs_combine_cuts *cuts) {
    size_t n = 1;
    qsort(cuts->at, cuts->n, sizeof *cuts->at, by_number);
    for (size_t i = 1; i < cuts->n; i++)
        if (cuts->at[i] != cuts->at[n - 1]) cuts->at[n++] = cuts->at[i];
    cuts->n = n;
}

/* -- cells ------------------------------------------------------------------------------------- */

size_t refs_combine__cell_at(const refs_combine_cuts *cuts, uint64_t position) {
    const uint64_t *found = bsearch(&position, cuts->at, cuts->n, sizeof *cuts->at, by_number);
    return (size_t)(found - cuts->at);
}

/* Applies the operation from dimension `i` on, with `cell` as the number for the dimensions before.
 */
static void act(refs_combine_cells *all, const box *of, action what, size_t i, size_t cell) {
    if (i == all->n_concat) {
        uint8_t *at = &all->covered[cell];
        if (what == MARK_HOLE) *at |= IS_HOLE;
        if (what == UNMARK_HOLE) *at &= COVERED;
        if (what == COVER && (*at & IS_HOLE) == 0) {
            *at |= COVERED;
            own(all, cell);
        }
        return;
    }
    const refs_combine_axis *axis = &of->member->axes[all->concat[i]];
    const refs_combine_cuts *along = &all->cuts[i];
    for (uint64_t begin = of->steps[i].begin; begin < of->steps[i].end;) {
        const run steps = run_at(all, axis, begin, of->steps[i].end);
        const size_t last = refs_combine__cell_at(along, steps.at.end);
        for (size_t k = refs_combine__cell_at(along, steps.at.begin); k < last; k++)
            act(all, of, what, i + 1, cell * (along->n - 1) + k);
        begin = steps.end;
    }
}

/* Adds the edges of a box or, once cells are known, applies the operation to its cells. */
static refs_status do_box(refs_combine_cells *all, const box *of, action what, refs_error *err) {
    if (all->covered == NULL) return cut_at(all, of, err);
    act(all, of, what, 0, 0);
    return REFS_OK;
}

static refs_status do_holes(refs_combine_cells *all, const refs_combine_member *member,
                            const refs_combine_holes *holes, action what, refs_error *err) {
    for (size_t i = 0; holes != NULL && i < holes->n; i++) {
        box of;
        if (hole_box(all, member, holes, i, &of)) REFS_TRY(do_box(all, &of, what, err));
    }
    return REFS_OK;
}

/* Numbers pieces in the same order for all operations. */
static refs_status number_piece(refs_combine_cells *all, refs_combine_place piece,
                                refs_error *err) {
    if (!all->wants_owners) return REFS_OK;
    if (all->n_pieces >= UINT32_MAX - 1 ||
        !refs_grow((void **)&all->pieces, &all->piece_capacity, all->n_pieces, sizeof piece))
        return refs_fail_nomem(err);
    all->pieces[all->n_pieces++] = piece;
    return REFS_OK;
}

static refs_status do_member(refs_combine_cells *all, const refs_combine_member *member,
                             uint32_t path, refs_error *err) {
    const refs_combine_array *piece;
    REFS_TRY(refs_combine__go_on(all->combine, err));
    if (path == REFS_COMBINE_NONE) {
        const box of = whole_box(all, member);
        return do_box(all, &of, COVER, err);
    }
    for (size_t k = 0; (piece = refs_combine__piece(member, path, k)) != NULL; k++) {
        const refs_combine_place at = {member, piece};
        const box of = piece_box(all, &at);
        const refs_combine_holes *holes = all->are_whole ? NULL : piece->holes;
        REFS_TRY(number_piece(all, at, err));
        REFS_TRY(do_holes(all, member, holes, MARK_HOLE, err));
        REFS_TRY(do_box(all, &of, COVER, err));
        REFS_TRY(do_holes(all, member, holes, UNMARK_HOLE, err));
    }
    return REFS_OK;
}

refs_status refs_combine__cells_open(refs_combine_cells *all, const refs_combine_plan *plan,
                                     uint32_t path, refs_error *err) {
    const refs_combine *combine = all->combine;
    for (size_t i = 0; i < all->n_concat; i++) {
        REFS_TRY(add_cut(&all->cuts[i], 0, err));
        REFS_TRY(add_cut(&all->cuts[i], plan->concat_dims[all->concat[i]].n, err));
    }
    for (size_t i = 0; i < combine->n_parts; i++)
        REFS_TRY(do_member(all, &combine->members[i], path, err));
    all->n = 1;
    for (size_t i = 0; i < all->n_concat; i++) {
        sort_cuts(&all->cuts[i]);
        if (!refs_mul_size(all->n, all->cuts[i].n - 1, &all->n)) all->n = SIZE_MAX;
    }
    if (all->n > MAX_CELLS && all->n_concat > 1) return REFS_OK;
    all->covered = refs_calloc(all->n + 1, 1);
    if (all->wants_owners) all->owners = refs_calloc(all->n + 1, sizeof *all->owners);
    if (all->covered == NULL || (all->wants_owners && all->owners == NULL))
        return refs_fail_nomem(err);
    all->n_pieces = 0;
    for (size_t i = 0; i < combine->n_parts; i++)
        REFS_TRY(
            do_member(all, &combine->members[all->wants_owners ? plan->order[i] : i], path, err));
    for (size_t cell = 0; cell < all->n; cell++) all->n_missing += all->covered[cell] == 0;
    return REFS_OK;
}

void refs_combine__cells_clear(refs_combine_cells *all) {
    for (size_t i = 0; i < all->n_concat; i++) refs_free(all->cuts[i].at);
    refs_free(all->covered);
    refs_free(all->owners);
    refs_free(all->pieces);
}

/* -- parts that are no tiles ------------------------------------------------------------------- */

refs_combine_steps refs_combine__extent(const refs_combine_axis *axis) {
    const uint64_t *order = axis->by_position;
    if (axis->n == 0) return (refs_combine_steps){0, 0};
    return (refs_combine_steps){axis->position[order != NULL ? order[0] : 0],
                                axis->position[order != NULL ? order[axis->n - 1] : axis->n - 1] +
                                    1};
}

static refs_combine_steps extent_of(const refs_combine_cells *all, uint32_t path, size_t number) {
    const refs_combine_member *member = &all->combine->members[number];
    const bool has_it = path == REFS_COMBINE_NONE || refs_combine__find(member, path) != NULL;
    return has_it ? refs_combine__extent(&member->axes[all->concat[0]])
                  : (refs_combine_steps){0, 0};
}

static bool is_several(const refs_combine_cells *all, refs_combine_steps extent) {
    return extent.begin < extent.end && refs_combine__cell_at(&all->cuts[0], extent.begin) + 1 !=
                                            refs_combine__cell_at(&all->cuts[0], extent.end);
}

/* Finds a part that divides another one into several cells: both have steps in the same interval,
 * and mostly different numbers of them. */
static size_t find_cutting(const refs_combine_cells *all, uint32_t path, size_t number) {
    const refs_combine_member *members = all->combine->members;
    const refs_combine_steps cut = extent_of(all, path, number);
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < all->combine->n_parts; i++) {
        const refs_combine_steps other = extent_of(all, path, i);
        if (i == number || other.begin >= cut.end || other.end <= cut.begin) continue;
        if (found == SIZE_MAX) found = i;
        if (other.begin != cut.begin || other.end != cut.end ||
            members[i].axes[all->concat[0]].n != members[number].axes[all->concat[0]].n)
            return i;
    }
    return found;
}

bool refs_combine__find_across(const refs_combine_cells *all, uint32_t path, size_t members[2]) {
    size_t i = 0;
    while (i < all->combine->n_parts && !is_several(all, extent_of(all, path, i))) i++;
    const size_t other = i < all->combine->n_parts ? find_cutting(all, path, i) : SIZE_MAX;
    if (other == SIZE_MAX) return false;
    members[0] = i < other ? i : other;
    members[1] = i < other ? other : i;
    return true;
}

/* -- missing cells ----------------------------------------------------------------------------- */

typedef struct listing {
    const refs_combine_cells *cells;
    refs_combine_steps made[REFS_COMBINE_MAX_DIMS]; /* box so far, along the first dimensions */
    refs_buf *boxes;
} listing;

/* Merges uncovered cells into boxes, from dimension `i` and cell `cell` on. Equal neighbours are
 * merged, so boxes depend only on what is missing. */
static refs_status list_boxes(listing *to, size_t i, size_t cell, refs_error *err) {
    const refs_combine_cells *all = to->cells;
    if (i == all->n_concat)
        return all->covered[cell]
                   ? REFS_OK
                   : refs_buf_append(to->boxes, to->made, all->n_concat * sizeof *to->made, err);
    const refs_combine_cuts *cuts = &all->cuts[i];
    size_t size = 1;
    for (size_t k = i + 1; k < all->n_concat; k++) size *= all->cuts[k].n - 1;
    for (size_t begin = 0, end; begin + 1 < cuts->n; begin = end) {
        const uint8_t *slab = all->covered + cell + begin * size;
        end = begin + 1;
        while (end + 1 < cuts->n && memcmp(slab, slab + (end - begin) * size, size) == 0) end++;
        to->made[i] = (refs_combine_steps){cuts->at[begin], cuts->at[end]};
        REFS_TRY(list_boxes(to, i + 1, cell + begin * size, err));
    }
    return REFS_OK;
}

refs_status refs_combine__missing_boxes(const refs_combine_cells *all, refs_buf *boxes,
                                        refs_error *err) {
    listing to = {.cells = all, .boxes = boxes};
    return all->n_missing > 0 ? list_boxes(&to, 0, 0, err) : REFS_OK;
}
