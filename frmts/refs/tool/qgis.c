/* qgis.c -- the verb qgis: an array as QGIS shows it, in a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qgis_layer.h"
#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cf.h"
#include "refs/clock.h"
#include "refs/place.h"
#include "tool.h"

/* Pixels along a side of what is looked at for the range of the data. */
#define LOOKED_AT 512

/* Values of a coordinate variable. */
#define MAX_COORDINATES 10000000

/* Most layers or bands with times. */
#define MAX_PERIODS 100000

typedef struct making {
    tool_session session;
    tool_set set;
    refs_cache *cache;
    char *location; /* of the set */
    refs_aggregations *aggregations;
    refs_fragments *fragments; /* NULL: it has no aggregations */
    const refs_array_meta *meta;
    refs_cf_description description;
    const refs_cf_band_axis *time; /* or NULL */
    qgis_period *periods;
    size_t n_periods;
    refs_buf source;
    double least, most;
} making;

/* -- the array --------------------------------------------------------------------------------- */

static refs_array_context context_of(const making *all) {
    return (refs_array_context){.store = all->set.store, .cache = all->cache};
}

static refs_status open_array(const making *all, const refs_array_meta *meta, refs_array **array,
                              refs_error *err) {
    const refs_array_context context = context_of(all);
    return meta->aggregation != NULL ? refs_fragments_open_array(all->fragments, meta, array, err)
                                     : refs_array_open(&context, meta, array, err);
}

/* The set, with its aggregations as the arrays that they are. */
static refs_status open_set(making *all, const char *name, refs_error *err) {
    const refs_set_options sets = tool_set_options(&all->session);
    refs_fragments_options options = {.struct_size = sizeof options, .sets = &sets};
    refs_buf location = REFS_BUF_INIT;
    refs_status status = tool_location(name, &location, err);
    if (status == REFS_OK) status = refs_buf_append(&location, "", 1, err);
    all->location = refs_buf_take_text(&location);
    refs_buf_clear(&location);
    REFS_TRY(status);
    REFS_TRY(tool_set_open(&all->session, name, &all->set, err));
    REFS_TRY(refs_aggregations_open(all->set.hierarchy, NULL, &all->aggregations, err));
    if (all->aggregations == NULL) return REFS_OK;
    options.hierarchy = all->set.hierarchy;
    options.location = all->location;
    options.vfs = all->session.vfs;
    options.fetcher = all->session.fetcher;
    options.locations = all->session.locations;
    options.arrays = context_of(all);
    return refs_fragments_open(&options, &all->fragments, err);
}

static refs_status read_coordinates(void *user, const refs_array_meta *meta, double *values,
                                    refs_error *err) {
    making *all = user;
    refs_array *array;
    REFS_TRY(open_array(all, meta, &array, err));
    refs_status status = refs_array_read_doubles(array, MAX_COORDINATES, values, err);
    refs_array_free(array);
    return status;
}

static refs_status describe(making *all, const char *variable, refs_error *err) {
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    const refs_cf_values values = {.read = read_coordinates, .user = all};
    options.values = &values;
    options.notes = (refs_notes){tool_note, NULL};
    while (*variable == '/') variable++;
    all->meta = refs_hierarchy_find_array(all->set.hierarchy, refs_str_from(variable));
    if (all->meta == NULL)
        return refs_fail(err, REFS_NOT_FOUND, "there is no array \"%s\"", variable);
    REFS_TRY(refs_cf_describe(all->set.hierarchy, all->meta, &options, &all->description, err));
    if (all->description.y_dim == REFS_CF_NO_DIM)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s is not a raster: it has fewer than two dimensions", all->meta->path);
    return REFS_OK;
}

/* -- times ------------------------------------------------------------------------------------- */

/* A day may be one of a calendar that QGIS does not know. */
static bool is_date(const char *text) {
    static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%*2d:%*2d:%*2d%n", &year, &month, &day, &used) != 3 ||
        used == 0 || month < 1 || month > 12 || day < 1 || day > lengths[month - 1])
        return false;
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month != 2 || day < 29 || is_leap;
}

