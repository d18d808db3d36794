/* attributes.c -- attributes in JSON as those of netCDF, see ncrefs.h. JSON does not say which type
 * a number had: integers are NC_INT or the first of NC_INT64, NC_UINT64 that holds them, others
 * NC_DOUBLE. */
#include "ncrefs.h"
#include "refs/cf.h"

#include "refs/own_attributes.h"

/* What Zarr, HDF5 and the netCDF libraries write for themselves. */
static const char *const hidden[] = {
    "_ARRAY_DIMENSIONS",       "_Netcdf4Dimid",       "_Netcdf4Coordinates", "_nc3_strict",
    "_NCProperties",           "_NCZARR_ARRAY",       "_NCZARR_GROUP",       "_NCZARR_ATTR",
    "_NCZARR_SUPERBLOCK",      "_nczarr_array",       "_nczarr_group",       "_nczarr_attrs",
    "_nczarr_superblock",      "DIMENSION_LIST",      "REFERENCE_LIST",      "tiff_colors",
    REFS_UNLIMITED_DIMENSIONS, REFS_UNUSED_DIMENSIONS};

#define N(list) (sizeof(list) / sizeof *(list))

static bool is_among(const char *name, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

void ncrefs_attributes_clear(ncrefs_attributes *all) {
    for (size_t i = 0; i < all->n; i++) refs_free(all->items[i].values);
    refs_free(all->items);
    memset(all, 0, sizeof *all);
}

const ncrefs_attribute *ncrefs_find_attribute(const ncrefs_attributes *all, const char *name) {
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i].name, name) == 0) return &all->items[i];
    return NULL;
}

static refs_status add(ncrefs_attributes *all, const ncrefs_attribute *attribute, refs_error *err) {
    if (attribute->values == NULL ||
        !refs_grow((void **)&all->items, &all->capacity, all->n, sizeof *all->items)) {
        refs_free(attribute->values);
        return refs_fail_nomem(err);
    }
    all->items[all->n++] = *attribute;
    return REFS_OK;
}

refs_status ncrefs_add_first(ncrefs_attributes *all, const ncrefs_attribute *attribute,
                             refs_error *err) {
    const ncrefs_types none = {NULL, 0, 0};
    size_t size = attribute->n * ncrefs_size_of(&none, attribute->type);
    ncrefs_attribute copy = *attribute;
    copy.values = refs_alloc(size);
    if (copy.values != NULL) memcpy(copy.values, attribute->values, size);
    REFS_TRY(add(all, &copy, err));
    memmove(all->items + 1, all->items, (all->n - 1) * sizeof *all->items);
    all->items[0] = copy;
    return REFS_OK;
}

/* -- text -------------------------------------------------------------------------------------- */

static refs_status add_text(const char *name, refs_str text, ncrefs_attributes *all,
                            refs_error *err) {
    ncrefs_attribute made = {name, NC_CHAR, text.size, refs_alloc(text.size)};
    if (made.values != NULL) memcpy(made.values, text.data, text.size);
    return add(all, &made, err);
}

/* A value that is not a text, as JSON. */
static refs_status append_value(const refs_json *value, refs_buf *strings, refs_error *err) {
    if (refs_json_is_string(value))
        REFS_TRY(refs_buf_append_str(strings, refs_json_text(value), err));
    else
        REFS_TRY(refs_json_write(value, strings, err));
    return refs_buf_append(strings, "", 1, err);
}

static refs_status add_strings(const char *name, const refs_json *list, ncrefs_attributes *all,
                               refs_error *err) {
    refs_buf strings = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    size_t n = refs_json_size(list);
    for (size_t i = 0; i < n && status == REFS_OK; i++)
        status = append_value(refs_json_at(list, i), &strings, err);
    ncrefs_attribute made = {name, NC_STRING, n, NULL};
    if (status == REFS_OK &&
        (made.values = refs_alloc(n * sizeof(char *) + strings.size)) != NULL) {
        char **pointers = made.values, *text = (char *)(pointers + n);
        if (strings.size > 0) memcpy(text, strings.data, strings.size);
        for (size_t i = 0; i < n; i++, text += strlen(text) + 1) pointers[i] = text;
    }
    refs_buf_clear(&strings);
    return status == REFS_OK ? add(all, &made, err) : status;
}

static refs_status add_json(const char *name, const refs_json *value, ncrefs_attributes *all,
                            refs_error *err) {
    refs_buf text = REFS_BUF_INIT;
    refs_status status = refs_json_write(value, &text, err);
    if (status == REFS_OK)
        status = add_text(name, refs_str_view((const char *)text.data, text.size), all, err);
    refs_buf_clear(&text);
    return status;
}

/* -- numbers ----------------------------------------------------------------------------------- */

/* One value or a list of them. */
static const refs_json *item(const refs_json *value, size_t i) {
    return refs_json_is_array(value) ? refs_json_at(value, i) : value;
}

static bool is_written_as_integer(const refs_json *number) {
    refs_str text = refs_json_text(number);
    return text.size > 0 && strspn(text.data, "-0123456789") == text.size;
}

