/* together.c -- several arrays in one fetch; see array.h. */
#include "array_object.h"

/* Arrays and chunks that are brought together at most: more are no small arrays. */
enum { MAX_TOGETHER = 64, MAX_TOGETHER_CHUNKS = 16384 };

/* What is being brought. */
typedef struct bundle {
    refs_cut cuts[MAX_TOGETHER];
    refs_bringing bringings[MAX_TOGETHER];
    size_t n;
    uint64_t n_chunks;
    size_t bytes;
} bundle;

/* Whether all chunks of the array can be in the cache at once, beside what is in the bundle. */
static bool fits(const bundle *all, const refs_array *array, const refs_cut *cut) {
    refs_ahead budget;
    size_t bytes;
    refs_cache__get_ahead(array->tools.cache, &budget);
    return cut->n_chunks <= MAX_TOGETHER_CHUNKS - all->n_chunks &&
           refs_mul_size((size_t)cut->n_chunks, array->chunk_bytes, &bytes) &&
           bytes <= budget.max_bytes && all->bytes <= budget.max_bytes - bytes;
}

static void add(bundle *all, refs_array *array) {
    static const uint64_t origin[REFS_MAX_RANK] = {0};
    const refs_region whole = {origin, array->meta->shape, NULL};
    if (all->n == MAX_TOGETHER || array->meta->dtype.size == 0 || array->tools.cache == NULL)
        return;
    refs_cut *cut = &all->cuts[all->n];
    if (refs_array__cut(array->meta, &whole, cut, NULL) != REFS_OK || !fits(all, array, cut)) {
        refs_array__cut_clear(cut);
        return;
    }
    all->bringings[all->n++] = (refs_bringing){.array = array, .cut = cut, .use = REFS_USE_NOW};
    all->n_chunks += cut->n_chunks;
    all->bytes += (size_t)cut->n_chunks * array->chunk_bytes;
}

void refs_arrays_bring(refs_array *const *arrays, size_t n) {
    bundle *all = refs_calloc(1, sizeof *all);
    if (all == NULL) return;
    for (size_t i = 0; i < n; i++) add(all, arrays[i]);
    /* What does not arrive now is asked for again by whoever reads it, and fails there. */
    refs_status status = refs_array__bring_all(all->bringings, all->n, NULL);
    (void)status;
    for (size_t i = 0; i < all->n; i++) refs_array__cut_clear(&all->cuts[i]);
    refs_free(all);
}
