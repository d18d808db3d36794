/* encode_group.c -- CFA-0.5 as S3netCDF4 writes it: a group cfa_<variable> whose dimensions are
 * those of the variable, as long as there are partitions, and whose variables say where these are,
 * locations half open. */
#include "cfa/cfa_internal.h"

/* What an integer of a partition that is missing is: netCDF's NC_FILL_INT. */
#define MISSING (INT32_MIN + 1)

/* The group, and the dimensions of its variables. */
typedef struct cfa_group {
    const cfa_job *job;
    int id;
    const char *dims[REFS_MAX_RANK + 2]; /* of partitions, then "ndimensions", "bounds" */
} cfa_group;

static const refs_dtype int32 = {.type = REFS_TYPE_INT, .size = 4};
static const refs_dtype strings = {.type = REFS_TYPE_OBJECT};

static refs_status append_int(refs_buf *values, int64_t number, refs_error *err) {
    int32_t value = (int32_t)number;
    return refs_buf_append(values, &value, sizeof value, err);
}

static refs_status define(cfa_group *group, refs_error *err) {
    const cfa_job *job = group->job;
    size_t rank = job->variable->rank;
    for (size_t d = 0; d < rank; d++) {
        group->dims[d] = job->variable->dims[d];
        const nc_dimension added = {refs_str_from(group->dims[d]), job->grid->n[d], REFS_CFA_FIXED};
        REFS_TRY(refs_cfa__file_dimension(job->file, group->id, &added, err));
    }
    const nc_dimension of_shape = {refs_str_from("ndimensions"), rank, REFS_CFA_FIXED},
                       bounds = {refs_str_from("bounds"), 2, REFS_CFA_FIXED};
    group->dims[rank] = "ndimensions";
    group->dims[rank + 1] = "bounds";
    REFS_TRY(refs_cfa__file_dimension(job->file, group->id, &of_shape, err));
    return refs_cfa__file_dimension(job->file, group->id, &bounds, err);
}

/* -- integers ---------------------------------------------------------------------------------- */

/* What an integer variable says of a partition. */
typedef enum cfa_integers { INTEGERS_INDEX, INTEGERS_LOCATION, INTEGERS_SHAPE } cfa_integers;

/* `spot` is NULL for one that is missing. */
static refs_status append_integers(cfa_integers which, const cfa_spot *spot, size_t d,
                                   refs_buf *values, refs_error *err) {
    int64_t begin = spot != NULL ? (int64_t)spot->begin[d] : MISSING;
    int64_t end = spot != NULL ? (int64_t)spot->end[d] : MISSING;
    switch (which) {
    case INTEGERS_INDEX:
        return append_int(values, spot != NULL ? (int64_t)spot->index[d] : MISSING, err);
    case INTEGERS_SHAPE:
        return append_int(values, spot != NULL ? end - begin : MISSING, err);
    default:
        REFS_TRY(append_int(values, begin, err));
        return append_int(values, end, err);
    }
}

static refs_status gather_integers(const cfa_job *job, cfa_integers which, refs_buf *values,
                                   refs_error *err) {
    cfa_spot spot;
    refs_cfa__first(job->grid, job->variable->rank, &spot);
    for (size_t i = 0; i < job->n_fragments; i++) {
        const cfa_spot *there = job->fragments[i].file != NULL ? &spot : NULL;
        for (size_t d = 0; d < job->variable->rank; d++)
            REFS_TRY(append_integers(which, there, d, values, err));
        refs_cfa__next(job->grid, job->variable->rank, &spot);
    }
    return REFS_OK;
}

static refs_status put_integers(const cfa_group *group, const nc_shape *shape,
                                const refs_buf *values, refs_error *err) {
    nc_place place;
    REFS_TRY(refs_cfa__file_define(group->job->file, shape, &place, err));
    return refs_cfa__file_keep(group->job->file, place, &int32, refs_buf_view(values), err);
}

static refs_status write_integers(const cfa_group *group, const char *name, cfa_integers which,
                                  refs_error *err) {
    size_t rank = group->job->variable->rank + (which == INTEGERS_LOCATION ? 2 : 1);
    nc_shape shape = {group->id, name, int32, rank, group->dims, 0};
    refs_buf values = REFS_BUF_INIT;
    refs_status status = gather_integers(group->job, which, &values, err);
    if (status == REFS_OK) status = put_integers(group, &shape, &values, err);
    refs_buf_clear(&values);
    return status;
}

