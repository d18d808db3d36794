/* held.c -- see held.h. */
#include "held.h"

/* Elements of a chunk that are inside the array, along one dimension. */
static uint64_t length_of(const refs_array_meta *meta, size_t dim, uint64_t chunk) {
    uint64_t left = meta->shape[dim] - chunk * meta->chunk[dim];
    return left < meta->chunk[dim] ? left : meta->chunk[dim];
}

static bool takes_whole_chunks(const refs_array_meta *meta, const refs_cut *cut) {
    for (size_t dim = 0; dim < cut->rank; dim++)
        for (size_t i = 0; i < cut->n_spans[dim]; i++) {
            const refs_span *span = &cut->spans[dim][i];
            if (span->n < length_of(meta, dim, span->chunk)) return false;
        }
    return true;
}

static void forget(refs_held *held, size_t i) {
    held->n--;
    memmove(&held->begun[i], &held->begun[i + 1], (held->n - i) * sizeof *held->begun);
}

static void note_chunk(refs_held *held, uint64_t number, uint64_t n_read, uint64_t n_all) {
    size_t i = 0;
    while (i < held->n && held->begun[i].number != number) i++;
    bool begins = i == held->n;
    uint64_t left = begins ? n_all : held->begun[i].left;
    if (!begins) forget(held, i);
    if (n_read >= left) return;
    if (held->n == REFS_HELD_CHUNKS) forget(held, 0);
    held->begun[held->n++] = (struct refs_begun){number, left - n_read};
    if (begins) held->n_held = held->n;
}

static void note_chunks(refs_held *held, const refs_array *array, const refs_cut *cut) {
    const refs_span *spans[REFS_MAX_RANK];
    uint64_t index[REFS_MAX_RANK];
    for (uint64_t item = 0; item < cut->n_chunks; item++) {
        uint64_t n_read = 1, n_all = 1;
        refs_array__cut_at(cut, item, spans);
        for (size_t dim = 0; dim < cut->rank; dim++) {
            index[dim] = spans[dim]->chunk;
            n_read *= spans[dim]->n;
            n_all *= length_of(array->meta, dim, spans[dim]->chunk);
        }
        note_chunk(held, refs_grid__number(&array->grid, index), n_read, n_all);
    }
}

/* Those that were read to their end make room when the next one is begun: until then they are not
 * the oldest. More than the cache may ever hold is not held at all. */
size_t refs_held__note(refs_held *held, const refs_array *array, const refs_cut *cut) {
    uint64_t n = takes_whole_chunks(array->meta, cut) ? 0 : cut->n_chunks;
    if (array->chunk_bytes > REFS_HELD_FROM && cut->n_chunks <= REFS_HELD_CHUNKS) {
        note_chunks(held, array, cut);
        if (held->n_held > n) n = held->n_held;
    }
    size_t most = REFS_MAX_HELD_BYTES / (array->chunk_bytes + REFS_CHUNK_OVERHEAD);
    if (cut->n_chunks > most) return 0;
    return (size_t)(n < most ? n : most) * (array->chunk_bytes + REFS_CHUNK_OVERHEAD);
}
