/* packing.c -- nodata, scale and offset, unit, signedness. Writers of reference sets move the
 * attribute _FillValue into the metadata's fill_value. Without such an attribute, fill_value has
 * the default of the format. Only the first one is nodata. */
#include "attribute_class.h"
#include "cf_internal.h"

#include <math.h>

#define STORE(type, number)                                                                        \
    do {                                                                                           \
        const type stored = (type)(number);                                                        \
        memcpy(fill, &stored, sizeof stored);                                                      \
        return true;                                                                               \
    } while (0)

bool refs_cf_default_fill(const refs_dtype *dtype, uint8_t *fill) {
    switch (dtype->type) {
    case REFS_TYPE_INT:
        if (dtype->size == 1) STORE(int8_t, -127);
        if (dtype->size == 2) STORE(int16_t, -32767);
        if (dtype->size == 4) STORE(int32_t, -2147483647);
        if (dtype->size == 8) STORE(int64_t, INT64_C(-9223372036854775806));
        return false;
    case REFS_TYPE_UINT:
        if (dtype->size == 1) STORE(uint8_t, 255);
        if (dtype->size == 2) STORE(uint16_t, 65535);
        if (dtype->size == 4) STORE(uint32_t, 4294967295u);
        if (dtype->size == 8) STORE(uint64_t, UINT64_C(18446744073709551614));
        return false;
    case REFS_TYPE_FLOAT:
        if (dtype->size == 4) STORE(float, 9.9692099683868690e+36f);
        if (dtype->size == 8) STORE(double, 9.9692099683868690e+36);
        return false;
    default:
        return false;
    }
}

bool refs_cf_is_default_fill(const refs_dtype *dtype, const uint8_t *element) {
    uint8_t fill[sizeof(double)];
    return refs_cf_default_fill(dtype, fill) && memcmp(element, fill, dtype->size) == 0;
}

