/* format.c -- sets in JSON as a format, see format.h. */
#include "format.h"

#include "builder.h"
#include "set_list.h"
#include "json/json_set.h"

typedef struct json_input {
    const refs_set_input *input;
    refs_json_source source;
    refs_json_reader *reader;
    size_t max_token;
    refs_set_layout layout;
} json_input;

static bool sniff(const refs_set_input *input, refs_bytes head) {
    (void)input;
    refs_str text = refs_bytes_text(head);
    if (refs_references__is_packed(head)) return true;
    if (refs_str_starts(text, "\xef\xbb\xbf")) text = refs_str_part(text, 3, text.size);
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\0' || strchr(" \t\r\n", text.data[i]) == NULL)
            return text.data[i] == '{' || text.data[i] == '[';
    return false;
}

static refs_status start_again(json_input *json, refs_error *err) {
    return refs_references__json_source_read(&json->source, json->max_token, &json->reader, err);
}

static refs_status expect_end(refs_json_reader *reader, refs_error *err) {
    refs_json_token token;
    return refs_json_next(reader, &token, NULL, err);
}

/* Reads the set into `builder` by the rules of the version that is known so far. */
static refs_status read_into(json_input *json, refs_json_version *version,
                             refs_set_builder *builder, refs_error *err) {
    const refs_json_version known = *version;
    REFS_TRY(start_again(json, err));
    REFS_TRY(refs_references__enter_set(json->reader, json->layout, json->input->options->set_index,
                                        err));
    REFS_TRY(refs_references__json_set_read(json->reader, version, builder, err));
    if (*version != known || json->layout != REFS_LAYOUT_SINGLE) return REFS_OK;
    return expect_end(json->reader, err);
}

/* Reads the set once; the result is valid if *version did not change. */
static refs_status read_once(json_input *json, refs_json_version *version, refs_set **set,
                             refs_error *err) {
    const refs_json_version known = *version;
    refs_set_builder *builder;
    REFS_TRY(refs_set_builder_open(json->input->location, json->input->options, &builder, err));
    refs_status status = read_into(json, version, builder, err);
    if (status == REFS_OK && *version == known) return refs_set_builder_finish(builder, set, err);
    refs_set_builder_free(builder);
    return status;
}

static refs_status read(json_input *json, refs_set **set, refs_error *err) {
    refs_json_version known, version = REFS_JSON_VERSION_UNKNOWN;
    REFS_TRY(start_again(json, err));
    REFS_TRY(refs_references__layout(json->reader, &json->layout, err));
    do {
        known = version;
        REFS_TRY(read_once(json, &version, set, err));
    } while (version != known);
    return REFS_OK;
}

static refs_status open_json(const refs_set_input *input, refs_set **set, refs_error *err) {
    json_input json = {.input = input};
    /* Base64 has four bytes for three. */
    json.max_token = input->options->limits.max_value_bytes / 3 * 4 + REFS_KIB;
    REFS_TRY(refs_references__json_source_open(input->vfs, input->location, &json.source, err));
    json.source.max_unpacked = input->options->limits.max_unpacked_bytes;
    refs_status status = read(&json, set, err);
    refs_json_reader_free(json.reader);
    refs_references__json_source_clear(&json.source);
    return status;
}

const refs_set_format refs_references__json = {"JSON", sniff, open_json, NULL};
