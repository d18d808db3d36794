/* axes.c -- finds the position of a part along the concat dimensions, by its coordinates or its
 * name. */
#include "part_reader.h"

static size_t count_groups(refs_str path) {
    size_t n = 0;
    for (size_t i = 0; i < path.size; i++) n += path.data[i] == '/';
    return n;
}

bool refs_combine__is_above(const refs_intern *strings, const refs_combine_array *array,
                            const refs_combine_array *other) {
    const refs_str path = refs_intern_get(strings, array->path),
                   other_path = refs_intern_get(strings, other->path);
    const size_t n = count_groups(path), n_other = count_groups(other_path);
    if (array->rank != other->rank) return array->rank > other->rank;
    return n != n_other ? n < n_other : strcmp(path.data, other_path.data) < 0;
}

refs_status refs_combine__find_axis(const refs_intern *strings, refs_combine_member *member,
                                    size_t concat, refs_str name, refs_error *err) {
    refs_combine_axis *axis = &member->axes[concat];
    *axis = (refs_combine_axis){
        .array = REFS_COMBINE_NONE, .n = 1, .is_new = true, .text = REFS_COMBINE_NONE};
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        bool is_named = refs_str_equal(refs_intern_get(strings, array->name), name);
        if (is_named && array->rank <= 1 && array->is_thin &&
            (axis->array == REFS_COMBINE_NONE ||
             refs_combine__is_above(strings, array, &member->arrays[axis->array])))
            axis->array = (uint32_t)i;
        for (size_t dim = 0; dim < array->rank && !array->is_piece; dim++) {
            if (!refs_str_equal(refs_path_last(refs_intern_get(strings, array->dims[dim])), name))
                continue;
            if (!axis->is_new && axis->n != array->shape[dim])
                return refs_fail(err, REFS_UNSUPPORTED,
                                 "dimension %.*s has the lengths %llu and %llu", REFS_STR_ARG(name),
                                 (unsigned long long)axis->n,
                                 (unsigned long long)array->shape[dim]);
            axis->is_new = false;
            axis->n = array->shape[dim];
        }
    }
    return REFS_OK;
}

bool refs_combine__drop_step(refs_combine_axis *axis) {
    if (!axis->is_new || axis->array != REFS_COMBINE_NONE) return false;
    axis->is_new = false;
    axis->n = 0;
    return true;
}

/* -- coordinates that are one value ------------------------------------------------------------ */

bool refs_combine__is_own_axis(const refs_intern *strings, const refs_combine_array *array) {
    return array->rank == 1 && !array->is_piece &&
           refs_str_equal(refs_path_last(refs_intern_get(strings, array->dims[0])),
                          refs_intern_get(strings, array->name));
}

/* Whether all dimensions of an array are concat dimensions, and none of them is its own. */
static bool is_along_others(const refs_combine *combine, const refs_intern *strings,
                            const refs_combine_array *array) {
    const refs_str own = refs_intern_get(strings, array->name);
    for (size_t dim = 0; dim < array->rank; dim++) {
        size_t concat;
        const refs_str name = refs_path_last(refs_intern_get(strings, array->dims[dim]));
        if (refs_str_equal(own, name) || !refs_combine__is_dim(combine, name, &concat))
            return false;
    }
    return !array->is_piece;
}

static refs_str text_of(const refs_part_reader *in, uint32_t id) {
    return id != REFS_COMBINE_NONE ? refs_intern_get(in->strings, id) : refs_str_view("", 0);
}

/* The single value of a concat dimension's coordinate along other dimensions; empty if it has
 * several. */
static refs_str constant_of(const refs_part_reader *in, const refs_combine_array *array) {
    size_t concat;
    if (array->rank == 0 || !is_along_others(in->combine, in->strings, array) || array->are_texts ||
        !refs_combine__is_dim(in->combine, text_of(in, array->name), &concat))
        return refs_str_view("", 0);
    return refs_combine__constant_of(text_of(in, array->values), text_of(in, array->missing),
                                     array->dtype.size);
}

