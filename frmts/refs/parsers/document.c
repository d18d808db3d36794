/* document.c -- see document.h. */
#include "document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "refs/own_attributes.h"
#include "refs/utf8.h"

/* Tokens that jansson cannot write are strings that begin with NUL, as no other string does.
 * jansson writes that NUL as QUOTED_NUL. */
#define MAX_NUMBER_BYTES 64
#define QUOTED_NUL       "\"\\u0000"

json_t *refs_document_real(double value) {
    if (isnan(value)) return json_string("NaN");
    if (isinf(value)) return json_string(value > 0 ? "Infinity" : "-Infinity");
    return json_real(value);
}

json_t *refs_document_number(const char *format, ...) {
    char text[MAX_NUMBER_BYTES] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + 1, sizeof text - 1, format, arguments);
    va_end(arguments);
    return json_stringn(text, 1 + strlen(text + 1));
}

json_t *refs_document_double(double value) {
    if (isnan(value)) return refs_document_number("NaN");
    if (isinf(value)) return refs_document_number(value > 0 ? "Infinity" : "-Infinity");
    return json_real(value);
}

json_t *refs_document_fill(json_t *value) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    if (!json_is_string(value) || json_string_length(value) == 0) return value;
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(json_string_value(value) + 1, words[i]) != 0) continue;
        json_decref(value);
        return json_string(words[i]);
    }
    return value;
}

json_t *refs_document_string(const char *text, size_t size) {
    const char *end = size > 0 ? memchr(text, '\0', size) : NULL;
    if (end != NULL) size = (size_t)(end - text);
    if (size == 0) return json_string(""); /* an empty buffer has no text */
    json_t *string = json_stringn(text, size);
    if (string != NULL) return string;
    REFS_SCOPED_BUF utf8 = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    for (size_t i = 0; i < size && status == REFS_OK; i++) {
        uint8_t bytes[4];
        size_t n_bytes = refs_utf8_encode((unsigned char)text[i], bytes);
        status = refs_buf_append(&utf8, bytes, n_bytes, NULL);
    }
    if (status == REFS_OK) string = json_stringn((const char *)utf8.data, utf8.size);
    return string;
}

json_t *refs_document_codec(const char *id) {
    return json_pack("{s:s}", "id", id);
}

/* -- adding ------------------------------------------------------------------------------------ */

void refs_documents_clear(refs_documents *documents) {
    for (size_t i = 0; i < documents->n; i++) {
        refs_free(documents->documents[i].key);
        free(documents->documents[i].text);
    }
    for (size_t i = 0; i < documents->n_arrays; i++) refs_free(documents->arrays[i]);
    refs_free(documents->documents);
    refs_free(documents->arrays);
    memset(documents, 0, sizeof *documents);
}

/* "path/name", or only the name in the root. */
static char *join(const char *path, const char *name) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_status status =
        refs_buf_printf(&key, NULL, "%s%s%s", path, *path != '\0' ? "/" : "", name);
    return status == REFS_OK ? refs_buf_take_text(&key) : NULL;
}

static refs_status add_text(refs_documents *documents, const char *path, const char *name,
                            char *text, refs_error *err) {
    char *key = join(path, name);
    if (text == NULL || key == NULL ||
        !refs_grow((void **)&documents->documents, &documents->capacity, documents->n,
                   sizeof *documents->documents)) {
        refs_free(key);
        free(text);
        return refs_fail_nomem(err);
    }
    documents->documents[documents->n++] = (refs_document){key, text, REFS_OK};
    documents->bytes += strlen(key) + strlen(text);
    if (documents->bytes > documents->limits->max_document_bytes)
        return refs_fail(err, REFS_LIMIT, "the metadata need more than the limit of %zu bytes",
                         documents->limits->max_document_bytes);
    return REFS_OK;
}

/* Removes the quotes and the NUL of bare tokens, in place. */
static void bare_tokens(char *text) {
    const size_t mark = sizeof QUOTED_NUL - 1;
    const char *from = strstr(text, QUOTED_NUL);
    if (from == NULL) return;
    char *to = text + (from - text);
    while (*from != '\0') {
        if (strncmp(from, QUOTED_NUL, mark) != 0) {
            *to++ = *from++;
            continue;
        }
        for (from += mark; *from != '"'; from++) *to++ = *from;
        from++;
    }
    *to = '\0';
}

