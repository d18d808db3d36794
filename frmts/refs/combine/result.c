/* result.c -- combines the arrays of one path into one. */
#include "combine_internal.h"
#include "refs/attribute_class.h"
#include "refs/cf.h"

#define BECOMES                                                                                    \
    ": it becomes an aggregation, which kerchunk, VirtualiZarr and zarr-python do not read; for "  \
    "these, make one set of the sources of each kind"

size_t refs_combine__own_dim(const refs_combine_result *result, const refs_combine_array *array,
                             size_t dim) {
    size_t n_new = result->rank - array->rank;
    return dim < n_new ? SIZE_MAX : dim - n_new;
}

/* Lists and counts the concat dimensions that are added before the array's own. Bounds get those of
 * their coordinate. */
static size_t list_new(const refs_combine *combine, const refs_combine_member *member,
                       const refs_combine_array *array, size_t concat_dims[REFS_COMBINE_MAX_DIMS]) {
    const refs_combine_array *coordinate = refs_combine__bounded_by(member, array);
    size_t n = 0;
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        const refs_combine_axis *axis = &member->axes[concat];
        concat_dims[0] = concat;
        if (axis->array != REFS_COMBINE_NONE && &member->arrays[axis->array] == coordinate)
            return coordinate->rank == 0 && (array == coordinate || array->gets_new);
    }
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        if (((array->gets_new && member->axes[concat].is_new) ||
             (coordinate->repeats >> concat & 1) != 0) &&
            (array->inserted >> concat & 1) == 0)
            concat_dims[n++] = concat;
    return n;
}

static size_t count_new(const refs_combine *combine, const refs_combine_member *member,
                        const refs_combine_array *array) {
    size_t concat_dims[REFS_COMBINE_MAX_DIMS];
    return list_new(combine, member, array, concat_dims);
}

/* Whether a part has one value of the array for all its steps along a concat dimension, or the
 * array gets another dimension before that one. */
static bool has_one_for_all(const refs_combine *combine, const refs_combine_member *member,
                            const refs_combine_array *array) {
    const refs_combine_array *coordinate = refs_combine__bounded_by(member, array);
    if (coordinate->rank > 0 && coordinate->repeats != 0) return true;
    for (size_t concat = 0; concat < combine->n_dims; concat++)
        if ((coordinate->repeats >> concat & 1) != 0 && !member->axes[concat].is_new) return true;
    return false;
}

/* -- layouts of arrays that get dimensions ----------------------------------------------------- */

/* Sets a layout to that of a document with another chunk shape. */
static refs_status widen(refs_intern *strings, uint32_t document, const refs_buf *chunks,
                         uint32_t *layout, refs_error *err) {
    const char *const pairs[] = {"chunks", (const char *)chunks->data, NULL};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_combine__replace(refs_intern_get(strings, document), pairs, &text, err));
    return refs_combine__describe_layout_of(strings, refs_buf_text(&text), layout, err);
}

static refs_status widen_layouts(refs_intern *strings, refs_combine_array *array, size_t n_new,
                                 refs_error *err) {
    uint64_t chunks[REFS_MAX_RANK + REFS_COMBINE_MAX_DIMS];
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    for (size_t i = 0; i < n_new; i++) chunks[i] = 1;
    memcpy(chunks + n_new, array->chunk, array->rank * sizeof *chunks);
    REFS_TRY(refs_combine__write_list(chunks, n_new + array->rank, &text, err));
    REFS_TRY(refs_buf_append(&text, "", 1, err));
    REFS_TRY(widen(strings, array->document, &text, &array->layout, err));
    return array->holes != NULL
               ? widen(strings, array->holes->document, &text, &array->holes->layout, err)
               : REFS_OK;
}

refs_status refs_combine__widen_layouts(const refs_combine *combine, refs_combine_member *member,
                                        refs_intern *strings, refs_error *err) {
    for (size_t i = 0; i < member->n_arrays; i++) {
        refs_combine_array *array = &member->arrays[i];
        const size_t n_new = count_new(combine, member, array);
        if (!array->is_v3 && (n_new > 0 || array->inserted != 0))
            REFS_TRY(widen_layouts(strings, array, n_new, err));
    }
    return REFS_OK;
}

/* -- shape ------------------------------------------------------------------------------------- */

static refs_status set_shape(const refs_combine *combine, const refs_combine_plan *plan,
                             refs_combine_result *result, refs_error *err) {
    const refs_combine_member *member = &combine->members[result->first];
    const refs_combine_array *like = result->like;
    size_t new_concat[REFS_COMBINE_MAX_DIMS];
    const size_t n_new = list_new(combine, member, like, new_concat);
    if (like->rank + n_new > REFS_MAX_RANK)
        return refs_fail(err, REFS_LIMIT, "%.*s: expected at most %d dimensions, found %zu",
                         REFS_STR_ARG(refs_combine__text(combine, result->path)), REFS_MAX_RANK,
                         like->rank + n_new);
    result->rank = like->rank + n_new;
    for (size_t dim = 0; dim < result->rank; dim++) {
        size_t own = refs_combine__own_dim(result, like, dim);
        size_t concat =
            own == SIZE_MAX ? new_concat[dim] : refs_combine__concat_dim_of(combine, like, own);
        bool is_concat = concat < REFS_COMBINE_MAX_DIMS;
        result->concat[dim] = concat;
        result->n_concat += is_concat;
        result->shape[dim] = is_concat ? plan->concat_dims[concat].n : like->shape[own];
        result->chunk[dim] = own == SIZE_MAX ? 1 : like->chunk[own];
        result->n[dim] = (result->shape[dim] + result->chunk[dim] - 1) / result->chunk[dim];
    }
    return REFS_OK;
}

static refs_status fail_differ(const refs_combine *combine, const refs_combine_result *result,
                               const refs_combine_member *member, refs_str in, refs_error *err) {
    const bool is_number = refs_dtype_is_numeric(&result->like->dtype);
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s differs between %s and %s: %.*s: one array cannot hold chunks of both%s",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)),
                     combine->members[result->first].name, member->name, REFS_STR_ARG(in),
                     is_number ? ""
                               : ", and only numbers become an aggregation: name the variables to "
                                 "combine without it (--variables), or write it alike in all "
                                 "sources");
}

