/* contents.c -- reads a part: its documents and arrays, and for combining its references and small
 * values. */
#include "combine_internal.h"
#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cf.h"
#include "refs/cfa/cfa.h"
#include "refs/own_attributes.h"
#include "refs/store.h"

/* Most strings of one array. */
#define MAX_TEXTS 100000000

/* An aggregation whose fragments are in the part. */
typedef struct container {
    const refs_array_meta *meta;
    refs_set_fragments *fragments;
    uint32_t attributes; /* attributes of the aggregation; or NONE */
} container;

typedef struct reader {
    refs_combine *combine;
    const refs_combine_part *part;
    refs_combine_member *member;
    refs_intern *strings;
    refs_combine_source source;
    refs_buf group;     /* the selected group, with a slash before and after it; or "/" */
    refs_intern wanted; /* paths of the selected arrays; empty: all */
    refs_intern urls;
    refs_buf scratch;
    container *containers;
    size_t n_containers, container_capacity;
    struct wanted_values *values;
    size_t n_values, value_capacity;
    struct refs_aggregations *aggregations;
    refs_intern fields; /* paths of the arrays that make up fields */
    size_t most_dims;   /* of a field */
} reader;

/* -- strings ----------------------------------------------------------------------------------- */

static refs_status number_text(reader *in, refs_str text, uint32_t *id, refs_error *err) {
    return refs_intern_add(in->strings, text, id, err);
}

static refs_status number_scratch(reader *in, uint32_t *id, refs_error *err) {
    return number_text(in, refs_str_view((const char *)in->scratch.data, in->scratch.size), id,
                       err);
}

/* The document under `folder` and `name`; NONE where there is none. */
static refs_status number_document(reader *in, refs_str folder, const char *name, uint32_t *id,
                                   refs_error *err) {
    refs_buf key = REFS_BUF_INIT;
    *id = REFS_COMBINE_NONE;
    in->scratch.size = 0;
    refs_status status = refs_buf_append_str(&key, folder, err);
    if (status == REFS_OK && folder.size > 0) status = refs_buf_append(&key, "/", 1, err);
    if (status == REFS_OK) status = refs_buf_append_str(&key, refs_str_from(name), err);
    if (status == REFS_OK)
        status = refs_store_get(in->source.store, refs_str_view((const char *)key.data, key.size),
                                REFS_MAX_METADATA_BYTES, &in->scratch, err);
    refs_buf_clear(&key);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    REFS_TRY(status);
    return number_scratch(in, id, err);
}

static refs_status number_attribute(reader *in, const refs_array_meta *meta, const char *name,
                                    uint32_t *id, refs_error *err) {
    refs_str text = refs_cf_attribute_text(meta->attributes, name);
    *id = REFS_COMBINE_NONE;
    return text.data != NULL ? number_text(in, text, id, err) : REFS_OK;
}

/* -- which arrays ------------------------------------------------------------------------------ */

static bool is_in_group(const reader *in, const char *path) {
    return refs_str_starts(refs_str_from(path), (const char *)in->group.data);
}

/* A path relative to the selected group. An array above the group is put into it: its path is
 * relative to its own group. */
static size_t size_of_group(const reader *in, const char *path) {
    return is_in_group(in, path) ? in->group.size
                                 : refs_str_find_last(refs_str_from(path), '/') + 1;
}

static refs_str relative(const reader *in, const char *path) {
    return refs_str_part(refs_str_from(path), size_of_group(in, path), SIZE_MAX);
}

/* Whether the array's name, resolved from the selected group, is this array (CF-1.11, section 2.7).
 */
static bool is_seen(const reader *in, const refs_array_meta *meta) {
    char *group = refs_str_copy(refs_str_view((const char *)in->group.data, in->group.size - 1));
    bool is = group != NULL && refs_hierarchy_resolve(in->source.hierarchy, group,
                                                      refs_str_from(meta->name)) == meta;
    refs_free(group);
    return is;
}

static bool is_wanted(const reader *in, const refs_array_meta *meta) {
    if (in->wanted.count == 0) return is_in_group(in, meta->path);
    return refs_intern_find(&in->wanted, refs_str_from(meta->path)) != REFS_INTERN_NONE &&
           (is_in_group(in, meta->path) || is_seen(in, meta));
}

static refs_status want(reader *in, const refs_array_meta *meta, refs_error *err) {
    uint32_t id;
    return meta != NULL ? refs_intern_add(&in->wanted, refs_str_from(meta->path), &id, err)
                        : REFS_OK;
}

/* Selects the variables that the words of an attribute name. */
static refs_status want_words(reader *in, const refs_array_meta *meta, const char *attribute,
                              refs_error *err) {
    refs_str text = refs_cf_attribute_text(meta->attributes, attribute);
    while (text.data != NULL && text.size > 0) {
        size_t blank = refs_str_find(text, ' ');
        refs_str word = refs_str_part(text, 0, blank);
        text = refs_str_part(text, word.size + 1, text.size);
        if (word.size > 0)
            REFS_TRY(
                want(in, refs_hierarchy_resolve(in->source.hierarchy, meta->group, word), err));
    }
    return REFS_OK;
}

/* Adds the documents that describe an array. */
static refs_status want_others(reader *in, const refs_array_meta *meta, refs_error *err) {
    static const char *const attributes[] = {"coordinates", "bounds", "climatology",
                                             "grid_mapping"};
    for (size_t dim = 0; meta->status == REFS_OK && dim < meta->rank; dim++)
        REFS_TRY(want(in,
                      refs_hierarchy_resolve(in->source.hierarchy, meta->group,
                                             refs_str_from(meta->dims[dim])),
                      err));
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        REFS_TRY(want_words(in, meta, attributes[i], err));
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *other = refs_hierarchy_array(in->source.hierarchy, i);
        if (refs_combine__is_part_of(meta, other->path)) REFS_TRY(want(in, other, err));
    }
    return REFS_OK;
}

/* Most arrays that a message names. */
#define MAX_NAMED 20

static refs_status fail_without(const reader *in, const char *name, refs_error *err) {
    const size_t n = refs_hierarchy_n_arrays(in->source.hierarchy);
    const refs_str group = refs_str_view((const char *)in->group.data, in->group.size);
    refs_buf there = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0, named = 0; i < n && named <= MAX_NAMED && status == REFS_OK; i++) {
        const refs_str path = refs_str_from(refs_hierarchy_array(in->source.hierarchy, i)->path);
        if (!refs_str_starts(path, (const char *)in->group.data)) continue;
        const refs_str rest = refs_str_part(path, group.size, path.size);
        const refs_str shown = named < MAX_NAMED ? rest : refs_str_from("others");
        status = refs_buf_printf(&there, err, "%s%.*s",
                                 named++ > 0 ? ", " : "; there are: ", REFS_STR_ARG(shown));
    }
    if (status == REFS_OK)
        status = refs_fail(err, REFS_NOT_FOUND, "there is no array \"%s\"%.*s", name,
                           (int)there.size, (const char *)there.data);
    refs_buf_clear(&there);
    return status;
}

/* Selects all arrays of the group. Variables that describe them may lie in groups above. */
static refs_status want_group(reader *in, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        if (is_in_group(in, meta->path)) REFS_TRY(want(in, meta, err));
    }
    return REFS_OK;
}

/* A set that grows has only the variables that were selected before. */
static const char *const *variables_of(const reader *in) {
    return in->part->values_from != REFS_COMBINE_FROM_NAME ? NULL : in->combine->options.variables;
}

static refs_status choose(reader *in, refs_error *err) {
    const char *const *names = variables_of(in);
    for (; names != NULL && *names != NULL; names++) {
        refs_buf path = REFS_BUF_INIT;
        REFS_TRY(refs_buf_printf(&path, err, "%s%s", (const char *)in->group.data, *names));
        const refs_array_meta *meta = refs_hierarchy_find_array(
            in->source.hierarchy, refs_str_view((const char *)path.data, path.size));
        refs_buf_clear(&path);
        if (meta == NULL)
            meta = refs_hierarchy_find_array(in->source.hierarchy, refs_str_from(*names));
        if (meta != NULL && !is_in_group(in, meta->path)) meta = NULL;
        if (meta == NULL) return fail_without(in, *names, err);
        if (meta->status != REFS_OK)
            return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
        REFS_TRY(want(in, meta, err));
    }
    if (in->wanted.count == 0 && in->group.size > 1) REFS_TRY(want_group(in, err));
    for (uint32_t i = 0; i < in->wanted.count; i++)
        REFS_TRY(want_others(
            in, refs_hierarchy_find_array(in->source.hierarchy, refs_intern_get(&in->wanted, i)),
            err));
    return REFS_OK;
}

/* -- documents --------------------------------------------------------------------------------- */

/* The container of the aggregation that an array or a group belongs to, or NULL. Copied
 * aggregations stay as they are. */
static const container *container_of(const reader *in, const char *path) {
    for (size_t i = 0; i < in->n_containers; i++)
        if (refs_combine__is_part_of(in->containers[i].meta, path)) return &in->containers[i];
    return NULL;
}

/* A group without the slash that paths begin with. */
static bool is_of_fragments(reader *in, refs_str group) {
    in->scratch.size = 0;
    if (in->n_containers == 0 ||
        refs_buf_printf(&in->scratch, NULL, "/%.*s/", REFS_STR_WHOLE(group)) != REFS_OK)
        return false;
    return container_of(in, (const char *)in->scratch.data) != NULL;
}

/* Whether aggregations are described as the arrays that they stand for: where parts are fields, and
 * in a master. */
static bool sees_aggregations(const reader *in) {
    return refs_combine__is_of_fields(in->combine) || in->member->role == REFS_COMBINE_IS_MASTER;
}

/* Groups that only hold the instructions of aggregations are not groups of the result. */
static bool is_of_instructions(const reader *in, refs_str folder) {
    const refs_group_meta *group =
        sees_aggregations(in) ? refs_hierarchy_find_group(in->source.hierarchy, folder) : NULL;
    return group != NULL && group->is_instruction;
}

