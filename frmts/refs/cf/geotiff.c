/* geotiff.c -- sets made of TIFF files, whose tags and GeoKeys are attributes of the group.
 *
 * OGC GeoTIFF 1.1 (19-008r4), sections 7 and B.6; names as tifffile spells them.
 */
#include <math.h>

#include "cf_internal.h"

/* GeoKey values: "user-defined", and the raster type whose coordinates are those of centres. */
enum { USER_DEFINED = 32767, PIXEL_IS_POINT = 2 };

/* Attributes that only sets of TIFF files have. */
static const char *const signs[] = {"ModelPixelScale", "ModelTransformation", "GTModelTypeGeoKey",
                                    "multiscales"};

static const refs_json *group_attributes(const refs_cf__input *input) {
    const refs_group_meta *group =
        refs_hierarchy_find_group(input->hierarchy, refs_str_from(input->array->group));
    return group != NULL ? group->attributes : NULL;
}

/* Whether a dimension has tifffile's name of an axis: a capital letter, and the number of the level
 * in reduced images. */
static bool is_letter(const char *name) {
    if (name[0] < 'A' || name[0] > 'Z') return false;
    return name[1 + strspn(name + 1, "0123456789")] == '\0';
}

/* Whether the axes are those of an image, X and Y among them, and no variable says otherwise. */
static bool has_axes_of_image(const refs_cf__input *input) {
    const refs_array_meta *array = input->array;
    bool has_x = false, has_y = false;
    for (size_t dim = 0; dim < array->rank; dim++) {
        const char *name = refs_cf__dim_name(array, dim);
        if (!is_letter(name) || refs_cf__dim_variable(input->hierarchy, array, dim) != NULL)
            return false;
        has_x = has_x || name[0] == 'X';
        has_y = has_y || name[0] == 'Y';
    }
    return has_x && has_y && array->named_dims;
}

bool refs_cf__is_tiff(const refs_cf__input *input) {
    const refs_json *tags = group_attributes(input);
    if (refs_cf__gdal_crs(input->array) != NULL) return false;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (refs_json_get(tags, signs[i]) != NULL) return true;
    return refs_json_get(tags, "Conventions") == NULL && has_axes_of_image(input);
}

void refs_cf__choose_tiff_view(const refs_array_meta *array, refs_cf_description *description) {
    size_t x = REFS_CF_NO_DIM, y = REFS_CF_NO_DIM;
    for (size_t dim = 0; dim < array->rank; dim++) {
        const char *name = refs_cf__dim_name(array, dim);
        if (name[0] == 'X') x = dim;
        if (name[0] == 'Y') y = dim;
    }
    if (x == REFS_CF_NO_DIM || y == REFS_CF_NO_DIM) return;
    description->x_dim = x;
    description->y_dim = y;
}

/* -- placement --------------------------------------------------------------------------------- */

/* At most `max` numbers of a tag, which may be in rows. */
static size_t tag_numbers(const refs_json *tags, const char *name, double *numbers, size_t max) {
    const refs_json *rows = refs_json_get(tags, name);
    size_t n = 0;
    if (!refs_json_is_array(refs_json_at(rows, 0)))
        return refs_cf__numbers(tags, name, numbers, max);
    for (size_t i = 0; i < refs_json_size(rows); i++) {
        const refs_json *row = refs_json_at(rows, i);
        for (size_t j = 0; j < refs_json_size(row) && n < max; j++)
            if (refs_json_double(refs_json_at(row, j), &numbers[n])) n++;
    }
    return n;
}

static bool read_transformation(const refs_json *tags, double transform[6]) {
    static const size_t places[6] = {3, 0, 1, 7, 4, 5};
    double matrix[16];
    if (tag_numbers(tags, "ModelTransformation", matrix, 16) != 16) return false;
    for (size_t i = 0; i < 6; i++) transform[i] = matrix[places[i]];
    return true;
}

static bool read_scale(const refs_json *tags, double transform[6]) {
    double scale[3], tie[6];
    if (tag_numbers(tags, "ModelPixelScale", scale, 3) < 2 || scale[0] == 0 || scale[1] == 0 ||
        tag_numbers(tags, "ModelTiepoint", tie, 6) != 6)
        return false;
    scale[1] = fabs(scale[1]); /* GDAL ignores the sign, too */
    const double made[6] = {tie[3] - tie[0] * scale[0], scale[0], 0,
                            tie[4] + tie[1] * scale[1], 0,        -scale[1]};
    memcpy(transform, made, sizeof made);
    return true;
}

