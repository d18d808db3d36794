/* categorize.c -- codec "categorize": numbers that stand for strings: 1 is the first label, and a
 * number without a label an empty string. */
#include "elements.h"
#include "text_list.h"

typedef struct categorize {
    refs_recast codes; /* only the encoded type is used */
    refs_element_type type;
    refs_text_list labels;
} categorize;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_json *astype = refs_json_get(context->config, "astype");
    categorize *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    refs_str codes = astype != NULL ? refs_json_text(astype) : refs_str_from("u1");
    REFS_TRY(refs_codec__number_parse(codes, &opened->codes.encoded, err));
    REFS_TRY(
        refs_codec__element_type_parse(refs_str_from(context->array->dtype), &opened->type, err));
    if (opened->type.kind == REFS_ELEMENT_NUMBER)
        return refs_fail(err, REFS_UNSUPPORTED, "labels are not \"%s\"", context->array->dtype);
    if (!refs_mul_size(context->array->n_elements, opened->codes.encoded.size, encoded_size))
        return refs_fail(err, REFS_LIMIT, "%zu numbers of %zu bytes exceed the address space",
                         context->array->n_elements, opened->codes.encoded.size);
    if (opened->type.kind == REFS_ELEMENT_OBJECT) *encoded_size = 0;
    const refs_json *labels = refs_json_get(context->config, "labels");
    for (size_t i = 0; i < refs_json_size(labels); i++)
        REFS_TRY(refs_codec__text_list_add(&opened->labels, refs_json_text(refs_json_at(labels, i)),
                                           err));
    if (refs_json_is_array(labels)) return REFS_OK;
    return refs_fail(err, REFS_INVALID, "labels: expected a list");
}

static void close_codec(void *self) {
    REFS_SCOPED categorize *codec = self;
    refs_codec__text_list_clear(&codec->labels);
}

static refs_str label_of(const categorize *codec, uint64_t code) {
    if (code == 0 || code > codec->labels.n) return refs_str_from("");
    return refs_codec__text_list_get(&codec->labels, (size_t)code - 1);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const categorize *codec = self;
    size_t size = codec->codes.encoded.size;
    if (encoded.size % size != 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a multiple of the element size %zu",
                         encoded.size, size);
    refs_element_writer writer = {&codec->type, output, 0};
    refs_recast_pass pass = {&codec->codes, encoded.data, NULL, encoded.size / size};
    uint64_t codes[REFS_NUMBER_BLOCK];
    REFS_TRY(refs_codec__elements_begin(&writer, err));
    for (size_t n; (n = refs_codec__take_ints(&pass, codes)) > 0;)
        for (size_t i = 0; i < n; i++)
            REFS_TRY(refs_codec__put_text(&writer, label_of(codec, codes[i]), err));
    refs_codec__elements_end(&writer);
    return REFS_OK;
}

const refs_codec_type refs_codec_categorize = {.name = "categorize",
                                               .reads = "numbers that stand for strings",
                                               .library = "REFS",
                                               .open = open_codec,
                                               .decode = decode,
                                               .close = close_codec};
