/* renamed.c -- renames the fragments of aggregations in a copied set, which may be in another
 * folder, as references to these files are renamed. */
#include <stdio.h>

#include "combine_internal.h"
#include "refs/aggregation.h"

typedef struct renaming {
    refs_combine *combine;
    refs_combine_member *member;
    refs_intern *strings;
    size_t group; /* length of the selected group, which is removed from paths */
} renaming;

/* A file counts as absent only if that is certain: a name chosen after an I/O error would be read
 * as fill values. */
static refs_status look(void *user, const char *location, bool *is_there, refs_error *err) {
    const renaming *job = user;
    const refs_vfs *vfs = job->combine->options.vfs;
    refs_error problem = REFS_ERROR_INIT;
    void *handle = NULL;
    REFS_TRY(refs_combine__go_on(job->combine, err));
    if (vfs == NULL) return REFS_OK;
    const refs_status status = vfs->open(vfs->self, location, &handle, &problem);
    *is_there = status == REFS_OK;
    if (status == REFS_OK) vfs->close(vfs->self, handle);
    if (status == REFS_OK || status == REFS_NOT_FOUND) return REFS_OK;
    return refs_fail(err, status, "%s", problem.message);
}

static refs_status rename_file(void *user, refs_str location, refs_buf *renamed, refs_error *err) {
    const renaming *job = user;
    REFS_TRY(refs_combine__go_on(job->combine, err));
    return refs_combine_url(&job->combine->options.urls, location, renamed, err);
}

static refs_combine_array *find_array(const renaming *job, const refs_array_meta *meta) {
    const refs_str path = refs_str_from(meta->path);
    for (size_t i = 0; i < job->member->n_arrays && path.size >= job->group; i++) {
        refs_combine_array *array = &job->member->arrays[i];
        if (refs_str_equal(refs_intern_get(job->strings, array->path),
                           refs_str_part(path, job->group, path.size)))
            return array;
    }
    return NULL;
}

static refs_status replace(renaming *job, uint32_t *id, const char *const *pairs, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const refs_str old =
        *id != REFS_COMBINE_NONE ? refs_intern_get(job->strings, *id) : refs_str_from("{}");
    REFS_TRY(refs_combine__replace(old, pairs, &text, err));
    return refs_intern_add(job->strings, refs_buf_text(&text), id, err);
}

static refs_status fail_v3(const renaming *job, refs_error *err) {
    const refs_combine_urls *urls = &job->combine->options.urls;
    const bool is_rewritten = urls->rewrites != NULL && *urls->rewrites != NULL;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "cannot rewrite names of fragments in arrays of Zarr version 3: %s",
                     urls->relative_to != NULL ? "leave out --relative"
                     : is_rewritten            ? "leave out --rewrite"
                                               : "give them absolute names");
}

/* Writes strings of fixed length. */
static refs_status pad(refs_bytes names, size_t size, refs_buf *padded, refs_error *err) {
    refs_str rest = refs_bytes_text(names);
    for (const char *name; refs_str_next_text(&rest, &name);) {
        const refs_str one = refs_str_from(name);
        const size_t begin = padded->size;
        REFS_TRY(refs_buf_append_str(padded, one, err));
        REFS_TRY(refs_buf_resize(padded, begin + size, err));
        memset(padded->data + begin + one.size, 0, size - one.size);
    }
    return REFS_OK;
}

static size_t longest_of(refs_bytes names) {
    size_t longest = 1;
    refs_str rest = refs_bytes_text(names);
    for (const char *name; refs_str_next_text(&rest, &name);)
        if (strlen(name) > longest) longest = strlen(name);
    return longest;
}

/* Describes one chunk of strings without codecs, and without the dimension of letters. */
static refs_status describe_strings(renaming *job, const refs_array_meta *meta, size_t size,
                                    refs_combine_array *array, refs_error *err) {
    REFS_SCOPED_BUF shape = REFS_BUF_INIT, dims = REFS_BUF_INIT;
    char dtype[40];
    (void)snprintf(dtype, sizeof dtype, "\"|S%zu\"", size);
    REFS_TRY(refs_combine__write_list(array->shape, array->rank, &shape, err));
    REFS_TRY(refs_buf_append(&dims, "[", 1, err));
    for (size_t dim = 0; dim < array->rank; dim++) {
        REFS_TRY(refs_buf_append(&dims, ",", dim > 0, err));
        REFS_TRY(refs_json_write_string(refs_str_from(meta->dims[dim]), &dims, err));
    }
    REFS_TRY(refs_buf_append(&dims, "]", 2, err));
    const char *const document[] = {"shape",      (const char *)shape.data,
                                    "chunks",     (const char *)shape.data,
                                    "dtype",      dtype,
                                    "compressor", "null",
                                    "filters",    "null",
                                    "fill_value", "null",
                                    "order",      "\"C\"",
                                    NULL};
    const char *const attributes[] = {"_ARRAY_DIMENSIONS", (const char *)dims.data, "_FillValue",
                                      NULL, NULL};
    REFS_TRY(replace(job, &array->document, document, err));
    return meta->named_dims ? replace(job, &array->attributes, attributes, err) : REFS_OK;
}

static refs_status take_variable(void *user, const refs_array_meta *meta, size_t rank,
                                 refs_bytes names, refs_error *err) {
    renaming *job = user;
    refs_combine_array *array = find_array(job, meta);
    REFS_SCOPED_BUF padded = REFS_BUF_INIT;
    const size_t size = longest_of(names);
    if (array == NULL) return REFS_OK;
    if (array->is_v3) return fail_v3(job, err);
    array->rank = rank;
    for (size_t dim = 0; dim < rank; dim++) {
        array->chunk[dim] = array->shape[dim];
        array->n[dim] = 1;
    }
    REFS_TRY(pad(names, size, &padded, err));
    REFS_TRY(refs_intern_add(job->strings, refs_buf_text(&padded), &array->values, err));
    return describe_strings(job, meta, size, array, err);
}

static refs_status take_attribute(void *user, const refs_array_meta *container, const char *name,
                                  refs_str text, refs_error *err) {
    renaming *job = user;
    refs_combine_array *array = find_array(job, container);
    REFS_SCOPED_BUF quoted = REFS_BUF_INIT;
    if (array == NULL) return REFS_OK;
    if (array->is_v3) return fail_v3(job, err);
    REFS_TRY(refs_json_write_string(text, &quoted, err));
    REFS_TRY(refs_buf_append(&quoted, "", 1, err));
    const char *const pairs[] = {name, (const char *)quoted.data, NULL};
    return replace(job, &array->attributes, pairs, err);
}

refs_status refs_combine__rename_fragments(refs_combine *combine, const refs_combine_copied *copied,
                                           refs_error *err) {
    renaming job = {combine, copied->member, copied->strings, copied->group};
    const refs_file_renamer renamer = {.location = refs_set_location(copied->set),
                                       .remote_to_local =
                                           refs_set_url_context(copied->set).remote_to_local,
                                       .look = look,
                                       .rename = rename_file,
                                       .variable = take_variable,
                                       .attribute = take_attribute,
                                       .user = &job};
    refs_aggregations *all = NULL;
    bool any = false;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(copied->hierarchy); i++)
        any = any ||
              refs_aggregation_recognise(refs_hierarchy_array(copied->hierarchy, i)->attributes);
    if (!any) return REFS_OK;
    REFS_TRY(refs_aggregations_open(copied->hierarchy, &combine->options.notes, &all, err));
    const refs_status status = refs_aggregations_rename(all, &renamer, err);
    *copied->aggregations = all;
    return status;
}