/* The ratio of pixel sizes of a reduced image and the full one, which is called 0. */
static double reduction(const refs_cf__input *input, size_t dim) {
    const refs_array_meta *array = input->array;
    const refs_array_meta *full =
        refs_hierarchy_resolve(input->hierarchy, array->group, refs_str_from("0"));
    if (full == NULL || full->status != REFS_OK || full->rank != array->rank ||
        full->shape[dim] < array->shape[dim] || array->shape[dim] == 0)
        return 1;
    return (double)full->shape[dim] / (double)array->shape[dim];
}

static void place(const refs_cf__input *input, const refs_json *tags,
                  refs_cf_description *description) {
    double *transform = description->geotransform, type = 0;
    if (!read_scale(tags, transform) && !read_transformation(tags, transform)) return;
    if (refs_cf__number(tags, "GTRasterTypeGeoKey", &type) && type == (double)PIXEL_IS_POINT) {
        transform[0] -= (transform[1] + transform[2]) / 2;
        transform[3] -= (transform[4] + transform[5]) / 2;
    }
    for (size_t i = 0; i < 6; i += 3) {
        transform[i + 1] *= reduction(input, description->x_dim);
        transform[i + 2] *= reduction(input, description->y_dim);
    }
    description->has_geotransform = true;
}

/* Adds GDAL's metadata item; geotransforms describe pixel corners in both cases. */
static refs_status add_raster_type(const refs_json *tags, refs_cf_description *description,
                                   refs_error *err) {
    double type = 0;
    if (!refs_cf__number(tags, "GTRasterTypeGeoKey", &type)) return REFS_OK;
    return refs_cf__add_item(&description->metadata, "AREA_OR_POINT",
                             refs_str_from(type == (double)PIXEL_IS_POINT ? "Point" : "Area"), err);
}

/* -- the CRS ----------------------------------------------------------------------------------- */

static refs_status take_crs(refs_buf *text, refs_cf_description *description, refs_error *err) {
    return refs_buf_keep(text, &description->crs, err);
}

static refs_status crs_by_code(const refs_json *tags, refs_cf_description *description,
                               refs_error *err) {
    double code = USER_DEFINED;
    if (!refs_cf__number(tags, "ProjectedCSTypeGeoKey", &code))
        refs_cf__number(tags, "GeographicTypeGeoKey", &code);
    if (!(code > 0 && code < (double)USER_DEFINED)) return REFS_OK;
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&text, err, "EPSG:%d", (int)code));
    return take_crs(&text, description, err);
}

static refs_status crs_by_keys(const refs_cf__input *input, const refs_json *tags,
                               refs_cf_description *description, refs_error *err) {
    const refs_cf_geotiff *geotiff = &input->options.geotiff;
    REFS_SCOPED_BUF file = REFS_BUF_INIT, wkt = REFS_BUF_INIT;
    if (geotiff->read_crs == NULL) return REFS_OK;
    REFS_TRY(refs_cf__write_geokeys(tags, &file, err));
    if (file.size > 0) REFS_TRY(geotiff->read_crs(geotiff->user, refs_buf_view(&file), &wkt, err));
    if (wkt.size > 0) REFS_TRY(take_crs(&wkt, description, err));
    return REFS_OK;
}

static void find_samples(refs_cf_description *description) {
    for (size_t i = 0; i < description->n_band_axes; i++)
        if (is_letter(description->band_axes[i].name) && description->band_axes[i].name[0] == 'S')
            description->sample_axis = i;
}

refs_status refs_cf__place_tiff(const refs_cf__input *input, refs_cf_description *description,
                                refs_error *err) {
    const refs_json *tags = group_attributes(input);
    find_samples(description);
    REFS_TRY(refs_cf__describe_samples(input->array->attributes, description, err));
    if (description->x_dim == REFS_CF_NO_DIM || description->y_dim == REFS_CF_NO_DIM)
        return REFS_OK;
    place(input, tags, description);
    REFS_TRY(add_raster_type(tags, description, err));
    REFS_TRY(crs_by_keys(input, tags, description, err));
    return description->crs == NULL ? crs_by_code(tags, description, err) : REFS_OK;
}
