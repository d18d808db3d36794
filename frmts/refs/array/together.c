/* together.c -- loads several arrays in one fetch; see array.h. */
#include "load.h"
#include "refs/cancel.h"
#include "refs/pool.h"
#include "refs/refset.h"
#include "refs/url.h"

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

/* -- looking up -------------------------------------------------------------------------------- */

static bool is_open(void *user) {
    return !atomic_load(&((const refs_array *)user)->ending);
}

/* Reads the file of the set that has the references of the array. A failure is reported by the
 * lookup that needs the file. */
static refs_status look_up(void *user, refs_error *err) {
    refs_array *array = user;
    const uint64_t first[REFS_MAX_RANK] = {0};
    REFS_SCOPED_BUF key = REFS_BUF_INIT;
    refs_ref ref = {.kind = REFS_REF_INLINE};
    refs_cancel_scope scope;
    (void)err;
    refs_cancel_scope_begin(&scope, (refs_cancel_check){is_open, array});
    if (refs_chunk_key(array->stored, first, &key, NULL) == REFS_OK &&
        refs_set_find(refs_store_set(array->context.store), refs_buf_text(&key), &ref, NULL) ==
            REFS_OK)
        refs_ref_release(&ref);
    refs_cancel_scope_end(&scope);
    return REFS_OK;
}

static void end_look_up(void *array) {
    refs_tasks__end(&((refs_array *)array)->tasks);
}

static bool is_of(const void *looked_up, const void *array) {
    return looked_up == array;
}

void refs_together__withdraw(const refs_array *array) {
    if (array->context.prefetch_pool != NULL)
        refs_pool_withdraw(array->context.prefetch_pool, end_look_up, is_of, array);
}

/* Begins to read the files of a remote set that have the references: manifests of Icechunk, record
 * files of Parquet. They arrive at the same time; lookups wait for them. */
static void look_up_all(refs_array *const *arrays, size_t n) {
    const refs_array_context *context = &arrays[0]->context;
    const refs_set *set = refs_store_set(context->store);
    if (context->prefetch_pool == NULL || refs_set_is_whole(set) || refs_set_is_file(set) ||
        !refs_location_is_remote(refs_str_from(refs_set_location(set))))
        return;
    for (size_t i = 0; i < n; i++) {
        if (arrays[i]->mosaic.gather != NULL) continue;
        refs_tasks__begin(&arrays[i]->tasks);
        refs_pool_run(context->prefetch_pool, look_up, end_look_up, arrays[i]);
    }
}

void refs_arrays_load(refs_array *const *arrays, size_t n) {
    REFS_SCOPED bundle *all = refs_alloc(sizeof *all);
    if (all == NULL) return;
    all->n = all->n_chunks = all->bytes = 0; /* the lists are long, and mostly not used */
    for (size_t i = 0; i < n; i++) add(all, arrays[i]);
    if (all->n > 1) look_up_all(arrays, n);
    /* A chunk that does not arrive now is requested again by the read that needs it, and fails
     * there. */
    refs_status status = refs_array__load(all->wanted, all->n_chunks, NULL, NULL);
    (void)status;
}