refs_status refs_part__take_constants(refs_part_reader *in, refs_error *err) {
    for (size_t i = 0; i < in->member->n_arrays; i++) {
        refs_combine_array *array = &in->member->arrays[i];
        const refs_str constant = constant_of(in, array);
        if (constant.size == 0) continue;
        REFS_TRY(refs_part__number_text(in, constant, &array->values, err));
        refs_combine__forget_holes(array);
        array->constant_rank = array->rank;
        array->rank = 0;
        array->gets_new = true;
        array->missing = array->invalid = REFS_COMBINE_NONE;
    }
    return REFS_OK;
}

/* Whether units count instants or durations. */
static bool counts_time(const refs_intern *strings, const refs_combine_array *array) {
    static const refs_cf_units seconds = {{"s", 1}, {"", 0}};
    if (array->is_time || array->units == REFS_COMBINE_NONE) return array->is_time;
    const refs_cf_units units = {refs_intern_get(strings, array->units), {"", 0}};
    return refs_cf_compare_units(&units, &seconds) != REFS_CF_CONVERSION_UNKNOWN;
}

/* Whether an array is the scalar coordinate of a concat dimension, or its bounds. */
static bool is_of_step(const refs_combine *combine, const refs_combine_member *member,
                       const refs_combine_array *array) {
    const refs_combine_array *coordinate = refs_combine__bounded_by(member, array);
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const refs_combine_axis *axis = &member->axes[concat];
        if (axis->array != REFS_COMBINE_NONE && &member->arrays[axis->array] == coordinate)
            return coordinate->rank == 0;
    }
    return false;
}

static bool has_new_time(const refs_combine *combine, const refs_intern *strings,
                         const refs_combine_member *member) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const refs_combine_axis *axis = &member->axes[concat];
        if (axis->is_new && axis->array != REFS_COMBINE_NONE &&
            counts_time(strings, &member->arrays[axis->array]))
            return true;
    }
    return false;
}

void refs_combine__widen_steps(const refs_combine *combine, const refs_intern *strings,
                               refs_combine_member *member) {
    const bool is_one = has_new_time(combine, strings, member);
    for (size_t i = 0; i < member->n_arrays; i++) {
        refs_combine_array *array = &member->arrays[i];
        const refs_combine_array *coordinate = refs_combine__bounded_by(member, array);
        array->gets_new =
            array->gets_new || is_of_step(combine, member, array) ||
            (is_one && coordinate->is_time && is_along_others(combine, strings, coordinate));
    }
}

/* -- coordinates that names tell --------------------------------------------------------------- */

/* The coordinate of a dimension, emptied: the part's own array, or a new one; NULL if memory ran
 * out. */
static refs_combine_array *clear_coordinate(refs_combine_member *member, refs_combine_axis *axis) {
    if (axis->array != REFS_COMBINE_NONE) {
        refs_free(member->arrays[axis->array].shape);
        refs_free(member->arrays[axis->array].dims);
    } else if (refs_grow((void **)&member->arrays, &member->array_capacity, member->n_arrays,
                         sizeof *member->arrays)) {
        axis->array = (uint32_t)member->n_arrays++;
    } else {
        return NULL;
    }
    refs_combine_array *array = &member->arrays[axis->array];
    *array = (refs_combine_array){.number = REFS_COMBINE_NONE,
                                  .bounded = REFS_COMBINE_NONE,
                                  .named_by = REFS_COMBINE_NONE,
                                  .missing = REFS_COMBINE_NONE,
                                  .units = REFS_COMBINE_NONE,
                                  .calendar = REFS_COMBINE_NONE,
                                  .digest = REFS_COMBINE_NONE,
                                  .hole_dims = REFS_COMBINE_NONE,
                                  .whole = REFS_COMBINE_NONE,
                                  .problem = REFS_COMBINE_NONE,
                                  .part_prefix = REFS_COMBINE_NONE,
                                  .unpacking = {.scale = 1},
                                  .rank = 1,
                                  .is_thin = true,
                                  .has_inline = true,
                                  .separator = '.'};
    return array;
}

