/* selection.c -- see selection.h. */
#include "selection.h"

#include <string.h>

#include "arrays.h"
#include "refs/cf.h"
#include "refs/dimensions.h"

#define MAX_COORDINATES (64 * REFS_MIB)

size_t tool_name_size(const char *names) {
    const size_t plain = strcspn(names, ",[");
    const char *end = names[plain] == '[' ? strchr(names + plain, ']') : NULL;
    return end != NULL ? (size_t)(end - names) + strcspn(end, ",") : strcspn(names, ",");
}

/* The beginning of the selection, after "["; NULL: none. */
static const char *find_selection(const char *name) {
    const size_t size = strlen(name);
    const char *bracket = strchr(name, '[');
    return bracket != NULL && size > 0 && name[size - 1] == ']' ? bracket + 1 : NULL;
}

bool tool_has_selection(const refs_name_list *variables) {
    for (size_t i = 0; i < variables->n; i++)
        if (find_selection(variables->items[i]) != NULL) return true;
    return false;
}

refs_status tool_selection_check(const refs_name_list *variables, refs_error *err) {
    if (!tool_has_selection(variables)) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "--variables with a selection needs a set as output, because fragments of "
                     "netCDF masters are whole files: choose a name such as all.json or all.parq");
}

/* The coordinates of a source. If one cannot be read, its values are unknown. */
typedef struct selecting {
    tool_arrays arrays;
    refs_error unread; /* failure of the first unreadable one */
} selecting;

static refs_status read_array(tool_arrays *arrays, const refs_array_meta *meta, double *values,
                              refs_error *err) {
    const size_t i = tool_arrays_find(arrays, meta->path);
    if (i == SIZE_MAX) return refs_fail(err, REFS_NOT_FOUND, "%s: cannot be read", meta->path);
    REFS_TRY(tool_arrays_open_array(arrays, i, err));
    return refs_array_read_doubles(arrays->arrays[i], MAX_COORDINATES, values, err);
}

static refs_status read_coordinates(void *user, const refs_array_meta *meta, double *values,
                                    refs_error *err) {
    selecting *of = user;
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = read_array(&of->arrays, meta, values, &problem);
    if (status != REFS_OK && of->unread.status == REFS_OK) of->unread = problem;
    return refs_fail(err, status, "%s", problem.message);
}

/* Adds a cut. Selections of several variables must agree along common dimensions. */
static refs_status add_cut(tool_cuts *cuts, const char *variable, const refs_combine_cut *cut,
                           refs_error *err) {
    for (size_t i = 0; i < cuts->n; i++) {
        const refs_combine_cut *other = &cuts->items[i];
        if (strcmp(other->dim, cut->dim) != 0 || strcmp(other->coordinate, cut->coordinate) != 0)
            continue;
        if (other->first == cut->first && other->n == cut->n && other->size == cut->size)
            return REFS_OK;
        return refs_fail(
            err, REFS_INVALID,
            "--variables %s: expected indices %llu to %llu along %s, as for the variables before "
            "it, found %llu to %llu: select the same, or make two sets",
            variable, (unsigned long long)other->first,
            (unsigned long long)(other->first + other->n - 1), cut->dim,
            (unsigned long long)cut->first, (unsigned long long)(cut->first + cut->n - 1));
    }
    refs_combine_cut *items = refs_calloc(cuts->n + 2, sizeof *items);
    if (items == NULL) return refs_fail_nomem(err);
    if (cuts->n > 0) memcpy(items, cuts->items, cuts->n * sizeof *items);
    refs_free(cuts->items);
    cuts->items = items;
    items[cuts->n] = *cut;
    REFS_TRY(tool_names_add(&cuts->names, refs_str_from(cut->dim), err));
    items[cuts->n].dim = cuts->names.items[cuts->names.n - 1];
    REFS_TRY(tool_names_add(&cuts->names, refs_str_from(cut->coordinate), err));
    items[cuts->n++].coordinate = cuts->names.items[cuts->names.n - 1];
    return REFS_OK;
}

