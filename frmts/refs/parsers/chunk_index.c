/* chunk_index.c -- see chunk_index.h. */
#include "chunk_index.h"

#include <stdlib.h>

/* Indexes of up to this many chunks, 16 MiB, have an entry for each chunk. */
#define MAX_DENSE_CHUNKS (1024 * 1024)

#define MAX_LENGTH ((UINT64_C(1) << 48) - 1)

refs_status refs_chunk_index_init(refs_chunk_index *index, size_t rank, const uint64_t *shape,
                                  const uint64_t *chunks, refs_error *err) {
    *index = (refs_chunk_index){.rank = rank, .n_chunks = 1};
    if (rank > REFS_SCAN_MAX_RANK)
        return refs_fail(err, REFS_UNSUPPORTED, "an array has %zu dimensions: expected at most %d",
                         rank, REFS_SCAN_MAX_RANK);
    for (size_t dim = 0; dim < rank; dim++) {
        if (chunks[dim] == 0) return refs_fail(err, REFS_CORRUPT, "a chunk has the size 0");
        index->n[dim] = shape[dim] / chunks[dim] + (shape[dim] % chunks[dim] != 0);
        if (!refs_mul_u64(index->n_chunks, index->n[dim], &index->n_chunks))
            return refs_fail(err, REFS_LIMIT, "an array has more than 2^64 chunks");
    }
    return REFS_OK;
}

static bool is_dense(const refs_chunk_index *index) {
    return index->n_chunks <= MAX_DENSE_CHUNKS;
}

void refs_chunk_index_clear(refs_chunk_index *index) {
    refs_free(index->steps);
    refs_free(index->entries);
    refs_free(index->numbers);
    refs_free(index->locations);
    refs_buf_clear(&index->inline_bytes);
    memset(index, 0, sizeof *index);
}

bool refs_chunk_index_number(const refs_chunk_index *index, const uint64_t *at, uint64_t *number) {
    *number = 0;
    for (size_t dim = 0; dim < index->rank; dim++) {
        if (at[dim] >= index->n[dim]) return false;
        *number = *number * index->n[dim] + at[dim];
    }
    return true;
}

static refs_status add_sparse(refs_chunk_index *index, uint64_t number, refs_index_entry entry,
                              refs_error *err) {
    size_t numbers_capacity = index->capacity;
    if (!refs_grow((void **)&index->numbers, &numbers_capacity, index->n_entries,
                   sizeof *index->numbers) ||
        !refs_grow((void **)&index->entries, &index->capacity, index->n_entries,
                   sizeof *index->entries))
        return refs_fail_nomem(err);
    index->numbers[index->n_entries] = number;
    index->entries[index->n_entries++] = entry;
    return REFS_OK;
}

refs_status refs_chunk_index_add(refs_chunk_index *index, uint64_t number, refs_source_range place,
                                 uint32_t filter_mask, refs_error *err) {
    if (number >= index->n_chunks)
        return refs_fail(err, REFS_CORRUPT, "chunk %llu lies outside its array",
                         (unsigned long long)number);
    if (place.length > MAX_LENGTH || filter_mask > UINT16_MAX)
        return refs_fail(err, REFS_CORRUPT, "chunk %llu is invalid: %llu bytes, filter mask %#x",
                         (unsigned long long)number, (unsigned long long)place.length, filter_mask);
    refs_index_entry entry = {place.offset, place.length & MAX_LENGTH, filter_mask & UINT16_MAX};
    if (!is_dense(index)) return add_sparse(index, number, entry, err);
    if (index->entries == NULL) REFS_NEW(index->entries, (size_t)index->n_chunks, err);
    index->entries[number] = entry;
    return REFS_OK;
}

refs_status refs_chunk_index_add_inline(refs_chunk_index *index, uint64_t number, refs_bytes bytes,
                                        refs_error *err) {
    const refs_source_range place = {index->inline_bytes.size, bytes.size};
    REFS_TRY(refs_buf_append(&index->inline_bytes, bytes.data, bytes.size, err));
    return refs_chunk_index_add(index, number, place, 0, err);
}

refs_status refs_chunk_index_add_elsewhere(refs_chunk_index *index, uint64_t number,
                                           refs_index_entry entry, uint32_t location_id,
                                           refs_error *err) {
    if (!is_dense(index))
        return refs_fail(err, REFS_LIMIT,
                         "it has %llu chunks in several files: expected at most %d",
                         (unsigned long long)index->n_chunks, MAX_DENSE_CHUNKS);
    if (index->locations == NULL) REFS_NEW(index->locations, (size_t)index->n_chunks, err);
    REFS_TRY(refs_chunk_index_add(index, number, (refs_source_range){entry.offset, entry.length},
                                  (uint32_t)entry.filter_mask, err));
    index->locations[number] = location_id;
    return REFS_OK;
}

