/* qgis_layer.c -- see qgis_layer.h. */
#include "qgis_layer.h"

#include <stdio.h>

/* Values of Qgis::RasterTemporalMode. */
enum { FIXED_RANGE = 0, RANGE_PER_BAND = 3 };

/* The colour map Viridis of Matplotlib (CC0), at fifths. */
static const struct {
    unsigned red, green, blue;
} colors[] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};

#define N_COLORS (sizeof colors / sizeof colors[0])

static refs_status append(refs_buf *xml, const char *text, refs_error *err) {
    return refs_buf_append_str(xml, refs_str_from(text), err);
}

static refs_status append_escaped(refs_buf *xml, const char *text, refs_error *err) {
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&' || c == '<' || c == '>' || c == '"')
            REFS_TRY(refs_buf_printf(xml, err, "&#%u;", c));
        else if (c >= ' ' || c == '\t' || c == '\n') /* others are in no XML */
            REFS_TRY(refs_buf_append(xml, text, 1, err));
    }
    return REFS_OK;
}

static refs_status append_element(refs_buf *xml, const char *name, const char *text,
                                  refs_error *err) {
    REFS_TRY(refs_buf_printf(xml, err, "<%s>", name));
    REFS_TRY(append_escaped(xml, text, err));
    return refs_buf_printf(xml, err, "</%s>\n", name);
}

/* -- colours ----------------------------------------------------------------------------------- */

static refs_status append_stops(refs_buf *xml, refs_error *err) {
    for (size_t i = 1; i + 1 < N_COLORS; i++)
        REFS_TRY(refs_buf_printf(xml, err, "%s%g;%u,%u,%u,255", i > 1 ? ":" : "",
                                 (double)i / (N_COLORS - 1), colors[i].red, colors[i].green,
                                 colors[i].blue));
    return REFS_OK;
}

static refs_status append_ramp(refs_buf *xml, refs_error *err) {
    const size_t last = N_COLORS - 1;
    REFS_TRY(refs_buf_printf(xml, err,
                             "<colorramp name=\"[source]\" type=\"gradient\"><Option type=\"Map\">"
                             "<Option name=\"color1\" type=\"QString\" value=\"%u,%u,%u,255\"/>"
                             "<Option name=\"color2\" type=\"QString\" value=\"%u,%u,%u,255\"/>"
                             "<Option name=\"discrete\" type=\"QString\" value=\"0\"/>"
                             "<Option name=\"rampType\" type=\"QString\" value=\"gradient\"/>"
                             "<Option name=\"stops\" type=\"QString\" value=\"",
                             colors[0].red, colors[0].green, colors[0].blue, colors[last].red,
                             colors[last].green, colors[last].blue));
    REFS_TRY(append_stops(xml, err));
    return append(xml, "\"/></Option></colorramp>\n", err);
}

static refs_status append_items(const qgis_raster *raster, refs_buf *xml, refs_error *err) {
    for (size_t i = 0; i < N_COLORS; i++) {
        double value = raster->least + (raster->most - raster->least) * (double)i / (N_COLORS - 1);
        REFS_TRY(refs_buf_printf(xml, err,
                                 "<item alpha=\"255\" value=\"%.9g\" color=\"#%02x%02x%02x\" "
                                 "label=\"%.4g",
                                 value, colors[i].red, colors[i].green, colors[i].blue, value));
        if (raster->unit != NULL) {
            REFS_TRY(append(xml, " ", err));
            REFS_TRY(append_escaped(xml, raster->unit, err));
        }
        REFS_TRY(append(xml, "\"/>\n", err));
    }
    return REFS_OK;
}

static refs_status append_renderer(const qgis_raster *raster, refs_buf *xml, refs_error *err) {
    REFS_TRY(refs_buf_printf(
        xml, err,
        "<pipe><rasterrenderer type=\"singlebandpseudocolor\" band=\"1\" opacity=\"1\" "
        "alphaBand=\"-1\" classificationMin=\"%.9g\" classificationMax=\"%.9g\">\n"
        "<minMaxOrigin><limits>None</limits></minMaxOrigin>\n<rastershader><colorrampshader "
        "colorRampType=\"INTERPOLATED\" classificationMode=\"1\" clip=\"0\" "
        "minimumValue=\"%.9g\" maximumValue=\"%.9g\">\n",
        raster->least, raster->most, raster->least, raster->most));
    REFS_TRY(append_ramp(xml, err));
    REFS_TRY(append_items(raster, xml, err));
    return append(xml, "</colorrampshader></rastershader></rasterrenderer></pipe>\n", err);
}

