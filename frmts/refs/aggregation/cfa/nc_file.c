/* nc_file.c -- see nc_file.h. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <stdio.h>

#include "cfa/nc_internal.h"
#include "refs/cf.h"
#include "refs/file_name.h"
#include "refs/half.h"
#include "refs/staged.h"

/* The library chooses the chunks of compressed variables; higher levels are an error. */
#define MAX_DEFLATE 9

refs_cfa_format refs_cfa__file_format(const nc_file *file) {
    return file->format;
}

const char *refs_cfa__file_shown(const nc_file *file) {
    return file->shown;
}

/* -- failures ---------------------------------------------------------------------------------- */

static refs_status status_of(int code) {
    switch (code) {
    case NC_ENOMEM:
        return REFS_NOMEM;
    case NC_ENAMEINUSE:
    case NC_EBADNAME:
    case NC_EMAXNAME:
    case NC_EBADDIM:
    case NC_ESTRICTNC3:
    case NC_EVARSIZE:
    case NC_ERANGE:
        return REFS_INVALID;
    default:
        return REFS_IO;
    }
}

/* A disk with fewer free bytes counts as full. */
#define FULL_BYTES (16 * REFS_KIB)

/* Whether the disk is full: HDF5 does not report that, and netCDF reports missing permission
 * instead. */
static bool is_full(const nc_file *file, int code) {
    struct statvfs disk;
    uint64_t left;
    if (code != NC_EHDFERR && code != NC_EPERM && code != EIO && code != EACCES && code != ENOSPC)
        return false;
    return file->folder != NULL && statvfs(file->folder, &disk) == 0 &&
           refs_mul_u64(disk.f_bavail, disk.f_frsize, &left) && left < FULL_BYTES;
}

refs_status refs_cfa__nc_fail(const nc_file *file, int code, const char *name, refs_error *err) {
    errno = code;
    if (code == ENOENT) return refs_staged_fail(file->shown, err);
    if (code == NC_ENAMEINUSE)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%s: %s cannot be written: expected unique names, found a variable of this "
            "name and one that describes fragments: leave it out (--variables)",
            file->shown, name);
    return refs_fail(err, status_of(code), "%s: %s%scannot be written: %s", file->shown, name,
                     *name != '\0' ? " " : "",
                     is_full(file, code) ? strerror(ENOSPC) : refs_cfa__nc.nc_strerror(code));
}

/* The overhead of a file in addition to its values, and of incomplete chunks. */
#define MORE_BYTES (64 * REFS_KIB)

/* Checks the limit of file sizes (ulimit) first: HDF5 ends the process, at its exit at the latest,
 * if a file cannot grow. */
static refs_status check_limit(const nc_file *file, refs_error *err) {
    struct rlimit most;
    uint64_t wanted;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return REFS_OK;
    const bool fits = refs_add_u64(file->size, file->kept_bytes, &wanted) &&
                      refs_add_u64(wanted, wanted / 4, &wanted) &&
                      refs_add_u64(wanted, MORE_BYTES, &wanted) && wanted <= most.rlim_cur;
    if (fits) return REFS_OK;
    return refs_fail(
        err, REFS_IO,
        "%s: cannot be written: %s: it may take %llu bytes, and this program may write "
        "files of %llu (ulimit -f)",
        file->shown, strerror(EFBIG), (unsigned long long)wanted,
        (unsigned long long)most.rlim_cur);
}

/* Checks the free space first: netCDF 4.9 ends the process if HDF5 cannot write its metadata when a
 * file is closed. */
static refs_status check_room(const nc_file *file, refs_error *err) {
    struct statvfs disk;
    uint64_t left;
    if (file->format != REFS_CFA_NETCDF4 || statvfs(file->folder, &disk) != 0 ||
        disk.f_blocks == 0 || !refs_mul_u64(disk.f_bavail, disk.f_frsize, &left) ||
        left >= MORE_BYTES)
        return REFS_OK;
    return refs_fail(err, REFS_IO, "%s: cannot be written: %s: %llu bytes are left on the disk",
                     file->shown, strerror(ENOSPC), (unsigned long long)left);
}

