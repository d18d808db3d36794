/* no_dims.c -- says why parts have no concat dimension. */
#include "dim_search.h"

/* Most names in a message. */
#define MAX_SHOWN 5

/* Lists the variables that another part lacks. */
static refs_status list_variables(const refs_combine *combine,
                                  const refs_combine_member *const members[2], refs_buf *text,
                                  refs_error *err) {
    size_t n = 0;
    REFS_TRY(refs_buf_printf(text, err, "%s has ", members[0]->name));
    for (size_t i = 0; i < members[0]->n_arrays; i++) {
        const refs_combine_array *array = &members[0]->arrays[i];
        if (refs_dims__is_axis(combine, array) ||
            refs_combine__find(members[0], array->path) != array ||
            refs_combine__find(members[1], array->path) != NULL || ++n > MAX_SHOWN)
            continue;
        REFS_TRY(refs_buf_printf(text, err, "%s%.*s", n > 1 ? ", " : "",
                                 REFS_STR_ARG(refs_combine__text(combine, array->path))));
    }
    return refs_buf_printf(text, err, "%s", n == 0 ? "none" : n > MAX_SHOWN ? ", …" : "");
}

/* Two parts compared for the message that no dimension was found. */
typedef struct compared {
    refs_buf times, unknown; /* times that differ, and coordinates that cannot be compared */
    size_t n_axes;           /* number of axes that both have */
} compared;

static refs_status add_name(const refs_combine *combine, const refs_combine_array *array,
                            refs_buf *names, refs_error *err) {
    const bool is_along = !refs_dims__is_axis(combine, array) && array->rank == 1;
    const refs_str dim =
        is_along ? refs_combine__text(combine, array->dims[0]) : refs_str_view("", 0);
    return refs_buf_printf(names, err, "%s%.*s%s%.*s%s", names->size > 0 ? ", " : "",
                           REFS_STR_ARG(refs_combine__text(combine, array->path)),
                           is_along ? " (along " : "", REFS_STR_ARG(dim), is_along ? ")" : "");
}

static refs_status compare_named(const refs_combine *combine, const refs_combine_array *a,
                                 const refs_combine_array *b, compared *lists, refs_error *err) {
    const bool is_one_axis = refs_dims__is_axis(combine, a),
               are_axes = is_one_axis && refs_dims__is_axis(combine, b);
    const bool are_known = refs_dims__is_known(a) && refs_dims__is_known(b);
    lists->n_axes += are_axes;
    if (is_one_axis != refs_dims__is_axis(combine, b) || (are_axes && !are_known))
        return add_name(combine, a, &lists->unknown, err);
    const bool are_times = !are_axes && are_known && refs_combine__is_instant(a->coordinate) &&
                           refs_combine__is_instant(b->coordinate);
    return are_times && !refs_combine__have_one_value(combine, a, b)
               ? add_name(combine, a, &lists->times, err)
               : REFS_OK;
}

static refs_status fail_between(const refs_combine_member *const members[2], const compared *lists,
                                const char *along, refs_error *err) {
    const char *one = members[0]->name, *other = members[1]->name;
    const refs_buf *times = &lists->times, *unknown = &lists->unknown;
    if (unknown->size > 0)
        return refs_fail(
            err, REFS_INVALID,
            "coordinates of %s and %s cannot be compared (%.*s): name the concat dimension (%s)",
            one, other, (int)unknown->size, (const char *)unknown->data, along);
    if (times->size > 0)
        return refs_fail(err, REFS_INVALID,
                         "%s and %s differ in %.*s, but not in the coordinate of a dimension: name "
                         "the concat dimension (%s)",
                         one, other, (int)times->size, (const char *)times->data, along);
    return refs_fail(
        err, REFS_INVALID,
        lists->n_axes > 0
            ? "the coordinates of %s and %s are the same: name the concat dimension (%s)"
            : "%s and %s have no coordinate in common: name the concat dimension (%s)",
        one, other, along);
}

refs_status refs_dims__fail_without_variable(const refs_combine *combine,
                                             const refs_combine_member *const members[2],
                                             const char *along, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_combine_member *const other_way[2] = {members[1], members[0]};
    REFS_TRY(list_variables(combine, members, &text, err));
    REFS_TRY(refs_buf_printf(&text, err, ", "));
    REFS_TRY(list_variables(combine, other_way, &text, err));
    return refs_fail(err, REFS_INVALID,
                     "no variable in common: %.*s: combine files of one data set, or, if "
                     "they share a grid, name the concat dimension (%s)",
                     (int)text.size, (const char *)text.data, along);
}

/* Scalars that they share, such as grid mappings, only describe others. */
bool refs_dims__share_none(const refs_combine *combine,
                           const refs_combine_member *const members[2]) {
    size_t n[2] = {0, 0};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < members[k]->n_arrays; i++) {
            const refs_combine_array *array = &members[k]->arrays[i];
            if (array->rank == 0 || refs_dims__is_axis(combine, array)) continue;
            if (refs_combine__find(members[1 - k], array->path) != NULL) return false;
            n[k]++;
        }
    return n[0] > 0 && n[1] > 0;
}

refs_status refs_dims__fail_for(const refs_dim_search *all, const char *along, refs_error *err) {
    const refs_combine *combine = all->combine;
    const refs_combine_member *const ends[2] = {&combine->members[0],
                                                &combine->members[combine->n_members - 1]};
    compared lists = {REFS_BUF_INIT, REFS_BUF_INIT, 0};
    refs_status status = REFS_OK;
    if (!all->has_variable || refs_dims__share_none(combine, ends))
        return refs_dims__fail_without_variable(combine, ends, along, err);
    for (size_t i = 0; i < ends[0]->n_arrays && status == REFS_OK; i++) {
        const refs_combine_array *one = &ends[0]->arrays[i];
        const refs_combine_array *other = refs_combine__find(ends[1], one->path);
        if (other != NULL) status = compare_named(combine, one, other, &lists, err);
    }
    if (status == REFS_OK) status = fail_between(ends, &lists, along, err);
    refs_buf_clear(&lists.times);
    refs_buf_clear(&lists.unknown);
    return status;
}
