/* describe.c -- describes an array, step by step. */
#include "cf_internal.h"

/* In a classic dataset, the raster is the last two dimensions, as in the netCDF driver, unless
 * others are X and Y. */
void refs_cf__choose_own_view(const refs_cf__input *input, refs_cf_description *description) {
    size_t rank = input->array->rank;
    description->x_dim = rank > 0 ? rank - 1 : REFS_CF_NO_DIM;
    description->y_dim = rank > 1 ? rank - 2 : REFS_CF_NO_DIM;
    refs_cf__choose_cf_view(input, description);
    if (refs_cf__is_tiff(input)) refs_cf__choose_tiff_view(input->array, description);
    refs_cf__choose_geozarr_view(input, description);
}

static refs_status describe_unit(const refs_cf__input *input, refs_cf_description *description,
                                 refs_error *err) {
    const refs_array_meta *array = input->array;
    const refs_json *number = refs_json_get(array->attributes, "units");
    refs_str unit = refs_cf__text_any_case(array->attributes, "units");
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    /* kerchunk writes an empty string of HDF5 as a blank. */
    bool empty = refs_str_is(unit, " ") && !refs_cf__is_netcdf3(input->hierarchy);
    if (unit.data != NULL && !empty)
        REFS_TRY(refs_buf_append_str(&text, unit, err));
    else if (unit.data == NULL && number != NULL)
        REFS_TRY(refs_cf__print_attribute(number, &text, err));
    else if (number == NULL)
        REFS_TRY(refs_cf__print_tick_unit(&array->dtype, &text, err));
    return text.size > 0 ? refs_buf_keep(&text, &description->unit, err) : REFS_OK;
}

/* If a grid without a CRS has longitudes and latitudes, the netCDF driver uses these as geolocation
 * arrays and drops the geotransform, unless they are the axes, or the grid is transposed. The
 * arrays of longitudes and latitudes themselves have the geotransform of a rotated grid. */
static void choose_placement(const refs_cf__input *input, const refs_cf__frame *frame,
                             refs_cf_description *description) {
    bool same =
        description->geolocation_x == frame->axes.x && description->geolocation_y == frame->axes.y;
    bool itself =
        input->array == description->geolocation_x || input->array == description->geolocation_y;
    bool unknown = frame->crs.kind == REFS_CF__CRS_NONE && !frame->axes.transposed;
    if (description->geolocation_x != NULL && unknown && !same &&
        !(itself && refs_cf__is_rotated(&frame->axes)))
        description->has_geotransform = false;
}

/* Whether the extent of the raster is valid for longitudes and latitudes, with a tolerance of a
 * degree: pixels at the poles extend beyond them by half. */
static bool is_on_earth(const refs_array_meta *array, const refs_cf_description *description) {
    const double *transform = description->geotransform;
    double east = transform[0] + transform[1] * (double)array->shape[description->x_dim];
    double first = transform[3] + transform[5] / 2;
    double last = first + transform[5] * (double)(array->shape[description->y_dim] - 1);
    return transform[0] >= -361 && east <= 541 && first <= 91 && last >= -91;
}

