/* gather.c -- the verb combine, where it makes a master of files that are its fragments.
 *
 * Where a fragment belongs its name says (m.tas.0.1.0.nc), where those of all say that, or else the
 * values of its coordinates.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outline.h"
#include "refs/cf.h"
#include "refs/join_aggregate.h"
#include "refs/unlimited.h"

/* A source. */
typedef struct part {
    tool_arrays arrays;
    char *named; /* in the master */
    const char *format;
} part;

/* What fragments have in common along one dimension of a field: one place in the grid. */
typedef struct slice {
    double key;    /* the index that names give, or the first value */
    uint64_t size; /* elements */
    uint64_t begin;
    double *values; /* of the coordinate, in the units of the master; NULL: there is none */
    bool is_gap;    /* nothing is there, as the master that is added to says, or an outline */
    size_t teller;  /* which part that is, and its element where this begins */
    uint64_t in_teller;
} slice;

typedef struct axis {
    const char *path; /* of the dimension */
    const char *name;
    size_t coordinate; /* of the first part, or SIZE_MAX */
    slice *slices;
    size_t n, capacity;
    bool descends;
} axis;

/* A part's array of a field, and where it belongs. */
typedef struct member {
    size_t part, array;
    uint64_t index[REFS_MAX_RANK]; /* in names; then, in the grid */
    size_t slices[REFS_MAX_RANK];  /* of the axes, before these are put in order */
} member;

typedef struct field {
    const char *path;
    size_t rank;
    member *members;
    size_t n, capacity;
    bool is_named;                 /* by numbers */
    bool has_told_units;           /* that they are not converted */
    bool are_numbered;             /* names have such, if not each its own */
    size_t n_absent, first_absent; /* parts that do not have it, and have its coordinates */
    size_t outline; /* part that says what was written, if numbers in names do; else SIZE_MAX */
    tool_outlined outlined;
    axis axes[REFS_MAX_RANK];
} field;

typedef struct gathering {
    const tool_arguments *arguments;
    tool_session session;
    tool_names names;
    part *parts; /* of the names; behind them the master that is added to */
    bool has_master;
    field *fields;
    size_t n_fields, fields_capacity;
    size_t n_aggregations; /* that are in the master */
    char folder[PATH_MAX]; /* of the master, where that is local */
    const char *output;
    refs_buf output_shown;
    refs_master_options options;
    tool_sending sending;
} gathering;

/* "m.variable.fill.3x4.nc": what stands in CF-1.13 for fragments that are missing. */
static bool is_filler_name(const char *name) {
    const char *slash = strrchr(name, '/');
    return strstr(slash != NULL ? slash : name, ".fill.") != NULL;
}

/* Whether a part is the outline of others, and no fragment. */
static bool is_outline(const gathering *all, size_t p) {
    return p < all->names.n && tool_is_outline(all->names.items[p]);
}

/* The array of an outline that tells of a field, or SIZE_MAX. */
static size_t find_outlined(const gathering *all, size_t p, const char *path) {
    const size_t i = is_outline(all, p) ? tool_arrays_find(&all->parts[p].arrays, path) : SIZE_MAX;
    return i != SIZE_MAX && all->parts[p].arrays.metas[i]->aggregation != NULL ? i : SIZE_MAX;
}

static const refs_cfa_array *array_of(const gathering *all, size_t p, size_t i) {
    return &all->parts[p].arrays.source.arrays[i];
}

/* -- sources ----------------------------------------------------------------------------------- */

/* How much of a name in a store is the folder of the master there: CF-1.13 names fragments relative
 * to that, S3netCDF4 as they are. */
static size_t size_of_folder(const gathering *all, const char *name) {
    const size_t size = (size_t)(strrchr(all->output, '/') + 1 - all->output);
    const bool is_relative = all->options.version == REFS_CFA_CF_1_13 &&
                             tool_is_remote(all->output) && strncmp(name, all->output, size) == 0;
    return is_relative ? size : 0;
}

/* Sets *named to "p/m.nc" in the folder of the master, else to what it is, with all folders before
 * it. */
static refs_status name_part(const gathering *all, const char *name, char **named,
                             refs_error *err) {
    char real[PATH_MAX];
    const size_t size = strlen(all->folder);
    if (tool_is_remote(name) || realpath(name, real) == NULL) {
        *named = refs_str_copy(refs_str_from(name + size_of_folder(all, name)));
    } else if (tool_is_remote(all->output)) {
        return refs_fail(err, REFS_INVALID,
                         "%s: is a file of this machine, which the master %s cannot name: copy the "
                         "fragments to where others read them, and name them there",
                         name, all->output);
    } else {
        const bool is_inside = strncmp(real, all->folder, size) == 0 && real[size] == '/';
        *named = refs_str_copy(refs_str_from(is_inside ? real + size + 1 : real));
    }
    return *named != NULL ? REFS_OK : refs_fail_nomem(err);
}

static const char *format_of(const gathering *all, const char *location) {
    uint8_t head[4] = {0};
    const refs_vfs_range range = {0, sizeof head, head};
    size_t got;
    if (refs_vfs_read_range(all->session.vfs, location, &range, &got, NULL) != REFS_OK) return NULL;
    if (got < 4 || memcmp(head, "CDF", 3) != 0) return "NETCDF4";
    return head[3] == 5   ? "NETCDF3_64BIT_DATA"
           : head[3] == 2 ? "NETCDF3_64BIT_OFFSET"
                          : "NETCDF3_CLASSIC";
}

static refs_status find_folder(gathering *all, refs_error *err) {
    char output[PATH_MAX];
    if (tool_is_remote(all->output)) return REFS_OK;
    snprintf(output, sizeof output, "%s", all->output);
    char *slash = strrchr(output, '/');
    if (slash != NULL) slash[slash == output] = '\0';
    if (realpath(slash != NULL ? output : ".", all->folder) == NULL)
        return refs_fail(err, REFS_IO, "%s: there is no such folder", output);
    return REFS_OK;
}

static refs_status open_parts(gathering *all, refs_error *err) {
    REFS_TRY(find_folder(all, err));
    all->parts = refs_calloc(all->names.n + 1, sizeof *all->parts);
    if (all->parts == NULL) return refs_fail_nomem(err);
    for (size_t p = 0; p < all->names.n; p++) {
        part *one = &all->parts[p];
        if (!tool_go_on(NULL)) return refs_fail(err, REFS_CANCELLED, "interrupted");
        REFS_TRY(name_part(all, all->names.items[p], &one->named, err));
        REFS_TRY(tool_arrays_open(&all->session, all->names.items[p], &one->arrays, err));
        one->format = format_of(all, one->arrays.location);
    }
    if (all->names.n == 0) return refs_fail(err, REFS_INVALID, "there are no sources");
    if (all->arguments->output != NULL) return REFS_OK;
    REFS_TRY(tool_arrays_open(&all->session, all->output, &all->parts[all->names.n].arrays, err));
    all->has_master = true;
    return REFS_OK;
}

/* -- fields ------------------------------------------------------------------------------------ */

/* Whether `name` ends with that of a variable, as names of fragments have it: ".group.variable". */
static bool ends_with_variable(refs_str name, const char *path) {
    size_t size = strlen(path);
    if (name.size < size) return false;
    for (size_t i = 0; i < size; i++) {
        char wanted = path[i] == '/' ? '.' : path[i];
        if (name.data[name.size - size + i] != wanted) return false;
    }
    return true;
}

/* The last `rank` numbers of "m.variable.0.1.0.nc". */
static bool index_in(const char *name, const field *of, uint64_t *index) {
    refs_str text = refs_str_from(name);
    if (refs_str_ends(text, ".nc")) text.size -= 3;
    for (size_t d = of->rank; d-- > 0;) {
        size_t point = refs_str_find_last(text, '.');
        if (point == SIZE_MAX ||
            !refs_str_to_u64(refs_str_part(text, point + 1, text.size), &index[d]))
            return false;
        text.size = point;
    }
    return ends_with_variable(text, of->path);
}

static field *find_field(gathering *all, const char *path) {
    for (size_t i = 0; i < all->n_fields; i++)
        if (strcmp(all->fields[i].path, path) == 0) return &all->fields[i];
    return NULL;
}

static field *add_field(gathering *all, const refs_cfa_array *array) {
    if (!refs_grow((void **)&all->fields, &all->fields_capacity, all->n_fields,
                   sizeof *all->fields))
        return NULL;
    field *added = &all->fields[all->n_fields++];
    memset(added, 0, sizeof *added);
    added->outline = SIZE_MAX;
    added->path = array->variable.path;
    added->rank = array->variable.rank;
    added->is_named = true;
    return added;
}

static refs_status fail_alike(const gathering *all, const field *of, size_t p, const char *what,
                              refs_error *err) {
    return refs_fail(err, REFS_INVALID,
                     "%s: its %s differs between %s and %s, which one aggregation of them cannot "
                     "have: refs index FILE... -o MASTER.nc makes one that is unpacked",
                     of->path, what, all->parts[of->members[0].part].named, all->parts[p].named);
}

static bool is_same_attribute(const refs_cfa_array *a, const refs_cfa_array *b, const char *name) {
    refs_buf one = REFS_BUF_INIT, other = REFS_BUF_INIT;
    const refs_json *left = refs_json_get(a->variable.attributes, name),
                    *right = refs_json_get(b->variable.attributes, name);
    bool is_same = (left == NULL) == (right == NULL);
    if (is_same && left != NULL)
        is_same = refs_json_write(left, &one, NULL) == REFS_OK &&
                  refs_json_write(right, &other, NULL) == REFS_OK && one.size == other.size &&
                  memcmp(one.data, other.data, one.size) == 0;
    refs_buf_clear(&one);
    refs_buf_clear(&other);
    return is_same;
}

static refs_cf_units units_of(const refs_cfa_variable *variable) {
    return (refs_cf_units){refs_json_text(refs_json_get(variable->attributes, "units")),
                           refs_json_text(refs_json_get(variable->attributes, "calendar"))};
}

