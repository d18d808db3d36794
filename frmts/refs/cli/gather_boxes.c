/* gather_boxes.c -- holds coordinates to what refs index asks of them; see gather.h. */
#include "gather.h"

#include <string.h>

#include "refs/combine_aggregate.h"

/* What refs_join compares of a field: the axes along which there are several slices. */
typedef struct boxes {
    gathering *all;
    gather_field *of;
    refs_join *join;
    size_t n_lines, line[REFS_MAX_RANK];
    const char *dims[REFS_MAX_RANK + 1];
    refs_str units[REFS_MAX_RANK];
    gather_slice read[REFS_MAX_RANK]; /* of a part that does not have the field */
} boxes;

static void find_lines(boxes *to) {
    for (size_t d = 0; d < to->of->rank; d++) {
        const gather_axis *along = &to->of->axes[d];
        if (along->n < 2 || along->coordinate == SIZE_MAX) continue;
        to->units[to->n_lines] =
            gather_wanted_units(to->all, &gather_array_of(to->all, 0, along->coordinate)->variable)
                .units;
        to->dims[to->n_lines] = along->name;
        to->line[to->n_lines++] = d;
    }
}

/* Of fields that have the same dimensions, what is missing is told once. */
static bool is_first_along(const boxes *to) {
    const gather_field *of = NULL;
    size_t d;
    for (size_t i = 0; i < to->n_lines; i++) {
        (void)gather_find_axis(to->all, to->dims[i], &of, &d);
        if (of == to->of) return true;
    }
    return false;
}

/* Whether the master that is added to is cut along all of them, too: it may have holes. */
static bool is_cut_in_master(const boxes *to) {
    const size_t m = to->all->names.n;
    const size_t i =
        to->all->has_master ? tool_arrays_find(&to->all->parts[m].arrays, to->of->path) : SIZE_MAX;
    const refs_array_meta *meta = i != SIZE_MAX ? to->all->parts[m].arrays.metas[i] : NULL;
    if (meta == NULL || meta->aggregation == NULL || meta->rank != to->of->rank) return false;
    for (size_t k = 0; k < to->n_lines; k++)
        if (gather_end_of_partition(meta, to->line[k], 0) >= meta->shape[to->line[k]]) return false;
    return true;
}

static refs_status add_box(boxes *to, size_t p, const char *name, const gather_slice *const *slices,
                           refs_error *err) {
    refs_join_box box = {.name = name, .number = p};
    for (size_t k = 0; k < to->n_lines; k++) {
        box.sides[k].values = slices[k]->values;
        box.sides[k].n = slices[k]->size;
        box.sides[k].units = to->units[k];
    }
    return refs_join_add_box(to->join, &box, err);
}

static refs_status add_boxes_of_members(boxes *to, refs_error *err) {
    const gather_slice *slices[REFS_MAX_RANK];
    for (size_t m = 0; m < to->of->n; m++) {
        const gather_member *from = &to->of->members[m];
        for (size_t k = 0; k < to->n_lines; k++)
            slices[k] = &to->of->axes[to->line[k]].slices[from->slices[to->line[k]]];
        REFS_TRY(add_box(to, from->part, to->all->names.items[from->part], slices, err));
    }
    return REFS_OK;
}

static refs_status add_box_of(boxes *to, size_t p, refs_error *err) {
    const gather_slice *slices[REFS_MAX_RANK];
    for (size_t k = 0; k < to->n_lines; k++) {
        const gather_axis *along = &to->of->axes[to->line[k]];
        const refs_cfa_array *array =
            gather_array_of(to->all, p, gather_coordinate_of(to->all, p, along->path));
        if (array->variable.rank != 1) return REFS_OK;
        to->read[k] = (gather_slice){.size = array->shape[0]};
        REFS_TRY(gather_read_values(to->all, along, p, &to->read[k], err));
        slices[k] = &to->read[k];
    }
    return add_box(to, p, to->all->names.items[p], slices, err);
}

static refs_status add_boxes_without_field(boxes *to, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t p = 0; p < to->all->names.n && status == REFS_OK; p++) {
        if (gather_is_filler(to->all, p) || gather_is_outline(to->all, p) ||
            gather_has_field(to->of, p) || !gather_has_axes(to->all, to->of, p))
            continue;
        status = add_box_of(to, p, err);
        for (size_t k = 0; k < to->n_lines; k++) {
            refs_free(to->read[k].values);
            to->read[k].values = NULL;
        }
    }
    return status;
}

/* Steps that nothing but the master or an outline has, beside the first member's along other
 * dimensions. */
static refs_status add_boxes_of_gaps(boxes *to, refs_error *err) {
    const gather_slice *slices[REFS_MAX_RANK];
    for (size_t gap = 0; gap < to->n_lines; gap++) {
        const gather_axis *along = &to->of->axes[to->line[gap]];
        for (size_t i = 0; i < along->n; i++) {
            if (!along->slices[i].is_gap) continue;
            for (size_t k = 0; k < to->n_lines; k++) {
                const size_t d = to->line[k];
                slices[k] = k == gap ? &along->slices[i]
                                     : &to->of->axes[d].slices[to->of->members[0].slices[d]];
            }
            const size_t p = along->slices[i].teller;
            REFS_TRY(add_box(to, p, gather_name_of(to->all, p), slices, err));
        }
    }
    return REFS_OK;
}

static refs_status add_boxes(boxes *to, refs_error *err) {
    REFS_TRY(add_boxes_of_members(to, err));
    REFS_TRY(add_boxes_without_field(to, err));
    return add_boxes_of_gaps(to, err);
}

refs_status gather_check_boxes(gathering *all, gather_field *of, refs_error *err) {
    boxes to = {.all = all, .of = of};
    refs_join_options options = REFS_JOIN_OPTIONS_INIT;
    find_lines(&to);
    if (of->is_named || to.n_lines == 0) return REFS_OK;
    options.dims = to.dims;
    if (all->arguments->along.n == 0 && !of->are_numbered && !is_cut_in_master(&to))
        options.dims_are = REFS_JOIN_GUESSED;
    if (!all->arguments->quiet && is_first_along(&to))
        options.notes = (refs_notes){tool_note, NULL};
    REFS_TRY(refs_join_open(&options, &to.join, err));
    refs_status status = add_boxes(&to, err);
    if (status == REFS_OK) status = refs_join_check_boxes(to.join, err);
    refs_join_free(to.join);
    return status;
}
