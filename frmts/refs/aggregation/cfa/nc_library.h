/* nc_library.h -- libnetcdf, which is loaded when it is first needed. */
#ifndef REFS_AGGREGATION_CFA_NC_LIBRARY_H
#define REFS_AGGREGATION_CFA_NC_LIBRARY_H

#include <netcdf.h>

#include "refs/lazy.h"

/* clang-format off */
#define NC_FUNCTIONS(F) \
    F(nc_abort) F(nc_close) F(nc_free_string) F(nc_get_att) F(nc_get_att_string) F(nc_get_att_text) \
    F(nc_inq_attlen) F(nc_inq_atttype) F(nc_open) F(nc_put_var_string) \
    F(nc_put_var_text) F(nc_redef) F(nc_create) F(nc_def_dim) F(nc_def_grp) F(nc_def_var) \
    F(nc_copy_att) F(nc_def_var_deflate) F(nc_def_var_fill) F(nc_get_var) F(nc_get_var_string) F(nc_get_vara) F(nc_inq) F(nc_inq_grpname) F(nc_inq_grps) F(nc_inq_attname) F(nc_inq_dim) \
    F(nc_inq_format) F(nc_inq_type) F(nc_inq_var) F(nc_enddef) F(nc_inq_dimid) F(nc_inq_dimids) F(nc_inq_dimlen) \
    F(nc_inq_grp_ncid) F(nc_inq_vardimid) F(nc_inq_varid) F(nc_inq_varndims) F(nc_inq_vartype) \
    F(nc_put_att) F(nc_put_att_double) F(nc_put_att_longlong) \
    F(nc_put_att_string) F(nc_put_att_text) F(nc_put_att_ulonglong) F(nc_put_vara) F(nc_set_default_format) F(nc_strerror)
/* clang-format on */

extern struct nc_functions { NC_FUNCTIONS(REFS_LAZY_MEMBER) } refs_cfa__nc;

/** Loads the library. */
refs_status refs_cfa__nc_load(refs_error *err);

/** Keeps HDF5 from printing, in this thread, failures that libnetcdf expects: it does so itself
 * only in the first thread that uses it. After refs_cfa__nc_load. */
void refs_cfa__nc_hush(void);

/** Locks the library, which has one state for a process and no lock, and unlocks it. */
void refs_cfa__nc_enter(void);
int refs_cfa__nc_leave(int code);

/** REFS_UNSUPPORTED if a file's name has a backslash, which the library treats as a slash. */
refs_status refs_cfa__nc_check_name(const char *path, const char *shown, refs_error *err);

/** Makes the empty file `path`, which must not exist nor be a link, with these permissions. To be
 * followed by nc_create without NC_NOCLOBBER, which keeps them. NC_NOERR, or errno. */
int refs_cfa__nc_make_file(const char *path, unsigned permissions);

/** The result of one of its functions, called while it is locked. */
#define NC(call) (refs_cfa__nc_enter(), refs_cfa__nc_leave(refs_cfa__nc.call))

#endif