const char *refs_cf_default_fill_text(const refs_dtype *dtype) {
    static const struct {
        refs_type type;
        size_t size;
        const char *text;
    } texts[] = {{REFS_TYPE_INT, 2, "-32767"},
                 {REFS_TYPE_INT, 4, "-2147483647"},
                 {REFS_TYPE_INT, 8, "-9223372036854775806"},
                 {REFS_TYPE_UINT, 2, "65535"},
                 {REFS_TYPE_UINT, 4, "4294967295"},
                 {REFS_TYPE_UINT, 8, "18446744073709551614"},
                 {REFS_TYPE_FLOAT, 4, "9.969209968386869e+36"},
                 {REFS_TYPE_FLOAT, 8, "9.969209968386869e+36"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (dtype->type == texts[i].type && dtype->size == texts[i].size) return texts[i].text;
    return NULL;
}

bool refs_cf_spare_fill(const refs_dtype *dtype, uint8_t *fill) {
    if (dtype->size != 8) return false;
    if (dtype->type == REFS_TYPE_INT) STORE(int64_t, INT64_C(-9223372036854775805));
    if (dtype->type == REFS_TYPE_UINT) STORE(uint64_t, UINT64_C(18446744073709551613));
    return false;
}

const char *refs_cf_spare_fill_text(const refs_dtype *dtype) {
    if (dtype->size != 8) return NULL;
    return dtype->type == REFS_TYPE_INT    ? "-9223372036854775805"
           : dtype->type == REFS_TYPE_UINT ? "18446744073709551613"
                                           : NULL;
}

const char *refs_cf_whole_range_text(const refs_dtype *dtype) {
    static const char *const texts[][4] = {
        {"[-128,127]", "[-32768,32767]", "[-2147483648,2147483647]",
         "[-9223372036854775808,9223372036854775807]"},
        {"[0,255]", "[0,65535]", "[0,4294967295]", "[0,18446744073709551615]"}};
    size_t i = 0;
    while (i < 4 && (size_t)1 << i != dtype->size) i++;
    if (i == 4 || (dtype->type != REFS_TYPE_INT && dtype->type != REFS_TYPE_UINT)) return NULL;
    return texts[dtype->type == REFS_TYPE_UINT][i];
}

/* -- the fill value of the metadata ------------------------------------------------------------ */

double refs_cf__fill_number(const refs_array_meta *array) {
    return refs_dtype_number(&array->dtype, array->fill);
}

static bool has_number_fill(const refs_array_meta *array) {
    return array->status == REFS_OK && array->has_fill && refs_dtype_is_numeric(&array->dtype) &&
           array->dtype.type != REFS_TYPE_BOOL;
}

static bool is_wide(const refs_dtype *dtype, refs_type type) {
    return dtype->type == type && dtype->size == 8;
}

static bool fill_is_default(const refs_array_meta *array) {
    return refs_cf_is_default_fill(&array->dtype, array->fill);
}

/* Whether the array cannot have a declared fill value: a coordinate of a dimension, a time, a
 * scalar. */
static bool is_never_missing(const refs_array_meta *array) {
    return array->rank == 0 || refs_cf__axis_kind(array) == REFS_CF_AXIS_TIME ||
           (array->rank == 1 && strcmp(refs_cf__dim_name(array, 0), array->name) == 0);
}

static bool is_zero(const refs_array_meta *array) {
    return has_number_fill(array) && refs_cf__fill_number(array) == 0;
}

/* Whether the set's writer keeps the attribute _FillValue, as VirtualiZarr and all writers of Zarr
 * 3 do; or has zeros in arrays that cannot declare a fill value, as HDF5 and Zarr fill by default.
 */
static bool zeros_mean_nothing(const refs_hierarchy *hierarchy) {
    if (refs_hierarchy_keeps_attributes(hierarchy)) return true;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (array->status != REFS_OK) continue;
        bool is_time =
            refs_cf__axis_kind(array) == REFS_CF_AXIS_TIME; /* made by programs that combine sets */
        if (refs_json_get(array->attributes, "_FillValue") != NULL ||
            (is_zero(array) && is_never_missing(array) && !is_time))
            return true;
    }
    return false;
}

/* NetCDF's tables list a fill value for bytes, but nothing is filled with it. */
static bool has_default_fill(const refs_array_meta *array) {
    return has_number_fill(array) && array->dtype.size > 1 && fill_is_default(array);
}

/* Whether the netCDF library filled arrays of the file with its own defaults. */
static bool has_netcdf_default(const refs_hierarchy *hierarchy) {
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (has_default_fill(array)) return true;
    }
    return false;
}

/* kerchunk keeps only declared fill values of netCDF-3 files. Arrays with codecs are from HDF5,
 * even if their numbers are big-endian. */
static bool is_from_netcdf3(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf__is_netcdf3(hierarchy) ||
           (refs_cf__has_named_dims(array) && array->dtype.big_endian && array->dtype.size > 1 &&
            array->n_codecs == 0);
}

/* Whether attributes state a valid range: then a fill value of the largest byte is a deliberate
 * choice. */
static bool tells_valid_values(const refs_json *attributes) {
    static const char *const names[] = {"valid_range", "valid_max", "flag_values", "flag_masks"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (refs_json_get(attributes, names[i]) != NULL) return true;
    return false;
}

/* Whether kerchunk drops undeclared fill values of this file: it does so for variables whose
 * dimensions the netCDF library has recorded, which is all or none of those with two dimensions or
 * more. It always does for times. */
static bool leaves_out_undeclared(const refs_hierarchy *hierarchy) {
    bool any = false;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (array->status != REFS_OK || array->rank < 2 || !refs_dtype_is_numeric(&array->dtype) ||
            refs_cf__axis_kind(array) == REFS_CF_AXIS_TIME)
            continue;
        if (array->has_fill && array->dtype.size > 1 && fill_is_default(array)) return false;
        any = any || (!array->has_fill && !array->is_unfilled && refs_cf__has_named_dims(array));
    }
    return any;
}