/* Adds the document in scratch. */
static refs_status keep_document(reader *in, refs_str key, refs_error *err) {
    refs_combine_member *member = in->member;
    if (!refs_grow((void **)&member->documents, &member->document_capacity, member->n_documents,
                   sizeof *member->documents))
        return refs_fail_nomem(err);
    refs_combine_document *document = &member->documents[member->n_documents];
    REFS_TRY(number_scratch(in, &document->text, err));
    REFS_TRY(number_text(in, key, &document->key, err));
    member->n_documents++;
    return REFS_OK;
}

static refs_status keep_named_document(reader *in, refs_str folder, const char *name,
                                       refs_error *err) {
    refs_buf key = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&key, err, "%.*s%s", REFS_STR_WHOLE(folder), name);
    if (status == REFS_OK)
        status = keep_document(in, refs_str_view((const char *)key.data, key.size), err);
    refs_buf_clear(&key);
    return status;
}

/* Adds the document of a group as those of version 2; `key` is that of "zarr.json" in the selected
 * group. */
static refs_status add_group_of_version_3(reader *in, refs_str path, refs_str key,
                                          refs_error *err) {
    const refs_group_meta *group = refs_hierarchy_find_group(in->source.hierarchy, path);
    const refs_str folder = refs_str_part(key, 0, key.size - strlen("zarr.json"));
    in->scratch.size = 0;
    REFS_TRY(refs_buf_printf(&in->scratch, err, "{\"zarr_format\":2}"));
    REFS_TRY(keep_named_document(in, folder, ".zgroup", err));
    if (group == NULL || refs_json_size(group->attributes) == 0) return REFS_OK;
    in->scratch.size = 0;
    REFS_TRY(refs_json_write(group->attributes, &in->scratch, err));
    return keep_named_document(in, folder, ".zattrs", err);
}

static refs_status add_document(reader *in, refs_str key, refs_error *err) {
    size_t slash = refs_str_find_last(key, '/');
    refs_str folder = refs_str_part(key, 0, slash == SIZE_MAX ? 0 : slash);
    refs_str name = refs_str_part(key, slash == SIZE_MAX ? 0 : slash + 1, key.size);
    refs_str group = refs_str_view((const char *)in->group.data + 1, in->group.size - 1);
    if (is_of_fragments(in, folder) || is_of_instructions(in, folder)) return REFS_OK;
    bool is_known = refs_str_is(name, ".zgroup") || refs_str_is(name, ".zattrs") ||
                    refs_str_is(name, "zarr.json");
    if (!is_known || refs_hierarchy_find_array(in->source.hierarchy, folder) != NULL)
        return REFS_OK;
    if (key.size < group.size || (group.size > 0 && memcmp(key.data, group.data, group.size) != 0))
        return REFS_OK;
    const refs_str inside = refs_str_part(key, group.size, key.size);
    if (refs_str_is(name, "zarr.json") && !refs_combine__copies(in->combine))
        return add_group_of_version_3(in, folder, inside, err);
    in->scratch.size = 0;
    REFS_TRY(refs_store_get(in->source.store, key, REFS_MAX_METADATA_BYTES, &in->scratch, err));
    return keep_document(in, inside, err);
}

static refs_status visit_name(void *user, refs_str key, refs_error *err) {
    return add_document(user, key, err);
}

/* -- arrays ------------------------------------------------------------------------------------ */

static refs_status describe_layout(reader *in, refs_combine_array *array, refs_error *err) {
    return refs_combine__describe_layout(in->strings, refs_intern_get(in->strings, array->document),
                                         &array->layout, err);
}

static refs_status describe_meaning(reader *in, const refs_array_meta *meta,
                                    refs_combine_array *array, refs_error *err) {
    REFS_TRY(describe_layout(in, array, err));
    REFS_TRY(refs_combine__describe_packing(in->strings, meta->attributes, &array->packing, err));
    array->unpacking = refs_combine__unpacking_of(meta);
    REFS_TRY(refs_combine__describe_range(in->strings, meta->attributes, &array->range, err));
    if (refs_combine__has_only_values(array) &&
        refs_combine__has_whole_range(array, refs_intern_get(in->strings, array->range)))
        REFS_TRY(refs_combine__describe_range(in->strings, NULL, &array->range, err));
    REFS_TRY(number_attribute(in, meta, "units", &array->units, err));
    REFS_TRY(number_attribute(in, meta, "calendar", &array->calendar, err));
    REFS_TRY(number_attribute(in, meta, "bounds", &array->bounds, err));
    return array->bounds != REFS_COMBINE_NONE
               ? REFS_OK
               : number_attribute(in, meta, "climatology", &array->bounds, err);
}

static uint64_t n_chunks(const refs_array_meta *meta, size_t dim) {
    uint64_t n = 0;
    if (meta->edges == NULL) return refs_array_meta_n_chunks(meta, dim);
    for (size_t i = 0; i < meta->edges[dim].n_runs; i++) n += meta->edges[dim].runs[i].count;
    return n;
}

void refs_combine_n_keys(const refs_array_meta *meta, uint64_t *n) {
    for (size_t dim = 0; dim < meta->rank; dim++) {
        uint64_t per_key = meta->shard != NULL ? meta->shard->n[dim] : 1;
        n[dim] = (n_chunks(meta, dim) + per_key - 1) / per_key;
        if (meta->first_chunk != NULL) n[dim] += meta->first_chunk[dim];
    }
}

/* -- cuts -------------------------------------------------------------------------------------- */

static const refs_combine_cut *cuts_of(const reader *in) {
    const refs_combine_cut *const *cuts = in->combine->options.cuts;
    return cuts != NULL ? cuts[in->part->number] : NULL;
}

/* The cut along a dimension, or NULL: none. Dimensions of other groups may have the same name. */
static const refs_combine_cut *find_cut(const reader *in, const refs_array_meta *meta, size_t dim) {
    const refs_combine_cut *cut = cuts_of(in);
    if (cut == NULL || cut->dim == NULL) return NULL;
    const refs_str name = refs_combine__own_name(refs_str_from(meta->dims[dim]));
    const refs_array_meta *coordinate =
        refs_hierarchy_resolve(in->source.hierarchy, meta->group, name);
    const char *path = coordinate != NULL ? coordinate->path : "";
    for (; cut->dim != NULL; cut++)
        if (refs_str_is(name, cut->dim) && strcmp(path, cut->coordinate) == 0) return cut;
    return NULL;
}

/* Elements along a dimension that are stored under one key. */
static uint64_t key_size(const refs_array_meta *meta, size_t dim) {
    return meta->chunk[dim] * (meta->shard != NULL ? meta->shard->n[dim] : 1);
}

/* The first dimension along which a cut divides a chunk, or the rank: none. */
static size_t find_cut_through(const reader *in, const refs_array_meta *meta) {
    size_t dim = 0;
    for (; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = find_cut(in, meta, dim);
        if (cut == NULL) continue;
        const uint64_t size = key_size(meta, dim), end = cut->first + cut->n;
        if (cut->first % size != 0 || (end % size != 0 && end != cut->size)) break;
    }
    return dim;
}

static refs_status fail_cut_through(const reader *in, const refs_array_meta *meta,
                                    refs_error *err) {
    const size_t dim = find_cut_through(in, meta);
    const refs_combine_cut *cut = find_cut(in, meta, dim);
    const uint64_t size = key_size(meta, dim), last = cut->first + cut->n - 1;
    const uint64_t end = (last / size + 1) * size;
    return refs_fail(err, REFS_INVALID,
                     "chunks have %llu indices along %s: expected whole chunks, found indices %llu "
                     "to %llu; select [%s=#%llu:#%llu]",
                     (unsigned long long)size, cut->dim, (unsigned long long)cut->first,
                     (unsigned long long)last, cut->dim,
                     (unsigned long long)(cut->first / size * size),
                     (unsigned long long)((end < cut->size ? end : cut->size) - 1));
}

/* Fragments, and arrays with a rectilinear grid, cannot be cut. */
static refs_status cut_shape(const reader *in, const refs_array_meta *meta,
                             refs_combine_array *array, refs_error *err) {
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = find_cut(in, meta, dim);
        if (cut == NULL) continue;
        if (meta->edges != NULL || meta->first_chunk != NULL || in->n_containers > 0)
            return refs_fail(err, REFS_INVALID,
                             "%s: an aggregation, or an array with chunks of several sizes, cannot "
                             "be cut along %s: leave the selection out",
                             meta->path, cut->dim);
        if (meta->shape[dim] != cut->size)
            return refs_fail(
                err, REFS_INVALID,
                "%s: expected %llu indices along %s, as for the selected variable, found %llu",
                meta->path, (unsigned long long)cut->size, cut->dim,
                (unsigned long long)meta->shape[dim]);
        array->shape[dim] = cut->n;
        array->n[dim] = (cut->n - 1) / key_size(meta, dim) + 1;
        array->has_inline =
            true; /* a small array is stored as values, so a cut may divide chunks */
    }
    return REFS_OK;
}

/* The values inside the cuts. */
static refs_status cut_values(const reader *in, const refs_array_meta *meta, refs_bytes values,
                              refs_buf *kept, refs_error *err) {
    uint64_t index[REFS_MAX_RANK] = {0}, first[REFS_MAX_RANK], n[REFS_MAX_RANK], total = 1;
    uint64_t n_values = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = find_cut(in, meta, dim);
        first[dim] = cut != NULL ? cut->first : 0;
        n[dim] = cut != NULL ? cut->n : meta->shape[dim];
        total *= n[dim];
        n_values *= meta->shape[dim];
    }
    const size_t size = n_values > 0 ? (size_t)(values.size / n_values) : 0;
    for (uint64_t i = 0; i < total; i++) {
        uint64_t place = 0;
        for (size_t dim = 0; dim < meta->rank; dim++)
            place = place * meta->shape[dim] + first[dim] + index[dim];
        REFS_TRY(refs_buf_append(kept, values.data + place * size, size, err));
        for (size_t dim = meta->rank; dim-- > 0; index[dim] = 0)
            if (++index[dim] < n[dim]) break;
    }
    return REFS_OK;
}

/* Whether netCDF-4 hides the name of a coordinate behind a prefix, since the file has a dimension
 * of that name without it: along that dimension of the result it is the coordinate. */
static bool is_renamed(const reader *in, const refs_array_meta *meta) {
    size_t concat;
    return meta->rank <= 1 &&
           !refs_str_is(refs_combine__own_name(refs_str_from(meta->path)), meta->name) &&
           refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat);
}

