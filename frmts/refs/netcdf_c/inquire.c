/* inquire.c -- inquiries about groups, dimensions and variables, see dispatch.h. */
#include <stdio.h>

#include "dispatch.h"
#include "refs/aggregation.h"

/* Callers may pass NULL for results that they do not need. */
#define PUT(pointer, value)                                                                        \
    do {                                                                                           \
        if ((pointer) != NULL) *(pointer) = (value);                                               \
    } while (0)

void ncrefs_put_name(char *dst, const char *name) {
    if (dst != NULL) snprintf(dst, NC_MAX_NAME + 1, "%s", name);
}

int ncrefs_find_group(int ncid, ncrefs_file **file, ncrefs_group **group) {
    *file = ncrefs_find_file(ncid);
    if (*file == NULL) return NC_EBADID;
    size_t number = (size_t)(ncid & (NCREFS_MAX_GROUPS - 1));
    if (number >= (*file)->model.n_groups) return NC_EBADGRPID;
    *group = &(*file)->model.groups[number];
    return NC_NOERR;
}

int ncrefs_find_variable(int ncid, int varid, ncrefs_file **file, ncrefs_variable **variable) {
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, file, &group));
    if (varid < 0 || (size_t)varid >= group->n_variables) return NC_ENOTVAR;
    *variable = &(*file)->model.variables[group->variables[varid]];
    return NC_NOERR;
}

static size_t number_of(const ncrefs_file *file, const ncrefs_group *group) {
    return (size_t)(group - file->model.groups);
}

/* -- files ------------------------------------------------------------------------------------- */

int ncrefs_inq_format(int ncid, int *format) {
    if (ncrefs_find_file(ncid) == NULL) return NC_EBADID;
    PUT(format, NC_FORMAT_NETCDF4);
    return NC_NOERR;
}

int ncrefs_inq_format_extended(int ncid, int *format, int *mode) {
    const ncrefs_file *file = ncrefs_find_file(ncid);
    if (file == NULL) return NC_EBADID;
    PUT(format, NC_FORMATX_UDF0);
    PUT(mode, file->mode);
    return NC_NOERR;
}

/* Lists the unlimited dimensions of a group; `ids` may be NULL. */
static int list_unlimited(const ncrefs_file *file, const ncrefs_group *group, int *ids) {
    int n = 0;
    for (size_t i = 0; i < file->model.n_dims; i++) {
        const ncrefs_dim *dim = &file->model.dims[i];
        if (!dim->is_unlimited || &file->model.groups[dim->group] != group) continue;
        if (ids != NULL) ids[n] = (int)i;
        n++;
    }
    return n;
}

static int first_unlimited(const ncrefs_file *file, const ncrefs_group *group) {
    for (size_t i = 0; i < file->model.n_dims; i++) {
        const ncrefs_dim *dim = &file->model.dims[i];
        if (dim->is_unlimited && &file->model.groups[dim->group] == group) return (int)i;
    }
    return -1;
}

int ncrefs_inq(int ncid, int *n_dims, int *n_vars, int *n_atts, int *unlimited) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    PUT(n_vars, (int)group->n_variables);
    PUT(n_atts, (int)group->attributes.n);
    PUT(unlimited, first_unlimited(file, group));
    return n_dims != NULL ? ncrefs_inq_dimids(ncid, n_dims, NULL, 0) : NC_NOERR;
}

/* -- groups ------------------------------------------------------------------------------------ */

/* Finds a subgroup by name. The root, which is its own parent, is not a subgroup. */
static int group_named(const ncrefs_file *file, size_t parent, refs_str name, size_t *found) {
    for (size_t i = 1; i < file->model.n_groups; i++) {
        const ncrefs_group *group = &file->model.groups[i];
        if (group->parent != parent || !refs_str_is(name, group->name)) continue;
        *found = i;
        return NC_NOERR;
    }
    return NC_ENOGRP;
}

int ncrefs_inq_ncid(int ncid, const char *name, int *group) {
    ncrefs_file *file;
    ncrefs_group *in;
    size_t found = 0;
    int code = ncrefs_find_group(ncid, &file, &in);
    if (code == NC_NOERR && name != NULL) /* else it is the root */
        code = group_named(file, number_of(file, in), refs_str_from(name), &found);
    if (code == NC_NOERR) PUT(group, file->ncid + (int)found);
    return code;
}

