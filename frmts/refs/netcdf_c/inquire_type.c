/* inquire_type.c -- types of elements, see dispatch.h. All user-defined types are in the root
 * group.
 */
#include "dispatch.h"

static const char *const atomic[] = {"",      "byte",   "char",  "short",  "int",
                                     "float", "double", "ubyte", "ushort", "uint",
                                     "int64", "uint64", "string"};

static const char *const fields[] = {"r", "i"};

static int find_type(int ncid, nc_type type, ncrefs_file **file, const ncrefs_type **found) {
    *file = ncrefs_find_file(ncid);
    if (*file == NULL) return NC_EBADID;
    *found = ncrefs_find_type(&(*file)->model.types, type);
    return *found != NULL ? NC_NOERR : NC_EBADTYPE;
}

int ncrefs_inq_type(int ncid, nc_type type, char *name, size_t *size) {
    const ncrefs_file *file = ncrefs_find_file(ncid);
    if (file == NULL) return NC_EBADID;
    size_t bytes = ncrefs_size_of(&file->model.types, type);
    if (bytes == 0) return NC_EBADTYPE;
    const ncrefs_type *user = ncrefs_find_type(&file->model.types, type);
    ncrefs_put_name(name, user != NULL ? user->name : atomic[type]);
    if (size != NULL) *size = bytes;
    return NC_NOERR;
}

int ncrefs_inq_typeid(int ncid, const char *name, nc_type *type) {
    const ncrefs_file *file = ncrefs_find_file(ncid);
    if (file == NULL) return NC_EBADID;
    nc_type found = NC_NAT;
    for (nc_type i = NC_BYTE; i <= NC_STRING; i++)
        if (strcmp(name, atomic[i]) == 0) found = i;
    if (*name == '/') name++;
    for (size_t i = 0; i < file->model.types.n; i++)
        if (strcmp(name, file->model.types.items[i].name) == 0) found = NC_FIRSTUSERTYPEID + (int)i;
    if (found != NC_NAT && type != NULL) *type = found;
    return found != NC_NAT ? NC_NOERR : NC_EBADTYPE;
}

int ncrefs_inq_typeids(int ncid, int *n, int *ids) {
    ncrefs_file *file;
    ncrefs_group *group;
    NCREFS_TRY(ncrefs_find_group(ncid, &file, &group));
    size_t count = group == file->model.groups ? file->model.types.n : 0;
    if (n != NULL) *n = (int)count;
    for (size_t i = 0; ids != NULL && i < count; i++) ids[i] = NC_FIRSTUSERTYPEID + (int)i;
    return NC_NOERR;
}

int ncrefs_inq_type_equal(int ncid, nc_type type, int other_ncid, nc_type other, int *equal) {
    const ncrefs_file *file = ncrefs_find_file(ncid), *of_other = ncrefs_find_file(other_ncid);
    if (file == NULL || of_other == NULL) return NC_EBADID;
    const ncrefs_type *a = ncrefs_find_type(&file->model.types, type);
    const ncrefs_type *b = ncrefs_find_type(&of_other->model.types, other);
    bool is_same = a != NULL && b != NULL ? a->size == b->size && a->member == b->member
                                          : a == b && type == other;
    if (equal != NULL) *equal = is_same;
    return NC_NOERR;
}

int ncrefs_inq_user_type(int ncid, nc_type type, char *name, size_t *size, nc_type *base,
                         size_t *n_fields, int *class) {
    ncrefs_file *file;
    const ncrefs_type *found;
    NCREFS_TRY(find_type(ncid, type, &file, &found));
    bool is_compound = found->member != NC_NAT;
    ncrefs_put_name(name, found->name);
    if (size != NULL) *size = found->size;
    if (base != NULL) *base = NC_NAT;
    if (n_fields != NULL) *n_fields = is_compound ? 2 : 0;
    if (class != NULL) *class = is_compound ? NC_COMPOUND : NC_OPAQUE;
    return NC_NOERR;
}

int ncrefs_inq_compound_field(int ncid, nc_type type, int id, char *name, size_t *offset,
                              nc_type *field, int *n_dims, int *dims) {
    ncrefs_file *file;
    const ncrefs_type *found;
    (void)dims;
    NCREFS_TRY(find_type(ncid, type, &file, &found));
    if (found->member == NC_NAT) return NC_EBADTYPE;
    if (id < 0 || id > 1) return NC_EBADFIELD;
    ncrefs_put_name(name, fields[id]);
    if (offset != NULL) *offset = (size_t)id * found->size / 2;
    if (field != NULL) *field = found->member;
    if (n_dims != NULL) *n_dims = 0;
    return NC_NOERR;
}

int ncrefs_inq_compound_fieldindex(int ncid, nc_type type, const char *name, int *id) {
    ncrefs_file *file;
    const ncrefs_type *found;
    NCREFS_TRY(find_type(ncid, type, &file, &found));
    if (found->member == NC_NAT) return NC_EBADTYPE;
    for (int i = 0; i < 2; i++) {
        if (strcmp(name, fields[i]) != 0) continue;
        if (id != NULL) *id = i;
        return NC_NOERR;
    }
    return NC_EBADFIELD;
}