/* Appends "t(time 1, y 6)". */
static refs_status append_shape(const refs_combine *combine, const refs_combine_array *array,
                                refs_buf *text, refs_error *err) {
    REFS_TRY(refs_buf_append(text, "(", 1, err));
    for (size_t dim = 0; dim < array->rank; dim++)
        REFS_TRY(refs_buf_printf(text, err, "%s%.*s %llu", dim > 0 ? ", " : "",
                                 REFS_STR_ARG(refs_combine__text(combine, array->dims[dim])),
                                 (unsigned long long)array->shape[dim]));
    return refs_buf_append(text, ")", 1, err);
}

static bool is_axis(const refs_combine_result *result) {
    return result->rank == 1 && result->like->dims[0] == result->path;
}

/* Appends advice if an axis of levels differs, because it may belong to other variables. */
static refs_status print_other_levels(const refs_combine *combine,
                                      const refs_combine_result *result, refs_buf *text,
                                      refs_error *err) {
    if (is_axis(result) && result->like->coordinate == REFS_COMBINE_COORDINATE_LEVEL)
        REFS_TRY(refs_buf_printf(text, err,
                                 "; levels of other variables need an axis of another name "
                                 "(%.*s_2)",
                                 REFS_STR_ARG(refs_combine__text(combine, result->like->name))));
    return refs_buf_append(text, "", 1, err);
}

/* Fails for a dimension that has another length. */
static refs_status fail_length(const refs_combine *combine, const refs_combine_result *result,
                               const refs_combine_place *at, size_t dim, refs_error *err) {
    const size_t own = refs_combine__own_dim(result, at->array, dim);
    const refs_str name = refs_combine__text(combine, at->array->dims[own]);
    REFS_SCOPED_BUF levels = REFS_BUF_INIT;
    REFS_TRY(print_other_levels(combine, result, &levels, err));
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%.*s has different lengths along %.*s, %llu in %s and %llu in %s: expected sources on one "
        "grid, or parts of one that are combined along %.*s, too (--along)%s",
        REFS_STR_ARG(refs_combine__text(combine, result->path)), REFS_STR_ARG(name),
        (unsigned long long)result->shape[dim], combine->members[result->first].name,
        (unsigned long long)at->array->shape[own], at->member->name, REFS_STR_ARG(name),
        (const char *)levels.data);
}

static refs_status fail_dims(const refs_combine *combine, const refs_combine_result *result,
                             const refs_combine_place *at, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(append_shape(combine, result->like, &text, err));
    REFS_TRY(refs_buf_printf(&text, err, " and "));
    REFS_TRY(append_shape(combine, at->array, &text, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s has different dimensions in %s and %s, %.*s: leave one of them out, or "
                     "name all concat dimensions (--along)",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)),
                     combine->members[result->first].name, at->member->name, (int)text.size,
                     (const char *)text.data);
}

/* Whether the dimensions have one name, whatever their groups. The HDF5 parser numbers unnamed
 * dimensions, and other variables of a file change the numbers: those are equal. */
static bool are_one_dim(const refs_combine *combine, uint32_t one, uint32_t other) {
    const refs_str a = refs_path_last(refs_combine__text(combine, one)),
                   b = refs_path_last(refs_combine__text(combine, other));
    return refs_str_equal(a, b) ||
           (refs_str_starts(a, "phony_dim_") && refs_str_starts(b, "phony_dim_"));
}

static refs_status check_shape(const refs_combine *combine, const refs_combine_result *result,
                               const refs_combine_place *at, refs_error *err) {
    const refs_combine_array *array = at->array;
    size_t other = SIZE_MAX; /* dimension with another length */
    if (array->rank + count_new(combine, at->member, array) != result->rank)
        return fail_dims(combine, result, at, err);
    for (size_t dim = 0; dim < result->rank; dim++) {
        const size_t own = refs_combine__own_dim(result, array, dim),
                     like = refs_combine__own_dim(result, result->like, dim);
        if (own == SIZE_MAX) continue;
        const size_t concat = refs_combine__concat_dim_of(combine, array, own);
        if (concat != result->concat[dim] ||
            (concat == REFS_COMBINE_MAX_DIMS &&
             !are_one_dim(combine, array->dims[own], result->like->dims[like])))
            return fail_dims(combine, result, at, err);
        if (concat == REFS_COMBINE_MAX_DIMS && array->shape[own] != result->shape[dim]) other = dim;
    }
    return other == SIZE_MAX ? REFS_OK : fail_length(combine, result, at, other, err);
}

/* Whether the array was an aggregation before. */
static bool was_split(const refs_combine *combine, const refs_combine_result *result) {
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array != NULL && array->is_piece) return true;
    }
    return false;
}

static bool tells_of(const refs_combine *combine, const refs_combine_result *result) {
    return combine->options.unlike != REFS_COMBINE_FRAGMENTS_NO_NOTE && !was_split(combine, result);
}

/* Warns once for each array. */
static void tell_split(const refs_combine *combine, const refs_combine_result *result,
                       const refs_combine_member *member, refs_str in, bool *has_warned) {
    if (!*has_warned && !refs_combine__is_aggregated(combine) && tells_of(combine, result))
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: %s and %s differ in %.*s" BECOMES,
                  REFS_STR_ARG(refs_combine__text(combine, result->path)),
                  combine->members[result->first].name, member->name, REFS_STR_ARG(in));
    *has_warned = true;
}

static void tell_cut(const refs_combine *combine, const refs_combine_result *result,
                     const refs_combine_member *member, bool *has_warned) {
    if (tells_of(combine, result))
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: chunks of %s are not aligned with those of the other sources, and chunks "
                  "cannot be cut" BECOMES,
                  REFS_STR_ARG(refs_combine__text(combine, result->path)), member->name);
    *has_warned = true;
}

/* Warns once for each array, for the first part that differs. */
static void tell_units(const refs_combine *combine, refs_combine_result *result,
                       const refs_combine_place *at) {
    const refs_combine_array *one = result->like, *other = at->array;
    if (result->has_warned_of_units || one->units == REFS_COMBINE_NONE ||
        other->units == REFS_COMBINE_NONE ||
        refs_combine__conversion(combine, one, other) != REFS_CF_CONVERSION_UNKNOWN)
        return;
    result->has_warned_of_units = true;
    refs_note(&combine->options.notes, REFS_NOTE_WARNING,
              "%.*s: cannot convert its units \"%.*s\" (%s) and \"%.*s\" (%s): values are read "
              "unconverted",
              REFS_STR_ARG(refs_combine__text(combine, result->path)),
              REFS_STR_ARG(refs_combine__text(combine, one->units)),
              combine->members[result->first].name,
              REFS_STR_ARG(refs_combine__text(combine, other->units)), at->member->name);
}