int ncrefs_inq_grps(int ncid, int *n, int *ncids) {
    ncrefs_file *file;
    ncrefs_group *in;
    int count = 0;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &in));
    for (size_t i = 1; i < file->model.n_groups; i++) {
        if (file->model.groups[i].parent != number_of(file, in)) continue;
        if (ncids != NULL) ncids[count] = file->ncid + (int)i;
        count++;
    }
    PUT(n, count);
    return NC_NOERR;
}

int ncrefs_inq_grpname(int ncid, char *name) {
    ncrefs_file *file;
    ncrefs_group *group;
    int code = ncrefs_find_group(ncid, &file, &group);
    if (code == NC_NOERR) ncrefs_put_name(name, *group->name != '\0' ? group->name : "/");
    return code;
}

int ncrefs_inq_grpname_full(int ncid, size_t *size, char *name) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    const char *path = *group->path != '\0' ? group->path : "/";
    PUT(size, strlen(path));
    if (name != NULL) memcpy(name, path, strlen(path) + 1);
    return NC_NOERR;
}

int ncrefs_inq_grp_parent(int ncid, int *parent) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    if (number_of(file, group) == 0) return NC_ENOGRP;
    PUT(parent, file->ncid + (int)group->parent);
    return NC_NOERR;
}

int ncrefs_inq_grp_full_ncid(int ncid, const char *path, int *group) {
    ncrefs_file *file;
    ncrefs_group *in;
    int code = ncrefs_find_group(ncid, &file, &in);
    refs_str rest = refs_str_from(path != NULL ? path : "");
    size_t at = code == NC_NOERR ? number_of(file, in) : 0;
    while (code == NC_NOERR && rest.size > 0) {
        size_t slash = refs_str_find(rest, '/');
        refs_str name = refs_str_part(rest, 0, slash);
        if (name.size > 0) code = group_named(file, at, name, &at);
        rest = refs_str_part(rest, slash == SIZE_MAX ? rest.size : slash + 1, rest.size);
    }
    if (code == NC_NOERR) PUT(group, file->ncid + (int)at);
    return code;
}

/* -- dimensions -------------------------------------------------------------------------------- */

static bool is_above(const ncrefs_file *file, size_t above, size_t group) {
    while (group != above && group != 0) group = file->model.groups[group].parent;
    return group == above;
}

int ncrefs_inq_dimids(int ncid, int *n, int *ids, int include_parents) {
    ncrefs_file *file;
    ncrefs_group *group;
    int count = 0;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    size_t number = number_of(file, group);
    for (size_t i = 0; i < file->model.n_dims; i++) {
        size_t home = file->model.dims[i].group;
        if (home != number && !(include_parents && is_above(file, home, number))) continue;
        if (ids != NULL) ids[count] = (int)i;
        count++;
    }
    PUT(n, count);
    return NC_NOERR;
}

int ncrefs_inq_dimid(int ncid, const char *name, int *id) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    for (size_t above = number_of(file, group);; above = file->model.groups[above].parent) {
        for (size_t i = 0; i < file->model.n_dims; i++) {
            const ncrefs_dim *dim = &file->model.dims[i];
            if (dim->group != above || strcmp(dim->name, name) != 0) continue;
            PUT(id, (int)i);
            return NC_NOERR;
        }
        if (above == 0) return NC_EBADDIM;
    }
}

int ncrefs_inq_dim(int ncid, int id, char *name, size_t *size) {
    const ncrefs_file *file = ncrefs_find_file(ncid);
    if (file == NULL) return NC_EBADID;
    if (id < 0 || (size_t)id >= file->model.n_dims) return NC_EBADDIM;
    ncrefs_put_name(name, file->model.dims[id].name);
    PUT(size, file->model.dims[id].size);
    return NC_NOERR;
}

int ncrefs_inq_unlimdim(int ncid, int *id) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    PUT(id, first_unlimited(file, group));
    return NC_NOERR;
}

int ncrefs_inq_unlimdims(int ncid, int *n, int *ids) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    int n_listed = list_unlimited(file, group, ids);
    PUT(n, n_listed);
    return NC_NOERR;
}

/* -- variables --------------------------------------------------------------------------------- */

int ncrefs_inq_varids(int ncid, int *n, int *ids) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    PUT(n, (int)group->n_variables);
    for (size_t i = 0; ids != NULL && i < group->n_variables; i++) ids[i] = (int)i;
    return NC_NOERR;
}

