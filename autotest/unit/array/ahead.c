/* ahead.c -- see ahead.h. */
#include "ahead.h"

#include "array_object.h"

refs_status ahead_bring(refs_array *array, uint64_t begin, uint64_t end, uint64_t end_riders,
                        refs_chunk_use use) {
    uint64_t start[REFS_MAX_RANK] = {0};
    refs_region region = {start, array->meta->shape, NULL};
    refs_cut cut = {0};
    REFS_TRY(refs_array__cut(array->meta, &region, &cut, NULL));
    const refs_bringing bringing = {.array = array, .cut = &cut, .use = use};
    refs_status status = refs_array__bring(&bringing, begin, end, end_riders, NULL);
    refs_array__cut_clear(&cut);
    return status;
}

refs_claim ahead_claim(refs_cache *cache, refs_chunk_id id) {
    static _Atomic bool awaited;
    refs_chunk *chunk = NULL;
    return refs_cache__claim(cache, id, REFS_USE_NOW, &awaited, &chunk);
}

bool ahead_await_room(refs_cache *cache, size_t size, size_t max_bytes, bool awaited, bool stop) {
    const _Atomic bool atomic_awaited = awaited;
    const _Atomic bool atomic_stop = stop;
    return refs_cache__await_room(cache, size, max_bytes, &atomic_awaited, &atomic_stop);
}

void ahead_give_room(refs_cache *cache, size_t size) {
    refs_cache__give_room(cache, size);
}
