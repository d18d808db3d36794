/* aggregate.c -- writes an aggregation whose fragments are the parts, see refs/combine.h.
 *
 * Here a fragment is an array of a part, whatever its chunks are: the parts are boxes of one
 * grid. */
#include <stdlib.h>

#include "combine_internal.h"
#include "refs/attribute_class.h"
#include "refs/cf.h"
#include "refs/cfa/cfa.h"
#include "refs/fragment_grid.h"
#include "refs/own_attributes.h"
#include "refs/utf8.h"

typedef struct aggregating {
    refs_combine *combine;
    const refs_combine_plan *plan;
    refs_master *master;
    char **urls;                        /* one for each member */
    const refs_combine_member **owners; /* members of the fragments of the current array */
    size_t n_fields;                    /* written so far */
    refs_buf unlimited;                 /* refs_combine__list_unlimited */
    refs_buf path, text;
} aggregating;

/* -- fragments along dimensions ---------------------------------------------------------------- */

/* A concat dimension of an array, divided into intervals, which include gaps. */
typedef struct cutting {
    const refs_combine *combine;
    uint32_t path;
    size_t dim, concat;
    refs_fragment_dim *into;
    refs_buf edges; /* positions where gaps are divided */
} cutting;

static int by_edge(const void *left, const void *right) {
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static refs_status check_steps(const cutting *at, const refs_combine_member *member,
                               refs_error *err) {
    const refs_combine_axis *axis = &member->axes[at->concat];
    if (refs_combine__find(member, at->path) == NULL) return REFS_OK;
    uint64_t k = 1;
    while (k < axis->n && axis->position[k] == axis->position[0] + k) k++;
    if (k >= axis->n) return REFS_OK;
    REFS_TRY(refs_combine__check_direction(at->combine, member, at->concat, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: cannot be one fragment: its steps along %s are not ascending, or steps "
                     "of other sources lie between them",
                     member->name, at->combine->options.dims[at->concat]);
}

static size_t first_behind(const uint64_t *edges, size_t n, uint64_t position) {
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (edges[middle] <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Divides a gap at the edges of existing fragments. */
static refs_status add_gap(const cutting *at, uint64_t begin, uint64_t end, refs_error *err) {
    const uint64_t *edges = (const uint64_t *)(const void *)at->edges.data;
    const size_t n = at->edges.size / sizeof *edges;
    for (size_t i = first_behind(edges, n, begin); i < n && edges[i] < end; i++) {
        if (edges[i] == begin) continue;
        REFS_TRY(refs_fragment_dim_append(at->into, edges[i] - begin, err));
        begin = edges[i];
    }
    return begin < end ? refs_fragment_dim_append(at->into, end - begin, err) : REFS_OK;
}

static refs_status add_edge(cutting *at, uint64_t position, uint64_t behind, refs_error *err) {
    const uint64_t edge = position + behind;
    return position != REFS_COMBINE_NOWHERE ? refs_buf_append(&at->edges, &edge, sizeof edge, err)
                                            : REFS_OK;
}

static refs_status add_entry_edges(cutting *at, const refs_combine_member *member,
                                   const refs_combine_entry *entry, refs_error *err) {
    const refs_combine_axis *axis = &member->axes[at->concat];
    for (size_t dim = 0; dim < entry->array.rank; dim++) {
        if (refs_combine__concat_dim_of(at->combine, &entry->array, dim) != at->concat) continue;
        for (size_t i = 0; i < entry->grid.dims[dim].n_intervals; i++) {
            const refs_fragment_interval *interval = &entry->grid.dims[dim].intervals[i];
            if (interval->end > axis->n) break;
            REFS_TRY(add_edge(at, axis->position[interval->begin], 0, err));
            REFS_TRY(add_edge(at, axis->position[interval->end - 1], 1, err));
        }
    }
    return REFS_OK;
}

static refs_status find_edges(cutting *at, refs_error *err) {
    const refs_combine *combine = at->combine;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_axis *axis = &member->axes[at->concat];
        const refs_combine_entry *entry = refs_combine__find_entry(member, at->path);
        if (entry != NULL) REFS_TRY(add_entry_edges(at, member, entry, err));
        if (member->role != REFS_COMBINE_IS_FRAGMENT || axis->n == 0) continue;
        REFS_TRY(add_edge(at, axis->position[0], 0, err));
        REFS_TRY(add_edge(at, axis->position[axis->n - 1], 1, err));
    }
    if (at->edges.size > 0)
        qsort(at->edges.data, at->edges.size / sizeof(uint64_t), sizeof(uint64_t), by_edge);
    return REFS_OK;
}

static refs_status fail_overlap(const cutting *at, const size_t members[2], refs_error *err) {
    const refs_combine *combine = at->combine;
    const refs_combine_member *one = &combine->members[members[0]],
                              *other = &combine->members[members[1]];
    const refs_combine_axis *axes[2] = {&one->axes[at->concat], &other->axes[at->concat]};
    if (axes[0]->position[0] == axes[1]->position[0])
        return refs_fail(err, REFS_INVALID,
                         "%s: fragments differ from those of %s along %s: expected equal lengths "
                         "at one start, found %llu and %llu",
                         other->name, one->name, combine->options.dims[at->concat],
                         (unsigned long long)axes[1]->n, (unsigned long long)axes[0]->n);
    return refs_fail(err, REFS_INVALID, "%s and %s overlap along %s: leave one out", one->name,
                     other->name, combine->options.dims[at->concat]);
}

static refs_status add_cells(const cutting *at, const refs_combine_cells *cells, refs_error *err) {
    const uint64_t *edges = cells->cuts[0].at;
    if (cells->n == 0) return refs_fragment_dim_append(at->into, 0, err);
    for (size_t i = 0; i < cells->n; i++)
        REFS_TRY(cells->covered[i]
                     ? refs_fragment_dim_append(at->into, edges[i + 1] - edges[i], err)
                     : add_gap(at, edges[i], edges[i + 1], err));
    return REFS_OK;
}

static refs_status cut_by_parts(cutting *at, const refs_combine_plan *plan, refs_error *err) {
    const refs_combine *combine = at->combine;
    REFS_SCOPED_BY(refs_combine__cells_clear)
    refs_combine_cells cells = {
        .combine = combine, .n_concat = 1, .concat = {at->concat}, .are_whole = true};
    size_t members[2];
    for (size_t i = 0; i < combine->n_parts; i++)
        REFS_TRY(check_steps(at, &combine->members[i], err));
    REFS_TRY(find_edges(at, err));
    REFS_TRY(refs_combine__cells_open(&cells, plan, at->path, err));
    if (refs_combine__find_across(&cells, at->path, members))
        REFS_TRY(fail_overlap(at, members, err));
    return add_cells(at, &cells, err);
}

static refs_status cut_as(const refs_fragment_dim *other, refs_fragment_dim *into,
                          refs_error *err) {
    for (size_t i = 0; i < other->n_intervals; i++)
        REFS_TRY(refs_fragment_dim_append(into, other->intervals[i].end - other->intervals[i].begin,
                                          err));
    return REFS_OK;
}

static refs_status find_intervals(const refs_combine_plan *plan, cutting *at, refs_error *err) {
    const refs_combine_numbers *numbers = refs_combine__numbers_of(at->combine, at->path);
    if (numbers != NULL) return cut_as(&numbers->dims[at->dim], at->into, err);
    const refs_status status = cut_by_parts(at, plan, err);
    refs_buf_clear(&at->edges);
    return status;
}

/* A field that is written, and its fragments. */
typedef struct field {
    refs_combine_result *result;
    refs_fragment_grid grid;
} field;

static refs_status name_files(aggregating *at, refs_error *err) {
    REFS_NEW(at->urls, at->combine->n_members, err);
    for (size_t i = 0; i < at->combine->n_members; i++) {
        const refs_combine_member *member = &at->combine->members[i];
        at->text.size = 0;
        if (member->fragment != NULL)
            REFS_TRY(refs_buf_append_str(&at->text, refs_str_from(member->fragment), err));
        else
            REFS_TRY(refs_combine_url(&at->combine->options.urls, refs_str_from(member->name),
                                      &at->text, err));
        const refs_str url = refs_buf_text(&at->text);
        if (!refs_utf8_is_valid(url))
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%.*s: expected UTF-8, as netCDF requires for names: rename it",
                             REFS_STR_ARG(url));
        if ((at->urls[i] = refs_str_copy(url)) == NULL) return refs_fail_nomem(err);
    }
    return REFS_OK;
}

/* -- variables --------------------------------------------------------------------------------- */

/* The declaration of a variable in the master. */
typedef struct described {
    refs_cfa_variable variable;
    const char *dims[REFS_MAX_RANK];
    refs_buf names; /* names of dimensions, each with a NUL */
    refs_json_doc *attributes;
    uint8_t fill[16];
} described;

static void clear(described *of) {
    refs_buf_clear(&of->names);
    refs_json_doc_free(of->attributes);
}

static refs_str dim_text(const refs_combine *combine, const refs_combine_result *result,
                         size_t dim) {
    const size_t own = refs_combine__own_dim(result, result->like, dim);
    return refs_combine__text(combine, own == SIZE_MAX ? combine->dims[result->concat[dim]]
                                                       : result->like->dims[own]);
}

static refs_cfa_growth growth_of(const aggregating *at, refs_str group, refs_str name) {
    return refs_combine__is_unlimited(&at->unlimited, group, name) ? REFS_CFA_UNLIMITED
                                                                   : REFS_CFA_FIXED;
}

/* Declares a dimension of a group, "" or "forecast/". */
static refs_status put_dim_of(aggregating *at, refs_str group, refs_str name, uint64_t size,
                              refs_error *err) {
    at->text.size = 0;
    REFS_TRY(refs_buf_printf(&at->text, err, "/%.*s%.*s", (int)group.size, group.data,
                             REFS_STR_WHOLE(name)));
    return refs_master_dimension(at->master, (const char *)at->text.data, size,
                                 growth_of(at, group, name), err);
}

/* The innermost group, this one or one above it, that declares a dimension as unlimited. Declared
 * in the root, it would seem to be that of all variables. */
static refs_str home_of(const aggregating *at, refs_str group, refs_str name) {
    while (group.size > 0 && growth_of(at, group, name) == REFS_CFA_FIXED)
        group = refs_path_folder(refs_str_part(group, 0, group.size - 1));
    return group;
}

/* Declares a dimension in the root, or an unlimited one in its group. If that group, or one in
 * between, has one of the same name and another size, declares it in the group of the variable. */
static refs_status put_dim(aggregating *at, refs_str path, refs_str name, uint64_t size,
                           refs_error *err) {
    const refs_str group = refs_path_folder(path);
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = put_dim_of(at, home_of(at, group, name), name, size, &problem);
    at->text.size = 0;
    REFS_TRY(refs_buf_printf(&at->text, err, "/%.*s%.*s", (int)group.size, group.data,
                             REFS_STR_WHOLE(name)));
    if (status == REFS_OK &&
        refs_master_finds_dimension(at->master, (const char *)at->text.data, size))
        return REFS_OK;
    return put_dim_of(at, group, name, size, err);
}

static refs_str attributes_of(const aggregating *at, const refs_combine_result *result) {
    return result->like->attributes != REFS_COMBINE_NONE
               ? refs_combine__text(at->combine, result->like->attributes)
               : refs_str_from("{}");
}

/* Whether an attribute refers to the units or the packing before the conversion. */
static bool is_of_stored(refs_str name) {
    return refs_cf_is_attribute_of(name, REFS_CF_PACKING | REFS_CF_VALID | REFS_CF_ACTUAL |
                                             REFS_CF_FLAG_NUMBERS);
}

/* Appends an object with the `units` of the options. */
static refs_status replace_units(const aggregating *at, refs_str attributes, refs_buf *text,
                                 refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(attributes, &doc, err));
    const refs_json *all = refs_json_root(doc);
    refs_status status = refs_buf_append(text, "{", 1, err);
    for (size_t i = 0; i < refs_json_size(all) && status == REFS_OK; i++) {
        const refs_str name = refs_json_name_at(all, i);
        if (is_of_stored(name)) continue;
        REFS_TRY(refs_json_write_name(name, text, err));
        status =
            refs_str_is(name, "units")
                ? refs_json_write_string(refs_str_from(at->combine->options.time_units), text, err)
                : refs_json_write(refs_json_at(all, i), text, err);
    }
    return status == REFS_OK ? refs_buf_append(text, "}", 1, err) : status;
}

static refs_status read_attributes(aggregating *at, const refs_combine_result *result,
                                   described *of, refs_error *err) {
    refs_str text = attributes_of(at, result);
    const char *pairs[REFS_COMBINE_MAX_LEFT_OUT + 1];
    size_t n = refs_combine__left_out(result, pairs);
    const bool has_own_units = refs_combine__has_own_units(at->combine, at->plan, result);
    pairs[n] = NULL;
    at->text.size = 0;
    if (has_own_units) REFS_TRY(replace_units(at, text, &at->text, err));
    if (!has_own_units && n > 0) REFS_TRY(refs_combine__replace(text, pairs, &at->text, err));
    if (at->text.size > 0) text = refs_buf_text(&at->text);
    return refs_json_parse(text, &of->attributes, err);
}

static refs_status describe(aggregating *at, const refs_combine_result *result, described *of,
                            refs_error *err) {
    const refs_combine *combine = at->combine;
    *of = (described){.names = REFS_BUF_INIT};
    at->path.size = 0;
    REFS_TRY(refs_buf_printf(&at->path, err, "/%.*s",
                             REFS_STR_WHOLE(refs_combine__text(combine, result->path))));
    for (size_t dim = 0; dim < result->rank; dim++) {
        const refs_str name = refs_path_last(dim_text(combine, result, dim));
        REFS_TRY(
            put_dim(at, refs_combine__text(combine, result->path), name, result->shape[dim], err));
        REFS_TRY(refs_buf_printf(&of->names, err, "%.*s", REFS_STR_WHOLE(name)));
        REFS_TRY(refs_buf_append(&of->names, "", 1, err));
    }
    (void)refs_texts_point((const char *)of->names.data, result->rank, of->dims);
    REFS_TRY(read_attributes(at, result, of, err));
    of->variable = (refs_cfa_variable){.path = (const char *)at->path.data,
                                       .dtype = result->like->dtype,
                                       .rank = result->rank,
                                       .dims = of->dims,
                                       .attributes = refs_json_root(of->attributes),
                                       .keeps_default = result->like->keeps_default};
    if (result->like->declares_fill && !result->drops_stored) {
        memcpy(of->fill, result->like->declared, sizeof of->fill);
        of->variable.fill = of->fill;
    }
    if (result->has_hole_fill) {
        memcpy(of->fill, result->hole, sizeof of->fill);
        of->variable.fill = of->fill;
    }
    return REFS_OK;
}

/* -- values ------------------------------------------------------------------------------------ */

/* Times may have become double or wider integers. */
static void widen_type(const refs_combine_result *result, described *of) {
    uint8_t narrow[16];
    memcpy(narrow, of->fill, sizeof narrow);
    if (refs_combine__widen(&of->variable.dtype, narrow, &result->dtype, of->fill))
        of->variable.dtype = result->dtype;
}

static refs_status put_values(aggregating *at, const refs_combine_result *result, refs_str values,
                              refs_error *err) {
    described of;
    refs_buf strings = REFS_BUF_INIT;
    refs_status status = describe(at, result, &of, err);
    if (status == REFS_OK && result->is_loaded) widen_type(result, &of);
    const bool are_strings = result->like->are_texts || of.variable.dtype.type == REFS_TYPE_BYTES ||
                             of.variable.dtype.type == REFS_TYPE_UNICODE;
    if (are_strings) of.variable.fill = NULL;
    if (status == REFS_OK && result->like->are_texts)
        status = refs_buf_append_str(&strings, values, err);
    else if (status == REFS_OK && are_strings)
        status = refs_combine__append_strings(
            result->is_loaded ? &result->dtype : &of.variable.dtype, values, &strings, err);
    if (status == REFS_OK)
        status = refs_master_variable(
            at->master, &of.variable,
            are_strings ? refs_buf_view(&strings) : refs_bytes_view(values.data, values.size), err);
    refs_buf_clear(&strings);
    clear(&of);
    return status;
}

/* -- fragments --------------------------------------------------------------------------------- */

refs_status refs_combine__name_in_file(const char *group, refs_str path, refs_buf *name,
                                       refs_error *err) {
    size_t size = group != NULL ? strlen(group) : 0;
    while (size > 0 && group[size - 1] == '/') size--;
    while (size > 0 && *group == '/') {
        group++;
        size--;
    }
    const bool is_deep = size > 0 || refs_str_find(path, '/') != SIZE_MAX;
    REFS_TRY(refs_buf_printf(name, err, "%s%.*s%s%.*s", is_deep ? "/" : "", (int)size, group,
                             size > 0 ? "/" : "", REFS_STR_WHOLE(path)));
    return refs_buf_append(name, "", 1, err);
}

/* Whether a part has no element of the array, because some dimension has no step. */
static bool is_empty(const refs_combine_result *result, const refs_combine_member *member) {
    for (size_t dim = 0; dim < result->rank; dim++)
        if (result->concat[dim] < REFS_COMBINE_MAX_DIMS && member->axes[result->concat[dim]].n == 0)
            return true;
    return false;
}

/* The number of the fragment that a part is. */
static uint64_t number_of(const field *of, const refs_combine_member *member) {
    uint64_t number = 0;
    for (size_t dim = 0; dim < of->grid.rank; dim++) {
        const size_t concat = of->result->concat[dim];
        const refs_fragment_dim *along = &of->grid.dims[dim];
        const size_t index = concat < REFS_COMBINE_MAX_DIMS
                                 ? refs_fragment_dim_find(along, member->axes[concat].position[0])
                                 : 0;
        number = number * along->n_parts + index;
    }
    return number;
}

/* Without a coordinate, only the numbers distinguish fragments. */
static refs_status check_numbers(const aggregating *at, const field *of,
                                 const refs_combine_member *owner,
                                 const refs_combine_member *member, refs_error *err) {
    const refs_combine *combine = at->combine;
    const uint32_t path = of->result->path;
    const refs_combine_place one = {owner, refs_combine__find(owner, path)},
                             other = {member, refs_combine__find(member, path)};
    if (!refs_combine__are_numbered_apart(combine, &one, &other)) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%.*s: cannot distinguish %s and %s: expected a coordinate for each "
                     "dimension, or fragments of one split: combine each split on its own",
                     REFS_STR_ARG(refs_combine__text(combine, path)), owner->name, member->name);
}

