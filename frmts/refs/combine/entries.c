/* entries.c -- fields and aggregations of a part, and the pieces of aggregations. */
#include "part_reader.h"
#include "refs/aggregation.h"
#include "refs/master_files.h"

/* -- fields ------------------------------------------------------------------------------------ */

static refs_status list_fields(refs_part_reader *in, refs_error *err) {
    const refs_hierarchy *hierarchy = in->source.hierarchy;
    const size_t n = refs_hierarchy_n_arrays(hierarchy);
    refs_cfa_array *arrays = refs_calloc(n + 1, sizeof *arrays);
    refs_cfa_source source = {.arrays = arrays};
    if (arrays == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->status != REFS_OK || meta->is_instruction || !refs_part__is_wanted(in, meta))
            continue;
        arrays[source.n_arrays++] = (refs_cfa_array){{.path = meta->path,
                                                      .dtype = meta->dtype,
                                                      .rank = meta->rank,
                                                      .dims = (const char *const *)meta->dims,
                                                      .attributes = meta->attributes},
                                                     meta->shape};
    }
    refs_status status = REFS_OK;
    for (size_t i = 0; i < source.n_arrays && status == REFS_OK; i++) {
        uint32_t id;
        if (!refs_cfa_is_field(&source, i)) continue;
        status = refs_intern_add(&in->fields, refs_str_from(arrays[i].variable.path), &id, err);
        if (arrays[i].variable.rank > in->most_dims) in->most_dims = arrays[i].variable.rank;
    }
    refs_free(arrays);
    return status;
}

refs_status refs_part__open_fields(refs_part_reader *in, refs_error *err) {
    if (!refs_part__sees_aggregations(in) && in->rest == NULL) return REFS_OK;
    REFS_TRY(refs_aggregations_open(in->source.hierarchy, &in->combine->options.notes,
                                    &in->aggregations, err));
    return refs_combine__is_of_fields(in->combine) ? list_fields(in, err) : REFS_OK;
}

refs_status refs_part__read_field_values(refs_part_reader *in, const refs_array_meta *meta,
                                         refs_combine_array *array, refs_error *err) {
    uint64_t bytes;
    array->is_field = refs_intern_find(&in->fields, refs_str_from(meta->path)) != REFS_INTERN_NONE;
    array->is_thin = !array->is_field;
    array->are_texts = meta->dtype.type == REFS_TYPE_OBJECT;
    if (array->are_texts)
        return refs_part__want_values(in, meta, refs_part__n_concat_dims(in, meta) == 0, err);
    if (!refs_combine__value_bytes(meta, &bytes))
        return array->is_field
                   ? REFS_OK
                   : refs_fail(err, REFS_UNSUPPORTED, "its values cannot be put into a master");
    if (!array->is_field && bytes > REFS_CFA_MAX_VALUE_BYTES)
        return refs_fail(err, REFS_LIMIT, "%s: too large for a master", meta->path);
    const bool may_serve = meta->rank < in->most_dims || meta->rank == 1 || array->is_grid ||
                           refs_part__n_concat_dims(in, meta) == 0;
    const bool is_of_fragment = array->is_field && in->member->role == REFS_COMBINE_IS_FRAGMENT;
    const size_t n_concat = refs_part__n_concat_dims(in, meta);
    const bool is_shared = array->is_grid || n_concat < in->combine->n_dims ||
                           (in->combine->n_dims == 0 && meta->rank < in->most_dims);
    if (is_of_fragment && !may_serve) return REFS_OK;
    if (is_of_fragment && bytes > REFS_COMBINE_MAX_COMPARED_BYTES)
        return is_shared ? refs_part__take_digest(in, meta, array, err) : REFS_OK;
    return refs_part__want_values(in, meta, array->is_field, err);
}

/* Whether a scalar is the coordinate of a concat dimension, or a time, such as the valid time of a
 * forecast, of a part that is one step along a time or a duration. */
static bool is_of_step(const refs_part_reader *in, const refs_array_meta *meta) {
    size_t concat;
    if (meta->rank != 0) return false;
    if (refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat)) return true;
    if (!refs_part__is_in_unit(meta, REFS_SINCE_EPOCH)) return false;
    for (concat = 0; concat < in->combine->n_dims; concat++) {
        const refs_array_meta *step = refs_hierarchy_resolve(
            in->source.hierarchy, meta->group, refs_str_from(in->combine->options.dims[concat]));
        if (step != NULL && step->status == REFS_OK && step->rank == 0 &&
            (refs_part__is_in_unit(step, REFS_SINCE_EPOCH) || refs_part__is_in_unit(step, "s")))
            return true;
    }
    return false;
}

