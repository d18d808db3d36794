/* fields.c -- parts that are fragments of fields: their concat dimensions, and the entries of
 * masters and manifests for them, see combine_internal.h. */
#include <stdlib.h>

#include "combine_internal.h"

/* -- masters and outlines ---------------------------------------------------------------------- */

const refs_combine_entry *refs_combine__find_entry(const refs_combine_member *member,
                                                   uint32_t path) {
    for (size_t i = 0; i < member->n_entries; i++)
        if (member->entries[i].array.path == path) return &member->entries[i];
    return NULL;
}

bool refs_combine__is_only_listed(const refs_combine *combine, const refs_combine_member *member,
                                  size_t concat, uint64_t step) {
    bool has_fragments = false;
    if (member->role != REFS_COMBINE_IS_OUTLINE) return false;
    for (size_t i = 0; i < member->n_entries; i++) {
        const refs_combine_entry *entry = &member->entries[i];
        for (size_t dim = 0; dim < entry->array.rank; dim++) {
            if (refs_combine__concat_dim_of(combine, &entry->array, dim) != concat) continue;
            has_fragments = true;
            const refs_fragment_dim *along = &entry->grid.dims[dim];
            const size_t at = refs_fragment_dim_find(along, step);
            if (at < along->n_intervals && !entry->is_written[dim][at]) return false;
        }
    }
    return has_fragments;
}

/* -- fields ------------------------------------------------------------------------------------ */

/* A variable that describes others in some part is not a field, even if another part lacks
 * those. */
static refs_status settle_service(refs_combine *combine, uint32_t path, refs_error *err) {
    const refs_combine_member *serving = NULL;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], path);
        if (array != NULL && !array->is_field) serving = &combine->members[i];
    }
    for (size_t i = 0; serving != NULL && i < combine->n_members; i++) {
        refs_combine_array *array = refs_combine__find(&combine->members[i], path);
        if (array == NULL || !array->is_field) continue;
        if (refs_combine__find(serving, path)->are_texts)
            return refs_fail(err, REFS_INVALID,
                             "%.*s: its type differs between %s and %s: expected numbers in all "
                             "sources, found strings in the second",
                             REFS_STR_ARG(refs_combine__text(combine, path)),
                             combine->members[i].name, serving->name);
        if (array->values == REFS_COMBINE_NONE)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%.*s describes other variables in %s, but is a data variable in %s: "
                             "expected the same in all sources",
                             REFS_STR_ARG(refs_combine__text(combine, path)), serving->name,
                             combine->members[i].name);
        array->is_field = false;
        array->is_thin = true;
    }
    return REFS_OK;
}

static refs_status settle_services(refs_combine *combine, refs_error *err) {
    REFS_SCOPED uint8_t *seen = refs_calloc(combine->strings.count + 1, 1);
    refs_status status = seen != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_members && status == REFS_OK; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays && status == REFS_OK; k++) {
            const uint32_t path = combine->members[i].arrays[k].path;
            if (seen[path] != 0) continue;
            seen[path] = 1;
            status = settle_service(combine, path, err);
        }
    return status;
}

/* -- dimensions -------------------------------------------------------------------------------- */

static const refs_combine_array *coordinate_of(const refs_combine *combine,
                                               const refs_combine_member *member, refs_str name) {
    const refs_combine_array *found = NULL;
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        if (array->is_thin && refs_combine__is_own_axis(&combine->strings, array) &&
            refs_str_equal(refs_combine__text(combine, array->name), name) &&
            (found == NULL || refs_combine__is_above(&combine->strings, array, found)))
            found = array;
    }
    return found;
}

/* Whether parts, or entries of masters, differ along a dimension. */
static bool lie_apart(const refs_combine *combine, refs_str name) {
    const refs_combine_array *first = NULL;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_array *array = coordinate_of(combine, &combine->members[i], name);
        if (array == NULL) continue;
        if (first != NULL && !refs_combine__are_one_coordinate(combine, first, array)) return true;
        if (first == NULL) first = array;
    }
    return false;
}

/* Whether fragments replace the master's own values: some part has the field, and not both hold all
 * of its values. */
static bool is_replaced_by_fragments(const refs_combine *combine, const refs_combine_array *own) {
    bool is_shared = own->values != REFS_COMBINE_NONE;
    for (size_t dim = 0; dim < own->rank && is_shared; dim++)
        is_shared =
            !lie_apart(combine, refs_path_last(refs_combine__text(combine, own->dims[dim])));
    for (size_t i = 0; i < combine->n_parts; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], own->path);
        if (array != NULL && array->is_field && !(is_shared && array->values != REFS_COMBINE_NONE))
            return true;
    }
    return false;
}

