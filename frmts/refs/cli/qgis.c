/* qgis.c -- the verb qgis: an array as QGIS shows it, in a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qgis_layer.h"
#include "refs/aggregation.h"
#include "refs/array.h"
#include "refs/cf.h"
#include "refs/clock.h"
#include "refs/file_name.h"
#include "refs/staged.h"
#include "tool.h"

/* Samples of the data for the range of colours: so many pixels along a side of the raster, spread
 * evenly. Where that would touch more chunks along the side than MAX_WINDOWS, so many windows. */
#define SAMPLES     512
#define MAX_WINDOWS 8

/* Values outside of these percentiles are cut. */
#define LOW_CUT  0.02
#define HIGH_CUT 0.98

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
    double step; /* from one time to the next, in units of QGIS called step_unit */
    const char *step_unit;
    refs_buf source;
    refs_cf_longitudes longitudes;
    bool is_explicit;    /* the command line says where longitudes begin */
    const char *options; /* that the name of the source needs, or "" */
    double *samples;     /* of the data, n_samples of them that are not missing */
    size_t n_samples;
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
    refs_fragments_options options = {
        .struct_size = sizeof options, .sets = &sets, .changed = REFS_CHANGED_WARN};
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

/* What the set offers, for a name that it does not have. */
static refs_status fail_without_array(const making *all, const char *set, const char *variable,
                                      refs_error *err) {
    const refs_hierarchy *hierarchy = all->set.hierarchy;
    enum { MOST_NAMES = 40 };
    refs_buf names = REFS_BUF_INIT;
    size_t n = 0;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy) && status == REFS_OK; i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (!refs_cf_is_offered(hierarchy, array) || n++ >= MOST_NAMES) continue;
        status = refs_buf_printf(&names, err, "%s%s", n > 1 ? ", " : "", array->path + 1);
    }
    if (status == REFS_OK && n > MOST_NAMES) status = refs_buf_printf(&names, err, ", …");
    if (status == REFS_OK)
        status = refs_fail(err, REFS_NOT_FOUND,
                           "%s: no variable \"%s\": expected one of its %zu rasters: %.*s", set,
                           variable, n, (int)names.size, (const char *)names.data);
    refs_buf_clear(&names);
    return status;
}

static void ignore_note(void *user, refs_note_kind kind, const char *text) {
    (void)user;
    (void)kind;
    (void)text;
}

/* Describes the array with columns from -180 or 0 on. What cannot be turned stays as it is, with a
 * warning where the command line asks for it. */
static refs_status turn(making *all, refs_cf_options *options, refs_error *err) {
    refs_cf_description turned, *was = &all->description;
    options->longitudes = all->longitudes;
    if (!all->is_explicit) options->notes = (refs_notes){ignore_note, NULL};
    REFS_TRY(refs_cf_describe(all->set.hierarchy, all->meta, options, &turned, err));
    if (!turned.has_geotransform || turned.geotransform[0] == was->geotransform[0]) {
        refs_cf_description_clear(&turned);
        return REFS_OK;
    }
    refs_cf_description_clear(was);
    *was = turned;
    all->options =
        all->longitudes == REFS_CF_LONGITUDES_FROM_0 ? "?LONGITUDES=0" : "?LONGITUDES=-180";
    return REFS_OK;
}

static refs_status describe(making *all, const tool_arguments *arguments, refs_error *err) {
    refs_cf_options options = REFS_CF_OPTIONS_INIT;
    const refs_cf_values values = {.read = read_coordinates, .user = all};
    const char *variable = arguments->names.items[1];
    options.values = &values;
    options.notes = (refs_notes){tool_note, NULL};
    while (*variable == '/') variable++;
    all->meta = refs_hierarchy_find_array(all->set.hierarchy, refs_str_from(variable));
    if (all->meta == NULL) return fail_without_array(all, arguments->names.items[0], variable, err);
    REFS_TRY(refs_cf_describe(all->set.hierarchy, all->meta, &options, &all->description, err));
    if (all->description.y_dim == REFS_CF_NO_DIM)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "%s is not a raster: it has fewer than two dimensions", all->meta->path);
    return all->longitudes == REFS_CF_LONGITUDES_AS_IS ? REFS_OK : turn(all, &options, err);
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

/* Whole months from one time to the other, at the same time of the day and day of the month; else
 * 0. */