static refs_status number_path(reader *in, const refs_array_meta *meta, refs_combine_array *array,
                               refs_error *err) {
    const container *whole = container_of(in, meta->path);
    const refs_str path = relative(in, whole != NULL ? whole->meta->path : meta->path);
    if (whole != NULL || !is_renamed(in, meta)) return number_text(in, path, &array->path, err);
    const refs_str group = refs_str_part(path, 0, path.size - refs_combine__own_name(path).size);
    in->scratch.size = 0;
    REFS_TRY(refs_buf_printf(&in->scratch, err, "%.*s%s", REFS_STR_WHOLE(group), meta->name));
    return number_scratch(in, &array->path, err);
}

static bool names(const refs_array_meta *variable, const char *coordinate) {
    refs_str text = refs_json_text(refs_json_get(variable->attributes, "coordinates")), word;
    while (refs_str_next_word(&text, REFS_BLANKS, &word))
        if (refs_str_is(word, coordinate)) return true;
    return false;
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
    return refs_cf_axis_kind_of(meta) == REFS_CF_AXIS_Z ? REFS_COMBINE_COORDINATE_LEVEL
                                                        : REFS_COMBINE_COORDINATE_OTHER;
}

/* What a coordinate tells, and of which variables. */
static refs_status describe_coordinate(reader *in, const refs_array_meta *meta,
                                       refs_combine_array *array, refs_error *err) {
    array->coordinate = coordinate_of(meta);
    array->named_by = REFS_COMBINE_NONE;
    in->scratch.size = 0;
    for (size_t i = 0; array->coordinate != REFS_COMBINE_COORDINATE_OTHER &&
                       i < refs_hierarchy_n_arrays(in->source.hierarchy);
         i++) {
        const refs_array_meta *variable = refs_hierarchy_array(in->source.hierarchy, i);
        if (names(variable, meta->name))
            REFS_TRY(refs_buf_printf(&in->scratch, err, "%s ", variable->path));
    }
    if (in->scratch.size > 0) REFS_TRY(number_scratch(in, &array->named_by, err));
    return number_text(in, refs_str_from(meta->name), &array->name, err);
}

static refs_status set_shape(reader *in, const refs_array_meta *meta, refs_combine_array *array,
                             refs_error *err) {
    array->rank = meta->rank;
    array->shape = refs_calloc(meta->rank + 1, 3 * sizeof *array->shape);
    array->dims = refs_calloc(meta->rank + 1, sizeof *array->dims);
    if (array->shape == NULL || array->dims == NULL) return refs_fail_nomem(err);
    array->chunk = array->shape + meta->rank;
    array->n = array->chunk + meta->rank;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        array->shape[dim] = meta->shape[dim];
        array->chunk[dim] = meta->chunk[dim];
        REFS_TRY(number_text(in, refs_str_from(meta->dims[dim]), &array->dims[dim], err));
    }
    refs_combine_n_keys(meta, array->n);
    REFS_TRY(cut_shape(in, meta, array, err));
    const bool was_v3 = meta->zarr_format == 3 && !array->is_v3;
    array->separator = was_v3 ? '.' : meta->separator;
    const container *whole = container_of(in, meta->path);
    const char *path = whole != NULL ? whole->meta->path : meta->path;
    REFS_TRY(number_text(in, refs_str_from(meta->key_prefix), &array->part_prefix, err));
    if (was_v3 || is_renamed(in, meta)) {
        in->scratch.size = 0;
        REFS_TRY(refs_buf_printf(&in->scratch, err, "%.*s/",
                                 REFS_STR_WHOLE(refs_intern_get(in->strings, array->path))));
        return number_scratch(in, &array->prefix, err);
    }
    return number_text(in, refs_str_from(meta->key_prefix + size_of_group(in, path) - 1),
                       &array->prefix, err);
}

static refs_status number_json(reader *in, const refs_json *value, uint32_t *id, refs_error *err) {
    if (value == NULL) return REFS_OK;
    in->scratch.size = 0;
    REFS_TRY(refs_json_write(value, &in->scratch, err));
    return number_scratch(in, id, err);
}

/* Restores the members of version 2 from before a repository held the array (write.h). */
static refs_status restore_members(reader *in, uint32_t document, refs_buf *v2, refs_error *err) {
    const char *pairs[2 * REFS_COMBINE_MAX_MEMBERS + 1] = {NULL};
    refs_buf values[REFS_COMBINE_MAX_MEMBERS] = {REFS_BUF_INIT};
    refs_json_doc *doc;
    size_t n = 0;
    REFS_TRY(refs_json_parse(refs_intern_get(in->strings, document), &doc, err));
    const refs_json *members = refs_json_get(refs_json_root(doc), REFS_V2_MEMBER);
    refs_status status = REFS_OK;
    for (size_t i = 0; i < refs_json_size(members) && status == REFS_OK; i++) {
        const refs_str name = refs_json_name_at(members, i);
        if (refs_str_is(name, "must_understand") || refs_str_is(name, REFS_SEAL_MEMBER)) continue;
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
    refs_buf text = REFS_BUF_INIT;
    if (status == REFS_OK && n > 0)
        status = refs_combine__replace(refs_str_view((const char *)v2->data, v2->size), pairs,
                                       &text, err);
    if (status == REFS_OK && n > 0) {
        v2->size = 0;
        status = refs_buf_append(v2, text.data, text.size, err);
    }
    for (size_t i = 0; i < n; i++) refs_buf_clear(&values[i]);
    refs_buf_clear(&text);
    refs_json_doc_free(doc);
    return status;
}

/* Results have version 2, and masters have no version. */
static refs_status take_version_3(reader *in, const refs_array_meta *meta,
                                  refs_combine_array *array, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    if (refs_combine__copies(in->combine)) return REFS_OK;
    in->scratch.size = 0;
    refs_status status = refs_combine__write_v2(meta, &in->scratch, &problem);
    if (status == REFS_OK) status = restore_members(in, array->document, &in->scratch, &problem);
    if (status == REFS_UNSUPPORTED)
        REFS_TRY(number_text(in, refs_str_from(problem.message), &array->problem, err));
    else if (status != REFS_OK)
        return refs_fail(err, status, "%s: %s", meta->path, problem.message);
    else
        REFS_TRY(number_scratch(in, &array->document, err));
    if (status == REFS_UNSUPPORTED && !refs_combine__is_of_fields(in->combine)) return REFS_OK;
    in->scratch.size = 0;
    REFS_TRY(refs_combine__write_v2_attributes(meta, &in->scratch, err));
    REFS_TRY(number_scratch(in, &array->attributes, err));
    array->is_v3 = status == REFS_UNSUPPORTED;
    return REFS_OK;
}

/* Reads recorded holes, and the fill value from before there were any. */
static refs_status read_holes(reader *in, const refs_array_meta *meta, refs_combine_array *array,
                              refs_error *err) {
    REFS_TRY(refs_combine__read_holes(in->combine, in->strings, array, err));
    refs_combine_holes *holes = array->holes;
    if (holes == NULL) return REFS_OK;
    refs_array_meta before = *meta;
    before.has_fill = holes->has_fill;
    before.fill = holes->fill;
    holes->keeps_default = refs_cf_keeps_default_fill(&before);
    holes->has_nodata = holes->adds_fill ? meta->dtype.size == 1 && refs_cf_fill_is_chosen(&before)
                                         : array->has_nodata;
    if (cuts_of(in) == NULL) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: cannot select a part, because some sources of the set lack it: leave the "
                     "selection out",
                     meta->path);
}

/* Whether netCDF's default fill value is a value. Arrays with dimension names follow netCDF's
 * rules; a scalar has no names, and follows those of the arrays that it becomes an element of. */
static bool keeps_default(const refs_array_meta *meta) {
    const bool is_bare = meta->rank == 0 && !meta->has_fill && meta->dtype.size > 1;
    return !is_bare && refs_cf_keeps_default_fill(meta);
}

/* Describes an array with attributes that were `added` to those of its own document; NULL: none
 * were. */
static refs_status add_described(reader *in, const refs_array_meta *meta,
                                 const refs_json_doc *added, refs_error *err) {
    refs_combine_member *member = in->member;
    if (meta->status != REFS_OK)
        return refs_fail(err, meta->status, "%s: %s", meta->path, meta->problem);
    if (!refs_grow((void **)&member->arrays, &member->array_capacity, member->n_arrays,
                   sizeof *member->arrays))
        return refs_fail_nomem(err);
    refs_combine_array *array = &member->arrays[member->n_arrays++];
    refs_str own = refs_str_part(refs_str_from(meta->path), 1, SIZE_MAX);
    *array = (refs_combine_array){.values = REFS_COMBINE_NONE,
                                  .missing = REFS_COMBINE_NONE,
                                  .invalid = REFS_COMBINE_NONE,
                                  .digest = REFS_COMBINE_NONE,
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
    const container *whole = container_of(in, meta->path);
    REFS_TRY(number_path(in, meta, array, err));
    REFS_TRY(describe_coordinate(in, meta, array, err));
    REFS_TRY(
        number_document(in, own, array->is_v3 ? "zarr.json" : ".zarray", &array->document, err));
    if (array->document == REFS_COMBINE_NONE)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: its metadata are only in .zmetadata",
                         meta->path);
    array->attributes = REFS_COMBINE_NONE;
    if (added != NULL)
        REFS_TRY(number_json(in, meta->attributes, &array->attributes, err));
    else if (!array->is_v3)
        REFS_TRY(number_document(in, own, ".zattrs", &array->attributes, err));
    if (array->is_v3) REFS_TRY(take_version_3(in, meta, array, err));
    array->whole = array->attributes;
    array->is_piece = whole != NULL;
    if (whole != NULL) array->whole = whole->attributes;
    REFS_TRY(refs_combine__describe_flags(
        in->strings, whole != NULL ? whole->meta->attributes : meta->attributes, &array->flags,
        err));
    REFS_TRY(set_shape(in, meta, array, err));
    REFS_TRY(describe_meaning(in, meta, array, err));
    if (array->is_v3 || in->combine->n_dims == 0 || refs_combine__is_of_fields(in->combine) ||
        refs_combine__is_of_coordinates(in->combine))
        return REFS_OK;
    return read_holes(in, meta, array, err);
}

