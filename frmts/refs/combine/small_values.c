/* small_values.c -- reads values of the small arrays of a part, and digests of large ones. */
#include "part_reader.h"
#include "refs/array.h"
#include "refs/cf.h"

/* An array whose values are read. */
typedef struct wanted_values {
    const refs_array_meta *meta;
    size_t number; /* index of the array in the member */
    bool is_optional;
} wanted_values;

static uint64_t add_empty_bytes(refs_combine *combine, uint64_t bytes) {
    REFS_LOCKED(&combine->lock);
    if (!refs_add_u64(combine->empty_bytes, bytes, &combine->empty_bytes))
        combine->empty_bytes = UINT64_MAX;
    return combine->empty_bytes;
}

/* The declared bytes of the values of an array; each string counts its NUL. False if they are no
 * values. */
static bool declared_bytes(const refs_array_meta *meta, uint64_t *bytes) {
    if (meta->dtype.type != REFS_TYPE_OBJECT) return refs_combine__value_bytes(meta, bytes);
    return meta->status == REFS_OK && refs_array_meta_elements(meta, bytes) &&
           refs_mul_u64(*bytes, refs_str_from(meta->fill_text).size + 1, bytes);
}

/* Limit of bytes of strings: masters store them, and sets store those along concat dimensions;
 * others are only compared. */
static uint64_t most_strings(const refs_part_reader *in, const refs_array_meta *meta) {
    return refs_combine__is_aggregated(in->combine) || refs_combine__is_of_fields(in->combine) ||
                   refs_part__n_concat_dims(in, meta) > 0
               ? REFS_COMBINE_MAX_THIN_BYTES
               : REFS_COMBINE_MAX_GRID_BYTES;
}

/* Counts the declared and stored bytes of the member's last array; *is_empty: hardly any of many
 * are stored. */
static refs_status count_bytes(refs_part_reader *in, const refs_array_meta *meta, uint64_t bytes[2],
                               bool *is_empty, refs_error *err) {
    *is_empty = false;
    if (meta->aggregation != NULL || !declared_bytes(meta, &bytes[0]) ||
        bytes[0] <= REFS_COMBINE_MAX_COMPARED_BYTES)
        return REFS_OK;
    REFS_TRY(refs_part__stored_bytes(in, meta, &in->member->arrays[in->member->n_arrays - 1],
                                     &bytes[1], err));
    *is_empty = bytes[0] / REFS_COMBINE_EMPTY_FOR_EACH >= bytes[1];
    return REFS_OK;
}

/* Declaring a shape costs nothing, so memory is limited in proportion to stored bytes. */
static refs_status check_stored(refs_part_reader *in, const refs_array_meta *meta,
                                refs_error *err) {
    uint64_t bytes[2];
    bool is_empty;
    REFS_TRY(count_bytes(in, meta, bytes, &is_empty, err));
    if (!is_empty || add_empty_bytes(in->combine, bytes[0]) <= REFS_COMBINE_MAX_EMPTY_BYTES)
        return REFS_OK;
    return refs_fail(err, REFS_LIMIT,
                     "declares %llu bytes of values and holds %llu: expected at most %llu in all "
                     "sources together, for variables of which less than one byte in %d is "
                     "stored: leave it out (--variables)",
                     (unsigned long long)bytes[0], (unsigned long long)bytes[1],
                     (unsigned long long)REFS_COMBINE_MAX_EMPTY_BYTES, REFS_COMBINE_EMPTY_FOR_EACH);
}

refs_status refs_part__want_values(refs_part_reader *in, const refs_array_meta *meta,
                                   bool is_optional, refs_error *err) {
    REFS_TRY(check_stored(in, meta, err));
    REFS_GROW(in->values, in->value_capacity, in->n_values, err);
    in->values[in->n_values++] = (wanted_values){meta, in->member->n_arrays - 1, is_optional};
    return REFS_OK;
}

static refs_status number_bytes(refs_part_reader *in, const refs_buf *bytes, uint32_t *id,
                                refs_error *err) {
    if (bytes->size == 0) return REFS_OK;
    return refs_part__number_text(in, refs_buf_text(bytes), id, err);
}

static refs_status number_missing(refs_part_reader *in, const refs_array_meta *meta,
                                  refs_bytes values, refs_combine_array *array, refs_error *err) {
    const refs_combine_kept_bytes of = {in->source.hierarchy, meta, values};
    REFS_SCOPED_BUF missing = REFS_BUF_INIT, invalid = REFS_BUF_INIT;
    REFS_TRY(refs_combine_find_missing(&of, &missing, &invalid, err));
    REFS_TRY(number_bytes(in, &missing, &array->missing, err));
    return number_bytes(in, &invalid, &array->invalid, err);
}

