/* contents.c -- reads a part: its documents and its arrays. */
#include "part_reader.h"
#include "refs/aggregation.h"
#include "refs/own_attributes.h"
#include "refs/store.h"

/* -- strings ----------------------------------------------------------------------------------- */

refs_status refs_part__number_text(refs_part_reader *in, refs_str text, uint32_t *id,
                                   refs_error *err) {
    return refs_intern_add(in->strings, text, id, err);
}

refs_status refs_part__number_scratch(refs_part_reader *in, uint32_t *id, refs_error *err) {
    return refs_part__number_text(in, refs_buf_text(&in->scratch), id, err);
}

refs_status refs_part__number_document(refs_part_reader *in, refs_str folder, const char *name,
                                       uint32_t *id, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    *id = REFS_COMBINE_NONE;
    in->scratch.size = 0;
    REFS_TRY(refs_buf_append_str(&key, folder, err));
    REFS_TRY(refs_buf_printf(&key, err, folder.size > 0 ? "/%s" : "%s", name));
    const refs_status status = refs_store_get(in->source.store, refs_buf_text(&key),
                                              REFS_MAX_METADATA_BYTES, &in->scratch, err);
    if (status == REFS_NOT_FOUND) return REFS_OK;
    REFS_TRY(status);
    return refs_part__number_scratch(in, id, err);
}

refs_status refs_part__number_attribute(refs_part_reader *in, const refs_array_meta *meta,
                                        const char *name, uint32_t *id, refs_error *err) {
    refs_str text = refs_cf_attribute_text(meta->attributes, name);
    *id = REFS_COMBINE_NONE;
    return text.data != NULL ? refs_part__number_text(in, text, id, err) : REFS_OK;
}

/* -- documents --------------------------------------------------------------------------------- */

const refs_part_container *refs_part__container_of(const refs_part_reader *in, const char *path) {
    for (size_t i = 0; i < in->n_containers; i++)
        if (refs_combine__is_part_of(in->containers[i].meta, path)) return &in->containers[i];
    return NULL;
}

/* Whether a group, without leading slash, contains fragments. */
static bool is_of_fragments(refs_part_reader *in, refs_str group) {
    in->scratch.size = 0;
    if (in->n_containers == 0 ||
        refs_buf_printf(&in->scratch, NULL, "/%.*s/", REFS_STR_WHOLE(group)) != REFS_OK)
        return false;
    return refs_part__container_of(in, (const char *)in->scratch.data) != NULL;
}

bool refs_part__sees_aggregations(const refs_part_reader *in) {
    return refs_combine__is_of_fields(in->combine) || in->member->role == REFS_COMBINE_IS_MASTER;
}

/* Whether aggregations are described as arrays, to be read or left out. */
static bool describes_aggregations(const refs_part_reader *in) {
    return refs_part__sees_aggregations(in) || in->rest != NULL;
}

/* Groups that only hold the instructions of aggregations are not groups of the result. */
static bool is_of_instructions(const refs_part_reader *in, refs_str folder) {
    const refs_group_meta *group =
        describes_aggregations(in) ? refs_hierarchy_find_group(in->source.hierarchy, folder) : NULL;
    return group != NULL && group->is_instruction;
}

/* Adds the document that is in the scratch buffer. */
static refs_status keep_document(refs_part_reader *in, refs_str key, refs_error *err) {
    refs_combine_member *member = in->member;
    REFS_GROW(member->documents, member->document_capacity, member->n_documents, err);
    refs_combine_document *document = &member->documents[member->n_documents];
    REFS_TRY(refs_part__number_scratch(in, &document->text, err));
    REFS_TRY(refs_part__number_text(in, key, &document->key, err));
    member->n_documents++;
    return REFS_OK;
}

static refs_status keep_named_document(refs_part_reader *in, refs_str folder, const char *name,
                                       refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&key, err, "%.*s%s", REFS_STR_WHOLE(folder), name));
    return keep_document(in, refs_buf_text(&key), err);
}

