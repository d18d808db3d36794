/* affine.c -- the order of rows and the geotransform. */
#include "cf_internal.h"

#include <math.h>

/* Tolerances of even spacing, as in the netCDF driver: relative to the largest step, larger for
 * single precision, and for latitudes also in degrees, because of Gaussian grids. */
static const double double_tolerance = 0.0005;
static const double float_tolerance = 0.002;
static const double latitude_tolerance_degrees = 0.1;

/* Tolerance between actual_range and rounded coordinates, as a fraction of a step. */
static const double range_tolerance = 0.1;

/* One axis: how it is read, and the coordinates of its first and its last pixel. */
typedef struct axis_span {
    bool wraps;      /* values are longitudes that may be moved by 360 */
    double absolute; /* how much spacings may differ */
    double first;
    double last;
    bool lost; /* it could not be read */
    bool regular;
    bool nearly;    /* regular only by the tolerance in degrees */
    bool has_edges; /* the attribute actual_range gave the edges of the first and the last pixel */
    double edges[2];
} axis_span;

static bool is_single(const refs_array_meta *variable) {
    return variable->dtype.type == REFS_TYPE_FLOAT && variable->dtype.size == 4;
}

/* Reads the two numbers of actual_range, in the order of the axis; a text only counts if it is the
 * text of an array. */
static bool read_actual_range(const refs_array_meta *variable, bool ascends, double range[2]) {
    refs_str text = refs_cf__text(variable->attributes, "actual_range");
    double numbers[2];
    if ((text.data != NULL && !refs_str_starts(text, "[")) ||
        refs_cf__numbers(variable->attributes, "actual_range", numbers, 2) != 2)
        return false;
    bool same_order = ascends == (numbers[0] <= numbers[1]);
    range[0] = numbers[same_order ? 0 : 1];
    range[1] = numbers[same_order ? 1 : 0];
    return true;
}

static bool are_local(const double range[2], double first, double last, double tolerance) {
    return fabs(range[0] - first) <= tolerance && fabs(range[1] - last) <= tolerance;
}

/* The factor that converts a coordinate to units of the CRS. */
static double unit_factor(const refs_array_meta *variable, const refs_cf__crs *crs) {
    if (crs->kind != REFS_CF__CRS_PROJECTED) return 1;
    refs_str unit = refs_cf__text(variable->attributes, "units");
    double metres = refs_cf__unit_metres(unit);
    /* Scanning angles of geostationary satellites are lengths at the satellite's height. */
    if (crs->height_metres > 0 && metres == 0)
        metres = refs_cf__unit_radians(unit) * crs->height_metres;
    return metres > 0 ? metres / crs->unit_metres : 1;
}

/* Unpacks coordinates (CF 8.1); returns whether they were packed. */
static bool unpack(const refs_array_meta *variable, double *values, size_t n) {
    double scale, offset;
    const bool is_packed = refs_cf_scale_of(variable->attributes, &scale, &offset);
    for (size_t i = 0; i < n && is_packed; i++) values[i] = offset + values[i] * scale;
    return is_packed;
}

/* Finds the first and the last coordinate from the values. actual_range may have more digits, or be
 * the outer edges; it is ignored if it contradicts the values. */
static void find_ends(const refs_array_meta *variable, const double *values, size_t n,
                      axis_span *span) {
    double step = (values[n - 1] - values[0]) / (double)(n - 1);
    double tolerance = range_tolerance * fabs(step);
    double range[2];
    span->first = values[0];
    span->last = values[n - 1];
    if (!read_actual_range(variable, step > 0, range)) return;
    if (are_local(range, span->first, span->last, tolerance)) {
        span->first = range[0];
        span->last = range[1];
    }
    span->has_edges = are_local(range, values[0] - step / 2, values[n - 1] + step / 2, tolerance);
    memcpy(span->edges, range, sizeof range);
}

/* Whether values of this variable may be moved by 360: not if they are lengths. */
static bool wraps(const refs_array_meta *variable) {
    return refs_cf__is_longitude(variable) &&
           refs_cf__unit_metres(refs_cf__text(variable->attributes, "units")) == 0;
}

/* The values of a grid that is not quite regular: "{89.5,88.3,…}". */
static refs_status keep_values(const double *values, size_t n, const refs_dtype *dtype,
                               refs_cf_items *items, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append(&text, "{", 1, err));
    for (size_t i = 0; i < n; i++) {
        if (i > 0) REFS_TRY(refs_buf_append(&text, ",", 1, err));
        REFS_TRY(refs_cf__print_typed(values[i], dtype, &text, err));
    }
    REFS_TRY(refs_buf_append(&text, "}", 1, err));
    return refs_cf__add_item(items, "Y_VALUES", refs_buf_text(&text), err);
}

