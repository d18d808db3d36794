/* gather_values.c -- arrays that are in the master itself, such as coordinates, put together from
 * those of the parts; see gather.h.
 */
#include "gather.h"

#include <stdio.h>
#include <string.h>

#include "refs/combine_attributes.h"

/* y = x * scale + offset */
typedef struct linear {
    double scale, offset;
} linear;

/* No part has an element, and an outline or the master that is added to tells of it. */
#define IS_TOLD UINT32_MAX

/* An array of a part. */
typedef struct array_place {
    size_t part, number;
} array_place;

/* An array of the master that is put together from those of the parts. */
typedef struct whole {
    const refs_cfa_array *array;
    array_place first; /* where that is */
    uint64_t shape[REFS_MAX_RANK];
    refs_buf values;
    refs_cf_units units;
    linear by;         /* how values of the part that is copied become those of the master */
    uint32_t *writers; /* of each element: a part and one, IS_TOLD, or 0 */
    bool has_told;     /* that parts have other values of an element */
} whole;

/* An element that two parts have. */
typedef struct conflict {
    uint64_t element;
    size_t part, other;
    const uint8_t *values[2]; /* NULL: that one is missing */
} conflict;

/* Whether an array says where others lie. */
static bool is_grid(const refs_cfa_variable *variable) {
    const refs_str units = refs_json_text(refs_json_get(variable->attributes, "units"));
    return refs_cf_unit_kind_of(units) != REFS_CF_UNIT_OTHER ||
           (variable->rank == 1 &&
            strcmp(variable->dims[0], strrchr(variable->path, '/') + 1) == 0);
}

static void print_element(const refs_dtype *dtype, const uint8_t *value, char text[32]) {
    float single;
    double number = 0;
    (void)snprintf(text, 32, "%s", value == NULL ? "missing" : "");
    if (value == NULL) return;
    if (dtype->type != REFS_TYPE_FLOAT || (dtype->size != 4 && dtype->size != 8)) return;
    memcpy(dtype->size == 4 ? (void *)&single : &number, value, dtype->size == 4 ? 4 : 8);
    (void)snprintf(text, 32, "%.15g", dtype->size == 4 ? (double)single : number);
}

static void note_difference(const gathering *all, const char *path, size_t part, size_t other) {
    const refs_notes notes = {tool_note, NULL};
    if (!all->arguments->quiet)
        refs_note(&notes, REFS_NOTE_WARNING,
                  "%s: not the same in %s and %s: that of the first is kept", path,
                  all->parts[part].named, all->parts[other].named);
}

/* As refs index has it: coordinates of which some are elsewhere are those of another grid. */
static refs_status tell_conflict(const gathering *all, whole *to, const conflict *found,
                                 refs_error *err) {
    const refs_cfa_variable *variable = &to->array->variable;
    const char *one = all->parts[found->part].named, *other = all->parts[found->other].named;
    char shown[2][32];
    for (size_t k = 0; k < 2; k++) print_element(&variable->dtype, found->values[k], shown[k]);
    if (is_grid(variable))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the grids of %s and %s differ: element %llu of %s is %s and %s: files of "
                         "one grid are aggregated",
                         one, other, (unsigned long long)found->element, variable->path, shown[0],
                         shown[1]);
    if (!to->has_told) note_difference(all, variable->path, found->part, found->other);
    to->has_told = true;
    return REFS_OK;
}

/* The place of the field that part `p` has along a dimension; false where it has none. */
static bool find_begin_of_member(const gathering *all, size_t p, const char *name,
                                 uint64_t *begin) {
    for (size_t f = 0; f < all->n_fields; f++) {
        const gather_field *of = &all->fields[f];
        if (of->of_part[p] == 0) continue;
        for (size_t d = 0; d < of->rank; d++) {
            if (strcmp(of->axes[d].name, name) != 0) continue;
            *begin = of->axes[d].slices[of->members[of->of_part[p] - 1].index[d]].begin;
            return true;
        }
    }
    return false;
}

