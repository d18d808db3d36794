/* describe.c -- the users' view of a hierarchy, see library.h. */
#include <stdio.h>
#include <string.h>

#include "library.h"
#include "refs/cf.h"
#include "refs/own_attributes.h"
#include "refs/typed.h"

#define FILL "_FillValue"

/* -- memory ------------------------------------------------------------------------------------ */

/* Takes ownership of `memory`, from refs_alloc; frees it and returns false when memory ran out. */
static bool keep_this(refs_keeper *keeper, void *memory) {
    if (memory != NULL &&
        refs_grow((void **)&keeper->items, &keeper->capacity, keeper->n, sizeof(void *))) {
        keeper->items[keeper->n++] = memory;
        return true;
    }
    refs_free(memory);
    return false;
}

/* Allocates zeroed memory that lives as long as the dataset, or NULL. */
static void *keep(refs_keeper *keeper, size_t count, size_t size) {
    void *memory = refs_calloc(count + 1, size);
    return keep_this(keeper, memory) ? memory : NULL;
}

static void keeper_clear(refs_keeper *keeper) {
    for (size_t i = 0; i < keeper->n; i++) refs_free(keeper->items[i]);
    refs_free(keeper->items);
    memset(keeper, 0, sizeof *keeper);
}

/* -- types ------------------------------------------------------------------------------------- */

/* The type string of elements in this machine's byte order. */
static refs_status describe_type(const refs_dtype *dtype, refs_keeper *keeper, const char **type,
                                 refs_error *err) {
    const size_t size = 40;
    char *text = keep(keeper, size, 1);
    refs_dtype native = *dtype;
    if (text == NULL) return refs_fail_nomem(err);
    native.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    refs_dtype_format(&native, text, size);
    if (*text == '\0') snprintf(text, size, "|V%zu", dtype->size);
    *type = text;
    return REFS_OK;
}

/* -- attributes -------------------------------------------------------------------------------- */

/* A list of attributes that is being filled; there is room for all. */
typedef struct listing {
    refs_keeper *keeper;
    refs_attribute *items;
    size_t n;
} listing;

static refs_status open_listing(refs_keeper *keeper, size_t most, listing *list, refs_error *err) {
    *list = (listing){keeper, keep(keeper, most, sizeof(refs_attribute)), 0};
    return list->items != NULL ? REFS_OK : refs_fail_nomem(err);
}

static refs_status add_typed(listing *list, const char *name, const refs_typed *typed,
                             refs_error *err) {
    refs_attribute *made = &list->items[list->n];
    *made = (refs_attribute){.name = name, .type = "", .n = typed->n, .values = typed->values};
    made->is_list = typed->is_list;
    made->kind = typed->kind == REFS_TYPED_TEXT    ? REFS_ATTRIBUTE_TEXT
                 : typed->kind == REFS_TYPED_TEXTS ? REFS_ATTRIBUTE_TEXTS
                                                   : REFS_ATTRIBUTE_NUMBERS;
    if (!keep_this(list->keeper, typed->values)) return refs_fail_nomem(err);
    list->n++;
    return typed->kind == REFS_TYPED_NUMBERS
               ? describe_type(&typed->dtype, list->keeper, &made->type, err)
               : REFS_OK;
}

static refs_status add_all(listing *list, const refs_json *object, const refs_dtype *of,
                           refs_error *err) {
    for (size_t i = 0; i < refs_json_size(object); i++) {
        const refs_str name = refs_json_name_at(object, i);
        const refs_json *value = refs_json_at(object, i);
        refs_typed typed;
        if (refs_typed_is_hidden(name.data)) continue;
        if (of != NULL && refs_str_is(name, FILL) && !refs_typed_is_odd_fill(value, of)) continue;
        refs_status status = refs_typed_read_one_of(object, i, of, &typed, err);
        if (status != REFS_OK) refs_free(typed.values);
        REFS_TRY(status);
        REFS_TRY(add_typed(list, name.data, &typed, err));
    }
    return REFS_OK;
}

static bool has(const listing *list, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0) return true;
    return false;
}

/* Adds the _FillValue of an array of strings, a string. */
static refs_status add_text_fill(listing *list, const refs_array_meta *meta, refs_error *err) {
    refs_typed typed;
    const refs_json *said = refs_json_get(meta->attributes, FILL);
    if (!refs_json_is_string(said)) return REFS_OK;
    refs_status status = refs_typed_read(refs_str_from(FILL), said, NULL, &typed, err);
    if (status != REFS_OK) refs_free(typed.values);
    REFS_TRY(status);
    return add_typed(list, FILL, &typed, err);
}

