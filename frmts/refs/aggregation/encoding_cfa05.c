/* encoding_cfa05.c -- CFA-0.5 as S3netCDF4 reads and writes it: a group cfa_<variable> whose
 * dimensions are named like those of the variable, with the number of fragments as length, and
 * whose variables describe the fragments by half-open locations; see encoding.h. */
#include "aggregation_internal.h"
#include "cfa/cfa_internal.h"
#include "refs/own_attributes.h"

static bool recognise(const refs_json *attributes) {
    return refs_str_is(refs_aggregation__text(attributes, "cf_role"), "cfa_variable") &&
           refs_aggregation__text(attributes, "cfa_group").size > 0;
}

/* -- decoding ---------------------------------------------------------------------------------- */

/* The group's variable, or NULL. */
static refs_status find_in_group(const refs_aggregation *aggregation, const char *name,
                                 const refs_array_meta **meta, refs_error *err) {
    refs_str group = refs_aggregation__text(aggregation->container.attributes, "cfa_group");
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&path, err, "%s/%.*s/%s", aggregation->container.group,
                                         REFS_STR_WHOLE(group), name);
    *meta = NULL;
    if (status == REFS_OK)
        *meta = refs_hierarchy_find_array(aggregation->hierarchy, refs_buf_text(&path));
    if (*meta != NULL && (*meta)->status != REFS_OK) *meta = NULL;
    return status;
}

static bool has_variable(const refs_aggregation *aggregation, const refs_array_meta *meta) {
    const refs_str group = refs_aggregation__text(aggregation->container.attributes, "cfa_group");
    const size_t size = strlen(aggregation->container.group);
    return strncmp(meta->group, aggregation->container.group, size) == 0 &&
           meta->group[size] == '/' && refs_str_is(group, meta->group + size + 1);
}

static refs_status find_required(const refs_aggregation *aggregation, const char *name,
                                 const refs_array_meta **meta, refs_error *err) {
    refs_str group = refs_aggregation__text(aggregation->container.attributes, "cfa_group");
    REFS_TRY(find_in_group(aggregation, name, meta, err));
    return *meta != NULL ? REFS_OK
                         : refs_fail(err, REFS_CORRUPT, "group %.*s lacks the variable %s",
                                     REFS_STR_ARG(group), name);
}

/* Records the interval that partition `number` states along a dimension. */
static refs_status take_place(refs_aggregation *aggregation, uint64_t number, size_t dim,
                              const double *place, refs_error *err) {
    char text[256];
    uint64_t index[REFS_MAX_RANK];
    refs_fragment_dim *parts = &aggregation->grid.dims[dim];
    refs_fragment_grid_index(&aggregation->grid, number, index);
    const bool is_sane = place[0] >= 0 && place[1] > place[0] && place[1] < 9e15;
    if (is_sane &&
        refs_fragment_dim_state(
            parts, (refs_fragment_interval){(uint64_t)place[0], (uint64_t)place[1], index[dim]}))
        return REFS_OK;
    const refs_fragment_interval *others = &parts->intervals[index[dim]];
    return refs_fail(err, REFS_CORRUPT,
                     "partition %s: its location along dimension %s is %g to %g: expected %llu to "
                     "%llu, as in other partitions",
                     refs_aggregation__print_index(aggregation, number, text, sizeof text),
                     aggregation->names[dim], place[0], place[1], (unsigned long long)others->begin,
                     (unsigned long long)others->end);
}

/* An element that is NC_FILL_INT was never written. */
static bool is_undefined(const double *place) {
    return place[0] < 0 && place[0] == place[1];
}

static refs_status read_dim(refs_aggregation *aggregation, size_t dim, const double *places,
                            refs_error *err) {
    REFS_TRY(refs_fragment_dim_begin(&aggregation->grid.dims[dim], err));
    for (uint64_t i = 0; i < aggregation->grid.n; i++) {
        const double *place = places + 2 * (i * aggregation->meta.rank + dim);
        if (!is_undefined(place)) REFS_TRY(take_place(aggregation, i, dim, place, err));
    }
    return refs_aggregation__settle_dim(aggregation, dim, err);
}

