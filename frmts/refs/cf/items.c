/* items.c -- lists of NAME=VALUE strings. */
#include "cf_internal.h"

#include "refs/own_attributes.h"

void refs_cf_items_clear(refs_cf_items *items) {
    for (size_t i = 0; i < items->n; i++) refs_free(items->items[i]);
    refs_free(items->items);
    *items = (refs_cf_items){NULL, 0, 0};
}

/* Adds the text in `item`, which is empty then. */
static refs_status take_item(refs_cf_items *items, refs_buf *item, refs_error *err) {
    REFS_GROW(items->items, items->capacity, items->n, err);
    REFS_TRY(refs_buf_keep(item, &items->items[items->n], err));
    items->n++;
    return REFS_OK;
}

refs_status refs_cf__add_item(refs_cf_items *items, const char *name, refs_str value,
                              refs_error *err) {
    REFS_SCOPED_BUF item = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&item, refs_str_from(name), err));
    REFS_TRY(refs_buf_append(&item, "=", 1, err));
    REFS_TRY(refs_buf_append_str(&item, value, err));
    return take_item(items, &item, err);
}

refs_status refs_cf__copy_item(refs_cf_items *items, const char *item, refs_error *err) {
    REFS_SCOPED_BUF copy = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&copy, refs_str_from(item), err));
    return take_item(items, &copy, err);
}

/* xarray's names of dimensions are not an attribute of the file, and bands have colours, masks
 * and what is said of them themselves; null says nothing. */
static bool is_shown(refs_str name, const refs_json *value) {
    return !refs_str_is(name, "_ARRAY_DIMENSIONS") &&
           !refs_str_is(name, REFS_UNLIMITED_DIMENSIONS) &&
           !refs_str_is(name, REFS_UNUSED_DIMENSIONS) && !refs_str_is(name, "tiff_colors") &&
           !refs_str_is(name, "tiff_gray") && !refs_str_is(name, "tiff_mask") &&
           !refs_str_is(name, "tiff_samples") && !refs_str_is(name, "_CRS") &&
           refs_json_kind_of(value) != REFS_JSON_KIND_NULL;
}

refs_status refs_cf__add_attribute(refs_cf_items *items, refs_str prefix, refs_str name,
                                   const refs_json *value, refs_error *err) {
    if (!is_shown(name, value)) return REFS_OK;
    REFS_SCOPED_BUF item = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&item, prefix, err));
    REFS_TRY(refs_buf_append_str(&item, name, err));
    REFS_TRY(refs_buf_append(&item, "=", 1, err));
    REFS_TRY(refs_cf__print_attribute(value, &item, err));
    return take_item(items, &item, err);
}

refs_status refs_cf__add_attributes(refs_cf_items *items, refs_str prefix,
                                    const refs_json *attributes, refs_error *err) {
    for (size_t i = 0; i < refs_json_size(attributes); i++)
        REFS_TRY(refs_cf__add_attribute(items, prefix, refs_json_name_at(attributes, i),
                                        refs_json_at(attributes, i), err));
    return REFS_OK;
}
