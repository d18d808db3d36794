/* chunks.c -- the chunks of a variable as references, see dmrpp/variable.h. */
#include <stdlib.h>

#include "builder.h"
#include "dmrpp/variable.h"

/* Contiguous values are divided into chunks of about this size. */
#define CUT_BYTES (1 * REFS_MIB)
#define MAX_CUTS  65536

typedef struct putting {
    refs_dmrpp_variable *variable;
    const refs_dmrpp_set *set;
    uint64_t element_size;
    uint64_t n[REFS_CHUNK_MAX_RANK]; /* chunks along each dimension */
    refs_buf key;
    refs_block_piece *pieces;
    size_t n_pieces, piece_capacity;
    uint64_t *places; /* numbers of the added chunks, the last dimension fastest */
    size_t n_places, place_capacity;
    size_t block;         /* number of the block where the last part ended … */
    uint64_t block_begin; /* … and offset of that block from the first one */
} putting;

/* -- keys -------------------------------------------------------------------------------------- */

static refs_status make_key(putting *put, const uint64_t *index, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    put->key.size = 0;
    REFS_TRY(refs_buf_append(&put->key, variable->path.data, variable->path.size, err));
    for (size_t dim = 0; dim == 0 || dim < variable->rank; dim++) {
        /* Faster than printf: there may be millions of keys. */
        char digits[24];
        size_t at = sizeof digits;
        uint64_t number = variable->rank > 0 ? index[dim] : 0;
        do digits[--at] = (char)('0' + number % 10);
        while ((number /= 10) > 0);
        digits[--at] = dim > 0 ? '.' : '/';
        REFS_TRY(refs_buf_append(&put->key, digits + at, sizeof digits - at, err));
    }
    return REFS_OK;
}

static refs_status find_slot(putting *put, const uint64_t *index, refs_slot *slot,
                             refs_error *err) {
    REFS_TRY(make_key(put, index, err));
    return refs_references__builder_slot(put->set->builder, refs_buf_text(&put->key), slot, err);
}

static refs_status put_range(putting *put, const uint64_t *index, const refs_dmrpp_chunk *chunk,
                             refs_error *err) {
    refs_slot slot;
    const refs_wide_range range = {chunk->offset, chunk->length, chunk->url, chunk->filter_mask};
    REFS_TRY(find_slot(put, index, &slot, err));
    return refs_references__builder_put_range(put->set->builder, &slot, &range, err);
}

static refs_status add_piece(putting *put, const refs_dmrpp_chunk *chunk, uint64_t skip,
                             uint64_t length, refs_error *err) {
    refs_block_piece piece = {0, length, 0};
    if (!refs_add_u64(chunk->offset, skip, &piece.offset))
        return refs_fail(err, REFS_CORRUPT, "the offset of a block is larger than 2^64");
    REFS_TRY(refs_references__blocks_file(
        put->set->blocks, refs_references__builder_url_text(put->set->builder, chunk->url),
        &piece.file, err));
    REFS_GROW(put->pieces, put->piece_capacity, put->n_pieces, err);
    put->pieces[put->n_pieces++] = piece;
    return REFS_OK;
}

static refs_status put_pieces(putting *put, const uint64_t *index, refs_error *err) {
    REFS_TRY(make_key(put, index, err));
    return refs_references__blocks_add(put->set->blocks, refs_buf_text(&put->key), put->pieces,
                                       put->n_pieces, err);
}

/* -- chunked ----------------------------------------------------------------------------------- */

static refs_status count_chunks(putting *put, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    for (size_t i = 0; i < variable->rank; i++) {
        uint64_t shape = variable->shape[i], chunk = variable->chunk_shape[i];
        if (chunk == 0)
            return refs_fail(err, REFS_CORRUPT, "its chunk size is 0 along a dimension");
        put->n[i] = shape / chunk + (shape % chunk != 0);
    }
    return REFS_OK;
}

static bool is_only_chunk(const putting *put) {
    for (size_t i = 0; i < put->variable->rank; i++)
        if (put->n[i] > 1) return false;
    return true;
}

