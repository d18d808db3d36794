/* geozarr.c -- the Zarr conventions "proj:" and "spatial:", as GDAL's Zarr driver reads them.
 *
 * Source: github.com/zarr-experimental/geo-proj and github.com/zarr-conventions/spatial, both
 * version 1. An array or a group that follows one lists its UUID; attributes of a group hold for
 * all arrays below it without such attributes. Both take precedence over CF. EOPF products put
 * attributes of STAC's projection extension on arrays and list no convention; those count if CF
 * gives no geotransform.
 */
#include "cf_internal.h"

#include <math.h>

#define PROJ_UUID    "f17cb550-5864-4468-aeb7-f3180cfb622f"
#define SPATIAL_UUID "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"

/* -- declared conventions ---------------------------------------------------------------------- */

static bool follows(const refs_json *attributes, const char *uuid) {
    const refs_json *list = refs_json_get(attributes, "zarr_conventions");
    for (size_t i = 0; i < refs_json_size(list); i++)
        if (refs_str_is(refs_json_text(refs_json_get(refs_json_at(list, i), "uuid")), uuid))
            return true;
    return false;
}

/* The attributes of the array, or of the nearest group above it, that follow a convention; NULL if
 * none do. Sets *speaker to that group. */
static const refs_json *find_attributes(const refs_cf__input *input, const char *uuid,
                                        const refs_group_meta **speaker) {
    if (follows(input->array->attributes, uuid)) return input->array->attributes;
    refs_str path = refs_str_from(input->array->group);
    for (;;) {
        const refs_group_meta *group = refs_hierarchy_find_group(input->hierarchy, path);
        if (group != NULL && follows(group->attributes, uuid)) {
            *speaker = group;
            return group->attributes;
        }
        if (path.size == 0) return NULL;
        path = refs_path_parent(path);
    }
}

static bool says(const refs_json *attributes, const char *name) {
    return refs_json_kind_of(refs_json_get(attributes, name)) != REFS_JSON_KIND_NULL;
}

/* -- proj: ------------------------------------------------------------------------------------- */

/* Sets the CRS to that of `text`, if PROJ knows it. */
static refs_status take_crs(refs_str text, refs_cf_description *description, bool *taken,
                            refs_error *err) {
    REFS_SCOPED_BUF wkt = REFS_BUF_INIT;
    if (text.size == 0 || *taken) return REFS_OK;
    refs_status status = refs_cf__expand_crs_name(text, &wkt, err);
    if (status == REFS_OK && wkt.size > 0) {
        char *crs = refs_buf_take_text(&wkt);
        if (crs == NULL) status = refs_fail_nomem(err);
        refs_free(description->crs);
        description->crs = crs;
        description->crs_assumed = false;
        *taken = status == REFS_OK;
    }
    return status;
}

/* `value` is an object, or a text that contains one. */
static refs_status take_projjson(const refs_json *value, refs_cf_description *description,
                                 bool *taken, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    if (refs_json_is_string(value)) return take_crs(refs_json_text(value), description, taken, err);
    if (!refs_json_is_object(value)) return REFS_OK;
    REFS_TRY(refs_json_write(value, &text, err));
    return take_crs(refs_buf_text(&text), description, taken, err);
}

/* Attributes that writers of STAC put on arrays, without a convention. */
static refs_status take_epsg(const refs_json *attributes, refs_cf_description *description,
                             bool *taken, refs_error *err) {
    uint64_t code;
    REFS_SCOPED_BUF name = REFS_BUF_INIT;
    if (*taken || !refs_json_u64(refs_json_get(attributes, "proj:epsg"), &code)) return REFS_OK;
    REFS_TRY(refs_buf_printf(&name, err, "EPSG:%llu", (unsigned long long)code));
    return take_crs(refs_buf_text(&name), description, taken, err);
}

static refs_status describe_crs(const refs_cf__input *input, refs_cf_description *description,
                                refs_error *err) {
    const refs_group_meta *group;
    const refs_json *attributes = find_attributes(input, PROJ_UUID, &group);
    bool taken = false;
    if (attributes != NULL) {
        REFS_TRY(take_crs(refs_cf__text(attributes, "proj:code"), description, &taken, err));
        REFS_TRY(take_crs(refs_cf__text(attributes, "proj:wkt2"), description, &taken, err));
        REFS_TRY(
            take_projjson(refs_json_get(attributes, "proj:projjson"), description, &taken, err));
        if (!taken && (says(attributes, "proj:code") || says(attributes, "proj:wkt2") ||
                       says(attributes, "proj:projjson")))
            refs_note(&input->options.notes, REFS_NOTE_WARNING,
                      "%s: proj:code, proj:wkt2 and proj:projjson are ignored: PROJ does not know "
                      "the CRS",
                      input->array->path);
    }
    return take_epsg(input->array->attributes, description, &taken, err);
}

