/* variable_places.c -- checks that each variable has one run, lead time, member and level. */
#include "dim_search.h"

#define N_COORDINATES (REFS_COMBINE_COORDINATE_LEVEL + 1)

/* The coordinate of one kind of a variable that is not along a concat dimension. */
typedef struct placed {
    refs_combine_place first;        /* the first coordinate; or NULL */
    const refs_combine_member *last; /* the last part seen whose variable has one */
} placed;

typedef struct placing {
    refs_dim_search all;
    refs_intern variables; /* variables that name coordinates */
    placed *places;        /* for each of them and each kind */
    uint8_t *is_along;     /* for each path, 1 if it gets or has a concat dimension in any part */
    bool is_held[N_COORDINATES]; /* a concat dimension has this kind */
} placing;

static void clear_placing(placing *at) {
    refs_intern_clear(&at->variables);
    refs_free(at->places);
    refs_free(at->is_along);
}

static bool is_named_by(const refs_combine *combine, const refs_combine_array *array,
                        refs_str variable) {
    return refs_str_has_text(refs_combine__text(combine, array->named_by), variable);
}

static bool is_along(const refs_dim_search *all, const refs_combine_place *at) {
    const refs_combine *combine = all->combine;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        if (at->array->gets_new && at->member->axes[concat].is_new) return true;
    for (size_t dim = 0; dim < at->array->rank; dim++)
        if (refs_dims__has_name(&all->base, refs_dims__name_of(all, at->array, dim))) return true;
    return at->array->repeats != 0 || refs_dims__has_name(&all->base, at->array->name);
}

/* Lists variables that name coordinates, and coordinates along concat dimensions. */
static refs_status list_named(placing *at, refs_error *err) {
    const refs_combine *combine = at->all.combine;
    uint32_t before = REFS_COMBINE_NONE, id;
    REFS_NEW(at->is_along, combine->strings.count + 1, err);
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_place place = {&combine->members[i], &combine->members[i].arrays[k]};
            if (is_along(&at->all, &place)) at->is_along[place.array->path] = 1;
            if (place.array->named_by == before) continue;
            before = place.array->named_by;
            refs_str names = refs_combine__text(combine, place.array->named_by);
            for (const char *name; refs_str_next_text(&names, &name);)
                REFS_TRY(refs_intern_add(&at->variables, refs_str_from(name), &id, err));
        }
    REFS_NEW(at->places, N_COORDINATES * at->variables.count + 1, err);
    return REFS_OK;
}

/* The concat dimension of a kind, whose coordinate is a scalar of a part; or NULL. */
static const refs_combine_array *scalar_axis(const refs_combine *combine,
                                             const refs_combine_place *at) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const refs_combine_axis *axis = &at->member->axes[concat];
        if (axis->array == REFS_COMBINE_NONE || !axis->is_new) continue;
        const refs_combine_array *array = &at->member->arrays[axis->array];
        if (array->coordinate == at->array->coordinate) return array;
    }
    return NULL;
}

/* Whether single values of one kind differ. Units that cannot be converted are reported later. */
static bool lie_apart(const refs_combine *combine, const refs_combine_array *a,
                      const refs_combine_array *b) {
    if (!refs_dims__has_one_value(combine, a) || !refs_dims__has_one_value(combine, b) ||
        refs_combine__are_one_coordinate(combine, a, b))
        return false;
    return a->path != b->path ||
           refs_combine__conversion(combine, a, b) != REFS_CF_CONVERSION_UNKNOWN;
}

/* Appends "3", or "500 hPa" with `units`; "unreadable" if the value is unknown. */
static refs_status append_value(const refs_combine *combine, const refs_combine_array *array,
                                refs_str units, refs_buf *text, refs_error *err) {
    char shown[REFS_VALUE_TEXT];
    refs_values values = refs_combine__coordinates_of(combine, array);
    values.bytes = refs_combine__constant_of(values.bytes, values.missing, array->dtype.size);
    values.missing = refs_str_view("", 0);
    if (values.bytes.size < array->dtype.size) return refs_buf_printf(text, err, "unreadable");
    const refs_value value = refs_combine__unpacked_at(&values, 0);
    return refs_buf_printf(text, err, "%s%s%.*s", refs_combine__print_value(&value, shown),
                           units.size > 0 ? " " : "", REFS_STR_ARG(units));
}

/* Fails because a coordinate differs and is not along a concat dimension. */
static refs_status fail_differing(const refs_combine *combine, const refs_combine_place *one,
                                  const refs_combine_place *other, refs_error *err) {
    const refs_combine_array *a = one->array, *b = other->array;
    const bool has_units = a->units != b->units;
    const refs_str path = refs_combine__text(combine, a->path), none = refs_str_view("", 0);
    const char *const names[2] = {one->member->name, other->member->name};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "element 0 of %.*s is ", REFS_STR_ARG(path)));
    REFS_TRY(append_value(combine, a, has_units ? refs_combine__text(combine, a->units) : none,
                          &text, err));
    REFS_TRY(refs_buf_printf(&text, err, " and "));
    REFS_TRY(append_value(combine, b, has_units ? refs_combine__text(combine, b->units) : none,
                          &text, err));
    return refs_combine__fail_apart(combine, a, names, refs_buf_text(&text), err);
}