/* Takes ownership of `document`. */
static refs_status add(refs_documents *documents, const char *path, const char *name,
                       json_t *document, refs_error *err) {
    char *text =
        document != NULL ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(document);
    if (text != NULL) bare_tokens(text);
    return add_text(documents, path, name, text, err);
}

static refs_status check_count(const refs_documents *documents, refs_error *err) {
    if (documents->n / 2 < documents->limits->max_arrays) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "the file has more arrays and groups than the limit of %llu",
                     (unsigned long long)documents->limits->max_arrays);
}

/* A master's record of its fragments is not an attribute of the data: it is moved to its own
 * key. */
static refs_status move_sources(refs_documents *documents, json_t *attributes, refs_error *err) {
    const char *text = json_string_value(json_object_get(attributes, REFS_SOURCES_ATTRIBUTE));
    if (text == NULL) return REFS_OK;
    REFS_TRY(add_text(documents, "", REFS_SOURCES_ATTRIBUTE, strdup(text), err));
    return json_object_del(attributes, REFS_SOURCES_ATTRIBUTE) == 0 ? REFS_OK
                                                                    : refs_fail_nomem(err);
}

refs_status refs_documents_add_group(refs_documents *documents, const char *path,
                                     json_t *attributes, refs_error *err) {
    refs_status status = check_count(documents, err);
    if (status == REFS_OK && *path == '\0') status = move_sources(documents, attributes, err);
    if (status == REFS_OK)
        status = add(documents, path, ".zgroup", json_pack("{s:i}", "zarr_format", 2), err);
    if (status == REFS_OK && json_object_size(attributes) > 0)
        return add(documents, path, ".zattrs", attributes, err);
    json_decref(attributes);
    return status;
}

static json_t *numbers(const uint64_t *values, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(list, json_integer((json_int_t)values[i]));
    return list;
}

static json_t *names(const char *const *dimensions, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, refs_document_string(dimensions[i], strlen(dimensions[i])));
    return list;
}

static json_t *or_null(json_t *value) {
    return value != NULL ? value : json_null();
}

static refs_status add_path(refs_documents *documents, const char *path, size_t *number,
                            refs_error *err) {
    char *copy = refs_str_copy(refs_str_from(path));
    if (copy == NULL || !refs_grow((void **)&documents->arrays, &documents->array_capacity,
                                   documents->n_arrays, sizeof *documents->arrays)) {
        refs_free(copy);
        return refs_fail_nomem(err);
    }
    *number = documents->n_arrays;
    documents->arrays[documents->n_arrays++] = copy;
    return REFS_OK;
}

refs_status refs_documents_tell_sizes(json_t *attributes,
                                      uint64_t (*size_of)(const void *user, refs_str name),
                                      const void *user, refs_error *err) {
    const json_t *dimensions = json_object_get(attributes, REFS_CFA_DIMENSIONS);
    if (dimensions == NULL) dimensions = json_object_get(attributes, REFS_AGGREGATED_DIMENSIONS);
    if (!json_is_string(dimensions)) return REFS_OK;
    refs_str text = refs_str_from(json_string_value(dimensions)), word;
    json_t *sizes = json_array();
    while (refs_str_next_word(&text, REFS_BLANKS, &word))
        json_array_append_new(sizes, json_integer((json_int_t)size_of(user, word)));
    return json_object_set_new(attributes, REFS_DIMENSION_SIZES, sizes) == 0 ? REFS_OK
                                                                             : refs_fail_nomem(err);
}

refs_status refs_documents_tell_unlimited(json_t **attributes, const char *name, refs_error *err) {
    if (*attributes == NULL) *attributes = json_object();
    json_t *list = json_object_get(*attributes, REFS_UNLIMITED_DIMENSIONS);
    if (!json_is_array(list)) { /* absent, or an attribute of the file with the same name */
        list = json_array();
        if (json_object_set_new(*attributes, REFS_UNLIMITED_DIMENSIONS, list) != 0)
            return refs_fail_nomem(err);
    }
    return json_array_append_new(list, refs_document_string(name, strlen(name))) == 0
               ? REFS_OK
               : refs_fail_nomem(err);
}

