/* group_partitions.c -- CFA-0.5 as S3netCDF4 writes it: partitions as variables of a group; see
 * aggregation_internal.h. */
#include "aggregation_internal.h"

/* The group's variable, or NULL. */
static refs_status find_in_group(const refs_aggregation *aggregation, const char *name,
                                 const refs_array_meta **meta, refs_error *err) {
    refs_str group = refs_aggregation__text(aggregation->container.attributes, "cfa_group");
    refs_buf path = REFS_BUF_INIT;
    refs_status status = refs_buf_printf(&path, err, "%s/%.*s/%s", aggregation->container.group,
                                         REFS_STR_WHOLE(group), name);
    *meta = NULL;
    if (status == REFS_OK)
        *meta = refs_hierarchy_find_array(aggregation->hierarchy,
                                          refs_str_view((char *)path.data, path.size));
    refs_buf_clear(&path);
    if (*meta != NULL && (*meta)->status != REFS_OK) *meta = NULL;
    return status;
}

const refs_array_meta *refs_aggregation__group_files(const refs_aggregation *aggregation) {
    const refs_array_meta *files = NULL;
    return find_in_group(aggregation, "file", &files, NULL) == REFS_OK ? files : NULL;
}

static refs_status find_required(const refs_aggregation *aggregation, const char *name,
                                 const refs_array_meta **meta, refs_error *err) {
    refs_str group = refs_aggregation__text(aggregation->container.attributes, "cfa_group");
    REFS_TRY(find_in_group(aggregation, name, meta, err));
    return *meta != NULL ? REFS_OK
                         : refs_fail(err, REFS_CORRUPT, "group %.*s has no variable %s",
                                     REFS_STR_ARG(group), name);
}

/* Where partitions are along a dimension, by their index along it. */
typedef struct dim_bounds {
    size_t dim;
    uint64_t *begins, *ends;
} dim_bounds;

/* Notes what partition number `number` says of its place. */
static refs_status note_place(const refs_aggregation *aggregation, uint64_t number,
                              const double *place, const dim_bounds *bounds, refs_error *err) {
    char text[256];
    uint64_t index[REFS_MAX_RANK];
    refs_aggregation__index_of(aggregation, number, index);
    const size_t dim = bounds->dim;
    uint64_t *begin = &bounds->begins[index[dim]], *end = &bounds->ends[index[dim]];
    bool is_sane = place[0] >= 0 && place[1] > place[0] && place[1] < 9e15;
    if (is_sane && *end == 0) {
        *begin = (uint64_t)place[0];
        *end = (uint64_t)place[1];
    }
    if (is_sane && *begin == (uint64_t)place[0] && *end == (uint64_t)place[1]) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "partition %s: its location along dimension %s is %g to %g, other partitions "
                     "have %llu to %llu there",
                     refs_aggregation__print_index(aggregation, number, text, sizeof text),
                     aggregation->names[dim], place[0], place[1], (unsigned long long)*begin,
                     (unsigned long long)*end);
}

static refs_status add_spans(refs_aggregation *aggregation, const dim_bounds *bounds,
                             refs_error *err) {
    refs_agg_dim *parts = &aggregation->dims[bounds->dim];
    for (uint64_t i = 0; i < parts->n_parts; i++)
        if (bounds->ends[i] > 0)
            REFS_TRY(refs_agg_dim__place(
                parts, (refs_agg_span){bounds->begins[i], bounds->ends[i], i}, err));
    return refs_agg_dim__settle(aggregation, bounds->dim, err);
}

/* What NC_FILL_INT stands for was never written. */
static bool is_undefined(const double *place) {
    return place[0] < 0 && place[0] == place[1];
}

static refs_status read_dim(refs_aggregation *aggregation, size_t dim, const double *places,
                            refs_error *err) {
    size_t n = (size_t)aggregation->dims[dim].n_parts;
    const dim_bounds bounds = {dim, refs_calloc(n, sizeof(uint64_t)),
                               refs_calloc(n, sizeof(uint64_t))};
    refs_status status =
        bounds.begins != NULL && bounds.ends != NULL ? REFS_OK : refs_fail_nomem(err);
    for (uint64_t i = 0; i < aggregation->n_partitions && status == REFS_OK; i++) {
        const double *place = places + 2 * (i * aggregation->meta.rank + dim);
        if (!is_undefined(place)) status = note_place(aggregation, i, place, &bounds, err);
    }
    if (status == REFS_OK) status = add_spans(aggregation, &bounds, err);
    refs_free(bounds.begins);
    refs_free(bounds.ends);
    return status;
}