/* Adds the document of a group as those of version 2; `key` is that of "zarr.json" in the selected
 * group. */
static refs_status add_group_of_version_3(refs_part_reader *in, refs_str path, refs_str key,
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

static refs_status add_document(refs_part_reader *in, refs_str key, refs_error *err) {
    const refs_str folder = refs_path_parent(key), name = refs_path_last(key);
    refs_str group = refs_str_view((const char *)in->group.data + 1, in->group.size - 1);
    if (is_of_fragments(in, folder) || is_of_instructions(in, folder)) return REFS_OK;
    /* attributes of a master about itself are not attributes of the data */
    if (in->rest != NULL && refs_str_is(name, ".zattrs")) return REFS_OK;
    bool is_known = refs_str_is(name, ".zgroup") || refs_str_is(name, ".zattrs") ||
                    refs_str_is(name, "zarr.json");
    if (!is_known || refs_hierarchy_find_array(in->source.hierarchy, folder) != NULL)
        return REFS_OK;
    if (key.size < group.size || (group.size > 0 && memcmp(key.data, group.data, group.size) != 0))
        return REFS_OK;
    const refs_str inside = refs_str_part(key, group.size, key.size);
    if (refs_str_is(name, "zarr.json") && !in->keeps_version)
        return add_group_of_version_3(in, folder, inside, err);
    in->scratch.size = 0;
    REFS_TRY(refs_store_get(in->source.store, key, REFS_MAX_METADATA_BYTES, &in->scratch, err));
    return keep_document(in, inside, err);
}

static refs_status visit_name(void *user, refs_str key, refs_error *err) {
    return add_document(user, key, err);
}

/* -- all of it --------------------------------------------------------------------------------- */

/* Leaves out unsupported arrays of data files. Sets are copied as a whole or not at all, and
 * damaged arrays, or arrays that state where a part lies, are errors. */
static bool may_be_left_out(const refs_part_reader *in, const refs_array_meta *meta,
                            refs_status status) {
    size_t concat;
    return status == REFS_UNSUPPORTED && refs_set_is_file(in->part->set) &&
           in->combine->options.unlike != REFS_COMBINE_REFUSE &&
           !refs_combine__is_dim(in->combine, refs_str_from(meta->name), &concat);
}

typedef enum left_out_when { LEFT_OUT_NOW, LEFT_OUT_BEFORE } left_out_when;

static refs_status leave_out(refs_part_reader *in, const refs_left_out *found, left_out_when when,
                             refs_error *err) {
    refs_combine_member *member = in->member;
    REFS_GROW(member->left_out, member->left_out_capacity, member->n_left_out, err);
    refs_combine_left_out *left_out = &member->left_out[member->n_left_out];
    left_out->was_before = when == LEFT_OUT_BEFORE;
    REFS_TRY(refs_part__number_text(in, found->path, &left_out->path, err));
    REFS_TRY(refs_part__number_text(in, found->problem, &left_out->problem, err));
    member->n_left_out++;
    return REFS_OK;
}

/* Adds the variables left out when the set was made, as far as they are selected now. */
static refs_status take_left_out(void *user, const refs_left_out *found, refs_error *err) {
    refs_part_reader *in = user;
    const refs_str group = refs_str_view((const char *)in->group.data + 1, in->group.size - 1);
    const bool is_inside =
        found->path.size > group.size &&
        (group.size == 0 || memcmp(found->path.data, group.data, group.size) == 0);
    if (!is_inside || refs_part__variables_of(in) != NULL) return REFS_OK;
    const refs_left_out inside = {refs_str_part(found->path, group.size, found->path.size),
                                  found->problem};
    return leave_out(in, &inside, LEFT_OUT_BEFORE, err);
}

void refs_combine__array_clear(refs_combine_array *array) {
    refs_free(array->shape);
    refs_free(array->dims);
    refs_combine__holes_free(array->holes);
}

/* Limits the values of coordinates: sorting parts takes 80 bytes for each. */
static refs_status check_coordinate(const refs_part_reader *in, const refs_array_meta *meta,
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

static refs_status read_references(refs_part_reader *in, const refs_array_meta *meta,
                                   refs_error *err) {
    refs_combine_array *array = &in->member->arrays[in->member->n_arrays - 1];
    if (refs_combine__copies(in->combine))
        return refs_set_is_file(in->part->set) ? refs_part__look_for_masks(in, meta, array, err)
                                               : REFS_OK;
    refs_part__describe_kind(in, meta, array);
    REFS_TRY(check_coordinate(in, meta, array, err));
    if (refs_combine__is_of_fields(in->combine))
        return refs_part__read_field_values(in, meta, array, err);
    if (in->member->role == REFS_COMBINE_IS_MASTER)
        return refs_part__request_small_values(in, meta, array, err);
    if (!refs_combine__is_aggregated(in->combine))
        REFS_TRY(refs_part__pack_array(in, meta, array, err));
    REFS_TRY(refs_part__request_small_values(in, meta, array, err));
    if (refs_part__find_cut_through(in, meta) < meta->rank && !array->is_thin)
        return refs_part__fail_cut_through(in, meta, err);
    return REFS_OK;
}

static refs_status read_array(refs_part_reader *in, const refs_array_meta *meta, refs_error *err) {
    refs_combine_member *member = in->member;
    const size_t n_values = in->n_values;
    refs_left_out found = {.path = refs_part__relative(in, meta->path)};
    refs_error why = REFS_ERROR_INIT;
    if (may_be_left_out(in, meta, meta->status)) {
        found.problem = refs_str_from(meta->problem);
        return leave_out(in, &found, LEFT_OUT_NOW, err);
    }
    REFS_TRY(refs_part__add_array(in, meta, err));
    refs_status status = read_references(in, meta, &why);
    if (status == REFS_OK) return REFS_OK;
    if (!may_be_left_out(in, meta, status))
        return refs_fail(err, status, "%s: %s", meta->path, why.message);
    refs_combine__array_clear(&member->arrays[--member->n_arrays]);
    in->n_values = n_values;
    found.problem = refs_str_from(why.message);
    return leave_out(in, &found, LEFT_OUT_NOW, err);
}

/* Records the attributes of the aggregation. */
static refs_status number_whole(refs_part_reader *in, refs_part_container *of, refs_error *err) {
    in->scratch.size = 0;
    REFS_TRY(refs_combine__without_fragments(of->meta->attributes, &in->scratch, err));
    return refs_part__number_scratch(in, &of->attributes, err);
}

/* One source is copied, but no master to another. */
static bool may_be_replaced(const refs_part_reader *in) {
    const bool is_copied =
        refs_combine__copies(in->combine) &&
        !(refs_combine__is_aggregated(in->combine) && refs_set_is_file(in->part->set));
    return in->rest == NULL && in->member->role == REFS_COMBINE_IS_FRAGMENT && !is_copied;
}

/* Whether an array is an aggregation whose fragments are combined individually. The files of a
 * master may have a group that the master lacks. */
static bool is_aggregation(const refs_part_reader *in, const refs_array_meta *meta) {
    return (meta->aggregation != NULL || refs_aggregation_recognise(meta->attributes)) &&
           may_be_replaced(in) &&
           (in->combine->options.group != NULL || refs_part__is_wanted(in, meta));
}

static bool has_fragments(const refs_part_reader *in, const refs_array_meta *meta) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++)
        if (refs_combine__is_part_of(meta, refs_hierarchy_array(in->source.hierarchy, i)->path))
            return true;
    return false;
}