refs_status refs_combine__fail_nested(const refs_combine *combine, uint32_t path,
                                      const refs_combine_member *member, refs_error *err) {
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s of %s is an aggregation, which cannot be a fragment: combine its source "
                     "files, or write its values to new fragments with refs split",
                     REFS_STR_ARG(refs_combine__text(combine, path)), member->name);
}

static refs_status place_fragment(const aggregating *at, size_t number, uint64_t place, field *of,
                                  refs_error *err) {
    const refs_combine *combine = at->combine;
    const refs_combine_member *member = &combine->members[number];
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(
        refs_combine__name_in_file(member->group != NULL ? member->group : combine->options.group,
                                   refs_combine__text(combine, of->result->path), &name, err));
    const refs_partition fragment = {.file = at->urls[number],
                                     .variable = (const char *)name.data,
                                     .format = member->format != NULL ? member->format : "NETCDF4"};
    at->owners[place] = member;
    return refs_fragment_grid_set(&of->grid, place, &fragment, err);
}

static refs_status fail_shared(const refs_combine *combine, const refs_combine_result *result,
                               const refs_combine_member *owner, const refs_combine_member *member,
                               refs_error *err) {
    const refs_combine_member *const members[2] = {owner, member};
    uint64_t index[REFS_MAX_RANK] = {0};
    for (size_t dim = 0; dim < result->rank; dim++)
        if (result->concat[dim] < REFS_COMBINE_MAX_DIMS)
            index[dim] = member->axes[result->concat[dim]].position[0];
    return refs_combine__fail_twice(combine, result, index, members, err);
}

