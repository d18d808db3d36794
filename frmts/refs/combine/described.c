/* described.c -- describes the arrays of a part by their metadata. */
#include "part_reader.h"
#include "refs/cf.h"
#include "refs/own_attributes.h"
#include "refs/store.h"

static refs_status describe_meaning(refs_part_reader *in, const refs_array_meta *meta,
                                    refs_combine_array *array, refs_error *err) {
    REFS_TRY(refs_combine__describe_packing(in->strings, meta->attributes, &array->packing, err));
    array->unpacking = refs_combine__unpacking_of(meta);
    REFS_TRY(refs_combine__describe_range(in->strings, meta->attributes, &array->range, err));
    if (refs_combine__has_only_values(array) &&
        refs_combine__has_whole_range(array, refs_intern_get(in->strings, array->range)))
        REFS_TRY(refs_combine__describe_range(in->strings, NULL, &array->range, err));
    REFS_TRY(refs_part__number_attribute(in, meta, "units", &array->units, err));
    return refs_part__number_attribute(in, meta, "calendar", &array->calendar, err);
}

/* Whether netCDF-4 has hidden the name of a coordinate behind a prefix, because the file has a
 * dimension of that name without that coordinate. In the result it is the coordinate of the
 * dimension. */
static bool is_renamed(const refs_part_reader *in, const refs_array_meta *meta) {
    size_t concat;
    return meta->rank <= 1 && !refs_str_is(refs_path_last(refs_str_from(meta->path)), meta->name) &&
           refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat);
}

static refs_status number_path(refs_part_reader *in, const refs_array_meta *meta,
                               refs_combine_array *array, refs_error *err) {
    const refs_part_container *whole = refs_part__container_of(in, meta->path);
    const refs_str path = refs_part__relative(in, whole != NULL ? whole->meta->path : meta->path);
    if (whole != NULL || !is_renamed(in, meta))
        return refs_part__number_text(in, path, &array->path, err);
    const refs_str group = refs_path_folder(path);
    in->scratch.size = 0;
    REFS_TRY(refs_buf_printf(&in->scratch, err, "%.*s%s", REFS_STR_WHOLE(group), meta->name));
    return refs_part__number_scratch(in, &array->path, err);
}

static bool names(refs_str list, const char *coordinate) {
    refs_str word;
    while (refs_str_next_word(&list, REFS_BLANKS, &word))
        if (refs_str_is(word, coordinate)) return true;
    return false;
}

/* Whether the name of a coordinate is that of another array in the group of a variable. */
static bool is_others(const refs_part_reader *in, const refs_array_meta *variable,
                      const refs_array_meta *meta) {
    const refs_array_meta *found =
        refs_hierarchy_resolve(in->source.hierarchy, variable->group, refs_str_from(meta->name));
    return found != NULL && found != meta;
}

static refs_combine_coordinate coordinate_of(const refs_array_meta *meta) {
    const refs_str name = refs_json_text(refs_json_get(meta->attributes, "standard_name"));
    const refs_cf_units units = refs_cf_units_of(meta->attributes);
    refs_cf_clock clock;
    if (meta->status != REFS_OK) return REFS_COMBINE_COORDINATE_OTHER;
    if (refs_cf_clock_of(&units, &clock))
        return refs_str_is(name, "time") ? REFS_COMBINE_COORDINATE_VALID_TIME
               : refs_str_is(name, "forecast_reference_time")
                   ? REFS_COMBINE_COORDINATE_REFERENCE_TIME
                   : REFS_COMBINE_COORDINATE_TIME;
    if (refs_str_is(name, "forecast_period")) return REFS_COMBINE_COORDINATE_LEAD_TIME;
    if (refs_str_is(name, "realization")) return REFS_COMBINE_COORDINATE_MEMBER;
    return meta->rank <= 1 && refs_cf_axis_kind_of(meta) == REFS_CF_AXIS_Z
               ? REFS_COMBINE_COORDINATE_LEVEL
               : REFS_COMBINE_COORDINATE_OTHER;
}

