/* chunk_key.c -- numbers and keys of chunks, see zarr.h. */
#include "refs/zarr.h"

static bool product(const uint64_t *numbers, size_t n, uint64_t *result) {
    uint64_t all = 1;
    bool fits = true;
    for (size_t i = 0; i < n; i++) {
        if (numbers[i] == 0) {
            *result = 0;
            return true;
        }
        fits = fits && refs_mul_u64(all, numbers[i], &all);
    }
    if (fits) *result = all;
    return fits;
}

bool refs_array_meta_elements(const refs_array_meta *array, uint64_t *elements) {
    return product(array->shape, array->rank, elements);
}

bool refs_array_meta_chunk_elements(const refs_array_meta *array, uint64_t *elements) {
    return product(array->chunk, array->rank, elements);
}

uint64_t refs_array_meta_n_chunks(const refs_array_meta *array, size_t dim) {
    uint64_t n = array->shape[dim];
    return n == 0 ? 0 : (n - 1) / array->chunk[dim] + 1;
}

/* Writes the decimal digits of `number` before `end`; returns their beginning. */
static char *write_digits(uint64_t number, char *end) {
    do {
        *--end = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return end;
}

refs_status refs_chunk_key(const refs_array_meta *array, const uint64_t *index, refs_buf *key,
                           refs_error *err) {
    char text[REFS_MAX_RANK * 21];
    char *end = text + sizeof text, *begin = end;
    uint64_t shard[REFS_MAX_RANK];
    if (array->shard != NULL) {
        (void)refs_shard_find(array, index, shard);
        index = shard;
    }
    for (size_t dim = array->rank; dim-- > 0;) {
        uint64_t first = array->first_chunk != NULL ? array->first_chunk[dim] : 0;
        begin = write_digits(first + index[dim], begin);
        if (dim > 0) *--begin = array->separator;
    }
    refs_str prefix = refs_str_from(array->key_prefix);
    /* An array of rank 0 has one chunk: "0", but "c" in v3's default encoding. */
    if (array->rank == 0 && (prefix.size == 0 || refs_str_ends(prefix, "/"))) *--begin = '0';
    REFS_TRY(refs_buf_append_str(key, prefix, err));
    return refs_buf_append(key, begin, (size_t)(end - begin), err);
}
