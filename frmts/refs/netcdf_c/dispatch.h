/* dispatch.h -- reading functions of the dispatch table. Each works like the netCDF-C function with
 * "nc_" instead of "ncrefs_". Pointers to results may be NULL. */
#ifndef NCREFS_DISPATCH_H
#define NCREFS_DISPATCH_H

#include "ncrefs.h"

/* -- inquire.c: files, groups, dimensions, variables --------------------------------------------
 */

int ncrefs_inq_format(int ncid, int *format);
int ncrefs_inq_format_extended(int ncid, int *format, int *mode);
int ncrefs_inq(int ncid, int *n_dims, int *n_vars, int *n_atts, int *unlimited);
int ncrefs_inq_ncid(int ncid, const char *name, int *group);
int ncrefs_inq_grps(int ncid, int *n, int *ncids);
int ncrefs_inq_grpname(int ncid, char *name);
int ncrefs_inq_grpname_full(int ncid, size_t *size, char *name);
int ncrefs_inq_grp_parent(int ncid, int *parent);
int ncrefs_inq_grp_full_ncid(int ncid, const char *path, int *group);
int ncrefs_inq_varids(int ncid, int *n, int *ids);
int ncrefs_inq_dimids(int ncid, int *n, int *ids, int include_parents);
int ncrefs_inq_dimid(int ncid, const char *name, int *id);
int ncrefs_inq_dim(int ncid, int id, char *name, size_t *size);
int ncrefs_inq_unlimdim(int ncid, int *id);
int ncrefs_inq_unlimdims(int ncid, int *n, int *ids);
int ncrefs_inq_varid(int ncid, const char *name, int *id);
int ncrefs_inq_var_all(int ncid, int varid, char *name, nc_type *type, int *n_dims, int *dims,
                       int *n_atts, int *shuffle, int *deflate, int *level, int *fletcher32,
                       int *contiguous, size_t *chunks, int *no_fill, void *fill, int *endian,
                       unsigned *filter, size_t *n_parameters, unsigned *parameters);
int ncrefs_get_var_chunk_cache(int ncid, int varid, size_t *size, size_t *n, float *preemption);
int ncrefs_inq_var_filter_ids(int ncid, int varid, size_t *n, unsigned *ids);
int ncrefs_inq_var_filter_info(int ncid, int varid, unsigned id, size_t *n, unsigned *parameters);
int ncrefs_inq_var_quantize(int ncid, int varid, int *mode, int *digits);
int ncrefs_inq_filter_avail(int ncid, unsigned id);
int ncrefs_get_vara(int ncid, int varid, const size_t *start, const size_t *count, void *values,
                    nc_type type);
int ncrefs_get_vars(int ncid, int varid, const size_t *start, const size_t *count,
                    const ptrdiff_t *stride, void *values, nc_type type);
int ncrefs_get_varm(int ncid, int varid, const size_t *start, const size_t *count,
                    const ptrdiff_t *stride, const ptrdiff_t *map, void *values, nc_type type);

/* -- inquire_att.c: attributes ------------------------------------------------------------------
 */

int ncrefs_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *n);
int ncrefs_inq_attid(int ncid, int varid, const char *name, int *id);
int ncrefs_inq_attname(int ncid, int varid, int id, char *name);
int ncrefs_get_att(int ncid, int varid, const char *name, void *values, nc_type type);

/* -- inquire_type.c: types ----------------------------------------------------------------------
 */

int ncrefs_inq_type(int ncid, nc_type type, char *name, size_t *size);
int ncrefs_inq_typeid(int ncid, const char *name, nc_type *type);
int ncrefs_inq_typeids(int ncid, int *n, int *ids);
int ncrefs_inq_type_equal(int ncid, nc_type type, int other_ncid, nc_type other, int *equal);
int ncrefs_inq_user_type(int ncid, nc_type type, char *name, size_t *size, nc_type *base,
                         size_t *n_fields, int *class);
int ncrefs_inq_compound_field(int ncid, nc_type type, int id, char *name, size_t *offset,
                              nc_type *field, int *n_dims, int *dims);
int ncrefs_inq_compound_fieldindex(int ncid, nc_type type, const char *name, int *id);

/* -- what they share, in inquire.c --------------------------------------------------------------
 */

/** Finds the file and the group of an ncid; NC_EBADID, NC_EBADGRPID. */
int ncrefs_find_group(int ncid, ncrefs_file **file, ncrefs_group **group);

/** Finds a variable of the group `ncid`; NC_ENOTVAR. */
int ncrefs_find_variable(int ncid, int varid, ncrefs_file **file, ncrefs_variable **variable);

/** Copies a name, truncated to NC_MAX_NAME bytes. */
void ncrefs_put_name(char *dst, const char *name);

#endif