/* Replaces a master, which has the aggregation `meta`, by its files as sources. */
static refs_status replace(refs_part_reader *in, const refs_array_meta *meta, refs_error *err) {
    const bool are_nested = refs_part__sees_aggregations(in);
    if (has_fragments(in, meta))
        return are_nested
                   ? refs_part__fail_nested(meta, err)
                   : refs_fail(err, REFS_CORRUPT,
                               "%s has fragments in the set, but no record of their positions",
                               meta->path);
    if (in->combine->options.masters == NULL)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s is an aggregation of other files: combine those", meta->path);
    in->member->is_replaced = true;
    return refs_part__list_files(in, err);
}

static refs_status find_containers(refs_part_reader *in, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        if (!is_aggregation(in, meta)) continue;
        if (refs_part__sees_aggregations(in)) return replace(in, meta, err);
        REFS_GROW(in->containers, in->container_capacity, in->n_containers, err);
        refs_part_container *added = &in->containers[in->n_containers];
        *added = (refs_part_container){meta, NULL, REFS_COMBINE_NONE};
        REFS_TRY(refs_set_fragments_decode(in->source.hierarchy, meta, &added->fragments, err));
        if (added->fragments == NULL) return replace(in, meta, err);
        in->n_containers++;
        REFS_TRY(number_whole(in, added, err));
    }
    in->member->is_replaced = may_be_replaced(in) && refs_part__has_known_files(in);
    return in->member->is_replaced ? refs_part__list_files(in, err) : REFS_OK;
}