static refs_status put_value(refs_part_reader *in, refs_combine_array *array,
                             const refs_pattern_value *value, refs_error *err) {
    refs_str bytes = refs_str_view((const char *)&value->integer, sizeof value->integer);
    array->dtype = (refs_dtype){.type = REFS_TYPE_INT, .size = sizeof value->integer};
    if (value->kind == REFS_PATTERN_TEXT) {
        bytes = value->text;
        array->dtype = (refs_dtype){.type = REFS_TYPE_BYTES, .size = value->text.size};
    } else if (value->kind == REFS_PATTERN_NUMBER) {
        bytes = refs_str_view((const char *)&value->number, sizeof value->number);
        array->dtype.type = REFS_TYPE_FLOAT;
    }
    return refs_part__number_text(in, bytes, &array->values, err);
}

/* Describes one step in one chunk. */
static refs_status put_step(refs_part_reader *in, refs_combine_array *array, refs_str name,
                            refs_error *err) {
    array->shape = refs_calloc(2, 3 * sizeof *array->shape);
    array->dims = refs_calloc(2, sizeof *array->dims);
    if (array->shape == NULL || array->dims == NULL) return refs_fail_nomem(err);
    array->chunk = array->shape + 1;
    array->n = array->shape + 2;
    array->shape[0] = array->chunk[0] = array->n[0] = 1;
    in->scratch.size = 0;
    REFS_TRY(refs_buf_printf(&in->scratch, err, "%.*s/", REFS_STR_WHOLE(name)));
    REFS_TRY(refs_part__number_scratch(in, &array->prefix, err));
    REFS_TRY(refs_part__number_text(in, name, &array->path, err));
    array->name = array->path;
    return refs_part__number_text(in, name, &array->dims[0], err);
}

static refs_status put_documents(refs_part_reader *in, refs_combine_array *array, refs_str name,
                                 refs_error *err) {
    static const char document[] = "{\"zarr_format\":2,\"shape\":[1],\"chunks\":[1],\"dtype\":"
                                   "\"<i8\",\"compressor\":null,\"filters\":null,\"order\":\"C\","
                                   "\"fill_value\":null}";
    const bool is_time = array->units != REFS_COMBINE_NONE;
    in->scratch.size = 0;
    REFS_TRY(refs_buf_printf(&in->scratch, err, "{\"_ARRAY_DIMENSIONS\":["));
    REFS_TRY(refs_json_write_string(name, &in->scratch, err));
    REFS_TRY(refs_buf_printf(&in->scratch, err,
                             is_time ? "],\"standard_name\":\"time\",\"units\":\"%s\"}" : "]%s}",
                             is_time ? REFS_SINCE_EPOCH : ""));
    REFS_TRY(refs_part__number_scratch(in, &array->attributes, err));
    REFS_TRY(refs_part__number_text(in, refs_str_from(document), &array->document, err));
    REFS_TRY(refs_part__number_text(in, refs_str_view("", 0), &array->packing, err));
    REFS_TRY(refs_combine__describe_range(in->strings, NULL, &array->range, err));
    REFS_TRY(refs_combine__describe_flags(in->strings, NULL, &array->flags, err));
    return refs_part__number_text(in, refs_str_view("", 0), &array->layout, err);
}

/* Sets *value to a number or time of a coordinate of one, and appends it as text. */
static refs_status read_value(const refs_part_reader *in, const refs_combine_array *array,
                              refs_value *value, refs_buf *text, refs_error *err) {
    const refs_cf_units units = {text_of(in, array->units), text_of(in, array->calendar)};
    refs_values values = {
        .dtype = &array->dtype, .unpacking = array->unpacking, .bytes = text_of(in, array->values)};
    char number[REFS_VALUE_TEXT];
    value->kind = REFS_VALUE_NONE;
    if (array->are_texts || values.bytes.size == 0 || values.bytes.size != array->dtype.size)
        return REFS_OK;
    refs_combine__set_clock(&values, &units);
    *value = refs_combine__unpacked_at(&values, 0);
    if (value->kind == REFS_VALUE_TIME) return refs_cf_print_time(&units, value->number, text, err);
    return refs_buf_printf(text, err, "%s", refs_combine__print_value(value, number));
}

