/* variable.c -- see dmrpp/variable.h. */
#include "dmrpp/variable.h"

#include "builder.h"
#include "refs/json.h"

void refs_references__dmrpp_variable_clear(refs_dmrpp_variable *variable) {
    refs_buf *const buffers[] = {
        &variable->path, &variable->dim_names, &variable->attributes, &variable->fill_attribute,
        &variable->maps, &variable->filters,   &variable->fill,       &variable->bytes};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) refs_buf_clear(buffers[i]);
    refs_free(variable->chunks);
    refs_free(variable->positions);
    memset(variable, 0, sizeof *variable);
}

bool refs_references__dmrpp_n_elements(const refs_dmrpp_variable *variable, uint64_t *n) {
    *n = 1;
    for (size_t i = 0; i < variable->rank; i++)
        if (!refs_mul_u64(*n, variable->shape[i], n)) return false;
    return true;
}

/* -- elements ---------------------------------------------------------------------------------- */

/* The string length if no element states it: that of the single stored value. */
static uint64_t scalar_string_size(const refs_dmrpp_variable *variable) {
    uint64_t size = variable->fill.size;
    if (variable->storage == REFS_DMRPP_COMPACT) size = variable->bytes.size;
    if (variable->storage == REFS_DMRPP_CHUNKS && variable->n_chunks == 1)
        size = variable->chunks[0].length;
    return size > 0 ? size : 1;
}

/* Whether a scalar may be HDF5's reference to a variable-length string: 4 bytes of length, 8 of
 * address, 4 of index. build_dmrpp writes a fillValue for strings of fixed length; without one, or
 * with "unsupported-string", both are possible. */
static bool may_be_heap_reference(const refs_dmrpp_variable *variable) {
    enum { REFERENCE = 16 };
    return variable->rank == 0 && variable->storage == REFS_DMRPP_CHUNKS &&
           (!variable->has_fill ||
            refs_str_is(refs_buf_text(&variable->fill), "unsupported-string")) &&
           scalar_string_size(variable) == REFERENCE;
}

static refs_status find_element_size(const refs_dmrpp_variable *variable, uint64_t *size,
                                     refs_error *err) {
    enum { MOST = 1 << 30 };
    *size = variable->type->size;
    if (variable->type->kind == 0)
        return refs_fail(err, REFS_UNSUPPORTED, "type %s is not supported", variable->type->name);
    if (variable->type->kind != 'S' || variable->storage == REFS_DMRPP_STRINGS) return REFS_OK;
    if (refs_str_is(refs_buf_text(&variable->fill), "unsupported-variable-length-string"))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the DMR++ has no byte ranges for its strings of variable length");
    if (variable->is_fixed_string)
        *size = variable->string_length;
    else if (may_be_heap_reference(variable))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "expected the length of a string, found 16 bytes that may refer to one of "
                         "variable length: open the data file");
    else if (variable->rank == 0 && variable->filters.size == 0)
        *size = scalar_string_size(variable);
    if (*size > 0 && *size <= MOST) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "the DMR++ has no length for its strings");
}

static refs_status append_dtype(const refs_dmrpp_variable *variable, uint64_t size, refs_buf *json,
                                refs_error *err) {
    char kind = variable->type->kind, order = variable->is_big_endian ? '>' : '<';
    if (variable->storage == REFS_DMRPP_STRINGS) return refs_buf_printf(json, err, "\"|O\"");
    if (size == 1 || kind == 'S') order = '|';
    return refs_buf_printf(json, err, "\"%c%c%llu\"", order, kind, (unsigned long long)size);
}

/* -- filters ----------------------------------------------------------------------------------- */

static bool next_word(refs_str *text, refs_str *word) {
    *text = refs_str_trim(*text, " \t\r\n");
    *word = refs_str_part(*text, 0, refs_str_find(*text, ' '));
    *text = refs_str_part(*text, word->size, text->size);
    return word->size > 0;
}

static bool has_word(refs_str text, const char *name) {
    refs_str word;
    while (next_word(&text, &word))
        if (refs_str_is(word, name)) return true;
    return false;
}

/* A filter pipeline, in the order of encoding. */
typedef struct pipeline {
    uint64_t element_size;
    size_t n, n_checksums; /* so far; n_checksums of them are fletcher32 */
    refs_buf *json;
} pipeline;

/* As in HDF5, behind checksums alone the size of the data is known. */
static bool may_leave_bytes(const pipeline *filters) {
    enum { CHECKSUM_BYTES = 4 };
    if (filters->n_checksums < filters->n) return true;
    return filters->n > 0 &&
           (filters->element_size == 0 || filters->n * CHECKSUM_BYTES % filters->element_size != 0);
}

