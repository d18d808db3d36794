/* record_member.c -- codec "record_member": one field of records, which earlier versions of
 * kerchunk used for netCDF-3 files. */
#include "record.h"

typedef struct record_member {
    refs_field field; /* name and type are only valid while opening */
    size_t record_size;
} record_member;

static refs_status open_codec(const refs_codec_context *context, void **self, size_t *encoded_size,
                              refs_error *err) {
    const refs_json *fields = refs_json_get(context->config, "dtype");
    refs_str member = refs_json_text(refs_json_get(context->config, "member"));
    record_member *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    for (size_t i = 0; i < refs_json_size(fields); i++) {
        refs_field field;
        REFS_TRY(refs_codec__read_field(fields, i, &opened->record_size, &field, err));
        if (refs_str_equal(field.name, member)) opened->field = field;
    }
    if (opened->field.size == 0)
        return refs_fail(err, REFS_INVALID, "dtype has no member \"%.*s\"", REFS_STR_ARG(member));
    size_t n = context->decoded_size / opened->field.size;
    if (refs_mul_size(n, opened->record_size, encoded_size)) return REFS_OK;
    return refs_fail(err, REFS_LIMIT, "%zu records of %zu bytes exceed the address space", n,
                     opened->record_size);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    const record_member *codec = self;
    size_t n = encoded.size / codec->record_size, size = codec->field.size;
    uint8_t *at;
    if (encoded.size % codec->record_size != 0)
        return refs_fail(err, REFS_CORRUPT,
                         "a chunk of %zu bytes: expected a multiple of %zu, the size of a record",
                         encoded.size, codec->record_size);
    REFS_TRY(refs_codec__output_add(output, n * size, &at, err));
    for (size_t i = 0; i < n; i++)
        memcpy(at + i * size, encoded.data + i * codec->record_size + codec->field.begin, size);
    return REFS_OK;
}

const refs_codec_type refs_codec_record_member = {.name = "record_member",
                                                  .reads = "one member of structured records",
                                                  .library = "REFS",
                                                  .open = open_codec,
                                                  .decode = decode,
                                                  .close = refs_free};