/* Chunks and values are copied by the shape of the first array, so each fragment must have it. */
static refs_status check_pieces(const refs_combine *combine, const refs_combine_result *result,
                                const refs_combine_member *member, refs_error *err) {
    refs_combine_place at = {member, NULL};
    for (size_t i = 1; (at.array = refs_combine__piece(member, result->path, i)) != NULL; i++)
        REFS_TRY(check_shape(combine, result, &at, err));
    return REFS_OK;
}

/* Fragments of a master may have other chunks and codecs, but with --strict no other packing. Small
 * variables are stored as values. */
static refs_status check_packing(const refs_combine *combine, const refs_combine_result *result,
                                 const refs_combine_place *at, refs_error *err) {
    const refs_combine_array *like = result->like;
    const refs_combine_place first = {&combine->members[result->first], like};
    refs_combine_array array = *at->array;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (combine->options.unlike != REFS_COMBINE_REFUSE || !refs_combine__is_aggregated(combine) ||
        (array.is_thin && like->is_thin) || result->n_concat == 0)
        return REFS_OK;
    if (refs_combine__is_one_type(&array.dtype, &like->dtype)) array.layout = like->layout;
    const refs_combine_place other = {at->member, &array};
    REFS_TRY(refs_combine__differ(combine, &first, &other, &text, err));
    if (text.size == 0) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s differs between %s and %s: %.*s: leave out --strict to combine them",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)), first.member->name,
                     at->member->name, (int)text.size, (const char *)text.data);
}

static refs_status check_alike(const refs_combine *combine, refs_combine_result *result,
                               const refs_combine_place *at, bool *has_warned, refs_error *err) {
    const refs_combine_place first = {&combine->members[result->first], result->like};
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (at->array == result->like) return REFS_OK;
    REFS_TRY(check_shape(combine, result, at, err));
    REFS_TRY(check_packing(combine, result, at, err));
    refs_status status = refs_combine__differ(combine, &first, at, &text, err);
    refs_str in = refs_buf_text(&text);
    bool differs = status == REFS_OK && text.size > 0 && result->n_concat > 0;
    if (differs && !refs_combine__may_split(combine, result))
        status = fail_differ(combine, result, at->member, in, err);
    else if (differs)
        tell_split(combine, result, at->member, in, has_warned);
    if (differs && status == REFS_OK) tell_units(combine, result, at);
    return status;
}

/* -- places of chunks -------------------------------------------------------------------------- */

/* Whether chunks of `k` steps remain whole chunks in `total`. */
static bool stays_whole(const refs_combine_axis *axis, uint64_t begin, uint64_t k, uint64_t total) {
    const uint64_t left = axis->n - begin, steps = left < k ? left : k;
    const uint64_t *position = &axis->position[begin];
    if (position[0] % k != 0 || (steps < k && position[0] + steps != total)) return false;
    for (uint64_t i = 1; i < steps; i++)
        if (position[i] != position[0] + i) return false;
    return true;
}

/* The dimension along which chunks of a part would be divided, or SIZE_MAX. */
static size_t cut_dim(const refs_combine *combine, const refs_combine_result *result,
                      const refs_combine_place *at) {
    for (size_t dim = 0; dim < result->rank; dim++) {
        size_t own = refs_combine__own_dim(result, at->array, dim), concat = result->concat[dim];
        if (own == SIZE_MAX || concat == REFS_COMBINE_MAX_DIMS) continue;
        const refs_combine_axis *axis = &at->member->axes[concat];
        const uint64_t k = result->chunk[dim];
        for (uint64_t begin = 0; k > 1 && begin < axis->n; begin += k)
            if (!stays_whole(axis, begin, k, result->shape[dim]) &&
                !refs_combine__is_hole(combine, at->array, concat, begin))
                return dim;
    }
    return SIZE_MAX;
}

static refs_status fail_cut(const refs_combine *combine, const refs_combine_result *result,
                            const refs_combine_place *at, refs_error *err) {
    size_t dim = cut_dim(combine, result, at), concat = result->concat[dim];
    const refs_combine_axis *axis = &at->member->axes[concat];
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s of %s: its %llu steps along %s, from %llu of %llu, in chunks of %llu, "
                     "overlap other sources or cut chunks",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)), at->member->name,
                     (unsigned long long)axis->n, combine->options.dims[concat],
                     (unsigned long long)(axis->n > 0 ? axis->position[0] : 0),
                     (unsigned long long)result->shape[dim],
                     (unsigned long long)result->chunk[dim]);
}

/* -- loaded or not ----------------------------------------------------------------------------- */

static bool is_coordinate(const refs_combine *combine, const refs_combine_result *result) {
    return refs_combine__is_coordinate(combine, &combine->members[result->first], result->like);
}

/* Whether an array is stored as values: per-step arrays whose chunks cannot be combined, or that
 * were stored as values before. */
static refs_status choose_loading(const refs_combine *combine, const refs_combine_plan *plan,
                                  refs_combine_result *result, bool *splits, refs_error *err) {
    bool all_thin = true, wants = is_coordinate(combine, result);
    refs_combine_place cut = {NULL, NULL};
    if (result->n_concat == 0) return REFS_OK;
    const uint32_t units = refs_combine__units_of(&combine->members[result->first], result->like);
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[plan->order[i]];
        const refs_combine_array *array = refs_combine__find(member, result->path);
        if (array == NULL) continue;
        const refs_combine_place at = {member, array};
        all_thin = all_thin && array->is_thin && !array->is_piece;
        wants = wants || array->has_inline || array->layout != result->like->layout ||
                has_one_for_all(combine, member, array) ||
                refs_combine__units_of(member, array) != units;
        if (array->is_v3 && !refs_combine__is_aggregated(combine))
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%.*s of %s: sets are combined in Zarr version 2, which cannot "
                             "express %.*s of version 3",
                             REFS_STR_ARG(refs_combine__text(combine, result->path)), member->name,
                             REFS_STR_ARG(refs_combine__text(combine, array->problem)));
        if (array->is_piece && !refs_combine__may_split(combine, result))
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%.*s of %s is an aggregation: its sources differ, and one array "
                             "cannot hold chunks of all: leave --strict out, or combine sources of "
                             "one kind",
                             REFS_STR_ARG(refs_combine__text(combine, result->path)), member->name);
        *splits = *splits || array->is_piece;
        if (array->is_piece) continue;
        if (cut.array == NULL && cut_dim(combine, result, &at) != SIZE_MAX) cut = at;
    }
    result->is_thin = all_thin;
    result->may_load = all_thin && !*splits;
    result->is_loaded =
        result->may_load && (wants || cut.array != NULL || refs_combine__is_aggregated(combine));
    if (refs_combine__is_aggregated(combine)) return REFS_OK;
    if (result->is_loaded || *splits || cut.array == NULL) return REFS_OK;
    if (!refs_combine__may_split(combine, result)) return fail_cut(combine, result, &cut, err);
    tell_cut(combine, result, cut.member, splits);
    return REFS_OK;
}