static void tell_units(const gathering *all, field *of, size_t p, const refs_cf_units units[2]) {
    const refs_notes notes = {tool_note, NULL};
    if (!of->has_told_units && !all->arguments->quiet)
        refs_note(
            &notes, REFS_NOTE_WARNING,
            "%s: its units are \"%.*s\" in %s and \"%.*s\" in %s, which are not converted into "
            "each other: values are read as they are",
            of->path, REFS_STR_ARG(units[0].units), all->parts[of->members[0].part].named,
            REFS_STR_ARG(units[1].units), all->parts[p].named);
    of->has_told_units = true;
}

static double number_of(const refs_cfa_variable *variable, const char *name, double otherwise) {
    double number;
    const refs_json *json = refs_json_get(variable->attributes, name);
    return refs_json_double(json, &number) ? number : otherwise;
}

/* Elements that are integers, packed or not, are integers in the units of the first part, too,
 * where units are multiples of each other. */
static bool stay_whole(const refs_cfa_variable *first, double scale, double offset) {
    const double step = number_of(first, "scale_factor", 1),
                 zero = number_of(first, "add_offset", 0);
    const double moved = (zero * scale + offset - zero) / step;
    return first->dtype.type == REFS_TYPE_FLOAT ||
           (fabs(scale - round(scale)) < 1e-9 && fabs(moved - round(moved)) < 1e-6);
}

static refs_status check_units(const gathering *all, field *of, size_t p, size_t i,
                               refs_error *err) {
    const refs_cfa_variable *first =
        &array_of(all, of->members[0].part, of->members[0].array)->variable;
    const refs_cf_units units[2] = {units_of(first), units_of(&array_of(all, p, i)->variable)};
    double scale, offset;
    const refs_cf_conversion found = refs_cf_convert_units(&units[1], &units[0], &scale, &offset);
    if (found == REFS_CF_CONVERSION_UNKNOWN) tell_units(all, of, p, units);
    if (found == REFS_CF_CONVERSION_LINEAR && !stay_whole(first, scale, offset))
        return fail_alike(all, of, p, "unit", err);
    return REFS_OK;
}

/* What tells which values elements stand for is told once, for all fragments. */
static refs_status check_alike(const gathering *all, field *of, size_t p, size_t i,
                               refs_error *err) {
    static const char *const names[] = {"_FillValue", "missing_value", "scale_factor", "add_offset",
                                        "_Unsigned",  "valid_range",   "valid_min",    "valid_max"};
    const refs_cfa_array *array = array_of(all, p, i);
    const refs_cfa_array *first = array_of(all, of->members[0].part, of->members[0].array);
    const refs_dtype *one = &first->variable.dtype, *other = &array->variable.dtype;
    if (one->type != other->type || one->size != other->size)
        return fail_alike(all, of, p, "type", err);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!is_same_attribute(first, array, names[k]))
            return fail_alike(all, of, p, names[k], err);
    return check_units(all, of, p, i, err);
}

static refs_status check_member(const gathering *all, field *of, size_t p, size_t i,
                                refs_error *err) {
    const refs_cfa_array *array = array_of(all, p, i);
    const refs_cfa_array *first = array_of(all, of->members[0].part, of->members[0].array);
    bool fits = array->variable.rank == first->variable.rank;
    for (size_t d = 0; fits && d < array->variable.rank; d++)
        fits = strcmp(array->variable.dims[d], first->variable.dims[d]) == 0;
    if (fits) return check_alike(all, of, p, i, err);
    return refs_fail(err, REFS_INVALID, "%s: its dimensions differ between %s and %s", of->path,
                     all->parts[of->members[0].part].named, all->parts[p].named);
}

static bool is_filler(const gathering *all, size_t p) {
    return is_filler_name(all->parts[p].named);
}

static refs_status add_member(gathering *all, size_t p, size_t i, refs_error *err) {
    const refs_cfa_array *array = array_of(all, p, i);
    if (is_filler(all, p) || is_outline(all, p)) return REFS_OK;
    if (all->parts[p].arrays.metas[i]->aggregation != NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: its %s is an aggregation, and aggregations of aggregations are not "
                         "read: give the files of its fragments",
                         all->parts[p].named, array->variable.path);
    field *of = find_field(all, array->variable.path);
    if (of == NULL) of = add_field(all, array);
    if (of == NULL || !refs_grow((void **)&of->members, &of->capacity, of->n, sizeof *of->members))
        return refs_fail_nomem(err);
    if (of->n > 0) REFS_TRY(check_member(all, of, p, i, err));
    member *added = &of->members[of->n++];
    *added = (member){.part = p, .array = i};
    of->is_named = of->is_named && index_in(all->parts[p].named, of, added->index);
    return REFS_OK;
}

static refs_status find_fields(gathering *all, refs_error *err) {
    for (size_t p = 0; p < all->names.n; p++) {
        const refs_cfa_source *source = &all->parts[p].arrays.source;
        for (size_t i = 0; i < source->n_arrays; i++)
            if (refs_cfa_is_field(source, i)) REFS_TRY(add_member(all, p, i, err));
    }
    if (all->n_fields > 0 || is_outline(all, 0)) return REFS_OK;
    return all->names.n > 0 && is_filler(all, 0)
               ? refs_fail(err, REFS_INVALID,
                           "%s: stands for fragments that held nothing but the fill value, and no "
                           "other fragment is given that tells where they were: split the source "
                           "again",
                           all->names.items[0])
               : refs_fail(err, REFS_INVALID, "the sources have no variables to aggregate");
}

/* -- places ------------------------------------------------------------------------------------ */

/* A variable, and the first part that has it. */
typedef struct seen {
    const char *path;
    size_t part, array;
} seen;

typedef struct seen_list {
    seen *items;
    size_t n, capacity;
} seen_list;

static refs_status fail_elsewhere(const gathering *all, const seen *first, size_t p,
                                  const refs_buf *difference, refs_error *err) {
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s and %s do not lie in one place: %s: %.*s: files of one grid are aggregated",
        all->parts[first->part].named, all->parts[p].named, first->path, (int)difference->size,
        (const char *)difference->data);
}

static refs_status check_place(const gathering *all, seen_list *list, const seen *at,
                               refs_error *err) {
    const refs_cfa_variable *variable = &array_of(all, at->part, at->array)->variable;
    size_t i = 0;
    while (i < list->n && strcmp(list->items[i].path, at->path) != 0) i++;
    if (i == list->n) {
        if (!refs_grow((void **)&list->items, &list->capacity, list->n, sizeof *list->items))
            return refs_fail_nomem(err);
        list->items[list->n++] = *at;
        return REFS_OK;
    }
    const seen *first = &list->items[i];
    const refs_json *const both[2] = {array_of(all, first->part, first->array)->variable.attributes,
                                      variable->attributes};
    refs_buf difference = REFS_BUF_INIT;
    refs_status status = refs_join_compare_places(both, variable->rank, &difference, err);
    if (status == REFS_OK && difference.size > 0)
        status = fail_elsewhere(all, first, at->part, &difference, err);
    refs_buf_clear(&difference);
    return status;
}

/* Of all grid mappings the master has that of the first part. */
static refs_status check_places(const gathering *all, refs_error *err) {
    seen_list list = {NULL, 0, 0};
    refs_status status = REFS_OK;
    for (size_t p = 0; p < all->names.n && status == REFS_OK; p++)
        for (size_t i = 0; i < all->parts[p].arrays.source.n_arrays && status == REFS_OK; i++) {
            const seen at = {array_of(all, p, i)->variable.path, p, i};
            if (!is_filler(all, p)) status = check_place(all, &list, &at, err);
        }
    refs_free(list.items);
    return status;
}

/* -- axes -------------------------------------------------------------------------------------- */

/* The coordinate of a dimension in a part: a variable of its name, in the group or above. */
static size_t coordinate_of(const gathering *all, size_t p, const char *dim_path) {
    return tool_arrays_find(&all->parts[p].arrays, dim_path);
}

static const char *dim_path(const gathering *all, const member *of, size_t d) {
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

/* As the user calls it. */
static const char *name_of(const gathering *all, size_t p) {
    return p < all->names.n ? all->names.items[p] : all->output;
}

static refs_str calendar_shown(const refs_cf_units *units) {
    return units->calendar.size > 0 ? units->calendar : refs_str_from("no calendar");
}

/* Units in which the master counts: those that the user wants of times, else the first part's. */
static refs_cf_units wanted_units(const gathering *all, const refs_cfa_variable *first) {
    refs_cf_units units = units_of(first);
    bool is_time = false;
    for (size_t i = 0; i + 7 <= units.units.size; i++)
        is_time = is_time || memcmp(units.units.data + i, " since ", 7) == 0;
    if (is_time && all->arguments->common_date != NULL)
        units.units = refs_str_from(all->arguments->common_date);
    return units;
}

/* Sets made->values to the values of a coordinate of part `p`, in the units of the master. */
static refs_status read_values(gathering *all, const axis *along, size_t p, slice *made,
                               refs_error *err) {
    const uint64_t n = made->size;
    size_t c = coordinate_of(all, p, along->path);
    double scale = 1, offset = 0;
    made->values = NULL;
    if (along->coordinate == SIZE_MAX || c == SIZE_MAX) return REFS_OK;
    const refs_cfa_variable *variable = &array_of(all, p, c)->variable;
    const refs_cf_units from = units_of(variable);
    const refs_cf_units to = wanted_units(all, &array_of(all, 0, along->coordinate)->variable);
    if (refs_cf_convert_units(&from, &to, &scale, &offset) == REFS_CF_CONVERSION_UNKNOWN)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s and %s have other units or calendars of %s: \"%.*s\" (%.*s) and "
                         "\"%.*s\" (%.*s)",
                         all->names.items[0], name_of(all, p), along->name, REFS_STR_ARG(to.units),
                         REFS_STR_ARG(calendar_shown(&to)), REFS_STR_ARG(from.units),
                         REFS_STR_ARG(calendar_shown(&from)));
    refs_array *array;
    REFS_TRY(
        refs_array_open(&all->parts[p].arrays.context, all->parts[p].arrays.metas[c], &array, err));
    double *read = refs_calloc((size_t)n + 1, sizeof *read);
    refs_status status =
        read != NULL ? refs_array_read_doubles(array, n, read, err) : refs_fail_nomem(err);
    for (uint64_t i = 0; status == REFS_OK && i < n; i++) read[i] = read[i] * scale + offset;
    refs_array_free(array);
    if (status == REFS_OK)
        made->values = read;
    else
        refs_free(read);
    return status;
}

