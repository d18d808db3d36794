/* slices.c -- see slices.h. */
#include "slices.h"

/* If a chunk cannot be divided evenly, slices are larger, unless they would be smaller than this:
 * each slice costs a lookup. */
#define LEAST_SLICE_BYTES (16 * (uint64_t)REFS_KIB)

static bool may_be_sliced(const refs_array_meta *meta) {
    return meta->n_codecs == 0 && meta->shard == NULL && meta->edges == NULL &&
           meta->aggregation == NULL && meta->rank > 0 && meta->dtype.size > 0;
}

/* Slices must end where chunks end, so each of several chunks along a dimension is divided
 * evenly. */
static uint64_t rows_of_slice(const refs_array_meta *meta, size_t dim, uint64_t most) {
    uint64_t rows = most > 0 ? most : 1;
    if (meta->chunk[dim] >= meta->shape[dim]) return rows;
    while (meta->chunk[dim] % rows != 0) rows--;
    return rows;
}

/* Sets the shape of a slice: whole along the fastest dimensions, several rows along one dimension,
 * and single along slower ones. */
static void shape_slice(const refs_array_meta *stored, refs_array_meta *sliced) {
    uint64_t bytes = stored->dtype.size;
    bool is_full = false;
    for (size_t i = stored->rank; i-- > 0;) {
        const size_t dim = stored->order[i];
        if (is_full) {
            sliced->chunk[dim] = 1;
        } else if (stored->chunk[dim] > REFS_SLICE_BYTES / bytes) {
            uint64_t rows = rows_of_slice(stored, dim, REFS_SLICE_BYTES / bytes);
            is_full = true;
            if (rows * bytes >= LEAST_SLICE_BYTES) sliced->chunk[dim] = rows;
        } else {
            bytes *= stored->chunk[dim];
        }
    }
}

void refs_slices__open(refs_array *array) {
    const refs_array_meta *stored = array->stored;
    uint64_t elements, bytes;
    if (!may_be_sliced(stored) || !refs_array_meta_chunk_elements(stored, &elements) ||
        !refs_mul_u64(elements, stored->dtype.size, &bytes) || bytes <= REFS_MAX_UNSLICED_BYTES)
        return;
    array->sliced = *stored;
    array->slices.n_inner = 1;
    shape_slice(stored, &array->sliced);
    for (size_t dim = 0; dim < stored->rank; dim++) {
        array->slices.n[dim] = (stored->chunk[dim] - 1) / array->sliced.chunk[dim] + 1;
        array->slices.n_inner *= array->slices.n[dim];
    }
    array->sliced.shard = &array->slices;
    refs_grid grid;
    if (array->slices.n_inner > 1 && refs_grid__of(&array->sliced, &grid))
        array->meta = &array->sliced;
}

/* The bytes of the stored chunk of a slice; 0: unknown, because a chunk that extends beyond the
 * array may be truncated there (decode.c). */
static uint64_t bytes_of_stored(const refs_array *array, const uint64_t *index) {
    const refs_array_meta *stored = array->stored;
    uint64_t bytes = stored->dtype.size;
    for (size_t dim = 0; dim < stored->rank; dim++) {
        uint64_t begin = index[dim] / array->slices.n[dim] * stored->chunk[dim];
        if (stored->shape[dim] - begin < stored->chunk[dim]) return 0;
        bytes *= stored->chunk[dim];
    }
    return bytes;
}

refs_store_part refs_slices__part(const refs_array *array, uint64_t number) {
    const refs_array_meta *stored = array->stored, *meta = array->meta;
    refs_store_part part = {0};
    uint64_t index[REFS_MAX_RANK], stride = stored->dtype.size;
    if (stored == meta) return part;
    refs_grid__index(&array->grid, number, index);
    part.length = array->chunk_bytes;
    part.value_size = bytes_of_stored(array, index);
    for (size_t i = stored->rank; i-- > 0;) {
        const size_t dim = stored->order[i];
        uint64_t first = index[dim] * meta->chunk[dim], in_chunk;
        in_chunk = index[dim] % array->slices.n[dim] * meta->chunk[dim];
        part.begin += in_chunk * stride;
        stride *= stored->chunk[dim];
        bool is_cut = meta->chunk[dim] < stored->chunk[dim];
        if (is_cut && stored->shape[dim] - first < meta->chunk[dim])
            part.length = part.length / meta->chunk[dim] * (stored->shape[dim] - first);
    }
    return part;
}

uint64_t refs_slices__max_stored(const refs_array *array) {
    if (array->stored == array->meta) return array->max_stored;
    return array->slices.n_inner * array->chunk_bytes;
}

refs_status refs_slices__cut_out(const refs_array *array, uint64_t number, refs_bytes *stored,
                                 refs_error *err) {
    const refs_store_part part = refs_slices__part(array, number);
    if (part.length == 0) return REFS_OK;
    if (part.begin > stored->size || part.length > stored->size - part.begin ||
        (part.value_size > 0 && part.value_size != stored->size))
        return refs_fail(err, REFS_CORRUPT, "it has %zu bytes: expected %llu", stored->size,
                         (unsigned long long)(part.begin + part.length));
    *stored = refs_bytes_view(stored->data + part.begin, (size_t)part.length);
    return REFS_OK;
}
