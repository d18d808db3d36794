/* guess.c -- along which dimension two sets continue each other, see refs/combine.h. */
#include "combine_how.h"
#include "combine_internal.h"

static refs_status keep(void *user, size_t i, refs_bytes bytes, refs_error *err) {
    (void)i;
    return refs_buf_append(user, bytes.data, bytes.size, err);
}

static bool is_needed(void *user, size_t i) {
    (void)user;
    (void)i;
    return false;
}

static refs_status load(const refs_combine_source *source, const refs_array_meta *meta,
                        refs_buf *values, refs_error *err) {
    const refs_value_sink sink = {keep, is_needed, values};
    return refs_combine__load(source, &meta, 1, &sink, err);
}

static refs_values values_of(const refs_array_meta *meta, refs_str bytes) {
    const refs_cf_units units = refs_cf_units_of(meta->attributes);
    refs_values values = {
        .dtype = &meta->dtype, .unpacking = refs_combine__unpacking_of(meta), .bytes = bytes};
    refs_combine__set_clock(&values, &units);
    return values;
}

/* Times in other units are the same where their instants are. */
static bool count_alike(const refs_array_meta *const metas[2]) {
    const refs_cf_units one = refs_cf_units_of(metas[0]->attributes),
                        other = refs_cf_units_of(metas[1]->attributes);
    return refs_str_equal(one.units, other.units) ||
           (refs_cf_counts_since(one.units) && refs_cf_counts_since(other.units) &&
            refs_cf_compare_units(&one, &other) != REFS_CF_CONVERSION_UNKNOWN);
}

/* Whether values differ, or what they are counted in. */
static bool are_different(const refs_array_meta *const metas[2], const refs_str values[2]) {
    const refs_values mine = values_of(metas[0], values[0]),
                      theirs = values_of(metas[1], values[1]);
    return !count_alike(metas) || refs_combine__first_difference(&mine, &theirs) != UINT64_MAX;
}

static bool are_of_one_type(const refs_array_meta *const metas[2]) {
    const refs_dtype *a = &metas[0]->dtype, *b = &metas[1]->dtype;
    const refs_combine_unpacking p = refs_combine__unpacking_of(metas[0]),
                                 q = refs_combine__unpacking_of(metas[1]);
    return refs_dtype_equal(a, b) && p.scale == q.scale && p.offset == q.offset &&
           refs_str_equal(refs_cf_units_of(metas[0]->attributes).units,
                          refs_cf_units_of(metas[1]->attributes).units);
}

/* Long axes are compared by samples at the beginning, in the middle and at the end: by sums, and
 * where types or packings differ, which sums cannot tell, by the elements that a digest ends with.
 */
