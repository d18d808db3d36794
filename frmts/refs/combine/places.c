/* places.c -- compares the attributes that georeference parts; result.c compares coordinates.
 *
 * Grid mappings are variables without dimensions (CF 1.11, section 5.6), GeoKeys and tags of TIFF
 * files are attributes of groups (OGC GeoTIFF 1.1), keys of GRIB grids are attributes of arrays. A
 * combined set has those of the first part. */
#include <math.h>
#include <stdlib.h>

#include "combine_aggregate.h"
#include "combine_internal.h"
#include "refs/one_crs.h"

/* The role of an attribute in georeferencing. */
typedef enum attribute_role {
    ROLE_NONE,      /* none */
    ROLE_REFERENCE, /* a part of the coordinate reference system */
    ROLE_POSITION   /* a position; coordinates take precedence */
} attribute_role;

typedef enum subject { A_GROUP, AN_ARRAY, A_MAPPING } subject;

/* -- attributes -------------------------------------------------------------------------------- */

static const char *const crs_strings[] = {"crs_wkt",   "spatial_ref",  "esri_pe_string", "proj4",
                                          "proj4text", "proj4_params", "proj4_string",   "srid",
                                          "epsg_code", "crs",          "_CRS",           NULL};

static attribute_role role_in_mapping(refs_str name, const refs_json *value) {
    static const char *const words[] = {"grid_mapping_name", "sweep_angle_axis", "fixed_angle_axis",
                                        NULL};
    static const char *const positions[] = {"GeoTransform",          "Westernmost_Easting",
                                            "Easternmost_Easting",   "Northernmost_Northing",
                                            "Southernmost_Northing", NULL};
    if (refs_str_is_among(name, positions)) return ROLE_POSITION;
    if (refs_str_is_among(name, words) || refs_str_is_among(name, crs_strings))
        return ROLE_REFERENCE;
    return !refs_str_starts(name, "_") && (refs_json_is_number(value) || refs_json_is_array(value))
               ? ROLE_REFERENCE
               : ROLE_NONE;
}

static attribute_role role_in_grib(refs_str name) {
    static const char *const references[] = {"GRIB_gridType",
                                             "GRIB_LaDInDegrees",
                                             "GRIB_LoVInDegrees",
                                             "GRIB_Latin1InDegrees",
                                             "GRIB_Latin2InDegrees",
                                             "GRIB_latitudeOfSouthernPoleInDegrees",
                                             "GRIB_longitudeOfSouthernPoleInDegrees",
                                             "GRIB_angleOfRotationInDegrees",
                                             "GRIB_orientationOfTheGridInDegrees",
                                             "GRIB_earthMajorAxisInMetres",
                                             "GRIB_earthMinorAxisInMetres",
                                             NULL};
    static const char *const positions[] = {"GRIB_latitudeOfFirstGridPointInDegrees",
                                            "GRIB_longitudeOfFirstGridPointInDegrees",
                                            "GRIB_iDirectionIncrementInDegrees",
                                            "GRIB_jDirectionIncrementInDegrees",
                                            "GRIB_DxInMetres",
                                            "GRIB_DyInMetres",
                                            "GRIB_DiInMetres",
                                            "GRIB_DjInMetres",
                                            "GRIB_iScansNegatively",
                                            "GRIB_jScansPositively",
                                            "GRIB_jPointsAreConsecutive",
                                            NULL};
    if (refs_str_is_among(name, references)) return ROLE_REFERENCE;
    return refs_str_is_among(name, positions) ? ROLE_POSITION : ROLE_NONE;
}

/* Citations are texts, not parameters. */
static attribute_role role_of(subject of, refs_str name, const refs_json *value) {
    static const char *const own[] = {"crs", "_CRS", "grid_mapping", NULL};
    static const char *const positions[] = {"ModelPixelScale",     "ModelTiepoint",
                                            "ModelTransformation", "spatial:transform",
                                            "spatial:bbox",        NULL};
    if (of == A_MAPPING) return role_in_mapping(name, value);
    if (refs_str_is_among(name, positions)) return ROLE_POSITION;
    if (refs_str_starts(name, "proj:") ||
        (refs_str_ends(name, "GeoKey") && !refs_str_ends(name, "CitationGeoKey")))
        return ROLE_REFERENCE;
    if (of == A_GROUP) return ROLE_NONE;
    return refs_str_is_among(name, own) ? ROLE_REFERENCE : role_in_grib(name);
}