/* HDF5 and Zarr fill with zero by default. So zero was declared only if the set's writer drops
 * undeclared fill values, or the netCDF library, which has other defaults, filled the file. */
static bool zero_is_declared(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    if ((array->zarr_format != 2 && !array->was_v2) || is_never_missing(array) ||
        zeros_mean_nothing(hierarchy))
        return false;
    return is_from_netcdf3(hierarchy, array) || leaves_out_undeclared(hierarchy) ||
           has_netcdf_default(hierarchy);
}

/* Masters keep the attributes of their sources. Without _FillValue, readers of netCDF mask
 * both the default and missing_value: no other fill value may be declared. */
static bool has_missing_value_alone(const refs_array_meta *array) {
    return refs_json_get(array->attributes, "_FillValue") == NULL &&
           refs_cf_has_missing_value(array);
}

bool refs_cf_fill_is_declared(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    if (!has_number_fill(array)) return false;
    if (array->aggregation != NULL && array->edges == NULL) /* else it is the value of elements
                                                               without a fragment */
        return !refs_cf_has_only_values(array) && !has_missing_value_alone(array);
    if (fill_is_default(array))
        return array->dtype.type == REFS_TYPE_UINT && array->dtype.size == 1 &&
               !refs_hierarchy_keeps_attributes(hierarchy) &&
               (tells_valid_values(array->attributes) || leaves_out_undeclared(hierarchy));
    return refs_cf__fill_number(array) != 0 || zero_is_declared(hierarchy, array);
}

bool refs_cf_fill_is_chosen(const refs_array_meta *array) {
    if (!has_number_fill(array)) return false;
    return fill_is_default(array)
               ? array->dtype.type == REFS_TYPE_UINT && tells_valid_values(array->attributes)
               : refs_cf__fill_number(array) != 0;
}

/* zarr-python 3 writes _FillValue of all floating-point numbers in double precision. */
static bool read_fill_attribute(const refs_array_meta *array, uint8_t *fill) {
    const refs_json *value = refs_json_get(array->attributes, "_FillValue");
    const refs_dtype wide = {.type = REFS_TYPE_FLOAT, .size = sizeof(double)};
    uint8_t element[sizeof(double)];
    bool has_fill = false;
    if (refs_cf_read_element(array, value, element, &has_fill, NULL) != REFS_OK) return false;
    if (has_fill) memcpy(fill, element, array->dtype.size);
    if (has_fill || array->dtype.type != REFS_TYPE_FLOAT || array->dtype.size != sizeof(float) ||
        refs_fill_value_parse(value, &wide, element, &has_fill, NULL) != REFS_OK || !has_fill)
        return has_fill;
    const float number = (float)refs_dtype_number(&wide, element);
    memcpy(fill, &number, sizeof number);
    return true;
}

static bool byte_fill_is_declared(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return refs_cf_fill_is_chosen(array) &&
           !(fill_is_default(array) && refs_hierarchy_keeps_attributes(hierarchy));
}

static bool holds_ticks(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_DATETIME || dtype->type == REFS_TYPE_TIMEDELTA;
}

/* NumPy's "not a time", the only missing value of its times: xarray, too, reads a fill_value that
 * is an instant as that instant. */
static bool store_nat(uint8_t *fill) {
    STORE(int64_t, INT64_MIN);
}

bool refs_cf_declared_fill(const refs_hierarchy *hierarchy, const refs_array_meta *array,
                           uint8_t *fill) {
    if (!refs_dtype_is_numeric(&array->dtype) || array->dtype.size > sizeof(double)) return false;
    if (read_fill_attribute(array, fill)) return true;
    if (holds_ticks(&array->dtype)) return store_nat(fill);
    const bool is_declared = array->dtype.size == 1 ? byte_fill_is_declared(hierarchy, array)
                                                    : refs_cf_fill_is_declared(hierarchy, array);
    if (is_declared) memcpy(fill, array->fill, array->dtype.size);
    return is_declared;
}