static refs_status fail_place(const part *of, const field *joined, const axis *along,
                              const char *why, refs_error *err) {
    return refs_fail(err, REFS_INVALID, "%s: %s along %s of %s", of->named, why, along->name,
                     joined->path);
}

/* Where the slice of this key is, or SIZE_MAX. */
static size_t find_slice(const axis *along, double key) {
    for (size_t i = 0; i < along->n; i++)
        if (along->slices[i].key == key) return i;
    return SIZE_MAX;
}

static refs_status add_slice(axis *along, const slice *made, refs_error *err) {
    if (!refs_grow((void **)&along->slices, &along->capacity, along->n, sizeof *along->slices))
        return refs_fail_nomem(err);
    along->slices[along->n] = *made;
    along->slices[along->n++].values = NULL;
    return REFS_OK;
}

static bool differs(double a, double b) {
    return !(a - b <= 1e-9 * (1 + (a < 0 ? -a : a)) && b - a <= 1e-9 * (1 + (a < 0 ? -a : a)));
}

/* Of doubles and floats those that are the same as floats do not. */
static bool differs_as_float(double a, double b) {
    return differs(a, b) && !(a - b <= 1.2e-7 * fabs(a) && b - a <= 1.2e-7 * fabs(a));
}

/* Fragments of one slice have one coordinate. */
static refs_status check_values(const part *of, const axis *along, const slice *known,
                                const slice *made, refs_error *err) {
    for (uint64_t k = 0; known->values != NULL && made->values != NULL && k < made->size; k++)
        if (differs_as_float(known->values[k], made->values[k]))
            return refs_fail(err, REFS_INVALID,
                             "%s: element %llu of %s is %.15g, and %.15g in another source: files "
                             "of one grid are aggregated",
                             of->named, (unsigned long long)k, along->name, made->values[k],
                             known->values[k]);
    return REFS_OK;
}

static refs_status take_slice(gathering *all, field *of, size_t d, member *from, refs_error *err) {
    axis *along = &of->axes[d];
    slice made = {.size = array_of(all, from->part, from->array)->shape[d]};
    REFS_TRY(read_values(all, along, from->part, &made, err));
    size_t before = along->n;
    made.key = of->is_named                           ? (double)from->index[d]
               : made.values != NULL && made.size > 0 ? made.values[0]
                                                      : 0;
    if (made.values != NULL && made.size > 1 && made.values[0] > made.values[made.size - 1])
        along->descends = true;
    size_t known = find_slice(along, made.key);
    refs_status status = REFS_OK;
    from->slices[d] = known != SIZE_MAX ? known : before;
    if (known == SIZE_MAX)
        status = add_slice(along, &made, err);
    else if (along->slices[known].size != made.size)
        status = fail_place(&all->parts[from->part], of, along,
                            "is cut otherwise than another source", err);
    else
        status = check_values(&all->parts[from->part], along, &along->slices[known], &made, err);
    if (status == REFS_OK && along->n > before)
        along->slices[before].values = made.values;
    else
        refs_free(made.values);
    return status;
}

/* -- parts that do not have a field -------------------------------------------------------------
 *
 * What they would have of it is missing: their place along its axes is that of their coordinates.
 */

static bool has_field(const field *of, size_t p) {
    for (size_t m = 0; m < of->n; m++)
        if (of->members[m].part == p) return true;
    return false;
}

static void ends_of(const double *values, uint64_t n, double *low, double *high) {
    double first = values[0], last = values[n - 1];
    *low = first < last ? first : last;
    *high = first < last ? last : first;
}

/* Whether some fragment has steps between the first and the last of these. */
static bool is_covered(const axis *along, const double *values, uint64_t n) {
    double low, high, from, to;
    ends_of(values, n, &low, &high);
    for (size_t i = 0; i < along->n; i++) {
        if (along->slices[i].values == NULL || along->slices[i].size == 0) continue;
        ends_of(along->slices[i].values, along->slices[i].size, &from, &to);
        if (from <= high && low <= to) return true;
    }
    return false;
}

static refs_status add_gap(gathering *all, axis *along, size_t p, refs_error *err) {
    const size_t c = along->path != NULL ? coordinate_of(all, p, along->path) : SIZE_MAX;
    slice made = {.values = NULL};
    if (c == SIZE_MAX || array_of(all, p, c)->variable.rank != 1) return REFS_OK;
    made.size = array_of(all, p, c)->shape[0];
    REFS_TRY(read_values(all, along, p, &made, err));
    if (made.values == NULL || made.size == 0 || is_covered(along, made.values, made.size)) {
        refs_free(made.values);
        return REFS_OK;
    }
    made.key = made.values[0];
    if (!refs_grow((void **)&along->slices, &along->capacity, along->n, sizeof *along->slices)) {
        refs_free(made.values);
        return refs_fail_nomem(err);
    }
    along->slices[along->n++] = made;
    return REFS_OK;
}

/* Whether a part has the coordinates of all dimensions of a field. */
static bool has_axes(const gathering *all, const field *of, size_t p) {
    for (size_t d = 0; d < of->rank; d++)
        if (of->axes[d].coordinate != SIZE_MAX &&
            coordinate_of(all, p, of->axes[d].path) == SIZE_MAX)
            return false;
    return true;
}

/* Where the partition of a master ends that holds `element`; one element where there is none. */
static uint64_t end_of_partition(const refs_array_meta *meta, size_t d, uint64_t element) {
    uint64_t at[REFS_MAX_RANK] = {0};
    refs_partition found;
    at[d] = element;
    const bool is_there = refs_aggregation_find(meta, at, &found, NULL) == REFS_OK;
    return is_there && found.end[d] > element ? found.end[d] : element + 1;
}

/* Adds a slice in which nothing is; `values` are those of all elements of the teller. */
static refs_status add_told_gap(axis *along, const double *values, slice made, refs_error *err) {
    const size_t bytes = (size_t)made.size * sizeof *made.values;
    made.values = NULL;
    made.is_gap = true;
    if (values != NULL) {
        made.values = refs_alloc(bytes > 0 ? bytes : 1);
        if (made.values == NULL) return refs_fail_nomem(err);
        memcpy(made.values, values + made.in_teller, bytes);
    }
    if (refs_grow((void **)&along->slices, &along->capacity, along->n, sizeof *along->slices)) {
        along->slices[along->n++] = made;
        return REFS_OK;
    }
    refs_free(made.values);
    return refs_fail_nomem(err);
}

/* What a master has along a dimension, and no file that it names: it stays as it is. */
static refs_status add_master_gaps(gathering *all, field *of, size_t d, refs_error *err) {
    axis *along = &of->axes[d];
    const size_t m = all->names.n, i = tool_arrays_find(&all->parts[m].arrays, of->path);
    const size_t c = along->path != NULL ? coordinate_of(all, m, along->path) : SIZE_MAX;
    slice whole = {.values = NULL};
    if (i == SIZE_MAX || c == SIZE_MAX || array_of(all, m, c)->variable.rank != 1) return REFS_OK;
    const refs_array_meta *meta = all->parts[m].arrays.metas[i];
    whole.size = array_of(all, m, c)->shape[0];
    if (meta->aggregation == NULL || meta->rank != of->rank || meta->shape[d] != whole.size)
        return REFS_OK;
    REFS_TRY(read_values(all, along, m, &whole, err));
    refs_status status = REFS_OK;
    for (uint64_t at = 0; whole.values != NULL && at < whole.size && status == REFS_OK;) {
        const uint64_t end = end_of_partition(meta, d, at);
        const slice made = {
            .size = end - at, .key = whole.values[at], .teller = m, .in_teller = at};
        if (!is_covered(along, whole.values + at, made.size))
            status = add_told_gap(along, whole.values, made, err);
        at = end;
    }
    refs_free(whole.values);
    return status;
}

/* -- outlines -----------------------------------------------------------------------------------
 *
 * They say which fragments held nothing but the fill value and were not written. Of slices of which
 * any was written, and none is given, those are left out that nothing follows.
 */

/* The coordinate of an outline; values stay NULL where there is none. */
static refs_status read_outlined(gathering *all, const field *of, size_t d, slice *whole,
                                 refs_error *err) {
    const axis *along = &of->axes[d];
    const size_t c = along->path != NULL ? coordinate_of(all, of->outline, along->path) : SIZE_MAX;
    whole->size = of->outlined.meta->shape[d];
    if (c == SIZE_MAX || array_of(all, of->outline, c)->variable.rank != 1) return REFS_OK;
    return read_values(all, along, of->outline, whole, err);
}

static size_t count_numbered(const axis *along) {
    double n = 0;
    for (size_t i = 0; i < along->n; i++)
        if (along->slices[i].key >= n) n = along->slices[i].key + 1;
    return (size_t)n;
}

/* `made` borrows the values of all elements of the outline. */
static refs_status add_numbered_gap(const gathering *all, field *of, size_t d, const slice *made,
                                    refs_error *err) {
    axis *along = &of->axes[d];
    const size_t known = find_slice(along, made->key);
    if (known == SIZE_MAX) return add_told_gap(along, made->values, *made, err);
    return along->slices[known].size == made->size
               ? REFS_OK
               : fail_place(&all->parts[of->outline], of, along,
                            "is cut otherwise than another source", err);
}

static refs_status add_numbered_gaps(gathering *all, field *of, size_t d, refs_error *err) {
    axis *along = &of->axes[d];
    const size_t n = count_numbered(along);
    slice whole = {.values = NULL};
    REFS_TRY(read_outlined(all, of, d, &whole, err));
    refs_status status = REFS_OK;
    for (size_t i = 0; i < of->outlined.n[d] && status == REFS_OK; i++) {
        const tool_outlined_slice *told = &of->outlined.slices[d][i];
        const slice made = {.key = (double)i,
                            .size = told->end - told->begin,
                            .values = whole.values,
                            .teller = of->outline,
                            .in_teller = told->begin};
        if (i >= n && told->is_written) break;
        status = add_numbered_gap(all, of, d, &made, err);
    }
    refs_free(whole.values);
    return status;
}

