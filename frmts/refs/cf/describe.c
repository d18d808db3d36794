/* describe.c -- the order in which an array's meaning is decided. */
#include "cf_internal.h"

/* Classic rasters: the last two dimensions are the picture, as the netCDF driver has it. */
void refs_cf__choose_picture(const refs_cf__input *input, refs_cf_meaning *meaning) {
    size_t rank = input->array->rank;
    meaning->x_dim = rank > 0 ? rank - 1 : REFS_CF_NO_DIM;
    meaning->y_dim = rank > 1 ? rank - 2 : REFS_CF_NO_DIM;
    if (refs_cf__is_tiff(input)) refs_cf__choose_tiff_picture(input->array, meaning);
}

static refs_status describe_unit(const refs_cf__input *input, refs_cf_meaning *meaning,
                                 refs_error *err) {
    const refs_array_meta *array = input->array;
    const refs_json *number = refs_json_get(array->attributes, "units");
    refs_str unit = refs_cf__text_any_case(array->attributes, "units");
    refs_buf text = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    /* kerchunk writes an empty text of HDF5 as a blank. */
    bool empty = refs_str_is(unit, " ") && !refs_cf__is_netcdf3(input->hierarchy);
    if (unit.data != NULL && !empty)
        status = refs_buf_append_str(&text, unit, err);
    else if (unit.data == NULL && number != NULL)
        status = refs_cf__print_attribute(number, &text, err);
    else if (number == NULL)
        status = refs_cf__print_tick_unit(&array->dtype, &text, err);
    if (status == REFS_OK && text.size > 0) {
        meaning->unit = refs_buf_take_text(&text);
        if (meaning->unit == NULL) status = refs_fail_nomem(err);
    }
    refs_buf_clear(&text);
    return status;
}

/* A grid that is not on Earth but has longitudes and latitudes is placed by these: the netCDF
 * driver drops its geotransform, unless they are the very axes, or the grid is transposed. They
 * themselves lie where the axes of a rotated grid say. */
static void choose_placement(const refs_cf__input *input, const refs_cf__frame *frame,
                             refs_cf_meaning *meaning) {
    bool same = meaning->geolocation_x == frame->axes.x && meaning->geolocation_y == frame->axes.y;
    bool itself = input->array == meaning->geolocation_x || input->array == meaning->geolocation_y;
    bool unknown = frame->crs.kind == REFS_CF__CRS_NONE && !frame->axes.transposed;
    if (meaning->geolocation_x != NULL && unknown && !same &&
        !(itself && refs_cf__is_rotated(&frame->axes)))
        meaning->has_geotransform = false;
}

/* Whether the picture lies where longitudes and latitudes are, a pixel more or less. */
static bool is_on_earth(const refs_array_meta *array, const refs_cf_meaning *meaning) {
    const double *transform = meaning->geotransform;
    double east = transform[0] + transform[1] * (double)array->shape[meaning->x_dim];
    double south = transform[3] + transform[5] * (double)array->shape[meaning->y_dim];
    return transform[0] >= -361 && east <= 541 && transform[3] <= 91 && south >= -91;
}

static refs_status choose_crs(const refs_cf__input *input, refs_cf__frame *frame,
                              refs_cf_meaning *meaning, refs_error *err) {
    meaning->crs = frame->crs.text;
    frame->crs.text = NULL;
    if (meaning->crs != NULL || !input->options.assume_longlat || !meaning->has_geotransform ||
        !refs_cf__is_longlat(frame->axes.x, frame->axes.y) || !is_on_earth(input->array, meaning))
        return REFS_OK;
    meaning->crs = refs_str_copy(refs_str_from("EPSG:4326"));
    meaning->crs_assumed = true;
    return meaning->crs != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status place_grid(const refs_cf__input *input, refs_cf__frame *frame,
                              refs_cf_meaning *meaning, refs_error *err) {
    frame->axes = refs_cf__find_axes(input, meaning);
    frame->mapping = refs_cf__grid_mapping(input, meaning);
    REFS_TRY(refs_cf__find_crs(input, frame, err));
    REFS_TRY(refs_cf__describe_affine(input, frame, meaning, err));
    REFS_TRY(refs_cf__describe_geolocation(input, frame, meaning, err));
    choose_placement(input, frame, meaning);
    return choose_crs(input, frame, meaning, err);
}

static refs_status describe_all(const refs_cf__input *input, refs_cf__frame *frame,
                                refs_cf_meaning *meaning, refs_error *err) {
    bool tiff = refs_cf__is_tiff(input);
    refs_cf__choose_picture(input, meaning);
    REFS_TRY(refs_cf__describe_packing(input, meaning, err));
    REFS_TRY(refs_cf__describe_flags(input, meaning, err));
    REFS_TRY(describe_unit(input, meaning, err));
    REFS_TRY(refs_cf__describe_bands(input, meaning, err));
    REFS_TRY(refs_cf__select(input, meaning, err));
    REFS_TRY(tiff ? refs_cf__place_tiff(input, meaning, err)
                  : place_grid(input, frame, meaning, err));
    if (!tiff) REFS_TRY(refs_cf__place_grib(input, meaning, err));
    refs_cf__turn_longitudes(input, &frame->axes, meaning);
    REFS_TRY(refs_cf__describe_metadata(input, frame->mapping, meaning, err));
    return refs_cf__describe_band_items(input, meaning, err);
}

refs_status refs_cf_describe(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                             const refs_cf_values *values, const refs_cf_options *options,
                             refs_cf_meaning *meaning, refs_error *err) {
    memset(meaning, 0, sizeof *meaning);
    meaning->sample_axis = REFS_CF_NO_DIM;
    if (array->status != REFS_OK) return refs_fail(err, array->status, "%s", array->problem);
    refs_cf_options defaults = REFS_CF_OPTIONS_INIT;
    refs_cf__input input = {hierarchy, array, values, options != NULL ? *options : defaults};
    refs_cf__frame frame = {.mapping = NULL};
    refs_cf__crs_clear(&frame.crs);
    refs_status status = describe_all(&input, &frame, meaning, err);
    refs_cf__crs_clear(&frame.crs);
    return status;
}

void refs_cf_meaning_clear(refs_cf_meaning *meaning) {
    refs_cf__bands_clear(meaning);
    refs_free(meaning->crs);
    refs_free(meaning->unit);
    refs_cf_items_clear(&meaning->categories);
    refs_free(meaning->colors);
    refs_cf_items_clear(&meaning->geolocation);
    refs_cf_items_clear(&meaning->geolocation2);
    refs_cf_items_clear(&meaning->metadata);
    refs_cf_items_clear(&meaning->band_items);
    memset(meaning, 0, sizeof *meaning);
}