/* Values of a grid that is not quite regular are kept in `kept`, unless it is NULL. */
static refs_status read_span(const refs_cf__input *input, const refs_array_meta *variable,
                             axis_span *span, refs_cf_items *kept, refs_error *err) {
    REFS_SCOPED double *values = NULL;
    REFS_TRY(refs_cf__read_values(input, variable, &values, err));
    span->lost = values == NULL && refs_dtype_is_numeric(&variable->dtype) &&
                 input->options.values != NULL && input->options.values->read != NULL;
    if (values == NULL) return REFS_OK;
    static const refs_dtype unpacked_dtype = {.type = REFS_TYPE_FLOAT, .size = 8};
    size_t n = (size_t)variable->shape[0];
    bool packed = unpack(variable, values, n);
    if (span->wraps) refs_cf__unwrap_longitudes(values, n);
    double relative = is_single(variable) ? float_tolerance : double_tolerance;
    span->regular = refs_cf__is_regular(values, n, relative, span->absolute);
    span->nearly = span->regular && !refs_cf__is_regular(values, n, relative, 0);
    if (span->regular) find_ends(variable, values, n, span);
    if (span->nearly && kept != NULL)
        REFS_TRY(keep_values(values, n, packed ? &unpacked_dtype : &variable->dtype, kept, err));
    return REFS_OK;
}

/* GMT's node_offset = 1: ranges are those of pixel edges, not of their centres. */
static bool ends_are_edges(const refs_cf__input *input, const axis_span *x, const axis_span *y) {
    const refs_group_meta *root = refs_hierarchy_group(input->hierarchy, 0);
    double offset = 0;
    return x->has_edges && y->has_edges && root != NULL &&
           refs_cf__number(root->attributes, "node_offset", &offset) && offset == 1;
}

static void take_edges(axis_span *span) {
    span->first = span->edges[0];
    span->last = span->edges[1];
}

/* A geotransform with a pixel size of zero, or with NaN, is not set. */
static void set_geotransform(refs_cf_description *description, const double x[2],
                             const double y[2]) {
    const double transform[6] = {x[0], x[1], 0, y[0], 0, y[1]};
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(y[0]) || !isfinite(y[1]) || x[1] == 0 ||
        y[1] == 0)
        return;
    memcpy(description->geotransform, transform, sizeof transform);
    description->has_geotransform = true;
}

/* The corner and the size of pixels from `first` to `last`, their centres unless `edges`. */
static void corner_and_step(double first, double last, uint64_t n, double half, double out[2]) {
    out[1] = (last - first) / ((double)n - 2 * half);
    out[0] = first - half * out[1];
}

static axis_span span_of_y(const refs_cf__frame *frame) {
    bool projected = frame->crs.kind == REFS_CF__CRS_PROJECTED;
    return (axis_span){.absolute = projected ? 0 : latitude_tolerance_degrees};
}

/* Rows are shown north first. */
static void order_rows(const refs_cf__frame *frame, const axis_span *y,
                       refs_cf_description *description) {
    if (!frame->axes.transposed) description->flip_y = y->first <= y->last;
}

/* Rows whose order is not known are shown as stored, without a geotransform. */
static void lose_rows(refs_cf__frame *frame, refs_cf_description *description) {
    description->flip_y = false;
    frame->lost = true;
}

/* A single column has no width, and so no geotransform, but its rows have an order. */
static refs_status order_column(const refs_cf__input *input, refs_cf__frame *frame,
                                refs_cf_description *description, refs_error *err) {
    axis_span y = span_of_y(frame);
    REFS_TRY(read_span(input, frame->axes.y, &y, NULL, err));
    if (y.lost) lose_rows(frame, description);
    if (y.regular) order_rows(frame, &y, description);
    return REFS_OK;
}

static refs_status from_axes(const refs_cf__input *input, refs_cf__frame *frame,
                             refs_cf_description *description, refs_error *err) {
    axis_span x = {.wraps = wraps(frame->axes.x)};
    axis_span y = span_of_y(frame);
    REFS_TRY(read_span(input, frame->axes.x, &x, &description->geolocation2, err));
    REFS_TRY(read_span(input, frame->axes.y, &y, &description->geolocation2, err));
    frame->lost |= x.lost;
    if (y.lost) lose_rows(frame, description);
    /* Even if the columns have no coordinates, as GDAL's netCDF driver does. */
    if (y.regular) order_rows(frame, &y, description);
    if (!x.regular || !y.regular) return REFS_OK;

    double x_factor = unit_factor(frame->axes.x, &frame->crs);
    double y_factor = unit_factor(frame->axes.y, &frame->crs);
    bool edges = ends_are_edges(input, &x, &y);
    if (edges) {
        take_edges(&x);
        take_edges(&y);
    }
    double half = edges ? 0 : 0.5;
    double top = (description->flip_y ? y.last : y.first) * y_factor;
    double bottom = (description->flip_y ? y.first : y.last) * y_factor;
    double columns[2], rows[2];
    corner_and_step(x.first * x_factor, x.last * x_factor, frame->axes.x->shape[0], half, columns);
    corner_and_step(top, bottom, frame->axes.y->shape[0], half, rows);
    set_geotransform(description, columns, rows);
    return REFS_OK;
}