static refs_status number_kept(refs_part_reader *in, const wanted_values *wanted, refs_bytes values,
                               refs_error *err) {
    refs_combine_array *array = &in->member->arrays[wanted->number];
    if (array->are_texts && values.size > most_strings(in, wanted->meta)) return REFS_OK;
    REFS_TRY(refs_part__number_text(in, refs_bytes_text(values), &array->values, err));
    if (array->are_texts) return REFS_OK;
    return number_missing(in, wanted->meta, values, array, err);
}

static refs_status number_values(refs_part_reader *in, const wanted_values *wanted,
                                 refs_bytes values, refs_error *err) {
    REFS_SCOPED_BUF kept = REFS_BUF_INIT;
    if (refs_part__cuts_of(in) == NULL) return number_kept(in, wanted, values, err);
    REFS_TRY(refs_part__cut_values(in, wanted->meta, values, &kept, err));
    return number_kept(in, wanted, refs_buf_view(&kept), err);
}

static refs_status take_values(void *user, size_t i, refs_bytes values, refs_error *err) {
    refs_part_reader *in = user;
    const refs_combine_kept_values *kept = &in->combine->options.kept;
    if (kept->keep != NULL)
        kept->keep(kept->self, in->part->number, refs_str_from(in->values[i].meta->path), values);
    return number_values(in, &in->values[i], values, err);
}

/* Looks up values that an earlier run has kept. */
static refs_status find_values(refs_part_reader *in, const wanted_values *wanted, bool *found,
                               refs_error *err) {
    const refs_combine_kept_values *kept = &in->combine->options.kept;
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    uint64_t bytes;
    *found = kept->find != NULL &&
             kept->find(kept->self, in->part->number, refs_str_from(wanted->meta->path), &values) &&
             (wanted->meta->dtype.type == REFS_TYPE_OBJECT ||
              (refs_combine__value_bytes(wanted->meta, &bytes) && values.size == bytes));
    if (*found) REFS_TRY(number_values(in, wanted, refs_buf_view(&values), err));
    return REFS_OK;
}

static refs_status drop_kept_values(refs_part_reader *in, refs_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < in->n_values; i++) {
        bool found;
        REFS_TRY(find_values(in, &in->values[i], &found, err));
        if (!found) in->values[n++] = in->values[i];
    }
    in->n_values = n;
    return REFS_OK;
}

size_t refs_part__n_concat_dims(const refs_part_reader *in, const refs_array_meta *meta) {
    size_t n = 0, dim;
    for (size_t i = 0; i < meta->rank; i++)
        n += refs_combine__is_dim(in->combine, refs_str_from(meta->dims[i]), &dim);
    return n;
}

/* Bytes of an array at one index of the concat dimensions. */
static uint64_t row_bytes(const refs_part_reader *in, const refs_array_meta *meta) {
    uint64_t bytes = meta->dtype.size;
    size_t dim;
    for (size_t i = 0; i < meta->rank; i++)
        if (!refs_combine__is_dim(in->combine, refs_str_from(meta->dims[i]), &dim) &&
            !refs_mul_u64(bytes, meta->shape[i], &bytes))
            return UINT64_MAX;
    return bytes;
}

/* Whether this is the first warning about an array of that path in any part. */
static bool is_first_warning(refs_combine *combine, const char *path) {
    uint32_t id;
    refs_lock(&combine->lock);
    const size_t n = combine->warned.count;
    const bool is_first =
        refs_intern_add(&combine->warned, refs_str_from(path), &id, NULL) != REFS_OK || id == n;
    refs_unlock(&combine->lock);
    return is_first;
}

static void tell_uncompared(refs_part_reader *in, const refs_array_meta *meta,
                            const refs_error *problem) {
    if (is_first_warning(in->combine, meta->path))
        refs_note(&in->combine->options.notes, REFS_NOTE_WARNING,
                  "%s: cannot be compared with other sources: %s", meta->path, problem->message);
}

/* Whether a failure means that a file is unreachable: sets are combined nevertheless; damaged
 * values are errors. */
static bool is_unreachable(const refs_part_reader *in, refs_status status) {
    return !in->source.is_file && (refs_status_is_unreadable(status) || status == REFS_NOT_FOUND);
}