static refs_status differ_in_samples(const refs_combine_source *a, const refs_combine_source *b,
                                     const refs_array_meta *const metas[2], bool *result,
                                     refs_error *err) {
    const size_t sums = 8 * REFS_COMBINE_N_SAMPLES;
    refs_buf digests[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = refs_combine__digest(a, metas[0], &digests[0], err);
    if (status == REFS_OK) status = refs_combine__digest(b, metas[1], &digests[1], err);
    const refs_str whole[2] = {refs_str_view((const char *)digests[0].data, digests[0].size),
                               refs_str_view((const char *)digests[1].data, digests[1].size)};
    const refs_str spots[2] = {refs_str_part(whole[0], sums, whole[0].size),
                               refs_str_part(whole[1], sums, whole[1].size)};
    *result = metas[0]->shape[0] != metas[1]->shape[0] ||
              (whole[0].size < sums) != (whole[1].size < sums) ||
              (are_of_one_type(metas) && !refs_str_equal(whole[0], whole[1])) ||
              (whole[0].size >= sums && whole[1].size >= sums && are_different(metas, spots));
    refs_buf_clear(&digests[0]);
    refs_buf_clear(&digests[1]);
    return status;
}

typedef enum outcome { NOT_COMPARED, SAME, DIFFERENT } outcome;

static refs_status compare_values(const refs_combine_source *a, const refs_combine_source *b,
                                  const refs_array_meta *const metas[2], bool *result,
                                  refs_error *err) {
    refs_buf values[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = load(a, metas[0], &values[0], err);
    if (status == REFS_OK) status = load(b, metas[1], &values[1], err);
    const refs_str read[2] = {refs_str_view((const char *)values[0].data, values[0].size),
                              refs_str_view((const char *)values[1].data, values[1].size)};
    *result = are_different(metas, read);
    refs_buf_clear(&values[0]);
    refs_buf_clear(&values[1]);
    return status;
}

static refs_status compare(const refs_combine_source *a, const refs_combine_source *b,
                           const refs_array_meta *const metas[2], outcome *result,
                           refs_error *err) {
    uint64_t bytes, other_bytes;
    bool is_other = false;
    *result = NOT_COMPARED;
    if (!refs_combine__value_bytes(metas[0], &bytes) ||
        !refs_combine__value_bytes(metas[1], &other_bytes))
        return REFS_OK;
    const bool is_long =
        bytes > REFS_COMBINE_MAX_GRID_BYTES || other_bytes > REFS_COMBINE_MAX_GRID_BYTES;
    REFS_TRY(is_long ? differ_in_samples(a, b, metas, &is_other, err)
                     : compare_values(a, b, metas, &is_other, err));
    *result = is_other ? DIFFERENT : SAME;
    return REFS_OK;
}

static refs_status differ(const refs_combine_source *a, const refs_combine_source *b,
                          const refs_array_meta *one, bool *result, refs_error *err) {
    const refs_array_meta *other =
        refs_hierarchy_find_array(b->hierarchy, refs_str_from(one->path));
    const refs_array_meta *const metas[2] = {one, other};
    outcome found = NOT_COMPARED;
    if (other != NULL && refs_combine__is_axis(one) && refs_combine__is_axis(other))
        REFS_TRY(compare(a, b, metas, &found, err));
    *result = found == DIFFERENT;
    return REFS_OK;
}

/* The properties that two sets share. */
typedef struct common {
    bool has_variable;
    size_t n_axes;
} common;

static bool is_variable(const refs_array_meta *meta) {
    return meta->status == REFS_OK && !meta->is_instruction && !refs_combine__is_axis(meta);
}

static common find_common(const refs_combine_source *a, const refs_combine_source *b) {
    common found = {false, 0};
    for (size_t i = 0; i < refs_hierarchy_n_arrays(a->hierarchy); i++) {
        const refs_array_meta *one = refs_hierarchy_array(a->hierarchy, i);
        const refs_array_meta *other =
            refs_hierarchy_find_array(b->hierarchy, refs_str_from(one->path));
        if (other == NULL) continue;
        found.has_variable = found.has_variable || (is_variable(one) && is_variable(other));
        found.n_axes += refs_combine__is_axis(one) && refs_combine__is_axis(other) ? 1 : 0;
    }
    return found;
}

/* Sets without a variable in common are parts of one data set where they share a grid. */
static bool may_be_parts(const common *shared, size_t n_dims) {
    return shared->has_variable || (n_dims == 1 && shared->n_axes > 1);
}

/* -- times that are numbers -------------------------------------------------------------------- */

static bool is_standard(const refs_array_meta *meta, const char *name) {
    return refs_str_is(refs_json_text(refs_json_get(meta->attributes, "standard_name")), name);
}

static bool is_clock(const refs_array_meta *meta) {
    const refs_cf_units units = refs_cf_units_of(meta->attributes);
    refs_cf_clock clock;
    return refs_cf_clock_of(&units, &clock);
}

static bool names(const refs_array_meta *variable, const char *coordinate) {
    refs_str text = refs_json_text(refs_json_get(variable->attributes, "coordinates")), word;
    while (refs_str_next_word(&text, REFS_BLANKS, &word))
        if (refs_str_is(word, coordinate)) return true;
    return false;
}

static bool is_named(const refs_combine_source *source, const refs_array_meta *meta) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(source->hierarchy); i++)
        if (names(refs_hierarchy_array(source->hierarchy, i), meta->name)) return true;
    return false;
}

/* A time, a lead time or a member of an ensemble. */
static bool is_place(const refs_array_meta *meta) {
    return meta != NULL && meta->status == REFS_OK &&
           (is_clock(meta) || is_standard(meta, "forecast_period") ||
            is_standard(meta, "realization"));
}

/* One of a file that has one of them: a number that variables name as their coordinate. */
static bool is_scalar_place(const refs_combine_source *source, const refs_array_meta *meta) {
    return is_place(meta) && meta->rank == 0 && is_named(source, meta);
}

/* The time for which a forecast is follows from when it was made and its lead time. */
static bool has_reference(const refs_combine_source *source) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(source->hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(source->hierarchy, i);
        if (is_place(meta) && is_standard(meta, "forecast_reference_time") &&
            (is_named(source, meta) || refs_combine__is_axis(meta)))
            return true;
    }
    return false;
}

