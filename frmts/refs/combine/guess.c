/* guess.c -- detects the concat dimensions if the caller names none, and orders them; see
 * refs/combine.h. */
#include "dim_search.h"

/* The order of new dimensions: members, runs, times, lead times, levels, others. */
static unsigned rank_of(refs_combine_coordinate coordinate) {
    static const unsigned ranks[] = {
        [REFS_COMBINE_COORDINATE_MEMBER] = 0,    [REFS_COMBINE_COORDINATE_REFERENCE_TIME] = 1,
        [REFS_COMBINE_COORDINATE_TIME] = 2,      [REFS_COMBINE_COORDINATE_VALID_TIME] = 3,
        [REFS_COMBINE_COORDINATE_LEAD_TIME] = 4, [REFS_COMBINE_COORDINATE_LEVEL] = 5,
        [REFS_COMBINE_COORDINATE_OTHER] = 6};
    return ranks[coordinate];
}

static unsigned rank_of_dim(const refs_combine *combine, uint32_t name) {
    unsigned least = rank_of(REFS_COMBINE_COORDINATE_OTHER);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            if (array->name == name && rank_of(array->coordinate) < least)
                least = rank_of(array->coordinate);
        }
    return least;
}

static bool stands_before(const refs_combine *combine, uint32_t one, uint32_t other) {
    const unsigned rank = rank_of_dim(combine, one), other_rank = rank_of_dim(combine, other);
    if (rank != other_rank) return rank < other_rank;
    return strcmp(refs_combine__text(combine, one).data, refs_combine__text(combine, other).data) <
           0;
}

/* Inserts names by this order, so that it does not depend on how parts were combined. */
static refs_status add_in_order(const refs_dim_search *all, const refs_dim_list *list,
                                refs_dim_list *to, refs_error *err) {
    for (size_t i = 0; i < list->n; i++) {
        const uint32_t name = list->names[i];
        const size_t n = to->n;
        size_t at = 0;
        REFS_TRY(refs_dims__add(to, name, err));
        while (at < n && !stands_before(all->combine, name, to->names[at])) at++;
        if (to->n == n) continue;
        memmove(&to->names[at + 1], &to->names[at], (n - at) * sizeof *to->names);
        to->names[at] = name;
    }
    return REFS_OK;
}

/* Appends all dimensions that were found; recorded ones keep their order. */
static refs_status append_names(const refs_dim_search *all, refs_buf *dims, refs_error *err) {
    refs_dim_list list = {.n = 0};
    if (all->is_recorded) list = all->base;
    REFS_TRY(add_in_order(all, &all->base, &list, err));
    REFS_TRY(add_in_order(all, &all->more, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const refs_str name = refs_combine__text(all->combine, list.names[i]);
        REFS_TRY(refs_buf_append(dims, name.data, name.size + 1, err));
    }
    return REFS_OK;
}

static refs_status take_recorded(refs_dim_search *all, const refs_combine_found_dims *dims,
                                 refs_error *err) {
    const char *const *recorded = dims->recorded;
    for (; recorded != NULL && *recorded != NULL; recorded++) {
        uint32_t name;
        REFS_TRY(refs_intern_add(all->strings, refs_str_from(*recorded), &name, err));
        REFS_TRY(refs_dims__add(&all->base, name, err));
    }
    all->is_recorded = all->base.n > 0;
    return REFS_OK;
}

static bool has_known_axis(const refs_combine *combine, const refs_combine_member *member,
                           uint32_t name) {
    for (size_t i = 0; i < member->n_arrays; i++)
        if (member->arrays[i].name == name && refs_dims__is_known(&member->arrays[i]) &&
            refs_dims__is_axis(combine, &member->arrays[i]))
            return true;
    return false;
}

/* Adds NUL-terminated names that are not in the base; with a member, only those of its axes. */
static refs_status add_names(const refs_dim_search *all, const refs_combine_member *member,
                             uint32_t names, refs_dim_list *list, refs_error *err) {
    REFS_SCOPED_BUF texts = REFS_BUF_INIT; /* the strings move as they grow */
    REFS_TRY(refs_buf_append_str(&texts, refs_combine__text(all->combine, names), err));
    refs_str rest = refs_buf_text(&texts);
    REFS_TRY(refs_buf_append(&texts, "", 1, err)); /* a single name may come without its NUL */
    rest.data = (const char *)texts.data;
    for (const char *text; refs_str_next_text(&rest, &text);) {
        uint32_t name;
        REFS_TRY(refs_intern_add(all->strings, refs_str_from(text), &name, err));
        if ((member == NULL || has_known_axis(all->combine, member, name)) &&
            !refs_dims__has_name(&all->base, name))
            REFS_TRY(refs_dims__add(list, name, err));
    }
    return REFS_OK;
}

/* Adds the dimensions along which parts record holes. Other parts may fill these; combined along
 * other dimensions alone, missing values would be kept as valid ones. */
static refs_status add_hole_dims(const refs_dim_search *all, refs_dim_list *list, refs_error *err) {
    const refs_combine *combine = all->combine;
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++)
            REFS_TRY(add_names(all, NULL, combine->members[i].arrays[k].hole_dims, list, err));
    return REFS_OK;
}