int ncrefs_inq_varid(int ncid, const char *name, int *id) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    for (size_t i = 0; i < group->n_variables; i++) {
        if (strcmp(file->model.variables[group->variables[i]].name, name) != 0) continue;
        PUT(id, (int)i);
        return NC_NOERR;
    }
    return NC_ENOTVAR;
}

/* The length of an aggregation's first fragment along a dimension; the array's chunk size if the
 * file that lists the fragments cannot be read. */
static uint64_t chunk_along(const refs_array_meta *meta, size_t dim) {
    uint64_t length = meta->chunk[dim];
    if (meta->aggregation != NULL && meta->shape[dim] > 0 &&
        refs_aggregation_border_behind(meta, dim, 0, &length, NULL) != REFS_OK)
        length = meta->chunk[dim];
    return length < meta->shape[dim] || meta->shape[dim] == 0 ? length : meta->shape[dim];
}

/* Divides chunks of large fragments along their first dimensions, because programs copy an
 * aggregation with these chunks. */
static void bound_chunks(const refs_array_meta *meta, size_t *chunks) {
    const uint64_t most = 4 * REFS_MIB;
    uint64_t size = meta->dtype.size > 0 ? meta->dtype.size : 1;
    for (size_t dim = 0; dim < meta->rank; dim++)
        if (!refs_mul_u64(size, chunks[dim], &size)) size = UINT64_MAX;
    for (size_t dim = 0; dim < meta->rank && size > most; dim++) {
        const uint64_t behind = size / chunks[dim];
        chunks[dim] = behind < most ? (size_t)(most / behind) : 1;
        size = behind * chunks[dim];
    }
}

static void put_chunks(const refs_array_meta *meta, size_t *chunks) {
    if (chunks == NULL) return;
    for (size_t dim = 0; dim < meta->rank; dim++) chunks[dim] = (size_t)chunk_along(meta, dim);
    if (meta->aggregation != NULL) bound_chunks(meta, chunks);
}

static int put_fill(const ncrefs_file *file, const ncrefs_variable *variable, int *no_fill,
                    void *fill) {
    PUT(no_fill, variable->is_unfilled ? 1 : 0);
    if (fill == NULL) return NC_NOERR;
    if (variable->type == NC_STRING) {
        const ncrefs_attribute *declared =
            ncrefs_find_attribute(&variable->attributes, NCREFS_FILL);
        const char *text = variable->meta->fill_text;
        if (declared != NULL) memcpy(&text, declared->values, sizeof text);
        char *copy = strdup(text);
        memcpy(fill, &copy, sizeof copy);
        return copy != NULL ? NC_NOERR : NC_ENOMEM;
    }
    size_t size = ncrefs_size_of(&file->model.types, variable->type);
    memset(fill, 0, size);
    if (size <= sizeof variable->fill) memcpy(fill, variable->fill, size);
    return NC_NOERR;
}

/* netCDF-C reports no byte order for netCDF-3, in which it is fixed. */
static int endianness(const ncrefs_file *file, const refs_array_meta *meta) {
    if (refs_dtype_swap_size(&meta->dtype) <= 1 || file->model.is_classic) return NC_ENDIAN_NATIVE;
    return meta->dtype.big_endian ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE;
}

int ncrefs_inq_var_all(int ncid, int varid, char *name, nc_type *type, int *n_dims, int *dims,
                       int *n_atts, int *shuffle, int *deflate, int *level, int *fletcher32,
                       int *contiguous, size_t *chunks, int *no_fill, void *fill, int *endian,
                       unsigned *filter, size_t *n_parameters, unsigned *parameters) {
    ncrefs_file *file;
    ncrefs_variable *variable;
    ncrefs_storage storage;
    if (varid == NC_GLOBAL) { /* as for netCDF-C's HDF5 files, for nc_inq_varnatts */
        ncrefs_group *group;
        int found = ncrefs_find_group(ncid, &file, &group);
        if (found == NC_NOERR) PUT(n_atts, (int)group->attributes.n);
        return found;
    }
    NCREFS_TRY(ncrefs_find_variable(ncid, varid, &file, &variable));
    const refs_array_meta *meta = variable->meta;
    ncrefs_storage_of(meta, &storage);
    ncrefs_put_name(name, variable->name);
    PUT(type, variable->type);
    PUT(n_dims, (int)meta->rank);
    for (size_t dim = 0; dims != NULL && dim < meta->rank; dim++) dims[dim] = variable->dims[dim];
    PUT(n_atts, (int)variable->attributes.n);
    PUT(shuffle, storage.shuffles);
    PUT(deflate, storage.deflate_level > 0);
    PUT(level, storage.deflate_level);
    PUT(fletcher32, storage.has_fletcher32);
    PUT(contiguous, storage.is_contiguous);
    if (!storage.is_contiguous) put_chunks(meta, chunks);
    PUT(endian, endianness(file, meta));
    PUT(filter, storage.n_filters > 0 ? storage.filters[0].id : 0);
    PUT(n_parameters, storage.n_filters > 0 ? storage.filters[0].n_parameters : 0);
    if (storage.n_filters > 0 && parameters != NULL)
        memcpy(parameters, storage.filters[0].parameters,
               storage.filters[0].n_parameters * sizeof *parameters);
    return put_fill(file, variable, no_fill, fill);
}

