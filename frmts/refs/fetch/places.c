/* places.c -- what was learned of locations while they were read, see fetch_internal.h. */
#include "fetch_internal.h"

#include <stddef.h>
#include <string.h>

/* The place of a location, or NULL without memory; under the lock. */
static refs_fetch_place *place_of(refs_fetcher *fetcher, uint32_t location_id) {
    if (location_id >= fetcher->n_places) {
        size_t n = 2 * fetcher->n_places;
        if (n <= location_id) n = (size_t)location_id + 16;
        refs_fetch_place *places = refs_realloc(fetcher->places, n * sizeof *places);
        if (places == NULL) return NULL;
        memset(places + fetcher->n_places, 0, (n - fetcher->n_places) * sizeof *places);
        fetcher->places = places;
        fetcher->n_places = n;
    }
    return &fetcher->places[location_id];
}

/* No longer than its ETag needs: there are sets of millions of locations. */
static refs_identity *copy_identity(const refs_identity *identity) {
    size_t size = offsetof(refs_identity, etag) + strlen(identity->etag) + 1;
    refs_identity *copy = refs_alloc(size);
    if (copy != NULL) memcpy(copy, identity, size);
    return copy;
}

refs_status refs_fetch__check_identity(refs_fetcher *fetcher, uint32_t location_id,
                                       const refs_identity *identity, refs_error *err) {
    const char *difference = "";
    refs_lock(&fetcher->lock);
    refs_fetch_place *place = place_of(fetcher, location_id);
    if (place != NULL && place->identity == NULL)
        place->identity = copy_identity(identity);
    else if (place != NULL)
        difference = refs_identity__difference(place->identity, identity);
    refs_unlock(&fetcher->lock);
    if (place == NULL) return refs_fail_nomem(err);
    if (*difference == '\0') return REFS_OK;
    atomic_store(&fetcher->replaced, true);
    return refs_fail(err, REFS_IO, "the object was replaced while it was read: another %s",
                     difference);
}

void refs_fetch__note_rangeless(refs_fetcher *fetcher, uint32_t location_id) {
    refs_lock(&fetcher->lock);
    refs_fetch_place *place = place_of(fetcher, location_id);
    if (place != NULL) place->ignores_ranges = true;
    refs_unlock(&fetcher->lock);
}

static bool is_rangeless(const refs_fetcher *fetcher, uint32_t location_id) {
    return location_id < fetcher->n_places && fetcher->places[location_id].ignores_ranges;
}

bool refs_fetch__is_rangeless(refs_fetcher *fetcher, uint32_t location_id) {
    refs_lock(&fetcher->lock);
    bool rangeless = is_rangeless(fetcher, location_id);
    refs_unlock(&fetcher->lock);
    return rangeless;
}

void refs_fetch__keep_whole(refs_fetcher *fetcher, uint32_t location_id, refs_block *block,
                            uint64_t n_bytes) {
    refs_block *previous = NULL;
    refs_lock(&fetcher->lock);
    if (is_rangeless(fetcher, location_id)) {
        previous = fetcher->whole;
        fetcher->whole = refs_block_hold(block);
        fetcher->whole_bytes = n_bytes;
        fetcher->whole_id = location_id;
    }
    refs_unlock(&fetcher->lock);
    refs_block_release(previous);
}

refs_block *refs_fetch__kept_whole(refs_fetcher *fetcher, uint32_t location_id, uint64_t *n_bytes) {
    refs_block *block = NULL;
    refs_lock(&fetcher->lock);
    if (fetcher->whole != NULL && fetcher->whole_id == location_id) {
        block = refs_block_hold(fetcher->whole);
        *n_bytes = fetcher->whole_bytes;
    }
    refs_unlock(&fetcher->lock);
    return block;
}

void refs_fetch__clear_places(refs_fetcher *fetcher) {
    for (size_t i = 0; i < fetcher->n_places; i++) refs_free(fetcher->places[i].identity);
    refs_free(fetcher->places);
    refs_block_release(fetcher->whole);
    fetcher->places = NULL;
    fetcher->whole = NULL;
    fetcher->n_places = 0;
}
