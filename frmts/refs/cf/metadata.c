/* metadata.c -- metadata items, with the names of GDAL's netCDF driver. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cf_internal.h"

/* Longest lead time: longer ones are ignored as errors. */
#define MAX_LEAD_SECONDS 1e12

/* -- attributes of groups and variables -------------------------------------------------------- */

refs_status refs_cf_global_metadata(const refs_hierarchy *hierarchy, refs_cf_items *items,
                                    refs_error *err) {
    REFS_SCOPED_BUF prefix = REFS_BUF_INIT;
    for (size_t i = 0; i < refs_hierarchy_n_groups(hierarchy); i++) {
        const refs_group_meta *group = refs_hierarchy_group(hierarchy, i);
        prefix.size = 0;
        REFS_TRY(refs_buf_printf(&prefix, err, "%s%sNC_GLOBAL#", group->path,
                                 group->path[0] != '\0' ? "/" : ""));
        REFS_TRY(refs_cf__add_attributes(items, refs_buf_text(&prefix), group->attributes, err));
    }
    return REFS_OK;
}

/* The name of a variable in items: without path in the root group, else with it. */
static const char *shown_name(const refs_array_meta *array) {
    return array->group[0] == '\0' ? array->name : array->path;
}

/* Whether a writer of reference sets moved the attribute _FillValue to the fill value. */
static bool lost_fill(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_json_get(array->attributes, "_FillValue") == NULL &&
           refs_cf_fill_is_declared(hierarchy, array);
}

/* Appends a fill value exactly, up to 64 bits. */
static refs_status print_fill(const refs_array_meta *array, double fill, refs_buf *text,
                              refs_error *err) {
    if (array->dtype.size != 8 ||
        (array->dtype.type != REFS_TYPE_INT && array->dtype.type != REFS_TYPE_UINT))
        return refs_cf__print_typed(fill, &array->dtype, text, err);
    int64_t number;
    memcpy(&number, array->fill, sizeof number);
    return array->dtype.type == REFS_TYPE_INT
               ? refs_buf_printf(text, err, "%lld", (long long)number)
               : refs_buf_printf(text, err, "%llu", (unsigned long long)number);
}

/* Adds <prefix>_FillValue=<fill>, as a value of the array's type. */
static refs_status add_fill(const refs_array_meta *array, const char *prefix, double fill,
                            refs_cf_items *items, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT, value = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&name, err, "%s_FillValue", prefix));
    REFS_TRY(print_fill(array, fill, &value, err));
    return refs_cf__add_item(items, (const char *)name.data, refs_buf_text(&value), err);
}

static refs_status add_variable(const refs_hierarchy *hierarchy, const refs_array_meta *variable,
                                refs_cf_items *items, refs_error *err) {
    REFS_SCOPED_BUF prefix = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&prefix, err, "%s#", shown_name(variable)));
    REFS_TRY(refs_cf__add_attributes(items, refs_buf_text(&prefix), variable->attributes, err));
    if (lost_fill(hierarchy, variable))
        REFS_TRY(add_fill(variable, (const char *)prefix.data, refs_cf__fill_number(variable),
                          items, err));
    return REFS_OK;
}

/* The coordinate variables of the array's dimensions. */
static refs_status add_dims(const refs_cf__input *input, const refs_array_meta *mapping,
                            refs_cf_items *items, refs_error *err) {
    const refs_array_meta *added[REFS_MAX_RANK + 2] = {input->array, mapping};
    size_t n = 2;
    for (size_t dim = 0; dim < input->array->rank; dim++) {
        const refs_array_meta *variable =
            refs_cf__dim_variable(input->hierarchy, input->array, dim);
        bool known = variable == NULL;
        for (size_t i = 0; i < n; i++) known = known || added[i] == variable;
        if (known) continue;
        added[n++] = variable;
        REFS_TRY(add_variable(input->hierarchy, variable, items, err));
    }
    return REFS_OK;
}

/* -- NETCDF_DIM_ items ------------------------------------------------------------------------- */