static bool has_undeclared_number(const refs_array_meta *meta) {
    const bool is_number = meta->dtype.type == REFS_TYPE_INT ||
                           meta->dtype.type == REFS_TYPE_UINT ||
                           meta->dtype.type == REFS_TYPE_FLOAT;
    return meta->status == REFS_OK && meta->zarr_format == 2 && meta->aggregation == NULL &&
           is_number && meta->has_fill && refs_json_get(meta->attributes, "_FillValue") == NULL;
}

/* Whether a fill value of zero, or netCDF's default for bytes, was declared by the file. The other
 * arrays of the set show it, which the result may lack. Where attributes declare fill values, the
 * set's writer has moved them all into the metadata. */
static bool infers_fill(const reader *in, const refs_array_meta *meta) {
    static const uint8_t zero[sizeof(double)] = {0};
    uint8_t usual[sizeof(double)];
    if (!has_undeclared_number(meta)) return false;
    const bool is_declared = refs_cf_fill_is_declared(in->source.hierarchy, meta),
               is_usual = refs_cf_default_fill(&meta->dtype, usual) &&
                          memcmp(meta->fill, usual, meta->dtype.size) == 0;
    if (in->combine->options.fills == REFS_COMBINE_FILLS_DECLARED)
        return !refs_hierarchy_keeps_attributes(in->source.hierarchy) &&
               (is_declared || (is_usual && !refs_cf_keeps_default_fill(meta)));
    return !refs_combine__copies(in->combine) && is_declared &&
           (is_usual || memcmp(meta->fill, zero, meta->dtype.size) == 0);
}

static refs_status write_with_fill(const refs_array_meta *meta, refs_buf *text, refs_error *err) {
    const refs_json *attributes = meta->attributes;
    REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        REFS_TRY(refs_json_write_string(refs_json_name_at(attributes, i), text, err));
        REFS_TRY(refs_buf_append(text, ":", 1, err));
        REFS_TRY(refs_json_write(refs_json_at(attributes, i), text, err));
        REFS_TRY(refs_buf_append(text, ",", 1, err));
    }
    REFS_TRY(refs_buf_printf(text, err, "\"_FillValue\":"));
    REFS_TRY(refs_combine__write_fill_number(meta, text, err));
    return refs_buf_append(text, "}", 1, err);
}

static refs_status add_array(reader *in, const refs_array_meta *meta, refs_error *err) {
    refs_array_meta described = *meta;
    refs_json_doc *added = NULL;
    if (!infers_fill(in, meta)) return add_described(in, meta, NULL, err);
    refs_buf text = REFS_BUF_INIT;
    refs_status status = write_with_fill(meta, &text, err);
    if (status == REFS_OK)
        status = refs_json_parse(refs_str_view((const char *)text.data, text.size), &added, err);
    refs_buf_clear(&text);
    if (status == REFS_OK) {
        described.attributes = refs_json_root(added);
        status = add_described(in, &described, added, err);
    }
    refs_json_doc_free(added);
    return status;
}

/* -- references -------------------------------------------------------------------------------- */

typedef struct packing {
    refs_packer packer;
    refs_stream_writer stream;
    refs_combine_array *array;
    uint64_t first[REFS_MAX_RANK]; /* of the chunks inside the cut */
    uint32_t mask;
    bool has_mask;
} packing;

static refs_status check_mask(packing *at, const refs_ref *ref, refs_error *err) {
    if (!at->has_mask) at->mask = ref->filter_mask;
    at->has_mask = true;
    if (at->mask == ref->filter_mask) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "some chunks skipped filters and some did not, which sets cannot record");
}

static refs_status pack_one(void *user, const uint64_t *index, const refs_ref *ref,
                            refs_error *err) {
    packing *at = user;
    uint64_t kept[REFS_MAX_RANK] = {0};
    for (size_t dim = 0; dim < at->array->rank; dim++) {
        kept[dim] = index[dim] - at->first[dim];
        if (index[dim] < at->first[dim] || kept[dim] >= at->array->n[dim])
            return refs_combine__count_seen(&at->packer, err);
    }
    refs_stream_ref packed = {.number = refs_combine__number(at->array->n, at->array->rank, kept)};
    REFS_TRY(check_mask(at, ref, err));
    REFS_TRY(refs_combine__pack(&at->packer, ref, &packed, err));
    if (packed.kind == REFS_REF_INLINE) at->array->has_inline = true;
    at->array->n_refs++;
    return refs_stream_put(&at->stream, &packed, err);
}

static refs_status mask_one(void *user, const uint64_t *index, const refs_ref *ref,
                            refs_error *err) {
    packing *at = user;
    (void)index;
    REFS_TRY(refs_combine__count_seen(&at->packer, err));
    return check_mask(at, ref, err);
}

/* Removes codecs from the document that all chunks skip. */
static refs_status drop_masked(reader *in, refs_combine_array *array, uint32_t mask,
                               refs_error *err) {
    refs_json_doc *doc = NULL;
    refs_buf filters = REFS_BUF_INIT, text = REFS_BUF_INIT;
    refs_status status = refs_json_parse(refs_intern_get(in->strings, array->document), &doc, err);
    const refs_json *list = refs_json_get(refs_json_root(doc), "filters");
    size_t n = refs_json_size(list);
    if (status == REFS_OK) status = refs_buf_append(&filters, "[", 1, err);
    for (size_t i = 0; i < n && status == REFS_OK; i++) {
        if (i < 32 && (mask >> i & 1) != 0) continue;
        status = refs_buf_append(&filters, ",", filters.size > 1, err);
        if (status == REFS_OK) status = refs_json_write(refs_json_at(list, i), &filters, err);
    }
    if (status == REFS_OK) status = refs_buf_append(&filters, "]", 2, err);
    const bool drops_last = n < 32 && (mask >> n & 1) != 0;
    const char *const pairs[] = {"filters", (const char *)filters.data,
                                 drops_last ? "compressor" : NULL, "null", NULL};
    if (status == REFS_OK)
        status =
            refs_combine__replace(refs_intern_get(in->strings, array->document), pairs, &text, err);
    if (status == REFS_OK)
        status = number_text(in, refs_str_view((const char *)text.data, text.size),
                             &array->document, err);
    refs_json_doc_free(doc);
    refs_buf_clear(&filters);
    refs_buf_clear(&text);
    return status == REFS_OK ? describe_layout(in, array, err) : status;
}

/* Keys of the part, group included. */
static refs_status each_chunk(reader *in, const refs_array_meta *meta,
                              const refs_combine_array *array, const refs_chunk_visitor *visitor,
                              refs_error *err) {
    uint64_t n[REFS_MAX_RANK];
    refs_chunk_keys keys = refs_combine__keys(in->strings, array);
    refs_combine_n_keys(meta, n);
    keys.separator = meta->separator;
    keys.n = n;
    keys.prefix = refs_intern_get(in->strings, array->part_prefix);
    return refs_set_each_chunk(in->part->set, &keys, visitor, err);
}

static refs_status pack_array(reader *in, const refs_array_meta *meta, refs_combine_array *array,
                              refs_error *err) {
    packing at = {.packer = {.combine = in->combine,
                             .member = in->member,
                             .fetcher = in->source.fetcher,
                             .urls = &in->urls},
                  .stream = {.bytes = &in->member->streams},
                  .array = array};
    array->stream = in->member->streams.size;
    if (find_cut_through(in, meta) < meta->rank)
        return REFS_OK; /* its values are stored, if it has any */
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const refs_combine_cut *cut = find_cut(in, meta, dim);
        if (cut != NULL) at.first[dim] = cut->first / key_size(meta, dim);
    }
    const refs_chunk_visitor visitor = {pack_one, &at};
    refs_status status = each_chunk(in, meta, array, &visitor, err);
    array->stream_size = in->member->streams.size - array->stream;
    refs_combine__packer_clear(&at.packer);
    return status == REFS_OK && at.mask != 0 ? drop_masked(in, array, at.mask, err) : status;
}

static refs_status look_for_masks(reader *in, const refs_array_meta *meta,
                                  refs_combine_array *array, refs_error *err) {
    packing at = {.packer = {.combine = in->combine}, .array = array};
    const refs_chunk_visitor visitor = {mask_one, &at};
    refs_status status = each_chunk(in, meta, array, &visitor, err);
    return status == REFS_OK && at.mask != 0 ? drop_masked(in, array, at.mask, err) : status;
}

/* -- values ------------------------------------------------------------------------------------ */

/* An array whose values are read. */
typedef struct wanted_values {
    const refs_array_meta *meta;
    size_t number; /* index of the array in the member */
    bool is_optional;
} wanted_values;

static refs_status want_values(reader *in, const refs_array_meta *meta, bool is_optional,
                               refs_error *err) {
    if (!refs_grow((void **)&in->values, &in->value_capacity, in->n_values, sizeof *in->values))
        return refs_fail_nomem(err);
    in->values[in->n_values++] = (wanted_values){meta, in->member->n_arrays - 1, is_optional};
    return REFS_OK;
}

static refs_status number_bytes(reader *in, const refs_buf *bytes, uint32_t *id, refs_error *err) {
    if (bytes->size == 0) return REFS_OK;
    return number_text(in, refs_str_view((const char *)bytes->data, bytes->size), id, err);
}

static refs_status number_missing(reader *in, const refs_array_meta *meta, refs_bytes values,
                                  refs_combine_array *array, refs_error *err) {
    const refs_combine_kept_bytes of = {in->source.hierarchy, meta, values};
    refs_buf missing = REFS_BUF_INIT, invalid = REFS_BUF_INIT;
    refs_status status = refs_combine_find_missing(&of, &missing, err);
    if (status == REFS_OK) status = number_bytes(in, &missing, &array->missing, err);
    if (status == REFS_OK) status = refs_combine_find_invalid(&of, &invalid, err);
    if (status == REFS_OK) status = number_bytes(in, &invalid, &array->invalid, err);
    refs_buf_clear(&missing);
    refs_buf_clear(&invalid);
    return status;
}

