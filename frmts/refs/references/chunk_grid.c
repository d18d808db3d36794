/* chunk_grid.c -- see chunk_grid.h. */
#include "chunk_grid.h"

static refs_status read_dimension(const refs_json *shape, const refs_json *chunks, size_t dim,
                                  uint64_t *n_chunks, refs_error *err) {
    uint64_t length, chunk;
    if (!refs_json_u64(refs_json_at(shape, dim), &length) ||
        !refs_json_u64(refs_json_at(chunks, dim), &chunk) || (chunk == 0 && length > 0))
        return refs_fail(err, REFS_INVALID, "shape and chunks are inconsistent in dimension %zu",
                         dim);
    *n_chunks = length == 0 ? 0 : (length - 1) / chunk + 1;
    return REFS_OK;
}

refs_status refs_references__chunk_grid_read(const refs_json *zarray, refs_chunk_grid *grid,
                                             refs_error *err) {
    const refs_json *shape = refs_json_get(zarray, "shape");
    const refs_json *chunks = refs_json_get(zarray, "chunks");
    refs_str separator = refs_json_text(refs_json_get(zarray, "dimension_separator"));
    size_t rank = refs_json_size(shape);
    *grid = (refs_chunk_grid){.rank = rank};
    if (!refs_json_is_array(shape) || !refs_json_is_array(chunks) ||
        refs_json_size(chunks) != rank || rank > REFS_CHUNK_MAX_RANK)
        return refs_fail(err, REFS_INVALID,
                         "expected shape and chunks as lists of one length, at most %d",
                         REFS_CHUNK_MAX_RANK);
    if (separator.size > 0 && !refs_str_is(separator, "."))
        return refs_fail(err, REFS_UNSUPPORTED,
                         "the dimension separator is \"%.*s\": expected \".\", as Parquet sets can "
                         "hold no other",
                         REFS_STR_ARG(separator));
    uint64_t total = 1;
    for (size_t dim = 0; dim < rank; dim++) {
        REFS_TRY(read_dimension(shape, chunks, dim, &grid->n_chunks[dim], err));
        if (!refs_mul_u64(total, grid->n_chunks[dim], &total))
            return refs_fail(err, REFS_LIMIT, "the array has more than 2^64 chunks");
    }
    return REFS_OK;
}

uint64_t refs_references__chunk_grid_total(const refs_chunk_grid *grid) {
    uint64_t total = 1;
    for (size_t dim = 0; dim < grid->rank; dim++) total *= grid->n_chunks[dim];
    return total;
}

/* Numbers before the last slash are part of the array's path: groups may have numbers as names. */
bool refs_references__chunk_grid_number(const refs_chunk_grid *grid, const refs_split_key *key,
                                        refs_str prefix, uint64_t *number) {
    refs_str rest = refs_str_part(key->text, prefix.size, key->text.size);
    size_t rank = grid->rank > 0 ? grid->rank : 1;
    size_t n_dotted = key->separator == '.' ? key->rank : 1;
    if (refs_str_find(rest, '/') != SIZE_MAX || n_dotted != rank) return false;
    const uint64_t *index = key->index + key->rank - n_dotted;
    *number = 0;
    if (grid->rank == 0) return index[0] == 0;
    for (size_t dim = 0; dim < rank; dim++) {
        if (index[dim] >= grid->n_chunks[dim]) return false;
        *number = *number * grid->n_chunks[dim] + index[dim];
    }
    return true;
}
