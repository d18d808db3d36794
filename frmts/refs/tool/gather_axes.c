/* gather_axes.c -- where fragments belong along the dimensions of a field; see gather.h. */
#include "gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

refs_status gather_read_values(gathering *all, const gather_axis *along, size_t p,
                               gather_slice *made, refs_error *err) {
    const uint64_t n = made->size;
    size_t c = gather_coordinate_of(all, p, along->path);
    double scale = 1, offset = 0;
    made->values = NULL;
    if (along->coordinate == SIZE_MAX || c == SIZE_MAX) return REFS_OK;
    const refs_cfa_variable *variable = &gather_array_of(all, p, c)->variable;
    const refs_cf_units from = gather_units_of(variable);
    const refs_cf_units to =
        gather_wanted_units(all, &gather_array_of(all, 0, along->coordinate)->variable);
    if (refs_cf_convert_units(&from, &to, &scale, &offset) == REFS_CF_CONVERSION_UNKNOWN)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s and %s have other units or calendars of %s: \"%.*s\" (%.*s) and "
                         "\"%.*s\" (%.*s)",
                         all->names.items[0], gather_name_of(all, p), along->name,
                         REFS_STR_ARG(to.units), REFS_STR_ARG(calendar_shown(&to)),
                         REFS_STR_ARG(from.units), REFS_STR_ARG(calendar_shown(&from)));
    refs_array *array;
    REFS_TRY(
        refs_array_open(&all->parts[p].arrays.context, all->parts[p].arrays.metas[c], &array, err));
    double *read = refs_calloc((size_t)n + 1, sizeof *read);
    refs_status status =
        read != NULL ? refs_array_read_doubles(array, n, read, err) : refs_fail_nomem(err);
    for (uint64_t i = 0; status == REFS_OK && i < n; i++)
        read[i] = (read[i] * gather_number_of(variable, "scale_factor", 1) +
                   gather_number_of(variable, "add_offset", 0)) *
                      scale +
                  offset;
    refs_array_free(array);
    if (status == REFS_OK)
        made->values = read;
    else
        refs_free(read);
    return status;
}

refs_status gather_fail_place(const gather_part *of, const gather_field *joined,
                              const gather_axis *along, const char *why, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s: %s along %s of %s", of->named, why, along->name,
                     joined->path);
}

size_t gather_find_slice(const gather_axis *along, double key) {
    for (size_t i = 0; i < along->n; i++)
        if (along->slices[i].key == key) return i;
    return SIZE_MAX;
}

static refs_status add_slice(gather_axis *along, const gather_slice *made, refs_error *err) {
    if (!refs_grow((void **)&along->slices, &along->capacity, along->n, sizeof *along->slices))
        return refs_fail_nomem(err);
    along->slices[along->n] = *made;
    along->slices[along->n++].values = NULL;
    return REFS_OK;
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

static refs_status take_slice(gathering *all, gather_field *of, size_t d, gather_member *from,
                              refs_error *err) {
    gather_axis *along = &of->axes[d];
    gather_slice made = {.size = gather_array_of(all, from->part, from->array)->shape[d]};
    REFS_TRY(gather_read_values(all, along, from->part, &made, err));
    size_t before = along->n;
    made.key = of->is_named                           ? (double)from->index[d]
               : made.values != NULL && made.size > 0 ? made.values[0]
                                                      : 0;
    if (made.values != NULL && made.size > 1 && made.values[0] > made.values[made.size - 1])
        along->descends = true;
    size_t known = gather_find_slice(along, made.key);
    refs_status status = REFS_OK;
    from->slices[d] = known != SIZE_MAX ? known : before;
    if (known == SIZE_MAX)
        status = add_slice(along, &made, err);
    else if (along->slices[known].size != made.size)
        status = gather_fail_place(&all->parts[from->part], of, along,
                                   "is cut otherwise than another source", err);
    else
        status = check_values(&all->parts[from->part], along, &along->slices[known], &made, err);
    if (status == REFS_OK && along->n > before)
        along->slices[before].values = made.values;
    else
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

static refs_status find_slices(gathering *all, gather_field *of, size_t d, refs_error *err) {
    gather_axis *along = &of->axes[d];
    along->path = dim_path(all, &of->members[0], d);
    along->name = gather_array_of(all, of->members[0].part, of->members[0].array)->variable.dims[d];
    along->coordinate = along->path != NULL ? gather_coordinate_of(all, 0, along->path) : SIZE_MAX;
    for (size_t m = 0; m < of->n; m++) REFS_TRY(take_slice(all, of, d, &of->members[m], err));
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

/* Where a member belongs along a dimension. */
static size_t place_of(gathering *all, const gather_field *of, size_t d, const gather_member *from,
                       refs_error *err) {
    const gather_axis *along = &of->axes[d];
    double key = (double)from->index[d];
    if (!of->is_named) {
        gather_slice read = {.size = gather_array_of(all, from->part, from->array)->shape[d]};
        if (gather_read_values(all, along, from->part, &read, err) != REFS_OK) return SIZE_MAX;
        key = read.values != NULL && read.size > 0 ? read.values[0] : 0;
        refs_free(read.values);
    }
    return gather_find_slice(along, key);
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

refs_status gather_place_members(gathering *all, gather_field *of, refs_error *err) {
    REFS_TRY(check_names(all, of, err));
    for (size_t d = 0; d < of->rank; d++) REFS_TRY(find_slices(all, of, d, err));
    REFS_TRY(gather_add_gaps(all, of, err));
    REFS_TRY(gather_check_boxes(all, of, err));
    for (size_t d = 0; d < of->rank; d++) REFS_TRY(order_axis(of, d, err));
    for (size_t m = 0; m < of->n; m++) {
        uint64_t index[REFS_MAX_RANK];
        for (size_t d = 0; d < of->rank; d++) {
            size_t found = place_of(all, of, d, &of->members[m], err);
            if (found == SIZE_MAX)
                return gather_fail_place(&all->parts[of->members[m].part], of, &of->axes[d],
                                         "has no place", err);
            index[d] = found;
        }
        memcpy(of->members[m].index, index, sizeof index);
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
        if (along == NULL || along->path == NULL || of->axes[d].path == NULL ||
            strcmp(along->path, of->axes[d].path) != 0 || are_same(along, &of->axes[d]))
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