/* -- arrays that are not joined ---------------------------------------------------------------- */

static refs_values values_of(const refs_combine *combine, const refs_combine_array *array) {
    refs_values values = refs_combine__coordinates_of(combine, array);
    values.missing = refs_combine__text(combine, array->missing);
    return values;
}

/* A coordinate without concat dimensions loses a valid range that differs: its values are compared.
 */
static bool is_shared_coordinate(const refs_combine_result *result) {
    return result->n_concat == 0 &&
           (is_axis(result) || result->like->is_grid || result->like->is_label);
}

/* The values of an array of the first part, or of another one, in comparable form. */
static refs_values readable_of(const refs_combine *combine, const refs_combine_result *result,
                               const refs_combine_array *array) {
    refs_values values = values_of(combine, array);
    if (!is_shared_coordinate(result)) values.missing = refs_combine__text(combine, array->invalid);
    return values;
}

bool refs_combine__convert_values(const refs_cf_units *from, const refs_cf_units *to,
                                  refs_values *values) {
    refs_cf_conversion by;
    if (refs_cf_convert_units(from, to, REFS_CF_ROUND, &by, NULL) != REFS_OK) return false;
    if (values->are_times) return true;
    values->unpacking.scale *= by.scale;
    values->unpacking.offset = values->unpacking.offset * by.scale + by.offset;
    return true;
}

/* Converts values to the unit of `mine`; false if that is unknown. */
static bool convert_units(const refs_combine *combine, const refs_combine_array *mine,
                          const refs_combine_array *theirs, refs_values *values) {
    const refs_cf_units from = refs_combine__count_of(combine, theirs),
                        to = refs_combine__count_of(combine, mine);
    return refs_combine__convert_values(&from, &to, values) || (mine->is_grid && theirs->is_grid);
}

bool refs_combine__have_one_value(const refs_combine *combine, const refs_combine_array *mine,
                                  const refs_combine_array *theirs) {
    const refs_values one = values_of(combine, mine);
    refs_values other = values_of(combine, theirs);
    return convert_units(combine, mine, theirs, &other) &&
           refs_combine__first_difference(&one, &other) == UINT64_MAX;
}

static refs_values constant_of(const refs_combine *combine, const refs_combine_array *array) {
    refs_values constant = refs_combine__coordinates_of(combine, array);
    constant.bytes = refs_combine__constant_of(
        constant.bytes, refs_combine__text(combine, array->missing), array->dtype.size);
    return constant;
}

bool refs_combine__are_one_coordinate(const refs_combine *combine, const refs_combine_array *mine,
                                      const refs_combine_array *theirs) {
    const bool are_axes = refs_combine__is_own_axis(&combine->strings, mine) &&
                          refs_combine__is_own_axis(&combine->strings, theirs);
    refs_values one = are_axes ? refs_combine__coordinates_of(combine, mine)
                               : constant_of(combine, mine),
                other = are_axes ? refs_combine__coordinates_of(combine, theirs)
                                 : constant_of(combine, theirs);
    return convert_units(combine, mine, theirs, &other) &&
           refs_combine__first_difference(&one, &other) == UINT64_MAX;
}

/* An element that differs between the first part and another one. */
typedef struct difference {
    const refs_combine_place *at;
    uint64_t element;
} difference;

/* The strings of an array, each with a NUL after it. */
static refs_status list_texts(const refs_combine *combine, const refs_combine_array *array,
                              refs_buf *texts, refs_error *err) {
    const refs_str values = refs_combine__text(combine, array->values);
    return array->are_texts ? refs_buf_append_str(texts, values, err)
                            : refs_combine__append_strings(&array->dtype, values, texts, err);
}

/* The value of an element; from `texts` if the array has strings. */
static refs_value element_of(const refs_values *values, refs_str texts, uint64_t i) {
    const size_t size = values->dtype->size;
    const bool has_it = size > 0 && i < values->bytes.size / size;
    if (texts.size == 0)
        return has_it ? refs_combine__unpacked_at(values, i) : (refs_value){.is_missing = true};
    while (i-- > 0) (void)refs_combine__take_text(&texts);
    return refs_combine__take_text(&texts);
}

/* Appends "element 3 of lat is 0.3 and 0.6", with units where these differ. */
static refs_status describe_difference(const refs_combine *combine,
                                       const refs_combine_result *result, difference found,
                                       refs_buf *text, refs_error *err) {
    const refs_combine_array *const arrays[2] = {result->like, found.at->array};
    const bool have_units = arrays[0]->units != arrays[1]->units;
    REFS_TRY(refs_buf_printf(text, err, "element %llu of %.*s is",
                             (unsigned long long)found.element,
                             REFS_STR_ARG(refs_combine__text(combine, result->path))));
    for (size_t k = 0; k < 2; k++) {
        char shown[REFS_VALUE_TEXT];
        const refs_str units = refs_combine__text(combine, arrays[k]->units);
        const refs_values values = readable_of(combine, result, arrays[k]);
        REFS_SCOPED_BUF texts = REFS_BUF_INIT;
        if (arrays[k]->are_texts || arrays[k]->dtype.type == REFS_TYPE_UNICODE)
            REFS_TRY(list_texts(combine, arrays[k], &texts, err));
        const refs_value value = element_of(&values, refs_buf_text(&texts), found.element);
        REFS_TRY(refs_buf_printf(text, err, "%s %s", k > 0 ? " and" : "",
                                 refs_combine__print_value(&value, shown)));
        if (have_units && units.size > 0)
            REFS_TRY(refs_buf_printf(text, err, " %.*s", REFS_STR_ARG(units)));
    }
    return REFS_OK;
}