/* One of the layers: of all periods, or of one. QGIS takes identifiers of more than ten characters
 * for such. */
typedef struct layer {
    size_t number; /* from 0 */
    size_t first, n;
    int mode;
} layer;

/* -- times ------------------------------------------------------------------------------------- */

static refs_status append_temporal(const qgis_raster *raster, const layer *one, refs_buf *xml,
                                   refs_error *err) {
    const size_t first = one->first, n = one->n;
    const int mode = one->mode;
    if (raster->periods == NULL) return REFS_OK;
    REFS_TRY(
        refs_buf_printf(xml, err, "<temporal enabled=\"1\" mode=\"%d\" fetchMode=\"0\">\n", mode));
    REFS_TRY(refs_buf_printf(xml, err,
                             "<fixedRange><start>%sZ</start><end>%sZ</end></fixedRange>\n",
                             raster->periods[first].begin, raster->periods[first + n - 1].last));
    if (mode == RANGE_PER_BAND) REFS_TRY(append(xml, "<ranges>\n", err));
    for (size_t i = 0; i < n && mode == RANGE_PER_BAND; i++)
        REFS_TRY(refs_buf_printf(xml, err,
                                 "<range band=\"%zu\" begin=\"%sZ\" end=\"%sZ\" "
                                 "includeBeginning=\"1\" includeEnd=\"0\"/>\n",
                                 first + i + 1, raster->periods[first + i].begin,
                                 raster->periods[first + i].end));
    if (mode == RANGE_PER_BAND) REFS_TRY(append(xml, "</ranges>\n", err));
    return append(xml, "</temporal>\n", err);
}

/* -- layers ------------------------------------------------------------------------------------ */

static layer layer_of_all(const qgis_raster *raster) {
    return (layer){0, 0, raster->n_periods, RANGE_PER_BAND};
}

static layer layer_of_one(size_t i) {
    return (layer){i, i, 1, FIXED_RANGE};
}

/* Of a layer of one time a selection is behind the name; there may be one already. */
static refs_status append_source(const qgis_raster *raster, const layer *one, refs_buf *xml,
                                 refs_error *err) {
    size_t size = strlen(raster->source);
    if (one->mode != FIXED_RANGE) return append_escaped(xml, raster->source, err);
    bool has_selection = size > 0 && raster->source[size - 1] == ']';
    refs_buf text = REFS_BUF_INIT;
    refs_status status =
        refs_buf_append(&text, raster->source, has_selection ? size - 1 : size, err);
    if (status == REFS_OK)
        status = refs_buf_printf(&text, err, "%s%s=#%zu]%c", has_selection ? "," : "[",
                                 raster->time_dim, one->first, '\0');
    if (status == REFS_OK) status = append_escaped(xml, (const char *)text.data, err);
    refs_buf_clear(&text);
    return status;
}

static refs_status append_title(const qgis_raster *raster, const layer *one, refs_buf *xml,
                                refs_error *err) {
    REFS_TRY(append_escaped(xml, raster->title, err));
    if (one->mode != FIXED_RANGE) return REFS_OK;
    return refs_buf_printf(xml, err, " %s", raster->periods[one->first].begin);
}

static refs_status append_tree_layer(const qgis_raster *raster, const layer *one, refs_buf *xml,
                                     refs_error *err) {
    REFS_TRY(refs_buf_printf(xml, err,
                             "<layer-tree-layer id=\"refs_raster_layer_%zu\" providerKey=\"gdal\" "
                             "checked=\"Qt::Checked\" expanded=\"0\" name=\"",
                             one->number));
    REFS_TRY(append_title(raster, one, xml, err));
    REFS_TRY(append(xml, "\" source=\"", err));
    REFS_TRY(append_source(raster, one, xml, err));
    return append(xml, "\"><customproperties/></layer-tree-layer>\n", err);
}

/* Else QGIS has none for the layer. */
static refs_status append_crs(const qgis_raster *raster, refs_buf *xml, refs_error *err) {
    if (raster->crs == NULL) return REFS_OK;
    bool is_wkt = strchr(raster->crs, '[') != NULL;
    REFS_TRY(append(xml, "<srs><spatialrefsys>", err));
    REFS_TRY(append_element(xml, is_wkt ? "wkt" : "authid", raster->crs, err));
    return append(xml, "</spatialrefsys></srs>\n", err);
}