static refs_status place_members(const aggregating *at, field *of, refs_error *err) {
    const refs_combine *combine = at->combine;
    const refs_combine_result *result = of->result;
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_member *member = &combine->members[i];
        const refs_combine_array *array = refs_combine__find(member, result->path);
        if (array == NULL || (result->n_concat == 0 && i != result->first)) continue;
        if (is_empty(result, member)) continue;
        if (array->is_piece) return refs_combine__fail_nested(combine, result->path, member, err);
        const uint64_t place = number_of(of, member);
        const refs_combine_member *owner = at->owners[place];
        if (owner != NULL && result->n_concat == combine->n_dims)
            return refs_fail(err, REFS_INVALID,
                             "%.*s: %s and %s cover the same region: leave one out, or combine "
                             "them to a set if each has steps that the other lacks",
                             REFS_STR_ARG(refs_combine__text(combine, result->path)),
                             at->urls[owner - combine->members], at->urls[i]);
        if (owner == NULL) {
            REFS_TRY(place_fragment(at, i, place, of, err));
            continue;
        }
        REFS_TRY(check_numbers(at, of, owner, member, err));
        if (!result->is_compared && !refs_combine__have_one_digest(combine, result, owner, member))
            return fail_shared(combine, result, owner, member, err);
    }
    return REFS_OK;
}