static refs_status decode(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *location;
    size_t rank = aggregation->meta.rank, n = 0;
    REFS_SCOPED double *places = NULL;
    REFS_TRY(find_in_group(aggregation, "file", &aggregation->terms.files, err));
    REFS_TRY(find_in_group(aggregation, "ncvar", &aggregation->terms.variables, err));
    REFS_TRY(find_in_group(aggregation, "format", &aggregation->terms.formats, err));
    REFS_TRY(find_required(aggregation, "location", &location, err));
    if (rank > REFS_MAX_RANK - 2 || location->rank != rank + 2 || location->shape[rank] != rank ||
        location->shape[rank + 1] != 2)
        return refs_fail(err, REFS_CORRUPT,
                         "%s: expected the %zu dimensions of the partitions and one of size 2",
                         location->path, rank);
    for (size_t dim = 0; dim < rank; dim++) {
        aggregation->grid.dims[dim].n_parts = location->shape[dim];
        aggregation->grid.dims[dim].is_split = true;
    }
    REFS_TRY(refs_fragment_grid_count(&aggregation->grid, err));
    REFS_TRY(refs_aggregation__read_numbers(aggregation, location, &places, &n, err));
    for (size_t dim = 0; dim < rank; dim++) REFS_TRY(read_dim(aggregation, dim, places, err));
    return REFS_OK;
}

/* -- files ------------------------------------------------------------------------------------- */

/* Checks the index that S3netCDF4 writes for each partition. */
static refs_status check_index(const refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *meta;
    size_t rank = aggregation->meta.rank, n = 0;
    REFS_SCOPED double *numbers = NULL;
    char text[256];
    REFS_TRY(find_in_group(aggregation, "index", &meta, err));
    if (meta == NULL) return REFS_OK;
    REFS_TRY(refs_aggregation__read_numbers(aggregation, meta, &numbers, &n, err));
    bool fits = n == aggregation->grid.n * rank;
    for (uint64_t i = 0; fits && i < aggregation->grid.n; i++) {
        uint64_t index[REFS_MAX_RANK];
        refs_fragment_grid_index(&aggregation->grid, i, index);
        for (size_t dim = 0; dim < rank; dim++) {
            double stored = numbers[i * rank + dim];
            if (aggregation->grid.sources[i].is_there && stored != (double)index[dim])
                return refs_fail(err, REFS_CORRUPT,
                                 "partition %s: its index along dimension %s is invalid: %g",
                                 refs_aggregation__print_index(aggregation, i, text, sizeof text),
                                 aggregation->names[dim], stored);
        }
    }
    return REFS_OK;
}

static refs_status check_count(const refs_aggregation *aggregation, const refs_array_meta *meta,
                               refs_error *err) {
    uint64_t n;
    if (refs_array_meta_elements(meta, &n) && n == aggregation->grid.n)
        return refs_aggregation__check_matrix(aggregation, meta, err);
    return refs_fail(err, REFS_CORRUPT, "%s: expected one value for each of %llu partitions",
                     meta->path, (unsigned long long)aggregation->grid.n);
}

/* Loads the fragments like variables that aggregated_data names. */
static refs_status load(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *file, *variable;
    REFS_TRY(find_required(aggregation, "file", &file, err));
    REFS_TRY(find_required(aggregation, "ncvar", &variable, err));
    REFS_TRY(check_count(aggregation, file, err));
    REFS_TRY(check_count(aggregation, variable, err));
    REFS_TRY(refs_encoding_cf113_load_files(aggregation, err));
    return check_index(aggregation, err);
}

/* -- encoding ---------------------------------------------------------------------------------- */

/* The integers of a missing partition: netCDF's NC_FILL_INT. */
#define MISSING (INT32_MIN + 1)