/* Lists the coordinates of a variable, which are mostly those of the previous one. */
static refs_status list_named_by(refs_part_reader *in, const refs_array_meta *meta,
                                 uint32_t *named_by, refs_error *err) {
    refs_str before = {"", 0};
    bool is_named = false;
    in->scratch.size = 0;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *variable = refs_hierarchy_array(in->source.hierarchy, i);
        const refs_str list = refs_json_text(refs_json_get(variable->attributes, "coordinates"));
        if (!refs_str_equal(list, before)) is_named = names(list, meta->name);
        before = list;
        if (!is_named || is_others(in, variable, meta)) continue;
        const refs_str path = refs_part__relative(in, variable->path);
        REFS_TRY(refs_buf_append_text(&in->scratch, path, err));
    }
    return in->scratch.size > 0 ? refs_part__number_scratch(in, named_by, err) : REFS_OK;
}

/* Records the kind of a coordinate, and its variables. */
static refs_status describe_coordinate(refs_part_reader *in, const refs_array_meta *meta,
                                       refs_combine_array *array, refs_error *err) {
    array->coordinate = coordinate_of(meta);
    array->named_by = REFS_COMBINE_NONE;
    if (array->coordinate != REFS_COMBINE_COORDINATE_OTHER)
        REFS_TRY(list_named_by(in, meta, &array->named_by, err));
    return refs_part__number_text(in, refs_str_from(meta->name), &array->name, err);
}

static refs_status set_shape(refs_part_reader *in, const refs_array_meta *meta,
                             refs_combine_array *array, refs_error *err) {
    array->rank = meta->rank;
    array->shape = refs_calloc(meta->rank + 1, 3 * sizeof *array->shape);
    array->dims = refs_calloc(meta->rank + 1, sizeof *array->dims);
    if (array->shape == NULL || array->dims == NULL) return refs_fail_nomem(err);
    array->chunk = array->shape + meta->rank;
    array->n = array->chunk + meta->rank;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        array->shape[dim] = meta->shape[dim];
        array->chunk[dim] = meta->chunk[dim];
        REFS_TRY(
            refs_part__number_text(in, refs_str_from(meta->dims[dim]), &array->dims[dim], err));
    }
    refs_array_meta_n_keys(meta, array->n);
    REFS_TRY(refs_part__cut_shape(in, meta, array, err));
    const bool was_v3 = meta->zarr_format == 3 && !array->is_v3;
    array->separator = was_v3 ? '.' : meta->separator;
    array->part_separator = meta->separator;
    const refs_part_container *whole = refs_part__container_of(in, meta->path);
    const char *path = whole != NULL ? whole->meta->path : meta->path;
    REFS_TRY(refs_part__number_text(in, refs_str_from(meta->key_prefix), &array->part_prefix, err));
    if (was_v3 || is_renamed(in, meta)) {
        in->scratch.size = 0;
        REFS_TRY(refs_buf_printf(&in->scratch, err, "%.*s/",
                                 REFS_STR_WHOLE(refs_intern_get(in->strings, array->path))));
        return refs_part__number_scratch(in, &array->prefix, err);
    }
    return refs_part__number_text(
        in, refs_str_from(meta->key_prefix + refs_part__size_of_group(in, path) - 1),
        &array->prefix, err);
}

refs_status refs_part__number_json(refs_part_reader *in, const refs_json *value, uint32_t *id,
                                   refs_error *err) {
    if (value == NULL) return REFS_OK;
    in->scratch.size = 0;
    REFS_TRY(refs_json_write(value, &in->scratch, err));
    return refs_part__number_scratch(in, id, err);
}

