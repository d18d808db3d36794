/* stored.c -- see stored.h. */
#include "stored.h"

#include "refs/array.h"

/* Limit of listed chunks of an array, which take 8 MiB. */
#define MAX_LISTED ((size_t)1 << 20)

/* -- listing ----------------------------------------------------------------------------------- */

static uint64_t number_of(const refs_cfa_stored *stored, const uint64_t *index) {
    uint64_t number = 0;
    for (size_t d = 0; d < stored->meta->rank; d++) number = number * stored->n[d] + index[d];
    return number;
}

/* REFS_LIMIT without a message: too many chunks to list. */
static refs_status add(void *user, const uint64_t *index, const refs_ref *ref, refs_error *err) {
    refs_cfa_stored *stored = user;
    (void)ref;
    if (stored->n_numbers >= MAX_LISTED) {
        stored->is_any = true;
        return REFS_LIMIT;
    }
    REFS_GROW(stored->numbers, stored->capacity, stored->n_numbers, err);
    stored->numbers[stored->n_numbers++] = number_of(stored, index);
    return REFS_OK;
}

/* Sizes of the chunk grid; false if 64 bits cannot count its chunks, or if it is rectilinear. */
static bool measure(const refs_array_meta *meta, refs_cfa_stored *stored) {
    uint64_t all = 1;
    for (size_t d = 0; d < meta->rank; d++) {
        const uint64_t chunks = meta->shard != NULL ? meta->shard->n[d] : 1;
        if (!refs_mul_u64(meta->chunk[d], chunks, &stored->per[d]) ||
            !refs_mul_u64(all, stored->n[d], &all))
            return false;
    }
    return meta->edges == NULL && meta->aggregation == NULL;
}

/* Adds chunk 0: kerchunk names the only chunk of a GRIB2 array "0", whatever its rank. */
static refs_status add_zero(const refs_set *set, refs_cfa_stored *stored, refs_error *err) {
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_ref ref;
    refs_status status = refs_buf_printf(&key, err, "%s0", stored->meta->key_prefix);
    if (status == REFS_OK) status = refs_set_find(set, refs_buf_text(&key), &ref, err);
    if (status == REFS_OK) {
        stored->is_any = true;
        refs_ref_release(&ref);
    }
    return status == REFS_NOT_FOUND ? REFS_OK : status;
}

refs_status refs_cfa_stored_open(const refs_set *set, const refs_array_meta *meta,
                                 refs_cfa_stored *stored, refs_error *err) {
    *stored = (refs_cfa_stored){.meta = meta};
    const refs_chunk_keys keys = refs_array_meta_keys(meta, stored->n);
    const refs_chunk_visitor visitor = {add, stored};
    stored->is_any = !measure(meta, stored);
    if (stored->is_any) return REFS_OK;
    const refs_status status = refs_set_each_chunk(set, &keys, &visitor, err);
    if (status != REFS_OK && !stored->is_any) return status;
    return stored->n_numbers == 0 ? add_zero(set, stored, err) : REFS_OK;
}

void refs_cfa_stored_clear(refs_cfa_stored *stored) {
    refs_free(stored->numbers);
    *stored = (refs_cfa_stored){.meta = NULL};
}

/* -- looking up -------------------------------------------------------------------------------- */

/* The first listed chunk with at least this number. */
static size_t find_from(const refs_cfa_stored *stored, uint64_t number) {
    size_t i = 0;
    REFS_BISECT(i, stored->n_numbers, stored->numbers[i] < number);
    return i;
}

/* A box of chunks: indices `low` to `high` along each dimension. */
typedef struct key_box {
    uint64_t low[REFS_MAX_RANK], high[REFS_MAX_RANK];
} key_box;

/* Moves `index`, which is outside the box, to the next one inside; false: none follows. */
static bool move_into(const key_box *box, size_t rank, uint64_t *index) {
    size_t d = 0;
    while (d < rank && index[d] >= box->low[d] && index[d] <= box->high[d]) d++;
    const bool is_behind = d < rank && index[d] > box->high[d];
    for (size_t rest = d; rest < rank; rest++) index[rest] = box->low[rest];
    if (!is_behind) return true;
    while (d-- > 0) {
        if (++index[d] <= box->high[d]) return true;
        index[d] = box->low[d];
    }
    return false;
}

static bool is_inside(const key_box *box, size_t rank, const uint64_t *index) {
    for (size_t d = 0; d < rank; d++)
        if (index[d] < box->low[d] || index[d] > box->high[d]) return false;
    return true;
}

bool refs_cfa_stored_has(const refs_cfa_stored *stored, const uint64_t *start,
                         const uint64_t *count) {
    const refs_array_meta *meta = stored->meta;
    uint64_t index[REFS_MAX_RANK];
    key_box box;
    if (stored->is_any) return true;
    for (size_t d = 0; d < meta->rank; d++) {
        const uint64_t first = meta->first_chunk != NULL ? meta->first_chunk[d] : 0;
        box.low[d] = index[d] = first + start[d] / stored->per[d];
        box.high[d] = first + (start[d] + count[d] - 1) / stored->per[d];
    }
    for (;;) {
        const size_t at = find_from(stored, number_of(stored, index));
        if (at == stored->n_numbers) return false;
        uint64_t rest = stored->numbers[at];
        for (size_t d = meta->rank; d-- > 0; rest /= stored->n[d]) index[d] = rest % stored->n[d];
        if (is_inside(&box, meta->rank, index)) return true;
        if (!move_into(&box, meta->rank, index)) return false;
    }
}