/* Whether the fill value is netCDF's default in a set whose writer moved attributes into the
 * metadata: the file may have declared it, and the value is missing in any case (NUG, "Fill
 * Values"), except for bytes. */
static bool may_declare_default(const refs_hierarchy *hierarchy, const refs_array_meta *meta) {
    return !refs_hierarchy_keeps_attributes(hierarchy) && meta->has_fill && meta->dtype.size > 1 &&
           refs_cf_is_default_fill(&meta->dtype, meta->fill);
}

/* Only the attribute _FillValue declares missing values in version 3, not fill_value; and netCDF's
 * default in masters. */
static bool find_fill(const refs_hierarchy *hierarchy, const refs_array_meta *meta, void *fill) {
    const bool needs_attribute =
        meta->aggregation != NULL
            ? meta->has_fill && refs_cf_is_default_fill(&meta->dtype, meta->fill)
            : meta->zarr_format == 3 && !meta->was_v2;
    if (needs_attribute && refs_json_get(meta->attributes, FILL) == NULL) return false;
    if (refs_cf_declared_fill(hierarchy, meta, fill)) return true;
    if (!may_declare_default(hierarchy, meta)) return false;
    memcpy(fill, meta->fill, meta->dtype.size);
    return true;
}

/* Adds the _FillValue that the file declared, which writers move into the metadata; NaT for
 * ticks. */
static refs_status add_fill(listing *list, const refs_hierarchy *hierarchy,
                            const refs_array_meta *meta, refs_error *err) {
    const refs_type type = meta->dtype.type;
    if (type == REFS_TYPE_DATETIME || type == REFS_TYPE_TIMEDELTA || has(list, FILL))
        return REFS_OK;
    if (!refs_dtype_is_numeric(&meta->dtype)) return add_text_fill(list, meta, err);
    refs_typed typed = {.kind = REFS_TYPED_NUMBERS, .dtype = meta->dtype, .n = 1};
    typed.values = refs_calloc(1, meta->dtype.size);
    if (typed.values == NULL) return refs_fail_nomem(err);
    if (find_fill(hierarchy, meta, typed.values)) return add_typed(list, FILL, &typed, err);
    refs_free(typed.values);
    return REFS_OK;
}

static void move_last_to(listing *list, size_t place) {
    const refs_attribute last = list->items[list->n - 1];
    if (place >= list->n) return;
    memmove(list->items + place + 1, list->items + place,
            (list->n - 1 - place) * sizeof *list->items);
    list->items[place] = last;
}

/* -- groups ------------------------------------------------------------------------------------ */

static refs_status list_unlimited(const refs_json *names, refs_keeper *keeper,
                                  refs_group_info *info, refs_error *err) {
    const char **list = keep(keeper, refs_json_size(names), sizeof *list);
    if (list == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < refs_json_size(names); i++)
        list[i] = refs_json_text(refs_json_at(names, i)).data;
    info->unlimited = list;
    info->n_unlimited = refs_json_size(names);
    return REFS_OK;
}

static refs_status describe_group(const refs_group_meta *meta, refs_keeper *keeper,
                                  refs_group_info *info, refs_error *err) {
    listing list;
    *info = (refs_group_info){.path = meta->path, .name = meta->name};
    REFS_TRY(open_listing(keeper, refs_json_size(meta->attributes), &list, err));
    REFS_TRY(add_all(&list, meta->attributes, NULL, err));
    info->attributes = list.items;
    info->n_attributes = list.n;
    return list_unlimited(refs_json_get(meta->attributes, REFS_UNLIMITED_DIMENSIONS), keeper, info,
                          err);
}

static refs_status describe_groups(const refs_hierarchy *hierarchy, refs_description *description,
                                   refs_error *err) {
    const size_t n = refs_hierarchy_n_groups(hierarchy);
    description->groups = keep(&description->keeper, n, sizeof *description->groups);
    if (description->groups == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const refs_group_meta *meta = refs_hierarchy_group(hierarchy, i);
        if (meta->is_instruction) continue;
        REFS_TRY(describe_group(meta, &description->keeper,
                                &description->groups[description->n_groups++], err));
    }
    return REFS_OK;
}

/* -- arrays ------------------------------------------------------------------------------------ */

/* Whether the file named the dimension: writers of Zarr invent such names. */
static bool is_named(const refs_array_meta *meta, size_t dim) {
    return meta->named_dims && meta->dims[dim][0] != '\0' &&
           !refs_str_starts(refs_str_from(meta->dims[dim]), "phony_dim_");
}

static refs_status describe_dims(const refs_array_meta *meta, refs_keeper *keeper,
                                 refs_array_info *info, refs_error *err) {
    const char **dims = keep(keeper, meta->rank, sizeof *dims);
    if (dims == NULL) return refs_fail_nomem(err);
    for (size_t dim = 0; dim < meta->rank; dim++)
        dims[dim] = is_named(meta, dim) ? meta->dims[dim] : NULL;
    info->dims = dims;
    return REFS_OK;
}