/* Slices of one of several outlines, by their coordinates. */
static refs_status add_outlined_gaps(gathering *all, field *of, size_t d, refs_error *err) {
    axis *along = &of->axes[d];
    slice whole = {.values = NULL};
    REFS_TRY(read_outlined(all, of, d, &whole, err));
    refs_status status = REFS_OK;
    for (size_t i = 0; whole.values != NULL && i < of->outlined.n[d] && status == REFS_OK; i++) {
        const tool_outlined_slice *told = &of->outlined.slices[d][i];
        const slice made = {.key = whole.values[told->begin],
                            .size = told->end - told->begin,
                            .teller = of->outline,
                            .in_teller = told->begin};
        if (told->is_written || is_covered(along, whole.values + told->begin, made.size)) continue;
        status = add_told_gap(along, whole.values, made, err);
    }
    refs_free(whole.values);
    return status;
}

static refs_status add_gaps_of_outlines(gathering *all, field *of, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t p = 0; p < all->names.n && status == REFS_OK; p++) {
        const size_t i = find_outlined(all, p, of->path);
        if (i == SIZE_MAX || all->parts[p].arrays.metas[i]->rank != of->rank) continue;
        of->outline = p;
        status = tool_outlined_open(all->parts[p].arrays.metas[i], &of->outlined, err);
        for (size_t d = 0; d < of->rank && status == REFS_OK; d++)
            status = add_outlined_gaps(all, of, d, err);
        tool_outlined_clear(&of->outlined);
        of->outline = SIZE_MAX;
    }
    return status;
}

static refs_status add_gaps(gathering *all, field *of, refs_error *err) {
    for (size_t d = 0; d < of->rank && of->outline != SIZE_MAX; d++)
        REFS_TRY(add_numbered_gaps(all, of, d, err));
    if (of->is_named) return REFS_OK;
    REFS_TRY(add_gaps_of_outlines(all, of, err));
    for (size_t p = 0; p < all->names.n; p++) {
        if (is_filler(all, p) || is_outline(all, p) || has_field(of, p) || !has_axes(all, of, p))
            continue;
        if (of->n_absent++ == 0) of->first_absent = p;
        for (size_t d = 0; d < of->rank; d++) REFS_TRY(add_gap(all, &of->axes[d], p, err));
    }
    for (size_t d = 0; d < of->rank && all->has_master; d++)
        REFS_TRY(add_master_gaps(all, of, d, err));
    return REFS_OK;
}

static int ascending(const void *a, const void *b) {
    const slice *one = a, *other = b;
    return (one->key > other->key) - (one->key < other->key);
}
static int descending(const void *a, const void *b) {
    return ascending(b, a);
}

static refs_status find_slices(gathering *all, field *of, size_t d, refs_error *err) {
    axis *along = &of->axes[d];
    along->path = dim_path(all, &of->members[0], d);
    along->name = array_of(all, of->members[0].part, of->members[0].array)->variable.dims[d];
    along->coordinate = along->path != NULL ? coordinate_of(all, 0, along->path) : SIZE_MAX;
    for (size_t m = 0; m < of->n; m++) REFS_TRY(take_slice(all, of, d, &of->members[m], err));
    return REFS_OK;
}