/* -- without coordinate variables -------------------------------------------------------------- */

/* GDAL's own attribute: six numbers separated by spaces. */
static bool from_text(const refs_json *mapping, refs_cf_description *description) {
    double transform[7];
    if (refs_cf__numbers(mapping, "GeoTransform", transform, 7) != 6) return false;
    for (size_t i = 0; i < 6; i++)
        if (!isfinite(transform[i])) return false;
    memcpy(description->geotransform, transform, sizeof description->geotransform);
    description->has_geotransform = true;
    return true;
}

static void from_corners(const refs_cf__input *input, const refs_json *mapping,
                         refs_cf_description *description) {
    double west, east, north, south, columns[2], rows[2];
    uint64_t n_x = input->array->shape[description->x_dim],
             n_y = input->array->shape[description->y_dim];
    if (n_x < 2 || n_y < 2 || !refs_cf__number(mapping, "Westernmost_Easting", &west) ||
        !refs_cf__number(mapping, "Easternmost_Easting", &east) ||
        !refs_cf__number(mapping, "Northernmost_Northing", &north) ||
        !refs_cf__number(mapping, "Southernmost_Northing", &south))
        return;
    corner_and_step(west, east, n_x, 0.5, columns);
    corner_and_step(north, south, n_y, 0.5, rows);
    set_geotransform(description, columns, rows);
}

/* Whether the file says that GDAL 1.9 or later wrote it, which follows CF. */
static bool made_by_cf_gdal(const refs_hierarchy *hierarchy) {
    const refs_group_meta *root = refs_hierarchy_group(hierarchy, 0);
    refs_str text = root != NULL ? refs_cf__text(root->attributes, "GDAL") : refs_str_view(NULL, 0);
    refs_str word;
    double major, minor;
    return refs_str_next_word(&text, " ", &word) && refs_cf__same_word(word, "GDAL") &&
           refs_str_next_word(&text, " .,", &word) && refs_cf__parse_number(word, &major) &&
           (major > 1 || (refs_str_next_word(&text, ".,", &word) &&
                          refs_cf__parse_number(refs_str_part(word, 0, 1), &minor) && minor >= 9));
}

bool refs_cf__made_by_gdal(const refs_cf__input *input, const refs_array_meta *mapping) {
    return made_by_cf_gdal(input->hierarchy) ||
           (mapping != NULL && refs_cf__has_crs_text(mapping->attributes) &&
            refs_json_get(mapping->attributes, "GeoTransform") != NULL);
}

/* Whether to assume that rows are stored south first if no axis has coordinates: in netCDF files,
 * except those that GDAL wrote before 1.9, which have WKT and GeoTransform, and Zarr that GDAL
 * wrote. */
static bool south_first_by_custom(const refs_cf__input *input, const refs_cf__frame *frame) {
    if (frame->axes.transposed || refs_cf__gdal_crs(input->array) != NULL) return false;
    if (frame->mapping == NULL || !refs_cf__has_crs_text(frame->mapping->attributes)) return true;
    return made_by_cf_gdal(input->hierarchy) ||
           refs_json_get(frame->mapping->attributes, "GeoTransform") == NULL;
}

/* Axes whose metadata cannot be read are lost, too. */
static refs_status check_axes(const refs_cf__input *input, refs_cf__frame *frame,
                              refs_cf_description *description, refs_error *err) {
    const size_t dims[] = {description->x_dim, description->y_dim};
    for (size_t i = 0; i < 2; i++) {
        const refs_array_meta *broken = refs_cf__broken_axis(input, dims[i]);
        if (broken == NULL) continue;
        refs_error why = REFS_ERROR_INIT;
        refs_status status = refs_fail(&why, broken->status, "%s", broken->problem);
        status = refs_cf__forgive(input, broken, status, &why);
        if (status != REFS_OK) return refs_fail(err, status, "%s", why.message);
        lose_rows(frame, description);
    }
    return REFS_OK;
}

refs_status refs_cf__describe_affine(const refs_cf__input *input, refs_cf__frame *frame,
                                     refs_cf_description *description, refs_error *err) {
    if (description->y_dim == REFS_CF_NO_DIM) return REFS_OK;
    const refs_cf__axes *axes = &frame->axes;
    const refs_json *mapping = frame->mapping != NULL ? frame->mapping->attributes : NULL;
    bool has_axes = axes->x != NULL && axes->y != NULL && axes->y->shape[0] > 1;
    description->flip_y = south_first_by_custom(input, frame);
    REFS_TRY(check_axes(input, frame, description, err));
    if (has_axes && axes->x->shape[0] > 1) REFS_TRY(from_axes(input, frame, description, err));
    if (description->has_geotransform || frame->lost ||
        (refs_cf__has_crs_text(mapping) && from_text(mapping, description)))
        return REFS_OK;
    if (has_axes && axes->x->shape[0] == 1) REFS_TRY(order_column(input, frame, description, err));
    if (mapping != NULL && !frame->lost) from_corners(input, mapping, description);
    return REFS_OK;
}
