/* chunk_table.c -- see chunk_table.h. */
#include "chunk_table.h"

#include "chunk_key.h"

void refs_references__chunk_table_clear(refs_chunk_table *table) {
    refs_free(table->keys);
    refs_free(table->entries);
    refs_free(table->extent);
    memset(table, 0, sizeof *table);
}

static refs_status append(refs_chunk_table *table, refs_entry entry, refs_error *err) {
    if (table->count == UINT32_MAX)
        return refs_fail(err, REFS_LIMIT, "an array has more than %zu chunks", table->count);
    REFS_GROW(table->entries, table->entry_capacity, table->count, err);
    table->entries[table->count++] = entry;
    return REFS_OK;
}

/* The largest packed index of the first row: in other rows, packed indices are not consecutive. */
static uint64_t last_of_row(const refs_chunk_table *table) {
    const unsigned bits = refs_references__chunk_index_bits(table->rank);
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* Allocates and fills the keys of a table without keys, in which entry i has the packed index i. */
static refs_status write_keys(refs_chunk_table *table, refs_error *err) {
    for (size_t i = 0; i < table->count; i++) {
        REFS_GROW(table->keys, table->key_capacity, i, err);
        table->keys[i] = i;
    }
    return REFS_OK;
}

refs_status refs_references__chunk_table_add(refs_chunk_table *table, uint64_t packed,
                                             refs_entry entry, refs_error *err) {
    if (table->keys == NULL && packed == table->count && packed <= last_of_row(table))
        return append(table, entry, err);
    if (table->keys == NULL && packed < table->count) {
        table->entries[packed] = entry;
        return REFS_OK;
    }
    if (table->keys == NULL) REFS_TRY(write_keys(table, err));
    if (table->count > 0 && packed <= table->keys[table->count - 1]) {
        if (packed == table->keys[table->count - 1]) {
            table->entries[table->count - 1] = entry;
            return REFS_OK;
        }
        table->unsorted = true;
    }
    REFS_GROW(table->keys, table->key_capacity, table->count, err);
    table->keys[table->count] = packed;
    return append(table, entry, err);
}

/* -- sorting ----------------------------------------------------------------------------------- */

/* One pass of a radix sort: `from` to `to`, stably, by the byte at `shift`. Writers that sort their
 * keys as strings make long tables unsorted, so this has to be quick. */
static void sort_by_byte(const uint64_t *keys, const uint32_t *from, uint32_t *to, size_t n,
                         unsigned shift) {
    size_t begin[257] = {0};
    for (size_t i = 0; i < n; i++) begin[(keys[i] >> shift & 0xff) + 1]++;
    for (size_t byte = 0; byte < 256; byte++) begin[byte + 1] += begin[byte];
    for (size_t i = 0; i < n; i++) to[begin[keys[from[i]] >> shift & 0xff]++] = from[i];
}

/* Sorts the positions of keys by ascending key in `order` or `spare`, which have equal sizes.
 * Returns the one with the result. */
static uint32_t *sort_places(const uint64_t *keys, size_t n, uint32_t *order, uint32_t *spare) {
    uint64_t differing = 0;
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
        differing |= keys[i] ^ keys[0];
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if ((differing >> shift & 0xff) == 0) continue;
        sort_by_byte(keys, order, spare, n, shift);
        uint32_t *sorted = spare;
        spare = order;
        order = sorted;
    }
    return order;
}

/* Permutes the references in place, cycle by cycle, because a copy of a long table may not fit into
 * memory. order[i] is the old position of entry i. */
static void reorder(refs_chunk_table *table, uint32_t *order) {
    for (size_t i = 0; i < table->count; i++) {
        const uint64_t key = table->keys[i];
        const refs_entry entry = table->entries[i];
        size_t to = i;
        while (order[to] != i) {
            const size_t from = order[to];
            table->keys[to] = table->keys[from];
            table->entries[to] = table->entries[from];
            order[to] = (uint32_t)to;
            to = from;
        }
        table->keys[to] = key;
        table->entries[to] = entry;
        order[to] = (uint32_t)to;
    }
}

