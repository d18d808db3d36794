/* dispatch.c -- the dispatch table; opening, closing, and writing functions, which fail. See
 * ncrefs.h; inquiries are in inquire.c. */
#include "dispatch.h"

#include <errno.h>
#include <stdlib.h>

/* -- opening ----------------------------------------------------------------------------------- */

static _Thread_local const char *next_name;

void ncrefs_open_next(const char *name) {
    next_name = name;
}

char *ncrefs_plain_name(const char *path, bool *is_asked) {
    refs_str name = refs_str_from(path);
    size_t mark = refs_str_find_last(name, '#');
    refs_str fragment = refs_str_part(name, mark, name.size);
    bool is_mode = mark != SIZE_MAX && refs_str_starts(fragment, "#mode=");
    *is_asked = is_mode && strstr(fragment.data, "udf") != NULL;
    if (*is_asked) name = refs_str_part(name, 0, mark);
    (void)refs_url_take_file(&name);
    return refs_str_copy(name);
}

/* Codes for a missing file, an unsupported format, and a file that cannot be read. */
static int code_of_opening(refs_status status) {
    if (status == REFS_NOT_FOUND) return ENOENT;
    bool is_unknown =
        status == REFS_INVALID || status == REFS_CORRUPT || status == REFS_UNSUPPORTED;
    return is_unknown ? NC_ENOTNC : ncrefs_code_of(status);
}

static int open_file(const char *path, int mode, int basepe, size_t *chunk_size, void *parameters,
                     const NC_Dispatch *table, int ncid) {
    refs_error err = REFS_ERROR_INIT;
    ncrefs_file *file = NULL;
    bool is_asked;
    (void)basepe;
    (void)chunk_size;
    (void)parameters;
    (void)table;
    if ((mode & NC_WRITE) != 0) return NC_EPERM;
    char *name = next_name != NULL ? refs_str_copy(refs_str_from(next_name))
                                   : ncrefs_plain_name(path, &is_asked);
    if (name == NULL) return NC_ENOMEM;
    refs_status status = ncrefs_file_open(name, &file, &err);
    if (status != REFS_OK) ncrefs_tell(name, &err);
    refs_free(name);
    if (status != REFS_OK) return code_of_opening(status);
    file->ncid = ncid & ~(NCREFS_MAX_GROUPS - 1);
    file->mode = mode;
    int code = ncrefs_enter(file);
    if (code != NC_NOERR) ncrefs_file_free(file);
    return code;
}

static int close_file(int ncid, void *parameters) {
    ncrefs_file *file = ncrefs_take_out(ncid);
    (void)parameters;
    if (file == NULL) return NC_EBADID;
    ncrefs_file_free(file);
    return NC_NOERR;
}

static int abort_file(int ncid) {
    return close_file(ncid, NULL);
}

/* -- unsupported calls ------------------------------------------------------------------------- */

#define DENY(name, ...)                                                                            \
    static int name(__VA_ARGS__) {                                                                 \
        return NC_EPERM;                                                                           \
    }

#define IGNORE(name, ...)                                                                          \
    static int name(__VA_ARGS__) {                                                                 \
        return NC_NOERR;                                                                           \
    }

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
DENY(create, const char *a, int b, size_t c, int d, size_t *e, void *f, const NC_Dispatch *g, int h)
DENY(redef, int a)
DENY(enddef, int a, size_t b, size_t c, size_t d, size_t e)
IGNORE(sync_file, int a)
DENY(set_fill, int a, int b, int *c)
DENY(def_dim, int a, const char *b, size_t c, int *d)
DENY(rename_dim, int a, int b, const char *c)
DENY(rename_att, int a, int b, const char *c, const char *d)
DENY(del_att, int a, int b, const char *c)
DENY(put_att, int a, int b, const char *c, nc_type d, size_t e, const void *f, nc_type g)
DENY(def_var, int a, const char *b, nc_type c, int d, const int *e, int *f)
DENY(rename_var, int a, int b, const char *c)
DENY(put_vara, int a, int b, const size_t *c, const size_t *d, const void *e, nc_type f)
DENY(put_vars, int a, int b, const size_t *c, const size_t *d, const ptrdiff_t *e, const void *f,
     nc_type g)
DENY(put_varm, int a, int b, const size_t *c, const size_t *d, const ptrdiff_t *e,
     const ptrdiff_t *f, const void *g, nc_type h)
IGNORE(var_par_access, int a, int b, int c)
DENY(def_var_fill, int a, int b, int c, const void *d)
IGNORE(show_metadata, int a)
DENY(def_grp, int a, const char *b, int *c)
DENY(rename_grp, int a, const char *b)
DENY(def_compound, int a, size_t b, const char *c, nc_type *d)
DENY(insert_compound, int a, nc_type b, const char *c, size_t d, nc_type e)
DENY(insert_array_compound, int a, nc_type b, const char *c, size_t d, nc_type e, int f,
     const int *g)
