/* held.c -- see held.h. */
#include "held.h"

/* Elements of a chunk that are inside the array, along one dimension. */
static uint64_t length_of(const refs_array_meta *meta, size_t dim, uint64_t chunk) {
    uint64_t left = meta->shape[dim] - chunk * meta->chunk[dim];
    return left < meta->chunk[dim] ? left : meta->chunk[dim];
}

static bool takes_whole_chunks(const refs_array_meta *meta, const refs_cut *cut) {
    for (size_t dim = 0; dim < cut->rank; dim++)
        for (uint64_t i = 0; i < cut->n_spans[dim]; i++) {
            const refs_span span = refs_array__span(cut, dim, i);
            if (span.n < length_of(meta, dim, span.chunk)) return false;
        }
    return true;
}

static void forget(refs_held *held, size_t i) {
    held->n--;
    memmove(&held->begun[i], &held->begun[i + 1], (held->n - i) * sizeof *held->begun);
}

/* The part of a chunk that a read covers. */
typedef struct part {
    uint64_t number;
    bool is_next; /* the reader may proceed along the last dimension, chunk by chunk */
    uint64_t n_read, n_all;
    uint64_t at, end; /* interval along the first dimension that is read in part */
} part;

static part part_of(const refs_array *array, const refs_cut *cut, uint64_t item) {
    refs_span spans[REFS_MAX_RANK];
    uint64_t index[REFS_MAX_RANK];
    part read = {.n_read = 1, .n_all = 1};
    refs_array__cut_at(cut, item, spans);
    for (size_t dim = 0; dim < cut->rank; dim++) {
        uint64_t length = length_of(array->meta, dim, spans[dim].chunk);
        index[dim] = spans[dim].chunk;
        read.n_read *= spans[dim].n;
        read.n_all *= length;
        if (read.end > 0 || spans[dim].n == length) continue;
        read.at = cut->is_backwards[dim] ? spans[dim].begin + 1 - spans[dim].n : spans[dim].begin;
        read.end = read.at + spans[dim].n;
    }
    read.number = refs_grid__number(&array->grid, index);
    read.is_next = cut->n_chunks == 1 && cut->rank > 0 && index[cut->rank - 1] > 0;
    return read;
}

/* Records how many chunks a reader had begun when it returned to one. A smaller number only counts
 * if the larger one has not occurred for long. */
static void note_return(refs_held *held, size_t n) {
    if (n < held->n_held && held->n_since < 4 * REFS_HELD_CHUNKS) return;
    held->n_held = n;
    held->n_since = 0;
}

/* The number of consecutive chunks, up to this one, of which the same part was read: a row of
 * blocks, to which the reader returns for the next row. 0: none. */
static size_t count_row(const refs_held *held, const part *read) {
    size_t n = 0;
    while (read->is_next && n < held->n) {
        const struct refs_begun *before = &held->begun[held->n - 1 - n];
        if (before->number + n + 1 != read->number || before->at != read->at ||
            before->end != read->end)
            break;
        n++;
    }
    return n > 0 ? n + 1 : 0;
}

static size_t count_kept(const refs_held *held) {
    size_t n = 0;
    for (size_t i = 0; i < held->n; i++) n += held->begun[i].is_kept;
    return n;
}

/* Notes that chunk `i` is read again. If more than `most` chunks were read since, the last `most`
 * of them stay cached. */
static void note_cycle(refs_held *held, size_t i, size_t most) {
    if (held->n - i > most) {
        for (size_t k = 0; k < held->n && !held->is_cycling; k++)
            held->begun[k].is_kept = k + most >= held->n;
        held->is_cycling = true;
    } else if (!held->begun[i].is_kept) {
        held->is_cycling = false;
    }
}

bool refs_held__keeps(const refs_held *held, uint64_t number) {
    size_t i = 0;
    while (i < held->n && held->begun[i].number != number) i++;
    return !held->is_cycling || (i < held->n && held->begun[i].is_kept);
}

/* Large chunks are held from the first one on, as are those of a row of blocks: fetching one again
 * would cost too much. */
static void note_part(refs_held *held, const part *read, uint64_t chunk_bytes, size_t most) {
    size_t i = 0;
    while (i < held->n && held->begun[i].number != read->number) i++;
    bool begins = i == held->n;
    const struct refs_begun last =
        begins ? (struct refs_begun){.left = read->n_all} : held->begun[i];
    bool goes_on = !begins && (read->at == last.end || read->end == last.at);
    bool is_large = chunk_bytes > REFS_HELD_FROM;
    size_t n_in_row = begins ? count_row(held, read) : 0;
    held->n_since++;
    if (goes_on && !is_large) note_return(held, held->n - i);
    if (!begins) note_cycle(held, i, most);
    if (!begins) forget(held, i);
    if (begins && read->n_read == read->n_all) held->is_cycling = false;
    if (read->n_read >= last.left) return;
    if (held->n == REFS_HELD_CHUNKS) forget(held, 0);
    held->begun[held->n++] = (struct refs_begun){
        read->number, last.left - read->n_read,
        last.is_kept || (held->is_cycling && count_kept(held) < most), read->at, read->end};
    if (begins && is_large) held->n_held = held->n;
    if (n_in_row > held->n_held) held->n_held = n_in_row;
}

/* A completely read chunk is released when the next one is begun: it is not the oldest until then.
 * A read of more bytes than the cache may ever hold is held in part once it is repeated. */
size_t refs_held__note(refs_held *held, const refs_array *array, const refs_cut *cut) {
    const uint64_t cost = array->chunk_bytes + REFS_CHUNK_OVERHEAD,
                   max = refs_cache__max_held(array->context.cache);
    const size_t most = max < cost ? 1 : (size_t)(max / cost);
    uint64_t n = takes_whole_chunks(array->meta, cut) ? 0 : cut->n_chunks;
    if (array->chunk_bytes >= REFS_RESUMED_FROM && cut->n_chunks <= REFS_HELD_CHUNKS) {
        for (uint64_t item = 0; item < cut->n_chunks; item++) {
            const part read = part_of(array, cut, item);
            note_part(held, &read, array->chunk_bytes, most);
        }
        if (held->n_held > n) n = held->n_held;
    } else {
        held->is_cycling = false; /* such reads are not recorded, so it could not end later */
    }
    if (cut->n_chunks > most && !held->is_cycling) return 0;
    const uint64_t bytes = (n < most ? n : most) * cost;
    return (size_t)(bytes < max ? bytes : max);
}
