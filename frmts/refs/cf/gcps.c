/* gcps.c -- ground control points of radar images: those of EOPF's Sentinel-1 products, in the
 * group "conditions/gcp" next to "measurements".
 *
 * Source: https://github.com/EOPF-Explorer/data-model, whose samples have latitude, longitude and
 * height along the axes of "line" and "pixel".
 */
#include "cf_internal.h"

#include <math.h>

/* More points are treated as geolocation arrays. */
#define MAX_GCPS 65536

/* The arrays of a group of points. */
typedef struct gcp_arrays {
    const refs_array_meta *latitude, *longitude, *height, *line, *pixel;
} gcp_arrays;

/* The group of the product that has the array among its "measurements". */
static bool find_product(const refs_array_meta *array, refs_str *product) {
    static const char name[] = "/measurements";
    const char *found = strstr(array->group, name);
    if (found == NULL || (found[sizeof name - 1] != '\0' && found[sizeof name - 1] != '/'))
        return false;
    *product = refs_str_part(refs_str_from(array->group), 0, (size_t)(found - array->group));
    return true;
}

static refs_status find_array(const refs_cf__input *input, refs_str product, const char *name,
                              const refs_array_meta **array, refs_error *err) {
    REFS_SCOPED_BUF path = REFS_BUF_INIT;
    refs_status status =
        refs_buf_printf(&path, err, "%.*s/conditions/gcp/%s", REFS_STR_ARG(product), name);
    if (status == REFS_OK)
        *array = refs_hierarchy_find_array(input->hierarchy, refs_buf_text(&path));
    if (status == REFS_OK && *array != NULL && (*array)->status != REFS_OK) *array = NULL;
    return status;
}

static refs_status find_arrays(const refs_cf__input *input, refs_str product, gcp_arrays *found,
                               refs_error *err) {
    REFS_TRY(find_array(input, product, "latitude", &found->latitude, err));
    REFS_TRY(find_array(input, product, "longitude", &found->longitude, err));
    REFS_TRY(find_array(input, product, "height", &found->height, err));
    REFS_TRY(find_array(input, product, "line", &found->line, err));
    return find_array(input, product, "pixel", &found->pixel, err);
}

static bool is_grid(const refs_array_meta *array, const gcp_arrays *of) {
    return array != NULL && array->rank == 2 && array->shape[0] == of->line->shape[0] &&
           array->shape[1] == of->pixel->shape[0];
}

static bool fit_together(const gcp_arrays *of) {
    uint64_t n;
    return of->line != NULL && of->line->rank == 1 && of->pixel != NULL && of->pixel->rank == 1 &&
           is_grid(of->latitude, of) && is_grid(of->longitude, of) &&
           refs_mul_u64(of->line->shape[0], of->pixel->shape[0], &n) && n > 0 && n <= MAX_GCPS;
}

/* The values of the arrays of a group. */
typedef struct gcp_values {
    double *latitude, *longitude, *height, *line, *pixel;
} gcp_values;

static void clear_values(gcp_values *values) {
    refs_free(values->latitude);
    refs_free(values->longitude);
    refs_free(values->height);
    refs_free(values->line);
    refs_free(values->pixel);
}

static refs_status read_values(const refs_cf__input *input, const gcp_arrays *of,
                               gcp_values *values, refs_error *err) {
    REFS_TRY(refs_cf__read_values(input, of->latitude, &values->latitude, err));
    REFS_TRY(refs_cf__read_values(input, of->longitude, &values->longitude, err));
    if (is_grid(of->height, of))
        REFS_TRY(refs_cf__read_values(input, of->height, &values->height, err));
    REFS_TRY(refs_cf__read_values(input, of->line, &values->line, err));
    return refs_cf__read_values(input, of->pixel, &values->pixel, err);
}

/* Whether all values were read, and lines and pixels are inside the raster: in an overview they may
 * be those of the full array. */
static bool are_within(const refs_cf__input *input, const gcp_arrays *of, const gcp_values *values,
                       const refs_cf_description *description) {
    const uint64_t *shape = input->array->shape;
    if (values->latitude == NULL || values->longitude == NULL || values->line == NULL ||
        values->pixel == NULL)
        return false;
    for (uint64_t i = 0; i < of->line->shape[0]; i++)
        if (values->line[i] > (double)shape[description->y_dim]) return false;
    for (uint64_t i = 0; i < of->pixel->shape[0]; i++)
        if (values->pixel[i] > (double)shape[description->x_dim]) return false;
    return true;
}

/* Skips points with NaN. */
static refs_status add_points(const refs_cf__input *input, const gcp_arrays *of,
                              const gcp_values *values, refs_cf_description *description,
                              refs_error *err) {
    const size_t n_lines = (size_t)of->line->shape[0], n_pixels = (size_t)of->pixel->shape[0];
    const double height = (double)input->array->shape[description->y_dim];
    REFS_NEW(description->gcps, n_lines * n_pixels, err);
    description->has_geotransform = false;
    for (size_t i = 0; i < n_lines * n_pixels; i++) {
        double line = values->line[i / n_pixels];
        const refs_cf_gcp gcp = {values->pixel[i % n_pixels],
                                 description->flip_y ? height - line : line, values->longitude[i],
                                 values->latitude[i],
                                 values->height != NULL ? values->height[i] : 0};
        if (isfinite(gcp.x) && isfinite(gcp.y) && isfinite(gcp.pixel) && isfinite(gcp.line))
            description->gcps[description->n_gcps++] = gcp;
    }
    return REFS_OK;
}

refs_status refs_cf__describe_gcps(const refs_cf__input *input, refs_cf_description *description,
                                   refs_error *err) {
    refs_str product;
    gcp_arrays of = {NULL, NULL, NULL, NULL, NULL};
    gcp_values values = {NULL, NULL, NULL, NULL, NULL};
    if (description->y_dim == REFS_CF_NO_DIM || description->crs != NULL ||
        description->geolocation_x != NULL || !find_product(input->array, &product))
        return REFS_OK;
    REFS_TRY(find_arrays(input, product, &of, err));
    if (!fit_together(&of)) return REFS_OK;
    refs_status status = read_values(input, &of, &values, err);
    if (status == REFS_OK && are_within(input, &of, &values, description))
        status = add_points(input, &of, &values, description, err);
    clear_values(&values);
    return status;
}