static refs_status print_codec(const refs_array_meta *meta, size_t i, refs_buf *text,
                               refs_error *err) {
    const refs_codec_spec *codec = &meta->codecs[i];
    if (i > 0) REFS_TRY(refs_buf_append(text, ",", 1, err));
    if (meta->zarr_format == 2 && codec->config != NULL)
        return refs_json_write(codec->config, text, err);
    REFS_TRY(refs_buf_printf(text, err, "{\"name\":"));
    REFS_TRY(refs_json_write_string(refs_str_from(codec->id), text, err));
    if (codec->config != NULL) REFS_TRY(refs_buf_printf(text, err, ",\"configuration\":"));
    if (codec->config != NULL) REFS_TRY(refs_json_write(codec->config, text, err));
    return refs_buf_append(text, "}", 1, err);
}

static refs_status describe_codecs(const refs_array_meta *meta, refs_keeper *keeper,
                                   refs_array_info *info, refs_error *err) {
    REFS_SCOPED_BUF text = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append(&text, "[", 1, err));
    for (size_t i = 0; i < meta->n_codecs; i++) REFS_TRY(print_codec(meta, i, &text, err));
    REFS_TRY(refs_buf_append(&text, "]", 1, err));
    char *taken = refs_buf_take_text(&text);
    info->codecs = taken;
    return keep_this(keeper, taken) ? REFS_OK : refs_fail_nomem(err);
}

static refs_status describe_attributes(const refs_hierarchy *hierarchy, const refs_array_meta *meta,
                                       refs_keeper *keeper, refs_array_info *info,
                                       refs_error *err) {
    static const refs_dtype none = {.type = REFS_TYPE_RAW};
    const bool is_read = meta->status == REFS_OK;
    listing list;
    REFS_TRY(open_listing(keeper, refs_json_size(meta->attributes) + 1, &list, err));
    REFS_TRY(add_all(&list, meta->attributes, is_read ? &meta->dtype : &none, err));
    const size_t n = list.n;
    if (is_read) REFS_TRY(add_fill(&list, hierarchy, meta, err));
    if (list.n > n) move_last_to(&list, refs_typed_fill_place(meta->attributes));
    info->attributes = list.items;
    info->n_attributes = list.n;
    return REFS_OK;
}

static refs_status describe_array(const refs_hierarchy *hierarchy, const refs_array_meta *meta,
                                  refs_keeper *keeper, refs_array_info *info, refs_error *err) {
    info->path = meta->path;
    info->name = meta->name;
    info->group = meta->group;
    info->status = meta->status;
    info->problem = meta->problem;
    info->type = info->codecs = "";
    REFS_TRY(describe_attributes(hierarchy, meta, keeper, info, err));
    if (meta->status != REFS_OK) return REFS_OK;
    info->size = meta->dtype.size;
    info->rank = meta->rank;
    info->shape = meta->shape;
    info->chunks = meta->chunk;
    info->fill = meta->dtype.size > 0 ? meta->fill : NULL;
    info->is_aggregation = meta->aggregation != NULL;
    REFS_TRY(describe_type(&meta->dtype, keeper, &info->type, err));
    REFS_TRY(describe_dims(meta, keeper, info, err));
    return describe_codecs(meta, keeper, info, err);
}

static refs_status describe_arrays(const refs_hierarchy *hierarchy, refs_description *description,
                                   refs_error *err) {
    const size_t n = refs_hierarchy_n_arrays(hierarchy);
    description->arrays = keep(&description->keeper, n, sizeof *description->arrays);
    if (description->arrays == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const refs_array_meta *meta = refs_hierarchy_array(hierarchy, i);
        refs_library_array *array = &description->arrays[description->n_arrays];
        if (meta->is_instruction) continue;
        array->meta = meta;
        array->info.number = description->n_arrays++;
        REFS_TRY(describe_array(hierarchy, meta, &description->keeper, &array->info, err));
    }
    return REFS_OK;
}

refs_status refs_describe(const refs_hierarchy *hierarchy, refs_description *description,
                          refs_error *err) {
    REFS_TRY(describe_groups(hierarchy, description, err));
    return describe_arrays(hierarchy, description, err);
}

void refs_description_clear(refs_description *description) {
    for (size_t i = 0; i < description->n_arrays; i++) {
        refs_reader_free(description->arrays[i].reader);
        refs_array_free(description->arrays[i].array);
    }
    keeper_clear(&description->keeper);
    memset(description, 0, sizeof *description);
}