static refs_status add_cuts(const refs_hierarchy *hierarchy, const refs_array_meta *meta,
                            const refs_cf_description *description, tool_cuts *cuts,
                            refs_error *err) {
    for (size_t i = 0; i < description->n_band_axes; i++) {
        const refs_cf_band_axis *axis = &description->band_axes[i];
        for (size_t dim = 0; dim < meta->rank; dim++) {
            const char *name = refs_path_leaf(meta->dims[dim]);
            const refs_array_meta *coordinate = refs_dimension_named(hierarchy, meta, dim);
            const refs_combine_cut cut = {name, coordinate != NULL ? coordinate->path : "",
                                          axis->first, axis->n, meta->shape[dim]};
            if (strcmp(name, axis->name) == 0 && axis->n < meta->shape[dim])
                REFS_TRY(add_cut(cuts, meta->path + 1, &cut, err));
        }
    }
    return REFS_OK;
}

static refs_status select_from(selecting *of, const tool_selected *selected,
                               const refs_notes *notes, tool_cuts *cuts, refs_error *err) {
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    const refs_cf_values values = {.read = read_coordinates, .user = of};
    const refs_hierarchy *hierarchy = of->arrays.set.hierarchy;
    refs_cf_description description = {.x_dim = REFS_CF_NO_DIM};
    const char *name = selected->name;
    while (*name == '/') name++;
    const refs_array_meta *meta = refs_hierarchy_find_array(hierarchy, refs_str_from(name));
    if (meta == NULL)
        return refs_fail(err, REFS_INVALID, "--variables %s[%s]: no variable %s", name,
                         selected->text, name);
    options.values = &values;
    options.selection = selected->text;
    options.notes = *notes;
    refs_status status = refs_cf_describe(hierarchy, meta, &options, &description, err);
    const bool is_unread = status == REFS_NOT_FOUND && of->unread.status != REFS_OK;
    cuts->is_none = status == REFS_NOT_FOUND && !is_unread;
    if (is_unread) status = refs_fail(err, of->unread.status, "%s", of->unread.message);
    if (status != REFS_OK) refs_error_prefix(err, "--variables %s", name);
    if (status == REFS_OK) status = add_cuts(hierarchy, meta, &description, cuts, err);
    refs_cf_description_clear(&description);
    return status;
}

static refs_status select_all(selecting *of, const tool_selection *selection, tool_cuts *cuts,
                              refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = REFS_OK;
    if (selection->recorded_by != NULL && !refs_set_is_file(of->arrays.set.set)) return REFS_OK;
    for (size_t i = 0; i < selection->n && status == REFS_OK; i++)
        status = select_from(of, &selection->items[i], &selection->notes, cuts, &problem);
    if (status == REFS_OK || selection->recorded_by == NULL)
        return refs_fail(err, status, "%s", problem.message);
    return refs_fail(err, status,
                     "%s: %s was made with this selection: repeat --variables with the selection "
                     "for the new sources",
                     problem.message, selection->recorded_by);
}

refs_status tool_select(const tool_session *session, const char *source,
                        const tool_selection *selection, tool_cuts *cuts, refs_error *err) {
    selecting of = {.unread = REFS_ERROR_INIT};
    refs_status status = tool_arrays_open(session, source, &of.arrays, err);
    if (status == REFS_OK) {
        status = select_all(&of, selection, cuts, err);
        if (status != REFS_OK && !cuts->is_none) refs_error_prefix(err, "%s", source);
    }
    tool_arrays_close(&of.arrays);
    const bool is_none = cuts->is_none;
    if (status != REFS_OK) tool_cuts_clear(cuts);
    cuts->is_none = is_none;
    return status;
}

void tool_cuts_clear(tool_cuts *cuts) {
    tool_names_clear(&cuts->names);
    refs_free(cuts->items);
    *cuts = (tool_cuts){.items = NULL};
}

refs_status tool_selection_take(refs_name_list *variables, tool_selection *selection,
                                refs_error *err) {
    REFS_NEW(selection->items, variables->n + 1, err);
    for (size_t i = 0; i < variables->n; i++) {
        const char *item = variables->items[i], *text = find_selection(item);
        if (text == NULL) continue;
        tool_selected *one = &selection->items[selection->n++];
        one->name = refs_str_copy(refs_str_view(item, (size_t)(text - 1 - item)));
        one->text = refs_str_copy(refs_str_view(text, strlen(text) - 1));
        if (one->name == NULL || one->text == NULL) return refs_fail_nomem(err);
        variables->items[i] = one->name;
    }
    return REFS_OK;
}

void tool_selection_clear(tool_selection *selection) {
    for (size_t i = 0; i < selection->n; i++) {
        refs_free(selection->items[i].name);
        refs_free(selection->items[i].text);
    }
    refs_free(selection->items);
    *selection = (tool_selection){.items = NULL};
}
