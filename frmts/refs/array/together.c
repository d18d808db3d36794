/* together.c -- loads several arrays in one fetch; see array.h. */
#include "load.h"

/* Limits of arrays and chunks that are loaded together; larger arrays are left to their reads. */
enum { MAX_TOGETHER = 64, MAX_TOGETHER_CHUNKS = 16384 };

/* The chunks being loaded. */
typedef struct bundle {
    refs_delivery to[MAX_TOGETHER];
    size_t n;
    refs_wanted wanted[MAX_TOGETHER_CHUNKS];
    size_t n_chunks;
    size_t bytes;
} bundle;

/* Whether all chunks of the array fit into the cache, in addition to those of the bundle. */
static bool fits(const bundle *all, const refs_array *array, size_t *bytes) {
    size_t budget = refs_cache__max_bytes(array->context.cache);
    return array->grid.n_chunks <= MAX_TOGETHER_CHUNKS - all->n_chunks &&
           refs_mul_size((size_t)array->grid.n_chunks, array->chunk_bytes, bytes) &&
           *bytes <= budget && all->bytes <= budget - *bytes;
}

static void add(bundle *all, refs_array *array) {
    size_t bytes;
    if (all->n == MAX_TOGETHER || array->meta->dtype.size == 0 || array->mosaic.gather != NULL ||
        array->context.cache == NULL || !fits(all, array, &bytes))
        return;
    const refs_delivery *to = &all->to[all->n];
    all->to[all->n++] = (refs_delivery){.array = array};
    for (uint64_t number = 0; number < array->grid.n_chunks; number++)
        all->wanted[all->n_chunks++] = (refs_wanted){to, number, number};
    all->bytes += bytes;
}

void refs_arrays_load(refs_array *const *arrays, size_t n) {
    REFS_SCOPED bundle *all = refs_alloc(sizeof *all);
    if (all == NULL) return;
    all->n = all->n_chunks = all->bytes = 0; /* the lists are long, and mostly not used */
    for (size_t i = 0; i < n; i++) add(all, arrays[i]);
    /* A chunk that does not arrive now is requested again by the read that needs it, and fails
     * there. */
    refs_status status = refs_array__load(all->wanted, all->n_chunks, NULL, NULL);
    (void)status;
}