static refs_status find_scalars(const refs_combine_source *a, const refs_combine_source *b,
                                refs_buf *dims, refs_error *err) {
    const bool is_forecast = has_reference(a);
    for (size_t i = 0; i < refs_hierarchy_n_arrays(a->hierarchy); i++) {
        const refs_array_meta *one = refs_hierarchy_array(a->hierarchy, i);
        const refs_array_meta *other =
            refs_hierarchy_find_array(b->hierarchy, refs_str_from(one->path));
        const refs_array_meta *const metas[2] = {one, other};
        outcome found = NOT_COMPARED;
        if (is_scalar_place(a, one) && is_scalar_place(b, other) &&
            !(is_forecast && is_standard(one, "time")))
            REFS_TRY(compare(a, b, metas, &found, err));
        if (found == DIFFERENT)
            REFS_TRY(refs_buf_append(dims, one->name, strlen(one->name) + 1, err));
    }
    return REFS_OK;
}

static refs_status find_dims(const refs_combine_source *a, const refs_combine_source *b,
                             refs_buf *dims, refs_error *err) {
    const size_t n = refs_hierarchy_n_arrays(a->hierarchy);
    size_t n_dims = 0;
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(a->hierarchy, i);
        bool is_other = false;
        REFS_TRY(differ(a, b, meta, &is_other, err));
        if (!is_other) continue;
        REFS_TRY(refs_buf_append(dims, meta->name, strlen(meta->name) + 1, err));
        n_dims++;
    }
    const common shared = find_common(a, b);
    if (!may_be_parts(&shared, n_dims)) dims->size = 0;
    return n_dims == 0 && shared.has_variable ? find_scalars(a, b, dims, err) : REFS_OK;
}

/* -- more of them, for a set that grows ---------------------------------------------------------
 */

/* Whether one of the dimensions counts instants: other times then follow from it. */
static bool has_clock(const refs_combine_source *source, const refs_name_list *dims) {
    for (size_t i = 0; i < dims->n; i++) {
        const refs_array_meta *meta =
            refs_hierarchy_resolve(source->hierarchy, "", refs_str_from(dims->items[i]));
        if (meta == NULL || is_clock(meta)) return true;
    }
    return false;
}

/* A time, a lead time or a member that may be one for all that a set has: a number, one for each
 * index along a concat dimension, or an axis. */
static bool may_be_one(const refs_combine_source *source, const refs_array_meta *meta,
                       const refs_name_list *along) {
    if (!is_place(meta) || refs_name_list_has(along, meta->name)) return false;
    if (refs_combine__is_axis(meta)) return true;
    return is_named(source, meta) &&
           (meta->rank == 0 || (meta->rank == 1 && refs_name_list_has(along, meta->dims[0])));
}

static bool may_be_new(const refs_combine_source *source, const refs_array_meta *meta,
                       const refs_name_list *along) {
    return may_be_one(source, meta, along) && !(is_clock(meta) && has_clock(source, along)) &&
           !(has_reference(source) && is_standard(meta, "time"));
}

/* The value that all elements have; none: they differ, or there is none. */
static refs_status load_one(const refs_combine_source *source, const refs_array_meta *meta,
                            refs_buf *values, refs_error *err) {
    REFS_TRY(load(source, meta, values, err));
    refs_str all = refs_str_view((const char *)values->data, values->size);
    values->size = refs_combine__constant_size(all, meta->dtype.size);
    return REFS_OK;
}

static refs_status differ_in_one(const refs_combine_source *a, const refs_combine_source *b,
                                 const refs_array_meta *const metas[2], bool *result,
                                 refs_error *err) {
    refs_buf values[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = load_one(a, metas[0], &values[0], err);
    if (status == REFS_OK) status = load_one(b, metas[1], &values[1], err);
    const refs_str read[2] = {refs_str_view((const char *)values[0].data, values[0].size),
                              refs_str_view((const char *)values[1].data, values[1].size)};
    *result = read[0].size > 0 && read[1].size > 0 && are_different(metas, read);
    refs_buf_clear(&values[0]);
    refs_buf_clear(&values[1]);
    return status;
}

static refs_status find_more(const refs_combine_source *a, const refs_combine_source *b,
                             const refs_name_list *along, refs_buf *dims, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(a->hierarchy); i++) {
        const refs_array_meta *one = refs_hierarchy_array(a->hierarchy, i);
        const refs_array_meta *other =
            refs_hierarchy_find_array(b->hierarchy, refs_str_from(one->path));
        const refs_array_meta *const metas[2] = {one, other};
        uint64_t bytes;
        bool is_other = false;
        if (may_be_new(a, one, along) && may_be_one(b, other, along) &&
            refs_combine__is_axis(one) == refs_combine__is_axis(other) &&
            refs_combine__value_bytes(one, &bytes) && refs_combine__value_bytes(other, &bytes))
            REFS_TRY(differ_in_one(a, b, metas, &is_other, err));
        if (is_other) REFS_TRY(refs_buf_append(dims, one->name, strlen(one->name) + 1, err));
    }
    return REFS_OK;
}