static refs_status find_grid(const aggregating *at, field *of, refs_error *err) {
    const refs_combine_result *result = of->result;
    of->grid.rank = result->rank;
    for (size_t dim = 0; dim < result->rank; dim++) {
        refs_fragment_dim *into = &of->grid.dims[dim];
        cutting cut = {.combine = at->combine,
                       .path = result->path,
                       .dim = dim,
                       .concat = result->concat[dim],
                       .into = into};
        REFS_TRY(cut.concat < REFS_COMBINE_MAX_DIMS
                     ? find_intervals(at->plan, &cut, err)
                     : refs_fragment_dim_append(into, result->shape[dim], err));
    }
    return refs_fragment_grid_prepare(&of->grid, err);
}

static refs_status replace_attributes(described *of, const refs_buf *text, refs_error *err) {
    refs_json_doc_free(of->attributes);
    of->attributes = NULL;
    REFS_TRY(refs_json_parse(refs_buf_text(text), &of->attributes, err));
    of->variable.attributes = refs_json_root(of->attributes);
    return REFS_OK;
}

/* Appends one attribute. */
static refs_status add_valid_range(const aggregating *at, const refs_combine_result *result,
                                   const char *bytes, refs_buf *text, refs_error *err) {
    const char *pairs[REFS_COMBINE_MAX_LEFT_OUT + 3];
    size_t n = refs_combine__left_out(result, pairs);
    pairs[n++] = "valid_range";
    pairs[n++] = bytes;
    pairs[n] = NULL;
    return refs_combine__replace(attributes_of(at, result), pairs, text, err);
}