/* Restores the members of version 2 from before a repository held the array (write.h). */
static refs_status restore_members(refs_part_reader *in, uint32_t document, refs_buf *v2,
                                   refs_error *err) {
    static const char *const others[] = {"must_understand", REFS_SEAL_MEMBER, "_FillValue",
                                         "missing_value", NULL};
    const char *pairs[2 * REFS_COMBINE_MAX_MEMBERS + 1] = {NULL};
    refs_buf values[REFS_COMBINE_MAX_MEMBERS] = {REFS_BUF_INIT};
    refs_json_doc *doc;
    size_t n = 0;
    REFS_TRY(refs_json_parse(refs_intern_get(in->strings, document), &doc, err));
    const refs_json *members = refs_json_get(refs_json_root(doc), REFS_V2_MEMBER);
    refs_status status = REFS_OK;
    for (size_t i = 0; i < refs_json_size(members) && status == REFS_OK; i++) {
        const refs_str name = refs_json_name_at(members, i);
        if (refs_str_is_among(name, others)) continue;
        if (n == REFS_COMBINE_MAX_MEMBERS) {
            status = refs_fail(err, REFS_LIMIT,
                               "expected at most %d members of \"" REFS_V2_MEMBER "\", found more",
                               REFS_COMBINE_MAX_MEMBERS);
            break;
        }
        status = refs_json_write(refs_json_at(members, i), &values[n], err);
        if (status == REFS_OK) status = refs_buf_append(&values[n], "", 1, err);
        pairs[2 * n] = name.data;
        pairs[2 * n + 1] = (const char *)values[n].data;
        n++;
    }
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (status == REFS_OK && n > 0)
        status = refs_combine__replace(refs_buf_text(v2), pairs, &text, err);
    if (status == REFS_OK && n > 0) {
        v2->size = 0;
        status = refs_buf_append(v2, text.data, text.size, err);
    }
    for (size_t i = 0; i < n; i++) refs_buf_clear(&values[i]);
    refs_json_doc_free(doc);
    return status;
}

/* Converts metadata to version 2, which results have; masters have no version. */
static refs_status take_version_3(refs_part_reader *in, const refs_array_meta *meta,
                                  refs_combine_array *array, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    if (in->keeps_version) return REFS_OK;
    in->scratch.size = 0;
    refs_status status = refs_combine__write_v2(meta, &in->scratch, &problem);
    if (status == REFS_OK) status = restore_members(in, array->document, &in->scratch, &problem);
    if (status == REFS_UNSUPPORTED)
        REFS_TRY(refs_part__number_text(in, refs_str_from(problem.message), &array->problem, err));
    else if (status != REFS_OK)
        return refs_fail(err, status, "%s: %s", meta->path, problem.message);
    else
        REFS_TRY(refs_part__number_scratch(in, &array->document, err));
    if (status == REFS_UNSUPPORTED && !refs_combine__is_of_fields(in->combine)) return REFS_OK;
    array->is_v3 = status == REFS_UNSUPPORTED;
    if (!meta->named_dims && refs_json_size(meta->attributes) == 0) return REFS_OK;
    in->scratch.size = 0;
    REFS_TRY(refs_combine__write_v2_attributes(meta, &in->scratch, err));
    return refs_part__number_scratch(in, &array->attributes, err);
}

/* Reads recorded holes, and the fill value from before there were any. */
static refs_status read_holes(refs_part_reader *in, const refs_array_meta *meta,
                              const refs_json *document, refs_combine_array *array,
                              refs_error *err) {
    REFS_TRY(refs_combine__read_holes(in->combine, in->strings, document, array, err));
    refs_combine_holes *holes = array->holes;
    if (holes == NULL) return REFS_OK;
    refs_array_meta before = *meta;
    before.has_fill = holes->has_fill;
    before.fill = holes->fill;
    holes->keeps_default = refs_cf_keeps_default_fill(&before);
    holes->has_nodata = holes->adds_fill ? meta->dtype.size == 1 && refs_cf_fill_is_chosen(&before)
                                         : array->has_nodata;
    if (refs_part__cuts_of(in) == NULL) return REFS_OK;
    const size_t n_before = holes->n;
    refs_part__cut_holes(in, meta, holes);
    /* along several dimensions, no recorded holes mean that they are unknown */
    if (n_before > 0 && holes->n == 0 && holes->n_along > 1) {
        refs_combine__holes_free(holes);
        array->holes = NULL;
    }
    return REFS_OK;
}