static refs_status append_filter(refs_str name, pipeline *filters, refs_error *err) {
    refs_buf *json = filters->json;
    const bool leaves_bytes = may_leave_bytes(filters),
               is_checksum = refs_str_is(name, "fletcher32");
    if (filters->n++ > 0) REFS_TRY(refs_buf_append(json, ",", 1, err));
    if (is_checksum) filters->n_checksums++;
    if (refs_str_is(name, "deflate")) return refs_buf_printf(json, err, "{\"id\":\"zlib\"}");
    if (is_checksum) return refs_buf_printf(json, err, "{\"id\":\"fletcher32\"}");
    if (refs_str_is(name, "shuffle"))
        return refs_buf_printf(json, err, "{\"id\":\"shuffle\",\"elementsize\":%llu%s}",
                               (unsigned long long)filters->element_size,
                               leaves_bytes ? ",\"leftover\":true" : "");
    return refs_fail(err, REFS_UNSUPPORTED,
                     "compression \"%.*s\" is not supported: the DMR++ has no parameters for it",
                     REFS_STR_ARG(name));
}

static refs_status append_filters(const refs_dmrpp_variable *variable, bool are_old,
                                  uint64_t element_size, refs_buf *json, refs_error *err) {
    refs_str names = refs_buf_text(&variable->filters), name;
    pipeline filters = {element_size, 0, 0, json};
    while (next_word(&names, &name)) REFS_TRY(append_filter(name, &filters, err));
    if (!are_old || filters.n == 0) return REFS_OK;
    /* Old documents list them in the wrong order; the server restores it (DMZ::process_dataset). */
    static const char *const order[] = {"shuffle", "deflate", "fletcher32"};
    json->size = 0;
    filters.n = filters.n_checksums = 0;
    for (size_t i = 0; i < 3; i++)
        if (has_word(refs_buf_text(&variable->filters), order[i]))
            REFS_TRY(append_filter(refs_str_from(order[i]), &filters, err));
    return REFS_OK;
}

static refs_status append_codecs(const refs_dmrpp_variable *variable, bool are_old,
                                 uint64_t element_size, refs_buf *json, refs_error *err) {
    uint64_t n = 0;
    REFS_SCOPED_BUF list = REFS_BUF_INIT;
    if (variable->storage == REFS_DMRPP_STRINGS)
        REFS_TRY(refs_buf_printf(&list, err, "{\"id\":\"vlen-utf8\"}"));
    else if (variable->storage == REFS_DMRPP_MISSING)
        REFS_TRY(refs_references__dmrpp_n_elements(variable, &n) && n == 1
                     ? REFS_OK
                     : refs_buf_printf(&list, err, "{\"id\":\"zlib\"}"));
    else if (variable->storage != REFS_DMRPP_COMPACT)
        REFS_TRY(append_filters(variable, are_old, element_size, &list, err));
    if (list.size == 0) REFS_TRY(refs_buf_append(json, "null", 4, err));
    if (list.size > 0) {
        REFS_TRY(refs_buf_append(json, "[", 1, err));
        REFS_TRY(refs_buf_append_str(json, refs_buf_text(&list), err));
        REFS_TRY(refs_buf_append(json, "]", 1, err));
    }
    return REFS_OK;
}

/* -- documents --------------------------------------------------------------------------------- */

static refs_status append_numbers(const char *name, const uint64_t *numbers, size_t n,
                                  refs_buf *json, refs_error *err) {
    REFS_TRY(refs_buf_printf(json, err, "\"%s\":[", name));
    for (size_t i = 0; i < n; i++)
        REFS_TRY(
            refs_buf_printf(json, err, "%s%llu", i > 0 ? "," : "", (unsigned long long)numbers[i]));
    return refs_buf_append(json, "],", 2, err);
}

static refs_status append_fill(const refs_dmrpp_variable *variable, uint64_t element_size,
                               refs_buf *json, refs_error *err) {
    const refs_dmrpp_fill fill = {variable->type->kind, (size_t)element_size,
                                  refs_buf_text(&variable->fill),
                                  refs_buf_text(&variable->fill_attribute)};
    if (variable->storage == REFS_DMRPP_STRINGS) return refs_buf_append(json, "\"\"", 2, err);
    return refs_references__dmrpp_fill_value(&fill, json, err);
}