static refs_status number_kept(reader *in, const wanted_values *wanted, refs_bytes values,
                               refs_error *err) {
    refs_combine_array *array = &in->member->arrays[wanted->number];
    REFS_TRY(number_text(in, refs_str_view((const char *)values.data, values.size), &array->values,
                         err));
    return number_missing(in, wanted->meta, values, array, err);
}

static refs_status number_values(reader *in, const wanted_values *wanted, refs_bytes values,
                                 refs_error *err) {
    refs_buf kept = REFS_BUF_INIT;
    if (cuts_of(in) == NULL) return number_kept(in, wanted, values, err);
    refs_status status = cut_values(in, wanted->meta, values, &kept, err);
    if (status == REFS_OK) status = number_kept(in, wanted, refs_buf_view(&kept), err);
    refs_buf_clear(&kept);
    return status;
}

static refs_status take_values(void *user, size_t i, refs_bytes values, refs_error *err) {
    reader *in = user;
    const refs_combine_kept_values *kept = &in->combine->options.kept;
    if (kept->keep != NULL)
        kept->keep(kept->self, in->part->number, refs_str_from(in->values[i].meta->path), values);
    return number_values(in, &in->values[i], values, err);
}

static bool is_optional(void *user, size_t i) {
    return ((reader *)user)->values[i].is_optional;
}

/* Takes values that an earlier run has kept. */
static refs_status find_values(reader *in, const wanted_values *wanted, bool *found,
                               refs_error *err) {
    const refs_combine_kept_values *kept = &in->combine->options.kept;
    refs_buf values = REFS_BUF_INIT;
    uint64_t bytes;
    *found = kept->find != NULL && refs_combine__value_bytes(wanted->meta, &bytes) &&
             kept->find(kept->self, in->part->number, refs_str_from(wanted->meta->path), &values) &&
             values.size == bytes;
    refs_status status = REFS_OK;
    if (*found) status = number_values(in, wanted, refs_buf_view(&values), err);
    refs_buf_clear(&values);
    return status;
}

static refs_status drop_kept_values(reader *in, refs_error *err) {
    size_t n = 0;
    for (size_t i = 0; i < in->n_values; i++) {
        bool found;
        REFS_TRY(find_values(in, &in->values[i], &found, err));
        if (!found) in->values[n++] = in->values[i];
    }
    in->n_values = n;
    return REFS_OK;
}

/* Reads all of them as one plan: over a network, one request more. */
static refs_status load_values(reader *in, refs_error *err) {
    REFS_TRY(drop_kept_values(in, err));
    if (in->n_values == 0) return REFS_OK;
    const refs_value_sink sink = {take_values, is_optional, in};
    const refs_array_meta **metas = refs_calloc(in->n_values, sizeof *metas);
    if (metas == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < in->n_values; i++) metas[i] = in->values[i].meta;
    refs_status status = refs_combine__load(&in->source, metas, in->n_values, &sink, err);
    refs_free(metas);
    return status;
}

static size_t n_concat_dims(const reader *in, const refs_array_meta *meta) {
    size_t n = 0, dim;
    for (size_t i = 0; i < meta->rank; i++)
        n += refs_combine__is_dim(in->combine, refs_str_from(meta->dims[i]), &dim);
    return n;
}

/* Bytes of an array at one index of the concat dimensions. */
static uint64_t row_bytes(const reader *in, const refs_array_meta *meta) {
    uint64_t bytes = meta->dtype.size;
    size_t dim;
    for (size_t i = 0; i < meta->rank; i++)
        if (!refs_combine__is_dim(in->combine, refs_str_from(meta->dims[i]), &dim) &&
            !refs_mul_u64(bytes, meta->shape[i], &bytes))
            return UINT64_MAX;
    return bytes;
}

/* Whether no warning was made yet of an array of that path, in any part. */
static bool is_first_warning(refs_combine *combine, const char *path) {
    uint32_t id;
    refs_lock(&combine->lock);
    const size_t n = combine->warned.count;
    const bool is_first =
        refs_intern_add(&combine->warned, refs_str_from(path), &id, NULL) != REFS_OK || id == n;
    refs_unlock(&combine->lock);
    return is_first;
}

/* Warns once for each path. Values that cannot be decoded come from the first part, and so do
 * values that cannot be read: sets are combined where their files are unreachable. */
static refs_status take_digest(reader *in, const refs_array_meta *meta, refs_combine_array *array,
                               refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    in->scratch.size = 0;
    const refs_status status = refs_combine__digest(&in->source, meta, &in->scratch, &problem);
    if (status == REFS_UNSUPPORTED || (status == REFS_OK && in->scratch.size == 0)) return REFS_OK;
    if (!in->source.is_file && (refs_status_is_unreadable(status) || status == REFS_NOT_FOUND)) {
        if (is_first_warning(in->combine, meta->path))
            refs_note(
                &in->combine->options.notes, REFS_NOTE_WARNING,
                "%s: cannot be compared with other sources: using the values of the first: %s",
                meta->path, problem.message);
        return REFS_OK;
    }
    REFS_TRY(refs_fail(err, status, "%s", problem.message));
    const refs_str spots =
        refs_combine__digest_spots(refs_str_view((const char *)in->scratch.data, in->scratch.size));
    REFS_TRY(number_missing(in, meta, refs_bytes_view(spots.data, spots.size), array, err));
    return number_scratch(in, &array->digest, err);
}

static const char since_epoch[] = "seconds since 1970-01-01";

static bool is_in_unit(const refs_array_meta *meta, const char *unit) {
    const refs_cf_units own = refs_cf_units_of(meta->attributes);
    const refs_cf_units wanted = {refs_str_from(unit), own.calendar};
    return own.units.size > 0 && refs_cf_compare_units(&own, &wanted) != REFS_CF_CONVERSION_UNKNOWN;
}

/* Whether an array is a scalar time of a part that is one step along a time or a duration, such as
 * the valid time of a forecast. */
static bool is_time_of_step(const reader *in, const refs_array_meta *meta) {
    size_t concat;
    if (meta->rank != 0 || refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat) ||
        !is_in_unit(meta, since_epoch))
        return false;
    for (concat = 0; concat < in->combine->n_dims; concat++) {
        const refs_array_meta *step = refs_hierarchy_resolve(
            in->source.hierarchy, meta->group, refs_str_from(in->combine->options.dims[concat]));
        if (step != NULL && step->status == REFS_OK && step->rank == 0 &&
            (is_in_unit(step, since_epoch) || is_in_unit(step, "s")))
            return true;
    }
    return false;
}

/* Values that are only compared need not be readable: the array of the first part is then used. */
static refs_status request_small_values(reader *in, const refs_array_meta *meta,
                                        refs_combine_array *array, refs_error *err) {
    uint64_t bytes;
    if (!refs_combine__value_bytes(meta, &bytes)) return REFS_OK;
    size_t ignored;
    bool is_scalar_of_dim =
        meta->rank == 0 && refs_combine__is_dim(in->combine, refs_str_from(meta->name), &ignored);
    if (n_concat_dims(in, meta) > 0 || is_scalar_of_dim || is_time_of_step(in, meta)) {
        array->is_thin =
            bytes <= REFS_COMBINE_MAX_THIN_BYTES && row_bytes(in, meta) <= REFS_COMBINE_THIN_BYTES;
        if (array->is_thin) return want_values(in, meta, false, err);
        /* parts that differ along another dimension repeat it */
        const bool is_shared = n_concat_dims(in, meta) < in->combine->n_dims && !array->gets_new;
        return is_shared ? take_digest(in, meta, array, err) : REFS_OK;
    }
    array->is_thin = array->is_time && bytes <= REFS_COMBINE_MAX_COMPARED_BYTES;
    uint64_t most = refs_combine__is_axis(meta) || array->is_grid ? REFS_COMBINE_MAX_GRID_BYTES
                                                                  : REFS_COMBINE_MAX_COMPARED_BYTES;
    if (bytes > most)
        return array->is_grid || refs_combine__is_axis(meta) ? take_digest(in, meta, array, err)
                                                             : REFS_OK;
    return want_values(in, meta, true, err);
}

/* -- fields ------------------------------------------------------------------------------------ */