static bool holds_strings(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_OBJECT || dtype->type == REFS_TYPE_BYTES ||
           dtype->type == REFS_TYPE_UNICODE;
}

/* The rank of values: characters are strings along their last dimension. */
static size_t rank_of_values(const refs_array_meta *meta) {
    const bool is_letter = meta->dtype.type == REFS_TYPE_BYTES && meta->dtype.size == 1;
    return meta->rank - (is_letter && meta->rank > 0);
}

/* The role of an array; `meta` must be one of the hierarchy's. */
static const refs_cf_role *describe_role(const refs_part_reader *in, const refs_array_meta *meta,
                                         refs_combine_array *array) {
    const refs_cf_role *role;
    array->number = (uint32_t)(meta - refs_hierarchy_array(in->source.hierarchy, 0));
    role = &in->roles[array->number];
    array->bounded = role->bounded;
    return role;
}

void refs_part__describe_kind(const refs_part_reader *in, const refs_array_meta *meta,
                              refs_combine_array *array) {
    const refs_cf_role *role = describe_role(in, meta, array);
    array->is_auxiliary = rank_of_values(meta) > 0 && role->is_coordinate;
    array->is_label = array->is_auxiliary && holds_strings(&meta->dtype);
    array->is_of_step =
        is_of_step(in, array->bounded != REFS_COMBINE_NONE
                           ? refs_hierarchy_array(in->source.hierarchy, array->bounded)
                           : meta);
    /* arrays that only describe others do not need the concat dimensions that the part lacks */
    array->gets_new = array->is_of_step || !role->serves_others;
    array->is_time = refs_part__is_in_unit(meta, REFS_SINCE_EPOCH);
    array->is_grid = refs_cf_unit_kind_of(refs_cf_attribute_text(meta->attributes, "units")) !=
                     REFS_CF_UNIT_OTHER;
}

/* Counts intervals: fragments, and gaps between them. */
static refs_status divide(const refs_array_meta *meta, refs_combine_entry *entry, refs_error *err) {
    bool is_empty = false;
    entry->grid.rank = meta->rank;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        refs_fragment_dim *into = &entry->grid.dims[dim];
        for (uint64_t begin = 0, end; begin < meta->shape[dim]; begin = end) {
            REFS_TRY(refs_aggregation_border_behind(meta, dim, begin, &end, err));
            REFS_TRY(refs_fragment_dim_append(into, end - begin, err));
        }
        entry->is_written[dim] = refs_calloc(into->n_intervals + 1, 1);
        if (entry->is_written[dim] == NULL) return refs_fail_nomem(err);
        is_empty = is_empty || into->n_intervals == 0;
    }
    return is_empty ? REFS_OK : refs_fragment_grid_prepare(&entry->grid, err);
}

typedef struct marking {
    refs_part_reader *in;
    const refs_array_meta *meta;
    refs_combine_entry *entry;
} marking;

static refs_status mark_written(void *user, const refs_partition *partition, refs_error *err) {
    const marking *at = user;
    refs_combine_entry *entry = at->entry;
    if (refs_fragment_is_missing(at->meta, partition)) return REFS_OK;
    entry->has_fragments = true;
    uint64_t number = 0;
    for (size_t dim = 0; dim < entry->grid.rank; dim++) {
        const size_t i = refs_fragment_dim_find(&entry->grid.dims[dim], partition->begin[dim]);
        entry->is_written[dim][i] = 1;
        number = number * entry->grid.dims[dim].n_parts + i;
    }
    if (number >= entry->grid.n) return REFS_OK;
    entry->grid.sources[number].is_there = true;
    return at->in->member->role == REFS_COMBINE_IS_MASTER
               ? refs_fragment_grid_set(&entry->grid, number, partition, err)
               : REFS_OK;
}