typedef struct taken_array {
    size_t part;
    const refs_cfa_array *from;
} taken_array;

/* The place of an array of a part along its dimension `k`: that of the field in it, or, where
 * it has none, of its coordinate. */
static refs_status find_begin(gathering *all, const taken_array *taken, size_t k, uint64_t *begin,
                              refs_error *err) {
    const refs_cfa_array *from = taken->from;
    const size_t p = taken->part;
    const char *name = from->variable.dims[k];
    const gather_field *of;
    size_t d, near = 0;
    gather_slice read = {.values = NULL};
    *begin = 0;
    if (find_begin_of_member(all, p, name, begin)) return REFS_OK;
    const gather_axis *along = gather_find_axis(all, name, &of, &d);
    /* What has all of an axis begins where that does. */
    if (along == NULL || gather_length_of(along) == from->shape[k]) return REFS_OK;
    const size_t c = gather_coordinate_of(all, p, along->path);
    if (c != SIZE_MAX && gather_array_of(all, p, c)->variable.rank == 1) {
        read.size = gather_array_of(all, p, c)->shape[0];
        REFS_TRY(gather_read_values(all, along, p, &read, err));
    }
    *begin = read.values != NULL && read.size > 0 ? gather_find_element(along, &read, 0, &near)
                                                  : UINT64_MAX;
    refs_free(read.values);
    if (*begin != UINT64_MAX) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: where %s belongs along %s is not known: none of its fields has this "
                     "dimension, and its coordinate is not one of theirs that have it",
                     all->parts[p].named, from->variable.path, name);
}

/* Calls for each element of a box in row order with its place in the whole. */
typedef struct box_walk {
    const whole *to;
    const refs_cfa_array *from;
    const uint64_t *begin;
    uint64_t index[REFS_MAX_RANK];
} box_walk;

static bool begin_walk(box_walk *walk) {
    for (size_t d = 0; d < walk->from->variable.rank; d++)
        if (walk->from->shape[d] == 0) return false;
    return true;
}

static uint64_t place_of(const box_walk *walk) {
    uint64_t at = 0;
    for (size_t d = 0; d < walk->from->variable.rank; d++)
        at = at * walk->to->shape[d] + walk->begin[d] + walk->index[d];
    return at;
}

static bool next_element(box_walk *walk) {
    for (size_t d = walk->from->variable.rank; d-- > 0;) {
        if (++walk->index[d] < walk->from->shape[d]) return true;
        walk->index[d] = 0;
    }
    return false;
}

static void copy_box(const whole *to, const refs_cfa_array *from, const uint64_t *begin,
                     const uint8_t *values) {
    const size_t size = to->array->variable.dtype.size;
    box_walk walk = {to, from, begin, {0}};
    bool more = begin_walk(&walk);
    for (; more; values += size) {
        const uint64_t at = place_of(&walk);
        memcpy(to->values.data + at * size, values, size);
        to->writers[at] = IS_TOLD;
        more = next_element(&walk);
    }
}

/* Whether elements that two parts have are other values; what one of them has as a float, as
 * floats. */
static bool differ(const refs_dtype *dtype, const uint8_t *one, const uint8_t *other,
                   bool as_floats) {
    double numbers[2];
    if (memcmp(one, other, dtype->size) == 0) return false;
    if (!as_floats || dtype->size != sizeof(double)) return true;
    memcpy(&numbers[0], one, sizeof(double));
    memcpy(&numbers[1], other, sizeof(double));
    return gather_differs_as_float(numbers[0], numbers[1]);
}

/* Whether a value that a part calls missing is so in the master, which has the attributes of the
 * first part. */
enum { MISSING_ALIKE, MISSING_IN_PART, MISSING_IN_MASTER };

/* The elements of part `p`; those that another has, too, stay. */
typedef struct taken_box {
    size_t part;
    const refs_cfa_array *from;
    const uint64_t *begin;
    const uint8_t *values;
    bool as_floats;
    const refs_buf *differences; /* find_other_missing */
} taken_box;