bool refs_cf_keeps_default_fill(const refs_array_meta *array) {
    uint8_t fill[sizeof(double)];
    if (!refs_cf_default_fill(&array->dtype, fill)) return false;
    if (array->aggregation != NULL) return refs_cf_has_only_values(array);
    if (array->dtype.size == 1) return true;
    if (array->has_fill) return memcmp(array->fill, fill, array->dtype.size) != 0;
    return array->is_unfilled || !refs_cf__has_named_dims(array) ||
           refs_cf__gdal_crs(array) != NULL;
}

/* Hyrax answers subset requests with netCDF files that it writes with filling switched off. */
static bool is_never_filled(const refs_hierarchy *hierarchy) {
    const refs_group_meta *root = refs_hierarchy_group(hierarchy, 0);
    return root != NULL && refs_json_get(root->attributes, "build_dmrpp_metadata.bes") != NULL;
}

/* -- nodata ------------------------------------------------------------------------------------ */

static void set_double(refs_cf_description *description, const refs_dtype *dtype, double value) {
    description->nodata_kind = REFS_CF_NODATA_DOUBLE;
    description->nodata = refs_cf__as_element(dtype, value);
}

static void set_int64(refs_cf_description *description, int64_t value) {
    description->nodata_kind = REFS_CF_NODATA_INT64;
    description->nodata_int64 = value;
}

static void set_uint64(refs_cf_description *description, uint64_t value) {
    description->nodata_kind = REFS_CF_NODATA_UINT64;
    description->nodata_uint64 = value;
}

/* Little-endian double precision in base64: how zarr-python 3 writes _FillValue of floats. */
static refs_status set_from_base64(const refs_array_meta *array, refs_str text,
                                   refs_cf_description *description, refs_error *err) {
    refs_buf bytes = REFS_BUF_INIT;
    refs_status status = text.size == 12 ? refs_base64_decode(text, &bytes, NULL) : REFS_CORRUPT;
    if (status == REFS_OK && bytes.size == 8) {
        double number;
        uint64_t bits = refs_load_le64(bytes.data);
        memcpy(&number, &bits, sizeof number);
        set_double(description, &array->dtype, number);
    }
    refs_buf_clear(&bytes);
    return status == REFS_NOMEM ? refs_fail_nomem(err) : REFS_OK;
}

/* Reads nodata from an attribute; its kind stays NONE if that is not a value. */
static refs_status set_from_attribute(const refs_array_meta *array, const char *name,
                                      refs_cf_description *description, refs_error *err) {
    const refs_json *value = refs_json_get(array->attributes, name);
    if (refs_json_is_array(value)) value = refs_json_at(value, 0);
    double number;
    if (!refs_cf__number(array->attributes, name, &number))
        return set_from_base64(array, refs_cf__text(array->attributes, name), description, err);
    const refs_dtype shown = refs_cf__type_as_read(description, &array->dtype);
    refs_cf__set_nodata(description, refs_cf__missing_as(&array->dtype, &shown, value, number));
    return REFS_OK;
}

static void set_from_fill(const refs_dtype *dtype, const uint8_t *fill,
                          refs_cf_description *description) {
    const refs_dtype as = refs_cf__type_as_read(description, dtype);
    int64_t int64;
    uint64_t uint64;
    if (is_wide(&as, REFS_TYPE_INT)) {
        memcpy(&int64, fill, sizeof int64);
        set_int64(description, int64);
    } else if (is_wide(&as, REFS_TYPE_UINT)) {
        memcpy(&uint64, fill, sizeof uint64);
        set_uint64(description, uint64);
    } else {
        set_double(description, &as, refs_dtype_number(&as, fill));
    }
}

static void set_default(const refs_array_meta *array, refs_cf_description *description) {
    uint8_t fill[sizeof(double)];
    if (refs_cf_default_fill(&array->dtype, fill)) set_from_fill(&array->dtype, fill, description);
}

