/* decode.c -- decodes the stored bytes of one chunk; see array_object.h. */
#include "array_object.h"

/* The fewest bytes of a chunk: producers may leave out what is outside the array along the slowest
 * dimension of a chunk; leaving out anything else would move elements. */
static size_t least_bytes(const refs_array *array, uint64_t number) {
    const refs_array_meta *meta = array->meta;
    uint64_t index[REFS_MAX_RANK];
    size_t slowest = 0;
    if (meta->rank == 0) return array->chunk_bytes;
    while (slowest + 1 < meta->rank && meta->chunk[meta->order[slowest]] == 1) slowest++;
    size_t dim = meta->order[slowest];
    refs_grid__index(&array->grid, number, index);
    uint64_t left = meta->shape[dim] - index[dim] * meta->chunk[dim];
    if (left >= meta->chunk[dim]) return array->chunk_bytes;
    return array->chunk_bytes / (size_t)meta->chunk[dim] * (size_t)left;
}

refs_status refs_array__chain_for(const refs_array *array, uint32_t filter_mask,
                                  const refs_chain **chain, refs_chain **made, refs_error *err) {
    *made = NULL;
    if (array->chain == NULL)
        return refs_fail(err, array->chain_error.status, "%s", array->chain_error.message);
    if (filter_mask != 0) REFS_TRY(refs_array__open_chain(array, filter_mask, made, err));
    *chain = *made != NULL ? *made : array->chain;
    return REFS_OK;
}

/* A chunk that is being decoded. */
typedef struct decoding {
    const refs_array *array;
    const refs_chain *chain;
    refs_bytes stored;
    size_t least; /* fewest decoded bytes */
    refs_scratch *scratch;
} decoding;

static refs_status run_chain(const decoding *job, uint8_t *elements, refs_error *err) {
    const refs_array *array = job->array;
    refs_chain_output output = {elements, 0};
    size_t least = job->least;
    if (least == array->chunk_bytes)
        return refs_chain_decode(job->chain, job->stored, job->scratch, elements, err);
    REFS_TRY(refs_chain_decode_short(job->chain, job->stored, job->scratch, &output, err));
    if (output.size != array->chunk_bytes && output.size != least)
        return refs_fail(err, REFS_CORRUPT, "decoded to %zu bytes: expected %zu or %zu",
                         output.size, array->chunk_bytes, least);
    memset(elements + output.size, 0, array->chunk_bytes - output.size);
    return REFS_OK;
}

/* Each thread uses its own scratch memory. */
refs_status refs_array__decode(refs_array *array, uint64_t number, const refs_stored *stored,
                               uint8_t *elements, refs_error *err) {
    decoding job = {.array = array, .stored = stored->bytes, .least = least_bytes(array, number)};
    refs_chain *made;
    REFS_TRY(refs_array__chain_for(array, stored->filter_mask, &job.chain, &made, err));
    refs_scratch_node *node = refs_scratch_list__take(&array->scratches);
    job.scratch = node != NULL ? &node->scratch : NULL;
    refs_status status = node != NULL ? run_chain(&job, elements, err) : refs_fail_nomem(err);
    if (node != NULL) refs_scratch_list__put(&array->scratches, node);
    refs_chain_free(made);
    if (status != REFS_OK) return status;
    refs_array__to_host_order(&array->meta->dtype, elements, array->chunk_elements);
    atomic_fetch_add(&array->chunks_decoded, 1);
    return REFS_OK;
}