/* The result keeps the master's own values, which fragments may lack, unless fragments replace
 * them. */
static refs_status settle_own_fields(refs_combine *combine, refs_error *err) {
    for (size_t i = combine->n_parts; i < combine->n_members; i++) {
        refs_combine_member *member = &combine->members[i];
        size_t n = 0;
        for (size_t k = 0; k < member->n_arrays; k++) {
            refs_combine_array array = member->arrays[k];
            if (array.is_field && is_replaced_by_fragments(combine, &array)) {
                refs_combine__array_clear(&array);
                continue;
            }
            array.is_thin = array.is_thin || array.is_field;
            array.is_field = false;
            member->arrays[n++] = array;
        }
        member->n_arrays = n;
        REFS_TRY(refs_combine__sort_paths(member, err));
    }
    return REFS_OK;
}

static bool are_numbered_apart(const refs_combine *combine, refs_str name) {
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            const refs_combine_numbers *numbers =
                array->is_field ? refs_combine__numbers_of(combine, array->path) : NULL;
            for (size_t dim = 0; numbers != NULL && dim < array->rank; dim++)
                if (numbers->dims[dim].n_intervals > 1 &&
                    refs_str_equal(refs_path_last(refs_combine__text(combine, array->dims[dim])),
                                   name))
                    return true;
        }
    return false;
}

static refs_status add_dim(refs_combine *combine, uint32_t dim, refs_error *err) {
    const refs_str name = refs_path_last(refs_combine__text(combine, dim));
    size_t known;
    if (refs_combine__is_dim(combine, name, &known)) return REFS_OK;
    if (combine->n_dims == REFS_COMBINE_MAX_DIMS)
        return refs_fail(err, REFS_LIMIT, "sources differ along more than %d dimensions",
                         REFS_COMBINE_MAX_DIMS);
    char *copy = refs_str_copy(name);
    if (copy == NULL) return refs_fail_nomem(err);
    combine->own_dims[combine->n_dims] = copy;
    combine->options.dims = (const char *const *)combine->own_dims;
    REFS_TRY(refs_intern_add(&combine->strings, refs_str_from(copy),
                             &combine->dims[combine->n_dims], err));
    combine->n_dims++;
    return REFS_OK;
}

typedef bool dim_test(const refs_combine *combine, refs_str name);

/* Dimensions of fields; each is checked once. */
typedef struct dim_search {
    dim_test *is_one;
    uint8_t *seen; /* for each string */
} dim_search;

static refs_status add_dims_of(refs_combine *combine, const refs_combine_array *array,
                               dim_search *search, refs_error *err) {
    for (size_t dim = 0; array->is_field && dim < array->rank; dim++) {
        const uint32_t id = array->dims[dim];
        if (search->seen[id] != 0) continue;
        search->seen[id] = 1;
        if (search->is_one(combine, refs_path_last(refs_combine__text(combine, id))))
            REFS_TRY(add_dim(combine, id, err));
    }
    return REFS_OK;
}

static refs_status add_dims_of_member(refs_combine *combine, const refs_combine_member *member,
                                      size_t least, dim_search *search, refs_error *err) {
    for (size_t k = 0; k < member->n_arrays; k++)
        if (member->arrays[k].rank >= least)
            REFS_TRY(add_dims_of(combine, &member->arrays[k], search, err));
    for (size_t k = 0; k < member->n_entries; k++)
        if (member->entries[k].array.rank >= least)
            REFS_TRY(add_dims_of(combine, &member->entries[k].array, search, err));
    return REFS_OK;
}

static size_t most_dims(const refs_combine *combine) {
    size_t most = 0;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        for (size_t k = 0; k < member->n_arrays; k++)
            if (member->arrays[k].is_field && member->arrays[k].rank > most)
                most = member->arrays[k].rank;
        for (size_t k = 0; k < member->n_entries; k++)
            if (member->entries[k].array.rank > most) most = member->entries[k].array.rank;
    }
    return most;
}

/* Orders dimensions as in the fields with most of them. */
static refs_status add_dims(refs_combine *combine, dim_test *is_one, refs_error *err) {
    dim_search search = {is_one, refs_calloc(combine->strings.count + 1, 1)};
    refs_status status = search.seen != NULL ? REFS_OK : refs_fail_nomem(err);
    const size_t least[2] = {most_dims(combine), 0};
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < combine->n_members && status == REFS_OK; i++)
            status = add_dims_of_member(combine, &combine->members[i], least[pass], &search, err);
    refs_free(search.seen);
    return status;
}

static bool is_first(const refs_combine *combine, refs_str name) {
    (void)name;
    return combine->n_dims == 0;
}