/* Whether netCDF's default fill value is a value. Arrays with dimension names follow netCDF's
 * rules; a scalar has no names, and follows those of the arrays that it becomes an element of. */
static bool keeps_default(const refs_array_meta *meta) {
    const bool is_bare =
        meta->rank == 0 && !meta->has_fill && !meta->is_unfilled && meta->dtype.size > 1;
    return !is_bare && refs_cf_keeps_default_fill(meta);
}

/* Finds missing values: masters have a fill value even if their fragments have the attribute
 * missing_value or nothing. */
static refs_status find_missing_value(const refs_array_meta *meta, refs_combine_array *array,
                                      refs_error *err) {
    const refs_json *value = NULL;
    if (array->declares_fill)
        memcpy(array->missing_value, array->declared, sizeof array->declared);
    else
        REFS_TRY(refs_cf_read_missing(meta, array->missing_value, &value, err));
    array->has_missing_value =
        array->declares_fill || value != NULL ||
        (!array->keeps_default && refs_cf_default_fill(&meta->dtype, array->missing_value));
    return REFS_OK;
}

/* Reads what the document of an array says to programs that combine it. */
static refs_status read_document(refs_part_reader *in, const refs_array_meta *meta,
                                 refs_combine_array *array, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(refs_intern_get(in->strings, array->document), &doc, err));
    const refs_json *document = refs_json_root(doc);
    REFS_TRY(refs_combine__describe_layout(in->strings, document, &array->layout, err));
    if (array->is_v3 || refs_combine__is_of_fields(in->combine)) return REFS_OK;
    REFS_TRY(refs_combine__read_hole_dims(in->strings, document, array, err));
    if (in->combine->n_dims == 0 || refs_combine__is_of_coordinates(in->combine)) return REFS_OK;
    return read_holes(in, meta, document, array, err);
}

/* Describes an array with attributes that were `added` to those of its own document; NULL: none
 * were. */
static refs_status add_described(refs_part_reader *in, const refs_array_meta *meta,
                                 const refs_json_doc *added, refs_error *err) {
    refs_combine_member *member = in->member;
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    REFS_GROW(member->arrays, member->array_capacity, member->n_arrays, err);
    refs_combine_array *array = &member->arrays[member->n_arrays++];
    refs_str own = refs_str_part(refs_str_from(meta->path), 1, SIZE_MAX);
    *array = (refs_combine_array){.number = REFS_COMBINE_NONE,
                                  .bounded = REFS_COMBINE_NONE,
                                  .values = REFS_COMBINE_NONE,
                                  .missing = REFS_COMBINE_NONE,
                                  .invalid = REFS_COMBINE_NONE,
                                  .digest = REFS_COMBINE_NONE,
                                  .hole_dims = REFS_COMBINE_NONE,
                                  .whole = REFS_COMBINE_NONE,
                                  .problem = REFS_COMBINE_NONE,
                                  .dtype = meta->dtype};
    array->is_v3 = meta->zarr_format == 3;
    array->has_fill = meta->has_fill && meta->dtype.size <= sizeof array->fill;
    if (array->has_fill) memcpy(array->fill, meta->fill, meta->dtype.size);
    array->declares_fill = meta->dtype.size <= sizeof array->declared &&
                           refs_cf_declared_fill(in->source.hierarchy, meta, array->declared);
    array->has_nodata =
        refs_json_get(meta->attributes, "_FillValue") != NULL || refs_cf_has_missing_value(meta) ||
        (meta->dtype.size == 1 && meta->aggregation == NULL && refs_cf_fill_is_chosen(meta));
    array->keeps_default = keeps_default(meta);
    REFS_TRY(find_missing_value(meta, array, err));
    const refs_part_container *whole = refs_part__container_of(in, meta->path);
    REFS_TRY(number_path(in, meta, array, err));
    REFS_TRY(describe_coordinate(in, meta, array, err));
    REFS_TRY(refs_part__number_document(in, own, array->is_v3 ? "zarr.json" : ".zarray",
                                        &array->document, err));
    if (array->document == REFS_COMBINE_NONE)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: its metadata are only in .zmetadata",
                         meta->path);
    array->attributes = REFS_COMBINE_NONE;
    if (added != NULL)
        REFS_TRY(refs_part__number_json(in, meta->attributes, &array->attributes, err));
    else if (!array->is_v3)
        REFS_TRY(refs_part__number_document(in, own, ".zattrs", &array->attributes, err));
    if (array->is_v3) REFS_TRY(take_version_3(in, meta, array, err));
    array->whole = array->attributes;
    array->is_piece = whole != NULL;
    if (whole != NULL) array->whole = whole->attributes;
    REFS_TRY(refs_combine__describe_flags(
        in->strings, whole != NULL ? whole->meta->attributes : meta->attributes, &array->flags,
        err));
    REFS_TRY(set_shape(in, meta, array, err));
    REFS_TRY(describe_meaning(in, meta, array, err));
    return read_document(in, meta, array, err);
}