static bool is_container(const refs_part_reader *in, const refs_array_meta *meta) {
    for (size_t i = 0; i < in->n_containers; i++)
        if (in->containers[i].meta == meta) return true;
    return false;
}

static refs_status read_arrays(refs_part_reader *in, refs_error *err) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        const refs_part_container *of = refs_part__container_of(in, meta->path);
        REFS_TRY(refs_combine__go_on(in->combine, err));
        if (is_container(in, meta) || !refs_part__is_wanted(in, meta)) continue;
        if (describes_aggregations(in) && meta->is_instruction) continue;
        if (in->rest != NULL && meta->aggregation != NULL) {
            REFS_TRY(refs_part__check_rest(in, meta, err));
            continue;
        }
        if (refs_part__sees_aggregations(in) && meta->aggregation != NULL) {
            REFS_TRY(refs_part__read_entry(in, meta, err));
            continue;
        }
        REFS_TRY(of != NULL ? refs_part__read_piece(in, of, meta, err) : read_array(in, meta, err));
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

/* Whether a set was made of the selected group, so that its names are those in it. */
static bool is_of_group(const refs_part_reader *in) {
    const char *group = in->combine->options.group;
    return group != NULL && in->how.group != NULL && strcmp(in->how.group, group) == 0 &&
           !refs_combine__copies(in->combine);
}

static refs_status set_group(refs_part_reader *in, refs_error *err) {
    const bool has_others = in->part->values_from != REFS_COMBINE_FROM_NAME || is_of_group(in);
    const char *given = has_others ? NULL : in->combine->options.group;
    if (is_of_group(in)) REFS_TRY(refs_str_keep(refs_str_from(""), &in->member->group, err));
    if (in->file != NULL && given == NULL) given = refs_part__group_of_file(in->file);
    refs_str group = refs_str_from(given != NULL ? given : "");
    while (group.size > 0 && group.data[0] == '/') group = refs_str_part(group, 1, group.size);
    while (group.size > 0 && group.data[group.size - 1] == '/') group.size--;
    return refs_buf_printf(&in->group, err, group.size > 0 ? "/%.*s/" : "/%.*s",
                           REFS_STR_WHOLE(group));
}

static refs_status keep_urls(refs_part_reader *in, refs_error *err) {
    refs_combine_member *member = in->member;
    REFS_NEW(member->urls, in->urls.count + 1, err);
    for (uint32_t i = 0; i < in->urls.count; i++)
        REFS_TRY(refs_part__number_text(in, refs_intern_get(&in->urls, i), &member->urls[i], err));
    member->n_urls = in->urls.count;
    return REFS_OK;
}

static refs_status rename_fragments(refs_part_reader *in, refs_error *err) {
    const refs_combine_copied copied = {in->part->set, in->source.hierarchy, in->member,
                                        in->strings,   in->group.size,       &in->aggregations};
    return refs_combine__rename_fragments(in->combine, &copied, err);
}

/* -- keys that belong to no array -------------------------------------------------------------- */