/* Whether strings along a concat dimension are combined by reference. */
static bool skips_strings(refs_part_reader *in, const wanted_values *wanted,
                          const refs_error *problem) {
    refs_combine_array *array = &in->member->arrays[wanted->number];
    if (refs_part__n_concat_dims(in, wanted->meta) > 0)
        array->is_thin = array->are_texts = false;
    else
        tell_uncompared(in, wanted->meta, problem);
    return refs_part__number_text(in, refs_str_from(problem->message), &array->problem, NULL) ==
           REFS_OK;
}

static bool skips(void *user, size_t i, refs_status status, const refs_error *problem) {
    refs_part_reader *in = user;
    const wanted_values *wanted = &in->values[i];
    if (!wanted->is_optional) return false;
    if (wanted->meta->dtype.type != REFS_TYPE_OBJECT) return status == REFS_UNSUPPORTED;
    return (status == REFS_UNSUPPORTED || status == REFS_LIMIT || is_unreachable(in, status)) &&
           skips_strings(in, wanted, problem);
}

refs_status refs_part__load_values(refs_part_reader *in, refs_error *err) {
    REFS_TRY(drop_kept_values(in, err));
    if (in->n_values == 0) return REFS_OK;
    const refs_value_sink sink = {take_values, skips, in};
    const refs_array_meta **metas = refs_calloc(in->n_values, sizeof *metas);
    if (metas == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < in->n_values; i++) metas[i] = in->values[i].meta;
    refs_status status = refs_combine__load(&in->source, metas, in->n_values, &sink, err);
    refs_free(metas);
    return status;
}

/* Requests strings. Those along a concat dimension are combined as values if parts have them
 * inline, as sets of HDF5 files do, or in chunks that differ; others are only compared, unless
 * hardly any are stored. */
static refs_status request_strings(refs_part_reader *in, const refs_array_meta *meta,
                                   refs_combine_array *array, refs_error *err) {
    const bool is_along = refs_part__n_concat_dims(in, meta) > 0;
    const bool is_needed = is_along && array->has_inline;
    const uint64_t most = most_strings(in, meta);
    uint64_t bytes, counts[2];
    bool is_empty = false;
    size_t ignored;
    if (meta->aggregation != NULL || !declared_bytes(meta, &bytes) ||
        (bytes > most && !is_needed) ||
        refs_combine__is_dim(in->combine, refs_str_from(meta->name), &ignored))
        return REFS_OK;
    if (most < REFS_COMBINE_MAX_THIN_BYTES) REFS_TRY(count_bytes(in, meta, counts, &is_empty, err));
    if (is_empty) return REFS_OK;
    array->are_texts = true;
    array->is_thin = is_along;
    return refs_part__want_values(in, meta, !is_needed, err);
}

refs_status refs_part__take_digest(refs_part_reader *in, const refs_array_meta *meta,
                                   refs_combine_array *array, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    in->scratch.size = 0;
    const refs_status status = refs_combine__digest(&in->source, meta, &in->scratch, &problem);
    if (status == REFS_UNSUPPORTED || (status == REFS_OK && in->scratch.size == 0)) return REFS_OK;
    if (is_unreachable(in, status)) {
        tell_uncompared(in, meta, &problem);
        return REFS_OK;
    }
    REFS_TRY(refs_fail(err, status, "%s", problem.message));
    const refs_str spots = refs_combine__digest_spots(refs_buf_text(&in->scratch));
    REFS_TRY(number_missing(in, meta, refs_bytes_view(spots.data, spots.size), array, err));
    return refs_part__number_scratch(in, &array->digest, err);
}

bool refs_part__is_in_unit(const refs_array_meta *meta, const char *unit) {
    const refs_cf_units own = refs_cf_units_of(meta->attributes);
    const refs_cf_units wanted = {refs_str_from(unit), own.calendar};
    return own.units.size > 0 && refs_cf_compare_units(&own, &wanted) != REFS_CF_CONVERSION_UNKNOWN;
}