/* Fails if a variable that describes others, such as a level, has units that cannot be
 * converted. */
static refs_status fail_other_units(const refs_combine *combine, const refs_combine_result *result,
                                    const refs_combine_place *at, refs_error *err) {
    const refs_str one = refs_combine__text(combine, result->like->units);
    const refs_str other = refs_combine__text(combine, at->array->units);
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: cannot convert its units \"%.*s\" (%s) and \"%.*s\" (%s): combine "
                     "sources with convertible units",
                     REFS_STR_ARG(refs_combine__text(combine, result->path)), REFS_STR_ARG(one),
                     combine->members[result->first].name, REFS_STR_ARG(other), at->member->name);
}

static bool is_of_variables(const refs_combine_array *array) {
    return array->coordinate == REFS_COMBINE_COORDINATE_LEVEL &&
           array->named_by != REFS_COMBINE_NONE;
}

static bool has_other_levels(const refs_combine *combine, const refs_combine_array *level) {
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            if (is_of_variables(array) && array->path != level->path) return true;
        }
    return false;
}

/* Appends the variables with a level that others lack: these cannot be combined along it. */
static refs_status print_variables(const refs_combine *combine, const refs_combine_array *level,
                                   refs_buf *options, refs_error *err) {
    refs_str names = refs_combine__text(combine, level->named_by);
    const char *name;
    if (!is_of_variables(level) || !has_other_levels(combine, level)) return REFS_OK;
    for (size_t n = 0; n < REFS_COMBINE_MAX_REPORTED && refs_str_next_text(&names, &name); n++)
        REFS_TRY(refs_buf_printf(options, err, " --variables %s", name));
    return refs_buf_printf(options, err, "%s", names.size > 0 ? " …" : "");
}

refs_status refs_combine__fail_apart(const refs_combine *combine, const refs_combine_array *array,
                                     const char *const names[2], refs_str element,
                                     refs_error *err) {
    const refs_str name = refs_combine__text(combine, array->name);
    REFS_SCOPED_BUF dims = REFS_BUF_INIT, options = REFS_BUF_INIT;
    for (size_t i = 0; i < combine->n_dims; i++) {
        REFS_TRY(refs_buf_printf(&dims, err, "%s%s", i > 0 ? ", " : "", combine->options.dims[i]));
        REFS_TRY(refs_buf_printf(&options, err, "--along %s ", combine->options.dims[i]));
    }
    REFS_TRY(refs_buf_printf(&options, err, "--along %.*s", REFS_STR_ARG(name)));
    REFS_TRY(print_variables(combine, array, &options, err));
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%.*s: differs between %s and %s, %.*s, but they are combined along %.*s "
                     "alone: name all dimensions (%.*s)",
                     REFS_STR_ARG(refs_combine__text(combine, array->path)), names[0], names[1],
                     REFS_STR_ARG(element), (int)dims.size, (const char *)dims.data,
                     (int)options.size, (const char *)options.data);
}

/* Whether variables have this level, or one with these bounds, which the result has once. */
static bool is_of_level(const refs_combine *combine, const refs_combine_result *result) {
    const refs_combine_array *level =
        refs_combine__bounded_by(&combine->members[result->first], result->like);
    return level->coordinate == REFS_COMBINE_COORDINATE_LEVEL &&
           (level->named_by != REFS_COMBINE_NONE ||
            refs_combine__is_own_axis(&combine->strings, level));
}

/* Appends advice: a pattern that names some dimensions may lack others. */
static refs_status print_other_dims(const refs_combine *combine, const refs_combine_result *result,
                                    refs_buf *text, refs_error *err) {
    if (combine->options.pattern == NULL) return REFS_OK;
    REFS_TRY(
        refs_buf_printf(text, err, ", or all concat dimensions that --pattern does not name ("));
    for (size_t i = 0; i < combine->n_dims; i++)
        REFS_TRY(refs_buf_printf(text, err, "--along %s ", combine->options.dims[i]));
    return refs_buf_printf(text, err, "--along %.*s)",
                           REFS_STR_ARG(refs_combine__text(combine, result->like->name)));
}

/* Warns once of the difference that `text` describes; fails if coordinates of a grid, or levels,
 * differ. */
static refs_status tell_difference(const refs_combine *combine, refs_combine_result *result,
                                   const refs_combine_place *at, refs_buf *text, refs_error *err) {
    const char *one = combine->members[result->first].name, *other = at->member->name;
    REFS_SCOPED_BUF advice = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append(text, "", 1, err));
    REFS_TRY(print_other_dims(combine, result, &advice, err));
    REFS_TRY(print_other_levels(combine, result, &advice, err));
    if (is_shared_coordinate(result) || result->like->is_auxiliary)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the grids of %s and %s differ: %s: expected sources on one grid%s", one,
                         other, (const char *)text->data, (const char *)advice.data);
    if (is_of_level(combine, result))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s: differs between %s and %s, %s: expected one level for all "
                         "variables that name it: combine them apart, or leave some out "
                         "(--variables)",
                         REFS_STR_ARG(refs_combine__text(combine, result->path)), one, other,
                         (const char *)text->data);
    if (!result->has_warned_of_values)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: differs between %s and %s, %s: keeping the first",
                  REFS_STR_ARG(refs_combine__text(combine, result->path)), one, other,
                  (const char *)text->data);
    result->has_warned_of_values = true;
    return REFS_OK;
}

/* Reports a difference in an element. */
static refs_status tell_element(const refs_combine *combine, refs_combine_result *result,
                                const refs_combine_place *at, uint64_t i, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(describe_difference(combine, result, (difference){at, i}, &text, err));
    return tell_difference(combine, result, at, &text, err);
}

bool refs_combine__are_of_one_type(const refs_combine_array *one, const refs_combine_array *other) {
    return refs_dtype_equal(&one->dtype, &other->dtype) && one->packing == other->packing &&
           one->units == other->units;
}

static uint64_t row_elements(const refs_combine_array *array) {
    uint64_t n = 1;
    for (size_t dim = 1; dim < array->rank; dim++) n *= array->shape[dim];
    return n;
}