/* Adds the dimensions that sets were combined along, even if all sets have the same steps: a set of
 * all their sources has these dimensions, too. */
static refs_status add_former_dims(const refs_dim_search *all, refs_dim_list *list,
                                   refs_error *err) {
    const refs_combine *combine = all->combine;
    for (size_t i = 0; i < combine->n_members; i++)
        REFS_TRY(add_names(all, &combine->members[i], combine->members[i].along, list, err));
    return REFS_OK;
}

/* If parts were left out since the last search, the rest need not differ: dimensions that were
 * found before are kept. */
static refs_status find_dims(refs_dim_search *all, const refs_combine_found_dims *dims,
                             refs_error *err) {
    if (!all->is_recorded) REFS_TRY(refs_dims__find_base(all, err));
    if (!all->is_recorded && all->has_variable) REFS_TRY(add_hole_dims(all, &all->base, err));
    if (all->base.n == 0)
        return dims->names.size > 0 ? REFS_OK : refs_dims__fail_for(all, dims->along, err);
    if (!all->is_recorded) REFS_TRY(add_former_dims(all, &all->base, err));
    refs_dims__describe_base(all);
    REFS_TRY(refs_dims__search(all, refs_dims__is_beside_base, &all->more, err));
    refs_dims__drop_valid_time(all, &all->more);
    if (!all->is_recorded) return REFS_OK;
    REFS_TRY(add_hole_dims(all, &all->more, err));
    return add_former_dims(all, &all->more, err);
}