static refs_status check(const nc_file *file, int code, const char *name, refs_error *err) {
    return code == NC_NOERR ? REFS_OK : refs_cfa__nc_fail(file, code, name, err);
}

/* -- types ------------------------------------------------------------------------------------- */

refs_status refs_cfa__nc_type(const nc_file *file, const char *name, const refs_dtype *dtype,
                              nc_type *type, refs_error *err) {
    char text[16];
    refs_dtype_format(dtype, text, sizeof text);
    *type = refs_cf_netcdf_type(dtype);
    if (*type == NC_NAT)
        return refs_fail(err, REFS_UNSUPPORTED, "%s: %s has the type %s, which netCDF lacks",
                         file->shown, name, *text != '\0' ? text : "(opaque)");
    if (*type == NC_STRING) return REFS_OK; /* stored as characters in netCDF-3 */
    if (file->format == REFS_CFA_NETCDF4 || *type <= NC_DOUBLE) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: %s has the type %s, which netCDF-3 lacks: write netCDF-4", file->shown,
                     name, text);
}

refs_status refs_cfa__nc_convert(const refs_dtype *dtype, refs_bytes values, refs_buf *converted,
                                 refs_error *err) {
    if (dtype->type != REFS_TYPE_FLOAT || dtype->size != 2)
        return refs_buf_append(converted, values.data, values.size, err);
    for (size_t i = 0; i + 2 <= values.size; i += 2) {
        uint16_t bits;
        memcpy(&bits, values.data + i, sizeof bits);
        float number = (float)refs_half_to_double(bits);
        REFS_TRY(refs_buf_append(converted, &number, sizeof number, err));
    }
    return REFS_OK;
}

/* -- the file ---------------------------------------------------------------------------------- */

/* Limit of a CDF-1 file. */
#define CDF1_BYTES (2000 * REFS_MIB)

static int mode_of(const nc_creation *creation) {
    if (creation->format == REFS_CFA_NETCDF4) return NC_NETCDF4;
    return creation->size < CDF1_BYTES ? NC_CLOBBER : NC_64BIT_OFFSET;
}

/* Creates a file. CDF-1 has no flag: it is the default unless other code in this process has
 * changed that. */
static int create_file(const nc_creation *creation, int *id) {
    int before, code = refs_cfa__nc_make_file(creation->path, creation->is_private ? 0600 : 0666);
    if (code != NC_NOERR) return code;
    refs_cfa__nc_enter();
    code = refs_cfa__nc.nc_set_default_format(NC_FORMAT_CLASSIC, &before);
    if (code == NC_NOERR) {
        code = refs_cfa__nc.nc_create(creation->path, mode_of(creation), id);
        (void)refs_cfa__nc.nc_set_default_format(before, NULL);
    }
    return refs_cfa__nc_leave(code);
}

refs_status refs_cfa__file_create(const nc_creation *creation, nc_file **file, refs_error *err) {
    REFS_TRY(refs_cfa__nc_check_name(creation->path, creation->shown, err));
    REFS_TRY(refs_cfa__nc_load(err));
    nc_file *made = refs_calloc(1, sizeof *made);
    if (made == NULL) return refs_fail_nomem(err);
    made->format = creation->format;
    made->shown = refs_str_copy(refs_str_from(creation->shown));
    made->folder = refs_str_copy(refs_file_name_folder(refs_str_from(creation->path)));
    refs_status status =
        made->shown != NULL && made->folder != NULL ? REFS_OK : refs_fail_nomem(err);
    made->size = creation->size;
    if (status == REFS_OK) status = check_limit(made, err);
    if (status == REFS_OK) status = check_room(made, err);
    if (status == REFS_OK) {
        int code = create_file(creation, &made->id);
        status = check(made, code, "", err);
    }
    made->is_open = status == REFS_OK;
    if (status == REFS_OK)
        *file = made;
    else
        refs_cfa__file_free(made);
    return status;
}