refs_status refs_combine_may_gain_dims(const refs_set *set, const refs_combine_options *options,
                                       const refs_name_list *along, bool *may, refs_error *err) {
    refs_combine_source source = {.store = NULL};
    refs_status status = refs_combine__source_open(options, set, &source, err);
    *may = false;
    for (size_t i = 0; status == REFS_OK && i < refs_hierarchy_n_arrays(source.hierarchy); i++)
        *may = *may || may_be_new(&source, refs_hierarchy_array(source.hierarchy, i), along);
    refs_combine__source_close(&source);
    return status;
}

refs_status refs_combine_gain_dims(const refs_combine_part ends[2],
                                   const refs_combine_options *options, const refs_name_list *along,
                                   refs_buf *dims, refs_error *err) {
    refs_combine_source a = {.store = NULL}, b = {.store = NULL};
    refs_status status = refs_combine__source_open(options, ends[0].set, &a, err);
    if (status == REFS_OK) status = refs_combine__source_open(options, ends[1].set, &b, err);
    if (status == REFS_OK) status = find_more(&a, &b, along, dims, err);
    refs_combine__source_close(&a);
    refs_combine__source_close(&b);
    return status;
}

/* -- where there is none ----------------------------------------------------------------------- */

/* Names that a message lists. */
#define MAX_SHOWN 5

static refs_status list_variables(const refs_combine_source *source, const char *name,
                                  refs_buf *text, refs_error *err) {
    size_t n = 0;
    REFS_TRY(refs_buf_printf(text, err, "%s has ", name));
    for (size_t i = 0; i < refs_hierarchy_n_arrays(source->hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(source->hierarchy, i);
        if (!is_variable(meta) || ++n > MAX_SHOWN) continue;
        REFS_TRY(refs_buf_printf(text, err, "%s%s", n > 1 ? ", " : "", meta->path + 1));
    }
    return refs_buf_printf(text, err, "%s", n == 0 ? "none" : n > MAX_SHOWN ? ", …" : "");
}

/* Coordinates and times of two sets without a dimension to join along: their names, as a message
 * lists them. */
typedef struct compared {
    refs_buf times, unknown; /* times that differ, and coordinates that cannot be compared */
} compared;

static refs_status add_name(refs_buf *names, const refs_array_meta *meta, const char *along,
                            refs_error *err) {
    return refs_buf_printf(names, err, "%s%s%s%s%s", names->size > 0 ? ", " : "", meta->path + 1,
                           along != NULL ? " (along " : "", along != NULL ? along : "",
                           along != NULL ? ")" : "");
}

/* A time that is no coordinate of its dimension. */
static bool is_other_time(const refs_array_meta *meta) {
    return meta->status == REFS_OK && meta->rank <= 1 && !refs_combine__is_axis(meta) &&
           is_clock(meta);
}

static refs_status compare_named(const refs_combine_source *a, const refs_combine_source *b,
                                 const refs_array_meta *const metas[2], compared *lists,
                                 refs_error *err) {
    const bool is_axis = refs_combine__is_axis(metas[0]),
               are_axes = refs_combine__is_axis(metas[1]);
    const char *along = metas[0]->rank == 1 ? metas[0]->dims[0] : NULL;
    outcome found = NOT_COMPARED;
    if (is_axis != are_axes) return add_name(&lists->unknown, metas[0], NULL, err);
    const bool are_times = is_other_time(metas[0]) && is_other_time(metas[1]);
    if (!is_axis && !are_times) return REFS_OK;
    REFS_TRY(compare(a, b, metas, &found, err));
    if (is_axis && found == NOT_COMPARED) return add_name(&lists->unknown, metas[0], NULL, err);
    return are_times && found == DIFFERENT ? add_name(&lists->times, metas[0], along, err)
                                           : REFS_OK;
}

static refs_status compare_all(const refs_combine_source *a, const refs_combine_source *b,
                               compared *lists, refs_error *err) {
    refs_status status = REFS_OK;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(a->hierarchy) && status == REFS_OK; i++) {
        const refs_array_meta *one = refs_hierarchy_array(a->hierarchy, i);
        const refs_array_meta *other =
            refs_hierarchy_find_array(b->hierarchy, refs_str_from(one->path));
        const refs_array_meta *const metas[2] = {one, other};
        if (other != NULL) status = compare_named(a, b, metas, lists, err);
    }
    return status;
}

