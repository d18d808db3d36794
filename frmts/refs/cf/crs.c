/* crs.c -- the coordinate reference system of an array: as text, or from CF attributes. */
#include "cf_internal.h"

/* Attributes of a grid mapping that hold its CRS as WKT, and take precedence over the parameters of
 * CF. */
static const char *const wkt_attributes[] = {"spatial_ref", "crs_wkt"};

/* Attributes that name a CRS in other ways, used for a mapping without CF parameters. */
static const char *const name_attributes[] = {
    "esri_pe_string", "srid", "proj4", "proj4_params", "proj4_string", "proj4text", "epsg_code"};

void refs_cf__crs_clear(refs_cf__crs *crs) {
    refs_free(crs->text);
    *crs = (refs_cf__crs){REFS_CF__CRS_NONE, NULL, 1, 0};
}

/* Sets the CRS to `text` if PROJ can parse it and there is none yet. */
static refs_status try_text(refs_str text, refs_cf__crs *crs, refs_error *err) {
    if (text.size == 0 || crs->kind != REFS_CF__CRS_NONE) return REFS_OK;
    char *copy = refs_str_copy(text);
    if (copy == NULL) return refs_fail_nomem(err);
    refs_cf__crs_inspect(copy, crs);
    if (crs->kind != REFS_CF__CRS_NONE)
        crs->text = copy;
    else
        refs_free(copy);
    return REFS_OK;
}

/* Works like try_text, for a name: an authority's code, a URN, a PROJ string. */
static refs_status try_name(refs_str name, refs_cf__crs *crs, refs_error *err) {
    if (name.size == 0 || crs->kind != REFS_CF__CRS_NONE) return REFS_OK;
    REFS_SCOPED_BUF wkt = REFS_BUF_INIT;
    REFS_TRY(refs_cf__expand_crs_name(name, &wkt, err));
    return try_text(refs_buf_text(&wkt), crs, err);
}

static refs_str wkt_of(const refs_json *mapping) {
    refs_str wkt = {NULL, 0};
    for (size_t i = 0; i < sizeof wkt_attributes / sizeof wkt_attributes[0]; i++)
        if (wkt.size == 0) wkt = refs_cf__text(mapping, wkt_attributes[i]);
    return wkt;
}

bool refs_cf__has_crs_text(const refs_json *mapping) {
    for (size_t i = 0; i < sizeof wkt_attributes / sizeof wkt_attributes[0]; i++)
        if (refs_json_is_string(refs_json_get(mapping, wkt_attributes[i]))) return true;
    return false;
}

