/* predictor.c -- see predictor.h. */
#include "predictor.h"

/* The number of dimensions of a chunk: of the configuration's shape, or the array's. */
static size_t rank_of(const refs_codec_context *context) {
    const refs_json *shape = refs_json_get(context->config, "shape");
    if (shape != NULL) return refs_json_size(shape);
    return context->array->shape != NULL ? context->array->rank : 0;
}

static bool size_along(const refs_codec_context *context, size_t dim, uint64_t *size) {
    const refs_json *shape = refs_json_get(context->config, "shape");
    if (shape != NULL) return refs_json_u64(refs_json_at(shape, dim), size);
    *size = context->array->shape[dim];
    return true;
}

/* The default axis: the last dimension of a stored chunk. For virtual-tiff's codec, it is the
 * array's last dimension, which samples may follow in a stored chunk. */
static int64_t default_axis(const refs_codec_context *context) {
    static const char *const codec = "HorizontalDeltaCodec";
    const refs_chain_spec *array = context->array;
    if (strstr(context->id, codec) == NULL || array->order == NULL) return -1;
    for (size_t i = 0; i < array->rank; i++)
        if (array->order[i] + 1u == array->rank) return (int64_t)i;
    return -1;
}

/* Splits the dimensions at the axis. */
static refs_status read_row(const refs_codec_context *context, refs_predictor *predictor,
                            refs_error *err) {
    size_t rank = rank_of(context);
    int64_t axis = default_axis(context);
    const refs_json *given = refs_json_get(context->config, "axis");
    if (given != NULL && !refs_json_i64(given, &axis)) axis = INT64_MAX;
    if (axis < 0) axis += (int64_t)rank;
    if (axis < 0 || axis >= (int64_t)rank)
        return refs_fail(err, REFS_INVALID, "axis: expected one of the %zu axes of the chunk",
                         rank);
    predictor->n_samples = 1;
    predictor->row_bytes = predictor->type.size;
    for (size_t dim = (size_t)axis; dim < rank; dim++) {
        uint64_t size;
        if (!size_along(context, dim, &size) || size == 0 || size > SIZE_MAX ||
            !refs_mul_size(predictor->row_bytes, (size_t)size, &predictor->row_bytes))
            return refs_fail(err, REFS_INVALID, "shape[%zu]: expected a size", dim);
        if (dim == (size_t)axis)
            predictor->n = (size_t)size;
        else
            predictor->n_samples *= (size_t)size;
    }
    return REFS_OK;
}

refs_status refs_codec__predictor_open(const refs_codec_context *context, void **self,
                                       size_t *encoded_size, refs_error *err) {
    uint64_t distance = 1;
    const refs_json *given = refs_json_get(context->config, "dist");
    const refs_json *dtype = refs_json_get(context->config, "dtype");
    if (given != NULL && (!refs_json_u64(given, &distance) || distance == 0 || distance > 4))
        return refs_fail(err, REFS_INVALID, "dist: expected 1, 2 or 4");
    refs_predictor *opened = refs_calloc(1, sizeof *opened);
    if (opened == NULL) return refs_fail_nomem(err);
    *self = opened;
    opened->distance = (size_t)distance;
    *encoded_size = context->decoded_size;
    bool is_text = refs_json_is_string(dtype);
    refs_str type = is_text ? refs_json_text(dtype) : refs_str_from(context->array->dtype);
    REFS_TRY(refs_codec__number_parse(type, &opened->type, err));
    return read_row(context, opened, err);
}

refs_status refs_codec__predictor_decode(const refs_predictor *predictor, refs_bytes encoded,
                                         refs_codec_output *output, refs_undo_row undo_row,
                                         refs_error *err) {
    uint8_t *dst;
    if (encoded.size % predictor->row_bytes != 0)
        return refs_fail(err, REFS_CORRUPT, "%zu bytes are not a multiple of the %zu of a row",
                         encoded.size, predictor->row_bytes);
    REFS_TRY(refs_codec__output_add(output, encoded.size, &dst, err));
    for (size_t at = 0; at < encoded.size; at += predictor->row_bytes)
        undo_row(predictor, encoded.data + at, dst + at);
    return REFS_OK;
}