static refs_status order_axis(field *of, size_t d, refs_error *err) {
    axis *along = &of->axes[d];
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
static size_t place_of(gathering *all, const field *of, size_t d, const member *from,
                       refs_error *err) {
    const axis *along = &of->axes[d];
    double key = (double)from->index[d];
    if (!of->is_named) {
        slice read = {.size = array_of(all, from->part, from->array)->shape[d]};
        if (read_values(all, along, from->part, &read, err) != REFS_OK) return SIZE_MAX;
        key = read.values != NULL && read.size > 0 ? read.values[0] : 0;
        refs_free(read.values);
    }
    return find_slice(along, key);
}

static int by_index(const void *a, const void *b) {
    const member *one = a, *other = b;
    for (size_t d = 0; d < REFS_MAX_RANK; d++)
        if (one->index[d] != other->index[d]) return one->index[d] < other->index[d] ? -1 : 1;
    return 0;
}

/* Where one outline is there that tells of the field. */
static refs_status take_outline(gathering *all, field *of, refs_error *err) {
    size_t n = 0;
    for (size_t p = 0; p < all->names.n; p++) {
        const size_t i = find_outlined(all, p, of->path);
        if (i == SIZE_MAX || all->parts[p].arrays.metas[i]->rank != of->rank) continue;
        of->outline = p;
        n++;
    }
    of->is_named = of->is_named && n < 2;
    if (!of->is_named) of->outline = SIZE_MAX;
    if (of->outline == SIZE_MAX) return REFS_OK;
    const tool_arrays *arrays = &all->parts[of->outline].arrays;
    return tool_outlined_open(arrays->metas[tool_arrays_find(arrays, of->path)], &of->outlined,
                              err);
}

/* Names of two archives say the same of different fragments: then coordinates tell. */
static refs_status check_names(gathering *all, field *of, refs_error *err) {
    of->are_numbered = of->is_named;
    if (!of->is_named) return REFS_OK;
    qsort(of->members, of->n, sizeof *of->members, by_index);
    for (size_t m = 1; m < of->n; m++)
        if (by_index(&of->members[m - 1], &of->members[m]) == 0) of->is_named = false;
    return take_outline(all, of, err);
}

/* The axis along a dimension, of the first field that has it. */
static const axis *find_axis(const gathering *all, const char *name, const field **of, size_t *d) {
    for (size_t f = 0; f < all->n_fields; f++)
        for (*d = 0; *d < all->fields[f].rank; (*d)++)
            if (strcmp(all->fields[f].axes[*d].name, name) == 0) {
                *of = &all->fields[f];
                return &all->fields[f].axes[*d];
            }
    return NULL;
}

/* -- boxes of one grid --------------------------------------------------------------------------
 */

/* What refs_join compares of a field: the axes along which there are several slices. */
typedef struct boxes {
    gathering *all;
    field *of;
    refs_join *join;
    size_t n_lines, line[REFS_MAX_RANK];
    const char *dims[REFS_MAX_RANK + 1];
    refs_str units[REFS_MAX_RANK];
    slice read[REFS_MAX_RANK]; /* of a part that does not have the field */
} boxes;

static void find_lines(boxes *to) {
    for (size_t d = 0; d < to->of->rank; d++) {
        const axis *along = &to->of->axes[d];
        if (along->n < 2 || along->coordinate == SIZE_MAX) continue;
        to->units[to->n_lines] =
            wanted_units(to->all, &array_of(to->all, 0, along->coordinate)->variable).units;
        to->dims[to->n_lines] = along->name;
        to->line[to->n_lines++] = d;
    }
}

/* Of fields that have the same dimensions, what is missing is told once. */
static bool is_first_along(const boxes *to) {
    const field *of = NULL;
    size_t d;
    for (size_t i = 0; i < to->n_lines; i++) {
        (void)find_axis(to->all, to->dims[i], &of, &d);
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
        if (end_of_partition(meta, to->line[k], 0) >= meta->shape[to->line[k]]) return false;
    return true;
}

static refs_status add_box(boxes *to, size_t p, const char *name, const slice *const *slices,
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
    const slice *slices[REFS_MAX_RANK];
    for (size_t m = 0; m < to->of->n; m++) {
        const member *from = &to->of->members[m];
        for (size_t k = 0; k < to->n_lines; k++)
            slices[k] = &to->of->axes[to->line[k]].slices[from->slices[to->line[k]]];
        REFS_TRY(add_box(to, from->part, to->all->names.items[from->part], slices, err));
    }
    return REFS_OK;
}

static refs_status add_box_of(boxes *to, size_t p, refs_error *err) {
    const slice *slices[REFS_MAX_RANK];
    for (size_t k = 0; k < to->n_lines; k++) {
        const axis *along = &to->of->axes[to->line[k]];
        const refs_cfa_array *array = array_of(to->all, p, coordinate_of(to->all, p, along->path));
        if (array->variable.rank != 1) return REFS_OK;
        to->read[k] = (slice){.size = array->shape[0]};
        REFS_TRY(read_values(to->all, along, p, &to->read[k], err));
        slices[k] = &to->read[k];
    }
    return add_box(to, p, to->all->names.items[p], slices, err);
}

static refs_status add_boxes_without_field(boxes *to, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t p = 0; p < to->all->names.n && status == REFS_OK; p++) {
        if (is_filler(to->all, p) || is_outline(to->all, p) || has_field(to->of, p) ||
            !has_axes(to->all, to->of, p))
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
    const slice *slices[REFS_MAX_RANK];
    for (size_t gap = 0; gap < to->n_lines; gap++) {
        const axis *along = &to->of->axes[to->line[gap]];
        for (size_t i = 0; i < along->n; i++) {
            if (!along->slices[i].is_gap) continue;
            for (size_t k = 0; k < to->n_lines; k++) {
                const size_t d = to->line[k];
                slices[k] = k == gap ? &along->slices[i]
                                     : &to->of->axes[d].slices[to->of->members[0].slices[d]];
            }
            const size_t p = along->slices[i].teller;
            REFS_TRY(add_box(to, p, name_of(to->all, p), slices, err));
        }
    }
    return REFS_OK;
}

static refs_status add_boxes(boxes *to, refs_error *err) {
    REFS_TRY(add_boxes_of_members(to, err));
    REFS_TRY(add_boxes_without_field(to, err));
    return add_boxes_of_gaps(to, err);
}

/* Numbers in names say where fragments belong whatever their coordinates are like; else these are
 * held to what refs index asks of them. */
static refs_status check_boxes(gathering *all, field *of, refs_error *err) {
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

static refs_status place_members(gathering *all, field *of, refs_error *err) {
    REFS_TRY(check_names(all, of, err));
    for (size_t d = 0; d < of->rank; d++) REFS_TRY(find_slices(all, of, d, err));
    REFS_TRY(add_gaps(all, of, err));
    REFS_TRY(check_boxes(all, of, err));
    for (size_t d = 0; d < of->rank; d++) REFS_TRY(order_axis(of, d, err));
    for (size_t m = 0; m < of->n; m++) {
        uint64_t index[REFS_MAX_RANK];
        for (size_t d = 0; d < of->rank; d++) {
            size_t found = place_of(all, of, d, &of->members[m], err);
            if (found == SIZE_MAX)
                return fail_place(&all->parts[of->members[m].part], of, &of->axes[d],
                                  "has no place", err);
            index[d] = found;
        }
        memcpy(of->members[m].index, index, sizeof index);
    }
    return REFS_OK;
}

/* -- the master -------------------------------------------------------------------------------- */

static uint64_t length_of(const axis *along) {
    const slice *last = &along->slices[along->n - 1];
    return last->begin + last->size;
}

/* Whether two axes count alike: fragments of both may be cut as they want to be. */
static bool are_same(const axis *one, const axis *other) {
    size_t j = 0;
    uint64_t at = 0;
    if (length_of(one) != length_of(other)) return false;
    for (size_t i = 0; i < one->n; i++)
        for (uint64_t k = 0; k < one->slices[i].size; k++, at++) {
            while (at >= other->slices[j].begin + other->slices[j].size) j++;
            const double *a = one->slices[i].values, *b = other->slices[j].values;
            if (a != NULL && b != NULL && differs(a[k], b[at - other->slices[j].begin]))
                return false;
        }
    return true;
}

/* Fields that share a dimension have one coordinate along it. */
static refs_status check_axes(const gathering *all, const field *of, refs_error *err) {
    for (size_t d = 0; d < of->rank; d++) {
        const field *first;
        size_t k;
        const axis *along = find_axis(all, of->axes[d].name, &first, &k);
        if (along == NULL || along->path == NULL || of->axes[d].path == NULL ||
            strcmp(along->path, of->axes[d].path) != 0 || are_same(along, &of->axes[d]))
            continue;
        return refs_fail(err, REFS_INVALID,
                         "%s and %s do not have the same steps along %s (%llu and %llu), as the "
                         "files say that have them, by their coordinates or the numbers in their "
                         "names: give all files, or those of one of the variables",
                         first->path, of->path, along->name, (unsigned long long)length_of(along),
                         (unsigned long long)length_of(&of->axes[d]));
    }
    return REFS_OK;
}

/* Whether the master that is added to, or an outline, says that a dimension may grow. */
static refs_cfa_growth growth_of(const gathering *all, const char *path) {
    const char *name = strrchr(path, '/') + 1;
    const refs_str group = refs_str_part(refs_str_from(path), 0, (size_t)(name - 1 - path));
    for (size_t p = 0; p < all->names.n + all->has_master; p++) {
        if (p < all->names.n && !is_outline(all, p)) continue;
        const refs_group_meta *meta =
            refs_hierarchy_find_group(all->parts[p].arrays.set.hierarchy, group);
        const refs_json *list =
            meta != NULL ? refs_json_get(meta->attributes, REFS_UNLIMITED_DIMENSIONS) : NULL;
        for (size_t i = 0; i < refs_json_size(list); i++)
            if (refs_str_is(refs_json_text(refs_json_at(list, i)), name)) return REFS_CFA_UNLIMITED;
    }
    return REFS_CFA_FIXED;
}

static refs_status write_dims(gathering *all, refs_master *master, refs_error *err) {
    for (size_t p = 0; p < all->names.n; p++) {
        const refs_cfa_source *source = &all->parts[p].arrays.source;
        for (size_t i = 0; i < source->n_dims && !is_filler(all, p); i++) {
            const field *of;
            size_t d;
            const axis *along = find_axis(all, strrchr(source->dims[i].path, '/') + 1, &of, &d);
            uint64_t size = along != NULL ? length_of(along) : source->dims[i].size;
            const char *path = source->dims[i].path;
            REFS_TRY(refs_master_dimension(master, path, size, growth_of(all, path), err));
        }
    }
    return REFS_OK;
}

/* An array of the master that is put together from those of the parts. */
typedef struct whole {
    const refs_cfa_array *array;
    uint64_t shape[REFS_MAX_RANK];
    refs_buf values;
} whole;

/* The element of an axis with a value of its coordinate, or 0. */
static uint64_t element_at(const axis *along, double value) {
    for (size_t i = 0; i < along->n; i++)
        for (uint64_t k = 0; along->slices[i].values != NULL && k < along->slices[i].size; k++)
            if (along->slices[i].values[k] == value) return along->slices[i].begin + k;
    return 0;
}

/* The place of a part along a dimension, of the name `name`: that of the field in it, or, where it
 * has none, of its coordinate. */
static refs_status find_begin(gathering *all, size_t p, const char *name, uint64_t *begin,
                              refs_error *err) {
    const field *of;
    size_t d;
    slice read = {.values = NULL};
    *begin = 0;
    for (size_t f = 0; f < all->n_fields; f++)
        for (size_t m = 0; m < all->fields[f].n; m++) {
            of = &all->fields[f];
            if (of->members[m].part != p) continue;
            for (d = 0; d < of->rank; d++) {
                if (strcmp(of->axes[d].name, name) != 0) continue;
                *begin = of->axes[d].slices[of->members[m].index[d]].begin;
                return REFS_OK;
            }
        }
    const axis *along = find_axis(all, name, &of, &d);
    const size_t c =
        along != NULL && along->path != NULL ? coordinate_of(all, p, along->path) : SIZE_MAX;
    if (c == SIZE_MAX || array_of(all, p, c)->variable.rank != 1) return REFS_OK;
    read.size = array_of(all, p, c)->shape[0];
    REFS_TRY(read_values(all, along, p, &read, err));
    if (read.values != NULL && read.size > 0) *begin = element_at(along, read.values[0]);
    refs_free(read.values);
    return REFS_OK;
}

static void copy_box(const whole *to, const refs_cfa_array *from, const uint64_t *begin,
                     const uint8_t *values) {
    size_t rank = from->variable.rank, size = to->array->variable.dtype.size;
    uint64_t index[REFS_MAX_RANK] = {0};
    for (size_t d = 0; d < rank; d++)
        if (from->shape[d] == 0) return;
    for (bool more = true; more; values += size) {
        uint64_t at = 0;
        for (size_t d = 0; d < rank; d++) at = at * to->shape[d] + begin[d] + index[d];
        memcpy(to->values.data + at * size, values, size);
        more = false;
        for (size_t d = rank; d-- > 0 && !more;) {
            more = ++index[d] < from->shape[d];
            if (!more) index[d] = 0;
        }
    }
}

static bool have_one_type(const refs_dtype *a, const refs_dtype *b) {
    return a->type == b->type && a->size == b->size;
}

/* Floats as those of another size. */
static refs_status resize_floats(refs_buf *values, const refs_dtype *from, const refs_dtype *to,
                                 refs_error *err) {
    const size_t n = values->size / from->size;
    refs_buf made = REFS_BUF_INIT;
    REFS_TRY(refs_buf_resize(&made, n * to->size, err));
    for (size_t i = 0; i < n; i++) {
        float single;
        double number;
        memcpy(from->size == 4 ? (void *)&single : &number, values->data + i * from->size,
               from->size);
        if (from->size == 4)
            number = (double)single;
        else
            single = (float)number;
        memcpy(made.data + i * to->size, to->size == 4 ? (const void *)&single : &number, to->size);
    }
    refs_buf_clear(values);
    *values = made;
    return REFS_OK;
}

static bool are_floats(const refs_dtype *a, const refs_dtype *b) {
    return a->type == REFS_TYPE_FLOAT && b->type == REFS_TYPE_FLOAT && a->size >= 4 && b->size >= 4;
}

static refs_status copy_part(gathering *all, size_t p, size_t i, const whole *to, refs_error *err) {
    const refs_cfa_array *from = array_of(all, p, i);
    const refs_cfa_source *source = &all->parts[p].arrays.source;
    uint64_t begin[REFS_MAX_RANK], zero[REFS_MAX_RANK] = {0}, n = 1;
    const refs_dtype *own = &from->variable.dtype, *wanted = &to->array->variable.dtype;
    const bool is_one_type = have_one_type(own, wanted);
    if (from->variable.rank != to->array->variable.rank ||
        (!is_one_type && !are_floats(own, wanted)))
        return refs_fail(err, REFS_INVALID, "%s: %s has another type than in other sources",
                         all->parts[p].named, from->variable.path);
    for (size_t d = 0; d < from->variable.rank; d++) {
        REFS_TRY(find_begin(all, p, from->variable.dims[d], &begin[d], err));
        n *= from->shape[d];
        if (begin[d] + from->shape[d] > to->shape[d])
            return refs_fail(err, REFS_INVALID, "%s: %s is longer than in other sources",
                             all->parts[p].named, from->variable.path);
    }
    refs_buf values = REFS_BUF_INIT;
    refs_status status = refs_buf_resize(&values, (size_t)n * own->size, err);
    const refs_cfa_box box = {i, zero, from->shape};
    if (status == REFS_OK && n > 0) status = source->read(source->self, &box, values.data, err);
    if (status == REFS_OK && !is_one_type) status = resize_floats(&values, own, wanted, err);
    if (status == REFS_OK) copy_box(to, from, begin, values.data);
    refs_buf_clear(&values);
    return status;
}

/* A coordinate whose values were converted has other units, and is of doubles. */
static refs_status write_times(gathering *all, refs_master *master, const refs_cfa_array *array,
                               const axis *along, refs_error *err) {
    refs_cfa_variable variable = array->variable;
    refs_buf values = REFS_BUF_INIT, text = REFS_BUF_INIT;
    refs_json_doc *doc = NULL;
    refs_status status = REFS_OK;
    for (size_t i = 0; status == REFS_OK && i < along->n; i++)
        status = refs_buf_append(&values, along->slices[i].values,
                                 (size_t)along->slices[i].size * sizeof(double), err);
    variable.dtype = (refs_dtype){.type = REFS_TYPE_FLOAT, .size = 8};
    variable.fill = NULL;
    if (status == REFS_OK) status = refs_buf_printf(&text, err, "{\"units\": ");
    if (status == REFS_OK)
        status = refs_json_write_string(wanted_units(all, &array->variable).units, &text, err);
    for (size_t i = 0; status == REFS_OK && i < refs_json_size(variable.attributes); i++) {
        refs_str name = refs_json_name_at(variable.attributes, i);
        if (refs_str_is(name, "units")) continue;
        status = refs_buf_append(&text, ", ", 2, err);
        if (status == REFS_OK) status = refs_json_write_string(name, &text, err);
        if (status == REFS_OK) status = refs_buf_append(&text, ": ", 2, err);
        if (status == REFS_OK)
            status = refs_json_write(refs_json_at(variable.attributes, i), &text, err);
    }
    if (status == REFS_OK) status = refs_buf_append(&text, "}", 1, err);
    if (status == REFS_OK)
        status = refs_json_parse(refs_str_view((const char *)text.data, text.size), &doc, err);
    variable.attributes = refs_json_root(doc);
    if (status == REFS_OK)
        status = refs_master_variable(master, &variable, refs_buf_view(&values), err);
    refs_json_doc_free(doc);
    refs_buf_clear(&text);
    refs_buf_clear(&values);
    return status;
}

/* Whether the units of a coordinate differ from those of the master in any part. */
static bool is_converted(const gathering *all, const char *path, const refs_cfa_variable *first) {
    const refs_cf_units to = wanted_units(all, first);
    for (size_t p = 0; p < all->names.n; p++) {
        size_t c = tool_arrays_find(&all->parts[p].arrays, path);
        if (c == SIZE_MAX) continue;
        if (!refs_str_equal(units_of(&array_of(all, p, c)->variable).units, to.units)) return true;
    }
    return false;
}

static refs_status write_strings(gathering *all, refs_master *master, size_t p, size_t i,
                                 refs_error *err) {
    const refs_cfa_source *source = &all->parts[p].arrays.source;
    const refs_cfa_array *array = &source->arrays[i];
    refs_buf strings = REFS_BUF_INIT;
    for (size_t d = 0; d < array->variable.rank; d++) {
        const field *of;
        size_t k;
        const axis *along = find_axis(all, array->variable.dims[d], &of, &k);
        if (along != NULL && length_of(along) != array->shape[d])
            return refs_fail(err, REFS_UNSUPPORTED, "%s: strings along %s, which is split",
                             array->variable.path, array->variable.dims[d]);
    }
    refs_status status = source->read_strings(source->self, i, &strings, err);
    if (status == REFS_OK)
        status = refs_master_variable(master, &array->variable, refs_buf_view(&strings), err);
    refs_buf_clear(&strings);
    return status;
}

/* A gap along dimension `d`. */
typedef struct gap {
    size_t d;
    const slice *at;
} gap;

static refs_status copy_gap(gathering *all, size_t i, const whole *to, gap of, refs_error *err) {
    const refs_cfa_source *source = &all->parts[all->names.n].arrays.source;
    refs_cfa_array from = source->arrays[i];
    uint64_t begin[REFS_MAX_RANK] = {0}, start[REFS_MAX_RANK] = {0}, count[REFS_MAX_RANK];
    size_t n = from.variable.dtype.size;
    for (size_t d = 0; d < from.variable.rank; d++) {
        count[d] = d == of.d ? of.at->size : from.shape[d];
        if (d != of.d && from.shape[d] != to->shape[d]) return REFS_OK;
        if (!refs_mul_size(n, (size_t)count[d], &n)) return refs_fail_nomem(err);
    }
    begin[of.d] = of.at->begin;
    start[of.d] = of.at->in_teller;
    from.shape = count;
    refs_buf values = REFS_BUF_INIT;
    refs_status status = refs_buf_resize(&values, n, err);
    const refs_cfa_box box = {i, start, count};
    if (status == REFS_OK && n > 0) status = source->read(source->self, &box, values.data, err);
    if (status == REFS_OK) copy_box(to, &from, begin, values.data);
    refs_buf_clear(&values);
    return status;
}

/* What is in the gaps of a master, of arrays such as its coordinates. */
static refs_status copy_gaps(gathering *all, const whole *to, refs_error *err) {
    const size_t m = all->names.n, size = to->array->variable.dtype.size;
    const size_t i = all->has_master
                         ? tool_arrays_find(&all->parts[m].arrays, to->array->variable.path)
                         : SIZE_MAX;
    if (i == SIZE_MAX) return REFS_OK;
    refs_cfa_array from = *array_of(all, m, i);
    if (from.variable.rank != to->array->variable.rank || from.variable.dtype.size != size)
        return REFS_OK;
    for (size_t d = 0; d < from.variable.rank; d++) {
        const field *of;
        size_t k;
        const axis *along = find_axis(all, from.variable.dims[d], &of, &k);
        for (size_t s = 0; along != NULL && s < along->n; s++)
            if (along->slices[s].is_gap && along->slices[s].teller == m)
                REFS_TRY(copy_gap(all, i, to, (gap){d, &along->slices[s]}, err));
    }
    return REFS_OK;
}

/* The element of an axis with a value of its coordinate, from the one at `near` on, around; or
 * UINT64_MAX. */
static uint64_t look_from(const axis *along, size_t *near, double value) {
    for (size_t i = 0; i < along->n; i++) {
        const slice *at = &along->slices[(*near + i) % along->n];
        for (uint64_t k = 0; at->values != NULL && k < at->size; k++) {
            if (differs_as_float(at->values[k], value)) continue;
            *near = (*near + i) % along->n;
            return at->begin + k;
        }
    }
    return UINT64_MAX;
}

/* An array of an outline, and where its elements are in the master:
 * UINT64_MAX for those that are not. */
typedef struct mapped {
    const refs_cfa_array *from;
    uint64_t *map[REFS_MAX_RANK];
    refs_buf values;
} mapped;

static refs_status map_dim(gathering *all, size_t p, mapped *made, size_t dim, refs_error *err) {
    const uint64_t n = made->from->shape[dim];
    const char *name = made->from->variable.dims[dim];
    uint64_t *map = made->map[dim];
    const field *of;
    size_t d, near = 0;
    slice read = {.size = n};
    const axis *along = find_axis(all, name, &of, &d);
    const size_t c =
        along != NULL && along->path != NULL ? coordinate_of(all, p, along->path) : SIZE_MAX;
    const bool has_values = c != SIZE_MAX && array_of(all, p, c)->variable.rank == 1 &&
                            array_of(all, p, c)->shape[0] == n;
    const bool is_whole = along == NULL || length_of(along) == n || of->outline == p;
    const uint64_t end = along != NULL ? length_of(along) : n;
    if (has_values && !is_whole) REFS_TRY(read_values(all, along, p, &read, err));
    for (uint64_t k = 0; k < n; k++)
        map[k] = read.values != NULL   ? look_from(along, &near, read.values[k])
                 : is_whole && k < end ? k
                                       : UINT64_MAX;
    refs_free(read.values);
    return REFS_OK;
}

static void copy_mapped(const whole *to, const mapped *of) {
    const size_t rank = of->from->variable.rank, size = to->array->variable.dtype.size;
    uint64_t index[REFS_MAX_RANK] = {0};
    const uint8_t *value = of->values.data;
    for (size_t done = 0; done < of->values.size; done += size, value += size) {
        uint64_t at = 0;
        bool is_in = true;
        for (size_t d = 0; d < rank; d++) {
            const uint64_t place = of->map[d][index[d]];
            is_in = is_in && place < to->shape[d];
            at = at * to->shape[d] + (is_in ? place : 0);
        }
        if (is_in) memcpy(to->values.data + at * size, value, size);
        for (size_t d = rank; d-- > 0;) {
            if (++index[d] < of->from->shape[d]) break;
            index[d] = 0;
        }
    }
}

static refs_status read_mapped(gathering *all, size_t p, size_t i, mapped *of, refs_error *err) {
    const refs_cfa_source *source = &all->parts[p].arrays.source;
    size_t size = of->from->variable.dtype.size;
    uint64_t zero[REFS_MAX_RANK] = {0};
    for (size_t d = 0; d < of->from->variable.rank; d++) {
        const uint64_t n = of->from->shape[d];
        of->map[d] = refs_calloc((size_t)n + 1, sizeof *of->map[d]);
        if (of->map[d] == NULL || !refs_mul_size(size, (size_t)n, &size))
            return refs_fail_nomem(err);
        REFS_TRY(map_dim(all, p, of, d, err));
    }
    REFS_TRY(refs_buf_resize(&of->values, size, err));
    const refs_cfa_box box = {i, zero, of->from->shape};
    return size > 0 ? source->read(source->self, &box, of->values.data, err) : REFS_OK;
}

/* What no fragment has is as the outline says; what fragments have replaces it. */
static refs_status copy_outline(gathering *all, size_t p, size_t i, const whole *to,
                                refs_error *err) {
    mapped of = {.from = array_of(all, p, i)};
    if (of.from->variable.rank != to->array->variable.rank ||
        !have_one_type(&of.from->variable.dtype, &to->array->variable.dtype))
        return REFS_OK;
    refs_status status = read_mapped(all, p, i, &of, err);
    if (status == REFS_OK) copy_mapped(to, &of);
    for (size_t d = 0; d < REFS_MAX_RANK; d++) refs_free(of.map[d]);
    refs_buf_clear(&of.values);
    return status;
}

static refs_status copy_outlines(gathering *all, const whole *to, refs_error *err) {
    for (size_t p = 0; p < all->names.n; p++) {
        const size_t i = is_outline(all, p)
                             ? tool_arrays_find(&all->parts[p].arrays, to->array->variable.path)
                             : SIZE_MAX;
        if (i != SIZE_MAX) REFS_TRY(copy_outline(all, p, i, to, err));
    }
    return REFS_OK;
}

static refs_status write_whole(gathering *all, refs_master *master, size_t p, size_t i,
                               refs_error *err) {
    whole made = {.array = array_of(all, p, i)};
    size_t size = made.array->variable.dtype.size;
    for (size_t d = 0; d < made.array->variable.rank; d++) {
        const field *of;
        size_t k;
        const axis *along = find_axis(all, made.array->variable.dims[d], &of, &k);
        made.shape[d] = along != NULL ? length_of(along) : made.array->shape[d];
        if (!refs_mul_size(size, (size_t)made.shape[d], &size) || size > REFS_CFA_MAX_VALUE_BYTES)
            return refs_fail(err, REFS_LIMIT, "%s: is too large for a master",
                             made.array->variable.path);
    }
    REFS_TRY(refs_buf_resize(&made.values, size, err));
    memset(made.values.data, 0, size);
    refs_status status = copy_outlines(all, &made, err);
    /* Those of its own type come last, and hold. */
    for (size_t k = 0; status == REFS_OK && k < 2 * all->names.n; k++) {
        const size_t q = k % all->names.n;
        size_t c = tool_arrays_find(&all->parts[q].arrays, made.array->variable.path);
        if (c == SIZE_MAX || is_outline(all, q)) continue;
        const bool is_own =
            have_one_type(&array_of(all, q, c)->variable.dtype, &made.array->variable.dtype);
        if (is_own == (k >= all->names.n)) status = copy_part(all, q, c, &made, err);
    }
    if (status == REFS_OK) status = copy_gaps(all, &made, err);
    if (status == REFS_OK)
        status =
            refs_master_variable(master, &made.array->variable, refs_buf_view(&made.values), err);
    refs_buf_clear(&made.values);
    return status;
}

static refs_status write_other(gathering *all, refs_master *master, size_t p, size_t i,
                               refs_error *err) {
    const refs_cfa_array *array = array_of(all, p, i);
    const field *of;
    size_t d;
    const axis *along =
        array->variable.rank == 1 ? find_axis(all, array->variable.dims[0], &of, &d) : NULL;
    bool is_own =
        along != NULL && along->path != NULL && strcmp(along->path, array->variable.path) == 0;
    if (is_own && is_converted(all, along->path, &array->variable))
        return write_times(all, master, array, along, err);
    refs_type type = array->variable.dtype.type;
    if (type == REFS_TYPE_OBJECT || type == REFS_TYPE_BYTES || type == REFS_TYPE_UNICODE)
        return write_strings(all, master, p, i, err);
    return write_whole(all, master, p, i, err);
}

/* Whether a filler is of a field, and has the shape of its fragment at `number`. */
static bool fills(const gathering *all, size_t p, const field *of, size_t number) {
    size_t i = tool_arrays_find(&all->parts[p].arrays, of->path);
    if (!is_filler(all, p) || i == SIZE_MAX || array_of(all, p, i)->variable.rank != of->rank)
        return false;
    for (size_t d = of->rank; d-- > 0; number /= of->axes[d].n)
        if (array_of(all, p, i)->shape[d] != of->axes[d].slices[number % of->axes[d].n].size)
            return false;
    return true;
}

static void fill_gaps(const gathering *all, const field *of, refs_cfa_fragment *fragments,
                      size_t n) {
    const char *path = strchr(of->path + 1, '/') == NULL ? of->path + 1 : of->path;
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; fragments[i].file == NULL && p < all->names.n; p++)
            if (fills(all, p, of, i))
                fragments[i] = (refs_cfa_fragment){all->parts[p].named, path, all->parts[p].format};
}

static bool is_known_to_be_nothing(const field *of, size_t number) {
    uint64_t index[REFS_MAX_RANK];
    for (size_t d = of->rank; d-- > 0; number /= of->axes[d].n) index[d] = number % of->axes[d].n;
    return tool_outlined_is_nothing(&of->outlined, index);
}

/* What is missing of a field that some files do not have. */
static void tell_gaps(const gathering *all, const field *of, const refs_cfa_fragment *fragments,
                      size_t n) {
    const refs_notes notes = {tool_note, NULL};
    size_t n_missing = 0;
    for (size_t i = 0; i < n; i++)
        n_missing += fragments[i].file == NULL && !is_known_to_be_nothing(of, i);
    if (n_missing == 0 || all->arguments->quiet) return;
    if (of->outline != SIZE_MAX)
        refs_note(&notes, REFS_NOTE_WARNING,
                  "%s: %zu of %zu fragments were written, and are not given: their values are "
                  "missing",
                  of->path, n_missing, n);
    else if (of->is_named)
        refs_note(
            &notes, REFS_NOTE_WARNING,
            "%s: %zu of %zu fragments are not there, and their values are missing: those that "
            "held nothing but the fill value were not written; files may have been lost, too",
            of->path, n_missing, n);
    if (of->n_absent == 0) return;
    refs_note(&notes, REFS_NOTE_WARNING,
              "%s is not in %zu of %zu sources, of which the first is %s: its values are missing "
              "there",
              of->path, of->n_absent, all->names.n, all->parts[of->first_absent].named);
}

static void tell_left_out(const field *of) {
    const refs_notes notes = {tool_note, NULL};
    for (size_t d = 0; d < of->rank; d++)
        if (of->axes[d].n < of->outlined.n[d])
            refs_note(&notes, REFS_NOTE_WARNING,
                      "%s: of %zu fragments along %s the last %zu are left out: some of them were "
                      "written, and none is given",
                      of->path, of->outlined.n[d], of->axes[d].name,
                      of->outlined.n[d] - of->axes[d].n);
}

/* Fragments that held nothing but the fill value were not written: without an outline, names and
 * coordinates of others tell of those in front of them, and nothing of those behind. */
static void tell_end(const gathering *all, const field *of) {
    const refs_notes notes = {tool_note, NULL};
    if (!of->is_named || all->has_master || all->arguments->quiet) return;
    if (of->outline != SIZE_MAX) {
        tell_left_out(of);
        return;
    }
    refs_note(&notes, REFS_NOTE_WARNING,
              "%s: is as long as the fragments that are there: whether others followed that held "
              "nothing but the fill value, and were not written, nothing tells",
              of->path);
}

static refs_status write_field(gathering *all, refs_master *master, const field *of,
                               refs_error *err) {
    const refs_cfa_array *array = array_of(all, of->members[0].part, of->members[0].array);
    refs_cfa_grid grid = {{0}, {NULL}};
    uint64_t *sizes[REFS_MAX_RANK] = {NULL};
    refs_cfa_fragment *fragments = NULL;
    size_t n = 1;
    refs_status status = REFS_OK;
    for (size_t d = 0; status == REFS_OK && d < of->rank; d++) {
        grid.n[d] = of->axes[d].n;
        sizes[d] = refs_calloc(of->axes[d].n, sizeof **sizes);
        if (sizes[d] == NULL || !refs_mul_size(n, of->axes[d].n, &n)) status = refs_fail_nomem(err);
        for (size_t i = 0; status == REFS_OK && i < of->axes[d].n; i++)
            sizes[d][i] = of->axes[d].slices[i].size;
        grid.sizes[d] = sizes[d];
    }
    if (status == REFS_OK) fragments = refs_calloc(n, sizeof *fragments);
    if (status == REFS_OK && fragments == NULL) status = refs_fail_nomem(err);
    for (size_t m = 0; status == REFS_OK && m < of->n; m++) {
        size_t at = 0;
        for (size_t d = 0; d < of->rank; d++)
            at = at * of->axes[d].n + (size_t)of->members[m].index[d];
        const part *from = &all->parts[of->members[m].part];
        const char *path = of->path;
        if (fragments[at].file != NULL)
            status = refs_fail(err, REFS_INVALID, "%s and %s: hold the same part of %s",
                               fragments[at].file, from->named, of->path);
        bool is_root = strchr(path + 1, '/') == NULL;
        fragments[at] = (refs_cfa_fragment){from->named, is_root ? path + 1 : path, from->format};
    }
    if (status == REFS_OK && all->options.version == REFS_CFA_CF_1_13)
        fill_gaps(all, of, fragments, n);
    if (status == REFS_OK) tell_gaps(all, of, fragments, n);
    if (status == REFS_OK) tell_end(all, of);
    if (status == REFS_OK)
        status = refs_master_aggregation(master, &array->variable, &grid, fragments, err);
    for (size_t d = 0; d < of->rank; d++) refs_free(sizes[d]);
    refs_free(fragments);
    return status;
}

/* Its fragments as the outline says they are, or as those of other variables are along dimensions
 * that have grown since. */
static refs_status grid_of_nothing(const gathering *all, const refs_cfa_array *array,
                                   const tool_outlined *outlined, refs_cfa_grid *grid,
                                   refs_error *err) {
    for (size_t d = 0; d < array->variable.rank; d++) {
        const field *of;
        size_t k;
        const axis *along = find_axis(all, array->variable.dims[d], &of, &k);
        if (along != NULL && length_of(along) == array->shape[d]) along = NULL;
        grid->n[d] = along != NULL ? along->n : outlined->n[d];
        uint64_t *sizes = refs_calloc((size_t)grid->n[d] + 1, sizeof *sizes);
        grid->sizes[d] = sizes;
        if (sizes == NULL) return refs_fail_nomem(err);
        for (size_t i = 0; i < grid->n[d]; i++)
            sizes[i] = along != NULL ? along->slices[i].size
                                     : outlined->slices[d][i].end - outlined->slices[d][i].begin;
    }
    return REFS_OK;
}

/* A variable of an outline that has no fragment: there was none. Of one that had any, none is
 * given: it is left out. */
static refs_status write_nothing(gathering *all, refs_master *master, size_t p, size_t i,
                                 refs_error *err) {
    const refs_cfa_array *array = array_of(all, p, i);
    refs_cfa_grid grid = {{0}, {NULL}};
    refs_cfa_fragment *fragments = NULL;
    tool_outlined outlined;
    size_t n = 1;
    REFS_TRY(tool_outlined_open(all->parts[p].arrays.metas[i], &outlined, err));
    refs_status status = REFS_OK;
    const bool is_nothing = !outlined.has_fragments;
    if (is_nothing) status = grid_of_nothing(all, array, &outlined, &grid, err);
    for (size_t d = 0; d < array->variable.rank && is_nothing && status == REFS_OK; d++)
        if (!refs_mul_size(n, (size_t)grid.n[d], &n)) status = refs_fail_nomem(err);
    if (is_nothing && status == REFS_OK) {
        all->n_aggregations++;
        fragments = refs_calloc(n, sizeof *fragments);
        status = fragments != NULL
                     ? refs_master_aggregation(master, &array->variable, &grid, fragments, err)
                     : refs_fail_nomem(err);
    }
    refs_free(fragments);
    for (size_t d = 0; d < REFS_MAX_RANK; d++) refs_free((void *)(uintptr_t)grid.sizes[d]);
    tool_outlined_clear(&outlined);
    return status;
}

/* Whether an earlier part has an array of this path. */
static bool is_written(const gathering *all, size_t p, const char *path) {
    for (size_t q = 0; q < p; q++)
        if (tool_arrays_find(&all->parts[q].arrays, path) != SIZE_MAX) return true;
    return false;
}

static refs_status write_arrays(gathering *all, refs_master *master, refs_error *err) {
    for (size_t p = 0; p < all->names.n; p++) {
        const refs_cfa_source *source = &all->parts[p].arrays.source;
        for (size_t i = 0; i < source->n_arrays && !is_filler(all, p); i++) {
            const char *path = source->arrays[i].variable.path;
            if (is_written(all, p, path)) continue;
            const field *of = find_field(all, path);
            all->n_aggregations += of != NULL;
            REFS_TRY(of != NULL ? write_field(all, master, of, err)
                     : find_outlined(all, p, path) != SIZE_MAX
                         ? write_nothing(all, master, p, i, err)
                         : write_other(all, master, p, i, err));
        }
    }
    if (all->n_aggregations > 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: none of the fragments that it tells of is given",
                     all->names.items[0]);
}

static refs_status write_master(gathering *all, refs_master *master, refs_error *err) {
    const refs_cfa_source *first = &all->parts[0].arrays.source;
    REFS_TRY(write_dims(all, master, err));
    for (size_t i = 0; i < first->n_groups; i++)
        REFS_TRY(refs_master_attributes(master, first->groups[i].path, first->groups[i].attributes,
                                        err));
    return write_arrays(all, master, err);
}

/* -- all --------------------------------------------------------------------------------------- */

/* -- a master that is there -------------------------------------------------------------------- */

static bool has_name(const tool_names *names, const char *name) {
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0) return true;
    return false;
}

/* Who is shown the partitions of a master: their files are sources, each once. */
typedef struct collecting {
    tool_names *names;
    const char *master; /* as the user calls it */
} collecting;

/* Of a fragment in a store, what the user would call it: "s3://alias/bucket/m/m.tas.0.nc". */
static refs_status append_name(const collecting *to, const char *file, refs_buf *name,
                               refs_error *err) {
    const refs_url_context context = {.base = to->master};
    if (tool_is_remote(file)) return refs_buf_append_str(name, refs_str_from(file), err);
    if (!tool_is_remote(to->master)) return refs_url_map(refs_str_from(file), &context, name, err);
    const char *slash = strrchr(to->master, '/');
    if (*file != '/')
        REFS_TRY(refs_buf_append(name, to->master, (size_t)(slash + 1 - to->master), err));
    return refs_buf_append_str(name, refs_str_from(file), err);
}

static refs_status collect(void *user, const refs_partition *partition, refs_error *err) {
    const collecting *to = user;
    tool_names *names = to->names;
    refs_buf text = REFS_BUF_INIT;
    if (*partition->file == '\0') return REFS_OK;
    refs_status status = append_name(to, partition->file, &text, err);
    char *name = status == REFS_OK ? refs_buf_take_text(&text) : NULL;
    refs_buf_clear(&text);
    REFS_TRY(status);
    bool is_new = name != NULL && !has_name(names, name);
    if (is_new &&
        refs_grow((void **)&names->items, &names->capacity, names->n, sizeof *names->items))
        names->items[names->n++] = name;
    else
        refs_free(name);
    return name != NULL ? REFS_OK : refs_fail_nomem(err);
}

static void take_options(const gathering *all, const tool_arrays *master,
                         refs_master_options *options) {
    const refs_json *attributes = refs_hierarchy_group(master->set.hierarchy, 0)->attributes;
    const char *format = format_of(all, master->location);
    refs_str had = refs_json_text(refs_json_get(attributes, "Conventions"));
    const char *text = had.size > 0 ? had.data : "";
    options->version = strstr(text, "CFA-0.5") != NULL   ? REFS_CFA_0_5
                       : strstr(text, "CFA-0.4") != NULL ? REFS_CFA_0_4
                                                         : REFS_CFA_CF_1_13;
    if (format != NULL && strncmp(format, "NETCDF3", 7) == 0) options->format = REFS_CFA_NETCDF3;
}

/* The files of a master come before those that are added to it. */
static refs_status open_master(gathering *all, refs_error *err) {
    tool_arrays master;
    REFS_TRY(tool_arrays_open(&all->session, all->output, &master, err));
    collecting to = {&all->names, all->output};
    refs_status status = REFS_OK;
    take_options(all, &master, &all->options);
    for (size_t i = 0; status == REFS_OK && i < master.source.n_arrays; i++)
        if (master.metas[i]->aggregation != NULL)
            status = refs_aggregation_each(master.metas[i], collect, &to, err);
    tool_arrays_close(&master);
    if (status == REFS_OK && all->names.n == 0)
        status = refs_fail(err, REFS_INVALID, "%s: is not a master with fragments", all->output);
    return status;
}

static refs_status add_sources(gathering *all, size_t first, refs_error *err) {
    const tool_list *given = &all->arguments->names;
    const tool_list list = {given->items + first, given->n - first, 0};
    const size_t before = all->names.n;
    tool_names added = {NULL, 0, 0};
    refs_status status = tool_expand(&all->session, &list, &added, err);
    for (size_t i = 0; status == REFS_OK && i < added.n; i++) {
        tool_names *names = &all->names;
        if (!refs_grow((void **)&names->items, &names->capacity, names->n, sizeof *names->items)) {
            status = refs_fail_nomem(err);
            break;
        }
        names->items[names->n++] = added.items[i];
        added.items[i] = NULL;
    }
    tool_names_clear(&added);
    return status == REFS_OK ? tool_add_outlines(&all->session, &all->names, before, err) : status;
}

/* Files without values come last: what others have in common is that of the first. */
static refs_status move_fillers(tool_names *names, refs_error *err) {
    char **moved = refs_calloc(names->n + 1, sizeof *moved);
    size_t n = 0;
    if (moved == NULL) return refs_fail_nomem(err);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < names->n; i++)
            if (is_filler_name(names->items[i]) == (pass == 1)) moved[n++] = names->items[i];
    if (n > 0) memcpy(names->items, moved, n * sizeof *moved);
    refs_free(moved);
    return REFS_OK;
}