int refs_cf_netcdf_type(const refs_dtype *dtype) {
    static const int of_int[] = {1, 3, 4, 10}, of_uint[] = {7, 8, 9, 11};
    size_t log = dtype->size >= 8 ? 3 : dtype->size >= 4 ? 2 : dtype->size >= 2 ? 1 : 0;
    switch (dtype->type) {
    case REFS_TYPE_BOOL:
    case REFS_TYPE_INT:
        return of_int[log];
    case REFS_TYPE_UINT:
        return of_uint[log];
    case REFS_TYPE_FLOAT:
        return dtype->size == 8 ? 6 : 5;
    case REFS_TYPE_DATETIME:
    case REFS_TYPE_TIMEDELTA:
        return 10;
    case REFS_TYPE_BYTES:
        return dtype->size == 1 ? 2 : 12;
    case REFS_TYPE_UNICODE:
    case REFS_TYPE_OBJECT:
        return 12;
    default:
        return 0;
    }
}

static refs_status print_values(const refs_cf_band_axis *axis, refs_buf *text, refs_error *err) {
    if (axis->n != 1) REFS_TRY(refs_buf_append(text, "{", 1, err));
    for (uint64_t i = 0; i < axis->n; i++) {
        if (i > 0) REFS_TRY(refs_buf_append(text, ",", 1, err));
        REFS_TRY(refs_cf__print_band_value(axis, i, text, err));
    }
    if (axis->n != 1) REFS_TRY(refs_buf_append(text, "}", 1, err));
    return REFS_OK;
}

/* Adds NETCDF_DIM_<axis><suffix>=<value>. */
static refs_status add_dim_item(const refs_cf_band_axis *axis, const char *suffix,
                                const refs_buf *value, refs_cf_items *items, refs_error *err) {
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&name, err, "NETCDF_DIM_%s%s", axis->name, suffix));
    return refs_cf__add_item(items, (const char *)name.data, refs_buf_text(value), err);
}

static refs_status add_band_axis(const refs_cf_band_axis *axis, refs_cf_items *items,
                                 refs_error *err) {
    if (axis->coordinate == NULL) return REFS_OK;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "{%llu,%d}", (unsigned long long)axis->n,
                             refs_cf_netcdf_type(&axis->coordinate->dtype)));
    REFS_TRY(add_dim_item(axis, "_DEF", &text, items, err));
    text.size = 0;
    if (axis->values != NULL || axis->labels != NULL) {
        REFS_TRY(print_values(axis, &text, err));
        REFS_TRY(add_dim_item(axis, "_VALUES", &text, items, err));
    }
    return REFS_OK;
}

static refs_status add_band_axes(refs_cf_description *description, refs_error *err) {
    if (description->n_band_axes == 0) return REFS_OK;
    REFS_SCOPED_BUF names = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append(&names, "{", 1, err));
    for (size_t i = 0; i < description->n_band_axes; i++)
        REFS_TRY(
            refs_buf_printf(&names, err, "%s%s", i > 0 ? "," : "", description->band_axes[i].name));
    REFS_TRY(refs_buf_append(&names, "}", 1, err));
    REFS_TRY(
        refs_cf__add_item(&description->metadata, "NETCDF_DIM_EXTRA", refs_buf_text(&names), err));
    for (size_t i = 0; i < description->n_band_axes; i++)
        REFS_TRY(add_band_axis(&description->band_axes[i], &description->metadata, err));
    return REFS_OK;
}

refs_status refs_cf__describe_metadata(const refs_cf__input *input, const refs_array_meta *mapping,
                                       refs_cf_description *description, refs_error *err) {
    refs_cf_items *items = &description->metadata;
    REFS_TRY(refs_cf_global_metadata(input->hierarchy, items, err));
    REFS_TRY(add_variable(input->hierarchy, input->array, items, err));
    REFS_TRY(add_dims(input, mapping, items, err));
    if (mapping != NULL) REFS_TRY(add_variable(input->hierarchy, mapping, items, err));
    return add_band_axes(description, err);
}

static bool is_of_grib(const refs_array_meta *array) {
    return refs_json_get(array->attributes, "GRIB_typeOfLevel") != NULL;
}

