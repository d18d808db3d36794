/* writer.c -- sets as one JSON document, see write.h.
 *
 * https://fsspec.github.io/kerchunk/spec.html
 */
#include "numbers.h"
#include "output.h"
#include "refs/json.h"
#include "writer_internal.h"

/* A template: "name=beginning". */
typedef struct template {
    refs_str name;
    refs_str beginning;
}
template;

typedef struct json_writer {
    refs_output *output;
    unsigned version;
    refs_write_documents documents;
    template *templates;
    size_t n_templates;
    bool has_member;
    refs_buf text; /* scratch: the text of one member */
    uint64_t last_number;
    uint64_t index[32];
    bool has_index;
    refs_buf url; /* scratch: the URL as JSON, with its template */
    uint32_t url_id;
    bool has_url;
} json_writer;

/* -- opening ----------------------------------------------------------------------------------- */

static refs_status append_text(json_writer *json, const char *text, refs_error *err) {
    return refs_write__output_append(json->output, text, strlen(text), err);
}

static refs_status append_buf(json_writer *json, const refs_buf *text, refs_error *err) {
    return refs_write__output_append(json->output, text->data, text->size, err);
}

/* Readers render "{{name}}" with jinja2: its keywords, and text that is no name, mean something
 * else. */
static bool is_template_name(refs_str name) {
    static const char *const words[] = {"and", "else", "elif", "False", "false", "for",
                                        "if",  "in",   "is",   "None",  "none",  "not",
                                        "or",  "True", "true", "self",  NULL};
    if (refs_str_is_among(name, words)) return false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return name.size > 0;
}

static refs_status check_template_name(const json_writer *json, size_t n, refs_error *err) {
    const refs_str name = json->templates[n].name;
    if (!is_template_name(name))
        return refs_fail(err, REFS_INVALID,
                         "invalid template name \"%.*s\": expected letters, digits and \"_\", not "
                         "beginning with a digit and not a keyword of Jinja2",
                         REFS_STR_ARG(name));
    for (size_t i = 0; i < n; i++)
        if (refs_str_equal(json->templates[i].name, name))
            return refs_fail(err, REFS_INVALID, "template \"%.*s\" is defined twice",
                             REFS_STR_ARG(name));
    return REFS_OK;
}

static refs_status read_templates(json_writer *json, const char *const *templates,
                                  refs_error *err) {
    size_t n = 0;
    while (templates != NULL && templates[n] != NULL) n++;
    REFS_NEW(json->templates, n, err);
    for (size_t i = 0; i < n; i++) {
        refs_str text = refs_str_from(templates[i]);
        size_t equals = refs_str_find(text, '=');
        if (equals == 0 || equals == SIZE_MAX || equals + 1 == text.size)
            return refs_fail(err, REFS_INVALID, "template \"%s\": expected NAME=PREFIX",
                             templates[i]);
        json->templates[i] =
            (template){refs_str_part(text, 0, equals), refs_str_part(text, equals + 1, text.size)};
        REFS_TRY(check_template_name(json, i, err));
    }
    json->n_templates = n;
    return REFS_OK;
}

static refs_status write_templates(json_writer *json, refs_error *err) {
    if (json->n_templates == 0) return REFS_OK;
    json->text.size = 0;
    for (size_t i = 0; i < json->n_templates; i++) {
        REFS_TRY(refs_buf_printf(&json->text, err, "%s", i == 0 ? "\"templates\":{" : ","));
        REFS_TRY(refs_json_write_name(json->templates[i].name, &json->text, err));
        REFS_TRY(refs_json_write_string(json->templates[i].beginning, &json->text, err));
    }
    REFS_TRY(refs_buf_append(&json->text, "},\n", 3, err));
    return append_buf(json, &json->text, err);
}

static refs_status begin(json_writer *json, const refs_writer_options *options, refs_error *err) {
    json->version = options->version;
    json->documents = options->documents;
    REFS_TRY(read_templates(json, options->templates, err));
    if (json->version == 0) return append_text(json, "{", err);
    REFS_TRY(append_text(json, "{\"version\":1,\n", err));
    REFS_TRY(write_templates(json, err));
    return append_text(json, "\"refs\":{", err);
}