/* Members of an array that cannot be read are left out with it. */
static bool is_of_problem(const refs_part_reader *in, refs_str key) {
    for (size_t end = key.size; end-- > 0;) {
        if (key.data[end] != '/') continue;
        const refs_array_meta *meta =
            refs_hierarchy_find_array(in->source.hierarchy, refs_str_part(key, 0, end));
        if (meta != NULL && meta->status != REFS_OK) return true;
    }
    return false;
}

static refs_status take_other(void *user, refs_str key, const refs_ref *ref, refs_error *err) {
    refs_part_reader *in = user;
    refs_combine_member *member = in->member;
    const refs_str group = refs_str_view((const char *)in->group.data + 1, in->group.size - 1);
    (void)ref;
    if (key.size <= group.size ||
        (group.size > 0 && memcmp(key.data, group.data, group.size) != 0) || is_of_problem(in, key))
        return REFS_OK;
    REFS_GROW(member->others, member->other_capacity, member->n_others, err);
    REFS_TRY(refs_part__number_text(in, key, &member->others[member->n_others], err));
    member->n_others++;
    return refs_combine__go_on(in->combine, err);
}

static refs_status find_others(refs_part_reader *in, refs_error *err) {
    const refs_key_visitor visitor = {take_other, in};
    const size_t n_arrays = refs_hierarchy_n_arrays(in->source.hierarchy);
    const char *const *variables = refs_part__variables_of(in);
    size_t n = 0;
    if (variables != NULL && *variables != NULL) return REFS_OK;
    if (in->member->role != REFS_COMBINE_IS_FRAGMENT) return REFS_OK;
    REFS_SCOPED refs_chunk_keys *keys = refs_calloc(n_arrays + 1, sizeof *keys);
    uint64_t(*grids)[REFS_MAX_RANK] = refs_calloc(n_arrays + 1, sizeof *grids);
    refs_status status = keys != NULL && grids != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < n_arrays && status == REFS_OK; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        if (meta->status != REFS_OK) continue;
        keys[n] = refs_array_meta_keys(meta, grids[n]);
        n++;
    }
    if (status == REFS_OK) status = refs_set_each_other(in->part->set, keys, n, &visitor, err);
    refs_free(grids);
    return status;
}

/* Whether a copy has metadata of version 3: in Icechunk, and if an array never was of version 2. */
static bool keeps_version(const refs_part_reader *in) {
    bool was_v2 = in->combine->options.fills != REFS_COMBINE_FILLS_DECLARED;
    for (size_t i = 0; was_v2 && i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        was_v2 = meta->zarr_format == 2 || meta->was_v2;
    }
    return refs_combine__copies(in->combine) && !was_v2;
}

static refs_status open_source(refs_part_reader *in, refs_error *err) {
    REFS_TRY(refs_combine__source_open(&in->combine->options, in->part->set, &in->source, err));
    in->keeps_version = keeps_version(in);
    return refs_cf_find_roles(in->source.hierarchy, &in->roles, err);
}

static refs_status read_part(refs_part_reader *in, refs_error *err) {
    const refs_left_out_visitor left_out = {take_left_out, in};
    REFS_TRY(set_group(in, err));
    REFS_TRY(open_source(in, err));
    REFS_TRY(refs_part__choose(in, err));
    REFS_TRY(refs_part__open_fields(in, err));
    REFS_TRY(find_containers(in, err));
    if (in->member->is_replaced) return REFS_OK;
    if (in->file != NULL && in->combine->options.group == NULL)
        REFS_TRY(refs_str_keep(refs_str_from(refs_part__group_of_file(in->file)),
                               &in->member->group, err));
    if (in->file != NULL) REFS_TRY(refs_part__check_sizes(in, in->file, err));
    REFS_TRY(refs_set_each_name(in->part->set, visit_name, in, err));
    REFS_TRY(refs_left_out_read(in->part->set, &left_out, err));
    REFS_TRY(read_arrays(in, err));
    REFS_TRY(find_others(in, err)); /* before containers are described as aggregations */
    if (refs_combine__copies(in->combine)) REFS_TRY(rename_fragments(in, err));
    REFS_TRY(refs_part__load_values(in, err));
    REFS_TRY(refs_part__take_constants(in, err));
    if (!refs_part__sees_aggregations(in)) REFS_TRY(refs_part__find_axes(in, err));
    if (!refs_part__sees_aggregations(in)) REFS_TRY(refs_part__take_other_digests(in, err));
    return keep_urls(in, err);
}