/* Compares digests of values of one type, which sample the same rows. */
static refs_status tell_rows(const refs_combine *combine, refs_combine_result *result,
                             const refs_combine_place *at, refs_error *err) {
    const refs_combine_array *mine = result->like;
    const refs_str one = refs_combine__text(combine, mine->digest),
                   other = refs_combine__text(combine, at->array->digest);
    size_t sample = 0;
    while (sample + 1 < REFS_COMBINE_N_SAMPLES &&
           memcmp(one.data + 8 * sample, other.data + 8 * sample, 8) == 0)
        sample++;
    const refs_combine_steps rows =
        refs_combine__digest_rows(mine->shape[0], row_elements(mine) * mine->dtype.size, sample);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "%.*s differs in rows %llu to %llu",
                             REFS_STR_ARG(refs_combine__text(combine, result->path)),
                             (unsigned long long)rows.begin, (unsigned long long)(rows.end - 1)));
    return tell_difference(combine, result, at, &text, err);
}

/* The value of an element, if values or samples of the array are known. */
static refs_values value_at_spot(const refs_combine *combine, const refs_combine_array *array,
                                 size_t spot) {
    const size_t size = array->dtype.size;
    refs_values value = values_of(combine, array);
    size_t at = (size_t)refs_combine__spot(array->shape[0], row_elements(array), spot);
    if (array->values == REFS_COMBINE_NONE) {
        value.bytes = refs_combine__digest_spots(refs_combine__text(combine, array->digest));
        at = spot;
    }
    value.bytes = refs_str_part(value.bytes, at * size, (at + 1) * size);
    if (value.missing.size > 0) value.missing = refs_str_part(value.missing, at, at + 1);
    return value;
}

/* Compares values in different types, packings or units, as far as they are known. */
static refs_status compare_spots(const refs_combine *combine, refs_combine_result *result,
                                 const refs_combine_place *at, refs_error *err) {
    const refs_combine_array *mine = result->like, *theirs = at->array;
    char shown[2][REFS_VALUE_TEXT];
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    for (size_t spot = 0; spot < REFS_COMBINE_N_SPOTS; spot++) {
        const refs_values one = value_at_spot(combine, mine, spot);
        refs_values other = value_at_spot(combine, theirs, spot);
        if (!convert_units(combine, mine, theirs, &other)) return REFS_OK;
        if (refs_combine__first_difference(&one, &other) == UINT64_MAX) continue;
        const refs_value values[2] = {refs_combine__unpacked_at(&one, 0),
                                      refs_combine__unpacked_at(&other, 0)};
        REFS_TRY(refs_buf_printf(
            &text, err, "element %llu of %.*s is %s and %s",
            (unsigned long long)refs_combine__spot(mine->shape[0], row_elements(mine), spot),
            REFS_STR_ARG(refs_combine__text(combine, result->path)),
            refs_combine__print_value(&values[0], shown[0]),
            refs_combine__print_value(&values[1], shown[1])));
        return tell_difference(combine, result, at, &text, err);
    }
    return REFS_OK;
}

/* Compares large arrays by digests. */
static refs_status compare_digests(const refs_combine *combine, refs_combine_result *result,
                                   const refs_combine_place *at, refs_error *err) {
    const refs_combine_array *mine = result->like, *theirs = at->array;
    const bool have_mine = mine->digest != REFS_COMBINE_NONE,
               have_theirs = theirs->digest != REFS_COMBINE_NONE;
    if (!have_mine && !have_theirs) return REFS_OK;
    if (have_mine && have_theirs && refs_combine__are_of_one_type(mine, theirs))
        return mine->digest == theirs->digest ? REFS_OK : tell_rows(combine, result, at, err);
    return compare_spots(combine, result, at, err);
}

/* Whether values of one type are the same, except where a part records holes. */
static bool have_one_value_beside_holes(const refs_combine *combine, const refs_combine_array *a,
                                        const refs_combine_array *b) {
    const refs_str x = refs_combine__text(combine, a->values),
                   y = refs_combine__text(combine, b->values),
                   no_x = refs_combine__text(combine, a->missing),
                   no_y = refs_combine__text(combine, b->missing);
    const size_t size = a->dtype.size;
    if (a->values == b->values) return true;
    if (x.size != y.size || (a->holes == NULL && b->holes == NULL)) return false;
    for (size_t i = 0; (i + 1) * size <= x.size; i++)
        if (!(a->holes != NULL && i < no_x.size && no_x.data[i] != 0) &&
            !(b->holes != NULL && i < no_y.size && no_y.data[i] != 0) &&
            memcmp(x.data + i * size, y.data + i * size, size) != 0)
            return false;
    return true;
}

bool refs_combine__is_shared(const refs_combine *combine, const refs_combine_result *result) {
    return result->n_concat > 0 && result->n_concat < combine->n_dims;
}

bool refs_combine__have_one_extent(const refs_combine_result *result,
                                   const refs_combine_member *one,
                                   const refs_combine_member *other) {
    for (size_t dim = 0; dim < result->rank; dim++) {
        const size_t concat = result->concat[dim];
        if (concat == REFS_COMBINE_MAX_DIMS) continue;
        const refs_combine_axis *x = &one->axes[concat], *y = &other->axes[concat];
        if (x->n != y->n ||
            (x->n > 0 && memcmp(x->position, y->position, x->n * sizeof *x->position) != 0))
            return false;
    }
    return true;
}

bool refs_combine__have_one_digest(const refs_combine *combine, const refs_combine_result *result,
                                   const refs_combine_member *one,
                                   const refs_combine_member *other) {
    const refs_combine_array *a = refs_combine__find(one, result->path),
                             *b = refs_combine__find(other, result->path);
    if (a == NULL || b == NULL || !refs_combine__have_one_extent(result, one, other)) return true;
    const bool have_values = a->values != REFS_COMBINE_NONE && b->values != REFS_COMBINE_NONE;
    if (!refs_combine__are_of_one_type(a, b))
        return !have_values || !refs_dtype_is_numeric(&a->dtype) ||
               !refs_dtype_is_numeric(&b->dtype) || refs_combine__have_one_value(combine, a, b);
    if (!have_values && (a->digest == REFS_COMBINE_NONE || b->digest == REFS_COMBINE_NONE))
        return true;
    return have_values ? have_one_value_beside_holes(combine, a, b) : a->digest == b->digest;
}

