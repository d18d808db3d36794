/* move_widen.c -- see move_widen.h. */
#include "cfa/move_widen.h"

#include <stdio.h>

#include "cfa/nc_library.h"

/* Bytes that are copied at once. */
#define BLOCK_BYTES (16 * REFS_MIB)

/* New widths are a multiple of this, so that later names may fit. */
#define WIDTH_STEP 32

typedef struct widening {
    int from, to;
    const char *shown;
    const cfa_widened_list *list;
    int n_dims, n_variables, n_attributes, unlimited;
} widening;

void refs_cfa__widened_clear(cfa_widened_list *list) {
    for (size_t i = 0; i < list->n; i++) refs_buf_clear(&list->items[i].rows);
    refs_free(list->items);
    memset(list, 0, sizeof *list);
}

size_t refs_cfa__widened_width(size_t longest) {
    return (longest / WIDTH_STEP + 1) * WIDTH_STEP;
}

static refs_status check(const widening *of, int code, refs_error *err) {
    if (code == NC_NOERR) return REFS_OK;
    return refs_fail(err, REFS_IO, "%s: cannot be copied: %s", of->shown,
                     refs_cfa__nc.nc_strerror(code));
}

static const cfa_widened *find(const widening *of, int id) {
    for (size_t i = 0; i < of->list->n; i++)
        if (of->list->items[i].id == id) return &of->list->items[i];
    return NULL;
}

/* -- definitions ------------------------------------------------------------------------------- */

static refs_status copy_dims(const widening *of, refs_error *err) {
    for (int d = 0; d < of->n_dims; d++) {
        char name[NC_MAX_NAME + 1];
        size_t size;
        int id;
        REFS_TRY(check(of, NC(nc_inq_dim(of->from, d, name, &size)), err));
        if (d == of->unlimited) size = NC_UNLIMITED;
        REFS_TRY(check(of, NC(nc_def_dim(of->to, name, size, &id)), err));
    }
    return REFS_OK;
}

static refs_status copy_attributes(const widening *of, int variable, int n, refs_error *err) {
    for (int i = 0; i < n; i++) {
        char name[NC_MAX_NAME + 1];
        REFS_TRY(check(of, NC(nc_inq_attname(of->from, variable, i, name)), err));
        REFS_TRY(check(of, NC(nc_copy_att(of->from, variable, name, of->to, variable)), err));
    }
    return REFS_OK;
}

/* Defines a new dimension for the width, because other variables may share the old one. */
static refs_status define_width(const widening *of, const cfa_widened *wide, int *id,
                                refs_error *err) {
    char name[64];
    int taken, number = 0;
    do snprintf(name, sizeof name, "refs_name_%zu_%d", wide->width, number++);
    while (NC(nc_inq_dimid(of->to, name, &taken)) == NC_NOERR);
    return check(of, NC(nc_def_dim(of->to, name, wide->width, id)), err);
}

static refs_status copy_definition(const widening *of, int variable, refs_error *err) {
    char name[NC_MAX_NAME + 1];
    int rank, dims[NC_MAX_VAR_DIMS], n, id;
    nc_type type;
    const cfa_widened *wide = find(of, variable);
    REFS_TRY(check(of, NC(nc_inq_var(of->from, variable, name, &type, &rank, dims, &n)), err));
    if (wide != NULL) REFS_TRY(define_width(of, wide, &dims[rank - 1], err));
    REFS_TRY(check(of, NC(nc_def_var(of->to, name, type, rank, dims, &id)), err));
    return copy_attributes(of, variable, n, err);
}

/* -- values ------------------------------------------------------------------------------------ */

/* A variable, and the number of rows of its first dimension that are copied at once. */
typedef struct copied {
    int id;
    size_t rank, row_bytes, n_rows;
    size_t count[NC_MAX_VAR_DIMS];
} copied;