static refs_status write_shape(const cfa_group *group, refs_error *err) {
    size_t rank = group->job->variable->rank;
    const char *dims[] = {"ndimensions"};
    nc_shape shape = {group->id, "pmshape", int32, 1, dims, 0};
    refs_buf values = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t d = 0; status == REFS_OK && d < rank; d++)
        status = append_int(&values, (int64_t)group->job->grid->n[d], err);
    if (status == REFS_OK) status = put_integers(group, &shape, &values, err);
    refs_buf_clear(&values);
    return status;
}

/* -- strings ----------------------------------------------------------------------------------- */

static const char *text_of(const refs_cfa_fragment *fragment, const char *name) {
    if (fragment->file == NULL) return "";
    if (strcmp(name, "file") == 0) return fragment->file;
    return strcmp(name, "ncvar") == 0 ? fragment->variable : refs_cfa__format_name(fragment);
}

static refs_status write_strings(const cfa_group *group, const char *name, refs_error *err) {
    const cfa_job *job = group->job;
    nc_shape shape = {group->id, name, strings, job->variable->rank, group->dims, 0};
    nc_place place;
    refs_buf values = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0; status == REFS_OK && i < job->n_fragments; i++) {
        const char *text = text_of(&job->fragments[i], name);
        status = refs_buf_append(&values, text, strlen(text) + 1, err);
    }
    if (status == REFS_OK)
        status = refs_cfa__file_strings(job->file, &shape, refs_buf_view(&values), &place, err);
    refs_buf_clear(&values);
    return status;
}

static refs_status write_dims(const cfa_group *group, refs_error *err) {
    nc_shape shape = {.group = group->id, .name = "pmdimensions", .dtype = strings};
    nc_place place;
    refs_buf text = REFS_BUF_INIT;
    refs_status status = refs_cfa__append_dims(group->job->variable, ", ", &text, err);
    if (status == REFS_OK) status = refs_buf_append(&text, "", 1, err);
    if (status == REFS_OK)
        status =
            refs_cfa__file_strings(group->job->file, &shape, refs_buf_view(&text), &place, err);
    refs_buf_clear(&text);
    return status;
}

/* -- the encoding ------------------------------------------------------------------------------ */

static refs_status write_group(cfa_group *group, refs_error *err) {
    REFS_TRY(define(group, err));
    REFS_TRY(write_shape(group, err));
    REFS_TRY(write_dims(group, err));
    REFS_TRY(write_integers(group, "index", INTEGERS_INDEX, err));
    REFS_TRY(write_integers(group, "location", INTEGERS_LOCATION, err));
    REFS_TRY(write_strings(group, "ncvar", err));
    REFS_TRY(write_strings(group, "file", err));
    REFS_TRY(write_strings(group, "format", err));
    return write_integers(group, "shape", INTEGERS_SHAPE, err);
}

static refs_status put_attributes(const cfa_job *job, const char *group_name, refs_error *err) {
    refs_buf dims = REFS_BUF_INIT;
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "cf_role",
                                 refs_str_from("cfa_variable"), err));
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "cfa_group", refs_str_from(group_name),
                                 err));
    refs_status status = refs_cfa__append_dims(job->variable, " ", &dims, err);
    if (status == REFS_OK)
        status = refs_cfa__file_text(job->file, job->container, "cfa_dimensions",
                                     refs_str_view((const char *)dims.data, dims.size), err);
    refs_buf_clear(&dims);
    return status;
}

/* The group is one of the group that the variable is in. */
static refs_status make_group(const cfa_job *job, refs_buf *name, cfa_group *group,
                              refs_error *err) {
    refs_str path = refs_str_from(job->variable->path);
    size_t slash = refs_str_find_last(path, '/');
    refs_str above = slash == SIZE_MAX ? refs_str_from("") : refs_str_part(path, 0, slash);
    refs_buf all = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(name, err, "cfa_%s", job->name));
    refs_status status = refs_buf_append_str(&all, above, err);
    if (status == REFS_OK) status = refs_buf_printf(&all, err, "/%s", (const char *)name->data);
    if (status == REFS_OK)
        status = refs_cfa__file_group(job->file, refs_str_view((const char *)all.data, all.size),
                                      &group->id, err);
    refs_buf_clear(&all);
    return status;
}

refs_status refs_cfa__encode_group(const cfa_job *job, refs_error *err) {
    cfa_group group = {.job = job};
    refs_buf name = REFS_BUF_INIT;
    if (job->variable->rank == 0)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%s: CFA-0.5 has no fragments of a scalar, as %s is one: keep its value in "
            "the master",
            refs_cfa__file_shown(job->file), job->variable->path);
    refs_status status = make_group(job, &name, &group, err);
    if (status == REFS_OK) status = put_attributes(job, (const char *)name.data, err);
    if (status == REFS_OK) status = write_group(&group, err);
    refs_buf_clear(&name);
    return status;
}