void refs_cfa__file_free(nc_file *file) {
    if (file == NULL) return;
    if (file->is_open) (void)NC(nc_abort(file->id));
    for (size_t i = 0; i < file->n_kept; i++) refs_buf_clear(&file->kept[i].values);
    refs_free(file->kept);
    refs_free(file->growing);
    for (size_t i = 0; i < file->n_named; i++) {
        refs_free(file->named[i].variable);
        refs_free(file->named[i].name);
    }
    refs_free(file->named);
    refs_free(file->shown);
    refs_free(file->folder);
    refs_free(file);
}

refs_status refs_cfa__file_close(nc_file *file, refs_error *err) {
    if (!file->is_ready) REFS_TRY(refs_cfa__file_ready(file, err));
    REFS_TRY(check_room(file, err));
    file->is_open = false;
    return check(file, NC(nc_close(file->id)), "", err);
}

/* -- groups and dimensions --------------------------------------------------------------------- */

static refs_status enter_group(nc_file *file, refs_str name, int *group, refs_error *err) {
    int found;
    REFS_SCOPED char *text = refs_str_copy(name);
    if (text == NULL) return refs_fail_nomem(err);
    int code = NC_NOERR;
    if (NC(nc_inq_grp_ncid(*group, text, &found)) != NC_NOERR)
        code = NC(nc_def_grp(*group, text, &found));
    REFS_TRY(check(file, code, text, err));
    *group = found;
    return REFS_OK;
}

refs_status refs_cfa__file_group(nc_file *file, refs_str path, int *group, refs_error *err) {
    *group = file->id;
    while (path.size > 0) {
        size_t slash = refs_str_find(path, '/');
        refs_str name = refs_str_part(path, 0, slash);
        path = slash == SIZE_MAX ? refs_str_part(path, path.size, path.size)
                                 : refs_str_part(path, slash + 1, path.size);
        if (name.size == 0) continue;
        if (file->format == REFS_CFA_NETCDF3)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: netCDF-3 cannot hold the group %.*s: write netCDF-4", file->shown,
                             REFS_STR_ARG(name));
        REFS_TRY(enter_group(file, name, group, err));
    }
    return REFS_OK;
}

/* Finds a dimension of the group itself. */
static bool find_dimension(int group, const char *name, size_t *size) {
    int wanted, n = 0, ids[NC_MAX_DIMS];
    if (NC(nc_inq_dimid(group, name, &wanted)) != NC_NOERR) return false;
    if (NC(nc_inq_dimids(group, &n, ids, 0)) != NC_NOERR) return false;
    for (int i = 0; i < n; i++)
        if (ids[i] == wanted) return NC(nc_inq_dimlen(group, wanted, size)) == NC_NOERR;
    return false;
}

static refs_status add_dimension(nc_file *file, int group, const char *name,
                                 const nc_dimension *added, refs_error *err) {
    size_t had;
    int id;
    if (!find_dimension(group, name, &had)) {
        const bool grows = added->growth == REFS_CFA_UNLIMITED;
        if (grows && !refs_grow((void **)&file->growing, &file->growing_capacity, file->n_growing,
                                sizeof *file->growing))
            return refs_fail_nomem(err);
        const size_t length = grows ? NC_UNLIMITED : (size_t)added->size;
        REFS_TRY(check(file, NC(nc_def_dim(group, name, length, &id)), name, err));
        if (grows) file->growing[file->n_growing++] = (nc_growing){id, (size_t)added->size};
        return REFS_OK;
    }
    /* an unlimited dimension has no size before values are written */
    if (had == added->size || added->growth == REFS_CFA_UNLIMITED) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "%s: dimension %s has different sizes: %zu and %llu",
                     file->shown, name, had, (unsigned long long)added->size);
}

refs_status refs_cfa__file_dimension(nc_file *file, int group, const nc_dimension *added,
                                     refs_error *err) {
    REFS_SCOPED char *text = refs_str_copy(added->name);
    if (text == NULL) return refs_fail_nomem(err);
    return add_dimension(file, group, text, added, err);
}

refs_status refs_cfa__file_name_dimension(nc_file *file, int group, const char *variable,
                                          const nc_dimension *named, refs_error *err) {
    REFS_GROW(file->named, file->named_capacity, file->n_named, err);
    nc_named_dimension *added = &file->named[file->n_named++];
    *added = (nc_named_dimension){group, refs_str_copy(refs_str_from(variable)),
                                  refs_str_copy(named->name), named->size};
    return added->variable != NULL && added->name != NULL ? REFS_OK : refs_fail_nomem(err);
}

