/* gather_axes.c -- where fragments belong along the dimensions of a field; see gather.h. */
#include "gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "refs/clock.h"

static const char *dim_path(const gathering *all, const gather_member *of, size_t d) {
    const refs_cfa_source *source = &all->parts[of->part].arrays.source;
    const refs_cfa_array *array = &source->arrays[of->array];
    for (size_t i = source->n_dims; i-- > 0;) {
        const char *slash = strrchr(source->dims[i].path, '/');
        if (strcmp(slash + 1, array->variable.dims[d]) == 0 &&
            source->dims[i].size == array->shape[d])
            return source->dims[i].path;
    }
    return NULL;
}

static refs_str calendar_shown(const refs_cf_units *units) {
    return units->calendar.size > 0 ? units->calendar : refs_str_from("no calendar");
}

refs_cf_units gather_wanted_units(const gathering *all, const refs_cfa_variable *first) {
    refs_cf_units units = gather_units_of(first);
    bool is_time = false;
    for (size_t i = 0; i + 7 <= units.units.size; i++)
        is_time = is_time || memcmp(units.units.data + i, " since ", 7) == 0;
    if (is_time && all->arguments->common_date != NULL)
        units.units = refs_str_from(all->arguments->common_date);
    return units;
}

static refs_status find_rebase(gathering *all, const gather_axis *along, size_t p,
                               refs_cf_rebase *rebase, refs_error *err) {
    const size_t c = gather_coordinate_of(all, p, along->path);
    const refs_cf_units from = gather_units_of(&gather_array_of(all, p, c)->variable);
    const refs_cf_units to =
        gather_wanted_units(all, &gather_array_of(all, 0, along->coordinate)->variable);
    double scale, offset;
    if (refs_cf_convert_units(&from, &to, &scale, &offset) != REFS_CF_CONVERSION_UNKNOWN &&
        refs_cf_rebase_open(&from, &to, rebase, NULL) == REFS_OK)
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s and %s have other units or calendars of %s: \"%.*s\" (%.*s) and "
                     "\"%.*s\" (%.*s)",
                     all->names.items[0], gather_name_of(all, p), along->name,
                     REFS_STR_ARG(to.units), REFS_STR_ARG(calendar_shown(&to)),
                     REFS_STR_ARG(from.units), REFS_STR_ARG(calendar_shown(&from)));
}

/* Times go by way of whole microseconds: one instant in two units is one number. */
static void convert(const refs_cfa_variable *variable, const refs_cf_rebase *rebase,
                    gather_slice *made) {
    const double scale = gather_number_of(variable, "scale_factor", 1);
    const double offset = gather_number_of(variable, "add_offset", 0);
    for (uint64_t i = 0; i < made->size; i++) {
        double *value = &made->values[i];
        if (scale != 1 || offset != 0) *value = *value * scale + offset;
        (void)refs_cf_rebase_number(rebase, REFS_CF_DOUBLE_DIGITS, value);
    }
    made->is_single =
        variable->dtype.type == REFS_TYPE_FLOAT && variable->dtype.size == 4 && rebase->is_same;
}

refs_status gather_read_values(gathering *all, const gather_axis *along, size_t p,
                               gather_slice *made, refs_error *err) {
    const size_t c = gather_coordinate_of(all, p, along->path);
    refs_cf_rebase rebase;
    refs_array *array;
    made->values = NULL;
    if (along->coordinate == SIZE_MAX || c == SIZE_MAX) return REFS_OK;
    const refs_cfa_array *coordinate = gather_array_of(all, p, c);
    REFS_TRY(find_rebase(all, along, p, &rebase, err));
    const uint64_t n = coordinate->variable.rank == 1 ? coordinate->shape[0] : 1;
    if (coordinate->variable.rank > 1 || n < made->size)
        return refs_fail(err, REFS_INVALID, "%s: %s has other dimensions than a coordinate has",
                         gather_name_of(all, p), along->path);
    REFS_TRY(
        refs_array_open(&all->parts[p].arrays.context, all->parts[p].arrays.metas[c], &array, err));
    made->values = refs_calloc((size_t)made->size + 1, sizeof *made->values);
    refs_status status = made->values != NULL
                             ? refs_array_read_doubles(array, made->size, made->values, err)
                             : refs_fail_nomem(err);
    refs_array_free(array);
    if (status == REFS_OK) {
        convert(&coordinate->variable, &rebase, made);
    } else {
        refs_free(made->values);
        made->values = NULL;
    }
    return status;
}