bool refs_cf_has_missing_value(const refs_array_meta *array) {
    double number;
    return refs_cf__number(array->attributes, "missing_value", &number) &&
           (isfinite(number) || array->dtype.type == REFS_TYPE_FLOAT);
}

/* Nodata without an attribute: from the fill value and the writer of the array. */
static void infer_nodata(const refs_cf__input *input, bool declared,
                         refs_cf_description *description) {
    const refs_array_meta *array = input->array;
    /* Writers of sets put zero where a TIFF file has no nodata value. */
    bool is_tiff = refs_cf__is_tiff(input);
    if (is_tiff) declared = has_number_fill(array) && refs_cf__fill_number(array) != 0;
    if (holds_ticks(&array->dtype))
        set_int64(description, INT64_MIN); /* as store_nat */
    else if (declared)
        set_from_fill(&array->dtype, array->fill, description);
    else if (refs_json_get(array->attributes, "GRIB_missingValue") != NULL)
        set_double(description, &array->dtype,
                   (double)NAN); /* decoders write NaN for missing values */
    else if (!is_tiff && !refs_cf_keeps_default_fill(array) &&
             (array->has_fill || !is_never_filled(input->hierarchy)))
        set_default(array, description);
}

/* Coordinates have no missing values (CF 2.5.1 and 5). */
static bool is_coordinate(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    return (array->rank == 1 && refs_cf__coordinate(hierarchy, array, 0) == array) ||
           refs_cf_is_coordinate(hierarchy, array) || refs_cf_is_bounds(hierarchy, array);
}

/* Nodata from attributes, or from the fill value that writers of sets move _FillValue to. That of
 * netCDF-4 may be its default, and is then nodata of data arrays only; netCDF-3 (big-endian) has no
 * default. */
static bool has_own_nodata(const refs_hierarchy *hierarchy, const refs_array_meta *array) {
    if (refs_json_get(array->attributes, "_FillValue") != NULL ||
        refs_json_get(array->attributes, "missing_value") != NULL || holds_ticks(&array->dtype))
        return true;
    return array->has_fill && (array->dtype.big_endian || !has_default_fill(array) ||
                               !is_coordinate(hierarchy, array));
}

static refs_status describe_nodata(const refs_cf__input *input, refs_cf_description *description,
                                   refs_error *err) {
    const refs_array_meta *array = input->array;
    if (input->options.as_stored && !has_own_nodata(input->hierarchy, array)) return REFS_OK;
    bool declared = refs_cf_fill_is_declared(input->hierarchy, array);
    REFS_TRY(set_from_attribute(array, "_FillValue", description, err));
    if (description->nodata_kind != REFS_CF_NODATA_NONE) return REFS_OK;
    if (!declared && refs_cf_has_missing_value(array))
        REFS_TRY(set_from_attribute(array, "missing_value", description, err));
    if (description->nodata_kind == REFS_CF_NODATA_NONE) infer_nodata(input, declared, description);
    return REFS_OK;
}

/* -- signs ------------------------------------------------------------------------------------- */

/* A valid range: values outside are missing. One end may be infinite. */
typedef struct valid_range {
    double low, high;
    const refs_json *least, *most; /* attributes; or NULL */
    bool unpacked;                 /* in units of unpacked values */
} valid_range;

/* Two numbers; a text only if a writer made it from a list. */
static bool read_range_list(const refs_json *attributes, valid_range *range) {
    double numbers[3];
    refs_str text = refs_cf__text(attributes, "valid_range");
    if ((text.data != NULL && !refs_str_starts(text, "[")) ||
        refs_cf__numbers(attributes, "valid_range", numbers, 3) != 2)
        return false;
    const refs_json *list = refs_json_get(attributes, "valid_range");
    *range =
        (valid_range){numbers[0], numbers[1], refs_json_at(list, 0), refs_json_at(list, 1), false};
    return true;
}

