/* nc_digest.c -- a digest of all values and attributes of a netCDF file. It shows whether another
 * program has changed the file, or made it of another: programs copy attributes.
 */
#include <stdio.h>
#include <string.h>

#include "cfa/nc_internal.h"
#include "refs/lookup3.h"

/* Larger variables get no digest: they are not values that REFS merges. */
#define MAX_BYTES (64 * REFS_MIB)

#define REFS_TRY_NC(call)                                                                          \
    do {                                                                                           \
        if (NC(call) != NC_NOERR) return REFS_IO;                                                  \
    } while (0)

typedef struct digest {
    uint64_t number;
    refs_buf values;
} digest;

static void add(digest *to, const void *data, size_t size) {
    to->number = refs_lookup3_64(refs_bytes_view(data, size), to->number);
}

/* Adds what was read: `n` elements, of which texts are released. */
static void add_elements(digest *to, nc_type type, size_t n) {
    char **texts = (char **)(void *)to->values.data;
    if (type != NC_STRING) {
        add(to, to->values.data, to->values.size);
        return;
    }
    for (size_t i = 0; i < n; i++)
        add(to, texts[i] != NULL ? texts[i] : "", texts[i] != NULL ? strlen(texts[i]) + 1 : 1);
    (void)NC(nc_free_string(n, texts));
}

/* Makes room for `n` elements of a type; REFS_UNSUPPORTED for types of users, and for too many. */
static refs_status make_room(digest *to, int file, nc_type type, size_t n) {
    size_t size = 0;
    if (type > NC_STRING) return REFS_UNSUPPORTED;
    REFS_TRY_NC(nc_inq_type(file, type, NULL, &size));
    if (type == NC_STRING) size = sizeof(char *);
    if (!refs_mul_size(size, n, &size) || size > MAX_BYTES) return REFS_UNSUPPORTED;
    REFS_TRY(refs_buf_resize(&to->values, size + 1, NULL));
    memset(to->values.data, 0, size + 1);
    to->values.size = size;
    return REFS_OK;
}

static refs_status add_attribute(digest *to, int group, int variable, const char *name) {
    nc_type type;
    size_t n;
    REFS_TRY_NC(nc_inq_atttype(group, variable, name, &type));
    REFS_TRY_NC(nc_inq_attlen(group, variable, name, &n));
    REFS_TRY(make_room(to, group, type, n));
    char **texts = (char **)(void *)to->values.data;
    add(to, name, strlen(name) + 1);
    add(to, &type, sizeof type);
    if (type == NC_STRING)
        REFS_TRY_NC(nc_get_att_string(group, variable, name, texts));
    else
        REFS_TRY_NC(nc_get_att(group, variable, name, to->values.data));
    add_elements(to, type, n);
    return REFS_OK;
}

static refs_status add_attributes(digest *to, int group, int variable, int n) {
    for (int i = 0; i < n; i++) {
        char name[NC_MAX_NAME + 1];
        REFS_TRY_NC(nc_inq_attname(group, variable, i, name));
        if (strcmp(name, REFS_CFA_COMBINED) != 0)
            REFS_TRY(add_attribute(to, group, variable, name));
    }
    return REFS_OK;
}

static refs_status add_variable(digest *to, int group, int variable) {
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int rank, n_attributes, dims[NC_MAX_VAR_DIMS];
    size_t n = 1;
    REFS_TRY_NC(nc_inq_var(group, variable, name, &type, &rank, dims, &n_attributes));
    add(to, name, strlen(name) + 1);
    add(to, &type, sizeof type);
    for (int d = 0; d < rank; d++) {
        size_t size;
        REFS_TRY_NC(nc_inq_dimlen(group, dims[d], &size));
        add(to, &size, sizeof size);
        if (!refs_mul_size(n, size, &n)) return REFS_UNSUPPORTED;
    }
    REFS_TRY(add_attributes(to, group, variable, n_attributes));
    REFS_TRY(make_room(to, group, type, n));
    if (n == 0) return REFS_OK;
    char **texts = (char **)(void *)to->values.data;
    if (type == NC_STRING)
        REFS_TRY_NC(nc_get_var_string(group, variable, texts));
    else
        REFS_TRY_NC(nc_get_var(group, variable, to->values.data));
    add_elements(to, type, n);
    return REFS_OK;
}