uint32_t refs_chunk_index_location(const refs_chunk_index *index, uint64_t number) {
    return index->locations != NULL ? index->locations[number] : index->location_id;
}

refs_status refs_chunk_index_in_steps(refs_chunk_index *index, const refs_chunk_steps *steps,
                                      refs_error *err) {
    uint64_t end = steps->offset, way;
    bool fits = steps->length <= MAX_LENGTH && steps->last_length <= steps->length;
    for (size_t dim = 0; dim < index->rank && index->n_chunks > 0; dim++)
        fits = fits && refs_mul_u64(index->n[dim] - 1, steps->steps[dim], &way) &&
               refs_add_u64(end, way, &end);
    if (!fits || !refs_add_u64(end, steps->length, &end))
        return refs_fail(err, REFS_CORRUPT, "its chunks end beyond byte 2^64");
    index->steps = refs_alloc(sizeof *index->steps);
    if (index->steps == NULL) return refs_fail_nomem(err);
    *index->steps = *steps;
    return REFS_OK;
}

/* -- many chunks ------------------------------------------------------------------------------- */

typedef struct pair {
    uint64_t number;
    refs_index_entry entry;
} pair;

static int compare(const void *left, const void *right) {
    const pair *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static bool is_ascending(const refs_chunk_index *index) {
    for (size_t i = 1; i < index->n_entries; i++)
        if (index->numbers[i] <= index->numbers[i - 1]) return false;
    return true;
}

refs_status refs_chunk_index_finish(refs_chunk_index *index, refs_error *err) {
    if (is_dense(index) || is_ascending(index)) return REFS_OK;
    pair *pairs = refs_calloc(index->n_entries, sizeof *pairs);
    if (pairs == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < index->n_entries; i++)
        pairs[i] = (pair){index->numbers[i], index->entries[i]};
    qsort(pairs, index->n_entries, sizeof *pairs, compare);
    for (size_t i = 0; i < index->n_entries; i++) {
        index->numbers[i] = pairs[i].number;
        index->entries[i] = pairs[i].entry;
    }
    refs_free(pairs);
    if (is_ascending(index)) return REFS_OK;
    return refs_fail(err, REFS_CORRUPT, "its index lists a chunk twice");
}

static refs_index_entry entry_in_steps(const refs_chunk_index *index, uint64_t number) {
    const refs_chunk_steps *steps = index->steps;
    refs_index_entry entry = {steps->offset, steps->length & MAX_LENGTH, 0};
    for (size_t dim = index->rank; dim-- > 0; number /= index->n[dim]) {
        uint64_t at = number % index->n[dim];
        entry.offset += at * steps->steps[dim];
        if (dim == steps->short_dim && at + 1 == index->n[dim])
            entry.length = steps->last_length & MAX_LENGTH;
    }
    return entry;
}

/* The first of the entries whose chunk number is `number` or greater. */
static size_t entry_from(const refs_chunk_index *index, uint64_t number) {
    size_t i = 0;
    REFS_BISECT(i, index->n_entries, index->numbers[i] < number);
    return i;
}

bool refs_chunk_index_next(const refs_chunk_index *index, uint64_t *number) {
    refs_index_entry entry;
    if (index->steps == NULL && !is_dense(index)) {
        const size_t found = entry_from(index, *number);
        if (found < index->n_entries) *number = index->numbers[found];
        return found < index->n_entries;
    }
    if (index->steps == NULL && index->entries == NULL) return false;
    while (*number < index->n_chunks && !refs_chunk_index_find(index, *number, &entry)) ++*number;
    return *number < index->n_chunks;
}

refs_status refs_chunk_index_check_end(const refs_chunk_index *index, refs_error *err) {
    if (index->steps == NULL || index->steps->max_end == 0 || index->n_chunks == 0) return REFS_OK;
    const uint64_t number = index->n_chunks - 1;
    const refs_index_entry entry = entry_in_steps(index, number);
    const uint64_t size = index->steps->max_end;
    if (entry.offset <= size && entry.length <= size - entry.offset) return REFS_OK;
    return refs_fail(
        err, REFS_CORRUPT,
        "chunk %llu has bytes %llu to %llu: expected at most %llu, the size of the file",
        (unsigned long long)number, (unsigned long long)entry.offset,
        (unsigned long long)(entry.offset + entry.length), (unsigned long long)size);
}

bool refs_chunk_index_find(const refs_chunk_index *index, uint64_t number,
                           refs_index_entry *entry) {
    if (number >= index->n_chunks) return false;
    if (index->steps != NULL) {
        *entry = entry_in_steps(index, number);
        return entry->length > 0;
    }
    if (is_dense(index)) {
        if (index->entries == NULL) return false;
        *entry = index->entries[number];
        return entry->length > 0;
    }
    const size_t found = entry_from(index, number);
    if (found == index->n_entries || index->numbers[found] != number) return false;
    *entry = index->entries[found];
    return true;
}
