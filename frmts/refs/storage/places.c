/* places.c -- validators of locations that were read, see fetch_internal.h. */
#include "fetch_internal.h"

#include <stddef.h>
#include <string.h>

#include "refs/now.h"
#include "refs/validators.h"

/* The entry of a location, or NULL. Requires the lock. */
static refs_fetch_place *known_place(const refs_fetcher *fetcher, uint32_t location_id) {
    const size_t i = location_id % REFS_FETCH_MAX_PLACES;
    refs_fetch_place *place = i < fetcher->n_places ? &fetcher->places[i] : NULL;
    return place != NULL && place->location_id == location_id ? place : NULL;
}

static bool grow_places(refs_fetcher *fetcher, size_t least) {
    size_t n = 2 * fetcher->n_places;
    if (n < least) n = least + 15;
    if (n > REFS_FETCH_MAX_PLACES) n = REFS_FETCH_MAX_PLACES;
    refs_fetch_place *places = refs_realloc(fetcher->places, n * sizeof *places);
    if (places == NULL) return false;
    memset(places + fetcher->n_places, 0, (n - fetcher->n_places) * sizeof *places);
    fetcher->places = places;
    fetcher->n_places = n;
    return true;
}

/* The entry of a location, which may replace that of another; NULL if memory ran out. Requires the
 * lock. */
static refs_fetch_place *place_of(refs_fetcher *fetcher, uint32_t location_id) {
    const size_t i = location_id % REFS_FETCH_MAX_PLACES;
    if (i >= fetcher->n_places && !grow_places(fetcher, i + 1)) return NULL;
    refs_fetch_place *place = &fetcher->places[i];
    if (place->location_id == location_id) return place;
    if (place->validators != NULL) fetcher->has_forgotten = true;
    refs_free(place->validators);
    *place = (refs_fetch_place){.location_id = location_id};
    return place;
}

/* Allocates only the bytes of the ETag: a set may have millions of locations. */
static refs_vfs_validators *copy_validators(const refs_vfs_validators *validators) {
    size_t size = offsetof(refs_vfs_validators, etag) + strlen(validators->etag) + 1;
    refs_vfs_validators *copy = refs_alloc(size);
    if (copy != NULL) memcpy(copy, validators, size);
    return copy;
}

/* Records the first answer of a location, unless memory runs out. Requires the lock. */
static void identify(refs_fetcher *fetcher, refs_fetch_place *place, const refs_range *range,
                     const refs_vfs_validators *validators) {
    place->validators = copy_validators(validators);
    place->identified_ms = refs_now_ms();
    if (place->validators == NULL) return;
    size_t n = fetcher->n_identified++;
    if (n < REFS_FETCH_MAX_ASKED)
        fetcher->names[n] =
            (refs_fetch_name){range->location_id, refs_str_copy(refs_str_from(range->location))};
}

/* Updates validators that were recorded when their date was too recent to distinguish states, or
 * might have been the date of the answer. */
static void learn_date(refs_vfs_validators *known, const refs_vfs_validators *now) {
    if (known == NULL || known->fresh_s == 0 || known->fresh_s != refs_validators_date_s(now))
        return;
    known->modified_s = now->modified_s;
    if (now->date_s > known->date_s) known->date_s = now->date_s;
}

refs_status refs_fetch__check_validators(refs_fetcher *fetcher, const refs_range *range,
                                         const refs_vfs_validators *validators, refs_error *err) {
    refs_status status = REFS_OK;
    refs_lock(&fetcher->lock);
    refs_fetch_place *place = place_of(fetcher, range->location_id);
    if (place == NULL)
        status = refs_fail_nomem(err);
    else if (place->validators == NULL)
        identify(fetcher, place, range, validators);
    else
        status = refs_fetch__compare(place->validators, validators, err);
    if (status == REFS_OK) learn_date(place->validators, validators);
    if (place != NULL) place->answered_ms = refs_now_ms();
    refs_unlock(&fetcher->lock);
    if (status == REFS_CHANGED) atomic_store(&fetcher->replaced, true);
    return status;
}

bool refs_fetch__answered(refs_fetcher *fetcher, uint32_t location_id,
                          refs_vfs_validators *answered) {
    refs_lock(&fetcher->lock);
    const refs_fetch_place *place = known_place(fetcher, location_id);
    const refs_vfs_validators *known = place != NULL ? place->validators : NULL;
    if (known != NULL) {
        memcpy(answered, known, offsetof(refs_vfs_validators, etag));
        memcpy(answered->etag, known->etag, strlen(known->etag) + 1);
    }
    refs_unlock(&fetcher->lock);
    return known != NULL;
}

bool refs_fetch__note_changed(refs_fetcher *fetcher, uint32_t location_id) {
    REFS_LOCKED(&fetcher->lock);
    refs_fetch_place *place = place_of(fetcher, location_id);
    const bool is_new = place != NULL && !place->is_changed;
    if (is_new) place->is_changed = true;
    return is_new;
}

void refs_fetch__note_rangeless(refs_fetcher *fetcher, uint32_t location_id) {
    REFS_LOCKED(&fetcher->lock);
    refs_fetch_place *place = place_of(fetcher, location_id);
    if (place != NULL) place->ignores_ranges = true;
}

static bool is_rangeless(const refs_fetcher *fetcher, uint32_t location_id) {
    const refs_fetch_place *place = known_place(fetcher, location_id);
    return place != NULL && place->ignores_ranges;
}