static int months_between(const char *from, const char *to) {
    int years[2], months[2];
    if (sscanf(from, "%4d-%2d", &years[0], &months[0]) != 2 ||
        sscanf(to, "%4d-%2d", &years[1], &months[1]) != 2 || strcmp(from + 7, to + 7) != 0)
        return 0;
    return abs((years[1] - years[0]) * 12 + months[1] - months[0]);
}

/* The shortest step between times, in the longest unit of which it is a whole number. Steps of a
 * month are those of 28 to 31 days that differ, too: middles of months are not on one day. */
static void find_step(making *all) {
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    const refs_cf_band_axis *axis = all->time;
    const double second = second_of(axis), days = 86400;
    double shortest = second > 0 ? 1 / second : 1, longest = 0;
    size_t end = 0; /* of the shortest step */
    for (size_t i = 1; i < all->n_periods && second > 0; i++) {
        const double length = fabs(axis->values[i] - axis->values[i - 1]) / second;
        if (end == 0 || length < shortest) {
            shortest = length;
            end = i;
        }
        longest = fmax(longest, length);
    }
    int months = 0;
    if (end > 0 && shortest >= 28 * days)
        months = months_between(all->periods[end - 1].begin, all->periods[end].begin);
    if (shortest >= 28 * days && longest <= 31 * days && shortest < longest) months = 1;
    if (months > 0) {
        all->step = months % 12 == 0 ? months / 12 : months;
        all->step_unit = months % 12 == 0 ? "y" : "mon";
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        all->step = round(shortest / units[i].seconds);
        all->step_unit = units[i].unit;
        if (all->step >= 1 && fabs(all->step * units[i].seconds - shortest) < 0.5) return;
    }
    all->step = fmax(all->step, 1);
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
    if (are_dates) {
        find_step(all);
        return find_ends(all, err);
    }
    drop_periods(all);
    fprintf(stderr, "refs: warning: %s has dates that QGIS does not know\n", axis->name);
    return REFS_OK;
}

/* -- the range of the data --------------------------------------------------------------------- */

static void keep_samples(making *all, const double *values, size_t n) {
    const refs_cf_description *of = &all->description;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]) && !refs_cf_is_missing(of, values[i]))
            all->samples[all->n_samples++] =
                values[i] * (of->has_scale ? of->scale : 1) + (of->has_offset ? of->offset : 0);
}

/* How a side of the raster is sampled: `n` windows of `count` pixels, `step` apart. */
typedef struct sampling {
    uint64_t n, count, step, size;
} sampling;

static sampling sampling_of(const refs_array_meta *meta, size_t dim) {
    const uint64_t size = meta->shape[dim], chunk = meta->chunk[dim] > 0 ? meta->chunk[dim] : 1;
    const uint64_t step = size > SAMPLES ? 1 + (size - 1) / SAMPLES : 1;
    if (size == 0) return (sampling){0, 0, 1, 0};
    if ((size - 1) / chunk < MAX_WINDOWS) return (sampling){1, 1 + (size - 1) / step, step, size};
    const uint64_t most = SAMPLES / MAX_WINDOWS;
    return (sampling){MAX_WINDOWS, chunk < most ? chunk : most, 1, size};
}

/* The first pixel of a window: the first one is at the first edge, the last one at the other. */
static uint64_t start_of(const sampling *side, uint64_t window) {
    const uint64_t span = (side->count - 1) * side->step + 1;
    if (side->n < 2) return (side->size - span) / 2;
    return window * (side->size - span) / (side->n - 1);
}

/* A window of the raster at one time, and of all other dimensions at their first index. */
static refs_status sample_window(making *all, refs_array *array, const uint64_t *start,
                                 double *values, refs_error *err) {
    const refs_array_meta *meta = all->meta;
    uint64_t count[REFS_MAX_RANK];
    int64_t step[REFS_MAX_RANK];
    size_t n = 1;
    for (size_t dim = 0; dim < meta->rank; dim++) {
        const bool is_raster = dim == all->description.x_dim || dim == all->description.y_dim;
        const sampling side = is_raster ? sampling_of(meta, dim) : (sampling){1, 1, 1, 1};
        count[dim] = side.count;
        step[dim] = (int64_t)side.step;
        n *= (size_t)side.count;
    }
    const refs_region region = {start, count, step};
    REFS_TRY(tool_check_interrupted(err));
    REFS_TRY(refs_array_read_region_doubles(array, &region, values, err));
    keep_samples(all, values, n);
    return REFS_OK;
}