/* An aggregation has the type, fill value and packing that all fragments share; else it is
 * unpacked. */
static refs_status settle_type(aggregating *at, const refs_combine_result *result, described *of,
                               refs_error *err) {
    const refs_combine *combine = at->combine;
    const refs_combine_array **arrays = refs_calloc(combine->n_members, sizeof *arrays);
    size_t n = 0;
    if (arrays == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array != NULL) arrays[n++] = array;
    }
    refs_common_type common = {.dtype = result->like->dtype,
                               .keeps_default = refs_combine__has_only_values(result->like)};
    if (result->n_concat > 0) common = refs_combine__common_type(combine, arrays, n);
    refs_free(arrays);
    if (!common.is_unpacked && result->has_holes && common.dtype.type != REFS_TYPE_FLOAT &&
        refs_combine__has_only_values(result->like))
        common = refs_combine__wider_type(combine, result->like);
    const char *valid = refs_combine__whole_range(combine, result->like);
    of->variable.keeps_default = common.keeps_default;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (common.is_unpacked)
        REFS_TRY(refs_combine__without_packing(of->variable.attributes, &text, err));
    else if (valid != NULL)
        REFS_TRY(add_valid_range(at, result, valid, &text, err));
    if (text.size > 0) REFS_TRY(replace_attributes(of, &text, err));
    if (!common.is_unpacked) return REFS_OK;
    of->variable.dtype = common.dtype;
    refs_combine__missing_element(&common, of->fill);
    of->variable.fill = of->fill;
    return REFS_OK;
}

/* -- missing fragments ------------------------------------------------------------------------- */

/* Whether a manifest says that a fragment was empty, so that it was not written. */
static bool held_nothing(const refs_combine_numbers *numbers, const refs_fragment_grid *grid,
                         uint64_t number) {
    const refs_combine_entry *outline = numbers->outline;
    uint64_t place = 0;
    uint64_t index[REFS_MAX_RANK];
    if (outline == NULL) return false;
    refs_fragment_grid_index(grid, number, index);
    for (size_t dim = 0; dim < numbers->rank; dim++) {
        const uint64_t n = outline->grid.dims[dim].n_parts;
        if (index[dim] >= n) return false;
        place = place * n + index[dim];
    }
    return !outline->grid.sources[place].is_there;
}

static void tell_left_out(const refs_combine *combine, const refs_combine_result *result,
                          const refs_combine_numbers *numbers) {
    for (size_t dim = 0; dim < numbers->rank; dim++) {
        const size_t n = numbers->dims[dim].n_intervals,
                     n_entries = numbers->outline->grid.dims[dim].n_intervals;
        if (n < n_entries)
            refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                      "%.*s: expected %zu fragments along %.*s, found %zu: the last %zu are "
                      "missing in the "
                      "result, add their files to the sources",
                      REFS_STR_ARG(refs_combine__text(combine, result->path)), n_entries,
                      REFS_STR_ARG(refs_combine__text(combine, result->like->dims[dim])), n,
                      n_entries - n);
    }
}

/* Fragments that held only the fill value were not written. Without an outline, gaps in the numbers
 * of file names show that some are missing, except after the last one. */
static void tell_missing(const aggregating *at, const field *of) {
    const refs_combine *combine = at->combine;
    const refs_combine_result *result = of->result;
    const refs_combine_numbers *numbers = refs_combine__numbers_of(combine, result->path);
    const refs_str path = refs_combine__text(combine, result->path);
    size_t n_missing = 0;
    if (numbers == NULL) return;
    for (uint64_t i = 0; i < of->grid.n; i++)
        n_missing += !of->grid.sources[i].is_there && !held_nothing(numbers, &of->grid, i);
    if (n_missing > 0)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  numbers->outline != NULL
                      ? "%.*s: %zu of %zu fragments were written, but are not among the sources: "
                        "their values are missing"
                      : "%.*s: %zu of %zu fragments do not exist: their values are missing (either "
                        "they held only the fill value and were not written, or files are missing)",
                  REFS_STR_ARG(path), n_missing, (size_t)of->grid.n);
    if (numbers->outline != NULL)
        tell_left_out(combine, result, numbers);
    else if (combine->n_parts == combine->n_members)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: its length is that of the existing fragments: trailing fragments that "
                  "held only the fill value were not written, and cannot be detected",
                  REFS_STR_ARG(path));
}

