/* gather_fields.c -- which variables have fragments, and whether these are alike; see gather.h. */
#include "gather.h"

#include <math.h>
#include <string.h>

#include "refs/combine_aggregate.h"
#include "refs/combine_attributes.h"

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
static bool index_in(const char *name, const gather_field *of, uint64_t *index) {
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

gather_field *gather_find_field(gathering *all, const char *path) {
    for (size_t i = 0; i < all->n_fields; i++)
        if (strcmp(all->fields[i].path, path) == 0) return &all->fields[i];
    return NULL;
}

static gather_field *add_field(gathering *all, const refs_cfa_array *array) {
    if (!refs_grow((void **)&all->fields, &all->fields_capacity, all->n_fields,
                   sizeof *all->fields))
        return NULL;
    gather_field *added = &all->fields[all->n_fields++];
    memset(added, 0, sizeof *added);
    added->outline = SIZE_MAX;
    added->path = array->variable.path;
    added->rank = array->variable.rank;
    added->is_named = true;
    return added;
}

static refs_status fail_alike(const gathering *all, gather_field *of, size_t p, const char *what,
                              refs_error *err) {
    of->has_others = true;
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

static void tell_units(const gathering *all, gather_field *of, size_t p,
                       const refs_cf_units units[2]) {
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

static bool tells_valid_values(const refs_cfa_variable *variable) {
    return refs_json_get(variable->attributes, "valid_range") != NULL ||
           refs_json_get(variable->attributes, "valid_min") != NULL ||
           refs_json_get(variable->attributes, "valid_max") != NULL;
}

/* Elements that are integers, packed or not, are integers in the units of the first part, too,
 * where units are multiples of each other. They fit into its type, and into what it says is valid,
 * only where there is room: nobody has read them. */
static bool stay_whole(const refs_cfa_variable *first, double scale, double offset) {
    if (first->dtype.type != REFS_TYPE_FLOAT &&
        (first->dtype.size < sizeof(int32_t) || tells_valid_values(first)))
        return false;
    const double step = gather_number_of(first, "scale_factor", 1),
                 zero = gather_number_of(first, "add_offset", 0);
    const double moved = (zero * scale + offset - zero) / step;
    return first->dtype.type == REFS_TYPE_FLOAT ||
           (fabs(scale - round(scale)) < 1e-9 && fabs(moved - round(moved)) < 1e-6);
}

static refs_status check_units(const gathering *all, gather_field *of, size_t p, size_t i,
                               refs_error *err) {
    const refs_cfa_variable *first =
        &gather_array_of(all, of->members[0].part, of->members[0].array)->variable;
    const refs_cf_units units[2] = {gather_units_of(first),
                                    gather_units_of(&gather_array_of(all, p, i)->variable)};
    double scale, offset;
    const refs_cf_conversion found = refs_cf_convert_units(&units[1], &units[0], &scale, &offset);
    if (found == REFS_CF_CONVERSION_UNKNOWN) tell_units(all, of, p, units);
    if (found == REFS_CF_CONVERSION_LINEAR && !stay_whole(first, scale, offset))
        return fail_alike(all, of, p, "unit", err);
    return REFS_OK;
}

/* What says what is measured: as in refs index, which joins what differs in it where people want
 * that. */
static void tell_other_words(const gathering *all, gather_field *of, size_t p, size_t i) {
    const gather_member *first = &of->members[0];
    const refs_notes notes = gather_notes(all);
    const refs_attribute_pair pair = {
        .kept = gather_array_of(all, first->part, first->array)->variable.attributes,
        .other = gather_array_of(all, p, i)->variable.attributes,
        .path = refs_str_from(of->path)};
    const char *const names[2] = {all->parts[first->part].named, all->parts[p].named};
    of->has_told_words = of->has_told_words || refs_join_note_meaning(&notes, &pair, names);
}

/* Sets may have it beside the attributes. What a fragment alone calls missing is converted; what
 * the master calls missing, as its first fragment does, is missing in all. */
static bool have_one_fill(const refs_cfa_array *first, const refs_cfa_array *other) {
    const uint8_t *one = first->variable.fill, *two = other->variable.fill;
    if (one == NULL) return is_same_attribute(first, other, "_FillValue");
    return two != NULL && memcmp(one, two, first->variable.dtype.size) == 0;
}

/* What tells which values elements stand for is told once, for all fragments. */
static refs_status check_alike(const gathering *all, gather_field *of, size_t p, size_t i,
                               refs_error *err) {
    static const char *const names[] = {"missing_value", "scale_factor", "add_offset", "_Unsigned",
                                        "valid_range",   "valid_min",    "valid_max"};
    const refs_cfa_array *array = gather_array_of(all, p, i);
    const refs_cfa_array *first = gather_array_of(all, of->members[0].part, of->members[0].array);
    const refs_dtype *one = &first->variable.dtype, *other = &array->variable.dtype;
    if (one->type != other->type || one->size != other->size)
        return fail_alike(all, of, p, "type", err);
    if (!have_one_fill(first, array)) return fail_alike(all, of, p, "_FillValue", err);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!is_same_attribute(first, array, names[k]))
            return fail_alike(all, of, p, names[k], err);
    tell_other_words(all, of, p, i);
    return check_units(all, of, p, i, err);
}

static refs_status check_member(const gathering *all, gather_field *of, size_t p, size_t i,
                                refs_error *err) {
    const refs_cfa_array *array = gather_array_of(all, p, i);
    const refs_cfa_array *first = gather_array_of(all, of->members[0].part, of->members[0].array);
    bool fits = array->variable.rank == first->variable.rank;
    for (size_t d = 0; fits && d < array->variable.rank; d++)
        fits = strcmp(array->variable.dims[d], first->variable.dims[d]) == 0;
    if (fits) return check_alike(all, of, p, i, err);
    return refs_fail(err, REFS_INVALID, "%s: its dimensions differ between %s and %s", of->path,
                     all->parts[of->members[0].part].named, all->parts[p].named);
}

static refs_status add_member(gathering *all, size_t p, size_t i, refs_error *err) {
    const refs_cfa_array *array = gather_array_of(all, p, i);
    if (gather_is_filler(all, p) || gather_is_outline(all, p)) return REFS_OK;
    if (all->parts[p].arrays.metas[i]->aggregation != NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: its %s is an aggregation, and aggregations of aggregations are not "
                         "read: give the files of its fragments",
                         all->parts[p].named, array->variable.path);
    if (array->variable.dtype.type == REFS_TYPE_DATETIME ||
        array->variable.dtype.type == REFS_TYPE_TIMEDELTA)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: its %s has times of NumPy, which are not read from fragments: leave "
                         "it out, or store numbers with units",
                         all->parts[p].named, array->variable.path);
    gather_field *of = gather_find_field(all, array->variable.path);
    if (of == NULL) of = add_field(all, array);
    if (of == NULL || !refs_grow((void **)&of->members, &of->capacity, of->n, sizeof *of->members))
        return refs_fail_nomem(err);
    if (of->n > 0) REFS_TRY(check_member(all, of, p, i, err));
    gather_member *added = &of->members[of->n++];
    *added = (gather_member){.part = p, .array = i};
    of->is_named = of->is_named && index_in(all->parts[p].named, of, added->index);
    return REFS_OK;
}

/* Text where others have numbers is of another type: it is not missing there. What serves others in
 * some part, as coordinates do, is no field because a part has nothing that it serves. */
static refs_status check_others(const gathering *all, gather_field *of, bool *serves,
                                refs_error *err) {
    *serves = false;
    for (size_t p = 0; p < all->names.n; p++) {
        const size_t i = tool_arrays_find(&all->parts[p].arrays, of->path);
        if (i == SIZE_MAX || gather_is_filler(all, p) || gather_is_outline(all, p) ||
            refs_cfa_is_field(&all->parts[p].arrays.source, i))
            continue;
        if (gather_is_text(&gather_array_of(all, p, i)->variable.dtype)) {
            const refs_status status = fail_alike(all, of, p, "type", err);
            of->has_others = false;
            return status;
        }
        *serves = true;
    }
    return REFS_OK;
}

static refs_status drop_what_serves(gathering *all, refs_error *err) {
    size_t n = 0;
    for (size_t f = 0; f < all->n_fields; f++) {
        gather_field *of = &all->fields[f];
        bool serves;
        REFS_TRY(check_others(all, of, &serves, err));
        if (serves) {
            refs_free(of->members);
            of->members = NULL;
        } else if (n++ < f) {
            all->fields[n - 1] = *of;
            of->members = NULL;
        }
    }
    all->n_fields = n;
    return REFS_OK;
}

refs_status gather_find_fields(gathering *all, refs_error *err) {
    for (size_t p = 0; p < all->names.n; p++) {
        const refs_cfa_source *source = &all->parts[p].arrays.source;
        for (size_t i = 0; i < source->n_arrays; i++)
            if (refs_cfa_is_field(source, i)) REFS_TRY(add_member(all, p, i, err));
    }
    REFS_TRY(drop_what_serves(all, err));
    if (all->n_fields > 0 || gather_is_outline(all, 0)) return REFS_OK;
    return all->names.n > 0 && gather_is_filler(all, 0)
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
    const refs_cfa_variable *variable = &gather_array_of(all, at->part, at->array)->variable;
    size_t i = 0;
    while (i < list->n && strcmp(list->items[i].path, at->path) != 0) i++;
    if (i == list->n) {
        if (!refs_grow((void **)&list->items, &list->capacity, list->n, sizeof *list->items))
            return refs_fail_nomem(err);
        list->items[list->n++] = *at;
        return REFS_OK;
    }
    const seen *first = &list->items[i];
    const refs_json *const both[2] = {
        gather_array_of(all, first->part, first->array)->variable.attributes, variable->attributes};
    refs_buf difference = REFS_BUF_INIT;
    refs_status status = refs_join_compare_places(both, variable->rank, &difference, err);
    if (status == REFS_OK && difference.size > 0)
        status = fail_elsewhere(all, first, at->part, &difference, err);
    refs_buf_clear(&difference);
    return status;
}

refs_status gather_check_places(const gathering *all, refs_error *err) {
    seen_list list = {NULL, 0, 0};
    refs_status status = REFS_OK;
    for (size_t p = 0; p < all->names.n && status == REFS_OK; p++)
        for (size_t i = 0; i < all->parts[p].arrays.source.n_arrays && status == REFS_OK; i++) {
            const seen at = {gather_array_of(all, p, i)->variable.path, p, i};
            if (!gather_is_filler(all, p)) status = check_place(all, &list, &at, err);
        }
    refs_free(list.items);
    return status;
}