/* Whether two values differ that are of one kind, or both numbers. Texts of values may have moved:
 * those of messages are compared. */
static bool differ(const refs_value *own, refs_str text, const refs_value *named, refs_str other) {
    const bool are_numbers = refs_combine__is_number(own) && refs_combine__is_number(named);
    const bool are_times = own->kind == REFS_VALUE_TIME || named->kind == REFS_VALUE_TIME;
    if (own->kind == REFS_VALUE_TEXT && named->kind == REFS_VALUE_TEXT)
        return !refs_str_equal(text, other);
    return (own->kind == named->kind || (are_numbers && !are_times)) &&
           refs_combine__compare_values(own, named) != 0;
}

/* Puts the value of a name into the coordinate, and notes if the source has another one. */
static refs_status replace_value(refs_part_reader *in, refs_combine_axis *axis, refs_str name,
                                 const refs_pattern_value *value, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT, other = REFS_BUF_INIT;
    refs_value own = {.kind = REFS_VALUE_NONE}, named;
    if (axis->array != REFS_COMBINE_NONE)
        REFS_TRY(read_value(in, &in->member->arrays[axis->array], &own, &text, err));
    refs_combine_array *array = clear_coordinate(in->member, axis);
    if (array == NULL) return refs_fail_nomem(err);
    REFS_TRY(put_value(in, array, value, err));
    if (value->kind == REFS_PATTERN_TIME)
        REFS_TRY(refs_part__number_text(in, refs_str_from(REFS_SINCE_EPOCH), &array->units, err));
    REFS_TRY(read_value(in, array, &named, &other, err));
    if (own.kind == REFS_VALUE_NONE ||
        !differ(&own, refs_buf_text(&text), &named, refs_buf_text(&other)))
        return REFS_OK;
    in->scratch.size = 0;
    REFS_TRY(refs_buf_printf(&in->scratch, err, "%.*s is %.*s in the source, and %.*s in its name",
                             REFS_STR_WHOLE(name), REFS_STR_WHOLE(refs_buf_text(&text)),
                             REFS_STR_WHOLE(refs_buf_text(&other))));
    in->member->differs_from_name = true;
    return refs_part__number_scratch(in, &in->member->values_differ, err);
}

/* Adds a coordinate with one value, as if the part had it. */
static refs_status put_coordinate(refs_part_reader *in, size_t concat,
                                  const refs_pattern_value *value, refs_error *err) {
    refs_combine_axis *axis = &in->member->axes[concat];
    const refs_str name = refs_str_from(in->combine->options.dims[concat]);
    if (axis->n != 1)
        return refs_fail(err, REFS_INVALID,
                         "the pattern gives one value of %s, but the source has %llu", name.data,
                         (unsigned long long)axis->n);
    REFS_TRY(replace_value(in, axis, name, value, err));
    refs_combine_array *array = &in->member->arrays[axis->array];
    REFS_TRY(put_step(in, array, name, err));
    return put_documents(in, array, name, err);
}

/* -- dimensions between those of a set ------------------------------------------------------------
 */

/* Whether dimension `dim` of an array was added when its set was combined, and precedes the concat
 * dimension. */
static bool is_added_before(const refs_part_reader *in, const refs_combine_array *array, size_t dim,
                            size_t concat) {
    size_t own;
    return refs_combine__is_dim(
               in->combine, refs_path_last(refs_intern_get(in->strings, array->dims[dim])), &own) &&
           own < concat && (in->member->axes[own].is_added || (array->inserted >> own & 1) != 0);
}