refs_status refs_part__request_small_values(refs_part_reader *in, const refs_array_meta *meta,
                                            refs_combine_array *array, refs_error *err) {
    uint64_t bytes;
    if (meta->dtype.type == REFS_TYPE_OBJECT) return request_strings(in, meta, array, err);
    if (!refs_combine__value_bytes(meta, &bytes)) return REFS_OK;
    if (refs_part__n_concat_dims(in, meta) > 0 || array->is_of_step) {
        array->is_thin =
            bytes <= REFS_COMBINE_MAX_THIN_BYTES && row_bytes(in, meta) <= REFS_COMBINE_THIN_BYTES;
        return array->is_thin ? refs_part__want_values(in, meta, false, err) : REFS_OK;
    }
    const bool may_follow =
        array->is_time || array->bounded != REFS_COMBINE_NONE ||
        (meta->rank == 0 && array->coordinate == REFS_COMBINE_COORDINATE_LEAD_TIME);
    array->is_thin = may_follow && bytes <= REFS_COMBINE_MAX_COMPARED_BYTES;
    const bool is_place = array->is_grid || refs_combine__is_axis(meta),
               is_text =
                   meta->dtype.type == REFS_TYPE_BYTES || meta->dtype.type == REFS_TYPE_UNICODE;
    bool is_empty = false;
    uint64_t counts[2];
    if (is_text) REFS_TRY(count_bytes(in, meta, counts, &is_empty, err));
    if (bytes <= (is_place || (is_text && !is_empty) ? REFS_COMBINE_MAX_GRID_BYTES
                                                     : REFS_COMBINE_MAX_COMPARED_BYTES))
        return refs_part__want_values(in, meta, true, err);
    return is_place ? refs_part__take_digest(in, meta, array, err) : REFS_OK;
}

/* The number of concat dimensions that an array of the part has in the result, except those of
 * scalar times. */
static size_t n_combined_dims(const refs_part_reader *in, const refs_array_meta *meta,
                              const refs_combine_array *array) {
    size_t n = refs_part__n_concat_dims(in, meta);
    for (size_t concat = 0; array->gets_new && concat < in->combine->n_dims; concat++)
        n += in->member->axes[concat].is_new;
    return n;
}

/* Whether all values of a shared array are compared: of coordinates, and of small arrays, as long
 * as there is memory for them. */
static refs_status keeps_shared(refs_part_reader *in, const refs_array_meta *meta,
                                const refs_combine_array *array, bool *keeps, refs_error *err) {
    const bool is_place = array->is_grid || array->is_auxiliary;
    uint64_t bytes = 0, stored = 0;
    *keeps = array->digest != REFS_COMBINE_NONE && refs_combine__value_bytes(meta, &bytes) &&
             bytes <= (is_place ? REFS_COMBINE_MAX_GRID_BYTES : REFS_COMBINE_MAX_COMPARED_BYTES);
    if (!*keeps) return REFS_OK;
    REFS_TRY(refs_part__stored_bytes(in, meta, array, &stored, err));
    *keeps = bytes / REFS_COMBINE_EMPTY_FOR_EACH < stored;
    if (!*keeps) return REFS_OK;
    REFS_LOCKED(&in->combine->lock);
    in->combine->shared_bytes += bytes;
    *keeps = in->combine->shared_bytes <= REFS_COMBINE_MAX_SHARED_BYTES;
    return REFS_OK;
}

/* Parts that differ along another dimension share the array. */
static refs_status take_shared(refs_part_reader *in, const refs_array_meta *meta, size_t number,
                               refs_error *err) {
    refs_combine_array *array = &in->member->arrays[number];
    bool keeps;
    if (refs_part__cuts_of(in) == NULL) REFS_TRY(refs_part__take_digest(in, meta, array, err));
    REFS_TRY(keeps_shared(in, meta, array, &keeps, err));
    if (!keeps) return REFS_OK;
    REFS_GROW(in->values, in->value_capacity, in->n_values, err);
    in->values[in->n_values++] = (wanted_values){meta, number, true};
    return REFS_OK;
}

refs_status refs_part__take_other_digests(refs_part_reader *in, refs_error *err) {
    in->n_values = 0; /* those so far are loaded */
    for (size_t i = 0; i < in->member->n_arrays; i++) {
        refs_combine_array *array = &in->member->arrays[i];
        uint64_t bytes;
        if (array->number == REFS_COMBINE_NONE || array->values != REFS_COMBINE_NONE ||
            array->digest != REFS_COMBINE_NONE)
            continue;
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, array->number);
        const size_t n = n_combined_dims(in, meta, array);
        if (!refs_combine__value_bytes(meta, &bytes) || array->is_piece) continue;
        if (n > 0 && n < in->combine->n_dims)
            REFS_TRY(take_shared(in, meta, i, err));
        else if (n == 0 && bytes > REFS_COMBINE_MAX_COMPARED_BYTES &&
                 refs_part__cuts_of(in) == NULL)
            REFS_TRY(refs_part__take_digest(in, meta, array, err));
    }
    return refs_part__load_values(in, err);
}
