/* dims.c -- messages about concat dimensions and their steps. */
#include "dim_search.h"
#include "refs/aggregation.h"
#include "refs/clock.h"
#include "refs/near_name.h"

/* -- steps ------------------------------------------------------------------------------------- */

/* The coordinate of a member that has the step; *own is which one of its steps that is. */
static const refs_combine_array *coordinate_at(const refs_combine *combine, size_t concat,
                                               uint64_t step, uint64_t *own) {
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_axis *axis = &combine->members[i].axes[concat];
        if (axis->array == REFS_COMBINE_NONE) continue;
        for (*own = 0; *own < axis->n; ++*own)
            if (axis->position[*own] == step) return &combine->members[i].arrays[axis->array];
    }
    return NULL;
}

refs_status refs_combine__print_place(const refs_combine *combine, size_t concat,
                                      const refs_value *value, refs_buf *text, refs_error *err) {
    const refs_combine_member *first = &combine->members[combine->counted[concat]];
    const uint32_t array = first->axes[concat].array;
    const size_t size = text->size;
    char number[REFS_VALUE_TEXT];
    if (array != REFS_COMBINE_NONE && refs_combine__is_number(value)) {
        const refs_cf_units units = refs_combine__count_of(combine, &first->arrays[array]);
        REFS_TRY(refs_cf_print_time(&units, value->number, text, err));
    }
    if (text->size > size) return REFS_OK;
    return refs_buf_printf(text, err, "%s", refs_combine__print_value(value, number));
}

/* Appends "step 3 of time (2020-01-01T06:00:00)". */
static refs_status print_step(const refs_combine *combine, size_t concat, uint64_t step,
                              refs_buf *text, refs_error *err) {
    uint64_t own;
    const refs_combine_array *array = coordinate_at(combine, concat, step, &own);
    REFS_TRY(refs_buf_printf(text, err, "step %llu of %s", (unsigned long long)step,
                             combine->options.dims[concat]));
    if (array == NULL) return REFS_OK;
    const refs_values values = refs_combine__coordinates_of(combine, array);
    const refs_value value = refs_combine__unpacked_at(&values, own);
    REFS_TRY(refs_buf_append(text, " (", 2, err));
    REFS_TRY(refs_combine__print_place(combine, concat, &value, text, err));
    return refs_buf_append(text, ")", 1, err);
}

refs_status refs_combine__print_index(const refs_combine *combine,
                                      const refs_combine_result *result, const uint64_t *index,
                                      refs_buf *text, refs_error *err) {
    for (size_t dim = 0; dim < result->rank; dim++) {
        if (result->concat[dim] == REFS_COMBINE_MAX_DIMS) continue;
        if (text->size > 0) REFS_TRY(refs_buf_append(text, ", ", 2, err));
        REFS_TRY(print_step(combine, result->concat[dim], index[dim], text, err));
    }
    return REFS_OK;
}

const refs_combine_array *
refs_combine__find_other_dim(const refs_combine *combine,
                             const refs_combine_member *const members[2]) {
    for (size_t i = 0; i < members[0]->n_arrays; i++) {
        const refs_combine_array *one = &members[0]->arrays[i],
                                 *other = refs_combine__find(members[1], one->path);
        size_t concat;
        if (one->coordinate != REFS_COMBINE_COORDINATE_OTHER && other != NULL &&
            !refs_combine__is_dim(combine, refs_combine__text(combine, one->name), &concat) &&
            refs_dims__has_one_value(combine, one) && refs_dims__has_one_value(combine, other) &&
            !refs_combine__are_one_coordinate(combine, one, other))
            return one;
    }
    return NULL;
}

/* Appends the concat dimensions that an array lacks. */
static refs_status print_lacked(const refs_combine *combine, const refs_combine_result *result,
                                refs_buf *text, refs_error *err) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        size_t dim = 0;
        while (dim < result->rank && result->concat[dim] != concat) dim++;
        if (dim == result->rank)
            REFS_TRY(refs_buf_printf(text, err, "%s%s", text->size > 0 ? ", " : "",
                                     combine->options.dims[concat]));
    }
    return REFS_OK;
}

/* Fails because a shared array differs, at `element`, between two parts. */
static refs_status fail_shared(const refs_combine *combine, const refs_combine_result *result,
                               refs_str element, const refs_combine_member *const members[2],
                               refs_error *err) {
    const refs_combine_place at = {members[0], refs_combine__find(members[0], result->path)};
    const char *const names[2] = {members[0]->name, members[1]->name};
    REFS_SCOPED_BUF lacked = REFS_BUF_INIT;
    if (at.array != NULL && refs_combine__places_fields(combine, &at))
        return refs_combine__fail_apart(combine, result->like, names, element, err);
    REFS_TRY(print_lacked(combine, result, &lacked, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: differs between %s and %s, %.*s: expected equal values, since it lacks "
                     "the concat dimension %.*s: leave out one of the sources, or the variable "
                     "(--variables)",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)), names[0], names[1],
                     REFS_STR_ARG(element), (int)lacked.size, (const char *)lacked.data);
}

refs_status refs_combine__fail_twice(const refs_combine *combine, const refs_combine_result *result,
                                     const uint64_t *index,
                                     const refs_combine_member *const members[2], refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_combine__print_index(combine, result, index, &text, err));
    const char *const names[2] = {members[0]->name, members[1]->name};
    if (refs_combine__is_shared(combine, result))
        return fail_shared(combine, result, refs_buf_text(&text), members, err);
    const refs_combine_array *dim = refs_combine__find_other_dim(combine, members);
    if (dim != NULL)
        return refs_combine__fail_apart(combine, dim, names, refs_buf_text(&text), err);
    return refs_fail(err, REFS_INVALID, "%.*s: duplicate %.*s in %s and %s: remove one of them",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)), (int)text.size,
                     (const char *)text.data, names[0], names[1]);
}

