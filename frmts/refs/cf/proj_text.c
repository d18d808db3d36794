/* proj_text.c -- interprets CRS texts by PROJ. The only file that uses PROJ. */
#include "cf_internal.h"
#include "one_crs.h"

#include <ctype.h>
#include <math.h>
#include <proj.h>

static void be_silent(void *user, int level, const char *message) {
    (void)user;
    (void)level;
    (void)message;
}

static double unit_of_axes(PJ_CONTEXT *context, const PJ *crs) {
    double factor = 1;
    PJ *system = proj_crs_get_coordinate_system(context, crs);
    if (system != NULL)
        proj_cs_get_axis_info(context, system, 0, NULL, NULL, NULL, &factor, NULL, NULL, NULL);
    proj_destroy(system);
    return factor > 0 ? factor : 1;
}

/* The height of the satellite if `crs` is a geostationary projection, else zero. */
static double satellite_height(PJ_CONTEXT *context, const PJ *crs) {
    double height = 0, factor = 1;
    PJ *conversion = proj_crs_get_coordoperation(context, crs);
    int n = conversion != NULL ? proj_coordoperation_get_param_count(context, conversion) : 0;
    for (int i = 0; i < n; i++) {
        const char *name = NULL;
        double value = 0;
        if (proj_coordoperation_get_param(context, conversion, i, &name, NULL, NULL, &value, NULL,
                                          &factor, NULL, NULL, NULL, NULL) &&
            name != NULL && strcmp(name, "Satellite Height") == 0)
            height = value * factor;
    }
    proj_destroy(conversion);
    return height;
}

/* The horizontal CRS in `crs`; frees `crs` if it is another one. */
static PJ *horizontal(PJ_CONTEXT *context, PJ *crs) {
    PJ *inner = NULL;
    switch (proj_get_type(crs)) {
    case PJ_TYPE_COMPOUND_CRS:
        inner = proj_crs_get_sub_crs(context, crs, 0);
        break;
    case PJ_TYPE_BOUND_CRS:
        inner = proj_get_source_crs(context, crs);
        break;
    default:
        return crs;
    }
    proj_destroy(crs);
    return inner;
}

static void inspect(PJ_CONTEXT *context, const PJ *object, refs_cf__crs *crs) {
    switch (proj_get_type(object)) {
    case PJ_TYPE_GEOGRAPHIC_2D_CRS:
    case PJ_TYPE_GEOGRAPHIC_3D_CRS:
        crs->kind = REFS_CF__CRS_GEOGRAPHIC;
        break;
    case PJ_TYPE_PROJECTED_CRS:
        crs->kind = REFS_CF__CRS_PROJECTED;
        crs->unit_metres = unit_of_axes(context, object);
        crs->height_metres = satellite_height(context, object);
        break;
    case PJ_TYPE_VERTICAL_CRS: /* places no raster */
        break;
    default:
        if (proj_is_crs(object)) crs->kind = REFS_CF__CRS_OTHER;
        break;
    }
}

/* A context for one call: PROJ's must not be shared between threads. NULL when memory ran out. */
static PJ_CONTEXT *open_context(void) {
    PJ_CONTEXT *context = proj_context_create();
    if (context != NULL) proj_log_func(context, NULL, be_silent);
    return context;
}

void refs_cf__crs_inspect(const char *text, refs_cf__crs *crs) {
    PJ_CONTEXT *context = open_context();
    if (context == NULL) return;
    PJ *object = proj_create(context, text);
    if (object != NULL) object = horizontal(context, object);
    if (object != NULL) inspect(context, object, crs);
    proj_destroy(object);
    proj_context_destroy(context);
}

/* The source CRS of `crs`, which is freed, or `crs` itself. */
static PJ *base_of(PJ_CONTEXT *context, PJ *crs) {
    for (PJ *base; crs != NULL && (base = proj_get_source_crs(context, crs)) != NULL; crs = base)
        proj_destroy(crs);
    return crs;
}

static refs_status print_wkt(PJ_CONTEXT *context, const PJ *object, refs_buf *wkt,
                             refs_error *err) {
    static const char *const options[] = {"MULTILINE=NO", NULL};
    const char *made = object != NULL ? proj_as_wkt(context, object, PJ_WKT2_2019, options) : NULL;
    return made != NULL ? refs_buf_append_str(wkt, refs_str_from(made), err) : REFS_OK;
}