bool refs_fetch__is_rangeless(refs_fetcher *fetcher, uint32_t location_id) {
    REFS_LOCKED(&fetcher->lock);
    return is_rangeless(fetcher, location_id);
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
    REFS_LOCKED(&fetcher->lock);
    if (fetcher->whole != NULL && fetcher->whole_id == location_id) {
        block = refs_block_hold(fetcher->whole);
        *n_bytes = fetcher->whole_bytes;
    }
    return block;
}

/* -- revalidation ------------------------------------------------------------------------------ */

/* Locations to revalidate. */
typedef struct question {
    refs_range ranges[REFS_FETCH_MAX_ASKED];
    char *locations[REFS_FETCH_MAX_ASKED];
    size_t n;
} question;

static bool can_tell(const refs_fetch_place *place) {
    return !place->ignores_ranges && refs_validators_distinguish(place->validators);
}

/* When the validators last proved the location unchanged: answers without useful validators do not
 * count. */
static uint64_t known_ms(const refs_fetch_place *place) {
    return can_tell(place) ? place->answered_ms : place->identified_ms;
}

/* Adds a location; false if it cannot be revalidated. Requires the lock. */
static bool add_name(question *asked, const refs_fetch_name *name) {
    char *location = name->location != NULL ? refs_str_copy(refs_str_from(name->location)) : NULL;
    if (location == NULL) return false;
    asked->locations[asked->n] = location;
    asked->ranges[asked->n++] = (refs_range){
        .location_id = name->location_id, .location = location, .length = 1, .max_length = 1};
    return true;
}

/* Chooses locations whose last answer is too old; false if some of them cannot be revalidated.
 * Requires the lock. */
static bool choose(const refs_fetcher *fetcher, uint64_t trust_ms, question *asked) {
    uint64_t now = refs_now_ms();
    size_t n_old = 0;
    if (fetcher->has_forgotten) return false;
    for (size_t i = 0; i < fetcher->n_places; i++) {
        const refs_fetch_place *place = &fetcher->places[i];
        if (place->validators == NULL || now - known_ms(place) < trust_ms) continue;
        if (++n_old > REFS_FETCH_MAX_ASKED || !can_tell(place)) return false;
    }
    for (size_t i = 0; i < fetcher->n_identified && i < REFS_FETCH_MAX_ASKED; i++) {
        const refs_fetch_place *place = known_place(fetcher, fetcher->names[i].location_id);
        if (place == NULL || now - known_ms(place) < trust_ms) continue;
        if (!add_name(asked, &fetcher->names[i])) return false;
    }
    return asked->n == n_old;
}

static refs_status ignore(void *user, size_t index, refs_bytes bytes, refs_block *block,
                          refs_error *err) {
    (void)user;
    (void)index;
    (void)bytes;
    (void)block;
    (void)err;
    return REFS_OK;
}

bool refs_fetcher_is_current(refs_fetcher *fetcher, uint64_t trust_ms) {
    static const refs_fetch_client nobody = {.sink = ignore};
    question asked = {.n = 0};
    refs_lock(&fetcher->lock);
    bool current = choose(fetcher, trust_ms, &asked);
    refs_unlock(&fetcher->lock);
    if (current && asked.n > 0)
        current = refs_fetch(fetcher, asked.ranges, asked.n, &nobody, NULL) == REFS_OK;
    for (size_t i = 0; i < asked.n; i++) refs_free(asked.locations[i]);
    return current && !atomic_load(&fetcher->replaced);
}

/* -- sizes ------------------------------------------------------------------------------------- */

/* Sets the size of a location if it is known without a request. */
static bool find_size(refs_fetcher *fetcher, refs_sized_location *sized) {
    refs_vfs_validators answered;
    refs_vfs_validators file;
    sized->size = REFS_FETCH_WHOLE;
    if (refs_fetch__answered(fetcher, sized->location_id, &answered) && answered.has_size)
        sized->size = answered.size;
    else if (refs_vfs_look(fetcher->vfs, sized->location, &file) && file.size > 0)
        sized->size = file.size;
    return sized->size != REFS_FETCH_WHOLE;
}

refs_status refs_fetcher_measure(refs_fetcher *fetcher, refs_sized_location *locations, size_t n,
                                 const struct refs_awaited *awaited) {
    size_t n_asked = 0;
    REFS_SCOPED refs_range *ranges = refs_calloc(n, sizeof *ranges);
    if (ranges == NULL) return REFS_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (!find_size(fetcher, &locations[i]) && fetcher->options.http != NULL)
            ranges[n_asked++] = (refs_range){.location_id = locations[i].location_id,
                                             .location = locations[i].location,
                                             .length = 1,
                                             .max_length = 1};
    const refs_fetch_client asking = {.sink = ignore, .awaited = awaited};
    refs_status status = REFS_OK;
    if (n_asked > 0) status = refs_fetch(fetcher, ranges, n_asked, &asking, NULL);
    for (size_t i = 0; i < n && n_asked > 0; i++) (void)find_size(fetcher, &locations[i]);
    return status == REFS_CANCELLED || status == REFS_NOMEM ? status : REFS_OK;
}

void refs_fetch__clear_places(refs_fetcher *fetcher) {
    for (size_t i = 0; i < fetcher->n_places; i++) refs_free(fetcher->places[i].validators);
    for (size_t i = 0; i < REFS_FETCH_MAX_ASKED; i++) refs_free(fetcher->names[i].location);
    refs_free(fetcher->places);
    refs_block_release(fetcher->whole);
    fetcher->places = NULL;
    fetcher->whole = NULL;
    fetcher->n_places = 0;
}