static void free_json(void *self) {
    REFS_SCOPED json_writer *json = self;
    refs_write__output_free(json->output);
    refs_buf_clear(&json->text);
    refs_buf_clear(&json->url);
    refs_free(json->templates);
}

static refs_status open_json(const refs_staged *place, const refs_writer_options *options,
                             void **self, refs_error *err) {
    json_writer *json = refs_calloc(1, sizeof *json);
    if (json == NULL) return refs_fail_nomem(err);
    *self = json;
    REFS_TRY(refs_write__output_open(place, options, &json->output, err));
    return begin(json, options, err);
}

/* -- values ------------------------------------------------------------------------------------ */

/* Whether all readers accept the bytes as a JSON string: printable ASCII that does not look like
 * base64. */
static bool is_text(refs_bytes bytes) {
    for (size_t i = 0; i < bytes.size; i++)
        if ((bytes.data[i] < 0x20 || bytes.data[i] > 0x7e) && bytes.data[i] != '\n') return false;
    return !refs_str_starts(refs_bytes_text(bytes), "base64:");
}

static refs_status append_inline(refs_bytes bytes, refs_buf *text, refs_error *err) {
    if (is_text(bytes)) return refs_json_write_string(refs_bytes_text(bytes), text, err);
    REFS_TRY(refs_buf_append(text, "\"base64:", 8, err));
    REFS_TRY(refs_base64_encode(bytes, text, err));
    return refs_buf_append(text, "\"", 1, err);
}

static refs_status next_member(json_writer *json, refs_error *err) {
    json->text.size = 0;
    REFS_TRY(refs_buf_append(&json->text, ",\n", json->has_member ? 2 : 0, err));
    if (!json->has_member) REFS_TRY(refs_buf_append(&json->text, "\n", 1, err));
    json->has_member = true;
    return REFS_OK;
}

/* Whether the document can be written as an object: it is an object and nothing follows it. */
static bool is_object(refs_bytes document) {
    REFS_SCOPED_JSON *doc = NULL;
    refs_str text = refs_bytes_text(document);
    if (refs_json_parse(text, &doc, NULL) != REFS_OK) return false;
    return refs_json_is_object(refs_json_root(doc));
}

/* Zarr documents may have UTF-8 beyond ASCII. */
static refs_status append_document(const json_writer *json, refs_bytes document, refs_buf *text,
                                   refs_error *err) {
    if (!is_object(document)) return append_inline(document, text, err);
    if (json->documents == REFS_DOCUMENTS_OBJECTS)
        return refs_buf_append(text, document.data, document.size, err);
    return refs_json_write_string(refs_bytes_text(document), text, err);
}

static refs_status write_document(void *self, refs_str key, refs_bytes document, refs_error *err) {
    json_writer *json = self;
    REFS_TRY(next_member(json, err));
    REFS_TRY(refs_json_write_name(key, &json->text, err));
    REFS_TRY(append_document(json, document, &json->text, err));
    return append_buf(json, &json->text, err);
}

/* -- chunks ------------------------------------------------------------------------------------ */

/* fsspec reads a brace after a template as part of the template. */
static bool has_brace(refs_str text) {
    return refs_str_find(text, '{') != SIZE_MAX || refs_str_find(text, '}') != SIZE_MAX;
}