bool refs_cf__follows_proj(const refs_cf__input *input) {
    const refs_group_meta *group;
    return says(input->array->attributes, "proj:epsg") ||
           says(input->array->attributes, "proj:transform") ||
           find_attributes(input, PROJ_UUID, &group) != NULL;
}

/* -- spatial: ---------------------------------------------------------------------------------- */

static size_t dim_called(const refs_array_meta *array, refs_str name) {
    for (size_t i = 0; i < array->rank; i++) {
        const char *dim = refs_cf__dim_name(array, i);
        if (dim != NULL && refs_str_is(name, dim)) return i;
    }
    return REFS_CF_NO_DIM;
}

/* The dimensions that the convention names, [y, x]; false if the array does not have them. */
static bool find_dims(const refs_array_meta *array, const refs_json *attributes, size_t *y,
                      size_t *x) {
    const refs_json *names = refs_json_get(attributes, "spatial:dimensions");
    if (refs_json_size(names) != 2) return false;
    *y = dim_called(array, refs_json_text(refs_json_at(names, 0)));
    *x = dim_called(array, refs_json_text(refs_json_at(names, 1)));
    return *y != REFS_CF_NO_DIM && *x != REFS_CF_NO_DIM && *y != *x;
}

/* The source of an array's georeferencing: its own attributes, or those of a group above it. */
typedef struct place_source {
    const refs_json *attributes;
    const refs_group_meta *group; /* the one above, or NULL */
    const refs_json *level;       /* the array's entry in the group's "multiscales", or NULL */
    size_t y, x;   /* dimensions of the array, as the convention counts rows and columns */
    bool box_only; /* only the bounding box counts, which holds for all levels */
} place_source;

/* Attributes of the level take precedence. */
static const refs_json *source_of(const place_source *source, const char *name) {
    return says(source->level, name) ? source->level : source->attributes;
}

static bool has_shape(const refs_cf__input *input, const place_source *source) {
    double shape[3];
    return refs_cf__numbers(source_of(source, "spatial:shape"), "spatial:shape", shape, 3) == 2 &&
           shape[0] == (double)input->array->shape[source->y] &&
           shape[1] == (double)input->array->shape[source->x];
}

/* Attributes of a group apply to arrays of the shape that it states, those of a level to that
 * level, and its box to all levels that it lists. */
static bool holds_for(const refs_cf__input *input, place_source *source) {
    if (source->attributes == input->array->attributes) return true;
    bool is_told = says(source->level, "spatial:transform") || says(source->level, "spatial:bbox");
    if (is_told && !says(source->level, "spatial:shape")) return true;
    source->box_only = source->level != NULL && !is_told &&
                       !says(source_of(source, "spatial:shape"), "spatial:shape");
    return source->box_only || has_shape(input, source);
}

static bool find_spatial(const refs_cf__input *input, place_source *source) {
    const refs_group_meta *group = NULL;
    *source = (place_source){.attributes = find_attributes(input, SPATIAL_UUID, &group)};
    source->group = group;
    if (group != NULL) source->level = refs_cf__level_of(group, input->array);
    return source->attributes != NULL &&
           find_dims(input->array, source->attributes, &source->y, &source->x) &&
           holds_for(input, source);
}

void refs_cf__choose_geozarr_view(const refs_cf__input *input, refs_cf_description *description) {
    place_source source;
    if (!find_spatial(input, &source)) return;
    /* Dimensions the other way around are shown as they are stored. */
    description->y_dim = source.y < source.x ? source.y : source.x;
    description->x_dim = source.y < source.x ? source.x : source.y;
}

static void note_ignored(const refs_cf__input *input, const char *name, const char *expected) {
    refs_note(&input->options.notes, REFS_NOTE_WARNING, "%s: %s is ignored: expected %s",
              input->array->path, name, expected);
}

/* Pixels have an area. */
static bool is_affine(const double transform[6]) {
    double area = transform[1] * transform[5] - transform[2] * transform[4];
    return isfinite(transform[0]) && isfinite(transform[3]) && isfinite(area) && area != 0;
}

/* -- levels without a transform of their own --------------------------------------------------- */

/* The source of a level, and how much larger its pixels are. */
typedef struct origin {
    const refs_json *attributes; /* with the transform */
    double y, x;
} origin;