static uint64_t first_other_text(refs_str one, refs_str other) {
    for (uint64_t i = 0;; i++) {
        const refs_value a = refs_combine__take_text(&one), b = refs_combine__take_text(&other);
        if (a.is_missing && b.is_missing) return UINT64_MAX;
        if (a.is_missing != b.is_missing || !refs_str_equal(a.text, b.text)) return i;
    }
}

/* Compares strings, whatever their types. */
static refs_status compare_texts(const refs_combine *combine, const refs_combine_result *result,
                                 const refs_combine_place *at, uint64_t *element, refs_error *err) {
    REFS_SCOPED_BUF one = REFS_BUF_INIT, other = REFS_BUF_INIT;
    *element = UINT64_MAX;
    if (at->array->values == result->like->values || result->has_warned_of_values) return REFS_OK;
    REFS_TRY(list_texts(combine, result->like, &one, err));
    REFS_TRY(list_texts(combine, at->array, &other, err));
    *element = first_other_text(refs_buf_text(&one), refs_buf_text(&other));
    return REFS_OK;
}

static bool is_known(const refs_combine_array *array) {
    return array->values != REFS_COMBINE_NONE || array->digest != REFS_COMBINE_NONE;
}

/* The first part with known values; those of others could not be read. */
static refs_combine_result first_known(const refs_combine *combine,
                                       const refs_combine_result *result) {
    refs_combine_result first = *result;
    for (size_t i = 0; !is_known(first.like) && i < combine->n_members; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], result->path);
        if (array == NULL || !is_known(array)) continue;
        first.like = array;
        first.first = i;
    }
    return first;
}

static bool is_missing_at(const refs_combine *combine, const refs_combine_array *array,
                          uint64_t i) {
    const refs_str missing = refs_combine__text(combine, array->missing);
    return i < missing.size && missing.data[i] != 0;
}

/* Whether values of a part may fill what is missing in the first one. Coordinates have no missing
 * values. */
static bool may_fill(const refs_combine *combine, const refs_combine_result *result,
                     const refs_combine_array *theirs) {
    const refs_combine_array *mine = result->like;
    return !is_shared_coordinate(result) && !is_coordinate(combine, result) &&
           mine->coordinate == REFS_COMBINE_COORDINATE_OTHER && !mine->is_v3 && !theirs->is_v3 &&
           refs_combine__are_of_one_type(mine, theirs);
}

/* The differences between the values of two parts. */
typedef struct differences {
    uint64_t conflict; /* the first element with two values; UINT64_MAX: none */
    bool fills;        /* the second part has values that the first one lacks */
} differences;

/* Finds the differences; an element missing in one part gets the value of the other. */
static differences find_differences(const refs_combine *combine, const refs_combine_result *result,
                                    const refs_combine_array *theirs, const refs_values *one,
                                    const refs_values *other) {
    const bool may = may_fill(combine, result, theirs) && one->bytes.size == other->bytes.size;
    differences found = {UINT64_MAX, false};
    uint64_t i = refs_combine__first_difference(one, other);
    if (!may) return (differences){i, false};
    for (; i != UINT64_MAX; i = refs_combine__next_difference(one, other, i + 1)) {
        const bool lacks = is_missing_at(combine, result->like, i);
        if (lacks != is_missing_at(combine, theirs, i))
            found.fills = found.fills || lacks;
        else if (found.conflict == UINT64_MAX)
            found.conflict = i;
    }
    return found;
}

/* Finds where numbers differ, and whether the first part gets some of the second. */
static refs_status compare_numbers(const refs_combine *combine, refs_combine_result *result,
                                   const refs_combine_place *at, uint64_t *element,
                                   refs_error *err) {
    const refs_combine_array *mine = result->like, *theirs = at->array;
    const refs_values one = readable_of(combine, result, mine);
    refs_values other = readable_of(combine, result, theirs);
    const bool is_convertible = convert_units(combine, mine, theirs, &other);
    if (!is_convertible && !mine->gets_new && result->rank == 0)
        return fail_other_units(combine, result, at, err);
    const differences found = is_convertible
                                  ? find_differences(combine, result, theirs, &one, &other)
                                  : (differences){0, false};
    *element = found.conflict;
    result->is_loaded = result->is_loaded || found.fills; /* it then has values of its own */
    return REFS_OK;
}

/* Compares values: an array without concat dimensions is that of the first part, with values of
 * others where it has none. */
static refs_status compare_values(const refs_combine *combine, refs_combine_result *result,
                                  const refs_combine_place *at, refs_error *err) {
    uint64_t element = UINT64_MAX;
    if (!is_known(at->array)) return REFS_OK;
    refs_combine_result first = first_known(combine, result);
    const refs_combine_array *mine = first.like, *theirs = at->array;
    const bool are_texts = mine->are_texts || theirs->are_texts,
               are_listed =
                   mine->values != REFS_COMBINE_NONE && theirs->values != REFS_COMBINE_NONE;
    if (!are_listed && !are_texts)
        REFS_TRY(compare_digests(combine, &first, at, err));
    else if (are_listed && are_texts)
        REFS_TRY(compare_texts(combine, &first, at, &element, err));
    else if (are_listed)
        REFS_TRY(compare_numbers(combine, &first, at, &element, err));
    if (element != UINT64_MAX) REFS_TRY(tell_element(combine, &first, at, element, err));
    if (mine == result->like) result->is_loaded = first.is_loaded;
    result->has_warned_of_values = first.has_warned_of_values;
    return REFS_OK;
}

/* Intervals 0-6 h and 0-12 h share the start, 0-6 h and 6-12 h the length: an attribute is dropped
 * if parts differ in it. */
static void compare_intervals(refs_combine_result *result, const refs_attribute_pair *pair) {
    result->drops_start = result->drops_start || refs_combine_differ_in(pair, REFS_CF_START);
    result->drops_length = result->drops_length || refs_combine_differ_in(pair, REFS_CF_LENGTH);
}

/* Warns if attributes with the meaning of a variable differ; fails for GRIB fields of different
 * kinds. */