static refs_status read_options(gathering *all, refs_error *err) {
    const char *version = all->arguments->cfa_version, *format = all->arguments->format;
    const char *date = all->arguments->common_date;
    const refs_cf_units units = {refs_str_from(date != NULL ? date : ""), refs_str_from("")};
    const refs_cf_units known = {refs_str_from("days since 1970-01-01"), refs_str_from("")};
    double scale, offset;
    if (date != NULL &&
        refs_cf_convert_units(&units, &known, &scale, &offset) == REFS_CF_CONVERSION_UNKNOWN)
        return refs_fail(err, REFS_INVALID,
                         "--common-date is units of times, such as \"days since 1970-01-01\", not "
                         "\"%s\"",
                         date);
    if (format != NULL && strcmp(format, "cfa") != 0 && strcmp(format, "CFA") != 0)
        return refs_fail(err, REFS_INVALID, "--format of combine is cfa, not \"%s\"", format);
    if (version == NULL) return REFS_OK;
    return refs_cfa_version_parse(refs_str_from(version), &all->options.version, err);
}

/* The master appears last, and whole. */
static refs_status make_master(gathering *all, refs_error *err) {
    refs_master *master = NULL;
    refs_status status = refs_master_open(all->sending.path, &all->options, &master, err);
    if (status == REFS_OK) status = write_master(all, master, err);
    if (status == REFS_OK)
        status = refs_master_finish(master, err);
    else
        refs_master_free(master);
    return status == REFS_OK ? tool_sending_send(&all->sending, err) : status;
}

