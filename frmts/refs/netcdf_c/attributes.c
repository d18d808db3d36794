/* attributes.c -- converts JSON attributes to netCDF attributes, see ncrefs.h. */
#include "ncrefs.h"
#include "refs/typed.h"

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

refs_status ncrefs_add_at(ncrefs_attributes *all, size_t place, const ncrefs_attribute *attribute,
                          refs_error *err) {
    const ncrefs_types none = {NULL, 0, 0};
    size_t size = attribute->n * ncrefs_size_of(&none, attribute->type);
    ncrefs_attribute copy = *attribute;
    copy.values = refs_alloc(size);
    if (copy.values != NULL) memcpy(copy.values, attribute->values, size);
    REFS_TRY(add(all, &copy, err));
    const size_t at = place < all->n ? place : all->n - 1;
    memmove(all->items + at + 1, all->items + at, (all->n - 1 - at) * sizeof *all->items);
    all->items[at] = copy;
    return REFS_OK;
}

/* -- from JSON --------------------------------------------------------------------------------- */

/* The type of a variable's elements, for numbers in its attributes. */
static const refs_dtype *element_type(nc_type of) {
    static const refs_dtype types[] = {
        [NC_BYTE] = {.type = REFS_TYPE_INT, .size = 1},
        [NC_SHORT] = {.type = REFS_TYPE_INT, .size = 2},
        [NC_INT] = {.type = REFS_TYPE_INT, .size = 4},
        [NC_FLOAT] = {.type = REFS_TYPE_FLOAT, .size = 4},
        [NC_DOUBLE] = {.type = REFS_TYPE_FLOAT, .size = 8},
        [NC_UBYTE] = {.type = REFS_TYPE_UINT, .size = 1},
        [NC_USHORT] = {.type = REFS_TYPE_UINT, .size = 2},
        [NC_UINT] = {.type = REFS_TYPE_UINT, .size = 4},
        [NC_INT64] = {.type = REFS_TYPE_INT, .size = 8},
        [NC_UINT64] = {.type = REFS_TYPE_UINT, .size = 8},
    };
    const bool is_number = of >= NC_BYTE && of <= NC_UINT64 && of != NC_CHAR;
    return is_number ? &types[of] : NULL;
}

static nc_type type_of(const refs_typed *typed) {
    if (typed->kind == REFS_TYPED_TEXTS) return NC_STRING;
    if (typed->kind == REFS_TYPED_TEXT || typed->n == 0) return NC_CHAR; /* ncdump shows "" */
    for (nc_type type = NC_BYTE; type <= NC_UINT64; type++) {
        const refs_dtype *dtype = element_type(type);
        if (dtype != NULL && dtype->type == typed->dtype.type && dtype->size == typed->dtype.size)
            return type;
    }
    return NC_NAT;
}

static refs_status add_one_of(const refs_json *object, size_t i, nc_type of, ncrefs_attributes *all,
                              refs_error *err) {
    refs_typed typed;
    refs_status status = refs_typed_read_one_of(object, i, element_type(of), &typed, err);
    if (status == REFS_OK) {
        const ncrefs_attribute made = {refs_json_name_at(object, i).data, type_of(&typed), typed.n,
                                       typed.values};
        return add(all, &made, err);
    }
    refs_free(typed.values);
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

refs_status ncrefs_add_attributes(const refs_json *object, nc_type of, ncrefs_attributes *all,
                                  refs_error *err) {
    static const refs_dtype no_number = {.type = REFS_TYPE_RAW};
    const refs_dtype *elements = element_type(of) != NULL ? element_type(of) : &no_number;
    for (size_t i = 0; i < refs_json_size(object); i++) {
        const char *name = refs_json_name_at(object, i).data;
        const refs_json *value = refs_json_at(object, i);
        if (refs_typed_is_hidden(name)) continue;
        if (of != NC_NAT && strcmp(name, NCREFS_FILL) == 0 &&
            !refs_typed_is_odd_fill(value, elements))
            continue;
        REFS_TRY(add_one_of(object, i, of, all, err));
    }
    return REFS_OK;
}