refs_status gather_fail_place(const gather_part *of, const gather_field *joined,
                              const gather_axis *along, const char *why, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s: %s along %s of %s", of->named, why, along->name,
                     joined->path);
}

/* -- slices ------------------------------------------------------------------------------------ */

static refs_str bytes_of(const double *key) {
    return refs_str_view((const char *)key, sizeof *key);
}

static refs_status keep_key(gather_axis *along, size_t slice, refs_error *err) {
    const double key = along->slices[slice].key + 0.0; /* one zero */
    const size_t n = along->keys.count;
    uint32_t id;
    if (!refs_grow((void **)&along->of_key, &along->key_capacity, n, sizeof *along->of_key))
        return refs_fail_nomem(err);
    REFS_TRY(refs_intern_add(&along->keys, bytes_of(&key), &id, err));
    if (id == n) along->of_key[n] = slice;
    return REFS_OK;
}

static void ends_of(const double *values, uint64_t n, double ends[2]) {
    const double first = values[0], last = values[n - 1];
    ends[0] = first < last ? first : last;
    ends[1] = first < last ? last : first;
}

/* The first that does not end before `low`. */
static size_t reach_from(const gather_axis *along, double low) {
    size_t begin = 0, end = along->n_reaches;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (along->reaches[middle][1] < low)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

bool gather_is_covered(const gather_axis *along, const double *values, uint64_t n) {
    double ends[2];
    ends_of(values, n, ends);
    const size_t i = reach_from(along, ends[0]);
    return i < along->n_reaches && along->reaches[i][0] <= ends[1];
}

/* Those that the new one meets become one with it. */
static refs_status add_reach(gather_axis *along, const gather_slice *made, refs_error *err) {
    double ends[2];
    if (made->values == NULL || made->size == 0) return REFS_OK;
    ends_of(made->values, made->size, ends);
    if (isnan(ends[0]) || isnan(ends[1])) return REFS_OK;
    if (!refs_grow((void **)&along->reaches, &along->reach_capacity, along->n_reaches,
                   sizeof *along->reaches))
        return refs_fail_nomem(err);
    const size_t i = reach_from(along, ends[0]);
    size_t next = i;
    for (; next < along->n_reaches && along->reaches[next][0] <= ends[1]; next++) {
        if (along->reaches[next][0] < ends[0]) ends[0] = along->reaches[next][0];
        if (along->reaches[next][1] > ends[1]) ends[1] = along->reaches[next][1];
    }
    memmove(along->reaches + i + 1, along->reaches + next,
            (along->n_reaches - next) * sizeof *along->reaches);
    memcpy(along->reaches[i], ends, sizeof ends);
    along->n_reaches += i + 1 - next;
    return REFS_OK;
}

refs_status gather_add_slice(gather_axis *along, const gather_slice *made, refs_error *err) {
    if (!refs_grow((void **)&along->slices, &along->capacity, along->n, sizeof *along->slices)) {
        refs_free(made->values);
        return refs_fail_nomem(err);
    }
    const refs_status status = add_reach(along, made, err);
    if (status != REFS_OK) {
        refs_free(made->values);
        return status;
    }
    along->slices[along->n] = *made;
    along->slices[along->n].number = along->n;
    along->n_single += made->is_single;
    return keep_key(along, along->n++, err);
}

static bool is_same_number(double a, double b, bool as_floats) {
    return a == b || (as_floats && (float)a == (float)b);
}

size_t gather_find_slice(const gather_axis *along, const gather_slice *other) {
    const double key = other->key + 0.0;
    const uint32_t id = refs_intern_find(&along->keys, bytes_of(&key));
    if (id != REFS_INTERN_NONE) return along->of_key[id];
    /* Those of one precision are the same only where they are equal. */
    const size_t n_other = other->is_single ? along->n - along->n_single : along->n_single;
    for (size_t i = 0; n_other > 0 && i < along->n; i++)
        if (along->slices[i].is_single != other->is_single &&
            is_same_number(along->slices[i].key, key, true))
            return i;
    return SIZE_MAX;
}

uint64_t gather_find_element(const gather_axis *along, const gather_slice *of, uint64_t k,
                             size_t *near) {
    for (int as_floats = 0; as_floats < 2; as_floats++)
        for (size_t i = 0; i < along->n; i++) {
            const gather_slice *at = &along->slices[(*near + i) % along->n];
            if (as_floats && at->is_single == of->is_single) continue;
            for (uint64_t j = 0; at->values != NULL && j < at->size; j++) {
                if (!is_same_number(at->values[j], of->values[k], as_floats)) continue;
                *near = (*near + i) % along->n;
                return at->begin + j;
            }
        }
    return UINT64_MAX;
}

static bool differs(double a, double b) {
    return !(a - b <= 1e-9 * (1 + (a < 0 ? -a : a)) && b - a <= 1e-9 * (1 + (a < 0 ? -a : a)));
}

bool gather_differs_as_float(double a, double b) {
    return differs(a, b) && !(a - b <= 1.2e-7 * fabs(a) && b - a <= 1.2e-7 * fabs(a));
}

/* Fragments of one slice have one coordinate. */
static refs_status check_values(const gather_part *of, const gather_axis *along,
                                const gather_slice *known, const gather_slice *made,
                                refs_error *err) {
    for (uint64_t k = 0; known->values != NULL && made->values != NULL && k < made->size; k++)
        if (gather_differs_as_float(known->values[k], made->values[k]))
            return refs_fail(err, REFS_INVALID,
                             "%s: element %llu of %s is %.15g, and %.15g in another source: files "
                             "of one grid are aggregated",
                             of->named, (unsigned long long)k, along->name, made->values[k],
                             known->values[k]);
    return REFS_OK;
}

/* A member that gets its place along dimension `d` of its field. */
typedef struct placing {
    gathering *all;
    gather_field *of;
    size_t d;
    gather_member *from;
} placing;

static refs_status fail_member(const placing *at, const char *why, refs_error *err) {
    return gather_fail_place(&at->all->parts[at->from->part], at->of, &at->of->axes[at->d], why,
                             err);
}

/* The first value of its coordinate, unless names give numbers. */
static refs_status find_key(const placing *at, gather_slice *made, refs_error *err) {
    made->key = 0;
    if (at->of->is_named) {
        made->key = (double)at->from->index[at->d];
        made->is_single = false;
    } else if (made->values != NULL && made->size > 0) {
        made->key = made->values[0];
        if (isnan(made->key)) return fail_member(at, "its first coordinate is missing", err);
    } else if (made->values == NULL && at->of->axes[at->d].coordinate != SIZE_MAX) {
        return fail_member(at, "has no coordinate, which others have,", err);
    }
    return REFS_OK;
}

/* The slice of a member; `made` keeps its values where nothing takes them. */
static refs_status settle_slice(const placing *at, gather_slice *made, refs_error *err) {
    gather_axis *along = &at->of->axes[at->d];
    REFS_TRY(find_key(at, made, err));
    if (made->values != NULL && made->size > 1 && made->values[0] > made->values[made->size - 1])
        along->descends = true;
    const size_t found = gather_find_slice(along, made);
    at->from->slices[at->d] = found != SIZE_MAX ? found : along->n;
    if (found == SIZE_MAX) {
        const gather_slice added = *made;
        made->values = NULL;
        return gather_add_slice(along, &added, err);
    }
    gather_slice *known = &along->slices[found];
    if (known->size != made->size)
        return fail_member(at, "is cut otherwise than another source", err);
    if (known->values == NULL) {
        known->values = made->values;
        made->values = NULL;
        return add_reach(along, known, err);
    }
    return check_values(&at->all->parts[at->from->part], along, known, made, err);
}

static refs_status take_slice(const placing *at, refs_error *err) {
    const gather_member *from = at->from;
    gather_slice made = {.size = gather_array_of(at->all, from->part, from->array)->shape[at->d]};
    REFS_TRY(gather_read_values(at->all, &at->of->axes[at->d], from->part, &made, err));
    refs_status status = settle_slice(at, &made, err);
    refs_free(made.values);
    return status;
}

static int ascending(const void *a, const void *b) {
    const gather_slice *one = a, *other = b;
    return (one->key > other->key) - (one->key < other->key);
}

static int descending(const void *a, const void *b) {
    return ascending(b, a);
}

/* A group has one dimension of a name, and it has one length. */
static refs_status fail_two_lengths(const gathering *all, const gather_field *of, size_t d,
                                    refs_error *err) {
    const gather_member *first = &of->members[0];
    const refs_cfa_array *array = gather_array_of(all, first->part, first->array);
    return refs_fail(err, REFS_INVALID,
                     "%s: dimension %s of %s has %llu elements, and another number in other arrays "
                     "of its group: give one of them another name",
                     all->parts[first->part].named, of->axes[d].name, of->path,
                     (unsigned long long)array->shape[d]);
}

static refs_status find_slices(gathering *all, gather_field *of, size_t d, refs_error *err) {
    gather_axis *along = &of->axes[d];
    along->path = dim_path(all, &of->members[0], d);
    along->name = gather_array_of(all, of->members[0].part, of->members[0].array)->variable.dims[d];
    if (along->path == NULL) return fail_two_lengths(all, of, d, err);
    along->coordinate = gather_coordinate_of(all, 0, along->path);
    for (size_t m = 0; m < of->n; m++) {
        const placing at = {all, of, d, &of->members[m]};
        REFS_TRY(take_slice(&at, err));
    }
    return REFS_OK;
}

static refs_status order_axis(gather_field *of, size_t d, refs_error *err) {
    gather_axis *along = &of->axes[d];
    qsort(along->slices, along->n, sizeof *along->slices,
          along->descends && !of->is_named ? descending : ascending);
    for (size_t i = 0; i < along->n; i++) {
        if (i > 0) along->slices[i].begin = along->slices[i - 1].begin + along->slices[i - 1].size;
        if (!of->is_named || along->slices[i].key == (double)i) continue;
        return refs_fail(
            err, REFS_INVALID,
            "%s: no fragment number %zu along %s is there: its size is not known. Give "
            "one with that number; where all held nothing but the fill value and "
            "were not written, split the source again",
            of->path, i, along->name);
    }
    return REFS_OK;
}

static int by_index(const void *a, const void *b) {
    const gather_member *one = a, *other = b;
    for (size_t d = 0; d < REFS_MAX_RANK; d++)
        if (one->index[d] != other->index[d]) return one->index[d] < other->index[d] ? -1 : 1;
    return 0;
}

/* "m/m.tas" of "m/m.tas.0.1.0.nc", which has `rank` numbers. */
static refs_str stem_of(const char *name, size_t rank) {
    refs_str stem = refs_str_from(name);
    if (refs_str_ends(stem, ".nc")) stem.size -= 3;
    for (size_t d = 0; d < rank; d++) stem.size = refs_str_find_last(stem, '.');
    return stem;
}

static bool are_of_one_archive(const gathering *all, const gather_field *of) {
    const refs_str first = stem_of(all->parts[of->members[0].part].named, of->rank);
    for (size_t m = 1; m < of->n; m++)
        if (!refs_str_equal(stem_of(all->parts[of->members[m].part].named, of->rank), first))
            return false;
    return true;
}

static bool have_coordinates(const gathering *all, const gather_field *of) {
    for (size_t m = 0; m < of->n; m++)
        for (size_t d = 0; d < of->rank; d++) {
            const char *path = dim_path(all, &of->members[m], d);
            if (path == NULL || gather_coordinate_of(all, of->members[m].part, path) == SIZE_MAX)
                return false;
        }
    return true;
}

/* Names of two archives may say the same of different fragments: then coordinates tell. */
static refs_status check_names(gathering *all, gather_field *of, refs_error *err) {
    of->are_numbered = of->is_named;
    if (!of->is_named) return REFS_OK;
    qsort(of->members, of->n, sizeof *of->members, by_index);
    for (size_t m = 1; m < of->n; m++)
        if (by_index(&of->members[m - 1], &of->members[m]) == 0) of->is_named = false;
    if (of->is_named && !are_of_one_archive(all, of) && have_coordinates(all, of))
        of->is_named = false;
    return gather_take_outline(all, of, err);
}

const gather_axis *gather_find_axis(const gathering *all, const char *name, const gather_field **of,
                                    size_t *d) {
    for (size_t f = 0; f < all->n_fields; f++)
        for (*d = 0; *d < all->fields[f].rank; (*d)++)
            if (strcmp(all->fields[f].axes[*d].name, name) == 0) {
                *of = &all->fields[f];
                return &all->fields[f].axes[*d];
            }
    return NULL;
}

/* Slices have their order: those of members become places in it. */
static refs_status place_along(gather_field *of, size_t d, refs_error *err) {
    const gather_axis *along = &of->axes[d];
    size_t *places = refs_calloc(along->n + 1, sizeof *places);
    if (places == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < along->n; i++) places[along->slices[i].number] = i;
    for (size_t m = 0; m < of->n; m++) of->members[m].index[d] = places[of->members[m].slices[d]];
    refs_free(places);
    return REFS_OK;
}

static refs_status note_members(const gathering *all, gather_field *of, refs_error *err) {
    of->of_part = refs_calloc(all->names.n + 1, sizeof *of->of_part);
    if (of->of_part == NULL) return refs_fail_nomem(err);
    for (size_t m = of->n; m-- > 0;) of->of_part[of->members[m].part] = m + 1;
    return REFS_OK;
}

refs_status gather_place_members(gathering *all, gather_field *of, refs_error *err) {
    REFS_TRY(check_names(all, of, err));
    REFS_TRY(note_members(all, of, err));
    for (size_t d = 0; d < of->rank; d++) REFS_TRY(find_slices(all, of, d, err));
    REFS_TRY(gather_add_gaps(all, of, err));
    REFS_TRY(gather_check_boxes(all, of, err));
    for (size_t d = 0; d < of->rank; d++) {
        REFS_TRY(order_axis(of, d, err));
        REFS_TRY(place_along(of, d, err));
    }
    return REFS_OK;
}

uint64_t gather_length_of(const gather_axis *along) {
    const gather_slice *last = &along->slices[along->n - 1];
    return last->begin + last->size;
}

/* Whether two axes count alike: fragments of both may be cut as they want to be. */
static bool are_same(const gather_axis *one, const gather_axis *other) {
    size_t j = 0;
    uint64_t at = 0;
    if (gather_length_of(one) != gather_length_of(other)) return false;
    for (size_t i = 0; i < one->n; i++)
        for (uint64_t k = 0; k < one->slices[i].size; k++, at++) {
            while (at >= other->slices[j].begin + other->slices[j].size) j++;
            const double *a = one->slices[i].values, *b = other->slices[j].values;
            if (a != NULL && b != NULL && differs(a[k], b[at - other->slices[j].begin]))
                return false;
        }
    return true;
}

refs_status gather_check_axes(const gathering *all, const gather_field *of, refs_error *err) {
    for (size_t d = 0; d < of->rank; d++) {
        const gather_field *first;
        size_t k;
        const gather_axis *along = gather_find_axis(all, of->axes[d].name, &first, &k);
        if (along == NULL) continue;
        /* Dimensions of one name have one length in a master, also those of groups. */
        const bool have_coordinate = along->path != NULL && of->axes[d].path != NULL &&
                                     strcmp(along->path, of->axes[d].path) == 0;
        if (have_coordinate ? are_same(along, &of->axes[d])
                            : gather_length_of(along) == gather_length_of(&of->axes[d]))
            continue;
        return refs_fail(err, REFS_INVALID,
                         "%s and %s do not have the same steps along %s (%llu and %llu), as the "
                         "files say that have them, by their coordinates or the numbers in their "
                         "names: give all files, or those of one of the variables",
                         first->path, of->path, along->name,
                         (unsigned long long)gather_length_of(along),
                         (unsigned long long)gather_length_of(&of->axes[d]));
    }
    return REFS_OK;
}