static bool is_readable(const refs_array_meta *coordinate) {
    return coordinate != NULL && coordinate->status == REFS_OK;
}

/* -- one band ---------------------------------------------------------------------------------- */

/* Attributes with stored values are shown in the type of the band, unsigned if that is. */
static bool holds_stored_values(refs_str name) {
    return refs_str_is(name, "_FillValue") || refs_str_is(name, "missing_value") ||
           refs_str_is(name, "valid_range");
}

static refs_status print_unsigned(const refs_cf__input *input, const char *name, refs_buf *text,
                                  refs_error *err) {
    const refs_dtype *dtype = &input->array->dtype;
    const refs_json *value = refs_json_get(input->array->attributes, name);
    refs_dtype as = *dtype;
    double numbers[2];
    size_t n = refs_cf__numbers(input->array->attributes, name, numbers, 2);
    as.type = REFS_TYPE_UINT;
    REFS_TRY(refs_buf_printf(text, err, "%s", n > 1 ? "{" : ""));
    for (size_t i = 0; i < n; i++) {
        const refs_json *element = refs_json_is_array(value) ? refs_json_at(value, i) : value;
        const refs_cf_missing shown = refs_cf__missing_as(dtype, &as, element, numbers[i]);
        const char *separator = i > 0 ? "," : "";
        REFS_TRY(shown.kind == REFS_CF_NODATA_UINT64
                     ? refs_buf_printf(text, err, "%s%" PRIu64, separator, shown.uint64)
                     : refs_buf_printf(text, err, "%s%.0f", separator, shown.number));
    }
    return refs_buf_printf(text, err, "%s", n > 1 ? "}" : "");
}

static refs_status add_unsigned(const refs_cf__input *input, const char *name, refs_cf_items *items,
                                refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(print_unsigned(input, name, &text, err));
    return refs_cf__add_item(items, name, refs_buf_text(&text), err);
}

/* Adds NETCDF_DIM_<axis>_BOUNDS={<top>,<bottom>}. */
static refs_status add_band_bounds(const refs_cf_band_axis *axis, uint64_t index,
                                   refs_cf_items *items, refs_error *err) {
    if (axis->bounds == NULL || index >= axis->n) return REFS_OK;
    const double *bounds = &axis->bounds[2 * (axis->first + index)];
    const refs_dtype *dtype = &axis->coordinate->dtype;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append(&text, "{", 1, err));
    REFS_TRY(refs_cf__print_typed(bounds[0], dtype, &text, err));
    REFS_TRY(refs_buf_append(&text, ",", 1, err));
    REFS_TRY(refs_cf__print_typed(bounds[1], dtype, &text, err));
    REFS_TRY(refs_buf_append(&text, "}", 1, err));
    return add_dim_item(axis, "_BOUNDS", &text, items, err);
}

static refs_status add_band_position(const refs_cf_band_axis *axis, uint64_t index,
                                     refs_cf_items *items, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_cf__print_band_value(axis, index, &text, err));
    REFS_TRY(add_dim_item(axis, "", &text, items, err));
    return add_band_bounds(axis, index, items, err);
}

static refs_status add_time(const refs_cf_band_axis *axis, uint64_t index, refs_cf_items *items,
                            refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_cf_time_text(axis, index, &text, err));
    if (text.size > 0) REFS_TRY(refs_cf__add_item(items, "TIME", refs_buf_text(&text), err));
    return REFS_OK;
}

static refs_status read_coordinate(const refs_cf__input *input, const refs_array_meta *coordinate,
                                   refs_cf_band_axis *axis, refs_error *err) {
    const refs_str units = refs_cf__text(coordinate->attributes, "units");
    const refs_str calendar = refs_cf__text(coordinate->attributes, "calendar");
    *axis = (refs_cf_band_axis){.name = coordinate->name, .coordinate = coordinate};
    REFS_TRY(refs_cf__read_values(input, coordinate, &axis->values, err));
    REFS_TRY(refs_cf__read_bounds(input, coordinate, &axis->bounds, err));
    if (axis->values == NULL || !refs_array_meta_elements(coordinate, &axis->n)) return REFS_OK;
    axis->kind = refs_cf__axis_kind(coordinate);
    axis->units = units.data != NULL ? refs_str_copy(units) : NULL;
    axis->calendar = calendar.data != NULL ? refs_str_copy(calendar) : NULL;
    return REFS_OK;
}

