/* unused.c -- a fill value for arrays without one, if netCDF's default is among their values.
 *
 * Readers treat netCDF's default fill value of a type as missing unless the attribute _FillValue
 * names another one (NUG, "Fill Values"). netCDF-4 records that filling is off, but not all readers
 * check that. So the attribute names a value that no element has. */
#include <math.h>

#include "cfa/cfa_internal.h"
#include "refs/cf.h"

bool refs_cfa__has_only_values(const refs_cfa_variable *variable) {
    return variable->keeps_default && variable->fill == NULL && variable->dtype.size > 1;
}

const uint8_t *refs_cfa__nan(const refs_dtype *dtype) {
    static const float single = NAN;
    static const double number = (double)NAN;
    return dtype->size == sizeof single ? (const uint8_t *)&single : (const uint8_t *)&number;
}

/* The greatest finite value of the type, from which candidates go down. */
static uint64_t top_of(const refs_dtype *dtype) {
    if (dtype->type == REFS_TYPE_FLOAT)
        return dtype->size == sizeof(float) ? UINT32_C(0x7F7FFFFF) : UINT64_C(0x7FEFFFFFFFFFFFFF);
    const uint64_t all = UINT64_MAX >> (64 - 8 * dtype->size);
    return dtype->type == REFS_TYPE_INT ? all >> 1 : all;
}

void refs_cfa__see(const refs_cfa_variable *variable, refs_bytes values, cfa_seen *seen) {
    const size_t size = variable->dtype.size;
    uint8_t fill[sizeof(double)];
    if (!refs_cfa__has_only_values(variable) || !refs_cf_default_fill(&variable->dtype, fill))
        return;
    const uint64_t top = top_of(&variable->dtype), mask = UINT64_MAX >> (64 - 8 * size);
    const bool is_float = variable->dtype.type == REFS_TYPE_FLOAT;
    for (size_t at = 0; at + size <= values.size; at += size) {
        const uint64_t bits = refs_load_native(values.data + at, size), below = (top - bits) & mask;
        seen->has_nan = seen->has_nan || (is_float && (bits & mask >> 1) > top + 1);
        seen->has_default = seen->has_default || memcmp(values.data + at, fill, size) == 0;
        if (below < CFA_CANDIDATES) seen->is_used[below / 8] |= (uint8_t)(1 << below % 8);
    }
}

/* Chooses an integer outside the valid range, which is missing in any case. */
static bool store_invalid(const refs_cfa_variable *variable, uint8_t *fill) {
    const refs_array_meta meta = {.dtype = variable->dtype, .attributes = variable->attributes};
    refs_dtype as = variable->dtype;
    refs_cf_range valid;
    if (refs_cf_has_unsigned_elements(&meta)) as.type = REFS_TYPE_UINT;
    if (!refs_cf_valid_range(&meta, &as, &valid)) return false;
    const bool is_signed = as.type == REFS_TYPE_INT;
    const uint64_t top = top_of(&as), bottom = is_signed ? top + 1 : 0;
    const bool is_above = !refs_cf_range_has(&valid, top, (double)top),
               is_below = !refs_cf_range_has(&valid, bottom, is_signed ? -(double)top - 1 : 0);
    if (is_above || is_below) refs_store_native(fill, as.size, is_above ? top : top + 1);
    return is_above || is_below;
}

/* netCDF-3 does not record that filling is off: a valid range of all integers then says that none
 * is missing; if one is missing, an attribute names it. */
void refs_cfa__name_missing(refs_cfa_format format, refs_cfa_variable *container, uint8_t *fill) {
    const refs_array_meta meta = {.dtype = container->dtype, .attributes = container->attributes};
    const bool is_netcdf3 = format == REFS_CFA_NETCDF3 && container->fill == NULL;
    if (refs_cfa__has_only_values(container)) {
        if (meta.dtype.type == REFS_TYPE_FLOAT)
            container->fill = refs_cfa__nan(&meta.dtype);
        else if (is_netcdf3 && store_invalid(container, fill))
            container->fill = fill;
    } else if (is_netcdf3 && meta.dtype.size > 1 && refs_cf_has_whole_range(&meta) &&
               refs_cf_default_fill(&meta.dtype, fill)) {
        container->fill = fill;
    }
}

static bool name_missing(const cfa_seen *seen, refs_cfa_variable *variable, uint8_t *fill) {
    if (!seen->has_default) return true;
    if (variable->dtype.type == REFS_TYPE_FLOAT && !seen->has_nan) {
        variable->fill = refs_cfa__nan(&variable->dtype);
        return true;
    }
    for (uint64_t below = 0; below < CFA_CANDIDATES; below++) {
        if (seen->is_used[below / 8] >> below % 8 & 1) continue;
        refs_store_native(fill, variable->dtype.size, top_of(&variable->dtype) - below);
        variable->fill = fill;
        return true;
    }
    return false;
}

refs_status refs_cfa__describe_field(nc_file *file, nc_place place,
                                     const refs_cfa_variable *variable, const cfa_seen *seen,
                                     refs_error *err) {
    uint8_t fill[sizeof(double)];
    refs_cfa_variable named = *variable;
    if (!name_missing(seen, &named, fill) && refs_cfa__file_format(file) == REFS_CFA_NETCDF3)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s: %s uses every integer of its type as a value, but readers of "
                         "netCDF-3 treat %s as missing: write netCDF-4",
                         refs_cfa__file_shown(file), variable->path,
                         refs_cf_default_fill_text(&variable->dtype));
    return refs_cfa__describe(file, place, &named, err);
}

refs_status refs_cfa__describe_values(nc_file *file, nc_place place,
                                      const refs_cfa_variable *variable, refs_bytes values,
                                      refs_error *err) {
    cfa_seen seen = {.has_default = false};
    refs_cfa__see(variable, values, &seen);
    return refs_cfa__describe_field(file, place, variable, &seen, err);
}