static refs_status sample_time(making *all, refs_array *array, uint64_t time, double *values,
                               refs_error *err) {
    const size_t x = all->description.x_dim, y = all->description.y_dim;
    const sampling across = sampling_of(all->meta, x), down = sampling_of(all->meta, y);
    uint64_t start[REFS_MAX_RANK] = {0};
    if (all->time != NULL) start[all->time->dim] = time;
    for (uint64_t i = 0; i < down.n; i++)
        for (uint64_t j = 0; j < across.n; j++) {
            start[y] = start_of(&down, i);
            start[x] = start_of(&across, j);
            REFS_TRY(sample_window(all, array, start, values, err));
        }
    return REFS_OK;
}

static int compare(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Where the cut would leave one value only, as of rain that falls in few places, nothing is cut. */
static void cut(making *all) {
    const size_t n = all->n_samples;
    all->least = 0;
    all->most = 1;
    if (n == 0) return;
    qsort(all->samples, n, sizeof *all->samples, compare);
    all->least = all->samples[(size_t)(LOW_CUT * (double)(n - 1))];
    all->most = all->samples[(size_t)ceil(HIGH_CUT * (double)(n - 1))];
    if (all->most > all->least) return;
    all->least = all->samples[0];
    all->most = all->samples[n - 1];
    if (all->most <= all->least) all->most = all->least + 1;
}

/* Of the first, the middle and the last time. */
static refs_status find_range(making *all, refs_error *err) {
    enum { TIMES = 3 };
    const size_t most = (size_t)SAMPLES * SAMPLES;
    const uint64_t n = all->time != NULL ? all->meta->shape[all->time->dim] : 1;
    const uint64_t times[TIMES] = {0, n / 2, n > 0 ? n - 1 : 0};
    double *values = refs_calloc(most, sizeof *values);
    refs_array *array = NULL;
    all->samples = refs_calloc(TIMES * most, sizeof *all->samples);
    refs_status status = values != NULL && all->samples != NULL
                             ? open_array(all, all->meta, &array, err)
                             : refs_fail_nomem(err);
    for (size_t i = 0; i < TIMES && n > 0 && status == REFS_OK; i++)
        if (i == 0 || times[i] != times[i - 1])
            status = sample_time(all, array, times[i], values, err);
    if (status == REFS_OK) cut(all);
    refs_array_free(array);
    refs_free(values);
    return status;
}

/* -- names ------------------------------------------------------------------------------------- */

static bool is_pattern(const char *name) {
    return !refs_file_name_has_url(refs_str_from(name)) && strpbrk(name, "*?[") != NULL &&
           access(name, F_OK) != 0;
}

/* A name that holds in any folder. */
static refs_status append_set(const char *name, refs_buf *source, refs_error *err) {
    const bool is_local = refs_file_name_is_local(refs_str_from(name));
    const bool is_below = is_local && is_pattern(name) && name[0] != '/';
    char *path = is_local && !is_below ? realpath(name, NULL) : NULL;
    char *folder = is_below ? realpath(".", NULL) : NULL;
    refs_status status = folder != NULL ? refs_buf_printf(source, err, "%s/", folder) : REFS_OK;
    if (status == REFS_OK)
        status = refs_buf_append_str(source, refs_str_from(path != NULL ? path : name), err);
    free(folder);
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

static refs_status make(making *all, const tool_arguments *arguments, refs_error *err) {
    enum { CACHE_BYTES = 256 * REFS_MIB };
    REFS_TRY(tool_session_open(&all->session, err));
    REFS_TRY(refs_cache_open(CACHE_BYTES, &all->cache, err));
    REFS_TRY(open_set(all, arguments->names.items[0], err));
    REFS_TRY(describe(all, arguments, err));
    for (size_t i = 0; i < all->description.n_band_axes; i++)
        if (all->time == NULL && all->description.band_axes[i].kind == REFS_CF_AXIS_TIME)
            all->time = &all->description.band_axes[i];
    REFS_TRY(find_periods(all, err));
    REFS_TRY(find_range(all, err));
    return name_source(all, arguments->names.items[0], err);
}

/* Corners of the raster, where it has such; west, south, east, north. */
static bool find_extent(const making *all, double extent[4]) {
    const refs_cf_description *of = &all->description;
    const double *place = of->geotransform;
    if (!of->has_geotransform) return false;
    for (int corner = 0; corner < 4; corner++) {
        const double column = corner % 2 == 0 ? 0 : (double)all->meta->shape[of->x_dim];
        const double row = corner / 2 == 0 ? 0 : (double)all->meta->shape[of->y_dim];
        const double x = place[0] + column * place[1] + row * place[2];
        const double y = place[3] + column * place[4] + row * place[5];
        extent[0] = corner == 0 ? x : fmin(extent[0], x);
        extent[1] = corner == 0 ? y : fmin(extent[1], y);
        extent[2] = corner == 0 ? x : fmax(extent[2], x);
        extent[3] = corner == 0 ? y : fmax(extent[3], y);
    }
    return true;
}

static refs_status write_file(const making *all, const tool_arguments *arguments, refs_error *err) {
    char title[256];
    refs_buf xml = REFS_BUF_INIT;
    qgis_raster raster = {.source = (const char *)all->source.data,
                          .options = all->options,
                          .title = title_of(all->meta, title, sizeof title),
                          .unit = all->description.unit,
                          .crs = all->description.crs,
                          .least = all->least,
                          .most = all->most,
                          .periods = all->periods,
                          .n_periods = all->n_periods,
                          .step = all->step,
                          .step_unit = all->step_unit,
                          .time_dim = all->time != NULL ? all->time->name : NULL};
    raster.has_extent = find_extent(all, raster.extent);
    qgis_form form = arguments->layers ? QGIS_LAYER_OF_PERIOD : QGIS_ONE_LAYER;
    const refs_str output = refs_str_from(arguments->output);
    const tool_names source = {
        .items = (char **)(uintptr_t)arguments->names.items, .n = 1, .capacity = 1};
    REFS_TRY(tool_check_output(arguments->output, &source, err));
    refs_status status = refs_str_ends(output, ".qlr")
                             ? qgis_write_definition(&raster, form, &xml, err)
                             : qgis_write_project(&raster, form, &xml, err);
    if (status == REFS_OK && refs_str_ends(output, ".qgz"))
        status = qgis_archive_project(&xml, err);
    if (status == REFS_OK)
        status = refs_staged_replace(arguments->output, refs_buf_view(&xml), err);
    refs_buf_clear(&xml);
    return status;
}

static void clear(making *all) {
    refs_free(all->samples);
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

static bool is_understood(const tool_arguments *arguments, making *all) {
    const refs_str output = refs_str_from(arguments->output != NULL ? arguments->output : "");
    const char *longitudes = arguments->longitudes;
    if (arguments->names.n != 2 ||
        !(refs_str_ends(output, ".qlr") || refs_str_ends(output, ".qgs") ||
          refs_str_ends(output, ".qgz"))) {
        fprintf(stderr,
                "refs: usage: refs qgis SET VARIABLE -o LAYER.qlr, PROJECT.qgs or PROJECT.qgz\n");
        return false;
    }
    static const char *const words[] = {"AS_IS", "-180", "0"};
    static const refs_cf_longitudes meanings[] = {
        REFS_CF_LONGITUDES_AS_IS, REFS_CF_LONGITUDES_FROM_180, REFS_CF_LONGITUDES_FROM_0};
    all->is_explicit = longitudes != NULL;
    if (longitudes == NULL) longitudes = "-180";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(longitudes, words[i]) != 0) continue;
        all->longitudes = meanings[i];
        return true;
    }
    fprintf(stderr, "refs: --longitudes is \"%s\": expected -180, 0 or AS_IS\n", longitudes);
    return false;
}

tool_exit tool_qgis(const tool_arguments *arguments) {
    making all = {.options = ""};
    refs_error err = REFS_ERROR_INIT;
    if (!is_understood(arguments, &all)) return TOOL_USAGE;
    refs_status status = make(&all, arguments, &err);
    if (status == REFS_OK) status = write_file(&all, arguments, &err);
    clear(&all);
    if (status == REFS_OK) return TOOL_OK;
    if (err.status != REFS_OK) tool_complain(&err);
    return TOOL_FAILED;
}
