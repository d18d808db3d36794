/* types.c -- maps element types of Zarr to netCDF, see ncrefs.h. */
#include <stdio.h>

#include "ncrefs.h"

static nc_type integer_type(const refs_dtype *dtype) {
    static const nc_type of_signed[] = {NC_BYTE, NC_SHORT, NC_INT, NC_INT64};
    static const nc_type of_unsigned[] = {NC_UBYTE, NC_USHORT, NC_UINT, NC_UINT64};
    size_t at = dtype->size == 8 ? 3 : dtype->size / 2;
    return dtype->type == REFS_TYPE_INT ? of_signed[at] : of_unsigned[at];
}

const ncrefs_type *ncrefs_find_type(const ncrefs_types *types, nc_type type) {
    size_t at = (size_t)(type - NC_FIRSTUSERTYPEID);
    return type >= NC_FIRSTUSERTYPEID && at < types->n ? &types->items[at] : NULL;
}

static refs_status user_type(ncrefs_types *types, const refs_dtype *dtype, nc_type *type,
                             refs_error *err) {
    nc_type member = NC_NAT;
    if (dtype->type == REFS_TYPE_COMPLEX) member = dtype->size == 8 ? NC_FLOAT : NC_DOUBLE;
    for (size_t i = 0; i < types->n; i++) {
        if (types->items[i].size != dtype->size || types->items[i].member != member) continue;
        *type = NC_FIRSTUSERTYPEID + (int)i;
        return REFS_OK;
    }
    REFS_GROW(types->items, types->capacity, types->n, err);
    ncrefs_type *made = &types->items[types->n];
    *made = (ncrefs_type){.size = dtype->size, .member = member};
    snprintf(made->name, sizeof made->name, member != NC_NAT ? "complex%zu" : "opaque%zu",
             member != NC_NAT ? 8 * dtype->size : dtype->size);
    *type = NC_FIRSTUSERTYPEID + (int)types->n++;
    return REFS_OK;
}

refs_status ncrefs_type_of(ncrefs_types *types, const refs_array_meta *meta, nc_type *type,
                           refs_error *err) {
    const refs_dtype *dtype = &meta->dtype;
    switch (dtype->type) {
    case REFS_TYPE_BOOL:
        *type = NC_BYTE;
        return REFS_OK;
    case REFS_TYPE_INT:
    case REFS_TYPE_UINT:
        *type = integer_type(dtype);
        return REFS_OK;
    case REFS_TYPE_FLOAT:
        *type = dtype->size == 8 ? NC_DOUBLE : NC_FLOAT;
        return REFS_OK;
    case REFS_TYPE_DATETIME:
    case REFS_TYPE_TIMEDELTA:
        *type = NC_INT64;
        return REFS_OK;
    case REFS_TYPE_BYTES:
        *type = dtype->size == 1 ? NC_CHAR : NC_STRING;
        return REFS_OK;
    case REFS_TYPE_UNICODE:
    case REFS_TYPE_OBJECT:
        *type = NC_STRING;
        return REFS_OK;
    default:
        return user_type(types, dtype, type, err);
    }
}

size_t ncrefs_size_of(const ncrefs_types *types, nc_type type) {
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char *)};
    const ncrefs_type *user = ncrefs_find_type(types, type);
    if (user != NULL) return user->size;
    return type >= NC_BYTE && type <= NC_STRING ? sizes[type] : 0;
}