static refs_status write_zarray(const refs_dmrpp_variable *variable, uint64_t element_size,
                                bool has_old_filters, refs_buf *json, refs_error *err) {
    REFS_TRY(refs_buf_printf(json, err, "{\"zarr_format\":2,\"order\":\"C\",\"compressor\":null,"));
    REFS_TRY(append_numbers("shape", variable->shape, variable->rank, json, err));
    REFS_TRY(append_numbers("chunks", variable->chunk_shape, variable->rank, json, err));
    REFS_TRY(refs_buf_printf(json, err, "\"dtype\":"));
    REFS_TRY(append_dtype(variable, element_size, json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"filters\":"));
    REFS_TRY(append_codecs(variable, has_old_filters, element_size, json, err));
    REFS_TRY(refs_buf_printf(json, err, ",\"fill_value\":"));
    REFS_TRY(append_fill(variable, element_size, json, err));
    return refs_buf_append(json, "}", 1, err);
}

static refs_status append_member(const char *name, refs_buf *json, refs_error *err) {
    return refs_buf_printf(json, err, "%s\"%s\":",
                           json->size > 0 && json->data[json->size - 1] != '{' ? "," : "", name);
}

static refs_status append_dims(const refs_dmrpp_variable *variable, refs_buf *json,
                               refs_error *err) {
    REFS_TRY(append_member("_ARRAY_DIMENSIONS", json, err));
    for (size_t i = 0; i < variable->rank; i++) {
        REFS_TRY(refs_buf_append(json, i == 0 ? "[" : ",", 1, err));
        REFS_TRY(refs_json_write_string(
            refs_str_from((const char *)variable->dim_names.data + variable->dim_name[i]), json,
            err));
    }
    return refs_buf_append(json, "]", 1, err);
}

static refs_status write_zattrs(const refs_dmrpp_variable *variable, refs_buf *json,
                                refs_error *err) {
    REFS_TRY(refs_buf_append(json, "{", 1, err));
    REFS_TRY(refs_buf_append_str(json, refs_buf_text(&variable->attributes), err));
    if (variable->rank > 0 && variable->has_named_dims) REFS_TRY(append_dims(variable, json, err));
    if (variable->maps.size > 0 && !variable->has_coordinates) {
        REFS_TRY(append_member("coordinates", json, err));
        REFS_TRY(refs_json_write_string(refs_buf_text(&variable->maps), json, err));
    }
    return refs_buf_append(json, "}", 1, err);
}

/* A metadata document of an array, or the problem that replaces it (else NULL). */
typedef struct array_document {
    const char *name;
    const refs_buf *json;
    const refs_error *problem;
} array_document;

static refs_status put_document(const refs_dmrpp_variable *variable, array_document document,
                                const refs_dmrpp_set *set, refs_error *err) {
    refs_slot slot;
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    REFS_TRY(refs_buf_append_str(&key, refs_buf_text(&variable->path), err));
    REFS_TRY(refs_buf_printf(&key, err, "/%s", document.name));
    REFS_TRY(refs_references__builder_slot(set->builder, refs_buf_text(&key), &slot, err));
    return document.problem != NULL
               ? refs_references__builder_put_broken(set->builder, &slot, document.problem, err)
               : refs_references__builder_put_inline(set->builder, &slot,
                                                     refs_buf_view(document.json), err);
}

/* Whether the failure makes only this array unreadable. */
static bool concerns_array(refs_status status) {
    return status != REFS_OK && status != REFS_NOMEM && status != REFS_LIMIT;
}

static refs_status put_array(refs_dmrpp_variable *variable, const refs_dmrpp_set *set,
                             refs_buf *json, refs_error *err) {
    uint64_t size;
    REFS_TRY(refs_fail(err, variable->problem.status, "%s", variable->problem.message));
    REFS_TRY(find_element_size(variable, &size, err));
    REFS_TRY(refs_references__dmrpp_chunks_put(variable, size, set, err));
    return write_zarray(variable, size, set->has_old_filters, json, err);
}

refs_status refs_references__dmrpp_variable_put(refs_dmrpp_variable *variable,
                                                const refs_dmrpp_set *set, refs_error *err) {
    REFS_SCOPED_BUF json = REFS_BUF_INIT;
    refs_error problem = REFS_ERROR_INIT;
    refs_status status = put_array(variable, set, &json, &problem);
    bool is_readable = !concerns_array(status);
    if (is_readable)
        status = refs_fail(err, status, "%.*s: %s", REFS_STR_ARG(refs_buf_text(&variable->path)),
                           problem.message);
    else
        status = REFS_OK;
    if (status == REFS_OK)
        status = put_document(
            variable, (array_document){".zarray", &json, is_readable ? NULL : &problem}, set, err);
    json.size = 0;
    if (status == REFS_OK) status = write_zattrs(variable, &json, err);
    if (status == REFS_OK)
        status = put_document(variable, (array_document){".zattrs", &json, NULL}, set, err);
    return status;
}