/* An index outside the array is an error: HDF5 removes such chunks when an array shrinks. */
static refs_status find_index(const putting *put, const refs_dmrpp_chunk *chunk, uint64_t *index,
                              refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    if (chunk->n != variable->rank && chunk->n > 0)
        return refs_fail(
            err, REFS_CORRUPT,
            "the position of a chunk has %zu numbers: expected %zu, as the array has dimensions",
            chunk->n, variable->rank);
    if (chunk->n == 0 && !is_only_chunk(put))
        return refs_fail(
            err, REFS_CORRUPT,
            "one of its chunks has no position: expected one, as it does not cover the array");
    for (size_t i = 0; i < variable->rank; i++) {
        uint64_t position = chunk->n > 0 ? variable->positions[chunk->first + i] : 0;
        if (position % variable->chunk_shape[i] != 0)
            return refs_fail(
                err, REFS_CORRUPT, "a chunk begins at %llu: expected a multiple of %llu",
                (unsigned long long)position, (unsigned long long)variable->chunk_shape[i]);
        index[i] = position / variable->chunk_shape[i];
        if (index[i] >= put->n[i])
            return refs_fail(
                err, REFS_CORRUPT, "a chunk begins at %llu along dimension %zu of size %llu",
                (unsigned long long)position, i, (unsigned long long)variable->shape[i]);
    }
    return REFS_OK;
}

/* Cannot overflow: there are no more chunks than elements, whose number was checked. */
static refs_status note_place(putting *put, const uint64_t *index, refs_error *err) {
    uint64_t place = 0;
    for (size_t i = 0; i < put->variable->rank; i++) place = place * put->n[i] + index[i];
    if (!refs_grow((void **)&put->places, &put->place_capacity, put->n_places, sizeof place))
        return refs_fail_nomem(err);
    put->places[put->n_places++] = place;
    return REFS_OK;
}