refs_status refs_aggregation__open_group(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *location;
    size_t rank = aggregation->meta.rank, n = 0;
    double *places = NULL;
    REFS_TRY(find_required(aggregation, "location", &location, err));
    if (rank > REFS_MAX_RANK - 2 || location->rank != rank + 2 || location->shape[rank] != rank ||
        location->shape[rank + 1] != 2)
        return refs_fail(err, REFS_CORRUPT,
                         "%s: does not have the dimensions of the partitions, %zu and 2",
                         location->path, rank);
    for (size_t dim = 0; dim < rank; dim++) {
        aggregation->dims[dim].n_parts = location->shape[dim];
        aggregation->dims[dim].is_split = true;
    }
    REFS_TRY(refs_aggregation__count(aggregation, err));
    refs_status status = refs_aggregation__read_numbers(aggregation, location, &places, &n, err);
    for (size_t dim = 0; dim < rank && status == REFS_OK; dim++)
        status = read_dim(aggregation, dim, places, err);
    refs_free(places);
    return status;
}

/* -- files ------------------------------------------------------------------------------------- */

/* S3netCDF4 writes for each partition which one it is. */
static refs_status check_index(const refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *meta;
    size_t rank = aggregation->meta.rank, n = 0;
    double *numbers = NULL;
    char text[256];
    REFS_TRY(find_in_group(aggregation, "index", &meta, err));
    if (meta == NULL) return REFS_OK;
    refs_status status = refs_aggregation__read_numbers(aggregation, meta, &numbers, &n, err);
    bool fits = n == aggregation->n_partitions * rank;
    for (uint64_t i = 0; fits && status == REFS_OK && i < aggregation->n_partitions; i++) {
        uint64_t index[REFS_MAX_RANK];
        refs_aggregation__index_of(aggregation, i, index);
        for (size_t dim = 0; dim < rank && status == REFS_OK; dim++) {
            double told = numbers[i * rank + dim];
            if (aggregation->fragments[i].is_there && told != (double)index[dim])
                status = refs_fail(err, REFS_CORRUPT,
                                   "partition %s: its index along dimension %s is told to be %g",
                                   refs_aggregation__print_index(aggregation, i, text, sizeof text),
                                   aggregation->names[dim], told);
        }
    }
    refs_free(numbers);
    return status;
}

static refs_status add_fragments(refs_aggregation *aggregation, const char *file,
                                 const char *variable, refs_error *err) {
    for (uint64_t i = 0; i < aggregation->n_partitions; i++) {
        refs_agg_fragment *fragment = &aggregation->fragments[i];
        refs_str file_name = refs_str_from(file), variable_name = refs_str_from(variable);
        REFS_TRY(refs_aggregation__number_text(aggregation, file_name,
                                               &aggregation->files[fragment->first_file], err));
        REFS_TRY(
            refs_aggregation__number_text(aggregation, variable_name, &fragment->variable, err));
        fragment->is_there = file_name.size > 0 && variable_name.size > 0;
        file += file_name.size + 1;
        variable += variable_name.size + 1;
    }
    return REFS_OK;
}

static refs_status check_count(const refs_aggregation *aggregation, const refs_array_meta *meta,
                               refs_error *err) {
    uint64_t n;
    if (refs_array_meta_elements(meta, &n) && n == aggregation->n_partitions)
        return refs_aggregation__check_matrix(aggregation, meta, err);
    return refs_fail(err, REFS_CORRUPT, "%s: does not have one value for each of %llu partitions",
                     meta->path, (unsigned long long)aggregation->n_partitions);
}

static refs_status check_formats(const refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *meta;
    refs_buf strings = REFS_BUF_INIT;
    REFS_TRY(find_in_group(aggregation, "format", &meta, err));
    if (meta == NULL) return REFS_OK;
    refs_status status = refs_aggregation__read_strings(aggregation, meta, &strings, err);
    for (size_t at = 0; at < strings.size && status == REFS_OK;) {
        refs_str format = refs_str_from((const char *)strings.data + at);
        status = refs_aggregation__check_format(format, err);
        at += format.size + 1;
    }
    refs_buf_clear(&strings);
    return status;
}

refs_status refs_aggregation__load_group(refs_aggregation *aggregation, refs_error *err) {
    const refs_array_meta *file, *variable;
    refs_buf files = REFS_BUF_INIT, variables = REFS_BUF_INIT;
    REFS_TRY(find_required(aggregation, "file", &file, err));
    REFS_TRY(find_required(aggregation, "ncvar", &variable, err));
    REFS_TRY(check_count(aggregation, file, err));
    REFS_TRY(check_count(aggregation, variable, err));
    REFS_TRY(refs_aggregation__allocate(aggregation, 1, err));
    refs_status status = refs_aggregation__read_strings(aggregation, file, &files, err);
    if (status == REFS_OK)
        status = refs_aggregation__read_strings(aggregation, variable, &variables, err);
    if (status == REFS_OK)
        status =
            add_fragments(aggregation, (const char *)files.data, (const char *)variables.data, err);
    if (status == REFS_OK) status = check_index(aggregation, err);
    if (status == REFS_OK) status = check_formats(aggregation, err);
    refs_buf_clear(&files);
    refs_buf_clear(&variables);
    return status;
}