/* Appends "lev is 500 hPa in a.nc". */
static refs_status append_place(const refs_combine *combine, const refs_combine_place *at,
                                refs_buf *text, refs_error *err) {
    const refs_str units = refs_combine__text(combine, at->array->units),
                   none = refs_str_view("", 0);
    REFS_TRY(refs_buf_printf(text, err, "%.*s is ",
                             REFS_STR_ARG(refs_combine__text(combine, at->array->path))));
    REFS_TRY(append_value(combine, at->array, refs_str_is(units, "1") ? none : units, text, err));
    return refs_buf_printf(text, err, " in %s", at->member->name);
}

/* Fails because the result cannot distinguish two coordinates of a variable, or one from none
 * (`other` has no array). */
static refs_status fail_placed(const refs_combine *combine, refs_str variable,
                               const refs_combine_place *one, const refs_combine_place *other,
                               refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (other->array != NULL && one->array->path == other->array->path)
        return fail_differing(combine, one, other, err);
    REFS_TRY(append_place(combine, one, &text, err));
    REFS_TRY(refs_buf_printf(&text, err, ", but "));
    if (other->array != NULL)
        REFS_TRY(append_place(combine, other, &text, err));
    else
        REFS_TRY(
            refs_buf_printf(&text, err, "it has no such coordinate in %s", other->member->name));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: %.*s: combine sources in which it has one coordinate of this kind, of "
                     "one name, or leave it out (--variables)",
                     REFS_STR_ARG(variable), (int)text.size, (const char *)text.data);
}

/* The coordinate of the first part to compare with: the one of the same name, if the variable has
 * it there; none, if the variable has the other one here, too. */
static const refs_combine_array *counterpart(const refs_combine *combine, refs_str variable,
                                             const refs_combine_place *first,
                                             const refs_combine_place *at) {
    const refs_combine_array *same = refs_combine__find(first->member, at->array->path),
                             *other = refs_combine__find(at->member, first->array->path);
    if (same != NULL && is_named_by(combine, same, variable)) return same;
    return other != NULL && is_named_by(combine, other, variable) ? NULL : first->array;
}

static bool has_variable(const refs_combine *combine, const refs_combine_member *member,
                         refs_str variable) {
    const uint32_t path = refs_intern_find(&combine->strings, variable);
    if (path == REFS_INTERN_NONE) return false;
    for (size_t i = 0; i < member->n_entries; i++)
        if (member->entries[i].array.path == path) return true;
    return refs_combine__find(member, path) != NULL;
}

static placed *place_of(const placing *at, refs_str variable, refs_combine_coordinate kind) {
    const uint32_t id = refs_intern_find(&at->variables, variable);
    return id == REFS_INTERN_NONE ? NULL : &at->places[id * N_COORDINATES + (size_t)kind];
}

/* Compares a coordinate of a variable with that of earlier parts, or with the scalar coordinate of
 * a concat dimension of its kind. */
static refs_status check_place(placing *at, refs_str variable, const refs_combine_place *place,
                               refs_error *err) {
    const refs_combine *combine = at->all.combine;
    placed *known = place_of(at, variable, place->array->coordinate);
    const refs_combine_place axis = {place->member, scalar_axis(combine, place)};
    if (at->is_along[place->array->path] != 0 || !refs_dims__is_beside_base(&at->all, place) ||
        !has_variable(combine, place->member, variable))
        return REFS_OK;
    if (axis.array != NULL)
        return !is_named_by(combine, axis.array, variable) &&
                       lie_apart(combine, axis.array, place->array)
                   ? fail_placed(combine, variable, &axis, place, err)
                   : REFS_OK;
    if (known->first.member == NULL) known->first = *place;
    const refs_combine_array *other = counterpart(combine, variable, &known->first, place);
    const refs_combine_place first = {known->first.member, other};
    return other != NULL && first.member != place->member && lie_apart(combine, other, place->array)
               ? fail_placed(combine, variable, &first, place, err)
               : REFS_OK;
}

/* A variable's axis of a kind; or NULL. */
static const refs_combine_array *axis_of(const refs_combine_place *variable,
                                         refs_combine_coordinate kind) {
    for (size_t dim = 0; dim < variable->array->rank; dim++) {
        const refs_combine_array *axis =
            refs_combine__find(variable->member, variable->array->dims[dim]);
        if (axis != NULL && axis->coordinate == kind) return axis;
    }
    return NULL;
}

/* Fails if a variable with an axis of levels would also get the scalar level of other variables as
 * a dimension. */