/* Formats the URL as JSON once for consecutive references to it. */
static refs_status set_url(json_writer *json, const refs_write_chunk *chunk, refs_error *err) {
    if (json->has_url && json->url_id == chunk->url_id) return REFS_OK;
    REFS_SCOPED_BUF whole = REFS_BUF_INIT;
    refs_status status = REFS_OK;
    refs_str rest = chunk->url;
    json->url.size = 0;
    for (size_t i = 0; i < json->n_templates && !has_brace(rest); i++) {
        refs_str beginning = json->templates[i].beginning;
        if (rest.size < beginning.size || memcmp(rest.data, beginning.data, beginning.size) != 0)
            continue;
        status = refs_buf_printf(&whole, err, "{{%.*s}}", REFS_STR_WHOLE(json->templates[i].name));
        rest = refs_str_part(rest, beginning.size, rest.size);
        break;
    }
    if (status == REFS_OK) status = refs_buf_append_str(&whole, rest, err);
    if (status == REFS_OK) status = refs_json_write_string(refs_buf_text(&whole), &json->url, err);
    json->url_id = chunk->url_id;
    json->has_url = status == REFS_OK;
    return status;
}

static void set_index(json_writer *json, const refs_write_array *array, uint64_t number) {
    if (!json->has_index || number != json->last_number + 1) {
        refs_write__index(array->n, array->rank, number, json->index);
    } else {
        for (size_t dim = array->rank; dim-- > 0; json->index[dim] = 0)
            if (++json->index[dim] < array->n[dim]) break;
    }
    json->has_index = true;
    json->last_number = number;
}

static refs_status append_key(json_writer *json, const refs_write_array *array, refs_error *err) {
    char text[32 * (REFS_NUMBER_DIGITS + 1) + 4], *end = text;
    REFS_TRY(refs_json_write_string(refs_buf_text(&array->prefix), &json->text, err));
    json->text.size--; /* the quote */
    const uint8_t last = array->prefix.size > 0 ? array->prefix.data[array->prefix.size - 1] : '/';
    if (array->rank == 0 && last == '/') *end++ = '0';
    for (size_t dim = 0; dim < array->rank; dim++) {
        if (dim > 0) *end++ = array->separator;
        end = refs_write__number(end, json->index[dim]);
    }
    *end++ = '"';
    *end++ = ':';
    return refs_buf_append(&json->text, text, (size_t)(end - text), err);
}

static refs_status append_range(json_writer *json, const refs_write_chunk *chunk, refs_error *err) {
    char text[2 * REFS_NUMBER_DIGITS + 4], *end = text;
    REFS_TRY(set_url(json, chunk, err));
    REFS_TRY(refs_buf_append(&json->text, "[", 1, err));
    REFS_TRY(refs_buf_append(&json->text, json->url.data, json->url.size, err));
    if (chunk->kind == REFS_REF_RANGE) {
        *end++ = ',';
        end = refs_write__number(end, chunk->offset);
        *end++ = ',';
        end = refs_write__number(end, chunk->length);
    }
    *end++ = ']';
    return refs_buf_append(&json->text, text, (size_t)(end - text), err);
}

static refs_status begin_array(void *self, const refs_write_array *array, refs_error *err) {
    json_writer *json = self;
    (void)array;
    (void)err;
    json->has_index = false;
    return REFS_OK;
}

static refs_status write_chunk(void *self, const refs_write_array *array,
                               const refs_write_chunk *chunk, refs_error *err) {
    json_writer *json = self;
    set_index(json, array, chunk->number);
    REFS_TRY(next_member(json, err));
    REFS_TRY(append_key(json, array, err));
    if (chunk->kind == REFS_REF_INLINE)
        REFS_TRY(append_inline(chunk->bytes, &json->text, err));
    else
        REFS_TRY(append_range(json, chunk, err));
    return append_buf(json, &json->text, err);
}

static refs_status finish_json(void *self, refs_error *err) {
    json_writer *json = self;
    REFS_TRY(append_text(json, json->version == 1 ? "\n}}\n" : "\n}\n", err));
    refs_output *output = json->output;
    json->output = NULL;
    return refs_write__output_finish(output, err);
}

static refs_status move_json(void *self, refs_staged *place, refs_error *err) {
    (void)self;
    return refs_staged_move(place, err);
}

const refs_write_kind refs_write__json = {.open = open_json,
                                          .document = write_document,
                                          .array = begin_array,
                                          .chunk = write_chunk,
                                          .finish = finish_json,
                                          .move = move_json,
                                          .free = free_json};