static bool has_gaps(const refs_fragment_grid *grid) {
    for (uint64_t i = 0; i < grid->n; i++)
        if (!grid->sources[i].is_there) return true;
    return false;
}

/* -- fields ------------------------------------------------------------------------------------ */

static refs_status put_grid(aggregating *at, field *of, refs_error *err) {
    refs_combine_result *result = of->result;
    described variable;
    at->owners = refs_calloc((size_t)of->grid.n, sizeof *at->owners);
    refs_status status = describe(at, result, &variable, err);
    if (status == REFS_OK && at->owners == NULL) status = refs_fail_nomem(err);
    if (status == REFS_OK) status = place_members(at, of, err);
    if (status == REFS_OK && at->combine->numbers != NULL) result->has_holes = has_gaps(&of->grid);
    if (status == REFS_OK) status = settle_type(at, result, &variable, err);
    if (status == REFS_OK) tell_missing(at, of);
    if (status == REFS_OK)
        status = refs_master_aggregation(at->master, &variable.variable, &of->grid, err);
    refs_free(at->owners);
    at->owners = NULL;
    clear(&variable);
    return status;
}

static refs_status put_fragments(aggregating *at, refs_combine_result *result, refs_error *err) {
    field of = {.result = result};
    refs_status status = find_grid(at, &of, err);
    if (status == REFS_OK) status = put_grid(at, &of, err);
    refs_fragment_grid_clear(&of.grid);
    return status;
}

/* -- fields without a fragment ----------------------------------------------------------------- */

/* A field of a part with concat dimension `concat` as dimension *dim; or NULL. */
static const refs_combine_array *field_along(const refs_combine *combine, size_t concat,
                                             size_t *dim) {
    for (size_t i = 0; i < combine->n_parts; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            for (*dim = 0; array->is_field && *dim < array->rank; ++*dim)
                if (refs_combine__concat_dim_of(combine, array, *dim) == concat) return array;
        }
    return NULL;
}

/* Divides a field without fragments as the manifest lists them, or like other fields along
 * dimensions that have grown since. */
static refs_status cut_nothing(const aggregating *at, const refs_combine_entry *entry, size_t dim,
                               refs_fragment_dim *into, refs_error *err) {
    const refs_combine *combine = at->combine;
    const size_t concat = refs_combine__concat_dim_of(combine, &entry->array, dim);
    const bool is_concat = concat < REFS_COMBINE_MAX_DIMS;
    const uint64_t length = is_concat ? at->plan->concat_dims[concat].n : entry->array.shape[dim];
    cutting cut = {.combine = combine, .concat = concat, .into = into};
    const refs_combine_array *other = is_concat ? field_along(combine, concat, &cut.dim) : NULL;
    if (length != entry->array.shape[dim] && other != NULL) {
        cut.path = other->path;
        return find_intervals(at->plan, &cut, err);
    }
    if (length != entry->array.shape[dim] || entry->grid.dims[dim].n_intervals == 0)
        return refs_fragment_dim_append(into, length, err);
    return cut_as(&entry->grid.dims[dim], into, err);
}

static refs_status put_entry_grid(aggregating *at, const refs_combine_entry *entry, field *of,
                                  refs_error *err) {
    refs_combine_result *result = of->result;
    described variable;
    of->grid.rank = result->rank;
    for (size_t dim = 0; dim < result->rank; dim++) {
        refs_fragment_dim *into = &of->grid.dims[dim];
        REFS_TRY(cut_nothing(at, entry, dim, into, err));
        result->concat[dim] = refs_combine__concat_dim_of(at->combine, &entry->array, dim);
        result->shape[dim] = refs_fragment_dim_end(into);
    }
    REFS_TRY(refs_fragment_grid_prepare(&of->grid, err));
    refs_status status = describe(at, result, &variable, err);
    if (status == REFS_OK)
        status = refs_master_aggregation(at->master, &variable.variable, &of->grid, err);
    clear(&variable);
    return status;
}

/* Writes a field without fragments. If it had fragments, and none is a source, it is left out. */
static refs_status put_entry(aggregating *at, const refs_combine_member *member,
                             const refs_combine_entry *entry, refs_error *err) {
    refs_combine_result result = {
        .path = entry->array.path, .like = &entry->array, .rank = entry->array.rank};
    field of = {.result = &result};
    if (entry->has_fragments) {
        refs_note(&at->combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: left out: none of its fragments that %s lists is a source",
                  REFS_STR_ARG(refs_combine__text(at->combine, entry->array.path)), member->name);
        return REFS_OK;
    }
    at->n_fields++;
    const refs_status status = put_entry_grid(at, entry, &of, err);
    refs_fragment_grid_clear(&of.grid);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

static bool has_values(const refs_combine_result *result) {
    return result->n_concat == 0 && result->like->values != REFS_COMBINE_NONE &&
           !result->like->is_field;
}

/* Whether values can be read from fragments; not datetime64 and timedelta64, whose units are part
 * of the type. */
static bool can_be_fragments(const refs_dtype *dtype) {
    return refs_dtype_is_numeric(dtype) && dtype->type != REFS_TYPE_COMPLEX &&
           dtype->type != REFS_TYPE_DATETIME && dtype->type != REFS_TYPE_TIMEDELTA;
}

static refs_status fail_type(const aggregating *at, const refs_combine_result *result,
                             refs_error *err) {
    char dtype[64];
    refs_dtype_format(&result->like->dtype, dtype, sizeof dtype);
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: %.*s has the type %s, which fragments cannot have: leave it out, or "
                     "store numbers (for times, with units)",
                     at->combine->members[result->first].name,
                     REFS_STR_ARG(refs_combine__text(at->combine, result->path)), dtype);
}