static refs_status check_axis(placing *at, const refs_combine_place *variable, refs_error *err) {
    const refs_combine *combine = at->all.combine;
    const refs_combine_array *own = axis_of(variable, REFS_COMBINE_COORDINATE_LEVEL);
    const refs_str name = refs_combine__text(combine, variable->array->path);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (own == NULL || own == variable->array || !variable->array->gets_new) return REFS_OK;
    const refs_combine_place of_own = {variable->member, own},
                             scalar = {variable->member, scalar_axis(combine, &of_own)};
    if (scalar.array == NULL || scalar.array == own ||
        scalar.array->named_by == REFS_COMBINE_NONE || is_named_by(combine, scalar.array, name))
        return REFS_OK;
    REFS_TRY(append_place(combine, &scalar, &text, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: %.*s, but it lies along %.*s: do not combine along %.*s, or leave it "
                     "out (--variables)",
                     REFS_STR_ARG(name), (int)text.size, (const char *)text.data,
                     REFS_STR_ARG(refs_combine__text(combine, own->path)),
                     REFS_STR_ARG(refs_combine__text(combine, scalar.array->path)));
}

/* Fails if a variable lacks a coordinate of a kind that other parts have for it. */
static refs_status check_without(placing *at, const refs_combine_place *variable, refs_error *err) {
    static const refs_combine_coordinate kinds[] = {REFS_COMBINE_COORDINATE_LEAD_TIME,
                                                    REFS_COMBINE_COORDINATE_MEMBER,
                                                    REFS_COMBINE_COORDINATE_LEVEL};
    const refs_combine *combine = at->all.combine;
    const refs_str name = refs_combine__text(combine, variable->array->path);
    const refs_combine_place without = {variable->member, NULL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const placed *known = place_of(at, name, kinds[i]);
        if (known == NULL || at->is_held[kinds[i]] || known->first.member == NULL ||
            known->last == variable->member || axis_of(variable, kinds[i]) != NULL)
            continue;
        /* a coordinate with other units has no kind, and is compared by its name */
        const refs_combine_array *same =
            refs_combine__find(variable->member, known->first.array->path);
        if (same == NULL || same->coordinate == kinds[i])
            return fail_placed(combine, name, &known->first, &without, err);
    }
    return REFS_OK;
}

/* Whether two parts have the same arrays, named by the same variables, with the same positions. */
static bool are_alike(const placing *at, const refs_combine_member *one,
                      const refs_combine_member *other) {
    if (one->n_arrays != other->n_arrays || one->n_entries > 0 || other->n_entries > 0)
        return false;
    for (size_t i = 0; i < one->n_arrays; i++) {
        const refs_combine_array *a = &one->arrays[i], *b = &other->arrays[i];
        if (a->path != b->path || a->named_by != b->named_by || a->coordinate != b->coordinate)
            return false;
        if (a->named_by == REFS_COMBINE_NONE || at->is_along[a->path] != 0) continue;
        if (at->is_held[a->coordinate] || lie_apart(at->all.combine, a, b)) return false;
    }
    return true;
}

static refs_status check_coordinates(placing *at, const refs_combine_member *member,
                                     refs_error *err) {
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_place place = {member, &member->arrays[i]};
        refs_str names = refs_combine__text(at->all.combine, place.array->named_by);
        for (const char *name; refs_str_next_text(&names, &name);)
            REFS_TRY(check_place(at, refs_str_from(name), &place, err));
    }
    return REFS_OK;
}

static refs_status check_variables(placing *at, const refs_combine_member *member,
                                   refs_error *err) {
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        refs_str names = refs_combine__text(at->all.combine, array->named_by);
        for (const char *name; refs_str_next_text(&names, &name);)
            place_of(at, refs_str_from(name), array->coordinate)->last = member;
    }
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_place variable = {member, &member->arrays[i]};
        REFS_TRY(check_axis(at, &variable, err));
        REFS_TRY(check_without(at, &variable, err));
    }
    return REFS_OK;
}

typedef refs_status check_member(placing *at, const refs_combine_member *member, refs_error *err);

static refs_status check_members(placing *at, check_member *check, refs_error *err) {
    const refs_combine *combine = at->all.combine;
    const refs_combine_member *before = NULL;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[i];
        if (before != NULL && are_alike(at, before, member)) continue;
        REFS_TRY(check(at, member, err));
        before = member;
    }
    return REFS_OK;
}

refs_status refs_combine__check_scalars(const refs_combine *combine, refs_error *err) {
    REFS_SCOPED_BY(clear_placing) placing at = {.is_along = NULL};
    refs_dims__search_base(combine, &at.all);
    for (size_t i = 0; i < at.all.base.n; i++) {
        const refs_combine_array *found = refs_dims__find_coordinate(combine, at.all.base.names[i]);
        if (found != NULL) at.is_held[found->coordinate] = true;
    }
    REFS_TRY(list_named(&at, err));
    REFS_TRY(check_members(&at, check_coordinates, err));
    return check_members(&at, check_variables, err);
}