/* Whether an attribute of only one part is a difference: some repeat other attributes, or have a
 * default. */
static bool is_said_once(subject of, refs_str name, const refs_json *value) {
    static const char *const keys[] = {
        "ModelPixelScale",       "ModelTiepoint",     "ModelTransformation", "GTModelTypeGeoKey",
        "ProjectedCSTypeGeoKey", "spatial:transform", "GRIB_gridType",       NULL};
    static const char *const defaults[] = {"semi_major_axis",
                                           "semi_minor_axis",
                                           "inverse_flattening",
                                           "earth_radius",
                                           "longitude_of_prime_meridian",
                                           "GeoTransform",
                                           NULL};
    double number = 0;
    if (of != A_MAPPING) return refs_str_is_among(name, keys);
    return !refs_str_is_among(name, defaults) && refs_json_double(value, &number) && number != 0;
}

/* -- values ------------------------------------------------------------------------------------ */

#define MAX_NUMBERS 64

/* Reads a number, a list, or a text of these; SIZE_MAX for anything else. */
static size_t read_numbers(const refs_json *value, double numbers[MAX_NUMBERS]) {
    size_t n = 0;
    if (refs_json_double(value, numbers)) return 1;
    if (refs_json_is_array(value)) {
        if (refs_json_size(value) > MAX_NUMBERS) return SIZE_MAX;
        for (; n < refs_json_size(value); n++)
            if (!refs_json_double(refs_json_at(value, n), &numbers[n])) return SIZE_MAX;
        return n;
    }
    const char *at = refs_json_is_string(value) ? refs_json_text(value).data : "x";
    while (*at != '\0' && n < MAX_NUMBERS) {
        char *end;
        numbers[n++] = strtod(at, &end);
        if (end == at) return SIZE_MAX;
        for (at = end; *at == ' ' || *at == ','; at++) continue;
    }
    return *at == '\0' && n > 0 ? n : SIZE_MAX;
}

/* Tolerates parameters in single precision. */
static bool are_near(double a, double b, attribute_role role) {
    const double most = (role == ROLE_POSITION ? 1e-9 : 1e-7) * fmax(fabs(a), fabs(b));
    return fabs(a - b) <= most + 1e-12 || (isnan(a) && isnan(b));
}

static refs_status are_same(const refs_json *a, const refs_json *b, attribute_role role, bool *are,
                            refs_error *err) {
    double one[MAX_NUMBERS], other[MAX_NUMBERS];
    const size_t n = read_numbers(a, one), n_other = read_numbers(b, other);
    *are = n == n_other && n != SIZE_MAX;
    for (size_t i = 0; *are && i < n; i++) *are = are_near(one[i], other[i], role);
    if (*are || n != SIZE_MAX || n_other != SIZE_MAX) return REFS_OK;
    refs_buf strings[2] = {REFS_BUF_INIT, REFS_BUF_INIT};
    refs_status status = refs_json_write(a, &strings[0], err);
    if (status == REFS_OK) status = refs_json_write(b, &strings[1], err);
    *are = status == REFS_OK && strings[0].size == strings[1].size &&
           memcmp(strings[0].data, strings[1].data, strings[0].size) == 0;
    if (status == REFS_OK && !*are && refs_json_is_string(a) && refs_json_is_string(b))
        *are = refs_cf_are_one_crs(refs_json_text(a), refs_json_text(b));
    refs_buf_clear(&strings[0]);
    refs_buf_clear(&strings[1]);
    return status;
}

/* -- a group or an array of two parts ---------------------------------------------------------- */

typedef struct comparing {
    const refs_combine *combine;
    bool has_positions; /* positions are compared, because there are no coordinates */
    refs_buf text;      /* the difference; empty: none */
} comparing;

/* Shortens WKT, which begins with its name. */
static refs_status append_value(const refs_json *value, refs_buf *text, refs_error *err) {
    const size_t begin = text->size;
    if (value == NULL) return refs_buf_printf(text, err, " none");
    REFS_TRY(refs_buf_append(text, " ", 1, err));
    REFS_TRY(refs_json_write(value, text, err));
    if (text->size > begin + 100) {
        text->size = begin + 96;
        return refs_buf_printf(text, err, "...");
    }
    return REFS_OK;
}

