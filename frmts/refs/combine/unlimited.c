/* unlimited.c -- the unlimited dimensions of a combined master. */
#include "combine_internal.h"
#include "refs/cfa/cfa.h"
#include "refs/own_attributes.h"

typedef struct listing {
    const refs_combine *combine;
    bool is_netcdf3;
    refs_buf *paths;
} listing;

static bool is_named(const refs_combine *combine, uint32_t path, refs_str name) {
    return refs_str_equal(refs_path_last(refs_combine__text(combine, path)), name);
}

/* Whether the master has the coordinate of a dimension, which states the length of an unlimited
 * one. */
static bool has_coordinate(const listing *all, refs_str path) {
    const refs_combine *combine = all->combine;
    const uint32_t id = refs_intern_find(&combine->strings, path);
    size_t n = 0;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_array *array = refs_combine__find(&combine->members[i], id);
        if (array == NULL) continue;
        if (array->rank != 1 || !array->is_thin ||
            !is_named(combine, array->dims[0], refs_path_last(path)))
            return false;
        n++;
    }
    return n > 0;
}

/* Whether the dimension is the first one of all its variables, as records must be in netCDF-3. */
static bool is_first(const refs_combine *combine, refs_str name) {
    for (size_t i = 0; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_arrays; k++) {
            const refs_combine_array *array = &combine->members[i].arrays[k];
            for (size_t dim = 1; dim < array->rank; dim++)
                if (is_named(combine, array->dims[dim], name)) return false;
        }
    return true;
}

static bool can_grow(const listing *all, refs_str path) {
    return has_coordinate(all, path) &&
           (!all->is_netcdf3 ||
            (all->paths->size == 0 && is_first(all->combine, refs_path_last(path))));
}

bool refs_combine__is_unlimited(const refs_buf *paths, refs_str group, refs_str name) {
    const char *path;
    for (refs_str rest = refs_buf_text(paths); refs_str_next_text(&rest, &path);)
        if (refs_str_equal(refs_path_folder(refs_str_from(path)), group) &&
            refs_str_is(name, refs_path_leaf(path)))
            return true;
    return false;
}

static refs_status add(const listing *all, refs_str group, refs_str name, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&path, group, err));
    REFS_TRY(refs_buf_append_str(&path, name, err));
    if (!can_grow(all, refs_buf_text(&path))) return REFS_OK;
    REFS_TRY(refs_buf_append(&path, "", 1, err));
    return refs_buf_append(all->paths, path.data, path.size, err);
}

static refs_status list_of(const listing *all, const refs_combine_document *document,
                           refs_error *err) {
    refs_str group;
    if (!refs_combine__is_attributes(all->combine, document, &group)) return REFS_OK;
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(refs_combine__text(all->combine, document->text), &doc, err));
    const refs_json *names = refs_json_get(refs_json_root(doc), REFS_UNLIMITED_DIMENSIONS);
    for (size_t i = 0; i < refs_json_size(names); i++) {
        const refs_str name = refs_json_text(refs_json_at(names, i));
        if (!refs_combine__is_unlimited(all->paths, group, name))
            REFS_TRY(add(all, group, name, err));
    }
    return REFS_OK;
}

refs_status refs_combine__list_unlimited(const refs_combine *combine, const refs_master *master,
                                         refs_buf *paths, refs_error *err) {
    const listing all = {combine, refs_master_format(master) == REFS_CFA_NETCDF3, paths};
    const size_t first = combine->n_parts < combine->n_members ? combine->n_parts : 0;
    REFS_SCOPED uint32_t *seen = refs_calloc(combine->strings.count + 1, sizeof *seen);
    if (seen == NULL) return refs_fail_nomem(err);
    for (size_t i = first; i < combine->n_members; i++)
        for (size_t k = 0; k < combine->members[i].n_documents; k++) {
            const refs_combine_document *document = &combine->members[i].documents[k];
            uint32_t *last = &seen[document->key];
            if (*last == document->text + 1) continue;
            *last = document->text + 1;
            REFS_TRY(list_of(&all, document, err));
        }
    return REFS_OK;
}
