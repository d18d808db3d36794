/* written.c -- see written.h. */
#include "written.h"

#include "cf_internal.h"

refs_cf_axis_words refs_cf_words_of_axis(refs_cf_axis_kind kind, refs_cf_grid grid) {
    bool x = kind == REFS_CF_AXIS_X;
    refs_cf_axis_words words = {x ? "x" : "y", x ? "X" : "Y", NULL, NULL};
    if (grid == REFS_CF_GRID_LONGLAT) {
        words.name = x ? "lon" : "lat";
        words.standard_name = x ? "longitude" : "latitude";
        words.units = x ? "degrees_east" : "degrees_north";
    } else if (grid == REFS_CF_GRID_PROJECTED) {
        words.standard_name = x ? "projection_x_coordinate" : "projection_y_coordinate";
        words.units = "m";
    }
    return words;
}

bool refs_cf_has_axes(const double geotransform[6]) {
    return geotransform[2] == 0 && geotransform[4] == 0;
}

bool refs_cf_axes_tell_geotransform(const double geotransform[6], uint64_t width, uint64_t height) {
    return refs_cf_has_axes(geotransform) && width > 1 && height > 1;
}

static refs_status add_text(refs_cf_items *items, const char *name, const char *text,
                            refs_error *err) {
    return text != NULL ? refs_cf__add_item(items, name, refs_str_from(text), err) : REFS_OK;
}

/* The form is that of GDAL's netCDF driver. */
static refs_status print_geotransform(const double *numbers, refs_buf *text, refs_error *err) {
    enum { ALL_DIGITS = 17 };
    for (size_t i = 0; i < 6; i++) {
        if (i > 0) REFS_TRY(refs_buf_append(text, " ", 1, err));
        REFS_TRY(refs_cf__print_number(numbers[i], ALL_DIGITS, text, err));
    }
    return REFS_OK;
}

static refs_status add_geotransform(refs_cf_items *items, const double *numbers, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(print_geotransform(numbers, &text, err));
    return refs_cf__add_item(items, "GeoTransform", refs_buf_text(&text), err);
}

refs_status refs_cf_grid_mapping_items(const refs_cf_written_crs *crs, refs_cf_items *items,
                                       refs_error *err) {
    bool needs_wkt = crs->geotransform != NULL && crs->wkt2 == NULL && crs->wkt1 == NULL;
    if (crs->is_geographic)
        REFS_TRY(add_text(items, "grid_mapping_name", "latitude_longitude", err));
    REFS_TRY(add_text(items, "crs_wkt", crs->wkt2, err));
    REFS_TRY(add_text(items, "spatial_ref", needs_wkt ? "" : crs->wkt1, err));
    return crs->geotransform != NULL ? add_geotransform(items, crs->geotransform, err) : REFS_OK;
}