/* NC_NAT: they are not all numbers. */
static nc_type type_of_numbers(const refs_json *value, size_t n) {
    nc_type type = NC_INT;
    for (size_t i = 0; i < n; i++) {
        int64_t number = 0;
        uint64_t positive = 0;
        bool truth;
        if (refs_json_bool(item(value, i), &truth)) continue;
        if (!refs_json_is_number(item(value, i))) return NC_NAT;
        if (!is_written_as_integer(item(value, i)))
            type = NC_DOUBLE;
        else if (!refs_json_i64(item(value, i), &number))
            type = type == NC_DOUBLE || !refs_json_u64(item(value, i), &positive) ? NC_DOUBLE
                                                                                  : NC_UINT64;
        else if ((number > INT32_MAX || number < INT32_MIN) && type == NC_INT)
            type = NC_INT64;
    }
    return n > 0 ? type : NC_NAT;
}

static void put_number(const refs_json *value, nc_type type, void *values, size_t i) {
    int64_t integer = 0;
    uint64_t positive = 0;
    double real = 0;
    bool truth = false;
    if (refs_json_bool(value, &truth)) integer = truth, positive = truth, real = truth;
    (void)refs_json_i64(value, &integer);
    (void)refs_json_u64(value, &positive);
    (void)refs_json_double(value, &real);
    if (type == NC_DOUBLE) ((double *)values)[i] = real;
    if (type == NC_INT) ((int32_t *)values)[i] = (int32_t)integer;
    if (type == NC_INT64) ((int64_t *)values)[i] = integer;
    if (type == NC_UINT64) ((uint64_t *)values)[i] = positive;
}

/* Gives numbers the type of their variable where that loses nothing. Reals of a variable of
 * integers stay what they are: sets write 0.0 for a bound of unpacked values, and 0 for one of
 * packed ones. */
static refs_status retype(ncrefs_attribute *made, nc_type type, refs_error *err) {
    const ncrefs_types none = {NULL, 0, 0};
    if (made->type == NC_DOUBLE && type != NC_FLOAT) return REFS_OK;
    size_t size = ncrefs_size_of(&none, made->type);
    void *values = refs_calloc(made->n, ncrefs_size_of(&none, type));
    void *back = refs_calloc(made->n, size);
    refs_status status = values != NULL && back != NULL ? REFS_OK : refs_fail_nomem(err);
    bool is_same = status == REFS_OK &&
                   ncrefs_convert(made->type, made->values, type, values, made->n) == NC_NOERR &&
                   ncrefs_convert(type, values, made->type, back, made->n) == NC_NOERR &&
                   memcmp(back, made->values, made->n * size) == 0;
    if (is_same) {
        refs_free(made->values);
        made->values = values;
        made->type = type;
        values = NULL;
    }
    refs_free(values);
    refs_free(back);
    return status;
}

static refs_status add_numbers(const char *name, const refs_json *value, nc_type of,
                               ncrefs_attributes *all, refs_error *err) {
    const ncrefs_types none = {NULL, 0, 0};
    size_t n = refs_json_is_array(value) ? refs_json_size(value) : 1;
    ncrefs_attribute made = {name, type_of_numbers(value, n), n, NULL};
    if (n == 0) return add_text(name, refs_str_view("", 0), all, err); /* ncdump shows both as "" */
    if (made.type == NC_NAT)
        return refs_json_is_array(value) ? add_strings(name, value, all, err)
                                         : add_json(name, value, all, err);
    made.values = refs_calloc(n, ncrefs_size_of(&none, made.type));
    if (made.values == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) put_number(item(value, i), made.type, made.values, i);
    bool is_number = of >= NC_BYTE && of <= NC_UINT64 && of != NC_CHAR;
    refs_status status = REFS_OK;
    if (is_number && of != made.type && refs_cf_has_type_of_variable(refs_str_from(name)))
        status = retype(&made, of, err);
    if (status == REFS_OK) return add(all, &made, err);
    refs_free(made.values);
    return status;
}

refs_status ncrefs_add_fill_text(ncrefs_attributes *all, nc_type type, refs_str text,
                                 refs_error *err) {
    size_t pointer_size = type == NC_STRING ? sizeof(char *) : 0;
    ncrefs_attribute made = {NCREFS_FILL, type, 1, refs_calloc(1, pointer_size + text.size + 1)};
    if (made.values != NULL) {
        char *copy = (char *)made.values + pointer_size;
        if (text.size > 0) memcpy(copy, text.data, text.size);
        if (pointer_size > 0) memcpy(made.values, &copy, sizeof copy);
    }
    return add(all, &made, err);
}

/* Whether _FillValue is a real in a variable of integers: the file has it as a double. */
static bool is_fill_of_other_type(const refs_json *value, nc_type of) {
    const refs_json *number = item(value, 0);
    return of != NC_FLOAT && of != NC_DOUBLE && refs_json_is_number(number) &&
           !is_written_as_integer(number);
}

refs_status ncrefs_add_attributes(const refs_json *object, nc_type of, ncrefs_attributes *all,
                                  refs_error *err) {
    for (size_t i = 0; i < refs_json_size(object); i++) {
        const char *name = refs_json_name_at(object, i).data;
        const refs_json *value = refs_json_at(object, i);
        if (is_among(name, hidden, N(hidden)) || *name == '\0') continue;
        if (of != NC_NAT && strcmp(name, NCREFS_FILL) == 0 && !is_fill_of_other_type(value, of))
            continue;
        if (refs_json_is_string(value))
            REFS_TRY(add_text(name, refs_json_text(value), all, err));
        else if (refs_json_is_object(value) || refs_json_kind_of(value) == REFS_JSON_KIND_NULL)
            REFS_TRY(add_json(name, value, all, err));
        else
            REFS_TRY(add_numbers(name, value, of, all, err));
    }
    return REFS_OK;
}