static refs_status list_fields(reader *in, refs_error *err) {
    const refs_hierarchy *hierarchy = in->source.hierarchy;
    const size_t n = refs_hierarchy_n_arrays(hierarchy);
    refs_cfa_array *arrays = refs_calloc(n + 1, sizeof *arrays);
    refs_cfa_source source = {.arrays = arrays};
    if (arrays == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        if (meta->status != REFS_OK || meta->is_instruction) continue;
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

/* Reads the aggregations of a master, or of a manifest of empty fragments. */
static refs_status open_fields(reader *in, refs_error *err) {
    if (!sees_aggregations(in)) return REFS_OK;
    REFS_TRY(refs_aggregations_open(in->source.hierarchy, &in->combine->options.notes,
                                    &in->aggregations, err));
    return refs_combine__is_of_fields(in->combine) ? list_fields(in, err) : REFS_OK;
}

/* Strings come from one part. Those of others are only compared, and need not be readable. */
static refs_status read_strings(reader *in, const refs_array_meta *meta, refs_combine_array *array,
                                refs_error *err) {
    const refs_array_context context = {.store = in->source.store, .cache = in->source.cache};
    refs_array *opened;
    refs_error problem = REFS_ERROR_INIT;
    array->are_texts = true;
    in->scratch.size = 0;
    REFS_TRY(refs_array_open(&context, meta, &opened, err));
    const refs_status status = refs_array_read_strings(opened, MAX_TEXTS, &in->scratch, &problem);
    refs_array_free(opened);
    if (status == REFS_OK) return number_scratch(in, &array->values, err);
    if (status == REFS_NOMEM || status == REFS_CANCELLED)
        return refs_fail(err, status, "%s", problem.message);
    return number_text(in, refs_str_from(problem.message), &array->problem, err);
}

/* Whether a variable serves fields and is stored in the master. A field with fewer dimensions than
 * another one is mostly equal in all parts, and may serve others. Without a concat dimension the
 * first part's is stored, so it is compared. */
static refs_status read_field_values(reader *in, const refs_array_meta *meta,
                                     refs_combine_array *array, refs_error *err) {
    uint64_t bytes;
    array->is_field = refs_intern_find(&in->fields, refs_str_from(meta->path)) != REFS_INTERN_NONE;
    array->is_thin = !array->is_field;
    if (meta->dtype.type == REFS_TYPE_OBJECT) return read_strings(in, meta, array, err);
    if (!refs_combine__value_bytes(meta, &bytes))
        return array->is_field
                   ? REFS_OK
                   : refs_fail(err, REFS_UNSUPPORTED, "its values cannot be put into a master");
    if (!array->is_field && bytes > REFS_CFA_MAX_VALUE_BYTES)
        return refs_fail(err, REFS_LIMIT, "%s: too large for a master", meta->path);
    const bool may_serve = meta->rank < in->most_dims || meta->rank == 1 || array->is_grid ||
                           n_concat_dims(in, meta) == 0;
    const bool is_of_fragment = array->is_field && in->member->role == REFS_COMBINE_IS_FRAGMENT;
    const size_t n_concat = n_concat_dims(in, meta);
    const bool is_shared = array->is_grid || (n_concat > 0 && n_concat < in->combine->n_dims);
    if (is_of_fragment && !may_serve) return REFS_OK;
    if (is_of_fragment && bytes > REFS_COMBINE_MAX_COMPARED_BYTES)
        return is_shared ? take_digest(in, meta, array, err) : REFS_OK;
    return want_values(in, meta, array->is_field, err);
}

/* Whether an array needs concat dimensions that the part lacks. Arrays that only serve others do
 * not, except for the scalar coordinate. */
static bool varies(const reader *in, const refs_array_meta *meta) {
    size_t concat;
    if (meta->rank == 0 && refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat))
        return true;
    return is_time_of_step(in, meta) || !refs_cf_serves_others(in->source.hierarchy, meta);
}

static void describe_kind(const reader *in, const refs_array_meta *meta,
                          refs_combine_array *array) {
    array->gets_new = !refs_combine__is_of_fields(in->combine) && varies(in, meta);
    array->is_time = is_in_unit(meta, since_epoch);
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
    reader *in;
    const refs_array_meta *meta;
    refs_combine_entry *entry;
} marking;

static bool is_nothing(const marking *at, const refs_partition *partition) {
    uint64_t shape[REFS_MAX_RANK];
    for (size_t dim = 0; dim < at->meta->rank; dim++)
        shape[dim] = partition->end[dim] - partition->begin[dim];
    return refs_str_ends(refs_str_from(partition->file), REFS_CFA_NOT_WRITTEN) ||
           refs_cfa_is_filler(partition->file, at->meta->path, shape, at->meta->rank);
}

static refs_status mark_written(void *user, const refs_partition *partition, refs_error *err) {
    const marking *at = user;
    refs_combine_entry *entry = at->entry;
    if (is_nothing(at, partition)) return REFS_OK;
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

static refs_status read_entry(reader *in, const refs_array_meta *meta, refs_error *err) {
    refs_combine_member *member = in->member;
    if (member->role == REFS_COMBINE_IS_FRAGMENT)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s is an aggregation, and aggregations cannot be nested: use the files "
                         "of its fragments",
                         meta->path);
    if (!refs_grow((void **)&member->entries, &member->entry_capacity, member->n_entries,
                   sizeof *member->entries))
        return refs_fail_nomem(err);
    REFS_TRY(add_array(in, meta, err));
    refs_combine_entry *entry = &member->entries[member->n_entries++];
    *entry = (refs_combine_entry){.array = member->arrays[--member->n_arrays],
                                  .number = member->n_arrays + member->n_entries - 1};
    entry->array.is_field = refs_combine__is_of_fields(in->combine);
    describe_kind(in, meta, &entry->array);
    refs_array_meta own = *meta;
    own.has_fill = false; /* netCDF's default counts where no attribute declares one */
    entry->declares_fill = meta->dtype.size <= sizeof entry->declared &&
                           refs_cf_declared_fill(in->source.hierarchy, &own, entry->declared);
    entry->array.declares_fill = meta->has_fill && meta->dtype.size <= sizeof entry->array.declared;
    if (entry->array.declares_fill) memcpy(entry->array.declared, meta->fill, meta->dtype.size);
    REFS_TRY(number_json(in, meta->attributes, &entry->array.attributes, err));
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

static refs_status fail_apart(const reader *in, const refs_combine_array *array, size_t dim,
                              refs_error *err) {
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%.*s is an aggregation of fragments along %.*s: combine along that dimension, too",
        REFS_STR_ARG(refs_intern_get(in->strings, array->path)),
        REFS_STR_ARG(refs_intern_get(in->strings, array->dims[dim])));
}

static bool is_concat(const reader *in, const refs_combine_array *array, size_t dim,
                      size_t *concat) {
    return refs_combine__is_dim(in->combine, refs_intern_get(in->strings, array->dims[dim]),
                                concat);
}

static refs_status place_piece(const reader *in, const container *of, uint64_t number,
                               refs_combine_array *array, refs_error *err) {
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

static refs_status read_piece(reader *in, const container *of, const refs_array_meta *meta,
                              refs_error *err) {
    uint64_t number = 0;
    if (!fragment_number(of->meta, meta, &number)) return REFS_OK;
    REFS_TRY(add_array(in, meta, err));
    refs_combine_array *array = &in->member->arrays[in->member->n_arrays - 1];
    array->gets_new = true;
    REFS_TRY(place_piece(in, of, number, array, err));
    refs_status status = REFS_OK;
    if (!refs_combine__is_aggregated(in->combine)) status = pack_array(in, meta, array, err);
    if (status != REFS_OK) {
        refs_error_prefix(err, "%s", meta->path);
        return status;
    }
    return request_small_values(in, meta, array, err);
}

/* Steps of the fragments along a concat dimension, where no other array states them. */
static void count_steps_of_pieces(const reader *in, size_t concat) {
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

refs_status refs_combine__find_axis(const refs_intern *strings, refs_combine_member *member,
                                    size_t concat, refs_str name, refs_error *err) {
    refs_combine_axis *axis = &member->axes[concat];
    *axis = (refs_combine_axis){
        .array = REFS_COMBINE_NONE, .n = 1, .is_new = true, .text = REFS_COMBINE_NONE};
    for (size_t i = 0; i < member->n_arrays; i++) {
        const refs_combine_array *array = &member->arrays[i];
        bool is_named = refs_str_equal(refs_intern_get(strings, array->name), name);
        if (is_named && array->rank <= 1 && axis->array == REFS_COMBINE_NONE && array->is_thin)
            axis->array = (uint32_t)i;
        for (size_t dim = 0; dim < array->rank && !array->is_piece; dim++) {
            if (!refs_str_equal(refs_combine__own_name(refs_intern_get(strings, array->dims[dim])),
                                name))
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

/* -- coordinates that are one value ------------------------------------------------------------ */

bool refs_combine__is_own_axis(const refs_intern *strings, const refs_combine_array *array) {
    return array->rank == 1 && !array->is_piece &&
           refs_str_equal(refs_combine__own_name(refs_intern_get(strings, array->dims[0])),
                          refs_intern_get(strings, array->name));
}

/* Whether an array lies along concat dimensions alone, none of which is its own. */
static bool is_along_others(const reader *in, const refs_combine_array *array) {
    const refs_str own = refs_intern_get(in->strings, array->name);
    for (size_t dim = 0; dim < array->rank; dim++) {
        size_t concat;
        const refs_str name =
            refs_combine__own_name(refs_intern_get(in->strings, array->dims[dim]));
        if (refs_str_equal(own, name) || !refs_combine__is_dim(in->combine, name, &concat))
            return false;
    }
    return array->rank > 0 && !array->is_piece;
}

static refs_str text_of(const reader *in, uint32_t id) {
    return id != REFS_COMBINE_NONE ? refs_intern_get(in->strings, id) : refs_str_view("", 0);
}

/* The one value of the coordinate of a concat dimension along others; empty: it has none. */
static refs_str constant_of(const reader *in, const refs_combine_array *array) {
    size_t concat;
    if (!is_along_others(in, array) || array->are_texts ||
        !refs_combine__is_dim(in->combine, text_of(in, array->name), &concat))
        return refs_str_view("", 0);
    return refs_combine__constant_of(text_of(in, array->values), text_of(in, array->missing),
                                     array->dtype.size);
}

/* A set of one forecast repeats its reference time at each step. When forecasts are combined along
 * it, it is the scalar of each part. */
static refs_status take_constants(reader *in, refs_error *err) {
    for (size_t i = 0; i < in->member->n_arrays; i++) {
        refs_combine_array *array = &in->member->arrays[i];
        const refs_str constant = constant_of(in, array);
        if (constant.size == 0) continue;
        REFS_TRY(number_text(in, constant, &array->values, err));
        refs_combine__forget_holes(array);
        array->rank = 0;
        array->gets_new = true;
        array->missing = array->invalid = REFS_COMBINE_NONE;
    }
    return REFS_OK;
}

/* Whether units count instants or durations. */
static bool counts_time(const reader *in, const refs_combine_array *array) {
    static const refs_cf_units seconds = {{"s", 1}, {"", 0}};
    if (array->is_time || array->units == REFS_COMBINE_NONE) return array->is_time;
    const refs_cf_units units = {refs_intern_get(in->strings, array->units), {"", 0}};
    return refs_cf_compare_units(&units, &seconds) != REFS_CF_CONVERSION_UNKNOWN;
}

static bool has_new_time(const reader *in) {
    const refs_combine_member *member = in->member;
    for (size_t concat = 0; concat < in->combine->n_dims; concat++) {
        const refs_combine_axis *axis = &member->axes[concat];
        if (axis->is_new && axis->array != REFS_COMBINE_NONE &&
            counts_time(in, &member->arrays[axis->array]))
            return true;
    }
    return false;
}

/* Valid times depend on run and lead time: those of one run vary with the step, and those of one
 * lead time with the run. */
static void widen_times(const reader *in) {
    const bool is_one = has_new_time(in);
    for (size_t i = 0; is_one && i < in->member->n_arrays; i++) {
        refs_combine_array *array = &in->member->arrays[i];
        array->gets_new = array->gets_new || (array->is_time && is_along_others(in, array));
    }
}

/* -- coordinates that names tell --------------------------------------------------------------- */

/* The array that is the coordinate of a dimension, emptied: the part's own, or a new one; NULL:
 * memory ran out. */
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
    *array = (refs_combine_array){.named_by = REFS_COMBINE_NONE,
                                  .missing = REFS_COMBINE_NONE,
                                  .units = REFS_COMBINE_NONE,
                                  .calendar = REFS_COMBINE_NONE,
                                  .bounds = REFS_COMBINE_NONE,
                                  .digest = REFS_COMBINE_NONE,
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

static refs_status put_value(reader *in, refs_combine_array *array, const refs_pattern_value *value,
                             refs_error *err) {
    refs_str bytes = refs_str_view((const char *)&value->integer, sizeof value->integer);
    array->dtype = (refs_dtype){.type = REFS_TYPE_INT, .size = sizeof value->integer};
    if (value->kind == REFS_PATTERN_TEXT) {
        bytes = value->text;
        array->dtype = (refs_dtype){.type = REFS_TYPE_BYTES, .size = value->text.size};
    } else if (value->kind == REFS_PATTERN_NUMBER) {
        bytes = refs_str_view((const char *)&value->number, sizeof value->number);
        array->dtype.type = REFS_TYPE_FLOAT;
    }
    return number_text(in, bytes, &array->values, err);
}

/* Describes one step in one chunk. */
static refs_status put_step(reader *in, refs_combine_array *array, refs_str name, refs_error *err) {
    array->shape = refs_calloc(2, 3 * sizeof *array->shape);
    array->dims = refs_calloc(2, sizeof *array->dims);
    if (array->shape == NULL || array->dims == NULL) return refs_fail_nomem(err);
    array->chunk = array->shape + 1;
    array->n = array->shape + 2;
    array->shape[0] = array->chunk[0] = array->n[0] = 1;
    in->scratch.size = 0;
    REFS_TRY(refs_buf_printf(&in->scratch, err, "%.*s/", REFS_STR_WHOLE(name)));
    REFS_TRY(number_scratch(in, &array->prefix, err));
    REFS_TRY(number_text(in, name, &array->path, err));
    array->name = array->path;
    return number_text(in, name, &array->dims[0], err);
}

static refs_status put_documents(reader *in, refs_combine_array *array, refs_str name,
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
                             is_time ? since_epoch : ""));
    REFS_TRY(number_scratch(in, &array->attributes, err));
    REFS_TRY(number_text(in, refs_str_from(document), &array->document, err));
    REFS_TRY(number_text(in, refs_str_view("", 0), &array->packing, err));
    REFS_TRY(refs_combine__describe_range(in->strings, NULL, &array->range, err));
    REFS_TRY(refs_combine__describe_flags(in->strings, NULL, &array->flags, err));
    return number_text(in, refs_str_view("", 0), &array->layout, err);
}

/* Adds a coordinate of one value, as if the part had it. */
static refs_status put_coordinate(reader *in, size_t concat, const refs_pattern_value *value,
                                  refs_error *err) {
    refs_combine_axis *axis = &in->member->axes[concat];
    const refs_str name = refs_str_from(in->combine->options.dims[concat]);
    if (axis->n != 1)
        return refs_fail(err, REFS_INVALID,
                         "the pattern gives one value of %s, but the source has %llu", name.data,
                         (unsigned long long)axis->n);
    refs_combine_array *array = clear_coordinate(in->member, axis);
    if (array == NULL) return refs_fail_nomem(err);
    REFS_TRY(put_value(in, array, value, err));
    if (value->kind == REFS_PATTERN_TIME)
        REFS_TRY(number_text(in, refs_str_from(since_epoch), &array->units, err));
    REFS_TRY(put_step(in, array, name, err));
    return put_documents(in, array, name, err);
}

static refs_status find_axes(reader *in, refs_error *err) {
    refs_pattern_value values[REFS_COMBINE_MAX_DIMS] = {{0}};
    if (in->combine->options.pattern != NULL && in->part->values_from != REFS_COMBINE_FROM_SET)
        REFS_TRY(refs_combine__match(in->combine, in->part->name, values, err));
    for (size_t concat = 0; concat < in->combine->n_dims; concat++) {
        REFS_TRY(refs_combine__find_axis(in->strings, in->member, concat,
                                         refs_str_from(in->combine->options.dims[concat]), err));
        if (in->member->axes[concat].is_new) count_steps_of_pieces(in, concat);
        if (values[concat].is_set) REFS_TRY(put_coordinate(in, concat, &values[concat], err));
    }
    widen_times(in);
    return refs_combine__widen_layouts(in->combine, in->member, in->strings, err);
}

/* -- all of it --------------------------------------------------------------------------------- */

/* Leaves out unsupported arrays of data files. Sets are copied as a whole or not at all, and
 * damaged arrays, or arrays that state where a part lies, are errors. */
static bool may_be_left_out(const reader *in, const refs_array_meta *meta, refs_status status) {
    size_t concat;
    return status == REFS_UNSUPPORTED && refs_set_is_file(in->part->set) &&
           in->combine->options.unlike != REFS_COMBINE_REFUSE &&
           !refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat);
}

typedef enum left_out_when { LEFT_OUT_NOW, LEFT_OUT_BEFORE } left_out_when;

static refs_status leave_out(reader *in, const refs_left_out *found, left_out_when when,
                             refs_error *err) {
    refs_combine_member *member = in->member;
    if (!refs_grow((void **)&member->left_out, &member->left_out_capacity, member->n_left_out,
                   sizeof *member->left_out))
        return refs_fail_nomem(err);
    refs_combine_left_out *left_out = &member->left_out[member->n_left_out];
    left_out->was_before = when == LEFT_OUT_BEFORE;
    REFS_TRY(number_text(in, found->path, &left_out->path, err));
    REFS_TRY(number_text(in, found->problem, &left_out->problem, err));
    member->n_left_out++;
    return REFS_OK;
}

/* Adds the variables left out when the set was made, as far as they are selected now. */
static refs_status take_left_out(void *user, const refs_left_out *found, refs_error *err) {
    reader *in = user;
    const refs_str group = refs_str_view((const char *)in->group.data + 1, in->group.size - 1);
    const bool is_inside =
        found->path.size > group.size &&
        (group.size == 0 || memcmp(found->path.data, group.data, group.size) == 0);
    if (!is_inside || variables_of(in) != NULL) return REFS_OK;
    const refs_left_out inside = {refs_str_part(found->path, group.size, found->path.size),
                                  found->problem};
    return leave_out(in, &inside, LEFT_OUT_BEFORE, err);
}

void refs_combine__array_clear(refs_combine_array *array) {
    refs_free(array->shape);
    refs_free(array->dims);
    refs_combine__holes_free(array->holes);
}

/* Sorting parts takes 80 bytes for each value of a coordinate. */
static refs_status check_coordinate(const reader *in, const refs_array_meta *meta,
                                    const refs_combine_array *array, refs_error *err) {
    uint64_t bytes;
    size_t concat;
    if (meta->rank != 1 || !refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat) ||
        in->member->role != REFS_COMBINE_IS_FRAGMENT ||
        (refs_mul_u64(array->shape[0], meta->dtype.size, &bytes) &&
         bytes <= REFS_COMBINE_MAX_THIN_BYTES))
        return REFS_OK;
    return refs_fail(
        err, REFS_LIMIT,
        "coordinate %s: expected at most %llu bytes of values in one source, found %llu "
        "values: combine fewer steps, or along another dimension",
        meta->name, (unsigned long long)REFS_COMBINE_MAX_THIN_BYTES,
        (unsigned long long)array->shape[0]);
}

static refs_status read_references(reader *in, const refs_array_meta *meta, refs_error *err) {
    refs_combine_array *array = &in->member->arrays[in->member->n_arrays - 1];
    if (refs_combine__copies(in->combine))
        return refs_set_is_file(in->part->set) ? look_for_masks(in, meta, array, err) : REFS_OK;
    describe_kind(in, meta, array);
    REFS_TRY(check_coordinate(in, meta, array, err));
    if (refs_combine__is_of_fields(in->combine)) return read_field_values(in, meta, array, err);
    if (in->member->role == REFS_COMBINE_IS_MASTER)
        return request_small_values(in, meta, array, err);
    if (!refs_combine__is_aggregated(in->combine)) REFS_TRY(pack_array(in, meta, array, err));
    REFS_TRY(request_small_values(in, meta, array, err));
    if (find_cut_through(in, meta) < meta->rank && !array->is_thin)
        return fail_cut_through(in, meta, err);
    return REFS_OK;
}

static refs_status read_array(reader *in, const refs_array_meta *meta, refs_error *err) {
    refs_combine_member *member = in->member;
    const size_t n_values = in->n_values, stream_size = member->streams.size;
    refs_left_out found = {.path = relative(in, meta->path)};
    refs_error why = REFS_ERROR_INIT;
    if (may_be_left_out(in, meta, meta->status)) {
        found.problem = refs_str_from(meta->problem);
        return leave_out(in, &found, LEFT_OUT_NOW, err);
    }
    REFS_TRY(add_array(in, meta, err));
    refs_status status = read_references(in, meta, &why);
    if (status == REFS_OK) return REFS_OK;
    if (!may_be_left_out(in, meta, status))
        return refs_fail(err, status, "%s: %s", meta->path, why.message);
    refs_combine__array_clear(&member->arrays[--member->n_arrays]);
    member->streams.size = stream_size;
    in->n_values = n_values;
    found.problem = refs_str_from(why.message);
    return leave_out(in, &found, LEFT_OUT_NOW, err);
}

/* The attributes of the aggregation. */
static refs_status number_whole(reader *in, container *of, refs_error *err) {
    in->scratch.size = 0;
    REFS_TRY(refs_combine__without_fragments(of->meta->attributes, &in->scratch, err));
    return number_scratch(in, &of->attributes, err);
}

/* Fails for aggregations of other files: they cannot be combined. */
static refs_status fail_elsewhere(const reader *in, const refs_array_meta *meta, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++)
        if (refs_combine__is_part_of(meta, refs_hierarchy_array(in->source.hierarchy, i)->path))
            return refs_fail(err, REFS_CORRUPT,
                             "%s has fragments in the set, but no record of their positions",
                             meta->path);
    return refs_fail(err, REFS_UNSUPPORTED, "%s is an aggregation of other files: combine those",
                     meta->path);
}

static refs_status find_containers(reader *in, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        if (!refs_aggregation_recognise(meta->attributes) || in->combine->n_dims == 0 ||
            sees_aggregations(in) || !is_wanted(in, meta))
            continue;
        if (!refs_grow((void **)&in->containers, &in->container_capacity, in->n_containers,
                       sizeof *in->containers))
            return refs_fail_nomem(err);
        container *added = &in->containers[in->n_containers];
        *added = (container){meta, NULL, REFS_COMBINE_NONE};
        REFS_TRY(refs_set_fragments_decode(in->source.hierarchy, meta, &added->fragments, err));
        if (added->fragments == NULL) return fail_elsewhere(in, meta, err);
        in->n_containers++;
        REFS_TRY(number_whole(in, added, err));
    }
    return REFS_OK;
}

static bool is_container(const reader *in, const refs_array_meta *meta) {
    for (size_t i = 0; i < in->n_containers; i++)
        if (in->containers[i].meta == meta) return true;
    return false;
}

static refs_status read_arrays(reader *in, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        const container *of = container_of(in, meta->path);
        REFS_TRY(refs_combine__go_on(in->combine, err));
        if (is_container(in, meta) || !is_wanted(in, meta)) continue;
        if (sees_aggregations(in) && meta->is_instruction) continue;
        if (sees_aggregations(in) && meta->aggregation != NULL) {
            REFS_TRY(read_entry(in, meta, err));
            continue;
        }
        REFS_TRY(of != NULL ? read_piece(in, of, meta, err) : read_array(in, meta, err));
    }
    if (in->member->n_arrays == 0 && in->member->n_left_out > 0)
        return refs_fail(
            err, REFS_UNSUPPORTED, "no array can be combined: %.*s: %.*s",
            REFS_STR_ARG(refs_intern_get(in->strings, in->member->left_out[0].path)),
            REFS_STR_ARG(refs_intern_get(in->strings, in->member->left_out[0].problem)));
    if (in->member->n_arrays == 0 && in->combine->options.group != NULL)
        return refs_fail(err, REFS_NOT_FOUND, "there is no array in group \"%s\"",
                         in->combine->options.group);
    return REFS_OK;
}