/* An outline tells of fragments what they hold: one that tells of others is not theirs. */
static refs_status fail_told(const gathering *all, const whole *to, const conflict *found,
                             refs_error *err) {
    const refs_cfa_variable *variable = &to->array->variable;
    char shown[2][32];
    for (size_t k = 0; k < 2; k++) print_element(&variable->dtype, found->values[k], shown[k]);
    return refs_fail(err, REFS_INVALID,
                     "%s: element %llu of %s is %s, and %s in the outline: it is that of other "
                     "fragments",
                     all->parts[found->other].named, (unsigned long long)found->element,
                     variable->path, shown[1], shown[0]);
}

/* An element, by its place and by its number in the box, that is missing in its part or in the
 * master alone. */
typedef struct missing_element {
    const taken_box *box;
    uint64_t place;
    size_t number;
} missing_element;

static refs_status tell_missing(const gathering *all, whole *to, const missing_element *found,
                                refs_error *err) {
    const taken_box *box = found->box;
    const uint8_t *value = box->values + found->number * to->array->variable.dtype.size;
    const bool is_of_part = box->differences->data[found->number] == MISSING_IN_PART;
    const conflict both = {found->place,
                           to->first.part,
                           box->part,
                           {is_of_part ? value : NULL, is_of_part ? NULL : value}};
    return tell_conflict(all, to, &both, err);
}

static refs_status take_box(const gathering *all, whole *to, const taken_box *box,
                            refs_error *err) {
    const refs_dtype *dtype = &to->array->variable.dtype;
    const uint8_t *values = box->values;
    box_walk walk = {to, box->from, box->begin, {0}};
    bool more = begin_walk(&walk);
    for (size_t i = 0; more; values += dtype->size, i++) {
        const uint64_t at = place_of(&walk);
        if (i < box->differences->size && box->differences->data[i] != MISSING_ALIKE)
            REFS_TRY(tell_missing(all, to, &(missing_element){box, at, i}, err));
        uint8_t *mine = to->values.data + at * dtype->size;
        const bool is_told = to->writers[at] == IS_TOLD;
        const conflict told = {at, 0, box->part, {mine, values}};
        if (is_told && is_grid(&to->array->variable) && differ(dtype, mine, values, true))
            return fail_told(all, to, &told, err);
        if (to->writers[at] == 0 || is_told) {
            to->writers[at] = (uint32_t)box->part + 1;
            memcpy(mine, values, dtype->size);
        } else if (differ(dtype, mine, values, box->as_floats)) {
            const conflict found = {at, to->writers[at] - 1, box->part, {mine, values}};
            REFS_TRY(tell_conflict(all, to, &found, err));
        }
        more = next_element(&walk);
    }
    return REFS_OK;
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

/* Units of an array in a part; of bounds, those of their coordinate. */
static refs_cf_units units_in_part(const gathering *all, size_t p, size_t i) {
    const refs_cfa_variable *variable = &gather_array_of(all, p, i)->variable;
    const refs_cfa_array *bounded = gather_bounded_by(all, p, i);
    return gather_units_of(bounded != NULL ? &bounded->variable : variable);
}

/* The same in the master, whose coordinates have the units of the first part. */
static refs_cf_units units_in_master(const gathering *all, size_t p, size_t i) {
    const refs_cfa_array *bounded = gather_bounded_by(all, p, i);
    const gather_field *of;
    size_t d;
    const gather_axis *along = bounded != NULL && bounded->variable.rank == 1
                                   ? gather_find_axis(all, bounded->variable.dims[0], &of, &d)
                                   : NULL;
    return along != NULL && along->coordinate != SIZE_MAX
               ? gather_wanted_units(all, &gather_array_of(all, 0, along->coordinate)->variable)
               : units_in_part(all, p, i);
}

/* What the master says of packing is said once. */
static refs_status check_packing(const gather_part *of, const refs_cfa_variable *from,
                                 const refs_cfa_variable *to, refs_error *err) {
    if (gather_number_of(from, "scale_factor", 1) == gather_number_of(to, "scale_factor", 1) &&
        gather_number_of(from, "add_offset", 0) == gather_number_of(to, "add_offset", 0))
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: %s has another scale_factor or add_offset than in other sources, which "
                     "one aggregation cannot have",
                     of->named, from->path);
}