static refs_status time_at(const refs_cf_band_axis *axis, uint64_t index, char text[32],
                           refs_error *err) {
    refs_buf buf = REFS_BUF_INIT;
    refs_status status = refs_cf_time_text(axis, index, &buf, err);
    size_t size = buf.size < 31 ? buf.size : 0;
    if (size > 0) memcpy(text, buf.data, size);
    text[size] = '\0';
    refs_buf_clear(&buf);
    return status;
}

/* The time that would follow value `from`, as far behind it as `step` says. */
static refs_status time_after(const refs_cf_band_axis *axis, size_t from, double step,
                              char text[32], refs_error *err) {
    double value = axis->values[from] + step;
    refs_cf_band_axis next = *axis;
    next.values = &value;
    next.first = 0;
    next.n = 1;
    return time_at(&next, 0, text, err);
}

/* How much a second is in the unit of the axis. */
static double second_of(const refs_cf_band_axis *axis) {
    const refs_cf_units units = {refs_str_from(axis->units != NULL ? axis->units : ""),
                                 refs_str_from(axis->calendar != NULL ? axis->calendar : "")};
    refs_cf_clock clock;
    return refs_cf_clock_of(&units, &clock) && clock.unit_seconds > 0 ? 1 / clock.unit_seconds : 0;
}

/* Each ends where the next one begins, the last one as long after; one alone lasts one unit. */
static refs_status find_ends(making *all, refs_error *err) {
    const refs_cf_band_axis *axis = all->time;
    size_t n = all->n_periods;
    double step = n > 1 ? fabs(axis->values[n - 1] - axis->values[n - 2]) : 1;
    double second = second_of(axis);
    bool descends = n > 1 && axis->values[n - 1] < axis->values[0];
    for (size_t i = 0; i < n; i++) {
        size_t next = descends ? i - 1 : i + 1; /* SIZE_MAX behind the first */
        double length = next < n ? fabs(axis->values[next] - axis->values[i]) : step;
        REFS_TRY(time_after(axis, i, length, all->periods[i].end, err));
        REFS_TRY(time_after(axis, i, length - second, all->periods[i].last, err));
    }
    return REFS_OK;
}

static void drop_periods(making *all) {
    refs_free(all->periods);
    all->periods = NULL;
    all->n_periods = 0;
}

static refs_status find_begins(making *all, bool *are_dates, refs_error *err) {
    *are_dates = true;
    for (size_t i = 0; i < all->n_periods && *are_dates; i++) {
        REFS_TRY(time_at(all->time, i, all->periods[i].begin, err));
        *are_dates = is_date(all->periods[i].begin);
    }
    return REFS_OK;
}

static refs_status find_periods(making *all, refs_error *err) {
    const refs_cf_band_axis *axis = all->time;
    bool are_dates;
    if (axis == NULL || axis->n == 0 || axis->values == NULL) return REFS_OK;
    if (axis->n > MAX_PERIODS)
        return refs_fail(err, REFS_LIMIT, "%s has %llu times, more than %d", axis->name,
                         (unsigned long long)axis->n, MAX_PERIODS);
    all->periods = refs_calloc((size_t)axis->n, sizeof *all->periods);
    if (all->periods == NULL) return refs_fail_nomem(err);
    all->n_periods = (size_t)axis->n;
    REFS_TRY(find_begins(all, &are_dates, err));
    if (are_dates) return find_ends(all, err);
    drop_periods(all);
    fprintf(stderr, "refs: warning: %s has dates that QGIS does not know\n", axis->name);
    return REFS_OK;
}

/* -- the range of the data --------------------------------------------------------------------- */