static bool read_range_ends(const refs_json *attributes, valid_range *range) {
    *range =
        (valid_range){(double)-INFINITY, (double)INFINITY, refs_json_get(attributes, "valid_min"),
                      refs_json_get(attributes, "valid_max"), false};
    bool has_low = refs_cf__number(attributes, "valid_min", &range->low);
    return refs_cf__number(attributes, "valid_max", &range->high) || has_low;
}

/* Whether a number, or one of a list, is written as one of a floating-point type. */
static bool is_written_real(const refs_json *value) {
    if (refs_json_is_array(value)) {
        for (size_t i = 0; i < refs_json_size(value); i++)
            if (is_written_real(refs_json_at(value, i))) return true;
        return false;
    }
    refs_str text = refs_json_is_number(value) || refs_json_is_string(value)
                        ? refs_json_text(value)
                        : refs_str_view(NULL, 0);
    return refs_str_find(text, '.') != SIZE_MAX || refs_str_find(text, 'e') != SIZE_MAX;
}

static bool is_packed_integer(const refs_array_meta *array) {
    double number;
    return array->dtype.type != REFS_TYPE_FLOAT &&
           (refs_cf__number(array->attributes, "scale_factor", &number) ||
            refs_cf__number(array->attributes, "add_offset", &number));
}

/* A range in the type of unpacked values bounds these (NUG, attribute valid_range, which CF 2.5.1
 * refers to). */
static bool read_valid_range(const refs_array_meta *array, valid_range *range) {
    const refs_json *attributes = array->attributes;
    if (!read_range_list(attributes, range) && !read_range_ends(attributes, range)) return false;
    const char *name;
    for (size_t i = 0; (name = refs_cf_attribute_at(REFS_CF_VALID, i)) != NULL; i++)
        range->unpacked = range->unpacked || (is_packed_integer(array) &&
                                              is_written_real(refs_json_get(attributes, name)));
    return true;
}

static bool is_at(refs_cf_missing end, int64_t least, uint64_t most, double number) {
    return end.kind == REFS_CF_NODATA_INT64    ? end.int64 == least
           : end.kind == REFS_CF_NODATA_UINT64 ? end.uint64 == most
                                               : end.number == number;
}

static refs_cf_missing end_of(const refs_dtype *dtype, const refs_json *element, double number) {
    return refs_cf__missing_as(dtype, dtype, element, number);
}

/* The range of bytes, whose sign it states. */
static bool is_whole(const refs_dtype *dtype, const valid_range *range) {
    const double end = ldexp(1, (int)dtype->size * 8);
    const refs_cf_missing low = end_of(dtype, range->least, range->low),
                          high = end_of(dtype, range->most, range->high);
    const bool is_unsigned = is_at(low, 0, 0, 0) && is_at(high, 0, UINT64_MAX, end - 1),
               is_signed =
                   is_at(low, INT64_MIN, 0, -end / 2) && is_at(high, INT64_MAX, 0, end / 2 - 1);
    if (dtype->size == 1) return is_unsigned || is_signed;
    return (is_unsigned && dtype->type == REFS_TYPE_UINT) ||
           (is_signed && dtype->type == REFS_TYPE_INT);
}

bool refs_cf__is_netcdf3(const refs_hierarchy *hierarchy) {
    bool any = false;
    for (size_t i = 0; i < refs_hierarchy_n_arrays(hierarchy); i++) {
        const refs_array_meta *array = refs_hierarchy_array(hierarchy, i);
        if (array->status != REFS_OK || !refs_dtype_is_numeric(&array->dtype) ||
            array->dtype.size == 1)
            continue;
        if (!array->dtype.big_endian) return false;
        any = any || refs_cf__has_named_dims(array);
    }
    return any;
}

bool refs_cf_is_marked_unsigned(const refs_array_meta *array) {
    return array->dtype.type == REFS_TYPE_INT &&
           refs_cf__same_word(refs_cf__text(array->attributes, "_Unsigned"), "true");
}

/* The signedness of integers, by attributes. */
typedef enum told_signs { SIGNS_UNKNOWN, SIGNS_SIGNED, SIGNS_UNSIGNED } told_signs;