static refs_status gather(gathering *all, refs_error *err) {
    bool is_append = all->arguments->output == NULL;
    REFS_TRY(read_options(all, err));
    REFS_TRY(tool_session_open(&all->session, err));
    if (tool_append_shown(all->output, &all->output_shown) != REFS_OK) return refs_fail_nomem(err);
    if (tool_is_remote(all->output)) all->output = (const char *)all->output_shown.data;
    REFS_TRY(tool_sending_open(&all->session, all->output, &all->sending, err));
    if (is_append) REFS_TRY(tool_sending_guard(&all->sending, err));
    if (is_append) REFS_TRY(open_master(all, err));
    REFS_TRY(add_sources(all, is_append ? 1 : 0, err));
    REFS_TRY(move_fillers(&all->names, err));
    REFS_TRY(is_append ? REFS_OK : tool_check_output(all->output, &all->names, err));
    REFS_TRY(open_parts(all, err));
    REFS_TRY(find_fields(all, err));
    REFS_TRY(check_places(all, err));
    for (size_t f = 0; f < all->n_fields; f++) REFS_TRY(place_members(all, &all->fields[f], err));
    for (size_t f = 1; f < all->n_fields; f++) REFS_TRY(check_axes(all, &all->fields[f], err));
    return make_master(all, err);
}