static bool is_missing(const refs_cf_description *of, double value) {
    if (!isfinite(value)) return true;
    if (of->nodata_kind == REFS_CF_NODATA_DOUBLE && value == of->nodata) return true;
    if (of->nodata_kind == REFS_CF_NODATA_INT64 && value == (double)of->nodata_int64) return true;
    if (of->nodata_kind == REFS_CF_NODATA_UINT64 && value == (double)of->nodata_uint64) return true;
    return of->has_valid_range && (value < of->valid_min || value > of->valid_max);
}

static void widen(making *all, const double *values, size_t n) {
    const refs_cf_description *of = &all->description;
    for (size_t i = 0; i < n; i++) {
        if (is_missing(of, values[i])) continue;
        double value =
            values[i] * (of->has_scale ? of->scale : 1) + (of->has_offset ? of->offset : 0);
        if (!(all->least <= value)) all->least = value;
        if (!(all->most >= value)) all->most = value;
    }
}

/* The middle of the raster at one time, and the first of all else. */
static refs_status look_at(making *all, refs_array *array, uint64_t time, double *values,
                           refs_error *err) {
    const refs_array_meta *meta = all->meta;
    uint64_t start[REFS_MAX_RANK] = {0}, count[REFS_MAX_RANK];
    size_t n = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        bool is_raster = dim == all->description.x_dim || dim == all->description.y_dim;
        uint64_t most = is_raster ? LOOKED_AT : 1;
        count[dim] = meta->shape[dim] < most ? meta->shape[dim] : most;
        if (is_raster) start[dim] = (meta->shape[dim] - count[dim]) / 2;
        n *= (size_t)count[dim];
    }
    if (all->time != NULL) start[all->time->dim] = time;
    if (n == 0) return REFS_OK;
    const refs_region region = {start, count, NULL};
    REFS_TRY(refs_array_read_region_doubles(array, &region, values, err));
    widen(all, values, n);
    return REFS_OK;
}

static refs_status find_range(making *all, refs_error *err) {
    uint64_t n = all->time != NULL ? all->meta->shape[all->time->dim] : 1;
    const uint64_t times[] = {0, n / 2, n > 0 ? n - 1 : 0};
    double *values = refs_calloc((size_t)LOOKED_AT * LOOKED_AT, sizeof *values);
    refs_array *array = NULL;
    if (values == NULL) return refs_fail_nomem(err);
    all->least = all->most = NAN;
    refs_status status = open_array(all, all->meta, &array, err);
    for (size_t i = 0; i < 3 && n > 0 && status == REFS_OK; i++)
        if (i == 0 || times[i] != times[i - 1]) status = look_at(all, array, times[i], values, err);
    refs_array_free(array);
    refs_free(values);
    if (isnan(all->least)) all->least = all->most = 0;
    if (all->most <= all->least) all->most = all->least + 1;
    return status;
}

/* -- names ------------------------------------------------------------------------------------- */

/* A name that holds in any folder. */
static refs_status append_set(const char *name, refs_buf *source, refs_error *err) {
    char *path = strstr(name, "://") == NULL ? realpath(name, NULL) : NULL;
    refs_status status =
        refs_buf_append_str(source, refs_str_from(path != NULL ? path : name), err);
    free(path);
    return status;
}

/* Along all but time the first is shown: one band is one time then. */
static refs_status name_source(making *all, const char *set, refs_error *err) {
    const refs_cf_description *of = &all->description;
    const char *between = "[";
    REFS_TRY(refs_buf_append_str(&all->source, refs_str_from("REFS:\""), err));
    REFS_TRY(append_set(set, &all->source, err));
    REFS_TRY(refs_buf_printf(&all->source, err, "\":%s", all->meta->path));
    for (size_t i = 0; i < of->n_band_axes && all->periods != NULL; i++) {
        if (&of->band_axes[i] == all->time) continue;
        REFS_TRY(refs_buf_printf(&all->source, err, "%s%s=#0", between, of->band_axes[i].name));
        between = ",";
    }
    if (*between == ',') REFS_TRY(refs_buf_append(&all->source, "]", 1, err));
    return refs_buf_append(&all->source, "", 1, err);
}