static int compare_places(const void *a, const void *b) {
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static refs_status fail_twice(putting *put, uint64_t place, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    uint64_t position[REFS_CHUNK_MAX_RANK] = {0};
    for (size_t i = variable->rank; i-- > 0; place /= put->n[i])
        position[i] = place % put->n[i] * variable->chunk_shape[i];
    put->key.size = 0;
    for (size_t i = 0; i < variable->rank; i++)
        REFS_TRY(refs_buf_printf(&put->key, err, "%s%llu", i > 0 ? "," : "",
                                 (unsigned long long)position[i]));
    return refs_fail(err, REFS_CORRUPT, "two of its chunks have the position [%.*s]",
                     (int)put->key.size, (const char *)put->key.data);
}

/* Checks that no position repeats; most sidecars list chunks in order, which takes no sorting. */
static refs_status check_places(putting *put, refs_error *err) {
    size_t n_ordered = 1;
    while (n_ordered < put->n_places && put->places[n_ordered - 1] < put->places[n_ordered])
        n_ordered++;
    if (n_ordered >= put->n_places) return REFS_OK;
    qsort(put->places, put->n_places, sizeof put->places[0], compare_places);
    for (size_t i = 1; i < put->n_places; i++)
        if (put->places[i - 1] == put->places[i]) return fail_twice(put, put->places[i], err);
    return REFS_OK;
}

/* Adds chunk number `first` with the pieces that follow it. */
static refs_status put_stored(putting *put, size_t first, size_t n_pieces, bool in_pieces,
                              refs_error *err) {
    const refs_dmrpp_chunk *chunk = &put->variable->chunks[first];
    uint64_t index[REFS_CHUNK_MAX_RANK] = {0};
    REFS_TRY(find_index(put, chunk, index, err));
    REFS_TRY(note_place(put, index, err));
    if (!in_pieces) return put_range(put, index, chunk, err);
    put->n_pieces = 0;
    for (size_t i = 0; i < n_pieces; i++)
        REFS_TRY(add_piece(put, &chunk[i], 0, chunk[i].length, err));
    return put_pieces(put, index, err);
}

static refs_status put_chunked(putting *put, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    bool in_pieces = false;
    if (variable->chunk_rank != variable->rank)
        return refs_fail(err, REFS_CORRUPT, "its chunks have %zu dimensions: expected %zu",
                         variable->chunk_rank, variable->rank);
    REFS_TRY(count_chunks(put, err));
    for (size_t i = 1; i < variable->n_chunks; i++)
        in_pieces = in_pieces || variable->chunks[i].goes_on;
    for (size_t i = 0; i < variable->n_chunks;) {
        size_t n = 1;
        while (i + n < variable->n_chunks && variable->chunks[i + n].goes_on) n++;
        REFS_TRY(put_stored(put, i, n, in_pieces, err));
        i += n;
    }
    return check_places(put, err);
}

/* -- contiguous -------------------------------------------------------------------------------- */

/* Divides along the slowest dimension that has to be divided: *dim. */
static void cut(putting *put, uint64_t total, size_t *dim) {
    refs_dmrpp_variable *variable = put->variable;
    uint64_t most = total / MAX_CUTS > CUT_BYTES ? total / MAX_CUTS : CUT_BYTES;
    uint64_t bytes = put->element_size;
    for (size_t i = 0; i < variable->rank; i++) variable->chunk_shape[i] = 1;
    for (*dim = variable->rank; *dim > 0; --*dim) {
        uint64_t size = variable->shape[*dim - 1];
        if (size > most / bytes) break;
        variable->chunk_shape[*dim - 1] = size;
        bytes *= size;
    }
    if (*dim == 0) return;
    --*dim;
    variable->chunk_shape[*dim] = most / bytes > 0 ? most / bytes : 1;
}

/* Collects the pieces with bytes [begin, begin + length) of the blocks. Parts come in order, so
 * each search continues where the last one ended. */
static refs_status collect(putting *put, uint64_t begin, uint64_t length, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    put->n_pieces = 0;
    while (length > 0 && put->block < variable->n_chunks) {
        const refs_dmrpp_chunk *block = &variable->chunks[put->block];
        const uint64_t skip = begin - put->block_begin;
        if (skip >= block->length) {
            put->block++;
            put->block_begin += block->length; /* at most `begin` */
            continue;
        }
        const uint64_t part = block->length - skip < length ? block->length - skip : length;
        REFS_TRY(add_piece(put, block, skip, part, err));
        length -= part;
        begin += part;
    }
    return length == 0 ? REFS_OK
                       : refs_fail(err, REFS_CORRUPT, "its blocks are too short for its values");
}

static refs_status put_part(putting *put, const uint64_t *index, uint64_t begin, uint64_t length,
                            refs_error *err) {
    refs_dmrpp_chunk part = put->variable->chunks[0];
    if (put->variable->n_chunks > 1) {
        REFS_TRY(collect(put, begin, length, err));
        return put_pieces(put, index, err);
    }
    if (!refs_add_u64(part.offset, begin, &part.offset))
        return refs_fail(err, REFS_CORRUPT, "its offset is larger than 2^64");
    part.length = length;
    return put_range(put, index, &part, err);
}

/* Adds all parts, the last dimension fastest, which is their order in the file. */
static refs_status put_parts(putting *put, size_t dim, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    uint64_t index[REFS_CHUNK_MAX_RANK] = {0}, begin = 0, row = put->element_size;
    for (size_t i = dim + 1; i < variable->rank; i++) row *= variable->shape[i];
    const refs_chunk_keys keys = {.rank = variable->rank, .n = put->n};
    do {
        uint64_t rows = 1;
        if (variable->rank > 0) {
            uint64_t first = index[dim] * variable->chunk_shape[dim];
            uint64_t left = variable->shape[dim] - first;
            rows = left < variable->chunk_shape[dim] ? left : variable->chunk_shape[dim];
        }
        REFS_TRY(put_part(put, index, begin, rows * row, err));
        begin += rows * row;
    } while (refs_references__next_index(&keys, index));
    return REFS_OK;
}

static refs_status check_stored(const putting *put, uint64_t total, refs_error *err) {
    uint64_t stored = 0;
    for (size_t i = 0; i < put->variable->n_chunks; i++)
        if (!refs_add_u64(stored, put->variable->chunks[i].length, &stored)) stored = UINT64_MAX;
    if (stored >= total) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT,
                     "it is uncompressed: expected %llu stored bytes, found %llu",
                     (unsigned long long)total, (unsigned long long)stored);
}