/* -- names ------------------------------------------------------------------------------------- */

/* Limit of names in a message. */
#define MAX_NAMED 20

static bool has_dim(const refs_combine *combine, const refs_combine_array *array, size_t concat) {
    for (size_t dim = 0; dim < array->rank; dim++)
        if (refs_combine__concat_dim_of(combine, array, dim) == concat) return true;
    return false;
}

/* Whether the parts have a dimension; the axes of fields do not show that a dimension is new. */
static bool parts_have_dim(const refs_combine *combine, size_t concat) {
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        if (member->axes[concat].array != REFS_COMBINE_NONE) return true;
        for (size_t k = 0; k < member->n_arrays; k++)
            if (has_dim(combine, &member->arrays[k], concat)) return true;
        for (size_t k = 0; k < member->n_entries; k++)
            if (has_dim(combine, &member->entries[k].array, concat)) return true;
    }
    return false;
}

/* Whether a dimension is new: no part has it, nor an array that could be its coordinate. */
static bool is_new(const refs_combine *combine, size_t concat) {
    if (refs_combine__is_of_fields(combine)) return !parts_have_dim(combine, concat);
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_axis *axis = &combine->members[i].axes[concat];
        if (!axis->is_new || axis->array != REFS_COMBINE_NONE) return false;
    }
    return true;
}

static refs_status list_dims(const refs_combine *combine, refs_intern *names, refs_error *err) {
    uint32_t id;
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t j = 0; j < combine->members[i].n_arrays; j++) {
            const refs_combine_array *array = &combine->members[i].arrays[j];
            for (size_t dim = 0; dim < array->rank && names->count < MAX_NAMED; dim++)
                REFS_TRY(refs_intern_add(
                    names, refs_path_last(refs_combine__text(combine, array->dims[dim])), &id,
                    err));
        }
    return REFS_OK;
}

static refs_str find_near(const refs_intern *names, const char *requested) {
    refs_str found = refs_str_view(NULL, 0);
    size_t least = SIZE_MAX;
    for (uint32_t i = 0; i < names->count; i++)
        if (refs_name_is_near(refs_str_from(requested), refs_intern_get(names, i), &least))
            found = refs_intern_get(names, i);
    return found;
}

static refs_status print_names(const refs_intern *names, refs_buf *text, refs_error *err) {
    for (uint32_t i = 0; i < names->count; i++)
        REFS_TRY(refs_buf_printf(text, err, "%s%.*s", i > 0 ? ", " : "",
                                 REFS_STR_ARG(refs_intern_get(names, i))));
    return refs_buf_append(text, "", 1, err);
}

/* Warns of a new dimension whose name is not similar to any other: it may still be a mistake.
 * Fragments cannot get one. */
static refs_status tell_new(const refs_combine *combine, const char *requested,
                            const refs_intern *names, refs_error *err) {
    const refs_str near = find_near(names, requested);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(print_names(names, &text, err));
    const char *there = (const char *)text.data;
    if (near.size > 0)
        return refs_fail(
            err, REFS_INVALID,
            "no source has a dimension \"%s\": did you mean %.*s? existing dimensions: %s",
            requested, REFS_STR_ARG(near), there);
    if (refs_combine__is_of_fields(combine))
        return refs_fail(err, REFS_INVALID,
                         "no source has a dimension \"%s\": existing dimensions: %s", requested,
                         there);
    refs_note(&combine->options.notes, REFS_NOTE_WARNING,
              "no source has a dimension \"%s\": it is added, with one step for each source in the "
              "given order; existing dimensions: %s",
              requested, there);
    return REFS_OK;
}

refs_status refs_combine__check_dims(const refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern names = {0};
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        if (!is_new(combine, concat)) continue;
        if (names.count == 0) REFS_TRY(list_dims(combine, &names, err));
        if (names.count > 0)
            REFS_TRY(tell_new(combine, combine->options.dims[concat], &names, err));
    }
    return REFS_OK;
}

static bool is_aggregation(const refs_combine *combine, const refs_combine_array *array) {
    REFS_SCOPED_JSON *doc = NULL;
    return array->attributes != REFS_COMBINE_NONE &&
           refs_json_parse(refs_combine__text(combine, array->attributes), &doc, NULL) == REFS_OK &&
           refs_aggregation_recognise(refs_json_root(doc));
}

refs_status refs_combine__fail_without_dims(const refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(refs_intern_clear) refs_intern names = {0};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_combine_member *member = combine->n_members > 0 ? &combine->members[0] : NULL;
    for (size_t i = 0; member != NULL && i < member->n_arrays; i++)
        if (is_aggregation(combine, &member->arrays[i]))
            return refs_combine__fail_nested(combine, member->arrays[i].path, member, err);
    REFS_TRY(list_dims(combine, &names, err));
    REFS_TRY(print_names(&names, &text, err));
    return refs_fail(err, REFS_INVALID,
                     "%s: a master of one source requires the name of a concat dimension: use refs "
                     "combine with --along; existing dimensions: %s",
                     member != NULL ? member->name : "no source", (const char *)text.data);
}
