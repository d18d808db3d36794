/* qgis_layer.c -- see qgis_layer.h. */
#include "qgis_layer.h"

#include <stdio.h>

#include "refs/json.h"

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

/* A frame of the temporal controller ends where the next one begins, and QGIS 3.22 takes a layer
 * that begins there for one of both: it would be read, and identified, with the frame before. So
 * layers of one time begin a millisecond later. */
static refs_status append_temporal(const qgis_raster *raster, const layer *one, refs_buf *xml,
                                   refs_error *err) {
    const size_t first = one->first, n = one->n;
    const int mode = one->mode;
    if (raster->periods == NULL) return REFS_OK;
    REFS_TRY(
        refs_buf_printf(xml, err, "<temporal enabled=\"1\" mode=\"%d\" fetchMode=\"0\">\n", mode));
    const char *begin = raster->periods[first].begin;
    const char *later = strlen(begin) == sizeof "2024-06-01T00:00:00" - 1 ? ".001" : "";
    REFS_TRY(refs_buf_printf(
        xml, err, "<fixedRange><start>%s%sZ</start><end>%sZ</end></fixedRange>\n", begin,
        mode == FIXED_RANGE ? later : "", raster->periods[first + n - 1].last));
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

/* Of a layer of one time a selection is behind the name; there may be one already. Options come
 * last. */
static refs_status append_source(const qgis_raster *raster, const layer *one, refs_buf *xml,
                                 refs_error *err) {
    size_t size = strlen(raster->source);
    if (one->mode != FIXED_RANGE) {
        REFS_TRY(append_escaped(xml, raster->source, err));
        return append_escaped(xml, raster->options, err);
    }
    bool has_selection = size > 0 && raster->source[size - 1] == ']';
    refs_buf text = REFS_BUF_INIT;
    refs_status status =
        refs_buf_append(&text, raster->source, has_selection ? size - 1 : size, err);
    if (status == REFS_OK)
        status = refs_buf_printf(&text, err, "%s%s=#%zu]%s%c", has_selection ? "," : "[",
                                 raster->time_dim, one->first, raster->options, '\0');
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

/* -- reference systems ------------------------------------------------------------------------- */

/* The forms in which QGIS reads a reference system; NULL or "" where it is not known in one. */
typedef struct crs_forms {
    char authid[64]; /* AUTHORITY:CODE */
    const char *wkt;
    char proj4[128];
} crs_forms;

/* WGS 84, longitude and latitude: what most sets have. */
static const char wgs84_wkt[] =
    "GEOGCRS[\"WGS 84\",DATUM[\"World Geodetic System 1984\",ELLIPSOID[\"WGS "
    "84\",6378137,298.257223563,LENGTHUNIT[\"metre\",1]]],PRIMEM[\"Greenwich\",0,ANGLEUNIT["
    "\"degree\",0.0174532925199433]],CS[ellipsoidal,2],AXIS[\"geodetic latitude "
    "(Lat)\",north,ORDER[1],ANGLEUNIT[\"degree\",0.0174532925199433]],AXIS[\"geodetic longitude "
    "(Lon)\",east,ORDER[2],ANGLEUNIT[\"degree\",0.0174532925199433]],ID[\"EPSG\",4326]]";

/* UTM on WGS 84 has EPSG's codes 32601 to 32660, and 32701 to 32760 in the south. */
static void add_known_forms(crs_forms *forms) {
    int code = 0;
    if (sscanf(forms->authid, "EPSG:%d", &code) != 1) return;
    const int zone = code % 100;
    if (code == 4326) {
        forms->wkt = wgs84_wkt;
        snprintf(forms->proj4, sizeof forms->proj4, "+proj=longlat +datum=WGS84 +no_defs");
    } else if ((code / 100 == 326 || code / 100 == 327) && zone >= 1 && zone <= 60) {
        snprintf(forms->proj4, sizeof forms->proj4,
                 "+proj=utm +zone=%d%s +datum=WGS84 +units=m +no_defs", zone,
                 code / 100 == 327 ? " +south" : "");
    }
}

/* PROJJSON names its code, or there is no form that QGIS reads. */
static void read_projjson(const char *text, crs_forms *forms) {
    refs_json_doc *doc = NULL;
    if (refs_json_parse(refs_str_from(text), &doc, NULL) != REFS_OK) return;
    const refs_json *id = refs_json_get(refs_json_root(doc), "id");
    const refs_str authority = refs_json_text(refs_json_get(id, "authority"));
    int64_t code = 0;
    if (authority.size > 0 && refs_json_i64(refs_json_get(id, "code"), &code))
        snprintf(forms->authid, sizeof forms->authid, "%.*s:%lld", (int)authority.size,
                 authority.data, (long long)code);
    refs_json_doc_free(doc);
}

static crs_forms forms_of(const char *crs) {
    crs_forms forms = {.wkt = NULL};
    if (crs[0] == '{')
        read_projjson(crs, &forms);
    else if (strchr(crs, '[') != NULL)
        forms.wkt = crs;
    else
        snprintf(forms.authid, sizeof forms.authid, "%s", crs);
    add_known_forms(&forms);
    return forms;
}

/* QGIS reads an authority's code only beside an identifier of its own database, which may be any of
 * 1 to 99999; then WKT, and then PROJ's string. */
static refs_status append_crs(const qgis_raster *raster, refs_buf *xml, refs_error *err) {
    if (raster->crs == NULL) return REFS_OK;
    const crs_forms forms = forms_of(raster->crs);
    REFS_TRY(append(xml, "<spatialrefsys>\n", err));
    if (forms.wkt != NULL) REFS_TRY(append_element(xml, "wkt", forms.wkt, err));
    if (forms.proj4[0] != '\0') REFS_TRY(append_element(xml, "proj4", forms.proj4, err));
    if (forms.authid[0] != '\0') {
        REFS_TRY(append_element(xml, "srsid", "1", err));
        REFS_TRY(append_element(xml, "authid", forms.authid, err));
    }
    return append(xml, "</spatialrefsys>\n", err);
}

/* The same within an element. */
static refs_status append_crs_in(const qgis_raster *raster, const char *name, refs_buf *xml,
                                 refs_error *err) {
    if (raster->crs == NULL) return REFS_OK;
    REFS_TRY(refs_buf_printf(xml, err, "<%s>", name));
    REFS_TRY(append_crs(raster, xml, err));
    return refs_buf_printf(xml, err, "</%s>\n", name);
}

static refs_status append_extent(const qgis_raster *raster, refs_buf *xml, refs_error *err) {
    const double *at = raster->extent;
    if (!raster->has_extent) return REFS_OK;
    return refs_buf_printf(xml, err,
                           "<extent><xmin>%.17g</xmin><ymin>%.17g</ymin><xmax>%.17g</xmax>"
                           "<ymax>%.17g</ymax></extent>\n",
                           at[0], at[1], at[2], at[3]);
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
    REFS_TRY(append_crs_in(raster, "srs", xml, err));
    REFS_TRY(append_extent(raster, xml, err));
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
    const qgis_period *first = &raster->periods[0];
    const qgis_period *last = &raster->periods[raster->n_periods - 1];
    return refs_buf_printf(xml, err,
                           "<ProjectTimeSettings timeStepUnit=\"%s\" timeStep=\"%.9g\" "
                           "frameRate=\"2\" cumulativeTemporalRange=\"0\">"
                           "<TemporalRange><start>%sZ</start><end>%sZ</end></TemporalRange>"
                           "</ProjectTimeSettings>\n",
                           raster->step_unit, raster->step, first->begin, last->end);
}

/* Where the map begins: versions differ in which of the two they read. */
static refs_status append_view(const qgis_raster *raster, refs_buf *xml, refs_error *err) {
    const double *at = raster->extent;
    if (raster->crs != NULL)
        REFS_TRY(append(xml,
                        "<properties><SpatialRefSys><ProjectionsEnabled type=\"int\">1"
                        "</ProjectionsEnabled></SpatialRefSys></properties>\n",
                        err));
    REFS_TRY(append_crs_in(raster, "projectCrs", xml, err));
    if (!raster->has_extent) return REFS_OK;
    REFS_TRY(append(xml, "<mapcanvas name=\"theMapCanvas\">\n", err));
    REFS_TRY(append_extent(raster, xml, err));
    REFS_TRY(append_crs_in(raster, "destinationsrs", xml, err));
    REFS_TRY(refs_buf_printf(xml, err,
                             "</mapcanvas>\n<ProjectViewSettings UseProjectScales=\"0\">"
                             "<DefaultViewExtent xmin=\"%.17g\" ymin=\"%.17g\" xmax=\"%.17g\" "
                             "ymax=\"%.17g\">\n",
                             at[0], at[1], at[2], at[3]));
    REFS_TRY(append_crs(raster, xml, err));
    return append(xml, "</DefaultViewExtent></ProjectViewSettings>\n", err);
}

refs_status qgis_write_project(const qgis_raster *raster, qgis_form form, refs_buf *xml,
                               refs_error *err) {
    REFS_TRY(append(xml,
                    "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n"
                    "<qgis version=\"3.22.0\" projectname=\"\">\n",
                    err));
    REFS_TRY(append_element(xml, "title", raster->title, err));
    REFS_TRY(append_view(raster, xml, err));
    REFS_TRY(append_tree(raster, form, xml, err));
    REFS_TRY(append(xml, "<projectlayers>\n", err));
    REFS_TRY(append_map_layers(raster, form, xml, err));
    REFS_TRY(append(xml, "</projectlayers>\n", err));
    REFS_TRY(append_time_settings(raster, xml, err));
    return append(xml, "</qgis>\n", err);
}

/* -- archives ---------------------------------------------------------------------------------- */

/* ISO 3309, bit by bit. */
static uint32_t crc_of(refs_bytes bytes) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= bytes.data[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (UINT32_C(0xEDB88320) & -(crc & 1));
    }
    return ~crc;
}

/* Appends numbers in little-endian bytes: widths has a digit for each. */
static refs_status append_numbers(refs_buf *zip, const char *widths, const uint32_t *numbers,
                                  refs_error *err) {
    for (; *widths != '\0'; widths++, numbers++)
        for (int byte = 0; byte < *widths - '0'; byte++) {
            const uint8_t one = (uint8_t)(*numbers >> 8 * byte);
            REFS_TRY(refs_buf_append(zip, &one, 1, err));
        }
    return REFS_OK;
}

/* APPNOTE.TXT 4.3: one file that is stored without compression. */
refs_status qgis_archive_project(refs_buf *project, refs_error *err) {
    static const char name[] = "project.qgs";
    enum { NAME = sizeof name - 1, VERSION = 10, HEADER = 30, ENTRY = 46, NEW_YEAR_1980 = 0x21 };
    const refs_bytes content = refs_buf_view(project);
    if (content.size > UINT32_MAX - 1024)
        return refs_fail(err, REFS_LIMIT,
                         "the project has %zu bytes, more than a .qgz of 4 GiB holds: write a .qgs",
                         content.size);
    const uint32_t crc = crc_of(content), size = (uint32_t)content.size;
    const uint32_t begin = HEADER + NAME + size;
    const uint32_t local[] = {0x04034b50, VERSION, 0,    0,    0, NEW_YEAR_1980,
                              crc,        size,    size, NAME, 0};
    const uint32_t entry[] = {0x02014b50, VERSION, VERSION, 0,    0, 0, NEW_YEAR_1980,
                              crc,        size,    size,    NAME, 0, 0, 0,
                              0,          0,       0};
    const uint32_t end[] = {0x06054b50, 0, 0, 1, 1, ENTRY + NAME, begin, 0};
    refs_buf zip = REFS_BUF_INIT;
    refs_status status = append_numbers(&zip, "42222244422", local, err);
    if (status == REFS_OK) status = append(&zip, name, err);
    if (status == REFS_OK) status = refs_buf_append(&zip, content.data, content.size, err);
    if (status == REFS_OK) status = append_numbers(&zip, "42222224442222244", entry, err);
    if (status == REFS_OK) status = append(&zip, name, err);
    if (status == REFS_OK) status = append_numbers(&zip, "42222442", end, err);
    refs_buf_clear(status == REFS_OK ? project : &zip);
    if (status == REFS_OK) *project = zip;
    return status;
}