static refs_status put_array(aggregating *at, refs_combine_result *result, refs_error *err) {
    const refs_dtype *dtype = &result->like->dtype;
    if (result->like->are_texts && result->like->values == REFS_COMBINE_NONE)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: %.*s",
                         at->combine->members[result->first].name,
                         REFS_STR_ARG(refs_combine__text(at->combine, result->like->problem)));
    const bool is_stored = dtype->type != REFS_TYPE_COMPLEX;
    if (is_stored && result->is_loaded) {
        REFS_TRY(refs_combine__gather(at->combine, at->plan, result, err));
        return put_values(at, result, refs_buf_text(&result->values), err);
    }
    if (is_stored && has_values(result))
        return put_values(at, result, refs_combine__text(at->combine, result->like->values), err);
    if (can_be_fragments(dtype)) {
        at->n_fields++;
        return put_fragments(at, result, err);
    }
    if (result->like->is_field) return fail_type(at, result, err);
    refs_note(&at->combine->options.notes, REFS_NOTE_WARNING,
              "%.*s is left out: aggregations can hold only numbers",
              REFS_STR_ARG(refs_combine__text(at->combine, result->path)));
    return REFS_OK;
}

static refs_status put_group(aggregating *at, refs_str group, refs_str attributes,
                             refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    at->path.size = 0;
    if (group.size > 0)
        REFS_TRY(refs_buf_printf(&at->path, err, "/%.*s", (int)group.size - 1, group.data));
    REFS_TRY(refs_buf_append(&at->path, "", 1, err));
    REFS_TRY(refs_json_parse(attributes, &doc, err));
    return refs_master_attributes(at->master, (const char *)at->path.data, refs_json_root(doc),
                                  err);
}

/* A group of fields may have no attributes. */
static bool is_empty_group(const refs_combine *combine, refs_str key) {
    return refs_combine__is_of_fields(combine) && refs_str_ends(key, "/.zgroup") &&
           !refs_str_starts(key, REFS_SOURCES_GROUP "/");
}

static refs_status put_groups_of(aggregating *at, const refs_combine_member *member, uint8_t *seen,
                                 refs_error *err) {
    const refs_combine *combine = at->combine;
    for (size_t k = 0; k < member->n_documents; k++) {
        const refs_combine_document *document = &member->documents[k];
        refs_str group;
        const bool has_attributes = refs_combine__is_attributes(combine, document, &group);
        if (seen[document->key] ||
            !(has_attributes ||
              is_empty_group(combine, refs_combine__text(combine, document->key))))
            continue;
        seen[document->key] = 1;
        const refs_str text =
            has_attributes ? refs_combine__text(combine, document->text) : refs_str_from("{}");
        REFS_TRY(put_group(at, group, text, err));
    }
    return REFS_OK;
}

/* Attributes of a group come from the first part that has them, but before all from a manifest. */
static refs_status put_groups(aggregating *at, refs_error *err) {
    const refs_combine *combine = at->combine;
    REFS_SCOPED uint8_t *seen = refs_calloc(combine->strings.count + 1, 1);
    if (seen == NULL) return refs_fail_nomem(err);
    for (size_t i = combine->n_parts; i < combine->n_members; i++)
        if (combine->members[i].role == REFS_COMBINE_IS_OUTLINE)
            REFS_TRY(put_groups_of(at, &combine->members[i], seen, err));
    for (size_t i = 0; i < combine->n_members; i++)
        REFS_TRY(put_groups_of(at, &combine->members[at->plan->order[i]], seen, err));
    return REFS_OK;
}

/* Declares dimensions that no array has. */
static refs_status put_unused_of(aggregating *at, const refs_combine_document *document,
                                 refs_error *err) {
    refs_str group;
    if (!refs_combine__is_attributes(at->combine, document, &group)) return REFS_OK;
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(refs_combine__text(at->combine, document->text), &doc, err));
    const refs_json *sizes = refs_json_get(refs_json_root(doc), REFS_UNUSED_DIMENSIONS);
    refs_status status = REFS_OK;
    for (size_t i = 0; i < refs_json_size(sizes) && status == REFS_OK; i++) {
        const refs_str name = refs_json_name_at(sizes, i);
        uint64_t size = 0;
        at->path.size = 0;
        status = refs_buf_printf(&at->path, err, "/%.*s%.*s", (int)group.size, group.data,
                                 REFS_STR_WHOLE(name));
        const bool is_size = refs_json_u64(refs_json_at(sizes, i), &size);
        const refs_cfa_dimension dim = {(const char *)at->path.data, size, REFS_CFA_FIXED, true};
        refs_error problem = REFS_ERROR_INIT; /* a dimension of another size exists */
        if (status == REFS_OK && is_size && refs_master_has_room(at->master, &dim))
            (void)refs_master_dimension(at->master, dim.path, size, REFS_CFA_FIXED, &problem);
    }
    return status;
}

