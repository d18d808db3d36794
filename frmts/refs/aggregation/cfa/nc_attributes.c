/* nc_attributes.c -- writes JSON as netCDF attributes. */
#include "cfa/nc_internal.h"

#include <math.h>

#include "refs/aggregation.h"
#include "refs/attribute_class.h"
#include "refs/cf.h"
#include "refs/own_attributes.h"

/* Whether other parts of the file state the attribute: storage of values, and dimensions.
 * _FillValue of a group means nothing. */
static bool is_told_elsewhere(nc_place place, refs_str name) {
    static const char *const names[] = {"_ARRAY_DIMENSIONS",
                                        REFS_UNLIMITED_DIMENSIONS,
                                        REFS_UNUSED_DIMENSIONS,
                                        REFS_SOURCES_ATTRIBUTE,
                                        "_ARRAY_OFFSET",
                                        "DIMENSION_LIST",
                                        "REFERENCE_LIST",
                                        "CLASS",
                                        "NAME",
                                        "_Netcdf4Dimid",
                                        "_Netcdf4Coordinates",
                                        "_NCProperties",
                                        "_nc3_strict",
                                        REFS_CFA_COMBINED,
                                        NULL};
    return refs_str_is_among(name, names) ||
           (place.id != NC_GLOBAL && refs_str_is(name, "_FillValue"));
}

/* Whether the attribute has the type of its variable (CF 1.11, section 2.5.1 and appendix A). */
static bool is_of_variable_type(refs_str name) {
    return refs_cf_has_type_of_variable(name) || refs_cf_is_attribute_of(name, REFS_CF_ACTUAL);
}

static refs_status check(const nc_file *file, int code, const char *name, refs_error *err) {
    return code == NC_NOERR ? REFS_OK : refs_cfa__nc_fail(file, code, name, err);
}

/* A name that netCDF accepts. */
static char *legal_name(refs_str name) {
    char *legal = refs_str_copy(name);
    for (char *c = legal; legal != NULL && *c != '\0'; c++)
        if (*c == '/' || (unsigned char)*c < ' ') *c = '_';
    return legal;
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* Element `i` of a list, or the number itself; booleans are 0 and 1. */
static const refs_json *item(const refs_json *value, size_t i) {
    return refs_json_is_array(value) ? refs_json_at(value, i) : value;
}

static bool is_number(const refs_json *value) {
    return refs_json_is_number(value) || refs_json_kind_of(value) == REFS_JSON_KIND_BOOL;
}

static size_t count_items(const refs_json *value) {
    return refs_json_is_array(value) ? refs_json_size(value) : 1;
}

static bool all_items(const refs_json *value, bool (*is)(const refs_json *)) {
    for (size_t i = 0; i < count_items(value); i++)
        if (!is(item(value, i))) return false;
    return true;
}

static bool is_written_real(const refs_json *value) {
    const refs_str text = refs_json_text(value);
    return refs_str_find(text, '.') != SIZE_MAX || refs_str_find(text, 'e') != SIZE_MAX;
}

static bool whole(const refs_json *value, int64_t *number) {
    bool truth;
    *number = 0;
    if (!refs_json_bool(value, &truth)) {
        return !is_written_real(value) && refs_json_i64(value, number);
    }
    *number = truth;
    return true;
}

/* Whether all are unsigned 64-bit integers. */
static bool all_unsigned(const refs_json *value) {
    uint64_t number;
    for (size_t i = 0; i < count_items(value); i++)
        if (is_written_real(item(value, i)) || !refs_json_u64(item(value, i), &number))
            return false;
    return true;
}

/* The smallest type of INT, INT64, UINT64 and DOUBLE that holds all. */
static nc_type fitting_type(const nc_file *file, const refs_json *value) {
    nc_type type = NC_INT;
    const bool is_netcdf4 = file->format == REFS_CFA_NETCDF4;
    for (size_t i = 0; i < count_items(value); i++) {
        int64_t number;
        if (!whole(item(value, i), &number))
            return is_netcdf4 && all_unsigned(value) ? NC_UINT64 : NC_DOUBLE;
        if (number < INT32_MIN || number > INT32_MAX) type = NC_INT64;
    }
    return type == NC_INT64 && !is_netcdf4 ? NC_DOUBLE : type;
}

static bool is_integral(const refs_json *value) {
    double number;
    bool truth;
    return refs_json_bool(value, &truth) ||
           (refs_json_double(value, &number) && number == nearbyint(number));
}

/* The type for numbers. NaN and fractions are no integers: converted, they would be 0 or another
 * number. */
static nc_type wanted_type(nc_place place, const char *name, nc_type fitting,
                           const refs_json *value) {
    nc_type type = fitting;
    if (place.id == NC_GLOBAL || !is_of_variable_type(refs_str_from(name))) return fitting;
    if (NC(nc_inq_vartype(place.group, place.id, &type)) != NC_NOERR) return fitting;
    const bool is_number = type != NC_CHAR && type != NC_STRING;
    const bool is_real = type == NC_FLOAT || type == NC_DOUBLE;
    return is_number && (is_real || all_items(value, is_integral)) ? type : fitting;
}

static int put_whole(nc_place place, const char *name, nc_type type, const refs_json *value,
                     long long *numbers) {
    size_t n = count_items(value);
    for (size_t i = 0; i < n; i++) {
        int64_t number;
        (void)whole(item(value, i), &number);
        numbers[i] = number;
    }
    return NC(nc_put_att_longlong(place.group, place.id, name, type, n, numbers));
}

static int put_real(nc_place place, const char *name, nc_type type, const refs_json *value,
                    double *numbers) {
    size_t n = count_items(value);
    for (size_t i = 0; i < n; i++) {
        int64_t number;
        if (!refs_json_double(item(value, i), &numbers[i]))
            numbers[i] = whole(item(value, i), &number) ? (double)number : 0;
    }
    return NC(nc_put_att_double(place.group, place.id, name, type, n, numbers));
}

static int put_unsigned(nc_place place, const char *name, nc_type type, const refs_json *value,
                        unsigned long long *numbers) {
    size_t n = count_items(value);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = 0;
        (void)refs_json_u64(item(value, i), &number);
        numbers[i] = number;
    }
    return NC(nc_put_att_ulonglong(place.group, place.id, name, type, n, numbers));
}