/* Scales of all dimensions of the array, or of the two of the raster. */
static bool read_scale(const refs_cf__input *input, const place_source *source,
                       const refs_json *level, origin *of) {
    double scale[REFS_MAX_RANK + 1] = {0};
    size_t rank = input->array->rank;
    size_t n = refs_cf__numbers(refs_json_get(level, "transform"), "scale", scale, rank + 1);
    if (n != 2 && n != rank) return false;
    double y = scale[n == rank ? source->y : 0], x = scale[n == rank ? source->x : 1];
    of->y *= y;
    of->x *= x;
    return y > 0 && x > 0 && isfinite(of->y) && isfinite(of->x);
}

/* The convention does not define the units of a translation, or what it moves; GDAL ignores it. */
static void note_translation(const refs_cf__input *input, const refs_json *level) {
    double moved[REFS_MAX_RANK] = {0};
    size_t n =
        refs_cf__numbers(refs_json_get(level, "transform"), "translation", moved, REFS_MAX_RANK);
    for (size_t i = 0; i < n; i++)
        if (moved[i] != 0) {
            note_ignored(input, "transform.translation", "zero");
            return;
        }
}

/* Follows "derived_from" to a level that has a transform or no source. */
static bool follow_scales(const refs_cf__input *input, const place_source *source, origin *of) {
    const refs_json *level = source->level;
    *of = (origin){source->attributes, 1, 1};
    for (size_t i = 0; i < REFS_CF_MAX_OVERVIEWS && level != NULL; i++) {
        refs_str path = refs_cf__text(level, "derived_from");
        if (says(level, "spatial:transform")) of->attributes = level;
        if (of->attributes == level) return true;
        if (path.size == 0) return i > 0;
        if (!read_scale(input, source, level, of)) return false;
        level = refs_cf__level_called(source->group, path);
    }
    return false;
}

/* The ratio of pixel sizes of two grids with the same extent, of edges or, for nodes, of
 * centres. */
static double ratio(double large, double small, bool is_node) {
    double quotient = (large - is_node) / (small - is_node);
    return isfinite(quotient) && quotient > 0 ? quotient : 1;
}

/* Derives the pixel size from the extent of the group's shape, or of the largest level. */
static void compare_shapes(const refs_cf__input *input, const place_source *source, bool is_node,
                           origin *of) {
    const refs_array_meta *array = input->array;
    const refs_array_meta *full = refs_cf__full_resolution(input->hierarchy, array);
    const refs_json *largest = refs_cf__level_of(source->group, full);
    double shape[3] = {(double)full->shape[source->y], (double)full->shape[source->x]};
    *of = (origin){source->attributes, 1, 1};
    if (says(largest, "spatial:transform"))
        of->attributes = largest;
    else if (says(source->attributes, "spatial:shape") &&
             refs_cf__numbers(source->attributes, "spatial:shape", shape, 3) != 2)
        return;
    else if (!says(source->attributes, "spatial:shape") &&
             refs_cf__text(largest, "derived_from").size > 0 &&
             refs_cf__text(source->level, "derived_from").size == 0)
        return; /* the group's transform is that of the level from which finer ones were made */
    of->y = ratio(shape[0], (double)array->shape[source->y], is_node);
    of->x = ratio(shape[1], (double)array->shape[source->x], is_node);
}

static origin find_origin(const refs_cf__input *input, const place_source *source, bool is_node) {
    origin of = {source->attributes, 1, 1};
    if (source->level == NULL) return of;
    if (says(source->level, "spatial:transform") || says(source->level, "spatial:bbox"))
        of.attributes = source->level;
    else {
        if (!follow_scales(input, source, &of)) compare_shapes(input, source, is_node, &of);
        note_translation(input, source->level);
    }
    return of;
}

/* -- transforms and boxes ---------------------------------------------------------------------- */

/* The order is that of a matrix: [a, b, c, d, e, f] makes x = a column + b row + c. */
static void take_matrix(const double matrix[6], double transform[6]) {
    static const size_t places[6] = {2, 0, 1, 5, 3, 4};
    for (size_t i = 0; i < 6; i++) transform[i] = matrix[places[i]];
}