/* Bytes are unsigned when their valid range is that of unsigned bytes; _Unsigned counts only
 * without a valid range, as in the netCDF driver. */
static told_signs signs_told(const refs_array_meta *array) {
    const refs_dtype *dtype = &array->dtype;
    valid_range range;
    bool has_range = dtype->size == 1 && read_valid_range(array, &range) && !range.unpacked &&
                     isfinite(range.low) && isfinite(range.high) && range.low <= range.high;
    if (has_range && range.low == 0 && range.high == 255) return SIGNS_UNSIGNED;
    if (has_range && range.low == -128 && range.high == 127) return SIGNS_SIGNED;
    if (has_range) return SIGNS_UNKNOWN;
    if (refs_cf_is_marked_unsigned(array)) return SIGNS_UNSIGNED;
    refs_str unsigned_text = refs_cf__text(array->attributes, "_Unsigned");
    return refs_cf__same_word(unsigned_text, "false") ? SIGNS_SIGNED : SIGNS_UNKNOWN;
}

bool refs_cf_is_declared_unsigned(const refs_array_meta *array) {
    return array->dtype.type == REFS_TYPE_INT && signs_told(array) == SIGNS_UNSIGNED;
}

bool refs_cf_has_unsigned_elements(const refs_array_meta *array) {
    return array->dtype.type == REFS_TYPE_UINT || refs_cf_is_declared_unsigned(array);
}

/* Bytes of netCDF-3 files that GDAL wrote are unsigned, unless an attribute says otherwise. */
static bool is_unsigned(const refs_cf__input *input, const refs_cf_description *description) {
    const refs_array_meta *array = input->array;
    if (array->dtype.type != REFS_TYPE_INT) return false;
    const told_signs signs = signs_told(array);
    if (signs != SIGNS_UNKNOWN) return signs == SIGNS_UNSIGNED;
    return array->dtype.size == 1 && refs_cf__is_netcdf3(input->hierarchy) &&
           refs_cf__made_by_gdal(input, refs_cf__grid_mapping(input, description));
}

double refs_cf__to_unsigned(const refs_dtype *dtype, double number) {
    return number < 0 ? number + ldexp(1, (int)dtype->size * 8) : number;
}

/* Rounds the ends inwards to whole numbers, tolerating the rounding of unpacking. */
static void pack_range(double scale, double offset, valid_range *range) {
    double a = (range->low - offset) / scale, b = (range->high - offset) / scale;
    double low = fmin(a, b), high = fmax(a, b);
    range->low = ceil(low - 1e-6 * fmax(1, fabs(low)));
    range->high = floor(high + 1e-6 * fmax(1, fabs(high)));
}

static void take_as_stored(const refs_array_meta *array, const refs_dtype *as, double *end) {
    if (array->dtype.type != REFS_TYPE_FLOAT) *end = trunc(*end);
    if (array->dtype.type == REFS_TYPE_INT && as->type == REFS_TYPE_UINT && isfinite(*end))
        *end = refs_cf__to_unsigned(&array->dtype, *end);
}

/* 64-bit integers are compared exactly, even if they are equal as doubles. */
static bool is_ordered(const refs_cf_range *range) {
    const refs_cf_missing low = range->least, high = range->most;
    if (low.kind == REFS_CF_NODATA_INT64 && high.kind == low.kind) return low.int64 <= high.int64;
    if (low.kind == REFS_CF_NODATA_UINT64 && high.kind == low.kind)
        return low.uint64 <= high.uint64;
    return refs_cf_missing_number(low) <= refs_cf_missing_number(high);
}