static refs_status append_map_layer(const qgis_raster *raster, const layer *one, refs_buf *xml,
                                    refs_error *err) {
    REFS_TRY(refs_buf_printf(
        xml, err, "<maplayer type=\"raster\">\n<id>refs_raster_layer_%zu</id>\n<datasource>",
        one->number));
    REFS_TRY(append_source(raster, one, xml, err));
    REFS_TRY(append(xml, "</datasource>\n<layername>", err));
    REFS_TRY(append_title(raster, one, xml, err));
    REFS_TRY(append(xml, "</layername>\n", err));
    REFS_TRY(append_crs(raster, xml, err));
    REFS_TRY(append_element(xml, "provider", "gdal", err));
    REFS_TRY(append_temporal(raster, one, xml, err));
    REFS_TRY(append_renderer(raster, xml, err));
    return append(xml, "</maplayer>\n", err);
}

/* How many there are; what has no periods is one layer. */
static size_t count_layers(const qgis_raster *raster, qgis_form form) {
    return form == QGIS_LAYER_OF_PERIOD && raster->periods != NULL ? raster->n_periods : 1;
}

static layer layer_number(const qgis_raster *raster, qgis_form form, size_t i) {
    bool is_whole = form == QGIS_ONE_LAYER || raster->periods == NULL;
    return is_whole ? layer_of_all(raster) : layer_of_one(i);
}

static refs_status append_tree(const qgis_raster *raster, qgis_form form, refs_buf *xml,
                               refs_error *err) {
    static const char root[] = "<layer-tree-group name=\"\" expanded=\"1\" "
                               "checked=\"Qt::Checked\"><customproperties/>\n";
    bool is_group = form == QGIS_LAYER_OF_PERIOD && raster->periods != NULL;
    REFS_TRY(append(xml, root, err));
    if (is_group) {
        REFS_TRY(
            append(xml, "<layer-tree-group expanded=\"0\" checked=\"Qt::Checked\" name=\"", err));
        REFS_TRY(append_escaped(xml, raster->title, err));
        REFS_TRY(append(xml, "\"><customproperties/>\n", err));
    }
    for (size_t i = 0; i < count_layers(raster, form); i++) {
        const layer one = layer_number(raster, form, i);
        REFS_TRY(append_tree_layer(raster, &one, xml, err));
    }
    return append(
        xml, is_group ? "</layer-tree-group></layer-tree-group>\n" : "</layer-tree-group>\n", err);
}

static refs_status append_map_layers(const qgis_raster *raster, qgis_form form, refs_buf *xml,
                                     refs_error *err) {
    for (size_t i = 0; i < count_layers(raster, form); i++) {
        const layer one = layer_number(raster, form, i);
        REFS_TRY(append_map_layer(raster, &one, xml, err));
    }
    return REFS_OK;
}

refs_status qgis_write_definition(const qgis_raster *raster, qgis_form form, refs_buf *xml,
                                  refs_error *err) {
    REFS_TRY(append(xml, "<!DOCTYPE qgis-layer-definition>\n<qlr>\n", err));
    REFS_TRY(append_tree(raster, form, xml, err));
    REFS_TRY(append(xml, "<maplayers>\n", err));
    REFS_TRY(append_map_layers(raster, form, xml, err));
    return append(xml, "</maplayers>\n</qlr>\n", err);
}

static refs_status append_time_settings(const qgis_raster *raster, refs_buf *xml, refs_error *err) {
    if (raster->periods == NULL) return REFS_OK;
    return refs_buf_printf(xml, err,
                           "<ProjectTimeSettings frameRate=\"2\" cumulativeTemporalRange=\"0\">"
                           "<TemporalRange><start>%sZ</start><end>%sZ</end></TemporalRange>"
                           "</ProjectTimeSettings>\n",
                           raster->periods[0].begin, raster->periods[raster->n_periods - 1].end);
}

refs_status qgis_write_project(const qgis_raster *raster, qgis_form form, refs_buf *xml,
                               refs_error *err) {
    REFS_TRY(append(xml,
                    "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n"
                    "<qgis version=\"3.22.0\" projectname=\"\">\n",
                    err));
    REFS_TRY(append_element(xml, "title", raster->title, err));
    REFS_TRY(append_tree(raster, form, xml, err));
    REFS_TRY(append(xml, "<projectlayers>\n", err));
    REFS_TRY(append_map_layers(raster, form, xml, err));
    REFS_TRY(append(xml, "</projectlayers>\n", err));
    REFS_TRY(append_time_settings(raster, xml, err));
    return append(xml, "</qgis>\n", err);
}