static refs_status tell(comparing *at, refs_str name, const refs_json *a, const refs_json *b,
                        refs_error *err) {
    REFS_TRY(refs_buf_printf(&at->text, err, "%.*s", REFS_STR_ARG(name)));
    REFS_TRY(append_value(a, &at->text, err));
    REFS_TRY(refs_buf_printf(&at->text, err, " and"));
    return append_value(b, &at->text, err);
}

static bool counts(const comparing *at, attribute_role role) {
    return role == ROLE_REFERENCE || (role == ROLE_POSITION && at->has_positions);
}

/* Whether both have equal WKT: then attributes of only one part are not a difference. */
static bool have_one_wkt(const refs_json *a, const refs_json *b) {
    static const char *const names[] = {"crs_wkt", "spatial_ref"};
    for (size_t i = 0; i < 2; i++) {
        const refs_str one = refs_json_text(refs_json_get(a, names[i]));
        if (one.size > 0 && refs_str_equal(one, refs_json_text(refs_json_get(b, names[i]))))
            return true;
    }
    return false;
}

/* Finds attributes of `a` with other values in `b` or, in the second round, that `b` lacks. */
static refs_status compare_all(comparing *at, subject of, const refs_json *const both[2],
                               refs_error *err) {
    const bool have_wkt = have_one_wkt(both[0], both[1]);
    for (size_t k = 0; k < 2 && at->text.size == 0; k++)
        for (size_t i = 0; i < refs_json_size(both[k]) && at->text.size == 0; i++) {
            const refs_str name = refs_json_name_at(both[k], i);
            const refs_json *value = refs_json_at(both[k], i);
            const refs_json *other = refs_json_get_str(both[1 - k], name);
            const attribute_role role = role_of(of, name, value);
            const bool is_raster_type = refs_str_is(name, "GTRasterTypeGeoKey");
            double number = 1; /* raster type: PixelIsArea by default */
            bool are = true;
            if (!counts(at, role) || (other != NULL && k == 1)) continue;
            if (other != NULL)
                REFS_TRY(are_same(value, other, role, &are, err));
            else if (is_raster_type)
                are = !refs_json_double(value, &number) || number == 1;
            else
                are = have_wkt || !is_said_once(of, name, value);
            if (!are) REFS_TRY(tell(at, name, k == 0 ? value : other, k == 0 ? other : value, err));
        }
    return REFS_OK;
}

static bool is_mapping(size_t rank, const refs_json *attributes) {
    static const char *const signs[] = {"grid_mapping_name", "crs_wkt", "spatial_ref",
                                        "GeoTransform", NULL};
    for (const char *const *sign = signs; rank <= 1 && *sign != NULL; sign++)
        if (refs_json_get(attributes, *sign) != NULL) return true;
    return false;
}

/* Compares with the first part; `array` NULL: attributes of groups. */
static refs_status compare_strings(comparing *at, const refs_combine_array *array,
                                   const uint32_t strings[2], refs_error *err) {
    refs_json_doc *docs[2] = {NULL, NULL};
    at->text.size = 0;
    refs_status status = REFS_OK;
    for (size_t k = 0; k < 2 && status == REFS_OK; k++)
        status = refs_json_parse(refs_combine__text(at->combine, strings[k]), &docs[k], err);
    const refs_json *const both[2] = {refs_json_root(docs[0]), refs_json_root(docs[1])};
    const subject of = array == NULL                      ? A_GROUP
                       : is_mapping(array->rank, both[0]) ? A_MAPPING
                                                          : AN_ARRAY;
    if (status == REFS_OK) status = compare_all(at, of, both, err);
    refs_json_doc_free(docs[0]);
    refs_json_doc_free(docs[1]);
    return status;
}

static refs_status fail(const comparing *at, refs_str where, const char *const names[2],
                        refs_error *err) {
    return refs_fail(
        err, REFS_UNSUPPORTED,
        "grids of %s and %s differ: %.*s%s%.*s: expected sources of one grid: index these one by "
        "one, or make a mosaic of them (gdalbuildvrt)",
        names[0], names[1], REFS_STR_ARG(where), where.size > 0 ? ": " : "", (int)at->text.size,
        (const char *)at->text.data);
}