/* Whether a master is divided along all concat dimensions, so that it may have holes. */
static bool is_cut_along_all(const refs_combine *combine, const refs_combine_entry *entry) {
    size_t n = 0;
    for (size_t dim = 0; dim < entry->array.rank; dim++)
        n += refs_combine__concat_dim_of(combine, &entry->array, dim) < REFS_COMBINE_MAX_DIMS &&
             entry->grid.dims[dim].n_intervals > 1;
    return n == combine->n_dims;
}

static bool have_entries(const refs_combine *combine) {
    for (size_t i = combine->n_parts; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_entries; k++)
            if (combine->members[i].role == REFS_COMBINE_IS_OUTLINE ||
                is_cut_along_all(combine, &combine->members[i].entries[k]))
                return true;
    return false;
}

/* Whether no scalar time differs from that of the first part: parts without a coordinate follow
 * each other then. */
static bool have_one_time(const refs_combine *combine) {
    const refs_combine_member *first = &combine->members[0];
    for (size_t k = 0; k < first->n_arrays; k++) {
        const refs_combine_array *time = &first->arrays[k];
        if (time->rank > 0 || !time->is_time || time->values == REFS_COMBINE_NONE) continue;
        for (size_t i = 1; i < combine->n_members; i++) {
            const refs_combine_array *other = refs_combine__find(&combine->members[i], time->path);
            if (other != NULL && !refs_combine__are_one_coordinate(combine, time, other))
                return false;
        }
    }
    return true;
}

static void clear_found(refs_combine_found_dims *found) {
    refs_buf_clear(&found->names);
}

/* Finds the dimensions as for parts of any kind, by coordinates. */
static refs_status find_dims(refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(clear_found) refs_combine_found_dims found = {.along = "--along"};
    uint32_t id;
    const char *name;
    refs_error problem = REFS_ERROR_INIT;
    const refs_status status = refs_combine_find_dims(combine, &found, &problem);
    if (status != REFS_OK && (status != REFS_INVALID || !have_one_time(combine)))
        return refs_fail(err, status, "%s", problem.message);
    for (refs_str rest = refs_buf_text(&found.names); refs_str_next_text(&rest, &name);) {
        REFS_TRY(refs_intern_add(&combine->strings, refs_str_from(name), &id, err));
        REFS_TRY(add_dim(combine, id, err));
    }
    if (!have_entries(combine)) combine->options.dims_are = REFS_COMBINE_GUESSED;
    return REFS_OK;
}

static refs_status choose_dims(refs_combine *combine, refs_error *err) {
    if (combine->n_dims > 0) return REFS_OK;
    REFS_TRY(combine->numbers != NULL ? add_dims(combine, are_numbered_apart, err)
                                      : find_dims(combine, err));
    if (combine->n_dims == 0) REFS_TRY(add_dims(combine, is_first, err));
    return combine->n_dims > 0
               ? REFS_OK
               : refs_fail(err, REFS_INVALID, "the sources have no variables to aggregate");
}

/* -- places ------------------------------------------------------------------------------------ */

/* Sets the length of a dimension without a coordinate from the entries of fields. */
static void take_listed_length(const refs_combine *combine, const refs_combine_member *member,
                               size_t concat, refs_combine_axis *axis) {
    for (size_t i = 0; i < member->n_entries; i++) {
        const refs_combine_array *array = &member->entries[i].array;
        for (size_t dim = 0; dim < array->rank; dim++)
            if (axis->n == 0 && refs_combine__concat_dim_of(combine, array, dim) == concat)
                axis->n = array->shape[dim];
    }
}

static refs_status find_axes(refs_combine *combine, refs_combine_member *member, refs_error *err) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        refs_combine_axis *axis = &member->axes[concat];
        const refs_status status = refs_combine__find_axis(
            &combine->strings, member, concat, refs_str_from(combine->options.dims[concat]), err);
        if (status != REFS_OK) refs_error_prefix(err, "%s", member->name);
        REFS_TRY(status);
        if (refs_combine__drop_step(axis)) take_listed_length(combine, member, concat, axis);
    }
    refs_combine__widen_steps(combine, &combine->strings, member);
    return refs_combine__widen_layouts(combine, member, &combine->strings, err);
}

refs_status refs_combine__arrange_fields(refs_combine *combine, refs_error *err) {
    REFS_TRY(settle_own_fields(combine, err));
    REFS_TRY(settle_services(combine, err));
    REFS_TRY(refs_combine__read_numbers(combine, err));
    REFS_TRY(choose_dims(combine, err));
    for (size_t i = 0; i < combine->n_members; i++)
        REFS_TRY(find_axes(combine, &combine->members[i], err));
    return refs_combine__place_numbers(combine, err);
}