static bool has_undeclared_number(const refs_array_meta *meta) {
    const bool is_number = meta->dtype.type == REFS_TYPE_INT ||
                           meta->dtype.type == REFS_TYPE_UINT ||
                           meta->dtype.type == REFS_TYPE_FLOAT;
    return meta->status == REFS_OK && meta->zarr_format == 2 && meta->aggregation == NULL &&
           is_number && meta->has_fill && refs_json_get(meta->attributes, "_FillValue") == NULL;
}

/* Whether to infer if a fill value of zero, or netCDF's default for bytes, was declared by the
 * file. The other arrays of the set show that, but the result may lack them. If attributes declare
 * fill values, the set's writer has moved all of them into the metadata. */
static bool infers_fill(const refs_part_reader *in, const refs_array_meta *meta) {
    static const uint8_t zero[sizeof(double)] = {0};
    if (!has_undeclared_number(meta)) return false;
    const bool is_declared = refs_cf_fill_is_declared(in->source.hierarchy, meta),
               is_usual = refs_cf_is_default_fill(&meta->dtype, meta->fill);
    if (in->combine->options.fills == REFS_COMBINE_FILLS_DECLARED)
        return !refs_hierarchy_keeps_attributes(in->source.hierarchy) &&
               (is_declared || (is_usual && !refs_cf_keeps_default_fill(meta)));
    return !refs_combine__copies(in->combine) && is_declared &&
           (is_usual || memcmp(meta->fill, zero, meta->dtype.size) == 0);
}

static refs_status write_with_fill(const refs_array_meta *meta, refs_buf *text, refs_error *err) {
    const refs_json *attributes = meta->attributes;
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(attributes); i++)
        REFS_TRY(refs_json_write_member(refs_json_name_at(attributes, i),
                                        refs_json_at(attributes, i), text, err));
    REFS_TRY(refs_json_write_name(refs_str_from("_FillValue"), text, err));
    REFS_TRY(refs_combine__write_fill_number(meta, text, err));
    return refs_buf_append(text, "}", 1, err);
}

refs_status refs_part__add_array(refs_part_reader *in, const refs_array_meta *meta,
                                 refs_error *err) {
    refs_array_meta described = *meta;
    REFS_SCOPED_JSON *added = NULL;
    if (!infers_fill(in, meta)) return add_described(in, meta, NULL, err);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(write_with_fill(meta, &text, err));
    REFS_TRY(refs_json_parse(refs_buf_text(&text), &added, err));
    described.attributes = refs_json_root(added);
    return add_described(in, &described, added, err);
}
