/* recast.c -- conversion of numbers from one type to another, see numbers.h. */
#include "numbers.h"

/* Reads the type in a member of the configuration; without it, *type is unchanged. */
static refs_status read_type(const refs_json *config, const char *member, refs_number_type *type,
                             refs_error *err) {
    const refs_json *given = refs_json_get(config, member);
    if (given == NULL) return REFS_OK;
    refs_status status = refs_codec__number_parse(refs_json_text(given), type, err);
    if (status != REFS_OK) refs_error_prefix(err, "%s", member);
    return status;
}

refs_status refs_codec__recast_open(const refs_codec_context *context,
                                    const refs_recast_members *members, refs_recast *recast,
                                    size_t *encoded_size, refs_error *err) {
    if (refs_json_get(context->config, members->decoded) == NULL)
        REFS_TRY(
            refs_codec__number_parse(refs_str_from(context->array->dtype), &recast->decoded, err));
    REFS_TRY(read_type(context->config, members->decoded, &recast->decoded, err));
    recast->encoded = recast->decoded;
    REFS_TRY(read_type(context->config, members->encoded, &recast->encoded, err));
    size_t n = context->decoded_size / recast->decoded.size;
    if (context->decoded_size % recast->decoded.size != 0)
        return refs_fail(err, REFS_INVALID,
                         "a chunk of %zu bytes: expected a multiple of %zu, the size of %s",
                         context->decoded_size, recast->decoded.size, members->decoded);
    if (!refs_mul_size(n, recast->encoded.size, encoded_size))
        return refs_fail(err, REFS_LIMIT, "%zu numbers of %zu bytes exceed the address space", n,
                         recast->encoded.size);
    return REFS_OK;
}

refs_status refs_codec__recast_open_codec(const refs_codec_context *context, void **self,
                                          size_t *encoded_size, refs_error *err) {
    const refs_recast_members members = REFS_RECAST_MEMBERS_INIT;
    refs_recast *opened = refs_alloc(sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    return refs_codec__recast_open(context, &members, opened, encoded_size, err);
}

refs_status refs_codec__recast_begin(const refs_recast *types, refs_bytes encoded,
                                     refs_codec_output *output, refs_recast_pass *pass,
                                     refs_error *err) {
    size_t n = encoded.size / types->encoded.size;
    size_t decoded_size;
    if (encoded.size % types->encoded.size != 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a multiple of the element size %zu",
                         encoded.size, types->encoded.size);
    if (!refs_mul_size(n, types->decoded.size, &decoded_size))
        return refs_fail(err, REFS_LIMIT, "%zu numbers of %zu bytes exceed the address space", n,
                         types->decoded.size);
    *pass = (refs_recast_pass){types, encoded.data, NULL, n};
    return refs_codec__output_add(output, decoded_size, &pass->dst, err);
}

static void recast_ints(refs_recast_pass *pass) {
    uint64_t numbers[REFS_NUMBER_BLOCK];
    for (size_t n; (n = refs_codec__take_ints(pass, numbers)) > 0;)
        refs_codec__put_ints(pass, numbers, n);
}

static void recast_doubles(refs_recast_pass *pass) {
    double numbers[REFS_NUMBER_BLOCK];
    for (size_t n; (n = refs_codec__take_doubles(pass, numbers)) > 0;)
        refs_codec__put_doubles(pass, numbers, n);
}

refs_status refs_codec__recast(const void *self, refs_bytes encoded, refs_codec_output *output,
                               refs_error *err) {
    const refs_recast *types = self;
    refs_recast_pass pass;
    REFS_TRY(refs_codec__recast_begin(types, encoded, output, &pass, err));
    bool through_doubles =
        types->encoded.kind == REFS_NUMBER_FLOAT || types->decoded.kind == REFS_NUMBER_FLOAT;
    if (through_doubles)
        recast_doubles(&pass);
    else
        recast_ints(&pass);
    return REFS_OK;
}