static refs_status set_group(reader *in, refs_error *err) {
    const char *given =
        in->part->values_from != REFS_COMBINE_FROM_NAME ? NULL : in->combine->options.group;
    refs_str group = refs_str_from(given != NULL ? given : "");
    while (group.size > 0 && group.data[0] == '/') group = refs_str_part(group, 1, group.size);
    while (group.size > 0 && group.data[group.size - 1] == '/') group.size--;
    return refs_buf_printf(&in->group, err, group.size > 0 ? "/%.*s/" : "/%.*s",
                           REFS_STR_WHOLE(group));
}

static refs_status keep_urls(reader *in, refs_error *err) {
    refs_combine_member *member = in->member;
    member->urls = refs_calloc(in->urls.count + 1, sizeof *member->urls);
    if (member->urls == NULL) return refs_fail_nomem(err);
    for (uint32_t i = 0; i < in->urls.count; i++)
        REFS_TRY(number_text(in, refs_intern_get(&in->urls, i), &member->urls[i], err));
    member->n_urls = in->urls.count;
    return REFS_OK;
}

static refs_status rename_fragments(reader *in, refs_error *err) {
    const refs_combine_copied copied = {in->part->set, in->source.hierarchy, in->member,
                                        in->strings,   in->group.size,       &in->aggregations};
    return refs_combine__rename_fragments(in->combine, &copied, err);
}