static refs_status choose_crs(const refs_cf__input *input, refs_cf__frame *frame,
                              refs_cf_description *description, refs_error *err) {
    description->crs = frame->crs.text;
    frame->crs.text = NULL;
    if (description->crs != NULL || !input->options.assume_longlat ||
        !description->has_geotransform || !refs_cf__is_longlat(frame->axes.x, frame->axes.y) ||
        !is_on_earth(input->array, description))
        return REFS_OK;
    description->crs = refs_str_copy(refs_str_from("EPSG:4326"));
    description->crs_assumed = true;
    return description->crs != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status place_grid(const refs_cf__input *input, refs_cf__frame *frame,
                              refs_cf_description *description, refs_error *err) {
    frame->axes = refs_cf__find_axes(input, description);
    frame->mapping = refs_cf__grid_mapping(input, description);
    REFS_TRY(refs_cf__find_crs(input, frame, err));
    REFS_TRY(refs_cf__describe_affine(input, frame, description, err));
    if (frame->lost) return choose_crs(input, frame, description, err);
    REFS_TRY(refs_cf__describe_geolocation(input, frame, description, err));
    choose_placement(input, frame, description);
    return choose_crs(input, frame, description, err);
}

static refs_status place(const refs_cf__input *input, refs_cf__frame *frame,
                         refs_cf_description *description, refs_error *err) {
    bool tiff = refs_cf__is_tiff(input);
    REFS_TRY(tiff ? refs_cf__place_tiff(input, description, err)
                  : place_grid(input, frame, description, err));
    if (!tiff) REFS_TRY(refs_cf__place_grib(input, description, err));
    return refs_cf__place_geozarr(input, description, err);
}

/* This also needs the georeferencing of the full array. */
static refs_status order_overview(const refs_cf__input *input, const refs_array_meta *full,
                                  refs_cf_description *description, refs_error *err) {
    refs_cf__input full_input = {input->hierarchy, full, input->options, input->unread};
    REFS_SCOPED_BY(refs_cf_description_clear)
    refs_cf_description whole = {.sample_axis = REFS_CF_NO_DIM};
    refs_cf__frame frame = {.mapping = NULL};
    refs_cf__crs_clear(&frame.crs);
    refs_cf__choose_own_view(&full_input, &whole);
    refs_status status = place(&full_input, &frame, &whole, err);
    if (status == REFS_OK) refs_cf__order_overview(input->array, description, full, &whole);
    refs_cf__crs_clear(&frame.crs);
    return status;
}

static refs_status describe_all(const refs_cf__input *input, refs_cf__frame *frame,
                                refs_cf_description *description, refs_error *err) {
    const refs_array_meta *full = refs_cf__full_resolution(input->hierarchy, input->array);
    const refs_cf__input full_input = {input->hierarchy, full, input->options, input->unread};
    refs_cf__choose_own_view(&full_input, description);
    REFS_TRY(refs_cf__describe_packing(input, description, err));
    REFS_TRY(refs_cf__describe_flags(input, description, err));
    REFS_TRY(describe_unit(input, description, err));
    REFS_TRY(refs_cf__describe_bands(input, description, err));
    REFS_TRY(refs_cf__select(input, description, err));
    REFS_TRY(place(input, frame, description, err));
    REFS_TRY(refs_cf__describe_gcps(input, description, err));
    if (full != input->array) REFS_TRY(order_overview(input, full, description, err));
    refs_cf__turn_longitudes(input, &frame->axes, description);
    REFS_TRY(refs_cf__describe_metadata(input, frame->mapping, description, err));
    return refs_cf__describe_band_items(input, description, err);
}

/* Keeps only the members that do not change units: for example, a CRS in metres would not match
 * axes that are shown as stored. */
static refs_cf_placement placement_as_stored(refs_cf_placement placement) {
    return (refs_cf_placement){.poles_need_no_ellipsoid = placement.poles_need_no_ellipsoid,
                               .rotated_by_name = placement.rotated_by_name};
}

refs_status refs_cf_describe(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                             const refs_cf_options *options, refs_cf_description *description,
                             refs_error *err) {
    memset(description, 0, sizeof *description);
    description->sample_axis = REFS_CF_NO_DIM;
    if (array->status != REFS_OK) return refs_fail(err, array->status, "%s", array->problem);
    refs_cf_options defaults = REFS_CF_OPTIONS_INIT;
    refs_cf__input input = {hierarchy, array, options != NULL ? *options : defaults,
                            &description->unread};
    if (input.options.as_stored)
        input.options.placement = placement_as_stored(input.options.placement);
    refs_cf__frame frame = {.mapping = NULL};
    refs_cf__crs_clear(&frame.crs);
    refs_status status = describe_all(&input, &frame, description, err);
    refs_cf__crs_clear(&frame.crs);
    return status;
}

refs_status refs_cf_describe_elements(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                                      const refs_cf_options *options,
                                      refs_cf_description *description, refs_error *err) {
    const refs_cf_options defaults = REFS_CF_OPTIONS_INIT;
    const refs_cf__input input = {hierarchy, array, options != NULL ? *options : defaults,
                                  &description->unread};
    memset(description, 0, sizeof *description);
    if (array->status != REFS_OK) return refs_fail(err, array->status, "%s", array->problem);
    return refs_cf__describe_packing(&input, description, err);
}

void refs_cf_description_clear(refs_cf_description *description) {
    refs_cf__bands_clear(description);
    refs_cf__clocks_clear(description);
    refs_free(description->gcps);
    refs_free(description->crs);
    refs_free(description->unit);
    refs_cf_items_clear(&description->categories);
    refs_free(description->colors);
    refs_cf__samples_clear(description);
    refs_cf_items_clear(&description->geolocation);
    refs_cf_items_clear(&description->geolocation2);
    refs_cf_items_clear(&description->metadata);
    refs_cf_items_clear(&description->band_items);
    memset(description, 0, sizeof *description);
}