/* How values of a part become those of the whole. A height that is a pressure elsewhere is an
 * error. */
static refs_status find_conversion(const gathering *all, size_t p, size_t i, whole *to,
                                   refs_error *err) {
    const refs_cfa_array *from = gather_array_of(all, p, i);
    const refs_cf_units own = units_in_part(all, p, i);
    const refs_dtype *dtype = &to->array->variable.dtype;
    const bool is_float = dtype->type == REFS_TYPE_FLOAT && dtype->size >= 4;
    const refs_cf_conversion conversion =
        refs_cf_convert_units(&own, &to->units, &to->by.scale, &to->by.offset);
    const bool is_scalar = from->variable.rank == 0;
    if (conversion == REFS_CF_CONVERSION_LINEAR && is_float &&
        gather_number_of(&from->variable, "scale_factor", 1) == 1)
        return REFS_OK;
    to->by = (linear){1, 0};
    if (conversion == REFS_CF_CONVERSION_NONE ||
        (conversion == REFS_CF_CONVERSION_UNKNOWN && (is_grid(&from->variable) || !is_scalar)))
        return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: %s is in \"%.*s\" and in \"%.*s\" in other sources, which are "
                     "not converted into each other: aggregate sources of one kind",
                     all->parts[p].named, from->variable.path, REFS_STR_ARG(own.units),
                     REFS_STR_ARG(to->units.units));
}

static void convert_floats(const refs_dtype *dtype, const linear *by, refs_buf *values) {
    double number;
    float single;
    if (by->scale == 1 && by->offset == 0) return;
    for (uint8_t *at = values->data; at < values->data + values->size; at += dtype->size) {
        memcpy(dtype->size == 4 ? (void *)&single : &number, at, dtype->size);
        number = (dtype->size == 4 ? (double)single : number) * by->scale + by->offset;
        single = (float)number;
        memcpy(at, dtype->size == 4 ? (const void *)&single : (const void *)&number, dtype->size);
    }
}

/* Which of the values of an array are missing; empty where none is. */
static refs_status find_missing(const gathering *all, const array_place *of, const refs_buf *values,
                                refs_buf *missing, refs_error *err) {
    const tool_arrays *arrays = &all->parts[of->part].arrays;
    return refs_join_find_missing(arrays->set.hierarchy, arrays->metas[of->number],
                                  refs_buf_view(values), missing, err);
}

/* Of each value whether it is missing in its part or in the master alone; empty where `own` and
 * `kept` have the same. */
static refs_status list_differences(size_t n, const refs_buf *own, const refs_buf *kept,
                                    refs_buf *differences, refs_error *err) {
    if (own->size == kept->size && (own->size == 0 || memcmp(own->data, kept->data, n) == 0))
        return REFS_OK;
    REFS_TRY(refs_buf_resize(differences, n, err));
    for (size_t k = 0; k < n; k++) {
        const bool is_own = own->size > 0 && own->data[k] != 0;
        const bool is_kept = kept->size > 0 && kept->data[k] != 0;
        differences->data[k] = is_own == is_kept ? MISSING_ALIKE
                               : is_own          ? MISSING_IN_PART
                                                 : MISSING_IN_MASTER;
    }
    return REFS_OK;
}

/* Values of a part, and which of them are missing there or in the master alone. */
typedef struct part_values {
    refs_buf values, differences;
} part_values;