/* -- keys that belong to no array -------------------------------------------------------------- */

/* Members of an array that cannot be read are left out with it. */
static bool is_of_problem(const reader *in, refs_str key) {
    for (size_t end = key.size; end-- > 0;) {
        if (key.data[end] != '/') continue;
        const refs_array_meta *meta =
            refs_hierarchy_find_array(in->source.hierarchy, refs_str_part(key, 0, end));
        if (meta != NULL && meta->status != REFS_OK) return true;
    }
    return false;
}

static refs_status take_other(void *user, refs_str key, const refs_ref *ref, refs_error *err) {
    reader *in = user;
    refs_combine_member *member = in->member;
    const refs_str group = refs_str_view((const char *)in->group.data + 1, in->group.size - 1);
    (void)ref;
    if (key.size <= group.size ||
        (group.size > 0 && memcmp(key.data, group.data, group.size) != 0) || is_of_problem(in, key))
        return REFS_OK;
    if (!refs_grow((void **)&member->others, &member->other_capacity, member->n_others,
                   sizeof *member->others))
        return refs_fail_nomem(err);
    REFS_TRY(number_text(in, key, &member->others[member->n_others], err));
    member->n_others++;
    return refs_combine__go_on(in->combine, err);
}

static refs_status find_others(reader *in, refs_error *err) {
    const refs_key_visitor visitor = {take_other, in};
    const size_t n_arrays = refs_hierarchy_n_arrays(in->source.hierarchy);
    const char *const *variables = variables_of(in);
    size_t n = 0;
    if (variables != NULL && *variables != NULL) return REFS_OK;
    if (in->member->role != REFS_COMBINE_IS_FRAGMENT) return REFS_OK;
    refs_chunk_keys *keys = refs_calloc(n_arrays + 1, sizeof *keys);
    uint64_t(*grids)[REFS_MAX_RANK] = refs_calloc(n_arrays + 1, sizeof *grids);
    refs_status status = keys != NULL && grids != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < n_arrays && status == REFS_OK; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        if (meta->status != REFS_OK) continue;
        refs_combine_n_keys(meta, grids[n]);
        keys[n] = (refs_chunk_keys){refs_str_from(meta->key_prefix), meta->separator, meta->rank,
                                    grids[n]};
        n++;
    }
    if (status == REFS_OK) status = refs_set_each_other(in->part->set, keys, n, &visitor, err);
    refs_free(keys);
    refs_free(grids);
    return status;
}

static refs_status read_part(reader *in, refs_error *err) {
    const refs_left_out_visitor left_out = {take_left_out, in};
    REFS_TRY(set_group(in, err));
    REFS_TRY(refs_combine__source_open(&in->combine->options, in->part->set, &in->source, err));
    REFS_TRY(choose(in, err));
    REFS_TRY(open_fields(in, err));
    REFS_TRY(find_containers(in, err));
    REFS_TRY(refs_set_each_name(in->part->set, visit_name, in, err));
    REFS_TRY(refs_left_out_read(in->part->set, &left_out, err));
    REFS_TRY(read_arrays(in, err));
    REFS_TRY(find_others(in, err)); /* before containers are described as aggregations */
    if (refs_combine__copies(in->combine)) REFS_TRY(rename_fragments(in, err));
    REFS_TRY(load_values(in, err));
    REFS_TRY(take_constants(in, err));
    if (!sees_aggregations(in)) REFS_TRY(find_axes(in, err));
    return keep_urls(in, err);
}

/* Values of axes, and of small coordinates that say where the part lies. */
static refs_status request_coordinate(reader *in, const refs_array_meta *meta, refs_error *err) {
    refs_combine_array *array = &in->member->arrays[in->member->n_arrays - 1];
    const bool is_axis = refs_combine__is_axis(meta);
    uint64_t bytes;
    describe_kind(in, meta, array);
    if (!refs_combine__value_bytes(meta, &bytes) ||
        (!is_axis && (array->coordinate == REFS_COMBINE_COORDINATE_OTHER ||
                      bytes > REFS_COMBINE_MAX_COMPARED_BYTES)))
        return REFS_OK;
    return bytes > REFS_COMBINE_MAX_GRID_BYTES ? take_digest(in, meta, array, err)
                                               : want_values(in, meta, false, err);
}

static refs_status read_coordinates(reader *in, refs_error *err) {
    REFS_TRY(set_group(in, err));
    REFS_TRY(refs_combine__source_open(&in->combine->options, in->part->set, &in->source, err));
    REFS_TRY(choose(in, err));
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        if (meta->status != REFS_OK || meta->is_instruction || !is_wanted(in, meta)) continue;
        REFS_TRY(add_array(in, meta, err));
        REFS_TRY(request_coordinate(in, meta, err));
    }
    return load_values(in, err);
}

refs_status refs_combine__read(refs_combine *combine, const refs_combine_part *part,
                               refs_combine_member *member, refs_intern *strings, refs_error *err) {
    reader in = {.combine = combine, .part = part, .member = member, .strings = strings};
    refs_status status =
        refs_combine__is_of_coordinates(combine) ? read_coordinates(&in, err) : read_part(&in, err);
    refs_combine__source_close(&in.source);
    refs_aggregations_free(in.aggregations);
    refs_free(in.values);
    for (size_t i = 0; i < in.n_containers; i++)
        refs_set_fragments_free(in.containers[i].fragments);
    refs_free(in.containers);
    refs_intern_clear(&in.wanted);
    refs_intern_clear(&in.fields);
    refs_intern_clear(&in.urls);
    refs_buf_clear(&in.group);
    refs_buf_clear(&in.scratch);
    return status;
}

void refs_combine__member_clear(refs_combine_member *member) {
    for (size_t i = 0; i < member->n_arrays; i++) refs_combine__array_clear(&member->arrays[i]);
    for (size_t i = 0; i < member->n_entries; i++) {
        refs_combine__array_clear(&member->entries[i].array);
        for (size_t dim = 0; dim < REFS_MAX_RANK; dim++)
            refs_free(member->entries[i].is_written[dim]);
        refs_fragment_grid_clear(&member->entries[i].grid);
    }
    refs_free(member->entries);
    refs_free(member->fragment);
    refs_free(member->format);
    for (size_t concat = 0; concat < REFS_COMBINE_MAX_DIMS; concat++) {
        refs_free(member->axes[concat].position);
        refs_free(member->axes[concat].by_position);
    }
    refs_free(member->arrays);
    refs_free(member->by_path);
    refs_free(member->documents);
    refs_free(member->others);
    refs_free(member->left_out);
    refs_free(member->urls);
    refs_free(member->name);
    refs_buf_clear(&member->streams);
    memset(member, 0, sizeof *member);
}
