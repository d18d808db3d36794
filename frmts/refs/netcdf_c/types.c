/* types.c -- maps element types of Zarr to netCDF, see ncrefs.h. */
#include <stdio.h>

#include "ncrefs.h"
#include "refs/cf.h"

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
    *type = refs_cf_netcdf_type(&meta->dtype);
    return *type != NC_NAT ? REFS_OK : user_type(types, &meta->dtype, type, err);
}

size_t ncrefs_size_of(const ncrefs_types *types, nc_type type) {
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char *)};
    const ncrefs_type *user = ncrefs_find_type(types, type);
    if (user != NULL) return user->size;
    return type >= NC_BYTE && type <= NC_STRING ? sizes[type] : 0;
}
