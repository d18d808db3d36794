/* geolocation.c -- longitude and latitude arrays for grids that no geotransform describes. */
#include "cf_internal.h"

/* In the words of GDAL's RFC 4. */
static const char wgs84[] =
    "GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563,"
    "AUTHORITY[\"EPSG\",\"7030\"]],AUTHORITY[\"EPSG\",\"6326\"]],PRIMEM[\"Greenwich\",0,"
    "AUTHORITY[\"EPSG\",\"8901\"]],UNIT[\"degree\",0.0174532925199433,"
    "AUTHORITY[\"EPSG\",\"9122\"]],AXIS[\"Latitude\",NORTH],AXIS[\"Longitude\",EAST],"
    "AUTHORITY[\"EPSG\",\"4326\"]]";

static refs_status add_items(const refs_cf__axes *axes, refs_cf_items *items, refs_error *err) {
    static const struct {
        const char *name;
        const char *value;
    } constants[] = {
        {"SRS", wgs84},      {"X_BAND", "1"},
        {"Y_BAND", "1"},     {"PIXEL_OFFSET", "0"},
        {"PIXEL_STEP", "1"}, {"LINE_OFFSET", "0"},
        {"LINE_STEP", "1"},  {"GEOREFERENCING_CONVENTION", "PIXEL_CENTER"},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
        REFS_TRY(
            refs_cf__add_item(items, constants[i].name, refs_str_from(constants[i].value), err));
    if (axes->transposed) REFS_TRY(refs_cf__add_item(items, "SWAP_XY", refs_str_from("YES"), err));
    return REFS_OK;
}

refs_status refs_cf__describe_geolocation(const refs_cf__input *input, const refs_cf__axes *axes,
                                          refs_cf_meaning *meaning, refs_error *err) {
    if (meaning->y_dim == REFS_CF_NO_DIM) return REFS_OK;
    refs_str text = refs_cf__text(input->array->attributes, "coordinates"), word;
    const refs_array_meta *x = NULL, *y = NULL;
    while (refs_cf__next_word(&text, " \t\r\n", &word)) {
        const refs_array_meta *variable =
            refs_hierarchy_resolve(input->hierarchy, input->array->group, word);
        if (variable == NULL || variable->status != REFS_OK) continue;
        if (refs_cf__is_longitude(variable))
            x = variable;
        else if (refs_cf__is_latitude(variable))
            y = variable;
    }
    if (x == NULL || y == NULL) return REFS_OK;
    meaning->geolocation_x = axes->transposed ? y : x;
    meaning->geolocation_y = axes->transposed ? x : y;
    return add_items(axes, &meaning->geolocation, err);
}