static const char *title_of(const refs_array_meta *meta, char *buffer, size_t size) {
    refs_str name = refs_cf_attribute_text(meta->attributes, "long_name");
    if (name.size == 0) return meta->name;
    snprintf(buffer, size, "%.*s", (int)(name.size < size ? name.size : size - 1), name.data);
    return buffer;
}

/* -- all --------------------------------------------------------------------------------------- */

static refs_status make(making *all, const char *set, const char *variable, refs_error *err) {
    enum { CACHE_BYTES = 256 * REFS_MIB };
    REFS_TRY(tool_session_open(&all->session, err));
    REFS_TRY(refs_cache_open(CACHE_BYTES, &all->cache, err));
    REFS_TRY(open_set(all, set, err));
    REFS_TRY(describe(all, variable, err));
    for (size_t i = 0; i < all->description.n_band_axes; i++)
        if (all->time == NULL && all->description.band_axes[i].kind == REFS_CF_AXIS_TIME)
            all->time = &all->description.band_axes[i];
    REFS_TRY(find_periods(all, err));
    REFS_TRY(find_range(all, err));
    return name_source(all, set, err);
}

static refs_status write_file(const making *all, const tool_arguments *arguments, refs_error *err) {
    char title[256];
    refs_buf xml = REFS_BUF_INIT;
    const qgis_raster raster = {.source = (const char *)all->source.data,
                                .title = title_of(all->meta, title, sizeof title),
                                .unit = all->description.unit,
                                .crs = all->description.crs,
                                .least = all->least,
                                .most = all->most,
                                .periods = all->periods,
                                .n_periods = all->n_periods,
                                .time_dim = all->time != NULL ? all->time->name : NULL};
    qgis_form form = arguments->layers ? QGIS_LAYER_OF_PERIOD : QGIS_ONE_LAYER;
    bool is_project = refs_str_ends(refs_str_from(arguments->output), ".qgs");
    const tool_names source = {.items = (char **)(uintptr_t)arguments->names.items, .n = 1, .capacity = 1};
    REFS_TRY(tool_check_output(arguments->output, &source, err));
    refs_status status = is_project ? qgis_write_project(&raster, form, &xml, err)
                                    : qgis_write_definition(&raster, form, &xml, err);
    if (status == REFS_OK) status = refs_place_replace(arguments->output, refs_buf_view(&xml), err);
    refs_buf_clear(&xml);
    return status;
}

static void clear(making *all) {
    refs_free(all->periods);
    refs_buf_clear(&all->source);
    refs_cf_description_clear(&all->description);
    if (all->fragments != NULL) refs_fragments_free(all->fragments);
    if (all->set.hierarchy != NULL) refs_hierarchy_free(all->set.hierarchy);
    all->set.hierarchy = NULL;
    if (all->aggregations != NULL) refs_aggregations_free(all->aggregations);
    if (all->cache != NULL) refs_cache_free(all->cache);
    refs_free(all->location);
    tool_set_close(&all->set);
    tool_session_close(&all->session);
}

static bool is_understood(const tool_arguments *arguments) {
    refs_str output = refs_str_from(arguments->output != NULL ? arguments->output : "");
    if (arguments->names.n == 2 && (refs_str_ends(output, ".qlr") || refs_str_ends(output, ".qgs")))
        return true;
    fprintf(stderr, "refs: usage: refs qgis SET VARIABLE -o LAYER.qlr, or PROJECT.qgs\n");
    return false;
}

tool_exit tool_qgis(const tool_arguments *arguments) {
    making all = {.n_periods = 0};
    refs_error err = REFS_ERROR_INIT;
    if (!is_understood(arguments)) return TOOL_USAGE;
    refs_status status = make(&all, arguments->names.items[0], arguments->names.items[1], &err);
    if (status == REFS_OK) status = write_file(&all, arguments, &err);
    clear(&all);
    if (status == REFS_OK) return TOOL_OK;
    tool_complain(&err);
    return TOOL_FAILED;
}