static refs_status put_unused(aggregating *at, refs_error *err) {
    const refs_combine *combine = at->combine;
    REFS_SCOPED_BY(refs_intern_clear) refs_intern seen = {0};
    for (size_t i = combine->n_members; i-- > 0;)
        for (size_t k = 0; k < combine->members[i].n_documents; k++) {
            const refs_combine_document *document = &combine->members[i].documents[k];
            const uint32_t pair[2] = {document->key, document->text}; /* groups may share texts */
            const uint64_t n = seen.count;
            uint32_t id;
            REFS_TRY(
                refs_intern_add(&seen, refs_str_view((const char *)pair, sizeof pair), &id, err));
            if (seen.count == n) continue;
            REFS_TRY(put_unused_of(at, document, err));
        }
    return REFS_OK;
}

/* The entry of a master or a manifest for a field that no part has; or NULL. */
static const refs_combine_entry *find_only_entry(const refs_combine *combine, uint32_t path,
                                                 const refs_combine_member **member) {
    const refs_combine_entry *entry = NULL;
    for (size_t i = 0; i < combine->n_members; i++) {
        if (refs_combine__find(&combine->members[i], path) != NULL) return NULL;
        if (entry != NULL) continue;
        *member = &combine->members[i];
        entry = refs_combine__find_entry(*member, path);
    }
    return entry;
}

static refs_status put_path(aggregating *at, uint32_t path, refs_error *err) {
    const refs_combine_member *member = NULL;
    const refs_combine_entry *entry = find_only_entry(at->combine, path, &member);
    REFS_SCOPED_BY(refs_combine__result_clear) refs_combine_result result = {0};
    if (entry != NULL) return put_entry(at, member, entry, err);
    REFS_TRY(refs_combine__result_make(at->combine, at->plan, path, &result, err));
    REFS_TRY(refs_combine__go_on(at->combine, err));
    return put_array(at, &result, err);
}

typedef struct deep_path {
    size_t depth, order;
    uint32_t path;
} deep_path;

static int compare_depths(const void *a, const void *b) {
    const deep_path *one = a, *other = b;
    if (one->depth != other->depth) return one->depth < other->depth ? -1 : 1;
    return one->order < other->order ? -1 : 1;
}

static size_t depth_of(refs_str path) {
    size_t depth = 0;
    for (size_t i = 0; i < path.size; i++) depth += path.data[i] == '/';
    return depth;
}

/* The part with the lowest number that has an array; or NULL. */
static const refs_combine_member *first_with(const refs_combine *combine, uint32_t path) {
    const refs_combine_member *first = NULL;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        if ((first == NULL || member->number < first->number) &&
            refs_combine__find(member, path) != NULL)
            first = member;
    }
    return first;
}

/* Warns of values that only the master has, which are lost: a master is rebuilt from its
 * sources. */
static void tell_lost(const refs_combine *combine) {
    for (uint32_t i = 0; i < combine->before.count; i++) {
        const refs_str path = refs_intern_get(&combine->before, i);
        const uint32_t id = refs_intern_find(&combine->strings, path);
        const refs_combine_member *first = id != REFS_INTERN_NONE ? first_with(combine, id) : NULL;
        if (first == NULL)
            refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                      "%.*s is left out: only the master has it, none of its sources: add it to a "
                      "source, or to the new master",
                      REFS_STR_ARG(path));
        else if (first->number >= combine->n_files_before)
            refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                      "%.*s: values of the master, which none of its sources has, are replaced by "
                      "those of %s: add them to a source, or to the new master",
                      REFS_STR_ARG(path), first->name);
    }
}

/* Groups after those above them, whose dimensions they use or hide. */
static refs_status put_paths(aggregating *at, refs_error *err) {
    const refs_combine_plan *plan = at->plan;
    REFS_SCOPED deep_path *all = refs_calloc(plan->n_paths + 1, sizeof *all);
    refs_status status = all != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; all != NULL && i < plan->n_paths; i++)
        all[i] = (deep_path){depth_of(refs_combine__text(at->combine, plan->paths[i])), i,
                             plan->paths[i]};
    if (all != NULL) qsort(all, plan->n_paths, sizeof *all, compare_depths);
    for (size_t i = 0; status == REFS_OK && i < plan->n_paths; i++)
        status = put_path(at, all[i].path, err);
    if (status == REFS_OK) tell_lost(at->combine);
    return status;
}

static refs_status aggregate(aggregating *at, refs_error *err) {
    const refs_combine *combine = at->combine;
    REFS_TRY(name_files(at, err));
    REFS_TRY(refs_combine__list_unlimited(combine, at->master, &at->unlimited, err));
    REFS_TRY(put_groups(at, err));
    REFS_TRY(put_paths(at, err));
    if (!refs_combine__is_of_fields(combine)) return REFS_OK;
    if (combine->options.variables != NULL && *combine->options.variables != NULL)
        return put_unused(at, err); /* perhaps only coordinates */
    if (at->n_fields == 0 && combine->n_parts == combine->n_members)
        return refs_fail(err, REFS_INVALID, "the sources have no variables to aggregate");
    if (at->n_fields == 0)
        return refs_fail(
            err, REFS_INVALID,
            "%s: expected some of its fragments as sources, found none: name them, too",
            combine->members[combine->n_members - 1].name);
    return put_unused(at, err);
}

refs_status refs_combine__aggregate(refs_combine *combine, const refs_combine_plan *plan,
                                    refs_master *master, refs_error *err) {
    aggregating at = {.combine = combine, .plan = plan, .master = master};
    refs_status status = aggregate(&at, err);
    for (size_t i = 0; at.urls != NULL && i < combine->n_members; i++) refs_free(at.urls[i]);
    refs_free(at.urls);
    refs_buf_clear(&at.unlimited);
    refs_buf_clear(&at.path);
    refs_buf_clear(&at.text);
    return status;
}