static refs_status put_numbers(nc_file *file, nc_place place, const char *name,
                               const refs_json *value, refs_error *err) {
    union {
        long long whole;
        unsigned long long unsigned64;
        double real;
    } *numbers = refs_calloc(count_items(value), sizeof *numbers);
    if (numbers == NULL) return refs_fail_nomem(err);
    nc_type fitting = fitting_type(file, value), type = wanted_type(place, name, fitting, value);
    int code = NC_ERANGE;
    for (int attempt = 0; attempt < 2 && code == NC_ERANGE; attempt++, type = fitting)
        code = fitting == NC_DOUBLE   ? put_real(place, name, type, value, &numbers->real)
               : fitting == NC_UINT64 ? put_unsigned(place, name, type, value, &numbers->unsigned64)
                                      : put_whole(place, name, type, value, &numbers->whole);
    refs_free(numbers);
    return check(file, code, name, err);
}

/* -- strings ----------------------------------------------------------------------------------- */

refs_status refs_cfa__file_text(nc_file *file, nc_place place, const char *name, refs_str text,
                                refs_error *err) {
    /* libnetcdf 4.9 cannot write empty text to netCDF-3, so a NUL is written */
    if (text.size == 0 && file->format == REFS_CFA_NETCDF3) text = refs_str_view("", 1);
    int code = NC(nc_put_att_text(place.group, place.id, name, text.size, text.data));
    return check(file, code, name, err);
}

static refs_status put_list(nc_file *file, nc_place place, const char *name, const refs_json *value,
                            refs_error *err) {
    size_t n = refs_json_size(value);
    const char **strings = refs_calloc(n, sizeof *strings);
    if (strings == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) strings[i] = refs_json_text(refs_json_at(value, i)).data;
    int code = NC(nc_put_att_string(place.group, place.id, name, n, strings));
    refs_free(strings);
    return check(file, code, name, err);
}

