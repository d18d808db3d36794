/* field.c -- see field.h. */
#include "field.h"

/* -- numbers ----------------------------------------------------------------------------------- */

refs_status refs_codec__grib_begin(const refs_number_type *type, size_t n,
                                   refs_codec_output *output, refs_grib_numbers *numbers,
                                   refs_error *err) {
    size_t size;
    *numbers = (refs_grib_numbers){NULL, n, NULL};
    if (!refs_mul_size(n, type->size, &size))
        return refs_fail(err, REFS_LIMIT,
                         "expected a field that fits into memory, found %zu points", n);
    REFS_TRY(refs_codec__output_add(output, size, &numbers->dst, err));
    numbers->values = refs_calloc(n, sizeof *numbers->values);
    return numbers->values != NULL ? REFS_OK : refs_fail_nomem(err);
}

refs_status refs_codec__grib_end(const refs_number_type *type, refs_grib_numbers *numbers,
                                 refs_status status) {
    const refs_recast types = {.decoded = *type};
    refs_recast_pass pass = {.types = &types, .dst = numbers->dst};
    for (size_t i = 0; i < numbers->n && status == REFS_OK; i += REFS_NUMBER_BLOCK) {
        size_t left = numbers->n - i;
        refs_codec__put_doubles(&pass, numbers->values + i,
                                left < REFS_NUMBER_BLOCK ? left : REFS_NUMBER_BLOCK);
    }
    refs_free(numbers->values);
    return status;
}

/* The encoded type of the last cast before this codec; NULL if there is none. */
static const refs_json *type_after_casts(const refs_codec_context *context) {
    const refs_json *type = NULL;
    for (size_t i = 0; i < context->array->n_steps; i++) {
        const refs_chain_step *step = &context->array->steps[i];
        if (step->config == context->config && strcmp(step->id, context->id) == 0) break;
        if (strcmp(step->id, "cast_value") == 0) type = refs_json_get(step->config, "data_type");
        if (strcmp(step->id, "astype") == 0) type = refs_json_get(step->config, "encode_dtype");
    }
    return type;
}

refs_status refs_codec__grib_type(const refs_codec_context *context, refs_number_type *type,
                                  refs_error *err) {
    const refs_json *given = refs_json_get(context->config, "dtype");
    if (!refs_json_is_string(given)) given = type_after_casts(context);
    return refs_codec__number_parse(
        refs_json_is_string(given) ? refs_json_text(given) : refs_str_from(context->array->dtype),
        type, err);
}

/* -- values ------------------------------------------------------------------------------------ */

refs_status refs_codec__grib_order(const refs_grib_rows *rows, double *numbers, refs_error *err) {
    if (!refs_grib_rows_need_reordering(rows)) return REFS_OK;
    size_t n = (size_t)(rows->nx * rows->ny);
    REFS_SCOPED double *before = refs_calloc(n, sizeof *before);
    if (before == NULL) return refs_fail_nomem(err);
    memcpy(before, numbers, n * sizeof *before);
    for (size_t i = 0; i < n; i++) numbers[refs_grib_rows_place(rows, i)] = before[i];
    return REFS_OK;
}

refs_status refs_codec__grib_values(const refs_grib_message *message, double *numbers,
                                    refs_error *err) {
    refs_grib_rows rows;
    REFS_TRY(refs_codec__grib_unpack(message, numbers, err));
    if (!refs_grib_rows_read(message->whole.data[7], message->grid, &rows) ||
        rows.nx * rows.ny != message->n_points)
        return REFS_OK;
    return refs_codec__grib_order(&rows, numbers, err);
}
