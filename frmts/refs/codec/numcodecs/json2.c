/* json2.c -- codec "json2": a JSON list of the elements, flat or nested, then the dtype and the
 * shape. Its predecessor "json" has no shape. */
#include "elements.h"

typedef struct json_codec {
    refs_element_type type;
    size_t n_trailing; /* items after the elements */
} json_codec;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    json_codec *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->n_trailing = strcmp(context->id, "json") == 0 ? 1 : 2;
    return refs_codec__element_type_parse(refs_str_from(context->array->dtype), &opened->type, err);
}

static refs_status put_number(refs_element_writer *writer, const refs_json *value,
                              refs_error *err) {
    int64_t negative;
    uint64_t positive;
    double number = 0;
    if (refs_json_u64(value, &positive)) return refs_codec__put_uint(writer, positive, err);
    if (refs_json_i64(value, &negative)) return refs_codec__put_int(writer, negative, err);
    refs_json_double(value, &number);
    return refs_codec__put_double(writer, number, err);
}

static refs_status put_value(refs_element_writer *writer, const refs_json *value, refs_error *err) {
    bool truth = false;
    switch (refs_json_kind_of(value)) {
    case REFS_JSON_KIND_STRING:
        return refs_codec__put_text(writer, refs_json_text(value), err);
    case REFS_JSON_KIND_NUMBER:
        return put_number(writer, value, err);
    case REFS_JSON_KIND_BOOL:
        refs_json_bool(value, &truth);
        return refs_codec__put_uint(writer, truth, err);
    case REFS_JSON_KIND_NULL:
        return refs_codec__put_text(writer, refs_str_from(""), err);
    case REFS_JSON_KIND_ARRAY:
        for (size_t i = 0; i < refs_json_size(value); i++)
            REFS_TRY(put_value(writer, refs_json_at(value, i), err));
        return REFS_OK;
    default:
        return refs_fail(err, REFS_UNSUPPORTED, "elements that are objects are not supported");
    }
}

static refs_status put_items(const json_codec *codec, const refs_json *list,
                             refs_codec_output *output, refs_error *err) {
    refs_element_writer writer = {&codec->type, output, 0};
    size_t n = refs_json_size(list);
    if (!refs_json_is_array(list) || n < codec->n_trailing ||
        !refs_json_is_string(refs_json_at(list, n - codec->n_trailing)))
        return refs_fail(err, REFS_CORRUPT, "this is not a list that ends with dtype%s",
                         codec->n_trailing > 1 ? " and shape" : "");
    REFS_TRY(refs_codec__elements_begin(&writer, err));
    for (size_t i = 0; i < n - codec->n_trailing; i++)
        REFS_TRY(put_value(&writer, refs_json_at(list, i), err));
    refs_codec__elements_end(&writer);
    return REFS_OK;
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(refs_bytes_text(encoded), &doc, err));
    return put_items(self, refs_json_root(doc), output, err);
}

static const char *const aliases[] = {"json", NULL};

const refs_codec_type refs_codec_json2 = {.name = "json2",
                                          .aliases = aliases,
                                          .reads = "strings and numbers as JSON",
                                          .library = "REFS",
                                          .open = open_codec,
                                          .decode = decode,
                                          .close = refs_free};