refs_status refs_part__read_entry(refs_part_reader *in, const refs_array_meta *meta,
                                  refs_error *err) {
    refs_combine_member *member = in->member;
    REFS_GROW(member->entries, member->entry_capacity, member->n_entries, err);
    REFS_TRY(refs_part__add_array(in, meta, err));
    refs_combine_entry *entry = &member->entries[member->n_entries++];
    *entry = (refs_combine_entry){.array = member->arrays[--member->n_arrays],
                                  .number = member->n_arrays + member->n_entries - 1};
    entry->array.is_field = refs_combine__is_of_fields(in->combine);
    refs_part__describe_kind(in, meta, &entry->array);
    refs_array_meta own = *meta;
    own.has_fill = false; /* without an attribute, netCDF's default is the fill value */
    entry->declares_fill = meta->dtype.size <= sizeof entry->declared &&
                           refs_cf_declared_fill(in->source.hierarchy, &own, entry->declared);
    entry->array.declares_fill = meta->has_fill && meta->dtype.size <= sizeof entry->array.declared;
    if (entry->array.declares_fill) memcpy(entry->array.declared, meta->fill, meta->dtype.size);
    REFS_TRY(refs_part__number_json(in, meta->attributes, &entry->array.attributes, err));
    REFS_TRY(divide(meta, entry, err));
    marking at = {in, meta, entry};
    return refs_aggregation_each(meta, mark_written, &at, err);
}

/* -- pieces of aggregations -------------------------------------------------------------------- */

/* The number of a fragment, from the name of its group. */
static bool fragment_number(const refs_array_meta *whole, const refs_array_meta *meta,
                            uint64_t *number) {
    refs_str group =
        refs_str_part(refs_str_from(meta->group),
                      strlen(whole->path) + strlen(REFS_SET_FRAGMENTS_SUFFIX "/"), SIZE_MAX);
    return strcmp(meta->name, whole->name) == 0 && refs_str_to_u64(group, number);
}

static refs_status fail_apart(const refs_part_reader *in, const refs_combine_array *array,
                              size_t dim, refs_error *err) {
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%.*s is an aggregation of fragments along %.*s: combine along that dimension, too",
        REFS_STR_ARG(refs_intern_get(in->strings, array->path)),
        REFS_STR_ARG(refs_intern_get(in->strings, array->dims[dim])));
}

static bool is_concat(const refs_part_reader *in, const refs_combine_array *array, size_t dim,
                      size_t *concat) {
    return refs_combine__is_dim(in->combine, refs_intern_get(in->strings, array->dims[dim]),
                                concat);
}

static refs_status place_piece(const refs_part_reader *in, const refs_part_container *of,
                               uint64_t number, refs_combine_array *array, refs_error *err) {
    refs_partition at;
    size_t concat;
    if (!refs_set_fragments_get(of->fragments, number, &at))
        return refs_fail(err, REFS_CORRUPT, "%s: has no fragment %llu", of->meta->path,
                         (unsigned long long)number);
    for (size_t dim = 0; dim < array->rank; dim++) {
        const uint64_t n = at.end[dim] - at.begin[dim];
        const bool is_along = is_concat(in, array, dim, &concat);
        if (is_along) array->begin[concat] = at.begin[dim];
        if (!is_along && n != refs_set_fragments_length(of->fragments, dim))
            return fail_apart(in, array, dim, err);
        if (is_along && n != array->shape[dim])
            return refs_fail(err, REFS_CORRUPT,
                             "%s: fragment %llu has %llu elements along %.*s, and its array %llu",
                             of->meta->path, (unsigned long long)number, (unsigned long long)n,
                             REFS_STR_ARG(refs_intern_get(in->strings, array->dims[dim])),
                             (unsigned long long)array->shape[dim]);
    }
    return REFS_OK;
}

refs_status refs_part__read_piece(refs_part_reader *in, const refs_part_container *of,
                                  const refs_array_meta *meta, refs_error *err) {
    uint64_t number = 0;
    if (!fragment_number(of->meta, meta, &number)) return REFS_OK;
    REFS_TRY(refs_part__add_array(in, meta, err));
    refs_combine_array *array = &in->member->arrays[in->member->n_arrays - 1];
    array->gets_new = true;
    (void)describe_role(in, of->meta, array);
    REFS_TRY(place_piece(in, of, number, array, err));
    refs_status status = REFS_OK;
    if (!refs_combine__is_aggregated(in->combine))
        status = refs_part__pack_array(in, meta, array, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "%s", meta->path);
        return status;
    }
    return refs_part__request_small_values(in, meta, array, err);
}

void refs_part__count_steps_of_pieces(const refs_part_reader *in, size_t concat) {
    refs_combine_axis *axis = &in->member->axes[concat];
    for (size_t i = 0; i < in->member->n_arrays; i++) {
        const refs_combine_array *array = &in->member->arrays[i];
        size_t found;
        for (size_t dim = 0; array->is_piece && dim < array->rank; dim++) {
            if (!is_concat(in, array, dim, &found) || found != concat) continue;
            const uint64_t end = array->begin[concat] + array->shape[dim];
            if (axis->is_new || axis->n < end) axis->n = end;
            axis->is_new = false;
        }
    }
}