refs_status refs_cf__print_base(const char *text, refs_buf *wkt, refs_error *err) {
    PJ_CONTEXT *context = open_context();
    if (context == NULL) return REFS_OK;
    PJ *crs = proj_create(context, text);
    if (crs != NULL) crs = horizontal(context, crs);
    crs = base_of(context, crs);
    refs_cf__crs found = {REFS_CF__CRS_NONE, NULL, 1, 0};
    if (crs != NULL) inspect(context, crs, &found);
    refs_status status =
        found.kind == REFS_CF__CRS_GEOGRAPHIC ? print_wkt(context, crs, wkt, err) : REFS_OK;
    proj_destroy(crs);
    proj_context_destroy(context);
    return status;
}

/* Whether the text is a PROJ string, which PROJ reads as an operation without +type=crs; parameters
 * may have any order. */
static bool is_proj_string(refs_str text) {
    refs_str word;
    bool any = false;
    while (refs_str_next_word(&text, REFS_BLANKS, &word)) {
        if (refs_str_starts(word, "+type=")) return false;
        any = any || refs_str_starts(word, "+proj=");
    }
    return any;
}

/* Whether the names are equal but for blanks and case. */
static bool same_name(refs_str text, const char *name) {
    size_t i = 0;
    for (; name != NULL && *name != '\0'; name++) {
        if (*name == ' ') continue;
        while (i < text.size && text.data[i] == ' ') i++;
        if (i == text.size || tolower((unsigned char)text.data[i]) != tolower((unsigned char)*name))
            return false;
        i++;
    }
    return i == text.size;
}

/* PROJ finds objects by a part of their name: "null" finds the height "Wiener Null". A text that is
 * not a code, a PROJ string, WKT or JSON must be the complete name. */
static bool is_named(refs_str text, const PJ *object) {
    for (size_t i = 0; i < text.size; i++)
        if (strchr(":=[{", text.data[i]) != NULL) return true;
    return same_name(text, proj_get_name(object));
}

static bool places_rasters(const PJ *object) {
    return proj_is_crs(object) && proj_get_type(object) != PJ_TYPE_VERTICAL_CRS;
}

refs_status refs_cf__expand_crs_name(refs_str name, refs_buf *wkt, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    const char *type = is_proj_string(name) ? " +type=crs" : "";
    refs_status status = refs_buf_append_str(&text, name, err);
    if (status == REFS_OK) status = refs_buf_printf(&text, err, "%s", type);
    PJ_CONTEXT *context = status == REFS_OK ? open_context() : NULL;
    if (context != NULL) {
        PJ *object = proj_create(context, (const char *)text.data);
        if (object != NULL && places_rasters(object) && is_named(name, object))
            status = print_wkt(context, object, wkt, err);
        proj_destroy(object);
        proj_context_destroy(context);
    }
    return status;
}

static PJ *create_crs(PJ_CONTEXT *context, refs_str text) {
    REFS_SCOPED char *copy = refs_str_copy(text);
    return copy != NULL ? proj_create(context, copy) : NULL;
}

bool refs_cf_are_one_crs(refs_str a, refs_str b) {
    PJ_CONTEXT *context = open_context();
    if (context == NULL) return false;
    PJ *one = create_crs(context, a), *other = create_crs(context, b);
    const bool are =
        one != NULL && other != NULL && proj_is_crs(one) && proj_is_crs(other) &&
        proj_is_equivalent_to(one, other, PJ_COMP_EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS) != 0;
    proj_destroy(one);
    proj_destroy(other);
    proj_context_destroy(context);
    return are;
}

/* From longitudes and latitudes, in this order, to `crs`. */
static PJ *open_projection(PJ_CONTEXT *context, const PJ *crs) {
    PJ *base = proj_crs_get_geodetic_crs(context, crs);
    PJ *both = base != NULL ? proj_create_crs_to_crs_from_pj(context, base, crs, NULL, NULL) : NULL;
    PJ *ordered = both != NULL ? proj_normalize_for_visualization(context, both) : NULL;
    proj_destroy(both);
    proj_destroy(base);
    return ordered;
}

bool refs_cf__project(const char *text, double *x, double *y) {
    PJ_CONTEXT *context = open_context();
    if (context == NULL) return false;
    PJ *crs = proj_create(context, text);
    PJ *projection = crs != NULL ? open_projection(context, crs) : NULL;
    bool projected = false;
    if (projection != NULL) {
        PJ_COORD at = proj_trans(projection, PJ_FWD, proj_coord(*x, *y, 0, 0));
        projected = at.xy.x < HUGE_VAL && at.xy.y < HUGE_VAL;
        *x = at.xy.x;
        *y = at.xy.y;
    }
    proj_destroy(projection);
    proj_destroy(crs);
    proj_context_destroy(context);
    return projected;
}