DENY(def_vlen, int a, const char *b, nc_type c, nc_type *d)
DENY(put_vlen_element, int a, int b, void *c, size_t d, const void *e)
DENY(get_vlen_element, int a, int b, const void *c, size_t *d, void *e)
DENY(def_enum, int a, nc_type b, const char *c, nc_type *d)
DENY(insert_enum, int a, nc_type b, const char *c, const void *d)
static int inq_enum_member(int a, nc_type b, int c, char *d, void *e) {
    return NC_EBADTYPE;
}
static int inq_enum_ident(int a, nc_type b, long long c, char *d) {
    return NC_EBADTYPE;
}
DENY(def_opaque, int a, size_t b, const char *c, nc_type *d)
DENY(def_var_deflate, int a, int b, int c, int d, int e)
DENY(def_var_fletcher32, int a, int b, int c)
DENY(def_var_chunking, int a, int b, int c, const size_t *d)
DENY(def_var_endian, int a, int b, int c)
DENY(def_var_filter, int a, int b, unsigned c, size_t d, const unsigned *e)
IGNORE(set_var_chunk_cache, int a, int b, size_t c, size_t d, float e)
DENY(def_var_quantize, int a, int b, int c, int d)
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* -- the table --------------------------------------------------------------------------------- */

static NC_Dispatch table = {
    .model = NC_FORMATX_UDF0,
    .dispatch_version = NC_DISPATCH_VERSION,
    .create = create,
    .open = open_file,
    .redef = redef,
    ._enddef = enddef,
    .sync = sync_file,
    .abort = abort_file,
    .close = close_file,
    .set_fill = set_fill,
    .inq_format = ncrefs_inq_format,
    .inq_format_extended = ncrefs_inq_format_extended,
    .inq = ncrefs_inq,
    .inq_type = ncrefs_inq_type,
    .def_dim = def_dim,
    .inq_dimid = ncrefs_inq_dimid,
    .inq_dim = ncrefs_inq_dim,
    .inq_unlimdim = ncrefs_inq_unlimdim,
    .rename_dim = rename_dim,
    .inq_att = ncrefs_inq_att,
    .inq_attid = ncrefs_inq_attid,
    .inq_attname = ncrefs_inq_attname,
    .rename_att = rename_att,
    .del_att = del_att,
    .get_att = ncrefs_get_att,
    .put_att = put_att,
    .def_var = def_var,
    .inq_varid = ncrefs_inq_varid,
    .rename_var = rename_var,
    .get_vara = ncrefs_get_vara,
    .put_vara = put_vara,
    .get_vars = ncrefs_get_vars,
    .put_vars = put_vars,
    .get_varm = ncrefs_get_varm,
    .put_varm = put_varm,
    .inq_var_all = ncrefs_inq_var_all,
    .var_par_access = var_par_access,
    .def_var_fill = def_var_fill,
    .show_metadata = show_metadata,
    .inq_unlimdims = ncrefs_inq_unlimdims,
    .inq_ncid = ncrefs_inq_ncid,
    .inq_grps = ncrefs_inq_grps,
    .inq_grpname = ncrefs_inq_grpname,
    .inq_grpname_full = ncrefs_inq_grpname_full,
    .inq_grp_parent = ncrefs_inq_grp_parent,
    .inq_grp_full_ncid = ncrefs_inq_grp_full_ncid,
    .inq_varids = ncrefs_inq_varids,
    .inq_dimids = ncrefs_inq_dimids,
    .inq_typeids = ncrefs_inq_typeids,
    .inq_type_equal = ncrefs_inq_type_equal,
    .def_grp = def_grp,
    .rename_grp = rename_grp,
    .inq_user_type = ncrefs_inq_user_type,
    .inq_typeid = ncrefs_inq_typeid,
    .def_compound = def_compound,
    .insert_compound = insert_compound,
    .insert_array_compound = insert_array_compound,
    .inq_compound_field = ncrefs_inq_compound_field,
    .inq_compound_fieldindex = ncrefs_inq_compound_fieldindex,
    .def_vlen = def_vlen,
    .put_vlen_element = put_vlen_element,
    .get_vlen_element = get_vlen_element,
    .def_enum = def_enum,
    .insert_enum = insert_enum,
    .inq_enum_member = inq_enum_member,
    .inq_enum_ident = inq_enum_ident,
    .def_opaque = def_opaque,
    .def_var_deflate = def_var_deflate,
    .def_var_fletcher32 = def_var_fletcher32,
    .def_var_chunking = def_var_chunking,
    .def_var_endian = def_var_endian,
    .def_var_filter = def_var_filter,
    .set_var_chunk_cache = set_var_chunk_cache,
    .get_var_chunk_cache = ncrefs_get_var_chunk_cache,
    .inq_var_filter_ids = ncrefs_inq_var_filter_ids,
    .inq_var_filter_info = ncrefs_inq_var_filter_info,
    .def_var_quantize = def_var_quantize,
    .inq_var_quantize = ncrefs_inq_var_quantize,
    .inq_filter_avail = ncrefs_inq_filter_avail,
};

NC_Dispatch *ncrefs_table(void) {
    return &table;
}
