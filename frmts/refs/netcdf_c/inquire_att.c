/* inquire_att.c -- attributes of groups and variables, see dispatch.h. */
#include "dispatch.h"

static int find_attributes(int ncid, int varid, ncrefs_file **file,
                           const ncrefs_attributes **attributes) {
    ncrefs_group *group;
    ncrefs_variable *variable;
    int code = varid == NC_GLOBAL ? ncrefs_find_group(ncid, file, &group)
                                  : ncrefs_find_variable(ncid, varid, file, &variable);
    if (code == NC_NOERR)
        *attributes = varid == NC_GLOBAL ? &group->attributes : &variable->attributes;
    return code;
}

static int find_attribute(int ncid, int varid, const char *name, ncrefs_file **file,
                          const ncrefs_attribute **attribute) {
    const ncrefs_attributes *all = NULL;
    NCREFS_TRY(find_attributes(ncid, varid, file, &all));
    *attribute = name != NULL ? ncrefs_find_attribute(all, name) : NULL;
    return *attribute != NULL ? NC_NOERR : NC_ENOTATT;
}

int ncrefs_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *n) {
    ncrefs_file *file;
    const ncrefs_attribute *attribute;
    NCREFS_TRY(find_attribute(ncid, varid, name, &file, &attribute));
    if (type != NULL) *type = attribute->type;
    if (n != NULL) *n = attribute->n;
    return NC_NOERR;
}

int ncrefs_inq_attid(int ncid, int varid, const char *name, int *id) {
    ncrefs_file *file;
    const ncrefs_attributes *all = NULL;
    const ncrefs_attribute *attribute;
    int code = find_attribute(ncid, varid, name, &file, &attribute);
    if (code == NC_NOERR) code = find_attributes(ncid, varid, &file, &all);
    if (code == NC_NOERR && id != NULL) *id = (int)(attribute - all->items);
    return code;
}

int ncrefs_inq_attname(int ncid, int varid, int id, char *name) {
    ncrefs_file *file;
    const ncrefs_attributes *all = NULL;
    NCREFS_TRY(find_attributes(ncid, varid, &file, &all));
    if (id < 0 || (size_t)id >= all->n) return NC_ENOTATT;
    ncrefs_put_name(name, all->items[id].name);
    return NC_NOERR;
}

/* netCDF-C's nc_free_string frees each. */
static int copy_strings(const ncrefs_attribute *attribute, char **dst) {
    char *const *strings = attribute->values;
    for (size_t i = 0; i < attribute->n; i++)
        if ((dst[i] = strdup(strings[i])) == NULL) return NC_ENOMEM;
    return NC_NOERR;
}

int ncrefs_get_att(int ncid, int varid, const char *name, void *values, nc_type type) {
    ncrefs_file *file;
    const ncrefs_attribute *attribute;
    NCREFS_TRY(find_attribute(ncid, varid, name, &file, &attribute));
    if (type == NC_NAT) type = attribute->type;
    if (attribute->n == 0) return NC_NOERR;
    if (values == NULL) return NC_EINVAL;
    if (type == NC_STRING && attribute->type == NC_STRING) return copy_strings(attribute, values);
    if (type != attribute->type)
        return ncrefs_convert(attribute->type, attribute->values, type, values, attribute->n);
    memcpy(values, attribute->values, attribute->n * ncrefs_size_of(&file->model.types, type));
    return NC_NOERR;
}