static bool are_same_names(const refs_buf *a, const refs_buf *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

refs_status refs_combine_find_dims(refs_combine *combine, refs_combine_found_dims *dims,
                                   refs_error *err) {
    refs_dim_search all = {.combine = combine, .strings = &combine->strings};
    refs_buf found = REFS_BUF_INIT;
    dims->are_other = false;
    if (!refs_combine__is_of_coordinates(combine) &&
        refs_combine__has_masters(combine->options.masters))
        return REFS_OK; /* their files are read later */
    refs_combine__sort_members(combine);
    REFS_TRY(refs_combine__name_levels(combine, err));
    REFS_TRY(take_recorded(&all, dims, err));
    REFS_TRY(find_dims(&all, dims, err));
    const refs_status status = append_names(&all, &found, err);
    const bool is_first = all.is_recorded && dims->names.size == 0;
    dims->are_other = status == REFS_OK && all.base.n > 0 &&
                      (is_first ? all.more.n > 0 : !are_same_names(&found, &dims->names));
    refs_buf_clear(dims->are_other ? &dims->names : &found);
    if (dims->are_other) dims->names = found;
    return status;
}

static refs_status open_coordinates(const refs_combine_options *options, refs_combine **combine,
                                    refs_error *err) {
    refs_combine_options of_coordinates = *options;
    of_coordinates.parts_are = REFS_COMBINE_OF_COORDINATES;
    of_coordinates.dims = NULL;
    of_coordinates.n_cut_dims = 0;
    of_coordinates.pattern = NULL;
    of_coordinates.cuts = NULL;
    of_coordinates.kept = (refs_combine_kept_values){NULL, NULL, NULL};
    return refs_combine_open(&of_coordinates, combine, err);
}

/* Adds the first and last part, and sets *begin and *end to their numbers; equal if there is one
 * part. */
static refs_status add_ends(const refs_combine_coordinate_sources *sources,
                            refs_combine *coordinates, size_t *begin, size_t *end,
                            refs_error *err) {
    bool is_added = false;
    for (*begin = 0; *begin < sources->n; ++*begin) {
        REFS_TRY(sources->add(sources->user, coordinates, *begin, &is_added, err));
        if (is_added) break;
    }
    is_added = false;
    for (*end = sources->n - 1; *end > *begin; --*end) {
        REFS_TRY(sources->add(sources->user, coordinates, *end, &is_added, err));
        if (is_added) break;
    }
    return REFS_OK;
}

static refs_status add_between(const refs_combine_coordinate_sources *sources,
                               refs_combine *coordinates, size_t begin, size_t end,
                               refs_error *err) {
    bool is_added;
    for (size_t i = begin + 1; i < end; i++) {
        REFS_TRY(refs_combine__go_on(coordinates, err));
        REFS_TRY(sources->add(sources->user, coordinates, i, &is_added, err));
    }
    return REFS_OK;
}

static size_t count_shared(const refs_combine_member *one, const refs_combine_member *other) {
    size_t n = 0;
    for (size_t i = 0; i < one->n_arrays; i++)
        n += refs_combine__find(other, one->arrays[i].path) != NULL;
    return n;
}

/* Whether a part shares no array with others. Arrays that only a master has belong to its files. */
static bool is_alone(const refs_combine *combine, const refs_combine_member *member) {
    if (refs_combine__find_rest(combine->options.masters, member->name) != NULL) return false;
    for (size_t i = 0; i < combine->n_members; i++)
        if (&combine->members[i] != member && count_shared(member, &combine->members[i]) > 0)
            return false;
    return true;
}

/* If both ends have the same variables, files between them add nothing; do not open them. */
static bool may_tell_more(const refs_combine *ends) {
    const refs_combine_member *first = &ends->members[0], *last = &ends->members[1];
    const size_t n = count_shared(first, last);
    return n < first->n_arrays || n < last->n_arrays;
}

static refs_status find_in_ends(refs_combine *coordinates,
                                const refs_combine_coordinate_sources *sources,
                                refs_combine_found_dims *dims, refs_error *err) {
    size_t begin, end;
    refs_error problem = REFS_ERROR_INIT;
    REFS_TRY(add_ends(sources, coordinates, &begin, &end, err));
    if (begin >= end) return REFS_OK;
    const refs_status status = refs_combine_find_dims(coordinates, dims, &problem);
    if (status != REFS_INVALID || end - begin < 2 || !may_tell_more(coordinates))
        return refs_fail(err, status, "%s", problem.message);
    REFS_TRY(add_between(sources, coordinates, begin, end, err));
    REFS_TRY(refs_combine_find_dims(coordinates, dims, err));
    const refs_combine_member *members = coordinates->members;
    return is_alone(coordinates, &members[0]) ||
                   is_alone(coordinates, &members[coordinates->n_members - 1])
               ? refs_fail(err, status, "%s", problem.message)
               : REFS_OK;
}

refs_status refs_combine_find_dims_first(const refs_combine_options *options,
                                         const refs_combine_coordinate_sources *sources,
                                         refs_combine_found_dims *dims, refs_error *err) {
    refs_combine *coordinates = NULL;
    REFS_TRY(open_coordinates(options, &coordinates, err));
    const refs_status status = find_in_ends(coordinates, sources, dims, err);
    refs_combine_free(coordinates);
    return status;
}