int ncrefs_get_var_chunk_cache(int ncid, int varid, size_t *size, size_t *n, float *preemption) {
    ncrefs_file *file;
    ncrefs_variable *variable;
    NCREFS_TRY(ncrefs_find_variable(ncid, varid, &file, &variable));
    PUT(size, 0);
    PUT(n, 0);
    PUT(preemption, 0);
    return NC_NOERR;
}

/* -- filters ----------------------------------------------------------------------------------- */

int ncrefs_inq_var_filter_ids(int ncid, int varid, size_t *n, unsigned *ids) {
    ncrefs_file *file;
    ncrefs_variable *variable;
    ncrefs_storage storage;
    NCREFS_TRY(ncrefs_find_variable(ncid, varid, &file, &variable));
    ncrefs_storage_of(variable->meta, &storage);
    PUT(n, storage.n_filters);
    for (size_t i = 0; ids != NULL && i < storage.n_filters; i++) ids[i] = storage.filters[i].id;
    return NC_NOERR;
}

int ncrefs_inq_var_filter_info(int ncid, int varid, unsigned id, size_t *n, unsigned *parameters) {
    ncrefs_file *file;
    ncrefs_variable *variable;
    ncrefs_storage storage;
    NCREFS_TRY(ncrefs_find_variable(ncid, varid, &file, &variable));
    ncrefs_storage_of(variable->meta, &storage);
    for (size_t i = 0; i < storage.n_filters; i++) {
        if (storage.filters[i].id != id) continue;
        PUT(n, storage.filters[i].n_parameters);
        if (parameters != NULL)
            memcpy(parameters, storage.filters[i].parameters,
                   storage.filters[i].n_parameters * sizeof *parameters);
        return NC_NOERR;
    }
    return NC_ENOFILTER;
}

int ncrefs_inq_var_quantize(int ncid, int varid, int *mode, int *digits) {
    ncrefs_file *file;
    ncrefs_variable *variable;
    NCREFS_TRY(ncrefs_find_variable(ncid, varid, &file, &variable));
    PUT(mode, NC_NOQUANTIZE);
    PUT(digits, 0);
    return NC_NOERR;
}

int ncrefs_inq_filter_avail(int ncid, unsigned id) {
    (void)id;
    return ncrefs_find_file(ncid) != NULL ? NC_NOERR : NC_EBADID;
}

/* -- values ------------------------------------------------------------------------------------ */

int ncrefs_get_varm(int ncid, int varid, const size_t *start, const size_t *count,
                    const ptrdiff_t *stride, const ptrdiff_t *map, void *values, nc_type type) {
    ncrefs_file *file;
    ncrefs_variable *variable;
    NCREFS_TRY(ncrefs_find_variable(ncid, varid, &file, &variable));
    if (variable->meta->rank > 0 && (start == NULL || count == NULL)) return NC_EINVALCOORDS;
    const ncrefs_request request = {start, count, stride, map, type, values};
    return ncrefs_read(file, variable, &request);
}

int ncrefs_get_vars(int ncid, int varid, const size_t *start, const size_t *count,
                    const ptrdiff_t *stride, void *values, nc_type type) {
    return ncrefs_get_varm(ncid, varid, start, count, stride, NULL, values, type);
}

int ncrefs_get_vara(int ncid, int varid, const size_t *start, const size_t *count, void *values,
                    nc_type type) {
    return ncrefs_get_varm(ncid, varid, start, count, NULL, NULL, values, type);
}