static void axis_clear(refs_cf_band_axis *axis) {
    refs_free(axis->values);
    refs_free(axis->bounds);
    refs_free(axis->units);
    refs_free(axis->calendar);
    *axis = (refs_cf_band_axis){.values = NULL};
}

void refs_cf__clocks_clear(refs_cf_description *description) {
    axis_clear(&description->valid_time.axis);
    axis_clear(&description->reference_time.axis);
    axis_clear(&description->lead_time.axis);
}

/* A scalar coordinate holds for all bands. */
static refs_status add_scalar(const refs_cf__input *input, const refs_array_meta *coordinate,
                              refs_cf_items *items, refs_error *err) {
    refs_cf_band_axis axis;
    refs_status status = read_coordinate(input, coordinate, &axis, err);
    if (status == REFS_OK && axis.values != NULL) status = add_band_position(&axis, 0, items, err);
    axis_clear(&axis);
    return status;
}

/* Finds the band axes that are dimensions of a coordinate. */
static bool find_dims(const refs_cf_description *description, const refs_array_meta *coordinate,
                      refs_cf_band_clock *found) {
    if (coordinate->rank > sizeof found->dims / sizeof found->dims[0]) return false;
    for (found->n_dims = 0; found->n_dims < coordinate->rank; found->n_dims++) {
        const char *name = refs_cf__dim_name(coordinate, found->n_dims);
        size_t i = 0;
        while (i < description->n_band_axes && strcmp(description->band_axes[i].name, name) != 0)
            i++;
        if (i == description->n_band_axes) return false;
        found->dims[found->n_dims] = description->band_axes[i].dim;
    }
    return true;
}

/* Recognises coordinates of forecasts by CF's standard names. */
static refs_cf_band_clock *find_clock(const refs_array_meta *coordinate,
                                      refs_cf_description *description) {
    const refs_str name = refs_cf__text(coordinate->attributes, "standard_name");
    double unit_seconds;
    if (refs_str_is(name, "time")) return &description->valid_time;
    if (refs_str_is(name, "forecast_reference_time")) return &description->reference_time;
    return refs_str_is(name, "forecast_period") && refs_cf__duration_unit(coordinate, &unit_seconds)
               ? &description->lead_time
               : NULL;
}

/* Makes missing values NaN, which is no time. */
static refs_status blank_missing(const refs_cf__input *input, refs_cf_band_axis *axis,
                                 refs_error *err) {
    refs_cf_options options = input->options;
    refs_cf_description description;
    options.honour_valid_range = false;
    REFS_TRY(
        refs_cf_describe_elements(input->hierarchy, axis->coordinate, &options, &description, err));
    for (uint64_t i = 0; i < axis->n; i++)
        if (refs_cf_is_missing(&description, axis->values[i])) axis->values[i] = (double)NAN;
    return REFS_OK;
}

static refs_status add_clock(const refs_cf__input *input, const refs_array_meta *coordinate,
                             refs_cf_description *description, refs_error *err) {
    refs_cf_band_clock *found = find_clock(coordinate, description);
    refs_cf_band_clock clock = {.n_dims = 0};
    if (found == NULL || found->axis.values != NULL || !find_dims(description, coordinate, &clock))
        return REFS_OK;
    refs_status status = read_coordinate(input, coordinate, &clock.axis, err);
    if (status == REFS_OK && clock.axis.n > 0) status = blank_missing(input, &clock.axis, err);
    if (status == REFS_OK && clock.axis.values != NULL)
        *found = clock;
    else
        axis_clear(&clock.axis);
    return status;
}

/* Whether the coordinate of a band axis is the reference time or the lead time of a forecast. */
static bool has_forecast_axis(refs_cf_description *description) {
    for (size_t i = 0; i < description->n_band_axes; i++) {
        const refs_array_meta *coordinate = description->band_axes[i].coordinate;
        const refs_cf_band_clock *clock =
            is_readable(coordinate) ? find_clock(coordinate, description) : NULL;
        if (clock != NULL && clock != &description->valid_time) return true;
    }
    return false;
}