/* Makes values of a part those of the whole. */
static refs_status convert_values(const gathering *all, const array_place *of, const whole *to,
                                  part_values *read, refs_error *err) {
    const refs_dtype *own = &gather_array_of(all, of->part, of->number)->variable.dtype,
                     *wanted = &to->array->variable.dtype;
    refs_buf missing = REFS_BUF_INIT, kept = REFS_BUF_INIT;
    refs_status status = find_missing(all, of, &read->values, &missing, err);
    if (status == REFS_OK && !have_one_type(own, wanted))
        status = resize_floats(&read->values, own, wanted, err);
    if (status == REFS_OK) {
        convert_floats(wanted, &to->by, &read->values);
        status = find_missing(all, &to->first, &read->values, &kept, err);
    }
    if (status == REFS_OK)
        status = list_differences(read->values.size / wanted->size, &missing, &kept,
                                  &read->differences, err);
    refs_buf_clear(&missing);
    refs_buf_clear(&kept);
    return status;
}

static refs_status copy_part(gathering *all, size_t p, size_t i, whole *to, refs_error *err) {
    const refs_cfa_array *from = gather_array_of(all, p, i);
    const refs_cfa_source *source = &all->parts[p].arrays.source;
    uint64_t begin[REFS_MAX_RANK], zero[REFS_MAX_RANK] = {0}, n = 1;
    const refs_dtype *own = &from->variable.dtype, *wanted = &to->array->variable.dtype;
    const bool is_one_type = have_one_type(own, wanted);
    const taken_array array = {p, from};
    REFS_TRY(find_conversion(all, p, i, to, err));
    REFS_TRY(check_packing(&all->parts[p], &from->variable, &to->array->variable, err));
    if (from->variable.rank != to->array->variable.rank ||
        (!is_one_type && !are_floats(own, wanted)))
        return refs_fail(err, REFS_INVALID, "%s: %s has another type than in other sources",
                         all->parts[p].named, from->variable.path);
    for (size_t d = 0; d < from->variable.rank; d++) {
        REFS_TRY(find_begin(all, &array, d, &begin[d], err));
        n *= from->shape[d];
        if (from->shape[d] > to->shape[d] || begin[d] > to->shape[d] - from->shape[d])
            return refs_fail(err, REFS_INVALID, "%s: %s is longer than in other sources",
                             all->parts[p].named, from->variable.path);
    }
    part_values read = {REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = refs_buf_resize(&read.values, (size_t)n * own->size, err);
    const refs_cfa_box box = {i, zero, from->shape};
    if (status == REFS_OK && n > 0)
        status = source->read(source->self, &box, read.values.data, err);
    const array_place of = {p, i};
    if (status == REFS_OK) status = convert_values(all, &of, to, &read, err);
    const bool is_converted = to->by.scale != 1 || to->by.offset != 0;
    const taken_box taken = {
        p, from, begin, read.values.data, !is_one_type || is_converted, &read.differences};
    if (status == REFS_OK) status = take_box(all, to, &taken, err);
    refs_buf_clear(&read.values);
    refs_buf_clear(&read.differences);
    return status;
}

/* Fragments whose places their names tell may lack the coordinate: what nobody has is missing. */
static refs_status append_times(const gathering *all, const refs_cfa_array *array,
                                const gather_slice *slice, refs_buf *values, refs_error *err) {
    static const refs_dtype dtype = {.type = REFS_TYPE_FLOAT, .size = sizeof(double)};
    const refs_notes notes = {tool_note, NULL};
    double fill = 0;
    if (slice->values != NULL)
        return refs_buf_append(values, slice->values, (size_t)slice->size * sizeof(double), err);
    (void)refs_cf_default_fill(&dtype, (uint8_t *)&fill);
    for (uint64_t k = 0; k < slice->size; k++)
        REFS_TRY(refs_buf_append(values, &fill, sizeof fill, err));
    if (!all->arguments->quiet)
        refs_note(&notes, REFS_NOTE_WARNING,
                  "%s: %llu values from element %llu on are in no source, and missing",
                  array->variable.path, (unsigned long long)slice->size,
                  (unsigned long long)slice->begin);
    return REFS_OK;
}

/* Attributes in units, or in the packing, that values had before. */
static bool is_of_stored(refs_str name) {
    return refs_cf_has_type_of_variable(name) || refs_str_is(name, "actual_range") ||
           refs_str_is(name, "scale_factor") || refs_str_is(name, "add_offset") ||
           refs_str_is(name, "_Unsigned");
}

/* A coordinate whose values were converted has other units, and is of doubles. */
static refs_status write_times(gathering *all, refs_master *master, const refs_cfa_array *array,
                               const gather_axis *along, refs_error *err) {
    refs_cfa_variable variable = array->variable;
    refs_buf values = REFS_BUF_INIT, text = REFS_BUF_INIT;
    refs_json_doc *doc = NULL;
    refs_status status = REFS_OK;
    for (size_t i = 0; status == REFS_OK && i < along->n; i++)
        status = append_times(all, array, &along->slices[i], &values, err);
    variable.dtype = (refs_dtype){.type = REFS_TYPE_FLOAT, .size = 8};
    variable.fill = NULL;
    if (status == REFS_OK) status = refs_buf_printf(&text, err, "{\"units\": ");
    if (status == REFS_OK)
        status =
            refs_json_write_string(gather_wanted_units(all, &array->variable).units, &text, err);
    for (size_t i = 0; status == REFS_OK && i < refs_json_size(variable.attributes); i++) {
        refs_str name = refs_json_name_at(variable.attributes, i);
        if (refs_str_is(name, "units") || is_of_stored(name)) continue;
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
    const refs_cf_units to = gather_wanted_units(all, first);
    for (size_t p = 0; p < all->names.n; p++) {
        size_t c = tool_arrays_find(&all->parts[p].arrays, path);
        if (c == SIZE_MAX) continue;
        if (!refs_str_equal(gather_units_of(&gather_array_of(all, p, c)->variable).units, to.units))
            return true;
    }
    return false;
}

static bool are_texts_of_one_shape(const refs_cfa_array *a, const refs_cfa_array *b) {
    bool are_same = a->variable.rank == b->variable.rank && gather_is_text(&b->variable.dtype);
    for (size_t d = 0; are_same && d < a->variable.rank; d++) are_same = a->shape[d] == b->shape[d];
    return are_same;
}

static refs_status compare_strings(const refs_cfa_source *source, size_t i, const refs_buf *strings,
                                   bool *are_same, refs_error *err) {
    refs_buf values = REFS_BUF_INIT;
    const refs_status status = source->read_strings(source->self, i, &values, err);
    *are_same = status == REFS_OK && values.size == strings->size &&
                (values.size == 0 || memcmp(values.data, strings->data, values.size) == 0);
    refs_buf_clear(&values);
    return status;
}

/* Warns of the first part whose strings differ from those of part `p`. Those that cannot be read
 * are not written: they end no run. */
static refs_status compare_all_strings(const gathering *all, size_t p, const refs_cfa_array *array,
                                       const refs_buf *strings, refs_error *err) {
    if (all->arguments->quiet) return REFS_OK;
    for (size_t q = p + 1; q < all->names.n; q++) {
        const size_t i = tool_arrays_find(&all->parts[q].arrays, array->variable.path);
        if (i == SIZE_MAX || gather_is_filler(all, q) || gather_is_outline(all, q)) continue;
        const refs_cfa_source *source = &all->parts[q].arrays.source;
        bool are_same = are_texts_of_one_shape(array, &source->arrays[i]);
        refs_error problem = REFS_ERROR_INIT;
        const refs_status status =
            are_same ? compare_strings(source, i, strings, &are_same, &problem) : REFS_OK;
        if (status == REFS_NOMEM || status == REFS_CANCELLED)
            return refs_fail(err, status, "%s", problem.message);
        if (are_same || status != REFS_OK) continue;
        note_difference(all, array->variable.path, p, q);
        return REFS_OK;
    }
    return REFS_OK;
}

static refs_status write_strings(gathering *all, refs_master *master, size_t p, size_t i,
                                 refs_error *err) {
    const refs_cfa_source *source = &all->parts[p].arrays.source;
    const refs_cfa_array *array = &source->arrays[i];
    refs_buf strings = REFS_BUF_INIT;
    for (size_t d = 0; d < array->variable.rank; d++) {
        const gather_field *of;
        size_t k;
        const gather_axis *along = gather_find_axis(all, array->variable.dims[d], &of, &k);
        if (along != NULL && gather_length_of(along) != array->shape[d])
            return refs_fail(err, REFS_UNSUPPORTED, "%s: strings along %s, which is split",
                             array->variable.path, array->variable.dims[d]);
    }
    refs_status status = source->read_strings(source->self, i, &strings, err);
    if (status == REFS_OK) status = compare_all_strings(all, p, array, &strings, err);
    if (status == REFS_OK)
        status = refs_master_variable(master, &array->variable, refs_buf_view(&strings), err);
    refs_buf_clear(&strings);
    return status;
}

/* A gap along dimension `d`. */
typedef struct gap {
    size_t d;
    const gather_slice *at;
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
    refs_cfa_array from = *gather_array_of(all, m, i);
    if (from.variable.rank != to->array->variable.rank || from.variable.dtype.size != size)
        return REFS_OK;
    for (size_t d = 0; d < from.variable.rank; d++) {
        const gather_field *of;
        size_t k;
        const gather_axis *along = gather_find_axis(all, from.variable.dims[d], &of, &k);
        for (size_t s = 0; along != NULL && s < along->n; s++)
            if (along->slices[s].is_gap && along->slices[s].teller == m)
                REFS_TRY(copy_gap(all, i, to, (gap){d, &along->slices[s]}, err));
    }
    return REFS_OK;
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
    const gather_field *of;
    size_t d, near = 0;
    gather_slice read = {.size = n};
    const gather_axis *along = gather_find_axis(all, name, &of, &d);
    const size_t c =
        along != NULL && along->path != NULL ? gather_coordinate_of(all, p, along->path) : SIZE_MAX;
    const bool has_values = c != SIZE_MAX && gather_array_of(all, p, c)->variable.rank == 1 &&
                            gather_array_of(all, p, c)->shape[0] == n;
    const bool is_whole = along == NULL || gather_length_of(along) == n || of->outline == p;
    const uint64_t end = along != NULL ? gather_length_of(along) : n;
    if (has_values && !is_whole) REFS_TRY(gather_read_values(all, along, p, &read, err));
    for (uint64_t k = 0; k < n; k++)
        map[k] = read.values != NULL   ? gather_find_element(along, &read, k, &near)
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
        if (is_in) {
            memcpy(to->values.data + at * size, value, size);
            to->writers[at] = IS_TOLD;
        }
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
static refs_status copy_outline(gathering *all, size_t p, size_t i, whole *to, refs_error *err) {
    mapped of = {.from = gather_array_of(all, p, i)};
    if (of.from->variable.rank != to->array->variable.rank ||
        !have_one_type(&of.from->variable.dtype, &to->array->variable.dtype))
        return REFS_OK;
    REFS_TRY(find_conversion(all, p, i, to, err));
    refs_status status = read_mapped(all, p, i, &of, err);
    if (status == REFS_OK) {
        convert_floats(&to->array->variable.dtype, &to->by, &of.values);
        copy_mapped(to, &of);
    }
    for (size_t d = 0; d < REFS_MAX_RANK; d++) refs_free(of.map[d]);
    refs_buf_clear(&of.values);
    return status;
}

static refs_status copy_outlines(gathering *all, whole *to, refs_error *err) {
    for (size_t p = 0; p < all->names.n; p++) {
        const size_t i = gather_is_outline(all, p)
                             ? tool_arrays_find(&all->parts[p].arrays, to->array->variable.path)
                             : SIZE_MAX;
        if (i != SIZE_MAX) REFS_TRY(copy_outline(all, p, i, to, err));
    }
    return REFS_OK;
}

/* What nobody has is missing, and told. */
static void fill_rest(const gathering *all, whole *made) {
    const refs_notes notes = {tool_note, NULL};
    const refs_cfa_variable *variable = &made->array->variable;
    const size_t size = variable->dtype.size, n = made->values.size / size;
    uint8_t fill[sizeof(double)] = {0};
    size_t n_missing = 0;
    if (variable->fill != NULL && size <= sizeof fill)
        memcpy(fill, variable->fill, size);
    else
        (void)refs_cf_default_fill(&variable->dtype, fill);
    for (size_t i = 0; i < n && size <= sizeof fill; i++) {
        if (made->writers[i] != 0) continue;
        memcpy(made->values.data + i * size, fill, size);
        n_missing++;
    }
    if (n_missing > 0 && !all->arguments->quiet)
        refs_note(&notes, REFS_NOTE_WARNING, "%s: %zu of %zu values are in no source, and missing",
                  variable->path, n_missing, n);
}

static refs_status write_whole(gathering *all, refs_master *master, size_t p, size_t i,
                               refs_error *err) {
    whole made = {
        .array = gather_array_of(all, p, i), .first = {p, i}, .units = units_in_master(all, p, i)};
    size_t size = made.array->variable.dtype.size;
    for (size_t d = 0; d < made.array->variable.rank; d++) {
        const gather_field *of;
        size_t k;
        const gather_axis *along = gather_find_axis(all, made.array->variable.dims[d], &of, &k);
        made.shape[d] = along != NULL ? gather_length_of(along) : made.array->shape[d];
        if (!refs_mul_size(size, (size_t)made.shape[d], &size) || size > REFS_CFA_MAX_VALUE_BYTES)
            return refs_fail(err, REFS_LIMIT, "%s: is too large for a master",
                             made.array->variable.path);
    }
    REFS_TRY(refs_buf_resize(&made.values, size, err));
    if (size > 0) memset(made.values.data, 0, size);
    made.writers = refs_calloc(size / made.array->variable.dtype.size + 1, sizeof *made.writers);
    refs_status status =
        made.writers != NULL ? copy_outlines(all, &made, err) : refs_fail_nomem(err);
    /* Those of its own type come first, and hold. */
    for (size_t k = 0; status == REFS_OK && k < 2 * all->names.n; k++) {
        const size_t q = k % all->names.n;
        size_t c = tool_arrays_find(&all->parts[q].arrays, made.array->variable.path);
        if (c == SIZE_MAX || gather_is_outline(all, q)) continue;
        const bool is_own =
            have_one_type(&gather_array_of(all, q, c)->variable.dtype, &made.array->variable.dtype);
        if (is_own == (k < all->names.n)) status = copy_part(all, q, c, &made, err);
    }
    if (status == REFS_OK) status = copy_gaps(all, &made, err);
    if (status == REFS_OK) fill_rest(all, &made);
    if (status == REFS_OK)
        status =
            refs_master_variable(master, &made.array->variable, refs_buf_view(&made.values), err);
    refs_free(made.writers);
    refs_buf_clear(&made.values);
    return status;
}

refs_status gather_write_other(gathering *all, refs_master *master, size_t p, size_t i,
                               refs_error *err) {
    const refs_cfa_array *array = gather_array_of(all, p, i);
    const gather_field *of;
    size_t d;
    const gather_axis *along =
        array->variable.rank == 1 ? gather_find_axis(all, array->variable.dims[0], &of, &d) : NULL;
    bool is_own =
        along != NULL && along->path != NULL && strcmp(along->path, array->variable.path) == 0;
    if (is_own && is_converted(all, along->path, &array->variable))
        return write_times(all, master, array, along, err);
    if (gather_is_text(&array->variable.dtype)) return write_strings(all, master, p, i, err);
    return write_whole(all, master, p, i, err);
}