/* Whether the netCDF driver knows a unit by this name. */
static bool is_known_unit(refs_str unit) {
    static const char *const names[] = {"m", "km", "US_survey_foot", "US_survey_feet"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (refs_cf__same_word(unit, names[i])) return true;
    return false;
}

/* Reads the unit of both axes, unless they differ or have none. */
static void read_unit(const refs_cf__axes *axes, refs_cf__mapping *mapping) {
    if (axes->x == NULL || axes->y == NULL) return;
    refs_str x = refs_cf__text(axes->x->attributes, "units");
    refs_str y = refs_cf__text(axes->y->attributes, "units");
    double metres = refs_cf__unit_metres(x);
    if (metres == 0 || metres != refs_cf__unit_metres(y)) return;
    mapping->unit_metres = metres;
    mapping->unit_told =
        is_known_unit(x) && is_known_unit(y) && axes->x->shape[0] > 1 && axes->y->shape[0] > 1;
}

/* Whether axes are longitude and latitude, but CF does not define their grid mapping: only its
 * ellipsoid is used. */
static bool is_unknown_on_longlat(const refs_json *mapping, const refs_cf__axes *axes) {
    return refs_cf__text(mapping, "grid_mapping_name").size > 0 &&
           refs_cf__read_ellipsoid(mapping).given && refs_cf__is_longlat(axes->x, axes->y);
}

static refs_status from_attributes(const refs_cf__input *input, refs_cf__frame *frame,
                                   refs_error *err) {
    const refs_json *mapping = frame->mapping->attributes;
    const refs_cf__axes *axes = &frame->axes;
    const refs_cf_placement *placement = &input->options.placement;
    REFS_SCOPED_BUF wkt = REFS_BUF_INIT;
    refs_cf__mapping described = {.name = refs_cf__text(mapping, "grid_mapping_name"),
                                  .attributes = mapping,
                                  .unit_metres = 1,
                                  .needs_ellipsoid = !placement->poles_need_no_ellipsoid};
    read_unit(axes, &described);
    described.crs_metres = placement->in_metres ? 1 : described.unit_metres;
    REFS_TRY(refs_cf__print_crs(&described, &wkt, err));
    if (wkt.size == 0 && is_unknown_on_longlat(mapping, axes))
        REFS_TRY(refs_cf__print_longlat(mapping, &wkt, err));
    return try_text(refs_buf_text(&wkt), &frame->crs, err);
}

/* Strings of the attribute `crs` that some writers put on the variable itself. */
static bool names_crs(refs_str text) {
    static const char *const signs[] = {"+proj=", "GEOGC", "PROJC", "EPSG:"};
    for (; text.size > 0; text = refs_str_part(text, 1, text.size))
        for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
            if (refs_str_starts(text, signs[i])) return true;
    return false;
}

static refs_status from_mapping(const refs_cf__input *input, refs_cf__frame *frame,
                                refs_error *err) {
    const refs_json *attributes = frame->mapping->attributes;
    refs_cf__crs *crs = &frame->crs;
    REFS_TRY(try_text(wkt_of(attributes), crs, err));
    REFS_TRY(from_attributes(input, frame, err));
    for (size_t i = 0; i < sizeof name_attributes / sizeof name_attributes[0]; i++)
        REFS_TRY(try_name(refs_cf__text(attributes, name_attributes[i]), crs, err));
    /* GDAL writes an empty WKT with a GeoTransform if there is no reference system. */
    const bool says_none = refs_cf__has_crs_text(attributes) && wkt_of(attributes).size == 0;
    if (crs->kind == REFS_CF__CRS_NONE && !says_none)
        refs_note(&input->options.notes, REFS_NOTE_WARNING,
                  "%s: grid mapping %s is not supported: no CRS is set", input->array->path,
                  frame->mapping->path);
    return REFS_OK;
}

/* -- GDAL's Zarr driver ------------------------------------------------------------------------ */

const refs_json *refs_cf__gdal_crs(const refs_array_meta *array) {
    const refs_json *crs = refs_json_get(array->attributes, "_CRS");
    bool is_one = refs_json_get(crs, "wkt") != NULL || refs_json_get(crs, "url") != NULL ||
                  refs_json_get(crs, "projjson") != NULL;
    return is_one ? crs : NULL;
}

/* `forms` has the same CRS in up to three forms. */
static refs_status from_gdal(const refs_json *forms, refs_cf__crs *crs, refs_error *err) {
    const refs_json *projjson = refs_json_get(forms, "projjson");
    REFS_TRY(try_text(refs_cf__text(forms, "wkt"), crs, err));
    if (refs_json_is_object(projjson) && crs->kind == REFS_CF__CRS_NONE) {
        REFS_SCOPED_BUF text = REFS_BUF_INIT;
        refs_status status = refs_json_write(projjson, &text, err);
        if (status == REFS_OK) status = try_name(refs_buf_text(&text), crs, err);
        REFS_TRY(status);
    }
    return try_name(refs_cf__text(forms, "url"), crs, err);
}

refs_status refs_cf__find_crs(const refs_cf__input *input, refs_cf__frame *frame, refs_error *err) {
    const refs_json *of_gdal = refs_cf__gdal_crs(input->array);
    if (of_gdal != NULL) REFS_TRY(from_gdal(of_gdal, &frame->crs, err));
    if (frame->crs.kind != REFS_CF__CRS_NONE) return REFS_OK;
    if (frame->mapping != NULL) return from_mapping(input, frame, err);
    refs_str named = refs_str_trim(refs_cf__text(input->array->attributes, "crs"), " ");
    return names_crs(named) ? try_name(named, &frame->crs, err) : REFS_OK;
}
