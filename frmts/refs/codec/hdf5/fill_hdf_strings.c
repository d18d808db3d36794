/* fill_hdf_strings.c -- codec "fill_hdf_strings": HDF5 stores addresses of strings, for which
 * kerchunk's configuration has one string for all of them, or one for each address. */
#include "numcodecs/elements.h"
#include "numcodecs/text_list.h"
#include "refs/intern.h"

typedef struct hdf_strings {
    refs_element_type type;
    size_t id_size;         /* bytes of an address */
    refs_intern ids;        /* numbered as their strings */
    refs_text_list strings; /* a single string without an id is for all addresses */
} hdf_strings;

static refs_status read_strings(const refs_json *map, hdf_strings *codec, refs_error *err) {
    if (!refs_json_is_object(map))
        return refs_codec__text_list_add(&codec->strings, refs_json_text(map), err);
    for (size_t i = 0; i < refs_json_size(map); i++) {
        uint32_t id;
        REFS_TRY(refs_intern_add(&codec->ids, refs_json_name_at(map, i), &id, err));
        REFS_TRY(
            refs_codec__text_list_add(&codec->strings, refs_json_text(refs_json_at(map, i)), err));
    }
    return REFS_OK;
}

/* Structured types are lists, or strings with such a list in Python's syntax. */
static refs_status read_id_size(const refs_json *dtype, size_t *size, refs_error *err) {
    refs_str text = refs_json_text(dtype);
    refs_element_type type;
    if (refs_json_is_array(dtype) || refs_str_find(text, '[') != SIZE_MAX)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "strings of variable length in records are not supported");
    REFS_TRY(refs_codec__element_type_parse(text, &type, err));
    if (type.kind != REFS_ELEMENT_BYTES || type.size == 0)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "expected a type of bytes for addresses, found \"%.*s\"",
                         REFS_STR_ARG(text));
    *size = type.size;
    return REFS_OK;
}

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    (void)encoded_size;
    hdf_strings *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    REFS_TRY(read_id_size(refs_json_get(context->config, "dtype"), &opened->id_size, err));
    REFS_TRY(
        refs_codec__element_type_parse(refs_str_from(context->array->dtype), &opened->type, err));
    return read_strings(refs_json_get(context->config, "id_map"), opened, err);
}

static void close_codec(void *self) {
    REFS_SCOPED hdf_strings *codec = self;
    refs_intern_clear(&codec->ids);
    refs_codec__text_list_clear(&codec->strings);
}

static refs_status put_text(const hdf_strings *codec, const uint8_t *address,
                            refs_element_writer *writer, refs_error *err) {
    uint32_t number = 0;
    if (codec->ids.count > 0) {
        size_t size = codec->id_size;
        while (size > 0 && address[size - 1] == 0) size--;
        number = refs_intern_find(&codec->ids, refs_str_view((const char *)address, size));
        if (number == REFS_INTERN_NONE)
            return refs_fail(err, REFS_CORRUPT, "an address is not in id_map");
    }
    refs_str text = number < codec->strings.n ? refs_codec__text_list_get(&codec->strings, number)
                                              : refs_str_from("");
    return refs_codec__put_text(writer, text, err);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const hdf_strings *codec = self;
    refs_element_writer writer = {&codec->type, output, 0};
    if (encoded.size % codec->id_size != 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a multiple of the %zu of an address",
                         encoded.size, codec->id_size);
    REFS_TRY(refs_codec__elements_begin(&writer, err));
    for (size_t at = 0; at < encoded.size; at += codec->id_size)
        REFS_TRY(put_text(codec, encoded.data + at, &writer, err));
    refs_codec__elements_end(&writer);
    return REFS_OK;
}

const refs_codec_type refs_codec_fill_hdf_strings = {.name = "fill_hdf_strings",
                                                     .reads = "HDF5 strings at given addresses",
                                                     .library = "REFS",
                                                     .open = open_codec,
                                                     .decode = decode,
                                                     .close = close_codec};