/* The length of a variable along its dimension `id`. */
static refs_status length_of(const nc_file *file, int group, int id, size_t *length,
                             refs_error *err) {
    for (size_t i = 0; i < file->n_growing; i++) {
        if (file->growing[i].id != id) continue;
        *length = file->growing[i].size;
        return REFS_OK;
    }
    return check(file, NC(nc_inq_dimlen(group, id, length)), "", err);
}

bool refs_cfa__file_finds_dimension(const nc_file *file, int group, const char *name,
                                    uint64_t size) {
    int id;
    size_t length;
    return NC(nc_inq_dimid(group, name, &id)) == NC_NOERR &&
           length_of(file, group, id, &length, NULL) == REFS_OK && length == size;
}

/* Checks that no dimension of a group hides one of the same name above it from variables that were
 * defined before. */
static refs_status check_named(const nc_file *file, refs_error *err) {
    for (size_t i = 0; i < file->n_named; i++) {
        const nc_named_dimension *named = &file->named[i];
        int id;
        size_t length = 0;
        REFS_TRY(check(file, NC(nc_inq_dimid(named->group, named->name, &id)), named->name, err));
        REFS_TRY(length_of(file, named->group, id, &length, err));
        if (length != named->length)
            return refs_fail(err, REFS_UNSUPPORTED,
                             "%s: %s has %llu elements along dimension %s, and another variable of "
                             "its group %zu: dimensions of one name differ in length",
                             file->shown, named->variable, (unsigned long long)named->length,
                             named->name, length);
    }
    return REFS_OK;
}

/* -- variables --------------------------------------------------------------------------------- */

static refs_status define(nc_file *file, const nc_shape *shape, nc_type type, nc_place *place,
                          refs_error *err) {
    const int group = shape->group;
    int dims[REFS_MAX_RANK];
    for (size_t d = 0; d < shape->rank; d++) {
        int code = NC(nc_inq_dimid(group, shape->dims[d], &dims[d]));
        REFS_TRY(check(file, code, shape->dims[d], err));
    }
    place->group = group;
    int code = NC(nc_def_var(group, shape->name, type, (int)shape->rank, dims, &place->id));
    REFS_TRY(check(file, code, shape->name, err));
    if (shape->deflate <= 0 || shape->rank == 0 || file->format == REFS_CFA_NETCDF3) return REFS_OK;
    int level = shape->deflate < MAX_DEFLATE ? shape->deflate : MAX_DEFLATE;
    code = NC(nc_def_var_deflate(group, place->id, 1, 1, level));
    return check(file, code, shape->name, err);
}

refs_status refs_cfa__file_define(nc_file *file, const nc_shape *shape, nc_place *place,
                                  refs_error *err) {
    nc_type type = NC_NAT;
    REFS_TRY(refs_cfa__nc_type(file, shape->name, &shape->dtype, &type, err));
    place->is_half = shape->dtype.type == REFS_TYPE_FLOAT && shape->dtype.size == 2;
    if (type != NC_STRING || file->format == REFS_CFA_NETCDF4)
        return define(file, shape, type, place, err);
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: %s has strings, which netCDF-3 lacks: write netCDF-4", file->shown,
                     shape->name);
}

/* -- values that are kept ---------------------------------------------------------------------- */

static refs_status keep(nc_file *file, nc_place place, size_t n_strings, nc_kept **kept,
                        refs_error *err) {
    void **list = (void **)&file->kept;
    if (!refs_grow(list, &file->kept_capacity, file->n_kept, sizeof *file->kept))
        return refs_fail_nomem(err);
    *kept = &file->kept[file->n_kept++];
    **kept = (nc_kept){.place = place, .n_strings = n_strings};
    return REFS_OK;
}

static refs_status charge(nc_file *file, size_t size, refs_error *err) {
    if (refs_add_size(file->kept_bytes, size, &file->kept_bytes) &&
        file->kept_bytes <= REFS_CFA_MAX_VALUE_BYTES)
        return REFS_OK;
    return refs_fail(err, REFS_LIMIT,
                     "%s: the values of the master need more than the limit of %zu bytes",
                     file->shown, REFS_CFA_MAX_VALUE_BYTES);
}