refs_status refs_documents_tell_unused(json_t **attributes, const char *name, uint64_t size,
                                       refs_error *err) {
    if (*attributes == NULL) *attributes = json_object();
    json_t *sizes = json_object_get(*attributes, REFS_UNUSED_DIMENSIONS);
    if (!json_is_object(sizes)) {
        sizes = json_object();
        if (json_object_set_new(*attributes, REFS_UNUSED_DIMENSIONS, sizes) != 0)
            return refs_fail_nomem(err);
    }
    json_t *text = refs_document_string(name, strlen(name));
    const int failed =
        json_object_set_new(sizes, json_string_value(text), json_integer((json_int_t)size));
    json_decref(text);
    return failed == 0 ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_documents_add_array(refs_documents *documents, const refs_scan_array *array,
                                     size_t *number, refs_error *err) {
    json_t *attributes = array->attributes != NULL ? array->attributes : json_object();
    json_t *metadata = json_pack(
        "{s:i, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "zarr_format", 2, "shape",
        numbers(array->shape, array->rank), "chunks", numbers(array->chunks, array->rank), "dtype",
        or_null(array->dtype), "order", "C", "filters", or_null(array->filters), "compressor",
        or_null(array->compressor), "fill_value", or_null(array->fill_value));
    if (array->is_unfilled) json_object_set_new(metadata, REFS_UNFILLED_MEMBER, json_true());
    if (array->dimensions != NULL)
        json_object_set_new(attributes, "_ARRAY_DIMENSIONS", names(array->dimensions, array->rank));
    refs_status status = check_count(documents, err);
    if (status == REFS_OK) status = add_path(documents, array->path, number, err);
    if (status != REFS_OK) {
        json_decref(metadata);
        json_decref(attributes);
        return status;
    }
    status = add(documents, array->path, ".zarray", metadata, err);
    if (status != REFS_OK) {
        json_decref(attributes);
        return status;
    }
    return add(documents, array->path, ".zattrs", attributes, err);
}

refs_status refs_documents_add_problem(refs_documents *documents, const char *path,
                                       const refs_error *why, refs_error *err) {
    REFS_TRY(check_count(documents, err));
    REFS_TRY(add_text(documents, path, ".zarray", strdup(why->message), err));
    documents->documents[documents->n - 1].status = why->status;
    return REFS_OK;
}

/* -- documents of other files ------------------------------------------------------------------ */

/* The part after `path` of a key or a path at or below it: "" or "/..."; NULL for others.
 */
static const char *below(const char *key, const char *path) {
    size_t size = strlen(path);
    if (size == 0) return key;
    if (strncmp(key, path, size) != 0 || (key[size] != '/' && key[size] != '\0')) return NULL;
    return key + size + (key[size] == '/');
}

static refs_status add_copy(refs_documents *documents, const char *path, const char *name,
                            const char *text, refs_error *err) {
    char *copy = strdup(text);
    return add_text(documents, path, name, copy, err);
}

bool refs_documents_have(const refs_documents *documents, const char *path) {
    for (size_t i = 0; i < documents->n; i++) {
        const char *rest = below(documents->documents[i].key, path);
        if (rest != NULL && *rest == '.') return true;
    }
    return false;
}

refs_status refs_documents_add_graft(refs_documents *documents, const refs_documents_graft *graft,
                                     refs_status (*visit)(void *user, size_t number,
                                                          refs_error *err),
                                     void *user, refs_error *err) {
    const refs_documents *from = graft->from;
    for (size_t i = 0; i < from->n; i++) {
        const char *rest = below(from->documents[i].key, graft->path);
        if (rest == NULL) continue;
        REFS_TRY(check_count(documents, err));
        REFS_TRY(add_copy(documents, graft->as, rest, from->documents[i].text, err));
        documents->documents[documents->n - 1].status = from->documents[i].status;
    }
    for (size_t i = 0; i < from->n_arrays; i++) {
        const char *rest = below(from->arrays[i], graft->path);
        if (rest == NULL) continue;
        size_t number;
        char *path = join(graft->as, rest);
        if (path == NULL) return refs_fail_nomem(err);
        if (*rest == '\0') path[strlen(graft->as)] = '\0';
        refs_status status = add_path(documents, path, &number, err);
        refs_free(path);
        REFS_TRY(status);
        REFS_TRY(visit(user, i, err));
    }
    return REFS_OK;
}