static refs_status measure(const widening *of, copied *one, refs_error *err) {
    char name[NC_MAX_NAME + 1];
    int rank, dims[NC_MAX_VAR_DIMS];
    nc_type type;
    REFS_TRY(check(of, NC(nc_inq_var(of->from, one->id, name, &type, &rank, dims, NULL)), err));
    one->rank = (size_t)rank;
    one->n_rows = 1;
    REFS_TRY(check(of, NC(nc_inq_type(of->from, type, NULL, &one->row_bytes)), err));
    for (size_t d = 0; d < one->rank; d++) {
        REFS_TRY(check(of, NC(nc_inq_dimlen(of->from, dims[d], &one->count[d])), err));
        if (d == 0)
            one->n_rows = one->count[0];
        else if (!refs_mul_size(one->row_bytes, one->count[d], &one->row_bytes))
            return refs_fail(
                err, REFS_LIMIT,
                "%s: cannot be copied: expected rows of at most %zu bytes, %s has larger ones",
                of->shown, SIZE_MAX, name);
    }
    return REFS_OK;
}

static refs_status copy_values(const widening *of, int variable, refs_error *err) {
    copied one = {.id = variable};
    size_t start[NC_MAX_VAR_DIMS] = {0};
    REFS_SCOPED_BUF block = REFS_BUF_INIT;
    REFS_TRY(measure(of, &one, err));
    const size_t fits = one.row_bytes > 0 ? BLOCK_BYTES / one.row_bytes : 0;
    const size_t most = fits > 0 ? fits : 1;
    for (size_t row = 0, n; row < one.n_rows && one.row_bytes > 0; row += n) {
        n = one.n_rows - row < most ? one.n_rows - row : most;
        start[0] = row;
        if (one.rank > 0) one.count[0] = n;
        const refs_cfa_moving *moving = of->list->moving;
        if (moving != NULL && moving->go_on != NULL && !moving->go_on(moving->user))
            return refs_fail(err, REFS_CANCELLED, "cancelled");
        REFS_TRY(refs_buf_resize(&block, n * one.row_bytes, err));
        REFS_TRY(check(of, NC(nc_get_vara(of->from, one.id, start, one.count, block.data)), err));
        REFS_TRY(check(of, NC(nc_put_vara(of->to, one.id, start, one.count, block.data)), err));
    }
    return REFS_OK;
}

static refs_status put_rows(const widening *of, const cfa_widened *wide, refs_error *err) {
    return check(of, NC(nc_put_var_text(of->to, wide->id, (const char *)wide->rows.data)), err);
}

static refs_status copy_all(widening *of, refs_error *err) {
    REFS_TRY(check(
        of, NC(nc_inq(of->from, &of->n_dims, &of->n_variables, &of->n_attributes, &of->unlimited)),
        err));
    REFS_TRY(copy_dims(of, err));
    REFS_TRY(copy_attributes(of, NC_GLOBAL, of->n_attributes, err));
    for (int i = 0; i < of->n_variables; i++) REFS_TRY(copy_definition(of, i, err));
    REFS_TRY(check(of, NC(nc_enddef(of->to)), err));
    for (int i = 0; i < of->n_variables; i++) {
        const cfa_widened *wide = find(of, i);
        REFS_TRY(wide != NULL ? put_rows(of, wide, err) : copy_values(of, i, err));
    }
    return REFS_OK;
}

/* -- the file ---------------------------------------------------------------------------------- */

refs_status refs_cfa__widen(int from, const char *path, const char *shown,
                            const cfa_widened_list *list, refs_error *err) {
    widening of = {.from = from, .shown = shown, .list = list};
    int format, mode = NC_CLOBBER;
    REFS_TRY(check(&of, NC(nc_inq_format(from, &format)), err));
    if (format == NC_FORMAT_64BIT_OFFSET) mode |= NC_64BIT_OFFSET;
    if (format == NC_FORMAT_64BIT_DATA) mode |= NC_64BIT_DATA;
    REFS_TRY(check(&of, refs_cfa__nc_make_file(path, list->is_private ? 0600 : 0666), err));
    REFS_TRY(check(&of, NC(nc_create(path, mode, &of.to)), err));
    refs_status status = copy_all(&of, err);
    if (status != REFS_OK) {
        (void)NC(nc_abort(of.to));
        return status;
    }
    return check(&of, NC(nc_close(of.to)), err);
}