/* netCDF-3 has no lists of strings: writes one text with all words. */
static refs_status put_words(nc_file *file, nc_place place, const char *name,
                             const refs_json *value, refs_error *err) {
    REFS_SCOPED_BUF words = REFS_BUF_INIT;
    for (size_t i = 0; i < refs_json_size(value); i++) {
        if (i > 0) REFS_TRY(refs_buf_append(&words, " ", 1, err));
        REFS_TRY(refs_buf_append_str(&words, refs_json_text(refs_json_at(value, i)), err));
    }
    return refs_cfa__file_text(file, place, name, refs_buf_text(&words), err);
}

static refs_status put_document(nc_file *file, nc_place place, const char *name,
                                const refs_json *value, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_json_write(value, &text, err));
    return refs_cfa__file_text(file, place, name, refs_buf_text(&text), err);
}

/* -- attributes -------------------------------------------------------------------------------- */

static refs_status put(nc_file *file, nc_place place, const char *name, const refs_json *value,
                       refs_error *err) {
    bool is_list = refs_json_is_array(value) && refs_json_size(value) > 0;
    if (refs_json_is_string(value))
        return refs_cfa__file_text(file, place, name, refs_json_text(value), err);
    if (is_number(value) || (is_list && all_items(value, is_number)))
        return put_numbers(file, place, name, value, err);
    if (is_list && all_items(value, refs_json_is_string))
        return file->format == REFS_CFA_NETCDF4 ? put_list(file, place, name, value, err)
                                                : put_words(file, place, name, value, err);
    if (refs_json_kind_of(value) == REFS_JSON_KIND_NULL) return REFS_OK;
    return put_document(file, place, name, value, err);
}

/* Fill values of numbers are their elements (refs_cfa__file_fill), those of strings are text. */
static bool is_fill_of_strings(nc_place place, refs_str name, const refs_json *value) {
    nc_type type;
    return place.id != NC_GLOBAL && refs_str_is(name, "_FillValue") && refs_json_is_string(value) &&
           NC(nc_inq_vartype(place.group, place.id, &type)) == NC_NOERR && type == NC_STRING;
}

static refs_status put_fill_of_strings(nc_file *file, nc_place place, const refs_json *value,
                                       refs_error *err) {
    const char *fill = refs_json_text(value).data;
    return check(file, NC(nc_put_att_string(place.group, place.id, "_FillValue", 1, &fill)),
                 "_FillValue", err);
}

refs_status refs_cfa__file_attributes(nc_file *file, nc_place place, const refs_json *attributes,
                                      refs_error *err) {
    for (size_t i = 0; i < refs_json_size(attributes); i++) {
        refs_str name = refs_json_name_at(attributes, i);
        const refs_json *value = refs_json_at(attributes, i);
        if (is_fill_of_strings(place, name, value))
            REFS_TRY(put_fill_of_strings(file, place, value, err));
        if (is_told_elsewhere(place, name) || refs_aggregation_owns(attributes, name) ||
            name.size == 0)
            continue;
        REFS_SCOPED char *legal = legal_name(name);
        refs_status status =
            legal != NULL ? put(file, place, legal, value, err) : refs_fail_nomem(err);
        REFS_TRY(status);
    }
    return REFS_OK;
}

refs_status refs_cfa__file_fill_nothing(nc_file *file, nc_place place, refs_error *err) {
    if (file->format == REFS_CFA_NETCDF3) return REFS_OK;
    return check(file, NC(nc_def_var_fill(place.group, place.id, NC_NOFILL, NULL)), "", err);
}

refs_status refs_cfa__file_fill(nc_file *file, nc_place place, const refs_dtype *dtype,
                                const uint8_t *fill, refs_error *err) {
    REFS_SCOPED_BUF element = REFS_BUF_INIT;
    nc_type type;
    REFS_TRY(refs_cfa__nc_type(file, "_FillValue", dtype, &type, err));
    REFS_TRY(refs_cfa__nc_convert(dtype, refs_bytes_view(fill, dtype->size), &element, err));
    int code = NC(nc_put_att(place.group, place.id, "_FillValue", type, 1, element.data));
    return check(file, code, "_FillValue", err);
}