/* Inserts a dimension of one step. */
static refs_status insert_dim(refs_part_reader *in, refs_combine_array *array, size_t dim,
                              size_t concat, refs_error *err) {
    const size_t rank = array->rank + 1;
    REFS_SCOPED uint64_t *shape = refs_calloc(rank + 1, 3 * sizeof *shape);
    REFS_SCOPED uint32_t *dims = refs_calloc(rank + 1, sizeof *dims);
    if (shape == NULL || dims == NULL) return refs_fail_nomem(err);
    for (size_t i = 0, own = 0; i < rank; i++) {
        shape[i] = i == dim ? 1 : array->shape[own];
        shape[rank + i] = i == dim ? 1 : array->chunk[own];
        shape[2 * rank + i] = i == dim ? 1 : array->n[own];
        dims[i] = i == dim ? 0 : array->dims[own];
        own += i != dim;
    }
    REFS_TRY(refs_part__number_text(in, refs_str_from(in->combine->options.dims[concat]),
                                    &dims[dim], err));
    refs_free(array->shape);
    refs_free(array->dims);
    array->shape = shape;
    array->dims = dims;
    shape = NULL;
    dims = NULL;
    array->chunk = array->shape + rank;
    array->n = array->chunk + rank;
    array->rank = rank;
    array->inserted |= (uint8_t)(1U << concat);
    return REFS_OK;
}

/* Inserts the missing concat dimensions of a variable, in one order, even if a set of some sources
 * got others before. */
static refs_status insert_new(refs_part_reader *in, refs_combine_array *array, refs_error *err) {
    for (size_t concat = 0; concat < in->combine->n_dims; concat++) {
        size_t dim = 0;
        if (!in->member->axes[concat].is_new || array->rank == REFS_MAX_RANK) continue;
        while (dim < array->rank && is_added_before(in, array, dim, concat)) dim++;
        if (dim > 0) REFS_TRY(insert_dim(in, array, dim, concat, err));
    }
    return REFS_OK;
}

static bool is_coordinate(const refs_part_reader *in, size_t number) {
    for (size_t concat = 0; concat < in->combine->n_dims; concat++)
        if (in->member->axes[concat].array == number) return true;
    return false;
}

static refs_status insert_added_dims(refs_part_reader *in, refs_error *err) {
    if (refs_combine__is_aggregated(in->combine) || in->how.added.n == 0) return REFS_OK;
    for (size_t i = 0; i < in->member->n_arrays; i++) {
        refs_combine_array *array = &in->member->arrays[i];
        if (array->gets_new && !array->is_v3 && !is_coordinate(in, i))
            REFS_TRY(insert_new(in, array, err));
    }
    return REFS_OK;
}

refs_status refs_part__find_axes(refs_part_reader *in, refs_error *err) {
    refs_pattern_value values[REFS_COMBINE_MAX_DIMS] = {{0}};
    if (in->combine->options.pattern != NULL && in->part->values_from != REFS_COMBINE_FROM_SET)
        REFS_TRY(refs_combine__match(in->combine, in->part->name, values, err));
    for (size_t concat = 0; concat < in->combine->n_dims; concat++) {
        REFS_TRY(refs_combine__find_axis(in->strings, in->member, concat,
                                         refs_str_from(in->combine->options.dims[concat]), err));
        if (in->member->axes[concat].is_new) refs_part__count_steps_of_pieces(in, concat);
        if (values[concat].is_set) REFS_TRY(put_coordinate(in, concat, &values[concat], err));
        in->member->axes[concat].is_added =
            refs_name_list_has(&in->how.added, in->combine->options.dims[concat]);
        if (refs_part__lacks_dim(in, concat))
            (void)refs_combine__drop_step(&in->member->axes[concat]);
    }
    refs_combine__widen_steps(in->combine, in->strings, in->member);
    REFS_TRY(insert_added_dims(in, err));
    return refs_combine__widen_layouts(in->combine, in->member, in->strings, err);
}