/* Checks that no dimension of a group hides the one above it that attributes name: libnetcdf would
 * read beyond the values. */
static refs_status check_count(const nc_file *file, nc_place place, size_t n, refs_error *err) {
    int rank = 0, dims[NC_MAX_VAR_DIMS];
    char name[NC_MAX_NAME + 1] = "";
    size_t declared = 1, length = 0;
    REFS_TRY(check(file, NC(nc_inq_var(place.group, place.id, name, NULL, &rank, dims, NULL)), name,
                   err));
    for (int d = 0; d < rank; d++) {
        REFS_TRY(length_of(file, place.group, dims[d], &length, err));
        if (!refs_mul_size(declared, length, &declared)) declared = SIZE_MAX;
    }
    if (declared == n) return REFS_OK;
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "%s: %s has %zu elements, but its dimensions %zu: dimensions of one name differ in length",
        file->shown, name, n, declared);
}

refs_status refs_cfa__file_keep(nc_file *file, nc_place place, const refs_dtype *dtype,
                                refs_bytes values, refs_error *err) {
    nc_kept *kept = NULL;
    REFS_TRY(check_count(file, place, values.size / dtype->size, err));
    REFS_TRY(charge(file, values.size, err));
    REFS_TRY(keep(file, place, 0, &kept, err));
    return refs_cfa__nc_convert(dtype, values, &kept->values, err);
}

static size_t count_strings(refs_bytes values, size_t *longest) {
    size_t n = 0, begin = 0;
    *longest = 1;
    for (size_t i = 0; i < values.size; i++) {
        if (values.data[i] != '\0') continue;
        if (i - begin > *longest) *longest = i - begin;
        begin = i + 1;
        n++;
    }
    return n;
}

/* Appends strings as rows of `width` characters. */
static refs_status pad_strings(refs_bytes values, size_t width, refs_buf *rows, refs_error *err) {
    size_t begin = 0;
    for (size_t i = 0; i < values.size; i++) {
        if (values.data[i] != '\0') continue;
        size_t at = rows->size;
        REFS_TRY(refs_buf_resize(rows, at + width, err));
        memset(rows->data + at, 0, width);
        memcpy(rows->data + at, values.data + begin, i - begin);
        begin = i + 1;
    }
    return REFS_OK;
}

/* Defines strings as characters along a further dimension. */
static refs_status define_characters(nc_file *file, const nc_shape *shape, refs_bytes values,
                                     nc_place *place, refs_error *err) {
    const char *dims[REFS_MAX_RANK];
    nc_shape wider = *shape;
    nc_kept *kept = NULL;
    size_t width, all;
    char name[32];
    size_t n = count_strings(values, &width);
    if (shape->rank + 1 > REFS_MAX_RANK)
        return refs_fail(err, REFS_LIMIT,
                         "%s: %s has %zu dimensions: strings can have at most %d here", file->shown,
                         shape->name, shape->rank, REFS_MAX_RANK - 1);
    if (!refs_mul_size(n, width, &all))
        return refs_fail(err, REFS_LIMIT, "%s: the strings of %s need more than %zu bytes",
                         file->shown, shape->name, SIZE_MAX);
    REFS_TRY(charge(file, all, err));
    snprintf(name, sizeof name, "string%zu", width);
    const nc_dimension added = {refs_str_from(name), width, REFS_CFA_FIXED};
    REFS_TRY(add_dimension(file, shape->group, name, &added, err));
    for (size_t d = 0; d < shape->rank; d++) dims[d] = shape->dims[d];
    dims[wider.rank++] = name;
    wider.dims = dims;
    REFS_TRY(define(file, &wider, NC_CHAR, place, err));
    REFS_TRY(check_count(file, *place, all, err));
    REFS_TRY(keep(file, *place, 0, &kept, err));
    return pad_strings(values, width, &kept->values, err);
}