/* Requests the values of axes, and of small coordinates that give the position of the part. */
static refs_status request_coordinate(refs_part_reader *in, const refs_array_meta *meta,
                                      refs_error *err) {
    refs_combine_array *array = &in->member->arrays[in->member->n_arrays - 1];
    const bool is_axis = refs_combine__is_axis(meta);
    uint64_t bytes;
    refs_part__describe_kind(in, meta, array);
    if (!refs_combine__value_bytes(meta, &bytes) ||
        (!is_axis && (array->coordinate == REFS_COMBINE_COORDINATE_OTHER ||
                      bytes > REFS_COMBINE_MAX_COMPARED_BYTES)))
        return REFS_OK;
    return bytes > REFS_COMBINE_MAX_GRID_BYTES ? refs_part__take_digest(in, meta, array, err)
                                               : refs_part__want_values(in, meta, false, err);
}

static refs_status read_coordinates(refs_part_reader *in, refs_error *err) {
    REFS_TRY(set_group(in, err));
    REFS_TRY(open_source(in, err));
    REFS_TRY(refs_part__choose(in, err));
    REFS_TRY(find_containers(in, err));
    in->member->is_replaced = false; /* its coordinates are those of its files */
    for (size_t i = 0; i < refs_hierarchy_n_arrays(in->source.hierarchy); i++) {
        const refs_array_meta *meta = refs_hierarchy_array(in->source.hierarchy, i);
        if (meta->status != REFS_OK || meta->is_instruction || !refs_part__is_wanted(in, meta))
            continue;
        REFS_TRY(refs_part__add_array(in, meta, err));
        REFS_TRY(request_coordinate(in, meta, err));
    }
    return refs_part__load_values(in, err);
}

/* Reads how a set was combined; data files have no record. */
static refs_status take_how(refs_part_reader *in, refs_error *err) {
    if (refs_set_is_file(in->part->set)) return REFS_OK;
    REFS_TRY(refs_combine_how_read_set(in->part->set, &in->how, err));
    in->scratch.size = 0;
    for (size_t i = 0; i < in->how.along.n; i++)
        REFS_TRY(refs_buf_append(&in->scratch, in->how.along.items[i],
                                 strlen(in->how.along.items[i]) + 1, err));
    return in->how.along.n > 0 ? refs_part__number_scratch(in, &in->member->along, err) : REFS_OK;
}

refs_status refs_combine__read(refs_combine *combine, const refs_combine_part *part,
                               refs_combine_member *member, refs_intern *strings, refs_error *err) {
    refs_part_reader in = {.combine = combine, .part = part, .member = member, .strings = strings};
    member->master_file = refs_combine__find_master_file(combine->options.masters, part->name);
    in.file = refs_combine__master_file(combine->options.masters, member->master_file);
    in.rest = refs_combine__find_rest(combine->options.masters, part->name);
    refs_status status = refs_part__check_state(&in, err);
    if (status == REFS_OK) status = take_how(&in, err);
    if (status == REFS_OK)
        status = refs_combine__is_of_coordinates(combine) ? read_coordinates(&in, err)
                                                          : read_part(&in, err);
    refs_combine__source_close(&in.source);
    refs_free(in.roles);
    refs_aggregations_free(in.aggregations);
    refs_free(in.values);
    for (size_t i = 0; i < in.n_containers; i++)
        refs_set_fragments_free(in.containers[i].fragments);
    refs_free(in.containers);
    refs_combine_how_clear(&in.how);
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
    refs_free(member->group);
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
    refs_streams_clear(&member->streams);
    memset(member, 0, sizeof *member);
}
