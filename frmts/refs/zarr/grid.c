/* grid.c -- metadata that both versions have in common: shape, dimensions, fill value. */
#include "zarr_internal.h"

#include "refs/own_attributes.h"

/* Reads element `dim` of a list of sizes. */
static refs_status read_size(const refs_json *list, const char *name, size_t dim, uint64_t *size,
                             refs_error *err) {
    if (refs_json_u64(refs_json_at(list, dim), size)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s[%zu]: expected a size", name, dim);
}

static refs_status read_dimension(const refs_grid_lists *lists, size_t dim, refs_array_meta *meta,
                                  refs_error *err) {
    REFS_TRY(read_size(lists->shape, "shape", dim, &meta->shape[dim], err));
    REFS_TRY(read_size(lists->chunk, lists->chunk_name, dim, &meta->chunk[dim], err));
    /* Writers give empty dimensions chunks of 0. */
    if (meta->chunk[dim] == 0 && meta->shape[dim] == 0) meta->chunk[dim] = 1;
    if (meta->chunk[dim] > 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s[%zu] is 0, but shape[%zu] is %llu", lists->chunk_name,
                     dim, dim, (unsigned long long)meta->shape[dim]);
}

refs_status refs_zarr__read_grid(const refs_grid_lists *lists, refs_array_meta *meta,
                                 refs_error *err) {
    if (!refs_json_is_array(lists->shape))
        return refs_fail(err, REFS_INVALID, "shape: expected a list");
    if (!refs_json_is_array(lists->chunk))
        return refs_fail(err, REFS_INVALID, "%s: expected a list", lists->chunk_name);
    size_t rank = refs_json_size(lists->shape);
    if (rank != refs_json_size(lists->chunk))
        return refs_fail(err, REFS_INVALID, "shape has %zu numbers, but %s has %zu", rank,
                         lists->chunk_name, refs_json_size(lists->chunk));
    if (rank > REFS_MAX_RANK)
        return refs_fail(err, REFS_LIMIT, "the array has %zu dimensions: expected at most %d", rank,
                         REFS_MAX_RANK);
    meta->rank = rank;
    for (size_t dim = 0; dim < rank; dim++) REFS_TRY(read_dimension(lists, dim, meta, err));
    return REFS_OK;
}

/* -- names of dimensions ----------------------------------------------------------------------- */

/* Whether `names` has a name for each dimension; v3 allows null instead of a name. */
static bool names_fit(const refs_json *names, size_t rank, int zarr_format) {
    if (!refs_json_is_array(names) || refs_json_size(names) != rank) return false;
    for (size_t dim = 0; dim < rank; dim++) {
        const refs_json *name = refs_json_at(names, dim);
        bool unnamed = zarr_format == 3 && refs_json_kind_of(name) == REFS_JSON_KIND_NULL;
        if (!refs_json_is_string(name) && !unnamed) return false;
    }
    return true;
}

/* Writers of sets from HDF5 put the group before the name: "grp/lat". */
refs_status refs_zarr__read_dims(const refs_array_source *source, const refs_json *names,
                                 refs_array_meta *meta, refs_error *err) {
    bool given = refs_json_kind_of(names) != REFS_JSON_KIND_NULL;
    meta->named_dims = given && names_fit(names, meta->rank, meta->zarr_format);
    if (given && !meta->named_dims)
        refs_note(source->notes, REFS_NOTE_WARNING,
                  "%s: its dimension names are ignored: expected %zu strings", meta->path,
                  meta->rank);
    const char **dims = refs_zarr__arena_take(source->arena, meta->rank, sizeof *dims);
    if (dims == NULL) return refs_fail_nomem(err);
    for (size_t dim = 0; dim < meta->rank; dim++) {
        refs_str name = refs_path_last(refs_json_text(refs_json_at(names, dim)));
        dims[dim] = meta->named_dims && name.size > 0
                        ? name.data
                        : refs_zarr__arena_printf(source->arena, "dim%zu", dim);
        if (dims[dim] == NULL) return refs_fail_nomem(err);
    }
    meta->dims = dims;
    return REFS_OK;
}

refs_status refs_zarr__read_fill(const refs_array_source *source, refs_array_meta *meta,
                                 refs_error *err) {
    size_t size = meta->dtype.size;
    if (size > *source->fill_bytes)
        return refs_fail(err, REFS_LIMIT,
                         "elements of %zu bytes: the fill values of all arrays exceed their limit",
                         size);
    uint8_t *fill = refs_zarr__arena_take(source->arena, size, 1);
    if (fill == NULL) return refs_fail_nomem(err);
    *source->fill_bytes -= size;
    meta->fill = fill;
    /* Version 3 does not allow a fill value of null. */
    const refs_json *before = refs_json_get(source->document, REFS_V2_MEMBER);
    const refs_json *value = refs_json_get(source->document, "fill_value");
    meta->was_v2 = meta->zarr_format == 3 && refs_json_get(before, "dtype") != NULL;
    if (meta->was_v2 &&
        refs_json_kind_of(refs_json_get(before, "fill_value")) == REFS_JSON_KIND_NULL)
        value = NULL;
    if (!refs_json_bool(refs_json_get(source->document, REFS_UNFILLED_MEMBER), &meta->is_unfilled))
        (void)refs_json_bool(refs_json_get(before, REFS_UNFILLED_MEMBER), &meta->is_unfilled);
    bool is_text = refs_json_is_string(value) && meta->dtype.type == REFS_TYPE_OBJECT;
    meta->fill_text = is_text ? refs_json_text(value).data : "";
    return refs_fill_value_parse(value, &meta->dtype, fill, &meta->has_fill, err);
}