/* -- all sources ------------------------------------------------------------------------------- */

static refs_status check_array(comparing *at, const refs_combine_plan *plan, uint32_t path,
                               refs_error *err) {
    const refs_combine *combine = at->combine;
    const refs_combine_member *first = NULL;
    const refs_combine_array *like = NULL;
    uint32_t same = REFS_COMBINE_NONE;
    for (size_t i = 0; i < combine->n_members; i++) {
        const refs_combine_member *member = &combine->members[plan->order[i]];
        const refs_combine_array *array = refs_combine__find(member, path);
        if (array == NULL || array->whole == REFS_COMBINE_NONE) continue;
        if (like == NULL) {
            first = member;
            like = array;
            same = array->whole;
        }
        if (array->whole == same || array->whole == like->whole) continue;
        const uint32_t strings[2] = {like->whole, array->whole};
        REFS_TRY(compare_strings(at, like, strings, err));
        const char *const names[2] = {first->name, member->name};
        if (at->text.size > 0) return fail(at, refs_combine__text(combine, path), names, err);
        same = array->whole;
    }
    return REFS_OK;
}

/* The document of a group, and the first part that has it. */
typedef struct known {
    const refs_combine_member *member;
    uint32_t text;
} known;

static refs_status check_group(comparing *at, const refs_combine_member *member,
                               const refs_combine_document *document, known *first,
                               refs_error *err) {
    refs_str group;
    if (!refs_combine__is_attributes(at->combine, document, &group)) return REFS_OK;
    if (first->member == NULL) *first = (known){member, document->text};
    if (first->text == document->text) return REFS_OK;
    const uint32_t strings[2] = {first->text, document->text};
    REFS_TRY(compare_strings(at, NULL, strings, err));
    const char *const names[2] = {first->member->name, member->name};
    return at->text.size > 0 ? fail(at, group, names, err) : REFS_OK;
}

static refs_status check_groups(comparing *at, const refs_combine_plan *plan, refs_error *err) {
    const refs_combine *combine = at->combine;
    REFS_SCOPED known *first = refs_calloc(combine->strings.count + 1, sizeof *first);
    refs_status status = first != NULL ? REFS_OK : refs_fail_nomem(err);
    for (size_t i = 0; i < combine->n_members && status == REFS_OK; i++) {
        const refs_combine_member *member = &combine->members[plan->order[i]];
        for (size_t k = 0; k < member->n_documents && status == REFS_OK; k++)
            status = check_group(at, member, &member->documents[k],
                                 &first[member->documents[k].key], err);
    }
    return status;
}

/* Whether a raster is placed by coordinates, or combined along its rows or columns. */
static bool is_placed(const refs_combine *combine, const refs_combine_member *member,
                      const refs_combine_array *array) {
    bool has_axes = true;
    for (size_t dim = array->rank - 2; dim < array->rank; dim++) {
        if (refs_combine__concat_dim_of(combine, array, dim) != REFS_COMBINE_MAX_DIMS) return true;
        has_axes = has_axes && refs_combine__find(member, array->dims[dim]) != NULL;
    }
    return has_axes;
}

/* Arrays with the most dimensions are the rasters of a part. */
static bool has_placed(const refs_combine *combine, const refs_combine_member *member) {
    size_t most = 2;
    for (size_t i = 0; i < member->n_arrays; i++)
        if (member->arrays[i].rank > most) most = member->arrays[i].rank;
    for (size_t i = 0; i < member->n_arrays; i++)
        if (member->arrays[i].rank == most && is_placed(combine, member, &member->arrays[i]))
            return true;
    return false;
}

refs_status refs_combine__check_places(const refs_combine *combine, const refs_combine_plan *plan,
                                       refs_error *err) {
    comparing at = {.combine = combine,
                    .has_positions = !has_placed(combine, &combine->members[plan->order[0]])};
    refs_status status = check_groups(&at, plan, err);
    for (size_t i = 0; i < plan->n_paths && status == REFS_OK; i++)
        status = check_array(&at, plan, plan->paths[i], err);
    refs_buf_clear(&at.text);
    return status;
}