static void clear(gathering *all) {
    for (size_t f = 0; f < all->n_fields; f++) {
        for (size_t d = 0; d < all->fields[f].rank; d++) {
            axis *along = &all->fields[f].axes[d];
            for (size_t i = 0; i < along->n; i++) refs_free(along->slices[i].values);
            refs_free(along->slices);
        }
        tool_outlined_clear(&all->fields[f].outlined);
        refs_free(all->fields[f].members);
    }
    refs_free(all->fields);
    for (size_t p = 0; all->parts != NULL && p < all->names.n + all->has_master; p++) {
        tool_arrays_close(&all->parts[p].arrays);
        refs_free(all->parts[p].named);
    }
    refs_free(all->parts);
    tool_names_clear(&all->names);
    refs_buf_clear(&all->output_shown);
    tool_sending_close(&all->sending);
    tool_session_close(&all->session);
}

tool_exit tool_gather(const tool_arguments *arguments) {
    refs_error err = REFS_ERROR_INIT;
    gathering all = {
        .arguments = arguments, .output = arguments->output, .options = REFS_MASTER_OPTIONS_INIT};
    bool is_append = arguments->format == NULL;
    if (is_append && arguments->names.n > 0) all.output = arguments->names.items[0];
    if (all.output == NULL || arguments->names.n < (is_append ? 2 : 1)) {
        fprintf(stderr, "refs: usage: refs combine --format cfa FILE... -o MASTER.nca\n");
        return TOOL_USAGE;
    }
    refs_status status = gather(&all, &err);
    clear(&all);
    if (status != REFS_OK) tool_complain(&err);
    if (status == REFS_CANCELLED) return tool_interrupted();
    return status == REFS_OK ? TOOL_OK : TOOL_FAILED;
}