const refs_array_meta *refs_cf__valid_time(const refs_cf__input *input,
                                           refs_cf_description *description) {
    refs_str names = refs_cf__text(input->array->attributes, "coordinates"), name;
    while (has_forecast_axis(description) && refs_str_next_word(&names, " ", &name)) {
        const refs_array_meta *coordinate = refs_cf__resolve(input, name);
        if (is_readable(coordinate) &&
            find_clock(coordinate, description) == &description->valid_time)
            return coordinate;
    }
    return NULL;
}

/* Finds the valid time, along reference time and lead time. Sets of GRIB messages drop dimensions
 * of length 1: all their scalar coordinates are shown, in other sets only those of forecasts. */
static refs_status add_forecast(const refs_cf__input *input, refs_cf_description *description,
                                refs_error *err) {
    const bool is_grib = is_of_grib(input->array);
    refs_str names = refs_cf__text(input->array->attributes, "coordinates"), name;
    if (!is_grib && !has_forecast_axis(description)) return REFS_OK;
    while (refs_str_next_word(&names, " ", &name)) {
        const refs_array_meta *coordinate = refs_cf__resolve(input, name);
        if (!is_readable(coordinate)) continue;
        REFS_TRY(add_clock(input, coordinate, description, err));
        if (coordinate->rank == 0 && (is_grib || find_clock(coordinate, description) != NULL))
            REFS_TRY(add_scalar(input, coordinate, &description->band_items, err));
    }
    for (size_t i = 0; i < description->n_band_axes; i++)
        if (is_readable(description->band_axes[i].coordinate))
            REFS_TRY(add_clock(input, description->band_axes[i].coordinate, description, err));
    return REFS_OK;
}

/* Collects the metadata that all bands share. */
refs_status refs_cf__describe_band_items(const refs_cf__input *input,
                                         refs_cf_description *description, refs_error *err) {
    const refs_array_meta *array = input->array;
    refs_cf_items *items = &description->band_items;
    REFS_TRY(refs_cf__add_item(items, "NETCDF_VARNAME", refs_str_from(array->name), err));
    for (size_t i = 0; i < refs_json_size(array->attributes); i++) {
        refs_str name = refs_json_name_at(array->attributes, i);
        if (description->unsigned_values && holds_stored_values(name))
            REFS_TRY(add_unsigned(input, name.data, items, err));
        else
            REFS_TRY(refs_cf__add_attribute(items, refs_str_from(""), name,
                                            refs_json_at(array->attributes, i), err));
    }
    REFS_TRY(add_forecast(input, description, err));
    if (!lost_fill(input->hierarchy, array)) return REFS_OK;
    double fill = refs_cf__fill_number(array);
    if (description->unsigned_values) fill = refs_cf__to_unsigned(&array->dtype, fill);
    return add_fill(array, "", fill, items, err);
}

/* The band axis of time, or NULL. */
static const refs_cf_band_axis *time_axis(const refs_cf_description *description, size_t *i) {
    for (*i = 0; *i < description->n_band_axes; (*i)++)
        if (description->band_axes[*i].kind == REFS_CF_AXIS_TIME)
            return &description->band_axes[*i];
    return NULL;
}

/* The index into a clock's values for a band with this `index` along the band axes, among the
 * selected elements. */
static uint64_t place_on_clock(const refs_cf_description *description,
                               const refs_cf_band_clock *clock, const uint64_t *index) {
    uint64_t place = 0;
    for (size_t dim = 0; dim < clock->n_dims; dim++)
        for (size_t i = 0; i < description->n_band_axes; i++)
            if (description->band_axes[i].dim == clock->dims[dim])
                place = place * clock->axis.coordinate->shape[dim] +
                        description->band_axes[i].first + index[i];
    return place;
}