static refs_status add_group(digest *to, int group, unsigned depth) {
    enum { MAX_GROUPS = 64, MAX_DEPTH = 16 };
    int n_variables, n_attributes, n_groups = 0, groups[MAX_GROUPS];
    REFS_TRY_NC(nc_inq(group, NULL, &n_variables, &n_attributes, NULL));
    REFS_TRY(add_attributes(to, group, NC_GLOBAL, n_attributes));
    for (int i = 0; i < n_variables; i++) REFS_TRY(add_variable(to, group, i));
    REFS_TRY_NC(nc_inq_grps(group, &n_groups, NULL));
    if (n_groups > MAX_GROUPS || depth == MAX_DEPTH) return REFS_UNSUPPORTED;
    REFS_TRY_NC(nc_inq_grps(group, NULL, groups));
    for (int i = 0; i < n_groups; i++) {
        char name[NC_MAX_NAME + 1];
        REFS_TRY_NC(nc_inq_grpname(groups[i], name));
        add(to, name, strlen(name) + 1);
        REFS_TRY(add_group(to, groups[i], depth + 1));
    }
    return REFS_OK;
}

/* The mark of a file with its digest; without one where it has none. */
static refs_status print_mark(int id, char *mark, size_t size) {
    digest all = {0, REFS_BUF_INIT};
    const refs_status status = add_group(&all, id, 0);
    refs_buf_clear(&all.values);
    snprintf(mark, size,
             status == REFS_OK ? "all values are in this file (%016llx)"
                               : "all values are in this file",
             (unsigned long long)all.number);
    return status;
}

refs_status refs_cfa__file_mark(nc_file *file, refs_error *err) {
    char mark[64];
    const nc_place root = {.group = file->id, .id = NC_GLOBAL};
    if (!file->is_ready) REFS_TRY(refs_cfa__file_ready(file, err));
    (void)print_mark(file->id, mark, sizeof mark);
    int code = NC(nc_redef(file->id));
    if (code == NC_NOERR)
        REFS_TRY(refs_cfa__file_text(file, root, REFS_CFA_COMBINED, refs_str_from(mark), err));
    if (code == NC_NOERR) code = NC(nc_enddef(file->id));
    return code == NC_NOERR ? REFS_OK : refs_cfa__nc_fail(file, code, "", err);
}

/* Sets the mark that a file would get now; false without one that has a digest. */
static bool find_mark(const char *path, char *mark, size_t size) {
    /* HDF5 reads strings of a file that is open twice by the handle that read their type first,
     * which may be closed by then (H5T__conv_vlen, HDF5 1.10). So one file is open at a time. */
    static pthread_mutex_t one_file_lock = PTHREAD_MUTEX_INITIALIZER;
    int id;
    REFS_LOCKED(&one_file_lock);
    if (refs_cfa__nc_check_name(path, path, NULL) != REFS_OK ||
        refs_cfa__nc_load(NULL) != REFS_OK || NC(nc_open(path, NC_NOWRITE, &id)) != NC_NOERR)
        return false;
    refs_cfa__nc_hush(); /* opening the first file lets HDF5 print */
    const refs_status status = print_mark(id, mark, size);
    (void)NC(nc_close(id));
    return status == REFS_OK;
}

bool refs_cfa_is_as_written(const char *path, refs_str mark) {
    char now[64];
    return find_mark(path, now, sizeof now) && refs_str_is(mark, now);
}

bool refs_cfa_is_edited(const char *path, refs_str mark) {
    char now[64];
    const bool has_digest = refs_str_ends(mark, ")");
    return has_digest && find_mark(path, now, sizeof now) && !refs_str_is(mark, now);
}