refs_status refs_cfa__file_strings(nc_file *file, const nc_shape *shape, refs_bytes values,
                                   nc_place *place, refs_error *err) {
    nc_kept *kept = NULL;
    size_t longest;
    if (file->format == REFS_CFA_NETCDF3) return define_characters(file, shape, values, place, err);
    REFS_TRY(charge(file, values.size, err));
    REFS_TRY(define(file, shape, NC_STRING, place, err));
    REFS_TRY(check_count(file, *place, count_strings(values, &longest), err));
    REFS_TRY(keep(file, *place, count_strings(values, &longest), &kept, err));
    return refs_buf_append(&kept->values, values.data, values.size, err);
}

/* -- writing values ---------------------------------------------------------------------------- */

static refs_status whole_box(const nc_file *file, const nc_kept *kept, nc_box *box,
                             refs_error *err) {
    const int group = kept->place.group;
    int rank, dims[NC_MAX_VAR_DIMS];
    memset(box, 0, sizeof *box);
    REFS_TRY(check(file, NC(nc_inq_varndims(group, kept->place.id, &rank)), "", err));
    REFS_TRY(check(file, NC(nc_inq_vardimid(group, kept->place.id, dims)), "", err));
    for (size_t d = 0; d < (size_t)rank && d < REFS_MAX_RANK; d++)
        REFS_TRY(length_of(file, group, dims[d], &box->count[d], err));
    return REFS_OK;
}

static refs_status put(nc_file *file, nc_place place, const nc_box *box, const void *values,
                       refs_error *err) {
    int code = NC(nc_put_vara(place.group, place.id, box->start, box->count, values));
    return check(file, code, "", err);
}

static refs_status put_strings(nc_file *file, const nc_kept *kept, const nc_box *box,
                               refs_error *err) {
    const char **strings = refs_calloc(kept->n_strings, sizeof *strings);
    if (strings == NULL) return refs_fail_nomem(err);
    (void)refs_texts_point((const char *)kept->values.data, kept->n_strings, strings);
    int code = NC(nc_put_vara(kept->place.group, kept->place.id, box->start, box->count, strings));
    refs_free(strings);
    return check(file, code, "", err);
}

static size_t type_size(nc_type type) {
    switch (type) {
    case NC_BYTE:
    case NC_UBYTE:
    case NC_CHAR:
        return 1;
    case NC_SHORT:
    case NC_USHORT:
        return 2;
    case NC_INT:
    case NC_UINT:
    case NC_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static refs_status put_kept(nc_file *file, const nc_kept *kept, refs_error *err) {
    nc_box box;
    nc_type type;
    int code = NC(nc_inq_vartype(kept->place.group, kept->place.id, &type));
    REFS_TRY(check(file, code, "", err));
    size_t n = kept->n_strings > 0 ? kept->n_strings : kept->values.size / type_size(type);
    if (n == 0) return REFS_OK;
    REFS_TRY(whole_box(file, kept, &box, err));
    if (kept->n_strings > 0) return put_strings(file, kept, &box, err);
    return put(file, kept->place, &box, kept->values.data, err);
}

refs_status refs_cfa__file_ready(nc_file *file, refs_error *err) {
    REFS_TRY(check_named(file, err));
    REFS_TRY(check_limit(file, err));
    REFS_TRY(check_room(file, err));
    REFS_TRY(check(file, NC(nc_enddef(file->id)), "", err));
    file->is_ready = true;
    for (size_t i = 0; i < file->n_kept; i++) {
        REFS_TRY(put_kept(file, &file->kept[i], err));
        refs_buf_clear(&file->kept[i].values);
    }
    file->n_kept = 0;
    return REFS_OK;
}

refs_status refs_cfa__file_put(nc_file *file, nc_place place, const nc_box *box, const void *values,
                               refs_error *err) {
    static const refs_dtype half = {.type = REFS_TYPE_FLOAT, .size = 2};
    REFS_SCOPED_BUF converted = REFS_BUF_INIT;
    size_t size = 2;
    if (!place.is_half) return put(file, place, box, values, err);
    for (size_t d = 0; d < box->rank; d++) size *= box->count[d];
    REFS_TRY(refs_cfa__nc_convert(&half, refs_bytes_view(values, size), &converted, err));
    return put(file, place, box, converted.data, err);
}