bool refs_cf_valid_range(const refs_array_meta *array, const refs_dtype *as,
                         refs_cf_range *stored) {
    double scale, offset;
    valid_range range;
    if (!read_valid_range(array, &range)) return false;
    if (range.unpacked) {
        (void)refs_cf_scale_of(array->attributes, &scale, &offset);
        if (!(range.low <= range.high) || scale == 0) return false;
        pack_range(scale, offset, &range);
    } else {
        take_as_stored(array, as, &range.low);
        take_as_stored(array, as, &range.high);
    }
    const bool is_exact = !range.unpacked;
    *stored = (refs_cf_range){
        refs_cf__missing_as(&array->dtype, as, is_exact ? range.least : NULL, range.low),
        refs_cf__missing_as(&array->dtype, as, is_exact ? range.most : NULL, range.high)};
    const bool all_bytes = array->dtype.size == 1 && is_whole(&array->dtype, &range);
    return is_ordered(stored) && !all_bytes && (isfinite(range.low) || isfinite(range.high));
}

bool refs_cf_has_whole_range(const refs_array_meta *array) {
    valid_range range;
    return array->dtype.type != REFS_TYPE_FLOAT && read_valid_range(array, &range) &&
           !range.unpacked && is_whole(&array->dtype, &range);
}

/* Whether netCDF's default fill value is inside the valid range, signed or unsigned. */
static bool holds_default(const refs_array_meta *array) {
    refs_dtype as = array->dtype;
    uint8_t fill[sizeof(double)];
    valid_range range;
    refs_cf_range stored;
    if (as.type == REFS_TYPE_FLOAT || !refs_cf_default_fill(&as, fill) ||
        !read_valid_range(array, &range) || range.unpacked)
        return false;
    if (is_whole(&as, &range)) return true;
    uint64_t bits = 0;
    double number = refs_dtype_number(&as, fill);
    if (as.size == sizeof bits) memcpy(&bits, fill, sizeof bits);
    if (refs_cf_is_declared_unsigned(array)) as.type = REFS_TYPE_UINT;
    if (as.type == REFS_TYPE_UINT) number = refs_cf__to_unsigned(&as, number);
    return refs_cf_valid_range(array, &as, &stored) && refs_cf_range_has(&stored, bits, number);
}

/* Wider integers of netCDF files with such a range are filled with the default, too. */
bool refs_cf_has_only_values(const refs_array_meta *array) {
    const bool is_unfilled = !array->has_fill && array->is_unfilled;
    return refs_json_get(array->attributes, "_FillValue") == NULL &&
           !refs_cf_has_missing_value(array) &&
           (array->dtype.size == 1 ? has_number_fill(array) && fill_is_default(array)
                                   : is_unfilled || is_zero(array)) &&
           holds_default(array);
}

static void describe_valid_range(const refs_array_meta *array, refs_cf_description *description) {
    const refs_dtype as = refs_cf__type_as_read(description, &array->dtype);
    refs_cf_range range = {.least = {0}};
    description->has_valid_range = refs_cf_valid_range(array, &as, &range);
    description->valid = range;
}

/* Describes signs and nodata as stored, except for what attributes state for all readers. */
static void keep_signs(const refs_array_meta *array, refs_cf_description *description) {
    double range = ldexp(1, (int)array->dtype.size * 8);
    if (!description->unsigned_values || refs_cf_is_marked_unsigned(array)) return;
    description->unsigned_values = false;
    if (description->nodata >= range / 2) description->nodata -= range;
}

refs_status refs_cf__describe_packing(const refs_cf__input *input, refs_cf_description *description,
                                      refs_error *err) {
    const refs_array_meta *array = input->array;
    description->unsigned_values = is_unsigned(input, description);
    REFS_TRY(describe_nodata(input, description, err));
    description->keeps_nan = refs_cf__is_tiff(input);
    if (input->options.as_stored) keep_signs(array, description);
    refs_cf__describe_missing(input, description);
    description->longitudes = refs_cf__is_longitude(array);
    description->has_scale =
        refs_cf__number(array->attributes, "scale_factor", &description->scale);
    description->has_offset =
        refs_cf__number(array->attributes, "add_offset", &description->offset);
    if (input->options.honour_valid_range) describe_valid_range(array, description);
    return REFS_OK;
}