static refs_status put_contiguous(putting *put, uint64_t total, refs_error *err) {
    refs_dmrpp_variable *variable = put->variable;
    size_t dim = 0;
    if (variable->n_chunks > 1 && !variable->has_blocks)
        return refs_fail(err, REFS_CORRUPT, "it has %zu chunks, but no chunkDimensionSizes",
                         variable->n_chunks);
    if (variable->filters.size > 0 || total == 0) {
        for (size_t i = 0; i < variable->rank; i++)
            variable->chunk_shape[i] = variable->shape[i] > 0 ? variable->shape[i] : 1;
        REFS_TRY(count_chunks(put, err));
        bool has_any = total > 0 && variable->n_chunks > 0;
        return has_any ? put_stored(put, 0, variable->n_chunks, variable->has_blocks, err)
                       : REFS_OK;
    }
    cut(put, total, &dim);
    REFS_TRY(count_chunks(put, err));
    if (variable->n_chunks == 0) return REFS_OK;
    REFS_TRY(check_stored(put, total, err));
    return put_parts(put, dim, err);
}

/* -- in the DMR++ ------------------------------------------------------------------------------ */

static refs_status check_content(const putting *put, uint64_t n, uint64_t total, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    if (variable->storage == REFS_DMRPP_STRINGS && variable->n_strings != n)
        return refs_fail(err, REFS_CORRUPT, "expected %llu strings, found %llu",
                         (unsigned long long)n, (unsigned long long)variable->n_strings);
    bool is_plain = variable->storage == REFS_DMRPP_COMPACT ||
                    (variable->storage == REFS_DMRPP_MISSING && n == 1);
    if (is_plain && variable->bytes.size < total)
        return refs_fail(err, REFS_CORRUPT, "expected %llu bytes, found %zu",
                         (unsigned long long)total, variable->bytes.size);
    return REFS_OK;
}

static refs_status put_content(putting *put, uint64_t n, uint64_t total, refs_error *err) {
    static const uint64_t first[REFS_CHUNK_MAX_RANK];
    refs_dmrpp_variable *variable = put->variable;
    refs_slot slot;
    refs_bytes bytes = refs_buf_view(&variable->bytes);
    for (size_t i = 0; i < variable->rank; i++)
        variable->chunk_shape[i] = variable->shape[i] > 0 ? variable->shape[i] : 1;
    if (n == 0) return REFS_OK;
    REFS_TRY(check_content(put, n, total, err));
    if (variable->storage == REFS_DMRPP_COMPACT) bytes.size = (size_t)total;
    REFS_TRY(find_slot(put, first, &slot, err));
    return refs_references__builder_put_inline(put->set->builder, &slot, bytes, err);
}

static refs_status put_all(putting *put, refs_error *err) {
    const refs_dmrpp_variable *variable = put->variable;
    uint64_t n, total;
    if (!refs_references__dmrpp_n_elements(variable, &n) ||
        !refs_mul_u64(n, put->element_size, &total))
        return refs_fail(err, REFS_CORRUPT, "it has more than 2^64 bytes");
    switch (variable->storage) {
    case REFS_DMRPP_NOT_SAID:
        return refs_fail(err, REFS_UNSUPPORTED, "the DMR++ has no byte ranges for it");
    case REFS_DMRPP_CHUNKS:
        return variable->chunk_rank > 0 && !variable->has_blocks ? put_chunked(put, err)
                                                                 : put_contiguous(put, total, err);
    default:
        return put_content(put, n, total, err);
    }
}

refs_status refs_references__dmrpp_chunks_put(refs_dmrpp_variable *variable, uint64_t element_size,
                                              const refs_dmrpp_set *set, refs_error *err) {
    putting put = {.variable = variable, .set = set, .element_size = element_size};
    refs_status status = put_all(&put, err);
    refs_buf_clear(&put.key);
    refs_free(put.pieces);
    refs_free(put.places);
    return status;
}