/* The group, and the dimensions of its variables. */
typedef struct cfa_group {
    const cfa_job *job;
    int id;
    const char
        *dims[REFS_MAX_RANK + 2]; /* dimensions of partitions, then "ndimensions", "bounds" */
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
        const nc_dimension added = {refs_str_from(group->dims[d]), job->grid->dims[d].n_parts,
                                    REFS_CFA_FIXED};
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

/* The content of an integer variable for a partition. */
typedef enum cfa_integers { INTEGERS_INDEX, INTEGERS_LOCATION, INTEGERS_SHAPE } cfa_integers;

static refs_status append_integers(cfa_integers which, const refs_partition *at, size_t d,
                                   refs_buf *values, refs_error *err) {
    const bool is_there = at->has_fragment;
    const int64_t begin = is_there ? (int64_t)at->begin[d] : MISSING;
    const int64_t end = is_there ? (int64_t)at->end[d] : MISSING;
    switch (which) {
    case INTEGERS_INDEX:
        return append_int(values, is_there ? (int64_t)at->index[d] : MISSING, err);
    case INTEGERS_SHAPE:
        return append_int(values, is_there ? end - begin : MISSING, err);
    default:
        REFS_TRY(append_int(values, begin, err));
        return append_int(values, end, err);
    }
}

static refs_status append_all(const refs_fragment_grid *grid, cfa_integers which, refs_buf *values,
                              refs_error *err) {
    for (uint64_t i = 0; i < grid->n; i++) {
        refs_partition at;
        refs_fragment_grid_get(grid, i, &at);
        for (size_t d = 0; d < grid->rank; d++)
            REFS_TRY(append_integers(which, &at, d, values, err));
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
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    REFS_TRY(append_all(group->job->grid, which, &values, err));
    return put_integers(group, &shape, &values, err);
}

static refs_status write_shape(const cfa_group *group, refs_error *err) {
    size_t rank = group->job->variable->rank;
    const char *dims[] = {"ndimensions"};
    nc_shape shape = {group->id, "pmshape", int32, 1, dims, 0};
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    for (size_t d = 0; d < rank; d++)
        REFS_TRY(append_int(&values, (int64_t)group->job->grid->dims[d].n_parts, err));
    return put_integers(group, &shape, &values, err);
}

/* -- strings ----------------------------------------------------------------------------------- */

static const char *text_of(const refs_partition *at, const char *name) {
    if (strcmp(name, "file") == 0) return at->file;
    return strcmp(name, "ncvar") == 0 ? at->variable : at->format;
}

static refs_status write_strings(const cfa_group *group, const char *name, refs_error *err) {
    const cfa_job *job = group->job;
    nc_shape shape = {group->id, name, strings, job->variable->rank, group->dims, 0};
    nc_place place;
    REFS_SCOPED_BUF values = REFS_BUF_INIT;
    for (uint64_t i = 0; i < job->grid->n; i++) {
        refs_partition at;
        refs_fragment_grid_get(job->grid, i, &at);
        const char *text = text_of(&at, name);
        REFS_TRY(refs_buf_append_text(&values, refs_str_from(text), err));
    }
    return refs_cfa__file_strings(job->file, &shape, refs_buf_view(&values), &place, err);
}

static refs_status write_dims(const cfa_group *group, refs_error *err) {
    nc_shape shape = {.group = group->id, .name = "pmdimensions", .dtype = strings};
    nc_place place;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_cfa__append_dims(group->job->variable, ", ", &text, err));
    REFS_TRY(refs_buf_append(&text, "", 1, err));
    return refs_cfa__file_strings(group->job->file, &shape, refs_buf_view(&text), &place, err);
}

/* -- the group --------------------------------------------------------------------------------- */

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
    REFS_SCOPED_BUF dims = REFS_BUF_INIT;
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "cf_role",
                                 refs_str_from("cfa_variable"), err));
    REFS_TRY(refs_cfa__file_text(job->file, job->container, "cfa_group", refs_str_from(group_name),
                                 err));
    REFS_TRY(refs_cfa__append_dims(job->variable, " ", &dims, err));
    return refs_cfa__file_text(job->file, job->container, "cfa_dimensions", refs_buf_text(&dims),
                               err);
}

/* Makes the group inside the group of the variable. */
static refs_status make_group(const cfa_job *job, refs_buf *name, cfa_group *group,
                              refs_error *err) {
    const refs_str above = refs_path_parent(refs_str_from(job->variable->path));
    REFS_SCOPED_BUF all = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(name, err, "cfa_%s", job->name));
    REFS_TRY(refs_buf_append_str(&all, above, err));
    REFS_TRY(refs_buf_printf(&all, err, "/%s", (const char *)name->data));
    return refs_cfa__file_group(job->file, refs_buf_text(&all), &group->id, err);
}

static refs_status encode(const cfa_job *job, refs_error *err) {
    cfa_group group = {.job = job};
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    if (job->variable->rank == 0)
        return refs_fail(
            err, REFS_UNSUPPORTED,
            "%s: CFA-0.5 cannot have fragments of the scalar %s: keep its value in the master",
            refs_cfa__file_shown(job->file), job->variable->path);
    REFS_TRY(make_group(job, &name, &group, err));
    REFS_TRY(put_attributes(job, (const char *)name.data, err));
    return write_group(&group, err);
}

const refs_encoding refs_encoding_cfa05 = {.name = "CFA-0.5",
                                           .dims = REFS_CFA_DIMENSIONS,
                                           .recognise = recognise,
                                           .decode = decode,
                                           .load = load,
                                           .has_variable = has_variable,
                                           .encode = encode,
                                           .is_of_s3netcdf4 = true};