static refs_status fail_between(const refs_combine_part *const parts[2], const compared *lists,
                                size_t n_axes, const char *along, refs_error *err) {
    const char *one = parts[0]->name, *other = parts[1]->name;
    const refs_buf *times = &lists->times, *unknown = &lists->unknown;
    if (unknown->size > 0)
        return refs_fail(
            err, REFS_INVALID,
            "coordinates of %s and %s cannot be compared (%.*s): name the concat dimension (%s)",
            one, other, (int)unknown->size, (const char *)unknown->data, along);
    if (times->size > 0)
        return refs_fail(err, REFS_INVALID,
                         "%s and %s differ in %.*s, but not in the coordinate of a dimension: name "
                         "the concat dimension (%s)",
                         one, other, (int)times->size, (const char *)times->data, along);
    return refs_fail(
        err, REFS_INVALID,
        n_axes > 0 ? "the coordinates of %s and %s are the same: name the concat dimension (%s)"
                   : "%s and %s have no coordinate in common: name the concat dimension (%s)",
        one, other, along);
}

static refs_status fail_without_variable(const refs_combine_source *a, const refs_combine_source *b,
                                         const refs_combine_part *const parts[2], const char *along,
                                         refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = list_variables(a, parts[0]->name, &text, err);
    if (status == REFS_OK) status = refs_buf_printf(&text, err, ", ");
    if (status == REFS_OK) status = list_variables(b, parts[1]->name, &text, err);
    if (status == REFS_OK)
        status = refs_fail(err, REFS_INVALID,
                           "no variable in common: %.*s: combine files of one data set, or, if "
                           "they share a grid, name the concat dimension (%s)",
                           (int)text.size, (const char *)text.data, along);
    refs_buf_clear(&text);
    return status;
}

static refs_status fail_for(const refs_combine_source *a, const refs_combine_source *b,
                            const refs_combine_part *const parts[2], const char *along,
                            refs_error *err) {
    const common shared = find_common(a, b);
    compared lists = {REFS_BUF_INIT, REFS_BUF_INIT};
    if (!shared.has_variable) return fail_without_variable(a, b, parts, along, err);
    refs_status status = compare_all(a, b, &lists, err);
    if (status == REFS_OK) status = fail_between(parts, &lists, shared.n_axes, along, err);
    refs_buf_clear(&lists.times);
    refs_buf_clear(&lists.unknown);
    return status;
}

refs_status refs_combine_guess_dims(const refs_combine_part ends[2],
                                    const refs_combine_options *options, const char *along,
                                    refs_buf *dims, refs_error *err) {
    const refs_combine_part *const parts[2] = {&ends[0], &ends[1]};
    refs_combine_source a = {.store = NULL}, b = {.store = NULL};
    refs_status status = refs_combine__source_open(options, ends[0].set, &a, err);
    if (status == REFS_OK) status = refs_combine__source_open(options, ends[1].set, &b, err);
    if (status == REFS_OK) status = find_dims(&a, &b, dims, err);
    if (status == REFS_OK && dims->size == 0) status = fail_for(&a, &b, parts, along, err);
    refs_combine__source_close(&a);
    refs_combine__source_close(&b);
    return status;
}

refs_status refs_combine_check_names(const char *const *names, size_t n, refs_error *err) {
    refs_intern known = {0};
    refs_status status = REFS_OK;
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        uint32_t id;
        status = refs_intern_add(&known, refs_str_from(names[i]), &id, err);
        if (status == REFS_OK && id < i)
            status = refs_fail(err, REFS_INVALID, "%s is source %zu and source %zu: leave one out",
                               names[i], (size_t)id + 1, i + 1);
    }
    refs_intern_clear(&known);
    return status;
}