static bool find_instant(const refs_cf_band_axis *axis, uint64_t place, refs_cf__clock *ticks,
                         int64_t *milliseconds) {
    return place < axis->n && axis->values != NULL && refs_cf__read_clock(axis, ticks) &&
           refs_cf__instant(ticks, axis->values[place], milliseconds);
}

static refs_status add_reference_time(const refs_cf_band_axis *axis, uint64_t place,
                                      refs_cf_items *items, refs_error *err) {
    enum { MILLISECONDS = 1000 };
    refs_cf__clock ticks;
    int64_t instant;
    char text[32];
    if (!find_instant(axis, place, &ticks, &instant)) return REFS_OK;
    instant -= refs_cf__day_of_date(ticks.calendar, (refs_cf__date){1970, 1, 1}) *
               REFS_CF__DAY_MILLISECONDS;
    snprintf(text, sizeof text, "%lld", (long long)(instant / MILLISECONDS));
    return refs_cf__add_item(items, "GRIB_REF_TIME", refs_str_from(text), err);
}

/* Adds the sum of reference time and lead time as TIME; nothing if one of them is unknown. */
static refs_status add_computed_time(const refs_cf_description *description, const uint64_t *index,
                                     refs_cf_items *items, refs_error *err) {
    const refs_cf_band_axis *reference = &description->reference_time.axis;
    const refs_cf_band_axis *lead = &description->lead_time.axis;
    const uint64_t lead_at = place_on_clock(description, &description->lead_time, index);
    refs_cf__clock ticks;
    int64_t instant;
    double unit_seconds;
    if (lead->values == NULL || lead_at >= lead->n ||
        !refs_cf__duration_unit(lead->coordinate, &unit_seconds) ||
        !(fabs(lead->values[lead_at] * unit_seconds) < MAX_LEAD_SECONDS) ||
        !find_instant(reference, place_on_clock(description, &description->reference_time, index),
                      &ticks, &instant))
        return REFS_OK;
    instant += (int64_t)floor(lead->values[lead_at] * unit_seconds * 1000 + 0.5);
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_cf__print_instant(ticks.calendar, instant, &text, err));
    return refs_cf__add_item(items, "TIME", refs_buf_text(&text), err);
}

/* Adds TIME, and the items of the reference time. */
static refs_status add_times(const refs_cf_description *description, const uint64_t *index,
                             refs_cf_items *items, refs_error *err) {
    const refs_cf_band_clock *valid = &description->valid_time;
    const refs_cf_band_clock *reference = &description->reference_time;
    uint64_t valid_at = place_on_clock(description, valid, index);
    uint64_t reference_at = place_on_clock(description, reference, index);
    size_t which, before = items->n;
    const refs_cf_band_axis *time = time_axis(description, &which);
    if (valid->axis.values != NULL && valid_at < valid->axis.n &&
        !isnan(valid->axis.values[valid_at])) {
        if (valid->n_dims > 0) REFS_TRY(add_band_position(&valid->axis, valid_at, items, err));
        return add_time(&valid->axis, valid_at, items, err);
    }
    REFS_TRY(add_computed_time(description, index, items, err));
    if (items->n > before) return REFS_OK;
    if (time != NULL) return add_time(time, index[which], items, err);
    return reference->axis.values != NULL ? add_time(&reference->axis, reference_at, items, err)
                                          : REFS_OK;
}

refs_status refs_cf_band_metadata(const refs_cf_description *description,
                                  const refs_array_meta *array, uint64_t band, refs_cf_items *items,
                                  refs_error *err) {
    for (size_t i = 0; i < description->band_items.n; i++)
        REFS_TRY(refs_cf__copy_item(items, description->band_items.items[i], err));
    uint64_t index[REFS_MAX_RANK];
    refs_cf_band_index(description, band, index);
    for (size_t i = 0; i < description->n_band_axes; i++)
        REFS_TRY(add_band_position(&description->band_axes[i], index[i], items, err));
    const refs_cf_band_clock *reference = &description->reference_time;
    if (is_of_grib(array) && reference->axis.values != NULL)
        REFS_TRY(add_reference_time(&reference->axis, place_on_clock(description, reference, index),
                                    items, err));
    return add_times(description, index, items, err);
}