static bool read_transform(const place_source *source, const refs_cf__input *input, bool is_node,
                           double transform[6]) {
    static const char *const name = "spatial:transform";
    refs_str type =
        refs_cf__text(source_of(source, "spatial:transform_type"), "spatial:transform_type");
    double numbers[7] = {0};
    if (source->box_only || (type.size > 0 && !refs_str_is(type, "affine"))) return false;
    const origin of = find_origin(input, source, is_node);
    if (!says(of.attributes, name)) return false;
    bool is_whole = refs_cf__numbers(of.attributes, name, numbers, 7) == 6;
    take_matrix(numbers, transform);
    for (size_t i = 1; i < 6; i += 3) {
        transform[i] *= of.x;
        transform[i + 1] *= of.y;
    }
    if (is_whole && is_affine(transform)) return true;
    note_ignored(input, name, "six numbers with a pixel size other than 0");
    return false;
}

/* Reads a bounding box of pixel edges or, for nodes, of centres; rows are assumed to be north
 * first. */
static bool read_box(const place_source *source, const refs_cf__input *input, bool is_node,
                     double transform[6]) {
    double box[5] = {0};
    uint64_t n_x = input->array->shape[source->x];
    uint64_t n_y = input->array->shape[source->y];
    if (!says(source_of(source, "spatial:bbox"), "spatial:bbox") || n_x < 1U + is_node ||
        n_y < 1U + is_node)
        return false;
    bool is_whole =
        refs_cf__numbers(source_of(source, "spatial:bbox"), "spatial:bbox", box, 5) == 4;
    const double made[6] = {box[0], (box[2] - box[0]) / (double)(n_x - is_node), 0, box[3],
                            0,      (box[1] - box[3]) / (double)(n_y - is_node)};
    memcpy(transform, made, sizeof made);
    if (is_whole && is_affine(made)) return true;
    note_ignored(input, "spatial:bbox",
                 "[xmin, ymin, xmax, ymax] with xmin < xmax and ymin < ymax");
    return false;
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Converts a transform for a raster whose rows are the columns of the convention. */
static void exchange_rows_and_columns(double transform[6]) {
    swap(&transform[1], &transform[2]);
    swap(&transform[4], &transform[5]);
}

/* "proj:transform" of STAC, six numbers or the nine of the whole matrix, and its "proj:shape". */
static void place_by_stac(const refs_cf__input *input, refs_cf_description *description) {
    static const char *const name = "proj:transform";
    const refs_array_meta *array = input->array;
    const refs_json *attributes = array->attributes;
    double numbers[10] = {0}, shape[3], transform[6];
    if (description->has_geotransform || description->y_dim == REFS_CF_NO_DIM ||
        !says(attributes, name))
        return;
    size_t n = refs_cf__numbers(attributes, name, numbers, 10);
    bool is_whole = n == 6 || (n == 9 && numbers[6] == 0 && numbers[7] == 0 && numbers[8] == 1);
    take_matrix(numbers, transform);
    if (!is_whole || !is_affine(transform)) {
        note_ignored(input, name, "six or nine numbers with a pixel size other than 0");
        return;
    }
    if (says(attributes, "proj:shape") &&
        (refs_cf__numbers(attributes, "proj:shape", shape, 3) != 2 ||
         shape[0] != (double)array->shape[description->y_dim] ||
         shape[1] != (double)array->shape[description->x_dim])) {
        note_ignored(input, name, "that of an array with the shape of proj:shape");
        return;
    }
    memcpy(description->geotransform, transform, sizeof transform);
    description->has_geotransform = true;
    description->flip_y = false;
}

static refs_status describe_place(const refs_cf__input *input, refs_cf_description *description,
                                  refs_error *err) {
    place_source source;
    double transform[6];
    place_by_stac(input, description);
    if (!find_spatial(input, &source) || description->y_dim == REFS_CF_NO_DIM) return REFS_OK;
    bool is_node = refs_str_is(
        refs_cf__text(source_of(&source, "spatial:registration"), "spatial:registration"), "node");
    bool is_placed =
        read_transform(&source, input, is_node, transform) ||
        (!description->has_geotransform && read_box(&source, input, is_node, transform));
    if (is_placed) {
        if (is_node) { /* of centres: GDAL's is that of corners */
            transform[0] -= (transform[1] + transform[2]) / 2;
            transform[3] -= (transform[4] + transform[5]) / 2;
        }
        if (source.y > source.x) exchange_rows_and_columns(transform);
        memcpy(description->geotransform, transform, sizeof transform);
        description->has_geotransform = true;
        description->flip_y = false;
    }
    return refs_cf__add_item(&description->metadata, "AREA_OR_POINT",
                             refs_str_from(is_node ? "Point" : "Area"), err);
}

refs_status refs_cf__place_geozarr(const refs_cf__input *input, refs_cf_description *description,
                                   refs_error *err) {
    REFS_TRY(describe_crs(input, description, err));
    return describe_place(input, description, err);
}