/* Drops all but the last of equal keys from a sorted table. */
static void drop_replaced(refs_chunk_table *table) {
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (i + 1 < table->count && table->keys[i] == table->keys[i + 1]) continue;
        table->keys[kept] = table->keys[i];
        table->entries[kept++] = table->entries[i];
    }
    table->count = kept;
}

static refs_status sort(refs_chunk_table *table, refs_error *err) {
    uint32_t *order = refs_calloc(table->count, sizeof *order);
    uint32_t *spare = refs_calloc(table->count, sizeof *spare);
    refs_status status = REFS_OK;
    if (order == NULL || spare == NULL) {
        status = refs_fail_nomem(err);
    } else {
        reorder(table, sort_places(table->keys, table->count, order, spare));
        drop_replaced(table);
    }
    refs_free(order);
    refs_free(spare);
    table->unsorted = false;
    return status;
}

/* -- finishing --------------------------------------------------------------------------------- */

/* Releases unused capacity; a failure is harmless. */
static void shrink(refs_chunk_table *table) {
    uint64_t *keys =
        table->keys != NULL ? refs_realloc(table->keys, table->count * sizeof *keys) : NULL;
    if (keys != NULL) table->keys = keys;
    refs_entry *entries = refs_realloc(table->entries, table->count * sizeof *entries);
    if (entries != NULL) table->entries = entries;
}

/* Whether the indices fill a grid: they are distinct, so they do if the grid that encloses them has
 * as many cells. */
static bool fills_grid(const refs_chunk_table *table, uint64_t *extent) {
    const unsigned bits = refs_references__chunk_index_bits(table->rank);
    const uint64_t mask = last_of_row(table);
    uint64_t cells = 1;
    if (table->keys == NULL) {
        for (size_t dim = 0; dim < table->rank; dim++) extent[dim] = 1;
        if (table->rank > 0) extent[table->rank - 1] = table->count;
        return true;
    }
    for (size_t dim = 0; dim < table->rank; dim++) {
        const unsigned shift = bits * (unsigned)(table->rank - 1 - dim);
        uint64_t last = 0;
        for (size_t i = 0; i < table->count; i++) {
            uint64_t part = table->keys[i] >> shift & mask;
            if (part > last) last = part;
        }
        if (last >= table->count || !refs_mul_u64(cells, last + 1, &cells)) return false;
        extent[dim] = last + 1;
    }
    return cells == table->count;
}

refs_status refs_references__chunk_table_finish(refs_chunk_table *table, refs_error *err) {
    if (table->unsorted) REFS_TRY(sort(table, err));
    if (table->count > 0) shrink(table);
    uint64_t *extent = refs_calloc(table->rank, sizeof *extent);
    if (extent == NULL) return refs_fail_nomem(err);
    if (table->count > 0 && fills_grid(table, extent)) {
        table->extent = extent;
        refs_free(table->keys);
        table->keys = NULL;
    } else {
        refs_free(extent);
    }
    return REFS_OK;
}

/* -- finding ----------------------------------------------------------------------------------- */

static const refs_entry *find_in_grid(const refs_chunk_table *table, uint64_t packed) {
    uint64_t place = 0;
    for (size_t dim = 0; dim < table->rank; dim++) {
        uint64_t part = refs_references__chunk_index_part(packed, table->rank, dim);
        if (part >= table->extent[dim]) return NULL;
        place = place * table->extent[dim] + part;
    }
    return &table->entries[place];
}

const refs_entry *refs_references__chunk_table_find(const refs_chunk_table *table,
                                                    uint64_t packed) {
    if (table->extent != NULL) return find_in_grid(table, packed);
    size_t i = 0;
    REFS_BISECT(i, table->count, table->keys[i] < packed);
    return i < table->count && table->keys[i] == packed ? &table->entries[i] : NULL;
}