static refs_status compare_meaning(const refs_combine *combine, refs_combine_result *result,
                                   const refs_combine_place *at, bool *has_warned,
                                   refs_error *err) {
    const uint32_t one = result->like->whole, other = at->array->whole;
    refs_json_doc *docs[2] = {NULL, NULL};
    if (one == other || one == REFS_COMBINE_NONE || other == REFS_COMBINE_NONE) return REFS_OK;
    refs_status status = refs_json_parse(refs_combine__text(combine, one), &docs[0], err);
    if (status == REFS_OK)
        status = refs_json_parse(refs_combine__text(combine, other), &docs[1], err);
    if (status == REFS_OK) {
        const refs_attribute_pair pair = {.kept = refs_json_root(docs[0]),
                                          .other = refs_json_root(docs[1]),
                                          .path = refs_combine__text(combine, result->path)};
        const char *const names[2] = {combine->members[result->first].name, at->member->name};
        if (result->n_concat > 0) status = refs_combine_check_kind(&pair, names, err);
        if (result->n_concat > 0) compare_intervals(result, &pair);
        if (status == REFS_OK && !*has_warned)
            *has_warned = refs_combine_note_meaning(&combine->options.notes, &pair, names);
    }
    refs_json_doc_free(docs[0]);
    refs_json_doc_free(docs[1]);
    return status;
}

/* Drops flag meanings that only some parts state. */
static refs_status drop_flags(const refs_combine *combine, refs_combine_result *result,
                              const refs_combine_member *member, refs_error *err) {
    const refs_str path = refs_combine__text(combine, result->path);
    const char *one = combine->members[result->first].name;
    if (combine->options.unlike == REFS_COMBINE_REFUSE)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%.*s: %s and %s differ in flag_values, flag_masks, flag_meanings or "
                         "flag_colors: leave out --strict to drop these",
                         REFS_STR_ARG(path), one, member->name);
    if (!result->drops_flags)
        refs_note(&combine->options.notes, REFS_NOTE_WARNING,
                  "%.*s: %s and %s differ in flag_values, flag_masks, flag_meanings or "
                  "flag_colors: these are left out",
                  REFS_STR_ARG(path), one, member->name);
    result->drops_flags = true;
    return REFS_OK;
}

/* Drops attributes of coordinates about missing or valid values: coordinates have none (CF 1.13,
 * section 2.5.1), and those of one part do not hold for all. */
static refs_status compare_attributes(const refs_combine *combine, refs_combine_result *result,
                                      const refs_combine_place *at, refs_error *err) {
    const refs_combine_array *like = result->like;
    const bool has_other_flags = result->n_concat > 0 && at->array->flags != like->flags;
    if (at->array != like && is_coordinate(combine, result)) {
        result->drops_range = result->drops_range || at->array->range != like->range;
        result->drops_stored = result->drops_stored || at->array->packing != like->packing;
        result->drops_actual = true;
    } else if (is_shared_coordinate(result)) {
        result->drops_range = result->drops_range || at->array->range != like->range;
    }
    return has_other_flags ? drop_flags(combine, result, at->member, err) : REFS_OK;
}

/* A coordinate has the metadata of the part whose units are used. */
static void prefer_first_along(const refs_combine *combine, const refs_combine_plan *plan,
                               refs_combine_result *result) {
    for (size_t concat = 0; concat < combine->n_dims; concat++) {
        size_t first = plan->concat_dims[concat].first;
        const refs_combine_member *member = &combine->members[first];
        uint32_t number = member->axes[concat].array;
        if (number == REFS_COMBINE_NONE || member->arrays[number].path != result->path) continue;
        result->first = first;
        result->like = &member->arrays[number];
        result->drops_stored = plan->concat_dims[concat].is_converted;
    }
}

/* Finds the part that provides the metadata: the first one. A combined part has those of its own
 * first source, which may not be first in the new order. */
static refs_status find_like(const refs_combine *combine, const refs_combine_plan *plan,
                             refs_combine_result *result, refs_error *err) {
    bool has_holes = false;
    uint64_t first[REFS_COMBINE_MAX_DIMS] = {UINT64_MAX}, place[REFS_COMBINE_MAX_DIMS];
    for (size_t i = combine->n_members; i-- > 0;) {
        refs_combine_array *array =
            refs_combine__find(&combine->members[plan->order[i]], result->path);
        if (array == NULL) continue;
        result->first = plan->order[i];
        result->like = array;
        has_holes = has_holes || array->holes != NULL;
    }
    for (size_t i = 0; has_holes && i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[plan->order[i]];
        const refs_combine_place at = {member, refs_combine__find(member, result->path)};
        if (at.array == NULL) continue;
        REFS_TRY(refs_combine__first_place(combine, &at, place, err));
        if (!refs_combine__is_before(combine, place, first)) continue;
        memcpy(first, place, sizeof first);
        result->first = plan->order[i];
        result->like = at.array;
    }
    return REFS_OK;
}

void refs_combine__result_clear(refs_combine_result *result) {
    refs_buf_clear(&result->values);
    refs_buf_clear(&result->holes);
    refs_combine__split_free(result->split);
    memset(result, 0, sizeof *result);
}

refs_status refs_combine__result_make(refs_combine *combine, const refs_combine_plan *plan,
                                      uint32_t path, refs_combine_result *result, refs_error *err) {
    bool splits = false, has_warned_of_meaning = false;
    memset(result, 0, sizeof *result);
    result->path = path;
    REFS_TRY(find_like(combine, plan, result, err));
    prefer_first_along(combine, plan, result);
    REFS_TRY(set_shape(combine, plan, result, err));
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[plan->order[i]];
        const refs_combine_place at = {member, refs_combine__find(member, path)};
        if (at.array == NULL) continue;
        REFS_TRY(compare_attributes(combine, result, &at, err));
        REFS_TRY(check_pieces(combine, result, member, err));
        REFS_TRY(compare_meaning(combine, result, &at, &has_warned_of_meaning, err));
        REFS_TRY(check_alike(combine, result, &at, &splits, err));
        if (result->n_concat == 0) REFS_TRY(compare_values(combine, result, &at, err));
    }
    REFS_TRY(choose_loading(combine, plan, result, &splits, err));
    REFS_TRY(refs_combine__compare_shared(combine, plan, result, err));
    if (!refs_combine__is_of_fields(combine) ||
        (result->like->is_field && combine->numbers == NULL))
        REFS_TRY(refs_combine__fill_holes(combine, plan, result, &splits, err));
    if (!splits || refs_combine__is_aggregated(combine)) return REFS_OK;
    REFS_TRY(refs_combine__split(combine, plan, result, err));
    return refs_combine__fill_gaps(combine, result, err);
}
